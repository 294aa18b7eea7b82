"""Residuals by the value of a feature: what was observed, what the model predicts there, and how far the two lie apart.

Rows are put together by their nearest grid point, so that the means stand under the partial dependence on the same grid. Unlike it
they are means of rows as they are: nothing is replaced, and what depends on the feature only through others is in both.
"""

from __future__ import annotations

import decimal
import numbers
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pdp_widgets.compute import Moments
from pdp_widgets.compute.chunks import PATIENT_SECONDS, TARGET_SECONDS
from pdp_widgets.inputs import InputError, find_output, model_name

from .ask import ask
from .explanation import Explanation, context
from .progress import bar
from .results import in_words

if TYPE_CHECKING:
    from pdp_widgets.inputs import Grid

    from .explainer import Explainer

_SHARES = ("probability", "predicted class")
"""Scales on which the mean of a class's output is a share of rows."""


@dataclass(frozen=True)
class ObservedOutcome(Explanation):
    """Observed outcome, prediction and residual, averaged over the rows nearest to each grid point of a feature.

    Of a classifier the outcome is, per class, 1 for the rows of the class and 0 for the others: its mean is the class's observed share.
    Means and errors are weighted where the explainer has weights; NaN where there are no rows.
    """

    grid: Grid
    n: np.ndarray
    """(K,) rows nearest to each grid point."""
    observed: np.ndarray
    """(n_outputs, K) mean outcome."""
    predicted: np.ndarray
    """(n_outputs, K) mean prediction at the rows' own values."""
    residual: np.ndarray
    """(n_outputs, K) mean of outcome minus prediction, in the unit of the outcome."""
    residual_stderr: np.ndarray
    """(n_outputs, K) standard error of ``residual``, with the rows as a sample of a population; NaN below two rows."""
    rows: np.ndarray = field(repr=False)
    """(m,) positions of the rows averaged over, ascending."""
    rows_total: int
    """Rows there are in all (in the subgroup)."""
    rows_missing: int
    """Rows left out because their outcome is missing (or infinite)."""
    rows_off_grid: int
    """Rows left out because no grid point stands for their value: infinite, or a level that is not shown."""
    rows_weightless: int
    """Rows left out because their weight is zero."""
    rows_omitted: int
    """Rows left out because the model predicted NaN or infinity."""

    _by_output: ClassVar[tuple[str, ...]] = ("observed", "predicted", "residual", "residual_stderr")

    @property
    def feature(self) -> str:
        """Return the name of the feature."""
        return self.grid.feature.name

    @property
    def grid_values(self) -> np.ndarray:
        """(K,) grid values, in the column's dtype where numpy has it."""
        return self.grid.values

    @property
    def rows_done(self) -> int:
        """Return how many rows are averaged over, or left out."""
        left_out = self.rows_missing + self.rows_off_grid + self.rows_weightless + self.rows_omitted
        return len(self.rows) + left_out

    @property
    def complete(self) -> bool:
        """Return whether all rows are in."""
        return self.rows_done >= self.rows_total

    def to_frame(self) -> pd.DataFrame:
        """Return one tidy row per output and grid point.

        Columns: ``output``, the value under the feature's name, ``n``, ``observed``, ``predicted``, ``residual``,
        ``residual_stderr``; a statistic's column gets a trailing underscore where the feature has its name.
        """
        index = np.tile(np.arange(self.grid.size), len(self.outputs))
        columns: dict[str, Any] = {
            "output": np.repeat(np.array(self.outputs, dtype=object), self.grid.size),
            "value": pd.Series(self.grid.values).iloc[index].reset_index(drop=True),
            "n": self.n[index],
        }
        for name in ("observed", "predicted", "residual", "residual_stderr"):
            columns[name] = getattr(self, name).ravel()
        taken = self.feature
        return pd.DataFrame(columns).set_axis(
            [taken if name == "value" else f"{name}_" if name == taken else name for name in columns], axis=1
        )

    def __repr__(self) -> str:
        """Say what it is, on how many rows and on which scale."""
        parts = [
            in_words(self.scale, self.outputs),
            f"{self.grid.size} grid points",
            f"{len(self.rows)} of {self.rows_total} rows" + ("" if self.complete else " so far"),
        ]
        for number, why in (
            (self.rows_missing, "without an outcome"),
            (self.rows_off_grid, "off the grid"),
            (self.rows_weightless, "of weight zero"),
            (self.rows_omitted, "without a finite prediction"),
        ):
            if number:
                parts.append(f"{number} rows {why} left out")
        parts += self.rows_in_words
        return f"<ObservedOutcome by {self.feature!r}: {'; '.join(parts)}>"


