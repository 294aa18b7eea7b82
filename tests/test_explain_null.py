"""What interactions amount to by chance, and Greenwell's measure."""

import json

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from pdp_widgets import Explainer
from pdp_widgets.explain.null import additive_twin
from pdp_widgets.inputs import InputError

ORACLES = REPOSITORY.parent / "shared" / "oracles" / "interaction.json"


def data(strength, n=160):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(n, 4)), columns=list("abcd"))
    return X, (X["a"] + 2 * X["b"] ** 2 + strength * X["a"] * X["c"] + 0.3 * rng.normal(size=n)).to_numpy()


def test_a_planted_pair_is_beyond_chance_and_the_others_are_not():
    X, y = data(4)
    model = GradientBoostingRegressor(n_estimators=40, random_state=0).fit(X, y)
    null = Explainer(model, X, y).interaction_null(repeats=12, rows=100)
    table = null.to_frame()
    assert set(table.loc[0, ["feature_1", "feature_2"]]) == {"a", "c"}
    assert table.beyond[0]
    assert table.strength[0] > 2 * table.strength_95[0]
    assert (table.strength[1:] < 2 * table.strength_95[1:]).all()
    assert null.strength.shape == (12, 6)
    overall = null.overall.set_index("feature")
    assert overall.beyond["a"]
    assert overall.beyond["c"]
    assert not overall.beyond["d"]
    observed = Explainer(model, X, y).interactions(rows=100).to_frame()
    np.testing.assert_allclose(np.sort(observed.strength), np.sort(table.strength))


def test_of_additive_data_nothing_is_beyond_chance_though_the_model_interacts():
    X, y = data(0)
    model = GradientBoostingRegressor(n_estimators=40, random_state=0).fit(X, y)
    table = Explainer(model, X, y).interaction_null(repeats=12, rows=100).to_frame()
    assert (table.strength > 0.01).any()
    # Six pairs against a rough 95 % point: one may be beyond it by chance.
    assert table["beyond"].sum() <= 1
    assert table.strength.max() < 2 * table.strength_95.max()


def test_numbers_do_not_depend_on_the_run():
    X, y = data(1, 80)
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    first, second = (Explainer(model, X, y).interaction_null(["a", "c"], repeats=3).strength for _ in range(2))
    np.testing.assert_allclose(first, second, rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=30),
        HistGradientBoostingRegressor(max_iter=30),
        make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=30)),
        LinearRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_twin_has_no_interaction_and_the_learner_is_untouched(model):
    X, y = data(4)
    before = str(model.get_params())
    twin = additive_twin(model).fit(X, y)
    assert str(model.get_params()) == before
    assert Explainer(twin, X).interactions().total_h2[0] < 1e-12


def test_where_there_is_no_twin_a_sentence_says_what_to_look_at():
    X, y = data(1)
    for model in (RandomForestRegressor(3).fit(X, y), SVR().fit(X, y)):
        with pytest.raises(InputError, match=r"has no additive twin.*standard errors"):
            Explainer(model, X, y).interaction_null()
    with pytest.raises(InputError, match=r"classifier.*standard errors"):
        Explainer(GradientBoostingClassifier(n_estimators=2).fit(X, y > 0), X, y > 0, output=1).interaction_null()
    with pytest.raises(InputError, match="needs the observed outcome"):
        Explainer(LinearRegression().fit(X, y), X).interaction_null()


def expression(text):
    return lambda X: eval(text, {"np": np}, {name: X[name].to_numpy() for name in X})


def test_greenwell_s_measure_of_the_reference_numbers():
    if not ORACLES.exists():
        pytest.skip(f"no reference numbers at {ORACLES}")
    compared = 0
    for case in json.loads(ORACLES.read_text())["cases"]:
        for name, expected in case["expect"].items():
            if name.startswith("greenwell_pair:"):
                X = pd.DataFrame({column: np.array(v, dtype=float) for column, v in case["columns"].items()})
                pair = name.split(":")[1].split(" ")[0].split(",")
                assert Explainer(expression(case["f"]), X).greenwell(*pair)["greenwell"][0] == pytest.approx(
                    expected, abs=1e-6
                )
                compared += 1
    assert compared >= 2


def test_greenwell_s_measure_by_hand_with_a_category():
    X = pd.DataFrame({"n": [0.0, 1.0, 3.0] * 2, "c": ["u"] * 3 + ["v"] * 3})
    found = Explainer(lambda X: X["n"] * np.where(X["c"] == "v", 2.0, 1.0), X).greenwell("n", "c").loc[0]
    spread = np.std([0, 1, 3], ddof=1)
    along_c = (2 * spread - spread) / 4  # a category's spread is a quarter of its range
    along_n = np.std(np.array([0, 1, 3]) / 4, ddof=1)
    assert found["importance of n along c"] == pytest.approx(along_c)
    assert found["importance of c along n"] == pytest.approx(along_n)
    assert found["greenwell"] == pytest.approx((along_c + along_n) / 2)
