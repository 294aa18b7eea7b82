"""The widget among others in a real JupyterLab: in a tab that is hidden at first, linked to other widgets on the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import nbformat
import pytest
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from pathlib import Path

    from lab import Lab, Notebook
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = [
    """
import ipywidgets
from sklearn.ensemble import GradientBoostingRegressor
from pdp_widgets import PDPWidget, datasets
X, y = datasets.diabetes()
model = GradientBoostingRegressor(random_state=0).fit(X, y)
w = PDPWidget(model, X, y, panels=(), feature="bmi")
tab = ipywidgets.Tab([ipywidgets.Label("the first tab"), w], titles=["first", "second"])
tab
""",
    """
name, ice = ipywidgets.Text(), ipywidgets.Checkbox(description="lines")
link = ipywidgets.jslink((w, "feature"), (name, "value"))
ipywidgets.jsdlink((ice, "value"), (w, "show_ice"))
ipywidgets.HBox([name, ice])
""",
    """
out = ipywidgets.Output()
with out:
    display(PDPWidget(model, X, panels=(), feature="age"))
out
""",
]


@pytest.fixture(scope="module")
def notebook(browser: Browser, jupyter_lab: Lab) -> Iterator[Notebook]:
    context = browser.new_context(viewport={"width": 1400, "height": 1600})
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text.strip()) for text in CELLS])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    opened = jupyter_lab.open(context.new_page(), book, name="among.ipynb")
    opened.run_all()
    yield opened
    opened.shutdown()
    context.close()


def test_in_a_tab_it_is_drawn_when_the_tab_is_opened(notebook: Notebook, screenshots: Path) -> None:
    notebook.page.get_by_text("the first tab", exact=True).wait_for()
    assert not notebook.page.get_by_test_id("curves").first.is_visible()
    notebook.page.get_by_role("tab", name="second").click()
    shown = WidgetOnPage(notebook.page)
    shown.wait_until_exact()
    assert shown.pixels("curves")[0][0] > 2000, "the curves are not drawn"
    width = shown.root.bounding_box()["width"]
    assert width > 600
    shown.drag("histogram", (0.6, 0.4), (0.85, 0.5))
    n = notebook.wait_until("bool(w.selection) and w.selection.n")
    assert n == notebook.ask("int(X.eval(w.selection.text).sum())")

    # Hidden again and shown again, with something else in focus meanwhile.
    before = shown.pixels("curves")
    notebook.page.get_by_role("tab", name="first").click()
    notebook.ask("setattr(w, 'feature', 'blood_pressure')")
    notebook.page.get_by_role("tab", name="second").click()
    shown.find("title").get_by_text("blood_pressure", exact=True).wait_for()
    shown.wait_until_exact()
    assert shown.pixels("curves") != before
    assert shown.root.bounding_box()["width"] == width
    shown.root.screenshot(path=screenshots / "lab-tab.png")


def test_links_on_the_page_go_both_ways(notebook: Notebook) -> None:
    page = notebook.page
    page.get_by_role("tab", name="second").click()
    shown = WidgetOnPage(page)
    field = page.locator(".widget-text input").first
    shown.choose("age")
    page.wait_for_function("node => node.value === 'age'", arg=field.element_handle())
    assert notebook.wait_until("w.feature == 'age' and name.value == 'age'")
    field.fill("bmi")
    field.press("Enter")
    shown.find("title").get_by_text("bmi", exact=True).wait_for()
    assert notebook.wait_until("w.feature == 'bmi'")

    notebook.ask("setattr(ice, 'value', True)")
    with_lines = shown.pixels("curves")
    page.locator(".widget-checkbox input").first.click()
    assert notebook.wait_until("w.show_ice is False")
    page.wait_for_timeout(300)
    assert shown.pixels("curves") != with_lines
    assert notebook.errors == []


def test_in_an_output_it_is_a_widget_as_well(notebook: Notebook) -> None:
    inner = WidgetOnPage(notebook.page, 1)
    inner.wait_until_exact()
    assert inner.title == "age"
    assert inner.pixels("curves")[0][0] > 2000
