"""A rule set as a sum of trees: what partial dependence, curves and interactions of a RuleFit are computed from, exactly.

Each rule becomes a chain of as many splits as it has conditions, with its coefficient in the last leaf and 0 in the others; a linear
term is a line. The trees see *cells*: of a number, which bounds of the rules it lies between or on; of a category, which of the levels
that rules name it is. So the trees compare nothing themselves, and a condition means here what it means in ``Rule.mask``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs.conditions import Levels, Range, axis_value, same
from pdp_widgets.trees.ensemble import TreeEnsemble, UnreadableError
from pdp_widgets.trees.lines import Lines
from pdp_widgets.trees.links import IDENTITY, ONE_VS_REST, SIGMOID
from pdp_widgets.trees.reading import Reading

from .evaluation import conditions_of, holds_if_missing
from .terms import Linear

if TYPE_CHECKING:
    from pdp_widgets.inputs import FeatureTable, Observed

    from .conditions import Condition
    from .ruleset import RuleSet

__all__ = ["read_rules"]


def read_rules(rules: RuleSet, rows: Callable[[Any], FeatureTable], method: str, family: str) -> Reading:
    """Return a rule set as a sum of trees, for an estimator that predicts by it.

    Parameters
    ----------
    rules : RuleSet
    rows : callable
        From what the estimator is given to the table that the rules read, such as ``Table.rows``; picklable.
    method : {"predict", "predict_proba", "decision_function"}
        The estimator's method that is explained.
    family : str
        The class of the estimator.

    Raises
    ------
    UnreadableError
        For predicted class labels.
    """
    if method == "predict" and rules.link != "identity":
        raise UnreadableError("predicted class labels are votes, not a sum")
    link = {"logit": SIGMOID, "ovr": ONE_VS_REST}.get(rules.link, IDENTITY) if method == "predict_proba" else IDENTITY
    columns = _columns(rules)
    return Reading(_ensemble(rules, columns), link, Encoder(rows, columns), family)


# ---- columns that the trees see ---------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """A feature's own values, for lines."""

    feature: str

    def encode(self, observed: Observed) -> np.ndarray:
        """Return the values, (m,), NaN where missing."""
        return observed.codes


@dataclass(frozen=True)
class Bounds:
    """The cells that the bounds of ranges cut an axis into: bound k is cell 2k + 1, between it and the next one is 2k + 2."""

    feature: str
    bounds: np.ndarray
    """(B,) ascending."""

    def encode(self, observed: Observed) -> np.ndarray:
        """Return the cells of values, (m,), NaN where missing."""
        held = np.array([observed.as_held(bound) for bound in self.bounds.tolist()], dtype=float)
        below, upto = (np.searchsorted(held, observed.codes, side) for side in ("left", "right"))
        return np.where(observed.missing, np.nan, below + upto)

    def holds(self, condition: Condition) -> np.ndarray:
        """Return the cells that fulfil a range; none for missing values."""
        if not isinstance(condition, Range):
            return np.empty(0, np.int64)
        first, last = 0, 2 * len(self.bounds)
        if condition.low is not None:
            first = 2 * int(np.searchsorted(self.bounds, condition.low)) + (1 if condition.low_closed else 2)
        if condition.high is not None:
            last = 2 * int(np.searchsorted(self.bounds, condition.high)) + (1 if condition.high_closed else 0)
        return np.arange(first, last + 1, dtype=np.int64)


@dataclass(frozen=True)
class Named:
    """The levels that rules name, by number; all others are one more cell."""

    feature: str
    levels: tuple[Any, ...]

    def encode(self, observed: Observed) -> np.ndarray:
        """Return the cells of values, (m,), NaN where missing."""
        if observed.kind == "category":
            own = np.array([self._level(raw) for raw in observed.levels or [None]], dtype=float)
            at = own[np.where(observed.missing, 0, observed.codes).astype(int)]
        else:
            at = np.full(len(observed.codes), float(len(self.levels)))
            for number, level in enumerate(self.levels):
                at[observed.codes == observed.as_held(axis_value(level, observed, self.feature))] = number
        return np.where(observed.missing, np.nan, at)

    def _level(self, raw: Any) -> int:
        """Return the number of an observed level, by the rules of ``Levels``."""
        alike = (
            k for k, level in enumerate(self.levels) if (raw == level if isinstance(raw, str) else same(raw, level))
        )
        return next(alike, len(self.levels))

    def holds(self, condition: Condition) -> np.ndarray:
        """Return the cells that fulfil a condition on levels."""
        assert isinstance(condition, Levels)
        named = [self.levels.index(level) for level in condition.levels if level is not None]
        inside = np.isin(np.arange(len(self.levels) + 1), named)
        return np.flatnonzero(inside != condition.negate).astype(np.int64)


