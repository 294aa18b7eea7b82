"""Python text that makes a widget's view again: for the next cell, a script, a colleague."""

from __future__ import annotations

import ast
import keyword
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.alignment import counterpart
from pdp_widgets.figures.parts import distinct
from pdp_widgets.inputs import model_name

from .bookmarks import key
from .panels import PANELS
from .panels.groups import MOST_GROUPS, groups_of, whole
from .panels.models import MOST_MODELS
from .state import PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .panels.groups import Group
    from .pdp_widget import PDPWidget

__all__ = ["to_python"]

_WIDEST = 100


def to_python(
    widget: PDPWidget,
    now: dict[str, Any],
    given: Mapping[str, Any],
    marked: Sequence[Group],
    names: Mapping[str, Any] | None = None,
) -> str:
    """Return the text for a widget and its ``view_state``; see ``PDPWidget.to_python``.

    Parameters
    ----------
    widget : PDPWidget
    now : dict
        Its ``view_state``.
    given : mapping
        "models", "X" and "y" as the widget was made of them.
    marked : sequence of Group
        Its bookmarks where they have a curve each.
    names : mapping, optional
        What is called how where the text is to be used; the notebook's own names by default.
    """
    explainer, several = widget.explainer, len(widget.explainers) > 1
    called = _Names(_notebook() if names is None else names)
    arguments = [_models(widget, given["models"], called), called.of(given["X"], "X")]
    if explainer.y is not None:
        arguments.append(called.of(given["y"], "y"))
    for name, value in explainer.options.items():
        text = _literal(value)
        if name == "output":
            continue  # the view has its own
        arguments.append(f"{name}={called.of(value, name) if text is None else text}")
    defaults = {name: trait.default_value for name, trait in type(widget).class_traits().items()}
    defaults |= {"panels": tuple(PANELS), "pair": ()}
    rows = now["rows"]
    later = {"model", "output"} if several else {"model"}  # what can only be said once the models are there
    if rows and _by_bookmarks(widget):
        later.add("by")
    for name in PLAIN:
        value = getattr(widget, name)
        if name not in later and (name in ("feature", "output") or value != defaults[name]):
            arguments.append(f"{name}={value!r}")
    if widget.bookmarks and not rows:
        arguments.append(f"bookmarks={dict(widget.bookmarks)!r}")
    titles = " and ".join(widget.explainers) if several else model_name(explainer.model)
    curves, compares = _curves(widget, rows, marked)
    lines = [
        f"# These names must exist, as they were for the widget of {_plain(titles)}: {', '.join(called.used)}.",
        f"from pdp_widgets import PDPWidget{', compare' if compares else ''}",
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
    return "\n".join([*lines, *curves, "widget"]) + "\n"


# ---- names -----------------------------------------------------------------------------------


class _Names:
    """What things are called, and which names the text uses."""

    _TAKEN = frozenset({"widget", "curve", "curves", "subgroups", "marked", "chosen", "compare", "PDPWidget"})

    def __init__(self, space: Mapping[str, Any]) -> None:
        self._space = space
        self.used: list[str] = []

    def find(self, value: Any) -> str | None:
        """Return the first plain name of a thing, None where it has none."""
        if value is None:
            return None
        for name, item in list(self._space.items()):
            if item is value and name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name):
                return None if name in self._TAKEN else name
        return None

    def of(self, value: Any, otherwise: str) -> str:
        """Return a name that the text uses from now on."""
        name = self.find(value) or otherwise
        if name not in self.used:
            self.used.append(name)
        return name


