"""Importance against closed forms, brute force, reference numbers and scikit-learn."""

from __future__ import annotations

import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.svm import SVC

from pdp_widgets.explain import Explainer
from pdp_widgets.explain import permutation as shuffling
from pdp_widgets.explain.importance import ImportanceCost, importance, importance_rows, iter_importance
from pdp_widgets.explain.importance_result import MEASURES
from pdp_widgets.inputs import InputError, PredictionError

ORACLES = Path(__file__).resolve().parents[2] / "shared" / "oracles" / "interaction.json"
MAIN = ("pd_importance", "pd_importance_weighted", "heterogeneity", "heterogeneity_share", "pdi")


def table(found, output=None):
    frame = (found if output is None else found.output(output)).to_frame()
    assert frame["output"].nunique() == 1
    return frame.set_index("feature")


def frame_of(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n).round(1),
            "b": rng.integers(0, 4, n),
            "c": rng.choice(["x", "y", "z"], n),
            "d": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(1)),
            "e": np.full(n, 3.5),
        }
    )


def predict(X):
    """A response with interactions, a category, missing values and a feature without any role."""
    d = X["d"].fillna(-2).to_numpy()
    c = X["c"].map({"x": 0.0, "y": 1.0, "z": 4.0}).to_numpy()
    a = X["a"].to_numpy()
    return np.sin(a) * (1 + X["b"].to_numpy()) + c * d + c + 0.5 * a


# ---- by the definition -----------------------------------------------------------------------


def moved(X, columns, values):
    out = X.copy()
    for column, value in zip(columns, values, strict=True):
        out[column] = np.full(len(X), value, dtype=X[column].to_numpy().dtype)
    return out


def by_definition(f, X, feature, kind, weights=None, columns=None):
    """Return the measures of partial dependence as they are defined, in plain loops over rows of X."""
    columns = columns or [feature]
    n = len(X)
    w = np.ones(n) / n if weights is None else np.asarray(weights, float) / np.sum(weights)
    live = w > 0
    X, w = X[live].reset_index(drop=True), w[live]
    n = len(X)
    rows = [tuple(X[c].iloc[i] for c in columns) for i in range(n)]
    M = np.array([f(moved(X, columns, row)) for row in rows])  # M[i, r]: row r with the values of row i
    own = M @ w  # partial dependence at the rows' own values
    rest = w @ M
    F = f(X)
    centre = lambda v: v - w @ v  # noqa: E731
    denominator = w @ centre(F) ** 2
    gone = np.array([any(pd.isna(v) for v in row) for row in rows])
    keys = [row if not g else None for row, g in zip(rows, gone, strict=True)]
    unique = {key: pd_value for key, pd_value in zip(keys, own, strict=True) if key is not None}
    values = np.array(list(unique.values()))
    spread = 0.0 if len(values) < 2 else (np.ptp(values) / 4 if kind == "category" else values.std(ddof=1))
    return {
        "pd_importance": spread,
        "pd_importance_weighted": np.sqrt(w @ centre(own) ** 2),
        "pdi": 0.0 if denominator == 0 else (w @ (centre(F) - centre(rest)) ** 2) / denominator,
    }


KINDS = {"a": "number", "b": "number", "c": "category", "d": "number", "e": "number"}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("subgroup", [None, "a > 0"])
def test_equals_the_definition(weighted, subgroup):
    X = frame_of()
    before = X.copy()
    rng = np.random.default_rng(3)
    weights = rng.choice([0.0, 1.0, 2.5], len(X)) if weighted else None
    explainer = Explainer(predict, X, sample_weight=weights)
    found = importance(explainer, subgroup=subgroup)
    part = np.ones(len(X), bool) if subgroup is None else (X["a"] > 0).to_numpy()
    got = table(found)
    for name, kind in KINDS.items():
        own = X[part].reset_index(drop=True)
        expected = by_definition(predict, own, name, kind, None if weights is None else weights[part])
        for measure, value in expected.items():
            assert got.loc[name, measure] == pytest.approx(value, abs=1e-10), (name, measure)
        curves = explainer.partial_dependence(name, subgroup=subgroup)
        assert got.loc[name, "heterogeneity"] == pytest.approx(curves.heterogeneity[0], abs=1e-12)
    pd.testing.assert_frame_equal(X, before)
    assert (got.loc["e", list(MAIN)] == 0).all()
    assert found.complete
    assert len(found.rows) == part.sum() == found.pdi_rows


def test_on_a_sample_only_pdi_is_an_estimate():
    X = frame_of(300)
    explainer = Explainer(predict, X)
    whole, sampled = table(importance(explainer, rows=None)), table(importance(explainer, rows=120))
    for measure in MAIN[:-1]:
        np.testing.assert_allclose(sampled[measure], whole[measure], rtol=0, atol=1e-10)
    part = explainer.row_order[:120]
    for name, kind in KINDS.items():
        expected = by_definition(predict, X.iloc[part].reset_index(drop=True), name, kind)["pdi"]
        assert sampled.loc[name, "pdi"] == pytest.approx(expected, abs=1e-10)
    gap = (sampled["pdi"] - whole["pdi"]).abs()
    assert (gap <= 4 * sampled["pdi_stderr"] + 1e-12).all()
    assert gap.max() > 0


def test_pdi_stderr_is_that_of_a_sample():
    rng = np.random.default_rng(0)
    drawn, said = [], []
    for _ in range(150):
        X = rng.normal(size=(120, 2))
        found = table(importance(Explainer(lambda X: X[:, 0] * (1 + X[:, 1]), X), ["x1"], max_values=2))
        drawn.append(found["pdi"].iloc[0])
        said.append(found["pdi_stderr"].iloc[0])
    assert np.mean(said) == pytest.approx(np.std(drawn), rel=0.3)


# ---- reference numbers and closed forms ------------------------------------------------------


def oracles():
    if not ORACLES.is_file():
        return [pytest.param(None, "", 0.0, marks=pytest.mark.skip(reason=f"no reference numbers in {ORACLES}"))]
    cases = json.loads(ORACLES.read_text())["cases"]
    return [
        pytest.param(case, name, value, id=f"{case['id']} {name}")
        for case in cases
        for name, value in case["expect"].items()
        if name.startswith(("pdi:", "pd_importance:"))
    ] or [pytest.param(None, "", 0.0, marks=pytest.mark.skip(reason="none of them is an importance"))]


