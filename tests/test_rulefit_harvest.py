"""Candidate rules: which rows they hold for, how they are written, and which of them are kept."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from pdp_widgets.inputs import FeatureTable
from pdp_widgets.inputs.conditions import Levels, Missing, Range
from pdp_widgets.inputs.subgroup import parse
from pdp_widgets.rulefit import Rule
from pdp_widgets.rulefit.harvest import candidates
from pdp_widgets.rulefit.table import Table


def harvested(X, y, weights=None, seed=0, **options):
    return candidates(Table.of(X), X, y, weights, rng=np.random.default_rng(seed), **options)


def mixed(seed, n=250):
    """A table of every kind of column, with awkward names, and a target that needs them all."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(3),
            "it's `odd`": rng.normal(size=n).astype("float32"),
            "two words": rng.integers(0, 7, n),
            "class": rng.choice(["don't", 'say "no"', "x & y", "z"], n),
            "flag": rng.random(n) < 0.5,
            "gender": rng.integers(0, 2, n),
            "when": pd.Timestamp("2011-01-01") + pd.to_timedelta(rng.integers(0, 400_000, n), "min"),
            "month": pd.Categorical(rng.integers(1, 13, n), categories=range(1, 13), ordered=True),
            "lag": pd.to_timedelta(rng.integers(0, 10_000, n), "s"),
            "rare": pd.array(rng.integers(0, 2, n), dtype="Int64"),
        }
    )
    y = (
        X["a"]
        + (X["two words"] > 3) * X["flag"]
        + X["class"].isin(["z", "don't"]) * X["gender"]
        + X["month"].astype(int) / 12
    )
    y = y + X["it's `odd`"].abs() + (X["lag"] > pd.Timedelta("1h")) + (X["when"] > pd.Timestamp("2011-06-01"))
    for name in ("a", "it's `odd`", "class", "when", "rare"):
        X[name] = X[name].where(rng.random(n) > 0.15)
    return X, np.asarray(y + X["rare"].isna() + 0.1 * rng.normal(size=n), dtype=float)


def plain(seed, n=200, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * (X[:, 1] > 0) + np.abs(X[:, 2]) + 0.1 * rng.normal(size=n)


def up_to_complement(columns):
    """Return the distinct columns of a 0/1 matrix that are not constant, a column and its complement being one."""
    found = {tuple((column ^ column[0]).tolist()) for column in np.asarray(columns, dtype=bool).T}
    return found - {(False,) * len(columns)}


def passed(model, X):
    """Return which rows pass through which node of a fitted tree, (n, nodes): the leaf of each row and what is above.

    (``decision_path`` of scikit-learn 1.6 sends missing values elsewhere than ``apply`` and ``predict``.)
    """
    tree, leaf = model.tree_, model.apply(X)
    nodes = leaf[:, None] == np.arange(tree.node_count)
    for node in reversed(range(tree.node_count)):  # children have higher numbers
        if tree.children_left[node] >= 0:
            nodes[:, node] = nodes[:, tree.children_left[node]] | nodes[:, tree.children_right[node]]
    return nodes


# Rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("generator", [None, RandomForestRegressor(15, max_depth=4, random_state=0)])
def test_masks_are_what_the_rules_say(seed, generator):
    X, y = mixed(seed)
    found = harvested(X, y, max_rules=400, tree_generator=generator, seed=seed)
    assert len(found.rules) > 100
    assert found.masks.shape == (len(X), len(found.rules))
    assert found.masks.dtype == bool
    assert found.masks.flags.f_contiguous
    rows = FeatureTable(X)
    for k, rule in enumerate(found.rules):
        np.testing.assert_array_equal(found.masks[:, k], rule.mask(rows), err_msg=rule.text)
    assert len({name for rule in found.rules for name in rule.features}) >= 8


@pytest.mark.parametrize("seed", range(3))
def test_rules_are_the_nodes_of_the_trees(seed):
    X, y = mixed(seed)
    model = RandomForestRegressor(10, max_depth=4, random_state=seed)
    found = harvested(X, y, tree_generator=model)
    encoded = Table.of(X).encode(X)
    nodes = np.column_stack([passed(tree, encoded) for tree in model.fit(encoded, y).estimators_])
    assert up_to_complement(found.masks) == up_to_complement(nodes)
    assert len(up_to_complement(found.masks)) == found.masks.shape[1]


def test_own_trees_give_all_their_nodes(monkeypatch):
    fitted = []

    class Recorded(DecisionTreeRegressor):
        def apply(self, X, check_input=True):
            fitted.append((self, X.copy()))
            return super().apply(X, check_input=check_input)

    monkeypatch.setattr("pdp_widgets.rulefit.grow.DecisionTreeRegressor", Recorded)
    for X, y in (mixed(0), plain(0)):
        fitted.clear()
        found = harvested(X, y, max_rules=200)
        trees = fitted.copy()
        nodes = np.column_stack([passed(tree, X) for tree, X in trees])
        assert up_to_complement(found.masks) == up_to_complement(nodes)
        assert sum(2 * (tree.get_n_leaves() - 1) for tree, _ in trees) <= 200


def test_all_nodes_but_the_root():
    X, y = plain(1)
    found = harvested(X, y, tree_generator=DecisionTreeRegressor(max_leaf_nodes=4, random_state=0))
    assert len(found.rules) == 5  # six nodes, of which the first two say the same


@pytest.mark.parametrize(
    "make", [lambda X: X.to_numpy(), lambda X: X.to_numpy().tolist(), lambda X: pl.DataFrame(X.to_dict("list"))]
)
def test_every_container(make):
    X, y = mixed(0)
    X = X[["two words", "gender"]].astype(float).assign(b=np.arange(len(X)) % 13)
    expected = harvested(X, y, max_rules=100)
    found = harvested(make(X), y, max_rules=100)
    np.testing.assert_array_equal(found.masks, expected.masks)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.masks[:, 0], found.rules[0].mask(make(X)))


