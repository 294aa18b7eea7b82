"""What is drawn, as the page wants it: axes with their distribution, curves, ICE lines, sparklines, both sides of a selection.

Functions of results; none of them asks the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.results import disagreement
from pdp_widgets.inputs import InputError

from .wire import offset, pack, scalar

if TYPE_CHECKING:
    from pdp_widgets.explain import Explainer, Ice, PartialDependence
    from pdp_widgets.inputs import Grid

__all__ = [
    "SPARK_POINTS",
    "Axis",
    "Summary",
    "broken",
    "curve",
    "ice_lines",
    "means",
    "side",
    "sparkline",
    "thin",
]

SPARK_POINTS = 24

_MOST_BINS = 30
_WIDEST = 2.5  # an axis of all rows, in widths of the middle 98 %
# ICE values looked at for heterogeneity, while they grow and at the end; beyond, the sample is asked.
_FULL_CELLS = {False: 200_000, True: 8_000_000}


@dataclass(frozen=True)
class Summary:
    """What is kept of a feature's curves, so that the curves themselves may be forgotten."""

    result: PartialDependence
    """Without its curves."""
    importance: np.ndarray
    """(n_outputs,)"""
    heterogeneity: np.ndarray | None
    """(n_outputs,), None when not known."""

    @classmethod
    def of(cls, ice: Ice, sample: np.ndarray) -> Summary:
        """Summarise the rows done so far."""
        result = ice.result()
        grid = result.grids[0]
        curves, rows = result.curves, result.rows
        if curves is None or curves.shape[0] * len(rows) * grid.size > _FULL_CELLS[result.complete]:
            curves, rows = ice.curves(sample), sample
            there = np.isfinite(curves).all(axis=(0, 2))
            curves, rows = curves[:, there], rows[there]
        elif len(rows) < curves.shape[1]:
            curves = curves[:, rows]
        weights = None if result.weights is None else result.weights[rows]
        with np.errstate(over="ignore", invalid="ignore"):  # of huge predictions the spread is not known
            heterogeneity = disagreement(curves, result.density, weights) if len(rows) > 1 else None
        return cls(replace(result, curves=None), result.importance, heterogeneity)


@dataclass(frozen=True)
class Axis:
    """A feature's axis and how its rows spread over it."""

    grid: Grid
    wire: dict[str, Any] = field(repr=False)
    """The members of ``_curve`` that do not depend on predictions."""
    own: np.ndarray = field(repr=False)
    """(n,) float64: the rows' own positions (a category: grid level), NaN for missing."""
    bins: np.ndarray = field(repr=False)
    """(n,) histogram bin of each row, -1 outside."""
    n_bins: int

    @classmethod
    def of(cls, explainer: Explainer, name: str) -> Axis:
        """Look at a feature's own values."""
        grid, codes = explainer.grid(name), explainer.table.observed(name).codes
        finite = np.isfinite(codes)
        if grid.kind == "category":
            own, edges = np.where(finite, grid.own, np.nan).astype(float), None
            bins, n_bins = grid.own.astype(np.int32), grid.size
        else:
            own = codes
            edges = _edges(grid, codes[finite])
            n_bins = len(edges) - 1
            bins = np.searchsorted(edges, codes, side="right").astype(np.int32) - 1
            bins[codes == edges[-1]] = n_bins - 1
            bins[(bins >= n_bins) | ~finite] = -1
            if grid.missing >= 0:  # missing rows have the last bar, apart from the axis
                bins[np.isnan(codes)] = n_bins
                n_bins += 1
        wire = {
            "feature": name,
            "kind": grid.kind,
            "integer": grid.feature.kind == "integer",
            "x": pack(grid.positions),
            "labels": list(grid.labels),
            "missing": int(grid.missing),
            "thin": thin(grid, None),
            "hist": {"edges": None if edges is None else pack(edges), "counts": pack(_count(bins, n_bins), "int32")},
            "deciles": None if grid.kind == "category" else _deciles(codes, finite, explainer.weights),
            "missing_count": int(np.isnan(codes).sum()),
            "infinite_count": int(np.isinf(codes).sum()),
            "note": "; ".join(filter(None, [grid.note, "" if edges is None else _beyond(edges, codes[finite])])),
        }
        return cls(grid, wire, own, bins, n_bins)

    def counts(self, mask: np.ndarray) -> dict[str, Any]:
        """Return the histogram of some rows."""
        return pack(_count(self.bins[mask], self.n_bins), "int32")


