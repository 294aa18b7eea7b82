# ruff: noqa: F811
"""The interactions panel: its numbers are the Explainer's and a brute force's, it streams without moving, and asks no more than it may."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from widget_tools import Counting, arrays, ask, frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets import Explainer
from pdp_widgets.widget.panels import View
from pdp_widgets.widget.panels.board import AFFORDED
from pdp_widgets.widget.panels.interactions import SHOWN, InteractionsPanel

RNG = np.random.default_rng(3)


def table(n=40, p=4):
    return pd.DataFrame(RNG.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])


def product(X):
    """x0 x1 and a weaker x1 x2; x3 alone."""
    return 3 * X["x0"] * X["x1"] + X["x1"] * X["x2"] / 2 + 5 * X["x3"]


def view_of(explainer, output=None):
    feature = next(iter(explainer.features))
    return View(explainer, feature, output or explainer.default_output, None, "", "pd", None, None)


def pictures(panel, view):
    return [arrays(picture) for picture in panel.steps(view) if picture is not None]


def by_name(picture, values):
    """Values of pairs by the names of their features."""
    names = [frozenset(picture["features"][j] for j in pair) for pair in picture["pairs"]]
    return dict(zip(names, values, strict=True))


def test_the_numbers_are_those_of_a_brute_force():
    X = table(30)

    def effect(*names):
        """The centred average over all rows of the prediction with these features as in each row."""
        averages = [product(X.assign(**{name: X[name][i] for name in names})).mean() for i in range(len(X))]
        return np.array(averages) - np.mean(averages)

    explainer = Explainer(product, X)
    shown = pictures(InteractionsPanel(explainer), view_of(explainer))[-1]
    single = {name: effect(name) for name in X}
    assert shown["features"] == sorted(X, key=lambda name: -single[name].std())
    h2, strength = (by_name(shown, shown[name]) for name in ("h2", "strength"))
    assert len(h2) == 6
    for a, b in combinations(X, 2):
        joint = effect(a, b)
        left = joint - single[a] - single[b]
        assert strength[frozenset((a, b))] == pytest.approx(left.std(), abs=1e-6)
        assert h2[frozenset((a, b))] == pytest.approx((left**2).sum() / (joint**2).sum(), abs=1e-6)
    np.testing.assert_allclose(shown["main_strength"], [single[name].std() for name in shown["features"]], rtol=1e-6)
    whole = product(X) - product(X).mean()
    assert shown["total_h2"] == pytest.approx(((whole - sum(single.values())) ** 2).sum() / (whole**2).sum())
    assert (shown["pairs_done"], shown["left_out"], shown["more"], shown["refining"]) == (6, 0, None, None)


def test_the_page_gets_the_explainers_numbers_for_the_output_in_focus(make):
    X = frame()
    model = Counting(two_outputs)
    w = make(model, X, output_names=["first", "second"])
    assert ask(w, "open", panels=["interactions"])["status"] == "ok"
    assert w._interactions["status"]["state"] in ("running", "ask")
    assert ask(w, "compute", panel="interactions")["status"] == "ok"
    assert w.wait(60)
    shown = arrays(w._interactions)
    assert shown["status"]["state"] == "done"
    expected = Explainer(two_outputs, X, output_names=["first", "second"]).interactions(rows=shown["rows"])
    for output in ("first", "second"):
        asked = model.rows
        w.output = output
        assert w.wait(60)
        assert model.rows == asked  # all outputs are computed at once
        shown = arrays(w._interactions)
        frame_ = expected.output(output).to_frame()
        for name in ("h2", "h2_stderr", "strength", "strength_stderr", "dependent"):
            found = by_name(shown, shown[name])
            for a, b, value in zip(frame_["feature_1"], frame_["feature_2"], frame_[name], strict=True):
                assert found[frozenset((a, b))] == pytest.approx(float(value), rel=1e-5, abs=1e-9)
        assert shown["output"] == output
        assert shown["rows_total"] == len(X)
    w.select("n < 3")  # over all rows, whatever is selected
    assert w.wait(60)
    assert arrays(w._interactions)["strength"].tolist() == shown["strength"].tolist()
    assert not w._interactions["status"]["stale"]


def test_while_pairs_come_in_nothing_moves_and_what_is_not_computed_is_not_zero():
    explainer = Explainer(product, table())
    panel, view = InteractionsPanel(explainer), view_of(explainer)
    grown = []
    for picture in panel.steps(view):
        if picture is not None:
            grown.append(arrays(picture))
            last = picture["pairs_done"] == 6 and len(grown) > 7
            assert panel.partner("x0", 0) == ("x1" if last else None)
    assert [picture["pairs_done"] for picture in grown] == [0, 1, 2, 3, 4, 5, 6, 6]
    for picture in grown:
        assert picture["features"] == grown[0]["features"]
        assert picture["pairs"].tolist() == grown[0]["pairs"].tolist()
        done = picture["pairs_done"]
        assert np.isfinite(picture["strength"][:done]).all()
        assert np.isnan(picture["strength"][done:]).all()
        assert np.isnan(picture["h2"][done:]).all()
    assert {grown[0]["features"][j] for j in grown[0]["pairs"][0]} == {"x0", "x1"}  # the most promising first


def test_partners_are_the_strongest_and_nobody_has_one_without_interaction():
    explainer = Explainer(product, table())
    panel = InteractionsPanel(explainer)
    assert panel.partner("x0", 0) is None
    pictures(panel, view_of(explainer))
    assert [panel.partner(name, 0) for name in ("x0", "x1", "x2", "x3")] == ["x1", "x0", "x1", None]
    assert panel.partner("unknown", 0) is None


def test_what_was_begun_goes_on_for_another_output_and_after_a_stop():
    model = Counting(lambda X: np.column_stack([product(X), -product(X)]))
    explainer = Explainer(model, table())
    panel, view = InteractionsPanel(explainer), view_of(explainer)
    steps = panel.steps(view)
    while model.rows < 5000:
        next(steps)
    steps.close()
    assert panel.cost(view) == 0
    pictures(panel, replace(view, output=explainer.outputs[1]))
    fresh = Counting(model.function)
    Explainer(fresh, table()).interactions()
    assert model.rows == fresh.rows
    assert pictures(panel, view)[-1]["output"] == explainer.outputs[0]
    assert model.rows == fresh.rows


def test_it_stops_within_a_chunk_of_a_pair():
    model = Counting(product)
    explainer = Explainer(model, table(400))
    panel = InteractionsPanel(explainer)
    panel._rows = 500  # as on request
    steps = panel.steps(view_of(explainer))
    before, most = 0, 0
    while next(steps, None) is None or model.rows < 2_000_000:
        most, before = max(most, model.rows - before), model.rows
        if model.rows > 1_000_000:
            break
    assert most < explainer.interaction_rows() / 4


def test_a_black_box_is_asked_what_is_afforded_and_more_on_request():
    model = Counting(lambda X: X["x0"].to_numpy() * X["x1"].to_numpy() + X["x2"].to_numpy())
    explainer = Explainer(model, table(600, 6))
    panel, view = InteractionsPanel(explainer), view_of(explainer)
    before = model.rows
    cost = panel.cost(view)
    assert model.rows == before
    assert explainer.interaction_rows(rows=500) > AFFORDED
    assert cost == explainer.interaction_rows(rows=200) <= AFFORDED
    first = pictures(panel, view)[-1]
    assert model.rows - before == cost
    assert (first["rows"], first["more"]) == (200, explainer.interaction_rows(rows=500))
    expected = explainer.interactions(rows=200).to_frame()
    assert sorted(first["strength"]) == pytest.approx(sorted(expected["strength"]), rel=1e-6)

    assert panel.refine(view)
    assert panel.cost(view) == 0  # it was said what it costs
    grown = pictures(panel, view)
    assert all(picture["rows"] == 200 for picture in grown[:-1])  # it stays until the new one is complete
    shares = [picture["refining"] for picture in grown[:-1]]
    assert shares == sorted(shares)
    assert (grown[-1]["rows"], grown[-1]["more"], grown[-1]["refining"]) == (500, None, None)
    assert not panel.refine(view)


def test_what_is_not_afforded_at_all_is_asked_for(make):
    X = table(300, 16)
    w = make(lambda X: X["x0"].to_numpy() * X["x1"].to_numpy(), X)
    ask(w, "open", panels=["interactions"])
    assert w.wait(60)
    assert w._interactions["status"]["state"] == "ask"
    assert w._interactions["status"]["cost"] == w.explainer.interaction_rows(rows=100) > AFFORDED
    ask(w, "compute", panel="interactions")
    assert w.wait(120)
    assert w._interactions["status"]["state"] == "done"
    assert w._interactions["rows"] == 100
    ask(w, "compute", panel="interactions")
    assert w.wait(0) is False  # more rows: it is at work again
    assert w._interactions["status"]["stale"] is False
    w.stop()


def test_trees_cost_nothing_and_use_all_rows_at_once():
    X = table(200)
    explainer = Explainer(GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, product(X)), X)
    panel, view = InteractionsPanel(explainer), view_of(explainer)
    assert panel.cost(view) == 0
    shown = pictures(panel, view)[-1]
    assert (shown["rows"], shown["more"]) == (200, None)
    pairs = explainer.interactions().to_frame()
    assert panel.partner(pairs["feature_1"][0], 0) == pairs["feature_2"][0]
    assert sorted(shown["strength"], reverse=True) == pytest.approx(pairs["strength"], rel=1e-6)


def test_of_many_features_those_that_interact_most_are_shown_and_the_picture_stays_small():
    X = RNG.normal(size=(24, SHOWN + 5))
    explainer = Explainer(lambda X: (X[:, 5::2] * X[:, 6::2]).sum(axis=1) + X[:, 0], X)
    panel, view = InteractionsPanel(explainer), view_of(explainer)
    assert panel.cost(view) >= explainer.interaction_rows(pairs=[]) + 780 * 24**2
    raw = [picture for picture in panel.steps(view) if picture is not None][-1]
    shown = arrays(raw)
    assert set(shown["features"]) == {f"x{j}" for j in range(5, 45)}
    assert (shown["left_out"], shown["pairs_done"], len(shown["pairs"])) == (5, 780, 780)
    assert np.isfinite(shown["strength"]).all()
    assert shown["total_h2"] is not None
    packed = sum(len(value["view"]) for value in raw.values() if isinstance(value, dict))
    assert packed * 4 / 3 < 60_000


def test_one_feature_has_nothing_to_interact_with():
    explainer = Explainer(lambda X: X["x0"], table(p=1))
    assert InteractionsPanel(explainer).key(view_of(explainer)) is None
