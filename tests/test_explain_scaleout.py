"""Rows in chunks: the same numbers as all rows at once, wherever the chunks are and however they are cut."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeRegressor

from pdp_widgets.explain import Explainer
from pdp_widgets.explain.scaleout import from_chunks
from pdp_widgets.explain.scaleout_result import ChunkedDependence
from pdp_widgets.inputs import InputError, PDPWidgetsError, PredictionError
from pdp_widgets.inputs.conditions import Levels, Rows

LEVELS = {"low": 0.0, "mid": 1.0, "high": 3.0, "rare": -2.0}


class Mixed:
    """f of numbers with gaps, whole numbers, texts, categories, flags and dates; two outputs."""

    def predict(self, X):
        a = X["a"].fillna(-1.5).to_numpy(float)
        text = X["text"].astype(object).map(LEVELS).fillna(0.5).to_numpy(float)
        kind = X["kind"].astype(object).map({"x": 1.0, "y": 2.0, "z": 4.0}).fillna(-1.0).to_numpy(float)
        days = (X["when"] - pd.Timestamp("2024-01-01")).dt.days.to_numpy(float)
        first = a * text + kind * X["k"].to_numpy(float) + 0.1 * days
        return np.column_stack([first, np.where(X["flag"], a, -text) * kind])


def rows(n=900, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n).round(2)
    a[rng.random(n) < 0.1] = np.nan
    text = rng.choice(["low", "mid", "high"], n)
    return pd.DataFrame(
        {
            "a": a,
            "k": rng.integers(0, 6, n),
            "text": pd.Series(text).where(rng.random(n) > 0.05),
            "kind": pd.Categorical(rng.choice(["x", "y", "z"], n), categories=["z", "x", "y"]),
            "flag": rng.random(n) < 0.3,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 50, n), unit="D"),
        }
    )


def cut(frame, *ends):
    edges = [0, *ends, len(frame)]
    return [frame.iloc[low:high] for low, high in pairwise(edges)]


def check(result, expected, atol=1e-10):
    """All that is said of all rows equals what an Explainer of all rows says."""
    assert isinstance(result, ChunkedDependence)
    np.testing.assert_allclose(result.average, expected.average, atol=atol, rtol=0)
    np.testing.assert_allclose(result.variance, expected.variance, atol=atol, rtol=1e-10)
    np.testing.assert_array_equal(result.stderr, 0)
    assert result.complete
    for name in ("n_rows_used", "rows_done", "rows_total", "rows_omitted", "outputs", "scale", "subgroup"):
        assert getattr(result, name) == getattr(expected, name), name
    if len(result.grids) == 1:
        np.testing.assert_allclose(result.density, expected.density, atol=1e-12)
        np.testing.assert_allclose(result.importance, expected.importance, atol=atol)
    pd.testing.assert_frame_equal(result.to_frame(), expected.to_frame(), atol=atol, rtol=1e-10)


def same_points(result):
    """The grid as a caller would write it."""
    points = [
        [value.item() if isinstance(value, np.bool_) else value for value in values] for values in result.grid_values
    ]
    return points[0] if len(points) == 1 else points


# ---- the same as all rows at once ------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "features", ["a", "k", "text", "kind", "flag", "when", ("a", "text"), ("kind", "flag"), ("when", "k")]
)
def test_equals_an_explainer_of_all_rows(features, weighted):
    frame = rows()
    w = np.random.default_rng(1).exponential(size=len(frame))
    w[:200] = 0  # a whole chunk without weight
    chunks = cut(frame.assign(w=w) if weighted else frame, 200, 200, 201, 640)
    explainer = from_chunks(Mixed(), chunks, sample=150, sample_weight="w" if weighted else None)
    whole = Explainer(Mixed(), frame, sample_weight=w if weighted else None)
    assert explainer.n_rows == 900
    assert explainer.chunk_rows == {0: 200, 2: 1, 3: 439, 4: 260}, "a chunk without rows does not count"
    for subgroup in (None, "a > 0 & text != 'mid'"):
        result = explainer.partial_dependence(features, subgroup=subgroup)
        check(result, whole.partial_dependence(features, grid=same_points(result), subgroup=subgroup))
        assert result.weighted == weighted
        grid = result.grids[0] if len(result.grids) == 1 else result.grids
        sampled = explainer.sample.partial_dependence(features, grid=grid, subgroup=subgroup)
        np.testing.assert_array_equal(result.individual, sampled.individual)


def test_closed_form():
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[:, 2] += np.arange(500) // 50  # chunks that differ
    explainer = from_chunks(lambda Z: Z[:, 0] * Z[:, 1] + Z[:, 2], np.split(X, 10), sample=40)
    result = explainer.partial_dependence("x0", grid=[-1.0, 0.0, 2.5])
    u = np.array([-1.0, 0.0, 2.5])
    np.testing.assert_allclose(result.average[0], u * X[:, 1].mean() + X[:, 2].mean(), atol=1e-12)
    curves = u[:, None] * X[:, 1] + X[:, 2]
    np.testing.assert_allclose(result.variance[0], curves.var(axis=1, ddof=1), rtol=1e-12)


@pytest.mark.parametrize("method", ["trees", "model"])
def test_classes_of_trees(method):
    if method == "trees":
        pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
    X.loc[rng.random(600) < 0.1, "b"] = np.nan
    y = np.array(["p", "q", "r"])[np.digitize(X["a"] * X["b"].fillna(1) + X["c"], [-0.5, 0.5])]
    model = RandomForestClassifier(5, max_depth=5, random_state=0).fit(X, y)
    explainer = from_chunks(model, cut(X, 100, 350), sample=100, method=method)
    whole = Explainer(model, X, method="model")
    for features in ("b", ("a", "b")):
        result = explainer.partial_dependence(features)
        check(result, whole.partial_dependence(features, grid=same_points(result)))
        assert ("exact sums" in result.method) == (method == "trees")
    one = explainer.partial_dependence("b", output="q")
    assert one.outputs == ("q",)
    np.testing.assert_array_equal(one.average, explainer.partial_dependence("b").average[1:2])
    np.testing.assert_array_equal(one.counts, explainer.partial_dependence("b").counts)


def test_levels_that_only_some_chunks_have():
    frame = rows().sort_values("text", kind="stable")
    frame["object"] = frame["text"].astype(object)
    frame["maybe"] = pd.Series(
        [True, False, None] * 300, dtype=object
    )  # true or false, or a category: as one looks at it
    frame.iloc[:100, frame.columns.get_loc("maybe")] = True
    frame["number"] = pd.Series([1, 2.5, 3] * 300, dtype=object)
    frame.iloc[100:500, frame.columns.get_loc("number")] = 2
    frame.iloc[:5, frame.columns.get_loc("object")] = None
    frame["mixed"] = pd.Series(["x", 3, "y"] * 300, dtype=object)
    frame.iloc[500:, frame.columns.get_loc("mixed")] = 3  # numbers, as this chunk alone has it
    chunks = cut(frame, 100, 500)
    chunks[2] = chunks[2].assign(object=pd.Series([None] * len(chunks[2]), dtype=object, index=chunks[2].index))
    # Each chunk declares the categories it has, as one that was read from its own file does.
    own = [chunk.assign(kind=chunk["kind"].astype(str).astype("category")) for chunk in chunks]
    own[0] = own[0][own[0]["kind"] != "y"].assign(kind=lambda X: X["kind"].astype(str).astype("category"))
    whole = pd.concat(own).assign(kind=lambda X: pd.Categorical(X["kind"].astype(str), categories=["x", "y", "z"]))
    explainer = from_chunks(Mixed(), own, sample=300)
    for feature in ("text", "kind", "object", "maybe", "number", "mixed"):
        for subgroup in (
            None,
            "kind in ['x', 'y'] | text == 'low'",
            "object == 'low' | text.isna()",
            "maybe & number > 1",
            "mixed == 'x'",
        ):
            result = explainer.partial_dependence(feature, subgroup=subgroup)
            expected = Explainer(Mixed(), whole).partial_dependence(
                feature, grid=same_points(result), subgroup=subgroup
            )
            check(result, expected)
    assert explainer.partial_dependence("kind").grids[0].labels == ["x", "y", "z"]


def test_a_level_too_rare_for_the_sample():
    frame = rows()
    frame["text"] = frame["text"].astype(object)
    frame.loc[777, "text"] = "rare"
    explainer = from_chunks(Mixed(), cut(frame, 300, 600), sample=50)
    assert 777 not in explainer.sample_rows
    with pytest.raises(InputError, match="50 sampled rows"):
        explainer.partial_dependence("a", subgroup="text == 'rare'")
    whole = Explainer(Mixed(), frame)
    alone = explainer.partial_dependence("a", subgroup=Levels("text", ("rare",)))
    check(alone, whole.partial_dependence("a", grid=same_points(alone), subgroup=Levels("text", ("rare",))))
    assert alone.individual.shape == (2, 0, len(alone.grid_values[0])), "no row of it was sampled"
    assert alone.heterogeneity is None
    given = explainer.partial_dependence("text", grid=["rare", "low"])
    check(given, whole.partial_dependence("text", grid=["rare", "low"]))
    declared = frame.assign(text=frame["text"].astype(pd.CategoricalDtype(["low", "rare", "mid", "high"])))
    explainer = from_chunks(Mixed(), cut(declared, 300), sample=50)
    assert explainer.partial_dependence("a", subgroup="text == 'rare'").n_rows_used == 1


def test_groups_of_one_hot_columns():
    rng = np.random.default_rng(3)
    level = rng.choice(4, 400, p=[0.5, 0.3, 0.19, 0.01])
    X = pd.DataFrame({f"s_{k}": (level == k).astype(float) for k in range(3)} | {"t": rng.normal(size=400)})
    groups = {"s": ["s_0", "s_1", "s_2"]}
    model = lambda Z: Z["s_1"] * Z["t"] + 2 * Z["s_2"] + Z["t"] ** 2  # noqa: E731
    explainer = from_chunks(model, cut(X, 10, 200), sample=400, features=groups)
    whole = Explainer(model, X, features=groups)
    for features in ("s", ("t", "s")):
        check(explainer.partial_dependence(features), whole.partial_dependence(features))


@pytest.mark.parametrize("kind", ["numpy", "polars", "csr_matrix", "csr_array", "lists"])
def test_other_tables(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(1)
    w = rng.random(300)
    both = np.column_stack([X, w])

    def model(Z):
        Z = Z.toarray() if hasattr(Z, "toarray") else np.asarray(Z)
        assert Z.shape[1] == 3
        return Z[:, 0] * Z[:, 1] - Z[:, 2]

    if kind == "polars":
        pl = pytest.importorskip("polars")
        make, name = lambda Z: pl.DataFrame(Z, schema=["x0", "x1", "x2", "w"]), "w"
    elif kind == "lists":
        make, name = lambda Z: Z.tolist(), -1
    elif kind == "numpy":
        make, name = np.copy, 3
    else:
        sparse = pytest.importorskip("scipy.sparse")
        make, name = getattr(sparse, kind), "x3"
    explainer = from_chunks(model, [make(part) for part in np.split(both, [7, 100])], sample=90, sample_weight=name)
    whole = Explainer(model, X, sample_weight=w)
    for features in ("x0", ("x0", "x2")):
        result = explainer.partial_dependence(features, subgroup="x1 > 0")
        check(result, whole.partial_dependence(features, grid=same_points(result), subgroup="x1 > 0"))


def test_lazy_polars():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.5]})
    result = from_chunks(lambda Z: Z["a"] * Z["b"], [X.lazy(), X.lazy()]).partial_dependence("a", grid=[2.0])
    assert result.average.item() == pytest.approx(1.0)


def test_predictions_that_are_no_numbers():
    frame = rows(300)[["a", "k"]].fillna(0.0)

    def model(X):
        return np.where((X["k"] == 3) & (X["a"] > 1), np.nan, X["a"] * X["k"])

    chunks = cut(frame, 100, 200)
    with pytest.raises(PredictionError, match="NaN"):
        from_chunks(model, chunks, sample=300).partial_dependence("a")
    explainer = from_chunks(model, chunks, sample=60, nan_predictions="omit")
    result = explainer.partial_dependence("a")
    expected = Explainer(model, frame, nan_predictions="omit").partial_dependence("a", grid=same_points(result))
    assert result.rows_omitted == expected.rows_omitted == (frame["k"] == 3).sum()
    check(result, expected)
    assert f"{result.n_rows_used} rows in 3 chunks" in result.method
    assert "without a finite prediction omitted" in repr(result)


def test_two_predictions_near_the_largest_number():
    explainer = from_chunks(lambda X: X[:, 0] * 1e300, [np.full((3, 1), 1.0), np.full((2, 1), 2.0)])
    assert explainer.partial_dependence(0, grid=[1.0]).average.item() == 1e300


# ---- however the rows are cut ----------------------------------------------------------------


def test_chunks_may_be_cut_anyhow():
    frame = rows()
    cuts = [(), (450,), (1, 2, 3, 899), tuple(range(50, 900, 50))]
    whole = None
    for ends in cuts:
        explainer = from_chunks(Mixed(), cut(frame, *ends), sample=120, random_state=4)
        results = explainer.partial_dependences(["a", ("text", "k")])
        if whole is None:
            whole = explainer, results
            continue
        np.testing.assert_array_equal(explainer.sample_rows, whole[0].sample_rows)
        for features, result in results.items():
            np.testing.assert_allclose(result.average, whole[1][features].average, atol=1e-12)
            np.testing.assert_allclose(result.variance, whole[1][features].variance, rtol=1e-11, atol=1e-12)
            np.testing.assert_array_equal(result.individual, whole[1][features].individual)
            np.testing.assert_array_equal(result.rows, whole[1][features].rows)


def test_the_sample_holds_rows_of_the_chunks_with_y_and_weights():
    frame = rows().assign(y=np.arange(900) * 2.0, w=np.arange(900) + 1.0)
    explainer = from_chunks(Mixed(), cut(frame, 100, 101, 700), sample=77, y="y", sample_weight="w")
    at = explainer.sample_rows
    assert len(np.unique(at)) == 77
    assert (np.diff(at) > 0).all()
    sample = explainer.sample
    taken = sample.table.build(np.arange(77))
    pd.testing.assert_frame_equal(taken, frame.iloc[at, :6].reset_index(drop=True))
    np.testing.assert_array_equal(sample.y, at * 2.0)
    np.testing.assert_allclose(sample.weights, (at + 1.0) / (at + 1.0).mean())
    assert sample.table.row_label(5) == str(at[5])
    everything = from_chunks(Mixed(), cut(frame, 100), sample=5000, y="y", sample_weight="w")
    np.testing.assert_array_equal(everything.sample_rows, np.arange(900))


def test_the_sample_is_uniform():
    X = np.arange(60.0)[:, None]
    chunks = np.split(X, [1, 30, 55])
    seen, pairs = np.zeros(60), np.zeros((60, 60))
    for seed in range(600):
        drawn = from_chunks(lambda Z: Z[:, 0], chunks, sample=20, random_state=seed).sample_rows
        seen[drawn] += 1
        pairs[np.ix_(drawn, drawn)] += 1
    assert seen.sum() == 600 * 20
    z = (seen - 200) / np.sqrt(600 * (1 / 3) * (2 / 3))
    assert np.abs(z).max() < 4
    assert 0.5 < (z**2).mean() < 1.5
    share = 20 * 19 / (60 * 59)
    off = (pairs[~np.eye(60, dtype=bool)] - 600 * share) / np.sqrt(600 * share * (1 - share))
    assert 0.8 < (off**2).mean() < 1.2, "neither do rows come in pairs"
    again = from_chunks(lambda Z: Z[:, 0], chunks, sample=20, random_state=599).sample_rows
    np.testing.assert_array_equal(again, drawn)


def test_one_chunk_at_a_time():
    arrays, most = [], []

    def chunks():
        for k in range(25):
            most.append(sum(array() is not None for array in arrays))
            array = np.random.default_rng(k).normal(size=(400, 3))
            arrays.append(weakref.ref(array))
            frame = pd.DataFrame(array, columns=list("abc"), copy=False)
            assert np.shares_memory(frame["a"].to_numpy(), array)
            del array
            yield frame
            del frame

    rng = np.random.default_rng(0)
    Z = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    trees = DecisionTreeRegressor(max_depth=3).fit(Z, Z["a"] * Z["b"])
    for model, method in ((lambda X: X["a"] * X["b"], "model"), (trees, "auto")):
        explainer = from_chunks(model, chunks, sample=100, method=method)
        if method == "auto":
            explainer.sample.exact_sums()
        explainer.partial_dependences(["a", ("a", "b")], subgroup="c > 0")
    assert len(most) == 25 * 4
    assert max(most) == 0, "a chunk was still there when the next one was made"


# ---- as it converges -------------------------------------------------------------------------


def test_results_grow_chunk_by_chunk():
    frame = rows()
    explainer = from_chunks(Mixed(), cut(frame, *range(90, 900, 90)), sample=100)
    results = list(explainer.iter_partial_dependence("a"))
    assert [result.chunks_done for result in results] == list(range(1, 11))
    assert [result.rows_done for result in results] == list(range(90, 901, 90))
    assert np.isinf(results[0].stderr).all(), "one chunk of ten tells nothing of the others"
    assert all((result.stderr > 0).all() and np.isfinite(result.stderr).all() for result in results[1:-1])
    assert [result.complete for result in results] == [False] * 9 + [True]
    assert "270 of 900 rows in 3 of 10 chunks; curves of 100 sampled rows" in repr(results[2])
    assert results[2].method == "averages of 270 rows in 3 of 10 chunks (model calls); curves of a sample of 100 rows"
    assert results[-1].method == "averages of all 900 rows in 10 chunks (model calls); curves of a sample of 100 rows"
    check(results[-1], Explainer(Mixed(), frame).partial_dependence("a", grid=same_points(results[-1])))
    first = from_chunks(Mixed(), cut(frame, *range(90, 900, 90)), sample=100)
    again = next(first.iter_partial_dependence("a")).average  # in other pieces, as fast as the model seemed
    np.testing.assert_allclose(again, results[0].average, rtol=1e-12)
    taken = [next(from_chunks(Mixed(), cut(frame, *range(90, 900, 90)), random_state=s).iter_partial_dependence("a")).average[0, 0]
             for s in range(6)]  # fmt: skip
    assert len(set(taken)) > 1, "chunks come in random order"


def test_a_subgroup_grows():
    frame = rows().sort_values("k", ignore_index=True)
    explainer = from_chunks(Mixed(), cut(frame, *range(90, 900, 90)), sample=100)
    results = list(explainer.iter_partial_dependence("a", subgroup="k == 2"))
    n = int((frame["k"] == 2).sum())
    assert results[-1].rows_total == results[-1].n_rows_used == n
    for result in results[:-1]:
        assert not result.complete
        assert result.rows_total == max(result.rows_done, round(900 * result.rows_done / (90 * result.chunks_done)))
        assert result.rows_total == 0 or "about" in repr(result)
        if not result.n_rows_used:
            assert np.isnan(result.average).all()
    check(
        results[-1], Explainer(Mixed(), frame).partial_dependence("a", grid=same_points(results[-1]), subgroup="k == 2")
    )
    with pytest.raises(InputError, match="holds none of the 900 rows"):
        explainer.partial_dependence("a", subgroup="k > 100")


@pytest.mark.parametrize("weighted", [False, True])
def test_standard_error_is_that_of_random_chunks(weighted):
    """Rows of a chunk are alike here: an error computed from rows would be several times too small."""
    rng = np.random.default_rng(0)
    chunks = [
        np.column_stack(
            [rng.normal(size=m), np.full(m, rng.normal()) + 0.3 * rng.normal(size=m), rng.uniform(0.5, 2, size=m)]
        )
        for m in rng.integers(15, 25, 16)
    ]
    whole = np.concatenate(chunks)
    truth = np.average(whole[:, 1], weights=whole[:, 2] if weighted else None)
    name = "x2" if weighted else None
    errors, said, naive = [], [], []
    for seed in range(200):
        explainer = from_chunks(lambda X: X[:, 1], chunks, sample=1, random_state=seed, sample_weight=name)
        growing = explainer.iter_partial_dependence(0, grid=[0.0])
        result = [next(growing) for _ in range(8)][-1]
        errors.append(result.average.item() - truth)
        said.append(result.stderr.item())
        naive.append(np.sqrt(result.variance.item() / result.n_rows_used))
    assert abs(np.sqrt(np.mean(np.square(said))) / np.sqrt(np.mean(np.square(errors))) - 1) < 0.12
    assert np.mean(naive) < 0.5 * np.mean(said)


def test_weights_of_any_size():
    frame = rows().assign(w=lambda X: X["k"] + 0.25, huge=lambda X: (X["k"] + 0.25) * 1e180)
    small, large = (
        list(
            from_chunks(
                Mixed(), cut(frame.drop(columns=other), *range(90, 900, 90)), sample_weight=name
            ).iter_partial_dependence("a")
        )
        for name, other in (("w", "huge"), ("huge", "w"))
    )
    for one, same in zip(small, large, strict=True):
        np.testing.assert_allclose(one.average, same.average, rtol=1e-12)
        np.testing.assert_allclose(one.stderr, same.stderr, rtol=1e-9)


def test_chunks_in_one_order_have_no_error_before_the_end():
    frame = rows()
    explainer = from_chunks(Mixed(), lambda: iter(cut(frame, 300, 600)), sample=100)
    *before, last = explainer.iter_partial_dependence("a")
    assert all(np.isnan(result.stderr).all() for result in before)
    assert [result.rows_done for result in before] == [300, 600]
    check(last, Explainer(Mixed(), frame).partial_dependence("a", grid=same_points(last)))


class Counting:
    def __init__(self, model):
        self.model, self.rows = model, 0

    def predict(self, X):
        self.rows += len(X)
        return self.model.predict(X)


def test_whoever_stops_asking_stops_the_work_and_may_go_on():
    frame, spy = rows(), Counting(Mixed())
    explainer = from_chunks(spy, cut(frame, *range(90, 900, 90)), sample=10)
    growing = explainer.iter_partial_dependence("a", grid=[0.0, 1.0])
    next(growing), next(growing)
    at = spy.rows
    growing.close()
    assert spy.rows == at
    other = explainer.iter_partial_dependence("a", grid=[0.0, 1.0])
    assert next(other).chunks_done == 3
    result = explainer.partial_dependence("a", grid=[0.0, 1.0])
    assert result.chunks_done == 10
    assert spy.rows == explainer.rows_asked
    assert next(other).chunks_done == 4, "two may ask the same at the same time"
    at = spy.rows
    list(explainer.iter_partial_dependence("a", grid=[0.0, 1.0]))
    explainer.partial_dependence("a", grid=[0.0, 1.0], output=1)
    assert spy.rows == at, "what is known is not asked for again"
    check(result, Explainer(Mixed(), frame).partial_dependence("a", grid=[0.0, 1.0]))


def test_several_features_from_one_reading():
    frame, reads = rows(), []

    def read(k):
        reads.append(k)
        return frame.iloc[300 * k : 300 * (k + 1)]

    explainer = from_chunks(Mixed(), [partial(read, k) for k in range(3)], sample=80)
    assert sorted(reads) == [0, 1, 2]
    explainer.partial_dependence("k")
    results = explainer.partial_dependences()
    assert sorted(reads) == sorted([0, 1, 2] * 3)
    whole = Explainer(Mixed(), frame)
    assert list(results) == list(frame)
    for name, result in results.items():
        check(result, whole.partial_dependence(name, grid=same_points(result)))
    assert list(explainer.partial_dependences(["a", ["k", "a"]])) == ["a", ("k", "a")]
    assert explainer.partial_dependences([]) == {}


# ---- what the result says --------------------------------------------------------------------


def test_result_says_what_stands_on_all_rows_and_what_on_the_sample():
    frame = rows()
    explainer = from_chunks(Mixed(), cut(frame, 200, 500), sample=100)
    assert repr(explainer) == (
        "<ChunkedExplainer of Mixed: 6 features, 900 rows in 3 chunks, 100 of them sampled; prediction of output 0, output 1>"
    )
    result = explainer.partial_dependence("a", grid=[-1.0, 0.0, 1.0])
    expected = Explainer(Mixed(), frame).partial_dependence("a", grid=[-1.0, 0.0, 1.0])
    sampled = explainer.sample.partial_dependence("a", grid=[-1.0, 0.0, 1.0])
    assert len(result.rows) == 100
    assert result.rows_done == 900
    assert result.to_frame()["n_nearest"].sum() == 2 * result.counts.sum() == 2 * frame["a"].notna().sum()
    np.testing.assert_array_equal(result.heterogeneity.shape, (2,))
    centred = result.centered()
    np.testing.assert_allclose(centred.average, expected.centered().average, atol=1e-10)
    np.testing.assert_allclose(centred.variance, sampled.centered().variance, atol=1e-12)
    np.testing.assert_array_equal(centred.stderr, 0)
    slopes = result.derivative()
    np.testing.assert_allclose(slopes.average, expected.derivative().average, atol=1e-10)
    np.testing.assert_array_equal(slopes.stderr, 0)
    assert slopes.n_rows_used == 900
    assert list(slopes.to_frame()) == ["output", "a", "average", "stderr"]
    growing = next(explainer.iter_partial_dependence("k"))
    assert np.isnan(growing.centered().stderr).all(), "how the errors of two points go together is not known"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(result)).average, result.average)
    figure = result.to_bqplot(output=0)
    assert figure.title == "a (900 of 900 rows)"


def test_curves_beyond_the_cap_are_not_computed():
    frame = rows()
    explainer = from_chunks(Mixed(), cut(frame, 200, 500), sample=100, cache_bytes=100)
    result = explainer.partial_dependence("a", subgroup="k > 2")
    assert result.individual is None
    assert result.method.endswith("; no curves")
    assert "no curves" in repr(result)
    check(result, Explainer(Mixed(), frame).partial_dependence("a", grid=same_points(result), subgroup="k > 2"))
    np.testing.assert_array_equal(result.centered().stderr, 0)


def test_chunks_stay_as_they_are():
    chunks = cut(rows().assign(w=1.0), 200, 500)
    before = [chunk.copy() for chunk in chunks]
    from_chunks(Mixed(), chunks, sample=100, sample_weight="w").partial_dependences()
    for chunk, old in zip(chunks, before, strict=True):
        pd.testing.assert_frame_equal(chunk, old)


# ---- what cannot be done ---------------------------------------------------------------------


def gone():
    raise OSError("no such file")


def test_errors_say_which_chunk_and_what_to_do():
    frame = rows()
    good = cut(frame, 300, 600)
    for chunks, text in [
        ((chunk for chunk in good), "generator, which can be read only once.*pass the function"),
        (frame, "single table.*list of tables"),
        (frame.to_numpy(), "single table"),
        ([], "is empty"),
        ({"a": frame}, "expected a dask DataFrame"),
        ("x.parquet", "expected a dask DataFrame"),
        (lambda: 7, "returned a int"),
        ([frame.iloc[:0]], "no rows at all"),
        (lambda: iter(()), "no rows at all"),
        ([good[0], frame["a"]], "^chunk 1: X is a Series"),
        ([good[0], 3], "^chunk 1: "),
        ([good[0], gone], r"^chunk 1: it could not be read: OSError: no such file"),
        ([good[0], good[1].drop(columns="k")], r"^chunk 1: it has other columns than chunk 0: without 'k'"),
        ([good[0].iloc[:0], good[0], good[1].assign(new=1)], r"^chunk 2: .* than chunk 1: with 'new'"),
        ([good[0], good[1][list("ka") + list(good[1])[2:]]], "in another order"),
        ([good[0], good[1].astype({"k": float})], r"^chunk 1: its column 'k' is float64, that of chunk 0 is int64.*astype"),
        ([good[0], good[1].to_numpy()], "^chunk 1: it is an array, chunk 0 is a DataFrame of pandas"),
        ([good[0], good[1].assign(kind=pd.Categorical(good[1]["kind"], list("xyz"), ordered=True))], "an ordered category of 'x'"),
        ([good[0].assign(a=1 + 2j)], "^chunk 0: column 'a' has dtype complex"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=text):
            from_chunks(Mixed(), chunks)


def test_options_are_checked_before_all_chunks_are_read():
    frame, reads = rows(), []

    def read(k):
        reads.append(k)
        return frame.iloc[300 * k : 300 * (k + 1)]

    chunks = [partial(read, k) for k in range(3)]
    for options, error, text in [
        ({"sample": 0}, InputError, "sample=0"),
        ({"grid_sise": 3}, TypeError, "did you mean 'grid_size'"),
        ({"background": 3}, InputError, "sample="),
        ({"client": 3}, InputError, "client is a int"),
        ({"executor": 3}, InputError, "executor is a int"),
        ({"client": 3, "executor": ThreadPoolExecutor(1)}, InputError, "one of the two"),
        ({"response": "probability"}, InputError, "predict_proba"),
        ({"features": ["b"]}, InputError, "chunk 0: feature 'b'"),
        ({"y": "target"}, InputError, "chunk 0: y 'target' is not a column of the chunks"),
        ({"y": np.zeros(3)}, InputError, "chunk 0: y is a ndarray"),
        ({"sample_weight": "text"}, InputError, "chunk 0: sample_weight cannot be used"),
        ({"sample_weight": "a"}, InputError, "chunk 0: sample_weight must be finite"),
    ]:
        reads.clear()
        with pytest.raises(error, match=text):
            from_chunks(Mixed(), chunks, **options)
        assert len(reads) <= 1
    with pytest.raises(InputError, match="zero for all rows"):
        from_chunks(Mixed(), [frame.assign(w=0.0)], sample_weight="w")
    rarely = frame.assign(w=np.arange(900) == 5)
    with pytest.raises(InputError, match="zero for all sampled rows; raise sample="):
        from_chunks(Mixed(), [rarely], sample_weight="w", sample=3)
    check(
        from_chunks(Mixed(), [rarely], sample_weight="w").partial_dependence("k"),
        Explainer(Mixed(), frame, sample_weight=rarely["w"]).partial_dependence("k"),
    )


def test_questions_that_cannot_be_answered():
    frame = rows()
    explainer = from_chunks(Mixed(), cut(frame, 300), sample=900)
    with pytest.raises(InputError, match=r"ndarray.*query string"):
        explainer.partial_dependence("a", subgroup=np.ones(900, bool))
    with pytest.raises(InputError, match="expected one per row"):
        explainer.partial_dependence("a", subgroup=Rows(np.ones(300, bool)))
    with pytest.raises(InputError, match="has no value 'tall'; it has"):
        explainer.partial_dependence("a", subgroup="text == 'tall'")
    with pytest.raises(InputError, match="did you mean 'text'"):
        explainer.partial_dependence("texd")
    before = explainer.rows_asked
    with pytest.raises(InputError, match="output 'three'"):
        explainer.partial_dependence("a", output="three")
    assert explainer.rows_asked == before, "not after all chunks were read"


class Between:
    """A condition of some other origin."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def mask(self, table):
        return (table.observed("a").codes > self.low) & (table.observed("a").codes < self.high)


