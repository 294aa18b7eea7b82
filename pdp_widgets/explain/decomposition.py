"""Decomposition: a joint effect of two features as constant, two main effects and their interaction.

The textbook's table ("150,000, + 100,000 for size, + 50,000 for location, + 100,000 for both") and the surfaces behind a heat map of the
pure interaction (Friedman & Popescu 2008; Molnar, "Feature interaction").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pdp_widgets.inputs import Grid, InputError

from .explanation import Explanation, context

if TYPE_CHECKING:
    from .explainer import Explainer


@dataclass(frozen=True)
class Decomposition(Explanation):
    """``joint = constant + first + second + interaction`` at every grid cell, exactly."""

    grids: tuple[Grid, Grid]
    constant: np.ndarray
    """(n_outputs,) the average prediction, or the joint effect at the reference cell."""
    first: np.ndarray
    """(n_outputs, K1) effect of the first feature."""
    second: np.ndarray
    """(n_outputs, K2) effect of the second feature."""
    interaction: np.ndarray
    """(n_outputs, K1, K2) what the two main effects leave: the pure interaction."""
    reference: tuple[Any, Any] | None
    """The two values whose effects are zero; None when effects are centred over the data."""

    _by_output: ClassVar[tuple[str, ...]] = ("constant", "first", "second", "interaction")

    @property
    def joint(self) -> np.ndarray:
        """(n_outputs, K1, K2) partial dependence of the pair."""
        return self.constant[:, None, None] + self.first[:, :, None] + self.second[:, None, :] + self.interaction

    @property
    def features(self) -> tuple[str, str]:
        """Return the names of the two features."""
        first, second = self.grids
        return first.feature.name, second.feature.name

    @property
    def grid_values(self) -> list[np.ndarray]:
        """Return the grid values of both features."""
        return [grid.values for grid in self.grids]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output and cell: both values, constant, the two effects, their interaction, and the sum."""
        (k1, k2), n_outputs = (grid.size for grid in self.grids), len(self.outputs)
        i, j = (axis.ravel() for axis in np.indices((k1, k2)))
        taken = set(self.features)
        first, second = (f"effect of {name}" for name in self.features)
        columns: dict[str, Any] = {
            "output": np.repeat(np.array(self.outputs, dtype=object), k1 * k2),
            self.features[0]: pd.Series(self.grids[0].values).iloc[np.tile(i, n_outputs)].reset_index(drop=True),
            self.features[1]: pd.Series(self.grids[1].values).iloc[np.tile(j, n_outputs)].reset_index(drop=True),
        }
        numbers = {
            "constant": np.repeat(self.constant, k1 * k2),
            first: self.first[:, i].ravel(),
            second: self.second[:, j].ravel(),
            "interaction": self.interaction.reshape(-1),
            "joint": self.joint.reshape(-1),
        }
        return pd.DataFrame(
            columns | {f"{name}_" if name in taken else name: values for name, values in numbers.items()}
        )

    def __repr__(self) -> str:
        """Say what is decomposed and from where effects are counted."""
        names = " x ".join(repr(name) for name in self.features)
        start = "centred over the data" if self.reference is None else f"counted from {self.reference!r}"
        return f"<Decomposition of {names}: {'; '.join([self.scale, f'effects {start}', *self.rows_in_words])}>"


def decompose(
    explainer: Explainer,
    first: Any,
    second: Any,
    *,
    reference: Any = None,
    grid: Any = None,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
) -> Decomposition:
    """Return the joint effect of two features as constant, main effects and interaction.

    Parameters
    ----------
    explainer : Explainer
    first, second : names
    reference : mapping of name to value, or "first", optional
        Count effects from these two grid values ("first": from the first one of each): the constant is the joint effect there,
        both main effects are zero there. By default the constant is the average prediction and the effects are the partial
        dependence functions less that average, so that the interaction is what Friedman's H measures.
    grid, subgroup, output, progress
        As for ``Explainer.partial_dependence``.

    Returns
    -------
    Decomposition

    Raises
    ------
    InputError
        As ``Explainer.partial_dependence``, and for a reference that is no grid value.

    Examples
    --------
    >>> import pandas as pd
    >>> from pdp_widgets import Explainer
    >>> X = pd.DataFrame({"location": ["good", "good", "bad", "bad"], "size": ["big", "small", "big", "small"]})
    >>> def price(X):
    ...     good, big = X["location"] == "good", X["size"] == "big"
    ...     return 150_000 + 50_000 * good + 100_000 * big + 100_000 * (good & big)
    >>> parts = Explainer(price, X).decompose("location", "size", reference={"location": "bad", "size": "small"})
    >>> parts.constant, parts.first, parts.second
    (array([150000.]), array([[    0., 50000.]]), array([[100000.,      0.]]))
    >>> parts.to_frame()[["location", "size", "interaction", "joint"]]
      location   size  interaction     joint
    0      bad    big          0.0  250000.0
    1      bad  small          0.0  150000.0
    2     good    big     100000.0  400000.0
    3     good  small          0.0  200000.0
    """
    pair = explainer.partial_dependence((first, second), grid=grid, subgroup=subgroup, progress=progress)
    grids = (pair.grids[0], pair.grids[1])
    joint = pair.average
    if reference is None:
        singles = [
            explainer.partial_dependence(one.feature.name, grid=one, subgroup=subgroup, progress=progress).average
            for one in grids
        ]
        constant = _mean_prediction(explainer, pair.rows)
        along, across = (single - constant[:, None] for single in singles)
        chosen = None
    else:
        i, j = (_reference(one, reference) for one in grids)
        constant = joint[:, i, j]
        along, across = joint[:, :, j] - constant[:, None], joint[:, i, :] - constant[:, None]
        chosen = (grids[0].values[i], grids[1].values[j])
    interaction = joint - constant[:, None, None] - along[:, :, None] - across[:, None, :]
    found = Decomposition(
        grids, constant, along, across, interaction, chosen, method=pair.method, **context(explainer, pair.subgroup)
    )
    return found if output is None else found.output(output)


def _mean_prediction(explainer: Explainer, rows: np.ndarray) -> np.ndarray:
    """(n_outputs,) the average of the rows' own predictions."""
    base = explainer.base()
    while not np.isfinite(base.predictions[:, rows]).all() and not base.complete:
        base.advance()
    weights = None if explainer.weights is None else explainer.weights[rows]
    return np.average(base.predictions[:, rows], axis=1, weights=weights)


def _reference(grid: Grid, reference: Any) -> int:
    """Return the grid index that effects are counted from."""
    name = grid.feature.name
    if isinstance(reference, str) and reference == "first":
        return 0
    if not isinstance(reference, Mapping) or name not in reference:
        raise InputError(f"reference={reference!r}; expected 'first', or a mapping with a grid value of {name!r}")
    for k, value in enumerate(grid.values.tolist()):
        if value == reference[name]:
            return k
    shown = ", ".join(map(repr, grid.values[:6].tolist())) + (", ..." if grid.size > 6 else "")
    raise InputError(f"reference {reference[name]!r} is no grid value of {name!r}; these are {shown}")
