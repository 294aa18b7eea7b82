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

__all__ = ["DRAWN", "MODES", "Seen", "check", "fallback", "listed", "look", "require", "scene"]

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


def look(widget: PDPWidget) -> Seen:
    """Return what the widget shows now: pictures are replaced, never changed, so this stays as it is."""
    return {name: getattr(widget, name) for name in STATE}


def scene(seen: Seen, what: str, *, ice: bool = True, mode: str | None = None, swapped: bool = False) -> Scene:
    """Return the picture of the curves or of a panel.

    Parameters
    ----------
    seen : Seen
        What the widget shows.
    what : str
        One of ``DRAWN``.
    ice : bool
        Draw single rows if the page does.
    mode : str, optional
        One of ``MODES[what]``: what to show instead of the partial dependence of all rows, of one output.
    swapped : bool
        Draw the heatmap's first feature upwards.

    Raises
    ------
    InputError
        When it is not computed (yet).
    """
    require(seen, what)
    if what == "curves":
        return _curves(seen, ice, mode)
    return _heatmap(seen, mode, swapped) if what == "heatmap" else DRAWN[what](seen)


def require(seen: Seen, what: str) -> None:
    """Make sure that there is something to draw, of what is in focus now.

    Raises
    ------
    InputError
        With why there is not.
    """
    if what == "curves":
        wire = seen["_curve"]
        if not wire or wire["feature"] != seen["feature"] or wire["error"]:
            raise InputError((wire and wire["error"]) or "the curve is not computed yet; widget.wait() waits for it")
        wanted = ("ale",) if seen["effect"] == "ale" else ("groups",) if seen["by"] else ()
        effects = seen["_effects"]
        here = (effects.get("feature"), effects.get("output")) == (wire["feature"], wire["output"])
        done = effects.get("status", {}).get("state") == "done"
        if not wanted or (here and (done or all(effects[name] is not None for name in wanted))):
            return
        name, needed = "effects", f"the curves {'of ALE' if seen['effect'] == 'ale' else 'by ' + seen['by']}"
    else:
        name, needed = what, f"the picture of {what!r}"
    wire = seen[f"_{name}"]
    if what == "importance" and listed(seen) is not None:
        return
    status = wire.get("status", {})
    empty, state = set(wire) <= {"status"}, status.get("state")
    if state == "running" and (empty or status["stale"] or what == "curves"):
        raise InputError(f"{needed} is still being computed; widget.wait() waits for it")
    if empty or what == "curves" or status["stale"] or state in ("ask", "failed"):
        why = (
            status.get("message")
            or {"stopped": "it was stopped, and resume goes on", "idle": "the page does not show it (yet)"}.get(
                state or "idle"
            )
            or f"it asks the model about {status.get('cost', 0):,} rows, which a click on the page allows"
        )
        raise InputError(f"{needed} is not computed: {why}")


def listed(seen: Seen) -> dict[str, Any] | None:
    """Return what the list of features says by itself: measures by name; None before it does, and where it is sorted by others."""
    rows = seen["_overview"].get("features", ())
    if seen["sort_by"] not in ("importance", "heterogeneity", "name", "order"):
        return None
    if not any(row["importance"] is not None for row in rows):
        return None
    columns = {"pd_importance": "importance", "heterogeneity": "heterogeneity"}
    numbers = {name: np.array([row[key] for row in rows], dtype=float) for name, key in columns.items()}
    return {"features": [row["name"] for row in rows], "n": min(row["rows"] for row in rows), **numbers}


def fallback(widget: PDPWidget) -> dict[str, Any]:
    """Return the focused curves by MIME type, for viewers without widgets: SVG, and PNG where Pillow is there.

    Averages and counts only: a notebook is shared more easily than one thinks of its rows.
    """
    picture = scene(look(widget), "curves", ice=False)
    pictures: dict[str, Any] = {"image/svg+xml": picture.to_svg()}
    if can_paint():
        pictures["image/png"] = to_png(picture, 1)
    return pictures


def check(path: str | Path, what: str, mode: str | None = None) -> None:
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
    if mode is not None and mode not in MODES.get(what, ()):
        known = " or ".join(map(repr, MODES.get(what, ()))) or "nothing else"
        raise InputError(f"mode={mode!r}; {what} can be drawn as {known}")
    ending = Path(path).suffix.lower()
    if ending not in (".svg", ".png"):
        raise InputError(
            f"save_image({str(path)!r}): a picture is an .svg or a .png; export_html() writes the whole page"
        )
    if ending == ".png":
        require_painter()


