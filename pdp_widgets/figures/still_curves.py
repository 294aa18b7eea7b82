"""Curves as a scene, as the page has them: pale lines of single rows, curves with their names at their ends, the spread of the rows below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .frame import BAR, FAINT, LINE, SMALL, TOP, Place, below, dodged, left_of, place_of, positions_of
from .parts import INK, MUTED, REST, SELECTED, Curves, Series, Spread
from .scene import Area, Box, Layer, Line, Scene, Text, shortened, text_width
from .ticks import number_ticks

__all__ = ["draw_curves"]

_PAPER = "#ffffff"
_HALO = 2.4
_SWATCH = 14.0
_LANE = 54.0
"""Room of a missing value on an axis of numbers."""
_LONGEST = 150.0
"""Room of names."""
_BOLD = 1.08
_ROOMY = 3
"""Up to so many names have their rows below them."""
_MOST_INK, _MOST_CHOSEN, _MOST_TINTED = 0.36, 0.44, 0.6
"""However many lines lie over each other, they stay paler than a mean."""
_OWN = (INK, SELECTED, REST, MUTED)
"""Colours that are those of texts, too."""


def draw_curves(scene: Scene, figure: Curves, top: float, spread: Spread | None) -> None:
    """Draw curves below ``top``."""
    if figure.legend:
        top = _legend(scene, figure.legend, top)
    scene.shapes.append(Text(TOP, top + 4, shortened(figure.label, scene.width - 28, SMALL), SMALL, colour=MUTED))
    top += LINE
    category = figure.x.kind == "category"
    named = [one for one in figure.series if one.name]
    turned = category and sum(text_width(str(v), SMALL) + 8 for v in figure.x.values) > scene.width - 200
    bottom = scene.height - (92 if turned else 46)
    strip = 46 if spread is not None else 0
    up = Place(*_span(figure), bottom - strip, top + 6)
    marks = number_ticks(up.low, up.high, max(4, min(7, int((up.start - up.end) / 26))))
    left = 20 + max((text_width(text, SMALL) for _, text in marks), default=20.0)
    right = scene.width - 18.0
    if named:
        right = scene.width - 20 - min(_LONGEST, max(_widest(one, len(named) <= _ROOMY) for one in named))
    apart = any(one.missing is not None for one in figure.series)
    lane = left + _LANE / 2 - 4 if apart else None
    edges = None if spread is None or spread.edges is None else spread.edges / figure.x.unit
    along = place_of(figure.x, left + (_LANE if apart else 0), right, edges)
    left_of(scene, marks, "", up, left, right)
    if figure.zero and up.low < 0 < up.high:
        scene.shapes.append(Line(np.array([[left, up(0.0)], [right, up(0.0)]]), FAINT))
    below(scene, figure.x, along, bottom, scene.height, lane)
    if lane is not None:
        wall = along.start - 6
        scene.shapes.append(Line(np.array([[wall, up.end], [wall, up.start]]), FAINT, 0.7, dashed=True))
        scene.shapes.append(Line(np.array([[left, bottom], [along.start, bottom]]), FAINT))
    if spread is not None:
        _histogram(scene, spread, edges, along, lane, bottom, strip - 8)
    drawer = _Drawer(scene, figure, along, up, lane)
    drawer.single_rows()
    for one in figure.series:
        drawer.curve(one)
    drawer.names(named, right)


@dataclass(frozen=True)
class _Drawer:
    """Draws curves between axes that are there already."""

    scene: Scene
    figure: Curves
    along: Place
    up: Place
    lane: float | None

    @property
    def band(self) -> float:
        """How wide a level is; 0 on an axis of numbers."""
        if self.figure.x.kind != "category":
            return 0.0
        return max(1.0, min((self.along.end - self.along.start) / max(len(self.figure.x.values), 1) * 0.72, 72.0))

    def slot(self, one: Series, room: float) -> tuple[float, float]:
        """Return how far beside their place marks stand, and half their width."""
        k, of = one.beside
        each = room / of
        return (k - (of - 1) / 2) * each, max(3.0, each - 1) / 2

    # ---- single rows ---------------------------------------------------------------------

    def single_rows(self) -> None:
        """Draw them as pale as they are together, the selected ones over all."""
        rows, tints = self.figure.individual, self.figure.tints
        if rows is None or not len(rows):
            return
        every = np.arange(len(rows))
        if tints is None:
            self._layer(every, [INK] * len(rows), _MOST_INK, 2.0)
        else:
            self._layer(every, list(tints), _MOST_TINTED, 5.0)
        if self.figure.chosen is not None and self.figure.chosen.any():
            self._layer(every[self.figure.chosen], [SELECTED] * len(rows), _MOST_CHOSEN, 2.0)

    def _layer(self, rows: np.ndarray, colours: Sequence[str], most: float, strength: float) -> None:
        assert self.figure.individual is not None
        each = min(1.0, strength / np.sqrt(len(rows)) / most)
        x = self.along(positions_of(self.figure.x))
        lines = []
        for row in rows.tolist():
            y = self.up(self.figure.individual[row])
            if len(x) > 1:
                lines.append(Line(self._within(np.column_stack([x, y])), colours[row], 0.8, each))
            elif len(x):
                lines.append(self._dash(x[0], y[0], row, colours[row], each))
            if self.lane is not None and self.figure.individual_missing is not None:
                at = float(self.up(self.figure.individual_missing[row]))
                lines.append(self._dash(self.lane, at, row, colours[row], each))
        self.scene.shapes.append(Layer(tuple(line for line in lines if line.runs), most))

    def _dash(self, x: float, y: float, row: int, colour: str, opacity: float) -> Line:
        """Return a short mark, spread a little so that many are seen."""
        middle = x + ((row * 0.618034) % 1 - 0.5) * 20
        return Line(np.array([[middle - 3, y], [middle + 3, y]]), colour, 0.8, opacity)

    def _within(self, points: np.ndarray) -> np.ndarray:
        """Return the parts of a line that are inside the plot, a few pixels more at either end."""
        low, high = self.up.end - 4, self.up.start + 4
        if not (np.nanmin(points[:, 1], initial=low) < low or np.nanmax(points[:, 1], initial=high) > high):
            return points
        found = [points[:1]]
        for a, b in pairwise(points):
            if np.isfinite(a).all() and np.isfinite(b).all() and a[1] != b[1]:
                cuts = sorted((edge - a[1]) / (b[1] - a[1]) for edge in (low, high))
                found.append(np.array([a + cut * (b - a) for cut in cuts if 0 < cut < 1]).reshape(-1, 2))
            found.append(b[None])
        every = np.concatenate(found)
        every[(every[:, 1] < low - 1e-9) | (every[:, 1] > high + 1e-9)] = np.nan
        return every

    # ---- curves --------------------------------------------------------------------------

    def places(self, one: Series) -> np.ndarray:
        """Return where a curve's points stand across, in pixels."""
        own = positions_of(self.figure.x) if one.x is None else one.x / self.figure.x.unit
        return self.along(own)

    def curve(self, one: Series) -> None:
        """Draw a curve: on levels a mark each, else lines, dashed where few rows are."""
        x, y = self.places(one), self.up(one.y)
        thin = np.zeros(len(x), dtype=bool) if one.thin is None else np.asarray(one.thin, dtype=bool)
        if self.band:
            self._band(one, x)
            shift, half = self.slot(one, self.band)
            for k in np.flatnonzero(np.isfinite(y)).tolist():
                self._mark(one, x[k] + shift, y[k], half, hollow=bool(thin[k]))
        else:
            self._band(one, x)
            for start, end in _runs(thin):
                part = np.column_stack([x, y])[start : end + 1]
                dashed = bool((thin[:-1] | thin[1:])[start]) if len(x) > 1 else False
                halo = Line(part, _PAPER, one.width + _HALO)
                drawn = Line(part, one.colour, one.width, dashed=dashed or one.dashed)
                self.scene.shapes.extend(shape for shape in (halo, drawn) if shape.runs)
            known = np.isfinite(y)
            alone = known & ~np.r_[False, known[:-1]] & ~np.r_[known[1:], False]
            for k in np.flatnonzero(alone).tolist():
                self.scene.shapes.append(Box(x[k] - 3, y[k] - 3, 6, 6, one.colour))
        if self.lane is not None and one.missing is not None and np.isfinite(one.missing):
            shift, half = self.slot(one, 34.0 if one.beside[1] > 2 else 20.0)
            self._mark(one, self.lane + shift, float(self.up(one.missing)), half, hollow=one.missing_thin)

    def _mark(self, one: Series, x: float, y: float, half: float, *, hollow: bool) -> None:
        ends = np.array([[x - half, y], [x + half, y]])
        self.scene.shapes.append(Line(ends, _PAPER, one.width + _HALO))
        self.scene.shapes.append(Line(ends, one.colour, one.width, dashed=hollow))

    def _band(self, one: Series, x: np.ndarray) -> None:
        """Draw how far it may be off."""
        if one.stderr is None or not np.any(one.stderr > 0):
            return
        there = np.isfinite(one.y) & np.isfinite(one.stderr)
        low, high = (self.up(one.y + sign * one.stderr) for sign in (-1, 1))
        if self.band:
            shift, half = self.slot(one, self.band)
            for k in np.flatnonzero(there).tolist():
                box = Box(x[k] + shift - half, high[k], 2 * half, max(low[k] - high[k], 0.5), one.colour, 0.2)
                self.scene.shapes.append(box)
            return
        edge = [np.column_stack([x, y])[there] for y in (low, high)]
        self.scene.shapes.append(Area(np.concatenate([edge[0], edge[1][::-1]]), one.colour, 0.15))

    # ---- names ---------------------------------------------------------------------------

    def names(self, named: Sequence[Series], right: float) -> None:
        """Write names at the lines' ends, none over another."""
        ends = [self._end(one) for one in named]
        labels = [(one, *end) for one, end in zip(named, ends, strict=True) if end is not None]
        if not labels:
            return
        x = min(right, max(end for _, end, _ in labels) + (self.band / 2 + 2 if self.band else 0)) + 8
        line, room = SMALL * 1.2, self.scene.width - 8 - x
        roomy = len(labels) <= _ROOMY or (
            any(_widest(one, False) > room for one, _, _ in labels)
            and len(labels) * (2 * line + 4) < self.up.start - self.up.end
        )
        height = 2 * line + 4 if roomy else line + 1
        wanted = [y + (4 if not roomy else -2) for _, _, y in labels]
        lowest = self.up.start - (line if roomy else 0)
        for (one, _, _), y in zip(labels, dodged(wanted, height, self.up.end + 4, lowest), strict=True):
            swatch = one.colour not in _OWN
            start = x + (_SWATCH if swatch else 0)
            if swatch:
                stroke = np.array([[x, y - 4], [x + _SWATCH - 5, y - 4]])
                self.scene.shapes.append(Line(stroke, one.colour, 2.5, dashed=one.dashed))
            colour = INK if swatch else one.colour
            rows = _rows(one)
            kept = 0.0 if roomy or not rows else text_width(rows, SMALL) + 5
            text = shortened(one.name, self.scene.width - 8 - start - kept, SMALL)
            self.scene.shapes.append(Text(start, y, text, SMALL, colour=colour, bold=not swatch, halo=True))
            if rows and roomy:
                self.scene.shapes.append(Text(start, y + line, rows, SMALL - 0.5, colour=colour, halo=True))
            elif rows:
                wide = text_width(text, SMALL) * (1 if swatch else _BOLD) + 5
                self.scene.shapes.append(Text(start + wide, y, rows, SMALL - 0.5, colour=colour, halo=True))

    def _end(self, one: Series) -> tuple[float, float] | None:
        x, y = self.places(one), self.up(one.y)
        known = np.flatnonzero(np.isfinite(y))
        if not len(known):
            if self.lane is None or one.missing is None or not np.isfinite(one.missing):
                return None
            return self.lane, float(self.up(one.missing))
        k = known[np.argmax(x[known])]
        return float(x[k]), float(y[k])


