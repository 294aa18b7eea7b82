"""What is computed when.

The controller owns the widget's worker: what is on screen goes first, a change of mind takes effect after the running chunk,
and the page is told at a pace it can follow. It knows nothing of traits, and of pictures only when to ask for one.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.compute.worker import CancelledError, Task, Worker
from pdp_widgets.inputs import PDPWidgetsError

from . import picture
from .geometry import crossing
from .panels import PANELS, Board, View, models
from .sample import stratified
from .screen import BUDGET, Page, Screen

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from pdp_widgets.explain import Explainer, Ice

    from .panels import OtherModel
    from .panels.groups import Group
    from .selection import IceBox, Selection
    from .track import Track

__all__ = ["Arrangement", "Controller", "Look"]

BASE_SECONDS = 0.15
"""How long predictions at the rows may hold up the first curve."""

BASE_ROWS = 5000
"""The sample is chosen among this many rows."""

LEAD_SECONDS = 3.0
"""How long after the start the focus may still move to the most important feature: later somebody reads."""

CLOSE_SECONDS = 0.1
"""How long closing waits for the chunk that is running: as long as chunks are meant to be."""

_VISIBLE_AT_FIRST = 12
_BESIDE = ("effects", "regions")
"""Panels about the focused feature alone."""
_OTHERS_AFFORDED = 100_000
"""Model rows that a recorded page spends on the other models' curves of one feature out of focus."""


@dataclass(frozen=True)
class Look:
    """What a person has chosen to see of the focus, beside its curve."""

    pair: tuple[str, str] | None = None
    by: str = ""
    color_by: str = ""
    effect: str = "pd"
    models: bool = True
    """Whether the other models' curves are drawn."""
    marked: tuple[Group, ...] = ()
    """The bookmarks, where ``by`` compares them."""


@dataclass(frozen=True)
class Arrangement:
    """All that one model's page has in common with the next one's."""

    feature: str
    output: str
    selection: Selection
    look: Look
    sample: np.ndarray | None
    visible: list[str]
    opened: frozenset[str]


