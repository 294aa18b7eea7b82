"""Ties between a ``PDPWidget`` and a bqplot figure: one selection, one focus, and what is drawn is up to date.

How a brush and a condition stand for each other is in ``brush.py``, what a click does in ``clicks.py``, what there is to draw by now
in ``newest.py``, and how a figure is brought up to date in ``live.py``.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from pdp_widgets.figures import Bars, Curves
from pdp_widgets.inputs import InputError

from .brush import Brush, Points
from .clicks import Clicks, FeatureClicks, PairClicks, RuleClicks
from .drawing import Drawn, drawn
from .live import Live
from .newest import Newest, newest_of

if TYPE_CHECKING:
    from pdp_widgets.figures import Figure
    from pdp_widgets.widget import PDPWidget

logger = logging.getLogger(__name__)

PACE = 0.25

Tie = Brush | Points | Clicks


class Link:
    """What ties a widget and a figure.

    Attributes
    ----------
    widget : PDPWidget
    figure : bqplot.Figure
    """

    def __init__(self, widget: PDPWidget, figure: Any, tie: Tie | None = None) -> None:
        self.widget, self.figure = widget, figure
        self._tie = tie

    @property
    def selector(self) -> Any:
        """The ``BrushIntervalSelector``; None where points or bars are clicked instead, and of surfaces."""
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
    away takes the condition away. Of a category the points are clicked, several with Ctrl or Shift. In bars of features the one in focus is
    marked, and a click moves the focus; in bars of pairs that goes for the pair, and in bars of rules for the selected rows.

    While results grow, figures of what the widget computes grow with them: of partial dependence (more and more rows, the selected ones
    and the rest beside all), of a pair's surface, importance, interactions and rules. A curve of the feature in focus, or a surface of the
    pair in focus, becomes that of another one when the focus moves; others keep theirs. What a figure shows is replaced only by
    something newer of the same kind, never by something that stands on fewer rows.

    Parameters
    ----------
    widget : PDPWidget
    figure : bqplot.Figure
        A figure from ``to_bqplot()``; or any figure whose first mark has a scale "x", with ``feature``.
    feature : name, column label or position, optional
        What is along the axis; known of figures from ``to_bqplot()``.
    follow : bool, optional
        True: show what the widget shows, whatever the figure was made of, and have its panel computed even if no page shows it. False: never
        change what is drawn. By default figures of all rows follow as described.
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
    name = None
    if feature is not None or (isinstance(content, Curves) and content.feature):
        assert feature is not None or isinstance(content, Curves)
        given = feature if feature is not None else content.feature  # type: ignore[union-attr]
        name = widget.explainer.table.feature(given).name
        if name not in widget.explainer.features:
            raise InputError(f"feature {name!r} is not among the features of this widget")
    newest = None
    if made is not None and follow is not False and (feature is None or name == getattr(content, "feature", None)):
        newest = newest_of(widget, made, ice=ice, whatever=bool(follow))
    if follow and newest is None:
        raise InputError(
            "only figures from to_bqplot() of what the widget computes itself can follow it: partial dependence of one output or of a "
            "pair, importance, interactions, rules"
        )
    if newest is not None:
        assert made is not None
        return _Following(widget, figure, made, newest, pace)
    if made is not None and name == getattr(content, "feature", None):
        tie = _tie(widget, figure, made.content, made.marks)
        if tie is not None:
            return Link(widget, figure, tie)
    if name is None:
        raise InputError(
            "the figure has no axis of one feature, no bars to click, and is none that follows; say which feature is along its x axis: "
            "link_bqplot(widget, figure, feature='temp')"
        )
    if not _brushable(widget, name):
        raise InputError(
            f"no value of feature {name!r} is known, so there is nothing to brush over; link another feature"
        )
    mark = next((mark for mark in figure.marks if "x" in mark.scales), None)
    if mark is None:
        raise InputError("the figure has no mark with a scale 'x', so there is no axis to brush over")
    return Link(widget, figure, _axis_tie(widget, figure, name, mark, 1.0))


def _tie(widget: PDPWidget, figure: Any, content: Figure, marks: dict[str, Any]) -> Tie | None:
    """Return what makes a figure a thing to brush over or to click; None of those that are neither."""
    if isinstance(content, Curves):
        if not content.feature or not _brushable(widget, content.feature):
            return None
        return _axis_tie(widget, figure, content.feature, marks["curve 0"], content.x.unit)
    if isinstance(content, Bars):
        for kind, things in (
            (FeatureClicks, content.features),
            (PairClicks, content.pairs),
            (RuleClicks, content.rules),
        ):
            if things:
                return kind(widget, marks["bars"], things)
    return None


def _brushable(widget: PDPWidget, feature: str) -> bool:
    """Whether a feature has values to select: an axis of numbers of which none is known has no place for a brush."""
    grid = widget.explainer.grid(feature)
    return grid.kind == "category" or bool(grid.ordered.any())


def _axis_tie(widget: PDPWidget, figure: Any, feature: str, mark: Any, unit: float) -> Brush | Points:
    if widget.explainer.grid(feature).kind == "category":
        return Points(widget, feature, mark)
    return Brush(widget, figure, feature, mark, unit)


def _about(content: Figure) -> Any:
    """Return what a tie stands on: another one, another tie."""
    if isinstance(content, Bars):
        return content.features, content.pairs, [None if node is None else node.text for node in content.rules]
    return getattr(content, "feature", None)


class _Following(Link):
    """A link with a figure that shows what the widget shows."""

    def __init__(self, widget: PDPWidget, figure: Any, made: Drawn, newest: Newest, pace: float) -> None:
        super().__init__(widget, figure, _tie(widget, figure, made.content, made.marks))
        self._live, self._newest, self._pace = Live(figure, made), newest, pace
        self._drawing = threading.RLock()
        self._beat: threading.Timer | None = None
        self._over = False
        self.refresh()
        widget.observe(self._changed, newest.traits)

    def refresh(self) -> None:
        """Show what is known by now, at once instead of at the next beat."""
        with self._drawing:
            content = None if self._over else self._newest.content(self._live.content)
            if content is None:
                return
            tied = self._tie
            if tied is not None and _about(content) != _about(self._live.content):
                tied.unlink()
                tied = None
            self._live.show(content)
            if tied is not None and tied.mark not in self._live.marks.values():
                tied.unlink()
                tied = None
            if tied is None:
                self._tie = _tie(self.widget, self.figure, content, self._live.marks)

    def unlink(self) -> None:
        """Untie widget and figure; both stay as they are."""
        with self._drawing:
            if self._over:
                return
            self._over = True
            super().unlink()
        self.widget.unobserve(self._changed, self._newest.traits)
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
            if self.widget.closed:
                return
            logger.exception("a linked figure could not be brought up to date")
