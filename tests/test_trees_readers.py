"""Readers of scikit-learn's trees against the estimators' own methods, at thresholds and their neighbours above all."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import ensemble as e
from sklearn.dummy import DummyRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits
from tree_tools import assert_read, edges, fit, methods_of, table, targets

from pdp_widgets.trees.ensemble import UnreadableError
from pdp_widgets.trees.reading import read


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small models spend their time on starting threads."""
    with threadpool_limits(1):
        yield


FAMILIES = {
    "tree": (DecisionTreeRegressor(max_depth=5, random_state=0), "number numbers constant"),
    "poisson tree": (DecisionTreeRegressor(criterion="poisson", max_depth=5, random_state=0), "positive"),
    "tree of classes": (DecisionTreeClassifier(max_depth=4, random_state=0), "two three several one"),
    "extra tree": (ExtraTreeRegressor(max_depth=5, random_state=0), "number numbers"),
    "extra tree that takes no NaN": (  # of whichever release
        ExtraTreeRegressor(splitter="best", criterion="absolute_error", max_depth=5, random_state=0),
        "number",
    ),
    "extra tree of classes": (ExtraTreeClassifier(max_depth=4, random_state=0), "three several"),
    "forest": (e.RandomForestRegressor(7, max_depth=6, random_state=0), "number numbers constant"),
    "forest of classes": (e.RandomForestClassifier(7, max_depth=5, random_state=0), "two three several one"),
    "extra trees": (e.ExtraTreesRegressor(6, max_depth=6, random_state=0), "number numbers"),
    "extra trees of classes": (e.ExtraTreesClassifier(6, max_depth=6, random_state=0), "two several"),
    "bagging": (e.BaggingRegressor(n_estimators=5, max_features=2, random_state=0), "number numbers constant"),
    "bagging, repeated columns": (e.BaggingRegressor(bootstrap_features=True, random_state=1), "number"),
    "bagging of classes": (e.BaggingClassifier(n_estimators=6, max_features=0.7, random_state=0), "two three one"),
    "bagging that lacks classes": (  # voting takes no sample weights, so its members see some rows only
        e.BaggingClassifier(
            e.VotingClassifier([("t", DecisionTreeClassifier())], voting="soft"), 9, max_samples=2, random_state=0
        ),
        "three",
    ),
    "bagging of boosting": (
        e.BaggingRegressor(e.HistGradientBoostingRegressor(max_iter=4), 3, max_features=2, random_state=0),
        "number",
    ),
    "bagging of boosted classes": (
        e.BaggingClassifier(e.GradientBoostingClassifier(n_estimators=3), 3, random_state=0),
        "three:decision_function two:decision_function",
    ),
    "bagging of forests": (e.BaggingClassifier(e.RandomForestClassifier(3), 3, random_state=0), "three"),
    "voting": (
        e.VotingRegressor(
            [
                ("f", e.RandomForestRegressor(3, random_state=0)),
                ("x", "drop"),
                ("t", DecisionTreeRegressor(max_depth=3, random_state=0)),
            ],
            weights=[1, 5, 2],
        ),
        "number",
    ),
    "voting of classes": (
        e.VotingClassifier(
            [("f", e.RandomForestClassifier(3, random_state=0)), ("t", DecisionTreeClassifier(random_state=0))],
            voting="soft",
        ),
        "three",
    ),
    "isolation forest": (e.IsolationForest(n_estimators=9, random_state=0), "none"),
    "isolation forest of subsets": (
        e.IsolationForest(n_estimators=5, max_features=2, max_samples=50, contamination=0.1, random_state=0),
        "none",
    ),
    "isolation forest of one row": (e.IsolationForest(n_estimators=2, max_samples=1, random_state=0), "none"),
    "ada boost": (e.AdaBoostClassifier(n_estimators=8, random_state=0), "two three one"),
    "ada boost of deep trees": (
        e.AdaBoostClassifier(ExtraTreeClassifier(max_depth=2), n_estimators=8, learning_rate=0.5, random_state=0),
        "two three",
    ),
    "boosting": (e.GradientBoostingRegressor(n_estimators=12, subsample=0.8, random_state=0), "number constant"),
    "boosting from zero": (e.GradientBoostingRegressor(init="zero", n_estimators=5), "number"),
    "boosting, huber": (e.GradientBoostingRegressor(loss="huber", n_estimators=9, learning_rate=0.3), "number"),
    "boosting, median": (e.GradientBoostingRegressor(loss="absolute_error", n_estimators=9), "number"),
    "boosting, quantile": (
        e.GradientBoostingRegressor(loss="quantile", alpha=0.8, n_estimators=9, n_iter_no_change=2, random_state=0),
        "number",
    ),
    "boosting from a dummy": (
        e.GradientBoostingRegressor(init=DummyRegressor(strategy="median"), n_estimators=4),
        "number",
    ),
    "boosting of classes": (e.GradientBoostingClassifier(n_estimators=7, random_state=0), "two three"),
    "boosting of classes from zero": (e.GradientBoostingClassifier(init="zero", n_estimators=4), "two three"),
    "boosting of classes, exponential": (e.GradientBoostingClassifier(loss="exponential", n_estimators=7), "two"),
    "histogram boosting": (e.HistGradientBoostingRegressor(max_iter=15, min_samples_leaf=5), "number constant"),
    "histogram boosting, few bins": (
        e.HistGradientBoostingRegressor(max_bins=4, max_iter=9, early_stopping=True, random_state=0),
        "number",
    ),
    "histogram boosting, median": (e.HistGradientBoostingRegressor(loss="absolute_error", max_iter=7), "number"),
    "histogram boosting, quantile": (
        e.HistGradientBoostingRegressor(loss="quantile", quantile=0.3, max_iter=7),
        "number",
    ),
    "histogram boosting, poisson": (e.HistGradientBoostingRegressor(loss="poisson", max_iter=7), "positive"),
    "histogram boosting, gamma": (e.HistGradientBoostingRegressor(loss="gamma", max_iter=7), "positive"),
    "histogram boosting of classes": (
        e.HistGradientBoostingClassifier(max_iter=9, min_samples_leaf=5, class_weight="balanced"),
        "two three one",
    ),
}
CASES = [
    pytest.param(model, *target.partition(":")[::2], variant, id=f"{name}-{target}-{variant}")
    for name, (model, kinds) in FAMILIES.items()
    for target in kinds.split()
    for variant in ("plain", "weighted", "missing")
    if variant != "missing" or get_tags(model).input_tags.allow_nan
]


