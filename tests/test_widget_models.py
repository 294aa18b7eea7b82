# ruff: noqa: F811
"""Several models on one page: what is whose, what stays when another one is looked at, and named groups as curves."""

from __future__ import annotations

import copy
import json
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from widget_tools import Counting, arrays, ask, frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets import Explainer, PDPWidget, compare, datasets
from pdp_widgets.inputs import InputError
from pdp_widgets.widget import protocol
from pdp_widgets.widget.bookmarks import key
from pdp_widgets.widget.panels.models import BUDGET
from pdp_widgets.widget.selection import IceBox

X = frame()


def other(rows: pd.DataFrame) -> np.ndarray:
    return 0.5 * rows["temp"].fillna(0).to_numpy() ** 2 - 3 * rows["n"].to_numpy()


MODELS = {"first": predict, "second": other}


@pytest.fixture(scope="module")
def penguins():
    """The classic: do a forest and a logistic regression say the same of body mass?"""
    birds = datasets.penguins()
    numbers, sex = birds[["body_mass_g", "bill_depth_mm", "flipper_length_mm"]].astype(float), birds["sex"]
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(numbers, sex)
    return {
        "forest": forest,
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers, sex),
    }, numbers


def opened(make, models=None, data=None, panels=("effects",), **options):
    w = make(models or MODELS, X if data is None else data, **options)
    assert ask(w, "open", panels=list(panels))["status"] == "ok"
    assert w.wait(60)
    return w


def curves(w):
    """The other models' curves on the page by name."""
    assert w.wait(60)
    picture = w._effects
    assert picture["status"]["state"] == "done", picture["status"]
    json.dumps(picture, allow_nan=False, default=lambda raw: "bytes")
    return {line["name"]: arrays(line) for line in picture["models"]["lines"]}


# ---- numbers -------------------------------------------------------------------------------------


def test_curves_are_those_of_compare_and_of_scikit_learn(make, penguins):
    models, numbers = penguins
    w = opened(make, models, numbers, feature="body_mass_g", output="female")
    expected = compare(models, numbers, "body_mass_g", output="female")
    assert (w.model, list(w.explainers)) == ("forest", ["forest", "logistic"])
    np.testing.assert_allclose(arrays(w._curve)["average"], expected.average[0, 0])
    lines = curves(w)
    assert list(lines) == ["logistic"]
    np.testing.assert_allclose(lines["logistic"]["values"], expected.average[1, 0])
    points = arrays(w._curve)["x"]
    for name, shown in (("forest", arrays(w._curve)["average"]), ("logistic", lines["logistic"]["values"])):
        reference = partial_dependence(
            models[name], numbers, [0], custom_values={0: points}, method="brute", response_method="predict_proba"
        )
        # scikit-learn gives the second class of two: P(male)
        np.testing.assert_allclose(shown, 1 - reference["average"][0], atol=1e-10)


def test_every_output_that_is_shared(make):
    def three(rows):
        return np.column_stack([other(rows), other(rows) + 1, predict(rows)])

    a = Explainer(two_outputs, X, output_names=["low", "high"])
    b = Explainer(three, X, output_names=["none", "high", "low"])
    w = opened(make, {"a": a, "b": b}, None, feature="n", output="high")
    np.testing.assert_allclose(curves(w)["b"]["values"], b.partial_dependence("n", output="high").average[0])
    w.output = "low"
    np.testing.assert_allclose(curves(w)["b"]["values"], b.partial_dependence("n", output="low").average[0])
    w.model = "b"
    assert w.output == "low"
    assert w._info["outputs"] == ["none", "high", "low"]
    w.output = "none"
    assert curves(w) == {}
    assert "a has no output none" in w._effects["notes"][0]
    w.model = "a"
    assert w.output == a.default_output  # there is no such output there


def test_with_a_selection_the_curves_are_those_of_the_selected_rows(make):
    w = opened(make, feature="temp")
    w.select("season == 'SUMMER'")
    line = curves(w)["second"]
    expected = Explainer(other, X).partial_dependence("temp", subgroup="season == 'SUMMER'")
    np.testing.assert_allclose(line["values"], expected.average[0])
    assert w._effects["models"]["selected"]
    assert (line["n"], line["total"]) == (w.selection.n, w.selection.n)
    w.clear()
    line = curves(w)["second"]
    np.testing.assert_allclose(line["values"], Explainer(other, X).partial_dependence("temp").average[0])
    assert (line["n"], w._effects["models"]["selected"]) == (len(X), False)


