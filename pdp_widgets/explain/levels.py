"""Levels: the rows of each value of a feature, numbers and dates cut into ranges, each with the condition that says so.

A range holds its upper bound and not its lower one. Cuts lie at quantiles of the observed values, written with few digits as long
as that moves no row to another range.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import axis_value, is_missing, literal_text, same
from pdp_widgets.inputs.hints import check_level
from pdp_widgets.inputs.subgroup import Levels, Missing, Node, Range

from .grids import at_least

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, FeatureTable, Observed

QUANTILE_GROUPS = 4
MOST_LEVELS = 20
"""Levels of a category that are shown unless more are asked for: as many curves as can be told apart with patience."""

_LEAST_DIGITS = 4
_MS_PER = (86_400_000, 3_600_000, 60_000, 1000, 1)


@dataclass(frozen=True, eq=False)
class Level:
    """Some rows of the table, and what they have in common."""

    label: str
    value: Any
    """The raw value; of a range its two bounds, in the unit of ``Observed.codes``; None where the value is missing."""
    condition: str
    """What they have in common, as ``subgroup`` takes it."""
    mask: np.ndarray = field(repr=False)
    """(n,) bool"""


def levels_of(
    table: FeatureTable, feature: Feature, inside: np.ndarray, wanted: Any = None, weights: np.ndarray | None = None
) -> tuple[list[Level], str]:
    """Return the levels of a feature, and a note where there are more of them.

    Parameters
    ----------
    table : FeatureTable
    feature : Feature
    inside : (n,) bool array
        Rows to divide: levels are looked for, and quantiles taken, among them.
    wanted : int or sequence, optional
        Of a number or date: into how many groups of about equal weight to cut (4), or the cuts themselves, ascending. A number with
        no more distinct values than groups is not cut. Of a category: how many levels, the most frequent ones (20), or the levels
        themselves, None for a missing value.
    weights : (n,) array, optional
        Row weights, used in the quantiles.

    Raises
    ------
    InputError
        For levels or cuts that the feature cannot have.
    """
    observed = table.observed(feature)
    number = wanted
    if isinstance(wanted, (str, bytes, Mapping)) or (wanted is not None and np.ndim(wanted) not in (0, 1)):
        raise InputError(f"levels={wanted!r} of {feature.name!r}; expected a number, or a list of {_what(observed)}")
    if wanted is not None and np.ndim(wanted) == 1:
        number = None
        wanted = list(wanted)
        if not wanted:
            raise InputError(f"levels=[] of {feature.name!r}; expected {_what(observed)}")
    if number is not None:
        number, wanted = at_least("levels", number, 1 if observed.kind == "category" else 2), None
    if observed.kind == "category":
        return _of_category(table, feature, observed, inside, wanted, number or MOST_LEVELS)
    if wanted is not None:
        return _ranges(feature, observed, inside, _cuts(feature, observed, wanted)), ""
    codes = observed.codes[inside]
    distinct = np.unique(codes[~np.isnan(codes)])
    number = number or QUANTILE_GROUPS
    if len(distinct) <= number:
        return _values(feature, observed, inside, distinct), ""
    weights = None if weights is None else weights[inside]
    return _ranges(feature, observed, inside, _quantiles(observed, codes, weights, number)), ""


def _what(observed: Observed) -> str:
    return "levels" if observed.kind == "category" else "cuts"


# ---- categories ------------------------------------------------------------------------------------


def _of_category(
    table: FeatureTable, feature: Feature, observed: Observed, inside: np.ndarray, wanted: list[Any] | None, most: int
) -> tuple[list[Level], str]:
    levels = observed.levels or []
    codes = np.where(observed.missing, len(levels), observed.codes).astype(int)
    counts = np.bincount(codes[inside], minlength=len(levels) + 1)
    if wanted is not None:
        found = [_position(table, feature, levels, one) for one in wanted]
        positions = [len(levels) if k is None else k for k in found]
        if len(set(positions)) < len(positions):
            raise InputError(f"levels={wanted!r} of {feature.name!r} names a level twice")
        return [_level(feature, observed, codes, inside, k, one) for k, one in zip(positions, wanted, strict=True)], ""
    present = np.flatnonzero(counts[:-1])
    note = ""
    if len(present) > most:
        note = f"the {most} most frequent of {len(present):,} levels; levels=[...] asks for others"
        present = np.sort(present[np.argsort(-counts[present], kind="stable")[:most]])
    shown = [*present.tolist(), len(levels)] if counts[-1] else present.tolist()
    return [_level(feature, observed, codes, inside, k, None) for k in shown], note


def _position(table: FeatureTable, feature: Feature, levels: list[Any], wanted: Any) -> int | None:
    """Return the position of a level, None for the missing one, -1 for one that is declared and not observed."""
    if is_missing(wanted):
        return None
    if feature.kind == "group":
        wanted = table.group_names(feature).get(wanted, wanted)
    exact = (k for k, level in enumerate(levels) if type(level) is type(wanted) and level == wanted)
    like = (k for k, level in enumerate(levels) if same(level, wanted))
    k = next(exact, next(like, -1))
    if k < 0:
        check_level(feature.name, wanted, table)
    return k


def _level(feature: Feature, observed: Observed, codes: np.ndarray, inside: np.ndarray, k: int, given: Any) -> Level:
    levels = observed.levels or []
    if k == len(levels):
        return _missing(feature, codes == k, inside)
    raw, label = (given, str(given)) if k < 0 else (levels[k], (observed.labels or [])[k])
    return Level(label, raw, Levels(feature.name, (raw,)).text, (codes == k) & inside)


def _missing(feature: Feature, gone: np.ndarray, inside: np.ndarray) -> Level:
    return Level("missing", None, Missing(feature.name).text, gone & inside)


# ---- numbers and dates -----------------------------------------------------------------------------


def _text(value: float, observed: Observed) -> str:
    return str(value) if math.isinf(value) else literal_text(value, observed.text_kind).strip("'")


def _values(feature: Feature, observed: Observed, inside: np.ndarray, distinct: np.ndarray) -> list[Level]:
    """Return one level per value."""
    found = []
    for value in distinct.tolist():
        short = _short(value, observed)
        condition = Range(feature.name, short, short, kind=observed.text_kind).text
        found.append(Level(_text(short, observed), short, condition, (observed.codes == value) & inside))
    if observed.missing[inside].any():
        found.append(_missing(feature, observed.missing, inside))
    return found


def _ranges(feature: Feature, observed: Observed, inside: np.ndarray, cuts: list[float]) -> list[Level]:
    """Return the ranges between cuts, the missing level last."""
    found = []
    for low, high in zip([None, *cuts], [*cuts, None], strict=True):
        mask = inside & ~observed.missing
        if low is not None:
            mask &= observed.codes > observed.as_held(low)
        if high is not None:
            mask &= observed.codes <= observed.as_held(high)
        texts = [None if bound is None else _text(bound, observed) for bound in (low, high)]
        label = f"<= {texts[1]}" if low is None else f"> {texts[0]}" if high is None else f"{texts[0]} to {texts[1]}"
        node: Node = Range(feature.name, low, high, low_closed=False, kind=observed.text_kind)
        found.append(Level(label, (low, high), node.text, mask))
    if observed.missing[inside].any():
        found.append(_missing(feature, observed.missing, inside))
    return found


def _cuts(feature: Feature, observed: Observed, wanted: list[Any]) -> list[float]:
    """Return the caller's cuts in the unit of the codes."""
    cuts = []
    for value in wanted:
        given: Any = value.item() if isinstance(value, np.generic) and observed.kind == "number" else value
        if isinstance(given, dt.date):
            given = pd.Timestamp(given)
        elif isinstance(given, dt.timedelta):
            given = pd.Timedelta(given)
        elif isinstance(given, float) and observed.kind != "number":
            given = int(given) if math.isfinite(given) else None  # a bare number is no date
        if is_missing(given) or isinstance(given, bool):
            raise InputError(f"levels={wanted!r}: {value!r} is no value that {feature.name!r} can be cut at")
        cuts.append(axis_value(given, observed, feature.name))
    if not np.isfinite(cuts).all() or any(b <= a for a, b in itertools.pairwise(cuts)):
        raise InputError(f"levels={wanted!r} of {feature.name!r}; expected finite cuts, each above the one before")
    return cuts


