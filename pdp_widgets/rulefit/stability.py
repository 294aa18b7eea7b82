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

if TYPE_CHECKING:
    from .ruleset import RuleSet

ALIKE = 0.9
"""Least Jaccard index of two rules that are taken for the same."""

_BLOCK = 4096  # rows


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
    work = Refits(model, X, y, sample_weight=sample_weight, refits=refits, share=share, random_state=random_state)
    tally = Tally(model.ruleset_, work.table, alike)
    for other in Parallel(n_jobs=n_jobs)(delayed(work.fit)(number) for number in range(refits)):
        tally.add(other)
    return tally.result()


class Refits:
    """Fits a RuleFit to other samples of its rows, one after the other; parameters and errors are those of ``stability``."""

    def __init__(
        self, model: Any, X: Any, y: Any, *, sample_weight: Any = None, refits: int = 20, share: float = 0.5,
        random_state: int = 0,
    ) -> None:  # fmt: skip
        check_is_fitted(model)
        self.table = X if isinstance(X, FeatureTable) else FeatureTable(X)
        if isinstance(refits, bool) or not isinstance(refits, int | np.integer) or refits < 1:
            raise InputError(f"refits={refits!r}; expected a whole number, 1 or more")
        if not 0 < share <= 1:
            raise InputError(f"share={share!r}; expected a number above 0, at most 1")
        n, outcome = self.table.n_rows, np.asarray(y)
        if len(outcome) != n:
            raise InputError(f"y has {len(outcome)} values; X has {n} rows")
        self.rulesets: list[RuleSet] = []
        """What ``advance`` has fitted so far."""
        self.total = int(refits)
        self._model, self._outcome, self._random_state = model, outcome, random_state
        self._weights = row_weights(sample_weight, self.table)
        rng = np.random.default_rng(random_state)
        size, classes = max(2, round(share * n)), hasattr(model, "classes_")
        self._samples = [np.sort(_sample(rng, outcome, size, classes=classes)) for _ in range(refits)]

    def fit(self, number: int) -> RuleSet:
        """Return the rules of one sample."""
        rows = self._samples[number]
        other = clone(self._model).set_params(random_state=self._random_state + 1 + number)
        weights = None if self._weights is None else self._weights[rows]
        return other.fit(self.table.build(rows), self._outcome[rows], weights).ruleset_

    def advance(self) -> None:
        """Fit to the next sample, if there is one."""
        if len(self.rulesets) < self.total:
            self.rulesets.append(self.fit(len(self.rulesets)))


class Tally:
    """Counts how often the terms of a rule set come back.

    Parameters
    ----------
    rules : RuleSet
    table : FeatureTable
        The rows over which rules are compared.
    alike : float
        As for ``stability``.
    """

    def __init__(self, rules: RuleSet, table: FeatureTable, alike: float = ALIKE) -> None:
        if not 0 < alike <= 1:
            raise InputError(f"alike={alike!r}; expected a number above 0, at most 1")
        self._rules, self._table, self._alike = rules, table, alike
        self._mine = _Held(rules, table)
        self._back, self._same = np.zeros((2, len(rules)))
        self._used = pd.Series(0.0, list(table.features))
        self._n_terms: list[int] = []

    @property
    def refits(self) -> int:
        """How many rule sets were counted."""
        return len(self._n_terms)

    def add(self, other: RuleSet) -> None:
        """Count the rules of another fit."""
        found = self._mine.matches(_Held(other, self._table), self._alike)
        known = np.flatnonzero(found >= 0)
        signs = np.sign(self._rules.coefficients[:, known]), np.sign(_of_classes(other, self._rules)[:, found[known]])
        self._back[known] += 1
        self._same[known] += (signs[0] == signs[1]).all(axis=0)
        self._used[self._used.index.isin(other.features)] += 1
        self._n_terms.append(len(other))

    def result(self) -> Stability:
        """Return what was counted so far."""
        refits = self.refits
        with np.errstate(invalid="ignore"):
            signs = self._same / self._back
        used = self._used / refits
        return Stability(self._rules, self._back / refits, signs, used, np.array(self._n_terms), refits, self._alike)


class _Held:
    """Which rows the terms hold for; linear terms are known by their feature."""

    def __init__(self, rules: RuleSet, table: FeatureTable) -> None:
        look = Evaluation(table, rules.terms)
        self.conditions = np.array([is_condition(term) for term in rules.terms], dtype=bool)
        self.masks = np.empty((int(self.conditions.sum()), table.n_rows), dtype=bool)
        for at, k in enumerate(np.flatnonzero(self.conditions)):
            self.masks[at] = look.values(rules.terms[k])
        self.lines = {term.features[0]: k for k, term in enumerate(rules.terms) if not is_condition(term)}

    def matches(self, other: _Held, alike: float) -> np.ndarray:
        """Return for each term the position of the most similar one of another rule set, -1 for none."""
        found = np.full(len(self.conditions), -1)
        for name, k in self.lines.items():
            found[k] = other.lines.get(name, -1)
        if len(self.masks) and len(other.masks):
            both = np.zeros((len(self.masks), len(other.masks)))
            for start in range(0, self.masks.shape[1], _BLOCK):  # as numbers all masks would take four times their room
                mine, others = (part.masks[:, start : start + _BLOCK].astype(np.float32) for part in (self, other))
                both += mine @ others.T
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
