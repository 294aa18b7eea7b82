"""Candidate terms of a RuleFit: the distinct rules of trees with the rows that they hold for, and the linear terms.

Which of them are worth a coefficient is the sparse fit's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .cuts import Interval, Part, Subset, condition, size
from .generator import grow_by
from .grow import Boosting, Family, Tree, grow
from .linear import linear_terms
from .table import Ranks, Table
from .terms import Linear, Rule

if TYPE_CHECKING:
    from pdp_widgets.inputs import FeatureTable

    from .conditions import Condition

__all__ = ["Candidates", "candidates", "harvest"]

Parts = dict[int, Part]
"""The part of each column that a node holds for; columns that do not matter are absent."""


@dataclass(frozen=True)
class Candidates:
    """The terms among which the sparse fit chooses, at the n training rows."""

    rules: tuple[Rule, ...]
    """R rules, no two equal or complementary on the training rows, none of support 0 or 1."""
    masks: np.ndarray
    """(n, R) bool, Fortran order: whether a rule holds for a row, as ``rule.mask`` says."""
    linear: tuple[Linear, ...]
    """L linear terms."""
    values: np.ndarray
    """(n, L) float64: the linear terms at the rows, clipped, in the features' own units."""
    signs: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    """(R + L,) int: 1 or -1 where monotone features allow a coefficient one sign only, else 0."""


def candidates(
    table: Table,
    X: Any,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    rng: np.random.Generator,
    family: Family = "squared",
    tree_generator: Any = None,
    max_rules: int = 2000,
    tree_size: float = 4.0,
    max_conditions: int | None = None,
    min_samples_leaf: int | float | None = None,  # noqa: PYI041 - 1 is a row, 1.0 is all of them
    subsample: int | float | None = None,  # noqa: PYI041
    learning_rate: float = 0.01,
    linear: str | Iterable[str] = "all",
    winsorize: float | None = 0.025,
    monotone: Mapping[Any, int] | Iterable[int] | None = None,
) -> Candidates:
    """Return the candidate rules and linear terms of training rows.

    Parameters
    ----------
    table : Table
        The columns of the training rows.
    X : FeatureTable or table in any container
        The n training rows.
    y : (n,) array
        Numbers; 0 and 1 if the family is "logistic".
    weights : (n,) array, optional
        At least 0.
    rng : numpy.random.Generator
        The only source of randomness.
    family : {"squared", "logistic"}
        What the trees, and the sparse fit behind, look at: squared error, or the logistic loss of one class.
    tree_generator : estimator, optional
        A tree or an ensemble of trees to be cloned, fitted and read instead of our boosted trees; see ``generator``.
    max_rules : int
        Roughly the number of rules that trees are grown for. Of a ``tree_generator`` with more, the shorter ones.
    tree_size, max_conditions, min_samples_leaf, subsample, learning_rate
        See ``grow.Boosting``; of a ``tree_generator`` only ``max_conditions`` is heeded.
    linear, winsorize
        See ``linear.linear_terms``.
    monotone : mapping of names to -1, 0 or 1, or one such number per column, optional
        Directions that the prediction may move in with a feature. Rules that move both ways are left out.

    Raises
    ------
    InputError
        For options that make no sense and generators that cannot be used.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> found = candidates(Table.of(X), X, (X[:, 0] > 0.5) * 1.0, max_rules=1, subsample=1.0, rng=np.random.default_rng(1))
    >>> [rule.text for rule in found.rules], [term.text for term in found.linear]
    (['x0 > 0.5'], ['x0', 'x1'])
    """
    how = Boosting(max_rules, tree_size, max_conditions, min_samples_leaf, subsample, learning_rate)
    directions = table.signs(monotone)
    rows = table.rows(X)
    encoded = table.encode(rows)
    ranks = Ranks.of(encoded)
    y = np.asarray(y, dtype=float)
    if tree_generator is None:
        trees = grow(table, ranks, y, weights, family=family, how=how, signs=directions, rng=rng)
    else:
        trees = grow_by(tree_generator, table, ranks, encoded, y, weights, family=family, signs=directions, rng=rng)
    rules, masks, signs = harvest(
        trees, table, rows, ranks, weights,
        max_rules=max_rules if tree_generator is not None else None,
        max_conditions=max_conditions, signs=directions, rng=rng,
    )  # fmt: skip
    terms, values = linear_terms(table, rows, weights, winsorize=winsorize, linear=linear)
    of_terms = [0 if term.level == (None,) else directions[table.position(term.feature)] for term in terms]
    return Candidates(rules, masks, terms, values, np.append(signs, of_terms).astype(np.int8))


