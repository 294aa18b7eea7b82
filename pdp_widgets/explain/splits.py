"""The one readable split of some rows that leaves their curves the most alike.

It knows curves as rows of numbers, weights and features, and answers with two conditions; what the curves mean, when a split is
worth making, and what becomes of the two sides is left to ``regions``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.subgroup import Levels, Missing, Node, Not, Range, parse

if TYPE_CHECKING:
    from pdp_widgets.inputs import FeatureTable
    from pdp_widgets.inputs.columns import Observed

MOST_THRESHOLDS = 100
LEAST_SEEN = 4
"""Rows that each side must have among those searched with, and among those that are to confirm the split."""

_MS_PER = (86_400_000, 3_600_000, 60_000, 1000, 1)
_ROUNDABLE = 1e300
_Sides = tuple[Node, Node]


@dataclass(frozen=True)
class Proposal:
    """Two conditions that divide the rows, and what that is worth."""

    feature: str
    sides: tuple[Node, Node]
    gain: float
    """Loss removed: weighted sum of squared deviations from the mean curve, before minus after."""


@dataclass(frozen=True)
class _Candidate:
    gain: float
    feature: str
    write: Callable[[], _Sides]


@dataclass(frozen=True)
class _Rows:
    """The rows to divide: those to search with, and how many of all and of the confirming ones must be on each side."""

    curves: np.ndarray
    """(m, K) weighted deviations of the searching rows' curves from their weighted mean: they sum to zero."""
    weights: np.ndarray
    least: int


def best_split(
    table: FeatureTable,
    features: Sequence[str],
    curves: np.ndarray,
    weights: np.ndarray,
    *,
    rows: np.ndarray,
    everyone: np.ndarray,
    check: np.ndarray,
    least: int,
) -> Proposal | None:
    """Return the split that removes most of the loss, None when there is none that can be made and written.

    Parameters
    ----------
    table : FeatureTable
    features : sequence of str
        Names of the features to split by.
    curves : (m, K) array
        The curves of ``rows``; the loss is the weighted sum of their squared deviations from the mean curve.
    weights : (m,) array
        Positive row weights.
    rows : (m,) int array
        Row positions to search with.
    everyone : (n,) bool array
        All rows to divide.
    check : int array
        Row positions that are to confirm the split; only their values of the features are used here.
    least : int
        Rows that each side must have.

    Notes
    -----
    A number or date is cut at up to 100 quantiles first, then at every value between the best cut's neighbours. Sums over the rows in the
    order of the feature give all cuts at once: O(m K) per feature. A category's levels are each tried against the rest; missing
    values are a side of their own, or go where they fit best.
    """
    mean = weights @ curves / weights.sum()
    given = _Rows((curves - mean) * weights[:, None], weights, least)
    found: list[_Candidate] = []
    for name in features:
        observed = table.observed(name)
        codes = observed.codes
        parts = codes[rows], codes[everyone], codes[check]
        if observed.kind == "category":
            found += _levels(name, observed, given, *parts)
        else:
            found += _cuts(name, table.feature(name).kind == "integer", observed, given, *parts)
    top = max((candidate.gain for candidate in found), default=0.0)
    if not top > 0:
        return None
    # Equal splits differ in the last digits of their sums: the first one is taken then.
    for candidate in sorted(found, key=lambda candidate: -round(candidate.gain / top, 9)):
        sides = candidate.write()
        if candidate.gain > 0 and _says_so(sides, table, everyone, least):
            return Proposal(candidate.feature, sides, candidate.gain)
    return None


# ---- numbers and dates ---------------------------------------------------------------------------


