"""Which way the explainer takes, exact sums over trees or model calls: the same numbers, the reason in words, nobody waits."""

import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pdp_widgets import Explainer
from pdp_widgets.explain import method as way
from pdp_widgets.inputs import InputError, PredictionError
from pdp_widgets.trees.loading import loader
from pdp_widgets.trees.sums import TreeSums

pytest.importorskip("numba", reason="exact sums over trees need numba")

RNG = np.random.default_rng(0)
N = 700
X = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.integers(0, 6, N),
        "c": RNG.choice(["red", "green", "blue"], N),
        "d": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
    }
)
Y = X["a"] * (X["b"] > 2) + (X["c"] == "red") * X["d"].fillna(2) + RNG.normal(size=N) / 10
NUMBERS = X[["a", "b"]]


@pytest.fixture(autouse=True, scope="module")
def _compiled():
    loader.start()
    assert loader.wait(120)


@pytest.fixture(scope="module")
def pipeline():
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["c"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["a", "d"]),
        remainder="passthrough",
    )
    return make_pipeline(columns, RandomForestRegressor(15, random_state=0)).fit(X, Y)


@pytest.fixture(scope="module")
def boosted():
    return GradientBoostingRegressor(n_estimators=30, random_state=0).fit(NUMBERS, Y)


def agree(model, frame, feature, **options):
    """Assert that both ways give the same numbers; return the exact explainer."""
    exact, asked = (Explainer(model, frame, method=wish, **options) for wish in ("trees", "model"))
    for subgroup in (None, frame.iloc[:, 0] > frame.iloc[:, 0].median()):
        ours, theirs = (e.partial_dependence(feature, subgroup=subgroup) for e in (exact, asked))
        assert ours.method == "exact sums over trees"
        assert theirs.method == "model calls"
        scale = np.abs(theirs.individual).max()
        np.testing.assert_allclose(ours.individual, theirs.individual, rtol=0, atol=1e-10 * scale)
        np.testing.assert_allclose(ours.average, theirs.average, rtol=0, atol=1e-10 * scale)
        assert ours.rows_done == theirs.rows_done
    assert exact.rows_asked <= 1000 < asked.rows_asked
    return exact


@pytest.mark.parametrize("feature", ["a", "b", "c", "d", ("a", "c"), ("d", "b")])
def test_a_pipeline_that_keeps_columns_apart_takes_the_exact_way(pipeline, feature):
    exact = agree(pipeline, X, feature)
    assert exact.method == "trees: exact sums over the 15 trees of RandomForestRegressor"


def test_weights_outputs_and_scales(boosted):
    agree(boosted, NUMBERS, "a", sample_weight=RNG.random(N))
    three = np.digitize(Y, [-0.5, 0.5])
    agree(RandomForestClassifier(10, random_state=0).fit(NUMBERS, three), NUMBERS, "b")
    two = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(NUMBERS, Y > 0)
    for response in ("probability", "decision"):
        agree(two, NUMBERS, "a", response=response)


def test_probabilities_stay_probabilities_and_log_odds_are_the_models_own():
    sure = RandomForestClassifier(7, random_state=0).fit(NUMBERS, NUMBERS["a"] > 0)
    curves = Explainer(sure, NUMBERS, method="trees").partial_dependence("b").individual
    assert curves.min() >= 0
    assert curves.max() <= 1
    explainer = Explainer(sure, NUMBERS, response="logit")
    assert explainer.partial_dependence("a").method == "model calls"
    assert "magnify rounding" in explainer.method


def test_of_a_response_that_is_not_linear_the_responses_are_averaged():
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(NUMBERS, Y > 0)
    explained = Explainer(model, NUMBERS, method="trees").partial_dependence("a")
    decision = Explainer(model, NUMBERS, method="trees", response="decision").partial_dependence("a")
    link_of_average = 1 / (1 + np.exp(-decision.average[0]))
    np.testing.assert_allclose(explained.average[1], explained.individual[1].mean(axis=0), atol=1e-12)
    assert np.abs(explained.average[1] - link_of_average).max() > 1e-3


