"""Greenwell's measure of interaction: how much the importance of one feature changes along another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from pdp_widgets.inputs import Grid

    from .explainer import Explainer


def greenwell(
    explainer: Explainer, first: Any, second: Any, *, subgroup: Any = None, output: Any = None
) -> pd.DataFrame:
    """Return the standard deviation, along one feature, of the importance of the other, averaged over both directions.

    The importance of a feature at a fixed value of the other one is the spread of their joint partial dependence along it:
    the standard deviation (ddof 1) for numbers and dates, a quarter of the range for categories. It is blind to crossings:
    of an exclusive or it is 0, where Friedman's H is 1.

    Parameters
    ----------
    explainer : Explainer
    first, second : names
        Numbers with at most ``explainer.grid_size`` distinct values are taken at all of them, others on a grid.
    subgroup : mask, query string or object with ``.mask``, optional
    output : name, class label or position, optional
        Return this output only.

    Returns
    -------
    DataFrame
        One row per output: ``output``, ``greenwell`` (unit of the response), and the two directions.

    Notes
    -----
    Greenwell, Boehmke & McCarthy (2018), "A simple and effective model-based variable importance measure", section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> X = np.array([[a, b] for a in (1.0, 2.0, 3.0) for b in (1.0, 2.0, 3.0)])
    >>> Explainer(lambda X: X[:, 0] * X[:, 1], X).greenwell(0, 1)["greenwell"].tolist()
    [1.0]
    """
    names = [explainer.table.feature(name).name for name in (first, second)]
    pair = explainer.partial_dependence(
        tuple(names), grid_size=explainer.grid_size, subgroup=subgroup, output=output, progress=False
    )
    directions = []
    for axis in (1, 2):
        importance = _spread(pair.average, pair.grids[axis - 1], axis)
        directions.append(_spread(importance, pair.grids[2 - axis], 1))
    return pd.DataFrame(
        {
            "output": list(pair.outputs),
            "greenwell": (directions[0] + directions[1]) / 2,
            f"importance of {names[0]} along {names[1]}": directions[0],
            f"importance of {names[1]} along {names[0]}": directions[1],
        }
    )


def _spread(values: np.ndarray, grid: Grid, axis: int) -> np.ndarray:
    """Return the importance along an axis: 0 where there is one point only."""
    if grid.size < 2:
        return np.zeros(np.delete(values.shape, axis))
    if grid.kind == "category":
        return (values.max(axis=axis) - values.min(axis=axis)) / 4
    return values.std(axis=axis, ddof=1)
