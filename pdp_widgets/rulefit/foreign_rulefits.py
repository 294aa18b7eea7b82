"""The RuleFits of other packages as rule sets: imodels, and christophM's ``rulefit``.

They are known by their attributes; neither package is imported. What they answer is reproduced as it is, oddities included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import And, Levels, Range

from .conditions import Condition, merged
from .ruleset import RuleSet
from .terms import Linear, Rule, Term

if TYPE_CHECKING:
    from pdp_widgets.inputs import FeatureTable

__all__ = ["read_imodels", "read_rulefit"]

Found = tuple[RuleSet, Callable[[Any], np.ndarray]]

_SIDES = {"<=": ("high", True), "<": ("high", False), ">": ("low", False), ">=": ("low", True)}


def read_imodels(model: Any, table: FeatureTable | None) -> Found | None:
    """Return the rules of ``imodels.RuleFitRegressor`` or ``RuleFitClassifier`` (3.0) and its own answer; None for another model.

    Its classifier fits an L1 logistic regression f, but answers softmax(1 - f, f), which is sigmoid(2 f - 1) and not sigmoid(f): its
    coefficients are doubled here, and 1 is taken off the doubled intercept, so that the rule set predicts what it predicts.
    """
    if not all(hasattr(model, name) for name in ("rules_without_feature_names_", "feature_placeholders", "friedscale")):
        return None
    columns = _Columns(table, [str(name) for name in model.feature_names])
    position = {str(name): j for j, name in enumerate(model.feature_placeholders)}
    rules = list(model.rules_without_feature_names_)
    coefficients = np.asarray(model.coef, dtype=float)
    made = _Terms(columns)
    n_linear = len(coefficients) - len(rules)
    made.lines(model, coefficients[:n_linear], standard=bool(model.lin_standardise))
    for rule, coefficient in zip(rules, coefficients[n_linear:].tolist(), strict=True):
        parts = [(position[name], sign, float(bound)) for (name, sign), bound in rule.agg_dict.items()]
        made.rule(parts, coefficient, np.nan if rule.support is None else float(rule.support))
    intercept = float(np.ravel(model.intercept)[0])
    if not hasattr(model, "predict_proba") or getattr(model, "classes_", None) is None:
        return made.ruleset(intercept), lambda X: np.asarray(model.predict(X), dtype=float)[None]
    found = made.ruleset(intercept, factor=2.0, shift=-1.0, classes=np.asarray(model.classes_).tolist())
    return found, lambda X: np.asarray(model.predict_proba(X), dtype=float).T


def read_rulefit(model: Any, table: FeatureTable | None) -> Found | None:
    """Return the rules of ``rulefit.RuleFit`` (0.3) and its own answer; None for another model.

    Its supports are those of single conditions and so are left out: give X.
    """
    if not all(hasattr(model, name) for name in ("rfmode", "model_type", "coef_", "friedscale", "lscv")):
        return None
    columns = _Columns(table, [str(name) for name in model.feature_names])
    rules = list(model.rule_ensemble.rules) if "r" in model.model_type else []
    coefficients = np.asarray(model.coef_, dtype=float)
    made = _Terms(columns)
    n_linear = len(coefficients) - len(rules)
    made.lines(model, coefficients[:n_linear], standard=bool(model.lin_standardise))
    for rule, coefficient in zip(rules, coefficients[n_linear:].tolist(), strict=True):
        # A set: sorted, so that the same model always gives the same texts.
        parts = [(int(part.feature_index), str(part.operator), float(part.threshold)) for part in rule.conditions]
        made.rule(sorted(parts), coefficient, np.nan)
    intercept = float(np.ravel(model.intercept_)[0])
    if model.rfmode == "regress":
        return made.ruleset(intercept), lambda X: np.asarray(model.predict(_array(X)), dtype=float)[None]
    found = made.ruleset(intercept, classes=np.asarray(model.lscv.classes_).tolist())

    def answer(X: Any) -> np.ndarray:
        # It has no probabilities of its own; its classes say on which side of one half they are.
        probabilities = found.predict(X)
        agree = np.asarray(model.predict(_array(X))) == np.asarray(found.classes)[probabilities.argmax(axis=0)]
        return np.where(agree, probabilities, np.nan)

    return found, answer


def _array(X: Any) -> np.ndarray:
    return np.asarray(X, dtype=float)


class _Columns:
    """Names of the columns by position, and conditions on them as their kinds in X want them."""

    def __init__(self, table: FeatureTable | None, names: list[str]) -> None:
        if table is not None:
            if len(table.column_names) != len(names):
                raise InputError(f"X has {len(table.column_names)} columns; the model was fitted to {len(names)}")
            names = table.column_names
        self.table, self.names = table, names

    def flag(self, j: int) -> bool:
        """Return whether a column holds true and false, which such models see as 1 and 0."""
        return self.table is not None and self.table.features[self.names[j]].axis == "category"

    def condition(self, j: int, sign: str, bound: float) -> Condition:
        if sign == "==":
            part = Range(self.names[j], bound, bound)
        else:
            side, closed = _SIDES[sign]
            part = Range(self.names[j], **{side: bound, f"{side}_closed": closed})  # type: ignore[arg-type]
        if not self.flag(j):
            return part
        inside = {"<=": np.less_equal, "<": np.less, ">": np.greater, ">=": np.greater_equal, "==": np.equal}[sign]
        return Levels(part.feature, tuple(level for level in (False, True) if inside(float(level), bound)))


class _Terms:
    """Terms and coefficients, collected; a term that comes twice is added up."""

    def __init__(self, columns: _Columns) -> None:
        self.columns = columns
        self.found: dict[Term, float] = {}
        self.constant = 0.0

    def rule(self, parts: Iterable[tuple[int, str, float]], coefficient: float, support: float) -> None:
        conditions = merged(And(tuple(self.columns.condition(*part) for part in parts)))
        self._add(Rule(conditions, support), coefficient)

    def lines(self, model: Any, coefficients: np.ndarray, *, standard: bool) -> None:
        """Add linear terms: clipped and scaled where the model does that."""
        names = self.columns.names
        scale, low, high = np.ones(len(names)), np.full(len(names), -np.inf), np.full(len(names), np.inf)
        if standard and len(coefficients):
            scale = np.asarray(model.friedscale.scale_multipliers, dtype=float)
            if model.friedscale.winsorizer is not None:
                low, high = np.asarray(model.friedscale.winsorizer.winsor_lims, dtype=float)
        mean, sd = (
            np.full(len(names), np.nan) if value is None else np.asarray(value, dtype=float)
            for value in (model.mean, model.stddev)
        )
        for j, coefficient in enumerate((coefficients * scale[: len(coefficients)]).tolist()):
            if self.columns.flag(j):
                off, on = np.clip([0.0, 1.0], low[j], high[j]).tolist()
                self.constant += coefficient * off
                self._add(Linear(names[j], level=(True,)), coefficient * (on - off))
            else:
                line = Linear(names[j], float(low[j]), float(high[j]), mean=float(mean[j]), sd=float(sd[j]))
                self._add(line, coefficient)

    def ruleset(
        self, intercept: float, *, factor: float = 1.0, shift: float = 0.0, classes: list[Any] | None = None
    ) -> RuleSet:
        return RuleSet(
            tuple(self.found),
            factor * np.array([*self.found.values()]),
            np.array([factor * (intercept + self.constant) + shift]),
            link="identity" if classes is None else "logit",
            classes=None if classes is None else tuple(classes),
            feature_names=tuple(self.columns.names),
        ).nonzero()

    def _add(self, term: Term, coefficient: float) -> None:
        self.found[term] = self.found.get(term, 0.0) + coefficient
