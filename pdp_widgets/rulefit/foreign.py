"""The rules of models that others fitted: trees, forests and boosting as leaves, and the RuleFits of other packages.

Trees are read by ``pdp_widgets.trees``; here their leaves become rules about the columns of X. The other packages are in
``foreign_rulefits``. A table of rules is the business of ``frame``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import FeatureTable, InputError, model_name
from pdp_widgets.inputs.conditions import And, Levels, Node, Range
from pdp_widgets.inputs.rows import row_outcome
from pdp_widgets.trees.columns import unwrap
from pdp_widgets.trees.ensemble import UnreadableError
from pdp_widgets.trees.reading import Reading, read

from .conditions import Condition, merged
from .cuts import between
from .foreign_rulefits import read_imodels, read_rulefit
from .ruleset import Link, RuleSet
from .table import Column
from .terms import Rule

if TYPE_CHECKING:
    from pdp_widgets.trees.ensemble import TreeEnsemble

__all__ = ["from_model"]

MAX_RULES = 10_000
_CHECKED_ROWS = 1000


def from_model(model: Any, X: Any = None, y: Any = None, *, max_rules: int = MAX_RULES) -> RuleSet:
    """Return the rule set of ``RuleSet.from_model``."""
    if isinstance(model, RuleSet):
        return model
    transformers, final = unwrap(model)
    if transformers:
        raise InputError(
            f"{model_name(model)} changes X before its rules see it ({type(transformers[0]).__name__}); pass its last step, "
            "and the table that this is given as X"
        )
    own = getattr(final, "ruleset_", None)
    if isinstance(own, RuleSet):
        return own
    table = None if X is None else FeatureTable(X)
    for reader in (read_imodels, read_rulefit):
        found = reader(final, table)
        if found is not None:
            rules, answer = found
            break
    else:
        rules, answer = _read_trees(final, table, max_rules)
    if table is None:
        if y is not None:
            raise InputError("y is about the rows of X; give X")
        return rules
    _check(rules, answer(X), X, final)
    return rules.with_support(X, y=None if y is None else _outcome(rules, y, table, final))


def _check(rules: RuleSet, asked: np.ndarray, X: Any, model: Any) -> None:
    """Raise unless the rules give the model's own answers on X, (n_outputs, n)."""
    summed = rules.predict(X)
    gaps = np.abs(asked - summed).max(axis=0)
    wrong = np.count_nonzero(~(gaps <= 1e-8 * max(1.0, float(np.abs(asked).max(initial=0.0)))))
    if wrong:
        raise InputError(
            f"the rules read from {type(model).__name__} do not give its predictions on {wrong} of {len(gaps)} rows "
            f"(by up to {np.nanmax(gaps):.3g}); is X the table that it was fitted to?"
        )


def _outcome(rules: RuleSet, y: Any, table: FeatureTable, model: Any) -> Any:
    """Return y as a rule set of its link takes it: shares of classes where each class has a sum of its own."""
    classes = getattr(model, "classes_", None)
    if rules.link != "identity" or classes is None:
        return y
    labels = np.asarray(row_outcome(y, table))
    return np.stack([labels == label for label in classes], axis=1).astype(float)


# ---- leaves as rules --------------------------------------------------------------------------