@pytest.mark.parametrize(("case", "name", "value"), oracles())
def test_reference_numbers(case, name, value):
    X = pd.DataFrame(case["columns"]).astype(float)

    def f(rows):
        return eval(case["f"], {"np": np, **{c: rows[c].to_numpy() for c in rows}}) + np.zeros(len(rows))

    measure, _, feature = name.split(" ")[0].partition(":")
    found = table(importance(Explainer(f, X, sample_weight=case.get("weights"))))
    assert found.loc[feature, measure] == pytest.approx(value, abs=1e-6, rel=1e-9)


def lattice(*levels):
    return np.array(list(itertools.product(*levels)), dtype=float)


def test_closed_forms_of_a_product():
    # f = x1 x2 of mean 3 and variance 2 each: var f = 11 * 11 - 81 = 40, and f - 3 x2 = (x1 - 3) x2 has variance 2 * 11 = 22.
    five = table(importance(Explainer(lambda X: X[:, 0] * X[:, 1], lattice(range(1, 6), range(1, 6)))))
    assert five["pdi"].tolist() == pytest.approx([0.55, 0.55], abs=1e-12)
    three = table(importance(Explainer(lambda X: X[:, 0] * X[:, 1], lattice(range(1, 4), range(1, 4)))))
    assert three["pd_importance"].tolist() == pytest.approx([2.0, 2.0], abs=1e-12)
    triple = table(importance(Explainer(lambda X: X.prod(axis=1), lattice((0, 1), (0, 1), (0, 1)))))
    assert triple["pdi"].tolist() == pytest.approx([4 / 7] * 3, abs=1e-12)


def test_linear_model():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = LinearRegression().fit(X, y)
    found = table(importance(Explainer(model, X, y)))
    variance = np.var(model.predict(X))
    for slope, name in zip(model.coef_, X, strict=True):
        row = found.loc[name]
        assert row["pd_importance"] == pytest.approx(abs(slope) * np.unique(X[name]).std(ddof=1), rel=1e-9)
        assert row["pd_importance_weighted"] == pytest.approx(abs(slope) * X[name].std(ddof=0), rel=1e-9)
        assert row["pdi"] == pytest.approx(slope**2 * X[name].var(ddof=0) / variance, rel=1e-9)
        assert row["heterogeneity"] == row["heterogeneity_share"] == 0


def test_main_effects_are_blind_to_a_crossing():
    found = table(importance(Explainer(lambda X: (X[:, 0] != X[:, 1]) * 1.0, lattice((0, 1), (0, 1)))))
    assert (found["pd_importance"] == 0).all()
    assert (found["pd_importance_weighted"] == 0).all()
    assert found["pdi"].tolist() == [1.0, 1.0]
    assert found["heterogeneity"].tolist() == [0.5, 0.5]
    assert found["heterogeneity_share"].tolist() == [1.0, 1.0]


def test_share_of_heterogeneity_is_a_share():
    # f = x1 + 2 x1 x2 on {-1, 1}^2: of x1's mean square 1 + 4, four parts are disagreement.
    found = table(importance(Explainer(lambda X: X[:, 0] + 2 * X[:, 0] * X[:, 1], lattice((-1, 1), (-1, 1)))))
    assert found["heterogeneity"].tolist() == pytest.approx([2.0, 2.0])
    assert found["heterogeneity_share"].tolist() == pytest.approx([0.8, 1.0])


@pytest.mark.parametrize("dtype", [object, "category", bool])
def test_categories_are_a_quarter_of_the_range(dtype):
    levels = [False, True, True, False] if dtype is bool else ["p", "q", "r", "q"]
    effect = {False: 0.0, True: 5.0, "p": 1.0, "q": 9.0, "r": 2.0}
    X = pd.DataFrame({"c": pd.Series(levels, dtype=dtype), "x": [1.0, 2.0, 3.0, 4.0]})
    found = table(importance(Explainer(lambda X: X["c"].astype(object).map(effect).to_numpy(float) + X["x"], X)))
    values = [effect[level] for level in levels]
    assert found.loc["c", "pd_importance"] == (max(values) - min(values)) / 4
    assert found.loc["c", "pd_importance_weighted"] == pytest.approx(np.std(values))


def test_missing_values_are_a_level_for_the_rows_and_none_for_the_spread():
    X = pd.DataFrame({"x": [0.0, 1.0, np.nan, np.nan], "c": ["u", None, "v", "v"], "z": [1.0, 2.0, 3.0, 4.0]})

    def f(X):
        return X["x"].fillna(10.0).to_numpy() + X["c"].map({"u": 0.0, "v": 4.0}).fillna(20.0).to_numpy()

    found = table(importance(Explainer(f, X)))
    assert found.loc["x", "pd_importance"] == pytest.approx(np.std([0, 1], ddof=1))
    assert found.loc["x", "pd_importance_weighted"] == pytest.approx(np.std([0, 1, 10, 10]))
    assert found.loc["c", "pd_importance"] == 1.0
    assert found.loc["c", "pd_importance_weighted"] == pytest.approx(np.std([0, 20, 4, 4]))
    assert "2 rows without one" in found.loc["x", "basis"]
    F = f(X)
    assert found.loc["x", "pdi"] == pytest.approx(np.var([0, 1, 10, 10]) / np.var(F))


def test_infinite_values_are_left_out_of_the_spread():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, np.inf], "z": [1.0, 2.0, 3.0, 5.0]})
    found = table(importance(Explainer(lambda X: np.minimum(X["x"], 50.0) + X["z"], X)))
    assert found.loc["x", "pd_importance"] == pytest.approx(1.0)
    assert found.loc["x", "pd_importance_weighted"] == pytest.approx(np.std([0, 1, 2]))
    assert found.loc["x", "pdi"] == pytest.approx(np.var([0, 1, 2, 50]) / np.var([1, 3, 5, 55]))
    assert "1 rows with infinite ones left out" in found.loc["x", "basis"]


