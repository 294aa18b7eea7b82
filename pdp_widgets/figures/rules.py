"""Figures of rules: terms by what they count for, rows by what their terms add, and how rules overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Levels

from .bars import MOST_BARS, bars_of, largest, positive
from .parts import Axis, Bars, Surface, distinct, known

if TYPE_CHECKING:
    from pdp_widgets.explain.rules import Rules
    from pdp_widgets.inputs.conditions import Node
    from pdp_widgets.rulefit.importance import LocalImportance, RuleImportance
    from pdp_widgets.rulefit.overlap import Overlap
    from pdp_widgets.rulefit.row import RowExplanation
    from pdp_widgets.rulefit.ruleset import RuleSet
    from pdp_widgets.rulefit.stability import Stability
    from pdp_widgets.rulefit.terms import Term

MOST_OVERLAPPING = 15
_BESIDE_MATRIX = 36  # letters


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
    return bars_of(
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
    return bars_of(names, values, label, title, top=top, features=names if what == "features" else ())


def local_importance(
    result: LocalImportance, *, output: Any = None, row: int | None = None, what: str = "features", top: int = MOST_BARS
) -> Bars:
    """Return how far features, or terms, move rows away from the average: on average over these rows, or one row.

    Parameters
    ----------
    result : LocalImportance
    output : name, class label or position, optional
        The first by default.
    row : int, optional
        Position of a row; all by default.
    what : {"features", "terms"}
    top : int
        Most bars.
    """
    from pdp_widgets.rulefit.importance import importance_features

    known("what", what, ("features", "terms"))
    o, n = _position(result.rules, output), len(result.deviation)
    features = what == "features"
    names = list(importance_features(result.rules)) if features else [term.label for term in result.rules.terms]
    values = result.features(o) if features else result.values(o)
    if row is not None and (isinstance(row, bool) or not isinstance(row, int | np.integer) or not -n <= row < n):
        raise InputError(f"row={row!r}; expected the position of one of the {n:,} rows")
    if row is None:
        values, label, where = values.mean(axis=0), "mean importance at these rows", f"{n:,} rows"
    else:
        name = row if result.index is None else result.index[row]
        values, label, where = values[row], "importance at this row", f"row {name}"
    title = f"Rules: {_sum_of(result.rules, output)} ({where})"
    return bars_of(names, values, label, title, top=top, features=names if features else ())


def overlap(result: Overlap, *, output: Any = None, by: str = "jaccard", top: int = MOST_OVERLAPPING) -> Surface:
    """Return a matrix of rules: how far each pair holds for the same rows.

    Parameters
    ----------
    result : Overlap
    output : name, class label or position, optional
        For which the most important rules are shown; the first by default.
    by : {"jaccard", "correlation", "containment"}
        Rows for which both hold as a share of those for which any does; the correlation of the two as 0 and 1; or the share of the rows
        of the rule across for which the one downwards holds, too.
    top : int
        Most rules.
    """
    from pdp_widgets.rulefit.importance import global_importance

    known("by", by, ("jaccard", "correlation", "containment"))
    o = _position(result.rules, output)
    importance = np.nan_to_num(global_importance(result.rules)[o, result.positions])
    kept = largest(importance, positive("top", top))
    values = np.array(getattr(result, by), dtype=float)[np.ix_(kept, kept)]
    np.fill_diagonal(values, np.nan)
    terms = [result.rules.terms[k].label for k in result.positions[kept]]
    # Texts are too long to stand below a matrix: numbers do, which the texts beside it have, too.
    numbers = [str(k + 1) for k in range(len(terms))]
    names = distinct([f"{k} {term}" for k, term in zip(numbers, terms, strict=True)], _BESIDE_MATRIX)
    words = {
        "jaccard": "rows of both, share of the rows of either",
        "correlation": "correlation of holding",
        "containment": "share of the rows of the rule across",
    }
    more = "" if len(kept) == len(importance) else f", {len(kept)} of {len(importance)}"
    return Surface(
        Axis("", "category", np.array(numbers, dtype=str)),
        Axis("", "category", np.array(names, dtype=str)),
        words[by], values, f"Overlap of rules ({result.n:,} rows){more}", diverging=by == "correlation",
    )  # fmt: skip


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
    return bars_of(names, values[used], f"contribution, from the {start}", title, top=top, signed=True)


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
        return bars_of(names, result.features.to_numpy(dtype=float), label, title, top=top, features=names)
    return bars_of([term.label for term in result.rules.terms], result.terms, label, title, top=top)


# ---- helpers -----------------------------------------------------------------------------------


def _position(rules: RuleSet, output: Any) -> int:
    from pdp_widgets.rulefit.importance import one_output

    return 0 if output is None else one_output(rules, output)


def _sum_of(rules: RuleSet, output: Any) -> str:
    name = rules.outputs[_position(rules, output)]
    return name if rules.link == "identity" else f"log-odds of {name}"
