"""Conditions of a rule: at most one per feature, merged from as many as led to it, and in words.

The conditions themselves (ranges, levels, missing values) are those that describe subgroups: ``inputs.conditions``.
"""

from __future__ import annotations

from typing import Any

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Levels, Missing, Node, Not, Or, Range, conjunction, is_missing, literal_text

Condition = Range | Levels | Missing


def merged(node: Node) -> tuple[Condition, ...]:
    """Return the conditions that must all hold, those on one feature merged, in the order in which features appear.

    ``x <= 3 & x <= 2`` becomes ``x <= 2``, ``5 < a & a <= 10`` one interval, ``c in [1, 2] & c != 1`` one set, and
    ``x <= 3 | x.isna()`` one condition whose ``missing`` is true.

    Raises
    ------
    InputError
        For what is no conjunction, such as an alternative between two features.
    """
    ordered: list[Condition] = []
    for part in node.conditions:
        condition = _single(part)
        for at, old in enumerate(ordered):
            joined = _both(old, condition) if old.feature == condition.feature else None
            if joined is not None:
                ordered[at] = joined
                break
        else:
            ordered.append(condition)
    features = list(dict.fromkeys(condition.feature for condition in ordered))
    return tuple(sorted(ordered, key=lambda condition: features.index(condition.feature)))


def words(condition: Condition) -> str:
    """Return a condition as people read it: ``12 < temp ≤ 30 or missing``, ``weather in {GOOD, MISTY}``."""
    name = condition.feature
    if isinstance(condition, Missing):
        return f"{name} missing"
    if isinstance(condition, Levels):
        present = [level for level in condition.levels if level is not None]
        texts = [_plain(literal_text(level, condition.kind)) for level in present]
        missing = len(present) < len(condition.levels)
        if not present:
            return f"{name} {'not ' if condition.negate else ''}missing"
        sign, several = ("≠", "not in") if condition.negate else ("=", "in")
        text = f"{name} {sign} {texts[0]}" if len(texts) == 1 else f"{name} {several} {{{', '.join(texts)}}}"
        return text + (f" {'and not' if condition.negate else 'or'} missing" if missing else "")
    bare = Range("x", condition.low, condition.high, condition.low_closed, condition.high_closed, kind=condition.kind)
    if condition.low is None and condition.high is None:
        text = f"{name} not missing"
    else:
        signs = (("<=", "≤"), (">=", "≥"), ("==", "="), ("'", ""), (" x ", f" {name} "))
        text = f" {bare.text} "
        for written, read in signs:
            text = text.replace(written, read)
        text = text.strip()
    return f"{text} or missing" if condition.missing else text


def _plain(text: str) -> str:
    """Return a literal without the quotes around a text."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _single(node: Node) -> Condition:
    """Return a condition on one feature as one object."""
    if isinstance(node, Not) and isinstance(node.part, Missing):
        return Range(node.part.feature)
    if isinstance(node, Or):
        parts = [_single(part) for part in node.parts]
        joined = parts[0]
        for part in parts[1:]:
            either = _either(joined, part) if part.feature == joined.feature else None
            if either is None:
                break
            joined = either
        else:
            return joined
    if isinstance(node, Range | Levels | Missing):
        return node
    raise InputError(
        f"{node.text!r} cannot stand in a rule; a rule is made of ranges and levels of single features that must all hold, "
        "such as \"temp > 20 & weather in ['GOOD', 'MISTY']\""
    )


def _either(a: Condition, b: Condition) -> Condition | None:
    """Return ``a | b`` of the same feature where one of them says that the value is missing, or both are sets."""
    if isinstance(a, Missing):
        a, b = b, a
    if isinstance(b, Missing):
        if isinstance(a, Missing):
            return a
        if isinstance(a, Range):
            return Range(a.feature, a.low, a.high, a.low_closed, a.high_closed, missing=True, kind=a.kind)
        return _levels(a, [*a.levels, None]) if not a.negate else _levels(a, _less(a.levels, [None]))
    if isinstance(a, Levels) and isinstance(b, Levels) and not a.negate and not b.negate:
        return _levels(a, [*a.levels, *_less(b.levels, a.levels)])
    return None


def _both(a: Condition, b: Condition) -> Condition | None:
    """Return ``a & b`` of the same feature as one condition; None where they stay two."""
    if isinstance(a, Range) and isinstance(b, Range):
        both = conjunction([a, b])
        return both if isinstance(both, Range) else None
    if isinstance(a, Levels) and isinstance(b, Levels):
        if a.negate and b.negate:
            return _levels(a, [*a.levels, *_less(b.levels, a.levels)])
        if a.negate:
            a, b = b, a
        kept = _less(a.levels, b.levels) if b.negate else [level for level in a.levels if not _less([level], b.levels)]
        return _levels(a, kept)
    if isinstance(a, Missing) and isinstance(b, Missing):
        return a
    return None


def _levels(like: Levels, levels: Any) -> Levels:
    return Levels(like.feature, tuple(levels), negate=like.negate, kind=like.kind)


def _less(levels: Any, taken: Any) -> list[Any]:
    """Return the levels that are not taken; True is not 1 and "1" is neither."""
    gone = {_key(level) for level in taken}
    return [level for level in levels if _key(level) not in gone]


def _key(level: Any) -> tuple[str, Any]:
    if is_missing(level):
        return "", None
    if isinstance(level, str):
        return "text", level
    try:
        return ("flag", bool(level)) if type(level).__name__ in ("bool", "bool_") else ("number", float(level))
    except (TypeError, ValueError):
        return type(level).__name__, level