def test_dates():
    X = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=30), "z": np.arange(30.0)[::-1]})
    found = table(importance(Explainer(lambda X: (X["when"] - pd.Timestamp("2024-01-01")).dt.days * 2.0 + X["z"], X)))
    assert found.loc["when", "pd_importance"] == pytest.approx(2 * np.arange(30).std(ddof=1))


def test_weights_are_repeated_rows():
    X = frame_of(25)
    times = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = table(importance(Explainer(predict, X, sample_weight=times)))
    repeated = table(importance(Explainer(predict, X.loc[X.index.repeat(times)].reset_index(drop=True))))
    for measure in MAIN:
        np.testing.assert_allclose(weighted[measure], repeated[measure], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_few_rows(n):
    X = frame_of(n)
    found = table(importance(Explainer(predict, X, predict(X) + 1)))
    if n == 1:
        assert (found[list(MAIN)] == 0).all(axis=None)
        assert (found["permutation"] == 0).all()
    else:
        assert np.isfinite(found[[*MAIN, "permutation"]]).all(axis=None)


def test_a_constant_response():
    found = importance(Explainer(lambda X: np.full(len(X), 0.1), frame_of(), np.arange(60.0)))
    values = found.to_frame()[[*MAIN, "permutation", "permutation_stderr"]].to_numpy()
    assert (values == 0).all()


def test_rounding_is_no_importance():
    X = frame_of(200)
    found = table(importance(Explainer(lambda X: 1e6 + 0.1 * X["a"].to_numpy() / 3, X)))
    assert (found.loc[["b", "c", "d"], list(MAIN)] == 0).all(axis=None)
    assert found.loc["a", "heterogeneity"] == 0
    tiny = table(importance(Explainer(lambda X: 1e-9 * predict(X), X)))
    usual = table(importance(Explainer(predict, X)))
    np.testing.assert_allclose(tiny["pdi"], usual["pdi"], rtol=1e-9)
    np.testing.assert_allclose(tiny["pd_importance"], 1e-9 * usual["pd_importance"], rtol=1e-9)


# ---- many values: exact sums, all values, or some of them ------------------------------------


def numbers(n=700, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=list("abc")[:p])
    y = X["a"] * (X["b"] > 0) + np.abs(X.iloc[:, -1]) + rng.normal(size=n) / 5
    return X, y


def all_values(model, X, name):
    values = np.unique(X[name])
    average = np.array([np.mean(model(X.assign(**{name: value}))) for value in values])
    return average.std(ddof=1), average[np.searchsorted(values, X[name])].std(ddof=0)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=30, random_state=0),
        RandomForestRegressor(8, max_depth=6, random_state=0),
        HistGradientBoostingRegressor(max_iter=15),
    ],
)
def test_sums_over_trees_take_all_values(model):
    pytest.importorskip("numba", reason="exact sums over trees need numba")
    X, y = numbers(250)
    model.fit(X, y)
    explainer = Explainer(model, X, y, method="trees")
    got = table(importance(explainer))
    for name in ("a", "c"):
        spread, weighted = all_values(model.predict, X, name)
        assert got.loc[name, "pd_importance"] == pytest.approx(spread, rel=1e-10)
        assert got.loc[name, "pd_importance_weighted"] == pytest.approx(weighted, rel=1e-10)
        assert got.loc[name, "basis"] == "all 250 unique values; exact sums over trees"
    asked = table(importance(Explainer(model, X, y, method="model"), ["a", "c"], rows=None))
    sums = table(importance(explainer, ["a", "c"], rows=None))
    for measure in (*MAIN, "permutation", "permutation_stderr", "permutation_stderr_rows"):
        np.testing.assert_allclose(sums[measure], asked[measure], rtol=1e-7, atol=1e-12, err_msg=measure)
    assert (asked["basis"] == "all 250 unique values; model calls").all()


def test_sums_that_are_not_linear():
    pytest.importorskip("numba", reason="exact sums over trees need numba")
    X, y = numbers(400)
    model = GradientBoostingClassifier(n_estimators=20, max_depth=2, random_state=0).fit(X, y > 0.8)
    found = importance(Explainer(model, X, method="trees"), rows=100)
    for k, output in enumerate(found.outputs):
        got = table(found, output)
        for name in X:
            spread, weighted = all_values(lambda rows, k=k: model.predict_proba(rows)[:, k], X, name)
            assert got.loc[name, "pd_importance"] == pytest.approx(spread, rel=1e-9)
            assert got.loc[name, "pd_importance_weighted"] == pytest.approx(weighted, rel=1e-9)
    assert set(found.basis) == {"all 400 unique values; exact sums over trees"}


def test_subgroup_and_weights_with_sums_over_trees():
    pytest.importorskip("numba", reason="exact sums over trees need numba")
    X, y = numbers(300)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    model = RandomForestRegressor(8, random_state=0).fit(X, y)
    exact, asked = (
        table(importance(Explainer(model, X, sample_weight=weights, method=way), subgroup="a > -0.5"))
        for way in ("trees", "model")
    )
    for measure in MAIN:
        np.testing.assert_allclose(exact[measure], asked[measure], rtol=1e-8, atol=1e-12, err_msg=measure)


def test_too_many_values_for_a_model():
    X, _ = numbers(1500, 2)

    def f(X):
        return np.exp(X["a"] / 2).to_numpy() * (1 + (X["b"] > 0).to_numpy())

    explainer = Explainer(f, X)
    assert importance_rows(explainer, rows=50) >= 1500 * 2 * 200
    before = explainer.rows_asked
    found = importance(explainer, rows=50)
    assert explainer.rows_asked - before <= importance_rows(explainer, rows=50)
    got = table(found)
    for name in X:
        spread, weighted = all_values(f, X, name)
        assert got.loc[name, "pd_importance"] == pytest.approx(spread, rel=0.01)
        assert got.loc[name, "pd_importance_weighted"] == pytest.approx(weighted, rel=0.01)
        assert got.loc[name, "basis"] == "200 of 1,500 unique values, evenly spread by rank; model calls"
    ranks = (2 * np.arange(200) + 1) * 1500 // 400
    values = np.sort(X["a"])[ranks]
    by_hand = np.std([f(X.assign(a=value)).mean() for value in values], ddof=1)
    assert got.loc["a", "pd_importance"] == pytest.approx(by_hand, rel=1e-12)
    every = table(importance(explainer, ["a"], rows=50, max_values=1500))
    assert every.loc["a", "pd_importance"] == pytest.approx(all_values(f, X, "a")[0], rel=1e-12)
    assert every.loc["a", "basis"].startswith("all 1,500 unique values")


