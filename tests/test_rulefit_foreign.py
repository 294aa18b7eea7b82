"""The rules of models that others fitted predict what these models predict."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from rulefit_tools import odd_rules, odd_table
from sklearn import ensemble as e
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit import Linear, Rule, RuleSet

RECORDED = json.loads((Path(__file__).parent / "rulefit_peers.json").read_text())


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * max(1.0, np.abs(b).max()))


def numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"wind speed": rng.exponential(size=n), "size": rng.integers(0, 9, n), "flag": rng.random(n) < 0.4}
    )
    y = X["wind speed"] * np.where(X.flag, 2.0, -1.0) + X["size"] + rng.normal(scale=0.1, size=n)
    return X, y


def three(y):
    return np.array(["low", "mid", "top"])[np.digitize(y, np.quantile(y, [0.3, 0.6]))]


# ---- trees ------------------------------------------------------------------------------------

REGRESSORS = [
    DecisionTreeRegressor(max_leaf_nodes=9, random_state=0),
    e.RandomForestRegressor(7, max_depth=4, random_state=0),
    e.ExtraTreesRegressor(5, max_depth=4, random_state=0),
    e.GradientBoostingRegressor(n_estimators=15, random_state=0),
    e.HistGradientBoostingRegressor(max_iter=8),
    e.BaggingRegressor(DecisionTreeRegressor(max_depth=3), 5, random_state=0),
    DecisionTreeRegressor(max_depth=1),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("with_X", [True, False], ids=["with X", "without X"])
def test_rules_of_trees_predict_what_the_trees_predict(model, with_X):
    X, y = numbers()
    X = X.astype(float)
    model.fit(X, y)
    rules = RuleSet.from_model(model, X if with_X else None)
    fresh = numbers(500, seed=1)[0].astype(float)
    close(rules.predict(X)[0], model.predict(X))
    close(rules.predict(fresh)[0], model.predict(fresh))
    assert set(rules.features) <= set(X.columns)


def test_a_tree_has_one_rule_per_leaf_with_its_value():
    X, y = numbers()
    tree = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, y)
    leaves = tree.tree_.value[tree.tree_.children_left < 0].ravel()
    rules = RuleSet.from_model(tree)
    assert rules.intercept.tolist() == [0.0]
    assert sorted(rules.coefficients[0]) == pytest.approx(sorted(leaves))
    centred = RuleSet.from_model(tree, X, y)
    assert centred.intercept == pytest.approx([y.mean()])
    assert sorted(centred.coefficients[0] + y.mean()) == pytest.approx(sorted(leaves))
    assert sorted(centred.n) == sorted(tree.tree_.n_node_samples[tree.tree_.children_left < 0])
    assert centred.mean_inside[0] == pytest.approx(centred.coefficients[0] + y.mean())


@pytest.mark.parametrize(
    ("model", "link"),
    [
        (DecisionTreeClassifier(max_depth=3, random_state=0), "identity"),
        (e.RandomForestClassifier(5, max_depth=3, random_state=0), "identity"),
    ],
)
def test_classifiers_that_average_have_a_probability_per_class(model, link):
    X, y = numbers()
    model.fit(X, three(y))
    rules = RuleSet.from_model(model, X, three(y))
    assert (rules.link, rules.outputs) == (link, ("low", "mid", "top"))
    close(rules.predict(X).T, model.predict_proba(X))
    inside = [np.mean(three(y)[rule.mask(X)] == "mid") for rule in rules.terms]
    assert rules.mean_inside[1] == pytest.approx(inside)


@pytest.mark.parametrize(
    "model",
    [
        e.GradientBoostingClassifier(n_estimators=10, random_state=0),
        e.GradientBoostingClassifier(n_estimators=10, loss="exponential", random_state=0),
        e.HistGradientBoostingClassifier(max_iter=5),
    ],
)
def test_boosted_classes_are_log_odds_of_two(model):
    X, y = numbers()
    model.fit(X, three(y) == "top")
    rules = RuleSet.from_model(model, X, three(y) == "top")
    assert (rules.link, rules.classes) == ("logit", (False, True))
    close(rules.predict(X).T, model.predict_proba(X))


def test_boosted_classes_are_scores_of_more():
    X, y = numbers()
    model = e.GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, three(y))
    rules = RuleSet.from_model(model, X)
    assert rules.outputs == ("low", "mid", "top")
    scores = np.exp(rules.decision(X))
    close((scores / scores.sum(axis=0)).T, model.predict_proba(X))


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_boosters_of_other_libraries(library):
    kinds = pytest.importorskip(library, reason=f"{library} is not installed")
    X, y = numbers()
    X = X.astype(float)
    model = {
        "xgboost": lambda: kinds.XGBRegressor(n_estimators=6, max_depth=3),
        "lightgbm": lambda: kinds.LGBMRegressor(n_estimators=6, verbose=-1),
        "catboost": lambda: kinds.CatBoostRegressor(iterations=6, depth=3, verbose=False, allow_writing_files=False),
    }[library]().fit(X, y)
    answer = model.predict(X)
    np.testing.assert_allclose(RuleSet.from_model(model, X).predict(X)[0], answer, atol=1e-5 * np.abs(answer).max())


def test_cuts_are_short_where_x_shows_that_they_may_be():
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    texts = [rule.text for rule in RuleSet.from_model(tree, X).terms]
    assert any("2.45" in text or "0.8" in text for text in texts)
    assert max(map(len, texts)) < 70


def test_cuts_are_exact_without_x_even_where_float32_rounds():
    X = np.array([[2.0**24 - 2], [2.0**24], [2.0**24 + 2], [2.0**24 + 4]])
    tree = DecisionTreeRegressor().fit(X, [0, 1, 2, 3])
    rules = RuleSet.from_model(tree)
    near = np.array([np.nextafter(value, to) for value in (2.0**24 + np.arange(-4, 8) / 2) for to in (-np.inf, np.inf)])
    near = np.concatenate([near, 2.0**24 + np.arange(-4, 8)])[:, None]
    assert rules.predict(near)[0].tolist() == tree.predict(near).tolist()


def test_categories_flags_and_missing_values_are_written_as_such():
    X = odd_table(400)[["e", 'quo"ted', "sure", "rule", "größe"]]
    X['quo"ted'] = X['quo"ted'].astype("category")
    rng = np.random.default_rng(0)
    y = np.nan_to_num(X.e) * X.sure + 2 * (X['quo"ted'] == "GOOD") + X["größe"] + X.e.isna() + rng.normal(size=400) / 9
    model = e.HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype").fit(X, y)
    rules = RuleSet.from_model(model, X, y)
    close(rules.predict(X)[0], model.predict(X))
    texts = " ; ".join(rule.text for rule in rules.terms)
    assert "sure == True" in texts
    assert "größe == 1" in texts
    assert "'GOOD'" in texts
    assert "e.isna()" in texts
    with pytest.raises(InputError, match="codes of categories; give X"):
        RuleSet.from_model(model)


def test_arrays_are_named_by_position():
    X, y = numbers()
    tree = DecisionTreeRegressor(max_depth=3).fit(X.to_numpy(float), y)
    rules = RuleSet.from_model(tree)
    assert rules.feature_names == ("x0", "x1", "x2")
    close(rules.predict(X.to_numpy(float))[0], tree.predict(X.to_numpy(float)))


def test_a_constant_has_no_rules():
    rules = RuleSet.from_model(DecisionTreeRegressor().fit(np.zeros((4, 1)), [2.0] * 4))
    assert len(rules) == 0
    assert rules.predict(np.zeros((3, 1))).tolist() == [[2.0] * 3]


def test_what_has_no_rules_or_too_many_is_refused():
    X, y = numbers()
    forest = e.RandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=r"leaves in 5 trees, more than max_rules=100; raise max_rules"):
        RuleSet.from_model(forest, X, max_rules=100)
    with pytest.raises(InputError, match=r"LinearRegression is not a sum.*Explainer\(model, X\).rules\(\)"):
        RuleSet.from_model(LinearRegression().fit(X, y))
    with pytest.raises(InputError, match="pass its last step"):
        RuleSet.from_model(make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2)).fit(X, y))
    with pytest.raises(InputError, match="exp of a sum of trees"):
        RuleSet.from_model(e.HistGradientBoostingRegressor(loss="poisson", max_iter=2).fit(X, y - y.min()))
    with pytest.raises(InputError, match="X has 2 columns; DecisionTreeRegressor was fitted to 3"):
        RuleSet.from_model(DecisionTreeRegressor(max_depth=2).fit(X, y), X[["size", "flag"]])
    with pytest.raises(InputError, match="y is about the rows of X"):
        RuleSet.from_model(forest, y=y)


def test_a_rule_set_and_a_rulefit_are_what_they_are():
    rules = odd_rules(odd_table())
    assert RuleSet.from_model(rules) is rules
    assert RuleSet.from_model(SimpleNamespace(ruleset_=rules)) is rules


# ---- the RuleFits of other packages -----------------------------------------------------------


def _lines(record):
    winsorizer = SimpleNamespace(winsor_lims=np.array(record["winsor_lims"]))
    scale = SimpleNamespace(scale_multipliers=np.array(record["scale_multipliers"]), winsorizer=winsorizer)
    return {
        "friedscale": scale, "mean": np.array(record["mean"]), "stddev": np.array(record["stddev"]),
        "lin_standardise": record["lin_standardise"],
    }  # fmt: skip


def imodels_like(record):
    """Return an object with the attributes that imodels' RuleFit has, answering what it answered."""
    rules = [
        SimpleNamespace(
            agg_dict={(name, sign): bound for name, sign, bound in rule["conditions"]}, support=rule["support"]
        )
        for rule in record["rules"]
    ]
    model = SimpleNamespace(
        rules_without_feature_names_=rules, feature_placeholders=np.array(record["feature_placeholders"]),
        feature_names=np.array(record["feature_names"]), coef=record["coef"], intercept=np.array(record["intercept"]),
        **_lines(record),
    )  # fmt: skip
    answer = np.array(record["answer"])
    if "classes" in record:
        model.classes_ = np.array(record["classes"])
        model.predict_proba = lambda X: answer[: len(X)]
    else:
        model.predict = lambda X: answer[: len(X)]
    return model


