"""Steps before the trees: what the trees are given, which column of X each of their columns comes from, and what is refused.

scikit-learn's own pipelines say what a final estimator is given, and its output names say which column that came from.
"""

from __future__ import annotations

import os
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectorMixin,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeRegressor

from pdp_widgets.inputs import FeatureTable
from pdp_widgets.trees import columns
from pdp_widgets.trees.columns import ColumnEncoder, owners, require_columnwise, unwrap
from pdp_widgets.trees.ensemble import UnreadableError

pytestmark = pytest.mark.filterwarnings("ignore:Skipping features without any observed values")

NUM = ["age", "income", "height"]
CAT = ["town", "sort"]


def matrix(block):
    """What a tree makes of its input, whatever container it comes in."""
    if sparse.issparse(block):
        block = block.toarray()
    elif isinstance(block, pl.DataFrame):
        block = block.to_numpy()
    return np.asarray(block, dtype=float)


class Recorder(RegressorMixin, BaseEstimator):
    """A final estimator that keeps what it is given."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        self.given_ = X
        return np.zeros(X.shape[0])


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(size=n),
            "height": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n, p=[0.6, 0.3, 0.1]),
            "sort": pd.Categorical(rng.choice(["new", "old"], n)),
            "born": pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 999, n), unit="D"),
            "flag": rng.random(n) < 0.5,
            "same": 1.5,
        }
    )
    return X, rng.normal(size=n) + X["income"].to_numpy()


def one_hot(**options):
    return OneHotEncoder(handle_unknown="ignore", **options)


def choose(*members, **options):
    members = [(f"m{k}", member, selected) for k, (member, selected) in enumerate(members)]
    return ColumnTransformer(members, **options)


def with_an_e(X):
    return [column for column in X if "e" in column and column != "same"]


def every_third(X, y):
    return np.arange(X.shape[1], dtype=float) % 3


PIPELINES = {
    "usual": choose(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), NUM), (one_hot(drop="if_binary"), CAT)
    ),
    "sparse": choose((one_hot(), CAT), (StandardScaler(), NUM), sparse_threshold=1.0),
    "pandas output": choose((one_hot(sparse_output=False), CAT), ("passthrough", NUM)).set_output(transform="pandas"),
    "polars output": choose((one_hot(sparse_output=False), CAT), ("passthrough", NUM)).set_output(transform="polars"),
    "by position": choose((MinMaxScaler(), [1, 0]), (OrdinalEncoder(), slice(3, 5)), ("drop", [2])),
    "by mask": choose((RobustScaler(), np.arange(8) < 3), ("passthrough", [6])),
    "by dtype": choose(
        (one_hot(), make_column_selector(dtype_include=["object", "category", "string"])),
        (SimpleImputer(), make_column_selector(dtype_include="number")),
    ),
    "by callable": choose((SimpleImputer(), with_an_e)),
    "remainder is kept": choose((one_hot(), CAT), ("drop", ["born"]), remainder="passthrough"),
    "remainder is scaled": choose(
        (OrdinalEncoder(), CAT), ("drop", ["born", "flag"]), remainder=make_pipeline(SimpleImputer(), StandardScaler())
    ),
    "used twice": choose(
        (SimpleImputer(), NUM),
        (make_pipeline(SimpleImputer(), KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")), ["age", "height"]),
        (SplineTransformer(4), ["income"]),
    ),
    "union": choose(
        (make_union(StandardScaler(), MissingIndicator(), "passthrough").set_params(transformer_weights={"standardscaler": 3}), NUM),
        (TargetEncoder(), CAT),
    ),
    "selected": make_pipeline(
        choose((one_hot(), CAT), (make_pipeline(SimpleImputer(), StandardScaler()), [*NUM, "same"])),
        VarianceThreshold(),
        SelectKBest(every_third, k=4),
    ),
    "nested": make_pipeline(
        choose(
            ("passthrough", ["flag", "same"]),
            (choose((SimpleImputer(), ["height", "age"]), ("passthrough", ["income"])).set_output(transform="pandas"), NUM),
        ),
        "passthrough",
        FrozenEstimator(FunctionTransformer(feature_names_out="one-to-one")),
        make_pipeline(QuantileTransformer(n_quantiles=10), PowerTransformer(), None),
    ),
    "logarithm": choose(
        (FunctionTransformer(np.log1p, feature_names_out="one-to-one"), ["income", "age"]),
        (make_pipeline(SimpleImputer(), PolynomialFeatures(3)), ["height"]),
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=PIPELINES)
def fitted(request):
    X, y = people()
    model = Pipeline([("before", clone(PIPELINES[request.param])), ("trees", Recorder())])
    return X, model.fit(X, y)


def the_encoder(model):
    transformers, final = unwrap(model)
    require_columnwise(transformers)
    return ColumnEncoder(transformers, matrix), final


def test_encoder_gives_what_the_final_estimator_is_given(fitted):
    X, model = fitted
    encode, final = the_encoder(model)
    block = people(50, seed=5)[0]
    model.predict(block)
    np.testing.assert_array_equal(encode(block), matrix(final.given_))
    np.testing.assert_array_equal(encode(X.iloc[[3]]), encode(X)[[3]])


def names_of_owners(X, model):
    """The column of X whose name stands in scikit-learn's name of an output column; none for a constant one."""
    names = [str(name) for name in model[:-1].get_feature_names_out()]
    values = matrix(model[:-1].transform(X))
    varies = ((values != values[0]) & ~(np.isnan(values) & np.isnan(values[0]))).any(axis=0)
    of = [next((j for j, column in enumerate(X) if column in name.split("__")[-1]), -1) for name in names]
    assert any(varies)
    return [j if moves else -1 for j, moves in zip(of, varies, strict=True)]


