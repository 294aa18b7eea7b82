"""The cache of growing curves: shared by all who ask, bounded in bytes, the least recently used goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from .ice import Ice

if TYPE_CHECKING:
    from pdp_widgets.inputs import Grid

    from .source import Source


class IceCache:
    """Growing ICE curves by grid.

    Parameters
    ----------
    source : Source
    most_bytes : int
    """

    def __init__(self, source: Source, most_bytes: int) -> None:
        self._source, self._cache_bytes = source, int(most_bytes)
        self._ices: OrderedDict[tuple[Any, ...], Ice] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._ices)

    @property
    def nbytes(self) -> int:
        """Return the memory of all that is kept."""
        return sum(ice.nbytes for ice in self._ices.values())

    def get(self, grids: tuple[Grid, ...], rows: np.ndarray | None, keep: np.ndarray | None) -> Ice:
        """Return the curves over one grid or two; ``rows`` and ``keep`` count where not all curves are kept."""
        cells = int(np.prod([grid.size for grid in grids]))
        size = 8 * self._source.n_outputs * self._source.table.n_rows * cells
        # One that takes more than half of the cache would push out everything else.
        if size > self._cache_bytes / 2:
            if rows is not None:  # of one subgroup: its next one will be another
                return Ice(self._source, grids, rows=rows, store=False, keep=keep)
            kept: Any = None if keep is None else hash(keep.tobytes())
        else:
            rows, keep, kept = None, None, "all"
        key = (kept, *(grid.key() for grid in grids))
        with self._lock:
            ice = self._ices.pop(key, None)
            if ice is None:
                ice = Ice(self._source, grids, store=kept == "all", keep=keep)
            self._ices[key] = ice
            held = 0
            for other in reversed(list(self._ices)):
                held += self._ices[other].nbytes
                if held > self._cache_bytes and other != key:
                    del self._ices[other]
            return ice
