"""Rectangles on ICE curves, and which curves cross one: the page's geometry, over all rows at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["IceBox", "crossing"]


@dataclass(frozen=True)
class IceBox:
    """A rectangle on the ICE curves of a feature, as the page drew it."""

    feature: str
    output: str
    x: tuple[float, float]
    y: tuple[float, float]
    centered: bool
    exact: bool = True
    """Whether it was answered over all rows."""
    model: str = ""
    """Whose curves they are, where there are several models."""

    @property
    def about(self) -> str:
        """What it selects, in words."""
        (x0, x1), (y0, y1) = self.x, self.y
        what = "centred curves" if self.centered else "curves"
        what += f" of {self.model}" if self.model else ""
        place = f"{self.feature} {_short(x0)} to {_short(x1)}, {self.output} {_short(y0)} to {_short(y1)}"
        return f"{what} through {place}" + ("" if self.exact else " among the sampled rows")


def crossing(positions: np.ndarray, curves: np.ndarray, x: tuple[float, float], y: tuple[float, float]) -> np.ndarray:
    """Return whether each curve, drawn as a polyline, touches the closed rectangle.

    Segments count, not only grid points. Between two grid points a curve is a straight line, so within the rectangle's
    x range it takes all values between those at the two ends of the overlap: it crosses unless both lie above or both below.

    Parameters
    ----------
    positions : (K,) array
        x of the grid points in drawing order; NaN (a missing level) breaks the line.
    curves : (n, K) array
        NaN where not computed: such a point breaks the line.
    x, y : (float, float)
        The rectangle.

    Returns
    -------
    (n,) bool array
    """
    x0, x1 = min(x), max(x)
    y0, y1 = min(y), max(y)
    inside_x = (positions >= x0) & (positions <= x1)
    # Grid points within the rectangle; this also covers a line of one point.
    hit: np.ndarray = np.any((curves[:, inside_x] >= y0) & (curves[:, inside_x] <= y1), axis=1)
    for k in range(len(positions) - 1):
        a, b = positions[k], positions[k + 1]
        low, high = max(min(a, b), x0), min(max(a, b), x1)
        if not low <= high:  # no overlap, or a NaN end
            continue
        left, right = curves[:, k], curves[:, k + 1]
        if a == b:
            first, last = left, right
        else:
            first = left + (right - left) * ((low - a) / (b - a))
            last = left + (right - left) * ((high - a) / (b - a))
        hit = hit | ((np.minimum(first, last) <= y1) & (np.maximum(first, last) >= y0))
    return hit


def _short(value: float) -> str:
    return f"{value:.4g}"
