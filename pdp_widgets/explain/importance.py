"""Importance: one table of how much each feature matters, by several measures that see different things.

The main effect and how far rows disagree (``main_effect.py``), the total effect (PDI, here) and what shuffling the feature costs
(``permutation.py``). Every measure has its blind spot, so they stand side by side.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError

from .explanation import MODEL, context
from .importance_result import MEASURES, Importance
from .interaction import ROWS, row_effects
from .main_effect import MainEffects
from .permutation import Permutation
from .progress import bar
from .statistic import rounding, spread, statistic_of

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature

    from .effects import Effect
    from .explainer import Explainer

REPEATS = 5
MAX_VALUES = 200
"""Most values of a number that the model is asked about for PD importance."""

_OF_ONE = ("pd_importance", "heterogeneity", "heterogeneity_share")
"""Measures that are defined for one feature only, not for a group of several."""


def importance(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    rows: int | None = ROWS,
    repeats: int = REPEATS,
    scoring: Any = None,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
    max_values: int = MAX_VALUES,
) -> Importance:
    """Return how much each feature matters, by several measures.

    Parameters
    ----------
    explainer : Explainer
        With ``y`` for permutation importance.
    features : sequence of names, optional
        All features by default. A group of one-hot columns is one feature and moves as one. A list in place of a name is a group of
        any features that is taken as one: its PDI, the spread of its joint effect at the rows as ``pd_importance_weighted`` (at the
        rows of PDI, see ``basis``), and its permutation importance; PD importance and heterogeneity are not defined for several.
    rows : int or None
        PDI is computed on a seeded sample of so many rows; None for all.
    repeats : int
        How often each feature is shuffled.
    scoring : {"squared_error", "absolute_error", "log_loss", "zero_one"} or callable, optional
        The loss, less is better. Default: log loss for probabilities and log-odds, the share of wrong classes for decision values
        and predicted classes, else squared error. A callable ``(y, answers, weights)`` with the outcome (m,), the responses
        (n_outputs, m) and the row weights (m,) or None returns one number, or one per output. Log loss and zero-one concern all
        outputs together, and every output shows the same number.
    subgroup : mask, query string or object with ``.mask``, optional
        These rows only: averages over them, values observed among them, shuffles within them.
    output : name, class label or position, optional
        Return this output only.
    progress : bool, optional
        Show a bar; None means when it is slow.
    max_values : int
        PD importance stands on all unique observed values of a number or date, or where there are more than so many and no exact
        sums over trees, on so many of them, evenly spread by rank. ``basis`` says which.

    Returns
    -------
    Importance

    Raises
    ------
    InputError
        For an unknown feature, output or score, an empty subgroup, a ``scoring`` without ``y``.
    PredictionError
        When the model fails, or predicts NaN and that is not to be omitted.

    Notes
    -----
    PD importance: Greenwell, Boehmke & McCarthy (2018). PDI: the total effect in terms of partial dependence, as the H-statistics
    of Friedman & Popescu (2008), section 8.1. Permutation importance: Breiman (2001), for any model Fisher, Rudin & Dominici (2019).
    ``importance_rows`` says how many rows the model will be asked about, at most.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> X = np.array([[a, b] for a in (0.0, 1.0, 2.0) for b in (-1.0, 1.0)])
    >>> found = importance(Explainer(lambda X: X[:, 0] + 3 * X[:, 0] * X[:, 1], X))
    >>> found.sort("pdi").to_frame()[["feature", "pd_importance", "heterogeneity", "pdi"]].round(3)
      feature  pd_importance  heterogeneity    pdi
    0      x1          4.243          2.449  0.957
    1      x0          1.000          2.449  0.426
    """
    growing = iter_importance(
        explainer, features, rows=rows, repeats=repeats, scoring=scoring, subgroup=subgroup, output=output,
        max_values=max_values,
    )  # fmt: skip
    result = next(growing)
    with bar(len(result.features), "importance", progress, "feature") as shown:
        shown.unit = "feature"
        for grown in growing:
            shown.update(grown.features_done - result.features_done)
            result = grown
    return result


def iter_importance(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    rows: int | None = ROWS,
    repeats: int = REPEATS,
    scoring: Any = None,
    subgroup: Any = None,
    output: Any = None,
    max_values: int = MAX_VALUES,
) -> Iterator[Importance]:
    """Yield ``importance`` as it grows: first without numbers, then after each chunk of work, feature by feature."""
    work = _Work(explainer, features, rows, repeats, scoring, subgroup, max_values)
    empty = work.empty()
    if output is not None:
        empty.output(output)  # complain now rather than at the end
    for grown in work.grow(empty):
        yield grown if output is None else grown.output(output)


def importance_rows(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    rows: int | None = ROWS,
    repeats: int = REPEATS,
    subgroup: Any = None,
    max_values: int = MAX_VALUES,
) -> int:
    """Return how many rows the model will be asked about for ``importance``, at most."""
    return _Work(explainer, features, rows, repeats, None, subgroup, max_values).cost()


@dataclass(frozen=True)
class _Found:
    """Some numbers of one feature by measure, (n_outputs,) arrays or one number for all."""

    numbers: dict[str, Any]
    basis: str = ""
    note: str = ""


class _Work:
    """What has to be done for one table."""

    def __init__(
        self, explainer: Explainer, features: Sequence[Any] | None, rows: int | None, repeats: int, scoring: Any,
        subgroup: Any, max_values: int,
    ) -> None:  # fmt: skip
        for name, value, least in (("repeats", repeats, 1), ("max_values", max_values, 2)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise InputError(f"{name}={value!r}; expected a whole number, {least} or more")
        if explainer.y is None and scoring is not None:
            raise InputError("scoring needs the outcome to compare with: Explainer(model, X, y)")
        self.explainer, self.features, self.repeats = explainer, _chosen(explainer, features), int(repeats)
        self.effects, self.subgroup, self.n_rows = row_effects(explainer, rows, subgroup)
        mask, _ = explainer.rows_of(subgroup)
        self.rows = np.arange(explainer.n_rows) if mask is None else np.flatnonzero(mask)
        counted = self.rows if explainer.weights is None else self.rows[explainer.weights[self.rows] > 0]
        singles = [feature for feature in self.features if not feature.members]
        self.main = MainEffects(explainer, singles, counted, mask, self.effects.rows, self.effects.sums, max_values)
        self.varied = [feature for feature in self.features if not self.main.constant(feature)]
        self.permutation: Permutation | None = None
        self.note = "no permutation importance without y"
        if explainer.y is not None:
            seed = explainer.random_state
            permutation = Permutation(explainer.source, explainer.y, counted, self.repeats, scoring, seed)
            self.note = permutation.refusal and f"no permutation importance: {permutation.refusal}"
            self.permutation = None if self.note else permutation

    @property
    def crossed(self) -> bool:
        """Whether PDI is computed on all rows: its averages then tell the partial dependence at their own values."""
        return self.effects.n == self.n_rows

    def cost(self) -> int:
        """Return how many rows the model will be asked about, at most."""
        cost = self.effects.cost([[feature] for feature in self.varied])
        cost += sum(self.main.cost(feature, crossed=self.crossed) for feature in self.varied if not feature.members)
        if self.permutation is not None:
            cost += len(self.permutation.rows) * (1 + self.repeats * len(self.varied))
        return cost

    def empty(self) -> Importance:
        """Return a result without numbers."""
        explainer, permutation = self.explainer, self.permutation
        shape = (len(explainer.outputs), len(self.features))
        method = self.effects.method
        if permutation is not None and method != MODEL:
            method += f"; permutation importance: {MODEL}"
        numbers: dict[str, Any] = {name: np.full(shape, np.nan) for name in MEASURES}
        return Importance(
            features=tuple(feature.name for feature in self.features), kinds=tuple(f.kind for f in self.features),
            computed=np.zeros(shape[1], dtype=bool), basis=("",) * shape[1],
            score=None if permutation is None else permutation.name, note=self.note,
            base_loss=np.full(shape[0], np.nan), repeats=self.repeats, default_output=explainer.default_output,
            rows=self.rows, pdi_rows=self.effects.n, **context(explainer, self.subgroup), method=method, **numbers,
        )  # fmt: skip

    def grow(self, result: Importance) -> Iterator[Importance]:
        """Yield the result with more and more numbers in it; each owns its arrays."""
        numbers = {name: getattr(result, name).copy() for name in MEASURES}
        computed, basis = result.computed.copy(), list(result.basis)
        notes = dict.fromkeys(filter(None, [result.note]))

        def now() -> Importance:
            copies = {name: array.copy() for name, array in numbers.items()}
            return replace(result, computed=computed.copy(), basis=tuple(basis), note="; ".join(notes), **copies)

        yield now()
        if self.permutation is not None:
            for _ in self.permutation.start():
                yield now()
            result = replace(result, base_loss=self.permutation.base_loss)
        prediction, lack = self._prediction()
        notes |= dict.fromkeys(filter(None, [lack]))
        for j, feature in enumerate(self.features):
            for found in self._measured(feature, prediction):
                if found is not None:
                    for name, values in found.numbers.items():
                        numbers[name][:, j] = values
                    basis[j] = found.basis or basis[j]
                    notes |= dict.fromkeys(filter(None, [found.note]))
                yield now()
            computed[j] = True
            yield now()

    def _measured(self, feature: Feature, prediction: np.ndarray | None) -> Iterator[_Found | None]:
        """Yield the numbers of one feature as they are found, None after a chunk of work."""
        if feature not in self.varied:
            known = MEASURES[:6] if self.permutation is None else MEASURES
            undefined = _OF_ONE if feature.members else ()
            yield _Found({name: 0.0 for name in known if name not in undefined}, "constant")
            return
        zero = np.zeros(len(self.explainer.outputs)) if prediction is None else rounding(prediction)
        at_rows = None
        if prediction is not None:
            total, lack = yield from self._total(feature)
            if total is None:
                yield _Found({}, note=lack)
            else:
                whole = np.broadcast_to(prediction[:, None], total.rest.shape)
                pdi = statistic_of(whole - total.rest, whole, self.effects.weights, zero)
                yield _Found({"pdi": pdi.h2, "pdi_stderr": pdi.h2_stderr})
                if feature.members:
                    yield _Found(
                        {"pd_importance_weighted": spread(total.whole, self.effects.weights, zero)}, self._jointly
                    )
                elif self.crossed:
                    at_rows = np.full((len(prediction), self.explainer.n_rows), np.nan)
                    at_rows[:, self.effects.rows] = total.whole[:, 0]
        if not feature.members:
            effect = yield from self.main.measure(feature, zero, at_rows)
            yield _Found(
                {
                    "pd_importance": effect.spread, "pd_importance_weighted": effect.weighted_spread,
                    "heterogeneity": effect.heterogeneity, "heterogeneity_share": effect.share,
                }, effect.basis
            )  # fmt: skip
        if self.permutation is not None:
            increase = yield from self.permutation.measure(feature)
            yield _Found(
                {
                    "permutation": increase.mean, "permutation_stderr": increase.stderr,
                    "permutation_stderr_rows": increase.stderr_rows,
                }
            )  # fmt: skip

    @property
    def _jointly(self) -> str:
        """What the numbers of a group of features stand on."""
        of = "" if self.crossed else f" of {self.n_rows:,}"
        return f"joint effect at {self.effects.n:,}{of} rows; {self.effects.method}"

    def _prediction(self) -> tuple[np.ndarray | None, str]:
        """Return the responses that PDI is a share of, or why there are none."""
        try:
            return self.effects.prediction(), ""
        except InputError:
            if self.explainer.source.nan_predictions == "raise":
                raise
            return None, "no PDI, since the model predicts NaN or infinity for some rows"

    def _total(self, feature: Feature) -> Generator[None, None, tuple[Effect | None, str]]:
        """Return the effect of a feature and of all others, or why there is none, pausing after each chunk."""
        try:
            return (yield from self.effects.single(feature, self.varied)), ""
        except InputError:
            if self.explainer.source.nan_predictions == "raise":
                raise
            return None, "PDI not of all features, since the model predicts NaN or infinity for some combinations"


class ImportanceCost:
    """How many rows the model will be asked about for ``importance`` of any subgroup: what takes a look at all rows is read once.

    Parameters
    ----------
    explainer : Explainer
        Whose model answers itself: sums over trees cost nothing.
    """

    def __init__(self, explainer: Explainer) -> None:
        work = _Work(explainer, None, ROWS, REPEATS, None, None, MAX_VALUES)
        varied: list[Feature] = work.varied
        self._n_rows, self._asked = explainer.n_rows, work.effects.sums is None
        self._permuted = 0 if work.permutation is None else 1 + REPEATS * len(varied)
        self._points: list[tuple[int, int]] = []
        """Per feature the points of its grid, and of a grid of its own values."""
        self._levels: list[int] = []
        """Per feature its distinct values among the rows of PDI, at most."""
        for feature in varied if self._asked else ():
            grid, beyond = (0, ROWS) if feature.members else work.main.points(feature)
            if not feature.members:
                self._points.append((grid, beyond))
            self._levels.append(grid if not beyond else beyond if beyond < MAX_VALUES else ROWS)

    def rows(self, selected: int) -> int:
        """Return the rows for a subgroup, at most.

        Parameters
        ----------
        selected : int
            Rows of the subgroup; all of them for no subgroup.
        """
        cost = selected * self._permuted
        if not self._asked:
            return cost
        sample = min(ROWS, selected)
        cost += sample + sum(sample * min(levels, sample) for levels in self._levels)
        # Up to so many rows PDI tells the partial dependence at their own values.
        return cost + sum(
            self._n_rows * (grid + (min(beyond, selected + 1) if selected > ROWS else 0))
            for grid, beyond in self._points
        )


def _chosen(explainer: Explainer, features: Sequence[Any] | None) -> list[Feature]:
    if features is None:
        return list(explainer.features.values())
    if isinstance(features, str) or not len(features):
        raise InputError(f"features={features!r}; expected a list of names")
    chosen = {(found := explainer.table.together(name)).name: found for name in features}
    if len(chosen) < len(features):
        raise InputError(f"features={list(features)!r}; a feature is named twice")
    return list(chosen.values())
