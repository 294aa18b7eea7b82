"""A rule set is read as a sum of trees and lines: its explanations are those of its own predictions, to rounding."""

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from rulefit_tools import HOSTILE, odd_rules, odd_table
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.conditions import Levels, Missing, Range
from pdp_widgets.rulefit import Linear, Rule, RuleFitClassifier, RuleFitRegressor, RuleSet
from pdp_widgets.rulefit.as_trees import read_rules
from pdp_widgets.rulefit.evaluation import conditions_of
from pdp_widgets.trees.ensemble import UnreadableError, stack
from pdp_widgets.trees.lines import NO_LINES, Lines
from pdp_widgets.trees.reading import read


class Regressor(RegressorMixin, BaseEstimator):
    """Predicts by a rule set, and reads itself."""

    def __init__(self, rules):
        self.rules = rules

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.rules.predict(X)[0]

    def _as_trees(self, method):
        return read_rules(self.rules, self.rules.table, method, type(self).__name__)


class Classifier(ClassifierMixin, BaseEstimator):
    def __init__(self, rules):
        self.rules = rules
        self.classes_ = np.array(rules.classes)

    def fit(self, X, y=None):
        return self

    def decision_function(self, X):
        values = self.rules.decision(X)
        return values[0] if len(values) == 1 else values.T

    def predict_proba(self, X):
        return self.rules.predict(X).T

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _as_trees(self, method):
        return read_rules(self.rules, self.rules.table, method, type(self).__name__)


class Halved(Regressor):
    def predict(self, X):
        return super().predict(X) / 2


class HalvedToo(Halved):
    def _as_trees(self, method):
        reading = super()._as_trees(method)
        inner = reading.ensemble
        lines = replace(inner.lines, coefficient=inner.lines.coefficient / 2)
        return replace(reading, ensemble=replace(inner, value=inner.value / 2, base=inner.base / 2, lines=lines))


X = odd_table(120)
MODELS = {
    "number": (Regressor(odd_rules(X)), "auto"),
    "two classes": (Classifier(odd_rules(X, link="logit", classes=["no", "yes"])), "auto"),
    "two classes, log-odds": (Classifier(odd_rules(X, link="logit", classes=["no", "yes"])), "decision"),
    "three classes": (Classifier(odd_rules(X, outputs=3, link="ovr", classes=list("abc"))), "auto"),
    "three classes, log-odds": (Classifier(odd_rules(X, outputs=3, link="ovr", classes=list("abc"))), "decision"),
}


@pytest.fixture(params=MODELS)
def both(request):
    """Return the same explainer by trees and by model calls, with unequal weights, and the size of its answers."""
    model, response = MODELS[request.param]
    weights = np.random.default_rng(3).integers(0, 4, len(X))
    by_trees, by_model = (
        Explainer(model, X, sample_weight=weights, response=response, method=method) for method in ("trees", "model")
    )
    by_trees.exact_sums()
    return by_trees, by_model, np.abs(by_model.source.response(X, len(X))).max()


def same(a, b, size):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * size)


def test_the_method_says_that_trees_are_used(both):
    by_trees, by_model, _ = both
    assert by_trees.method.startswith("trees: exact sums over the 20 trees and 5 linear terms of ")
    assert by_model.method == "model calls: asked for"


def test_curves_of_every_column_are_the_models(both):
    by_trees, by_model, size = both
    for feature in X.columns:
        exact, asked = by_trees.partial_dependence(feature), by_model.partial_dependence(feature)
        assert exact.method != asked.method
        same(exact.average, asked.average, size)
        same(exact.individual, asked.individual, size)


@pytest.mark.parametrize("pair", [("e", 'quo"ted'), ("e", "rule"), ("day", HOSTILE), ("sure", "class"), ("NA", "flag")])
def test_surfaces_are_the_models(both, pair):
    by_trees, by_model, size = both
    same(by_trees.partial_dependence(pair).average, by_model.partial_dependence(pair).average, size)


def test_interactions_are_the_models(both):
    by_trees, by_model, size = both
    features = ["e", "rule", 'quo"ted', "day", "NA", "wind speed"]
    exact, asked = (one.interactions(features, rows=40) for one in (by_trees, by_model))
    exact, asked = (
        one.to_frame().sort_values(["output", "feature_1", "feature_2"], na_position="last", ignore_index=True)
        for one in (exact, asked)
    )
    assert exact.feature_1.tolist() == asked.feature_1.tolist()
    same(exact.strength, asked.strength, size)
    same(exact.h2, asked.h2, 1)