@pytest.mark.parametrize(("model", "target", "method", "variant"), CASES)
def test_every_family_answers_as_itself_at_and_around_thresholds(model, target, method, variant):
    X = table()
    if variant == "missing":
        X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    weights = {"sample_weight": np.random.default_rng(2).integers(0, 4, len(X)) + 0.25} if variant == "weighted" else {}
    fitted = copy.deepcopy(model).fit(X, targets(target, X), **weights)
    allow_nan = get_tags(fitted).input_tags.allow_nan
    infinite = "Hist" in str(model) or "Isolation" in str(model)
    methods = [method] if method else methods_of(fitted)
    reading = read(fitted, methods[0])
    rows = edges(reading.ensemble, X, 3, missing=allow_nan, infinite=infinite)
    assert reading.family == type(model).__name__
    assert np.array_equal(reading.ensemble.rounded(rows), reading.encode(rows), equal_nan=True)
    assert_read(fitted, rows, methods=methods)
    assert_read(fitted, X, methods=methods)


def test_a_value_that_float32_rounds_across_a_threshold_goes_where_the_tree_sends_it():
    step = 2.0**-20  # between neighbouring float32 numbers from 8 on
    model = DecisionTreeRegressor().fit([[8], [8 + step], [8 + 2 * step]], [0.0, 1.0, 2.0])
    halfway = np.array([8 + step / 2, 8 + 3 * step / 2])
    ensemble = read(model, "predict").ensemble
    assert np.array_equal(np.sort(ensemble.threshold[ensemble.left >= 0]), halfway)
    rows = np.concatenate([halfway, np.nextafter(halfway, 0), np.nextafter(halfway, 9)])[:, None]
    # Halfway rounds to the even neighbour: of two values that equal a threshold one goes left, the other right.
    assert model.predict(rows).tolist() == [0, 2, 0, 1, 1, 2]
    assert_read(model, rows, exact=True)


@pytest.mark.parametrize("name", ["tree", "tree of classes", "boosting", "boosting of classes", "histogram boosting"])
def test_sums_round_as_the_model_rounds(name):
    model, kinds = FAMILIES[name]
    X = table()
    fitted = copy.deepcopy(model).fit(X, targets(kinds.split()[0], X))
    method = "decision_function" if hasattr(fitted, "decision_function") else methods_of(fitted)[0]
    assert_read(fitted, edges(read(fitted, method).ensemble, X, 0), methods=[method], exact=True)


@pytest.mark.parametrize("n", [2, 9])
def test_bagging_whose_number_of_members_is_set_after_the_fit(n):
    model = fit(e.BaggingRegressor(n_estimators=5, random_state=0)).set_params(n_estimators=n)
    assert_read(model, table())


