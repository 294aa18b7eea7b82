"""From what is to be drawn to a plan of scales, marks and axes: their classes in bqplot and their values, but no widgets yet.

A figure is made of a plan (``drawing.py``), and brought up to date with another one (``live.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pdp_widgets.figures import Axis, Bars, Curves, Figure, Histogram, Surface
from pdp_widgets.figures.parts import CIVIDIS, DIVERGING, ICE, INK, NEGATIVE, PLAIN, POSITIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Part", "Plan", "plan"]

_INK = f"var(--jp-content-font-color0, {INK})"  # white in dark notebooks
_NOT_COMPUTED = "#d5d8dd"
_PER_LETTER = 5.6  # pixels, about, of a tick's text
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_LOOK: dict[str, Any] = {
    "title_style": {"font-size": "14px"},
    "legend_location": "top-left",
    "legend_text": {"font-size": "11px"},
    "legend_style": {"stroke": "none", "fill-opacity": "0.6"},
}
_CURVE = {"x": "x", "y": "y"}


@dataclass(frozen=True)
class Part:
    """A scale, a mark, an axis or the figure itself, to be made."""

    kind: str
    """A class of bqplot."""
    data: dict[str, Any]
    """What comes from the result, and changes with it."""
    look: dict[str, Any] = field(default_factory=dict)
    """How it looks at first; from then on that is the user's."""
    scales: dict[str, str] = field(default_factory=dict)
    """The name of the plan's scale for each of its own; of axes "scale"."""


class Plan(NamedTuple):
    """A figure to be made, each part by its name."""

    figure: Part
    scales: dict[str, Part]
    marks: dict[str, Part]
    """Those in the background first."""
    axes: dict[str, Part]


def plan(content: Figure) -> Plan:
    """Return how a figure is drawn with bqplot."""
    if isinstance(content, Histogram):
        return _histogram(content)
    if isinstance(content, Curves):
        return _curves(content)
    return _surface(content) if isinstance(content, Surface) else _bars(content)


# ---- curves ------------------------------------------------------------------------------------


def _curves(content: Curves) -> Plan:
    axes = {
        "x": _axis(content.x, "x"),
        "y": Part(
            "Axis", {"label": content.label}, {"side": "left", "label_offset": "3.5em", "num_ticks": 6}, {"scale": "y"}
        ),
    }
    marks = _curve_marks(content)
    heights = np.concatenate([np.ravel(mark.data["y"]) for mark in marks.values()])
    scales = {"x": _scale(content.x), "y": Part("LinearScale", _room(heights))}
    return Plan(Part("Figure", {"title": content.title}, _LOOK), scales, marks, axes)


def _room(values: np.ndarray) -> dict[str, Any]:
    """Return the ends of a scale: those that bqplot takes, but for values that are all the same, where it draws no ticks."""
    known = np.unique(values[np.isfinite(values)])
    if len(known) != 1:
        return {"min": None, "max": None}
    half = 0.5 * max(1.0, abs(float(known[0])))
    return {"min": float(known[0]) - half, "max": float(known[0]) + half}


def _curve_marks(content: Curves) -> dict[str, Part]:
    marks: dict[str, Part] = {}
    x = content.x.values
    alone = len(x) == 1  # a line has two ends: one point is drawn as a point
    if content.individual is not None and len(content.individual):
        rows = len(content.individual)
        if alone:
            dots = {"x": np.repeat(x, rows), "y": content.individual[:, 0], "opacities": [0.35] * rows}
            look: dict[str, Any] = {"colors": [ICE], "default_size": 12}
            marks["rows"] = Part("Scatter", dots, look, _CURVE)
        else:
            lines = {"x": x, "y": content.individual, "opacities": [0.35] * rows}
            marks["rows"] = Part("Lines", lines, {"colors": [ICE], "stroke_width": 0.7}, _CURVE)
    named = len(content.series) > 1
    for k, series in enumerate(content.series):
        colour = _INK if series.colour == INK else series.colour
        data = {"x": x, "y": series.y, "labels": [series.name], "display_legend": named and bool(series.name)}
        if series.stderr is not None and alone:
            ends = np.concatenate([series.y - series.stderr, series.y + series.stderr])
            whisker = {"x": np.repeat(x, 2), "y": ends}
            marks[f"band {k}"] = Part("Lines", whisker, {"colors": [colour], "stroke_width": 1.2}, _CURVE)
        elif series.stderr is not None:
            band = np.stack([series.y - series.stderr, series.y + series.stderr])
            marks[f"band {k}"] = Part(
                "Lines", {"x": x, "y": band},
                {"colors": [colour], "stroke_width": 0, "fill": "between", "fill_colors": [colour],
                 "fill_opacities": [0.15, 0.15]}, _CURVE,
            )  # fmt: skip
        if content.x.kind == "category" or alone:
            look = {"colors": [colour], "marker": _SHAPES[k % len(_SHAPES)] if named else "circle", "default_size": 80}
            there = np.isfinite(series.y)  # bqplot draws what is not there in a corner
            marks[f"curve {k}"] = Part("Scatter", {**data, "x": x[there], "y": series.y[there]}, look, _CURVE)
        else:
            look = {"colors": [colour], "stroke_width": 2.5, "line_style": "dashed" if series.dashed else "solid"}
            marks[f"curve {k}"] = Part("Lines", data, look, _CURVE)
        if series.missing is not None:
            # A missing value has no place on a number axis: a dotted level across it.
            name = f"{series.name}, missing" if series.name else "missing"
            along = _around(content.x) if alone else x
            level = {"x": along, "y": np.full(len(along), series.missing), "labels": [name], "display_legend": True}
            look = {"colors": [colour], "stroke_width": 1.2, "line_style": "dotted"}
            marks[f"missing {k}"] = Part("Lines", level, look, _CURVE)
    return marks


