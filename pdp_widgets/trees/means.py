"""Averages over rows of a sum of trees: partial dependence at grid points, and at the rows' own values.

Where the response is affine in the sums they follow from counts of rows (``counts.py``), and no curve is computed. Elsewhere the
*responses* are averaged, never the sums, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .counts import Spread, at_rows, masses
from .sums import parts

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, Grid

    from .sums import TreeSums

_MOST_JOINT = 4 * 2**20  # float64 averages of pairs that are computed together
_CURVES = 4096  # rows whose responses are held at once
_CROSSED = 1024  # rows crossed with as many others at once


@dataclass(frozen=True)
class Means:
    """Averages over rows at grid points, on the response scale."""

    singles: list[np.ndarray]
    """Per grid, (n_outputs, K): partial dependence."""
    pairs: list[np.ndarray]
    """Per pair, (n_outputs, K1, K2)."""


@dataclass(frozen=True)
class JointMeans:
    """Averages over rows, evaluated at the same rows: what the H-statistics are made of (Friedman & Popescu 2008, section 8.1).

    On the response scale and uncentred.
    """

    features: tuple[str, ...]
    rows: np.ndarray
    """(n,) positions of the rows."""
    mean: np.ndarray
    """(n_outputs,) mean prediction."""
    prediction: np.ndarray
    """(n_outputs, n)"""
    single: np.ndarray
    """(n_outputs, F, n) partial dependence of each feature at each row's own value."""
    rest: np.ndarray
    """(n_outputs, F, n) partial dependence of all other features together, at each row's own values."""
    pairs: tuple[tuple[int, int], ...]
    """Positions in ``features``."""
    interaction: np.ndarray
    """(n_outputs, P, n) joint minus both single ones plus the mean. Where the response is affine in the sums it is exactly
    zero for two features that are on no path together."""

    @property
    def joint(self) -> np.ndarray:
        """(n_outputs, P, n) partial dependence of each pair at each row's own two values."""
        j, k = np.array(self.pairs, dtype=int).reshape(-1, 2).T
        return self.interaction + self.single[:, j] + self.single[:, k] - self.mean[:, None, None]