def test_many_values_in_a_subgroup():
    X, _ = numbers(600, 2)

    def f(X):
        return (X["a"] * X["b"] + X["a"]).to_numpy()

    weights = np.random.default_rng(0).integers(0, 3, len(X))
    part = ((X["a"] > -0.5) & (weights > 0)).to_numpy()
    got = table(importance(Explainer(f, X, sample_weight=weights), subgroup="a > -0.5", rows=40, max_values=1000))
    own, w = X[part], weights[part]
    for name in X:
        average = np.array([np.average(f(own.assign(**{name: value})), weights=w) for value in np.unique(own[name])])
        assert got.loc[name, "pd_importance"] == pytest.approx(average.std(ddof=1), rel=1e-10)
        assert got.loc[name, "basis"] == f"all {len(average)} unique values; model calls"


def test_curves_beyond_the_memory_cap():
    X, _ = numbers(600, 2)

    def f(X):
        return (X["a"] * X["b"]).to_numpy()

    small, usual = Explainer(f, X, cache_bytes=10_000), Explainer(f, X)
    capped, free = (table(importance(explainer, rows=200)) for explainer in (small, usual))
    np.testing.assert_allclose(capped["pd_importance"], free["pd_importance"], rtol=1e-10)
    part = np.sort(small.row_order[:200])
    alone = Explainer(f, X.iloc[part].reset_index(drop=True))
    for name in X:
        own = alone.partial_dependence(name, grid=usual.grid(name).values).heterogeneity[0]
        assert capped.loc[name, "heterogeneity"] == pytest.approx(own, rel=1e-10)
        assert capped.loc[name, "basis"].endswith("curves of 200 rows")


def test_most_frequent_levels():
    rng = np.random.default_rng(0)
    level = np.concatenate([np.repeat(np.arange(200), 2), np.arange(200, 230)])
    X = pd.DataFrame({"c": [f"{k:03d}" for k in level], "z": rng.normal(size=len(level))})
    found = table(importance(Explainer(lambda X: X["c"].astype(float).to_numpy() + X["z"], X), ["c"], rows=20))
    assert found.loc["c", "pd_importance"] == pytest.approx(199 / 4)
    assert found.loc["c", "basis"].startswith("the 200 most frequent of 230 levels")


# ---- permutation importance ------------------------------------------------------------------


def by_hand(f, X, y, columns, loss, seed=0, repeats=5, weights=None):
    """Shuffle with the shuffles of the package and score with somebody else's loss."""
    base = loss(y, f(X))
    out = []
    for donors in shuffling.shuffles(seed, len(X), repeats, weights):
        other = X.copy()
        for column in columns:
            other[column] = X[column].to_numpy()[donors]
        out.append(loss(y, f(other)) - base)
    return np.array(out)


def test_permutation_by_hand():
    X = frame_of(80)
    y = predict(X) + np.random.default_rng(0).normal(size=80)
    explainer = Explainer(predict, X, y, random_state=7)
    found = importance(explainer, repeats=4)
    assert found.score == "squared error"
    assert found.base_loss[0] == pytest.approx(mean_squared_error(y, predict(X)))
    got = table(found)
    for name in X:
        expected = by_hand(predict, X, y, [name], mean_squared_error, seed=7, repeats=4)
        assert got.loc[name, "permutation"] == pytest.approx(expected.mean(), abs=1e-12)
        assert got.loc[name, "permutation_stderr"] == pytest.approx(expected.std(ddof=1) / 2, abs=1e-12)
    assert got.loc["e", "permutation"] == 0
    part = importance(explainer, ["c", "a"], repeats=4)
    np.testing.assert_array_equal(table(part)["permutation"], got.loc[["c", "a"], "permutation"])
    absolute = table(importance(explainer, ["a"], scoring="absolute_error"))
    expected = by_hand(predict, X, y, ["a"], lambda y, f: np.abs(y - f).mean(), seed=7)
    assert absolute.loc["a", "permutation"] == pytest.approx(expected.mean())


def test_shuffles_in_parts(monkeypatch):
    X = frame_of(80)
    explainer = Explainer(predict, X, predict(X) + X["b"])
    whole = importance(explainer, ["a", "c"], repeats=7).to_frame()
    monkeypatch.setattr(shuffling, "_AT_ONCE", 170)
    pd.testing.assert_frame_equal(importance(explainer, ["a", "c"], repeats=7).to_frame(), whole)


def as_scikit_learn_shuffles(seed, n, repeats, weights=None):
    state = np.random.RandomState(np.random.RandomState(seed).randint(np.iinfo(np.int32).max + 1))
    order, out = np.arange(n), []
    for _ in range(repeats):
        state.shuffle(order)
        out.append(order if not out else out[-1][order])  # the shuffled column is shuffled again
        order = order.copy()
    return np.array(out)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["number", "probability"])
def test_equals_scikit_learn_with_its_permutations(monkeypatch, kind, weighted):
    monkeypatch.setattr(shuffling, "shuffles", as_scikit_learn_shuffles)
    rng = np.random.default_rng(0)
    if kind == "number":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        model, scoring = GradientBoostingRegressor(n_estimators=20, random_state=0), "neg_mean_squared_error"
    else:
        X, y = load_iris(return_X_y=True, as_frame=True)
        y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
        model, scoring = RandomForestClassifier(20, max_depth=3, random_state=0), "neg_log_loss"
    model.fit(X, y)
    weights = rng.uniform(0.5, 2, len(X)) if weighted else None
    theirs = permutation_importance(
        model, X, y, scoring=scoring, n_repeats=6, random_state=5, sample_weight=weights, n_jobs=1
    )
    found = importance(Explainer(model, X, y, sample_weight=weights, random_state=5), rows=10, repeats=6)
    for output in found.outputs:
        got = table(found, output)
        np.testing.assert_allclose(got["permutation"], theirs.importances_mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            got["permutation_stderr"], theirs.importances.std(axis=1, ddof=1) / np.sqrt(6), rtol=1e-7, atol=1e-12
        )