def test_conditions_that_read_alike_are_not_taken_for_one():
    frame = rows()
    explainer = from_chunks(Mixed(), cut(frame, 300), sample=50)
    for condition in (Between(-1, 0), Between(0, 1)):
        result = explainer.partial_dependence("k", subgroup=condition)
        assert result.n_rows_used == frame["a"].between(condition.low, condition.high, inclusive="neither").sum()
        assert result.subgroup == "Between"


def test_chunks_that_change():
    frame, readings = rows(), []

    def chunks():
        readings.append(None)
        parts = cut(frame, 300, 600)
        if len(readings) == 2:
            return iter(parts[:2])
        if len(readings) == 3:
            return iter([parts[0], parts[1].iloc[:50], parts[2]])
        return iter(parts)

    explainer = from_chunks(Mixed(), chunks, sample=100)
    with pytest.raises(InputError, match="gave 2 of them this time"):
        explainer.partial_dependence("a")
    with pytest.raises(InputError, match=r"gave 2|^chunk 1: it had 300 rows when it was first read and has 50 now"):
        explainer.partial_dependence("k")
    result = explainer.partial_dependence("a")
    check(result, Explainer(Mixed(), frame).partial_dependence("a", grid=same_points(result)))
    held = iter(cut(frame, 300))
    once = from_chunks(Mixed(), lambda: held, sample=100)
    with pytest.raises(InputError, match="gave 0 of them this time"):
        once.partial_dependence("a")


