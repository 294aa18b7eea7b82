"""Curves of groups and of several models against plain loops over replaced rows, pandas' own cuts, and the single explainers."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pdp_widgets import Explainer
from pdp_widgets.explain.comparison import by_group, compare, iter_by_group, iter_compare
from pdp_widgets.explain.levels import _between
from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.columns import Observed
from pdp_widgets.inputs.subgroup import parse

N = 120


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n).round(1),
            "z": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2.0, size=n) * 10),
            "whole": rng.integers(0, 50, n),
            "few": rng.integers(2007, 2010, n),
            "site": pd.Series(rng.choice(["north", "south", "west"], n)).where(rng.random(n) > 0.1),
            "size": pd.Categorical(rng.choice(["small", "large"], n), categories=["small", "medium", "large"]),
            "flag": rng.random(n) < 0.3,
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 90 * 24, n), unit="h"),
            "wait": pd.to_timedelta(rng.integers(0, 5000, n), unit="min"),
            "hot_a": 0,
            "hot_b": 0,
        }
    ).assign(hot_a=lambda f: (f.whole % 3 == 0).astype(int), hot_b=lambda f: (f.whole % 3 == 1).astype(int))


def predict(frame):
    """Return two outputs that mix every column."""
    site = (
        frame.site.astype(object).fillna("none").map({"north": 1.0, "south": -2.0, "west": 0.5, "none": 3.0}).to_numpy()
    )
    other = frame.z.fillna(7).to_numpy() + frame.whole.to_numpy() + 10 * frame["flag"].to_numpy()
    other = other + frame.few.to_numpy() - 2000 + frame.day.dt.day.to_numpy() + frame.wait.dt.days.to_numpy()
    first = np.sin(frame.x.to_numpy() + site) + 0.1 * frame.x.to_numpy() * other * (frame["size"] == "large").to_numpy()
    return np.column_stack([first, frame.x.to_numpy() * (1 + 2 * frame.hot_a.to_numpy())])


def replaced(predict, frame, values, rows, weights=None):
    """Return the partial dependence at values of x for some rows, in a plain loop: (outputs, values)."""
    out = []
    for value in values:
        moved = frame[rows].copy()
        moved["x"] = value
        out.append(np.average(predict(moved), axis=0, weights=None if weights is None else weights[rows]))
    return np.array(out).T


# ---- groups: numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "by", ["z", "whole", "few", "site", "size", "flag", "day", "wait", "kind of place", "x"]
)  # fmt: skip
def test_each_curve_is_the_mean_over_the_rows_of_its_level(by, weighted):
    frame = table()
    before = frame.copy(deep=True)
    weights = np.random.default_rng(1).random(N) + 0.1 if weighted else None
    explainer = Explainer(
        predict, frame, sample_weight=weights, features={"kind of place": ["hot_a", "hot_b"]}, grid_size=7
    )
    grouped = by_group(explainer, "x", by)
    pd.testing.assert_frame_equal(frame, before)
    assert len(grouped.levels) == len(set(grouped.levels)) > 1
    seen = np.zeros(N, dtype=int)
    for condition, one, average in zip(grouped.conditions, grouped.dependences, grouped.average, strict=True):
        rows = parse(condition, explainer.table).mask(explainer.table)
        seen += rows
        np.testing.assert_array_equal(one.rows, np.flatnonzero(rows))
        np.testing.assert_allclose(
            average, replaced(predict, frame, grouped.grid_values[0], rows, weights), rtol=0, atol=1e-11
        )
        assert one.grids == grouped.grids
        assert one.subgroup == condition
    assert (seen == 1).all()  # every row in exactly one level
    assert grouped.n.tolist() == [len(one.rows) for one in grouped.dependences]
    assert grouped.n.sum() == grouped.rows_total == grouped.rows_done == N
    assert grouped.complete and (grouped.stderr == 0).all() and grouped.weighted == weighted


def test_levels_of_categories_are_the_observed_ones_in_order_and_missing_last():
    frame = table()
    explainer = Explainer(predict, frame)
    counts = frame.site.value_counts(dropna=False)
    grouped = by_group(explainer, "x", "site")
    assert grouped.levels == ("north", "south", "west", "missing")
    assert grouped.n.tolist() == [counts["north"], counts["south"], counts["west"], frame.site.isna().sum()]
    assert by_group(explainer, "x", "size").levels == ("small", "large")  # declared order, observed levels only
    assert by_group(explainer, "x", "flag").levels == ("False", "True")
    assert by_group(explainer, "x", "few").levels == ("2007", "2008", "2009")
    assert grouped.level("south") is grouped.dependences[1]
    assert grouped.level(None) is grouped.level(np.nan) is grouped.dependences[3]
    assert by_group(explainer, "x", "flag").level(True).rows.tolist() == np.flatnonzero(frame.flag).tolist()
    assert by_group(explainer, "x", "few").level(2008).rows.tolist() == np.flatnonzero(frame.few == 2008).tolist()
    with pytest.raises(InputError, match="'sout' is not a level of 'site' here; did you mean 'south'"):
        grouped.level("sout")


def test_the_model_is_asked_nothing_beyond_the_curves_of_the_feature():
    frame = table()
    alone, explainer = (Explainer(predict, frame, grid_size=5) for _ in range(2))
    alone.partial_dependence("x")
    first = by_group(explainer, "x", "site")
    asked = explainer.rows_asked
    assert asked == alone.rows_asked
    by_group(explainer, "x", "z")
    by_group(explainer, "x", "day", subgroup="site == 'north'", levels=2)
    assert explainer.rows_asked == asked
    small = Explainer(predict, frame, grid_size=5, cache_bytes=0)  # keeps no curve
    again = by_group(small, "x", "site")
    np.testing.assert_allclose(again.average, first.average, rtol=0, atol=1e-12)
    assert again.n.tolist() == first.n.tolist()
    assert [one.subgroup for one in again.dependences] == [one.subgroup for one in first.dependences]
    assert small.rows_asked <= asked  # each row once


def test_quartiles_divide_as_pandas_does():
    frame = table()
    explainer = Explainer(predict, frame)
    quarters = pd.qcut(frame.x, 4)
    whole = pd.cut(frame.z, [-np.inf, *np.nanquantile(frame.z, [0.25, 0.5, 0.75], method="inverted_cdf"), np.inf])
    for by, groups in (("x", quarters), ("z", whole)):
        grouped = by_group(explainer, "x", by)
        numbers = [one for name, one in zip(grouped.levels, grouped.dependences, strict=True) if name != "missing"]
        expected = [np.flatnonzero(groups.cat.codes == k) for k in range(4)]
        assert [one.rows.tolist() for one in numbers] == [rows.tolist() for rows in expected]
    assert grouped.levels[-1] == "missing" and grouped.n[-1] == frame.z.isna().sum()
    assert grouped.levels[0].startswith("<= ") and grouped.levels[3].startswith("> ") and " to " in grouped.levels[1]
    assert all(len(bound) <= 5 for name in grouped.levels[:4] for bound in name.strip("<=> ").split(" to "))


def test_weights_are_repeated_rows_for_quartiles_and_means():
    frame = table()
    times = np.random.default_rng(3).integers(0, 4, N)
    grid = [-1.0, 0.0, 1.0]
    weighted = by_group(Explainer(predict, frame, sample_weight=times), "x", "z", grid=grid)
    repeated = by_group(
        Explainer(predict, frame.loc[frame.index.repeat(times)].reset_index(drop=True)), "x", "z", grid=grid
    )
    assert weighted.conditions == repeated.conditions
    np.testing.assert_allclose(weighted.average, repeated.average, rtol=0, atol=1e-12)


def test_written_cuts_move_no_row():
    rng = np.random.default_rng(5)
    for precision in (None, np.dtype("float32")):
        for scale in (1e-300, 1e-5, 1.0, 1e4, 1e15, *([] if precision else [1e300])):
            for _ in range(200):
                pair = np.sort(rng.normal(size=2)) * scale
                low, high = (pair if precision is None else pair.astype(precision)).astype(float).tolist()
                if low < high:
                    observed = Observed("number", np.array([low, high]), precision=precision)
                    assert low <= observed.as_held(_between(low, high, observed)) < high
    number = Observed("number", np.zeros(1))
    assert _between(3550.0, 3575.0, number) == 3550
    assert _between(12.838462391, 12.9, number) == 12.84
    assert _between(-12.838462391, -12.0, number) == -12.83
    assert _between(12.838462391, 12.8384625, number) == 12.8384624
    day = Observed("datetime", np.zeros(1))
    hour = 3_600_000.0
    assert _between(5 * hour, 30 * hour, day) == 24 * hour
    assert _between(5.5 * hour, 6.5 * hour, day) == 6 * hour


@pytest.mark.parametrize(
    ("values", "levels", "n"),
    [
        ([0.0] * 96 + [1.0, 2, 3, 4], ("<= 0", "> 0"), [96, 4]),
        ([1.0, 2, 3, 4] + [5.0] * 96, ("<= 4", "> 4"), [4, 96]),
        ([3.0] * 10, ("3",), [10]),
        ([3.0], ("3",), [1]),
        ([np.nan] * 5, ("missing",), [5]),
        ([np.nan, 1.5, 1.5], ("1.5", "missing"), [2, 1]),
        ([-np.inf, np.inf, 1.0, 2, 3, 4, 5, 6, 7, 8], ("<= 2", "2 to 4", "4 to 6", "> 6"), [3, 2, 2, 3]),
        ([-np.inf, np.inf, np.inf], ("-inf", "inf"), [1, 2]),
        (np.array([0.1, 0.1, 0.2], dtype=np.float32), ("0.1", "0.2"), [2, 1]),
        (np.arange(10, dtype=np.float32) / 10, ("<= 0.2", "0.2 to 0.4", "0.4 to 0.7", "> 0.7"), [3, 2, 3, 2]),
    ],
)
def test_ties_constants_and_infinities(values, levels, n):
    values = np.asarray(values)
    frame = pd.DataFrame({"x": np.arange(len(values)) * 1.0, "by": values})
    explainer = Explainer(lambda rows: rows.x.to_numpy() * 2.0, frame)
    grouped = by_group(explainer, "x", "by")
    assert grouped.levels == levels
    assert grouped.n.tolist() == n
    for condition, one in zip(grouped.conditions, grouped.dependences, strict=True):
        assert parse(condition, explainer.table).mask(explainer.table).nonzero()[0].tolist() == one.rows.tolist()
    np.testing.assert_allclose(grouped.average[:, 0], np.tile(2 * grouped.grid_values[0], (len(levels), 1)))


# ---- groups: what may be asked for ------------------------------------------------------------------


def test_own_cuts_and_numbers_of_groups():
    frame = table()
    explainer = Explainer(predict, frame)
    cuts = [5, 12.5, 40]
    grouped = by_group(explainer, "x", "z", levels=cuts)
    expected = pd.cut(frame.z, [-np.inf, *cuts, np.inf]).cat.codes
    assert [one.rows.tolist() for one in grouped.dependences] == [
        np.flatnonzero(expected == k).tolist() for k in (0, 1, 2, 3, -1)
    ]
    assert grouped.levels == ("<= 5", "5 to 12.5", "12.5 to 40", "> 40", "missing")
    assert grouped.values == ((None, 5.0), (5.0, 12.5), (12.5, 40.0), (40.0, None), None)
    assert by_group(explainer, "x", "z", levels=np.array(cuts)).levels == grouped.levels
    days = by_group(explainer, "x", "day", levels=["2024-04-01", pd.Timestamp("2024-05-01")])
    assert days.levels == ("<= 2024-04-01", "2024-04-01 to 2024-05-01", "> 2024-05-01")
    assert days.n.tolist() == [
        (frame.day <= "2024-04-01").sum(),
        ((frame.day > "2024-04-01") & (frame.day <= "2024-05-01")).sum(),
        (frame.day > "2024-05-01").sum(),
    ]
    assert by_group(explainer, "x", "day", levels=pd.DatetimeIndex(["2024-04-01"])).n[0] == days.n[0]
    assert by_group(explainer, "x", "wait", levels=[pd.Timedelta("1 day")]).n[0] == (frame.wait <= "1 day").sum()
    halves = by_group(explainer, "x", "z", levels=2)
    assert len(halves.levels) == 3 and abs(halves.n[0] - halves.n[1]) <= 1
    empty = by_group(explainer, "x", "z", levels=[-3, 10])
    assert empty.levels == ("-3 to 10", "> 10", "missing") and empty.empty == ("<= -3",)


def test_own_levels_in_the_order_wanted():
    frame = table()
    explainer = Explainer(predict, frame, features={"hot": ["hot_a", "hot_b"]})
    grouped = by_group(explainer, "x", "site", levels=["west", None, "north"])
    assert grouped.levels == ("west", "missing", "north")
    assert grouped.values == ("west", None, "north")
    assert grouped.rows_left_out == (frame.site == "south").sum() == N - grouped.rows_total
    assert "rows of other levels left out" in repr(grouped)
    assert by_group(explainer, "x", "site", levels=1).levels[0] == frame.site.mode()[0]
    assert by_group(explainer, "x", "hot", levels=["b", "hot_a", "(base)"]).n.tolist() == [
        frame.hot_b.sum(), frame.hot_a.sum(), N - frame.hot_a.sum() - frame.hot_b.sum(),
    ]  # fmt: skip
    some = by_group(explainer, "x", "size", levels=["medium", "large"])
    assert some.levels == ("large",) and some.empty == ("medium",) and "no rows: medium" in repr(some)
    mixed = pd.DataFrame({"x": [1.0, 2, 3, 4], "by": pd.Series([1, "1", True, 1], dtype=object)})
    of_mixed = Explainer(lambda rows: rows.x.to_numpy(), mixed)
    assert [one.rows.tolist() for one in by_group(of_mixed, "x", "by", levels=["1", 1, True]).dependences] == [
        [1], [0, 3], [2]
    ]  # fmt: skip


def test_of_many_levels_the_most_frequent_are_shown():
    names = np.repeat([f"name {k:02}" for k in range(30)], np.arange(1, 31))
    frame = pd.DataFrame({"x": np.arange(len(names)) * 1.0, "by": names})
    grouped = by_group(Explainer(lambda rows: rows.x.to_numpy(), frame, grid_size=3), "x", "by")
    assert grouped.levels == tuple(f"name {k:02}" for k in range(10, 30))
    assert grouped.n.tolist() == list(range(11, 31))
    assert grouped.note == "the 20 most frequent of 30 levels; levels=[...] asks for others"
    assert grouped.rows_left_out == sum(range(1, 11))


def test_a_subgroup_is_divided_by_its_own_quartiles():
    frame = table()
    explainer = Explainer(predict, frame)
    inside = (frame.site == "north").to_numpy()
    alone = Explainer(predict, frame[inside])
    grid = [-1.0, 0.5]
    expected = by_group(alone, "x", "z", grid=grid)
    for subgroup in ("site == 'north'", inside):
        grouped = by_group(explainer, "x", "z", subgroup=subgroup, grid=grid)
        assert grouped.levels == expected.levels
        np.testing.assert_allclose(grouped.average, expected.average, rtol=0, atol=1e-12)
    assert grouped.subgroup == f"mask of {inside.sum()} rows"
    grouped = by_group(explainer, "x", "flag", subgroup="site == 'north'")
    assert grouped.level(True).subgroup == "flag == True & (site == 'north')"
    np.testing.assert_array_equal(
        explainer.mask(grouped.level(True).subgroup).nonzero()[0], np.flatnonzero(inside & frame["flag"])
    )
    assert by_group(explainer, "x", "site", subgroup="site == 'north'").levels == ("north",)


@pytest.mark.parametrize(
    ("by", "levels", "message"),
    [
        ("sit", None, "feature 'sit' is not a column of X; did you mean 'site'"),
        ("site", ["nort"], "site has no value 'nort'; did you mean 'north'"),
        ("site", ["north", "north"], "names a level twice"),
        ("site", "north", "expected a number, or a list of levels"),
        ("site", [], "levels=.. of 'site'; expected levels"),
        ("site", 0, "levels=0; expected a whole number, 1 or more"),
        ("z", 1, "levels=1; expected a whole number, 2 or more"),
        ("z", 2.5, "expected a whole number"),
        ("z", [2, 1], "each above the one before"),
        ("z", [1, 1], "each above the one before"),
        ("z", [1, np.inf], "expected finite cuts"),
        ("z", [1, None], "no value that 'z' can be cut at"),
        ("z", ["low"], "feature 'z' is compared with a number, not with 'low'"),
        ("day", [5], "feature 'day' is compared with a date such as '2024-05-31', not with 5"),
        ("day", [5.0], "feature 'day' is compared with a date"),
        ("size", ["medium"], "none of the 120 rows belongs to a level of 'size' that was asked for: medium"),
    ],
)
def test_what_cannot_be_divided_is_said(by, levels, message):
    with pytest.raises(InputError, match=message):
        by_group(Explainer(predict, table()), "x", by, levels=levels)


def test_outputs_are_found_by_class_label():
    frame = table()
    labels = np.random.default_rng(0).choice([1, 2, 3], N)  # each is also the position of another one
    columns = ["x", "whole", "few"]
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(frame[columns], labels)
    explainer = Explainer(model, frame[columns], method="model")
    grouped = by_group(explainer, "x", "few")
    for k, label in enumerate([1, 2, 3]):
        for one in (grouped.output(label), by_group(explainer, "x", "few", output=label)):
            assert one.outputs == (str(label),) and one.labels == (label,)
            np.testing.assert_array_equal(one.average, grouped.average[:, k : k + 1])
    assert grouped.scale == "probability"
    with pytest.raises(InputError, match="output 'four'"):
        by_group(explainer, "x", "few", output="four")


def test_frames_are_tidy_and_names_do_not_collide():
    frame = table()
    explainer = Explainer(predict, frame, grid_size=4)
    grouped = by_group(explainer, "x", "site")
    tidy = grouped.to_frame()
    assert list(tidy.columns) == ["output", "level", "n", "x", "average", "stderr", "n_nearest"]
    assert len(tidy) == 4 * 2 * len(grouped.grid_values[0])
    one = tidy[(tidy.level == "south") & (tidy.output == "output 1")]
    np.testing.assert_array_equal(one.average, grouped.average[1, 1])
    assert set(one.n) == {(frame.site == "south").sum()} == {one.n_nearest.sum()}
    odd = pd.DataFrame({"level": [0.0, 1, 2], "n": [1.0, 1, 2]})
    model = Explainer(lambda rows: rows.level.to_numpy() * rows.n.to_numpy(), odd)
    assert list(by_group(model, "level", "n").to_frame().columns)[:4] == ["output", "level_", "n", "level"]
    assert list(by_group(model, "n", "level").to_frame().columns)[:4] == ["output", "level", "n_", "n"]
    pair = by_group(model, ("level", "n"), "n")
    assert pair.average.shape == (2, 1, 3, 2)
    np.testing.assert_array_equal(pair.average[0, 0], np.outer([0, 1, 2], [1, 2]))
    assert list(pair.to_frame().columns) == ["output", "level_", "n_", "level", "n", "average", "stderr"]


@pytest.mark.parametrize("cache_bytes", [2**28, 0])
def test_groups_grow_to_the_whole(cache_bytes):
    frame = table(n=600)
    explainer = Explainer(predict, frame, grid_size=5, cache_bytes=cache_bytes)
    growing = list(iter_by_group(explainer, "x", "site"))
    done = [one.rows_done for one in growing]
    assert len(growing) > 1 and done == sorted(done) and done[0] < done[-1] == growing[-1].rows_total == 600
    assert not growing[0].complete and growing[-1].complete
    whole = by_group(Explainer(predict, frame, grid_size=5), "x", "site")
    np.testing.assert_allclose(growing[-1].average, whole.average, rtol=0, atol=1e-11)
    early, late = growing[0].average, whole.average
    seen = np.isfinite(early) & (growing[0].n > 5)[:, None, None]
    assert seen.any() and (np.abs(early - late)[seen] <= 6 * growing[0].stderr[seen] + 1e-9).all()


def test_rows_without_a_prediction_are_counted_per_level():
    frame = table()
    holes = lambda rows: np.where(rows.whole == frame.whole[0], np.nan, rows.x.to_numpy())  # noqa: E731
    grouped = by_group(Explainer(holes, frame, nan_predictions="omit"), "x", "flag")
    bad = frame.whole == frame.whole[0]
    assert [one.rows_omitted for one in grouped.dependences] == [(bad & ~frame.flag).sum(), (bad & frame.flag).sum()]
    assert grouped.n.tolist() == [(~bad & ~frame.flag).sum(), (~bad & frame.flag).sum()] and grouped.complete
    assert "without a finite prediction omitted" in repr(grouped)


def test_groups_say_what_they_are():
    explainer = Explainer(predict, table(), sample_weight=np.arange(1, N + 1), grid_size=4)
    said = repr(by_group(explainer, "x", "few", subgroup="flag", output=0))
    n = [(table().query("flag").few == year).sum() for year in (2007, 2008, 2009)]
    assert said.startswith(
        f"<GroupedDependence on 'x' by 'few': prediction of output 0; 3 levels with rows 2007: {n[0]}, 2008: {n[1]}, 2009: {n[2]}; "
    )
    assert said.endswith("subgroup flag; weighted>")


# ---- several models ---------------------------------------------------------------------------------


def line(frame):
    return 2 * frame.x.to_numpy() + frame.whole.to_numpy()


def bend(frame):
    return np.abs(frame.x.to_numpy()) * frame.whole.to_numpy()


def test_curves_are_those_of_single_explainers_on_one_grid():
    frame = table()
    before = frame.copy(deep=True)
    weights = np.random.default_rng(1).random(N)
    options = {"sample_weight": weights, "background": 80, "random_state": 4}
    for feature in ("x", "site", "day", ("x", "site")):
        found = compare({"line": line, "bend": bend}, frame, feature, subgroup="flag", grid_size=9, **options)
        pd.testing.assert_frame_equal(frame, before)
        for name, model in (("line", line), ("bend", bend)):
            single = Explainer(model, frame, **options).partial_dependence(feature, grid_size=9, subgroup="flag")
            mine = found.model(name)
            np.testing.assert_array_equal(mine.average, single.average)
            np.testing.assert_array_equal(mine.rows, single.rows)
            assert mine.subgroup == single.subgroup == found.subgroup == "flag"
            for a, b, c in zip(mine.grids, single.grids, found.grids, strict=True):
                assert a.labels == b.labels == c.labels
                np.testing.assert_array_equal(a.positions, b.positions)
                np.testing.assert_array_equal(a.positions, c.positions)
        assert found.complete and found.weighted and found.rows_done == found.rows_total == len(single.rows)


def test_forest_and_logistic_regression_agree_on_female_penguins_and_one_is_smoother(shared_data):
    birds = pd.read_csv(shared_data / "penguins.csv").dropna()
    X = birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]]
    models = {
        "random forest": RandomForestClassifier(60, min_samples_leaf=3, random_state=0).fit(X, birds.sex),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, birds.sex),
    }
    for feature in ("body_mass_g", "bill_depth_mm"):
        even = np.linspace(*X[feature].quantile([0.05, 0.95]), 25).tolist()
        found = compare(models, X, feature, grid=even, output="female")
        assert found.average.shape == (2, 1, 25) and found.scale == "probability" and found.labels == ("female",)
        assert (found.average[:, 0, 0] - found.average[:, 0, -1] > 0.4).all()  # it falls
        falling = [np.corrcoef(even, curve)[0, 1] for curve in found.average[:, 0]]
        assert max(falling) < -0.9
        rough = np.abs(np.diff(found.average[:, 0], 2)).sum(axis=1)  # total absolute second difference
        assert rough[1] < rough[0] / 3
        assert 0.05 < found.largest_differences[0].size < 0.4


def test_the_largest_difference_and_where():
    frame = table()
    grid = [-2.0, -1.0, 0.0, 3.0]
    found = compare({"line": line, "bend": bend, "again": bend}, frame, "x", grid=grid)
    mean = frame.whole.mean()
    expected = np.array([2 * np.array(grid) + mean, np.abs(grid) * mean])
    np.testing.assert_allclose(found.average[:2, 0], expected, rtol=1e-12)
    (largest,) = found.largest_differences
    gaps = np.abs(expected[0] - expected[1])
    k = int(gaps.argmax())
    assert largest.at == (grid[k],) and largest.size == pytest.approx(gaps[k], rel=1e-12)
    assert set(largest.models) == {"line", "bend"} and largest.average[0] > largest.average[1]
    assert largest.output == "prediction"
    same = compare([bend, bend], frame, "x", grid=grid)
    assert same.models == ("bend", "bend #2")
    assert same.largest_differences[0].size == 0 and same.largest_differences[0].models == ("bend", "bend #2")
    pair = compare([line, bend], frame, ("x", "whole"), grid=[[-1.0, 3.0], [1, 10]])
    assert pair.largest_differences[0].at == (3.0, 10)  # 30 and 16; elsewhere 2, 2 and 4 apart
    assert pair.largest_differences[0].size == pytest.approx(14)


def test_outputs_are_brought_together_by_class():
    same = partial(np.testing.assert_allclose, rtol=1e-13)  # sums of chunks, whose sizes follow the clock
    frame = table()[["x", "whole"]]
    rng = np.random.default_rng(0)
    three, two = rng.choice(["a", "b", "c"], N), rng.choice(["c", "a"], N)
    models = {
        name: DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame, y)
        for name, y in (("3", three), ("2", two))
    }
    found = compare(models, frame, "x", method="model")
    assert found.outputs == ("a", "c") and found.unshared == {"3": ("b",), "2": ()}
    assert "not shared: b of 3" in repr(found)
    single = Explainer(models["3"], frame, method="model").partial_dependence("x")
    same(found.model("3").average, single.average[[0, 2]])
    np.testing.assert_array_equal(found.model("3").individual, single.individual[[0, 2]])
    same(found.output("c").average[0], single.average[2:])
    flipped = compare(dict(reversed(models.items())), frame, "x", method="model")
    same(flipped.average[::-1], found.average)

    def apart(rows):  # outputs in another order, by name
        return pd.DataFrame({"c": rows.x.to_numpy(), "a": -rows.x.to_numpy()})

    mixed = compare([apart, lambda rows: np.column_stack([rows.x, rows.whole])], frame, "x", output_names=["c", "a"])
    assert mixed.outputs == ("c", "a")
    whole = {"int": DecisionTreeClassifier(max_depth=2).fit(frame, rng.choice([1, 2], N)),
             "float": DecisionTreeClassifier(max_depth=2).fit(frame, rng.choice([2.0, 3.0], N))}  # fmt: skip
    both = compare(whole, frame, "x", method="model")
    assert both.outputs == ("2",) and both.labels == (2,)  # 2 is 2.0; not the second of each
    same(both.average[1], Explainer(whole["float"], frame, method="model").partial_dependence("x", output=2.0).average)
    named = compare([Explainer(line, table(), output_names=["price"]), Explainer(bend, table())], None, "x")
    assert named.outputs == ("price",)


def test_what_cannot_be_compared_is_refused():
    frame = table()[["x", "whole"]]
    rng = np.random.default_rng(0)

    def tree(*labels):
        return DecisionTreeClassifier(max_depth=2).fit(frame, rng.choice(labels, N))

    with pytest.raises(
        InputError, match=r"no output in common \('DecisionTreeClassifier': 'a', 'b'; .* #2': 'c', 'd'\)"
    ):
        compare([tree("a", "b"), tree("c", "d")], frame, "x")
    with pytest.raises(
        InputError, match=r"\('i': 0, 1; 's': '0', '1'\); classes are the same where they are equal \(1 and '1'"
    ):
        compare({"i": tree(0, 1), "s": tree("0", "1")}, frame, "x")
    logistic = LogisticRegression(max_iter=1000).fit(frame, rng.choice(["a", "b"], N))
    linear = LinearRegression().fit(frame, frame.x)
    with pytest.raises(
        InputError, match="'p' answers in probability, 'l' answers in prediction; models are compared on"
    ):
        compare({"p": logistic, "l": linear}, frame, "x")

    def share_of_b(model, rows):
        return model.predict_proba(rows)[:, 1] if hasattr(model, "predict_proba") else model.predict(rows)

    assert compare({"p": logistic, "l": linear}, frame, "x", response=share_of_b).scale == "share_of_b"
    for models, message in (
        ([linear], "given 1 of them; expected two or more"),
        (linear, "given LinearRegression; expected two or more"),
    ):
        with pytest.raises(InputError, match=message):
            compare(models, frame, "x")
    with pytest.raises(InputError, match="the steps of one model are not those of another"):
        compare([line, bend], frame, "x", grid="steps")
    with pytest.raises(TypeError, match="'sample_weights'; did you mean 'sample_weight'"):
        compare([line, bend], frame, "x", sample_weights=1)
    with pytest.raises(InputError, match="output 'c'"):
        compare([tree("a", "b"), tree("a", "b")], frame, "x", output="c")
    with pytest.raises(InputError, match="feature 'y' is not a column of X"):
        compare([line, bend], frame, "y")
    with pytest.raises(InputError, match=r"model 'lin' .*did you mean 'line'"):
        compare([line, bend], frame, "x").model("lin")


def test_explainers_are_taken_when_their_rows_are_the_same():
    frame = table()[["x", "whole"]]
    one, two = Explainer(line, frame, grid_size=7), Explainer(bend, frame.astype(float), grid_size=5)
    expected = compare([line, bend], frame, "x", grid_size=7)
    for X in (None, frame):
        found = compare([one, two], X, "x")
        np.testing.assert_array_equal(found.average, expected.average)  # on the grid of the first
    asked = one.rows_asked + two.rows_asked
    compare([one, two], None, "x")
    assert one.rows_asked + two.rows_asked == asked  # curves are kept
    np.testing.assert_array_equal(compare({"a": one, "b": bend}, frame, "x", grid_size=7).average, expected.average)
    narrow = Explainer(bend, frame, percentiles=(0.4, 0.6))
    for pair in ("x", ("x", "whole")):
        grids = compare([one, narrow], None, pair).grids
        assert [grid.labels for grid in grids] == [grid.labels for grid in one.ice(pair).grids]
    other = frame.assign(whole=frame.whole + (np.arange(N) == 3))
    weights = np.arange(1.0, N + 1)
    cases = [
        ([one, Explainer(bend, frame[:50])], None, {}, "50 rows and 120"),
        ([one, Explainer(bend, other)], None, {}, "1 values of column 'whole' differ, first in row 3"),
        ([one, Explainer(bend, frame.assign(v=1))], None, {}, "column 'v' is in one of them only"),
        ([one, Explainer(bend, frame[["whole", "x"]])], None, {}, "the columns are in another order"),
        ([one, Explainer(bend, frame, sample_weight=weights)], None, {}, "sample_weight is another"),
        ([one, bend], frame, {"sample_weight": weights}, "sample_weight is another"),
        ([one, bend], frame, {"background": 30}, "120 rows and 30"),
        ([one, two], other, {}, "has other rows than X: 1 values of column 'whole'"),
        ([one, bend], None, {}, "X is None, but 'bend' is no Explainer"),
        ([one, two], frame, {"background": 30}, "background= is for explainers that are made here"),
    ]
    for models, X, options, message in cases:
        with pytest.raises(InputError, match=message):
            compare(models, X, "x", **options)
    equal = Explainer(bend, frame, sample_weight=np.full(N, 7.0))  # weights that are all the same are none
    np.testing.assert_allclose(compare([one, equal], None, "x").average, expected.average, rtol=1e-12)
    sampled = [Explainer(model, frame, background=40) for model in (line, bend)]
    assert compare(sampled, frame, "x").rows_total == compare(sampled, None, "x").rows_total == 40


def test_rows_are_the_same_whatever_holds_them():
    frame = table().astype({"site": object})
    models = [Explainer(predict, frame), Explainer(predict, frame.astype({"few": float, "site": "category"}))]
    assert compare(models, None, "x").complete
    assert compare(models, None, "few").grids[0].labels == ["2007", "2008", "2009"]
    moved = frame.assign(site=frame.site.where(frame.site.notna(), "west"))
    with pytest.raises(InputError, match=f"{frame.site.isna().sum()} values of column 'site' differ"):
        compare([models[0], Explainer(predict, moved)], None, "x")
    later = frame.assign(day=frame.day + pd.to_timedelta((np.arange(N) == 5) * 1, unit="ms"))
    with pytest.raises(InputError, match="1 values of column 'day' differ, first in row 5"):
        compare([models[1], Explainer(predict, later)], None, "x")
    groups = {"hot": ["hot_a", "hot_b"]}
    grouped = Explainer(predict, frame, features=groups)
    assert compare([grouped, predict], frame, "hot", features=groups).grids[0].labels == ["a", "b", "(base)"]


def test_comparisons_grow_and_read_as_tables():
    frame = table(n=600)
    growing = list(iter_compare({"line": line, "bend": bend}, frame, "x", grid_size=5))
    done = [one.rows_done for one in growing]
    assert len(growing) > 1 and done == sorted(done) and done[0] < done[-1] == 600 and growing[-1].complete
    whole = compare({"line": line, "bend": bend}, frame, "x", grid_size=5)
    np.testing.assert_allclose(growing[-1].average, whole.average, rtol=0, atol=1e-11)
    tidy = whole.to_frame()
    assert list(tidy.columns) == ["output", "model", "x", "average", "stderr", "n_nearest"]
    np.testing.assert_array_equal(tidy[tidy.model == "bend"].average, whole.average[1, 0])
    assert repr(whole) == "<Comparison of 2 models on 'x': prediction; line, bend; 600 of 600 rows; 5 grid points>"


def test_groups_are_those_of_the_table():
    frame = table()
    assert by_group(Explainer(predict, frame, features=["x"]), "x", "site").levels[0] == "north"  # not among features
    assert FeatureTable(frame).observed("site").levels == ["north", "south", "west"]
