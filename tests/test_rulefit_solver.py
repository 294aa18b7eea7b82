"""The lasso of a RuleFit against scikit-learn, duality, bounded optimisation and the reference of another package."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit import design as design_module
from pdp_widgets.rulefit.active_set import quadratic_lasso
from pdp_widgets.rulefit.design import Design
from pdp_widgets.rulefit.lasso import SquaredFits
from pdp_widgets.rulefit.select import OwnFold, Path, choose, fit_path

REFERENCE = REPOSITORY.parent / "shared" / "oracles" / "rulefit"


def sample(n=150, n_rules=60, n_linear=3, seed=0):
    """Overlapping rules of four features, some of them the features' own values."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    cuts = rng.uniform(size=(n_rules, 4)) * (rng.uniform(size=(n_rules, 4)) < 0.5)
    masks = (X[:, None, :] >= cuts).all(axis=2) ^ (rng.uniform(size=n_rules) < 0.3)
    y = 3 * X[:, 0] - 2 * (X[:, 1] > 0.4) * (X[:, 2] > 0.5) + rng.normal(size=n) * 0.3
    return masks, X[:, :n_linear] * 7 + 100, y


def dense(design):
    """All columns as the specification words them."""
    spread = design.factors
    return np.column_stack(
        [design.masks, (design.linear.T + design.offsets) if len(spread) else np.empty((design.n_rows, 0))]
    )


def objective(Z, y, weights, alpha, intercept, coef):
    rest = y - intercept - Z @ coef
    return weights @ rest**2 / (2 * weights.sum()) + alpha * np.abs(coef).sum()


def duality_gap(Z, y, weights, alpha, intercept, coef):
    """Objective less its dual, relative to it; the dual point is the residual, scaled until no column passes the penalty."""
    shares = weights / weights.sum()
    rest = y - intercept - Z @ coef
    rest = rest - shares @ rest
    centred = y - shares @ y
    largest = np.abs(Z.T @ (shares * rest)).max(initial=0.0)
    scale = min(1.0, alpha / largest) if largest else 1.0
    dual = scale * (shares * rest) @ centred - scale**2 / 2 * shares @ rest**2
    found = objective(Z, y, weights, alpha, intercept, coef)
    return (found - dual) / found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "n_rules"), [(150, 60), (60, 200)])
def test_objective_is_at_most_scikit_learns(weighted, n, n_rules):
    masks, values, y = sample(n, n_rules)
    weights = np.random.default_rng(1).uniform(0.1, 3, n) if weighted else np.ones(n)
    design = Design(masks, values, weights)
    Z = dense(design)
    path = fit_path(design, y, n_alphas=30)
    assert len(path.alphas) > 15
    for index in range(1, len(path.alphas), 3):
        alpha = path.alphas[index]
        intercept, coef = path.at(index)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it does not always reach its tolerance
            theirs = Lasso(alpha, tol=1e-10, max_iter=20_000).fit(Z, y, sample_weight=weights)
        ours = objective(Z, y, weights, alpha, intercept, coef)
        assert ours <= objective(Z, y, weights, alpha, theirs.intercept_, theirs.coef_) * (1 + 1e-9)
        assert duality_gap(Z, y, weights, alpha, intercept, coef) < 1e-8
        assert abs(weights @ (y - intercept - Z @ coef)) < 1e-10 * weights @ np.abs(y)


def test_path_starts_at_the_smallest_penalty_without_terms():
    masks, values, y = sample()
    design = Design(masks, values)
    Z = dense(design)
    path = fit_path(design, y)
    assert path.alphas[0] == pytest.approx(np.abs((Z - Z.mean(axis=0)).T @ (y - y.mean())).max() / len(y), rel=1e-12)
    assert path.n_terms()[0] == 0
    assert path.intercepts[0] == pytest.approx(y.mean())
    assert fit_path(design, y, alphas=[path.alphas[0] * 0.999]).n_terms()[0] >= 1
    assert (np.diff(path.alphas) < 0).all()
    assert path.losses.shape == (len(path.alphas), 0)
    assert np.isnan(path.loss_mean).all()