class Picky(Mixed):
    """Fails for some rows."""

    def predict(self, X):
        if (X["k"] == 77).any():
            raise ValueError("77 is too much")
        return super().predict(X)


@pytest.mark.parametrize("executor", [None, "threads"])
def test_a_failing_chunk_is_named_and_what_came_before_stays(executor):
    frame = rows()
    frame.loc[555, "k"] = 77
    chunks = cut(frame, *range(90, 900, 90))
    pool = ThreadPoolExecutor(2) if executor else None
    explainer = from_chunks(Picky(), chunks, sample=40, executor=pool)
    assert 555 not in explainer.sample_rows
    growing, results = explainer.iter_partial_dependence("a"), []
    with pytest.raises(PredictionError, match=r"^chunk 6: Picky failed on .* rows: ValueError: 77 is too much"):
        results.extend(growing)
    before = explainer._order.index(6)
    assert 0 < before < 9
    with pytest.raises(PredictionError, match="chunk 6"):
        next(explainer.iter_partial_dependence("a"))
    kept = explainer._kept[next(iter(explainer._kept))]
    assert kept.chunks == before
    if pool:
        pool.shutdown()


def test_dask_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pdp_widgets\[dask\]"):
        from_chunks(Mixed(), [rows()], client="tcp://127.0.0.1:8786")