def _cuts(
    name: str, whole: bool, observed: Observed, given: _Rows, x: np.ndarray, everyone: np.ndarray, check: np.ndarray
) -> list[_Candidate]:
    """Return the best cut, and missing values against the rest."""
    gone = np.isnan(x)
    gone_sum, gone_weight = given.curves[gone].sum(axis=0), float(given.weights[gone].sum())
    total = float(given.weights.sum())
    everyone_gone, check_gone = np.isnan(everyone), np.isnan(check)
    found: list[_Candidate] = []
    if _enough(everyone_gone, gone, check_gone, given.least) and 0 < gone_weight < total:
        gain = _gain(gone_sum, np.array(gone_weight), total)
        found.append(_Candidate(float(gain), name, partial(_present, name)))
    order = np.flatnonzero(~gone)
    order = order[np.argsort(x[order], kind="stable")]
    x = x[order]
    ends = np.flatnonzero(x[1:] > x[:-1])  # the last row of the left side
    of_all, of_check = everyone[~everyone_gone], check[~check_gone]
    for some, least in ((of_all, given.least), (of_check, LEAST_SEEN), (x, LEAST_SEEN)):
        values = np.sort(some)
        below = np.searchsorted(values, x[ends], side="right")
        above = len(values) - np.searchsorted(values, x[ends + 1], side="left")
        ends = ends[(below >= least) & (above >= least)]
    if not len(ends):
        return found
    curves, weight = given.curves[order], np.cumsum(given.weights[order])

    def gains(some: np.ndarray) -> np.ndarray:
        """(2, cuts) with the missing values on the left and on the right."""
        starts = np.concatenate([[0], some + 1])
        left = np.add.reduceat(curves[: some[-1] + 2], starts, axis=0)[:-1].cumsum(axis=0)
        with_gone = _gain(left + gone_sum, weight[some] + gone_weight, total)
        return np.stack([with_gone, _gain(left, weight[some], total)])

    coarse = _spread(weight[ends])
    at = int(gains(ends[coarse]).max(axis=0).argmax())
    fine = ends[coarse[max(at - 1, 0)] : coarse[min(at + 1, len(coarse) - 1)] + 1]
    fine_gains = gains(fine)
    best = int(fine_gains.max(axis=0).argmax())
    end = fine[best]
    to_left = None
    if everyone_gone.any():
        # Where none of the missing values is among the searching rows they go to the larger side.
        to_left = bool(fine_gains[0, best] > fine_gains[1, best] if gone.any() else 2 * weight[end] > total)
    low, high = float(x[end]), float(x[end + 1])
    return [
        *found,
        _Candidate(float(fine_gains[:, best].max()), name, partial(_ranges, name, whole, observed, low, high, to_left)),
    ]


def _present(name: str) -> _Sides:
    return Missing(name), Not(Missing(name))


def _gain(sums: np.ndarray, weight: np.ndarray, total: float) -> np.ndarray:
    """Return the loss removed where one side has these sums of deviations and this weight."""
    with np.errstate(divide="ignore", invalid="ignore"):  # all the weight on one side: no split
        gain = np.square(sums).sum(axis=-1) * (1 / weight + 1 / (total - weight))
    return np.where((weight > 0) & (weight < total), gain, 0.0)


def _spread(weight: np.ndarray) -> np.ndarray:
    """Return up to 100 of the cuts, given the weight left of each, evenly spread over it."""
    if len(weight) <= MOST_THRESHOLDS:
        return np.arange(len(weight))
    wanted = np.linspace(weight[0], weight[-1], MOST_THRESHOLDS)
    return np.unique(np.minimum(np.searchsorted(weight, wanted), len(weight) - 1))


def _ranges(name: str, whole: bool, observed: Observed, low: float, high: float, to_left: bool | None) -> _Sides:
    kind = observed.text_kind
    missing = to_left is True, to_left is False
    values = np.unique(observed.codes[~observed.missing])
    if len(values) == 2:
        left, right = (
            Range(name, value, value, missing=m, kind=kind) for value, m in zip(values, missing, strict=True)
        )
        return left, right
    bound = threshold(low, high, observed, whole=whole)
    return (
        Range(name, None, bound, high_closed=False, missing=missing[0], kind=kind),
        Range(name, bound, None, missing=missing[1], kind=kind),
    )


