"""Layout: an ensemble arranged for the kernels, and the values of rows and grid points as they see them.

Between two neighbouring thresholds of the whole ensemble a value makes no difference, and of those cells only the ones that some
row or grid point lies in matter. So values become small integers, *levels*, and every split is one of few distinct conditions on
a level. What the conditions mean for rows and features is the kernels' business.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from . import kernels

if TYPE_CHECKING:
    from .ensemble import TreeEnsemble

__all__ = ["Arrangement", "Conditions", "Layout"]


class Layout:
    """The trees of an ensemble in preorder, each node knowing the feature of the condition that leads to it.

    Parameters
    ----------
    ensemble : TreeEnsemble
    slot_of_column : (n_columns,) int array
        The feature that moves each column of the model.
    n_slots : int
        Features there are.
    """

    def __init__(self, ensemble: TreeEnsemble, slot_of_column: np.ndarray, n_slots: int) -> None:
        self.ensemble = ensemble
        node, self.start, self.parent, self.side = kernels.preorder(ensemble.roots, ensemble.left, ensemble.right)
        above = node[self.parent + np.repeat(self.start[:-1], np.diff(self.start))]
        is_leaf = ensemble.left[node] < 0
        self.split = above
        """(N,) the original number of the node whose condition leads here."""
        column = ensemble.column[above]
        root = np.zeros(len(node), dtype=bool)
        root[self.start[:-1]] = True
        self.slot = np.where(root | (column < 0), -1, slot_of_column[np.maximum(column, 0)]).astype(np.int32)
        self.end = kernels.ends(self.start, self.parent)
        self.leaf_number = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)
        self.leaf_tree = np.append(0, np.cumsum(is_leaf))[self.start]
        """(T + 1,) where each tree's leaves start."""
        self.value = np.ascontiguousarray(ensemble.value[node[is_leaf]])
        self.most_nodes = int(np.diff(self.start).max())
        self._n_slots = n_slots

    @cached_property
    def members(self) -> Members:
        """Return the features on each path; curves do without."""
        return Members(
            *kernels.members(self.start, self.parent, self.slot, self.leaf_number, len(self.value), self._n_slots)
        )


@dataclass(frozen=True)
class Members:
    """The features on each path, see ``kernels.members``."""

    previous: np.ndarray
    node: np.ndarray
    start: np.ndarray

    @cached_property
    def most(self) -> int:
        """Return the largest number of features on a path."""
        return int(np.diff(self.start).max())


@dataclass(frozen=True)
class _Column:
    """What splits ask of one column."""

    column: int
    breaks: np.ndarray
    """Distinct thresholds, or the categories that any set holds; a value's *bin* is its place among them."""
    categorical: bool
    nodes: np.ndarray
    """The ensemble's nodes that split on it."""
    condition: np.ndarray
    """Per such node its threshold's place in ``breaks``, or its set's in ``sets``."""
    sets: tuple[np.ndarray, ...]
    """Bins in each set."""

    @property
    def n_bins(self) -> int:
        return len(self.breaks) + 1

    def bins(self, values: np.ndarray) -> np.ndarray:
        """Return the bin of each value, -1 where missing."""
        at = np.searchsorted(self.breaks, values, side="left")
        if self.categorical:
            known = at < len(self.breaks)
            known[known] = self.breaks[at[known]] == values[known]
            at[~known] = len(self.breaks)
        at[np.isnan(values)] = -1
        return at.astype(np.int32)


class Conditions:
    """The distinct conditions of an ensemble, and the bins that points fall in."""

    def __init__(self, layout: Layout) -> None:
        ensemble = layout.ensemble
        inner = np.flatnonzero(ensemble.left >= 0)
        by_column = inner[np.argsort(ensemble.column[inner], kind="stable")]
        used, at = np.unique(ensemble.column[by_column], return_index=True)
        self.columns = [
            _column(ensemble, int(c), nodes) for c, nodes in zip(used, np.split(by_column, at)[1:], strict=True)
        ]
        self.layout = layout

    @property
    def used(self) -> np.ndarray:
        """(C,) the model's columns that any split looks at."""
        return np.array([column.column for column in self.columns], dtype=int)

    @property
    def most_bins(self) -> int:
        """Return the largest number of bins of any column."""
        return max((column.n_bins for column in self.columns), default=1)

    def bins(self, values: np.ndarray) -> np.ndarray:
        """Return (C, m) int32 bins of (m, n_columns) values, -1 where missing."""
        if not self.columns:
            return np.empty((0, len(values)), dtype=np.int32)
        return np.stack([column.bins(values[:, column.column]) for column in self.columns])


