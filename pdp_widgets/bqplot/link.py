"""Ties between a ``PDPWidget`` and a bqplot figure: one selection, one feature in focus, curves that are up to date.

How a brush and a condition stand for each other is in ``brush.py``, how marks follow results in ``live.py``.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from pdp_widgets.figures import Bars, Curves
from pdp_widgets.figures.effects import sides
from pdp_widgets.inputs import InputError

from .brush import Brush, Clicks, Points
from .drawing import Drawn, drawn
from .live import Live

if TYPE_CHECKING:
    from pdp_widgets.widget import PDPWidget

logger = logging.getLogger(__name__)

PACE = 0.25
_PICTURES = ["_curve", "_ice", "_split", "feature", "output", "show_ice"]
"""Traits that change with what ``widget.results`` holds."""


class Link:
    """What ties a widget and a figure.

    Attributes
    ----------
    widget : PDPWidget
    figure : bqplot.Figure
    """

    def __init__(self, widget: PDPWidget, figure: Any, tie: Brush | Points | Clicks | None = None) -> None:
        self.widget, self.figure = widget, figure
        self._tie = tie

    @property
    def selector(self) -> Any:
        """The ``BrushIntervalSelector``; None where points or bars are clicked instead."""
        return None if self._tie is None else self._tie.selector

    def refresh(self) -> None:
        """Show what is known by now, at once instead of at the next beat."""

    def unlink(self) -> None:
        """Untie widget and figure; both stay as they are."""
        tie, self._tie = self._tie, None
        if tie is not None:
            tie.unlink()


def link_bqplot(
    widget: PDPWidget,
    figure: Any,
    *,
    feature: Any = None,
    follow: bool | None = None,
    ice: bool | int = True,
    pace: float = PACE,
) -> Link:
    """Tie a figure of bqplot to a widget, both ways.

    A brush over a curve's axis (``link.selector.selected``) and ``widget.selection`` follow each other: dragging takes the place of what
    the selection says of the same feature and keeps the rest, a brush that reaches the end of the axis is open there, and taking the brush
    away takes the condition away. Of a category the points are clicked, several with Ctrl or Shift. A figure of the partial dependence
    in focus shows what the widget shows: more and more rows, the selected ones and the rest beside all, and another feature when the focus
    moves. In bars of features the one in focus is marked, and a click moves the focus.

    Parameters
    ----------
    widget : PDPWidget
    figure : bqplot.Figure
        Curves over a feature, or bars of features, from ``to_bqplot()``; or any figure whose first mark has a scale "x", with ``feature``.
    feature : name, column label or position, optional
        What is along the axis; known of figures from ``to_bqplot()``.
    follow : bool, optional
        Show what the widget shows. By default where the figure is the partial dependence of one output on the feature in focus;
        other figures stay as they are, and only the brush is tied.
    ice : bool or int
        Whether a figure that follows has curves of single rows (where the widget shows them), at most 200 or this many.
    pace : float
        Seconds between two looks at growing results.

    Returns
    -------
    Link
        ``link.unlink()`` unties them.

    Raises
    ------
    InputError
        For a figure that nothing can be tied to, or that cannot follow.

    Examples
    --------
    >>> figure = widget.results["all"].to_bqplot()  # doctest: +SKIP
    >>> link = link_bqplot(widget, figure)  # doctest: +SKIP
    >>> link.selector.selected = [20, 30]  # doctest: +SKIP
    >>> widget.selection.text  # doctest: +SKIP
    '20 <= temp <= 30'
    """
    made = drawn(figure)
    content = None if made is None else made.content
    if made is not None and isinstance(content, Bars) and content.features:
        if follow:
            raise InputError("bars cannot follow the widget's results; draw them again when there are others")
        return Link(widget, figure, Clicks(widget, made.marks["bars"], content.features))
    if feature is None:
        if not isinstance(content, Curves) or not content.feature:
            raise InputError(
                "the figure has no axis of one feature and no bars of features; say which feature is along its x axis: "
                "link_bqplot(widget, figure, feature='temp')"
            )
        feature = content.feature
    name = widget.explainer.table.feature(feature).name
    if name not in widget.explainer.features:
        raise InputError(f"feature {name!r} is not among the features of this widget")
    can = isinstance(content, Curves) and content.live and content.feature == name
    if follow and not can:
        raise InputError(
            "only a figure of the partial dependence of one output, from to_bqplot(), can follow the widget"
        )
    if (can and name == widget.feature) if follow is None else follow:
        assert made is not None
        return _Following(widget, figure, made, ice, pace)
    mark, unit = _axis(figure, made)
    return Link(widget, figure, _tied(widget, figure, name, mark, unit))


def _axis(figure: Any, made: Drawn | None) -> tuple[Any, float]:
    """Return the mark over whose axis is brushed, and what 1 on the axis is in the grid's unit."""
    if made is not None and isinstance(made.content, Curves):
        return made.marks["curve 0"], made.content.x.unit
    mark = next((mark for mark in figure.marks if "x" in mark.scales), None)
    if mark is None:
        raise InputError("the figure has no mark with a scale 'x', so there is no axis to brush over")
    return mark, 1.0


def _tied(widget: PDPWidget, figure: Any, feature: str, mark: Any, unit: float) -> Brush | Points:
    if widget.explainer.grid(feature).kind == "category":
        return Points(widget, feature, mark)
    return Brush(widget, figure, feature, mark, unit)


class _Following(Link):
    """A link with a figure that shows what the widget shows."""

    def __init__(self, widget: PDPWidget, figure: Any, made: Drawn, ice: bool | int, pace: float) -> None:
        super().__init__(widget, figure)
        self._live, self._ice, self._pace = Live(figure, made), ice, pace
        self._drawing = threading.RLock()
        self._beat: threading.Timer | None = None
        self._over = False
        self.refresh()
        widget.observe(self._changed, _PICTURES)

    def refresh(self) -> None:
        """Show what is known by now, at once instead of at the next beat."""
        with self._drawing:
            if self._over:
                return
            content = sides(self.widget.results, ice=self._ice if self.widget.show_ice else False)
            other = self._tie is None or content.feature != self._live.content.feature
            if other and self._tie is not None:
                self._tie.unlink()
            self._live.show(content)
            if other:
                curve = self._live.marks["curve 0"]
                self._tie = _tied(self.widget, self.figure, content.feature, curve, content.x.unit)

    def unlink(self) -> None:
        """Untie widget and figure; both stay as they are."""
        with self._drawing:
            if self._over:
                return
            self._over = True
            super().unlink()
        self.widget.unobserve(self._changed, _PICTURES)
        beat = self._beat
        if beat is not None:
            beat.cancel()

    def _changed(self, _: Any) -> None:
        # Perhaps in the widget's worker, with its lock held: look at it later, in a thread of its own.
        if self._beat is None and not self._over:
            self._beat = threading.Timer(self._pace, self._look)
            self._beat.daemon = True
            self._beat.start()

    def _look(self) -> None:
        self._beat = None
        try:
            self.refresh()
        except Exception:
            if self.widget._controller is None:  # noqa: SLF001 - closed in between
                return
            logger.exception("a linked figure could not be brought up to date")
