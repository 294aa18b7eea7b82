"""A widget and bqplot figures that follow each other: brush, clicked points, clicked bars, growing curves."""

from __future__ import annotations

import time

import bqplot
import numpy as np
import pandas as pd
import pytest

from pdp_widgets import Explainer, PDPWidget
from pdp_widgets.bqplot import link_bqplot
from pdp_widgets.inputs import InputError

N = 120


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": rng.normal(size=N),
            "c": np.array(["u", "v", "w"])[np.arange(N) % 3],
            "d": pd.date_range("2024-01-01", periods=N),
            "t": pd.to_timedelta(np.arange(N) % 7, unit="h"),
            "k": np.arange(N) % 5,
        }
    )


def predict(Z: pd.DataFrame) -> np.ndarray:
    return Z["x"].to_numpy() * (Z["c"] == "u").to_numpy() + Z["k"].to_numpy()


@pytest.fixture
def widget():
    widget = PDPWidget(predict, table(), feature="x")
    assert widget.wait(60)
    yield widget
    widget.close()


def linked(widget, feature="x", **options):
    figure = widget.explainer.partial_dependence(feature).to_bqplot()
    return figure, link_bqplot(widget, figure, **options)


def changes(widget):
    """What the selection becomes from now on."""
    seen = []
    widget.observe(lambda change: seen.append(change["new"].text), "selection")
    return seen


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


# ---- the brush ---------------------------------------------------------------------------------


def test_a_brush_selects_and_what_is_selected_is_brushed(widget):
    figure, link = linked(widget)
    assert isinstance(link.selector, bqplot.interacts.BrushIntervalSelector)
    assert figure.interaction is link.selector
    seen = changes(widget)
    link.selector.selected = np.array([-0.5, 0.5])
    X = table()
    np.testing.assert_array_equal(widget.selection.mask, X["x"].between(-0.5, 0.5))
    np.testing.assert_array_equal(link.selector.selected, [-0.5, 0.5])
    assert len(seen) == 1
    widget.select("x > 0.25 & x <= 1")
    np.testing.assert_array_equal(link.selector.selected, [0.25, 1.0])
    assert len(seen) == 2, "the echo of a selection is no selection"
    widget.clear()
    assert link.selector.selected is None
    widget.select("x > 0.25")
    np.testing.assert_array_equal(link.selector.selected, [0.25, figure.marks[-1].x.max()])
    link.selector.selected = None
    assert not widget.selection


def test_bounds_at_data_values_are_kept(widget):
    _, link = linked(widget)
    low, high = np.sort(table()["x"])[[40, 80]]
    link.selector.selected = np.array([low, high])
    assert widget.selection.n == 41


def test_a_brush_that_reaches_the_end_is_open_there(widget):
    figure, link = linked(widget)
    x = figure.marks[-1].x
    link.selector.selected = np.array([0.0, x[-1]])
    np.testing.assert_array_equal(widget.selection.mask, table()["x"] >= 0)
    link.selector.selected = np.array([x[0], x[-1]])
    assert not widget.selection


def test_other_conditions_are_kept_and_what_is_no_interval_has_no_brush(widget):
    _, link = linked(widget)
    widget.select("c == 'u'")
    link.selector.selected = np.array([0.0, 1.0])
    X = table()
    np.testing.assert_array_equal(widget.selection.mask, (X["c"] == "u") & X["x"].between(0, 1))
    link.selector.selected = None
    np.testing.assert_array_equal(widget.selection.mask, X["c"] == "u")
    widget.select("x < -1 | x > 1")
    assert link.selector.selected is None
    assert widget.selection.text == "x < -1 | x > 1"


def test_one_drag_is_one_step_back(widget):
    _, link = linked(widget)
    selector = link.selector
    selector.brushing = True
    for high in (0.1, 0.2, 0.3, 0.4):
        selector.selected = np.array([0.0, high])
        time.sleep(0.12)
    selector.brushing = False
    np.testing.assert_array_equal(widget.selection.mask, table()["x"].between(0, 0.4))
    widget.undo()
    assert not widget.selection
    assert selector.selected is None


