"""How X is seen: what each column held at fit, and any later rows as the same numbers.

``FeatureTable`` says what a column is; here it is remembered from the fit and asked of later rows. Names that shall be
the same as at fit are the estimator's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs import FeatureTable, InputError, Observed
from pdp_widgets.inputs.conditions import literal_text
from pdp_widgets.inputs.errors import did_you_mean, unknown_name

if TYPE_CHECKING:
    from pdp_widgets.inputs.columns import AxisKind

_HOLDS = {"number": "numbers", "datetime": "dates", "timedelta": "durations", "category": "categories"}


@dataclass(frozen=True)
class Column:
    """What a column of the training rows held."""

    name: str
    kind: AxisKind
    """How its values lie on an axis."""
    text_kind: str
    """How conditions write its values: ``kind``, or "instant" for dates with a time zone."""
    missing: bool
    """Whether values were missing."""
    levels: tuple[Any, ...] = ()
    """Of a category, in the order of its codes."""
    two_values: tuple[float, float] | None = None
    """The only values of a column of numbers that has no more than two."""
    precision: np.dtype | None = None
    """Its own float type where that is shorter than float64."""

    @property
    def is_category(self) -> bool:
        """Whether its values are levels without an order."""
        return self.kind == "category"

    @property
    def is_mixed(self) -> bool:
        """Whether its values are texts and others: some rows of it may look like a column of numbers or dates."""
        texts = [isinstance(level, str) for level in self.levels]
        return any(texts) and not all(texts)

    def held(self, value: float) -> float:
        """Return a number as the column holds it."""
        if self.precision is None:
            return value
        with np.errstate(over="ignore"):
            return float(self.precision.type(value))

    @classmethod
    def of(cls, name: str, observed: Observed) -> Column:
        """Return what a column holds."""
        codes, missing = observed.codes, bool(observed.missing.any())
        levels, two = tuple(_plain(level) for level in observed.levels or ()), None
        _require_apart(name, levels)
        if observed.kind == "number":
            present = codes[~observed.missing] if missing else codes
            low, high = (present.min(), present.max()) if len(present) else (0.0, 0.0)
            if low < high and np.all((present == low) | (present == high)):
                two = float(low), float(high)
        return cls(name, observed.kind, observed.text_kind, missing, levels, two, observed.precision)


@dataclass(frozen=True)
class Table:
    """The columns of the training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"temp": [1.5, None, 3.0], "sky": ["rain", "sun", "rain"]})
    >>> table = Table.of(X)
    >>> table.encode(X)
    array([[1.5, 0. ],
           [nan, 1. ],
           [3. , 0. ]])
    >>> table.encode(pd.DataFrame({"sky": ["hail", None], "temp": [2, 4]}))
    array([[ 2., -1.],
           [ 4., nan]])
    """

    columns: tuple[Column, ...]
    named: bool
    """Whether the container had names; columns of those that have none are told apart by position."""

    @classmethod
    def of(cls, X: Any) -> Table:
        """Return the columns of the training rows, in any container."""
        rows = X if isinstance(X, FeatureTable) else FeatureTable(X)
        return cls(tuple(Column.of(name, rows.observed(name)) for name in rows.features), _is_named(X))

    @property
    def names(self) -> list[str]:
        """Return the names of the columns, as conditions have them."""
        return [column.name for column in self.columns]

    def position(self, name: Any) -> int:
        """Return the position of a column.

        Raises
        ------
        InputError
            When there is none of that name.
        """
        names = self.names
        if name not in names:
            raise unknown_name("feature", name, names, "a column of X")
        return names.index(name)

    def rows(self, X: Any) -> FeatureTable:
        """Return rows as conditions read them, under the names that the columns had at fit.

        Columns are found by name, whatever their order and whatever other columns there are; by position where the
        rows, or those of the fit, have no names.

        Raises
        ------
        InputError
            When a column is not there, or holds something else than at fit.
        """
        rows = X if isinstance(X, FeatureTable) else FeatureTable(X)
        if _is_named(X) != self.named and list(rows.features) != self.names:
            rows = self._renamed(rows)
        absent = [name for name in self.names if name not in rows.features]
        if absent:
            hint = did_you_mean(absent[0], [name for name in rows.features if name not in self.names])
            raise InputError(f"X lacks {_listed(absent)} of the columns that it had at fit{hint}")
        mixed = [c.name for c in self.columns if c.is_mixed and rows.observed(c.name).kind != "category"]
        if mixed:
            rows = _as_levels(rows, mixed)
        for column in self.columns:
            _require_same_kind(column, rows.observed(column.name))
        return rows

    def _renamed(self, rows: FeatureTable) -> FeatureTable:
        """Return rows whose columns are those of the fit by position."""
        given = _columns(rows)
        if len(given) != len(self.columns):
            raise InputError(f"X has {len(given)} columns where it had {len(self.columns)} at fit")
        return FeatureTable(pd.concat(given.values(), axis=1, keys=self.names))

    def encode(self, X: Any) -> np.ndarray:
        """Return rows as numbers.

        Returns
        -------
        (n, p) float64 array
            Columns in the order of the fit. Numbers as they are, dates and durations in ms, categories as the codes
            that they had at fit; NaN where missing, -1 where a category was not seen at fit.

        Raises
        ------
        InputError
            When a column is not there, or holds something else than at fit.
        """
        rows = self.rows(X)
        out = np.empty((rows.n_rows, len(self.columns)))
        for j, column in enumerate(self.columns):
            observed = rows.observed(column.name)
            out[:, j] = _codes(column, observed) if column.is_category else observed.codes
        return out

    def signs(self, monotone: Mapping[Any, int] | Iterable[int] | None) -> np.ndarray:
        """Return the direction in which the prediction may move with each column: 1, -1, or 0 for any.

        Parameters
        ----------
        monotone : mapping of names to -1, 0 or 1, one such number per column, or None

        Raises
        ------
        InputError
            For other directions, unknown names, and categories, which have no direction.
        """
        signs = np.zeros(len(self.columns), dtype=np.int8)
        if monotone is None:
            return signs
        directions: Any = monotone
        if isinstance(directions, Mapping):
            given = [(self.position(name), sign) for name, sign in directions.items()]
        elif isinstance(directions, str) or not isinstance(directions, Iterable):
            raise InputError(
                f"monotonic_cst={monotone!r}; expected -1, 0 or 1 for each column, or by name: {{'age': 1}}"
            )
        else:
            given = list(enumerate(directions))
            if len(given) != len(signs):
                raise InputError(f"monotonic_cst has {len(given)} directions where X has {len(signs)} columns")
        for j, sign in given:
            column = self.columns[j]
            if sign not in (-1, 0, 1):
                raise InputError(f"monotonic_cst: the direction of {column.name!r} is {sign!r}; expected -1, 0 or 1")
            if sign and column.is_category and not _is_flag(column):
                raise InputError(f"monotonic_cst: {column.name!r} is a category, which has no direction")
            signs[j] = sign
        return signs


@dataclass(frozen=True)
class Ranks:
    """Training rows as ranks among the distinct values of each column.

    Trees grown on ranks depend on the order of values only: no float32 in between can join or shift them.
    """

    values: tuple[np.ndarray, ...]
    """Per column the distinct values, ascending; of a category its codes."""
    positions: np.ndarray
    """(n, p) int32 index into ``values``, their number where missing."""

    @classmethod
    def of(cls, encoded: np.ndarray) -> Ranks:
        """Return the ranks of rows as ``Table.encode`` gives them."""
        values, positions = [], np.empty(encoded.shape, dtype=np.int32)
        for j, column in enumerate(encoded.T):
            present = ~np.isnan(column)
            distinct, rank = np.unique(column[present], return_inverse=True)
            values.append(distinct)
            positions[:, j] = len(distinct)
            positions[present, j] = rank
        return cls(tuple(values), positions)

    def missing(self, j: int) -> np.ndarray:
        """Return which rows lack a value of column j, (n,) bool."""
        return self.positions[:, j] == len(self.values[j])

    def numbers(self) -> np.ndarray:
        """Return the ranks as trees take them, (n, p) float32 with NaN where missing."""
        numbers = self.positions.astype(np.float32)
        numbers[self.positions == [len(values) for values in self.values]] = np.nan
        return numbers


def _columns(rows: FeatureTable) -> dict[str, pd.Series]:
    every = np.arange(rows.n_rows)
    return {name: pd.Series(rows.values(feature, every)[0]) for name, feature in rows.features.items()}


def _as_levels(rows: FeatureTable, names: list[str]) -> FeatureTable:
    """Return rows in which the values of some columns are levels, whatever they look like."""
    columns = _columns(rows)
    columns |= {name: columns[name].astype(object).astype("category") for name in names}
    return FeatureTable(pd.concat(columns, axis=1))


def _require_apart(name: str, levels: tuple[Any, ...]) -> None:
    """Raise when conditions write two levels alike that are not the same, such as Decimal("1") and "1"."""
    seen: dict[str, Any] = {}
    for level in levels:
        other = seen.setdefault(literal_text(level), level)
        if _key(other) != _key(level):
            raise InputError(
                f"column {name!r} has the values {other!r} and {level!r}, which conditions cannot tell apart; convert one of them"
            )


def _is_named(X: Any) -> bool:
    return isinstance(X, FeatureTable) or hasattr(X, "columns") or hasattr(X, "collect_schema")


def _is_flag(column: Column) -> bool:
    return column.levels == (False, True) and all(isinstance(level, bool) for level in column.levels)


def _plain(level: Any) -> Any:
    return bool(level) if isinstance(level, np.bool_) else level


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _require_same_kind(column: Column, observed: Observed) -> None:
    """Raise when values are no longer of the kind that they were at fit; nothing can be said of no values at all."""
    if observed.kind == column.kind or observed.missing.all():
        return
    texts = any(isinstance(level, str) for level in column.levels)
    if column.is_category and observed.kind == "number" and not texts:
        return  # categories that are numbers or flags, which may come as plain numbers later
    now, once = _HOLDS[observed.kind], "text" if texts else _HOLDS[column.kind]
    if observed.kind == "category":
        kinds = {type(level) for level in observed.levels or ()}
        now = "text" if str in kinds else "true and false" if kinds <= {bool, np.bool_} else now
    raise InputError(f"column {column.name!r} held {once} at fit and holds {now} now; convert it as it was at fit")


def _codes(column: Column, observed: Observed) -> np.ndarray:
    """Return a category's values as the codes that they had at fit."""
    known = {_key(level): float(code) for code, level in enumerate(column.levels)}
    if observed.kind != "category":
        distinct, at = np.unique(observed.codes, return_inverse=True)
        codes = np.array([known.get(_key(value), -1.0) for value in distinct.tolist()])[at]
    else:
        present = np.where(observed.missing, 0, observed.codes).astype(int)
        codes = np.array([known.get(_key(level), -1.0) for level in observed.levels or [None]])[present]
    return np.where(observed.missing, np.nan, codes)


def _key(level: Any) -> tuple[bool, Any]:
    """Return what a level is known by: conditions take True for 1, and "1" for neither."""
    return isinstance(level, str), level
