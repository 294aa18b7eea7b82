"""Still pictures of the page, made in Python: the focused curves and panels as figures, from the traits that the page draws.

A picture shows what the page shows at that moment, in the same numbers; nothing is computed here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.figures.parts import REST, SELECTED, Bars, Curves, Series, Surface, axis, colour_of
from pdp_widgets.figures.png import can_paint, require_painter, to_png
from pdp_widgets.figures.still import still
from pdp_widgets.inputs import InputError

from .traits import STATE
from .wire import unpack

if TYPE_CHECKING:
    from collections.abc import Callable

    from pdp_widgets.figures.scene import Scene

    from .pdp_widget import PDPWidget

__all__ = ["DRAWN", "check", "fallback", "save", "scene"]

Seen = dict[str, Any]
"""The widget's traits by name."""

_MOST_BARS, _MOST_LINES = 15, 150
_MEASURES = {
    "heterogeneity": ("heterogeneity", "disagreement of the rows"),
    "weighted": ("pd_importance_weighted", "PD importance, where the rows are"),
    "permutation": ("permutation", "permutation importance"),
    "total": ("pdi", "total effect (share of the variance)"),
}
"""What features may be sorted by, as a column and in words; else PD importance."""


def scene(widget: PDPWidget, what: str, *, ice: bool = True) -> Scene:
    """Return the picture of the curves or of a panel.

    Parameters
    ----------
    widget : PDPWidget
    what : str
        One of ``DRAWN``.
    ice : bool
        Draw single rows if the page does.

    Raises
    ------
    InputError
        When it is not computed (yet).
    """
    seen = {name: getattr(widget, name) for name in STATE}
    if what == "curves":
        return _curves(seen, ice)
    wire = seen[f"_{what}"]
    status = wire.get("status", {})
    if set(wire) <= {"status"} or status.get("state") in ("ask", "failed"):
        why = (
            status.get("message")
            or f"it asks the model about {status.get('cost', 0):,} rows, which a click on the page allows"
        )
        raise InputError(f"the picture of {what!r} is not computed: {why}")
    return DRAWN[what](seen)


def fallback(widget: PDPWidget) -> dict[str, Any]:
    """Return the focused curves by MIME type, for viewers without widgets: SVG, and PNG where Pillow is there.

    Averages and counts only: a notebook is shared more easily than one thinks of its rows.
    """
    picture = scene(widget, "curves", ice=False)
    pictures: dict[str, Any] = {"image/svg+xml": picture.to_svg()}
    if can_paint():
        pictures["image/png"] = to_png(picture, 1)
    return pictures


def save(widget: PDPWidget, path: str | Path, what: str, scale: int) -> Path:
    """Write a picture as a file; see ``PDPWidget.save_image``."""
    target = Path(path)
    picture = scene(widget, what)
    if target.suffix.lower() == ".svg":
        target.write_text(picture.to_svg(), encoding="utf-8")
    else:
        target.write_bytes(to_png(picture, scale))
    return target


def check(path: str | Path, what: str) -> None:
    """Complain of a picture that there is not, before anything is computed for it.

    Raises
    ------
    InputError
        For another name or ending.
    ImportError
        For a PNG without Pillow.
    """
    if what not in DRAWN:
        known = f"one of {', '.join(DRAWN)}: what is drawn without a browser"
        raise InputError(f"there is no picture of {what!r}; expected {known}")
    ending = Path(path).suffix.lower()
    if ending not in (".svg", ".png"):
        raise InputError(
            f"save_image({str(path)!r}): a picture is an .svg or a .png; export_html() writes the whole page"
        )
    if ending == ".png":
        require_painter()


def _curves(seen: Seen, ice: bool = True) -> Scene:
    wire, split = seen["_curve"], seen["_split"]
    if not wire or wire["feature"] != seen["feature"] or wire["error"]:
        raise InputError((wire and wire["error"]) or "the curve is not computed yet; widget.wait() waits for it")
    grid = _Points(wire)
    lines, x = _lines(seen, grid, split)
    own = seen["_ice"] if ice and seen["show_ice"] and seen["effect"] == "pd" and not seen["by"] else None
    individual = None
    if own and (own["feature"], own["output"]) == (wire["feature"], wire["output"]):
        rows = unpack(own["values"])[:_MOST_LINES].astype(float) + own["offset"]
        individual = grid.shaped(seen, rows[:, grid.order])
    edges = wire["hist"]["edges"]
    on_axis = axis(wire["feature"], wire["kind"], x, grid.labels)
    label = in_words(seen["_info"]["scale"], [wire["output"]])
    if seen["derivative"] and grid.slopes:
        label = f"slope of the {label}"
        on_axis = axis(wire["feature"], wire["kind"], (x[1:] + x[:-1]) / 2, grid.labels)
    elif seen["centered"]:
        label = f"change of the {label}"
    kind = "accumulated local effect" if seen["effect"] == "ale" else "partial dependence"
    title = f"{seen['_info']['model']}: {kind} on {wire['feature']}"
    figure = Curves(on_axis, label, tuple(lines), title, individual, wire["feature"])
    counts = unpack(wire["hist"]["counts"])
    return still(figure, notes=_notes(seen, wire["rows"]), histogram=(None if edges is None else unpack(edges), counts))


