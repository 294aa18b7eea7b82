"""Permutation importance: how much worse the model fits the outcome when the values of a feature are shuffled among rows.

The losses and the shuffles are here (Breiman 2001; Fisher, Rudin & Dominici 2019). Which features are shuffled, and what stands
beside the number, is the business of ``importance.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.compute import Moments
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.errors import unknown_name

from .ask import ask

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature, Response

    from .source import Source

_AT_ONCE = 2**21  # answers of one feature held at once
_HINT = "pass scoring=, the name of a loss or a function of (y, answers, weights)"

RowLoss = Callable[[np.ndarray], np.ndarray]
"""From answers (n_outputs, m) to the loss of each row, (n_outputs, m), or (1, m) where it concerns all outputs together."""


def shuffles(seed: int, n: int, repeats: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return (repeats, n) positions: from which row each row takes its value.

    Without weights each line is a permutation. With weights the rows, laid out in random order, take up as much room as they
    weigh, and each takes the value found at its middle in a second such layout, turned by a random angle as on a wheel: a
    permutation again where all weigh the same, and a row is taken from in proportion to its weight.
    """
    rng = np.random.default_rng([seed, 1])  # not the stream that the order of rows comes from
    if weights is None:
        return np.array([rng.permutation(n) for _ in range(repeats)]).reshape(repeats, n)
    out = np.empty((repeats, n), dtype=np.int64)
    for line in out:
        taking, giving = rng.permutation(n), rng.permutation(n)
        end = np.cumsum(weights[giving])
        middle = np.cumsum(weights[taking]) - weights[taking] / 2 + rng.random() * end[-1]
        line[taking] = giving[np.minimum(np.searchsorted(end, middle % end[-1], side="right"), n - 1)]
    return out


@dataclass(frozen=True)
class Increase:
    """Increase of the loss when one feature is shuffled; (n_outputs,) arrays."""

    mean: np.ndarray
    """Over the repeats."""
    stderr: np.ndarray
    """Standard error over the repeats: how far other shuffles of the same rows would lie; NaN for a single one."""
    stderr_rows: np.ndarray
    """Standard error over the rows: how far other rows would lie; NaN where the loss is no mean over rows."""


