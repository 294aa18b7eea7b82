"""Points: the rows of a table and the points of grids, as the compiled loops see them.

It turns values into levels and masks, knows which feature moves which of the model's columns, and refuses grids whose points move
columns of other features. What is summed over the masks is the business of others.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import ColumnEncoder, owners
from .ensemble import TreeEnsemble, UnreadableError
from .kernels import BLOCK, WORDS
from .layout import Arrangement, Conditions, Layout
from .lines import Additive

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, FeatureTable, Grid

_ENCODED = 4 * 2**20  # numbers encoded at once: a float64 copy of the model's columns
_MOST_BYTES = 2**29  # of what is kept of the rows
_KEPT_LEVELS = 8 * 2**20  # entries of the rows' levels that are kept rather than looked up block by block
_KEPT_GRIDS = 1000
_PROBES = 256  # rows that tell which columns a feature moves


class Points:
    """The rows of a table, ready for the compiled loops.

    Parameters
    ----------
    table : FeatureTable
    ensemble : TreeEnsemble
    encode : ColumnEncoder
        From rows of X to the values that the trees compare.

    Raises
    ------
    UnreadableError
        When two columns of X move the same column of the model.
    """

    def __init__(self, table: FeatureTable, ensemble: TreeEnsemble, encode: ColumnEncoder) -> None:
        self.table = table
        self._encode = encode
        probes = np.unique(np.linspace(0, table.n_rows - 1, min(table.n_rows, _PROBES)).astype(int))
        owner = owners(table, encode, probes)
        # What belongs to a feature moves together; every other column of X stands for itself.
        self._slots = {j: k for k, feature in enumerate(table.features.values()) for j in feature.columns}
        self.n_slots = len(table.features)
        for j in np.unique(owner[owner >= 0]).tolist():
            if j not in self._slots:
                self._slots[j] = self.n_slots
                self.n_slots += 1
        # The last slot is for columns that nothing moves.
        self._slot_of = np.array([self._slots[j] if j >= 0 else self.n_slots for j in owner.tolist()], dtype=np.int32)
        self.n_slots += 1
        self.layout = Layout(ensemble, self._slot_of, self.n_slots)
        self._conditions = Conditions(self.layout)
        self._bins, self._heights = self._of_rows()
        self._arrangement = Arrangement.of(self._conditions, self._bins)
        self._levels: tuple[Arrangement, np.ndarray] | None = None
        self._grids: OrderedDict[tuple[Any, ...], tuple[np.ndarray, np.ndarray]] = OrderedDict()
        self._still = encode(table.build(np.zeros(1, dtype=int)))
        self._lock = threading.Lock()

    def slot(self, feature: Feature) -> int:
        """Return the number of a feature, -1 when no column of the model moves with it.

        Raises
        ------
        UnreadableError
            When it shares columns with another feature.
        """
        slots = {self._slots[j] for j in feature.columns if j in self._slots}
        if len(slots) > 1 or (slots and {j for j, k in self._slots.items() if k in slots} - set(feature.columns)):
            raise UnreadableError(f"{feature.name!r} overlaps with other features")
        return slots.pop() if slots else -1

    def view(self, grids: Sequence[Grid] = ()) -> View:
        """Return the rows together with these grids' points, which must be of different features.

        Raises
        ------
        UnreadableError
            When the points of a grid cannot be encoded, or move columns of other features.
        """
        names = [grid.feature.name for grid in grids]
        assert len(set(names)) == len(names), f"one grid per feature, not {names}"
        found = [self._of_grid(grid) for grid in grids]
        bins = [points for points, _ in found]
        with self._lock:
            for points in bins:
                self._arrangement = self._arrangement.seeing(self._conditions, points)
            arrangement = self._arrangement
            if self._levels is None or self._levels[0] is not arrangement:
                few = self._bins.size <= _KEPT_LEVELS
                self._levels = (arrangement, arrangement.levels(self._bins) if few else np.empty((0, 0), np.int32))
            levels, slot_of, layout = self._levels[1], self._slot_of, self.layout
        wanted = np.full(self.n_slots, -1, dtype=np.int32)
        sizes = np.array([grid.size for grid in grids], dtype=np.int64)
        most = int(sizes.max(initial=1))
        at = np.full((len(self._bins), most), -1, dtype=np.int32)  # a column may have no level but "missing"
        where = slot_of[self._conditions.used]
        for f, (grid, points) in enumerate(zip(grids, bins, strict=True)):
            slot = self.slot(grid.feature)
            if slot >= 0:
                wanted[slot] = f
            mine = where == slot
            at[mine, : grid.size] = arrangement.levels(points)[mine]
        table = arrangement.table(at, (most + 63) // 64)
        additive = self._additive(slot_of, wanted, tuple(heights for _, heights in found))
        return View(layout, arrangement, self._bins, levels, wanted, sizes, table, additive)

    def steps(self, feature: Feature) -> np.ndarray:
        """Return rows that show every step of a number or date: between their values no tree sees a difference.

        Returns
        -------
        (B,) int array
            Row positions by ascending value: the first row of each step, and the row of the largest value.

        Raises
        ------
        UnreadableError
            When a line rises between the steps.
        """
        if (self._slot_of[self.layout.ensemble.lines.column] == self.slot(feature)).any():
            raise UnreadableError("it also has a linear term, which has no steps")
        codes = self.table.observed(feature).codes
        _, rows = np.unique(codes, return_index=True)  # NaN comes last
        rows = rows[np.isfinite(codes[rows])]
        mine = self._slot_of[self._conditions.used] == self.slot(feature)
        levels = self._bins[mine][:, rows]
        steps = np.ones(len(rows), dtype=bool)
        steps[1:-1] = (levels[:, 1:] != levels[:, :-1]).any(axis=0)[:-1]
        return rows[steps]

    def rows_as_grids(self, features: Sequence[Feature], rows: np.ndarray) -> tuple[View, np.ndarray]:
        """Return all rows together with, per feature, its values at ``rows`` as a grid, sorted.

        Returns
        -------
        view : View
        order : (F, n) int array
            Which of ``rows`` each grid point comes from.
        """
        view = self.view()
        assert len({feature.name for feature in features}) == len(features), "a feature is named twice"
        wanted = np.full(self.n_slots, -1, dtype=np.int32)
        order = np.tile(np.arange(len(rows)), (len(features), 1))
        levels = view.arrangement.levels(self._bins[:, rows])
        where = self._slot_of[self._conditions.used]
        for f, feature in enumerate(features):
            slot = self.slot(feature)
            if slot < 0:
                continue
            wanted[slot] = f
            if not (where == slot).any():
                continue
            order[f] = np.lexsort(levels[where == slot])
            levels[where == slot] = levels[where == slot][:, order[f]]
        table = view.arrangement.table(levels, (len(rows) + 63) // 64)
        heights = tuple(self._heights[:, rows[at]] for at in order)
        additive = self._additive(self._slot_of, wanted, heights)
        sizes = np.full(len(features), len(rows))
        return replace(view, wanted=wanted, sizes=sizes, grid_table=table, additive=additive), order

    # ---- helpers -------------------------------------------------------------------------

    def _additive(self, slot_of: np.ndarray, wanted: np.ndarray, points: tuple[np.ndarray, ...]) -> Additive:
        lines = self.layout.ensemble.lines
        slot = slot_of[lines.column]
        return Additive(lines.coefficient, slot, self._heights, wanted[slot], points)

    def _of_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """(C, n) bins of all rows, in the smallest type that holds them, and (L, n) heights of the lines."""
        n, wide = self.table.n_rows, len(self._slot_of)
        dtype = np.dtype(np.int16 if self._conditions.most_bins <= np.iinfo(np.int16).max else np.int32)
        columns, lines = len(self._conditions.columns), self.layout.ensemble.lines
        if columns * n * dtype.itemsize + len(lines) * n * 8 > _MOST_BYTES:
            raise UnreadableError(
                f"{n:,} rows of {columns:,} columns take more memory than is used here; background=... samples rows"
            )
        bins, heights = np.empty((columns, n), dtype=dtype), np.empty((len(lines), n))
        step = max(1, _ENCODED // max(wide, 1))
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            values = self._encode(self.table.build(rows))
            bins[:, rows], heights[:, rows] = self._conditions.bins(values), lines.heights(values)
        return bins, heights

    def _of_grid(self, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
        """(C, K) bins and (L, K) heights of a row moved over the grid; its other columns must not move along."""
        key = grid.key()
        with self._lock:
            if key in self._grids:
                self._grids.move_to_end(key)
                return self._grids[key]
        slot = self.slot(grid.feature)
        block = self.table.build(np.zeros(grid.size, dtype=int), grid.take(np.arange(grid.size)))
        try:
            values = self._encode(block)
        except UnreadableError:
            raise
        except Exception as error:
            raise UnreadableError(
                f"the grid of {grid.feature.name!r} cannot be encoded ({type(error).__name__}: {error})"
            ) from error
        moved = ~((values == self._still) | (np.isnan(values) & np.isnan(self._still))).all(axis=0)
        taken = moved & (self._slot_of != slot)
        if taken.any():
            self._claim(taken, slot, grid)
        found = self._conditions.bins(values), self.layout.ensemble.lines.heights(values)
        with self._lock:
            self._grids[key] = found
            while len(self._grids) > _KEPT_GRIDS:
                self._grids.popitem(last=False)
        return found

    def _claim(self, columns: np.ndarray, slot: int, grid: Grid) -> None:
        """Let a feature own columns that nothing moved so far: only these points show that they are its own."""
        if slot < 0 or (self._slot_of[columns] != self.n_slots - 1).any():
            raise UnreadableError(f"a point of the grid of {grid.feature.name!r} moves a column of another feature")
        with self._lock:
            self._slot_of = np.where(columns, slot, self._slot_of).astype(np.int32)
            self.layout = Layout(self.layout.ensemble, self._slot_of, self.n_slots)


@dataclass(frozen=True)
class View:
    """Rows and some grids' points under one arrangement of conditions."""

    layout: Layout
    arrangement: Arrangement
    bins: np.ndarray
    """(C, n)"""
    levels: np.ndarray
    """(C, n), or empty when they are looked up block by block."""
    wanted: np.ndarray
    """(n_slots,) int32: number of each grid's feature, -1 for the other features."""
    sizes: np.ndarray
    """(F,) int64 grid points."""
    grid_table: np.ndarray
    """(E, words) masks of the grid points that go left."""
    additive: Additive
    """What lines add to the sums over leaves."""

    @property
    def features(self) -> tuple[np.ndarray, ...]:
        """Return the same for loops that keep one mask per feature."""
        return (self.layout.start, self.layout.members.previous, *self.trees[2:])

    @property
    def trees(self) -> tuple[np.ndarray, ...]:
        """Return what every loop over trees takes first."""
        layout = self.layout
        return (layout.start, layout.parent, self.arrangement.entry, layout.side)

    def block(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the masks of at most ``BLOCK`` rows, and the mask of them all."""
        levels = np.take(self.levels, rows, axis=1) if self.levels.size else self.arrangement.levels(self.bins[:, rows])
        return self.arrangement.table(levels, WORDS), everything(len(rows))


def everything(m: int) -> np.ndarray:
    """Return the mask of the first ``m`` rows of a block."""
    bits = np.zeros(BLOCK, dtype=bool)
    bits[:m] = True
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
