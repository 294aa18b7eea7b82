"""The focused curves as a figure: the same curves under the same names in the same hues as on the page, from the traits that it draws.

What ``geometry/overlays.ts`` and ``draw/hues.ts`` do for the page, said once more: hues follow a group's place among all groups, also
where some have no rows, a model's place among all models, and a class's among those that are not in focus.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.figures.parts import (
    CIVIDIS,
    COLOURS,
    INK,
    MUTED,
    REST,
    SELECTED,
    Curves,
    Series,
    Spread,
    axis,
    colour_of,
    mixed,
)
from pdp_widgets.inputs import InputError

from .wire import unpack

if TYPE_CHECKING:
    from .still import Seen

__all__ = ["curves", "models_drawn"]

_MOST_LINES = 200
_TAIL = 0.02
"""Share of far values that the scale of the lines' colours leaves out, at each end; and of slopes that their axis does."""
_DAY = 86_400_000.0
_WIDTHS = {"model": 1.6, "group": 2.0, "class": 2.0, "ale": 2.5}
_NONE = 255
"""Of no group, or of several."""


def curves(seen: Seen, ice: bool = True, mode: str | None = None) -> tuple[Curves, Spread]:
    """Return what the page draws, and how the rows spread below it.

    Parameters
    ----------
    seen : Seen
        What the widget shows.
    ice : bool
        Draw single rows if the page does.
    mode : "classes" or None
        Draw all outputs.

    Raises
    ------
    InputError
        For all outputs where there are no such curves.
    """
    wire = seen["_curve"]
    drawn = _Drawn(seen, mode == "classes")
    beside = drawn.beside()
    rest, *selection = drawn.sides() or (None,)
    lines = [*([rest] if rest else []), drawn.base(beside), *selection, *beside]
    found = axis(wire["feature"], wire["kind"], drawn.grid.places, drawn.grid.labels)
    found = replace(found, whole=wire["integer"])
    # All outputs are on one scale; which of them a curve is of is said at its end.
    label = in_words(seen["_info"]["scale"], [wire["output"]]) if mode is None else seen["_info"]["scale"]
    if drawn.grid.per:
        label = f"slope of the {label} per {drawn.grid.per}"
    elif seen["centered"]:
        label = f"change of the {label}"
    own = drawn.own_rows() if ice else {}
    zero = drawn.grid.centred or bool(drawn.grid.per)
    figure = Curves(found, label, tuple(lines), _title(seen, mode), feature=wire["feature"], zero=zero, **own)
    hist, split = wire["hist"], drawn.split
    selected = unpack(split["selection"]["counts"]) if split else None
    edges = None if hist["edges"] is None else unpack(hist["edges"])
    return figure, Spread(edges, unpack(hist["counts"]), selected)


def models_drawn(seen: Seen, mode: str | None = None) -> list[str]:
    """Return the names of the other models whose curves are drawn, in their order."""
    drawn = _Drawn(seen, mode == "classes")
    return [] if drawn.classes or drawn.groups is not None else [one["name"] for one in drawn.models()]


def _title(seen: Seen, mode: str | None) -> str:
    wire, effects = seen["_curve"], seen["_effects"]
    kind = "accumulated local effect" if seen["effect"] == "ale" and effects.get("ale") else "partial dependence"
    by = f" by {seen['by']}" if seen["by"] and mode is None else " by class" if mode == "classes" else ""
    return f"{seen['_info']['model']}: {kind} on {wire['feature']}{by}"


