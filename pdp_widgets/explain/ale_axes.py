"""Features laid out for accumulated local effects: points, steps between them, and the order of a category's levels.

What is asked at the points, and what becomes of the answers, is the business of ``ale.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import Feature, FeatureTable, InputError
from pdp_widgets.inputs.columns import AxisKind, Observed, objects
from pdp_widgets.inputs.grid import axis_labels

from .grids import PAIR_GRID_SIZE, at_least

if TYPE_CHECKING:
    from pdp_widgets.inputs.containers import Vector

BINS = 40
MOST_LEVELS = 1000
"""Levels of a category that are put in order by similarity; beyond, the caller has to."""
_MOST_POINTS = 2000  # at which distributions are compared, fewer where there are many levels to compare


def chosen_features(table: FeatureTable, features: Any) -> list[Feature]:
    """Read a feature or a pair; a tuple may also be a column label."""
    if isinstance(features, tuple):
        try:
            return [table.feature(features)]
        except InputError:
            pass
    names = list(features) if isinstance(features, (list, tuple)) else [features]
    if len(names) not in (1, 2):
        raise InputError(f"features={features!r}; expected one feature or a pair")
    chosen = [table.feature(name) for name in names]
    if len(chosen) == 2 and set(chosen[0].columns) & set(chosen[1].columns):
        raise InputError(f"features={features!r}; a pair needs two different features")
    return chosen


def make_axes(
    table: FeatureTable,
    features: Sequence[Feature],
    rows: np.ndarray,
    weights: np.ndarray,
    bins: int | tuple[int, int] | None,
    order: Sequence[Any] | Mapping[Any, Sequence[Any]] | None,
) -> list[Axis]:
    """Lay out one feature or two.

    Parameters
    ----------
    table : FeatureTable
    features : sequence of Feature
    rows : (m,) int array
        The rows that matter; all of them have a finite value.
    weights : (m,) array
        Their weights, none of them zero.
    bins, order
        As ``ale`` takes them.

    Raises
    ------
    InputError
        When ``bins`` or ``order`` do not fit the features, or a category has too many levels to order.
    """
    orders = _orders(table, features, order)
    if bins is None:
        bins = BINS if len(features) == 1 else PAIR_GRID_SIZE
    several = bins if isinstance(bins, (tuple, list)) else (bins,) * len(features)
    if len(several) != len(features):
        raise InputError(f"bins={bins!r} for {len(features)} feature(s); expected a number, or two for a pair")
    axes = []
    for feature, size, given in zip(features, several, orders, strict=True):
        most = at_least("bins", size, 1)
        seen = table.observed(feature)
        if seen.kind == "category":
            axes.append(_category_axis(table, feature, seen, rows, weights, given))
        else:
            axes.append(_number_axis(table, feature, seen, rows, weights, most))
    return axes


def _orders(table: FeatureTable, features: Sequence[Feature], order: Any) -> list[Any]:
    """Return the caller's order of levels per feature, None where there is none."""
    if order is None:
        return [None] * len(features)
    categories = [feature.name for feature in features if feature.axis == "category"]
    if isinstance(order, Mapping):
        by_name = {table.feature(name).name: levels for name, levels in order.items()}
    elif len(categories) == 1:
        by_name = {categories[0]: order}
    elif categories:
        raise InputError(
            f"order={order!r} for two categories; expected a mapping, such as {{{categories[0]!r}: [...], {categories[1]!r}: [...]}}"
        )
    else:
        by_name = {features[0].name: order}
    for name in by_name:
        if name not in categories:
            kinds = ", ".join(f"{feature.name!r} ({feature.kind})" for feature in features)
            raise InputError(f"order is given for {name!r}, but only categories are ordered; asked for was {kinds}")
    return [by_name.get(feature.name) for feature in features]


# ---- places on an axis -----------------------------------------------------------------------


