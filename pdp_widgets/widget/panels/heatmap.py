"""The heatmap panel: the surface of two features, what is interaction in it, and the surfaces of the selection and the rest."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.widget.picture import Axis, means
from pdp_widgets.widget.wire import pack, scalar, unpack

from .panel import Panel, View

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    import pandas as pd

    from pdp_widgets.explain import Explainer, Ice, PartialDependence
    from pdp_widgets.explain.interaction_result import Interaction
    from pdp_widgets.inputs import Grid

__all__ = ["BUDGET", "HeatmapPanel"]

BUDGET = 400_000
"""Model rows that a surface may cost; each time a person asks for more, it is four times as many."""

COARSE, FINE = 8, 20
"""Grid points of a number: first, and in the end."""

MOST_LEVELS = 24
"""Levels of a category that are shown, the most frequent ones."""

_KEPT_RESULTS = 12
_KEPT_BYTES = 96 * 2**20  # curves at hand, so that a selection costs no model call


@dataclass(frozen=True)
class _Side:
    """One feature of the pair."""

    grid: Grid
    at: np.ndarray
    """(K,) index in the feature's own grid, as conditions count levels; -1 for points of a number."""

    @classmethod
    def of(cls, explainer: Explainer, name: str, size: int) -> _Side:
        whole = explainer.grid(name)
        if whole.kind != "category":
            grid = explainer.grid(name, grid_size=min(size, explainer.grid_size))
            at = np.full(grid.size, -1)
            if grid.missing >= 0:
                at[grid.missing] = whole.missing
            return cls(grid, at)
        levels = np.flatnonzero(whole.ordered)
        if len(levels) <= MOST_LEVELS:
            return cls(whole, np.arange(whole.size))
        frequent = np.argsort(-whole.counts()[levels], kind="stable")[:MOST_LEVELS]
        at = np.sort(levels[frequent])
        if whole.missing >= 0:
            at = np.append(at, whole.missing)
        return cls(explainer.grid(name, grid=[None if k == whole.missing else whole.values[k] for k in at]), at)


@dataclass
class _Surface:
    """What is known of a pair over one grid; the first feature gives the rows of each matrix."""

    sides: tuple[_Side, _Side]
    pair: Ice
    k: int
    rows: np.ndarray
    """Positions of the rows averaged over, once all are in."""
    average: np.ndarray
    """(Ka, Kb)"""
    main: tuple[np.ndarray, np.ndarray] | None = None
    mean: float | None = None
    split: np.ndarray | None = None
    """(2, Ka, Kb) averages of the selection and the rest, NaN where there is no row."""
    n_split: tuple[int, int] = (0, 0)
    interaction: Interaction | None = None
    shape: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.shape = (self.sides[0].grid.size, self.sides[1].grid.size)


