"""The L1 logistic path of a RuleFit against duality, bounded optimisation and a proximal method written here."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from test_rulefit_solver import dense, folds_of, sample

from pdp_widgets.rulefit.design import Design
from pdp_widgets.rulefit.select import OwnFold, fit_path


def classes(y, seed=0):
    """Noisy labels, more likely where y is large."""
    return (np.random.default_rng(seed).uniform(size=len(y)) < expit(3 * (y - y.mean()))).astype(float)


def objective(Z, y, weights, alpha, intercept, coef):
    f = intercept + Z @ coef
    return weights @ np.logaddexp(0, np.where(y == 1, -f, f)) / weights.sum() + alpha * np.abs(coef).sum()


def duality_gap(Z, y, weights, alpha, intercept, coef):
    """Objective less its dual, relative to it: the mean entropy of probabilities p with |Z'(y - p)| <= alpha."""
    shares = weights / weights.sum()
    rest = y - expit(intercept + Z @ coef)
    largest = np.abs((Z - shares @ Z).T @ (shares * rest)).max(initial=0.0)
    p = (y - min(1.0, alpha / largest) * rest)[weights > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nan_to_num(p * np.log(p)) - np.nan_to_num((1 - p) * np.log1p(-p))
    found = objective(Z, y, weights, alpha, intercept, coef)
    return (found - shares[weights > 0] @ entropy) / found


def proximal(Z, y, weights, alpha, steps=20_000):
    """FISTA with restarts (Beck & Teboulle 2009; O'Donoghue & Candes 2015), the intercept a column without penalty."""
    shares = weights / weights.sum()
    columns = np.column_stack([np.ones(len(y)), Z - shares @ Z])
    limit = np.linalg.eigvalsh(columns.T * shares @ columns)[-1] / 4
    penalty = np.r_[0, np.full(Z.shape[1], alpha)] / limit
    b = ahead = np.zeros(columns.shape[1])
    momentum = 1.0
    for _ in range(steps):
        moved = ahead - columns.T @ (shares * (expit(columns @ ahead) - y)) / limit
        new = np.sign(moved) * np.maximum(np.abs(moved) - penalty, 0)
        if (ahead - new) @ (new - b) > 0:
            momentum = 1.0
        later = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, b, momentum = new + (momentum - 1) / later * (new - b), new, later
    return b[0] - shares @ Z @ b[1:], b[1:]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "n_rules"), [(200, 50), (80, 200)])
def test_gap_is_closed(weighted, n, n_rules):
    masks, values, y = sample(n, n_rules)
    y = classes(y)
    weights = np.random.default_rng(1).uniform(0.1, 3, n) if weighted else np.ones(n)
    design = Design(masks, values, weights)
    Z = dense(design)
    path = fit_path(design, y, family="logistic", n_alphas=40)
    assert len(path.alphas) > 20
    assert path.n_terms()[0] == 0
    share = np.average(y, weights=weights)
    assert path.intercepts[0] == pytest.approx(np.log(share / (1 - share)))
    for index in range(len(path.alphas)):
        assert duality_gap(Z, y, weights, path.alphas[index], *path.at(index)) < 1e-6
        fitted = expit(path.intercepts[index] + Z @ path.at(index)[1])
        assert np.average(fitted, weights=weights) == pytest.approx(share, abs=1e-8)  # the base rate is kept


@pytest.mark.parametrize("weighted", [False, True])
def test_objective_is_at_most_that_of_a_proximal_method(weighted):
    masks, values, y = sample(200, 30)
    y = classes(y)
    weights = np.random.default_rng(2).uniform(0.1, 3, 200) if weighted else np.ones(200)
    design = Design(masks, values, weights)
    Z = dense(design)
    path = fit_path(design, y, family="logistic", n_alphas=30)
    for index in (3, 8, 13):
        alpha = path.alphas[index]
        ours = objective(Z, y, weights, alpha, *path.at(index))
        theirs = objective(Z, y, weights, alpha, *proximal(Z, y, weights, alpha))
        assert ours <= theirs * (1 + 1e-9)
        assert ours == pytest.approx(theirs, rel=1e-5)


def test_signs_are_kept_and_the_rest_is_optimal():
    masks, values, y = sample(200, 25)
    y = classes(y)
    design = Design(masks, values)
    Z = dense(design)
    rng = np.random.default_rng(3)
    signs = rng.choice([-1, 0, 1], Z.shape[1])
    path = fit_path(design, y, family="logistic", monotone=signs, n_alphas=25)
    assert not (path.coefficients.toarray() * signs < 0).any()
    assert (fit_path(design, y, family="logistic", alphas=path.alphas).coefficients.toarray() * signs < 0).any()
    Z -= Z.mean(axis=0)

    def split(both, alpha):
        """Positive and negative parts, each at least 0, and the intercept: a smooth problem within bounds."""
        up, down, free = both[: len(signs)], both[len(signs) : -1], both[-1]
        f = free + Z @ (up - down)
        rest = (y - expit(f)) / len(y)
        slope = Z.T @ rest
        loss = np.logaddexp(0, np.where(y == 1, -f, f)).mean() + alpha * (up.sum() + down.sum())
        return loss, np.concatenate([alpha - slope, alpha + slope, [-rest.sum()]])

    bounds = [(0, 0 if sign < 0 else None) for sign in signs] + [(0, 0 if sign > 0 else None) for sign in signs]
    for index in (4, 9, 14):
        theirs = minimize(
            split, np.zeros(2 * len(signs) + 1), args=(path.alphas[index],), jac=True, method="L-BFGS-B",
            bounds=[*bounds, (None, None)], options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-14, "gtol": 1e-9},
        )  # fmt: skip
        ours = objective(dense(design), y, np.ones(len(y)), path.alphas[index], *path.at(index))
        assert ours <= theirs.fun * (1 + 1e-8)
        assert ours == pytest.approx(theirs.fun, rel=1e-4)