def _curves(seen: Seen, ice: bool = True, mode: str | None = None) -> Scene:
    wire, split = seen["_curve"], seen["_split"]
    grid = _Points(wire)
    lines, x = _lines(seen, grid, split) if mode is None else _classes(seen, grid)
    own = seen["_ice"] if ice and seen["show_ice"] and seen["effect"] == "pd" and not seen["by"] else None
    individual = None
    if own and (own["feature"], own["output"]) == (wire["feature"], wire["output"]):
        rows = unpack(own["values"])[:_MOST_LINES].astype(float) + own["offset"]
        individual = grid.shaped(seen, rows[:, grid.order])
    edges = wire["hist"]["edges"]
    on_axis = axis(wire["feature"], wire["kind"], x, grid.labels)
    label = in_words(seen["_info"]["scale"], [wire["output"]]) if mode is None else seen["_info"]["scale"]
    if seen["derivative"] and grid.slopes:
        label = f"slope of the {label}"
        on_axis = axis(wire["feature"], wire["kind"], (x[1:] + x[:-1]) / 2, grid.labels)
    elif seen["centered"]:
        label = f"change of the {label}"
    ale = mode is None and seen["effect"] == "ale" and seen["_effects"]["ale"] is not None
    kind = "accumulated local effect" if ale else "partial dependence"
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


def _classes(seen: Seen, grid: _Points) -> tuple[list[Series], np.ndarray]:
    """Return the curves of all outputs."""
    effects, wire = seen["_effects"], seen["_curve"]
    found = effects.get("outputs") if effects.get("feature") == wire["feature"] else None
    if found is None:
        raise InputError("there are no curves of all outputs: they are shown of 3 to 8 classes, once they are computed")
    averages = unpack(found["averages"])[:, grid.order]
    named = enumerate(zip(found["names"], averages, strict=True))
    return [Series(grid.shaped(seen, average), name, **colour_of(k)) for k, (name, average) in named], grid.x


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
    title = f"{seen['_info']['model']}: importance"
    if seen["sort_by"] == "rulefit" and "weight" in seen["_rules"]:
        names = [feature["name"] for feature in seen["_info"]["features"]]
        return _weights(seen["_rules"], names, title, _notes(seen, seen["_rules"]["rows"], chosen=False))
    measure, words = _MEASURES.get(seen["sort_by"], ("pd_importance", "PD importance"))
    own = listed(seen)
    if own is not None:
        values, stderr, features, n = own[measure], None, own["features"], own["n"]
    else:
        known, features, n = wire["all"], wire["features"], wire["n"]
        if not np.isfinite(unpack(known[measure])).any():
            measure, words = "pd_importance", "PD importance"
        values, stderr = unpack(known[measure]), known.get(f"{measure}_stderr")
    order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:_MOST_BARS]
    whiskers = None if stderr is None else unpack(stderr)[order]
    figure = Bars(tuple(features[k] for k in order), values[order], words, title, whiskers)
    return still(figure, notes=_notes(seen, n, chosen=False))


def _weights(rules: dict[str, Any], features: list[str], title: str, notes: list[str]) -> Scene:
    """Return how much the terms of the rules weigh that a feature is in; several columns may belong to one feature."""
    weight = unpack(rules["weight"]).astype(float)
    of = np.array(rules["focus"], dtype=object)
    values = np.array([weight[of == name].sum() for name in features])
    order = np.argsort(-values, kind="stable")[:_MOST_BARS]
    return still(Bars(tuple(features[k] for k in order), values[order], "weight in the rules", title), notes=notes)


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


def _heatmap(seen: Seen, mode: str | None = None, swapped: bool = False) -> Scene:
    wire = seen["_heatmap"]
    values, words = _surface(wire, mode)
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
    values = values[np.ix_(*order)]
    names = [wire["first"], wire["second"]]
    if swapped:
        sides, values, names = sides[::-1], values.T, names[::-1]
    title = f"{seen['_info']['model']}: {words} {names[0]} and {names[1]}"
    surface = Surface(sides[0], sides[1], label, values, title, diverging=mode in ("difference", "interaction"))
    chosen = mode in ("selection", "difference")
    return still(surface, notes=_notes(seen, wire["rows"], chosen=chosen), size=(640, 460))


def _surface(wire: dict[str, Any], mode: str | None) -> tuple[np.ndarray, str]:
    """Return what a heatmap shows, and in words what that is."""
    average = unpack(wire["average"])
    if mode is None:
        return average, "partial dependence on"
    if mode == "interaction":
        if wire["main_a"] is None or wire["mean"] is None:
            raise InputError("the interaction is still being computed; widget.wait() waits for it")
        return average - unpack(wire["main_a"])[:, None] - unpack(wire["main_b"]) + wire["mean"], "interaction of"
    needed = ("selection",) if mode == "selection" else ("selection", "rest")
    if any(wire[name] is None for name in needed):
        raise InputError(
            f"there is no heatmap of the {mode}: no rows are selected, or none (or all) of those it stands on"
        )
    selected = unpack(wire["selection"])
    if mode == "selection":
        return selected, "partial dependence of the selected rows on"
    return selected - unpack(wire["rest"]), "partial dependence, selected minus others, on"


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

MODES = {"curves": ("classes",), "heatmap": ("selection", "difference", "interaction")}
"""What else can be drawn of it: what is switched on the page alone."""


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
