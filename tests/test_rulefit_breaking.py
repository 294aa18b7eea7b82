"""What random tables, targets, weights and parameters once broke in RuleFit, one test per kind."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, PredefinedSplit, ShuffleSplit

from pdp_widgets import RuleFitClassifier, RuleFitRegressor
from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.rows import row_weights
from pdp_widgets.rulefit import RuleSet
from pdp_widgets.rulefit.logistic import LogisticFits


def data(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    return X, 1.0 * (X.a > 0) + 0.1 * rng.normal(size=n)


def model(**options):
    return RuleFitRegressor(**{"max_rules": 20, "n_alphas": 20, "random_state": 0} | options)


@pytest.mark.parametrize("factor", [2.0**660, 2.0**-660, 2.0**1000])
def test_outcomes_whose_squares_are_no_numbers(factor):
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model().fit(X, y * factor)
        path = found.outputs_[0].path
        assert len(path.loss_mean) == len(path.loss_stderr) == len(path.alphas)
    np.testing.assert_allclose(found.predict(X) / factor, model().fit(X, y).predict(X), rtol=1e-9)


@pytest.mark.parametrize("winsorize", [0.025, None])
def test_numbers_without_a_finite_spread_have_rules_and_no_warnings(winsorize):
    X, y = data()
    X["b"] *= 1e300
    X["c"] = np.where(X.a > 0, np.inf, -np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = X.drop(columns="a")
        found = model(winsorize=winsorize).fit(X, y)
        found.explain_row(X, 0)
        found.ruleset_.with_support(X)
    assert np.corrcoef(found.predict(X), y)[0, 1] > 0.9
    assert not {term.text for term in found.ruleset_.terms} & {"b", "c"}


@pytest.mark.parametrize("value", [1e308, 5e-324])
def test_weights_whose_sum_is_no_number_are_equal_weights(value):
    X, _ = data(20)
    np.testing.assert_array_equal(row_weights(np.full(20, value), FeatureTable(X)), np.ones(20))


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(1, test_size=0.3, random_state=0),
        PredefinedSplit(np.r_[np.zeros(30, int), -np.ones(70, int)]),
        [(np.arange(100) >= 30, np.arange(100) < 30)],
    ],
    ids=["shuffle", "predefined", "masks"],
)
def test_one_split_chooses_the_penalty(cv):
    X, y = data()
    path = model(cv=cv).fit(X, y).outputs_[0].path
    assert path.losses.shape[1] == 1
    assert path.chosen == np.argmin(path.losses[:, 0])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "no folds"),
        ([1, 2], "does not split these rows"),
        ([(np.arange(50), np.arange(50, 200))], "out of bounds"),
        (GroupKFold(3), r"groups.*list\(GroupKFold"),
    ],
)
def test_folds_that_cannot_be_used_are_said(cv, message):
    with pytest.raises(InputError, match=message):
        model(cv=cv).fit(*data())


@pytest.mark.parametrize(
    "options",
    [
        {"max_rules": "5"}, {"max_rules": None}, {"max_rules": np.inf}, {"tree_size": np.inf}, {"tree_size": "4"},
        {"max_conditions": 2.5}, {"max_conditions": "2"}, {"learning_rate": None}, {"subsample": "x"},
        {"min_samples_leaf": "x"}, {"winsorize": "x"}, {"linear": None}, {"linear": 0}, {"alphas": ["x"]},
        {"monotonic_cst": 1}, {"monotonic_cst": "a"},
    ],
    ids=str,
)  # fmt: skip
def test_parameters_of_another_type_are_said_by_name(options):
    with pytest.raises(InputError, match=f"{next(iter(options))}=.*; expected"):
        model(**options).fit(*data())


def test_rules_are_no_trees_to_read_rules_from():
    with pytest.raises(InputError, match="RuleFitRegressor is a sum of rules"):
        model(tree_generator=RuleFitRegressor(max_rules=5)).fit(*data())


def test_one_row_is_too_few():
    X, y = data()
    with pytest.raises(InputError, match=r"X has 1 row;.*2 or more"):
        model().fit(X[:1], y[:1])


@pytest.mark.parametrize("kind", ["datetime64[s]", "timedelta64[s]"])
def test_dates_are_no_numbers_to_predict(kind):
    X, _ = data()
    with pytest.raises(InputError, match=r"y holds .*; convert"):
        model().fit(X, np.arange(100).astype(kind))


def test_no_penalty_on_classes_ends_after_a_few_looks():
    # A group of one class asks for a coefficient without a limit, and no gradient is ever exactly 0.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    y = (X[:, 0] > 0.8) ^ (rng.random(40) < 0.05)
    steps, newton = [], LogisticFits._newton

    def counted(self, fit, alpha, f, *rest):
        steps.append(fit)
        return newton(self, fit, alpha, f, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LogisticFits, "_newton", counted)
        found = RuleFitClassifier(max_rules=60, alphas=[0.0], cv=10, random_state=0).fit(X, y)
    assert np.isfinite(found.decision_function(X)).all()
    assert max(np.bincount(steps)) < 20


@pytest.mark.parametrize("base", [1.0, 2.0**53])
def test_columns_that_are_all_but_constant_have_rules_and_no_line(base):
    X, y = data()
    X = pd.DataFrame({"a": base * (1 + np.finfo(float).eps * (2 * (X.a > 0) + (X.b > 0)))})
    found = model().fit(X, y)
    assert [term.text for term in found.ruleset_.terms] != ["a"]
    assert np.corrcoef(found.predict(X), y)[0, 1] > 0.9
    back = RuleSet.from_frame(found.ruleset_.to_frame())
    np.testing.assert_allclose(back.predict(X)[0], found.predict(X), rtol=1e-12)


def test_fewer_terms_than_the_given_penalties_leave_are_refused():
    found = model(alphas=[1e-6]).fit(*data())
    fewest = len(found.ruleset_)
    assert fewest > 1
    assert len(found.with_n_terms(fewest).ruleset_) == fewest
    with pytest.raises(InputError, match=f"no fewer than {fewest}"):
        found.with_n_terms(fewest - 1)


def test_one_class_is_named_as_the_caller_knows_it():
    with pytest.raises(InputError, match="one class only, 'ill'"):
        RuleFitClassifier().fit(data()[0], np.repeat("ill", 100))


def test_a_row_of_an_unfitted_model_is_not_explained():
    with pytest.raises(NotFittedError):
        model().explain_row(data()[0], 0)
