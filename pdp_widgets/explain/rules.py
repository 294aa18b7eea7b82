"""Rules: what a model does, or what is seen in the outcome, as a short sum of rules and linear terms.

A RuleFit is its own explanation. For any other model a RuleFit is fitted to what it answers, a *surrogate*, and how much of the answers
the surrogate gets right on rows that it has not seen is said along with it, always. How rules are grown and chosen is the business
of ``pdp_widgets.rulefit``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import FeatureTable, InputError, model_name
from pdp_widgets.inputs.conditions import Node, Rows
from pdp_widgets.inputs.errors import unknown_name
from pdp_widgets.inputs.rows import row_outcome
from pdp_widgets.rulefit import Rule, RuleSet
from pdp_widgets.rulefit.foreign_rulefits import read_imodels, read_rulefit
from pdp_widgets.rulefit.importance import RuleImportance, global_importance
from pdp_widgets.tabular import Tabular
from pdp_widgets.trees.columns import require_columnwise, unwrap
from pdp_widgets.trees.ensemble import UnreadableError

from .grids import at_least
from .progress import bar

if TYPE_CHECKING:
    from pdp_widgets.rulefit.stability import Refits, Stability

    from .background import Background

Kind = Literal["model", "outcome", "surrogate"]

__all__ = ["Rules", "rules"]

MAX_RULES = 500


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Rules(Tabular, Drawable):
    """A sum of rules and linear terms, and how well it stands for what it describes."""

    kind: Kind
    """"model": the model's own rules; "surrogate": fitted to its answers; "outcome": fitted to the observed outcome."""
    ruleset: RuleSet
    """The terms with a coefficient."""
    estimator: Any
    """The fitted RuleFit with its whole path of penalties; the model itself where it is one."""
    fidelity: float
    """Share of what is described that the terms explain on rows that they were not fitted to, cross-validated: R2 of a surrogate against the
    model's answers, R2 (of classes: share of the log-loss) of rules of the outcome; NaN for too few rows. Of the model's own
    rules 1, or R2 of fewer terms against all of them."""
    describes: str
    """What the terms add up to, in words."""
    of: str
    """What is described: the model's class, or "the outcome"."""
    as_seen: bool
    """Whether rules are about the columns of X, rather than about what the model's first steps make of them."""
    subgroup: str | None
    """The rows that the rules were fitted to, in words; None for all."""
    n_rows: int
    """How many rows that are."""
    weights: np.ndarray | None = field(repr=False)
    """(n,) row weights of the background."""
    table: FeatureTable = field(repr=False)
    """The background rows as the rules read them."""
    rows: np.ndarray | None = field(repr=False)
    """(n,) bool: the rows that the rules were fitted to; None for all."""
    target: np.ndarray = field(repr=False)
    """(n_outputs, m) what the terms stand for at these rows."""
    outcome: np.ndarray | None = field(default=None, repr=False)
    """(m,) what they were fitted to; of the model's own rules the explainer's ``y``, None without one."""

    def __len__(self) -> int:
        return len(self.ruleset)

    @property
    def rules(self) -> tuple[Rule | Node, ...]:
        """The rules, the most important first; each can be given as ``subgroup=`` anywhere."""
        overall = global_importance(self.ruleset).max(axis=0, initial=0.0)
        found: list[Rule | Node] = []
        for k in np.argsort(-np.nan_to_num(overall), kind="stable").tolist():
            term = self.ruleset.terms[k]
            if isinstance(term, Rule):
                found.append(term if self.as_seen else Rows(term.mask(self.table), term.text, about=term.label))
        return tuple(found)

    def to_frame(self, output: Any = None) -> pd.DataFrame:
        """Return the intercept and the terms, most important first; see ``RuleSet.to_frame``."""
        return self.ruleset.to_frame(output)

    def importance(self, subgroup: Any = None) -> RuleImportance:
        """Return how much terms and features matter, globally and on average over background rows.

        Parameters
        ----------
        subgroup : mask, text, Rule or object with ``.mask``, optional
            Which rows; those that the rules were fitted to by default.
        """
        rows = self.rows if subgroup is None else subgroup
        return self.ruleset.importance(self.table, subgroup=rows, weights=self.weights)

    def with_n_terms(self, n_terms: int) -> Rules:
        """Return the same with at most so many terms, from the path that was kept; nothing is fitted again.

        Raises
        ------
        InputError
            For a number below 0, and for a model without such a path.
        """
        if not hasattr(self.estimator, "with_n_terms"):
            raise InputError(f"{self.of} keeps its rules, but no path of fewer terms")
        return self._instead(self.estimator.with_n_terms(n_terms))

    def at_step(self, step: int) -> Rules:
        """Return the same at another penalty of the path, 0 being the largest; nothing is fitted again.

        Raises
        ------
        InputError
            When there is no such step, and for a model without a path.
        """
        if not hasattr(self.estimator, "at_step"):
            raise InputError(f"{self.of} keeps its rules, but no path of fewer terms")
        return self._instead(self.estimator.at_step(step))

    def _instead(self, other: Any) -> Rules:
        """Return the same with the terms of another step of the path."""
        if self.kind != "model":
            fidelity = _cross_validated(other, self.target, self._share)
        else:
            own, share = other.ruleset_.decision(self.table), self._share
            own = own if self.rows is None else own[:, self.rows]
            centred = self.target - (self.target @ share)[:, None]
            fidelity = _explained(
                float(np.sum(np.square(self.target - own) @ share)), float(np.sum(centred**2 @ share))
            )
        return replace(self, estimator=other, ruleset=other.ruleset_, fidelity=fidelity)

    def stability(self, *, refits: int = 20, n_jobs: int | None = None, **options: Any) -> Stability:
        """Return how often each term comes back when rules are fitted to other samples of the same rows.

        Parameters
        ----------
        refits : int
            How many samples.
        n_jobs : int, optional
            Refits at the same time.
        **options
            ``share``, ``alike`` and ``random_state`` of ``rulefit.stability``.

        Raises
        ------
        InputError
            For the rules of another package's model, and for a model's own rules without an outcome.
        """
        from pdp_widgets.rulefit.stability import stability

        X, y, weights = self._fitted_to
        return stability(self.estimator, X, y, sample_weight=weights, refits=refits, n_jobs=n_jobs, **options)

    def refits(self) -> Refits:
        """Return what ``stability`` fits at its defaults, to be fitted step by step.

        Raises
        ------
        InputError
            As for ``stability``.
        """
        from pdp_widgets.rulefit.stability import Refits

        X, y, weights = self._fitted_to
        return Refits(self.estimator, X, y, sample_weight=weights)

    @property
    def _fitted_to(self) -> tuple[FeatureTable, np.ndarray, np.ndarray | None]:
        """The rows, their outcome and weights."""
        if not hasattr(self.estimator, "at_step"):
            raise InputError(
                f"only a RuleFit of this package is fitted again; {self.of} is none. Explain it as a function, "
                "Explainer(model.predict, X), to have rules that are"
            )
        if self.outcome is None:
            raise InputError("to fit the model again takes the outcome: Explainer(model, X, y)")
        table, weights = self.table, self.weights
        if self.rows is not None:
            table = table.take(np.flatnonzero(self.rows))
            weights = None if weights is None else weights[self.rows]
        return table, self.outcome, weights

    @property
    def _share(self) -> np.ndarray:
        share = np.ones(self.table.n_rows) if self.weights is None else self.weights
        share = share if self.rows is None else share[self.rows]
        return share / share.sum()

    def __repr__(self) -> str:
        return f"<Rules of {self._headline}>"

    @property
    def _headline(self) -> str:
        n, shown = len(self.ruleset), f"{self.fidelity:.2f}"
        terms = f"{n} {'term' if n == 1 else 'terms'}"
        if self.kind == "model":
            what = f"the model itself, {self.of}: {terms}"
            fit = "all it predicts by" if self.fidelity == 1 else f"R2 {shown} of all its terms"
        elif self.kind == "surrogate":
            what = f"a surrogate of {self.of}: {terms}"
            fit = f"fidelity R2 {shown} against the model, cross-validated"
        else:
            what = f"the outcome: {terms}"
            of_classes = self.ruleset.link != "identity"
            fit = f"{'share of the log-loss' if of_classes else 'R2'} {shown} explained, cross-validated"
        parts = [what, fit, self.describes, f"{self.n_rows} rows"]
        if self.subgroup is not None:
            parts.append(f"subgroup {self.subgroup}")
        if self.weights is not None:
            parts.append("weighted")
        if not self.as_seen:
            parts.append("columns as its last step sees them")
        return "; ".join(parts)

    def _repr_html_(self) -> str:
        return f"<p>Rules of {escape(self._headline)}</p>{self.ruleset._repr_html_()}"


