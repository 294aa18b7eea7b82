"""ColumnEncoder: what the steps before the trees make of the columns of X.

It takes pipelines and searches apart, judges by the class of a transformer whether it keeps columns apart, and finds the column
of X behind each column that the trees see. What a transformer computes stays its own business: here it is only called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import joblib
import numpy as np

from pdp_widgets.inputs.table import Feature, FeatureTable

from .ensemble import UnreadableError

__all__ = ["ColumnEncoder", "owners", "require_columnwise", "unwrap"]

_KEEP_APART = frozenset(
    {
        "AdditiveChi2Sampler",
        "Binarizer",
        "GenericUnivariateSelect",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "MissingIndicator",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PowerTransformer",
        "QuantileTransformer",
        "RFE",
        "RFECV",
        "RobustScaler",
        "SelectFdr",
        "SelectFpr",
        "SelectFromModel",
        "SelectFwe",
        "SelectKBest",
        "SelectPercentile",
        "SelectorMixin",
        "SequentialFeatureSelector",
        "SimpleImputer",
        "SplineTransformer",
        "StandardScaler",
        "TargetEncoder",
        "VarianceThreshold",
    }
)
"""scikit-learn's classes whose ``transform`` computes each column from one column, and each row from that row."""

_MIXING_CLASSES = frozenset(
    {"FeatureHasher", "IterativeImputer", "KNNImputer", "KernelCenterer", "Normalizer", "PolynomialFeatures"}
)
_MIXING_MODULES = frozenset(
    {
        "cluster",
        "cross_decomposition",
        "decomposition",
        "discriminant_analysis",
        "ensemble",
        "kernel_approximation",
        "manifold",
        "neighbors",
        "neural_network",
        "random_projection",
    }
)

_SEARCHES = frozenset(
    {"BaseSearchCV", "GridSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV", "RandomizedSearchCV"}
)

_HARMLESS = frozenset(
    {
        "_abc_impl",
        "_get_support_mask",
        "_parameter_constraints",
        "_run_search",
        "_sklearn_auto_wrap_output_keys",
        "fit",
        "fit_predict",
        "fit_transform",
        "get_feature_names_out",
        "get_params",
        "inverse_transform",
        "partial_fit",
        "score",
        "set_params",
    }
)
"""What a subclass may redefine without changing what a fitted estimator makes of rows."""

_SO = "so a feature cannot be moved on its own"

_CELLS = 1_000_000  # numbers in one block of encoded rows
_PAIRS = 256  # pairs of rows that confirm what was found
_NOISE = 4 * np.finfo(float).eps  # of values computed alike in blocks of different lengths


# ---- taking models apart ----------------------------------------------------------------------


def unwrap(model: Any) -> tuple[list[Any], Any]:
    """Return the fitted transformers of a model, in order, and the estimator behind them.

    Pipelines, searches that refitted their best estimator, and ``FrozenEstimator`` are taken apart, however they are nested:
    ``model.predict(X)`` is ``final.predict(T_k(... T_1(X)))``, and so are its other methods. Anything else, such as a
    ``TransformedTargetRegressor``, is a final estimator.

    Parameters
    ----------
    model : estimator
        Fitted. Anything may be given: what is no such wrapper is returned as it is.

    Returns
    -------
    transformers : list
        Without steps that only pass rows on.
    final : estimator
    """
    transformers: list[Any] = []
    while True:
        steps = _steps(model)
        inner = _inner(model)
        if steps is not None and not _passes(steps[-1]):
            transformers += [step for step in steps[:-1] if not _passes(step)]
            model = steps[-1]
        elif inner is not None:
            model = inner
        else:
            return transformers, model


def _steps(model: Any) -> list[Any] | None:
    """Return the steps that rows go through in a pipeline, None when the model is none."""
    kind = type(model)
    if kind.__name__ == "Pipeline" and kind.__module__ == "imblearn.pipeline":
        # Its samplers choose rows for fitting and are skipped later on.
        steps = [step for _, step in model.steps if not hasattr(step, "fit_resample")]
    elif _unchanged(model) == "Pipeline":
        steps = [step for _, step in model.steps]
    else:
        return None
    return steps or None


