"""Rules in a real JupyterLab: fitted beside a notebook that goes on, clicked, read for a row, and made fewer."""

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


def test_rules_from_the_fit_to_the_selection(browser: Browser, jupyter_lab: Lab) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 1600})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "quickstart.ipynb", name="rules.ipynb")
    notebook.run_all()
    widget = WidgetOnPage(notebook.page)
    panel = widget.root.locator("[data-testid=panel-rules][data-state=done]")
    panel.wait_for(timeout=90_000)
    assert notebook.ask("len(widget._running.board['rules'].reading(widget._rules['id']).terms)") == int(
        widget.find("rules-count").get_attribute("data-n") or 0
    )
    rule = widget.root.locator("[data-testid=rule][data-linear=false]").first
    text = rule.get_attribute("data-text")
    rule.locator("[data-by=rank]").click()
    assert notebook.wait_until(f"widget.selection.n == int(widget.explainer.mask({text!r}).sum())")
    widget.root.locator("[data-testid=rule][aria-selected=true]").first.wait_for()
    widget.find("related").or_(widget.find("rules-note")).first.wait_for()
    notebook.wait_until("widget._rules.get('selection_id') == widget.selection.id")
    widget.find("rules-sort-selection").click()
    widget.find("rules-row").fill("5")
    widget.find("rules-row").press("Enter")
    widget.find("rules-sum").get_by_text("row 5").wait_for()
    shown = notebook.ask(
        "float(widget._running.board['rules'].reading(widget._rules['id']).rules.predict(widget.explainer.table)[0, 5])"
    )
    assert f"{shown:.0f}" in widget.find("rules-sum").inner_text()
    before = notebook.ask("widget._rules['path']['at']")
    widget.find("rules-step").focus()
    notebook.page.keyboard.press("Home")
    notebook.page.keyboard.press("ArrowRight")
    assert before > 1
    notebook.wait_until("widget._rules['path']['at'] == 1 and widget._rules['status']['state'] == 'done'")
    widget.find("rules-terms").get_by_text("terms 1", exact=True).wait_for()
    assert notebook.errors == []
    notebook.shutdown()
    context.close()