def test_owners_are_the_columns_that_scikit_learn_names(fitted):
    X, model = fitted
    encode, _ = the_encoder(model)
    found = owners(FeatureTable(X), encode, np.arange(10, 40))
    expected = names_of_owners(X, model)
    assert found.tolist() == expected
    assert len(set(expected)) > 2


def test_encoder_pickles(fitted):
    X, model = fitted
    encode, _ = the_encoder(model)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encode))(X), encode(X))


# ---- containers -------------------------------------------------------------------------------


def test_numpy_columns_by_position():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(80, 5)), 1)
    X[rng.random((80, 5)) < 0.1] = np.nan
    steps = choose(
        (SimpleImputer(add_indicator=True), [4, 0]), (KBinsDiscretizer(2, encode="ordinal"), []), ("passthrough", [2])
    )
    model = make_pipeline(steps, Recorder()).fit(X, X[:, 0])
    encode, _ = the_encoder(model)
    assert owners(FeatureTable(X), encode, np.arange(20)).tolist() == [4, 0, 4, 0, 2]


def test_object_array_with_strings():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.choice(list("abc"), 60), rng.normal(size=60).round(2)]).astype(object)
    steps = choose((one_hot(), [0]), remainder="passthrough").fit(X)
    assert owners(FeatureTable(X), ColumnEncoder([steps], matrix), np.arange(9)).tolist() == [0, 0, 0, 1]


def test_polars_with_nulls():
    rng = np.random.default_rng(2)
    X = pl.DataFrame(
        {
            "a": [None if u < 0.2 else u for u in rng.random(60)],
            "b": [None if u < 0.2 else int(9 * u) for u in rng.random(60)],
            "c": rng.choice(["x", "y"], 60).tolist(),
        }
    )
    steps = choose((SimpleImputer(add_indicator=True), ["b", "a"]), (one_hot(), ["c"])).fit(X)
    encode = ColumnEncoder([steps], matrix)
    assert owners(FeatureTable(X), encode, np.arange(5)).tolist() == [1, 0, 1, 0, 2, 2]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_sparse(make):
    X = make(sparse.random(60, 6, density=0.4, random_state=0, format="csr"))
    steps = make_pipeline(MaxAbsScaler(), SelectKBest(lambda X, y: np.array([5, 0, 1, 0, 0, 3]), k=3)).fit(
        X, np.ones(60)
    )
    assert owners(FeatureTable(X), ColumnEncoder([steps], matrix), np.arange(9)).tolist() == [0, 2, 5]