def observed(
    explainer: Explainer,
    feature: Any,
    *,
    grid: Any = None,
    grid_size: int | None = None,
    percentiles: tuple[float, float] | None = None,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
) -> ObservedOutcome:
    """Return the observed outcome beside the prediction, and the mean residual, by the value of a feature.

    For the rows S_k nearest to grid point k: the weighted means over S_k of y, of f(x) and of y - f(x), the last with its
    standard error sqrt(v / n_k), where v is the weighted variance of y - f(x) in S_k and n_k the effective number of rows of Kish (1965),
    (sum of w)² / (sum of w²). Asks the model about each row once, and not about those whose prediction is known.

    Parameters
    ----------
    explainer : Explainer
        With an outcome: ``Explainer(model, X, y)``. Of a classifier, class labels as the model has them; otherwise numbers, one per
        row or one per row and output. Rows without an outcome are left out and counted.
    feature : name
    grid, grid_size, percentiles : optional
        As ``Explainer.partial_dependence`` takes them.
    subgroup : mask, query string or object with ``.mask``, optional
        Use these rows only.
    output : name, class label or position, optional
        Return this output only.
    progress : bool, optional
        Show a bar: None means when it is slow.

    Returns
    -------
    ObservedOutcome
        ``observed``, ``predicted``, ``residual`` and ``residual_stderr`` have shape (n_outputs, K).

    Raises
    ------
    InputError
        Without an outcome, for one that is not numeric where numbers are predicted, for class labels unknown to the model, on the
        scale of log-odds and decision values, for an unknown feature or output, and where no row is left.
    PredictionError
        When the model fails.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets.explain import Explainer
    >>> from pdp_widgets.explain.residuals import observed
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, 3.0, 5.0, np.nan])
    >>> found = observed(Explainer(lambda rows: 4 * rows[:, 0], X, y), "x0")
    >>> found.n, found.observed[0], found.residual[0], found.rows_missing
    (array([2, 1]), array([2., 5.]), array([2., 1.]), 1)
    """
    work = _Work(explainer, feature, grid, grid_size, percentiles, subgroup, output)
    with bar(len(work.order), f"residuals by {work.grid.feature.name}", progress) as shown:
        for rows in work.run(PATIENT_SECONDS):
            shown.update(rows - shown.n)
    return work.result()


def iter_observed(
    explainer: Explainer,
    feature: Any,
    *,
    grid: Any = None,
    grid_size: int | None = None,
    percentiles: tuple[float, float] | None = None,
    subgroup: Any = None,
    output: Any = None,
) -> Iterator[ObservedOutcome]:
    """Yield ``observed`` as it converges: one result per chunk of predictions, from a random sample of the rows; the last from all."""
    work = _Work(explainer, feature, grid, grid_size, percentiles, subgroup, output)
    for rows in work.run(TARGET_SECONDS):
        if rows < len(work.order):
            yield work.result()
    yield work.result()


