"""Chunks of rows that are not all here: reading one, and whether all go together. No model is asked here."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.containers import NumpyContainer, PandasContainer, PolarsContainer, SparseContainer, wrap
from pdp_widgets.inputs.errors import unknown_name

Piece = Any
"""A frame, a function without arguments that reads one, or a dask collection that computes one."""


def load(piece: Piece) -> Any:
    """Return the frame of a chunk, reading it where it is still to be read.

    Raises
    ------
    InputError
        When reading fails.
    """
    kind = type(piece)  # an attribute of the frame itself may be a column
    if hasattr(kind, "compute"):
        read = piece.compute
    elif hasattr(kind, "collect"):
        read = piece.collect
    elif callable(piece):
        read = piece
    else:
        return piece
    try:
        return load(read())
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"it could not be read: {type(error).__name__}: {error}") from error


def rows_of(frame: Any) -> int:
    """Return the number of rows of a chunk, 0 for what is no table."""
    shape = getattr(frame, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else 0
    return len(frame) if isinstance(frame, Sequence) else 1  # whatever it is, `wrap` will have something to say


def split(frame: Any, names: Companions) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
    """Return a chunk without the columns of the outcome and the weights, then these two.

    Raises
    ------
    InputError
        For a column that is not there, and weights that are no finite, non-negative numbers.
    """
    if names.y is None and names.sample_weight is None:
        return frame, None, None
    container = wrap(frame)
    found: list[int | None] = [
        _position(container.labels, what, name)
        for what, name in (("y", names.y), ("sample_weight", names.sample_weight))
    ]
    y, weights = (None if j is None else container.column(j).to_numpy() for j in found)
    gone = {j for j in found if j is not None}
    keep = [j for j in range(len(container.labels)) if j not in gone]
    if isinstance(container, (PandasContainer, PolarsContainer)):
        rest = frame.iloc[:, keep] if isinstance(container, PandasContainer) else frame[:, keep]
    else:
        rest = container.array[:, keep] if isinstance(container, NumpyContainer) else frame.tocsr()[:, keep]
    return rest, y, None if weights is None else _weights(weights)


@dataclass(frozen=True)
class Companions:
    """The columns of the chunks that are no features."""

    y: Any = None
    sample_weight: Any = None


@dataclass(frozen=True)
class Layout:
    """Columns and dtypes of a chunk."""

    container: str
    labels: tuple[Hashable, ...]
    dtypes: tuple[Any, ...]
    number: int = 0
    """The chunk they were first seen in."""

    def agreed(self, other: Layout) -> Layout:
        """Return the layout of this and another chunk; categories without an order are united.

        Raises
        ------
        InputError
            When they do not go together.
        """
        if other.container != self.container:
            raise InputError(f"it is {other.container}, chunk {self.number} is {self.container}; give all the same")
        if other.labels != self.labels:
            raise InputError(_other_columns(self, other))
        dtypes = []
        for label, mine, its in zip(self.labels, self.dtypes, other.dtypes, strict=True):
            both = _united(mine, its)
            if both is None:
                raise InputError(
                    f"its column {label!r} is {_in_words(its)}, that of chunk {self.number} is {_in_words(mine)}; give all "
                    "chunks the same dtypes, for example with frame.astype({...})"
                )
            dtypes.append(both)
        return Layout(self.container, self.labels, tuple(dtypes), self.number)

    def align(self, frame: Any) -> Any:
        """Return a chunk with the categories of all chunks."""
        if self.container != "a DataFrame of pandas":
            return frame
        wanted = {
            label: dtype
            for label, dtype in zip(self.labels, self.dtypes, strict=True)
            if isinstance(dtype, pd.CategoricalDtype)
            and label in frame.columns
            and not _same(frame[label].dtype, dtype)
        }
        return frame.astype(wanted) if wanted else frame


def layout_of(frame: Any, number: int) -> Layout:
    """Return the layout of a chunk.

    Raises
    ------
    InputError
        When it is no table.
    """
    container = wrap(frame)
    labels = tuple(container.labels)
    if isinstance(container, PandasContainer):
        return Layout("a DataFrame of pandas", labels, tuple(container.frame.dtypes), number)
    if isinstance(container, PolarsContainer):
        return Layout("a DataFrame of polars", labels, tuple(container.frame.dtypes), number)
    if isinstance(container, SparseContainer):
        return Layout("a sparse matrix", labels, (container.matrix.dtype,) * len(labels), number)
    assert isinstance(container, NumpyContainer)
    return Layout("an array", labels, (container.array.dtype,) * len(labels), number)


def stacked(parts: list[Any], layout: Layout) -> Any:
    """Return the rows of several tables of one layout as one table."""
    if layout.container == "a DataFrame of pandas":
        return pd.concat(parts, ignore_index=True)
    if layout.container == "a DataFrame of polars":
        import polars as pl

        return pl.concat(parts)
    if layout.container == "a sparse matrix":
        from scipy import sparse

        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


# ---- helpers ---------------------------------------------------------------------------------


def _position(labels: Sequence[Hashable], what: str, name: Any) -> int | None:
    if name is None:
        return None
    if isinstance(name, Hashable) and name in labels:
        return list(labels).index(name)
    whole = isinstance(name, (int, np.integer)) and not isinstance(name, bool)
    if whole and -len(labels) <= name < len(labels):
        return int(name) % len(labels)
    if not isinstance(name, Hashable):
        raise InputError(f"{what} is a {type(name).__name__}; of chunks, expected the name of a column that they have")
    raise unknown_name(what, name, [str(label) for label in labels], "a column of the chunks")


def _weights(given: np.ndarray) -> np.ndarray:
    try:
        weights = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight cannot be used: {error}") from error
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight must be finite and not negative")
    return weights


def _united(mine: Any, its: Any) -> Any | None:
    """Return the dtype that holds the values of both, None where there is none that means the same to a model."""
    if not (isinstance(mine, pd.CategoricalDtype) and isinstance(its, pd.CategoricalDtype)):
        return mine if mine == its else None
    first, second = list(mine.categories), list(its.categories)
    if first == second and mine.ordered == its.ordered:
        return mine
    if mine.ordered or its.ordered:
        return None
    both = list(dict.fromkeys([*first, *second]))
    with contextlib.suppress(TypeError):  # levels of several types stay as they come
        both = sorted(both)
    return pd.CategoricalDtype(both)


def _same(its: pd.CategoricalDtype, wanted: pd.CategoricalDtype) -> bool:
    return its.categories.dtype == wanted.categories.dtype and list(its.categories) == list(wanted.categories)


def _in_words(dtype: Any) -> str:
    if not isinstance(dtype, pd.CategoricalDtype):
        return str(dtype)
    shown = ", ".join(map(repr, list(dtype.categories)[:4])) + (", ..." if len(dtype.categories) > 4 else "")
    return f"{'an ordered ' if dtype.ordered else 'a '}category of {shown or 'no levels'}"


def _other_columns(mine: Layout, its: Layout) -> str:
    lacking = [str(label) for label in mine.labels if label not in its.labels]
    new = [str(label) for label in its.labels if label not in mine.labels]
    what = [f"{text} {', '.join(map(repr, some[:5]))}" for text, some in (("without", lacking), ("with", new)) if some]
    return (
        f"it has other columns than chunk {mine.number}: {' and '.join(what) or 'in another order'}; give all chunks the "
        "same columns in the same order"
    )
