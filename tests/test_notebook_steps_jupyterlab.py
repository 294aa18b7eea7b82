"""The clicks that the teaching notebooks describe, done one after the other in a real JupyterLab: each is there, and gives what the text says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Lab, Notebook
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


@pytest.fixture(params=["bike", "risk_factors", "house_tables"])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def opened(browser: Browser, jupyter_lab: Lab, name: str) -> Iterator[Notebook]:
    """A notebook, run from top to bottom."""
    context = browser.new_context(viewport={"width": 1500, "height": 1500})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / f"{name}.ipynb")
    notebook.run_all()
    yield notebook
    assert notebook.errors == []
    notebook.shutdown()
    context.close()


@pytest.fixture
def shown(opened: Notebook, screenshots: Path, name: str) -> Iterator[WidgetOnPage]:
    """The notebook's first widget."""
    widget = WidgetOnPage(opened.page)
    widget.root.scroll_into_view_if_needed()
    widget.wait_until_exact()
    yield widget
    widget.root.screenshot(path=screenshots / f"lab-{name}.png")


def overlays(widget: WidgetOnPage, names: str) -> None:
    """Wait until these curves are drawn."""
    widget.root.locator(f"[data-testid=curves][data-overlays='{names}']").wait_for(timeout=20_000)


def surface(notebook: Notebook, widget: WidgetOnPage, partner: str) -> None:
    """Wait for the surface with this feature and for how much of it is interaction."""
    notebook.wait_until(
        f"{partner!r} in widget.pair and widget._heatmap.get('exact') and {partner!r} in (widget._heatmap['first'], widget._heatmap['second'])"
    )
    widget.find("heatmap-share").wait_for()


def select_from(notebook: Notebook, widget: WidgetOnPage, value: float) -> int:
    """Drag over the histogram from a value to the end; return how many rows that selects."""
    low, high = notebook.ask("[float(f(X[widget.feature])) for f in (min, max)]")
    widget.drag("histogram", (0.06 + 0.9 * (value - low) / (high - low), 0.4), (0.995, 0.5))
    notebook.wait_until("widget.selection.text")
    return notebook.ask("widget.selection.n")


@pytest.mark.parametrize("name", ["bike"], indirect=True)
def test_bike(opened: Notebook, shown: WidgetOnPage) -> None:
    page = opened.page
    shown.find("hints").get_by_text("Moves together with season").wait_for()

    # Step 1
    shown.find("by").select_option("season")
    shown.find("centered").click()
    opened.wait_until("widget.by == 'season' and widget.centered")
    overlays(shown, "group-0,group-1,group-2,group-3")

    # Step 2
    hint = shown.find("groups-pair")
    assert hint.inner_text() == "temp × season"
    hint.click()
    surface(opened, shown, "season")
    shown.find("heatmap-interaction").click()
    shown.root.locator("[data-testid=heatmap][data-drawn$=interaction]").wait_for()
    said = shown.find("heatmap-share").inner_text()
    assert said.startswith("<1 %"), said

    # Step 3
    shown.find("ask-interacts").click()
    answer = shown.find("answer")
    answer.get_by_text("temp interacts most with days_since_2011").wait_for(timeout=20_000)
    first = shown.find("partner").first
    assert first.get_attribute("data-name") == "days_since_2011"
    first.click()
    opened.wait_until("set(widget.pair) == {'temp', 'days_since_2011'}")

    # Step 4
    shown.find("region-split").click()
    assert "days_since_2011" in opened.wait_until("widget.by if ' ' in widget.by else ''")
    overlays(shown, "group-0,group-1")
    shown.find("regions-curves").click()
    leaves = opened.wait_until("widget.by.split('; ') if ';' in widget.by else []")
    assert leaves == opened.ask("[region.text for region in regions.regions]")
    overlays(shown, ",".join(f"group-{number}" for number in range(len(leaves))))
    shown.find("region-select").first.click()
    assert "days_since_2011" in opened.wait_until("widget.selection.text")
    page.keyboard.press("Escape")
    opened.wait_until("not widget.selection")

    # The rules
    shown.find("rules-count").wait_for(timeout=60_000)
    everything = int(shown.find("rules-count").get_attribute("data-n") or 0)
    shown.find("rules-feature").select_option("temp")
    shown.find("rules-chip").get_by_text("with temp").wait_for()
    assert 0 < int(shown.find("rules-count").get_attribute("data-n") or 0) < everything

    # Where both readings agree
    shown.find("by").select_option("workday")
    overlays(shown, "group-0,group-1")
    shown.find("heatmap-partner").select_option("workday")
    surface(opened, shown, "workday")
    shown.find("heatmap-partner").select_option("hum")
    surface(opened, shown, "hum")
    shown.find("heatmap-pd").click()
    shown.root.locator("[data-testid=heatmap][data-drawn$=pd]").wait_for()


