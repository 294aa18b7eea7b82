"""A page of its own: the widget on recorded data, in one HTML file that works offline and without Python."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import picture, traits
from .carry import packed
from .wire import pack, to_base64

if TYPE_CHECKING:
    from .pdp_widget import PDPWidget
    from .screen import Screen

__all__ = ["page", "record", "title", "write_html"]

_MOST_VALUES = 2_000_000  # ICE values in a page, 4 bytes each before base64

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 0; padding: 12px; }}</style>
</head>
<body>
<div id="widget"></div>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="record">{record}</script>
<script type="application/json" id="bundle">{bundle}</script>
<script type="module">
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const root = document.getElementById("widget");
try {{
  // The bundle is a module of its own: as a blob it can be imported from a file, without a server.
  const url = URL.createObjectURL(new Blob([read("bundle")], {{ type: "text/javascript" }}));
  const {{ mount }} = await import(url);
  URL.revokeObjectURL(url);
  mount(root, read("record"));
}} catch (error) {{
  root.textContent = "This page could not be shown: " + error;
}}
</script>
</body>
</html>
"""


def record(widget: PDPWidget, screen: Screen, beside: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """Return what a page without a kernel needs: the traits, and every feature's curves for every output, with what stands ``beside`` them."""
    explainer = screen.explainer
    state = {name: getattr(widget, name) for name in traits.STATE}
    state["_progress"] = {**state["_progress"], "state": "idle", "message": None}
    rows = _fewer(screen)
    state["_sample"] = picture.sample(explainer, rows)
    state["_selection"] = {**state["_selection"], "sample": pack(widget.selection.mask[rows], "uint8")}
    predictions = explainer.base().predictions
    curves = {}
    for name, track in screen.tracks.items():
        known = track.summary is not None and (track.ice is not None or track.sampled is not None)
        if track.grid is None or screen.sample is None or not known:
            continue
        axis = screen.axis(name)
        values = track.sample_curves(screen.sample)[:, np.flatnonzero(np.isin(screen.sample, rows))]
        for k, output in enumerate(explainer.outputs):
            curves[f"{name}\0{output}"] = {
                "_curve": picture.curve(axis, output, track.summary, explainer.n_rows, track.error),
                "_ice": picture.ice_lines(axis, output, values[k], rows, predictions[k, rows]),
                "beside": beside.get((name, output), {}),
            }
    now = curves.get(f"{widget.feature}\0{widget.output}")
    if now is not None:
        state |= {"_curve": now["_curve"], "_ice": now["_ice"]}
        now["beside"] |= {name: state[name] for name in now["beside"]}  # to come back to what was on screen
    return to_base64({"traits": state, "curves": curves})


def write_html(
    widget: PDPWidget, screen: Screen, beside: dict[tuple[str, str], dict[str, Any]], path: str | Path, title: str
) -> Path:
    """Write the page."""
    target = Path(path)
    target.write_text(page(record(widget, screen, beside), title), encoding="utf-8")
    return target


def title(model: str) -> str:
    """Return what a page is called that nobody has given a name."""
    return f"{model}: partial dependence"


def page(recorded: dict[str, Any], title: str) -> str:
    """Return the page of what was recorded."""
    traits.require_bundle()
    bundle = packed(traits.BUNDLE.read_text(encoding="utf-8"))
    return _PAGE.format(title=html.escape(title), record=_json(recorded), bundle=_json(bundle))


def _fewer(screen: Screen) -> np.ndarray:
    """Thin the sample out where many features and outputs would make a file of tens of megabytes."""
    rows = np.arange(0) if screen.sample is None else screen.sample
    cells = sum(track.cells for track in screen.tracks.values()) * len(screen.explainer.outputs)
    most = max(20, _MOST_VALUES // max(cells, 1))
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(int)]


def _json(value: Any) -> str:
    """JSON that can stand in a script element: ASCII only, so no U+2028, and no ``<``, so no ``</script>``."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
