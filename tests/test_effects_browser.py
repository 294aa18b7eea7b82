"""The controls of the focused curve, the curves beside it, hints and regions, in the built bundle on a stub of a notebook host.

The kernel's part is played by pictures that the test sets; what the page asks for is read from what it sends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from stub_page import BUNDLE, CURVES, HIST, Stub

from pdp_widgets import PDPWidget

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

DONE = {"state": "done", "message": None, "cost": 0, "stale": False}
PANELS = ["effects", "regions"]

# A picture around the curve on screen: values are that curve's, moved by a number.
PICTURE = """([changes, index]) => {
    const { model } = stub.widgets[index];
    const curve = model.get("_curve");
    const raw = ({view, shape}) => Array.from({length: shape[0]}, (_, k) => view.getFloat64(8 * k, true));
    const [x, average] = [raw(curve.x), raw(curve.average)];
    const moved = (by) => average.map((v) => v + by);
    const m = model.get("_sample").labels.length;
    const effects = {
        feature: curve.feature, output: curve.output, effect: "pd", by: "", selection_id: 0, ale: null, groups: null,
        observed: null, outputs: null, hints: [], colour: null, notes: [],
        status: {state: "done", message: null, cost: 0, stale: false},
    };
    if (changes.ale) {
        const side = (by) => ({x, values: moved(by), n: 500});
        effects.effect = "ale";
        effects.ale = {all: side(20), selection: null, rest: null};
        if (changes.ale === "sides") {
            effects.ale.selection = side(40);
            effects.ale.rest = side(-40);
            effects.selection_id = model.get("_selection").id;
        }
    }
    const label = changes.label ?? "group";
    if (changes.groups) {
        effects.by = changes.by;
        effects.groups = {
            by: changes.by, selected: changes.selected === true, codes: {...packed(Array.from({length: m}, (_, i) => i % changes.groups))},
            levels: Array.from({length: changes.groups}, (_, g) => ({
                label: `${label} ${g}`, condition: `season == '${g}'`, n: 100 + g, x: null, values: moved(10 * g - 15),
                thin: x.map(() => Number(g === changes.thin)),
            })),
        };
    }
    function packed(values) {
        const bytes = Uint8Array.from(values);
        return {view: new DataView(bytes.buffer), dtype: "uint8", shape: [values.length]};
    }
    if (changes.observed)
        effects.observed = {
            x: [x[2], x[20]], outcome: [average[2] + 5, average[20] - 5], predicted: [average[2], average[20]],
            residual: [5, -5], stderr: [1, 2], n: [40, 60],
        };
    if (changes.outputs) {
        const names = model.get("_info").outputs;
        effects.outputs = {names, averages: names.flatMap((_, o) => moved(-0.1 * o))};
    }
    if (changes.hints) effects.hints = changes.hints;
    if (changes.notes) effects.notes = changes.notes;
    if (changes.colour === "season")
        effects.colour = {feature: "season", kind: "category", labels: ["spring", "summer", "autumn", "winter"],
                          values: Array.from({length: m}, (_, i) => i % 4)};
    if (changes.colour === "hour")
        effects.colour = {feature: "hour", kind: "number", labels: null, values: Array.from({length: m}, (_, i) => i % 24)};
    if (changes.status) effects.status = changes.status;
    return effects;
}"""

HINTS = [
    {
        "kind": "heterogeneity",
        "severity": "warning",
        "text": "rows disagree (38 %), mostly by workday",
        "about": "share",
    },
    {"kind": "thin", "severity": "note", "text": "few rows beyond 30: dashed there", "about": "few"},
]
SPLIT = {
    "within": "",
    "by": "workday",
    "condition": "workday == 'False'",
    "gain": 0.48,
    "gain_check": 0.45,
    "sides": [
        {"text": "workday == 'False'", "label": "workday = False", "n": 300},
        {"text": "workday == 'True'", "label": "workday = True", "n": 700},
    ],
}
INNER = {**SPLIT, "within": "workday = True", "condition": "hour < 7", "gain": 0.2}
REGIONS = {
    "feature": "temp",
    "output": "count",
    "here": {"splits": [SPLIT, INNER], "reason": "", "heterogeneity": 4.0, "rows": 1000, "rows_total": 1000},
    "all": [
        {"feature": "temp", "by": "workday", "text": "", "label": "", "removed": 0.48, "size": 4.0, "n": 300},
        {
            "feature": "hour",
            "by": "workday",
            "text": "",
            "label": "workday = True",
            "removed": 0.6,
            "size": 3.0,
            "n": 700,
        },
    ],
    "done": 12,
    "total": 12,
    "status": DONE,
}


@pytest.fixture
def stub(browser: Browser) -> Iterator[Stub]:
    """A stub host of 1200 x 900; the test fails if the page logged an error."""
    if not BUNDLE.is_file():
        pytest.fail("the bundle is not built: cd js && npm ci && npm run build", pytrace=False)
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    stub = Stub(context.new_page())
    yield stub
    errors = stub.errors
    context.close()
    assert errors == []


def opened(stub: Stub, *, classes: int = 0, **traits: Any) -> Stub:
    stub.open(record={"rows": 1000, "sample": 300, "classes": classes}, traits={"panels": PANELS, **traits})
    return stub


def effects(stub: Stub, **changes: Any) -> None:
    """Send the picture of the curve on screen."""
    stub.call("set", "_effects", stub.page.evaluate(f"(args) => {{ window.made = ({PICTURE})(args); }}", [changes, 0]))
    stub.page.evaluate("() => stub.set('_effects', window.made)")
    stub.page.wait_for_timeout(60)


def painted(stub: Stub, layer: int = 0) -> int:
    """A number that tells one picture of the curves from another."""
    return int(
        stub.page.evaluate(
            """(layer) => {
                const canvas = stub.widgets[0].el.querySelectorAll('[data-testid=curves] canvas')[layer];
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                let hash = 0;
                for (let i = 0; i < data.length; i++) hash = (hash * 31 + data[i]) | 0;
                return hash;
            }""",
            layer,
        )
    )


def has_colour(stub: Stub, rgb: tuple[int, int, int], layer: int = 1) -> bool:
    """Whether a colour is drawn somewhere."""
    return ink(stub, rgb, layer) > 0


def ink(stub: Stub, rgb: tuple[int, int, int], layer: int = 1) -> int:
    """How many pixels have a colour."""
    return int(
        stub.page.evaluate(
            """([rgb, layer]) => {
                const canvas = stub.widgets[0].el.querySelectorAll('[data-testid=curves] canvas')[layer];
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                let found = 0;
                for (let i = 0; i < data.length; i += 4)
                    found += data[i + 3] === 255 && rgb.every((v, c) => Math.abs(data[i + c] - v) < 4) ? 1 : 0;
                return found;
            }""",
            [list(rgb), layer],
        )
    )


def saved(stub: Stub) -> dict[str, Any]:
    """The last value that the page set of each trait."""
    return dict(stub.call("saved"))


def overlays(stub: Stub) -> list[str]:
    stub.page.wait_for_timeout(50)
    text = stub.page.locator(CURVES).get_attribute("data-overlays") or ""
    return text.split(",") if text else []


def click(stub: Stub, testid: str) -> None:
    stub.page.get_by_test_id(testid).first.click()
    stub.page.wait_for_timeout(50)


def pressed(stub: Stub, testid: str) -> bool:
    return stub.page.get_by_test_id(testid).first.get_attribute("aria-pressed") == "true"


def readout(stub: Stub, share: float = 0.5) -> str:
    plot = stub.plot(CURVES)
    stub.page.mouse.move(plot.left + plot.x0 + share * (plot.x1 - plot.x0), plot.middle)
    stub.page.get_by_test_id("readout").wait_for()
    return stub.text("readout")


# ---- effect, groups, looks -------------------------------------------------------------------------------------------


def test_ale_is_asked_for_and_takes_the_place_of_the_partial_dependence(stub: Stub) -> None:
    opened(stub)
    effects(stub)
    assert overlays(stub) == []
    click(stub, "effect-ale")
    assert saved(stub)["effect"] == "ale"
    assert overlays(stub) == []  # nothing jumps before the answer
    effects(stub, ale=True)
    assert overlays(stub) == ["ale"]
    text = readout(stub)
    assert text.index("ALE") < text.index("PD")
    stub.call("answer", {"id": 3, "text": "hour > 9", "n": 400})
    effects(stub, ale="sides")
    assert overlays(stub) == ["ale-rest", "ale", "ale-selection"]
    assert has_colour(stub, (0x25, 0x56, 0xE8))
    assert "selection" in readout(stub, 0.4)
    click(stub, "effect-pd")
    assert saved(stub)["effect"] == "pd"
    assert overlays(stub) == []


def test_groups_have_a_curve_each_in_hues_that_are_not_the_selections(stub: Stub) -> None:
    opened(stub)
    effects(stub)
    plain, before = painted(stub), painted(stub, 1)
    select = stub.page.get_by_test_id("by")
    options = select.locator("option").all_text_contents()
    assert "season" in options
    assert "temp" not in options  # the focused one itself
    select.select_option("season")
    assert saved(stub)["by"] == "season"
    effects(stub, groups=4, by="season")
    assert overlays(stub) == ["group-0", "group-1", "group-2", "group-3"]
    assert painted(stub, 1) != before
    assert painted(stub) != plain  # single lines have their groups' colours
    assert has_colour(stub, (0xD5, 0x5E, 0x00))
    assert not has_colour(stub, (0x25, 0x56, 0xE8))
    text = readout(stub)
    for g in range(4):
        assert f"group {g}" in text
        assert f"n {100 + g}" in text
    select.select_option("")
    assert saved(stub)["by"] == ""
    assert overlays(stub) == []


def test_a_group_is_dashed_where_few_of_its_rows_are_and_says_when_it_is_of_the_selected(stub: Stub) -> None:
    opened(stub, by="season")
    effects(stub, groups=4, by="season")
    assert len(overlays(stub)) == 4
    solid = ink(stub, (0x00, 0x9E, 0x73))
    others = ink(stub, (0xD5, 0x5E, 0x00))
    effects(stub, groups=4, by="season", thin=0)
    assert len(overlays(stub)) == 4
    assert 0.3 * solid < ink(stub, (0x00, 0x9E, 0x73)) < 0.8 * solid  # dashes and gaps are as long
    assert ink(stub, (0xD5, 0x5E, 0x00)) == pytest.approx(others, rel=0.1)
    assert "dashed: few rows near this value in group 0" in readout(stub)
    effects(stub, groups=4, by="season", selected=True)
    text = readout(stub)
    assert "group 0, selected" in text
    assert "n 100" in text
    assert "few rows" not in text


def test_a_condition_as_groups_is_an_option_of_its_own(stub: Stub) -> None:
    opened(stub, by="hour < 7")
    effects(stub, groups=2, by="hour < 7")
    assert overlays(stub) == ["group-0", "group-1"]
    assert stub.page.get_by_test_id("by").input_value() == "hour < 7"


def test_level_centred_and_slope(stub: Stub) -> None:
    opened(stub)
    effects(stub)
    level = stub.plot(CURVES).data
    click(stub, "slope")
    assert (saved(stub)["derivative"], pressed(stub, "slope"), pressed(stub, "centered")) == (True, True, False)
    assert stub.text("ylabel") == "slope of prediction of count per unit of temp"
    sloped = stub.plot(CURVES).data
    # all rows' own slopes lie within the axis
    steepest = stub.page.evaluate(
        """() => {
            const curve = stub.widgets[0].model.get('_curve');
            const raw = ({view, shape}) => Array.from({length: shape[0]}, (_, k) => view.getFloat64(8 * k, true));
            const [x, y] = [raw(curve.x), raw(curve.average)];
            return Math.max(...x.slice(1).map((v, k) => (y[k + 1] - y[k]) / (v - x[k])));
        }"""
    )
    assert float(sloped["domainY1"]) >= steepest
    assert float(sloped["domainY1"]) < 0.5 * float(level["domainY1"])
    click(stub, "centered")
    assert (saved(stub)["derivative"], saved(stub)["centered"]) == (False, True)
    assert (pressed(stub, "slope"), pressed(stub, "centered")) == (False, True)
    click(stub, "centered")
    assert saved(stub)["centered"] is False
    assert stub.plot(CURVES).data["domainY1"] == level["domainY1"]


def test_slopes_are_not_selected_by_dragging(stub: Stub) -> None:
    opened(stub, derivative=True)
    effects(stub)
    plot = stub.plot(CURVES)
    stub.drag((plot.px(5), plot.middle - 20), (plot.px(10), plot.middle + 20))
    assert "Slopes cannot be selected" in stub.text("curve-message")
    assert stub.selects() == []


def test_a_category_has_no_slope(stub: Stub) -> None:
    stub.open(record={"first": "season", "only": ["season"]}, traits={"panels": PANELS, "derivative": True})
    assert stub.page.get_by_test_id("slope").is_disabled()
    assert stub.text("ylabel") == "prediction of count"


def test_lines_are_coloured_by_a_feature(stub: Stub) -> None:
    opened(stub)
    effects(stub)
    plain = painted(stub)
    stub.page.get_by_test_id("color-by").select_option("season")
    assert saved(stub)["color_by"] == "season"
    effects(stub, colour="season")
    assert painted(stub) != plain
    assert stub.text("lines-legend") == "lines by seasonspringsummerautumnwinter"
    stub.page.get_by_test_id("color-by").select_option("hour")
    effects(stub, colour="hour")
    assert stub.text("lines-legend") == "lines by hour023"
    # hues mean one thing at a time: choosing a category takes groups away, and the other way round
    stub.page.get_by_test_id("by").select_option("weather")
    assert (saved(stub)["by"], saved(stub)["color_by"]) == ("weather", "hour")
    stub.page.get_by_test_id("color-by").select_option("season")
    assert (saved(stub)["by"], saved(stub)["color_by"]) == ("", "season")


def test_observed_means(stub: Stub) -> None:
    opened(stub)
    effects(stub)
    assert stub.page.get_by_test_id("observed").count() == 0  # no outcome
    effects(stub, observed=True)
    before = painted(stub, 1)
    click(stub, "observed")
    assert painted(stub, 1) != before
    text = readout(stub, 0.5)
    assert "observed" in text
    assert "± 2" in text
    assert "n 60" in text
    assert "predicted there" in text
    click(stub, "centered")
    assert stub.page.get_by_test_id("observed").is_disabled()


def test_all_classes(stub: Stub) -> None:
    opened(stub, classes=3)
    effects(stub, outputs=True)
    click(stub, "classes")
    assert overlays(stub) == ["class-1", "class-2"]
    text = readout(stub)
    assert all(name in text for name in ("class 1", "class 2", "class 3"))
    assert "all rows" not in text
    click(stub, "classes")
    assert overlays(stub) == []


def test_controls_by_keyboard(stub: Stub) -> None:
    opened(stub)
    effects(stub)
    stub.page.get_by_test_id("effect-pd").focus()
    for _ in range(2):
        stub.page.keyboard.press("Tab")
    assert stub.page.evaluate("document.activeElement.dataset.testid") == "ice"
    stub.page.keyboard.press("Tab")
    stub.page.keyboard.press("Space")
    assert saved(stub)["centered"] is True
    stub.page.locator(CURVES).focus()
    effects(stub, groups=2, by="")
    stub.page.get_by_test_id("by").select_option("season")
    effects(stub, groups=2, by="season")
    stub.page.locator(CURVES).focus()
    stub.page.keyboard.press("Home")
    assert "group 1" in stub.text("spoken")


# ---- hints and regions -------------------------------------------------------------------------------------------------


def test_hints_are_dismissed_until_the_feature_changes(stub: Stub) -> None:
    opened(stub)
    effects(stub, hints=HINTS)
    lines = stub.page.locator("[data-testid=hints] li")
    assert lines.evaluate_all("nodes => nodes.map(n => n.dataset.kind)") == ["heterogeneity", "thin"]
    assert "Rows disagree (38 %), mostly by workday" in stub.text("hints")
    stub.page.get_by_label("Dismiss: few rows beyond 30: dashed there").click()
    assert lines.count() == 1
    effects(stub, hints=HINTS)  # the same picture once more
    assert lines.count() == 1
    stub.call("set", "feature", "hour")
    stub.call("show", "hour", "count")
    effects(stub, hints=HINTS)
    assert lines.count() == 2


INSIDE = """node => {
    const box = node.getBoundingClientRect();
    return [...node.querySelectorAll('*')].filter(one => {
        const own = one.getBoundingClientRect();
        return own.right > box.right + 0.5 || own.left < box.left - 0.5 || own.bottom > box.bottom + 0.5;
    }).map(one => one.textContent);
}"""


@pytest.mark.parametrize("width", [700, 1400])
def test_the_read_out_holds_the_names_of_long_groups(stub: Stub, width: int) -> None:
    stub.page.set_viewport_size({"width": width, "height": 900})
    opened(stub, by="season")
    effects(stub, groups=4, by="season", label="102 <= days_since_2011 or something else that is as long < 182", thin=0)
    for share in (0.05, 0.5, 0.95):
        text = readout(stub, share)
        assert "n 103" in text
        box = stub.page.get_by_test_id("readout")
        assert box.evaluate(INSIDE) == []
        frame = stub.page.get_by_test_id("focus").bounding_box()
        own = box.bounding_box()
        assert frame is not None and own is not None
        assert frame["x"] - 1 <= own["x"] and own["x"] + own["width"] <= frame["x"] + frame["width"] + 1


def test_without_a_kernel_the_controls_say_what_is_drawn(stub: Stub) -> None:
    opened(stub, by="season", effect="ale")
    effects(stub, groups=3, by="season", ale=True)
    page = stub.page
    by, ale, pd_ = (page.get_by_test_id(testid) for testid in ("by", "effect-ale", "effect-pd"))
    drawn = ["ale", "group-0", "group-1", "group-2"]
    assert overlays(stub) == drawn
    page.evaluate("stub.widgets[0].el.classList.add('jupyter-widgets-disconnected')")
    page.get_by_test_id("nokernel").wait_for()
    assert (overlays(stub), by.input_value(), ale.get_attribute("aria-pressed")) == (drawn, "season", "true")
    # The groups' curves are accumulated effects: beside the partial dependence they would be something else.
    pd_.click()
    page.wait_for_timeout(60)
    assert (overlays(stub), by.input_value(), pd_.get_attribute("aria-pressed")) == ([], "", "true")
    ale.click()
    page.wait_for_timeout(60)
    assert (overlays(stub), by.input_value()) == (drawn, "season")
    # Nor of a selection that is no more.
    effects(stub, groups=3, by="season", ale=True, selected=True)
    page.evaluate("stub.widgets[0].el.classList.remove('jupyter-widgets-disconnected')")
    page.evaluate("stub.widgets[0].el.classList.add('jupyter-widgets-disconnected')")
    plot = stub.plot(HIST)
    stub.drag((plot.px(5), plot.middle), (plot.px(20), plot.middle))
    stub.wait_for("document.querySelector('[data-testid=selection-n]').dataset.n !== ''")
    assert ([key for key in overlays(stub) if key.startswith("group")], by.input_value()) == ([], "")


def test_a_kernel_that_went_with_a_choice_takes_the_choice_with_it(stub: Stub) -> None:
    """JupyterLab says nothing when traits are saved for a kernel that is gone; messages it refuses."""
    opened(stub)
    effects(stub)
    # At one go: the page looks for the kernel by itself, too, while something is computed.
    stub.page.evaluate(
        """() => {
            stub.widgets[0].model.send = () => { throw Error('Cannot send'); };
            stub.widgets[0].el.querySelector('[data-testid=effect-ale]').click();
        }"""
    )
    stub.page.get_by_test_id("nokernel").wait_for()
    assert "Run the cell again" in stub.text("curve-message")
    assert stub.page.get_by_test_id("effect-pd").get_attribute("aria-pressed") == "true"
    ale = stub.page.get_by_test_id("effect-ale")
    assert (ale.get_attribute("aria-pressed"), ale.is_disabled()) == ("false", True)
    assert stub.page.get_by_test_id("by").is_disabled()


def test_a_curve_per_group_says_what_it_is_not_and_leads_to_the_other_answer(stub: Stub) -> None:
    opened(stub, by="season")
    effects(stub, groups=4, by="season")
    assert "To change season alone, in every row" in stub.text("groups-reading")
    look = "node => { const s = getComputedStyle(node); return [s.color, s.borderTopColor, s.borderTopWidth]; }"
    button = stub.page.get_by_test_id("groups-pair").evaluate(look)
    assert button == stub.page.get_by_test_id("ask-matters").evaluate(look)  # it does something, and looks so
    click(stub, "groups-pair")
    assert saved(stub)["pair"] == ["temp", "season"]
    assert "heatmap" in saved(stub)["panels"]
    stub.page.get_by_label("Dismiss: about curves by season").click()
    assert stub.page.get_by_test_id("groups-reading").count() == 0
    # A condition is no feature that could be set.
    stub.call("set", "by", "hour < 7")
    effects(stub, groups=2, by="hour < 7")
    assert stub.page.get_by_test_id("groups-reading").count() == 0


def test_an_exported_page_has_the_hints_of_every_feature(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (300, 3)), columns=["a", "b", "c"])
    w = PDPWidget(lambda X: X["a"] * np.sign(X["b"]) + X["c"], X, feature="c")
    page = browser.new_page()
    page.goto(w.export_html(tmp_path / "page.html").as_uri())
    hint = w.explainer.trust("a").hints[0]
    assert hint.kind == "heterogeneity"
    w.close()
    page.get_by_test_id("rows-agree").wait_for()
    assert page.get_by_test_id("hints").count() == 0
    page.locator("[data-testid=feature][data-name=a]").click()
    page.get_by_test_id("hints").get_by_text(hint.text[1:]).wait_for()
    assert "b" in page.get_by_test_id("region").first.get_attribute("data-condition")
    page.locator("[data-testid=feature][data-name=c]").click()
    page.get_by_test_id("rows-agree").wait_for()
    page.close()


def test_regions_select_and_split(stub: Stub) -> None:
    opened(stub)
    effects(stub, hints=HINTS)
    stub.call("set", "_regions", REGIONS)
    assert "Split at workday = False removes 48 % of the disagreement" in stub.text("region")
    assert stub.page.get_by_test_id("region").count() == 1
    click(stub, "region-select")
    assert stub.wait_requests("query", 1)[0]["params"] == {"text": "workday == 'False'"}
    stub.call("answer", {"id": 4, "text": "workday == 'False'", "n": 300})
    assert pressed(stub, "region-select")
    click(stub, "region-split")
    assert saved(stub)["by"] == "workday == 'False'"
    assert pressed(stub, "region-split")
    click(stub, "region-split")
    assert saved(stub)["by"] == ""
    click(stub, "regions-more")
    assert "Where workday = True, a split" in (stub.page.get_by_test_id("region").nth(1).text_content() or "")
    click(stub, "elsewhere-feature")
    assert saved(stub)["feature"] == "hour"


def test_one_click_shows_each_regions_curve(stub: Stub) -> None:
    opened(stub)
    effects(stub, hints=HINTS)
    texts = ["workday == 'False'", "workday == 'True' & hour <= 9", "workday == 'True' & hour > 9"]
    labels = ["workday = False", "workday = True and hour <= 9", "workday = True and hour > 9"]
    leaves = [{"text": text, "label": label, "n": 300} for text, label in zip(texts, labels, strict=True)]
    stub.call("set", "_regions", {**REGIONS, "here": {**REGIONS["here"], "leaves": leaves}})
    assert stub.text("regions-curves") == "3 curves"
    assert stub.page.get_by_test_id("regions-legend").count() == 0
    click(stub, "regions-curves")
    by = "; ".join(texts)
    assert saved(stub)["by"] == by
    assert pressed(stub, "regions-curves")
    assert not pressed(stub, "region-split")
    assert stub.page.get_by_test_id("by").locator("option:checked").inner_text() == "3 regions"
    # What each colour means, in words: the colours are those of the curves.
    legend = stub.page.get_by_test_id("regions-legend")
    assert [text.rsplit(" n", 1)[0] for text in legend.locator("button").all_inner_texts()] == labels
    colours = legend.locator(".pdpw-swatch").evaluate_all("nodes => nodes.map(n => n.style.background)")
    effects(stub, by=by, groups=3)
    for colour in colours:
        red, green, blue = (int(v) for v in re.findall(r"\d+", colour))
        assert has_colour(stub, (red, green, blue))
    legend.locator("button").nth(1).click()
    assert stub.wait_requests("query", 1)[0]["params"] == {"text": texts[1]}
    click(stub, "regions-curves")
    assert saved(stub)["by"] == ""


def test_rows_that_agree_are_said_to(stub: Stub) -> None:
    opened(stub)
    effects(stub, hints=[])
    nothing = {**REGIONS["here"], "splits": [], "reason": "its curves are parallel"}
    stub.call("set", "_regions", {**REGIONS, "here": nothing, "all": []})
    assert stub.text("rows-agree") == "Rows agree: no split makes the curves more alike"
    effects(stub, hints=HINTS)
    assert stub.text("rows-agree") == "No split into two explains the disagreement"
    # of another feature it says nothing
    stub.call("set", "_regions", {**REGIONS, "feature": "hour"})
    assert stub.page.get_by_test_id("regions").count() == 0


def test_what_costs_much_is_asked_for(stub: Stub) -> None:
    opened(stub)
    effects(stub, status={"state": "ask", "message": None, "cost": 2_000_000, "stale": False})
    assert "2,000,000 predictions" in stub.text("effects-ask")
    click(stub, "compute-effects")
    assert stub.wait_requests("compute", 1)[0]["params"] == {"panel": "effects"}
    effects(stub, notes=["the 8 most frequent of 55 levels"])
    assert stub.text("effects-note") == "The 8 most frequent of 55 levels"


def test_closed_panels_show_nothing_of_it(stub: Stub) -> None:
    stub.open(record={"rows": 300, "sample": 100}, traits={"panels": []})
    effects(stub, ale=True, hints=HINTS)
    for testid in ("effect-ale", "by", "hints", "regions"):
        assert stub.page.get_by_test_id(testid).count() == 0
    assert stub.page.get_by_test_id("ice").is_visible()


def test_a_recorded_page_draws_it_all_and_says_what_needs_python(stub: Stub) -> None:
    opened(stub)
    effects(stub, groups=3, by="season", hints=HINTS)
    stub.page.evaluate(
        """async () => {
            const flat = (value) => {
                if (Array.isArray(value)) return value.map(flat);
                if (value === null || typeof value !== "object") return value;
                if (value.view instanceof DataView)
                    return {dtype: value.dtype, shape: value.shape, b64: btoa(String.fromCharCode(
                        ...new Uint8Array(value.view.buffer, value.view.byteOffset, value.view.byteLength)))};
                return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, flat(v)]));
            };
            const picture = flat(window.made);
            await stub.mount({rows: 1000, sample: 300}, {panels: ["effects", "regions"], by: "season", _effects: picture});
        }"""
    )
    page = stub.page.locator(".host").nth(1)
    page.locator("[data-testid=curves][data-overlays='group-0,group-1,group-2']").wait_for()
    assert page.locator("[data-testid=hints] li").count() == 3  # and what a curve per group is not
    assert page.get_by_test_id("by").input_value() == "season"
    # Of another feature only the curve was recorded.
    page.locator("[data-testid=feature][data-name=hour]").click()
    page.locator("[data-testid=curves][data-drawn='hour|count'][data-overlays='']").wait_for()
    assert page.get_by_test_id("by").input_value() == ""
    page.locator("[data-testid=feature][data-name=temp]").click()
    page.locator("[data-testid=curves][data-overlays='group-0,group-1,group-2']").wait_for()
    for testid in ("effect-ale", "by", "color-by", "groups-pair"):
        control = page.get_by_test_id(testid)
        assert control.is_disabled()
    page.get_by_test_id("slope").click()
    assert "slope of prediction of count per unit of temp" in (page.get_by_test_id("ylabel").text_content() or "")