class Controller:
    """Schedules the work behind one model on the page.

    Parameters
    ----------
    explainer : Explainer
    page : Page
    feature, output : str
        What is in focus.
    lock : threading.RLock
        Held while the state on screen changes or a picture of it is made, never while the model works.
    others : tuple of OtherModel
        The page's other models.
    leads : bool
        Whether the focus may move to the most important feature.
    """

    def __init__(
        self,
        explainer: Explainer,
        page: Page,
        feature: str,
        output: str,
        lock: threading.RLock,
        *,
        others: tuple[OtherModel, ...] = (),
        leads: bool = True,
    ) -> None:
        self.explainer, self.page = explainer, page
        self.screen = Screen(explainer, page, feature, output)
        self.lock = lock
        self.worker = Worker("pdp_widgets")
        self.look = Look()
        self._others = others
        self.board = Board([kind(explainer) for kind in PANELS.values()], page, self.worker, lock, self.view)
        self.visible_names = list(explainer.features)[:_VISIBLE_AT_FIRST]
        """Features whose sparklines are on screen."""
        self._partners: dict[tuple[str, int], str] = {}
        self._ranked = False
        self._base_task: Task | None = None
        self._parts_task: Task | None = None
        self._split_task: Task | None = None
        self._state = "running"
        self._message: str | None = None
        self._closed = False
        self._lead_until: float | None = time.monotonic() + LEAD_SECONDS if leads else None
        self._to_go_on = True  # when it comes back: whether it was at work when it was left

    # ---- what the person does ------------------------------------------------------------

    def start(self) -> None:
        """Begin, or go on after ``stop`` or an error."""
        with self.lock:
            if self.closed:
                return
            self._state, self._message = "running", None
            for track in self.screen.tracks.values():
                track.error = None
            if (self._base_task is None or self._base_task.ended) and not self._predicted:
                self._base_task = self._submit(self._predict(), 1000.0, "predictions")
            self._want()
            self.board.go()

    def stop(self) -> None:
        """Leave it at what is there."""
        with self.lock:
            if self._state == "running":
                self._state = "stopped"
            for task in self._model_tasks():
                task.cancel()
            self.board.pause()
            self._publish_overview()

    def leave(self) -> None:
        """Rest, while another model is on the page; what is there stays."""
        with self.lock:
            self._to_go_on = self._state == "running"
            self.stop()
            task, self._split_task = self._split_task, None
            if task is not None:
                task.cancel()

    def come(self, now: Arrangement) -> None:
        """Take the page over as it is arranged, and go on where this was left."""
        with self.lock:
            screen = self.screen
            if screen.sample is None:
                screen.sample = now.sample
            screen.look_at(feature=now.feature, output=now.output)
            screen.selection = now.selection or None
            screen.forget_splits()
            screen.recall()
            self._drop_parts()
            self.look, self.visible_names = now.look, now.visible
            sample = {} if screen.sample is None else picture.sample(self.explainer, screen.sample)
            self.page.publish(_sample=sample, _curve={}, _ice={}, _split={})
            self.board.forget("effects", models.unfinished)  # the other models may have been looked at meanwhile
            self.board.open(now.opened)
            if self._to_go_on:
                self.start()
            screen.publish_curve()  # after it was decided what to compute: whoever shares the curves may end them meanwhile
            self.board.show()
            self._split_lines_later()
            self._publish_overview()

    def focus(self, feature: str) -> None:
        """Show another feature."""
        with self.lock:
            self.screen.look_at(feature=feature)
            self._drop_parts()
            self._refocus()
            self.board.changed()

    def show(self, output: str) -> None:
        """Show another output."""
        with self.lock:
            self.screen.look_at(output=output)
            self._refocus()
            self._publish_overview()
            self._split_lines_later()
            self.board.changed()

    def arrange(self, look: Look) -> None:
        """Show another surface, other groups, other colours, another effect."""
        with self.lock:
            self.look = look
            self.board.changed()

    def view(self) -> View:
        """Return what is in focus and selected now."""
        screen, look = self.screen, self.look
        return View(
            self.explainer,
            screen.feature,
            screen.output,
            look.pair,
            look.by,
            look.effect,
            screen.selection,
            screen.sample,
            color_by=look.color_by,
            partner=self._partner(),
            marked=look.marked,
            others=self._others if look.models and not look.by else (),
        )

    def _partner(self) -> str | None:
        """Return what the focused feature interacts with most; until that is known, the most important other feature.

        Nothing jumps: as long as interactions are not known the answer for a feature stays the same.
        """
        screen = self.screen
        feature, k = screen.feature, screen.k
        if "interactions" in self.board.names:
            found = getattr(self.board["interactions"], "partner", lambda *_: None)(feature, k)
            if found is not None:
                return str(found)
        if (feature, k) not in self._partners:
            others = [name for name in screen.ranking() or () if name != feature]
            if not others:
                return None
            self._partners[feature, k] = others[0]
        return self._partners[feature, k]

    def visible(self, names: list[str]) -> None:
        """Prefer the features whose sparklines are on screen."""
        with self.lock:
            self.visible_names = names
            self._reprioritise()

    def select(self, selection: Selection) -> None:
        """Answer for a selection, or for all rows when it is empty."""
        with self.lock:
            self.screen.selection = selection or None
            self.screen.forget_splits()
            self._drop_parts()
            if self.screen.quick:
                self.screen.publish_split()
            self._split_lines_later()
            self._want_parts()
            self.board.changed()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is computed any more; whether that was before ``timeout`` seconds."""
        return self.worker.wait(timeout)

    def beside(self, timeout: float | None = None) -> dict[tuple[str, str], dict[str, Any]]:
        """Return hints, observed means and splits of all features and outputs, as far as they are known in time.

        Returns
        -------
        dict
            By feature and output: the pictures of the panels, by their traits' names.
        """
        found: dict[tuple[str, str], dict[str, Any]] = {}
        self.worker.submit(self._look_around(found), priority=10.0, name="all features' hints")
        self.wait(timeout)
        return dict(found)

    @property
    def closed(self) -> bool:
        """Whether nothing is computed any more. Python's end closes the worker alone, not the widget."""
        return self._closed or self.worker.closed

    def close(self) -> None:
        """Stop for good; a model call that takes long ends by itself, and nobody hears of it."""
        if sys.is_finalizing():
            return  # the worker's thread was stopped wherever it was, perhaps with a lock in its hand
        with self.lock:
            self._closed = True
        self.worker.close(CLOSE_SECONDS)
        self.board.close()

    # ---- rectangles on ICE curves ----------------------------------------------------------

    def box_mask(self, box: IceBox) -> tuple[np.ndarray, bool]:
        """Return which rows' curves cross a rectangle, and whether all rows are (or will be) asked.

        Rows whose curves are not there do not cross.
        """
        track = self.screen.tracks[box.feature]
        ice = track.ice or self.explainer.ice(box.feature, keep=self.screen.sample)
        k = self.explainer.outputs.index(box.output)
        mask = np.zeros(self.explainer.n_rows, dtype=bool)
        if ice.values is not None:
            rows, curves = np.arange(len(mask)), ice.values[k]
        elif self.screen.sample is not None:
            rows, curves = self.screen.sample, ice.curves(self.screen.sample)[k]
        else:
            return mask, False
        if box.centered:
            curves = curves - curves[:, :1]
        mask[rows] = crossing(ice.grids[0].positions, curves, box.x, box.y)
        return mask, ice.values is not None

    def box_answer(self, box: IceBox) -> np.ndarray | None:
        """Return the mask of a rectangle once all curves are there, else None."""
        ice = self.screen.tracks[box.feature].ice
        if ice is None or not ice.complete or ice.values is None:
            return None
        return self.box_mask(box)[0]

    # ---- tasks: their chunks run in the worker's thread ------------------------------------

    @property
    def _predicted(self) -> bool:
        """Whether there is a sample, and all that is to be predicted of it."""
        base, sample = self.explainer.base(), self.screen.sample
        return sample is not None and (base.complete or bool(np.isfinite(base.predictions[:, sample]).all()))

    def _predict(self) -> Iterator[None]:
        """Predictions at the rows themselves: as many as the sample and its lines' marks need."""
        base, screen = self.explainer.base(), self.screen
        if screen.sample is None:
            candidates = self.explainer.row_order[:BASE_ROWS]
            until = time.monotonic() + BASE_SECONDS
            while base.rows_done < len(candidates) and time.monotonic() < until:
                base.advance()
                yield
            k = self.explainer.outputs.index(self.explainer.default_output)
            sample = stratified(base.predictions[k], candidates, self.explainer.random_state)
            with self.lock:
                screen.sample = sample
                self.page.publish(_sample=picture.sample(self.explainer, sample))
                self._want()
                self.board.changed()
        if self._base_task is not None:
            self._base_task.priority = 65.0
        while not self._predicted:
            base.advance()
            yield

    def _grow(self, track: Track) -> Iterator[None]:
        """The curves of one feature, as far as they are wanted."""
        ice = self.explainer.ice(track.name, keep=self.screen.sample)
        track.hold(ice)
        while ice.rows_done < self.screen.goal(track):
            ice.advance()
            yield
        with self.lock:
            # As long as this chunk lasts the curves are there; later the cache may drop them for others.
            self.screen.refresh(track)

    def _grow_parts(self, parts: tuple[Ice, Ice]) -> Iterator[None]:
        """Both sides of the selection, when not all curves fit in memory."""
        while not all(part.complete for part in parts):
            unfinished = [part for part in parts if not part.complete]
            min(unfinished, key=lambda part: part.rows_done / part.rows_total).advance()
            yield

    def _look_around(self, found: dict[tuple[str, str], dict[str, Any]]) -> Iterator[None]:
        """What stands beside each feature's plain curves, for all rows."""
        plain = replace(self.view(), by="", marked=(), effect="pd", selection=None)
        for feature in self.explainer.features:
            for output in self.explainer.outputs:
                view, pictures = replace(plain, feature=feature, output=output), {}
                if models.cost(view, None) > _OTHERS_AFFORDED:
                    view = replace(view, others=())
                for name in _BESIDE:
                    with suppress(PDPWidgetsError):  # the curve itself says why
                        for shown in self.board.beside(view, name):
                            if shown is not None:
                                pictures[f"_{name}"] = shown
                            yield
                found[feature, output] = pictures

    def _split_lines(self, selection: Selection) -> Iterator[None]:
        """Both sides' sparklines, from the curves that are there."""
        screen = self.screen
        for name in sorted(screen.tracks, key=lambda name: name not in self.visible_names):
            with self.lock:
                if screen.selection is not selection:
                    return
                if name == screen.feature and not screen.quick:
                    screen.publish_split()
                screen.refresh_split(screen.tracks[name])
            yield
        with self.lock:
            if screen.selection is selection:
                self._publish_overview()

    # ---- scheduling ----------------------------------------------------------------------

    def _submit(self, steps: Iterator[None], priority: float, name: str) -> Task:
        return self.worker.submit(steps, priority=priority, name=name, on_step=self._stepped, on_end=self._ended)

    def _want(self) -> None:
        """Queue every feature that is not done."""
        for track in self.screen.tracks.values():
            if track.task is None and self._is_wanted(track):
                track.task = self._submit(self._grow(track), self._priority(track), track.name)
        self._want_parts()
        self._reprioritise()

    def _is_wanted(self, track: Track) -> bool:
        if track.error is not None or self.screen.sample is None or self._state != "running" or self.closed:
            return False
        if track.name == self.screen.feature and track.ice is None:
            return True  # its numbers may be known, but its lines are gone
        return track.rows_done < self.screen.goal(track)

    def _priority(self, track: Track) -> float:
        """Something of everything on screen, then the focus well, then everything well, at last the focus in full."""
        done = track.rows_done
        if track.name == self.screen.feature:
            enough = done >= track.goal(BUDGET, in_full=False)
            return 100.0 if done == 0 else 50.0 if enough else 85.0
        if track.name in self.visible_names:
            return 90.0 if done == 0 else 70.0
        return 80.0 if done == 0 else 60.0

    def _reprioritise(self) -> None:
        for track in self.screen.tracks.values():
            if track.task is not None:
                track.task.priority = self._priority(track)

    def _refocus(self) -> None:
        self._want()
        self.screen.publish_curve()  # after it was decided what to compute, as in ``come``
        if not self._model_tasks():
            self._publish_overview()

    def _model_tasks(self) -> list[Task]:
        tasks = [track.task for track in self.screen.tracks.values()] + [self._base_task, self._parts_task]
        return [task for task in tasks if task is not None and not task.ended]

    def _drop_parts(self) -> None:
        task, self._parts_task, self.screen.parts = self._parts_task, None, None
        if task is not None:
            task.cancel()

    def _want_parts(self) -> None:
        """Ask for both sides of the selection on their own where the curves were not kept."""
        screen, ice = self.screen, self.screen.focus.ice
        if screen.selection is None or ice is None or ice.values is not None or self._state != "running" or self.closed:
            return
        if screen.parts is None:
            mask = screen.selection.mask
            screen.parts = (
                self.explainer.ice(screen.feature, rows=mask),
                self.explainer.ice(screen.feature, rows=~mask),
            )
        if self._parts_task is None and not all(part.complete for part in screen.parts):
            self._parts_task = self._submit(self._grow_parts(screen.parts), 75.0, "the selection")

    def _split_lines_later(self) -> None:
        task, self._split_task = self._split_task, None
        if task is not None:
            task.cancel()
        if self.screen.selection is None:
            self._publish_overview()
        elif not self.closed:
            self._split_task = self._submit(
                self._split_lines(self.screen.selection), 900.0, "the selection's sparklines"
            )

    def _stepped(self, _: Task) -> None:
        """After each chunk: show what is new, at a pace the page can follow."""
        with self.lock:
            if self.closed:
                return
            self._want_parts()
            now = time.monotonic()
            if now >= self.screen.next_curve and (self.screen.focus.dirty or self._parts_task is not None):
                self.screen.publish_curve()
            if now >= self.screen.next_overview:
                self._publish_overview()
            self._reprioritise()

    def _ended(self, task: Task) -> None:
        """At the end of a task: note an error where it belongs, and show the rest when all is done."""
        with self.lock:
            track = next((track for track in self.screen.tracks.values() if track.task is task), None)
            failed = task.error is not None and not isinstance(task.error, CancelledError)
            if track is not None:
                track.task = None
            if task is self._parts_task:
                self._parts_task = None
            if failed and track is not None:
                track.error = _in_words(task.error)
            elif failed:
                self._message = _in_words(task.error)
                if task is self._base_task:
                    self._state = "failed"
                    for other in self._model_tasks():
                        other.cancel()
            if self.closed:
                return
            if track is not None and self._is_wanted(track):
                self._want()  # it came into focus while it ended
            leader = self._leader()
            if leader is not None:
                self.page.lead(leader)
            if not self._ranked and self.screen.ranking() is not None:
                self._ranked = True
                self.board.changed()  # the focused feature has a partner now
            last = not [other for other in self._model_tasks() if other is not task]
            if last or (track is not None and track.name == self.screen.feature):
                self.screen.publish_curve()
            if last:
                self._publish_overview(but=task)
            whole = track is not None and track.ice is not None and track.ice.complete
        if whole and track is not None:
            self.page.curves_complete(track.name)

    def _leader(self) -> str | None:
        """Return the most important feature, once, if that is known soon enough."""
        if self._lead_until is None or self._state != "running":
            return None
        leader = self.screen.leader() if time.monotonic() < self._lead_until else None
        if leader is not None or time.monotonic() >= self._lead_until:
            self._lead_until = None
        return leader

    def _publish_overview(self, but: Task | None = None) -> None:
        self.screen.publish_overview(self._progress(but))

    def _progress(self, but: Task | None) -> dict[str, Any]:
        screen = self.screen
        wanted = [track for track in screen.tracks.values() if track.error is None]
        total = sum(screen.goal(track) * track.cells for track in wanted)
        done = sum(min(track.rows_done, screen.goal(track)) * track.cells for track in wanted)
        state = self._state
        busy = [task for task in self._model_tasks() if task is not but]
        if (state == "running" and not busy) or (state == "stopped" and done >= total):
            state = "idle"
        running = [track for track in wanted if track.task is not None]
        label = max(running, key=self._priority).name if running else ""
        return {"state": state, "done": int(done), "total": int(total), "label": label, "message": self._message}


def _in_words(error: BaseException | None) -> str:
    """Return what an error says; a bare ``KeyboardInterrupt`` says nothing but its name."""
    return str(error) or type(error).__name__
