"""What one takes along from the page in a real JupyterLab: files and the clipboard hold what the kernel makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from lab import Lab, Notebook
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELL = """
from sklearn.ensemble import GradientBoostingRegressor
from pdp_widgets import PDPWidget, datasets
X, y = datasets.diabetes()
model = GradientBoostingRegressor(random_state=0).fit(X, y)
w = PDPWidget(model, X, feature="bmi")
w
"""


@pytest.fixture(scope="module")
def notebook(browser: Browser, jupyter_lab: Lab) -> Iterator[Notebook]:
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.strip())])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    opened = jupyter_lab.open(context.new_page(), book, name="files.ipynb")
    opened.run_all()
    yield opened
    opened.shutdown()
    context.close()


def take(notebook: Notebook, menu: str, item: str) -> tuple[str, bytes]:
    widget = WidgetOnPage(notebook.page)
    with notebook.page.expect_download() as info:
        widget.find(menu).click()
        widget.find(f"{menu}-{item}").click()
    return info.value.suggested_filename, Path(info.value.path()).read_bytes()


def test_files_and_clipboard_hold_what_the_kernel_makes(notebook: Notebook, tmp_path: Path) -> None:
    widget = WidgetOnPage(notebook.page)
    widget.wait_until_exact()
    widget.drag("histogram", (0.6, 0.4), (0.9, 0.5))
    assert notebook.wait_until("w.selection.n > 0")
    assert notebook.wait_until("w.wait(60)", 70)
    for item, call in (("svg", "save_image"), ("png", "save_image"), ("csv", "save_table")):
        path = tmp_path / f"f.{item}"
        notebook.ask(f"str(w.{call}({str(path)!r}))")
        assert take(notebook, "download-curves", item) == (f"bmi-partial-dependence.{item}", path.read_bytes())
    widget.find("share").click()
    widget.find("share-python").click()
    widget.find("share-says").get_by_text("Copied").wait_for()
    text = notebook.page.evaluate("() => navigator.clipboard.readText()")
    assert text == notebook.ask("w.to_python()")
    notebook.page.keyboard.press("Escape")
    assert notebook.ask("w.selection.n") > 0, "Escape leaves the menu only"
    name, page = take(notebook, "share", "page")
    assert name == "GradientBoostingRegressor-page.html"
    assert page.startswith(b"<!DOCTYPE html>")
    assert b'id="record"' in page
    assert notebook.errors == []


def test_a_kernel_that_is_gone_is_not_asked(notebook: Notebook) -> None:
    widget = WidgetOnPage(notebook.page)
    notebook.shutdown()
    notebook.page.wait_for_timeout(500)
    widget.find("download-curves").click()
    widget.find("download-curves-svg").click()
    said = widget.find("download-curves-says")
    said.get_by_text("Python").wait_for()
    name, data = take_open(notebook, "download-curves", "png")
    assert name == "bmi-partial-dependence.png"
    assert data.startswith(b"\x89PNG")


def take_open(notebook: Notebook, menu: str, item: str) -> tuple[str, bytes]:
    """Choose from a menu that is open."""
    with notebook.page.expect_download() as info:
        WidgetOnPage(notebook.page).find(f"{menu}-{item}").click()
    return info.value.suggested_filename, Path(info.value.path()).read_bytes()
