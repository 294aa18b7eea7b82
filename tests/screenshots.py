"""Pictures of the widget to look at: light and dark, narrow to wide, numbers and classes, before and after what a person does.

By hand: ``python tests/screenshots.py [diabetes bike penguins] [--widths 700 1400]``. They are written to ``screenshots/``. The pages
are exported ones, so no notebook is needed; bike and penguins need the teaching data sets (PDP_WIDGETS_DATA names their folder).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from lab import find_chromium, launch
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from widget_page import WidgetOnPage

from pdp_widgets import PDPWidget, datasets

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("PDP_WIDGETS_DATA") or REPOSITORY.parent / "shared" / "data")
WIDTHS = (700, 1000, 1400, 1900)
NOT_BIKE = ["instant", "dteday", "casual", "registered", "cnt", "days_since_2011", "cnt_2d_bfr", "atemp"]


def _fitted(model: Any, X: pd.DataFrame, y: Any) -> Any:
    categories = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(
        (categories, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return make_pipeline(columns, model).fit(X, y)


def diabetes() -> tuple[PDPWidget, str]:
    """Numbers only."""
    X, y = datasets.diabetes()
    return PDPWidget(GradientBoostingRegressor(random_state=0).fit(X, y), X, y), "bmi > 28 & blood_pressure > 95"


def bike() -> tuple[PDPWidget, str]:
    """Numbers and categories."""
    X = pd.read_csv(DATA / "bike.csv")
    y = X["cnt"]
    X = X.drop(columns=NOT_BIKE)
    return PDPWidget(
        _fitted(HistGradientBoostingRegressor(random_state=0), X, y), X, y
    ), "season == 'SUMMER' & temp > 20"


def penguins() -> tuple[PDPWidget, str]:
    """Three classes, missing values."""
    X = pd.read_csv(DATA / "penguins.csv").drop(columns=["rowid", "year"])
    y = X.pop("species")
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    return PDPWidget(_fitted(model, X, y), X, y), "bill_depth_mm > 18 & island in ['Dream', 'Biscoe']"


SETS: dict[str, Callable[[], tuple[PDPWidget, str]]] = {"diabetes": diabetes, "bike": bike, "penguins": penguins}


def export(name: str, folder: Path) -> dict[str, Path]:
    """Export a data set's page, with nothing and with rows selected."""
    widget, text = SETS[name]()
    pages = {"plain": widget.export_html(folder / f"{name}.html")}
    widget.select(text)
    widget.bookmark("as selected")
    widget.bookmark("the others", ~widget.selection.mask)
    pages["selected"] = widget.export_html(folder / f"{name}-selected.html")
    widget.close()
    return pages


def shoot(browser: Browser, page_file: Path, target: Path, width: int, scheme: Any, act: Any = None) -> None:
    """Write one picture of a page, perhaps after something was done on it."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.on("pageerror", lambda error: print(f"{target.name}: {error}", file=sys.stderr))
    page.goto(page_file.as_uri())
    page.wait_for_selector("[data-testid=curves][data-drawn]")
    if act:
        act(WidgetOnPage(page))
    page.wait_for_timeout(250)
    page.screenshot(path=target, full_page=True)
    context.close()


def brush(widget: WidgetOnPage) -> None:
    """Drag over the upper part of the histogram."""
    widget.drag("histogram", (0.55, 0.4), (0.8, 0.5))
    widget.page.mouse.move(2, 2)


ACTS: dict[str, Callable[[WidgetOnPage], Any]] = {
    "before": lambda _: None,
    "brushed": brush,
    "what-interacts": lambda widget: widget.find("ask-interacts").click(),
    "disagree": lambda widget: widget.find("ask-disagree").click(),
    "which-rules": lambda widget: widget.find("ask-rules").click(),
    "full-heatmap": lambda widget: widget.find("full-heatmap").click(),
    "full-curves": lambda widget: widget.find("full-curves").click(),
    "bookmarks": lambda widget: widget.find("bookmarks-open").click(),
}


def main() -> None:
    """Write all that were asked for."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; all by default")
    parser.add_argument("--widths", nargs="*", type=int, default=WIDTHS)
    asked = parser.parse_args()
    folder = REPOSITORY / "screenshots"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as pages_in, sync_playwright() as playwright:
        executable = find_chromium(playwright)
        assert executable, "no Chromium: see CONTRIBUTING"
        browser = launch(playwright, executable)
        for name in asked.sets or SETS:
            if name != "diabetes" and not DATA.is_dir():
                print(f"{name}: no data in {DATA}")
                continue
            pages = export(name, Path(pages_in))
            for width in asked.widths:
                for scheme in ("light", "dark"):
                    for what, page in pages.items():
                        shoot(browser, page, folder / f"{name}-{what}-{width}-{scheme}.png", width, scheme)
            for act, do in ACTS.items():
                page = pages["selected" if act == "bookmarks" else "plain"]
                shoot(browser, page, folder / f"{name}-{act}.png", 1400, "light", do)
            print(f"{name}: {folder}")
        browser.close()


if __name__ == "__main__":
    main()
