"""A part of a widget's page in another cell of a real JupyterLab: what is brushed in one is seen in the other."""

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
from sklearn.ensemble import GradientBoostingRegressor
from pdp_widgets import PDPWidget, datasets
X, y = datasets.diabetes()
w = PDPWidget(GradientBoostingRegressor(random_state=0).fit(X, y), X, y, panels=(), feature="bmi", pair=("bmi", "age"))
w
""",
    "w.view('heatmap')",
    "w.view('features', 'curves')",
]


@pytest.fixture(scope="module")
def notebook(browser: Browser, jupyter_lab: Lab) -> Iterator[Notebook]:
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text.strip()) for text in CELLS])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    opened = jupyter_lab.open(context.new_page(), book, name="parts.ipynb")
    opened.run_all()
    yield opened
    opened.shutdown()
    context.close()


def test_a_brush_in_one_cell_is_seen_in_the_others(notebook: Notebook, screenshots: Path) -> None:
    whole, heatmap, curves = (WidgetOnPage(notebook.page, number) for number in range(3))
    whole.wait_until_exact()
    heatmap.find("heatmap").locator("canvas").wait_for()
    assert heatmap.find("panel-heatmap").count() == 1
    assert whole.find("panel-heatmap").count() == 0  # the page itself shows no panels
    assert notebook.wait_until("w._heatmap['status']['state'] == 'done'", 60)
    assert heatmap.find("curves").count() == 0

    # In the whole page: seen in both parts.
    whole.drag("histogram", (0.6, 0.4), (0.85, 0.5))
    n = notebook.wait_until("bool(w.selection) and w.selection.n")
    for part in (whole, heatmap, curves):
        notebook.page.wait_for_function(
            "([node, n]) => node.dataset.n === String(n)", arg=[part.find("selection-n").element_handle(), n]
        )
    # In a part: seen in the whole page and in Python.
    before = heatmap.pixels("heatmap")
    heatmap.drag("heatmap", (0.3, 0.3), (0.6, 0.6))
    text = notebook.wait_until("'age' in w.selection.text and w.selection.text")
    n = notebook.ask(f"int(X.eval({text!r}).sum())")
    assert notebook.ask("w.selection.n") == n
    for part in (whole, curves):
        notebook.page.wait_for_function(
            "([node, n]) => node.dataset.n === String(n)", arg=[part.find("selection-n").element_handle(), n]
        )
    assert heatmap.pixels("heatmap") != before
    heatmap.root.screenshot(path=screenshots / "lab-part-heatmap.png")

    # What is in focus is the same everywhere, whoever chose it.
    curves.root.locator('[data-testid="feature"][data-name="blood_pressure"]').click()
    assert notebook.wait_until("w.feature == 'blood_pressure'")
    whole.find("title").get_by_text("blood_pressure", exact=True).wait_for()
    notebook.page.keyboard.press("Escape")
    assert notebook.wait_until("not w.selection")
    notebook.page.wait_for_function("node => node.dataset.n === ''", arg=heatmap.find("selection-n").element_handle())
    assert notebook.errors == []
    assert notebook.ask("len(str(w.view('rules')._esm)) < 3000")  # a part carries no code of its own
