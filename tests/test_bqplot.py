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
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pdp_widgets import RuleFitRegressor, compare
from pdp_widgets.bqplot import figure as drawn_by_bqplot
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


# ---- checks ------------------------------------------------------------------------------------


def test_a_null_distribution_is_a_histogram_with_the_observed_value_and_p():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(200, 3)), columns=list("abc"))
    y = 3.0 * ((X["a"] > 0) & (X["b"] > 0)) + X["c"]
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    result = Explainer(model, X, y).interaction_null(repeats=9, rows=60, progress=False)
    at = result.observed.pairs.index(("a", "b"))
    counts, observed, limit = result.to_bqplot().marks
    heights, edges = np.histogram(result.strength[0, :, at], bins=12)
    np.testing.assert_allclose(counts.x, np.repeat(edges, 2))
    np.testing.assert_array_equal(counts.y, [0, *np.repeat(heights, 2), 0])
    assert set(observed.x) == {result.observed.pair_statistic.strength[0, at]}
    assert set(limit.x) == {np.quantile(result.strength[0, :, at], 0.95)}
    figure = result.to_bqplot(pair=("b", "a"))
    assert figure.title.startswith("a × b: p = 0.1 "), "none of nine is as strong: one of ten"
    p = (1 + (result.overall_strength[0, :, 2] >= result.observed.overall_statistic.strength[0, 2]).sum()) / 10
    assert f"c with all others: p = {p:.2g}" in result.to_bqplot(feature="c").title
    assert result.overall_p[0, 2] == p
    h2 = result.to_bqplot(pair=("a", "c"), by="h2").marks[1]
    assert h2.x[0] == result.observed.pair_statistic.h2[0, result.observed.pairs.index(("a", "c"))]
    frame = result.to_frame().set_index(["feature_1", "feature_2"])
    assert frame.loc[("a", "b"), "p"] == pytest.approx(0.1)
    for wrong in ({"pair": ("a", "z")}, {"feature": "z"}, {"pair": ("a", "b"), "feature": "c"}):
        with pytest.raises(InputError):
            result.to_bqplot(**wrong)


def test_complexity_is_an_effect_and_its_segments():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"k": rng.uniform(-1, 1, 300), "s": rng.uniform(-1, 1, 300), "c": rng.choice(list("uvw"), 300)})
    result = Explainer(
        lambda Z: np.where(Z["k"] > 0, 5 * Z["k"], -3 * Z["k"]) + Z["s"] + 4.0 * (Z["c"] == "v"), X
    ).complexity()
    figure = result.to_bqplot(feature="k")
    effect, fitted = figure.marks
    assert "2 straight segments" in figure.title
    kink = np.where(effect.x > 0, 5 * effect.x, -3 * effect.x)
    np.testing.assert_allclose(effect.y - effect.y.mean(), kink - kink.mean(), atol=0.2)
    np.testing.assert_allclose(fitted.y, effect.y, atol=0.2)
    cut = result.approximations[0].starts[1]
    for part in (slice(0, cut), slice(cut, None)):
        np.testing.assert_allclose(np.diff(fitted.y[part], 2)[[0, -1]].sum(), 0, atol=0.05)
        line = np.polyval(np.polyfit(effect.x[part], effect.y[part], 1), effect.x[part])
        np.testing.assert_allclose(fitted.y[part], line, atol=0.05)
    levels, groups = result.to_bqplot(feature="c").marks
    assert levels.x.tolist()[-1] == "v"
    assert len(np.unique(groups.y.round(9))) == 2
    default = result.to_bqplot()
    assert default.axes[0].label == "k"
    bars = result.to_bqplot(what="features").marks[0]
    assert dict(zip(bars.x, bars.y, strict=True)) == {"k": 2, "s": 1, "c": 1}
    with pytest.raises(InputError, match="'kk'"):
        result.to_bqplot(feature="kk")