def test_agrees_with_scikit_learn_and_states_its_error():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = LinearRegression().fit(X, y)
    theirs = permutation_importance(
        model, X, y, scoring="neg_mean_squared_error", n_repeats=100, random_state=0, n_jobs=1
    )
    got = table(importance(Explainer(model, X, y), rows=5, repeats=100, max_values=2))
    error = np.sqrt(2) * got["permutation_stderr"]
    z = (got["permutation"] - theirs.importances_mean) / error
    assert np.abs(z).max() < 4
    np.testing.assert_allclose(got["permutation_stderr"], theirs.importances.std(axis=1) / 10, rtol=0.35)


def test_stderr_over_rows():
    rng = np.random.default_rng(0)
    drawn, said = [], []
    for _ in range(200):
        X = rng.normal(size=(100, 2))
        y = X[:, 0] + X[:, 1] + rng.normal(size=100)
        explainer = Explainer(lambda X: X[:, 0] + X[:, 1], X, y)
        row = table(importance(explainer, ["x0"], rows=2, max_values=2)).iloc[0]
        drawn.append(row["permutation"])
        said.append(row["permutation_stderr_rows"])
    assert np.mean(said) == pytest.approx(np.std(drawn), rel=0.3)


def test_shuffles():
    plain = shuffling.shuffles(0, 50, 3)
    assert all(np.array_equal(np.sort(line), np.arange(50)) for line in plain)
    assert not np.array_equal(plain[0], plain[1])
    equal = shuffling.shuffles(0, 50, 3, np.full(50, 0.1))
    assert all(np.array_equal(np.sort(line), np.arange(50)) for line in equal)
    weights = np.array([1.0, 2.0, 3.0, 6.0])
    lines = shuffling.shuffles(0, 4, 30_000, weights)
    for row in range(4):  # each row takes from each in proportion to its weight
        np.testing.assert_allclose(np.bincount(lines[:, row], minlength=4) / 30_000, weights / 12, atol=0.015)


def test_weighted_shuffles_are_those_of_repeated_rows():
    X = frame_of(12)
    y = predict(X) + np.random.default_rng(0).normal(size=12)
    times = np.random.default_rng(1).integers(0, 4, len(X))
    got = table(importance(Explainer(predict, X, y, sample_weight=times), ["a", "c"], rows=2, repeats=3000))
    w = times / times.sum()
    for name in ("a", "c"):
        M = np.array([predict(moved(X, [name], [value])) for value in X[name]])
        expected = w @ (np.square(y - M)) @ w - w @ np.square(y - predict(X))
        assert abs(got.loc[name, "permutation"] - expected) < 4 * got.loc[name, "permutation_stderr"]
        assert got.loc[name, "permutation_stderr"] < 0.05 * expected


def test_group_of_columns_is_shuffled_together():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(70, 1)), columns=["x"])
    season = rng.choice(["spring", "summer", "winter"], 70)
    for name in ("spring", "summer", "winter"):
        X[f"season_{name}"] = (season == name).astype(float)

    def f(X):
        hot = X[[c for c in X if c.startswith("season_")]].to_numpy()
        assert (hot.sum(axis=1) == 1).all()
        return hot @ [0.0, 3.0, 8.0] * (1 + X["x"].to_numpy() / 4)

    y = f(X) + rng.normal(size=70)
    columns = [c for c in X if c != "x"]
    found = importance(Explainer(f, X, y, features={"season": columns}))
    got = table(found)
    assert got.loc["season", "kind"] == "group"
    expected = by_hand(f, X, y, columns, mean_squared_error)
    assert got.loc["season", "permutation"] == pytest.approx(expected.mean())
    for measure, value in by_definition(f, X, "season", "category", columns=columns).items():
        assert got.loc["season", measure] == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("subgroup", [None, "a > 0"])
def test_a_group_of_features_equals_the_definition(weighted, subgroup):
    X = frame_of()
    rng = np.random.default_rng(3)
    weights = rng.choice([0.0, 1.0, 2.5], len(X)) if weighted else None
    y = predict(X) + rng.normal(size=len(X))
    part = np.ones(len(X), bool) if subgroup is None else (X["a"] > 0).to_numpy()
    own = X[part].reset_index(drop=True)
    explainer = Explainer(predict, X, y, sample_weight=weights)
    found = importance(explainer, ["a", ["b", "c"], ["c", "d", "e"]], subgroup=subgroup)
    got = table(found)
    assert list(got.index) == ["a", "b + c", "c + d + e"]
    assert got["kind"].tolist() == ["number", "set", "set"]
    for columns in (["b", "c"], ["c", "d", "e"]):
        row = got.loc[" + ".join(columns)]
        expected = by_definition(
            predict, own, None, "category", None if weights is None else weights[part], columns=columns
        )
        for measure in ("pdi", "pd_importance_weighted"):
            assert row[measure] == pytest.approx(expected[measure], abs=1e-10)
        assert row[["pd_importance", "heterogeneity", "heterogeneity_share"]].isna().all()
        assert row["computed"]
        assert row["basis"] == f"joint effect at {found.pdi_rows} rows; model calls"
        if weights is None:
            expected = by_hand(predict, own, y[part], columns, mean_squared_error)
            assert row["permutation"] == pytest.approx(expected.mean(), abs=1e-12)
            assert row["permutation_stderr"] == pytest.approx(expected.std(ddof=1) / np.sqrt(5), abs=1e-12)
    alone = table(importance(explainer, ["a"], subgroup=subgroup))
    pd.testing.assert_frame_equal(got.loc[["a"]], alone)


