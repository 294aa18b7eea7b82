"""Trees of the user's own ensemble: which can be given, what they see, and that they are left as they are."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor

from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit.harvest import candidates
from pdp_widgets.rulefit.table import Table


def harvested(X, y, weights=None, **options):
    return candidates(
        Table.of(X), X, y, weights, rng=np.random.default_rng(0), linear="none", max_rules=10**6, **options
    )


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 9, 200), rng.uniform(size=200), rng.normal(size=200)])
    return X, X[:, 0] * (X[:, 1] > 4) + X[:, 2] + 0.1 * rng.normal(size=200)


def up_to_complement(columns):
    found = {tuple((column ^ column[0]).tolist()) for column in np.asarray(columns, dtype=bool).T}
    return found - {(False,) * len(columns)}


def paths(members, X, subsets=None):
    """Return which rows pass through which node, by scikit-learn's own word."""
    subsets = subsets or [slice(None)] * len(members)
    return np.column_stack(
        [
            tree.decision_path(X[:, columns].astype(np.float32)).toarray()
            for tree, columns in zip(members, subsets, strict=True)
        ]
    )


BY_MEMBERS = [
    (DecisionTreeRegressor(max_depth=4, random_state=0), lambda m: [m]),
    (ExtraTreeRegressor(max_depth=4, random_state=0), lambda m: [m]),
    (RandomForestRegressor(8, max_depth=3, random_state=0), lambda m: m.estimators_),
    (ExtraTreesRegressor(8, max_depth=3, random_state=0), lambda m: m.estimators_),
    (AdaBoostRegressor(n_estimators=8, random_state=0), lambda m: m.estimators_),
    (GradientBoostingRegressor(n_estimators=8, random_state=0), lambda m: m.estimators_.ravel()),
    (VotingRegressor([("tree", DecisionTreeRegressor(max_depth=2, random_state=1))]), lambda m: m.estimators_),
]
CLASSIFIERS = [
    (DecisionTreeClassifier(max_depth=4, random_state=0), lambda m: [m]),
    (RandomForestClassifier(8, max_depth=3, random_state=0), lambda m: m.estimators_),
    (AdaBoostClassifier(n_estimators=8, random_state=0), lambda m: m.estimators_),
    (GradientBoostingClassifier(n_estimators=8, random_state=0), lambda m: m.estimators_.ravel()),
]


@pytest.mark.parametrize(("generator", "members"), BY_MEMBERS, ids=lambda v: type(v).__name__)
def test_every_node_of_regressors(numbers, generator, members):
    X, y = numbers
    for family, target in [("squared", y), ("logistic", (y > y.mean()) * 1.0)]:
        found = harvested(X, target, family=family, tree_generator=generator)
        model = clone(generator).fit(X, target)
        assert up_to_complement(found.masks) == up_to_complement(paths(members(model), X))


@pytest.mark.parametrize(("generator", "members"), CLASSIFIERS, ids=lambda v: type(v).__name__)
def test_every_node_of_classifiers(numbers, generator, members):
    X, y = numbers
    target = (y > y.mean()) * 1.0
    found = harvested(X, target, family="logistic", tree_generator=generator)
    model = clone(generator).fit(X, target.astype(int))
    assert up_to_complement(found.masks) == up_to_complement(paths(members(model), X))
    with pytest.raises(InputError, match="but the target is a number; give the regressor"):
        harvested(X, y, tree_generator=generator)


def test_bagging_on_parts_of_the_columns(numbers):
    X, y = numbers
    generator = BaggingRegressor(DecisionTreeRegressor(max_depth=3), 8, max_features=0.5, random_state=0)
    found = harvested(X, y, tree_generator=generator)
    model = clone(generator).fit(X, y)
    assert up_to_complement(found.masks) == up_to_complement(paths(model.estimators_, X, model.estimators_features_))


def test_weights_reach_the_generator(numbers):
    X, y = numbers
    weights = np.random.default_rng(1).uniform(0.1, 5, len(y))
    generator = DecisionTreeRegressor(max_depth=3, random_state=0)
    found = harvested(X, y, weights, tree_generator=generator)
    assert up_to_complement(found.masks) == up_to_complement(
        paths([clone(generator).fit(X, y, sample_weight=weights)], X)
    )


