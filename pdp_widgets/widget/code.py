"""Python text that makes a widget's view again: for the next cell, a script, a colleague."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import model_name

from .panels import PANELS
from .state import PLAIN

if TYPE_CHECKING:
    from .pdp_widget import PDPWidget

__all__ = ["to_python"]

_WIDEST = 100


def to_python(widget: PDPWidget, now: dict[str, Any]) -> str:
    """Return the text for a widget and its ``view_state``; see ``PDPWidget.to_python``."""
    explainer = widget.explainer
    arguments, yours = ["model", "X"], ["model", "X"]
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
    for name in PLAIN:
        value = getattr(widget, name)
        if name in ("feature", "output") or value != defaults[name]:
            arguments.append(f"{name}={value!r}")
    rows = now["rows"]
    if widget.bookmarks and not rows:
        arguments.append(f"bookmarks={dict(widget.bookmarks)!r}")
    lines = [
        f"# {', '.join(yours[:-1])} and {yours[-1]} as they were for the widget of {_plain(model_name(explainer.model))}.",
        "from pdp_widgets import PDPWidget",
        "",
        f"widget = {_call('PDPWidget', arguments)}",
    ]
    if rows:  # no condition says which rows these are
        named = {name: now[name] for name in ("selection", "bookmarks", "rows")}
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
