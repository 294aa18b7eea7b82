"""Columns as they were at fit, and later rows as the same numbers."""

import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from pdp_widgets import Explainer, RuleFitRegressor
from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.conditions import Levels
from pdp_widgets.rulefit.table import Ranks, Table


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "temp": np.array([0.1, 5.0, np.nan, 2.5], dtype="float32"),
            "my sky": ["sun", None, "rain", "sun"],
            "flag": [True, False, True, True],
            "when": pd.to_datetime(["2024-01-01 00:00", "2024-01-02 00:00", "2023-12-31 12:00", None]),
            "count": [3, 1, 2, 2],
        }
    )


def test_rows_become_numbers(frame):
    day = 86_400_000.0
    start = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp() * 1000
    expected = [
        [np.float64(np.float32(0.1)), 1, 1, start, 3],
        [5.0, np.nan, 0, start + day, 1],
        [np.nan, 0, 1, start - day / 2, 2],
        [2.5, 1, 1, np.nan, 2],
    ]
    np.testing.assert_array_equal(Table.of(frame).encode(frame), expected)


def test_what_is_remembered(frame):
    columns = {column.name: column for column in Table.of(frame).columns}
    assert [column.kind for column in columns.values()] == ["number", "category", "category", "datetime", "number"]
    assert [name for name, column in columns.items() if column.missing] == ["temp", "my sky", "when"]
    assert columns["my sky"].levels == ("rain", "sun")
    assert columns["flag"].levels == (False, True)
    assert columns["temp"].precision == np.float32


@pytest.mark.parametrize(
    ("values", "two"),
    [
        ([0, 1, 1], (0.0, 1.0)),
        ([2.5, np.nan, -1], (-1.0, 2.5)),
        ([1, 1, 1], None),
        ([1, 2, 3], None),
        ([np.nan] * 3, None),
    ],
)
def test_two_values(values, two):
    assert Table.of(pd.DataFrame({"a": values})).columns[0].two_values == two


def test_later_rows_in_another_order_with_levels_of_another_order(frame):
    table = Table.of(frame)
    later = frame.iloc[::-1][["count", "when", "flag", "my sky", "temp"]].assign(other=1)
    later["my sky"] = pd.Categorical(later["my sky"], ["sun", "hail", "rain"])
    np.testing.assert_array_equal(table.encode(later), table.encode(frame)[::-1])


def test_unseen_levels(frame):
    later = frame.assign(**{"my sky": ["hail", "sun", None, "Sun"]})
    np.testing.assert_array_equal(Table.of(frame).encode(later)[:, 1], [-1, 1, np.nan, -1])


def test_containers_agree(frame):
    plain = frame[["count", "flag"]].astype(float)
    expected = Table.of(plain).encode(plain)
    for X in (
        plain.to_numpy(),
        plain.to_numpy().tolist(),
        sparse.csr_array(plain.to_numpy()),
        pl.DataFrame(plain.to_dict("list")),
    ):
        table = Table.of(X)
        np.testing.assert_array_equal(table.encode(X), expected)
        np.testing.assert_array_equal(table.encode(FeatureTable(X)), expected)
    of_polars = pl.DataFrame({"sky": ["b", None, "a"], "n": [1, None, 3]})
    of_pandas = pd.DataFrame({"sky": ["b", None, "a"], "n": [1, None, 3]})
    np.testing.assert_array_equal(Table.of(of_polars).encode(of_pandas), Table.of(of_pandas).encode(of_polars))


def test_rows_without_names_are_matched_by_position(frame):
    table = Table.of(frame)
    array = frame.astype(object).to_numpy()
    rows = table.rows(array)
    assert list(rows.features) == list(frame)
    np.testing.assert_array_equal(table.encode(array)[:, [1, 2, 3, 4]], table.encode(frame)[:, [1, 2, 3, 4]])
    with pytest.raises(InputError, match="4 columns where it had 5"):
        table.encode(array[:, :4])
    numbers = Table.of(np.eye(3))
    assert list(numbers.rows(pd.DataFrame(np.eye(3), columns=list("abc"))).features) == ["x0", "x1", "x2"]


def test_absent_columns_are_named_with_a_suggestion(frame):
    with pytest.raises(InputError, match="lacks 'temp' of the columns that it had at fit; did you mean 'temp_c'"):
        Table.of(frame).encode(frame.rename(columns={"temp": "temp_c"}))


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("count", ["3", "1", "2", "2"], "'count' held numbers at fit and holds text now"),
        ("count", [True, False, True, True], "'count' held numbers at fit and holds true and false now"),
        ("my sky", [1, 2, 3, 4], "'my sky' held text at fit and holds numbers now"),
        ("when", [1, 2, 3, 4], "'when' held dates at fit and holds numbers now"),
        ("temp", pd.to_datetime(["2024-01-01"] * 4), "'temp' held numbers at fit and holds dates now"),
    ],
)
def test_columns_that_hold_something_else_later(frame, name, values, text):
    with pytest.raises(InputError, match=text):
        Table.of(frame).encode(frame.assign(**{name: values}))


