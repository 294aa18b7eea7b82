"""The widget among others: layouts, tabs, outputs, interact, links; what it logs and warns of, and where a warning points to."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable
from pathlib import Path

import ipywidgets
import numpy as np
import pandas as pd
import pytest
import traitlets
from sklearn.ensemble import GradientBoostingRegressor
from widget_tools import Counting, ask, frame, make, predict  # noqa: F401

import pdp_widgets
from pdp_widgets import Explainer, PDPWidget
from pdp_widgets.widget.traits import STATE

# ruff: noqa: F811

SOURCES = Path(pdp_widgets.__file__).parent


def test_it_is_a_child_like_any_other(make: Callable[..., PDPWidget]) -> None:
    w = make()
    for box in (ipywidgets.HBox, ipywidgets.VBox, ipywidgets.Tab, ipywidgets.Accordion, ipywidgets.Stack):
        assert box([ipywidgets.Label("first"), w]).children[1] is w
    assert ipywidgets.AppLayout(center=w).center is w
    w.layout.height = "30em"
    assert make(layout=ipywidgets.Layout(width="50%")).layout.width == "50%"
    w.layout = {"border": "1px solid red"}
    assert w.layout.border_top == "1px solid red"


def test_interact_makes_one_for_each_choice(make: Callable[..., PDPWidget]) -> None:
    shown = []

    def show(depth: int) -> PDPWidget:
        shown.append(make(lambda X: predict(X) * depth))
        return shown[-1]

    control = ipywidgets.interactive(show, depth=(1, 3))
    control.update()
    control.children[0].value = 3
    assert len(shown) >= 2
    assert control.result is shown[-1]


def test_public_traits_link_in_python_and_on_the_page(make: Callable[..., PDPWidget]) -> None:
    a, b = make(), make()
    name, check = ipywidgets.Text(), ipywidgets.Checkbox()
    for source, target in (
        ((a, "feature"), (name, "value")),
        ((a, "centered"), (check, "value")),
        ((a, "output"), (b, "output")),
    ):
        for link in (ipywidgets.jslink(source, target), ipywidgets.jsdlink(source, target)):
            assert link.source == source
            link.close() if hasattr(link, "close") else link.unlink()
    public = sorted(set(PDPWidget.class_own_traits()) | {t for t in STATE if not t.startswith("_")})
    assert {"feature", "output", "selection", "centered", "show_ice", "pair"} <= set(public)
    with pytest.raises(TypeError):  # a selection is an object of Python: the page has its own
        ipywidgets.jslink((a, "selection"), (b, "selection"))
    link = traitlets.link((a, "feature"), (b, "feature"))
    b.feature = "season"
    assert a.feature == "season"
    link.unlink()
    traitlets.dlink((a, "selection"), (b, "selection"), transform=lambda chosen: chosen.text or None)
    a.select("temp > 20")
    assert (b.selection.text, b.selection.n) == ("temp > 20", a.selection.n)


def test_a_chooser_of_ones_own_drives_it(make: Callable[..., PDPWidget]) -> None:
    w = make()
    chooser = ipywidgets.Dropdown(options=list(w.explainer.features))
    traitlets.link((chooser, "value"), (w, "feature"))
    chooser.value = "flag"
    assert w.feature == "flag"
    w.feature = "n"
    assert chooser.value == "n"


def test_observers_that_write_into_an_output_are_called_once(make: Callable[..., PDPWidget]) -> None:
    w, seen = make(), []
    out = ipywidgets.Output()

    @out.capture()
    def changed(change: dict) -> None:
        seen.append((change["name"], getattr(change["new"], "text", change["new"])))

    w.observe(changed, ["feature", "selection"])
    w.feature = "season"
    w.select("temp > 3")
    w.clear()
    assert seen == [("feature", "season"), ("selection", "temp > 3"), ("selection", "")]


class TestLogging:
    def test_the_package_logs_below_its_name_and_prints_nothing(self) -> None:
        loggers = [name for name in logging.root.manager.loggerDict if name.startswith("pdp_widgets")]
        assert loggers
        assert not [name for name in loggers if logging.getLogger(name).handlers], "handlers are the application's"
        for path in SOURCES.rglob("*.py"):
            if "commands" not in path.parts and path.name != "__main__.py":
                assert not [
                    line for line in path.read_text("utf-8").splitlines() if line.lstrip().startswith("print(")
                ], path

    def test_what_goes_wrong_behind_the_page_is_logged(
        self, make: Callable[..., PDPWidget], caplog: pytest.LogCaptureFixture
    ) -> None:
        w = make()
        w._answers.do = lambda *_: 1 / 0
        with caplog.at_level(logging.ERROR, "pdp_widgets"):
            reply = ask(w, "clear")
        assert "ZeroDivisionError" in str(reply)
        assert [record.name for record in caplog.records] == ["pdp_widgets.widget.pdp_widget"]


class TestWarnings:
    def test_a_warning_points_to_the_line_of_the_caller(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("numba")
        sums, loading = (
            importlib.import_module("pdp_widgets.trees.sums"),
            importlib.import_module("pdp_widgets.trees.loading"),
        )
        loading.loader.start()
        assert loading.loader.wait(120)
        # The compiler catches warnings, too, and Python catches them for all threads at once.
        loading.loader._thread.join(120)
        right = sums.TreeSums.predict
        monkeypatch.setattr(sums.TreeSums, "predict", lambda self, rows: right(self, rows) + 1)
        X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7})
        model = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, X["a"])
        calls = {
            "Explainer": lambda ex: ex.partial_dependence("a"),
            "pair": lambda ex: ex.partial_dependence(("a", "b")),
            "importance": lambda ex: ex.importance(),
            "interactions": lambda ex: ex.interactions(),
            "sums": lambda ex: ex.exact_sums(),
        }
        for name, call in calls.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call(Explainer(model, X))
            (ours,) = [one for one in caught if "asked instead" in str(one.message)]
            assert ours.filename == __file__, (name, ours.filename, ours.lineno)
