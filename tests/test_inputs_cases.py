"""What people hand over: inputs on which well-known tools fail, and the right answer for each kind."""

from __future__ import annotations

import decimal
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.inspection import partial_dependence as sklearn_pd
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError, PredictionError

RNG = np.random.default_rng(0)
N = 120


def frame(**columns):
    base = {"a": RNG.normal(size=N), "b": RNG.normal(size=N)}
    return pd.DataFrame(base | columns)


def brute(predict, X, column, value):
    """The definition: force all rows to the value and average."""
    forced = X.copy()
    forced[column] = pd.Series([value] * len(X), index=X.index, dtype=X[column].dtype)
    return float(np.mean(predict(forced)))


class Spy:
    """A model that remembers the frames it was asked about."""

    def __init__(self, function):
        self.function, self.seen = function, []

    def predict(self, X):
        self.seen.append(X)
        return self.function(X)


# ---- numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16", "Int64", "int64[pyarrow]"])
def test_integer_columns_keep_dtype_and_whole_grids(dtype):
    X = frame(k=pd.array(RNG.integers(0, 100, N), dtype=dtype))
    model = Spy(lambda Z: Z["k"].astype(float).to_numpy() * 2)
    result = Explainer(model, X).partial_dependence("k")
    assert all(seen["k"].dtype == X["k"].dtype for seen in model.seen)
    grid = result.grid_values[0].astype(float)
    assert (grid == np.rint(grid)).all()
    assert len(set(grid)) == len(grid) > 20
    np.testing.assert_allclose(result.average[0], 2 * grid)


@pytest.mark.parametrize("dtype", ["int64", "Int64"])
def test_halves_given_for_an_integer_column_are_rounded_and_unique(dtype):
    X = frame(k=pd.array(RNG.integers(0, 9, N), dtype=dtype))
    result = Explainer(lambda Z: Z["k"].astype(float), X).partial_dependence("k", grid=[1, 4.5, 4.2, 7])
    assert result.grid_values[0].tolist() == [1, 4, 7]
    assert "rounded" in result.grids[0].note


def test_few_integers_give_their_observed_values_once():
    X = frame(k=np.arange(N) % 5)
    result = Explainer(lambda Z: Z["k"] * 1.0, X, grid_size=40).partial_dependence("k")
    assert result.grid_values[0].tolist() == [0, 1, 2, 3, 4]


def test_missing_numbers_are_a_level_of_their_own():
    x = RNG.normal(size=N)
    x[::16] = np.nan
    X = frame(x=x)
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, np.nan_to_num(x, nan=5.0))
    result = Explainer(model, X).partial_dependence("x")
    grid = result.grids[0]
    assert grid.missing == grid.size - 1
    assert np.isnan(result.grid_values[0][-1])
    assert np.isfinite(result.grid_values[0][:-1]).all()
    finite = x[np.isfinite(x)]
    assert result.grid_values[0][0] == np.sort(finite)[int(np.ceil(0.05 * len(finite))) - 1]
    for k in (0, 7, grid.missing):
        assert result.average[0, k] == pytest.approx(brute(model.predict, X, "x", result.grid_values[0][k]), abs=1e-10)


def test_one_missing_float_and_small_bool():
    X = pd.DataFrame({"x": RNG.normal(size=20), "flag": np.arange(20) % 3 == 0})
    X.loc[3, "x"] = np.nan
    model = Spy(lambda Z: Z["flag"].to_numpy() * 3.0 + np.nan_to_num(Z["x"].to_numpy()))
    explainer = Explainer(model, X)
    flag = explainer.partial_dependence("flag")
    assert flag.grid_values[0].tolist() == [False, True]
    assert flag.average[0, 1] - flag.average[0, 0] == pytest.approx(3.0)
    assert all(seen["flag"].dtype == bool for seen in model.seen)
    x = explainer.partial_dependence("x")
    assert np.isfinite(x.grid_values[0]).sum() == 19
    only_true = Explainer(model, X[X["flag"]]).partial_dependence("flag")
    assert only_true.grid_values[0].tolist() == [True]


