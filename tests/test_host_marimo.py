"""The widget in a marimo notebook: it is drawn in marimo's theme, the mouse selects in Python, and cells that depend on the selection run."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import missing
from hosts import brush
from hosts.server import free_port, running
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# The page's messages run no cells by themselves; marimo's way to let something else do it is a state.
STATE = """\
import json
import marimo as mo

selection, choose = mo.state(widget.selection)
widget.observe(lambda change: choose(change.new), "selection")
"""
DEPENDENT = f"""\
selection()
mo.Html(f'<p class="said">{{json.dumps({brush.SELECTED})}}</p>')
"""
SETTINGS = '[display]\ntheme = "dark"\n'


@pytest.fixture(scope="module")
def marimo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where marimo, set to dark, shows control.py and brush.py."""
    try:
        import marimo as package  # noqa: F401
    except ImportError:
        missing("marimo is not installed")
    folder = tmp_path_factory.mktemp("marimo")
    notebooks, settings = folder / "notebooks", folder / "xdg" / "marimo"
    for made in (notebooks, settings):
        made.mkdir(parents=True)
    (settings / "marimo.toml").write_text(SETTINGS, encoding="utf-8")
    (notebooks / "control.py").write_text(app(brush.CONTROL), encoding="utf-8")
    (notebooks / "brush.py").write_text(
        app(brush.CODE, STATE, "mo.ui.anywidget(widget)", f"mo.ui.anywidget({brush.PART})", DEPENDENT), encoding="utf-8"
    )
    port = free_port()
    command = [sys.executable, "-m", "marimo", "run", str(notebooks), "--headless", "--no-token", f"--port={port}"]
    with running(command, folder, f"http://127.0.0.1:{port}"):
        yield f"http://127.0.0.1:{port}"


def app(*cells: str) -> str:
    """Return a marimo notebook of these cells; marimo itself finds out what each takes and gives."""
    functions = "".join(f"\n@app.cell\ndef _():\n{textwrap.indent(code, '    ')}\n" for code in cells)
    return f'import marimo\n\napp = marimo.App(width="full")\n{functions}'


@pytest.fixture(scope="module")
def control(browser: Browser, marimo: str) -> list[str]:
    """What the console says of a page without our widget."""
    with browser.new_context() as context:
        page = context.new_page()
        errors = brush.watch(page)
        page.goto(f"{marimo}/?file=control.py")
        page.locator(".not-ours").wait_for()
    return errors


def test_a_drag_over_the_histogram_selects_in_python(
    browser: Browser, marimo: str, control: list[str], screenshots: Path
) -> None:
    with browser.new_context(viewport={"width": 1400, "height": 1200}) as context:
        page = context.new_page()
        errors = brush.watch(page)
        page.goto(f"{marimo}/?file=brush.py")
        widget = WidgetOnPage(page)
        assert {"heatmap", "interactions"} <= set(brush.wait_for_panels(widget))
        python = brush.check_brush(widget, lambda: json.loads(page.locator(".said").inner_text()))
        brush.check_part(WidgetOnPage(page, 1), python)
        assert widget.root.evaluate(brush.BRIGHTNESS) < 0.25, "marimo is dark, the widget is not"
        page.screenshot(path=screenshots / "marimo.png")
        assert brush.without(errors, control) == []
