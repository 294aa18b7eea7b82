"""Tables that are fetched once from the UCI Machine Learning Repository, kept in scikit-learn's data home, or read from a file that one has."""

from __future__ import annotations

import contextlib
import http.client
import io
import os
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

from pdp_widgets.inputs.errors import InputError, PDPWidgetsError, warn

if TYPE_CHECKING:
    import pandas as pd

MOST_BYTES = 20_000_000
"""More than this is none of these data sets; each is below 300 KB."""


class DownloadError(PDPWidgetsError, OSError):
    """A data set could not be fetched; the message says what was tried and what to do instead."""


class Source(NamedTuple):
    """Where a table is."""

    call: str
    """The loader, for messages."""

    url: str
    """A zip file."""

    member: str
    """The table's name inside."""

    page: str
    """Where people read about it and download it by hand."""


def load(source: Source, path: Any, timeout: float, read: Callable[[IO[bytes]], pd.DataFrame]) -> pd.DataFrame:
    """Return the table from `path` (the zip, or a CSV file), else from the cache, else from the network.

    Raises
    ------
    InputError
        When there is no such file, or it is not the table.
    DownloadError
        When it cannot be fetched.
    """
    if path is not None:
        return _from_file(source, Path(path), read)
    cache = _cache(source)
    table, broken = _from_cache(source, cache, read)
    if table is not None:
        return table
    content = _fetch(source, timeout, broken)
    try:
        table = _from_zip(source, content, read)
    except InputError as error:
        raise _failed(source, f"what came back is not the data set ({error})") from None
    _keep(cache, content)
    return table


def _from_cache(
    source: Source, cache: Path | None, read: Callable[[IO[bytes]], pd.DataFrame]
) -> tuple[pd.DataFrame | None, str]:
    """Return the table from the cache, None where it is not there, and what was wrong with a file that is now thrown away."""
    if cache is None or not cache.is_file():
        return None, ""
    try:
        return _from_zip(source, cache.read_bytes(), read), ""
    except OSError:
        return None, ""  # it may be good, but cannot be read
    except InputError as error:
        with contextlib.suppress(OSError):  # else it is replaced when there is a new one
            cache.unlink(missing_ok=True)
        return None, f"; the file kept in {cache} was damaged and is thrown away: {error}"


def require(columns: Iterable[str], needed: Iterable[str], what: str) -> None:
    """Complain of a table that lacks columns."""
    there = list(columns)
    missing = [name for name in needed if name not in there]
    if missing:
        shown = ", ".join(map(repr, there[:6])) + (", ..." if len(there) > 6 else "")
        raise InputError(f"expected {what}; it lacks the columns {', '.join(map(repr, missing))} and has {shown}")


def _from_file(source: Source, path: Path, read: Callable[[IO[bytes]], pd.DataFrame]) -> pd.DataFrame:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{source.call}(path={str(path)!r}): {error.strerror or error}; expected {source.member}, or the zip file it comes in"
        ) from None
    try:
        if zipfile.is_zipfile(io.BytesIO(content)):
            return _from_zip(source, content, read)
        return _table(source, io.BytesIO(content), read)
    except InputError as error:
        raise InputError(
            f"{source.call}(path={str(path)!r}): {error}. Correct the file, or download it again from {source.page}"
        ) from None


def _from_zip(source: Source, content: bytes, read: Callable[[IO[bytes]], pd.DataFrame]) -> pd.DataFrame:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            table = _unpacked(source, archive)
    except InputError:
        raise
    except NotImplementedError as error:
        raise InputError(
            f"the zip file is packed in a way that is not known here ({error}); {_unpack(source)}"
        ) from None
    except Exception as error:  # noqa: BLE001 (each way of packing has errors of its own)
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise InputError(f"no zip file: {error}; {len(content)} bytes that begin with {content[:20]!r}") from None
        raise InputError(f"the zip file is damaged: {error}") from None
    try:
        return _table(source, io.BytesIO(table), read)
    except InputError as error:
        raise InputError(f"{source.member} in the zip file: {error}") from None


def _unpacked(source: Source, archive: zipfile.ZipFile) -> bytes:
    """Return the table's bytes."""
    name = next((name for name in archive.namelist() if Path(name).name == source.member), None)
    if name is None:
        raise InputError(f"a zip file without {source.member}: {', '.join(archive.namelist()[:5]) or 'empty'}")
    if archive.getinfo(name).flag_bits & 1:
        raise InputError(f"{name} in the zip file is encrypted; {_unpack(source)}")
    with archive.open(name) as file:
        table = file.read(MOST_BYTES + 1)
    if len(table) > MOST_BYTES:
        raise InputError(f"{name} in the zip file has more than {MOST_BYTES:,} bytes")
    return table


def _unpack(source: Source) -> str:
    return f"unpack it with another program and give {source.call}(path=...) the {source.member}"


def _table(source: Source, file: IO[bytes], read: Callable[[IO[bytes]], pd.DataFrame]) -> pd.DataFrame:
    try:
        return read(file)
    except InputError:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:  # what pandas raises for what is no CSV file
        raise InputError(f"expected {source.member}; it cannot be read: {error}") from None


def _fetch(source: Source, timeout: float, broken: str) -> bytes:
    try:
        with urlopen(source.url, timeout=timeout) as answer:  # noqa: S310 (an https address of our own)
            content = answer.read(MOST_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if type(error) is URLError else error  # an HTTPError's reason lacks the number
        raise _failed(source, (str(reason) or type(reason).__name__) + broken) from error
    if len(content) > MOST_BYTES:
        raise _failed(source, f"more than {MOST_BYTES} bytes came back")
    return content


def _failed(source: Source, reason: str) -> DownloadError:
    return DownloadError(
        f"{source.call}() could not be fetched from {source.url}: {reason}. Go online once (it is kept in scikit-learn's data home), or download it "
        f"by hand from {source.page} and give {source.call}(path=...), or use generated data of the same shape: {source.call}(stand_in=True)"
    )


def _cache(source: Source) -> Path | None:
    """Where the zip is kept; None where there can be no such folder."""
    from sklearn.datasets import get_data_home

    try:
        return Path(get_data_home()) / "pdp_widgets" / f"{Path(source.member).stem}.zip"
    except OSError:
        return None


def _keep(cache: Path | None, content: bytes) -> None:
    """Write the cache at once or not at all: several notebooks may start together."""
    if cache is None:
        warn(
            "the data set could not be kept for the next time: there is no folder for data (see sklearn.datasets.get_data_home)"
        )
        return
    partial = cache.with_name(f"{cache.name}.{os.getpid()}")
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(cache)
    except OSError as error:
        partial.unlink(missing_ok=True)
        warn(f"the data set could not be kept for the next time: {error}")
