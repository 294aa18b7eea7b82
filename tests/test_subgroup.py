"""Conditions on rows: the same answers as pandas, and text that reads back to the same rows."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdp_widgets.inputs.errors import InputError
from pdp_widgets.inputs.folding import fold
from pdp_widgets.inputs.subgroup import And, Levels, Missing, Not, Or, Range, Rows, parse, quote
from pdp_widgets.inputs.table import FeatureTable

AWKWARD = [
    "body mass",
    "a.b",
    "x-y",
    "<b>x</b>",
    "🐧",
    "and",
    "None",
    "inf",
    "a`b",
    "`",
    "",
    "é ﬁ",
    "ﬁ",
    "_pdp_name0",
    "'q\"",
    "new\nline",
]
RNG = np.random.default_rng(0)
N = 60


def frame() -> pd.DataFrame:
    temp = np.round(RNG.normal(15, 8, N), 2)
    temp[:5] = np.nan
    temp[5] = np.inf
    season = RNG.choice(
        np.array(["SUMMER", "it's", 'a "b"', "x & y | z", "back\\slash", "line\nbreak", "`"], object), N
    )
    season[3:8] = None
    return pd.DataFrame(
        {
            "temp": temp,
            "n": RNG.integers(-3, 4, N),
            "season": season,
            "flag": RNG.random(N) > 0.5,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 400 * 86_400_000, N), unit="ms"),
            "took": pd.to_timedelta(RNG.integers(-5_000_000, 5_000_000, N), unit="us"),
            "mixed": pd.Series(RNG.choice(np.array([1, "1", 2.5, (1, 2), "None"], dtype=object), N), dtype=object),
            "bin": pd.cut(RNG.normal(size=N), 4),
            7: RNG.normal(size=N),
            ("a", "b"): RNG.normal(size=N),
            **{name: RNG.integers(0, 5, N) for name in AWKWARD},
        }
    )


X = frame()
TABLE = FeatureTable(X)


@pytest.mark.parametrize(
    "text",
    [
        "temp > 20 & season == 'SUMMER'",
        "temp > 20 & season == 'SUMMER' | flag",
        "3 < temp <= 14",
        "14 >= temp > 3",
        "1 < temp < 20 and 5 < temp",
        "n in [1, 2, -3]",
        "n not in (1, 2)",
        "season in ['SUMMER', \"it's\"]",
        "season not in ['SUMMER']",
        "season != 'SUMMER'",
        "temp != 3.5 & temp != 1e1",
        "not (temp > 3 or n == 2)",
        "~(temp > 3) & ~flag",
        "flag == True | n == 0",
        "season.isna() | temp.isnull()",
        "temp.notna() & season.notnull()",
        "when >= '2024-03-05'",
        "'2024-03-05 12:00' < when < '2024-10-01'",
        "when == '2024-03-05'",
        "took > '0 days' & took <= '1s'",
        "season == 'x & y | z'",
        "n == 1 & temp > -1.5 | n == 2 & temp < .5e1",
        "temp > -3 &\n n < 2",
    ],
)
def test_answers_as_pandas_does(text):
    plain = X.drop(columns=[7, ("a", "b"), *AWKWARD])
    rows = plain.query(text.replace("\n", " "), engine="python").index
    assert np.flatnonzero(parse(text, TABLE).mask(TABLE)).tolist() == rows.tolist()


@pytest.mark.parametrize("name", [*AWKWARD, "7", "a / b"])
def test_every_column_name_can_be_written(name):
    node = parse(f"{quote(name)} >= 2", TABLE)
    column = {"7": 7, "a / b": ("a", "b")}.get(name, name)
    assert node == Range(name, 2.0, None)
    assert (node.mask(TABLE) == (X[column] >= 2)).all()
    assert parse(node.text, TABLE) == node


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("temp > 3 & temp <= 9", Range("temp", 3.0, 9.0, low_closed=False)),
        ("3 < temp <= 9", Range("temp", 3.0, 9.0, low_closed=False)),
        ("temp == 4", Range("temp", 4.0, 4.0)),
        ("flag", Levels("flag", (True,))),
        ("not flag", Levels("flag", (True,), negate=True)),
        ("season.isna()", Missing("season")),
        ("~season.isna()", Not(Missing("season"))),
        ("n == 1 | n == 2 & flag", Or((Range("n", 1.0, 1.0), And((Range("n", 2.0, 2.0), Levels("flag", (True,))))))),
        (
            "`body mass` < 3 & `a``b` > 1",
            And((Range("body mass", None, 3.0, high_closed=False), Range("a`b", 1.0, None, low_closed=False))),
        ),
    ],
)
def test_reads_as(text, node):
    assert parse(text, TABLE) == node


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tmp > 3", "feature 'tmp' is not a column of X; did you mean 'temp'?"),
        ("temp > 'warm'", "feature 'temp' is compared with a number, not with 'warm'"),
        ("when > 5", "a date such as"),
        ("when > 5.0", "a date such as"),
        ("when > 'yesterday-ish'", "a date such as"),
        ("took > 5.0", "a duration such as"),
        ("season > 'A'", "category"),
        ("season == SUMER", "text values need quotes"),
        ("season == `SUMMER`", "text values need quotes"),
        ("season > SUMMER", "category"),
        ("SUMMER", "feature 'SUMMER' is not a column of X"),
        ("temp == SUMMER", "text values need quotes"),
        ("season in [SUMER]", "text values need quotes"),
        ("(n := 3)", "could not read"),
        ("season.isna(axis=1)", "could not read"),
        ("@curve1 & temp > 3", "no set of rows called @curve1; sets of rows get a name when"),
        ("season == None", "season.isna()"),
        ("temp", "not true or false"),
        ("body mas > 3", "could not read"),
        ("a.b > three", "`a.b` with backticks"),
        ("temp >", "could not read"),
        ("", "such as"),
        (None, "such as"),
        ("temp > hum", "hum"),
        ("__import__('os').system('true')", "could not read"),
        ("temp.__class__ == 3", "could not read"),
        ("(lambda: 1)() > temp", "could not read"),
        ("temp > 3 if flag else n > 2", "could not read"),
        ("temp > [x for x in 'a']", "could not read"),
        ("temp > n + 1", "could not read"),
        ("f'{temp}' == season", "could not read"),
        ("@ice & temp > 3", "no set of rows called @ice"),
        ("1 < 2", "could not read"),
        ("temp in 'abc'", "could not read"),
        ("(" * 5000 + "temp > 3" + ")" * 5000, "could not read"),
        ("not " * 30_000 + "flag", "longer"),
        ("not " * 20_000 + "flag", "could not read"),
        ("temp > 3\x00", "could not read"),
        ("temp > " + "9" * 5000, "could not read"),
        ("temp > " + "9" * 400, "a number"),
        ("temp > 3j", "could not read"),
        ("temp > ...", "could not read"),
        ("temp == b'x'", "could not read"),
    ],
)
def test_refuses_with_a_reason(text, says):
    with pytest.raises(InputError) as caught:
        parse(text, TABLE)
    assert says in str(caught.value)
    assert "_pdp" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_missing_level_and_mixed_values():
    season = X["season"]
    assert (Levels("season", ("SUMMER", None)).mask(TABLE) == (season.isna() | (season == "SUMMER"))).all()
    assert (Levels("season", (None,), negate=True).mask(TABLE) == season.notna()).all()
    assert (parse("mixed == 1", TABLE).mask(TABLE) == [v == 1 and not isinstance(v, str) for v in X["mixed"]]).all()
    assert (parse("mixed == '1'", TABLE).mask(TABLE) == [v == "1" for v in X["mixed"]]).all()
    assert (parse("mixed == 'None'", TABLE).mask(TABLE) == [v == "None" for v in X["mixed"]]).all()
    level = X["bin"].cat.categories[1]
    assert (parse(f"bin == '{level}'", TABLE).mask(TABLE) == (X["bin"] == level)).all()
    assert not Levels("season", ("never seen",)).mask(TABLE).any()  # built in code, whatever is in the data


def test_a_value_that_does_not_exist_is_refused_with_the_nearest_one():
    X = pd.DataFrame(
        {
            "season": ["WINTER", "SPRING", "SUMMER"],
            "workday": ["N", "Y", None],
            "flag": [True, False, True],
            "size": pd.Categorical(["small", "large", "small"], ["small", "medium", "large"]),
            "code": pd.Categorical([1, 2, 3]),
            "at_a": [1, 0, 0],
            "at_b": [0, 0, 0],
            **{f"c{k}": 0 for k in range(2)},
        }
    )
    table = FeatureTable(X, features={"at": ["at_a", "at_b"]})
    for text, says in [
        ("season == 'winter'", "season has no value 'winter'; did you mean 'WINTER'?"),
        ('season != "WINTR"', "season has no value 'WINTR'; did you mean 'WINTER'?"),
        ("season in ['SPRING', 'Sumer']", "season has no value 'Sumer'; did you mean 'SUMMER'?"),
        ("season not in ['xyz']", "season has no value 'xyz'; it has 'SPRING', 'SUMMER', 'WINTER'"),
        ("workday == True", "workday has no value True; it has 'N', 'Y'"),
        ("flag == 'true'", "flag has no value 'true'; did you mean True?"),
        ("code == '1'", "code has no value '1'; did you mean 1?"),
        ("at == 'at_a'", "at has no value 'at_a'; it has 'a', '(base)'"),
        ("at == 'c'", "at has no value 'c'; it has 'a', '(base)'"),
    ]:
        with pytest.raises(InputError) as caught:
            parse(text, table)
        assert str(caught.value) == says
    for text, n in [
        ("size == 'medium'", 0),
        ("size in ['medium', 'large']", 1),
        ("at == '(base)'", 2),
        ("at != 'b'", 3),
        ("at == 'a'", 1),
        ("flag == 1", 2),
        ("workday in [None, 'Y']", 2),
        ("season not in []", 3),
    ]:
        assert parse(text, table).mask(table).sum() == n, text
    many = FeatureTable(pd.DataFrame({"x": [f"level {k}" for k in range(50)]}))
    with pytest.raises(InputError, match=r"it has 'level 0', 'level 1', .*, [.]{3}$"):
        parse("x == '?'", many)
    with pytest.raises(InputError, match="did you mean 'BMI'"):
        parse("bmi > 3", FeatureTable(pd.DataFrame({"BMI": [1.0], "age": [2.0]})))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bmi === 30", "write =="),
        ("age > ", "something is missing after >"),
        ("age > 3 and", "something is missing after and"),
        ("age > 3 && bmi > 4", "write & or and, not &&"),
        ("age > 3 || bmi > 4", "write | or or, not ||"),
        ("age > 3 AND bmi > 4", "small letters"),
        ("!(age > 3)", "write ~ or not, not !"),
        ("age => 3", "write <= or >="),
        ("age <> 3", "write !=, not <>"),
        ("bmi > 30 & (age > 60", "a ) is missing"),
        ("bmi > 30) & age > 60", "a ( is missing"),
        ("city in ['a', 'b'", "a ] is missing"),
        ("bmi 30", "a condition reads like"),
        ("city == 'a", "a quote is not closed"),
        ("city == \u2018a\u2019", "plain quotes"),
        ("`age > 3", "a backtick is not closed"),
        ("date > 2012-6-1", "dates need quotes"),
        ("date > 2012-10", "'2012 - 10'"),
        ("date > 31.12.2012", "dates need quotes"),
        ("age between 3 and 4", "1 <= x <= 2"),
        ("bmi > age", "comparing two features is not possible here; pass a mask"),
        ("bmi > agee", "agee stands where a value is expected; text values need quotes"),
        ("b == city", "b stands where a value is expected; text values need quotes"),
        ("aeg > bmii", "'aeg' is not a column of X; did you mean 'age'?"),
        ("age > 1,5", "a number as 1234.5"),
        ("age = 1,5", "a number as 1234.5"),
        ("age == nan", ".isna()"),
        ("flag == true", "write True"),
    ],
)
def test_what_was_probably_meant(text, says):
    X = pd.DataFrame({"bmi": [1.0], "age": [2.0], "city": ["a"], "date": pd.Timestamp("2012-01-01"), "flag": True})
    with pytest.raises(InputError) as caught:
        parse(text, FeatureTable(X))
    assert says in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("weather = MISTY and hum > 70", "weather == 'MISTY' & hum > 70"),
        ("MISTY = weather", "weather == 'MISTY'"),
        ("weather \u2260 MISTY | hum \u2264 70", "weather != 'MISTY' | hum <= 70"),
        ("weather in {GOOD, MISTY}", "weather in ['GOOD', 'MISTY']"),
        ("weather not in [GOOD, 'VERY BAD']", "weather not in ['GOOD', 'VERY BAD']"),
        ("weather = 'a = b \u2264 c'", "weather == 'a = b \u2264 c'"),
        ("60\u2264hum\u226470", "60 <= hum <= 70"),
        ("hum \u2265 70 & `air = wet` = yes", "hum >= 70 & `air = wet` == 'yes'"),
        ("weather = hum2", "weather == 'hum2'"),
        ("rare = never", "rare == 'never'"),
    ],
)
def test_reads_what_the_page_shows(text, canonical):
    X = pd.DataFrame(
        {
            "weather": ["GOOD", "MISTY", "VERY BAD", "a = b \u2264 c", "hum2", "hum"],
            "hum": [60.0, 70.0, 80.0, 60.0, 70.0, 80.0],
            "air = wet": ["yes", "no"] * 3,
            "rare": pd.Categorical(["now"] * 6, categories=["now", "never"]),
        }
    )
    table = FeatureTable(X)
    node = parse(text, table)
    assert node.text == canonical
    assert (node.mask(table) == parse(canonical, table).mask(table)).all()
    with pytest.raises(InputError, match="comparing two features"):  # a level, but a feature first
        parse("weather = hum", table)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=4, unique=True))
def test_any_text_may_be_a_level(texts):
    table = FeatureTable(pd.DataFrame({"x": np.array(texts, dtype=object)}))
    for k, text in enumerate(texts):
        assert parse(Levels("x", (text,)).text, table).mask(table).tolist() == [i == k for i in range(len(texts))]


def test_hints_do_not_look_into_quotes():
    X = pd.DataFrame({"city": ["a = b && (c", "x"], "a=b": [1, 2]})
    table = FeatureTable(X)
    assert parse("city == 'a = b && (c'", table).mask(table).tolist() == [True, False]
    with pytest.raises(InputError) as caught:
        parse("city == 'a = b && (c' &", table)
    assert str(caught.value).endswith("something is missing after &")


def test_rows_are_written_by_name():
    mask = np.arange(N) < 9
    rows = Rows(mask, "curves of temp")
    node = rows & Range("n", 0)
    assert node.text == "@`curves of temp` & n >= 0"
    again = parse(node.text, TABLE, rows={"curves of temp": rows})
    assert (again.mask(TABLE) == mask & (X["n"] >= 0)).all()
    with pytest.raises(InputError, match="one per row"):
        Rows(mask[:5]).mask(TABLE)


def test_dates_are_written_readably():
    ms = pd.Timestamp("2024-03-05 06:00").value / 1e6
    assert Range("when", ms, kind="datetime").text == "when >= '2024-03-05 06:00:00'"
    assert Range("when", None, pd.Timestamp("2024-03-05").value / 1e6, kind="datetime").text == "when <= '2024-03-05'"


def test_time_zones_are_honoured():
    X = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=5, freq="D", tz="UTC")})
    table = FeatureTable(X)
    assert parse("t >= '2024-01-03T01:00+01:00'", table).mask(table).tolist() == [False, False, True, True, True]


# --- round trips ------------------------------------------------------------------------------------------------------

NUMBERS = ["temp", "n", "7", "a / b", *AWKWARD]
bounds = (
    st.none()
    | st.floats(allow_nan=False)
    | st.sampled_from([float(v) for v in X["temp"].dropna()])
    | st.integers(-3, 9).map(float)
)
milliseconds = (
    st.none()
    | st.sampled_from([v / 1e6 for v in X["when"].astype("datetime64[ns]").astype("int64")])
    | st.integers(-(10**12), 10**13).map(float)
)
durations = st.none() | st.sampled_from([v / 1e6 for v in X["took"].astype("timedelta64[ns]").astype("int64")])
closed = st.booleans()
leaves = st.one_of(
    st.builds(Range, st.sampled_from(NUMBERS), bounds, bounds, closed, closed, closed),
    st.builds(Range, st.just("when"), milliseconds, milliseconds, closed, closed, closed, st.just("datetime")),
    st.builds(Range, st.just("took"), durations, durations, closed, closed, closed, st.just("timedelta")),
    st.builds(Missing, st.sampled_from(list(TABLE.features))),
    *[
        st.builds(
            Levels,
            st.just(name),
            st.lists(st.sampled_from([*TABLE.observed(name).levels, None]), max_size=3).map(tuple),
            closed,
        )
        for name in ("season", "flag", "mixed", "bin")
    ],
    st.builds(
        Levels, st.just("n"), st.lists(st.integers(-3, 3).map(float), max_size=3).map(tuple), closed, st.just("number")
    ),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts))),
        inner.map(Not),
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] | ~pair[1]),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(trees)
def test_text_reads_back_to_the_same_rows(node):
    again = parse(node.text, TABLE)
    assert (again.mask(TABLE) == node.mask(TABLE)).all(), node.text
    assert parse(again.text, TABLE).text == again.text  # and settles


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("temp n'\"`&|~@()[]<>=!.,0123 \n\\orandti")), max_size=40))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        parse(text, TABLE).mask(TABLE)


def test_texts_of_dates_with_a_time_zone_read_back():
    hours = pd.date_range("2024-01-01", periods=400, freq="h", tz="America/New_York")
    table = FeatureTable(pd.DataFrame({"t": hours, "x": 1.0}))
    for query in [
        "t >= '2024-01-05'",
        "'2024-01-03' < t <= '2024-01-06 07:00'",
        "t == '2024-01-02 05:00'",
        "t != '2024-01-02'",
    ]:
        node = parse(query, table)
        assert 0 < node.mask(table).sum() < 400
        np.testing.assert_array_equal(parse(node.text, table).mask(table), node.mask(table), err_msg=node.text)
    np.testing.assert_array_equal(parse("t >= '2024-01-05'", table).mask(table), hours >= "2024-01-05")


def test_short_floats_compare_as_in_pandas():
    frame = pd.DataFrame({"x": np.array([0.1, 0.2, 0.3] * 10, dtype="float32"), "y": 1.0})
    table = FeatureTable(frame)
    for query in ["x == 0.1", "x <= 0.1", "x > 0.1", "x != 0.3", "0.1 <= x < 0.3"]:
        np.testing.assert_array_equal(parse(query, table).mask(table), frame.eval(query), err_msg=query)


# ---- columns that are no features ------------------------------------------------------------------


def one_hot() -> tuple[pd.DataFrame, FeatureTable]:
    frame = X[["temp", "flag", "mixed"]].copy()
    season = RNG.choice(["SUMMER", "WINTER"], N)
    frame["season_SUMMER"] = (season == "SUMMER").astype(int)
    frame["season_WINTER"] = (season == "WINTER").astype(int)
    frame["wet"] = RNG.random(N) > 0.5
    frame["dry"] = ~frame["wet"] & (RNG.random(N) > 0.5)
    return frame, FeatureTable(frame, {"season": ["season_SUMMER", "season_WINTER"], "rain": ["wet", "dry"]})


@pytest.mark.parametrize(
    "text",
    [
        "season_WINTER == 1",
        "season_WINTER != 1 & temp > 10",
        "0 < season_WINTER <= 1 | season_SUMMER == 0 & wet",
        "season_SUMMER in [1, 2]",
        "wet",
        "~dry & season_WINTER == 1",
        "wet == True",
        "not wet",
    ],
)
def test_columns_of_a_group_can_be_asked_for(text):
    plain, table = one_hot()
    rows = plain.query(text, engine="python").index
    node = parse(text, table)
    assert np.flatnonzero(node.mask(table)).tolist() == rows.tolist()
    again = parse(node.text, table)
    assert (again.mask(table) == node.mask(table)).all()
    some = np.arange(0, N, 2)
    assert (parse(text, table).mask(table.take(some)) == node.mask(table)[some]).all()
    folded = fold(node, table)
    assert (folded.mask(table) == node.mask(table)).all()


def test_a_group_and_its_column_say_the_same():
    _, table = one_hot()
    of_column, of_group = (parse(text, table).mask(table) for text in ("season_WINTER == 1", "season == 'WINTER'"))
    assert (of_column == of_group).all()
    assert 0 < of_column.sum() < N
    assert table.observed("season").kind == "category"


def test_columns_that_are_not_explained_can_be_asked_for():
    table = FeatureTable(X[["temp", "n", "season", "when"]], ["temp"])
    for text in ("n == 2", "season == 'SUMMER'", "when > '2024-05-01'", "n.isna()"):
        rows = X.query(text, engine="python").index
        assert np.flatnonzero(parse(text, table).mask(table)).tolist() == rows.tolist()
    for text, said in [
        ("nn == 2", "feature 'nn' is not a column of X; did you mean 'n'?"),
        ("season == 'SUMMR'", "season has no value 'SUMMR'; did you mean 'SUMMER'?"),
        ("season > 'SUMMER'", "feature 'season' is a category"),
        ("n > temp", "comparing two features is not possible"),
    ]:
        with pytest.raises(InputError, match=re.escape(said)):
            parse(text, table)


# ---- the words of chips --------------------------------------------------------------------------

CHIPS = json.loads((Path(__file__).parent / "chips.json").read_text(encoding="utf-8"))
"""Conditions and what the page's chips show of them: js/tests/query.test.ts holds the page to the same list."""


