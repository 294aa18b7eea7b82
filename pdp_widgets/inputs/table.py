"""FeatureTable: X with a kind per feature.

It says what each feature *is* (number, category, date, one-hot group), what values its rows have,
and builds the blocks of rows the model is asked about. It never modifies the caller's X.
"""

from __future__ import annotations

import decimal
import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from .containers import Container, Vector, wrap
from .errors import InputError, unknown_name

Kind = Literal["number", "integer", "bool", "category", "datetime", "timedelta", "group"]
AxisKind = Literal["number", "datetime", "timedelta", "category"]

MILLISECOND = 1_000_000  # ns


@dataclass(frozen=True)
class Feature:
    """One thing that can be varied: a column, or a group of one-hot columns."""

    name: str
    """Display name, unique in the table."""
    kind: Kind
    columns: tuple[int, ...]
    """Positions of its columns in X."""

    @property
    def axis(self) -> AxisKind:
        """Return how its values are laid out on an axis."""
        if self.kind in ("number", "integer"):
            return "number"
        if self.kind in ("datetime", "timedelta"):
            return self.kind
        return "category"


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

    @property
    def missing(self) -> np.ndarray:
        """(n,) bool: rows without a value."""
        return np.isnan(self.codes)


class FeatureTable:
    """The rows to average over (the *background*), feature by feature.

    Parameters
    ----------
    X : pandas.DataFrame, polars.DataFrame, numpy.ndarray, scipy sparse matrix, or list of rows
        The rows, exactly as the model expects them.
    features : sequence or mapping, optional
        Which features to explain. A sequence names them. A mapping ``{name: [columns]}`` declares
        groups of one-hot columns that move together; all other columns stay features of their own.

    Raises
    ------
    InputError
        When X is not a table, repeats a column name, or ``features`` names something unknown.
    """

    def __init__(self, X: Any, features: Sequence[Any] | Mapping[Any, Any] | None = None) -> None:
        self._container: Container = wrap(X)
        self._labels = _display_names(self._container.labels)
        self._rows: np.ndarray | None = None  # positions in X, where this is a part of it
        self._observed: dict[str, Observed] = {}
        self._kinds: dict[int, Kind] = {}
        self.features: dict[str, Feature] = self._choose(features)

    # ---- what there is -------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self._container.n_rows

    @property
    def column_names(self) -> list[str]:
        """Return the display names of all columns, in X's order."""
        return list(self._labels)

    @cached_property
    def bytes_per_row(self) -> float:
        """Return roughly how many bytes one row takes when handed to the model."""
        return self._container.bytes_per_row()

    def row_label(self, row: int) -> str:
        """Return the name of a row: its pandas index label, else its position."""
        frame = getattr(self._container, "frame", None)
        if isinstance(frame, pd.DataFrame):
            return str(frame.index[row])
        return str(row if self._rows is None else self._rows[row])

    def feature(self, name: Any) -> Feature:
        """Return the feature called ``name`` (display name, column label or position).

        Raises
        ------
        InputError
            When there is none, with the nearest name.
        """
        if isinstance(name, Feature):
            return name
        if isinstance(name, str) and name in self.features:
            return self.features[name]
        j = self._find(name)
        if j is not None and self._labels[j] in self.features:
            return self.features[self._labels[j]]
        if j is not None:
            for feature in self.features.values():
                if j in feature.columns:
                    raise InputError(f"column {name!r} belongs to the group {feature.name!r}; ask for the group")
            return self._single(j)
        raise unknown_name("feature", name, self.features, "a column of X")

    def observed(self, name: Any) -> Observed:
        """Return the values of feature ``name`` at all rows."""
        feature = self.feature(name)
        if feature.name not in self._observed:
            self._observed[feature.name] = self._observe(feature)
        return self._observed[feature.name]

    # ---- rows for the model --------------------------------------------------------------

    def values(self, feature: Feature, rows: np.ndarray) -> list[Vector]:
        """Return one vector per column of ``feature``: its values at ``rows``, own dtype."""
        return [self._container.values(j, rows) for j in feature.columns]

    def convert(self, feature: Feature, values: Sequence[Any]) -> Vector:
        """Return the caller's values in the dtype of the feature's column.

        Raises
        ------
        InputError
            When the column cannot hold a value.
        """
        j = feature.columns[0]
        try:
            return self._container.convert(j, values)
        except Exception as error:
            raise InputError(
                f"the grid given for {feature.name!r} has a value its column "
                f"({self._container.column(j).dtype}) cannot hold: {error}"
            ) from error

    def build(self, rows: np.ndarray, replaced: Mapping[int, Vector] | None = None) -> Any:
        """Return rows of X, in X's own container, with some columns replaced.

        Parameters
        ----------
        rows : (m,) int array
            Row positions, repeats allowed.
        replaced : mapping of column position to a vector of length m
        """
        return self._container.build(rows, replaced or {})

    def take(self, rows: np.ndarray) -> FeatureTable:
        """Return the table of these rows only."""
        other = object.__new__(FeatureTable)
        other._container = self._container.take(rows)
        other._labels = self._labels
        other._rows = rows if self._rows is None else self._rows[rows]
        other._observed = {}
        other._kinds = self._kinds
        other.features = self.features
        return other

    # ---- looking at columns --------------------------------------------------------------

    def _find(self, name: Any) -> int | None:
        """Return the column position meant by a label, display name or position."""
        labels = self._container.labels
        try:
            if name in labels:
                return labels.index(name)
        except (TypeError, ValueError):  # e.g. an array: not a name
            return None
        if isinstance(name, str) and name in self._labels:
            return self._labels.index(name)
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
            position = int(name)
            if -len(labels) <= position < len(labels):
                return position % len(labels)
        return None

    def _single(self, j: int) -> Feature:
        if j not in self._kinds:
            self._kinds[j] = _kind(self._container.column(j), self._labels[j])
        return Feature(self._labels[j], self._kinds[j], (j,))

    def _choose(self, features: Sequence[Any] | Mapping[Any, Any] | None) -> dict[str, Feature]:
        if features is None:
            chosen = [self._single(j) for j in range(len(self._labels))]
        elif isinstance(features, Mapping):
            groups = [self._group(name, columns) for name, columns in features.items()]
            first_of = {min(group.columns): group for group in groups}
            taken = [j for group in groups for j in group.columns]
            if len(set(taken)) != len(taken):
                raise InputError("features: a column belongs to more than one group")
            chosen = [
                first_of[j] if j in first_of else self._single(j)
                for j in range(len(self._labels))
                if j in first_of or j not in taken
            ]
        elif isinstance(features, str) or not isinstance(features, Sequence | np.ndarray | pd.Index):
            raise InputError(
                f"features={features!r}; expected a list of names or a mapping of group names to "
                "lists of one-hot columns"
            )
        else:
            chosen = [self._single(self._position(name)) for name in features]
        named: dict[str, Feature] = {}
        for feature in chosen:
            if feature.name in named:
                raise InputError(f"features: {feature.name!r} is named twice")
            named[feature.name] = feature
        if not named:
            raise InputError("features is empty; name at least one column of X")
        return named

    def _position(self, name: Any) -> int:
        j = self._find(name)
        if j is None:
            raise unknown_name("feature", name, self._labels, "a column of X")
        return j

    def _group(self, name: Any, columns: Any) -> Feature:
        members = [columns] if isinstance(columns, Hashable) else list(columns)
        positions = tuple(self._position(member) for member in members)
        if len(positions) == 1:
            return Feature(str(name), self._single(positions[0]).kind, positions)
        return Feature(str(name), "group", positions)

    def _observe(self, feature: Feature) -> Observed:
        if feature.kind == "group":
            return self._observe_group(feature)
        column = self._container.column(feature.columns[0])
        if feature.axis == "category":
            return _observe_category(column)
        if feature.axis == "number":
            return Observed("number", _as_float(column))
        zone = getattr(column.dt, "tz", None) if feature.axis == "datetime" and hasattr(column, "dt") else None
        return Observed(feature.axis, _as_milliseconds(column, feature.axis), timezone=zone)

    def _observe_group(self, feature: Feature) -> Observed:
        """Read one-hot columns as one category; a row of zeros is the base level."""
        names = [self._labels[j] for j in feature.columns]
        on = np.column_stack([_as_float(self._container.column(j)) for j in feature.columns])
        missing = np.isnan(on).any(axis=1)
        active = on != 0
        several = (active.sum(axis=1) > 1) & ~missing
        if several.any():
            raise InputError(
                f"group {feature.name!r}: row {int(np.argmax(several))} has more than one of "
                f"{', '.join(map(repr, names))} switched on; a group must be one-hot columns"
            )
        level = np.where(active.any(axis=1), active.argmax(axis=1), len(names)).astype(float)
        level[missing] = np.nan
        present = [k for k in range(len(names) + 1) if (level == k).any()]
        short = _without_common_prefix(names, feature.name)
        base = "(base)" if "(base)" not in short else "(none of them)"
        texts = [*short, base]
        codes = np.full(self.n_rows, np.nan)
        for index, k in enumerate(present):
            codes[level == k] = index
        labels = [texts[k] for k in present]
        rows = np.array([int(np.argmax(level == k)) for k in present])
        return Observed("category", codes, list(labels), labels, rows)


