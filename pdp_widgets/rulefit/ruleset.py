"""RuleSet: a fitted sum of rules and linear terms, how it predicts, and the doors to everything that reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.errors import unknown_name
from pdp_widgets.tabular import Tabular

from .evaluation import Evaluation, table_of
from .terms import Rule, Term

if TYPE_CHECKING:
    import pandas as pd

    from pdp_widgets.inputs import FeatureTable

    from .importance import LocalImportance, RuleImportance
    from .overlap import Overlap
    from .row import RowExplanation

Link = Literal["identity", "logit", "ovr"]
LINKS = ("identity", "logit", "ovr")

_UNKNOWN = np.empty(0)

FARTHEST = 700.0
"""Decision values count at most this much in a probability: exp stays finite, and what is cut off is below 1e-304."""


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(Tabular, Drawable):
    """Intercept plus coefficients times terms, and a link to the response.

    The value of output o is ``intercept[o] + sum_k coefficients[o, k] * terms[k]``, a rule counting 1 where it holds and else 0, a
    linear term its clipped value in the unit of its feature (Friedman & Popescu 2008, eq. 24). Terms are added in their order,
    so that a row's prediction is the same to the last bit whichever rows come with it.

    Parameters
    ----------
    terms : sequence of Rule and Linear, (K,)
    coefficients : (n_outputs, K) or (K,) array
        On the original scale of the features.
    intercept : (n_outputs,) array or number
    link : {"identity", "logit", "ovr"}
        ``"logit"``: one output, P(classes[1]) = 1 / (1 + exp(-value)). ``"ovr"``: one output per class, the same of each, divided by their sum.
    outputs : sequence of str, optional
        Names of the outputs. Default: the classes, or "prediction".
    classes : sequence, optional
        Class labels; two for ``"logit"`` (default 0 and 1), one per output for ``"ovr"``.
    feature_names : sequence of str, optional
        All columns of the training table, in order: what arrays without names are read by. Default: unknown.
    support, support_heldout, n : (K,) arrays, optional
        Weighted share of the rows that a rule holds for, in training (default: the rules' own) and on other rows; number of training
        rows it holds for. NaN where not known, and for linear terms.
    mean_inside, mean_outside : (n_outputs, K) arrays, optional
        Weighted mean outcome of the training rows that a rule holds for, and of the others.
    feature_sd : mapping of feature to number, optional
        Standard deviation of a feature over the training rows, for distances in words.

    Raises
    ------
    InputError
        When shapes, link and classes do not agree.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"temp": [10.0, 20.0, 40.0], "weather": ["GOOD", "MISTY", "GOOD"]})
    >>> terms = [Rule.of("temp > 12 & weather == 'GOOD'", X), Rule.of("temp <= 30", X)]
    >>> rules = RuleSet(terms, coefficients=[5.0, 1.0], intercept=100.0)
    >>> rules
    <RuleSet: 2 rules, 0 linear terms; prediction>
    >>> rules.predict(X)
    array([[101., 101., 105.]])
    """

    terms: tuple[Term, ...]
    coefficients: np.ndarray
    intercept: np.ndarray
    link: Link = "identity"
    outputs: tuple[str, ...] = ()
    classes: tuple[Any, ...] | None = None
    feature_names: tuple[str, ...] = ()
    support: np.ndarray = field(default_factory=lambda: _UNKNOWN)
    support_heldout: np.ndarray = field(default_factory=lambda: _UNKNOWN)
    n: np.ndarray = field(default_factory=lambda: _UNKNOWN)
    mean_inside: np.ndarray = field(default_factory=lambda: _UNKNOWN)
    mean_outside: np.ndarray = field(default_factory=lambda: _UNKNOWN)
    feature_sd: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise unknown_name("link", self.link, LINKS, "a link")
        put = self.__dict__.__setitem__  # the only writes to a frozen object, before anybody sees it
        put("terms", tuple(self.terms))
        k = len(self.terms)
        put("intercept", _held(np.atleast_1d(self.intercept)))
        n_outputs = len(self.intercept)
        given = np.asarray(self.coefficients, dtype=float)
        if given.shape not in ((n_outputs, k), (k,) if n_outputs == 1 else ()):
            raise InputError(
                f"coefficients have shape {given.shape}; expected ({n_outputs}, {k}): outputs of the intercept by terms"
            )
        put("coefficients", _held(given.reshape(n_outputs, k)))
        if not (np.isfinite(self.coefficients).all() and np.isfinite(self.intercept).all()):
            raise InputError("coefficients and intercept must be finite")
        put("classes", _classes(self.classes, self.link, n_outputs))
        put("outputs", tuple(self.outputs) or _output_names(self.link, self.classes, n_outputs))
        if len(self.outputs) != n_outputs:
            raise InputError(f"outputs names {len(self.outputs)}; the intercept has {n_outputs}")
        put("feature_names", tuple(self.feature_names))
        if self.feature_names and (gone := set(self.features) - set(self.feature_names)):
            raise unknown_name("feature", min(gone), self.feature_names, "one of feature_names")
        own = [term.support if isinstance(term, Rule) else np.nan for term in self.terms]
        put("support", _filled(self.support, own, (k,), "support"))
        for name in ("support_heldout", "n"):
            put(name, _filled(getattr(self, name), np.nan, (k,), name))
        for name in ("mean_inside", "mean_outside"):
            put(name, _filled(getattr(self, name), np.nan, (n_outputs, k), name))

    # ---- what it is ----------------------------------------------------------------------

    @property
    def n_outputs(self) -> int:
        """Number of outputs; one for a classifier of two classes."""
        return len(self.intercept)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Features that the terms use, in the order in which they appear."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.features))

    @property
    def predicted(self) -> tuple[str, ...]:
        """Names of what ``predict`` returns: the outputs, or every class of a classifier."""
        return self.outputs if self.link != "logit" else tuple(map(str, self.classes or ()))

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        n_rules = sum(isinstance(term, Rule) for term in self.terms)
        link = {"identity": "", "logit": "log-odds of ", "ovr": "log-odds of each of "}[self.link]
        return f"<RuleSet: {n_rules} rules, {len(self) - n_rules} linear terms; {link}{', '.join(self.outputs)}>"

    def take(self, terms: Any) -> RuleSet:
        """Return the same with some of the terms, given by position or as a mask, in that order."""
        chosen = np.asarray(terms)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(int)
        cut: dict[str, Any] = {name: getattr(self, name)[chosen] for name in ("support", "support_heldout", "n")}
        cut |= {name: getattr(self, name)[:, chosen] for name in ("coefficients", "mean_inside", "mean_outside")}
        return replace(self, terms=tuple(self.terms[k] for k in chosen), **cut)

    def nonzero(self) -> RuleSet:
        """Return the same without the terms that are 0 for every output."""
        return self.take((self.coefficients != 0).any(axis=0))

    # ---- predicting ----------------------------------------------------------------------

    def table(self, X: Any) -> FeatureTable:
        """Return X as a ``FeatureTable`` of at least the columns used; arrays are read by position."""
        return table_of(X, self.features, self.feature_names)

    def design(self, X: Any) -> np.ndarray:
        """Return the terms at the rows, (n, K) float64: rules 0 or 1, linear terms clipped, in the unit of their feature."""
        table = self.table(X)
        look = Evaluation(table, self.terms)
        columns = np.empty((table.n_rows, len(self)), order="F")
        for k, term in enumerate(self.terms):
            columns[:, k] = look.values(term)
        return columns

    def decision(self, X: Any) -> np.ndarray:
        """Return the sums, (n_outputs, n): predictions, or log-odds of a classifier.

        Raises
        ------
        InputError
            When a column is missing or holds another kind of values than in training.
        """
        table = self.table(X)
        look = Evaluation(table, self.terms)
        total = np.repeat(self.intercept[:, None], table.n_rows, axis=1)
        part = np.empty(table.n_rows)
        for k, term in enumerate(self.terms):
            values = look.values(term)
            for o in np.flatnonzero(self.coefficients[:, k]):
                total[o] += np.multiply(values, self.coefficients[o, k], out=part)
        return total

    def predict(self, X: Any) -> np.ndarray:
        """Return the response, (n_outputs, n): values, or a probability for each class (n_classes, n)."""
        return self.respond(self.decision(X))

    def respond(self, decision: np.ndarray) -> np.ndarray:
        """Return the response to values of ``decision``."""
        if self.link == "identity":
            return decision
        one = 1.0 / (1.0 + np.exp(-np.clip(decision, -FARTHEST, FARTHEST)))
        return np.concatenate([1.0 - one, one]) if self.link == "logit" else one / one.sum(axis=0)

    # ---- as a table, and back ------------------------------------------------------------

    def to_frame(self, output: Any = None) -> pd.DataFrame:
        """Return the intercept and then the terms, most important first: all that ``predict`` needs, and what is known of each.

        Parameters
        ----------
        output : name, class label or position, optional
            One output. Default: all, below each other with a column ``output`` where there are several.

        Returns
        -------
        pandas.DataFrame
            rank, kind ("intercept", "rule", "linear"), term (for people), text (for ``from_frame`` and ``subgroup=``), features and
            feature_kinds, coefficient, odds_ratio (classifiers), support, n, support_heldout, importance (the largest is 100),
            importance_abs, conditions (how many), mean_inside, mean_outside, and of linear terms low, high (clip limits), missing_as,
            level, mean, sd. Dates and durations count in milliseconds.
        """
        from .frame import to_frame

        return to_frame(self, output)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        link: Link | None = None,
        classes: Sequence[Any] | None = None,
        outputs: Sequence[str] | None = None,
        intercept: float | None = None,
        feature_names: Sequence[str] | None = None,
        X: Any = None,
    ) -> RuleSet:
        """Return the rule set that a table describes; what ``to_frame`` gave, even through CSV, predicts the same.

        Parameters
        ----------
        frame : pandas.DataFrame
            What ``to_frame`` returns, or rules from elsewhere: at least ``text`` and ``coefficient``, and X.
        link, classes, outputs, feature_names
            As for ``RuleSet``; the table does not tell them. That of a classifier (with odds ratios) needs its link.
        intercept : float, optional
            Where the table has neither a row nor a column of that name.
        X : table, optional
            Names and kinds of the features, and the rows to compute support on where the table has none.

        Raises
        ------
        InputError
            When columns are missing, a text cannot be read, or the link of a classifier is not given.
        """
        from .frame import from_frame

        return from_frame(
            frame, link=link, classes=classes, outputs=outputs, intercept=intercept, feature_names=feature_names, X=X
        )

    @classmethod
    def from_model(cls, model: Any, X: Any = None, y: Any = None, *, max_rules: int = 10_000) -> RuleSet:
        """Return the rules of a model that somebody else fitted; they predict what it predicts.

        Trees, forests and boosted trees (scikit-learn, XGBoost, LightGBM, CatBoost): every leaf is a rule, equal ones of several trees
        are added up. With X, coefficients are the leaves' values less their tree's mean over the rows of X, and the intercept holds these
        means, so that importances tell what is special about a leaf; without, they are the values themselves. Classifiers that average
        trees have one output per class, their probability; boosted ones are log-odds of two classes, and scores whose softmax is the
        probability of more. A RuleFit of imodels (3.0) or of christophM's ``rulefit`` (0.3) keeps its rules and clipped linear terms.

        Parameters
        ----------
        model : fitted estimator
            The last step of a pipeline, with the table that this is given.
        X : table, optional
            The training rows. They give names and kinds of columns, levels of categories, supports, and cuts as short as they
            can be without moving a row; whether the rules reproduce the model is checked on them. Without X all columns are
            taken for numbers without missing values, and cuts are exact, in up to 17 digits.
        y : (n,) array, optional
            Outcome, or class labels; gives mean outcomes inside and outside the rules.
        max_rules : int
            Most leaves that are taken for rules.

        Raises
        ------
        InputError
            When the model is none of these, has too many leaves, or its rules do not give its own predictions on X.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[1.0], [2.0], [4.0], [5.0]])
        >>> tree = DecisionTreeRegressor(max_leaf_nodes=2).fit(X, [10, 10, 30, 30])
        >>> rules = RuleSet.from_model(tree, X)
        >>> [(rule.text, float(a)) for rule, a in zip(rules.terms, rules.coefficients[0])], rules.intercept
        ([('x0 <= 3', -10.0), ('x0 > 3', 10.0)], array([20.]))
        """
        from .foreign import from_model

        return from_model(model, X, y, max_rules=max_rules)

    def with_support(self, X: Any, *, weights: Any = None, y: Any = None, heldout: bool = False) -> RuleSet:
        """Return the same with what can be counted on a table: see ``support.with_support``."""
        from .support import with_support

        return with_support(self, X, weights=weights, y=y, heldout=heldout)

    # ---- reading -------------------------------------------------------------------------

    def importance(self, X: Any = None, *, subgroup: Any = None, weights: Any = None) -> RuleImportance:
        """Return how much terms and features matter globally, and on average over rows of X: see ``importance.importance``."""
        from .importance import importance

        return importance(self, X, subgroup=subgroup, weights=weights)

    def local_importance(self, X: Any) -> LocalImportance:
        """Return how much terms and features matter at each row of X: see ``importance.local_importance``."""
        from .importance import local_importance

        return local_importance(self, X)

    def explain_row(self, row: Any, X: Any = None, *, output: Any = None) -> RowExplanation:
        """Return why a row (or the row of X at a position) is predicted as it is: see ``row.explain_row``."""
        from .row import explain_row

        return explain_row(self, row, X, output=output)

    def overlap(self, X: Any, *, weights: Any = None) -> Overlap:
        """Return which rules contain, repeat or exclude each other on the rows of X: see ``overlap.overlap``."""
        from .overlap import overlap

        return overlap(self, X, weights=weights)

    # ---- for elsewhere -------------------------------------------------------------------

    def to_text(self, *, output: Any = None) -> str:
        """Return the sum as plain text."""
        from .export import to_text

        return to_text(self, output=output)

    def to_markdown(self, *, output: Any = None) -> str:
        """Return the terms as a Markdown table (one per output)."""
        from .export import to_markdown

        return to_markdown(self, output=output)

    def to_python(self) -> str:
        """Return the source of a function ``predict(row: dict)`` without dependencies: see ``export_python.to_python``."""
        from .export_python import to_python

        return to_python(self)

    def to_sql(self, table: str | Sequence[str], *, dialect: str = "standard", keep: Sequence[str] = ()) -> str:
        """Return a SELECT statement that predicts the rows of a table: see ``export_sql.to_sql``."""
        from .export_sql import to_sql

        return to_sql(self, table, dialect=dialect, keep=keep)

    def _repr_html_(self) -> str:
        from .export import to_html

        return to_html(self)


def _held(values: Any) -> np.ndarray:
    """Return a copy as float64 that nobody writes into."""
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array


def _filled(given: Any, default: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    if given is None or given is _UNKNOWN:
        return _held(np.broadcast_to(np.asarray(default, dtype=float), shape))
    values = np.asarray(given, dtype=float)
    if values.shape not in (shape, shape[1:] if shape[:1] == (1,) else shape):
        raise InputError(f"{name} has shape {values.shape}; expected {shape}")
    return _held(values.reshape(shape))


def _classes(given: Sequence[Any] | None, link: Link, n_outputs: int) -> tuple[Any, ...] | None:
    if link == "identity":
        if given is not None:
            raise InputError("classes are given and link is 'identity'; a classifier has link='logit' or 'ovr'")
        return None
    n_classes = 2 if link == "logit" else n_outputs
    if link == "logit" and n_outputs != 1:
        raise InputError(f"link='logit' has one output, not {n_outputs}; several classes have link='ovr'")
    classes = tuple(range(n_classes)) if given is None else tuple(getattr(given, "tolist", lambda: given)())
    if len(classes) != n_classes:
        raise InputError(f"classes has {len(classes)} labels; expected {n_classes}")
    return classes


def _output_names(link: Link, classes: tuple[Any, ...] | None, n_outputs: int) -> tuple[str, ...]:
    if link != "identity":
        assert classes is not None
        return tuple(map(str, classes[1:] if link == "logit" else classes))
    return ("prediction",) if n_outputs == 1 else tuple(f"output {o}" for o in range(n_outputs))
