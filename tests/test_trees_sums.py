"""Sums over leaves by counting rows: against the plain reference on rows with replaced values, and against the models themselves."""

from dataclasses import replace
from itertools import combinations, pairwise
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import ensemble as e
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tree_tools import edges, fit
from tree_tools import table as fitted_rows

from pdp_widgets.inputs import Feature, FeatureTable, make_grid
from pdp_widgets.trees import counts, kernels, means, points, sums
from pdp_widgets.trees.ensemble import TreeEnsemble, UnreadableError, stack
from pdp_widgets.trees.links import EXP, IDENTITY, SIGMOID, SOFTMAX
from pdp_widgets.trees.means import joint_means, partial_dependence
from pdp_widgets.trees.reading import Reading
from pdp_widgets.trees.sums import TreeSums

MARKS = np.array([-2.0, -1, -0.5, 0, 0.5, 1, 2])  # values and thresholds alike: ties are the rule
CODES = np.arange(6.0)  # category sets also hold 6 and 7, which no row has
ASKED = [*MARKS, *CODES, 6, -9, 9, 0.25, np.nan]
LEAF = (-1, -1, -1, 0.0, False, -1)


# ---- random trees and rows --------------------------------------------------------------------


def assemble(nodes, values, roots, output=0, base=0.0, n_columns=1, sets=()):
    """Return the ensemble of nodes (left, right, column, threshold, missing_left, category_set)."""
    dtypes = (np.int32, np.int32, np.int32, float, bool, np.int32)
    fields = [np.array(field, dtype) for field, dtype in zip(zip(*nodes, strict=True), dtypes, strict=True)]
    output = np.broadcast_to(output, len(roots)).astype(np.int32)
    values = np.array(values, dtype=float).reshape(len(nodes), -1)
    return TreeEnsemble(np.array(roots, np.int32), *fields, values, output, np.atleast_1d(base), n_columns, sets)


def grow(rng, n_columns, *, categorical=(), n_trees=5, depth=4, n_raw=1, width=1, whole=False):
    """Return random trees with ``width`` outputs each, some of them single leaves, some with splits that part nothing."""
    nodes, values, sets = [], [], []

    def node(levels):
        here = len(nodes)
        nodes.append(LEAF)
        values.append(np.zeros(width))
        if levels == 0 or rng.random() < 0.15:
            values[here] = rng.integers(-9, 10, width) if whole else rng.normal(size=width) * 10 ** rng.uniform(-1, 1)
            return here
        column, threshold, which = int(rng.integers(n_columns)), 0.0, -1
        if column in categorical:
            which = len(sets)
            sets.append(np.flatnonzero(rng.random(8) < rng.random()))
        else:
            threshold = rng.choice(MARKS if rng.random() < 0.9 else [np.inf, -np.inf, 7])
        nodes[here] = (node(levels - 1), node(levels - 1), column, threshold, rng.random() < 0.5, which)
        return here

    roots = [node(int(rng.integers(depth + 1))) for _ in range(n_trees)]
    output, base = rng.integers(n_raw - width + 1, size=n_trees), rng.integers(1, 5, n_raw).astype(float)
    return assemble(nodes, values, roots, output, base, n_columns, tuple(sets))


def draw_rows(rng, n, n_columns, categorical=(), *, missing=False):
    X = np.column_stack([rng.choice(CODES if c in categorical else MARKS, n) for c in range(n_columns)])
    if missing:
        X[rng.random(X.shape) < rng.choice([0, 0.2, 1], size=n_columns, p=[0.4, 0.5, 0.1])] = np.nan
    return X


def draw_weights(rng, n):
    return np.append(0.5, rng.choice([0, 0, 1, 2.5], n - 1))


def numbers(frame):
    return frame.to_numpy(dtype=float)


