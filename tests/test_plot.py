"""Results drawn with matplotlib: the artists hold the numbers of the result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.container import ErrorbarContainer  # noqa: E402

from pdp_widgets import Explainer, RuleFitRegressor  # noqa: E402
from pdp_widgets.inputs import InputError  # noqa: E402

N = 60


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def explainer():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": np.where(np.arange(N) % 9 == 0, np.nan, rng.normal(size=N)),
            "c": np.array(["u", "v", "w"])[np.arange(N) % 3],
            "d": pd.date_range("2024-01-01", periods=N),
            "z": rng.normal(size=N),
        }
    )

    def predict(Z):
        return np.nan_to_num(Z["x"].to_numpy(), nan=4.0) * (Z["c"] == "u").to_numpy() + Z["z"].to_numpy()

    return Explainer(predict, X, predict(X))


def line(ax, label):
    return next(one for one in ax.lines if one.get_label() == label)


def test_curves_their_rows_and_the_missing_level(explainer):
    result = explainer.partial_dependence("x")
    ax = result.plot(ice=25)
    average = line(ax, "average")
    np.testing.assert_array_equal(average.get_xdata(), result.grid_values[0][:-1])
    np.testing.assert_array_equal(average.get_ydata(), result.average[0, :-1])
    assert set(line(ax, "missing").get_ydata()) == {result.average[0, -1]}
    assert len(ax.lines) == 25 + 2
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("x", "prediction", "x (60 of 60 rows)")


def test_it_draws_into_given_axes_and_returns_them(explainer):
    figure, axes = plt.subplots(1, 2)
    assert explainer.partial_dependence("z").plot(axes[1]) is axes[1]
    assert not axes[0].lines
    assert plt.get_fignums() == [figure.number]


def test_a_band_is_one_standard_error_high():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    first = next(Explainer(lambda Z: Z[:, 0] * Z[:, 1], X).iter_partial_dependence(0))
    (band,) = first.plot(ice=False).collections
    corners = band.get_paths()[0].vertices
    for x, y, error in zip(first.grid_values[0], first.average[0], first.stderr[0], strict=True):
        at = corners[np.isclose(corners[:, 0], x), 1]
        np.testing.assert_allclose([at.min(), at.max()], [y - error, y + error])


def test_categories_and_dates(explainer):
    result = explainer.partial_dependence("c")
    ax = result.plot(ice=False)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["u", "v", "w"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), result.average[0])
    dates = explainer.partial_dependence("d").plot(ice=False).lines[0].get_xdata()
    assert np.asarray(dates).dtype.kind == "M"


def test_groups_are_named_and_told_apart(explainer):
    result = explainer.by_group("z", "c")
    ax = result.plot()
    names = ["c u (n = 20)", "c v (n = 20)", "c w (n = 20)"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == names
    for name, average in zip(names, result.average[:, 0], strict=True):
        np.testing.assert_array_equal(line(ax, name).get_ydata(), average)
    assert len({to_hex(one.get_color()) for one in ax.lines}) == 3


def test_surfaces(explainer):
    result = explainer.partial_dependence(("z", "c"))
    ax = result.plot()
    (mesh,) = ax.collections
    np.testing.assert_array_equal(mesh.get_array().reshape(3, -1), result.average[0].T)
    corners = mesh.get_coordinates()
    between = (result.grid_values[0][1:] + result.grid_values[0][:-1]) / 2
    np.testing.assert_allclose(corners[0, 1:-1, 0], between)
    np.testing.assert_allclose(corners[:, 0, 1], [-0.5, 0.5, 1.5, 2.5])
    parts = explainer.decompose("z", "c")
    (mesh,) = parts.plot().collections
    assert mesh.norm.vmin == -mesh.norm.vmax
    dates = explainer.partial_dependence(("z", "d")).plot()
    assert dates.get_ylabel() == "d"


def test_a_matrix_of_interactions(explainer):
    result = explainer.interactions(["x", "c", "z"])
    ax = result.plot()
    pairs, own = ax.collections
    matrix = pairs.get_array().reshape(3, 3)
    assert matrix.mask.diagonal().all()
    strength = result.to_frame().set_index(["feature_1", "feature_2"])["strength"]
    assert matrix[0, 1] == matrix[1, 0] == strength.get(("x", "c"), strength.get(("c", "x")))
    np.testing.assert_array_equal(own.get_array().reshape(3, 3).diagonal(), result.main_strength[0])
    assert ax.yaxis_inverted()


def test_bars_with_whiskers(explainer):
    result = explainer.importance(["x", "c", "z"])
    ax = result.plot(by="permutation")
    order = np.argsort(-result.permutation[0])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [result.features[j] for j in order]
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], result.permutation[0, order])
    whiskers = next(one for one in ax.containers if isinstance(one, ErrorbarContainer))
    ends = [segment[:, 0] for segment in whiskers.lines[2][0].get_segments()]
    np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * result.permutation_stderr[0, order])
    assert ax.yaxis_inverted(), "the first one is on top"


def test_rules(explainer):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(size=150), "b": rng.uniform(size=150)})
    y = 3.0 * (X["a"] > 0.5) - 2.0 * (X["b"] > 0.7)
    rules = RuleFitRegressor(max_rules=30, random_state=0).fit(X, y).ruleset_
    ax = rules.plot(by="coefficient", top=3)
    coefficients = rules.coefficients[0]
    expected = coefficients[np.argsort(-np.abs(coefficients), kind="stable")][:3]
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], expected)
    colours = {to_hex(bar.get_facecolor()) for bar in ax.patches if bar.get_width() < 0}
    assert colours.isdisjoint({to_hex(bar.get_facecolor()) for bar in ax.patches if bar.get_width() > 0})


@pytest.mark.parametrize("name", ["ale", "observed", "regions", "interaction", "suggestions"])
def test_the_other_results_are_drawn_and_saved(explainer, name, tmp_path):
    result = {
        "ale": lambda: explainer.ale("z"),
        "observed": lambda: explainer.observed("z"),
        "regions": lambda: explainer.regions("x"),
        "interaction": lambda: explainer.interaction("x", "c"),
        "suggestions": lambda: explainer.suggestions(),
    }[name]()
    ax = result.plot()
    assert ax.has_data()
    ax.figure.savefig(tmp_path / "figure.pdf")


def test_matplotlib_is_imported_when_something_is_drawn_and_said_when_it_is_not_there():
    code = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
import pdp_widgets.plot
from pdp_widgets import Explainer
result = Explainer(lambda X: X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
try:
    result.plot()
except ImportError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent
    )
    assert 'pip install "pdp_widgets[plot]"' in found.stdout
    assert "to_bqplot()" in found.stdout


def test_a_histogram_has_upright_lines():
    from pdp_widgets.figures import Histogram
    from pdp_widgets.plot import _histogram

    _, ax = plt.subplots()
    _histogram(
        Histogram("strength", np.array([0.0, 1.0, 2.0]), np.array([3, 1]), "models", "t", (("seen", 1.5, "red"),)), ax
    )
    (bars,) = ax.patches
    assert bars.get_data().values.tolist() == [3, 1]
    assert set(line(ax, "seen").get_xdata()) == {1.5}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("strength", "models")


def test_next_to_nothing_is_drawn_as_far_as_there_is_something():
    X = pd.DataFrame({"x": [1.0, 2.0, 4.0], "one": 7.0, "nothing": np.nan})
    explainer = Explainer(lambda Z: Z["x"].to_numpy() + Z["one"].to_numpy(), X)
    for pair in [("one", "nothing"), ("nothing", "x")]:
        surface = explainer.partial_dependence(pair)
        axes = surface.plot()
        np.testing.assert_allclose(axes.collections[0].get_array().ravel(), surface.average[0].ravel())
        assert "missing" in [label.get_text() for label in axes.get_xticklabels() + axes.get_yticklabels()]
    point = next(
        made for made in explainer.partial_dependence("one").plot().containers if isinstance(made, ErrorbarContainer)
    )
    np.testing.assert_allclose(point.lines[0].get_xydata(), [[7.0, 7 + 7 / 3]])
    with pytest.raises(InputError, match="nothing to draw of interactions"):
        Explainer(lambda Z: Z["x"].to_numpy(), X[:1]).interactions().plot()
