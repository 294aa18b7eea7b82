"""The grids of an explainer: which features are meant, and at which points each is explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import Feature, FeatureTable, Grid, InputError, make_grid
from pdp_widgets.trees.ensemble import UnreadableError

if TYPE_CHECKING:
    from .method import Method

PAIR_GRID_SIZE = 20
MOST_STEPS = 500


class Grids:
    """Grids of features, made once.

    Parameters
    ----------
    table : FeatureTable
    weights : (n,) array or None
    method : Method
        Knows the steps of a sum of trees.
    grid_size : int
    percentiles : (float, float) or None
    """

    def __init__(
        self, table: FeatureTable, weights: np.ndarray | None, method: Method, grid_size: Any, percentiles: Any
    ) -> None:
        self._table, self._weights, self._method = table, weights, method
        self.size = at_least("grid_size", grid_size, 2)
        self.percentiles = shares(percentiles)
        self._made: dict[tuple[Any, ...], Grid] = {}

    def features(self, features: Any) -> list[Feature]:
        """Read a feature or a pair; a tuple may also be a column label.

        Raises
        ------
        InputError
            For an unknown feature, more than two, or two that share columns.
        """
        if isinstance(features, (list, tuple)):
            if isinstance(features, tuple):
                try:
                    return [self._table.feature(features)]
                except InputError:
                    pass
            if len(features) == 1:
                return [self._table.feature(features[0])]
            if len(features) != 2:
                raise InputError(f"features={features!r}; expected one feature or a pair")
            pair = [self._table.feature(name) for name in features]
            if set(pair[0].columns) & set(pair[1].columns):
                raise InputError(f"features={features!r}; a pair needs two different features")
            return pair
        return [self._table.feature(features)]

    def grid(self, feature: Feature, points: Any, size: int | None, percentiles: Any) -> Grid:
        """Return the grid of one feature; ``points`` are a grid, the caller's own values, or "steps"."""
        if isinstance(points, Grid):
            return points
        inner = self.percentiles if percentiles is None else shares(percentiles)
        size = at_least("grid_size", size or self.size, 2)
        if isinstance(points, str) and points == "steps":
            return self._steps(feature)
        if points is not None:
            return make_grid(self._table, feature, given=points)
        key = (feature.name, size, inner)
        if key not in self._made:
            self._made[key] = make_grid(self._table, feature, grid_size=size, percentiles=inner, weights=self._weights)
        return self._made[key]

    def pair(self, pair: list[Feature], points: Any, size: int | None, percentiles: Any) -> tuple[Grid, ...]:
        """Return the grids of a pair; ``points`` are a mapping, two sequences, or "steps"."""
        if points is None or (isinstance(points, str) and points == "steps"):
            own: list[Any] = [points, points]
        elif isinstance(points, Mapping):
            by_name = {self._table.feature(name).name: some for name, some in points.items()}
            own = [by_name.get(feature.name) for feature in pair]
        elif isinstance(points, (list, tuple)) and len(points) == 2:
            own = list(points)
        else:
            raise InputError("grid of a pair: expected a mapping of name to points, or two sequences")
        size = min(PAIR_GRID_SIZE, self.size) if size is None else size
        return tuple(self.grid(feature, some, size, percentiles) for feature, some in zip(pair, own, strict=True))

    def _steps(self, feature: Feature) -> Grid:
        sums = self._method.require("grid='steps'")
        if feature.axis == "category":
            return self.grid(feature, None, None, None)
        try:
            rows = sums.points.steps(feature)
        except UnreadableError as error:
            raise InputError(f"grid='steps' cannot be had of {feature.name!r}: {error}") from error
        if len(rows) > MOST_STEPS:
            raise InputError(
                f"{feature.name!r} has {len(rows):,} steps, more than the {MOST_STEPS} that are computed; "
                "use grid_size, or your own grid"
            )
        return make_grid(self._table, feature, rows=rows)


def at_least(name: str, value: Any, least: int) -> int:
    """Return a whole number, or say what was given instead."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name}={value!r}; expected a whole number, {least} or more")
    return int(value)


def shares(percentiles: Any) -> tuple[float, float] | None:
    """Return a range of percentiles, or say what was given instead."""
    if percentiles is None:
        return None
    try:
        low, high = percentiles
    except (TypeError, ValueError) as error:
        raise InputError(f"percentiles={percentiles!r}; expected two shares, such as (0.05, 0.95)") from error
    return low, high
