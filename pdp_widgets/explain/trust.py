"""Trust: how far a partial dependence may be believed, in numbers and in one short sentence for each thing that speaks against it.

What speaks against a curve: rows that disagree (their mean describes nobody), features that move together (the curve averages over
combinations the data do not have), few rows, and sampling error. Every threshold for saying so is a constant in ``trust_result.py``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.compute import Moments
from pdp_widgets.inputs import InputError, find_output

from .ale_axes import chosen_features, others_of
from .association import association, beyond, binned, effective_rows, outside, values_at
from .explanation import MODEL, context
from .grids import PAIR_GRID_SIZE, at_least
from .ice import Ice
from .interaction import interaction
from .statistic import rounding
from .trust_result import NEAR, THIN_ROWS, THIN_SHARE, FeatureTrust, PairTrust, Trust

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, FeatureTable, Grid

    from .explainer import Explainer

ROWS = 500
"""Rows whose curves are looked at by default: shares are then known to a few percent."""

PAIR_ROWS = 200
"""Most rows for the H-statistic of a pair: without exact sums the model is asked about the square of it, three times."""

ASSOCIATION_ROWS = 2000
"""Rows that associations and combinations are looked at: a correlation is then known to .02."""

PARTNER_BINS = 8
"""Groups that a number is cut into when it may explain why rows disagree: 98 % of a linear relation is between eight groups."""

PARTNER_LEAST = 5
"""Rows a group must have on average, and a level at least: smaller levels are one group."""


def trust(
    explainer: Explainer,
    features: Any,
    *,
    subgroup: Any = None,
    output: Any = None,
    rows: int | None = ROWS,
) -> Trust:
    """Return how far the partial dependence on a feature or a pair can be trusted.

    Parameters
    ----------
    explainer : Explainer
    features : name, or (name, name)
    subgroup : mask, query string or object with ``.mask``, optional
        The partial dependence among these rows.
    output : name, class label or position, optional
        Return this output only.
    rows : int or None
        A seeded sample of so many rows whose ICE curves are looked at; None for all. Of a pair, rows for the H-statistic: no more
        than 200 then, because the model is asked about the square of it.

    Returns
    -------
    FeatureTrust or PairTrust
        Numbers, and ``hints``: the sentences worth saying, the gravest first; none when nothing speaks against the curve.

    Raises
    ------
    InputError
        For an unknown feature or output, an empty subgroup, two features that share columns.
    PredictionError
        When the model fails.

    Notes
    -----
    Of a feature the model is asked about the ICE curves of the sample and about nothing else. Associations are those in a seeded
    sample of 2000 rows. Rows of weight zero do not count. ``hints`` speak of the explainer's default output; those of another one
    are ``.output(name).hints``.

    *Share of the heterogeneity*: with each curve centred by its data-weighted mean, the variance between the curves over (that
    + the variance of their mean), all data-weighted; the first is the square of ``PartialDependence.heterogeneity``. *Partner*: the
    other feature whose groups (levels, or eight quantile bins) explain most of the curves' deviations from their mean: R2, adjusted for
    the number of groups; named when it is at least a tenth and more than the best of so many unrelated features reaches in one of a
    hundred cases. *Sampling error*: of the partial dependence from all background rows, as an estimate for all rows of X when the
    background is a sample of them, else for the population that they come from; that of a curve which is not complete yet is its
    ``stderr``. Its *shape* is the curve centred by its data-weighted mean.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pdp_widgets.explain import Explainer
    >>> from pdp_widgets.explain.trust import trust
    >>> X = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, size=(500, 3)), columns=["a", "b", "c"])
    >>> found = trust(Explainer(lambda X: X["a"] * np.sign(X["b"]) + X["a"] + X["c"], X), "a")
    >>> for hint in found.hints:
    ...     print(hint)
    rows disagree (48 %), mostly by b
    """
    chosen = chosen_features(explainer.table, features)
    mask, text = explainer.rows_of(subgroup)
    if rows is not None:
        rows = at_least("rows", rows, 1)
    if output is not None:
        find_output(output, explainer.outputs, explainer.response.raw_labels)  # complain now rather than at the end
    order = explainer.row_order if mask is None else explainer.row_order[mask[explainer.row_order]]
    order = order.astype(int)
    counting = order if explainer.weights is None else order[explainer.weights[order] > 0]
    common = {
        **context(explainer, text),
        "default_output": explainer.default_output,
        "rows_total": len(counting),
    }
    if len(chosen) == 1:
        result: Trust = _of_feature(explainer, chosen[0], counting, rows, common)
    else:
        sample = order if rows is None else order[: min(rows, PAIR_ROWS)]
        result = _of_pair(explainer, chosen, counting, sample, subgroup, common)
    return result if output is None else result.output(output)


def thin_points(grid: Grid, rows: np.ndarray) -> np.ndarray:
    """(K,) bool: grid points near which few rows lie, fewer than 5 or 0.5 %.

    Rows count that are nearest to the point, or to another one within 5 % of the grid's range: so a finer grid has no thinner
    points. Levels and missing values have no neighbours.

    Parameters
    ----------
    grid : Grid
    rows : int array
        Positions of the rows that count.
    """
    counts = grid.counts(rows)
    near = counts.copy()
    if grid.kind != "category":
        half = grid.positions / 2  # a difference of halves cannot overflow
        reach = NEAR * (half[grid.ordered].max() - half[grid.ordered].min()) if grid.ordered.any() else 0.0
        close = np.abs(half[:, None] - half) <= reach
        near = np.where(grid.ordered, close @ counts, counts)
    return near < max(THIN_ROWS, THIN_SHARE * len(rows))


# ---- a feature ---------------------------------------------------------------------------------


def _of_feature(
    explainer: Explainer, feature: Feature, order: np.ndarray, rows: int | None, common: dict[str, Any]
) -> FeatureTrust:
    table = explainer.table
    grid = explainer.grid(feature)
    sample = np.sort(order[:rows])
    curves, method = _curves(explainer, grid, sample, whole=len(order) == table.n_rows)
    good = np.isfinite(curves).all(axis=(0, 2))
    sample, curves = sample[good], curves[:, good]
    weights = _weights(explainer, sample)
    others = others_of(table, feature)
    numbers, deviations = _variation(curves, _density(explainer, grid, order), weights)
    errors = _errors(curves, numbers.pop("levels"), weights, _weights(explainer, order), explainer)
    partners, partner_share = _partners(table, others, sample, deviations, weights)
    seen = np.sort(order[:ASSOCIATION_ROWS])
    seen_weights = _weights(explainer, seen)
    mine = values_at(table, feature, seen)
    _, first = np.unique(grid.own, return_index=True)
    first = first[grid.own[first] >= 0]  # each grid point is the value of a row
    points = values_at(table, feature, first)
    found, leaving = [], []
    for other in others:
        theirs = values_at(table, other, seen)
        found.append(association(mine, theirs, seen_weights, len(others)))
        leaving.append(outside(points, mine, theirs, seen_weights).mean())
    return FeatureTrust(
        grids=(grid,),
        rows=sample,
        others=tuple(other.name for other in others),
        associations=np.array([value for value, _ in found]),
        associations_chance=np.array([chance for _, chance in found]),
        outside_shares=np.array(leaving),
        thin=thin_points(grid, order),
        average=weights / weights.sum() @ curves if len(sample) else np.full((len(curves), grid.size), np.nan),
        partners=tuple(partners),
        partner_share=partner_share,
        error_of="population" if explainer.n_rows == explainer.n_rows_given else "rows",
        rows_of=explainer.n_rows_given,
        note="",
        method=method,
        **numbers,
        **errors,
        **common,
    )


def _curves(explainer: Explainer, grid: Grid, rows: np.ndarray, *, whole: bool) -> tuple[np.ndarray, str]:
    """Return the ICE curves of a sample of rows, (n_outputs, m, K), and how they were obtained."""
    if not len(rows):
        return np.empty((len(explainer.outputs), 0, grid.size)), MODEL
    wanted = np.zeros(explainer.n_rows, dtype=bool)
    wanted[rows] = True
    ice = explainer.ice(grid.feature, rows=wanted, keep=rows)
    if ice.values is not None:
        done = np.zeros(explainer.n_rows, dtype=bool)
        done[explainer.row_order[: ice.rows_done]] = True
        # The sample is the first of all rows: what is computed now will not have to be later. A subgroup's rows lie far apart.
        if not whole and not done[rows].all():
            ice = Ice(explainer.source, (grid,), rows=wanted, store=False, keep=rows)
    while not ice.complete and ice.rows_done < len(rows):
        ice.advance()
    return ice.curves(rows), ice.method


def _variation(curves: np.ndarray, density: np.ndarray, weights: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Return how curves vary, (n_outputs,) each, and their deviations (n_outputs, m, K), scaled so that squares add up."""
    n_outputs, m, _ = curves.shape
    names = ("heterogeneity", "heterogeneity_share", "spread", "span")
    if not m:
        empty = {name: np.full(n_outputs, np.nan) for name in names}
        return empty | {"levels": np.empty((n_outputs, 0))}, np.empty(curves.shape)
    unit = _unit(curves)
    scaled, weights = curves / unit, weights / weights.sum()
    levels = scaled @ density
    centred = scaled - levels[:, :, None]
    shape = weights @ centred
    deviations = centred - shape[:, None]
    deviations -= (weights @ deviations)[:, None]  # what rounding left: curves that are alike deviate by nothing
    zero = rounding(scaled.reshape(n_outputs, -1))
    between, common = (weights @ np.square(deviations)) @ density, np.square(shape) @ density
    between, common = (np.where(part > zero, part, 0.0) for part in (between, common))
    apart = np.square(levels - (levels @ weights)[:, None]) @ weights
    share = np.divide(between, between + common, out=np.zeros(n_outputs), where=between > 0)
    span = np.where(common > 0, np.ptp(shape, axis=1), 0.0)
    values = (np.sqrt(between) * unit, share, np.sqrt(between + common + apart) * unit, span * unit)
    deviations = np.where(between[:, None, None] > 0, deviations * np.sqrt(density), 0.0)
    return dict(zip(names, values, strict=True)) | {"levels": levels * unit}, deviations


