"""L1-penalised logistic paths of a design on several sets of rows.

Each penalty is solved by Newton steps: a quadratic lasso around the present fit (Friedman, Hastie & Tibshirani 2010, section 3),
and a step towards its solution that is halved until the objective falls. Only columns that may pass the penalty are ever looked at:
a bound on how far a gradient has moved since it was last computed says which. The choice of the penalty is in ``select``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from .active_set import TOLERANCE, quadratic_lasso, violation
from .lasso import NEAR, as_rows, padded

if TYPE_CHECKING:
    from scipy import sparse

    from .design import Design

SEPARATED = 0.999
"""Share of the null deviance explained at which a fit goes no further: coefficients of separable classes have no limit."""

_NOTHING = 1e-6
"""Share of the null deviance that is as good as none: what Newton steps towards infinity stop at."""
_FLAT = 1e-10
"""A gradient, as a share of the null deviance, that is as good as none: a penalty of 0 asks for no other."""
_STEPS = 100
"""Newton steps at one penalty; a handful is usual."""
_HALVINGS = 40
_WORTH = 0.1
"""A quadratic is used again as long as a step leaves at most this share of the violation: making one takes longer than a step."""
_LEAST_SPREAD = 1e-9
"""Least p (1 - p) of the quadratic: certain rows must not make it flat."""


class _Gradient(NamedTuple):
    """The gradient of all columns, when it was last computed."""

    p: np.ndarray
    """(n,) the probabilities that it was computed at."""
    values: np.ndarray
    """(K,)."""
    spreads: np.ndarray
    """(K,) standard deviations of the columns."""


class _Quadratic(NamedTuple):
    """The log-loss around a fit, to second order, the intercept at its best for given coefficients."""

    gram: np.ndarray
    """(m, m) of the columns about their means."""
    means: np.ndarray
    """(m,)."""
    total: float
    """Curvature in the intercept."""

    @classmethod
    def of(cls, values: np.ndarray, spread: np.ndarray) -> _Quadratic:
        """Return the quadratic of columns (m, n) where rows have a curvature (n,)."""
        total = float(spread.sum())
        means = values @ spread / total
        scaled = values * np.sqrt(spread)
        return cls(scaled @ scaled.T - total * np.outer(means, means), means, total)


class LogisticFits:
    """Fits of ``1/(sum w) sum w log(1 + exp(-s (b0 + Z b))) + alpha |b|_1``, b0 free, s = 1 or -1, one for each set of rows.

    Parameters
    ----------
    design
        The columns Z and the weights w.
    y
        (n,) of 0 and 1.
    sets
        Indices of the rows of each fit.
    signs
        (K,) of -1, 0, 1: the sign that a coefficient may have, 0 for any; None: any.

    Examples
    --------
    >>> from pdp_widgets.rulefit.design import Design
    >>> design = Design([[True], [True], [False], [False]])
    >>> fits = LogisticFits(design, np.array([1.0, 1.0, 0.0, 1.0]), [np.arange(4)])
    >>> round(float(fits.largest(0)), 9)
    0.125
    >>> intercepts, coefficients = fits.advance(0, np.array([0.125, 0.1]))
    >>> coefficients.toarray().ravel().round(2)
    array([0.  , 0.54])
    """

    def __init__(
        self, design: Design, y: np.ndarray, sets: Sequence[np.ndarray], signs: np.ndarray | None = None
    ) -> None:
        self.design, self.signs = design, signs
        self._y = y
        weights = np.stack([np.bincount(rows, minlength=design.n_rows) * design.weights for rows in sets])
        total = weights.sum(axis=1)
        self._weights = weights / np.where(total > 0, total, 1.0)[:, None]
        tiny = np.finfo(float).eps
        share = (self._weights @ y).clip(tiny, 1 - tiny)
        # A single class leaves nothing to fit; its log-odds are kept finite.
        self.usable = (total > 0) & (self._weights @ y > 0) & (self._weights @ (1 - y) > 0)
        """(F,) whether a set of rows has weight in both classes."""
        self._intercept = np.log(share / (1 - share))
        self._null = np.array(
            [self._deviance(fit, np.full(len(y), start)) for fit, start in enumerate(self._intercept)]
        )

        self.explained = np.zeros(len(sets))
        """(F,) share of the null deviance explained by each fit's latest solution."""
        self._columns = np.empty(0, dtype=np.intp)
        self._values = np.empty((0, design.n_rows))
        self._b = [np.empty(0)] * len(sets)
        self._known: list[_Gradient | None] = [None] * len(sets)

    def largest(self, fit: int) -> float:
        """Return the smallest penalty at which all coefficients are zero."""
        if not self.usable[fit]:
            return 0.0
        return float(
            violation(self._gradient(fit, expit(self._log_odds(fit))).values, 0.0, self.signs).max(initial=0.0)
        )

    def advance(self, fit: int, alphas: np.ndarray) -> tuple[np.ndarray, sparse.csr_array]:
        """Return intercepts (A,) and coefficients (A, K) at the next penalties, decreasing; the last ones are the guess for the first.

        Once the classes are as good as separated, all further penalties have the solution of the last one.
        """
        intercepts, coefficients = np.empty(len(alphas)), []
        for index, alpha in enumerate(alphas):
            while self.usable[fit] and self.explained[fit] <= SEPARATED:
                f = self._solve(fit, float(alpha))
                missing = self._missing(fit, f, alpha)
                if not missing.size:
                    self.explained[fit] = 1 - self._deviance(fit, f) / self._null[fit]
                    break
                self._make(missing)
            used = np.flatnonzero(self._b[fit])
            intercepts[index] = self._intercept[fit]
            coefficients.append((self._columns[used], self._b[fit][used]))
        matrix = as_rows(coefficients, self.design.n_columns)
        return intercepts - matrix[:, self.design.n_rules :] @ self.design.offsets, matrix

    def _solve(self, fit: int, alpha: float) -> np.ndarray:
        """Solve for the columns that are there; return the log-odds of all rows, (n,)."""
        values, weights = self._values[: len(self._columns)], self._weights[fit]
        signs = None if self.signs is None else self.signs[self._columns]
        b = self._b[fit] = padded(self._b[fit], len(self._columns))
        f = self._log_odds(fit)
        for _ in range(_STEPS):
            rest = weights * (self._y - expit(f))
            gradient = values @ rest
            if _error(gradient, rest.sum(), b, alpha, signs) <= max(TOLERANCE * alpha, _FLAT * self._null[fit]):
                break
            work = np.flatnonzero((b != 0) | (violation(gradient, NEAR * alpha, signs) > 0))
            before = f
            f, b[work] = self._newton(fit, alpha, f, values[work], b[work], None if signs is None else signs[work])
            if f is before:
                break
        return f

    def _newton(
        self, fit: int, alpha: float, f: np.ndarray, values: np.ndarray, b: np.ndarray, signs: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve for a few columns; return log-odds and coefficients."""
        weights, y = self._weights[fit], self._y
        deviance = self._deviance(fit, f)
        model: _Quadratic | None = None
        inverse: np.ndarray | None = None
        last = np.inf
        for _ in range(_STEPS):
            p = expit(f)
            rest = weights * (y - p)
            gradient, free = values @ rest, rest.sum()
            error = _error(gradient, free, b, alpha, signs)
            if error <= 0.5 * max(TOLERANCE * alpha, _FLAT * self._null[fit]) or deviance <= _NOTHING * self._null[fit]:
                break
            fresh = model is None or error > _WORTH * last
            if model is None or fresh:
                model, inverse = _Quadratic.of(values, weights * np.maximum(p * (1 - p), _LEAST_SPREAD)), None
            last = error
            goal, inverse = quadratic_lasso(
                model.gram, gradient - model.means * free + model.gram @ b, alpha, b, signs, inverse
            )
            change = goal - b
            shift = free / model.total - model.means @ change
            direction = change @ values + shift
            # Halve the step until the objective falls as its model promises (Armijo).
            size = np.abs(b).sum()
            promise = alpha * (np.abs(goal).sum() - size) - gradient @ change - free * shift
            bound = (deviance + alpha * size) * (1 + 1e-15)
            for step in 0.5 ** np.arange(_HALVINGS):
                reached = self._deviance(fit, f + step * direction)
                if reached + alpha * np.abs(b + step * change).sum() <= bound + 0.1 * step * promise:
                    break
            else:
                if fresh:
                    break
                last = 0.0  # the model was an old one: make another
                continue
            b = goal if step == 1 else b + step * change
            inverse = inverse if step == 1 else None
            self._intercept[fit] += step * shift
            f, deviance = f + step * direction, reached
        return f, b

    def _missing(self, fit: int, f: np.ndarray, alpha: float) -> np.ndarray:
        """Return columns that are not there yet: if one of them passes the penalty, all that come close to it, else none."""
        p = expit(f)
        known = self._known[fit] or self._gradient(fit, p)
        # Cauchy-Schwarz: a gradient moves by at most the spread of its column times that of the probabilities.
        moved = np.sqrt(self._weights[fit] @ (p - known.p) ** 2)
        near = violation(known.values, alpha - moved * known.spreads, self.signs, alpha) > 0
        near[self._columns] = False
        suspects = np.flatnonzero(near)
        if len(suspects) > 0.2 * self.design.n_columns:
            known = self._gradient(fit, p)
            suspects = np.setdiff1d(np.arange(self.design.n_columns), self._columns)
            gradient = known.values[suspects]
        else:
            gradient = self.design.back(self._weights[fit] * (self._y - p), suspects)
        signs = None if self.signs is None else self.signs[suspects]
        if not violation(gradient, alpha, signs).any():
            return suspects[:0]
        return suspects[violation(gradient, NEAR * alpha, signs) > 0]

    def _gradient(self, fit: int, p: np.ndarray) -> _Gradient:
        """Return the gradient of all columns at the probabilities p, and remember it."""
        weights, before = self._weights[fit], self._known[fit]
        spreads = self._spreads(fit) if before is None else before.spreads
        known = _Gradient(p, self.design.back(weights * (self._y - p)), spreads)
        self._known[fit] = known
        return known

    def _spreads(self, fit: int) -> np.ndarray:
        """Return the standard deviation of each column in a set of rows, (K,)."""
        weights, linear = self._weights[fit], self.design.linear
        means = self.design.back(weights)
        squares = np.concatenate([means[: self.design.n_rules], linear**2 @ weights])
        return np.sqrt(np.maximum(squares - means**2, 0))

    def _make(self, columns: np.ndarray) -> None:
        """Make columns as floats, (m, n), for all fits."""
        old, new = len(self._columns), len(self._columns) + len(columns)
        if new > len(self._values):
            larger = np.empty((max(new, 2 * old), self.design.n_rows))
            larger[:old] = self._values[:old]
            self._values = larger
        self._values[old:new] = self.design.columns(columns)
        self._columns = np.concatenate([self._columns, columns])

    def _log_odds(self, fit: int) -> np.ndarray:
        used = np.flatnonzero(self._b[fit])
        return self._intercept[fit] + self._b[fit][used] @ self._values[used]

    def _deviance(self, fit: int, f: np.ndarray) -> float:
        """Return the weighted mean log-loss."""
        return float(self._weights[fit] @ np.logaddexp(0, np.where(self._y > 0.5, -f, f)))


def _error(gradient: np.ndarray, free: float, b: np.ndarray, penalty: float, signs: np.ndarray | None) -> float:
    """Return by how much the optimality conditions are violated at most."""
    excess = violation(gradient, penalty, signs)
    used = b != 0
    excess[used] = np.abs(gradient[used] - penalty * np.sign(b[used]))
    return max(float(excess.max(initial=0.0)), abs(free))
