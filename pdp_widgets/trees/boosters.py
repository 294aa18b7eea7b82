"""XGBoost and LightGBM as sums of trees, estimators and native boosters alike.

The trees are read from each library's own model format, XGBoost's JSON and LightGBM's text: both hold every number in
full precision. treelite reads both too, but not all of it: it refuses XGBoost models that hold the names of categories
(from 3.1 on), overlooks LightGBM's ``zero_as_missing``, and leaves early stopping in XGBoost's estimators, pandas'
categories and the links of several objectives to its caller, who then needs these formats anyway. What happens to a
table before a tree sees it is in ``tables.py``.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logit

from .ensemble import TreeEnsemble, UnreadableError, stack
from .links import (
    EXP,
    EXP_SINGLE,
    IDENTITY,
    LOGISTIC,
    SIGMOID,
    SIGNED_SQUARE,
    SOFTMAX,
    SOFTPLUS,
    Link,
    logistic,
    sigmoid,
)
from .reading import Reading, home_class
from .tables import LightGBMColumns, XGBoostColumns

VOTES = "predicted class labels are votes, not a sum"

_XGBOOST_CLASSES = (
    "Booster",
    "XGBClassifier",
    "XGBModel",
    "XGBRanker",
    "XGBRegressor",
    "XGBRFClassifier",
    "XGBRFRegressor",
)
_LIGHTGBM_CLASSES = ("Booster", "LGBMClassifier", "LGBMModel", "LGBMRanker", "LGBMRegressor")

_XGBOOST_OBJECTIVES = {
    "binary:logistic": LOGISTIC,
    "binary:logitraw": IDENTITY,
    "count:poisson": EXP_SINGLE,
    "multi:softprob": SOFTMAX,
    "rank:map": IDENTITY,
    "rank:ndcg": IDENTITY,
    "rank:pairwise": IDENTITY,
    "reg:absoluteerror": IDENTITY,
    "reg:gamma": EXP_SINGLE,
    "reg:logistic": LOGISTIC,
    "reg:pseudohubererror": IDENTITY,
    "reg:quantileerror": IDENTITY,
    "reg:squarederror": IDENTITY,
    "reg:squaredlogerror": IDENTITY,
    "reg:tweedie": EXP_SINGLE,
    "survival:aft": EXP_SINGLE,
    "survival:cox": EXP_SINGLE,
}

ASCENDING = Link("sorted quantiles", linear=False, apply=partial(np.sort, axis=0))
"""Of XGBoost from 3.4 on: several quantiles of one row are put in order, so that none crosses another."""

_LIGHTGBM_IDENTITY = ("regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg")


def read_xgboost(estimator: Any, method: str) -> Reading:
    """Return an XGBoost estimator or ``Booster`` as a sum of trees; see ``reading.read``.

    An estimator that stopped early answers with the rounds up to the best one, a ``Booster`` with all.
    """
    import xgboost

    family = type(estimator).__name__
    native = isinstance(estimator, xgboost.Booster)
    classifier = isinstance(estimator, xgboost.XGBClassifier)
    _require(estimator, method, classifier, xgboost, _XGBOOST_CLASSES)
    booster = estimator if native else estimator.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    kind = learner["gradient_booster"]["name"]
    if kind not in ("gbtree", "dart"):
        raise UnreadableError(f"{family} with booster={kind!r} is a linear model, not a sum of trees")

    counts = {name: int(learner["learner_model_param"][name]) for name in ("num_class", "num_target", "num_feature")}
    n_raw = max(counts["num_class"], counts["num_target"], 1)
    objective = learner["objective"]["name"]
    link = _xgboost_link(objective, n_raw, estimator if classifier else None, _release(xgboost) >= (3, 4))
    base = np.zeros(n_raw) + np.float32(json.loads(learner["learner_model_param"]["base_score"]))
    # The format keeps the intercept on the scale of the response; what the trees add to stands before the link.
    if objective in ("reg:logistic", "binary:logistic"):
        base = logit(base)
    elif link is EXP_SINGLE:
        base = np.log(base)

    grown = learner["gradient_booster"]
    model = grown["model"] if kind == "gbtree" else grown["gbtree"]["model"]
    end = len(model["trees"])
    if not native:
        with suppress(AttributeError):  # when it did not stop early
            end = model["iteration_indptr"][estimator.best_iteration + 1]
    # Of DART; every release from 3.2 to 3.4 has kept them in another place.
    weights = grown.get("weight_drop") or model.get("weight_drop") or [1.0] * len(model["trees"])
    parts = [
        _xgboost_tree(tree, group, float(np.float32(weight)), n_raw, counts["num_feature"])
        for tree, group, weight in zip(model["trees"][:end], model["tree_info"][:end], weights[:end], strict=True)
    ]
    ensemble = _sum(parts, base, family)
    with np.errstate(over="ignore"):
        missing = np.nan if native or estimator.missing is None else float(np.float32(estimator.missing))
    encode = XGBoostColumns(
        n_columns=ensemble.n_columns,
        categories=tuple(map(_xgboost_categories, model.get("cats", {}).get("enc", ()))),
        coded=_coded(ensemble, family),
        missing=missing,
        native=native,
    )
    return Reading(ensemble, link, encode, family)


def read_lightgbm(estimator: Any, method: str) -> Reading:
    """Return a LightGBM estimator or ``Booster`` as a sum of trees; see ``reading.read``.

    What stopped early answers with the rounds up to the best one.
    """
    import lightgbm

    family = type(estimator).__name__
    native = isinstance(estimator, lightgbm.Booster)
    classifier = isinstance(estimator, lightgbm.LGBMClassifier)
    _require(estimator, method, classifier, lightgbm, _LIGHTGBM_CLASSES)
    if not native and estimator.get_params().get("pred_early_stop"):
        raise UnreadableError("with pred_early_stop every row is answered by as few trees as seem enough")
    booster = estimator if native else estimator.booster_
    text = booster.model_to_string(num_iteration=booster.best_iteration)
    header_text, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    header = _fields(header_text)
    trees = [_fields(block) for block in blocks]
    if any(tree.get("is_linear") == "1" for tree in trees):
        raise UnreadableError(f"{family} with linear_tree=True has a linear model in every leaf")

    n_raw = int(header["num_tree_per_iteration"])
    n_columns = int(header["max_feature_idx"]) + 1
    raw = method == "decision_function"
    link = IDENTITY if raw else _lightgbm_link(header, n_raw, estimator if classifier else None)
    # A random forest answers with the average of its trees; its raw score is their sum.
    scale = n_raw / len(trees) if "average_output" in header and not raw else 1.0
    parts = [_lightgbm_tree(tree, k % n_raw, n_raw, n_columns, scale) for k, tree in enumerate(trees)]
    ensemble = _sum(parts, np.zeros(n_raw), family)
    encode = LightGBMColumns(
        n_columns=n_columns,
        categories=None if booster.pandas_categorical is None else tuple(map(tuple, booster.pandas_categorical)),
        coded=_coded(ensemble, family),
        zero_missing=_zero_missing(trees),
        validated=not native,
        arrow=_release(lightgbm) >= (4, 7),
    )
    return Reading(ensemble, link, encode, family)


def _require(estimator: Any, method: str, classifier: bool, library: Any, known: tuple[str, ...]) -> None:
    """Refuse other classes than the known ones (those of clusters, for example), and answers that are no sum."""
    home = home_class(estimator)
    if home.__name__ not in known or home is not getattr(library, home.__name__, None):
        raise UnreadableError(f"{type(estimator).__name__} is not read")
    if classifier and method == "predict":
        raise UnreadableError(VOTES)
    if not callable(getattr(estimator, method, None)):
        raise UnreadableError(f"{type(estimator).__name__} has no {method}")


def _release(library: Any) -> tuple[int, ...]:
    return tuple(map(int, library.__version__.split(".")[:2]))


def _sum(parts: list[TreeEnsemble], base: np.ndarray, family: str) -> TreeEnsemble:
    if not parts:
        raise UnreadableError(f"{family} has no trees")
    return replace(stack(parts), base=base)


def _coded(ensemble: TreeEnsemble, family: str) -> tuple[int, ...]:
    """Return the columns that are split by category."""
    inner = ensemble.left >= 0
    by_set = ensemble.category_set >= 0
    coded = np.unique(ensemble.column[by_set])
    if np.isin(ensemble.column[inner & ~by_set], coded).any():
        raise UnreadableError(f"{family} takes one column for a number in one tree and for a category in another")
    return tuple(coded.tolist())


# ---- XGBoost ---------------------------------------------------------------------------------


def _xgboost_link(objective: str, n_raw: int, classifier: Any, sorts_quantiles: bool) -> Link:
    if objective == "multi:softmax":
        if classifier is None:
            raise UnreadableError(VOTES)
        return SOFTMAX
    if objective == "binary:hinge":
        raise UnreadableError("with objective='binary:hinge' the answer is a class label, not a sum")
    link = _XGBOOST_OBJECTIVES.get(objective)
    if objective == "reg:quantileerror" and n_raw > 1 and sorts_quantiles:
        link = ASCENDING
    if link is None:
        raise UnreadableError(f"how XGBoost answers with objective={objective!r} is not known here")
    if classifier is None:
        return link
    # One output is taken for the probability of the second class; several are handed on as they are.
    if n_raw == 1:
        if link is not LOGISTIC:
            raise UnreadableError(f"a classifier with objective={objective!r} does not answer with probabilities")
        return SIGMOID
    if classifier.n_classes_ not in (2, n_raw):
        raise UnreadableError(f"its {n_raw} sums are not those of {classifier.n_classes_} classes")
    return link


def _xgboost_tree(tree: dict[str, Any], group: int, weight: float, n_raw: int, n_columns: int) -> TreeEnsemble:
    left, right = (np.asarray(tree[side], dtype=np.int32) for side in ("left_children", "right_children"))
    leaf = left < 0
    conditions = np.asarray(tree["split_conditions"], dtype=np.float32)
    width = int(tree["tree_param"]["size_leaf_vector"]) if n_raw > 1 else 1
    value = np.zeros((len(left), max(width, 1)))
    if width <= 1:
        value[leaf, 0] = conditions[leaf]
    elif "leaf_weights" in tree:  # from 3.2 on; the right child of a leaf is its place in the list
        value[leaf] = np.asarray(tree["leaf_weights"], dtype=np.float32).reshape(-1, width)[right[leaf]]
    else:
        value[leaf] = np.asarray(tree["base_weights"], dtype=np.float32).reshape(-1, width)[leaf]
    right = np.where(leaf, -1, right).astype(np.int32)
    missing_left = np.asarray(tree["default_left"], dtype=bool) & ~leaf

    category_set = np.full(len(left), -1, dtype=np.int32)
    nodes = np.asarray(tree["categories_nodes"], dtype=int)
    category_set[nodes] = np.arange(len(nodes))
    codes = np.asarray(tree["categories"], dtype=np.int64)
    starts, sizes = (np.asarray(tree[name], dtype=int) for name in ("categories_segments", "categories_sizes"))
    sets = tuple(np.sort(codes[start : start + size]) for start, size in zip(starts, sizes, strict=True))
    # XGBoost keeps the categories that go right.
    left[nodes], right[nodes] = right[nodes], left[nodes]
    missing_left[nodes] ^= True

    # x < t of float32 numbers is x <= the next smaller one.
    with np.errstate(over="ignore"):
        threshold = np.where(leaf, 0, np.nextafter(conditions, np.float32(-np.inf))).astype(float)
    part = TreeEnsemble(
        roots=np.zeros(1, dtype=np.int32),
        left=left,
        right=right,
        column=np.where(leaf, -1, tree["split_indices"]).astype(np.int32),
        threshold=threshold,
        missing_left=missing_left,
        category_set=category_set,
        value=value * weight,
        output=np.array([0 if width > 1 else group], dtype=np.int32),
        base=np.zeros(n_raw),
        n_columns=n_columns,
        category_sets=sets,
        precision=np.dtype(np.float32),
    )
    return _reached(part) if int(tree["tree_param"]["num_deleted"]) else part


def _reached(tree: TreeEnsemble) -> TreeEnsemble:
    """Return a tree without the nodes that pruning left behind."""
    keep = np.zeros(len(tree.left), dtype=bool)
    at = np.zeros(1, dtype=int)
    while len(at):
        keep[at] = True
        at = np.concatenate([tree.left[at], tree.right[at]])
        at = at[at >= 0]
    place = np.append(np.cumsum(keep) - 1, -1).astype(np.int32)  # -1 stays -1
    kept = {
        name: getattr(tree, name)[keep] for name in ("column", "threshold", "missing_left", "category_set", "value")
    }
    return replace(tree, left=place[tree.left[keep]], right=place[tree.right[keep]], **kept)


def _xgboost_categories(stored: dict[str, Any]) -> tuple[Hashable, ...] | None:
    """Return the labels of a column's categories: text as UTF-8, or numbers; None when the column has none."""
    if "offsets" not in stored:
        return tuple(stored["values"])
    ends = stored["offsets"]
    text = bytes(byte & 0xFF for byte in stored["values"])
    return tuple(text[start:end] for start, end in pairwise(ends)) or None


