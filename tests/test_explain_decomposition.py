"""Decomposition of a joint effect: the textbook's house prices, and parts that add up to it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from pdp_widgets import Explainer
from pdp_widgets.inputs import InputError

HOUSES = pd.DataFrame({"location": ["good", "good", "bad", "bad"], "size": ["big", "small", "big", "small"]})
RNG = np.random.default_rng(0)


def price(both):
    """The book's two tables: with and without 100,000 for a big house in a good location."""

    def predict(X):
        good, big = (X["location"] == "good").to_numpy(), (X["size"] == "big").to_numpy()
        return 150_000 + 50_000.0 * good + 100_000 * big + both * (good & big)

    return predict


@pytest.mark.parametrize("both", [0, 100_000])
def test_house_prices_counted_from_a_small_house_in_a_bad_location(both):
    reference = {"location": "bad", "size": "small"}
    parts = Explainer(price(both), HOUSES).decompose("location", "size", reference=reference)
    assert parts.constant.tolist() == [150_000]
    table = parts.to_frame().set_index(["location", "size"])
    assert table["effect of location"].loc["good"].tolist() == [50_000, 50_000]
    assert table["effect of size"].loc[:, "big"].tolist() == [100_000, 100_000]
    assert table["interaction"].loc["good", "big"] == both
    assert table["interaction"].drop(("good", "big")).tolist() == [0, 0, 0]
    assert table["joint"].loc["good", "big"] == 300_000 + both
    assert "counted from ('bad', 'small')" in repr(parts)


def test_centred_parts_are_the_partial_dependence_functions():
    X = pd.DataFrame({"a": RNG.normal(size=90), "b": RNG.integers(0, 4, 90), "c": RNG.normal(size=90)})
    model = GradientBoostingRegressor(n_estimators=25, random_state=0).fit(X, X["a"] * X["b"] + X["c"])
    weights = RNG.random(90)
    explainer = Explainer(model, X, sample_weight=weights)
    for subgroup in (None, "c > 0"):
        parts = explainer.decompose("a", "b", subgroup=subgroup)
        kept = np.ones(90, dtype=bool) if subgroup is None else (X["c"] > 0).to_numpy()
        mean = np.average(model.predict(X)[kept], weights=weights[kept])
        assert parts.constant[0] == pytest.approx(mean)
        u, w = parts.grid_values

        def average(u, kept=kept, **moved):
            return np.average(model.predict(X.assign(**moved))[kept], weights=weights[kept])

        first = [average(None, a=value) - mean for value in u]
        second = [average(None, b=value) - mean for value in w]
        joint = [[average(None, a=x, b=y) for y in w] for x in u]
        np.testing.assert_allclose(parts.first[0], first, atol=1e-10)
        np.testing.assert_allclose(parts.second[0], second, atol=1e-10)
        np.testing.assert_allclose(parts.joint[0], joint, atol=1e-10)
        expected = np.array(joint) - np.array(first)[:, None] - np.array(second) - mean
        np.testing.assert_allclose(parts.interaction[0], expected, atol=1e-10)
    frame = parts.to_frame()
    np.testing.assert_allclose(
        frame[["constant", "effect of a", "effect of b", "interaction"]].sum(axis=1), frame["joint"]
    )


def test_a_product_is_pure_interaction_and_a_sum_has_none():
    X = pd.DataFrame({"a": np.repeat([-1.0, 1.0], 2), "b": np.tile([-1.0, 1.0], 2)})
    product = Explainer(lambda X: X["a"] * X["b"], X).decompose("a", "b")
    assert np.abs(product.first).max() == np.abs(product.second).max() == product.constant[0] == 0
    assert product.interaction[0].tolist() == [[1, -1], [-1, 1]]
    added = Explainer(lambda X: X["a"] + 3 * X["b"] + 7, X).decompose("a", "b")
    np.testing.assert_allclose(added.interaction, 0, atol=1e-12)
    two = Explainer(lambda X: np.column_stack([X["a"], X["b"]]), X, output_names=["a", "b"]).decompose("a", "b")
    assert two.output("b").first.tolist() == [[0, 0]]
    assert set(two.to_frame()["output"]) == {"a", "b"}


def test_what_cannot_be_read_says_why():
    explainer = Explainer(price(0), HOUSES)
    with pytest.raises(InputError, match="'huge' is no grid value of 'size'; these are 'big', 'small'"):
        explainer.decompose("location", "size", reference={"location": "bad", "size": "huge"})
    with pytest.raises(InputError, match="expected 'first', or a mapping with a grid value of 'size'"):
        explainer.decompose("location", "size", reference={"location": "bad"})
    with pytest.raises(InputError, match="two different features"):
        explainer.decompose("location", "location")
