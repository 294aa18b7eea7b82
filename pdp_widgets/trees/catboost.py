"""CatBoost on numeric features as a sum of trees.

The trees are read from the library's own JSON export, which it writes to files only; leaf values, borders and biases
stand in it in full precision. Categorical, text and embedding features are refused: what CatBoost makes of them
(statistics of the target, words, distances) is no comparison of a value with a border.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .ensemble import TreeEnsemble, UnreadableError, stack
from .links import EXP, IDENTITY, LOGISTIC, SIGMOID, SOFTMAX, Link
from .reading import Reading, home_class
from .tables import CatBoostColumns


def read_catboost(estimator: Any, method: str) -> Reading:
    """Return a CatBoost estimator as a sum of trees; see ``reading.read``."""
    family, kind = type(estimator).__name__, home_class(estimator).__name__
    if kind not in ("CatBoost", "CatBoostClassifier", "CatBoostRanker", "CatBoostRegressor"):
        raise UnreadableError(f"{family} is not read")
    if kind == "CatBoostClassifier" and method == "predict":
        raise UnreadableError("predicted class labels are votes, not a sum")
    if not callable(getattr(estimator, method, None)):
        raise UnreadableError(f"{family} has no {method}")
    for special, used in (
        ("categorical", estimator.get_cat_feature_indices()),
        ("text", estimator.get_text_feature_indices()),
        ("embedding", estimator.get_embedding_feature_indices()),
    ):
        if len(used):
            raise UnreadableError(f"CatBoost's trees cannot be read with {special} features, only with numeric ones")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.save_model(str(path), format="json")
        model = json.loads(path.read_text(encoding="utf-8"))

    scale, bias = model["scale_and_bias"]
    base = np.atleast_1d(np.asarray(bias, dtype=float))
    loss = model["model_info"].get("params", {}).get("loss_function", {}).get("type")
    link = _link(kind, loss, len(base))
    features = {one["feature_index"]: one for one in model["features_info"]["float_features"]}
    trees = model.get("oblivious_trees") or model.get("trees")
    if not trees:
        raise UnreadableError(f"{family} has no trees")
    n_columns = len(estimator.feature_names_)
    grow = _symmetric if "oblivious_trees" in model else _branching
    parts = [grow(tree, features, len(base), n_columns) for tree in trees]
    ensemble = stack(parts)
    ensemble = replace(ensemble, value=ensemble.value * scale, base=base)
    return Reading(ensemble, link, CatBoostColumns(n_columns), family)


def _link(kind: str, loss: str | None, n_raw: int) -> Link:
    if kind == "CatBoostClassifier":
        if n_raw == 1:
            return SIGMOID
        if loss == "MultiClass":
            return SOFTMAX
        if loss in ("MultiClassOneVsAll", "MultiLogloss", "MultiCrossEntropy"):
            return LOGISTIC
        raise UnreadableError(f"how CatBoost makes probabilities with loss_function={loss!r} is not known here")
    # Rankers and the general class answer with raw sums, and so do regressors with these exceptions.
    if kind == "CatBoostRegressor":
        if loss in ("Poisson", "Tweedie"):
            return EXP
        if loss == "RMSEWithUncertainty":
            return MEAN_AND_VARIANCE
    return IDENTITY


def _mean_and_variance(raw: np.ndarray) -> np.ndarray:
    return np.stack([raw[0], np.exp(2 * raw[1])])


MEAN_AND_VARIANCE = Link("mean and variance", linear=False, apply=_mean_and_variance)
"""Of a mean and the logarithm of a standard deviation."""


def _symmetric(tree: dict[str, Any], features: dict[int, Any], n_raw: int, n_columns: int) -> TreeEnsemble:
    """Return a tree that asks the same question at all nodes of a level, nodes level by level."""
    # Split k decides on bit k of a leaf's number: the last one stands at the root.
    splits = (tree["splits"] or [])[::-1]
    n_inner = 2 ** len(splits) - 1
    level = np.repeat(np.arange(len(splits)), 2 ** np.arange(len(splits)))
    left = np.full(2 * n_inner + 1, -1, dtype=np.int32)
    left[:n_inner] = 2 * np.arange(n_inner) + 1
    asked = np.full(len(left), -1)
    asked[:n_inner] = level
    value = np.zeros((len(left), n_raw))
    value[n_inner:] = np.reshape(tree["leaf_values"], (-1, n_raw))
    right = np.where(left >= 0, left + 1, -1).astype(np.int32)
    return _tree(left, right, value, splits, asked, features, n_columns)


def _branching(tree: dict[str, Any], features: dict[int, Any], n_raw: int, n_columns: int) -> TreeEnsemble:
    """Return a tree written as nested nodes, in the order in which they are met."""
    nodes = [tree]
    splits: list[dict[str, Any]] = []
    asked: list[int] = []
    children: list[tuple[int, int]] = []
    for node in nodes:  # grows on the way
        if "split" in node:
            children.append((len(nodes), len(nodes) + 1))
            asked.append(len(splits))
            splits.append(node["split"])
            nodes += [node["left"], node["right"]]
        else:
            children.append((-1, -1))
            asked.append(-1)
    left, right = np.array(children, dtype=np.int32).T
    value = np.zeros((len(nodes), n_raw))
    for k, node in enumerate(nodes):
        value[k] = node.get("value", 0)
    return _tree(left, right, value, splits, np.array(asked), features, n_columns)


def _tree(
    left: np.ndarray,
    right: np.ndarray,
    value: np.ndarray,
    splits: list[dict[str, Any]],
    asked: np.ndarray,
    features: dict[int, Any],
    n_columns: int,
) -> TreeEnsemble:
    """Return one tree; ``asked`` is each node's position in ``splits``, -1 at leaves."""
    for split in splits:
        if split["split_type"] != "FloatFeature":
            raise UnreadableError(f"CatBoost's splits of type {split['split_type']} are not read")
    own = [features[split["float_feature_index"]] for split in splits]
    # Where no value was missing in training, NaN fails the comparison ``x > border``.
    nan_right = [feature["nan_value_treatment"] == "AsTrue" for feature in own]
    return TreeEnsemble(
        roots=np.zeros(1, dtype=np.int32),
        left=left,
        right=right,
        column=np.array([*(feature["flat_feature_index"] for feature in own), -1], dtype=np.int32)[asked],
        threshold=np.array([*(split["border"] for split in splits), 0], dtype=np.float32).astype(float)[asked],
        missing_left=~np.array([*nan_right, True])[asked],
        category_set=np.full(len(left), -1, dtype=np.int32),
        value=value,
        output=np.zeros(1, dtype=np.int32),
        base=np.zeros(value.shape[1]),
        n_columns=n_columns,
        precision=np.dtype(np.float32),
    )
