"""RuleFitRegressor and RuleFitClassifier: RuleFit with the interface of scikit-learn.

What is fitted is in ``fitting``, what it amounts to in a ``RuleSet``; here the caller's data and parameters are checked, and
classes go together.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import assert_all_finite, check_array, check_random_state, column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.errors import unknown_name
from pdp_widgets.inputs.rows import row_weights

from .fitting import Folds, Output, Recipe, common_terms, fit_output
from .importance import global_importance, importance_features, shares
from .ruleset import RuleSet
from .support import feature_sd
from .table import Table

if TYPE_CHECKING:
    import pandas as pd

    from pdp_widgets.trees.reading import Reading

    from .grow import Family
    from .row import RowExplanation
    from .stability import Stability

__all__ = ["RuleFitClassifier", "RuleFitRegressor"]

FOLDS = 5


class _RuleFit(TransformerMixin, BaseEstimator):
    """What both have in common."""

    _family: Family

    def __init__(
        self,
        *,
        tree_generator: Any = None,
        max_rules: int = 2000,
        tree_size: float = 4.0,
        max_conditions: int | None = None,
        learning_rate: float = 0.01,
        subsample: float | None = None,
        min_samples_leaf: float | None = None,
        linear: str | Iterable[str] = "all",
        winsorize: float | None = 0.025,
        alphas: Sequence[float] | None = None,
        n_alphas: int = 100,
        cv: Any = FOLDS,
        selection: Literal["1se", "min"] = "1se",
        monotonic_cst: Mapping[Any, int] | Sequence[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.tree_generator = tree_generator
        self.max_rules = max_rules
        self.tree_size = tree_size
        self.max_conditions = max_conditions
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.min_samples_leaf = min_samples_leaf
        self.linear = linear
        self.winsorize = winsorize
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.cv = cv
        self.selection = selection
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: tables with text, categories and missing values are taken as they are."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # ---- fitting -------------------------------------------------------------------------

    def _fit(self, X: Any, targets: np.ndarray, weights: np.ndarray | None, strata: np.ndarray | None) -> None:
        """Fit one output per line of ``targets`` (n_outputs, n); X has been checked."""
        rows = FeatureTable(X)
        if rows.n_rows < 2:
            raise InputError(f"X has {rows.n_rows} row; {type(self).__name__} needs 2 or more")
        self.table_ = Table.of(X)
        # The only draw from what may be a generator of the caller's.
        seed = np.random.SeedSequence(check_random_state(self.random_state).randint(2**31 - 1))
        recipe = self._recipe(rows.n_rows, targets[0] if strata is None else strata, seed.spawn(1)[0])
        seeds = seed.spawn(len(targets))
        self.outputs_: list[Output] = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_output)(self.table_, rows, target, weights, self._family, recipe, one)
            for target, one in zip(targets, seeds, strict=True)
        )
        share = np.full(rows.n_rows, 1 / rows.n_rows) if weights is None else weights / weights.sum()
        self._candidates = self._all_terms(feature_sd(rows, tuple(rows.features), share))
        self._choose([output.path.chosen for output in self.outputs_])

    def _all_terms(self, sd: dict[str, float]) -> RuleSet:
        """Return the candidate terms of all outputs with what is known of them, all coefficients 0."""
        terms, own = common_terms(self.outputs_)
        facts = {name: np.full((len(own), len(terms)), np.nan) for name in ("inside", "outside")}
        n = np.full(len(terms), np.nan)
        for o, (output, places) in enumerate(zip(self.outputs_, own, strict=True)):
            n[places] = output.n
            for name, values in facts.items():
                values[o, places] = getattr(output, name)
        self._places = own
        return RuleSet(
            terms, np.zeros((len(own), len(terms))), np.zeros(len(own)), **self._response(),
            feature_names=tuple(self.table_.names), n=n, mean_inside=facts["inside"], mean_outside=facts["outside"],
            feature_sd=sd,
        )  # fmt: skip

    def _choose(self, penalties: Sequence[int]) -> None:
        """Take each output's coefficients from one penalty of its path."""
        whole = self._candidates
        coefficients, intercept = np.zeros(whole.coefficients.shape), np.zeros(len(self.outputs_))
        for o, (output, places, at) in enumerate(zip(self.outputs_, self._places, penalties, strict=True)):
            intercept[o], coefficients[o, places] = output.at(at)
        self.ruleset_ = replace(whole, coefficients=coefficients, intercept=intercept).nonzero()
        self.penalties_ = tuple(int(at) for at in penalties)
        self.alpha_ = np.array([output.path.alphas[at] for output, at in zip(self.outputs_, penalties, strict=True)])
        self.intercept_ = self.ruleset_.intercept if len(intercept) > 1 else float(self.ruleset_.intercept[0])
        self.coef_ = self.ruleset_.coefficients if len(intercept) > 1 else self.ruleset_.coefficients[0]

    def _response(self) -> dict[str, Any]:
        """Return link, outputs and classes of the rule set."""
        raise NotImplementedError

    def _recipe(self, n: int, strata: np.ndarray, seed: np.random.SeedSequence) -> Recipe:
        """Return the parameters, checked."""
        if self.selection not in ("1se", "min"):
            raise unknown_name("selection", self.selection, ("1se", "min"), "a way to choose the penalty")
        if not _is_whole(self.n_alphas) or self.n_alphas < 1:
            raise InputError(f"n_alphas={self.n_alphas!r}; expected a whole number of penalties, 1 or more")
        alphas = None
        if self.alphas is not None:
            try:
                alphas = np.unique(np.asarray(self.alphas, dtype=float))[::-1]
            except (TypeError, ValueError) as error:
                raise InputError(f"alphas={self.alphas!r}; expected penalties, finite and not negative") from error
            if not len(alphas) or not np.isfinite(alphas).all() or alphas[-1] < 0:
                raise InputError(f"alphas={self.alphas!r}; expected penalties, finite and not negative")
        growing = {
            name: getattr(self, name)
            for name in (
                "tree_generator", "max_rules", "tree_size", "max_conditions", "learning_rate", "subsample",
                "min_samples_leaf", "linear", "winsorize",
            )
        }  # fmt: skip
        growing["monotone"] = self.monotonic_cst
        return Recipe(
            growing, alphas, int(self.n_alphas), self.selection,
            self._folds(n, strata, np.random.RandomState(seed.generate_state(1)[0])), self.cv == "honest",
        )  # fmt: skip

    def _folds(self, n: int, strata: np.ndarray, random: np.random.RandomState) -> Folds:
        """Return the folds of cross-validation as positions, as many as the rows allow."""
        cv = FOLDS if self.cv is None or self.cv == "honest" else self.cv
        if isinstance(cv, str):
            raise InputError(f'cv={cv!r}; expected a number of folds, "honest", or a splitter of scikit-learn')
        rows = np.arange(n)
        if _is_whole(cv):
            if cv < 2:
                raise InputError(f"cv={cv!r}; expected 2 or more folds")
            fewest = min(np.unique(strata, return_counts=True)[1]) if self._family == "logistic" else n
            kind = StratifiedKFold if self._family == "logistic" and fewest > 1 else KFold
            cv = kind(min(int(cv), int(fewest) if kind is StratifiedKFold else n), shuffle=True, random_state=random)
            return list(cv.split(rows[:, None], strata))
        try:
            splits = check_cv(cv, strata, classifier=self._family == "logistic").split(rows[:, None], strata)
            folds = [(rows[train], rows[test]) for train, test in splits]
        except (TypeError, ValueError, IndexError) as error:
            raise InputError(
                f'cv={cv!r} does not split these rows: {error}; expected a number of folds, "honest", a splitter of scikit-learn, or '
                "its splits where it needs more than X and y, such as list(GroupKFold(5).split(X, y, groups))"
            ) from error
        if not folds:
            raise InputError(f"cv={cv!r} has no folds; expected one or more")
        return folds

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return X as a frame, or as an array of numbers or objects."""
        if _is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        kind = getattr(X, "dtype", None)
        texts = kind is not None and kind.kind in "OUSTb"
        if kind is None and not hasattr(X, "toarray"):
            texts = np.asarray(X, dtype=object).ravel()[:1].tolist() and any(
                isinstance(value, str | bool | None) for value in np.asarray(X, dtype=object).ravel().tolist()
            )
        X = check_array(
            np.asarray(X, dtype=object) if texts and kind is None else X,
            dtype=None if texts else "numeric",
            ensure_all_finite=False if texts else "allow-nan",
            ensure_min_samples=2 if reset else 1,
            estimator=self,
        )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        return None if sample_weight is None else row_weights(sample_weight, FeatureTable(X))

    # ---- predicting ----------------------------------------------------------------------

    def _rows(self, X: Any) -> FeatureTable:
        check_is_fitted(self)
        return self.table_.rows(self._checked(X, reset=False))

    def transform(self, X: Any) -> np.ndarray:
        """Return the terms at rows, (n, K): 0 or 1 for rules, the clipped value for linear terms."""
        rows = self._rows(X)
        return self.ruleset_.design(rows)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:  # noqa: ARG002 - scikit-learn's signature
        """Return the terms' texts, the columns of ``transform``."""
        check_is_fitted(self)
        return np.array([term.text for term in self.ruleset_.terms], dtype=object)

    # ---- reading -------------------------------------------------------------------------

    @property
    def rules_(self) -> pd.DataFrame:
        """The intercept and all terms with a coefficient, the most important first; enough to reproduce ``predict``."""
        check_is_fitted(self)
        return self.ruleset_.to_frame()

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features_in_,) share of each feature in the importance of all terms (Friedman & Popescu 2008, eq. 35); 0 if unused."""
        check_is_fitted(self)
        rules = self.ruleset_
        parts = global_importance(rules).sum(axis=0) @ shares(rules)
        found = dict(zip(importance_features(rules), parts.tolist(), strict=True))
        importances = np.array([found.get(name, 0.0) for name in self.table_.names])
        return importances / importances.sum() if importances.sum() > 0 else importances

    def explain_row(self, X: Any, row: int = 0) -> RowExplanation:
        """Return what each term adds to the prediction of one row of X; see ``rulefit.row.explain_row``."""
        from .row import explain_row

        rows = self._rows(X)
        return explain_row(self.ruleset_, row, rows)

    def stability(self, X: Any, y: Any, **options: Any) -> Stability:
        """Return how often each term comes back when the model is fitted to other samples of its rows; see ``rulefit.stability``."""
        from .stability import stability

        return stability(self, X, y, **options)

    @property
    def n_terms_on_path_(self) -> np.ndarray:
        """(A,) number of terms with a coefficient, of all outputs together, at each step of the path from the largest penalty."""
        check_is_fitted(self)
        return np.array([self._n_terms(step) for step in range(self._n_steps)])

    @property
    def _n_steps(self) -> int:
        return max(len(output.path.alphas) for output in self.outputs_)

    def _penalties(self, step: int) -> list[int]:
        return [min(step, len(output.path.alphas) - 1) for output in self.outputs_]

    def _n_terms(self, step: int) -> int:
        used = [
            places[np.unique(output.path.coefficients[[at]].indices)]
            for output, places, at in zip(self.outputs_, self._places, self._penalties(step), strict=True)
        ]
        return len(np.unique(np.concatenate(used)))

    def at_step(self, step: int) -> Self:
        """Return the same model at another penalty of its path, 0 being the largest; nothing is fitted again.

        Raises
        ------
        InputError
            When the path has no such step.
        """
        check_is_fitted(self)
        if not _is_whole(step) or not 0 <= step < self._n_steps:
            raise InputError(f"step={step!r}; the path has steps 0 to {self._n_steps - 1}")
        other = copy.copy(self)
        other._choose(self._penalties(int(step)))  # noqa: SLF001 - a copy of itself
        return other

    def with_n_terms(self, n_terms: int) -> Self:
        """Return the same model with at most ``n_terms`` terms: the smallest penalty of its path that leaves no more.

        Raises
        ------
        InputError
            For a number below 0, and where the largest penalty that was given leaves more.
        """
        if not _is_whole(n_terms) or n_terms < 0:
            raise InputError(f"n_terms={n_terms!r}; expected a whole number, 0 or more")
        on_path = self.n_terms_on_path_
        fitting = np.flatnonzero(on_path <= n_terms)
        if not len(fitting):
            raise InputError(
                f"n_terms={n_terms!r}; the path has no fewer than {on_path.min()}: add larger alphas to it"
            )
        return self.at_step(int(fitting[-1]))


_PARAMETERS = """
    Parameters
    ----------
    tree_generator : estimator, optional
        A tree or an ensemble of trees of scikit-learn (forest, bagging, AdaBoost, gradient boosting), cloned and never changed.
        Default: small boosted trees, each on a part of the rows.
    max_rules : int
        Roughly how many rules trees are grown for.
    tree_size : float
        Mean number of terminal nodes of a tree; their numbers are drawn from an exponential distribution.
    max_conditions : int, optional
        Most conditions of a rule.
    learning_rate : float
        How much of each tree the next ones see as explained.
    subsample : int or float, optional
        Rows of each tree, or their share. Default: min(N / 2, 100 + 6 sqrt(N)).
    min_samples_leaf : int or float, optional
        Rows that a rule holds for at least among those of its tree, or their share. Default: 2 %, at least 5; for numbers 25 where
        that is at most 15 %.
    linear : "all", "none" or list of names
        Which features have linear terms.
    winsorize : float or None
        Share of rows beyond each limit that the values of linear terms are clipped at.
    alphas : sequence of numbers, optional
        Penalties. Default: ``n_alphas`` from the smallest that leaves no term.
    n_alphas : int
    cv : int, "honest", or splitter
        How the penalty is chosen: folds that share the rules grown on all rows, or, "honest", folds that grow their own: slower, and
        on noisy data fewer terms that predict better, because rules grown on all rows know the held-out outcomes.
    selection : "1se" or "min"
        The largest penalty whose loss is within one standard error of the smallest, or the one with the smallest.
    {extra}monotonic_cst : mapping of names to -1, 0 or 1, or one number per column, optional
        Directions that the prediction may move in with a feature; trees and coefficients keep to them.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Classes that are fitted at the same time.

    Attributes
    ----------
    ruleset_ : RuleSet
        The terms with a coefficient: predictions, tables, importances, exports.
    rules_ : pandas.DataFrame
        The intercept and the terms, most important first.
    feature_importances_ : (n_features_in_,) array
        Shares, adding up to 1.
    intercept_, coef_ : number and (K,) array
        On the original scale; per output with several classes.
    outputs_ : list of fitting.Output
        All candidate terms and the whole path of penalties, per output.
    alpha_ : (n_outputs,) array
        The chosen penalties.
    n_features_in_, feature_names_in_
        As in scikit-learn.
