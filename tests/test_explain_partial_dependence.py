"""Partial dependence and ICE against independent sources: scikit-learn, closed forms, brute force."""

from __future__ import annotations

import _thread
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.inspection import partial_dependence as sklearn_pd
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC, SVR

from pdp_widgets.explain import Explainer
from pdp_widgets.inputs import InputError, NotCachedError, PredictionError


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y), X, y


class Counting:
    """Counts the rows a model is asked to predict."""

    def __init__(self, model):
        self.model, self.rows = model, 0

    def predict(self, X):
        self.rows += len(X)
        return self.model.predict(X)


class Product:
    """f = x0 * x1 + x2, in plain numpy; sleeps to be slow when asked to."""

    def __init__(self, pause=0.0, per_row=0.0):
        self.pause, self.per_row = pause, per_row

    def predict(self, X):
        time.sleep(self.pause + self.per_row * len(X))
        return X[:, 0] * X[:, 1] + X[:, 2]


# ---- equal to scikit-learn -------------------------------------------------------------------


def regressors():
    X, y = make_friedman1(300, random_state=0)
    return [
        model.fit(X, y)
        for model in (
            LinearRegression(),
            SVR(),
            GradientBoostingRegressor(n_estimators=30),
            HistGradientBoostingRegressor(max_iter=30),
            RandomForestRegressor(20),
        )
    ], X


def test_equals_brute_force_of_scikit_learn():
    models, X = regressors()
    for weights in (None, np.random.default_rng(0).uniform(0.1, 3, len(X))):
        for model in models:
            explainer = Explainer(model, X, sample_weight=weights)
            for features in (0, 3, (0, 3)):
                result = explainer.partial_dependence(features)
                wanted = list(features) if isinstance(features, tuple) else [features]
                expected = sklearn_pd(
                    model,
                    X,
                    wanted,
                    custom_values=dict(zip(wanted, result.grid_values, strict=True)),
                    method="brute",
                    kind="both",
                    sample_weight=weights,
                )
                np.testing.assert_allclose(result.average, expected["average"], atol=1e-10)
                np.testing.assert_allclose(result.individual, expected["individual"], atol=1e-10)


def test_classifiers_equal_scikit_learn_on_every_scale():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:200, :6]
    for model, response, method in [
        (GradientBoostingClassifier(n_estimators=20), "auto", "predict_proba"),
        (GradientBoostingClassifier(n_estimators=20), "decision", "decision_function"),
        (SVC(), "auto", "decision_function"),
    ]:
        model.fit(X, y[:200])
        explainer = Explainer(model, X, response=response)
        result = explainer.partial_dependence("mean radius", output=explainer.default_output)
        expected = sklearn_pd(
            model,
            X,
            ["mean radius"],
            custom_values={"mean radius": result.grid_values[0]},
            method="brute",
            response_method=method,
        )
        np.testing.assert_allclose(result.average, expected["average"], atol=1e-10)


def test_linear_model_gives_straight_lines_with_the_coefficient_as_slope():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = LinearRegression().fit(X, y)
    for j, name in enumerate(X):
        slope = Explainer(model, X).partial_dependence(name).derivative()
        np.testing.assert_allclose(slope.average, model.coef_[j], rtol=1e-7)
        np.testing.assert_allclose(slope.variance, 0, atol=1e-8 * max(1, model.coef_[j] ** 2))


# ---- how it asks the model -------------------------------------------------------------------


def test_no_prediction_is_asked_for_twice(diabetes):
    model, X, _ = diabetes
    spy = Counting(model)
    explainer = Explainer(spy, X)
    explainer.partial_dependence("bmi")
    grid = explainer.grid("bmi")
    own = int((grid.own >= 0).sum())
    assert spy.rows == explainer.rows_asked
    assert spy.rows <= len(X) * grid.size + 4, "beside the first look at four rows"
    known = explainer.base().rows_done
    assert known >= own
    spy.rows = 0
    while not explainer.base().complete:
        explainer.base().advance()
    assert spy.rows == len(X) - known, "own values met on the grid are known already"
    spy.rows = 0
    explainer.partial_dependence("sex")
    assert spy.rows == len(X), "two levels, one of which is each row's own"
    spy.rows = 0
    explainer.partial_dependence("sex")
    explainer.partial_dependence("bmi", subgroup="sex > 0")
    explainer.partial_dependence("bmi", subgroup=np.arange(len(X)) < 50)
    assert spy.rows == 0, "cached curves answer every subgroup"


