"""A page with the built bundle on a stub of a notebook host, and what a person does on it; for test_bundle_browser.py.

The stub itself (js/tests/stub.mjs) holds made-up data and remembers the page's messages; no kernel is involved.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

REPOSITORY = Path(__file__).resolve().parent.parent
BUNDLE = REPOSITORY / "pdp_widgets" / "static" / "widget.js"
SERVED = {
    "/widget.js": BUNDLE,
    "/demo/data.mjs": REPOSITORY / "js" / "demo" / "data.mjs",
    "/tests/stub.mjs": REPOSITORY / "js" / "tests" / "stub.mjs",
}
PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"><title>stub</title></head>'
    '<body style="margin:0"><script type="module" src="/tests/stub.mjs"></script></body></html>'
)
HIST, CURVES = "[data-testid=histogram]", "[data-testid=curves]"


class Stub:
    """One page of the stub host, and what a person does on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.route("http://stub.test/**", self._serve)
        page.goto("http://stub.test/")
        page.wait_for_function("window.stub !== undefined")

    def _serve(self, route: Any) -> None:
        path = "/" + route.request.url.split("/", 3)[3].split("?")[0]
        if path == "/":
            route.fulfill(body=PAGE, content_type="text/html")
        elif path in SERVED:
            route.fulfill(body=SERVED[path].read_text(encoding="utf-8"), content_type="text/javascript")
        else:
            route.fulfill(status=204)

    def open(self, *, wait: bool = True, **options: Any) -> int:
        index = self.page.evaluate("(options) => stub.open(options)", options)
        if wait:
            self.page.wait_for_function(
                "(i) => stub.widgets[i].el.querySelector('[data-testid=curves][data-drawn]')", arg=index
            )
        return int(index)

    def call(self, name: str, *args: Any) -> Any:
        return self.page.evaluate("([name, args]) => stub[name](...args)", [name, list(args)])

    def requests(self, method: str, index: int = 0) -> list[dict[str, Any]]:
        return list(self.call("requests", method, index))

    def selects(self, index: int = 0) -> list[dict[str, Any]]:
        return [message["params"] for message in self.requests("select", index)]

    def conditions(self, index: int = 0) -> list[tuple[str, dict[str, Any]]]:
        return [(params["op"], params["condition"]) for params in self.selects(index)]

    def wait_for(self, expression: str, **options: Any) -> None:
        self.page.wait_for_function(expression, **options)

    def wait_requests(self, method: str, count: int, index: int = 0) -> list[dict[str, Any]]:
        self.wait_for(f"stub.requests('{method}', {index}).length >= {count}", timeout=5000)
        return self.requests(method, index)

    def plot(self, selector: str, index: int = 0) -> Plot:
        return Plot(
            self.page.evaluate(
                """([selector, index]) => {
                    const node = stub.widgets[index].el.querySelector(selector);
                    node.scrollIntoView({block: "nearest"});
                    const box = node.getBoundingClientRect();
                    return {left: box.left, top: box.top, ...node.dataset};
                }""",
                [selector, index],
            )
        )

    def drag(
        self, start: tuple[float, float], end: tuple[float, float], *, steps: int = 10, release: bool = True
    ) -> None:
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=steps)
        if release:
            self.page.mouse.up()

    def text(self, testid: str) -> str:
        return self.page.locator(f"[data-testid={testid}]").first.text_content() or ""


class Plot:
    """A plot's area: pixels of the window to data and back."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.left, self.top = data["left"], data["top"]
        self.x0, self.x1, self.y0, self.y1 = (float(data[k]) for k in ("x0", "x1", "y0", "y1"))
        self.low, self.high = float(data["domainX0"]), float(data["domainX1"])
        self.centers = [float(v) for v in data["centers"].split(",")] if data["centers"] else []
        self.middle = self.top + (self.y0 + self.y1) / 2
        self.unit = (self.high - self.low) / (self.x1 - self.x0)

    def px(self, value: float) -> float:
        return float(self.left + self.x0 + (value - self.low) / self.unit)

    def value(self, px: float) -> float:
        return float(self.low + (px - self.left - self.x0) * self.unit)

    def py(self, value: float) -> float:
        low, high = float(self.data["domainY0"]), float(self.data["domainY1"])
        return float(self.top + self.y0 + (value - low) / (high - low) * (self.y1 - self.y0))

    def readable(self, px: float) -> float:
        """What a brush's end at this pixel is rounded to."""
        return round(self.value(px), -math.floor(math.log10(2 * self.unit)))
