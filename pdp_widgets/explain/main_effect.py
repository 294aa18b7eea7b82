"""Main effects: partial dependence at the observed values of a feature, and how far the rows' curves depart from it.

It reduces both to one number each per output. The curves themselves come from ``ice.py``, or without any curve from the sums over
the trees of a model.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pdp_widgets.compute.chunks import PATIENT_SECONDS
from pdp_widgets.inputs import make_grid
from pdp_widgets.trees.ensemble import UnreadableError

from .explanation import EXACT, MODEL
from .ice import Ice
from .results import disagreement

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, Grid
    from pdp_widgets.trees.sums import TreeSums

    from .explainer import Explainer

_FIRST_ROWS = 5000


@dataclass(frozen=True)
class MainEffect:
    """Numbers of one feature, (n_outputs,) arrays in the unit of the response."""

    spread: np.ndarray
    """Standard deviation (ddof 1) of the partial dependence over the unique observed values; of categories range / 4."""
    weighted_spread: np.ndarray
    """Weighted standard deviation of the partial dependence at the rows' own values."""
    heterogeneity: np.ndarray
    share: np.ndarray
    """Square of ``heterogeneity`` over the mean square of the centred curves; no unit."""
    basis: str
    """What the numbers stand on, in words."""


@dataclass(frozen=True)
class _Values:
    """The values of a feature at some rows, and the points where its partial dependence is known for them."""

    grid: Grid | None
    """The points; None when they are the own values of ``at_rows``."""
    at_rows: np.ndarray
    used: np.ndarray
    """(V,) the points that the spread is taken over."""
    own: np.ndarray
    """(m,) the point that speaks for each row's own value, -1 where none does."""
    text: str


