"""TreeSums: what a sum of trees answers about the rows of a table, exactly and without asking the model.

ICE curves and surfaces of rows, and predictions with some features taken from other rows. Averages over rows, which need no curves,
are in ``means.py``. It joins the reading of a model, the points at hand and the compiled loops; it knows nothing of results or caches.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from . import kernels
from .columns import ColumnEncoder, require_columnwise, unwrap
from .kernels import BLOCK, WORDS
from .points import Points
from .reading import read

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, FeatureTable, Grid

_MOST_STEPS = 2**20  # float64 steps of one block of rows, which should stay in the processor's cache


class TreeSums:
    """Exact sums over the leaves of a fitted tree ensemble, for the rows of one table.

    Parameters
    ----------
    table : FeatureTable
    model : estimator or pipeline
    method : str
        The name of the model's method that is explained.
    threads : int, optional
        Threads to use; as many as there are processors by default.

    Raises
    ------
    UnreadableError
        When the model is no sum of trees, or its features cannot be moved one by one; the text says why.
    """

    def __init__(
        self,
        table: FeatureTable,
        model: Any,
        method: str,
        *,
        threads: int | None = None,
    ) -> None:
        transformers, final = unwrap(model)
        reading = read(final, method)
        require_columnwise(transformers)
        self.ensemble, self.link, self.family = reading.ensemble, reading.link, reading.family
        self.threads = threads or processors()
        self._probability = method == "predict_proba"
        self.points = Points(table, self.ensemble, ColumnEncoder(transformers, reading.encode))

    @property
    def linear(self) -> bool:
        """Return whether the response is affine in the sums: averages may then be taken before it."""
        return self.link.linear

    def respond(self, raw: np.ndarray) -> np.ndarray:
        """Return the response, (n_outputs, ...), of raw sums, (n_raw, ...)."""
        return self.link.apply(raw)

    def _of_rows(self, raw: np.ndarray) -> np.ndarray:
        """Return the response of rows; what is added and taken away again must not leave a probability above 1."""
        response = self.respond(raw)
        return response.clip(0.0, 1.0) if self._probability else response

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the response at the rows' own values: (n_outputs, m) of row positions (m,)."""
        return self.ice(rows, ())

    def ice(self, rows: np.ndarray, grids: Sequence[Grid]) -> np.ndarray:
        """Return the ICE curves of rows for one feature, or their surfaces for two.

        Parameters
        ----------
        rows : (m,) int array
            Row positions.
        grids : at most two Grids
            Of different features.

        Returns
        -------
        (n_outputs, m, K) or (n_outputs, m, K1, K2) float64 array

        Raises
        ------
        UnreadableError
            When the points of a grid cannot be encoded, or move columns of other features.
        """
        view = self.points.view(grids)
        layout, ensemble = view.layout, self.ensemble
        sizes = np.array([*view.sizes, 1, 1], dtype=np.int64)[:2]
        # Over many grid points only so many rows at a time as the cache has room for.
        size = int(np.clip(_MOST_STEPS // (ensemble.n_raw * sizes.prod()), 1, BLOCK))
        raw = np.empty((ensemble.n_raw, len(rows), *sizes))

        def work(part: slice) -> None:
            table, everything = view.block(rows[part])
            base = np.repeat(ensemble.base[:, None], BLOCK, axis=1)
            steps = np.zeros((ensemble.n_raw, len(rows[part]), *sizes))
            kernels.ice(
                *view.trees, layout.slot, layout.end, layout.leaf_number, layout.value, ensemble.output,
                table, everything, view.wanted, sizes, view.grid_table,
                np.empty((layout.most_nodes, WORDS), np.uint64),
                np.empty((layout.most_nodes, view.grid_table.shape[1]), np.uint64),
                np.empty((layout.most_nodes, 2), np.int32),
                np.empty(sizes[0] + 1, np.int64), np.empty(sizes[1] + 1, np.int64), base, steps,
            )  # fmt: skip
            kernels.unroll(base, steps, raw[:, part])

        self.each(work, parts(len(rows), size))
        raw = raw.reshape(ensemble.n_raw, len(rows), *view.sizes)
        if view.additive:
            view.additive.add_to_curves(raw, rows)
        return self._of_rows(raw)

    def cross(self, rows: np.ndarray, moved: np.ndarray, features: Sequence[Feature]) -> np.ndarray:
        """Return the responses of rows with some features taken from other rows.

        Parameters
        ----------
        rows, moved : (m,), (k,) int array
            Row positions.
        features : sequence of Feature
            What is taken from ``moved``.

        Returns
        -------
        (n_outputs, m, k) float64 array
        """
        view = self.points.view()
        layout, ensemble = view.layout, self.ensemble
        slots = np.zeros(self.points.n_slots, dtype=bool)
        slots[[slot for feature in features if (slot := self.points.slot(feature)) >= 0]] = True
        raw = np.empty((ensemble.n_raw, len(rows), len(moved)))
        taken = [(part, *view.block(moved[part])) for part in parts(len(moved), BLOCK)]

        def work(part: slice) -> None:
            table, everything = view.block(rows[part])
            room = np.empty((2, layout.most_nodes, WORDS), np.uint64)
            for other, moved_table, moved_everything in taken:
                block = np.broadcast_to(ensemble.base[:, None, None], (ensemble.n_raw, BLOCK, BLOCK)).copy()
                kernels.cross(
                    *view.trees, layout.slot, layout.end, layout.leaf_number, layout.value, ensemble.output,
                    table, everything, slots, moved_table, moved_everything, room[0], room[1], block,
                )  # fmt: skip
                raw[:, part, other] = block[:, : len(rows[part]), : len(moved[other])]

        self.each(work, parts(len(rows), BLOCK))
        if view.additive:
            going = slots[view.additive.slot]
            raw += view.additive.at_rows(rows, ~going)[:, :, None] + view.additive.at_rows(moved, going)[:, None, :]
        return self._of_rows(raw)

    def each(self, work: Callable[[slice], None], blocks: Iterable[slice]) -> None:
        """Do the work for every block, on as many threads as there are."""
        blocks = list(blocks)
        if self.threads == 1 or len(blocks) == 1:
            for block in blocks:
                work(block)
        else:
            list(_pool(self.threads).map(work, blocks))


def parts(n: int, size: int) -> list[slice]:
    """Cut ``n`` rows into slices of at most ``size``."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}
_pools_lock = threading.Lock()


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that are shared by all sums: the compiled loops hold no lock."""
    key = (os.getpid(), threads)  # a forked process has not got its parent's threads
    with _pools_lock:
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(threads, thread_name_prefix="pdp_widgets-trees")
        return _pools[key]
