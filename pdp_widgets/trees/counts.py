"""Counting the rows that each leaf would hold: averages over rows of a sum of trees without computing any curve.

A leaf with the features J on its path contributes, when the features S are moved, its value times the share of rows that satisfy
its conditions on J without S. So one count of rows per leaf and per one or two features gives the average over rows for every
feature and pair, at any points, for any weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import kernels
from .kernels import BLOCK, WORDS
from .sums import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .points import View
    from .sums import TreeSums

_MOST_MASSES = 4 * 2**20  # float64 masses of trees that are weighed together


class Spread:
    """Steps of averages over grid points, tree by tree; what lines add comes on top, and never to an interaction."""

    def __init__(
        self, sums: TreeSums, view: View, pairs: Sequence[tuple[int, int]],
        rows: np.ndarray, weights: np.ndarray | None, *, with_surface: bool,
    ) -> None:  # fmt: skip
        n_raw, n, most = sums.ensemble.n_raw, len(view.sizes), int(view.sizes.max(initial=1))
        assert len({frozenset(pair) for pair in pairs if pair[0] != pair[1]}) == len(pairs), "pairs must be distinct"
        self._sums, self._view, self._pairs = sums, view, pairs
        self._pair_at = np.full((max(n, 1), max(n, 1)), -1, dtype=np.int32)
        for number, (j, k) in enumerate(pairs):
            self._pair_at[j, k] = self._pair_at[k, j] = number
        self._pair_first = np.array([j for j, _ in pairs], dtype=np.int32)
        self._with_surface = with_surface and len(pairs) > 0
        self.single = np.zeros((n_raw, n, most))
        self.single_constant = np.zeros((n_raw, n))
        self.part = np.zeros((n_raw, len(pairs), 2, most))
        self.pair_constant = np.zeros((n_raw, len(pairs)))
        axes = (most, most) if self._with_surface else (0, 0)
        self.surface = np.zeros((n_raw, len(pairs), *axes))
        self.mean = sums.ensemble.base.copy()
        self._lines = view.additive.mean(rows, weights) if view.additive else None
        if self._lines is not None:
            self.mean += self._lines.sum(axis=1)

    def add(self, trees: tuple[int, int], start_of: np.ndarray, mass: np.ndarray) -> None:
        """Add some trees."""
        view, layout, ensemble = self._view, self._view.layout, self._sums.ensemble
        most = self.single.shape[2]
        kernels.spread(
            trees, *view.features, layout.slot, layout.leaf_tree, layout.members.start, layout.members.node, layout.value,
            ensemble.output, start_of, mass, view.wanted, view.sizes, view.grid_table, self._pair_at, self._pair_first,
            self._with_surface, np.empty((layout.most_nodes, view.grid_table.shape[1]), np.uint64),
            np.empty(most + 1, np.int64), np.empty(most + 1, np.int64),
            self.single, self.single_constant, self.part, self.pair_constant, self.surface,
        )  # fmt: skip
        leaves = slice(layout.leaf_tree[trees[0]], layout.leaf_tree[trees[1]])
        first = np.repeat(ensemble.output[slice(*trees)], np.diff(layout.leaf_tree[trees[0] : trees[1] + 1]))
        averages = layout.value[leaves] * mass[start_of[:-1], None]
        for o in range(ensemble.width):
            self.mean += np.bincount(first + o, averages[:, o], minlength=ensemble.n_raw)

    def add_at_rows(
        self, trees: tuple[int, int], start_of: np.ndarray, mass: np.ndarray, rows: np.ndarray,
        prediction: np.ndarray, rest: np.ndarray, joint: np.ndarray,
    ) -> None:  # fmt: skip
        """Add some trees' averages at the rows' own values."""
        view, layout, ensemble = self._view, self._view.layout, self._sums.ensemble

        def work(part: slice) -> None:
            table, everything = view.block(rows[part])
            m = len(rows[part])
            sums = [np.zeros((*array.shape[:-1], BLOCK)) for array in (prediction, rest, joint)]
            kernels.at_rows(
                trees, *view.features, layout.slot, layout.leaf_tree, layout.members.start, layout.members.node, layout.value,
                ensemble.output, start_of, mass, view.wanted, self._pair_at, table, everything,
                np.empty((layout.most_nodes, WORDS), np.uint64), np.empty((layout.members.most + 1, WORDS), np.uint64),
                *sums,
            )  # fmt: skip
            for whole, block in zip((prediction, rest, joint), sums, strict=True):
                whole[..., part] += block[..., :m]

        self._sums.each(work, parts(len(rows), BLOCK))

    def singles(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (n_raw, F, K) averages when one feature is moved, less the mean, and the (n_raw,) mean itself."""
        self.part = np.cumsum(self.part, axis=-1)
        single = np.cumsum(self.single, axis=-1) - self.single_constant[..., None]
        if self._lines is not None:
            for f, size in enumerate(self._view.sizes):
                single[:, f, :size] += self._departure(self._view.additive.at_points(f), f)
        return single, self.mean

    def rest(self, rows: np.ndarray) -> np.ndarray:
        """Return (n_raw, F, n) what moving a feature's lines from each row to their average adds."""
        additive, features = self._view.additive, range(len(self._view.sizes))
        if self._lines is None:
            return np.zeros((len(self.mean), len(features), len(rows)))
        own = [-self._departure(additive.at_rows(rows, additive.number == f), f) for f in features]
        return np.stack(own, axis=1) if own else np.zeros((len(self.mean), 0, len(rows)))

    def _departure(self, values: np.ndarray, f: int) -> np.ndarray:
        """Return what a feature's lines add, less their average."""
        assert self._lines is not None
        return values - self._lines[:, self._view.additive.number == f].sum(axis=1)[:, None]

    def surfaces(self, single: np.ndarray, mean: np.ndarray) -> Iterator[np.ndarray]:
        """Yield (n_raw, K1, K2) averages when both features of a pair are moved, as ``singles`` was asked before."""
        for number, (j, k) in enumerate(self._pairs):
            both = np.cumsum(np.cumsum(self.surface[:, number], axis=1), axis=2)
            both += (single[:, j] - self.part[:, number, 0])[:, :, None]
            both += (single[:, k] - self.part[:, number, 1])[:, None, :]
            yield both + (mean + self.pair_constant[:, number])[:, None, None]