def _display_names(labels: Sequence[Hashable]) -> list[str]:
    """Return a text per column label, kept apart when two labels read the same (1 and "1")."""
    taken = {label for label in labels if isinstance(label, str)}  # a text is always its own name
    names: list[str] = []
    for label in labels:
        if isinstance(label, str):
            names.append(label)
            continue
        name = text = " / ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        suffix = 2
        while name in taken:
            name, suffix = f"{text} #{suffix}", suffix + 1
        taken.add(name)
        names.append(name)
    return names


def _without_common_prefix(names: list[str], group: str) -> list[str]:
    """Shorten ``season_WINTER`` to ``WINTER`` where all members share the group's name."""
    for separator in ("_", "=", "-", ".", " ", ": "):
        prefix = group + separator
        if all(name.startswith(prefix) and len(name) > len(prefix) for name in names):
            return [name[len(prefix) :] for name in names]
    return names


def _kind(column: pd.Series, name: str) -> Kind:
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


def _as_float(column: pd.Series) -> np.ndarray:
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
        index, unique = pd.factorize(column.iloc[rows].to_numpy(dtype=object))
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
    """Return a distinct text per level (1 and "1" may both be levels)."""
    labels: list[str] = []
    for level in levels:
        text = str(level)
        labels.append(text if text not in labels else f"{text} ({type(level).__name__})")
    return labels
