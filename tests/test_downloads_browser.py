# ruff: noqa: F811
"""What one takes along from the page, in Chromium: files by name and content, the view as Python, and what a page without Python has.

The built bundle runs on the stub host; what the page asks is handed to a real widget, and what that answers to the page.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import live_page
import numpy as np
import pandas as pd
import pytest
from widget_tools import frame, make, predict  # noqa: F401

from pdp_widgets.widget import files

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Download, Page
    from stub_page import Stub

    from pdp_widgets import PDPWidget

pytestmark = pytest.mark.browser

X = frame(300)
PARTS = ("curves", "importance", "interactions", "heatmap", "rules")
NAMES = {"curves": "temp-partial-dependence", "heatmap": "temp-n-partial-dependence"}
COLOURS = """async (b64) => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + b64)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, image.width, image.height).data;
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) {
        const colour = [data[i], data[i + 1], data[i + 2], data[i + 3]].join(' ');
        seen.set(colour, (seen.get(colour) ?? 0) + 1);
    }
    const corner = [data[0], data[1], data[2], data[3]].join(' ');
    return {width: image.width, height: image.height, colours: seen.size, corner, share: seen.get(corner) / (data.length / 4)};
}"""


class Live(live_page.Live):
    """A widget whose page hands out files."""

    def take(self, menu: str, item: str) -> tuple[str, bytes]:
        """Choose from a menu; return the file's name and content."""
        with self.page.expect_download() as info:
            self.find(menu).click()
            self.find(f"{menu}-{item}").click()
            self.settle()
        return taken(info.value)


def taken(download: Download) -> tuple[str, bytes]:
    return download.suggested_filename, Path(download.path()).read_bytes()


@pytest.fixture
def live(open_stub: Callable[..., Stub], make: Callable[..., PDPWidget]) -> Callable[..., Live]:
    def open_page(scheme: str = "light", width: int = 1400, **options: Any) -> Live:
        return Live(
            open_stub(width, 1100, scheme), make(predict, X, **{"feature": "temp", "pair": ("temp", "n"), **options})
        )

    return open_page


@pytest.mark.parametrize("what", PARTS)
def test_a_file_is_what_python_writes(live: Callable[..., Live], tmp_path: Path, what: str) -> None:
    page = live()
    page.widget.select("n > 2")
    assert page.widget.wait(60)
    name = NAMES.get(what, f"predict-{what}")
    for form in ("png", "svg"):
        path = page.widget.save_image(tmp_path / f"f.{form}", what)
        assert page.take(f"download-{what}", form) == (f"{name}.{form}", path.read_bytes())
    path = page.widget.save_table(tmp_path / "f.csv", what)
    assert page.take(f"download-{what}", "csv") == (f"{name}.csv", path.read_bytes())
    assert page.find(f"download-{what}-png").count() == 0, "the menu is put away"


def test_what_is_switched_on_the_page_alone_is_in_the_file(live: Callable[..., Live], tmp_path: Path) -> None:
    page = live()
    page.find("heatmap-interaction").click()
    page.find("heatmap-swap").click()
    name, data = page.take("download-heatmap", "svg")
    assert name == "temp-n-interaction.svg"
    plain = page.widget.save_image(tmp_path / "h.svg", "heatmap", mode="interaction").read_text()
    assert b"interaction of n and temp" in data
    assert "interaction of temp and n" in plain


def test_keys_open_choose_and_leave(live: Callable[..., Live]) -> None:
    page = live()
    page.widget.select("n > 2")
    page.settle()
    button = page.find("download-rules")
    button.focus()
    page.page.keyboard.press("ArrowDown")
    focused = "() => document.activeElement.dataset.testid"
    found = [page.page.evaluate(focused)]
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "End", "Home", "ArrowUp"):
        page.page.keyboard.press(key)
        found.append(page.page.evaluate(focused))
    items = [f"download-rules-{form}" for form in ("png", "svg", "csv")]
    assert found == [items[k] for k in (0, 1, 2, 0, 2, 0, 2)]
    assert button.get_attribute("aria-expanded") == "true"
    page.page.keyboard.press("Escape")
    assert page.page.evaluate(focused) == "download-rules"
    assert page.find("download-rules-png").count() == 0
    page.settle()
    assert page.widget.selection.text == "n > 2", "Escape leaves the menu, not the selection"
    page.page.keyboard.press("Enter")
    with page.page.expect_download() as info:
        page.page.keyboard.press("End")
        page.page.keyboard.press("Enter")
        page.settle()
    assert taken(info.value)[0] == "predict-rules.csv"
    assert page.page.evaluate(focused) == "download-rules"
    # The pointer, or Tab, elsewhere puts it away.
    for leave in (lambda: page.find("title").click(), lambda: page.page.keyboard.press("Tab")):
        button.click()
        page.find("download-rules-png").wait_for()
        leave()
        page.find("download-rules-png").wait_for(state="detached")


