"""The quadratic lasso, solved exactly on a set of non-zero coefficients that grows and shrinks.

Rules overlap so much that coordinate descent creeps; here each step solves the linear equations of the active coefficients.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

TOLERANCE = 1e-7
"""How far a gradient may pass its penalty, relative to the penalty: the duality gap is about that share of the objective."""

_JITTER = 1e-10
"""Added to a pivot, relative to its column, so that dependent columns give a long step instead of none."""
_REFINED = 1e-10
"""Residual of the linear equations, relative to the penalty, that needs no refinement."""
_ROUNDS = 3
"""How often coefficients that came and went without a step are tried again."""
_VISITS = 20
"""How often a coefficient may become active: rounding must not go in circles."""


def quadratic_lasso(
    gram: np.ndarray,
    target: np.ndarray,
    penalty: float,
    start: np.ndarray,
    signs: np.ndarray | None = None,
    inverse: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise ``b' gram b / 2 - target' b + penalty |b|_1``.

    Feature-sign search (Lee, Battle, Raina & Ng 2006): solve for the active coefficients with their signs fixed, step along
    the line there to the lowest point where a sign changes, drop what is zero, add what violates the optimality conditions.

    Parameters
    ----------
    gram
        (m, m) symmetric, positive semi-definite.
    target
        (m,).
    penalty
        At least 0.
    start
        (m,) a guess, best the solution at a nearby penalty.
    signs
        (m,) of -1, 0, 1: the sign that a coefficient may have, 0 for any; None: any.
    inverse
        That of the rows and columns of ``gram`` where ``start`` is not 0, if known.

    Returns
    -------
    b
        (m,) the minimiser.
    inverse
        That of the rows and columns of ``gram`` where b is not 0.

    Examples
    --------
    >>> quadratic_lasso(np.eye(3), np.array([3.0, -2.0, 0.5]), 1.0, np.zeros(3))[0]
    array([ 2., -1.,  0.])
    """
    search = _Search(gram, target, penalty, start, signs, inverse)
    b = search.run()
    used = np.flatnonzero(b)
    return b, search.inverse[np.ix_(used, used)] if (search.active == (b != 0)).all() else search.fresh(used)


