"""What interactions amount to by chance, and Greenwell's measure."""

import json

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY
from scipy.stats import ks_2samp
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from pdp_widgets import Explainer
from pdp_widgets.explain import null as bootstrap
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
    assert null.strength.shape == (1, 12, 6)
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


@pytest.mark.parametrize(
    "model",
    [GradientBoostingClassifier(n_estimators=20), HistGradientBoostingClassifier(max_iter=20), LogisticRegression()],
    ids=lambda model: type(model).__name__,
)
def test_a_classifier_s_twin_has_no_interaction_in_its_log_odds(model):
    X, y = data(4)
    twin = additive_twin(model).fit(X, y > 0.5)
    assert Explainer(twin, X, response="decision").interactions().total_h2[0] < 1e-12


def test_where_there_is_no_twin_a_sentence_says_what_to_look_at():
    X, y = data(1)
    for model in (RandomForestRegressor(3).fit(X, y), SVR().fit(X, y)):
        with pytest.raises(InputError, match=r"has no additive twin.*standard errors"):
            Explainer(model, X, y).interaction_null()
    with pytest.raises(InputError, match=r"has no additive twin.*standard errors"):
        Explainer(RandomForestClassifier(3).fit(X, y > 0), X, y > 0).interaction_null()
    with pytest.raises(InputError, match="needs the observed outcome"):
        Explainer(LinearRegression().fit(X, y), X).interaction_null()


# ---- classes, and several outputs ---------------------------------------------------------------


def classes(strength, n=160, cuts=(0.5,)):
    """Return columns and the classes that a sum with a product comes to, drawn with logistic noise."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(n, 3)), columns=list("abc"))
    score = 2 * X["a"] + 3 * X["b"] ** 2 + strength * X["a"] * X["c"] + rng.logistic(size=n) / 2
    return X, np.digitize(score, cuts)


@pytest.mark.parametrize(("cuts", "response"), [((0.5,), "decision"), ((0, 1.5), "probability"), ((0.5,), "logit")])
def test_a_planted_pair_of_classes_is_beyond_chance(cuts, response):
    for strength in (8, 0):
        X, y = classes(strength, 240, cuts)
        model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
        null = Explainer(model, X, y, response=response).interaction_null(repeats=12, rows=80)
        assert null.strength.shape == (len(null.outputs), 12, 3)
        for output in null.outputs:
            table = null.output(output).to_frame()
            observed = Explainer(model, X, response=response).interactions(rows=80, output=output).to_frame()
            np.testing.assert_allclose(table.strength, observed.strength)
            if strength and output != "1" * (len(null.outputs) == 3):  # the middle class is seen least
                assert set(table.loc[0, ["feature_1", "feature_2"]]) == {"a", "c"}
                assert table.beyond[0]
            elif not strength:
                assert (table.strength < 2 * table.strength_95).all()
        assert len(null.to_frame()) == 3 * len(null.outputs)
        assert len(null.overall) == 3 * len(null.outputs)


def recording(base):
    """Return a learner of the same name that keeps the outcomes it is fitted to, in a list of its class."""

    def fit(self, X, y):
        type(self).seen.append((self.get_params(), np.asarray(y)))
        return base.fit(self, X, y)

    return type(base.__name__, (base,), {"fit": fit, "seen": []})


def test_classes_are_drawn_with_the_probabilities_of_the_twin():
    X, y = classes(4, 60, (0, 1.5))
    names = np.array(["low", "medium", "high"])[y]
    learner = recording(GradientBoostingClassifier)
    model = learner(n_estimators=15, random_state=0).fit(X, names)
    learner.seen.clear()
    Explainer(model, X, names).interaction_null(["a", "b"], repeats=150, rows=5)
    (twin_params, fitted), *drawn = learner.seen
    assert twin_params["max_depth"] == 1
    np.testing.assert_array_equal(fitted, names)
    assert len(drawn) == 150
    assert all(params["max_depth"] == 3 for params, _ in drawn)
    stumps = GradientBoostingClassifier(n_estimators=15, random_state=0, max_depth=1).fit(X, names)
    expected = stumps.predict_proba(X)
    shares = np.mean([outcome[:, None] == stumps.classes_ for _, outcome in drawn], axis=0)
    z = (shares - expected) / np.sqrt(expected * (1 - expected) / 150)
    assert np.abs(z).max() < 4.5  # 180 numbers
    assert np.std(z) == pytest.approx(1, abs=0.15)


def test_residuals_of_several_outputs_are_shuffled_together():
    X, y = data(4, 60)
    both = np.column_stack([y, X["d"] * X["b"]])
    learner = recording(LinearRegression)
    model = learner().fit(X, both)
    learner.seen.clear()
    null = Explainer(model, X, both).interaction_null(["a", "b"], repeats=3, rows=20)
    assert null.strength.shape == (2, 3, 1)
    assert (null.strength == 0).all()
    assert not null.to_frame().beyond.any()
    (_, fitted), *made = learner.seen
    np.testing.assert_array_equal(fitted, both)
    additive = LinearRegression().fit(X, both).predict(X)
    residuals = both - additive
    for _, outcome in made:
        shuffled = outcome - additive
        order = [int(np.abs(residuals - row).sum(axis=1).argmin()) for row in shuffled]
        assert sorted(order) == list(range(60))
        np.testing.assert_allclose(shuffled, residuals[order], atol=1e-12)
    trees = MultiOutputRegressor(GradientBoostingRegressor(n_estimators=5, random_state=0)).fit(X, both)
    found = Explainer(trees, X, both, output_names=["x", "y"]).interaction_null(["a", "c"], repeats=2, rows=20)
    assert found.output("y").strength.tolist() == found.strength[1:].tolist()


def test_the_null_distribution_of_a_classifier_against_plain_loops():
    """The whole bootstrap again: other random numbers, scikit-learn's own calls, H by the definition."""
    X, y = classes(0, 50)
    X = X[["a", "b"]]
    learner = GradientBoostingClassifier(n_estimators=15, random_state=0)
    model = clone(learner).fit(X, y)
    ours = Explainer(model, X, y, output=1).interaction_null(repeats=60, rows=None).output(1).strength[0, :, 0]
    probability = clone(learner).set_params(max_depth=1).fit(X, y).predict_proba(X)[:, 1]
    rng = np.random.default_rng(99)
    theirs = []
    while len(theirs) < 60:
        drawn = (rng.random(50) < probability).astype(int)
        refitted = clone(learner).fit(X, drawn)
        crossed = pd.DataFrame(
            {"a": np.repeat(X["a"].to_numpy(), 50), "b": np.tile(X["b"].to_numpy(), 50)}
        )  # row i, column r: a of row i and b of row r
        f = refitted.predict_proba(crossed)[:, 1].reshape(50, 50)
        apart = np.diag(f) - f.mean(axis=1) - f.mean(axis=0)
        theirs.append(apart.std())
    assert ks_2samp(ours, theirs).pvalue > 0.01
    assert ours.mean() == pytest.approx(np.mean(theirs), abs=4 * np.std(theirs) / np.sqrt(30))
    assert min(ours) > 0  # additive log-odds are no additive probabilities


