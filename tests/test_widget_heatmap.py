# ruff: noqa: F811
"""The heatmap panel: which pair it shows, and its surfaces against the Explainer's own numbers and plain loops."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from widget_tools import Counting, arrays, ask, frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets import Explainer
from pdp_widgets.widget.panels import heatmap as module
from pdp_widgets.widget.wire import unpack


def unpacked(value: Any) -> Any:
    """All arrays, also those deeper in the picture."""
    if isinstance(value, dict):
        return unpack(value) if "view" in value else {key: unpacked(item) for key, item in value.items()}
    return value


def picture(widget: Any) -> dict[str, Any]:
    assert ask(widget, "open", panels=["heatmap"])["status"] == "ok"
    assert widget.wait(120)
    return dict(unpacked(widget._heatmap))


def by_hand(X: pd.DataFrame, first: str, second: str, rows: np.ndarray, a: Any, b: Any) -> np.ndarray:
    """Partial dependence on a pair by a loop over cells."""
    out = np.empty((len(a), len(b)))
    for i, u in enumerate(a):
        for j, v in enumerate(b):
            changed = X.loc[rows].copy()
            for name, value in ((first, u), (second, v)):
                if X[name].dtype.kind == "M":
                    value = pd.Timestamp(value)
                changed[name] = pd.Series([value] * len(changed), index=changed.index, dtype=X[name].dtype)
            out[i, j] = predict(changed).mean()
    return out


PAIRS = [("temp", "n"), ("season", "temp"), ("season", "flag"), ("when", "season"), ("temp", "when"), ("flag", "n")]


@pytest.mark.parametrize("pair", PAIRS, ids=" x ".join)
def test_surfaces_of_all_kinds_of_features_are_those_of_a_plain_loop(make, pair):
    X = frame(120)
    w = make(predict, X, pair=pair)
    shown = picture(w)
    grids = [Explainer(predict, X).grid(name, grid_size=20) for name in pair]
    chosen = w.select("n < 3 & temp > 10").mask
    split = picture(w)
    levels = [[None if k == g.missing and g.kind == "category" else v for k, v in enumerate(g.values)] for g in grids]
    everyone = np.ones(len(X), dtype=bool)
    assert (shown["first"], shown["second"], shown["exact"]) == (*pair, True)
    for side, grid in zip("ab", grids, strict=True):
        assert shown[side]["labels"] == list(grid.labels)
        assert shown[side]["missing"] == grid.missing
    np.testing.assert_allclose(shown["average"], by_hand(X, *pair, everyone, *levels), rtol=1e-9)
    np.testing.assert_allclose(split["selection"], by_hand(X, *pair, chosen, *levels), rtol=1e-9)
    np.testing.assert_allclose(split["rest"], by_hand(X, *pair, ~chosen, *levels), rtol=1e-9)
    assert (split["n_selection"], split["n_rest"]) == (chosen.sum(), (~chosen).sum())
    assert shown["selection"] is None
    expected = Explainer(predict, X).decompose(*pair)
    interaction = shown["average"] - shown["main_a"][:, None] - shown["main_b"][None, :] + shown["mean"]
    np.testing.assert_allclose(interaction, expected.interaction[0], atol=1e-9)


def test_every_row_is_counted_in_the_cell_that_is_nearest_to_it(make):
    X = frame(200)
    shown = picture(make(predict, X, pair=("temp", "season")))
    at, labels = shown["a"]["x"], shown["b"]["labels"]
    expected = np.zeros_like(shown["counts"])
    for temp, season in zip(X["temp"], X["season"], strict=True):
        i = shown["a"]["missing"] if np.isnan(temp) else int(np.nanargmin(np.abs(at - temp)))
        expected[i, labels.index("missing" if pd.isna(season) else season)] += 1
    np.testing.assert_array_equal(shown["counts"], expected)
    assert shown["counts"].sum() == len(X)
    assert shown["a"]["hist"]["counts"].sum() == shown["b"]["hist"]["counts"].sum() == len(X)


def test_weights_count_and_each_output_has_its_surface(make):
    X = frame(90)
    weights = np.random.default_rng(1).random(len(X))
    w = make(two_outputs, X, sample_weight=weights, pair=("n", "season"), output=1)
    shown = picture(w)
    expected = Explainer(two_outputs, X, sample_weight=weights)
    pd2 = expected.partial_dependence(("n", "season"))
    np.testing.assert_allclose(shown["average"], pd2.average[1], rtol=1e-9)
    interaction = shown["average"] - shown["main_a"][:, None] - shown["main_b"][None, :] + shown["mean"]
    np.testing.assert_allclose(interaction, expected.decompose("n", "season").interaction[1], atol=1e-9)
    w.select("flag == True")
    chosen = expected.partial_dependence(("n", "season"), subgroup="flag == True").average[1]
    np.testing.assert_allclose(picture(w)["selection"], chosen, rtol=1e-9)


def test_a_pair_the_other_way_round_is_the_same_surface_and_asks_the_model_nothing(make):
    model = Counting(predict)
    w = make(model, frame(150), pair=("temp", "season"))
    shown = picture(w)
    asked = model.rows
    w.pair = ("season", "temp")
    turned = picture(w)
    np.testing.assert_array_equal(turned["average"], shown["average"].T)
    np.testing.assert_array_equal(turned["counts"], shown["counts"].T)
    np.testing.assert_array_equal(turned["main_a"], shown["main_b"])
    w.select("n == 1")
    w.clear()
    assert w.wait(60)
    assert model.rows == asked


def test_trees_have_the_statistic_of_friedman_beside_the_surface(make):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["a", "b", "c"])
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, X["a"] * X["b"] + X["c"])
    w = make(model, X, pair=("a", "b"))
    w.explainer.exact_sums()
    shown = picture(w)
    found = Explainer(model, X).interaction("a", "b")
    assert shown["h2"] == pytest.approx(found.h2[0], rel=1e-6)
    assert shown["strength"] == pytest.approx(found.strength[0], rel=1e-6)
    average = Explainer(model, X, method="model").partial_dependence(("a", "b")).average[0]
    np.testing.assert_allclose(shown["average"], average, atol=1e-9)


def test_a_black_box_is_asked_for_few_rows_first_and_for_more_on_request(make, monkeypatch):
    monkeypatch.setattr(module, "BUDGET", 20_000)
    model = Counting(lambda X: (time.sleep(5e-6 * len(X)), predict(X))[1])
    X = frame(400)
    w = make(model, X, pair=("temp", "when"))
    w.wait(60)
    before = model.rows
    shown = picture(w)
    cells = shown["average"].size
    assert cells >= 400
    assert 20_000 // cells <= shown["rows"] < 400
    assert shown["rows"] < shown["more"] <= 16 * 20_000 // cells
    assert model.rows - before < 4 * 20_000
    order = w.explainer.row_order[: shown["rows"]]
    few = Explainer(predict, X.iloc[np.sort(order)].reset_index(drop=True))
    levels = [w.explainer.grid(name, grid_size=20).values for name in ("temp", "when")]
    expected = few.partial_dependence(("temp", "when"), grid=[list(level) for level in levels]).average[0]
    np.testing.assert_allclose(shown["average"], expected, rtol=1e-9)
    rows = shown["rows"]
    while shown["more"] is not None:
        assert ask(w, "compute", panel="heatmap")["status"] == "ok"
        assert w.wait(60)
        shown = unpacked(w._heatmap)
        assert shown["rows"] > rows
        rows = shown["rows"]
    assert shown["exact"]
    np.testing.assert_allclose(
        shown["average"], Explainer(predict, X).partial_dependence(("temp", "when")).average[0], rtol=1e-9
    )


def test_a_slow_model_shows_a_coarse_surface_first(make):
    seen: list[tuple[int, ...]] = []
    w = make(Counting(predict), frame(300), pair=("temp", "when"))
    w.wait(60)
    w.observe(lambda change: seen.append(unpacked(change["new"]).get("average", np.empty(0)).shape), "_heatmap")
    picture(w)
    assert seen[0] == (0,)
    sizes = [int(np.prod(shape)) for shape in seen[1:]]
    assert sizes == sorted(sizes)
    assert sizes[-1] >= 400


def test_many_levels_are_cut_to_the_most_frequent_and_keep_their_place_in_the_grid(make):
    rng = np.random.default_rng(3)
    X = frame(600)
    X["city"] = [f"c{int(60 * u * u):02d}" for u in rng.random(600)]

    def model(X: pd.DataFrame) -> np.ndarray:
        return X["n"].to_numpy() + X["city"].str[1:].astype(float).to_numpy()

    shown = picture(make(model, X, pair=("city", "n")))
    axis = shown["a"]
    assert len(axis["labels"]) == module.MOST_LEVELS
    own = Explainer(model, X).grid("city")
    assert [own.labels[k] for k in axis["at"]] == axis["labels"]
    assert axis["left_out"] == own.size - module.MOST_LEVELS
    frequent = X["city"].value_counts()
    assert frequent[axis["labels"]].sum() == frequent.iloc[: module.MOST_LEVELS].sum()
    np.testing.assert_array_equal(axis["hist"]["counts"], frequent[axis["labels"]].to_numpy())
    np.testing.assert_allclose(
        shown["average"] - shown["average"][:1], (np.array([float(c[1:]) for c in axis["labels"]])[:, None] * np.ones(6))
        - float(axis["labels"][0][1:]), atol=1e-9,
    )  # fmt: skip


# ---- which pair --------------------------------------------------------------------------------------------------


def test_without_a_chosen_pair_the_next_most_important_feature_is_the_partner_and_stays_it(make):
    w = make(feature="n")
    shown = picture(w)
    names = [f["name"] for f in sorted(w._overview["features"], key=lambda f: -f["importance"]) if f["name"] != "n"]
    assert (shown["first"], shown["second"]) == ("n", names[0])
    w.feature = names[0]
    assert picture(w)["first"] == names[0]


def test_the_partner_changes_once_when_interactions_are_known(make):
    w = make(feature="n")
    before = picture(w)["second"]
    assert before != "when"
    controller = w._controller

    class Known:
        def partner(self, feature, k):
            return {"n": "when"}.get(feature)

    board = controller.board

    class Board:
        names = ("interactions",)

        def __getitem__(self, name):
            return Known()

        def __getattr__(self, name):
            return getattr(board, name)

    controller.board = Board()
    board.changed()
    assert picture(w)["second"] == "when"
    w.feature = "when"  # of which nothing is known
    assert picture(w)["second"] == before


def test_a_chosen_pair_is_focused_and_left_with_its_features(make):
    w = make(feature="n")
    w.pair = ("temp", "season")
    assert w.feature == "temp"
    assert (picture(w)["first"], picture(w)["second"]) == ("temp", "season")
    w.feature = "season"
    assert (picture(w)["first"], picture(w)["second"]) == ("temp", "season")
    w.feature = "flag"
    assert picture(w)["first"] == "flag"
    assert make(pair=("flag", "n")).feature == "flag"


def test_one_feature_alone_has_no_surface(make):
    shown = picture(make(lambda X: X["n"].to_numpy(), frame()[["n"]]))
    assert set(shown) == {"status"}


def test_a_rectangle_replaces_the_one_before_and_what_was_said_about_its_sides(make):
    w = make()

    def drag(temp: tuple[float, float], season: list[int], op: str = "replace") -> str:
        sides = [
            {"type": "range", "feature": "temp", "low": temp[0], "high": temp[1]},
            {"type": "levels", "feature": "season", "levels": season},
        ]
        condition = {"type": "all", "conditions": sides}
        assert ask(w, "select", op=op, condition=condition, gesture=f"{temp}")["status"] == "ok"
        return str(w.selection.text)

    w.select("n < 5 & temp > 0")
    assert drag((5, 10), [0, 1]) == "n < 5 & 5 <= temp <= 10 & season in ['FALL', 'SUMMER']"
    assert drag((12, 20), [2]) == "n < 5 & 12 <= temp <= 20 & season == 'WINTER'"
    X = frame()
    winter = ((X["season"] == "WINTER") & X["temp"].between(12, 20) & (X["n"] < 5)).to_numpy()
    fall = ((X["season"] == "FALL") & X["temp"].between(1, 2)).to_numpy()
    np.testing.assert_array_equal(w.selection.mask, winter)
    drag((1, 2), [0], "add")
    np.testing.assert_array_equal(w.selection.mask, winter | fall)
    drag((12, 15), [2], "remove")
    np.testing.assert_array_equal(w.selection.mask, (winter & ~X["temp"].between(12, 15)) | fall)


def test_the_picture_is_small(make):
    w = make(predict, frame(500), pair=("temp", "when"))
    picture(w)
    w.select("n < 3")
    picture(w)

    def size(value: Any) -> int:
        if isinstance(value, dict):
            return len(value["view"]) if "view" in value else sum(map(size, value.values()))
        return len(str(value))

    assert size(w._heatmap) < 25_000