class HeatmapPanel(Panel):
    """Partial dependence on the pair in focus."""

    name = "heatmap"
    priority = 62.0

    def __init__(self, explainer: Explainer) -> None:
        super().__init__(explainer)
        self._budgets: dict[tuple[str, str], int] = {}
        self._done: dict[tuple[str, str], int] = {}  # rows that a pair's surface stands on
        self._interactions: dict[tuple[str, str], Interaction] = {}
        self._axes: dict[str, Axis] = {}
        self._grown: OrderedDict[tuple[str, str], PartialDependence] = OrderedDict()

    def result(self, view: View) -> PartialDependence | None:
        """Return the surface of the pair in focus as far as it is known, of the output in focus and without single rows."""
        pair = _pair(view)
        found = None if pair is None else self._grown.get(self._one_way(view))
        if found is None:
            return None
        found = found.output(view.output)
        return found if found.features == pair else _turned(found)

    def key(self, view: View) -> Hashable:
        """Return the pair, the output and the selection."""
        pair = _pair(view)
        return None if pair is None else (pair, view.output, view.selection_id)

    def cost(self, view: View) -> int:
        """Return how many rows the model is asked about; none for sums of trees."""
        pair = self._one_way(view)
        if self.free:
            return 0
        first, second = (_Side.of(self.explainer, name, FINE).grid.size for name in pair)
        missing = self._wanted(pair, first * second) - self._done.get(pair, 0)
        return max(0, missing) * (first * second + first + second)

    def refine(self, view: View) -> bool:
        """Afford four times as many rows from now on, if there are more."""
        pair = self._one_way(view)
        first, second = (_Side.of(self.explainer, name, FINE).grid.size for name in pair)
        more = self._more(pair, first * second, self._done.get(pair, 0))
        if more is None:
            return False
        self._budgets[pair] = more
        return True

    def steps(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield a coarse surface where the model takes its time, then a fine one, its main effects, the selection's."""
        pair = self._one_way(view)
        fine = self._open(view, pair, FINE)
        if not self.free and fine.pair.rows_done < self._wanted(pair, fine.average.size):
            coarse = self._open(view, pair, COARSE)
            if coarse.average.size < fine.average.size / 2:
                for _ in self._grow(coarse, pair, BUDGET // 4):
                    yield self._picture(view, coarse, pair)
        for _ in self._grow(fine, pair, self._budgets.get(pair, BUDGET)):
            # A few rows on many cells would look worse than what is on screen.
            known = self.free or fine.pair.rows_done >= self._wanted(pair, fine.average.size) / 4
            yield self._picture(view, fine, pair) if known else None
        order, n = self.explainer.row_order, self.explainer.n_rows
        done = fine.pair.rows_done
        self._done[pair] = done
        fine.rows = np.arange(n) if done >= n else np.sort(order[:done])
        fine.average = _average(fine.pair, fine.k, fine.rows, self.explainer.weights).reshape(fine.shape)
        mains = []
        for side in fine.sides:
            ice = self.explainer.ice(side.grid.feature.name, grid=side.grid, keep=order[:done])
            while ice.rows_done < done:
                ice.advance()
                yield None
            mains.append(_average(ice, fine.k, fine.rows, self.explainer.weights))
        base = self.explainer.base()
        while not np.isfinite(base.predictions[fine.k, fine.rows]).all() and not base.complete:
            base.advance()
            yield None
        fine.main = (mains[0], mains[1])
        fine.mean = _mean(base.predictions[fine.k, fine.rows], self.explainer.weights, fine.rows)
        if view.selection is not None:
            self._split(fine, view.selection.mask)
        fine.interaction = self._interactions.get(pair)
        yield self._picture(view, fine, pair)
        if fine.interaction is None and self.free and self.explainer.source.method.sums() is not None:
            self._interactions[pair] = fine.interaction = self.explainer.interaction(*pair)
            yield self._picture(view, fine, pair)

    def tables(self, view: View, picture: dict[str, Any]) -> dict[str, pd.DataFrame]:
        """Return the surface of all rows, and those of the selection and the rest where there are such."""
        result = self.result(view)
        if result is None:
            return {}
        tables = {"all": result.to_frame()}
        # Of a part of the rows it is known how far it may be off only where all of them are in.
        stderr = np.full_like(result.stderr, 0.0 if picture["exact"] else np.nan)
        for name in ("selection", "rest"):
            if picture[name] is not None:
                tables[name] = replace(result, average=unpack(picture[name])[None], stderr=stderr).to_frame()
        return tables

    # ---- computing -----------------------------------------------------------------------

    def _one_way(self, view: View) -> tuple[str, str]:
        """Return the pair in the features' own order: either way round it is computed once."""
        pair = _pair(view)
        assert pair is not None, "there is a key"
        first, second = sorted(pair, key=list(self.explainer.features).index)
        return first, second

    def _wanted(self, pair: tuple[str, str], cells: int, budget: int | None = None) -> int:
        """Return over how many rows a surface of so many cells is averaged."""
        kept = _KEPT_BYTES // (8 * len(self.explainer.outputs) * cells)
        if not self.free:
            kept = min(kept, max(20, (budget or self._budgets.get(pair, BUDGET)) // cells))
        return min(self.explainer.n_rows, max(20, kept))

    def _more(self, pair: tuple[str, str], cells: int, done: int) -> int | None:
        """Return the next budget that gives more rows than are done, None when there is none."""
        budget = self._budgets.get(pair, BUDGET)
        while not self.free and self._wanted(pair, cells, budget) <= done < self.explainer.n_rows:
            if self._wanted(pair, cells, 4 * budget) == self._wanted(pair, cells, budget) > 20:
                return None  # as many as are kept
            budget *= 4
        return None if self.free or done >= self.explainer.n_rows else budget

    def _open(self, view: View, pair: tuple[str, str], size: int) -> _Surface:
        """Return the surface as far as it is computed already."""
        first, second = (_Side.of(self.explainer, name, size) for name in pair)
        cells = first.grid.size * second.grid.size
        keep = self.explainer.row_order[: self._wanted(pair, cells)]
        ice = self.explainer.ice(pair, grid=[first.grid, second.grid], keep=keep)
        nothing = np.full((first.grid.size, second.grid.size), np.nan)
        return _Surface((first, second), ice, view.k, keep[:0], nothing)

    def _grow(self, surface: _Surface, pair: tuple[str, str], budget: int) -> Iterator[None]:
        """Take in rows, one chunk at a time; what the model is asked stays within the budget even if the trees cannot serve."""
        ice, spent = surface.pair, 0
        wanted = self._wanted(pair, surface.average.size, budget)
        while ice.rows_done < wanted and spent < 2 * budget:
            before = self.explainer.rows_asked
            ice.advance()
            spent += self.explainer.rows_asked - before
            surface.average = ice.result().average[surface.k]
            yield

    def _split(self, surface: _Surface, mask: np.ndarray) -> None:
        """Average over the selection and over the rest, among the rows that are in."""
        rows, weights = surface.rows, self.explainer.weights
        curves = _curves(surface.pair, surface.k, rows)
        good = np.isfinite(curves).all(axis=1)
        if not good.all():
            curves, rows = curves[good], rows[good]
        chosen = mask[rows]
        both = means(curves, chosen, None if weights is None else weights[rows])
        surface.split = both.reshape(2, *surface.shape)
        surface.n_split = int(chosen.sum()), int((~chosen).sum())

    # ---- what the page gets --------------------------------------------------------------

    def _picture(self, view: View, surface: _Surface, pair: tuple[str, str]) -> dict[str, Any]:
        shown = _pair(view)
        turned = shown != pair
        a, b = surface.sides[::-1] if turned else surface.sides

        def matrix(values: np.ndarray | None) -> dict[str, Any] | None:
            return None if values is None else pack(values.T if turned else values)

        main = None if surface.main is None else (surface.main[::-1] if turned else surface.main)
        split = [None, None] if surface.split is None else list(surface.split)
        n_split = surface.n_split
        total, cells = self.explainer.n_rows, surface.average.size
        done = min(surface.pair.rows_done, total)
        found, k = surface.interaction, surface.k
        budget = self._more(pair, cells, done)
        # Without the curves: how many of them are kept is the cache's business.
        self._grown[pair] = replace(surface.pair.result(), curves=None)
        self._grown.move_to_end(pair)
        while len(self._grown) > _KEPT_RESULTS:
            self._grown.popitem(last=False)
        return {
            "first": a.grid.feature.name,
            "second": b.grid.feature.name,
            "output": view.output,
            "a": self._axis(view, a),
            "b": self._axis(view, b),
            "average": matrix(surface.average),
            "main_a": None if main is None else pack(main[0]),
            "main_b": None if main is None else pack(main[1]),
            "mean": scalar(surface.mean),
            "counts": _counts(a.grid, b.grid),
            "selection": matrix(split[0]) if n_split[0] else None,
            "rest": matrix(split[1]) if n_split[1] else None,
            "selection_id": view.selection_id,
            "n_selection": n_split[0],
            "n_rest": n_split[1],
            "rows": done,
            "total": total,
            "more": None if budget is None else self._wanted(pair, cells, budget),
            "h2": None if found is None else scalar(found.h2[k]),
            "strength": None if found is None else scalar(found.strength[k]),
            "exact": done >= total,
        }

    def _axis(self, view: View, side: _Side) -> dict[str, Any]:
        name = side.grid.feature.name
        axis = self._axes.pop(name, None) or Axis.of(self.explainer, name)
        self._axes[name] = axis
        while len(self._axes) > 2:
            del self._axes[next(iter(self._axes))]
        members = {member: axis.wire[member] for member in ("feature", "kind", "integer")}
        category = axis.grid.kind == "category"

        def bars(rows: Any) -> dict[str, Any]:
            counts = np.bincount(axis.bins[rows][axis.bins[rows] >= 0], minlength=axis.n_bins)
            return pack(counts[side.at] if category else counts, "int32")

        return {
            **members,
            "x": pack(np.arange(side.grid.size) if category else side.grid.positions),
            "labels": list(side.grid.labels),
            "at": pack(side.at, "int32"),
            "missing": int(side.grid.missing),
            "hist": {
                "edges": axis.wire["hist"]["edges"],
                "counts": bars(slice(None)),
                "selected": None if view.selection is None else bars(view.selection.mask),
            },
            "left_out": axis.grid.size - side.grid.size if category else 0,
        }


def _pair(view: View) -> tuple[str, str] | None:
    """Return the two features to show: those somebody chose, if the focused one is among them, else it and its partner."""
    if view.pair is not None and view.feature in view.pair:
        return view.pair
    return None if view.partner is None else (view.feature, view.partner)


def _turned(result: PartialDependence) -> PartialDependence:
    """Return the same surface with the other feature first."""
    numbers = {name: getattr(result, name).swapaxes(1, 2) for name in ("average", "stderr", "variance")}
    return replace(result, grids=result.grids[::-1], **numbers)


def _counts(a: Grid, b: Grid) -> dict[str, Any]:
    """Return how many rows lie nearest each cell; unweighted."""
    both = (a.nearest >= 0) & (b.nearest >= 0)
    cell = a.nearest[both].astype(int) * b.size + b.nearest[both]
    return pack(np.bincount(cell, minlength=a.size * b.size).reshape(a.size, b.size), "int32")


def _curves(ice: Ice, k: int, rows: np.ndarray) -> np.ndarray:
    """(m, cells) the curves of these rows."""
    if ice.values is None:
        return ice.curves(rows)[k]
    return ice.values[k] if len(rows) == ice.values.shape[1] else ice.values[k][rows]


def _average(ice: Ice, k: int, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """(cells,) the mean curve of these rows, without those that the model has no number for."""
    if ice.rows_done == len(rows):
        return ice.result().average[k].ravel()
    curves = _curves(ice, k, rows)
    good = np.isfinite(curves).all(axis=1)
    everyone = np.ones(int(good.sum()), dtype=bool)
    return means(curves[good], everyone, None if weights is None else weights[rows[good]])[0]


def _mean(predictions: np.ndarray, weights: np.ndarray | None, rows: np.ndarray) -> float:
    good = np.isfinite(predictions)
    mass = np.ones(len(rows)) if weights is None else weights[rows]
    total = mass[good].sum()
    return float(mass[good] @ predictions[good] / total) if total > 0 else float("nan")