def test_missing_values_and_categories_of_histogram_boosting():
    frame = X.assign(c=X["c"].astype("category"))
    model = HistGradientBoostingRegressor(max_iter=15, categorical_features="from_dtype").fit(frame, Y)
    for feature in ("c", "d", ("c", "d")):
        agree(model, frame, feature)


def test_a_grid_of_ones_own_in_any_order(boosted):
    points = [2.0, -1.0, 2.0, 0.25, 100.0, -100.0]
    for wish in ("trees", "model"):
        result = Explainer(boosted, NUMBERS, method=wish).partial_dependence("a", grid=points)
        by_hand = [boosted.predict(NUMBERS.assign(a=point)).mean() for point in points]
        np.testing.assert_allclose(result.average[0], by_hand, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LinearRegression().fit(NUMBERS, Y), "LinearRegression is not a sum of trees"),
        (AdaBoostRegressor(n_estimators=3).fit(NUMBERS, Y), "median"),
        (make_pipeline(PCA(), RandomForestRegressor(3)).fit(NUMBERS, Y), "PCA mixes columns"),
        (lambda frame: frame["a"], "function"),
    ],
    ids=["no trees", "median", "mixed columns", "function"],
)
def test_other_models_are_asked_and_the_reason_is_said(model, reason):
    explainer = Explainer(model, NUMBERS)
    result = explainer.partial_dependence("a")
    assert result.method == "model calls"
    assert explainer.method.startswith("model calls: ")
    assert reason in explainer.method
    with pytest.raises(InputError, match=reason):
        Explainer(model, NUMBERS, method="trees").partial_dependence("a")


def test_class_labels_are_votes(boosted):
    model = RandomForestClassifier(5, random_state=0).fit(NUMBERS, Y > 0)
    explainer = Explainer(model, NUMBERS, response="predict")
    assert explainer.partial_dependence("a").method == "model calls"
    assert "votes" in explainer.method
    assert Explainer(boosted, NUMBERS, method="model").method == "model calls: asked for"
    with pytest.raises(InputError, match=r"method 'tree' .* did you mean 'trees'"):
        Explainer(boosted, NUMBERS, method="tree")


def test_a_reading_that_is_wrong_is_noticed_once_and_not_used(boosted, monkeypatch):
    right = TreeSums.predict

    def wrong(self, rows):
        return right(self, rows) + (rows == rows.max()) * 1e-7 * np.abs(right(self, rows)).max()

    monkeypatch.setattr(TreeSums, "predict", wrong)
    explainer = Explainer(boosted, NUMBERS)
    with pytest.warns(UserWarning, match="asked instead") as caught:
        result = explainer.partial_dependence("a")
    assert len(caught) == 1
    assert result.method == "model calls"
    assert "1 of 700 rows differ" in explainer.method
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explainer.partial_dependence("b")


def test_a_model_that_predicts_no_number_is_not_taken_for_its_trees(monkeypatch):
    model = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(NUMBERS, Y)
    source = Explainer(model, NUMBERS, nan_predictions="omit")._source
    run = source.evaluator.run

    def infinite(block, n_rows):
        values, seconds = run(block, n_rows)
        return np.where(np.arange(n_rows) == n_rows - 1, np.inf, values), seconds

    source.evaluator.run = infinite
    with pytest.warns(UserWarning, match="numbers for other rows"), source.lock:
        assert source.method.sums() is None


def test_the_text_tells_what_will_be_done_before_anything_is_computed(boosted):
    assert Explainer(boosted, NUMBERS).method == "trees: exact sums over the 30 trees of GradientBoostingRegressor"
    started = GradientBoostingRegressor(n_estimators=2, init=RandomForestRegressor(2)).fit(NUMBERS, Y)
    assert "not a constant" in Explainer(started, NUMBERS).method