# ---- LightGBM --------------------------------------------------------------------------------


def _fields(block: str) -> dict[str, str]:
    """Return the ``name=value`` lines of a part of the text format; a line without a sign is a name."""
    return {name: value for name, _, value in (line.partition("=") for line in block.splitlines())}


def _lightgbm_link(header: dict[str, str], n_raw: int, classifier: Any) -> Link:
    name, *rest = header.get("objective", "").split() or [""]
    options = dict(word.split(":", 1) for word in rest if ":" in word)
    scale = float(options.get("sigmoid", 1))
    if name in ("binary", "cross_entropy", "multiclassova"):
        link = logistic(scale)
    elif name == "multiclass":
        link = SOFTMAX
    elif name in ("poisson", "gamma", "tweedie"):
        link = EXP
    elif name == "cross_entropy_lambda":
        link = SOFTPLUS
    elif name in ("", "custom") or name in _LIGHTGBM_IDENTITY:
        link = SIGNED_SQUARE if "sqrt" in rest else IDENTITY
    else:
        raise UnreadableError(f"how LightGBM answers with objective={name!r} is not known here")
    if classifier is None or n_raw > 1 or callable(classifier.objective):
        return link
    # The one output of a classifier is taken for the probability of the second class.
    if name not in ("binary", "cross_entropy"):
        raise UnreadableError(f"a classifier with objective={name!r} does not answer with probabilities")
    return sigmoid(scale)


