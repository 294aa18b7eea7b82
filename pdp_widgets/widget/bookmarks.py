"""Bookmarks: selections by name, to come back to, or to be compared as groups."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pdp_widgets.inputs import InputError

from .panels.groups import MOST_GROUPS, Group

if TYPE_CHECKING:
    from collections.abc import Collection

    from pdp_widgets.inputs.subgroup import Node

    from .selection import History

__all__ = ["LEAST_GROUPS", "MOST", "counts", "groups", "key", "read", "read_notes"]

MOST = 100
"""Bookmarks of one widget."""

LEAST_GROUPS = 2
"""Bookmarks that can be compared."""

_LONGEST_NAME = 80
_LONGEST_NOTE = 2000


def key(features: Collection[str]) -> str:
    """Return what ``by`` is to compare bookmarks: "bookmarks", with as many "@" before it as it takes to be no feature's name.

    Examples
    --------
    >>> key(["temp", "season"]), key(["temp", "bookmarks"])
    ('bookmarks', '@bookmarks')
    """
    name = "bookmarks"
    while name in features:
        name = f"@{name}"
    return name


def groups(bookmarks: Mapping[str, Node], history: History, before: tuple[Group, ...] = ()) -> tuple[Group, ...]:
    """Return the rows of each bookmark as groups to be compared; they may share rows. The same ones as before where nothing changed."""
    table = history.explainer.table
    found = []
    for at, (name, node) in enumerate(list(bookmarks.items())[: MOST_GROUPS + 1]):
        group = Group(name, node.text, node.mask(table).copy())
        old = before[at] if at < len(before) else None
        found.append(old if old is not None and old.same(group) else group)
    return before if len(found) == len(before) and all(map(operator.is_, found, before)) else tuple(found)


def read(given: Any, history: History) -> dict[str, Node]:
    """Return what is to be remembered, in its order.

    Parameters
    ----------
    given : mapping of name to whatever ``PDPWidget.select`` takes
    history : History

    Raises
    ------
    InputError
        For what is no mapping, a name that is no short text, or a subgroup that selects nothing or cannot be read.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"bookmarks={given!r}; expected names and conditions, such as {{'warm days': 'temp > 20'}}")
    if len(given) > MOST:
        raise InputError(f"{len(given)} bookmarks; there may be {MOST}")
    found: dict[str, Node] = {}
    for name, subgroup in given.items():
        if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST_NAME:
            raise InputError(f"a bookmark's name is a text of up to {_LONGEST_NAME} characters, not {name!r}")
        node = history.read(subgroup)
        if node is None:
            raise InputError(f"the bookmark {name.strip()!r} selects nothing; select rows first")
        found[name.strip()] = history.shortest(node)
    return found


def read_notes(given: Any) -> dict[str, str]:
    """Return what is written about bookmarks, by name, without what is empty.

    Raises
    ------
    InputError
        For what is no mapping of names to texts, or too long.
    """
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise InputError(
            f"notes={given!r}; expected texts by the names of bookmarks, such as {{'warm days': 'more rentals'}}"
        )
    if len(given) > MOST or any(len(text) > _LONGEST_NOTE for text in given.values()):
        raise InputError(f"notes: there may be {MOST}, of up to {_LONGEST_NOTE} characters each")
    return {name.strip(): text.strip() for name, text in given.items() if text.strip()}


def counts(bookmarks: Mapping[str, Node], history: History) -> dict[str, int]:
    """Return how many rows each of them selects."""
    return {name: int(node.mask(history.explainer.table).sum()) for name, node in bookmarks.items()}
