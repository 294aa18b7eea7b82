"""The effects panel: what stands beside the focused feature's partial dependence.

Accumulated local effects, a curve per group, observed means, the other outputs' and models' curves, the colour of single rows, and
hints on how far the curve can be trusted. Which rows form groups is the business of ``groups``, whose curve another model has that of
``models``; of regions there is a panel of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.ale import iter_ale
from pdp_widgets.explain.residuals import iter_observed
from pdp_widgets.explain.trust import ROWS as TRUST_ROWS
from pdp_widgets.inputs import InputError, PDPWidgetsError
from pdp_widgets.widget.picture import thin
from pdp_widgets.widget.wire import pack

from . import models
from .groups import MOST_GROUPS, Group, groups_of, whole
from .panel import Panel, View

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    import pandas as pd

    from pdp_widgets.explain import Explainer, PartialDependence
    from pdp_widgets.explain.ale import ALE
    from pdp_widgets.explain.residuals import ObservedOutcome
    from pdp_widgets.explain.trust_result import Trust
    from pdp_widgets.widget.selection import Selection

__all__ = ["MOST_OUTPUTS", "EffectsPanel"]

MOST_OUTPUTS = 8
"""Up to so many classes are drawn over each other."""

OBSERVED_POINTS = 12
"""Bins of a number whose observed means are drawn: more of them show noise."""

_KEPT = 40

_ABOUT = {
    "heterogeneity": "Share of the variance of the single rows' curves that is their own and not their mean's (heterogeneity)",
    "association": "Association: 0 says nothing about each other, 1 determines each other. Partial dependence averages over all combinations with the other feature, also over those "
    "that do not occur; accumulated local effects (ALE) do not",
    "outside": "Share of the predictions averaged here (values x rows) for which the combination with another feature hardly exists in the data",
    "thin": "Fewer than 5 rows, or 0.5 % of them, near a value",
    "error": "Largest standard error of the partial dependence, or of its shape: how much another sample of rows would change it",
}


class EffectsPanel(Panel):
    """The focused feature's other curves, and what to know before believing them."""

    name = "effects"
    priority = 72.0

    def __init__(self, explainer: Any) -> None:
        super().__init__(explainer)
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def key(self, view: View) -> Hashable:
        """Return the focus, what is asked for, and the selection where something depends on it; None before there is a sample."""
        if view.sample is None:
            return None
        selection = view.selection_id if _follows(view) else 0
        return view.feature, view.output, view.effect, view.by, view.marked, view.color_by, view.others, selection

    def cost(self, view: View) -> int:
        """Return the rows to ask about beyond the focused feature's curves and what is known already."""
        explainer, cost, selected = self.explainer, 0, _selected(view)
        n, ice = explainer.n_rows, explainer.ice(view.feature, keep=view.sample)
        base = n - explainer.base().rows_done
        if view.effect == "ale":
            per_row = 3 if ice.grids[0].kind == "category" else 2
            parts = n * (1 + (view.selection is not None)) + _grouped_rows(view)
            cost += base + per_row * parts * (("ale", view.feature, "") not in self._known)
            for other in view.others[: models.MOST_MODELS]:
                if ("ale", view.feature, _which(other, selected)) not in self._known:
                    asked = other.explainer.base()
                    cost += n - asked.rows_done + per_row * (n if selected is None else selected.n)
        elif view.others:
            cost += models.cost(view, None if selected is None else selected.mask)
        if view.effect != "ale" and self._observable and ("observed", view.feature) not in self._known:
            cost += base
        if ice.values is None:  # curves of some rows only are computed for themselves
            cells = ice.grids[0].size
            cost += min(TRUST_ROWS, n) * cells * (("trust", view.feature) not in self._known)
            cost += cells * _grouped_rows(view)
        return cost

    def steps(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield what is asked for first, then hints and the observed means."""
        for picture in self._grow(view):
            yield None if picture is None else _copy(picture)

    def _grow(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield one and the same picture, with more in it each time."""
        picture: dict[str, Any] = {
            "feature": view.feature, "output": view.output, "effect": view.effect, "by": view.by,
            "selection_id": 0, "ale": None, "groups": None, "models": None, "observed": None, "outputs": None, "hints": None, "notes": [],
            "colour": self._colour(view),
        }  # fmt: skip
        self._fill(view, picture)
        selected = _selected(view)
        if _follows(view):
            picture["selection_id"] = view.selection_id
        if view.effect == "ale":
            yield from self._show_ale(view, picture, selected)
        if view.by:
            yield from self._show_groups(view, picture, selected)
        yield from self._show_hints(view, picture)
        if view.others:
            yield from self._show_models(view, picture, selected)
        yield from self._show_outputs(view, picture)
        if self._observable:
            yield from self._show_observed(view, picture)
        yield picture

    def _fill(self, view: View, picture: dict[str, Any]) -> None:
        """Show from the start what is known already: nothing comes and goes with the selection that does not depend on it."""
        trust, observed = self._recall(("trust", view.feature)), self._recall(("observed", view.feature))
        if trust is not None:
            picture["hints"] = _hints(trust, view)
        if observed is not None:
            picture["observed"] = _observed(observed, view.k)
        ice = self.explainer.ice(view.feature, keep=view.sample)
        if self._layered and ice.complete:
            picture["outputs"] = {"names": list(self.explainer.outputs), "averages": pack(ice.result().average)}

    # ---- as tables -----------------------------------------------------------------------

    def tables(self, view: View, picture: dict[str, Any]) -> dict[str, pd.DataFrame]:
        """Return ALE of all rows and of both sides of the selection; of groups see ``grouped``, of other models ``compared``."""
        return {name: frame for name, _, frame in self.accumulated(view, picture)}

    def accumulated(self, view: View, picture: dict[str, Any]) -> list[tuple[str, int, pd.DataFrame]]:
        """Return the same as "all", "selection" and "rest", how many rows each stands on, and its table."""
        if picture["ale"] is None:
            return []
        selected = view.selection_id
        parts = {"all": "", "selection": selected, "rest": -selected}
        known = [(name, self._known.get(("ale", view.feature, which))) for name, which in parts.items()]
        return [
            (name, one.n, _of_output(one.frame, view.output))
            for name, one in known
            if one is not None and one.frame is not None
        ]

    def compared(
        self, view: View, shaped: Callable[[PartialDependence], PartialDependence]
    ) -> list[tuple[str, int, pd.DataFrame]]:
        """Return the other models' names, how many rows each curve stands on, and the curve as a table, of what is there.

        With a selection they are those of the selected rows. ``shaped`` says how partial dependence is drawn.
        """
        selected = _selected(view)
        found = []
        for line in models.lines_of(view, None if selected is None else selected.mask)[0]:
            if view.effect == "ale":
                known = self._known.get(("ale", view.feature, _which(line.model, selected)))
                if known is not None and known.frame is not None:
                    frame = _of_output(known.frame, line.model.explainer.outputs[line.k])
                    found.append((line.model.name, known.n, frame))
                continue
            result = models.result_of(view, line)
            if result is not None:
                found.append((line.model.name, len(result.rows), shaped(result).to_frame()))
        return found

    def grouped(
        self, view: View, shaped: Callable[[PartialDependence], PartialDependence]
    ) -> list[tuple[str, int, pd.DataFrame]]:
        """Return each group's name, how many rows it has, and its curve as a table; ``shaped`` says how it is drawn.

        Raises
        ------
        InputError
            When a curve is not there.
        """
        selection = _selected(view)
        shared = self.explainer.ice(view.feature, keep=view.sample)
        found = []
        groups, _ = _marked(view) if view.marked else groups_of(self.explainer, view.by)
        if selection is not None and whole(groups, selection.mask):
            selection = None
        for group in groups:
            rows = group.mask if selection is None else group.mask & selection.mask
            if not rows.any():
                continue
            if view.effect == "ale":
                which = (view.by, group if view.marked else group.condition, 0 if selection is None else selection.id)
                known = self._known.get(("ale", view.feature, which))
                frame = None if known is None or known.frame is None else _of_output(known.frame, view.output)
            else:
                own = shared.values is None
                ice = self.explainer.ice(view.feature, rows=rows) if own else shared
                frame = (
                    shaped(ice.result(None if own else rows).output(view.output)).to_frame() if ice.complete else None
                )
            if frame is None:
                raise InputError(f"the curves by {view.by} are still being computed; widget.wait() waits for them")
            found.append((group.label, int(np.count_nonzero(rows)), frame))
        return found

    # ---- ALE -----------------------------------------------------------------------------

    def _show_ale(self, view: View, picture: dict[str, Any], selected: Any) -> Iterator[dict[str, Any] | None]:
        yield from _predictions(self.explainer)
        shown: dict[str, Any] = {"all": None, "selection": None, "rest": None}
        picture["ale"] = shown
        parts: list[tuple[str, Hashable, Any]] = [("all", "", None)]
        if selected is not None:
            parts += [("selection", selected.id, selected.mask), ("rest", -selected.id, ~selected.mask)]
        for name, which, mask in parts:
            if mask is not None and not mask.any():
                continue
            known = name == "all" and selected is not None and ("ale", view.feature, which) in self._known
            try:
                for one in self._ale(view.feature, which, mask):
                    shown[name] = one.wire(view.k)
                    yield None if known else picture
            except InputError as error:
                if name == "all":
                    picture["ale"] = None
                    picture["notes"].append(str(error))
                    return

    def _ale(
        self, feature: str, which: Hashable, mask: np.ndarray | None, explainer: Explainer | None = None
    ) -> Iterator[_Ale]:
        """Yield the growing ALE of some rows, lifted to their mean prediction so that it shares the curve's axis."""
        key = ("ale", feature, which)
        found: _Ale | None = self._recall(key)
        if found is None:
            explainer = self.explainer if explainer is None else explainer
            for result in iter_ale(explainer, feature, subgroup=mask):
                found = _lifted(explainer, self.explainer.grid(feature).labels, result)
                if not result.complete:
                    yield found
            assert found is not None
            found = replace(found, frame=result.to_frame())
            self._keep(key, found)
        yield found

    # ---- other models --------------------------------------------------------------------

    def _show_models(self, view: View, picture: dict[str, Any], selected: Any) -> Iterator[dict[str, Any] | None]:
        mask = None if selected is None else selected.mask
        lines, notes = models.lines_of(view, mask)
        picture["notes"] += notes
        picture["models"] = {"selected": selected is not None, "lines": lines}
        if view.effect == "ale":
            for line in lines:
                yield from self._grow_model_ale(view, line, selected)
        else:
            for new in models.grow(view, lines):
                yield picture if new else None
        picture["notes"] += [line.trouble for line in lines if line.trouble]
        yield picture

    def _grow_model_ale(self, view: View, line: models.ModelLine, selected: Any) -> Iterator[None]:
        explainer = line.model.explainer
        try:
            yield from _predictions(explainer)
            for one in self._ale(view.feature, _which(line.model, selected), line.mask, explainer):
                line.x, line.values, line.thin = pack(one.x), pack(one.values[line.k]), None
                line.n = line.total = one.n
                yield None
        except PDPWidgetsError as error:
            line.trouble, line.values = f"{line.model.name}: {error}", None

    # ---- groups --------------------------------------------------------------------------

    def _show_groups(self, view: View, picture: dict[str, Any], selected: Any) -> Iterator[dict[str, Any] | None]:
        if view.by == view.feature:
            picture["notes"].append(f"a curve per group of {view.by} says nothing about {view.by} itself")
            return
        try:
            groups, note = _marked(view) if view.marked else groups_of(self.explainer, view.by)
        except InputError as error:
            picture["notes"].append(str(error))
            return
        if note:
            picture["notes"].append(note)
        assert view.sample is not None
        if selected is not None and whole(groups, selected.mask):
            selected = None
        mask = None if selected is None else selected.mask
        levels: list[dict[str, Any]] = []
        picture["groups"] = {
            "by": view.by,
            "codes": pack(_codes(groups, view.sample), "uint8"),
            "selected": selected is not None,
            "levels": levels,
        }
        rows = [group.mask if mask is None else group.mask & mask for group in groups]
        levels += [_level(group, some) for group, some in zip(groups, rows, strict=True)]
        if view.effect == "ale":
            for at, some in enumerate(rows):
                if not some.any():
                    continue
                group = groups[at] if view.marked else groups[at].condition  # the rows of a bookmark may change
                which = (view.by, group, 0 if selected is None else selected.id)
                try:
                    for one in self._ale(view.feature, which, some):
                        levels[at] = _level(groups[at], some, pack(one.values[view.k]), x=pack(one.x))
                        yield None
                except InputError as error:  # of these rows; the others have their curves
                    picture["notes"].append(f"no curve of {groups[at].label}: {error}")
            yield picture
            return
        yield from self._grow_groups(view, picture, groups, rows)

    def _grow_groups(
        self, view: View, picture: dict[str, Any], groups: list[Group], rows: list[np.ndarray]
    ) -> Iterator[dict[str, Any] | None]:
        """Average the curves of each group: those of the focus, or their own where not all are kept."""
        shared = self.explainer.ice(view.feature, keep=view.sample)
        levels = picture["groups"]["levels"]
        own = shared.values is None
        few = [thin(shared.grids[0], some) for some in rows]
        ices = [self.explainer.ice(view.feature, rows=some) if own else shared for some in rows]

        def draw() -> None:
            for at, (ice, some) in enumerate(zip(ices, rows, strict=True)):
                if some.any() and ice.rows_done:
                    average = ice.result(None if own else some).average[view.k]
                    levels[at] = _level(groups[at], some, pack(average), thin=few[at])

        for ice, some in zip(ices, rows, strict=True):
            while some.any() and not ice.complete:
                ice.advance()
                if len(levels) * int(ice.rows_done) < 200_000:  # averaging is work, too
                    draw()
                    yield picture
                else:
                    yield None
        draw()
        yield picture

    # ---- hints, outputs, observed --------------------------------------------------------

    def _show_hints(self, view: View, picture: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
        if picture["hints"] is not None:
            return
        yield from self._grow_trusted(view)
        found = self.explainer.trust(view.feature)
        self._keep(("trust", view.feature), found)
        picture["hints"] = _hints(found, view)
        yield picture

    def _grow_trusted(self, view: View) -> Iterator[None]:
        """Compute the curves that trust looks at in chunks, which it would do at one go."""
        explainer = self.explainer
        order = (
            explainer.row_order
            if explainer.weights is None
            else explainer.row_order[explainer.weights[explainer.row_order] > 0]
        )
        rows = np.sort(order[:TRUST_ROWS])
        ice = explainer.ice(view.feature, keep=rows)
        while ice.values is not None and not ice.complete and ice.rows_done < len(rows):
            ice.advance()
            yield

    @property
    def _layered(self) -> bool:
        return 2 < len(self.explainer.outputs) <= MOST_OUTPUTS

    def _show_outputs(self, view: View, picture: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
        if not self._layered or picture["outputs"] is not None:
            return
        ice = self.explainer.ice(view.feature, keep=view.sample)
        while not ice.complete:
            ice.advance()
            yield None
        picture["outputs"] = {"names": list(self.explainer.outputs), "averages": pack(ice.result().average)}
        yield picture

    @property
    def _observable(self) -> bool:
        return self.explainer.y is not None

    def _show_observed(self, view: View, picture: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
        if picture["observed"] is not None:
            return
        grid = self.explainer.grid(view.feature)
        size = None if grid.kind == "category" or grid.size <= OBSERVED_POINTS else OBSERVED_POINTS
        try:
            for found in iter_observed(self.explainer, view.feature, grid_size=size):
                if not found.complete:
                    yield None
        except InputError:  # an outcome that cannot be compared with what the model says is no business of the curve
            return
        self._keep(("observed", view.feature), found)
        picture["observed"] = _observed(found, view.k)
        yield picture

    # ---- helpers -------------------------------------------------------------------------

    def _colour(self, view: View) -> dict[str, Any] | None:
        """Return the sampled rows' own values of the feature that colours their lines."""
        if not view.color_by:
            return None
        observed = self.explainer.table.observed(view.color_by)
        labels = list(observed.labels or []) if observed.kind == "category" else None
        return {
            "feature": view.color_by,
            "kind": observed.kind,
            "labels": labels,
            "values": pack(observed.codes[view.sample], "float32" if labels else "float64"),
        }

    def _recall(self, key: Hashable) -> Any:
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def _keep(self, key: Hashable, found: Any) -> None:
        self._known[key] = found
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)


@dataclass(frozen=True)
class _Ale:
    """What is kept of an ALE: its points, its values of all outputs, and how many rows it stands on."""

    x: np.ndarray
    values: np.ndarray
    n: int
    frame: pd.DataFrame | None = None
    """The result as a table, of all outputs."""

    def wire(self, k: int) -> dict[str, Any]:
        return {"x": pack(self.x), "values": pack(self.values[k]), "n": self.n}


def _selected(view: View) -> Selection | None:
    """Return the selection where it has rows."""
    return view.selection if view.selection is not None and view.selection.mask.any() else None


def _follows(view: View) -> bool:
    """Whether the picture depends on the selection."""
    return view.effect == "ale" or bool(view.by) or bool(view.others)


def _which(model: models.OtherModel, selected: Selection | None) -> Hashable:
    """Return what tells another model's ALE of some rows from the rest of what is known."""
    return "model", model.name, 0 if selected is None else selected.id


def _grouped_rows(view: View) -> int:
    """Return how many rows groups have together: bookmarks may share some."""
    if view.marked:
        return sum(int(np.count_nonzero(group.mask)) for group in view.marked[:MOST_GROUPS])
    return view.explainer.n_rows * bool(view.by)


def _marked(view: View) -> tuple[list[Group], str]:
    """Return the bookmarks as groups, and what to know about them."""
    groups = list(view.marked[:MOST_GROUPS])
    shared = int((np.sum([group.mask for group in groups], axis=0) > 1).sum())
    notes = [
        f"the first {MOST_GROUPS} bookmarks have a curve" if len(view.marked) > MOST_GROUPS else "",
        f"rows in more than one bookmark ({shared:,}) count in the curve of each; their lines stay grey"
        if shared
        else "",
    ]
    return groups, "; ".join(filter(None, notes))


def _predictions(explainer: Explainer) -> Iterator[None]:
    base = explainer.base()
    while not base.complete:
        base.advance()
        yield


def _lifted(explainer: Explainer, levels: Sequence[str], result: ALE) -> _Ale:
    predictions, weights = explainer.base().predictions[:, result.rows], explainer.weights
    known = np.isfinite(predictions).all(axis=0)
    weights = np.ones(len(result.rows)) if weights is None else weights[result.rows]
    values, x = result.values, result.positions[0]
    if known.any():
        values = values + np.average(predictions[:, known], axis=1, weights=weights[known])[:, None]
    if result.kinds[0] == "category":
        x, values = _on_levels(list(levels), result.grid_labels[0], values)
    return _Ale(x, values, len(result.rows))


def _of_output(frame: pd.DataFrame, output: str) -> pd.DataFrame:
    """Return the rows of one output; the column of outputs is the first one, whatever it is called."""
    return frame[frame.iloc[:, 0] == output].reset_index(drop=True)


def _hints(found: Trust, view: View) -> list[dict[str, Any]]:
    return [
        {"kind": hint.kind, "severity": hint.severity, "text": hint.text, "about": _ABOUT.get(hint.kind, "")}
        for hint in found.output(view.output).hints
    ]


def _observed(found: ObservedOutcome, k: int) -> dict[str, Any]:
    seen = found.n > 0
    return {
        "x": pack(found.grid.positions[seen]),
        "outcome": pack(found.observed[k, seen]),
        "predicted": pack(found.predicted[k, seen]),
        "residual": pack(found.residual[k, seen]),
        "stderr": pack(found.residual_stderr[k, seen]),
        "n": pack(found.n[seen], "int32"),
    }


def _copy(picture: dict[str, Any]) -> dict[str, Any]:
    """Return a picture that stays as it is while the one on its way changes."""
    ale, groups, others = picture["ale"], picture["groups"], picture["models"]
    return {
        **picture,
        "ale": None if ale is None else dict(ale),
        "groups": None if groups is None else {**groups, "levels": list(groups["levels"])},
        "models": None if others is None else {**others, "lines": [line.wire() for line in others["lines"]]},
        "notes": list(picture["notes"]),
    }


def _level(group: Group, rows: np.ndarray, values: Any = None, *, x: Any = None, thin: Any = None) -> dict[str, Any]:
    """Return a group's curve; ``x`` is None on the grid of the focused curve, where ``thin`` tells where the group has few rows."""
    return {
        "label": group.label,
        "condition": group.condition,
        "n": int(np.count_nonzero(rows)),
        "x": x,
        "values": values,
        "thin": thin,
    }


def _codes(groups: list[Group], rows: np.ndarray) -> np.ndarray:
    """(m,) the group of each row, 255 for none and for several."""
    inside = np.stack([group.mask[rows] for group in groups])
    return np.where(inside.sum(axis=0) == 1, inside.argmax(axis=0), 255)


def _on_levels(grid: list[str], labels: list[str], values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values of levels in the order of the curve's own axis; those that are not on it are left out."""
    at = {label: k for k, label in enumerate(grid)}
    found = sorted((at[label], k) for k, label in enumerate(labels) if label in at)
    return np.array([k for k, _ in found], dtype=float), values[:, [k for _, k in found]]
