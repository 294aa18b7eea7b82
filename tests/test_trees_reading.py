"""What is read and what is refused, with which reason."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn import ensemble as e
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tree_tools import assert_read, fit, table

from pdp_widgets.trees import links
from pdp_widgets.trees.ensemble import UnreadableError
from pdp_widgets.trees.reading import read


class Changed(e.RandomForestRegressor):
    def predict(self, X):
        return 1 - super().predict(X)


class Configured(e.RandomForestRegressor):
    """A subclass that changes how it is made and fitted, not what it answers."""

    def __init__(self, leaves=5):
        self.leaves = leaves
        super().__init__(n_estimators=4, max_leaf_nodes=leaves, random_state=0)

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, np.arange(len(X)))


def patched():
    model = fit(DecisionTreeRegressor(max_depth=2))
    model.predict = lambda X: np.zeros(len(X))
    return model


def without_trees():
    model = fit(e.HistGradientBoostingRegressor(max_iter=2))
    del model._predictors
    return model


VOTERS = [("k", KNeighborsRegressor()), ("t", DecisionTreeRegressor())]
MIXED = [("h", e.HistGradientBoostingRegressor(max_iter=2)), ("t", DecisionTreeRegressor(max_depth=2))]
REFUSALS = [
    (lambda: fit(KNeighborsClassifier(), "two"), "predict_proba", "KNeighborsClassifier is not a sum of trees"),
    (lambda: np.median, "predict", "median is a function"),
    (object, "predict", "object is not a sum of trees"),
    (
        lambda: fit(e.AdaBoostRegressor()),
        "predict",
        "AdaBoostRegressor predicts a weighted median of its trees, not a sum",
    ),
    (lambda: fit(e.RandomForestClassifier(2), "two"), "predict", "predicted class labels are votes, not a sum"),
    (lambda: e.IsolationForest(n_estimators=2).fit(table()), "predict", "predicts inlier or outlier"),
    (lambda: fit(DecisionTreeRegressor()), "predict_proba", "DecisionTreeRegressor has no predict_proba"),
    (lambda: fit(e.RandomForestClassifier(2), "two"), "decision_function", "has no decision_function"),
    (lambda: fit(Changed(3)), "predict", "Changed has its own predict, which may differ from that of RandomForest"),
    (patched, "predict", "DecisionTreeRegressor has its own predict"),
    (lambda: DecisionTreeRegressor(), "predict", r"trees of DecisionTreeRegressor could not be read \(AttributeError"),
    (without_trees, "predict", r"could not be read \(AttributeError"),
    (lambda: fit(e.BaggingRegressor(LinearRegression(), 2)), "predict", "has a member.* LinearRegression is not a sum"),
    (lambda: fit(e.BaggingRegressor(Changed(2), 2)), "predict", "has a member .* Changed has its own predict"),
    (
        lambda: fit(e.BaggingRegressor(make_pipeline(StandardScaler(), DecisionTreeRegressor()), 2)),
        "predict",
        "Pipeline is not a sum",
    ),
    (
        lambda: fit(e.BaggingClassifier(e.GradientBoostingClassifier(n_estimators=2), 2), "two"),
        "predict_proba",
        r"averages GradientBoostingClassifier, whose answer is no sum \(sigmoid\)",
    ),
    (
        lambda: fit(e.BaggingRegressor(e.HistGradientBoostingRegressor(max_iter=2, categorical_features=[2]), 2)),
        "predict",
        "members that encode their columns themselves",
    ),
    (lambda: fit(e.VotingRegressor(VOTERS)), "predict", "KNeighborsRegressor is not a sum of trees"),
    (lambda: fit(e.VotingRegressor(MIXED)), "predict", "members of VotingRegressor take their columns"),
    (
        lambda: fit(e.VotingClassifier([("t", DecisionTreeClassifier())]), "two"),
        "predict_proba",
        "VotingClassifier has no predict_proba",
    ),
    (
        lambda: fit(e.AdaBoostClassifier(e.RandomForestClassifier(2), n_estimators=2), "two"),
        "predict_proba",
        "boosts RandomForestClassifier, which is not a tree",
    ),
    (
        lambda: fit(e.GradientBoostingRegressor(init=LinearRegression(), n_estimators=2)),
        "predict",
        "starts from a LinearRegression, which is not a constant",
    ),
    (
        lambda: fit(e.GradientBoostingClassifier(init=KNeighborsClassifier(), n_estimators=2), "two"),
        "decision_function",
        "starts from a KNeighborsClassifier",
    ),
    (
        lambda: fit(e.GradientBoostingClassifier(init=DummyClassifier(strategy="stratified"), n_estimators=2), "two"),
        "decision_function",
        "starts from a DummyClassifier",
    ),
]


@pytest.mark.parametrize(("make", "method", "reason"), REFUSALS, ids=[reason for *_, reason in REFUSALS])
def test_what_is_no_sum_of_trees_is_refused_with_its_reason(make, method, reason):
    with pytest.raises(UnreadableError, match=reason):
        read(make(), method)


def test_a_subclass_that_answers_as_its_parent_is_read():
    model = fit(Configured())
    assert read(model, "predict").family == "Configured"
    assert_read(model, table())


def test_links_keep_their_limits_at_large_sums():
    one, three = np.array([[-1e4, 0, 1e4]]), np.array([[1e4, 0], [0, 0], [-1e4, 0]])
    assert links.SIGMOID.apply(one).tolist() == [[1, 0.5, 0], [0, 0.5, 1]]
    assert links.samme(2).apply(one).tolist() == [[1, 0.5, 0], [0, 0.5, 1]]
    for link in (links.SOFTMAX, links.samme(3)):
        assert link.apply(three).tolist() == [[1, 1 / 3], [0, 1 / 3], [0, 1 / 3]]
    np.testing.assert_allclose(links.ONE_VS_REST.apply(three), [[2 / 3, 1 / 3], [1 / 3, 1 / 3], [0, 1 / 3]], rtol=1e-15)
    assert links.EXP.apply(np.array([[-1e4, 0]])).tolist() == [[0, 1]]


def test_no_boosting_library_is_imported_for_scikit_learn():
    code = (
        "import sys; from sklearn.tree import DecisionTreeRegressor; from pdp_widgets.trees.reading import read\n"
        "read(DecisionTreeRegressor().fit([[0], [1]], [0, 1]), 'predict')\n"
        "print(sorted({'xgboost', 'lightgbm', 'catboost', 'treelite'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