def chip_table() -> FeatureTable:
    n = 12
    return FeatureTable(
        pd.DataFrame(
            {
                "weather": (["GOOD", "MISTY", "VERY BAD", None] * n)[:n],
                "temp": np.arange(n) - 3.0,
                "wind speed": np.arange(n) % 5,
                "when": pd.date_range("2024-01-30", periods=n, freq="12h"),
                "wait": pd.to_timedelta(np.arange(n) * 7, unit="h"),
                "kind of day": (["rock", "rock and roll", "a, b", "it's", "x (y)", "\u05d2\u05d9\u05dc"] * n)[:n],
                "smoker": np.arange(n) % 3 == 0,
                "\u05d2\u05d9\u05dc": np.arange(n) * 10,
            }
        )
    )


@pytest.mark.parametrize("case", CHIPS, ids=[case["words"] for case in CHIPS])
def test_what_a_chip_shows_is_read_as_what_it_means(case):
    table = chip_table()
    text, words = case["text"], case["words"]
    expected = parse(text, table)
    assert 0 < expected.mask(table).sum() < table.n_rows, "the case tells rows apart"
    read = parse(words, table)
    np.testing.assert_array_equal(read.mask(table), expected.mask(table))
    several = parse(f"({words}) and temp > 0 & smoker", table)
    np.testing.assert_array_equal(several.mask(table), parse(f"({text}) & temp > 0 & smoker", table).mask(table))
    np.testing.assert_array_equal(parse(f"not ({words})", table).mask(table), ~expected.mask(table))


