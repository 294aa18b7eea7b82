"""Interaction: Friedman's H-statistics of pairs, of features with all others, and of any set of features.

All statistics stand on effects at the rows (``effects.py``), centred to weighted mean zero: Friedman & Popescu (2008), section 8.1.
``h2`` is the share of a joint effect's variance that is interaction, ``strength`` the root of that variance, in the unit of the
response: a pair with a tiny joint effect may have a large ``h2``, so ranking is by ``strength``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs import InputError, find_output

from .effects import RowEffects, all_pairs
from .progress import bar

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature

    from .explainer import Explainer

ROWS = 500
"""Rows that interactions are computed at by default: with as many, expect a standard error of about 7 %."""


@dataclass(frozen=True)
class Statistic:
    """Numbers of one kind, such as those of all pairs; arrays of one shape, (n_outputs, number of sets of features)."""

    h2: np.ndarray
    """Interaction's share of the joint effect's variance; NaN where not computed. Above 1 when features depend on each other."""
    strength: np.ndarray
    """Root of the interaction's variance, in the unit of the response."""
    h2_stderr: np.ndarray
    strength_stderr: np.ndarray

    @property
    def h(self) -> np.ndarray:
        """Return the root of ``h2``."""
        return np.sqrt(self.h2)

    @property
    def dependent(self) -> np.ndarray:
        """Bool: ``h2`` above 1, which happens when features depend on each other."""
        return self.h2 > 1 + 1e-9

    def columns(self, output: int) -> dict[str, np.ndarray]:
        """Return the columns of a table for one output."""
        return {
            "h2": self.h2[output],
            "h": self.h[output],
            "strength": self.strength[output],
            "h2_stderr": self.h2_stderr[output],
            "strength_stderr": self.strength_stderr[output],
            "dependent": self.dependent[output],
        }