def rules(
    explainer: Background,
    y: Any = None,
    *,
    max_rules: int = MAX_RULES,
    n_terms: int | None = None,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
    **options: Any,
) -> Rules:
    """Return rules that describe a model or an outcome.

    Parameters
    ----------
    explainer : Explainer
    y : (n,) array or True, optional
        Rules of this outcome; True: of the explainer's ``y``. Classes where the model has classes or y holds no numbers.
        Without: rules of the model, its own where it is a RuleFit, else those of a surrogate.
    max_rules : int
        Roughly how many rules are grown to choose from: fewer than ``RuleFitRegressor`` grows by itself, so that 2000 rows of
        10 columns take about two seconds. More of them raise the fidelity a little.
    n_terms : int, optional
        Most terms; by default as many as cross-validation chooses.
    subgroup : mask, text, Rule or object with ``.mask``, optional
        Fit to these rows only. The model's own rules stay, their importances are then those of the subgroup.
    output : name, class label or position, optional
        Which output a surrogate stands for; the explainer's first one to show by default. It is fitted to the response as
        the explainer has it, by squared error: to probabilities of a classifier, unless ``response="decision"`` or ``"logit"``
        asks for log-odds, on which scale rules multiply odds.
    progress : bool, optional
        Show a bar while the model predicts; None: when it is slow.
    **options
        Other parameters of ``RuleFitRegressor`` and ``RuleFitClassifier``. Here ``cv`` is "honest" and ``random_state`` that
        of the explainer by default, and ``min_samples_leaf`` of a surrogate 5: a model's answers have no noise.

    Raises
    ------
    InputError
        For an unknown option, an empty subgroup, ``y=True`` without a ``y``, or an outcome that does not fit.
    PredictionError
        When the model fails.
    """
    at_least("max_rules", max_rules, 1)
    mask, text = explainer.rows_of(subgroup)
    outcome = _outcome(explainer, y)
    own = _own(explainer) if outcome is None else None
    if own is not None:
        estimator, ruleset, table, as_seen = own
        kept = np.ones(table.n_rows, bool) if mask is None else mask
        found = Rules(
            kind="model", ruleset=ruleset, estimator=estimator, fidelity=1.0, of=type(estimator).__name__,
            describes=_sums(ruleset, "prediction"), as_seen=as_seen, subgroup=text, n_rows=int(kept.sum()),
            weights=explainer.weights, table=table, rows=mask, target=ruleset.decision(table.take(np.flatnonzero(kept))),
            outcome=None if explainer.y is None else np.asarray(explainer.y)[kept],
        )  # fmt: skip
        return found if n_terms is None else found.with_n_terms(n_terms)
    kept = np.ones(explainer.n_rows, bool) if mask is None else mask.copy()
    if outcome is None:
        kind: Kind = "surrogate"
        position = explainer.response.position(explainer.default_output if output is None else output)
        values: np.ndarray = _answers(explainer, progress)[position]
        kept &= np.isfinite(values)
        if not kept.any():
            raise InputError(
                "the model has no finite prediction for these rows: there is nothing that rules could imitate"
            )
        name = explainer.outputs[position]
        describes = explainer.scale if name == explainer.scale else f"{explainer.scale} of {name}"
    else:
        kind, values, describes = "outcome", outcome, "y"
    classes = kind == "outcome" and (bool(explainer.response.raw_labels) or values.dtype.kind not in "iuf")
    table = _table(explainer)
    if kind == "surrogate":
        options.setdefault("min_samples_leaf", 5)  # a model's answers have no noise that larger groups would keep out
    estimator = _estimator(classes, {"max_rules": max_rules, "random_state": explainer.random_state, **options})
    weights = None if explainer.weights is None else explainer.weights[kept]
    estimator.fit(table.build(np.flatnonzero(kept)), values[kept], sample_weight=weights)
    target = values[None, kept].astype(float) if not classes else _shares(values[kept], estimator)
    share = np.ones(int(kept.sum())) if weights is None else weights
    found = Rules(
        kind=kind, ruleset=estimator.ruleset_, estimator=estimator,
        fidelity=_cross_validated(estimator, target, share / share.sum()),
        of=model_name(explainer.model) if kind == "surrogate" else "the outcome",
        describes=_sums(estimator.ruleset_, describes), as_seen=True, subgroup=text, n_rows=len(share),
        weights=explainer.weights, table=table, rows=None if kept.all() else kept, target=target,
        outcome=values[kept],
    )  # fmt: skip
    return found if n_terms is None else found.with_n_terms(n_terms)


