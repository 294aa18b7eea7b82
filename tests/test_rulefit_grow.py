"""Boosted trees as Friedman & Popescu (2008) grow them: sizes, parts of the rows, targets, categories, missing values."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor

from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit.grow import (
    Boosting,
    _chances,
    _draw,
    _monotone_takes_missing,
    _newton,
    draw_sizes,
    grow,
    subsample_size,
)
from pdp_widgets.rulefit.table import Ranks, Table

ALL = {"subsample": 1.0, "min_samples_leaf": 1}


def trees_of(X, y, weights=None, family="squared", monotone=None, seed=0, **options):
    table = Table.of(X)
    ranks = Ranks.of(table.encode(X))
    how = Boosting(**options)
    rng = np.random.default_rng(seed)
    return grow(table, ranks, y, weights, family=family, how=how, signs=table.signs(monotone), rng=rng), ranks


def leaves_of(tree, positions):
    """Follow the splits row by row."""
    ends = []
    for row in positions:
        node = tree.root
        while tree.left[node] >= 0:
            value = tree.seen[tree.column[node]][row[tree.column[node]]]
            left = tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]
            node = tree.left[node] if left else tree.right[node]
        ends.append(node)
    return np.array(ends)


def test_sizes_follow_the_exponential_distribution():
    sizes = np.array(draw_sizes(200_000, 4.0, np.random.default_rng(0)))
    assert 2 * (sizes - 1).sum() == 200_000
    n = len(sizes)  # t = 2 + floor(g), so t - 2 is geometric with success probability 1 - exp(-1/2)
    success = 1 - np.exp(-0.5)
    assert success == pytest.approx(0.39, abs=0.005)
    assert abs((sizes == 2).mean() - success) < 4 * np.sqrt(success * (1 - success) / n)
    expected = 2 + (1 - success) / success
    assert expected == pytest.approx(3.54, abs=0.005)
    assert abs(sizes.mean() - expected) < 4 * np.sqrt((1 - success) / success**2 / n)


@pytest.mark.parametrize(("max_rules", "total"), [(0, 0), (1, 2), (2, 2), (7, 8), (2000, 2000)])
def test_the_last_tree_is_cut_to_what_is_left(max_rules, total):
    for seed in range(20):
        assert sum(2 * (size - 1) for size in draw_sizes(max_rules, 4.0, np.random.default_rng(seed))) == total


def test_trees_of_two_leaves_only():
    assert set(draw_sizes(100, 2, np.random.default_rng(0))) == {2}


@pytest.mark.parametrize(
    ("n", "subsample", "size"),
    [
        (8, None, 4),
        (100, None, 50),
        (2000, None, 368),
        (10_000, None, 700),
        (100, 30, 30),
        (100, 300, 100),
        (100, 0.25, 25),
        (100, 1.0, 100),
    ],
)
def test_rows_of_a_tree(n, subsample, size):
    assert subsample_size(n, subsample) == size


def test_rows_are_drawn_as_often_as_their_weight_asks():
    weights = np.concatenate([np.full(30, 1.0), np.full(10, 3.0), [40.0, 60.0]])
    chances, counts = _chances(weights, 20)
    assert chances.sum() == pytest.approx(20)
    assert chances[-2:].tolist() == [1, 1]
    np.testing.assert_allclose(chances * counts / weights, (chances * counts / weights)[0])
    np.testing.assert_allclose(chances[30] / chances[0], 3)
    rng, n = np.random.default_rng(0), 4000
    drawn = np.zeros(len(weights))
    for _ in range(n):
        rows = _draw(chances, rng)
        assert len(set(rows)) == len(rows) == 20
        drawn[rows] += 1
    assert np.all(np.abs(drawn / n - chances) <= 4.5 * np.sqrt(chances * (1 - chances) / n) + 1e-12)


def test_all_rows_can_be_drawn():
    for weights in (np.full(7, 0.1), np.array([0.3, 1e-9, 1e6, 5.0])):
        chances, counts = _chances(weights, len(weights))
        assert _draw(chances, np.random.default_rng(0)).tolist() == list(range(len(weights)))
        np.testing.assert_allclose(counts / counts.sum(), weights / weights.sum())


def test_the_first_tree_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
    y += 3 * (X[:, 1] > 0) * X[:, 2]
    for weights in (None, rng.uniform(0.5, 2, 300)):
        (tree, *_), ranks = trees_of(X, y, weights, max_rules=10, tree_size=1e9, **ALL)
        model = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, y, sample_weight=weights)
        ours, theirs = leaves_of(tree, ranks.positions), model.apply(X)
        assert len(np.unique(ours)) == 6
        assert len(set(zip(ours, theirs, strict=True))) == 6  # the same partition


def test_later_trees_fit_what_the_earlier_ones_left():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    options = {"max_rules": 4, "tree_size": 2, **ALL}
    for rate in (0.0, 0.5, 1.0):
        (first, second), ranks = trees_of(X, y, learning_rate=rate, **options)
        leaf = leaves_of(first, ranks.positions)
        means = {node: y[leaf == node].mean() for node in np.unique(leaf)}
        left = y - (1 - rate) * y.mean() - rate * np.array([means[node] for node in leaf])
        model = DecisionTreeRegressor(max_leaf_nodes=2, random_state=0).fit(X, left)
        assert len(set(zip(leaves_of(second, ranks.positions), model.apply(X), strict=True))) == 2


def test_newton_steps_minimise_the_logistic_loss_to_second_order():
    rng = np.random.default_rng(3)
    score, weights, leaf = rng.normal(size=60), rng.uniform(0.5, 2, 60), rng.integers(0, 3, 60)
    y = (rng.random(60) < 0.4) * 1.0
    step = _newton(leaf, y - expit(score), expit(score), weights, 3)
    for node in range(3):
        here = leaf == node

        def loss(d, here=here):
            f = score[here] + d
            return weights[here] @ (np.logaddexp(0, f) - y[here] * f)

        h = 1e-3
        slope, curvature = (loss(h) - loss(-h)) / (2 * h), (loss(h) - 2 * loss(0.0) + loss(-h)) / h**2
        assert step[node] == pytest.approx(-slope / curvature, rel=1e-4)


def test_classes_are_fitted_by_their_gradient():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3))
    y = (rng.random(300) < expit(2 * X[:, 0])) * 1.0
    (first, second), ranks = trees_of(X, y, family="logistic", max_rules=4, tree_size=2, learning_rate=1.0, **ALL)
    model = DecisionTreeRegressor(max_leaf_nodes=2, random_state=0).fit(X, y)
    leaf = leaves_of(first, ranks.positions)
    assert len(set(zip(leaf, model.apply(X), strict=True))) == 2
    base = y.mean()
    score = np.full(300, np.log(base / (1 - base)))
    for node in np.unique(leaf):
        here = leaf == node
        score[here] += (y[here] - base).sum() / (here.sum() * base * (1 - base))
    model = DecisionTreeRegressor(max_leaf_nodes=2, random_state=0).fit(X, y - expit(score))
    assert len(set(zip(leaves_of(second, ranks.positions), model.apply(X), strict=True))) == 2


def test_levels_are_split_as_well_as_they_can_be():
    rng = np.random.default_rng(5)
    level = np.repeat(np.arange(6), 20)
    y = np.array([3.0, -1.0, 0.5, 2.0, -4.0, 2.5])[level] + 0.1 * rng.normal(size=120)
    X = pd.DataFrame({"sky": np.array(list("abcdef"))[level]})
    (tree,), ranks = trees_of(X, y, max_rules=2, tree_size=2, **ALL)
    leaf = leaves_of(tree, ranks.positions)
    ours = {frozenset(level[leaf == node]) for node in np.unique(leaf)}

    def loss(chosen):
        inside = np.isin(level, chosen)
        return sum(((y[part] - y[part].mean()) ** 2).sum() for part in (inside, ~inside))

    best = min((s for k in range(1, 6) for s in itertools.combinations(range(6), k)), key=loss)
    assert frozenset(best) in ours


def test_rare_levels_stand_near_the_middle():
    y = np.concatenate([np.full(50, -1.0), np.full(50, 1.0), [5.0]])
    X = pd.DataFrame({"sky": ["a"] * 50 + ["b"] * 50 + ["c"]})
    (tree,), _ = trees_of(X, y, max_rules=2, tree_size=2, **ALL)
    order = tree.seen[0][:3]
    assert order.argsort().tolist() == [0, 2, 1]  # unsmoothed, the one row of c would come last


def test_the_side_of_missing_values_is_learned():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 2))
    for side in (-1, 1):
        gone = rng.random(200) < 0.3
        Z = np.where(np.column_stack([gone, np.zeros(200, dtype=bool)]), np.nan, X)
        y = np.where(gone, side, np.sign(X[:, 0])) + 0.01 * rng.normal(size=200)
        (tree,), ranks = trees_of(Z, y, max_rules=2, tree_size=2, **ALL)
        leaf = leaves_of(tree, ranks.positions)
        assert {frozenset(np.sign(np.round(y[leaf == node]))) for node in np.unique(leaf)} == {
            frozenset([-1]),
            frozenset([1]),
        }


def test_rows_without_weight_are_not_looked_at():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    weights = np.where(rng.random(200) < 0.3, 0.0, rng.uniform(1, 2, 200))
    other = np.where(weights > 0, y, 1e6)
    for a, b in zip(
        trees_of(X, y, weights, max_rules=60)[0], trees_of(X, other, weights, max_rules=60)[0], strict=True
    ):
        np.testing.assert_array_equal(a.threshold, b.threshold)


def test_directions_reach_the_trees():
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(400, 2))
    X[rng.random(400) < 0.1, 0] = np.nan
    y = np.sin(9 * np.nan_to_num(X[:, 0], nan=0.3)) + 0.1 * X[:, 1]  # up to .17, down to .52, up again

    def steps(direction):
        """Signs of the differences between right and left, of trees with one split."""
        signs = set()
        for tree in trees_of(X, y, monotone=[direction, 0], max_rules=100, tree_size=2, min_samples_leaf=1)[0]:
            if tree.column[0] == 0:
                leaf = leaves_of(tree, Ranks.of(X).positions)
                signs.add(np.sign(y[leaf == tree.right[0]].mean() - y[leaf == tree.left[0]].mean()))
        return signs

    if not _monotone_takes_missing():
        X = np.nan_to_num(X, nan=0.3)
    assert steps(1) == {1}
    assert steps(-1) == {-1}


@pytest.mark.parametrize("family", ["squared", "logistic"])
def test_nothing_grows_where_nothing_can_be_explained(family):
    X = np.random.default_rng(0).normal(size=(100, 2))
    assert trees_of(X, np.ones(100), family=family)[0] == []
    y = np.arange(100) % 2 * 1.0
    assert trees_of(X, y, np.where(y > 0, 1.0, 0.0), family=family)[0] == []  # constant where there is weight
    assert trees_of(np.ones((100, 2)), y, family=family)[0] == []
    assert trees_of(X[:8], y[:8], family=family)[0] == []  # four rows a tree, five to a leaf


def test_leaves_have_enough_rows():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    for options, least in [({"min_samples_leaf": 40}, 40), ({"min_samples_leaf": 0.1}, 30), ({}, 25)]:
        trees, ranks = trees_of(X, y, subsample=1.0, max_rules=200, **options)
        counts = [np.unique(leaves_of(tree, ranks.positions), return_counts=True)[1].min() for tree in trees[:12]]
        assert least <= min(counts) < least + 15


def test_only_the_given_randomness():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b, c = (trees_of(X, y, max_rules=100, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert [t.threshold.tolist() for t in a] == [t.threshold.tolist() for t in b] != [t.threshold.tolist() for t in c]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_rules": -1}, "max_rules=-1; expected a number of rules"),
        ({"tree_size": 1.5}, "tree_size=1.5; expected a mean number of terminal nodes of 2 or more"),
        ({"learning_rate": 2}, "learning_rate=2; expected a share"),
        ({"max_conditions": 0}, "max_conditions=0; expected 1 or more"),
        ({"subsample": 1.5}, "subsample=1.5; expected rows or a share up to 1"),
        ({"subsample": 0}, "subsample=0"),
        ({"min_samples_leaf": 1.0}, "min_samples_leaf=1.0; expected rows or a share below 1"),
    ],
)
def test_options_that_make_no_sense(options, text):
    with pytest.raises(InputError, match=text):
        Boosting(**options)
