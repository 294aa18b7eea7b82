"""A rule set as one SELECT statement.

Names stand between double quotes (doubled within), texts between single ones (doubled within): nothing in them is read as SQL. Numbers
are written with an exponent, which makes them double precision wherever SQL tells decimals from doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Levels, Missing, Range
from pdp_widgets.inputs.errors import unknown_name

from .evaluation import axis_of, conditions_of
from .terms import Linear

if TYPE_CHECKING:
    from .conditions import Condition
    from .ruleset import RuleSet
    from .terms import Term

DIALECTS = ("standard", "sqlite", "duckdb")

_EXACT = 2.0**53  # above it not every whole number is one of double precision
_WIDTH = 50  # summands between a pair of parentheses: databases limit how deep an expression may be


def to_sql(rules: RuleSet, table: str | Sequence[str], *, dialect: str = "standard", keep: Sequence[str] = ()) -> str:
    """Return a SELECT statement that predicts as ``RuleSet.predict`` does.

    Parameters
    ----------
    rules : RuleSet
    table : str, or sequence of str
        Name of the table; its parts where it is qualified: ``("schema", "table")``.
    dialect : {"standard", "sqlite", "duckdb"}
        What NULL cannot say differs: "sqlite" reads dates from texts (to the millisecond), "duckdb" also counts NaN as missing.
    keep : sequence of str
        Columns of the table to hand through, such as a key: rows of a database have no order.

    Returns
    -------
    str
        Its columns are ``keep`` and then ``rules.predicted``: the prediction, or the probability of each class (of the class "", which
        would be no name, "(empty)").

    Raises
    ------
    InputError
        For an unknown dialect, a name that SQL cannot hold, or durations in SQLite, which has no type for them.

    Examples
    --------
    >>> import pandas as pd
    >>> from pdp_widgets.rulefit import Rule, RuleSet
    >>> X = pd.DataFrame({"temp": [10.0, 20.0], "weather": ["GOOD", "MISTY"]})
    >>> print(to_sql(RuleSet([Rule.of("temp > 12 & weather == 'GOOD'", X)], [5.0], 1.0), "days", keep=["id"]))
    SELECT
      "id", 1.0E0
      + CASE WHEN "temp" > 12.0E0 AND "weather" IN ('GOOD') THEN 5.0E0 ELSE 0E0 END AS "prediction"
    FROM "days"
    """
    if dialect not in DIALECTS:
        raise unknown_name("dialect", dialect, DIALECTS, "a dialect of SQL that is known here")
    keep = [keep] if isinstance(keep, str) else list(keep)
    predicted = tuple(name or "(empty)" for name in rules.predicted)
    taken = {name.casefold() for name in (*keep, *predicted)}
    if len(taken) < len(keep) + len(predicted):
        raise InputError(f"columns of the answer share a name: {', '.join(map(repr, (*keep, *predicted)))}")
    writer = _Writer(dialect)
    sums = [writer.sum(rules, o) for o in range(rules.n_outputs)]
    source = _from(rules, table, dialect, keep)
    if rules.link == "identity":
        return _select(keep, sums, predicted, source)
    far = "-CASE WHEN {0} < -7E2 THEN -7E2 WHEN {0} > 7E2 THEN 7E2 ELSE {0} END"
    values = _free("value", rules.n_outputs, taken)
    inner = _nested(_select(keep, sums, values, source), "decision")
    one = [f"1E0 / (1E0 + EXP({far.format(_name(value))}))" for value in values]
    if rules.link == "logit":
        return _select(keep, [f"1E0 - {one[0]}", one[0]], predicted, inner)
    shares = _free("share", rules.n_outputs, taken)
    inner = _nested(_select(keep, one, shares, inner), "each")
    total = _sum([_name(share) for share in shares])
    return _select(keep, [f"{_name(share)} / ({total})" for share in shares], predicted, inner)


class _Writer:
    """Writes terms as expressions in one dialect."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def sum(self, rules: RuleSet, o: int) -> str:
        a = rules.coefficients[o]
        parts = [_number(rules.intercept[o])]
        parts += [self.term(term, _number(a[k])) for k, term in enumerate(rules.terms) if a[k] != 0]
        return _sum(parts)

    def term(self, term: Term, a: str) -> str:
        if isinstance(term, Linear) and not term.level:
            return f"{a} * {self.clipped(term)}"
        test = " AND ".join(map(self.condition, conditions_of(term))) or "1 = 1"
        return f"CASE WHEN {test} THEN {a} ELSE 0E0 END"

    def clipped(self, term: Linear) -> str:
        x = self.value(term.feature, term.kind)
        missing = _number(float(np.clip(term.missing_as, term.low, term.high)))
        cases = [f"WHEN {x} IS NULL THEN {missing}"]
        if np.isfinite(term.low):
            cases.append(f"WHEN {x} < {_number(term.low)} THEN {_number(term.low)}")
        if np.isfinite(term.high):
            cases.append(f"WHEN {x} > {_number(term.high)} THEN {_number(term.high)}")
        return f"CASE {' '.join(cases)} ELSE {x} END"

    def condition(self, condition: Condition) -> str:
        name = _name(condition.feature)
        if isinstance(condition, Missing):
            return f"{name} IS NULL"
        if isinstance(condition, Levels):
            return self.levels(condition)
        if condition.low is None and condition.high is None:
            return "1 = 1" if condition.missing else f"{name} IS NOT NULL"
        test = self.range(condition)
        return f"({test} OR {name} IS NULL)" if condition.missing else test

    def range(self, condition: Range) -> str:
        x = self.compared(condition.feature, condition.kind, condition.low, condition.high)
        low, high = (
            None if bound is None else self.bound(bound, condition.kind) for bound in (condition.low, condition.high)
        )
        if low is not None and condition.low == condition.high and condition.low_closed and condition.high_closed:
            return f"{x} = {low}"
        sides = [] if low is None else [f"{x} {'>=' if condition.low_closed else '>'} {low}"]
        sides += [] if high is None else [f"{x} {'<=' if condition.high_closed else '<'} {high}"]
        return " AND ".join(sides)

    def levels(self, condition: Levels) -> str:
        name, kind = _name(condition.feature), axis_of(condition)
        present = [level for level in condition.levels if level is not None]
        # NULL is in no list and outside of none: either way the condition is unknown, which CASE takes for false.
        null = (None in condition.levels) != condition.negate
        if not present:
            holds_else = condition.negate
            return (
                "1 = 1"
                if null and holds_else
                else "1 = 0"
                if null == holds_else
                else f"{name} IS {'' if null else 'NOT '}NULL"
            )
        if kind == "category":
            x = name
            if len({isinstance(level, str) for level in map(_plain, present)}) > 1:
                raise InputError(
                    f"feature {condition.feature!r} has texts and other values among its levels, which no SQL column holds"
                )
            listed = ", ".join(_level(_plain(level)) for level in present)
        else:
            x = self.compared(condition.feature, kind, *present)
            listed = ", ".join(self.bound(level, kind) for level in present)
        test = f"{x} {'NOT IN' if condition.negate else 'IN'} ({listed})"
        return f"({test} OR {name} IS NULL)" if null else test

    def compared(self, feature: str, kind: str, *bounds: float | None) -> str:
        """Return the value that stands in comparisons with some bounds."""
        far = any(bound is not None and abs(bound) >= _EXACT for bound in bounds)
        if kind == "number" and far and self.dialect == "sqlite":
            # SQLite compares whole numbers with others exactly; here all are double precision.
            return f"CAST({_name(feature)} AS REAL)"
        if kind in ("datetime", "instant"):
            return f"strftime('%Y-%m-%d %H:%M:%f', {_name(feature)})" if self.dialect == "sqlite" else _name(feature)
        return self.value(feature, kind)

    def bound(self, value: float, kind: str) -> str:
        """Return what it is compared with."""
        if kind not in ("datetime", "instant"):
            return self.infinity(value) if np.isinf(value) else _number(value)
        if self.dialect != "sqlite":
            return (
                f"TIMESTAMP WITH TIME ZONE '{_moment(value)}+00:00'"
                if kind == "instant"
                else f"TIMESTAMP '{_moment(value)}'"
            )
        if not float(value).is_integer():
            raise InputError(f"a rule compares dates with {_moment(value)}; SQLite knows no less than milliseconds")
        day, _, fraction = _moment(value).partition(".")
        return f"'{day}.{fraction:0<3}'"

    def infinity(self, value: float) -> str:
        sign = "-" if value < 0 else ""
        return f"{sign}9E999" if self.dialect == "sqlite" else f"CAST('{sign}Infinity' AS DOUBLE PRECISION)"

    def value(self, feature: str, kind: str) -> str:
        """Return the value as a number, of dates and durations in milliseconds."""
        name = _name(feature)
        if kind == "number":
            return name
        if self.dialect != "sqlite":
            return f"(EXTRACT(EPOCH FROM {name}) * 1E3)"
        if kind == "timedelta":
            raise InputError(f"feature {feature!r} is a duration, for which SQLite has no type")
        return f"(strftime('%s', {name}) * 1E3 + CAST(substr(strftime('%f', {name}), 4) AS INTEGER))"


