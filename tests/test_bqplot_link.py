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
    link.refresh()  # waits for what is being drawn
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


# ---- figures of panels, and of features out of focus ----------------------------------------------


class Slow:
    """x0 x1 + 2 x2, a while later."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, Z):
        time.sleep(len(Z) * self.seconds)
        return Z[:, 0] * Z[:, 1] + 2 * Z[:, 2]


def few(n=80):
    return np.random.default_rng(3).normal(size=(n, 4))


@pytest.fixture
def slowly():
    widget = PDPWidget(Slow(2e-5), few(), feature="x0")
    yield widget
    widget.close()


def first_figure(widget, panel, **options):
    """The figure of a panel as early as there is something to draw of it."""
    widget.compute(panel)
    figure = None
    end = time.monotonic() + 30
    while figure is None:
        assert time.monotonic() < end
        try:
            figure = widget.results[panel].to_bqplot(**options)
        except (KeyError, InputError):
            time.sleep(0.005)
    return figure


def values_seen(mark, name):
    seen = []
    mark.observe(lambda change: seen.append(np.array(change["new"])), name)
    return seen


def test_bars_of_importance_grow_with_the_results(slowly):
    figure = first_figure(slowly, "importance", by="pdi", top=3)
    bars = figure.marks[0]
    assert len(bars.x) < 3, "the figure is made before all is known"
    bars.colors = ["purple"]
    seen = values_seen(bars, "y")
    link = link_bqplot(slowly, figure, pace=0.01)
    assert slowly.wait(60)
    link.refresh()
    expected = Explainer(Slow(0), few()).importance()
    order = np.argsort(-expected.pdi[0])[:3]
    assert bars.x.tolist() == [expected.features[j] for j in order]
    np.testing.assert_allclose(bars.y, expected.pdi[0, order], rtol=1e-9)
    np.testing.assert_allclose(np.diff(figure.marks[1].x)[:, 0], 2 * expected.pdi_stderr[0, order], rtol=1e-9)
    assert bars.scales["x"].domain == bars.x.tolist()
    assert len(seen) > 1, "it was drawn with fewer features before"
    assert bars.colors == ["purple"], "looks are the user's"
    assert "3 of 4" in figure.title
    at = bars.x.tolist().index("x2")
    bars.selected = np.array([at])
    assert slowly.feature == "x2", "a click means the bar that is there by now"
    link.unlink()


@pytest.mark.parametrize("what", ["pairs", "overall", "matrix"])
def test_figures_of_interactions_grow_with_the_results(slowly, what):
    figure = first_figure(slowly, "interactions", what=what)
    mark = figure.marks[0]
    name = "color" if what == "matrix" else "y"
    early, seen = np.array(getattr(mark, name)), values_seen(mark, name)
    link = link_bqplot(slowly, figure, pace=0.01)
    assert slowly.wait(60)
    link.refresh()
    expected = Explainer(Slow(0), few()).interactions().to_bqplot(what=what).marks[0]
    np.testing.assert_allclose(getattr(mark, name), getattr(expected, name), rtol=1e-9, atol=1e-12)
    if what != "overall":  # known with the first pair
        assert not np.array_equal(early, getattr(mark, name), equal_nan=True)
        assert seen
    if what == "matrix":
        assert mark.scales["color"].max == expected.scales["color"].max
    else:
        assert mark.x.tolist() == expected.x.tolist()
    link.unlink()


def test_a_click_on_a_bar_of_a_pair_chooses_it(slowly):
    slowly.compute("interactions")
    assert slowly.wait(60)
    figure = slowly.results["interactions"].to_bqplot(what="pairs")
    link = link_bqplot(slowly, figure)
    bars = figure.marks[0]
    names = bars.x.tolist()
    bars.selected = np.array([names.index("x1 × x2")])
    assert slowly.pair == ("x1", "x2")
    assert slowly.feature == "x1"
    slowly.pair = ("x3", "x0")
    assert np.asarray(bars.selected).tolist() == [names.index("x0 × x3")]
    bars.selected = None
    assert slowly.pair == ()
    link.unlink()


def test_a_surface_follows_the_pair_in_focus(slowly):
    slowly.pair = ("x1", "x0")
    figure = first_figure(slowly, "heatmap")
    link = link_bqplot(slowly, figure, pace=0.01)
    assert link.selector is None
    assert slowly.wait(60)
    link.refresh()
    X = few()
    assert (figure.axes[0].label, figure.axes[1].label) == ("x1", "x0")
    mark = figure.marks[0]
    by_hand = np.add.outer(mark.y * 0, mark.x * 0) + np.outer(mark.y, mark.x) + 2 * X[:, 2].mean()
    np.testing.assert_allclose(mark.color, by_hand, atol=1e-9)
    assert "80 of 80 rows" in figure.title
    slowly.pair = ("x1", "x2")
    assert slowly.wait(60)
    until(lambda: figure.axes[1].label == "x2")
    link.refresh()
    by_hand = np.add.outer(2 * mark.y, mark.x * X[:, 0].mean())
    np.testing.assert_allclose(mark.color, by_hand, atol=1e-9)
    link.unlink()


def test_a_surface_of_more_rows_or_of_another_pair_is_kept(slowly):
    slowly.pair = ("x0", "x1")
    slowly.compute("heatmap")
    other = slowly.explainer.partial_dependence(("x2", "x3"), grid_size=5).to_bqplot()
    link = link_bqplot(slowly, other, pace=0.01)
    assert slowly.wait(60)
    link.refresh()
    assert other.axes[0].label == "x2"
    part = slowly.explainer.partial_dependence(("x0", "x1"), grid_size=5, subgroup="x0 > 0").to_bqplot()
    with pytest.raises(InputError, match="none that follows"):
        link_bqplot(slowly, part)
    whole = slowly.explainer.partial_dependence(("x0", "x1"), grid_size=5).to_bqplot()
    link_bqplot(slowly, whole).refresh()
    assert len(whole.marks[0].x) == 5, "the widget's own stands on no more rows"
    asked = link_bqplot(slowly, whole, follow=True)
    assert len(whole.marks[0].x) > 5, "unless it is asked for"
    asked.unlink()


def test_bars_of_rules_follow_and_a_click_selects(slowly):
    early = slowly.explainer.rules(max_rules=50).with_n_terms(4).to_bqplot(by="coefficient")
    assert 0 < len(early.marks[0].x) <= 4
    link = link_bqplot(slowly, early, follow=True, pace=0.01)
    assert slowly.wait(120)
    link.refresh()
    bars = early.marks[0]
    expected = Explainer(Slow(0), few()).rules().to_bqplot(by="coefficient")
    assert bars.x.tolist() == expected.marks[0].x.tolist()
    np.testing.assert_allclose(bars.y, expected.marks[0].y, rtol=1e-6)
    rules = slowly.results["rules"]
    first = next(
        k
        for k, name in enumerate(bars.x)
        if any(rule.label == name for rule in rules.ruleset.terms if hasattr(rule, "mask"))
    )
    rule = next(term for term in rules.ruleset.terms if term.label == bars.x[first])
    bars.selected = np.array([first])
    np.testing.assert_array_equal(slowly.selection.mask, rule.mask(slowly.explainer.table))
    slowly.select("x0 > 0")
    assert first not in ([] if bars.selected is None else np.asarray(bars.selected).tolist())
    slowly.undo()
    assert first in np.asarray(bars.selected).tolist()
    bars.selected = None
    assert not slowly.selection
    fewer = slowly.results["rules"].with_n_terms(3)
    step = next(k for k in range(200) if rules.at_step(k).ruleset.terms == fewer.ruleset.terms)
    choose = {"step": step, "subject": None}
    slowly._on_message(None, {"kind": "request", "id": 1, "method": "terms", "params": choose}, None)
    until(lambda: len(early.marks[0].x) == len(fewer.ruleset.terms))
    link.unlink()


def test_curves_out_of_focus_grow_too_and_stay_what_they_are_of():
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    widget = PDPWidget(Slow(1e-6), X, feature="x0")
    try:
        until(lambda: "all" in widget.results_of("x1") and widget.results_of("x1")["all"].rows_done)
        early = widget.results_of("x1")["all"]
        assert early.rows_done < 20_000
        figure = early.to_bqplot()
        link = link_bqplot(widget, figure, pace=0.02)
        seen = set()
        figure.observe(lambda change: seen.add(change["new"]), "title")
        assert widget.wait(120)
        link.refresh()
        done = widget.results_of("x1")["all"].rows_done
        assert done > early.rows_done
        assert figure.title == f"x1 ({done:,} of 20,000 rows)"
        assert len(seen) > 1
        curve = next(mark for mark in figure.marks if mark.labels == ["all rows"])
        rows = widget.results_of("x1")["all"].rows
        np.testing.assert_allclose(curve.y, curve.x * X[rows, 0].mean() + 2 * X[rows, 2].mean(), atol=1e-9)
        widget.feature = "x2"
        link.refresh()
        assert figure.axes[0].label == "x1"
        link.selector.selected = np.array([0.0, 1.0])
        assert widget.selection.text.startswith("0 <= x1 <= 1") or "x1" in widget.selection.text
        link.unlink()
    finally:
        widget.close()


def test_a_curve_of_more_rows_is_not_replaced_by_one_of_fewer():
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    widget = PDPWidget(Slow(1e-6), X, feature="x0")
    try:
        figure = Explainer(Slow(0), X).partial_dependence("x1").to_bqplot()
        assert "20,000 of 20,000" in figure.title
        link = link_bqplot(widget, figure, pace=0.01)
        until(lambda: widget.results_of("x1").get("all") is not None and widget.results_of("x1")["all"].rows_done)
        link.refresh()
        assert "20,000 of 20,000" in figure.title
        link.unlink()
    finally:
        widget.close()


def test_follow_false_changes_nothing_that_is_drawn(widget):
    figure = widget.explainer.partial_dependence("x", subgroup="c == 'u'").to_bqplot()
    before = figure.marks[-1].y.copy()
    link = link_bqplot(widget, figure, follow=False, pace=0.01)
    widget.select("c == 'v'")
    time.sleep(0.05)
    link.refresh()
    np.testing.assert_array_equal(figure.marks[-1].y, before)


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
    joint = widget.explainer.decompose("x", "k").to_bqplot()
    with pytest.raises(InputError, match="no axis of one feature"):
        link_bqplot(widget, joint)
    some = PDPWidget(Explainer(predict, X, features=["x"]))
    with pytest.raises(InputError, match="not among"):
        link_bqplot(some, figure, feature="k")
    some.close()


def test_figures_follow_to_features_of_one_value_and_of_none(caplog):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=60),
            "c": np.resize(np.array(["u", "v"], dtype=object), 60),
            "one": "x",
            "nothing": np.nan,
        }
    )
    widget = PDPWidget(lambda Z: Z["a"].to_numpy() * (Z["c"] == "u").to_numpy(), X, feature="a", pair=("a", "c"))
    surface, curve = first_figure(widget, "heatmap"), widget.results["all"].to_bqplot()
    links = [link_bqplot(widget, surface, pace=0.01), link_bqplot(widget, curve, pace=0.01)]
    for pair in [("c", "one"), ("nothing", "one")]:
        widget.pair = pair
        assert widget.wait(60)
        until(lambda pair=pair: surface.title.startswith(" × ".join(pair)))
    for feature in ("nothing", "one"):
        widget.feature = feature
        assert widget.wait(60)
        until(lambda feature=feature: curve.title == f"{feature} (60 of 60 rows)")
        assert links[1].selector is None
    widget.feature = "a"
    assert widget.wait(60)
    until(lambda: links[1].selector is not None)
    with pytest.raises(InputError, match="no value of feature 'nothing' is known"):
        link_bqplot(widget, curve, feature="nothing")
    assert not caplog.records
    for link in links:
        link.unlink()
    widget.close()