def rulefit_like(record):
    """Return an object with the attributes that christophM's RuleFit has."""
    names = ("feature_index", "operator", "threshold")
    rules = [
        SimpleNamespace(conditions={SimpleCondition(**dict(zip(names, part, strict=True))) for part in rule})
        for rule in record["rules"]
    ]
    answer = np.array(record["answer"])
    return SimpleNamespace(
        rfmode=record["rfmode"], model_type=record["model_type"], coef_=np.array(record["coef_"]),
        intercept_=record["intercept_"], feature_names=record["feature_names"],
        rule_ensemble=SimpleNamespace(rules=rules), lscv=SimpleNamespace(classes_=np.array(record.get("classes", []))),
        predict=lambda X: answer[: len(X)], **_lines(record),
    )  # fmt: skip


class SimpleCondition(SimpleNamespace):
    __hash__ = object.__hash__


LIKE = {"imodels": imodels_like, "rulefit": rulefit_like}
TABLE = pd.DataFrame(RECORDED["X"], columns=RECORDED["names"])


@pytest.mark.parametrize("package", LIKE)
@pytest.mark.parametrize("with_X", [True, False], ids=["with X", "without X"])
def test_a_recorded_rulefit_predicts_what_it_predicted(package, with_X):
    record = RECORDED[f"{package}_number"]
    rules = RuleSet.from_model(LIKE[package](record), TABLE if with_X else None)
    close(rules.predict(TABLE)[0], record["answer"])
    assert rules.feature_names == tuple(RECORDED["names"])
    assert {type(term) for term in rules.terms} == {Rule, Linear}
    known = np.array([isinstance(term, Rule) for term in rules.terms])
    if with_X:
        close(rules.support[known], [rule.mask(TABLE).mean() for rule in rules.terms if isinstance(rule, Rule)])


