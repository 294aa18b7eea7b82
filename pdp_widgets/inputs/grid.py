"""Grid points of a feature: quantiles, observed levels, or the caller's own.

Every automatic grid point is the value of some observed row. That keeps integers integers, keeps
every dtype exactly as it is, and never invents a point around a constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .columns import AxisKind, Observed, objects
from .containers import Vector, gather
from .errors import InputError

if TYPE_CHECKING:
    from .table import Feature, FeatureTable

DEFAULT_PERCENTILES = (0.05, 0.95)
MOST_LEVELS = 200
_INDEX = np.int16  # of grid points: at a million rows every byte counts


@dataclass(frozen=True)
class Grid:
    """The points at which a feature is explained."""

    feature: Feature
    kind: AxisKind
    values: np.ndarray
    """(K,) raw values; a missing level, if any, comes last."""
    positions: np.ndarray
    """(K,) float64 in the unit of ``Observed.codes``; a missing level is NaN on a number axis and
    its own index on a category axis."""
    labels: list[str]
    """K display texts."""
    missing: int
    """Index of the missing level, -1 when there is none."""
    n_infinite: int
    """Rows whose value is infinite: left out of the grid."""
    note: str
    """Why the grid is not what one might expect, else ``""``."""
    vectors: tuple[Vector, ...] = field(repr=False)
    """Per column of the feature, the K values in the column's own dtype."""
    codes: np.ndarray = field(repr=False)
    """(n,) the rows' own values, as in ``Observed.codes``."""
    own: np.ndarray = field(repr=False)
    """(n,) the grid index that equals the row's own value, -1 where none does."""
    nearest: np.ndarray = field(repr=False)
    """(n,) the index of the grid point nearest to the row's value, -1 where infinite or unknown."""

    text_kind: str = "number"
    """How conditions write its values, see ``Observed.text_kind``."""

    @property
    def size(self) -> int:
        """Return the number of grid points K."""
        return len(self.positions)

    @property
    def ordered(self) -> np.ndarray:
        """(K,) bool: points on a continuous axis (all but the missing level)."""
        keep = np.ones(self.size, dtype=bool)
        if self.missing >= 0:
            keep[self.missing] = False
        return keep

    def counts(self, rows: np.ndarray | None = None) -> np.ndarray:
        """(K,) how many rows (of all, or of those in the mask ``rows``) lie nearest each point."""
        nearest = self.nearest if rows is None else self.nearest[rows]
        return np.bincount(nearest[nearest >= 0], minlength=self.size)

    def key(self) -> tuple[Any, ...]:
        """Return what tells this grid from another one of the same feature."""
        values = tuple((type(v), v) for v in self.values) if self.kind == "category" else self.positions.tobytes()
        return (self.feature.name, self.missing, values)

    def at_positions(self, positions: np.ndarray) -> Grid:
        """Return a number or date grid at other positions, for reading only (not for the model)."""
        own, nearest = _match(Observed(self.kind, self.codes), positions, -1)
        values: np.ndarray = positions
        if self.kind == "datetime":
            values = pd.to_datetime(positions, unit="ms").to_numpy()
        elif self.kind == "timedelta":
            values = pd.to_timedelta(positions, unit="ms").to_numpy()
        labels = axis_labels(positions, self.kind)
        return replace(
            self, values=values, positions=positions, labels=labels, missing=-1, vectors=(), own=own, nearest=nearest
        )

    def take(self, codes: np.ndarray) -> dict[int, Vector]:
        """Return, per column of the feature, its values at grid indices ``codes``."""
        return {j: gather(vector, codes) for j, vector in zip(self.feature.columns, self.vectors, strict=True)}