def _quantiles(observed: Observed, codes: np.ndarray, weights: np.ndarray | None, groups: int) -> list[float]:
    """Return cuts at which the share of rows first reaches 1/groups, 2/groups, ...; ties give fewer."""
    finite = np.isfinite(codes)
    values, at = np.unique(codes[finite], return_inverse=True)
    if len(values) < 2:  # all others are infinite
        return values.tolist()
    mass = np.bincount(at, None if weights is None else weights[finite])
    if not mass.sum():
        mass = np.bincount(at)
    share = np.cumsum(mass) / mass.sum()
    reached = np.searchsorted(share, np.arange(1, groups) / groups - 1e-12)
    below_last = np.unique(np.minimum(reached, len(values) - 2))
    return [_between(float(values[k]), float(values[k + 1]), observed) for k in below_last]


def _short(value: float, observed: Observed) -> float:
    """Return a number as it is written in its column's own precision: 0.1, not 0.10000000149."""
    return value if observed.precision is None else float(str(observed.precision.type(value)))


def _between(low: float, high: float, observed: Observed) -> float:
    """Return the first value from ``low`` on that is quick to read, below ``high``."""
    if observed.kind != "number":
        return next((at for unit in _MS_PER if (at := math.ceil(low / unit) * float(unit)) < high), low)
    for digits in range(_LEAST_DIGITS, 17):
        near = float(f"{low:.{digits - 1}e}")
        step = 10.0 ** (math.floor(math.log10(abs(low))) + 1 - digits) if low else 0.0
        for value in (near, float(f"{near + step:.{digits - 1}e}")):
            held = observed.as_held(value)
            if held is not None and low <= held < high:
                return value
    return low
