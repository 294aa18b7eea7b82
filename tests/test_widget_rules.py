# ruff: noqa: F811
"""The rules panel: what the page gets against the rule sets themselves, masks by hand, and a fit that holds nobody up."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from widget_tools import arrays, ask, frame, make, predict  # noqa: F401

from pdp_widgets import Explainer, RuleFitClassifier, RuleFitRegressor
from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit.stability import Refits, stability
from pdp_widgets.widget.panels import rules as panel
from pdp_widgets.widget.panels import rules_reading

if TYPE_CHECKING:
    from collections.abc import Callable

X = frame()
Y = predict(X)
FEW: dict[str, Any] = {"max_rules": 60, "random_state": 0}


def shown(widget: Any, seconds: float = 60) -> dict[str, Any]:
    widget._running.board.open(["rules"])
    assert widget.wait(seconds)
    picture = widget._rules
    assert picture["status"]["state"] == "done", picture["status"]
    json.dumps(
        {name: value for name, value in arrays(picture).items() if not isinstance(value, np.ndarray | dict)},
        allow_nan=False,
    )
    return arrays(picture)


def terms_of(picture: dict[str, Any]) -> list[tuple[str, str]]:
    """Words and text of each term, put together from the conditions as the page does it."""
    starts = [0, *picture["ends"][:-1]]
    parts = [picture["parts"][a:b] for a, b in zip(starts, picture["ends"], strict=True)]
    return [
        tuple(" & ".join(picture["conditions"][kind][c] for c in part) for kind in ("words", "texts")) for part in parts
    ]  # type: ignore[misc]


@pytest.fixture(scope="module")
def own() -> RuleFitRegressor:
    return RuleFitRegressor(**FEW).fit(X, Y)


@pytest.fixture(scope="module")
def surrogate() -> Explainer:
    explainer = Explainer(predict, X, Y)
    explainer.rules = _Once(explainer.rules)  # type: ignore[method-assign]
    return explainer


class _Once:
    """Fits small, and the same only once."""

    def __init__(self, fit: Any) -> None:
        self.fit, self.known, self.calls = fit, {}, 0

    def __call__(self, y: Any = None, *, subgroup: Any = None, output: Any = None, progress: Any = None) -> Any:
        self.calls += 1
        key = (y, output, None if subgroup is None else int(subgroup.sum()))
        if key not in self.known:
            self.known[key] = self.fit(y, subgroup=subgroup, output=output, progress=progress, **FEW)
        return self.known[key]


# ---- what the page gets ----------------------------------------------------------------------------------------------


def test_a_models_own_rules(make, own):
    widget = make(own, X)
    picture = shown(widget)
    table = own.ruleset_.to_frame().iloc[1:]
    assert (picture["kind"], picture["fidelity"], picture["link"], picture["outcome"]) == (
        "model",
        1.0,
        "identity",
        False,
    )
    assert [text for _, text in terms_of(picture)] == list(table.text)
    assert [words for words, _ in terms_of(picture)] == list(table.term)
    for name in ("coefficient", "importance"):
        np.testing.assert_allclose(picture[name], table[name], rtol=1e-6)
    rules = (table.kind == "rule").to_numpy()
    for name, column in {"support": "support", "n": "n", "inside": "mean_inside", "outside": "mean_outside"}.items():
        np.testing.assert_allclose(picture[name][rules], table[column][rules].astype(float), rtol=1e-6)
    assert picture["type"].tolist() == [
        0 if kind == "rule" else 2 if level else 1 for kind, level in zip(table.kind, table.level, strict=True)
    ]
    assert picture["largest"] == pytest.approx(table.importance_abs.max())
    assert picture["intercept"] == own.intercept_
    for main, features in zip(picture["main"], table.features, strict=True):
        assert picture["features"][main] in features.split(", ")
    assert picture["focus"] == picture["features"]


def test_every_rule_selects_the_rows_it_holds_for(make, own):
    widget = make(own, X)
    picture = shown(widget)
    by_text = {term.text: term for term in own.ruleset_.terms}
    for at, (_, text) in enumerate(terms_of(picture)):
        if picture["type"][at] == 1:
            continue
        assert ask(widget, "query", text=text, op="replace")["status"] == "ok"
        held = own.ruleset_.design(X)[:, own.ruleset_.terms.index(by_text[text])] > 0
        np.testing.assert_array_equal(widget.selection.mask, held)
        if picture["n"][at] >= 0:
            assert widget.selection.n == picture["n"][at]


def test_a_picture_is_small(make, surrogate):
    widget = make(surrogate)
    shown(widget)
    sizes = [len(value) for value in _views(widget._rules)]
    rest = {name: value for name, value in widget._rules.items() if not list(_views({name: value}))}
    conditions = {name: widget._rules["conditions"][name] for name in ("words", "texts")}
    assert sum(sizes) + len(json.dumps(rest)) + len(json.dumps(conditions)) < 60_000


def _views(value: Any) -> Any:
    if isinstance(value, dict):
        if "view" in value:
            yield value["view"]
        else:
            for item in value.values():
                yield from _views(item)


def test_a_surrogate_and_its_path(make, surrogate):
    widget = make(surrogate)
    picture = shown(widget)
    found = surrogate.rules()
    assert picture["kind"] == "surrogate"
    assert picture["fidelity"] == pytest.approx(found.fidelity)
    path = picture["path"]
    assert path["at"] == found.estimator.penalties_[0]
    assert path["terms"].tolist() == found.estimator.n_terms_on_path_.tolist()
    for step in (0, path["at"] // 2, path["at"]):
        assert path["explained"][step] == pytest.approx(found.at_step(step).fidelity, abs=1e-6)


def test_another_number_of_terms_without_a_new_fit(make, surrogate):
    widget = make(surrogate)
    before = shown(widget)
    calls = surrogate.rules.calls
    step = before["path"]["at"] // 2
    assert ask(widget, "terms", step=step)["status"] == "ok"
    picture = shown(widget)
    assert picture["id"] != before["id"]
    assert len(picture["ends"]) == before["path"]["terms"][step]
    assert picture["path"]["at"] == step
    assert picture["fidelity"] == pytest.approx(before["path"]["explained"][step], abs=1e-6)
    assert ask(widget, "terms", step=before["path"]["at"])["status"] == "ok"
    again = shown(widget)
    assert terms_of(again) == terms_of(before)
    assert surrogate.rules.calls == calls
    assert "no step 9999" in ask(widget, "terms", step=9999)["message"]


def test_rules_of_the_outcome(make, surrogate):
    widget = make(surrogate)
    first = shown(widget)
    assert first["outcome"]
    assert ask(widget, "terms", subject="outcome")["status"] == "ok"
    picture = shown(widget)
    found = surrogate.rules(True)
    assert picture["kind"] == "outcome"
    assert [text for _, text in terms_of(picture)] == list(found.to_frame().text[1:])
    assert ask(widget, "terms", subject="model")["status"] == "ok"
    assert shown(widget)["kind"] == "surrogate"
    bare = make(Explainer(predict, X))
    assert "there is no outcome" in ask(bare, "terms", subject="outcome")["message"]


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(make, classes):
    label = np.array(["low", "mid", "high"])[np.digitize(Y, np.quantile(Y, [0.5] if classes == 2 else [0.4, 0.7]))]
    model = RuleFitClassifier(**FEW).fit(X, label)
    widget = make(model, X)
    for output in widget.explainer.outputs:
        widget.output = output
        picture = shown(widget)
        assert picture["output"] == output
        # The log-odds of this class, whichever of two classes the rule set is about.
        odds = np.full(len(X), picture["intercept"])
        for (_, text), a in zip(terms_of(picture), picture["coefficient"], strict=True):
            term = next(term for term in model.ruleset_.terms if term.text == text)
            odds += a * np.asarray(term.values(X) if hasattr(term, "values") else term.mask(X), dtype=float)
        value = 1 / (1 + np.exp(-odds))
        if classes == 2:
            column = list(model.classes_).index(output)
            np.testing.assert_allclose(value, model.predict_proba(X)[:, column], atol=1e-5)
        row = ask(widget, "row", of=picture["id"], row=7)["result"]
        assert row["decision"] == pytest.approx(odds[7], abs=1e-4)
        assert row["prediction"] == pytest.approx(model.predict_proba(X)[7, list(model.classes_).index(output)])
        rule = int(np.flatnonzero(picture["type"] == 0)[0])
        text = terms_of(picture)[rule][1]
        held = widget.explainer.mask(text)
        assert picture["inside"][rule] == pytest.approx((label[held] == output).mean(), abs=1e-6)


# ---- selection and rows ----------------------------------------------------------------------------------------------


def test_a_selection_has_importances_and_supports_of_its_own(make, own):
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    widget = make(own, X, sample_weight=weights)
    assert shown(widget)["selection"] is None
    widget.select("temp > 15")
    picture = shown(widget)
    assert picture["selection_id"] == widget.selection.id
    inside = widget.selection.mask
    assert picture["selection"]["n"] == inside.sum()
    rules = own.ruleset_
    share = weights * inside / (weights * inside).sum()
    design = rules.design(X)
    place = [[term.text for term in rules.terms].index(text) for _, text in terms_of(picture)]
    centre = np.array([getattr(term, "mean", rules.support[k]) for k, term in enumerate(rules.terms)])
    by_hand = np.abs(rules.coefficients[0]) * (share @ np.abs(design - centre))
    np.testing.assert_allclose(picture["selection"]["importance"], by_hand[place] / by_hand.max() * 100, rtol=1e-5)
    number = picture["type"] == 1
    np.testing.assert_allclose(
        picture["selection"]["support"][~number], (share @ design)[place][~number], rtol=1e-5, atol=1e-7
    )
    assert np.isnan(picture["selection"]["support"][number]).all()
    widget.select("temp > 1e9")
    nobody = shown(widget)["selection"]
    assert nobody["n"] == 0
    assert np.isnan(nobody["importance"]).all()


def test_a_row_adds_up_to_its_prediction(make, own):
    widget = make(own, X)
    picture = shown(widget)
    design = own.ruleset_.design(X)
    place = [[term.text for term in own.ruleset_.terms].index(text) for _, text in terms_of(picture)]
    for row in (0, 13, 299):
        reply = ask(widget, "row", of=picture["id"], row=row)["result"]
        assert reply["decision"] == pytest.approx(own.predict(X)[row])
        total = reply["start"] + sum(value for _, value in reply["contributions"]) + reply["rest"]
        assert total == pytest.approx(own.predict(X)[row])
        assert reply["model"] == pytest.approx(own.predict(X)[row])
        number = picture["type"] == 1
        own_values = dict(zip(picture["features"], reply["own"], strict=True))
        for name in picture["features"]:
            value = X[name].iloc[row]
            if pd.isna(value):
                assert own_values[name] == "missing"
            elif isinstance(value, (float, np.floating)):
                assert float(own_values[name]) == pytest.approx(value, rel=1e-5)
            else:
                assert own_values[name] == str(value)
        held = set(np.flatnonzero((design[row, place] > 0) & ~number))
        assert set(reply["holds"]) == held
        added = dict(reply["contributions"])
        for at in held:
            assert added[at] == pytest.approx(picture["coefficient"][at], rel=1e-6)
        for at, words, _ in reply["misses"]:
            # By hand: all conditions hold but one.
            conditions = own.ruleset_.terms[place[at]].conditions
            failing = [c for c in conditions if not c.mask(widget.explainer.table)[row]]
            assert len(failing) == 1
            assert failing[0].feature in words


def test_a_row_is_found_by_its_label(make, own):
    named = X.set_axis([f"day {k}" for k in range(len(X))])
    widget = make(own, named)
    picture = shown(widget)
    assert ask(widget, "row", of=picture["id"], label="day 42")["result"]["row"] == 42
    assert (
        "there is no row 'day 1000'; rows are named such as"
        in ask(widget, "row", of=picture["id"], label="day 1000")["message"]
    )
    assert ask(widget, "row", of=picture["id"], label="7")["result"]["row"] == 7  # no row is named so: its number
    assert "there is no row" in ask(widget, "row", of=picture["id"], label=str(len(X)))["message"]
    assert "there is no row 5000" in ask(widget, "row", of=picture["id"], row=5000)["message"]


def test_the_row_is_chosen_by_position(make, own):
    widget = make(own, X, row=3)
    assert widget.row == 3
    widget.row = np.int64(-1)
    assert widget.row == len(X) - 1
    assert own.explain_row(X, -1).name == str(X.index[widget.row])  # as there
    for nonsense in (len(X), -len(X) - 1, "17", 1.0, True, [1]):
        with pytest.raises(InputError, match="no position among the 300 rows"):
            widget.row = nonsense
    assert widget.row == len(X) - 1
    assert "row=299" in widget.to_python()
    widget.row = None
    assert widget.row is None
    assert "row=" not in widget.to_python()


def test_related_rules_are_those_whose_rows_overlap(make, own):
    widget = make(own, X)
    picture = shown(widget)
    texts = [text for _, text in terms_of(picture)]
    masks = {at: widget.explainer.mask(text) for at, text in enumerate(texts) if picture["type"][at] != 1}
    seen = set()
    for at, mask in masks.items():
        reply = ask(widget, "overlap", of=picture["id"], term=at)["result"]
        expected = {}
        for other, own_mask in masks.items():
            if other == at:
                continue
            phi = np.corrcoef(mask, own_mask)[0, 1]
            if (mask == own_mask).all():
                expected[other] = "equal"
            elif (own_mask[mask]).all():
                expected[other] = "within"
            elif (mask[own_mask]).all():
                expected[other] = "contains"
            elif (mask != own_mask).all():
                expected[other] = "complement"
            elif abs(phi) >= 0.7:
                expected[other] = "correlated"
        found = {pair["term"]: pair["relation"] for pair in reply["related"]}
        assert found.items() <= expected.items()
        assert len(found) + reply["more"] == len(expected)
        seen |= set(found.values())
    assert {"within", "contains"} <= seen
    number = int(np.flatnonzero(picture["type"] == 1)[0])
    assert ask(widget, "overlap", of=picture["id"], term=number)["result"]["related"] == []
    assert "the rules have changed" in ask(widget, "overlap", of=999, term=0)["message"]
    assert "there is no term 5000" in ask(widget, "overlap", of=picture["id"], term=5000)["message"]


def test_clusters_hold_for_about_the_same_rows(make, own):
    widget = make(own, X)
    picture = shown(widget)
    cluster = picture["cluster"]
    assert (cluster[picture["type"] == 1] == -1).all()
    table = own.ruleset_.overlap(X).clusters()
    by_text = dict(zip(table.text, table.cluster, strict=True))
    groups: dict[int, set[int]] = {}
    for (_, text), found in zip(terms_of(picture), cluster, strict=True):
        if found >= 0:
            groups.setdefault(int(found), set()).add(by_text[text])
    assert all(len(group) == 1 for group in groups.values())
    assert len(groups) == table.cluster.nunique()


# ---- unusual models and tables ---------------------------------------------------------------------------------------


def test_behind_steps_a_rule_selects_through_python(make):
    numbers = X[["temp", "n"]].fillna(0.0)
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, RuleFitRegressor(**FEW)).fit(numbers, 10.0 * (numbers.temp > 15) + numbers.n)
    widget = make(model, numbers)
    picture = shown(widget)
    assert (picture["kind"], picture["as_seen"]) == ("model", False)
    rule = int(np.flatnonzero(picture["type"] == 0)[0])
    assert ask(widget, "rule", of=picture["id"], term=rule, op="replace")["status"] == "ok"
    term = next(term for term in model[-1].ruleset_.terms if term.text == terms_of(picture)[rule][1])
    np.testing.assert_array_equal(widget.selection.mask, term.mask(scaler.transform(numbers)))
    if (picture["type"] == 1).any():
        number = int(np.flatnonzero(picture["type"] == 1)[0])
        assert "is a linear term" in ask(widget, "rule", of=picture["id"], term=number, op="add")["message"]


def test_names_and_levels_travel_as_text(make):
    hostile = X.rename(columns={"temp": "<b>temp</b>", "season": "it's & that"})
    model = RuleFitRegressor(**FEW).fit(hostile, Y)
    widget = make(model, hostile)
    picture = shown(widget)
    assert "<b>temp</b>" in picture["features"]
    for at, (_, text) in enumerate(terms_of(picture)):
        if picture["type"][at] == 0:
            assert ask(widget, "query", text=text, op="replace")["status"] == "ok"


def test_columns_of_a_group_lead_to_the_group(make):
    coded = pd.get_dummies(X[["n", "season"]], columns=["season"])
    seasons = [name for name in coded if name.startswith("season")]
    model = RuleFitRegressor(**FEW).fit(coded, Y)
    widget = make(model, coded, features={"season": seasons, "n": "n"})
    picture = shown(widget)
    for name, focus in zip(picture["features"], picture["focus"], strict=True):
        assert focus == ("season" if name in seasons else name)


def test_a_constant_model_has_no_terms(make):
    widget = make(lambda table: np.full(len(table), 2.0), X)
    picture = shown(widget)
    assert len(picture["ends"]) == 0
    assert picture["intercept"] == pytest.approx(2.0)


def test_only_the_most_important_terms_go_to_the_page(make, own, monkeypatch):
    monkeypatch.setattr(rules_reading, "MOST_TERMS", 4)
    widget = make(own, X)
    picture = shown(widget)
    assert len(picture["ends"]) == 4
    assert picture["left_out"] == len(own.ruleset_) - 4
    assert [text for _, text in terms_of(picture)] == list(own.rules_.text[1:5])
    reply = ask(widget, "row", of=picture["id"], row=5)["result"]
    total = reply["start"] + sum(value for _, value in reply["contributions"]) + reply["rest"]
    assert total == pytest.approx(own.predict(X)[5])


def test_many_rows_are_fitted_to_when_asked_for(make, surrogate, monkeypatch):
    monkeypatch.setattr(panel, "ROWS", 200)
    widget = make(surrogate)
    picture = shown(widget)
    assert (picture["rows"], picture["rows_total"], picture["more"]) == (200, 300, 300)
    assert ask(widget, "compute", panel="rules")["status"] == "ok"
    picture = shown(widget)
    assert (picture["rows"], picture["more"]) == (300, None)


# ---- when it is computed ---------------------------------------------------------------------------------------------


@pytest.fixture
def gated(surrogate, monkeypatch):
    """An explainer whose fits wait at a gate."""
    gate, fit, began, fits = threading.Event(), surrogate.rules, threading.Event(), []

    def slow(*args: Any, **options: Any) -> Any:
        began.set()
        fits.append(args)
        assert gate.wait(30)
        return fit(*args, **options)

    monkeypatch.setattr(surrogate, "rules", slow)
    yield surrogate, gate, began, fits
    gate.set()


def test_a_fit_holds_up_neither_brushing_nor_closing(make, gated):
    explainer, gate, began, _ = gated
    widget = make(explainer)
    widget._running.board.open(["rules", "importance"])
    assert began.wait(20)
    widget.select("temp > 15")
    end = time.monotonic() + 20
    while (
        widget._split.get("selection_id") != widget.selection.id
        or widget._importance.get("n_selection") != widget.selection.n
    ):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert widget._rules["status"]["state"] == "running"
    gate.set()
    assert widget.wait(30)
    assert widget._rules["status"]["state"] == "done"
    assert widget._rules["selection_id"] == widget.selection.id


def test_a_widget_closes_in_the_middle_of_a_fit(make, gated):
    explainer, _, began, _ = gated
    widget = make(explainer)
    widget._running.board.open(["rules"])
    assert began.wait(20)
    start = time.monotonic()
    widget.close()
    assert time.monotonic() - start < 5


def test_a_fit_that_is_left_is_there_when_one_comes_back(make, gated):
    explainer, gate, began, fits = gated
    widget = make(explainer)
    widget._running.board.open(["rules"])
    assert began.wait(20)
    widget._running.board.open([])
    assert widget.wait(20)  # nobody waits for it
    gate.set()
    assert shown(widget)["kind"] == "surrogate"
    assert len(fits) == 1


def test_a_fit_that_fails_says_so_and_can_be_tried_again(make, surrogate, monkeypatch):
    fit = surrogate.rules
    monkeypatch.setattr(surrogate, "rules", lambda *args, **options: 1 / 0)
    widget = make(surrogate)
    widget._running.board.open(["rules"])
    assert widget.wait(20)
    assert (widget._rules["status"]["state"], widget._rules["status"]["message"]) == ("failed", "division by zero")
    monkeypatch.setattr(surrogate, "rules", fit)
    assert ask(widget, "compute", panel="rules")["status"] == "ok"
    assert shown(widget)["kind"] == "surrogate"


# ---- stability -------------------------------------------------------------------------------------------------------


def stable(widget: Any, *, on: bool = True) -> dict[str, Any]:
    assert ask(widget, "stability", of=widget._rules["id"], on=on)["status"] == "ok"
    return shown(widget)


def test_what_comes_back_is_what_stability_says(make, own):
    widget = make(own, X, y=Y)
    assert shown(widget)["stability"] is None
    picture = stable(widget)
    expected = stability(own, X, Y).to_frame().set_index("text").stability
    texts = [text for _, text in terms_of(picture)]
    np.testing.assert_allclose(picture["stability"]["back"], expected[texts].to_numpy(), rtol=1e-6)
    assert (picture["stability"]["done"], picture["stability"]["total"]) == (20, 20)
    assert stable(widget, on=False)["stability"] is None


def test_stability_belongs_to_the_rules_that_the_page_spoke_of(make, own):
    """The page asks about rules on screen while others are on their way there."""
    widget = make(lambda rows: 5.0 * (rows["n"] > 2), X, y=Y)
    before = shown(widget)["id"]
    assert ask(widget, "terms", step=None, subject="outcome")["status"] == "ok"
    assert ask(widget, "stability", of=before, on=True)["status"] == "ok"
    picture = shown(widget)
    assert picture["kind"] == "outcome"
    assert picture["stability"] is None
    assert ask(widget, "terms", step=None, subject="model")["status"] == "ok"
    assert shown(widget)["stability"]["done"] == 20


def test_a_surrogate_is_fitted_again_once_whatever_is_selected_and_however_many_terms(make, surrogate, monkeypatch):
    fits = []
    fit = Refits.fit
    monkeypatch.setattr(Refits, "fit", lambda self, number: fits.append(number) or fit(self, number))
    widget = make(surrogate)
    picture = shown(widget)
    found = surrogate.rules(None, progress=False)
    picture = stable(widget)
    expected = stability(found.estimator, X, predict(X)).to_frame().set_index("text").stability
    texts = [text for _, text in terms_of(picture)]
    np.testing.assert_allclose(picture["stability"]["back"], expected[texts].to_numpy(), rtol=1e-6)
    assert fits[:20] == list(range(20))
    fits.clear()
    widget.select("temp > 15")
    assert shown(widget)["stability"]["done"] == 20
    step = picture["path"]["at"] - 3
    assert ask(widget, "terms", step=step)["status"] == "ok"
    picture = shown(widget)
    assert picture["stability"]["done"] == 20
    assert fits == []
    fewer = found.at_step(step)
    expected = stability(fewer.estimator, X, predict(X)).to_frame().set_index("text").stability
    texts = [text for _, text in terms_of(picture)]
    np.testing.assert_allclose(picture["stability"]["back"], expected[texts].to_numpy(), rtol=1e-6)


def test_without_an_outcome_the_models_own_rules_cannot_be_fitted_again(make, own):
    widget = make(own, X)
    picture = shown(widget)
    reply = ask(widget, "stability", of=picture["id"], on=True)
    assert reply["status"] == "error"
    assert "takes the outcome" in reply["message"]
    assert shown(widget)["stability"] is None


def test_refits_grow_hold_nobody_up_and_end_when_something_else_is_wanted(make, own, monkeypatch):
    gate, fit, fits = threading.Semaphore(0), Refits.fit, []

    def slow(self: Any, number: int) -> Any:
        fits.append(number)
        assert gate.acquire(timeout=30)
        return fit(self, number)

    monkeypatch.setattr(Refits, "fit", slow)
    widget = make(own, X, y=Y)
    shown(widget)
    assert ask(widget, "stability", of=widget._rules["id"], on=True)["status"] == "ok"

    def until(reached: Callable[[], bool]) -> None:
        end = time.monotonic() + 20
        while not reached():
            assert time.monotonic() < end
            time.sleep(0.01)

    def done() -> int:
        known = widget._rules.get("stability")
        return -1 if known is None else known["done"]

    until(lambda: done() == 0)
    gate.release()
    until(lambda: done() == 1)
    # A brush is answered while a fit runs, and what was fitted stays.
    widget.select("temp > 15")
    until(lambda: widget._rules["selection_id"] == widget.selection.id and done() == 1)
    assert widget._rules["status"]["state"] == "running"
    gate.release()
    until(lambda: done() == 2)
    # Leaving off lets the running fit end, and begins no other.
    assert ask(widget, "stability", of=widget._rules["id"], on=False)["status"] == "ok"
    until(lambda: widget._rules["status"]["state"] == "done")
    assert done() == -1
    gate.release()
    assert widget.wait(20)
    until(lambda: not widget._running.board["rules"]._thread.busy)
    assert fits == [0, 1, 2]
    # Asked again it goes on where it was.
    assert ask(widget, "stability", of=widget._rules["id"], on=True)["status"] == "ok"
    until(lambda: len(fits) > 3)
    assert fits == [0, 1, 2, 3]
    for _ in range(40):
        gate.release()
    picture = shown(widget)
    assert (picture["stability"]["done"], fits) == (20, list(range(20)))


# ---- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "says"),
    [
        ("terms", {"step": -1}, "step is a whole number"),
        ("terms", {"step": 1.5}, "step is a whole number"),
        ("terms", {"subject": "X"}, "subject is model or outcome"),
        ("overlap", {"of": 1}, "term is a whole number"),
        ("overlap", {"of": True, "term": 1}, "of is a whole number"),
        ("row", {"of": 1}, "row is a whole number"),
        ("row", {"of": 1, "label": 3}, "label is a text"),
        ("stability", {"of": 1, "on": 1}, "on is true or false"),
        ("stability", {"on": True}, "of is a whole number"),
        ("rule", {"of": 1, "term": 0, "op": "eval"}, "op is one of"),
        ("rule", {"of": 1, "term": 2**40, "op": "add"}, "term is a whole number"),
    ],
)
def test_nonsense_is_refused(make, method, params, says):
    assert says in ask(make(), method, **params)["message"]