# ---- surfaces ----------------------------------------------------------------------------------


def _surface(content: Surface) -> Plan:
    scales = {
        "x": _scale(content.x),
        "y": _scale(content.y),
        "color": _colours(content.values, diverging=content.diverging),
    }
    # A HeatMap paints what is not known in the colour of some cell beside it, and cannot tell how large a single cell is.
    if "category" in (content.x.kind, content.y.kind) or np.isnan(content.values).any() or 1 in content.values.shape:
        marks = {"cells": _cells(content, content.values, "color", _NOT_COMPUTED)}
    else:
        data = {"x": content.x.values, "y": content.y.values, "color": content.values.T}
        marks = {"cells": Part("HeatMap", data, {}, {**_CURVE, "color": "color"})}
    if content.diagonal is not None:
        scales["own"] = _colours(content.diagonal, colours=("#f4f4f5", "#595959"))
        marks["own"] = _cells(content, np.diag(content.diagonal) + _off_diagonal(content), "own", "none")
    if content.diagonal is not None or not content.x.label:  # a matrix reads from the top
        scales["y"] = replace(scales["y"], look={"reverse": True})
    axes = {
        "x": _axis(content.x, "x"),
        "y": _axis(content.y, "y", vertical=True),
        "color": Part("ColorAxis", {"label": content.label}, {"side": "bottom", "num_ticks": 6}, {"scale": "color"}),
    }
    margin = {"top": 50, "bottom": 110, "left": 80, "right": 30}
    if content.y.kind == "category":
        margin["left"] = min(240, 40 + round(_PER_LETTER * max(map(len, content.y.values.tolist()), default=0)))
    figure = Part("Figure", {"title": content.title, "fig_margin": margin}, {**_LOOK, "padding_x": 0, "padding_y": 0})
    return Plan(figure, scales, marks, axes)


def _cells(content: Surface, values: np.ndarray, colour: str, nothing: str) -> Part:
    # bqplot takes a table of one row or column for a list: it has the same one twice.
    for side, length in enumerate(values.shape):
        values = np.repeat(values, 2, axis=side) if length == 1 else values
    # bqplot paints NaN black; what is selected has a style of its own.
    unknown = np.argwhere(np.isnan(values.T))
    data = {
        "row": _rows(content.y),
        "column": _rows(content.x),
        "color": values.T,
        "selected": unknown if len(unknown) else None,
    }
    look = {"stroke": "transparent", "selected_style": {"fill": nothing}}
    return Part("GridHeatMap", data, look, {"row": "y", "column": "x", "color": colour})


def _rows(axis: Axis) -> np.ndarray:
    """Return the levels of a category; of numbers and dates the edges between their cells, half way. Of one cell there are two halves."""
    alone = len(axis.values) == 1
    if axis.kind == "category":
        return np.repeat(axis.values, 2) if alone else axis.values
    if alone:
        return _around(axis)
    at = axis.values.astype(float)
    between = (at[1:] + at[:-1]) / 2
    edges = np.concatenate([[2 * at[0] - between[0]], between, [2 * at[-1] - between[-1]]])
    return edges.astype("datetime64[ms]") if axis.kind == "datetime" else edges


def _around(axis: Axis) -> np.ndarray:
    """Return a single place of numbers or dates between two others, so that there is something to see."""
    at = axis.values[0]
    away: Any = np.timedelta64(12, "h") if axis.kind == "datetime" else max(0.5, 1e-6 * abs(float(at)))
    return np.array([at - away, at, at + away])


def _off_diagonal(content: Surface) -> np.ndarray:
    return np.where(np.eye(len(content.x.values), dtype=bool), 0.0, np.nan)