def threshold(low: float, high: float, observed: Observed, *, whole: bool = False) -> float:
    """Return a value with as few digits as possible that lies above ``low`` and not above ``high``, unit of the codes."""
    if observed.kind == "number":
        return _few_digits(low, high, observed, whole=whole)
    found = high
    if observed.kind == "timedelta":
        rounded = [math.floor(high / unit) * float(unit) for unit in _MS_PER]
    else:
        moment = np.datetime64(math.floor(high), "ms")
        units = ("Y", "M", "D", "h", "m", "s", "ms")
        rounded = [float(moment.astype(f"datetime64[{unit}]").astype("datetime64[ms]").astype(int)) for unit in units]
    return next((value for value in rounded if value > low), found)


def _few_digits(low: float, high: float, observed: Observed, *, whole: bool) -> float:
    if math.isinf(low) and math.isinf(high):
        return 0.0
    if math.isinf(low):
        low = high - max(1.0, abs(high))
    if math.isinf(high):
        high = low + max(1.0, abs(low))
    if max(abs(low), abs(high)) > _ROUNDABLE:
        return high
    middle = low / 2 + high / 2
    most = math.ceil(math.log10(max(abs(low), abs(high)))) + 1
    for power in range(most, most - 20, -1):
        if whole and power < 0:
            break
        for given in (middle, high, low):
            value = round(given, -power)
            held = observed.as_held(value)
            if held is not None and low < held <= high:
                return float(value)
    return high


# ---- categories ----------------------------------------------------------------------------------


def _levels(
    name: str, observed: Observed, given: _Rows, codes: np.ndarray, everyone: np.ndarray, check: np.ndarray
) -> list[_Candidate]:
    """Return each level, and missing values, against the rest."""
    raw: list[Any] = [*(observed.levels or []), None]
    last = len(raw) - 1
    index, of_all, of_check = (np.where(np.isnan(c), last, c).astype(int) for c in (codes, everyone, check))
    order = np.argsort(index, kind="stable")
    levels, starts = np.unique(index[order], return_index=True)
    sums = np.add.reduceat(given.curves[order], starts, axis=0)
    gains = _gain(sums, np.bincount(index, given.weights, last + 1)[levels], float(given.weights.sum()))
    return [
        _Candidate(float(gain), name, partial(_one_or_rest, name, raw[level], observed))
        for level, gain in zip(levels.tolist(), gains, strict=True)
        if _enough(of_all == level, index == level, of_check == level, given.least)
    ]


def _one_or_rest(name: str, raw: Any, observed: Observed) -> _Sides:
    one = Missing(name) if raw is None else Levels(name, (raw,))
    return one, positively(~one, observed)


def positively(node: Node, observed: Observed) -> Node:
    """Return "none of these levels" as the levels that are left, where these are no more."""
    if not isinstance(node, Levels) or not node.negate or observed.kind != "category":
        return node
    there = [*(observed.levels or []), *([None] if observed.missing.any() else [])]
    left = [
        raw
        for raw in there
        if not any(raw is level or (type(raw) is type(level) and raw == level) for level in node.levels)
    ]
    if not left or len(left) > len(node.levels):
        return node
    return Missing(node.feature) if left == [None] else Levels(node.feature, tuple(left))


# ---- what can be made and written ------------------------------------------------------------------


def _enough(everyone: np.ndarray, search: np.ndarray, check: np.ndarray, least: int) -> bool:
    """Whether both sides have enough rows, of all and of either half."""
    pairs = ((everyone, least), (search, LEAST_SEEN), (check, LEAST_SEEN))
    return all(number <= np.count_nonzero(side) <= len(side) - number for side, number in pairs)


def _says_so(sides: _Sides, table: FeatureTable, everyone: np.ndarray, least: int) -> bool:
    """Whether two conditions divide the rows, and say so in a text that reads back to the same rows.

    Levels that are written alike, such as 1 and True, cannot be told apart in a text.
    """
    masks = [side.mask(table) for side in sides]
    if (masks[0] == masks[1])[everyone].any() or min(np.count_nonzero(mask & everyone) for mask in masks) < least:
        return False
    return all(reads_back(side, mask, table) for side, mask in zip(sides, masks, strict=True))


def reads_back(node: Node, mask: np.ndarray, table: FeatureTable) -> bool:
    """Whether a condition's text stands for these rows."""
    try:
        return bool((parse(node.text, table).mask(table) == mask).all())
    except InputError:
        return False