def _lightgbm_tree(tree: dict[str, str], output: int, n_raw: int, n_columns: int, scale: float) -> TreeEnsemble:
    n_leaves = int(tree["num_leaves"])
    n_inner = n_leaves - 1
    n_nodes = n_inner + n_leaves

    def inner(name: str, dtype: Any, otherwise: float) -> np.ndarray:
        """Return one number per node: the named ones of inner nodes first, then those of leaves."""
        filled = np.full(n_nodes, otherwise, dtype=dtype)
        filled[:n_inner] = np.array(tree[name].split() if n_inner else [], dtype=dtype)
        return filled

    left, right = inner("left_child", np.int32, -1), inner("right_child", np.int32, -1)
    for child in (left, right):
        # Leaf k is written as the complement of k.
        child[:n_inner] = np.where(child[:n_inner] < 0, n_inner + ~child[:n_inner], child[:n_inner])
    threshold = inner("threshold", float, 0)
    decision = inner("decision_type", np.uint8, 0)
    by_category = (decision & 1) == 1
    # Without a missing type NaN is taken for zero; with one it has a side. No category set holds NaN.
    missing_left = np.where(decision >> 2 == 0, threshold >= 0, (decision & 2) > 0) & ~by_category
    missing_left[n_inner:] = False
    category_set = np.where(by_category, threshold, -1).astype(np.int32)
    sets: tuple[np.ndarray, ...] = ()
    if by_category.any():
        words = np.array(tree["cat_threshold"].split(), dtype="<u4")
        bounds = list(map(int, tree["cat_boundaries"].split()))
        sets = tuple(
            np.flatnonzero(np.unpackbits(words[start:end].view(np.uint8), bitorder="little"))
            for start, end in pairwise(bounds)
        )
        threshold[by_category] = 0
    value = np.zeros((n_nodes, 1))
    value[n_inner:, 0] = np.array(tree["leaf_value"].split(), dtype=float) * scale
    return TreeEnsemble(
        roots=np.zeros(1, dtype=np.int32),
        left=left,
        right=right,
        column=inner("split_feature", np.int32, -1),
        threshold=threshold,
        missing_left=missing_left,
        category_set=category_set,
        value=value,
        output=np.array([output], dtype=np.int32),
        base=np.zeros(n_raw),
        n_columns=n_columns,
        category_sets=sets,
    )


def _zero_missing(trees: list[dict[str, str]]) -> tuple[int, ...]:
    """Return the columns in which zero is missing."""
    columns = np.array([word for tree in trees for word in tree["split_feature"].split()], dtype=int)
    decisions = np.array([word for tree in trees for word in tree["decision_type"].split()], dtype=int)
    numeric = (decisions & 1) == 0
    zero = decisions >> 2 == 1
    marked = np.unique(columns[numeric & zero])
    if np.isin(columns[numeric & ~zero], marked).any():
        raise UnreadableError("zero is missing in some of its trees and a number in others")
    return tuple(marked.tolist())
