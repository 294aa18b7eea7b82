"""The growing work behind an ALE: which rows are moved, what the model is asked, and how its answers are accumulated.

What a feature's points and steps are is the business of ``ale_axes.py``; the result and its public functions are in ``ale.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.containers import gather

from .ale_axes import Axis, chosen_features, corners, make_axes, place
from .ask import ask
from .explanation import context

if TYPE_CHECKING:
    from .explainer import Explainer


class Work:
    """The differences of one ALE, growing row by row.

    Parameters
    ----------
    explainer : Explainer
    axes : list of Axis
    rows : (m,) int array
        The rows to do, those that the axes know.
    about : dict
        What the result says of rows that are left out.
    """

    def __init__(self, explainer: Explainer, axes: list[Axis], rows: np.ndarray, about: dict[str, Any]) -> None:
        self.explainer, self.about = explainer, about
        self.names = [axis.feature.name for axis in axes]
        cell = np.ravel_multi_index([axis.bin for axis in axes], [axis.bins for axis in axes])
        turns, self.turn = _in_turns(cell)
        self.rows = rows[turns]
        self.axes = [axis.at(turns) for axis in axes]
        self.done = 0
        self._sizes = [axis.size for axis in axes]
        self._move, self._steps = _moves(self.axes)
        # A row's moves share corners: each is asked for once.
        cells = int(np.prod(self._sizes))
        self._signs = [(-1) ** (len(axes) - sum(corner)) for corner in product((0, 1), repeat=len(axes))]
        keys = np.column_stack(
            [
                self._move * cells
                + np.ravel_multi_index([s + c for s, c in zip(self._steps, corner, strict=True)], self._sizes)
                for corner in product((0, 1), repeat=len(axes))
            ]
        )
        wanted, corner_of = np.unique(keys, return_inverse=True)
        self._corner = corner_of.reshape(keys.shape)
        self._row, point = np.divmod(wanted, cells)
        self._points = np.unravel_index(point, self._sizes)
        self._answers = np.full((explainer.source.n_outputs, len(wanted)), np.nan)

    @classmethod
    def prepare(cls, explainer: Explainer, features: Any, bins: Any, order: Any, subgroup: Any) -> Work:
        """Choose rows and points."""
        table = explainer.table
        chosen = chosen_features(table, features)
        mask, text = explainer.rows_of(subgroup)
        rows = explainer.row_order if mask is None else explainer.row_order[mask[explainer.row_order]]
        total = len(rows)
        codes = np.stack([table.observed(feature).codes for feature in chosen])[:, rows]
        missing, infinite = np.isnan(codes).any(axis=0), np.isinf(codes).any(axis=0)
        infinite &= ~missing
        weightless = np.zeros(total, bool) if explainer.weights is None else explainer.weights[rows] == 0
        weightless &= ~(missing | infinite)
        rows = rows[~(missing | infinite | weightless)]
        if not len(rows):
            where = f"the {total} rows" + ("" if text is None else f" of subgroup {text!r}")
            raise InputError(
                f"{' x '.join(f.name for f in chosen)!r} has no finite value with a weight in {where}; nothing to explain"
            )
        weights = np.ones(len(rows)) if explainer.weights is None else explainer.weights[rows]
        axes = make_axes(table, chosen, rows, weights, bins, order)
        left_out = {"missing": missing, "infinite": infinite, "weightless": weightless}
        about = {f"rows_{why}": int(np.count_nonzero(which)) for why, which in left_out.items()}
        return cls(explainer, axes, rows, about | {"rows_total": total} | context(explainer, text))

    def alone(self) -> list[Work]:
        """Return the work for the main effect of each feature, at the same points."""
        return [Work(self.explainer, [axis], self.rows, self.about) for axis in self.axes]

    def run(self, seconds: float) -> Iterator[int]:
        """Ask the model, chunk by chunk, yielding how many more rows are done."""
        source, rows = self.explainer.source, self.rows[self._row]
        own = np.ones(len(rows), dtype=bool)
        for axis, point in zip(self.axes, self._points, strict=True):
            own &= axis.positions[point] == axis.codes[self._row]
        known = np.flatnonzero(own & source.known[rows])
        self._answers[:, known] = source.predictions[:, rows[known]]
        unusable = known[~np.isfinite(self._answers[:, known]).all(axis=0)]
        if len(unusable) and source.nan_predictions == "raise":
            source.complain(rows[unusable], "at their own values")
        asked = np.delete(np.arange(len(rows)), known)
        replaced = {
            j: gather(vector, point[asked])
            for axis, point in zip(self.axes, self._points, strict=True)
            for j, vector in zip(axis.feature.columns, axis.vectors, strict=True)
        }
        where = f"while {' x '.join(self.names)!r} is moved to neighbouring values"
        for part, values in ask(source, rows[asked], replaced, where=where, seconds=seconds):
            at = asked[part]
            self._answers[:, at] = values
            with source.lock:
                source.note(rows[at[own[at]]], values[:, own[at]])
            before = self.done
            self.done = int(self._row[asked[part.stop]]) if part.stop < len(asked) else len(self.rows)
            yield self.done - before
        if self.done < len(self.rows):  # nothing to ask
            self.done, before = len(self.rows), self.done
            yield self.done - before

    def fields(self) -> dict[str, Any]:
        """Return what an ``ALE`` of the rows done so far consists of."""
        done, explainer = self.done, self.explainer
        moves = slice(0, int(np.searchsorted(self._move, done)))
        with np.errstate(invalid="ignore", over="ignore"):  # infinite predictions, where they are to be omitted
            difference = sum(
                (sign * self._answers[:, self._corner[moves, k]] for k, sign in enumerate(self._signs)),
                np.zeros((len(self._answers), moves.stop)),
            )
        bad = np.zeros(done, dtype=bool)
        bad[self._move[moves][~np.isfinite(difference).all(axis=0)]] = True
        good = ~bad[self._move[moves]]
        kept = np.flatnonzero(~bad)
        axes, rows = [axis.at(kept) for axis in self.axes], self.rows[:done][kept]
        weights = np.ones(len(rows)) if explainer.weights is None else explainer.weights[rows]
        row_weights = np.ones(done) if explainer.weights is None else explainer.weights[self.rows[:done]]
        shape = [max(axis.size - 1, 0) for axis in axes]
        step = np.ravel_multi_index([s[moves][good] for s in self._steps], [max(k, 1) for k in shape])
        effects, stderr, empty = _means(difference[:, good], step, row_weights[self._move[moves][good]], shape)
        nearest: tuple[Any, ...] = (slice(None), *_nearest(empty, [axis.positions for axis in axes]))
        effects = effects[nearest]
        values = _accumulated(effects, axes, weights)
        by_position = np.argsort(rows)
        counts = np.bincount(
            np.ravel_multi_index([axis.bin for axis in axes], [axis.bins for axis in axes]),
            minlength=int(np.prod([axis.bins for axis in axes])),
        )
        return {
            "features": tuple(self.names),
            "kinds": tuple(axis.kind for axis in axes),
            "grid_values": [axis.values for axis in axes],
            "grid_labels": [axis.labels for axis in axes],
            "positions": [axis.positions for axis in axes],
            "values": values,
            "effects": effects,
            "effect_stderr": stderr,
            "counts": counts.reshape([axis.bins for axis in axes]),
            "empty": empty,
            "rows": rows[by_position],
            "codes": [axis.codes[by_position] for axis in axes],
            "rows_omitted": int(np.count_nonzero(bad)),
            **self.about,
        }


def _in_turns(cell: np.ndarray) -> tuple[np.ndarray, int]:
    """Return an order of rows in which all cells take turns, and how many of them there are."""
    by_cell = np.argsort(cell, kind="stable")
    _, first, size = np.unique(cell[by_cell], return_index=True, return_counts=True)
    turn = np.empty(len(cell), dtype=int)
    turn[by_cell] = np.arange(len(cell)) - np.repeat(first, size)
    return np.argsort(turn, kind="stable"), len(first)


def _moves(axes: Sequence[Axis]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return each move of a row along a step (along a cell of steps): the row, ascending, and the step per axis."""
    several = [axis.steps for axis in axes]
    if len(several) == 2:
        several = [several[0][:, :, None], several[1][:, None, :]]
    steps = np.broadcast_arrays(*several)
    exist = np.logical_and.reduce([step >= 0 for step in steps])
    return np.nonzero(exist)[0], [step[exist] for step in steps]


