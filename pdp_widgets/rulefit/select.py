"""The penalty of a RuleFit, chosen by cross-validation on given candidate terms, and the path of fits that it is chosen from.

How the fits are made is in ``lasso`` and ``logistic``; who makes the folds is the estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from pdp_widgets.inputs.errors import InputError, unknown_name

from .lasso import SquaredFits
from .logistic import LogisticFits

if TYPE_CHECKING:
    from .design import Design

Family = Literal["squared", "logistic"]
Selection = Literal["1se", "min"]

RATIO = 1e-4
"""The smallest penalty of a path relative to the largest."""
CHUNK = 4
"""Penalties between two looks at the held-out losses."""
PATIENCE = 6
"""Penalties past the best one before a path may stop for its held-out losses."""


@dataclass(frozen=True)
class Path:
    """Fits at decreasing penalties, and the one that was chosen.

    Coefficients are on the scale of the design; ``Design.unscaled`` turns them into those of the terms.
    """

    alphas: np.ndarray
    """(A,) penalties, decreasing; the first is the smallest with all coefficients 0, unless penalties were given."""
    coefficients: sparse.csr_array
    """(A, K)."""
    intercepts: np.ndarray
    """(A,)."""
    losses: np.ndarray
    """(A, folds) held-out mean loss: squared error or log-loss; NaN for folds that could not be fitted, no columns without folds."""
    chosen: int
    """Index of the chosen penalty."""
    fold_weights: np.ndarray | None = field(default=None, repr=False)
    """(folds,) weight of the held-out rows of each fold; None: equal."""

    @property
    def loss_mean(self) -> np.ndarray:
        """(A,) held-out loss, folds weighted by their rows; NaN without a usable fold."""
        return _summary(self.losses, self.fold_weights)[0]

    @property
    def loss_stderr(self) -> np.ndarray:
        """(A,) standard error of ``loss_mean`` over the folds; NaN with fewer than two usable ones."""
        return _summary(self.losses, self.fold_weights)[1]

    def n_terms(self) -> np.ndarray:
        """Return the number of non-zero coefficients at each penalty, (A,)."""
        return np.diff(self.coefficients.indptr)

    def at(self, alpha_index: int) -> tuple[float, np.ndarray]:
        """Return the intercept and all K coefficients at one penalty."""
        return float(self.intercepts[alpha_index]), self.coefficients[[alpha_index]].toarray()[0]


class OwnFold(NamedTuple):
    """A fold with candidate terms of its own, grown on its training rows."""

    train: Design
    y_train: np.ndarray
    test: Design
    """The same terms for the held-out rows, with the scale of the training rows."""
    y_test: np.ndarray
    monotone: np.ndarray | None = None


class _Fits(Protocol):
    """What both families offer."""

    usable: np.ndarray
    explained: np.ndarray

    def largest(self, fit: int) -> float: ...
    def advance(self, fit: int, alphas: np.ndarray) -> tuple[np.ndarray, sparse.csr_array]: ...


class _Fold(NamedTuple):
    """One fit whose losses are held out."""

    fits: _Fits
    fit: int
    design: Design
    rows: np.ndarray
    y: np.ndarray


def fit_path(
    design: Design,
    y: np.ndarray,
    *,
    family: Family = "squared",
    n_alphas: int = 100,
    alphas: np.ndarray | None = None,
    selection: Selection = "1se",
    folds: Sequence[tuple[np.ndarray, np.ndarray] | OwnFold] | None = None,
    monotone: np.ndarray | None = None,
) -> Path:
    """Fit a path of penalties and choose one by the held-out losses of folds.

    Squared error: ``1/(2 sum w) sum w (y - b0 - Z b)^2 + alpha |b|_1``; logistic:
    ``1/(sum w) sum w log(1 + exp(-s (b0 + Z b))) + alpha |b|_1`` with s = 1 for y = 1, else -1. The intercept b0 is free.

    Parameters
    ----------
    design
        The K columns Z of n rows, and their weights w.
    y
        (n,) numbers; of the logistic family 0 and 1.
    family
        "squared" or "logistic".
    n_alphas
        Number of penalties, evenly spaced on the log scale from the smallest one without terms to 1/10,000 of it. The path ends
        before that where the held-out loss has passed its minimum, or nothing is left to explain.
    alphas
        The penalties, instead; all of them are fitted.
    selection
        "min": the penalty of the smallest mean held-out loss; "1se": the largest penalty within one standard error of it
        (Breiman et al. 1984, section 3.4.3).
    folds
        Indices of training and held-out rows of each fold, or folds with terms of their own. None: the smallest penalty is chosen.
    monotone
        (K,) of -1, 0, 1: the sign that a coefficient may have, 0 for any.

    Raises
    ------
    InputError
        When y does not fit the design or the family, or an option is unknown.

    Examples
    --------
    >>> from pdp_widgets.rulefit.design import Design
    >>> rows = np.arange(100)
    >>> design = Design(np.stack([rows < 30, rows % 2 == 0], axis=1))
    >>> folds = [(rows[rows % 5 != fold], rows[rows % 5 == fold]) for fold in range(5)]
    >>> path = fit_path(design, 5.0 + 2.0 * (rows < 30) + 0.1 * np.sin(7 * rows), folds=folds)
    >>> intercept, coef = path.at(path.chosen)
    >>> round(intercept, 1), coef.round(1)
    (5.0, array([2., 0.]))
    """
    y, signs = _checked(design, y, family, selection, monotone)
    rows = np.arange(design.n_rows)
    own = [fold for fold in folds or () if isinstance(fold, OwnFold)]
    shared = [fold for fold in folds or () if not isinstance(fold, OwnFold)]
    fits = _fits(design, y, [rows, *(np.asarray(train) for train, _ in shared)], family, signs)
    held: list[_Fold] = [
        _Fold(fits, index, design, np.asarray(test), y[test]) for index, (_, test) in enumerate(shared, start=1)
    ]
    for fold in own:
        target, fold_signs = _checked(fold.train, fold.y_train, family, selection, fold.monotone)
        alone = _fits(fold.train, target, [np.arange(fold.train.n_rows)], family, fold_signs)
        held.append(_Fold(alone, 0, fold.test, np.arange(fold.test.n_rows), np.asarray(fold.y_test, dtype=float)))

    given = alphas is not None
    penalties = _penalties(alphas) if alphas is not None else _grid(fits.largest(0), n_alphas)
    weights = np.array([fold.design.weights[fold.rows].sum() for fold in held])
    usable = np.array([fold.fits.usable[fold.fit] for fold in held], dtype=bool) & (weights > 0)
    intercepts, coefficients, losses = [], [], []
    before = -np.inf
    for start in range(0, len(penalties), CHUNK):
        part = penalties[start : start + CHUNK]
        intercept, coefficient = fits.advance(0, part)
        intercepts.append(intercept)
        coefficients.append(coefficient)
        loss = np.full((len(part), len(held)), np.nan)
        for index in np.flatnonzero(usable):
            loss[:, index] = _held_out(held[index], part, family)
        losses.append(loss)
        now = float(fits.explained[0])
        if not given and (_exhausted(before, now, family, len(held)) or _passed(np.concatenate(losses), weights)):
            break
        before = now
    found = np.concatenate(losses)
    reached = penalties[: len(found)]
    weights_or_none = weights if held else None
    return Path(
        reached,
        sparse.csr_array(sparse.vstack(coefficients, format="csr")),
        np.concatenate(intercepts),
        found,
        choose(reached, found, selection, weights_or_none),
        weights_or_none,
    )


def choose(alphas: np.ndarray, losses: np.ndarray, selection: Selection, weights: np.ndarray | None = None) -> int:
    """Return the index of the penalty that held-out losses speak for.

    Parameters
    ----------
    alphas
        (A,) decreasing.
    losses
        (A, folds); folds with NaN do not count.
    selection
        "min" or "1se"; with fewer than two folds both are "min".
    weights
        (folds,) how much each fold counts; None: equally.

    Returns
    -------
    int
        Without any folds the last one, since nothing speaks against it. If no fold could be used the first one.

    Examples
    --------
    >>> choose(np.array([3.0, 2.0, 1.0]), np.array([[4.0, 5.0], [1.0, 3.0], [1.0, 2.0]]), "1se")
    1
    """
    if selection not in ("1se", "min"):
        raise unknown_name("selection", selection, ("1se", "min"), "a way to choose the penalty")
    if not losses.shape[1]:
        return len(alphas) - 1
    mean, stderr = _summary(losses, weights)
    if np.isnan(mean).all():
        return 0
    best = int(np.nanargmin(mean))
    if selection == "min" or np.isnan(stderr[best]):
        return best
    return int(np.flatnonzero(mean <= mean[best] + stderr[best])[0])


def _summary(losses: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error over the folds, (A,) each."""
    usable = ~np.isnan(losses).any(axis=0)
    known = losses[:, usable]
    unknown = np.full(len(losses), np.nan)
    if not known.shape[1]:
        return unknown, unknown
    shares = np.ones(known.shape[1]) if weights is None else weights[usable]
    shares = shares / shares.sum()
    mean = known @ shares
    if known.shape[1] < 2:
        return mean, unknown
    with np.errstate(invalid="ignore", over="ignore"):  # losses of huge outcomes may be infinite in their unit
        return mean, np.sqrt((known - mean[:, None]) ** 2 @ shares / (known.shape[1] - 1))


