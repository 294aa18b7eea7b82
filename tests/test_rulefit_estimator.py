"""RuleFitRegressor and RuleFitClassifier: scikit-learn's interface, and the inputs that break other tools."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_friedman1
from sklearn.ensemble import AdaBoostRegressor, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from pdp_widgets import RuleFitClassifier, RuleFitRegressor, RuleSet
from pdp_widgets.inputs import InputError

SMALL = {"max_rules": 20, "n_alphas": 10, "cv": 2, "random_state": 0}


def not_equal_by_weights(_):
    return {
        "check_sample_weight_equivalence_on_dense_data": "each tree is grown on a random part of the rows, and repeated rows "
        "are more rows; coefficients of given rules are equal (test_whole_weights_are_repeated_rows)"
    }


@parametrize_with_checks(
    [RuleFitRegressor(**SMALL), RuleFitClassifier(**SMALL)], expected_failed_checks=not_equal_by_weights
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def mixed(n=400, seed=0):
    """A table of all kinds, with missing values and odd names."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "body mass": rng.normal(70, 10, n),
            "e": rng.choice(["a", "b", "c"], n),
            "rule": pd.Categorical(rng.choice(["low", "high"], n), ["low", "high"], ordered=True),
            "it's": rng.random(n) < 0.3,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
            "n": rng.integers(0, 6, n),
        }
    )
    X.loc[rng.random(n) < 0.2, "body mass"] = np.nan
    X.loc[rng.random(n) < 0.1, "e"] = None
    mass = X["body mass"].fillna(100)
    y = 3.0 * ((mass > 75) & (X["e"] == "a")) + 2.0 * X["it's"] - 1.0 * (X["n"] == 2) + 0.3 * rng.normal(size=n)
    return X, y.to_numpy()


# ---- R1, R6: classes --------------------------------------------------------------------------------------------------


def test_mean_probability_is_the_base_rate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (rng.random(600) < 0.3 + 0.3 * (X[:, 0] > 0.5)).astype(int)
    model = RuleFitClassifier(max_rules=200, random_state=0).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-3)
    f = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-f)), atol=1e-15)
    assert (model.predict(X) == (f > 0)).all()


def test_three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = load_iris().target_names[y]
    model = RuleFitClassifier(max_rules=200, random_state=0).fit(X, names)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    assert model.score(X, names) > 0.93
    assert model.decision_function(X).shape == (150, 3)
    assert model.ruleset_.outputs == ("setosa", "versicolor", "virginica")
    assert set(model.rules_["output"]) == set(model.classes_)
    assert model.coef_.shape == (3, len(model.ruleset_))
    odds = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(proba, odds / odds.sum(axis=1, keepdims=True), atol=1e-12)


def test_class_weights_are_sample_weights():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :5], y[:200]
    options = {"max_rules": 60, "random_state": 0, "n_alphas": 30}
    weights = np.where(y == 0, 3.0, 1.0)
    by_class = RuleFitClassifier(class_weight={0: 3.0, 1: 1.0}, **options).fit(X, y)
    by_row = RuleFitClassifier(**options).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), atol=1e-12)
    balanced = RuleFitClassifier(class_weight="balanced", **options).fit(X, y)
    share = np.where(y == 0, 0.5 / (y == 0).mean(), 0.5 / (y == 1).mean())
    assert np.average(balanced.predict_proba(X)[:, 1], weights=share) == pytest.approx(0.5, abs=1e-3)


# ---- R2 - R5: rules of trees ----------------------------------------------------------------------------------------


def test_all_nodes_but_the_root_are_rules():
    X, y = make_friedman1(500, n_features=5, noise=0.1, random_state=0)
    tree = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0)
    model = RuleFitRegressor(tree_generator=tree, linear="none", random_state=0)
    model.fit(X, y)
    fitted = clone(tree).fit(X, y).tree_
    terms = model.outputs_[0].terms
    # Both children of the root are nodes; since one holds where the other does not, one of them is enough.
    told = {term.text for term in terms} | {text for term in terms for text in term.also}
    assert fitted.node_count - 1 == 6
    assert len(terms) == 5
    root = fitted.feature[0]
    assert any(term.features == (f"x{root}",) and len(term.conditions) == 1 for term in terms)
    assert len(told) >= 5
    for term in terms:
        assert term.support == pytest.approx(term.mask(X).mean())


@pytest.mark.parametrize("factor", [1e-4, 1e6])
def test_the_unit_of_the_outcome_does_not_matter(factor):
    X, y = make_friedman1(300, n_features=6, noise=1, random_state=0)
    model = RuleFitRegressor(max_rules=100, random_state=0).fit(X, y)
    other = RuleFitRegressor(max_rules=100, random_state=0).fit(X, y * factor)
    assert [t.text for t in model.ruleset_.terms] == [t.text for t in other.ruleset_.terms]
    np.testing.assert_allclose(other.coef_, model.coef_ * factor, rtol=1e-6, atol=1e-9 * factor)
    np.testing.assert_allclose(other.alpha_, model.alpha_ * factor, rtol=1e-9)