def test_equal_votes_are_settled_as_numpy_settles_them():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]])
    y = ["b", "a", "c", "b", "a", "c"]
    model = e.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=1).fit(X, y)
    assert (model.estimators_[0].tree_.value[1] == [0.5, 0.5, 0]).all()
    assert_read(model, X)


FRAME = pd.DataFrame(table(), columns=["a", "b", "c"]).assign(k=np.arange(160) % 7, flag=np.arange(160) % 3 == 0)
CONTAINERS = {
    "frame": FRAME,
    "float32": FRAME.to_numpy(dtype=np.float32),
    "objects": FRAME.to_numpy(dtype=object),
    "integers": (FRAME * 100).astype(int),
    "nullable": FRAME.convert_dtypes(),
    "arrow": FRAME.astype({"a": "double[pyarrow]", "k": "int64[pyarrow]"}),
    "texts of numbers": FRAME.assign(a=FRAME["a"].astype(str).astype(object)),
    "categories of numbers": FRAME.assign(k=FRAME["k"].astype("category")),
    "large integers": FRAME.assign(k=2**60 + FRAME["k"] * 2**36 + 1),
    "polars": pl.from_pandas(FRAME),
    "polars integers": pl.from_pandas(FRAME * 1).with_columns(pl.col("k").cast(pl.UInt8)),
    "csr": sparse.csr_array(FRAME.to_numpy(dtype=float)),
    "csc": sparse.csc_matrix(FRAME.to_numpy(dtype=float)),
}


@pytest.mark.parametrize(
    ("name", "container"),
    [
        (name, container)
        for name in ("tree", "forest", "bagging", "ada boost", "boosting", "isolation forest", "histogram boosting")
        for container in CONTAINERS
        if not (name == "histogram boosting" and container in ("csr", "csc"))  # which it does not take
    ],
)
def test_rows_in_any_container_are_numbers_as_the_estimator_makes_them(name, container):
    rows, (model, kinds) = CONTAINERS[container], FAMILIES[name]
    y = targets(kinds.split()[0], table())
    assert_read(copy.deepcopy(model).fit(rows, y), rows)


@pytest.mark.parametrize("container", [pd.DataFrame.convert_dtypes, pl.from_pandas], ids=["nullable", "polars"])
@pytest.mark.parametrize("name", ["forest", "boosting", "histogram boosting"])
def test_missing_nullable_and_polars_values(name, container):
    complete = FRAME[["a", "k"]]
    fitted = copy.deepcopy(FAMILIES[name][0]).fit(container(complete), targets("number", table()))
    missing = complete.convert_dtypes()
    missing.loc[::5, "k"] = pd.NA
    if name == "boosting":
        with pytest.raises(ValueError, match="NaN"):
            fitted.predict(container(missing))
        with pytest.raises(UnreadableError, match="not numbers that its trees take"):
            read(fitted, "predict").encode(container(missing))
    else:
        assert_read(fitted, container(missing))


def category_frame(n=240):
    rng = np.random.default_rng(5)
    colour = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
    colour[::11] = None
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": pd.Categorical(colour, categories=["grey", "red", "blue", "green"]),
            "weight": rng.integers(0, 9, n) / 2,
            "shape": pd.Categorical(rng.integers(10, 18, n)),
        }
    )


def category_target(frame):
    return (
        frame["size"] + frame["colour"].isin(["red", "grey"]) * 2 - (frame["shape"].astype(int) % 3) * frame["weight"]
    )


@pytest.mark.parametrize("model", [e.HistGradientBoostingRegressor, e.HistGradientBoostingClassifier])
@pytest.mark.parametrize("given", ["from_dtype", ["shape", "colour"], [False, True, False, True], [3], None])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_known_unknown_and_missing(model, given, library):
    if library == "polars":
        pytest.importorskip("sklearn", "1.9", "earlier releases know categories of pandas only")
    frame = category_frame()
    y = category_target(frame)
    if model is e.HistGradientBoostingClassifier:
        y = pd.cut(y, 3, labels=["low", "mid", "top"]).astype(object)
    if given is None:
        frame = frame.drop(columns="colour").astype({"shape": int})
    elif given == [3]:
        frame = frame.assign(colour=1.0)
    rows = frame.copy()
    if given is not None:
        rows["shape"] = pd.Categorical(rows["shape"].astype(int) + 3)  # some of them never seen
    rows.loc[::7, "size"] = np.nan
    if library == "polars":
        kinds = {c: pl.Categorical for c in frame if frame[c].dtype == "category"}
        frame, rows = (
            pl.from_pandas(f.astype(dict.fromkeys(kinds, object)).map(_text)).cast(kinds) for f in (frame, rows)
        )
    fitted = model(categorical_features=given, max_iter=12, min_samples_leaf=4).fit(frame, y)
    ensemble = read(fitted, methods_of(fitted)[0]).ensemble
    assert bool((ensemble.category_set >= 0).any()) == (given is not None)
    assert_read(fitted, rows)
    assert_read(fitted, frame)


