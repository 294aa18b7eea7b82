"""The fewest straight segments that reproduce an effect: what the complexity of a main effect is counted in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .ale import ALE

__all__ = ["MOST_SEGMENTS", "R2", "Approximation", "approximated"]

R2 = 0.95
"""Share of an effect's variance that its linear segments must reproduce."""

MOST_SEGMENTS = 10


@dataclass(frozen=True)
class Approximation:
    """The ALE of a feature, and the fewest straight segments (of a category: groups of levels) that reproduce 95 % of its variance."""

    feature: str
    kind: str
    """As ``Grid.kind``: "number", "datetime", "timedelta" or "category"."""
    positions: np.ndarray = field(repr=False)
    """(K,) where rows lie, ascending, dates and durations in ms; of a category 0, 1, 2, ..."""
    labels: tuple[str, ...] = field(repr=False)
    """Of a category its levels, in the order of their effect; else empty."""
    effect: np.ndarray = field(repr=False)
    """(K,) the ALE there, its weighted mean over the rows taken off."""
    fitted: np.ndarray = field(repr=False)
    """(K,) what the segments make of it."""
    starts: tuple[int, ...]
    """Index of the first point of each segment; empty for an effect that is flat."""

    @property
    def segments(self) -> int:
        """How many count: straight segments, or groups of levels less one."""
        return max(len(self.starts) - (self.kind == "category"), 0)


def approximated(effect: ALE, k: int, weights: np.ndarray | None) -> Approximation:
    """Return the fewest segments that reproduce an effect over the rows.

    Parameters
    ----------
    effect : ALE
        Of one feature.
    k : int
        Position of the output.
    weights : (n,) array, optional
        Row weights of the background.
    """
    values, codes = effect.row_values[k], effect.codes[0]
    weight = np.ones(len(codes)) if weights is None else weights[effect.rows]
    x, at = np.unique(codes, return_inverse=True)
    mass = np.bincount(at, weight)
    y = np.bincount(at, weight * values) / np.where(mass > 0, mass, 1)
    name, kind = effect.features[0], effect.kinds[0]
    labels: tuple[str, ...] = ()
    if kind == "category":  # groups of levels: neighbours in the effect, each at its mean
        order = np.argsort(y, kind="stable")
        labels = tuple(effect.grid_labels[0][int(code)] for code in x[order])
        x, y, mass = np.arange(len(x), dtype=float), y[order], mass[order]
    centred = y - mass @ y / (mass.sum() or 1.0)
    whole = float(mass @ np.square(centred))
    size = np.abs(values).max(initial=1e-300)
    if len(x) < 2 or whole <= 16 * mass.sum() * (np.finfo(float).eps * size) ** 2:
        return Approximation(name, kind, x, labels, centred, np.zeros(len(x)), ())
    if kind != "category":
        x, centred, mass = _thinned(x, centred, mass)
    slope = kind != "category"
    starts = _starts(_losses(x, centred, mass, slope=slope), (1 - R2) * whole)
    fitted = np.empty(len(x))
    for start, end in zip(starts, (*starts[1:], len(x)), strict=True):
        fitted[start:end] = _line(x[start:end], centred[start:end], mass[start:end], slope=slope)
    return Approximation(name, kind, x, labels, centred, fitted, starts)


def _starts(loss: np.ndarray, most: float) -> tuple[int, ...]:
    """Return where the fewest segments begin whose losses add up to at most ``most``."""
    best = loss[0].copy()  # best[j]: the loss of points 0..j in at most as many segments as are counted
    begins = [np.zeros(len(loss), dtype=int)]  # per count where the last of them begins; -1: one fewer does as well
    while best[-1] > most and len(begins) < MOST_SEGMENTS:
        # One more segment, which starts at point i + 1 and ends at j.
        choices = best[:-1, None] + loss[1:]
        more = choices.min(axis=0)
        begins.append(np.where(more < best, choices.argmin(axis=0) + 1, -1))
        best = np.minimum(best, more)
    starts: list[int] = []
    end, count = len(loss) - 1, len(begins) - 1
    while end >= 0:
        while begins[count][end] < 0:
            count -= 1
        starts.append(int(begins[count][end]))
        end, count = starts[-1] - 1, count - 1
    return tuple(reversed(starts))


def _line(x: np.ndarray, y: np.ndarray, mass: np.ndarray, *, slope: bool) -> np.ndarray:
    """Return the weighted least-squares line (or the mean) at its own points."""
    share = mass / mass.sum() if mass.sum() > 0 else np.full(len(x), 1 / len(x))
    middle, level = share @ x, share @ y
    spread = share @ np.square(x - middle)
    if not slope or spread <= 0:
        return np.full(len(x), level)
    return level + (share @ ((x - middle) * (y - level)) / spread) * (x - middle)


def _thinned(
    x: np.ndarray, y: np.ndarray, mass: np.ndarray, most: int = 200
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join neighbouring points until at most ``most`` are left: segments of thousands of points tell nothing more."""
    if len(x) <= most:
        return x, y, mass
    at = (np.cumsum(mass) - mass / 2) / mass.sum() * most
    at = np.unique(at.astype(int), return_inverse=True)[1]
    joined = np.bincount(at, mass)
    joined_x, joined_y = (np.bincount(at, mass * values) / np.where(joined > 0, joined, 1) for values in (x, y))
    return joined_x, joined_y, joined


def _losses(x: np.ndarray, y: np.ndarray, mass: np.ndarray, *, slope: bool) -> np.ndarray:
    """(K, K) weighted squared error of a straight line (or a mean) through points i..j; infinite where j < i."""
    x = (x - x.mean()) / (np.abs(x - x.mean()).max() or 1.0)
    sums = [np.concatenate([[0.0], np.cumsum(mass * part)]) for part in (np.ones_like(x), x, y, x * x, x * y, y * y)]
    n, sx, sy, sxx, sxy, syy = (one[None, 1:] - one[:-1, None] for one in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = syy - sy * sy / n
        if slope:
            spread = sxx - sx * sx / n
            explained = np.square(sxy - sx * sy / n) / spread
            loss = loss - np.where(spread > 1e-12 * np.maximum(sxx, 1e-300), explained, 0.0)
    loss = np.maximum(np.nan_to_num(loss, nan=0.0, posinf=0.0), 0.0)
    return np.where(np.tri(len(x), k=-1, dtype=bool), np.inf, loss)
