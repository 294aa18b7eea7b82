"""Files of what is on screen: the numbers behind a picture as a table, and whatever the page's menus ask for.

Nothing is computed for a file: it holds what is there. Pictures are the business of ``still``, the page as a whole that of ``export``.
"""

from __future__ import annotations

import io
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.compute.worker import Worker
from pdp_widgets.figures.png import can_paint, require_painter, to_png
from pdp_widgets.inputs import InputError, PDPWidgetsError
from pdp_widgets.tabular import Tabular

from . import export, protocol, results, still
from .still_curves import models_drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from pdp_widgets.explain import PartialDependence

    from .controller import Controller
    from .panels import View
    from .pdp_widget import PDPWidget
    from .still import Seen

__all__ = ["File", "Files", "check_table", "file_name", "save_image", "save_table"]

logger = logging.getLogger(__name__)

_TYPES = {"png": "image/png", "svg": "image/svg+xml", "csv": "text/csv", "py": "text/x-python", "html": "text/html"}
_LONGEST = 40  # letters of a name
_SCALE = 2
_PATIENCE = 20.0  # seconds that the page as a whole waits for what is still being computed


@dataclass(frozen=True)
class File:
    """A file, not yet written."""

    name: str
    type: str
    data: bytes


@dataclass(frozen=True)
class Table(Tabular):
    """Numbers behind a picture."""

    frame: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return them."""
        return self.frame


# ---- for Python ------------------------------------------------------------------------------


def save_image(widget: PDPWidget, path: str | Path, what: str, mode: str | None, scale: int) -> Path:
    """Write a picture as a file; see ``PDPWidget.save_image``."""
    target = Path(path)
    picture = still.scene(still.look(widget), what, mode=mode)
    if target.suffix.lower() == ".svg":
        target.write_text(picture.to_svg(), encoding="utf-8")
    else:
        target.write_bytes(to_png(picture, scale))
    return target


def save_table(widget: PDPWidget, controller: Controller, path: str | Path, what: str) -> Path:
    """Write a table as a file; see ``PDPWidget.save_table``."""
    target = Path(path)
    found = _tabulated(controller, still.look(widget), controller.view(), what)
    (found.to_csv if target.suffix.lower() == ".csv" else found.to_parquet)(target)
    return target


def check_table(path: str | Path, what: str) -> None:
    """Complain of a table that there is not, before anything is computed for it.

    Raises
    ------
    InputError
        For another name or ending.
    """
    if what not in still.DRAWN:
        raise InputError(f"there is no table of {what!r}; expected one of {', '.join(still.DRAWN)}")
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"save_table({str(path)!r}): a table is a .csv or a .parquet")


# ---- for the page ----------------------------------------------------------------------------


class Files:
    """Answers the page's requests for files from a thread of its own, so that neither the kernel nor the curves wait."""

    def __init__(self) -> None:
        self._thread = Worker("pdp_widgets files")

    def answer(self, widget: PDPWidget, controller: Controller, request_id: Any, params: dict[str, Any]) -> None:
        """Send a file of what is on screen now, or why there is none (called under the widget's lock)."""
        make = _maker(widget, controller, **params)

        def work() -> None:
            try:
                made = make()
            except (PDPWidgetsError, ImportError) as error:
                widget.send(protocol.error(request_id, str(error)))
            except Exception as error:
                logger.exception("a file for the page could not be made")
                widget.send(protocol.error(request_id, f"{type(error).__name__}: {error}"))
            else:
                reply = {"name": made.name, "type": made.type}
                widget.send(protocol.ok(request_id, reply), [made.data] if made.data else None)

        self._thread.submit((run() for run in (work,)), name="a file", on_end=lambda _: None)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all are sent; whether that was before ``timeout`` seconds."""
        return self._thread.wait(timeout)

    def close(self) -> None:
        """Take no more work."""
        self._thread.close(0.0)


def _maker(
    widget: PDPWidget, controller: Controller, what: str, form: str, mode: str | None = None, swapped: bool = False
) -> Callable[[], File]:
    """Look at what is on screen, and return what makes a file of it, in any thread."""
    seen, view = still.look(widget), controller.view()
    name = file_name(seen, what, form, mode)
    if what == "python":
        text = widget.to_python()
        return lambda: File(name, _TYPES[form], text.encode())
    if what == "page":
        return lambda: File(name, _TYPES[form], _page(widget, controller, seen).encode())
    if form == "csv":
        return lambda: File(name, _TYPES[form], _csv(_tabulated(controller, seen, view, what, mode)))

    def draw() -> File:
        picture = still.scene(seen, what, mode=mode, swapped=swapped)
        if form == "svg":
            return File(name, _TYPES[form], picture.to_svg().encode())
        # Without a painter the page composes one of its own canvases, where it has some.
        if not can_paint() and what not in _CANVASES:
            require_painter()
        return File(name, _TYPES[form], to_png(picture, _SCALE) if can_paint() else b"")

    return draw


_CANVASES = ("curves", "interactions", "heatmap")


def _page(widget: PDPWidget, controller: Controller, seen: Seen) -> str:
    beside = controller.beside(_PATIENCE)
    with controller.lock:
        recorded = export.record(widget, controller.screen, beside)
    return export.page(recorded, export.title(seen["_info"]["model"]))


def _csv(found: Table) -> bytes:
    into = io.BytesIO()
    found.to_csv(into)  # type: ignore[arg-type]  # pandas takes what can be written to
    return into.getvalue()


def file_name(seen: Seen, what: str, form: str, mode: str | None = None) -> str:
    """Return a name that says what a file holds, and is one on every system.

    Examples
    --------
    >>> seen = {"feature": "bmi (kg/m2)", "effect": "ale", "by": "sex", "derivative": True, "centered": False}
    >>> file_name(seen, "curves", "svg")
    'bmi-kg-m2-ale-by-sex-slope.svg'
    """
    if what == "curves":
        effect = "ale" if seen["effect"] == "ale" and mode is None else "partial-dependence"
        by = f"by {seen['by']}" if seen["by"] and mode is None else ""
        look = "slope" if seen["derivative"] else "centred" if seen["centered"] else ""
        parts = [seen["feature"], effect, by, mode, look]
    elif what == "heatmap":
        wire = seen["_heatmap"]
        parts = [wire.get("first"), wire.get("second"), "partial-dependence" if mode != "interaction" else "", mode]
    else:
        parts = [seen["_info"]["model"], "view" if what == "python" else what]
    short = [re.sub(r"[^\w-]+", "-", part)[:_LONGEST].encode()[: 2 * _LONGEST] for part in parts if part]
    # Whole letters of what is left: systems count the bytes of a name, up to 255.
    safe = [part.decode(errors="ignore").strip("-") for part in short]
    return f"{'-'.join(filter(None, safe)) or what}.{form}"


# ---- tables ----------------------------------------------------------------------------------


def _tabulated(controller: Controller, seen: Seen, view: View, what: str, mode: str | None = None) -> Table:
    """Return the table of a picture."""
    import pandas as pd

    still.require(seen, what)
    if what == "curves":
        return Table(_curves(controller, seen, view, mode))
    if what == "rules":
        return Table(_rules(controller.board["rules"], seen["_rules"]))
    wire = seen[f"_{what}"]
    if what == "importance" and ("all" not in wire or wire["status"]["stale"]):
        own = still.listed(seen) or {}
        columns = {name: own[name] for name in ("pd_importance", "heterogeneity")}
        return Table(pd.DataFrame({"output": seen["output"], "feature": own["features"], **columns}))
    parts = controller.board[what].tables(view, wire)
    if "all" not in parts:
        raise InputError(f"the numbers of {what} are not kept any more; select or focus something else and come back")
    return Table(_joined(parts))


def _curves(controller: Controller, seen: Seen, view: View, mode: str | None = None) -> pd.DataFrame:
    """Return one table of all curves that are drawn; columns say whose and of which rows each is, where there are several."""
    import pandas as pd

    effects, panel = seen["_effects"], controller.board["effects"]
    classes = mode == "classes"

    def shaped(result: PartialDependence) -> PartialDependence:
        """Return a curve as the page draws it."""
        grid = result.grids[0]
        if seen["derivative"] and grid.kind != "category" and np.count_nonzero(grid.ordered) > 1:
            return result.derivative()
        return result.centered() if seen["centered"] else result

    own = seen["_info"]["model"]
    chosen = "selection" if view.selection is not None else "all"  # what groups and other models stand on
    parts: list[_Part] = []
    if seen["effect"] == "ale" and effects.get("ale"):
        parts += [_Part(own, rows, None, n, frame) for rows, n, frame in panel.accumulated(view, effects)]  # type: ignore[attr-defined]
    if not parts:
        found = results.curves(controller, seen["feature"], seen["output"], view.selection)
        for rows, make in found.items():
            one = make()
            parts.append(_Part(own, rows, None, one.n_rows_used, shaped(one).to_frame()))
    if classes:
        ice = controller.explainer.ice(seen["feature"], keep=view.sample)
        if not ice.complete:
            raise InputError("the curves of all outputs are still being computed; widget.wait() waits for them")
        whole = ice.result()
        for name in whole.outputs:
            if name != seen["output"]:
                one = whole.output(name)
                parts.append(_Part(own, "all", None, one.n_rows_used, shaped(one).to_frame()))
    elif seen["by"] and effects.get("groups") is not None:
        groups = panel.grouped(view, shaped)  # type: ignore[attr-defined]
        of = chosen if effects["groups"]["selected"] else "all"
        parts += [_Part(own, of, label, n, frame) for label, n, frame in groups]
    elif drawn := set(models_drawn(seen)):
        others = panel.compared(view, shaped)  # type: ignore[attr-defined]
        parts += [_Part(name, chosen, None, n, frame) for name, n, frame in others if name in drawn]
    several = len({part.model for part in parts}) > 1
    levels = any(part.level is not None for part in parts)
    frames = []
    for part in parts:
        frame = part.frame.copy()
        if several or levels:
            frame.insert(1, _free("n", frame), part.n)
        if levels:
            frame.insert(1, _free("level", frame), pd.Series(part.level, index=frame.index, dtype=object))
        if len({one.rows for one in parts}) > 1:
            frame.insert(0, _free("rows", frame), part.rows)
        if several:
            frame.insert(0, _free("model", frame), part.model)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@dataclass(frozen=True)
class _Part:
    """A curve as a table."""

    model: str
    rows: str
    """"all", "selection" or "rest"."""
    level: str | None
    """The group that it is of; None for none."""
    n: int
    frame: pd.DataFrame


def _rules(panel: Any, wire: dict[str, Any]) -> pd.DataFrame:
    """Return the terms that the page lists, as of the output in focus."""
    reading = panel.reading(wire["id"])
    (o, sign), rules = reading.at, reading.rules
    frame = reading.found.to_frame(rules.outputs[o])
    frame = frame[(frame.kind == "intercept") | (frame.coefficient != 0)].reset_index(drop=True)
    frame["rank"] = np.arange(len(frame))
    if sign < 0:  # rules of the other one of two classes
        frame["coefficient"] *= -1
        frame["odds_ratio"] = 1 / frame["odds_ratio"]
        for name in ("mean_inside", "mean_outside"):
            frame[name] = 1 - frame[name]
    return frame


def _joined(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one table; where it is of several sets of rows, a first column says of which."""
    import pandas as pd

    if len(parts) == 1:
        return next(iter(parts.values()))
    named = []
    for name, frame in parts.items():
        part = frame.copy()
        part.insert(0, _free("rows", frame), name)
        named.append(part)
    return pd.concat(named, ignore_index=True)


def _free(name: str, frame: pd.DataFrame) -> str:
    """Return a column's name that the table does not have yet."""
    while name in frame.columns:
        name += "_"
    return name
