"""What can be counted of a rule set's terms on a table: support, outcomes inside and outside, means and deviations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.conditions import observed_of
from pdp_widgets.inputs.rows import row_outcome, row_weights

from .evaluation import Evaluation, is_condition
from .terms import Linear, Term

if TYPE_CHECKING:
    from .ruleset import RuleSet


def with_support(rules: RuleSet, X: Any, *, weights: Any = None, y: Any = None, heldout: bool = False) -> RuleSet:
    """Return the rule set with the facts of a table.

    Parameters
    ----------
    rules : RuleSet
    X : table
        The training rows, or others.
    weights : (n,) array, optional
    y : (n,) or (n, n_outputs) array, optional
        Outcome, or class labels; gives ``mean_inside`` and ``mean_outside`` (for classes: their share).
    heldout : bool
        The rows were not trained on: they only give ``support_heldout``.

    Raises
    ------
    InputError
        When the table lacks a feature, or y does not fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from pdp_widgets.rulefit import Rule, RuleSet
    >>> X = pd.DataFrame({"temp": [10.0, 20.0, 40.0, 50.0]})
    >>> rules = with_support(RuleSet([Rule.of("temp > 12", X)], [5.0], 1.0), X, y=[1.0, 2.0, 4.0, 6.0])
    >>> rules.support, rules.mean_inside, rules.mean_outside
    (array([0.75]), array([[4.]]), array([[1.]]))
    """
    if heldout and y is not None:
        raise InputError("y with heldout=True: outcomes inside and outside are those of the training rows")
    table = rules.table(X)
    given = row_weights(weights, table)
    share = np.full(table.n_rows, 1 / table.n_rows) if given is None else given / given.sum()
    look = Evaluation(table, rules.terms)
    k = len(rules)
    support, count = np.full(k, np.nan), np.full(k, np.nan)
    outcome = None if y is None else _outcomes(rules, y, table)
    inside, outside = np.full((2, rules.n_outputs, k), np.nan)
    terms: list[Term] = []
    for at, term in enumerate(rules.terms):
        values = look.values(term)
        mean = float(share @ values)
        if isinstance(term, Linear):
            sd = float(np.sqrt(share @ (values - mean) ** 2))
            terms.append(replace(term, mean=mean, sd=sd))
        else:
            support[at], count[at] = mean, np.count_nonzero(values)
            terms.append(replace(term, support=mean))
        if outcome is not None and is_condition(term):
            inside[:, at], outside[:, at] = _mean(outcome, share * values), _mean(outcome, share * ~values)
    if heldout:
        return replace(rules, support_heldout=support)
    facts: dict[str, Any] = {} if outcome is None else {"mean_inside": inside, "mean_outside": outside}
    return replace(
        rules,
        terms=tuple(terms),
        support=support,
        n=count,
        feature_sd=feature_sd(table, rules.features, share),
        **facts,
    )


def feature_sd(table: FeatureTable, names: tuple[str, ...], share: np.ndarray) -> dict[str, float]:
    """Return the weighted standard deviation of the features that have one, over their finite values."""
    found = {}
    for name in names:
        observed = observed_of(table, name)
        finite = np.isfinite(observed.codes)
        weight = share[finite]
        if observed.kind != "category" and weight.sum() > 0:
            values = observed.codes[finite]
            weight = weight / weight.sum()
            with np.errstate(over="ignore", invalid="ignore"):
                sd = float(np.sqrt(weight @ (values - weight @ values) ** 2))
            if np.isfinite(sd):
                found[name] = sd
    return found


def _outcomes(rules: RuleSet, y: Any, table: FeatureTable) -> np.ndarray:
    """Return the outcome of each output, (n_outputs, n)."""
    outcome = row_outcome(y, table)
    assert outcome is not None
    if rules.link == "identity":
        values = np.atleast_2d(np.asarray(outcome, dtype=float).T)
        if len(values) != rules.n_outputs:
            raise InputError(f"y has {len(values)} columns; expected one per output: {', '.join(rules.outputs)}")
        return values
    classes = rules.classes or ()
    labels = classes[1:] if rules.link == "logit" else classes
    if outcome.ndim != 1 or not np.isin(outcome, np.asarray(classes)).all():
        raise InputError(f"y must hold class labels, one per row, among {', '.join(map(repr, classes[:8]))}")
    return np.array([outcome == label for label in labels], dtype=float)


def _mean(outcome: np.ndarray, weight: np.ndarray) -> Any:
    total = weight.sum()
    return outcome @ weight / total if total > 0 else np.nan
