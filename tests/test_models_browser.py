# ruff: noqa: F811
"""Several models on one page in Chromium, with a real widget behind it: the menu, the curves beside, the read-out, bookmarks as groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from live_page import Live
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from widget_tools import make  # noqa: F401

from pdp_widgets import PDPWidget, datasets

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from stub_page import Stub

pytestmark = pytest.mark.browser

# Hues of the second and the third model.
VERMILION, SKY = (213, 94, 0), (86, 180, 233)
GREEN = (0, 158, 115)


@pytest.fixture(scope="module")
def models() -> tuple[dict[str, Any], Any]:
    birds = datasets.penguins()
    X, y = birds[["body_mass_g", "bill_depth_mm"]].astype(float), birds["sex"]
    X["species"] = birds["species"].astype(str)
    numbers = X[["body_mass_g", "bill_depth_mm"]].columns

    class Only:
        """A model that looks at the numbers only."""

        def __init__(self, model: Any) -> None:
            self.model = model.fit(X[numbers], y)
            self.classes_ = self.model.classes_

        def predict_proba(self, rows: Any) -> Any:
            return self.model.predict_proba(rows[numbers])

    return {
        "forest": Only(RandomForestClassifier(30, min_samples_leaf=5, random_state=0)),
        "logistic": Only(make_pipeline(StandardScaler(), LogisticRegression())),
    }, X


@pytest.fixture
def live(open_stub: Callable[..., Stub], make: Callable[..., PDPWidget]) -> Callable[..., Live]:
    def open_page(models: Any, X: Any, **options: Any) -> Live:
        options = {"panels": ["effects"], "feature": "body_mass_g", "output": "female", "theme": "light", **options}
        return Live(open_stub(), make(models, X, **options))

    return open_page


def ink(page: Live, rgb: tuple[int, int, int]) -> int:
    """How many pixels of the curves have a colour."""
    page.page.mouse.move(2, 2)
    page.page.wait_for_timeout(60)
    return int(
        page.page.evaluate(
            """(rgb) => {
                const canvas = stub.widgets[0].el.querySelectorAll('[data-testid=curves] canvas')[1];
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                let found = 0;
                for (let i = 0; i < data.length; i += 4)
                    found += data[i + 3] === 255 && rgb.every((v, c) => Math.abs(data[i + c] - v) < 4) ? 1 : 0;
                return found;
            }""",
            list(rgb),
        )
    )


def read(page: Live, value: float) -> dict[str, str]:
    """The read-out over a value of the focused feature: what each curve says there."""
    plot = page.stub.plot("[data-testid=curves]")
    page.page.mouse.move(plot.px(value), plot.middle)
    page.page.wait_for_timeout(80)
    rows = page.find("readout").locator("tr")
    return {
        rows.nth(k).locator("th").inner_text().strip(): rows.nth(k).locator("td").first.inner_text()
        for k in range(rows.count())
    }


def test_the_menu_changes_the_model_and_the_selection_stays(live: Callable[..., Live], models: Any) -> None:
    page = live(*models)
    menu = page.find("model")
    assert menu.locator("option").all_inner_texts() == ["forest", "logistic"]
    assert menu.input_value() == "forest"
    page.widget.select("bill_depth_mm > 17")
    page.settle()
    before = page.find("selection-n").get_attribute("data-n")
    page.pick("model", "logistic")
    assert page.widget.model == "logistic"
    assert menu.input_value() == "logistic"
    assert page.find("selection-n").get_attribute("data-n") == before
    expected = page.widget.explainers["logistic"].partial_dependence("body_mass_g", output="female")
    points, average = expected.grid_values[0], expected.average[0]
    at = len(points) // 2
    said = read(page, float(points[at]))
    inside = page.widget.explainers["forest"].partial_dependence(
        "body_mass_g", output="female", subgroup="bill_depth_mm > 17"
    )
    assert float(said["forest, selected"]) == pytest.approx(inside.average[0, at], abs=6e-4)
    assert float(said["all rows (logistic)"]) == pytest.approx(average[at], abs=6e-4)  # beside "selection" and "rest"
    page.widget.model = "forest"  # Python's word is the page's, too
    page.settle()
    assert menu.input_value() == "forest"
    assert page.overlays == ["model-1"]


def test_the_other_models_curve_is_drawn_named_and_switched_off(live: Callable[..., Live], models: Any) -> None:
    page = live(*models)
    assert page.overlays == ["model-1"]
    on = ink(page, VERMILION)
    assert on > 100
    each = {
        name: explainer.partial_dependence("body_mass_g", output="female")
        for name, explainer in page.widget.explainers.items()
    }
    points = each["forest"].grid_values[0]
    said = read(page, float(points[10]))
    for name, expected in each.items():
        assert float(said[name]) == pytest.approx(expected.average[0, 10], abs=6e-4)
    page.find("centered").click()
    said = read(page, float(points[-5]))
    for name, expected in each.items():
        change = expected.average[0, -5] - expected.average[0, 0]
        assert float(said[name].replace("\u2212", "-")) == pytest.approx(change, abs=6e-4)
    page.find("slope").click()
    page.page.wait_for_timeout(60)
    assert page.overlays == ["model-1"]
    page.find("slope").click()
    toggle = page.find("models")
    assert toggle.get_attribute("aria-pressed") == "true"
    page.press("models")
    assert page.widget.show_models is False
    assert page.overlays == []
    assert ink(page, VERMILION) == 0
    assert "all rows" in read(page, float(points[10]))
    page.press("models")
    assert ink(page, VERMILION) > 100


def test_hues_mean_one_thing_at_a_time(live: Callable[..., Live], models: Any) -> None:
    page = live(*models)
    page.pick("by", "species")
    assert all(key.startswith("group-") for key in page.overlays)
    assert page.find("models").get_attribute("aria-pressed") == "false"
    page.press("models")  # asked for again, they take the groups' place
    assert (page.widget.by, page.widget.show_models) == ("", True)
    assert page.overlays == ["model-1"]
    page.pick("color-by", "species")  # so do levels that colour lines
    assert page.overlays == []
    page.press("models")
    assert (page.widget.color_by, page.overlays) == ("", ["model-1"])
    page.pick("color-by", "bill_depth_mm")  # a scale has no hues
    assert page.overlays == ["model-1"]
    page.press("effect-ale")
    assert page.overlays == ["ale", "model-1"]


def test_a_third_model_keeps_its_hue(live: Callable[..., Live], models: Any) -> None:
    known, X = models
    page = live({**known, "again": known["forest"]}, X)
    assert page.overlays == ["model-1", "model-2"]
    assert ink(page, SKY) > 50
    page.pick("model", "logistic")
    assert page.overlays == ["model-0", "model-2"]
    assert ink(page, SKY) > 50
    assert ink(page, GREEN) > 0
    assert ink(page, VERMILION) == 0


def test_one_model_has_a_name_and_no_menu(live: Callable[..., Live], models: Any) -> None:
    known, X = models
    page = live(known["forest"], X)
    assert page.find("model").count() == 0
    assert page.find("models").count() == 0
    assert page.page.locator(".pdpw-model").inner_text() == "Only"


def test_two_bookmarks_can_be_compared(live: Callable[..., Live], models: Any) -> None:
    known, X = models
    page = live(known, X)
    options = page.find("by").locator("option")
    assert "bookmarks" not in options.all_inner_texts()
    page.widget.bookmark("heavy ones", "body_mass_g > 4500")
    page.settle()
    assert "bookmarks" not in options.all_inner_texts()
    page.widget.bookmark("deep bills", "bill_depth_mm > 18")
    page.settle()
    assert options.all_inner_texts()[1] == "bookmarks"
    page.pick("by", "bookmarks")
    assert page.widget.by == "bookmarks"
    assert page.overlays == ["group-0", "group-1"]
    assert ink(page, GREEN) > 50
    explainer = page.widget.explainer
    points = explainer.grid("body_mass_g").values
    said = read(page, float(points[12]))
    for name, condition in page.widget.bookmarks.items():
        expected = explainer.partial_dependence("body_mass_g", output="female", subgroup=condition)
        assert float(said[name]) == pytest.approx(expected.average[0, 12], abs=6e-4)
    page.widget.bookmarks = {}
    page.settle()
    assert page.find("by").input_value() == ""
    assert page.overlays == ["model-1"]


def test_an_exported_page_shows_the_curves_and_says_that_python_is_needed_for_another_model(
    browser: Browser, make: Callable[..., PDPWidget], models: Any, tmp_path: Any
) -> None:
    widget = make(*models, feature="body_mass_g", output="female", panels=["effects"])
    path = widget.export_html(tmp_path / "models.html")
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    curves = page.locator("[data-testid=curves][data-overlays='model-1']")
    curves.wait_for()
    assert page.get_by_test_id("model").is_disabled()
    assert page.get_by_test_id("model").input_value() == "forest"
    page.get_by_test_id("models").click()
    page.locator("[data-testid=curves][data-overlays='']").wait_for()
    page.locator("[data-testid=feature][data-name=bill_depth_mm]").click()
    page.get_by_test_id("title").get_by_text("bill_depth_mm").wait_for()
    context.close()
    assert errors == []