def _read_trees(model: Any, table: FeatureTable | None, max_rules: int) -> tuple[RuleSet, Any]:
    probabilities = hasattr(model, "predict_proba")
    try:
        reading = read(model, "predict_proba" if probabilities else "predict")
    except UnreadableError as error:
        raise InputError(
            f"there are no rules to be read: {error}; expected trees, forests or boosted trees, or a RuleFit. "
            "Explainer(model, X).rules() fits rules to any model"
        ) from error
    ensemble = reading.ensemble
    if ensemble.n_leaves > max_rules:
        raise InputError(
            f"{reading.family} has {ensemble.n_leaves:,} leaves in {ensemble.n_trees:,} trees, more than max_rules={max_rules:,}; "
            "raise max_rules, fit fewer or smaller trees, or let Explainer(model, X).rules() describe it by fewer rules"
        )
    link, factor = _link(reading)
    columns = _columns(model, reading, table)
    terms: dict[tuple[Condition, ...], np.ndarray] = {}
    intercept = ensemble.base.copy()
    centres = np.zeros((ensemble.n_trees, ensemble.width))
    if table is not None:
        centres = _centres(ensemble, reading.encode(table.build(np.arange(table.n_rows))))
    for root, first, centre in zip(ensemble.roots.tolist(), ensemble.output.tolist(), centres, strict=True):
        outputs = slice(first, first + ensemble.width)
        intercept[outputs] += centre
        for conditions, leaf in _leaves(ensemble, root, columns):
            value = ensemble.value[leaf] - centre
            if not conditions:
                intercept[outputs] += value
                continue
            terms.setdefault(conditions, np.zeros(ensemble.n_raw))[outputs] += value
    classes = [*model.classes_.tolist()] if probabilities and getattr(model, "classes_", None) is not None else None
    names = [] if classes is None or link != "identity" else [str(label) for label in classes]
    rules = RuleSet(
        tuple(map(Rule, terms)),
        np.array([*terms.values()]).reshape(len(terms), ensemble.n_raw).T * factor,
        intercept * factor,
        link=link,
        outputs=tuple(names if len(names) == ensemble.n_raw else ()),
        classes=None if classes is None or link == "identity" else tuple(classes),
        feature_names=tuple(column.name for column in columns),
    ).nonzero()

    def answer(X: Any) -> np.ndarray:
        raw = ensemble.predict(reading.encode(X))
        return reading.link.apply(raw) if link != "identity" else raw

    return rules, answer


def _link(reading: Reading) -> tuple[Link, float]:
    """Return the rule set's link, and what brings the sums to its scale."""
    link = reading.link
    if link.name == "sigmoid":
        return "logit", link.apply.keywords["scale"]  # type: ignore[attr-defined]
    if link.name == "one-vs-rest sigmoid":
        return "ovr", link.apply.keywords["scale"]  # type: ignore[attr-defined]
    if link.linear or link.name == "softmax":
        return "identity", 1.0
    raise InputError(
        f"{reading.family} answers {link.name} of a sum of trees, which the rules of a sum do not reproduce; "
        "Explainer(model, X).rules() fits rules to its predictions"
    )


def _leaves(ensemble: TreeEnsemble, root: int, columns: list[_Seen]) -> Any:
    """Yield conditions and leaf of each leaf of a tree that any value leads to."""
    waiting: list[tuple[int, tuple[Node, ...]]] = [(root, ())]
    while waiting:
        node, path = waiting.pop()
        if ensemble.left[node] < 0:
            yield merged(And(path)) if path else (), node
            continue
        left, right = columns[ensemble.column[node]].split(ensemble, node)
        for child, condition in ((ensemble.right[node], right), (ensemble.left[node], left)):
            if condition is not None:
                waiting.append((int(child), (*path, condition)))


def _centres(ensemble: TreeEnsemble, values: np.ndarray) -> np.ndarray:
    """Return the mean value of each tree over rows, (T, width)."""
    single = np.zeros(len(values), dtype=int)
    centres = np.empty((ensemble.n_trees, ensemble.width))
    for t, root in enumerate(ensemble.roots):
        at, going = single + root, np.arange(len(values)) if ensemble.left[root] >= 0 else single[:0]
        while len(going):
            nodes = at[going]
            left = ensemble.goes_left(nodes, values[going, ensemble.column[nodes]])
            at[going] = np.where(left, ensemble.left[nodes], ensemble.right[nodes])
            going = going[ensemble.left[at[going]] >= 0]
        centres[t] = ensemble.value[at].mean(axis=0)
    return centres