def at_rows(sorted_values: np.ndarray, back: np.ndarray) -> np.ndarray:
    """(n_raw, F, n) in the rows' order of values in the order of each feature."""
    return np.take_along_axis(sorted_values, np.broadcast_to(back, sorted_values.shape), axis=2)


def masses(
    sums: TreeSums, view: View, rows: np.ndarray, weights: np.ndarray | None, *, with_pairs: bool
) -> Iterator[tuple[tuple[int, int], np.ndarray, np.ndarray]]:
    """Yield, for some trees at a time, the shares of rows that ``kernels.weigh_leaves`` describes.

    Yields
    ------
    trees : (first, last)
    start : (L + 1,) int64
        Where each of their leaves' masses start.
    mass : float64
    """
    layout = view.layout
    m = np.diff(layout.members.start)
    starts = np.concatenate([[0], np.cumsum(1 + 2 * m + (m * (m - 1) // 2 if with_pairs else 0))])
    total = float(len(rows)) if weights is None else float(weights.sum())
    assert total > 0, "an average needs rows that count"
    first = 0
    while first < sums.ensemble.n_trees:
        low = starts[layout.leaf_tree[first]]
        fits = np.searchsorted(starts[layout.leaf_tree], low + _MOST_MASSES, side="right") - 1
        trees = (first, max(first + 1, min(int(fits), sums.ensemble.n_trees)))
        start_of = starts[layout.leaf_tree[first] : layout.leaf_tree[trees[1]] + 1] - low
        mass = np.zeros(start_of[-1])
        passes = np.empty((layout.most_nodes, WORDS), np.uint64)
        behind = np.empty((layout.members.most + 1, WORDS), np.uint64)
        for part in parts(len(rows), BLOCK):
            table, everything = view.block(rows[part])
            block_weights = np.zeros(0 if weights is None else BLOCK)
            if weights is not None:
                block_weights[: len(rows[part])] = weights[part]
            kernels.weigh_leaves(
                trees, *view.features, layout.leaf_tree, layout.members.start, layout.members.node, table, everything,
                block_weights, with_pairs, passes, behind, start_of, mass,
            )  # fmt: skip
        yield trees, start_of, mass / total
        first = trees[1]