def test_columns_outside_the_features_and_inside_groups_own_too():
    X = pd.DataFrame({"u_a": [1, 0, 0, 0], "u_b": [0, 1, 0, 1], "v": [3.0, 1, 2, 2], "w": [4, 4, 5, 4]})
    table = FeatureTable(X, features={"u": ["u_a", "u_b"]})
    assert owners(table, ColumnEncoder([], matrix), np.arange(4)).tolist() == [0, 1, 2, 3]
    some = FeatureTable(X, features=["v"])
    assert owners(some, ColumnEncoder([], lambda block: matrix(block)[:, ::-1]), np.arange(4)).tolist() == [3, 2, 1, 0]


# ---- everything that is observed counts ---------------------------------------------------------


def test_rare_levels_far_from_the_first_rows():
    n = 3000
    X = pd.DataFrame({"code": np.arange(n) % 700, "town": "here", "x": np.linspace(0, 1, n), "y": 0.0})
    X.loc[n - 1, "town"] = "there"
    X.loc[n - 2, "y"] = np.nan
    train = pd.concat([X, X.iloc[[0]].assign(town="nowhere")])
    steps = choose(
        (one_hot(), ["code", "town"]),
        (FeatureUnion([("gap", MissingIndicator()), ("fill", SimpleImputer())]), ["y"]),
        (Binarizer(threshold=0.9995), ["x"]),
    ).fit(train)
    found = owners(FeatureTable(X), ColumnEncoder([steps], matrix), np.arange(100))
    # "here", "nowhere", "there": the middle one is in no row, and what fills the gap is the value of all others.
    assert found.tolist() == [*[0] * 700, 1, -1, 1, 3, -1, 2]


def test_one_row_moves_nothing():
    X = pd.DataFrame({"a": [1.0], "b": [2.0]})
    assert owners(FeatureTable(X), ColumnEncoder([], matrix), np.array([0])).tolist() == [-1, -1]


def test_missing_and_infinite_values_are_values():
    X = pd.DataFrame({"a": [np.nan, 1.0, 1.0], "b": [np.inf, -np.inf, np.inf], "c": [np.nan] * 3, "d": [np.inf, 0, 0]})
    assert owners(FeatureTable(X), ColumnEncoder([], matrix), np.arange(3)).tolist() == [0, 1, -1, 3]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_functions_of_single_columns(data):
    """Tables of encoded values, one per encoded column, drawn at random: brute force knows who moves what."""
    n_columns, levels = data.draw(st.integers(1, 6)), 4
    n = data.draw(st.integers(1, 25))
    X = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, levels - 1), min_size=n_columns, max_size=n_columns), min_size=n, max_size=n
            )
        )
    )
    value = st.sampled_from([0.0, 1.0, -2.5, np.nan, np.inf, -np.inf, 1e300])
    encoded = data.draw(
        st.lists(
            st.tuples(st.integers(0, n_columns - 1), st.lists(value, min_size=levels, max_size=levels)),
            min_size=1,
            max_size=8,
        )
    )

    def encode(block):
        return np.column_stack([np.array(of_level)[block[:, j]] for j, of_level in encoded])

    expected = [j if len({str(of_level[x]) for x in X[:, j]}) > 1 else -1 for j, of_level in encoded]
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=5)))
    assert owners(FeatureTable(X), ColumnEncoder([], encode), rows).tolist() == expected  # fmt: skip


