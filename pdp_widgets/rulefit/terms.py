"""The terms that a RuleFit adds up: a rule holds or not, a linear term is a clipped value of one feature.

A term knows which rows and values it stands on, nothing of coefficients, fits or importances.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pdp_widgets.inputs import FeatureTable
from pdp_widgets.inputs.conditions import And, Levels, Node, literal_text, observed_of, quote
from pdp_widgets.inputs.subgroup import parse

from .conditions import Condition, merged, words


@dataclass(frozen=True)
class Rule:
    """Conditions that must all hold.

    Examples
    --------
    >>> import pandas as pd
    >>> rule = Rule.of("temp > 12 & temp <= 30 & temp > 15", X := pd.DataFrame({"temp": [10.0, 20.0, 40.0]}))
    >>> rule.text
    '15 < temp <= 30'
    >>> rule.mask(X)
    array([False,  True, False])
    """

    conditions: tuple[Condition, ...]
    """At most one per feature (more only where they cannot be merged)."""
    support: float = field(default=float("nan"), compare=False)
    """Weighted share of the training rows that it holds for; NaN where it was never fitted."""
    also: tuple[str, ...] = field(default=(), compare=False)
    """Texts of other rules that hold for the same training rows (or for all others: then with ``not`` before them)."""

    @classmethod
    def of(cls, condition: str | Node, X: Any, *, support: float = float("nan")) -> Rule:
        """Return a rule read from text, or made of a condition, about the table X.

        Raises
        ------
        InputError
            When the text cannot be read, names no column of X, or is no conjunction.
        """
        node = parse(condition, _table(X)) if isinstance(condition, str) else condition
        return cls(merged(node), support)

    @property
    def node(self) -> Node:
        """The rule as a condition on rows, as subgroups have them."""
        return self.conditions[0] if len(self.conditions) == 1 else And(self.conditions)

    @property
    def text(self) -> str:
        """The rule as text that ``subgroup=`` and ``widget.select`` read."""
        return self.node.text

    @property
    def label(self) -> str:
        """The rule as people read it."""
        return " & ".join(map(words, self.conditions)) or "always"

    @property
    def features(self) -> tuple[str, ...]:
        """Distinct features, in the order of the conditions."""
        return tuple(dict.fromkeys(condition.feature for condition in self.conditions))

    def mask(self, X: Any) -> np.ndarray:
        """Return whether the rule holds, (n,) bool, for the rows of any table that has its features."""
        return self.node.mask(_table(X))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Linear:
    """A feature's own value between two limits, or whether it is one level of a category."""

    feature: str
    low: float = -np.inf
    """Values below count as this one."""
    high: float = np.inf
    """Values above count as this one."""
    missing_as: float = 0.0
    """What a missing value counts as; not used for levels."""
    level: tuple[Any, ...] = ()
    """Empty for a number; else the one level that is 1 where others are 0 (None: the value is missing)."""
    kind: str = "number"
    """How the feature's axis is read: "number", "datetime", "timedelta" (in milliseconds) or "category"."""
    mean: float = field(default=float("nan"), compare=False)
    """Weighted mean of the clipped value over the training rows."""
    sd: float = field(default=float("nan"), compare=False)
    """Weighted standard deviation of the clipped value over the training rows."""

    @property
    def features(self) -> tuple[str, ...]:
        """The one feature, as a tuple like that of a rule."""
        return (self.feature,)

    @property
    def text(self) -> str:
        """The term as it enters the sum: the feature's name, or the condition that it is a level."""
        return Levels(self.feature, self.level).text if self.level else quote(self.feature)

    @property
    def label(self) -> str:
        """The term as people read it."""
        return words(Levels(self.feature, self.level)) if self.level else self.feature

    @property
    def limits(self) -> str:
        """The clip limits as people read them; empty where nothing is clipped."""
        low, high = (literal_text(float(bound), self.kind).strip("'") for bound in (self.low, self.high))
        if np.isinf(self.low):
            return "" if np.isinf(self.high) else f"≤ {high}"
        return f"≥ {low}" if np.isinf(self.high) else f"{low} to {high}"

    def values(self, X: Any) -> np.ndarray:
        """Return the term at the rows of any table that has its feature, (n,) float64."""
        table = _table(X)
        if self.level:
            return Levels(self.feature, self.level).mask(table).astype(float)
        values = observed_of(table, self.feature).codes
        return np.clip(np.where(np.isnan(values), self.missing_as, values), self.low, self.high)

    def __str__(self) -> str:
        return self.text


Term = Rule | Linear


def _table(X: Any) -> FeatureTable:
    return X if isinstance(X, FeatureTable) else FeatureTable(X)
