"""Scene: shapes at places in pixels, and the same as SVG text.

What can be drawn without a browser and without a drawing library. ``still.py`` lays figures out as scenes, ``png.py`` paints them.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

__all__ = ["Area", "Box", "Layer", "Line", "Scene", "Shape", "Text", "shortened", "text_width"]

_FONT = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
_WIDTHS = (("ijlI|'", 0.29), (".,:;! ", 0.33), ("ftr()[]-", 0.4), ("mw@%MW—", 0.92), ("≈=<>+−×", 0.84), ("_", 0.5))
# What XML 1.0 cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Line:
    """A polyline; NaN interrupts it."""

    points: np.ndarray
    """(m, 2)"""
    colour: str
    width: float = 1.0
    opacity: float = 1.0
    dashed: bool = False

    @property
    def runs(self) -> list[np.ndarray]:
        """Return the unbroken parts of two or more points."""
        whole = np.isfinite(self.points).all(axis=1)
        parts = np.split(np.arange(len(whole)), np.flatnonzero(np.diff(whole)) + 1)
        return [self.points[part] for part in parts if len(part) > 1 and whole[part[0]]]


@dataclass(frozen=True)
class Area:
    """A filled polygon."""

    points: np.ndarray
    """(m, 2), finite."""
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Text:
    """One line of text; ``y`` is its baseline."""

    x: float
    y: float
    text: str
    size: float = 12.0
    anchor: Literal["start", "middle", "end"] = "start"
    colour: str = "#1f2328"
    bold: bool = False
    upwards: bool = False
    """Whether it reads from bottom to top."""
    halo: bool = False
    """Whether paper shows around its letters, where lines lie below."""


@dataclass(frozen=True)
class Layer:
    """Lines that are as pale together as they would be alone: where many lie over each other, too."""

    shapes: tuple[Line, ...]
    opacity: float


Shape = Line | Area | Box | Text | Layer


@dataclass(frozen=True)
class Scene:
    """Shapes on white paper, the first at the bottom."""

    width: int
    height: int
    title: str
    """What is shown, for those who cannot see it."""
    shapes: list[Shape] = field(default_factory=list)

    def to_svg(self) -> str:
        """Return the scene as an SVG document; texts are data and never become markup."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{_FONT}">',
            f"<title>{_escaped(self.title)}</title>",
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>',
            *map(_svg, self.shapes),
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def text_width(text: str, size: float = 12.0) -> float:
    """Return roughly how wide a text is, in pixels."""
    return size * sum(map(_letter, text))


def _letter(letter: str) -> float:
    """Return how wide a letter is in common fonts without serifs, in units of their size; of the wider of these."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    for letters, width in _WIDTHS:
        if letter in letters:
            return width
    return 0.7 if letter.isupper() else 0.61


def shortened(text: str, width: float, size: float = 12.0) -> str:
    """Return a text on one line, with an ellipsis where it is wider than there is room."""
    text = " ".join(text.split())
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _svg(shape: Shape) -> str:
    if isinstance(shape, Box):
        place = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" height="{_n(shape.height)}"'
        return f'<rect {place} fill="{shape.colour}"{_opacity("fill", shape.opacity)}/>'
    if isinstance(shape, Area):
        return f'<path d="{_path(shape.points)}Z" fill="{shape.colour}"{_opacity("fill", shape.opacity)}/>'
    if isinstance(shape, Line):
        dash = ' stroke-dasharray="5 3"' if shape.dashed else ""
        look = f'stroke="{shape.colour}" stroke-width="{_n(shape.width)}"{_opacity("stroke", shape.opacity)}{dash}'
        return f'<path d="{"".join(map(_path, shape.runs))}" fill="none" stroke-linejoin="round" {look}/>'
    if isinstance(shape, Layer):
        return "\n".join([f"<g{_opacity('', shape.opacity)}>", *map(_svg, shape.shapes), "</g>"])
    turned = f' transform="rotate(-90 {_n(shape.x)} {_n(shape.y)})"' if shape.upwards else ""
    bold = ' font-weight="600"' if shape.bold else ""
    halo = ' stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if shape.halo else ""
    look = f'font-size="{_n(shape.size)}" text-anchor="{shape.anchor}" fill="{shape.colour}"{bold}{halo}{turned}'
    return f'<text x="{_n(shape.x)}" y="{_n(shape.y)}" {look}>{_escaped(shape.text)}</text>'


def _path(points: np.ndarray) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points.tolist())


def _n(value: float) -> str:
    """Return a coordinate to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0") if math.isfinite(value) else "0"


def _opacity(what: str, value: float) -> str:
    return "" if value >= 1 else f' {what}{"-" if what else ""}opacity="{value:g}"'


def _escaped(text: str) -> str:
    return html.escape(_UNWRITABLE.sub("\ufffd", text))