@pytest.mark.parametrize("factor", [1e-4, 1e-12, -1e9])
def test_scaled_targets_scale_the_coefficients(factor):
    masks, values, y = sample()
    design = Design(masks, values)
    path, scaled = fit_path(design, y, folds=folds_of(len(y))), fit_path(design, y * factor, folds=folds_of(len(y)))
    np.testing.assert_allclose(scaled.alphas, path.alphas * abs(factor), rtol=1e-12)
    assert scaled.chosen == path.chosen > 0
    (b0, b), (c0, c) = path.at(path.chosen), scaled.at(scaled.chosen)
    assert np.array_equal(b != 0, c != 0)
    np.testing.assert_allclose(c / factor, b, rtol=1e-6, atol=1e-9)
    assert c0 / factor == pytest.approx(b0)


def test_far_origins_keep_their_digits():
    masks, values, y = sample()
    near = fit_path(Design(masks, values), y, folds=folds_of(len(y)))
    far = fit_path(Design(masks, values + 1.6e12), y + 1e6, folds=folds_of(len(y)), alphas=near.alphas)
    np.testing.assert_allclose(far.loss_mean, near.loss_mean, rtol=1e-3)
    np.testing.assert_allclose(far.at(20)[1], near.at(20)[1], atol=1e-2)