def harvest(
    trees: Iterable[Tree],
    table: Table,
    rows: FeatureTable,
    ranks: Ranks,
    weights: np.ndarray | None = None,
    *,
    max_rules: int | None = None,
    max_conditions: int | None = None,
    signs: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
) -> tuple[tuple[Rule, ...], np.ndarray, np.ndarray]:
    """Return the distinct rules of trees: every node but the roots.

    Parameters
    ----------
    trees : iterable of Tree
    table, rows, ranks
        The columns, and the n training rows in two views.
    weights : (n,) array, optional
    max_rules : int, optional
        Most rules that are looked at: those with fewer splits, of the last depth a random part.
    max_conditions : int, optional
        Rules with more conditions are left out.
    signs : (p,) int array, optional
        Directions of monotone columns; rules that go against them whatever the sign of their coefficient are left out.
    rng : numpy.random.Generator, optional
        Chooses the random part.

    Returns
    -------
    rules : tuple of Rule
        Of those equal or complementary on the training rows the one with fewest conditions, then shortest text; the
        texts of the others are in its ``also``.
    masks : (n, R) bool array
        In Fortran order.
    signs : (R,) int array
        The sign that a rule's coefficient may have, 0 for both.
    """
    directions = np.zeros(len(table.columns), dtype=int) if signs is None else signs
    bits = _Bits(table, rows, ranks, weights)
    groups: dict[bytes, list[_Found]] = {}
    for parts in _nodes(trees, ranks, bits, max_rules, rng):
        sign = _sign(parts, ranks, directions)
        held = bits.of(parts)
        if sign is None or not bits.divides(held):
            continue
        conditions = bits.conditions(parts)
        if max_conditions is not None and len(conditions) > max_conditions:
            continue
        key, flipped = bits.key(held)
        groups.setdefault(key, []).append(_Found(conditions, flipped, sign))

    best = [min(group, key=_Found.length) if len(group) > 1 else group[0] for group in groups.values()]
    masks = bits.masks(groups, [found.flipped for found in best])
    supports = _supports(masks, weights)
    rules = tuple(
        replace(found.rule, support=support, also=_others(found, group))
        for found, group, support in zip(best, groups.values(), supports.tolist(), strict=True)
    )
    return rules, masks.T, np.array([found.sign for found in best], dtype=np.int8)


class _Found:
    """A rule among those that say the same of the training rows, or the opposite."""

    def __init__(self, conditions: tuple[Condition, ...], flipped: bool, sign: int) -> None:
        self.rule, self.flipped, self.sign = Rule(conditions), flipped, sign

    def length(self) -> tuple[int, int]:
        return len(self.rule.conditions), len(self.rule.text)


def _others(found: _Found, group: list[_Found]) -> tuple[str, ...]:
    """Return the texts of the other rules of a group, negated where they hold for the other rows."""
    texts = []
    for other in group:
        opposite = other.flipped != found.flipped
        if other is found or (opposite and _of_one(other, found)):
            continue  # that x > 5 is not x <= 5 needs no saying
        text = other.rule.text
        if opposite:
            text = f"not {text}" if len(other.rule.conditions) == 1 else f"not ({text})"
        texts.append(text)
    return tuple(dict.fromkeys(texts))


def _of_one(a: _Found, b: _Found) -> bool:
    """Return whether two rules are single conditions on the same feature."""
    features = {(*(condition.feature for condition in found.rule.conditions),) for found in (a, b)}
    return len(features) == 1 and len(a.rule.conditions) == 1


class _Bits:
    """Sets of training rows, eight to a byte: a rule is the intersection of its conditions, each evaluated once."""

    def __init__(self, table: Table, rows: FeatureTable, ranks: Ranks, weights: np.ndarray | None) -> None:
        self.table, self.rows, self.ranks = table, rows, ranks
        self.n = rows.n_rows
        self.all = np.packbits(np.ones(self.n, dtype=bool))
        self.live = self.all if weights is None else np.packbits(np.asarray(weights) > 0)
        self.lacking = {j: np.packbits(ranks.missing(j)) for j, c in enumerate(table.columns) if c.missing}
        self._made: dict[tuple[int, Part], tuple[Condition | None, np.ndarray]] = {}

    def _one(self, j: int, part: Part) -> tuple[Condition | None, np.ndarray]:
        made = self._made.get((j, part))
        if made is None:
            that = condition(self.table.columns[j], self.ranks.values[j], part)
            made = that, self.all if that is None else np.packbits(that.mask(self.rows))
            self._made[j, part] = made
        return made

    def of(self, parts: Parts) -> np.ndarray:
        """Return the rows that lie in all parts."""
        held = self.all
        for j, part in parts.items():
            held = held & self._one(j, part)[1]
        return held

    def conditions(self, parts: Parts) -> tuple[Condition, ...]:
        made = (self._one(j, part)[0] for j, part in parts.items())
        return tuple(one for one in made if one is not None)

    def divides(self, held: np.ndarray) -> bool:
        """Return whether some rows that have weight are in the set and some are not."""
        inside = held & self.live
        return bool(inside.any()) and not np.array_equal(inside, self.live)

    def key(self, held: np.ndarray) -> tuple[bytes, bool]:
        """Return what a set and its complement have in common, and whether it is the complement."""
        flipped = bool(held[0] & 128)
        return (held ^ self.all if flipped else held).tobytes(), flipped

    def masks(self, keys: Iterable[bytes], flipped: list[bool]) -> np.ndarray:
        """Return (R, n) bool."""
        packed = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(flipped), len(self.all))
        packed = packed ^ np.array(flipped, dtype=bool)[:, None] * np.uint8(255)
        return np.unpackbits(packed, axis=1, count=self.n).view(bool)