class _Work:
    """The growing means: which rows count, in which order, and how far their predictions are known."""

    def __init__(
        self, explainer: Explainer, feature: Any, grid: Any, grid_size: int | None, percentiles: Any, subgroup: Any,
        output: Any,
    ) -> None:  # fmt: skip
        mask, self._text = explainer.rows_of(subgroup)
        inside = np.ones(explainer.n_rows, dtype=bool) if mask is None else mask
        self._explainer = explainer
        self._only = None if output is None else explainer.outputs[explainer.response.position(output)]
        self.grid = explainer.grid(feature, grid=grid, grid_size=grid_size, percentiles=percentiles)
        self._outcome = _outcome(explainer, inside)
        known = inside & np.isfinite(self._outcome).all(axis=0)
        on_grid = known & (self.grid.nearest >= 0)
        used = on_grid if explainer.weights is None else on_grid & (explainer.weights > 0)
        self._total, *kept = (int(np.count_nonzero(rows)) for rows in (inside, known, on_grid, used))
        self._left_out: dict[str, Any] = {
            "rows_missing": self._total - kept[0],
            "rows_off_grid": kept[0] - kept[1],
            "rows_weightless": kept[1] - kept[2],
        }
        if not kept[2]:
            raise InputError(
                f"none of the {self._total} rows can be used: {self._left_out['rows_missing']} have no outcome, "
                f"{self._left_out['rows_off_grid']} no grid point of {self.grid.feature.name!r}, "
                f"{self._left_out['rows_weightless']} no weight"
            )
        self.order = explainer.row_order[used[explainer.row_order]]
        """Rows to predict, in random order."""
        self._done = 0

    def run(self, seconds: float) -> Iterator[int]:
        """Predict to the end, yielding after each chunk how many rows, from the start of the order, are known."""
        source = self._explainer.source
        unknown = np.flatnonzero(~source.known[self.order])
        rows = self.order[unknown]
        for part, values in ask(source, rows, {}, where="at their own values", seconds=seconds):
            with source.lock:
                source.note(rows[part], values)
            self._done = int(unknown[part.stop]) if part.stop < len(unknown) else len(self.order)
            yield self._done
        self._done = len(self.order)

    def result(self) -> ObservedOutcome:
        """Return the means over the rows known so far."""
        explainer = self._explainer
        rows = np.sort(self.order[: self._done])
        predictions = explainer.source.predictions[:, rows]
        bad = ~np.isfinite(predictions).all(axis=0)
        if bad.any():
            if explainer.source.nan_predictions == "raise":
                explainer.source.complain(rows[bad], "at their own values")
            rows, predictions = rows[~bad], predictions[:, ~bad]
        _check_shares(explainer, predictions)
        outcome = self._outcome[:, rows]
        # One after the other: three blocks of n_outputs lines.
        values = np.concatenate([outcome, predictions, outcome - predictions])
        weights = None if explainer.weights is None else explainer.weights[rows]
        nearest = self.grid.nearest[rows]
        means, stderr = (np.full((len(values), self.grid.size), np.nan) for _ in range(2))
        for k in np.unique(nearest):
            here = nearest == k
            moments = Moments.of(values[:, here], None if weights is None else weights[here])
            means[:, k] = moments.mean
            if moments.count > 1:
                stderr[:, k] = np.sqrt(moments.variance / moments.effective_rows)
        n_outputs = len(predictions)
        found = ObservedOutcome(
            grid=self.grid, n=np.bincount(nearest, minlength=self.grid.size), observed=means[:n_outputs],
            predicted=means[n_outputs : 2 * n_outputs], residual=means[2 * n_outputs :],
            residual_stderr=stderr[2 * n_outputs :], rows=rows, rows_total=self._total, **self._left_out,
            rows_omitted=int(bad.sum()), **context(explainer, self._text),
        )  # fmt: skip
        return found if self._only is None else found.output(self._only)


# ---- the outcome in the unit of the response -----------------------------------------------------------