def test_whole_weights_are_repeated_rows_and_no_weight_is_no_row():
    masks, values, y = sample()
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), weights)
    weighted, repeated = Design(masks, values, weights), Design(masks[again], values[again])
    label = np.arange(len(y)) % 5
    folds = [(np.flatnonzero(label != k), np.flatnonzero(label == k)) for k in range(5)]
    again_folds = [(np.flatnonzero(label[again] != k), np.flatnonzero(label[again] == k)) for k in range(5)]
    path = fit_path(weighted, y, folds=folds)
    other = fit_path(repeated, y[again], folds=again_folds)
    np.testing.assert_allclose(other.alphas[0], path.alphas[0], rtol=1e-12)
    size = min(len(path.alphas), len(other.alphas))
    np.testing.assert_allclose(other.coefficients[:size].toarray(), path.coefficients[:size].toarray(), atol=1e-6)
    np.testing.assert_allclose(other.loss_mean[:size], path.loss_mean[:size], rtol=1e-6)
    np.testing.assert_allclose(other.loss_stderr[:size], path.loss_stderr[:size], rtol=1e-5)
    assert other.chosen == path.chosen
    # Fractions of the same ratios take another way through the sums.
    third = fit_path(Design(masks, values, weights / 3), y, folds=folds)
    np.testing.assert_allclose(third.at(third.chosen)[1], path.at(path.chosen)[1], atol=1e-6)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_signs_are_kept_and_the_rest_is_optimal(share):
    masks, values, y = sample(n_rules=25)
    design = Design(masks, values)
    Z = dense(design)
    rng = np.random.default_rng(3)
    signs = rng.choice([-1, 1], Z.shape[1]) * (rng.uniform(size=Z.shape[1]) < share)
    path = fit_path(design, y, monotone=signs, n_alphas=12)
    coef = path.coefficients.toarray()
    assert (coef[:, signs > 0] >= 0).all()
    assert (coef[:, signs < 0] <= 0).all()
    assert (fit_path(design, y, alphas=path.alphas).coefficients.toarray() * signs < 0).any()
    assert path.n_terms()[0] == 0
    centred, target = Z - Z.mean(axis=0), y - y.mean()

    def split(both, alpha):
        """Positive and negative parts, each at least 0: a smooth problem within bounds."""
        rest = target - centred @ (both[: len(signs)] - both[len(signs) :])
        slope = centred.T @ rest / len(y)
        return rest @ rest / 2 / len(y) + alpha * both.sum(), np.concatenate([alpha - slope, alpha + slope])

    bounds = [(0, 0 if sign < 0 else None) for sign in signs] + [(0, 0 if sign > 0 else None) for sign in signs]
    for index in (3, 6, 9):
        theirs = minimize(
            split, np.zeros(2 * len(signs)), args=(path.alphas[index],), jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-14, "gtol": 1e-9},
        )  # fmt: skip
        ours = objective(Z, y, np.ones(len(y)), path.alphas[index], *path.at(index))
        assert ours <= theirs.fun * (1 + 1e-7)
        assert ours == pytest.approx(theirs.fun, rel=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_losses_are_those_of_separate_fits(weighted):
    masks, values, y = sample(600, 40)  # no two rules are alike on the training rows of a fold
    rng = np.random.default_rng(4)
    weights = rng.uniform(0.2, 2, len(y)) if weighted else np.ones(len(y))
    design = Design(masks, values, weights)
    # Folds need not be complements of one another.
    folds = [(rows[:400], rows[420:]) for rows in (rng.permutation(len(y)) for _ in range(3))]
    path = fit_path(design, y, folds=folds, n_alphas=20)
    for index, (train, test) in enumerate(folds):
        alone = Design(masks[train], values[train], weights[train], 0.4 / design.factors)
        fit = fit_path(alone, y[train], alphas=path.alphas)
        Z = dense(design)[test]
        fitted = fit.intercepts + Z @ fit.coefficients.toarray().T
        losses = np.average((y[test][:, None] - fitted) ** 2, axis=0, weights=weights[test])
        np.testing.assert_allclose(path.losses[:, index], losses, rtol=1e-6)
        others = Design(masks[test], values[test], weights[test], 0.4 / design.factors)
        own = fit_path(design, y, folds=[OwnFold(alone, y[train], others, y[test])], n_alphas=20)
        size = min(len(own.alphas), len(path.alphas))
        np.testing.assert_allclose(own.losses[:size, 0], losses[:size], rtol=1e-6)
    shares = np.array([weights[test].sum() for _, test in folds])
    mean = np.average(path.losses, axis=1, weights=shares)
    np.testing.assert_allclose(path.loss_mean, mean)
    np.testing.assert_allclose(
        path.loss_stderr, np.sqrt(np.average((path.losses - mean[:, None]) ** 2, axis=1, weights=shares) / 2)
    )


def test_path_stops_after_the_minimum_of_the_held_out_loss_and_not_before():
    masks, values, y = sample(300, 150)
    design = Design(masks, values)
    stopped = fit_path(design, y, folds=folds_of(300))
    whole = design_path(design, y)
    complete = fit_path(design, y, folds=folds_of(300), alphas=whole)
    assert len(stopped.alphas) < len(complete.alphas) == 100
    np.testing.assert_allclose(complete.alphas[: len(stopped.alphas)], stopped.alphas, rtol=1e-12)
    assert complete.loss_mean.argmin() == stopped.loss_mean.argmin()
    assert complete.chosen == stopped.chosen


def design_path(design, y):
    Z = dense(design)
    return np.abs((Z - Z.mean(axis=0)).T @ (y - y.mean())).max() / len(y) * np.geomspace(1, 1e-4, 100)


def folds_of(n, k=5):
    label = np.random.default_rng(99).permutation(n) % k
    return [(np.flatnonzero(label != fold), np.flatnonzero(label == fold)) for fold in range(k)]


def test_choosing_by_hand():
    alphas = np.array([8.0, 4.0, 2.0, 1.0])
    losses = np.array([[9.0, 7.0, 8.0], [5.0, 3.0, 5.5], [4.0, 3.0, 5.0], [4.0, 3.5, 5.0]])
    # Means 8, 4.5, 4, 4.17; standard error at the minimum sqrt(2/3 / 2) = 0.577.
    assert choose(alphas, losses, "min") == 2
    assert choose(alphas, losses, "1se") == 1
    # All weight on the second fold: no difference between penalties 4 and 2, and no error.
    assert choose(alphas, losses, "min", np.array([0.0, 1.0, 0.0])) == 1
    assert choose(alphas, np.column_stack([losses, np.full(4, np.nan)]), "1se") == 1
    assert choose(alphas, losses[:, :1], "1se") == choose(alphas, losses[:, :1], "min") == 2
    assert choose(alphas, losses[:, :0], "1se") == 3
    assert choose(alphas, np.full((4, 2), np.nan), "min") == 0
    with pytest.raises(InputError, match="did you mean '1se'"):
        choose(alphas, losses, "se1")


@pytest.mark.parametrize("seed", range(8))
def test_dependent_columns(seed):
    rng = np.random.default_rng(seed)
    masks, values, y = sample(40, 30, seed=seed)
    inner = masks[:, :10] & (values[:, :1] > 103)
    # Copies, complements, parts that add up to a whole, sums of linear terms.
    masks = np.hstack([masks, masks[:, :5], ~masks[:, 5:10], inner, masks[:, :10] & ~inner])
    values = np.hstack([values, values[:, :1] * 2 + 1, values[:, :1] + values[:, 1:2]])
    weights = rng.uniform(size=40) * (rng.uniform(size=40) < 0.8)
    for w in (None, weights):
        design = Design(masks, values, w)
        path = fit_path(design, y, alphas=design_path(design, y)[:90])
        for index in range(1, 90, 4):
            assert duality_gap(dense(design), y, design.weights, path.alphas[index], *path.at(index)) < 1e-6


def test_quadratic_without_penalty_is_least_squares():
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(50, 6))
    y = rng.normal(size=50)
    b, inverse = quadratic_lasso(Z.T @ Z, Z.T @ y, 0.0, np.zeros(6))
    np.testing.assert_allclose(b, np.linalg.lstsq(Z, y)[0], rtol=1e-8)
    np.testing.assert_allclose(inverse @ Z.T @ Z, np.eye(6), atol=1e-6)


