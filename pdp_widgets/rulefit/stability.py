"""Stability: how often terms and features of a RuleFit come back when it is fitted to other samples of the rows.

Another sample gives other trees, so that the top rule may change with the seed: a rule counts as back when one that holds for
nearly the same rows does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.rows import row_weights
from pdp_widgets.tabular import Tabular

from .evaluation import Evaluation, is_condition
from .importance import importance_features

if TYPE_CHECKING:
    from .ruleset import RuleSet

ALIKE = 0.9
"""Least Jaccard index of two rules that are taken for the same."""


@dataclass(frozen=True)
class Stability(Tabular, Drawable):
    """How often terms and features came back in refits."""

    rules: RuleSet
    terms: np.ndarray = field(repr=False)
    """(K,) share of the refits that have the term, or a rule that holds for nearly the same rows."""
    signs: np.ndarray = field(repr=False)
    """(K,) share of those in which its coefficient has the same sign (for several outputs: for all of them); NaN if it never came back."""
    features: pd.Series = field(repr=False)
    """Share of the refits in which a feature is used, by name."""
    n_terms: np.ndarray
    """(refits,) number of terms of each refit."""
    refits: int
    alike: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per term in the rule set's order: text, stability, same_sign."""
        texts = [term.text for term in self.rules.terms]
        return pd.DataFrame({"text": texts, "stability": self.terms, "same_sign": self.signs})

    def __repr__(self) -> str:
        back = f"{np.mean(self.terms):.0%} of the terms" if len(self.terms) else "no terms"
        return f"<Stability: {self.refits} refits; on average {back} come back (Jaccard {self.alike:g} or more)>"


def stability(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, refits: int = 20, share: float = 0.5, alike: float = ALIKE,
    random_state: int = 0, n_jobs: int | None = None,
) -> Stability:  # fmt: skip
    """Return how often the terms of a fitted RuleFit reappear when it is fitted to other samples of its rows.

    Parameters
    ----------
    model : RuleFitRegressor or RuleFitClassifier
        Fitted; it stays as it is.
    X : table, (n, p)
        Its training rows.
    y : (n,) array
        Their outcome.
    sample_weight : (n,) array, optional
    refits : int
        How many samples.
    share : float
        Size of each sample, drawn without replacement, as a share of the rows. Half of the rows is the choice of stability selection
        (Meinshausen & Buehlmann 2010).
    alike : float
        Least Jaccard index, over all rows, of two rules that are taken for the same.
    random_state : int
        Of the samples, and, shifted, of each refit.
    n_jobs : int, optional
        Refits at the same time.

    Raises
    ------
    InputError
        For shares, numbers and data that cannot be used.

    Examples
    --------
    >>> from pdp_widgets import RuleFitRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"a": rng.uniform(size=300), "noise": rng.uniform(size=300)})
    >>> y = 3.0 * (X.a > 0.5) + 0.1 * rng.normal(size=300)
    >>> model = RuleFitRegressor(max_rules=50, random_state=0).fit(X, y)
    >>> found = stability(model, X, y, refits=5)
    >>> float(found.to_frame().set_index("text").stability["a > 0.5"]), float(found.features["a"])
    (1.0, 1.0)
    """
    check_is_fitted(model)
    table = FeatureTable(X)
    n = table.n_rows
    if isinstance(refits, bool) or not isinstance(refits, int | np.integer) or refits < 1:
        raise InputError(f"refits={refits!r}; expected a whole number, 1 or more")
    if not 0 < share <= 1 or not 0 < alike <= 1:
        raise InputError(f"share={share!r}, alike={alike!r}; expected numbers above 0, at most 1")
    outcome, weights = np.asarray(y), row_weights(sample_weight, table)
    if len(outcome) != n:
        raise InputError(f"y has {len(outcome)} values; X has {n} rows")
    rng = np.random.default_rng(random_state)
    size = max(2, round(share * n))
    samples = [np.sort(_sample(rng, outcome, size, classes=hasattr(model, "classes_"))) for _ in range(refits)]

    def refit(number: int) -> RuleSet:
        rows = samples[number]
        other = clone(model).set_params(random_state=random_state + 1 + number)
        return other.fit(table.build(rows), outcome[rows], None if weights is None else weights[rows]).ruleset_

    rulesets = Parallel(n_jobs=n_jobs)(delayed(refit)(number) for number in range(refits))
    rules: RuleSet = model.ruleset_
    mine = _Held(rules, table)
    back = np.zeros((refits, len(rules)), dtype=bool)
    same = np.zeros((refits, len(rules)), dtype=bool)
    for number, other in enumerate(rulesets):
        found = mine.matches(_Held(other, table), alike)
        back[number] = found >= 0
        known = np.flatnonzero(back[number])
        signs = np.sign(rules.coefficients[:, known]), np.sign(_of_classes(other, rules)[:, found[known]])
        same[number, known] = (signs[0] == signs[1]).all(axis=0)
    with np.errstate(invalid="ignore"):
        signs_kept = same.sum(axis=0) / back.sum(axis=0)
    names = list(table.features)
    used = pd.Series([np.mean([name in importance_features(other) for other in rulesets]) for name in names], names)
    return Stability(
        rules, back.mean(axis=0), signs_kept, used, np.array([len(other) for other in rulesets]), int(refits), alike
    )


class _Held:
    """Which rows the terms hold for; linear terms are known by their feature."""

    def __init__(self, rules: RuleSet, table: FeatureTable) -> None:
        look = Evaluation(table, rules.terms)
        self.conditions = np.array([is_condition(term) for term in rules.terms], dtype=bool)
        masks = [look.values(term) for term in rules.terms if is_condition(term)]
        self.masks = np.array(masks, dtype=np.float32).reshape(len(masks), table.n_rows)
        self.lines = {term.features[0]: k for k, term in enumerate(rules.terms) if not is_condition(term)}

    def matches(self, other: _Held, alike: float) -> np.ndarray:
        """Return for each term the position of the most similar one of another rule set, -1 for none."""
        found = np.full(len(self.conditions), -1)
        for name, k in self.lines.items():
            found[k] = other.lines.get(name, -1)
        if len(self.masks) and len(other.masks):
            both = self.masks @ other.masks.T
            either = self.masks.sum(axis=1)[:, None] + other.masks.sum(axis=1) - both
            index = both / np.maximum(either, 1)
            best = index.argmax(axis=1)
            places = np.flatnonzero(other.conditions)[best]
            found[self.conditions] = np.where(index.max(axis=1) >= alike, places, -1)
        return found


def _of_classes(other: RuleSet, rules: RuleSet) -> np.ndarray:
    """Return coefficients of the outputs of ``rules``; a sample may lack a class."""
    if other.outputs == rules.outputs:
        return other.coefficients
    places = {name: o for o, name in enumerate(other.outputs)}
    lines = [other.coefficients[places[name]] if name in places else np.zeros(len(other)) for name in rules.outputs]
    return np.array(lines)


def _sample(rng: np.random.Generator, outcome: np.ndarray, size: int, *, classes: bool) -> np.ndarray:
    """Return rows drawn without replacement; of classes at least one row each."""
    rows = rng.permutation(len(outcome))
    if not classes:
        return rows[:size]
    _, first = np.unique(outcome[rows], return_index=True)
    rest = np.delete(rows, first)
    return np.concatenate([rows[first], rest[: max(0, size - len(first))]])
