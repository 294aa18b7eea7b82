"""The widget in a real JupyterLab 4 and a real Notebook 7: all panels are drawn, the mouse selects in Python, and the console stays quiet.

What else the widget does in JupyterLab is tested in test_jupyterlab.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import missing
from hosts import brush
from lab import NOTEBOOK, Lab, serve
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module", params=["JupyterLab 4", "Notebook 7"])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running server."""
    if request.param == "JupyterLab 4":
        yield request.getfixturevalue("jupyter_lab")
        return
    try:
        from notebook import app  # noqa: F401  # Notebook 6 has none
    except ImportError:
        missing("notebook (7 or newer) is not installed")
    with serve(tmp_path_factory.mktemp("notebook7"), NOTEBOOK) as server:
        yield server


@pytest.fixture(scope="module")
def control(browser: Browser, host: Lab) -> list[str]:
    """What the console says of a notebook without our widget."""
    with browser.new_context() as context:
        page = context.new_page()
        errors = brush.watch(page)
        notebook = host.open(page, brush.notebook(brush.CONTROL), name="control.ipynb")
        notebook.run_all()
        page.locator(".not-ours").wait_for()
        notebook.shutdown()
    return errors


def test_a_drag_over_the_histogram_selects_in_python(
    browser: Browser, host: Lab, control: list[str], screenshots: Path
) -> None:
    with browser.new_context(viewport={"width": 1400, "height": 1200}) as context:
        page = context.new_page()
        errors = brush.watch(page)
        notebook = host.open(page, brush.notebook(brush.CODE + "widget"), name="brush.ipynb")
        notebook.run_all()
        widget = WidgetOnPage(page)
        assert {"heatmap", "interactions"} <= set(brush.wait_for_panels(widget))
        brush.check_brush(widget, lambda: notebook.ask(brush.SELECTED))
        notebook.ask("widget.select('age > 50')")
        page.wait_for_function(
            "([node, n]) => node.dataset.n === String(n)",
            arg=[widget.find("selection-n").element_handle(), notebook.ask("int((X.age > 50).sum())")],
        )
        widget.root.screenshot(path=screenshots / f"{host.app.module}-host.png")
        assert brush.without(errors, control) == []
        notebook.shutdown()
