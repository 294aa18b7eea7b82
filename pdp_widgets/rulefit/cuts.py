"""From a set of a column's training values to the condition that people read.

A tree splits a column's distinct training values in two; which number between two neighbours stands in the condition is
ours to choose: the shortest.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pdp_widgets.inputs.conditions import Levels, Missing, Range

if TYPE_CHECKING:
    from .conditions import Condition
    from .table import Column

__all__ = ["Interval", "Part", "Subset", "between", "condition", "size"]

_DAY = 86_400_000.0
_SPANS = (_DAY, 3_600_000.0, 60_000.0, 1_000.0, 1.0)
"""What durations are counted in, in ms."""
_CALENDAR = ("D", "h", "m", "s", "ms")


class Interval(NamedTuple):
    """Distinct values of an ordered column from index ``start`` to before ``stop``, and the missing ones or not."""

    start: int
    stop: int
    missing: bool


class Subset(NamedTuple):
    """Levels of a category by code, and the missing ones or not."""

    codes: frozenset[int]
    missing: bool


Part = Interval | Subset
"""The values of one column that a rule holds for."""


def size(part: Part) -> int:
    """Return how many distinct values a part has, missing ones left aside."""
    return len(part.codes) if isinstance(part, Subset) else part.stop - part.start


def condition(column: Column, values: np.ndarray, part: Part) -> Condition | None:
    """Return the condition that a column's value is in a part of the training values; None where it always is.

    Parameters
    ----------
    column : Column
    values : (u,) array
        The distinct training values, ascending (the codes of a category).
    part : Interval or Subset
        Not empty.
    """
    name, kind = column.name, column.text_kind
    if size(part) == 0:
        return Missing(name)
    if size(part) == len(values):
        return None if part.missing or not column.missing else Range(name)
    if isinstance(part, Subset):
        levels = tuple(column.levels[int(values[code])] for code in sorted(part.codes))
        return Levels(name, (*levels, None) if part.missing else levels)
    start, stop, missing = part
    if column.two_values is not None:
        value = _shortest_equal(float(values[start]), column)
        return Range(name, value, value, missing=missing, kind=kind)
    low = between(float(values[start - 1]), float(values[start]), column) if start else None
    high = between(float(values[stop - 1]), float(values[stop]), column) if stop < len(values) else None
    return Range(name, low, high, low_closed=low is None, missing=missing, kind=kind)


def between(a: float, b: float, column: Column) -> float:
    """Return the number t with a <= t < b whose text is shortest, of several the nearest to the middle.

    ``x <= t`` and ``x > t`` then tell a from b. Dates are cut where a day begins, else an hour and so on, durations
    at the coarsest whole unit; t is compared as the column holds it (float32, say).
    """
    if column.kind == "datetime":
        return _date_between(a, b)
    if column.kind == "timedelta":
        return next((t for span in _SPANS for t in _multiples(a, b, span) if a <= t < b), a)
    if a <= 0 < b:
        return 0.0
    # Infinite values are values like others, only that nothing lies half way to them.
    low, high = (b * 2 if math.isinf(a) else a), (a * 2 if math.isinf(b) else b)
    middle = low / 2 + high / 2
    first = -math.floor(math.log10(max(abs(low), abs(high))))
    for digits in range(first, first + 18):
        for near in (middle, low):  # the multiple nearest to the middle may be b, and a the only one
            with suppress(OverflowError):
                t = round(near, digits)
                if a <= column.held(t) < b:
                    return t
    return a


def _multiples(a: float, b: float, span: float) -> list[float]:
    middle = a / 2 + b / 2
    return [round(middle / span) * span, math.ceil(a / span) * span]


def _date_between(a: float, b: float) -> float:
    middle = np.datetime64(math.floor(a / 2 + b / 2), "ms")
    for unit in _CALENDAR:
        before = middle.astype(f"datetime64[{unit}]")
        moments = [float(moment.astype("datetime64[ms]").astype(np.int64)) for moment in (before, before + 1)]
        inside = [t for t in moments if a <= t < b]
        if inside:
            return min(inside, key=lambda t: abs(2 * t - a - b))
    return a


def _shortest_equal(value: float, column: Column) -> float:
    """Return the shortest number that the column holds as ``value``: 0.1 for the float32 nearest to it."""
    return value if column.precision is None else float(str(column.precision.type(value)))