def test_importances_are_the_models(both):
    by_trees, by_model, size = both
    exact, asked = (
        one.importance(rows=40).to_frame().set_index(["output", "feature"]).sort_index() for one in (by_trees, by_model)
    )
    for column in ("pd_importance", "pd_importance_weighted", "pdi", "heterogeneity"):
        same(exact[column], asked.loc[exact.index, column], size)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_fitted_rulefits_are_read(n_classes):
    rows = odd_table(250)
    y = np.nan_to_num(rows.e) * 3 + 4 * rows.e.isna() + 2 * (rows['quo"ted'] == "GOOD") + rows["größe"] * rows["rule"]
    y += rows.NA * rows.sure + 3 * (rows.day > "2024-08-01")
    options = {"max_rules": 150, "random_state": 0}
    if n_classes:
        model = RuleFitClassifier(**options).fit(
            rows, np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        )
    else:
        model = RuleFitRegressor(**options).fit(rows, y)
    kinds = {type(condition) for term in model.ruleset_.terms for condition in conditions_of(term)}
    assert {Range, Levels} <= kinds
    by_trees, by_model = (Explainer(model, rows, method=method) for method in ("trees", "model"))
    for feature in model.ruleset_.features:
        exact, asked = (one.partial_dependence(feature).individual for one in (by_trees, by_model))
        same(exact, asked, np.abs(y).max())
    pair = ("e", "rule")
    same(by_trees.partial_dependence(pair).average, by_model.partial_dependence(pair).average, np.abs(y).max())
    pickle.dumps(read(model, "predict_proba" if n_classes else "predict"))


def test_features_that_no_rule_brings_together_do_not_interact_at_all():
    rules = RuleSet([Rule.of("e > 0", X), Linear("e", -1, 1), Linear("NA")], [1.0, 2.0, 3.0], 0.5)
    found = Explainer(Regressor(rules), X, method="trees").interactions(["e", "NA"])
    pair = found.to_frame().query("feature_1 == 'NA' & feature_2 == 'e' | feature_1 == 'e' & feature_2 == 'NA'")
    assert pair.strength.tolist() == [0.0]


@pytest.mark.parametrize(
    "terms",
    [
        [],
        [Rule(())],
        [Linear("e", -1.0, 1.0, missing_as=7.0)],
        [Rule((Missing("e"),)), Rule((Missing('quo"ted'),))],
        [Rule((Levels("rule", (1, 2)), Range("rule", low=2.0)))],
        [Rule((Range("e", 0.5, 0.25),)), Rule((Range("e", low=-np.inf),))],
        [Rule((Range("rule", 3.0, 3.0),)), Rule((Range("rule", 3.0, low_closed=False),)), Rule((Range("rule", 3.0),))],
    ],
    ids=["nothing", "always", "a line", "missing", "levels of numbers", "empty and whole ranges", "on a bound"],
)
def test_small_sets_are_read(terms):
    model = Regressor(RuleSet(terms, np.arange(1.0, len(terms) + 1), -2.0, feature_names=X.columns))
    by_trees, by_model = (Explainer(model, X, method=method) for method in ("trees", "model"))
    for feature in ("e", "rule", 'quo"ted'):
        same(by_trees.partial_dependence(feature).individual, by_model.partial_dependence(feature).individual, 10)


