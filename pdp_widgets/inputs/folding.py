"""Conditions in their shortest form: what is said about one feature in several parts becomes one part where it can.

Everything said about a category is one set of levels. What is said about numbers or dates is one range where it comes to one
interval, and stays as it is where it does not. The rows of the table that fulfil the condition are the same before and after.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .conditions import And, Levels, Missing, Node, Not, Or, Range, alternatives, axis_value, conjunction
from .hints import is_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from .table import FeatureTable

__all__ = ["feature_of", "fold", "leaves_of"]


def fold(node: Node, table: FeatureTable) -> Node:
    """Return a condition for the same rows of the table, with one part per feature where that is possible."""
    match node:
        case And():
            return _all([fold(part, table) for part in node.parts], table)
        case Or():
            parts = [inner for part in node.parts for inner in alternatives(fold(part, table))]
            parts = _grouped(parts, Or, table)
            return parts[0] if len(parts) == 1 else Or(tuple(parts))
        case Not():
            return _negated(fold(node.part, table), table)
        case Levels() if _is_category(node.feature, table):
            if not all(is_level(node.feature, level, table) for level in node.levels):
                return _folded(node, node.feature, table) or node  # so that its text can be read back
    return node


def leaves_of(node: Node) -> list[Node]:
    """Return the single conditions of a tree."""
    if isinstance(node, And | Or):
        return [leaf for part in node.parts for leaf in leaves_of(part)]
    return leaves_of(node.part) if isinstance(node, Not) else [node]


def feature_of(node: Node) -> str | None:
    """Return the one feature whose values a condition is about, None when there is no such one."""
    about = {leaf.feature if isinstance(leaf, Range | Levels | Missing) else None for leaf in leaves_of(node)}
    return about.pop() if len(about) == 1 else None


def _grouped(parts: list[Node], combine: Callable[[tuple[Node, ...]], Node], table: FeatureTable) -> list[Node]:
    """Fold the parts that are about the same feature, each group at its first part's place."""
    groups: dict[object, list[Node]] = {}
    for part in parts:
        feature = feature_of(part)
        groups.setdefault(id(part) if feature is None else feature, []).append(part)
    result: list[Node] = []
    for about, group in groups.items():
        if not isinstance(about, str):
            result.append(group[0])  # what is said twice need not be
            continue
        one = _folded(combine(tuple(group)), about, table) if len(group) > 1 else None
        result += group if one is None else [one]
    return result


def _all(nodes: list[Node], table: FeatureTable) -> Node:
    """Return the conjunction of folded conditions, folded."""
    return conjunction(_grouped([part for node in nodes for part in node.conditions], And, table))


def _negated(node: Node, table: FeatureTable) -> Node:
    feature = feature_of(node)
    if feature is not None:
        return _folded(~node, feature, table) or ~node
    if isinstance(node, Or):
        # Neither the categories' parts nor the others hold: the categories can be told on their own.
        plain = [part for part in node.parts if (name := feature_of(part)) is not None and _is_category(name, table)]
        others = tuple(part for part in node.parts if part not in plain)
        if plain and others:
            rest = _negated(others[0] if len(others) == 1 else Or(others), table)
            return _all([*(_negated(part, table) for part in plain), rest], table)
        if plain:
            return _all([_negated(part, table) for part in plain], table)
    return ~node


def _is_category(feature: str, table: FeatureTable) -> bool:
    return feature in table.features and table.observed(feature).kind == "category"


def _folded(node: Node, feature: str, table: FeatureTable) -> Node | None:
    """Return what a condition on one feature comes to, None when that is no single set or interval."""
    if feature not in table.features:
        return None  # asking for its rows will say so
    if _is_category(feature, table):
        return _level_set(node, feature, table)
    return _interval(node, feature, table)


# ---- categories: sets of levels ----------------------------------------------------------------


