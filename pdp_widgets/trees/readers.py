"""Readers of scikit-learn's trees, forests, bagging and boosting.

Each reader copies the arrays that the estimator's own method walks through. Where private attributes are needed (histogram
gradient boosting), they are named in one place; what a release keeps elsewhere makes ``reading.read`` refuse the estimator.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn import ensemble as ensembles
from sklearn import tree as trees
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import check_array, get_tags

from .ensemble import TreeEnsemble, UnreadableError, stack
from .links import EXP, EXPONENTIAL_LOSS, IDENTITY, SIGMOID, SOFTMAX, Link, isolation, samme
from .reading import Reading, home_class, read

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def read_sklearn(estimator: Any, method: str) -> Reading:
    """Return a scikit-learn estimator as a sum of trees; see ``reading.read``.

    Raises
    ------
    UnreadableError
        With the reason.
    """
    name = type(estimator).__name__
    reader = require_reader(home_class(estimator))
    if method == "predict" and is_classifier(estimator):
        raise UnreadableError("predicted class labels are votes, not a sum")
    if method == "predict" and is_outlier_detector(estimator):
        raise UnreadableError(f"{name} predicts inlier or outlier, which is not a sum")
    if not hasattr(estimator, method):
        raise UnreadableError(f"{name} has no {method}")
    return reader(estimator, method)


def require_reader(home: type) -> Callable[[Any, str], Reading]:
    """Return the reader of a scikit-learn class.

    Raises
    ------
    UnreadableError
        When there is none.
    """
    reader = _READERS.get(home)
    if reader is None:
        raise UnreadableError(f"{home.__name__} is not a sum of trees")
    return reader


# From rows to numbers


@dataclass(frozen=True)
class Numbers:
    """Rows as the numbers that scikit-learn's own check makes of them, column by position."""

    n_columns: int
    precision: np.dtype
    finite: bool | Literal["allow-nan"]
    """What the estimator asks of its numbers, as ``ensure_all_finite`` of ``check_array``."""
    sparse: bool = True
    """Whether the estimator takes sparse matrices."""
    through_array: bool = False
    """Whether an estimator around it first makes an array of the rows' own dtype."""

    def __call__(self, rows: Any) -> np.ndarray:
        """Return (m, n_columns) float64, rounded to ``precision``.

        Raises
        ------
        UnreadableError
            When the estimator would not take the rows.
        """
        # Trees take missing values in dense rows only.
        finite = True if issparse(rows) and self.finite == "allow-nan" else self.finite
        accepted = ["csr", "csc"] if self.sparse else False
        try:
            with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is then judged
                if self.through_array:
                    rows = check_array(rows, dtype=None, accept_sparse=accepted, ensure_all_finite=False)
                array = check_array(rows, dtype=self.precision, accept_sparse=accepted, ensure_all_finite=finite)
        except (TypeError, ValueError) as error:
            raise UnreadableError(f"rows are not numbers that its trees take ({error})") from error
        if array.shape[1] != self.n_columns:
            raise UnreadableError(f"rows have {array.shape[1]} columns where its trees know {self.n_columns}")
        return np.asarray(array.toarray() if issparse(array) else array, dtype=float)


@dataclass(frozen=True)
class Encoded:
    """Rows through the encoder of categories that histogram gradient boosting fits for itself.

    It puts categorical columns first, as codes; unknown categories become NaN, which is what the model takes them for.
    """

    encoder: Any

    def __call__(self, rows: Any) -> np.ndarray:
        """Return (m, n_columns) float64.

        Raises
        ------
        UnreadableError
            When the estimator would not take the rows.
        """
        try:
            return np.asarray(self.encoder.transform(rows), dtype=float)
        except (TypeError, ValueError) as error:
            raise UnreadableError(f"rows are not what its encoder of categories takes ({error})") from error


def _numbers(estimator: Any, tree: Any) -> Numbers:
    """Return the encoding of estimators that hand their rows to trees as float32."""
    return Numbers(estimator.n_features_in_, _FLOAT32, "allow-nan" if get_tags(tree).input_tags.allow_nan else True)


# Single trees and their averages


