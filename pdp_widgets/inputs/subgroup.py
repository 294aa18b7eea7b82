"""Subgroups of rows, read from text.

The language is the part of ``DataFrame.query`` that describes rows by the values of features:
``temp > 20 & season == 'SUMMER'``, ``3 < x <= 4``, ``season in ['A', 'B']``, ``x.isna()``, ``not``, ``~``, ``|``,
parentheses. What the page's chips show is read as well, as far as it can be read in one way only: ``=``, ``≤``, ``≥``, ``≠``, values,
dates and names without quotes, lists without brackets, ``x is missing`` (``chips.py``). A name is a feature, or any column of X, such as one of a group of
one-hot columns. Text is read with :mod:`ast` and a whitelist; nothing is ever evaluated. Any column name works between backticks (a backtick in a name is doubled). ``@name``
stands for a set of rows that no condition describes.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .chips import Chips
from .conditions import And, Levels, Missing, Node, Not, Or, Range, Rows, axis_value, conjunction, observed_of, quote
from .errors import InputError, unknown_name
from .hints import DATE, brief, check_level, is_level, syntax_hint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .columns import Observed
    from .table import FeatureTable

__all__ = ["And", "Levels", "Missing", "Node", "Not", "Or", "Range", "Rows", "conjunction", "parse", "quote"]

_MAX_TEXT = 100_000
_MAX_CHIP = 4000


def parse(text: str, table: FeatureTable, rows: Mapping[str, Node] | None = None) -> Node:
    """Read a condition.

    Parameters
    ----------
    text : str
        For example ``"temp > 20 & season == 'SUMMER'"``. ``&``, ``|`` bind as in ``DataFrame.query``: weaker than
        comparisons. A comparison with a missing value is false.
    table : FeatureTable
        Tells the features' names and kinds.
    rows : mapping, optional
        What ``@name`` means.

    Raises
    ------
    InputError
        With the unknown feature and the nearest known one, or what could not be read.
    """
    if not isinstance(text, str) or not text.strip():
        msg = f"a condition is a text such as \"temp > 20 & season == 'SUMMER'\", not {text!r}"
        raise InputError(msg)
    if len(text) > _MAX_TEXT:
        msg = f"the condition is longer than {_MAX_TEXT} characters; pass a mask instead"
        raise InputError(msg)
    known = dict(rows or {})
    try:
        return _read(text, table, known)
    except InputError as error:
        node = _as_a_chip(text, table, known)
        if node is None:
            raise
        if isinstance(node, InputError):
            raise node from error
        return node


def _read(text: str, table: FeatureTable, rows: dict[str, Node]) -> Node:
    """Read a text of the language itself."""
    source, names, row_names = _to_python(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # e.g. a lone backslash in a string
            tree = ast.parse(source, mode="eval").body
        return _Reader(table, names, row_names, rows).condition(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(_unreadable(text, table)) from error


def _as_a_chip(text: str, table: FeatureTable, rows: dict[str, Node]) -> Node | InputError | None:
    """Return what a text says in the words of the page's chips, or what is wrong with it; None where it is not written so."""
    if len(text) > _MAX_CHIP:
        return None
    chips = Chips(text, table, rows)
    found: dict[str, Node] = {}
    try:
        for source in chips.readings():
            try:
                node = _read(source, table, rows)
            except InputError:
                continue
            found.setdefault(node.text, node)
            if len(found) > 1:
                first, second = found
                return InputError(
                    f"{brief(repr(text))} may be read as {first} or as {second}; write it so, with quotes around the values"
                )
    except RecursionError:
        return None
    if found:
        return next(iter(found.values()))
    if (unknown := chips.unknown()) is not None and "," in text:
        feature, value = unknown
        try:
            check_level(feature, value, table)
        except InputError as error:
            return error
    return None


def _unreadable(text: str, table: FeatureTable) -> str:
    return f"could not read the condition {brief(repr(text))}{syntax_hint(text, table)}"


_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
    r"|(?P<at>@\s*)?(?:`(?P<quoted>(?:[^`]|``)*)`(?!`)|(?P<word>[^\W\d]\w*))"
    r"|(?P<number>\d[\w.]*(?:(?<=[eE])[+-]\d+)?)"
    r"|(?P<operator>[&|\n\u2264\u2265\u2260]|(?<![<>=!:])=(?![=<>]))",
    re.DOTALL,
)


_OPERATOR = {"&": " and ", "|": " or ", "\n": " ", "=": "==", "\u2264": "<=", "\u2265": ">=", "\u2260": "!="}


