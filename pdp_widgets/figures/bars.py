"""Bars and matrices: figures of importance and interactions, and the making of bars from names and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.inputs import InputError

from .effects import rows_of, shown
from .parts import Axis, Bars, Surface, distinct, known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdp_widgets.explain.importance_result import Importance
    from pdp_widgets.explain.interaction_result import Interaction, Interactions
    from pdp_widgets.explain.network import InteractionNetwork
    from pdp_widgets.explain.region_results import Suggestions
    from pdp_widgets.inputs.conditions import Node

T = TypeVar("T")

MOST_BARS = 20
LONGEST_NAME = 46

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
    return bars_of(one.features, values, label, title, stderr, top=top, features=one.features)


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
    found = one.overall_statistic if what == "overall" else one.pair_statistic
    values, stderr = getattr(found, by)[0], getattr(found, f"{by}_stderr")[0]
    if not np.isfinite(values).any():
        raise InputError(
            f"there is nothing to draw of interactions ({rows_of(one)}): none is known; they need two features and rows that differ"
        )
    if what == "overall":
        return bars_of(one.features, values, label, title, stderr, top=top, features=one.features)
    if what == "pairs":
        return bars_of([" × ".join(pair) for pair in one.pairs], values, label, title, stderr, top=top, pairs=one.pairs)
    kept = np.sort(largest(one.overall_statistic.strength[0], positive("top", top)))
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
    return bars_of(result.outputs, values, label, title, stderr, top=len(values), ordered=True)


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
    return bars_of(names, np.array(values, dtype=float), label, title, top=top)


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
    return bars_of(names, values, "share of the disagreement that is removed", title, top=top, features=features)


# ---- helpers -----------------------------------------------------------------------------------


def bars_of(
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
    kept = np.arange(len(values)) if ordered else largest(size, positive("top", top))
    if stderr is not None:
        stderr = stderr[kept] if np.isfinite(stderr[kept]).any() else None
    of = len(values)
    more = "" if len(kept) == of else f", {len(kept)} of {of}"
    return Bars(
        distinct([names[k] for k in kept.tolist()], LONGEST_NAME), values[kept], label, title + more, stderr,
        _taken(features, kept), _taken(pairs, kept), _taken(rules, kept),
    )  # fmt: skip


def _taken(things: Sequence[T], kept: np.ndarray) -> tuple[T, ...]:
    """Return those of the bars that are drawn, if bars are of such things."""
    return tuple(things[k] for k in kept.tolist()) if len(things) else ()


def largest(values: np.ndarray, top: int) -> np.ndarray:
    """Return the positions of the largest values that are known, the largest first."""
    order = np.argsort(-values, kind="stable")
    return order[np.isfinite(values[order])][:top]


def positive(name: str, given: Any) -> int:
    """Return a number of bars.

    Raises
    ------
    InputError
        For anything but 1, 2, 3, ...
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise InputError(f"{name}={given!r}; expected a whole number, 1 or more")
    return int(given)