def test_mostly_zeros_fall_back_to_distinct_values_and_say_so():
    x = np.zeros(1000)
    x[:40] = RNG.uniform(1, 9, 40)
    X = pd.DataFrame({"x": x, "z": RNG.normal(size=1000)})
    result = Explainer(lambda Z: Z["x"].to_numpy(), X, grid_size=20).partial_dependence("x")
    assert result.grids[0].size == 20
    assert result.grid_values[0][0] == 0
    assert result.grid_values[0][-1] == x.max()
    assert "distinct" in result.grids[0].note


def test_percentiles_hold_for_few_values_too():
    X = frame(k=np.arange(N) % 10)
    result = Explainer(lambda Z: Z["k"] * 1.0, X).partial_dependence("k", percentiles=(0.25, 0.75))
    assert result.grid_values[0].tolist() == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("bad", [(0.9, 0.1), (-1, 0.5), (0, 2)])
def test_impossible_percentiles_are_refused(bad):
    with pytest.raises(InputError, match="percentiles"):
        Explainer(lambda Z: Z["a"], frame()).partial_dependence("a", percentiles=bad)


@pytest.mark.parametrize(("scale", "shift"), [(1e-12, 0.0), (1.0, 1e9), (1e-300, 0.0), (1e300, 0.0)])
def test_extreme_scales_keep_the_full_grid(scale, shift):
    X = pd.DataFrame({"x": shift + scale * RNG.uniform(-1, 1, 500), "z": RNG.normal(size=500)})
    result = Explainer(lambda Z: Z["z"].to_numpy(), X).partial_dependence("x")
    assert len(np.unique(result.grid_values[0])) == 40
    assert len(set(result.grids[0].labels)) == 40


def test_huge_predictions_have_a_mean_and_an_infinite_error():
    X = pd.DataFrame({"x": RNG.uniform(-1, 1, 900), "z": RNG.uniform(-1, 1, 900)})
    results = list(Explainer(lambda Z: 1e300 * Z["z"].to_numpy(), X).iter_partial_dependence("x"))
    assert np.isinf(results[0].stderr).all()
    np.testing.assert_allclose(results[-1].average, 1e300 * X["z"].mean())


def test_infinite_values_are_left_out_and_counted():
    x = RNG.normal(size=N)
    x[[1, 2]], x[3] = np.inf, -np.inf
    result = Explainer(lambda Z: Z["b"].to_numpy(), frame(x=x)).partial_dependence("x")
    assert np.isfinite(result.grid_values[0]).all()
    assert result.grids[0].n_infinite == 3
    assert "3 rows with infinite" in result.grids[0].note
    assert result.n_rows_used == N


def test_constant_column_and_single_row():
    X = frame(c=7.0)
    result = Explainer(lambda Z: Z["a"] + Z["c"], X).partial_dependence("c")
    assert result.grid_values[0].tolist() == [7.0]
    assert result.importance.tolist() == [0.0]
    one = Explainer(lambda Z: Z["a"] * 1.0, X.iloc[[0]]).partial_dependence("a")
    assert one.average.shape == (1, 1)
    assert one.average[0, 0] == pytest.approx(X["a"].iloc[0])
    assert one.stderr.tolist() == [[0.0]]


# ---- categories ------------------------------------------------------------------------------


def test_strings_with_nan_through_imputer_and_one_hot():
    s = np.array(["GOOD", "MISTY", "BAD"], dtype=object)[np.arange(N) % 3]
    s[::10] = np.nan
    X = frame(s=s)
    y = (X["s"] == "BAD") * 3.0 + X["a"]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["s"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LinearRegression()).fit(X, y)
    result = Explainer(model, X).partial_dependence("s")
    grid = result.grids[0]
    assert grid.labels == ["BAD", "GOOD", "MISTY", "missing"]
    assert grid.missing == 3
    for k, value in enumerate(["BAD", "GOOD", "MISTY", np.nan]):
        assert result.average[0, k] == pytest.approx(brute(model.predict, X, "s", value), abs=1e-10)


def test_given_grid_of_mixed_values_is_taken_as_given():
    s = np.array(["a", "b", None], dtype=object)[np.arange(N) % 3]
    result = Explainer(lambda Z: Z["s"].isna() * 1.0, pd.DataFrame({"s": s, "z": 1.0})).partial_dependence(
        "s", grid=["b", "a", None]
    )
    assert result.grids[0].labels == ["b", "a", "missing"]
    assert result.average[0].tolist() == [0, 0, 1]


