"""The selection: operations, history, what the page draws, and texts that select the same rows again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from widget_tools import frame, predict

from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.subgroup import Levels, Missing, Range, Rows
from pdp_widgets.rulefit.terms import Rule
from pdp_widgets.widget.selection import History, IceBox, Selection, from_wire, to_wire

X = frame()
EX = Explainer(predict, X)


@pytest.fixture
def history():
    return History(EX)


def wire(history):
    return to_wire(history.current, history, np.arange(5))


def rows(selection):
    return np.flatnonzero(selection.mask).tolist()


def test_nothing_selected_means_all_rows(history):
    none = history.current
    assert not none
    assert (none.text, none.conditions, none.n) == ("", [], 300)
    assert wire(history)["text"] == ""
    assert history.invert() is none
    assert history.undo() is none
    assert "none, 300 rows" in repr(none)


def test_a_rule_and_a_region_are_selected_by_what_they_say(history):
    rule = Rule.of("temp > 10 & season == 'SUMMER'", X)
    node = history.read(rule)
    assert node.text == rule.text
    np.testing.assert_array_equal(node.mask(EX.table), rule.mask(X))
    for region in EX.regions("temp").regions:
        node = history.read(region)
        assert "@" not in node.text
        np.testing.assert_array_equal(node.mask(EX.table), EX.mask(region))

    class Odd:  # says something else than it holds
        text, mask = "temp > 10", np.arange(300) < 7

    assert history.read(Odd()).text == "@rows1"


def test_replace_replaces_what_is_said_of_the_same_feature_only(history):
    history.combine("replace", Range("temp", 10, 20))
    history.combine("replace", Levels("season", ("SUMMER",)))
    assert history.current.text == "10 <= temp <= 20 & season == 'SUMMER'"
    history.combine("replace", Range("temp", 5, 6))
    assert history.current.text == "season == 'SUMMER' & 5 <= temp <= 6"
    box = history.box(IceBox("temp", "prediction", (0, 1), (0, 1), centered=False), X["flag"].to_numpy())
    history.combine("replace", box)  # curves of a feature are something else than its values
    assert history.current.text == "season == 'SUMMER' & 5 <= temp <= 6 & @curves1"
    history.combine(
        "replace", history.box(IceBox("temp", "prediction", (2, 3), (0, 1), centered=True), X["flag"].to_numpy())
    )
    assert len(history.current.conditions) == 3
    assert history.current.named_rows == {"@curves2": "centred curves through temp 2 to 3, prediction 0 to 1"}
    assert wire(history)["names"] == history.current.named_rows
    assert repr(history.current).endswith(" rows; @curves2: centred curves through temp 2 to 3, prediction 0 to 1>")
    assert wire(history)["conditions"][-1] == {
        "type": "ice",
        "feature": "temp",
        "output": "prediction",
        "x": [2, 3],
        "y": [0, 1],
        "centered": True,
        "name": "@curves2",
        "about": "centred curves through temp 2 to 3, prediction 0 to 1",
    }


def test_a_union_on_one_feature_is_replaced_as_a_whole(history):
    history.combine("replace", Range("temp", 0, 1))
    history.combine("add", Range("temp", 20, 21))
    history.combine("replace", Range("temp", 5, 6))
    assert history.current.text == "5 <= temp <= 6"


def test_add_remove_invert(history):
    a, b = Range("temp", 10, 20), Levels("season", ("SUMMER",))
    in_a, in_b = a.mask(EX.table), b.mask(EX.table)
    assert (history.combine("add", a).mask == in_a).all()
    assert (history.combine("add", b).mask == (in_a | in_b)).all()
    assert (history.combine("remove", a).mask == (in_b & ~in_a)).all()
    assert (history.invert().mask == ~(in_b & ~in_a)).all()
    history.set(None)
    assert (history.combine("remove", a).mask == ~in_a).all()


def test_one_gesture_is_one_step_back(history):
    history.combine("replace", Range("temp", 0, 5), "drag 1")
    history.combine("replace", Range("temp", 0, 9), "drag 1")
    history.combine("replace", Range("temp", 0, 2), "drag 2")
    assert history.undo().conditions == [Range("temp", 0, 9)]
    history.combine("replace", Range("temp", 1, 3), "drag 2")
    assert history.undo().conditions == [Range("temp", 0, 9)], "after a step back a gesture begins anew"
    assert not history.undo()
    assert not history.can_undo


def test_undo_and_redo_walk_back_and_forth(history):
    ids = [history.current.id]
    ids += [history.combine("replace", Range("n", k, k)).id for k in range(3)]
    assert [history.undo().text for _ in range(4)] == ["n == 1", "n == 0", "", ""]
    assert [history.redo().text for _ in range(4)] == ["n == 0", "n == 1", "n == 2", "n == 2"]
    history.undo()
    history.combine("replace", Range("n", 5, 5))
    assert not history.can_redo
    assert history.current.id > max(ids)


def test_a_condition_that_does_not_fit_changes_nothing(history):
    history.set(Range("temp", 1, 2))
    before = history.current
    with pytest.raises(InputError, match="did you mean 'temp'"):
        history.set(Range("tmp", 1, 2))
    with pytest.raises(InputError):
        history.read("temp >")
    assert history.current is before
    history.undo()
    assert not history.can_undo


@pytest.mark.parametrize(
    "given_as",
    [
        lambda mask: mask,
        lambda mask: pd.Series(mask),
        lambda mask: mask.tolist(),
        lambda mask: Selection(mask, Rows(mask)),
        lambda mask: Rows(mask, "mine"),
    ],
)
def test_masks_in_any_form(history, given_as):
    mask = X["flag"].to_numpy() & (np.arange(300) % 2 == 0)
    selection = history.set(history.read(given_as(mask)))
    assert (selection.mask == mask).all()
    again = history.set(history.read(selection.text))
    assert (again.mask == mask).all()
    mask[:] = False  # the caller's array is not ours
    assert history.current.n > 0


def test_what_is_said_about_a_feature_is_told_and_drawn_as_one(history):
    level = dict(zip(EX.grid("season").labels, range(4), strict=True))
    history.combine("replace", Levels("season", ("WINTER",)))
    history.combine("add", Levels("season", ("SUMMER",)))
    assert history.current.text == "season in ['SUMMER', 'WINTER']"
    history.combine("remove", Levels("season", ("SUMMER",)))
    assert history.current.text == "season == 'WINTER'"
    drawn = [{"type": "levels", "feature": "season", "levels": [level["WINTER"]]}]
    assert wire(history)["conditions"] == drawn
    history.combine("replace", Range("n", 1, 3))
    history.combine("remove", Range("n", 3, 5))
    assert history.current.text == "season == 'WINTER' & 1 <= n <= 2"
    assert wire(history)["conditions"] == [*drawn, {"type": "range", "feature": "n", "low": 1, "high": 2}]
    history.combine("replace", Range("n", 0, 5))
    history.combine("remove", Range("n", 2, 3))
    assert wire(history)["conditions"] == drawn, "a gap cannot be drawn as a range"
    history.undo()
    history.undo()
    assert history.current.text == "season == 'WINTER' & 1 <= n <= 2"
    history.set(history.read("temp > 20 & temp < 10"))
    assert wire(history)["conditions"] == [], "no row is no range"
    history.set(history.read("~(n >= 3)"))
    assert history.current.text == "n <= 2"
    history.invert()
    assert history.current.text == "n >= 3"


def test_a_level_that_nobody_has_leaves_a_text_that_can_be_read(history):
    history.set(Levels("season", ("never",)))
    assert history.current.n == 0
    assert history.set(history.read(history.current.text)).n == 0


def test_bounds_of_a_brush_are_rounded_finer_than_a_pixel():
    grid = EX.grid("temp")
    node = from_wire({"type": "range", "feature": "temp", "low": 12.345678901234, "high": None}, grid)
    assert node.text == "temp >= 12.35"
    assert from_wire({"type": "range", "feature": "n", "low": 0.5, "high": 3.9}, EX.grid("n")).text == "1 <= n <= 3"
    day = 86_400_000
    when = from_wire({"type": "range", "feature": "when", "low": 19723.6 * day, "high": 19800.2 * day}, EX.grid("when"))
    assert when.text == "'2024-01-01 14:00:00' <= when <= '2024-03-18 05:00:00'"


def test_rounding_does_not_spoil_tiny_or_shifted_scales():
    for scale, shift in [(1e-12, 0), (1, 1e9)]:
        table = pd.DataFrame({"x": np.linspace(0, 1, 50) * scale + shift})
        grid = Explainer(lambda X: X["x"].to_numpy(), table).grid("x")
        node = from_wire(
            {"type": "range", "feature": "x", "low": shift + 0.25 * scale, "high": shift + 0.75 * scale}, grid
        )
        assert abs(node.low - shift - 0.25 * scale) < scale / 500
        assert abs(node.high - shift - 0.75 * scale) < scale / 500


def test_levels_from_the_page_and_back(history):
    grid = EX.grid("season")
    assert grid.labels == ["FALL", "SUMMER", "WINTER", "missing"]
    node = from_wire({"type": "levels", "feature": "season", "levels": [1, 3]}, grid)
    assert node.text == "season in ['SUMMER', None]"
    history.set(node)
    assert wire(history)["conditions"] == [{"type": "levels", "feature": "season", "levels": [1, 3]}]
    history.set(~node)
    assert wire(history)["conditions"] == [{"type": "levels", "feature": "season", "levels": [0, 2]}]
    only_missing = from_wire(
        {"type": "levels", "feature": "temp", "levels": [EX.grid("temp").missing]}, EX.grid("temp")
    )
    assert only_missing == Missing("temp")
    history.set(only_missing)
    assert wire(history)["conditions"] == [{"type": "levels", "feature": "temp", "levels": [EX.grid("temp").missing]}]


def test_what_the_page_gets(history):
    history.set(history.read("3 < temp <= 20 & flag & n in [1, 2] | season.isna()"))
    assert wire(history)["conditions"] == []  # a union cannot be drawn
    history.set(history.read("temp <= 20 & flag"))
    got = wire(history)
    assert got["conditions"] == [
        {"type": "range", "feature": "temp", "low": None, "high": 20.0},
        {"type": "levels", "feature": "flag", "levels": [1]},
    ]
    assert (got["total"], got["can_undo"], got["can_redo"]) == (300, True, False)
    assert got["n"] == history.current.n
    assert got["sample"]["shape"] == [5]


def test_the_same_rows_keep_their_name(history):
    box, other = (IceBox("temp", "prediction", (0, end), (0, 1), centered=False) for end in (1, 2))
    mask = X["flag"].to_numpy()
    first = history.box(box, mask.copy())
    assert history.box(box, mask.copy()) is first
    assert history.box(other, mask.copy()).text == "@curves2"
    assert history.box(box, ~mask).text == "@curves3", "other rows are something else"
    assert history.read(mask).text == history.read(mask.tolist()).text == "@rows1"
    assert history.read(~mask).text == "@rows2"
    kept = history.set(first & Range("n", 1))
    history.set(None)
    assert history.set(history.read(kept)).text == kept.text == "@curves1 & n >= 1"
    with pytest.raises(InputError) as caught:
        history.read("@curves & temp > 3")
    assert str(caught.value) == (
        "there is no set of rows called @curves; known: @rows2 (rows given in Python), @rows1 (rows given in Python), "
        "@curves3 (curves through temp 0 to 1, prediction 0 to 1), @curves2 (curves through temp 0 to 2, prediction 0 to 1), "
        "@curves1 (curves through temp 0 to 1, prediction 0 to 1)"
    )


def test_a_rectangle_that_is_drawn_keeps_one_name(history):
    masks = [np.arange(300) < n for n in (10, 20, 30)]
    boxes = [IceBox("temp", "prediction", (0, n), (0, 1), centered=False) for n in (1, 2, 3)]
    history.combine("replace", history.box(boxes[0], masks[0], gesture="a"), "a")
    for box, mask in zip(boxes[1:], masks[1:], strict=True):
        assert history.combine("replace", history.box(box, mask, gesture="b"), "b").text == "@curves2"
        assert (history.set(history.read("@curves2"), "b").mask == mask).all()
    assert history.undo().text == "@curves1"
    assert (history.current.mask == masks[0]).all()
    assert (history.redo().mask == masks[2]).all()
    history.combine("add", history.box(boxes[1], masks[1], gesture=None), "c")
    assert history.current.text == "@curves2 | @curves3"


def test_endless_brushing_stays_readable(history):
    rng = np.random.default_rng(0)
    for k in range(200):
        history.combine("add" if k % 2 else "remove", Range("temp", *sorted(rng.normal(15, 8, 2))))
        assert len(history.current.text) < 10_000
        assert (history.set(history.read(history.current.text)).mask == history.current.mask).all()


def test_a_rectangle_is_answered_again_when_all_curves_are_there(history):
    box = IceBox("temp", "prediction", (0, 1), (0, 1), centered=False)
    rows = history.box(box, np.zeros(300, bool))
    history.set(rows & Range("n", 0, 2))
    early = history.current
    assert early.n == 0
    assert history.refresh(lambda box: None) is None
    late = history.refresh(lambda box: X["flag"].to_numpy())
    assert (late.mask == (X["flag"] & (X["n"] <= 2))).all()
    assert late.id > early.id
    assert late.text == early.text
    assert history.refresh(lambda box: X["flag"].to_numpy()) is None


conditions = st.one_of(
    st.builds(lambda low, width: Range("temp", low, low + width), st.floats(-5, 30), st.floats(0, 20)),
    st.builds(lambda v: Range("n", v, None), st.integers(0, 5).map(float)),
    st.builds(
        lambda levels: Levels("season", tuple(levels)),
        st.lists(st.sampled_from(["SUMMER", "WINTER", None]), max_size=2),
    ),
    st.just(Missing("temp")),
)
steps = st.lists(
    st.tuples(st.sampled_from(["replace", "add", "remove"]), conditions)
    | st.sampled_from([("invert",), ("undo",), ("redo",), ("clear",)]),
    max_size=15,
)


@settings(max_examples=150, deadline=None)
@given(steps)
def test_any_text_on_the_way_selects_the_same_rows(todo):
    history = History(EX)
    for step in todo:
        if len(step) == 2:
            history.combine(*step)
        elif step[0] == "clear":
            history.set(None)
        else:
            getattr(history, step[0])()
        selection = history.current
        again = History(EX)
        assert rows(again.set(again.read(selection.text))) == rows(selection)


def test_a_column_that_is_no_feature_selects_rows_and_is_not_drawn():
    hot = pd.DataFrame({"x": np.arange(6.0), "s_a": [1, 0, 0] * 2, "s_b": [0, 1, 0] * 2})
    history = History(Explainer(lambda X: X["x"] * X["s_a"], hot, features={"s": ["s_a", "s_b"]}))
    history.set(history.read("s_a == 1 & x > 0"))
    assert rows(history.current) == [3]
    drawn = to_wire(history.current, history, np.arange(5))
    assert [one["feature"] for one in drawn["conditions"]] == ["x"]
    assert drawn["text"] == "s_a == 1 & x > 0"