def test_a_group_is_permuted_as_scikit_learn_permutes_one_column(monkeypatch):
    """scikit-learn shuffles a column that says whose three values a row has."""
    monkeypatch.setattr(shuffling, "shuffles", as_scikit_learn_shuffles)
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    columns = ["bmi", "s5", "sex"]
    model = RandomForestRegressor(10, random_state=0).fit(X, y)

    class Taken(LinearRegression):
        def predict(self, rows):
            donors = rows["donor"].to_numpy()
            return model.predict(X.assign(**{column: X[column].to_numpy()[donors] for column in columns}))

    donors = pd.DataFrame({"donor": np.arange(len(X))})
    theirs = permutation_importance(
        Taken().fit(donors, y), donors, y, scoring="neg_mean_squared_error", n_repeats=4, random_state=5, n_jobs=1
    )
    for way in ("trees", "model"):
        got = table(
            importance(Explainer(model, X, y, random_state=5, method=way), ["age", columns], rows=20, repeats=4)
        )
        assert got.loc["bmi + s5 + sex", "permutation"] == pytest.approx(theirs.importances_mean[0], rel=1e-9)
        assert got.loc["bmi + s5 + sex", "basis"].startswith("joint effect at 20 of 442 rows; ")


def test_a_group_with_sums_over_trees_and_what_it_costs():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    wanted = [["bmi", "s5"], ["age"], ["age", "sex", "bp"]]
    for model, target in (
        (GradientBoostingRegressor(n_estimators=20, random_state=0), y),
        (GradientBoostingClassifier(n_estimators=10, random_state=0), y > 140),
    ):
        model.fit(X, target)
        exact, asked = (importance(Explainer(model, X, method=way), wanted, rows=60) for way in ("trees", "model"))
        assert exact.features == ("bmi + s5", "age", "age + sex + bp")
        for measure in ("pdi", "pdi_stderr"):
            np.testing.assert_allclose(getattr(exact, measure), getattr(asked, measure), atol=1e-9)
        joint = [0, 2]
        np.testing.assert_allclose(
            exact.pd_importance_weighted[:, joint], asked.pd_importance_weighted[:, joint], atol=1e-9
        )
        explainer = Explainer(model, X, method="model")
        before, expected = explainer.rows_asked, importance_rows(explainer, wanted, rows=60)
        importance(explainer, wanted, rows=60)
        assert explainer.rows_asked - before <= expected < explainer.rows_asked - before + 60 * 60
    with pytest.raises(InputError, match="a feature is named twice"):
        importance(explainer, ["age", ["age"]])
    constant = Explainer(lambda X: X["a"].to_numpy(), pd.DataFrame({"a": [0.0, 1, 2], "b": 1, "c": 2}))
    got = table(importance(constant, ["a", ["b", "c"]], rows=None))
    assert got.loc["b + c", ["pdi", "pd_importance_weighted"]].tolist() == [0, 0]
    assert np.isnan(got.loc["b + c", "pd_importance"])


def test_several_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    found = importance(Explainer(model, X, y, features=list(X.columns[:3])), rows=None)
    assert found.outputs == ("0", "1", "2")
    assert found.score == "log loss"
    assert found.pdi.shape == (3, 3)
    for k, output in enumerate(found.outputs):
        got = table(found, output)
        for name in X.columns[:3]:
            expected = by_definition(lambda rows, k=k: model.predict_proba(rows)[:, k], X, name, "number")
            for measure, value in expected.items():
                assert got.loc[name, measure] == pytest.approx(value, abs=1e-10)
            increase = by_hand(model.predict_proba, X, y, [name], log_loss)
            assert got.loc[name, "permutation"] == pytest.approx(increase.mean(), rel=1e-9)
    one = importance(Explainer(model, X, y), output=2)
    assert one.outputs == ("2",)
    assert len(one.to_frame()) == 4


def test_default_scores():
    X, y = load_iris(return_X_y=True, as_frame=True)
    two, X2 = y[y > 0] - 1, X[y > 0]
    svc = SVC().fit(X2, two)
    found = importance(Explainer(svc, X2, two), ["petal length (cm)"], rows=20, max_values=5)
    assert (found.scale, found.score) == ("decision value", "zero one")
    expected = by_hand(
        svc.predict, X2.reset_index(drop=True), two.to_numpy(), ["petal length (cm)"], lambda y, f: np.mean(y != f)
    )
    assert found.permutation[0, 0] == pytest.approx(expected.mean())
    model = LogisticRegression(max_iter=1000).fit(X, y)
    results = {
        response: importance(
            Explainer(model, X, y, response=response), ["petal length (cm)"], rows=20, max_values=5, scoring=scoring
        )
        for response, scoring in [
            ("predict", None),
            ("logit", None),
            ("probability", "log_loss"),
            ("decision", "zero_one"),
        ]
    }
    assert results["predict"].score == "zero one"
    np.testing.assert_allclose(results["predict"].permutation, results["decision"].permutation)
    np.testing.assert_allclose(results["logit"].permutation, results["probability"].permutation, rtol=1e-9)


def test_probability_of_a_function():
    X, _ = numbers(100, 2)
    happened = (X["a"] > 0).astype(int)

    def f(X):
        return 1 / (1 + np.exp(-2 * X["a"] - X["b"]))

    found = importance(Explainer(f, X, happened), rows=10, scoring="log_loss")
    expected = by_hand(f, X, happened, ["a"], log_loss)
    assert table(found).loc["a", "permutation"] == pytest.approx(expected.mean(), rel=1e-9)
    assert importance(Explainer(f, X, happened), rows=10).score == "squared error"


def test_several_numbers():
    X, y = numbers(100)
    Y = np.column_stack([y, X["c"]])
    model = LinearRegression().fit(X, Y)
    found = importance(Explainer(model, X, Y), rows=10)
    for k, output in enumerate(found.outputs):
        expected = by_hand(lambda X, k=k: model.predict(X)[:, k], X, Y[:, k], ["c"], mean_squared_error)
        assert table(found, output).loc["c", "permutation"] == pytest.approx(expected.mean(), abs=1e-12)
    assert found.permutation[0, 2] != found.permutation[1, 2]