# ---- what is described ------------------------------------------------------------------------


def _own(explainer: Background) -> tuple[Any, RuleSet, FeatureTable, bool] | None:
    """Return a model that is a RuleFit, its rules, the background as it sees it, and whether that is X; None for other models."""
    if explainer.response.asks is None:
        return None  # a function of the model's answer is explained, which is no sum of its rules
    transformers, final = unwrap(explainer.response.model)
    block = explainer.table.build(np.arange(explainer.n_rows))
    ruleset = getattr(final, "ruleset_", None)
    if not isinstance(ruleset, RuleSet):
        peers = not transformers and any(reader(final, None) for reader in (read_imodels, read_rulefit))
        return (final, found := RuleSet.from_model(final, block), found.table(block), True) if peers else None
    if transformers:
        try:
            require_columnwise(transformers)
        except UnreadableError:
            return None
        for transformer in transformers:
            block = transformer.transform(block)
    own_table = getattr(final, "table_", None)
    return final, ruleset, ruleset.table(block) if own_table is None else own_table.rows(block), not transformers


def _outcome(explainer: Background, y: Any) -> np.ndarray | None:
    """Return the outcome asked for at the background rows."""
    if y is None or y is False:
        return None
    if y is True:
        if explainer.y is None:
            raise InputError(
                "y=True asks for rules of the explainer's outcome, but it has none: Explainer(model, X, y)"
            )
        outcome = explainer.y
    else:
        given = explainer._given  # noqa: SLF001 - X before a sample of it was drawn
        whole = np.shape(y)[:1] == (explainer.n_rows_given,)
        outcome = np.asarray(row_outcome(y, given if whole else explainer.table))
        outcome = outcome[explainer.rows_given] if whole else outcome
    if outcome.ndim != 1:
        raise InputError(f"y has shape {outcome.shape}; rules describe one outcome, with one value per row")
    return outcome


