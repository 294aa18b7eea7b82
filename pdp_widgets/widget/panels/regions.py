"""The regions panel: by which condition the rows divide whose curves disagree, for the focused feature and for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdp_widgets.explain.regions import iter_regions
from pdp_widgets.inputs import PDPWidgetsError
from pdp_widgets.widget.screen import BUDGET
from pdp_widgets.widget.wire import scalar

from .groups import in_words
from .panel import Panel, View

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pdp_widgets.explain.region_results import Region, Regions

__all__ = ["RegionsPanel"]

DEPTH = 2
MOST_SPLITS = 3


class RegionsPanel(Panel):
    """Suggested splits; see ``explain.regions``. The selection changes nothing: they divide all rows."""

    name = "regions"
    priority = 57.0

    def __init__(self, explainer: Any) -> None:
        super().__init__(explainer)
        self._found: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any] | None]] = {}
        """By feature and output: its splits, and the first one as it is listed among other features'."""

    def key(self, view: View) -> Hashable:
        """Return the focus; None before there is a sample of rows."""
        return None if view.sample is None else (view.feature, view.output)

    def steps(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield the focused feature's splits, then the others' first ones, feature by feature.

        The model is asked no more than for the sparklines: where those stand on a part of the rows, so do the splits.
        """
        names = [view.feature, *(name for name in self.explainer.features if name != view.feature)]
        for name in names:
            if (name, view.output) not in self._found:
                yield from self._find(name, view)
                yield self._picture(view)
        yield self._picture(view)

    def _find(self, name: str, view: View) -> Iterator[None]:
        explainer = self.explainer
        try:
            ice = explainer.ice(name, keep=view.sample)
            goal = min(explainer.n_rows, max(1, BUDGET // ice.grids[0].size))
            while ice.rows_done < goal:
                ice.advance()
                yield
            # What is there by now is a random sample of the rows: the first answer is the one from it.
            keep = view.sample if ice.values is None else None
            growing = iter_regions(explainer, name, depth=DEPTH, output=view.output, keep=keep)
            found = next(growing)
            self._found[name, view.output] = _here(found), _first(found)
        except PDPWidgetsError as error:
            nothing: dict[str, Any] = {
                "splits": [],
                "leaves": [],
                "reason": str(error),
                "heterogeneity": None,
                "rows": 0,
                "rows_total": explainer.n_rows,
            }
            self._found[name, view.output] = nothing, None

    def _picture(self, view: View) -> dict[str, Any]:
        known = [self._found.get((name, view.output)) for name in self.explainer.features]
        here = self._found.get((view.feature, view.output))
        split = [one[1] for one in known if one is not None and one[1] is not None]
        return {
            "feature": view.feature,
            "output": view.output,
            "here": None if here is None else here[0],
            "all": sorted(split, key=lambda one: -one["size"]),
            "done": sum(one is not None for one in known),
            "total": len(known),
        }


def _here(found: Regions) -> dict[str, Any]:
    nodes = sorted((node for node in found.root.nodes if node.split is not None), key=lambda node: node.depth)
    return {
        "splits": [_split(node) for node in nodes[:MOST_SPLITS]],
        "leaves": [{"text": leaf.text, "label": in_words(leaf.condition), "n": leaf.n} for leaf in found.root.leaves],
        "reason": found.reason,
        "heterogeneity": scalar(found.heterogeneity),
        "rows": len(found.rows),
        "rows_total": found.rows_total,
    }


def _split(node: Region) -> dict[str, Any]:
    split = node.split
    assert split is not None
    return {
        "within": "" if node.depth == 0 else in_words(node.condition),
        "by": split.feature,
        "condition": split.sides[0],
        "gain": scalar(split.gain),
        "gain_check": scalar(split.gain_check),
        "sides": [
            {"text": child.text, "label": in_words(side), "n": child.n}
            for side, child in zip(split.sides, node.children, strict=True)
        ],
    }


def _first(found: Regions) -> dict[str, Any] | None:
    """Return the first split; ``size`` is how far its sides lie apart, in the unit of the response."""
    split = found.root.split
    if split is None:
        return None
    return {
        "feature": found.feature,
        "by": split.feature,
        "text": split.sides[0],
        "label": in_words(split.sides[0]),
        "removed": scalar(split.gain),
        "size": found.heterogeneity * max(split.gain, 0.0) ** 0.5,
        "n": found.root.children[0].n,
    }
