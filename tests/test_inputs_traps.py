"""Inputs that once gave a wrong number, kept memory, or took minutes: each is a kind, and stays mended."""

from __future__ import annotations

import datetime as dt
import gc
import inspect
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError

RNG = np.random.default_rng(0)
N = 60


# ---- the model sees what X holds -------------------------------------------------------------


def test_object_columns_stay_objects_and_none_stays_none():
    X = pd.DataFrame({"c": pd.Series(["a", None, "b"] * 10, dtype=object), "x": 1.0})
    seen = []

    def predict(Z):
        seen.append(Z["c"].dtype)
        return np.array([10.0 if v is None else 0.0 for v in Z["c"]])

    assert Explainer(predict, X).partial_dependence("c").average[0].tolist() == [0, 0, 10]
    assert set(seen) == {np.dtype(object)}


def test_values_of_several_types_are_several_levels():
    X = pd.DataFrame({"c": pd.Series([1, True, "1", 1.0, "missing", None] * 10, dtype=object), "x": 1.0})
    code = {(int, 1): 1.0, (bool, True): 2.0, (str, "1"): 3.0, (float, 1.0): 4.0, (str, "missing"): 5.0}
    explainer = Explainer(lambda Z: np.array([code.get((type(v), v), 9.0) for v in Z["c"]]), X)
    result = explainer.partial_dependence("c")
    assert sorted(result.average[0]) == [1, 2, 3, 4, 5, 9]
    assert len(set(result.grids[0].labels)) == 6
    assert explainer.partial_dependence("c", grid=[1]).average[0].tolist() == [1]
    assert explainer.partial_dependence("c", grid=["1"]).average[0].tolist() == [3]


def test_date_objects_stay_dates():
    days = [dt.date(2024, 1, 1 + k % 28) for k in range(N)]
    X = pd.DataFrame({"day": pd.Series(days, dtype=object), "x": 1.0})
    explainer = Explainer(lambda Z: np.array([float(v.day) for v in Z["day"]]), X)
    given = explainer.partial_dependence("day", grid=[dt.date(2024, 1, 5), dt.date(2024, 2, 9)])
    assert given.average[0].tolist() == [5, 9]


def test_what_the_caller_does_to_the_frame_later_is_not_seen():
    X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
    model = LinearRegression().fit(X, X["a"] + X["b"])
    explainer = Explainer(model, X)
    expected = Explainer(model, X.copy()).partial_dependence("b")
    X["prediction"] = model.predict(X)
    X["a"] = 0.0
    np.testing.assert_allclose(explainer.partial_dependence("b").average, expected.average)


def test_masked_values_are_refused_and_masked_predictions_are_missing():
    X = np.ma.masked_array(RNG.normal(size=(N, 2)), mask=np.zeros((N, 2)))
    X[3, 1] = np.ma.masked
    with pytest.raises(InputError, match="masked"):
        Explainer(lambda Z: Z[:, 0], X)
    plain = RNG.normal(size=(N, 2))
    result = Explainer(lambda Z: np.ma.masked_less(Z[:, 1], 0), plain, nan_predictions="omit").partial_dependence(0)
    assert result.rows_omitted == (plain[:, 1] < 0).sum()


# ---- given grids -----------------------------------------------------------------------------


def test_one_hot_levels_are_found_by_column_name_even_when_one_ends_like_another():
    X = pd.DataFrame({"sex_male": np.arange(N) % 2, "sex_female": 1 - np.arange(N) % 2, "x": 1.0})
    for members in (["sex_male", "sex_female"], ("sex_male", "sex_female")):
        explainer = Explainer(lambda Z: Z["sex_female"] * 10.0, X, features={"sex": members})
        assert explainer.partial_dependence("sex", grid=["sex_female", "male"]).average[0].tolist() == [10, 0]
    with pytest.raises(InputError, match="observed levels"):
        explainer.partial_dependence("sex", grid=["other"])


def test_naive_dates_mean_the_columns_own_time_zone():
    hours = pd.date_range("2024-01-01", periods=48, freq="h", tz="Europe/Berlin")
    explainer = Explainer(lambda Z: Z["t"].dt.hour.to_numpy() * 1.0, pd.DataFrame({"t": hours, "b": 0.0}))
    explainer.partial_dependence("t")
    assert explainer.partial_dependence("t", grid=["2024-01-01 05:00"]).average[0].tolist() == [5]


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        (np.arange(N), ["a"]),
        (np.arange(N) % 2 == 0, ["False"]),
        (np.arange(N).astype("uint8"), [300]),
        (pd.date_range("2024-01-01", periods=N), ["yesterday-ish"]),
        (np.linspace(0, 1, N), ["x"]),
        (np.arange(N), 5),
        (np.arange(N), "12"),
        (np.arange(N), []),
        (np.arange(N) * 1.0, [np.nan, 1.0, None]),
    ],
)
def test_what_a_column_cannot_hold_is_refused(column, bad):
    with pytest.raises(InputError, match="grid"):
        Explainer(lambda Z: np.zeros(len(Z)), pd.DataFrame({"c": column, "x": 1.0})).partial_dependence("c", grid=bad)


