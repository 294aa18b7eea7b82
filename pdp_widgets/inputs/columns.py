"""What a column of X holds: its kind, and its values as numbers on an axis.

It reads columns and knows nothing of features, grids or models.
"""

from __future__ import annotations

import decimal
import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from .errors import InputError

Kind = Literal["number", "integer", "bool", "category", "datetime", "timedelta", "group", "set"]
AxisKind = Literal["number", "datetime", "timedelta", "category"]

MILLISECOND = 1_000_000  # ns


@dataclass(frozen=True)
class Observed:
    """A feature's own values at the rows of the table."""

    kind: AxisKind
    codes: np.ndarray
    """(n,) float64: numbers as they are, dates and durations in ms, categories as index into
    ``levels``; NaN where missing."""
    levels: list[Any] | None = None
    """Observed levels in display order (categories only)."""
    labels: list[str] | None = None
    representative: np.ndarray | None = field(default=None, repr=False)
    """One row position per level (categories only)."""
    timezone: Any | None = None
    """Time zone of the dates, None for naive ones; ``codes`` are UTC."""
    precision: np.dtype | None = None
    """The column's own float type where it is shorter than float64: 0.1 means its nearest value there."""

    @property
    def text_kind(self) -> str:
        """How conditions write its values: the kind, "instant" for dates with a time zone (written in UTC)."""
        return "instant" if self.timezone is not None else self.kind

    def as_held(self, value: float | None) -> float | None:
        """Return a number as the column holds it: 0.1 in a float32 column is the float32 nearest to 0.1."""
        if value is None or self.precision is None:
            return value
        with np.errstate(over="ignore"):
            return float(self.precision.type(value))

    @property
    def missing(self) -> np.ndarray:
        """(n,) bool: rows without a value."""
        return np.isnan(self.codes)


def kind_of(column: pd.Series, name: str) -> Kind:
    """Say what a column holds, or raise an error that names it and its dtype."""
    dtype = column.dtype
    kind: Kind | None = None
    if isinstance(dtype, pd.CategoricalDtype):
        kind = "category"
    elif pd.api.types.is_bool_dtype(dtype):
        kind = "bool"
    elif pd.api.types.is_complex_dtype(dtype):
        kind = None
    elif pd.api.types.is_integer_dtype(dtype):
        kind = "integer"
    elif pd.api.types.is_float_dtype(dtype):
        kind = "number"
    elif pd.api.types.is_datetime64_any_dtype(dtype):
        kind = "datetime"
    elif pd.api.types.is_timedelta64_dtype(dtype):
        kind = "timedelta"
    elif pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype):
        kind = _object_kind(column)
    elif isinstance(dtype, pd.ArrowDtype):
        kind = _arrow_kind(dtype)
    if kind is None:
        raise InputError(
            f"column {name!r} has dtype {dtype}, which cannot be laid out on an axis; convert it "
            "to numbers, text, categories or dates, or leave it out with features=[...]"
        )
    return kind


def _arrow_kind(dtype: pd.ArrowDtype) -> Kind | None:
    from pyarrow import types

    arrow = dtype.pyarrow_dtype
    if types.is_date(arrow) or types.is_timestamp(arrow):
        return "datetime"
    if types.is_duration(arrow):
        return "timedelta"
    if types.is_decimal(arrow):
        return "number"
    if types.is_dictionary(arrow):
        return "category"
    return None


def _object_kind(column: pd.Series) -> Kind | None:
    """Judge an object column by its values, because mixed and missing ones are common."""
    present = column[~column.isna()]
    if isinstance(column.dtype, pd.StringDtype) or len(present) == 0:
        return "category"
    types = set(map(type, present))
    if all(issubclass(t, (bool, np.bool_)) for t in types):
        return "category" if column.isna().any() else "bool"
    if all(issubclass(t, (numbers.Real, decimal.Decimal)) for t in types) and not any(
        issubclass(t, (bool, np.bool_)) for t in types
    ):
        return "integer" if all(issubclass(t, numbers.Integral) for t in types) else "number"
    if all(issubclass(t, (pd.Timestamp, np.datetime64)) or t.__name__ == "date" for t in types):
        return "datetime"
    if all(issubclass(t, Hashable) for t in types):
        return "category"
    return None