def test_a_rare_flag_keeps_its_linear_term():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"flag": (np.arange(1000) % 100 == 0).astype(int), "x": rng.normal(size=1000)})
    model = RuleFitRegressor(max_rules=10, random_state=0, selection="min").fit(X, 5.0 * X["flag"] + 0.01 * X["x"])
    (term,) = [t for t in model.outputs_[0].terms if t.features == ("flag",) and not hasattr(t, "conditions")]
    assert term.sd == pytest.approx(X["flag"].std(ddof=0))
    np.testing.assert_allclose(model.predict(X), 5.0 * X["flag"] + 0.01 * X["x"], atol=0.1)


# ---- R7, R12, R13: tables, and the table of rules ---------------------------------------------------------------------


def test_tables_of_all_kinds_are_taken_as_they_are_and_the_rules_alone_predict():
    X, y = mixed()
    before = X.copy(deep=True)
    model = RuleFitRegressor(max_rules=300, random_state=0).fit(X, y)
    pd.testing.assert_frame_equal(X, before)
    fresh, truth = mixed(seed=1)
    assert model.score(fresh, truth) > 0.8
    assert list(model.feature_names_in_) == list(X.columns)
    written = io.StringIO()
    model.rules_.to_csv(written, index=False)
    written.seek(0)
    again = RuleSet.from_frame(pd.read_csv(written))
    np.testing.assert_allclose(again.predict(fresh)[0], model.predict(fresh), atol=1e-10)
    assert set(model.rules_["kind"]) <= {"intercept", "rule", "linear"}
    importances = dict(zip(X.columns, model.feature_importances_, strict=True))
    assert sum(importances.values()) == pytest.approx(1)
    assert importances["e"] > importances["rule"]  # names are no substrings of texts
    for term in model.ruleset_.terms:
        if hasattr(term, "mask"):
            assert term.mask(X).mean() == pytest.approx(term.support)
    unseen = fresh.assign(e="never seen")
    assert np.isfinite(model.predict(unseen)).all()


def test_arrays_of_objects_and_lists_are_tables_too():
    X, y = mixed(100)
    X = X[["body mass", "e"]]
    options = {"max_rules": 50, "random_state": 0, "n_alphas": 20}
    frame = RuleFitRegressor(**options).fit(X, y)
    array = RuleFitRegressor(**options).fit(X.to_numpy(), y)
    rows = RuleFitRegressor(**options).fit(X.to_numpy().tolist(), y)
    np.testing.assert_allclose(array.predict(X.to_numpy()), frame.predict(X), atol=1e-9)
    np.testing.assert_allclose(rows.predict(X.to_numpy().tolist()), frame.predict(X), atol=1e-9)


# ---- R8: almost nothing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.arange(50.0)[:, None], np.full(50, 3.0)),
        (np.zeros((50, 1)), np.arange(50.0)),
        (np.arange(8.0)[:, None], np.arange(8.0) ** 2),
        (np.array([[0.0], [1.0]]), np.array([1.0, 2.0])),
    ],
)
def test_almost_no_data(X, y):
    model = RuleFitRegressor(max_rules=1, random_state=0).fit(X, y)
    predicted = model.predict(X)
    assert np.isfinite(predicted).all()
    assert predicted.mean() == pytest.approx(y.mean())
    assert len(model.rules_) == len(model.ruleset_) + 1


def test_one_class_only_is_said():
    with pytest.raises(InputError, match="one class only"):
        RuleFitClassifier().fit(np.arange(10.0)[:, None], np.ones(10))


# ---- R9 - R11: habits of scikit-learn ----------------------------------------------------------------------------------