class Case:
    """Sums of an ensemble, as though some model had been read, over rows with columns x0, x1, ..., and their brute force."""

    def __init__(self, ensemble, X, *, link=IDENTITY, features=None, encode=numbers, **options):
        self.ensemble, self.X, self.all = ensemble, X, np.arange(len(X))
        self.table = FeatureTable(pd.DataFrame(X, columns=[f"x{c}" for c in range(X.shape[1])]), features)
        self.features = list(self.table.features.values())
        with mock.patch.object(sums, "read", return_value=Reading(ensemble, link, encode, "Trees")):
            self.sums = TreeSums(self.table, object(), "predict", **options)

    def grids(self, features=None):
        return [make_grid(self.table, feature) for feature in features or self.features]

    def any_grid(self, rng, feature, size=None):
        """Return a grid from the data, or of points in any order, repeated, outside the data and missing."""
        if size is None and (rng.random() < 0.3 or len(np.unique(self.X[:, feature.columns[0]])) == 1):
            return make_grid(self.table, feature, grid_size=int(rng.integers(2, 9)))
        asked = rng.choice(ASKED, size or int(rng.integers(1, 9)))
        asked[np.isnan(asked) & (np.cumsum(np.isnan(asked)) > 1)] = 0.5  # one missing level at most
        return make_grid(self.table, feature, given=asked.tolist())

    def at_points(self, rows, grids):
        """Return (n_raw, m, K1, K2): each row with each combination of grid points."""
        shape = (len(rows), *(grid.size for grid in grids))
        row, *chosen = np.indices(shape).reshape(len(shape), -1)
        block = self.X[rows[row]]
        for grid, at in zip(grids, chosen, strict=True):
            for j, values in grid.take(at).items():
                block[:, j] = values
        return self.ensemble.predict(block).reshape(-1, *shape)

    def mixed(self, rows, other, *features):
        """Return (n_raw, m, k): each row with the features of each other row."""
        row, at = np.indices((len(rows), len(other))).reshape(2, -1)
        block = self.X[rows[row]]
        for j in [j for feature in features for j in feature.columns]:
            block[:, j] = self.X[other[at], j]
        return self.ensemble.predict(block).reshape(-1, len(rows), len(other))

    def same(self, answer, expected):
        assert answer.shape == expected.shape
        parts = (expected, self.ensemble.value, self.ensemble.base)
        scale = max(np.abs(part).max(initial=0) for part in parts)
        np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-12 * scale)

    def same_joint(self, joint, features, rows=None, weights=None):
        """Compare all averages with the averages of predictions for rows put together."""
        rows = self.all if rows is None else rows
        mixtures = [self.mixed(rows, rows, feature) for feature in features]
        single = np.stack([mean(mixture, weights) for mixture in mixtures], axis=1)
        prediction = self.ensemble.predict(self.X[rows])
        assert joint.features == tuple(feature.name for feature in features)
        assert np.array_equal(joint.rows, rows)
        self.same(joint.prediction, prediction)
        self.same(joint.mean, mean(prediction, weights))
        self.same(joint.single, single)
        self.same(joint.rest, np.stack([mean(mixture, weights, axis=2) for mixture in mixtures], axis=1))
        assert joint.interaction.shape == joint.joint.shape == (len(single), len(joint.pairs), len(rows))
        for number, (j, k) in enumerate(joint.pairs):
            both = mean(self.mixed(rows, rows, features[j], features[k]), weights)
            self.same(joint.joint[:, number], both)
            together = both - single[:, j] - single[:, k] + mean(prediction, weights)[:, None]
            self.same(joint.interaction[:, number], together)


def mean(answers, weights=None, axis=1):
    return np.average(answers, axis=axis, weights=weights)


# ---- any trees, any rows, any grids -----------------------------------------------------------


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_columns, n_raw = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    categorical = draw(st.sets(st.integers(0, n_columns - 1)))
    shape = {"n_trees": draw(st.integers(1, 12)), "depth": draw(st.integers(0, 6))}
    width = draw(st.sampled_from([1, n_raw]))
    ensemble = grow(rng, n_columns, categorical=categorical, n_raw=n_raw, width=width, **shape)
    n = draw(st.sampled_from([1, 2, 40, 64, 65, 130]))
    rows = rng.permutation(n) if draw(st.booleans()) else rng.integers(n, size=min(n, 30))
    return rng, Case(ensemble, draw_rows(rng, n, n_columns, categorical, missing=draw(st.booleans())), threads=1), rows


@settings(deadline=None, max_examples=100)
@given(cases())
def test_curves_and_surfaces_are_predictions_for_replaced_rows(drawn):
    rng, case, rows = drawn
    case.same(case.sums.predict(rows), case.ensemble.predict(case.X[rows]))
    grids = [case.any_grid(rng, feature) for feature in rng.permutation(case.features)]
    for grid in grids:
        case.same(case.sums.ice(rows, [grid]), case.at_points(rows, [grid]))
    for pair in pairwise(grids):
        case.same(case.sums.ice(rows[:20], pair), case.at_points(rows[:20], pair))