def test_texts_are_not_cut_off_to_fit_an_array():
    X = np.array([["ab", "u"], ["cd", "v"]] * 10)
    with pytest.raises(InputError, match="'abcdef' becomes"):
        Explainer(lambda Z: np.zeros(len(Z)), X).partial_dependence(0, grid=["abcdef"])


def test_polars_values_are_not_silently_null():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame(
        {"e": pl.Series(["a", "b"] * 10, dtype=pl.Enum(["a", "b"])), "u": pl.Series([1, 2] * 10, dtype=pl.UInt8)}
    )
    explainer = Explainer(lambda Z: np.zeros(len(Z)), X)
    for name, bad in [("e", "zzz"), ("u", 300)]:
        with pytest.raises(InputError, match="cannot hold"):
            explainer.partial_dependence(name, grid=[bad])


def test_grids_in_any_order_and_with_repeats():
    X = RNG.normal(size=(N, 2))
    result = Explainer(lambda Z: 3 * Z[:, 0], X).partial_dependence(0, grid=[1.0, -1.0, 1.0, 0.0])
    np.testing.assert_allclose(result.average[0], [3, -3, 3, 0])
    np.testing.assert_allclose(result.derivative().average, [[3, 3]])
    assert result.to_frame()["n_nearest"].sum() == N


# ---- rows ------------------------------------------------------------------------------------


def test_series_are_aligned_by_their_labels():
    X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)}).sample(frac=1, random_state=0)
    model = LinearRegression().fit(X, X["a"])
    mask = X["a"] > 0
    weights = X["b"].abs()
    by_position = Explainer(model, X, X["a"].to_numpy(), sample_weight=weights.to_numpy())
    by_label = Explainer(model, X, X["a"].sort_values(), sample_weight=weights.sort_values())
    expected = by_position.partial_dependence("b", subgroup=mask.to_numpy())
    np.testing.assert_allclose(by_label.partial_dependence("b", subgroup=mask.sort_index()).average, expected.average)
    np.testing.assert_array_equal(by_label.y, by_position.y)
    with pytest.raises(InputError, match="other row labels"):
        by_label.partial_dependence("b", subgroup=mask.set_axis(range(100, 100 + N)))
    sampled = Explainer(model, X, background=20).partial_dependence("b", subgroup=mask.sort_index())
    assert sampled.n_rows_used < 20


def test_model_and_table_swapped():
    X = pd.DataFrame({"a": RNG.normal(size=N)})
    with pytest.raises(InputError, match="swapped"):
        Explainer(X, LinearRegression().fit(X, X["a"]))


@pytest.mark.parametrize(
    ("args", "options", "said"),
    [
        (2, {"outpt": 1}, r"Explainer\(\): got an unexpected keyword argument 'outpt'; did you mean 'output'\?"),
        (2, {"grid_sze": 1}, r"Explainer\(\): .* 'grid_sze'; did you mean 'grid_size'\?"),
        (2, {"weights": 1, "output": 0}, r"Explainer\(\): got an unexpected keyword argument 'weights'"),
        (1, {}, r"Explainer\(\): missing a required argument: 'X'"),
        (1, {"model": 1}, r"Explainer\(\): multiple values for argument 'model'"),
        (4, {}, r"Explainer\(\): too many positional arguments"),
    ],
)
def test_arguments_that_an_explainer_does_not_have(args, options, said):
    X = pd.DataFrame({"a": RNG.normal(size=N)})
    given = (LinearRegression().fit(X, X["a"]), X, X["a"], 40)[:args]
    with pytest.raises(TypeError, match=said):
        Explainer(*given, **options)
    assert list(inspect.signature(Explainer).parameters)[:4] == ["model", "X", "y", "features"]


# ---- outputs ---------------------------------------------------------------------------------


def test_a_number_as_output_means_a_class_label_everywhere():
    X = pd.DataFrame({"x": RNG.normal(size=N)})
    for labels, first in [(np.array([1, 2, 3]), "1"), (np.array([1.0, 2.0, 3.0]), "1.0")]:
        model = DecisionTreeClassifier().fit(X, labels[np.arange(N) % 3])
        explainer = Explainer(model, X, output=1)
        assert explainer.default_output == first
        result = explainer.partial_dependence("x")
        assert result.output(1).outputs == explainer.partial_dependence("x", output=1).outputs == (first,)
        for wrong in (0, 7, np.int64(-1)):
            for ask in (
                result.output,
                lambda output, explainer=explainer: explainer.partial_dependence("x", output=output),
                lambda output, model=model: Explainer(model, X, output=output),
            ):
                with pytest.raises(InputError, match=r"is none of the class labels of the model's outputs: 1(\.0)?, 2"):
                    ask(wrong)
    two = LogisticRegression().fit(X, np.where(X["x"] > 0, 7, 3))
    with pytest.raises(InputError, match="output 1 is none of the class labels of the model's outputs: 3, 7"):
        Explainer(two, X, output=1)
    with pytest.raises(InputError, match=r"output 3 is none .*: 7$"):  # the decision value speaks for the second class
        Explainer(two, X, response="decision", output=3)
    named = Explainer(two, X, output_names=["low", "high"])
    assert named.partial_dependence("x", output=7).outputs == ("high",)
    words = Explainer(LogisticRegression().fit(X, np.where(X["x"] > 0, "up", "down")), X)
    assert words.partial_dependence("x", output=0).outputs == ("down",)
    boolean = Explainer(LogisticRegression().fit(X, X["x"] > 0), X)
    assert boolean.partial_dependence("x", output=True).outputs == ("True",)
    with pytest.raises(InputError, match="alike"):
        Explainer(lambda Z: np.zeros((len(Z), 2)), X, output_names=["a", "a"])


