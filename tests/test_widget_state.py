"""Bookmarks, the state as plain data, and parts of the page in other cells: the widget without a browser."""

from __future__ import annotations

import json

import numpy as np
import pytest
from widget_tools import arrays, ask, frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets import Explainer
from pdp_widgets.inputs import InputError

# ruff: noqa: F811


def test_a_bookmark_keeps_what_is_selected_by_name(make):
    w = make()
    w.select("temp > 20 & season == 'SUMMER'")
    w.bookmark("warm")
    w.clear()
    w.bookmark("few", np.arange(300) < 7)
    X = frame()
    assert w.bookmarks == {"warm": "temp > 20 & season == 'SUMMER'", "few": "@rows1"}
    assert w._bookmarks == {"warm": int(((X.temp > 20) & (X.season == "SUMMER")).sum()), "few": 7}
    assert w.select(w.bookmarks["few"]).n == 7
    # In the shortest form, as it is selected: the page marks the bookmark that is.
    w.bookmarks = {"cold": "temp < 10 & temp < 5"}
    assert w.select(w.bookmarks["cold"]).text == w.bookmarks["cold"] == "temp < 5"
    assert make(bookmarks={"one": "n == 1"}).bookmarks == {"one": "n == 1"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": "tmp > 1"}, "tmp"),
        ({"": "temp > 1"}, "name"),
        ({"a" * 81: "temp > 1"}, "80 characters"),
        ({"a": ""}, "selects nothing"),
        ("temp > 1", "names and conditions"),
        ({str(i): "temp > 1" for i in range(101)}, "100"),
    ],
)
def test_what_is_no_bookmark_is_refused_and_changes_nothing(make, given, message):
    w = make(bookmarks={"kept": "temp > 1"})
    with pytest.raises(InputError, match=message):
        w.bookmarks = given
    assert w.bookmarks == {"kept": "temp > 1"}
    assert w.select(w.bookmarks["kept"]).n == w._bookmarks["kept"]


def test_a_note_goes_with_its_bookmark(make):
    w = make(
        feature="temp", bookmarks={"warm": "temp > 20"}, notes={"warm": " more of them? ", "gone": "no such bookmark"}
    )
    assert w.notes == {"warm": "more of them?"}
    w.bookmark("cold", "temp < 5", note="ask again")
    assert w.notes == {"warm": "more of them?", "cold": "ask again"}
    other = make(feature="n")
    other.view_state = json.loads(json.dumps(w.view_state))
    assert (other.bookmarks, other.notes) == (w.bookmarks, w.notes)
    assert "notes={'warm': 'more of them?', 'cold': 'ask again'}" in w.to_python()
    w.set_state({"notes": {"warm": "from the page", "cold": ""}})
    assert w.notes == {"warm": "from the page"}
    w.bookmarks = {}
    assert w.notes == {}
    for wrong in ("text", {"warm": 3}, {"warm": "x" * 3000}):
        with pytest.raises(InputError, match="notes"):
            w.notes = wrong


def test_rows_of_a_bookmark_outlive_many_selections(make):
    w = make()
    w.bookmark("first", np.arange(300) < 5)
    for i in range(210):
        w.select(np.arange(300) == i)
    assert w.select(w.bookmarks["first"]).n == 5


def test_the_page_sets_bookmarks_and_combines_with_them(make):
    w = make()
    w.select("temp > 10")
    w.set_state({"bookmarks": {"warm": "temp > 20", "few": "n == 1"}})
    X = frame()
    assert w._bookmarks == {"warm": int((X.temp > 20).sum()), "few": int((X.n == 1).sum())}
    ask(w, "query", text="(temp > 10) & (n == 1)")
    assert w.selection.n == ((X.temp > 10) & (X.n == 1)).sum()
    ask(w, "query", text="temp > 20", op="remove")
    assert w.selection.n == ((X.temp > 10) & (X.n == 1) & ~(X.temp > 20)).sum()
    ask(w, "query", text="n == 3", op="add")
    assert w.selection.n == (((X.temp > 10) & (X.n == 1) & ~(X.temp > 20)) | (X.n == 3)).sum()