# ---- splits as conditions ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """A column of X as the trees see it."""

    name: str
    column: Column | None = None
    """What it holds; None where X was not given."""
    values: np.ndarray | None = None
    """Its distinct numbers in X, ascending."""
    codes: np.ndarray | None = None
    """Of a category: what each level is to the trees."""

    def split(self, ensemble: TreeEnsemble, node: int) -> tuple[Condition | None, Condition | None]:
        """Return the conditions of the two sides of a split; None for a side that no value goes to."""
        missing = bool(ensemble.missing_left[node])
        if self.codes is not None:
            return self._sets(ensemble, node, missing)
        if ensemble.category_set[node] >= 0:
            raise InputError(
                f"the trees split {self.name!r} by the codes of categories; give X, whose levels they stand for"
            )
        cut = self._cut(float(ensemble.threshold[node]), ensemble.precision)
        may = self.column is not None and self.column.missing
        if self.column is not None and self.column.two_values is not None:
            low, high = self.column.two_values
            if low <= cut < high:
                sides = Range(self.name, low, low), Range(self.name, high, high)
                return self._with_missing(sides, missing, may)
        return self._with_missing(
            (Range(self.name, high=cut), Range(self.name, low=cut, low_closed=False)), missing, may
        )

    @staticmethod
    def _with_missing(sides: tuple[Range, Range], left: bool, may: bool) -> tuple[Range, Range]:
        first, second = (
            Range(side.feature, side.low, side.high, side.low_closed, side.high_closed, missing=may and here)
            for side, here in zip(sides, (left, not left), strict=True)
        )
        return first, second

    def _sets(self, ensemble: TreeEnsemble, node: int, missing: bool) -> tuple[Condition | None, Condition | None]:
        assert self.codes is not None
        assert self.column is not None
        left = ensemble.goes_left(np.full(len(self.codes), node), self.codes)
        sides = []
        for chosen, gone in ((left, missing), (~left, not missing)):
            levels = [level for level, inside in zip(self.column.levels, chosen, strict=True) if inside]
            if self.column.missing and gone:
                levels.append(None)
            sides.append(Levels(self.name, tuple(levels)) if levels else None)
        return sides[0], sides[1]

    def _cut(self, threshold: float, precision: np.dtype) -> float:
        """Return t such that ``x <= t`` is what the trees ask: exactly, and written shortly where no row of X tells the difference.

        Trees that round to float32 send a number left when its rounded value is not above the threshold.
        """
        near = np.float32(threshold)
        if float(near) > threshold:
            near = np.nextafter(near, np.float32(-np.inf))
        after = np.nextafter(near, np.float32(np.inf))
        exact = threshold
        if precision == np.float32:
            exact = float(near) / 2 + float(after) / 2
            if int(near.view(np.uint32)) % 2:  # half way is rounded to the even neighbour
                exact = float(np.nextafter(exact, -np.inf))
        if self.values is None or self.column is None or not np.isfinite(exact):
            return exact
        at = int(np.searchsorted(self.values, exact, side="right"))
        low, high = float(near), float(after)
        if at > 0:
            low = max(low, float(self.values[at - 1]))
        if at < len(self.values):
            high = min(high, float(self.values[at]))
        return between(low, high, self.column) if low < high else exact


def _columns(model: Any, reading: Reading, table: FeatureTable | None) -> list[_Seen]:
    """Return the columns of X in the order in which the trees number them."""
    n = reading.ensemble.n_columns
    order = np.arange(n)
    flags = getattr(model, "is_categorical_", None)
    if flags is not None and np.any(flags):
        order = np.argsort(~np.asarray(flags), kind="stable")  # the estimator's encoder puts categories first
    if table is None:
        names = _names(model, n)
        return [_Seen(names[j]) for j in order]
    if len(table.column_names) != n:
        raise InputError(f"X has {len(table.column_names)} columns; {reading.family} was fitted to {n}")
    return [_Given(table, reading, int(j), k).seen for k, j in enumerate(order)]


def _names(model: Any, n: int) -> list[str]:
    for attribute in ("feature_names_in_", "feature_names", "feature_name_", "feature_names_"):
        found = getattr(model, attribute, None)
        if found is not None and not callable(found) and len(found) == n:
            return [str(name) for name in found]
    return [f"x{j}" for j in range(n)]


@dataclass(frozen=True)
class _Given:
    """A column of the table X, by its position there and among what the trees see."""

    table: FeatureTable
    reading: Reading
    position: int
    encoded: int

    @cached_property
    def seen(self) -> _Seen:
        name = self.table.column_names[self.position]
        observed = self.table.observed(name)
        column = Column.of(name, observed)
        if observed.kind == "category":
            rows = np.asarray(observed.representative, dtype=int)
            codes = self.reading.encode(self.table.build(rows))[:, self.encoded] if len(rows) else np.empty(0)
            return _Seen(name, column, None, codes)
        if observed.kind != "number":
            raise InputError(f"column {name!r} holds dates or durations, which no tree is known to be fitted to")
        return _Seen(name, column, np.unique(observed.codes[~observed.missing]))
