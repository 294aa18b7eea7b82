"""Results as bqplot figures: the marks hold the numbers of the result."""

from __future__ import annotations

import bqplot
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from pdp_widgets.explain import Explainer

N = 90


@pytest.fixture(scope="module")
def explainer():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=N),
            "c": np.array(["u", "v", "w"])[np.arange(N) % 3],
            "d": pd.date_range("2024-01-01", periods=N),
        }
    )
    X.loc[::9, "x"] = np.nan
    return Explainer(lambda Z: np.nan_to_num(Z["x"].to_numpy(), nan=4.0) * (Z["c"] == "u"), X)


def test_curves_hold_the_average_a_sample_of_ice_and_the_missing_level(explainer):
    result = explainer.partial_dependence("x")
    figure = result.to_bqplot(ice=30)
    assert isinstance(figure, bqplot.Figure)
    ice, average, missing = figure.marks
    assert ice.y.shape == (30, result.grids[0].size - 1)
    np.testing.assert_array_equal(average.x, result.grid_values[0][:-1])
    np.testing.assert_array_equal(average.y, result.average[0, :-1])
    assert set(missing.y) == {result.average[0, -1]}
    assert "90 of 90 rows" in figure.title
    assert len(result.to_bqplot(ice=False).marks) == 2


def test_categories_dates_and_subgroups(explainer):
    category = explainer.partial_dependence("c", subgroup="x > 0").to_bqplot()
    assert category.marks[-1].x.tolist() == ["u", "v", "w"]
    assert "x > 0" in category.title
    date = explainer.partial_dependence("d").to_bqplot()
    assert isinstance(date.axes[0].scale, bqplot.DateScale)


def test_a_growing_result_has_a_band():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    first = next(Explainer(lambda Z: Z[:, 0] * Z[:, 1], X).iter_partial_dependence(0))
    band = first.to_bqplot(ice=False).marks[0]
    np.testing.assert_allclose(band.y, [first.average[0] - first.stderr[0], first.average[0] + first.stderr[0]])


def test_one_line_per_class():
    X, y = load_iris(return_X_y=True, as_frame=True)
    result = Explainer(DecisionTreeClassifier(random_state=0).fit(X, y), X).partial_dependence("petal length (cm)")
    marks = result.to_bqplot().marks
    assert [mark.labels for mark in marks] == [["0"], ["1"], ["2"]]
    assert len(result.to_bqplot(output="1").marks) == 2


def test_pairs_are_heat_maps(explainer):
    for pair, row in [(("x", "d"), "y"), (("x", "c"), "row")]:
        result = explainer.partial_dependence(pair)
        mark = result.to_bqplot().marks[0]
        np.testing.assert_array_equal(mark.color, result.average[0, :-1].T)
        assert len(getattr(mark, row)) == result.grids[1].size
