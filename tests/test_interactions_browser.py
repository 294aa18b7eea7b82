"""The interactions panel in Chromium: on the stub host with a picture made here, and in a real JupyterLab with a kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import nbformat
import numpy as np
import pytest
from stub_page import BUNDLE, Stub
from widget_page import WidgetOnPage

from pdp_widgets.widget.wire import pack, to_base64

if TYPE_CHECKING:
    from lab import Lab
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

FEATURES = ["temp", "season", "hour", "humidity", "weather", "workday", "city"]
STRONG = {("temp", "hour"): 4.0, ("temp", "humidity"): 3.0, ("season", "weather"): 2.0, ("temp", "city"): 1.0}
"""All other pairs do not interact."""


@pytest.fixture
def stub(browser: Browser) -> Iterator[Stub]:
    """A stub host of 1400 x 1000; the test fails if the page logged an error."""
    if not BUNDLE.is_file():
        pytest.fail("the bundle is not built: cd js && npm ci && npm run build", pytrace=False)
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    stub = Stub(context.new_page())
    yield stub
    errors = stub.errors
    context.close()
    assert errors == []


def picture(
    *, done: int | None = None, state: str = "done", features: list[str] = FEATURES, **over: Any
) -> dict[str, Any]:
    """A picture with the pairs of STRONG; the last ones are not computed when ``done`` says so."""
    ordered = sorted(
        combinations(range(len(features)), 2), key=lambda p: -STRONG.get((features[p[0]], features[p[1]]), 0)
    )
    strength = np.array([STRONG.get((features[a], features[b]), 0.0) for a, b in ordered])
    h2 = np.where(strength == 3, 1.25, strength / 10)
    done = len(ordered) if done is None else done
    for values in (strength, h2):
        values[done:] = np.nan
    made = {
        "output": "count", "features": features, "left_out": 0, "pairs": pack(np.array(ordered), "int32"), "pairs_done": done,
        "h2": pack(h2, "float32"), "h2_stderr": pack(h2 / 10, "float32"), "strength": pack(strength, "float32"),
        "strength_stderr": pack(strength / 10, "float32"), "dependent": pack(h2 > 1, "uint8"),
        "overall_h2": pack(np.zeros(len(features)), "float32"), "overall_strength": pack(np.full(len(features), 5.0), "float32"),
        "main_strength": pack(np.arange(len(features), 0, -1) * 2.0, "float32"), "total_h2": 0.07, "total_h2_stderr": 0.01,
        "rows": 500, "rows_total": 1000, "method": "exact sums over trees", "scale": "prediction", "more": None, "refining": None,
        "status": {"state": state, "message": None, "cost": 0, "stale": False},
    }  # fmt: skip
    return to_base64(made | over)


def show(stub: Stub, **options: Any) -> None:
    stub.open(traits={"panels": ["interactions"], "_interactions": picture(**options)})
    stub.page.get_by_test_id("matrix").or_(stub.page.get_by_test_id("network")).wait_for()
    settle(stub)


def settle(stub: Stub) -> None:
    stub.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def drawn(stub: Stub, testid: str, name: str) -> Any:
    return stub.page.get_by_test_id(testid).evaluate("(node, name) => node.dataset[name]", name)


def order(stub: Stub) -> list[str]:
    return list(json.loads(drawn(stub, "matrix", "features")))


def cell(stub: Stub, a: str, b: str, where: tuple[float, float] = (0.5, 0.5)) -> tuple[float, float]:
    """A point of a pair's cell in the window."""
    names, size = order(stub), float(drawn(stub, "matrix", "size"))
    row, column = sorted((names.index(a), names.index(b)), reverse=True)
    node = stub.page.get_by_test_id("matrix")
    node.scroll_into_view_if_needed()
    box = node.bounding_box()
    assert box is not None
    return box["x"] + (column + where[0]) * size, box["y"] + (row + where[1]) * size