def test_one_row_of_several_outputs_squeezed():
    X = np.ones((1, 2))
    assert Explainer(lambda Z: np.squeeze(np.ones((len(Z), 3))), X).partial_dependence(0).average.shape == (3, 1)


def test_no_column_name_is_reserved():
    X = pd.DataFrame(RNG.normal(size=(N, 4)), columns=["output", "average", "stderr", "n_nearest"])
    explainer = Explainer(lambda Z: Z["average"].to_numpy(), X)
    table = explainer.partial_dependence("average").to_frame()
    assert list(table.columns) == ["output", "average", "average_", "stderr", "n_nearest"]
    np.testing.assert_allclose(table["average"], table["average_"])
    pair = explainer.partial_dependence(("output", "stderr")).to_frame()
    assert list(pair.columns) == ["output_", "output", "stderr", "average", "stderr_"]


# ---- time and memory -------------------------------------------------------------------------


def test_a_column_of_unique_texts_shows_its_most_frequent_levels():
    texts = np.array([f"id{k}" for k in range(30_000)] + ["often"] * 50, dtype=object)
    X = pd.DataFrame({"id": texts, "x": 1.0})
    start = time.perf_counter()
    grid = Explainer(lambda Z: np.zeros(len(Z)), X).grid("id")
    assert time.perf_counter() - start < 10, "not quadratic"
    assert grid.size == 200
    assert "often" in grid.labels
    assert "200 most frequent of 30,001 levels" in grid.note
    assert (grid.own >= 0).sum() == grid.counts().sum() == 50 + 199


def test_curves_that_left_the_cache_are_freed_at_once():
    explainer = Explainer(lambda Z: Z[:, 0] * 1.0, RNG.normal(size=(4000, 3)), cache_bytes=26 * 10**5)
    gc.collect()
    gc.disable()
    try:
        done, growing = explainer.ice(0), explainer.ice(1)
        while not done.complete:
            done.advance()
        growing.advance()
        gone = [weakref.ref(done), weakref.ref(growing)]
        del done, growing
        explainer.ice(2)
        explainer.ice(2, grid=[0.0, 1.0])
        assert gone[0]() is None, "no reference cycle keeps it"
        assert explainer._ices.nbytes <= 26 * 10**5
    finally:
        gc.enable()


def test_subgroups_of_large_tables_do_not_pile_up():
    explainer = Explainer(lambda Z: Z[:, 0] * 1.0, RNG.normal(size=(5000, 2)), cache_bytes=10**5)
    for k in range(20):
        explainer.ice(0, rows=explainer.table.observed("x0").codes > k / 20)
    assert len(explainer._ices) == 0


def test_kept_curves_count_as_memory():
    wide = Explainer(lambda Z: np.tile(Z[:, :1], 50), RNG.normal(size=(2000, 8)), cache_bytes=10**7)
    for j in range(8):
        wide.ice(j, keep=np.arange(300)).advance()
    assert wide._ices.nbytes <= 10**7


def test_a_model_used_with_threads_is_not_kept():
    class Model:
        def predict(self, X):
            return X[:, 0]

    model = Model()
    gone = weakref.ref(model)
    with ThreadPoolExecutor(1) as pool:
        explainer = Explainer(model, RNG.normal(size=(N, 2)), executor=pool)
        explainer.partial_dependence(0)
        del explainer, model
    gc.collect()
    assert gone() is None


def test_the_grid_of_a_result_can_be_given_again():
    frame = pd.DataFrame({"flag": [True, False, True, True], "name": ["x", "y", "x", "x"]})
    explainer = Explainer(lambda X: X["flag"] * 2.0 + (X["name"] == "y"), frame)
    for feature in frame:
        first = explainer.partial_dependence(feature)
        again = explainer.partial_dependence(feature, grid=list(first.grid_values[0]))
        assert again.to_frame()["n_nearest"].tolist() == first.to_frame()["n_nearest"].tolist()
        assert again.average.tolist() == first.average.tolist()