def test_categories_keep_dtype_and_category_list_and_show_observed_levels_only():
    levels = ["low", "mid", "high", "never"]
    c = pd.Categorical(np.array(levels[:3])[np.arange(N) % 3], categories=levels, ordered=True)
    X = frame(c=c)
    model = Spy(lambda Z: Z["c"].cat.codes.to_numpy() * 1.0)
    result = Explainer(model, X).partial_dependence("c")
    assert result.grids[0].labels == ["low", "mid", "high"]
    assert result.average[0].tolist() == [0, 1, 2]
    assert all(seen["c"].dtype == X["c"].dtype for seen in model.seen)
    asked = Explainer(model, X).partial_dependence("c", grid=["never", "low"])
    assert asked.average[0].tolist() == [3, 0]
    with pytest.raises(InputError, match="nowhere"):
        Explainer(model, X).partial_dependence("c", grid=["nowhere"])


def test_categorical_support_of_learners():
    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    X = frame(c=pd.Categorical(np.array(["u", "v", "w"])[np.arange(N) % 3]))
    y = X["c"].cat.codes * 2.0 + X["a"]
    for model in (
        HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype"),
        lightgbm.LGBMRegressor(n_estimators=20, verbose=-1),
        xgboost.XGBRegressor(n_estimators=20, enable_categorical=True),
    ):
        result = Explainer(model.fit(X, y), X).partial_dependence("c")
        expected = [brute(model.predict, X, "c", level) for level in "uvw"]
        np.testing.assert_allclose(result.average[0], expected, rtol=1e-6)
        assert np.ptp(result.average[0]) > 1


def test_one_hot_columns_move_together():
    season = np.array(["a", "b", "c"])[np.arange(N) % 3]
    for drop in (False, True):
        X = pd.get_dummies(pd.DataFrame({"z": RNG.normal(size=N), "season": season}), drop_first=drop)
        spy = Spy(lambda Z: Z["season_b"] * 2.0 + Z["season_c"] * 3.0 + Z["z"])
        members = [c for c in X if c.startswith("season")]
        explainer = Explainer(spy, X, features={"season": members})
        assert list(explainer.features) == ["z", "season"]
        result = explainer.partial_dependence("season")
        by_label = dict(zip(result.grids[0].labels, result.average[0] - X["z"].mean(), strict=True))
        assert by_label["b"] == pytest.approx(2) and by_label["c"] == pytest.approx(3)
        assert by_label["(base)" if drop else "a"] == pytest.approx(0)
        assert all((seen[members].sum(axis=1) <= 1).all() for seen in spy.seen), "impossible rows"
        assert all(seen.dtypes.equals(X.dtypes) for seen in spy.seen)
        given = explainer.partial_dependence("season", grid=["c", "season_b"])
        np.testing.assert_allclose(given.average[0] - X["z"].mean(), [3, 2])
    with pytest.raises(InputError, match="one-hot"):
        Explainer(spy, X, features={"g": ["z", "season_b"]}).partial_dependence("g")


# ---- dates and rarer dtypes ------------------------------------------------------------------


@pytest.mark.parametrize("tz", [None, "Asia/Tokyo"])
def test_dates(tz):
    days = pd.date_range("2024-01-01", periods=100, tz=tz)
    X = pd.DataFrame({"day": days, "z": np.arange(100.0)})
    spy = Spy(lambda Z: (Z["day"] - days[0]).dt.days.to_numpy() * 1.0)
    result = Explainer(spy, X, grid_size=20).partial_dependence("day")
    assert result.grids[0].kind == "datetime"
    steps = np.diff(result.average[0])
    assert len(result.average[0]) == 20 and steps.min() >= 4 and steps.max() <= 5, "evenly spread"
    assert result.grids[0].labels[0].startswith("2024-01-0")
    assert all(seen["day"].dtype == X["day"].dtype for seen in spy.seen)
    given = Explainer(spy, X).partial_dependence(
        "day", grid=["2024-02-01", "2024-03-01"] if tz is None else days[[31, 60]]
    )
    assert given.average[0].tolist() == [31, 60]
    slope = result.derivative()
    np.testing.assert_allclose(slope.average[0], 1 / 86_400_000)