def test_importing_needs_no_dask():
    import subprocess

    script = (
        "import sys, pdp_widgets.explain.scaleout as s, numpy as np\n"
        "s.from_chunks(lambda X: X[:, 0], [np.ones((3, 2))]).partial_dependence(0)\n"
        "assert 'dask' not in sys.modules and 'distributed' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )


# ---- executors -------------------------------------------------------------------------------


class Heavy(Mixed):
    """Notes in a folder each time it is unpacked, and which process asks it."""

    def __init__(self, folder, kills=False):
        self.folder, self.kills, self.home = str(folder), kills, os.getpid()

    def __setstate__(self, state):
        self.__dict__.update(state)
        Path(self.folder, f"unpacked-{os.getpid()}-{time.time_ns()}").touch()

    def predict(self, X):
        folder = Path(self.folder)
        if os.getpid() != self.home:
            Path(folder, f"asked-{os.getpid()}-{time.time_ns()}").touch()
            if self.kills and len(list(folder.glob("asked-*"))) > 15:
                try:
                    Path(folder, "killed").touch(exist_ok=False)
                except FileExistsError:
                    pass
                else:
                    os._exit(1)
        return super().predict(X)


def unpackings(folder):
    """How often each process unpacked the model."""
    return pd.Series([path.name.split("-")[1] for path in Path(folder).glob("unpacked-*")]).value_counts()


def read(k):
    return rows().iloc[90 * k : 90 * (k + 1)]


def pools():
    yield lambda: ThreadPoolExecutor(2)
    yield lambda: pytest.importorskip("loky").get_reusable_executor(2)


@pytest.mark.parametrize("make", list(pools()))
def test_executors(make, tmp_path):
    frame = rows()
    expected = Explainer(Mixed(), frame)
    with make() as executor:
        explainer = from_chunks(Heavy(tmp_path), [partial(read, k) for k in range(10)], sample=70, executor=executor)
        sent = []
        for features in ("a", ("k", "text"), "when"):
            result = explainer.partial_dependence(features, subgroup="flag")
            check(result, expected.partial_dependence(features, grid=same_points(result), subgroup="flag"))
            sent.append(unpackings(tmp_path).sum())
        chunks = cut(frame, *range(90, 900, 90))
        result = from_chunks(Mixed(), chunks, sample=70, executor=executor).partial_dependence("a")
        check(result, expected.partial_dependence("a", grid=same_points(result)))
    if not isinstance(executor, ThreadPoolExecutor):
        assert list(tmp_path.glob("asked-*")), "the chunks were worked on elsewhere"
        assert sent[-1] - sent[0] <= 3, "a worker that has the model does not get it again with each of 20 chunks"


# ---- dask ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("dask.dataframe")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL + 1
    ) as cluster, distributed.Client(cluster, set_as_default=False) as client:  # fmt: skip
        yield client


