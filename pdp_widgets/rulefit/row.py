"""Why one row is predicted as it is: what each term adds, which rules hold, and which just miss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import FeatureTable, InputError, Observed
from pdp_widgets.inputs.conditions import Range, literal_text, observed_of
from pdp_widgets.inputs.errors import unknown_name
from pdp_widgets.tabular import Tabular

from .conditions import words
from .evaluation import Evaluation, conditions_of, is_condition
from .importance import centres, chosen_outputs, linear_terms, one_output

if TYPE_CHECKING:
    from .conditions import Condition
    from .ruleset import RuleSet
    from .terms import Term


@dataclass(frozen=True)
class NearMiss:
    """A rule of which exactly one condition fails."""

    term: int
    """Position of the rule in ``rules.terms``."""
    condition: Condition
    """The one that fails."""
    value: str
    """The row's value, as people read it."""
    gap: float
    """How much the value would have to change to reach the condition, in the unit of the feature (dates and durations: milliseconds);
    0 where it stands on an open bound, NaN for categories and missing values."""
    gap_sd: float
    """The same in standard deviations of the feature over the training rows; NaN where that is not known."""

    @property
    def words(self) -> str:
        """What is missing, such as ``temp is 11.2, 0.8 below temp > 12 (0.1 sd)``."""
        name = self.condition.feature
        if np.isnan(self.gap):
            return f"{name} is {self.value}, not {words(self.condition)}"
        kind = getattr(self.condition, "kind", "number")
        size = abs(self.gap)
        shown = f"{size:.4g}" if kind == "number" else str(pd.Timedelta(round(size * 1e6), unit="ns"))
        side = "on the bound of" if self.gap == 0 else f"{shown} {'below' if self.gap > 0 else 'above'}"
        sd = "" if np.isnan(self.gap_sd) else f" ({abs(self.gap_sd):.2g} sd)"
        return f"{name} is {self.value}, {side} {words(self.condition)}{sd}"


