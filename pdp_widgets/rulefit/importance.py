"""Importance of the terms and features of a rule set: over all training rows, at single rows, and over a subgroup.

Two numbers are easily confused, and so carry their names everywhere. The *global* importance of a term is |a| sqrt(s (1 - s)), the
root mean square of its importance at the training rows; the *mean of local* importances is smaller: 2 |a| s (1 - s) over the same rows
(Friedman & Popescu 2008, eqs. 28-35; the mean over a subgroup is their eq. 34).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import InputError, find_output
from pdp_widgets.inputs.rows import row_weights
from pdp_widgets.tabular import Tabular

from .evaluation import Evaluation, rows_of
from .terms import Linear

if TYPE_CHECKING:
    from .ruleset import RuleSet


def global_importance(rules: RuleSet) -> np.ndarray:
    """Return |a| sqrt(s (1 - s)) of rules and |b| sd of linear terms, (n_outputs, K); NaN where support or sd is not known."""
    sd = np.array([term.sd if isinstance(term, Linear) else np.nan for term in rules.terms], dtype=float)
    spread = np.sqrt(np.clip(rules.support * (1 - rules.support), 0, None))
    return np.abs(rules.coefficients) * np.where(linear_terms(rules), sd, spread)


def centres(rules: RuleSet) -> np.ndarray:
    """Return what a term is on average over the training rows, (K,): support of rules, mean of linear terms.

    Raises
    ------
    InputError
        When it is not known.
    """
    mean = np.array([term.mean if isinstance(term, Linear) else np.nan for term in rules.terms], dtype=float)
    found = np.where(linear_terms(rules), mean, rules.support)
    if np.isnan(found).any():
        raise InputError(
            f"support or mean of {np.isnan(found).sum()} of {len(found)} terms is not known; "
            "rules.with_support(X) computes them on the training rows"
        )
    return found


def linear_terms(rules: RuleSet) -> np.ndarray:
    """Return which terms are linear, (K,) bool."""
    return np.array([isinstance(term, Linear) for term in rules.terms], dtype=bool)


def shares(rules: RuleSet) -> np.ndarray:
    """Return the part of each term's importance that goes to each feature, (K, p): equal parts to the distinct features of a rule."""
    names = importance_features(rules)
    parts = np.zeros((len(rules), len(names)))
    for k, term in enumerate(rules.terms):
        for name in term.features:
            parts[k, names.index(name)] = 1 / len(term.features)
    return parts


def importance_features(rules: RuleSet) -> tuple[str, ...]:
    """Return the features that have an importance: all of training where they are known, else those that are used."""
    return rules.feature_names or rules.features


@dataclass(frozen=True)
class RuleImportance(Tabular, Drawable):
    """How much each term and each feature matters, in the unit of the prediction (log-odds of a classifier).

    ``terms_*`` are (n_outputs, K) arrays, ``features_*`` (n_outputs, p): J_j = sum over terms containing x_j of their importance
    divided by their number of distinct features.
    """

    rules: RuleSet
    features: tuple[str, ...]
    terms_global: np.ndarray = field(repr=False)
    """Root mean square over the training rows."""
    features_global: np.ndarray = field(repr=False)
    terms_local: np.ndarray | None = field(repr=False)
    """Mean of the local importances over the rows asked for; None where no rows were given."""
    features_local: np.ndarray | None = field(repr=False)
    rows: int = 0
    """How many rows ``*_local`` are the mean of."""
    of_rows: int = 0
    weighted: bool = False

    def to_frame(self, output: Any = None) -> pd.DataFrame:
        """Return one row per term, the most important first: over the rows asked for if they are a part, else globally."""
        about = {"term": [term.label for term in self.rules.terms], "text": [term.text for term in self.rules.terms]}
        about["kind"] = ["linear" if linear else "rule" for linear in linear_terms(self.rules)]
        return self._frame(about, self.terms_global, self.terms_local, output)

    def features_frame(self, output: Any = None) -> pd.DataFrame:
        """Return one row per feature, the most important first."""
        return self._frame({"feature": list(self.features)}, self.features_global, self.features_local, output)

    def _frame(
        self, about: dict[str, list], overall: np.ndarray, local: np.ndarray | None, output: Any
    ) -> pd.DataFrame:
        blocks = []
        for o in chosen_outputs(self.rules, output):
            block = pd.DataFrame(about)
            columns = {"global": overall[o]} | ({} if local is None else {"mean_of_local": local[o]})
            for name, values in columns.items():
                block[f"importance_{name}"] = values
                block[f"relative_{name}"] = relative(values)
            part = local is not None and self.rows < self.of_rows
            by = "importance_mean_of_local" if part else "importance_global"
            block = block.sort_values(by, ascending=False, kind="stable", na_position="last", ignore_index=True)
            if self.rules.n_outputs > 1:
                block.insert(0, "output", self.rules.outputs[o])
            blocks.append(block)
        return pd.concat(blocks, ignore_index=True)

    def __repr__(self) -> str:
        parts = [
            f"{len(self.rules)} terms, {len(self.features)} features",
            "global: root mean square over the training rows",
        ]
        if self.terms_local is not None:
            parts.append(
                f"mean of local over {self.rows} of {self.of_rows} rows{', weighted' if self.weighted else ''}"
            )
        return f"<RuleImportance: {'; '.join(parts)}>"


