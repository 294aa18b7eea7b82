"""Trees of an ensemble that the user chose, instead of our own boosted ones.

Rules need the structure of each tree only, so ensembles whose answer is no sum (a median, votes) are as good as others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from pdp_widgets.inputs import InputError
from pdp_widgets.trees.ensemble import UnreadableError
from pdp_widgets.trees.reading import read

from .grow import Family, Tree

if TYPE_CHECKING:
    from .table import Ranks, Table

__all__ = ["grow_by"]


def grow_by(
    generator: Any,
    table: Table,
    ranks: Ranks,
    encoded: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    *,
    family: Family,
    signs: np.ndarray,
    rng: np.random.Generator,
) -> list[Tree]:
    """Return the trees of a clone of the generator, fitted here.

    It is given the values themselves, and the codes of categories in the order of their levels; histogram gradient
    boosting that would find categories by the type of their columns is told which they are. Where the generator takes no
    missing values, a missing category is one more code. A random state that is None comes from ``rng``.

    A regressor may serve either family; with 0 and 1 its target is the probability. A classifier needs the "logistic"
    family. Of several classes each is grown for by itself, so that each has rules of its own.

    Parameters
    ----------
    generator : estimator
        A tree or an ensemble of trees of scikit-learn (forests, bagging, AdaBoost, gradient boosting, with or without
        histograms), XGBoost or LightGBM. It is left as it is.
    table, ranks, encoded
        The columns, and the n training rows in two views.
    y : (n,) array
    weights : (n,) array, optional
    family : {"squared", "logistic"}
    signs : (p,) int array
        Directions of monotone columns; they reach generators that have a ``monotonic_cst`` of None.
    rng : numpy.random.Generator

    Raises
    ------
    InputError
        When it is no such estimator, cannot deal with the rows or weights, or fails.
    """
    name = type(generator).__name__
    if isinstance(generator, type) or not hasattr(generator, "fit") or not hasattr(generator, "get_params"):
        what = f"the class {generator.__name__}" if isinstance(generator, type) else repr(generator)
        raise InputError(f"tree_generator is {what}; expected an estimator, such as RandomForestRegressor(max_depth=3)")
    if is_classifier(generator) and family == "squared":
        raise InputError(f"tree_generator is a {name}, but the target is a number; give the regressor of that kind")
    model = _prepared(clone(generator), table, ranks, signs, rng)
    shown = _shown(model, name, table, encoded)
    target = y.astype(int) if is_classifier(model) else y
    given = {}
    if weights is not None:
        if not has_fit_parameter(model, "sample_weight"):
            raise InputError(f"tree_generator: {name} does not take weights of rows")
        given["sample_weight"] = weights
    try:
        model.fit(shown, target, **given)
    except Exception as error:
        raise InputError(f"tree_generator: {name} could not be fitted to the encoded rows: {error}") from error
    try:
        return list(_Reader(shown, ranks).trees(model))
    except UnreadableError as error:
        raise InputError(f"tree_generator: the trees of {name} cannot be read: {error}") from error


def _prepared(model: Any, table: Table, ranks: Ranks, signs: np.ndarray, rng: np.random.Generator) -> Any:
    """Return the clone with what it can be told: random states, categories, directions."""
    params = model.get_params()
    given: dict[str, Any] = {
        key: int(rng.integers(2**31))
        for key in sorted(params)
        if params[key] is None and (key == "random_state" or key.endswith("__random_state"))
    }
    if isinstance(kinds := params.get("categorical_features"), str) and kinds == "from_dtype":
        most = params.get("max_bins", 255)
        several = [c.is_category and 2 < len(ranks.values[j]) <= most for j, c in enumerate(table.columns)]
        given["categorical_features"] = several if any(several) else None
    elif isinstance(kinds, list | tuple | np.ndarray) and any(isinstance(kind, str) for kind in kinds):
        given["categorical_features"] = [table.position(kind) for kind in kinds]
    if signs.any() and "monotonic_cst" in params and params["monotonic_cst"] is None:
        given["monotonic_cst"] = signs
    return model.set_params(**given)


def _shown(model: Any, name: str, table: Table, encoded: np.ndarray) -> np.ndarray:
    """Return the rows as the generator takes them."""
    lacking = [j for j, column in enumerate(table.columns) if column.missing]
    if not lacking or _takes_missing(model):
        return encoded
    numbers = [table.columns[j].name for j in lacking if not table.columns[j].is_category]
    if numbers:
        listed = ", ".join(map(repr, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
        raise InputError(
            f"tree_generator: {name} takes no missing values, but {listed} has some; fill them in before, or choose "
            "another one (our own trees, random forests and histogram gradient boosting take them)"
        )
    shown = encoded.copy()
    for j in lacking:
        shown[np.isnan(encoded[:, j]), j] = len(table.columns[j].levels)
    return shown


def _takes_missing(model: Any) -> bool:
    try:
        return bool(get_tags(model).input_tags.allow_nan)
    except (AttributeError, TypeError, ValueError):
        return False


class _Reader:
    """Reads the trees of fitted estimators; knows the rows that they were fitted on."""

    def __init__(self, shown: np.ndarray, ranks: Ranks) -> None:
        self.shown, self.ranks = shown, ranks

    @cached_property
    def single(self) -> tuple[np.ndarray, ...]:
        """The rows as scikit-learn's own trees compare them."""
        return self.views(self.shown.astype(np.float32).astype(float), np.arange(self.shown.shape[1]))

    def views(self, seen: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return what trees see of each distinct value of the columns that ``seen`` (n, k) consists of."""
        views = [np.full(len(values) + 1, np.nan) for values in self.ranks.values]
        for k, j in enumerate(columns):
            views[j][self.ranks.positions[:, j]] = seen[:, k]
            if not np.all(np.diff(views[j][:-1]) >= 0):
                raise UnreadableError("its trees take some values for others, or in another order")
        return tuple(views)

    def trees(self, model: Any, columns: np.ndarray | None = None) -> Iterator[Tree]:
        """Yield the trees of an estimator that was given these columns of the rows."""
        if hasattr(model, "tree_"):
            yield Tree.of(model.tree_, self.single, columns)
        elif (members := getattr(model, "estimators_", None)) is not None:
            members = members.ravel().tolist() if isinstance(members, np.ndarray) else list(members)
            subsets = getattr(model, "estimators_features_", None) or [None] * len(members)
            for member, subset in zip(members, subsets, strict=True):
                known = columns if subset is None else subset if columns is None else columns[subset]
                yield from self.trees(member, known)
        else:
            yield from self.sums(model, np.arange(self.shown.shape[1]) if columns is None else columns)

    def sums(self, model: Any, columns: np.ndarray) -> Iterator[Tree]:
        """Yield the trees of an estimator that keeps them in a way of its own."""
        method = "predict"
        if is_classifier(model):
            method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
        if hasattr(model, "ruleset_"):
            raise UnreadableError(f"{type(model).__name__} is a sum of rules and lines")
        reading = read(model, method)
        seen = reading.encode(self.shown[:, columns])
        first = getattr(model, "is_categorical_", None)
        if first is not None:  # histogram gradient boosting puts categories before the other columns
            columns = np.concatenate([columns[first], columns[~first]])
        sums, views = reading.ensemble, self.views(seen, columns)
        column = np.where(sums.column < 0, -1, columns[sums.column])
        for root in sums.roots.tolist():
            yield Tree(
                sums.left, sums.right, column, sums.threshold, sums.missing_left, views,
                root, sums.category_set, sums.category_sets,
            )  # fmt: skip