def test_words_that_may_mean_two_things_need_quotes():
    X = pd.DataFrame(
        {
            "genre": ["rock", "roll", "rock, roll", "a", "missing", None],
            "code": np.array([1, "1", 2, 3, 4, 5], dtype=object),
            "temp": range(6),
        }
    )
    table = FeatureTable(X)
    for text, first, second in [
        ("genre = rock, roll", "genre in ['rock', 'roll']", "genre == 'rock, roll'"),
        ("genre = a, missing", "genre in ['a', 'missing']", "genre in ['a', None]"),
        ("code = 1, 2", "code in [1, 2]", "code in ['1', 2]"),
    ]:
        with pytest.raises(InputError, match="quotes around the values") as caught:
            parse(text, table)
        assert first in str(caught.value)
        assert second in str(caught.value)
    assert parse("genre = 'rock, roll', a", table).mask(table).tolist() == [False, False, True, True, False, False]
    assert parse("genre = 'rock', 'roll'", table).mask(table).tolist() == [True, True, False, False, False, False]
    with pytest.raises(InputError, match="has no value 'rol'; did you mean 'roll'"):
        parse("genre = a, rol", table)


def test_rows_that_have_a_name_are_read_by_what_they_are():
    table = chip_table()
    rows = Rows(np.arange(12) < 4, "curves1", about="curves through temp 3 to 5, prediction 1 to 2")
    read = parse("curves through temp 3 to 5, prediction 1 to 2 and temp > -2", table, {"curves1": rows})
    assert read.text == "@curves1 & temp > -2"


def test_long_and_nested_words_are_given_up_soon():
    table = FeatureTable(pd.DataFrame({"a": ["x", "x, x"], "b": [1, 2]}))
    for text in ("a = " + ", ".join(["x"] * 300) + "!", "(" * 400 + "a = x" + ")" * 399, "not " * 900 + "a = y"):
        with pytest.raises(InputError):
            parse(text, table)


def test_a_chip_about_columns_named_by_numbers_has_two_readings():
    """``1 > 0`` is a column compared with a number, and the other way round."""
    table = FeatureTable(pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=[0, 1, 2]))
    for text in ("1 > 0", "1 > 1", "2 > 0"):
        with pytest.raises(InputError, match="`"):
            parse(text, table)
    assert parse("`1` > 0", table).feature == "1"
    assert parse("`1` > 5", table).feature == parse("1 > 5", table).feature == "1"  # there is no column 5