def _from(rules: RuleSet, table: str | Sequence[str], dialect: str, keep: Sequence[str]) -> str:
    source = ".".join(map(_name, [table] if isinstance(table, str) else table))
    numbers = {
        term.feature for term in rules.terms if isinstance(term, Linear) and not term.level and term.kind == "number"
    }
    numbers |= {c.feature for term in rules.terms for c in conditions_of(term) if axis_of(c) == "number"}
    if dialect != "duckdb" or not numbers:
        return source
    clean = "NULLIF(CAST({0} AS DOUBLE), CAST('NaN' AS DOUBLE)) AS {0}"
    names = list(dict.fromkeys((*rules.features, *keep)))
    return _nested(
        f"SELECT {', '.join(clean.format(_name(n)) if n in numbers else _name(n) for n in names)}\nFROM {source}",
        "rows",
    )


def _select(keep: Sequence[str], expressions: Sequence[str], names: Sequence[str], source: str) -> str:
    columns = [*map(_name, keep), *(f"{text} AS {_name(name)}" for text, name in zip(expressions, names, strict=True))]
    return f"SELECT\n  {', '.join(columns)}\nFROM {source}"


def _nested(query: str, alias: str) -> str:
    return f"(\n{query}\n) AS {_name(alias)}"


def _sum(parts: list[str]) -> str:
    while len(parts) > _WIDTH:
        parts = [f"({_sum(parts[at : at + _WIDTH])})" for at in range(0, len(parts), _WIDTH)]
    return "\n  + ".join(parts)