def info(explainer: Explainer, protocol: int, title: str, models: list[str]) -> dict[str, Any]:
    """Return ``_info``: what is explained, which changes with the model only."""
    return {
        "model": title,
        "models": models,
        "rows": explainer.n_rows,
        "rows_given": explainer.n_rows_given,
        "weighted": explainer.weights is not None,
        "scale": explainer.scale,
        "outputs": list(explainer.outputs),
        "features": [_feature(explainer, name) for name in explainer.features],
        "protocol": protocol,
    }


def _feature(explainer: Explainer, name: str) -> dict[str, Any]:
    kind = explainer.features[name].kind
    wire: dict[str, Any] = {"name": name, "kind": kind, "n_levels": None, "missing": 0, "infinite": 0}
    try:
        observed = explainer.table.observed(name)
    except InputError:
        return wire  # the feature's own view will say so
    wire["missing"] = int(np.isnan(observed.codes).sum())
    wire["infinite"] = int(np.isinf(observed.codes).sum())
    if observed.kind == "category":
        wire["n_levels"] = len(observed.levels or [])
    return wire


def sample(explainer: Explainer, rows: np.ndarray) -> dict[str, Any]:
    """Return ``_sample``: whose own curves the page holds."""
    weights = explainer.weights
    return {
        "rows": pack(rows, "int32"),
        "labels": [explainer.table.row_label(row) for row in rows],
        "weight": None if weights is None else pack(weights[rows], "float32"),
    }


def curve(axis: Axis, output: str, summary: Summary | None, total: int, error: str | None) -> dict[str, Any]:
    """Return ``_curve``: the partial dependence of the focused feature."""
    if summary is None:
        unknown = pack(np.full(axis.grid.size, np.nan))
        numbers: dict[str, Any] = {
            "average": unknown,
            "stderr": None,
            "rows": 0,
            "heterogeneity": None,
            "importance": None,
        }
    else:
        result = summary.result
        k = result.outputs.index(output)
        stderr = np.where(np.isfinite(result.stderr[k]), result.stderr[k], np.nan)
        numbers = {
            "average": pack(result.average[k]),
            "stderr": None if result.complete else pack(stderr),
            "rows": result.rows_done,
            "heterogeneity": _of_output(summary.heterogeneity, k),
            "importance": _of_output(summary.importance, k),
        }
        if result.rows_omitted:
            left_out = f"{result.rows_omitted} rows without a finite prediction are left out"
            note = axis.wire["note"]
            numbers["note"] = f"{note}; {left_out}" if note else left_out
    return {**axis.wire, "output": output, "total": total, "error": error, **numbers}


def broken(feature: str, output: str, total: int, error: str) -> dict[str, Any]:
    """Return ``_curve`` of a feature whose very axis could not be made."""
    nothing = pack(np.empty(0))
    return {
        "feature": feature,
        "output": output,
        "kind": "number",
        "integer": False,
        "x": nothing,
        "labels": [],
        "missing": -1,
        "average": nothing,
        "stderr": None,
        "rows": 0,
        "total": total,
        "thin": pack(np.empty(0), "uint8"),
        "hist": {"edges": None, "counts": pack(np.empty(0), "int32")},
        "deciles": None,
        "missing_count": 0,
        "infinite_count": 0,
        "note": "",
        "error": error,
        "heterogeneity": None,
        "importance": None,
    }


def ice_lines(axis: Axis, output: str, curves: np.ndarray, sample: np.ndarray, fitted: np.ndarray) -> dict[str, Any]:
    """Return ``_ice``: the sampled rows' own curves.

    Parameters
    ----------
    curves : (m, K) array
        NaN where not computed yet.
    fitted : (m,) array
        The rows' predictions.
    """
    middle = offset(curves)
    return {
        "feature": axis.grid.feature.name,
        "output": output,
        "offset": middle,
        "values": pack(curves - middle, "float32"),
        "own": pack(axis.own[sample]),
        "fitted": pack(fitted - middle, "float32"),
    }


def sparkline(grid: Grid, average: np.ndarray) -> np.ndarray:
    """Return ``average`` (..., K) at up to 24 places: equally spaced, or the first levels; NaN beyond."""
    out = np.full((*average.shape[:-1], SPARK_POINTS), np.nan)
    if grid.kind == "category":
        n = min(grid.size, SPARK_POINTS)
        out[..., :n] = average[..., :n]
        return out
    points = np.flatnonzero(grid.ordered)
    points = points[np.argsort(grid.positions[points], kind="stable")]
    if len(points):
        x = grid.positions[points]
        at = np.linspace(x[0], x[-1], SPARK_POINTS)
        for index in np.ndindex(average.shape[:-1]):
            out[index] = np.interp(at, x, average[index][points])
    return out