def test_subgroups_equal_a_fresh_run_on_those_rows(diabetes):
    model, X, _ = diabetes
    explainer = Explainer(model, X, nan_predictions="raise")
    query = "bmi > 0.01 & (s5 <= 0.02 | sex < 0)"
    mask = ((X["bmi"] > 0.01) & ((X["s5"] <= 0.02) | (X["sex"] < 0))).to_numpy()
    for features in ("bp", ("bp", "s5")):
        ours = explainer.partial_dependence(features, subgroup=query)
        wanted = [features] if isinstance(features, str) else list(features)
        expected = sklearn_pd(
            model, X[mask], wanted, custom_values=dict(zip(wanted, ours.grid_values, strict=True)), method="brute"
        )
        np.testing.assert_allclose(ours.average, expected["average"], atol=1e-10)
        assert ours.subgroup == query
        assert ours.rows_total == ours.n_rows_used == mask.sum()
        np.testing.assert_array_equal(ours.rows, np.flatnonzero(mask))
        np.testing.assert_array_equal(explainer.partial_dependence(features, subgroup=mask).average, ours.average)


@pytest.mark.parametrize(
    ("subgroup", "message"),
    [
        ("bmi > 99", "holds none"),
        ("bmj > 0", "did you mean 'bmi'"),
        (np.zeros(442, bool), "holds none"),
        (np.ones(3, bool), "has 3 rows"),
        ([1, 2], "boolean mask"),
    ],
)
def test_bad_subgroups_are_refused(diabetes, subgroup, message):
    model, X, _ = diabetes
    with pytest.raises(InputError, match=message):
        Explainer(model, X).partial_dependence("bmi", subgroup=subgroup)


def test_subgroup_without_cached_curves_asks_for_its_rows_only(diabetes):
    model, X, _ = diabetes
    spy = Counting(model)
    explainer = Explainer(spy, X, cache_bytes=1000)
    mask = np.arange(len(X)) < 40
    spy.rows = 0
    ours = explainer.partial_dependence("bp", subgroup=mask)
    assert 0 < spy.rows <= 40 * ours.grids[0].size
    full = Explainer(model, X).partial_dependence("bp", subgroup=mask)
    np.testing.assert_allclose(ours.average, full.average, atol=1e-12)
    with pytest.raises(NotCachedError, match="cache_bytes"):
        explainer.ice("bp").result(mask)


def test_kept_rows_are_there_even_when_not_all_fit(diabetes):
    model, X, _ = diabetes
    keep = np.array([3, 77, 200])
    ice = Explainer(model, X, cache_bytes=1000).ice("bp", keep=keep)
    while not ice.complete:
        ice.advance()
    full = Explainer(model, X).partial_dependence("bp")
    np.testing.assert_allclose(ice.curves(keep[::-1]), full.individual[:, keep[::-1]], atol=1e-12)
    with pytest.raises(NotCachedError):
        ice.curves(np.array([4]))


def test_the_cache_stays_within_its_limit():
    explainer = Explainer(Product(), np.random.default_rng(0).normal(size=(1000, 30)), cache_bytes=2**21)
    for j in range(30):
        explainer.partial_dependence(j)
    held = explainer._ices.nbytes
    assert 2**20 < held <= 2**21


# ---- convergence -----------------------------------------------------------------------------


def test_results_converge_to_the_exact_one_with_honest_errors():
    X = np.random.default_rng(0).normal(size=(4000, 3))
    final = Explainer(Product(), X).partial_dependence(0).average
    within = []
    for seed in range(12):
        explainer = Explainer(Product(per_row=5e-6), X, random_state=seed)
        results = list(explainer.iter_partial_dependence(0))
        assert len(results) > 3
        done = [r.rows_done for r in results]
        assert done == sorted(set(done))
        assert done[-1] == results[-1].rows_total == 4000
        assert (results[-1].stderr == 0).all()
        np.testing.assert_allclose(results[-1].average, final, atol=1e-12)
        first = results[0]
        assert (first.stderr > 0).all()
        assert first.individual.shape == (1, first.rows_done, 40)
        within.append(np.abs(first.average - final) / first.stderr)
    z = np.array(within)[:, 0, [0, 20, 39]]
    assert 0.3 < np.sqrt(np.mean(z**2)) < 2.0, "standard errors of about the right size"


def test_a_result_does_not_change_while_work_goes_on():
    explainer = Explainer(Product(per_row=5e-6), np.random.default_rng(0).normal(size=(3000, 3)))
    steps = explainer.iter_partial_dependence(0)
    first = next(steps)
    average, individual = first.average.copy(), first.individual.copy()
    for _ in steps:
        pass
    np.testing.assert_array_equal(first.average, average)
    np.testing.assert_array_equal(first.individual, individual)
    with pytest.raises(ValueError, match="read-only"):
        first.individual[:] = 0


