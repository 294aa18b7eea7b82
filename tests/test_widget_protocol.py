"""Messages of the page: valid ones are done, all others are refused with a reason, and nothing else happens."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from widget_tools import ask, make  # noqa: F401

from pdp_widgets.inputs import InputError
from pdp_widgets.widget.protocol import Checker, message_id


class Grid:
    def __init__(self, kind, size):
        self.kind, self.size = kind, size


CHECK = Checker(
    ["temp", "season"],
    ["yes", "no"],
    lambda name: Grid("number", 5) if name == "temp" else Grid("category", 3),
    panels=["importance"],
)
RANGE = {"type": "range", "feature": "temp", "low": 1, "high": 2.5}
LEVELS = {"type": "levels", "feature": "season", "levels": [2, 0, 2]}
ICE = {"type": "ice", "feature": "temp", "output": "yes", "x": [3, 1], "y": [0, 1], "centered": False}


def request(method, **params):
    return CHECK.request({"kind": "request", "id": "1", "method": method, "params": params}).params


def test_valid_requests_are_tidied():
    assert request("select", op="add", condition=RANGE)["condition"] == {
        "type": "range",
        "feature": "temp",
        "low": 1.0,
        "high": 2.5,
    }
    assert request("select", op="add", condition={**RANGE, "low": 9, "high": None})["condition"]["low"] == 9
    assert request("select", op="add", condition={**RANGE, "low": 9})["condition"]["high"] == 9
    assert request("select", op="replace", condition=LEVELS)["condition"]["levels"] == [0, 2]
    assert request("select", op="remove", condition=ICE)["condition"]["x"] == (1, 3)
    assert request("visible", features=["season"]) == {"features": ["season"]}
    assert request("query", text="a") == {"text": "a", "op": "replace"}
    assert request("query", text="a", op="add")["op"] == "add"
    both = request("select", op="add", condition={"type": "all", "conditions": [RANGE, LEVELS]})["condition"]
    assert [part["feature"] for part in both["conditions"]] == ["temp", "season"]
    assert request("open", panels=["importance"]) == {"panels": ["importance"]}
    assert request("compute", panel="importance") == {"panel": "importance"}
    assert CHECK.request({"kind": "request", "id": 5, "method": "stop"}).id == 5


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {"kind": "request"},
        {"kind": "request", "id": "1", "method": "__init__"},
        {"kind": "request", "id": "1", "method": ["stop"]},
        {"kind": "request", "id": "1", "method": "stop", "params": 3},
        {"kind": "request", "id": True, "method": "stop"},
        {"kind": "request", "id": "x" * 300, "method": "stop"},
        *[
            {"kind": "request", "id": "1", "method": "select", "params": params}
            for params in [
                {},
                {"op": "drop", "condition": RANGE},
                {"op": "add", "condition": None},
                {"op": "add", "condition": {**RANGE, "feature": "tmp"}},
                {"op": "add", "condition": {**RANGE, "feature": None}},
                {"op": "add", "condition": {**RANGE, "feature": "season"}},
                {"op": "add", "condition": {**RANGE, "low": float("nan")}},
                {"op": "add", "condition": {**RANGE, "low": float("inf")}},
                {"op": "add", "condition": {**RANGE, "low": 10**400}},
                {"op": "add", "condition": {**RANGE, "low": "1"}},
                {"op": "add", "condition": {**RANGE, "low": True}},
                {"op": "add", "condition": {**RANGE, "type": "rows"}},
                {"op": "add", "condition": {**LEVELS, "levels": [3]}},
                {"op": "add", "condition": {**LEVELS, "levels": [-1]}},
                {"op": "add", "condition": {**LEVELS, "levels": [0.5]}},
                {"op": "add", "condition": {**LEVELS, "levels": [0] * 99}},
                {"op": "add", "condition": {**LEVELS, "levels": "ab"}},
                {"op": "add", "condition": {**ICE, "output": "maybe"}},
                {"op": "add", "condition": {**ICE, "x": [1]}},
                {"op": "add", "condition": {**ICE, "y": [1, None]}},
                {"op": "add", "condition": {**ICE, "centered": 1}},
                {"op": "add", "condition": {"type": "all", "conditions": [RANGE]}},
                {"op": "add", "condition": {"type": "all", "conditions": [RANGE, RANGE]}},
                {"op": "add", "condition": {"type": "all", "conditions": [RANGE, ICE]}},
                {"op": "add", "condition": {"type": "all", "conditions": [RANGE, {"type": "all", "conditions": []}]}},
            ]
        ],
        {"kind": "request", "id": "1", "method": "visible", "params": {"features": ["temp", "x"]}},
        {"kind": "request", "id": "1", "method": "visible", "params": {"features": ["temp"] * 3}},
        {"kind": "request", "id": "1", "method": "open", "params": {"panels": ["nothing"]}},
        {"kind": "request", "id": "1", "method": "open", "params": {"panels": "importance"}},
        {"kind": "request", "id": "1", "method": "compute", "params": {}},
        {"kind": "request", "id": "1", "method": "query", "params": {"text": 3}},
        {"kind": "request", "id": "1", "method": "query", "params": {"text": "a", "op": "drop"}},
        {"kind": "request", "id": "1", "method": "query", "params": {"text": "x" * 200_000}},
    ],
)
def test_everything_else_is_refused(message):
    with pytest.raises(InputError):
        CHECK.request(message)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["temp", "season", "range", "levels", "ice"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["feature", "type", "low", "x", "op"]), inner, max_size=4)
    ),
    max_leaves=10,
)
messages = json_values | st.fixed_dictionaries(
    {"kind": st.sampled_from(["request", "cancel", "reply", 3])},
    optional={
        "id": json_values,
        "method": st.sampled_from(
            ["select", "query", "visible", "clear", "invert", "undo", "redo", "stop", "resume", "hello", "close"]
        )
        | json_values,
        "params": json_values
        | st.fixed_dictionaries(
            {},
            optional={
                "op": st.sampled_from(["replace", "add", "remove"]) | json_values,
                "text": st.sampled_from(["temp > 3", "temp >"]) | st.text(max_size=10),
                "features": st.lists(st.sampled_from(["temp", "season", "no"]), max_size=3),
                "condition": json_values
                | st.fixed_dictionaries(
                    {
                        "type": st.sampled_from(["range", "levels", "ice"]),
                        "feature": st.sampled_from(["temp", "season", "n", "x"]),
                    },
                    optional={
                        "low": json_values | st.floats(0, 20),
                        "high": json_values | st.floats(0, 20),
                        "levels": json_values | st.lists(st.integers(0, 4), max_size=3),
                        "output": json_values | st.just("prediction"),
                        "x": json_values | st.lists(st.floats(0, 20), min_size=2, max_size=2),
                        "y": json_values | st.lists(st.floats(0, 20), min_size=2, max_size=2),
                        "centered": json_values | st.booleans(),
                    },
                ),
            },
        ),
    },
)


def test_any_message_is_answered_once_and_never_breaks_the_widget(make):  # noqa: F811
    widget = make()
    assert widget.wait(20)
    replies = []
    widget.send = lambda content, buffers=None: replies.append(content)

    @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(messages)
    def fuzz(message):
        replies.clear()
        widget._on_message(widget, message, [])
        ours = isinstance(message, dict) and message.get("kind") in ("request", "cancel")
        assert len(replies) <= ours
        if ours and message["kind"] == "request":
            assert len(replies) == 1
            reply = replies[0]
            json.dumps(reply, allow_nan=False)
            assert reply["status"] in ("ok", "error")
            assert reply["status"] == "ok" or reply["message"]
            try:
                assert reply["id"] == message_id(message)
            except InputError:
                assert reply["id"] is None

    fuzz()
    widget.resume()
    assert widget.wait(20)
    assert ask(widget, "clear")["status"] == "ok"
    assert widget.selection.n == 300