class _Search:
    """The active coefficients, their signs and the inverse of their Gram matrix, zero in the rows and columns of others."""

    def __init__(
        self,
        gram: np.ndarray,
        target: np.ndarray,
        penalty: float,
        start: np.ndarray,
        signs: np.ndarray | None,
        inverse: np.ndarray | None,
    ) -> None:
        self.gram, self.target, self.penalty, self.signs = gram, target, penalty, signs
        self.b = start.astype(float)
        self.sign = np.sign(self.b)
        self.active = self.sign != 0
        self.inverse = self._spread(inverse)
        self.stalled = np.zeros(len(target), dtype=bool)
        self.visits = np.zeros(len(target), dtype=int)
        # Without a penalty (or nearly) the targets say what is small.
        self.unit = max(penalty, 1e-6 * np.abs(target).max(initial=0))

    def run(self) -> np.ndarray:
        rounds = 0
        while True:
            while self._step():
                pass
            gradient = self.target - self.gram @ self.b
            excess = violation(gradient, self.penalty, self.signs, self.unit)
            excess[self.active] = 0
            new = (excess > 0) & ~self.stalled
            if not new.any():
                # Columns that depend on active ones may come and go without a step; others only had to wait for those.
                self.stalled = self.visits > _VISITS
                excess[self.stalled] = 0
                rounds += 1
                if rounds > _ROUNDS or not excess.any():
                    return self.b
                new = excess == excess.max()
            self._add(np.flatnonzero(new), gradient)

    def _step(self) -> bool:
        """Go towards the solution for the present signs; whether a sign changed on the way."""
        goal = self._solve()
        direction = goal - self.b
        crossing = self.active & (self.sign * goal <= 0)
        if not crossing.any():
            self.b = goal
            return False
        # The objective along the line, at each point where a coefficient is zero.
        times = np.ones(len(goal))
        np.divide(-self.b, direction, out=times, where=crossing & (direction != 0))
        times = np.where(crossing, times.clip(0, 1), np.inf)
        points = np.unique(times[crossing])
        if self.signs is not None:
            points = points[points <= times[crossing & (self.signs != 0)].min(initial=np.inf)]
        ahead = self.gram @ direction
        slope, curvature = ahead @ self.b - self.target @ direction, ahead @ direction
        sizes = np.abs(self.b + points[:, None] * direction).sum(axis=1) - np.abs(self.b).sum()
        time = points[np.argmin(points * (slope + points * curvature / 2) + self.penalty * sizes)]
        # Coefficients that are zero and would leave with the wrong sign go too.
        drop = crossing & ((times == time) | (times == 0))
        if time == 0:
            self.stalled |= drop
        self.b += time * direction
        self.b[drop] = 0
        self.sign = np.where(self.b != 0, np.sign(self.b), self.sign)
        self._drop(np.flatnonzero(drop))
        return True

    def _solve(self) -> np.ndarray:
        """Return the coefficients where the gradient equals the penalty."""
        right = np.where(self.active, self.target - self.penalty * self.sign, 0.0)
        for fresh in (False, True):
            if fresh:
                self.inverse = self._spread(None)
            goal = self.inverse @ right
            for _ in range(4):
                residual = np.where(self.active, right - self.gram @ goal, 0.0)
                if np.abs(residual).max(initial=0.0) <= _REFINED * self.unit:
                    return goal
                goal = goal + self.inverse @ residual
        return goal

    def _add(self, new: np.ndarray, gradient: np.ndarray) -> None:
        """Let coefficients in: the inverse of a matrix bordered by new rows is the old one plus a product of low rank."""
        self.visits[new] += 1
        self.stalled[new[self.visits[new] > _VISITS]] = True
        border = self.inverse @ self.gram[:, new]
        corner = _inverse(self.gram[np.ix_(new, new)] - self.gram[new] @ border, self.gram.diagonal()[new])
        border[new, np.arange(len(new))] = -1
        self._update(1.0, border @ corner, border.T)
        self.active[new] = True
        self.sign[new] = np.sign(gradient[new])

    def _drop(self, old: np.ndarray) -> None:
        """Let coefficients go: what is taken off the inverse leaves zeros in their rows and columns."""
        border = self.inverse[:, old]
        self._update(-1.0, border, np.linalg.solve(border[old], border.T))
        self.inverse[old] = 0
        self.inverse[:, old] = 0
        self.active[old] = False
        self.sign[old] = 0

    def _update(self, sign: float, left: np.ndarray, right: np.ndarray) -> None:
        """Add a product to the inverse in place."""
        self.inverse = blas.dgemm(sign, left, right, 1.0, self.inverse, overwrite_c=True)

    def _spread(self, inverse: np.ndarray | None) -> np.ndarray:
        """Return the inverse of the Gram matrix of the active columns with zeros for the others, computed afresh if not given."""
        active = np.flatnonzero(self.active)
        full = np.zeros_like(self.gram, order="F")
        full[np.ix_(active, active)] = self.fresh(active) if inverse is None else inverse
        return full

    def fresh(self, columns: np.ndarray) -> np.ndarray:
        """Return the inverse of the Gram matrix of some columns."""
        return _inverse(self.gram[np.ix_(columns, columns)], self.gram.diagonal()[columns])


def violation(
    gradient: np.ndarray, penalty: float, signs: np.ndarray | None = None, unit: float | None = None
) -> np.ndarray:
    """Return by how much the gradient of each zero coefficient passes the penalty, (K,); 0 where its sign is not allowed.

    What is below ``TOLERANCE * unit`` (default: the penalty) counts as nothing.
    """
    size = np.abs(gradient) if signs is None else np.where(signs == 0, np.abs(gradient), gradient * signs)
    excess = size - penalty
    excess[excess <= TOLERANCE * (penalty if unit is None else unit)] = 0
    return excess


def _inverse(matrix: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the inverse of a positive semi-definite matrix, its diagonal lifted by a little of the scale."""
    if not len(matrix):
        return np.empty((0, 0))
    lift = _JITTER * scale
    while True:
        lifted = np.array(matrix, order="F")
        lifted.flat[:: len(matrix) + 1] += lift
        factor, failed = lapack.dpotrf(lifted, lower=1, overwrite_a=1)
        if not failed:
            break
        lift = lift * 100
    lower = np.tril(lapack.dpotri(factor, lower=1, overwrite_c=1)[0])
    return lower + np.tril(lower, -1).T