MIXTURES = {
    "sum": lambda X: X[:, [0]] + X[:, [1]],
    "either": lambda X: ((X[:, [0]] > 0.5) != (X[:, [1]] > 0.5)).astype(float),
    "both": lambda X: ((X[:, [0]] > 0.5) & (X[:, [3]] > 0.5)).astype(float),
    "one of many": lambda X: np.column_stack([X, np.where(X[:, 4] > 0.5, X[:, 0], X[:, 1])]),
    "other rows": lambda X: X - X.mean(axis=0),
    "largest": lambda X: X.max(axis=1, keepdims=True),
}


@pytest.mark.parametrize("kind", MIXTURES)
@pytest.mark.parametrize("seed", range(5))
def test_two_columns_that_move_one_are_found_out(kind, seed):
    X = np.random.default_rng(seed).random((200, 5))
    with pytest.raises(
        UnreadableError, match="several columns of X move the same column that the trees see, so a feature"
    ):
        owners(FeatureTable(X), ColumnEncoder([], MIXTURES[kind]), np.arange(100))


def test_two_columns_whose_numbers_spell_none():
    """Either of the second and the fifth column does it alone: 2 or 5 is 7, and there are five."""
    X = np.zeros((2, 5))
    X[1] = 1
    with pytest.raises(UnreadableError, match="several columns of X"):
        owners(
            FeatureTable(X), ColumnEncoder([], lambda block: block[:, [1, 4]].max(axis=1, keepdims=True)), np.arange(2)
        )


def test_few_calls_for_many_columns():
    X = np.random.default_rng(0).normal(size=(500, 300))
    calls = []

    def encode(block):
        calls.append(len(block))
        return block[:, ::-1].copy()

    assert owners(FeatureTable(X), ColumnEncoder([], encode), np.arange(200)).tolist() == list(range(300))[::-1]
    assert len(calls) < 20
    assert sum(calls) < 2000


# ---- what keeps columns apart -------------------------------------------------------------------

TREE = DecisionTreeRegressor(max_depth=2)


class EveryOther(SelectorMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) % 2 == 0


KEEPS_APART = [
    AdditiveChi2Sampler(),
    Binarizer(threshold=1.0),
    FunctionTransformer(np.log),
    GenericUnivariateSelect(mode="k_best", param=2),
    KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
    KBinsDiscretizer(3, encode="onehot-dense", strategy="kmeans"),
    MaxAbsScaler(clip=True),
    MinMaxScaler(clip=True),
    MissingIndicator(missing_values=1.3, features="all"),
    OneHotEncoder(drop="first"),
    OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=4),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=5),
    PolynomialFeatures(degree=1),
    PowerTransformer(),
    PowerTransformer(method="box-cox", standardize=False),
    QuantileTransformer(n_quantiles=10),
    QuantileTransformer(n_quantiles=10, output_distribution="normal"),
    RFE(TREE, n_features_to_select=2),
    RFECV(TREE, min_features_to_select=2, cv=2),
    RobustScaler(),
    SelectFdr(alpha=1.0),
    SelectFpr(alpha=1.0),
    SelectFromModel(TREE, max_features=2, threshold=-np.inf),
    SelectFwe(alpha=1.0),
    SelectKBest(k=3),
    SelectPercentile(percentile=60),
    EveryOther(),
    SequentialFeatureSelector(TREE, n_features_to_select=2, cv=2),
    SimpleImputer(missing_values=1.3, strategy="median", add_indicator=True),
    SimpleImputer(missing_values=1.3, strategy="constant", keep_empty_features=True),
    *[SplineTransformer(4, extrapolation=way) for way in ("error", "constant", "linear", "continue", "periodic")],
    SplineTransformer(4, extrapolation="linear", sparse_output=True, include_bias=False),
    StandardScaler(),
    TargetEncoder(target_type="continuous"),
    TargetEncoder(target_type="multiclass"),
    VarianceThreshold(),
]


