"""Several partial dependence curves on one grid, side by side: of groups of rows, or of several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import find_output
from pdp_widgets.inputs.conditions import is_missing, same
from pdp_widgets.inputs.errors import unknown_name
from pdp_widgets.tabular import Tabular

from .results import in_words

if TYPE_CHECKING:
    from pdp_widgets.inputs import Grid

    from .results import PartialDependence


@dataclass(frozen=True)
class Aligned(Tabular, Drawable):
    """Partial dependence curves with one grid and the same outputs."""

    dependences: tuple[PartialDependence, ...] = field(repr=False)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """Return the grid that all curves share, two for a pair of features."""
        return self.dependences[0].grids

    @property
    def features(self) -> tuple[str, ...]:
        """Return the name of the feature, or the two names of the pair."""
        return self.dependences[0].features

    @property
    def grid_values(self) -> list[np.ndarray]:
        """Return one array of grid values per feature."""
        return self.dependences[0].grid_values

    @property
    def average(self) -> np.ndarray:
        """(curves, n_outputs, K) or (curves, n_outputs, K1, K2), on the response scale."""
        return np.stack([one.average for one in self.dependences])

    @property
    def stderr(self) -> np.ndarray:
        """Same shape: standard error of ``average`` as an estimate for all rows of the curve; 0 when all are in."""
        return np.stack([one.stderr for one in self.dependences])

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the names of the outputs."""
        return self.dependences[0].outputs

    @property
    def labels(self) -> tuple[Any, ...]:
        """Return the class labels of the outputs, empty when they are no classes."""
        return self.dependences[0].labels

    @property
    def scale(self) -> str:
        """Return the response scale, which all curves share."""
        return self.dependences[0].scale

    @property
    def complete(self) -> bool:
        """Return whether all rows are in."""
        return all(one.complete for one in self.dependences)

    @property
    def weighted(self) -> bool:
        """Return whether row weights are in use."""
        return self.dependences[0].weighted

    @property
    def method(self) -> str:
        """Return how the numbers were obtained."""
        return "; ".join(dict.fromkeys(one.method for one in self.dependences))

    def output(self, name: Any) -> Self:
        """Return the result of one output only, by name, class label or position."""
        only = self.outputs[find_output(name, self.outputs, self.labels)]
        return replace(self, dependences=tuple(one.output(only) for one in self.dependences))

    def _frame(self, column: str, names: Sequence[str], **others: Sequence[Any]) -> pd.DataFrame:
        """Return the frames of the curves below each other, each with its name."""
        parts = []
        for at, (name, one) in enumerate(zip(names, self.dependences, strict=True)):
            part = one.to_frame()
            for place, (title, value) in enumerate([(column, name), *((k, v[at]) for k, v in others.items())]):
                while title in self.features:
                    title += "_"  # noqa: PLW2901
                part.insert(place + 1, title, value)
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def _parts(self, subgroup: str | None) -> list[str]:
        """Return what the text of a result says last."""
        omitted = max(one.rows_omitted for one in self.dependences)
        parts = [" x ".join(str(grid.size) for grid in self.grids) + " grid points"]
        if subgroup is not None:
            parts.append(f"subgroup {subgroup}")
        if self.weighted:
            parts.append("weighted")
        if omitted:
            parts.append(f"up to {omitted} rows per curve without a finite prediction omitted")
        return parts


