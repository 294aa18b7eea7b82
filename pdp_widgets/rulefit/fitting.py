"""Fitting one output of a RuleFit: candidates, their path of penalties, and the penalty that cross-validation chooses.

What the caller's X and y are, and how several classes go together, is the estimators' business.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .design import Design
from .evaluation import Evaluation
from .harvest import Candidates, candidates
from .select import OwnFold, Path, fit_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .grow import Family
    from .table import Table
    from .terms import Term

Selection = Literal["1se", "min"]
Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Recipe:
    """How an output is fitted: the estimators' parameters, checked."""

    growing: Mapping[str, Any]
    """Options of ``candidates``."""
    alphas: np.ndarray | None
    n_alphas: int
    selection: Selection
    folds: Folds
    honest: bool
    """Whether each fold grows rules of its own."""


@dataclass(frozen=True)
class Output:
    """One fitted output: all candidate terms, and their coefficients at every penalty."""

    terms: tuple[Term, ...]
    """(K,)"""
    path: Path
    """Penalties and losses in the unit of the outcome, coefficients on the scale of the design."""
    factor: np.ndarray
    """(K,) what brings a coefficient of the path to the original scale."""
    n: np.ndarray = field(repr=False)
    """(K,) training rows that a rule holds for, NaN for linear terms."""
    inside: np.ndarray = field(repr=False)
    """(K,) mean outcome of those rows."""
    outside: np.ndarray = field(repr=False)

    def at(self, penalty: int) -> tuple[float, np.ndarray]:
        """Return the intercept and the (K,) coefficients on the original scale at one penalty of the path."""
        intercept, coefficients = self.path.at(penalty)
        return intercept, coefficients * self.factor


def fit_output(
    table: Table, X: Any, y: np.ndarray, weights: np.ndarray | None, family: Family, recipe: Recipe,
    seed: np.random.SeedSequence,
) -> Output:  # fmt: skip
    """Fit one output.

    Parameters
    ----------
    table : Table
        The columns of the training rows.
    X : FeatureTable
        The n training rows.
    y : (n,) array
        Numbers, or 0 and 1 if the family is "logistic".
    weights : (n,) array, optional
    family : {"squared", "logistic"}
    recipe : Recipe
    seed : numpy.random.SeedSequence
        What all randomness comes from.
    """
    # Numbers are fitted in standard units, so that nothing depends on the unit that they came in.
    centre, unit = _scale(y, weights) if family == "squared" else (0.0, 1.0)
    target = (y - centre) / unit
    first, *rest = seed.spawn(1 + len(recipe.folds))
    found = candidates(table, X, target, weights, family=family, rng=np.random.default_rng(first), **recipe.growing)
    design = _design(found, weights)
    options: dict[str, Any] = {"family": family, "n_alphas": recipe.n_alphas, "selection": recipe.selection}
    options["alphas"] = None if recipe.alphas is None else recipe.alphas / unit
    options["monotone"] = found.signs if found.signs.any() else None
    folds: list[Any] = recipe.folds
    if recipe.honest:
        folds = [
            _own_fold(table, X, target, weights, family, recipe.growing, fold, fold_seed)
            for fold, fold_seed in zip(folds, rest, strict=True)
        ]
    path = fit_path(design, target, folds=folds, **options)
    with np.errstate(over="ignore"):
        losses = path.losses * np.square(unit)
    path = replace(path, alphas=path.alphas * unit, losses=losses,
                   intercepts=path.intercepts * unit + centre, coefficients=path.coefficients * unit)  # fmt: skip
    count, inside, outside = _outcomes(found.masks, y, weights)
    unknown = np.full(len(found.linear), np.nan)
    return Output(
        (*found.rules, *found.linear),
        path,
        design.unscaled(np.ones(design.n_columns)),
        *(np.concatenate([of_rules, unknown]) for of_rules in (count, inside, outside)),
    )


def _scale(y: np.ndarray, weights: np.ndarray | None) -> tuple[float, float]:
    """Return weighted mean and standard deviation, 1 for an outcome that is constant but for rounding."""
    largest = float(np.abs(y).max(initial=0.0)) or 1.0
    values = y / largest  # squares of huge or tiny numbers are no numbers
    mean = float(np.average(values, weights=weights))
    sd = float(np.sqrt(np.average(np.square(values - mean), weights=weights)))
    return mean * largest, sd * largest if sd > 8 * np.finfo(float).eps else 1.0


def _design(found: Candidates, weights: np.ndarray | None) -> Design:
    return Design(found.masks, found.values, weights, np.array([term.sd for term in found.linear]))


def _own_fold(
    table: Table, X: Any, y: np.ndarray, weights: np.ndarray | None, family: Family, growing: Mapping[str, Any],
    fold: tuple[np.ndarray, np.ndarray], seed: np.random.SeedSequence,
) -> OwnFold:  # fmt: skip
    """Return a fold with rules that have not seen its held-out rows."""
    train, test = fold
    inside, outside = (None if weights is None else weights[part] for part in fold)
    rng = np.random.default_rng(seed)
    found = candidates(table, X.take(train), y[train], inside, family=family, rng=rng, **growing)
    rows = X.take(test)
    look = Evaluation(rows, found.rules)
    masks = np.empty((len(test), len(found.rules)), dtype=bool, order="F")
    for k, rule in enumerate(found.rules):
        masks[:, k] = look.values(rule)
    values = np.empty((len(test), len(found.linear)))
    for k, term in enumerate(found.linear):
        values[:, k] = term.values(rows)
    scale = np.array([term.sd for term in found.linear])
    held_out = Design(masks, values, outside, scale)
    return OwnFold(_design(found, inside), y[train], held_out, y[test], found.signs if found.signs.any() else None)


def _outcomes(
    masks: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how many rows each rule holds for, (R,), and the weighted mean outcome of those and of the others."""
    share = np.ones(len(y)) if weights is None else weights
    count = np.count_nonzero(masks, axis=0).astype(float)
    inside, total = (_products(masks, vector) for vector in (share, share * y))
    with np.errstate(invalid="ignore", divide="ignore"):
        return count, total / inside, ((share * y).sum() - total) / (share.sum() - inside)


def _products(masks: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return ``masks.T @ vector`` block by block: as floats all masks at once would take eight times their room."""
    out = np.empty(masks.shape[1])
    for start in range(0, len(out), 256):
        block = masks[:, start : start + 256]
        out[start : start + 256] = vector @ block.astype(float)
    return out


def common_terms(outputs: Sequence[Output]) -> tuple[tuple[Term, ...], list[np.ndarray]]:
    """Return the distinct terms of several outputs, and where each output's own terms stand among them."""
    places: dict[Term, int] = {}
    own = [np.array([places.setdefault(term, len(places)) for term in output.terms], dtype=int) for output in outputs]
    return tuple(places), own
