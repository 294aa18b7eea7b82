"""Conditions on rows as a small tree: ranges, levels, missing values, and their combinations.

Each condition gives the rows it holds for (``mask``) and writes itself as text that ``subgroup.parse`` reads back.
Bounds are kept in the unit of the feature's axis, as ``FeatureTable.observed`` gives it: numbers as they are,
datetimes and timedeltas in milliseconds.
"""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from .errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .columns import Observed
    from .table import FeatureTable

__all__ = ["And", "Levels", "Missing", "Node", "Not", "Or", "Range", "Rows", "conjunction", "quote"]

_RESERVED = {"True", "False", "None", "inf", "nan"}
_PER_MS = {"s": (1000, 1), "ms": (1, 1), "us": (1, 1000), "ns": (1, 1_000_000)}


class Node:
    """A condition on rows; combine conditions with ``&``, ``|`` and ``~``."""

    binds: ClassVar[int] = 3
    """How tightly the text holds together: 1 for "|", 2 for "&", 3 for a single condition."""

    def mask(self, table: FeatureTable) -> np.ndarray:
        """Whether each row of the table fulfils the condition, (n_rows,) bool."""
        return self._mask(table)

    @property
    def text(self) -> str:
        """The condition as text, from which ``parse`` makes the same condition."""
        return self._text()

    @property
    def conditions(self) -> list[Node]:
        """The parts that must all hold."""
        return self._conditions()

    def _mask(self, table: FeatureTable) -> np.ndarray:
        raise NotImplementedError

    def _text(self) -> str:
        raise NotImplementedError

    def _conditions(self) -> list[Node]:
        return [self]

    def __and__(self, other: Node) -> Node:
        return conjunction([self, other])

    def __or__(self, other: Node) -> Node:
        return Or((*alternatives(self), *alternatives(other)))

    def __invert__(self) -> Node:
        return Not(self)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Range(Node):
    """Values of a number, datetime or timedelta between two bounds (``None``: open-ended)."""

    feature: str
    low: float | None = None
    high: float | None = None
    low_closed: bool = True
    high_closed: bool = True
    missing: bool = False  # whether missing values belong to it, too
    kind: str = "number"  # the axis kind, for the text

    def _mask(self, table: FeatureTable) -> np.ndarray:
        observed = observed_of(table, self.feature)
        codes = observed.codes
        inside = np.logical_not(np.isnan(codes))
        low, high = (observed.as_held(bound) for bound in (self.low, self.high))
        if low is not None:
            inside &= codes >= low if self.low_closed else codes > low
        if high is not None:
            inside &= codes <= high if self.high_closed else codes < high
        return np.logical_or(inside, np.isnan(codes)) if self.missing else inside

    def _text(self) -> str:
        name = quote(self.feature)
        low, high = (None if bound is None else _bound_text(bound, self.kind) for bound in (self.low, self.high))
        less_low, less_high = ("<=" if closed else "<" for closed in (self.low_closed, self.high_closed))
        if low is None and high is None:
            text = f"{name}.notna()"
        elif low is None:
            text = f"{name} {less_high} {high}"
        elif high is None:
            text = f"{name} {less_low.replace('<', '>')} {low}"
        elif self.low == self.high and self.low_closed and self.high_closed:
            text = f"{name} == {low}"
        else:
            text = f"{low} {less_low} {name} {less_high} {high}"
        return f"({text} | {name}.isna())" if self.missing else text


