# ruff: noqa: F811
"""What once broke the widget, or left it in a state that nothing can be shown for."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from widget_tools import ask, frame, make, predict  # noqa: F401

from pdp_widgets import Explainer, PDPWidget
from pdp_widgets.explain import method
from pdp_widgets.inputs import InputError
from pdp_widgets.widget.panels import PANELS

JUNK = [None, True, -1, 2.5, float("nan"), "", "no such", [1], [[]], [None, "temp"], {"a": []}, {"a": None}]
"""What JSON can hold and no trait means."""


@pytest.mark.parametrize("name", ["feature", "output", "pair", "by", "color_by", "panels", "bookmarks"])
def test_no_value_that_the_page_or_a_file_can_send_is_kept_unread(make: Callable[..., PDPWidget], name: str) -> None:
    widget = make(predict, frame(40), panels=())
    kinds = {"pair": tuple, "panels": tuple, "bookmarks": dict}
    for value in JUNK:
        widget.set_state({name: value})
        assert isinstance(getattr(widget, name), kinds.get(name, str)), value
        with suppress(InputError):
            widget.view_state = {name: value}
        assert isinstance(getattr(widget, name), kinds.get(name, str)), value
        with suppress(InputError):
            setattr(widget, name, value)
        assert (
            ask(widget, "select", op="replace", condition={"type": "range", "feature": "n", "low": 1, "high": 3})[
                "status"
            ]
            == "ok"
        ), value


def test_nothing_waits_in_the_kernel_s_thread_for_loops_over_trees(
    make: Callable[..., PDPWidget], monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] * X[:, 1]
    asked = threading.Event()

    class Compiling:
        state, reason = "loading", ""

        def start(self) -> None:
            pass

        def wait(self, timeout: float | None = None) -> bool:
            assert threading.current_thread() is not threading.main_thread()
            assert timeout is not None, "others have work to do"
            asked.set()
            return False

    loader = Compiling()
    monkeypatch.setattr(method, "loader", loader)
    widget = make(RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, y), X, y=y, panels=())
    assert ask(widget, "open", panels=list(PANELS))["status"] == "ok"
    assert asked.wait(60)
    assert widget._importance["status"]["cost"] == 60 * (1 + 5 * 3)  # permutations ask the model
    part = {"type": "range", "feature": "x0", "low": 0, "high": None}
    assert ask(widget, "select", op="replace", condition=part)["status"] == "ok"
    loader.state, loader.reason = "failed", "no compiler"
    assert widget.wait(60)
    assert {name: getattr(widget, f"_{name}")["status"]["state"] for name in PANELS} == dict.fromkeys(PANELS, "done")


@pytest.mark.parametrize("part", ["rows", "bookmarks"])
@pytest.mark.parametrize("value", ["a > 1", 3, [None], [["a", "b"]], True])
def test_a_state_whose_parts_are_no_dicts_is_refused_in_words(
    make: Callable[..., PDPWidget], part: str, value: Any
) -> None:
    widget = make(predict, frame(40), panels=())
    with pytest.raises(InputError, match=f"{part} is a dict"):
        widget.view_state = {part: value}


def test_a_rectangle_in_the_state_is_plain_data(make: Callable[..., PDPWidget]) -> None:
    widget = make(predict, frame(40), panels=())
    assert widget.wait(60)
    box = {"type": "ice", "feature": "temp", "output": "prediction", "x": [0, 20], "y": [-9, 9], "centered": False}
    assert ask(widget, "select", op="replace", condition=box)["status"] == "ok"
    assert widget.view_state["rows"]
    assert json.loads(json.dumps(widget.view_state)) == widget.view_state


def test_the_still_picture_is_there_while_effects_have_nothing_yet(
    make: Callable[..., PDPWidget], caplog: pytest.LogCaptureFixture
) -> None:
    widget = make(predict, frame(40), panels=())
    assert widget.wait(60)
    widget.publish(_effects={"status": {"state": "running", "message": None, "cost": 0, "stale": False}})
    with caplog.at_level(logging.ERROR):
        data, _ = widget._repr_mimebundle_()
    assert "image/svg+xml" in data
    assert not caplog.records


def test_without_a_finite_prediction_there_are_no_rules_and_this_is_said(
    make: Callable[..., PDPWidget], caplog: pytest.LogCaptureFixture
) -> None:
    def nothing(X: Any) -> np.ndarray:
        return np.full(len(X), np.nan)

    explainer = Explainer(nothing, frame(40), nan_predictions="omit")
    with pytest.raises(InputError, match="no finite prediction"):
        explainer.rules(progress=False)
    widget = make(explainer)
    with caplog.at_level(logging.ERROR):
        ask(widget, "open", panels=["rules"])
        assert widget.wait(60)
    assert widget._rules["status"]["state"] == "failed"
    assert "no finite prediction" in widget._rules["status"]["message"]
    assert not caplog.records
