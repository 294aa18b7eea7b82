# ruff: noqa: F811
"""The rules panel in Chromium: with a real widget behind it, what is sorted, filtered, read and selected; and 5,000 made-up rules."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from rules_page import FEW, Live, X, Y, live  # noqa: F401
from stub_page import Stub
from widget_tools import arrays, make, predict  # noqa: F401

from pdp_widgets import Explainer, PDPWidget, RuleFitClassifier, RuleFitRegressor
from pdp_widgets.rulefit.stability import stability
from pdp_widgets.widget.wire import pack, to_base64

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def own() -> RuleFitRegressor:
    return RuleFitRegressor(**FEW).fit(X, Y)


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_first_picture(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    p = page.picture
    assert page.page.locator("[data-testid=panel-rules] h3").inner_text() == "The model’s own rules"
    explained = p["path"]["explained"][p["path"]["at"]]
    assert (
        page.find("rules-says").inner_text()
        == f"they explain {round(100 * explained)} % of the outcome on held-out rows"
    )
    assert page.ranks == list(range(len(p["ends"])))
    assert page.find("rules-table").get_attribute("aria-rowcount") == str(len(p["ends"]) + 1)
    table = own.rules_.iloc[1:].reset_index()
    for at in (0, 1, 2):
        assert (
            page.line(at)
            .locator("[data-by=term]")
            .inner_text()
            .replace("\u2197", "")
            .replace("\u2198", "")
            .startswith(table.term[at])
        )
        assert page.cell(at, "importance").strip() == f"{table.importance[at]:.3g}"
    rule = int(np.flatnonzero(p["type"] == 0)[0])
    number = int(np.flatnonzero(p["type"] == 1)[0])
    assert page.cell(rule, "support").split()[0] == f"{round(100 * p['support'][rule])}"
    assert page.line(number).get_attribute("data-linear") == "true"
    assert "per unit" in page.cell(number, "coefficient")
    limits = p["limits"][int((p["type"][:number] != 0).sum())]
    low, high = (float(limit) for limit in limits.split(" to "))
    assert low < high
    assert f"within {limits}" in page.line(number).inner_text()
    # The sign bar: right of the middle for a rule that raises, left for one that lowers, as long as its share of the largest.
    rules = p["type"] != 1
    most = np.abs(p["coefficient"][rules]).max()
    for at in (
        int(np.flatnonzero(rules & (p["coefficient"] > 0))[0]),
        int(np.flatnonzero(rules & (p["coefficient"] < 0))[0]),
    ):
        bar = (
            page.line(at)
            .locator(".pdpw-rules-sign")
            .evaluate(
                "n => { const [a, b] = [n.getBoundingClientRect(), n.firstChild.getBoundingClientRect()]; "
                "return [b.left - a.left - a.width / 2, b.right - a.left - a.width / 2, a.width / 2]; }"
            )
        )
        a = p["coefficient"][at] / most
        assert (bar[1] if a > 0 else bar[0]) / bar[2] == pytest.approx(a, abs=0.05)


def test_odds_of_classes(live: Callable[..., Live]) -> None:
    model = RuleFitClassifier(**FEW).fit(X, np.where(np.median(Y) < Y, "high", "low"))
    page = live(model, output="high")
    p = page.picture
    at = int(np.flatnonzero(p["type"] == 0)[0])
    assert page.cell(at, "coefficient").strip() == f"× {np.exp(p['coefficient'][at]):#.3g}".rstrip(".")
    assert page.find("rules-sort-coefficient").inner_text() == "odds"


def test_a_surrogate_says_which_class_it_explains(live: Callable[..., Live]) -> None:
    labels = np.where(np.median(Y) < Y, "high", "low")
    model = RuleFitClassifier(**FEW).fit(X, labels)
    told = SimpleNamespace(predict_proba=model.predict_proba, classes_=model.classes_)  # no rules of its own
    explainer = Explainer(told, X, labels)
    fit = explainer.rules
    explainer.rules = lambda y=None, **options: fit(y, **options, **FEW)  # type: ignore[method-assign]
    page = live(explainer, None, output="low")
    assert " % of the variation of P(low) on held-out rows" in page.find("rules-says").inner_text()


def test_a_surrogate_says_how_well_it_imitates(live: Callable[..., Live]) -> None:
    explainer = Explainer(predict, X, Y)
    fit = explainer.rules
    explainer.rules = lambda y=None, **options: fit(y, **options, **FEW)  # type: ignore[method-assign]
    page = live(explainer, None)
    fidelity = page.picture["fidelity"]
    assert (
        page.find("rules-says").inner_text()
        == f"they explain {round(100 * fidelity)} % of its variation on held-out rows"
    )
    page.find(
        "rules-outcome"
    ).click()  # pressed at once, and the old rules are marked as old until the new ones are there
    assert page.find("rules-outcome").get_attribute("aria-pressed") == "true"
    assert page.find("rules-model").get_attribute("aria-pressed") == "false"
    assert page.find("rules-says").inner_text() == "Fitting rules"
    assert page.page.locator(".pdpw-rules").get_attribute("data-old") == "true"
    page.settle()
    assert page.page.locator(".pdpw-rules").get_attribute("data-old") == "false"
    assert page.find("rules-says").inner_text().startswith("they explain")
    assert page.page.locator("[data-testid=panel-rules] h3").inner_text() == "Rules of the outcome"
    assert page.find("rules-outcome").get_attribute("aria-pressed") == "true"


# ---- sorting and filters ---------------------------------------------------------------------------------------------


def by(p: dict[str, Any], *keys: tuple[str, bool]) -> list[int]:
    """Positions sorted by pandas, which keeps the order of equals."""
    table = pd.DataFrame({name: p[name] for name in ("importance", "coefficient", "support", "n", "inside", "outside")})
    table["conditions"] = np.where(p["type"] == 0, np.diff([0, *p["ends"]]), 0)
    for name, down in reversed(keys):
        table = table.sort_values(name, ascending=not down, kind="stable", na_position="last")
    return [int(v) for v in table.index]


@pytest.mark.parametrize("name", ["coefficient", "support", "importance", "inside", "outside", "conditions"])
def test_every_header_sorts_and_turns_round(live: Callable[..., Live], own: RuleFitRegressor, name: str) -> None:
    page = live(own)
    page.press(f"rules-sort-{name}")
    header = page.page.locator(f"[role=columnheader][data-by={name}]")
    assert header.get_attribute("aria-sort") == "descending"
    assert page.ranks == by(page.picture, (name, True))
    page.press(f"rules-sort-{name}")
    assert header.get_attribute("aria-sort") == "ascending"
    assert page.ranks == by(page.picture, (name, False))


def test_shift_gives_a_second_key_also_from_the_keyboard(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    page.press("rules-sort-conditions")
    page.press("rules-sort-coefficient", modifiers=["Shift"])
    expected = by(page.picture, ("conditions", True), ("coefficient", True))
    assert page.ranks == expected
    page.press("rules-sort-rank")
    assert page.ranks == list(range(len(expected)))
    page.find("rules-sort-conditions").focus()
    page.page.keyboard.press("Enter")
    page.find("rules-sort-coefficient").focus()
    page.page.keyboard.press("Shift+Enter")
    assert page.ranks == expected
    assert page.page.locator("[aria-sort]").count() == 1


def test_filters(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    p, table = page.picture, own.rules_.iloc[1:].reset_index()
    every = set(range(len(table)))

    def shown() -> set[int]:
        return set(page.ranks)

    page.find("rules-text").fill("SUMMER temp")
    assert shown() == {k for k in every if "SUMMER" in table.term[k] and "temp" in table.term[k]}
    page.find("rules-text").press("Escape")
    page.find("rules-kind").select_option("linear")
    assert shown() == {k for k in every if table.kind[k] == "linear"}
    page.find("rules-kind").select_option("rule")
    page.find("rules-sign").select_option("down")
    assert shown() == {k for k in every if table.kind[k] == "rule" and table.coefficient[k] < 0}
    page.press("rules-clear")
    page.find("rules-support").select_option("0.25")
    assert shown() == {k for k in every if not p["support"][k] < 0.25}
    page.find("rules-importance").select_option("10")
    assert shown() == {k for k in every if not p["support"][k] < 0.25 and p["importance"][k] >= 10}
    page.press("rules-clear")
    page.find("rules-length").select_option("1")
    assert shown() == {k for k in every if table.conditions[k] <= 1}
    page.press("rules-clear")
    assert shown() == every
    assert page.find("rules-count").inner_text().startswith(f"{len(every)} terms, added to ")


def test_a_features_name_filters_and_chips_take_it_back(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    p = page.picture
    starts = [0, *p["ends"][:-1]]
    has = [
        {p["features"][p["conditions"]["feature"][c]] for c in p["parts"][a:b]}
        for a, b in zip(starts, p["ends"], strict=True)
    ]
    name = page.find("rules-name").first
    feature = name.inner_text()
    name.click()
    assert set(page.ranks) == {k for k, own_features in enumerate(has) if feature in own_features}
    assert page.stub.requests("query") == []  # that was no click on the rule
    chip = page.find("rules-chip")
    assert chip.get_attribute("data-how") == "include"
    chip.locator("button").first.click()
    assert set(page.ranks) == {k for k, own_features in enumerate(has) if feature not in own_features}
    chip.locator("button").last.click()
    assert page.find("rules-chip").count() == 0
    page.find("rules-name").first.click(modifiers=["Alt"])
    assert page.find("rules-chip").get_attribute("data-how") == "exclude"
    page.find("rules-clear").click()
    other = next(iter(has[1]))
    page.find("rules-feature").select_option(other)
    assert set(page.ranks) == {k for k, own_features in enumerate(has) if other in own_features}


def test_groups_open_and_close(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    p = page.picture
    page.find("rules-grouping").select_option("feature")
    assert page.find("rules-table").get_attribute("role") == "treegrid"
    labels = page.find("rules-group").evaluate_all("nodes => nodes.map(n => n.dataset.label)")
    mains = [p["features"][at] for at in p["main"]]
    assert labels == list(dict.fromkeys(mains))
    head = page.page.locator(f"[data-testid=rules-group][data-label='{labels[0]}']")
    head.click()
    assert head.get_attribute("aria-expanded") == "false"
    assert set(page.ranks) == {k for k, name in enumerate(mains) if name != labels[0]}
    page.find("rules-table").focus()
    page.page.keyboard.press("ArrowRight")
    assert set(page.ranks) == set(range(len(mains)))
    page.find("rules-grouping").select_option("cluster")
    heads = page.find("rules-group").evaluate_all("nodes => nodes.map(n => n.dataset.label)")
    sizes = np.unique(p["cluster"][p["cluster"] >= 0], return_counts=True)[1]
    assert len(heads) == (sizes > 1).sum() + 1
    assert heads[-1] == "on their own"


# ---- selecting -------------------------------------------------------------------------------------------------------


def test_a_rule_becomes_the_selection_and_others_are_added_and_removed(
    live: Callable[..., Live], own: RuleFitRegressor
) -> None:
    page = live(own)
    p = page.picture
    first, second = (int(k) for k in np.flatnonzero(p["type"] == 0)[:2])
    masks = {at: page.widget.explainer.mask(page.line(at).get_attribute("data-text")) for at in (first, second)}
    page.line(first).locator("[data-by=rank]").click()
    page.settle()
    np.testing.assert_array_equal(page.widget.selection.mask, masks[first])
    assert page.line(first).get_attribute("aria-selected") == "true"
    assert f"{masks[first].sum()} rows selected" in page.find("spoken").inner_text()
    page.line(second).locator("[data-by=rank]").click(modifiers=["Shift"])
    page.settle()
    np.testing.assert_array_equal(page.widget.selection.mask, masks[first] | masks[second])
    assert {page.line(at).get_attribute("aria-selected") for at in (first, second)} == {"true"}
    page.line(first).locator("[data-by=rank]").click(modifiers=["Alt"])
    page.settle()
    np.testing.assert_array_equal(page.widget.selection.mask, masks[second] & ~masks[first])
    page.widget.undo()
    page.settle()
    np.testing.assert_array_equal(page.widget.selection.mask, masks[first] | masks[second])


def test_keys_do_the_same(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    p = page.picture
    rules = [int(k) for k in np.flatnonzero(p["type"] == 0)]
    page.find("rules-table").focus()
    for _ in range(rules[0] + 1):
        page.page.keyboard.press("ArrowDown")
    active = page.find("rules-table").get_attribute("aria-activedescendant")
    assert page.page.locator(f"#{active}").get_attribute("data-term") == str(rules[0])
    page.page.keyboard.press("Enter")
    page.settle()
    text = page.line(rules[0]).get_attribute("data-text")
    np.testing.assert_array_equal(page.widget.selection.mask, page.widget.explainer.mask(text))
    page.page.keyboard.press("End")
    page.page.keyboard.press("Home")
    page.page.keyboard.press("Escape")
    page.settle()
    assert not page.widget.selection


def test_a_number_brings_its_feature_into_focus(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own, feature="season")
    p = page.picture
    at = int(np.flatnonzero(p["type"] == 1)[0])
    page.line(at).locator("[data-by=rank]").click()
    page.settle()
    assert page.widget.feature == p["features"][p["main"][at]]
    assert not page.widget.selection


def test_related_rules_stand_below_the_selected_one(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    p = page.picture
    for at in np.flatnonzero(p["type"] == 0)[:8]:
        page.line(int(at)).locator("[data-by=rank]").click()
        page.settle()
        expected = page.widget._running.board["rules"].reading(p["id"]).related(int(at))["related"]
        found = page.find("related").evaluate_all("nodes => nodes.map(n => [n.dataset.relation, n.dataset.text])")
        assert [relation for relation, _ in found] == [pair["relation"] for pair in expected]
        if not expected:
            assert page.find("rules-note").count() == 1
            continue
        mask = page.widget.explainer.mask(page.line(int(at)).get_attribute("data-text"))
        for relation, text in found:
            other = page.widget.explainer.mask(text)
            if relation == "contains":
                assert mask[other].all()
            elif relation == "within":
                assert other[mask].all()
    if page.find("related").count():
        text = page.find("related").first.get_attribute("data-text")
        page.find("related").first.click()
        page.settle()
        np.testing.assert_array_equal(page.widget.selection.mask, page.widget.explainer.mask(text))


def test_a_selection_from_elsewhere_has_columns_of_its_own(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    assert page.find("rules-sort-selection").count() == 0
    page.widget.select("temp > 15")
    page.settle()
    p = page.picture["selection"]
    page.press("rules-sort-selection")
    order = page.ranks
    assert order == sorted(order, key=lambda k: (-p["importance"][k], k))
    page.find("rules-fires").select_option("selection")
    assert set(page.ranks) == {k for k in order if p["support"][k] != 0}


# ---- rows and terms --------------------------------------------------------------------------------------------------


def test_a_row_is_read_rule_by_rule(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    page.find("rules-row").fill("17")
    page.find("rules-row").press("Enter")
    page.settle()
    reply = page.widget._running.board["rules"].reading(page.picture["id"]).row(17)
    said = page.find("rules-sum").inner_text().replace("−", "-")
    assert said.startswith("row 17:")
    assert f"{own.predict(X)[17]:.3g}" in said
    order = page.ranks
    states = [page.line(k).get_attribute("data-state") for k in order]
    assert states == sorted(states, reverse=True)
    added = dict(reply["contributions"])
    held = [k for k, state in zip(order, states, strict=True) if state == "2"]
    assert held == sorted(held, key=lambda k: (-abs(added.get(k, 0.0)), k))
    near = [k for k, state in zip(order, states, strict=True) if state == "1"]
    assert set(near) == {at for at, _, _ in reply["misses"]}
    if near:
        assert page.cell(near[0], "row").startswith("misses: ")
    for k in (held[0], *near[:1]):
        title = page.line(k).locator("[data-by=row] span").get_attribute("title") or ""
        for condition in own.ruleset_.terms[
            page.widget._running.board["rules"].reading(page.picture["id"]).shown[k]
        ].features:
            assert f"{condition} is " in title
    page.find("rules-fires").select_option("row")
    assert page.ranks == held
    page.press("rules-row-leave")
    assert page.ranks == list(range(len(order)))
    page.find("rules-row").fill("nobody")
    page.find("rules-row").press("Enter")
    page.settle()
    assert "there is no row 'nobody'; rows are named such as" in page.find("rules-error").inner_text()


def test_the_row_whose_curve_was_under_the_pointer(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    curves = page.stub.plot("[data-testid=curves]")
    ice, curve = arrays(page.widget._ice), arrays(page.widget._curve)
    at = len(curve["x"]) // 2
    line = int(np.argmin(ice["values"][:, at]))  # the lowest one stands alone
    x, y = curves.px(curve["x"][at]), curves.py(ice["values"][line, at] + ice["offset"])
    page.page.mouse.move(x, y)
    page.page.mouse.move(x + 1, y)
    page.find("rules-row-seen").wait_for()
    said = page.find("rules-row-seen").inner_text()
    # On the way to the button the pointer passes other curves, and does not rest on them.
    page.page.mouse.move(x, curves.top + curves.y1 + 5, steps=25)
    page.page.mouse.move(x, curves.top - 20)
    page.page.wait_for_timeout(400)
    assert page.find("rules-row-seen").inner_text() == said
    page.press("rules-row-seen")
    label = page.find("rules-sum").inner_text().removeprefix("row ").split(":")[0]
    row = int(label)
    assert row == arrays(page.widget._sample)["rows"][line]
    assert f"{own.predict(X)[row]:.3g}" in page.find("rules-sum").inner_text().replace("−", "-")


def test_a_row_is_chosen_from_python_and_read_there(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    page.widget.row = 17
    page.settle()
    assert page.find("rules-sum").inner_text().startswith("row 17:")
    assert page.find("rules-sort-row").count() == 1
    page.widget.row = -1
    page.settle()
    assert page.find("rules-sum").inner_text().startswith(f"row {len(X) - 1}:")
    assert f"{own.predict(X)[-1]:.3g}" in page.find("rules-sum").inner_text().replace("−", "-")
    asked = len(page.stub.requests("row"))
    page.settle()
    assert len(page.stub.requests("row")) == asked == 2  # once each
    page.find("rules-row").fill("4")
    page.find("rules-row").press("Enter")
    page.settle()
    assert page.widget.row == 4
    page.press("rules-row-leave")
    assert page.widget.row is None
    page.widget.row = 5
    page.settle()
    page.widget.row = None
    page.settle()
    assert page.find("rules-sum").count() == 0
    assert page.ranks == list(range(len(page.picture["ends"])))


def test_fewer_terms_by_the_slider(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    before = page.picture
    page.find("rules-row").fill("3")
    page.find("rules-row").press("Enter")
    page.settle()
    page.find("rules-step").focus()
    for _ in range(4):
        page.page.keyboard.press("ArrowLeft")
    page.settle()
    p = page.picture
    assert p["path"]["at"] == before["path"]["at"] - 4
    assert page.find("rules-terms").inner_text() == f"terms {before['path']['terms'][p['path']['at']]}"
    assert sorted(page.ranks) == list(range(len(p["ends"])))
    reading = page.widget._running.board["rules"].reading(p["id"])
    assert f"{reading.rules.predict(X)[0, 3]:.3g}" in page.find("rules-sum").inner_text().replace("−", "-")  # read anew


def test_what_is_listed_can_be_copied(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    page.find("rules-kind").select_option("rule")
    page.find("rules-sort-support").click()
    order = page.ranks
    page.find("rules-csv").click()
    page.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<textarea id=paste></textarea>')")
    page.page.locator("#paste").focus()
    page.page.keyboard.press("Control+V")
    lines = page.page.locator("#paste").input_value().strip().split("\n")
    assert [int(line.split(",")[0]) for line in lines[2:]] == [k + 1 for k in order]
    assert lines[1].startswith(f",intercept,{own.intercept_:.3f}"[:14])


# ---- stability -------------------------------------------------------------------------------------------------------


def test_how_often_rules_come_back_is_a_column_that_is_asked_for(
    live: Callable[..., Live], own: RuleFitRegressor
) -> None:
    page = live(own, y=Y)
    assert page.find("rules-sort-stability").count() == 0
    assert page.find("rules-stability").count() == 0
    page.press("rules-stable")
    assert page.find("rules-stable").get_attribute("aria-pressed") == "true"
    assert page.find("rules-stable").inner_text() == "how stable?"
    back = page.picture["stability"]["back"]
    np.testing.assert_allclose(back, stability(own, X, Y).to_frame().set_index("text").loc[
        [page.line(k).get_attribute("data-text") for k in sorted(page.ranks)], "stability"])  # fmt: skip
    for term in page.ranks[:4]:
        assert page.cell(term, "stability").strip() == f"{round(100 * back[term])} %"
    page.press("rules-sort-stability")
    assert page.ranks == sorted(range(len(back)), key=lambda k: (-back[k], k))
    page.find("rules-stability").select_option("0.5")
    assert set(page.ranks) == set(np.flatnonzero(back >= 0.5))
    page.press("rules-stable")
    assert page.find("rules-sort-stability").count() == 0
    assert page.find("rules-stable").get_attribute("aria-pressed") == "false"
    assert len(page.ranks) == len(back)  # and hides nothing any more


def test_stability_that_cannot_be_had_says_why(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own)
    page.press("rules-stable")
    assert "takes the outcome" in page.find("rules-error").inner_text()
    assert page.find("rules-stable").get_attribute("aria-pressed") == "false"


# ---- without a kernel, narrow, and many ------------------------------------------------------------------------------


def test_without_a_kernel_the_list_still_sorts_and_says_what_it_cannot(
    live: Callable[..., Live], own: RuleFitRegressor
) -> None:
    page = live(own)
    page.stub.call("disconnect") if page.page.evaluate("typeof stub.disconnect === 'function'") else page.page.evaluate(
        "stub.widgets[0].el.classList.add('jupyter-widgets-disconnected')"
    )
    page.page.locator(".pdpw[data-host=saved]").wait_for()
    page.find("rules-sort-support").click()
    assert page.ranks == by(page.picture, ("support", True))
    page.find("rules-text").fill("temp")
    assert len(page.ranks) < len(page.picture["ends"])
    assert page.find("rules-step").is_disabled()
    assert page.find("rules-row").count() == 0
    page.find("rules-text").fill("")
    page.page.wait_for_timeout(60)
    # Only the curves that were looked at are here: what is about another feature needs Python.
    refused = 0
    rules = page.page.locator("[data-testid=rule][data-linear=false]")
    for at in range(rules.count()):
        rules.nth(at).locator("[data-by=rank]").click()
        page.page.wait_for_timeout(60)
        error = page.find("rules-error")
        assert rules.nth(at).get_attribute("aria-selected") == ("false" if error.count() else "true")
        assert page.find("selection-error").count() == 0
        if error.count():
            refused += 1
            assert "needs Python" in error.inner_text()
    assert refused > 0


def test_an_exported_page_selects_by_its_rules_and_bookmarks(
    browser: Browser, make: Callable[..., PDPWidget], own: RuleFitRegressor, tmp_path: Any
) -> None:
    widget = make(own, X, panels=["rules"])
    widget._running.board.open(["rules"])
    assert widget.wait(60)
    widget.bookmark("warm", "temp > 15 & season.notna()")
    widget.bookmark("drawn", np.arange(len(X)) % 2 == 0)
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(widget.export_html(tmp_path / "page.html").as_uri())
    page.get_by_test_id("rules-table").wait_for()
    page.add_style_tag(content=".pdpw-rules-table { max-height: 6000px !important; }")
    page.wait_for_timeout(100)
    rules = page.locator("[data-testid=rule][data-linear=false]")
    number = page.get_by_test_id("selection-n")
    assert rules.count() > 5
    for at in range(rules.count()):
        rules.nth(at).locator("[data-by=rank]").click()
        page.wait_for_timeout(40)
        text = rules.nth(at).get_attribute("data-text")
        assert page.get_by_test_id("rules-error").count() == 0, text
        assert rules.nth(at).get_attribute("aria-selected") == "true", text
        assert number.get_attribute("data-n") == str(widget.explainer.mask(str(text)).sum()), text
    page.get_by_test_id("bookmarks-open").click()
    mark = {name: page.locator(f'[data-name="{name}"] [data-testid=bookmark-select]') for name in ("warm", "drawn")}
    mark["warm"].click()
    n = str(((X.temp > 15) & X.season.notna()).sum())
    page.wait_for_timeout(60)
    assert number.get_attribute("data-n") == n
    assert mark["warm"].get_attribute("aria-pressed") == "true"
    mark["drawn"].click()
    page.get_by_test_id("selection-error").wait_for()
    assert page.get_by_test_id("selection-error").inner_text() == (
        "This page cannot select by this condition; open the notebook."
    )
    assert mark["drawn"].get_attribute("aria-pressed") == "false"
    assert number.get_attribute("data-n") == n
    page.close()


@pytest.mark.parametrize(("width", "large"), [(950, False), (1400, False), (950, True)])
def test_long_terms_have_room_and_an_opened_rule_says_all(
    live: Callable[..., Live], own: RuleFitRegressor, width: int, large: bool
) -> None:
    page = live(own, width=width, size="large" if large else "normal")
    p = page.picture
    two = width < 1150
    assert page.find("rules-sort-inside").count() == (0 if two else 1)
    assert page.find("rules-sort-conditions").count() == (0 if two else 1)
    heights = page.find("rule").evaluate_all("nodes => nodes.map(n => n.getBoundingClientRect().height)")
    assert heights == pytest.approx([61.6 if large else 44 if two else 26] * len(heights), abs=0.1)
    sizes = np.where(p["type"] == 0, np.diff([0, *p["ends"]]), 0)
    at = int(sizes.argmax())
    assert at in page.ranks
    page.line(at).locator("[data-by=rank]").click()
    page.settle()
    first = int(p["ends"][at] - sizes[at])
    words = [p["conditions"]["words"][part] for part in p["parts"][first : p["ends"][at]]]
    said = " ".join(page.find("rules-about").all_inner_texts())
    assert " & ".join(words) in said
    assert f"{sizes[at]} condition" in said
    assert f"mean of the outcome {p['inside'][at]:.3g}".replace("-", "\u2212") in said
    for line in page.find("rules-about").all():
        assert line.evaluate("n => n.scrollHeight <= n.clientHeight && n.scrollWidth <= n.clientWidth")


def test_narrow_lines_have_two_rows_and_nothing_is_cut_off(live: Callable[..., Live], own: RuleFitRegressor) -> None:
    page = live(own, width=620)
    table = page.find("rules-table")
    assert table.get_attribute("data-narrow") == "true"
    assert page.find("rule").first.bounding_box()["height"] == 44  # type: ignore[index]
    assert table.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert page.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def many(k: int) -> dict[str, Any]:
    """A picture of k rules of two conditions each, out of 400 conditions on 20 features."""
    rng = np.random.default_rng(0)
    features = [f"feature {j}" for j in range(20)]
    return to_base64({
        "id": 1, "output": "prediction", "kind": "surrogate", "of": "model", "describes": "prediction", "link": "identity",
        "fidelity": 0.9, "rows": 1000, "rows_total": 1000, "more": None, "intercept": 0.0, "start": 0.0, "as_seen": True, "left_out": 0,
        "features": features, "focus": features,
        "conditions": {
            "feature": pack(np.arange(400) % 20, "int32"), "words": [f"feature {c % 20} > {c}" for c in range(400)],
            "texts": [f"`feature {c % 20}` > {c}" for c in range(400)],
        },
        "parts": pack(rng.integers(0, 400, 2 * k), "int32"), "ends": pack(np.arange(2, 2 * k + 1, 2), "int32"),
        "main": pack(rng.integers(0, 20, k), "int32"), "type": pack(np.zeros(k), "uint8"),
        "coefficient": pack(rng.normal(size=k), "float32"), "support": pack(rng.random(k), "float32"),
        "n": pack(rng.integers(1, 1000, k), "int32"), "importance": pack(np.sort(rng.random(k))[::-1] * 100, "float32"), "largest": 3.0,
        "inside": pack(rng.random(k), "float32"), "outside": pack(rng.random(k), "float32"), "limits": [], "path": None,
        "cluster": pack(rng.integers(0, 300, k), "int32"), "selection": None, "selection_id": 0, "outcome": False,
        "status": {"state": "done", "message": None, "cost": 0, "stale": False},
    })  # fmt: skip


def test_five_thousand_rules_scroll(browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    stub = Stub(context.new_page())
    stub.open(traits={"panels": ["rules"], "_rules": many(5000), "output": "prediction"})
    table = stub.page.get_by_test_id("rules-table")
    table.wait_for()
    assert table.get_attribute("data-lines") == "5000"
    assert stub.page.get_by_test_id("rule").count() < 40  # only what is on screen
    table.evaluate("n => { n.scrollTop = n.scrollHeight; }")
    stub.page.locator("[data-testid=rule][data-term='4999']").wait_for()
    stub.page.get_by_test_id("rules-sort-coefficient").click()
    table.evaluate("n => { n.scrollTop = 0; }")
    stub.page.wait_for_timeout(100)
    values = stub.page.locator("[data-testid=rule] [data-by=coefficient]").all_inner_texts()
    numbers = [float(v.replace("−", "-")) for v in values]
    assert numbers == sorted(numbers, reverse=True)
    table.focus()
    stub.page.keyboard.press("End")
    stub.page.wait_for_timeout(100)
    active = table.get_attribute("aria-activedescendant")
    box, outer = stub.page.locator(f"#{active}").bounding_box(), table.bounding_box()
    assert box is not None
    assert outer is not None
    assert box["y"] >= outer["y"]
    assert box["y"] + box["height"] <= outer["y"] + outer["height"] + 1
    errors = stub.errors
    context.close()
    assert errors == []
