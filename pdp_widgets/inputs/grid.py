"""Grid points of a feature: quantiles, observed levels, or the caller's own.

Every automatic grid point is the value of some observed row. That keeps integers integers, keeps
every dtype exactly as it is, and never invents a point around a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .columns import AxisKind, Observed
from .containers import Vector, gather
from .errors import InputError

if TYPE_CHECKING:
    from .table import Feature, FeatureTable

DEFAULT_PERCENTILES = (0.05, 0.95)


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
    """(n,) the rows' own values in the unit of ``positions``."""
    own: np.ndarray = field(repr=False)
    """(n,) the grid index that equals the row's own value, -1 where none does."""
    nearest: np.ndarray = field(repr=False)
    """(n,) the index of the grid point nearest to the row's value, -1 where infinite or unknown."""

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
        return (self.feature.name, self.size, self.missing, tuple(self.labels), self.positions.tobytes())

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
            self, values=values, positions=positions, labels=labels, missing=-1, vectors=(),
            own=own, nearest=nearest,
        )  # fmt: skip

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
) -> Grid:
    """Return the grid of one feature.

    Parameters
    ----------
    table : FeatureTable
    feature : Feature
    grid_size : int
        Most points of a number or date axis (levels of a category are never cut).
    percentiles : (float, float), optional
        Inner range, in shares of the rows. Default: 5 % to 95 % when there are more distinct
        values than ``grid_size``, else all observed values.
    weights : (n,) array, optional
        Row weights, used in the quantiles.
    given : sequence, optional
        The caller's own points, taken as given and in the given order.
    """
    if given is not None:
        return _given_grid(table, feature, given)
    observed = table.observed(feature)
    codes = observed.codes
    infinite = np.isinf(codes)
    finite = ~infinite & ~np.isnan(codes)
    note = ""
    if observed.kind == "category":
        assert observed.representative is not None
        rows = observed.representative
        labels = list(observed.labels or [])
    else:
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
    values = _plain(vectors[0]) if len(vectors) == 1 else _objects(labels)
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
        *_match(observed, positions, missing),
    )


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
    if not 0 <= low < high <= 1:
        raise InputError(f"percentiles={percentiles}; expected two shares with 0 <= low < high <= 1")
    share = np.cumsum(mass) / mass.sum()
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
    if isinstance(given, str) or np.ndim(np.empty(0) if given is None else _objects(given)) != 1:
        raise InputError(f"grid={given!r} for {feature.name!r}; expected a list of values")
    points = list(given)
    if not points:
        raise InputError(f"the grid given for {feature.name!r} is empty")
    observed = table.observed(feature)
    if feature.kind == "group":
        return _given_levels(table, feature, observed, points)
    note = ""
    if feature.kind == "integer":
        whole = list(dict.fromkeys(_whole(p) for p in points))
        if whole != points:
            note = "the given points were rounded to the whole numbers this column holds"
        points = whole
    elif observed.kind == "datetime":
        points = [p if _is_missing(p) else pd.Timestamp(p) for p in points]
    elif observed.kind == "timedelta":
        points = [p if _is_missing(p) else pd.Timedelta(p) for p in points]
    vector = table.convert(feature, points)
    gone = np.array([_is_missing(p) for p in points])
    if gone.sum() > 1:
        raise InputError(f"the grid given for {feature.name!r} holds more than one missing value")
    missing = int(np.argmax(gone)) if gone.any() else -1
    infinite = int(np.isinf(observed.codes).sum())
    if observed.kind == "category":
        positions = np.arange(len(points), dtype=float)
        labels = ["missing" if gone[k] else str(p) for k, p in enumerate(points)]
        index = {level: k for k, level in enumerate(points) if not gone[k]}
        to_grid = np.array([index.get(level, -1) for level in observed.levels or []], dtype=int)
        own = _own_category(observed, to_grid, missing)
        return Grid(
            feature, "category", _plain(vector), positions, labels, missing, infinite, note,
            (vector,), observed.codes, own, own,
        )  # fmt: skip
    positions = _positions(points, gone, observed.kind)
    labels = axis_labels(positions, observed.kind)
    if missing >= 0:
        labels[missing] = "missing"
    return Grid(
        feature, observed.kind, _plain(vector), positions, labels, missing, infinite, note,
        (vector,), observed.codes, *_match(observed, positions, missing),
    )  # fmt: skip


def _given_levels(table: FeatureTable, feature: Feature, observed: Observed, points: list[Any]) -> Grid:
    """Take levels of a one-hot group by name (short label or member column)."""
    labels = list(observed.labels or [])
    names = table.column_names
    assert observed.representative is not None
    index = []
    for point in points:
        full = [
            k for k, label in enumerate(labels)
            if point == label or any(names[j] == point and names[j].endswith(label) for j in feature.columns)
        ]  # fmt: skip
        if not full:
            raise InputError(
                f"the grid given for group {feature.name!r} has {point!r}; its observed levels are "
                f"{', '.join(map(repr, labels))}"
            )
        index.append(full[0])
    to_grid = np.full(len(labels), -1)
    to_grid[index] = np.arange(len(index))
    own = _own_category(observed, to_grid, -1)
    chosen = [labels[k] for k in index]
    return Grid(
        feature, "category", _objects(chosen), np.arange(len(index), dtype=float), chosen, -1, 0, "",
        tuple(table.values(feature, observed.representative[index])), observed.codes, own, own,
    )  # fmt: skip


def _match(observed: Observed, positions: np.ndarray, missing: int) -> tuple[np.ndarray, np.ndarray]:
    """Return, per row, the grid index equal to its value and the one nearest to it."""
    codes = observed.codes
    if observed.kind == "category":
        own = np.where(np.isnan(codes), missing, codes).astype(np.int32)
        return own, own
    order = np.argsort(positions)  # NaN sorts last
    points = positions[order]
    points = points[~np.isnan(points)]
    own = np.full(len(codes), -1, dtype=np.int32)
    nearest = np.full(len(codes), -1, dtype=np.int32)
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
    own = np.full(len(observed.codes), missing, dtype=np.int32)
    present = ~observed.missing
    own[present] = to_grid[observed.codes[present].astype(int)]
    return own


def _positions(points: list[Any], gone: np.ndarray, kind: AxisKind) -> np.ndarray:
    out = np.full(len(points), np.nan)
    for k, point in enumerate(points):
        if gone[k]:
            continue
        if kind == "number":
            out[k] = float(point)
        elif kind == "datetime":
            stamp = point.tz_convert("UTC").tz_localize(None) if point.tzinfo else point
            out[k] = stamp.as_unit("ns").value / 1e6
        else:
            out[k] = point.as_unit("ns").value / 1e6
    return out


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


def _objects(items: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(items), dtype=object)
    out[:] = list(items)
    return out