def test_ale_where_ale_is_shown(make):
    w = opened(make, feature="temp", effect="ale")
    expected = Explainer(other, X).ale("temp")
    there = X[X["temp"].notna()]
    line = curves(w)["second"]
    np.testing.assert_allclose(line["x"], expected.positions[0])
    np.testing.assert_allclose(line["values"], expected.values[0] + other(there).mean())
    w.select("n < 3")
    line, some = curves(w)["second"], there[there["n"] < 3]
    expected = Explainer(other, X).ale("temp", subgroup="n < 3")
    np.testing.assert_allclose(line["values"], expected.values[0] + other(some).mean())
    assert line["n"] == len(some)


def test_explainers_with_another_grid_are_asked_for_the_one_of_the_page(make):
    fine, coarse = Explainer(predict, X, grid_size=40), Explainer(other, X, grid_size=7)
    w = opened(make, {"fine": fine, "coarse": coarse}, None, feature="temp")
    points = fine.grid("temp").values
    np.testing.assert_allclose(
        curves(w)["coarse"]["values"], coarse.partial_dependence("temp", grid=list(points)).average[0]
    )
    w.model = "coarse"
    assert len(arrays(w._curve)["x"]) == coarse.grid("temp").size
    assert len(curves(w)["fine"]["values"]) == coarse.grid("temp").size


# ---- what is whose -------------------------------------------------------------------------------


def test_all_that_is_about_the_model_changes_and_what_is_selected_stays(make):
    w = opened(
        make, feature="temp", panels=("effects", "importance", "interactions", "heatmap", "rules"), pair=("n", "temp")
    )
    w.select("season == 'SUMMER'")
    w.select("temp > 10", op="add")
    w.bookmark("now")
    assert w.wait(60)
    rules = w._rules["id"]
    before = dict.fromkeys(("curve",), w._curve["average"])
    assert w.wait(60)
    w.model = "second"
    assert w.wait(60)
    assert w.explainer is w.explainers["second"]
    assert (w.selection.text, w.selection.n) == ("season == 'SUMMER' | temp > 10", w.selection.mask.sum())
    assert (list(w.bookmarks), w.pair, w.feature) == (["now"], ("n", "temp"), "temp")
    second = Explainer(other, X)
    np.testing.assert_allclose(arrays(w._curve)["average"], second.partial_dependence("temp").average[0])
    assert w._curve["average"] != before["curve"]
    np.testing.assert_allclose(
        arrays(w._split)["selection"]["average"],
        second.partial_dependence("temp", subgroup=w.selection.mask).average[0],
    )
    np.testing.assert_allclose(w.results["all"].average[0], second.partial_dependence("temp").average[0])
    np.testing.assert_allclose(arrays(w._importance)["all"]["pd_importance"], second.importance().pd_importance[0])
    surface = second.partial_dependence(("n", "temp"), grid_size=20)
    assert arrays(w._heatmap)["average"].shape == surface.average[0].shape
    np.testing.assert_allclose(arrays(w._heatmap)["average"], surface.average[0])
    lines = arrays(w._ice)
    ice = second.partial_dependence("temp").individual[0]
    np.testing.assert_allclose(lines["values"] + lines["offset"], ice[arrays(w._sample)["rows"]], rtol=1e-4, atol=1e-4)
    assert w._info["model"] == "second"
    assert w._rules["id"] != rules  # what the page asks of the one must not be answered by the other
    assert w.undo().text == "season == 'SUMMER'"


def test_going_back_is_instant_and_asks_nothing(make):
    a, b = Counting(predict), Counting(other)
    w = opened(make, {"a": a, "b": b}, feature="temp", panels=("effects", "regions", "importance", "heatmap"))
    w.model = "b"
    assert w.wait(60)
    asked, picture = (a.rows, b.rows), w._importance
    w.model = "a"
    assert w._curve["rows"] == len(X)  # at once
    assert {w._effects["status"]["state"], w._importance["status"]["state"], w._heatmap["status"]["state"]} == {"done"}
    assert w.wait(60)
    w.model = "b"
    assert w._importance == picture
    assert w.wait(60)
    assert (a.rows, b.rows) == asked