def _one_tree(
    tree: Any, value: np.ndarray, n_columns: int, columns: np.ndarray | None = None, output: int = 0, n_raw: int = 0
) -> TreeEnsemble:
    """Return a ``tree_`` with (nodes, width) values; ``columns`` are those of X that it was given."""
    leaf = tree.children_left < 0
    column = np.where(leaf, 0, tree.feature)
    if columns is not None:
        column = np.asarray(columns)[column]
    return TreeEnsemble(
        roots=np.zeros(1, np.int32),
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        column=np.where(leaf, -1, column).astype(np.int32),
        threshold=np.array(tree.threshold, dtype=float),
        missing_left=tree.missing_go_to_left.astype(bool),
        category_set=np.full(len(leaf), -1, np.int32),
        value=np.where(leaf[:, None], value, 0.0),
        output=np.full(1, output, np.int32),
        base=np.zeros(n_raw or value.shape[1]),
        n_columns=n_columns,
        precision=_FLOAT32,
    )


def _node_values(estimator: Any) -> np.ndarray:
    """Return (nodes, width) what a tree answers: its targets', or the probabilities of all targets' classes in turn."""
    value = estimator.tree_.value
    if not is_classifier(estimator):
        return value[:, :, 0]
    counts = np.atleast_1d(estimator.n_classes_)
    return np.concatenate([value[:, k, :count] for k, count in enumerate(counts)], axis=1)


def _read_tree(estimator: Any, _method: str) -> Reading:
    tree = _one_tree(estimator.tree_, _node_values(estimator), estimator.n_features_in_)
    return Reading(tree, IDENTITY, _numbers(estimator, estimator), type(estimator).__name__)


def _read_forest(estimator: Any, _method: str) -> Reading:
    members = estimator.estimators_
    parts = [
        _one_tree(member.tree_, _node_values(member) / len(members), estimator.n_features_in_) for member in members
    ]
    return Reading(stack(parts), IDENTITY, _numbers(estimator, members[0]), type(estimator).__name__)


# Averages of other estimators


def _members(estimator: Any, members: Sequence[Any], method: str) -> list[Reading]:
    """Return the readings of members whose answers can be added up."""
    family = type(estimator).__name__
    readings = []
    for member in members:
        try:
            reading = read(member, method)
        except UnreadableError as error:
            raise UnreadableError(f"{family} has a member that cannot be read: {error}") from error
        if reading.link != IDENTITY:
            raise UnreadableError(f"{family} averages {reading.family}, whose answer is no sum ({reading.link.name})")
        readings.append(reading)
    return readings


def _average(estimator: Any, readings: Sequence[Reading], shares: Sequence[float]) -> Reading:
    """Return the sum of readings times their shares."""
    family, first = type(estimator).__name__, readings[0]
    same = [(r.encode, r.ensemble.precision, r.ensemble.n_raw) for r in readings]
    if any(other != same[0] for other in same):
        raise UnreadableError(f"the members of {family} take their columns, or give their outputs, in different ways")
    parts = [
        replace(r.ensemble, value=r.ensemble.value * share, base=r.ensemble.base * share)
        for r, share in zip(readings, shares, strict=True)
    ]
    return Reading(stack(parts), IDENTITY, first.encode, family)


def _read_bagging(estimator: Any, method: str) -> Reading:
    n = estimator.n_estimators
    members, subsets = estimator.estimators_[:n], estimator.estimators_features_[:n]
    readings = [
        _among_columns(estimator, reading, columns)
        for reading, columns in zip(_members(estimator, members, method), subsets, strict=True)
    ]
    if method == "predict_proba":
        readings = [
            _among_classes(reading, member.classes_, estimator.n_classes_)
            for reading, member in zip(readings, members, strict=True)
        ]
    return _average(estimator, readings, [1 / n] * len(members))


def _among_columns(estimator: Any, reading: Reading, columns: np.ndarray) -> Reading:
    """Return the reading of a member that knows ``columns`` as one of all columns."""
    if not isinstance(reading.encode, Numbers):
        raise UnreadableError(f"{type(estimator).__name__} has members that encode their columns themselves")
    n, known = estimator.n_features_in_, reading.ensemble.column
    encode = replace(reading.encode, n_columns=n, through_array=True)
    column = np.where(known >= 0, np.asarray(columns)[known], -1).astype(np.int32)
    return replace(reading, ensemble=replace(reading.ensemble, column=column, n_columns=n), encode=encode)


def _among_classes(reading: Reading, classes: np.ndarray, n_classes: int) -> Reading:
    """Return the reading of a member that may have seen some classes only; bagging numbers them from 0."""
    inner = reading.ensemble
    if len(classes) == n_classes:
        return reading
    value = np.zeros((len(inner.value), n_classes))
    value[:, classes] = inner.value
    base = np.zeros(n_classes)
    base[classes] = inner.base
    return replace(reading, ensemble=replace(inner, value=value, base=base))