def _nodes(
    trees: Iterable[Tree], ranks: Ranks, bits: _Bits, max_rules: int | None, rng: np.random.Generator | None
) -> Iterator[Parts]:
    """Yield what distinct nodes below the roots hold for, depth by depth, so that short rules come first."""
    known: set[frozenset[tuple[int, Part]]] = set()
    level: list[tuple[Tree, int, Parts]] = [(tree, tree.root, {}) for tree in trees]
    while level:
        below = [child for tree, node, parts in level for child in _children(tree, node, parts, ranks, bits)]
        level, fresh = [], []
        for tree, node, parts in below:
            if not bits.of(parts).any():
                continue
            key = frozenset(parts.items())
            if key not in known:
                known.add(key)
                fresh.append(parts)
            if tree.left[node] >= 0:
                level.append((tree, node, parts))
        if max_rules is not None:
            if len(fresh) > max_rules:
                chosen = (rng or np.random.default_rng(0)).choice(len(fresh), max_rules, replace=False)
                fresh = [fresh[k] for k in sorted(chosen)]
            max_rules -= len(fresh)
        yield from fresh
        if max_rules == 0:
            return


def _children(tree: Tree, node: int, parts: Parts, ranks: Ranks, bits: _Bits) -> Iterator[tuple[Tree, int, Parts]]:
    """Yield both children of a node, if it has any."""
    if tree.left[node] < 0:
        return
    j = int(tree.column[node])
    n_values = len(ranks.values[j])
    lacking = bits.lacking.get(j)
    left, missing_left = tree.parts(node, n_values)
    whole: Part = Interval(0, n_values, lacking is not None)
    if bits.table.columns[j].is_category:
        whole = Subset(frozenset(range(n_values)), lacking is not None)
    old = parts.get(j, whole)
    # Only where rows without a value came by did the tree decide about them; elsewhere the condition leaves them out.
    came = lacking is not None and old.missing and bool((bits.of(parts) & lacking).any())
    sides: list[Part]
    if isinstance(old, Subset):
        chosen = old.codes & frozenset(np.flatnonzero(left).tolist())
        sides = [Subset(chosen, came and missing_left), Subset(old.codes - chosen, came and not missing_left)]
    else:
        cut = min(max(int(np.count_nonzero(left)), old.start), old.stop)
        sides = [Interval(old.start, cut, came and missing_left), Interval(cut, old.stop, came and not missing_left)]
    others = {k: part for k, part in parts.items() if k != j}
    for child, side in zip((tree.left[node], tree.right[node]), sides, strict=True):
        if side == whole:
            yield tree, int(child), others
        elif size(side) or side.missing:
            yield tree, int(child), {**parts, j: side}


def _sign(parts: Parts, ranks: Ranks, directions: np.ndarray) -> int | None:
    """Return the sign that a rule's coefficient may have, 0 for both, None for neither."""
    signs = set()
    for j, part in parts.items():
        if not directions[j]:
            continue
        if isinstance(part, Subset):  # of false and true
            low, high = 0 not in part.codes, 1 not in part.codes
        else:
            low, high = part.start > 0, part.stop < len(ranks.values[j])
        if size(part) and (low or high):  # else it is about missing values only
            signs.add(0 if low and high else (1 if low else -1) * int(directions[j]))
    if not signs:
        return 0
    return signs.pop() if len(signs) == 1 and 0 not in signs else None


def _supports(masks: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the weighted share of rows of each mask, (R,)."""
    if weights is None:
        return np.count_nonzero(masks, axis=1) / masks.shape[1]
    weights = np.asarray(weights, dtype=float)
    sums = [masks[at : at + 256] @ weights for at in range(0, len(masks), 256)]
    return np.concatenate([np.empty(0), *sums]) / weights.sum()