def _runs(thin: np.ndarray) -> list[tuple[int, int]]:
    """Return stretches of points between which all lines are dashed, or none are."""
    if len(thin) < 2:
        return [(0, len(thin) - 1)] if len(thin) else []
    dashed = thin[:-1] | thin[1:]
    cuts = np.flatnonzero(np.diff(dashed)) + 1
    return [(int(a), int(b)) for a, b in zip(np.r_[0, cuts], np.r_[cuts, len(dashed)], strict=True)]


def _rows(one: Series) -> str:
    return "" if one.n is None else f"{'≈ ' if one.about else ''}n {one.n:,}"


def _widest(one: Series, roomy: bool) -> float:
    """Return the room that a name and its rows take, below each other or side by side."""
    name = text_width(one.name, SMALL) * (1 if one.colour not in _OWN else _BOLD)
    rows = text_width(_rows(one), SMALL)
    return (_SWATCH if one.colour not in _OWN else 0) + (max(name, rows) if roomy else name + (rows + 5 if rows else 0))


def _span(figure: Curves) -> tuple[float, float]:
    """Return the ends of all that is drawn with a little air."""
    drawn = [one.y for one in figure.series]
    drawn += [one.y + sign * one.stderr for one in figure.series if one.stderr is not None for sign in (-1, 1)]
    drawn += [np.array([one.missing]) for one in figure.series if one.missing is not None]
    if figure.limits is not None:
        drawn.append(np.array(figure.limits))
    else:
        drawn += [rows for rows in (figure.individual, figure.individual_missing) if rows is not None]
    every = np.concatenate([np.ravel(value) for value in drawn]).astype(float) if drawn else np.empty(0)
    every = every[np.isfinite(every)]
    if not len(every):
        return 0.0, 1.0
    low, high = float(every.min()), float(every.max())
    air = 0.04 * (high - low) or abs(high) * 0.05 or 0.5
    return low - air, high + air