def place(positions: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, per value, the points below and above it, and how far it is on the way: low, high, share.

    A value that equals a point is the upper end of its step, but for the first one.
    """
    low = np.clip(np.searchsorted(positions, codes) - 1, 0, max(len(positions) - 2, 0))
    high = np.minimum(low + 1, len(positions) - 1)
    width = np.where(high > low, positions[high] - positions[low], 1.0)
    return low, high, (codes - positions[low]) / width


def corners(
    places: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> Iterator[tuple[tuple[np.ndarray, ...], np.ndarray]]:
    """Yield the points around each value, and how much each counts when interpolating linearly in every feature."""
    for sides in product((0, 1), repeat=len(places)):
        shares = [share if side else 1 - share for side, (_, _, share) in zip(sides, places, strict=True)]
        yield tuple(at[side] for side, at in zip(sides, places, strict=True)), np.prod(shares, axis=0)


# ---- axes ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """A feature laid out in K points, and where some rows lie on it."""

    feature: Feature
    kind: AxisKind
    values: np.ndarray
    labels: list[str]
    positions: np.ndarray
    vectors: list[Vector]
    """Per column of the feature, the K values in the column's own dtype."""
    codes: np.ndarray
    """(m,) where the rows lie, in the unit of ``positions``."""

    @property
    def size(self) -> int:
        """Return the number of points K."""
        return len(self.positions)

    @property
    def bins(self) -> int:
        """Return how many bins or levels rows are counted in."""
        return self.size if self.kind == "category" else max(self.size - 1, 1)

    @property
    def bin(self) -> np.ndarray:
        """(m,) the bin or level of each row."""
        return self.codes.astype(int) if self.kind == "category" else place(self.positions, self.codes)[0]

    @property
    def steps(self) -> np.ndarray:
        """(m, 1) or (m, 2) the steps that each row belongs to, -1 for none."""
        if self.kind == "category":
            level = self.codes.astype(int)
            return np.column_stack([level - 1, np.where(level < self.size - 1, level, -1)])
        return self.bin[:, None] if self.size > 1 else np.full((len(self.codes), 1), -1)

    def at(self, rows: np.ndarray) -> Axis:
        """Return the same axis for some of the rows."""
        return replace(self, codes=self.codes[rows])


def _number_axis(
    table: FeatureTable, feature: Feature, seen: Observed, rows: np.ndarray, weights: np.ndarray, bins: int
) -> Axis:
    codes = seen.codes[rows]
    unique, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    share = np.cumsum(np.bincount(inverse, weights))
    at = np.searchsorted(share / share[-1], np.arange(bins + 1) / bins - 1e-12)
    chosen = np.unique(np.minimum(at, len(unique) - 1))
    vectors = table.values(feature, rows[first[chosen]])
    positions = unique[chosen]
    return Axis(
        feature, seen.kind, np.asarray(vectors[0]), axis_labels(positions, seen.kind), positions, vectors, codes
    )


def _category_axis(
    table: FeatureTable, feature: Feature, seen: Observed, rows: np.ndarray, weights: np.ndarray, given: Any
) -> Axis:
    assert seen.levels is not None
    assert seen.labels is not None
    assert seen.representative is not None
    present, level = np.unique(seen.codes[rows].astype(int), return_inverse=True)
    if given is not None:
        chosen = _given_order(table, feature, seen, present, given)
    elif getattr(table.values(feature, rows[:1])[0], "ordered", False) or len(present) <= 2:
        chosen = present
    elif len(present) > MOST_LEVELS:
        raise InputError(
            f"{feature.name!r} has {len(present):,} levels, more than the {MOST_LEVELS:,} that are put in order by similarity; "
            "give order=[...], or join rare levels"
        )
    else:
        chosen = present[_in_line(similarity(table, feature, rows, level, weights))]
    rank = np.full(len(seen.levels), -1)
    rank[chosen] = np.arange(len(chosen))
    labels, vectors = [seen.labels[k] for k in chosen], table.values(feature, seen.representative[chosen])
    return Axis(
        feature,
        "category",
        objects(labels) if feature.kind == "group" else np.asarray(vectors[0]),
        labels,
        np.arange(len(chosen), dtype=float),
        vectors,
        rank[seen.codes[rows].astype(int)].astype(float),
    )


def _given_order(
    table: FeatureTable, feature: Feature, seen: Observed, present: np.ndarray, given: Sequence[Any]
) -> np.ndarray:
    """Return the present levels in the caller's order: each by its value, its text or, in a group, its column."""
    assert seen.levels is not None
    assert seen.labels is not None
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"order={given!r}; expected the levels of {feature.name!r} in a list")
    called = table.group_names(feature) if feature.kind == "group" else {}
    chosen: list[int] = []
    for wanted in given:
        name = called.get(wanted, wanted) if isinstance(wanted, str) else wanted
        ways = [
            [k for k, level in enumerate(seen.levels) if type(level) is type(name) and level == name],
            [k for k, level in enumerate(seen.levels) if level == name],
            [k for k, label in enumerate(seen.labels) if label == name],
        ]
        found = next((way for way in ways if way), None)
        if found is None or found[0] in chosen:
            what = "which it does not have" if found is None else "twice"
            raise InputError(
                f"order of {feature.name!r} names {wanted!r}, {what}; its levels are {', '.join(map(repr, seen.labels))}"
            )
        chosen.append(found[0])
    left = [seen.labels[k] for k in present if k not in chosen]
    if left:
        raise InputError(f"order of {feature.name!r} leaves out {', '.join(map(repr, left))}; name each of its levels")
    return np.array([k for k in chosen if k in set(present.tolist())])


