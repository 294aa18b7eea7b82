"""The same picture without Python: an exported page and a saved notebook show what the notebook showed, pixel by pixel and word by word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from hosts import brush
from hosts.snapshot import differences, snapshot
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from lab import Lab
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


VIEWPORT = {"width": 1800, "height": 1400}
BODY = 24  # px of an exported page's padding


@pytest.fixture(scope="module")
def live(browser: Browser, jupyter_lab: Lab) -> dict[str, Any]:
    """What a widget shows with rows selected, and how wide; it is exported to live.html and saved in live.ipynb."""
    with browser.new_context(viewport=VIEWPORT) as context:
        page = context.new_page()
        notebook = jupyter_lab.open(page, brush.notebook(brush.CODE + "widget"), name="live.ipynb")
        notebook.run_all()
        widget = WidgetOnPage(page)
        brush.wait_for_panels(widget)
        notebook.ask("[widget.select('bmi > 25 & age < 60'), widget.wait()][:0]")
        widget.root.locator("[data-testid=curves][data-shown=exact]").wait_for()
        brush.wait_for_panels(widget)
        parts = snapshot(widget)
        for plot in ("curves", "histogram", "heatmap", "matrix"):
            assert parts[f"{plot} 1"]["pixels"]
        width = round(widget.root.bounding_box()["width"])
        notebook.ask("str(widget.export_html('live.html'))")
        notebook.command("docmanager:save")
        notebook.shutdown()
        assert notebook.errors == []
    return {"parts": parts, "width": width}


def test_an_exported_page_shows_the_same_picture(
    browser: Browser, jupyter_lab: Lab, live: dict[str, Any], screenshots: Path
) -> None:
    viewport = VIEWPORT | {"width": live["width"] + BODY}
    with browser.new_context(viewport=viewport, offline=True) as context:
        page = context.new_page()
        errors = brush.watch(page)
        page.goto((jupyter_lab.folder / "live.html").as_uri())
        widget = WidgetOnPage(page)
        assert differences(live["parts"], snapshot(widget)) == []
        widget.root.screenshot(path=screenshots / "exported.png")
        assert errors == []


def test_a_saved_notebook_shows_the_same_picture(
    browser: Browser, jupyter_lab: Lab, live: dict[str, Any], screenshots: Path
) -> None:
    saved = jupyter_lab.folder / "live.ipynb"
    assert saved.stat().st_size < 400_000
    with browser.new_context(viewport=VIEWPORT) as context:
        notebook = jupyter_lab.open(context.new_page(), nbformat.read(saved, as_version=4), name="again.ipynb")
        widget = WidgetOnPage(notebook.page)
        widget.find("nokernel").wait_for(timeout=30_000)
        assert differences(live["parts"], snapshot(widget)) == []
        widget.root.screenshot(path=screenshots / "saved.png")
        notebook.shutdown()
        assert notebook.errors == []
