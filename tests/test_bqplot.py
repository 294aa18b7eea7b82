"""Results as bqplot figures: the marks hold the numbers of the result."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import bqplot
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pdp_widgets import RuleFitRegressor, compare
from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit.stability import stability

N = 90


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=N),
            "c": np.array(["u", "v", "w"])[np.arange(N) % 3],
            "d": pd.date_range("2024-01-01", periods=N),
            "t": pd.to_timedelta(np.arange(N) % 7, unit="h"),
        }
    )
    X.loc[::9, "x"] = np.nan
    return X


def predict(Z: pd.DataFrame) -> np.ndarray:
    x = np.nan_to_num(Z["x"].to_numpy(), nan=4.0)
    return x * (Z["c"] == "u") + (Z["t"] / pd.Timedelta("1h")).to_numpy()


@pytest.fixture(scope="module")
def explainer():
    return Explainer(predict, table(), predict(table()) + 1.0)


@pytest.fixture(scope="module")
def numbers():
    """An explainer of a product and a sum: x0 interacts with x1, x2 does not."""
    X = np.random.default_rng(1).normal(size=(60, 3))
    return Explainer(lambda Z: Z[:, 0] * Z[:, 1] + 2 * Z[:, 2], X, X[:, 0])


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(size=200), "b": rng.uniform(size=200)})
    y = 3.0 * (X["a"] > 0.5) - 2.0 * (X["b"] > 0.7) + 0.05 * rng.normal(size=200)
    return RuleFitRegressor(max_rules=40, random_state=0).fit(X, y), X, y


# ---- curves ------------------------------------------------------------------------------------


def test_curves_hold_the_average_a_sample_of_ice_and_the_missing_level(explainer):
    result = explainer.partial_dependence("x")
    figure = result.to_bqplot(ice=30)
    assert isinstance(figure, bqplot.Figure)
    ice, average, missing = figure.marks
    assert ice.y.shape == (30, result.grids[0].size - 1)
    np.testing.assert_array_equal(average.x, result.grid_values[0][:-1])
    by_hand = [predict(table().assign(x=value)).mean() for value in average.x]
    np.testing.assert_allclose(average.y, by_hand, rtol=1e-12)
    assert set(missing.y) == {result.average[0, -1]}
    rows = result.individual[0][:, :-1]
    assert all((rows == one).all(axis=1).any() for one in ice.y)
    assert "90 of 90 rows" in figure.title
    assert figure.axes[0].label == "x"
    assert len(result.to_bqplot(ice=False).marks) == 2


def test_categories_dates_durations_and_subgroups(explainer):
    category = explainer.partial_dependence("c", subgroup="x > 0").to_bqplot()
    assert category.marks[-1].x.tolist() == ["u", "v", "w"]
    assert "x > 0" in category.title
    date = explainer.partial_dependence("d").to_bqplot()
    assert isinstance(date.axes[0].scale, bqplot.DateScale)
    duration = explainer.partial_dependence("t").to_bqplot(ice=False)
    assert duration.axes[0].label == "t (hours)"
    np.testing.assert_allclose(duration.marks[0].x, np.arange(7))


def test_a_missing_category_is_a_level():
    X = pd.DataFrame({"c": ["u", None, "v", "u"]})
    result = Explainer(lambda Z: Z["c"].isna().to_numpy(dtype=float), X).partial_dependence("c")
    mark = result.to_bqplot(ice=False).marks[0]
    assert dict(zip(mark.x.tolist(), mark.y.tolist(), strict=True)) == {"u": 0.0, "v": 0.0, "missing": 1.0}


def test_a_growing_result_has_a_band():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    first = next(Explainer(lambda Z: Z[:, 0] * Z[:, 1], X).iter_partial_dependence(0))
    band = first.to_bqplot(ice=False).marks[0]
    np.testing.assert_allclose(band.y, [first.average[0] - first.stderr[0], first.average[0] + first.stderr[0]])


def test_one_line_per_class_and_one_of_two():
    X, y = load_iris(return_X_y=True, as_frame=True)
    result = Explainer(DecisionTreeClassifier(random_state=0).fit(X, y), X).partial_dependence("petal length (cm)")
    marks = result.to_bqplot().marks
    assert [mark.labels for mark in marks] == [["0"], ["1"], ["2"]]
    assert len({mark.colors[0] for mark in marks}) == 3
    assert len(result.to_bqplot(output="1").marks) == 2
    two = Explainer(LogisticRegression().fit(X, y == 2), X).partial_dependence("petal length (cm)")
    (curve,) = two.to_bqplot(ice=False).marks
    np.testing.assert_array_equal(curve.y, two.average[1])


def test_a_grid_in_any_order_is_drawn_from_left_to_right(explainer):
    result = explainer.partial_dependence("x", grid=[1.0, -1.0, 0.0])
    curve = result.to_bqplot(ice=False).marks[0]
    np.testing.assert_array_equal(curve.x, [-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(curve.y, result.average[0, [1, 2, 0]])


def test_ale_of_a_feature(explainer):
    result = explainer.ale("t")
    (curve,) = result.to_bqplot().marks
    np.testing.assert_allclose(curve.x, result.positions[0] / 3_600_000)
    np.testing.assert_array_equal(curve.y, result.values[0])
    np.testing.assert_allclose(np.diff(curve.y) / np.diff(curve.x), 1.0)


def test_one_curve_per_group_and_per_model(explainer):
    result = explainer.by_group("t", "c")
    marks = result.to_bqplot().marks
    assert [mark.labels[0] for mark in marks] == ["c u (n = 30)", "c v (n = 30)", "c w (n = 30)"]
    np.testing.assert_array_equal([mark.y for mark in marks], result.average[:, 0])
    X = np.random.default_rng(0).normal(size=(40, 2))
    models = {"twice": LinearRegression().fit(X, 2 * X[:, 0]), "thrice": LinearRegression().fit(X, 3 * X[:, 0])}
    both = compare(models, X, "x0").to_bqplot().marks
    assert [mark.labels for mark in both] == [["twice"], ["thrice"]]
    slopes = [np.ptp(mark.y) / np.ptp(mark.x) for mark in both]
    np.testing.assert_allclose(slopes, [2.0, 3.0])


def test_observed_outcome_and_residual(explainer):
    result = explainer.observed("c")
    predicted, band, outcome = result.to_bqplot().marks
    means = (predict(table()) + 1).groupby(table()["c"]).mean()
    np.testing.assert_allclose(outcome.y, means[outcome.x.tolist()])
    np.testing.assert_allclose(predicted.y, means[predicted.x.tolist()] - 1)
    np.testing.assert_allclose(band.y.mean(axis=0), outcome.y)
    residual = result.to_bqplot(what="residual").marks[-1]
    np.testing.assert_allclose(residual.y, 1.0)


def test_one_curve_per_region(numbers):
    result = numbers.regions("x0")
    assert result.regions
    marks = result.to_bqplot().marks
    assert len(marks) == 1 + len(result.regions)
    for mark, region in zip(marks, (result.root, *result.regions), strict=True):
        np.testing.assert_array_equal(mark.y, region.average)
        assert f"n = {region.n}" in mark.labels[0]


# ---- surfaces ----------------------------------------------------------------------------------


def test_pairs_are_heat_maps(explainer):
    for pair, row in [(("x", "d"), "y"), (("x", "c"), "row")]:
        result = explainer.partial_dependence(pair)
        mark = result.to_bqplot().marks[0]
        np.testing.assert_array_equal(mark.color, result.average[0, :-1].T)
        assert len(getattr(mark, row)) == result.grids[1].size


def test_cells_of_a_number_end_half_way_between_grid_points(explainer):
    result = explainer.partial_dependence(("t", "c"))
    mark = result.to_bqplot().marks[0]
    np.testing.assert_allclose(mark.column, np.arange(8) - 0.5)


def test_surfaces_of_interactions_are_centred_on_zero(numbers):
    ale = numbers.ale(("x0", "x1"), main=True)
    mark = ale.to_bqplot().marks[0]
    np.testing.assert_array_equal(mark.color, ale.values[0].T)
    colour = mark.scales["color"]
    assert colour.min == -colour.max == -np.abs(ale.values).max()
    np.testing.assert_array_equal(ale.to_bqplot(what="total").marks[0].color, ale.total[0].T)
    parts = numbers.decompose("x0", "x1")
    np.testing.assert_array_equal(parts.to_bqplot().marks[0].color, parts.interaction[0].T)
    np.testing.assert_array_equal(parts.to_bqplot(what="joint").marks[0].color, parts.joint[0].T)


def test_interactions_are_a_matrix_with_own_effects_along_its_diagonal(numbers):
    result = numbers.interactions()
    cells, own = result.to_bqplot().marks
    assert cells.row.tolist() == cells.column.tolist() == ["x0", "x1", "x2"]
    table = result.to_frame().set_index(["feature_1", "feature_2"])["strength"]
    for (first, second), strength in table.items():
        i, j = cells.row.tolist().index(first), cells.row.tolist().index(second)
        assert cells.color[i, j] == cells.color[j, i] == strength
    assert np.isnan(np.diag(cells.color)).all()
    assert cells.selected.tolist() == [[0, 0], [1, 1], [2, 2]], "what is not computed has a look of its own"
    np.testing.assert_array_equal(np.diag(own.color), result.main_strength[0])
    assert len(result.to_bqplot(by="h2").marks) == 1


# ---- bars --------------------------------------------------------------------------------------


def test_bars_of_importance_have_whiskers(numbers):
    result = numbers.importance()
    bars, whiskers = result.to_bqplot(by="permutation").marks
    order = np.argsort(-result.permutation[0])
    assert bars.x.tolist() == [result.features[j] for j in order]
    np.testing.assert_array_equal(bars.y, result.permutation[0, order])
    np.testing.assert_allclose(np.diff(whiskers.x, axis=1)[:, 0], 2 * result.permutation_stderr[0, order])
    assert whiskers.y[:, 0].tolist() == bars.x.tolist()
    plain = result.to_bqplot(top=2)
    assert len(plain.marks) == 1
    assert plain.marks[0].x.shape == (2,)
    assert "2 of 3" in plain.title
    # The standard deviation of 2 x over its unique values, by hand.
    x2 = plain.marks[0].y[plain.marks[0].x.tolist().index("x2")]
    np.testing.assert_allclose(x2, 2 * numbers.table.values(numbers.table.feature("x2"), np.arange(60))[0].std(ddof=1))


def test_bars_of_interactions(numbers):
    result = numbers.interactions()
    bars, whiskers = result.to_bqplot(what="pairs", by="h2").marks
    assert bars.x[0] == "x0 × x1"
    table = result.to_frame()
    np.testing.assert_array_equal(np.sort(bars.y), np.sort(table["h2"]))
    assert whiskers.x.shape == (3, 2)
    overall = result.to_bqplot(what="overall").marks[0]
    np.testing.assert_array_equal(np.sort(overall.y), np.sort(result.overall["strength"]))
    one = numbers.interaction("x0", "x1")
    np.testing.assert_array_equal(one.to_bqplot().marks[0].y, one.strength)
    network = numbers.interaction_network()
    np.testing.assert_array_equal(network.to_bqplot().marks[0].y, network.edges["share"])


def test_bars_of_splits(numbers):
    result = numbers.suggestions()
    made = [one for one in result if one.regions]
    bars = result.to_bqplot().marks[0]
    np.testing.assert_array_equal(bars.y, sorted((one.removed for one in made), reverse=True))
    assert bars.x[0].startswith(made[0].feature)


def test_bars_of_rules(fitted):
    model, X, y = fitted
    rules = model.ruleset_
    frame = rules.to_frame().iloc[1:]
    bars = rules.to_bqplot().marks[0]
    np.testing.assert_allclose(bars.y, frame["importance_abs"][:20])
    assert bars.x[0] == frame["term"].iloc[0]
    signed = rules.to_bqplot(by="coefficient").marks[0]
    coefficients = frame["coefficient"].to_numpy()
    np.testing.assert_allclose(signed.y, coefficients[np.argsort(-np.abs(coefficients), kind="stable")][:20])
    np.testing.assert_array_equal(signed.color, np.sign(signed.y))
    overall = rules.importance(X)
    np.testing.assert_allclose(overall.to_bqplot().marks[0].y, -np.sort(-overall.features_global[0]))
    part = rules.importance(X, subgroup="a > 0.5")
    np.testing.assert_allclose(part.to_bqplot().marks[0].y, -np.sort(-part.features_local[0]))
    assert f"{(X['a'] > 0.5).sum()} of 200 rows" in part.to_bqplot().title
    row = rules.explain_row(3, X)
    contributions = row.to_bqplot(top=1000).marks[0]
    np.testing.assert_allclose(contributions.y.sum() + row.average[0], model.predict(X.iloc[[3]])[0])
    back = stability(model, X, y, refits=3)
    np.testing.assert_array_equal(back.to_bqplot().marks[0].y, -np.sort(-back.terms)[:20])
    np.testing.assert_array_equal(np.sort(back.to_bqplot(what="features").marks[0].y), np.sort(back.features))


def test_bars_of_rules_of_a_model(numbers):
    rules = numbers.rules(max_rules=50)
    figure = rules.to_bqplot(top=5)
    np.testing.assert_array_equal(figure.marks[0].y, rules.ruleset.to_bqplot(top=5).marks[0].y)
    assert "60 rows" in figure.title


def test_names_that_are_cut_stay_apart():
    from pdp_widgets.figures.parts import distinct

    assert distinct(["abcdef", "abcdeg", "ab"], 4) == ("abc…", "abc… (2)", "ab")


# ---- words -------------------------------------------------------------------------------------


def test_unknown_options_are_told(explainer, numbers, fitted):
    curve = explainer.partial_dependence("x")
    with pytest.raises(TypeError, match="did you mean 'ice'"):
        curve.to_bqplot(icy=3)
    with pytest.raises(InputError, match="'nobody'"):
        curve.to_bqplot(output="nobody")
    with pytest.raises(InputError, match="did you mean 'permutation'"):
        numbers.importance().to_bqplot(by="permutations")
    with pytest.raises(InputError, match="top=0"):
        numbers.importance().to_bqplot(top=0)
    with pytest.raises(InputError, match=r"one with \.level"):
        explainer.by_group(("x", "d"), "c").to_bqplot()
    with pytest.raises(TypeError, match="FeatureTrust has no figure"):
        explainer.trust("x").to_bqplot()
    rules = fitted[0].ruleset_
    with pytest.raises(InputError, match="by='coefficient'"):
        replace(rules, support=np.full(len(rules), np.nan)).to_bqplot()


def test_no_permutation_importance_without_an_outcome():
    with pytest.raises(InputError, match="nothing to draw of 'permutation'"):
        Explainer(lambda X: X[:, 0], np.arange(6.0).reshape(3, 2)).importance().to_bqplot(by="permutation")


def test_bqplot_is_imported_when_a_figure_is_made_and_said_when_it_cannot_be():
    code = """
import sys
sys.modules["bqplot"] = None
import numpy as np
import pdp_widgets.bqplot
from pdp_widgets import Explainer
result = Explainer(lambda X: X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
try:
    result.to_bqplot()
except ImportError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent
    )
    assert "pip install bqplot" in found.stdout
    assert ".plot()" in found.stdout
