"""How large interaction statistics are when there is no interaction: Friedman & Popescu's parametric bootstrap.

Even a model of purely additive data shows some interaction. How much is found by making such data: the additive twin of the learner is
fitted, its residuals are shuffled, and the learner itself is fitted to the sum again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from pdp_widgets.inputs import InputError, model_name

from .progress import bar

if TYPE_CHECKING:
    from .explainer import Explainer
    from .interaction_result import Interactions


@dataclass(frozen=True)
class NullDistribution:
    """Interaction statistics of the model beside those of models of additive data."""

    observed: Interactions
    strength: np.ndarray
    """(repeats, number of pairs) strengths when there is no interaction, in the order of ``observed.pairs``."""
    h2: np.ndarray
    """(repeats, number of pairs)"""
    overall_strength: np.ndarray
    """(repeats, number of features), in the order of ``observed.features``."""
    overall_h2: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair: its strength and h2, their 95 % points without interaction, and whether it is beyond."""
        found = self.observed.pair_statistic
        named = {f"feature_{k + 1}": [pair[k] for pair in self.observed.pairs] for k in (0, 1)}
        return _table(named, found.strength[0], found.h2[0], self.strength, self.h2)

    @property
    def overall(self) -> pd.DataFrame:
        """The same per feature, with all others together."""
        found = self.observed.overall_statistic
        named = {"feature": list(self.observed.features)}
        return _table(named, found.strength[0], found.h2[0], self.overall_strength, self.overall_h2)

    def __repr__(self) -> str:
        """Say how many models of additive data it stands on."""
        return f"<NullDistribution: {len(self.strength)} models of additive data beside {self.observed!r}>"


def interaction_null(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    repeats: int = 20,
    rows: int | None = 300,
    progress: bool | None = None,
) -> NullDistribution:
    """Return how large interaction statistics get by chance, when the data have no interaction.

    Parameters
    ----------
    explainer : Explainer
        Of a regression model with an additive twin (boosted trees, linear models, pipelines that end in one), with ``y``.
    features, pairs, rows
        As for ``Explainer.interactions``.
    repeats : int
        Models to fit; the 95 % point of 20 is the second largest but a rough one.
    progress : bool, optional
        Show a bar; None means when it is slow.

    Returns
    -------
    NullDistribution

    Raises
    ------
    InputError
        Without y, for a classifier or several outputs, or for a learner that has no additive twin; the message says what to look at instead.

    Notes
    -----
    Friedman & Popescu (2008), section 8.3: y~_i = F_A(x_i) + (y_p(i) - F_A(x_p(i))), with F_A the additive twin fitted to
    the data and p a random permutation. Models are fitted without sample weights to the background rows.
    """
    from .explainer import Explainer

    twin = additive_twin(explainer.model)
    if len(explainer.outputs) > 1:
        raise InputError(f"interaction_null explains one output; the model has {len(explainer.outputs)}")
    if explainer.y is None:
        raise InputError("interaction_null needs the observed outcome: Explainer(model, X, y)")
    y = np.asarray(explainer.y, dtype=float)
    if np.isnan(y).any():
        raise InputError(f"y has {int(np.isnan(y).sum())} missing values; interaction_null fits models and needs all")
    X = explainer.table.build(np.arange(explainer.n_rows))
    options: dict[str, Any] = {"pairs": pairs, "rows": rows, "progress": False}
    observed = explainer.interactions(features, **options)
    additive = np.asarray(twin.fit(X, y).predict(X), dtype=float).reshape(len(y))
    rng = np.random.default_rng(explainer.random_state)
    found: list[tuple[np.ndarray, ...]] = []
    with bar(repeats, "models of additive data", progress, "model") as shown:
        for _ in range(repeats):
            model = clone(explainer.model).fit(X, additive + rng.permutation(y - additive))
            other = Explainer(
                model,
                X,
                features=_groups(explainer),
                random_state=explainer.random_state,
                sample_weight=explainer.weights,
            )
            null = other.interactions(features, **options)
            at = [null.pairs.index(pair) for pair in observed.pairs]
            pair, single = null.pair_statistic, null.overall_statistic
            found.append((pair.strength[0][at], pair.h2[0][at], single.strength[0], single.h2[0]))
            shown.update(1)
    return NullDistribution(observed, *(np.array(numbers) for numbers in zip(*found, strict=True)))


def additive_twin(model: Any) -> Any:
    """Return an unfitted learner like the model, but without interactions.

    Raises
    ------
    InputError
        When there is none, with what to look at instead.
    """
    if is_classifier(model):
        raise InputError(
            "a classifier's outcome is no sum of an additive part and noise; look at the standard errors of the interactions"
        )
    if isinstance(model, Pipeline):
        twin = clone(model)
        name, final = twin.steps[-1]
        twin.steps[-1] = (name, additive_twin(final))
        return twin
    without = _WITHOUT_INTERACTIONS.get(type(model).__name__)
    if without is None:
        raise InputError(
            f"{model_name(model)} has no additive twin (a learner like it that cannot interact), so there is nothing to compare "
            "with; look at the standard errors of the interactions"
        )
    return clone(model).set_params(**without)


_ADDITIVE: dict[str, Any] = {}
_WITHOUT_INTERACTIONS: dict[str, dict[str, Any]] = {
    "GradientBoostingRegressor": {"max_depth": 1, "max_leaf_nodes": None},
    "HistGradientBoostingRegressor": {"interaction_cst": "no_interactions"},
    "XGBRegressor": {"max_depth": 1, "max_leaves": 0},
    "LGBMRegressor": {"num_leaves": 2, "max_depth": 1},
    "CatBoostRegressor": {"depth": 1},
    "LinearRegression": _ADDITIVE,
    "Ridge": _ADDITIVE,
    "RidgeCV": _ADDITIVE,
    "Lasso": _ADDITIVE,
    "LassoCV": _ADDITIVE,
    "ElasticNet": _ADDITIVE,
    "ElasticNetCV": _ADDITIVE,
}
"""Parameters that take interactions away from a learner, by the name of its class."""


def _groups(explainer: Explainer) -> Any:
    """Return the features as they were given: groups of columns, or names."""
    names = explainer.table.column_names
    if any(len(feature.columns) > 1 for feature in explainer.features.values()):
        return {feature.name: [names[j] for j in feature.columns] for feature in explainer.features.values()}
    return list(explainer.features)


def _table(
    named: dict[str, list[str]], strength: np.ndarray, h2: np.ndarray, null_strength: np.ndarray, null_h2: np.ndarray
) -> pd.DataFrame:
    limits = [np.quantile(null, 0.95, axis=0) if null.size else null.mean(axis=0) for null in (null_strength, null_h2)]
    columns = {
        "strength": strength,
        "strength_95": limits[0],
        "h2": h2,
        "h2_95": limits[1],
        "beyond": strength > limits[0],
    }
    return pd.DataFrame({**named, **columns}).sort_values("strength", ascending=False, ignore_index=True, kind="stable")