@pytest.mark.parametrize(
    "column",
    [
        pd.to_timedelta(np.arange(N), unit="h"),
        np.array([decimal.Decimal(k) / 4 for k in range(N)], dtype=object),
        pd.array(np.arange(N) / 4, dtype="Float64"),
        pd.array(np.arange(N) / 4, dtype="double[pyarrow]"),
        pd.array(np.arange(N) / 4, dtype="float32"),
        pd.array([f"s{k % 4}" for k in range(N)], dtype="string[pyarrow]"),
        pd.array([f"s{k % 4}" for k in range(N)], dtype="string"),
        pd.array([k % 2 == 0 for k in range(N)], dtype="boolean"),
        pd.arrays.SparseArray(np.arange(N) % 7 * 1.0),
        pd.period_range("2020-01", periods=N, freq="M"),
        pd.array(pd.date_range("2020-01-01", periods=N), dtype="timestamp[ns][pyarrow]"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_rarer_dtypes_work_or_name_column_and_dtype(column):
    X = frame(c=column)
    spy = Spy(lambda Z: pd.factorize(X["c"], sort=True)[1].get_indexer(Z["c"]) * 1.0)
    try:
        result = Explainer(spy, X).partial_dependence("c")
    except InputError as error:
        assert "'c'" in str(error) and str(X["c"].dtype) in str(error)  # noqa: PT017
        assert isinstance(column, pd.PeriodIndex), "only periods are refused"
        return
    assert np.isfinite(result.average).all()
    assert np.ptp(result.average) > 0
    assert all(seen["c"].dtype == X["c"].dtype for seen in spy.seen)


@pytest.mark.parametrize("column", [np.full(N, 1j), pd.arrays.IntervalArray.from_breaks(np.arange(N + 1.0))])
def test_hopeless_dtypes_are_refused_by_name(column):
    X = frame(odd=column)
    with pytest.raises(InputError, match=r"'odd' has dtype"):
        Explainer(lambda Z: Z["a"], X)
    assert Explainer(lambda Z: Z["a"], X, features=["a", "b"]).partial_dependence("a").average.size == 40


# ---- containers ------------------------------------------------------------------------------


def test_numpy_and_lists():
    X = RNG.normal(size=(N, 3))
    model = LinearRegression().fit(X, X @ [1, 2, 3])
    for given in (X, X.tolist()):
        explainer = Explainer(model, given)
        assert list(explainer.features) == ["x0", "x1", "x2"]
        for name in ("x1", 1):
            result = explainer.partial_dependence(name)
            np.testing.assert_allclose(np.diff(result.average[0]) / np.diff(result.grid_values[0]), 2)


def test_polars():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame(
        {
            "x": RNG.normal(size=N),
            "k": RNG.integers(0, 5, N),
            "s": [("u", "v", None)[k % 3] for k in range(N)],
            "c": pl.Series([("p", "q")[k % 2] for k in range(N)], dtype=pl.Categorical),
            "d": pl.Series(pd.date_range("2024-01-01", periods=N)),
            "f": [k % 2 == 0 for k in range(N)],
        }
    )
    spy = Spy(
        lambda Z: (
            Z["x"].to_numpy() + Z["k"].to_numpy() * 2 + Z["s"].is_null().to_numpy() * 5 + (Z["c"] == "q").to_numpy() * 7
            + Z["f"].to_numpy() * 1.0
        )
    )  # fmt: skip
    explainer = Explainer(spy, X)
    assert [f.kind for f in explainer.features.values()] == [
        "number", "integer", "category", "category", "datetime", "bool",
    ]  # fmt: skip
    np.testing.assert_allclose(np.diff(explainer.partial_dependence("k").average[0]), 2)
    assert explainer.partial_dependence("s").grids[0].labels == ["u", "v", "missing"]
    assert np.ptp(explainer.partial_dependence("c").average) == pytest.approx(7)
    assert np.ptp(explainer.partial_dependence("f").average) == pytest.approx(1)
    assert explainer.partial_dependence("d", grid=["2024-01-03"]).average.shape == (1, 1)
    assert all(isinstance(seen, pl.DataFrame) and seen.schema == X.schema for seen in spy.seen)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_matrix"])
def test_sparse(kind):
    from scipy import sparse

    dense = RNG.poisson(0.5, (N, 4)).astype(float)
    X = getattr(sparse, kind)(dense)
    model = DecisionTreeRegressor(random_state=0).fit(X, dense @ [1, 2, 3, 4])
    result = Explainer(model, X).partial_dependence("x2")
    expected = Explainer(model.predict, dense).partial_dependence("x2")
    np.testing.assert_allclose(result.average, expected.average, atol=1e-12)
    assert (X.toarray() == dense).all()


def test_what_is_not_a_table_is_refused():
    predict = np.sum
    for X, message in [
        (np.zeros(3), "expected two"),
        (np.zeros((2, 2, 2)), "expected two"),
        (pd.Series([1.0]), "two-dimensional"),
        ("text", "two-dimensional"),
        (np.zeros((0, 3)), "0 rows"),
        (pd.DataFrame(index=[1, 2]), "0 columns"),
        ([[1, 2], [3]], "equal length"),
    ]:
        with pytest.raises(InputError, match=message):
            Explainer(predict, X)


def test_duplicate_names_are_named():
    X = pd.DataFrame(RNG.normal(size=(5, 3)), columns=["u", "v", "u"])
    with pytest.raises(InputError, match="more than one column named 'u'"):
        Explainer(lambda Z: Z.sum(axis=1), X)


@pytest.mark.parametrize("index", [[0] * N, [f"r{k}" for k in range(N)], pd.MultiIndex.from_product([[1], range(N)])])
def test_any_row_index(index):
    X = frame().set_axis(index)
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, X["a"])
    result = Explainer(model, X).partial_dependence("a")
    np.testing.assert_allclose(result.average[0], result.grid_values[0], atol=1e-12)


def test_awkward_column_names_are_literal():
    names = ["body mass (g)", "a-b", "🐧", "<b>bold</b>", "a.b", 5, ("t", 1), "`tick`", "it's", "5"]
    X = pd.DataFrame(RNG.normal(size=(N, len(names))), columns=pd.Index(names, dtype=object, tupleize_cols=False))
    spy = Spy(lambda Z: Z.to_numpy() @ np.arange(1.0, len(names) + 1))
    explainer = Explainer(spy, X)
    assert len(explainer.features) == len(names)
    for j, name in enumerate(names):
        result = explainer.partial_dependence(name)
        np.testing.assert_allclose(np.diff(result.average[0]) / np.diff(result.grid_values[0]), j + 1)
        shown = list(explainer.features)[j]
        np.testing.assert_array_equal(explainer.partial_dependence(shown).average, result.average)
    assert all(list(seen.columns) == names for seen in spy.seen)


def test_unknown_feature_gets_a_suggestion():
    X = frame(temp=1.0)
    with pytest.raises(InputError, match=r"feature 'tmp' is not a column of X; did you mean 'temp'\?"):
        Explainer(lambda Z: Z["a"], X).partial_dependence("tmp")
    with pytest.raises(InputError, match="did you mean 'temp'"):
        Explainer(lambda Z: Z["a"], X, features=["tmp"])


def test_subclass_and_order_and_untouched_input():
    class Special(pd.DataFrame):
        @property
        def _constructor(self):
            return Special

    X = Special(frame(s=np.array(["u", "v"])[np.arange(N) % 2], k=np.arange(N)))[["s", "b", "k", "a"]]
    before = X.copy(deep=True)
    spy = Spy(lambda Z: Z["a"].to_numpy())
    explainer = Explainer(spy, X)
    for name in X:
        explainer.partial_dependence(name)
    explainer.partial_dependence(("a", "s"))
    assert all(isinstance(seen, Special) and list(seen.columns) == ["s", "b", "k", "a"] for seen in spy.seen)
    pd.testing.assert_frame_equal(pd.DataFrame(X), pd.DataFrame(before))
    array = RNG.normal(size=(N, 2))
    copy = array.copy()
    Explainer(lambda Z: Z[:, 0], array).partial_dependence(0)
    assert (array == copy).all()


def test_models_own_complaint_about_column_order_is_shown():
    X = frame()
    model = LinearRegression().fit(X, X["a"])
    with pytest.raises(PredictionError, match=r"LinearRegression failed.*feature names"):
        Explainer(model, X[["b", "a"]])


# ---- models and outputs ----------------------------------------------------------------------


def test_interventional_average_for_forests_on_dependent_features():
    x = RNG.normal(size=300)
    X = pd.DataFrame({"x": x, "twin": x + 0.1 * RNG.normal(size=300)})
    model = RandomForestRegressor(20, random_state=0).fit(X, x)
    result = Explainer(model, X).partial_dependence("x")
    expected = sklearn_pd(model, X, ["x"], custom_values={"x": result.grid_values[0]}, method="brute")
    np.testing.assert_allclose(result.average, expected["average"], atol=1e-10)


def test_weights_enter_averages_errors_and_quantiles():
    X = pd.DataFrame({"x": np.r_[np.linspace(0, 1, 500), np.linspace(10, 11, 500)], "z": np.repeat([0.0, 1.0], 500)})
    weights = np.repeat([100.0, 1.0], 500)
    explainer = Explainer(lambda Z: Z["z"] * 1.0, X, sample_weight=weights)
    result = explainer.partial_dependence("x")
    np.testing.assert_allclose(result.average, 1 / 101)
    assert (result.grid_values[0] <= 1).mean() > 0.9
    repeated = pd.concat([X[:500]] * 3 + [X[500:]])
    counted = Explainer(lambda Z: Z["z"] * 1.0, X, sample_weight=np.repeat([3.0, 1.0], 500)).partial_dependence("x")
    by_rows = Explainer(lambda Z: Z["z"] * 1.0, repeated).partial_dependence("x")
    np.testing.assert_allclose(counted.average[0, 0], by_rows.average[0, 0])
    np.testing.assert_array_equal(counted.grid_values[0], by_rows.grid_values[0])
    for bad in (np.ones(3), np.full(1000, -1.0), np.zeros(1000), ["x"] * 1000, np.full(1000, np.nan)):
        with pytest.raises(InputError, match="sample_weight"):
            Explainer(lambda Z: Z["z"] * 1.0, X, sample_weight=bad)


def test_callables_boosters_and_bare_estimators():
    xgboost = pytest.importorskip("xgboost")

    class Bare:
        def predict(self, X):
            return X["a"].to_numpy() * 2

    X = frame()
    np.testing.assert_allclose(np.ptp(Explainer(Bare(), X).partial_dependence("b").average), 0, atol=1e-12)
    booster = xgboost.train({"max_depth": 3}, xgboost.DMatrix(X, X["a"]), 10)
    result = Explainer(booster, X).partial_dependence("a")
    expected = [brute(lambda Z: booster.predict(xgboost.DMatrix(Z)), X, "a", v) for v in result.grid_values[0]]
    np.testing.assert_allclose(result.average[0], expected, rtol=1e-6)
    with pytest.raises(InputError, match="no predict_proba, decision_function or predict"):
        Explainer(object(), X)
    with pytest.raises(PredictionError, match=r"failed on 4 rows: KeyError: 'nope'"):
        Explainer(lambda Z: Z["nope"], X)


def test_three_classes_have_three_curves_by_name():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for labels in (y, y.map({0: "setosa", 1: "versicolor", 2: "virginica"}), y + 10):
        model = LogisticRegression(max_iter=1000).fit(X, labels)
        explainer = Explainer(model, X, output=sorted(set(labels))[2])
        assert explainer.outputs == [str(label) for label in sorted(set(labels))]
        assert explainer.default_output == explainer.outputs[2]
        result = explainer.partial_dependence("petal width (cm)")
        np.testing.assert_allclose(result.average.sum(axis=0), 1)
        assert np.ptp(result.average, axis=1).min() > 0.001
        assert not np.allclose(result.average[0], result.average[1])
        expected = sklearn_pd(
            model, X, [3], custom_values={3: result.grid_values[0]}, method="brute", response_method="predict_proba"
        )["average"]
        np.testing.assert_allclose(result.average, expected, atol=1e-10)
        one = explainer.partial_dependence("petal width (cm)", output=sorted(set(labels))[1])
        np.testing.assert_array_equal(one.average, result.average[1:2])
    with pytest.raises(InputError, match="did you mean 'virginica'"):
        Explainer(
            LogisticRegression(max_iter=1000).fit(X, y.map({0: "setosa", 1: "versi", 2: "virginica"})),
            X,
            output="virginca",
        )


def test_positive_class_is_shown_first_for_two_classes():
    X = frame()
    model = LogisticRegression().fit(X, np.where(X["a"] > 0, "yes", "no"))
    assert Explainer(model, X).default_output == "yes"


def test_twenty_classes():
    X = frame()
    model = DecisionTreeClassifier().fit(X, np.arange(N) % 20)
    result = Explainer(model, X).partial_dependence("a")
    assert result.average.shape[0] == 20
    np.testing.assert_allclose(result.average.sum(axis=0), 1)


def test_multi_output_regression_by_name_or_position():
    X = frame()
    Y = np.column_stack([X["a"], -X["a"], X["b"]])
    model = LinearRegression().fit(X, Y)
    explainer = Explainer(model, X, output_names=["up", "down", "other"])
    np.testing.assert_allclose(
        explainer.partial_dependence("a", output="down").average, -explainer.partial_dependence("a", output=0).average
    )
    assert Explainer(model, X).outputs == ["output 0", "output 1", "output 2"]
    with pytest.raises(InputError, match="output_names has 1 names"):
        Explainer(model, X, output_names=["only"])


def test_multi_output_classification():
    X = frame()
    model = MultiOutputClassifier(LogisticRegression()).fit(X, np.column_stack([X["a"] > 0, X["b"] > 0]))
    explainer = Explainer(model, X)
    assert len(explainer.outputs) == 4
    result = explainer.partial_dependence("a")
    np.testing.assert_allclose(result.average[0] + result.average[1], 1)


@pytest.mark.parametrize(
    "answer",
    [
        lambda a: a[:, None],
        lambda a: a.tolist(),
        pd.Series,
        lambda a: pd.Series(a, dtype="Float64"),
        lambda a: a.astype("float32"),
        lambda a: pd.DataFrame({"out": a}),
        lambda a: a[:, None].tolist(),
        lambda a: a.astype(object),
        lambda a: (10 * a).astype(int) / 10,
    ],
)
def test_answers_of_every_shape(answer):
    X = frame(a=np.round(RNG.normal(size=N), 1))
    result = Explainer(lambda Z: answer(Z["a"].to_numpy()), X).partial_dependence("a")
    assert result.average.shape[0] == 1
    np.testing.assert_allclose(result.average[0], result.grid_values[0], atol=0.11)


def test_answers_that_are_no_predictions():
    X = frame()
    with pytest.raises(PredictionError, match="expected one value"):
        Explainer(lambda Z: np.zeros(3), X)
    with pytest.raises(PredictionError, match="not numbers"):
        Explainer(lambda Z: np.array(["yes"] * len(Z)), X)


def test_classifiers_without_probabilities():
    X = frame()
    y = np.where(X["a"] > 0, "yes", "no")
    svm = Explainer(LinearSVC().fit(X, y), X)
    assert svm.scale == "decision value" and svm.outputs == ["yes"]
    result = svm.partial_dependence("a")
    assert (np.diff(result.average[0]) > 0).all()
    ridge = Explainer(RidgeClassifier().fit(X, y), X, response="predict")
    assert ridge.scale == "predicted class" and ridge.outputs == ["no", "yes"]
    np.testing.assert_allclose(ridge.partial_dependence("a").average.sum(axis=0), 1)


def test_response_scales():
    X = frame()
    model = LogisticRegression().fit(X, X["a"] + 0.3 * X["b"] > 0)
    probability = Explainer(model, X).partial_dependence("a", output="True")
    decision = Explainer(model, X, response="decision").partial_dependence("a")
    logit = Explainer(model, X, response="logit").partial_dependence("a", output=True)
    np.testing.assert_allclose(decision.average[0], logit.average[0], atol=1e-8)
    np.testing.assert_allclose(np.diff(logit.average[0]) / np.diff(logit.grid_values[0]), model.coef_[0, 0])
    assert (probability.average >= 0).all() and (probability.average <= 1).all()
    own = Explainer(model, X, response=lambda m, Z: m.predict_proba(Z)[:, 1] ** 2)
    assert own.scale == "custom"
    assert own.partial_dependence("a").average.shape == probability.average.shape
    for response, message in [("decison", "did you mean 'decision'"), ("probability", "no predict_proba")]:
        with pytest.raises(InputError, match=message):
            Explainer(LinearSVC().fit(X, X["a"] > 0), X, response=response)


def test_early_stopped_boosting_uses_the_trees_that_predict_uses():
    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    X = frame()
    y = X["a"] + RNG.normal(size=N)
    fit, held = slice(0, 60), slice(60, N)
    xgb = xgboost.XGBRegressor(n_estimators=200, early_stopping_rounds=3).fit(
        X[fit], y[fit], eval_set=[(X[held], y[held])], verbose=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer releases rename eval_set
        lgb = lightgbm.LGBMRegressor(n_estimators=200, verbose=-1).fit(
            X[fit], y[fit], eval_set=[(X[held], y[held])], callbacks=[lightgbm.early_stopping(3, verbose=False)]
        )
    for model in (xgb, lgb):
        result = Explainer(model, X).partial_dependence("a")
        expected = [brute(model.predict, X, "a", v) for v in result.grid_values[0]]
        np.testing.assert_allclose(result.average[0], expected, rtol=1e-5)


# ---- trouble ---------------------------------------------------------------------------------


def test_nan_predictions_are_counted_and_named():
    X = frame().set_axis([f"row{k}" for k in range(N)])
    bad = X["b"].to_numpy() > 1

    def predict(Z):
        return np.where(Z["b"] > 1, np.nan, Z["a"])

    with pytest.raises(PredictionError, match=r"NaN or infinity for \d+ of the rows .* \(row row"):
        Explainer(predict, X).partial_dependence("a")
    result = Explainer(predict, X, nan_predictions="omit").partial_dependence("a")
    assert result.rows_omitted == bad.sum()
    assert result.n_rows_used == (~bad).sum()
    np.testing.assert_allclose(result.average[0], result.grid_values[0])
    assert "omitted" in repr(result)


def test_a_model_that_fails_for_one_value_fails_that_feature_only():
    X = frame(s=np.array(["fine", "poison"])[(np.arange(N) == 17).astype(int)])

    def predict(Z):
        if ((Z["s"] == "poison") & (Z["b"] != X["b"].iloc[17])).any():
            raise ValueError("cannot take poison")
        return Z["a"].to_numpy()

    explainer = Explainer(predict, X)
    with pytest.raises(PredictionError, match="ValueError: cannot take poison"):
        explainer.partial_dependence("s")
    np.testing.assert_allclose(explainer.partial_dependence("a").average[0], explainer.grid("a").positions)


def test_wide_and_long_tables_stay_within_memory():
    wide = Explainer(lambda Z: Z[:, 0], RNG.normal(size=(50, 300)))
    assert len(wide.features) == 300
    assert wide.partial_dependence("x299").average.shape == (1, 40)
    long = Explainer(lambda Z: Z[:, 0], RNG.normal(size=(30_000, 2)), cache_bytes=2**20)
    result = long.partial_dependence(0, progress=False)
    assert result.individual is None
    np.testing.assert_allclose(result.average[0], result.grid_values[0])
    half = long.partial_dependence(1, subgroup="x0 > 0", progress=False)
    x0 = np.concatenate([long.table.observed("x0").codes])
    np.testing.assert_allclose(half.average, x0[x0 > 0].mean())


def test_estimator_without_fit_attributes_is_not_second_guessed():
    class Constant(BaseEstimator):
        def predict(self, X):
            return np.full(len(X), 3.0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Explainer(Constant(), frame()).partial_dependence("a").average.max() == 3.0


def test_binary_classifier_of_hist_gradient_boosting_matches_scikit_learn():
    X = frame(s=pd.Categorical(np.array(["u", "v", "w"])[np.arange(N) % 3]))
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype").fit(X, X["a"] + X["b"] > 0)
    result = Explainer(model, X).partial_dependence("a")
    expected = sklearn_pd(
        model, X, ["a"], custom_values={"a": result.grid_values[0]}, method="brute", kind="both",
        response_method="predict_proba",
    )  # fmt: skip
    np.testing.assert_allclose(result.average[1:], expected["average"], atol=1e-10)
    np.testing.assert_allclose(result.individual[1:], expected["individual"], atol=1e-10)