def test_own_score():
    X = frame_of(40)
    y = predict(X) + 1
    seen = []

    def worst(y, answers, weights):
        seen.append((y.shape, answers.shape, weights if weights is None else weights.shape))
        return np.abs(y - answers).max()

    found = importance(Explainer(predict, X, y), ["a"], scoring=worst)
    assert found.score == "worst"
    assert found.base_loss[0] == pytest.approx(1.0)
    expected = by_hand(predict, X, y, ["a"], lambda y, f: np.abs(y - f).max())
    assert found.permutation[0, 0] == pytest.approx(expected.mean())
    assert np.isnan(found.permutation_stderr_rows).all()
    assert set(seen) == {((40,), (1, 40), None)}
    seen.clear()
    importance(Explainer(predict, X, y, sample_weight=np.arange(40.0)), ["a"], scoring=worst)
    assert set(seen) == {((39,), (1, 39), (39,))}
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        importance(Explainer(predict, X, y), ["a"], scoring=lambda *_: np.zeros(3))
    with pytest.raises(InputError, match="returned a str"):
        importance(Explainer(predict, X, y), ["a"], scoring=lambda *_: "good")


def test_rows_without_an_outcome_are_left_out():
    X = frame_of(50)
    y = predict(X) + 1.0 * X["b"]
    y[::5] = np.nan
    found = table(importance(Explainer(predict, X, y)))
    known = y.notna()
    alone = table(importance(Explainer(predict, X[known].reset_index(drop=True), y[known].to_numpy())))
    np.testing.assert_allclose(found["permutation"], alone["permutation"], rtol=1e-12)
    assert found.loc["a", "pdi"] != alone.loc["a", "pdi"]


def test_without_what_a_score_needs():
    X, y = frame_of(30), np.random.default_rng(0).normal(size=30)
    found = importance(Explainer(predict, X))
    assert np.isnan(found.permutation).all()
    assert found.score is None
    assert found.note == "no permutation importance without y"
    with pytest.raises(InputError, match=r"Explainer\(model, X, y\)"):
        importance(Explainer(predict, X), scoring="squared_error")
    words = Explainer(predict, X, np.where(y > 0, "yes", "no"))
    found = importance(words)
    assert np.isnan(found.permutation).all()
    assert found.complete
    assert "no number to compare" in found.note
    assert "no number to compare" in repr(found)
    with pytest.raises(InputError, match=r"y holds '(yes|no)'"):
        importance(words, scoring="squared_error")
    with pytest.raises(InputError, match="did you mean 'squared_error'"):
        importance(Explainer(predict, X, y), scoring="squared_eror")
    iris, kind = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(iris, kind)
    assert "which is no class of the model" in importance(Explainer(model, iris, kind + 1), rows=5, max_values=2).note
    gone = importance(Explainer(predict, X, np.full(30, np.nan)))
    assert "y is missing for all rows" in gone.note


def test_asks_for_fewer_rows_than_scikit_learn():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = LinearRegression().fit(X, y)
    asked = []

    class Counting(LinearRegression):
        def predict(self, rows):
            asked.append(len(rows))
            return model.predict(rows)

    permutation_importance(Counting().fit(X, y), X, y, n_repeats=5, scoring="neg_mean_squared_error", random_state=0)
    explainer = Explainer(model, X, y, method="model")
    work = shuffling.Permutation(explainer.source, explainer.y, np.arange(len(X)), 5, None, 0)
    list(work.start())
    for feature in explainer.features.values():
        list(work.measure(feature))
    assert explainer.rows_asked < sum(asked) == len(X) * (1 + 5 * X.shape[1])


# ---- growing, reading, refusing --------------------------------------------------------------


def test_it_grows():
    X = frame_of(60)
    explainer = Explainer(predict, X, predict(X))
    seen = list(iter_importance(explainer))
    assert not seen[0].computed.any()
    assert all(np.isnan(getattr(seen[0], measure)).all() for measure in MEASURES)
    done = [result.features_done for result in seen]
    assert done == sorted(done)
    assert set(done) == set(range(6))
    for result in seen:
        frame = result.to_frame()
        assert frame.loc[frame["computed"], list(MAIN)].notna().all(axis=None)
    partial = seen[done.index(2)].to_frame()
    assert partial["computed"].tolist() == [True, True, False, False, False]
    assert partial.loc[~partial["computed"], list(MEASURES)].isna().all(axis=None)
    final = importance(explainer).to_frame()
    pd.testing.assert_frame_equal(seen[-1].to_frame(), final)


def test_it_stops_between_chunks():
    asked = []

    def slow(X):
        asked.append(len(X))
        time.sleep(0.002 * len(X))
        return X[:, 0] * X[:, 1]

    X = np.random.default_rng(0).normal(size=(400, 2))
    growing = iter_importance(Explainer(slow, X), rows=2)
    for _ in range(3):
        next(growing)
    growing.close()
    assert sum(asked) < 1500


@pytest.mark.parametrize("wanted", ["x0", ["x0", "x1"]])
@pytest.mark.parametrize("threads", [0, 2])
def test_total_effects_stop_between_chunks_too(wanted, threads):
    asked = []

    def slow(X):
        asked.append(len(X))
        time.sleep(1e-4 * len(X))
        return X[:, 0] * X[:, 1]

    X = np.random.default_rng(0).normal(size=(300, 2))
    pool = ThreadPoolExecutor(threads) if threads else None
    growing = iter_importance(Explainer(slow, X, executor=pool), [wanted], rows=None, max_values=2)
    for result in itertools.islice(growing, 4):
        assert np.isnan(result.pdi).all()
    growing.close()
    if pool is not None:
        pool.shutdown()
    assert sum(asked) < 45_000  # of 90,000 that PDI takes


def test_pausing_asks_no_more():
    X = frame_of(60)
    explainer = Explainer(predict, X)
    for name in "ab":
        explainer.partial_dependence(name)  # so that only PDI asks
    before = explainer.rows_asked
    assert list(iter_importance(explainer, ["a", "b", ["a", "b"]], rows=None))[-1].complete
    levels = [X["a"].nunique(), X["b"].nunique(), len(X[["a", "b"]].drop_duplicates())]
    assert explainer.rows_asked - before == len(X) * (1 + sum(levels))


