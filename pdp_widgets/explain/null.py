"""How large interaction statistics are when there is no interaction: Friedman & Popescu's parametric bootstrap.

Even a model of purely additive data shows some interaction. How much is found by making such data: the additive twin of the learner is
fitted, outcomes are made of it (its predictions and shuffled residuals, or classes drawn with its probabilities), and the learner itself
is fitted to them again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import InputError, find_output, model_name
from pdp_widgets.tabular import Tabular

from .progress import bar

if TYPE_CHECKING:
    from .explainer import Explainer
    from .interaction_result import Interactions
    from .statistic import Statistic


@dataclass(frozen=True)
class NullDistribution(Tabular, Drawable):
    """Interaction statistics of the model beside those of models of additive data."""

    observed: Interactions
    strength: np.ndarray
    """(n_outputs, repeats, number of pairs) strengths when there is no interaction, in the order of ``observed.pairs``."""
    h2: np.ndarray
    """(n_outputs, repeats, number of pairs)"""
    overall_strength: np.ndarray
    """(n_outputs, repeats, number of features), in the order of ``observed.features``."""
    overall_h2: np.ndarray

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the names of the outputs."""
        return self.observed.outputs

    @property
    def method(self) -> str:
        """Return how the statistics were obtained."""
        return self.observed.method

    @property
    def p(self) -> np.ndarray:
        """(n_outputs, number of pairs) share of the models, the explained one included, whose strength is at least the observed one.

        Of 20 models it is 1/21 at the least (Davison & Hinkley 1997, section 4.2).
        """
        return p_values(self.observed.pair_statistic.strength, self.strength)

    @property
    def overall_p(self) -> np.ndarray:
        """(n_outputs, number of features) the same per feature."""
        return p_values(self.observed.overall_statistic.strength, self.overall_strength)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output and pair: its strength and h2, their 95 % points without interaction, whether it is beyond, and p."""
        named = {f"feature_{k + 1}": [pair[k] for pair in self.observed.pairs] for k in (0, 1)}
        return self._frame(named, self.observed.pair_statistic, self.strength, self.h2)

    @property
    def overall(self) -> pd.DataFrame:
        """The same per feature, with all others together."""
        named = {"feature": list(self.observed.features)}
        return self._frame(named, self.observed.overall_statistic, self.overall_strength, self.overall_h2)

    def output(self, name: Any) -> NullDistribution:
        """Return the same for one output, given by name, class label or position.

        Raises
        ------
        InputError
            When there is no such output.
        """
        one = slice((k := find_output(name, self.outputs, self.observed.labels)), k + 1)
        return replace(
            self, observed=self.observed.output(name), strength=self.strength[one], h2=self.h2[one],
            overall_strength=self.overall_strength[one], overall_h2=self.overall_h2[one],
        )  # fmt: skip

    def _frame(
        self, named: dict[str, list[str]], found: Statistic, strength: np.ndarray, h2: np.ndarray
    ) -> pd.DataFrame:
        limits = [np.quantile(null, 0.95, axis=1) if null.size else null.mean(axis=1) for null in (strength, h2)]
        parts = [
            pd.DataFrame(
                {
                    "output": output, **named, "strength": found.strength[k], "strength_95": limits[0][k],
                    "h2": found.h2[k], "h2_95": limits[1][k], "beyond": found.strength[k] > limits[0][k],
                    "p": p_values(found.strength, strength)[k],
                }
            ).sort_values("strength", ascending=False, kind="stable")
            for k, output in enumerate(self.outputs)
        ]  # fmt: skip
        return pd.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        """Say how many models of additive data it stands on."""
        return f"<NullDistribution: {self.strength.shape[1]} models of additive data beside {self.observed!r}>"


def p_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return which share of the repeats (second axis), the observation included, is at least as large as it is.

    NaN where nothing was observed.
    """
    as_large = (null >= observed[:, None]).sum(axis=1)
    return np.where(np.isfinite(observed), (1 + as_large) / (1 + null.shape[1]), np.nan)


