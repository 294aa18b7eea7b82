# ruff: noqa: F811
"""The heatmap in Chromium with a real widget behind it: what is drawn and read, and which rows a click, a drag or keys select in Python.

The built bundle runs on the stub host; what the page asks is handed to the widget, and what that publishes is handed to the page.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import live_page
import numpy as np
import pandas as pd
import pytest
from widget_tools import frame, make, predict  # noqa: F401

from pdp_widgets import Explainer, PDPWidget
from pdp_widgets.widget.wire import unpack

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from stub_page import Stub

pytestmark = pytest.mark.browser

X = frame(300)


class Live(live_page.Live):
    """A widget whose page shows a heatmap."""

    def settle(self) -> None:
        """Wait for a brush to rest, then go back and forth."""
        for _ in range(30):
            super().settle()
            if self.page.evaluate("stub.live.timers.size") == 0:  # while a request waits, the page's own timer runs
                return
            self.page.wait_for_timeout(100)
        raise AssertionError("the page does not come to rest")

    @property
    def plot(self) -> dict[str, Any]:
        self.page.get_by_test_id("heatmap").scroll_into_view_if_needed()
        return dict(
            self.page.get_by_test_id("heatmap").evaluate(
                "n => ({...n.dataset, left: n.getBoundingClientRect().left, top: n.getBoundingClientRect().top})"
            )
        )

    def cells(self, side: str) -> list[tuple[float, float]]:
        """Both ends of every cell along an axis, in px of the window."""
        plot = self.plot
        shift = plot["left"] if side == "x" else plot["top"]
        return [tuple(shift + float(v) for v in pair.split(":")) for pair in plot[f"{side}Cells"].split(",")]  # type: ignore[misc]

    def at(self, i: int, j: int) -> tuple[float, float]:
        (x0, x1), (y0, y1) = self.cells("x")[i], self.cells("y")[j]
        return (x0 + x1) / 2, (y0 + y1) / 2

    @property
    def picture(self) -> dict[str, Any]:
        def read(value: Any) -> Any:
            if isinstance(value, dict):
                return unpack(value) if "view" in value else {key: read(item) for key, item in value.items()}
            return value

        return dict(read(self.widget._heatmap))

    def colour(self, i: int, j: int) -> tuple[int, ...]:
        """The colour drawn near the upper left of a cell, where no line crosses a wide one."""
        (x0, x1), (y0, y1) = self.cells("x")[i], self.cells("y")[j]
        plot = self.plot
        x, y = x0 + (x1 - x0) * 0.3 - plot["left"], y0 + (y1 - y0) * 0.3 - plot["top"]
        found = self.page.get_by_test_id("heatmap").evaluate(
            "(n, [x, y]) => [...n.querySelector('canvas').getContext('2d').getImageData(x, y, 1, 1).data]",
            [round(x), round(y)],
        )
        return tuple(found[:3])


@pytest.fixture
def live(open_stub: Callable[..., Stub], make: Callable[..., PDPWidget]) -> Callable[..., Live]:
    def open_page(
        *pair: str, model: Any = predict, data: pd.DataFrame = X, scheme: str = "light", **options: Any
    ) -> Live:
        return Live(open_stub(scheme=scheme), make(model, data, pair=pair, **{"panels": ["heatmap"], **options}))

    return open_page


KINDS = [("temp", "n"), ("season", "flag"), ("when", "season"), ("flag", "temp"), ("n", "when")]


@pytest.mark.parametrize("pair", KINDS, ids=" x ".join)
def test_every_pair_of_kinds_is_drawn_and_read(live: Callable[..., Live], pair: tuple[str, str]) -> None:
    page = live(*pair, scheme="dark" if "flag" in pair else "light")
    assert page.plot["drawn"] == f"{pair[0]}|{pair[1]}|prediction|pd"
    picture = page.picture
    assert (len(page.cells("x")), len(page.cells("y"))) == picture["average"].shape
    low, high = (
        np.unravel_index(find(picture["average"]), picture["average"].shape) for find in (np.argmin, np.argmax)
    )
    assert sum(page.colour(*map(int, low))) < sum(page.colour(*map(int, high)))
    x, y = page.at(*map(int, high))
    page.page.mouse.move(x, y)
    reading = page.text("heatmap-readout")
    assert pair[0] in reading
    assert pair[1] in reading
    n = picture["counts"][high]
    assert ("no row" if n == 0 else f"{n} row") in reading
    page.page.mouse.move(5, 5)
    page.page.get_by_test_id("heatmap-readout").wait_for(state="detached")


def test_numbers_stand_to_scale_and_missing_apart(live: Callable[..., Live]) -> None:
    page = live("temp", "season")
    x = page.picture["a"]["x"]
    known = x[:-1]
    edges = np.array(page.cells("x"))[:-1]
    expected = (known[1:] + known[:-1]) / 2
    scale = np.polyfit(expected, edges[:-1, 1], 1)
    np.testing.assert_allclose(np.polyval(scale, expected), edges[:-1, 1], atol=0.2)
    gone = page.cells("x")[-1]
    assert gone[1] < edges[0, 0] - 3
    order = [page.cells("y")[k][0] for k in range(len(page.cells("y")))]
    assert order == sorted(order)


def test_a_drag_selects_the_rows_of_both_ranges(live: Callable[..., Live]) -> None:
    page = live("temp", "n")
    xs, ys = page.cells("x"), page.cells("y")
    start, end = ((xs[4][0] + 1, ys[3][0] + 3), (xs[12][1] - 1, ys[1][1] - 3))
    page.stub.drag(start, end)
    page.settle()
    selection = page.widget.selection
    conditions = {c["feature"]: c for c in page.widget._selection["conditions"]}
    temp = conditions["temp"]
    assert (conditions["n"]["low"], conditions["n"]["high"]) == (1, 3)
    x = page.picture["a"]["x"]
    assert temp["low"] == pytest.approx((x[3] + x[4]) / 2, abs=0.5)
    assert temp["high"] == pytest.approx((x[12] + x[13]) / 2, abs=0.5)
    expected = X["temp"].between(temp["low"], temp["high"]) & X["n"].between(1, 3)
    np.testing.assert_array_equal(selection.mask, expected.to_numpy())
    # Another rectangle takes its place, and one undo brings the first one back.
    page.stub.drag((xs[14][0] + 1, ys[5][0] + 3), (xs[16][1], ys[4][1] - 3))
    page.settle()
    assert {c["feature"] for c in page.widget._selection["conditions"]} == {"temp", "n"}
    assert next(c for c in page.widget._selection["conditions"] if c["feature"] == "n")["low"] == 4
    page.widget.undo()
    np.testing.assert_array_equal(page.widget.selection.mask, expected.to_numpy())


def test_a_drag_to_the_end_is_open_and_escape_gives_it_up(live: Callable[..., Live]) -> None:
    page = live("temp", "n")
    xs, ys = page.cells("x"), page.cells("y")
    page.stub.drag((xs[8][0], ys[0][1] - 2), (xs[19][1] + 40, ys[5][0] + 1))
    page.settle()
    conditions = page.widget._selection["conditions"]
    assert [c["feature"] for c in conditions] == ["temp"]  # all of n is no condition
    assert conditions[0]["high"] is None
    page.page.get_by_test_id("heatmap").focus()
    before = len(page.stub.selects())
    page.stub.drag((xs[2][0], ys[1][0]), (xs[5][0], ys[2][0]), release=False, steps=2)
    page.page.keyboard.press("Escape")
    page.page.mouse.up()
    page.settle()
    assert page.widget._selection["conditions"] == conditions
    assert len(page.stub.selects()) - before <= 1


def test_a_click_on_a_cell_of_two_categories_selects_it_and_again_takes_it_back(live: Callable[..., Live]) -> None:
    page = live("season", "flag")
    page.widget.select("n < 4")
    page.settle()
    labels = page.picture["a"]["labels"]
    page.page.mouse.click(*page.at(labels.index("SUMMER"), 1))
    page.settle()
    expected = (X["season"] == "SUMMER") & X["flag"] & (X["n"] < 4)
    np.testing.assert_array_equal(page.widget.selection.mask, expected.to_numpy())
    page.page.mouse.click(*page.at(labels.index("SUMMER"), 1))
    page.settle()
    assert page.widget.selection.text == "n < 4"
    page.page.mouse.click(*page.at(labels.index("missing"), 0))
    page.settle()
    expected = X["season"].isna() & ~X["flag"] & (X["n"] < 4)
    np.testing.assert_array_equal(page.widget.selection.mask, expected.to_numpy())


def test_shift_adds_and_alt_removes(live: Callable[..., Live]) -> None:
    page = live("season", "flag")
    labels = page.picture["a"]["labels"]
    summer, fall = ((X["season"] == name).to_numpy() for name in ("SUMMER", "FALL"))
    flag = X["flag"].to_numpy()
    page.page.mouse.click(*page.at(labels.index("SUMMER"), 1))
    page.settle()
    page.page.keyboard.down("Shift")
    page.page.mouse.click(*page.at(labels.index("FALL"), 0))
    page.page.keyboard.up("Shift")
    page.settle()
    np.testing.assert_array_equal(page.widget.selection.mask, (summer & flag) | (fall & ~flag))
    page.page.keyboard.down("Alt")
    page.page.mouse.click(*page.at(labels.index("SUMMER"), 1))
    page.page.keyboard.up("Alt")
    page.settle()
    np.testing.assert_array_equal(page.widget.selection.mask, fall & ~flag)


def test_keys_read_cells_and_draw_a_rectangle(live: Callable[..., Live]) -> None:
    page = live("temp", "n")
    keyboard = page.page.keyboard
    page.page.get_by_test_id("heatmap").focus()
    keyboard.press("ArrowRight")
    for _ in range(30):
        keyboard.press("ArrowLeft")
    for _ in range(10):
        keyboard.press("ArrowUp")
    assert "temp = missing" in page.text("heatmap-readout")
    assert "n = 5" in page.text("heatmap-readout")
    keyboard.press("ArrowRight")
    spoken = page.text("spoken")
    value = page.picture["average"][0, 5]
    assert f"{value:.3g}".lstrip("-") in spoken
    keyboard.press("Space")
    for _ in range(3):
        keyboard.press("ArrowRight")
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    page.settle()
    x = page.picture["a"]["x"]
    conditions = {c["feature"]: c for c in page.widget._selection["conditions"]}
    assert (conditions["n"]["low"], conditions["n"]["high"]) == (4, None)
    assert conditions["temp"]["low"] is None
    assert conditions["temp"]["high"] == pytest.approx((x[3] + x[4]) / 2, abs=0.5)
    keyboard.press("Escape")
    page.settle()
    assert page.widget.selection.text == ""


def test_axes_are_swapped_on_the_page_alone(live: Callable[..., Live]) -> None:
    page = live("temp", "season")
    before = page.picture
    page.page.get_by_test_id("heatmap-swap").click()
    page.page.wait_for_timeout(50)
    assert page.plot["drawn"].startswith("season|temp|")
    assert len(page.cells("x")) == before["average"].shape[1]
    page.page.mouse.move(*page.at(1, 2))
    assert f"season = {before['b']['labels'][1]}" in page.text("heatmap-readout")
    page.page.mouse.click(*page.at(1, 2))
    page.settle()
    assert {c["feature"] for c in page.widget._selection["conditions"]} == {"temp", "season"}
    assert page.widget.pair == ("temp", "season")


def test_modes_show_the_interaction_the_selection_and_its_difference(live: Callable[..., Live]) -> None:
    page = live("temp", "season")
    assert page.page.get_by_test_id("heatmap-difference").count() == 0
    page.page.get_by_test_id("heatmap-interaction").click()
    page.page.wait_for_timeout(50)
    assert page.plot["drawn"].endswith("|interaction")
    interaction = Explainer(predict, X).decompose("temp", "season").interaction[0]
    signs = {"+": [], "-": []}  # type: ignore[var-annotated]
    for i, j in [(3, 1), (17, 1), (3, 0), (17, 0)]:
        red, _, blue = page.colour(i, j)
        signs["+" if interaction[i, j] > 0 else "-"].append(red - blue)
    assert min(signs["+"]) > max(signs["-"])
    page.widget.select("n < 3")
    page.settle()
    page.page.get_by_test_id("heatmap-difference").click()
    page.page.wait_for_timeout(50)
    assert page.plot["drawn"].endswith("|difference")
    page.page.mouse.move(*page.at(5, 1))
    picture = page.picture
    difference = picture["selection"][5, 1] - picture["rest"][5, 1]
    assert f"{abs(difference):.3g}" in page.text("heatmap-readout")
    assert f"selection {(X['n'] < 3).sum()}" in page.text("heatmap-notes")
    page.widget.clear()
    page.settle()
    assert page.plot["drawn"].endswith("|pd")


def test_the_selection_is_outlined_on_both_axes(live: Callable[..., Live]) -> None:
    page = live("temp", "season")

    def blue() -> set[tuple[int, int]]:
        found = page.page.get_by_test_id("heatmap").evaluate(
            """n => {
                const c = n.querySelector('canvas'), [l, t, r, b] = n.dataset.area.split(',').map(Number), out = [];
                const {data} = c.getContext('2d').getImageData(0, 0, c.width, c.height);
                for (let y = Math.ceil(t); y < b; y++) for (let x = Math.ceil(l); x < r; x++) {
                    const i = 4 * (y * c.width + x);
                    if (Math.abs(data[i] - 0x25) + Math.abs(data[i + 1] - 0x56) + Math.abs(data[i + 2] - 0xe8) < 12) out.push([x, y]);
                }
                return out;
            }"""
        )
        return {(x, y) for x, y in found}

    assert blue() == set()
    page.widget.select("temp > 15")
    page.settle()
    one = blue()
    plot, area = page.plot, [float(v) for v in page.plot["area"].split(",")]
    assert min(y for _, y in one) < area[1] + 4
    assert max(y for _, y in one) > area[3] - 4
    page.widget.select("temp > 15 & season == 'SUMMER'")
    page.settle()
    both = blue()
    low, high = (v - plot["top"] for v in page.cells("y")[page.picture["b"]["labels"].index("SUMMER")])
    assert low - 1 <= min(y for _, y in both) <= max(y for _, y in both) <= high + 1
    assert min(x for x, _ in both) == pytest.approx(min(x for x, _ in one), abs=2)


def test_the_second_feature_is_chosen_and_given_up_again(live: Callable[..., Live]) -> None:
    page = live()
    page.widget.feature = "n"
    page.settle()
    first = page.picture["second"]
    partner = page.page.get_by_test_id("heatmap-partner")
    assert partner.input_value() == "strongest partner"
    partner.select_option("when")
    page.settle()
    assert page.widget.pair == ("n", "when")
    assert page.plot["drawn"].startswith("n|when|")
    page.widget.feature = "flag"
    page.settle()
    assert page.plot["drawn"].startswith("flag|")
    page.widget.feature = "n"
    page.settle()
    page.page.get_by_test_id("heatmap-partner").select_option("strongest partner")
    page.settle()
    assert page.widget.pair == ()
    assert page.picture["second"] == first


def test_cells_without_rows_are_hatched_and_said_to_be(live: Callable[..., Live]) -> None:
    rng = np.random.default_rng(0)
    a = rng.random(400)
    data = pd.DataFrame({"a": a, "b": a + rng.normal(scale=0.02, size=400)})
    page = live("a", "b", model=lambda X: np.full(len(X), 5.0) + 0 * X["a"].to_numpy(), data=data)
    assert "hatched" in page.text("heatmap-notes")
    page.page.mouse.move(*page.at(1, 18))
    assert "no rows near" in page.text("heatmap-readout")
    page.page.mouse.move(5, 5)
    page.page.wait_for_timeout(50)
    # The surface is flat, so that what differs is the hatching.
    assert page.colour(10, 10) != page.colour(1, 18)
    page = live("season", "n")
    assert "hatched" not in page.text("heatmap-notes")


def test_more_rows_of_a_black_box_are_a_click_away(live: Callable[..., Live], monkeypatch: pytest.MonkeyPatch) -> None:
    from pdp_widgets.widget.panels import heatmap

    monkeypatch.setattr(heatmap, "BUDGET", 20_000)
    page = live("temp", "when", model=lambda X: (time.sleep(5e-6 * len(X)), predict(X))[1])
    rows = page.picture["rows"]
    assert rows < 300
    assert f"{rows} of 300 rows" in page.text("heatmap-notes")
    page.page.get_by_test_id("heatmap-more").click()
    page.settle()
    assert page.picture["rows"] > rows


def test_a_recorded_page_shows_the_surface_and_selects_on_it(
    browser: Browser, make: Callable[..., PDPWidget], tmp_path: Any
) -> None:
    widget = make(predict, X, pair=("temp", "season"), panels=["heatmap"])
    widget._running.board.open(["heatmap"])
    path = widget.export_html(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(path.as_uri())
    plot = page.locator("[data-testid=heatmap][data-drawn]")
    plot.wait_for()
    assert page.get_by_test_id("heatmap-partner").count() == 0
    box = plot.bounding_box()
    assert box is not None
    area = [float(v) for v in (plot.get_attribute("data-area") or "").split(",")]
    page.mouse.move(box["x"] + area[2] - 10, box["y"] + area[3] - 10)
    page.mouse.down()
    page.mouse.move(box["x"] + area[0] + 120, box["y"] + area[1] + 5, steps=5)
    page.mouse.up()
    page.wait_for_timeout(300)
    assert "temp" in page.get_by_test_id("selection-text").input_value()
    page.close()


def test_how_much_is_interaction_stands_beside_the_surface(live: Callable[..., Live]) -> None:
    page = live("temp", "season", panels=["interactions", "heatmap"])
    found = Explainer(predict, X).interaction("temp", "season")
    assert page.picture["h2"] is None  # a black box: the interactions know
    share = page.page.get_by_test_id("heatmap-share")
    assert share.inner_text() == f"{100 * found.h2[0]:.0f} % of their joint effect is interaction"
    assert f"Strength {found.strength[0]:.3g}" in (share.get_attribute("title") or "")
