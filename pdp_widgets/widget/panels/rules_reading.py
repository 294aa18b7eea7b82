"""Reading: one rule set at one penalty as the page shows it, and what the page asks about its terms and about single rows.

When rules are fitted is the business of ``rules``; what their numbers mean that of ``pdp_widgets.rulefit``.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Levels, Rows, observed_of
from pdp_widgets.rulefit import Linear, Rule
from pdp_widgets.rulefit.evaluation import Evaluation, is_condition
from pdp_widgets.rulefit.importance import global_importance, importance_features, relative, shares
from pdp_widgets.rulefit.row import value_text
from pdp_widgets.rulefit.stability import Tally
from pdp_widgets.widget.wire import pack, scalar

from .rules_parts import Parts

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pdp_widgets.explain import Explainer
    from pdp_widgets.explain.rules import Rules
    from pdp_widgets.inputs.conditions import Node
    from pdp_widgets.rulefit.overlap import Overlap
    from pdp_widgets.rulefit.ruleset import RuleSet
    from pdp_widgets.rulefit.stability import Refits
    from pdp_widgets.rulefit.terms import Term

__all__ = ["MOST_TERMS", "Reading", "Sums"]

MOST_TERMS = 5000
"""Terms that the page gets, the most important ones."""

MOST_OVERLAPPING = 1000
"""Terms whose overlaps are looked at, the most important ones."""

_CELLS = 50_000_000  # rows times terms held in memory for overlaps
_SECONDS = 0.05
_RELATED = 12
_RELATIONS = ("equal", "within", "contains", "complement", "correlated")

_RULE, _LINEAR, _LEVEL = 0, 1, 2


@dataclass(frozen=True)
class Sums:
    """Importance and support of the terms over a selection."""

    importance: np.ndarray
    """(K,) mean of the local importances over the selected rows."""
    support: np.ndarray
    """(K,) share of the selected rows that a term holds for; NaN of numbers."""
    n: int
    id: int


@dataclass(eq=False)
class Reading:
    """The terms of one output of a rule set, the most important first."""

    id: int
    """What tells one list of terms from another: positions that the page speaks of are those of this list."""
    what: Hashable
    """What they are about, as the panel keeps its fits."""
    found: Rules
    explainer: Explainer
    output: str
    """The output in focus."""
    step: int | None = None
    """Where on the path of penalties it stands; None where there is no path."""
    overlap: Overlap | None = field(default=None, repr=False)
    """Of the first terms, once it has been looked at."""
    labels: dict[str, int] = field(default_factory=dict, repr=False)
    _tally: Tally | None = field(default=None, repr=False)
    _looking: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def rules(self) -> RuleSet:
        """All terms, of all outputs."""
        return self.found.ruleset

    @cached_property
    def at(self) -> tuple[int, float]:
        """Position of the output among those of the rule set, and -1 where the rules are about the other one of two classes."""
        rules = self.rules
        if rules.link == "logit":
            return 0, -1.0 if self.output == str((rules.classes or ("",))[0]) else 1.0
        return (rules.outputs.index(self.output) if self.output in rules.outputs else 0), 1.0

    @cached_property
    def coefficients(self) -> np.ndarray:
        """(all terms,) of the output in focus."""
        o, sign = self.at
        return sign * self.rules.coefficients[o]

    @cached_property
    def order(self) -> np.ndarray:
        """Positions of the terms that have a coefficient, the most important first."""
        overall = np.nan_to_num(global_importance(self.rules)[self.at[0]], nan=-1.0)
        order = np.lexsort((-np.abs(self.coefficients), -overall))
        return order[self.coefficients[order] != 0]

    @cached_property
    def shown(self) -> list[int]:
        """Those of them that the page gets."""
        return [int(k) for k in self.order[:MOST_TERMS]]

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """(K,) the terms that the page gets."""
        return tuple(self.rules.terms[k] for k in self.shown)

    # ---- what it takes a while to know ---------------------------------------------------

    def look(self) -> None:
        """Count how the most important terms overlap, once."""
        with self._looking:
            if self.overlap is None:
                table = self.found.table
                most = min(MOST_OVERLAPPING, max(2, _CELLS // max(table.n_rows, 1)))
                some = self.rules.take(np.array(self.shown[:most], dtype=int))
                self.overlap = some.overlap(table, weights=self.found.weights)

    @property
    def counted(self) -> int:
        """How many other fits were looked at for what comes back."""
        return 0 if self._tally is None else self._tally.refits

    def count(self, refits: Refits) -> None:
        """Look at one more fit to another sample of the rows, which takes as long as a fit if nobody has asked for it before."""
        if self.counted >= refits.total:
            return  # one that nobody waits for any more has done it
        if self._tally is None:
            self._tally = Tally(self.rules.take(np.array(self.shown, dtype=int)), refits.table)
        if len(refits.rulesets) <= self.counted:
            refits.advance()
        self._tally.add(refits.rulesets[self.counted])

    def forget(self) -> None:
        """Let go of what takes room and can be had again."""
        self.overlap = self._tally = None

    def sums(self, mask: np.ndarray, selection_id: int) -> Iterator[Sums | None]:
        """Yield None after each chunk of work, and at last the numbers of the selected rows."""
        table, weights = self.found.table, self.found.weights
        share = mask.astype(float) if weights is None else np.where(mask, weights, 0.0)
        whole = share.sum()
        importance, support = np.full((2, len(self.terms)), np.nan)
        if whole > 0:
            share = share / whole
            look, until = Evaluation(table, self.terms), time.monotonic() + _SECONDS
            for at, term in enumerate(self.terms):
                values = look.values(term)
                if is_condition(term):
                    support[at] = share @ values
                importance[at] = abs(self.coefficients[self.shown[at]]) * (share @ np.abs(values - self._centre[at]))
                if time.monotonic() >= until:
                    yield None
                    until = time.monotonic() + _SECONDS
        yield Sums(importance, support, int(np.count_nonzero(mask)), selection_id)

    @cached_property
    def _centre(self) -> np.ndarray:
        """(K,) what a term is on average over the rows it was fitted to."""
        return np.array(
            [t.mean if isinstance(t, Linear) else self.rules.support[k] for k, t in zip(self.shown, self.terms, strict=True)],
            dtype=float,
        )  # fmt: skip

    # ---- what the page asks --------------------------------------------------------------

    def node(self, term: int) -> Node:
        """Return a rule as a condition on the background rows.

        Raises
        ------
        InputError
            For a linear term, which holds for no rows in particular.
        """
        found = self._term(term)
        if not is_condition(found):
            raise InputError(f"{found.label} is a linear term: it holds for no rows in particular")
        if not self.found.as_seen:
            return Rows(np.asarray(found.values(self.found.table) if isinstance(found, Linear) else found.mask(self.found.table)) > 0,
                        found.text, about=found.label)  # fmt: skip
        return found.node if isinstance(found, Rule) else Levels(found.feature, found.level)

    def related(self, term: int) -> dict[str, Any]:
        """Return the terms that one term has to be read with, the closest first; their positions are those of the page."""
        found = self._term(term)
        if self._looking.locked():
            raise InputError("the overlaps of the rules are still being counted; try again in a moment")
        self.look()
        overlap = self.overlap
        assert overlap is not None
        # The overlap was taken of the shown terms in their order: its positions are the page's.
        if not is_condition(found) or term not in overlap.positions:
            return {"term": term, "related": [], "more": 0, "looked_at": len(overlap.positions)}
        frame = overlap.of(term)
        nearest = frame.head(_RELATED)
        nearest = nearest.iloc[np.argsort([_RELATIONS.index(name) for name in nearest.relation], kind="stable")]
        return {
            "term": term,
            "related": [
                {
                    "term": int(row.position),
                    "relation": row.relation,
                    "share": scalar(row.share),
                    "share_of_other": scalar(row.share_of_other),
                    "jaccard": scalar(row.jaccard),
                    "correlation": scalar(row.correlation),
                }
                for row in nearest.itertuples()
            ],
            "more": max(0, len(frame) - _RELATED),
            "looked_at": len(overlap.positions),
        }

    def row(self, row: int | None, label: str | None = None) -> dict[str, Any]:
        """Return why a background row, known by position or label, is predicted as it is: what adds up to that, and near misses.

        The sum starts where every number is at its mean and no rule holds; linear terms count from their means.
        """
        row = self._position(label or "") if row is None else row
        if not 0 <= row < self.explainer.n_rows:
            raise InputError(f"there is no row {row}: there are {self.explainer.n_rows:,}")
        why = self.rules.explain_row(row, self.found.table, output=self.rules.outputs[self.at[0]])
        contributions = self.coefficients * (why.values - self._origin)
        place = {k: at for at, k in enumerate(self.shown)}
        o, sign = self.at
        misses = [miss for miss in why.near_misses if miss.term in place]
        model = self.explainer.base().predictions[self.explainer.outputs.index(self.output), row]
        return {
            "of": self.id,
            "row": row,
            "label": why.name,
            "start": self._start,
            "decision": float(sign * why.decision[o]),
            "prediction": float(why.prediction[int(sign > 0) if self.rules.link == "logit" else o]),
            "model": None if self.found.kind == "outcome" and self.rules.link != "identity" else scalar(model),
            "holds": [place[k] for k in place if why.values[k] and is_condition(self.rules.terms[k])],
            "contributions": [[at, float(contributions[k])] for k, at in place.items() if contributions[k] != 0],
            "values": [[at, float(why.values[k])] for k, at in place.items() if not is_condition(self.rules.terms[k])],
            "own": self._own(row),
            "rest": float(sum(contributions[k] for k in self.order[MOST_TERMS:])),
            "misses": [[place[miss.term], miss.words, scalar(abs(miss.gap_sd))] for miss in misses],
        }

    def _own(self, row: int) -> list[str]:
        """Return a row's value of each feature that the terms are about, as people read it."""
        one = self.found.table.take(np.array([row]))
        return [value_text(observed_of(one, name)) for name in self._columns["features"]]

    def _position(self, label: str) -> int:
        """Return the position of a background row by its label, or by its number where no row has that label."""
        table = self.explainer.table
        if not self.labels:
            for row in reversed(range(table.n_rows)):  # of equal labels the first one counts
                self.labels[table.row_label(row)] = row
        if label not in self.labels:
            if label.isdecimal() and int(label) < table.n_rows:
                return int(label)
            some = ", ".join(repr(table.row_label(row)) for row in range(min(2, table.n_rows)))
            raise InputError(
                f"there is no row {label!r}; rows are named such as {some}, or numbered from 0 to {table.n_rows - 1}"
            )
        return self.labels[label]

    @cached_property
    def _origin(self) -> np.ndarray:
        """(all terms,) where the sum starts from: numbers at their mean, as far as that is known, and no rule holds."""
        means = [0.0 if is_condition(term) else getattr(term, "mean", 0.0) for term in self.rules.terms]
        return np.nan_to_num(np.array(means, dtype=float))

    @cached_property
    def _start(self) -> float:
        """What the sum is there."""
        o, sign = self.at
        return float(sign * self.rules.intercept[o] + self.coefficients @ self._origin)

    def _term(self, term: int) -> Term:
        if not 0 <= term < len(self.terms):
            raise InputError(f"there is no term {term}: there are {len(self.terms)}")
        return self.terms[term]

    # ---- what the page gets --------------------------------------------------------------

    def picture(self, sums: Sums | None, more: int | None, refits: Refits | None = None) -> dict[str, Any]:
        """Return everything the page shows.

        Parameters
        ----------
        sums : Sums, optional
            Of the selection.
        more : int, optional
            How many rows the rules could be fitted to instead.
        refits : Refits, optional
            Where stability is asked for.
        """
        return {
            **self._columns,
            "cluster": self._clusters(),
            "selection": None
            if sums is None
            else {
                "importance": pack(relative(sums.importance), "float32"),
                "support": pack(sums.support, "float32"),
                "n": sums.n,
            },
            "selection_id": 0 if sums is None else sums.id,
            "more": more,
            "stability": None if refits is None else self._stability(refits),
            "outcome": self.explainer.y is not None,
        }

    def _stability(self, refits: Refits) -> dict[str, Any]:
        """Return how often the terms came back so far."""
        back = np.full(len(self.terms), np.nan) if self._tally is None else self._tally.result().terms
        return {"back": pack(back, "float32"), "done": self.counted, "total": refits.total}

    @cached_property
    def _columns(self) -> dict[str, Any]:
        """Everything but the selection's and the clusters."""
        found, rules, (o, sign) = self.found, self.rules, self.at
        overall = global_importance(rules)[o]
        parts = Parts.of(self.terms)
        linear = [term for term in self.terms if isinstance(term, Linear)]
        inside, outside = (means[o, self.shown] for means in (rules.mean_inside, rules.mean_outside))
        if sign < 0:
            inside, outside = 1 - inside, 1 - outside
        support = np.array(
            [self._centre[at] if is_condition(term) else np.nan for at, term in enumerate(self.terms)], dtype=float
        )
        return {
            "id": self.id,
            "output": self.output,
            "kind": found.kind,
            "of": found.of,
            "describes": found.describes if sign > 0 else f"log-odds of {self.output}",
            "link": rules.link,
            "fidelity": scalar(found.fidelity),
            "rows": found.n_rows,
            "rows_total": self.explainer.n_rows,
            "intercept": float(sign * rules.intercept[o]),
            "start": self._start,
            "as_seen": found.as_seen,
            "left_out": len(self.order) - len(self.shown),
            "features": parts.features,
            "focus": [self._explained(name) for name in parts.features],
            "conditions": parts.wire(self.explainer, drawn=found.as_seen),
            "parts": pack(parts.places, "int32"),
            "ends": pack(parts.ends, "int32"),
            "main": pack(self._main(parts.features), "int32"),
            "weight": pack([self._weights.get(name, 0.0) for name in parts.features], "float32"),
            "type": pack([_type(term) for term in self.terms], "uint8"),
            "coefficient": pack(self.coefficients[self.shown], "float32"),
            "support": pack(support, "float32"),
            "n": pack(np.nan_to_num(rules.n[self.shown], nan=-1), "int32"),
            "importance": pack(relative(overall[self.shown]), "float32"),
            "largest": scalar(np.nanmax(overall[self.shown], initial=0.0)),
            "inside": pack(inside, "float32"),
            "outside": pack(outside, "float32"),
            "limits": [_short(term).limits for term in linear],
            "path": self._path(),
        }

    def _main(self, names: list[str]) -> list[int]:
        """Return the position of each term's most important feature among the names."""
        by_name = self._weights
        at = {name: position for position, name in enumerate(names)}
        return [at[max(term.features, key=lambda name: by_name[name])] if term.features else -1 for term in self.terms]

    @cached_property
    def _weights(self) -> dict[str, float]:
        """How important each feature is: the terms' importance, shared out (RuleFit's J)."""
        weight = np.nan_to_num(global_importance(self.rules)[self.at[0]]) @ shares(self.rules)
        return dict(zip(importance_features(self.rules), weight.tolist(), strict=True))

    def _explained(self, name: str) -> str:
        """Return which of the widget's features a column belongs to; "" for none."""
        features = self.explainer.features
        if name in features:
            return name
        table = self.explainer.table
        if not self.found.as_seen or name not in table.column_names:
            return ""
        column = table.column_names.index(name)
        return next((other for other in features if column in table.features[other].columns), "")

    def _clusters(self) -> Any:
        """Return the cluster of each term, the largest is 0; -1 where it is not known."""
        overlap = self.overlap
        if overlap is None:
            return None
        frame = overlap.clusters()
        by_text = dict(zip(frame.text, frame.cluster, strict=True))  # terms of equal text hold for the same rows
        return pack([by_text.get(t.text, -1) if is_condition(t) else -1 for t in self.terms], "int32")

    def _path(self) -> dict[str, Any] | None:
        """Return how many terms each penalty leaves, and how much they explain of rows that were held out."""
        if self.step is None:
            return None
        estimator = self.found.estimator
        n_terms = estimator.n_terms_on_path_
        lost = np.zeros(len(n_terms))
        for output in estimator.outputs_:
            loss = output.path.loss_mean
            lost += loss[np.minimum(np.arange(len(n_terms)), len(loss) - 1)]
        # Without terms nothing is explained; else what the constant loses follows from what is explained here.
        whole = lost[0] if n_terms[0] == 0 else np.nan
        if self.found.kind != "model" and np.isfinite(self.found.fidelity) and self.found.fidelity < 1:
            whole = lost[self.step] / (1 - self.found.fidelity)
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = 1 - lost / whole
        return {"terms": pack(n_terms, "int32"), "explained": pack(explained, "float32"), "at": self.step}


def _type(term: Term) -> int:
    if isinstance(term, Rule):
        return _RULE
    return _LEVEL if term.level else _LINEAR


def _short(term: Linear) -> Linear:
    """Return a linear term whose limits have as many digits as one reads."""
    if term.kind != "number" or term.level:
        return term
    return replace(term, low=float(f"{term.low:.4g}"), high=float(f"{term.high:.4g}"))