# Words


@pytest.mark.parametrize("seed", range(3))
def test_text_reads_back_as_the_same_rule(seed):
    X, y = mixed(seed)
    rows = FeatureTable(X)
    for rule in harvested(X, y, max_rules=300, seed=seed).rules:
        again = Rule.of(rule.text, rows)
        assert again.conditions == rule.conditions
        assert again.text == rule.text


@pytest.mark.parametrize("seed", range(3))
def test_one_condition_per_feature(seed):
    X, y = mixed(seed)
    for rule in harvested(X, y, max_rules=400, tree_generator=DecisionTreeRegressor(max_depth=9, random_state=0)).rules:
        features = [condition.feature for condition in rule.conditions]
        assert len(features) == len(set(features))


def test_thresholds_are_as_short_as_can_be():
    """Against a search through all decimals between the neighbouring training values."""
    X, y = mixed(0)
    found = harvested(X, y, max_rules=400, linear="none")
    checked = 0
    for rule in found.rules:
        for condition in rule.conditions:
            if not isinstance(condition, Range) or condition.kind != "number" or condition.low == condition.high:
                continue
            values = X[condition.feature].dropna().astype(float).to_numpy()
            for bound in (condition.low, condition.high):
                if bound is None:
                    continue
                held = float(np.float32(bound)) if condition.feature == "it's `odd`" else bound
                a, b = values[values <= held].max(), values[values > held].min()
                text = repr(bound).removesuffix(".0")
                digits = len(text.partition(".")[2])
                step = Fraction(1, 10 ** max(digits - 1, 0)) * (1 if digits else 10)
                if digits or abs(bound) >= 10:
                    first = -(-Fraction(a) // step) * step  # smallest multiple that is not below a
                    assert float(first) >= b, (condition.text, a, b)
                checked += 1
    assert checked > 200


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pd.Series([0, 1, 0, 1]), {"v == 0", "v == 1"}),
        (pd.Series([0.1, 0.5, 0.1, 0.5], dtype="float32"), {"v == 0.1", "v == 0.5"}),
        (pd.Series([False, True, False, True]), {"v == False", "v == True"}),
        (pd.Series([4, 5, 4, 6]), {"v <= 4", "v > 4"}),
        (pd.Series([3.0, 7.25, 3.0, 20.0]), {"v <= 5", "v > 5"}),
        (pd.Series(["lo", "hi", "lo", "up"]), {"v == 'lo'", "v in ['hi', 'up']"}),
        (pd.to_datetime(pd.Series(["2010-03-01", "2010-05-01"] * 2)), {"v <= '2010-03-31'", "v > '2010-03-31'"}),
        (
            pd.to_datetime(pd.Series(["2010-03-01", "2010-03-03", "2010-03-01", "2010-03-04"])),
            {"v <= '2010-03-02'", "v > '2010-03-02'"},
        ),
        (pd.to_timedelta(pd.Series([1, 50, 1, 60]), "h"), {"v <= '1 days 00:00:00'", "v > '1 days 00:00:00'"}),
        (pd.Series([-np.inf, 1.5, -np.inf, np.inf]), {"v <= 0", "v > 0"}),
    ],
)
def test_one_split_in_words(values, texts):
    values = pd.concat([values] * 20, ignore_index=True)
    y = np.tile([0.0, 1.0, 0.0, 1.0], 20)
    (rule,) = harvested(pd.DataFrame({"v": values}), y, max_rules=1, linear="none").rules
    assert rule.text in texts
    assert rule.also == ()  # the other side of the same split needs no saying


