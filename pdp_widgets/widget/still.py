"""Still pictures of the page, made in Python: the focused curves and panels as figures, from the traits that the page draws.

A picture shows what the page shows at that moment, in the same numbers; nothing is computed here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.figures.parts import Bars
from pdp_widgets.figures.png import can_paint, require_painter, to_png
from pdp_widgets.figures.still import still
from pdp_widgets.inputs import InputError

from .still_curves import curves
from .still_heatmap import heatmap
from .traits import STATE
from .wire import unpack

if TYPE_CHECKING:
    from collections.abc import Callable

    from pdp_widgets.figures.scene import Scene

    from .pdp_widget import PDPWidget

__all__ = ["DRAWN", "MODES", "Seen", "check", "fallback", "listed", "look", "require", "scene"]

Seen = dict[str, Any]
"""The widget's traits by name."""

_MOST_BARS = 15
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
    figure, spread = curves(seen, ice, mode)
    return still(figure, notes=_notes(seen, seen["_curve"]["rows"]), spread=spread, size=(720, 440))


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
    figure = heatmap(seen, mode, swapped)
    notes = _notes(seen, seen["_heatmap"]["rows"], chosen=mode in ("selection", "difference"))
    return still(figure, notes=notes, size=(640, 540))


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