def test_what_goes_wrong_is_said_in_the_menu(live: Callable[..., Live]) -> None:
    page = live(panels=["heatmap"])
    page.widget.stop()
    page.widget.pair = ("temp", "flag")
    page.settle()
    page.find("download-heatmap").click()
    page.find("download-heatmap-csv").click()
    page.settle()
    assert "is not computed: it was stopped" in page.find("download-heatmap-says").inner_text()
    assert page.find("download-heatmap-says").get_attribute("role") == "alert"


@pytest.mark.parametrize("allowed", [True, False])
def test_the_text_makes_the_same_view_again(live: Callable[..., Live], allowed: bool) -> None:
    page = live()
    page.widget.select("n > 2")
    page.settle()
    if allowed:
        page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.page.evaluate(
            "() => { window.copied = ''; Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}}); }"
        )
    else:
        page.page.evaluate("() => { document.execCommand = () => false; }")
    page.find("share").click()
    page.find("share-python").click()
    page.settle()
    if allowed:
        page.find("share-says").get_by_text("Copied").wait_for()
        text = page.page.evaluate("() => window.copied")
    else:
        field = page.find("share-text")
        field.wait_for()
        assert "did not allow it" in page.find("share-says").inner_text()
        text = field.input_value()
        chosen = field.evaluate("node => node.value.slice(node.selectionStart, node.selectionEnd)")
        assert chosen == text, "one key copies it"
        assert field.evaluate("node => document.activeElement === node")
    space: dict[str, Any] = {"model": predict, "X": X}
    exec(text, space)
    try:
        assert space["widget"].view_state == page.widget.view_state
        np.testing.assert_array_equal(space["widget"].selection.mask, page.widget.selection.mask)
    finally:
        space["widget"].close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_pillow_the_page_paints_its_own_canvases(
    live: Callable[..., Live], monkeypatch: pytest.MonkeyPatch, scheme: str, screenshots: Path
) -> None:
    page = live(scheme)
    page.widget.select("n > 2")
    page.settle()
    monkeypatch.setattr(files, "can_paint", lambda: False)
    before = page.find("curves").evaluate("node => node.querySelector('canvas').width")
    for what in ("curves", "interactions", "heatmap"):
        name, data = page.take(f"download-{what}", "png")
        (screenshots / f"painted-{what}-{scheme}.png").write_bytes(data)
        assert name == f"{NAMES.get(what, f'predict-{what}')}.png"
        check_painted(page.page, what, data, scheme)
    page.page.wait_for_timeout(100)
    assert page.find("curves").evaluate("node => node.querySelector('canvas').width") == before


def check_painted(page: Page, what: str, data: bytes, scheme: str) -> None:
    """The picture is as large as its canvases at twice their pixels, on the theme's ground, and not blank."""
    found = page.evaluate(COLOURS, base64.b64encode(data).decode("ascii"))
    plot = {"curves": "curves", "interactions": "matrix", "heatmap": "heatmap"}[what]
    box = page.get_by_test_id(plot).bounding_box()
    assert box is not None
    assert abs(found["width"] - 2 * (box["width"] + 24)) <= 4
    assert found["height"] > 2 * box["height"]
    assert found["corner"] == ("255 255 255 255" if scheme == "light" else "21 23 27 255")
    assert found["colours"] > 20
    assert 0.05 < found["share"] < 0.97


