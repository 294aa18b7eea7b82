"""A surface as a scene, as the page has it: cells, hatched where no rows are, contour lines, the spread of the rows, a scale of colours below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .contour import contour
from .frame import BAR, FAINT, SMALL, Place, below, left_of, marks_of, positions_of
from .parts import CIVIDIS, DIVERGING, MUTED, SELECTED, Axis, Cells, Spread, Surface, mixed
from .scene import Box, Line, Scene, Text, shortened, text_width
from .ticks import ticks_near

__all__ = ["draw_surface"]

_APART = 4.0
_SHARE = 0.15
"""Most of an axis that the cells of a missing value take."""
_DARK = 0.22
"""Below this brightness contour lines are white."""
_HATCH = 6.0


def draw_surface(scene: Scene, figure: Surface, top: float) -> None:
    """Draw a surface below ``top``."""
    whole = figure if isinstance(figure, Cells) else None
    cells = figure.values if whole is None else whole.cells
    apart = (False, False) if whole is None else whole.apart
    bars = (26.0, 26.0) if whole is not None and whole.spread[0] is not None else (6.0, 18.0)
    legend = scene.height - 46.0
    bottom, right, top = legend - 52.0, scene.width - bars[1] - 8.0, top + bars[0]
    names = [str(value) for value in figure.y.values] if figure.y.kind == "category" else ["-00.00"]
    names += ["missing"] * apart[1]
    left = 40 + min(150.0, max(text_width(name, SMALL) for name in names))
    if figure.x.kind == "category" and sum(text_width(str(v), SMALL) + 8 for v in figure.x.values) > right - left:
        bottom -= 46
    down = figure.y.kind == "category"  # the first level on top, as one reads
    x = _Lane.of(figure.x, left, right, apart[0], 46.0)
    y = _Lane.of(figure.y, top, bottom, apart[1], 20.0) if down else _Lane.of(figure.y, bottom, top, apart[1], 20.0)
    low, high = _domain(figure)
    stops = DIVERGING if figure.diverging else CIVIDIS

    def colour(value: float) -> str:
        return mixed(stops, (value - low) / ((high - low) or 1.0))

    for i, j in np.ndindex(cells.shape):
        if np.isfinite(cells[i, j]):
            x0, x1, y0, y1 = (*x.ends(i), *y.ends(j))
            scene.shapes.append(Box(x0, y0, x1 - x0, y1 - y0, colour(float(cells[i, j]))))
    ticks = legend_ticks(low, high)
    if figure.x.kind != "category" and figure.y.kind != "category" and whole is not None:
        _contours(scene, figure, x, y, [value for value, _ in ticks], (low, high), colour)
    if whole is not None and whole.empty is not None:
        _hatch(scene, whole.empty & np.isfinite(cells), x, y)
    if whole is not None:
        for lane, spread, upright in ((x, whole.spread[0], True), (y, whole.spread[1], False)):
            if spread is not None:
                _bars(scene, lane, spread, upright, top if upright else right, bars[0] - 6)
    left_of(scene, marks_of(figure.y, y.place, 30.0), figure.y.label, y.place, left, left)
    if apart[1]:
        scene.shapes.append(Text(left - 6, y.middle(0) + 4, "missing", SMALL, "end", colour=MUTED))
    below(scene, figure.x, x.place, bottom, legend - 12, x.middle(0) if apart[0] else None)
    _legend(scene, figure.label, ticks, colour, Place(low, high, left, right), legend)


def legend_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return what is marked on the scale of colours, three to five round numbers: contour lines are there, too."""
    few = ticks_near(low, high, 4)
    more = ticks_near(low, high, 6)
    return few if len(few) > 2 or len(more) > 5 else more


@dataclass(frozen=True)
class _Lane:
    """One axis in pixels, and the cells along it; that of a missing value stands apart at its start."""

    axis: Axis
    place: Place
    edges: np.ndarray
    """(K + 1,) px between the cells, as the axis runs."""
    missing: tuple[float, float] | None
    """px where the cell of a missing value begins and ends."""

    @classmethod
    def of(cls, axis: Axis, start: float, end: float, apart: bool, room: float) -> _Lane:
        missing = None
        if apart:
            way = np.sign(end - start)
            size = min(room, abs(end - start) * (_SHARE if len(axis.values) else 1.0)) * way
            missing = (start, start + size)
            start += size + _APART * way
        place, edges = edges_of(axis, start, end)
        return cls(axis, place, edges, missing)

    def ends(self, k: int) -> tuple[float, float]:
        """Return where a cell begins and ends, in whole pixels so that no paper shows between two."""
        if self.missing is not None and k == 0:
            pair = self.missing
        else:
            at = k - (self.missing is not None)
            pair = self.edges[at], self.edges[at + 1]
        low, high = sorted(round(float(v)) for v in pair)
        return float(low), float(high)

    def middle(self, k: int) -> float:
        """Return the middle of a cell."""
        return sum(self.ends(k)) / 2


