"""Groups of rows that have a curve each: the levels of a feature, the two sides of a condition, or several conditions such as regions."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.levels import levels_of
from pdp_widgets.explain.splits import positively
from pdp_widgets.inputs.subgroup import Levels, Range, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdp_widgets.inputs import FeatureTable
    from pdp_widgets.inputs.subgroup import Node

__all__ = ["MOST_GROUPS", "Group", "conditions_of", "groups_of", "in_words", "other_side", "whole"]

MOST_GROUPS = 8
"""Levels that have a curve: colours for more could not be told apart."""

_PIECE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`|[^;]|;")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`")
_AMBIGUOUS = re.compile(r"^\s*$|^\s|\s$|[&|,=<>\[\]'\"`~]|[\x00-\x1f]|\b(?:and|or)\b|^(?:missing|known)$")
"""What a level or name is not told apart from the words around it by, unless it has quotes."""
_HELD = re.compile("\x01(\\d+)\x02")
_OR_MISSING = re.compile(r"\(((?:[^()|]* )?([^\s()|]+)(?: [^()|]*)?) \| \2 is missing\)")
_LIST = re.compile(r"(\S+) (not in|in) \[([^\]]*)\]")
_NOT = re.compile(r"~\(([^()~]*)\)")
_SIMPLE = re.compile(r"(\S+) (==|!=|in|not in|is missing|is known)((?: .*)?)")
_OPPOSITE = {"==": "!=", "in": "not in", "is missing": "is known"}
_OPPOSITE |= {other: word for word, other in _OPPOSITE.items()}
_WORDS = {" == ": " = ", " != ": " is not ", " & ": " and ", " | ": " or "}


@dataclass(frozen=True, eq=False)
class Group:
    """Some rows, and what they have in common."""

    label: str
    condition: str
    """As ``subgroup`` takes it."""
    mask: np.ndarray = field(repr=False)

    def same(self, other: Group) -> bool:
        """Whether it is the same rows under the same name."""
        alike = (self.label, self.condition) == (other.label, other.condition)
        return alike and np.array_equal(self.mask, other.mask)


def groups_of(explainer: Any, by: str) -> tuple[list[Group], str]:
    """Return the groups, and a note where there are more of them.

    Parameters
    ----------
    explainer : Explainer
    by : str
        A feature (numbers and dates are cut at their quartiles; of a category the most frequent levels count), a condition
        such as ``"temp < 14"``: the rows where it holds, and the others; or several, ``"temp < 14 & hum > 80; temp >= 14"``: the
        rows of each.

    Raises
    ------
    InputError
        For a condition that cannot be read.
    """
    table = explainer.table
    if by not in explainer.features:
        nodes = conditions_of(by, table)
        if len(nodes) == 1:
            nodes.append(other_side(nodes[0], table))
        note = f"the first {MOST_GROUPS} of {len(nodes)} conditions have a curve" if len(nodes) > MOST_GROUPS else ""
        return [_group(node, table) for node in nodes[:MOST_GROUPS]], note
    feature = table.feature(by)
    observed = table.observed(feature)
    inside = np.ones(table.n_rows, dtype=bool)
    wanted = MOST_GROUPS if observed.kind == "category" else None
    levels, note = levels_of(table, feature, inside, wanted, explainer.weights)
    return [Group(level.label, level.condition, level.mask) for level in levels if level.mask.any()], note.split(";")[0]


def conditions_of(text: str, table: FeatureTable) -> list[Node]:
    """Return the conditions in a text that has semicolons between them.

    Raises
    ------
    InputError
        For one that cannot be read.
    """
    parts = [""]
    for piece in _PIECE.findall(text):
        if piece == ";":
            parts.append("")
        else:
            parts[-1] += piece
    return [parse(part.strip(), table) for part in parts if part.strip()]


def other_side(node: Node, table: FeatureTable) -> Node:
    """Return a condition for all other rows, the plainest there is."""
    others = ~node.mask(table)
    if isinstance(node, Range) and (node.low is None) != (node.high is None):
        for missing in (False, True):
            flipped = replace(
                node,
                low=node.high,
                high=node.low,
                low_closed=not node.high_closed,
                high_closed=not node.low_closed,
                missing=missing,
            )
            if (flipped.mask(table) == others).all():
                return flipped
    against = ~node
    return positively(against, table.observed(against.feature)) if isinstance(against, Levels) else against


def whole(groups: Sequence[Group], mask: np.ndarray) -> bool:
    """Whether a selection takes groups as a whole: then their curves need not be those of fewer rows, and all of them stay."""
    return all(not (group.mask & mask).any() or not (group.mask & ~mask).any() for group in groups)


def in_words(condition: str) -> str:
    """Return a condition as one reads it: ``workday = N`` instead of ``workday == 'N'``.

    Examples
    --------
    >>> in_words("`kind of day` in ['FALL', None] & ~(temp == 3)")
    'kind of day = FALL or missing and temp is not 3'
    >>> in_words("c == 'b | c'")
    "c = 'b | c'"
    """
    held: dict[str, int] = {}
    # Nothing below looks into names and levels: each has a number in its place.
    text = _QUOTED.sub(lambda found: f"\x01{held.setdefault(found[0], len(held))}\x02", condition)
    text = text.replace(".isna()", " is missing").replace(".notna()", " is known")
    text = _OR_MISSING.sub(r"\1 or missing", text)
    before = ""
    while before != text:
        before, text = text, _NOT.sub(_negated, text)
    text = _LIST.sub(_listed, text)
    for sign, word in _WORDS.items():
        text = text.replace(sign, word)
    quoted = list(held)
    text = text.replace("~(", "not (").replace("\x03", "(").replace("\x04", ")")
    return _HELD.sub(lambda found: _plain(quoted[int(found[1])]), text)


def _plain(quoted: str) -> str:
    """Return a level or name without its quotes where they are not needed."""
    inner = quoted[1:-1].replace("``", "`") if quoted[0] == "`" else str(ast.literal_eval(quoted))
    return quoted if _AMBIGUOUS.search(inner) else inner


def _negated(found: re.Match[str]) -> str:
    part = found[1]
    if any(word in part for word in (" & ", " | ", " or ")):
        return f"not \x03{part}\x04"  # brackets that stay, and are not looked at again
    simple = _SIMPLE.fullmatch(part)
    return f"{simple[1]} {_OPPOSITE[simple[2]]}{simple[3]}" if simple else f"not {part}"


def _listed(found: re.Match[str]) -> str:
    """Return a list of levels of which one may be a missing value."""
    name, sign, levels = found[1], found[2], found[3].split(", ")
    known = [level for level in levels if level != "None"]
    if len(known) == len(levels):
        return found[0]
    if not known:
        return f"{name} is {'missing' if sign == 'in' else 'known'}"
    one = len(known) == 1
    of = known[0] if one else f"[{', '.join(known)}]"
    if sign == "in":
        return f"{name} {'= ' if one else 'in '}{of} or missing"
    return f"{name} is known and not {'' if one else 'in '}{of}"


def _group(node: Node, table: FeatureTable) -> Group:
    return Group(in_words(node.text), node.text, node.mask(table))