class Arrangement:
    """Conditions as masks over the points at hand: bins without a point are left out. Never changed once made.

    Parameters
    ----------
    conditions : Conditions
    seen : list of (n_bins + 1,) bool arrays
        Per column the bins that points lie in; the last entry stands for missing.
    """

    def __init__(self, conditions: Conditions, seen: list[np.ndarray]) -> None:
        ensemble = conditions.layout.ensemble
        n = len(conditions.columns)
        base, missing_base = np.zeros(n, np.int64), np.zeros(n, np.int64)
        n_levels, set_start = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
        in_sets: list[np.ndarray] = []
        entry = np.zeros(len(ensemble.left), dtype=np.int64)
        self.seen = seen
        self._rank: list[np.ndarray] = []
        size = 0
        for c, (column, here) in enumerate(zip(conditions.columns, seen, strict=True)):
            present = here[:-1]
            upto = np.cumsum(present)
            self._rank.append(np.append(upto - 1, -1).astype(np.int32))
            n_levels[c] = upto[-1]
            set_start[c + 1] = set_start[c] + len(column.sets)
            in_sets.extend((upto[bins] - 1)[present[bins]].astype(np.int32) for bins in column.sets)
            base[c] = missing_base[c] = size
            if column.categorical:
                entry[column.nodes] = size + n_levels[c] + 1 + column.condition
            else:
                entry[column.nodes] = size + upto[column.condition]
            rows = int(n_levels[c]) + 1 + len(column.sets)
            size += rows
            left = ensemble.missing_left[column.nodes]
            if here[-1] and left.any():
                missing_base[c] = size
                entry[column.nodes[left]] += rows
                size += rows
        self.size = size
        """Distinct conditions, the rows of a table of masks."""
        lengths = np.cumsum([0, *map(len, in_sets)]).astype(np.int64)
        flat = np.concatenate([np.empty(0, np.int32), *in_sets]).astype(np.int32)
        self._arrays = (base, missing_base, n_levels, set_start, lengths, flat)
        self.entry = entry[conditions.layout.split].astype(np.int32)
        """(N,) per node of the layout, the table's row of the condition that leads there."""

    @classmethod
    def of(cls, conditions: Conditions, bins: np.ndarray) -> Arrangement:
        """Return the arrangement for points in these bins."""
        nothing = [np.zeros(column.n_bins + 1, dtype=bool) for column in conditions.columns]
        return cls(conditions, [mark(here, at) for here, at in zip(nothing, bins, strict=True)])

    def seeing(self, conditions: Conditions, bins: np.ndarray) -> Arrangement:
        """Return the arrangement for these points, too: itself when they bring nothing new."""
        if all(here[at].all() for here, at in zip(self.seen, bins, strict=True)):
            return self
        return Arrangement(conditions, [mark(here.copy(), at) for here, at in zip(self.seen, bins, strict=True)])

    def levels(self, bins: np.ndarray) -> np.ndarray:
        """Return (C, m) int32 levels of points in these bins, which must have been seen; -1 where missing."""
        out = np.empty(bins.shape, dtype=np.int32)
        for rank, at, levels in zip(self._rank, bins, out, strict=True):
            levels[:] = rank[at]
        return out

    def table(self, levels: np.ndarray, words: int) -> np.ndarray:
        """Return (E, words) uint64: per condition, the mask of the points that go left."""
        table = np.empty((max(self.size, 1), words), dtype=np.uint64)
        kernels.fill_table(levels, *self._arrays, table)
        return table


def mark(here: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Note in ``here`` that points lie in bins ``at``, -1 being the last entry."""
    here[at] = True
    return here


def _column(ensemble: TreeEnsemble, c: int, nodes: np.ndarray) -> _Column:
    sets = ensemble.category_set[nodes]
    if (sets < 0).all():
        breaks, condition = np.unique(ensemble.threshold[nodes], return_inverse=True)
        return _Column(c, breaks, False, nodes, condition.ravel(), ())
    assert (sets >= 0).all(), "a column is split by thresholds or by categories, not by both"
    which, condition = np.unique(sets, return_inverse=True)
    chosen = [ensemble.category_sets[k] for k in which]
    breaks = np.unique(np.concatenate(chosen)).astype(float)
    members = tuple(np.searchsorted(breaks, codes.astype(float)) for codes in chosen)
    return _Column(c, breaks, True, nodes, condition.ravel(), members)
