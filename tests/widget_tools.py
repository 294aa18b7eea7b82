"""What the widget's tests share: models that count, widgets that are closed again, and what went to the page."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pdp_widgets import Explainer, PDPWidget
from pdp_widgets.widget import traits
from pdp_widgets.widget.wire import unpack


class Counting:
    """A regression model that counts the rows it is asked about."""

    def __init__(self, function: Callable[[pd.DataFrame], Any]) -> None:
        self.function, self.rows, self.threads = function, 0, set()

    def __call__(self, X: pd.DataFrame) -> Any:
        self.rows += len(X)
        self.threads.add(threading.current_thread().name)
        return self.function(X)


def frame(n: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    season = rng.choice(np.array(["SUMMER", "WINTER", "FALL"], dtype=object), n)
    season[:4] = None
    temp = rng.normal(15, 8, n)
    temp[-3:] = np.nan
    return pd.DataFrame(
        {
            "temp": temp,
            "n": rng.integers(0, 6, n),
            "season": season,
            "flag": rng.random(n) > 0.5,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, n), unit="D"),
        }
    )


def predict(X: pd.DataFrame) -> np.ndarray:
    temp = X["temp"].fillna(-5).to_numpy()
    summer = (X["season"] == "SUMMER").to_numpy()
    return (
        temp * np.where(summer, 2, -1)
        + X["n"].to_numpy()
        + X["flag"].to_numpy() * 3
        + X["when"].dt.day_of_year.to_numpy() / 50
    )


def two_outputs(X: pd.DataFrame) -> np.ndarray:
    return np.column_stack([predict(X), -2 * predict(X) + 1])


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Callable[..., PDPWidget]]:
    """Makes widgets and closes them; stands in for the browser bundle when that is not built."""
    if not traits.BUNDLE.is_file():
        stub = tmp_path / "widget.js"
        stub.write_text("export default {}; export function mount() {}")
        monkeypatch.setattr(traits, "BUNDLE", stub)
    made = []

    def make(model: Any = predict, X: Any = None, **options: Any) -> PDPWidget:
        widget = (
            PDPWidget(model, **options)
            if isinstance(model, Explainer)
            else PDPWidget(model, frame() if X is None else X, **options)
        )
        made.append(widget)
        return widget

    yield make
    for widget in made:
        widget.close()
    end = time.monotonic() + 20  # closing does not wait for a chunk that takes long
    while [thread for thread in threading.enumerate() if thread.name == "pdp_widgets"]:
        assert time.monotonic() < end, "a worker goes on after its widget was closed"
        time.sleep(0.01)


def arrays(value: Any) -> Any:
    """The same trait with its arrays unpacked."""
    if isinstance(value, dict):
        return unpack(value) if "view" in value else {key: arrays(item) for key, item in value.items()}
    return value


def ask(widget: PDPWidget, method: str, **params: Any) -> dict[str, Any]:
    """Send a request as the page does and return the reply."""
    replies: list[dict[str, Any]] = []
    send, widget.send = widget.send, lambda content, buffers=None: replies.append(content)
    try:
        widget._handle_custom_msg({"kind": "request", "id": "t1", "method": method, "params": params}, [])
    finally:
        widget.send = send
    assert len(replies) == 1
    json.dumps(replies[0], allow_nan=False)
    return replies[0]