@dataclass(frozen=True)
class GroupedDependence(Aligned):
    """One partial dependence curve for the rows of each level of another feature."""

    by: str
    """The feature that divides the rows."""
    levels: tuple[str, ...]
    """Names of the levels that have rows."""
    values: tuple[Any, ...] = field(repr=False)
    """Per level its raw value; of a range its two bounds, dates and durations in ms; None where the value is missing."""
    conditions: tuple[str, ...] = field(repr=False)
    """Per level what its rows have in common, as the argument ``subgroup`` takes it."""
    empty: tuple[str, ...]
    """Levels that were asked for and have no rows."""
    rows_left_out: int
    """Rows of the subgroup that belong to no level here."""
    subgroup: str | None
    """The subgroup in words that was divided, None for all rows."""
    note: str
    """Why there are not all levels, else ``""``."""

    @property
    def n(self) -> np.ndarray:
        """(levels,) how many rows each curve is the average of."""
        return np.array([len(one.rows) for one in self.dependences])

    @property
    def rows_done(self) -> int:
        """Return how many rows are averaged over (or were omitted), of all levels together."""
        return sum(one.rows_done for one in self.dependences)

    @property
    def rows_total(self) -> int:
        """Return how many rows the levels have in all."""
        return sum(one.rows_total for one in self.dependences)

    def level(self, name: Any) -> PartialDependence:
        """Return the curve of one level, by its name or raw value (None for a missing one).

        Raises
        ------
        InputError
            When there is no such level.
        """
        if isinstance(name, str) and name in self.levels:
            return self.dependences[self.levels.index(name)]
        for value, one in zip(self.values, self.dependences, strict=True):
            if is_missing(value) if is_missing(name) else same(value, name):
                return one
        raise unknown_name("level", name, self.levels, f"a level of {self.by!r} here")

    def to_frame(self) -> pd.DataFrame:
        """Return one tidy row per level, output and grid cell.

        Columns: ``output``, ``level``, ``n`` rows of the level, the value under the feature's name, ``average``, ``stderr``,
        and ``n_nearest`` rows of the level nearest to the grid point (one feature only).
        """
        return self._frame("level", self.levels, n=self.n.tolist())

    def __repr__(self) -> str:
        """Say what it is, on how many rows and on which scale."""
        names = " x ".join(repr(name) for name in self.features)
        shown = ", ".join(f"{name}: {n}" for name, n in zip(self.levels[:6], self.n.tolist(), strict=False))
        parts = [
            in_words(self.scale, self.outputs),
            f"{len(self.levels)} levels with rows {shown}" + (", ..." if len(self.levels) > 6 else ""),
            f"{self.rows_done} of {self.rows_total} rows",
        ]
        if self.rows_left_out:
            parts.append(f"{self.rows_left_out} rows of other levels left out")
        if self.empty:
            parts.append(f"no rows: {', '.join(self.empty[:6])}" + (", ..." if len(self.empty) > 6 else ""))
        return f"<GroupedDependence on {names} by {self.by!r}: {'; '.join([*parts, *self._parts(self.subgroup)])}>"


@dataclass(frozen=True)
class Difference:
    """Where two models lie furthest apart."""

    output: str
    models: tuple[str, str]
    """The one with the larger average first."""
    average: tuple[float, float]
    """Their averages there."""
    at: tuple[Any, ...]
    """The grid value, two for a pair of features."""

    @property
    def size(self) -> float:
        """Return the difference of the averages, in the unit of the response."""
        return self.average[0] - self.average[1]


@dataclass(frozen=True)
class Comparison(Aligned):
    """The partial dependence of several models on one feature, or a pair, averaged over the same rows."""

    models: tuple[str, ...]
    """Names of the models."""
    unshared: dict[str, tuple[str, ...]]
    """Per model its outputs that not all models have, and that are left out here."""
    subgroup: str | None
    """The subgroup in words, None for all rows."""

    @property
    def rows_done(self) -> int:
        """Return how many rows are in for every model."""
        return min(one.rows_done for one in self.dependences)

    @property
    def rows_total(self) -> int:
        """Return how many rows there are."""
        return self.dependences[0].rows_total

    def model(self, name: str) -> PartialDependence:
        """Return the curve of one model.

        Raises
        ------
        InputError
            When there is no such model.
        """
        if name not in self.models:
            raise unknown_name("model", name, self.models, "a model compared here")
        return self.dependences[self.models.index(name)]

    @property
    def largest_differences(self) -> tuple[Difference, ...]:
        """Return per output where any two of the models lie furthest apart on the grid."""
        average = self.average.reshape(len(self.models), len(self.outputs), -1)
        shape = tuple(grid.size for grid in self.grids)
        found = []
        for k, output in enumerate(self.outputs):
            gaps = np.nan_to_num(np.ptp(average[:, k], axis=0), nan=-1.0)
            cell = int(gaps.argmax())
            high, low = int(average[:, k, cell].argmax()), int(average[:, k, cell].argmin())
            if high == low:  # all equal
                low = (high + 1) % len(self.models)
            values = (float(average[high, k, cell]), float(average[low, k, cell]))
            at = tuple(
                grid.values[index] for grid, index in zip(self.grids, np.unravel_index(cell, shape), strict=True)
            )
            found.append(Difference(output, (self.models[high], self.models[low]), values, at))
        return tuple(found)

    def to_frame(self) -> pd.DataFrame:
        """Return one tidy row per model, output and grid cell.

        Columns: ``output``, ``model``, the value under the feature's name, ``average``, ``stderr``, and ``n_nearest`` rows nearest
        to the grid point (one feature only).
        """
        return self._frame("model", self.models)

    def __repr__(self) -> str:
        """Say what it is, on how many rows and on which scale."""
        names = " x ".join(repr(name) for name in self.features)
        parts = [
            in_words(self.scale, self.outputs),
            ", ".join(self.models[:6]) + (", ..." if len(self.models) > 6 else ""),
            f"{self.rows_done} of {self.rows_total} rows",
            *self._parts(self.subgroup),
        ]
        parts += [f"not shared: {', '.join(some)} of {name}" for name, some in self.unshared.items() if some]
        return f"<Comparison of {len(self.models)} models on {names}: {'; '.join(parts)}>"