def make_grid(
    table: FeatureTable,
    feature: Feature,
    *,
    grid_size: int = 40,
    percentiles: tuple[float, float] | None = None,
    weights: np.ndarray | None = None,
    given: Sequence[Any] | None = None,
    rows: np.ndarray | None = None,
) -> Grid:
    """Return the grid of one feature.

    Parameters
    ----------
    table : FeatureTable
    feature : Feature
    grid_size : int
        Most points of a number or date axis (of a category up to 200 levels are shown, the most frequent ones).
    percentiles : (float, float), optional
        Inner range, in shares of the rows. Default: 5 % to 95 % when there are more distinct
        values than ``grid_size``, else all observed values.
    weights : (n,) array, optional
        Row weights, used in the quantiles.
    given : sequence, optional
        The caller's own points, taken as given and in the given order.
    rows : int array, optional
        Rows whose values, of a number or date, are the points.
    """
    if given is not None:
        return _given_grid(table, feature, given)
    if percentiles is not None and not (len(percentiles) == 2 and 0 <= percentiles[0] < percentiles[1] <= 1):
        raise InputError(f"percentiles={percentiles!r}; expected two shares with 0 <= low < high <= 1")
    observed = table.observed(feature)
    codes = observed.codes
    infinite = np.isinf(codes)
    finite = ~infinite & ~np.isnan(codes)
    note = ""
    levels: np.ndarray | None = None
    if observed.kind == "category":
        levels, note = _shown_levels(observed)
        assert observed.representative is not None
        rows = observed.representative[levels]
        labels = [(observed.labels or [])[k] for k in levels]
    else:
        if rows is None:
            rows, note = _spread(codes, finite, grid_size, percentiles, weights)
        labels = axis_labels(codes[rows], observed.kind)
    if infinite.any():
        left_out = f"{int(infinite.sum())} rows with infinite values are left out of the grid"
        note = f"{note}; {left_out}" if note else left_out
    positions = np.arange(len(rows), dtype=float) if observed.kind == "category" else codes[rows]
    missing = -1
    if np.isnan(codes).any():
        missing = len(rows)
        rows = np.append(rows, np.argmax(np.isnan(codes)))
        positions = np.append(positions, missing if observed.kind == "category" else np.nan)
        labels.append("missing")
    if not len(rows):
        raise InputError(f"feature {feature.name!r} has no finite value to build a grid from")
    vectors = tuple(table.values(feature, rows))
    values = _plain(vectors[0]) if len(vectors) == 1 else objects(labels)
    return Grid(
        feature,
        observed.kind,
        values,
        positions,
        labels,
        missing,
        int(infinite.sum()),
        note,
        vectors,
        codes,
        *_match(observed, positions, missing, levels),
        observed.text_kind,
    )


def _shown_levels(observed: Observed) -> tuple[np.ndarray, str]:
    """Return the levels on the axis, all of them unless there are too many to look at (or to ask the model about)."""
    n_levels = len(observed.levels or [])
    if n_levels <= MOST_LEVELS:
        return np.arange(n_levels), ""
    counts = np.bincount(observed.codes[~observed.missing].astype(int), minlength=n_levels)
    frequent = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    return frequent, f"the {MOST_LEVELS} most frequent of {n_levels:,} levels; grid=[...] asks for others"


def _spread(
    codes: np.ndarray,
    finite: np.ndarray,
    grid_size: int,
    percentiles: tuple[float, float] | None,
    weights: np.ndarray | None,
) -> tuple[np.ndarray, str]:
    """Choose rows whose values spread over the quantiles of the finite ones."""
    rows = np.flatnonzero(finite)
    unique, first, counts = np.unique(codes[rows], return_index=True, return_counts=True)
    if not len(unique):
        return rows[:0], ""
    mass = counts
    if weights is not None:
        mass = np.bincount(np.searchsorted(unique, codes[rows]), weights[rows], minlength=len(unique))
    if percentiles is None and len(unique) <= grid_size:
        return rows[first], ""
    low, high = percentiles or DEFAULT_PERCENTILES
    share = np.cumsum(mass) / mass.sum() if mass.sum() else np.linspace(0, 1, len(mass))
    chosen = _at_quantiles(share, np.linspace(low, high, grid_size))
    inner = slice(chosen[0], chosen[-1] + 1)
    if len(unique[inner]) <= grid_size and percentiles is not None:
        return rows[first[inner]], ""
    note = ""
    if len(chosen) < grid_size / 2:
        # Most of the mass sits on few values (96 % zeros): spread over the distinct values instead.
        even = (np.arange(len(unique)) + 1) / len(unique)
        chosen = _at_quantiles(even, np.linspace(0, 1, grid_size))
        note = "many rows share few values: the grid is spread over the distinct values instead"
    return rows[first[chosen]], note