@dataclass(frozen=True)
class Interactions:
    """Interactions among several features: overall, pair by pair, and in total."""

    features: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    """All that were asked for, in the order in which they are computed: the most promising first."""
    pairs_done: int
    overall_statistic: Statistic = field(repr=False)
    """Per feature, with all others together."""
    pair_statistic: Statistic = field(repr=False)
    main_strength: np.ndarray = field(repr=False)
    """(n_outputs, F) standard deviation of each feature's own effect over the rows: the diagonal beside pairs' strengths."""
    response_strength: np.ndarray = field(repr=False)
    """(n_outputs,) standard deviation of the response over the rows."""
    total_h2: np.ndarray
    """(n_outputs,) share of the response's variance that is no sum of effects of single features; NaN unless all columns
    of X are among ``features``."""
    total_h2_stderr: np.ndarray
    outputs: tuple[str, ...]
    labels: tuple[Any, ...] = field(repr=False)
    scale: str
    rows: np.ndarray = field(repr=False)
    """Positions of the rows averaged over and evaluated at."""
    rows_total: int
    """Rows that they are a sample of."""
    subgroup: str | None
    model_rows: int
    """Rows that the model is asked about in all; 0 when the numbers follow from the trees of a model."""
    method: str

    @property
    def complete(self) -> bool:
        """Return whether all pairs are computed."""
        return self.pairs_done == len(self.pairs)

    @property
    def additivity(self) -> np.ndarray:
        """(n_outputs,) 1 - total h2: how far the model is a sum of effects of single features."""
        return 1 - self.total_h2

    @property
    def overall(self) -> pd.DataFrame:
        """One row per output and feature, the strongest first."""
        return self._frame({"feature": list(self.features)}, self.overall_statistic, len(self.features))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output and pair, the strongest first, pairs that are not computed yet last, with NaN."""
        named = {f"feature_{side + 1}": [pair[side] for pair in self.pairs] for side in (0, 1)}
        return self._frame(named, self.pair_statistic, self.pairs_done)

    def _frame(self, named: dict[str, list[str]], statistic: Statistic, computed: int) -> pd.DataFrame:
        parts = [
            pd.DataFrame({"output": output, **named, **statistic.columns(k)}) for k, output in enumerate(self.outputs)
        ]
        for part in parts:
            part["computed"] = np.arange(len(part)) < computed
        return pd.concat(
            [part.sort_values("strength", ascending=False, kind="stable") for part in parts], ignore_index=True
        )

    def output(self, name: Any) -> Interactions:
        """Return the same for one output, given by name, class label or position.

        Raises
        ------
        InputError
            When there is no such output.
        """
        one = slice((k := find_output(name, self.outputs, self.labels)), k + 1)

        def cut(statistic: Statistic) -> Statistic:
            return Statistic(*(array[one] for array in vars(statistic).values()))

        return replace(
            self, overall_statistic=cut(self.overall_statistic), pair_statistic=cut(self.pair_statistic),
            main_strength=self.main_strength[one], response_strength=self.response_strength[one],
            total_h2=self.total_h2[one], total_h2_stderr=self.total_h2_stderr[one], outputs=self.outputs[one],
            labels=self.labels[one],
        )  # fmt: skip

    def __repr__(self) -> str:
        """Say what it is, on how many rows and by which way."""
        pairs = f"{self.pairs_done} of {len(self.pairs)} pairs"
        where = "" if self.subgroup is None else f"; subgroup {self.subgroup}"
        return (
            f"<Interactions of {len(self.features)} features: {pairs}; {self.scale}; {len(self.rows)} of "
            f"{self.rows_total} rows{where}; {self.method}>"
        )


@dataclass(frozen=True)
class Interaction:
    """The interaction of one set of two or more features."""

    features: tuple[str, ...]
    h2: np.ndarray
    """(n_outputs,) share of the set's joint effect that no smaller set explains."""
    strength: np.ndarray
    """(n_outputs,) in the unit of the response."""
    h2_stderr: np.ndarray
    strength_stderr: np.ndarray
    outputs: tuple[str, ...]
    labels: tuple[Any, ...] = field(repr=False)
    scale: str
    n_rows: int
    subgroup: str | None
    model_rows: int
    method: str

    @property
    def h(self) -> np.ndarray:
        """Return the root of ``h2``."""
        return np.sqrt(self.h2)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output."""
        return pd.DataFrame(
            {
                "output": list(self.outputs), "features": " x ".join(self.features), "h2": self.h2, "h": self.h, "strength": self.strength,
                "h2_stderr": self.h2_stderr, "strength_stderr": self.strength_stderr, "dependent": self.h2 > 1 + 1e-9,
            }
        )  # fmt: skip

    def output(self, name: Any) -> Interaction:
        """Return the same for one output, given by name, class label or position.

        Raises
        ------
        InputError
            When there is no such output.
        """
        one = slice((k := find_output(name, self.outputs, self.labels)), k + 1)
        return replace(
            self, h2=self.h2[one], strength=self.strength[one], h2_stderr=self.h2_stderr[one],
            strength_stderr=self.strength_stderr[one], outputs=self.outputs[one], labels=self.labels[one],
        )  # fmt: skip

    def __repr__(self) -> str:
        """Say how strong it is, on how many rows and by which way."""
        numbers = ", ".join(
            f"{name}: h2 {h2:.3g}, strength {strength:.3g}"
            for name, h2, strength in zip(self.outputs, self.h2, self.strength, strict=True)
        )
        where = "" if self.subgroup is None else f"; subgroup {self.subgroup}"
        return f"<Interaction of {' x '.join(self.features)}: {numbers}; {self.n_rows} rows{where}; {self.method}>"


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
    chosen = _features(explainer, features)
    wanted = all_pairs(chosen) if pairs is None else [_pair(explainer, pair) for pair in pairs]
    chosen = list({f.name: f for f in [*chosen, *(f for pair in wanted for f in pair)]}.values())
    effects, text, total = row_effects(explainer, rows, subgroup)
    cost = effects.cost([[feature] for feature in chosen] + [list(pair) for pair in wanted])
    prediction = effects.prediction()
    whole = {}
    rest = {}
    for feature, effect in effects.singles(chosen):
        whole[feature.name], rest[feature.name] = effect.whole, effect.rest
    zero = _zero(prediction)
    F = np.broadcast_to(prediction[:, None], next(iter(whole.values())).shape)
    weights = effects.weights
    overall = [_statistic(F - whole[f.name] - rest[f.name], F, weights, zero) for f in chosen]
    everything = {j for f in chosen for j in f.columns} == set(range(len(explainer.table.column_names)))
    additive = _statistic(F - sum(whole[f.name] for f in chosen), F, weights, zero)
    # A pair cannot be stronger than either feature's interaction with all others, roughly: a good order, no reason to skip.
    strength = {f.name: float(s.strength.max()) for f, s in zip(chosen, overall, strict=True)}
    wanted.sort(key=lambda pair: -min(strength[f.name] for f in pair))
    found: list[Statistic] = []
    unknown = np.full(len(prediction), np.nan)
    result = Interactions(
        features=tuple(f.name for f in chosen),
        pairs=tuple((a.name, b.name) for a, b in wanted),
        pairs_done=0,
        overall_statistic=_stacked(overall, len(chosen), len(prediction)),
        pair_statistic=_stacked([], len(wanted), len(prediction)),
        main_strength=np.stack([_spread(whole[f.name], weights, zero) for f in chosen], axis=1),
        response_strength=_spread(F, weights, zero),
        total_h2=additive.h2 if everything else unknown,
        total_h2_stderr=additive.h2_stderr if everything else unknown,
        outputs=tuple(explainer.outputs),
        labels=tuple(explainer.response.raw_labels),
        scale=explainer.scale,
        rows=np.sort(effects.rows),
        rows_total=total,
        subgroup=text,
        model_rows=cost,
        method="model calls" if effects.sums is None else "exact sums over trees",
    )
    if output is not None:
        find_output(output, result.outputs, result.labels)  # complain now rather than at the end

    def shown(result: Interactions) -> Interactions:
        return result if output is None else result.output(output)

    yield shown(result)
    for (a, b), interaction in effects.pairs(wanted):
        joint = interaction + whole[a.name] + whole[b.name]
        found.append(_statistic(interaction, joint, weights, zero))
        yield shown(
            replace(result, pairs_done=len(found), pair_statistic=_stacked(found, len(wanted), len(prediction)))
        )


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
        All features by default.
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
        For an unknown feature or output, an empty subgroup, a model that predicts NaN.
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
    table = explainer.table
    chosen = [
        [table.feature(n) for n in name] if isinstance(name, list) else [table.feature(name)] for name in features
    ]
    columns = [j for group in chosen for feature in group for j in feature.columns]
    if len(chosen) < 2 or not all(chosen) or len(set(columns)) < len(columns):
        raise InputError(f"interaction{features!r}; expected two or more different features")
    effects, text, _ = row_effects(explainer, rows, subgroup)
    subsets = [subset for size in range(1, len(chosen) + 1) for subset in combinations(chosen, size)]
    flat = [[feature for group in subset for feature in group] for subset in subsets]
    cost = effects.cost(flat)
    zero = _zero(effects.prediction())
    numerator: Any = 0.0
    joint: Any = 0.0
    for subset, members in zip(subsets, flat, strict=True):
        joint = effects.effect(members).whole
        numerator = numerator + (-1) ** (len(chosen) - len(subset)) * joint
    statistic = _statistic(numerator, joint, effects.weights, zero)
    found = Interaction(
        tuple(" + ".join(feature.name for feature in group) for group in chosen), **vars(statistic), outputs=tuple(explainer.outputs),
        labels=tuple(explainer.response.raw_labels), scale=explainer.scale, n_rows=effects.n, subgroup=text,
        model_rows=cost, method="model calls" if effects.sums is None else "exact sums over trees",
    )  # fmt: skip
    return found if output is None else found.output(output)


def interaction_rows(
    explainer: Explainer, features: Sequence[Any] | None = None, *, pairs: Any = None, rows: int | None = ROWS
) -> int:
    """Return how many rows the model will be asked about for ``interactions``; 0 with exact sums over trees."""
    chosen = _features(explainer, features)
    wanted = all_pairs(chosen) if pairs is None else [_pair(explainer, pair) for pair in pairs]
    effects, _, _ = row_effects(explainer, rows, None)
    return effects.cost([[feature] for feature in chosen] + [list(pair) for pair in wanted])


def row_effects(explainer: Explainer, rows: int | None, subgroup: Any) -> tuple[RowEffects, str | None, int]:
    """Return effects at a seeded sample of rows, the subgroup in words, and how many rows the sample is of."""
    mask, text = explainer.rows_of(subgroup)
    order = explainer.row_order if mask is None else explainer.row_order[mask[explainer.row_order]]
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 1):
        raise InputError(f"rows={rows!r}; expected a whole number, 1 or more, or None for all rows")
    return RowEffects(explainer.source, order[:rows].astype(int), explainer.exact_sums()), text, len(order)


# ---- numbers ---------------------------------------------------------------------------------


def _statistic(interaction: np.ndarray, joint: np.ndarray, weights: np.ndarray, zero: np.ndarray) -> Statistic:
    """Return one statistic, (n_outputs,) arrays, from uncentred effects, (n_outputs, 1 + groups, n)."""
    numerator, denominator = (_variance(values, weights) for values in (interaction, joint))
    numerator[numerator <= zero[:, None]] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        h2 = np.where(numerator == 0, 0.0, numerator / denominator)
    strength = np.sqrt(numerator)
    return Statistic(h2[:, 0], strength[:, 0], _stderr(h2[:, 1:]), _stderr(strength[:, 1:]))


def _spread(values: np.ndarray, weights: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """(n_outputs,) standard deviation over the rows, 0 where it is rounding."""
    variance = _variance(values, weights)[:, 0]
    return np.sqrt(np.where(variance <= zero, 0.0, variance))


def _variance(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n_outputs, 1 + groups) weighted variance over the rows; a row without weight does not count, whatever its value."""
    values = np.where(weights > 0, values, 0.0)
    centred = np.where(weights > 0, values - (weights * values).sum(axis=-1, keepdims=True), 0.0)
    return (weights * np.square(centred)).sum(axis=-1)