@dataclass(frozen=True)
class Levels(Node):
    """One of some raw values; ``None`` among them stands for a missing value. ``negate``: any other value."""

    feature: str
    levels: tuple[Any, ...]
    negate: bool = False
    kind: str = "category"

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(None if is_missing(level) else level for level in self.levels))

    def _mask(self, table: FeatureTable) -> np.ndarray:
        observed = observed_of(table, self.feature)
        if observed.kind == "category":
            levels = observed.levels or []
            held = np.array([*map(self._among(), levels), None in self.levels])
            inside = held[np.where(np.isnan(observed.codes), len(levels), observed.codes).astype(np.intp)]
            return np.logical_not(inside) if self.negate else inside
        values = [axis_value(level, observed, self.feature) for level in self.levels if level is not None]
        wanted = [bound for value in values if (bound := observed.as_held(value)) is not None]
        inside = np.isin(observed.codes, np.asarray(wanted, float))
        if None in self.levels:
            inside = np.logical_or(inside, np.isnan(observed.codes))
        return np.logical_not(inside) if self.negate else inside

    def _among(self) -> Callable[[Any], bool]:
        """Whether a raw value is ``same`` as one of the levels, for hundreds of either."""
        texts = {level for level in self.levels if isinstance(level, str)}
        plain = {level for level in self.levels if _has_literal(level) and level not in texts}
        odd = [level for level in self.levels if not _has_literal(level)]

        def among(raw: Any) -> bool:
            if isinstance(raw, str):
                return raw in texts
            if _has_literal(raw):
                return raw in plain or any(same(raw, level) for level in odd)
            return str(raw) in texts or any(same(raw, level) for level in (*plain, *odd))

        return among

    def _text(self) -> str:
        name = quote(self.feature)
        if len(self.levels) == 1 and self.levels[0] is not None:
            return f"{name} {'!=' if self.negate else '=='} {literal_text(self.levels[0], self.kind)}"
        listed = ", ".join(literal_text(level, self.kind) for level in self.levels)
        return f"{name} {'not in' if self.negate else 'in'} [{listed}]"

    def __invert__(self) -> Node:
        return replace(self, negate=not self.negate)


@dataclass(frozen=True)
class Missing(Node):
    """The feature's value is missing."""

    feature: str

    def _mask(self, table: FeatureTable) -> np.ndarray:
        return np.isnan(observed_of(table, self.feature).codes)

    def _text(self) -> str:
        return f"{quote(self.feature)}.isna()"


@dataclass(frozen=True)
class And(Node):
    """All parts hold (none given: every row)."""

    parts: tuple[Node, ...]
    binds: ClassVar[int] = 2

    def _mask(self, table: FeatureTable) -> np.ndarray:
        result = np.ones(table.n_rows, bool)
        for part in self.parts:
            result &= part.mask(table)
        return result

    def _text(self) -> str:
        return " & ".join(_within(part, 2) for part in self.parts) or "True"

    def _conditions(self) -> list[Node]:
        return [condition for part in self.parts for condition in part.conditions]


@dataclass(frozen=True)
class Or(Node):
    """At least one part holds (none given: no row)."""

    parts: tuple[Node, ...]
    binds: ClassVar[int] = 1

    def _mask(self, table: FeatureTable) -> np.ndarray:
        result = np.zeros(table.n_rows, bool)
        for part in self.parts:
            result |= part.mask(table)
        return result

    def _text(self) -> str:
        return " | ".join(_within(part, 1) for part in self.parts) or "False"


@dataclass(frozen=True)
class Not(Node):
    """The part does not hold."""

    part: Node

    def _mask(self, table: FeatureTable) -> np.ndarray:
        return np.logical_not(self.part.mask(table))

    def _text(self) -> str:
        if isinstance(self.part, Missing):
            return f"{quote(self.part.feature)}.notna()"
        return f"~({self.part.text})"

    def __invert__(self) -> Node:
        return self.part


@dataclass(frozen=True, eq=False)
class Rows(Node):
    """Rows picked one by one (a mask, a bundle of curves); written ``@name``."""

    rows: np.ndarray
    name: str = "rows"
    data: Any = field(default=None, repr=False)  # whatever made them, for whoever made them
    about: str = ""  # what they are, for people

    def _mask(self, table: FeatureTable) -> np.ndarray:
        if len(self.rows) != table.n_rows:
            msg = f"the mask has {len(self.rows)} entries, expected one per row: {table.n_rows}"
            raise InputError(msg)
        return self.rows.copy()

    def _text(self) -> str:
        return f"@{quote(self.name)}"


def conjunction(parts: Iterable[Node]) -> Node:
    """All ``parts`` at once, with the ranges of one feature merged into one."""
    merged: list[Node] = []
    for part in (condition for group in parts for condition in group.conditions):
        for i, old in enumerate(merged):
            if isinstance(old, Range) and isinstance(part, Range) and old.feature == part.feature:
                merged[i] = _overlap(old, part)
                break
        else:
            merged.append(part)
    return merged[0] if len(merged) == 1 else And(tuple(merged))


def _within(node: Node, binds: int) -> str:
    return node.text if node.binds >= binds else f"({node.text})"


def _overlap(a: Range, b: Range) -> Range:
    low, low_closed = _tighter((a.low, a.low_closed), (b.low, b.low_closed), max)
    high, high_closed = _tighter((a.high, a.high_closed), (b.high, b.high_closed), min)
    return Range(a.feature, low, high, low_closed, high_closed, missing=a.missing and b.missing, kind=a.kind)


