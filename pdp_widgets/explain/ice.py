"""Ice: the ICE curves of one feature, or a pair, growing chunk by chunk.

Rows are taken in a random order, so what is there at any time is an unbiased estimate for all rows.
Sums over the rows seen (``Moments``) are always kept; the curves themselves are kept when they fit
the memory cap, and then a subgroup costs no model call.
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pdp_widgets.compute import Moments, Pace
from pdp_widgets.compute.chunks import TARGET_SECONDS
from pdp_widgets.inputs import Grid, InputError, NotCachedError
from pdp_widgets.trees.ensemble import UnreadableError

from .explanation import EXACT, MODEL
from .results import PartialDependence

if TYPE_CHECKING:
    from pdp_widgets.compute.chunks import Pending
    from pdp_widgets.trees.sums import TreeSums

    from .source import Source

_LEAST_SUMMED = 512  # rows: what the compiled loops take at once anyway


@dataclass
class _Batch:
    """Some rows times all grid cells, evaluated in one or more model calls."""

    rows: np.ndarray
    values: np.ndarray
    """(n_outputs, m, K) NaN where not evaluated yet."""
    left: int
    """Model calls outstanding."""


@dataclass
class _Job:
    """One model call: cells of a batch."""

    batch: _Batch
    row: np.ndarray
    """Index into the batch's rows, per cell."""
    cell: np.ndarray
    """Grid cell, per cell."""


