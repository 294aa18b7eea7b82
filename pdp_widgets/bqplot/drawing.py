"""From what is to be drawn to marks, scales and axes of bqplot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from pdp_widgets.figures import Axis, Bars, Curves, Surface, describe
from pdp_widgets.figures.parts import CIVIDIS, DIVERGING, ICE, INK, NEGATIVE, PLAIN, POSITIVE

if TYPE_CHECKING:
    from types import ModuleType

_INK = f"var(--jp-content-font-color0, {INK})"  # white in dark notebooks
_NOT_COMPUTED = "#d5d8dd"
_PER_LETTER = 5.6  # pixels, about, of a tick's text
_LOOK: dict[str, Any] = {
    "title_style": {"font-size": "14px"},
    "legend_location": "top-left",
    "legend_text": {"font-size": "11px"},
    "legend_style": {"stroke": "none", "fill-opacity": "0.6"},
}


class Mark(NamedTuple):
    """A mark to be: its class, its numbers, and how it looks at first."""

    kind: str
    """A class of bqplot."""
    data: dict[str, Any]
    style: dict[str, Any]


class Drawn(NamedTuple):
    """What a figure was made of."""

    content: Curves | Surface | Bars
    marks: dict[str, Any]
    """Marks of bqplot by name, as in ``curve_marks``; of bars ``{"bars": ...}``, of surfaces nothing."""


_DRAWN: WeakKeyDictionary[Any, Drawn] = WeakKeyDictionary()


def figure(result: Any, **options: Any) -> Any:
    """Return a result as a ``bqplot.Figure``.

    Parameters
    ----------
    result : result object
        Whatever ``Explainer`` returns, rules and their importances: curves with band and sampled ICE, heat maps, or bars with
        whiskers (standard errors).
    **options
        What to draw of it; see ``pdp_widgets.figures.Drawable``.

    Returns
    -------
    bqplot.Figure

    Raises
    ------
    TypeError
        For something without a figure, and for an option that it does not have.
    ImportError
        Where bqplot cannot be imported.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> result = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
    >>> shown = figure(result, ice=False)
    >>> shown.title, shown.marks[0].x.tolist(), shown.marks[0].y.tolist()
    ('x0 (2 of 2 rows)', [0.0, 1.0], [0.0, 2.0])
    """
    return draw(describe(result, **options))


def draw(content: Curves | Surface | Bars) -> Any:
    """Return a figure of what was described."""
    marks: dict[str, Any]
    if isinstance(content, Curves):
        scales, axes = curve_axes(content)
        marks = {name: made(mark, scales) for name, mark in curve_marks(content).items()}
        shown = library().Figure(marks=list(marks.values()), axes=axes, title=content.title, **_LOOK)
    elif isinstance(content, Surface):
        shown, marks = _surface(content), {}
    else:
        shown = _bars(content)
        marks = {"bars": shown.marks[0]}
    _DRAWN[shown] = Drawn(content, marks)
    return shown


def drawn(shown: Any) -> Drawn | None:
    """Return what a figure was made of, None when it was not made here."""
    return _DRAWN.get(shown)


def library() -> ModuleType:
    """Return bqplot.

    Raises
    ------
    ImportError
        Where it cannot be imported.
    """
    try:
        import bqplot
    except ImportError as error:
        raise ImportError(
            f"figures of bqplot need the package bqplot, which cannot be imported here ({error}): python -m pip install bqplot; "
            ".plot() draws with matplotlib instead"
        ) from error
    return bqplot


# ---- curves ------------------------------------------------------------------------------------


def curve_axes(content: Curves) -> tuple[dict[str, Any], list[Any]]:
    """Return scales and axes for curves."""
    bqplot = library()
    x, y = _scale(content.x), bqplot.LinearScale()
    return {"x": x, "y": y}, [
        _axis(content.x, x),
        bqplot.Axis(scale=y, side="left", label=content.label, label_offset="3.5em", num_ticks=6),
    ]


def curve_marks(content: Curves) -> dict[str, Mark]:
    """Return the marks of curves by name, those in the background first."""
    marks: dict[str, Mark] = {}
    x = content.x.values
    if content.individual is not None and len(content.individual):
        style = {"colors": [ICE], "stroke_width": 0.7, "opacities": [0.35] * len(content.individual)}
        marks["rows"] = Mark("Lines", {"x": x, "y": content.individual}, style)
    named = len(content.series) > 1
    shapes = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
    for k, series in enumerate(content.series):
        colour = _INK if series.colour == INK else series.colour
        legend = {"labels": [series.name], "display_legend": named and bool(series.name)}
        if series.stderr is not None:
            band = np.stack([series.y - series.stderr, series.y + series.stderr])
            marks[f"band {k}"] = Mark(
                "Lines", {"x": x, "y": band},
                {"colors": [colour], "stroke_width": 0, "fill": "between", "fill_colors": [colour],
                 "fill_opacities": [0.15, 0.15]},
            )  # fmt: skip
        if content.x.kind == "category":
            style = {"colors": [colour], "marker": shapes[k % len(shapes)] if named else "circle", "default_size": 80}
            marks[f"curve {k}"] = Mark("Scatter", {"x": x, "y": series.y}, style | legend)
        else:
            style = {"colors": [colour], "stroke_width": 2.5, "line_style": "dashed" if series.dashed else "solid"}
            marks[f"curve {k}"] = Mark("Lines", {"x": x, "y": series.y}, style | legend)
        if series.missing is not None:
            # A missing value has no place on a number axis: a dotted level across it.
            level = np.full(len(x), series.missing)
            name = f"{series.name}, missing" if series.name else "missing"
            style = {"colors": [colour], "stroke_width": 1.2, "line_style": "dotted", "labels": [name]}
            marks[f"missing {k}"] = Mark("Lines", {"x": x, "y": level}, style | {"display_legend": True})
    return marks


def made(mark: Mark, scales: dict[str, Any]) -> Any:
    """Return a mark of bqplot."""
    return getattr(library(), mark.kind)(**mark.data, **mark.style, scales=scales)


# ---- surfaces ----------------------------------------------------------------------------------


def _surface(content: Surface) -> Any:
    bqplot = library()
    scales = {"x": _scale(content.x), "y": _scale(content.y)}
    matrix = content.diagonal is not None or not content.x.label
    colour = _colours(content.values, diverging=content.diverging)
    if "category" in (content.x.kind, content.y.kind):
        marks = [_cells(content, content.values, scales, colour, _NOT_COMPUTED)]
    else:
        marks = [
            bqplot.HeatMap(
                x=content.x.values, y=content.y.values, color=content.values.T, scales={**scales, "color": colour}
            )
        ]
    axes = [_axis(content.x, scales["x"]), _axis(content.y, scales["y"], vertical=True)]
    axes.append(bqplot.ColorAxis(scale=colour, side="bottom", label=content.label, num_ticks=6))
    margin = {"top": 50, "bottom": 110, "left": 80, "right": 30}
    if content.diagonal is not None:
        own = _colours(content.diagonal, colours=("#f4f4f5", "#595959"))
        marks.append(_cells(content, np.diag(content.diagonal) + _off_diagonal(content), scales, own, "none"))
    if matrix:
        scales["y"].reverse = True
    if content.y.kind == "category":
        margin["left"] = min(240, 40 + round(_PER_LETTER * max(map(len, content.y.values.tolist()))))
    return bqplot.Figure(
        marks=marks, axes=axes, title=content.title, padding_x=0, padding_y=0, fig_margin=margin, **_LOOK
    )


def _cells(content: Surface, values: np.ndarray, scales: dict[str, Any], colour: Any, nothing: str) -> Any:
    # bqplot paints NaN black; what is selected has a style of its own.
    unknown = np.argwhere(np.isnan(values.T))
    return library().GridHeatMap(
        row=_rows(content.y),
        column=_rows(content.x),
        color=values.T,
        scales={"row": scales["y"], "column": scales["x"], "color": colour},
        stroke="transparent",
        **({"selected": unknown, "selected_style": {"fill": nothing}} if len(unknown) else {}),
    )


def _rows(axis: Axis) -> np.ndarray:
    """Return the levels of a category; of numbers and dates the edges between their cells, half way."""
    if axis.kind == "category":
        return axis.values
    at = axis.values.astype(float)
    between = (at[1:] + at[:-1]) / 2
    ends = (2 * at[0] - between[0], 2 * at[-1] - between[-1]) if len(at) > 1 else (at[0] - 0.5, at[0] + 0.5)
    edges = np.concatenate([[ends[0]], between, [ends[1]]])
    return edges.astype("datetime64[ms]") if axis.kind == "datetime" else edges


def _off_diagonal(content: Surface) -> np.ndarray:
    return np.where(np.eye(len(content.x.values), dtype=bool), 0.0, np.nan)


def _colours(values: np.ndarray, *, diverging: bool = False, colours: Sequence[str] = ()) -> Any:
    known = values[np.isfinite(values)]
    if diverging:
        far = float(np.abs(known).max(initial=0.0)) or 1.0
        return library().ColorScale(colors=list(DIVERGING), min=-far, mid=0.0, max=far)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    return library().ColorScale(colors=list(colours or CIVIDIS), min=low, max=high if high > low else low + 1)


# ---- bars --------------------------------------------------------------------------------------


def _bars(content: Bars) -> Any:
    bqplot = library()
    names = np.array(content.names, dtype=str)
    x, y = bqplot.OrdinalScale(domain=list(content.names), reverse=True), bqplot.LinearScale()
    scales, look = {"x": x, "y": y}, {"orientation": "horizontal", "padding": 0.25, "stroke": "transparent"}
    if (content.values < 0).any():
        colour = bqplot.ColorScale(colors=[NEGATIVE, POSITIVE], min=-1.0, max=1.0)
        scales, look = {**scales, "color": colour}, {**look, "color": np.where(content.values < 0, -1.0, 1.0)}
    else:
        look["colors"] = [PLAIN]
    marks = [bqplot.Bars(x=names, y=content.values, scales=scales, **look)]
    if content.stderr is not None:
        known = np.isfinite(content.stderr)
        ends = content.values[known, None] + content.stderr[known, None] * np.array([-1.0, 1.0])
        at = np.stack([names[known], names[known]], axis=1)
        marks.append(bqplot.Lines(x=ends, y=at, scales={"x": y, "y": x}, colors=[_INK], stroke_width=1.2))
    axes = [
        bqplot.Axis(scale=x, side="left", grid_lines="none", tick_style={"font-size": "11px"}),
        bqplot.Axis(scale=y, label=content.label, num_ticks=6),
    ]
    longest = max(map(len, content.names), default=0)
    margin = {"top": 50, "bottom": 60, "left": 20 + round(_PER_LETTER * longest), "right": 30}
    return bqplot.Figure(marks=marks, axes=axes, title=content.title, fig_margin=margin, **_LOOK)


# ---- axes --------------------------------------------------------------------------------------


def _scale(axis: Axis) -> Any:
    bqplot = library()
    if axis.kind == "category":
        return bqplot.OrdinalScale(domain=[str(value) for value in axis.values])
    return bqplot.DateScale() if axis.kind == "datetime" else bqplot.LinearScale()


def _axis(axis: Axis, scale: Any, *, vertical: bool = False) -> Any:
    look: dict[str, Any] = {"num_ticks": 6}  # more run into each other
    if axis.kind == "category":
        look = {"grid_lines": "none", "label_offset": "2.8em"}
    if vertical:
        look |= {"side": "left", "label_offset": "3.5em"}
    return library().Axis(scale=scale, label=axis.label, **look)