def colour(stub: Stub, a: str, b: str, where: tuple[float, float] = (0.15, 0.8)) -> tuple[int, ...]:
    """The colour drawn at a place of a pair's cell."""
    names, size = order(stub), float(drawn(stub, "matrix", "size"))
    row, column = sorted((names.index(a), names.index(b)), reverse=True)
    return tuple(
        stub.page.get_by_test_id("matrix").evaluate(
            """(node, [x, y]) => {
                const canvas = node.querySelector("canvas"), ratio = canvas.width / canvas.clientWidth;
                return [...canvas.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data];
            }""",
            [(column + where[0]) * size, (row + where[1]) * size],
        )
    )


def saved(stub: Stub, *names: str) -> list[list[Any]]:
    return [[name, value] for name, value in stub.call("saved") if name in names]


def hues(stub: Stub) -> dict[str, str]:
    return {
        name: stub.page.evaluate(
            f"getComputedStyle(document.querySelector('.pdpw')).getPropertyValue('--pdpw-{name}')"
        ).strip()
        for name in ("pair-0", "pair-1", "own-0", "own-1")
    }


def rgb(text: str) -> tuple[int, ...]:
    return tuple(int(text[k : k + 2], 16) for k in (1, 3, 5))


# ---- matrix ------------------------------------------------------------------------------------------------------------


def test_first_picture_says_how_additive_the_model_is_and_draws_every_pair(stub: Stub) -> None:
    show(stub)
    assert stub.text("additive").strip() == "The model is 93 % additive."
    assert "1 − total H² = 0.930 ± 0.0100" in (stub.page.get_by_test_id("additive").get_attribute("title") or "")
    assert stub.text("pair-rows") == "500 of 1,000 rows"
    assert "whatever is selected" in (
        stub.page.get_by_test_id("panel-interactions").locator("h3").get_attribute("title") or ""
    )
    assert order(stub) == FEATURES
    tones = hues(stub)
    assert colour(stub, "temp", "hour")[:3] == rgb(tones["pair-1"])  # the strongest
    assert colour(stub, "season", "hour")[:3] == rgb(tones["pair-0"])  # computed, and none
    assert colour(stub, "temp", "temp")[:3] == rgb(tones["own-1"])  # the most important, in colours of its own
    half = [round((low + high) / 2) for low, high in zip(rgb(tones["pair-0"]), rgb(tones["pair-1"]), strict=True)]
    assert colour(stub, "season", "weather")[:3] == pytest.approx(half, abs=1)  # 2 of 4


def test_click_on_a_pair_opens_it_and_on_the_diagonal_focuses(stub: Stub) -> None:
    show(stub)
    stub.page.mouse.click(*cell(stub, "season", "weather"))
    assert saved(stub, "pair", "feature") == [["pair", ["season", "weather"]], ["feature", "season"]]
    stub.page.mouse.click(*cell(stub, "temp", "season"))  # the focused feature stays in focus and comes first
    assert saved(stub, "pair", "feature")[2:] == [["pair", ["season", "temp"]]]
    stub.page.mouse.click(*cell(stub, "hour", "hour"))
    assert saved(stub, "pair", "feature")[3:] == [["feature", "hour"]]
    x, y = cell(stub, "city", "city")
    stub.page.mouse.click(x + float(drawn(stub, "matrix", "size")), y)  # its name
    assert saved(stub, "pair", "feature")[4:] == [["feature", "city"]]


def test_hover_reads_out_strength_error_and_share(stub: Stub) -> None:
    show(stub)
    stub.page.mouse.move(*cell(stub, "temp", "hour"))
    settle(stub)
    assert stub.text("pair-read") == "temp × hour: strength 4.00 ± 0.40, 40 % ± 4 % of their joint effect"
    assert drawn(stub, "matrix", "at") == "2,0"
    stub.page.mouse.move(*cell(stub, "season", "hour"))
    assert stub.text("pair-read") == "season × hour: no interaction"
    stub.page.mouse.move(*cell(stub, "temp", "temp"))
    assert stub.text("pair-read") == "temp: own effect 14.0, together with others 5.00"
    stub.page.mouse.move(5, 5)
    assert stub.text("pair-read").startswith("click a pair")