def _at_quantiles(share: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the unique indices at which the cumulated share first reaches each wanted one."""
    index = np.searchsorted(share, wanted - 1e-12)
    return np.unique(np.minimum(index, len(share) - 1))


def _given_grid(table: FeatureTable, feature: Feature, given: Sequence[Any]) -> Grid:
    """Take the caller's points as they are, in their order, in the column's dtype."""
    if isinstance(given, (str, bytes, Mapping)) or np.ndim(given) == 0:
        raise InputError(f"grid={given!r} for {feature.name!r}; expected a list of values")
    points = list(given)
    if not points:
        raise InputError(f"the grid given for {feature.name!r} is empty")
    observed = table.observed(feature)
    if feature.kind == "group":
        return _given_levels(table, feature, observed, points)
    gone = np.array([_is_missing(p) for p in points])
    note = ""
    if feature.kind == "integer":
        whole = list(dict.fromkeys(None if gone[k] else _whole(p) for k, p in enumerate(points)))
        if whole != points:
            note = "the given points were rounded to the whole numbers this column holds"
        points = whole
        gone = np.array([p is None for p in points])
    held = points
    if observed.kind != "category":
        try:
            held = [p if gone[k] else _as_axis_value(p, observed) for k, p in enumerate(points)]
        except (TypeError, ValueError) as error:
            raise InputError(
                f"the grid given for {feature.name!r} has a value that is no {observed.kind}: {error}"
            ) from error
    # Dates in an object column stay what the caller gave; a date column takes texts, too.
    vector = table.convert(
        feature, held if feature.kind in ("datetime", "timedelta") and not table.is_object(feature) else points
    )
    if gone.sum() > 1:
        raise InputError(f"the grid given for {feature.name!r} holds more than one missing value")
    missing = int(np.argmax(gone)) if gone.any() else -1
    infinite = int(np.isinf(observed.codes).sum())
    if observed.kind == "category":
        positions = np.arange(len(points), dtype=float)
        labels = ["missing" if gone[k] else str(p) for k, p in enumerate(points)]
        index = {_as_level(level): k for k, level in enumerate(points) if not gone[k]}
        to_grid = np.array([index.get(_as_level(level), -1) for level in observed.levels or []], dtype=int)
        own = _own_category(observed, to_grid, missing)
        return Grid(
            feature,
            "category",
            _plain(vector),
            positions,
            labels,
            missing,
            infinite,
            note,
            (vector,),
            observed.codes,
            own,
            own,
        )
    positions = np.array([np.nan if gone[k] else _position(p) for k, p in enumerate(held)], dtype=float)
    if observed.precision is not None:
        positions = positions.astype(observed.precision).astype(float)
    labels = axis_labels(positions, observed.kind)
    if missing >= 0:
        labels[missing] = "missing"
    return Grid(
        feature, observed.kind, _plain(vector), positions, labels, missing, infinite, note, (vector,),
        observed.codes, *_match(observed, positions, missing),
    )  # fmt: skip


def _as_level(value: Any) -> tuple[type, Any]:
    """Return a level so that 1, True and "1" are kept apart, but numpy's True is Python's."""
    value = value.item() if isinstance(value, np.generic) else value
    return type(value), value


def _given_levels(table: FeatureTable, feature: Feature, observed: Observed, points: list[Any]) -> Grid:
    """Take levels of a one-hot group by name (short label or member column)."""
    labels = list(observed.labels or [])
    assert observed.representative is not None
    called = table.group_names(feature) | {label: label for label in labels}
    unknown = [point for point in points if called.get(point) not in labels]
    if unknown:
        raise InputError(
            f"the grid given for group {feature.name!r} has {unknown[0]!r}; its observed levels are "
            f"{', '.join(map(repr, labels))}"
        )
    chosen = [called[point] for point in points]
    index = np.array([labels.index(label) for label in chosen])
    to_grid = np.full(len(labels), -1)
    to_grid[index] = np.arange(len(index))
    own = _own_category(observed, to_grid, -1)
    return Grid(
        feature, "category", objects(chosen), np.arange(len(index), dtype=float), chosen, -1, 0, "",
        tuple(table.values(feature, observed.representative[index])), observed.codes, own, own,
    )  # fmt: skip


def _match(
    observed: Observed, positions: np.ndarray, missing: int, levels: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return, per row, the grid index equal to its value and the one nearest to it."""
    codes = observed.codes
    if levels is not None:
        to_grid = np.full(len(observed.levels or []), -1)
        to_grid[levels] = np.arange(len(levels))
        own = _own_category(observed, to_grid, missing)
        return own, own
    order = np.argsort(positions)  # NaN sorts last
    points = positions[order]
    points = points[~np.isnan(points)]
    own = np.full(len(codes), -1, dtype=_INDEX)
    nearest = np.full(len(codes), -1, dtype=_INDEX)
    finite = np.isfinite(codes)
    if len(points):
        at = np.searchsorted(points, codes[finite])
        right = np.minimum(at, len(points) - 1)
        left = np.maximum(at - 1, 0)
        x = codes[finite]
        close = np.where(np.abs(x - points[left]) <= np.abs(points[right] - x), left, right)
        nearest[finite] = order[close]
        equal = points[right] == x
        own[finite] = np.where(equal, order[right], -1)
    if missing >= 0:
        gone = np.isnan(codes)
        own[gone] = nearest[gone] = missing
    return own, nearest


def _own_category(observed: Observed, to_grid: np.ndarray, missing: int) -> np.ndarray:
    own = np.full(len(observed.codes), missing, dtype=_INDEX)
    present = ~observed.missing
    own[present] = to_grid[observed.codes[present].astype(int)]
    return own


def _as_axis_value(point: Any, observed: Observed) -> Any:
    """Read a given point as a number, or as a date of the column's time zone."""
    if observed.kind == "number":
        return float(point)
    if observed.kind == "timedelta":
        return pd.Timedelta(point)
    stamp = pd.Timestamp(point)
    return stamp.tz_localize(observed.timezone) if stamp.tzinfo is None and observed.timezone is not None else stamp


def _position(value: Any) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, pd.Timestamp) and value.tzinfo is not None:
        value = value.tz_convert("UTC").tz_localize(None)
    return float(value.as_unit("ns").value / 1e6)