def test_trust_is_the_curve_dashed_where_few_rows_are():
    k = np.concatenate([np.repeat([0, 1, 2, 3], 30), [4, 5], np.repeat([6, 7], 30)])
    X = pd.DataFrame({"k": k, "z": np.linspace(0, 1, len(k)), "c": np.where(np.arange(len(k)) < 2, "rare", "often")})
    trust = Explainer(lambda Z: Z["k"] ** 2 + Z["z"] + 0.0, X).trust("k")
    solid, dashed = trust.to_bqplot().marks
    mean = X["z"]
    assert np.isnan(solid.y[[4, 5]]).all()
    np.testing.assert_allclose(np.delete(solid.y, [4, 5]), np.array([0, 1, 4, 9, 36, 49]) + mean.mean())
    np.testing.assert_allclose(dashed.y[3:7], np.array([9, 16, 25, 36]) + mean.mean())
    assert np.isnan(np.delete(dashed.y, [3, 4, 5, 6])).all()
    assert dashed.line_style == "dashed"
    assert "few rows" in trust.to_bqplot().title or trust.hints[0].kind != "thin"
    bars = trust.to_bqplot(what="association").marks[0]
    np.testing.assert_array_equal(bars.y, -np.sort(-trust.associations))
    outside = trust.to_bqplot(what="outside").marks[0]
    np.testing.assert_array_equal(outside.y, -np.sort(-trust.outside_shares))
    often, rare = Explainer(lambda Z: 0.0 + Z["k"], X).trust("c").to_bqplot().marks
    assert (often.x.tolist(), rare.x.tolist()) == (["often"], ["rare"])


def test_trust_of_a_pair_is_how_many_rows_each_cell_has():
    X = pd.DataFrame({"a": [0, 0, 1, 1, 2, 2, 2], "b": [0, 1, 0, 0, 1, 1, 1]})
    result = Explainer(lambda Z: 1.0 * Z["a"] + Z["b"], X).trust(("a", "b"))
    counts = result.to_bqplot().marks[0].color.T
    np.testing.assert_array_equal(counts, [[1, 1], [2, np.nan], [np.nan, 3]])
    assert np.isnan(counts).mean() == result.empty_cells == pytest.approx(1 / 3)
    np.testing.assert_array_equal(result.counts, pd.crosstab(X["a"], X["b"]))


def test_overlap_is_a_matrix_and_local_importance_bars(fitted):
    model, X, _ = fitted
    rules = model.ruleset_
    overlap = rules.overlap(X)
    figure = overlap.to_bqplot(top=4)
    cells = figure.marks[0]
    labels = [name.split(" ", 1)[1] for name in cells.row.tolist()]
    assert cells.column.tolist() == [str(k + 1) for k in range(len(labels))]
    masks = {term.label: overlap.masks[:, b] for b, term in enumerate(rules.terms[k] for k in overlap.positions)}
    for i, first in enumerate(labels):
        for j, second in enumerate(labels):
            a, b = masks[first], masks[second]
            expected = np.nan if i == j else (a & b).sum() / (a | b).sum()
            np.testing.assert_allclose(cells.color[j, i], expected)
    correlation = overlap.to_bqplot(by="correlation", top=4).marks[0]
    np.testing.assert_allclose(correlation.color[0, 1], np.corrcoef(masks[labels[0]], masks[labels[1]])[0, 1])
    assert correlation.scales["color"].mid == 0
    local = rules.local_importance(X)
    bars = local.to_bqplot().marks[0]
    means = local.features_frame().mean().sort_values(ascending=False)
    assert bars.x.tolist() == means.index.tolist()
    np.testing.assert_allclose(bars.y, means)
    one = local.to_bqplot(row=3, what="terms", top=5).marks[0]
    np.testing.assert_allclose(one.y, np.sort(local.values()[3])[::-1][:5])
    with pytest.raises(InputError, match="200 rows"):
        local.to_bqplot(row=200)