@settings(deadline=None, max_examples=60)
@given(cases(), st.integers(0, 3))
def test_features_are_taken_from_other_rows(drawn, n_taken):
    rng, case, rows = drawn
    other, taken = rng.integers(len(case.X), size=int(rng.integers(1, 90))), rng.permutation(case.features)[:n_taken]
    case.same(case.sums.cross(rows, other, taken), case.mixed(rows, other, *taken))


@settings(deadline=None, max_examples=80)
@given(cases(), st.booleans(), st.booleans())
def test_partial_dependence_is_the_average_of_replaced_rows(drawn, weighted, everywhere):
    rng, case, rows = drawn
    grids = [case.any_grid(rng, feature) for feature in rng.permutation(case.features)]
    pairs = [tuple(rng.permutation(pair).tolist()) for pair in combinations(range(len(grids)), 2)]
    pairs = [pairs[k] for k in rng.permutation(len(pairs))[:4]]
    rows = case.all if everywhere else rows
    weights = draw_weights(rng, len(rows)) if weighted else None
    answer = partial_dependence(case.sums, grids, pairs, rows=None if everywhere else rows, weights=weights)
    for grid, curve in zip(grids, answer.singles, strict=True):
        case.same(curve, mean(case.at_points(rows, [grid]), weights))
    for (j, k), surface in zip(pairs, answer.pairs, strict=True):
        case.same(surface, mean(case.at_points(rows, [grids[j], grids[k]]), weights))


@settings(deadline=None, max_examples=80)
@given(cases(), st.booleans(), st.booleans(), st.booleans())
def test_averages_at_the_rows_are_those_of_rows_put_together(drawn, weighted, everywhere, some):
    rng, case, rows = drawn
    features = list(rng.permutation(case.features))
    pairs = [tuple(rng.permutation(pair).tolist()) for pair in combinations(range(len(features)), 2)]
    pairs = [pairs[k] for k in rng.permutation(len(pairs))[:3]] if some else None
    weights = draw_weights(rng, len(case.all if everywhere else rows)) if weighted else None
    joint = joint_means(case.sums, features, pairs, rows=None if everywhere else rows, weights=weights)
    assert joint.pairs == tuple(pairs if some else combinations(range(len(features)), 2))
    case.same_joint(joint, features, None if everywhere else rows, weights)


# ---- sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 511, 512, 513, 1100])
def test_rows_may_fill_any_part_of_a_block(n, threads):
    rng = np.random.default_rng(n)
    X = draw_rows(rng, n, 3, {2})
    X[0] = np.nan
    case = Case(grow(rng, 3, categorical={2}, n_trees=6, n_raw=2, width=2), X, threads=threads)
    (a, b, c), grids, rows, weights = case.features, case.grids(), rng.permutation(n), draw_weights(rng, n)
    surface = case.at_points(rows, grids[:2])
    case.same(case.sums.ice(rows, grids[:2]), surface)
    answer = partial_dependence(case.sums, grids, [(1, 0)], rows=rows, weights=weights)
    case.same(answer.pairs[0], mean(surface, weights).swapaxes(1, 2))
    last = rows[-9:]
    mixture = case.mixed(rows, last, a, c)
    case.same(case.sums.cross(rows, last, [a, c]), mixture)
    case.same(case.sums.cross(last, rows, [b]), mixture.swapaxes(1, 2))
    joint = joint_means(case.sums, [a, b, c], rows=rows, weights=weights)
    case.same(joint.joint[:, 1, -9:], mean(mixture, weights))
    case.same(joint.rest[:, 1, -9:], mean(mixture, weights))


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 127, 128, 129, 300])
def test_grids_may_be_long_and_of_different_lengths(size, width):
    rng = np.random.default_rng(size)
    X = draw_rows(rng, 70, 3, {1})
    X[::5] = np.nan
    case = Case(grow(rng, 3, categorical={1}, n_trees=8, depth=6, n_raw=2, width=width), X)
    long, short, some = (
        case.any_grid(rng, case.features[0], size),
        case.any_grid(rng, case.features[1], 5),
        case.all[:7],
    )
    case.same(case.sums.ice(case.all, [long]), case.at_points(case.all, [long]))
    surface = case.at_points(some, [short, long])
    case.same(case.sums.ice(some, [short, long]), surface)
    case.same(case.sums.ice(some, [long, short]), surface.swapaxes(2, 3))
    case.same(partial_dependence(case.sums, [long, short], [(1, 0)], rows=some).pairs[0], mean(surface))


