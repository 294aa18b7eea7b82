"""Readers of XGBoost, LightGBM and CatBoost against the models' own answers, at and around thresholds above all."""

import importlib
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from tree_tools import edges, own_answer

from pdp_widgets.trees.boosters import read_lightgbm
from pdp_widgets.trees.ensemble import UnreadableError
from pdp_widgets.trees.reading import read

RTOL = {"xgboost": 1e-6, "lightgbm": 1e-12, "catboost": 1e-12}
WINDOW = float(np.float32(1e-35))
CALM = {
    "xgboost": {"n_jobs": 1},
    "lightgbm": {"n_jobs": 1, "verbose": -1, "min_child_samples": 3},
    "catboost": {"thread_count": 1, "verbose": 0, "allow_writing_files": False},
}


def make(name, **options):
    """Return an estimator by its name in its library, quiet and on one thread."""
    library = {"X": "xgboost", "L": "lightgbm", "C": "catboost"}[name[0]]
    options = CALM[library] | options
    return getattr(pytest.importorskip(library), name)(**{"params": options} if name == "CatBoost" else options)


def table(n=250, seed=0, missing=0.0):
    """Return columns with many, few and mostly zero values."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 9, n) / 4, rng.choice([0, 0, 1, -1], n) * rng.random(n)])
    X[rng.random(X.shape) < missing] = np.nan
    return X


def signal(X, seed=1):
    noise = np.random.default_rng(seed).normal(scale=0.2, size=len(X))
    return np.nan_to_num(X[:, 0]) + np.sin(3 * np.nan_to_num(X[:, 1])) * 2 + (np.nan_to_num(X[:, 2]) > 0) + noise


def targets(X):
    y = signal(X)
    two = y > 1
    three = np.digitize(y, [0.2, 1.5])
    return {
        "number": y,
        "positive": np.exp(y / 3),
        "share": expit(y),
        "bool": two,
        "two": two.astype(int),
        "three": three,
        "words": np.array(["low", "mid", "top"])[three],
        "numbers": np.column_stack([y, 2 - y**2]),
        "labels": np.column_stack([two, y < 0]).astype(int),
        "spans": np.column_stack([np.exp(y / 3), np.exp(y / 3) + 1]),
    }


def contents(rows):
    if sparse.issparse(rows):
        return pickle.dumps((rows.data, rows.indices, rows.indptr))
    columns = rows.to_dict("list") if isinstance(rows, pd.DataFrame) else rows
    return pickle.dumps(columns)


def assert_read(model, rows, method="predict"):
    reading = pickle.loads(pickle.dumps(read(model, method)))
    before = contents(rows)
    encoded = reading.encode(rows)
    assert contents(rows) == before
    assert encoded.dtype == float
    assert np.array_equal(encoded, reading.ensemble.rounded(encoded), equal_nan=True)
    answer = own_answer(model, method, rows)
    mine = reading.link.apply(reading.ensemble.predict(encoded))
    assert mine.shape == answer.shape
    tolerance = RTOL[type(model).__module__.partition(".")[0]] * np.abs(answer).max()
    np.testing.assert_allclose(mine, answer, rtol=0, atol=tolerance)
    return reading


def assert_refused(model, method, reason):
    with pytest.raises(UnreadableError, match=reason):
        read(model, method)


def method_of(model):
    return "predict_proba" if hasattr(model, "predict_proba") else "predict"


def booster_of(model):
    return model.get_booster() if hasattr(model, "get_booster") else model.booster_


def release(library):
    pytest.importorskip(library)
    return tuple(int(part) for part in importlib.import_module(library).__version__.split(".")[:2])


def probe(model, X, method, *, infinite=True, seed=3):
    """Return rows around the thresholds, with every special number there is."""
    reading = read(model, method)
    with np.errstate(over="ignore"):  # next to the largest numbers
        rows = edges(reading.ensemble, X, seed, missing=True, infinite=infinite)
    if not infinite:
        rows[np.isinf(rows)] = 0.5
    rng = np.random.default_rng(seed)
    special = [WINDOW, -WINDOW, np.nextafter(WINDOW, 1), -np.nextafter(WINDOW, 1), 1e-36, -1e-40, 5e-324, 1e38, -3.4e38]
    swap = rng.random(rows.shape) < 0.1
    rows[swap] = rng.choice(special + [1e39, -1e300] * infinite, swap.sum())
    return rows


FAMILIES = {
    "XGBRegressor": {
        "number": [
            {},
            {"base_score": 3, "max_depth": 6},
            {"tree_method": "exact", "gamma": 3},
            {"booster": "dart", "rate_drop": 0.5, "random_state": 1},
            {"grow_policy": "lossguide", "max_leaves": 5, "monotone_constraints": (1, 0, 0)},
            {"objective": "reg:absoluteerror"},
            {"objective": "reg:pseudohubererror"},
            {"objective": "reg:quantileerror", "quantile_alpha": 0.3},
            {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]},
            {"objective": "survival:cox"},
            {"num_parallel_tree": 3, "subsample": 0.5},
        ],
        "positive": [{"objective": f"{name}"} for name in ("count:poisson", "reg:gamma", "reg:tweedie")]
        + [{"objective": "reg:squaredlogerror"}],
        "share": [{"objective": "reg:logistic"}],
        "numbers": [{}, {"multi_strategy": "multi_output_tree"}],
    },
    "XGBClassifier": {
        "two": [{}, {"objective": "reg:logistic", "base_score": 0.3}, {"scale_pos_weight": 3}],
        "three": [{}, {"objective": "multi:softmax"}, {"multi_strategy": "multi_output_tree"}],
        "labels": [{}],
    },
    "XGBRFRegressor": {"number": [{}], "numbers": [{}]},
    "XGBRFClassifier": {"two": [{}], "three": [{}]},
    "LGBMRegressor": {
        "number": [
            {},
            {"zero_as_missing": True},
            {"use_missing": False},
            {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
            {"boosting_type": "dart", "drop_rate": 0.5},
            {"data_sample_strategy": "goss", "n_estimators": 12, "learning_rate": 0.5},
            {"extra_trees": True, "monotone_constraints": [1, 0, 0]},
            {"reg_sqrt": True},
            {"objective": "regression_l1"},
            {"objective": "huber"},
            {"objective": "fair", "reg_sqrt": True},
            {"objective": "quantile", "alpha": 0.2},
            {"objective": "mape"},
        ],
        "positive": [{"objective": name} for name in ("poisson", "gamma", "tweedie")],
        "share": [{"objective": "cross_entropy"}, {"objective": "cross_entropy_lambda"}],
    },
    "LGBMClassifier": {
        "bool": [{}, {"sigmoid": 0.7}, {"objective": "cross_entropy"}, {"is_unbalance": True}],
        "words": [{}, {"objective": "multiclassova", "sigmoid": 2.0}],
        "three": [{"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}],
    },
    "CatBoostRegressor": {
        "number": [
            {},
            {"nan_mode": "Max"},
            {"depth": 1},
            {"grow_policy": "Lossguide"},
            {"grow_policy": "Depthwise", "depth": 5},
            {"ignored_features": [1]},
            {"boosting_type": "Ordered"},
            {"loss_function": "MAE"},
            {"loss_function": "Quantile:alpha=0.7"},
            {"loss_function": "Huber:delta=1"},
            {"loss_function": "Cox"},
            {"loss_function": "RMSEWithUncertainty"},
            {"loss_function": "MultiQuantile:alpha=0.1,0.9"},
        ],
        "positive": [
            {"objective": "Poisson"},
            {"loss_function": "Tweedie:variance_power=1.5"},
            {"loss_function": "LogLinQuantile"},
        ],
        "numbers": [{"loss_function": "MultiRMSE"}],
        "spans": [{"loss_function": "SurvivalAft:dist=Normal"}],
    },
    "CatBoostClassifier": {
        "bool": [{}, {"grow_policy": "Lossguide"}, {"loss_function": "MultiClass"}],
        "share": [{"loss_function": "CrossEntropy"}],
        "words": [{}, {"grow_policy": "Depthwise"}, {"loss_function": "MultiClassOneVsAll"}],
        "labels": [{"loss_function": "MultiLogloss"}],
    },
    "CatBoost": {"number": [{}]},
}
SIZES = {"X": {"n_estimators": 6, "max_depth": 4}, "L": {"n_estimators": 6, "num_leaves": 7}, "C": {"iterations": 6}}
CASES = [
    pytest.param(name, target, options, id=f"{name}-{target}-{'-'.join(map(str, options.values()))}")
    for name, kinds in FAMILIES.items()
    for target, variants in kinds.items()
    for options in variants
]


@pytest.mark.filterwarnings("ignore:.*is deprecated")  # DART and XGBoost's random forests, from 3.3 on
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(("name", "target", "options"), CASES)
def test_every_family_answers_as_itself_at_and_around_thresholds(name, target, options, missing):
    X = table(missing=missing)
    options = SIZES[name[0]] | options
    model = make(name, **options)
    weights = {} if target in ("labels", "numbers", "spans") else {"sample_weight": 1 + np.arange(len(X)) % 3}
    model.fit(X, targets(X)[target], **weights)
    method = method_of(model)
    reading = assert_read(model, probe(model, X, method), method)
    assert reading.family == name
    assert reading.ensemble.n_leaves > 2 * reading.ensemble.n_raw
    assert_read(model, X, method)
    if hasattr(model, "decision_function"):
        assert_read(model, probe(model, X, "decision_function"), "decision_function")
    if name[0] == "X" and options.get("objective") != "multi:softmax":
        assert_read(booster_of(model), probe(model, X, method, infinite=False))
    if name[0] == "L":
        assert_read(booster_of(model), probe(model, X, method))


@pytest.mark.parametrize("name", ["XGBRanker", "LGBMRanker", "CatBoostRanker"])
def test_rankers_answer_with_scores(name):
    X = table()
    grades, queries = targets(X)["three"], np.arange(len(X)) // 25
    groups = {"group_id": queries} if name[0] == "C" else {"group": [25] * 10} if name[0] == "L" else {"qid": queries}
    for options in [{}] if name[0] != "X" else [{"objective": "rank:ndcg"}, {"objective": "rank:pairwise"}]:
        if name[0] == "C":
            options = {"loss_function": "YetiRank"}
        model = make(name, **SIZES[name[0]], **options).fit(X, grades, **groups)
        assert assert_read(model, probe(model, X, "predict")).link.linear


@given(
    name=st.sampled_from(["XGBRegressor", "LGBMRegressor", "CatBoostRegressor"]),
    seed=st.integers(0, 2**20),
    n=st.integers(20, 120),
    depth=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.3]),
    kind=st.sampled_from(["float64", "float32", "int64", "int8"]),
    power=st.sampled_from([-44, -38, -35, -30, -3, 0, 0, 9, 30]),
    zero=st.sampled_from([{}, {"zero_as_missing": True}, {"use_missing": False}]),
)
@settings(max_examples=40, deadline=None)
def test_any_small_booster(name, seed, n, depth, missing, kind, power, zero):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * 10.0**power
    X[rng.random(X.shape) < 0.3] = 0
    if kind.startswith("int"):
        X = np.clip(X, -100, 100)
    X = X.astype(kind)
    if not kind.startswith("int"):
        X[rng.random(X.shape) < missing] = np.nan
    y = rng.normal(size=n) + 3 * (np.nan_to_num(X[:, 0]) > 0)
    options = {
        "X": {"n_estimators": 3, "max_depth": depth},
        "L": {"n_estimators": 3, "num_leaves": 2**depth, "min_child_samples": 1, "max_bin": 20} | zero,
        "C": {"iterations": 3, "depth": depth},
    }[name[0]]
    assume(name[0] != "C" or len(np.unique(np.nan_to_num(X))) > 1)
    model = make(name, **options).fit(X, y)
    assert_read(model, X)
    with np.errstate(over="ignore"):
        assert_read(model, probe(model, X.astype(float), "predict", seed=seed).astype("float32" if seed % 2 else float))


# Rounds


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_what_stopped_early_answers_with_its_best_rounds():
    X = table(400)
    y = targets(X)["words"]
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(200) < 0.3, rng.permutation(y[200:]), y[200:])
    for name in ("XGBClassifier", "LGBMClassifier", "CatBoostClassifier"):
        if name[0] == "X":
            codes = np.unique(y, return_inverse=True)[1]
            stops = np.unique(noisy, return_inverse=True)[1]
            model = make(name, n_estimators=60, early_stopping_rounds=5)
            model.fit(X[:200], codes[:200], eval_set=[(X[200:], stops)], verbose=False)
            reading, whole = assert_read(model, X, "predict_proba"), assert_read(booster_of(model), X)
            assert 3 < reading.ensemble.n_trees == 3 * (model.best_iteration + 1) < whole.ensemble.n_trees
        elif name[0] == "L":
            import lightgbm

            model = make(name, n_estimators=60)
            stop = [lightgbm.early_stopping(5, verbose=False)]
            model.fit(X[:200], y[:200], eval_set=[(X[200:], noisy)], callbacks=stop)
            reading, whole = assert_read(model, X, "predict_proba"), assert_read(booster_of(model), X)
            assert 3 < reading.ensemble.n_trees == whole.ensemble.n_trees == 3 * model.best_iteration_
            data = lightgbm.Dataset(X[:200], signal(X[:200]), free_raw_data=False)
            other = lightgbm.Dataset(X[200:], rng.permutation(signal(X[200:])), reference=data)
            quiet = {"verbose": -1, "num_threads": 1, "learning_rate": 0.01}
            kept = lightgbm.train(quiet, data, 60, [other], callbacks=stop, keep_training_booster=True)
            assert kept.num_trees() > assert_read(kept, X).ensemble.n_trees == kept.best_iteration
        else:
            model = make(name, iterations=60, early_stopping_rounds=5)
            model.fit(X[:200], y[:200], eval_set=(X[200:], noisy))
            reading = assert_read(model, X, "predict_proba")
            assert 1 < reading.ensemble.n_trees == model.best_iteration_ + 1 < 60


def test_slices_and_copies_of_boosters_are_read_as_they_are(tmp_path):
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    X = table()
    y = signal(X)
    model = make("XGBRegressor", n_estimators=7).fit(X, y)
    assert assert_read(booster_of(model)[2:5], X).ensemble.n_trees == 3
    model.save_model(tmp_path / "model.ubj")
    loaded = xgboost.XGBRegressor()
    loaded.load_model(tmp_path / "model.ubj")
    assert_read(loaded, X)
    model = make("LGBMRegressor", n_estimators=7).fit(X, y)
    loaded = lightgbm.Booster(model_str=booster_of(model).model_to_string(num_iteration=4))
    assert assert_read(loaded, X).ensemble.n_trees == 4


def test_catboost_scales_sums_and_copies(tmp_path):
    catboost = pytest.importorskip("catboost")
    X = table()
    y = signal(X)
    model = make("CatBoostRegressor", iterations=5).fit(X, y)
    model.set_scale_and_bias(2.5, [-3.0])
    assert_read(model, X)
    other = make("CatBoostRegressor", iterations=4, random_seed=5).fit(X, y**2)
    assert_read(catboost.sum_models([model, other], weights=[2, 0.5]), X)
    poisson = make("CatBoostRegressor", iterations=5, loss_function="Poisson").fit(X, np.exp(y / 3))
    poisson.save_model(str(tmp_path / "model.cbm"))
    for loaded in (catboost.CatBoostRegressor(), catboost.CatBoost()):
        loaded.load_model(str(tmp_path / "model.cbm"))
        assert_read(loaded, X)


def test_an_objective_of_ones_own_leaves_the_sum_alone():
    X = table()
    y = targets(X)["number"]

    def squared(truth, raw, *_):
        return raw - truth, np.ones_like(truth)

    for name in ("XGBRegressor", "LGBMRegressor"):
        model = make(name, objective=squared, n_estimators=5).fit(X, y)
        assert assert_read(model, X).link.linear
    model = make("LGBMClassifier", objective=lambda truth, raw: (expit(raw) - truth, np.full(len(truth), 0.25)))
    model.set_params(n_estimators=4).fit(X, y > 1)
    assert read(model, "predict_proba").ensemble.n_raw == 1


# Containers


def numbers(n=200):
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "real": rng.normal(size=n),
            "short": rng.normal(size=n).astype(np.float32),
            "small": rng.integers(-5, 5, n).astype(np.int8),
            "large": rng.integers(0, 2**40, n),
            "flag": rng.random(n) < 0.5,
        }
    )


@pytest.mark.parametrize("name", ["XGBRegressor", "LGBMRegressor", "CatBoostRegressor"])
def test_frames_of_many_types(name):
    frame = numbers()
    y = frame["real"] + frame["small"] + frame["large"] / 2**38 + frame["flag"]
    model = make(name, **SIZES[name[0]]).fit(frame, y)
    assert_read(model, frame)
    nullable = frame.convert_dtypes()
    if name[0] != "C":  # early releases of 1.2 cannot take them
        nullable.loc[:20, ["real", "small", "large"]] = pd.NA
    assert_read(model, nullable)
    if name[0] != "L":  # which refuses them
        assert_read(model, frame.astype({"real": "float64[pyarrow]", "large": "int64[pyarrow]"}))
    # Neighbours of 64-bit integers that only some libraries can tell apart.
    at = read(model, "predict").ensemble
    marks = at.threshold[(at.left >= 0) & (at.column == 3)]
    assert len(marks) > 3
    exact = np.concatenate([np.floor(marks) + k for k in (-(2**13), -1, 0, 1, 2**13)]).astype(np.int64)
    many = frame.iloc[np.arange(len(exact)) % len(frame)].reset_index(drop=True).assign(large=exact)
    assert_read(model, many)
    assert_read(booster_of(model) if name[0] == "L" else model, many.to_numpy(dtype=float))
    takes_polars = {
        "X": lambda: True,
        "L": lambda: release("lightgbm") >= (4, 7),
        "C": lambda: "polars" in vars(importlib.import_module("catboost.core")),
    }
    if takes_polars[name[0]]():
        assert_read(model, pl.from_pandas(many))
        assert_read(model, pl.from_pandas(many).with_columns(pl.when(pl.col("small") > 0).then("small").alias("small")))


@pytest.mark.filterwarnings("ignore:Sparse arrays from pandas are converted into dense:UserWarning")
@pytest.mark.parametrize("name", ["XGBRegressor", "LGBMRegressor", "CatBoostRegressor"])
def test_frames_with_sparse_columns(name):
    X = table()
    frame = pd.DataFrame(X, columns=list("abc"))
    model = make(name, **SIZES[name[0]]).fit(frame, signal(X))
    assert_read(model, frame.astype({"c": pd.SparseDtype(float, 0)}))


@pytest.mark.parametrize("name", ["XGBRegressor", "LGBMRegressor", "CatBoostRegressor"])
def test_arrays_of_many_types(name):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2**26, size=(200, 3))
    model = make(name, **SIZES[name[0]]).fit(X, X @ [1e-7, -2e-7, 3e-7])
    at = read(model, "predict").ensemble
    marks = np.floor(at.threshold[at.left >= 0])
    near = X[rng.integers(len(X), size=300)]
    near[:, :] = rng.choice(np.concatenate([marks + k for k in range(-3, 4)]), near.shape)
    for dtype in (np.int64, np.uint32, np.float64, np.float32, object):
        assert_read(model, near.astype(dtype))
    assert np.array_equal(read(model, "predict").encode(near.tolist()), read(model, "predict").encode(near))
    assert_read(model, np.asfortranarray(near))
    assert_read(model, (near % 2).astype(bool))
    with pytest.raises(UnreadableError, match="not numbers"):
        read(model, "predict").encode(near.astype("M8[s]"))
    with pytest.raises(UnreadableError, match="fitted to 3 columns"):
        read(model, "predict").encode(near[:, :2])
    with pytest.raises(UnreadableError, match="'a' holds object, not numbers"):
        read(model, "predict").encode(pd.DataFrame(near, columns=list("abc")).astype({"a": object}))


@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse matrix")
@pytest.mark.parametrize("name", ["XGBRegressor", "LGBMRegressor", "CatBoostRegressor"])
def test_sparse_matrices(name):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3)) * (rng.random((200, 3)) < 0.5)
    y = X @ [1.0, 2, 3] + (X[:, 0] == 0)
    model = make(name, **SIZES[name[0]]).fit(sparse.csr_matrix(X), y)
    rows = sparse.csr_matrix(X)
    rows.data[::7] = 0  # stored zeros are zeros, also where an absent one is missing
    rows.data[::11] = np.nan
    for form in (sparse.csr_matrix, sparse.csc_matrix, *([sparse.csr_array] if name[0] != "C" else [])):
        assert_read(model, form(rows))
    if name[0] != "C":
        rows.data[::13] = WINDOW
        rows.data[1::13] = -WINDOW
        assert_read(model, rows)
        assert_read(model, rows.tocsc())
    assert_read(model, rows.toarray())


# Missing values, zeros and infinities


@pytest.mark.parametrize("mark", [-999.0, 0.0, np.inf, 0.1])
def test_xgboost_takes_a_number_for_missing(mark):
    X = table()
    X[::5, 0] = mark
    X[1::5, 2] = np.nan
    model = make("XGBRegressor", missing=mark, n_estimators=5, max_depth=3).fit(X, signal(np.nan_to_num(X, posinf=0)))
    rows = np.vstack([X, probe(model, X, "predict")])
    rows[::4, 1] = mark
    assert_read(model, rows)
    assert_read(model, pd.DataFrame(rows, columns=list("abc")))
    assert_read(model, sparse.csr_matrix(rows))
    assert (read(model, "predict").encode(np.full((1, 3), mark)).tolist()) == [[pytest.approx(np.nan, nan_ok=True)] * 3]


def test_xgboost_refuses_infinities_where_a_matrix_is_made():
    xgboost = pytest.importorskip("xgboost")
    X = table()
    model = make("XGBRegressor", n_estimators=3).fit(X, signal(X))
    X[0, 0] = 1e39
    assert_read(model, X)
    for asked, rows in ((booster_of(model), X), (model, sparse.csc_matrix(X))):
        with pytest.raises(xgboost.core.XGBoostError, match="inf"):
            asked.predict(xgboost.DMatrix(rows))
        with pytest.raises(UnreadableError, match="infinite"):
            read(asked, "predict").encode(rows)


@pytest.mark.parametrize("options", [{}, {"zero_as_missing": True}, {"use_missing": False}])
def test_lightgbm_takes_what_is_close_to_zero_for_zero(options):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=200) * 1e-3, np.zeros(60), rng.normal(size=100) * 1e-35])
    y = np.sign(x) * (np.abs(x) > 1e-20) + 5 * (x == 0) + 2 * ((np.abs(x) < 1e-34) & (x != 0))
    model = make("LGBMRegressor", n_estimators=30, min_data_in_bin=1, **options).fit(x[:, None], y)
    marks = [0.0, -0.0, WINDOW, -WINDOW, 1e-36, -1e-36, 1e-40, -1e-34, 1e-34, np.nan, np.inf, -np.inf]
    marks += [np.nextafter(s * WINDOW, s * to) for s in (1, -1) for to in (0, 1)]
    rows = np.array(marks)[:, None]
    assert len(np.unique(model.predict(rows))) > 1
    stored = sparse.csr_matrix((rows[:, 0], (np.arange(len(rows)), np.zeros(len(rows), int))), shape=rows.shape)
    for asked in (model, booster_of(model)):
        for form in (rows, pd.DataFrame(rows, columns=["a"]), stored, stored.tocsc()):
            assert_read(asked, form)
        if release("lightgbm") >= (4, 7):
            assert_read(asked, pl.DataFrame({"a": rows[:, 0]}))


def test_lightgbm_with_two_meanings_of_zero_is_refused():
    lightgbm = pytest.importorskip("lightgbm")
    X = table()
    y = signal(X)
    quiet = {"verbose": -1, "num_threads": 1}
    first = lightgbm.train(quiet | {"zero_as_missing": True}, lightgbm.Dataset(X, y), 3)
    both = lightgbm.train(quiet, lightgbm.Dataset(X, y), 3, init_model=first)
    assert_read(first, X)
    assert_refused(both, "predict", "zero is missing in some of its trees")


@pytest.mark.parametrize("mode", ["Min", "Max"])
def test_catboost_sends_missing_values_to_one_end(mode):
    X = table(missing=0.2)
    model = make("CatBoostRegressor", iterations=8, nan_mode=mode).fit(X, signal(X) + 4 * np.isnan(X[:, 0]))
    rows = np.repeat(X[~np.isnan(X).any(axis=1)][:5], 3, axis=0)
    rows[::3, 0], rows[1::3, 0], rows[2::3, 0] = np.nan, -np.inf, np.inf
    assert_read(model, rows)
    answers = model.predict(rows).reshape(5, 3)
    assert np.array_equal(answers[:, 0], answers[:, 1 if mode == "Min" else 2])


# Categories


def categories(n=400):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "real": rng.normal(size=n),
            "word": pd.Categorical(rng.choice(list("zyxwvu"), n), categories=list("zyxwvu")),
            "year": pd.Categorical(rng.integers(1950, 1990, n)),
        }
    )


def response_to(frame):
    codes = frame["word"].cat.codes
    return frame["real"] * 0.3 + np.array([0, 5, 1, 7, -3, 2])[codes] + frame["year"].cat.codes % 3


def coded(frame):
    return np.column_stack([frame["real"], frame["word"].cat.codes, frame["year"].cat.codes])


def strange_codes(frame):
    codes = coded(frame).astype(float)
    strange = [
        -1,
        -0.5,
        -0.0,
        0.5,
        1.999,
        5.5,
        6,
        31,
        32,
        33,
        64,
        2.0**24 - 1,
        2.0**24,
        2.0**31,
        -(2.0**31),
        1e30,
        np.nan,
    ]
    rows = np.repeat(codes[:40], len(strange), axis=0)
    rows[:, 1] = np.tile(strange, 40)
    rows[::2, 2] = np.roll(rows[::2, 1], 5)
    return rows


@pytest.mark.parametrize("one_hot", [2, 100])
def test_xgboost_categories(one_hot):
    frame = categories()
    model = make("XGBRegressor", enable_categorical=True, max_cat_to_onehot=one_hot, n_estimators=6, max_depth=4)
    model.fit(frame, response_to(frame))
    holes = frame.copy()
    holes.loc[::5, "word"] = np.nan
    codes = strange_codes(frame)
    for asked in (model, booster_of(model)):
        assert len(assert_read(asked, frame).ensemble.category_sets) > 3
        assert_read(asked, holes)
        assert_read(asked, codes)
        assert_read(asked, codes.astype(np.float32))
    if release("xgboost") >= (3, 1):  # earlier releases take the codes of any frame as they are
        words = frame["word"]
        for other in (
            words.cat.reorder_categories(sorted(words.cat.categories)),
            pd.Series(pd.Categorical(["x"] * len(frame))),
            words.cat.as_ordered(),
            *([words.cat.add_categories(["never"])] if release("xgboost") < (3, 3) else []),  # refused since
        ):
            assert_read(model, frame.assign(word=other))
            assert_read(booster_of(model), frame.assign(word=other))
        with pytest.raises(UnreadableError, match="'never' is no category of 'word'"):
            read(model, "predict").encode(frame.assign(word=pd.Categorical(["never"] * len(frame))))


@pytest.mark.parametrize("mark", [0.0, 2.0, -999.0])
def test_xgboost_looks_for_missing_codes_before_it_renumbers_them(mark):
    frame = categories()
    model = make("XGBRegressor", enable_categorical=True, n_estimators=6, max_depth=4).fit(frame, response_to(frame))
    model.set_params(missing=mark)
    assert_read(model, frame)
    assert_read(model, coded(frame))
    if release("xgboost") >= (3, 1):
        assert_read(model, frame.assign(word=frame["word"].cat.reorder_categories(list("uvwxyz"))))


def test_xgboost_trained_on_codes_takes_the_codes_of_any_frame():
    frame = categories()
    model = make("XGBRegressor", enable_categorical=True, feature_types=["q", "c", "c"], n_estimators=5)
    model.fit(coded(frame), response_to(frame))
    assert_read(model, strange_codes(frame))
    renamed = frame.set_axis(["f0", "f1", "f2"], axis=1)
    assert_read(model, renamed)
    assert_read(model, renamed.assign(f1=frame["word"].cat.reorder_categories(list("uvwxyz"))))


def test_xgboost_polars_categories():
    if release("xgboost") < (3, 1):
        pytest.skip("XGBoost before 3.1 takes no polars categories")
    frame = categories()[["real", "word"]]
    model = make("XGBRegressor", enable_categorical=True, n_estimators=5).fit(frame, response_to(categories()))
    words = [None, *frame["word"].astype(str)[1:]]
    for dtype in (pl.Enum(list("uvwxyz")), *([pl.Categorical] if release("xgboost") < (3, 3) else [])):
        rows = pl.DataFrame({"real": frame["real"].to_numpy(), "word": pl.Series(words, dtype=dtype)})
        assert_read(model, rows)
        assert_read(model, rows[50:60])


@pytest.mark.parametrize("names", [["é", "b", "漢字", "a", "ß", "x"], ["é", "ü", "b", "a", "ß", "x"]])
def test_xgboost_names_beyond_ascii_are_right_or_refused(names):
    frame = categories()
    frame["word"] = frame["word"].cat.rename_categories(names)
    model = make("XGBRegressor", enable_categorical=True, n_estimators=5).fit(frame, response_to(frame))
    reading = read(model, "predict")
    try:
        encoded = reading.encode(frame)
    except UnreadableError as error:
        assert "confuse categories of 'word'" in str(error)  # noqa: PT017
    else:
        np.testing.assert_allclose(reading.ensemble.predict(encoded)[0], model.predict(frame), rtol=1e-5)
    if release("xgboost") >= (3, 1):
        with pytest.raises(UnreadableError, match="confuse categories of 'word'"):
            reading.encode(frame.assign(word=frame["word"].cat.reorder_categories(sorted(names))))


@pytest.mark.parametrize("missing", ["no", "yes", "zero"])
def test_lightgbm_categories(missing):
    frame = categories()
    y = response_to(frame)
    if missing == "yes":
        frame.loc[::7, ["real", "word"]] = np.nan
    options = {"zero_as_missing": True} if missing == "zero" else {}
    model = make("LGBMRegressor", n_estimators=8, num_leaves=9, max_cat_to_onehot=2, **options).fit(frame, y)
    words = frame["word"]
    unseen = words.cat.add_categories(["never"]).where(words != "x", "never")
    for asked in (model, booster_of(model)):
        assert len(assert_read(asked, frame).ensemble.category_sets) > 3
        for other in (words.cat.reorder_categories(sorted(words.cat.categories)), unseen, words.cat.as_ordered()):
            assert_read(asked, frame.assign(word=other))
        with pytest.raises(UnreadableError, match="1 more category column"):
            read(asked, "predict").encode(frame.assign(word=0.5))
        with pytest.raises(UnreadableError, match="not fitted to categories in column 'year'"):
            read(asked, "predict").encode(frame.assign(real=frame["year"]))
        with pytest.raises(UnreadableError, match="fitted to 3 columns"):
            read(asked, "predict").encode(frame.iloc[:, :2])
    assert_read(booster_of(model), strange_codes(frame))
    model = make("LGBMRegressor", n_estimators=8, cat_smooth=1).fit(coded(frame), y, categorical_feature=[1, 2])
    assert len(read(model, "predict").ensemble.category_sets) > 3
    assert_read(model, strange_codes(frame))
    assert_read(model, frame.set_axis(["Column_0", "Column_1", "Column_2"], axis=1))


@given(
    name=st.sampled_from(["XGBRegressor", "LGBMRegressor"]),
    seed=st.integers(0, 2**20),
    sizes=st.tuples(st.integers(1, 70), st.integers(1, 5)),
    kind=st.sampled_from(["words", "numbers", "codes"]),
    missing=st.sampled_from([0.0, 0.2]),
    one_hot=st.sampled_from([1, 4, 100]),
    zero=st.sampled_from([{}, {"zero_as_missing": True}, {"use_missing": False}]),
)
@settings(max_examples=40, deadline=None)
def test_any_small_booster_of_categories(name, seed, sizes, kind, missing, one_hot, zero):
    rng = np.random.default_rng(seed)
    n = 150
    codes = rng.integers(0, sizes, size=(n, 2)).astype(float)
    y = rng.normal(size=(2, 70))[[0, 1], codes.astype(int)].sum(axis=1) + rng.normal(scale=0.1, size=n)
    codes[rng.random(codes.shape) < missing] = np.nan
    X = np.column_stack([codes, rng.normal(size=n).round(1)])
    options = {"max_cat_to_onehot": one_hot}
    if name[0] == "X":
        options |= {"n_estimators": 3, "max_depth": 4, "enable_categorical": True, "tree_method": "hist"}
    else:
        options |= {"n_estimators": 3, "min_data_per_group": 1, "cat_smooth": 0.1} | zero
    if kind == "codes":
        if name[0] == "X":
            model = make(name, feature_types=["c", "c", "q"], **options).fit(X, y)
        else:
            model = make(name, **options).fit(X, y, categorical_feature=[0, 1])
        strange = rng.choice([-2, -0.5, 0.25, *range(72), 2.0**23 + 0.5, 2.0**24, 3e9], size=codes.shape)
        assert_read(model, np.column_stack([np.where(rng.random(codes.shape) < 0.5, strange, codes), X[:, 2]]))
        return
    labels = [f"c{k}" for k in range(70)] if kind == "words" else list(range(-5, 65))

    def frame(order):
        columns = {}
        for j, size in enumerate(sizes):
            words = [None if np.isnan(code) else labels[int(code)] for code in codes[:, j]]
            levels = list(order(labels[:size]))
            columns["ab"[j]] = pd.Categorical(words, categories=levels)
        return pd.DataFrame(columns | {"x": X[:, 2]})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of columns with one category
        model = make(name, **options).fit(frame(list), y)
    assert_read(model, frame(list))
    if name[0] == "L" or release("xgboost") >= (3, 1):
        assert_read(model, frame(rng.permutation))
        assert_read(model, frame(reversed))


# What is refused


@pytest.mark.filterwarnings("ignore:.*is deprecated")  # linear boosters, from 3.3 on
def test_xgboost_models_that_are_no_sums():
    xgboost = pytest.importorskip("xgboost")
    X = table()
    y = signal(X)
    model = make("XGBRegressor", booster="gblinear", updater="coord_descent", n_estimators=3).fit(X, y)
    assert_refused(model, "predict", "linear model")
    classifier = make("XGBClassifier", n_estimators=3).fit(X, y > 1)
    assert_refused(classifier, "predict", "votes")
    assert_refused(classifier, "decision_function", "no decision_function")
    for objective, reason in (("binary:hinge", "class label"), ("binary:logitraw", "probabilities")):
        odd = make("XGBClassifier", objective=objective, n_estimators=3).fit(X, y > 1)
        assert_refused(odd, "predict_proba", reason)
    assert_read(booster_of(odd), X)  # raw sums are an answer like any other
    soft = make("XGBClassifier", objective="multi:softmax", n_estimators=3).fit(X, targets(X)["three"])
    assert_refused(booster_of(soft), "predict", "votes")
    assert_refused(xgboost.XGBRegressor(), "predict", "could not be read")
    assert_refused(make("XGBRegressor", n_estimators=0).fit(X, y), "predict", "no trees")


def test_lightgbm_models_that_are_no_sums():
    X = table()
    y = signal(X)
    model = make("LGBMRegressor", linear_tree=True, n_estimators=3).fit(X, y)
    assert_refused(model, "predict", "linear model in every leaf")
    model = make("LGBMClassifier", pred_early_stop=True, n_estimators=3).fit(X, y > 1)
    assert_refused(model, "predict_proba", "pred_early_stop")
    assert_read(booster_of(model), X)
    assert_refused(model, "predict", "votes")
    model = make("LGBMClassifier", objective="regression", n_estimators=3).fit(X, y > 1)
    assert_refused(model, "predict_proba", "probabilities")


def test_catboost_models_that_are_no_sums_of_comparisons():
    X = table()
    y = signal(X)
    frame = pd.DataFrame(X).assign(word=np.where(y > 1, "a", "b"))
    model = make("CatBoostRegressor", iterations=2).fit(frame, y, cat_features=["word"])
    assert_refused(model, "predict", "categorical features")
    frame["word"] = np.where(y > 1, "one two", "two three")
    model = make("CatBoostRegressor", iterations=2).fit(frame, y, text_features=["word"])
    assert_refused(model, "predict", "text features")
    model = make("CatBoostClassifier", iterations=2).fit(X, y > 1)
    assert_refused(model, "predict", "votes")


def test_distributed_estimators_are_not_taken_for_local_ones():
    pytest.importorskip("dask")
    xgboost = pytest.importorskip("xgboost.dask")
    lightgbm = pytest.importorskip("lightgbm.dask")
    for model in (xgboost.DaskXGBRegressor(), lightgbm.DaskLGBMRegressor()):
        assert_refused(model, "predict", "is not read")


def test_a_single_constant_leaf():
    pytest.importorskip("lightgbm")
    X = table()
    model = make("LGBMRegressor", n_estimators=4).fit(X, np.full(len(X), 2.5))
    assert assert_read(model, X).ensemble.n_leaves == 1
    model = make("XGBRegressor", n_estimators=4, gamma=1e9, base_score=1.5).fit(X, signal(X))
    assert assert_read(model, X).ensemble.n_leaves == 4


def test_nothing_is_left_of_pruned_nodes():
    X = table()
    model = make("XGBRegressor", tree_method="exact", gamma=20, n_estimators=3, max_depth=6).fit(X, signal(X))
    ensemble = assert_read(model, X).ensemble
    reached = np.concatenate([ensemble.roots, ensemble.left, ensemble.right])
    assert np.array_equal(np.unique(reached[reached >= 0]), np.arange(len(ensemble.left)))
    assert 'num_deleted":"0' not in booster_of(model).save_raw("json").decode()


def test_lightgbm_text_with_misleading_feature_names():
    pytest.importorskip("lightgbm")
    frame = pd.DataFrame(table(), columns=["threshold", "leaf_value", "num_leaves"])
    model = make("LGBMRegressor", n_estimators=4).fit(frame, signal(frame.to_numpy()))
    assert_read(model, frame)
    assert read_lightgbm(model, "predict").ensemble.n_trees == 4
