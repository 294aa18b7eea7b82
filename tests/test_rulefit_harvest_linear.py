"""Linear terms: clip limits, moments, missing values, indicators."""

import numpy as np
import pandas as pd
import pytest

from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.rulefit.linear import linear_terms, weighted_limits
from pdp_widgets.rulefit.table import Table


def terms_of(X, weights=None, **options):
    terms, values = linear_terms(Table.of(X), X, weights, **options)
    return {str(term): (term, column) for term, column in zip(terms, values.T, strict=True)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.025, 0.1, 0.25])
def test_limits_are_those_of_repeated_rows(seed, share):
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=80).round(1), rng.integers(0, 4, 80)
    repeated = np.sort(np.repeat(values, weights))
    rank = int(np.ceil(share * len(repeated) - 1e-9))
    expected = repeated[rank - 1], repeated[-rank]
    live = weights > 0
    assert weighted_limits(values[live], weights[live].astype(float), share) == expected
    assert weighted_limits(values[live], weights[live] / 7, share) == expected
    assert weighted_limits(-values[live], weights[live] * 1.0, share) == (-expected[1], -expected[0])


def test_numbers_are_clipped():
    rng = np.random.default_rng(0)
    X, weights = rng.standard_t(2, size=(400, 2)), rng.uniform(0.2, 3, 400)
    for name, column in zip(("x0", "x1"), X.T, strict=True):
        for given in (None, weights):
            term, values = terms_of(X, given)[name]
            shares = np.full(400, 1 / 400) if given is None else given / given.sum()
            assert shares[column < term.low].sum() < 0.025 <= shares[column <= term.low].sum() + 1e-12
            assert shares[column > term.high].sum() < 0.025 <= shares[column >= term.high].sum() + 1e-12
            np.testing.assert_array_equal(values, np.clip(column, term.low, term.high))
            assert term.mean == pytest.approx(np.average(values, weights=given))
            assert term.sd == pytest.approx(np.sqrt(np.cov(values, aweights=given, ddof=0)))


@pytest.mark.parametrize("winsorize", [None, 0, 0.0])
def test_nothing_is_clipped_on_request(winsorize):
    X = np.random.default_rng(0).normal(size=(100, 1))
    term, values = terms_of(X, winsorize=winsorize)["x0"]
    assert (term.low, term.high) == (-np.inf, np.inf)
    np.testing.assert_array_equal(values, X[:, 0])


def test_rare_values_stay_alive():
    n = 1000
    X = pd.DataFrame(
        {
            "flag": np.arange(n) < 10,
            "zero_one": (np.arange(n) < 10) * 1,
            "rare": np.where(np.arange(n) < 10, np.arange(n), 0.5),
        }
    )
    found = terms_of(X)
    assert list(found) == ["flag == True", "zero_one", "rare"]
    for _, values in found.values():
        assert values.std() > 0
    np.testing.assert_array_equal(found["zero_one"][1], X["zero_one"])


def test_missing_values_count_as_the_mean_of_the_clipped_ones():
    rng = np.random.default_rng(1)
    column, weights = rng.normal(size=200) ** 3, rng.uniform(1, 2, 200)
    gone = rng.random(200) < 0.2
    X = pd.DataFrame({"a": np.where(gone, np.nan, column), "b": column})
    term, values = terms_of(X, weights)["a"]
    low, high = weighted_limits(column[~gone], weights[~gone], 0.025)
    assert (term.low, term.high) == (low, high)
    expected = np.average(np.clip(column[~gone], low, high), weights=weights[~gone])
    np.testing.assert_allclose(values[gone], expected)
    later = pd.DataFrame({"a": [np.nan], "b": [np.nan]})
    for term, values in terms_of(X, weights).values():
        assert term.values(later)[0] == pytest.approx(np.average(values, weights=weights))


def test_categories_become_indicators():
    X = pd.DataFrame(
        {
            "sky": ["sun", "rain", "fog", "sun"] * 5,
            "two": ["no", "yes", "no", "no"] * 5,
            "some": ["u", None, "v", "w"] * 5,
            "only": ["u", None, "u", None] * 5,
            "flag": [True, False, None, True] * 5,
            "one": ["u"] * 20,
        }
    )
    found = terms_of(X)
    assert list(found) == [
        "sky == 'fog'",
        "sky == 'rain'",
        "sky == 'sun'",
        "two == 'yes'",
        "some == 'u'",
        "some == 'v'",
        "some == 'w'",
        "some in [None]",
        "only == 'u'",
        "flag == True",
        "flag in [None]",
    ]
    np.testing.assert_array_equal(found["some in [None]"][1], X["some"].isna())
    np.testing.assert_array_equal(found["sky == 'sun'"][1], X["sky"] == "sun")


def test_dates_are_numbers():
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(100), "D")
    X = pd.DataFrame(
        {"when": when, "there": when.tz_localize("Europe/Berlin"), "lag": pd.to_timedelta(np.arange(100), "h")}
    )
    found = terms_of(X)
    assert [term.kind for term, _ in found.values()] == ["datetime", "instant", "timedelta"]
    limits = [(term.low, term.high) for term, _ in found.values()]
    assert limits[0] == tuple(pd.Timestamp(day).value // 10**6 for day in ("2020-01-03", "2020-04-07"))
    assert limits[2] == (2 * 3_600_000, 97 * 3_600_000)
    np.testing.assert_array_equal(np.diff(found["when"][1])[5:90], 86_400_000.0)


def test_what_is_constant_has_no_term():
    X = pd.DataFrame({"a": np.ones(30), "b": np.full(30, np.nan), "c": [None] * 30, "d": np.r_[np.zeros(29), 1.0]})
    assert list(terms_of(X)) == ["d"]
    weights = np.r_[np.ones(29), 0.0]
    assert list(terms_of(X, weights)) == []
    terms, values = linear_terms(Table.of(X[["a"]]), X[["a"]])
    assert terms == () and values.shape == (30, 0)


def test_values_are_those_of_the_terms():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(
        {
            "a b": rng.normal(size=50).astype("float32"),
            "c": rng.choice(["u", "v", "w"], 50),
            "n": rng.integers(0, 9, 50),
        }
    )
    X.loc[::7, "c"] = None
    for term, values in terms_of(X).values():
        np.testing.assert_array_equal(term.values(FeatureTable(X)), values)


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": np.where(rng.random(60) < 0.2, np.nan, rng.normal(size=60))})
    weights = rng.integers(1, 5, 60)
    for name, (term, _) in terms_of(X, weights).items():
        again = terms_of(X.loc[np.repeat(X.index, weights)])[name][0]
        assert (again.low, again.high) == (term.low, term.high)
        np.testing.assert_allclose([again.mean, again.sd, again.missing_as], [term.mean, term.sd, term.missing_as])


def test_chosen_features():
    X = pd.DataFrame({"a": [1.0, 2.0], "b b": [1.0, 2.0], "c": [1.0, 2.0]})
    assert list(terms_of(X, linear=["c", "a"])) == ["a", "c"]
    assert list(terms_of(X, linear="none")) == list(terms_of(X, linear=[])) == []
    with pytest.raises(InputError, match="feature 'bb' is not a column of X; did you mean 'b b'"):
        terms_of(X, linear=["bb"])
    with pytest.raises(InputError, match='expected "all", "none" or a list'):
        terms_of(X, linear="b b")
    for share in (0.5, -0.1):
        with pytest.raises(InputError, match=r"expected a share from 0 to below 0\.5"):
            terms_of(X, winsorize=share)