def test_same_seed_same_numbers_and_global_state_untouched(diabetes):
    model, X, _ = diabetes
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b = (next(Explainer(model, X, random_state=3).iter_partial_dependence("bmi")) for _ in range(2))
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_background_sample(diabetes):
    model, X, _ = diabetes
    explainer = Explainer(model, X, background=100, random_state=1)
    assert (explainer.n_rows, explainer.n_rows_given) == (100, 442)
    result = explainer.partial_dependence("bmi")
    expected = Explainer(model, X.iloc[explainer.rows_given]).partial_dependence("bmi")
    np.testing.assert_allclose(result.average, expected.average, atol=1e-12)
    mask = X["bp"].to_numpy() > 0
    np.testing.assert_array_equal(
        explainer.partial_dependence("bmi", subgroup=mask).average,
        explainer.partial_dependence("bmi", subgroup="bp > 0").average,
    )


# ---- reading results -------------------------------------------------------------------------


def test_closed_forms_of_product():
    X = np.random.default_rng(0).normal(size=(500, 3))
    explainer = Explainer(Product(), X)
    result = explainer.partial_dependence(0)
    x = result.grid_values[0]
    np.testing.assert_allclose(result.average[0], x * X[:, 1].mean() + X[:, 2].mean())
    centred = result.centered()
    np.testing.assert_allclose(centred.individual[0], (x - x[0]) * X[:, [1]], atol=1e-12)
    np.testing.assert_allclose(centred.average[0], centred.individual[0].mean(axis=0), atol=1e-12)
    at_value = result.centered(x[7])
    np.testing.assert_allclose(at_value.individual[0, :, 7], 0, atol=1e-12)
    by_mean = result.centered("mean")
    np.testing.assert_allclose(by_mean.individual[0] @ result.density, 0, atol=1e-12)
    slope = result.derivative()
    np.testing.assert_allclose(slope.individual[0], np.broadcast_to(X[:, [1]], (500, len(x) - 1)), atol=1e-9)
    spread = np.sqrt(np.sum(result.density * (x - result.density @ x) ** 2))
    np.testing.assert_allclose(result.heterogeneity, X[:, 1].std() * spread)
    np.testing.assert_allclose(explainer.partial_dependence(2).heterogeneity, 0, atol=1e-7)
    np.testing.assert_allclose(result.importance, result.average[0].std(ddof=1))
    with pytest.raises(InputError, match="anchor"):
        result.centered("nowhere")


def test_pair_surface_of_product():
    X = np.random.default_rng(0).normal(size=(300, 3))
    result = Explainer(Product(), X).partial_dependence((0, 1), grid={0: [0.0, 1.0, 2.0], 1: [0.0, 3.0]})
    np.testing.assert_allclose(result.average[0] - X[:, 2].mean(), np.outer([0, 1, 2], [0, 3]), atol=1e-12)
    assert result.individual.shape == (1, 300, 3, 2)
    assert result.to_frame().shape == (6, 5)
    for bad in ((0, 0), (0, 1, 2), ("x0", "nope")):
        with pytest.raises(InputError):
            Explainer(Product(), X).partial_dependence(bad)


def test_a_pair_may_mix_kinds():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": np.array(["u", "v", None], object)[np.arange(90) % 3], "x": rng.normal(size=90)})
    effect = {"u": 1.0, "v": -1.0}
    result = Explainer(lambda Z: Z["c"].map(effect).fillna(0.0).to_numpy() * Z["x"].to_numpy(), X).partial_dependence(
        ("c", "x")
    )
    x = result.grid_values[1]
    np.testing.assert_allclose(result.average[0], np.array([x, -x, 0 * x]), atol=1e-12)
    assert result.grids[0].labels == ["u", "v", "missing"]


def test_frames_and_texts(diabetes):
    model, X, _ = diabetes
    result = Explainer(model, X).partial_dependence("bmi", subgroup="sex > 0")
    table = result.to_frame()
    assert list(table.columns) == ["output", "bmi", "average", "stderr", "n_nearest"]
    assert table["n_nearest"].sum() == result.n_rows_used
    np.testing.assert_array_equal(table["average"], result.average[0])
    assert "subgroup sex > 0" in repr(result) and f"{result.n_rows_used} of {result.n_rows_used} rows" in repr(result)
    assert "GradientBoostingRegressor" in repr(Explainer(model, X))
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.individual, result.individual)


# ---- executors, interrupts, threads ----------------------------------------------------------


def product_of(X):
    """Importable from worker processes."""
    return X[:, 0] * X[:, 1]


def executors():
    yield "threads", lambda: ThreadPoolExecutor(2)
    yield "loky", lambda: pytest.importorskip("loky").get_reusable_executor(2)


