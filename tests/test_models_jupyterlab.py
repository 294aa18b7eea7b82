"""The penguins notebook in a real JupyterLab: two models on one page, changed by the menu and from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from lab import Lab
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def test_forest_against_logistic_regression(browser: Browser, jupyter_lab: Lab) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 1300})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "penguins.ipynb", name="models.ipynb")
    notebook.run_all()
    widget = WidgetOnPage(notebook.page)
    widget.root.scroll_into_view_if_needed()
    widget.wait_until_exact()

    def drawn(overlays: str) -> None:
        widget.root.locator(f"[data-testid=curves][data-overlays='{overlays}']").wait_for(timeout=20_000)

    drawn("model-1")
    widget.drag("histogram", (0.55, 0.4), (0.8, 0.5))
    assert notebook.wait_until("widget.selection.n > 0")
    chosen = notebook.ask("widget.selection.n")
    before = widget.pixels("curves")
    widget.find("model").select_option("logistic")
    assert notebook.wait_until("widget.model == 'logistic' and widget.explainer is widget.explainers['logistic']")
    drawn("model-0")
    widget.wait_until_exact()
    assert widget.pixels("curves") != before
    assert (widget.n, notebook.ask("widget.selection.n")) == (chosen, chosen)
    widget.root.locator("[data-testid=panel-rules][data-state=done][data-stale=false]").wait_for(timeout=90_000)
    notebook.ask("setattr(widget, 'model', 'forest')")
    drawn("model-1")
    assert widget.find("model").input_value() == "forest"
    widget.find("clear").click()
    assert notebook.wait_until("not widget.selection")
    widget.find("by").select_option("bookmarks")
    assert notebook.wait_until("widget.by == 'bookmarks'")
    drawn("group-0,group-1")
    widget.find("models").click()
    assert notebook.wait_until("widget.by == '' and widget.show_models")
    drawn("model-1")
    assert notebook.errors == []
    notebook.shutdown()
    context.close()
