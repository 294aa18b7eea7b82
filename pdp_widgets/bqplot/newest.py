"""What a linked figure should show by now: the widget's newest results, drawn as the figure was drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.figures import Bars, Curves, Surface, describe
from pdp_widgets.figures.effects import sides
from pdp_widgets.inputs import InputError

from .drawing import FOLLOWED, progress

if TYPE_CHECKING:
    from pdp_widgets.figures import Figure
    from pdp_widgets.widget import PDPWidget

    from .drawing import Drawn, Source

__all__ = ["Newest", "newest_of"]


class Newest(ABC):
    """The widget's newest results for one figure."""

    traits: list[str]
    """What changes of the widget when there is something newer."""

    @abstractmethod
    def content(self, shown: Figure) -> Figure | None:
        """Return what the figure should show instead of what it shows; None for nothing newer."""


def newest_of(widget: PDPWidget, drawn: Drawn, *, ice: bool | int, whatever: bool) -> Newest | None:
    """Return where a figure's newer results come from; None for a figure that does not follow.

    Parameters
    ----------
    widget : PDPWidget
    drawn : Drawn
        What the figure was made of.
    ice : bool or int
        Lines of single rows in curves.
    whatever : bool
        Show what the widget shows, instead of more of the same.
    """
    content, source = drawn.content, drawn.source
    if isinstance(content, Curves):
        if not content.live:
            return None
        if whatever or content.feature == widget.feature:
            return _FocusedCurves(widget, ice)
        known = source is not None and source.subgroup is None and content.feature in widget.explainer.features
        return _PinnedCurves(widget, ice, content.feature, source) if known and source is not None else None
    panel = None if source is None else FOLLOWED[source.kind]
    if panel is None or source is None or (source.subgroup is not None and not whatever):
        return None
    if whatever:
        widget.compute(panel)
    return _OfPanel(widget, panel, source, content, whatever=whatever)


class _FocusedCurves(Newest):
    """The feature in focus: all rows, the selected ones, the rest."""

    def __init__(self, widget: PDPWidget, ice: bool | int) -> None:
        self.widget, self.ice = widget, ice
        self.traits = ["_curve", "_ice", "_split", "feature", "output", "show_ice"]

    def content(self, shown: Figure) -> Figure | None:  # noqa: ARG002
        return sides(self.widget.results, ice=self.ice if self.widget.show_ice else False)


class _PinnedCurves(Newest):
    """One feature, whatever is in focus."""

    def __init__(self, widget: PDPWidget, ice: bool | int, feature: str, source: Source) -> None:
        self.widget, self.ice, self.feature = widget, ice, feature
        self.traits = ["_overview", "_curve", "selection", "output", "show_ice"]
        self._rows, self._output = source.progress[0], source.options.get("output")

    def content(self, shown: Figure) -> Figure | None:  # noqa: ARG002
        results = self.widget.results_of(self.feature)
        if "all" not in results or not _same_output(self.widget, self._output):
            return None
        rows = progress(results["all"])[0]
        if rows == 0 or rows < self._rows:
            return None
        self._rows = rows
        return sides(results, ice=self.ice if self.widget.show_ice else False)


class _OfPanel(Newest):
    """What a panel has found: importance, interactions, the surface of a pair, rules."""

    def __init__(self, widget: PDPWidget, panel: str, source: Source, content: Figure, *, whatever: bool) -> None:
        self.widget, self.panel, self.source = widget, panel, source
        self.traits = [f"_{panel}", "output", "pair", "feature"]
        self._ours = whatever
        """Whether the figure shows what the widget found, rather than something of its own that may be better."""
        self._progress = (0, 0) if whatever else source.progress
        now = widget.results.get(panel)
        alike = panel != "heatmap" or (isinstance(content, Surface) and now is not None and _pair(now) == _pair(source))
        self._pinned = None if whatever or alike else _pair(source)

    def content(self, shown: Figure) -> Figure | None:
        result = self.widget.results.get(self.panel)
        if result is None or not _same_output(self.widget, self.source.options.get("output")):
            return None
        if self._pinned is not None and _pair(result) != self._pinned:
            return None
        options = dict(self.source.options)
        if self.panel == "rules":
            options.setdefault("output", _output_of(result, self.widget.output))
        else:
            options.pop("output", None)  # the widget's results are of its output
        try:
            content = describe(result, **options)
        except InputError:
            return None  # nothing is known yet of what is drawn
        if not self._ours:
            self._ours = progress(result) > self._progress or _equal(content, shown)
        return content if self._ours else None


def _pair(of: Any) -> frozenset[str]:
    return frozenset(of.features)


def _same_output(widget: PDPWidget, output: Any) -> bool:
    """Whether the widget's output is the one that a figure was asked to show, if any."""
    if output is None:
        return True
    response = widget.explainer.response
    return bool(response.position(output) == response.position(widget.output))


def _output_of(rules: Any, output: str) -> Any:
    """Return the output of rules that stands for the widget's; those of two classes have but one."""
    return output if output in rules.ruleset.outputs else None


def _equal(content: Figure, shown: Figure) -> bool:
    if isinstance(content, Bars) and isinstance(shown, Bars):
        return content.names == shown.names and np.array_equal(content.values, shown.values, equal_nan=True)
    if isinstance(content, Surface) and isinstance(shown, Surface):
        return content.values.shape == shown.values.shape and np.array_equal(
            content.values, shown.values, equal_nan=True
        )
    return False
