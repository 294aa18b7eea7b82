# ruff: noqa: F811
"""What the page draws of conditions: intervals and levels that hold for exactly the rows of the condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rules_page import Written
from widget_tools import arrays, frame, make, predict  # noqa: F401

from pdp_widgets import Explainer, RuleFitRegressor
from pdp_widgets.inputs.subgroup import parse
from pdp_widgets.widget.drawn import Drawing
from pdp_widgets.widget.panels.rules_parts import Parts

X = frame()
EX = Explainer(predict, X)


def rows_of(marks: list[dict[str, Any]]) -> np.ndarray:
    """(n,) whether a row's own value lies in an interval, both ends included, or is one of the levels."""
    inside = np.zeros(len(X), dtype=bool)
    for mark in marks:
        grid = EX.grid(mark["feature"])
        if mark["type"] == "levels":
            own = np.where(np.isnan(grid.codes), grid.missing, grid.own)
            inside |= np.isin(own, mark["levels"])
            continue
        low, high = (np.inf if mark[side] is None else mark[side] for side in ("low", "high"))
        inside |= (grid.codes >= (-low if np.isinf(low) else low)) & (grid.codes <= high)
    return inside


@pytest.mark.parametrize(
    "text",
    [
        "temp <= 15.5", "temp > 15.5 | temp.isna()", "10 < temp <= 20", "temp < 5 | temp > 25", "temp.isna()",
        "n > 2", "n < 2.5", "1 < n < 4", "n >= 5", "season == 'WINTER'", "season != 'WINTER'", "season in ['SUMMER', None]",
        "season.notna()", "flag == True", "when >= '2024-02-10'",
    ],
)  # fmt: skip
def test_marks_hold_for_the_rows_of_the_condition(text):
    node = parse(text, EX.table)
    np.testing.assert_array_equal(rows_of(Drawing(EX).marks(node)), EX.mask(text))


def test_what_no_axis_shows_has_no_marks():
    drawing = Drawing(EX)
    assert drawing.marks(parse("~(n == 3)", EX.table)) == []
    assert drawing.marks(parse("temp < 5 | ~(temp < 20)", EX.table)) == []


def test_a_brush_takes_over_what_it_could_have_made_and_the_rest_is_marked():
    drawing = Drawing(EX)
    conditions = parse("n > 2 & (temp <= 9 | temp.isna()) & season == 'WINTER'", EX.table).conditions
    brushed, marked = drawing.together(conditions)
    assert [wire["feature"] for wire in brushed] == ["n", "season"]
    assert brushed[0] == {"type": "range", "feature": "n", "low": 3, "high": None}
    assert marked == [
        {"type": "range", "feature": "temp", "low": None, "high": 9.0},
        {"type": "levels", "feature": "temp", "levels": [EX.grid("temp").missing]},
    ]


def test_every_rule_is_drawn_as_the_rows_that_it_holds_for(make):
    rules = {
        "season in ['SUMMER', 'WINTER'] & temp > 12": 4.0, "(temp > 20 | temp.isna()) & n > 2": 3.0, "(temp <= 3.5 | temp.isna())": 1.0,
        "8 < temp <= 15 & season != 'FALL'": 2.0, "flag == True & n <= 3": -2.0, "when > '2024-02-10 12:00'": 1.5, "season.isna()": 5.0,
    }  # fmt: skip
    rulefit = Written(X, rules)
    widget = make(rulefit, X, panels=["rules"])
    widget._running.board.open(["rules"])
    assert widget.wait(60)
    p = arrays(widget._rules)
    conditions, kinds = p["conditions"], set()
    starts = [0, *p["ends"][:-1]]
    for at, (a, b) in enumerate(zip(starts, p["ends"], strict=True)):
        if p["type"][at] == 1:
            part = p["parts"][a]
            assert conditions["levels"][part] is None
            assert np.isnan([conditions["low"][part], conditions["high"][part]]).all()
            continue
        inside = np.ones(len(X), dtype=bool)
        for part in p["parts"][a:b]:
            feature = p["features"][conditions["feature"][part]]
            low, high = (
                None if np.isnan(conditions[side][part]) else conditions[side][part] for side in ("low", "high")
            )
            marks = (
                []
                if low is None and high is None
                else [{"type": "range", "feature": feature, "low": low, "high": high}]
            )
            if conditions["levels"][part] is not None:
                marks.append({"type": "levels", "feature": feature, "levels": conditions["levels"][part]})
            kinds |= {(mark["type"], EX.grid(feature).kind) for mark in marks}
            inside &= rows_of(marks)
        text = " & ".join(conditions["texts"][part] for part in p["parts"][a:b])
        np.testing.assert_array_equal(inside, EX.mask(text), err_msg=text)
    assert {("range", "number"), ("levels", "number"), ("levels", "category"), ("range", "datetime")} <= kinds


def test_columns_that_an_earlier_step_has_made_are_not_drawn():
    rulefit = RuleFitRegressor(max_rules=30, random_state=0).fit(X, predict(X))
    wire = arrays(Parts.of(rulefit.ruleset_.terms).wire(EX, drawn=False))
    assert set(wire["levels"]) == {None}
    assert np.isnan([wire["low"], wire["high"]]).all()


def test_sparklines_say_where_their_axis_begins_and_ends(make):
    widget = make(predict, X)
    assert widget.wait(60)
    ends = arrays(widget._overview)["ends"]
    for (low, high), name in zip(ends, EX.features, strict=True):
        grid = EX.grid(name)
        if grid.kind == "category":
            assert np.isnan([low, high]).all()
        else:
            assert (low, high) == (np.nanmin(grid.positions[grid.ordered]), np.nanmax(grid.positions[grid.ordered]))
