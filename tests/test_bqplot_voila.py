"""The dashboard of bqplot figures as a page of Voila, with a real kernel: brushes and clicks on them select and focus in Python."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import REPOSITORY, missing
from hosts import brush
from hosts.server import free_port, running

from pdp_widgets import datasets

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Voila shows the dashboard."""
    try:
        import voila as package  # noqa: F401
    except ImportError:
        missing("voila is not installed")
    folder = tmp_path_factory.mktemp("voila")
    (folder / "notebooks").mkdir()
    shutil.copy(REPOSITORY / "notebooks" / "dashboard.ipynb", folder / "notebooks")
    port = free_port()
    command = [sys.executable, "-m", "voila", "notebooks", "--no-browser", "--Voila.ip=127.0.0.1", f"--port={port}"]
    with running(command, folder, f"http://127.0.0.1:{port}"):
        yield f"http://127.0.0.1:{port}/voila/render/dashboard.ipynb"


class Dashboard:
    """The page, as a person sees and handles it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said = page.locator(".said")

    def figure(self, title: str) -> Locator:
        return self.page.locator(".bqplot", has=self.page.locator(".mainheading", has_text=title))

    def drag(self, title: str, start: float, end: float) -> None:
        plot = self.figure(title).locator(".plotarea_events")
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + start * box["width"], y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + end * box["width"], y, steps=15)
        self.page.mouse.up()

    def until(self, true: Callable[[], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, self.said.inner_text()
            self.page.wait_for_timeout(100)


def test_a_drag_over_a_figure_selects_in_python_and_a_click_on_a_bar_moves_the_focus(
    browser: Browser, voila: str, screenshots: Path
) -> None:
    X, _ = datasets.diabetes()
    with browser.new_context(viewport={"width": 1400, "height": 900}) as context:
        page = context.new_page()
        errors = brush.watch(page)
        page.goto(voila)
        dashboard = Dashboard(page)
        dashboard.figure("bmi (442 of 442 rows)").locator(".plotarea_events").wait_for(timeout=90_000)
        assert dashboard.said.inner_text().startswith("everybody: 442 patients")

        dashboard.drag("bmi (442 of 442 rows)", 0.6, 0.9)
        dashboard.until(lambda: "bmi" in dashboard.said.inner_text())
        page.wait_for_timeout(500)
        found = re.match(r"([\d.]+) <= bmi <= ([\d.]+): (\d+) patients", dashboard.said.inner_text())
        assert found, dashboard.said.inner_text()
        low, high, n = (float(part) for part in found.groups())
        assert 0 < n == X["bmi"].between(low, high).sum() < 442
        legend = dashboard.figure("bmi (442 of 442 rows)").locator(".legendtext")
        legend.get_by_text(f"selected (n = {n:.0f})").wait_for()

        dashboard.drag("by age", 0.2, 0.5)
        dashboard.until(lambda: "age" in dashboard.said.inner_text())
        assert "<= bmi <=" in dashboard.said.inner_text(), "what is selected elsewhere stays"
        page.screenshot(path=screenshots / "dashboard.png")

        bars = dashboard.figure("Importance").locator(".bar")
        assert bars.count() == 8
        bars.first.click()
        dashboard.until(lambda: dashboard.figure("bmi (").count() == 0)
        assert page.locator("select").evaluate("node => node.selectedOptions[0].label") in X.columns

        page.get_by_role("button", name="everybody").click()
        dashboard.until(lambda: dashboard.said.inner_text().startswith("everybody: 442 patients"))
        dashboard.figure("by age").locator(".selection").first.wait_for(state="hidden")
        assert [error for error in errors if "uncaught" in error] == []