def spark_points(grid: Grid | None) -> int:
    """Return how many places of the sparkline are in use."""
    return SPARK_POINTS if grid is None or grid.kind != "category" else min(grid.size, SPARK_POINTS)


def spark_ends(grid: Grid | None) -> tuple[float, float]:
    """Return where a sparkline begins and ends on its axis, NaN for levels and where that is not known."""
    if grid is None or grid.kind == "category" or not grid.ordered.any():
        return np.nan, np.nan
    points = grid.positions[grid.ordered]
    return float(points.min()), float(points.max())


def means(curves: np.ndarray, mask: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the mean curve of the rows in ``mask`` and of the rest, shape (2, K); NaN where there is no row.

    Parameters
    ----------
    curves : (m, K) array
        Finite.
    mask : (m,) bool array
    weights : (m,) array, optional
    """
    sides = np.stack([mask, ~mask]).astype(float)
    if weights is not None:
        sides *= weights
    total = sides.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (sides @ curves) / total[:, None]


def side(axis: Axis, average: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
    """Return one side of ``_split``."""
    return {
        "average": pack(average),
        "n": int(np.count_nonzero(mask)),
        "counts": axis.counts(mask),
        "thin": thin(axis.grid, mask),
    }


def _of_output(values: np.ndarray | None, k: int) -> float | None:
    return None if values is None else scalar(values[k])


def _count(bins: np.ndarray, n_bins: int) -> np.ndarray:
    return np.bincount(bins[bins >= 0], minlength=n_bins)


def thin(grid: Grid, rows: np.ndarray | None) -> dict[str, Any]:
    """Return where few of the rows (all, or those in a mask) lie: below a tenth of what each point would have on average."""
    near = grid.counts(rows)
    return pack(near < 0.1 * near.sum() / max(grid.size, 1), "uint8")


def _edges(grid: Grid, values: np.ndarray) -> np.ndarray:
    """Return histogram edges over the grid and all rows, or those near it.

    A few far rows would leave most of the axis empty: where all rows spread much wider than the middle 98 % do, the axis
    ends near those and near the grid, on each side that is far.
    """
    points = grid.positions[grid.ordered]
    if not len(points):
        points = values if len(values) else np.zeros(1)
    low, high = float(points.min()), float(points.max())
    if len(values):
        least, first, last, most = np.quantile(values, [0, 0.01, 0.99, 1])
        core, width = last - first, (high - low) / 2
        if most - least > _WIDEST * core:
            tail = (_WIDEST - 1) / 2 * core
            if first - least > tail:
                least = np.min(values[values >= max(first - core / 4, low - width)], initial=low)
            if most - last > tail:
                most = np.max(values[values <= min(last + core / 4, high + width)], initial=high)
        low, high = min(low, float(least)), max(high, float(most))
    if grid.feature.kind == "integer":
        low, high = np.floor(low), np.ceil(high)
        width = max(1.0, np.ceil((high - low + 1) / _MOST_BINS))
        bins = int(np.ceil((high - low + 1) / width))
        return low - 0.5 + width * np.arange(bins + 1)
    if high <= low:
        half = abs(low) / 20 or 0.5
        return np.array([low - half, low + half])
    bins = int(np.clip(2 * np.sqrt(len(values)), 5, _MOST_BINS))
    return np.linspace(low, high, bins + 1)


def _beyond(edges: np.ndarray, values: np.ndarray) -> str:
    """Say how many rows have no bar because they are far away."""
    below, above = int((values < edges[0]).sum()), int((values > edges[-1]).sum())
    if not below + above:
        return ""
    where = ", ".join(f"{n} on the {side}" for n, side in [(below, "left"), (above, "right")] if n)
    return f"beyond the axis: {below + above} of {len(values)} rows ({where})"


def _deciles(codes: np.ndarray, finite: np.ndarray, weights: np.ndarray | None) -> dict[str, Any] | None:
    values = codes[finite]
    if not len(values):
        return None
    shares = np.arange(1, 10) / 10
    if weights is None:
        return pack(np.quantile(values, shares))
    order = np.argsort(values)
    mass = np.cumsum(weights[finite][order])
    if mass[-1] == 0:
        return None
    return pack(values[order][np.searchsorted(mass, shares * mass[-1]).clip(max=len(values) - 1)])