def test_the_state_of_one_widget_arranges_another_one_exactly(make):
    explainer = Explainer(two_outputs, frame())
    w = make(
        explainer,
        pair=("n", "season"),
        feature="when",
        output="1" if "1" in explainer.outputs else explainer.outputs[1],
    )
    w.by, w.color_by, w.effect, w.sort_by, w.centered = "temp < 3", "season", "ale", "total", True
    w.panels, w.size, w.theme, w.row = ("effects", "heatmap"), "large", "dark", 17
    w.bookmarks = {"some": np.arange(300) % 3 == 0, "warm": "temp > 20"}
    w.wait(60)
    box = {"type": "ice", "feature": "temp", "output": w.output, "x": [0, 10], "y": [-60, 0], "centered": False}
    assert ask(w, "select", op="replace", condition=box, gesture="g")["status"] == "ok"
    w.select("n > 1", op="remove")
    assert 0 < w.selection.n < 300
    state = json.loads(json.dumps(w.view_state))

    other = make(two_outputs)
    other.select(np.arange(300) < 9)  # takes the name that the state's rows have
    other.view_state = state
    other.wait(60)
    for name in (
        "feature",
        "output",
        "pair",
        "by",
        "color_by",
        "effect",
        "sort_by",
        "centered",
        "row",
        "panels",
        "size",
        "theme",
    ):
        assert getattr(other, name) == getattr(w, name), name
    assert (other.selection.mask == w.selection.mask).all()
    assert list(other.bookmarks) == ["some", "warm"]
    assert (other.select(other.bookmarks["some"]).mask == (np.arange(300) % 3 == 0)).all()
    # Again, and back: nothing gets lost on the way.
    other.undo()
    w.clear()
    w.view_state = other.view_state
    assert (w.selection.mask == other.selection.mask).all()


def test_a_state_that_does_not_fit_changes_nothing(make):
    w = make(bookmarks={"warm": "temp > 20"})
    w.select("n == 1")
    before = w.view_state
    rows = {"rows1": {"about": "", "n_rows": 5, "bits": "AA==", "box": None}}
    for bad, message in [
        ({"sort": "name"}, "did you mean|known"),
        ({"sort_by": "name", "feature": "nothing"}, "nothing"),
        ({"sort_by": "name", "bookmarks": {"": "temp > 1"}}, "name"),
        ({"sort_by": "name", "selection": "tmp > 1"}, "tmp"),
        ({"sort_by": "name", "selection": "@rows1", "rows": rows}, "5 rows"),
        ({"rows": {"rows1": {"bits": "?"}}}, "cannot be read"),
        ({"selection": 7}, "a text"),
        ("state", "dict"),
    ]:
        with pytest.raises(InputError, match=message):
            w.view_state = bad
        assert w.view_state == before
    w.view_state = {"sort_by": "name"}
    assert w.view_state == {**before, "sort_by": "name"}


def test_a_part_of_the_page_keeps_its_panel_computed(make):
    w = make(panels=())
    assert ask(w, "open", panels=[])["status"] == "ok"
    part = w.view("importance")
    try:
        assert (part.of, part.parts) == (f"IPY_MODEL_{w.model_id}", ["importance"])
        ask(w, "open", panels=[])  # what the page itself shows
        assert w.wait(60)
        assert arrays(w._importance)["status"]["state"] == "done"
    finally:
        part.close()
    for wrong, message in [((), "of what"), (("heat",), "heatmap")]:
        with pytest.raises(InputError, match=message):
            w.view(*wrong)


def test_the_selection_s_importance_is_that_of_its_own_curve(make):
    w = make()
    w.wait(60)
    w.select("season == 'SUMMER'")
    w.wait(60)
    X = frame()
    explainer = Explainer(predict, X[(X.season == "SUMMER").to_numpy()].copy())
    for row in w._overview["features"]:
        if row["name"] in ("temp", "flag", "n"):
            grid = w.explainer.grid(row["name"])
            average = explainer.partial_dependence(row["name"], grid=list(grid.values)).average[0]
            known = average[: grid.missing] if grid.missing >= 0 else average
            expected = np.ptp(known) / 4 if grid.kind == "category" else known.std(ddof=1)
            assert row["importance_selected"] == pytest.approx(expected, rel=1e-9), row["name"]
    w.clear()
    assert {row["importance_selected"] for row in w._overview["features"]} == {None}
