"""Lines: clipped values of single columns, added to the sums over trees.

A rule ensemble has them beside its rules. They depend on one column each, so they move curves and averages but no interaction. What
they add is computed here, at rows and at points of grids; the sums over leaves know nothing of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["NO_LINES", "Additive", "Lines"]


@dataclass(frozen=True)
class Lines:
    """``raw[o] += sum over lines l of coefficient[o, l] * clip(value of column[l], low[l], high[l])``.

    A missing value counts as ``missing_as[l]``, which is clipped, too.
    """

    column: np.ndarray
    """(L,) int column that the model sees."""
    low: np.ndarray
    """(L,) float64"""
    high: np.ndarray
    """(L,) float64"""
    missing_as: np.ndarray
    """(L,) float64"""
    coefficient: np.ndarray
    """(n_raw, L) float64; (1, 0) where there are none."""

    def __len__(self) -> int:
        return len(self.column)

    def heights(self, values: np.ndarray) -> np.ndarray:
        """Return the clipped values, (L, m), of (m, n_columns) values."""
        own = values[:, self.column]
        return np.clip(np.where(np.isnan(own), self.missing_as, own), self.low, self.high).T


NO_LINES = Lines(np.empty(0, np.int32), np.empty(0), np.empty(0), np.empty(0), np.empty((1, 0)))


def stacked(parts: list[Lines]) -> Lines:
    """Return the lines of several ensembles as those of their sum."""
    some = [lines for lines in parts if len(lines)]
    if len(some) < 2:
        return some[0] if some else NO_LINES
    names = ("column", "low", "high", "missing_as", "coefficient")
    return Lines(*(np.concatenate([getattr(lines, name) for lines in some], axis=-1) for name in names))


@dataclass(frozen=True)
class Additive:
    """What lines add at the rows of a table, and at the points of some grids."""

    coefficient: np.ndarray
    """(n_raw, L)"""
    slot: np.ndarray
    """(L,) the feature that moves each line."""
    rows: np.ndarray
    """(L, n) heights at the rows."""
    number: np.ndarray
    """(L,) which grid's feature moves each line, -1 for the other features."""
    points: tuple[np.ndarray, ...] = ()
    """Per grid the heights at its points, (L, K)."""

    def __bool__(self) -> bool:
        return len(self.slot) > 0

    def at_rows(self, rows: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        """Return what the lines add at rows, (n_raw, m): all of them, or some given as an (L,) mask."""
        if which is None:
            return self.coefficient @ self.rows[:, rows]
        return self.coefficient[:, which] @ self.rows[np.ix_(which, rows)]

    def at_points(self, f: int) -> np.ndarray:
        """Return what the lines of one grid's feature add at its points, (n_raw, K)."""
        mine = self.number == f
        return self.coefficient[:, mine] @ self.points[f][mine]

    def mean(self, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Return (n_raw, L) averages over rows, line by line."""
        return self.coefficient * np.average(self.rows[:, rows], axis=1, weights=weights)

    def add_to_curves(self, raw: np.ndarray, rows: np.ndarray) -> None:
        """Add to curves or surfaces of rows, (n_raw, m, ...) with one axis per grid."""
        still = self.at_rows(rows, self.number < 0)
        raw += still.reshape(*still.shape, *[1] * (raw.ndim - 2))
        for f in range(len(self.points)):
            axes = [1] * (raw.ndim - 2)
            axes[f] = -1
            raw += self.at_points(f).reshape(len(raw), 1, *axes)
