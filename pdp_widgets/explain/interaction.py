"""Interaction: Friedman's H-statistics of pairs, of features with all others, and of any set of features.

All statistics stand on effects at the rows (``effects.py``), centred to weighted mean zero: Friedman & Popescu (2008), section 8.1.
``h2`` is the share of a joint effect's variance that is interaction, ``strength`` the root of that variance, in the unit of the
response: a pair with a tiny joint effect may have a large ``h2``, so ranking is by ``strength``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError, find_output

from .effects import RowEffects
from .explanation import context
from .interaction_result import Interaction, Interactions
from .progress import bar
from .statistic import Statistic, rounding, spread, stacked, statistic_of

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature

    from .explainer import Explainer

ROWS = 500
"""Rows that interactions are computed at by default: with as many, expect a standard error of about 7 %."""


def iter_interactions(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    rows: int | None = ROWS,
    subgroup: Any = None,
    output: Any = None,
) -> Iterator[Interactions]:
    """Yield growing results of ``interactions``: first without pairs, then pair by pair."""
    growing = growing_interactions(explainer, features, pairs=pairs, rows=rows, subgroup=subgroup, output=output)
    return (found for found in growing if found is not None)


def growing_interactions(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    rows: int | None = ROWS,
    subgroup: Any = None,
    output: Any = None,
    most: int | None = None,
) -> Iterator[Interactions | None]:
    """Yield what ``iter_interactions`` yields, and None after each chunk without news, where it may be stopped.

    With ``most``, the pairs are those among so many features, the ones that interact most with all others.
    """
    chosen, wanted = _asked(explainer, features, pairs if most is None else [])
    effects, text, total = row_effects(explainer, rows, subgroup)
    prediction = effects.prediction()
    whole = {}
    rest = {}
    for feature in chosen:
        effect = yield from effects.single(feature, chosen)
        whole[feature.name], rest[feature.name] = effect.whole, effect.rest
    zero = rounding(prediction)
    F = np.broadcast_to(prediction[:, None], next(iter(whole.values())).shape)
    weights = effects.weights
    overall = [statistic_of(F - whole[f.name] - rest[f.name], F, weights, zero) for f in chosen]
    everything = sorted(j for f in chosen for j in f.columns) == list(range(len(explainer.table.column_names)))
    additive = statistic_of(F - sum(whole[f.name] for f in chosen), F, weights, zero)
    # A pair cannot be stronger than either feature's interaction with all others, roughly: a good order, no reason to skip.
    strength = {f.name: float(s.strength.max()) for f, s in zip(chosen, overall, strict=True)}
    if most is not None:
        kept = sorted(chosen, key=lambda f: -strength[f.name])[:most]
        wanted = [_apart(explainer, pair, "features") for pair in combinations(kept, 2)]
    wanted.sort(key=lambda pair: -min(strength[f.name] for f in pair))
    found: list[Statistic] = []
    unknown = np.full(len(prediction), np.nan)
    result = Interactions(
        features=tuple(f.name for f in chosen),
        members=tuple(tuple(part.name for part in f.parts) for f in chosen),
        pairs=tuple((a.name, b.name) for a, b in wanted),
        pairs_done=0,
        overall_statistic=stacked(overall, len(chosen), len(prediction)),
        pair_statistic=stacked([], len(wanted), len(prediction)),
        main_strength=np.stack([spread(whole[f.name], weights, zero) for f in chosen], axis=1),
        response_strength=spread(F, weights, zero),
        total_h2=additive.h2 if everything else unknown,
        total_h2_stderr=additive.h2_stderr if everything else unknown,
        rows=np.sort(effects.rows),
        rows_total=total,
        model_rows=effects.cost([[feature] for feature in chosen] + [list(pair) for pair in wanted]),
        method=effects.method,
        **context(explainer, text),
    )
    if output is not None:
        find_output(output, result.outputs, result.labels)  # complain now rather than at the end

    def shown(result: Interactions) -> Interactions:
        return result if output is None else result.output(output)

    yield shown(result)
    for interaction in effects.pairs(wanted):
        if interaction is None:
            yield None
            continue
        a, b = wanted[len(found)]
        joint = interaction + whole[a.name] + whole[b.name]
        found.append(statistic_of(interaction, joint, weights, zero))
        yield shown(replace(result, pairs_done=len(found), pair_statistic=stacked(found, len(wanted), len(prediction))))


def interactions(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    rows: int | None = ROWS,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
) -> Interactions:
    """Return Friedman's H-statistics: overall, of pairs, and in total.

    Parameters
    ----------
    explainer : Explainer
    features : sequence of names, optional
        All features by default. A list in place of a name is a group of features that is taken as one.
    pairs : sequence of (name, name), optional
        All pairs of ``features`` by default; ``[]`` for none.
    rows : int or None
        A seeded sample of so many rows to average over and evaluate at; None for all.
    subgroup : mask, query string or object with ``.mask``, optional
        These rows only.
    output : name, class label or position, optional
        Return this output only.
    progress : bool, optional
        Show a bar; None means when it is slow.

    Returns
    -------
    Interactions

    Raises
    ------
    InputError
        For an unknown feature or output, a pair that shares columns, an empty subgroup, a model that predicts NaN.
    PredictionError
        When the model fails.

    Notes
    -----
    With model calls, n rows and p features: at most n (p n) rows for overall statistics and n^2 for each pair, fewer when
    features have few distinct values; ``interaction_rows`` says how many before. Standard errors are by the jackknife
    over ten random groups of rows and are those of a sample of so many rows. Friedman & Popescu (2008), eqs 44 to 46.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> X = np.array([[a, b] for a in range(1, 6) for b in range(1, 6)], dtype=float)
    >>> found = Explainer(lambda X: X[:, 0] * X[:, 1], X).interactions()
    >>> found.to_frame()[["feature_1", "feature_2", "h2", "strength"]].round(3)
      feature_1 feature_2   h2  strength
    0        x0        x1  0.1       2.0
    """
    growing = iter_interactions(explainer, features, pairs=pairs, rows=rows, subgroup=subgroup, output=output)
    result = next(growing)
    with bar(len(result.pairs), "interactions", progress, "pair") as shown:
        for grown in growing:
            result = grown
            shown.update(1)
    return result


def interaction(
    explainer: Explainer,
    *features: Any,
    rows: int | None = ROWS,
    subgroup: Any = None,
    output: Any = None,
) -> Interaction:
    """Return the H-statistic of one set of two or more features: what their joint effect has beyond all smaller sets.

    Parameters
    ----------
    explainer : Explainer
    *features : names, or lists of names
        A list is a group of features that is taken as one, such as everything about the weather.
    rows, subgroup, output
        As for ``interactions``.

    Returns
    -------
    Interaction

    Raises
    ------
    InputError
        For fewer than two features, an unknown one, or two that share columns.

    Notes
    -----
    The numerator is the alternating sum of the effects of all subsets (Friedman & Popescu 2008, eqs 44 and 46).

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> X = np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])
    >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1] * X[:, 2] + X[:, 0], X)
    >>> explainer.interaction("x0", "x1", "x2").strength.tolist()
    [1.0]
    >>> explainer.interaction("x0", "x1").strength.tolist()
    [0.0]
    >>> explainer.interaction("x0", ["x1", "x2"]).strength.tolist()
    [1.0]
    """
    if len(features) == 1 and isinstance(features[0], (list, tuple)):
        features = tuple(features[0])
    chosen = [explainer.table.together(name) for name in features]
    columns = [j for feature in chosen for j in feature.columns]
    if len(chosen) < 2 or len(set(columns)) < len(columns):
        raise InputError(f"interaction{features!r}; expected two or more different features")
    effects, text, _ = row_effects(explainer, rows, subgroup)
    subsets = [subset for size in range(1, len(chosen) + 1) for subset in combinations(chosen, size)]
    cost = effects.cost(subsets)
    zero = rounding(effects.prediction())
    numerator: Any = 0.0
    joint: Any = 0.0
    for subset in subsets:
        joint = effects.effect(subset).whole
        numerator = numerator + (-1) ** (len(chosen) - len(subset)) * joint
    statistic = statistic_of(numerator, joint, effects.weights, zero)
    found = Interaction(
        tuple(feature.name for feature in chosen), **vars(statistic), n_rows=effects.n, model_rows=cost,
        method=effects.method, **context(explainer, text),
    )  # fmt: skip
    return found if output is None else found.output(output)


def interaction_rows(
    explainer: Explainer, features: Sequence[Any] | None = None, *, pairs: Any = None, rows: int | None = ROWS
) -> int:
    """Return how many rows the model will be asked about for ``interactions``; 0 with exact sums over trees."""
    chosen, wanted = _asked(explainer, features, pairs)
    effects, _, _ = row_effects(explainer, rows, None)
    return effects.cost([[feature] for feature in chosen] + [list(pair) for pair in wanted])


def row_effects(explainer: Explainer, rows: int | None, subgroup: Any) -> tuple[RowEffects, str | None, int]:
    """Return effects at a seeded sample of rows, the subgroup in words, and how many rows the sample is of."""
    mask, text = explainer.rows_of(subgroup)
    order = explainer.row_order if mask is None else explainer.row_order[mask[explainer.row_order]]
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 1):
        raise InputError(f"rows={rows!r}; expected a whole number, 1 or more, or None for all rows")
    return RowEffects(explainer.source, order[:rows].astype(int), explainer.exact_sums()), text, len(order)


def _asked(
    explainer: Explainer, features: Sequence[Any] | None, pairs: Sequence[tuple[Any, Any]] | None
) -> tuple[list[Feature], list[tuple[Feature, Feature]]]:
    """Return the features and pairs that are asked for; the features of pairs are among the features."""
    chosen = list(explainer.features.values())
    if features is not None:
        if isinstance(features, str) or not len(features):
            raise InputError(f"features={features!r}; expected a list of names")
        chosen = list({(found := explainer.table.together(name)).name: found for name in features}.values())
    if pairs is None:
        return chosen, [_apart(explainer, pair, "features") for pair in combinations(chosen, 2)]
    wanted = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise InputError(f"pairs: {pair!r} is no pair of features")
        wanted.append(_apart(explainer, tuple(explainer.table.together(name) for name in pair), "pairs"))
    return list({f.name: f for f in [*chosen, *(f for pair in wanted for f in pair)]}.values()), wanted


def _apart(explainer: Explainer, pair: tuple[Feature, ...], option: str) -> tuple[Feature, Feature]:
    """Return a pair of features, which must share no column."""
    a, b = pair
    if shared := sorted(set(a.columns) & set(b.columns)):
        names = ", ".join(repr(explainer.table.column_names[j]) for j in shared)
        hint = "; name the pairs wanted with pairs=, or [] for none" if option == "features" else ""
        raise InputError(
            f"{option}: {a.name!r} and {b.name!r} share {names}; a pair needs two different features{hint}"
        )
    return a, b
