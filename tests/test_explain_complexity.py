"""Model complexity: closed forms, and the fewest segments by trying all."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from pdp_widgets import Explainer
from pdp_widgets.explain.complexity import compare_complexity
from pdp_widgets.explain.segments import R2, _losses
from pdp_widgets.inputs import InputError

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.uniform(-1, 1, 400), "b": RNG.uniform(-1, 1, 400), "c": RNG.choice(list("xyz"), 400)})


def test_a_linear_model_is_as_simple_as_can_be():
    found = Explainer(lambda X: 2 * X["a"] - X["b"], X).complexity()
    assert (found.features_used, found.main_effect_complexity) == (2, 1.0)
    assert found.interaction_strength == pytest.approx(0, abs=1e-12)
    table = found.per_feature.set_index("feature")
    assert table["used"].to_dict() == {"a": True, "b": True, "c": False}
    assert table["segments"].to_dict() == {"a": 1, "b": 1, "c": 0}
    assert table["variance"]["a"] == pytest.approx(np.var(2 * X["a"]), rel=0.01)


def test_a_pure_product_is_all_interaction():
    found = Explainer(lambda X: X["a"] * X["b"], X).complexity()
    assert found.interaction_strength > 0.9
    assert Explainer(lambda X: X["a"] + X["a"] * X["b"], X).complexity().interaction_strength == pytest.approx(
        0.25, abs=0.05
    )


@pytest.mark.parametrize(
    ("effect", "segments"),
    [
        (lambda X: np.abs(X["a"]), 2),
        (lambda X: 1.0 * (X["a"] > 0.2), 2),
        (lambda X: (X["c"] == "y") * 1.0, 1),
        (lambda X: X["c"].map({"x": 0.0, "y": 5.0, "z": 11.0}), 2),
        (lambda X: 0 * X["a"] + 3, 0),
    ],
    ids=["kink", "step", "two groups of levels", "three groups", "constant"],
)
def test_the_number_of_segments(effect, segments):
    found = Explainer(effect, X).complexity()
    assert found.per_feature["segments"].max() == segments
    assert found.main_effect_complexity == pytest.approx(segments)


def test_more_bends_take_more_segments():
    bends = [
        Explainer(lambda X, k=k: np.sin(k * np.pi * X["a"]), X).complexity().main_effect_complexity for k in (1, 2, 3)
    ]
    assert bends[0] < bends[1] < bends[2]


def test_segments_are_the_fewest_by_trying_all():
    """Dynamic programming against every way to cut nine points, with lines from numpy's own least squares."""
    x, y, mass = np.sort(RNG.normal(size=9)), RNG.normal(size=9), RNG.uniform(0.5, 2, 9)

    def line(i, j):
        part = slice(i, j + 1)
        design = np.column_stack([np.ones(j + 1 - i), x[part]]) * np.sqrt(mass[part])[:, None]
        rest = np.linalg.lstsq(design, y[part] * np.sqrt(mass[part]), rcond=None)[0]
        return float(np.square(design @ rest - y[part] * np.sqrt(mass[part])).sum())

    losses = _losses(x, y, mass, slope=True)
    for i in range(9):
        for j in range(i, 9):
            assert losses[i, j] == pytest.approx(line(i, j), abs=1e-9)
        assert np.isinf(losses[i, :i]).all()
    best = losses[0].copy()
    for count in range(2, 5):
        best = np.minimum(best, (best[:-1, None] + losses[1:]).min(axis=0))
        tried = []
        for cuts in combinations(range(1, 9), count - 1):
            ends = [0, *cuts, 9]
            tried.append(sum(line(a, b - 1) for a, b in pairwise(ends)))
        assert best[-1] == pytest.approx(min(tried), abs=1e-9)


def test_models_side_by_side_and_a_subgroup():
    y = X["a"] ** 2 + X["b"] + (X["c"] == "x") * X["a"]
    numbers = X[["a", "b"]]
    models = {
        "linear": Explainer(LinearRegression().fit(numbers, y), numbers),
        "boosted": Explainer(GradientBoostingRegressor(random_state=0).fit(numbers, y), numbers),
    }
    table = compare_complexity(models)
    assert list(table.index) == ["linear", "boosted"]
    assert table.loc["linear", "main_effect_complexity"] == 1
    assert table.loc["boosted", "main_effect_complexity"] > 1
    assert table.loc["boosted", "interaction_strength"] > table.loc["linear", "interaction_strength"]
    fitted = [one.model for one in models.values()]
    for given, rows in ((list(models.values()), None), (fitted, numbers), ([models["linear"], fitted[1]], numbers)):
        listed = compare_complexity(given, rows)
        assert listed.index.tolist() == ["LinearRegression", "GradientBoostingRegressor"]
        np.testing.assert_array_equal(listed.to_numpy(), table.to_numpy())
    named = compare_complexity(dict(zip("xy", fitted, strict=True)), numbers, bins=10, subgroup="a > 0")
    alone = Explainer(fitted[1], numbers).complexity(bins=10, subgroup="a > 0")
    assert named.loc["y", "interaction_strength"] == alone.interaction_strength
    weights = RNG.random(400)
    weighted = compare_complexity(fitted, numbers, sample_weight=weights).interaction_strength
    assert weighted.iloc[1] == Explainer(fitted[1], numbers, sample_weight=weights).complexity().interaction_strength
    other = Explainer(LinearRegression().fit(numbers[["a"]], y), numbers[["a"]])  # a model of fewer columns
    assert compare_complexity([models["linear"], other]).features_used.tolist() == [2, 1]
    with pytest.raises(InputError, match="X is None, but 'LinearRegression' is no Explainer"):
        compare_complexity(fitted)
    with pytest.raises(InputError, match="expected two or more models"):
        compare_complexity(fitted[:1], numbers)
    with pytest.raises(TypeError, match=r"compare_complexity\(\) got .* 'sample_weigth'; did you mean 'sample_weight'"):
        compare_complexity(fitted, numbers, sample_weigth=weights)
    assert repr(models["linear"].complexity()).startswith("<Complexity of prediction 'prediction': 2 features used")
    part = models["linear"].complexity(subgroup="a > 0")
    assert part.n_rows == int((X["a"] > 0).sum())
    assert R2 == 0.95
