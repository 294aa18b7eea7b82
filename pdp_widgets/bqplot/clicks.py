"""Clicked bars on one side, the widget's focus, pair or selection on the other.

Neither side answers an echo: what is marked already changes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pdp_widgets.figures.parts import SELECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdp_widgets.widget import PDPWidget


class Clicks(ABC):
    """Bars that are clicked, of which those are marked that stand for what the widget shows.

    Parameters
    ----------
    widget : PDPWidget
    mark : bqplot.Bars
    things : sequence
        Per bar what it is of.
    """

    selector = None
    trait: ClassVar[str]
    """What of the widget says which bars are marked."""

    def __init__(self, widget: PDPWidget, mark: Any, things: Sequence[Any]) -> None:
        self.widget, self.mark, self.things = widget, mark, things
        self._before = {name: getattr(mark, name) for name in ("interactions", "selected_style")}
        mark.interactions = {**mark.interactions, "click": "select"}
        mark.selected_style = mark.selected_style or {"fill": SELECTED}
        self._own = False
        self._widget_changed()
        mark.observe(self._clicked, ["selected"])
        widget.observe(self._widget_changed, [self.trait])

    def unlink(self) -> None:
        """Make the bars what they were."""
        self.widget.unobserve(self._widget_changed, [self.trait])
        self.mark.unobserve(self._clicked, ["selected"])
        self.mark.selected = None
        for name, value in self._before.items():
            setattr(self.mark, name, value)

    @abstractmethod
    def shown(self) -> list[int]:
        """Return the bars that stand for what the widget shows."""

    @abstractmethod
    def show(self, thing: Any) -> None:
        """Have the widget show what a bar stands for, if it can."""

    def clear(self) -> None:  # noqa: B027 - most are always about something
        """Have the widget show what no bar stands for: the bar was clicked that was marked already."""

    def _clicked(self, _: Any) -> None:
        if self._own:
            return
        before = self.shown()
        clicked = [k for k in self._marked if k not in before]
        if clicked:
            self.show(self.things[clicked[-1]])
        elif before and not self._marked:
            self.clear()
        self._widget_changed()  # a click that changes nothing does not move the mark

    @property
    def _marked(self) -> list[int]:
        selected = self.mark.selected
        return [] if selected is None else np.asarray(selected, dtype=int).ravel().tolist()

    def _widget_changed(self, _: Any = None) -> None:
        shown = self.shown()
        if shown != self._marked:
            self._own = True
            try:
                self.mark.selected = shown or None
            finally:
                self._own = False


class FeatureClicks(Clicks):
    """Bars of features: the focus."""

    trait = "feature"

    def shown(self) -> list[int]:
        """Return the bars of the feature in focus."""
        return [k for k, name in enumerate(self.things) if name == self.widget.feature]

    def show(self, thing: Any) -> None:
        """Move the focus."""
        if thing in self.widget.explainer.features:
            self.widget.feature = thing


class PairClicks(Clicks):
    """Bars of pairs: the pair whose surface is shown."""

    trait = "pair"

    def shown(self) -> list[int]:
        """Return the bar of the chosen pair."""
        return [k for k, pair in enumerate(self.things) if set(pair) == set(self.widget.pair)]

    def show(self, thing: Any) -> None:
        """Choose the pair, and move the focus to it."""
        if all(name in self.widget.explainer.features for name in thing):
            self.widget.pair = tuple(thing)

    def clear(self) -> None:
        """Leave the pair to the widget."""
        self.widget.pair = ()


class RuleClicks(Clicks):
    """Bars of rules: the selection."""

    trait = "selection"

    def __init__(self, widget: PDPWidget, mark: Any, things: Sequence[Any]) -> None:
        table = widget.explainer.table
        self._masks = [None if node is None else node.mask(table) for node in things]
        super().__init__(widget, mark, things)

    def shown(self) -> list[int]:
        """Return the bars of rules that hold for just the selected rows."""
        selection = self.widget.selection
        return [
            k
            for k, mask in enumerate(self._masks)
            if selection and mask is not None and np.array_equal(mask, selection.mask)
        ]

    def show(self, thing: Any) -> None:
        """Select the rows that the rule holds for; a number holds for none in particular."""
        if thing is not None:
            self.widget.select(thing)

    def clear(self) -> None:
        """Select nothing."""
        self.widget.clear()
