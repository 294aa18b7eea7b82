"""What is asked of the widget in every host: all panels are drawn, a drag over the histogram selects in Python, the console stays quiet."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import nbformat

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page
    from widget_page import WidgetOnPage

CODE = """\
from sklearn.ensemble import GradientBoostingRegressor
from pdp_widgets import PDPWidget, datasets

X, y = datasets.diabetes()
model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)
widget = PDPWidget(model, X, y, feature="bmi")
"""
"""Makes `widget`; to show it is the host's part."""

SELECTED = (
    "dict(text=widget.selection.text, n=widget.selection.n, mask=int(widget.selection.mask.sum()),"
    " pandas=int(X.eval(widget.selection.text).sum()) if widget.selection else 0)"
)
"""An expression for the host's Python: what is selected, and the same condition counted by pandas."""

CONTROL = """\
import anywidget
anywidget.AnyWidget(_esm="export default { render({ el }) { el.className = 'not-ours'; el.textContent = 'not ours'; } }")
"""
"""Shows a widget that is not ours: what the console says of it is the host's own."""

BRIGHTNESS = """node => {
    const [r, g, b] = getComputedStyle(node).backgroundColor.match(/\\d+(\\.\\d+)?/g).map(Number);
    return (r + g + b) / 765;
}"""
"""How bright a node's background is, from 0 (black) to 1."""


def wait_for_panels(widget: WidgetOnPage, seconds: float = 60) -> list[str]:
    """Wait until all panels on the page are done and drawn; return their names."""
    widget.root.wait_for(timeout=1000 * seconds)
    widget.wait_until_exact(seconds)
    panels = widget.root.locator("[data-testid^=panel-]")
    done = panels.and_(widget.page.locator("[data-state=done][data-stale=false]"))
    end = time.monotonic() + seconds
    while not 0 < panels.count() == done.count():
        states = panels.evaluate_all("nodes => nodes.map(node => ({...node.dataset}))")
        assert time.monotonic() < end, f"not all panels are done within {seconds} s: {states}"
        widget.page.wait_for_timeout(100)
    widget.root.locator("[data-testid=heatmap][data-drawn*='bmi|']").wait_for()
    widget.find("regions").wait_for(timeout=1000 * seconds)
    for plot, least in {"curves": 3000, "histogram": 1000, "heatmap": 3000, "matrix": 1000}.items():
        drawn = widget.pixels(plot)[0][0]
        assert drawn > least, f"{plot}: {drawn} pixels are drawn"
    return [name.removeprefix("panel-") for name in panels.evaluate_all("nodes => nodes.map(n => n.dataset.testid)")]


def check_brush(widget: WidgetOnPage, selected: Callable[[], dict[str, Any]], seconds: float = 20) -> dict[str, Any]:
    """Drag over the right part of the histogram; assert what `selected` (SELECTED in the host's Python) then says, and the page."""
    before = widget.pixels("curves")
    assert not selected()["text"]
    widget.drag("histogram", (0.6, 0.4), (0.9, 0.5))
    end = time.monotonic() + seconds
    # On a slow machine the brush may rest on its way and select twice: the last one counts, on both sides.
    while not (python := selected())["text"] or widget.n != python["n"]:
        assert time.monotonic() < end, f"within {seconds} s Python has {python} and the page {widget.n} rows"
        widget.page.wait_for_timeout(100)
    assert "bmi" in python["text"]
    assert 0 < python["n"] == python["mask"] == python["pandas"] < 442
    assert widget.selection == python["text"]
    widget.root.locator("[data-testid=curves][data-shown=exact]").wait_for(timeout=1000 * seconds)
    assert widget.pixels("curves") != before
    return python


PART = "widget.view('heatmap')"
"""Shows one of its panels apart."""


def check_part(part: WidgetOnPage, python: dict[str, Any], seconds: float = 20) -> None:
    """Assert that a part of the page (PART) is drawn, shows nothing else, and has the selection that `check_brush` returned."""
    part.root.locator("[data-testid=heatmap][data-drawn*='bmi|']").wait_for(timeout=1000 * seconds)
    assert part.pixels("heatmap")[0][0] > 3000
    assert part.find("curves").count() == 0
    assert part.selection == python["text"]
    assert part.n == python["n"]


def notebook(code: str) -> nbformat.NotebookNode:
    """Return a notebook of one cell."""
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return content


def watch(page: Page) -> list[str]:
    """Keep a page on this machine, and collect what it complains about from now on: errors on the console and uncaught exceptions."""
    page.route(re.compile(r"^https?://(?!127\.0\.0\.1|localhost)"), lambda route: route.abort())
    errors: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} {message.location.get('url', '')}".replace(page.url, "PAGE"))

    page.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))
    page.on("console", heard)
    return errors


def without(errors: Iterable[str], control: Iterable[str]) -> list[str]:
    """The complaints that a page of the same host without our widget does not have; numbers and ids do not count."""
    known = {_plain(error) for error in control}
    return [error for error in errors if _plain(error) not in known]


def _plain(error: str) -> str:
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "#", error)