@pytest.mark.filterwarnings("ignore::UserWarning")  # bins of no width, chosen by the data
@pytest.mark.parametrize("transformer", KEEPS_APART, ids=repr)
def test_what_is_accepted_keeps_columns_and_rows_apart(transformer):
    rng = np.random.default_rng(3)
    X = np.round(rng.random((60, 4)) * 3, 1) + 0.1
    y = rng.integers(0, 3, 60)
    transformer = clone(transformer).fit(X, y)
    require_columnwise([transformer])
    values = matrix(transformer.transform(X.copy()))
    moved_by = np.zeros(values.shape[1], dtype=int)
    for j in range(4):
        M = X.copy()
        M[:, j] = np.roll(M[:, j], 7)
        moved_by += (matrix(transformer.transform(M)) != values).any(axis=0)
    assert moved_by.max() == 1
    alone = np.vstack([matrix(transformer.transform(X[[i]])) for i in range(60)])
    np.testing.assert_allclose(alone, values, rtol=1e-14, atol=1e-15)


def test_the_list_above_has_all_classes_that_are_accepted():
    listed = {type(transformer).__name__ for transformer in KEEPS_APART} | {"SelectorMixin"}
    assert listed >= columns._KEEP_APART


@pytest.mark.parametrize("module", ["preprocessing", "impute", "feature_selection", "kernel_approximation"])
def test_the_list_knows_scikit_learns_own_names(module):
    """A class that scikit-learn renames would otherwise be refused without anyone noticing."""
    library = __import__(f"sklearn.{module}", fromlist=["x"])
    known = {name for name in columns._KEEP_APART if hasattr(library, name)}
    counts = {"preprocessing": 12, "impute": 2, "feature_selection": 12, "kernel_approximation": 1}
    assert len(known) == counts[module]
    assert sum(counts.values()) == len(columns._KEEP_APART)


class OwnTransform(StandardScaler):
    def transform(self, X, copy=None):
        return np.cumsum(super().transform(X, copy), axis=1)


class OwnHelper(OneHotEncoder):
    def _transform(self, X, **options):
        return super()._transform(np.sort(X, axis=1), **options)


class OwnLookup(MinMaxScaler):
    def __getattribute__(self, name):
        return row_sums if name == "transform" else super().__getattribute__(name)


class OwnFit(StandardScaler):
    """Changes what is learned, not what is done with it."""

    extra = 3

    def __init__(self, *, copy=True, with_mean=True, with_std=True, shrink=0.5):
        super().__init__(copy=copy, with_mean=with_mean, with_std=with_std)
        self.shrink = shrink

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.mean_ = self.mean_ * self.shrink
        return self

    def helper(self):
        return self.extra