def test_the_generator_is_cloned_and_the_global_generator_untouched():
    X, y = make_friedman1(200, n_features=5, random_state=0)
    forest = RandomForestRegressor(7, max_depth=3)
    params = copy.deepcopy(forest.get_params())
    np.random.seed(3)  # noqa: NPY002 - the global generator is what is tested
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    a = RuleFitRegressor(tree_generator=forest, random_state=1).fit(X, y)
    b = RuleFitRegressor(tree_generator=forest, random_state=1).fit(X, y)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert forest.get_params() == params
    assert not hasattr(forest, "estimators_")
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize(
    "generator",
    [
        RandomForestRegressor(5, max_depth=3),
        GradientBoostingRegressor(n_estimators=10),
        AdaBoostRegressor(n_estimators=5),
    ],
)
def test_trees_of_other_ensembles(generator):
    X, y = make_friedman1(300, n_features=5, noise=0.5, random_state=0)
    model = RuleFitRegressor(tree_generator=generator, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
    assert any(hasattr(term, "conditions") for term in model.ruleset_.terms)


def test_parameters_can_be_set_searched_and_pickled():
    X, y = make_friedman1(150, n_features=5, noise=0.5, random_state=0)
    model = RuleFitRegressor(**SMALL).set_params(max_rules=30, linear="none")
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y)
    assert all(hasattr(term, "conditions") for term in model.ruleset_.terms)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.with_n_terms(3).rules_.shape[0] <= 4
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RuleFitRegressor(**SMALL)), {"rulefitregressor__tree_size": [2.5, 4]}, cv=2
    )
    assert search.fit(X, y).best_score_ > 0.3


# ---- R14 - R17: equal rules, weights, texts ----------------------------------------------------------------------------


def test_the_same_feature_twice_is_one_rule_that_names_the_other():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=300)
    X = pd.DataFrame({"a": x, "b": x, "noise": rng.uniform(size=300)})
    model = RuleFitRegressor(max_rules=300, random_state=0, linear="none").fit(X, 1.0 * (x > 0.5))
    masks = [term.mask(X).tobytes() for term in model.outputs_[0].terms]
    assert len(set(masks)) == len(masks)
    assert any(
        "b" in text.split() for term in model.outputs_[0].terms if "a" in term.features for text in term.also
    ) or any("a" in text.split() for term in model.outputs_[0].terms if "b" in term.features for text in term.also)