def test_dates_durations_and_whole_numbers(widget):
    X = table()
    _, link = linked(widget, "d")
    link.selector.selected = np.array(["2024-02-01", "2024-02-10"], dtype="datetime64[ms]")
    np.testing.assert_array_equal(widget.selection.mask, X["d"].between("2024-02-01", "2024-02-10"))
    widget.select("d >= '2024-03-01' & d <= '2024-03-05'")
    expected = np.array(["2024-03-01", "2024-03-05"], dtype="datetime64[ms]")
    np.testing.assert_array_equal(link.selector.selected, expected)
    link.unlink()
    widget.clear()
    _, link = linked(widget, "t")
    link.selector.selected = np.array([1.5, 3.0])
    np.testing.assert_array_equal(widget.selection.mask, X["t"].between("90min", "3h"))
    widget.select("t >= '2h' & t <= '4h'")
    np.testing.assert_allclose(link.selector.selected, [2.0, 4.0])
    widget.clear()
    _, link = linked(widget, "k")
    link.selector.selected = np.array([0.6, 2.7])
    np.testing.assert_array_equal(widget.selection.mask, X["k"].between(1, 2))
    np.testing.assert_array_equal(link.selector.selected, [0.6, 2.7])


def test_points_of_a_category_are_clicked(widget):
    figure, link = linked(widget, "c")
    mark = figure.marks[-1]
    assert link.selector is None
    assert mark.interactions["click"] == "select"
    seen = changes(widget)
    mark.selected = np.array([0, 2])
    np.testing.assert_array_equal(widget.selection.mask, table()["c"].isin(["u", "w"]))
    widget.select("c == 'v'")
    assert np.asarray(mark.selected).tolist() == [1]
    widget.select("x > 0 & c != 'v'")
    assert np.asarray(mark.selected).tolist() == [0, 2]
    mark.selected = None
    assert widget.selection.text == "x > 0"
    assert len(seen) == 4


def test_unlink_unties_and_leaves_both_as_they_are(widget):
    figure = widget.results["all"].to_bqplot()
    panning = bqplot.interacts.PanZoom()
    figure.interaction = panning
    link = link_bqplot(widget, figure, pace=0.01)
    selector = link.selector
    selector.selected = np.array([0.0, 1.0])
    text = widget.selection.text
    until(lambda: len(figure.marks) == 4)
    link.unlink()
    assert figure.interaction is panning
    selector.selected = np.array([0.0, 0.5])
    assert widget.selection.text == text
    y = figure.marks[-1].y.copy()
    widget.feature = "k"
    time.sleep(0.1)
    link.refresh()
    np.testing.assert_array_equal(figure.marks[-1].y, y)
    link.unlink()


# ---- results -----------------------------------------------------------------------------------


def test_a_figure_shows_what_the_widget_shows(widget):
    figure = widget.results["all"].to_bqplot(ice=20)
    mine = bqplot.Scatter(x=[0.0], y=[0.0], scales=figure.marks[0].scales)
    figure.marks = [*figure.marks, mine]
    curve = figure.marks[1]
    curve.colors = ["purple"]
    link = link_bqplot(widget, figure, ice=20, pace=0.01)
    assert curve in figure.marks
    widget.select("c == 'u'")
    until(lambda: len(figure.marks) == 5)
    assert figure.marks[-1] is mine
    shown = {mark.labels[0]: mark for mark in figure.marks[:-1] if mark.labels}
    assert list(shown) == ["all rows", "selected (n = 40)", "rest (n = 80)"]
    assert shown["all rows"] is curve
    assert curve.colors == ["purple"]
    X, x = table(), curve.x
    for label, rows in (("selected (n = 40)", X["c"] == "u"), ("rest (n = 80)", X["c"] != "u")):
        by_hand = [predict(X[rows].assign(x=value)).mean() for value in x]
        np.testing.assert_allclose(shown[label].y, by_hand, atol=1e-12)
    widget.feature = "d"
    until(lambda: figure.axes[0].label == "d")
    link.refresh()
    assert isinstance(figure.axes[0].scale, bqplot.DateScale)
    assert link.selector.scale is figure.axes[0].scale
    assert figure.marks[-1] is mine
    widget.feature = "c"
    until(lambda: figure.axes[0].label == "c")
    assert np.asarray(figure.marks[1].selected).tolist() == [0], "the level that is selected is marked at once"
    widget.show_ice = False
    until(lambda: isinstance(figure.marks[0], bqplot.Scatter))
    widget.clear()
    until(lambda: len(figure.marks) == 2)


