"""Growing the trees that rules are read from, as Friedman & Popescu (2008, section 3.3) do.

Small boosted trees of random size, each on a part of the rows. Only their structure is kept: what a rule is worth is
found by the sparse fit. Trees of the user's own ensemble come from ``generator``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit, logit
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from pdp_widgets.inputs import InputError

if TYPE_CHECKING:
    from .table import Ranks, Table

__all__ = ["Boosting", "Family", "Tree", "draw_sizes", "grow", "least_rows", "subsample_size"]

Family = Literal["squared", "logistic"]

_PRIOR_ROWS = 10
"""How many rows at the overall mean each level of a category is given before levels are put in order."""


@dataclass(frozen=True)
class Tree:
    """The splits of one tree, nodes as scikit-learn numbers them, -1 for no child.

    At a split of column c a row whose value has position k in ``Ranks`` shows the tree ``seen[c][k]`` (the last entry is
    for a missing value). It goes left if that is <= threshold, or among the category set; a NaN goes where
    ``missing_left`` says.
    """

    left: np.ndarray
    right: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    seen: tuple[np.ndarray, ...]
    root: int = 0
    category_set: np.ndarray | None = None
    """(N,) index into ``category_sets``, -1 for a split by threshold."""
    category_sets: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(cls, tree: Any, seen: tuple[np.ndarray, ...], columns: np.ndarray | None = None) -> Tree:
        """Return scikit-learn's ``tree_``; ``columns`` are those of X that it was given."""
        column = tree.feature if columns is None else np.where(tree.feature < 0, -1, np.asarray(columns)[tree.feature])
        missing_left = tree.missing_go_to_left.astype(bool)
        return cls(tree.children_left, tree.children_right, column, tree.threshold, missing_left, seen)

    def parts(self, node: int, n_values: int) -> tuple[np.ndarray, bool]:
        """Return which of a column's distinct values go left at a node, (n_values,) bool, and whether missing ones do."""
        seen = self.seen[self.column[node]]
        chosen = -1 if self.category_set is None else self.category_set[node]
        left = np.isin(seen, self.category_sets[chosen]) if chosen >= 0 else seen <= self.threshold[node]
        missing = bool(self.missing_left[node] if np.isnan(seen[-1]) else left[-1])
        return left[:n_values], missing


@dataclass(frozen=True)
class Boosting:
    """How many trees are grown, how large, and on which rows."""

    max_rules: int = 2000
    """Nodes without roots of all trees together."""
    tree_size: float = 4.0
    """Mean number of terminal nodes, before they are rounded down (mean 3.54 for 4)."""
    max_conditions: int | None = None
    """Depth of the trees at most."""
    min_samples_leaf: int | float | None = None
    """Rows in a node at least, or their share of a tree's rows; None: see ``least_rows``."""
    subsample: int | float | None = None
    """Rows of each tree, or their share of all; None: min(N / 2, 100 + 6 sqrt(N))."""
    learning_rate: float = 0.01
    """How much of each tree the next ones know of."""

    def __post_init__(self) -> None:
        """Raise for what is no number of that kind."""
        _require("max_rules", self.max_rules, _within(self.max_rules, 0), "a number of rules, or 0 for none")
        _require(
            "tree_size", self.tree_size, _within(self.tree_size, 2), "a mean number of terminal nodes of 2 or more"
        )
        _require("learning_rate", self.learning_rate, _within(self.learning_rate, 0, 1), "a share from 0 to 1")
        most: Any = self.max_conditions
        deep = most is None or (isinstance(most, Integral) and _within(most, 1))
        _require("max_conditions", most, deep, "1 or more, or None for any number")
        _require("min_samples_leaf", self.min_samples_leaf, _is_count(self.min_samples_leaf), "rows or a share below 1")
        _require("subsample", self.subsample, _is_count(self.subsample, most=1.0), "rows or a share up to 1")