def test_the_model_that_is_left_rests_and_is_not_heard(make):
    started = threading.Event()

    def slow(rows):
        started.set()
        time.sleep(0.02)
        return predict(rows)

    counting = Counting(slow)
    w = make({"slow": counting, "quick": other}, pd.concat([X] * 20, ignore_index=True), feature="temp")
    assert started.wait(10)
    w.model = "quick"
    assert w.wait(60)
    rested = counting.rows
    time.sleep(0.2)
    assert counting.rows == rested
    assert not w._models._controllers["slow"].worker.busy
    np.testing.assert_allclose(arrays(w._curve)["average"], Explainer(other, X).partial_dependence("temp").average[0])
    w.model = "slow"
    assert w._progress["state"] == "running"
    w.stop()
    assert w._progress["state"] == "stopped"
    w.model = "quick"
    assert w._progress["state"] == "idle"
    w.model = "slow"
    assert w._progress["state"] == "stopped"  # as it was left
    rested = counting.rows
    w.resume()
    until = time.monotonic() + 10
    while counting.rows == rested and time.monotonic() < until:
        time.sleep(0.01)
    assert counting.rows > rested


def test_one_message_takes_the_page_from_one_model_to_the_other(make):
    w = opened(make, feature="temp")
    sent = []
    w.send_state, send = (lambda key=None: sent.append(key if isinstance(key, str) else set(key))), w.send_state
    try:
        with w.changing():  # the worker has no say meanwhile
            w.model = "second"
            first = next(key for key in sent if not isinstance(key, str))
    finally:
        w.send_state = send
    assert {"_info", "_curve", "_ice", "_overview", "_effects", "_progress"} <= first
    assert w.wait(60)


def test_a_rectangle_stays_the_rows_that_it_was_and_belongs_to_its_model(make):
    w = opened(make, feature="temp")
    reply = ask(
        w, "select", op="replace",
        condition={"type": "ice", "feature": "temp", "output": "prediction", "x": [0, 5], "y": [-10, 0], "centered": False},
    )  # fmt: skip
    assert reply["status"] == "ok"
    mask, text = w.selection.mask.copy(), w.selection.text
    assert 0 < mask.sum() < len(X)
    assert "curves of first through temp 0 to 5" in w.selection.named_rows[text]
    assert [part["type"] for part in w._selection["conditions"]] == ["ice"]
    w.model = "second"
    assert w.wait(60)
    np.testing.assert_array_equal(w.selection.mask, mask)
    assert w._selection["conditions"] == []  # these are not the curves that it was drawn on
    box = w._history._rows[text[1:]].data
    assert isinstance(box, IceBox)
    assert box.model == "first"
    w.model = "first"
    assert [part["type"] for part in w._selection["conditions"]] == ["ice"]
    state = json.loads(json.dumps(w.view_state))
    fresh = opened(make, feature="temp")
    fresh.view_state = state
    np.testing.assert_array_equal(fresh.selection.mask, mask)


def test_curves_that_another_worker_ends_while_the_model_comes_are_shown_in_full(make):
    w = make({"first": predict, "second": other}, X, feature="temp")
    assert w.wait(60)
    shared = w.explainers["second"].ice("temp", keep=w._running.screen.sample)
    shared.advance()
    assert 0 < shared.rows_done < len(X)

    def end(_):
        while not shared.complete:
            shared.advance()

    w.observe(end, "_curve")
    w.model = "second"
    w.unobserve(end, "_curve")
    assert w.wait(60)
    assert shared.complete
    expected = Explainer(other, X).partial_dependence("temp").average[0]
    assert w._curve["rows"] == len(X)
    np.testing.assert_allclose(arrays(w._curve)["average"], expected, rtol=1e-6)


def test_levels_are_those_of_the_model_on_the_page(make):
    w = make({"coarse": Explainer(predict, X, grid_size=7), "fine": Explainer(other, X, grid_size=40)}, feature="temp")
    assert w.wait(60)
    w.model = "fine"
    assert w.wait(60)
    level = w.explainer.grid("temp").missing
    assert level > 10
    reply = ask(
        w, "select", op="replace", condition={"type": "levels", "feature": "temp", "levels": [level]}, gesture="g"
    )
    assert reply["status"] == "ok", reply
    assert w.selection.n == X["temp"].isna().sum()


