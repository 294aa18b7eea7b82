"""What a person probably meant who typed a condition that cannot be read, or a value that does not exist."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .conditions import is_missing, literal_text, observed_of, quote, same
from .errors import InputError, nearest_name

if TYPE_CHECKING:
    from .table import FeatureTable

__all__ = ["DATE", "brief", "check_level", "declared", "is_level", "syntax_hint"]

DATE = re.compile(r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b")
"""A date without quotes."""

_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`]|``)*`""", re.DOTALL)

_HINTS = [
    (r"[\u2018\u2019\u201c\u201d]", "use plain quotes: '...'"),
    (r"&&", "write & or and, not &&"),
    (r"\|\|", "write | or or, not ||"),
    (r"=<|=>", "write <= or >="),
    (r"<>", "write !=, not <>"),
    (r"===", "write =="),
    (r"!(?!=)", "write ~ or not, not !"),
    (r"\b(?:AND|OR|NOT|IN)\b", "write and, or, not, in with small letters"),
    (r"(?i)\bbetween\b", "write a range as 1 <= x <= 2"),
    (DATE.pattern, "dates need quotes: '2024-05-31'"),
]
"""Patterns outside quotes, and what to write instead."""

_DANGLING = re.compile(r"(<=|>=|==|!=|<|>|&|\||~|\b(?:and|or|not|in))\s*$")


def brief(text: str, most: int = 200) -> str:
    """Return the text, or its beginning where it is long."""
    return text if len(text) <= most else text[:most] + " ..."


def syntax_hint(text: str, table: FeatureTable) -> str:
    """Return ``"; what to write"`` for a text that is no condition."""
    bare = _QUOTED.sub("x", text)
    for pattern, hint in _HINTS:
        if re.search(pattern, bare):
            return f"; {hint}"
    for mark, hint in [
        ("`", "a backtick is not closed"),
        ("'", "a quote is not closed"),
        ('"', "a quote is not closed"),
    ]:
        if mark in bare:
            return f"; {hint}"
    for opening, closing in ("()", "[]"):
        missing = bare.count(opening) - bare.count(closing)
        if missing:
            return f"; a {closing if missing > 0 else opening} is missing"
    dangling = _DANGLING.search(bare)
    if dangling:
        return f"; something is missing after {dangling[1]}"
    for name in table.features:
        awkward = quote(name) != name and name.strip() and not keyword.iskeyword(name)
        if awkward and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) and quote(name) not in text:
            return f"; write {quote(name)} with backticks"
    return "; a condition reads like temp > 20 & season == 'SUMMER'"


def declared(feature: str, table: FeatureTable) -> list[Any]:
    """Return the levels that a category's dtype or group names, observed or not; none for other features."""
    one = table.features[feature] if feature in table.features else table.column(feature)
    if one.kind == "group":
        return [*table.group_names(one).values(), "(base)"]
    empty = table.values(one, np.empty(0, dtype=int))[0]
    categories = getattr(getattr(empty, "dtype", None), "categories", None)
    try:
        return [] if categories is None else list(categories)
    except TypeError:  # polars has categories that are not listed
        return []


def is_level(feature: str, value: Any, table: FeatureTable) -> bool:
    """Whether a category has a value, observed or declared."""
    if is_missing(value):
        return True
    levels = observed_of(table, feature).levels or []
    if isinstance(value, str) and value in levels:
        return True
    return any(same(raw, value) for raw in levels) or any(same(raw, value) for raw in declared(feature, table))


def check_level(feature: str, value: Any, table: FeatureTable) -> None:
    """Refuse a value that a category does not have.

    Raises
    ------
    InputError
        With the nearest value, or the first few.
    """
    if observed_of(table, feature).levels is None or is_level(
        feature, value, table
    ):  # None: a table that does not know them
        return
    levels = observed_of(table, feature).levels or []
    texts = {str(level): literal_text(level) for level in reversed(levels)}
    nearest = nearest_name(value, texts)
    if nearest is not None:
        hint = f"; did you mean {texts[nearest]}?"
    else:
        shown = ", ".join(literal_text(level) for level in levels[:6]) + (", ..." if len(levels) > 6 else "")
        hint = f"; it has {shown}" if levels else "; it has no values at all"
    raise InputError(f"{quote(feature)} has no value {brief(literal_text(value))}{brief(hint)}")
