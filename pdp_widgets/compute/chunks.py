"""Chunks of model rows: how large, and who evaluates them.

``Pace`` learns the model's cost and sizes chunks to 50-100 ms within a memory cap.
``Evaluator`` runs them here, or keeps a window of them busy on any ``concurrent.futures.Executor``.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np

TARGET_SECONDS = 0.09
PATIENT_SECONDS = 0.18  # where nobody looks on: fewer calls, and Ctrl-C still takes effect within a fifth of a second
MEMORY_CAP = 32 * 2**20  # bytes of one block handed to the model
FIRST_ROWS = 160  # a slow model must show something soon; a fast one gets fourfold calls from here on
MOST_ROWS = 200_000


class Pace:
    """How many model rows to ask for at once.

    Parameters
    ----------
    bytes_per_row : float
        Memory of one row as handed to the model.
    """

    def __init__(self, bytes_per_row: float) -> None:
        self.most = int(np.clip(MEMORY_CAP / max(bytes_per_row, 1.0), 1, MOST_ROWS))
        """Most rows at once, for their memory."""
        self._seen: deque[tuple[int, float]] = deque(maxlen=6)
        self._lock = threading.Lock()
        self.rows_asked = 0
        """Model rows evaluated so far, in all."""

    def rows(self, seconds: float = TARGET_SECONDS) -> int:
        """Return how many model rows to ask for so that the call takes about ``seconds``."""
        with self._lock:
            if not self._seen:
                return min(FIRST_ROWS, self.most)
            fixed, per_row = self._cost()
            # Of the last two calls the larger one: a small remainder is no reason to begin anew.
            rows, took = max(list(self._seen)[-2:])
        # Where the fixed cost of a call alone is beyond the target, small calls only add waiting: take enough rows
        # that at least half of the time is work.
        wanted = max(seconds - fixed, fixed) / max(per_row, 1e-12)
        # A call may be slow by accident: shrink at most fourfold. Grow up to what would take the target time if all of
        # the cost were per row, which is the worst case; a fixed cost alone allows fourfold.
        growth = float(np.clip(seconds / max(took, 1e-9), 4.0, 64.0))
        return int(np.clip(wanted, max(1, rows // 4), max(1, min(growth * rows, self.most))))

    def learn(self, rows: int, seconds: float) -> None:
        """Take note that ``rows`` model rows took ``seconds``."""
        if rows <= 0:
            return
        with self._lock:
            self.rows_asked += rows
            self._seen.append((rows, seconds))

    def _cost(self) -> tuple[float, float]:
        """Return the fixed seconds of a call and the seconds per row, by least squares on recent calls."""
        rows, seconds = np.array(self._seen, dtype=float).T
        spread = rows - rows.mean()
        per_row = 0.0
        if rows.max() >= 1.5 * rows.min():
            per_row = float(spread @ seconds / (spread @ spread))
        fixed = float(seconds.mean() - per_row * rows.mean())
        if per_row <= 0 and rows.max() < 1.5 * rows.min():  # one size only: nothing to tell them apart
            return 0.0, float(seconds.mean() / rows.mean())
        if fixed < 0:
            return 0.0, float(seconds.sum() / rows.sum())
        return fixed, max(per_row, 0.0)


class Evaluator:
    """Runs ``function(block) -> values`` for chunks, in order, here or on an executor.

    Parameters
    ----------
    function : callable
        ``function(rows, n_rows)``; sent to the executor's workers once each, not with each chunk.
    executor : concurrent.futures.Executor, optional
    """

    def __init__(self, function: Callable[[Any, int], np.ndarray], executor: Executor | None) -> None:
        self.function = function
        self.executor = executor
        self.token = uuid.uuid4().hex
        self.shares_memory = executor is None or isinstance(executor, ThreadPoolExecutor)

    @property
    def window(self) -> int:
        """Return how many chunks to keep in flight (1 without an executor)."""
        if self.executor is None:
            return 1
        workers = getattr(self.executor, "_max_workers", None) or os.cpu_count() or 2
        return 2 * int(workers)

    def run(self, block: Any, n_rows: int) -> tuple[np.ndarray, float]:
        """Evaluate a block in this thread; return the values and the seconds it took."""
        return _timed(self.function, block, n_rows)

    def submit(self, block: Any, n_rows: int) -> Pending:
        """Hand a block to the executor."""
        assert self.executor is not None
        return Pending(self, block, n_rows)


class Pending:
    """A chunk on its way through an executor."""

    def __init__(self, evaluator: Evaluator, block: Any, n_rows: int) -> None:
        self._evaluator, self._block, self._n_rows = evaluator, block, n_rows
        self._future = self._send(with_function=False)

    def result(self) -> tuple[np.ndarray, float]:
        """Wait for the values; Ctrl-C interrupts the wait."""
        answer = _wait(self._future)
        if answer is None:  # this worker has not seen the model yet
            self._future = self._send(with_function=True)
            answer = _wait(self._future)
        return answer

    def cancel(self) -> None:
        """Give up on the chunk; a worker that has begun finishes it for nothing."""
        self._future.cancel()

    def _send(self, *, with_function: bool) -> Future[Any]:
        executor = self._evaluator.executor
        assert executor is not None
        if self._evaluator.shares_memory:  # nothing to remember for next time
            return executor.submit(_timed, self._evaluator.function, self._block, self._n_rows)
        function = self._evaluator.function if with_function else None
        return executor.submit(_remote, self._evaluator.token, function, self._block, self._n_rows)


def _wait(future: Future[Any]) -> Any:
    # Short waits: on some platforms an endless lock wait cannot be interrupted.
    while True:
        try:
            return future.result(timeout=0.1)
        except TimeoutError:
            if future.done():
                return future.result()


_known: OrderedDict[str, Callable[[Any, int], np.ndarray]] = OrderedDict()


def _remote(
    token: str, function: Callable[[Any, int], np.ndarray] | None, block: Any, n_rows: int
) -> tuple[np.ndarray, float] | None:
    """Evaluate in a worker; ``None`` asks for the function, which this worker does not hold yet."""
    if function is not None:
        _known[token] = function
        while len(_known) > 4:  # a long-lived worker must not hoard models
            _known.popitem(last=False)
    held = _known.get(token)
    if held is None:
        return None
    return _timed(held, block, n_rows)


def _timed(function: Callable[[Any, int], np.ndarray], block: Any, n_rows: int) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    values = function(block, n_rows)
    return values, time.perf_counter() - start
