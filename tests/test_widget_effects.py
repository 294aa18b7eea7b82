# ruff: noqa: F811
"""What stands beside the focused curve: ALE, groups, observed means, other outputs, colours, hints, and suggested regions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from widget_tools import Counting, arrays, ask, frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.subgroup import parse
from pdp_widgets.widget.panels.groups import groups_of, in_words, other_side

X = frame()
Y = predict(X) + np.random.default_rng(3).normal(size=len(X))


def opened(make, *names, model=predict, data=None, **options):
    w = make(model, X if data is None else data, **options)
    assert ask(w, "open", panels=list(names or ("effects",)))["status"] == "ok"
    assert w.wait(60)
    return w


def shown(w, name="effects"):
    assert w.wait(60)
    picture = getattr(w, f"_{name}")
    assert picture["status"]["state"] == "done", picture["status"]
    json.dumps(picture, allow_nan=False, default=lambda raw: "bytes")
    return deep(picture)


def deep(value):
    if isinstance(value, list):
        return [deep(item) for item in value]
    if isinstance(value, dict) and "view" not in value:
        return {key: deep(item) for key, item in value.items()}
    return arrays(value)


def brute(rows, feature, values, model=predict):
    """Mean prediction over rows with a feature set to each value."""
    return [np.mean(model(rows.assign(**{feature: value}))) for value in values]


# ---- ALE -----------------------------------------------------------------------------------------


def test_ale_is_that_of_the_explainer_lifted_to_the_mean_prediction(make):
    w = opened(make, feature="temp", effect="ale")
    ale = shown(w)["ale"]
    expected = Explainer(predict, X).ale("temp")
    has_value = X["temp"].notna()
    np.testing.assert_allclose(ale["all"]["x"], expected.positions[0])
    np.testing.assert_allclose(ale["all"]["values"], expected.values[0] + predict(X[has_value]).mean())
    assert ale["all"]["n"] == has_value.sum()
    assert ale["selection"] is None


def test_ale_of_both_sides_of_a_selection(make):
    w = opened(make, feature="temp", effect="ale")
    w.select("season == 'SUMMER'")
    picture = shown(w)
    summer = (X["season"] == "SUMMER").to_numpy()
    for side, mask in (("selection", summer), ("rest", ~summer)):
        expected = Explainer(predict, X).ale("temp", subgroup=mask)
        rows = X[mask & X["temp"].notna()]
        np.testing.assert_allclose(picture["ale"][side]["values"], expected.values[0] + predict(rows).mean())
    # the model is linear among summer's rows: 2 per degree, exactly
    x, values = picture["ale"]["selection"]["x"], picture["ale"]["selection"]["values"]
    np.testing.assert_allclose(np.diff(values) / np.diff(x), 2)
    assert picture["selection_id"] == w.selection.id


def test_ale_of_a_category_stands_on_the_levels_of_the_curves_axis(make):
    w = opened(make, feature="season", effect="ale")
    ale, labels = shown(w)["ale"]["all"], w._curve["labels"]
    expected = Explainer(predict, X).ale("season")
    by_label = dict(
        zip(expected.grid_labels[0], expected.values[0] + predict(X[X["season"].notna()]).mean(), strict=True)
    )
    assert [labels[int(k)] for k in ale["x"]] == sorted(by_label)
    np.testing.assert_allclose(ale["values"], [by_label[labels[int(k)]] for k in ale["x"]])


def test_a_brush_asks_the_model_nothing_that_does_not_depend_on_it(make):
    counting = Counting(predict)
    w = opened(make, model=counting, feature="temp", y=Y)
    before, picture = counting.rows, w._effects
    w.select("n < 3")
    assert w.wait(60)
    assert counting.rows == before
    assert w._effects is picture
    w.effect = "ale"
    assert w.wait(60)
    asked = counting.rows
    assert asked > before
    w.clear()
    w.effect = "pd"
    w.effect = "ale"
    assert w.wait(60)
    assert counting.rows == asked  # what is known of all rows is remembered


def test_a_feature_without_ale_says_so(make):
    w = opened(make, data=X.assign(void=np.nan), feature="void", effect="ale")
    picture = shown(w)
    assert picture["ale"] is None
    assert "no finite value" in picture["notes"][0]


# ---- groups --------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["season", "n", "flag", "when"])
def test_groups_are_those_of_by_group(make, by):
    w = opened(make, feature="temp", by=by)
    groups = shown(w)["groups"]
    expected = Explainer(predict, X).by_group("temp", by)
    assert [level["label"] for level in groups["levels"]] == list(expected.levels)
    assert [level["n"] for level in groups["levels"]] == expected.n.tolist()
    for level, condition, average in zip(groups["levels"], expected.conditions, expected.average[:, 0], strict=True):
        assert level["condition"] == condition
        np.testing.assert_allclose(level["values"], average)
    sample = arrays(w._sample)["rows"]
    first = Explainer(predict, X).mask(expected.conditions[0])[sample]
    np.testing.assert_array_equal(groups["codes"] == 0, first)


def test_groups_of_a_condition_are_the_rows_where_it_holds_and_the_others(make):
    w = opened(make, feature="n", by="temp < 14")
    assert w.by == "temp < 14"
    cold = (X["temp"] < 14).to_numpy()
    levels = shown(w)["groups"]["levels"]
    assert [level["label"] for level in levels] == ["temp < 14", "temp >= 14 or missing"]
    for level, mask in zip(levels, (cold, ~cold), strict=True):
        assert level["n"] == mask.sum()
        np.testing.assert_allclose(level["values"], brute(X[mask], "n", range(6)))


def test_groups_within_a_selection(make):
    w = opened(make, feature="n", by="flag")
    w.select("temp > 10")
    groups = shown(w)["groups"]
    assert groups["selected"]
    for level, flag in zip(groups["levels"], (False, True), strict=True):
        rows = X[(X["temp"] > 10) & (X["flag"] == flag)]
        assert level["n"] == len(rows)
        np.testing.assert_allclose(level["values"], brute(rows, "n", range(6)))


def test_a_group_without_ale_takes_no_other_along(make):
    w = opened(make, feature="temp", effect="ale", by="temp.isna(); temp.notna()")
    picture = shown(w)
    values = [level["values"] for level in picture["groups"]["levels"]]
    assert values[0] is None
    expected = Explainer(predict, X).ale("temp", subgroup="temp.notna()")
    rows = X[X["temp"].notna()]
    np.testing.assert_allclose(values[1], expected.values[0] + predict(rows).mean())
    assert any(note.startswith("no curve of ") for note in picture["notes"])
    assert picture["hints"] is not None


def test_groups_that_a_selection_takes_as_a_whole_stay_as_they_are(make):
    w = opened(make, feature="temp", by="season")
    before = shown(w)["groups"]
    w.select("season in ['SUMMER', 'FALL']")
    after = shown(w)["groups"]
    assert not after["selected"]
    assert [level["n"] for level in after["levels"]] == [level["n"] for level in before["levels"]]
    for level, same in zip(after["levels"], before["levels"], strict=True):
        np.testing.assert_array_equal(level["values"], same["values"])
    w.select("n > 2", op="add")
    assert shown(w)["groups"]["selected"]


@pytest.mark.parametrize("condition", ["", "temp > 5"])
def test_groups_are_thin_where_few_of_their_own_rows_lie(make, condition):
    data = X.assign(warm=np.where(X["temp"] > 12, "warm", "cold"))
    w = opened(make, data=data, feature="temp", by="warm")
    w.select(condition)
    chosen = Explainer(predict, data).mask(condition) if condition else np.ones(len(data), bool)
    levels, grid = shown(w)["groups"]["levels"], arrays(w._curve)["x"]
    points = np.flatnonzero(np.isfinite(grid))
    temp = data["temp"].to_numpy()
    for level in levels:
        rows = chosen & (data["warm"] == level["label"]).to_numpy()
        near = np.zeros(len(grid))
        for value in temp[rows & np.isfinite(temp)]:
            near[points[np.argmin(np.abs(grid[points] - value))]] += 1
        near[~np.isfinite(grid)] = (rows & np.isnan(temp)).sum()
        np.testing.assert_array_equal(level["thin"], near < near.sum() / len(grid) / 10)
        beyond = grid[points] > 14 if level["label"] == "cold" else grid[points] < 10
        assert level["thin"][points[beyond]].all(), level["label"]
        assert not level["thin"].all()


def test_groups_have_ale_too(make):
    w = opened(make, feature="temp", by="season", effect="ale")
    levels = {level["label"]: level for level in shown(w)["groups"]["levels"]}
    summer = levels["SUMMER"]
    np.testing.assert_allclose(np.diff(summer["values"]) / np.diff(summer["x"]), 2)
    np.testing.assert_allclose(np.diff(levels["FALL"]["values"]) / np.diff(levels["FALL"]["x"]), -1)


def test_groups_where_the_curves_cannot_all_be_kept(make):
    explainer = Explainer(predict, X, cache_bytes=20_000)
    w = make(explainer, feature="n", by="flag")
    ask(w, "open", panels=["effects"])
    for level, flag in zip(shown(w)["groups"]["levels"], (False, True), strict=True):
        np.testing.assert_allclose(level["values"], brute(X[X["flag"] == flag], "n", range(6)))


def test_a_feature_is_not_divided_by_itself_and_many_levels_are_cut(make):
    many = X.assign(city=[f"c{i % 13:02d}" for i in range(len(X))])
    w = opened(make, data=many, feature="temp", by="temp")
    assert shown(w)["groups"] is None
    assert "itself" in shown(w)["notes"][0]
    w.by = "city"
    picture = shown(w)
    assert len(picture["groups"]["levels"]) == 8
    assert picture["notes"] == ["the 8 most frequent of 13 levels"]


def test_by_and_color_by_are_checked(make):
    w = make()
    with pytest.raises(InputError, match="did you mean 'season'"):
        w.by = "seasn"
    with pytest.raises(InputError, match="did you mean 'temp'"):
        w.by = "tmp < 3"
    with pytest.raises(InputError, match="did you mean 'season'"):
        w.color_by = "seasn"
    assert (w.by, w.color_by) == ("", "")
    w.by = "season == 'SUMMER'"
    w.by = None
    assert w.by == ""


def test_other_side_in_plain_words():
    explainer = Explainer(predict, X)
    table = explainer.table
    for text, other in {
        "n < 3": "n >= 3",
        "n >= 3": "n < 3",
        "temp > 10": "(temp <= 10 | temp.isna())",
        "flag": "flag == False",
        "season == 'SUMMER'": "season != 'SUMMER'",
        "season in ['SUMMER', 'FALL', 'WINTER']": "season.isna()",
    }.items():
        node = parse(text, table)
        flipped = other_side(node, table)
        np.testing.assert_array_equal(flipped.mask(table), ~node.mask(table))
        assert flipped.text == other
    assert in_words("`a b` == 'N' & c in ['x', 'y']") == "a b = N and c in [x, y]"
    assert sum(int(group.mask.sum()) for group in groups_of(explainer, "temp")[0]) == len(X)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("c == 'b | c'", "c = 'b | c'"),
        ("c != 'a & b' & c != 'x == y'", "c is not 'a & b' and c is not 'x == y'"),
        ("c in ['rock and roll', 'a, b', 'plain']", "c in ['rock and roll', 'a, b', plain]"),
        ("`x | y` > 3 & `kind of day` == 'N'", "`x | y` > 3 and kind of day = N"),
        ('c == "it\'s"', 'c = "it\'s"'),
        ("c == 'missing' | c.isna()", "c = 'missing' or c is missing"),
        ("c == 'x (y).isna()'", "c = x (y).isna()"),
        ("~(temp == 3)", "temp is not 3"),
        ("~(temp != 3)", "temp = 3"),
        ("~(temp > 3)", "not temp > 3"),
        ("~(~(temp > 3) | n == 2)", "not (not temp > 3 or n = 2)"),
        ("~((temp > 3 | temp.isna())) & ~(c in ['a', 'b'])", "not (temp > 3 or missing) and c not in [a, b]"),
        ("~(temp > 3 & (n == 1 | c == 'x'))", "not (temp > 3 and (n = 1 or c = x))"),
        ("c in ['FALL', None]", "c = FALL or missing"),
        ("c in ['FALL', 'WINTER', None]", "c in [FALL, WINTER] or missing"),
        ("c not in ['FALL', None]", "c is known and not FALL"),
        ("c in [None]", "c is missing"),
        ("1 <= temp < 3 & n.notna()", "1 <= temp < 3 and n is known"),
        ("(`a b` > 3 | `a b`.isna())", "a b > 3 or missing"),
        ("(temp > 3 | n.isna()) & n > 1", "(temp > 3 or n is missing) and n > 1"),
    ],
)
def test_conditions_in_words_are_true_of_what_they_say(condition: str, words: str):
    assert in_words(condition) == words


def test_labels_of_groups_keep_what_levels_are_called(make):
    odd = X.assign(c=np.resize(np.array(["a", "b | c", None], dtype=object), len(X)))
    for by, labels in [
        ("c == 'b | c'; c in ['a', None]", ["c = 'b | c'", "c = a or missing"]),
        ("~(c == 'a'); n == 3", ["c is not a", "n = 3"]),
    ]:
        w = opened(make, data=odd, feature="temp", by=by)
        assert [level["label"] for level in shown(w)["groups"]["levels"]] == labels


# ---- observed, outputs, colours, hints -------------------------------------------------------------


def test_observed_means(make):
    w = opened(make, feature="season", y=Y)
    observed = shown(w)["observed"]
    groups = pd.DataFrame({"y": Y, "f": predict(X), "s": X["season"].fillna("missing")}).groupby("s")
    labels = w._curve["labels"]
    for at, k in enumerate(observed["x"].astype(int)):
        rows = groups.get_group(labels[k])
        np.testing.assert_allclose(observed["outcome"][at], rows["y"].mean())
        np.testing.assert_allclose(observed["predicted"][at], rows["f"].mean())
        residual = rows["y"] - rows["f"]
        np.testing.assert_allclose(observed["residual"][at], residual.mean())
        np.testing.assert_allclose(observed["stderr"][at], residual.std() / np.sqrt(len(rows)))
        assert observed["n"][at] == len(rows)
    w.feature = "temp"
    assert len(shown(w)["observed"]["x"]) <= 13


def test_without_an_outcome_or_with_one_that_cannot_be_compared_nothing_is_observed(make):
    assert shown(opened(make))["observed"] is None
    w = opened(make, model=two_outputs, y=Y)
    assert shown(w)["observed"] is None


def test_a_few_outputs_are_all_there(make):
    def classes(rows):
        p = 1 / (1 + np.exp(-predict(rows) / 20))
        return np.column_stack([p, (1 - p) / 3, 2 * (1 - p) / 3])

    w = opened(make, model=classes, feature="n", output=1)
    outputs = shown(w)["outputs"]
    assert outputs["names"] == w.explainer.outputs
    for k in range(3):
        expected = brute(X, "n", range(6), lambda rows, k=k: classes(rows)[:, k])
        np.testing.assert_allclose(outputs["averages"][k], expected)
    assert shown(opened(make, model=two_outputs))["outputs"] is None


def test_the_sampled_rows_own_values_colour_their_lines(make):
    w = opened(make, feature="n", color_by="season")
    rows = arrays(w._sample)["rows"]
    colour = shown(w)["colour"]
    own = [None if pd.isna(level) else level for level in X["season"].to_numpy()[rows]]
    named = [None if np.isnan(k) else colour["labels"][int(k)] for k in colour["values"]]
    assert named == own
    w.color_by = "temp"
    colour = shown(w)["colour"]
    assert colour["labels"] is None
    np.testing.assert_allclose(colour["values"], X["temp"].to_numpy()[rows])


def test_hints_are_those_of_trust(make):
    w = opened(make, feature="temp")
    hints = shown(w)["hints"]
    assert [hint["text"] for hint in hints] == [hint.text for hint in Explainer(predict, X).trust("temp").hints]
    assert hints[0]["kind"] == "heterogeneity"
    assert "by season" in hints[0]["text"]
    assert all(hint["about"] for hint in hints)


def test_what_costs_much_is_asked_for(make):
    w = opened(make, feature="temp")
    cost = w._running.board["effects"].cost
    assert cost(w._running.view()) == 0
    w.effect = "ale"
    assert w.wait(60)
    w2 = make(predict, X, feature="temp", effect="ale")
    assert w2._running.board["effects"].cost(w2._running.view()) >= 2 * len(X)


# ---- regions -----------------------------------------------------------------------------------------


def test_regions_are_those_of_the_explainer(make):
    w = opened(make, "regions", feature="temp")
    picture = shown(w, "regions")
    expected = Explainer(predict, X).regions("temp")
    split = picture["here"]["splits"][0]
    assert [side["text"] for side in split["sides"]] == list(expected.splits[0].sides)
    assert split["gain"] == pytest.approx(expected.splits[0].gain)
    assert split["gain"] > 0.9  # season is all there is to it
    for side in split["sides"]:
        assert side["n"] == int(Explainer(predict, X).mask(side["text"]).sum())
    assert split["by"] == "season"
    found = Explainer(predict, X).suggestions()
    assert [one["feature"] for one in picture["all"]] == [one.feature for one in found if one.splits]
    assert (picture["done"], picture["total"]) == (5, 5)
    w.by = split["condition"]
    w.select(split["sides"][0]["text"])
    assert w.selection.n == split["sides"][0]["n"]


def nested(rows):
    """The slope of temp differs between flags, and where that is True between seasons."""
    slope = np.where(rows["flag"], np.where(rows["season"] == "SUMMER", 4.0, 1.0), -3.0)
    return rows["temp"].fillna(0.0).to_numpy() * slope


def test_each_region_has_a_curve_that_is_the_explainers(make):
    w = opened(make, "regions", "effects", model=nested, feature="temp")
    leaves = shown(w, "regions")["here"]["leaves"]
    found = Explainer(nested, X).regions("temp")
    assert len(found.regions) == 3
    assert [leaf["text"] for leaf in leaves] == [region.text for region in found.regions]
    assert sum(leaf["n"] for leaf in leaves) == len(X)
    w.by = "; ".join(leaf["text"] for leaf in leaves)
    groups = shown(w)["groups"]
    sample = arrays(w._sample)["rows"]
    for at, (level, region) in enumerate(zip(groups["levels"], found.regions, strict=True)):
        np.testing.assert_allclose(level["values"], region.average)
        assert level["n"] == region.n
        assert level["label"] == leaves[at]["label"]
        assert "==" not in level["label"]
        np.testing.assert_array_equal(groups["codes"] == at, region.mask[sample])
    # The regions themselves will do, and the view is written as it was.
    text = w.by
    w.by = ""
    w.by = found.regions
    assert w.by == text
    other = make(nested, X)
    other.view_state = w.view_state
    assert other.by == text


def test_several_conditions_as_groups():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "odd; name": ["x; y", "x; y", "z", "it's; so"]})
    explainer = Explainer(lambda rows: rows["a"], table)
    groups, note = groups_of(explainer, "`odd; name` == 'x; y' & a < 2; a >= 3; `odd; name` == \"it's; so\"")
    assert [np.flatnonzero(group.mask).tolist() for group in groups] == [[0], [2, 3], [3]]
    assert note == ""
    groups, note = groups_of(explainer, "; ".join(f"a > {k}" for k in range(10)))
    assert len(groups) == 8
    assert note == "the first 8 of 10 conditions have a curve"
    with pytest.raises(InputError, match="did you mean 'a'"):
        groups_of(explainer, "a > 1; aa > 2")


def test_rows_that_agree_have_no_regions(make):
    w = opened(make, "regions", model=lambda rows: rows["n"].to_numpy() * 2.0 + rows["flag"].to_numpy(), feature="n")
    here = shown(w, "regions")["here"]
    assert here["splits"] == []
    assert here["reason"]
    assert shown(w, "regions")["all"] == []


def test_regions_ask_the_model_no_more_than_the_curves(make):
    counting = Counting(predict)
    w = make(counting, X)
    assert w.wait(60)
    before = counting.rows
    ask(w, "open", panels=["regions"])
    shown(w, "regions")
    assert counting.rows == before


def test_pictures_are_small(make):
    w = opened(make, "effects", "regions", feature="temp", by="season", effect="ale", y=Y, color_by="when")
    for name in ("_effects", "_regions"):
        assert len(json.dumps(getattr(w, name), default=lambda raw: raw.hex())) < 60_000


def test_nothing_comes_and_goes_with_a_brush_that_does_not_depend_on_it(make):
    w = opened(make, feature="temp", by="season", y=Y)
    seen = []
    w.observe(lambda change: seen.append(change["new"]), "_effects")
    w.select("n < 3")
    assert w.wait(60)
    assert seen
    assert all(picture["hints"] and picture["observed"] for picture in seen)
    assert all(level["values"] for picture in seen for level in picture["groups"]["levels"])