def _means(
    difference: np.ndarray, step: np.ndarray, weights: np.ndarray, shape: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weighted means per step and their standard errors, NaN where not known, and which steps are empty.

    The error is that of ``Moments``: variance over Kish's effective number of rows.
    """
    n, full = int(np.prod(shape)), (len(difference), *shape)
    count, weight, squared = (np.bincount(step, w, n) for w in (np.ones_like(weights), weights, weights**2))
    empty = count == 0
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.stack([np.bincount(step, weights * d, n) / weight for d in difference])
        spread = np.stack([np.bincount(step, weights * d**2, n) / weight for d in difference - mean[:, step]])
        effective = weight**2 / squared
        stderr = np.sqrt(spread / np.where((count > 1) & (effective > 1), effective - 1, np.nan))
    return mean.reshape(full), stderr.reshape(full), empty.reshape(shape)


def _nearest(empty: np.ndarray, positions: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return, per cell, the index of the cell with rows whose centre is nearest, in units of the features' ranges."""
    index = np.indices(empty.shape)
    filled, wanting = np.argwhere(~empty), np.argwhere(empty)
    if len(filled) and len(wanting):
        middle = [(p[1:] + p[:-1]) / 2 / (p[-1] - p[0]) for p in positions]
        at, to = (np.column_stack([m[cells[:, k]] for k, m in enumerate(middle)]) for cells in (wanting, filled))
        for some in np.array_split(np.arange(len(wanting)), -(-len(wanting) * len(filled) // 1_000_000)):
            far = np.square(at[some, None] - to[None]).sum(axis=2)
            index[(slice(None), *wanting[some].T)] = filled[far.argmin(axis=1)].T
    return tuple(index)


def _accumulated(effects: np.ndarray, axes: Sequence[Axis], weights: np.ndarray) -> np.ndarray:
    """Return effects summed over the steps, less the main effects in them, less the mean over the rows."""
    sizes = [axis.size for axis in axes]
    if not len(weights):
        return np.full((len(effects), *sizes), np.nan)
    for k in range(len(axes)):
        effects = np.insert(np.cumsum(effects, axis=k + 1), 0, 0.0, axis=k + 1)
    places = [place(axis.positions, axis.codes) for axis in axes]
    values = effects
    if len(axes) == 2:
        first = _main(effects, axes[0], places[1], weights)
        second = _main(effects.swapaxes(1, 2), axes[1], places[0], weights)
        values = effects - first[:, :, None] - second[:, None, :]
    share = np.zeros(int(np.prod(sizes)))
    for at, part in corners(places):
        share += np.bincount(np.ravel_multi_index(at, sizes), weights * part, len(share))
    mean = values.reshape(len(values), -1) @ (share / weights.sum())
    return values - mean.reshape(-1, *[1] * len(axes))


def _main(
    surface: np.ndarray, axis: Axis, other: tuple[np.ndarray, np.ndarray, np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """Return the uncentred ALE of one feature in a surface: (n_outputs, K) of (n_outputs, K, other K).

    The surface takes the place of the model: the rows of a step are moved along it, each at its own value of the other feature.
    """
    n_outputs, size, other_size = surface.shape
    steps = max(size - 1, 0)
    share = np.zeros(steps * other_size)
    for column in axis.steps.T:
        exist = column >= 0
        for (at,), part in corners([other]):
            cell = column[exist] * other_size + at[exist]
            share += np.bincount(cell, (weights * part)[exist], len(share))
    share = share.reshape(steps, other_size)
    total = share.sum(axis=1, keepdims=True)
    (nearest,) = _nearest(total[:, 0] == 0, [axis.positions])
    share = (share / np.where(total == 0, 1, total))[nearest]
    slope = np.einsum("osq,sq->os", np.diff(surface, axis=1), share)
    return np.concatenate([np.zeros((n_outputs, 1)), np.cumsum(slope, axis=1)], axis=1)
