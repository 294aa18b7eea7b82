"""What still figures share: places along axes, marks, names of axes, and texts that do not lie over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .parts import MUTED, Axis
from .scene import Line, Scene, Text, shortened, text_width
from .ticks import date_ticks, number_ticks

__all__ = [
    "BAR",
    "FAINT",
    "HAIR",
    "LINE",
    "SMALL",
    "TOP",
    "Place",
    "below",
    "dodged",
    "left_of",
    "marks_of",
    "place_of",
    "positions_of",
]

FAINT, HAIR, BAR = "#8a8f98", "#d8dce0", "#c9ced6"
TOP, LINE = 14, 17
SMALL = 11.0


@dataclass(frozen=True)
class Place:
    """An axis laid along some pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: np.ndarray | float) -> np.ndarray:
        """Return where values stand, in pixels."""
        span = self.high - self.low or 1.0
        return self.start + (np.asarray(values, dtype=float) - self.low) / span * (self.end - self.start)


def positions_of(axis: Axis) -> np.ndarray:
    """Return where the values of an axis stand on it; levels have 0, 1, 2, ..."""
    if axis.kind == "category":
        return np.arange(len(axis.values), dtype=float)
    return axis.values.astype("datetime64[ms]").astype(float) if axis.kind == "datetime" else axis.values.astype(float)


def place_of(axis: Axis, start: float, end: float, also: np.ndarray | None = None) -> Place:
    """Return an axis from the first to the last of its values, or of others that are to be seen, too."""
    if axis.kind == "category":
        return Place(-0.5, max(len(axis.values), 1) - 0.5, start, end)
    values = positions_of(axis)
    values = values if also is None else np.concatenate([values, also])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return Place(low, high, start, end)


def marks_of(axis: Axis, place: Place, each: float = 48.0) -> list[tuple[float, str]]:
    """Return what is marked along an axis, numbers and dates every so many pixels."""
    room = abs(place.end - place.start)
    if axis.kind == "category":
        step = room / max(len(axis.values), 1)
        every = int(np.ceil(16 / max(step, 1)))
        return [(float(k), str(axis.values[k])) for k in range(0, len(axis.values), every)]
    if axis.kind == "datetime":
        return date_ticks(place.low, place.high, max(3, min(int(room / 80), 8)))
    most = max(4, min(int(room / each), 10))
    return number_ticks(place.low, place.high, most, whole=axis.whole)


def below(scene: Scene, axis: Axis, place: Place, y: float, bottom: float, missing: float | None = None) -> None:
    """Draw an axis at the bottom, its name above ``bottom``, and where a missing value stands, in pixels."""
    scene.shapes.append(Line(np.array([[place.start, y], [place.end, y]]), FAINT))
    marks = marks_of(axis, place)
    room = abs(place.end - place.start) / max(len(marks), 1)
    turned = axis.kind == "category" and any(text_width(text, SMALL) > room - 4 for _, text in marks)
    free = -np.inf
    if missing is not None:
        scene.shapes.append(Text(missing, y + 17, "missing", SMALL, "middle", colour=MUTED))
        free = missing + text_width("missing", SMALL) / 2 + 4
    for value, text in marks:
        x = float(place(value))
        scene.shapes.append(Line(np.array([[x, y], [x, y + 4]]), FAINT))
        if turned:
            scene.shapes.append(
                Text(x + 4, y + 8, shortened(text, 62, SMALL), SMALL, "end", colour=MUTED, upwards=True)
            )
        elif x - text_width(text, SMALL) / 2 > free:
            scene.shapes.append(Text(x, y + 17, text, SMALL, "middle", colour=MUTED))
    middle = (place.start + place.end) / 2
    scene.shapes.append(Text(middle, bottom - 8, shortened(axis.label, place.end - place.start), anchor="middle"))


def left_of(scene: Scene, marks: Sequence[tuple[float, str]], label: str, place: Place, x: float, right: float) -> None:
    """Draw the axis on the left, with hairlines to the right."""
    for value, text in marks:
        y = float(place(value))
        if right > x:
            scene.shapes.append(Line(np.array([[x, y], [right, y]]), HAIR))
        scene.shapes.append(
            Text(x - 6, y + 4, shortened(text, x - (26 if label else 8), SMALL), SMALL, "end", colour=MUTED)
        )
    if not label:
        return
    middle = (place.start + place.end) / 2
    room = abs(place.start - place.end)
    scene.shapes.append(Text(14, middle, shortened(label, room), anchor="middle", upwards=True))


def dodged(wanted: Sequence[float], height: float, top: float, bottom: float) -> list[float]:
    """Return places near those that are wanted, ``height`` apart from each other.

    Examples
    --------
    >>> dodged([10.0, 12.0, 50.0], 10.0, 0.0, 100.0)
    [10.0, 20.0, 50.0]
    """
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    placed = [0.0] * len(wanted)
    floor = top
    for k in order:
        placed[k] = max(wanted[k], floor)
        floor = placed[k] + height
    ceiling = bottom
    for k in reversed(order):
        placed[k] = min(placed[k], ceiling)
        ceiling = placed[k] - height
    return placed
