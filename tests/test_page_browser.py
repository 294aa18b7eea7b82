# ruff: noqa: F811
"""The page as a whole in Chromium with a real widget behind it: importance, questions, chips, bookmarks, and where things stand.

What the mouse and the keys do is looked up in Python; what the page says is compared with the explainer's own numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from stub_page import REPOSITORY, Stub
from test_heatmap_browser import Live
from widget_tools import frame, make, predict  # noqa: F401

from pdp_widgets import Explainer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from pdp_widgets import PDPWidget

pytestmark = pytest.mark.browser

X = frame(300)
y = predict(X) + np.random.default_rng(1).normal(0, 3, len(X))
AXE = REPOSITORY / "js" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture
def live(open_stub: Callable[..., Stub], make: Callable[..., PDPWidget]) -> Callable[..., Live]:
    """Makes a widget and shows it on a page."""

    def show(width: int = 1400, model: Any = predict, X: Any = X, **options: Any) -> Live:
        return Live(open_stub(width), make(model, X, **options))

    return show


def names(live: Live) -> list[str]:
    return live.page.get_by_test_id("feature").evaluate_all("nodes => nodes.map(n => n.dataset.name)")


def click(live: Live, testid: str) -> None:
    live.page.get_by_test_id(testid).first.click()
    live.settle()


# ---- importance ------------------------------------------------------------------------------------------------------


def test_features_are_sorted_by_every_measure_with_bars_in_proportion(live: Callable[..., Live]) -> None:
    on = live(y=y, panels=("importance",))
    table = Explainer(predict, X, y).importance(progress=False)
    for sort_by, measure in [
        ("total", table.pdi[0]),
        ("permutation", table.permutation[0]),
        ("weighted", table.pd_importance_weighted[0]),
        ("heterogeneity", table.heterogeneity[0]),
    ]:
        on.page.get_by_test_id("sort").select_option(sort_by)
        on.settle()
        assert on.widget.sort_by == sort_by
        order = [table.features[i] for i in np.argsort(-measure, kind="stable")]
        assert names(on)[:3] == order[:3], sort_by
        widths = on.page.locator(".pdpw-amount-all > span:first-child").evaluate_all(
            "nodes => nodes.map(n => parseFloat(n.style.width))"
        )
        by_size = np.sort(measure)[::-1]
        assert np.allclose(np.array(widths[:3]) / widths[0], by_size[:3] / by_size[0], atol=0.02), sort_by
    assert on.page.locator(".pdpw-amount-all .pdpw-whisker").count() == 0  # disagreement has no standard error
    on.page.get_by_test_id("sort").select_option("permutation")
    on.settle()
    assert on.page.locator(".pdpw-amount-all .pdpw-whisker").count() > 0
    assert "±" in str(on.page.locator(".pdpw-imp").first.get_attribute("title"))


def test_selected_rows_have_a_bar_of_their_own_and_the_order_stays(live: Callable[..., Live]) -> None:
    on = live(y=y, panels=("importance",))
    before = names(on)
    assert on.page.locator(".pdpw-amount-sel").count() == 0
    on.widget.select("season == 'SUMMER'")
    on.settle()
    assert names(on) == before
    part = Explainer(predict, X).partial_dependence("temp", subgroup="season == 'SUMMER'").average[0]
    grid = Explainer(predict, X).grid("temp")
    expected = part[grid.ordered].std(ddof=1)
    title = on.page.locator('[data-testid=feature][data-name="temp"] .pdpw-imp').get_attribute("title")
    assert f"selection {expected:.3g}" in str(title)
    assert on.page.locator(".pdpw-amount-sel").count() > 0


def test_a_measure_that_needs_an_outcome_says_so(live: Callable[..., Live]) -> None:
    on = live(panels=("importance",))
    option = on.page.locator('[data-testid=sort] option[value="permutation"]')
    assert option.is_disabled()
    assert "y" in str(option.get_attribute("title"))
    assert on.page.locator('[data-testid=sort] option[value="total"]').is_enabled()
    on.widget.sort_by = "permutation"  # from Python one gets the reason, not an empty list
    on.settle()
    assert on.page.get_by_test_id("sort-reason").inner_text() == option.get_attribute("title")


# ---- questions -------------------------------------------------------------------------------------------------------


def test_questions_arrange_the_page_and_say_what_there_is_to_see(live: Callable[..., Live]) -> None:
    on = live(y=y, panels=("effects", "regions", "importance"), feature="when", sort_by="name")
    answer = on.page.get_by_test_id("answer")
    click(on, "ask-disagree")
    assert (on.widget.feature, on.widget.sort_by) == ("when", "name"), "nobody has asked for another feature or order"
    assert (on.widget.centered, on.widget.show_ice) == (True, True)
    click(on, "ask-matters")
    explainer = Explainer(predict, X)
    size = {name: float(explainer.partial_dependence(name).importance[0]) for name in explainer.features}
    first = max(size, key=size.__getitem__)
    assert (on.widget.feature, on.widget.sort_by) == ("when", "importance")
    assert answer.inner_text().startswith(f"{first} moves the average prediction most, by {size[first]:.2g} ")

    click(on, "ask-disagree")
    table = explainer.importance(progress=False)
    most = table.features[int(np.argmax(table.heterogeneity[0]))]
    assert f"Rows disagree most on {most}" in answer.inner_text()
    click(on, "answer-show")
    on.settle()
    assert on.widget.feature == most
    assert f"Rows disagree most on {most}" in answer.inner_text(), "it is about what is shown now"
    on.widget.feature = "when"
    on.settle()
    assert answer.count() == 0, "it was about what was done before"
    click(on, "ask-matters")
    on.widget.select("temp > 15")
    on.settle()
    assert answer.count() == 0
    on.widget.clear()

    on.widget.feature = "temp"
    on.settle()
    assert on.page.get_by_test_id("ask-interacts").inner_text() == "what interacts with temp?"
    click(on, "ask-interacts")
    assert "interactions" in on.widget.panels  # was not shown before
    on.settle()
    # As predict is made.
    assert answer.inner_text().startswith("temp interacts most with season")

    click(on, "ask-rules")
    on.settle()
    assert "rules" in on.widget.panels
    assert "terms describe the model" in answer.inner_text() or "One term" in answer.inner_text()
    assert on.page.get_by_test_id("panel-rules").is_visible()
    box = answer.bounding_box()
    assert box
    assert 0 <= box["y"] < on.page.viewport_size["height"] - box["height"], "one is led to the answer"  # type: ignore[index]
    click(on, "answer-dismiss")
    assert answer.count() == 0


# ---- chips and bookmarks ---------------------------------------------------------------------------------------------


def test_chips_say_the_selection_and_take_parts_of_it_back(live: Callable[..., Live]) -> None:
    on = live(panels=())
    on.widget.select("temp > 10 & season in ['SUMMER', 'FALL'] & (n == 1 | flag == True)")
    on.settle()
    chips = on.page.get_by_test_id("chip")
    assert [text.rstrip("×").strip() for text in chips.all_inner_texts()] == [
        "temp > 10",
        "season = SUMMER, FALL",
        "n = 1 or flag = True",
    ]
    chips.nth(1).get_by_test_id("chip-remove").click()
    on.settle()
    assert on.widget.selection.n == ((X.temp > 10) & ((X.n == 1) | X.flag)).sum()
    # A click on a chip gives the text to change, with its part marked.
    chips.nth(0).locator("button").first.click()
    text = on.page.get_by_test_id("selection-text")
    assert text.evaluate("n => n.value.slice(n.selectionStart, n.selectionEnd)") == "temp > 10"
    on.page.keyboard.type("temp > 20")
    on.page.keyboard.press("Enter")
    on.settle()
    assert on.widget.selection.n == ((X.temp > 20) & ((X.n == 1) | X.flag)).sum()
    while chips.count():
        on.page.get_by_test_id("chip-remove").first.click()
        on.settle()
    assert not on.widget.selection
    on.widget.undo()
    on.settle()
    assert chips.count() == 1


def test_the_text_is_reached_and_left_by_keys(live: Callable[..., Live]) -> None:
    on = live(panels=())
    on.widget.select("temp > 10")
    on.settle()
    text = on.page.get_by_test_id("selection-text")
    text.focus()
    assert on.page.get_by_test_id("chips").count() == 0
    assert text.evaluate("n => getComputedStyle(n).color") != "rgba(0, 0, 0, 0)"
    on.page.keyboard.press("Tab")
    assert on.page.get_by_test_id("chips").is_visible()


def test_a_selection_is_named_restored_and_combined(live: Callable[..., Live]) -> None:
    on = live(panels=())
    on.widget.select("season == 'SUMMER'")
    on.settle()
    click(on, "bookmarks-open")
    name = on.page.get_by_test_id("bookmark-name")
    name.click()  # a suggestion, to be typed over
    assert name.evaluate("n => n.selectionStart === 0 && n.selectionEnd === n.value.length && n.value !== ''")
    assert name.input_value() == "season = SUMMER"
    name.fill("summer")
    name.press("Enter")
    on.settle()
    assert on.widget.bookmarks == {"summer": "season == 'SUMMER'"}
    row = on.page.locator('[data-testid=bookmark][data-name="summer"]')
    assert f"n {(X.season == 'SUMMER').sum()}" in row.inner_text()

    on.widget.bookmark("warm", "temp > 15")
    on.widget.clear()
    on.settle()
    warm = on.page.locator('[data-testid=bookmark][data-name="warm"]')
    assert warm.get_by_test_id("bookmark-and").is_disabled()  # with nothing
    warm.get_by_test_id("bookmark-select").click()
    on.settle()
    assert (on.widget.selection.mask == (X.temp > 15)).all()
    for how, expected in [
        ("and", (X.temp > 15) & (X.season == "SUMMER")),
        ("or", (X.temp > 15) | (X.season == "SUMMER")),
        ("not", (X.temp > 15) & ~(X.season == "SUMMER")),
    ]:
        on.widget.select("temp > 15")
        on.settle()
        row.get_by_test_id(f"bookmark-{how}").click()
        on.settle()
        assert (on.widget.selection.mask == expected).all(), how

    note = row.get_by_test_id("bookmark-note")
    note.fill("school holidays")
    note.press("Enter")
    on.settle()
    assert on.widget.notes == {"summer": "school holidays"}
    row.get_by_test_id("bookmark-rename").click()
    on.page.get_by_test_id("bookmark-rename-to").fill("June to August")
    on.page.keyboard.press("Enter")
    on.settle()
    assert on.widget.bookmarks == {"June to August": "season == 'SUMMER'", "warm": "temp > 15"}
    assert on.widget.notes == {"June to August": "school holidays"}
    warm.get_by_test_id("bookmark-delete").click()
    on.settle()
    assert list(on.widget.bookmarks) == ["June to August"]


# ---- where things stand ----------------------------------------------------------------------------------------------


def width_of(on: Live, selector: str) -> float:
    box = on.page.locator(selector).bounding_box()
    assert box
    return box["width"]


def test_columns_are_moved_by_pointer_and_keys_and_taken_back(live: Callable[..., Live]) -> None:
    on = live(panels=("interactions", "heatmap"))
    before = width_of(on, ".pdpw-features")
    divider = on.page.get_by_test_id("divider-features")
    box = divider.bounding_box()
    assert box
    on.stub.drag((box["x"] + 4, box["y"] + 100), (box["x"] + 84, box["y"] + 100))
    assert width_of(on, ".pdpw-features") == pytest.approx(before + 80, abs=2)
    on.page.keyboard.press("ArrowLeft")
    assert width_of(on, ".pdpw-features") == pytest.approx(before + 64, abs=2)
    assert divider.get_attribute("aria-valuenow") == str(round(width_of(on, ".pdpw-features")))
    on.page.keyboard.press("Home")
    assert width_of(on, ".pdpw-features") == float(str(divider.get_attribute("aria-valuemin")))
    divider.dblclick()
    assert width_of(on, ".pdpw-features") == pytest.approx(before, abs=1)
    side = width_of(on, ".pdpw-side")
    on.page.get_by_test_id("divider-side").focus()
    on.page.keyboard.press("Shift+ArrowLeft")
    assert width_of(on, ".pdpw-side") == pytest.approx(side + 64, abs=2)  # the line went left
    assert on.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_upper_part_gives_room_to_the_rules(live: Callable[..., Live]) -> None:
    on = live(panels=("effects", "interactions", "rules"))
    top = on.page.get_by_test_id("panel-rules").bounding_box()
    divider = on.page.get_by_test_id("divider-height")
    box = divider.bounding_box()
    assert top
    assert box
    on.stub.drag((box["x"] + 300, box["y"] + 4), (box["x"] + 300, box["y"] - 146))
    after = on.page.get_by_test_id("panel-rules").bounding_box()
    assert after
    assert after["y"] == pytest.approx(top["y"] - 150, abs=2)
    divider.dblclick()
    after = on.page.get_by_test_id("panel-rules").bounding_box()
    assert after
    assert after["y"] == pytest.approx(top["y"], abs=2)


def test_what_fills_the_page_is_in_view_and_the_page_goes_back(live: Callable[..., Live]) -> None:
    on = live(panels=("heatmap",))
    on.page.add_style_tag(content="body::before, body::after { content: ''; display: block; height: 3000px; }")
    on.page.get_by_test_id("full-heatmap").scroll_into_view_if_needed()
    on.page.wait_for_timeout(100)
    before = on.page.evaluate("scrollY")
    on.page.get_by_test_id("full-heatmap").click()
    on.page.wait_for_timeout(150)
    assert 0 <= on.page.get_by_test_id("full-heatmap").bounding_box()["y"] < 980  # type: ignore[index]
    on.page.keyboard.press("Escape")
    on.page.wait_for_timeout(150)
    assert on.page.evaluate("scrollY") == before


@pytest.mark.parametrize("width", [700, 950, 1150, 1400])
def test_a_selection_moves_nothing_below_it(live: Callable[..., Live], width: int) -> None:
    on = live(width, panels=())
    height = "document.querySelector('.pdpw-selection').getBoundingClientRect().height"
    before = on.page.evaluate(height)
    for text in ("temp > 15", "temp > 15 & season == 'SUMMER'", "temp > 15 & season == 'SUMMER' & n >= 0"):
        on.widget.select(text)
        on.settle()
        assert on.page.get_by_test_id("chip").count() == text.count("&") + 1
        assert on.page.evaluate(height) == before, text


def test_panels_fold_and_fill_the_page(live: Callable[..., Live]) -> None:
    on = live(panels=("interactions", "heatmap"))
    on.widget.select("temp > 15")
    on.settle()
    fold = on.page.get_by_test_id("fold-interactions")
    fold.click()
    assert fold.get_attribute("aria-expanded") == "false"
    assert not on.page.get_by_test_id("matrix").is_visible()
    on.page.get_by_test_id("ask-interacts").click()  # unfolds what answers
    on.page.get_by_test_id("matrix").wait_for()
    narrow = width_of(on, "[data-testid=heatmap]")
    on.page.get_by_test_id("full-heatmap").click()
    on.page.wait_for_timeout(100)
    assert width_of(on, "[data-testid=heatmap]") > 2 * narrow
    assert not on.page.get_by_test_id("curves").is_visible()
    on.page.keyboard.press("Escape")
    on.page.wait_for_timeout(100)
    assert on.page.get_by_test_id("curves").is_visible()
    assert width_of(on, "[data-testid=heatmap]") == pytest.approx(narrow, abs=2)
    on.settle()
    assert on.widget.selection.n == (X.temp > 15).sum()  # Escape went back, and cleared nothing
    on.page.keyboard.press("Escape")
    on.settle()
    assert not on.widget.selection


@pytest.mark.parametrize("width", [600, 760, 1000, 1180, 1400, 1700, 2000])
def test_nothing_sticks_out_at_any_width(live: Callable[..., Live], width: int) -> None:
    on = live(width, y=y, sort_by="total")
    on.widget.select("temp > 15 & season in ['SUMMER', 'FALL'] & n >= 1 & when > '2024-01-10'")
    on.settle()
    on.page.get_by_test_id("ask-matters").click()
    on.page.wait_for_timeout(150)
    wide = on.page.evaluate(
        """() => [...document.querySelectorAll('.pdpw *')].filter(node => {
            const box = node.getBoundingClientRect();
            return box.width > 0 && box.right > innerWidth + 1 && !node.closest('.pdpw-hidden');
        }).map(node => node.className || node.tagName)"""
    )
    assert wide == []
    # Columns do not run into each other.
    boxes = on.page.locator(".pdpw-features, .pdpw-focus, .pdpw-place").evaluate_all(
        "nodes => nodes.map(n => { const b = n.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = a[0] >= b[2] - 1 or b[0] >= a[2] - 1 or a[1] >= b[3] - 1 or b[1] >= a[3] - 1
            assert apart, (a, b)


@pytest.mark.parametrize("width", [600, 1000, 1500])
def test_long_names_stay_on_the_page_and_off_each_other(live: Callable[..., Live], width: int) -> None:
    long = frame(120).rename(columns={"temp": "t" * 300, "season": "<i>season</i>" * 20})
    on = live(
        width, model=lambda X: predict(X.set_axis(frame(1).columns, axis=1)), X=long, feature="n", pair=["n", "t" * 300]
    )
    assert on.page.evaluate("document.documentElement.scrollWidth") <= width
    assert on.page.get_by_test_id("elsewhere-feature").count() > 0
    overlaps = on.page.locator(".pdpw-panel > .pdpw-head").evaluate_all(
        "heads => heads.filter(h => h.querySelector('.pdpw-fold').getBoundingClientRect().right > "
        "Math.min(...[...h.querySelectorAll('.pdpw-head-end button, .pdpw-head-end select')]"
        ".map(n => n.getBoundingClientRect()).filter(b => b.top < h.querySelector('.pdpw-fold').getBoundingClientRect().bottom)"
        ".map(b => b.left)) + 1).map(h => h.textContent.slice(0, 40))"
    )
    assert overlaps == []


def test_a_part_of_the_page_shows_that_part_on_the_same_state(live: Callable[..., Live]) -> None:
    on = live(panels=("interactions", "heatmap"))
    on.page.evaluate(
        """async () => {
            const { view } = await import('/widget.js');
            const el = document.createElement('div');
            el.id = 'elsewhere';
            document.body.append(el);
            stub.end = view(stub.widgets[0].model, el, ['heatmap']);
        }"""
    )
    part = on.page.locator("#elsewhere")
    part.locator("[data-testid=heatmap][data-drawn]").wait_for()
    assert part.get_by_test_id("curves").count() == part.get_by_test_id("features").count() == 0
    on.page.locator(".host").get_by_test_id("feature").first.click()
    on.widget.select("temp > 15")
    on.settle()
    assert part.get_by_test_id("selection-n").get_attribute("data-n") == str((X.temp > 15).sum())
    part.get_by_test_id("clear").click()
    on.settle()
    assert not on.widget.selection
    on.page.evaluate("stub.end()")
    assert part.locator(".pdpw").count() == 0


# ---- accessibility ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 1400), ("light", 700), ("dark", 1800)])
def test_axe_finds_nothing_serious(live: Callable[..., Live], theme: str, width: int) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: cd js && npm ci")
    on = live(width, y=y, theme=theme, bookmarks={"summer": "season == 'SUMMER'"})
    on.widget.select("temp > 15 & season == 'SUMMER'")
    on.settle()
    on.page.get_by_test_id("bookmarks-open").click()
    on.page.get_by_test_id("ask-matters").click()
    on.settle()
    on.page.evaluate("theme => { document.body.style.background = theme === 'dark' ? '#111' : '#fff'; }", theme)
    on.page.add_script_tag(content=Path(AXE).read_text(encoding="utf-8"))
    found = on.page.evaluate("() => axe.run(document.querySelector('.host'))")
    serious = [
        f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]
    assert not serious, "\n".join(serious)
    assert len(found["passes"]) > 15  # it did look


def test_motion_is_reduced_on_request(browser: Browser, live: Callable[..., Live]) -> None:
    on = live(panels=())
    on.page.emulate_media(reduced_motion="reduce")
    durations = on.page.evaluate(
        "() => [...document.querySelectorAll('.pdpw *')].map(n => getComputedStyle(n).transitionDuration)"
    )
    assert set(durations) == {"0s"}
