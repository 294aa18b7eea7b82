"""Groups of rows that have a curve each: the levels of a feature, the two sides of a condition, or several conditions such as regions."""

from __future__ import annotations

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
_QUOTED = re.compile(r"'[^'\\]*'|`[^`]*`")
_OR_MISSING = re.compile(r"\(([^()|]+) \| [^()|]+\.isna\(\)\)")
_WORDS = {
    " == ": " = ",
    " != ": " is not ",
    ".isna()": " is missing",
    ".notna()": " is known",
    " & ": " and ",
    " | ": " or ",
}


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
    """Return a condition as one reads it: ``workday = N`` instead of ``workday == 'N'``."""
    plain = _QUOTED.sub(lambda found: found[0][1:-1], _OR_MISSING.sub(r"\1 or missing", condition))
    for sign, word in _WORDS.items():
        plain = plain.replace(sign, word)
    return plain


def _group(node: Node, table: FeatureTable) -> Group:
    return Group(in_words(node.text), node.text, node.mask(table))