def _unit(curves: np.ndarray) -> float:
    """Return a power of two to divide by where squares would overflow or vanish, else 1."""
    top = float(np.abs(curves).max())
    return 1.0 if top == 0 or 1e-100 < top < 1e100 else 2.0 ** (math.frexp(top)[1] - 1)


def _errors(
    curves: np.ndarray, levels: np.ndarray, weights: np.ndarray, all_weights: np.ndarray, explainer: Explainer
) -> dict[str, Any]:
    """Return the largest standard errors of the partial dependence from all rows, and of its shape: (n_outputs,) each."""
    unknown = np.full(len(curves), np.nan)
    if effective_rows(weights) <= 1:
        return {"stderr": unknown, "stderr_shape": unknown.copy()}
    unit = _unit(curves)
    drawn = explainer.n_rows / explainer.n_rows_given
    factor = (1 - drawn if drawn < 1 else 1.0) / effective_rows(all_weights)

    def largest(values: np.ndarray) -> np.ndarray:
        return np.sqrt(Moments.of(values / unit, weights).variance.max(axis=1) * factor) * unit

    return {"stderr": largest(curves), "stderr_shape": largest(curves - levels[:, :, None])}


def _partners(
    table: FeatureTable, others: list[Feature], rows: np.ndarray, deviations: np.ndarray, weights: np.ndarray
) -> tuple[list[str | None], np.ndarray]:
    """Return, per output, the feature that explains most of the curves' deviations, and its adjusted R2; None when none clearly does.

    Parameters
    ----------
    deviations : (n_outputs, m, K) array
        Weighted, they sum to zero over the rows.
    """
    total = np.square(deviations).sum(axis=2) @ weights
    n = effective_rows(weights)
    names: list[str | None] = [None] * len(total)
    best = np.zeros(len(total))
    if not (total > 0).any():
        return names, best
    weighted = deviations * weights[:, None]
    bins = int(np.clip(n / PARTNER_LEAST, 2, PARTNER_BINS))
    for other in others:
        group = _joined(binned(values_at(table, other, rows), weights, bins))
        size = int(group.max()) + 1
        if size == 1 or n <= size:
            continue
        member = (group == np.arange(size)[:, None]).astype(float)
        between = (np.square(member @ weighted).sum(axis=2) / (member @ weights)).sum(axis=1)
        explained = np.divide(between, total, out=np.zeros(len(total)), where=total > 0)
        adjusted = 1 - (1 - np.minimum(explained, 1.0)) * (n - 1) / (n - size)
        chance = beyond(size - 1, len(others)) / (n - size)
        for k in np.flatnonzero(adjusted > np.maximum(best, chance)):
            names[k], best[k] = other.name, adjusted[k]
    return names, best