def _to_python(text: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """Python source with a stand-in for each awkward name, and what the stand-ins mean."""
    names: dict[str, str] = {}
    rows: dict[str, str] = {}

    def swap(match: re.Match[str]) -> str:
        if match["operator"]:
            return _OPERATOR[match["operator"]]
        quoted, word = match["quoted"], match["word"]
        if quoted is None and word is None:
            return match[0]
        name = word if quoted is None else quoted.replace("``", "`")
        if match["at"] is not None:
            known, stand_in = rows, f"_pdp_rows{len(rows)}"
        elif quoted is not None or word.startswith("_pdp") or unicodedata.normalize("NFKC", word) != word:
            known, stand_in = names, f"_pdp_name{len(names)}"
        else:
            return match[0]
        known[stand_in] = name
        return f" {stand_in}" if match["at"] is not None else stand_in

    return _TOKEN.sub(swap, text).strip(), names, rows


_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


class _Reader:
    """Turns the syntax tree into conditions; whatever is not on the list is refused."""

    def __init__(
        self, table: FeatureTable, names: dict[str, str], row_names: dict[str, str], rows: dict[str, Node]
    ) -> None:
        self.table, self.names, self.row_names, self.rows = table, names, row_names, rows

    def condition(self, node: ast.expr) -> Node:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return conjunction([self.condition(value) for value in values])
            case ast.BoolOp(op=ast.Or(), values=values):
                return Or(tuple(self.condition(value) for value in values))
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                return ~self.condition(operand)
            case ast.Compare():
                return self.comparison(node)
            case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method), args=[], keywords=[]):
                missing = Missing(self.feature(name))
                if method in ("isna", "isnull"):
                    return missing
                if method in ("notna", "notnull"):
                    return Not(missing)
            case ast.Name(id=stand_in) if stand_in in self.row_names:
                return self.row_set(self.row_names[stand_in])
            case ast.Name():
                return self.flag(self.feature(node))
            case ast.Constant(value=bool(value)):
                return And(()) if value else Or(())
            case ast.Tuple():
                msg = "a comma stands only within [...]; write & between conditions and a number as 1234.5"
                raise InputError(msg)
        raise self.refuse(node)

    def comparison(self, node: ast.Compare) -> Node:
        sides = [node.left, *node.comparators]
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            return self.membership(sides[0], sides[1], negate=isinstance(node.ops[0], ast.NotIn))
        parts = []
        for left, op, right in zip(sides[:-1], node.ops, sides[1:], strict=True):
            sign = _COMPARE.get(type(op))
            if sign is None:
                raise self.refuse(node)
            left, right = self.quoted(left, right), self.quoted(right, left)  # noqa: PLW2901
            if self.is_feature(left) and self.is_feature(right):
                raise self.two_names(left, right)
            if self.is_feature(left):
                parts.append(self.compare(self.feature(left), sign, right))
            elif self.is_feature(right):
                parts.append(self.compare(self.feature(right), _FLIP[sign], left))
            else:
                raise self.refuse(node)
        return conjunction(parts)

    def compare(self, feature: str, sign: str, value_node: ast.expr) -> Node:
        value = self.value(value_node)
        observed = observed_of(self.table, feature)
        if value is None:
            msg = f"nothing equals a missing value; write {quote(feature)}.isna() or {quote(feature)}.notna()"
            raise InputError(msg)
        if observed.kind == "category":
            if sign not in ("==", "!="):
                msg = f"feature '{feature}' is a category: compare it with ==, !=, in or not in, not with {sign}"
                raise InputError(msg)
            check_level(feature, value, self.table)
            return Levels(feature, (value,), negate=sign == "!=")
        bound = _written_bound(value, observed, feature)
        at = Range(feature, bound, bound, kind=observed.text_kind)
        match sign:
            case "==":
                return at
            case "!=":
                return Levels(feature, (bound,), negate=True, kind=observed.text_kind)
            case "<" | "<=":
                return replace(at, low=None, high_closed=sign == "<=")
            case _:
                return replace(at, high=None, low_closed=sign == ">=")

    def membership(self, name: ast.expr, listed: ast.expr, *, negate: bool) -> Node:
        if not self.is_feature(name) or not isinstance(listed, ast.List | ast.Tuple | ast.Set):
            raise self.refuse(name)
        feature = self.feature(name)
        observed = observed_of(self.table, feature)
        levels = [self.value(self.quoted(item, name)) for item in listed.elts]
        if observed.kind == "category":
            for level in levels:
                check_level(feature, level, self.table)
        else:
            levels = [None if level is None else _written_bound(level, observed, feature) for level in levels]
        return Levels(feature, tuple(levels), negate=negate, kind=observed.text_kind)

    def is_feature(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id not in self.row_names)

    def feature(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            raise self.refuse(node)
        name = self.names.get(node.id, node.id)
        if not self.is_known(name):
            known = dict.fromkeys([*self.table.features, *self.table.column_names])
            raise unknown_name("feature", name, known, "a column of X")
        return name

    def is_known(self, name: str) -> bool:
        return name in self.table.features or name in self.table.column_names

    def flag(self, feature: str) -> Node:
        observed = observed_of(self.table, feature)
        if observed.kind == "category" and all(isinstance(level, bool | np.bool_) for level in observed.levels or []):
            return Levels(feature, (True,))
        msg = f"feature '{feature}' is not true or false; compare it with a value"
        raise InputError(msg)

    def row_set(self, name: str) -> Node:
        if name not in self.rows:
            msg = f"there is no set of rows called @{quote(name)}; {self.known_rows()}"
            raise InputError(msg)
        return self.rows[name]

    def known_rows(self) -> str:
        if not self.rows:
            return "sets of rows get a name when they are drawn on curves or given as a mask"
        known = [
            f"@{quote(name)} ({about})" if (about := getattr(rows, "about", "")) else f"@{quote(name)}"
            for name, rows in self.rows.items()
        ]
        return "known: " + ", ".join(reversed(known[-5:])) + (f" and {len(known) - 5} older" if len(known) > 5 else "")

    def two_names(self, left: ast.expr, right: ast.expr) -> InputError:
        """Say why a name cannot be compared with a name: both are features, or one is a text without quotes."""
        if not isinstance(left, ast.Name) or not isinstance(right, ast.Name):
            return self.refuse(left if isinstance(right, ast.Name) else right)
        known = [self.is_known(self.names.get(side.id, side.id)) for side in (left, right)]
        if all(known):
            return InputError(
                f"{self.source(left)} is compared with {self.source(right)}: comparing two features is not possible "
                "here; pass a mask"
            )
        if not any(known):
            self.feature(left)  # raises
        return self.bare_word(right if known[0] else left)

    def bare_word(self, node: ast.expr) -> InputError:
        word = self.source(node)
        hint = "text values need quotes: '...'"
        if word.lower() in ("true", "false"):
            hint = f"write {word.capitalize()}"
        elif word.lower() in ("nan", "na", "nat", "null", "none"):
            hint = "missing values are asked for with .isna() or .notna()"
        return InputError(f"{word} stands where a value is expected; {hint}")

    def quoted(self, word: ast.expr, compared: ast.expr) -> ast.expr:
        """Return a word as the text that it stands for where it is a level of the compared feature and nothing else."""
        if not isinstance(word, ast.Name) or word.id in self.names or word.id in self.row_names:
            return word
        if self.is_known(word.id) or not isinstance(compared, ast.Name):
            return word
        feature = self.names.get(compared.id, compared.id)
        if not self.is_known(feature) or observed_of(self.table, feature).kind != "category":
            return word
        return ast.Constant(word.id) if is_level(feature, word.id, self.table) else word

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() | bool() | int() | float() | None):
                return node.value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.UnaryOp(op=ast.UAdd(), operand=ast.Constant(value=int() | float() as number)):
                return number
            case ast.Name() | ast.Attribute():
                raise self.bare_word(node)
        if DATE.search(self.source(node).replace(" ", "")):
            msg = f"{self.source(node)} stands where a value is expected; dates need quotes: '2024-05-31'"
            raise InputError(msg)
        raise self.refuse(node)

    def source(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        for stand_in, name in self.names.items():
            text = text.replace(stand_in, quote(name))
        for stand_in, name in self.row_names.items():
            text = text.replace(stand_in, "@" + quote(name))
        return text

    def refuse(self, node: ast.expr) -> InputError:
        if isinstance(node, ast.Attribute) and self.is_known(name := ast.unparse(node)):
            return InputError(f"write {quote(name)} with backticks")
        return InputError(
            f"could not read {brief(repr(self.source(node)))}: a condition compares a feature with values, such as "
            "temp > 20, 3 < x <= 4, season in ['A', 'B'], x.isna(); for anything else pass a mask"
        )


def _written_bound(value: Any, observed: Observed, feature: str) -> float:
    """The same for a literal in a text, where a date is never a bare number of milliseconds."""
    bare = isinstance(value, float) and observed.kind != "number" and math.isfinite(value)
    return axis_value(int(value) if bare else value, observed, feature)