def test_focus_moved_while_another_model_was_on_the_page(make):
    w = opened(make, feature="temp", panels=("effects", "importance"))
    w.model = "second"
    w.feature, w.effect = "n", "ale"
    w.select("flag == True")
    assert w.wait(60)
    w.model = "first"
    assert w.wait(60)
    first = Explainer(predict, X)
    np.testing.assert_allclose(arrays(w._curve)["average"], first.partial_dependence("n").average[0])
    np.testing.assert_allclose(
        arrays(w._split)["selection"]["average"],
        first.partial_dependence("n", subgroup="flag == True").average[0],
    )
    assert (w._effects["feature"], w._effects["effect"], w._effects["selection_id"]) == ("n", "ale", w.selection.id)
    assert curves(w)["second"]["n"] == w.selection.n


def test_a_person_chooses_the_model_on_the_page(make):
    w = opened(make, feature="temp")
    w.set_state({"model": "second"})
    assert (w.model, w._info["model"]) == ("second", "second")
    w.set_state({"model": "third"})  # no such thing: the page gets the old value back
    assert w.model == "second"
    assert w.wait(60)


# ---- what it costs -------------------------------------------------------------------------------


def test_switched_off_nothing_is_asked(make):
    b = Counting(other)
    w = make({"a": predict, "b": b}, X, feature="temp", show_models=False)
    few = b.rows
    ask(w, "open", panels=["effects"])
    assert w.wait(60)
    assert w._effects["models"] is None
    assert b.rows == few
    w.show_models = True
    assert len(curves(w)["b"]["values"]) == len(arrays(w._curve)["x"])
    assert b.rows > few


def test_cost_is_counted_and_no_more_is_asked_than_of_a_feature_out_of_focus(make):
    def slow(rows):
        time.sleep(2e-6 * len(rows))  # so that a chunk is a small part of it
        return other(rows)

    b = Counting(slow)
    many = pd.concat([X] * 60, ignore_index=True)
    w = make({"a": lambda rows: rows["n"].to_numpy(), "b": b}, many, feature="temp", panels=[])
    assert w.wait(60)
    panel, view = w._running.board["effects"], w._running.view()
    cells = len(arrays(w._curve)["x"])
    some = BUDGET // cells
    assert some < len(many)
    before = b.rows
    assert panel.cost(view) == some * cells
    ask(w, "open", panels=["effects"])
    line = curves(w)["b"]
    assert some <= line["n"] <= some * 1.3
    assert line["total"] == len(many)
    assert b.rows - before <= 1.3 * some * cells
    exact = Explainer(other, many).partial_dependence("temp")
    spread = np.sqrt(exact.variance[0] / line["n"])
    assert (np.abs(line["values"] - exact.average[0]) <= 5 * spread + 1e-9).all()
    assert panel.cost(view) == 0  # it is there
    w.model = "b"
    assert w.wait(60)
    w.model = "a"
    np.testing.assert_allclose(curves(w)["b"]["values"], exact.average[0])  # looked at, it is computed in full


def test_a_model_that_fails_takes_no_other_along(make):
    def fails(rows):
        if len(rows) > 10:
            raise ValueError("no")
        return other(rows)

    w = opened(make, {"good": predict, "bad": fails, "fine": other}, feature="temp")
    assert {name for name, line in curves(w).items() if line["values"] is not None} == {"fine"}
    assert any(note.startswith("bad: ") for note in w._effects["notes"])
    assert w._effects["hints"]
    w.model = "bad"
    assert w.wait(60)
    assert w._progress["state"] == "failed" or w._curve["error"]
    w.model = "good"
    assert w.wait(60)
    assert w._curve["rows"] == len(X)


def test_more_models_than_colours(make):
    w = opened(make, {f"m{k}": lambda rows, k=k: k * rows["n"].to_numpy() for k in range(11)}, feature="n")
    assert [line["hue"] for line in curves(w).values()] == list(range(1, 9))
    assert w._effects["notes"][-1].startswith("curves of 8 of 10 other models")


# ---- how it is made ------------------------------------------------------------------------------


