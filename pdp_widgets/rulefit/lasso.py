"""Lasso paths of a design on several sets of rows at once, squared error.

Every fit needs only the Gram matrix, and of it only the columns of terms that ever come close to being chosen. The sets of rows
share them: products are summed once for each group of rows that belongs to the same sets. The choice of the penalty is in ``select``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from .active_set import quadratic_lasso, violation
from .design import Design, Products

NEAR = 0.95
"""Columns whose gradient reached this share of the penalty are solved for; the others only if they pass it then."""
CLOSE = 0.8
"""Columns whose gradient reached this share may be made along with others that are needed."""
BATCH = 128
"""Columns that are made at a time, if that many are close: products of fewer take as long, since all of the design is read for them."""


class SquaredFits:
    """Fits of ``1/(2 sum w) sum w (y - b0 - Z b)^2 + alpha |b|_1``, b0 free, one for each set of rows.

    Parameters
    ----------
    design
        The columns Z and the weights w.
    y
        (n,) targets.
    sets
        Indices of the rows of each fit.
    signs
        (K,) of -1, 0, 1: the sign that a coefficient may have, 0 for any; None: any.

    Examples
    --------
    >>> design = Design([[True], [True], [False], [False]])
    >>> fits = SquaredFits(design, np.array([3.0, 5.0, 0.0, 0.0]), [np.arange(4)])
    >>> float(fits.largest(0))
    1.0
    >>> intercepts, coefficients = fits.advance(0, np.array([1.0, 0.5]))
    >>> intercepts, coefficients.toarray().ravel()
    (array([2., 1.]), array([0., 2.]))
    """

    def __init__(
        self, design: Design, y: np.ndarray, sets: Sequence[np.ndarray], signs: np.ndarray | None = None
    ) -> None:
        self.design, self.signs = design, signs
        groups, member = _groups(design.n_rows, sets)
        weights = design.weights
        centre = weights @ y / design.total
        deviations = y - centre
        self._products = Products(design, groups)
        sums = self._products.with_vectors(np.column_stack([weights, weights * deviations]))
        squares = np.array([design.linear[:, rows] ** 2 @ weights[rows] for rows in groups]).reshape(len(groups), -1)
        moments = np.array(
            [[weights[rows] @ deviations[rows] ** power for power in range(3)] for rows in groups]
        ).reshape(-1, 3)

        total, first, second = (member @ moments).T
        self.usable = total > 0
        """(F,) whether a set of rows has any weight."""
        total = np.where(self.usable, total, 1.0)
        mean = first / total
        self._share = member / total[:, None]
        self._means = self._share @ sums[:, :, 0]
        variances = np.concatenate([self._means[:, : design.n_rules], self._share @ squares], axis=1) - self._means**2
        self._target = self._share @ sums[:, :, 1] - self._means * mean[:, None]
        # A column that is constant in a set of rows never enters; the product that rounding leaves of it must not count.
        self._target[variances <= 1e-12 * variances.max(axis=1, initial=0, keepdims=True)] = 0
        self._variance = second / total - mean**2
        flat = self._variance <= 1e-26 * np.abs(y).max() ** 2
        self._target[flat] = 0
        self._variance[flat] = 0
        self._level = centre + mean

        self.explained = np.zeros(len(sets))
        """(F,) share of the variance explained by each fit's latest solution."""
        self._columns = np.empty(0, dtype=np.intp)
        self._gram = np.empty((len(sets), 0, design.n_columns))
        nothing = np.empty(0, dtype=np.intp)
        self._latest = [(nothing, np.empty(0), target, np.empty((0, 0))) for target in self._target]
        # Products of a linear term take all rules in double precision: once for all of them, if they are few.
        if len(design.linear) <= BATCH:
            self._make(np.arange(design.n_rules, design.n_columns))

    def largest(self, fit: int) -> float:
        """Return the smallest penalty at which all coefficients are zero."""
        return float(violation(self._target[fit], 0.0, self.signs).max(initial=0.0))

    def advance(self, fit: int, alphas: np.ndarray) -> tuple[np.ndarray, sparse.csr_array]:
        """Return intercepts (A,) and coefficients (A, K) at the next penalties, decreasing; the last ones are the guess for the first."""
        intercepts, coefficients = np.empty(len(alphas)), []
        for index, alpha in enumerate(alphas):
            used, b = self._solve(fit, float(alpha))
            columns = self._columns[used]
            intercepts[index] = self._level[fit] - self._means[fit, columns] @ b
            coefficients.append((columns, b))
            if self._variance[fit] > 0:
                explained = self._target[fit, columns] @ b + alpha * np.abs(b).sum()
                self.explained[fit] = explained / self._variance[fit]
        matrix = as_rows(coefficients, self.design.n_columns)
        return intercepts - matrix[:, self.design.n_rules :] @ self.design.offsets, matrix

    def _solve(self, fit: int, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the non-zero coefficients at a penalty: where their columns stand among those made, and their values."""
        used, b, gradient, inverse = self._latest[fit]
        target, signs = self._target[fit], self.signs
        while True:
            near = violation(gradient[self._columns], NEAR * alpha, None if signs is None else signs[self._columns]) > 0
            near[used] = True
            work = np.flatnonzero(near)
            columns = self._columns[work]
            gram = self._gram[fit, work].take(columns, axis=1)
            start = np.zeros(len(near))
            start[used] = b
            found, inverse = quadratic_lasso(
                gram, target[columns], alpha, start[work], None if signs is None else signs[columns], inverse
            )
            used, b = work[found != 0], found[found != 0]
            gradient = target - b @ self._gram[fit, used]
            excess = violation(gradient, alpha, signs)
            excess[columns] = 0
            if not excess.any():
                break
            excess[self._columns] = 0
            if excess.any():
                close = violation(gradient, CLOSE * alpha, signs)
                close[self._columns] = 0
                size = max(BATCH, np.count_nonzero(excess))
                self._make(np.argsort(-close, kind="stable")[: min(size, np.count_nonzero(close))])
        self._latest[fit] = used, b, gradient, inverse
        return used, b

    def _make(self, columns: np.ndarray) -> None:
        """Make columns of all Gram matrices, each about its own means."""
        products = np.tensordot(self._share, self._products.of(columns), axes=1)
        products -= self._means[:, columns, None] * self._means[:, None, :]
        old, new = len(self._columns), len(self._columns) + len(columns)
        if new > self._gram.shape[1]:
            larger = np.empty((len(self._gram), max(new, 2 * old), self.design.n_columns))
            larger[:, :old] = self._gram[:, :old]
            self._gram = larger
        self._gram[:, old:new] = products
        self._columns = np.concatenate([self._columns, columns])


def as_rows(coefficients: Sequence[tuple[np.ndarray, np.ndarray]], n_columns: int) -> sparse.csr_array:
    """Return indices and values of the coefficients at each penalty as a sparse matrix, (A, K)."""
    sizes = [len(columns) for columns, _ in coefficients]
    columns, values = (np.concatenate([pair[part] for pair in coefficients]) for part in range(2))
    matrix = sparse.csr_array((values, columns, np.cumsum([0, *sizes])), shape=(len(sizes), n_columns))
    matrix.sort_indices()
    return matrix


def padded(values: np.ndarray, size: int) -> np.ndarray:
    """Return values with zeros behind them."""
    return np.concatenate([values, np.zeros(size - len(values))])


def _groups(n_rows: int, sets: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return groups of rows that belong to the same sets, and how often each set has each group, (F, groups)."""
    counts = np.stack([np.bincount(rows, minlength=n_rows) for rows in sets])
    kinds, label = np.unique(counts, axis=1, return_inverse=True)
    label = label.ravel()
    groups = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=kinds.shape[1]))[:-1])
    return groups, kinds.astype(float)
