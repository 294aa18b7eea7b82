"""What conditions look like on the page: intervals of an axis, and levels of a grid.

Those that a brush can take over are told apart from those that can only be marked: a brush knows no "or missing".
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs.folding import feature_of
from pdp_widgets.inputs.subgroup import Levels, Missing, Node, Not, Or, Range, Rows

from .geometry import IceBox

if TYPE_CHECKING:
    from pdp_widgets.explain import Explainer
    from pdp_widgets.inputs import FeatureTable, Grid

__all__ = ["Drawing", "bounds"]


class Drawing:
    """Draws conditions on the features of an explainer, whose levels it looks up once.

    Parameters
    ----------
    explainer : Explainer
    model : str
        Whose curves are on the page, where there are several models: rectangles on others' are not drawn.
    """

    def __init__(self, explainer: Explainer, model: str = "") -> None:
        self.explainer, self.model = explainer, model
        self._levels: dict[str, tuple[np.ndarray, FeatureTable]] = {}

    def together(self, conditions: list[Node]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return what a brush can take over of conditions that must all hold, and what can be marked only.

        Where several are about one feature, one of them would be drawn as what it is not.
        """
        about = Counter(map(feature_of, conditions))
        known = {None, *self.explainer.features}  # a column of a group is no feature that could be drawn on
        brushed, marked = [], []
        for node in conditions:
            name = feature_of(node)
            if name not in known or (name is not None and about[name] > 1):
                continue
            wire = self.brush(node)
            if wire is not None:
                brushed.append(wire)
            else:
                marked += self.marks(node)
        return brushed, marked

    def brush(self, node: Node) -> dict[str, Any] | None:
        """Return a condition as a brush would make it, None where none can."""
        if isinstance(node, Range) and not node.missing:
            if node.low is not None and node.high is not None and node.low > node.high:
                return None  # of two ranges that do not meet
            low, high = bounds(node, integer=self.explainer.grid(node.feature).feature.kind == "integer")
            return {"type": "range", "feature": node.feature, "low": low, "high": high}
        if isinstance(node, Levels | Missing) or (isinstance(node, Not) and isinstance(node.part, Missing)):
            return self._on_levels(node)
        if isinstance(node, Rows) and isinstance(node.data, IceBox):
            box = node.data
            if box.model != self.model:
                return None
            where = {"x": list(box.x), "y": list(box.y), "centered": box.centered}
            names = {"name": node.text, "about": node.about}
            return {"type": "ice", "feature": box.feature, "output": box.output, **where, **names}
        return None

    def marks(self, node: Node) -> list[dict[str, Any]]:
        """Return where a condition on one feature holds: intervals, levels, or both; nothing where that cannot be drawn."""
        if isinstance(node, Or):
            parts = [self.marks(part) for part in node.parts]
            return [wire for part in parts for wire in part] if all(parts) else []
        if not isinstance(node, Range) or not node.missing:
            wire = self.brush(node)
            return [] if wire is None or wire["type"] == "ice" else [wire]
        grid = self.explainer.grid(node.feature)
        low, high = bounds(node, integer=grid.feature.kind == "integer")
        found: list[dict[str, Any]] = []
        if not (low is None and high is None):
            found.append({"type": "range", "feature": node.feature, "low": low, "high": high})
        if grid.missing >= 0:
            found.append({"type": "levels", "feature": node.feature, "levels": [grid.missing]})
        return found

    def _on_levels(self, node: Node) -> dict[str, Any] | None:
        feature = node.part.feature if isinstance(node, Not) else node.feature  # type: ignore[attr-defined]
        grid = self.explainer.grid(feature)
        if grid.kind != "category":
            missing_only = isinstance(node, Missing) and grid.missing >= 0
            return {"type": "levels", "feature": feature, "levels": [grid.missing]} if missing_only else None
        levels, rows = self._one_row_each(feature, grid)
        return {"type": "levels", "feature": feature, "levels": levels[node.mask(rows)].tolist()}

    def _one_row_each(self, feature: str, grid: Grid) -> tuple[np.ndarray, FeatureTable]:
        """Return the levels that rows have, and a row of each: asking those is safer than comparing levels here a second time."""
        if feature not in self._levels:
            levels, first = np.unique(grid.own, return_index=True)
            first, levels = first[levels >= 0], levels[levels >= 0]
            self._levels[feature] = levels, self.explainer.table.take(first)
        return self._levels[feature]


def bounds(node: Range, *, integer: bool) -> tuple[float | None, float | None]:
    """Return the finite ends of an interval; those of whole numbers belong to it: ``n > 4`` begins at 5."""
    low, high = (bound if bound is not None and math.isfinite(bound) else None for bound in (node.low, node.high))
    if integer:
        low = None if low is None else math.ceil(low) if node.low_closed else math.floor(low) + 1
        high = None if high is None else math.floor(high) if node.high_closed else math.ceil(high) - 1
    return low, high
