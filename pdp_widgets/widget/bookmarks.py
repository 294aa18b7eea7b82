"""Bookmarks: selections by name, to come back to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pdp_widgets.inputs import InputError

if TYPE_CHECKING:
    from pdp_widgets.inputs.subgroup import Node

    from .selection import History

__all__ = ["MOST", "counts", "read"]

MOST = 100
"""Bookmarks of one widget."""

_LONGEST_NAME = 80


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


def counts(bookmarks: Mapping[str, Node], history: History) -> dict[str, int]:
    """Return how many rows each of them selects."""
    return {name: int(node.mask(history.explainer.table).sum()) for name, node in bookmarks.items()}
