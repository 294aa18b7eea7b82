"""Figures that follow changing results, and leave alone what the user made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import Drawn, made, remember
from .plan import Part, Plan, plan

if TYPE_CHECKING:
    from pdp_widgets.figures import Figure


class Live:
    """The marks, scales and axes of a figure.

    Parameters
    ----------
    figure : bqplot.Figure
    drawn : Drawn
        What it was made of.
    """

    def __init__(self, figure: Any, drawn: Drawn) -> None:
        self.figure, self.content, self.marks = figure, drawn.content, dict(drawn.marks)
        self._plan, self._scales, self._axes = drawn.plan, dict(drawn.scales), dict(drawn.axes)
        self._source = drawn.source

    def show(self, content: Figure) -> None:
        """Show something else, in the same marks as far as there are such."""
        before, now = self._plan, plan(content)
        mine, my_axes = list(self.marks.values()), list(self._axes.values())
        others = [mark for mark in self.figure.marks if mark not in mine]
        marks: dict[str, Any] = {}
        if _kinds(before.scales) == _kinds(now.scales):
            for name, part in now.scales.items():
                _follow(self._scales[name], before.scales[name], part)
            for name, part in now.axes.items():
                _follow(self._axes[name], before.axes[name], part)
            marks = {name: self.marks[name] for name in now.marks if self._fits(name, now)}
        else:
            foreign = [axis for axis in self.figure.axes if axis not in my_axes]
            self._scales = {name: made(part) for name, part in now.scales.items()}
            self._axes = {name: made(part, self._scales) for name, part in now.axes.items()}
            self.figure.axes = [*self._axes.values(), *foreign]
        shown = {}
        for name, part in now.marks.items():
            if name in marks:
                _set(marks[name], part.data)
            shown[name] = marks[name] if name in marks else made(part, self._scales)
        if list(self.figure.marks) != (all_marks := [*shown.values(), *others]):
            self.figure.marks = all_marks
        for mark in mine:
            if mark not in shown.values():
                mark.close()
        _follow(self.figure, before.figure, now.figure)
        self.marks, self.content, self._plan = shown, content, now
        remember(self.figure, Drawn(content, now, self._scales, shown, self._axes, self._source))

    def _fits(self, name: str, now: Plan) -> bool:
        """Whether a mark that is there can show what is wanted of the one of this name."""
        part = self._plan.marks.get(name)
        return part is not None and (part.kind, part.scales) == (now.marks[name].kind, now.marks[name].scales)


def _kinds(parts: dict[str, Part]) -> dict[str, str]:
    return {name: part.kind for name, part in parts.items()}


def _follow(widget: Any, before: Part, now: Part) -> None:
    """Bring a scale, an axis or the figure up to date, but for what the user has set."""
    _set(
        widget, {name: value for name, value in now.data.items() if _same(getattr(widget, name), before.data.get(name))}
    )


def _set(widget: Any, data: dict[str, Any]) -> None:
    with widget.hold_sync():
        for name, value in data.items():
            if not _same(getattr(widget, name), value):
                setattr(widget, name, value)


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) and not isinstance(other, np.ndarray):
        return bool(one == other)
    numbers = all(isinstance(array, np.ndarray) and array.dtype.kind == "f" for array in (one, other))
    return bool(np.array_equal(one, other, equal_nan=numbers))
