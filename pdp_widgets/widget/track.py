"""One feature on its way: its curves while they grow, what is kept of them, and how much it is wanted."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .picture import SPARK_POINTS, Summary, means, sparkline

if TYPE_CHECKING:
    from pdp_widgets.compute.worker import Task
    from pdp_widgets.explain import Ice
    from pdp_widgets.inputs import Grid

__all__ = ["Sides", "Track"]


@dataclass(frozen=True)
class Sides:
    """The mean curves of the selection and of the rest."""

    averages: np.ndarray
    """(2, K)"""
    exact: bool
    """Whether they stand on all rows."""


class Track:
    """What the widget knows of one feature."""

    def __init__(self, name: str, n_rows: int, cells: int) -> None:
        self.name = name
        self.n_rows = n_rows
        self.cells = cells
        """Grid points; a guess until the grid is made."""
        self.grid: Grid | None = None
        self.task: Task | None = None
        self.error: str | None = None
        self.summary: Summary | None = None
        self.sampled: np.ndarray | None = None
        """(n_outputs, m, K) the sampled rows' curves: they outlive the cache, for sparklines and exported pages."""
        self.split: np.ndarray | None = None
        """(2, 24) sparklines of the selection and the rest, None when not known."""
        self.split_importance: float | None = None
        """PD importance of the selection: that of its average curve."""
        self._ice: weakref.ref[Ice] | None = None

    @property
    def ice(self) -> Ice | None:
        """The growing curves, None when there are none or the explainer's cache has dropped them."""
        return None if self._ice is None else self._ice()

    def hold(self, ice: Ice) -> None:
        """Look at these curves without keeping them alive: how many are kept is the cache's business."""
        self._ice = weakref.ref(ice)
        self.grid = ice.grids[0]
        self.cells = self.grid.size

    @property
    def dirty(self) -> bool:
        """Whether there are rows that the summary does not know of, whoever computed them: curves are shared."""
        ice = self.ice
        return ice is not None and ice.rows_done > (0 if self.summary is None else self.summary.result.rows_done)

    @property
    def rows_done(self) -> int:
        """Rows on screen or computed."""
        ice, summary = self.ice, self.summary
        return max(0 if ice is None else ice.rows_done, 0 if summary is None else summary.result.rows_done)

    def goal(self, budget: int, *, in_full: bool) -> int:
        """How many rows to compute: all, or as many as ``budget`` model rows pay for."""
        if in_full or self.n_rows * self.cells <= budget:
            return self.n_rows
        return max(1, budget // self.cells)

    def refresh(self, sample: np.ndarray, *, keep: bool) -> None:
        """Bring the summary up to date; a summary of more rows is never replaced by one of fewer.

        Parameters
        ----------
        sample : (m,) int array
            Row positions of the sample.
        keep : bool
            Whether there is room to keep the sampled rows' curves.
        """
        ice = self.ice
        if ice is None or ice.rows_done == 0 or ice.rows_done < self.rows_done:
            return
        if self.summary is None or self.summary.result.rows_done < ice.rows_done:
            self.summary = Summary.of(ice, sample)
            self.sampled = ice.curves(sample).copy() if keep else None

    def sides(self, k: int, mask: np.ndarray, weights: np.ndarray | None, sample: np.ndarray) -> Sides | None:
        """Return the curves of the selection and the rest for output ``k``, from curves that are there."""
        ice = self.ice
        if self.summary is None or ((ice is None or ice.rows_done == 0) and self.sampled is None):
            return None
        exact = ice is not None and ice.values is not None and ice.complete
        if ice is None or ice.values is None:
            rows, curves = sample, self.sample_curves(sample)[k]
        else:
            rows = self.summary.result.rows
            curves = ice.values[k] if len(rows) == self.n_rows else ice.values[k][rows]
        there = np.isfinite(curves).all(axis=1)
        if not there.all():
            rows, curves = rows[there], curves[there]
        return Sides(means(curves, mask[rows], None if weights is None else weights[rows]), exact)

    def sample_curves(self, sample: np.ndarray) -> np.ndarray:
        """(n_outputs, m, K) the sampled rows' curves, NaN where not known."""
        ice = self.ice
        if ice is not None and ice.rows_done > 0:
            return ice.curves(sample)
        assert self.sampled is not None
        return self.sampled

    def set_split(self, sides: Sides | None) -> None:
        """Keep both sides' sparklines, and how much the selection's curve moves."""
        self.split = self.split_importance = None
        if sides is not None and self.grid is not None and self.summary is not None:
            self.split = sparkline(self.grid, sides.averages)
            self.split_importance = float(replace(self.summary.result, average=sides.averages).importance[0])

    def line(self, k: int) -> np.ndarray:
        """Return the sparkline of output ``k``, NaN when not known."""
        if self.summary is None or self.grid is None:
            return np.full(SPARK_POINTS, np.nan)
        return sparkline(self.grid, self.summary.result.average[k])
