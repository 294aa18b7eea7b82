"""Results as ordinary bqplot figures, to restyle and to compose with other widgets.

A figure made here is a plain ``bqplot.Figure``: its marks, scales and axes are the user's to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pdp_widgets.explain.results import PartialDependence
    from pdp_widgets.inputs import Grid

MOST_CURVES = 200
# Okabe & Ito (2008): told apart by the colour-blind, and none is the hue of a selection.
COLOURS = ["#000000", "#E69F00", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#F0E442", "#0072B2"]
ICE_COLOUR = "#8a8f98"


def figure(result: PartialDependence, *, ice: bool | int = True, output: Any = None) -> Any:
    """Return a partial dependence as a ``bqplot.Figure``.

    Parameters
    ----------
    result : PartialDependence
        Of one feature (curves with band and sampled ICE, one colour per output) or of a pair (a heat
        map of one output).
    ice : bool or int
        Draw ICE curves, at most 200 or this many; only when a single output is shown.
    output : name or position, optional
        Show this output only. A pair shows the first one by default.

    Returns
    -------
    bqplot.Figure
    """
    if output is not None:
        result = result.output(output)
    return _curves(result, ice) if len(result.grids) == 1 else _heatmap(result)


def _curves(result: PartialDependence, ice: bool | int) -> Any:
    import bqplot

    from pdp_widgets.explain.results import in_words

    grid = result.grids[0]
    level, axis_x = _scale_and_axis(grid)
    y_scale = bqplot.LinearScale()
    label = in_words(result.scale, result.outputs)
    axis_y = bqplot.Axis(scale=y_scale, side="left", label=label, label_offset="3.5em")
    scales = {"x": level, "y": y_scale}
    points = np.flatnonzero(grid.ordered)
    if grid.kind != "category":
        points = points[np.argsort(grid.positions[points], kind="stable")]
    x = _axis_values(grid, points)
    marks: list[Any] = []
    individual = result.individual
    if ice and individual is not None and len(result.outputs) == 1:
        most = MOST_CURVES if ice is True else int(ice)
        # Evenly spaced in the order of the mean prediction, so that the sample shows the whole spread.
        order = np.argsort(individual[0].mean(axis=1), kind="stable")
        chosen = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]
        curves = individual[0][chosen][:, points]
        marks.append(_line(x, curves, scales, colors=[ICE_COLOUR], stroke_width=0.7, opacities=[0.35] * len(chosen)))
    for k, name in enumerate(result.outputs):
        colour = COLOURS[k % len(COLOURS)]
        average, stderr = result.average[k, points], result.stderr[k, points]
        if np.isfinite(stderr).all() and (stderr > 0).any():
            band = np.stack([average - stderr, average + stderr])
            marks.append(
                _line(x, band, scales, colors=[colour], stroke_width=0, fill="between", fill_colors=[colour],
                      fill_opacities=[0.15, 0.15])
            )  # fmt: skip
        if grid.kind == "category":
            marks.append(bqplot.Scatter(x=x, y=average, scales=scales, colors=[colour], marker="rectangle"))
        else:
            marks.append(_line(x, average, scales, colors=[colour], stroke_width=2.5, labels=[name],
                               display_legend=len(result.outputs) > 1))  # fmt: skip
        if grid.missing >= 0 and grid.kind != "category":
            # A missing value has no place on a number axis: a dashed level across it.
            level_line = np.full(len(points), result.average[k, grid.missing])
            marks.append(
                _line(x, level_line, scales, colors=[colour], stroke_width=1.2, line_style="dashed",
                      labels=["missing"], display_legend=True)
            )  # fmt: skip
    return bqplot.Figure(marks=marks, axes=[axis_x, axis_y], title=_title(result), legend_location="top-left")


def _heatmap(result: PartialDependence) -> Any:
    import bqplot

    from pdp_widgets.explain.results import in_words

    first, second = result.grids
    x_scale, axis_x = _scale_and_axis(first)
    y_scale, axis_y = _scale_and_axis(second, vertical=True)
    colour = bqplot.ColorScale(colors=["#00204d", "#7c7b78", "#ffea46"])  # cividis: even for the colour-blind
    rows, columns = np.flatnonzero(first.ordered), np.flatnonzero(second.ordered)
    mark = bqplot.HeatMap(
        x=_axis_values(first, rows),
        y=_axis_values(second, columns),
        color=result.average[0][np.ix_(rows, columns)].T,
        scales={"x": x_scale, "y": y_scale, "color": colour},
    )
    if "category" in (first.kind, second.kind):
        mark = bqplot.GridHeatMap(
            row=_axis_values(second, columns),
            column=_axis_values(first, rows),
            color=result.average[0][np.ix_(rows, columns)].T,
            scales={"column": x_scale, "row": y_scale, "color": colour},
        )
    label = in_words(result.scale, result.outputs[:1])
    legend = bqplot.ColorAxis(scale=colour, side="right", label=label)
    return bqplot.Figure(marks=[mark], axes=[axis_x, axis_y, legend], title=_title(result))


def _line(x: np.ndarray, y: np.ndarray, scales: dict[str, Any], **style: Any) -> Any:
    import bqplot

    return bqplot.Lines(x=x, y=y, scales=scales, **style)


def _scale_and_axis(grid: Grid, *, vertical: bool = False) -> tuple[Any, Any]:
    import bqplot

    kinds = {"category": bqplot.OrdinalScale, "datetime": bqplot.DateScale}
    scale = kinds.get(grid.kind, bqplot.LinearScale)()
    side = {"side": "left", "label_offset": "3.5em"} if vertical else {}
    label = grid.feature.name + (" (ms)" if grid.kind == "timedelta" else "")
    ticks = {} if grid.kind == "category" else {"num_ticks": 6}  # more run into each other in a small figure
    return scale, bqplot.Axis(scale=scale, label=label, **ticks, **side)


def _axis_values(grid: Grid, points: np.ndarray) -> np.ndarray:
    if grid.kind == "category":
        return np.array(grid.labels, dtype=object)[points].astype(str)
    if grid.kind == "datetime":
        return grid.positions[points].astype("datetime64[ms]")
    return grid.positions[points]


def _title(result: PartialDependence) -> str:
    rows = f"{result.n_rows_used} of {result.rows_total} rows"
    subgroup = f", {result.subgroup}" if result.subgroup else ""
    return f"{' × '.join(result.features)} ({rows}{subgroup})"
