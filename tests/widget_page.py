"""The widget on a page, as a person sees and handles it; shared by the tests in JupyterLab and on the stand-alone page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

CANVAS_PIXELS = """node => [...node.querySelectorAll('canvas')].map(canvas => {
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let drawn = 0, hash = 0;
    for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3]) drawn++;
        hash = (hash * 31 + data[i] * 3 + data[i + 1] * 5 + data[i + 2] * 7 + data[i + 3]) | 0;
    }
    return [drawn, hash];
})"""


class WidgetOnPage:
    """One widget in a page, found by its order."""

    def __init__(self, page: Page, number: int = 0) -> None:
        self.page = page
        self.root = page.locator(".pdpw").nth(number)

    def find(self, testid: str) -> Locator:
        return self.root.get_by_test_id(testid)

    def wait_until_exact(self, seconds: float = 40) -> None:
        """Wait until the focused feature's curve stands on all rows."""
        self.find("rows").get_by_text("exact").wait_for(timeout=1000 * seconds)

    @property
    def title(self) -> str:
        return self.find("title").inner_text()

    @property
    def n(self) -> int | None:
        """The selection's number of rows as the page says it."""
        text = self.find("selection-n").get_attribute("data-n")
        return int(text) if text else None

    @property
    def selection(self) -> str:
        return self.find("selection-text").input_value()

    def pixels(self, testid: str = "curves") -> list[list[int]]:
        """For each canvas of a plot: how many pixels are drawn, and a hash of them all."""
        return self.find(testid).evaluate(CANVAS_PIXELS)

    def choose(self, feature: str) -> None:
        """Click a feature in the list and wait until its curve is shown."""
        self.root.locator(f'[data-testid="feature"][data-name="{feature}"]').click()
        self.find("title").get_by_text(feature, exact=True).wait_for(timeout=20_000)
        self.wait_until_exact()

    def drag(
        self,
        testid: str,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        steps: int = 15,
        release: bool = True,
    ) -> None:
        """Drag with the mouse between two points of a plot, given as shares of its width and height."""
        plot = self.find(testid)
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        assert box is not None
        (x0, y0), (x1, y1) = (
            (box["x"] + share[0] * box["width"], box["y"] + share[1] * box["height"]) for share in (start, end)
        )
        self.page.mouse.move(x0, y0)
        self.page.mouse.down()
        self.page.mouse.move(x1, y1, steps=steps)
        if release:
            self.page.mouse.up()
