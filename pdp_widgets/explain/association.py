"""How features depend on each other in the data: how strongly two of them move together, and which combinations hardly exist.

It knows features as vectors of codes with weights, and no model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, FeatureTable

CHANCE = 0.01
"""How often unrelated features may pass for related: once in a hundred looks at all the others of one feature."""

LEAST_EXPECTED = 8
"""Rows that a combination must have if the features were independent before its absence tells anything: e^-8 by chance."""

RARE = 0.05
"""A combination hardly exists with less than this share of the rows it would have then: a single stray row is no support."""

MOST_BINS = 20
"""Finer bins would not change a rounded percentage."""


@dataclass(frozen=True)
class Values:
    """The values of one feature at some rows, as in ``Observed.codes``."""

    name: str
    codes: np.ndarray
    category: bool


def values_at(table: FeatureTable, feature: Feature, rows: np.ndarray) -> Values:
    """Return the values of a feature at some rows."""
    observed = table.observed(feature)
    return Values(feature.name, observed.codes[rows], observed.kind == "category")


# ---- how strongly two features move together -----------------------------------------------------


def association(one: Values, other: Values, weights: np.ndarray, tries: int = 1) -> tuple[float, float]:
    """Return how strongly two features move together, 0 to 1, and the most that chance explains.

    Two numbers (or dates): absolute Spearman correlation. A number and a category: correlation ratio of the number's ranks, corrected
    for the number of levels (Kelley 1935). Two categories: Cramer's V, bias-corrected (Bergsma 2013). All are near 0 when the features
    are independent, and 1 when each follows from the other, or the number from the category; two numbers that rise and fall together
    show no correlation. Rows where a number is missing are left out; of a category a missing value is a level of its own.

    Parameters
    ----------
    one, other : Values
    weights : (m,) array
        Row weights; rows of weight zero are left out.
    tries : int
        With how many features one is compared: among so many unrelated ones, the strongest exceeds the second number in one of a
        hundred cases at most.

    Returns
    -------
    (float, float)
        NaN where too few rows are left to tell. A constant has no association: 0.
    """
    used = weights > 0
    for values in (one, other):
        if not values.category:
            used &= ~np.isnan(values.codes)
    a, b, weights = one.codes[used], other.codes[used], weights[used]
    n = effective_rows(weights)
    if n <= 1:
        return math.nan, math.nan
    if one.category and other.category:
        return _cramers_v(a, b, weights, n, tries)
    if one.category or other.category:
        level, number = (a, b) if one.category else (b, a)
        return _correlation_ratio(ranks(number, weights), level, weights, n, tries)
    x, y = (_standardized(ranks(values, weights), weights) for values in (a, b))
    found = 0.0 if x is None or y is None else min(abs(float(np.average(x * y, weights=weights))), 1.0)
    return found, math.sqrt((1 + beyond(1, tries)) / (n - 1))


def ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted ranks as shares of all rows: the weight below a value and half of the weight at it."""
    _, at = np.unique(values, return_inverse=True)
    mass = np.bincount(at, weights)
    return ((np.cumsum(mass) - mass / 2) / mass.sum())[at]


def effective_rows(weights: np.ndarray) -> float:
    """Return Kish's effective number of rows."""
    top = float(weights.max(initial=0.0))
    return float((weights / top).sum() ** 2 / np.square(weights / top).sum()) if top > 0 else 0.0


def beyond(freedom: int, tries: int) -> float:
    """Return how far a chi-squared statistic may exceed its mean by chance (Laurent & Massart 2000, lemma 1)."""
    t = math.log(max(tries, 1) / CHANCE)
    return 2 * math.sqrt(freedom * t) + 2 * t