@dataclass(frozen=True)
class Encoder:
    """From the rows that the estimator is given to the numbers that the trees see."""

    rows: Callable[[Any], FeatureTable]
    columns: tuple[Values | Bounds | Named, ...]

    def __call__(self, X: Any) -> np.ndarray:
        """Return (m, n_columns) float64."""
        table = self.rows(X)
        out = np.zeros((table.n_rows, max(len(self.columns), 1)))
        for j, column in enumerate(self.columns):
            out[:, j] = column.encode(table.observed(column.feature))
        return out


def _columns(rules: RuleSet) -> tuple[Values | Bounds | Named, ...]:
    bounds: dict[str, set[float]] = {}
    levels: dict[str, dict[Any, None]] = {}
    values: dict[str, None] = {}
    for term in rules.terms:
        if isinstance(term, Linear) and not term.level:
            values[term.feature] = None
        for condition in conditions_of(term):
            if isinstance(condition, Levels):
                named = [level for level in condition.levels if level is not None]
                levels.setdefault(condition.feature, {}).update(dict.fromkeys(named))
            else:
                mine = bounds.setdefault(condition.feature, set())
                if isinstance(condition, Range):
                    mine.update(bound for bound in (condition.low, condition.high) if bound is not None)
    return (
        *(Bounds(name, np.array(sorted(found), dtype=float)) for name, found in bounds.items()),
        *(Named(name, tuple(found)) for name, found in levels.items()),
        *map(Values, values),
    )


# ---- trees ------------------------------------------------------------------------------------


def _ensemble(rules: RuleSet, columns: Sequence[Values | Bounds | Named]) -> TreeEnsemble:
    position = {(type(column), column.feature): j for j, column in enumerate(columns)}
    sets: dict[Condition, int] = {}
    members: list[np.ndarray] = []
    roots: list[int] = []
    nodes: list[tuple[int, int, int, bool, int]] = []  # left, right, column, missing left, set
    values: list[np.ndarray] = []
    nothing, leaf = np.zeros(rules.n_outputs), (-1, -1, -1, False, -1)

    def split(condition: Condition) -> tuple[int, bool, int]:
        kind = Named if isinstance(condition, Levels) else Bounds
        j = position[kind, condition.feature]
        column = columns[j]
        assert not isinstance(column, Values)
        if condition not in sets:
            sets[condition] = len(members)
            members.append(column.holds(condition))
        return j, holds_if_missing(condition), sets[condition]

    lines = [k for k, term in enumerate(rules.terms) if isinstance(term, Linear) and not term.level]
    chains = [
        (conditions_of(term), rules.coefficients[:, k]) for k, term in enumerate(rules.terms) if k not in set(lines)
    ]
    for conditions, coefficients in chains or [((), nothing)]:  # no ensemble is without a tree
        roots.append(len(nodes))
        for condition in conditions:
            here = len(nodes)
            nodes += [(here + 2, here + 1, *split(condition)), leaf]
            values += [nothing, nothing]
        nodes.append(leaf)
        values.append(coefficients)
    left, right, column, missing_left, category_set = (np.array(part) for part in zip(*nodes, strict=True))
    terms = [term for k in lines if isinstance(term := rules.terms[k], Linear)]
    return TreeEnsemble(
        roots=np.array(roots, np.int32),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        column=column.astype(np.int32),
        threshold=np.zeros(len(nodes)),
        missing_left=missing_left.astype(bool),
        category_set=category_set.astype(np.int32),
        value=np.array(values),
        output=np.zeros(len(roots), np.int32),
        base=rules.intercept.copy(),
        n_columns=max(len(columns), 1),
        category_sets=tuple(members),
        lines=Lines(
            np.array([position[Values, term.feature] for term in terms], np.int32),
            np.array([term.low for term in terms], float),
            np.array([term.high for term in terms], float),
            np.array([term.missing_as for term in terms], float),
            rules.coefficients[:, lines],
        ),
    )
