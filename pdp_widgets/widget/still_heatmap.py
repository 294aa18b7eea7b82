"""The heatmap of the pair as a figure: the page's cells, those of missing values among them, from the traits that it draws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.figures.parts import Axis, Cells, Spread, axis
from pdp_widgets.inputs import InputError

from .wire import unpack

if TYPE_CHECKING:
    from .still import Seen

__all__ = ["heatmap"]

_LEAST = 1e-3
"""A difference too small to be seen beside the effect is drawn as none."""


def heatmap(seen: Seen, mode: str | None = None, swapped: bool = False) -> Cells:
    """Return what the page draws.

    Parameters
    ----------
    seen : Seen
        What the widget shows.
    mode : "selection", "difference", "interaction" or None
    swapped : bool
        The first feature runs upwards.

    Raises
    ------
    InputError
        For a mode that there is not (yet).
    """
    wire = seen["_heatmap"]
    values, words = _values(wire, mode)
    sides = [_Side(wire[name]) for name in ("a", "b")]
    domain = _domain(wire, mode, values)
    empty = _empty(sides[0], sides[1], unpack(wire["counts"]).reshape(values.shape))
    if swapped:
        sides, values, empty = sides[::-1], values.T, empty.T
    inner = values[np.ix_(*(side.known for side in sides))]
    every = np.ix_(*(side.order for side in sides))
    label = in_words(seen["_info"]["scale"], [wire["output"]])
    if mode is not None:
        label = f"{mode}: {label}"
    names = [wire["second"], wire["first"]] if swapped else [wire["first"], wire["second"]]
    return Cells(
        sides[0].axis, sides[1].axis, label, inner, f"{seen['_info']['model']}: {words} {names[0]} and {names[1]}",
        diverging=mode in ("difference", "interaction"), apart=(sides[0].apart, sides[1].apart),
        cells=values[every], empty=empty[every], domain=domain, spread=(sides[0].spread, sides[1].spread),
    )  # fmt: skip


class _Side:
    """One axis of the surface: which of its points are drawn, in which order."""

    def __init__(self, wire: dict[str, Any]) -> None:
        x = unpack(wire["x"])
        every = np.arange(len(x))
        self.levels = wire["kind"] == "category"
        self.missing = int(wire["missing"])
        self.known = every
        if not self.levels:
            known = every[(every != self.missing) & np.isfinite(x)]
            self.known = known[np.argsort(x[known], kind="stable")]
        self.apart = not self.levels and self.missing >= 0
        self.order = np.r_[self.missing, self.known] if self.apart else self.known
        labels = [wire["labels"][k] for k in self.known] if wire["labels"] else []
        hist = wire["hist"]
        edges = None if hist["edges"] is None else unpack(hist["edges"])
        found = axis(wire["feature"], wire["kind"], x[self.known], labels)
        # The outer cells end where the data do.
        data = None if edges is None or self.levels or not len(edges) else (float(edges[0]), float(edges[-1]))
        self.axis: Axis = replace(found, data=data, whole=wire["integer"])
        selected = None if hist["selected"] is None else unpack(hist["selected"])
        self.spread = Spread(edges, unpack(hist["counts"]), selected)

    def near(self, k: int) -> list[int]:
        """Return a point and its neighbours on the axis: a fine grid has gaps where there are data."""
        if self.levels or k == self.missing:
            return [k]
        at = int(np.flatnonzero(self.known == k)[0])
        return [int(p) for p in self.known[max(at - 1, 0) : at + 2]]


def _empty(a: _Side, b: _Side, counts: np.ndarray) -> np.ndarray:
    """Return where no rows are, nor beside it along an axis of numbers."""
    empty = np.zeros(counts.shape, dtype=bool)
    near_b = {j: b.near(j) for j in b.order.tolist()}
    for i in a.order.tolist():
        rows = counts[a.near(i)].sum(axis=0)
        for j, near in near_b.items():
            empty[i, j] = rows[near].sum() == 0
    return empty


def _domain(wire: dict[str, Any], mode: str | None, values: np.ndarray) -> tuple[float, float] | None:
    """Return the ends of the scale of colours: the selection's is that of all rows, too, so that the two can be compared."""
    average = unpack(wire["average"])
    ends = _ends(average)
    if mode is None:
        return ends
    if mode == "selection":
        return _ends(average, *(unpack(wire[name]) for name in ("selection", "rest") if wire[name] is not None))
    own = _ends(values)
    if own is None:
        return None
    least = 0.0 if ends is None else (ends[1] - ends[0]) * _LEAST
    most = max(abs(own[0]), abs(own[1]), least) or 1.0
    return -most, most


def _ends(*arrays: np.ndarray) -> tuple[float, float] | None:
    every = np.concatenate([np.ravel(one) for one in arrays]).astype(float)
    every = every[np.isfinite(every)]
    return (float(every.min()), float(every.max())) if len(every) else None


def _values(wire: dict[str, Any], mode: str | None) -> tuple[np.ndarray, str]:
    """Return what a heatmap shows, and in words what that is."""
    average = unpack(wire["average"])
    if mode is None:
        return average, "partial dependence on"
    if mode == "interaction":
        if wire["main_a"] is None or wire["mean"] is None:
            raise InputError("the interaction is still being computed; widget.wait() waits for it")
        return average - unpack(wire["main_a"])[:, None] - unpack(wire["main_b"]) + wire["mean"], "interaction of"
    needed = ("selection",) if mode == "selection" else ("selection", "rest")
    if any(wire[name] is None for name in needed):
        raise InputError(
            f"there is no heatmap of the {mode}: no rows are selected, or none (or all) of those it stands on"
        )
    selected = unpack(wire["selection"])
    if mode == "selection":
        return selected, "partial dependence of the selected rows on"
    return selected - unpack(wire["rest"]), "partial dependence, selected minus others, on"