@dataclass(frozen=True)
class RowExplanation(Tabular, Drawable):
    """One row's prediction as a sum, on the scale of ``RuleSet.decision`` (log-odds of a classifier).

    ``intercept + contributions.sum()`` is the row's decision value, and so is ``average + from_average.sum()``.
    """

    rules: RuleSet
    name: str
    """The row's label."""
    values: np.ndarray = field(repr=False)
    """(K,) terms at the row: 1 or 0 of rules, clipped value of linear terms."""
    contributions: np.ndarray = field(repr=False)
    """(n_outputs, K): coefficient times value."""
    average: np.ndarray | None = field(repr=False)
    """(n_outputs,) mean decision value of the training rows; None where support or means are not known."""
    from_average: np.ndarray | None = field(repr=False)
    """(n_outputs, K): a_k (r_k(x) - s_k), how far each term moves the row away from the average."""
    decision: np.ndarray
    """(n_outputs,)"""
    prediction: np.ndarray
    """As ``RuleSet.predict``: a value per output, or a probability per class."""
    near_misses: tuple[NearMiss, ...] = field(repr=False)
    output: int = field(repr=False)
    """Position of the output that the text is about."""

    @property
    def fired(self) -> tuple[Term, ...]:
        """Rules and levels that hold for the row."""
        return tuple(
            term for term, value in zip(self.rules.terms, self.values, strict=True) if is_condition(term) and value
        )

    def to_frame(self, output: Any = None) -> pd.DataFrame:
        """Return the intercept and then the terms, the largest contribution first.

        The column ``contribution`` sums to the decision value; so does ``from_average``, whose first row is the average.
        """
        linear = linear_terms(self.rules)
        blocks = []
        for o in chosen_outputs(self.rules, output):
            order = np.argsort(-np.abs(self.contributions[o]), kind="stable")
            terms = [self.rules.terms[k] for k in order]
            columns: dict[str, Any] = {
                "kind": ["intercept", *np.where(linear[order], "linear", "rule")],
                "term": ["intercept", *(term.label for term in terms)],
                "text": ["", *(term.text for term in terms)],
                "value": [1.0, *self.values[order]],
                "coefficient": [self.rules.intercept[o], *self.rules.coefficients[o, order]],
                "contribution": [self.rules.intercept[o], *self.contributions[o, order]],
            }
            if self.average is not None and self.from_average is not None:
                columns["from_average"] = [self.average[o], *self.from_average[o, order]]
            block = pd.DataFrame(columns)
            if self.rules.n_outputs > 1:
                block.insert(0, "output", self.rules.outputs[o])
            blocks.append(block)
        return pd.concat(blocks, ignore_index=True)

    def near_misses_frame(self, output: Any = None) -> pd.DataFrame:
        """Return one row per rule of which exactly one condition fails, the largest coefficient first."""
        o = self.output if output is None else one_output(self.rules, output)
        misses = sorted(self.near_misses, key=lambda miss: -abs(self.rules.coefficients[o, miss.term]))
        return pd.DataFrame(
            {
                "term": [self.rules.terms[miss.term].label for miss in misses],
                "coefficient": [self.rules.coefficients[o, miss.term] for miss in misses],
                "fails": [words(miss.condition) for miss in misses],
                "feature": [miss.condition.feature for miss in misses],
                "value": [miss.value for miss in misses],
                "gap": np.array([miss.gap for miss in misses], dtype=float),
                "gap_sd": np.array([miss.gap_sd for miss in misses], dtype=float),
                "words": [miss.words for miss in misses],
            }
        )

    def to_text(self, *, relative_to: str = "intercept") -> str:
        """Return what adds up to the prediction, and the near misses, most important first.

        Parameters
        ----------
        relative_to : {"intercept", "average"}
            The sum begins with the intercept, or with the mean of the training rows (what a linear term adds to the intercept depends on
            where its feature has its zero).

        Raises
        ------
        InputError
            For another word, or when the average is not known.
        """
        if relative_to not in ("intercept", "average"):
            raise unknown_name("relative_to", relative_to, ("intercept", "average"), "something to start from")
        o, rules = self.output, self.rules
        start, parts = rules.intercept[o], self.contributions[o]
        if relative_to == "average":
            if self.average is None or self.from_average is None:
                centres(rules)  # raises
            else:
                start, parts = self.average[o], self.from_average[o]
        scale = "prediction" if rules.link == "identity" else f"log-odds of {rules.outputs[o]}"
        lines = [f"Row {self.name}: {scale} {self.decision[o]:.6g} = {relative_to} {start:.6g}"]
        if rules.link != "identity":
            shares = zip(rules.predicted, self.prediction, strict=True)
            lines.append("  probabilities: " + ", ".join(f"{name} {share:.4g}" for name, share in shares))
        for k in np.argsort(-np.abs(parts), kind="stable"):
            if parts[k] != 0:
                term, value = rules.terms[k], self.values[k]
                how = ("" if value else " does not hold") if is_condition(term) else f" at {value:.6g}"
                lines.append(f"  {parts[k]:+.6g}  {term.label}{how}")
        a = rules.coefficients[o]
        misses = [miss for miss in sorted(self.near_misses, key=lambda miss: -abs(a[miss.term])) if a[miss.term] != 0]
        if misses:
            lines.append("Near misses (one condition fails):")
        lines += [f"  {a[miss.term]:+.6g}  {rules.terms[miss.term].label}: {miss.words}" for miss in misses[:10]]
        if len(misses) > 10:
            lines.append(f"  and {len(misses) - 10} more")
        return "\n".join(
            line[:2] + " ".join(line[2:].split()) if line[0] == " " else " ".join(line.split()) for line in lines
        )

    def __repr__(self) -> str:
        return self.to_text()


