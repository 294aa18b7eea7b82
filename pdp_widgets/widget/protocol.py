"""What the page may ask: every message is checked here before anything is done. Nothing in it is evaluated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pdp_widgets.inputs import InputError

from .still import DRAWN, MODES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pdp_widgets.inputs import Grid

__all__ = ["PROTOCOL", "Checker", "Request", "error", "ok"]

PROTOCOL = 1

_LONGEST_TEXT = 100_000
_LONGEST_GESTURE = 200
_OPS = ("replace", "add", "remove")
_FILES = {**dict.fromkeys(DRAWN, ("png", "svg", "csv")), "python": ("py",), "page": ("html",)}
"""What there are files of, and in which formats."""


@dataclass(frozen=True)
class Request:
    """A valid request."""

    id: str | int
    method: str
    params: dict[str, Any] = field(default_factory=dict)


def ok(request_id: Any, result: Any = None) -> dict[str, Any]:
    """Return the reply to a request that was done."""
    return {"kind": "reply", "id": request_id, "status": "ok", "result": result}


def error(request_id: Any, message: str) -> dict[str, Any]:
    """Return the reply to a request that could not be done, with a readable reason."""
    return {"kind": "reply", "id": request_id, "status": "error", "message": message}


class Checker:
    """Checks messages against what there is.

    Parameters
    ----------
    features, outputs : collection of str
        Known names.
    grid_of : callable
        Gives a feature's grid, for the number of levels.
    panels : collection of str
        Known names of panels.
    """

    def __init__(
        self,
        features: Collection[str],
        outputs: Collection[str],
        grid_of: Callable[[str], Grid],
        panels: Collection[str] = (),
    ) -> None:
        self.features, self.outputs, self.grid_of, self.panels = features, outputs, grid_of, panels
        self._params: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "select": self._select,
            "query": lambda params: {"text": _text(params.get("text")), "op": _op(params.get("op", "replace"))},
            "open": self._open,
            "compute": lambda params: {"panel": self._panel(params.get("panel"))},
            "visible": self._visible,
            "terms": self._terms,
            "overlap": lambda params: {name: _position(params, name) for name in ("of", "term")},
            "rule": lambda params: {"op": _op(params.get("op"))} | {n: _position(params, n) for n in ("of", "term")},
            "row": self._row,
            "stability": lambda params: {"of": _position(params, "of"), "on": _flag(params, "on")},
            "file": _file,
            **dict.fromkeys(("hello", "clear", "invert", "undo", "redo", "stop", "resume"), lambda _: {}),
        }

    def request(self, content: Any) -> Request:
        """Return the valid request in a message.

        Raises
        ------
        InputError
            With what is wrong.
        """
        if not isinstance(content, dict) or content.get("kind") != "request":
            raise InputError("not a request")
        method = content.get("method")
        check = self._params.get(method) if isinstance(method, str) else None
        if check is None:
            raise InputError(f"unknown method {str(method)[:80]!r}")
        params = content.get("params")
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise InputError(f"{method}: params is not an object")
        return Request(message_id(content), str(method), check(params))

    def _select(self, params: dict[str, Any]) -> dict[str, Any]:
        op = _op(params.get("op"))
        condition = params.get("condition")
        if not isinstance(condition, dict):
            raise InputError("select: condition is missing")
        gesture = params.get("gesture")
        if gesture is not None and not (isinstance(gesture, str) and len(gesture) <= _LONGEST_GESTURE):
            raise InputError(f"select: gesture is a text of at most {_LONGEST_GESTURE} characters")
        return {"op": op, "condition": self._condition(condition), "gesture": gesture}

    def _condition(self, condition: dict[str, Any]) -> dict[str, Any]:
        if condition.get("type") == "all":
            parts = condition.get("conditions")
            if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, dict) for part in parts):
                raise InputError("a condition of type all has two conditions")
            kinds, features = ({str(part.get(name)) for part in parts} for name in ("type", "feature"))
            if not kinds <= {"range", "levels"} or len(features) < 2:
                raise InputError("a condition of type all has ranges or levels of two features")
            return {"type": "all", "conditions": [self._condition(part) for part in parts]}
        feature = self._feature(condition.get("feature"))
        grid = self.grid_of(feature)
        match condition.get("type"):
            case "range":
                if grid.kind == "category":
                    raise InputError(f"feature {feature!r} is a category and has no range")
                low, high = (_number(condition.get(side), optional=True) for side in ("low", "high"))
                if low is not None and high is not None and low > high:
                    low, high = high, low
                return {"type": "range", "feature": feature, "low": low, "high": high}
            case "levels":
                levels = condition.get("levels")
                if not isinstance(levels, list) or len(levels) > grid.size:
                    raise InputError("levels is a list of grid positions")
                if not all(_is_whole(level) and 0 <= level < grid.size for level in levels):
                    raise InputError(f"a level of {feature!r} is a whole number from 0 to {grid.size - 1}")
                return {"type": "levels", "feature": feature, "levels": sorted({int(level) for level in levels})}
            case "ice":
                output = condition.get("output")
                if not isinstance(output, str) or output not in self.outputs:
                    raise InputError(f"unknown output {str(output)[:80]!r}")
                x, y = (_interval(condition.get(side)) for side in ("x", "y"))
                centered = condition.get("centered")
                if not isinstance(centered, bool):
                    raise InputError("centered is true or false")
                return {"type": "ice", "feature": feature, "output": output, "x": x, "y": y, "centered": centered}
        raise InputError("the type of a condition is range, levels, ice or all")

    def _visible(self, params: dict[str, Any]) -> dict[str, Any]:
        names = params.get("features")
        if not isinstance(names, list) or len(names) > len(self.features):
            raise InputError("visible: features is a list of names")
        return {"features": [self._feature(name) for name in names]}

    def _open(self, params: dict[str, Any]) -> dict[str, Any]:
        names = params.get("panels")
        if not isinstance(names, list) or len(names) > len(self.panels):
            raise InputError("open: panels is a list of names")
        return {"panels": [self._panel(name) for name in names]}

    def _terms(self, params: dict[str, Any]) -> dict[str, Any]:
        subject = params.get("subject")
        if subject not in (None, "model", "outcome"):
            raise InputError("terms: subject is model or outcome")
        return {"step": None if params.get("step") is None else _position(params, "step"), "subject": subject}

    def _row(self, params: dict[str, Any]) -> dict[str, Any]:
        label, of = params.get("label"), _position(params, "of")
        if label is None:
            return {"of": of, "row": _position(params, "row"), "label": None}
        if not isinstance(label, str) or len(label) > _LONGEST_TEXT:
            raise InputError("row: label is a text")
        return {"of": of, "row": None, "label": label}

    def _panel(self, name: Any) -> str:
        if not isinstance(name, str) or name not in self.panels:
            raise InputError(f"unknown panel {str(name)[:80]!r}")
        return name

    def _feature(self, name: Any) -> str:
        if not isinstance(name, str) or name not in self.features:
            raise InputError(f"unknown feature {str(name)[:80]!r}")
        return name


def message_id(content: Any) -> str | int:
    """Return the id a reply must carry.

    Raises
    ------
    InputError
        When there is none.
    """
    found = content.get("id") if isinstance(content, dict) else None
    whole = isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**53
    if not whole and not (isinstance(found, str) and len(found) <= 200):
        raise InputError("a message carries an id: a short text or a whole number")
    return found  # type: ignore[return-value]


def _number(value: Any, *, optional: bool = False) -> float | None:
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"a bound is a number, not {str(value)[:80]!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError("a bound is a finite number")
    return number


def _interval(value: Any) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise InputError("a side of the rectangle is two numbers")
    first, second = (_number(end) for end in value)
    assert first is not None
    assert second is not None
    return min(first, second), max(first, second)


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


def _position(params: dict[str, Any], name: str) -> int:
    value: Any = params.get(name)
    if not _is_whole(value) or not 0 <= value < 2**31:
        raise InputError(f"{name} is a whole number, 0 or more")
    return int(value)


def _flag(params: dict[str, Any], name: str) -> bool:
    value = params.get(name)
    if not isinstance(value, bool):
        raise InputError(f"{name} is true or false")
    return value


def _file(params: dict[str, Any]) -> dict[str, Any]:
    what, form, mode, swapped = (params.get(name) for name in ("what", "format", "mode", "swapped"))
    if not isinstance(what, str) or what not in _FILES:
        raise InputError(f"there is no file of {str(what)[:80]!r}; expected one of {', '.join(_FILES)}")
    if form not in _FILES[what]:
        raise InputError(f"a file of {what} is one of {', '.join(_FILES[what])}, not {str(form)[:80]!r}")
    if mode is not None and mode not in MODES.get(what, ()):
        raise InputError(f"{what} cannot be shown as {str(mode)[:80]!r}")
    if swapped not in (None, True, False):
        raise InputError("swapped is true or false")
    return {"what": what, "form": form, "mode": mode, "swapped": bool(swapped)}


def _op(value: Any) -> str:
    if value not in _OPS:
        raise InputError(f"select: op is one of {', '.join(_OPS)}")
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise InputError(f"query: text is a text of at most {_LONGEST_TEXT} characters")
    return value