def _held_out(fold: _Fold, alphas: np.ndarray, family: Family) -> np.ndarray:
    """Go on to the next penalties with a fold and return its held-out mean losses, (A,)."""
    intercepts, coefficients = fold.fits.advance(fold.fit, alphas)
    fitted = intercepts + fold.design.times(coefficients.toarray().T, fold.rows)
    y = fold.y[:, None]
    losses = (y - fitted) ** 2 if family == "squared" else np.logaddexp(0, np.where(y > 0.5, -fitted, fitted))
    return np.average(losses, axis=0, weights=fold.design.weights[fold.rows])


def _passed(losses: np.ndarray, weights: np.ndarray) -> bool:
    """Return whether the held-out loss is clearly past its minimum."""
    mean, _ = _summary(losses, weights)
    if np.isnan(mean).all():
        return False
    best = int(np.argmin(mean))
    rise, error = (values.item() for values in _summary(losses[[-1]] - losses[[best]], weights))
    # The folds' losses rise together: their differences tell more than their standard errors.
    return len(losses) - 1 - best >= PATIENCE and rise > (0 if np.isnan(error) else error)


def _exhausted(before: float, now: float, family: Family, n_folds: int) -> bool:
    """Return whether hardly anything is left to explain (as glmnet judges), or for folds to tell apart."""
    if family == "squared" and n_folds:
        return now > 1 - 1e-6
    return now > 0.999 or (not n_folds and now - before < 1e-5 * CHUNK * now)


