"""A notebook as a page of Voila, with a real kernel: the widget is drawn and the mouse selects in Python, which tells it by a label."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from conftest import missing
from hosts import brush
from hosts.server import free_port, running
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Voila lets nobody run code in its kernels: Python answers by a widget of its own.
LABELLED = f"""{brush.CODE}
import json
from ipywidgets import Label, VBox

said = Label().add_class("said")
def say(change=None):
    said.value = json.dumps({brush.SELECTED})
widget.observe(say, "selection")
say()
VBox([said, widget, {brush.PART}])
"""


@pytest.fixture(scope="module")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Voila shows control.ipynb and brush.ipynb."""
    try:
        import voila as package  # noqa: F401
    except ImportError:
        missing("voila is not installed")
    folder = tmp_path_factory.mktemp("voila")
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    for name, code in {"control": brush.CONTROL, "brush": LABELLED}.items():
        nbformat.write(brush.notebook(code), notebooks / f"{name}.ipynb")
    port = free_port()
    command = [sys.executable, "-m", "voila", str(notebooks), "--no-browser", "--Voila.ip=127.0.0.1", f"--port={port}"]
    with running(command, folder, f"http://127.0.0.1:{port}"):
        yield f"http://127.0.0.1:{port}/voila/render"


@pytest.fixture(scope="module")
def control(browser: Browser, voila: str) -> list[str]:
    """What the console says of a page without our widget."""
    with browser.new_context() as context:
        page = context.new_page()
        errors = brush.watch(page)
        page.goto(f"{voila}/control.ipynb")
        page.locator(".not-ours").wait_for()
    return errors


def test_a_drag_over_the_histogram_selects_in_python(
    browser: Browser, voila: str, control: list[str], screenshots: Path
) -> None:
    with browser.new_context(viewport={"width": 1400, "height": 1200}) as context:
        page = context.new_page()
        errors = brush.watch(page)
        page.goto(f"{voila}/brush.ipynb")
        widget = WidgetOnPage(page)
        assert {"heatmap", "interactions"} <= set(brush.wait_for_panels(widget))
        python = brush.check_brush(widget, lambda: json.loads(page.locator(".said").inner_text()))
        brush.check_part(WidgetOnPage(page, 1), python)
        page.screenshot(path=screenshots / "voila.png")
        assert brush.without(errors, control) == []