class Foreign(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def row_sums(X):
    return X / X.sum(axis=1, keepdims=True)


def monkey():
    scaler = StandardScaler()
    scaler.transform = row_sums
    return scaler


REFUSED = {
    "PCA mixes columns": PCA(2),
    "KNNImputer mixes columns": KNNImputer(),
    "Normalizer mixes columns": Normalizer(),
    "PolynomialFeatures mixes columns": PolynomialFeatures((0, 2)),
    "Foreign is not known to keep columns apart": Foreign(),
    "OwnTransform has its own transform, which may mix columns": OwnTransform(),
    "OwnHelper has its own _transform, which may mix columns": OwnHelper(),
    "OwnLookup has its own __getattribute__, which may mix columns": OwnLookup(),
    "StandardScaler has its own transform, which may mix columns": monkey(),
    "FunctionTransformer calls row_sums, which is not known to keep columns apart": FunctionTransformer(row_sums),
    "FunctionTransformer calls <lambda>, which": FunctionTransformer(lambda X: X),
    "FunctionTransformer calls partial, which": FunctionTransformer(partial(np.log)),
    "FunctionTransformer calls log with where, which": FunctionTransformer(np.log, kw_args={"where": [True, False]}),
    "FunctionTransformer calls add with x2, which": FunctionTransformer(np.add, kw_args={"x2": 1}),
    "FunctionTransformer calls modf, which": FunctionTransformer(np.modf),
    "FunctionTransformer calls cumsum with axis, which": FunctionTransformer(np.cumsum, kw_args={"axis": 1}),
    "RandomForestRegressor mixes columns": RandomForestRegressor(),
    "str is not known to keep columns apart": "nonsense",
    "ColumnTransformer is not fitted": ColumnTransformer([("a", "passthrough", [0])]),
}


def refusal(transformers):
    with pytest.raises(UnreadableError) as caught:
        require_columnwise(transformers)
    return str(caught.value)


@pytest.mark.parametrize("reason", REFUSED)
def test_refused_with_a_reason(reason):
    text = refusal([StandardScaler(), REFUSED[reason]])
    assert text.startswith(reason)
    assert text.endswith(("so a feature cannot be moved on its own", "is not fitted"))


WRAPPERS = {
    "pipeline": lambda t: make_pipeline(StandardScaler(), t, "passthrough"),
    "union": lambda t: make_union(StandardScaler(), t, "drop"),
    "columns": lambda t: choose((StandardScaler(), [0]), (t, [1, 2]), ("drop", [3])),
    "remainder": lambda t: choose((StandardScaler(), [0]), remainder=t),
    "frozen": FrozenEstimator,
    "deep": lambda t: choose((make_pipeline(make_union("passthrough", make_pipeline(t)), StandardScaler()), [0, 1])),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_members_are_judged_wherever_they_are(wrapper):
    X = np.random.default_rng(0).random((20, 4))
    for inner, fine in ((PCA(1), False), (MinMaxScaler(), True)):
        whole = WRAPPERS[wrapper](inner.fit(X) if wrapper == "frozen" else inner).fit(X, X[:, 0])
        if fine:
            require_columnwise([whole])
        else:
            assert refusal([whole]) == "PCA mixes columns, so a feature cannot be moved on its own"


def test_searched_transformers_are_judged_by_the_best():
    X = np.random.default_rng(0).random((20, 3))
    search = GridSearchCV(make_pipeline(StandardScaler(), PCA()), {"pca__n_components": [1, 2]}, cv=2).fit(X)
    assert refusal([search]).startswith("PCA mixes columns")


def test_several_powers_of_a_single_column():
    X = np.random.default_rng(0).random((20, 3))
    require_columnwise([choose((PolynomialFeatures(3), [1])).fit(X)])
    assert refusal([choose((PolynomialFeatures(3), [1, 2])).fit(X)]).startswith("PolynomialFeatures mixes columns")


def test_subclasses_that_leave_transform_alone():
    X = np.random.default_rng(0).random((20, 3))
    with sklearn.config_context(enable_metadata_routing=True):
        require_columnwise([OwnFit().fit(X)])
    X = pd.DataFrame(X, columns=list("abc"))
    scaler = OwnFit().set_output(transform="pandas").fit(X)
    assert owners(FeatureTable(X), ColumnEncoder([scaler], matrix), np.arange(5)).tolist() == [0, 1, 2]


# ---- taking models apart ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((60, 3)), columns=list("abc"))
    return X, X["a"].to_numpy() + rng.random(60)


def forest():
    return RandomForestRegressor(3, max_depth=2, random_state=0)


GRID = {"randomforestregressor__max_depth": [1, 2]}
MODELS = {
    "bare": (forest, 0),
    "pipeline": (lambda: make_pipeline(StandardScaler(), forest()), 1),
    "passthrough": (lambda: make_pipeline("passthrough", StandardScaler(), None, forest()), 1),
    "nested": (lambda: make_pipeline(make_pipeline(StandardScaler(), MinMaxScaler()), make_pipeline(RobustScaler(), forest())), 2),
    "grid": (lambda: GridSearchCV(make_pipeline(StandardScaler(), forest()), GRID, cv=2), 1),
    "random": (lambda: RandomizedSearchCV(make_pipeline(StandardScaler(), forest()), GRID, n_iter=1, cv=2), 1),
    "halving": (lambda: HalvingGridSearchCV(make_pipeline(StandardScaler(), forest()), GRID, cv=2), 1),
    "grid inside": (lambda: make_pipeline(MinMaxScaler(), GridSearchCV(forest(), {"max_depth": [1, 2]}, cv=2)), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_unwrapped_parts_answer_as_the_whole(name, regression):
    X, y = regression
    make, n_transformers = MODELS[name]
    for model in (make().fit(X, y), FrozenEstimator(make().fit(X, y)), Pipeline([("all", make())]).fit(X, y)):
        transformers, final = unwrap(model)
        assert len(transformers) == n_transformers
        assert type(final) is RandomForestRegressor
        rows = X
        for transformer in transformers:
            rows = transformer.transform(rows)
        np.testing.assert_array_equal(final.predict(rows), model.predict(X))


def test_caching_pipelines(regression, tmp_path):
    X, y = regression
    model = make_pipeline(StandardScaler(), forest(), memory=str(tmp_path)).fit(X, y)
    (scaler,), final = unwrap(model)
    np.testing.assert_array_equal(final.predict(scaler.transform(X)), model.predict(X))


class OwnPredict(Pipeline):
    def predict(self, X):
        return 2 * super().predict(X)


FINAL = {
    "search without refit": lambda X, y: GridSearchCV(forest(), {"max_depth": [1]}, refit=False, cv=2).fit(X, y),
    "search before fitting": lambda *_: GridSearchCV(forest(), {"max_depth": [1]}),
    "transformed target": lambda X, y: TransformedTargetRegressor(forest(), func=np.log, inverse_func=np.exp).fit(X, y),
    "ends with passthrough": lambda X, y: make_pipeline(StandardScaler(), "passthrough").fit(X, y),
    "own predict": lambda X, y: OwnPredict([("f", forest())]).fit(X, y),
    "no steps": lambda *_: Pipeline([]),
    "function": lambda *_: np.sum,
    "class": lambda *_: Pipeline,
    "nothing": lambda *_: None,
}


@pytest.mark.parametrize("name", FINAL)
def test_anything_else_is_final(name, regression):
    model = FINAL[name](*regression)
    assert unwrap(model) == ([], model)


def test_samplers_are_skipped_as_their_pipeline_skips_them():
    class Sampler(BaseEstimator):
        def fit_resample(self, X, y):
            return X[::2], y[::2]

    class Pipeline_(Pipeline):
        """As in imbalanced-learn, whose class overrides the methods of scikit-learn's."""

        def predict(self, X):
            raise NotImplementedError

    Pipeline_.__name__, Pipeline_.__module__ = "Pipeline", "imblearn.pipeline"
    scaler, final = StandardScaler(), RandomForestClassifier()
    model = Pipeline_([("scale", scaler), ("sample", Sampler()), ("nothing", None), ("forest", final)])
    assert unwrap(model) == ([scaler], final)


# ---- calling ------------------------------------------------------------------------------------


def test_a_row_that_a_transformer_does_not_take_is_unreadable():
    X = pd.DataFrame({"a": ["x", "y", "x"]})
    encode = ColumnEncoder([OneHotEncoder().fit(X)], matrix)
    with pytest.raises(
        UnreadableError, match=r"the steps before the trees do not take these rows \(ValueError: Found unknown"
    ):
        encode(pd.DataFrame({"a": ["z"]}))

    def refuse(_):
        raise UnreadableError("no such category")

    with pytest.raises(UnreadableError, match=r"^no such category$"):
        ColumnEncoder([], refuse)(X)


PROCESSES: list[int] = []


class Where(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        PROCESSES.append(os.getpid())
        return X


def test_no_workers_for_a_few_rows():
    X = np.random.default_rng(0).random((20, 4))
    steps = choose((Where(), [0, 1]), (Where(), [2, 3])).fit(X).set_params(n_jobs=2)
    PROCESSES.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(ColumnEncoder([steps], matrix)(X), X)
    assert [os.getpid()] * 2 == PROCESSES
