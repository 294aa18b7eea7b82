"""What a person has arranged, as plain data: for another session, another widget, or a file.

Conditions are kept as text. Sets of rows that a text can only name (``@curves1``) come along, so they fit the same rows only.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.errors import unknown_name
from pdp_widgets.inputs.folding import leaves_of
from pdp_widgets.inputs.subgroup import And, Node, Not, Or, Rows, parse

from .selection import IceBox

if TYPE_CHECKING:
    from .pdp_widget import PDPWidget
    from .selection import History

__all__ = ["PLAIN", "get", "put"]

PLAIN = (
    "model", "output", "pair", "feature", "effect", "by", "color_by", "centered", "derivative", "show_ice", "show_models", "row", "sort_by",
    "panels", "theme", "size", "notes",
)  # fmt: skip
"""Traits that are kept as they are, in the order in which they are set."""

_KEYS = (*PLAIN, "selection", "bookmarks", "rows")


def get(widget: PDPWidget, history: History) -> dict[str, Any]:
    """Return the state, for ``json.dump``."""
    state: dict[str, Any] = {name: _plain(getattr(widget, name)) for name in PLAIN}
    nodes = [*history.kept.values(), *([widget.selection.node] if widget.selection.node else [])]
    named = {leaf.name: leaf for node in nodes for leaf in leaves_of(node) if isinstance(leaf, Rows)}
    state |= {"selection": widget.selection.text, "bookmarks": dict(widget.bookmarks)}
    state["rows"] = {name: _packed(rows) for name, rows in named.items()}
    return state


def put(widget: PDPWidget, history: History, state: Any) -> None:
    """Arrange a widget as a state says; what it does not speak of stays. Nothing is changed when it does not fit.

    Raises
    ------
    InputError
        For what is no such state, or of another model or other rows.
    """
    if not isinstance(state, Mapping):
        raise InputError(f"view_state is a dict such as another widget's view_state, not {type(state).__name__}")
    for name in state:
        if name not in _KEYS:
            raise unknown_name("part of view_state", name, _KEYS, "what view_state holds")
    rows, marks = (_mapping(state, name) for name in ("rows", "bookmarks"))
    given = {name: _unpacked(name, packed, history) for name, packed in rows.items()}
    selection = _read(state.get("selection"), given, history)
    bookmarks = {name: _read(text, given, history) for name, text in marks.items()}
    wanted = {"bookmarks": bookmarks} if "bookmarks" in state else {}  # first: `by` may compare them
    wanted |= {name: state[name] for name in PLAIN if name in state}
    if len(widget.explainers) == 1:
        wanted.pop("model", None)  # there is nothing to choose
    before = {name: getattr(widget, name) for name in (*wanted, "by")}
    try:
        for name, value in wanted.items():
            setattr(widget, name, value)
    except Exception:
        for name, value in before.items():
            setattr(widget, name, value)
        raise
    if "selection" in state:
        widget.select(selection)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _mapping(state: Mapping[str, Any], name: str) -> dict[str, Any]:
    given = state.get(name)
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"view_state: {name} is a dict by name, not {type(given).__name__}")
    return {str(key): value for key, value in (given or {}).items()}


def _packed(rows: Rows) -> dict[str, Any]:
    bits = base64.b64encode(np.packbits(rows.rows).tobytes()).decode("ascii")
    box = {k: _plain(v) for k, v in asdict(rows.data).items()} if isinstance(rows.data, IceBox) else None
    return {"about": rows.about, "n_rows": len(rows.rows), "bits": bits, "box": box}


def _unpacked(name: str, packed: Any, history: History) -> Rows:
    """Return the rows that a name stands for, under a name that is free here."""
    try:
        n, bits = int(packed["n_rows"]), base64.b64decode(packed["bits"], validate=True)
        about, box = str(packed["about"]), packed["box"]
        data = box and IceBox(**{**box, "x": tuple(box["x"]), "y": tuple(box["y"])})
    except (KeyError, TypeError, ValueError, binascii.Error):
        raise InputError(f"view_state: @{name} cannot be read") from None
    if n != history.explainer.n_rows or len(bits) != -(-n // 8):
        raise InputError(f"view_state: @{name} is a set of {n:,} rows; here are {history.explainer.n_rows:,}")
    mask = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=n).astype(bool)
    return history.named(mask, name.rstrip("0123456789") or "rows", about, data)


def _read(text: Any, given: Mapping[str, Rows], history: History) -> Node | None:
    """Read a condition in which names stand for the rows that came along."""
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise InputError(f"view_state: a condition is a text, not {text!r}")
    # Parsed with the names of then, which may stand for other rows now.
    then = {name: replace(rows, name=name) for name, rows in given.items()}
    return _renamed(parse(text, history.explainer.table, then), given)


def _renamed(node: Node, given: Mapping[str, Rows]) -> Node:
    if isinstance(node, And | Or):
        return type(node)(tuple(_renamed(part, given) for part in node.parts))
    if isinstance(node, Not):
        return Not(_renamed(node.part, given))
    return given[node.name] if isinstance(node, Rows) else node
