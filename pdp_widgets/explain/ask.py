"""Asking the model about rows with some values replaced, chunk by chunk.

Whatever an explanation wants to know that is no ICE curve goes through here: it is cut into chunks by the model's pace, runs on the
executor if there is one, stops between chunks when the asker stops asking, and complains about answers that are no numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.compute.chunks import PATIENT_SECONDS
from pdp_widgets.inputs.containers import gather

if TYPE_CHECKING:
    from pdp_widgets.compute.chunks import Pending

    from .source import Source


def ask(
    source: Source,
    rows: np.ndarray,
    replaced: Mapping[int, Any],
    *,
    where: str,
    seconds: float = PATIENT_SECONDS,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the model's answers for rows of X with some columns replaced.

    Parameters
    ----------
    source : Source
    rows : (m,) int array
        Row positions, repeats allowed.
    replaced : mapping of column position to vector
        Per replaced column its m values, in the column's own dtype (``Grid.take``, ``FeatureTable.values``).
    where : str
        Completes "the model predicted NaN or infinity for 3 of the rows asked so far ...".
    seconds : float
        About how long a chunk shall take.

    Yields
    ------
    part : slice
        Which of ``rows``; parts come in order.
    values : (n_outputs, size of the part) float64 array
        With ``nan_predictions="omit"`` they may be NaN.

    Raises
    ------
    PredictionError
        When the model fails, or predicts NaN and that is not to be omitted.
    """
    evaluator = source.evaluator
    flight: deque[tuple[slice, Pending]] = deque()
    start, m = 0, len(rows)

    def next_block() -> tuple[slice, Any]:
        part = slice(start, min(start + source.pace.rows(seconds), m))
        at = np.arange(part.start, part.stop)
        return part, source.table.build(rows[part], {j: gather(vector, at) for j, vector in replaced.items()})

    try:
        while start < m or flight:
            if evaluator.executor is None:
                with source.lock:  # held for a chunk, never while somebody else works on its answer
                    part, block = next_block()
                    values, took = evaluator.run(block, part.stop - part.start)
                start = part.stop
            else:
                while start < m and len(flight) < evaluator.window:
                    part, block = next_block()
                    flight.append((part, evaluator.submit(block, part.stop - part.start)))
                    start = part.stop
                part, pending = flight.popleft()
                values, took = pending.result()
            yield part, _checked(source, rows[part], values, took, where)
    finally:
        for _, pending in flight:
            pending.cancel()


def answers(source: Source, rows: np.ndarray, replaced: Mapping[int, Any], *, where: str) -> np.ndarray:
    """Return all of ``ask`` at once: (n_outputs, m)."""
    out = np.full((source.n_outputs, len(rows)), np.nan)
    for part, values in ask(source, rows, replaced, where=where):
        out[:, part] = values
    return out


def _checked(source: Source, rows: np.ndarray, values: np.ndarray, seconds: float, where: str) -> np.ndarray:
    source.pace.learn(values.shape[1], seconds)
    bad = ~np.isfinite(values).all(axis=0)
    if bad.any() and source.nan_predictions == "raise":
        source.complain(rows[bad], where)
    return values