def test_levels_that_no_rule_names_and_values_that_were_never_missing_are_taken_as_by_the_rules():
    model = MODELS["number"][0]
    other = X.copy()
    other['quo"ted'] = np.resize(np.array(["new", None, "GOOD", "NA", 'quo"ted'], dtype=object), len(X))
    other.loc[::3, ["NA", "wind speed"]] = np.nan
    other["class"] = pd.Categorical(np.resize([7, 3, 1], len(X)))
    reading = read(model, "predict")
    same(reading.ensemble.predict(reading.encode(other))[0], model.predict(other), 10)
    same(pickle.loads(pickle.dumps(reading.encode))(other), reading.encode(other), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_bounds_are_compared_as_a_column_of_few_digits_holds_them(dtype):
    values = pd.DataFrame({"x": np.array([0.1, 0.2, 0.3, 0.7], dtype=dtype)})
    model = Regressor(RuleSet([Rule.of("x <= 0.1", values), Rule.of("x >= 0.7", values)], [1.0, 10.0], 0.0))
    reading = read(model, "predict")
    assert reading.ensemble.predict(reading.encode(values))[0].tolist() == model.predict(values).tolist()
    assert model.predict(values).tolist() == [1, 0, 0, 10]


def test_a_group_of_columns_moves_its_lines_together():
    rules = RuleSet([Linear("e", -1, 1), Linear("NA"), Rule.of("rule > 3 & e > 0", X)], [1.0, 2.0, 3.0], 0.0)
    options = {"features": {"both": ["sure", "größe"], "flags": ["e", "NA"]}}
    numbers = X[["sure", "größe", "rule"]].assign(
        e=(X.e > 0).astype(float), NA=(X.NA > 0).astype(float), sure=1 - X.größe
    )
    numbers["NA"] = 1 - numbers["e"]
    model = Regressor(rules)
    by_trees, by_model = (Explainer(model, numbers, method=method, **options) for method in ("trees", "model"))
    same(by_trees.partial_dependence("flags").individual, by_model.partial_dependence("flags").individual, 10)


def test_lines_have_no_steps():
    explainer = Explainer(MODELS["number"][0], X, method="trees")
    with pytest.raises(InputError, match="'e': it also has a linear term, which has no steps"):
        explainer.partial_dependence("e", grid="steps")
    assert len(explainer.partial_dependence("wind speed", grid="steps").grid_values[0]) == 3


def test_classes_as_such_are_no_sum():
    with pytest.raises(UnreadableError, match="votes"):
        read(MODELS["two classes"][0], "predict")


def test_a_subclass_that_predicts_otherwise_is_asked_unless_it_reads_itself():
    rules = MODELS["number"][0].rules
    assert "Halved has its own predict" in Explainer(Halved(rules), X).method
    explainer = Explainer(HalvedToo(rules), X, method="trees")
    same(explainer.partial_dependence("e").average, Explainer(Halved(rules), X).partial_dependence("e").average, 10)


def test_a_rule_set_behind_steps_that_keep_columns_apart():
    numbers = X[["rule", "größe"]].astype(float)
    scaler = StandardScaler().set_output(transform="pandas").fit(numbers)
    rules = RuleSet(
        [Rule.of("rule > 0.2 & größe < 0", scaler.transform(numbers)), Linear("rule", -1, 1)], [1.0, 2.0], 0
    )
    model = make_pipeline(scaler, Regressor(rules))
    by_trees, by_model = (Explainer(model, numbers, method=method) for method in ("trees", "model"))
    same(by_trees.partial_dependence("rule").individual, by_model.partial_dependence("rule").individual, 10)


# ---- lines beside any trees -------------------------------------------------------------------


def with_lines(n_raw=1, seed=0):
    """Return a tree of two columns with lines of three, reading itself through plain numpy."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.normal(size=(70, 3)).round(1), columns=list("abc"))
    rows.loc[::7, "b"] = np.nan
    tree = DecisionTreeRegressor(max_leaf_nodes=6).fit(rows[["a", "b"]].assign(c=0.0), rng.normal(size=(70, n_raw)))
    reading = read(tree, "predict")
    lines = Lines(
        np.array([0, 1, 1, 2]), np.array([-1, -np.inf, -0.5, 0]), np.array([1, np.inf, 0.5, 0.1]),
        np.array([0, 3, -9, 0.0]), rng.normal(size=(n_raw, 4)),
    )  # fmt: skip
    return rows, tree, replace(reading, ensemble=replace(reading.ensemble, lines=lines, precision=np.dtype(float)))


class Given(RegressorMixin, BaseEstimator):
    """Answers by plain loops over a clipped line and scikit-learn's tree."""

    def __init__(self, tree, reading):
        self.tree, self.reading = tree, reading

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        lines = self.reading.ensemble.lines
        out = self.tree.predict(X.assign(c=0.0)).reshape(len(X), -1).copy()
        for line, name in enumerate("abbc"):
            for i, value in enumerate(X[name]):
                value = lines.missing_as[line] if np.isnan(value) else value
                out[i] += lines.coefficient[:, line] * min(max(value, lines.low[line]), lines.high[line])
        return out

    def _as_trees(self, method):
        return self.reading


@pytest.mark.parametrize("n_raw", [1, 2])
def test_lines_add_to_the_sums_of_any_trees(n_raw):
    rows, tree, reading = with_lines(n_raw)
    reading = replace(reading, encode=Zeroed(reading.encode))
    model = Given(tree, reading)
    by_trees, by_model = (Explainer(model, rows, method=method) for method in ("trees", "model"))
    for features in ["a", "b", "c", *combinations("abc", 2)]:
        same(by_trees.partial_dependence(features).average, by_model.partial_dependence(features).average, 10)
    exact, asked = (one.interactions(rows=None).to_frame() for one in (by_trees, by_model))
    same(exact.strength, asked.strength, 10)


class Zeroed:
    def __init__(self, encode):
        self.encode = encode

    def __call__(self, rows):
        return FeatureTable(rows).build(np.arange(len(rows))).to_numpy(dtype=float)


def test_lines_of_stacked_ensembles_add_up():
    rows, _, reading = with_lines()
    plain = replace(reading.ensemble, lines=NO_LINES)
    values = rows.to_numpy()
    for parts in ([plain, plain], [plain, reading.ensemble], [reading.ensemble, reading.ensemble]):
        same(stack(parts).predict(values), sum(part.predict(values) for part in parts), 10)