def test_a_grid_that_the_preprocessing_refuses_goes_to_the_model(pipeline):
    explainer = Explainer(pipeline, X)
    assert explainer.partial_dependence("c").method == "exact sums over trees"
    with pytest.raises(PredictionError, match="purple"):  # the model's own complaint, not one about trees
        explainer.partial_dependence("c", grid=["red", "purple"])
    with pytest.raises(InputError, match="method='trees' cannot serve"):
        Explainer(pipeline, X, method="trees").partial_dependence("c", grid=["red", "purple"])


class Slowly:
    """Stands for the loader of the compiled loops, which is ready when a test says so."""

    state = "loading"
    reason = ""

    def start(self):
        pass


def test_model_calls_serve_until_the_loops_are_compiled(boosted, monkeypatch):
    monkeypatch.setattr(way, "loader", Slowly())
    explainer = Explainer(boosted, NUMBERS)
    growing = explainer.iter_partial_dependence("a")
    first = next(growing)
    assert first.method == "model calls"
    assert 0 < first.rows_done < N
    assert "until" in explainer.method
    way.loader.state = "ready"
    *_, last = growing
    assert last.method == "model calls, then exact sums over trees"
    expected = Explainer(boosted, NUMBERS, method="model").partial_dependence("a")
    np.testing.assert_allclose(last.individual, expected.individual, atol=1e-12)
    assert explainer.partial_dependence("b").method == "exact sums over trees"


def test_without_numba_the_reason_names_the_extra(boosted, monkeypatch):
    absent = type(loader)()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(way, "loader", absent)
    explainer = Explainer(boosted, NUMBERS)
    assert explainer.partial_dependence("a").method == "model calls"
    assert (
        explainer.method
        == "model calls: exact sums over trees need numba, which is not installed (the extra pdp_widgets[trees])"
    )


def test_a_slow_model_is_checked_on_few_rows(boosted):
    explainer = Explainer(boosted, NUMBERS)
    source = explainer._source
    evaluate, asked = source.evaluator.run, []

    def slowly(block, n_rows):
        asked.append(n_rows)
        time.sleep(0.005 * n_rows)
        values, seconds = evaluate(block, n_rows)
        return values, seconds + 0.005 * n_rows

    source.evaluator.run = slowly
    assert explainer.partial_dependence("a").method == "exact sums over trees"
    assert sum(asked) < 300


def test_an_interrupted_computation_goes_on(boosted, monkeypatch):
    explainer = Explainer(boosted, NUMBERS, method="trees")
    right = TreeSums.ice
    calls = []

    def interrupted(self, rows, grids):
        if len(grids):
            calls.append(len(rows))
            if len(calls) == 2:
                raise KeyboardInterrupt
        return right(self, rows, grids)

    monkeypatch.setattr(TreeSums, "ice", interrupted)
    with pytest.raises(KeyboardInterrupt):
        explainer.partial_dependence("a")
    result = explainer.partial_dependence("a")
    assert result.complete
    assert sum(calls) == N + calls[1]
    expected = Explainer(boosted, NUMBERS, method="model").partial_dependence("a")
    np.testing.assert_allclose(result.average, expected.average, atol=1e-12)


def test_an_executor_is_for_model_calls(boosted):
    with ThreadPoolExecutor(2) as executor:
        result = Explainer(boosted, NUMBERS, executor=executor, method="trees").partial_dependence("a")
    assert result.method == "exact sums over trees"


def test_steps_hold_the_whole_step_function(boosted):
    explainer = Explainer(boosted, NUMBERS, method="trees")
    result = explainer.partial_dependence("a", grid="steps")
    points = result.grid_values[0]
    assert 40 < len(points) < 200
    observed = np.sort(NUMBERS["a"].unique())
    at = np.searchsorted(points, observed, side="right") - 1
    everywhere = Explainer(boosted, NUMBERS, method="model").partial_dependence("a", grid=observed)
    np.testing.assert_allclose(result.average[0][at], everywhere.average[0], atol=1e-12)
    # No two neighbouring points are on the same step, but for the last one, which closes the axis.
    changes = np.abs(np.diff(result.individual[0], axis=1)).max(axis=0)
    assert (changes[:-1] > 0).all()
    pair = explainer.partial_dependence(("b", "a"), grid="steps")
    assert pair.average.shape == (1, len(pair.grid_values[0]), len(points))