class TestWithoutPython:
    """An exported page, opened from disk."""

    @pytest.fixture
    def exported(
        self, browser: Browser, make: Callable[..., PDPWidget], tmp_path: Path
    ) -> Iterator[tuple[Page, PDPWidget]]:
        w = make(predict, X, feature="temp", pair=("temp", "n"))
        w.select("n > 2")
        context = browser.new_context(viewport={"width": 1400, "height": 1100})
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(w.export_html(tmp_path / "page.html").as_uri())
        page.locator("[data-testid=curves][data-drawn]").wait_for()
        yield page, w
        context.close()
        assert not errors

    def take(self, page: Page, menu: str, item: str) -> tuple[str, bytes]:
        with page.expect_download() as info:
            page.get_by_test_id(menu).click()
            page.get_by_test_id(f"{menu}-{item}").click()
        return taken(info.value)

    def test_pictures_are_painted_and_numbers_are_those_of_the_page(
        self, exported: tuple[Page, PDPWidget], tmp_path: Path
    ) -> None:
        page, w = exported
        for what in ("curves", "interactions", "heatmap"):
            name, data = self.take(page, f"download-{what}", "png")
            assert name == f"{NAMES.get(what, f'predict-{what}')}.png"
            check_painted(page, what, data, "light")
        name, data = self.take(page, "download-curves", "csv")
        assert name == "temp-partial-dependence.csv"
        found, own = pd.read_csv(io.BytesIO(data)), pd.read_csv(w.save_table(tmp_path / "c.csv"))
        for column in ("all", "selection", "rest"):
            mine = own[own["rows"] == column].average
            np.testing.assert_allclose(found["average" if column == "all" else column], mine, rtol=1e-9)
        np.testing.assert_allclose(found["temp"], own[own["rows"] == "all"]["temp"], rtol=1e-9)
        found = pd.read_csv(io.BytesIO(self.take(page, "download-importance", "csv")[1])).set_index("feature")
        own = pd.read_csv(w.save_table(tmp_path / "i.csv", "importance"))
        own = own[own["rows"] == "all"].set_index("feature").loc[found.index]
        for measure in ("pd_importance", "heterogeneity", "pdi"):
            np.testing.assert_allclose(found[measure], own[measure], rtol=1e-9)
        found = pd.read_csv(io.BytesIO(self.take(page, "download-interactions", "csv")[1]))
        own = pd.read_csv(w.save_table(tmp_path / "p.csv", "interactions"))
        pairs = ["feature_1", "feature_2"]
        both = found.merge(own, on=pairs, suffixes=("", "_own"))
        assert len(both) == len(own)
        np.testing.assert_allclose(both.strength, both.strength_own, rtol=1e-5, atol=1e-9)
        rows = list(csv.reader(self.take(page, "download-heatmap", "csv")[1].decode().splitlines()))
        own = pd.read_csv(w.save_table(tmp_path / "h.csv", "heatmap"))
        assert rows[0] == ["temp", "n", "average", "selection", "rest"]
        np.testing.assert_allclose(
            np.array([row[2] for row in rows[1:]], float), own[own["rows"] == "all"].average, rtol=1e-9
        )
        np.testing.assert_allclose(
            np.array([row[4] for row in rows[1:]], float), own[own["rows"] == "rest"].average, rtol=1e-9
        )

    def test_what_needs_python_says_so(self, exported: tuple[Page, PDPWidget]) -> None:
        page, _ = exported
        for menu, items in (
            ("download-curves", ["svg"]),
            ("download-importance", ["png", "svg"]),
            ("download-rules", ["png", "svg", "csv"]),
            ("share", ["python", "page"]),
        ):
            page.get_by_test_id(menu).click()
            for item in items:
                entry = page.get_by_test_id(f"{menu}-{item}")
                assert entry.get_attribute("aria-disabled") == "true"
                assert entry.get_attribute("title") == "Needs Python: run the cell first"
                entry.focus()
                page.keyboard.press("Enter")
                assert page.get_by_test_id(f"{menu}-says").inner_text() == "Needs Python: run the cell first"
            page.keyboard.press("Escape")


def test_the_exported_page_is_a_page(live: Callable[..., Live], browser: Browser, tmp_path: Path) -> None:
    page = live()
    name, data = page.take("share", "page")
    assert name == "predict-page.html"
    path = tmp_path / name
    path.write_bytes(data)
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    again = context.new_page()
    again.goto(path.as_uri())
    again.locator("[data-testid=curves][data-drawn]").wait_for()
    assert again.get_by_test_id("title").inner_text() == "temp"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [700, 1400])
def test_menus_as_they_look(live: Callable[..., Live], scheme: str, width: int, screenshots: Path) -> None:
    page = live(scheme, width)
    for menu in [*(f"download-{what}" for what in PARTS), "share"]:
        page.find(menu).click()
        page.find(f"{menu}-svg" if menu != "share" else "share-page").wait_for()
        popup = page.page.locator(".pdpw-popup").bounding_box()
        assert popup is not None
        assert popup["x"] >= 0, menu
        assert popup["x"] + popup["width"] <= width, menu
        page.page.screenshot(path=screenshots / f"{menu}-{width}-{scheme}.png", full_page=True)
        page.page.keyboard.press("Escape")
