"""Linear terms of a RuleFit: features between two limits, and indicators of the levels of categories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import FeatureTable, InputError

from .terms import Linear

if TYPE_CHECKING:
    from .table import Column, Table

__all__ = ["linear_terms", "weighted_limits"]

LEAST_SPREAD = 1e-10
"""Least standard deviation of a term, as a share of its largest value: with less, sums are what rounding makes of them."""


def linear_terms(
    table: Table,
    X: Any,
    weights: np.ndarray | None = None,
    *,
    winsorize: float | None = 0.025,
    linear: str | Iterable[str] = "all",
) -> tuple[tuple[Linear, ...], np.ndarray]:
    """Return the linear terms of a table's columns (Friedman & Popescu 2008, eq. 24 and 25, without the scale).

    A number is clipped at its weighted quantiles, unless it has only two values, or clipping would leave one: a rare flag
    stays a flag. A missing value counts as the weighted mean of the clipped ones. A category has an indicator for each
    level (of two levels for the second only), and one for missing values where there are some. What is constant on the
    rows that have weight, or all but constant for the digits that numbers have, gives no term.

    Parameters
    ----------
    table : Table
    X : FeatureTable or table in any container
        The training rows.
    weights : (n,) array, optional
    winsorize : float, optional
        Share of the weight to be clipped on either side; 0 or None clips nothing.
    linear : "all", "none" or list of names
        Which features have linear terms.

    Returns
    -------
    terms : tuple of Linear
        With their weighted mean and standard deviation (population) over the training rows.
    values : (n, L) float64 array
        Each term at the training rows, in the unit of its feature.

    Raises
    ------
    InputError
        When ``winsorize`` is not below one half, or ``linear`` names no column.

    Examples
    --------
    >>> import pandas as pd
    >>> from pdp_widgets.rulefit.table import Table
    >>> X = pd.DataFrame({"temp": [1.0, 2.0, 3.0, 90.0], "sky": ["sun", "rain", "sun", "sun"]})
    >>> terms, values = linear_terms(Table.of(X), X, winsorize=0.3)
    >>> [term.label for term in terms], values.tolist()
    (['temp', 'sky = sun'], [[2.0, 1.0], [2.0, 0.0], [3.0, 1.0], [3.0, 1.0]])
    """
    given: Any = winsorize
    if given is not None and not (isinstance(given, int | float | np.number) and 0 <= given < 0.5):
        raise InputError(f"winsorize={winsorize!r}; expected a share from 0 to below 0.5, such as 0.025, or None")
    rows = X if isinstance(X, FeatureTable) else FeatureTable(X)
    shares = _shares(weights, rows.n_rows)
    terms, columns = [], []
    for column in _chosen(table, linear):
        if column.is_category:
            found = _indicators(column)
        else:
            found = [_number(column, rows.observed(column.name).codes, shares, winsorize or 0.0)]
        for term in found:
            values = term.values(rows)
            weighed = values[shares > 0]
            with np.errstate(over="ignore", invalid="ignore"):  # what has no finite spread gives no term
                mean = float(shares @ values)
                sd = float(np.sqrt(shares @ (values - mean) ** 2))
            if np.isfinite(sd) and sd > LEAST_SPREAD * np.abs(weighed).max() and weighed.min() < weighed.max():
                terms.append(replace(term, mean=mean, sd=sd))
                columns.append(values)
    return tuple(terms), np.column_stack(columns) if columns else np.empty((rows.n_rows, 0))


def weighted_limits(values: np.ndarray, weights: np.ndarray, share: float) -> tuple[float, float]:
    """Return the values at or beyond which a share of the weight lies, on either side.

    These are observed values: the smallest v with weight(x <= v) >= share, the largest with weight(x >= v) >= share.
    Whole weights therefore give the limits of repeated rows, and the limits of -x are those of x.

    Examples
    --------
    >>> weighted_limits(np.array([5.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.25)
    (1.0, 5.0)
    """
    order = np.argsort(values, kind="stable")
    least = share * weights.sum() * (1 - 1e-12)  # sums of weights are not exact
    low = np.searchsorted(np.cumsum(weights[order]), least)
    high = len(values) - 1 - np.searchsorted(np.cumsum(weights[order[::-1]]), least)
    return float(values[order[low]]), float(values[order[high]])


def _number(column: Column, codes: np.ndarray, shares: np.ndarray, winsorize: float) -> Linear:
    """Return the term of an ordered column."""
    known = ~np.isnan(codes) & (shares > 0)
    present, weights = codes[known], shares[known]
    low, high = -np.inf, np.inf
    if winsorize and len(present) and column.two_values is None:
        limits = weighted_limits(present, weights, winsorize)
        if limits[0] < limits[1]:
            low, high = limits
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.clip(present, low, high) @ weights / weights.sum()) if len(present) else 0.0
    return Linear(column.name, low, high, missing_as=mean, kind=column.text_kind)


def _indicators(column: Column) -> list[Linear]:
    """Return the terms of a category."""
    levels = [(level,) for level in (column.levels[1:] if len(column.levels) == 2 else column.levels)]
    if column.missing and len(column.levels) > 1:  # beside one level only, it says nothing new
        levels.append((None,))
    return [Linear(column.name, level=level, kind="category") for level in levels]


def _chosen(table: Table, linear: str | Iterable[str]) -> list[Column]:
    """Return the columns that have linear terms."""
    if isinstance(linear, str) or not isinstance(linear, Iterable):
        if linear not in ("all", "none"):
            raise InputError(f'linear={linear!r}; expected "all", "none" or a list of names of columns of X')
        return list(table.columns) if linear == "all" else []
    positions = {table.position(name) for name in linear}
    return [table.columns[j] for j in sorted(positions)]


def _shares(weights: np.ndarray | None, n: int) -> np.ndarray:
    return np.full(n, 1 / n) if weights is None else np.asarray(weights, dtype=float) / np.sum(weights)