def partial_dependence(
    sums: TreeSums,
    grids: Sequence[Grid],
    pairs: Sequence[tuple[int, int]] = (),
    *,
    rows: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Means:
    """Return the partial dependence of several features and pairs of them.

    Parameters
    ----------
    sums : TreeSums
    grids : sequence of Grid
        Of different features.
    pairs : sequence of (int, int)
        Positions in ``grids``; each pair once.
    rows : (m,) int array, optional
        Average over these rows only.
    weights : (m,) float array, optional
        One weight per row averaged over, any positive scale.

    Raises
    ------
    UnreadableError
        When the points of a grid cannot be encoded, or move columns of other features.
    """
    rows = np.arange(sums.points.table.n_rows) if rows is None else rows
    if not sums.linear:
        shares = _shares(rows, weights)
        return Means(
            [_average(sums, rows, shares, [grid]) for grid in grids],
            [_average(sums, rows, shares, [grids[j], grids[k]]) for j, k in pairs],
        )
    view = sums.points.view(grids)
    n_raw, most = sums.ensemble.n_raw, int(view.sizes.max(initial=1))
    at_once = max(1, _MOST_JOINT // (n_raw * most**2))
    singles: list[np.ndarray] = []
    surfaces: list[np.ndarray] = []
    for start in range(0, max(len(pairs), 1), at_once):
        some = pairs[start : start + at_once]
        spread = Spread(sums, view, some, rows, weights, with_surface=True)
        for trees, start_of, mass in masses(sums, view, rows, weights, with_pairs=len(some) > 0):
            spread.add(trees, start_of, mass)
        single, mean = spread.singles()
        singles = singles or [sums.respond(single[:, f, : grid.size] + mean[:, None]) for f, grid in enumerate(grids)]
        surfaces += [
            sums.respond(surface[:, : grids[a].size, : grids[b].size])
            for (a, b), surface in zip(some, spread.surfaces(single, mean), strict=True)
        ]
    return Means(singles, surfaces)


def joint_means(
    sums: TreeSums,
    features: Sequence[Feature],
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    rows: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> JointMeans:
    """Return the averages at the rows' own values that interaction statistics are made of.

    Parameters
    ----------
    sums : TreeSums
    features : sequence of Feature
    pairs : sequence of (int, int), optional
        Positions in ``features``, each pair once; all pairs by default.
    rows : (n,) int array, optional
        Average over these rows, and evaluate at them; all rows by default.
    weights : (n,) float array, optional
        One weight per row, any positive scale.
    """
    rows = np.arange(sums.points.table.n_rows) if rows is None else rows
    pairs = tuple(combinations(range(len(features)), 2)) if pairs is None else tuple(pairs)
    names = tuple(feature.name for feature in features)
    if not sums.linear:
        return _crossed(sums, features, names, pairs, rows, _shares(rows, weights))
    view, order = sums.points.rows_as_grids(features, rows)
    back = np.argsort(order, axis=1)  # from the sorted points to the rows
    ensemble, n = sums.ensemble, len(rows)
    at_once = max(1, _MOST_JOINT // (ensemble.n_raw * n))
    zero = sums.respond(np.zeros((ensemble.n_raw, 1)))
    interaction = np.empty((len(zero), len(pairs), n))
    for start in range(0, max(len(pairs), 1), at_once):
        some = pairs[start : start + at_once]
        spread = Spread(sums, view, some, rows, weights, with_surface=False)
        prediction = np.repeat(ensemble.base[:, None], n, axis=1)
        if view.additive:
            prediction += view.additive.at_rows(rows)
        rest = spread.rest(rows)
        joint = np.zeros((ensemble.n_raw, len(some), n))
        for trees, start_of, mass in masses(sums, view, rows, weights, with_pairs=len(some) > 0):
            spread.add(trees, start_of, mass)
            spread.add_at_rows(trees, start_of, mass, rows, prediction, rest, joint)
        sorted_single, mean = spread.singles()
        if start == 0:
            single = sums.respond(at_rows(sorted_single, back) + mean[:, None, None])
            others = sums.respond(rest + prediction[:, None])
        for number, (j, k) in enumerate(some):
            joint[:, number] -= spread.part[:, number, 0][:, back[j]] + spread.part[:, number, 1][:, back[k]]
            joint[:, number] += spread.pair_constant[:, number, None]
        interaction[:, start : start + len(some)] = sums.respond(joint) - zero[..., None]
    return JointMeans(
        names, rows, sums.respond(mean[:, None])[:, 0],
        sums.respond(prediction), single, others, pairs, interaction,
    )  # fmt: skip


# ---- responses that are not affine in the sums -------------------------------------------------


def _shares(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    shares = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    assert shares.sum() > 0, "an average needs rows that count"
    return shares / shares.sum()


def _average(sums: TreeSums, rows: np.ndarray, shares: np.ndarray, grids: Sequence[Grid]) -> np.ndarray:
    """Return the average of the rows' curves or surfaces."""
    blocks = parts(len(rows), _CURVES)
    return np.sum([np.tensordot(shares[part], sums.ice(rows[part], grids), axes=(0, 1)) for part in blocks], axis=0)


def _crossed(
    sums: TreeSums, features: Sequence[Feature], names: tuple[str, ...], pairs: tuple[tuple[int, int], ...],
    rows: np.ndarray, shares: np.ndarray,
) -> JointMeans:  # fmt: skip
    """Return joint means from the responses of each row with features taken from each other row."""
    prediction = sums.predict(rows)
    mean = prediction @ shares
    both = [_cross_means(sums, rows, shares, [feature]) for feature in features]
    single, rest = (np.stack([means[side] for means in both], axis=1) for side in (0, 1))
    interaction = np.empty((len(mean), len(pairs), len(rows)))
    for number, (j, k) in enumerate(pairs):
        joint, _ = _cross_means(sums, rows, shares, [features[j], features[k]])
        interaction[:, number] = joint - single[:, j] - single[:, k] + mean[:, None]
    return JointMeans(names, rows, mean, prediction, single, rest, pairs, interaction)


def _cross_means(
    sums: TreeSums, rows: np.ndarray, shares: np.ndarray, features: Sequence[Feature]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (n_outputs, n) averages with the features as in each row, and with all others as in each row."""
    moved = rest = np.zeros((1, 1))
    for number, part in enumerate(parts(len(rows), _CROSSED)):
        for other in parts(len(rows), _CROSSED):
            block = sums.cross(rows[part], rows[other], features)
            if number == 0 and other.start == 0:
                moved, rest = np.zeros((2, len(block), len(rows)))
            moved[:, other] += np.tensordot(shares[part], block, axes=(0, 1))
            rest[:, part] += block @ shares[other]
    return moved, rest
