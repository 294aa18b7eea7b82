"""Conditions in the words of the page's chips, as text that ``subgroup.parse`` reads.

A chip says ``weather = GOOD, MISTY`` for ``weather in ['GOOD', 'MISTY']``, ``wind speed > 3`` for a name that needs backticks,
``when ≥ 2024-05-31`` for a date, ``temp is missing`` for ``temp.isna()``: ``js/src/geometry/words.ts`` writes them. Without quotes only the
names and levels of the table tell where one ends, so all ways to read a text are looked for, and two that differ are one too many.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from .conditions import literal_text, observed_of, quote
from .hints import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .conditions import Node
    from .table import FeatureTable

__all__ = ["Chips"]

_STRING = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_ROWS = re.compile(r"@\s*(?:`(?:[^`]|``)*`|[^\W\d]\w*)")
_SIGN = re.compile(r"\s*(<=|>=|==|!=|[<>=\u2264\u2265\u2260])\s*")
_SIGNS = {"=": "==", "\u2264": "<=", "\u2265": ">=", "\u2260": "!="}
_END = re.compile(r"\s*(?:$|[,&|)\]<>=\u2264\u2265\u2260]|!=|(?:and|or)\b)")
"""What may follow a name or a value."""
_PLAIN = re.compile(
    r"[^,&|()\[\]<>=\u2264\u2265\u2260!'\"`]+?(?=\s*(?:$|[,&|)\]<>=\u2264\u2265\u2260]|!=|\b(?:and|or)\b))"
)
_LITERALS = {
    "number": re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"),
    "datetime": re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?"),
    "timedelta": re.compile(r"-?\d+ days?( [+-]?\d+:\d\d(:\d\d(\.\d+)?)?)?"),
}
"""How a chip writes a value, by the kind of the feature's axis."""
_ISOLATES = re.compile("[\u2066-\u2069]")  # the page puts them around names that are written from right to left

_ENOUGH = 2
_OR, _AND, _NOT = re.compile(r"\s*(?:\||or\b)"), re.compile(r"\s*(?:&|and\b)"), re.compile(r"not\b\s*|~\s*")
_SAID = re.compile(r"(?:\s+is (missing|known)\b|\.(isna|notna|isnull|notnull)\(\))")
_LISTED = re.compile(r"\s+(not\s+in|in)\s*\[")

Values = tuple[str, Any]
"""The first literal of a list, and the rest of it: None, or the same."""
Reading = tuple[str, int]
"""What has been read as text of the language, and where it ends."""
Readings = list[Reading]
"""All that begin at one place, at most two for each end: two are one too many, and texts of many values have thousands."""


