"""What is on screen, and how it gets there: the focus, the selection, and every feature's state as pictures.

A picture is always made of the current focus under the controller's lock, so the page never gets one of an older focus.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pdp_widgets.inputs import PDPWidgetsError

from . import picture
from .picture import Axis
from .track import Sides, Track
from .wire import pack, scalar

if TYPE_CHECKING:
    from pdp_widgets.explain import Explainer, Ice

    from .selection import Selection

__all__ = ["BUDGET", "Page", "Screen"]

BUDGET = 400_000
"""Model rows spent on a feature that is not in focus."""

INLINE_CELLS = 4_000_000
"""Up to this many curve values are averaged at once; more of them in the background."""

KEPT_VALUES = 8_000_000
"""Up to this many curve values of sampled rows are kept for all features together, 8 bytes each."""

CURVE_SECONDS = 0.1
OVERVIEW_SECONDS = 0.25


class Page(Protocol):
    """Whoever shows the pictures."""

    def publish(self, **traits: Any) -> None:
        """Take new pictures."""

    def lead(self, feature: str) -> None:
        """Hear once which feature is the most important one."""

    def curves_complete(self, feature: str) -> None:
        """Hear that all curves of a feature are there."""


class Screen:
    """The state that every picture is made of.

    Parameters
    ----------
    explainer : Explainer
    page : Page
    feature, output : str
        What is in focus.
    """

    def __init__(self, explainer: Explainer, page: Page, feature: str, output: str) -> None:
        self.explainer, self.page = explainer, page
        self.feature = feature
        self.k = explainer.outputs.index(output)
        """Position of the output in focus."""
        self.tracks = {name: Track(name, explainer.n_rows, explainer.grid_size) for name in explainer.features}
        self.sample: np.ndarray | None = None
        """Row positions whose own curves the page holds."""
        self.selection: Selection | None = None
        self.parts: tuple[Ice, Ice] | None = None
        """Curves of the selection and of the rest on their own, when not all curves fit in memory."""
        self.next_curve = self.next_overview = 0.0
        """When the page can take the next picture."""
        self.held: Ice | None = None
        """The curves in focus: the explainer's cache may want the room for others, but these are on screen."""
        self._axes: dict[str, Axis] = {}
        self._ice_sent: tuple[str, int, int, int] | None = None

    @property
    def focus(self) -> Track:
        """The feature in focus."""
        return self.tracks[self.feature]

    @property
    def output(self) -> str:
        """The output in focus."""
        return self.explainer.outputs[self.k]

    @property
    def quick(self) -> bool:
        """Whether the focused feature's curves are few enough to be averaged at once."""
        return self.explainer.n_rows * self.focus.cells <= INLINE_CELLS

    def goal(self, track: Track) -> int:
        """How many rows of a feature to compute: all of the focus, of others as many as the budget pays for."""
        return track.goal(BUDGET, in_full=track.name == self.feature)

    def leader(self) -> str | None:
        """Return the most important feature once all are known as well as they will be out of focus, None before."""
        return next(iter(self.ranking() or ()), None)

    def ranking(self) -> list[str] | None:
        """Return the features by importance once all are known as well as they will be out of focus, None before."""
        importance: dict[str, float] = {}
        for track in self.tracks.values():
            if track.error is not None:
                continue
            if track.rows_done < track.goal(BUDGET, in_full=False):
                return None
            if track.dirty:
                self.refresh(track)
            value = None if track.summary is None else scalar(track.summary.importance[self.k])
            importance[track.name] = -1.0 if value is None else value
        return sorted(importance, key=importance.__getitem__, reverse=True)

    def look_at(self, *, feature: str | None = None, output: str | None = None) -> None:
        """Change the focus."""
        if feature is not None:
            self.feature = feature
        if output is not None:
            self.k = self.explainer.outputs.index(output)
            self.forget_splits()
        self.held = self.focus.ice
        self.next_curve = 0.0
        self._ice_sent = None

    def recall(self) -> None:
        """Look at the focused feature's curves as far as the explainer has them already."""
        track = self.focus
        if self.sample is not None and track.ice is None and track.error is None:
            with suppress(PDPWidgetsError):  # whoever computes them will say so
                track.hold(self.explainer.ice(track.name, keep=self.sample))
        self.held = track.ice

    def forget_splits(self) -> None:
        """Drop what belongs to another selection or output."""
        for track in self.tracks.values():
            track.set_split(None)

    def refresh(self, track: Track) -> None:
        """Bring what is known of a feature up to date."""
        if self.sample is not None:
            values = len(self.explainer.outputs) * len(self.sample) * track.cells * len(self.tracks)
            track.refresh(self.sample, keep=values <= KEPT_VALUES)
            self.refresh_split(track)

    def refresh_split(self, track: Track) -> None:
        """Bring a feature's sparklines of the selection and the rest up to date."""
        track.set_split(self.sides(track))

    def sides(self, track: Track) -> Sides | None:
        """Return the curves of the selection and the rest, None when there are none."""
        if self.selection is None or self.sample is None:
            return None
        if track.name == self.feature and self.parts is not None and any(part.rows_done for part in self.parts):
            averages = np.stack([part.result().average[self.k] for part in self.parts])
            return Sides(averages, all(part.complete for part in self.parts))
        return track.sides(self.k, self.selection.mask, self.explainer.weights, self.sample)

    def axis(self, name: str) -> Axis:
        """Return a feature's axis; a few are kept."""
        axis = self._axes.pop(name, None) or Axis.of(self.explainer, name)
        self._axes[name] = axis
        while len(self._axes) > max(2, 3_000_000 // self.explainer.n_rows):
            del self._axes[next(iter(self._axes))]
        return axis

    # ---- publishing ----------------------------------------------------------------------

    def publish_curve(self) -> None:
        """Show the focused feature, and both sides of the selection."""
        track = self.focus
        self.held = track.ice
        if track.dirty:
            self.refresh(track)
        if track.grid is None and track.error is None:
            return
        total = self.explainer.n_rows
        try:
            axis = self.axis(track.name)
        except PDPWidgetsError as error:
            self.page.publish(_curve=picture.broken(track.name, self.output, total, str(error)))
            return
        pictures = {"_curve": picture.curve(axis, self.output, track.summary, total, track.error)}
        lines = self._lines(track, axis)
        if lines is not None:
            pictures["_ice"] = lines
        self.page.publish(**pictures)
        self.publish_split()
        self.next_curve = time.monotonic() + CURVE_SECONDS

    def publish_split(self) -> None:
        """Show the focused feature's curves of the selection and the rest."""
        if self.selection is None:
            self.page.publish(_split={})
            return
        sides = self.sides(self.focus)
        if sides is None:
            return
        axis, mask = self.axis(self.feature), self.selection.mask
        self.page.publish(
            _split={
                "feature": self.feature,
                "output": self.output,
                "selection_id": self.selection.id,
                "exact": sides.exact,
                "selection": picture.side(axis, sides.averages[0], mask),
                "rest": picture.side(axis, sides.averages[1], ~mask),
            }
        )

    def publish_overview(self, progress: dict[str, Any]) -> None:
        """Show all features' sparklines and the progress."""
        tracks = list(self.tracks.values())
        for track in tracks:
            if track.dirty:
                self.refresh(track)
        selected = None if self.selection is None else self.selection.n
        nowhere = np.full((2, picture.SPARK_POINTS), np.nan)
        splits = np.stack([nowhere if track.split is None else track.split for track in tracks])
        self.page.publish(
            _overview={
                "output": self.output,
                "features": [self._row(track) for track in tracks],
                "points": [picture.spark_points(track.grid) for track in tracks],
                "ends": pack(np.array([picture.spark_ends(track.grid) for track in tracks]).reshape(-1, 2)),
                "all": pack(np.stack([track.line(self.k) for track in tracks]), "float32"),
                "selection": None if selected is None else pack(splits[:, 0], "float32"),
                "rest": None if selected is None else pack(splits[:, 1], "float32"),
                "n_selection": selected or 0,
                "n_rest": 0 if selected is None else self.explainer.n_rows - selected,
            },
            _progress=progress,
        )
        # Many features make a large message; keep to about 200 kB/s.
        self.next_overview = time.monotonic() + max(OVERVIEW_SECONDS, len(tracks) / 1000)

    def _lines(self, track: Track, axis: Axis) -> dict[str, Any] | None:
        """Return the ICE lines when there is enough news: they are the largest part of what travels."""
        ice, sample = track.ice, self.sample
        if ice is None or sample is None or track.summary is None:
            return None
        curves = ice.curves(sample)[self.k]
        fitted = self.explainer.base().predictions[self.k, sample]
        there = int(np.isfinite(curves).all(axis=1).sum())
        known = int(np.isfinite(fitted).sum())
        before = self._ice_sent
        if before is not None and before[:2] == (track.name, self.k):
            settled = ice.rows_done >= self.goal(track)
            if (there, known) == before[2:] or (there < 2 * before[2] and not settled):
                return None
        self._ice_sent = (track.name, self.k, there, known)
        return picture.ice_lines(axis, self.output, curves, sample, fitted)

    def _row(self, track: Track) -> dict[str, Any]:
        summary, k = track.summary, self.k
        unknown = summary is None or summary.heterogeneity is None
        return {
            "name": track.name,
            "rows": 0 if summary is None else summary.result.rows_done,
            "total": track.n_rows,
            "importance": None if summary is None else scalar(summary.importance[k]),
            "importance_selected": None if track.split_importance is None else scalar(track.split_importance),
            "heterogeneity": None if unknown else scalar(summary.heterogeneity[k]),  # type: ignore[union-attr,index]
            "error": track.error,
        }
