"""The other models' curves of the focused feature, to stand beside the one on the page: of the same rows, on its grid.

How much of them is computed unasked is that of a feature out of focus: a prefix of the rows in random order is an unbiased estimate,
and each curve says on how many rows it stands. With a selection they are those of the selected rows, to be read beside its curve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pdp_widgets.explain.alignment import counterpart, grid_of_first
from pdp_widgets.inputs import PDPWidgetsError
from pdp_widgets.widget.picture import thin
from pdp_widgets.widget.screen import BUDGET
from pdp_widgets.widget.wire import pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from pdp_widgets.explain import Explainer, Ice, PartialDependence
    from pdp_widgets.inputs import Grid

    from .panel import View

T = TypeVar("T")

__all__ = ["MOST_MODELS", "ModelLine", "OtherModel", "cost", "grow", "lines_of", "result_of", "tried", "unfinished"]

MOST_MODELS = 8
"""Other models that have a curve: colours for more could not be told apart."""


@dataclass(frozen=True, eq=False)
class OtherModel:
    """A model that is not on the page."""

    name: str
    at: int
    """Its position among all models, which is its hue as long as there is a page."""
    explainer: Explainer = field(repr=False)


@dataclass(eq=False)
class ModelLine:
    """The curve of another model on its way."""

    model: OtherModel
    k: int
    """Position of the output that means the same as the one in focus."""
    mask: np.ndarray | None
    """The selected rows; None for all."""
    thin: dict[str, Any] | None
    """Where few of the selected rows are; None for all rows, where the focused curve says so."""
    n: int = 0
    total: int = 0
    x: dict[str, Any] | None = None
    values: dict[str, Any] | None = None
    trouble: str = ""

    def wire(self) -> dict[str, Any]:
        """Return it as the page draws it."""
        return {
            "name": self.model.name, "hue": self.model.at, "n": self.n, "total": self.total,
            "x": self.x, "values": self.values, "thin": self.thin,
        }  # fmt: skip


def lines_of(view: View, mask: np.ndarray | None) -> tuple[list[ModelLine], list[str]]:
    """Return the curves to be computed, and notes on those that cannot be.

    Parameters
    ----------
    view : View
    mask : (n,) bool array or None
        The selected rows; None for all.
    """
    grid, lines, notes = view.explainer.grid(view.feature), [], []
    few = None if mask is None else thin(grid, mask)
    for model in view.others[:MOST_MODELS]:
        k = counterpart(view.explainer, view.k, model.explainer)
        if k is None:
            notes.append(f"{model.name} has no output {view.output}: its curve is left out")
        elif grid_of_first(view.explainer, model.explainer, view.feature) is None:
            notes.append(f"{model.name} cannot have this grid of {view.feature}: its curve is left out")
        else:
            lines.append(ModelLine(model, k, mask, few))
    if len(view.others) > MOST_MODELS:
        notes.append(f"curves of {MOST_MODELS} of {len(view.others)} other models: colours for more are not told apart")
    return lines, notes


def cost(view: View, mask: np.ndarray | None) -> int:
    """Return how many rows the other models will be asked about for their partial dependence."""
    rows = 0
    for line in lines_of(view, mask)[0]:
        if line.model.explainer.source.method.refusal is None:
            continue  # a sum of trees is not asked
        ice = _ice(view, line)
        rows += max(0, _goal(ice) - ice.rows_done) * ice.grids[0].size
    return rows


def unfinished(picture: dict[str, Any]) -> bool:
    """Whether some model's curve in a picture of effects stands on fewer rows than it could."""
    return any(line["n"] < line["total"] for line in (picture.get("models") or {}).get("lines", ()))


def grow(view: View, lines: list[ModelLine]) -> Iterator[bool]:
    """Compute the partial dependence of each, one chunk of each in turn; yields whether there is something new to draw."""
    growing = [(line, ice) for line in lines if (ice := tried(line, partial(_ice, view, line))) is not None]
    for line, ice in growing:
        _draw(line, ice)
    while growing := [(line, ice) for line, ice in growing if ice.rows_done < _goal(ice) and not line.trouble]:
        for line, ice in growing:
            tried(line, ice.advance)
            new = ice.rows_done * len(lines) < 200_000 or ice.rows_done >= _goal(ice)  # averaging is work, too
            if new:
                _draw(line, ice)
            yield new
    yield True


def tried(line: ModelLine, act: Callable[[], T]) -> T | None:
    """Return what comes of it; where a model fails its own curve is left out and no other."""
    try:
        return act()
    except PDPWidgetsError as error:
        line.trouble, line.values = f"{line.model.name}: {error}", None
        return None


def _ice(view: View, line: ModelLine) -> Ice:
    """Return the curves: those that the model's own page shares, or those of the selected rows where not all are kept."""
    explainer = line.model.explainer
    asked = grid_of_first(view.explainer, explainer, view.feature) or {}
    shared = explainer.ice(view.feature, keep=view.sample, **asked)
    if line.mask is None or shared.values is not None:
        return shared
    return explainer.ice(view.feature, rows=line.mask, **asked)


def result_of(view: View, line: ModelLine) -> PartialDependence | None:
    """Return the curve as far as it is there; None before, and where the model fails."""
    ice = tried(line, partial(_ice, view, line))
    if ice is None or not ice.rows_done:
        return None
    result = ice.result(line.mask if line.mask is not None and ice.values is not None else None)
    return result.output(line.model.explainer.outputs[line.k]) if len(result.rows) else None


def _goal(ice: Ice) -> int:
    grid: Grid = ice.grids[0]
    return max(min(ice.rows_total, BUDGET // grid.size), min(ice.rows_total, 1))


def _draw(line: ModelLine, ice: Ice) -> None:
    if not ice.rows_done or line.trouble:
        return
    result = ice.result(line.mask if line.mask is not None and ice.values is not None else None)
    line.n, line.total = len(result.rows), result.rows_total
    line.values = pack(result.average[line.k]) if line.n else None
