"""Figures of checks of explanations: what chance makes of an interaction, how far a curve can be trusted, how complex a model is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.errors import unknown_name

from .bars import MOST_BARS, bars_of
from .effects import missing_level, rows_of, shown
from .parts import COLOURS, PLAIN, Bars, Curves, Histogram, Series, Surface, axis, axis_of, known

if TYPE_CHECKING:
    from pdp_widgets.explain.complexity import Complexity
    from pdp_widgets.explain.null import NullDistribution
    from pdp_widgets.explain.trust_result import FeatureTrust, PairTrust

_BINS = 12


# ---- chance ------------------------------------------------------------------------------------


def null(
    result: NullDistribution, *, output: Any = None, pair: Any = None, feature: str | None = None, by: str = "strength"
) -> Histogram:
    """Return how strong an interaction gets by chance, and how strong it is.

    Parameters
    ----------
    result : NullDistribution
    output : name, class label or position, optional
        Of two classes the second by default, else the first.
    pair : (str, str), optional
        The two features; those that interact most by default.
    feature : str, optional
        Instead of a pair: a feature with all others together.
    by : {"strength", "h2"}
    """
    known("by", by, ("strength", "h2"))
    if pair is not None and feature is not None:
        raise InputError("pair and feature are two figures; give one")
    k = result.outputs.index(shown(result.observed, output, one=True).outputs[0])
    observed = result.observed
    if feature is not None:
        if feature not in observed.features:
            raise unknown_name("feature", feature, observed.features, "one of the features")
        at, names = observed.features.index(feature), f"{feature} with all others"
        found, drawn = getattr(observed.overall_statistic, by)[k, at], getattr(result, f"overall_{by}")[k, :, at]
        p = result.overall_p[k, at]
    else:
        at = _pair_at(result, pair, k)
        names = " × ".join(observed.pairs[at])
        found, drawn = getattr(observed.pair_statistic, by)[k, at], getattr(result, by)[k, :, at]
        p = result.p[k, at]
    limit = float(np.quantile(drawn, 0.95))
    words = in_words(observed.scale, [result.outputs[k]])
    label = f"interaction strength, {words}" if by == "strength" else "h2, share of the joint effect's variance"
    low, high = float(drawn.min()), float(drawn.max())
    width = (high - low) or abs(float(found) - low) / _BINS or 1.0
    counts, edges = np.histogram(
        drawn, bins=_BINS if high > low else 1, range=(low, high if high > low else low + width)
    )
    title = f"{names}: p = {p:.2g} ({rows_of(observed)})"
    lines = (("observed", float(found), COLOURS[1]), ("95 % point", limit, PLAIN))
    return Histogram(label, edges, counts, "models without interaction", title, lines)


def _pair_at(result: NullDistribution, pair: Any, k: int) -> int:
    pairs = result.observed.pairs
    if not pairs:
        raise InputError("there is no pair of features")
    if pair is None:
        return int(np.nan_to_num(result.observed.pair_statistic.strength[k], nan=-1.0).argmax())
    wanted = set() if isinstance(pair, str) else set(pair)
    found = next((at for at, names in enumerate(pairs) if set(names) == wanted), None)
    if found is None:
        raise InputError(f"pair={pair!r}; expected one of the {len(pairs)} pairs, such as {pairs[0]!r}")
    return found


# ---- complexity --------------------------------------------------------------------------------


def complexity(
    result: Complexity, *, feature: str | None = None, what: str = "effect", top: int = MOST_BARS
) -> Curves | Bars:
    """Return the ALE of a feature and the straight segments that reproduce it, or how many these are for each feature.

    Parameters
    ----------
    result : Complexity
    feature : str, optional
        By default the one that the complexity of the main effects owes most to.
    what : {"effect", "features"}
    top : int
        Most bars.
    """
    known("what", what, ("effect", "features"))
    table = result.per_feature
    names = table["feature"].tolist()
    where = "" if result.subgroup is None else f", subgroup {result.subgroup}"
    rows = f"{result.n_rows:,} rows{where}"
    words = in_words(result.scale, [result.output])
    if what == "features":
        title = f"Complexity {result.main_effect_complexity:.3g} of the main effects on {words} ({rows})"
        values = table["segments"].to_numpy(dtype=float)
        return bars_of(names, values, "straight segments", title, top=top, features=names)
    if feature is None:
        feature = names[int((table["segments"] * table["variance"]).to_numpy().argmax())]
    if feature not in names:
        raise unknown_name("feature", feature, names, "one of the features")
    one = result.approximations[names.index(feature)]
    category = one.kind == "category"
    x = axis(one.feature, one.kind, one.positions, one.labels)
    made = f"{one.segments + 1} groups of levels" if category else f"{one.segments} straight segments"
    if one.segments == 1:
        made = "2 groups of levels" if category else "one straight line"
    elif not one.segments:
        made = "no effect"
    series = (
        Series(one.effect, "ALE"),
        Series(one.fitted, made, COLOURS[1], dashed=not category),
    )
    return Curves(x, f"effect on {words}", series, f"{feature}: {made} ({rows})", feature=feature)


# ---- trust -------------------------------------------------------------------------------------


def feature_trust(
    result: FeatureTrust, *, output: Any = None, what: str = "curve", top: int = MOST_BARS
) -> Curves | Bars:
    """Return the curve, dashed where few rows are, or what the other features have to do with it.

    Parameters
    ----------
    result : FeatureTrust
    output : name, class label or position, optional
        The one that the hints speak of by default.
    what : {"curve", "association", "outside"}
        The curve and the first hint; how strongly the feature moves together with each other one; or which share of the curve's
        evaluations are combinations with each other feature that hardly exist in the data.
    top : int
        Most bars.
    """
    known("what", what, ("curve", "association", "outside"))
    one = result.output(result.default_output if output is None else output)
    feature, rows = one.features[0], f"{len(one.rows):,} of {one.rows_total:,} rows"
    rows = ", ".join([rows, *one.rows_in_words])
    if what != "curve":
        values = one.associations if what == "association" else one.outside_shares
        label = "association, 0 to 1" if what == "association" else "share of combinations that hardly exist"
        return bars_of(
            one.others, values, label, f"{feature} and other features ({rows})", top=top, features=one.others
        )
    x, points = axis_of(one.grids[0])
    average, thin = one.average[0, points], one.thin[points]
    missing = missing_level(one.grids[0], one.average[0])
    hints = one.hints
    said = hints[0].text.partition(":")[0] if hints else "nothing speaks against it"
    solid = Series(np.where(thin, np.nan, average), "partial dependence" if thin.any() else "", missing=missing)
    # The dashes begin and end where the line does.
    beside = thin | np.append(thin[1:], False) | np.append(False, thin[:-1])
    dashed = Series(
        np.where(beside if x.kind != "category" else thin, average, np.nan), "few rows", COLOURS[1], dashed=True
    )
    series = (solid, dashed) if thin.any() else (solid,)
    return Curves(x, in_words(one.scale, one.outputs), series, f"{feature} ({rows}): {said}", feature=feature)


def pair_trust(result: PairTrust) -> Surface:
    """Return how many rows are nearest to each cell of the surface; cells without rows are left empty.

    Parameters
    ----------
    result : PairTrust
    """
    (x, first), (y, second) = (axis_of(grid) for grid in result.grids)
    counts = result.counts[np.ix_(first, second)].astype(float)
    title = f"{' × '.join(result.features)}: {100 * result.empty_cells:.0f} % of the cells hold none of {result.rows_total:,} rows"
    return Surface(x, y, "rows", np.where(counts > 0, counts, np.nan), title)