def _read_voting(estimator: Any, method: str) -> Reading:
    given = estimator.weights if estimator.weights is not None else np.ones(len(estimator.estimators))
    weights = np.array([w for (_, member), w in zip(estimator.estimators, given, strict=True) if member != "drop"])
    return _average(estimator, _members(estimator, estimator.estimators_, method), weights / weights.sum())


def _read_isolation_forest(estimator: Any, _method: str) -> Reading:
    n = estimator.n_features_in_
    parts = []
    for member, columns in zip(estimator.estimators_, estimator.estimators_features_, strict=True):
        tree = member.tree_
        # Nodes on the way, plus what is expected below, minus one: in the model's order, for the sake of rounding.
        lengths = (_depths(tree) + 1) + _average_path_length(tree.n_node_samples) - 1
        parts.append(_one_tree(tree, lengths[:, None], n, columns))
    expected = len(parts) * float(_average_path_length(np.array(estimator.max_samples_)))
    link = isolation(expected, float(estimator.offset_))
    return Reading(stack(parts), link, Numbers(n, _FLOAT32, finite=False), type(estimator).__name__)


def _depths(tree: Any) -> np.ndarray:
    """Return each node's number of ancestors."""
    depths, level, depth = np.zeros(tree.node_count), np.zeros(1, dtype=int), 0
    while len(level):
        depths[level] = depth
        children = np.concatenate([tree.children_left[level], tree.children_right[level]])
        level, depth = children[children >= 0], depth + 1
    return depths


def _average_path_length(n_rows: np.ndarray) -> np.ndarray:
    """Return the mean depth at which a random tree isolates one of ``n_rows`` rows (Liu et al., 2008, eq. 1)."""
    n = np.maximum(n_rows, 3)
    many = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    return np.where(n_rows <= 1, 0.0, np.where(n_rows == 2, 1.0, many))


# Boosting


def _read_adaboost(estimator: Any, method: str) -> Reading:
    family = type(estimator).__name__
    if getattr(estimator, "algorithm", "SAMME") == "SAMME.R":  # of fits by releases before 1.6
        raise UnreadableError(f"{family} with SAMME.R adds logarithms of probabilities, not votes")
    n_classes, n_columns = estimator.n_classes_, estimator.n_features_in_
    total = estimator.estimator_weights_.sum()
    parts = []
    for member, weight in zip(estimator.estimators_, estimator.estimator_weights_, strict=False):
        if home_class(member) not in (trees.DecisionTreeClassifier, trees.ExtraTreeClassifier):
            raise UnreadableError(f"{family} boosts {type(member).__name__}, which is not a tree")
        votes = np.zeros((member.tree_.node_count, 1))
        if n_classes > 1:
            chosen = member.classes_[np.argmax(_node_values(member), axis=1)]
            against = -1 / (n_classes - 1) * weight
            votes = np.where(chosen[:, None] == estimator.classes_, weight, against) / total
        if n_classes == 2:
            votes = votes[:, 1:] - votes[:, :1]
        parts.append(_one_tree(member.tree_, votes, n_columns))
    ensemble, link = stack(parts), IDENTITY
    if method == "predict_proba" and n_classes == 1:
        ensemble = replace(ensemble, base=np.ones(1))
    elif method == "predict_proba":
        link = samme(n_classes)
    encode = Numbers(n_columns, _FLOAT32, finite=True, through_array=True)
    return Reading(ensemble, link, encode, family)


def _refuse_median(estimator: Any, _method: str) -> Reading:
    raise UnreadableError(f"{type(estimator).__name__} predicts a weighted median of its trees, not a sum")


def _class_link(method: str, n_raw: int) -> Link:
    """Return the link of boosted log-odds."""
    if method != "predict_proba":
        return IDENTITY
    return SIGMOID if n_raw == 1 else SOFTMAX


def _read_gradient_boosting(estimator: Any, method: str) -> Reading:
    n_columns, stages = estimator.n_features_in_, estimator.estimators_
    n_raw = stages.shape[1]
    parts = [
        # The model multiplies the same numbers and adds them in the same order.
        _one_tree(member.tree_, estimator.learning_rate * member.tree_.value[:, 0], n_columns, None, k, n_raw)
        for stage in stages
        for k, member in enumerate(stage)
    ]
    link = _class_link(method, n_raw)
    if method == "predict_proba" and estimator.loss == "exponential":
        link = EXPONENTIAL_LOSS
    ensemble = replace(stack(parts), base=_start(estimator, n_raw))
    return Reading(ensemble, link, Numbers(n_columns, _FLOAT32, finite=True), type(estimator).__name__)