def _notebook() -> Mapping[str, Any]:
    """Return the names of the notebook that this runs in, if it does."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "user_ns", None) or {}


def _models(widget: PDPWidget, given: Any, called: _Names) -> str:
    """Return what the widget is made of: one model, or several by one name or each by its own."""
    if len(widget.explainers) == 1:
        return called.of(widget.explainer.model, "model")
    each = {name: called.find(one.model) for name, one in widget.explainers.items()}
    if called.find(given) is None and None not in each.values():
        own = {name: called.of(one.model, "model") for name, one in widget.explainers.items()}
        return f"{{{', '.join(f'{name!r}: {text}' for name, text in own.items())}}}"
    return called.of(given, "models")


# ---- numbers ---------------------------------------------------------------------------------


def _curves(widget: PDPWidget, rows: Mapping[str, Any], marked: Sequence[Group]) -> tuple[list[str], bool]:
    """Return lines for the numbers of the curves that are drawn, and whether they compare models."""
    ale = widget.effect == "ale"
    method = "ale" if ale else "partial_dependence"
    shape = "" if ale else _shape(widget)
    about = [repr(widget.feature), f"output={widget.output!r}"]
    subgroup = ["subgroup=widget.selection"] if widget.selection else []
    own = f"{_call(f'widget.explainer.{method}', [*about, *subgroup])}{shape}"
    lines = ["# The numbers of the curves:", f"curve = {own}", "print(curve.to_frame())"]
    others = _others(widget)
    if (
        widget.by
        and not _by_bookmarks(widget)
        and widget.by in widget.explainer.features
        and not (ale or subgroup or shape)
    ):
        if widget.by == widget.feature:
            return lines, False
        category = widget.explainer.table.observed(widget.by).kind == "category"
        levels = [f"levels={MOST_GROUPS}"] if category else []
        groups = _call(
            "widget.explainer.by_group", [repr(widget.feature), repr(widget.by), *levels, f"output={widget.output!r}"]
        )
        return [*lines, f"curves = {groups}", "print(curves.to_frame())"], False
    if others and not ale:
        models = f"{{name: widget.explainers[name] for name in {list(others)!r}}}"
        lines.append(f"curves = {_call('compare', [models, 'None', *about, *subgroup])}")
        if shape:
            lines.append(f"curves = {{name: one{shape} for name, one in zip(curves.models, curves.dependences)}}")
            return [*lines, *_PRINT], True
        return [*lines, "print(curves.to_frame())"], True
    if others:
        call = _call("widget.explainers[name].ale", [repr(widget.feature), "output=output", *subgroup])
        return [*lines, f"curves = {_each(f'name: {call}', f'for name, output in {others!r}.items()')}", *_PRINT], False
    before, subgroups = _subgroups(widget, rows, marked)
    if len(subgroups) < 2:
        return lines, False
    call = f"{_call(f'widget.explainer.{method}', [*about, 'subgroup=rows'])}{shape}"
    return [
        *lines[:2],
        *before,
        "subgroups = {", *(f"    {name!r}: {text}," for name, text in subgroups.items()), "}",
        f"curves = {_each(f'name: {call}', 'for name, rows in subgroups.items()')}",
        *_PRINT,
    ], False  # fmt: skip


_PRINT = ("for name, one in curves.items():", "    print(name, one.to_frame(), sep='\\n')")


def _shape(widget: PDPWidget) -> str:
    """Return what makes a curve what the page draws of it."""
    grid = widget.explainer.grid(widget.feature)
    if widget.derivative and grid.kind != "category" and np.count_nonzero(grid.ordered) > 1:
        return ".derivative()"
    return ".centered()" if widget.centered else ""


def _by_bookmarks(widget: PDPWidget) -> bool:
    return bool(widget.by == key(widget.explainer.features))


def _others(widget: PDPWidget) -> dict[str, str]:
    """Return all models that have a curve and their outputs, the one on the page first; none where that stands alone."""
    if len(widget.explainers) == 1 or not widget.show_models or widget.by:
        return {}
    found = {widget.model: str(widget.output)}
    at = widget.explainer.outputs.index(widget.output)
    for name, one in widget.explainers.items():
        k = None if name == widget.model else counterpart(widget.explainer, at, one)
        if k is not None and len(found) <= MOST_MODELS:
            found[name] = one.outputs[k]
    return found if len(found) > 1 else {}


def _subgroups(widget: PDPWidget, rows: Mapping[str, Any], marked: Sequence[Group]) -> tuple[list[str], dict[str, str]]:
    """Return lines that go before, and the rows of each curve as Python text."""
    before: list[str] = []
    found = [("all rows", "None")]
    chosen = widget.selection.mask if widget.selection else np.ones(widget.explainer.n_rows, dtype=bool)
    if widget.selection:
        found.append(("selection", "widget.selection"))
        if not chosen.all():
            found.append(("rest", "~widget.selection.mask"))
    by_bookmarks = _by_bookmarks(widget)
    if widget.by and widget.by != widget.feature:
        groups = marked[:MOST_GROUPS] if by_bookmarks else groups_of(widget.explainer, widget.by)[0]
        if by_bookmarks and rows:  # no condition says which rows these are
            before = [
                "chosen = widget.selection",
                "marked = {name: widget.select(text).mask for name, text in widget.bookmarks.items()}",
                "widget.select(chosen)",
            ]
        within = bool(widget.selection) and not whole(groups, chosen)
        for group in groups:
            if not (group.mask & chosen if within else group.mask).any():
                continue
            text = f"marked[{group.label!r}]" if before else repr(group.condition)
            if within:
                text = f"{text if before else f'widget.explainer.mask({text})'} & widget.selection.mask"
            found.append((group.label, text))
    names = distinct([name for name, _ in found])
    return before, dict(zip(names, (text for _, text in found), strict=True))


# ---- text ------------------------------------------------------------------------------------


def _call(function: str, arguments: list[str]) -> str:
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= _WIDEST:
        return line
    return "\n".join([f"{function}(", *(f"    {argument}," for argument in arguments), ")"])


def _each(item: str, loop: str) -> str:
    """Return a dict of what is made in a loop."""
    line = f"{{{item} {loop}}}"
    return line if len(line) <= _WIDEST else f"{{\n    {item}\n    {loop}\n}}"


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