def _grid(largest: float, n_alphas: int) -> np.ndarray:
    """Return decreasing penalties; where even the first term explains nothing, only 0."""
    if n_alphas < 1:
        raise InputError(f"n_alphas is {n_alphas}; give at least 1")
    return largest * np.geomspace(1, RATIO, n_alphas) if largest > 0 else np.zeros(1)


def _penalties(alphas: object) -> np.ndarray:
    """Return given penalties, decreasing."""
    given = np.unique(np.asarray(alphas, dtype=float))[::-1]
    if not given.size or not np.isfinite(given).all() or given[-1] < 0:
        raise InputError(f"alphas is {alphas!r}; give one or more finite penalties of 0 and above")
    return given


def _fits(design: Design, y: np.ndarray, sets: Sequence[np.ndarray], family: Family, signs: np.ndarray | None) -> _Fits:
    kind = SquaredFits if family == "squared" else LogisticFits
    return kind(design, y, sets, signs)


def _checked(
    design: Design, y: object, family: str, selection: str, monotone: object
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return y and the signs as arrays that fit."""
    if family not in ("squared", "logistic"):
        raise unknown_name("family", family, ("squared", "logistic"), "a kind of loss")
    if selection not in ("1se", "min"):
        raise unknown_name("selection", selection, ("1se", "min"), "a way to choose the penalty")
    target = np.asarray(y, dtype=float)
    if target.shape != (design.n_rows,) or not np.isfinite(target).all():
        raise InputError(
            f"y has shape {target.shape}; give one finite number for each of the {design.n_rows} rows of the design"
        )
    if family == "logistic" and not np.isin(target, (0, 1)).all():
        raise InputError("y has other values than 0 and 1; the logistic family is about one class against the rest")
    if monotone is None:
        return target, None
    signs = np.asarray(monotone)
    if signs.shape != (design.n_columns,) or not np.isin(signs, (-1, 0, 1)).all():
        raise InputError(
            f"monotone must hold -1, 0 or 1 for each of the {design.n_columns} columns; got shape {signs.shape}"
        )
    return target, signs if signs.any() else None
