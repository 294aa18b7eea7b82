"""The errors this package raises, the one way it words a suggestion, and the one way it warns."""

from __future__ import annotations

import difflib
import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ParamSpec

P = ParamSpec("P")

_PACKAGE = str(Path(__file__).resolve().parent.parent)


class PDPWidgetsError(Exception):
    """Base class of every error raised on purpose by this package."""


class InputError(PDPWidgetsError, ValueError):
    """Something handed over cannot be used; the message says what to do."""


class PredictionError(PDPWidgetsError, RuntimeError):
    """The model failed, or answered with something that is not a prediction."""


class NotCachedError(PDPWidgetsError, RuntimeError):
    """ICE values were asked for that the memory cap did not allow to keep."""


def nearest_name(given: object, known: Iterable[str]) -> str | None:
    """Return the known name that ``given`` is most like, whatever the case of its letters."""
    folded = {name.casefold(): name for name in known}
    nearest = difflib.get_close_matches(str(given).casefold(), folded, n=1, cutoff=0.6)
    return folded[nearest[0]] if nearest else None


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, else ``""``."""
    nearest = nearest_name(given, known)
    return "" if nearest is None else f"; did you mean {nearest!r}?"


def unknown_name(kind: str, given: object, known: Iterable[str], where: str) -> InputError:
    """Build the error for a name that is not among the known ones."""
    known = list(known)
    shown = ", ".join(repr(name) for name in known[:8]) + (", ..." if len(known) > 8 else "")
    hint = did_you_mean(given, known) or f"; known: {shown}"
    return InputError(f"{kind} {given!r} is not {where}{hint}")


def warn(message: str) -> None:
    """Warn of something, pointing to the line outside this package that led to it, however deep inside it is noticed."""
    level, frame = 1, sys._getframe()  # noqa: SLF001
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def arguments_of(name: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a constructor complain of its arguments in the name of its class, and suggest the nearest keyword."""

    def decorate(construct: Callable[P, None]) -> Callable[P, None]:
        signature = inspect.signature(construct)
        known = list(signature.parameters)[1:]

        @functools.wraps(construct)
        def checked(*args: P.args, **options: P.kwargs) -> None:
            try:
                signature.bind(*args, **options)
            except TypeError as error:
                unknown = [option for option in options if option not in known]
                raise TypeError(f"{name}(): {error}{did_you_mean(unknown[0], known) if unknown else ''}") from None
            construct(*args, **options)

        return checked

    return decorate
