"""The terms of a rule set at the rows of a table: each column is read once, each distinct condition looked at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.conditions import Levels, Missing, Node, Range, observed_of
from pdp_widgets.inputs.rows import row_mask
from pdp_widgets.inputs.subgroup import parse

from .terms import Linear, Rule, Term

if TYPE_CHECKING:
    from .conditions import Condition


class Evaluation:
    """What the terms are at the rows of a table.

    A condition that several terms share is kept until the last of them has asked for it, so that a thousand rules need the
    memory of the conditions still to come. Terms may be asked for in any order, and again.
    """

    def __init__(self, table: FeatureTable, terms: Sequence[Term]) -> None:
        self.table = table
        self._kept: dict[Condition, np.ndarray] = {}
        self._uses = Counter(condition for term in terms for condition in conditions_of(term))

    def values(self, term: Term) -> np.ndarray:
        """Return the term at the rows, (n,): bool where it holds or not, else float64."""
        if isinstance(term, Linear) and not term.level:
            return self._numbers(term)
        holds: np.ndarray | None = None
        for condition in conditions_of(term):
            mask = self.condition(condition)
            holds = mask if holds is None else np.logical_and(holds, mask)
        return np.ones(self.table.n_rows, bool) if holds is None else holds

    def condition(self, condition: Condition) -> np.ndarray:
        """Return whether the condition holds for the rows, (n,) bool, not to be written into."""
        mask = self._kept.pop(condition, None)
        if mask is None:
            mask = self._look(condition)
        self._uses[condition] -= 1
        if self._uses[condition] > 0:
            self._kept[condition] = mask
        return mask

    def _look(self, condition: Condition) -> np.ndarray:
        observed = observed_of(self.table, condition.feature)
        if observed.missing.all():  # an empty column has lost its type: None, NaN and NaT look alike
            return np.full(self.table.n_rows, holds_if_missing(condition))
        kind, given = axis_of(condition), observed.text_kind
        # Levels may be numbers, of a column of numbers or of a category.
        alike = isinstance(condition, Levels) and {kind, given} == {"number", "category"}
        if kind not in ("", given) and not alike:
            raise _other_kind(condition.feature, kind, given)
        return condition.mask(self.table)

    def _numbers(self, term: Linear) -> np.ndarray:
        observed = observed_of(self.table, term.feature)
        if observed.missing.all():
            return np.full(self.table.n_rows, float(np.clip(term.missing_as, term.low, term.high)))
        if term.kind not in (observed.kind, observed.text_kind):
            raise _other_kind(term.feature, term.kind, observed.text_kind)
        return term.values(self.table)


def conditions_of(term: Term) -> tuple[Condition, ...]:
    """Return the conditions that must hold for the term to be 1; none for the value of a number."""
    if isinstance(term, Rule):
        return term.conditions
    return (Levels(term.feature, term.level),) if term.level else ()


def is_condition(term: Term) -> bool:
    """Return whether the term is 0 or 1: a rule, or one level of a category."""
    return isinstance(term, Rule) or bool(term.level)


def holds_if_missing(condition: Condition) -> bool:
    """Return whether the condition holds for a missing value."""
    if isinstance(condition, Levels):
        return (None in condition.levels) != condition.negate
    return isinstance(condition, Missing) or condition.missing


def axis_of(condition: Condition) -> str:
    """Return how the condition reads its feature ("number", "datetime", "instant", "timedelta", "category"); "" if any way will do."""
    if isinstance(condition, Missing):
        return ""
    if isinstance(condition, Range):
        return "" if condition.low is None and condition.high is None else condition.kind
    return condition.kind if any(level is not None for level in condition.levels) else ""


def table_of(X: Any, needed: Iterable[str], names: Sequence[str]) -> FeatureTable:
    """Return the columns that are needed of any table; columns without names take theirs from ``names``, by position.

    Raises
    ------
    InputError
        When X is no table, a needed column is missing, or an unnamed table has another number of columns.
    """
    if isinstance(X, FeatureTable):
        return X
    needed = list(needed)
    if hasattr(X, "collect_schema") or hasattr(X, "columns"):
        return FeatureTable(X, features=needed or None)
    table = FeatureTable(X)
    if not names or list(names) == table.column_names:
        return table
    if len(names) != len(table.column_names):
        raise InputError(
            f"X has {len(table.column_names)} columns without names; expected {len(names)} as in training, or a table with names"
        )
    return FeatureTable(_named(X, names), features=needed or None)


def rows_of(subgroup: Any, table: FeatureTable) -> np.ndarray:
    """Return the rows of a subgroup, (n,) bool: given as a mask, a text, a rule, a condition, or anything with a ``mask``.

    Raises
    ------
    InputError
        When it cannot be read, or fits no row.
    """
    if subgroup is None:
        return np.ones(table.n_rows, bool)
    if isinstance(subgroup, str):
        mask = parse(subgroup, table).mask(table)
    elif isinstance(subgroup, Node | Rule):
        mask = subgroup.mask(table)
    else:
        own = getattr(subgroup, "mask", None)  # of a selection; a Series has a method of that name
        mask = row_mask(own if isinstance(own, np.ndarray) else subgroup, table)
    if mask.shape != (table.n_rows,):
        raise InputError(f"subgroup has {len(mask)} entries; expected one per row: {table.n_rows}")
    if not mask.any():
        raise InputError("no row is in the subgroup")
    return mask


def _named(X: Any, names: Sequence[str]) -> pd.DataFrame:
    if hasattr(X, "tocsr"):
        return pd.DataFrame.sparse.from_spmatrix(X, columns=list(names))
    array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    frame = pd.DataFrame(array, columns=list(names))
    return frame.infer_objects() if array.dtype == object else frame


def _other_kind(feature: str, expected: str, given: str) -> InputError:
    kinds = {"datetime": "dates without a time zone", "instant": "dates with a time zone", "timedelta": "durations"}
    kinds |= {"number": "numbers", "category": "categories"}
    return InputError(
        f"column {feature!r} holds {kinds[given]}; the rules were made for {kinds[expected]}: convert the column"
    )
