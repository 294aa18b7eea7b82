"""Figures as scenes: axes, curves, bars and surfaces laid out in pixels, without a drawing library.

The third way to draw what ``describe`` describes, beside bqplot and matplotlib; the widget's still pictures are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .parts import CIVIDIS, DIVERGING, ICE, INK, NEGATIVE, POSITIVE, Axis, Bars, Curves, Surface
from .scene import Area, Box, Line, Scene, Text, shortened, text_width
from .ticks import date_ticks, number_ticks

__all__ = ["still"]

MUTED, FAINT, HAIR, BAR = "#57606a", "#8a8f98", "#d8dce0", "#dfe3e8"
_TOP, _LINE = 14, 17
_SMALL = 11.0


def still(
    figure: Curves | Bars | Surface,
    *,
    notes: Sequence[str] = (),
    histogram: tuple[np.ndarray | None, np.ndarray] | None = None,
    size: tuple[int, int] = (640, 400),
) -> Scene:
    """Return a figure as a scene.

    Parameters
    ----------
    figure : Curves, Bars or Surface
    notes : sequence of str
        Lines below the title: rows, scale, subgroup.
    histogram : (edges or None, counts), optional
        How the rows spread over the axis of curves; without edges one count per category.
    size : (int, int)
        Width and height in pixels; bars are as high as their number asks.

    Returns
    -------
    Scene

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> from pdp_widgets.figures.parts import Bars
    >>> still(Bars(("a", "b"), np.array([2.0, 1.0]), "strength", "Interactions")).to_svg()[:4]
    '<svg'
    """
    width, height = size
    if isinstance(figure, Bars):
        height = _TOP + _LINE * (len(notes) + 1) + 22 * max(len(figure.names), 1) + 52
    scene = Scene(width, height, ". ".join([figure.title, *notes]))
    scene.shapes.append(Text(_TOP, _TOP + 6, shortened(figure.title, width - 28, 14.0), 14.0, bold=True))
    for k, note in enumerate(notes):
        scene.shapes.append(
            Text(_TOP, _TOP + 6 + _LINE * (k + 1), shortened(note, width - 28, _SMALL), _SMALL, colour=MUTED)
        )
    top = _TOP + 6 + _LINE * (len(notes) + 1)
    if isinstance(figure, Bars):
        _bars(scene, figure, top)
    elif isinstance(figure, Curves):
        _curves(scene, figure, top, histogram)
    else:
        _surface(scene, figure, top)
    return scene


@dataclass(frozen=True)
class _Place:
    """An axis laid along some pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: np.ndarray | float) -> np.ndarray:
        span = self.high - self.low or 1.0
        return self.start + (np.asarray(values, dtype=float) - self.low) / span * (self.end - self.start)


def _positions(axis: Axis) -> np.ndarray:
    if axis.kind == "category":
        return np.arange(len(axis.values), dtype=float)
    return axis.values.astype("datetime64[ms]").astype(float) if axis.kind == "datetime" else axis.values.astype(float)


def _place(axis: Axis, start: float, end: float, also: np.ndarray | None = None) -> _Place:
    if axis.kind == "category":
        return _Place(-0.5, max(len(axis.values), 1) - 0.5, start, end)
    values = _positions(axis)
    values = values if also is None else np.concatenate([values, also])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return _Place(low, high, start, end)