def _start(estimator: Any, n_raw: int) -> np.ndarray:
    """Return the (n_raw,) constant that gradient boosting starts from: what the model says when its trees say nothing."""
    init = estimator.init_
    constant = isinstance(init, DummyRegressor) or (isinstance(init, DummyClassifier) and init.strategy != "stratified")
    if not constant and not (isinstance(init, str) and init == "zero"):
        raise UnreadableError(
            f"{type(estimator).__name__} starts from a {type(init).__name__}, which is not a constant"
        )
    silent = copy.copy(estimator)
    silent.learning_rate = 0.0
    vars(silent).pop("feature_names_in_", None)  # or the nameless row below draws a warning
    row = np.zeros((1, estimator.n_features_in_))
    answer = silent.decision_function(row) if is_classifier(estimator) else silent.predict(row)
    return np.reshape(answer, n_raw).astype(float)


_HIST_LINKS = {
    "squared_error": IDENTITY,
    "absolute_error": IDENTITY,
    "quantile": IDENTITY,
    "poisson": EXP,
    "gamma": EXP,
}


def _read_hist_gradient_boosting(estimator: Any, method: str) -> Reading:
    # The only private attributes; there is no public way to the trees.
    stages, start, encoder = estimator._predictors, estimator._baseline_prediction, estimator._preprocessor  # noqa: SLF001
    family, n_columns = type(estimator).__name__, estimator.n_features_in_
    n_raw = estimator.n_trees_per_iteration_
    if is_classifier(estimator) and estimator.loss == "log_loss":
        link = _class_link(method, n_raw)
    elif isinstance(estimator.loss, str) and estimator.loss in _HIST_LINKS:
        link = _HIST_LINKS[estimator.loss]
    else:
        raise UnreadableError(f"{family} has a loss of its own, {estimator.loss}")
    parts = [_hist_tree(tree, n_columns, k, n_raw) for stage in stages for k, tree in enumerate(stage)]
    ensemble = replace(stack(parts), base=np.reshape(start, n_raw).astype(float))
    encode = Numbers(n_columns, _FLOAT64, finite=False, sparse=False) if encoder is None else Encoded(encoder)
    return Reading(ensemble, link, encode, family)


def _hist_tree(tree: Any, n_columns: int, output: int, n_raw: int) -> TreeEnsemble:
    """Return a ``TreePredictor``; its categories are codes that ``Encoded`` makes, so none is unknown."""
    nodes = tree.nodes
    leaf = nodes["is_leaf"].astype(bool)
    categorical = nodes["is_categorical"].astype(bool) & ~leaf
    bits = np.asarray(tree.raw_left_cat_bitsets)[:, :, None] >> np.arange(32, dtype=np.uint32) & 1
    return TreeEnsemble(
        roots=np.zeros(1, np.int32),
        left=np.where(leaf, -1, nodes["left"]).astype(np.int32),
        right=np.where(leaf, -1, nodes["right"]).astype(np.int32),
        column=np.where(leaf, -1, nodes["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf | categorical, 0.0, nodes["num_threshold"]),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        category_set=np.where(categorical, nodes["bitset_idx"], -1).astype(np.int32),
        value=np.where(leaf, nodes["value"], 0.0)[:, None],
        output=np.full(1, output, np.int32),
        base=np.zeros(n_raw),
        n_columns=n_columns,
        category_sets=tuple(np.flatnonzero(members).astype(np.int64) for members in bits.reshape(len(bits), 256)),
    )


_READERS: dict[type | None, Callable[[Any, str], Reading]] = {
    trees.DecisionTreeRegressor: _read_tree,
    trees.DecisionTreeClassifier: _read_tree,
    trees.ExtraTreeRegressor: _read_tree,
    trees.ExtraTreeClassifier: _read_tree,
    ensembles.RandomForestRegressor: _read_forest,
    ensembles.RandomForestClassifier: _read_forest,
    ensembles.ExtraTreesRegressor: _read_forest,
    ensembles.ExtraTreesClassifier: _read_forest,
    ensembles.BaggingRegressor: _read_bagging,
    ensembles.BaggingClassifier: _read_bagging,
    ensembles.VotingRegressor: _read_voting,
    ensembles.VotingClassifier: _read_voting,
    ensembles.IsolationForest: _read_isolation_forest,
    ensembles.AdaBoostClassifier: _read_adaboost,
    ensembles.AdaBoostRegressor: _refuse_median,
    ensembles.GradientBoostingRegressor: _read_gradient_boosting,
    ensembles.GradientBoostingClassifier: _read_gradient_boosting,
    ensembles.HistGradientBoostingRegressor: _read_hist_gradient_boosting,
    ensembles.HistGradientBoostingClassifier: _read_hist_gradient_boosting,
}