def test_steps_need_trees_and_have_a_limit():
    with pytest.raises(InputError, match=r"grid='steps' needs the exact sums over trees.*not a sum of trees"):
        Explainer(LinearRegression().fit(NUMBERS, Y), NUMBERS).partial_dependence("a", grid="steps")
    many = RandomForestRegressor(10, random_state=0).fit(NUMBERS, Y)
    with pytest.raises(InputError, match=r"'a' has \d+ steps"):
        Explainer(many, NUMBERS).partial_dependence("a", grid="steps")


def test_the_widget_takes_the_exact_way(boosted):
    from pdp_widgets import PDPWidget

    widget = PDPWidget(boosted, NUMBERS)
    widget._repr_mimebundle_()
    try:
        assert widget._controller.wait(60)
        assert widget.explainer.method.startswith("trees: ")
        assert widget.explainer.rows_asked <= N + 4
        assert all(widget.explainer.ice(name).complete for name in NUMBERS)
    finally:
        widget.close()


FORKING = """
import os, sys
import numpy as np
from sklearn.tree import DecisionTreeRegressor
from pdp_widgets import Explainer

X = np.arange(20.0).reshape(10, 2)
model = DecisionTreeRegressor().fit(X, X[:, 0])
Explainer(model, X)  # begins to compile
child = os.fork()
done = Explainer(model, X, method="trees").partial_dependence(0, progress=False).method
if child == 0:
    os._exit(7 if done == "exact sums over trees" else 1)
sys.exit(0 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 else 1)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_is_forked_while_the_loops_are_compiled_does_not_hang(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    assert subprocess.run([sys.executable, "-c", FORKING], env=environment, timeout=120, check=False).returncode == 0


def families():
    """One model of each family that is read, on numbers."""
    from sklearn import ensemble, tree

    regressors = [
        tree.DecisionTreeRegressor(max_depth=6), tree.ExtraTreeRegressor(max_depth=6),
        ensemble.RandomForestRegressor(8), ensemble.ExtraTreesRegressor(8), ensemble.BaggingRegressor(n_estimators=6),
        ensemble.GradientBoostingRegressor(n_estimators=15), ensemble.HistGradientBoostingRegressor(max_iter=15),
        ensemble.HistGradientBoostingRegressor(max_iter=15, loss="poisson"),
    ]  # fmt: skip
    classifiers = [
        tree.DecisionTreeClassifier(max_depth=6), tree.ExtraTreeClassifier(max_depth=6),
        ensemble.RandomForestClassifier(8), ensemble.ExtraTreesClassifier(8),
        ensemble.BaggingClassifier(n_estimators=6), ensemble.AdaBoostClassifier(n_estimators=8),
        ensemble.GradientBoostingClassifier(n_estimators=8), ensemble.HistGradientBoostingClassifier(max_iter=8),
    ]  # fmt: skip
    named = {type(model).__name__: (model, False) for model in classifiers}
    named |= {type(model).__name__ + str(getattr(model, "loss", "")): (model, False) for model in regressors}
    named["IsolationForest"] = (ensemble.IsolationForest(n_estimators=8), False)
    options = {"n_estimators": 12, "n_jobs": 1}
    for library, kinds, single, more in (
        ("xgboost", ("XGBRegressor", "XGBClassifier"), True, options),
        ("lightgbm", ("LGBMRegressor", "LGBMClassifier"), False, options | {"verbose": -1}),
        ("catboost", ("CatBoostRegressor", "CatBoostClassifier"), False,
         {"iterations": 12, "verbose": False, "allow_writing_files": False, "thread_count": 1}),
    ):  # fmt: skip
        for kind in kinds:
            named[kind] = (lambda library=library, kind=kind, more=more: (library, kind, more), single)
    return [pytest.param(model, single, id=name) for name, (model, single) in named.items()]


@pytest.mark.parametrize(("model", "single"), families())
def test_every_family_gives_the_curves_that_its_model_gives(model, single):
    """ICE and averages of each family against brute force by the model itself, at observed values, ties and beyond."""
    if callable(model):
        library, kind, options = model()
        model = getattr(pytest.importorskip(library), kind)(**options)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    classes = hasattr(model, "predict_proba")
    target = np.digitize(Y, [-0.5, 0.5]) if classes else np.exp(Y / 4)
    model.fit(NUMBERS, target)
    way = {"response": "decision"} if type(model).__name__ == "IsolationForest" else {}
    exact, asked = (Explainer(model, NUMBERS, method=wish, **way) for wish in ("trees", "model"))
    for feature in ("a", "b", ("a", "b")):
        given = {"grid": [-9.0, *NUMBERS["a"].iloc[:40], 9.0]} if feature == "a" else {}
        ours, theirs = (explainer.partial_dependence(feature, **given) for explainer in (exact, asked))
        assert ours.method == "exact sums over trees"
        close = {"rtol": 0, "atol": (1e-5 if single else 1e-10) * np.abs(theirs.individual).max()}
        np.testing.assert_allclose(ours.individual, theirs.individual, **close)
        np.testing.assert_allclose(ours.average, theirs.average, **close)


def all_results(explainer):
    """Return what every door of an explainer gives, by the name of the door."""
    from pdp_widgets import compare

    return {
        "partial_dependence": explainer.partial_dependence("x0"),
        "ale": explainer.ale("x0"),
        "by_group": explainer.by_group("x0", "x1", levels=2),
        "observed": explainer.observed("x0"),
        "trust": explainer.trust("x0"),
        "trust of a pair": explainer.trust(("x0", "x1")),
        "importance": explainer.importance(rows=20),
        "regions": explainer.regions("x0"),
        "suggestions": explainer.suggestions(["x0", "x1"]),
        "interactions": explainer.interactions(rows=20),
        "interaction": explainer.interaction("x0", "x1", rows=20),
        "interaction_null": explainer.interaction_null(repeats=1, rows=10),
        "interaction_network": explainer.interaction_network(rows=20),
        "decompose": explainer.decompose("x0", "x1"),
        "complexity": explainer.complexity(),
        "compare": compare([explainer, explainer], None, "x0"),
    }


def test_every_result_says_how_its_numbers_were_obtained():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["x0", "x1", "x2"])
    y = (X["x0"] * X["x1"]).to_numpy()
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y)
    asked = all_results(Explainer(model, X, y, method="model"))
    assert all(result.method.startswith("model calls") for result in asked.values())
    summed = all_results(Explainer(model, X, y, method="trees"))
    always_asked = {"ale", "observed", "complexity"}
    for name, result in summed.items():
        assert result.method.startswith("model calls" if name in always_asked else "exact sums over trees"), name
    assert summed["importance"].method == "exact sums over trees; permutation importance: model calls"
    for name in ("interactions", "interaction", "interaction_network", "importance"):
        assert asked[name].method == "model calls"


def test_every_result_gives_one_output_of_several():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["x0", "x1", "x2"])
    y = np.digitize(X["x0"] * X["x1"], [-0.3, 0.3])
    names = np.array(["low", "middle", "high"])[y]
    model = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, names)
    explainer = Explainer(model, X, names, sample_weight=np.arange(1, 61), output="low")
    for name, result in all_results(explainer).items():
        if name in ("suggestions", "interaction_network", "complexity"):  # of one output
            continue
        if name != "regions":
            assert result.outputs == ("high", "low", "middle"), name
        one = result.output("low")
        assert one.outputs == ("low",)
        pd.testing.assert_frame_equal(one.output("low").to_frame(), one.to_frame())
        frame = result.to_frame()
        if "output" in frame:
            expected = frame[frame["output"] == "low"].reset_index(drop=True)
            pd.testing.assert_frame_equal(one.to_frame().reset_index(drop=True), expected)
        with pytest.raises(InputError, match="output 'medium' is not an output of the model"):
            result.output("medium")