def _standardized(x: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    if x.min() == x.max():
        return None
    centred = x - np.average(x, weights=weights)
    return centred / math.sqrt(float(np.average(np.square(centred), weights=weights)))


def _correlation_ratio(
    x: np.ndarray, level: np.ndarray, weights: np.ndarray, n: float, tries: int
) -> tuple[float, float]:
    at, n_levels = _levels(level)
    standard = _standardized(x, weights)
    if standard is None or n_levels == 1:
        return 0.0, math.nan
    if n <= n_levels:
        return math.nan, math.nan
    mass = np.bincount(at, weights)
    explained = float((np.square(np.bincount(at, weights * standard)) / mass).sum() / mass.sum())
    corrected = 1 - (1 - min(explained, 1.0)) * (n - 1) / (n - n_levels)
    return math.sqrt(max(corrected, 0.0)), math.sqrt(beyond(n_levels - 1, tries) / (n - n_levels))


def _cramers_v(a: np.ndarray, b: np.ndarray, weights: np.ndarray, n: float, tries: int) -> tuple[float, float]:
    (i, n_a), (j, n_b) = _levels(a), _levels(b)
    if min(n_a, n_b) == 1:
        return 0.0, math.nan
    least = min(size - (size - 1) ** 2 / (n - 1) for size in (n_a, n_b)) - 1
    if least <= 1e-9:
        return math.nan, math.nan
    cell, at = np.unique(i * n_b + j, return_inverse=True)
    total = weights.sum()
    p_a, p_b, p = (np.bincount(index, weights) / total for index in (i, j, at))
    phi2 = float((np.square(p) / (p_a[cell // n_b] * p_b[cell % n_b])).sum()) - 1
    freedom = (n_a - 1) * (n_b - 1)
    corrected = max(phi2 - freedom / (n - 1), 0.0) / least
    return math.sqrt(min(corrected, 1.0)), math.sqrt(beyond(freedom, tries) / (n - 1) / least)


def _levels(codes: np.ndarray) -> tuple[np.ndarray, int]:
    """Return each row's level, 0, 1, ..., missing ones included, and the number of levels."""
    found, at = np.unique(np.where(np.isnan(codes), -1.0, codes), return_inverse=True)
    return at, len(found)


# ---- which combinations hardly exist -------------------------------------------------------------


def binned(values: Values, weights: np.ndarray, bins: int) -> np.ndarray:
    """(m,) int: the level of a category, or one of so many bins of equal weight of a number; -1 where missing."""
    missing = np.isnan(values.codes)
    if values.category:
        return np.where(missing, -1, values.codes).astype(int)
    out = np.full(len(values.codes), -1)
    if weights[~missing].sum() > 0:
        share = ranks(values.codes[~missing], weights[~missing])
        out[~missing] = np.minimum((share * bins).astype(int), bins - 1)
    return out


def outside(points: Values, one: Values, other: Values, weights: np.ndarray) -> np.ndarray:
    """Return which share of the rows would leave the data if a feature were set to a value.

    Both features are cut into bins (numbers: of equal weight, as fine as the rows allow; categories: levels; missing values: a bin).
    A combination of bins lies outside the data when it has less than 5 % of the rows it would have if the features were
    independent, and these were at least 8. So independent features give about 0, and too few rows give no alarm.

    Parameters
    ----------
    points : Values
        K values that the feature is set to.
    one, other : Values
        The feature, and another one, at m rows.
    weights : (m,) array

    Returns
    -------
    (K,) array
        NaN when the rows are too few to tell of any combination.
    """
    n = effective_rows(weights)
    size = len(points.codes)
    if n < 4 * LEAST_EXPECTED:
        return np.full(size, np.nan)
    # Points of no weight are laid into the same bins.
    longer = Values(one.name, np.concatenate([one.codes, points.codes]), one.category)
    mine = binned(longer, np.append(weights, np.zeros(size)), _bins(other, weights, n))
    theirs = binned(other, weights, _bins(one, weights, n))
    p_mine, i = _masses(mine, weights, n)
    p_theirs, j = _masses(theirs, weights, n)
    expected = np.outer(p_mine, p_theirs)
    told = expected * n >= LEAST_EXPECTED
    if not told.any():
        return np.full(size, np.nan)
    at = i[: len(weights)] * len(p_theirs) + j
    p = np.bincount(at, weights, expected.size).reshape(expected.shape) / weights.sum()
    rare = told & (p <= RARE * expected)
    return (rare @ p_theirs)[i[len(weights) :]]


def _bins(other: Values, weights: np.ndarray, n: float) -> int:
    """Return into how many bins a number is cut beside another feature, so that each combination has enough rows."""
    at, _ = _levels(other.codes)
    mass = np.bincount(at, weights) / weights.sum()
    levels = 1 / np.square(mass).sum()
    return int(np.clip(max(math.sqrt(n / LEAST_EXPECTED), n / LEAST_EXPECTED / levels), 2, MOST_BINS))


def _masses(bins: np.ndarray, weights: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of the bins, and each row's bin; bins of which nothing can be told are one, of share 0."""
    _, at = np.unique(bins, return_inverse=True)
    mass = np.bincount(at[: len(weights)], weights, at.max() + 1) / weights.sum()
    kept = mass * n >= LEAST_EXPECTED
    index = np.where(kept, np.cumsum(kept) - 1, np.count_nonzero(kept))
    return np.append(mass[kept], 0.0), index[at]
