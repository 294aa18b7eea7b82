"""Python text that makes a widget's view again: for the next cell, a script, a colleague."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import model_name

from .bookmarks import key
from .panels import PANELS
from .state import PLAIN

if TYPE_CHECKING:
    from .pdp_widget import PDPWidget

__all__ = ["to_python"]

_WIDEST = 100


def to_python(widget: PDPWidget, now: dict[str, Any]) -> str:
    """Return the text for a widget and its ``view_state``; see ``PDPWidget.to_python``."""
    explainer, several = widget.explainer, len(widget.explainers) > 1
    arguments, yours = (["models", "X"], ["models", "X"]) if several else (["model", "X"], ["model", "X"])
    if explainer.y is not None:
        arguments.append("y")
        yours.append("y")
    for name, value in explainer.options.items():
        text = _literal(value)
        if name == "output":
            continue  # the view has its own
        if text is None:
            yours.append(name)
        arguments.append(f"{name}={name if text is None else text}")
    defaults = {name: trait.default_value for name, trait in type(widget).class_traits().items()}
    defaults |= {"panels": tuple(PANELS), "pair": ()}
    rows = now["rows"]
    later = {"model", "output"} if several else {"model"}  # what can only be said once the models are there
    if rows and widget.by == key(explainer.features):
        later.add("by")
    for name in PLAIN:
        value = getattr(widget, name)
        if name not in later and (name in ("feature", "output") or value != defaults[name]):
            arguments.append(f"{name}={value!r}")
    if widget.bookmarks and not rows:
        arguments.append(f"bookmarks={dict(widget.bookmarks)!r}")
    titles = " and ".join(widget.explainers) if several else model_name(explainer.model)
    lines = [
        f"# {', '.join(yours[:-1])} and {yours[-1]} as they were for the widget of {_plain(titles)}.",
        "from pdp_widgets import PDPWidget",
        "",
        f"widget = {_call('PDPWidget', arguments)}",
    ]
    if several:
        lines.append(f"widget.model, widget.output = {widget.model!r}, {widget.output!r}")
    if rows:  # no condition says which rows these are
        named = {name: now[name] for name in (*sorted(later & {"by"}), "selection", "bookmarks", "rows")}
        lines.append(f"widget.view_state = {named!r}")
    elif widget.selection:
        lines.append(f"widget.select({widget.selection.text!r})")
    numbers = [repr(widget.feature), f"output={widget.output!r}"]
    if widget.selection:
        numbers.append("subgroup=widget.selection")
    method = "ale" if widget.effect == "ale" else "partial_dependence"
    lines += ["# The numbers of the curve:", f"curve = {_call(f'widget.explainer.{method}', numbers)}"]
    return "\n".join(lines) + "\n"


def _call(function: str, arguments: list[str]) -> str:
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= _WIDEST:
        return line
    return "\n".join([f"{function}(", *(f"    {argument}," for argument in arguments), ")"])


def _literal(value: Any) -> str | None:
    """Return a value as Python text, or None where text cannot stand for it."""
    plain = value.item() if isinstance(value, np.generic) else value
    text = repr(plain)
    try:
        return text if ast.literal_eval(text) == plain else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _plain(text: str) -> str:
    """Return a name on one line: it stands in a comment."""
    return " ".join(text.split())