def _domain(figure: Surface) -> tuple[float, float]:
    """Return the ends of the scale of colours."""
    if isinstance(figure, Cells) and figure.domain is not None:
        return figure.domain
    every = figure.cells if isinstance(figure, Cells) else figure.values
    finite = every[np.isfinite(every)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if figure.diverging:
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    return low, high


def edges_of(axis: Axis, start: float, end: float) -> tuple[Place, np.ndarray]:
    """Return an axis and the borders of its cells in pixels: halfway between grid points."""
    at = positions_of(axis)
    if not len(at):
        return Place(0.0, 1.0, start, end), np.array([start])
    middle = (at[1:] + at[:-1]) / 2
    first, last = (at[0] - (at[1] - at[0]) / 2, at[-1] + (at[-1] - at[-2]) / 2) if len(at) > 1 else (-0.5, 0.5)
    if len(at) == 1:
        first, last = at[0] - 0.5, at[0] + 0.5
    elif axis.data is not None:
        low, high = (end / axis.unit for end in axis.data)
        first, last = max(first, min(low, at[0])), min(last, max(high, at[-1]))
    place = Place(float(first), float(last), start, end)
    return place, place(np.concatenate([[first], middle, [last]]))


def _contours(
    scene: Scene,
    figure: Surface,
    x: _Lane,
    y: _Lane,
    levels: Sequence[float],
    domain: tuple[float, float],
    colour: Callable[[float], str],
) -> None:
    """Draw where the surface has the values that the scale of colours marks."""
    finite = figure.values[np.isfinite(figure.values)]
    least = (domain[1] - domain[0]) * (0.02 if figure.diverging else 1e-9)
    if not len(finite) or np.ptp(finite) < least:
        return  # rounding must not draw a line around nothing
    for level in levels:
        segments = contour(positions_of(figure.x), positions_of(figure.y), figure.values, level)
        if not len(segments):
            continue
        white = _brightness(colour(level)) < _DARK
        points = np.full((len(segments), 3, 2), np.nan)
        points[:, :2, 0], points[:, :2, 1] = x.place(segments[:, [0, 2]]), y.place(segments[:, [1, 3]])
        wide = 1.6 if figure.diverging and level == 0 else 1.0
        look = ("#ffffff", wide, 0.7) if white else ("#000000", wide, 0.55)
        scene.shapes.append(Line(points.reshape(-1, 2), *look))


def _hatch(scene: Scene, empty: np.ndarray, x: _Lane, y: _Lane) -> None:
    """Draw cells paler and hatched, so that their value is still read."""
    lines: list[list[float]] = []
    for i, j in np.argwhere(empty).tolist():
        (x0, x1), (y0, y1) = x.ends(i), y.ends(j)
        scene.shapes.append(Box(x0, y0, x1 - x0, y1 - y0, "#ffffff", 0.5))
        # Strokes on which x + y is the same, in steps that all cells share.
        for k in range(int(np.ceil((x0 + y0) / _HATCH)), int(np.floor((x1 + y1) / _HATCH)) + 1):
            total = k * _HATCH
            a, b = max(x0, total - y1), min(x1, total - y0)
            if b > a:
                lines += [[a, total - a], [b, total - b], [np.nan, np.nan]]
    if lines:
        scene.shapes.append(Line(np.array(lines), MUTED, 0.8, 0.55))


def _bars(scene: Scene, lane: _Lane, spread: Spread, upright: bool, at: float, high: float) -> None:
    """Draw how the rows spread along an axis, beside the cells."""
    tallest = max(int(spread.counts.max(initial=0)), 1)
    ends: list[tuple[float, float]] = []
    if spread.edges is None:
        ends = [(a + 2, b - 2) for a, b in (lane.ends(k) for k in range(len(spread.counts)))]
    else:
        start, stop = sorted((lane.place.start, lane.place.end))
        px = lane.place(spread.edges / lane.axis.unit).clip(start, stop)
        ends = [(min(a, b), max(a, b)) for a, b in zip(px[:-1].tolist(), px[1:].tolist(), strict=True)]
        if lane.missing is not None:
            first, last = lane.ends(0)
            ends.append((first + 1, last - 1))
    for counts, colour in ((spread.counts, BAR), (spread.selected, SELECTED)):
        if counts is None:
            continue
        for (a, b), count in zip(ends, counts.tolist(), strict=False):
            size = high * count / tallest
            wide = b - a - (1 if b - a > 4 else 0)
            if wide > 0.5 and size > 0:
                box = Box(a, at - 3 - size, wide, size, colour) if upright else Box(at + 3, a, size, wide, colour)
                scene.shapes.append(box)


def _legend(
    scene: Scene,
    label: str,
    ticks: Sequence[tuple[float, str]],
    colour: Callable[[float], str],
    along: Place,
    top: float,
) -> None:
    """Draw the scale of colours with its marks and its title, which has the whole width."""
    steps = np.linspace(along.low, along.high, 61)
    for a, b in zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True):
        x0, x1 = along(np.array([a, b]))
        scene.shapes.append(Box(float(x0), top, float(x1 - x0) + 0.5, 8, colour((a + b) / 2)))
    free = -np.inf
    for value, text in ticks:
        x, half = float(along(value)), text_width(text, SMALL) / 2
        if x - half > free:
            scene.shapes.append(Line(np.array([[x, top + 8], [x, top + 11]]), FAINT))
            scene.shapes.append(Text(x, top + 22, text, SMALL, "middle", colour=MUTED))
            free = x + half + 6
    middle = (along.start + along.end) / 2
    text = shortened(label, 2 * min(middle, scene.width - middle) - 16, SMALL)
    scene.shapes.append(Text(middle, top + 38, text, SMALL, "middle", colour=MUTED))


def _brightness(colour: str) -> float:
    r, g, b = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * r**2.2 + 0.7152 * g**2.2 + 0.0722 * b**2.2