def _outcome(explainer: Explainer, inside: np.ndarray) -> np.ndarray:
    """Return the outcome as (n_outputs, n) numbers, NaN where it is missing and outside of the rows wanted."""
    y, name = explainer.y, model_name(explainer.model)
    if y is None:
        raise InputError("residuals need the observed outcome: Explainer(model, X, y)")
    if explainer.scale in ("decision value", "log-odds"):
        raise InputError(
            f"an outcome cannot be subtracted from a {explainer.scale}; use response='probability' (or 'predict') to "
            "compare it with what was observed"
        )
    n_outputs = len(explainer.outputs)
    labels = _classes(explainer)
    if y.ndim == 1 and labels:
        return _indicators(y, inside, labels, name)
    if explainer.scale == "predicted class" or (explainer.scale == "probability" and y.ndim > 1):
        raise InputError(
            f"y of shape {y.shape} cannot be compared with the {explainer.scale} that {name} predicts: it takes one class "
            "label per row and a model with classes_"
        )
    lines = y.reshape(len(y), -1).T
    if len(lines) != n_outputs:
        raise InputError(
            f"y has {len(lines)} value(s) per row, {name} has {n_outputs} outputs without class labels: "
            f"{', '.join(explainer.outputs[:6])}; pass one value per output, or output_names= that are the values of y"
        )
    return np.stack([_numbers(line, inside, name) for line in lines])


def _classes(explainer: Explainer) -> list[Any]:
    """Return the class label of each output, none where outputs are no classes."""
    response = explainer.response
    if response.raw_labels:
        return list(response.raw_labels)
    only = np.ravel(getattr(explainer.model, "classes_", ()))
    if explainer.scale in _SHARES and len(response.outputs) == len(only) == 1:
        return only.tolist()
    y = explainer.y
    # A function has no classes, but its outputs may have been given their names.
    named = y is not None and y.ndim == 1 and y.dtype.kind in "OU" and len(response.outputs) > 1
    return list(response.outputs) if named else []


def _indicators(y: np.ndarray, inside: np.ndarray, labels: list[Any], name: str) -> np.ndarray:
    """(labels, n) 1 for rows of a class and 0 for others."""
    known = inside & ~pd.isna(y)
    places: dict[tuple[type, Any], int] = {}
    position = np.full(len(y), -1)
    for row in np.flatnonzero(known):
        value = y[row].item() if isinstance(y[row], np.generic) else y[row]
        key = (type(value), value)
        if key not in places:
            try:
                places[key] = find_output(value, (), labels)
            except InputError:
                raise InputError(
                    f"y holds {value!r}, which is no class of {name}: {', '.join(map(repr, labels[:6]))}"
                    + (", ..." if len(labels) > 6 else "")
                ) from None
        position[row] = places[key]
    found = (position == np.arange(len(labels))[:, None]).astype(float)
    found[:, ~known] = np.nan
    return found


def _numbers(y: np.ndarray, inside: np.ndarray, name: str) -> np.ndarray:
    """(n,) float64, NaN where missing or outside."""
    found = np.full(len(y), np.nan)
    known = inside & ~pd.isna(y)
    numeric = y.dtype.kind in "biuf" or (
        y.dtype == object and all(isinstance(value, (numbers.Real, decimal.Decimal, np.bool_)) for value in y[known])
    )
    if not numeric:
        odd = y[known][:1].tolist()[0] if known.any() else y.dtype
        raise InputError(f"y holds {odd!r}, no number to compare with the numbers that {name} predicts")
    found[known] = y[known].astype(float)
    return found


def _check_shares(explainer: Explainer, predictions: np.ndarray) -> None:
    """Complain where what a function of the caller says of classes cannot be probabilities."""
    if explainer.scale in _SHARES or explainer.y is None or explainer.y.ndim > 1 or not _classes(explainer):
        return
    if predictions.size and (predictions.min() < -1e-6 or predictions.max() > 1 + 1e-6):
        raise InputError(
            f"{explainer.scale} of classes goes from {predictions.min():.3g} to {predictions.max():.3g}: shares of rows can "
            "only be compared with probabilities; use response='probability'"
        )