def test_one_column_may_have_more_thresholds_than_16_bits_count():
    n = 40_000
    nodes = [node for k in range(n) for node in ((3 * k + 1, 3 * k + 2, 0, float(k), False, -1), LEAF, LEAF)]
    case = Case(assemble(nodes, [0, 0, 1] * n, range(0, 3 * n, 3)), np.linspace(-5, n + 5, 777)[:, None])
    assert np.array_equal(case.sums.predict(case.all)[0], np.clip(np.ceil(case.X[:, 0]), 0, n))
    grid = make_grid(case.table, case.features[0], given=[n + 0.5, 33_000.5, -1.0, 32_768.0])
    assert case.sums.ice(case.all[:1], [grid]).tolist() == [[[n, 33_001, 0, 32_768]]]


def everything(case, rows=None, weights=None):
    """Return all that sums answer, as a list of arrays."""
    grids, pairs = case.grids(), list(combinations(range(len(case.features)), 2))
    average = partial_dependence(case.sums, grids, pairs, rows=rows, weights=weights)
    joint = joint_means(case.sums, case.features, rows=rows, weights=weights)
    joint = [joint.prediction, joint.mean, joint.single, joint.rest, joint.interaction]
    curves = [case.sums.ice(case.all, grids[:2]), case.sums.cross(case.all[:600], case.all[:550], case.features[:1])]
    return [*curves, *average.singles, *average.pairs, *joint]


@pytest.mark.parametrize("threads", [1, 3])
def test_cutting_the_work_into_pieces_changes_nothing(threads):
    rng = np.random.default_rng(1)
    # Whole leaves and shares of 1024 rows: every sum is exact, in whatever order.
    ensemble = grow(rng, 4, categorical={3}, n_trees=12, depth=5, n_raw=2, width=2, whole=True)
    X = draw_rows(rng, 1024, 4, {3})
    X[rng.random(X.shape) < 0.1] = np.nan
    expected = everything(Case(ensemble, X, threads=threads))
    for module, cut in (
        (counts, {"_MOST_MASSES": 1}),
        (counts, {"_MOST_MASSES": 999}),
        (means, {"_MOST_JOINT": 1}),
        (means, {"_MOST_JOINT": 2 * 2 * 1024}),
        (sums, {"_MOST_STEPS": 1}),
        (points, {"_KEPT_LEVELS": 0, "_ENCODED": 28, "_KEPT_GRIDS": 1, "_PROBES": 1}),
    ):
        with mock.patch.multiple(module, **cut):
            assert all(map(np.array_equal, expected, everything(Case(ensemble, X, threads=threads))))


def test_more_threads_give_the_same_bits():
    rng = np.random.default_rng(2)
    ensemble, X = grow(rng, 4, n_trees=12, depth=6, n_raw=3), draw_rows(rng, 1300, 4, missing=True)
    how = rng.permutation(1300), draw_weights(rng, 1300)
    one, three = (everything(Case(ensemble, X, threads=threads), *how) for threads in (1, 3))
    assert all(map(np.array_equal, one, three))


# ---- what belongs together, and what does not ---------------------------------------------------


@pytest.fixture
def grouped():
    """Trees over x0 and x6, and two one-hot features, x1 to x3 and x4 to x5."""
    rng = np.random.default_rng(3)
    X = draw_rows(rng, 150, 7)
    X[:, 1:4] = rng.integers(4, size=(150, 1)) == np.arange(3)
    X[:, 4:6] = rng.integers(3, size=(150, 1)) == np.arange(2)
    return Case(grow(rng, 7, n_trees=40, depth=6), X, features={"kind": ["x1", "x2", "x3"], "two": ["x4", "x5"]})


def test_columns_of_a_group_move_together(grouped):
    features = [grouped.table.features[name] for name in ("kind", "x0", "two")]
    grids = grouped.grids(features)
    assert [grid.size for grid in grids] == [4, 7, 3]
    surface = grouped.at_points(grouped.all, [grids[0], grids[2]])
    case, trees = grouped, grouped.sums
    case.same(trees.ice(case.all, [grids[0]]), case.at_points(case.all, [grids[0]]))
    case.same(trees.ice(case.all, [grids[0], grids[2]]), surface)
    case.same(partial_dependence(trees, grids, [(0, 2)]).pairs[0], mean(surface))
    case.same_joint(joint_means(trees, features), features)