@pytest.mark.parametrize(
    ("masks", "values", "y"),
    [
        (np.empty((6, 0)), None, np.arange(6.0)),
        (np.empty((6, 0)), np.empty((6, 0)), np.arange(6.0)),
        (np.arange(6)[:, None] > 2, None, np.full(6, 0.1)),
        (np.ones((6, 3)), np.full((6, 1), 1 / 3), np.arange(6.0)),
        (np.zeros((1, 2)), np.zeros((1, 1)), np.ones(1)),
    ],
    ids=["no columns", "no columns of either kind", "constant y", "constant columns", "one row"],
)
def test_only_an_intercept(masks, values, y):
    n = len(y)
    folds = [(np.arange(n)[1:], np.arange(n)[:1]), (np.arange(n)[:-1], np.arange(n)[-1:])]
    path = fit_path(Design(masks, values), y, folds=folds)
    assert path.at(path.chosen)[0] == pytest.approx(y.mean(), rel=1e-12)
    assert path.n_terms().sum() == 0
    assert np.isfinite(path.alphas).all()


def test_two_rows():
    design = Design(np.array([[True], [False]]), np.array([[1.0], [5.0]]))
    path = fit_path(design, np.array([3.0, 7.0]), folds=[([0], [1]), ([1], [0])])
    assert np.isfinite(path.losses).all()
    assert path.chosen == 0
    last = fit_path(design, np.array([3.0, 7.0]))
    np.testing.assert_allclose(last.intercepts[-1] + design.times(last.at(-1)[1]), [3, 7], atol=0.1)


def test_folds_that_cannot_be_used():
    masks, values, y = sample(20)
    weights = np.repeat([0.0, 1.0], 10)
    design = Design(masks, values, weights)
    nothing, rest = np.arange(10), np.arange(10, 20)
    path = fit_path(design, y, folds=[(nothing, rest), (rest, nothing)])
    assert np.isnan(path.losses).all()
    assert path.chosen == 0
    one = fit_path(design, y, folds=[(nothing, rest), (rest[:6], rest[6:])], selection="1se")
    assert np.isnan(one.losses[:, 0]).all()
    assert one.chosen == one.losses[:, 1].argmin()
    empty = fit_path(design, y, folds=[(rest, np.empty(0, dtype=int)), (np.empty(0, dtype=int), rest)])
    assert np.isnan(empty.loss_mean).all()