def test_a_figure_follows_growing_results():
    slow = np.random.default_rng(0).normal(size=(20_000, 3))

    def predict(Z):
        time.sleep(len(Z) * 2e-7)
        return Z[:, 0] * Z[:, 1]

    widget = PDPWidget(predict, slow, feature="x0")
    try:
        figure = widget.results["all"].to_bqplot()
        link = link_bqplot(widget, figure, pace=0.02)
        seen = set()
        figure.observe(lambda change: seen.add(change["new"]), "title")
        assert widget.wait(120)
        until(lambda: figure.title == "x0 (20,000 of 20,000 rows)")
        link.refresh()
        curve = next(mark for mark in figure.marks if mark.labels == ["all rows"])
        np.testing.assert_allclose(curve.y, curve.x * slow[:, 1].mean(), atol=1e-12)
        assert len(seen) > 1, "the figure was drawn with fewer rows before"
        link.unlink()
    finally:
        widget.close()


def test_figures_of_other_results_keep_their_curves(widget):
    ale = widget.explainer.ale("x").to_bqplot()
    before = ale.marks[0].y.copy()
    link = link_bqplot(widget, ale, pace=0.01)
    link.selector.selected = np.array([0.0, 1.0])
    assert widget.selection.n == table()["x"].between(0, 1).sum()
    time.sleep(0.1)
    np.testing.assert_array_equal(ale.marks[0].y, before)
    assert len(ale.marks) == 1
    with pytest.raises(InputError, match="can follow"):
        link_bqplot(widget, ale, follow=True)
    pinned = widget.explainer.partial_dependence("k").to_bqplot()
    link_bqplot(widget, pinned, pace=0.01)
    time.sleep(0.1)
    assert pinned.axes[0].label == "k"
    followed = widget.explainer.partial_dependence("k").to_bqplot()
    link_bqplot(widget, followed, follow=True)
    assert followed.axes[0].label == "x"


# ---- bars, and figures of one's own -------------------------------------------------------------


def test_a_click_on_a_bar_moves_the_focus(widget):
    figure = widget.explainer.importance().to_bqplot()
    link = link_bqplot(widget, figure)
    bars = figure.marks[0]
    names = bars.x.tolist()
    assert np.asarray(bars.selected).tolist() == [names.index("x")]
    bars.selected = np.array([names.index("k")])
    assert widget.feature == "k"
    widget.feature = "c"
    assert np.asarray(bars.selected).tolist() == [names.index("c")]
    bars.selected = None
    assert np.asarray(bars.selected).tolist() == [names.index("c")]
    link.unlink()
    widget.feature = "x"
    assert bars.selected is None


def test_a_figure_of_ones_own(widget):
    X = table()
    scales = {"x": bqplot.LinearScale(), "y": bqplot.LinearScale()}
    figure = bqplot.Figure(marks=[bqplot.Scatter(x=X["x"], y=predict(X), scales=scales)])
    link = link_bqplot(widget, figure, feature="x")
    link.selector.selected = np.array([-1.0, 0.0])
    np.testing.assert_array_equal(widget.selection.mask, X["x"].between(-1, 0))
    with pytest.raises(InputError, match="feature='temp'"):
        link_bqplot(widget, figure)
    with pytest.raises(InputError, match="no mark with a scale"):
        link_bqplot(widget, bqplot.Figure(), feature="x")
    with pytest.raises(InputError, match="did you mean"):
        link_bqplot(widget, figure, feature="xx")
    heat = widget.explainer.partial_dependence(("x", "k")).to_bqplot()
    with pytest.raises(InputError, match="no axis of one feature"):
        link_bqplot(widget, heat)
    some = PDPWidget(Explainer(predict, X, features=["x"]))
    with pytest.raises(InputError, match="not among"):
        link_bqplot(some, figure, feature="k")
    some.close()
