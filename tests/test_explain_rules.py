"""Rules of a model, of its surrogate and of the outcome, with the fidelity that is said along with them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rulefit_tools import odd_table
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit import Rule, RuleFitClassifier, RuleFitRegressor
from pdp_widgets.rulefit.stability import stability

FEW = {"max_rules": 60, "random_state": 0}


def weather(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"temp": rng.uniform(0, 30, n), "wind": rng.uniform(0, 10, n), "sky": rng.choice(["rain", "sun"], n)}
    )
    y = 20 + 2 * X.temp + 30 * ((X.temp > 20) & (X.sky == "sun")) - X.wind + rng.normal(scale=3, size=n)
    return X, y


def bikes(X):
    return 20 + 2 * X.temp + 30 * ((X.temp > 20) & (X.sky == "sun")) - X.wind


X, Y = weather()


@pytest.fixture(scope="module")
def surrogate():
    return Explainer(bikes, X).rules(max_rules=150)


# ---- surrogates -------------------------------------------------------------------------------


def test_a_surrogate_says_how_far_it_goes(surrogate):
    assert surrogate.kind == "surrogate"
    assert 0.97 < surrogate.fidelity < 1
    assert f"R2 {surrogate.fidelity:.2f} against the model, cross-validated" in repr(surrogate)
    assert "surrogate of bikes" in repr(surrogate)
    fresh, _ = weather(3000, seed=1)
    assert surrogate.fidelity == pytest.approx(r2_score(bikes(fresh), surrogate.estimator.predict(fresh)), abs=0.02)


def test_its_fidelity_is_that_of_refits_on_other_rows():
    noise = np.random.default_rng(0).normal(size=len(X))
    values = bikes(X) + 20 * noise

    known = dict(zip(X.temp, values, strict=True))
    found = Explainer(lambda rows: np.array([known[temp] for temp in rows.temp]), X).rules(**FEW)
    refitted = []
    for train, test in KFold(5, shuffle=True, random_state=1).split(X):
        fit = RuleFitRegressor(cv="honest", min_samples_leaf=5, **FEW).fit(X.iloc[train], values[train])
        refitted.append(np.mean((fit.predict(X.iloc[test]) - values[test]) ** 2))
    assert found.fidelity == pytest.approx(1 - np.mean(refitted) / values.var(), abs=0.05)
    assert found.fidelity < r2_score(values, found.estimator.predict(X))


def test_its_rules_find_what_the_model_does(surrogate):
    rule = surrogate.rules[0]
    assert set(rule.features) == {"temp", "sky"}
    planted = (X.temp > 20) & (X.sky == "sun")
    assert (rule.mask(X) == planted).mean() > 0.97
    frame = surrogate.to_frame()
    assert frame.kind[0] == "intercept"
    assert len(frame) == len(surrogate) + 1


def test_each_rule_is_a_subgroup(surrogate):
    explainer = Explainer(bikes, X)
    for rule in surrogate.rules:
        assert isinstance(rule, Rule)
        curve = explainer.partial_dependence("wind", subgroup=rule)
        assert curve.subgroup == rule.text
        inside = X[rule.mask(X)]
        by_hand = np.mean(bikes(inside.assign(wind=curve.grid_values[0][3])))
        assert curve.average[0, 3] == pytest.approx(by_hand)
        np.testing.assert_array_equal(explainer.mask(rule.text), rule.mask(X))


def test_fewer_terms_without_a_new_fit(surrogate):
    shorter = surrogate.with_n_terms(4)
    assert 1 <= len(shorter) <= 4
    assert surrogate.with_n_terms(1).fidelity < min(shorter.fidelity, surrogate.fidelity)
    again = Explainer(bikes, X).rules(max_rules=150, n_terms=4)
    assert again.fidelity == shorter.fidelity
    assert [term.text for term in again.ruleset.terms] == [term.text for term in shorter.ruleset.terms]
    nothing = surrogate.with_n_terms(0)
    assert len(nothing) == 0
    assert nothing.fidelity == pytest.approx(0, abs=0.02)


def test_importances_are_over_all_rows_or_a_subgroup(surrogate):
    rules = surrogate.ruleset
    hot = (X.temp > 20).to_numpy()
    found = surrogate.importance(subgroup="temp > 20").terms_local[0]
    design, centre = rules.design(X), rules.design(X).mean(axis=0)
    by_hand = np.abs(rules.coefficients[0]) * np.abs(design[hot] - centre).mean(axis=0)
    np.testing.assert_allclose(found, by_hand, rtol=1e-9)
    assert surrogate.importance().rows == len(X)
    assert surrogate.importance(surrogate.rules[0]).rows == surrogate.rules[0].mask(X).sum()


def test_weights_count_as_rows():
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = Explainer(bikes, X, sample_weight=weights).rules(**FEW)
    assert "weighted" in repr(weighted)
    own = RuleFitRegressor(cv="honest", min_samples_leaf=5, **FEW).fit(X, bikes(X), sample_weight=weights)
    np.testing.assert_allclose(weighted.ruleset.predict(X), own.ruleset_.predict(X), rtol=1e-6)


def test_a_subgroup_is_described_by_itself():
    found = Explainer(bikes, X).rules(subgroup="sky == 'sun'", **FEW)
    sunny = X[X.sky == "sun"]
    assert found.n_rows == len(sunny)
    assert found.subgroup == "sky == 'sun'"
    own = RuleFitRegressor(cv="honest", min_samples_leaf=5, **FEW).fit(sunny, bikes(sunny))
    np.testing.assert_allclose(found.ruleset.predict(X), own.ruleset_.predict(X), rtol=1e-6)
    assert found.importance().rows == len(sunny)


def test_an_output_is_described_on_the_scale_of_the_explainer():
    numbers = X[["temp", "wind"]]
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(numbers, np.digitize(Y, [40, 70]))
    probability = Explainer(model, numbers).rules(output=2, **FEW)
    assert probability.describes == "probability of 2"
    assert np.corrcoef(probability.ruleset.predict(X)[0], model.predict_proba(numbers)[:, 2])[0, 1] > 0.95
    score = Explainer(model, numbers, response="decision").rules(output=0, **FEW)
    assert np.corrcoef(score.ruleset.predict(X)[0], model.decision_function(numbers)[:, 0])[0, 1] > 0.95
    default = Explainer(model, numbers, output=1).rules(**FEW)
    assert default.describes == "probability of 1"


def test_only_columns_that_are_explained_are_named():
    found = Explainer(bikes, X, features=["temp"]).rules(**FEW)
    assert set(found.ruleset.features) == {"temp"}


def test_columns_of_a_group_are_named_one_by_one():
    coded = pd.get_dummies(X, columns=["sky"])
    explainer = Explainer(lambda T: 3.0 * T.sky_sun + T.temp, coded, features={"sky": ["sky_rain", "sky_sun"]})
    found = explainer.rules(**FEW)
    assert {"sky_rain", "sky_sun"} & set(found.ruleset.features)
    rule = next((rule for rule in found.rules if any(name.startswith("sky_") for name in rule.features)), None)
    if rule is not None:
        np.testing.assert_array_equal(explainer.mask(rule), rule.mask(coded))
    assert found.importance().rows == len(X)


def test_any_table_will_do():
    odd = odd_table(200)
    found = Explainer(lambda T: np.nan_to_num(T.e.to_numpy(float)) + (T['quo"ted'] == "GOOD"), odd).rules(**FEW)
    assert found.fidelity > 0.8
    array = X[["temp", "wind"]].to_numpy()
    assert Explainer(lambda a: a[:, 0] ** 2, array).rules(**FEW).ruleset.features == ("x0",)


def test_rows_without_an_answer_are_left_out():
    explainer = Explainer(lambda T: T.temp.where(T.temp > 3), X, nan_predictions="omit")
    assert explainer.rules(**FEW).n_rows == (X.temp > 3).sum()


def test_a_constant_model_has_no_rules():
    found = Explainer(lambda T: np.full(len(T), 2.0), X).rules(**FEW)
    assert (len(found), found.fidelity) == (0, 1.0)


def test_a_sample_of_the_rows_is_what_is_described():
    found = Explainer(bikes, X, Y, background=150).rules(**FEW)
    assert found.n_rows == 150
    outcome = Explainer(bikes, X, background=150).rules(Y, **FEW)
    again = Explainer(bikes, X, Y, background=150).rules(True, **FEW)
    np.testing.assert_array_equal(outcome.ruleset.predict(X), again.ruleset.predict(X))


# ---- the model itself -------------------------------------------------------------------------


def test_a_rulefit_is_its_own_explanation():
    model = RuleFitRegressor(**FEW).fit(X, Y)
    found = Explainer(model, X, Y).rules()
    assert (found.kind, found.fidelity) == ("model", 1.0)
    assert found.ruleset is model.ruleset_
    assert found.estimator is model
    assert "the model itself, RuleFitRegressor" in repr(found)
    few = found.with_n_terms(3)
    assert len(few) <= 3
    assert [term.text for term in found.at_step(few.estimator.penalties_[0]).ruleset.terms] == [
        term.text for term in few.ruleset.terms
    ]
    assert Explainer(model, X, Y).rules(subgroup="temp > 20").with_n_terms(3).fidelity < 1
    by_hand = r2_score(model.predict(X), model.with_n_terms(3).predict(X))
    assert few.fidelity == pytest.approx(by_hand)
    assert found.importance("temp > 20").rows == (X.temp > 20).sum()
    assert Explainer(model, X).rules(subgroup="temp > 20").importance().rows == (X.temp > 20).sum()


def test_its_curves_are_exact_sums():
    model = RuleFitClassifier(**FEW).fit(X, np.digitize(Y, [40, 70]))
    by_trees, by_model = (Explainer(model, X, method=method) for method in ("trees", "model"))
    for feature in X.columns:
        exact, asked = (one.partial_dependence(feature).average for one in (by_trees, by_model))
        np.testing.assert_allclose(exact, asked, rtol=0, atol=1e-12)


def test_behind_steps_rules_are_about_what_the_last_step_sees():
    numbers = X[["temp", "wind"]]
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, RuleFitRegressor(**FEW)).fit(numbers, Y)
    explainer = Explainer(model, numbers)
    found = explainer.rules()
    assert found.kind == "model"
    assert repr(found).endswith("columns as its last step sees them>")
    for rule, term in zip(found.rules, sorted_rules(found), strict=True):
        np.testing.assert_array_equal(explainer.mask(rule), term.mask(model[0].transform(numbers)))
        explainer.partial_dependence("temp", subgroup=rule)
    mixed = make_pipeline(PolynomialFeatures(2), RuleFitRegressor(**FEW)).fit(numbers, Y)
    assert Explainer(mixed, numbers).rules(**FEW).kind == "surrogate"


def sorted_rules(found):
    frame = found.to_frame().query("kind == 'rule'")
    by_text = {term.text: term for term in found.ruleset.terms}
    return [by_text[text] for text in frame.text]


def test_a_function_of_a_rulefits_answer_is_no_sum_of_its_rules():
    model = RuleFitRegressor(**FEW).fit(X, Y)
    squared = Explainer(model, X, response=lambda model, rows: model.predict(rows) ** 2)
    assert squared.rules(**FEW).kind == "surrogate"


# ---- the outcome ------------------------------------------------------------------------------


def test_rules_of_the_outcome():
    found = Explainer(bikes, X, Y).rules(True, max_rules=100)
    assert found.kind == "outcome"
    assert "the outcome" in repr(found)
    fresh, y = weather(3000, seed=1)
    assert found.fidelity == pytest.approx(r2_score(y, found.estimator.predict(fresh)), abs=0.03)


def classes_of(names):
    return np.array(names)[np.digitize(Y, np.quantile(Y, np.arange(1, len(names)) / len(names)))]


def test_rules_of_two_classes():
    labels = classes_of(["cold", "warm"])
    found = Explainer(bikes, X).rules(labels, **FEW)
    assert (found.ruleset.link, found.describes) == ("logit", "log-odds of warm")
    assert f"share of the log-loss {found.fidelity:.2f} explained" in repr(found)
    lost = whole = 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, labels):
        model = RuleFitClassifier(**FEW).fit(X.iloc[train], labels[train])
        lost += log_loss(labels[test], model.predict_proba(X.iloc[test]), labels=["cold", "warm"])
        whole += log_loss(labels[test], np.full((len(test), 2), 0.5), labels=["cold", "warm"])
    assert found.fidelity == pytest.approx(1 - lost / whole, abs=0.06)


def test_rules_of_three_classes():
    found = Explainer(bikes, X).rules(classes_of(["cold", "mild", "warm"]), **FEW)
    assert (found.ruleset.link, found.describes) == ("ovr", "log-odds of cold, mild, warm")
    # Of the three binary log-losses together, on the rows that the rules know: better than on others, but not by much.
    odds, shares = found.ruleset.decision(X), found.target.mean(axis=1, keepdims=True)
    lost = np.logaddexp(0, np.where(found.target == 1, -odds, odds)).mean(axis=1).sum()
    whole = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).sum()
    assert 0.4 < found.fidelity < 1 - lost / whole < found.fidelity + 0.15


def test_numbers_are_classes_where_the_model_has_classes():
    numbers, label = X[["temp", "wind"]], (Y > 50).astype(int)
    classifier = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(numbers, label)
    assert Explainer(classifier, numbers, label).rules(True, **FEW).ruleset.link == "logit"
    regressor = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(numbers, label)
    assert Explainer(regressor, numbers, label).rules(True, **FEW).ruleset.link == "identity"


# ---- what is refused --------------------------------------------------------------------------


# ---- stability --------------------------------------------------------------------------------


def test_a_surrogate_is_fitted_again_to_what_it_imitates():
    part = np.arange(len(X)) % 4 > 0
    weights = np.arange(len(X)) % 2 + 1.0
    found = Explainer(bikes, X, sample_weight=weights).rules(max_rules=40, subgroup=part, n_terms=12)
    expected = stability(
        found.estimator, X[part], bikes(X)[part], sample_weight=weights[part], refits=2, random_state=7
    )
    again = found.stability(refits=2, random_state=7)
    np.testing.assert_array_equal(again.terms, expected.terms)
    assert [term.text for term in again.rules.terms] == [term.text for term in found.ruleset.terms]


def test_the_outcome_and_a_models_own_rules_are_fitted_again_to_the_outcome():
    y = np.where(Y.median() < Y, "many", "few")
    model = RuleFitClassifier(**FEW).fit(X, y)
    explainer = Explainer(model, X, y)
    expected = stability(model, X, y, refits=2)
    np.testing.assert_array_equal(explainer.rules().stability(refits=2).terms, expected.terms)
    outcome = explainer.rules(y=True, max_rules=40)
    np.testing.assert_array_equal(outcome.stability(refits=2).terms, stability(outcome.estimator, X, y, refits=2).terms)


def test_what_cannot_be_fitted_again_is_said():
    model = RuleFitRegressor(**FEW).fit(X, Y)
    with pytest.raises(InputError, match="takes the outcome"):
        Explainer(model, X).rules().stability()
    found = Explainer(model, X, Y).rules()
    with pytest.raises(InputError, match="only a RuleFit of this package"):
        replace(found, estimator=LinearRegression()).stability()


def test_what_cannot_be_is_said():
    explainer = Explainer(bikes, X)
    with pytest.raises(InputError, match=r"it has none: Explainer\(model, X, y\)"):
        explainer.rules(True)
    with pytest.raises(InputError, match=r"tree_sizes.*tree_size"):
        explainer.rules(tree_sizes=3)
    with pytest.raises(InputError, match="max_rules=0"):
        explainer.rules(max_rules=0)
    with pytest.raises(InputError, match="holds none of the"):
        explainer.rules(subgroup="temp > 99")
    with pytest.raises(InputError, match="y has shape"):
        explainer.rules(np.zeros((len(X), 2)))
    with pytest.raises(InputError, match="y has shape"):
        explainer.rules(np.zeros(3))


def test_text_from_data_is_shown_as_text():
    hostile = X.rename(columns={"temp": "<b>temp</b>"})
    html = Explainer(lambda T: T["<b>temp</b>"], hostile).rules(**FEW)._repr_html_()
    assert "<b>temp" not in html
    assert "against the model, cross-validated" in html