def _free(stem: str, count: int, taken: set[str]) -> list[str]:
    """Return names that no column of the answer has."""
    while any(f"{stem} {o}" in taken for o in range(count)):
        stem += "_"
    return [f"{stem} {o}" for o in range(count)]


def _name(name: str) -> str:
    if "\0" in name:
        raise InputError(f"{name!r} cannot be a name in SQL")
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    if "\0" in text:
        raise InputError(f"{text!r} cannot stand in SQL")
    return "'" + text.replace("'", "''") + "'"


def _number(value: float) -> str:
    text = repr(float(value))
    return text.replace("e", "E") if "e" in text else f"{text}E0"


def _plain(level: Any) -> Any:
    """Return a level as SQL can hold it: a flag, a number or a text."""
    level = level.item() if isinstance(level, np.generic) else level
    return level if isinstance(level, bool | int | float) else str(level)


def _level(level: Any) -> str:
    if isinstance(level, bool):
        return "TRUE" if level else "FALSE"
    if isinstance(level, int):
        return str(level)
    return _number(level) if isinstance(level, float) else _text(level)


def _moment(value: float) -> str:
    """Return milliseconds since 1970 as date and time."""
    ns = int(value) * 1_000_000 if float(value).is_integer() else round(value * 1_000_000)
    day, _, clock = str(np.datetime64(ns, "ns")).partition("T")
    return f"{day} {clock.rstrip('0').rstrip('.')}"