def dask_frame(frame, npartitions=10):
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(frame, npartitions=npartitions, sort=False)


def test_dask_frame_without_a_cluster():
    pytest.importorskip("dask.dataframe")
    frame = rows().assign(w=lambda X: X["k"] + 0.5)
    explainer = from_chunks(Mixed(), dask_frame(frame, 4), sample=70, sample_weight="w")
    assert explainer.n_chunks == 4
    result = explainer.partial_dependence(("a", "kind"))
    whole = Explainer(Mixed(), frame.drop(columns="w"), sample_weight=frame["w"])
    check(result, whole.partial_dependence(("a", "kind"), grid=same_points(result)))


def test_a_cluster_gives_the_same_numbers(client, tmp_path):
    frame = rows().assign(w=lambda X: X["k"] + 0.5)
    lazy = dask_frame(frame)
    lazy = lazy[lazy["k"] < 5]  # what is asked of dask is done on the cluster, too
    frame = frame[frame["k"] < 5].reset_index(drop=True)
    whole = Explainer(Mixed(), frame.drop(columns="w"), sample_weight=frame["w"])
    explainer = from_chunks(Heavy(tmp_path), lazy, sample=70, sample_weight="w", client=client)
    here = from_chunks(Mixed(), cut(frame, 100), sample=70, sample_weight="w")
    np.testing.assert_array_equal(explainer.sample_rows, here.sample_rows)
    for subgroup in (None, "text == 'low' & a.notna()"):
        results = explainer.partial_dependences(["a", "text", ("kind", "when")], subgroup=subgroup)
        for features, result in results.items():
            check(result, whole.partial_dependence(features, grid=same_points(result), subgroup=subgroup))
            np.testing.assert_array_equal(
                result.individual, here.partial_dependence(features, subgroup=subgroup).individual
            )
    growing = list(explainer.iter_partial_dependence("k"))
    assert [result.chunks_done for result in growing] == list(range(1, 11))
    with client.as_current():  # nobody needs to name it
        again = from_chunks(Heavy(tmp_path), lazy, sample=70, sample_weight="w")
    check(again.partial_dependence("k"), whole.partial_dependence("k", grid=same_points(growing[-1])))
    workers = {str(pid) for pid in client.run(os.getpid).values()}
    assert {path.name.split("-")[1] for path in tmp_path.glob("asked-*")} <= workers
    sent = unpackings(tmp_path)
    assert set(sent.index) <= workers, "the model is unpacked by workers only"
    assert sent.max() <= 4, "once for each reading (dask drops copies that nobody uses), however many chunks there are"