def _colours(values: np.ndarray, *, diverging: bool = False, colours: Sequence[str] = ()) -> Part:
    known = values[np.isfinite(values)]
    if diverging:
        far = float(np.abs(known).max(initial=0.0)) or 1.0
        return Part("ColorScale", {"min": -far, "mid": 0.0, "max": far}, {"colors": list(DIVERGING)})
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    ends = {"min": low, "max": high if high > low else low + 1}
    return Part("ColorScale", ends, {"colors": list(colours or CIVIDIS)})


# ---- bars --------------------------------------------------------------------------------------


def _bars(content: Bars) -> Plan:
    names = np.array(content.names, dtype=str)
    scales = {
        "x": Part("OrdinalScale", {"domain": list(content.names)}, {"reverse": True}),
        "y": Part("LinearScale", {}),
    }
    data: dict[str, Any] = {"x": names, "y": content.values}
    look: dict[str, Any] = {"orientation": "horizontal", "padding": 0.25, "stroke": "transparent"}
    own = _CURVE
    if (content.values < 0).any():
        scales["color"] = Part("ColorScale", {"min": -1.0, "max": 1.0}, {"colors": [NEGATIVE, POSITIVE]})
        data["color"] = np.where(content.values < 0, -1.0, 1.0)
        own = {**_CURVE, "color": "color"}
    else:
        look["colors"] = [PLAIN]
    marks = {"bars": Part("Bars", data, look, own)}
    if content.stderr is not None:
        known = np.isfinite(content.stderr)
        ends = content.values[known, None] + content.stderr[known, None] * np.array([-1.0, 1.0])
        at = np.stack([names[known], names[known]], axis=1)
        # Lines along the bars: their x is the bars' y.
        marks["whiskers"] = Part(
            "Lines", {"x": ends, "y": at}, {"colors": [_INK], "stroke_width": 1.2}, {"x": "y", "y": "x"}
        )
    axes = {
        "x": Part(
            "Axis", {}, {"side": "left", "grid_lines": "none", "tick_style": {"font-size": "11px"}}, {"scale": "x"}
        ),
        "y": Part("Axis", {"label": content.label}, {"num_ticks": 6}, {"scale": "y"}),
    }
    longest = max(map(len, content.names), default=0)
    margin = {"top": 50, "bottom": 60, "left": 20 + round(_PER_LETTER * longest), "right": 30}
    return Plan(Part("Figure", {"title": content.title, "fig_margin": margin}, _LOOK), scales, marks, axes)


# ---- histograms --------------------------------------------------------------------------------


def _histogram(content: Histogram) -> Plan:
    tallest = int(content.counts.max(initial=1))
    # Bars of bqplot stand at points and not between edges: the outline of them is a line in steps.
    steps = {"x": np.repeat(content.edges, 2), "y": np.concatenate([[0.0], np.repeat(content.counts, 2), [0.0]])}
    look = {"colors": [ICE], "stroke_width": 1, "fill": "inside", "fill_colors": [ICE], "fill_opacities": [0.35]}
    marks = {"counts": Part("Lines", steps, look, _CURVE)}
    for k, (name, value, colour) in enumerate(content.lines):
        data = {"x": np.array([value, value]), "y": np.array([0.0, tallest]), "labels": [name], "display_legend": True}
        marks[f"line {k}"] = Part("Lines", data, {"colors": [colour], "stroke_width": 2.5}, _CURVE)
    scales = {"x": Part("LinearScale", {}), "y": Part("LinearScale", {"min": 0.0, "max": 1.05 * tallest})}
    whole = {"label": content.counted, "tick_values": np.arange(0, tallest + 1, max(1, -(-tallest // 5)))}
    axes = {
        "x": Part("Axis", {"label": content.label}, {"num_ticks": 6, "grid_lines": "none"}, {"scale": "x"}),
        "y": Part("Axis", whole, {"side": "left", "label_offset": "2.8em", "tick_format": "d"}, {"scale": "y"}),
    }
    figure = Part("Figure", {"title": content.title}, {**_LOOK, "legend_location": "top-right", "padding_y": 0.0})
    return Plan(figure, scales, marks, axes)


# ---- axes --------------------------------------------------------------------------------------


def _scale(axis: Axis) -> Part:
    if axis.kind == "category":
        return Part("OrdinalScale", {"domain": [str(value) for value in axis.values]})
    low, *_, high = _around(axis).tolist() if len(axis.values) == 1 else (None, None)
    return Part("DateScale" if axis.kind == "datetime" else "LinearScale", {"min": low, "max": high})


def _axis(axis: Axis, scale: str, *, vertical: bool = False) -> Part:
    look: dict[str, Any] = {"num_ticks": 6}  # more run into each other
    if axis.kind == "category":
        look = {"grid_lines": "none", "label_offset": "2.8em"}
    if vertical:
        look |= {"side": "left", "label_offset": "3.5em"}
    return Part("Axis", {"label": axis.label}, look, {"scale": scale})
