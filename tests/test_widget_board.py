# ruff: noqa: F811
"""The board: panels are computed when the page shows them, begun anew when what they depend on changes, and say how far they are."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from widget_tools import arrays, ask, frame, make, predict  # noqa: F401

from pdp_widgets import PDPWidget
from pdp_widgets.compute.worker import Worker
from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError
from pdp_widgets.widget.panels import Board, Panel
from pdp_widgets.widget.panels.board import AFFORDED


class Counter(Panel):
    """Counts to three, one chunk each; a gate holds it at every step."""

    name = "importance"

    def __init__(self):
        super().__init__(None)
        self.gate, self.begun, self.rows = threading.Semaphore(0), [], 0

    def key(self, view):
        if view.feature == "unknown":
            raise InputError("there is no such feature")
        return view.feature or None

    def cost(self, view):
        return self.rows

    def steps(self, view):
        self.begun.append(view.feature)
        for number in range(3):
            self.gate.acquire()
            if view.feature == "broken":
                raise InputError("this one fails")
            yield {"feature": view.feature, "number": number}


@pytest.fixture
def stage():
    worker, panel, told = Worker("test"), Counter(), []
    view = SimpleNamespace(feature="a")
    page = SimpleNamespace(publish=lambda **traits: told.append(traits["_importance"]))
    board = Board([panel], page, worker, threading.RLock(), lambda: SimpleNamespace(feature=view.feature))
    yield SimpleNamespace(board=board, panel=panel, told=told, view=view, worker=worker)
    panel.gate.release(100)
    worker.close()


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def test_nothing_is_computed_before_the_page_shows_it(stage):
    stage.board.changed()
    assert stage.panel.begun == []
    stage.board.open(["importance"])
    stage.panel.gate.release(3)
    assert stage.worker.wait(10)
    assert [t["status"]["state"] for t in stage.told][:1] == ["running"]
    assert stage.told[-1] == {
        "feature": "a",
        "number": 2,
        "status": {"state": "done", "message": None, "cost": 0, "stale": False},
    }


def test_a_new_focus_begins_anew_and_an_old_picture_is_marked_until_then(stage):
    stage.board.open(["importance"])
    stage.panel.gate.release(3)
    assert stage.worker.wait(10)
    stage.view.feature = "b"
    stage.board.changed()
    assert stage.told[-1]["feature"] == "a"
    assert stage.told[-1]["status"]["stale"]
    stage.panel.gate.release(3)
    assert stage.worker.wait(10)
    assert (stage.told[-1]["feature"], stage.told[-1]["status"]["stale"]) == ("b", False)
    stage.view.feature = "a"
    stage.board.changed()  # what was finished is remembered
    assert (stage.told[-1]["feature"], stage.told[-1]["status"]["state"]) == ("a", "done")
    assert stage.panel.begun == ["a", "b"]


def test_a_focus_that_is_left_is_dropped_after_the_running_chunk(stage):
    stage.board.open(["importance"])
    until(lambda: stage.panel.begun == ["a"])
    stage.view.feature = "b"
    stage.board.changed()
    stage.panel.gate.release(4)  # the rest of a's first chunk, and all of b
    assert stage.worker.wait(10)
    assert stage.told[-1]["feature"] == "b"
    assert all(t.get("feature") in (None, "b") for t in stage.told)


def test_what_costs_much_is_asked_for_first(stage):
    stage.panel.rows = AFFORDED + 1
    stage.board.open(["importance"])
    assert stage.told[-1]["status"] == {"state": "ask", "message": None, "cost": AFFORDED + 1, "stale": False}
    assert stage.panel.begun == []
    stage.panel.gate.release(3)
    stage.board.approve("importance")
    assert stage.worker.wait(10)
    assert stage.told[-1]["status"]["state"] == "done"


def test_what_was_computed_from_fewer_rows_can_be_refined(stage):
    stage.board.open(["importance"])
    stage.panel.gate.release(3)
    assert stage.worker.wait(10)
    stage.board.approve("importance")  # there is nothing more to know
    assert stage.worker.wait(10)
    assert stage.panel.begun == ["a"]
    stage.panel.refine = lambda view: True
    stage.panel.rows = AFFORDED + 1
    stage.board.approve("importance")
    assert (stage.told[-1]["status"]["state"], stage.told[-1]["status"]["stale"]) == ("running", False)
    stage.panel.gate.release(3)
    assert stage.worker.wait(10)
    assert (stage.told[-1]["status"]["state"], stage.panel.begun) == ("done", ["a", "a"])


def test_a_panel_may_wait_for_what_another_finds():
    class Waiting(Counter):
        name = "interactions"

        def key(self, view):
            return "a" if found.done else None

        def steps(self, view):
            yield {"found": True}

    class Finding(Counter):
        done = False

        def steps(self, view):
            yield {}
            self.done = True

    worker, told, found = Worker("test"), {}, Finding()
    page = SimpleNamespace(publish=told.update)
    board = Board([Waiting(), found], page, worker, threading.RLock(), lambda: SimpleNamespace(feature="a"))
    board.open(["importance", "interactions"])
    assert worker.wait(10)
    assert told["_interactions"]["found"]
    worker.close()


def test_an_error_is_said_and_can_be_tried_again(stage):
    stage.view.feature = "broken"
    stage.board.open(["importance"])
    stage.panel.gate.release(1)
    assert stage.worker.wait(10)
    assert stage.told[-1]["status"] | {"cost": 0} == {
        "state": "failed",
        "message": "this one fails",
        "cost": 0,
        "stale": False,
    }
    stage.board.approve("importance")
    assert stage.told[-1]["status"]["state"] == "running"
    stage.view.feature = "unknown"
    stage.board.changed()
    assert stage.told[-1]["status"]["message"] == "there is no such feature"


def test_pausing_keeps_what_is_there_and_going_on_finishes(stage):
    stage.board.open(["importance"])
    until(lambda: stage.panel.begun == ["a"])
    stage.board.pause()
    assert stage.told[-1]["status"]["state"] == "stopped"
    stage.panel.gate.release(1)
    assert stage.worker.wait(10)
    stage.board.go()
    stage.panel.gate.release(3)
    assert stage.worker.wait(10)
    assert stage.told[-1]["status"]["state"] == "done"
    assert stage.panel.begun == ["a", "a"]


def test_a_closed_panel_is_not_computed_and_one_without_a_subject_is_empty(stage):
    stage.board.open(["importance"])
    until(lambda: stage.panel.begun == ["a"])
    stage.board.open([])
    stage.panel.gate.release(1)
    assert stage.worker.wait(10)
    stage.view.feature = ""
    stage.board.open(["importance"])
    assert stage.told[-1] == {"status": {"state": "idle", "message": None, "cost": 0, "stale": False}}


def test_the_importance_panel_shows_the_numbers_of_the_explainer(make):
    X = frame()
    y = predict(X)
    w = make(predict, X, y=y)
    assert ask(w, "open", panels=["importance"])["status"] == "ok"
    w.select("n < 3")
    assert w.wait(60)
    shown = arrays(w._importance)
    assert shown["status"]["state"] == "done"
    expected = Explainer(predict, X, y).importance()
    chosen = Explainer(predict, X, y).importance(subgroup="n < 3")
    assert shown["features"] == list(expected.features)
    for name in ("pd_importance", "pdi", "pdi_stderr", "heterogeneity", "permutation", "permutation_stderr"):
        np.testing.assert_allclose(shown["all"][name], getattr(expected, name)[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(shown["selection"][name], getattr(chosen, name)[0], rtol=1e-9, atol=1e-12)
    assert (shown["n"], shown["n_selection"]) == (len(X), int((X["n"] < 3).sum()))
    w.clear()
    assert w.wait(60)
    assert w._importance["selection"] is None


def test_importance_of_all_rows_stays_where_the_selected_ones_weigh_nothing(make):
    X = frame()
    weights = (X["n"] > 0).to_numpy(dtype=float)
    w = make(predict, X, sample_weight=weights)
    assert ask(w, "open", panels=["importance"])["status"] == "ok"
    w.select("n == 0")
    assert w.wait(60)
    shown = arrays(w._importance)
    expected = Explainer(predict, X, sample_weight=weights).importance()
    assert (shown["status"]["state"], shown["selection"], shown["n_selection"]) == ("done", None, 0)
    np.testing.assert_allclose(shown["all"]["pd_importance"], expected.pd_importance[0], rtol=1e-9, atol=1e-12)
    n = int((X["n"] == 0).sum())
    assert shown["note"].endswith(f"all rows are shown: sample_weight is 0 for the {n} selected ones")
    w.select("n <= 1")
    assert w.wait(60)
    shown = arrays(w._importance)
    chosen = Explainer(predict, X, sample_weight=weights).importance(subgroup="n <= 1")
    np.testing.assert_allclose(shown["selection"]["pd_importance"], chosen.pd_importance[0], rtol=1e-9, atol=1e-12)
    assert "sample_weight" not in shown["note"]


def test_pair_by_and_panels_are_validated(make):
    w = make()
    w.pair = ("temp", "n")
    assert w.pair == ("temp", "n")
    w.pair = None
    assert w.pair == ()
    for wrong in ("temp", ("temp",), ("temp", "temp"), ("temp", "tmp")):
        with pytest.raises(InputError, match=r"two different features|did you mean 'temp'"):
            w.pair = wrong
    w.by = "season"
    with pytest.raises(InputError, match="did you mean 'season'"):
        w.by = "seasn"
    w.panels = ["importance"]
    with pytest.raises(InputError, match="did you mean 'importance'"):
        w.panels = ["importanc"]
    assert w.panels == ("importance",)


def test_panels_are_computed_without_a_page_and_their_results_are_there():
    X = np.random.default_rng(0).normal(size=(60, 3))
    w = PDPWidget(lambda Z: Z[:, 0] * Z[:, 1], X, feature="x0")
    try:
        assert set(w.results) == {"all"}
        w.compute("importance", "interactions")
        assert w.wait(60)
        found = w.results
        assert set(found) == {"all", "importance", "interactions"}
        assert repr(found) == "<results: all, importance, interactions>"
        explainer = Explainer(lambda Z: Z[:, 0] * Z[:, 1], X)
        pd.testing.assert_frame_equal(found["importance"].to_frame(), explainer.importance().to_frame())
        np.testing.assert_allclose(
            found["interactions"].pair_statistic.strength, explainer.interactions().pair_statistic.strength, atol=1e-12
        )
        assert found["importance"] is found["importance"]
        ask(w, "open", panels=["heatmap"])
        assert w.wait(60)
        assert set(w.results) == {"all", "importance", "interactions", "heatmap"}, (
            "the page does not end what is computed here"
        )
        with pytest.raises(InputError, match="did you mean 'heatmap'"):
            w.compute("heatmaps")
    finally:
        w.close()
    assert w.closed


def test_results_of_any_feature_and_of_the_selection():
    X = np.random.default_rng(0).normal(size=(60, 3))
    w = PDPWidget(lambda Z: Z[:, 0] * Z[:, 1], X, feature="x0")
    try:
        assert w.wait(60)
        w.brush("x0 > 0", gesture="one")
        w.brush("x0 > 0.5", gesture="one")
        w.brush("x2 > 0")
        assert w.selection.text == "x0 > 0.5 & x2 > 0"
        w.undo()
        w.undo()
        assert not w.selection, "what one gesture selects is one step"
        w.redo()
        rows = X[:, 0] > 0.5
        found = w.results_of("x1")
        assert set(found) == {"all", "selection", "rest"}
        for name, mask in (("all", np.ones(60, dtype=bool)), ("selection", rows), ("rest", ~rows)):
            np.testing.assert_allclose(
                found[name].average[0], found[name].grid_values[0] * X[mask, 0].mean(), atol=1e-12
            )
        with pytest.raises(InputError, match="clear"):
            w.brush(None)
    finally:
        w.close()
