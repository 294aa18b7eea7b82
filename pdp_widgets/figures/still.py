"""Figures as scenes: axes, curves, bars and surfaces laid out in pixels, without a drawing library.

The third way to draw what ``describe`` describes, beside bqplot and matplotlib; the widget's still pictures are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .frame import FAINT, LINE, SMALL, TOP, Place, below
from .parts import INK, MUTED, NEGATIVE, POSITIVE, Axis, Bars, Curves, Spread, Surface
from .scene import Box, Line, Scene, Text, shortened, text_width
from .still_curves import draw_curves
from .still_surface import draw_surface

__all__ = ["still"]


def still(
    figure: Curves | Bars | Surface,
    *,
    notes: Sequence[str] = (),
    spread: Spread | None = None,
    size: tuple[int, int] = (640, 400),
) -> Scene:
    """Return a figure as a scene.

    Parameters
    ----------
    figure : Curves, Bars or Surface
    notes : sequence of str
        Lines below the title: rows, scale, subgroup.
    spread : Spread, optional
        How the rows spread over the axis of curves.
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
        height = TOP + LINE * (len(notes) + 1) + 22 * max(len(figure.names), 1) + 52
    scene = Scene(width, height, ". ".join([figure.title, *notes]))
    scene.shapes.append(Text(TOP, TOP + 6, shortened(figure.title, width - 28, 14.0), 14.0, bold=True))
    for k, note in enumerate(notes):
        scene.shapes.append(
            Text(TOP, TOP + 6 + LINE * (k + 1), shortened(note, width - 28, SMALL), SMALL, colour=MUTED)
        )
    top = TOP + 6 + LINE * (len(notes) + 1)
    if isinstance(figure, Bars):
        _bars(scene, figure, top)
    elif isinstance(figure, Curves):
        draw_curves(scene, figure, top, spread)
    else:
        draw_surface(scene, figure, top)
    return scene


def _bars(scene: Scene, figure: Bars, top: float) -> None:
    room = scene.width * 0.42
    left = min(room, max((text_width(name) for name in figure.names), default=20.0)) + 24
    bottom = scene.height - 46
    whiskers = np.zeros(len(figure.values)) if figure.stderr is None else np.nan_to_num(figure.stderr)
    ends = np.concatenate([figure.values - whiskers, figure.values + whiskers, [0.0]])
    ends = ends[np.isfinite(ends)]
    low, high = float(ends.min()), float(ends.max())
    along = Place(low, high if high > low else low + 1, left, scene.width - 24)
    zero = float(along(0.0))
    below(scene, Axis(figure.label, "number", np.array([along.low, along.high])), along, bottom, scene.height)
    for k, (name, value, whisker) in enumerate(zip(figure.names, figure.values, whiskers, strict=True)):
        y = top + 22 * k
        scene.shapes.append(Text(left - 8, y + 14, shortened(name, left - 20), anchor="end"))
        if not np.isfinite(value):
            scene.shapes.append(Text(left + 4, y + 14, "not computed", SMALL, colour=FAINT))
            continue
        end = float(along(value))
        scene.shapes.append(
            Box(min(zero, end), y + 3, max(abs(end - zero), 1), 15, POSITIVE if value >= 0 else NEGATIVE)
        )
        if whisker > 0:
            span = along(np.array([value - whisker, value + whisker]))
            scene.shapes.append(Line(np.column_stack([span, [y + 10.5] * 2]), INK, 1.2))
    scene.shapes.append(Line(np.array([[zero, top], [zero, bottom]]), FAINT))