class _Points:
    """The places of a curve on its axis."""

    def __init__(self, wire: dict[str, Any]) -> None:
        x = unpack(wire["x"])
        order = np.arange(len(x))
        self.missing = -1
        if wire["kind"] != "category":
            self.missing = wire["missing"]
            order = order[(order != self.missing) & np.isfinite(x)]
            order = order[np.argsort(x[order], kind="stable")]
        self.order, self.x = order, x[order]
        self.labels = [wire["labels"][k] for k in order] if wire["labels"] else []
        self.slopes = wire["kind"] != "category" and len(order) > 1

    def shaped(self, seen: Seen, values: np.ndarray) -> np.ndarray:
        """Return curves as the page draws them: as they are, as slopes, or minus their first value."""
        if seen["derivative"] and self.slopes:
            return np.diff(values) / np.diff(self.x)
        return values - values[..., :1] if seen["centered"] else values


def _lines(seen: Seen, grid: _Points, split: dict[str, Any]) -> tuple[list[Series], np.ndarray]:
    """Return the curves that are drawn, and the places that they share."""
    wire, effects = seen["_curve"], seen["_effects"]
    here = (effects.get("feature"), effects.get("output")) == (wire["feature"], wire["output"])
    chosen = seen["_selection"]["text"]
    others = _others(seen, grid, effects) if here else []
    sides = [
        (seen["_info"]["model"] if others else "all rows", {}),
        (f"selected: {chosen}", {"colour": SELECTED}),
        ("the others", {"colour": REST}),
    ]
    ale = effects["ale"] if here and seen["effect"] == "ale" else None
    groups = effects["groups"] if here and seen["by"] else None
    if ale is not None:
        given = [(name, look, ale[key]) for (name, look), key in zip(sides, ("all", "selection", "rest"), strict=True)]
        curves = [(name, look, *_own(grid, one)) for name, look, one in given if one is not None]
        return _on_one_axis(seen, grid, [*curves, *others])
    if groups is not None:
        shown = [(f"{groups['by']}: {one['label']}", one) for one in groups["levels"] if one["values"] is not None]
        curves = [(name, colour_of(k), *_own(grid, one)) for k, (name, one) in enumerate(shown)]
        return _on_one_axis(seen, grid, curves)
    values: list[tuple[str, dict[str, Any], dict[str, Any]]] = [(*sides[0], wire)]
    if split and (split["feature"], split["output"]) == (wire["feature"], wire["output"]):
        values += [(*side, split[key]) for side, key in zip(sides[1:], ("selection", "rest"), strict=True)]
    lines = []
    plain = not (seen["centered"] or seen["derivative"])
    for name, look, one in values:
        average = unpack(one["average"])
        stderr = unpack(one["stderr"])[grid.order] if plain and one.get("stderr") else None
        missing = float(average[grid.missing]) if plain and grid.missing >= 0 else None
        lines.append(Series(grid.shaped(seen, average[grid.order]), name, stderr=stderr, missing=missing, **look))
    lines += [Series(grid.shaped(seen, own), name, **look) for name, look, _, own in others]
    return lines, grid.x


def _others(seen: Seen, grid: _Points, effects: dict[str, Any]) -> list[Any]:
    """Return the other models' curves, where the page draws them."""
    found = effects["models"] if seen["show_models"] and not seen["by"] else None
    if found is None or effects["effect"] != seen["effect"]:
        return []
    note = ", selected" if found["selected"] else ""
    shown = [one for one in found["lines"] if one["values"] is not None]
    return [(f"{one['name']}{note}", colour_of(one["hue"]), *_own(grid, one)) for one in shown]