def _level_set(node: Node, feature: str, table: FeatureTable) -> Node:
    observed = table.observed(feature)
    raw = [*(observed.levels or []), None]
    codes = np.where(np.isnan(observed.codes), len(raw) - 1, observed.codes).astype(int)
    present, inside = (np.bincount(some, minlength=len(raw)) > 0 for some in (codes, codes[node.mask(table)]))
    negate = _names_the_others(node)
    levels = tuple(raw[k] for k in np.flatnonzero(present & ~inside if negate else inside))
    if levels == (None,):
        return Not(Missing(feature)) if negate else Missing(feature)
    return Levels(feature, levels, negate)


def _names_the_others(node: Node) -> bool:
    """Whether a condition on levels is written by those it does not hold for."""
    match node:
        case And():
            return all(_names_the_others(part) for part in node.parts)
        case Or():
            return any(_names_the_others(part) for part in node.parts)
        case Not():
            return not _names_the_others(node.part)
    return isinstance(node, Levels) and node.negate


# ---- numbers and dates: sets of intervals --------------------------------------------------------

# Between two cuts, in ascending order, values are in; a cut lies just below (0) or just above (1) a number.
_Cut = tuple[float, int]
_LOWEST: _Cut = (-math.inf, 0)
_HIGHEST: _Cut = (math.inf, 1)
_Set = tuple[tuple[_Cut, ...], bool]  # the cuts, and whether missing values are in

_EXACT = 2.0**53


def _interval(node: Node, feature: str, table: FeatureTable) -> Node | None:
    observed = table.observed(feature)
    whole = table.features[feature].kind == "integer"
    cuts, missing = _cuts(node, table, whole=whole)
    missing = missing and bool(np.isnan(observed.codes).any())
    if not cuts and missing:
        return Missing(feature)
    if len(cuts) != 2 or missing:
        return None
    (low, above), (high, below) = cuts
    if whole and abs(high) < _EXACT and not below:
        high, below = high - 1, 1
    return Range(
        feature,
        None if cuts[0] == _LOWEST else low,
        None if cuts[1] == _HIGHEST else high,
        low_closed=not above,
        high_closed=bool(below),
        kind=observed.text_kind,
    )


def _cuts(node: Node, table: FeatureTable, *, whole: bool) -> _Set:
    match node:
        case Range():
            low = _LOWEST if node.low is None else _cut(node.low, not node.low_closed, whole=whole)
            high = _HIGHEST if node.high is None else _cut(node.high, node.high_closed, whole=whole)
            return ((low, high) if low < high else ()), node.missing
        case Levels():
            values = [axis_value(v, table.observed(node.feature), node.feature) for v in node.levels if v is not None]
            points: list[_Set] = [((_cut(v, False, whole=whole), _cut(v, True, whole=whole)), False) for v in values]
            one_of = _combined(points, any)[0], None in node.levels
            return _others(one_of) if node.negate else one_of
        case Missing():
            return (), True
        case Not():
            return _others(_cuts(node.part, table, whole=whole))
        case And():
            return _combined([_cuts(part, table, whole=whole) for part in node.parts], all)
        case Or():
            return _combined([_cuts(part, table, whole=whole) for part in node.parts], any)
    raise TypeError(node)


def _cut(value: float, above: bool, *, whole: bool) -> _Cut:
    value = float(value)
    if not whole or not abs(value) < _EXACT:
        return value, int(above)
    return (math.floor(value) + 1.0, 0) if above else (float(math.ceil(value)), 0)  # so that 1 and 2 are neighbours


def _others(given: _Set) -> _Set:
    cuts, missing = given
    cuts = cuts[1:] if cuts[:1] == (_LOWEST,) else (_LOWEST, *cuts)
    return (cuts[:-1] if cuts[-1:] == (_HIGHEST,) else (*cuts, _HIGHEST)), not missing


def _combined(sets: list[_Set], rule: Callable[[list[bool]], bool]) -> _Set:
    """Return where all, or any, of the sets hold."""
    places = sorted({_LOWEST, *(cut for cuts, _ in sets for cut in cuts)})
    result: list[_Cut] = []
    inside = False
    for place in places:
        now = place < _HIGHEST and rule([sum(cut <= place for cut in cuts) % 2 == 1 for cuts, _ in sets])
        if now != inside:
            result.append(place)
            inside = now
    if inside:
        result.append(_HIGHEST)
    return tuple(result), rule([missing for _, missing in sets])