def test_columns_that_are_no_features_stay_and_can_be_asked_for():
    rng = np.random.default_rng(4)
    case = Case(grow(rng, 5, n_trees=9, depth=5), draw_rows(rng, 120, 5), features=["x3", "x1"])
    features = [*case.features, case.table.feature("x4")]
    assert [feature.name for feature in features] == ["x3", "x1", "x4"]
    for grid in case.grids(features):
        case.same(case.sums.ice(case.all, [grid]), case.at_points(case.all, [grid]))
    case.same_joint(joint_means(case.sums, features), features)


def test_features_that_no_split_uses_give_flat_curves_and_no_interaction():
    rng = np.random.default_rng(5)
    case = Case(replace(grow(rng, 2, n_trees=9), n_columns=4), draw_rows(rng, 80, 4))
    grids, prediction = case.grids(), case.sums.predict(case.all)
    assert np.array_equal(case.sums.ice(case.all, [grids[2]]), np.repeat(prediction[..., None], grids[2].size, axis=2))
    case.same(case.sums.ice(case.all, [grids[3], grids[0]])[:, :, 4], case.at_points(case.all, [grids[0]]))
    joint = joint_means(case.sums, case.features)
    assert (joint.single[:, 2:] == joint.mean[:, None, None]).all()
    assert (joint.rest[:, 2:] == joint.prediction[:, None]).all()
    assert (joint.interaction[:, 1:] == 0).all()
    case.same_joint(joint, case.features)


def test_pairs_that_are_on_no_path_together_do_not_interact_at_all():
    rng = np.random.default_rng(6)
    halves = [replace(grow(rng, 2, n_trees=7, depth=5), n_columns=4) for _ in range(2)]
    halves[1].column[halves[1].column >= 0] += 2
    case = Case(stack(halves), draw_rows(rng, 130, 4))
    joint = joint_means(case.sums, case.features, weights=draw_weights(rng, 130))
    apart = [pair for pair, values in zip(joint.pairs, joint.interaction[0], strict=True) if (values == 0).all()]
    assert apart == [(0, 2), (0, 3), (1, 2), (1, 3)]


def test_masks_stay_within_their_table_when_a_column_is_missing_everywhere():
    nodes = [(1, 2, 0, 0.0, False, -1), LEAF, LEAF, (4, 5, 1, 0.0, False, -1), LEAF, LEAF]
    case = Case(assemble(nodes, [0, 1, 2, 0, 4, 8], [0, 3], n_columns=2), np.column_stack([MARKS, MARKS * np.nan]))
    grid = case.grids()[0]
    # Compiled code does not notice when it writes beyond an array; the same loop in Python does.
    with mock.patch.object(kernels, "fill_table", kernels.fill_table.py_func):
        case.same(case.sums.ice(case.all, [grid]), case.at_points(case.all, [grid]))


# ---- responses of models ------------------------------------------------------------------------


@pytest.mark.parametrize(("link", "n_raw"), [(EXP, 2), (SIGMOID, 1), (SOFTMAX, 3)])
def test_a_response_that_is_not_affine_in_the_sums_is_taken_row_by_row(link, n_raw):
    rng = np.random.default_rng(9)
    case = Case(grow(rng, 3, n_raw=n_raw), draw_rows(rng, 90, 3), link=link)
    grid = case.grids()[0]
    curves = link.apply(case.at_points(case.all, [grid]))
    np.testing.assert_allclose(case.sums.ice(case.all, [grid]), curves, rtol=1e-12)
    crossed = link.apply(case.mixed(case.all, case.all[:5], grid.feature))
    np.testing.assert_allclose(case.sums.cross(case.all, case.all[:5], [grid.feature]), crossed, rtol=1e-12)
    np.testing.assert_allclose(partial_dependence(case.sums, [grid]).singles[0], curves.mean(axis=1), rtol=1e-12)


def asked(model, method, table, rows, grids):
    """Return the model's own answers, (n_outputs, m, K1, K2), for rows with their values replaced."""
    shape = (len(rows), *(grid.size for grid in grids))
    row, *chosen = np.indices(shape).reshape(len(shape), -1)
    moved = [grid.take(at) for grid, at in zip(grids, chosen, strict=True)]
    answer = getattr(model, method)(table.build(rows[row], {j: v for block in moved for j, v in block.items()}))
    return answer.reshape(len(row), -1).T.reshape(-1, *shape)