def test_chunks_of_other_kinds_on_a_cluster(client):
    frame = rows()
    whole = Explainer(Mixed(), frame)
    for chunks in (cut(frame, 300, 600), [partial(read, k) for k in range(10)], lambda: iter(cut(frame, 300))):
        result = from_chunks(Mixed(), chunks, sample=70, client=client).partial_dependence("a")
        check(result, whole.partial_dependence("a", grid=same_points(result)))


@pytest.mark.slow
def test_a_worker_that_dies_costs_no_numbers(client, tmp_path):
    frame = rows()
    whole = Explainer(Mixed(), frame)
    # In the middle of a task.
    explainer = from_chunks(Heavy(tmp_path, kills=True), dask_frame(frame, 12), sample=70, client=client)
    before = set(client.run(os.getpid).values())
    result = explainer.partial_dependence("a")
    assert (tmp_path / "killed").exists()
    check(result, whole.partial_dependence("a", grid=same_points(result)))
    # All of them between two chunks, together with everything they held.
    growing = explainer.iter_partial_dependence("k")
    next(growing)
    client.wait_for_workers(2)
    workers = set(client.run(os.getpid).values())
    assert len(workers - before) == 1, "the one that died was replaced"
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    *_, result = growing
    assert not workers & set(client.run(os.getpid).values())
    check(result, whole.partial_dependence("k", grid=same_points(result)))


def test_errors_on_a_cluster_name_the_chunk(client):
    frame = rows()
    frame.loc[555, "k"] = 77
    explainer = from_chunks(Picky(), dask_frame(frame), sample=40, client=client)
    with pytest.raises(PredictionError, match=r"^chunk 6: Picky failed"):
        explainer.partial_dependence("a")
    with pytest.raises(InputError, match=r"^chunk 1: it could not be read: OSError: no such file"):
        from_chunks(Mixed(), [frame.iloc[:10], gone], client=client)
    with pytest.raises(PDPWidgetsError, match=r"^chunk 0: ZeroDivisionError"):
        from_chunks(Mixed(), dask_frame(frame).map_partitions(lambda part: 1 // 0, meta=frame.iloc[:0]), client=client)
    with pytest.raises(InputError, match=r"expected a dask\.distributed\.Client"):
        from_chunks(Mixed(), [frame], client=client.get_executor())