def test_lists_are_named_by_class_and_explainers_need_no_rows(make, penguins):
    models, numbers = penguins
    twins = [models["forest"], copy.deepcopy(models["forest"]), models["logistic"]]
    w = make(twins, numbers)
    names = list(w.explainers)
    assert names[0] == "RandomForestClassifier"
    assert names[1].startswith("RandomForestClassifier")
    assert len(set(names)) == 3
    shared = {name: Explainer(model, numbers) for name, model in models.items()}
    w = PDPWidget(shared)
    assert w.explainers == shared
    assert w.explainer is shared["forest"]
    with pytest.raises(TypeError):
        w.explainers["x"] = None
    w.close()


def test_one_model_with_a_name_or_without(make):
    w = make({"only": predict}, X)
    assert (w.model, w._info["model"], w._info["models"]) == ("only", "only", [])
    assert w.explainers[w.model] is w.explainer
    w = make(predict, X)
    assert (w.model, w._info["model"], w._info["models"]) == ("", "predict", [])
    assert w.explainers[w.model] is w.explainer
    with pytest.raises(InputError, match="one model without a name"):
        w.model = "forest"


@pytest.mark.parametrize(
    ("models", "data", "options", "error", "message"),
    [
        ({}, X, {}, InputError, "given none"),
        ([], X, {}, InputError, "given none"),
        (MODELS, None, {}, TypeError, "X is missing"),
        ({"": predict, "b": other}, X, {}, InputError, "a name is empty"),
        ({1: predict, "1": other}, X, {}, InputError, "the same as text"),
        ({"a": predict, "b": Explainer(other, X[:50])}, X, {}, InputError, "do not average over the same rows"),
        ({"a": Explainer(predict, X), "b": Explainer(other, X[::-1])}, None, {}, InputError, "values of column"),
        ({"a": Explainer(predict, X), "b": Explainer(other, X)}, None, {"grid_size": 9}, InputError, "are explainers already"),
        (
            {"a": Explainer(predict, X), "b": Explainer(other, X, features=["temp", "n"])},
            None, {}, InputError, "only one of them has 'flag'",
        ),
        ({"a": Explainer(two_outputs, X, output_names=["p", "q"]), "b": Explainer(other, X)}, None, {}, InputError, "no output in common"),
        (MODELS, X, {"colour": 1}, TypeError, "unknown option 'colour'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(models, data, options, error, message):
    with pytest.raises(error, match=message):
        PDPWidget(models, data, **options)


def test_other_scales_are_refused(penguins):
    models, numbers = penguins
    different = {
        "forest": Explainer(models["forest"], numbers),
        "logistic": Explainer(models["logistic"], numbers, response="decision"),
    }
    with pytest.raises(InputError, match="models are compared on one scale"):
        PDPWidget(different)


def test_a_model_that_there_is_not(make):
    w = make(MODELS, X)
    with pytest.raises(InputError, match=r"'secnd'.*second"):
        w.model = "secnd"
    assert w.model == "first"
    w.model = ""  # nothing else is meant
    assert w.model == "first"


# ---- around the page -----------------------------------------------------------------------------


def test_state_text_and_files_are_those_of_the_model(make, tmp_path):
    w = opened(make, feature="temp", output="prediction")
    w.model, w.show_models = "second", False
    w.select("n < 3")
    state = json.loads(json.dumps(w.view_state))
    assert (state["model"], state["show_models"]) == ("second", False)
    fresh = opened(make)
    fresh.view_state = state
    assert (fresh.model, fresh.show_models, fresh.selection.text) == ("second", False, "n < 3")
    assert fresh._info["model"] == "second"
    alone = make(predict, X)
    alone.view_state = state  # what fits, fits
    assert (alone.model, alone.feature, alone.selection.text) == ("", "temp", "n < 3")
    with pytest.raises(InputError, match="'third'"):
        fresh.view_state = {"feature": "n", "model": "third"}
    assert (fresh.model, fresh.feature) == ("second", "temp")
    fresh.view_state = alone.view_state
    assert fresh.model == "second"

    assert repr(w).startswith("<PDPWidget of second, one of 2 models: prediction by 'temp'")
    space = {"models": MODELS, "X": X}
    text = w.to_python()
    exec(text, space)
    made = space["widget"]
    assert made.view_state == w.view_state
    np.testing.assert_allclose(
        space["curve"].average[0], Explainer(other, X).partial_dependence("temp", subgroup="n < 3").average[0]
    )
    made.close()
    w.show_models = True
    page = w.export_html(tmp_path / "page.html").read_text()
    assert '"models": ["first", "second"]' in page
    record = json.loads(page.split('id="record">')[1].split("</script>")[0].replace("\\u003c", "<"))
    assert [line["name"] for line in record["traits"]["_effects"]["models"]["lines"]] == ["first"]
    svg = w.save_image(tmp_path / "curve.svg").read_text()
    assert "first, selected" in svg
    w.close()
    assert repr(w).endswith("closed>")
    w.close()


def test_an_exported_page_has_the_other_models_curves_of_every_feature(make, tmp_path):
    w = opened(make, feature="temp")
    page = w.export_html(tmp_path / "page.html").read_text()
    record = json.loads(page.split('id="record">')[1].split("</script>")[0].replace("\\u003c", "<"))
    for feature in w.explainer.features:
        line = record["curves"][f"{feature}\0prediction"]["beside"]["_effects"]["models"]["lines"][0]
        assert (line["name"], line["n"]) == ("second", len(X))


def test_a_saved_trait_list_and_panels_elsewhere_follow(make):
    w = opened(make, feature="temp", panels=())
    w.view("importance")
    assert ask(w, "open", panels=[])["status"] == "ok"
    assert w.wait(60)
    w.model = "second"
    assert w.wait(60)
    np.testing.assert_allclose(
        arrays(w._importance)["all"]["pd_importance"], Explainer(other, X).importance().pd_importance[0]
    )


# ---- bookmarks as groups -------------------------------------------------------------------------


def test_bookmarks_as_curves_are_those_of_the_subgroups(make):
    w = opened(make, predict, feature="temp", bookmarks={"warm ones": "temp > 15", "summer": "season == 'SUMMER'"})
    w.by = "bookmarks"
    assert w.wait(60)
    groups, explainer = w._effects["groups"], Explainer(predict, X)
    assert [level["label"] for level in groups["levels"]] == ["warm ones", "summer"]
    for level, condition in zip(groups["levels"], ("temp > 15", "season == 'SUMMER'"), strict=True):
        expected = explainer.partial_dependence("temp", subgroup=condition)
        np.testing.assert_allclose(arrays(level["values"]), expected.average[0])
        assert level["n"] == len(expected.rows)
    warm, summer = (explainer.mask(text) for text in ("temp > 15", "season == 'SUMMER'"))
    rows = arrays(w._sample)["rows"]
    np.testing.assert_array_equal(
        arrays(groups["codes"]), np.select([warm & summer, warm, summer], [255, 0, 1], 255)[rows]
    )
    assert f"more than one bookmark ({(warm & summer).sum()})" in w._effects["notes"][0]
    w.select("flag == True")
    assert w.wait(60)
    np.testing.assert_allclose(
        arrays(w._effects["groups"]["levels"][1]["values"]),
        explainer.partial_dependence("temp", subgroup="flag == True & season == 'SUMMER'").average[0],
    )
    w.clear()
    w.effect = "ale"
    assert w.wait(60)
    ale = explainer.ale("temp", subgroup="season == 'SUMMER'")
    np.testing.assert_allclose(np.diff(arrays(w._effects["groups"]["levels"][1]["values"])), np.diff(ale.values[0]))


def test_bookmarks_may_come_and_go(make):
    w = opened(make, predict, feature="n")
    with pytest.raises(InputError, match="there are 0; keep two or more"):
        w.by = "bookmarks"
    w.bookmark("a", "temp > 15")
    with pytest.raises(InputError, match="there are 1"):
        w.by = "bookmarks"
    w.bookmark("b", "temp < 10")
    w.by = "bookmarks"
    w.bookmark("c", "flag == True")
    assert w.wait(60)
    assert [level["label"] for level in w._effects["groups"]["levels"]] == ["a", "b", "c"]
    w.bookmarks = {"a": "temp > 20", "b": "temp < 10"}
    assert w.wait(60)
    np.testing.assert_allclose(
        arrays(w._effects["groups"]["levels"][0]["values"]),
        Explainer(predict, X).partial_dependence("n", subgroup="temp > 20").average[0],
    )
    w.bookmarks = {"a": "temp > 20"}
    assert w.by == ""
    assert w.wait(60)
    assert w._effects["groups"] is None


def test_more_bookmarks_than_colours(make):
    w = opened(make, predict, feature="n", bookmarks={f"over {k}": f"temp > {k}" for k in range(10)}, by="bookmarks")
    assert len(w._effects["groups"]["levels"]) == 8
    assert w._effects["notes"][0].startswith("the first 8 bookmarks have a curve")


def test_a_feature_that_is_called_bookmarks(make):
    data = X.rename(columns={"season": "bookmarks", "flag": "@bookmarks"})
    w = opened(make, lambda rows: rows["n"].to_numpy() * (rows["bookmarks"] == "SUMMER"), data, feature="n")
    w.bookmarks = {"a": "temp > 15", "b": "temp < 10"}
    w.by = "bookmarks"
    assert w.wait(60)
    assert "SUMMER" in [level["label"] for level in w._effects["groups"]["levels"]]
    w.by = "@bookmarks"
    assert w.wait(60)
    assert [level["label"] for level in w._effects["groups"]["levels"]] == ["False", "True"]
    assert key(w.explainer.features) == "@@bookmarks"
    w.by = "@@bookmarks"
    assert w.wait(60)
    assert [level["label"] for level in w._effects["groups"]["levels"]] == ["a", "b"]


def test_bookmarks_as_groups_are_kept_in_state_and_text(make):
    w = opened(make, predict, feature="temp", bookmarks={"a": "temp > 15", "b": "n < 3"}, by="bookmarks")
    fresh = opened(make, predict)
    fresh.view_state = json.loads(json.dumps(w.view_state))
    assert (fresh.by, fresh.bookmarks) == ("bookmarks", {"a": "temp > 15", "b": "n < 3"})
    fresh.view_state = {"bookmarks": {}}
    assert (fresh.by, fresh.bookmarks) == ("", {})
    fresh.view_state = w.view_state
    with pytest.raises(InputError):
        fresh.view_state = {"bookmarks": {"c": "n > 1"}, "by": "nothing"}
    assert (fresh.by, fresh.bookmarks) == ("bookmarks", {"a": "temp > 15", "b": "n < 3"})
    w.bookmark("some", X["temp"].notna().to_numpy() & (X["n"] > 2).to_numpy())
    for widget in (fresh, w):
        space = {"model": predict, "X": X}
        exec(widget.to_python(), space)
        assert space["widget"].view_state == widget.view_state
        space["widget"].close()


def test_bookmarks_of_curves_that_are_answered_later_have_the_later_curve(make):
    """A rectangle on growing curves is answered again when all are there."""
    w = opened(make, predict, feature="temp")
    condition = {
        "type": "ice",
        "feature": "temp",
        "output": "prediction",
        "x": [0, 5],
        "y": [-10, 0],
        "centered": False,
    }
    assert ask(w, "select", op="replace", condition=condition)["status"] == "ok"
    w.bookmark("crossing")
    w.bookmark("warm", "temp > 15")
    w.by = "bookmarks"
    assert w.wait(60)
    rows = w._history._rows[w.selection.text[1:]]
    asked = w._effects["groups"]["levels"][0]["n"]
    rows.rows[:10] = ~rows.rows[:10]  # as if these had not been known
    w.curves_complete("temp")
    assert w.wait(60)
    assert w._effects["groups"]["levels"][0]["n"] == asked
    np.testing.assert_allclose(
        arrays(w._effects["groups"]["levels"][0]["values"]),
        Explainer(predict, X).partial_dependence("temp", subgroup=w.selection.mask).average[0],
    )


def test_requests_are_checked_against_the_outputs_of_the_model(make):
    a, b = (Explainer(two_outputs, X, output_names=names) for names in (["p", "q"], ["p", "r"]))
    w = make({"a": a, "b": b})
    assert w.wait(60)
    condition = {"type": "ice", "feature": "temp", "output": "r", "x": [0, 5], "y": [-99, 99], "centered": False}
    assert ask(w, "select", op="replace", condition=condition)["status"] == "error"
    w.model = "b"
    assert w.wait(60)
    assert ask(w, "select", op="replace", condition=condition)["status"] == "ok"
    assert w._info["protocol"] == protocol.PROTOCOL