def _own(grid: _Points, one: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and values of a curve that may have places of its own."""
    values = unpack(one["values"]).astype(float)
    if one["x"] is None:
        return grid.x, values[grid.order]
    return unpack(one["x"]).astype(float), values


def _on_one_axis(seen: Seen, grid: _Points, curves: list[Any]) -> tuple[list[Series], np.ndarray]:
    if not grid.slopes:
        lines = []
        for name, look, x, values in curves:
            at = np.full(len(grid.x), np.nan)
            at[x.astype(int)] = values
            lines.append(Series(grid.shaped(seen, at), name, **look))
        return lines, grid.x
    shared = np.unique(np.concatenate([x for _, _, x, _ in curves])) if curves else grid.x
    grid.x = shared
    lines = [
        Series(grid.shaped(seen, np.interp(shared, x, values, left=np.nan, right=np.nan)), name, **look)
        for name, look, x, values in curves
    ]
    return lines, shared


def _importance(seen: Seen) -> Scene:
    wire = seen["_importance"]
    measure, words = _MEASURES.get(seen["sort_by"], ("pd_importance", "PD importance"))
    values = unpack(wire["all"][measure])
    if not np.isfinite(values).any():
        measure, words = "pd_importance", "PD importance"
        values = unpack(wire["all"][measure])
    stderr = wire["all"].get(f"{measure}_stderr")
    order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:_MOST_BARS]
    names = tuple(wire["features"][k] for k in order)
    figure = Bars(
        names,
        values[order],
        words,
        f"{seen['_info']['model']}: importance",
        None if stderr is None else unpack(stderr)[order],
    )
    return still(figure, notes=_notes(seen, wire["n"], chosen=False))


def _interactions(seen: Seen) -> Scene:
    wire = seen["_interactions"]
    strength, pairs = unpack(wire["strength"]), unpack(wire["pairs"])
    order = np.argsort(-np.nan_to_num(strength, nan=-1.0), kind="stable")[:_MOST_BARS]
    names = tuple(" × ".join(wire["features"][j] for j in pairs[k]) for k in order)
    figure = Bars(
        names, strength[order].astype(float), "strength of the interaction", f"{seen['_info']['model']}: interactions",
        unpack(wire["strength_stderr"])[order].astype(float),
    )  # fmt: skip
    return still(figure, notes=_notes(seen, wire["rows"], chosen=False))


def _heatmap(seen: Seen) -> Scene:
    wire = seen["_heatmap"]
    average = unpack(wire["average"])
    sides, order = [], []
    for name in ("a", "b"):
        side = wire[name]
        x = unpack(side["x"])
        keep = np.arange(len(x))
        if side["kind"] != "category":
            keep = keep[(keep != side["missing"]) & np.isfinite(x)]
        order.append(keep)
        labels = [side["labels"][k] for k in keep] if side["labels"] else []
        sides.append(axis(side["feature"], side["kind"], x[keep], labels))
    label = in_words(seen["_info"]["scale"], [wire["output"]])
    title = f"{seen['_info']['model']}: partial dependence on {wire['first']} and {wire['second']}"
    surface = Surface(sides[0], sides[1], label, average[np.ix_(*order)], title)
    return still(surface, notes=_notes(seen, wire["rows"], chosen=False), size=(640, 460))


def _rules(seen: Seen) -> Scene:
    wire = seen["_rules"]
    words, parts, ends = wire["conditions"]["words"], unpack(wire["parts"]), unpack(wire["ends"])
    starts = np.concatenate([[0], ends[:-1]]).astype(int)
    importance, coefficient = unpack(wire["importance"]), unpack(wire["coefficient"]).astype(float)
    order = np.argsort(-np.nan_to_num(importance, nan=-1.0), kind="stable")[:_MOST_BARS]
    names = tuple(" & ".join(words[p] for p in parts[starts[k] : ends[k]]) for k in order)
    figure = Bars(names, coefficient[order], "coefficient", f"{wire['of']}: {wire['describes']}")
    return still(figure, notes=_notes(seen, wire["rows"], chosen=False), size=(760, 400))


DRAWN: dict[str, Callable[[Seen], Scene]] = {
    "curves": _curves, "importance": _importance, "interactions": _interactions, "heatmap": _heatmap, "rules": _rules,
}  # fmt: skip
"""What can be drawn, by name."""


def _notes(seen: Seen, rows: int, *, chosen: bool = True) -> list[str]:
    """Return what every picture says: rows used of all, weights, output, scale, and the subgroup."""
    info, selection = seen["_info"], seen["_selection"]
    parts = [f"{rows:,} of {info['rows']:,} rows"]
    if info["rows"] != info["rows_given"]:
        parts[0] += f" (a sample of {info['rows_given']:,})"
    if info["weighted"]:
        parts.append("weighted")
    parts.append(in_words(info["scale"], [seen["output"]]))
    if chosen and selection["text"]:
        parts.append(f"selected: {selection['text']} ({selection['n']:,} rows)")
    return ["; ".join(parts)]