def interaction_null(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    repeats: int = 20,
    rows: int | None = 300,
    output: Any = None,
    progress: bool | None = None,
) -> NullDistribution:
    """Return how large interaction statistics get by chance, when the data have no interaction.

    Parameters
    ----------
    explainer : Explainer
        Of a learner with an additive twin (boosted trees, linear and logistic regression, pipelines that end in one), with ``y``.
    features, pairs, rows
        As for ``Explainer.interactions``.
    repeats : int
        Models to fit; the 95 % point of 20 is the second largest but a rough one.
    output : name, class label or position, optional
        Return this output only.
    progress : bool, optional
        Show a bar; None means when it is slow.

    Returns
    -------
    NullDistribution

    Raises
    ------
    InputError
        Without y, for a learner that has no additive twin (the message says what to look at instead), and for a class that the additive
        twin hardly ever expects.

    Notes
    -----
    Friedman & Popescu (2008), section 8.3. Numbers: y~_i = F_A(x_i) + (y_p(i) - F_A(x_p(i))), with F_A the additive twin fitted to
    the data and p a random permutation (of all outputs alike). Classes: y~_i is drawn with the class probabilities of the twin at x_i.
    The twin of a classifier is additive in its log-odds; explained on the scale of probabilities even that interacts, and the null
    distribution holds that share, too. Models are fitted without sample weights to the background rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> from pdp_widgets import Explainer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 3))
    >>> y = rng.random(200) < 1 / (1 + np.exp(-9 * X[:, 0] * X[:, 1]))  # the classes depend on a product
    >>> model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> null = Explainer(model, X, y).interaction_null(rows=100, output=True)
    >>> null.to_frame()[["feature_1", "feature_2", "beyond"]].head(1)
      feature_1 feature_2  beyond
    0        x0        x1    True
    """
    twin = additive_twin(explainer.model)
    if explainer.y is None:
        raise InputError("interaction_null needs the observed outcome: Explainer(model, X, y)")
    if missing := int(pd.isna(explainer.y).reshape(explainer.n_rows, -1).any(axis=1).sum()):
        raise InputError(f"y has {missing} missing values; interaction_null fits models and needs all")
    options: dict[str, Any] = {"pairs": pairs, "rows": rows, "progress": False}
    observed = explainer.interactions(features, **options)
    if output is not None:
        find_output(output, observed.outputs, observed.labels)  # complain now rather than at the end
    X = explainer.table.build(np.arange(explainer.n_rows))
    outcomes = _outcomes(twin, X, explainer)
    found: list[tuple[np.ndarray, ...]] = []
    with bar(repeats, "models of additive data", progress, "model") as shown:
        for _ in range(repeats):
            other = _like(explainer, clone(explainer.model).fit(X, next(outcomes)), X)
            null = other.interactions(features, **options)
            at = [null.pairs.index(pair) for pair in observed.pairs]
            pair, single = null.pair_statistic, null.overall_statistic
            found.append((pair.strength[:, at], pair.h2[:, at], single.strength, single.h2))
            shown.update(1)
    result = NullDistribution(observed, *(np.stack(numbers, axis=1) for numbers in zip(*found, strict=True)))
    return result if output is None else result.output(output)


def _outcomes(twin: Any, X: Any, explainer: Explainer) -> Iterator[np.ndarray]:
    """Yield outcomes like the observed one in which nothing interacts."""
    y, rng = np.asarray(explainer.y), np.random.default_rng(explainer.random_state)
    if not callable(getattr(twin, "predict_proba", None)):
        y = y.astype(float)
        additive = np.asarray(twin.fit(X, y).predict(X), dtype=float).reshape(y.shape)
        while True:
            yield additive + rng.permutation(y - additive)
    classes = np.asarray(explainer.model.classes_)
    unknown = sorted({*y.ravel().tolist()} ^ {*classes.tolist()}, key=str)
    if y.ndim != 1 or unknown:
        raise InputError(f"y does not hold the model's classes {classes.tolist()[:6]}, each of them: {unknown[:6]}")
    probabilities = twin.fit(X, y).predict_proba(X)[:, np.searchsorted(np.asarray(twin.classes_), classes)]
    steps = np.cumsum(probabilities, axis=1)[:, :-1]
    while True:
        for _ in range(_DRAWS):  # a model of fewer classes cannot stand beside the others
            drawn = (rng.random((len(y), 1)) > steps).sum(axis=1)
            if len(np.unique(drawn)) == len(classes):
                break
        else:
            rarest = classes[probabilities.mean(axis=0).argmin()]
            raise InputError(
                f"outcomes drawn {_DRAWS} times lack a class: {rarest} is too rare for a null distribution"
            )
        yield classes[drawn]


def _like(explainer: Explainer, model: Any, X: Any) -> Explainer:
    """Return an explainer of another model that answers the same questions."""
    from .explainer import Explainer

    return Explainer(
        model, X, features=_groups(explainer), response=explainer.response.given, output_names=explainer.outputs,
        sample_weight=explainer.weights, random_state=explainer.random_state,
        executor=explainer.source.evaluator.executor, method=explainer.source.method.wish,
    )  # fmt: skip


def additive_twin(model: Any) -> Any:
    """Return an unfitted learner like the model, but without interactions.

    Raises
    ------
    InputError
        When there is none, with what to look at instead.
    """
    if isinstance(model, MultiOutputRegressor):
        return clone(model).set_params(estimator=additive_twin(model.estimator))
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


_DRAWS = 100
"""How often outcomes are drawn until each class is among them."""

_ADDITIVE: dict[str, Any] = {}
_WITHOUT_INTERACTIONS: dict[str, dict[str, Any]] = {
    "GradientBoostingRegressor": {"max_depth": 1, "max_leaf_nodes": None},
    "GradientBoostingClassifier": {"max_depth": 1, "max_leaf_nodes": None},
    "HistGradientBoostingRegressor": {"interaction_cst": "no_interactions"},
    "HistGradientBoostingClassifier": {"interaction_cst": "no_interactions"},
    "XGBRegressor": {"max_depth": 1, "max_leaves": 0},
    "XGBClassifier": {"max_depth": 1, "max_leaves": 0},
    "LGBMRegressor": {"num_leaves": 2, "max_depth": 1},
    "LGBMClassifier": {"num_leaves": 2, "max_depth": 1},
    "CatBoostRegressor": {"depth": 1},
    "CatBoostClassifier": {"depth": 1},
    "LogisticRegression": _ADDITIVE,
    "LogisticRegressionCV": _ADDITIVE,
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