def test_imodels_classes_keep_the_link_that_it_predicts_by():
    record = RECORDED["imodels_classes"]
    rules = RuleSet.from_model(imodels_like(record), TABLE, RECORDED["label"])
    close(rules.predict(TABLE).T, record["answer"])
    # It answers sigmoid(2 f - 1) of its sum f, which is not the sigmoid(f) that it was fitted as.
    fitted = 1 / (1 + np.exp(-(rules.decision(TABLE)[0] + 1) / 2))
    assert np.abs(rules.predict(TABLE)[1] - fitted).max() > 0.05


def test_rulefits_classes_are_its_own():
    record = RECORDED["rulefit_classes"]
    rules = RuleSet.from_model(rulefit_like(record), TABLE)
    close(rules.predict(TABLE).T, record["probability"])


def test_columns_of_true_and_false_are_levels():
    record = RECORDED["imodels_number"]
    flags = TABLE.assign(flag=TABLE.flag == 1)
    rules = RuleSet.from_model(imodels_like(record), flags)
    close(rules.predict(flags)[0], record["answer"])
    assert any(term.text == "flag == True" for term in rules.terms)


def test_rules_that_do_not_give_the_models_predictions_are_refused():
    model = imodels_like(RECORDED["imodels_number"])
    model.predict = lambda X: np.zeros(len(X))
    with pytest.raises(InputError, match="do not give its predictions on 80 of 80 rows"):
        RuleSet.from_model(model, TABLE)
    with pytest.raises(InputError, match="X has 3 columns; the model was fitted to 4"):
        RuleSet.from_model(model, TABLE.iloc[:, :3])


def test_the_real_imodels():
    imodels = pytest.importorskip("imodels", reason="imodels is not installed", exc_type=ImportError)
    X, y = TABLE.to_numpy(), np.array(RECORDED["y"])
    for options in ({}, {"include_linear": False}, {"lin_standardise": False}):
        model = imodels.RuleFitRegressor(max_rules=15, random_state=0, **options)
        model.fit(X, y, feature_names=RECORDED["names"])
        close(RuleSet.from_model(model, X).predict(X)[0], model.predict(X))
    model = imodels.RuleFitClassifier(max_rules=15, random_state=0)
    model.fit(X, y > np.median(y), feature_names=RECORDED["names"])
    close(RuleSet.from_model(model, TABLE).predict(TABLE).T, model.predict_proba(X))