def grow(
    table: Table,
    ranks: Ranks,
    y: np.ndarray,
    weights: np.ndarray | None,
    *,
    family: Family,
    how: Boosting,
    signs: np.ndarray,
    rng: np.random.Generator,
) -> list[Tree]:
    """Return boosted trees.

    Tree m has t_m = 2 + floor(g) terminal nodes, g exponential with mean ``tree_size - 2``, grown best-first on a
    random part of the rows; what is left to explain after ``learning_rate`` times the sum of the trees before is its
    target. There are as many trees as make ``max_rules`` rules, 2 (t_m - 1) of each.

    For classes the target is the gradient of the logistic loss, y - p, and terminal nodes move the log-odds by one
    Newton step. (Friedman & Popescu use a squared ramp loss, to bound the influence of mislabelled rows. The sparse
    fit behind is logistic here, so the trees look for what that fit lacks; and the slow learning rate, which keeps
    y - p far from being spent on few rows, bounds their influence too.)

    Weights tell how probably a row is drawn, and correct in the tree for rows that cannot be drawn as often as their
    weight asks; a row without weight is never drawn. Levels of a category stand in the order of their (smoothed)
    mean target, anew for each tree. Where a tree's rows lack values, its splits learn the side of the missing ones.

    Parameters
    ----------
    table : Table
    ranks : Ranks
        The n training rows.
    y : (n,) array
        Numbers; 0 and 1 if the family is "logistic".
    weights : (n,) array, optional
    family : {"squared", "logistic"}
    how : Boosting
    signs : (p,) int array
        Directions of monotone columns.
    rng : numpy.random.Generator
    """
    n = len(y)
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    live = np.flatnonzero(weights > 0)
    if len(live) < 2 or np.all(y[live] == y[live[0]]):
        return []
    chances, counts = _chances(weights[live], subsample_size(len(live), how.subsample))
    size, even = round(float(chances.sum())), counts.min() == counts.max()
    smallest = how.min_samples_leaf
    if smallest is None:
        smallest = least_rows(size, family)

    X = ranks.numbers()
    whole = not np.isnan(X).any()
    codes = {j: ranks.positions[:, j] for j, c in enumerate(table.columns) if c.is_category and len(c.levels) > 2}
    straight = tuple(np.append(np.arange(len(values), dtype=float), np.nan) for values in ranks.values)
    mean = np.average(y, weights=weights)
    score = np.full(n, mean if family == "squared" else logit(mean))
    # Where scikit-learn's trees cannot be told, rules that move both ways are still left out of the harvest.
    constraints = signs if signs.any() and (whole or _monotone_takes_missing()) else None
    trees = []
    with config_context(skip_parameter_validation=True):
        for n_leaves in draw_sizes(how.max_rules, how.tree_size, rng):
            target = y - (score if family == "squared" else expit(score))
            drawn = _draw(chances, rng)
            rows, weight = live[drawn], counts[drawn]
            seen = list(straight)
            for j, code in codes.items():
                seen[j] = np.append(_order(code[rows], target[rows], weight, len(ranks.values[j])), np.nan)
                X[:, j] = seen[j][code]
            model = DecisionTreeRegressor(
                max_leaf_nodes=n_leaves,
                max_depth=how.max_conditions,
                min_samples_leaf=smallest,
                monotonic_cst=constraints,
                random_state=int(rng.integers(2**31)),
            )
            # Unchecked rows are taken as they are, but for missing values: those are looked for by the check.
            model.fit(X[rows], target[rows], None if even else weight, check_input=not whole)
            leaf = model.apply(X, check_input=False)
            if family == "squared":
                value = model.tree_.value[:, 0, 0]
            else:
                probability = expit(score[rows])
                value = _newton(leaf[rows], target[rows], probability, weight, model.tree_.node_count)
            score += how.learning_rate * value[leaf]
            if model.tree_.node_count > 1:
                trees.append(Tree.of(model.tree_, tuple(seen)))
    return trees


def draw_sizes(max_rules: int, tree_size: float, rng: np.random.Generator) -> list[int]:
    """Return numbers of terminal nodes t_m such that the sum of 2 (t_m - 1) is ``max_rules``.

    The last one is cut to what is left; an odd ``max_rules`` is rounded up, as two rules of a tree always say the same.
    """
    sizes, left = [], (max_rules + 1) // 2
    while left > 0:
        size = 2 + int(rng.exponential(tree_size - 2))
        sizes.append(min(size, left + 1))
        left -= size - 1
    return sizes


