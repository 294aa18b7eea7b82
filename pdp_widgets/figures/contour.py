"""Contour lines of a surface over an irregular grid, by marching squares; a saddle's middle says which of its corners belong together."""

from __future__ import annotations

import numpy as np

__all__ = ["contour"]


def contour(x: np.ndarray, y: np.ndarray, values: np.ndarray, level: float) -> np.ndarray:
    """Return the segments of the line on which a surface, straight along each edge of the grid, has some value.

    Parameters
    ----------
    x : (Kx,) array
    y : (Ky,) array
    values : (Kx, Ky) array
        A square with an unknown corner has no line.
    level : float

    Returns
    -------
    (m, 4) array
        x0, y0, x1, y1 of each.

    Examples
    --------
    >>> contour(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([[0.0, 0.0], [1.0, 1.0]]), 0.25)
    array([[0.25, 0.  , 0.25, 1.  ]])
    """
    found = []
    for i in range(len(x) - 1):
        for j in range(len(y) - 1):
            # Corners in turn, so that side s joins corner s and the next one.
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            z = [float(values[corner]) for corner in corners]
            high = [v >= level for v in z]
            if all(high) or not any(high) or not np.isfinite(z).all():
                continue
            cut = []
            for side in range(4):
                following = (side + 1) % 4
                if high[side] == high[following]:
                    continue
                share = (level - z[side]) / (z[following] - z[side])
                (ia, ja), (ib, jb) = corners[side], corners[following]
                cut.append((x[ia] + share * (x[ib] - x[ia]), y[ja] + share * (y[jb] - y[ja])))
            if len(cut) == 4 and (sum(z) / 4 >= level) != high[0]:
                cut = [cut[3], cut[0], cut[1], cut[2]]
            found += [(*a, *b) for a, b in zip(cut[::2], cut[1::2], strict=True)]
    return np.array(found, dtype=float).reshape(-1, 4)
