"""Answers: what is done when the page asks for something; what it may ask is checked in ``protocol``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdp_widgets.inputs.subgroup import conjunction

from .protocol import PROTOCOL
from .selection import IceBox, from_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pdp_widgets.inputs.subgroup import Node

    from .controller import Controller
    from .models import Models
    from .pdp_widget import PDPWidget
    from .protocol import Request
    from .selection import History

__all__ = ["Answers"]


class Answers:
    """Does what the page asks for.

    Parameters
    ----------
    widget : PDPWidget
    history : History
    models : Models
    running : callable
        The controller of the model on the page; raises when the widget is closed.
    elsewhere : collection of str
        Panels that stand in other cells.
    """

    def __init__(
        self, widget: PDPWidget, history: History, models: Models, running: Callable[[], Controller], elsewhere: Collection[str]
    ) -> None:  # fmt: skip
        self._widget, self._history, self._models = widget, history, models
        self._running, self._elsewhere = running, elsewhere

    def do(self, request: Request) -> Any:
        """Do it, and return what the reply says."""
        method, params, widget = request.method, request.params, self._widget
        if method == "hello":
            return {"protocol": PROTOCOL}
        if method == "visible":
            self._running().visible(params["features"])
        elif method == "query":
            widget.select(params["text"], op=params["op"])
        elif method == "open":
            self._running().board.open({*params["panels"], *self._elsewhere})
        elif method == "compute":
            self._running().board.approve(params["panel"])
        elif method == "select":
            condition = self._condition(params["condition"], params["gesture"] if params["op"] == "replace" else None)
            widget.selection = self._history.combine(params["op"], condition, params["gesture"])
        elif method == "terms":
            self._rules.choose(widget.output, params["step"], params["subject"])
            self._running().board.changed()
        elif method == "stability":
            self._rules.ask_stability(params["of"], on=params["on"])
            self._running().board.changed()
        elif method == "overlap":
            return self._rules.reading(params["of"]).related(params["term"])
        elif method == "row":
            return self._rules.reading(params["of"]).row(params["row"], params["label"])
        elif method == "rule":
            widget.select(self._rules.reading(params["of"]).node(params["term"]), op=params["op"])
        else:
            actions: dict[str, Callable[[], Any]] = {
                "clear": widget.clear,
                "invert": widget.invert,
                "undo": widget.undo,
                "redo": widget.redo,
                "stop": widget.stop,
                "resume": widget.resume,
            }
            actions[method]()
        return None

    @property
    def _rules(self) -> Any:
        return self._running().board["rules"]

    def _condition(self, condition: dict[str, Any], gesture: str | None) -> Node:
        if condition["type"] == "all":
            return conjunction([self._condition(part, None) for part in condition["conditions"]])
        if condition["type"] != "ice":
            return from_wire(condition, self._models.explainer.grid(condition["feature"]))
        where = {name: value for name, value in condition.items() if name != "type"} | {"model": self._models.mark}
        mask, exact = self._running().box_mask(IceBox(**where))
        return self._history.box(IceBox(**where, exact=exact), mask, gesture=gesture)