def test_deterministic_and_the_same_with_an_executor():
    X = frame_of(150)
    y = predict(X) + X["b"]
    first = importance(Explainer(predict, X, y), rows=60).to_frame()
    pd.testing.assert_frame_equal(first, importance(Explainer(predict, X, y), rows=60).to_frame())
    with ThreadPoolExecutor(2) as pool:
        there = importance(Explainer(predict, X, y, executor=pool), rows=60).to_frame()
    pd.testing.assert_frame_equal(first, there)
    other = importance(Explainer(predict, X, y, random_state=1), rows=60).to_frame()
    assert (other["permutation"] != first["permutation"]).any()
    assert (other["pdi"] != first["pdi"]).any()


def test_sorting_and_one_output():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    found = importance(Explainer(model, X, y, output=2), rows=40)
    for measure in MEASURES:
        values = getattr(found.sort(measure), measure)[2]
        assert (np.diff(values) <= 0).all()
    first = found.sort("pdi", output=0)
    assert (np.diff(first.pdi[0]) <= 0).all()
    assert (np.diff(found.sort("pdi", ascending=True).pdi[2]) >= 0).all()
    names = found.sort("feature")
    assert list(names.features) == sorted(X.columns)
    k = found.features.index(names.features[0])
    np.testing.assert_array_equal(names.pdi[:, 0], found.pdi[:, k])
    one = found.output(1)
    assert one.outputs == ("1",)
    np.testing.assert_array_equal(one.sort("pdi").pdi[0], np.sort(found.pdi[1])[::-1])
    frame = found.to_frame()
    assert len(frame) == 3 * 4
    assert (frame.sort_values("pdi")["pdi"].diff().dropna() >= 0).all()
    with pytest.raises(InputError, match="did you mean 'permutation'"):
        found.sort("permutatoin")
    with pytest.raises(InputError, match="not an output"):
        found.output("setosa")
    partly = list(iter_importance(Explainer(model, X, y, method="model"), rows=40))
    half = next(result for result in partly if result.features_done == 2).sort("pdi")
    assert half.computed.tolist() == [True, True, False, False]


def test_repr_is_honest():
    X = frame_of(60)
    explainer = Explainer(predict, X, predict(X), sample_weight=np.arange(60.0) + 1)
    found = importance(explainer, rows=20, repeats=3, subgroup="a > 0")
    n = int((X["a"] > 0).sum())
    text = repr(found)
    for part in (
        "5 of 5 features", "prediction", f"{n} rows, PDI on 20", "increase of squared error, 3 repeats", "subgroup a > 0", "weighted",
    ):  # fmt: skip
        assert part in text
    assert found.rows.tolist() == np.flatnonzero(X["a"] > 0).tolist()


def test_what_cannot_be_used():
    X = frame_of(20)
    explainer = Explainer(predict, X)
    for options, message in [
        ({"features": ["aa"]}, "did you mean"),
        ({"features": "a"}, "expected a list of names"),
        ({"features": []}, "expected a list of names"),
        ({"features": ["a", "a"]}, "named twice"),
        ({"rows": 0}, "rows=0"),
        ({"repeats": 0}, "repeats=0"),
        ({"max_values": 1.5}, "max_values=1.5"),
        ({"subgroup": "a > 99"}, "holds none of the 20 rows"),
        ({"output": "b"}, "not an output"),
    ]:
        with pytest.raises(InputError, match=message):
            importance(explainer, **options)


def test_predictions_without_a_number():
    X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 3})

    def f(X):
        return np.where(X["a"] == 7, np.nan, X["a"] + X["b"])

    y = (X["a"] + X["b"] + 1).to_numpy()
    with pytest.raises((InputError, PredictionError), match="NaN"):
        importance(Explainer(f, X, y))
    found = importance(Explainer(f, X, y, nan_predictions="omit"))
    assert np.isnan(found.pdi).all()
    assert "no PDI" in found.note
    assert found.base_loss[0] == pytest.approx(1.0)
    got = table(found)
    rest = X[X["a"] != 7]
    assert got.loc["b", "pd_importance"] == pytest.approx(np.unique(rest["b"]).std(ddof=1))
    assert np.isfinite(found.permutation).all()


# ---- teaching data ---------------------------------------------------------------------------


def test_bikes(shared_data):
    bikes = pd.read_csv(shared_data / "bike.csv")
    X = bikes[["season", "holiday", "workday", "weather", "temp", "hum", "windspeed", "days_since_2011"]]
    X = X.assign(**{name: X[name].astype("category") for name in ("season", "holiday", "workday", "weather")})
    model = HistGradientBoostingRegressor(max_iter=40, categorical_features="from_dtype", random_state=0).fit(
        X, bikes["cnt"]
    )
    found = importance(Explainer(model, X, bikes["cnt"]), rows=150)
    for measure in ("pd_importance", "pdi", "permutation"):
        order = found.sort(measure).features
        assert set(order[:2]) == {"temp", "days_since_2011"}, measure
        assert "holiday" in order[-2:], measure


@pytest.mark.parametrize("with_y", [False, True])
def test_the_cost_of_any_subgroup_follows_from_one_look_at_the_rows(with_y):
    rng = np.random.default_rng(0)
    n = 3000
    X = pd.DataFrame(
        {
            "many": rng.normal(size=n),
            "gaps": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2)),
            "few": rng.integers(0, 7, n),
            "level": rng.choice(list("abcd"), n),
            "same": 1.0,
        }
    )
    explainer = Explainer(lambda Z: Z["many"] + Z["few"], X, X["many"] if with_y else None)
    cost = ImportanceCost(explainer)
    for subgroup in (None, "many > 0", "many > 1.5", "few == 3 & level == 'a'", "gaps > 2", "many > 3"):
        mask = np.ones(n, dtype=bool) if subgroup is None else explainer.mask(subgroup)
        exact = importance_rows(explainer, subgroup=None if subgroup is None else mask)
        assert exact <= cost.rows(int(mask.sum()))
        if mask.sum() > 1:  # in a single row nothing varies
            assert cost.rows(int(mask.sum())) <= 1.35 * exact + 3 * 500
