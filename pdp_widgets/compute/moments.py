"""Mergeable partial results: the one algebra behind every explanation here.

Each explanation is a (weighted) mean over rows, so it is kept as sums over row chunks that can be
updated and merged. Formulas: Chan, Golub & LeVeque (1979), with weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Moments:
    """Weighted count, mean and squared deviations per cell.

    ``mean`` and ``m2`` have any shape; the row axis is summed away.
    """

    count: int
    """Rows seen."""
    weight: float
    """Sum of the weights."""
    weight2: float
    """Sum of the squared weights (for the effective number of rows)."""
    mean: np.ndarray
    m2: np.ndarray
    """Sum of w * (value - mean)**2."""

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Moments:
        """Return the neutral element of ``merge``."""
        return cls(0, 0.0, 0.0, np.zeros(shape), np.zeros(shape))

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray | None = None, axis: int = 1) -> Moments:
        """Return the moments of ``values`` over its row ``axis``.

        Parameters
        ----------
        values : array
        weights : (n,) array, optional
            One non-negative weight per row; 1 by default.
        axis : int
            The row axis.
        """
        values = np.moveaxis(values, axis, 0)
        n = len(values)
        if n == 0:
            return cls.empty(values.shape[1:])
        if weights is None:
            with np.errstate(over="ignore"):  # predictions near 1e300: the mean is right, its error infinite
                mean = values.mean(axis=0)
                m2 = np.square(values - mean).sum(axis=0)
            return cls(n, float(n), float(n), mean, m2)
        total = float(weights.sum())
        if total == 0:
            return cls(n, 0.0, 0.0, np.zeros(values.shape[1:]), np.zeros(values.shape[1:]))
        with np.errstate(over="ignore"):
            mean = np.tensordot(weights, values, axes=(0, 0)) / total
            m2 = np.tensordot(weights, np.square(values - mean), axes=(0, 0))
        return cls(n, total, float(np.square(weights).sum()), mean, m2)

    def merge(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows together."""
        weight = self.weight + other.weight
        share = 0.0 if weight == 0 else other.weight / weight
        gap = other.mean - self.mean
        with np.errstate(over="ignore"):
            m2 = self.m2 + other.m2 + gap * (gap * (self.weight * share))
        return Moments(self.count + other.count, weight, self.weight2 + other.weight2, self.mean + gap * share, m2)

    @property
    def variance(self) -> np.ndarray:
        """Return the weighted variance over rows (divisor n_eff - 1, scaled), 0 for one row."""
        if self.weight == 0:
            return np.full_like(self.mean, np.nan)
        effective = self.effective_rows
        if effective <= 1:
            return np.zeros_like(self.mean)
        return self.m2 / self.weight * (effective / (effective - 1))

    @property
    def effective_rows(self) -> float:
        """Return Kish's effective number of rows, the count itself without weights."""
        return self.weight**2 / self.weight2 if self.weight2 else 0.0

    def stderr(self, rows_total: int) -> np.ndarray:
        """Return the standard error of ``mean`` as an estimate for all ``rows_total`` rows.

        The rows seen are a simple random sample without replacement, hence the finite-population
        factor sqrt(1 - m/n): the error is zero once all rows are in. One row tells nothing: infinite.
        """
        if self.count >= rows_total:
            return np.zeros_like(self.mean)
        if self.effective_rows <= 1:
            return np.full_like(self.mean, np.inf)
        left = 1 - self.count / rows_total
        return np.sqrt(self.variance / self.effective_rows * left)