def test_logistic_regression_has_no_interaction_on_its_own_scale():
    X, y = classes(4)
    model = LogisticRegression().fit(X, y)
    table = Explainer(model, X, y, response="decision").interaction_null(repeats=3, rows=50).to_frame()
    assert (table[["strength", "strength_95"]] == 0).all(axis=None)
    probability = Explainer(model, X, y).interaction_null(repeats=5, rows=50, output=1).to_frame()
    assert (probability.strength_95 > 0).all()
    assert probability["output"].unique().tolist() == ["1"]


@pytest.mark.parametrize("library", ["xgboost.XGBClassifier", "lightgbm.LGBMClassifier", "catboost.CatBoostClassifier"])
def test_classifiers_of_other_libraries(library):
    module, name = library.split(".")
    learner = getattr(pytest.importorskip(module), name)
    options = {
        "XGBClassifier": {},
        "LGBMClassifier": {"verbose": -1},
        "CatBoostClassifier": {"verbose": 0, "allow_writing_files": False},
    }[name]
    X, y = classes(8, 200)
    model = learner(n_estimators=20, **options).fit(X, y)
    additive = additive_twin(model).fit(X, y)
    assert Explainer(additive, X, response="logit").interactions(rows=50).total_h2.max() < 1e-8
    null = Explainer(model, X, y).interaction_null(repeats=4, rows=50)
    assert null.output(1).to_frame().loc[0, "beyond"]


def test_outcomes_that_are_no_classes_of_the_model(monkeypatch):
    X, y = classes(1)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match=r"y does not hold the model's classes \[0, 1\].*\[0, 2\]"):
        Explainer(model, X, y + 1).interaction_null()
    holes = np.where(y == 1, 1.0, np.nan)
    with pytest.raises(InputError, match="missing values"):
        Explainer(model, X, holes).interaction_null()
    with pytest.raises(InputError, match="output 'z'"):
        Explainer(model, X, y).interaction_null(output="z")
    rare = (np.arange(160) < 2).astype(int)
    model = LogisticRegression().fit(X, rare)
    assert Explainer(model, X, rare).interaction_null(repeats=5, rows=10).strength.shape == (2, 5, 3)  # drawn again
    monkeypatch.setattr(bootstrap, "_DRAWS", 0)
    with pytest.raises(InputError, match="lack a class: 1 is too rare"):
        Explainer(model, X, rare).interaction_null()


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