def test_columns_without_any_value_are_of_every_kind(frame):
    empty = pd.DataFrame({name: [None, None] for name in frame})
    assert np.isnan(Table.of(frame).encode(empty)).all()


def test_categories_that_are_numbers_may_come_as_numbers():
    X = pd.DataFrame({"month": pd.Categorical([1, 3, 12]), "flag": [True, False, True]})
    table, later = Table.of(X), pd.DataFrame({"month": [12, 2, 1], "flag": [1, 0, 1]})
    codes = table.encode(later)
    np.testing.assert_array_equal(codes, [[2, 1], [-1, 0], [0, 1]])
    rows = table.rows(later)
    for j, column in enumerate(table.columns):
        for code, level in enumerate(column.levels):
            np.testing.assert_array_equal(Levels(column.name, (level,)).mask(rows), codes[:, j] == code)


def test_directions(frame):
    table = Table.of(frame)
    assert table.signs(None).tolist() == [0] * 5
    assert table.signs({"temp": -1, "flag": 1}).tolist() == [-1, 0, 1, 0, 0]
    assert table.signs([1, 0, 0, 0, -1]).tolist() == [1, 0, 0, 0, -1]
    for given, text in [
        ({"tmp": 1}, "did you mean 'temp'"),
        ({"temp": 2}, "is 2; expected -1, 0 or 1"),
        ({"my sky": 1}, "is a category, which has no direction"),
        ([1, 0], "2 directions where X has 5 columns"),
    ]:
        with pytest.raises(InputError, match=text):
            table.signs(given)


def test_ranks_are_places_among_the_distinct_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (50, 3)) * 1e8 + 1e-3 * rng.integers(0, 2, (50, 3))  # float32 could not tell them apart
    X[rng.random(X.shape) < 0.1] = np.nan
    ranks = Ranks.of(X)
    numbers = ranks.numbers()
    for j in range(3):
        present = ~np.isnan(X[:, j])
        np.testing.assert_array_equal(ranks.values[j][ranks.positions[present, j]], X[present, j])
        assert np.isnan(numbers[~present, j]).all()
        np.testing.assert_array_equal(ranks.missing(j), ~present)
        below = [len({v for v in X[present, j] if v < value}) for value in X[present, j]]
        np.testing.assert_array_equal(numbers[present, j], below)


def test_it_pickles(frame):
    table = Table.of(frame)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(table)).encode(frame), table.encode(frame))


MIXED = {
    "numbers, flags and texts": [1, "1", True],
    "numpy's and Python's": [np.int64(1), 2.5, "1", np.bool_(False)],
    "pairs": [(1, 2), "a", 3],
    "dates and texts": [pd.Timestamp("2024-01-01"), "2024-01-01", "b"],
    "bytes and texts": [b"a", "a", None],
}


@pytest.mark.parametrize("values", MIXED.values(), ids=MIXED)
def test_rows_of_a_mixed_column_are_predicted_alone_as_together(values):
    rng = np.random.default_rng(0)
    n = 240
    column = np.empty(n, dtype=object)
    column[:] = [values[k % len(values)] for k in range(n)]
    X = pd.DataFrame({"m": pd.Series(column, dtype=object), "x": rng.normal(size=n)})
    y = np.arange(n) % len(values) * 2.0 + X["x"]
    model = RuleFitRegressor(max_rules=40, cv=2, random_state=0).fit(X, y)
    together = model.predict(X)
    assert np.corrcoef(together, y)[0, 1] > 0.5  # conditions take True for 1
    for k in range(12):
        one = X.iloc[[k]]
        for given in (one, one.infer_objects(), one.reset_index(drop=True)):
            np.testing.assert_allclose(model.predict(given), together[[k]])
    for level in range(len(values)):
        np.testing.assert_allclose(model.predict(X[level :: len(values)]), together[level :: len(values)])
    curve = Explainer(model, X).partial_dependence("m", progress=False)
    assert np.isfinite(curve.average).all()


def test_levels_that_conditions_write_alike_are_refused():
    X = pd.DataFrame({"m": pd.Series([Decimal(1), "1", 2] * 20, dtype=object)})
    with pytest.raises(InputError, match=r"Decimal\('1'\) and '1', which conditions cannot tell apart"):
        RuleFitRegressor().fit(X, np.arange(60.0))