def test_a_surface_with_gaps_shows_them(numbers):
    result = numbers.partial_dependence(("x0", "x1"))
    average = result.average.copy()
    average[0, 1, 2] = np.nan
    cells = replace(result, average=average).to_bqplot().marks[0]
    assert cells.selected.tolist() == [[2, 1]]
    assert cells.selected_style["fill"] == "#d5d8dd"


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
    with pytest.raises(TypeError, match="DataFrame has no figure"):
        drawn_by_bqplot(explainer.to_frame())
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


# ---- next to nothing to draw -------------------------------------------------------------------


def sparse(n: int = 40) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "x": np.random.default_rng(0).normal(size=n).round(2),
            "c": np.resize(np.array(["u", "v"], dtype=object), n),
            "one": 1.0,
            "level": "only",
            "day": pd.Timestamp("2024-03-01"),
            "nothing": np.nan,
        }
    )


def sparse_predict(Z: pd.DataFrame) -> np.ndarray:
    return Z["x"].to_numpy() * (Z["c"] == "u").to_numpy() + Z["one"].to_numpy()


def test_surfaces_of_a_feature_with_one_value_have_one_row_of_cells():
    explainer = Explainer(sparse_predict, sparse())
    for pair in [("x", "level"), ("level", "x"), ("c", "one"), ("one", "day"), ("nothing", "x"), ("level", "nothing")]:
        dependence = explainer.partial_dependence(pair)
        mark = dependence.to_bqplot().marks[0]
        wide, high = (grid.size for grid in dependence.grids)
        # The same cell twice where there is one: in bqplot one row is no table.
        expected = np.broadcast_to(dependence.average[0].T, (max(high, 2) if high == 1 else high, wide))
        expected = np.repeat(expected, 2, axis=1) if wide == 1 else expected
        np.testing.assert_array_equal(mark.color, expected)
        assert len(mark.row) in (expected.shape[0], expected.shape[0] + 1)
        assert len(mark.column) in (expected.shape[1], expected.shape[1] + 1)
        drawn_by_bqplot(explainer.decompose(*pair))
        drawn_by_bqplot(explainer.trust(pair))
    np.testing.assert_array_equal(
        explainer.partial_dependence(("one", "level")).to_bqplot().marks[0].column, [0.5, 1, 1.5]
    )
    effects = explainer.ale(("x", "level"))
    np.testing.assert_array_equal(effects.to_bqplot().marks[0].color[0], effects.values[0, :, 0])


@pytest.mark.parametrize("feature", ["x", "c", "one", "level", "day", "nothing"])
def test_one_row_is_a_point(feature):
    result = Explainer(sparse_predict, sparse(1)).partial_dependence(feature)
    rows, curve = result.to_bqplot().marks
    assert type(curve).__name__ == type(rows).__name__ == "Scatter"
    assert curve.y.tolist() == rows.y.tolist() == result.average[0].tolist()
    scale = curve.scales["y"]
    assert scale.min < curve.y[0] < scale.max, "an axis without length has no ticks"
    assert curve.x.tolist() == (["missing"] if feature == "nothing" else result.grids[0].values.tolist())


def test_one_value_of_many_rows_is_a_point_per_row_and_a_whisker():
    result = Explainer(sparse_predict, sparse()).partial_dependence("one")
    rows, curve = result.to_bqplot().marks
    assert rows.x.tolist() == [1.0] * 40
    np.testing.assert_array_equal(np.sort(rows.y), np.sort(result.individual[0, :, 0]))
    assert curve.y.tolist() == result.average[0].tolist()
    growing = replace(result, stderr=np.array([[0.5]]))
    _, band, _ = growing.to_bqplot().marks
    assert band.x.tolist() == [1, 1]
    np.testing.assert_allclose(band.y, result.average[0, 0] + np.array([-0.5, 0.5]))


def test_interactions_of_one_row_say_why_there_is_no_figure():
    result = Explainer(sparse_predict, sparse(1)).interactions()
    for what in ("matrix", "pairs", "overall"):
        with pytest.raises(InputError, match=r"nothing to draw of interactions.*1 of 1 rows"):
            result.to_bqplot(what=what)
