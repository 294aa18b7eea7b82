"""README's picture: `python tests/picture.py` runs the quickstart in JupyterLab, drags a brush over it and photographs the widget."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lab import REPOSITORY, find_chromium, launch, serve
from playwright.sync_api import sync_playwright
from widget_page import WidgetOnPage

TARGET = REPOSITORY / "notebooks" / "images" / "quickstart.png"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as lab, sync_playwright() as playwright:
        chromium = find_chromium(playwright)
        assert chromium, "no Chromium found"
        browser = launch(playwright, chromium)
        page = browser.new_page(viewport={"width": 1500, "height": 2000})
        notebook = lab.open(page, REPOSITORY / "notebooks" / "quickstart.ipynb")
        notebook.command("application:toggle-left-area")
        notebook.run_all()
        widget = WidgetOnPage(page)
        widget.choose("bmi")
        page.wait_for_timeout(1500)  # the sparklines of all features
        widget.drag("histogram", (0.55, 0.4), (0.97, 0.5))
        notebook.wait_until("widget._split.get('exact')")
        notebook.wait_until("widget._rules.get('status', {}).get('state') == 'done' and widget._rules.get('selection')")
        page.mouse.move(5, 5)
        page.wait_for_timeout(500)
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        widget.root.screenshot(path=TARGET)
        browser.close()
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
