"""A brush or clicked points on one side, the widget's selection on the other.

Neither side answers an echo: what stands for the rows that are selected already changes nothing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.figures.parts import SELECTED, axis_of
from pdp_widgets.inputs.conditions import Range, conjunction
from pdp_widgets.inputs.folding import feature_of
from pdp_widgets.widget.selection import from_wire

from .drawing import library

if TYPE_CHECKING:
    from pdp_widgets.inputs.conditions import Node
    from pdp_widgets.widget import PDPWidget

_EACH = 0.1
"""Seconds between two selections while a brush is dragged."""

_SERIAL = itertools.count()


class Condition:
    """What the widget's selection says of one feature.

    Parameters
    ----------
    widget : PDPWidget
    feature : str
    """

    def __init__(self, widget: PDPWidget, feature: str) -> None:
        self.widget, self.feature = widget, feature
        self.grid = widget.explainer.grid(feature)
        self._own = False

    @property
    def parts(self) -> list[Node]:
        """The parts of the selection that are about the feature alone."""
        return [part for part in self.widget.selection.conditions if feature_of(part) == self.feature]

    def mask(self, node: Node | None) -> np.ndarray:
        """(n,) bool: the rows that a condition holds for; all without one."""
        table = self.widget.explainer.table
        return np.ones(table.n_rows, dtype=bool) if node is None else node.mask(table)

    @property
    def rows(self) -> np.ndarray:
        """(n,) bool: the rows that the selection allows as far as this feature is concerned."""
        parts = self.parts
        return self.mask(conjunction(parts) if parts else None)

    def select(self, node: Node | None, gesture: str | None) -> None:
        """Put a condition in the place of what the selection says of the feature; None takes it away."""
        if np.array_equal(self.mask(node), self.rows):
            return
        if node is None:
            rest = [part for part in self.widget.selection.conditions if feature_of(part) != self.feature]
            self.widget.select(conjunction(rest) if rest else None)
            return
        self.widget.brush(node, gesture=gesture)

    @contextmanager
    def own(self) -> Iterator[None]:
        """Change the figure without hearing of it."""
        self._own = True
        try:
            yield
        finally:
            self._own = False

    @property
    def deaf(self) -> bool:
        """Whether the figure changes by our own hand."""
        return self._own


class Brush:
    """An interval on a number or date axis.

    Parameters
    ----------
    widget : PDPWidget
    figure : bqplot.Figure
    feature : str
    mark : bqplot mark
        Over whose scale "x" is brushed.
    unit : float
        What 1 on the axis is in the unit of the grid's positions.
    """

    def __init__(self, widget: PDPWidget, figure: Any, feature: str, mark: Any, unit: float) -> None:
        self.condition, self.figure, self.mark, self.unit = Condition(widget, feature), figure, mark, unit
        self.selector = library().interacts.BrushIntervalSelector(scale=mark.scales["x"], color=SELECTED)
        self._before, figure.interaction = figure.interaction, self.selector
        self._gesture = ""
        self._last = 0.0
        self._selection_changed()
        self.selector.observe(self._brushed, ["selected", "brushing"])
        widget.observe(self._selection_changed, ["selection"])

    def unlink(self) -> None:
        """Take the brush off the figure."""
        self.condition.widget.unobserve(self._selection_changed, ["selection"])
        self.selector.unobserve(self._brushed, ["selected", "brushing"])
        if self.figure.interaction is self.selector:
            self.figure.interaction = self._before

    def _brushed(self, change: Any) -> None:
        if self.condition.deaf:
            return
        if change["name"] == "brushing" and change["new"]:
            self._gesture = f"bqplot{next(_SERIAL)}"
        if self.selector.brushing and time.monotonic() - self._last < _EACH:
            return
        self.condition.select(self._node, self._gesture or None)
        self._last = time.monotonic()
        if not self.selector.brushing:
            self._gesture = ""

    def _selection_changed(self, _: Any = None) -> None:
        if self.selector.brushing or np.array_equal(self.condition.mask(self._node), self.condition.rows):
            return
        with self.condition.own():
            self.selector.selected = self._interval()

    @property
    def _node(self) -> Node | None:
        """The condition that the brush stands for; None where it leaves nothing out."""
        selected = self.selector.selected
        if selected is None or len(selected) != 2:
            return None
        low, high = sorted(self._positions(np.asarray(selected)).tolist())
        first, last = self._ends
        feature, grid = self.condition.feature, self.condition.grid
        if low <= first and high >= last:
            return None
        open_low, open_high = None if low <= first else low, None if high >= last else high
        exact = Range(feature, open_low, open_high, kind=grid.text_kind)
        # Bounds that read well serve where they are about the same rows.
        short = from_wire({"type": "range", "feature": feature, "low": open_low, "high": open_high}, grid)
        return short if np.array_equal(self.condition.mask(short), self.condition.mask(exact)) else exact

    def _interval(self) -> np.ndarray | None:
        """Return where the brush belongs; None where the selection is no interval of the feature."""
        parts = self.condition.parts
        if len(parts) != 1 or not isinstance(parts[0], Range) or parts[0].missing:
            return None
        first, last = self._ends
        low = first if parts[0].low is None else max(first, parts[0].low)
        high = last if parts[0].high is None else min(last, parts[0].high)
        if low > high:
            return None
        if self.condition.grid.kind == "datetime":
            return np.round([low, high]).astype("datetime64[ms]")
        return np.array([low, high]) / self.unit

    @property
    def _ends(self) -> tuple[float, float]:
        """Where the axis begins and ends: as its scale says, else with the data."""
        scale = self.mark.scales["x"]
        x = np.asarray(self.mark.x).ravel()
        ends = np.array(
            [end if end is not None else data for end, data in ((scale.min, x.min()), (scale.max, x.max()))]
        )
        return tuple(self._positions(ends).tolist())

    def _positions(self, values: np.ndarray) -> np.ndarray:
        """Return places on the axis in the unit of the grid."""
        if self.condition.grid.kind == "datetime":
            return values.astype("datetime64[ms]").astype(float)
        return values.astype(float) * self.unit


class Points:
    """The levels of a category, clicked one by one.

    Parameters
    ----------
    widget : PDPWidget
    feature : str
    mark : bqplot mark
        With one point or bar per level.
    """

    selector = None

    def __init__(self, widget: PDPWidget, feature: str, mark: Any) -> None:
        self.condition, self.mark = Condition(widget, feature), mark
        axis, points = axis_of(self.condition.grid)
        known = {str(label): int(k) for label, k in zip(axis.values, points, strict=True)}
        self._levels = [known.get(str(label)) for label in np.asarray(mark.x).ravel()]
        """Per point its index in the grid, None where it is no level there."""
        self._before = {name: getattr(mark, name) for name in ("interactions", "selected_style", "unselected_style")}
        mark.interactions = {**mark.interactions, "click": "select"}
        mark.selected_style = mark.selected_style or {"stroke": SELECTED, "stroke-width": "3px"}
        mark.unselected_style = mark.unselected_style or {"opacity": "0.35"}
        self._selection_changed()
        mark.observe(self._clicked, ["selected"])
        widget.observe(self._selection_changed, ["selection"])

    def unlink(self) -> None:
        """Make the points what they were."""
        self.condition.widget.unobserve(self._selection_changed, ["selection"])
        self.mark.unobserve(self._clicked, ["selected"])
        self.mark.selected = None
        for name, value in self._before.items():
            setattr(self.mark, name, value)

    def _clicked(self, _: Any) -> None:
        if not self.condition.deaf:
            self.condition.select(self._node, None)

    def _selection_changed(self, _: Any = None) -> None:
        rows = self.condition.rows
        if np.array_equal(self.condition.mask(self._node), rows):
            return
        found = []
        if self.condition.parts:
            nearest = self.condition.grid.nearest
            inside = {k: nearest == k for k in self._levels if k is not None}
            found = [at for at, k in enumerate(self._levels) if k is not None and rows[inside[k]].all()]
        with self.condition.own():
            self.mark.selected = found or None

    @property
    def _node(self) -> Node | None:
        selected = self.mark.selected
        levels = [] if selected is None else [self._levels[k] for k in np.asarray(selected, dtype=int).ravel()]
        known = sorted({k for k in levels if k is not None})
        if not known:
            return None
        return from_wire({"type": "levels", "feature": self.condition.feature, "levels": known}, self.condition.grid)
