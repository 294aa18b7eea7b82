"""Board: which panels are computed when, and what the page hears of it.

Panels that the page shows are computed on the widget's own worker, one task each. A panel whose key changes is begun anew; what
was finished for an earlier key is kept for a while, so that going back costs nothing.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pdp_widgets.compute.worker import CancelledError, Task, Worker
from pdp_widgets.inputs import PDPWidgetsError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from pdp_widgets.widget.screen import Page

    from .panel import Panel, View

__all__ = ["AFFORDED", "Board"]

logger = logging.getLogger(__name__)

AFFORDED = 1_000_000
"""Model rows that a panel may ask about without being told to."""

_KEPT = 12
_SECONDS = 0.2


@dataclass
class _Slot:
    """What is known of one panel."""

    panel: Panel
    key: Hashable = None
    picture: dict[str, Any] = field(default_factory=dict)
    picture_key: Hashable = None
    """What the picture was made for: while a new one is on its way the old one stays, marked as stale."""
    state: str = "idle"
    message: str | None = None
    cost: int = 0
    task: Task | None = None
    news: bool = False
    next_time: float = 0.0
    approved: set[Hashable] = field(default_factory=set)
    finished: OrderedDict[Hashable, dict[str, Any]] = field(default_factory=OrderedDict)


class Board:
    """The panels of one widget.

    Parameters
    ----------
    panels : iterable of Panel
    page : Page
        Takes the pictures.
    worker : Worker
    lock : threading.RLock
        Held while pictures are handed over, never while a panel computes.
    view : callable
        What is in focus and selected now.
    """

    def __init__(
        self, panels: Iterable[Panel], page: Page, worker: Worker, lock: threading.RLock, view: Callable[[], View]
    ) -> None:
        self._slots = {panel.name: _Slot(panel) for panel in panels}
        self._page, self._worker, self._lock, self._view = page, worker, lock, view
        self._open: set[str] = set()
        self._paused = False

    def __getitem__(self, name: str) -> Panel:
        return self._slots[name].panel

    @property
    def names(self) -> list[str]:
        """All panels' names."""
        return list(self._slots)

    def beside(self, view: View, name: str) -> Iterator[dict[str, Any] | None]:
        """Yield the picture of an open panel for another view, as it grows: nothing where the person would be asked first.

        For recorded pages, which cannot ask later.
        """
        panel = self._slots[name].panel
        if name not in self._open or panel.cost(view) > AFFORDED:
            return
        status = {"state": "done", "message": None, "cost": 0, "stale": False}
        for picture in panel.steps(view):
            yield None if picture is None else {**picture, "status": status}

    @property
    def opened(self) -> frozenset[str]:
        """The panels that are computed."""
        return frozenset(self._open)

    def open(self, names: Iterable[str]) -> None:
        """Compute these panels from now on, and no others."""
        with self._lock:
            self._open = set(names)
            self.changed()

    def changed(self) -> None:
        """Look again what each open panel depends on."""
        with self._lock:
            if self._worker.closed:
                return
            view = self._view()
            for name, slot in self._slots.items():
                if name in self._open:
                    self._turn_to(slot, view)
                elif slot.task is not None:
                    self._drop(slot)
                    slot.state, slot.key = "idle", None

    def approve(self, name: str) -> None:
        """Compute a panel although it costs much, once more after an error, or more exactly than was afforded."""
        with self._lock:
            slot, view = self._slots[name], self._view()
            slot.approved.add(slot.key)
            if slot.state in ("ask", "failed", "stopped"):
                self._begin(slot, view)
            elif slot.state == "done" and slot.panel.refine(view):
                self.redo(name)

    def pause(self) -> None:
        """Leave all panels at what is there."""
        with self._lock:
            self._paused = True
            for slot in self._slots.values():
                if slot.task is not None:
                    self._drop(slot)
                    slot.state = "stopped"
                    self._publish(slot)

    def go(self) -> None:
        """Go on after ``pause`` or an error."""
        with self._lock:
            if not self._paused and all(slot.state != "failed" for slot in self._slots.values()):
                return
            self._paused = False
            for name, slot in self._slots.items():
                if name in self._open and slot.state in ("stopped", "failed"):
                    slot.key = None
            self.changed()

    def redo(self, name: str) -> None:
        """Make a panel's picture anew although its key is the same: what it remembers has changed."""
        with self._lock:
            slot = self._slots[name]
            slot.finished.clear()
            slot.key = None
            self.changed()

    def forget(self, name: str, outdated: Callable[[dict[str, Any]], bool]) -> None:
        """Make a panel's outdated pictures anew when they are wanted next: what they were made of knows more now."""
        with self._lock:
            slot = self._slots[name]
            for key in [key for key, picture in slot.finished.items() if outdated(picture)]:
                del slot.finished[key]
                if key == slot.key:
                    slot.key = None

    def show(self) -> None:
        """Tell the page of every panel: it has seen another board's."""
        with self._lock:
            for slot in self._slots.values():
                self._publish(slot)

    def close(self) -> None:
        """Stop for good."""
        for slot in self._slots.values():
            slot.panel.close()

    # ---- one panel -----------------------------------------------------------------------

    def _turn_to(self, slot: _Slot, view: View) -> None:
        try:
            key = slot.panel.key(view)
        except PDPWidgetsError as error:
            self._drop(slot)
            slot.key, slot.state, slot.message = None, "failed", str(error)
            self._publish(slot)
            return
        if key == slot.key and slot.state != "idle":
            return
        self._drop(slot)
        slot.key, slot.message, slot.cost = key, None, 0
        if key is None:
            slot.picture, slot.picture_key, slot.state = {}, None, "idle"
            self._publish(slot)
        elif key in slot.finished:
            slot.finished.move_to_end(key)
            slot.picture, slot.picture_key, slot.state = slot.finished[key], key, "done"
            self._publish(slot)
        elif self._paused:
            slot.state = "stopped"
            self._publish(slot)
        else:
            self._begin(slot, view)

    def _begin(self, slot: _Slot, view: View) -> None:
        slot.message = None
        try:
            slot.cost = slot.panel.cost(view)
        except PDPWidgetsError as error:
            slot.state, slot.message = "failed", str(error)
            self._publish(slot)
            return
        if slot.cost > AFFORDED and slot.key not in slot.approved:
            slot.state = "ask"
            self._publish(slot)
            return
        slot.state, slot.news, slot.next_time = "running", False, 0.0
        slot.task = self._worker.submit(
            self._grow(slot, slot.key, view),
            priority=slot.panel.priority,
            name=slot.panel.name,
            on_step=lambda _: self._stepped(slot),
            on_end=lambda task: self._ended(slot, task),
        )
        self._publish(slot)

    def _grow(self, slot: _Slot, key: Hashable, view: View) -> Iterator[None]:
        for picture in slot.panel.steps(view):
            with self._lock:
                if slot.key != key:
                    return
                if picture is not None:
                    slot.picture, slot.picture_key, slot.news = picture, key, True
            yield

    def _drop(self, slot: _Slot) -> None:
        task, slot.task = slot.task, None
        if task is not None:
            task.cancel()

    def _stepped(self, slot: _Slot) -> None:
        with self._lock:
            if slot.news and time.monotonic() >= slot.next_time:
                self._publish(slot)

    def _ended(self, slot: _Slot, task: Task) -> None:
        with self._lock:
            if slot.task is not task:
                return
            slot.task = None
            if isinstance(task.error, CancelledError):
                slot.state = "stopped"
            elif task.error is not None:
                slot.state, slot.message = "failed", str(task.error) or type(task.error).__name__
                if not isinstance(task.error, PDPWidgetsError):
                    logger.error("the panel %r failed", slot.panel.name, exc_info=task.error)
            else:
                slot.state = "done"
                slot.finished[slot.key] = slot.picture
                while len(slot.finished) > _KEPT:
                    slot.finished.popitem(last=False)
            self._publish(slot)
            if slot.state == "done":
                self.changed()  # what one panel has found may be what another waits for

    def _publish(self, slot: _Slot) -> None:
        slot.news = False
        slot.next_time = time.monotonic() + _SECONDS
        status = {
            "state": slot.state,
            "message": slot.message,
            "cost": slot.cost,
            "stale": bool(slot.picture) and slot.picture_key != slot.key,
        }
        self._page.publish(**{f"_{slot.panel.name}": {**slot.picture, "status": status}})
