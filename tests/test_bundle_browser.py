"""The built bundle in Chromium on a stub of a notebook host: what is drawn, what the mouse and the keys send, and what is left behind.

The stub (js/tests/stub.mjs) holds made-up data and remembers the page's messages; no kernel is involved. Pixels are
turned into data with the plain numbers that the plots carry as data attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from stub_page import BUNDLE, CURVES, HIST, Stub

from pdp_widgets.inputs import subgroup
from pdp_widgets.inputs.table import FeatureTable

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture
def stub(browser: Browser) -> Iterator[Stub]:
    """A stub host of 1200 x 900; the test fails if the page logged an error."""
    yield from _stub(browser, viewport={"width": 1200, "height": 900})


@pytest.fixture
def stub_of(browser: Browser) -> Iterator[Callable[..., Stub]]:
    """Stub hosts with their own context options."""
    open_now: list[Iterator[Stub]] = []

    def make(**options: Any) -> Stub:
        pages = _stub(browser, **options)
        open_now.append(pages)
        return next(pages)

    yield make
    for pages in open_now:
        next(pages, None)


def _stub(browser: Browser, **options: Any) -> Iterator[Stub]:
    if not BUNDLE.is_file():
        pytest.fail("the bundle is not built: cd js && npm ci && npm run build", pytrace=False)
    context = browser.new_context(**options)
    stub = Stub(context.new_page())
    yield stub
    errors = stub.errors
    context.close()
    assert errors == []


# ---- drawing ---------------------------------------------------------------------------------------------------------


def test_first_picture_is_complete(stub: Stub) -> None:
    stub.open(record={"classes": 3})
    assert stub.call("painted", "curves") > 5000
    assert stub.call("painted", "histogram") > 2000
    assert stub.text("rows") == "rows 1,000 of 1,000 · exact"
    assert stub.text("title") == "temp"
    assert stub.text("ylabel") == "probability of class 1"
    names = stub.page.locator("[data-testid=feature]").evaluate_all("nodes => nodes.map(n => n.dataset.name)")
    assert names[:3] == ["temp", "season", "hour"]  # sorted by importance, as everything is known
    assert stub.page.locator("[data-testid=feature][aria-selected=true]").get_attribute("data-name") == "temp"
    assert stub.requests("hello")
    assert "temp" in stub.wait_requests("visible", 1)[0]["params"]["features"]


@pytest.mark.parametrize(
    "first", ["humidity", "season", "hour", "day", "workday", "city", "weather", "offset", "tiny", "constant"]
)
def test_every_kind_of_feature_draws(stub: Stub, first: str) -> None:
    stub.open(record={"rows": 300, "sample": 100, "first": first, "only": [first]})
    assert stub.call("painted", "curves") > 500
    stub.page.get_by_test_id("centered").click()
    stub.page.get_by_test_id("ice").click()
    plot = stub.plot(CURVES)
    stub.page.mouse.move(plot.left + (plot.x0 + plot.x1) / 2, plot.middle)
    stub.page.get_by_test_id("readout").wait_for()
    assert first in stub.text("readout")


def test_empty_traits_wait(stub: Stub) -> None:
    stub.open(empty=True, wait=False)
    stub.page.get_by_text("waiting for the first rows").first.wait_for()
    for name in ("_info", "_sample", "_overview", "_curve", "_ice", "_split", "_selection", "_progress"):
        stub.call("set", name, {})
        stub.call("set", name, None)
    stub.page.wait_for_timeout(100)


def test_no_usable_numbers(stub: Stub) -> None:
    stub.open(record={"rows": 100, "sample": 50, "only": ["temp"]})
    stub.page.evaluate(
        """() => {
            const curve = {...stub.widgets[0].made.traits._curve};
            const k = curve.average.shape[0];
            curve.average = Array(k).fill(null);
            stub.set("_curve", curve);
            stub.set("_ice", {});
        }"""
    )
    stub.page.get_by_text("the model returned no usable numbers").wait_for()


ODD_CURVES: dict[str, dict[str, Any]] = {
    "one point": {"x": [3.0], "average": [1.0], "labels": ["3"], "hist": {"edges": [2.5, 3.5], "counts": [9]}},
    "one point and missing": {"x": [3.0, None], "average": [1.0, 2.0], "labels": ["3", "missing"], "missing": 1,
                              "hist": {"edges": [2.5, 3.5], "counts": [9, 4]}},
    "only missing": {"x": [None], "average": [2.0], "labels": ["missing"], "missing": 0, "hist": {"edges": None, "counts": [4]}},
    "no histogram": {"x": [0, 1, 2], "average": [1, None, 2], "labels": ["0", "1", "2"], "hist": None},
    "one level": {"kind": "category", "x": [0], "average": [5.0], "labels": ["a"], "hist": {"edges": None, "counts": [9]}},
    "missing level": {"kind": "category", "x": [0, 1], "average": [5.0, 6.0], "labels": ["a", "missing"], "missing": 1,
                      "hist": {"edges": None, "counts": [9, 1]}},
    "huge": {"x": [-1e300, 1e300], "average": [-1e200, 1e200], "labels": ["a", "b"], "hist": {"edges": [-1e300, 1e300], "counts": [3]}},
    "denormal": {"x": [0, 1e-310], "average": [0, 1e-310], "labels": ["a", "b"], "hist": {"edges": [0, 1e-310], "counts": [3]}},
    "constant average": {"x": [0, 1], "average": [1e9, 1e9], "labels": ["0", "1"], "hist": {"edges": [0, 1], "counts": [0]}},
    "durations": {"kind": "timedelta", "x": [0, 9e7], "average": [0, 1], "labels": ["0", "1 d"], "hist": {"edges": [0, 9e7], "counts": [3]}},
    "dates before 1970": {"kind": "datetime", "x": [-2e12, -1e12], "average": [0, 1], "labels": ["a", "b"],
                          "hist": {"edges": [-2e12, -1e12], "counts": [3]}},
    "nothing": {"x": [], "average": [], "labels": [], "hist": None, "error": "feature 'x' could not be computed"},
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_CURVES)
def test_odd_curves_do_not_break_the_page(stub: Stub, name: str) -> None:
    stub.open(record={"rows": 60, "sample": 20, "only": ["temp"]})
    curve = {
        "kind": "number",
        "missing": -1,
        "thin": None,
        "stderr": None,
        "deciles": None,
        "missing_count": 3,
        "infinite_count": 2,
    }
    curve |= {
        "feature": "temp",
        "output": "count",
        "integer": False,
        "rows": 60,
        "total": 60,
        "note": "odd",
        "error": None,
    }
    curve |= {"importance": None, "heterogeneity": None} | ODD_CURVES[name]
    k = len(curve["x"])
    stub.page.evaluate(
        """([curve, k]) => {
            const lines = {dtype: "float32", shape: [20, k], view: new Float32Array(20 * k).map((_, i) => i % 7).buffer};
            stub.widgets[0].model.set("_curve", curve);
            stub.widgets[0].model.set("_ice", {feature: "temp", output: "count", offset: 0, values: lines,
                own: Array.from({length: 20}, (_, i) => curve.x[i % Math.max(1, k)] ?? null), fitted: Array(20).fill(0)});
        }""",
        [curve, k],
    )
    stub.page.wait_for_timeout(60)
    stub.call("answer", {"id": 1, "text": "x", "n": 30, "split": False})
    stub.page.get_by_test_id("centered").click()
    stub.page.wait_for_timeout(60)
    assert stub.page.locator("[data-testid=page-error], [data-testid=broken]").count() == 0
    if k == 0:
        assert "could not be computed" in stub.text("curve-error")
        assert stub.call("painted", "curves") == 0
        return
    assert stub.call("painted", "curves") > 100
    plot = stub.plot(CURVES)
    stub.page.mouse.move(plot.left + (plot.x0 + plot.x1) / 2, plot.middle)
    stub.page.get_by_test_id("readout").wait_for()
    hist = stub.plot(HIST)
    stub.drag((plot.left + hist.x0 + 9, hist.middle), (plot.left + hist.x1 - 9, hist.middle))
    stub.page.locator(HIST).press("ArrowRight")
    stub.page.wait_for_timeout(60)
    assert stub.page.locator("[data-testid=page-error], [data-testid=broken]").count() == 0
    for condition in (message["condition"] for message in stub.selects() if message["condition"]["type"] == "range"):
        ends = [condition[side] for side in ("low", "high") if condition[side] is not None]
        assert ends == sorted(ends)


def test_converging_curves_show_band_and_progress(stub: Stub) -> None:
    stub.open(record={"done": 0.2, "rows": 500, "sample": 100, "only": ["temp", "hour"]})
    assert stub.text("rows").startswith("rows 100 of 500 · ± ")
    stub.page.get_by_test_id("stop").click()
    assert stub.wait_requests("stop", 1)[0]["params"] == {}
    stub.call("set", "_progress", {"state": "stopped", "done": 1, "total": 5, "label": "", "message": None})
    stub.page.get_by_test_id("resume").click()
    stub.wait_requests("resume", 1)
    stub.call(
        "set", "_progress", {"state": "failed", "done": 1, "total": 5, "label": "", "message": "ValueError: no <b>"}
    )
    assert "ValueError: no <b>" in stub.text("failed")


def test_data_is_text_never_html(stub: Stub) -> None:
    stub.open(record={"rows": 100, "sample": 30, "first": "temp"})
    named = stub.page.locator("[data-testid=feature]").filter(has_text="<b>in the data base</b>")
    assert named.count() == 1
    assert stub.page.locator(".pdpw b").count() == 0


def test_hover_reads_out(stub: Stub) -> None:
    stub.open(record={"classes": 2})
    stub.call("answer", {"id": 1, "text": "temp > 20", "n": 321, "shift": 0.1})
    plot = stub.plot(CURVES)
    stub.page.mouse.move(plot.px(15), plot.py(0.5))
    readout = stub.page.get_by_test_id("readout")
    readout.wait_for()
    assert "n 321" in stub.text("readout")
    assert "n 679" in stub.text("readout")
    stub.page.mouse.move(plot.px(15), 5)
    readout.wait_for(state="detached")


# ---- brushing --------------------------------------------------------------------------------------------------------


def test_drag_on_histogram_sends_the_range(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    start, end = round(plot.px(5)), round(plot.px(20))
    stub.drag((start, plot.middle), (end, plot.middle), release=False)
    assert stub.page.locator(CURVES).get_attribute("data-shown") == "draft"  # the sample answers at once
    stub.wait_requests("select", 1)  # the pointer rests
    expected = {"type": "range", "feature": "temp", "low": plot.readable(start), "high": plot.readable(end)}
    assert stub.conditions() == [("replace", expected)]
    stub.page.mouse.up()
    stub.page.wait_for_timeout(250)
    assert len(stub.selects()) == 1  # the release has nothing new to say
    assert abs(expected["low"] - 5) < 2 * plot.unit
    assert float(stub.page.get_by_test_id("from").input_value()) == expected["low"]


def test_kernel_answer_replaces_the_preview(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    sent = stub.wait_requests("select", 1)[-1]
    stub.call("answer", {"id": 1, "text": "5 <= temp <= 20", "n": 417, "conditions": [sent["params"]["condition"]]})
    stub.call("reply", sent["id"])
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.shown === 'exact'")
    assert stub.page.get_by_test_id("selection-text").input_value() == "5 <= temp <= 20"
    assert stub.text("selection-n") == "n 417 (42 %)"


def test_brush_edges_and_body_can_be_dragged(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    condition = {"type": "range", "feature": "temp", "low": 5.0, "high": 15.0}
    stub.call("answer", {"id": 1, "text": "5 <= temp <= 15", "n": 400, "conditions": [condition]})
    stub.drag((plot.px(15), plot.middle), (plot.px(20), plot.middle))
    moved = stub.wait_requests("select", 1)[-1]["params"]["condition"]
    assert moved["low"] == 5.0
    assert moved["high"] == pytest.approx(20, abs=2 * plot.unit)
    stub.call("answer", {"id": 2, "text": "5 <= temp <= 15", "n": 400, "conditions": [condition]})
    count = len(stub.selects())
    stub.drag((plot.px(10), plot.middle), (plot.px(13), plot.middle))
    moved = stub.wait_requests("select", count + 1)[-1]["params"]["condition"]
    assert (moved["low"], moved["high"]) == (pytest.approx(8, abs=2 * plot.unit), pytest.approx(18, abs=2 * plot.unit))


def test_dragging_past_the_end_leaves_it_open(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    stub.drag((plot.px(20), plot.middle), (plot.left + plot.x1 + 60, plot.middle))
    condition = stub.wait_requests("select", 1)[-1]["params"]["condition"]
    assert condition["high"] is None
    assert condition["low"] == pytest.approx(20, abs=2 * plot.unit)


@pytest.mark.parametrize(("key", "op"), [("Shift", "add"), ("Alt", "remove")])
def test_modifier_keys_add_and_remove(stub: Stub, key: str, op: str) -> None:
    stub.open()
    stub.call("answer", {"id": 1, "text": "hour > 3", "n": 400})
    plot = stub.plot(HIST)
    stub.page.keyboard.down(key)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    stub.page.keyboard.up(key)
    assert stub.wait_requests("select", 1)[-1]["params"]["op"] == op
    assert len(stub.selects()) == 1


def test_mode_buttons_do_the_same(stub: Stub) -> None:
    stub.open()
    stub.page.get_by_test_id("mode-remove").focus()
    stub.page.keyboard.press("Enter")
    assert stub.page.get_by_test_id("mode-remove").get_attribute("aria-pressed") == "true"
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    assert stub.wait_requests("select", 1)[-1]["params"]["op"] == "remove"


def test_click_on_a_bar_selects_it_alone(stub: Stub) -> None:
    stub.open(record={"first": "season"})
    plot = stub.plot(HIST)
    first, second = ({"type": "levels", "feature": "season", "levels": [k]} for k in (1, 3))
    stub.page.mouse.click(plot.left + plot.centers[1], plot.middle)
    stub.wait_requests("select", 1)
    assert stub.conditions() == [("replace", first)]
    stub.call("answer", {"id": 1, "text": "season == 'summer'", "n": 250, "conditions": [first]})
    stub.page.mouse.click(plot.left + plot.centers[3], plot.top + plot.y1 + 14)  # its label
    stub.wait_requests("select", 2)
    assert stub.conditions()[-1] == ("replace", second)
    stub.call("answer", {"id": 2, "text": "temp > 3 & season == 'winter'", "n": 250, "conditions": [second]})
    stub.page.mouse.click(plot.left + plot.centers[3], plot.middle)  # again: its condition goes, the other stays
    assert stub.wait_requests("query", 1)[-1]["params"] == {"text": "temp > 3"}
    stub.call("answer", {"id": 3, "text": "season == 'winter'", "n": 250, "conditions": [second]})
    stub.page.mouse.click(plot.left + plot.centers[3], plot.middle)
    stub.wait_requests("clear", 1)


def test_shift_adds_a_bar_alt_removes_it_dragging_takes_several(stub: Stub) -> None:
    stub.open(record={"first": "season"})
    plot = stub.plot(HIST)
    first = {"type": "levels", "feature": "season", "levels": [1]}
    stub.call("answer", {"id": 1, "text": "season == 'summer'", "n": 250, "conditions": [first]})
    for key, op, level in (("Shift", "add", 3), ("Alt", "remove", 1)):
        stub.page.keyboard.down(key)
        stub.page.mouse.click(plot.left + plot.centers[level], plot.middle)
        stub.page.keyboard.up(key)
        assert stub.conditions()[-1] == (op, {"type": "levels", "feature": "season", "levels": [level]})
    count = len(stub.selects())
    stub.drag((plot.left + plot.centers[3], plot.middle), (plot.left + plot.centers[1] - 5, plot.middle))
    stub.wait_requests("select", count + 1)
    assert stub.conditions()[-1] == ("replace", {"type": "levels", "feature": "season", "levels": [1, 2, 3]})
    stub.page.mouse.move(0, 0)
    hint = stub.text("hint")
    assert "Shift adds" in hint
    assert "Alt removes" in hint


def test_click_on_missing_lane_selects_missing_rows(stub: Stub) -> None:
    stub.open(record={"first": "humidity"})
    plot = stub.plot(HIST)
    stub.page.mouse.click(plot.left + float(plot.data["missingAt"]), plot.middle)
    condition = stub.wait_requests("select", 1)[-1]["params"]["condition"]
    missing = stub.page.evaluate("stub.widgets[0].made.traits._curve.missing")
    assert condition == {"type": "levels", "feature": "humidity", "levels": [missing]}
    stub.call("answer", {"id": 1, "text": "humidity.isna()", "n": 80, "conditions": [condition]})
    stub.page.mouse.click(plot.left + float(plot.data["missingAt"]), plot.middle)
    stub.wait_requests("clear", 1)


def test_click_on_a_numeric_bar_and_again(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    stub.page.mouse.click(plot.px(10), plot.middle)
    condition = stub.wait_requests("select", 1)[-1]["params"]["condition"]
    assert condition["low"] < 10 < condition["high"]
    stub.call("answer", {"id": 1, "text": "9 <= temp <= 11", "n": 80, "conditions": [condition]})
    stub.page.mouse.click(plot.px(16), plot.middle)  # another bar, alone
    other = stub.wait_requests("select", 2)[-1]["params"]["condition"]
    assert other["low"] < 16 < other["high"]
    stub.page.mouse.click(plot.px(10), plot.middle)
    stub.wait_requests("clear", 1)


def test_whole_numbers_are_selected_and_written_whole(stub: Stub) -> None:
    stub.open(record={"first": "hour"})
    plot = stub.plot(HIST)
    stub.page.mouse.click(plot.px(7.4), plot.middle)
    stub.wait_requests("select", 1)
    assert stub.conditions()[-1] == ("replace", {"type": "range", "feature": "hour", "low": 7, "high": 7})
    assert stub.text("hint").startswith("7: ")
    stub.drag((plot.px(3.2), plot.middle), (plot.px(5.8), plot.middle))
    stub.wait_requests("select", 2)
    assert stub.conditions()[-1] == ("replace", {"type": "range", "feature": "hour", "low": 3, "high": 6})
    stub.page.get_by_test_id("clear").focus()
    assert stub.page.get_by_test_id("from").get_attribute("placeholder") == "0"
    assert stub.page.get_by_test_id("to").get_attribute("placeholder") == "23"


def test_a_range_beyond_the_axis_is_drawn_at_its_edge(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    beyond = {"type": "range", "feature": "temp", "low": plot.high + 5, "high": None}
    stub.call("answer", {"id": 1, "text": "temp > 40", "n": 4, "conditions": [beyond]})
    stub.page.wait_for_timeout(60)
    assert stub.page.get_by_test_id("to").get_attribute("placeholder") == "highest"
    right = stub.page.evaluate(
        """() => {
            const canvas = document.querySelector("[data-testid=histogram-overlay]");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let most = 0;
            for (let i = 3; i < data.length; i += 4) if (data[i] > 0) most = Math.max(most, ((i - 3) / 4) % canvas.width);
            return most;
        }"""
    )
    assert right <= plot.x1 + 5


def test_rectangle_on_curves_sends_ice_condition(stub: Stub) -> None:
    stub.open(record={"classes": 2})
    plot = stub.plot(CURVES)
    start, end = (round(plot.px(10)), round(plot.py(0.6))), (round(plot.px(14)), round(plot.py(0.8)))
    stub.drag(start, end)
    condition = stub.wait_requests("select", 1)[-1]["params"]["condition"]
    assert {k: condition[k] for k in ("type", "feature", "output", "centered")} == {
        "type": "ice",
        "feature": "temp",
        "output": "class 1",
        "centered": False,
    }
    assert condition["x"] == pytest.approx([plot.value(start[0]), plot.value(end[0])], abs=1e-6)
    assert condition["y"] == pytest.approx([0.6, 0.8], abs=0.01)


def test_keys_move_resize_clear_and_undo(stub: Stub) -> None:
    stub.open()
    stub.page.locator(HIST).focus()
    stub.page.keyboard.press("ArrowRight")  # makes a brush
    made = stub.wait_requests("select", 1)[-1]["params"]["condition"]
    stub.call("answer", {"id": 1, "text": "a", "n": 200, "conditions": [made]})
    stub.page.keyboard.press("ArrowRight")
    stub.page.keyboard.press("ArrowRight")
    moved = stub.wait_requests("select", 2)[-1]["params"]["condition"]
    assert moved["low"] > made["low"]
    assert moved["high"] - moved["low"] == pytest.approx(made["high"] - made["low"], abs=0.2)
    assert len(stub.selects()) == 2  # two quick steps are one act
    stub.call("answer", {"id": 2, "text": "a", "n": 200, "conditions": [moved]})
    stub.page.keyboard.press("Shift+ArrowRight")
    wider = stub.wait_requests("select", 3)[-1]["params"]["condition"]
    assert wider["low"] == moved["low"]
    assert wider["high"] > moved["high"]
    stub.call("answer", {"id": 3, "text": "a", "n": 200, "conditions": [wider]})
    stub.page.keyboard.press("Escape")
    stub.wait_requests("clear", 1)
    stub.page.keyboard.press("Control+z")
    stub.wait_requests("undo", 1)
    assert "temp from" in stub.text("spoken")


def test_keys_choose_levels_and_read_curves(stub: Stub) -> None:
    stub.open(record={"first": "season"})
    stub.page.locator(HIST).focus()
    stub.page.keyboard.press("ArrowRight")
    stub.page.keyboard.press("ArrowRight")
    assert stub.text("spoken").startswith("summer: ")
    stub.page.keyboard.press("Space")
    assert stub.wait_requests("select", 1)[-1]["params"]["condition"]["levels"] == [1]
    stub.page.locator(CURVES).focus()
    stub.page.keyboard.press("ArrowRight")
    assert stub.text("spoken").startswith("season spring, all rows")
    stub.page.keyboard.press("Space")  # a rectangle
    stub.page.keyboard.press("ArrowUp")
    stub.page.keyboard.press("Enter")
    assert stub.wait_requests("select", 2)[-1]["params"]["condition"]["type"] == "ice"


def test_ends_can_be_typed(stub: Stub) -> None:
    stub.open()
    stub.page.get_by_test_id("from").fill("3.5")
    stub.page.keyboard.press("Enter")
    condition = stub.wait_requests("select", 1)[-1]["params"]["condition"]
    assert condition == {"type": "range", "feature": "temp", "low": 3.5, "high": None}
    stub.page.get_by_test_id("to").fill("warm")
    stub.page.keyboard.press("Enter")
    assert "“warm” is not a number" in stub.text("ends-error")
    assert stub.page.get_by_test_id("to").get_attribute("aria-invalid") == "true"
    assert stub.page.get_by_test_id("from").get_attribute("aria-invalid") == "false"
    assert stub.page.get_by_test_id("selection-text").get_attribute("aria-invalid") == "false"
    assert stub.page.get_by_test_id("selection-error").count() == 0
    other = {**condition, "low": 7.0}  # another range: what was typed goes
    stub.call("answer", {"id": 1, "text": "temp >= 7", "n": 400, "conditions": [other]})
    stub.page.get_by_test_id("ends-error").wait_for(state="detached")
    assert stub.page.get_by_test_id("to").input_value() == ""


def test_query_text_is_sent_and_its_error_shown(stub: Stub) -> None:
    stub.open()
    field = stub.page.get_by_test_id("selection-text")
    field.fill("tmp > 20")
    field.press("Enter")
    sent = stub.wait_requests("query", 1)[-1]
    assert sent["params"] == {"text": "tmp > 20"}
    stub.call("reply", sent["id"], "error", "feature 'tmp' is not a column of X; did you mean 'temp'?")
    stub.page.get_by_test_id("selection-error").wait_for()
    assert "did you mean 'temp'?" in stub.text("selection-error")
    assert field.input_value() == "tmp > 20"  # what was typed can be mended
    field.press("Escape")
    assert field.input_value() == ""


def test_an_error_goes_with_the_next_submit(stub: Stub) -> None:
    stub.open()
    stub.call("answer", {"id": 1, "text": "temp > 20", "n": 300})
    field = stub.page.get_by_test_id("selection-text")
    field.fill("foo")
    field.press("Enter")
    stub.call("reply", stub.wait_requests("query", 1)[-1]["id"], "error", "foo is no condition")
    stub.page.get_by_test_id("selection-error").wait_for()
    field.fill("temp > 20")  # the selection as it is
    field.press("Enter")
    stub.page.get_by_test_id("selection-error").wait_for(state="detached")
    assert field.get_attribute("aria-invalid") == "false"


def test_a_long_condition_shows_its_beginning(stub: Stub) -> None:
    stub.open()
    field = stub.page.get_by_test_id("selection-text")
    field.fill("temp > 1")
    field.press("Enter")
    text = "temp > 1 & " * 40 + "temp > 2"
    stub.call("answer", {"id": 1, "text": text, "n": 300})
    stub.wait_for("document.querySelector('[data-testid=selection-text]').value.length > 100")
    assert field.evaluate("node => node.scrollLeft") == 0
    assert field.get_attribute("title") == text
    selection = {"id": 2, "text": "@curves1", "n": 3, "total": 1000, "conditions": [], "sample": None}
    stub.call("set", "_selection", {**selection, "names": {"@curves1": "curves through temp 3 to 5"}})
    stub.wait_for("document.querySelector('[data-testid=selection-text]').value === '@curves1'")
    assert field.get_attribute("title") == "@curves1\n@curves1: curves through temp 3 to 5"


def test_header_shows_the_measure_the_list_is_sorted_by(stub: Stub) -> None:
    stub.open()
    assert stub.text("measure").startswith("importance ")
    assert "standard deviation" in (stub.page.get_by_test_id("measure").get_attribute("title") or "")
    stub.page.get_by_test_id("sort").select_option("heterogeneity")
    assert stub.text("measure") == "disagreement 0.100"


def test_sampled_rows_are_said(stub: Stub) -> None:
    stub.open(record={"rows": 300, "sample": 100, "only": ["temp"]})
    info = stub.page.evaluate("({...stub.widgets[0].made.traits._info, rows_given: 728})")
    stub.call("set", "_info", info)
    stub.wait_for("document.querySelector('[data-testid=rows]').textContent.includes('728')")
    assert stub.text("rows") == "300 sampled of 728 rows · exact for these"
    stub.call("mount", {"rows": 300, "sample": 100, "only": ["temp"]}, {"_info": info})
    note = stub.page.get_by_test_id("nokernel")
    assert note.text_content() == "Recorded: 100 of 300 rows (300 sampled of 728 rows), no kernel."


def test_a_side_with_few_rows_is_drawn_dashed(stub: Stub) -> None:
    stub.open(traits={"show_ice": False})
    stub.call("answer", {"id": 1, "text": "temp > 20", "n": 300, "shift": 40})
    inked = """() => {
        const canvas = document.querySelector("[data-testid=curves-overlay]");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let n = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i + 2] - data[i] > 80) n++;
        return n;
    }"""
    stub.page.wait_for_timeout(80)
    solid = stub.page.evaluate(inked)
    stub.page.evaluate(
        """() => {
            const split = structuredClone(stub.widgets[0].model.get("_split"));
            split.selection.thin = Array(split.selection.average.shape[0]).fill(1);
            stub.widgets[0].model.set("_split", split);
        }"""
    )
    stub.page.wait_for_timeout(80)
    assert stub.page.evaluate(inked) < 0.75 * solid
    plot = stub.plot(CURVES)
    stub.page.mouse.move(plot.px(15), plot.middle)
    stub.page.get_by_test_id("readout").wait_for()
    assert "few of the selection’s rows near this value" in stub.text("readout")


# ---- kernel ----------------------------------------------------------------------------------------------------------


def test_refused_brush_is_dropped_and_explained(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    stub.call("reply", stub.wait_requests("select", 1)[-1]["id"], "error", "the kernel could not")
    stub.page.get_by_test_id("selection-error").wait_for()
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.shown === ''")


def test_busy_kernel_is_said_and_waited_for(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    sent = stub.wait_requests("select", 1)[-1]
    stub.page.get_by_text("kernel busy").wait_for(timeout=3000)
    assert stub.page.locator(CURVES).get_attribute("data-shown") == "draft"
    stub.call("answer", {"id": 1, "text": "x", "n": 10})
    stub.call("reply", sent["id"])
    stub.page.get_by_text("kernel busy").wait_for(state="hidden")


@pytest.mark.parametrize("where", [HIST, CURVES])
def test_a_drag_ends_when_another_feature_comes_into_focus(stub: Stub, where: str) -> None:
    stub.open()
    plot = stub.plot(where)
    stub.drag((plot.px(5), plot.middle), (plot.px(10), plot.middle), release=False)
    sent = len(stub.wait_requests("select", 1))
    stub.call("set", "feature", "hour")  # Python, while the button is down
    stub.call("show", "hour", "count")
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.drawn.startsWith('hour')")
    stub.page.mouse.move(plot.px(20), plot.middle + 20, steps=4)
    stub.page.wait_for_timeout(300)
    stub.page.mouse.up()
    stub.page.wait_for_timeout(300)
    assert len(stub.selects()) == sent
    assert stub.selects()[-1]["condition"]["feature"] == "temp"


def test_the_feature_in_focus_is_seen_in_the_list(stub: Stub) -> None:
    stub.open(record={"rows": 60, "sample": 20, "extra": 300})
    names = stub.page.evaluate("window.stub.widgets[0].model.get('_info').features.map((f) => f.name)")
    stub.call("set", "feature", names[250])  # Python
    item = stub.page.locator("[data-testid=feature][aria-selected=true]")
    item.wait_for()
    stub.page.wait_for_function(
        """() => {
          const item = document.querySelector("[data-testid=feature][aria-selected=true]");
          const list = item?.closest(".pdpw-list")?.getBoundingClientRect(), box = item?.getBoundingClientRect();
          return list && box.top >= list.top - 1 && box.bottom <= list.bottom + 1;
        }""",
        timeout=3000,
    )


def test_saving_is_left_to_the_notebook(stub: Stub) -> None:
    stub.open()
    root = stub.page.locator(".pdpw")
    mark = "data-lm-suppress-shortcuts"
    stub.page.get_by_test_id("search").focus()
    stub.page.evaluate(
        "document.addEventListener('keydown', () => (window.marked = document.querySelector('.pdpw').hasAttribute('data-lm-suppress-shortcuts')), true)"
    )
    for keys, marked in [
        ("ArrowDown", True),
        ("Control+s", False),
        ("Meta+s", False),
        ("Escape", True),
        ("Control+z", True),
    ]:
        stub.page.keyboard.press(keys)
        assert stub.page.evaluate("window.marked") is marked, keys
    assert root.get_attribute(mark) is not None


def test_output_and_feature_are_two_way(stub: Stub) -> None:
    stub.open(record={"classes": 3})
    stub.page.get_by_test_id("output").select_option("class 2")
    assert stub.call("saved")[-1] == ["output", "class 2"]
    stub.call("show", "temp", "class 2")
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.drawn === 'temp|class 2'")
    stub.page.locator("[data-testid=feature][data-name=hour]").click()
    assert stub.call("saved")[-1] == ["feature", "hour"]
    assert "computing hour" in stub.text("wait")
    stub.call("show", "hour", "class 2")
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.drawn === 'hour|class 2'")
    stub.call("set", "feature", "day")  # Python
    stub.page.locator("[data-testid=feature][data-name=day][aria-selected=true]").wait_for()


def test_many_outputs_are_searched(stub: Stub) -> None:
    stub.open(record={"classes": 25, "rows": 60, "sample": 20, "only": ["temp"]})
    stub.page.get_by_test_id("output").click()
    stub.page.keyboard.type("class 2")
    assert stub.page.get_by_role("option", name="class", exact=False).count() >= 7
    stub.page.keyboard.press("ArrowDown")
    stub.page.keyboard.press("Enter")
    assert stub.call("saved")[-1] == ["output", "class 20"]


def test_without_a_kernel_the_saved_picture_can_be_brushed(stub: Stub) -> None:
    stub.open(dead=True)
    assert "Saved picture, not connected to Python" in stub.text("nokernel")
    assert stub.page.locator(".pdpw").get_attribute("data-host") == "saved"
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.shown === 'sample'")
    assert stub.page.get_by_test_id("selection-text").input_value().endswith(" <= temp <= 20")
    assert stub.text("selection-n").startswith("≈ n ")
    assert stub.requests("select") == []
    stub.page.locator("[data-testid=feature][data-name=hour]").click()
    assert "hour is not in this notebook" in stub.text("curve-message")
    assert "pdpw-error" not in (stub.page.get_by_test_id("curve-message").get_attribute("class") or "")
    stub.page.get_by_test_id("clear").click()
    stub.page.get_by_test_id("curve-message").wait_for(state="detached")
    stub.page.evaluate("stub.widgets[0].el.classList.remove('jupyter-widgets-disconnected')")
    stub.page.locator(".pdpw[data-host=kernel]").wait_for()


def test_a_kernel_that_went_unannounced(stub: Stub) -> None:
    stub.open()
    stub.page.evaluate(
        """() => {
            const { model } = stub.widgets[0];
            model.send = model.save_changes = () => { throw Error("Cannot send"); };
        }"""
    )
    stub.page.locator("[data-testid=feature][data-name=hour]").click()
    assert "hour is not in this notebook" in stub.text("curve-message")
    assert stub.text("title") == "temp"
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.shown === 'sample'")
    stub.call("answer", {"id": 9, "text": "temp > 1", "n": 7})  # a new kernel speaks
    stub.page.locator(".pdpw[data-host=kernel]").wait_for()


def test_one_drag_is_one_gesture(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(10), plot.middle), release=False)
    stub.wait_requests("select", 1)
    stub.page.mouse.move(plot.px(20), plot.middle, steps=3)
    stub.page.mouse.up()
    stub.wait_requests("select", 2)
    stub.drag((plot.px(25), plot.middle), (plot.px(28), plot.middle))
    stub.wait_requests("select", 3)
    first, second, third = (params["gesture"] for params in stub.selects())
    assert first == second != third


def test_recorded_page_answers_itself(stub: Stub) -> None:
    stub.call("mount", {"classes": 2, "rows": 400, "sample": 400})
    stub.page.locator(CURVES + "[data-drawn]").wait_for()
    assert stub.text("nokernel") == "Recorded: 400 of 400 rows, no kernel."
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    number = stub.text("selection-n")
    assert number.startswith("n ")  # all rows are on the page: no ≈
    stub.page.get_by_test_id("output").select_option("class 2")
    stub.page.locator("[data-testid=feature][data-name=season]").click()
    stub.wait_for("document.querySelector('[data-testid=curves]').dataset.drawn === 'season|class 2'")
    assert stub.text("selection-n") == number
    plot = stub.plot(HIST)
    stub.page.mouse.click(plot.left + plot.centers[1], plot.middle)
    assert " & season == 'summer'" in stub.page.get_by_test_id("selection-text").input_value()
    stub.page.get_by_test_id("undo").click()
    assert stub.text("selection-n") == number


def test_a_page_of_several_models_says_of_which_it_is(stub: Stub) -> None:
    info = stub.page.evaluate("import('/demo/data.mjs').then(d => d.makeRecord({rows: 400, sample: 200}).traits._info)")
    info |= {"model": "forest", "models": ["forest", "logit"]}
    stub.call("mount", {"rows": 400, "sample": 200}, {"_info": info, "model": "forest"})
    stub.page.locator(CURVES + "[data-drawn]").wait_for()
    assert stub.text("nokernel") == "Recorded: the model forest, 200 of 400 rows, no kernel."
    menu = stub.page.get_by_test_id("model")
    assert menu.is_disabled()
    assert menu.get_attribute("title") == "This page is of the model forest; of the others it has only curves"


def test_a_panel_of_another_output_says_so(stub: Stub) -> None:
    status = {"state": "done", "message": None, "cost": 0, "stale": False}
    known = {"status": status, "output": "class 1", "features": ["temp", "hour"], "left_out": 0, "pairs": [0, 1]}
    numbers = {key: [0.1] for key in ("h2", "h2_stderr", "strength", "strength_stderr", "dependent")}
    own = {key: [0.1, 0.2] for key in ("overall_h2", "overall_strength", "main_strength")}
    rest = {"pairs_done": 1, "total_h2": 0.1, "total_h2_stderr": None, "rows": 400, "rows_total": 400, "method": "",
            "scale": "probability", "more": None, "refining": None}  # fmt: skip
    picture = {**known, **numbers, **own, **rest}
    stub.call(
        "mount", {"classes": 2, "rows": 400, "sample": 200}, {"panels": ["interactions"], "_interactions": picture}
    )
    stub.page.locator(CURVES + "[data-drawn]").wait_for()
    assert stub.page.get_by_test_id("interactions-other").count() == 0
    stub.page.get_by_test_id("output").select_option("class 2")
    stub.page.get_by_test_id("interactions-other").wait_for()
    assert stub.text("interactions-other") == "This is about the output “class 1”; “class 2” is not saved."


def test_the_wheel_goes_through_a_list_that_shows_everything(stub_of: Callable[..., Stub]) -> None:
    stub = stub_of(viewport={"width": 700, "height": 500})
    info = stub.page.evaluate("import('/demo/data.mjs').then(d => d.makeRecord({}).traits._info)")
    stub.open(traits={"_info": {**info, "features": info["features"][:8]}})
    names = stub.page.get_by_test_id("features")
    assert stub.page.get_by_test_id("feature").count() == 8
    assert names.evaluate("node => node.scrollHeight - node.clientHeight") == 0
    names.scroll_into_view_if_needed()
    names.hover()
    before = stub.page.evaluate("scrollY")
    stub.page.mouse.wheel(0, 200)
    stub.wait_for(f"scrollY > {before} + 100", timeout=3000)
    # A longer list scrolls, and at its end lets go.
    other = stub_of(viewport={"width": 700, "height": 500})
    other.open()
    names = other.page.get_by_test_id("features")
    assert names.evaluate("node => node.scrollHeight > node.clientHeight")
    names.evaluate("node => { node.scrollTop = node.scrollHeight; }")
    names.hover()
    before = other.page.evaluate("scrollY")
    other.page.mouse.wheel(0, 200)
    other.wait_for(f"scrollY > {before} + 100", timeout=3000)


def test_a_bookmark_that_is_the_selection_is_not_combined_with_itself(stub: Stub) -> None:
    stub.open(traits={"bookmarks": {"warm": "temp > 20", "late": "hour > 18"}})
    stub.call("answer", {"id": 5, "text": "temp > 20", "n": 300, "share": 0.3})
    stub.page.get_by_test_id("bookmarks-open").click()
    for name, off in (("warm", True), ("late", False)):
        line = stub.page.locator(f"[data-testid=bookmark][data-name={name}]")
        assert [line.get_by_test_id(f"bookmark-{how}").is_disabled() for how in ("and", "or", "not")] == [off] * 3


def test_a_brush_from_the_edge_loses_no_row(stub: Stub) -> None:
    stub.open()
    plot = stub.plot(HIST)
    stub.drag((plot.left + plot.x0 + 2, plot.middle), (plot.px(15), plot.middle))
    stub.drag((plot.px(25), plot.middle), (plot.left + plot.x1 - 3, plot.middle))
    stub.wait_requests("select", 2)
    conditions = [condition for _, condition in stub.conditions()]
    assert conditions[0]["low"] is None and conditions[0]["high"] is not None
    assert conditions[-1]["low"] is not None and conditions[-1]["high"] is None


OWN = """async (rows) => {
    const { makeRecord } = await import("/demo/data.mjs");
    const { curves } = makeRecord({ rows, sample: rows });
    return Object.values(curves).map(({ _curve, _ice }) => {
        const bytes = Uint8Array.from(atob(_ice.own.b64), (c) => c.charCodeAt(0));
        const own = Array.from(new Float64Array(bytes.buffer), (v) => (Number.isNaN(v) ? null : v));
        return [_curve.feature, _curve.kind, _curve.labels, own];
    });
}"""


def test_conditions_made_on_the_page_are_read_by_python(stub: Stub) -> None:
    columns: dict[str, Any] = {}
    for name, kind, labels, own in stub.page.evaluate(OWN, 200):
        if kind == "category":
            raw = [None if v is None else labels[int(v)] for v in own]
            columns[name] = [v == "True" for v in raw] if name == "workday" else raw
        else:
            columns[name] = pd.to_datetime(own, unit="ms") if kind == "datetime" else own
    table = FeatureTable(pd.DataFrame(columns))
    stub.call("mount", {"rows": 200, "sample": 200})
    stub.page.locator(CURVES + "[data-drawn]").wait_for()
    text = stub.page.get_by_test_id("selection-text")
    for feature in ("temp", "hour", "day", "workday", "weather", "<b>"):
        stub.page.get_by_test_id("search").fill(feature)
        stub.page.locator("[data-testid=feature]").first.click()
        stub.wait_for("(f) => document.querySelector('[data-testid=histogram]').dataset.drawn.includes(f)", arg=feature)
        for mode in ("replace", "add", "remove"):
            stub.page.get_by_test_id(f"mode-{mode}").click()
            plot = stub.plot(HIST)
            if plot.centers:
                stub.page.mouse.click(plot.left + plot.centers[0 if mode == "add" else -1], plot.middle)
            else:
                at = plot.left + plot.x0 + (plot.x1 - plot.x0) * {"replace": 0.3, "add": 0.5, "remove": 0.7}[mode]
                stub.drag((at, plot.middle), (at + 80, plot.middle))
            mask = subgroup.parse(text.input_value(), table).mask(table)
            assert int(mask.sum()) == int(stub.page.get_by_test_id("selection-n").get_attribute("data-n") or -1), (
                text.input_value()
            )
        stub.page.get_by_test_id("invert").click()
        assert int(subgroup.parse(text.input_value(), table).mask(table).sum()) == int(
            stub.page.get_by_test_id("selection-n").get_attribute("data-n") or -1
        )
        stub.page.get_by_test_id("clear").click()


# ---- the list --------------------------------------------------------------------------------------------------------


def test_hundreds_of_features(stub: Stub) -> None:
    stub.open(record={"rows": 60, "sample": 20, "extra": 300})
    items = stub.page.locator("[data-testid=feature]")
    assert items.count() < 40
    stub.page.get_by_test_id("features").focus()
    stub.page.keyboard.press("End")
    last = stub.page.locator("[aria-posinset='312']").get_attribute("data-name")
    stub.page.keyboard.press("Enter")
    assert stub.call("saved")[-1] == ["feature", last]
    stub.wait_for("(last) => stub.requests('visible').at(-1)?.params.features.includes(last)", arg=last)
    assert len(stub.requests("visible")[-1]["params"]["features"]) < 40
    stub.page.locator(HIST).focus()
    stub.page.keyboard.press("/")
    stub.page.keyboard.type("noise_29")
    stub.wait_for("document.querySelectorAll('[data-testid=feature]').length === 11")
    stub.page.keyboard.press("Enter")
    assert stub.call("saved")[-1][1].startswith("noise_29")


def test_order_does_not_jump_while_numbers_come_in(stub: Stub) -> None:
    stub.open(record={"rows": 100, "sample": 20, "done": 0.5})
    names = "[...document.querySelectorAll('[data-testid=feature]')].map(n => n.dataset.name)"
    assert stub.page.evaluate(names)[:3] == ["temp", "humidity", "season"]  # the columns' order
    stub.page.get_by_test_id("sort").select_option("name")
    assert stub.call("saved")[-1] == ["sort_by", "name"]
    assert stub.page.evaluate(names)[1] == "city"
    stub.page.get_by_test_id("sort").select_option("importance")
    assert stub.page.evaluate(names)[:2] == ["temp", "season"]


# ---- hosts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [700, 400])
def test_narrow_pages_fold_without_overflow(stub_of: Callable[..., Stub], width: int) -> None:
    stub = stub_of(viewport={"width": width, "height": 900})
    stub.open(record={"classes": 3})
    stub.call("answer", {"id": 1, "text": "a long condition " * 20, "n": 400, "shift": 0.1})
    stub.page.locator(".pdpw[data-layout=narrow]").wait_for()
    assert stub.page.evaluate("document.documentElement.scrollWidth") <= width
    columns = stub.page.evaluate(
        "['features', 'focus'].map(id => document.querySelector(`[data-testid=${id}]`).getBoundingClientRect().left)"
    )
    assert abs(columns[0] - columns[1]) < 2


def test_width_of_the_widget_counts_not_of_the_window(stub: Stub) -> None:
    stub.open()
    stub.page.evaluate("stub.widgets[0].el.style.width = '600px'")
    stub.page.locator(".pdpw[data-layout=narrow]").wait_for()
    stub.wait_for("+document.querySelector('[data-testid=curves]').dataset.x1 < 600")


CONTRAST = """() => {
    const root = document.querySelector(".pdpw");
    const rgb = (name) => {
        const probe = document.createElement("i");
        probe.style.color = `var(--pdpw-${name})`;
        root.append(probe);
        const found = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
        probe.remove();
        return found;
    };
    const light = (c) => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
    const pairs = [["ink", "bg"], ["muted", "bg"], ["selection", "bg"], ["rest", "bg"], ["ink", "hover"], ["muted", "hover"],
                   ["error", "error-bg"]];
    return pairs.map(([a, b]) => {
        const [x, y] = [light(rgb(a)), light(rgb(b))].sort((p, q) => q - p);
        return [a + " on " + b, (x + .05) / (y + .05)];
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_own_colours_with_contrast(stub: Stub, scheme: str) -> None:
    stub.page.evaluate("(light) => { document.body.dataset.jpThemeLight = light }", str(scheme == "light").lower())
    stub.open()
    root = stub.page.locator(".pdpw")
    assert root.get_attribute("data-theme") == scheme
    for pair, ratio in stub.page.evaluate(CONTRAST):
        assert ratio >= 4.5, pair
    other = "dark" if scheme == "light" else "light"
    stub.page.evaluate("(light) => { document.body.dataset.jpThemeLight = light }", str(other == "light").lower())
    stub.page.locator(f".pdpw[data-theme={other}]").wait_for()
    stub.call("set", "theme", scheme)
    stub.page.locator(f".pdpw[data-theme={scheme}]").wait_for()
    colours = root.evaluate("node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]")
    assert colours[0] != colours[1]


def test_large_size(stub: Stub) -> None:
    stub.open(traits={"size": "large"})
    assert stub.page.locator(".pdpw").evaluate("node => parseFloat(getComputedStyle(node).fontSize)") == 17


def test_sharp_on_dense_screens(stub_of: Callable[..., Stub]) -> None:
    stub = stub_of(viewport={"width": 1200, "height": 900}, device_scale_factor=2)
    stub.open()
    ratio = stub.page.evaluate(
        "(() => { const c = document.querySelector('canvas'); return c.width / c.clientWidth })()"
    )
    assert ratio == pytest.approx(2, abs=0.01)


def test_teardown_leaves_nothing(stub: Stub) -> None:
    before = stub.call("leftovers")
    stub.open(record={"classes": 25, "rows": 60, "sample": 20, "only": ["temp", "season"]})
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    stub.page.get_by_test_id("output").click()
    stub.call("close")
    assert stub.page.evaluate("stub.widgets[0].model.listeners") == 0
    assert stub.page.locator(".pdpw").count() == 0
    stub.page.wait_for_timeout(600)  # Preact's own frame
    assert stub.call("leftovers") == before


def test_two_widgets_do_not_share(stub: Stub) -> None:
    stub.open(record={"rows": 200, "sample": 50, "only": ["temp", "season"]})
    stub.open(record={"rows": 200, "sample": 50, "only": ["temp", "season"]})
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    stub.wait_requests("select", 1)
    assert stub.selects(1) == []
    shown = stub.page.locator(CURVES).evaluate_all("nodes => nodes.map(n => n.dataset.shown ?? '')")
    assert shown == ["draft", ""]
    plot = stub.plot(CURVES, 1)
    stub.drag((plot.px(10), plot.middle - 40), (plot.px(14), plot.middle + 40))
    stub.wait_requests("select", 1, 1)
    assert len(stub.selects(0)) == 1
    stub.call("close", 0)
    stub.page.locator("[data-testid=feature][data-name=season]").click()
    assert stub.call("saved", 1)[-1] == ["feature", "season"]


def test_brush_frames_at_5000_rows(stub: Stub) -> None:
    stub.open(record={"rows": 5000, "sample": 500, "only": ["temp", "season", "hour"]})
    plot = stub.plot(HIST)
    stub.page.evaluate("stub.spent.length = 0")
    stub.drag((plot.px(0), plot.middle), (plot.px(28), plot.middle), steps=120)
    spent = sorted(stub.page.evaluate("stub.spent"))
    assert len(spent) > 20
    p95 = spent[int(len(spent) * 0.95)]
    print(
        f"brush at 5000 rows, 500 of them on the page: p50 {spent[len(spent) // 2]:.1f} ms, p95 {p95:.1f} ms per frame callback"
    )