class Chips:
    """Ways to read a text.

    Parameters
    ----------
    text : str
    table : FeatureTable
    rows : mapping
        Sets of rows by name; a chip shows what they are (``about``) instead of their names.
    """

    def __init__(self, text: str, table: FeatureTable, rows: Mapping[str, Node]) -> None:
        self.text, self.table = _ISOLATES.sub("", text).strip(), table
        self.names = dict.fromkeys([*table.features, *table.column_names])
        self.abouts = {about: name for name, node in rows.items() if (about := getattr(node, "about", ""))}
        self.ends = [at for at in range(1, len(self.text) + 1) if _END.match(self.text, at)]
        self.stuck: tuple[int, str] | None = None
        """How far it came to a value that a category does not have, and the category."""
        self._levels: dict[str, dict[str, list[str]]] = {}
        self._known: dict[tuple[str, ...], Any] = {}

    def readings(self) -> list[str]:
        """Return the ways to read the whole text, in the language of ``parse``; two stand for any more."""
        return [source for source, end in self._any(0) if self._skip(end) == len(self.text)]

    def unknown(self) -> tuple[str, str] | None:
        """Return the category and what was written for one of its values, where that is why nothing can be read."""
        if self.stuck is None:
            return None
        at, feature = self.stuck
        return feature, re.split(r"[,&|)\]]|\b(?:and|or)\b", self.text[at:])[0].strip()

    # ---- how conditions hang together --------------------------------------------------------

    def _any(self, at: int) -> Readings:
        return self._joined("any", at, self._all, _OR, " | ")

    def _all(self, at: int) -> Readings:
        return self._joined("all", at, self._one, _AND, " & ")

    def _joined(
        self, rule: str, at: int, part: Callable[[int], Readings], sign: re.Pattern[str], joined: str
    ) -> Readings:
        def read() -> Iterator[Reading]:
            for source, end in part(at):
                yield source, end
                if more := sign.match(self.text, end):
                    for rest, last in self._joined(rule, more.end(), part, sign, joined):
                        yield f"{source}{joined}{rest}", last

        return self._once((rule, str(at)), read)

    def _one(self, at: int) -> Readings:
        at = self._skip(at)

        def read() -> Iterator[Reading]:
            if negated := _NOT.match(self.text, at):
                yield from ((f"~({source})", end) for source, end in self._one(negated.end()))
            if self.text.startswith("(", at):
                for source, end in self._any(at + 1):
                    if self.text.startswith(")", self._skip(end)):
                        yield f"({source})", self._skip(end) + 1
            if named := _ROWS.match(self.text, at):
                yield named[0], named.end()
            for about, name in self.abouts.items():
                if self.text.startswith(about, at):
                    yield f"@{quote(name)}", at + len(about)
            yield from self._about_name(at)
            yield from self._between(at)

        return self._once(("one", str(at)), read)

    def _once(self, key: tuple[str, ...], read: Callable[[], Iterator[tuple[Any, int]]]) -> list[Any]:
        """Return what is read at one place, which is read once."""
        if key not in self._known:
            found: dict[int, list[Any]] = {}
            for what, end in read():
                same_end = found.setdefault(end, [])
                if len(same_end) < _ENOUGH and what not in same_end:
                    same_end.append(what)
            self._known[key] = [(what, end) for end, every in found.items() for what in every]
        return self._known[key]

    # ---- one comparison ----------------------------------------------------------------------

    def _about_name(self, at: int) -> Iterator[Reading]:
        """A name, and what is said of it."""
        for name, end in self._name(at):
            known = quote(name)
            if said := _SAID.match(self.text, end):
                yield (
                    f"{known}.{'notna' if said[1] == 'known' or (said[2] or '').startswith('not') else 'isna'}()",
                    said.end(),
                )
            sign = _SIGN.match(self.text, end)
            if sign is not None:
                yield from self._compared(name, _SIGNS.get(sign[1], sign[1]), sign.end())
            elif _END.match(self.text, end):
                yield known, end  # true or false
            if listed := _LISTED.match(self.text, end):
                for values, last in self._values(listed.end(), name):
                    if self.text.startswith("]", self._skip(last)):
                        yield f"{known} {' '.join(listed[1].split())} [{_listed(values)}]", self._skip(last) + 1

    def _compared(self, name: str, sign: str, at: int) -> Iterator[Reading]:
        known = quote(name)
        for values, end in self._values(at, name):
            alone = values[1] is None
            if alone and self.text[at:end].strip() in self.names and observed_of(self.table, name).kind == "category":
                continue  # a level, but a feature first: quotes tell. A number may be both, and then there are two readings
            if sign not in ("==", "!="):
                if alone and values[0] != "None":
                    yield f"{known} {sign} {values[0]}", end
            elif alone and values[0] == "None":
                yield f"{known}.{'isna' if sign == '==' else 'notna'}()", end
            elif alone:
                yield f"{known} {sign} {values[0]}", end
            else:
                yield f"{known} {'in' if sign == '==' else 'not in'} [{_listed(values)}]", end

    def _between(self, at: int) -> Iterator[Reading]:
        """A value, a name, and perhaps another value."""
        low = _PLAIN.match(self.text, at) or _STRING.match(self.text, at)
        sign = None if low is None else _SIGN.match(self.text, low.end())
        if low is None or sign is None:
            return
        for name, end in self._name(sign.end()):
            value = self._literal(low[0], name)
            if value is None:
                continue
            source = f"{value} {_SIGNS.get(sign[1], sign[1])} {quote(name)}"
            other = _SIGN.match(self.text, end)
            if other is None:
                yield source, end
                continue
            for high, last in self._value(other.end(), name):
                yield f"{source} {_SIGNS.get(other[1], other[1])} {high}", last

    # ---- names and values --------------------------------------------------------------------

    def _name(self, at: int) -> Iterator[Reading]:
        """Every name that stands there, and where it ends."""
        if quoted := _QUOTED.match(self.text, at):
            yield quoted[1].replace("``", "`"), quoted.end()
            return
        for name in self.names:
            end = at + len(name)
            whole = not (name[-1:].isalnum() and self.text[end : end + 1].isalnum())
            if name.strip() and whole and self.text.startswith(name, at):
                yield name, end

    def _values(self, at: int, name: str) -> list[tuple[Values, int]]:
        at = self._skip(at)

        def read() -> Iterator[tuple[Values, int]]:
            for value, end in self._value(at, name):
                yield (value, None), end
                more = self._skip(end)
                # 1,5 is no list: many write numbers so.
                if self.text.startswith(",", more) and not self.text[more + 1 : more + 2].isdigit():
                    yield from (((value, rest), last) for rest, last in self._values(more + 1, name))

        return self._once(("values", str(at), name), read)

    def _value(self, at: int, name: str) -> Iterator[Reading]:
        if name not in self.names:
            return
        if string := _STRING.match(self.text, at):
            yield string[0], string.end()
            return
        if observed_of(self.table, name).kind != "category":
            plain = _PLAIN.match(self.text, at)
            value = None if plain is None else self._literal(plain[0], name)
            if plain is not None and value is not None:
                yield value, plain.end()
            return
        shown, found = self._shown(name), False
        longest = max(map(len, shown))
        for end in self.ends[bisect_right(self.ends, at) : bisect_right(self.ends, at + longest)]:
            for value in shown.get(self.text[at:end], ()):
                found = True
                yield value, end
        if not found and at < len(self.text) and (self.stuck is None or at >= self.stuck[0]):
            self.stuck = at, name

    def _literal(self, written: str, name: str) -> str | None:
        """Return a value that was written as chips do it as a literal; None where that is not one of the feature."""
        kind = observed_of(self.table, name).kind if name in self.names else "category"
        if kind == "category":
            return None
        if written == "missing":
            return "None"
        if _STRING.fullmatch(written):
            return written
        pattern = _LITERALS.get(kind)
        if pattern is None or not pattern.fullmatch(written):
            return None
        return written if kind == "number" else repr(written)

    def _shown(self, name: str) -> dict[str, list[str]]:
        """Return a category's levels as literals, by what a chip shows of them."""
        if name not in self._levels:
            levels = [*(observed_of(self.table, name).levels or []), *declared(name, self.table)]
            found: dict[str, list[str]] = {}
            for literal in dict.fromkeys([*map(literal_text, levels), "None"]):
                found.setdefault(_as_shown(literal), []).append(literal)
            self._levels[name] = found
        return self._levels[name]

    def _skip(self, at: int) -> int:
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at


def _listed(values: Values) -> str:
    """Return literals as a list has them."""
    found, rest = [values[0]], values[1]
    while rest is not None:
        found.append(rest[0])
        rest = rest[1]
    return ", ".join(found)


def _as_shown(literal: str) -> str:
    """Return a literal as a chip shows it: without quotes and without what quotes make necessary."""
    if literal == "None":
        return "missing"
    return re.sub(r"\\(.)", r"\1", literal[1:-1], flags=re.DOTALL) if literal[:1] in "'\"" else literal