def explain_row(rules: RuleSet, row: Any, X: Any = None, *, output: Any = None) -> RowExplanation:
    """Return why a row is predicted as it is.

    Parameters
    ----------
    rules : RuleSet
    row : int, mapping, pandas.Series, (p,) array or table of one row
        With X: the row's position in it. Without: the row itself.
    X : table, optional
    output : name, class label or position, optional
        The output that the text is about. Default: the largest.

    Raises
    ------
    InputError
        When it is not one row, or lacks a feature.

    Examples
    --------
    >>> from pdp_widgets.rulefit import Linear, Rule, RuleSet
    >>> X = pd.DataFrame({"temp": [10.0, 20.0, 40.0], "weather": ["GOOD", "MISTY", "GOOD"]})
    >>> terms = [Rule.of("temp > 12 & weather == 'GOOD'", X), Linear("temp")]
    >>> explain_row(RuleSet(terms, [5.0, 0.1], 1.0).with_support(X), 0, X)
    Row 0: prediction 2 = intercept 1
      +1 temp at 10
    Near misses (one condition fails):
      +5 temp > 12 & weather = GOOD: temp is 10, 2 below temp > 12 (0.16 sd)
    """
    table = _one_row(rules, row, X)
    look = Evaluation(table, rules.terms)
    values = np.array([float(look.values(term)[0]) for term in rules.terms], dtype=float)
    try:
        centre: np.ndarray | None = centres(rules)
    except InputError:
        centre = None
    decision = rules.decision(table)
    return RowExplanation(
        rules,
        table.row_label(0),
        values,
        rules.coefficients * values,
        None if centre is None else rules.intercept + rules.coefficients @ centre,
        None if centre is None else rules.coefficients * (values - centre),
        decision[:, 0],
        rules.respond(decision)[:, 0],
        _near_misses(rules, look),
        int(np.argmax(decision[:, 0])) if output is None else one_output(rules, output),
    )


def _one_row(rules: RuleSet, row: Any, X: Any) -> FeatureTable:
    if X is not None:
        table = rules.table(X)
        if not isinstance(row, (int, np.integer)) or isinstance(row, bool) or not -table.n_rows <= row < table.n_rows:
            raise InputError(f"row={row!r} is no position in X, which has {table.n_rows} rows")
        return table.take(np.array([int(row) % table.n_rows]))
    if isinstance(row, pd.Series):
        table = FeatureTable(pd.DataFrame({name: [value] for name, value in row.items()}, index=[row.name]))
    elif isinstance(row, Mapping):
        table = FeatureTable(pd.DataFrame({name: [value] for name, value in row.items()}))
    elif isinstance(row, (int, np.integer)):
        raise InputError(f"row={row!r} is a position; give X, too")
    else:
        table = rules.table([row] if np.ndim(row) == 1 and not hasattr(row, "columns") else row)
    if table.n_rows != 1:
        raise InputError(f"row is a table of {table.n_rows} rows; expected one")
    return table


def _near_misses(rules: RuleSet, look: Evaluation) -> tuple[NearMiss, ...]:
    found = []
    for k, term in enumerate(rules.terms):
        failing = [condition for condition in conditions_of(term) if not look.condition(condition)[0]]
        if len(failing) == 1:
            found.append(_miss(k, failing[0], observed_of(look.table, failing[0].feature), rules.feature_sd))
    return tuple(found)


def _miss(k: int, condition: Condition, observed: Observed, sds: Mapping[str, float]) -> NearMiss:
    code = float(observed.codes[0])
    gap = np.nan
    if observed.kind != "category" and isinstance(condition, Range) and not np.isnan(code):
        low, high = (observed.as_held(bound) for bound in (condition.low, condition.high))
        below = low is not None and (code < low or (code == low and not condition.low_closed))
        bound = low if below else high
        gap = np.nan if bound is None else float(bound) - code
    sd = sds.get(condition.feature, np.nan)
    return NearMiss(k, condition, value_text(observed), gap, gap / sd if sd > 0 else np.nan)


def value_text(observed: Observed) -> str:
    """Return the first row's value as people read it."""
    code = float(observed.codes[0])
    if np.isnan(code):
        return "missing"
    if observed.kind == "category":
        return (observed.labels or [])[int(code)]
    return f"{code:.6g}" if observed.kind == "number" else literal_text(code, observed.text_kind).strip("'")