@pytest.mark.parametrize("kind", [HistGradientBoostingRegressor, HistGradientBoostingClassifier])
def test_histogram_boosting_says_the_same_within_each_leaf(kind):
    """Rows that fulfil the same rules get the same prediction, and rows of different predictions do not."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(
        {"a": rng.normal(size=400), "sky": rng.choice(list("pqrstu"), 400).astype(object), "n": rng.integers(0, 5, 400)}
    )
    y = np.where(X["sky"].isin(["p", "r", "u"]), X["a"] + 5, -X["a"]) + X["n"]
    X.loc[rng.random(400) < 0.1, ["a"]] = np.nan
    X.loc[rng.random(400) < 0.1, ["sky"]] = None
    classifier = kind is HistGradientBoostingClassifier
    target = (y > y.mean()) * 1.0 if classifier else y
    for given in ({}, {"categorical_features": ["sky"]}, {"categorical_features": [1]}, {"categorical_features": None}):
        generator = kind(max_iter=1, max_leaf_nodes=12, min_samples_leaf=5, random_state=0, **given)
        found = harvested(
            X, np.asarray(target), tree_generator=generator, family="logistic" if classifier else "squared"
        )
        encoded = Table.of(X).encode(X)
        split = given.get("categorical_features", [1]) and [1]
        model = clone(generator).set_params(categorical_features=split).fit(encoded, target)
        answer = model.decision_function(encoded) if classifier else model.predict(encoded)
        leaves = {tuple(row) for row in found.masks.tolist()}
        both = {(tuple(row), value) for row, value in zip(found.masks.tolist(), answer.tolist(), strict=True)}
        assert len(both) == len(leaves) == 12
        as_set = [rule.text for rule in found.rules if re_sky(rule.text, {"p", "r", "u"})]
        assert bool(as_set) == bool(split)


def re_sky(text, chosen):
    """Whether a text asks for just these levels, or just the others, be a missing one among them or not."""
    listed = {part.strip(" '") for part in text.partition("sky in [")[2].partition("]")[0].split(",")} - {"None", ""}
    return listed in (chosen, set("pqrstu") - chosen)


def test_other_libraries(numbers):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    X, y = numbers
    for generator in (
        lightgbm.LGBMRegressor(n_estimators=1, num_leaves=9, verbose=-1),
        xgboost.XGBRegressor(n_estimators=1, max_depth=3, tree_method="exact"),
    ):
        found = harvested(X, y, tree_generator=generator)
        answer = clone(generator).fit(X, y).predict(X)
        both = {(tuple(row), value) for row, value in zip(found.masks.tolist(), answer.tolist(), strict=True)}
        assert len(both) == len({tuple(row) for row in found.masks.tolist()}) == len(np.unique(answer))


def test_the_generator_is_left_alone(numbers):
    X, y = numbers
    generator = RandomForestRegressor(5, max_depth=2, random_state=np.random.RandomState(0))
    before = pickle.dumps(generator)
    a, b = (harvested(X, y, tree_generator=generator) for _ in range(2))
    assert pickle.dumps(generator) == before
    assert a.rules == b.rules


def test_random_states_come_from_the_given_one(numbers):
    X, y = numbers
    generator = ExtraTreesRegressor(5, max_depth=2)
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002

    def rules(seed):
        rng = np.random.default_rng(seed)
        return candidates(Table.of(X), X, y, rng=rng, tree_generator=generator).rules

    assert rules(0) == rules(0)
    assert rules(0) != rules(1)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_missing_values_and_categories_where_the_trees_take_none():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"sky": rng.choice(["a", "b", None], 200), "x": rng.normal(size=200)})
    y = np.asarray(X["sky"].isna() * 2.0 + X["x"])
    found = harvested(X, y, tree_generator=GradientBoostingRegressor(n_estimators=5))
    assert "sky.isna()" in {rule.text for rule in found.rules} | {
        text for rule in found.rules for text in rule.also
    } | {"sky.isna()" if rule.text == "sky.notna()" else "" for rule in found.rules}
    X.loc[0, "x"] = np.nan
    with pytest.raises(InputError, match="GradientBoostingRegressor takes no missing values, but 'x' has some"):
        harvested(X, y, tree_generator=GradientBoostingRegressor())


class Unwell(DecisionTreeRegressor):
    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("not today")


class NoTrees(BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.parametrize(
    ("generator", "text"),
    [
        (RandomForestRegressor, "is the class RandomForestRegressor; expected an estimator, such as"),
        ("forest", "is 'forest'; expected an estimator"),
        (LinearRegression(), "the trees of LinearRegression cannot be read"),
        (
            BaggingRegressor(KNeighborsRegressor(), 2),
            "the trees of BaggingRegressor cannot be read: KNeighborsRegressor is not a sum of trees",
        ),
        (Unwell(), "Unwell could not be fitted to the encoded rows: not today"),
        (NoTrees(), "the trees of NoTrees cannot be read"),
    ],
    ids=str,
)
def test_what_is_no_ensemble_of_trees(numbers, generator, text):
    with pytest.raises(InputError, match=text):
        harvested(*numbers, tree_generator=generator)


def test_weights_that_a_generator_cannot_take(numbers):
    X, y = numbers
    with pytest.raises(InputError, match="NoTrees does not take weights"):
        harvested(X, y, np.ones(len(y)), tree_generator=NoTrees())