class _Grid:
    """The places of the focused curve on its axis, and the shape that its values take on screen.

    Points are the curve's own, in its own order; those of a number axis without the missing level.
    """

    def __init__(self, seen: Seen) -> None:
        wire = seen["_curve"]
        self.levels = wire["kind"] == "category"
        x = unpack(wire["x"])
        self.missing = -1 if self.levels else int(wire["missing"])
        order = np.arange(len(x))
        if not self.levels:
            order = order[(order != self.missing) & np.isfinite(x)]
            order = order[np.argsort(x[order], kind="stable")]
        self.order, self.x = order, x[order].astype(float)
        self.labels = [wire["labels"][k] for k in order] if wire["labels"] else []
        self.unit, self.per = 1.0, ""
        if seen["derivative"] and not self.levels and len(order) > 1:
            self.unit, self.per = _unit(wire, float(self.x[-1] - self.x[0]))
        self.centred = bool(seen["centered"]) and not self.per
        self.places = (self.x[1:] + self.x[:-1]) / 2 if self.per else self.x

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Return values on the curve's own points (last axis) as the page draws them."""
        shown = values[..., self.order]
        if self.per:
            return np.diff(shown) / (np.diff(self.x) / self.unit)
        return shown - values[..., :1] if self.centred else shown

    def missing_of(self, values: np.ndarray) -> np.ndarray | None:
        """Return values at the missing level as the page draws them; None where there is no such level, or no slope."""
        if self.missing < 0 or self.per:
            return None
        shown = values[..., self.missing]
        return shown - values[..., 0] if self.centred else shown

    def thinner(self, thin: np.ndarray) -> np.ndarray:
        """Return where few rows are, as the points are drawn."""
        shown = thin[self.order].astype(bool)
        return shown[1:] | shown[:-1] if self.per else shown

    def elsewhere(self, x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a curve with places of its own as the page draws it."""
        if self.per:
            return (x[1:] + x[:-1]) / 2, np.diff(values) / (np.diff(x) / self.unit)
        if not self.centred or not len(x) or not len(self.x):
            return x, values
        start = values[x == self.x[0]] if self.levels else np.interp(self.x[:1], x, values, np.nan, np.nan)
        return x, values - (start[0] if len(start) and np.isfinite(start[0]) else values[0])


def _unit(wire: dict[str, Any], span: float) -> tuple[float, str]:
    """Return what slopes are per: of dates per day, hour or second, whichever the axis shows several of."""
    if wire["kind"] == "number":
        return 1.0, f"unit of {wire['feature']}"
    if span >= 2 * _DAY:
        return _DAY, "day"
    return (3_600_000.0, "hour") if span >= 7_200_000.0 else (1000.0, "second")


class _Drawn:
    """What is drawn of a widget's traits."""

    def __init__(self, seen: Seen, classes: bool) -> None:
        self.seen, self.wire, self.grid, self.classes = seen, seen["_curve"], _Grid(seen), classes
        effects, focus = seen["_effects"], (self.wire["feature"], self.wire["output"])
        self.effects = effects if (effects.get("feature"), effects.get("output")) == focus else {}
        if classes and self.effects.get("outputs") is None:
            raise InputError(
                "there are no curves of all outputs: they are shown of 3 to 8 classes, once they are computed"
            )
        self.ale = self.effects.get("ale") if seen["effect"] == "ale" and self.effects.get("effect") == "ale" else None
        groups = self.effects.get("groups") if seen["by"] and not classes else None
        self.groups = groups if groups is not None and groups["by"] == seen["by"] else None
        split = seen["_split"]
        self.split = split if split and (split["feature"], split["output"]) == focus else None
        thin = self.wire.get("thin")
        self.few = np.zeros(len(unpack(self.wire["x"])), dtype=bool) if thin is None else unpack(thin) > 0

    # ---- the curve, and both sides of the selection --------------------------------------

    def base(self, beside: list[Series]) -> Series:
        """Return the curve in focus, as a thin line where its accumulated effect is drawn."""
        faint = self.ale is not None and self.ale["all"] is not None
        models = any(one.width == _WIDTHS["model"] for one in beside)
        name = "all rows"
        if self.classes:
            name = self.wire["output"]
        elif faint:
            name = "PD"
        elif models:
            name = self.seen["_info"]["model"]
        look: dict[str, Any] = {"colour": MUTED, "width": 1.2} if faint else {"width": 2.5, "n": self.wire["rows"]}
        plain = not self.grid.per and not self.grid.centred and self.wire["rows"] < self.wire["total"]
        stderr = unpack(self.wire["stderr"])[self.grid.order] if plain and self.wire.get("stderr") else None
        return self._on_grid(unpack(self.wire["average"]), None, name=name, stderr=stderr, **look)

    def sides(self) -> list[Series]:
        """Return the partial dependence of the selected rows and of the others; none behind accumulated effects."""
        if self.split is None or (self.ale is not None and self.ale["all"] is not None):
            return []
        found = []
        about = not self.split.get("exact", True)
        for side, name, colour, k, width in (
            ("rest", "rest", REST, 2, 2.0),
            ("selection", "selection", SELECTED, 0, 2.5),
        ):
            part = self.split[side]
            thin = unpack(part["thin"]) > 0 if part.get("thin") else None
            look = {"name": name, "colour": colour, "n": part["n"], "about": about, "beside": (k, 3), "width": width}
            found.append(self._on_grid(unpack(part["average"]), thin, **look))
        return found

    def _on_grid(self, values: np.ndarray, thin: np.ndarray | None, **look: Any) -> Series:
        few = self.few if thin is None else self.few | thin
        missing = self.grid.missing_of(values.astype(float))
        return Series(
            self.grid.shaped(values.astype(float)), missing=None if missing is None else float(missing),
            missing_thin=bool(missing is not None and few[self.grid.missing]), thin=self.grid.thinner(few), **look,
        )  # fmt: skip

    # ---- beside it -----------------------------------------------------------------------

    def beside(self) -> list[Series]:
        """Return what stands beside the curve, in the page's order."""
        found = []
        if self.ale is not None and self.ale["all"] is not None:
            for side, name, colour, k in (
                ("rest", "rest", REST, 2),
                ("all", "ALE", INK, 1),
                ("selection", "selection", SELECTED, 0),
            ):
                one = self.ale[side]
                if one is not None:
                    width = 2.0 if side == "rest" else 2.5
                    look = {"name": name, "colour": colour, "n": one["n"], "beside": (k, 3), "width": width}
                    found.append(self._overlay(one, "ale", **look))
        if self.classes:
            return found + self._classes()
        if self.groups is not None:
            note = ", selected" if self.groups["selected"] else ""
            return found + self._slots([
                self._overlay(one, "group", name=f"{one['label']}{note}", n=one["n"], **colour_of(g))
                for g, one in enumerate(self.groups["levels"])
                if one["values"] is not None and one["n"] > 0
            ])  # fmt: skip
        return found + self._models()

    def _classes(self) -> list[Series]:
        outputs = self.effects["outputs"]
        averages = unpack(outputs["averages"])
        others = [
            (name, values)
            for name, values in zip(outputs["names"], averages, strict=True)
            if name != self.wire["output"]
        ]
        found = [
            self._on_grid(values, None, name=name, width=_WIDTHS["class"], **colour_of(k))
            for k, (name, values) in enumerate(others)
        ]
        return self._slots(found)

    def models(self) -> list[dict[str, Any]]:
        """Return the other models that have a curve, as the page has them."""
        seen, found = self.seen, self.effects.get("models")
        levels = seen["show_ice"] and self._colours_levels()
        if found is None or not seen["show_models"] or seen["by"] or levels or self.effects["effect"] != seen["effect"]:
            return []
        return [one for one in found["lines"] if one["values"] is not None]

    def _models(self) -> list[Series]:
        found = self.models()
        note = ", selected" if found and self.effects["models"]["selected"] else ""
        return self._slots([
            self._overlay(
                one, "model", name=f"{one['name']}{note}", n=None if one["n"] == self.wire["rows"] else one["n"],
                **colour_of(one["hue"]),
            )
            for one in found
        ])  # fmt: skip

    def _overlay(self, one: dict[str, Any], kind: str, **look: Any) -> Series:
        values = unpack(one["values"]).astype(float)
        look = {"width": _WIDTHS[kind], **look}
        if one["x"] is not None:
            x, shown = self.grid.elsewhere(unpack(one["x"]).astype(float), values)
            return self._own_places(x, shown, **look)
        return self._on_grid(values, unpack(one["thin"]) > 0 if one.get("thin") else None, **look)

    def _own_places(self, x: np.ndarray, values: np.ndarray, **look: Any) -> Series:
        """Return a curve on its own places, of which NaN is the missing level."""
        there = np.isfinite(x)
        lone = values[~there]
        missing = float(lone[0]) if len(lone) and self.grid.missing >= 0 else None
        return Series(values[there], x=x[there], missing=missing, **look)

    @staticmethod
    def _slots(found: list[Series]) -> list[Series]:
        return [replace(one, beside=(k, len(found))) for k, one in enumerate(found)]

    # ---- single rows ---------------------------------------------------------------------

    def own_rows(self) -> dict[str, Any]:
        """Return the curves of single rows, as ``Curves`` takes them, where the page draws them."""
        own = self.seen["_ice"] if self.seen["show_ice"] else None
        if not own or (own["feature"], own["output"]) != (self.wire["feature"], self.wire["output"]):
            return {}
        values = unpack(own["values"]).astype(float) + own["offset"]
        m = len(values)
        size = min(m, _MOST_LINES)
        rows = np.arange(size) * m // max(size, 1)
        shown = self.grid.shaped(values[rows])
        found: dict[str, Any] = {"individual": shown, "individual_missing": self.grid.missing_of(values[rows])}
        if self.grid.per and np.isfinite(shown).any():  # slopes of trees are spikes
            found["limits"] = tuple(np.nanquantile(shown, [_TAIL, 1 - _TAIL]).tolist())
        tints, legend = self._tints(m)
        if tints is not None:
            found |= {"tints": tuple(tints[row] for row in rows.tolist()), "legend": tuple(legend)}
        selection = self.seen["_selection"]
        chosen = unpack(selection["sample"]) if selection.get("text") else np.empty(0)
        if len(chosen) == m:
            found["chosen"] = chosen[rows] > 0
        return found

    def _colours(self) -> dict[str, Any] | None:
        """Return the values that colour single rows; a hue is a class, a group or a level, never two of them at once."""
        colour = self.effects.get("colour")
        if not colour or colour["feature"] != self.seen["color_by"]:
            return None
        return None if colour["labels"] and (self.classes or self.groups is not None) else dict(colour)

    def _colours_levels(self) -> bool:
        colour = self._colours()
        return colour is not None and bool(colour["labels"])

    def _tints(self, m: int) -> tuple[list[str] | None, list[tuple[str, str]]]:
        """Return a colour per sampled row, None for one colour, and what they mean."""
        colour = self._colours()
        if colour is not None and len(values := unpack(colour["values"])) == m:
            title = (f"lines by {colour['feature']}:", "")
            if colour["labels"]:
                tints, levels = _by_level(values, colour["labels"])
                return tints, [title, *levels]
            tints, ends = _by_value(values)
            words = _ends_in_words(ends, colour["kind"])
            return tints, [title, (words[0], _shade(0.0)), (words[1], _shade(1.0))]
        if self.groups is not None and len(codes := unpack(self.groups["codes"])) == m:
            return [MUTED if code == _NONE else colour_of(int(code))["colour"] for code in codes], []
        return None, []


def _by_level(values: np.ndarray, labels: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return colours of the most frequent levels in the levels' order, and a plain one for all others."""
    hues = len(COLOURS)
    known = values[np.isfinite(values)].astype(int)
    counts = np.bincount(known, minlength=len(labels))
    levels = np.flatnonzero(counts)
    frequent = levels[np.argsort(-counts[levels], kind="stable")]
    shown = sorted(frequent[:hues].tolist())
    colours = {level: COLOURS[k] for k, level in enumerate(shown)}
    tints = [colours.get(int(v), MUTED) if np.isfinite(v) else MUTED for v in values]
    legend = [(str(labels[level]), colours[level]) for level in shown]
    if MUTED in tints:
        legend.append(("other" if len(frequent) > hues else "missing", MUTED))
    return tints, legend


def _by_value(values: np.ndarray) -> tuple[list[str], tuple[float, float]]:
    """Return colours along a scale that a few far values do not stretch, and its ends."""
    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, [_TAIL, 1 - _TAIL]).tolist() if len(finite) else (0.0, 0.0)
    share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return [MUTED if np.isnan(v) else _shade(float(s)) for v, s in zip(values, share, strict=True)], (low, high)


def _shade(share: float) -> str:
    """Return a colour of the scale without the end that would vanish on white."""
    return mixed(CIVIDIS, 0.85 * min(max(share, 0.0), 1.0))


def _ends_in_words(ends: tuple[float, float], kind: str) -> tuple[str, str]:
    if kind == "datetime":
        low, high = (str(np.datetime64(int(end), "ms").astype("datetime64[D]")) for end in ends)
        return low, high
    unit, per = (_DAY, " days") if kind == "timedelta" else (1.0, "")
    return f"{ends[0] / unit:.4g}{per}", f"{ends[1] / unit:.4g}{per}"
