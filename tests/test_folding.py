"""Conditions in their shortest form hold for the same rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdp_widgets.inputs.conditions import And, Levels, Missing, Not, Or, Range, Rows
from pdp_widgets.inputs.folding import feature_of, fold
from pdp_widgets.inputs.subgroup import parse
from pdp_widgets.inputs.table import FeatureTable

SEASONS = ["FALL", "SPRING", "SUMMER", "WINTER"]
X = pd.DataFrame(
    {
        "temp": [np.nan, -np.inf, -1.0, 0, 0.5, 1, 1.5, 2, 2.5, 3, np.inf],
        "bmi": np.arange(11) / 2,
        "n": np.arange(11) % 6,
        "season": np.array([None, *SEASONS, *SEASONS, "FALL", "FALL"], dtype=object),
        "kind": pd.Categorical(list("aabbccaabbc"), list("abcd")),
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(11), unit="D"),
    }
)
TABLE = FeatureTable(X)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("(season == 'SPRING' | season == 'SUMMER') & season != 'SUMMER'", "season == 'SPRING'"),
        ("season == 'SPRING' | season == 'SUMMER'", "season in ['SPRING', 'SUMMER']"),
        ("season != 'SPRING' & season != 'SUMMER'", "season not in ['SPRING', 'SUMMER']"),
        ("~(season == 'SPRING' | season.isna())", "season not in ['SPRING', None]"),
        ("season.notna() & season != 'SPRING'", "season not in ['SPRING', None]"),
        ("season.isna() | season in []", "season.isna()"),
        ("season == 'SPRING' & season == 'SUMMER'", "season in []"),
        ("season == 'SPRING' & temp > 1 & season != 'FALL'", "season == 'SPRING' & temp > 1"),
        ("temp > 1 | season == 'FALL' | season == 'SUMMER'", "temp > 1 | season in ['FALL', 'SUMMER']"),
        ("~(season == 'FALL' | kind == 'a' | temp > 1)", "season != 'FALL' & kind != 'a' & ~(temp > 1)"),
        ("~(season == 'FALL' | kind == 'a')", "season != 'FALL' & kind != 'a'"),
        ("~(season == 'FALL' & kind == 'a')", "~(season == 'FALL' & kind == 'a')"),
        ("kind == 'd'", "kind == 'd'"),
        ("season == 'FALL'", "season == 'FALL'"),
        # numbers
        ("temp > 1 & temp <= 2", "1 < temp <= 2"),
        ("temp > 1 | temp > 2", "temp > 1"),
        ("0 <= temp <= 1 | 1 < temp < 2", "0 <= temp < 2"),
        ("0 <= temp < 1 | 1 < temp < 2", "0 <= temp < 1 | 1 < temp < 2"),
        ("0 <= temp <= 2 & ~(1 <= temp <= 3)", "0 <= temp < 1"),
        ("0 <= temp <= 2 & ~(0.5 <= temp <= 1)", "0 <= temp <= 2 & ~(0.5 <= temp <= 1)"),
        ("0 <= temp <= 2 & ~(-1 <= temp <= 3)", "0 <= temp <= 2 & ~(-1 <= temp <= 3)"),
        ("~(temp > 1)", "~(temp > 1)"),  # missing values are in
        ("~(temp > 1) & temp.notna()", "temp <= 1"),
        ("~(temp > 1) & temp > 0", "0 < temp <= 1"),
        ("temp.isna() & ~(temp > 1)", "temp.isna()"),
        ("~(bmi > 1)", "bmi <= 1"),
        ("~(1 <= bmi < 2)", "~(1 <= bmi < 2)"),
        ("bmi != 1 & bmi > 1", "bmi > 1"),
        ("n == 1 | n == 2 | n in [3]", "1 <= n <= 3"),
        ("n == 1 | n == 3", "n == 1 | n == 3"),
        ("1 <= n <= 4 & n != 4", "1 <= n <= 3"),
        ("~(n > 3)", "n <= 3"),
        ("n > 1.5 & n < 3.5 & n != 3", "n == 2"),
        ("when > '2024-01-02' & ~(when >= '2024-01-05')", "'2024-01-02' < when < '2024-01-05'"),
    ],
)
def test_what_is_said_about_one_feature_becomes_one_part(text, short):
    node = parse(text, TABLE)
    folded = fold(node, TABLE)
    assert folded.text == short
    assert (folded.mask(TABLE) == node.mask(TABLE)).all()


def test_levels_that_nobody_has_are_dropped_so_that_the_text_can_be_read():
    for node in (Levels("season", ("never", "FALL")), Levels("season", ("never",), negate=True)):
        folded = fold(node, TABLE)
        assert (parse(folded.text, TABLE).mask(TABLE) == node.mask(TABLE)).all()
    assert fold(Levels("kind", ("d", "a")), TABLE).text == "kind in ['d', 'a']"


def test_sets_of_rows_and_unknown_features_stay():
    rows = Rows(np.arange(11) < 4, "mine")
    node = And((rows, Levels("season", ("FALL",)), rows, Or((rows, Missing("temp")))))
    assert fold(node, TABLE).text == "@mine & season == 'FALL' & (@mine | temp.isna())"
    strange = And((Range("x", 1), Not(Range("x", 2))))
    assert fold(strange, TABLE).text == strange.text
    assert feature_of(rows) is None
    assert feature_of(And(())) is None
    assert fold(Or(()), TABLE).text == "False"
    assert fold(And(()), TABLE).text == "True"


halves = st.integers(-3, 7).map(lambda v: v / 2)
bounds = st.none() | halves | st.sampled_from([np.inf, -np.inf])
closed = st.booleans()
leaves = st.one_of(
    st.builds(Range, st.sampled_from(["temp", "bmi", "n"]), bounds, bounds, closed, closed, closed),
    st.builds(Levels, st.just("season"), st.lists(st.sampled_from([*SEASONS, None]), max_size=3).map(tuple), closed),
    st.builds(Levels, st.just("kind"), st.lists(st.sampled_from("abcd"), max_size=3).map(tuple), closed),
    st.builds(
        Levels,
        st.sampled_from(["temp", "n"]),
        st.lists(halves | st.none(), max_size=3).map(tuple),
        closed,
        st.just("number"),
    ),
    st.builds(Missing, st.sampled_from(["temp", "season", "bmi"])),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=8,
)


@settings(max_examples=500, deadline=None)
@given(trees)
def test_the_same_rows_always(node):
    folded = fold(node, TABLE)
    assert (folded.mask(TABLE) == node.mask(TABLE)).all(), folded.text
    assert (parse(folded.text, TABLE).mask(TABLE) == node.mask(TABLE)).all(), folded.text
    about = [name for part in folded.conditions if (name := feature_of(part)) in ("season", "kind")]
    assert len(set(about)) == len(about), "one part per category"
