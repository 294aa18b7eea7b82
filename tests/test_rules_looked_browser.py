# ruff: noqa: F811
"""A rule that is looked at, or selected, stands in the curves, the histogram, the heatmap and the sparklines; in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rules_page import Live, Written, live  # noqa: F401
from widget_tools import arrays, frame, make  # noqa: F401

pytestmark = pytest.mark.browser

PANELS = ["heatmap", "rules"]
X = frame()
RULES = {
    "season in ['SUMMER', 'WINTER'] & temp > 12": 4.0,
    "(temp > 20 | temp.isna()) & n > 2": 3.0,
    "8 < temp <= 15 & season == 'FALL'": 2.0,
    "flag == True & temp <= 5": -2.0,
}


@pytest.fixture(scope="module")
def own() -> Written:
    return Written(X, RULES)


def parts_of(p: dict[str, Any], term: int) -> dict[str, int]:
    """The conditions of a rule by feature."""
    first = 0 if term == 0 else int(p["ends"][term - 1])
    return {p["features"][p["conditions"]["feature"][part]]: int(part) for part in p["parts"][first : p["ends"][term]]}


def find(p: dict[str, Any], *features: str, missing: bool = False) -> int:
    """The first rule about these features (with "or missing": among others), whose interval on the first one has one end."""
    for term in np.flatnonzero(p["type"] == 0):
        parts = parts_of(p, term)
        first = parts.get(features[0], -1)
        ends = np.isnan([p["conditions"]["low"][first], p["conditions"]["high"][first]]).sum() if first >= 0 else 2
        about = set(parts) >= set(features) if missing else set(parts) == set(features)
        if about and ends == 1 and (p["conditions"]["levels"][first] is not None) == missing:
            return int(term)
    raise AssertionError(f"no rule about {features}")


def boxes(page: Live, where: str, of: str) -> list[dict[str, float]]:
    """Marks over a plot, in px of its own box."""
    return page.page.evaluate(
        """([where, of]) => {
            const plot = document.querySelector(`[data-testid=${where}]`);
            const a = plot.getBoundingClientRect();
            return [...plot.parentNode.querySelectorAll(`.pdpw-span[data-of=${of}]`)].filter(n => where === 'heatmap' || plot.contains(n))
                .map(n => { const b = n.getBoundingClientRect();
                            return {left: b.left - a.left, right: b.right - a.left, top: b.top - a.top, bottom: b.bottom - a.top}; });
        }""",
        [where, of],
    )


def strokes(page: Live, of: str) -> dict[str, str]:
    """Marks under the sparklines by feature."""
    found = page.page.locator(f".pdpw-s-mark[data-of={of}]").evaluate_all(
        "nodes => nodes.map(n => [n.closest('[data-testid=feature]').dataset.name, n.getAttribute('d')])"
    )
    return dict(found)


def expected(page: Live, low: float, high: float) -> tuple[float, float]:
    """An interval of the focused feature in px of the plot; NaN for an open end, which is that of the axis."""
    data = page.find("histogram").evaluate("n => ({...n.dataset})")
    x0, x1, d0, d1 = (float(data[name]) for name in ("x0", "x1", "domainX0", "domainX1"))
    a, b = (x0 + (v - d0) / (d1 - d0) * (x1 - x0) for v in (low, high))
    return (x0 if np.isnan(a) else a), (x1 if np.isnan(b) else b)


def look(page: Live, term: int) -> None:
    page.line(term).locator("[data-by=rank]").hover()
    page.page.wait_for_timeout(60)


def test_a_rule_under_the_pointer_is_drawn_everywhere_and_nothing_is_asked(
    live: Callable[..., Live], own: Written
) -> None:
    page = live(own, X, panels=PANELS, feature="temp", pair=("temp", "season"))
    p = page.picture
    term = find(p, "temp", "season")
    parts = parts_of(p, term)
    low, high = (float(p["conditions"][side][parts["temp"]]) for side in ("low", "high"))
    asked = len(page.stub.requests(""))
    look(page, term)
    for plot in ("curves", "histogram"):
        (box,) = boxes(page, plot, "look")
        assert (box["left"], box["right"]) == pytest.approx(expected(page, low, high), abs=1)
        assert box["bottom"] - box["top"] > 40
    # The rectangle: from temp's end to that of the axis, as tall as the levels of season.
    data = page.find("heatmap").evaluate("n => ({...n.dataset})")
    left, _, right, _ = (float(v) for v in data["area"].split(","))
    cells = [[float(v) for v in cell.split(":")] for cell in data["yCells"].split(",")]
    surface = arrays(page.widget._heatmap)
    levels = p["conditions"]["levels"][parts["season"]]
    tall = sum(cells[k][1] - cells[k][0] for k, at in enumerate(surface["b"]["at"]) if at in levels)
    found = boxes(page, "heatmap", "look")
    assert sum(box["bottom"] - box["top"] for box in found) == pytest.approx(tall, abs=2 * len(found))
    for box in found:
        assert (box["left"] > left + 3) == (not np.isnan(low))
        assert (box["right"] < right - 3) == (not np.isnan(high))
    assert set(strokes(page, "look")) == {"temp", "season"}
    assert strokes(page, "look")["season"].count("M") == len(levels)
    assert len(page.stub.requests("")) == asked
    assert not page.widget.selection
    # Gone when the pointer leaves.
    page.page.mouse.move(5, 5)
    page.page.wait_for_timeout(60)
    assert [boxes(page, plot, "look") for plot in ("curves", "histogram", "heatmap")] == [[], [], []]
    assert strokes(page, "look") == {}


def test_levels_and_or_missing_are_marked_where_they_stand(live: Callable[..., Live], own: Written) -> None:
    page = live(own, X, panels=PANELS, feature="season")
    p = page.picture
    term = find(p, "temp", "season")
    look(page, term)
    centers = [float(v) for v in (page.find("histogram").get_attribute("data-centers") or "").split(",")]
    middles = [(box["left"] + box["right"]) / 2 for box in boxes(page, "histogram", "look")]
    levels = p["conditions"]["levels"][parts_of(p, term)["season"]]
    assert middles == pytest.approx([centers[level] for level in levels], abs=1)
    page.widget.feature = "temp"
    page.settle()
    term = find(p, "temp", missing=True)
    look(page, term)
    lane = float(page.find("histogram").get_attribute("data-missing-at") or "nan")
    interval, missing = sorted(
        boxes(page, "histogram", "look"), key=lambda box: box["right"] - box["left"], reverse=True
    )
    assert (missing["left"] + missing["right"]) / 2 == pytest.approx(lane, abs=1)
    low, high = (float(p["conditions"][side][parts_of(p, term)["temp"]]) for side in ("low", "high"))
    assert (interval["left"], interval["right"]) == pytest.approx(expected(page, low, high), abs=1)


def test_keys_look_and_leave_too_and_enter_selects(live: Callable[..., Live], own: Written) -> None:
    page = live(own, X, panels=PANELS, feature="temp", pair=("temp", "season"))
    p = page.picture
    term = find(p, "temp", "season")
    assert page.ranks[term] == term
    page.page.mouse.move(5, 5)
    page.find("rules-table").focus()
    for _ in range(term + 1):
        page.page.keyboard.press("ArrowDown")
    page.page.wait_for_timeout(60)
    (looked,) = boxes(page, "curves", "look")
    page.find("search").focus()
    page.page.wait_for_timeout(60)
    assert boxes(page, "curves", "look") == []
    page.find("rules-table").focus()
    page.page.keyboard.press("Enter")
    page.settle()
    # What is selected is drawn as the selection, not a second time as what is looked at.
    (selected,) = boxes(page, "curves", "selection")
    assert (selected["left"], selected["right"]) == pytest.approx((looked["left"], looked["right"]), abs=1)
    assert boxes(page, "curves", "look") == []
    assert boxes(page, "histogram", "selection") == []  # there it is the brush
    assert set(strokes(page, "selection")) == {"temp", "season"}
    low, high = (p["conditions"][side][parts_of(p, term)["temp"]] for side in ("low", "high"))
    shown = page.find("from").input_value() if not np.isnan(low) else page.find("to").input_value()
    assert float(shown.replace("\u2212", "-")) == pytest.approx(float(low if not np.isnan(low) else high), rel=1e-3)
    # Another rule may be looked at meanwhile.
    other = next(k for k in page.ranks if k != term and p["type"][k] == 0 and "temp" in parts_of(p, k))
    look(page, other)
    assert len(boxes(page, "curves", "look")) >= 1
    assert len(boxes(page, "curves", "selection")) == 1


def test_a_selected_rule_with_or_missing_is_marked_although_no_brush_can_hold_it(
    live: Callable[..., Live], own: Written
) -> None:
    page = live(own, X, panels=PANELS, feature="temp")
    p = page.picture
    term = find(p, "temp", missing=True)
    page.line(term).locator("[data-by=rank]").click()
    page.settle()
    assert page.widget.selection.n == p["n"][term]
    assert len(boxes(page, "histogram", "selection")) == 2  # the interval and the missing ones
    assert len(boxes(page, "curves", "selection")) == 2
    assert set(strokes(page, "selection")) == set(parts_of(p, term))