def test_values_that_float32_cannot_tell_apart():
    v = 1e9 + np.arange(40) * 1e-3
    X, y = pd.DataFrame({"v": v}), (np.arange(40) >= 20) * 1.0
    (rule,) = harvested(X, y, max_rules=1, subsample=1.0, linear="none").rules
    assert len(set(y[rule.mask(X)])) == 1


# Missing values and levels


@pytest.mark.parametrize("seed", range(3))
def test_missing_values_only_where_they_were_seen(seed):
    X, y = mixed(seed)
    for rule in harvested(X, y, max_rules=300, seed=seed).rules:
        for condition in rule.conditions:
            takes = (
                condition.missing
                if isinstance(condition, Range)
                else isinstance(condition, Missing) or None in condition.levels
            )
            assert not takes or X[condition.feature].isna().any(), rule.text


def test_a_node_without_missing_values_decides_nothing_about_them():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"part": np.repeat(["a", "b"], 100), "x": rng.normal(size=200)})
    X.loc[:50, "x"] = np.nan  # in part a only
    y = np.where(X["part"] == "a", 10.0, np.sign(X["x"]))
    found = harvested(X, y, tree_generator=DecisionTreeRegressor(max_depth=2, random_state=0), linear="none")
    assert {rule.text.replace(" ", "") for rule in found.rules if len(rule.conditions) == 2} <= {
        f"part=='b'&x{sign}{t}"
        for sign in ("<=", ">")
        for t in re.findall(r"x [<>=]+ (\S+)", " ".join(r.text for r in found.rules))
    }
    new = pd.DataFrame({"part": ["b"], "x": [np.nan]})
    assert [bool(rule.mask(new)[0]) for rule in found.rules if len(rule.conditions) == 2] == [False, False]


def test_missing_itself_can_be_the_condition():
    rng = np.random.default_rng(0)
    for column in (rng.normal(size=200), rng.choice(["u", "v", "w"], 200).astype(object)):
        X = pd.DataFrame({"x": column})
        X.loc[rng.random(200) < 0.3, "x"] = None
        (rule,) = harvested(X, X["x"].isna() * 1.0, max_rules=1, linear="none").rules
        assert rule.text in ("x.isna()", "x.notna()")


def test_unseen_levels_and_later_missing_values_fulfil_nothing():
    X, y = mixed(0)
    found = harvested(X, y, max_rules=200)
    later = X.iloc[:1].assign(**{"class": "never seen", "two words": np.nan})
    for rule in found.rules:
        if {"class", "two words"} & set(rule.features):
            told = [c for c in rule.conditions if c.feature in ("class", "two words")]
            if all(not (isinstance(c, Range) and c.low is None and c.high is None) for c in told):
                assert not rule.mask(later)[0], rule.text
        for condition in rule.conditions:
            assert not isinstance(condition, Levels) or not condition.negate


# What is kept


@pytest.mark.parametrize("weighted", [False, True])
def test_support_is_the_weighted_share_of_rows(weighted):
    X, y = mixed(1)
    weights = np.random.default_rng(0).uniform(0, 3, len(X)) if weighted else None
    found = harvested(X, y, weights, max_rules=300)
    for rule in found.rules:
        share = np.average(rule.mask(X), weights=weights)
        assert rule.support == pytest.approx(share, abs=1e-12)
        assert 0 < rule.support < 1


def test_rules_about_rows_without_weight_are_left_out():
    X, y = plain(2)
    weights = (X[:, 0] > -0.5) * 1.0
    found = harvested(X, y, weights, max_rules=300, tree_generator=DecisionTreeRegressor(max_depth=4, random_state=0))
    assert all(0 < rule.support < 1 for rule in found.rules)
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y, sample_weight=weights)
    nodes = model.decision_path(X.astype(np.float32)).toarray()
    live = nodes[weights > 0]
    expected = nodes[:, live.any(axis=0) & ~live.all(axis=0)]
    assert up_to_complement(found.masks) == up_to_complement(expected)