def _answers(explainer: Background, progress: bool | None) -> np.ndarray:
    """Return the model's answers at the background rows, (n_outputs, n)."""
    base = explainer.base()
    with bar(base.rows_total, "predictions", progress) as shown:
        while not base.complete:
            before = base.rows_done
            base.advance()
            shown.update(base.rows_done - before)
    return base.predictions


def _table(explainer: Background) -> FeatureTable:
    """Return the background rows as the rules see them: the columns of the features that are explained, one by one."""
    table = explainer.table
    columns = sorted({j for feature in table.features.values() for j in feature.columns})
    few = table.build(np.zeros(1, dtype=int))
    alone = all(len(feature.columns) == 1 for feature in table.features.values())
    if alone and len(columns) == len(table.column_names) and not hasattr(few, "tocsr"):
        return table
    every = np.arange(table.n_rows)
    names = [table.column_names[j] for j in columns]
    vectors = [pd.Series(table.values(table.column(name), every)[0]).reset_index(drop=True) for name in names]
    frame = pd.concat(vectors, axis=1, keys=names)
    return FeatureTable(frame if table.index is None else frame.set_axis(table.index, axis=0))


def _sums(ruleset: RuleSet, describes: str) -> str:
    """Return what the terms add up to, in words."""
    if ruleset.link == "identity":
        return describes
    return f"log-odds of {', '.join(ruleset.outputs[:4])}{', ...' if ruleset.n_outputs > 4 else ''}"


# ---- fitting ----------------------------------------------------------------------------------


def _estimator(classes: bool, options: Mapping[str, Any]) -> Any:
    from pdp_widgets.rulefit.estimator import RuleFitClassifier, RuleFitRegressor

    kind = RuleFitClassifier if classes else RuleFitRegressor
    estimator = kind(cv="honest")
    known = estimator.get_params()
    for name in options:
        if name not in known:
            raise unknown_name("option", name, known, f"a parameter of {kind.__name__}")
    return estimator.set_params(**options)


def _shares(labels: np.ndarray, estimator: Any) -> np.ndarray:
    """Return 0 and 1 per output of a classifier, (n_outputs, m)."""
    classes = estimator.classes_
    return np.array([labels == label for label in (classes[1:] if len(classes) == 2 else classes)], dtype=float)


def _cross_validated(estimator: Any, target: np.ndarray, share: np.ndarray) -> float:
    """Return the share of the loss of a constant that held-out rows are spared at the penalties in use."""
    means = target @ share
    if estimator.ruleset_.link == "identity":
        constant = np.square(target - means[:, None]) @ share
    else:
        # The log-loss of always saying the share of a class.
        constant = -sum(p * np.log(p, where=p > 0, out=np.zeros_like(p)) for p in (means, 1 - means))
    lost = [out.path.loss_mean[at] for out, at in zip(estimator.outputs_, estimator.penalties_, strict=True)]
    return _explained(float(np.sum(lost)), float(np.sum(constant)))


def _explained(lost: float, whole: float) -> float:
    """Return one minus a ratio of losses; of a constant nothing is left to be explained."""
    return 1 - lost / whole if whole > 0 else 1.0