"""


class RuleFitRegressor(RegressorMixin, _RuleFit):
    """A sparse sum of rules and linear terms for a number (Friedman & Popescu 2008).

    Rules are the nodes of many small trees; a lasso keeps few of them, beside linear terms. Tables with text, categories, dates, yes
    or no, and missing values are taken as they are: missing is one side of a split.
    {parameters}

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({{"temp": rng.uniform(0, 30, 400), "sky": rng.choice(["sun", "rain"], 400)}})
    >>> y = 10 + 5.0 * ((X.temp > 20) & (X.sky == "sun")) + rng.normal(0, 0.1, 400)
    >>> model = RuleFitRegressor(max_rules=200, random_state=0).fit(X, y)
    >>> top = model.rules_.iloc[1]
    >>> top.features, round(top.coefficient), round(model.score(X, y), 2)
    ('temp, sky', 5, 0.99)
    """

    _family = "squared"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the rules.

        Parameters
        ----------
        X : table or array, (n, p)
        y : (n,) array of numbers
        sample_weight : (n,) array, optional

        Raises
        ------
        InputError, ValueError
            For data and parameters that cannot be used, with what to do.
        """
        X = self._checked(X, reset=True)
        y = _outcome(y, X, self)
        if y.dtype.kind in "mM":
            held = "dates" if y.dtype.kind == "M" else "durations"
            raise InputError(f"y holds {held}; convert them to numbers of a unit that errors can be measured in")
        y = check_array(y, ensure_2d=False, dtype=float, input_name="y", estimator=self)
        self._fit(X, y[None], self._weights(sample_weight, X), None)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions, (n,)."""
        rows = self._rows(X)
        return self.ruleset_.decision(rows)[0]

    def _response(self) -> dict[str, Any]:
        return {"link": "identity"}

    def _as_trees(self, method: str) -> Reading:
        """Return the terms as trees and lines, for exact explanations; see ``pdp_widgets.trees.reading``."""
        from .as_trees import read_rules

        return read_rules(self.ruleset_, self.table_.rows, method, type(self).__name__)


class RuleFitClassifier(ClassifierMixin, _RuleFit):
    """A sparse sum of rules and linear terms for a class (Friedman & Popescu 2008).

    Two classes: logistic regression with an absolute penalty; the sum is the log-odds of ``classes_[1]``, and a rule multiplies the
    odds by exp(coefficient). More classes: one such fit per class against the rest, probabilities divided by their sum.
    {parameters}classes_ : (n_classes,) array

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({{"age": rng.integers(18, 80, 500), "smokes": rng.choice(["yes", "no"], 500)}})
    >>> risky = (X.age > 50) & (X.smokes == "yes")
    >>> y = np.where(rng.random(500) < np.where(risky, 0.9, 0.1), "ill", "well")
    >>> model = RuleFitClassifier(max_rules=200, random_state=0).fit(X, y)
    >>> model.classes_.tolist(), model.rules_.term[1], bool(model.rules_.odds_ratio[1] < 0.1)
    (['ill', 'well'], 'age > 50 & smokes = yes', True)
    """

    _family = "logistic"

    def __init__(
        self,
        *,
        tree_generator: Any = None,
        max_rules: int = 2000,
        tree_size: float = 4.0,
        max_conditions: int | None = None,
        learning_rate: float = 0.01,
        subsample: float | None = None,
        min_samples_leaf: float | None = None,
        linear: str | Iterable[str] = "all",
        winsorize: float | None = 0.025,
        alphas: Sequence[float] | None = None,
        n_alphas: int = 100,
        cv: Any = FOLDS,
        selection: Literal["1se", "min"] = "1se",
        class_weight: Any = None,
        monotonic_cst: Mapping[Any, int] | Sequence[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            tree_generator=tree_generator, max_rules=max_rules, tree_size=tree_size, max_conditions=max_conditions,
            learning_rate=learning_rate, subsample=subsample, min_samples_leaf=min_samples_leaf, linear=linear,
            winsorize=winsorize, alphas=alphas, n_alphas=n_alphas, cv=cv, selection=selection,
            monotonic_cst=monotonic_cst, random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the rules.

        Parameters
        ----------
        X : table or array, (n, p)
        y : (n,) array of class labels
        sample_weight : (n,) array, optional

        Raises
        ------
        InputError, ValueError
            For data and parameters that cannot be used, with what to do.
        """
        X = self._checked(X, reset=True)
        y = _outcome(y, X, self)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"y holds one class only, {self.classes_.tolist()[0]!r}; a classifier needs two or more")
        weights = self._weights(sample_weight, X)
        if self.class_weight is not None:
            of_class = compute_sample_weight(self.class_weight, y)
            weights = row_weights(of_class if weights is None else weights * of_class, FeatureTable(X))
        labels = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        targets = np.array([codes == label for label in labels], dtype=float)
        if self.monotonic_cst is not None and len(targets) > 1:
            raise InputError("monotonic_cst works with numbers and with two classes, not with more")
        self._fit(X, targets, weights, codes)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds: (n,) of ``classes_[1]``, or (n, n_classes) of each class against the rest."""
        rows = self._rows(X)
        values = self.ruleset_.decision(rows)
        return values[0] if len(values) == 1 else values.T

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities, (n, n_classes)."""
        rows = self._rows(X)
        return self.ruleset_.predict(rows).T

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable classes, (n,)."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]

    def _response(self) -> dict[str, Any]:
        return {"link": "logit" if len(self.classes_) == 2 else "ovr", "classes": self.classes_.tolist()}

    def _as_trees(self, method: str) -> Reading:
        """Return the terms as trees and lines, for exact explanations; see ``pdp_widgets.trees.reading``."""
        from .as_trees import read_rules

        return read_rules(self.ruleset_, self.table_.rows, method, type(self).__name__)


RuleFitRegressor.__doc__ = (RuleFitRegressor.__doc__ or "").format(parameters=_PARAMETERS.format(extra=""))
_CLASS_WEIGHT = 'class_weight : "balanced" or mapping of class to weight, optional\n    '
RuleFitClassifier.__doc__ = (RuleFitClassifier.__doc__ or "").format(parameters=_PARAMETERS.format(extra=_CLASS_WEIGHT))


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "collect_schema")


def _outcome(y: Any, X: Any, estimator: Any) -> np.ndarray:
    """Return y as one value per row."""
    if y is None:
        raise InputError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, estimator_name=type(estimator).__name__, input_name="y")
    if len(y) != _num_samples(X):
        raise InputError(f"y has {len(y)} values; X has {_num_samples(X)} rows")
    return y