def _joined(groups: np.ndarray) -> np.ndarray:
    """Return groups numbered 0, 1, ..., those of few rows made one."""
    _, at, count = np.unique(groups, return_inverse=True, return_counts=True)
    at = np.where(count[at] < PARTNER_LEAST, -1, at)
    return np.unique(at, return_inverse=True)[1]


def _density(explainer: Explainer, grid: Grid, rows: np.ndarray) -> np.ndarray:
    """(K,) share of the rows nearest to each grid point."""
    nearest = grid.nearest[rows]
    mass = np.bincount(nearest[nearest >= 0], _weights(explainer, rows)[nearest >= 0], grid.size)
    return mass / mass.sum() if mass.sum() > 0 else np.full(grid.size, 1 / grid.size)


def _weights(explainer: Explainer, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows)) if explainer.weights is None else explainer.weights[rows]


# ---- a pair --------------------------------------------------------------------------------------


def _of_pair(
    explainer: Explainer,
    chosen: list[Feature],
    order: np.ndarray,
    sample: np.ndarray,
    subgroup: Any,
    common: dict[str, Any],
) -> PairTrust:
    size = min(PAIR_GRID_SIZE, explainer.grid_size)
    grids = tuple(explainer.grid(feature, grid_size=size) for feature in chosen)
    seen = np.sort(order[:ASSOCIATION_ROWS])
    first, second = (values_at(explainer.table, feature, seen) for feature in chosen)
    found, chance = association(first, second, _weights(explainer, seen))
    counts = _cell_counts(grids, order)
    empty, expected = _empty_cells(counts)
    unknown = np.full(len(explainer.outputs), np.nan)
    h2, h2_stderr, strength, note, method = unknown, unknown, unknown, "", MODEL
    explainer.exact_sums()  # complains where they are insisted on and cannot be had
    try:
        statistic = interaction(explainer, *(feature.name for feature in chosen), rows=len(sample), subgroup=subgroup)
        h2, h2_stderr, strength, method = statistic.h2, statistic.h2_stderr, statistic.strength, statistic.method
    except InputError as error:
        note = f"no H-statistic: {error}"
    return PairTrust(
        grids=grids,
        rows=np.sort(sample[_weights(explainer, sample) > 0]),
        association=found,
        association_chance=chance,
        empty_cells=empty,
        empty_cells_expected=expected,
        counts=counts,
        h2=h2,
        h2_stderr=h2_stderr,
        strength=strength,
        note=note,
        method=method,
        **common,
    )


def _cell_counts(grids: tuple[Grid, ...], rows: np.ndarray) -> np.ndarray:
    """(K1, K2) how many of the rows are nearest to each cell."""
    first, second = (grid.nearest[rows].astype(int) for grid in grids)
    both = (first >= 0) & (second >= 0)
    shape = grids[0].size, grids[1].size
    return np.bincount(first[both] * shape[1] + second[both], minlength=shape[0] * shape[1]).reshape(shape)


def _empty_cells(counts: np.ndarray) -> tuple[float, float]:
    """Return the share of cells without rows, and what it would be if the features were independent."""
    n = int(counts.sum())
    if not n:
        return math.nan, math.nan
    shares = counts.sum(axis=1) / n, counts.sum(axis=0) / n
    return float((counts == 0).mean()), float(((1 - np.outer(*shares)) ** n).mean())
