"""FeatureTable: X with a kind per feature.

It says what each feature *is* (number, category, date, one-hot group), what values its rows have,
and builds the blocks of rows the model is asked about. It never modifies the caller's X.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .columns import AxisKind, Kind, Observed, as_float, distinct, kind_of, observe
from .containers import Container, Vector, wrap
from .errors import InputError, unknown_name


@dataclass(frozen=True)
class Feature:
    """One thing that can be varied: a column, a group of one-hot columns, or a set of such features."""

    name: str
    """Display name, unique in the table."""
    kind: Kind
    columns: tuple[int, ...]
    """Positions of its columns in X."""
    members: tuple[Feature, ...] = ()
    """The features that a set of several stands for; none for a feature of its own."""

    @property
    def parts(self) -> tuple[Feature, ...]:
        """Return the members of a set, else the feature itself."""
        return self.members or (self,)

    @property
    def axis(self) -> AxisKind:
        """Return how its values are laid out on an axis."""
        if self.kind in ("number", "integer"):
            return "number"
        if self.kind in ("datetime", "timedelta"):
            return self.kind
        return "category"


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
        self._observed: dict[Feature, Observed] = {}
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

    @property
    def index(self) -> pd.Index | None:
        """Return the row labels of a pandas X, None for other containers."""
        frame = getattr(self._container, "frame", None)
        return frame.index if isinstance(frame, pd.DataFrame) else None

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

    def column(self, name: str) -> Feature:
        """Return a column of X as a feature of its own: for conditions, which may name any, in a group or not chosen.

        Raises
        ------
        InputError
            When there is none, with the nearest name.
        """
        if name not in self._labels:
            raise unknown_name("feature", name, dict.fromkeys([*self.features, *self._labels]), "a column of X")
        return self._single(self._labels.index(name))

    def together(self, given: Any) -> Feature:
        """Return the feature of a name, or of a list of names one that stands for all of them and moves them together.

        Raises
        ------
        InputError
            For an unknown name, an empty list, or features in a list that share columns.
        """
        if not isinstance(given, list):
            return self.feature(given)
        members = tuple(self.feature(name) for name in given)
        columns = tuple(j for member in members for j in member.columns)
        if not members or len(set(columns)) < len(columns):
            raise InputError(f"{given!r} is no group of features; expected a list of one or more different ones")
        if len(members) == 1:
            return members[0]
        name = distinct(" + ".join(member.name for member in members), {*self.features, *self._labels})
        return Feature(name, "set", columns, members)

    def observed(self, name: Any) -> Observed:
        """Return the values of feature ``name`` at all rows."""
        feature = self.feature(name)
        if feature not in self._observed:
            self._observed[feature] = self._observe(feature)
        return self._observed[feature]

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
        where = f"the grid given for {feature.name!r} has a value its column ({self._container.column(j).dtype})"
        try:
            vector = self._container.convert(j, values)
        except Exception as error:
            raise InputError(f"{where} cannot hold: {error}") from error
        if feature.kind in ("bool", "category", "integer"):
            for given, held in zip(values, vector, strict=True):
                if not (pd.isna(given) or given == held):  # cut off, wrapped around, or "False" read as true
                    raise InputError(f"{where} cannot hold: {given!r} becomes {held!r}")
        return vector

    def is_object(self, feature: Feature) -> bool:
        """Return whether the feature's column holds Python objects, of which none may be converted."""
        return bool(pd.api.types.is_object_dtype(self._container.column(feature.columns[0]).dtype))

    def group_names(self, feature: Feature) -> dict[str, str]:
        """Return the level that each member column of a one-hot group stands for."""
        names = [self._labels[j] for j in feature.columns]
        return dict(zip(names, _without_common_prefix(names, feature.name), strict=True))

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
            self._kinds[j] = kind_of(self._container.column(j), self._labels[j])
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
        single = isinstance(columns, str) or self._find(columns) is not None
        members = [columns] if single else list(columns)
        positions = tuple(self._position(member) for member in members)
        if len(positions) == 1:
            return Feature(str(name), self._single(positions[0]).kind, positions)
        return Feature(str(name), "group", positions)

    def _observe(self, feature: Feature) -> Observed:
        if feature.kind == "group":
            return self._observe_group(feature)
        if feature.members:
            return self._observe_set(feature)
        return observe(self._container.column(feature.columns[0]), feature.axis)

    def _observe_set(self, feature: Feature) -> Observed:
        """Number the combinations of values that rows have; a missing value is a value like others."""
        codes = np.zeros(self.n_rows, dtype=np.int64)
        for member in feature.members:
            mine, _ = pd.factorize(self.observed(member).codes, use_na_sentinel=False)
            codes = np.unique(codes * self.n_rows + mine, return_inverse=True)[1]
        return Observed("category", codes.astype(float))

    def _observe_group(self, feature: Feature) -> Observed:
        """Read one-hot columns as one category; a row of zeros is the base level."""
        names = [self._labels[j] for j in feature.columns]
        on = np.column_stack([as_float(self._container.column(j)) for j in feature.columns])
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
        names.append(distinct(" / ".join(map(str, label)) if isinstance(label, tuple) else str(label), taken))
    return names


def _without_common_prefix(names: list[str], group: str) -> list[str]:
    """Shorten ``season_WINTER`` to ``WINTER`` where all members share the group's name."""
    for separator in ("_", "=", "-", ".", " ", ": "):
        prefix = group + separator
        if all(name.startswith(prefix) and len(name) > len(prefix) for name in names):
            return [name[len(prefix) :] for name in names]
    return names