def _span(values: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the ends of some numbers with a little air."""
    every = np.concatenate([np.ravel(value) for value in values]) if values else np.empty(0)
    every = every[np.isfinite(every)]
    if not len(every):
        return 0.0, 1.0
    low, high = float(every.min()), float(every.max())
    air = 0.04 * (high - low) or abs(high) * 0.05 or 0.5
    return low - air, high + air


def _marks(axis: Axis, place: _Place) -> list[tuple[float, str]]:
    room = abs(place.end - place.start)
    if axis.kind == "category":
        each = room / max(len(axis.values), 1)
        every = int(np.ceil(16 / max(each, 1)))
        return [(float(k), str(axis.values[k])) for k in range(0, len(axis.values), every)]
    most = max(2, int(room / 80))
    ticks = date_ticks if axis.kind == "datetime" else number_ticks
    return ticks(place.low, place.high, most)


def _below(scene: Scene, axis: Axis, place: _Place, y: float) -> None:
    """Draw the axis at the bottom."""
    scene.shapes.append(Line(np.array([[place.start, y], [place.end, y]]), FAINT))
    marks = _marks(axis, place)
    room = abs(place.end - place.start) / max(len(marks), 1)
    turned = axis.kind == "category" and any(text_width(text, _SMALL) > room - 4 for _, text in marks)
    for value, text in marks:
        x = float(place(value))
        scene.shapes.append(Line(np.array([[x, y], [x, y + 4]]), FAINT))
        if turned:
            scene.shapes.append(
                Text(x + 4, y + 8, shortened(text, 62, _SMALL), _SMALL, "end", colour=MUTED, upwards=True)
            )
        else:
            scene.shapes.append(Text(x, y + 17, text, _SMALL, "middle", colour=MUTED))
    middle = (place.start + place.end) / 2
    scene.shapes.append(Text(middle, scene.height - 8, shortened(axis.label, place.end - place.start), anchor="middle"))


def _left(scene: Scene, marks: Sequence[tuple[float, str]], label: str, place: _Place, x: float, right: float) -> None:
    """Draw the axis on the left, with hairlines to the right."""
    for value, text in marks:
        y = float(place(value))
        if right > x:
            scene.shapes.append(Line(np.array([[x, y], [right, y]]), HAIR))
        scene.shapes.append(Text(x - 6, y + 4, shortened(text, x - 26, _SMALL), _SMALL, "end", colour=MUTED))
    middle = (place.start + place.end) / 2
    room = abs(place.start - place.end)
    scene.shapes.append(Text(14, middle, shortened(label, room), anchor="middle", upwards=True))


def _curves(scene: Scene, figure: Curves, top: float, histogram: tuple[np.ndarray | None, np.ndarray] | None) -> None:
    named = [one for one in figure.series if one.name]
    if len(named) > 1:
        top = _legend(scene, [(one.name, one.colour, one.dashed) for one in named], top)
    turned = figure.x.kind == "category" and sum(text_width(str(v), _SMALL) + 8 for v in figure.x.values) > scene.width
    bottom = scene.height - (92 if turned else 46)
    strip = 46 if histogram is not None else 0
    drawn = [one.y for one in figure.series]
    drawn += [one.y + sign * one.stderr for one in figure.series if one.stderr is not None for sign in (-1, 1)]
    drawn += [np.array([one.missing]) for one in figure.series if one.missing is not None]
    if figure.individual is not None and figure.individual.size:
        finite = figure.individual[np.isfinite(figure.individual)]
        drawn.append(np.quantile(finite, [0.01, 0.99]) if len(finite) else finite)
    up = _Place(*_span(drawn), bottom - strip, top + 6)
    marks = number_ticks(up.low, up.high, max(2, int((up.start - up.end) / 40)))
    left = 38 + max((text_width(text, _SMALL) for _, text in marks), default=20.0)
    has_missing = any(one.missing is not None for one in figure.series)
    right = scene.width - (70 if has_missing else 18)
    edges = None if histogram is None or histogram[0] is None else histogram[0] / figure.x.unit
    along = _place(figure.x, left, right, edges)
    _left(scene, marks, figure.label, up, left, right)
    _below(scene, figure.x, along, bottom)
    if histogram is not None:
        _histogram(scene, edges, histogram[1], along, bottom, strip - 8)
    x = along(_positions(figure.x))
    for row in () if figure.individual is None else figure.individual:
        y = up(row)
        seen = np.where((y >= up.end - 4) & (y <= up.start + 4), y, np.nan)
        scene.shapes.append(Line(np.column_stack([x, seen]), ICE, 0.7, 0.35))
    for one in figure.series:
        if one.stderr is not None and np.any(one.stderr > 0):
            there = np.isfinite(one.y) & np.isfinite(one.stderr)
            edge = [np.column_stack([x, up(one.y + s * one.stderr)])[there] for s in (-1, 1)]
            scene.shapes.append(Area(np.concatenate([edge[0], edge[1][::-1]]), one.colour, 0.15))
        y = up(one.y)
        scene.shapes.append(Line(np.column_stack([x, y]), one.colour, 2.2, dashed=one.dashed))
        if figure.x.kind == "category" or len(x) < 3:
            for px, py in zip(x[np.isfinite(y)], y[np.isfinite(y)], strict=True):
                scene.shapes.append(Box(px - 3, py - 3, 6, 6, one.colour))
        if one.missing is not None and np.isfinite(one.missing):
            scene.shapes.append(Box(right + 28, float(up(one.missing)) - 3, 6, 6, one.colour))
    if has_missing:
        scene.shapes.append(Text(right + 31, bottom + 17, "missing", _SMALL, "middle", colour=MUTED))


def _histogram(
    scene: Scene, edges: np.ndarray | None, counts: np.ndarray, place: _Place, bottom: float, high: float
) -> None:
    bounds = np.arange(len(counts) + 1) - 0.5 if edges is None else edges
    counts = counts[: len(bounds) - 1]  # missing rows have a last bar that belongs to no place on the axis
    tallest = max(counts.max(initial=0), 1)
    x = place(bounds)
    for k, count in enumerate(counts.tolist()):
        tall = high * count / tallest
        scene.shapes.append(Box(x[k] + 0.5, bottom - tall, max(x[k + 1] - x[k] - 1, 0.5), tall, BAR))


def _legend(scene: Scene, entries: Sequence[tuple[str, str, bool]], top: float) -> float:
    x = float(_TOP)
    for name, colour, dashed in entries:
        text = shortened(name, 220, _SMALL)
        if x > _TOP and x + 30 + text_width(text, _SMALL) > scene.width - 14:
            x, top = float(_TOP), top + _LINE
        scene.shapes.append(Line(np.array([[x, top - 4], [x + 18, top - 4]]), colour, 2.5, dashed=dashed))
        scene.shapes.append(Text(x + 23, top, text, _SMALL, colour=MUTED))
        x += 40 + text_width(text, _SMALL)
    return top + 10


def _bars(scene: Scene, figure: Bars, top: float) -> None:
    room = scene.width * 0.42
    left = min(room, max((text_width(name) for name in figure.names), default=20.0)) + 24
    bottom = scene.height - 46
    whiskers = np.zeros(len(figure.values)) if figure.stderr is None else np.nan_to_num(figure.stderr)
    ends = np.concatenate([figure.values - whiskers, figure.values + whiskers, [0.0]])
    ends = ends[np.isfinite(ends)]
    low, high = float(ends.min()), float(ends.max())
    along = _Place(low, high if high > low else low + 1, left, scene.width - 24)
    zero = float(along(0.0))
    _below(scene, Axis(figure.label, "number", np.array([along.low, along.high])), along, bottom)
    for k, (name, value, whisker) in enumerate(zip(figure.names, figure.values, whiskers, strict=True)):
        y = top + 22 * k
        scene.shapes.append(Text(left - 8, y + 14, shortened(name, left - 20), anchor="end"))
        if not np.isfinite(value):
            scene.shapes.append(Text(left + 4, y + 14, "not computed", _SMALL, colour=FAINT))
            continue
        end = float(along(value))
        scene.shapes.append(
            Box(min(zero, end), y + 3, max(abs(end - zero), 1), 15, POSITIVE if value >= 0 else NEGATIVE)
        )
        if whisker > 0:
            span = along(np.array([value - whisker, value + whisker]))
            scene.shapes.append(Line(np.column_stack([span, [y + 10.5] * 2]), INK, 1.2))
    scene.shapes.append(Line(np.array([[zero, top], [zero, bottom]]), FAINT))


def _surface(scene: Scene, figure: Surface, top: float) -> None:
    bottom, right = scene.height - 46.0, scene.width - 92.0
    names = [str(value) for value in figure.y.values] if figure.y.kind == "category" else ["-00.00"]
    left = 40 + min(150.0, max(text_width(name, _SMALL) for name in names))
    if figure.x.kind == "category" and sum(text_width(str(v), _SMALL) + 8 for v in figure.x.values) > right - left:
        bottom -= 46
    across, up = (_edges(axis, *ends) for axis, ends in ((figure.x, (left, right)), (figure.y, (bottom, top + 6))))
    finite = figure.values[np.isfinite(figure.values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if figure.diverging:
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    stops = DIVERGING if figure.diverging else CIVIDIS
    for i, j in np.ndindex(figure.values.shape):
        if np.isfinite(figure.values[i, j]):
            share = (figure.values[i, j] - low) / ((high - low) or 1.0)
            x0, x1 = sorted(across[1][i : i + 2].tolist())
            y0, y1 = sorted(up[1][j : j + 2].tolist())
            scene.shapes.append(Box(x0, y0, x1 - x0, y1 - y0, _mixed(stops, float(share))))
    _left(scene, _marks(figure.y, up[0]), figure.y.label, up[0], left, left)
    _below(scene, figure.x, across[0], bottom)
    bar = _Place(low, high, bottom, top + 24)
    steps = np.linspace(low, high, 41)
    for a, b in pairwise(steps.tolist()):
        y0, y1 = bar(np.array([a, b]))
        scene.shapes.append(
            Box(
                right + 16,
                float(y1),
                12,
                float(y0 - y1) + 0.5,
                _mixed(stops, ((a + b) / 2 - low) / ((high - low) or 1)),
            )
        )
    for value, text in number_ticks(low, high, 5):
        scene.shapes.append(Text(right + 32, float(bar(value)) + 4, text, _SMALL, colour=MUTED))
    scene.shapes.append(
        Text(scene.width - 14, top + 12, shortened(figure.label, 150, _SMALL), _SMALL, "end", colour=MUTED)
    )


def _edges(axis: Axis, start: float, end: float) -> tuple[_Place, np.ndarray]:
    """Return an axis and the borders of its cells in pixels: halfway between grid points."""
    at = _positions(axis)
    middle = (at[1:] + at[:-1]) / 2
    first, last = (at[0] - (at[1] - at[0]) / 2, at[-1] + (at[-1] - at[-2]) / 2) if len(at) > 1 else (-0.5, 0.5)
    if len(at) == 1:
        first, last = at[0] - 0.5, at[0] + 0.5
    elif axis.data is not None:
        low, high = (end / axis.unit for end in axis.data)
        first, last = max(first, min(low, at[0])), min(last, max(high, at[-1]))
    place = _Place(float(first), float(last), start, end)
    return place, place(np.concatenate([[first], middle, [last]]))


def _mixed(stops: Sequence[str], share: float) -> str:
    """Return a colour between the stops, 0 the first and 1 the last."""
    at = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    k = min(int(at), len(stops) - 2)
    pairs = [(int(stops[k][i : i + 2], 16), int(stops[k + 1][i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * (at - k)):02x}" for a, b in pairs)