def _text(value):
    return str(value) if isinstance(value, (int, np.integer)) else value


def test_categories_of_an_array_by_index():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.choice([0, 3, 90, 1000, -4], 300)])
    model = e.HistGradientBoostingRegressor(categorical_features=[1], min_samples_leaf=5)
    model.fit(X, X[:, 0] + np.isin(X[:, 1], [90, -4]))
    rows = np.vstack([X, [[0.0, 3.5], [0.0, 5], [0.0, -1], [np.inf, np.nan], [-np.inf, 259]]])
    assert_read(model, rows)


@pytest.mark.parametrize(
    ("name", "rows", "reason"),
    [
        ("forest", np.full((2, 3), np.inf), "not numbers that its trees take"),
        ("forest", np.full((2, 3), 1e300), "too large for dtype"),  # float32 cannot hold it
        ("boosting", np.full((2, 3), np.nan), "contains NaN"),
        ("ada boost", np.full((2, 3), np.nan), "contains NaN"),
        ("tree", sparse.csr_array(np.full((2, 3), np.nan)), "contains NaN"),
        ("extra tree that takes no NaN", np.full((2, 3), np.nan), "contains NaN"),
        ("histogram boosting", sparse.csr_array(np.eye(3)), "[Ss]parse"),
        ("histogram boosting", np.array([["a", "b", "c"]]), "could not convert"),
        ("forest", np.zeros((2, 4)), "4 columns where its trees know 3"),
    ],
)
def test_rows_that_the_estimator_would_not_take_are_refused(name, rows, reason):
    model, kinds = FAMILIES[name]
    fitted = fit(copy.deepcopy(model), kinds.split()[0])
    with np.errstate(over="ignore"), pytest.raises((ValueError, TypeError)):
        fitted.predict(rows)
    with pytest.raises(UnreadableError, match=reason):
        read(fitted, methods_of(fitted)[0]).encode(rows)


@pytest.mark.parametrize(
    "name", ["forest of classes", "ada boost", "isolation forest", "histogram boosting of classes"]
)
def test_encoding_and_link_pickle_and_leave_their_arguments_alone(name):
    model, kinds = FAMILIES[name]
    fitted, X = fit(copy.deepcopy(model), kinds.split()[-1]), table()
    reading = read(fitted, methods_of(fitted)[0])
    encode, link = pickle.loads(pickle.dumps((reading.encode, reading.link)))
    before, raw = X.copy(), reading.ensemble.predict(encode(X))
    raw_before = raw.copy()
    answer = link.apply(raw)
    assert np.array_equal(X, before)
    assert np.array_equal(raw, raw_before)
    assert np.array_equal(answer, reading.link.apply(raw))
    # A link acts on the first axis, whatever stands behind it.
    assert np.array_equal(link.apply(raw.reshape(len(raw), 4, 40)), answer.reshape(len(answer), 4, 40))


NUMBERS = st.one_of(
    st.sampled_from([0.0, 0.1, 1 / 3, 1.0, 1 + 2**-24, 1 + 2**-23, 2.0**-130, -7.0]),
    st.floats(-1e6, 1e6),
    st.floats(-2, 2, width=32),
)
MAKERS = [
    lambda seed: DecisionTreeRegressor(random_state=seed),
    lambda seed: ExtraTreeClassifier(random_state=seed),
    lambda seed: e.RandomForestClassifier(3, random_state=seed),
    lambda seed: e.BaggingClassifier(n_estimators=3, bootstrap_features=True, random_state=seed),
    lambda seed: e.AdaBoostClassifier(n_estimators=3, random_state=seed),
    lambda seed: e.GradientBoostingRegressor(n_estimators=3, random_state=seed),
    lambda seed: e.HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1, random_state=seed),
    lambda seed: e.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1, random_state=seed),
    lambda seed: e.IsolationForest(n_estimators=3, max_features=1, random_state=seed),
]


@settings(deadline=None, max_examples=60)
@given(
    values=st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 2)), min_size=2, max_size=14),
    make=st.sampled_from(MAKERS),
    seed=st.integers(0, 99),
)
def test_random_small_ensembles(values, make, seed):
    X, y = np.array([v[:2] for v in values]), np.array([v[2] for v in values])
    try:
        model = make(seed).fit(X, y)
    except ValueError as error:
        assume("worse than random" not in str(error))  # rows that AdaBoost cannot tell apart
        raise
    rows = edges(read(model, methods_of(model)[0]).ensemble, X, seed, missing=get_tags(model).input_tags.allow_nan)
    assert_read(model, rows)