def homes(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.15, np.nan, rng.normal(40, 9, n).round(1)),
            "rent": rng.lognormal(size=n).astype(np.float32),
            "town": pd.Categorical(np.where(rng.random(n) < 0.1, None, rng.choice(["Bonn", "Kiel", "Ulm"], n))),
            "rooms": rng.integers(1, 7, n),
        }
    )
    price = X["age"].fillna(20) / 10 * (X["rooms"] > 3) + X["rent"] + 2.0 * (X["town"] == "Kiel") * X["rooms"]
    return X, price.to_numpy(dtype=float)


def cooked(final):
    numeric = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    steps = (numeric, ["age", "rent"]), (OneHotEncoder(handle_unknown="ignore"), ["town"])
    return make_pipeline(make_column_transformer(*steps, remainder="passthrough"), final)


OPTIONS = {"categorical_features": "from_dtype", "max_iter": 6, "max_leaf_nodes": 8, "min_samples_leaf": 3}
MODELS = {
    "forest": (cooked(e.RandomForestRegressor(9, random_state=0)), "predict", True),
    "forest of classes": (cooked(e.RandomForestClassifier(5, random_state=0)), "predict_proba", True),
    "boosting of classes": (cooked(e.GradientBoostingClassifier(n_estimators=9)), "predict_proba", False),
    "histograms": (e.HistGradientBoostingRegressor(**OPTIONS), "predict", True),
    "histograms of classes": (e.HistGradientBoostingClassifier(**OPTIONS), "predict_proba", False),
}


@pytest.mark.parametrize(("model", "method", "linear"), MODELS.values(), ids=MODELS)
def test_curves_and_averages_of_models_are_what_the_models_answer(model, method, linear):
    X, price = homes()
    model.fit(X, price if method == "predict" else np.digitize(price, np.quantile(price, [0.3, 0.7])))
    table, rows = FeatureTable(X), np.arange(0, len(X), 7)
    trees = TreeSums(table, model, method)
    grids = [make_grid(table, feature, grid_size=9) for feature in table.features.values()]
    assert [grid.missing >= 0 for grid in grids] == [True, False, True, False]
    expected = [asked(model, method, table, rows, [grid]) for grid in grids]
    surface = asked(model, method, table, rows, [grids[2], grids[0]])
    close = {"rtol": 0, "atol": 1e-12 * np.abs(surface).max()}
    for grid, curves in zip(grids, expected, strict=True):
        np.testing.assert_allclose(trees.ice(rows, [grid]), curves, **close)
    np.testing.assert_allclose(trees.ice(rows, [grids[2], grids[0]]), surface, **close)
    assert trees.linear == linear
    answer = partial_dependence(trees, grids, [(2, 0)], rows=rows)
    for curve, curves in zip(answer.singles, expected, strict=True):
        np.testing.assert_allclose(curve, curves.mean(axis=1), **close)
    np.testing.assert_allclose(answer.pairs[0], surface.mean(axis=1), **close)
    if not linear:
        decisions = partial_dependence(TreeSums(table, model, "decision_function"), grids, rows=rows).singles[3]
        assert np.abs(trees.link.apply(decisions) - expected[3].mean(axis=1)).max() > 1e-3