def test_whole_weights_give_the_supports_of_repeated_rows():
    X, y = plain(3)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    for rule in harvested(X, y, weights, max_rules=100).rules:
        assert rule.support == pytest.approx(rule.mask(np.repeat(X, weights, axis=0)).mean(), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_no_two_rules_say_the_same(seed):
    X, y = mixed(seed)
    masks = harvested(X, y, max_rules=500).masks
    assert len(up_to_complement(masks)) == masks.shape[1]


def test_the_simplest_is_kept_and_the_others_are_named():
    X, y = mixed(2, n=60)
    rows = FeatureTable(X)
    found = harvested(X, y, max_rules=600, subsample=1.0, min_samples_leaf=2)
    named = 0
    for k, rule in enumerate(found.rules):
        for text in rule.also:
            np.testing.assert_array_equal(parse(text, rows).mask(rows), found.masks[:, k], err_msg=text)
            bare = re.sub(r"^not \((.*)\)$", r"\1", text).removeprefix("not ")
            other = Rule.of(bare, rows)
            assert (len(other.conditions), len(other.text)) >= (len(rule.conditions), len(rule.text))
            assert other.conditions != rule.conditions
            named += 1
        assert len(set(rule.also)) == len(rule.also)
    assert named > 5


def test_identical_features_are_kept_once():
    X, _ = plain(4)
    X = pd.DataFrame({"a": X[:, 0], "copy of a": X[:, 0], "minus": -X[:, 0]})
    found = harvested(X, (X["a"] > 0.3) * 1.0, max_rules=200, tree_size=2, subsample=1.0)
    (rule,) = found.rules
    assert rule.features == ("a",)
    assert {name for name in ("copy of a", "minus") if any(name in text for text in rule.also)} == {
        "copy of a",
        "minus",
    }


def test_of_large_forests_the_short_rules_are_kept():
    X, y = plain(5, n=400)
    forest = RandomForestRegressor(20, random_state=0)
    found = harvested(X, y, max_rules=150, tree_generator=forest)
    assert len(found.rules) <= 150
    shallow = harvested(X, y, tree_generator=forest.set_params(max_depth=2))
    assert up_to_complement(shallow.masks) <= up_to_complement(found.masks)
    again = harvested(X, y, max_rules=150, tree_generator=RandomForestRegressor(20, random_state=0))
    assert [rule.text for rule in again.rules] == [rule.text for rule in found.rules]


@pytest.mark.parametrize("generator", [None, DecisionTreeRegressor(random_state=0)])
def test_length_of_rules(generator):
    X, y = plain(6)
    found = harvested(X, y, max_rules=300, max_conditions=2, tree_generator=generator)
    assert max(len(rule.conditions) for rule in found.rules) == 2


# Directions


def test_signs_of_monotone_features():
    rng = np.random.default_rng(7)
    X = pd.DataFrame(
        {
            "up": rng.normal(size=400),
            "down": rng.integers(0, 9, 400),
            "free": rng.normal(size=400),
            "flag": rng.random(400) < 0.5,
        }
    )
    X.loc[rng.random(400) < 0.1, "up"] = np.nan
    y = np.sin(3 * X["up"].fillna(0)) - X["down"] + X["free"] ** 2 + X["flag"]
    directions = {"up": 1, "down": -1, "flag": 1}
    for generator in (None, RandomForestRegressor(10, max_depth=4, random_state=0)):
        found = harvested(X, y, max_rules=150, monotone=directions, tree_generator=generator)
        assert set(found.signs) == {-1, 0, 1}
        for k, rule in enumerate(found.rules):
            constrained = [name for name in rule.features if name in directions]
            moves = set()
            for name in constrained:
                values = X[name].dropna()
                order = sorted(values.unique())[:: 1 + len(values.unique()) // 40]
                here = X[X[name].notna()]
                at = [rule.mask(here.assign(**{name: value})) for value in order]
                change = np.unique([np.sign(b.astype(int) - a.astype(int)).sum() for a, b in itertools.pairwise(at)])
                moves |= {int(np.sign(c)) * directions[name] for c in change if c}
            assert moves <= {found.signs[k]}, rule.text
        linear = dict(zip([str(term) for term in found.linear], found.signs[len(found.rules) :], strict=True))
        assert linear == {"up": 1, "down": -1, "free": 0, "flag == True": 1}


# Small and empty


@pytest.mark.parametrize("family", ["squared", "logistic"])
def test_tables_with_little_to_say(family):
    X, y = plain(8)
    y = (y > y.mean()) * 1.0
    for rows, target, options in [
        (X[:, :1], y, {}),
        (X, np.zeros(len(y)), {}),
        (X[:8], y[:8], {}),
        (X, y, {"max_rules": 0}),
        (X, y, {"max_rules": 1}),
        (np.ones((50, 2)), y[:50], {}),
        (X, y, {"linear": "none", "max_rules": 0}),
    ]:
        found = harvested(rows, target, family=family, **options)
        assert found.masks.shape == (len(rows), len(found.rules))
        assert found.values.shape == (len(rows), len(found.linear))
        assert found.signs.shape == (len(found.rules) + len(found.linear),)
        assert len(found.rules) <= options.get("max_rules", 2000)


def test_results_depend_on_the_given_randomness_only():
    X, y = mixed(3)
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b, c = (harvested(X, y, max_rules=100, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert a.rules == b.rules
    assert a.rules != c.rules


def test_targets_of_another_unit_give_the_same_rules():
    X, y = mixed(3)
    assert harvested(X, y, max_rules=200).rules == harvested(X, y * 2.0**-14, max_rules=200).rules
