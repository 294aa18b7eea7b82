"""The importance panel: every feature by every measure, over all rows and over the selected ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdp_widgets.explain.importance import REPEATS, ImportanceCost, iter_importance
from pdp_widgets.widget.wire import pack

from .panel import Panel, View

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    import pandas as pd

    from pdp_widgets.explain.importance_result import Importance

__all__ = ["ImportancePanel"]

_KEPT = 12  # as many as the board keeps pictures

_MEASURES = {
    "pd_importance": None,
    "pd_importance_weighted": None,
    "pdi": "pdi_stderr",
    "heterogeneity": None,
    "permutation": "permutation_stderr",
}
"""What is shown, and the standard error beside it."""


class ImportancePanel(Panel):
    """Importance of all features; see ``explain.importance``."""

    name = "importance"
    priority = 58.0

    def __init__(self, explainer: Any) -> None:
        super().__init__(explainer)
        self._whole: Importance | None = None
        self._grown: Importance | None = None
        self._cost: ImportanceCost | None = None
        self._selected: dict[int, pd.DataFrame] = {}
        """Tables of the last selections, by their ids."""

    def key(self, view: View) -> Hashable:
        """Return the output and the selection."""
        return view.output, view.selection_id

    def cost(self, view: View) -> int:
        """Return the rows that all measures of all outputs ask about."""
        selected = 0 if view.selection is None or self._weightless(view) else view.selection.n
        cost = 0 if self._whole is not None else self._rows(self.explainer.n_rows)
        return cost + self._rows(selected) if selected else cost

    def _rows(self, n: int) -> int:
        explainer = self.explainer
        if not self.free:
            self._cost = self._cost or ImportanceCost(explainer)  # for every selection the same
            return self._cost.rows(n)
        return 0 if explainer.y is None else n * (1 + REPEATS * len(explainer.features))  # permutations ask the model

    def steps(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield the table of all rows, then with the selection's beside it."""
        yield from self.compiled()
        if self._whole is None:
            for grown in iter_importance(view.explainer):
                self._grown = grown
                yield self._picture(view, grown, None)
            self._whole = grown
        yield self._picture(view, self._whole, None)
        if view.selection is not None and view.selection.mask.any() and not self._weightless(view):
            for grown in iter_importance(view.explainer, subgroup=view.selection):
                kept = list(self._selected.items())[-_KEPT:]
                self._selected = {**dict(kept), view.selection_id: grown.to_frame()}
                yield self._picture(view, self._whole, grown)

    def _weightless(self, view: View) -> bool:
        """Whether rows are selected that all have weight 0: no mean of theirs exists."""
        weights = self.explainer.weights
        if weights is None or view.selection is None or not view.selection.mask.any():
            return False
        return not weights[view.selection.mask].sum() > 0

    def result(self, view: View) -> Importance | None:
        """Return the table of all rows as far as it is known, for the output in focus."""
        found = self._whole or self._grown
        return None if found is None else found.output(view.output)

    def tables(self, view: View, picture: dict[str, Any]) -> dict[str, pd.DataFrame]:
        """Return all measures, of all rows and of the selected ones."""
        tables = super().tables(view, picture)
        if picture["selection"] is not None and view.selection_id in self._selected:
            frame = self._selected[view.selection_id]
            tables["selection"] = frame[frame.output == view.output].reset_index(drop=True)
        return tables

    def _picture(self, view: View, whole: Importance, part: Importance | None) -> dict[str, Any]:
        notes = [whole.note] if whole.note else []
        if view.selection is not None and self._weightless(view):
            notes.append(f"all rows are shown: sample_weight is 0 for the {view.selection.n:,} selected ones")
        return {
            "output": view.output,
            "features": list(whole.features),
            "score": whole.score,
            "note": "; ".join(notes),
            "all": _columns(whole, view.k),
            "selection": None if part is None else _columns(part, view.k),
            "n": len(whole.rows),
            "n_selection": 0 if part is None else len(part.rows),
        }


def _columns(result: Importance, k: int) -> dict[str, Any]:
    columns: dict[str, Any] = {"computed": pack(result.computed, "uint8")}
    for name, stderr in _MEASURES.items():
        columns[name] = pack(getattr(result, name)[k])
        if stderr is not None:
            columns[stderr] = pack(getattr(result, stderr)[k])
    return columns
