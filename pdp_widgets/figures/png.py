"""Scenes as PNG, painted with Pillow: for viewers that show no SVG, GitHub among them."""

from __future__ import annotations

import importlib.util
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .scene import Area, Box, Layer, Line, Text

if TYPE_CHECKING:
    from .scene import Scene

__all__ = ["can_paint", "require_painter", "to_png"]

_FINER = 2  # painted so many times larger and then reduced, which makes edges smooth
_DASH, _GAP = 5.0, 3.0


def can_paint() -> bool:
    """Whether Pillow is there."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        return False
    return True


def require_painter() -> None:
    """Make sure that Pillow is there.

    Raises
    ------
    ImportError
        With how to get it.
    """
    if not can_paint():
        raise ImportError(
            'a PNG needs Pillow, which is not installed: python -m pip install "pdp_widgets[plot]" or pillow alone; an SVG needs nothing'
        )


def to_png(scene: Scene, scale: int = 2) -> bytes:
    """Return the scene as a PNG file.

    Parameters
    ----------
    scene : Scene
    scale : int
        Pixels of the file per pixel of the scene.

    Raises
    ------
    ImportError
        Without Pillow.
    """
    require_painter()
    from PIL import Image, ImageDraw

    fine = scale * _FINER
    image = Image.new("RGB", (scene.width * fine, scene.height * fine), "white")
    for shape in scene.shapes:
        if isinstance(shape, Layer):
            above = image.copy()
            for line in shape.shapes:
                _paint(ImageDraw.Draw(above, "RGBA"), line, fine)
            image = Image.blend(image, above, shape.opacity)
        elif not isinstance(shape, Text):
            _paint(ImageDraw.Draw(image, "RGBA"), shape, fine)
    image = image.reduce(_FINER)
    for shape in scene.shapes:
        if isinstance(shape, Text):
            _write(image, shape, scale)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _paint(draw: Any, shape: Box | Area | Line, fine: int) -> None:
    if isinstance(shape, Box):
        right, bottom = shape.x + shape.width, shape.y + shape.height
        corners = [round(v * fine) for v in (shape.x, shape.y, right, bottom)]
        if corners[2] > corners[0] and corners[3] > corners[1]:
            draw.rectangle([*corners[:2], corners[2] - 1, corners[3] - 1], fill=_colour(shape.colour, shape.opacity))
    elif isinstance(shape, Area):
        draw.polygon(_pixels(shape.points, fine), fill=_colour(shape.colour, shape.opacity))
    else:
        for run in shape.runs:
            for part in _dashes(run) if shape.dashed else [run]:
                width = max(1, round(shape.width * fine))
                draw.line(_pixels(part, fine), _colour(shape.colour, shape.opacity), width, joint="curve")


def _write(image: Any, text: Text, scale: int) -> None:
    from PIL import Image, ImageDraw

    font, weight = _font(text.size * scale, text.bold)
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
    if not text.upwards:
        draw = ImageDraw.Draw(image)
        place = (text.x * scale, text.y * scale)
        if text.halo:
            draw.text(place, text.text, "white", font, anchor=anchor, stroke_width=2 * scale)
        draw.text(place, text.text, text.colour, font, anchor=anchor, stroke_width=weight)
        return
    # Written on a strip of its own, which is turned and laid over.
    length, high = int(font.getlength(text.text)) + 4, int(2 * text.size * scale)
    strip = Image.new("L", (length, high), 0)
    ImageDraw.Draw(strip).text((2, high * 0.7), text.text, 255, font, anchor="ls", stroke_width=weight)
    turned = strip.rotate(90, expand=True)
    below = {"start": 0.0, "middle": length / 2, "end": float(length)}[text.anchor]
    place = (round(text.x * scale - high * 0.7), round(text.y * scale + below - length))
    image.paste(Image.new("RGB", turned.size, text.colour), place, turned)


@cache
def _font(size: float, bold: bool) -> tuple[Any, int]:
    """Return matplotlib's font where that is installed, which knows more letters than Pillow's own, and how much bolder to write with it."""
    from PIL import ImageFont

    found = importlib.util.find_spec("matplotlib")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder, "mpl-data", "fonts", "ttf", f"DejaVuSans{'-Bold' * bold}.ttf")
        if path.is_file():
            return ImageFont.truetype(str(path), round(size * (0.94 if bold else 1.0))), 0
    return ImageFont.load_default(round(size)), int(bold)


def _pixels(points: np.ndarray, fine: int) -> list[tuple[float, float]]:
    return [(x, y) for x, y in (points * fine).tolist()]


def _colour(colour: str, opacity: float) -> tuple[int, int, int, int]:
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return r, g, b, round(255 * opacity)


def _dashes(run: np.ndarray) -> list[np.ndarray]:
    """Return the dashes of a line."""
    steps = np.hypot(*np.diff(run, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    keep = np.concatenate([[True], steps > 0])
    along, run = along[keep], run[keep]
    out = []
    for start in np.arange(0.0, along[-1], _DASH + _GAP):
        end = min(start + _DASH, along[-1])
        inner = run[(along > start) & (along < end)]
        ends = [[np.interp(s, along, run[:, 0]), np.interp(s, along, run[:, 1])] for s in (start, end)]
        out.append(np.vstack([ends[:1], inner, ends[1:]]))
    return out