@pytest.mark.parametrize(("model", "method", "linear"), MODELS.values(), ids=MODELS)
def test_averages_at_the_rows_are_those_of_the_models_answers(model, method, linear):
    X, price = homes()
    model.fit(X, price if method == "predict" else np.digitize(price, np.quantile(price, [0.3, 0.7])))
    table, rows = FeatureTable(X), np.arange(0, len(X), 9)
    n, features = len(rows), list(table.features.values())
    weights = np.random.default_rng(1).random(n)
    with mock.patch.object(means, "_CROSSED", 16):  # the rows do not fit into one block of these
        found = joint_means(TreeSums(table, model, method), features, [(3, 0), (1, 2)], rows=rows, weights=weights)

    def average(names):
        """Average over the rows with the named columns as in each row."""
        rest, own = np.repeat(rows, n), np.tile(rows, n)
        block = pd.DataFrame({name: X[name].take(own if name in names else rest).array for name in X})
        answer = getattr(model, method)(block).reshape(n, n, -1)
        return np.average(answer, axis=0, weights=weights).T

    close = {"rtol": 0, "atol": 1e-11 * np.abs(found.prediction).max()}
    np.testing.assert_allclose(found.prediction, average(list(X)), **close)
    np.testing.assert_allclose(found.mean[:, None], average([])[:, :1], **close)
    for k, name in enumerate(X):
        np.testing.assert_allclose(found.single[:, k], average([name]), **close)
        np.testing.assert_allclose(found.rest[:, k], average([other for other in X if other != name]), **close)
    for number, names in enumerate([("rooms", "age"), ("rent", "town")]):
        np.testing.assert_allclose(found.joint[:, number], average(names), **close)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_compared_as_a_forest_rounds_them(dtype):
    model = fit(e.RandomForestRegressor(7, max_depth=6, random_state=0))
    ensemble = TreeSums(FeatureTable(fitted_rows()), model, "predict").ensemble
    table, rows = FeatureTable(edges(ensemble, fitted_rows(), 0).astype(dtype)), np.arange(0, 600, 9)
    trees, random = TreeSums(table, model, "predict"), np.random.default_rng(0)
    for feature in table.features.values():
        near = random.choice(table.observed(feature).codes, 200, replace=False)
        grid = make_grid(table, feature, given=near.tolist())
        curves = asked(model, "predict", table, rows, [grid])
        np.testing.assert_allclose(trees.ice(rows, [grid]), curves, rtol=0, atol=1e-12 * np.abs(curves).max())


def test_a_model_of_a_constant_target_has_no_split_and_constant_answers():
    X = homes(60)[0][["rent", "rooms"]]
    table = FeatureTable(X)
    trees = TreeSums(table, e.RandomForestRegressor(4, random_state=0).fit(X, np.full(60, 2.5)), "predict")
    features = list(table.features.values())
    grids = [make_grid(table, feature) for feature in features]
    assert (trees.ice(np.arange(60), grids) == 2.5).all()
    assert (partial_dependence(trees, grids, [(0, 1)]).pairs[0] == 2.5).all()
    joint = joint_means(trees, features)
    assert (joint.interaction == 0).all()
    assert (np.concatenate([joint.single, joint.rest, joint.joint], axis=1) == 2.5).all()


# ---- refusals -----------------------------------------------------------------------------------


def leaking(frame):
    """Let x0 move the second column, too, beyond the values that any row has."""
    return numbers(frame.assign(x1=frame["x1"] + (frame["x0"] > 5)))


def picky(frame):
    if (frame["x0"] > 5).any():
        raise ValueError("too large")
    return numbers(frame)


@pytest.mark.parametrize(
    ("encode", "reason"),
    [(leaking, "a point of the grid of 'x0' moves a column"), (picky, "too large")],
)
def test_grids_that_move_other_columns_or_cannot_be_encoded_are_refused(encode, reason):
    rng = np.random.default_rng(12)
    case = Case(grow(rng, 2), draw_rows(rng, 60, 2), encode=encode)
    good, bad = (make_grid(case.table, case.features[0], given=[-1.0, last]) for last in (3.0, 6.0))
    for ask in (lambda grid: case.sums.ice(case.all, [grid]), lambda grid: partial_dependence(case.sums, [grid])):
        ask(good)
        with pytest.raises(UnreadableError, match=reason):
            ask(bad)
    case.same(case.sums.ice(case.all, [good]), case.at_points(case.all, [good]))


def test_a_column_that_is_constant_in_the_rows_belongs_to_the_feature_whose_grid_moves_it():
    rng = np.random.default_rng(5)
    case = Case(grow(rng, 2, n_trees=9), np.column_stack([draw_rows(rng, 80, 1)[:, 0], np.full(80, 2.0)]))
    own = make_grid(case.table, case.table.feature("x1"), given=[-9.0, 2.0, 9.0])
    other = case.grids()[0]
    for grids in ([own], [other], [own, other], [other, own]):
        case.same(case.sums.ice(case.all, grids), case.at_points(case.all, grids))


@pytest.mark.parametrize("columns", [(1,), (0, 6), (0, 1, 2, 3), (2, 4)])
def test_features_that_overlap_are_refused(grouped, columns):
    feature = Feature("mix", "number", columns)
    with pytest.raises(UnreadableError, match="'mix' overlaps with other features"):
        grouped.sums.cross(grouped.all, grouped.all, [feature])
    with pytest.raises(UnreadableError, match="'mix' overlaps with other features"):
        joint_means(grouped.sums, [feature])