def _whole(point: Any) -> Any:
    """Round a number for an integer column; leave everything else to the conversion."""
    if _is_missing(point) or isinstance(point, str):
        return point
    try:
        return int(np.rint(float(point)))
    except (TypeError, ValueError, OverflowError):
        return point


def _is_missing(value: Any) -> bool:
    gone = pd.isna(value)
    return bool(gone) if isinstance(gone, (bool, np.bool_)) else False


def axis_labels(positions: np.ndarray, kind: AxisKind) -> list[str]:
    """Return short texts that tell neighbouring grid points apart."""
    if kind == "datetime":
        stamps = pd.to_datetime(np.where(np.isnan(positions), 0, positions), unit="ms")
        whole_days = bool((stamps == stamps.normalize()).all())
        return [stamp.strftime("%Y-%m-%d" if whole_days else "%Y-%m-%d %H:%M:%S") for stamp in stamps]
    if kind == "timedelta":
        return [str(pd.Timedelta(0 if np.isnan(p) else p, unit="ms")) for p in positions]
    for digits in range(3, 18):
        labels = [f"{p:.{digits}g}" for p in positions]
        if len(set(labels)) == len(set(positions.tolist())):
            break
    return labels


def _plain(vector: Vector) -> np.ndarray:
    """Return a vector as the numpy array users see in ``grid_values``."""
    if isinstance(vector, np.ndarray):
        return vector
    if isinstance(vector, pd.Categorical) or pd.api.types.is_string_dtype(getattr(vector, "dtype", None)):
        return np.asarray(vector, dtype=object)
    return np.asarray(vector)