@pytest.mark.parametrize("name", ["risk_factors"], indirect=True)
def test_risk_factors(opened: Notebook, shown: WidgetOnPage) -> None:
    page = opened.page
    shown.find("hints").get_by_text("Few rows beyond").wait_for()
    few = select_from(opened, shown, 45)
    assert 10 < few < 50
    page.keyboard.press("Escape")
    opened.wait_until("not widget.selection")
    shown.choose("contraceptives_years")
    shown.find("hints").get_by_text("Few rows").wait_for()
    few = select_from(opened, shown, 10)
    assert 10 < few < 50
    page.keyboard.press("Escape")
    opened.wait_until("not widget.selection")

    # One line for each woman
    shown.choose("partners")
    shown.find("centered").click()
    hint = shown.find("hints").get_by_text("Rows disagree")
    hint.wait_for(timeout=20_000)
    named = hint.inner_text().split(" by ")[-1].strip()
    shown.find("color-by").select_option(named)
    shown.find("lines-legend").get_by_text(f"lines by {named}").wait_for()

    # Which factors matter
    shown.find("sort").select_option(label="loss when shuffled")
    opened.wait_until("widget.sort_by == 'permutation'")
    page.wait_for_function(
        "root => root.querySelector('[data-testid=feature]').dataset.name === 'contraceptives_years'",
        arg=shown.root.element_handle(),
    )

    # Which act together
    shown.choose("contraceptives_years")
    shown.find("ask-interacts").click()
    shown.find("answer").get_by_text("contraceptives_years").wait_for(timeout=20_000)
    for measure in ("h2", "strength"):
        shown.find(f"measure-{measure}").click()
        assert shown.find(f"measure-{measure}").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("name", ["house_tables"], indirect=True)
def test_house_tables(opened: Notebook, shown: WidgetOnPage) -> None:
    heat = shown.find("heatmap")
    heat.scroll_into_view_if_needed()
    assert shown.find("heatmap-share").inner_text().startswith("7 %")

    def reading(x: float, y: float) -> str:
        left, top, right, bottom = map(float, (heat.get_attribute("data-area") or "").split(","))
        heat.hover(position={"x": left + x * (right - left), "y": top + y * (bottom - top)})
        shown.find("heatmap-readout").wait_for()
        return shown.find("heatmap-readout").inner_text()

    text = reading(0.75, 0.75)
    assert "big" in text
    assert "good" in text
    assert "400,000" in text
    shown.find("heatmap-interaction").click()
    shown.root.locator("[data-testid=heatmap][data-drawn$=interaction]").wait_for()
    for x, y, amount in (
        (0.75, 0.75, "25,000"),
        (0.75, 0.25, "−25,000"),
        (0.25, 0.75, "−25,000"),
        (0.25, 0.25, "25,000"),
    ):
        text = reading(x, y)
        assert amount in text
        assert ("−25,000" in text) == amount.startswith("−")
    shown.find("by").select_option("location")
    overlays(shown, "group-0,group-1")
    second = WidgetOnPage(opened.page, 1)
    second.root.scroll_into_view_if_needed()
    assert second.find("heatmap-share").inner_text() == "no interaction"