@pytest.mark.parametrize(("name", "make"), list(executors()))
def test_executors_give_the_same_numbers(diabetes, name, make):
    model, X, _ = diabetes
    expected = Explainer(model, X).partial_dependence("bmi")
    executor = make()
    try:
        explainer = Explainer(model, X, executor=executor)
        result = explainer.partial_dependence("bmi")
        np.testing.assert_allclose(result.average, expected.average, atol=1e-12)
        while not explainer.base().complete:
            explainer.base().advance()
        np.testing.assert_allclose(explainer.base().predictions[0], model.predict(X))
    finally:
        executor.shutdown()


@pytest.mark.filterwarnings("default")
def test_dask_executor_gives_the_same_numbers(diabetes):
    distributed = pytest.importorskip("distributed")
    model, X, _ = diabetes
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
    ) as cluster, distributed.Client(cluster) as client:  # fmt: skip
        result = Explainer(model, X, executor=client.get_executor()).partial_dependence("bmi")
    np.testing.assert_allclose(result.average, Explainer(model, X).partial_dependence("bmi").average, atol=1e-12)


def test_errors_travel_back_from_an_executor():
    def poison(X):
        if (X[:, 0] > 5).any():
            raise ValueError("too large")
        return X[:, 0]

    X = np.random.default_rng(0).normal(size=(50, 2))
    with ThreadPoolExecutor(2) as executor:
        explainer = Explainer(poison, X, executor=executor)
        with pytest.raises(PredictionError, match="too large"):
            explainer.partial_dependence(0, grid=[0.0, 9.0])
        assert explainer.partial_dependence(0, grid=[0.0, 1.0]).average[0].tolist() == [0, 1]
    with pytest.raises(InputError, match="get_executor"):
        Explainer(poison, X, executor="threads")


def test_interrupt_stops_between_chunks_and_work_resumes():
    X = np.random.default_rng(0).normal(size=(3000, 3))
    explainer = Explainer(Product(per_row=2e-5), X)
    explainer.partial_dependence(1, grid=[0.0])  # learns the pace
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        explainer.partial_dependence(0)
    assert time.perf_counter() - start < 2.0
    timer.join()
    done = explainer.ice(0).rows_done
    assert 0 < done < 3000, "what was computed stays"
    before = explainer.rows_asked
    result = explainer.partial_dependence(0)
    assert explainer.rows_asked - before <= (3000 - done) * 40
    expected = Explainer(Product(), X).partial_dependence(0)
    np.testing.assert_allclose(result.average, expected.average, atol=1e-12)


def test_two_threads_may_ask_at_once():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    inside = threading.Semaphore(1)

    class NotReentrant(Product):
        def predict(self, Z):
            assert inside.acquire(blocking=False), "two model calls at a time"
            try:
                return super().predict(Z)
            finally:
                inside.release()

    explainer = Explainer(NotReentrant(per_row=1e-6), X)
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(explainer.partial_dependence, [0, 0, 1]))
    for j, result in zip([0, 0, 1], results, strict=True):
        np.testing.assert_allclose(result.average, Explainer(Product(), X).partial_dependence(j).average, atol=1e-12)


def test_a_failing_chunk_loses_nothing():
    calls = {"n": 0}

    def flaky(X):
        calls["n"] += 1
        if calls["n"] == 4:
            raise OSError("connection lost")
        return X[:, 0] * X[:, 1]

    X = np.random.default_rng(0).normal(size=(2000, 2))
    explainer = Explainer(flaky, X)
    with pytest.raises(PredictionError, match="connection lost"):
        explainer.partial_dependence(0)
    result = explainer.partial_dependence(0)
    np.testing.assert_allclose(result.average[0], result.grid_values[0] * X[:, 1].mean(), atol=1e-12)


def test_slow_calls_show_a_bar_and_fast_ones_do_not(capsys):
    X = np.random.default_rng(0).normal(size=(400, 3))
    Explainer(Product(), X).partial_dependence(0)
    assert capsys.readouterr().err == ""
    Explainer(Product(pause=0.4), X).partial_dependence(0)
    assert "row" in capsys.readouterr().err
    Explainer(Product(pause=0.4), X).partial_dependence(0, progress=False)
    assert capsys.readouterr().err == ""


def test_explain_needs_no_jupyter():
    code = (
        "import sys, pdp_widgets.explain; "
        "assert not {'ipywidgets', 'anywidget', 'bqplot', 'IPython'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_names_load_neither_sklearn_nor_scipy():
    """They take a second and come with the model, if at all."""
    code = (
        "import sys; from pdp_widgets import Explainer, PDPWidget; "
        "loaded = {'sklearn', 'scipy', 'numba', 'bqplot', 'matplotlib'} & set(sys.modules); assert not loaded, loaded; "
        "import numpy as np; Explainer(lambda X: X[:, 0], np.eye(3)).partial_dependence('x0'); "
        "assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