class Permutation:
    """Permutation importance of features on one set of rows.

    Parameters
    ----------
    source : Source
    y : (n, ...) array
        The outcome of all background rows; rows without one are left out.
    rows : int array
        Positions of the rows to shuffle among.
    repeats : int
    scoring : str or callable or None
    seed : int

    Raises
    ------
    InputError
        When the loss that was asked for cannot be had of this outcome and model.
    """

    def __init__(self, source: Source, y: np.ndarray, rows: np.ndarray, repeats: int, scoring: Any, seed: int) -> None:
        self._source = source
        known = ~pd.isna(y[rows]).reshape(len(rows), -1).any(axis=1)
        self.rows = rows[known]
        """(n,) rows with an outcome."""
        self.name, self.refusal = "", ""
        self._y = y[self.rows]
        self._weights = None if source.weights is None else source.weights[self.rows]
        self._function = scoring if callable(scoring) else None
        self._row_loss: RowLoss | None = None
        if not len(self.rows):
            self.refusal = "y is missing for all rows"
        elif self._function is not None:
            self.name = getattr(scoring, "__name__", None) or type(scoring).__name__
        else:
            name = _default(source.response) if scoring is None else scoring
            if name not in LOSSES:
                raise unknown_name("scoring", name, LOSSES, "a loss known by name")
            try:
                self._row_loss = LOSSES[name](self._y, source.response, scoring is not None)
                self.name = name.replace("_", " ")
            except InputError as error:
                if scoring is not None:
                    raise
                self.refusal = str(error)
        if not self.refusal:
            self._taken = shuffles(seed, len(self.rows), repeats, self._weights)
        self._base: np.ndarray | None = None
        self.base_loss = np.full(source.n_outputs, np.nan)
        """(n_outputs,) the loss with nothing shuffled."""

    def start(self) -> Generator[None, None, None]:
        """Ask for the responses at the rows' own values, pausing after each chunk."""
        source = self._source
        base = np.full((source.n_outputs, len(self.rows)), np.nan)
        # From the model itself, not from sums over its trees: a feature that it does not use shall make no difference at all.
        for part, values in ask(source, self.rows, {}, where="at their own values"):
            base[:, part] = values
            yield
        self._base = base
        self.base_loss = self._whole(base, np.isfinite(base).all(axis=0))

    def measure(self, feature: Feature) -> Generator[None, None, Increase]:
        """Shuffle one feature, all its columns by the same permutation, pausing after each chunk."""
        assert self._base is not None, "start() comes first"
        source, rows, base = self._source, self.rows, self._base
        n_outputs, n = base.shape
        codes, _ = pd.factorize(source.table.observed(feature).codes[rows], use_na_sentinel=False)
        own = None if self._row_loss is None else self._of_rows(base)
        found: list[np.ndarray] = []
        total, count = np.zeros((n_outputs, n)), np.zeros(n)
        step = max(1, _AT_ONCE // (n_outputs * n))
        for start in range(0, len(self._taken), step):
            taken = self._taken[start : start + step]
            # A row that gets a value equal to its own has its own response.
            line, at = np.nonzero(codes[taken] != codes)
            vectors = source.table.values(feature, rows[taken[line, at]])
            replaced = dict(zip(feature.columns, vectors, strict=True))
            shuffled = np.repeat(base[:, None], len(taken), axis=1)
            for part, values in ask(source, rows[at], replaced, where=f"while {feature.name!r} is shuffled"):
                shuffled[:, line[part], at[part]] = values
                yield
            for k in range(len(taken)):
                good = np.isfinite(shuffled[:, k]).all(axis=0) & np.isfinite(base).all(axis=0)
                if own is None:
                    same = bool((shuffled[:, k] == base).all())
                    found.append(
                        np.zeros(n_outputs) if same else self._whole(shuffled[:, k], good) - self._whole(base, good)
                    )
                    continue
                increase = np.where(good, self._of_rows(shuffled[:, k]) - own, 0.0)
                found.append(self._mean(increase, good))
                total += increase
                count += good
        increases = np.stack(found, axis=1)
        repeats = increases.shape[1]
        unknown = np.full(n_outputs, np.nan)
        stderr_rows = unknown
        seen = np.flatnonzero(count)
        if own is not None and len(seen) > 1:
            weights = None if self._weights is None else self._weights[seen]
            moments = Moments.of(total[:, seen] / count[seen], weights)
            stderr_rows = np.sqrt(moments.variance / moments.effective_rows) if moments.effective_rows > 1 else unknown
        stderr = increases.std(axis=1, ddof=1) / np.sqrt(repeats) if repeats > 1 else unknown
        return Increase(increases.mean(axis=1), stderr, stderr_rows)

    # ---- helpers -------------------------------------------------------------------------

    def _of_rows(self, answers: np.ndarray) -> np.ndarray:
        assert self._row_loss is not None
        return np.broadcast_to(self._row_loss(answers), answers.shape)

    def _mean(self, losses: np.ndarray, good: np.ndarray) -> np.ndarray:
        """(n_outputs,) weighted mean over the good rows."""
        weights = good.astype(float) if self._weights is None else self._weights * good
        return losses @ weights / weights.sum() if weights.sum() > 0 else np.full(len(losses), np.nan)

    def _whole(self, answers: np.ndarray, good: np.ndarray) -> np.ndarray:
        """(n_outputs,) the loss of all good rows together."""
        n_outputs = len(answers)
        if self._function is None:
            return self._mean(np.where(good, self._of_rows(answers), 0.0), good)
        if not good.any():
            return np.full(n_outputs, np.nan)
        weights = None if self._weights is None else self._weights[good]
        said = self._function(self._y[good], answers[:, good], weights)
        try:
            loss = np.asarray(said, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"scoring: {self.name} returned a {type(said).__name__}; expected a number") from error
        if loss.shape not in ((), (n_outputs,)):
            raise InputError(
                f"scoring: {self.name} returned an array of shape {loss.shape}; expected one number, or one per output "
                f"({n_outputs})"
            )
        return np.broadcast_to(loss, (n_outputs,)).copy()


# ---- losses by name: functions of (outcome, response, whether asked for by name) ---------------


def _default(response: Response) -> str:
    if response.scale in ("probability", "log-odds"):
        return "log_loss"
    return "zero_one" if response.scale in ("decision value", "predicted class") else "squared_error"


def _squared_error(y: np.ndarray, response: Response, asked: bool) -> RowLoss:
    numbers = _numbers(y, response, asked)
    return lambda answers: np.square(answers - numbers)


def _absolute_error(y: np.ndarray, response: Response, asked: bool) -> RowLoss:
    numbers = _numbers(y, response, asked)
    return lambda answers: np.abs(answers - numbers)


def _log_loss(y: np.ndarray, response: Response, asked: bool) -> RowLoss:
    """Minus the log of the probability given to what happened, which is kept off 0 by the smallest step below 1."""
    at = np.arange(len(y))
    eps = np.finfo(float).eps
    if len(response.outputs) == 1 and not response.raw_labels:
        happened = _numbers(y, response, asked)[0]
        if not np.isin(happened, (0, 1)).all():
            raise InputError(
                f"log loss of a single output needs a y of 0 and 1, not {np.unique(happened)[:4].tolist()}"
            )
        return lambda answers: -np.log(np.clip(np.where(happened == 1, answers, 1 - answers), eps, 1 - eps))
    label = _positions(y, response)
    if response.scale == "log-odds":
        return lambda answers: np.logaddexp(0, -answers[label, at])[None]
    return lambda answers: -np.log(np.clip(answers[label, at], eps, 1 - eps))[None]


def _zero_one(y: np.ndarray, response: Response, asked: bool) -> RowLoss:  # noqa: ARG001 (one signature for all)
    """Return 1 for a row whose class is not the one with the largest output."""
    if len(response.outputs) == 1 and len(response.raw_labels) == 1:  # the decision value of the second of two classes
        second = np.array([value == response.raw_labels[0] for value in y.tolist()])
        return lambda answers: np.where(np.isnan(answers), np.nan, (answers > 0) != second)
    label = _positions(y, response)
    return lambda answers: np.where(np.isnan(answers).any(axis=0), np.nan, answers.argmax(axis=0) != label)[None]


LOSSES: dict[str, Callable[[np.ndarray, Response, bool], RowLoss]] = {
    "squared_error": _squared_error,
    "absolute_error": _absolute_error,
    "log_loss": _log_loss,
    "zero_one": _zero_one,
}


def _numbers(y: np.ndarray, response: Response, asked: bool) -> np.ndarray:
    """Return the outcome as (n_outputs or 1, m) numbers."""
    n_outputs = len(response.outputs)
    text = y.dtype.kind not in "biuf" and (y.dtype.kind != "O" or any(isinstance(v, str) for v in y.ravel()))
    if text:
        example = next((v for v in y.ravel().tolist() if isinstance(v, str)), y.ravel().tolist()[0])
        raise InputError(f"y holds {example!r}, which is no number to compare the response with; {_HINT}")
    numbers = np.atleast_2d(y.astype(float).T)
    if len(numbers) not in (1, n_outputs) or (len(numbers) < n_outputs and not asked):
        raise InputError(f"y has {len(numbers)} value(s) per row, the model has {n_outputs} outputs; {_HINT}")
    return numbers


def _positions(y: np.ndarray, response: Response) -> np.ndarray:
    """(m,) which output stands for each row's class."""
    labels = response.raw_labels
    if y.ndim != 1 or len(labels) != len(response.outputs) or len(labels) < 2:
        raise InputError(f"the model does not say which output stands for which class of y; {_HINT}")
    position = {label: k for k, label in enumerate(labels)}
    found = np.array([position.get(value, -1) for value in y.tolist()])
    if (found < 0).any():
        raise InputError(
            f"y holds {y.tolist()[int(np.argmax(found < 0))]!r}, which is no class of the model "
            f"({', '.join(map(repr, labels[:6]))}); {_HINT}"
        )
    return found
