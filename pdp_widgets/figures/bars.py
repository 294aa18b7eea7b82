"""Bars and matrices: figures of importance, interactions and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Levels

from .effects import rows_of, shown
from .parts import Axis, Bars, Surface, distinct, known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdp_widgets.explain.importance_result import Importance
    from pdp_widgets.explain.interaction_result import Interaction, Interactions
    from pdp_widgets.explain.network import InteractionNetwork
    from pdp_widgets.explain.region_results import Suggestions
    from pdp_widgets.explain.rules import Rules
    from pdp_widgets.inputs.conditions import Node
    from pdp_widgets.rulefit.importance import RuleImportance
    from pdp_widgets.rulefit.row import RowExplanation
    from pdp_widgets.rulefit.ruleset import RuleSet
    from pdp_widgets.rulefit.stability import Stability
    from pdp_widgets.rulefit.terms import Term

T = TypeVar("T")

MOST_BARS = 20
_LONGEST_NAME = 46

_STDERR = {"pdi": "pdi_stderr", "permutation": "permutation_stderr"}
_WORDS = {
    "pd_importance": "PD importance",
    "pd_importance_weighted": "PD importance, weighted by the rows",
    "heterogeneity": "heterogeneity",
    "heterogeneity_share": "heterogeneity, share",
    "pdi": "PDI, share of the variance",
}


# ---- importance --------------------------------------------------------------------------------


def importance(result: Importance, *, output: Any = None, by: str = "pd_importance", top: int = MOST_BARS) -> Bars:
    """Return how much features matter by one measure, with whiskers where it has a standard error.

    Parameters
    ----------
    result : Importance
    output : name, class label or position, optional
    by : str
        A measure: "pd_importance", "pd_importance_weighted", "heterogeneity", "heterogeneity_share", "pdi", "permutation".
    top : int
        Most bars.
    """
    known("by", by, (*_WORDS, "permutation"))
    one = result.output(result.default_output if output is None else output)
    values = getattr(one, by)[0]
    if not np.isfinite(values).any():
        raise InputError(f"there is nothing to draw of {by!r}{f': {one.note}' if one.note else ' yet'}")
    words = in_words(one.scale, one.outputs)
    label = _WORDS.get(by) or f"increase of {one.score} when shuffled"
    if by in ("pd_importance", "pd_importance_weighted", "heterogeneity"):
        label = f"{label}, {words}"
    rows = one.pdi_rows if by == "pdi" else len(one.rows)
    title = f"Importance for {words} ({', '.join([f'{rows:,} rows', *one.rows_in_words])})"
    stderr = getattr(one, _STDERR[by])[0] if by in _STDERR else None
    return _bars(one.features, values, label, title, stderr, top=top, features=one.features)


# ---- interactions ------------------------------------------------------------------------------


def interactions(
    result: Interactions, *, output: Any = None, what: str = "matrix", by: str = "strength", top: int = MOST_BARS
) -> Bars | Surface:
    """Return a matrix of features, or bars of pairs or of features with all others together.

    Parameters
    ----------
    result : Interactions
    output : name, class label or position, optional
    what : {"matrix", "pairs", "overall"}
        The matrix has each feature's own effect along its diagonal where ``by`` is "strength"; pairs that are not computed are empty.
    by : {"strength", "h2"}
    top : int
        Most bars, or features of the matrix: those that interact most.
    """
    known("what", what, ("matrix", "pairs", "overall"))
    known("by", by, ("strength", "h2"))
    one = shown(result, output, one=True)
    words = in_words(one.scale, one.outputs)
    label = f"interaction strength, {words}" if by == "strength" else "h2, share of the joint effect's variance"
    title = f"Interactions for {words} ({rows_of(one)})"
    if what == "overall":
        found = one.overall_statistic
        values, stderr = getattr(found, by)[0], getattr(found, f"{by}_stderr")[0]
        return _bars(one.features, values, label, title, stderr, top=top, features=one.features)
    values, stderr = getattr(one.pair_statistic, by)[0], getattr(one.pair_statistic, f"{by}_stderr")[0]
    if what == "pairs":
        return _bars([" × ".join(pair) for pair in one.pairs], values, label, title, stderr, top=top, pairs=one.pairs)
    kept = np.sort(_largest(one.overall_statistic.strength[0], _positive("top", top)))
    at = {one.features[j]: k for k, j in enumerate(kept.tolist())}
    matrix = np.full((len(kept), len(kept)), np.nan)
    for (first, second), value in zip(one.pairs, values, strict=True):
        if first in at and second in at:
            matrix[at[first], at[second]] = matrix[at[second], at[first]] = value
    names = Axis("", "category", np.array(distinct(list(at)), dtype=str))
    own = by == "strength"
    return Surface(
        names, names, label, matrix, title,
        diagonal=one.main_strength[0, kept] if own else None, diagonal_label="own effect" if own else "",
    )  # fmt: skip


def interaction(result: Interaction, *, by: str = "strength") -> Bars:
    """Return how much one set of features interacts, a bar per output.

    Parameters
    ----------
    result : Interaction
    by : {"strength", "h2"}
    """
    known("by", by, ("strength", "h2"))
    label = f"interaction strength, {result.scale}" if by == "strength" else "h2, share of the joint effect's variance"
    title = f"{' × '.join(result.features)} ({', '.join([f'{result.n_rows:,} rows', *result.rows_in_words])})"
    values, stderr = getattr(result, by), getattr(result, f"{by}_stderr")
    return _bars(result.outputs, values, label, title, stderr, top=len(values), ordered=True)


def network(result: InteractionNetwork, *, top: int = MOST_BARS) -> Bars:
    """Return the edges and hyper-edges by their share.

    Parameters
    ----------
    result : InteractionNetwork
    top : int
        Most bars.
    """
    names, values = [], []
    for table, columns in ((result.edges, (1, 2)), (result.hyperedges, (1, 2, 3))):
        names += [" × ".join(row) for row in table[[f"feature_{k}" for k in columns]].to_numpy()]
        values += table["share"].tolist()
    where = "" if result.subgroup is None else f" (subgroup {result.subgroup})"
    title = f"Interactions for {in_words(result.scale, [result.output])}{where}"
    label = "strength, share of the response's standard deviation"
    return _bars(names, np.array(values, dtype=float), label, title, top=top)


def suggestions(result: Suggestions, *, top: int = MOST_BARS) -> Bars:
    """Return how much of each feature's heterogeneity its best split removes.

    Parameters
    ----------
    result : Suggestions
    top : int
        Most bars.
    """
    made = [one for one in result.found if one.regions]
    names = [f"{one.feature} by {one.splits[0].sides[0]}" for one in made]
    title = "Splits that make the curves of a feature agree"
    if result.found:
        title = f"{title} ({rows_of(result.found[0])})"
    values = np.array([one.removed for one in made], dtype=float)
    features = [one.feature for one in made]
    return _bars(names, values, "share of the disagreement that is removed", title, top=top, features=features)


# ---- rules -------------------------------------------------------------------------------------


def ruleset(result: RuleSet, *, output: Any = None, by: str = "importance", top: int = MOST_BARS) -> Bars:
    """Return the terms of one output by importance or by coefficient.

    Parameters
    ----------
    result : RuleSet
    output : name, class label or position, optional
        The first by default.
    by : {"importance", "coefficient"}
        Importance: |a| sqrt(s (1 - s)) of rules and |b| sd of linear terms, in the unit of the sum. Coefficients of linear terms
        are per unit of their feature.
    top : int
        Most bars.
    """
    return _terms(result, output, by, top, _sum_of(result, output), as_seen=True)


def rules(result: Rules, *, output: Any = None, by: str = "importance", top: int = MOST_BARS) -> Bars:
    """Return the terms that describe a model or an outcome; see ``ruleset``."""
    n = ", ".join([f"{result.n_rows:,} rows"] + [f"subgroup {result.subgroup}"] * (result.subgroup is not None))
    return _terms(result.ruleset, output, by, top, f"{result.describes} ({n})", as_seen=result.as_seen)


def _terms(result: RuleSet, output: Any, by: str, top: int, what: str, *, as_seen: bool) -> Bars:
    from pdp_widgets.rulefit.importance import global_importance

    known("by", by, ("importance", "coefficient"))
    o = _position(result, output)
    values = (global_importance(result) if by == "importance" else result.coefficients)[o]
    if by == "importance" and len(values) and not np.isfinite(values).any():
        raise InputError(
            "importances need the support of the rules: rules.with_support(X), or draw by='coefficient' instead"
        )
    conditions = [_condition(term) for term in result.terms] if as_seen else []
    return _bars(
        [term.label for term in result.terms], values, by, f"Rules: {what}", top=top, signed=True, rules=conditions
    )


def _condition(term: Term) -> Node | None:
    """Return which rows a term holds for; None of a number."""
    level = getattr(term, "level", None)
    if level is None:
        return term.node  # type: ignore[union-attr]
    return Levels(term.features[0], level) if level else None


def rule_importance(
    result: RuleImportance, *, output: Any = None, what: str = "features", top: int = MOST_BARS
) -> Bars:
    """Return how much features, or terms, matter in rules: on average over the rows asked for if they are a part, else globally.

    Parameters
    ----------
    result : RuleImportance
    output : name, class label or position, optional
        The first by default.
    what : {"features", "terms"}
    top : int
        Most bars.
    """
    known("what", what, ("features", "terms"))
    o = _position(result.rules, output)
    part = result.features_local is not None and result.rows < result.of_rows
    values = getattr(result, f"{what}_{'local' if part else 'global'}")[o]
    names = list(result.features) if what == "features" else [term.label for term in result.rules.terms]
    rows = f" ({result.rows:,} of {result.of_rows:,} rows{', weighted' if result.weighted else ''})" if part else ""
    label = "mean importance at these rows" if part else "importance, root mean square over the training rows"
    title = f"Rules: {_sum_of(result.rules, output)}{rows}"
    return _bars(names, values, label, title, top=top, features=names if what == "features" else ())


def row(result: RowExplanation, *, output: Any = None, top: int = MOST_BARS) -> Bars:
    """Return what the terms contribute to a row: from the average where it is known, else from the intercept.

    Parameters
    ----------
    result : RowExplanation
    output : name, class label or position, optional
        The one that its text is about by default.
    top : int
        Most bars.
    """
    o = result.output if output is None else _position(result.rules, output)
    known = result.from_average is not None and result.average is not None
    values = (result.from_average if known else result.contributions)[o]  # type: ignore[index]
    start = "average" if known else "intercept"
    first = result.average[o] if known else result.rules.intercept[o]  # type: ignore[index]
    title = f"Row {result.name}: {_sum_of(result.rules, o)} {result.decision[o]:.4g}, {start} {first:.4g}"
    used = np.flatnonzero(values)
    names = [result.rules.terms[k].label for k in used]
    return _bars(names, values[used], f"contribution, from the {start}", title, top=top, signed=True)


def stability(result: Stability, *, what: str = "terms", top: int = MOST_BARS) -> Bars:
    """Return how often terms, or features, came back in refits.

    Parameters
    ----------
    result : Stability
    what : {"terms", "features"}
    top : int
        Most bars.
    """
    known("what", what, ("terms", "features"))
    label, title = "share of refits that have it", f"Stability ({result.refits} refits)"
    if what == "features":
        names = [str(name) for name in result.features.index]
        return _bars(names, result.features.to_numpy(dtype=float), label, title, top=top, features=names)
    return _bars([term.label for term in result.rules.terms], result.terms, label, title, top=top)


# ---- helpers -----------------------------------------------------------------------------------


def _bars(
    names: Sequence[str],
    values: np.ndarray,
    label: str,
    title: str,
    stderr: np.ndarray | None = None,
    *,
    top: int,
    features: Sequence[str] = (),
    pairs: Sequence[tuple[str, ...]] = (),
    rules: Sequence[Node | None] = (),
    ordered: bool = False,
    signed: bool = False,
) -> Bars:
    """Return the bars of the largest values (``signed``: farthest from 0), the largest first; what is not known is left out."""
    size = np.abs(values) if signed else values
    kept = np.arange(len(values)) if ordered else _largest(size, _positive("top", top))
    if stderr is not None:
        stderr = stderr[kept] if np.isfinite(stderr[kept]).any() else None
    of = len(values)
    more = "" if len(kept) == of else f", {len(kept)} of {of}"
    return Bars(
        distinct([names[k] for k in kept.tolist()], _LONGEST_NAME), values[kept], label, title + more, stderr,
        _taken(features, kept), _taken(pairs, kept), _taken(rules, kept),
    )  # fmt: skip


def _taken(things: Sequence[T], kept: np.ndarray) -> tuple[T, ...]:
    """Return those of the bars that are drawn, if bars are of such things."""
    return tuple(things[k] for k in kept.tolist()) if len(things) else ()


def _largest(values: np.ndarray, top: int) -> np.ndarray:
    """Return the positions of the largest values that are known, the largest first."""
    order = np.argsort(-values, kind="stable")
    return order[np.isfinite(values[order])][:top]


def _position(rules: RuleSet, output: Any) -> int:
    from pdp_widgets.rulefit.importance import one_output

    return 0 if output is None else one_output(rules, output)


def _sum_of(rules: RuleSet, output: Any) -> str:
    name = rules.outputs[_position(rules, output)]
    return name if rules.link == "identity" else f"log-odds of {name}"


def _positive(name: str, given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise InputError(f"{name}={given!r}; expected a whole number, 1 or more")
    return int(given)