def _histogram(
    scene: Scene, spread: Spread, edges: np.ndarray | None, place: Place, lane: float | None, bottom: float, high: float
) -> None:
    tallest = max(int(spread.counts.max(initial=0)), 1)
    n = len(spread.counts) if edges is None else len(edges) - 1
    for counts, colour in ((spread.counts, BAR), (spread.selected, SELECTED)):
        if counts is None:
            continue
        for k, count in enumerate(counts.tolist()):
            tall = high * count / tallest
            if k < n and edges is None:
                half = min((place.end - place.start) / max(n, 1) * 0.72, 72.0) / 2
                x = float(place(k))
                scene.shapes.append(Box(x - half, bottom - tall, 2 * half, tall, colour))
            elif k < n and edges is not None:
                a, b = place(edges[k : k + 2])
                scene.shapes.append(Box(a + 0.5, bottom - tall, max(b - a - 1, 0.5), tall, colour))
            elif lane is not None:
                scene.shapes.append(Box(lane - 11, bottom - tall, 22, tall, colour))


def _legend(scene: Scene, entries: Sequence[tuple[str, str]], top: float) -> float:
    x = float(TOP)
    for name, colour in entries:
        text = shortened(name, 220, SMALL)
        wide = text_width(text, SMALL)
        if x > TOP and x + 30 + wide > scene.width - 14:
            x, top = float(TOP), top + LINE
        if colour:
            scene.shapes.append(Line(np.array([[x, top - 4], [x + 18, top - 4]]), colour, 2.5))
        scene.shapes.append(Text(x + (23 if colour else 0), top, text, SMALL, colour=MUTED))
        x += (40 if colour else 14) + wide
    return top + 13