def test_a_design_is_what_it_says():
    masks, values, y = sample(50, 9)
    weights = np.random.default_rng(6).uniform(size=50)
    design = Design(masks, np.column_stack([values, np.full(50, 0.1)]), weights)
    mean = np.average(values, axis=0, weights=weights)
    sd = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))
    Z = np.column_stack([masks, 0.4 * values / sd, np.zeros(50)])
    centred = Z - np.where(np.arange(13) < 9, 0, np.average(Z, axis=0, weights=weights))
    coef = np.random.default_rng(7).normal(size=(13, 4))
    rows = np.array([4, 2, 30])
    np.testing.assert_allclose(design.times(coef), Z @ coef)
    np.testing.assert_allclose(design.times(coef[:, 0], rows), Z[rows] @ coef[:, 0])
    np.testing.assert_allclose(design.back(y), centred.T @ y, atol=1e-12)
    np.testing.assert_allclose(design.back(y, np.array([12, 3])), centred[:, [12, 3]].T @ y, atol=1e-12)
    np.testing.assert_allclose(design.gram(), centred.T * weights @ centred, atol=1e-12)
    columns = np.array([10, 0, 5])
    np.testing.assert_allclose(
        design.gram(columns, rows), centred[rows].T * weights[rows] @ centred[np.ix_(rows, columns)], atol=1e-12
    )
    np.testing.assert_allclose(design.means, np.average(Z, axis=0, weights=weights))
    np.testing.assert_allclose(design.unscaled(np.ones(13)), [*np.ones(9), *(0.4 / sd), 0])
    counts = Design(masks, values).gram()
    assert np.array_equal(counts[:9, :9], masks.T.astype(int) @ masks.astype(int))