@dataclass(frozen=True)
class LocalImportance(Tabular, Drawable):
    """How far each term moves single rows away from the average, |a_k| |r_k(x) - s_k|, in the unit of the prediction."""

    rules: RuleSet
    deviation: np.ndarray = field(repr=False)
    """(n, K) signed r_k(x) - s_k, for linear terms l_j(x) minus its mean."""
    index: pd.Index | None = field(repr=False)

    def values(self, output: Any = None) -> np.ndarray:
        """Return the importance of each term at each row, (n, K), for one output."""
        return np.abs(self.deviation * self.rules.coefficients[one_output(self.rules, output)])

    def features(self, output: Any = None) -> np.ndarray:
        """Return the importance of each feature at each row, (n, p), in the order of ``importance_features``."""
        return self.values(output) @ shares(self.rules)

    def to_frame(self, output: Any = None) -> pd.DataFrame:
        """Return the rows by the terms' texts."""
        return pd.DataFrame(self.values(output), columns=[term.text for term in self.rules.terms], index=self.index)

    def features_frame(self, output: Any = None) -> pd.DataFrame:
        """Return the rows by the features."""
        return pd.DataFrame(self.features(output), columns=list(importance_features(self.rules)), index=self.index)

    def __repr__(self) -> str:
        return f"<LocalImportance: {len(self.deviation)} rows, {len(self.rules)} terms>"


def importance(rules: RuleSet, X: Any = None, *, subgroup: Any = None, weights: Any = None) -> RuleImportance:
    """Return the importance of terms and features.

    Parameters
    ----------
    rules : RuleSet
        With support of its rules, mean and sd of its linear terms.
    X : table, optional
        Rows over which local importances are averaged.
    subgroup : mask, text, Rule or Selection, optional
        Which rows of X.
    weights : (n,) array, optional
        Of the rows of X.

    Raises
    ------
    InputError
        When the support is not known, or a subgroup is given without X.

    Examples
    --------
    >>> from pdp_widgets.rulefit import Linear, Rule, RuleSet
    >>> X = pd.DataFrame({"temp": [10.0, 20.0, 30.0, 40.0], "weather": ["GOOD", "MISTY", "GOOD", "GOOD"]})
    >>> terms = [Rule.of("temp > 12 & weather == 'GOOD'", X), Linear("temp")]
    >>> found = importance(RuleSet(terms, [5.0, 0.1], 1.0).with_support(X), X, subgroup="temp > 15")
    >>> found.features_frame().round(3)[["feature", "importance_global", "importance_mean_of_local"]]
       feature  importance_global  importance_mean_of_local
    0     temp              2.368                     2.083
    1  weather              1.250                     1.250
    """
    centre, overall, parts = centres(rules), global_importance(rules), shares(rules)
    names = importance_features(rules)
    if X is None:
        if subgroup is not None or weights is not None:
            raise InputError("subgroup and weights are about the rows of X; give X")
        return RuleImportance(rules, names, overall, overall @ parts, None, None)
    table = rules.table(X)
    rows = rows_of(subgroup, table)
    given = row_weights(weights, table)
    share = rows.astype(float) if given is None else np.where(rows, given, 0.0)
    if share.sum() == 0:
        raise InputError("the rows of the subgroup have no weight")
    share = share / share.sum()
    look = Evaluation(table, rules.terms)
    distance = np.array(
        [share @ np.abs(look.values(term) - centre[k]) for k, term in enumerate(rules.terms)], dtype=float
    )
    local = np.abs(rules.coefficients) * distance
    return RuleImportance(
        rules, names, overall, overall @ parts, local, local @ parts, int(rows.sum()), table.n_rows, given is not None
    )


def local_importance(rules: RuleSet, X: Any) -> LocalImportance:
    """Return the importance of terms and features at each row of X."""
    table = rules.table(X)
    return LocalImportance(rules, rules.design(table) - centres(rules), table.index)


def relative(values: np.ndarray) -> np.ndarray:
    """Return importances with the largest as 100."""
    largest = np.nanmax(values, initial=0.0) if len(values) else 0.0
    return values * 100 / largest if largest > 0 else values


def chosen_outputs(rules: RuleSet, output: Any) -> list[int]:
    """Return positions of the outputs asked for; all of them by default."""
    return list(range(rules.n_outputs)) if output is None else [one_output(rules, output)]


def one_output(rules: RuleSet, output: Any) -> int:
    """Return the position of an output; of the only one by default.

    Raises
    ------
    InputError
        When there are several and none is named, or there is no such output.
    """
    if output is None:
        if rules.n_outputs > 1:
            raise InputError(f"there are {rules.n_outputs} outputs; say which: output={rules.outputs[0]!r}")
        return 0
    classes = rules.classes or ()
    return find_output(output, rules.outputs, classes[1:] if rules.link == "logit" else classes or rules.outputs)
