"""The focused curve's controls in a real JupyterLab: a click on the page, the trait in Python, the kernel's answer drawn."""

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


@pytest.fixture(scope="module")
def quickstart(browser: Browser, jupyter_lab: Lab) -> Iterator[Notebook]:
    """The quickstart notebook, run from top to bottom."""
    context = browser.new_context(viewport={"width": 1400, "height": 1300})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "quickstart.ipynb")
    notebook.run_all()
    yield notebook
    notebook.shutdown()
    context.close()


@pytest.fixture
def widget(quickstart: Notebook) -> WidgetOnPage:
    """The quickstart's widget as it was at first."""
    quickstart.ask(
        "[widget.select(None)] + [setattr(widget, name, value) for name, value in "
        "dict(feature='bmi', effect='pd', by='', color_by='', derivative=False, centered=False).items()]"
    )
    shown = WidgetOnPage(quickstart.page)
    shown.root.scroll_into_view_if_needed()
    shown.find("title").get_by_text("bmi", exact=True).wait_for()
    shown.wait_until_exact()
    return shown


def drawn(widget: WidgetOnPage, overlays: str) -> None:
    """Wait until these curves are drawn beside the partial dependence."""
    widget.root.locator(f"[data-testid=curves][data-overlays='{overlays}']").wait_for(timeout=20_000)


def test_ale_of_all_rows_and_of_a_selection(quickstart: Notebook, widget: WidgetOnPage) -> None:
    before = widget.pixels("curves")
    widget.find("effect-ale").click()
    assert quickstart.wait_until("widget.effect == 'ale'")
    drawn(widget, "ale")
    assert widget.pixels("curves") != before
    widget.drag("histogram", (0.6, 0.4), (0.9, 0.5))
    assert quickstart.wait_until("widget.selection.n > 0")
    drawn(widget, "ale-rest,ale,ale-selection")
    widget.find("effect-pd").click()
    assert quickstart.wait_until("widget.effect == 'pd'")
    drawn(widget, "")
    assert quickstart.errors == []


def test_groups_and_colours(quickstart: Notebook, widget: WidgetOnPage) -> None:
    widget.find("by").select_option("blood_pressure")
    assert quickstart.wait_until("widget.by == 'blood_pressure'")
    drawn(widget, "group-0,group-1,group-2,group-3")
    widget.find("color-by").select_option("age")
    assert quickstart.wait_until("widget.color_by == 'age'")
    widget.find("lines-legend").get_by_text("lines by age").wait_for()
    quickstart.ask("setattr(widget, 'by', 'age < 50')")
    drawn(widget, "group-0,group-1")
    assert quickstart.errors == []


def test_slope(quickstart: Notebook, widget: WidgetOnPage) -> None:
    widget.find("slope").click()
    assert quickstart.wait_until("widget.derivative")
    widget.find("centered").click()
    assert quickstart.wait_until("widget.centered and not widget.derivative")


def test_hints_and_regions(quickstart: Notebook, widget: WidgetOnPage) -> None:
    said = quickstart.ask("[hint.text for hint in widget.explainer.trust('bmi').hints]")
    assert widget.root.locator("[data-testid=hints] li").count() == len(said)
    regions = widget.find("regions")
    regions.wait_for()
    split = widget.find("region-split")
    if quickstart.ask("len(widget._regions['here']['splits'])"):
        split.click()
        assert quickstart.wait_until("widget.by == widget._regions['here']['splits'][0]['condition']")
        drawn(widget, "group-0,group-1")
        widget.find("region-select").first.click()
        assert quickstart.wait_until("widget.selection.n == widget._regions['here']['splits'][0]['sides'][0]['n']")
    else:
        widget.find("rows-agree").wait_for()
    assert quickstart.errors == []