@pytest.mark.parametrize("kind", [RuleFitRegressor, RuleFitClassifier])
def test_whole_weights_are_repeated_rows(kind):
    """Of one tree grown on all rows, where nothing is drawn."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 3))
    y = 2.0 * (X[:, 0] > 0.5) + X[:, 1] + 0.1 * rng.normal(size=120)
    y = y if kind is RuleFitRegressor else (y + rng.normal(size=120) > 1.2).astype(int)
    times = rng.integers(1, 4, 120)
    rows = np.repeat(np.arange(120), times)
    generator = (DecisionTreeRegressor if kind is RuleFitRegressor else RandomForestClassifier)(
        max_depth=2,
        **({} if kind is RuleFitRegressor else {"n_estimators": 1, "bootstrap": False, "max_features": None}),
    )
    fold = np.arange(120) % 3
    options = {"tree_generator": generator, "random_state": 0, "n_alphas": 20}
    weighted = kind(cv=[(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)], **options).fit(
        X, y, sample_weight=times
    )
    repeated = kind(
        cv=[(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)], **options
    ).fit(X[rows], y[rows])
    assert [t.text for t in weighted.ruleset_.terms] == [t.text for t in repeated.ruleset_.terms]
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-6)


def test_two_values_are_told_apart_by_equality():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"gender": rng.integers(0, 2, 300), "x": rng.uniform(size=300)})
    y = 3.0 * ((X["gender"] == 1) & (X["x"] > 0.5))
    model = RuleFitRegressor(max_rules=100, linear="none", random_state=0).fit(X, y)
    texts = " | ".join(term.text for term in model.ruleset_.terms)
    assert "gender == 1" in texts
    assert "gender >" not in texts
    assert "gender <" not in texts


# ---- the path ----------------------------------------------------------------------------------------------------------


def test_fewer_terms_without_another_fit():
    X, y = make_friedman1(400, n_features=6, noise=1, random_state=0)
    model = RuleFitRegressor(max_rules=200, random_state=0).fit(X, y)
    steps = model.n_terms_on_path_
    assert steps[0] == 0
    for k in (0, 3, 10):
        less = model.with_n_terms(k)
        assert len(less.ruleset_) <= k
        assert len(less.ruleset_) == steps[less.penalties_[0]]
    assert model.with_n_terms(0).predict(X) == pytest.approx(np.full(len(X), y.mean()))
    assert len(model.ruleset_) == steps[model.penalties_[0]]  # itself as it was
    same = model.at_step(model.penalties_[0])
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    with pytest.raises(InputError, match="steps 0 to"):
        model.at_step(10_000)


def test_every_step_of_the_path_is_the_lasso_of_its_terms():
    X, y = make_friedman1(300, n_features=5, noise=1, random_state=0)
    model = RuleFitRegressor(max_rules=60, random_state=0).fit(X, y)
    (output,) = model.outputs_
    values = np.column_stack([t.mask(X) if hasattr(t, "mask") else t.values(X) * 0.4 / t.sd for t in output.terms])
    for step in (5, 20, model.penalties_[0]):
        alpha = output.path.alphas[step]
        reference = Lasso(alpha=alpha, tol=1e-10, max_iter=100_000).fit(values, y)
        ours = model.at_step(step).predict(X)

        def objective(fitted, coef, alpha=alpha):
            return np.square(y - fitted).mean() / 2 + alpha * np.abs(coef).sum()

        best = objective(reference.predict(values), reference.coef_)
        _, coef = output.path.at(step)
        assert objective(ours, coef) <= best * (1 + 1e-6)


def test_honest_folds_grow_their_own_rules():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 10)), rng.normal(size=200)  # nothing to be found
    naive = RuleFitRegressor(max_rules=300, random_state=0, selection="min").fit(X, y)
    honest = RuleFitRegressor(max_rules=300, random_state=0, selection="min", cv="honest").fit(X, y)
    assert len(honest.ruleset_) < len(naive.ruleset_)
    assert np.nanmin(honest.outputs_[0].path.loss_mean) > np.nanmin(naive.outputs_[0].path.loss_mean)
    labels = RuleFitClassifier(max_rules=100, random_state=0, cv="honest").fit(X, (y > 0).astype(int))
    assert np.isfinite(labels.outputs_[0].path.loss_mean).any()


def test_monotone_features_only_rise():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(400, 3)), columns=["up", "down", "free"])
    y = X["up"] - X["down"] + np.sin(12 * X["free"]) + rng.normal(0, 0.7, 400)
    model = RuleFitRegressor(max_rules=300, random_state=0, monotonic_cst={"up": 1, "down": -1}).fit(X, y)
    line = np.linspace(0, 1, 60)
    for name, sign in (("up", 1), ("down", -1)):
        for row in range(0, 400, 40):
            moved = pd.DataFrame([X.iloc[row]] * 60).assign(**{name: line})
            assert (np.diff(model.predict(moved)) * sign >= -1e-9).all()


# ---- reading -----------------------------------------------------------------------------------------------------------


def test_contributions_of_a_row_add_up():
    X, y = mixed()
    model = RuleFitRegressor(max_rules=100, random_state=0).fit(X, y)
    found = model.explain_row(X, 7)
    assert found.contributions[0].sum() + model.intercept_ == pytest.approx(model.predict(X)[7], abs=1e-12)


def test_terms_are_features_for_other_models():
    X, y = mixed()
    model = RuleFitRegressor(max_rules=100, random_state=0).fit(X, y)
    values = model.transform(X)
    assert list(model.get_feature_names_out()) == [term.text for term in model.ruleset_.terms]
    np.testing.assert_allclose(values @ model.coef_ + model.intercept_, model.predict(X), atol=1e-9)


def test_outcomes_inside_and_outside_are_means():
    X, y = mixed()
    model = RuleFitRegressor(max_rules=100, random_state=0).fit(X, y)
    for term, inside, outside, n in zip(
        model.ruleset_.terms,
        model.ruleset_.mean_inside[0],
        model.ruleset_.mean_outside[0],
        model.ruleset_.n,
        strict=True,
    ):
        if hasattr(term, "mask"):
            mask = term.mask(X)
            assert (inside, outside, n) == (pytest.approx(y[mask].mean()), pytest.approx(y[~mask].mean()), mask.sum())


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": "1sd"}, "did you mean '1se'"),
        ({"cv": "onest"}, "honest"),
        ({"cv": 1}, "2 or more folds"),
        ({"alphas": [-1.0]}, "not negative"),
        ({"n_alphas": 0}, "1 or more"),
        ({"monotonic_cst": {"x9": 1}}, "x9"),
        ({"linear": "some"}, "linear"),
        ({"winsorize": 0.7}, "winsorize"),
    ],
)
def test_wrong_parameters_are_said_at_fit(options, message):
    X, y = make_friedman1(60, n_features=5, random_state=0)
    with pytest.raises(InputError, match=message):
        RuleFitRegressor(max_rules=10, **options).fit(X, y)


def test_given_penalties_and_folds_are_used():
    X, y = make_friedman1(120, n_features=5, noise=0.5, random_state=0)
    model = RuleFitRegressor(max_rules=30, random_state=0, alphas=[0.5, 0.1], cv=KFold(3)).fit(X, y)
    np.testing.assert_allclose(model.outputs_[0].path.alphas, [0.5, 0.1])
    assert model.outputs_[0].path.losses.shape == (2, 3)


def test_another_table_at_prediction_is_said():
    X, y = mixed()
    model = RuleFitRegressor(max_rules=50, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="n"):
        model.predict(X.drop(columns="n"))
    with pytest.raises(InputError, match="held numbers"):
        model.predict(X.assign(**{"body mass": "heavy"}))