def _stderr(left_out: np.ndarray) -> np.ndarray:
    """Return the delete-a-group jackknife's standard error, NaN when there are too few groups to tell."""
    groups = left_out.shape[1]
    known = np.isfinite(left_out).all(axis=1) & (groups > 1)
    left_out = np.where(known[:, None], left_out, 0.0)
    spread = np.square(left_out - left_out.mean(axis=1, keepdims=True)).sum(axis=1) if groups else np.zeros(len(known))
    return np.where(known, np.sqrt(max(groups - 1, 0) / max(groups, 1) * spread), np.nan)


def _zero(prediction: np.ndarray) -> np.ndarray:
    """(n_outputs,) the variance up to which it is rounding, 16 (eps max|f|)^2, in the precision the model answers in."""
    # Whole numbers up to 2^24 are exact in float32 and no sign of it.
    whole = bool((prediction == np.rint(prediction)).all()) and np.abs(prediction).max() <= 2**24
    single = bool((prediction == prediction.astype(np.float32)).all()) and not whole
    eps = np.finfo(np.float32 if single else float).eps
    return 16 * np.square(eps * np.abs(prediction).max(axis=1))


def _stacked(found: list[Statistic], length: int, n_outputs: int) -> Statistic:
    """Return (n_outputs, length) arrays, NaN where not computed."""
    unknown = np.full((n_outputs, length - len(found)), np.nan)

    def stack(name: str) -> np.ndarray:
        known = np.stack([getattr(s, name) for s in found], axis=1) if found else np.empty((n_outputs, 0))
        return np.concatenate([known, unknown], axis=1)

    return Statistic(*(stack(name) for name in Statistic.__dataclass_fields__))


def _features(explainer: Explainer, features: Sequence[Any] | None) -> list[Feature]:
    if features is None:
        return list(explainer.features.values())
    if isinstance(features, str) or not len(features):
        raise InputError(f"features={features!r}; expected a list of names")
    return [explainer.table.feature(name) for name in features]


def _pair(explainer: Explainer, pair: tuple[Any, Any]) -> tuple[Feature, Feature]:
    if isinstance(pair, str) or len(pair) != 2:
        raise InputError(f"pairs: {pair!r} is no pair of features")
    a, b = (explainer.table.feature(name) for name in pair)
    if set(a.columns) & set(b.columns):
        raise InputError(f"pairs: {pair!r}; a pair needs two different features")
    return a, b