def test_many_rules_are_never_floats_all_at_once(monkeypatch):
    masks, values, y = sample(40_000, 200)
    masks = np.asfortranarray(masks)
    kept = fit_path(Design(masks, values), y, folds=folds_of(40_000), n_alphas=8)
    monkeypatch.setattr(design_module, "_BLOCK", 100_000)
    monkeypatch.setattr(design_module, "_CACHE", 0)
    tracemalloc.start()
    path = fit_path(Design(masks, values), y, folds=folds_of(40_000), n_alphas=8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * masks.size  # single precision would take that alone
    np.testing.assert_allclose(path.coefficients.toarray(), kept.coefficients.toarray(), atol=1e-9)


def test_what_does_not_fit_is_told():
    masks, values, y = sample(20)
    design = Design(masks, values)
    for given, words in [
        ({"y": y[:5]}, "y has shape"),
        ({"y": np.where(np.arange(20) == 3, np.nan, y)}, "finite"),
        ({"family": "logit"}, "family 'logit'"),
        ({"family": "logistic"}, "other values than 0 and 1"),
        ({"selection": "max"}, "selection 'max'"),
        ({"monotone": np.ones(3)}, "monotone"),
        ({"monotone": np.full(63, 2)}, "monotone"),
        ({"alphas": [1.0, -1.0]}, "alphas"),
        ({"alphas": []}, "alphas"),
        ({"n_alphas": 0}, "n_alphas"),
    ]:
        with pytest.raises(InputError, match=words):
            fit_path(design, **{"y": y, **given})
    for arguments, words in [
        ((masks[0],), "dimensions"),
        ((masks, values[:3]), "values has shape"),
        ((masks, values * np.nan), "missing"),
        ((masks, values, -np.ones(20)), "negative"),
        ((masks, values, np.zeros(20)), "only zeros"),
        ((masks, values, np.ones(3)), "weights has shape"),
        ((masks, values, None, np.ones(2)), "scale has shape"),
        ((masks[:0], values[:0]), "no rows"),
    ]:
        with pytest.raises(InputError, match=words):
            Design(*arguments)


@pytest.fixture(scope="module")
def reference():
    """The design of another package's candidate terms, its coefficients on our scale, and its path."""
    if not REFERENCE.is_dir():
        pytest.skip(f"the reference fit is not in {REFERENCE}")
    table = pd.read_csv(REFERENCE / "bike3e_data.csv")
    terms = pd.read_csv(REFERENCE / "bike3e_terms.csv", index_col="rule")
    intercept, terms = terms.loc["(Intercept)"], terms.drop(index="(Intercept)")
    is_rule = terms.index.str.match(r"rule\d+$")
    masks = np.column_stack([mask_of(text, table) for text in terms.description[is_rule]])
    values = np.column_stack([values_of(name, text, table) for name, text in terms.description[~is_rule].items()])
    # There, indicators of levels keep their 0 and 1.
    numeric = terms.index[~is_rule].isin(table.columns)
    design = Design(masks, values, None, np.where(numeric, values.std(axis=0, ddof=1), 0.4))
    terms = pd.concat([terms[is_rule], terms[~is_rule]])
    return design, table["y"].to_numpy(float), intercept, terms, pd.read_csv(REFERENCE / "bike3e_path.csv")


def mask_of(text, table):
    """Read ``a <= 3 & weather %in% c("GOOD", "BAD")``."""
    found = np.ones(len(table), dtype=bool)
    for part in text.split(" & "):
        name, comparison, value = re.fullmatch(r"(\w+) (<=|>|%in%) (.+)", part).groups()
        if comparison == "%in%":
            found &= table[name].isin(re.findall(r'"([^"]*)"', value)).to_numpy()
        else:
            below = (table[name] <= float(value)).to_numpy()
            found &= below if comparison == "<=" else ~below
    return found


def values_of(name, text, table):
    """Read ``1000 <= x <= 7000`` as clipping, ``weatherBAD`` as one level of weather."""
    if limits := re.fullmatch(r"(\S+) <= (\w+) <= (\S+)", text):
        return np.clip(table[limits[2]].to_numpy(float), float(limits[1]), float(limits[3]))
    [column] = [column for column in table if name.startswith(column)]
    return (table[column] == name.removeprefix(column)).to_numpy(float)


@pytest.mark.parametrize("which", ["1se", "min"])
def test_reference_lasso(reference, which):
    design, y, intercept, terms, path = reference
    best = path["cvm"].argmin()
    index = best if which == "min" else int(np.flatnonzero(path["cvm"] <= path["cvm"][best] + path["cvsd"][best])[0])
    alpha = path["lambda"][index]
    scaled = terms[f"coef_{which}"].to_numpy() / design.unscaled(np.ones(design.n_columns))
    theirs = objective(dense(design), y, np.ones(len(y)), alpha, intercept[f"coef_{which}"], scaled)
    ours = fit_path(design, y, alphas=[alpha])
    found = objective(dense(design), y, np.ones(len(y)), alpha, *ours.at(0))
    assert found <= theirs
    assert found == pytest.approx(theirs, rel=5e-5)
    assert duality_gap(dense(design), y, np.ones(len(y)), alpha, *ours.at(0)) < 1e-9
    fitted = ours.intercepts[0] + design.times(ours.at(0)[1])
    their_fit = intercept[f"coef_{which}"] + design.times(scaled)
    assert np.abs(fitted - their_fit).max() < 0.02 * y.std()
    if which == "1se":
        np.testing.assert_allclose(their_fit, pd.read_csv(REFERENCE / "bike3e_pred_1se.csv")["pred"], rtol=1e-9)


def test_reference_path_starts_at_the_same_penalty(reference):
    design, y, _, _, path = reference
    assert fit_path(design, y, n_alphas=1).alphas[0] == pytest.approx(path["lambda"][0], rel=1e-12)
    assert fit_path(design, y, n_alphas=100).alphas[:10] == pytest.approx(path["lambda"][:10].to_numpy(), rel=1e-9)


def test_fits_share_the_columns_that_they_need():
    masks, values, y = sample(400, 300)
    fits = SquaredFits(Design(masks, values), y, [np.arange(400)])
    fits.advance(0, fits.largest(0) * np.geomspace(1, 0.3, 5))
    assert len(fits._columns) < 150


def test_a_path_reads_well():
    masks, values, y = sample()
    path = fit_path(Design(masks, values), y, folds=folds_of(150))
    assert isinstance(path, Path)
    assert path.n_terms().tolist() == [np.count_nonzero(row) for row in path.coefficients.toarray()]
    assert path.loss_mean.shape == path.loss_stderr.shape == path.alphas.shape