class MainEffects:
    """Main effects of several features on the same rows.

    Parameters
    ----------
    explainer : Explainer
    features : sequence of Feature
    rows : (m,) int array
        Positions of the rows to average over, ascending; all of them have weight.
    mask : (n,) bool array or None
        The subgroup that they are, None for all background rows.
    sample : int array
        Rows whose curves are computed where not all of them can be kept.
    sums : TreeSums or None
    max_values : int
        Most values of a number that the model is asked about.
    """

    def __init__(
        self, explainer: Explainer, features: Sequence[Feature], rows: np.ndarray, mask: np.ndarray | None,
        sample: np.ndarray, sums: TreeSums | None, max_values: int,
    ) -> None:  # fmt: skip
        self._explainer, self._rows, self._mask, self._sums = explainer, rows, mask, sums
        self._max_values = max_values
        weights = explainer.weights
        self._weights = None if weights is None else weights[rows]
        self._sample = np.sort(sample if weights is None else sample[weights[sample] > 0])
        self._features = features
        self._exact: dict[str, np.ndarray] | None = None

    def constant(self, feature: Feature) -> bool:
        """Return whether all rows have the same value, missing being one."""
        codes = self._explainer.table.observed(feature).codes[self._rows]
        return bool(np.isnan(codes).all() or (codes == codes[0]).all())

    def cost(self, feature: Feature, *, crossed: bool) -> int:
        """Return how many rows the model will be asked about, at most; ``crossed``: ``at_rows`` will be known."""
        if self._sums is not None:
            return 0
        grid, values = self._explainer.grid(feature), self._read(feature, crossed=crossed)
        beyond = 0 if values.grid is None or values.grid is grid else values.grid.size
        return self._explainer.n_rows * (grid.size + beyond)

    def points(self, feature: Feature) -> tuple[int, int]:
        """Return how many points a feature's grid has, and how many a grid of its own values would have beside it, at most.

        Nothing is sorted that is long: among many rows so many values are soon seen as can be taken.
        """
        grid, rows = self._explainer.grid(feature), self._rows
        codes = self._explainer.table.observed(feature).codes[rows]
        if grid.kind == "category" or not (np.isfinite(codes) & (grid.own[rows] < 0)).any():
            return grid.size, 0
        for part in (codes[:_FIRST_ROWS], codes):
            values = np.unique(part[np.isfinite(part)]).size
            if values >= self._max_values:
                break
        return grid.size, min(values, self._max_values) + bool(np.isnan(codes).any())

    def measure(
        self, feature: Feature, zero: np.ndarray, at_rows: np.ndarray | None = None
    ) -> Generator[None, None, MainEffect]:
        """Return the numbers of one feature, pausing after each chunk.

        Parameters
        ----------
        feature : Feature
        zero : (n_outputs,) array
            Variance up to which a spread is rounding.
        at_rows : (n_outputs, n) array, optional
            The partial dependence at the own value of each background row that counts, where it is known.
        """
        curves, density, weights, kept = yield from self._curves(feature)
        average, way = self._averages().get(feature.name), EXACT
        values = self._read(feature, crossed=average is None and at_rows is not None)
        if average is None and values.grid is None:
            assert at_rows is not None
            average, way = at_rows[:, values.at_rows], MODEL if self._sums is None else EXACT
        elif average is None:
            assert values.grid is not None
            average, way = yield from self._average(values.grid, kept)
        spread, weighted = self._spreads(average, values, range_only=feature.axis == "category")
        heterogeneity, share = _departure(curves, density, weights, zero)
        sampled = "" if kept is not None else f"; curves of {curves.shape[1]:,} rows"
        return MainEffect(
            np.where(np.square(spread) <= zero, 0.0, spread),
            np.where(np.square(weighted) <= zero, 0.0, weighted),
            heterogeneity, share, f"{values.text}; {way}{sampled}",
        )  # fmt: skip

    def _spreads(self, average: np.ndarray, values: _Values, *, range_only: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the spread of averages, (n_outputs, K), over the values used, and over the rows."""
        at = average[:, values.used]
        if len(values.used) < 2:
            spread = np.zeros(len(average))
        elif range_only:
            spread = np.ptp(at, axis=1) / 4
        else:
            spread = at.std(axis=1, ddof=1) * (np.ptp(at, axis=1) > 0)  # the mean of equal numbers may be off by a bit
        counted = values.own >= 0
        own = average[:, values.own[counted]]
        shares = np.ones(len(self._rows)) if self._weights is None else self._weights
        shares = shares[counted] / shares[counted].sum()
        return spread, np.sqrt(np.square(own - (own @ shares)[:, None]) @ shares)

    # ---- values --------------------------------------------------------------------------

    def _read(self, feature: Feature, *, crossed: bool = False) -> _Values:
        """Return the values of a feature; ``crossed``: more than its grid has are known without the model."""
        rows, table = self._rows, self._explainer.table
        codes = table.observed(feature).codes[rows]
        finite, missing = np.flatnonzero(np.isfinite(codes)), np.isnan(codes)
        unique, first, inverse = np.unique(codes[finite], return_index=True, return_inverse=True)
        first = rows[finite[first]]
        grid: Grid | None = self._explainer.grid(feature)
        assert grid is not None
        gone = grid.missing
        cell = grid.own[first].astype(np.int64)
        used = np.arange(len(unique))
        text = f"all {len(unique):,} unique values"
        if grid.kind == "category":
            used = np.flatnonzero(cell >= 0)
            text = f"all {len(unique):,} levels"
            if len(used) < len(unique):
                text = f"the {len(used):,} most frequent of {len(unique):,} levels"
        elif (cell < 0).any() and crossed:
            grid, cell = None, used
            if missing.any():
                gone, first = len(first), np.append(first, rows[np.argmax(missing)])
        elif (cell < 0).any():
            grid, cell, used = self._beyond(feature, unique, first)
            gone = grid.missing
            if len(used) < len(unique):
                text = f"{len(used):,} of {len(unique):,} unique values, evenly spread by rank"
        own = np.full(len(rows), -1)
        own[finite] = cell[inverse]
        own[missing] = gone
        if missing.any():
            text += f", {int(missing.sum()):,} rows without one"
        if (infinite := len(rows) - len(finite) - int(missing.sum())) > 0:
            text += f", {infinite:,} rows with infinite ones left out"
        return _Values(grid, first, cell[used], own, text)

    def _beyond(self, feature: Feature, unique: np.ndarray, first: np.ndarray) -> tuple[Grid, np.ndarray, np.ndarray]:
        """Return a grid for more values than the explainer's own has, the cell of each value, and the values used."""
        table, everything = self._explainer.table, np.arange(len(unique))
        steps = np.empty(0, dtype=int)
        if self._sums is not None:
            with suppress(UnreadableError):
                steps = self._sums.points.steps(feature)
        # Between steps nothing changes: fewer points say the same. Without linear sums every one of them costs a curve.
        linear = self._sums is not None and self._sums.linear
        if len(steps) and (linear or len(steps) <= self._max_values):
            starts = table.observed(feature).codes[steps]
            return make_grid(table, feature, rows=steps), np.searchsorted(starts, unique, side="right") - 1, everything
        if len(unique) <= self._max_values:
            return make_grid(table, feature, rows=first), everything, everything
        k = self._max_values
        used = (2 * np.arange(k) + 1) * len(unique) // (2 * k)  # the middle one of each of k equal parts
        cell = np.searchsorted((used[1:] + used[:-1]) / 2, everything)
        return make_grid(table, feature, rows=first[used]), cell, used

    # ---- averages and curves -------------------------------------------------------------

    def _averages(self) -> dict[str, np.ndarray]:
        """Return (n_outputs, K) averages by feature, all at once, where they follow from the trees without curves."""
        if self._exact is None:
            self._exact = {}
            if self._sums is not None and self._sums.linear:
                varied = [feature for feature in self._features if not self.constant(feature)]
                grids = [grid for feature in varied if (grid := self._read(feature).grid) is not None]
                try:
                    self._exact = self._summed(self._sums, grids)
                except UnreadableError:  # of one grid: each for itself
                    for grid in grids:
                        with suppress(UnreadableError):
                            self._exact |= self._summed(self._sums, [grid])
        return self._exact

    def _summed(self, sums: TreeSums, grids: list[Grid]) -> dict[str, np.ndarray]:
        from pdp_widgets.trees.means import partial_dependence

        means = partial_dependence(sums, grids, rows=self._rows, weights=self._weights)
        return {grid.feature.name: average for grid, average in zip(grids, means.singles, strict=True)}

    def _average(self, grid: Grid, kept: Ice | None) -> Generator[None, None, tuple[np.ndarray, str]]:
        """Return the average curve, (n_outputs, K), and how it was obtained."""
        ice, mask = kept, self._mask
        if ice is None or ice.grids[0].key() != grid.key():
            mask = None  # only the rows that count are asked about
            part = np.zeros(self._explainer.n_rows, dtype=bool)
            part[self._rows] = True
            ice = Ice(self._explainer.source, (grid,), rows=None if part.all() else part, store=False)
            yield from _finish(ice)
        result = ice.result(mask)
        return result.average, result.method

    def _curves(
        self, feature: Feature
    ) -> Generator[None, None, tuple[np.ndarray, np.ndarray, np.ndarray | None, Ice | None]]:
        """Return curves (n_outputs, m, K), the share of rows at each point, the rows' weights, and the curves' cache if kept."""
        explainer = self._explainer
        ice = explainer.ice(feature)
        kept = ice.values is not None
        if not kept:
            mask = np.zeros(explainer.n_rows, dtype=bool)
            mask[self._sample] = True
            ice = explainer.ice(feature, rows=mask, keep=self._sample)
        yield from _finish(ice)
        rows = ice.result(self._mask).rows if kept else self._sample
        curves = ice.curves(rows)
        if not kept:
            good = np.isfinite(curves).all(axis=(0, 2))
            rows, curves = rows[good], curves[:, good]
        weights = None if explainer.weights is None else explainer.weights[rows]
        grid = ice.grids[0]
        nearest = grid.nearest[rows]
        inside = nearest >= 0
        mass = np.bincount(nearest[inside], None if weights is None else weights[inside], minlength=grid.size)
        density = mass / mass.sum() if mass.sum() else np.full(grid.size, 1 / grid.size)
        return curves, density, weights, ice if kept else None


def _departure(
    curves: np.ndarray, density: np.ndarray, weights: np.ndarray | None, zero: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the heterogeneity of curves, (n_outputs, m, K), and its square's share of the mean square of the centred curves."""
    heterogeneity = disagreement(curves, density, weights) if curves.shape[1] else None
    if heterogeneity is None:
        return np.full(len(curves), np.nan), np.full(len(curves), np.nan)
    apart = np.square(heterogeneity)
    apart[apart <= zero] = 0.0
    common = np.average(curves, axis=1, weights=weights)
    whole = apart + np.square(common - (common @ density)[:, None]) @ density
    return np.sqrt(apart), np.divide(apart, whole, out=np.zeros(len(whole)), where=apart > 0)


def _finish(ice: Ice) -> Generator[None, None, None]:
    while not ice.complete:
        ice.advance(PATIENT_SECONDS)
        yield
