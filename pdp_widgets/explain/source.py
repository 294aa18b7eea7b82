"""Source: the model, its background rows and what is already known of them.

Everything an explanation needs in order to ask the model lives here once, shared by all features:
the pace of the model, the executor, the order in which rows are taken, and the predictions at the
rows' own values, so that none is asked for twice.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Literal

import numpy as np

from pdp_widgets.compute import Evaluator, Pace
from pdp_widgets.inputs import FeatureTable, PredictionError, Response

from .method import Method

if TYPE_CHECKING:
    from pdp_widgets.compute.chunks import Pending

    from .method import Wish


class Source:
    """The model as seen from the background rows.

    Parameters
    ----------
    table : FeatureTable
    response : Response
    weights : (n,) array or None
        Row weights, any positive scale.
    executor : concurrent.futures.Executor or None
    nan_predictions : {"raise", "omit"}
        What to do when the model predicts NaN or infinity for a row.
    seed : int
        Seed of the order in which rows are taken.
    method : {"auto", "trees", "model"}
        See ``Method``.
    """

    def __init__(
        self,
        table: FeatureTable,
        response: Response,
        weights: np.ndarray | None,
        executor: Executor | None,
        nan_predictions: Literal["raise", "omit"],
        seed: int,
        method: Wish = "auto",
    ) -> None:
        self.table = table
        self.response = response
        self.weights = weights
        self.nan_predictions = nan_predictions
        self.evaluator = Evaluator(response, executor)
        self.pace = Pace(table.bytes_per_row)
        self.all_rows = np.arange(table.n_rows)
        self.order = np.random.default_rng(seed).permutation(table.n_rows).astype(np.int32)
        # One model call at a time: not every model may be called from two threads.
        self.lock = threading.RLock()
        # A look at a few rows tells the outputs, and whether the model works on X at all.
        few = np.arange(min(table.n_rows, 4))
        first = response(table.build(few), len(few))
        self.pace.rows_asked += len(few)
        self.predictions = np.full((len(first), table.n_rows), np.nan)
        """(n_outputs, n) the response at the rows' own values, NaN where not known yet."""
        self.known = np.zeros(table.n_rows, dtype=bool)
        """(n,) rows whose own prediction is known."""
        self.note(few, first)
        self.method = Method(self, method)

    @property
    def n_outputs(self) -> int:
        """Return the number of outputs of the model."""
        return len(self.predictions)

    def note(self, rows: np.ndarray, values: np.ndarray) -> None:
        """Remember predictions at the rows' own values."""
        self.predictions[:, rows] = values
        self.known[rows] = True

    def learn(self, rows: np.ndarray, seconds: float) -> None:
        """Ask the model for the rows' own predictions where they are not known yet, for about so many seconds.

        Raises
        ------
        PredictionError
            When the model fails, or predicts NaN and that is not to be omitted.
        """
        unknown = rows[~self.known[rows]]
        until = time.monotonic() + seconds
        while len(unknown) and time.monotonic() < until:
            part, unknown = np.split(unknown, [min(self.pace.rows(), len(unknown))])
            self.take_in(part, *self.evaluator.run(self.table.build(part), len(part)))

    def take_in(self, rows: np.ndarray, values: np.ndarray, seconds: float) -> None:
        """Remember the model's answer at the rows' own values."""
        self.pace.learn(len(rows), seconds)
        bad = ~np.isfinite(values).all(axis=0)
        if bad.any() and self.nan_predictions == "raise":
            self.complain(rows[bad], "at their own values")
        self.note(rows, values)

    def complain(self, rows: np.ndarray, where: str) -> None:
        """Raise for rows whose prediction is not finite, naming them."""
        rows = np.unique(rows)
        shown = ", ".join(self.table.row_label(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        raise PredictionError(
            f"the model predicted NaN or infinity for {len(rows)} of the rows asked so far {where} "
            f"(row {shown}); mend the model or its input, or pass nan_predictions='omit' to average "
            "over the other rows"
        )


class Base:
    """The predictions at the rows' own values, computed chunk by chunk."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._flight: deque[tuple[np.ndarray, Pending]] = deque()
        self._cursor = 0

    @property
    def predictions(self) -> np.ndarray:
        """(n_outputs, n) float64, NaN where not known yet."""
        return self._source.predictions

    @property
    def rows_done(self) -> int:
        """Return how many rows are known."""
        return int(np.count_nonzero(self._source.known))

    @property
    def rows_total(self) -> int:
        """Return how many rows there are."""
        return self._source.table.n_rows

    @property
    def complete(self) -> bool:
        """Return whether all rows are known."""
        return bool(self._source.known.all())

    def advance(self) -> None:
        """Compute one chunk.

        Raises
        ------
        PredictionError
            When the model fails, or predicts NaN and that is not to be omitted.
        """
        source = self._source
        with source.lock:
            evaluator = source.evaluator
            if evaluator.executor is None:
                rows = self._next_rows()
                if len(rows):
                    block = source.table.build(rows)
                    source.take_in(rows, *evaluator.run(block, len(rows)))
                return
            while len(self._flight) < evaluator.window:
                rows = self._next_rows()
                if not len(rows):
                    break
                block = source.table.build(rows)
                self._flight.append((rows, evaluator.submit(block, len(rows))))
            if self._flight:
                rows, pending = self._flight.popleft()
                source.take_in(rows, *pending.result())

    def _next_rows(self) -> np.ndarray:
        """Return the next rows in the source's order that are not known, moving the cursor."""
        source = self._source
        if self._cursor >= len(source.order) and not self._flight:
            self._cursor = 0  # an interrupted or failed chunk left holes: walk again
        rest = source.order[self._cursor :]
        unknown = np.flatnonzero(~source.known[rest])[: source.pace.rows()]
        self._cursor = self._cursor + int(unknown[-1]) + 1 if len(unknown) else len(source.order)
        return rest[unknown]


def run(advancing: Base) -> Iterator[int]:
    """Advance to the end, yielding the rows done after each chunk."""
    while not advancing.complete:
        advancing.advance()
        yield advancing.rows_done