def test_shares_above_one_are_flagged(stub: Stub) -> None:
    show(stub)
    stub.page.mouse.move(*cell(stub, "temp", "humidity"))
    assert stub.text("pair-read").endswith(
        "125 % ± 13 % of their joint effect; these features depend on each other, or do next to nothing together"
    )
    stub.page.mouse.move(5, 5)
    settle(stub)
    corner = (0.88, 0.06)
    assert colour(stub, "temp", "humidity", corner) != colour(stub, "temp", "humidity")
    assert colour(stub, "temp", "hour", corner) == colour(stub, "temp", "hour")
    assert "above 100 %" in stub.text("panel-interactions")


def test_keys_move_over_the_cells_and_open(stub: Stub) -> None:
    show(stub)
    stub.page.get_by_test_id("matrix").focus()
    stub.page.keyboard.press("ArrowDown")  # enters at the focused feature
    assert stub.text("spoken").startswith("temp: own effect")
    for key in ("ArrowUp", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        stub.page.keyboard.press(key)
    settle(stub)
    assert drawn(stub, "matrix", "at") == "2,0"
    assert stub.text("spoken").startswith("temp × hour: strength 4.00")
    stub.page.keyboard.press("Enter")
    assert saved(stub, "pair", "feature") == [["pair", ["temp", "hour"]]]
    assert stub.text("spoken") == "temp and hour shown together"
    stub.call("answer", {"id": 1, "text": "temp > 20", "n": 321, "split": False})
    stub.page.keyboard.press("Escape")  # leaves the cell, not the selection
    settle(stub)
    assert drawn(stub, "matrix", "at") == ""
    assert stub.requests("clear") == []


def test_while_pairs_come_in_nothing_moves_and_unknown_is_hatched(stub: Stub) -> None:
    show(stub, done=2, state="running")
    before = order(stub), drawn(stub, "matrix", "size")
    assert stub.text("pair-rows") == "500 of 1,000 rows · 2 of 21 pairs"
    places = [(x / 12, y / 12) for x in range(1, 10) for y in range(1, 10)]
    assert len({colour(stub, "season", "weather", place) for place in places}) > 1  # hatched
    assert len({colour(stub, "temp", "city", place)[3] for place in places}) > 1
    stub.page.mouse.move(*cell(stub, "season", "weather"))
    assert stub.text("pair-read") == "season × weather: not computed"
    partners = stub.page.get_by_test_id("partner").evaluate_all("nodes => nodes.map(n => n.dataset.name)")
    assert partners[:2] == ["hour", "humidity"]
    first = colour(stub, "temp", "hour")
    stub.call("set", "_interactions", picture(done=3, state="running"))
    settle(stub)
    assert (order(stub), drawn(stub, "matrix", "size")) == before
    assert colour(stub, "temp", "hour") == first  # the scale does not change with each pair
    assert stub.page.get_by_test_id("partner").evaluate_all("nodes => nodes.map(n => n.dataset.name)") == partners
    stub.call("set", "_interactions", picture())
    settle(stub)
    assert (order(stub), drawn(stub, "matrix", "size")) == before
    assert colour(stub, "temp", "hour") != first  # once, at the end


def test_what_interacts_can_stand_together(stub: Stub) -> None:
    show(stub)
    toggle = stub.page.get_by_test_id("seriate")
    toggle.click()
    settle(stub)
    grouped = order(stub)
    assert sorted(grouped) == sorted(FEATURES)
    assert abs(grouped.index("season") - grouped.index("weather")) == 1
    block = sorted(grouped.index(name) for name in ("temp", "hour", "humidity", "city"))
    assert block == list(range(block[0], block[0] + 4))
    stub.page.mouse.click(*cell(stub, "season", "weather"))
    assert saved(stub, "pair") == [["pair", ["season", "weather"]]]
    toggle.focus()
    stub.page.keyboard.press("Enter")
    settle(stub)
    assert order(stub) == FEATURES


def test_strength_or_share(stub: Stub) -> None:
    show(stub)
    before = colour(stub, "temp", "hour")
    stub.page.get_by_test_id("measure-h2").click()
    settle(stub)
    # 0.4 of a scale that ends at 1, since one share is above it
    assert colour(stub, "temp", "hour") != before
    assert colour(stub, "temp", "humidity")[:3] == rgb(hues(stub)["pair-1"])
    assert "0 to 100 %" in stub.text("panel-interactions")
    stub.page.get_by_test_id("measure-strength").click()
    settle(stub)
    assert colour(stub, "temp", "hour") == before


def test_each_view_keeps_its_own_way(stub: Stub) -> None:
    show(stub)
    stub.page.get_by_test_id("seriate").click()
    stub.page.get_by_test_id("view-network").click()
    stub.page.get_by_test_id("network").wait_for()
    stub.page.get_by_test_id("view-matrix").click()
    settle(stub)
    assert order(stub) != FEATURES
    assert saved(stub, "pair", "feature") == []  # nobody else hears of it


# ---- partners ----------------------------------------------------------------------------------------------------------


def test_partners_of_the_focused_feature_are_sorted_and_follow_the_focus(stub: Stub) -> None:
    show(stub)
    names = "nodes => nodes.map(n => n.dataset.name)"
    partner = stub.page.get_by_test_id("partner")
    assert partner.evaluate_all(names) == ["hour", "humidity", "city", "season", "weather"]
    stub.page.get_by_test_id("partners-all").click()
    assert partner.count() == 6
    assert partner.first.get_attribute("title") == "temp × hour: strength 4.00 ± 0.40, 40 % ± 4 % of their joint effect"
    widths = partner.evaluate_all("nodes => nodes.map(n => n.querySelector('.pdpw-strength > span').offsetWidth)")
    assert widths[1] / widths[0] == pytest.approx(3 / 4, abs=0.02)
    partner.nth(1).click()
    assert saved(stub, "pair", "feature") == [["pair", ["temp", "humidity"]]]
    assert partner.nth(1).get_attribute("aria-pressed") == "true"
    starts = partner.evaluate_all(
        "nodes => nodes.map(n => n.querySelector('.pdpw-strength').getBoundingClientRect().left)"
    )
    assert max(starts) - min(starts) < 0.5, "bars are compared, that of the pair on screen, too"
    stub.page.locator("[data-testid=feature][data-name=season]").click()
    assert partner.evaluate_all(names)[0] == "weather"
    stub.page.locator("[data-testid=feature][data-name=workday]").click()
    assert stub.text("partners") == "workday acts alone: it interacts with no other feature."
    stub.page.locator("[data-testid=feature][data-name=tiny]").click()  # not in the picture
    assert "tiny is none of the features" in stub.text("panel-interactions")


def test_the_surface_s_own_pair_is_marked(stub: Stub) -> None:
    show(stub)
    before = stub.page.get_by_test_id("partner").nth(1).get_attribute("aria-pressed")
    status = {"state": "done", "message": None, "cost": 0, "stale": False}
    stub.call("set", "_heatmap", {"first": "temp", "second": "humidity", "status": status})
    stub.page.locator("[data-testid=partner][data-name=humidity][aria-pressed=true]").wait_for()
    assert before == "false"
    stub.page.mouse.click(*cell(stub, "temp", "hour"))  # a chosen one goes before
    stub.page.locator("[data-testid=partner][data-name=hour][aria-pressed=true]").wait_for()
    assert stub.page.locator("[data-testid=partner][aria-pressed=true]").count() == 1


# ---- network -----------------------------------------------------------------------------------------------------------


def nodes(stub: Stub) -> dict[str, dict[str, Any]]:
    settle(stub)
    return {node["name"]: node for node in json.loads(drawn(stub, "network", "nodes"))}


def network(stub: Stub, **options: Any) -> tuple[float, float]:
    show(stub, **options)
    stub.page.get_by_test_id("view-network").click()
    shown = stub.page.get_by_test_id("network")
    shown.scroll_into_view_if_needed()
    settle(stub)
    box = shown.bounding_box()
    assert box is not None
    return box["x"], box["y"]


def test_network_shows_the_strongest_pairs_and_hides_who_acts_alone(stub: Stub) -> None:
    network(stub)
    assert set(nodes(stub)) == {name for pair in STRONG for name in pair}  # no workday
    assert drawn(stub, "network", "edges") == "4"
    slider = stub.page.get_by_test_id("edges-least")
    slider.focus()
    stub.page.keyboard.press("Home")
    assert stub.text("edges-text") == "1 strongest pair, 4.00 or more"
    assert set(nodes(stub)) == {"temp", "hour"}
    stub.page.keyboard.press("ArrowRight")
    assert set(nodes(stub)) == {"temp", "hour", "humidity"}
    assert slider.get_attribute("aria-valuetext") == "2 strongest pairs, 3.00 or more"
    sizes = nodes(stub)
    assert sizes["temp"]["r"] > sizes["hour"]["r"] > sizes["humidity"]["r"]  # by importance
    before = sizes
    stub.page.keyboard.press("ArrowRight")
    stub.page.keyboard.press("ArrowLeft")
    assert nodes(stub) == before  # the same every time


def test_clicks_and_keys_on_the_network(stub: Stub) -> None:
    left, top = network(stub)
    at = nodes(stub)
    (x0, y0), (x1, y1) = ((at[name]["x"], at[name]["y"]) for name in ("season", "weather"))
    stub.page.mouse.move(left + (x0 + x1) / 2, top + (y0 + y1) / 2)
    assert stub.text("pair-read").startswith("season × weather: strength 2.00")
    stub.page.mouse.click(left + (x0 + x1) / 2, top + (y0 + y1) / 2)
    assert saved(stub, "pair", "feature") == [["pair", ["season", "weather"]], ["feature", "season"]]
    stub.page.mouse.click(left + at["humidity"]["x"], top + at["humidity"]["y"])
    assert saved(stub, "pair", "feature")[2:] == [["feature", "humidity"]]
    stub.page.get_by_test_id("network").focus()
    stub.page.keyboard.press("ArrowRight")
    assert stub.text("spoken").startswith("temp × hour")
    stub.page.keyboard.press("ArrowRight")
    stub.page.keyboard.press("Enter")  # the focused one comes first
    assert saved(stub, "pair", "feature")[3:] == [["pair", ["humidity", "temp"]]]
    stub.page.keyboard.press("ArrowDown")
    assert stub.text("spoken").startswith("temp: own effect")


def test_labels_of_a_crowded_network_do_not_overlap(stub: Stub) -> None:
    names = [f"a rather long name {k}" for k in range(24)]
    ring = list(combinations(range(24), 2))
    strength = np.array([1 + (a * 7 + b * 5) % 11 for a, b in ring], dtype=float)
    packed = {name: pack(strength / 20, "float32") for name in ("h2", "h2_stderr", "strength_stderr")}
    of_features = {name: pack(np.ones(24), "float32") for name in ("overall_h2", "overall_strength", "main_strength")}
    network(stub, features=names, pairs=pack(np.array(ring), "int32"), strength=pack(strength, "float32"),
            dependent=pack(strength > 99, "uint8"), **packed, **of_features)  # fmt: skip
    stub.page.get_by_test_id("edges-least").fill("60")
    shown = [node for node in nodes(stub).values() if node["label"]]
    assert len(shown) >= 5
    text = float(stub.page.evaluate("parseFloat(getComputedStyle(document.querySelector('.pdpw')).fontSize)"))
    for one, other in combinations(shown, 2):
        (x0, y0), (x1, y1) = one["label"], other["label"]
        assert abs(y0 - y1) >= text * 1.1 or abs(x0 - x1) > 60


def test_network_waits_until_all_pairs_are_known(stub: Stub) -> None:
    show(stub, done=2, state="running")
    stub.page.get_by_test_id("view-network").click()
    assert stub.page.get_by_test_id("network").count() == 0
    stub.call("set", "_interactions", picture(done=2, state="stopped"))
    stub.page.get_by_test_id("network").wait_for()
    assert set(nodes(stub)) == {"temp", "hour", "humidity"}


# ---- states ------------------------------------------------------------------------------------------------------------


def test_asks_before_it_costs_much_and_offers_more_rows(stub: Stub) -> None:
    ask = {"status": {"state": "ask", "message": None, "cost": 12_500_000, "stale": False}}
    stub.open(traits={"panels": ["interactions"], "_interactions": ask})
    assert "Needs 12,500,000 predictions of the model." in stub.text("interactions-ask")
    stub.page.get_by_test_id("compute-interactions").click()
    assert stub.wait_requests("compute", 1)[0]["params"] == {"panel": "interactions"}
    stub.call("set", "_interactions", picture(more=5_000_000))
    more = stub.page.get_by_test_id("more")
    assert more.get_attribute("title") == "Needs 5,000,000 predictions of the model"
    more.click()
    assert len(stub.wait_requests("compute", 2)) == 2
    stub.call("set", "_interactions", picture(state="running", refining=0.4))
    assert stub.text("pair-rows") == "500 of 1,000 rows · more rows: 40 %"
    assert more.count() == 0


def test_without_a_kernel_the_saved_picture_is_drawn(stub: Stub) -> None:
    stub.open(dead=True, traits={"panels": ["interactions"], "_interactions": picture(more=5_000_000)})
    settle(stub)
    assert order(stub) == FEATURES
    assert stub.page.get_by_test_id("more").count() == 0
    assert stub.text("additive").startswith("The model is 93 %")


@pytest.mark.parametrize(
    ("over", "text"),
    [
        ({"total_h2": 0.0, "total_h2_stderr": 0.0}, "100 % additive"),
        ({"total_h2": 1.3}, "depend on each other"),
        ({"total_h2": None}, None),
    ],
)
def test_additivity_in_words(stub: Stub, over: dict[str, Any], text: str | None) -> None:
    show(stub, **over)
    if text is None:
        assert stub.page.get_by_test_id("additive").count() == 0
    else:
        assert text in stub.text("additive")


def test_nothing_outlives_the_view(stub: Stub) -> None:
    before = stub.call("leftovers")
    show(stub)
    stub.page.get_by_test_id("view-network").click()
    settle(stub)
    stub.page.get_by_test_id("view-matrix").click()
    settle(stub)
    stub.call("close")
    settle(stub)
    assert stub.call("leftovers") == before


# ---- with a kernel -----------------------------------------------------------------------------------------------------

TREES = """
from sklearn.ensemble import GradientBoostingRegressor
from pdp_widgets import PDPWidget, datasets
X, y = datasets.diabetes()
w = PDPWidget(GradientBoostingRegressor(n_estimators=40, random_state=0).fit(X, y), X, feature="bmi", panels=["interactions"])
w
"""


@pytest.mark.slow
def test_in_jupyterlab_a_click_sets_the_pair_in_python(browser: Browser, jupyter_lab: Lab) -> None:
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(TREES)])
    content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    context = browser.new_context(viewport={"width": 1500, "height": 1300})
    try:
        notebook = jupyter_lab.open(context.new_page(), content, name="interactions.ipynb")
        notebook.run_all()
        assert notebook.wait_until("w._interactions.get('pairs_done') == 45", 120)
        shown = WidgetOnPage(notebook.page)
        shown.root.scroll_into_view_if_needed()
        best = notebook.ask("w._running.board['interactions'].partner('bmi', 0)")
        table = notebook.ask(
            'w.explainer.interactions().to_frame().query(\'feature_1 == "bmi" or feature_2 == "bmi"\')'
            "[['feature_1', 'feature_2']].values.tolist()"
        )
        assert best in table[0]
        first = shown.find("partner").first
        first.wait_for(timeout=20_000)
        expected = [next(name for name in pair if name != "bmi") for pair in table]
        assert shown.find("partner").evaluate_all("nodes => nodes.map(n => n.dataset.name)") == expected[:5]
        first.click()
        assert notebook.wait_until(f"w.pair == ('bmi', {best!r})", 20)
        additive = notebook.ask("float(100 * w.explainer.interactions(pairs=[]).additivity[0])")
        assert f"{round(additive)} % additive" in shown.find("additive").inner_text()
        assert shown.pixels("matrix")[0][0] > 2000
        assert notebook.errors == []
        notebook.shutdown()
    finally:
        context.close()