# ---- the order of levels ---------------------------------------------------------------------


def similarity(
    table: FeatureTable, feature: Feature, rows: np.ndarray, level: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return how far the levels of a category differ in all other features, (L, L).

    The sum over the other features of the distance of their distributions: Kolmogorov-Smirnov for numbers and dates, total variation
    for categories, as Apley & Zhu (2020) propose. A missing value counts as the largest number, or as a level of its own. Features of
    more than 2000 distinct values are compared at as many quantiles, or with their rare levels as one; fewer than 2000 when there are
    more than 300 levels to compare.

    Parameters
    ----------
    table : FeatureTable
    feature : Feature
    rows : (m,) int array
        Row positions.
    level : (m,) int array
        Their levels, 0 to L - 1.
    weights : (m,) array
        Their weights.
    """
    n_levels = int(level.max()) + 1
    most = int(np.clip(2e8 / n_levels**2, 50, _MOST_POINTS))
    total = np.zeros((n_levels, n_levels))
    for other in others_of(table, feature):
        seen = table.observed(other)
        values, at = np.unique(seen.codes[rows], return_inverse=True)
        if len(values) > most:
            mass = np.bincount(at, weights)
            if seen.kind == "category":
                rank = np.empty(len(values), dtype=int)
                rank[np.argsort(-mass, kind="stable")] = np.arange(len(values))
                at = np.minimum(rank, most - 1)[at]
            else:
                share = np.cumsum(mass) / mass.sum()
                at = np.searchsorted(np.arange(1, most) / most, share[at])
        size = int(at.max()) + 1
        mass = np.bincount(level * size + at, weights, n_levels * size).reshape(n_levels, size)
        mass = mass / mass.sum(axis=1, keepdims=True)
        if seen.kind == "category":
            total += np.array([np.abs(mass - one).sum(axis=1) / 2 for one in mass])
        else:
            mass = np.cumsum(mass, axis=1)
            total += np.array([np.abs(mass - one).max(axis=1) for one in mass])
    return total


def others_of(table: FeatureTable, feature: Feature) -> list[Feature]:
    """Return all features but one, also those that are not explained."""
    found = {other.name: other for other in table.features.values()}
    covered = {j for other in found.values() for j in other.columns}
    for j, name in enumerate(table.column_names):
        if j not in covered:
            try:
                found.setdefault(name, table.feature(name))
            except InputError:  # a column without an axis, which may be left out of the features
                continue
    return [other for other in found.values() if not set(other.columns) & set(feature.columns)]


def _in_line(distances: np.ndarray) -> np.ndarray:
    """Return the levels in order on the first axis of classical multidimensional scaling.

    The direction that agrees with the order of display is taken; levels that cannot be told apart keep that order.
    """
    n = len(distances)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centre @ np.square(distances) @ centre / 2)
    if values[-1] <= 1e-12:
        return np.arange(n)
    line = np.round(vectors[:, -1], 9)
    trend = float(line @ (np.arange(n) - (n - 1) / 2))
    if trend < -1e-9 or (abs(trend) <= 1e-9 and line[np.argmax(line != 0)] > 0):
        line = -line
    return np.argsort(line, kind="stable")