def least_rows(size: int, family: Family) -> int:
    """Return how many of a tree's ``size`` rows a node has at least, unless the caller says.

    Two in a hundred, at least 5. Rules for numbers hold for 25 rows or more where that is at most 15 % of the rows: with less the
    lasso finds rules that fit the noise (diabetes data, means of six times five folds: R2 .421 with 67 terms for 5 rows, .427 with 43
    for 25). Of classes the rare one may have few rows in all, so that a larger minimum would hide it.

    Examples
    --------
    >>> [least_rows(size, "squared") for size in (20, 100, 176, 2000)], least_rows(176, "logistic")
    ([5, 15, 25, 40], 5)
    """
    few = max(5, int(0.02 * size))
    return few if family == "logistic" else max(few, min(25, int(0.15 * size)))


def subsample_size(n: int, subsample: int | float | None) -> int:  # noqa: PYI041 - 1 is a row, 1.0 is all of them
    """Return how many of n rows each tree is grown on."""
    if subsample is None:
        size = min(n / 2, 100 + 6 * np.sqrt(n))
    elif isinstance(subsample, float):
        size = subsample * n
    else:
        size = min(subsample, n)
    return max(1, int(size))


def _chances(weights: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's probability to be among ``size`` drawn ones, and what it counts when it is.

    Probabilities are proportional to the weights, but none is above 1; probability times count is proportional to the
    weight for all rows.
    """
    sure = np.zeros(len(weights), dtype=bool)
    while True:
        room = size - sure.sum()
        chances = np.where(sure, 1.0, weights * (room / weights[~sure].sum() if room > 0 else 0.0))
        above = chances > 1
        if not above.any():
            break
        sure |= above
    counts = np.divide(weights, chances, out=np.zeros(len(weights)), where=chances > 0)
    return chances, counts * (len(counts) / counts.sum())


def _draw(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows drawn without replacement, each with its probability (systematic, in random order), ascending."""
    size = round(float(chances.sum()))
    if chances.min() == chances.max():
        return np.sort(rng.choice(len(chances), size, replace=False, shuffle=False))
    order = rng.permutation(len(chances))
    steps = np.cumsum(chances[order])
    marks = (rng.random() + np.arange(size)) * (steps[-1] / size)
    return np.unique(order[np.searchsorted(steps, marks, side="right")])


def _order(codes: np.ndarray, target: np.ndarray, weights: np.ndarray, n_levels: int) -> np.ndarray:
    """Return each level's rank by its smoothed mean target; rows with other codes lack the value."""
    weights = weights / weights.mean()
    sums = np.bincount(codes, weights * target, n_levels + 1)[:n_levels]
    counts = np.bincount(codes, weights, n_levels + 1)[:n_levels]
    overall = np.average(target, weights=weights)
    means = (sums + _PRIOR_ROWS * overall) / (counts + _PRIOR_ROWS)
    ranks = np.empty(n_levels)
    ranks[np.argsort(means, kind="stable")] = np.arange(n_levels)
    return ranks


def _newton(
    leaf: np.ndarray, residual: np.ndarray, probability: np.ndarray, weights: np.ndarray, n_nodes: int
) -> np.ndarray:
    """Return the step of each node that minimises the logistic loss of its rows, to second order."""
    slope = np.bincount(leaf, weights * residual, n_nodes)
    curvature = np.bincount(leaf, weights * probability * (1 - probability), n_nodes)
    return np.divide(slope, curvature, out=np.zeros(n_nodes), where=curvature > 1e-12 * weights.sum())


@cache
def _monotone_takes_missing() -> bool:
    """Return whether scikit-learn's trees take missing values beside directions, which 1.6 did not."""
    try:
        DecisionTreeRegressor(monotonic_cst=[1]).fit([[np.nan], [0.0]], [0.0, 1.0])
    except ValueError:
        return False
    return True


def _require(name: str, given: object, holds: bool, expected: str) -> None:
    if not holds:
        raise InputError(f"{name}={given!r}; expected {expected}")


def _within(given: Any, least: float, most: float = np.inf) -> bool:
    """Return whether a parameter is a finite number within limits."""
    return isinstance(given, int | float | np.number) and bool(np.isfinite(float(given)) and least <= given <= most)


def _is_count(given: Any, most: float = float(np.nextafter(1, 0))) -> bool:
    if given is None:
        return True
    if not isinstance(given, int | float | np.number):
        return False
    return bool(0 < given <= most if isinstance(given, float | np.floating) else given >= 1)
