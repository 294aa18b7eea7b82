"""A rule set as the source of a Python function that needs nothing but the standard library.

Names, levels and class labels enter the source only as literals (``repr``); its variables are named by plain ASCII identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs.conditions import Levels, Missing, Range

from .evaluation import axis_of, conditions_of
from .terms import Linear

if TYPE_CHECKING:
    from .conditions import Condition
    from .ruleset import RuleSet
    from .terms import Term

_READERS = {
    "number": "_number",
    "datetime": "_moment",
    "instant": "_moment",
    "timedelta": "_duration",
    "category": "_level",
}

_MISSING = """
def _missing(value):
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal to itself
        return True
"""

_HELPERS = {
    "_number": '''
def _number(value):
    """Return a number; NaN where it is missing, which no comparison holds for."""
    return nan if _missing(value) else float(value)
''',
    "_level": '''
def _level(value):
    """Return a level, None where it is missing; what is neither text nor number goes by its text."""
    if _missing(value):
        return None
    return value if isinstance(value, (str, bool, int, float)) or hasattr(value, "dtype") else str(value)
''',
    "_moment": '''
def _moment(value):
    """Return milliseconds since 1970 (UTC) of a datetime, a date or an ISO text; NaN where it is missing."""
    if _missing(value):
        return nan
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    return _duration(value - datetime(1970, 1, 1))
''',
    "_duration": '''
def _duration(value):
    """Return milliseconds of a timedelta; NaN where it is missing."""
    if _missing(value):
        return nan
    seconds = value.days * 86400 + value.seconds
    return float((seconds * 1000000 + value.microseconds) * 1000 + getattr(value, "nanoseconds", 0)) / 1e6
''',
}


def to_python(rules: RuleSet) -> str:
    """Return the source of ``predict(row: dict)``, which predicts as ``RuleSet.predict`` does.

    ``row`` maps column names to values; None, NaN, NaT and pandas.NA are missing. It returns the prediction, a dict of the outputs'
    predictions where there are several, or a dict of class probabilities. Numbers are compared as doubles.

    Examples
    --------
    >>> import pandas as pd
    >>> from pdp_widgets.rulefit import Rule, RuleSet
    >>> X = pd.DataFrame({"temp": [10.0, 20.0], "weather": ["GOOD", "MISTY"]})
    >>> source = to_python(RuleSet([Rule.of("temp > 12 & weather == 'GOOD'", X)], [5.0], 1.0))
    >>> "if x_temp > 12.0 and level_weather in ('GOOD',):" in source
    True
    """
    writer = _Writer(rules)
    body = [line for k, term in enumerate(rules.terms) for line in writer.term(k, term)]
    sums = [f"f{o}" for o in range(rules.n_outputs)]
    start = [f"    {name} = {_float(value)}" for name, value in zip(sums, rules.intercept, strict=True)]
    used = set(writer.readers)
    if "_moment" in used:
        used.add("_duration")
    imports = ["from datetime import datetime, timezone"] if "_moment" in used else []
    names = sorted({*(["exp"] if rules.link != "identity" else []), *(["nan"] if used - {"_level"} else [])})
    imports += [f"from math import {', '.join(names)}"] if names else []
    source = '"""The prediction of a set of rules, for one row at a time; written by pdp_widgets."""\n\n'
    source += "".join(f"{line}\n" for line in imports)
    labels = rules.classes if rules.link != "identity" else rules.outputs
    if rules.link != "identity" or rules.n_outputs > 1:
        constant = "CLASSES" if rules.link != "identity" else "OUTPUTS"
        source += f"\n{constant} = {_tuple(map(_literal, labels or ()))}\n"
    what = "probability of each class" if rules.link != "identity" else "prediction"
    source += "\n\ndef predict(row):\n"
    source += f'    """Return the {what} for a row, a dict of column names and values; None and NaN are missing."""\n'
    source += "".join(f"{line}\n" for line in [*writer.reads, *start, *body, *_returns(rules, sums)])
    if used:
        source += "\n" + _MISSING + "".join("\n" + text for name, text in _HELPERS.items() if name in used)
    return source


class _Writer:
    """Writes terms as statements, and remembers which columns they read and how."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.variables: dict[tuple[str, str], str] = {}
        self.reads: list[str] = []
        self.readers: list[str] = []

    def term(self, k: int, term: Term) -> list[str]:
        outputs = np.flatnonzero(self.rules.coefficients[:, k])
        if not len(outputs):
            return []
        a = {o: _float(self.rules.coefficients[o, k]) for o in outputs}
        if isinstance(term, Linear) and not term.level:
            x = self.variable(term.feature, term.kind)
            value = f"({x} if {x} == {x} else {_float(term.missing_as)})"
            if np.isfinite(term.low):
                value = f"max({value}, {_float(term.low)})"
            if np.isfinite(term.high):
                value = f"min({value}, {_float(term.high)})"
            return [f"    value = {value}", *(f"    f{o} += {a[o]} * value" for o in outputs)]
        test = " and ".join(map(self.condition, conditions_of(term))) or "True"
        return [f"    if {test}:", *(f"        f{o} += {a[o]}" for o in outputs)]

    def condition(self, condition: Condition) -> str:
        if isinstance(condition, Missing):
            return f"{self.variable(condition.feature, 'category')} is None"
        if isinstance(condition, Levels):
            kind = axis_of(condition) or "category"
            x = self.variable(condition.feature, kind)
            if kind == "category":
                return f"{x} {'not in' if condition.negate else 'in'} {_tuple(map(_literal, condition.levels))}"
            listed = _tuple(_float(level) for level in condition.levels if level is not None)
            test = f"{x} in {listed}" + (f" or {x} != {x}" if None in condition.levels else "")
            return f"not ({test})" if condition.negate else f"({test})" if " or " in test else test
        return self.range(condition)

    def range(self, condition: Range) -> str:
        low, high = condition.low, condition.high
        if low is None and high is None:
            x = self.variable(condition.feature, "category")
            return "True" if condition.missing else f"{x} is not None"
        x = self.variable(condition.feature, condition.kind)
        if low is not None and low == high and condition.low_closed and condition.high_closed:
            test = f"{x} == {_float(low)}"
        elif low is None or high is None:
            sign = (">=" if condition.low_closed else ">") if high is None else ("<=" if condition.high_closed else "<")
            test = f"{x} {sign} {_float(low if high is None else high)}"
        else:
            less = ["<=" if closed else "<" for closed in (condition.low_closed, condition.high_closed)]
            test = f"{_float(low)} {less[0]} {x} {less[1]} {_float(high)}"
        return f"({test} or {x} != {x})" if condition.missing else test

    def variable(self, feature: str, kind: str) -> str:
        """Return the variable that holds a column's value, read once."""
        reader = _READERS[kind]
        if (feature, reader) not in self.variables:
            prefix = {"_number": "x", "_level": "level", "_moment": "moment", "_duration": "duration"}[reader]
            plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", feature)
            name = f"{prefix}_{feature}" if plain else f"{prefix}{len(self.variables)}"
            self.variables[feature, reader] = name
            self.reads.append(f"    {name} = {reader}(row[{feature!r}])")
            self.readers.append(reader)
        return self.variables[feature, reader]


def _returns(rules: RuleSet, sums: list[str]) -> list[str]:
    if rules.link == "identity":
        return ["    return f0"] if len(sums) == 1 else [f"    return dict(zip(OUTPUTS, {_tuple(sums)}))"]
    from .ruleset import FARTHEST

    one = "1.0 / (1.0 + exp(-min(max({}, " + f"-{FARTHEST}), {FARTHEST})))"
    if rules.link == "logit":
        return [f"    share = {one.format('f0')}", "    return dict(zip(CLASSES, (1.0 - share, share)))"]
    return [
        f"    shares = {_tuple(one.format(name) for name in sums)}",
        "    total = sum(shares)",
        "    return {label: share / total for label, share in zip(CLASSES, shares)}",
    ]


def _tuple(items: Iterable[str]) -> str:
    """Return the source of a tuple."""
    listed = list(items)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def _float(value: Any) -> str:
    """Return a literal; 1e999 is how Python writes infinity without a name."""
    return repr(float(value)).replace("inf", "1e999")


def _literal(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return repr(value)
    return _float(value) if isinstance(value, float) else repr(str(value))
