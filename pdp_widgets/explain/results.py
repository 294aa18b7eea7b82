"""Result objects: plain arrays with names, and the ways to read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from pdp_widgets.inputs import Grid, InputError

from .explanation import Explanation


@dataclass(frozen=True)
class PartialDependence(Explanation):
    """Partial dependence of a feature, or a pair, and the ICE curves behind it.

    ``average[o, k]`` is the weighted mean over rows i of f(grid value k, other features of row i):
    the *interventional* partial dependence of Friedman (2001); ``individual`` holds the ICE curves of
    Goldstein et al. (2015) it is the mean of. Both are on the response scale named by ``scale``.
    """

    grids: tuple[Grid, ...]
    average: np.ndarray
    """(n_outputs, K) or (n_outputs, K1, K2), on the response scale."""
    stderr: np.ndarray
    """Same shape: standard error of ``average`` as an estimate for all rows; 0 when all are in."""
    variance: np.ndarray = field(repr=False)
    """Same shape: variance across the curves."""
    rows: np.ndarray = field(repr=False)
    """(m,) positions of the rows averaged over, ascending."""
    rows_total: int
    """Rows there are in all (in the subgroup)."""
    rows_omitted: int
    """Rows left out because the model predicted NaN or infinity."""
    curves: np.ndarray | None = field(repr=False)
    """(n_outputs, n, cells) of all background rows; read ``individual`` instead."""

    _by_output: ClassVar[tuple[str, ...]] = ("average", "stderr", "variance", "curves")

    # ---- reading -------------------------------------------------------------------------

    @property
    def features(self) -> tuple[str, ...]:
        """Return the name of the feature, or the two names of the pair."""
        return tuple(grid.feature.name for grid in self.grids)

    @property
    def grid_values(self) -> list[np.ndarray]:
        """Return one array of grid values per feature, in the column's dtype where numpy has it."""
        return [grid.values for grid in self.grids]

    @property
    def rows_done(self) -> int:
        """Return how many rows are averaged over (or were omitted)."""
        return len(self.rows) + self.rows_omitted

    @property
    def n_rows_used(self) -> int:
        """Return how many rows the average stands on."""
        return len(self.rows)

    @property
    def complete(self) -> bool:
        """Return whether all rows are in."""
        return self.rows_done >= self.rows_total

    @property
    def individual(self) -> np.ndarray | None:
        """(n_outputs, m, K...) ICE curves of ``rows``; None when they exceeded the memory cap."""
        if self.curves is None:
            return None
        curves = self.curves if len(self.rows) == self.curves.shape[1] else self.curves[:, self.rows]
        shaped = curves.reshape(len(self.average), len(self.rows), *self.average.shape[1:]).view()
        shaped.flags.writeable = False
        return shaped

    @property
    def density(self) -> np.ndarray:
        """(K,) share of the averaged rows nearest to each grid point (one feature)."""
        grid = self._single("density")
        nearest = grid.nearest[self.rows]
        inside = nearest >= 0
        weights = None if self.weights is None else self.weights[self.rows][inside]
        mass = np.bincount(nearest[inside], weights, minlength=grid.size)
        return mass / mass.sum() if mass.sum() else np.full(grid.size, 1 / grid.size)

    @property
    def importance(self) -> np.ndarray:
        """(n_outputs,) PD importance of Greenwell et al. (2018), unit of the response.

        Numbers and dates: standard deviation (ddof 1) of the average over the grid; categories:
        range / 4. A missing level is left out. It sees only the main effect.
        """
        grid = self._single("importance")
        average = self.average[:, grid.ordered]
        if average.shape[1] < 2:
            return np.zeros(len(average))
        if grid.kind == "category":
            return np.ptp(average, axis=1) / 4
        return average.std(axis=1, ddof=1)

    @property
    def heterogeneity(self) -> np.ndarray | None:
        """(n_outputs,) how far rows disagree, unit of the response; None without ICE curves.

        Root of the data-weighted mean over the grid of the variance across curves that are each
        centred to mean zero. Zero for a feature without interactions.
        """
        self._single("heterogeneity")
        individual = self.individual
        if individual is None or not len(self.rows):
            return None
        return disagreement(individual, self.density, None if self.weights is None else self.weights[self.rows])

    # ---- transforming --------------------------------------------------------------------

    def centered(self, anchor: Literal["first", "mean"] | Any = "first") -> PartialDependence:
        """Return centred curves: each minus its value at an anchor (c-ICE).

        Parameters
        ----------
        anchor : "first", "mean" or a grid value
            The first grid point, the data-weighted mean of each curve, or the grid point nearest to
            a value.

        Raises
        ------
        InputError
            When the anchor is no grid value, or "mean" is asked without ICE curves for the error.
        """
        grid = self._single("centered()")
        if isinstance(anchor, str) and anchor == "mean":
            base = self.density
        elif isinstance(anchor, str) and anchor == "first":
            base = np.eye(grid.size)[0]
        else:
            base = np.eye(grid.size)[self._anchor(grid, anchor)]
        average = self.average - (self.average @ base)[:, None]
        if self.curves is None:
            # Without the curves the covariance with the anchor is unknown: no error to show.
            unknown = np.zeros_like(average) if self.complete else np.full_like(average, np.nan)
            return replace(self, average=average, stderr=unknown, variance=np.full_like(average, np.nan))
        curves = self.curves - (self.curves @ base)[..., None]
        return self._recomputed(average, curves, self.grids)

    def derivative(self) -> PartialDependence:
        """Return slopes between neighbouring grid points (d-ICE), unit of response per unit of x.

        The new grid holds the midpoints. Where the curves' slopes differ there is interaction.

        Raises
        ------
        InputError
            For a category, or fewer than two grid points.
        """
        grid = self._single("derivative()")
        if grid.kind == "category":
            raise InputError(f"{grid.feature.name!r} is a category; slopes need a number or a date")
        points = np.flatnonzero(grid.ordered)
        x, first = np.unique(grid.positions[points], return_index=True)  # the caller's own grid may be in any order
        points = points[first]
        if len(x) < 2:
            raise InputError(f"{grid.feature.name!r} has {len(x)} grid point; slopes need two")
        steps = np.diff(x)
        average = np.diff(self.average[:, points], axis=1) / steps
        middle = (x[1:] + x[:-1]) / 2
        mids = grid.at_positions(middle)
        if self.curves is None:
            unknown = np.zeros_like(average) if self.complete else np.full_like(average, np.nan)
            return replace(self, grids=(mids,), average=average, stderr=unknown, variance=np.full_like(average, np.nan))
        curves = np.diff(self.curves[..., points], axis=-1) / steps
        return self._recomputed(average, curves, (mids,))

    def to_frame(self) -> pd.DataFrame:
        """Return one tidy row per output and grid cell: the values, ``average``, ``stderr``, ``n_nearest``.

        ``stderr`` is the error of the average as an estimate for all rows: zero once all rows are in. ``n_nearest``
        counts the rows nearest to each grid point (one feature only). A statistic's column gets a trailing
        underscore where a feature has its name.
        """
        taken = set(self.features)

        def free(name: str) -> str:
            return free(f"{name}_") if name in taken else name

        cells = np.meshgrid(*[np.arange(grid.size) for grid in self.grids], indexing="ij")
        columns: dict[str, Any] = {}
        n_cells = cells[0].size
        columns[free("output")] = np.repeat(np.array(self.outputs, dtype=object), n_cells)
        for grid, index in zip(self.grids, cells, strict=True):
            values = pd.Series(grid.values)
            tiled = np.tile(index.ravel(), len(self.outputs))
            columns[grid.feature.name] = values.iloc[tiled].reset_index(drop=True)
        columns[free("average")] = self.average.ravel()
        columns[free("stderr")] = self.stderr.ravel()
        if len(self.grids) == 1:
            counts = self.grids[0].counts(self.rows)
            columns[free("n_nearest")] = np.tile(counts, len(self.outputs))
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        """Say what it is, on how many rows and on which scale."""
        names = " x ".join(repr(name) for name in self.features)
        shape = " x ".join(str(grid.size) for grid in self.grids)
        rows = f"{self.rows_done} of {self.rows_total} rows"
        parts = [in_words(self.scale, self.outputs), f"{shape} grid points", rows]
        parts += self.rows_in_words
        if self.rows_omitted:
            parts.append(f"{self.rows_omitted} rows without a finite prediction omitted")
        return f"<PartialDependence on {names}: {'; '.join(parts)}>"

    # ---- helpers -------------------------------------------------------------------------

    def _single(self, what: str) -> Grid:
        if len(self.grids) != 1:
            raise InputError(f"{what} is defined for one feature, not for a pair")
        return self.grids[0]

    def _anchor(self, grid: Grid, anchor: Any) -> int:
        matches = [k for k, value in enumerate(grid.values) if value == anchor]
        if matches:
            return matches[0]
        if grid.kind == "number" and isinstance(anchor, (int, float, np.number)):
            return int(np.nanargmin(np.abs(grid.positions - float(anchor))))
        raise InputError(f"anchor {anchor!r} is not 'first', 'mean' or a grid value of {grid.feature.name!r}")

    def _recomputed(self, average: np.ndarray, curves: np.ndarray, grids: Sequence[Grid]) -> PartialDependence:
        from pdp_widgets.compute import Moments

        weights = None if self.weights is None else self.weights[self.rows]
        moments = Moments.of(curves[:, self.rows], weights)
        return replace(
            self,
            grids=tuple(grids),
            average=average,
            stderr=moments.stderr(self.rows_total - self.rows_omitted),
            variance=moments.variance,
            curves=curves,
        )


def disagreement(curves: np.ndarray, density: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray | None:
    """Return the heterogeneity of ICE curves, (n_outputs,); None when the weights are all zero.

    Parameters
    ----------
    curves : (n_outputs, m, K) array
    density : (K,) array
        Share of the rows near each grid point.
    weights : (m,) array, optional
        Row weights.
    """
    weights = np.ones(curves.shape[1]) if weights is None else weights
    if weights.sum() == 0:
        return None
    weights = weights / weights.sum()
    centred = curves - (curves @ density)[..., None]
    centred -= (weights @ centred)[:, None]
    return np.sqrt((weights @ np.square(centred)) @ density)


def in_words(scale: str, outputs: Sequence[str]) -> str:
    """Return what is explained: "probability of a, b", or just "prediction" where the output has no name."""
    if list(outputs) == [scale]:
        return scale
    shown = ", ".join(outputs[:4]) + (", ..." if len(outputs) > 4 else "")
    return f"{scale} of {shown}"