def observe(column: pd.Series, axis: AxisKind) -> Observed:
    """Return the values of a column as they lie on its axis."""
    if axis == "category":
        return _observe_category(column)
    if axis == "number":
        name = str(getattr(column.dtype, "numpy_dtype", column.dtype)).lower()
        short = next((np.dtype(kind) for kind in ("float32", "float16") if name.startswith(kind)), None)
        return Observed("number", as_float(column), precision=short)
    zone = getattr(column.dt, "tz", None) if axis == "datetime" and hasattr(column, "dt") else None
    return Observed(axis, _as_milliseconds(column, axis), timezone=zone)


def as_float(column: pd.Series) -> np.ndarray:
    """Return a numeric column as float64 with NaN for missing."""
    if column.dtype == object:
        return np.array([np.nan if pd.isna(v) else float(v) for v in column], dtype=float)
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    return column.to_numpy(dtype=float, na_value=np.nan)


def _as_milliseconds(column: pd.Series, kind: str) -> np.ndarray:
    """Return dates (UTC) or durations in ms through int64 ns, NaN for missing."""
    if kind == "timedelta":
        converted = pd.to_timedelta(column.astype("timedelta64[ns]"))
    else:
        converted = pd.to_datetime(column)
        if getattr(converted.dtype, "tz", None) is not None:
            converted = converted.dt.tz_convert("UTC").dt.tz_localize(None)
        converted = converted.astype("datetime64[ns]")
    missing = converted.isna().to_numpy(dtype=bool)
    out = converted.to_numpy().astype("int64") / MILLISECOND
    out[missing] = np.nan
    return out


def _observe_category(column: pd.Series) -> Observed:
    """Index the observed levels: declared order for categoricals, else sorted."""
    missing = column.isna().to_numpy(dtype=bool)
    rows = np.flatnonzero(~missing)
    if isinstance(column.dtype, pd.CategoricalDtype):
        raw = np.asarray(column.cat.codes)[rows]
        found, index = np.unique(raw, return_inverse=True)
        levels = [column.cat.categories[k] for k in found]
    else:
        present = column.iloc[rows].to_numpy(dtype=object)
        # Among values of several types True equals 1, and yet the model may tell them apart.
        mixed = len(set(map(type, present))) > 1
        index, first = pd.factorize(objects([(type(v).__name__, v) for v in present]) if mixed else present)
        unique = [value for _, value in first] if mixed else list(first)
        order = sorted(range(len(unique)), key=lambda k: _sort_key(unique[k]))
        levels = [unique[k] for k in order]
        rank = np.empty(len(order), dtype=int)
        rank[order] = np.arange(len(order))
        index = rank[index]
    codes = np.full(len(column), np.nan)
    codes[rows] = index
    _, first = np.unique(index, return_index=True)
    return Observed("category", codes, levels, _level_labels(levels), rows[first])


def _sort_key(level: Any) -> tuple[str, Any]:
    """Order levels of mixed type by type, then by value where the type has an order."""
    if isinstance(level, (bool, np.bool_, numbers.Real)):
        return "", float(level)
    return type(level).__name__, level if isinstance(level, str) else str(level)


def _level_labels(levels: Sequence[Any]) -> list[str]:
    """Return a distinct text per level (1 and "1" may both be levels), none of them that of a missing one."""
    taken = {"missing"}
    labels: list[str] = []
    for level in levels:
        text = str(level)
        labels.append(distinct(text if text not in taken else f"{text} ({type(level).__name__})", taken))
    return labels


def distinct(text: str, taken: set[str]) -> str:
    """Return a text that is not taken yet, numbered if need be, and take it."""
    free, number = text, 2
    while free in taken:
        free, number = f"{text} #{number}", number + 1
    taken.add(free)
    return free


def objects(items: Sequence[Any]) -> np.ndarray:
    """Return a one-dimensional object array, whatever the items are."""
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out