def alternatives(node: Node) -> tuple[Node, ...]:
    return node.parts if isinstance(node, Or) else (node,)


def _tighter(a: tuple[float | None, bool], b: tuple[float | None, bool], pick: Callable) -> tuple[float | None, bool]:
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    if a[0] == b[0]:
        return a[0], a[1] and b[1]
    return a if pick(a[0], b[0]) == a[0] else b


def quote(name: str) -> str:
    """The feature's name as it stands in a condition: between backticks unless it is a plain identifier."""
    plain = (
        name.isidentifier()
        and not keyword.iskeyword(name)
        and name not in _RESERVED
        and unicodedata.normalize("NFKC", name) == name  # Python's parser would change it
        and not name.startswith("_pdp")
    )
    return name if plain else "`" + name.replace("`", "``") + "`"


def observed_of(table: FeatureTable, name: str) -> Observed:
    """The values of a feature, or of a column that is none: one of a group, or one that was not chosen."""
    return table.observed(name if name in table.features else table.column(name))


def is_missing(value: Any) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def same(raw: Any, level: Any) -> bool:
    """Whether an observed raw level is the one that was written (its text, if it has no literal of its own)."""
    if level is None:
        return False
    try:
        if bool(raw == level) and isinstance(raw, str) == isinstance(level, str):
            return True
    except (TypeError, ValueError):
        pass
    return isinstance(level, str) and not _has_literal(raw) and str(raw) == level


def _has_literal(value: Any) -> bool:
    return isinstance(value, str | bool | int | float | np.bool_ | np.integer | np.floating)


def literal_text(value: Any, kind: str = "category") -> str:
    if value is None:
        return "None"
    if kind in ("datetime", "instant", "timedelta"):
        return _bound_text(value, kind) if isinstance(value, float) else repr(str(value))
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return _number_text(float(value))
    return repr(str(value))


def _number_text(value: float) -> str:
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"  # a literal, and so never taken for a feature called "inf"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _bound_text(value: float, kind: str) -> str:
    value = float(value)
    if kind == "number" or not math.isfinite(value):
        return _number_text(value)
    ns = round(value * 1_000_000) if not value.is_integer() else int(value) * 1_000_000
    if kind == "timedelta":
        return repr(str(pd.Timedelta(ns, unit="ns")))
    moment = np.datetime64(int(value), "ms") if value.is_integer() else np.datetime64(ns, "ns")
    date, _, clock = str(moment).partition("T")
    clock = re.sub(r"\.?0+$", "", clock) if "." in clock else clock
    if kind == "instant":  # of a column with a time zone, where a text without one means local time
        return repr(f"{date} {clock or '00:00:00'}Z")
    return repr(date if clock in ("", "00:00:00") else f"{date} {clock}")


def axis_value(value: Any, observed: Observed, feature: str) -> float:
    """A literal in the unit of the feature's axis."""
    kind = observed.kind
    try:
        if kind == "datetime":
            return _milliseconds(_timestamp(value, getattr(observed, "timezone", None)))
        if kind == "timedelta":
            return _milliseconds(value if isinstance(value, float) else _timedelta(value))
        return float(value if _has_literal(value) and not isinstance(value, str) else "not a number")
    except (ValueError, TypeError, OverflowError) as error:
        wanted = {"datetime": "a date such as '2024-05-31'", "timedelta": "a duration such as '2 days'"}
        msg = f"feature '{feature}' is compared with {wanted.get(kind, 'a number')}, not with {value!r}"
        raise InputError(msg) from error


def _timestamp(value: Any, timezone: Any) -> Any:
    if isinstance(value, float):
        return value
    if not isinstance(value, str | pd.Timestamp | np.datetime64):
        raise TypeError
    stamp = pd.Timestamp(value)
    if stamp is pd.NaT:
        raise ValueError
    if stamp.tz is None and timezone is not None:
        stamp = stamp.tz_localize(timezone)
    return stamp.tz_convert(None) if stamp.tz is not None else stamp


def _timedelta(value: Any) -> Any:
    if not isinstance(value, str | pd.Timedelta | np.timedelta64):
        raise TypeError
    return pd.Timedelta(value)


def _milliseconds(value: Any) -> float:
    if isinstance(value, float):
        return value
    if value is pd.NaT:
        raise ValueError
    count = value.to_numpy()
    many, per = _PER_MS[np.datetime_data(count.dtype)[0]]
    return int(count.astype(np.int64)) * many / per
