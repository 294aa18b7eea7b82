"""Marks of curves that follow changing results, and leave alone what the user made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdp_widgets.figures import Curves

from .drawing import Drawn, Mark, curve_axes, curve_marks, made

_CHANGING = ("labels", "display_legend", "opacities")
"""Looks that belong to the numbers: the rest is the user's from the first drawing on."""


class Live:
    """The curves of a figure.

    Parameters
    ----------
    figure : bqplot.Figure
    drawn : Drawn
        What it was made of: curves.
    """

    def __init__(self, figure: Any, drawn: Drawn) -> None:
        assert isinstance(drawn.content, Curves)
        self.figure, self.content, self.marks = figure, drawn.content, dict(drawn.marks)
        self._axes = list(figure.axes[:2])

    def show(self, content: Curves) -> None:
        """Show other curves, in the same marks as far as there are such."""
        before = self.content
        old, others = self.marks, [mark for mark in self.figure.marks if mark not in self.marks.values()]
        if content.x.kind == before.x.kind:
            scales = old["curve 0"].scales
            self._relabel(content)
        else:
            scales, axes = curve_axes(content)
            foreign = [axis for axis in self.figure.axes if axis not in self._axes]
            self.figure.axes, self._axes, old = [*axes, *foreign], axes, {}
        marks = {name: _updated(old.get(name), mark, scales) for name, mark in curve_marks(content).items()}
        if list(self.figure.marks) != (shown := [*marks.values(), *others]):
            self.figure.marks = shown
        for mark in self.marks.values():
            if mark not in marks.values():
                mark.close()
        if self.figure.title == before.title:
            self.figure.title = content.title
        self.marks, self.content = marks, content

    def _relabel(self, content: Curves) -> None:
        x, y = self._axes
        for axis, old, new in ((x, self.content.x.label, content.x.label), (y, self.content.label, content.label)):
            if axis.label == old:
                axis.label = new
        if content.x.kind == "category":
            x.scale.domain = content.x.values.tolist()


def _updated(mark: Any, wanted: Mark, scales: dict[str, Any]) -> Any:
    """Return a mark that shows what is wanted: the one that is there, or a new one."""
    if mark is None:
        return made(wanted, scales)
    looks = {name: value for name, value in wanted.style.items() if name in _CHANGING}
    with mark.hold_sync():
        for name, value in wanted.data.items():
            if not np.array_equal(getattr(mark, name), value):
                setattr(mark, name, value)
        for name, value in looks.items():
            if getattr(mark, name) != value:
                setattr(mark, name, value)
    return mark