def test_swapped_classes_swap_the_signs():
    masks, values, y = sample(200, 30)
    y = classes(y)
    design = Design(masks, values)
    path, other = (fit_path(design, target, family="logistic", n_alphas=15) for target in (y, 1 - y))
    np.testing.assert_allclose(other.coefficients.toarray(), -path.coefficients.toarray(), atol=1e-5)
    np.testing.assert_allclose(other.intercepts, -path.intercepts, atol=1e-5)


def test_whole_weights_are_repeated_rows_and_no_weight_is_no_row():
    masks, values, y = sample(300, 30)
    y = classes(y)
    weights = np.random.default_rng(4).integers(0, 4, 300)
    again = np.repeat(np.arange(300), weights)
    label = np.arange(300) % 5
    folds = [(np.flatnonzero(label != k), np.flatnonzero(label == k)) for k in range(5)]
    again_folds = [(np.flatnonzero(label[again] != k), np.flatnonzero(label[again] == k)) for k in range(5)]
    path = fit_path(Design(masks, values, weights), y, family="logistic", folds=folds)
    other = fit_path(Design(masks[again], values[again]), y[again], family="logistic", folds=again_folds)
    size = min(len(path.alphas), len(other.alphas))
    np.testing.assert_allclose(other.coefficients[:size].toarray(), path.coefficients[:size].toarray(), atol=1e-6)
    np.testing.assert_allclose(other.loss_mean[:size], path.loss_mean[:size], rtol=1e-6)
    assert other.chosen == path.chosen > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_losses_are_those_of_separate_fits(weighted):
    masks, values, y = sample(600, 40)
    y = classes(y)
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.2, 2, 600) if weighted else np.ones(600)
    design = Design(masks, values, weights)
    folds = [(rows[:400], rows[420:]) for rows in (rng.permutation(600) for _ in range(2))]
    path = fit_path(design, y, family="logistic", folds=folds, n_alphas=25)
    for index, (train, test) in enumerate(folds):
        alone = Design(masks[train], values[train], weights[train], 0.4 / design.factors)
        fit = fit_path(alone, y[train], family="logistic", alphas=path.alphas)
        p = expit(fit.intercepts + dense(design)[test] @ fit.coefficients.toarray().T)
        losses = -np.average(np.where(y[test][:, None] == 1, np.log(p), np.log1p(-p)), axis=0, weights=weights[test])
        np.testing.assert_allclose(path.losses[:, index], losses, rtol=1e-6)
        others = Design(masks[test], values[test], weights[test], 0.4 / design.factors)
        own = fit_path(design, y, family="logistic", folds=[OwnFold(alone, y[train], others, y[test])], n_alphas=25)
        size = min(len(own.alphas), len(path.alphas))
        np.testing.assert_allclose(own.losses[:size, 0], losses[:size], rtol=1e-6)


@pytest.mark.parametrize("alphas", [None, np.geomspace(0.3, 1e-8, 50), [0.0]])
def test_separable_classes_end_well(alphas):
    masks, values, y = sample(100, 40)
    y = (y > 1).astype(float)
    design = Design(masks, np.column_stack([values, y]))
    path = fit_path(design, y, family="logistic", folds=folds_of(100), alphas=alphas)
    assert np.isfinite(path.coefficients.toarray()).all()
    assert np.isfinite(path.losses).all()
    assert np.isfinite(path.intercepts).all()
    fitted = path.intercepts[-1] + design.times(path.at(-1)[1])
    assert ((fitted > 0) == (y == 1)).all()
    if alphas is None:
        assert len(path.alphas) < 100
        assert path.loss_mean[path.chosen] < 0.1


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_class_is_an_intercept(value):
    masks, values, _ = sample(30)
    path = fit_path(Design(masks, values), np.full(30, value), family="logistic", folds=folds_of(30))
    intercept, coef = path.at(path.chosen)
    assert expit(intercept) == pytest.approx(value, abs=1e-9)
    assert np.isfinite(intercept)
    assert not coef.any()


def test_few_rows_and_columns():
    nothing = fit_path(Design(np.empty((8, 0))), np.arange(8) % 4 > 2, family="logistic", folds=folds_of(8, 2))
    assert expit(nothing.at(nothing.chosen)[0]) == pytest.approx(0.25)
    two = fit_path(Design([[True], [False]]), [1, 0], family="logistic", folds=[([0], [1]), ([1], [0])])
    assert np.isnan(two.losses).all()  # one class in each fold
    assert two.chosen == 0
    constant = fit_path(Design(np.ones((8, 2)), np.full((8, 1), 0.1)), np.arange(8) % 2, family="logistic")
    assert constant.n_terms().sum() == 0


@pytest.mark.parametrize("seed", range(4))
def test_dependent_columns(seed):
    rng = np.random.default_rng(seed)
    masks, values, y = sample(80, 30, seed=seed)
    y = classes(y, seed)
    inner = masks[:, :10] & (values[:, :1] > 103)
    masks = np.hstack([masks, masks[:, :5], ~masks[:, 5:10], inner, masks[:, :10] & ~inner])
    weights = rng.uniform(size=80) * (rng.uniform(size=80) < 0.8)
    design = Design(masks, np.hstack([values, values[:, :1] * 2 + 1]), weights)
    path = fit_path(design, y, family="logistic", n_alphas=40)
    for index in range(1, len(path.alphas), 3):
        assert duality_gap(dense(design), y, weights, path.alphas[index], *path.at(index)) < 1e-6