def _inner(model: Any) -> Any | None:
    """Return the fitted estimator that a search or a frozen estimator hands all calls to, None when there is none."""
    name = _unchanged(model)
    if name in _SEARCHES:
        return getattr(model, "best_estimator_", None)
    return model.estimator if name == "FrozenEstimator" else None


def _passes(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _home(estimator: Any) -> type | None:
    """Return the first class of an estimator's ancestry that scikit-learn defines."""
    ancestry = type(estimator).__mro__
    return next((kind for kind in ancestry if kind.__module__.partition(".")[0] == "sklearn"), None)


def _changes(estimator: Any, home: type) -> list[str]:
    """Return what a user's subclass, or the instance itself, redefines of the class that it comes from."""
    ancestry = type(estimator).__mro__
    names = {name for kind in ancestry[: ancestry.index(home)] for name in vars(kind)}
    names |= {name for name, value in getattr(estimator, "__dict__", {}).items() if callable(value)}
    return sorted(name for name in names if hasattr(home, name) and not _is_harmless(name))


def _is_harmless(name: str) -> bool:
    if name.startswith("__"):
        return name not in ("__getattr__", "__getattribute__")
    return name in _HARMLESS or (name.startswith("set_") and name.endswith("_request"))


def _unchanged(estimator: Any) -> str | None:
    """Return the name of the scikit-learn class that an estimator is, or is a subclass of that changes nothing here."""
    home = _home(estimator)
    return None if home is None or _changes(estimator, home) else home.__name__


# ---- judging transformers ---------------------------------------------------------------------


def require_columnwise(transformers: Sequence[Any]) -> None:
    """Raise unless every transformer computes each of its columns from one column, in every row by itself.

    The class shows that, since no number of examples could: a list of scikit-learn's own classes, and subclasses that leave
    alone whatever ``transform`` rests on. Pipelines, unions and column transformers are as good as their members.

    Parameters
    ----------
    transformers : sequence of fitted transformers
        As ``unwrap`` returns them.

    Raises
    ------
    UnreadableError
        With the name of the transformer that may mix columns.
    """
    for transformer in transformers:
        _require(transformer)


def _require(transformer: Any) -> None:
    if _passes(transformer) or (isinstance(transformer, str) and transformer == "drop"):
        return
    steps = _steps(transformer)
    if steps is not None:
        require_columnwise(steps)
        return
    inner = _inner(transformer)
    if inner is not None:
        _require(inner)
        return
    reason = _doubt(transformer)
    if reason:
        raise UnreadableError(f"{reason}, {_SO}")


def _doubt(transformer: Any) -> str | None:
    """Return why a transformer may mix columns, None when it does not; judge its members first."""
    name = type(transformer).__name__
    home = _home(transformer)
    unknown = f"{name} is not known to keep columns apart"
    if home is None:
        return unknown
    changes = _changes(transformer, home)
    if changes:
        known = home.__name__ in _KEEP_APART or home.__name__ in ("ColumnTransformer", "FeatureUnion", "Pipeline")
        return f"{name} has its own {', '.join(changes)}, which may mix columns" if known else unknown
    if home.__name__ in _KEEP_APART:
        return None
    if home.__name__ == "ColumnTransformer":
        members = getattr(transformer, "transformers_", None)
        if members is None:
            raise UnreadableError(f"{name} is not fitted")
        require_columnwise([member for _, member, _ in members])
        return None
    if home.__name__ == "FeatureUnion":
        require_columnwise([member for _, member in transformer.transformer_list])
        return None
    if home.__name__ == "FunctionTransformer":
        return _doubt_function(transformer)
    if home.__name__ == "PolynomialFeatures":
        highest = transformer.degree if np.ndim(transformer.degree) == 0 else transformer.degree[1]
        if highest <= 1 or getattr(transformer, "n_features_in_", None) == 1:
            return None
    mixing = home.__name__ in _MIXING_CLASSES or home.__module__.split(".")[1] in _MIXING_MODULES
    return f"{name} mixes columns" if mixing else unknown


def _doubt_function(transformer: Any) -> str | None:
    """Only numpy's elementwise functions are known to look at one number at a time; ``where`` and ``out`` would change that."""
    function = transformer.func
    if function is None:
        return None
    elementwise = isinstance(function, np.ufunc) and (function.nin, function.nout, function.signature) == (1, 1, None)
    if elementwise and not transformer.kw_args:
        return None
    called = getattr(function, "__name__", type(function).__name__)
    given = f" with {', '.join(transformer.kw_args)}" if transformer.kw_args else ""
    return f"{type(transformer).__name__} calls {called}{given}, which is not known to keep columns apart"


# ---- encoding ---------------------------------------------------------------------------------


class ColumnEncoder:
    """From rows of X to the values that the trees compare: the transformers, then the estimator's own reading of its input.

    Calling it with a block of m rows, in X's container, returns an (m, C) float64 array. It pickles where its transformers
    do. A transformer made with ``copy=False`` may write into the block, as it does when the model is asked.

    Parameters
    ----------
    transformers : sequence of fitted transformers
        As ``unwrap`` returns them; none for an estimator that is given X itself.
    encode : callable
        ``Reading.encode`` of the estimator behind them.
    """

    def __init__(self, transformers: Sequence[Any], encode: Callable[[Any], np.ndarray]) -> None:
        self.transformers = list(transformers)
        self.encode = encode

    def __call__(self, block: Any) -> np.ndarray:
        """Return the values that the trees compare.

        Raises
        ------
        UnreadableError
            When a transformer or the estimator does not take these rows.
        """
        try:
            if self.transformers:
                # Workers of their own, as n_jobs may ask for, cost more than a block of rows.
                with joblib.parallel_backend("sequential"):
                    for transformer in self.transformers:
                        block = transformer.transform(block)
            return self.encode(block)
        except UnreadableError:
            raise
        except Exception as error:
            raise UnreadableError(
                f"the steps before the trees do not take these rows ({type(error).__name__}: {error})"
            ) from error


# ---- finding owners ---------------------------------------------------------------------------


def owners(table: FeatureTable, encode: ColumnEncoder, rows: np.ndarray) -> np.ndarray:
    """Return the column of X that each column which the trees see depends on.

    Two rows that differ in a column of the encoded rows are looked for, among ``rows`` first and then among all rows of the
    table, so that one-hot columns of rare levels and bins of extremes are found too. Halves of the columns of X are then
    moved from the one row to the other: the halves that take the encoded column along spell the number of its owner, so that
    few calls do for many columns. Mixtures of random pairs of rows confirm the outcome.

    Parameters
    ----------
    table : FeatureTable
        The background.
    encode : ColumnEncoder
        With transformers that ``require_columnwise`` accepts.
    rows : (m,) int array
        Rows to begin with, a few hundred of the table; at least one.

    Returns
    -------
    (C,) int array
        Positions in X, -1 where the encoded column is the same at all rows of the table.

    Raises
    ------
    UnreadableError
        When several columns of X move one encoded column, or the encoder does not take the rows.
    """
    rows = np.asarray(rows)
    origin = encode(table.build(rows[:1]))[0]
    witness = _witnesses(table, encode, rows, origin)
    moved = np.flatnonzero(witness >= 0)
    # A small table, because some containers need time in proportion to all rows for a few values of a column.
    used = np.unique(np.concatenate([rows, witness[moved]]))
    small = table.take(used)
    owner = np.full(len(origin), -1)
    there = np.searchsorted(used, witness[moved])
    owner[moved] = _decode(small, encode, origin, int(np.searchsorted(used, rows[0])), there, moved)
    _confirm(small, encode, owner)
    return owner


def _witnesses(table: FeatureTable, encode: ColumnEncoder, rows: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return, for each encoded column, a row where it differs from ``origin``, -1 where no row does."""
    witness = np.full(len(origin), -1)
    waiting = np.arange(len(origin))
    for candidates in (rows, np.arange(table.n_rows)):
        for part in _pieces(candidates, table, len(origin)):
            if not len(waiting):
                return witness
            differs = _differ(encode(table.build(part))[:, waiting], origin[waiting])
            found = differs.any(axis=0)
            witness[waiting[found]] = part[differs.argmax(axis=0)[found]]
            waiting = waiting[~found]
    return witness


def _decode(
    table: FeatureTable, encode: ColumnEncoder, origin: np.ndarray, here: int, there: np.ndarray, moved: np.ndarray
) -> np.ndarray:
    """Return the owners of the encoded columns ``moved``, which differ between row ``here`` and the rows ``there``."""
    n_columns = len(table.column_names)
    number = np.zeros(len(moved), dtype=int)  # of its owner, counted from 1: none moves when nothing does
    for part in _pieces(np.unique(there), table, len(origin)):
        mine = np.flatnonzero(np.isin(there, part))
        at, columns = np.searchsorted(part, there[mine]), moved[mine]
        goal = encode(table.build(part))[at, columns]
        for bit in range(n_columns.bit_length()):
            half = {j: _vector(table, j, part) for j in range(n_columns) if (j + 1) >> bit & 1}
            values = encode(table.build(np.full(len(part), here), half))[at, columns]
            along = _distance(values, goal) < _distance(values, origin[columns])
            number[mine] |= along.astype(int) << bit
    if np.any((number < 1) | (number > n_columns)):
        raise _mixed()
    return number - 1


def _confirm(table: FeatureTable, encode: ColumnEncoder, owner: np.ndarray) -> None:
    """Raise unless rows put together from two rows, column by column, are encoded as their owners say."""
    n_columns = len(table.column_names)
    random = np.random.default_rng(0)
    n_pairs = max(1, min(_PAIRS, _CELLS // max(1, len(owner))))
    first, second = random.integers(table.n_rows, size=(2, n_pairs))
    swapped = random.random((n_pairs, n_columns)) < 0.5
    mixture = {j: _vector(table, j, np.where(swapped[:, j], second, first)) for j in range(n_columns)}
    values = encode(table.build(first, mixture))
    # Where there is no owner both rows are the same.
    expected = np.where(swapped[:, owner], encode(table.build(second)), encode(table.build(first)))
    if not np.allclose(values, expected, rtol=1e-6, atol=1e-12, equal_nan=True):
        raise _mixed()


def _mixed() -> UnreadableError:
    return UnreadableError(f"several columns of X move the same column that the trees see, {_SO}")


def _pieces(rows: np.ndarray, table: FeatureTable, n_encoded: int) -> Iterator[np.ndarray]:
    """Cut rows into pieces whose blocks have a bounded size."""
    length = max(1, _CELLS // max(n_encoded, len(table.column_names)))
    for start in range(0, len(rows), length):
        yield rows[start : start + length]


def _vector(table: FeatureTable, j: int, rows: np.ndarray) -> Any:
    """Return the values of a column of X, which need not be a feature of the table, as ``table.build`` takes them."""
    return table.values(Feature(table.column_names[j], "number", (j,)), rows)[0]


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return how far values are apart: infinitely when only one is missing, not at all when both are."""
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    apart = np.where(np.isnan(a) | np.isnan(b), np.inf, apart)
    return np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, apart)


def _differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return whether values differ by more than rounding; infinite and missing ones are values like others."""
    size = np.minimum(np.fmin(np.abs(a), np.abs(b)), np.finfo(float).max)
    return _distance(a, b) > _NOISE * size