class Ice:
    """ICE curves of one feature (or the ICE surfaces of a pair) at growing precision.

    Parameters
    ----------
    source : Source
    grids : tuple of Grid
        One grid, or two for a pair.
    rows : (n,) bool array, optional
        Compute these rows only.
    store : bool
        Keep every curve.
    keep : int array, optional
        Row positions whose curves are kept even when ``store`` is false.
    """

    def __init__(
        self,
        source: Source,
        grids: tuple[Grid, ...],
        *,
        rows: np.ndarray | None = None,
        store: bool = True,
        keep: np.ndarray | None = None,
    ) -> None:
        self._source = source
        self.grids = grids
        self.shape = tuple(grid.size for grid in grids)
        self._cells = int(np.prod(self.shape))
        order = source.order if rows is None else source.order[rows[source.order]]
        self._order = order
        self._only = rows
        n, n_outputs = source.table.n_rows, source.n_outputs
        self._values = np.full((n_outputs, n, self._cells), np.nan) if store else None
        self._kept_at: np.ndarray | None = None
        self._kept: np.ndarray | None = None
        if not store and keep is not None:
            self._kept_at = np.full(n, -1, dtype=np.int32)
            self._kept_at[keep] = np.arange(len(keep))
            self._kept = np.full((n_outputs, len(keep), self._cells), np.nan)
        self._own = _own_cells(grids)
        self._moments = Moments.empty((n_outputs, self._cells))
        self._omitted = np.zeros(n, dtype=bool)
        self._any_omitted = False
        self._done = 0
        self._start = 0  # in the order of rows: where the next batch begins
        self._refused: str | None = None  # why the exact sums cannot serve this grid
        self._summed = 0  # rows that came from exact sums
        self._pace = Pace(8.0 * n_outputs * self._cells)  # of the exact sums
        self._jobs: deque[_Job] = deque()
        self._flight: deque[tuple[_Job, Pending]] = deque()

    # ---- state ---------------------------------------------------------------------------

    @property
    def grid(self) -> Grid | tuple[Grid, ...]:
        """Return the grid, or the pair of grids."""
        return self.grids[0] if len(self.grids) == 1 else self.grids

    @property
    def rows_total(self) -> int:
        """Return how many rows there are to compute."""
        return len(self._order)

    @property
    def rows_done(self) -> int:
        """Return how many rows are computed."""
        return self._done

    @property
    def complete(self) -> bool:
        """Return whether all rows are in."""
        return self._done >= len(self._order)

    @property
    def values(self) -> np.ndarray | None:
        """(n_outputs, n, K) curves in X's row order, NaN where not done; None if not stored."""
        return self._values

    @property
    def nbytes(self) -> int:
        """Return the memory it takes: curves, kept curves, and what it notes per row."""
        curves = self._values if self._values is not None else self._kept
        own_order = 0 if self._only is None else self._order.nbytes + self._only.nbytes
        return (0 if curves is None else curves.nbytes) + self._own.nbytes + self._omitted.nbytes + own_order

    def curves(self, rows: np.ndarray) -> np.ndarray:
        """Return the curves of these row positions: (n_outputs, m, K), NaN where not done.

        Raises
        ------
        NotCachedError
            When the curves of these rows were not kept.
        """
        if self._values is not None:
            return self._values[:, rows]
        if self._kept_at is None or self._kept is None or (self._kept_at[rows] < 0).any():
            raise NotCachedError(
                "the ICE curves of these rows were not kept, because all of them would exceed the "
                "memory cap (cache_bytes)"
            )
        return self._kept[:, self._kept_at[rows]]

    # ---- computing -----------------------------------------------------------------------

    def advance(self, seconds: float = TARGET_SECONDS) -> None:
        """Compute one chunk.

        Parameters
        ----------
        seconds : float
            About how long the model shall take.

        Raises
        ------
        PredictionError
            When the model fails; what was computed before stays.
        """
        source = self._source
        with source.lock:
            if self.complete:
                return
            try:
                self._advance(seconds)
            except BaseException:
                # Also Ctrl-C: forget the unfinished batches and start again after the last whole one.
                self._restart()
                raise

    def _advance(self, seconds: float) -> None:
        # What the model was asked already is finished first.
        if self._refused is None and not self._jobs and not self._flight:
            sums = self._source.method.sums()
            if sums is not None and self._sum(sums, seconds):
                return
        evaluator = self._source.evaluator
        if evaluator.executor is None:
            job = self._next_job(seconds)
            if job is not None:
                # No cells are left when the model's answer was known for all of them.
                known = not len(job.row)
                self._ingest(job, *(_NOTHING.result() if known else evaluator.run(self._block(job), len(job.row))))
            return
        while len(self._flight) < evaluator.window:
            job = self._next_job(seconds)
            if job is None:
                break
            if not len(job.row):
                self._flight.append((job, _NOTHING))
                continue
            self._flight.append((job, evaluator.submit(self._block(job), len(job.row))))
        if self._flight:
            job, pending = self._flight.popleft()
            self._ingest(job, *pending.result())

    def _sum(self, sums: TreeSums, seconds: float) -> bool:
        """Take one chunk of rows from the exact sums; whether they can serve this grid."""
        room = max(self._pace.rows(seconds), min(_LEAST_SUMMED, self._pace.most))
        rows = self._order[self._start : self._start + room]
        began = time.perf_counter()
        try:
            curves = sums.ice(rows, self.grids)
        except UnreadableError as error:
            if self._source.method.wish == "trees":
                raise InputError(f"method='trees' cannot serve here: {error}") from error
            self._refused = str(error)
            return False
        self._pace.learn(len(rows), time.perf_counter() - began)
        self._start += len(rows)
        self._finish(rows, curves.reshape(len(curves), len(rows), self._cells))
        self._summed += len(rows)
        return True

    def _restart(self) -> None:
        for _, pending in self._flight:
            pending.cancel()
        self._flight.clear()
        self._jobs.clear()
        self._start = self._done

    def _next_job(self, seconds: float) -> _Job | None:
        """Return the next model call to make, sized anew each time by the pace of the model."""
        source = self._source
        if not self._jobs and self._start < len(self._order):
            room = source.pace.rows(seconds)
            left = len(self._order) - self._start
            # Equal chunks, and no small remainder: each call has a fixed cost.
            chunks = max(1, math.ceil(left * self._cells / room - 0.25))
            rows = self._order[
                self._start : self._start + max(1, min(-(-left // chunks), room * 5 // 4 // self._cells))
            ]
            self._start += len(rows)
            wanted = np.ones((len(rows), self._cells), dtype=bool)
            own = self._own[rows]
            skip = np.flatnonzero((own >= 0) & source.known[rows])
            wanted[skip, own[skip]] = False
            values = np.full((source.n_outputs, len(rows), self._cells), np.nan)
            values[:, skip, own[skip]] = source.predictions[:, rows[skip]]
            row, cell = np.nonzero(wanted)
            # A single row of a pair may be more than one chunk's worth of cells.
            parts = max(1, -(-len(row) // room) if len(rows) == 1 else 1)
            batch = _Batch(rows, values, parts)
            for part in np.array_split(np.arange(len(row)), parts):
                self._jobs.append(_Job(batch, row[part], cell[part]))
        return self._jobs.popleft() if self._jobs else None

    def _block(self, job: _Job) -> object:
        """Build the rows the model is asked about."""
        replaced = {}
        for grid, index in zip(self.grids, np.unravel_index(job.cell, self.shape), strict=True):
            replaced.update(grid.take(index))
        return self._source.table.build(job.batch.rows[job.row], replaced)

    def _ingest(self, job: _Job, values: np.ndarray, seconds: float) -> None:
        batch = job.batch
        self._source.pace.learn(len(job.row), seconds)
        batch.values[:, job.row, job.cell] = values
        batch.left -= 1
        if not batch.left:
            self._finish(batch.rows, batch.values)

    def _finish(self, rows: np.ndarray, values: np.ndarray) -> None:
        """Take in whole curves, (n_outputs, m, K)."""
        source = self._source
        own = self._own[rows]
        learned = np.flatnonzero((own >= 0) & ~source.known[rows])
        if len(learned):
            source.note(rows[learned], values[:, learned, own[learned]])
        bad = ~np.isfinite(values).all(axis=(0, 2))
        good = slice(None)
        if bad.any():
            if source.nan_predictions == "raise":
                names = " x ".join(grid.feature.name for grid in self.grids)
                source.complain(rows[bad], f"while {names!r} is varied")
            self._omitted[rows[bad]] = True
            self._any_omitted = True
            good = ~bad
        weights = None if source.weights is None else source.weights[rows][good]
        self._moments = self._moments.merge(Moments.of(values[:, good], weights))
        if self._values is not None:
            self._values[:, rows] = values
        elif self._kept_at is not None and self._kept is not None:
            at = self._kept_at[rows]
            self._kept[:, at[at >= 0]] = values[:, at >= 0]
        self._done += len(rows)

    # ---- reading -------------------------------------------------------------------------

    def result(self, subgroup: np.ndarray | None = None, *, text: str | None = None) -> PartialDependence:
        """Return the partial dependence from the rows so far; no model call.

        Parameters
        ----------
        subgroup : (n,) bool array, optional
            Average over these rows only.
        text : str, optional
            The subgroup in words.

        Raises
        ------
        NotCachedError
            When a subgroup is asked for and the curves are not stored.
        """
        source = self._source
        # Rows before `done` are never written again, so a result stays true while work goes on.
        done = self._done
        seen = self._order[:done]
        total = len(self._order)
        omitted = self._omitted
        if subgroup is not None:
            if self._values is None:
                raise NotCachedError(
                    "the ICE curves were not kept, because they would exceed the memory cap "
                    "(cache_bytes); a subgroup needs model calls"
                )
            total = int(np.count_nonzero(subgroup[self._order]))
            seen = seen[subgroup[seen]]
        if self._any_omitted:
            seen = seen[~omitted[seen]]
        # All rows are the same array for everyone: at a million rows a copy per result adds up.
        seen = source.all_rows if len(seen) == source.table.n_rows else np.sort(seen)
        if subgroup is None:
            moments = self._moments
        else:
            weights = None if source.weights is None else source.weights[seen]
            moments = Moments.of(self._values[:, seen], weights)  # type: ignore[index]
        n_omitted = int(np.count_nonzero(omitted if subgroup is None else omitted & subgroup))
        shape = (source.n_outputs, *self.shape)
        empty = moments.count == 0 or moments.weight == 0
        return PartialDependence(
            grids=self.grids,
            average=np.full(shape, np.nan) if empty else moments.mean.reshape(shape).copy(),
            stderr=np.full(shape, np.nan) if empty else moments.stderr(total - n_omitted).reshape(shape),
            variance=np.full(shape, np.nan) if empty else moments.variance.reshape(shape),
            rows=seen,
            rows_total=total,
            rows_omitted=n_omitted,
            outputs=tuple(source.response.outputs),
            labels=tuple(source.response.raw_labels),
            scale=source.response.scale,
            subgroup=text if subgroup is not None or self._only is not None else None,
            weights=source.weights,
            curves=self._values,
            method=self.method,
        )

    @property
    def method(self) -> str:
        """Return how the rows so far were obtained."""
        if self._summed == 0:
            return MODEL if self._refused is None else f"{MODEL}: {self._refused}"
        return EXACT if self._summed == self._done else f"{MODEL}, then {EXACT}"


class _Nothing:
    """Stands for a model call with no cells (all own values were known)."""

    def result(self) -> tuple[np.ndarray, float]:
        return np.empty((1, 0)), 0.0  # broadcasts over outputs

    def cancel(self) -> None:
        pass


_NOTHING: Pending = _Nothing()  # type: ignore[assignment]


def _own_cells(grids: tuple[Grid, ...]) -> np.ndarray:
    """(n,) the grid cell that equals the row's own values, -1 where there is none."""
    if len(grids) == 1:
        return grids[0].own
    first, second = grids
    both = (first.own >= 0) & (second.own >= 0)
    return np.where(both, first.own * second.size + second.own, -1).astype(np.int32)
