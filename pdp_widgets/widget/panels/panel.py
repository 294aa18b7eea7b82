"""Panel: what a part of the page answers, as a picture that grows; when it does so is the board's business."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    import numpy as np
    import pandas as pd

    from pdp_widgets.explain import Explainer
    from pdp_widgets.widget.selection import Selection

    from .groups import Group
    from .models import OtherModel

__all__ = ["Panel", "View"]


@dataclass(frozen=True)
class View:
    """What is in focus and selected at one moment: it never changes, so a panel may read it in the worker's thread."""

    explainer: Explainer
    feature: str
    output: str
    pair: tuple[str, str] | None
    """The two features of the surface, if somebody has chosen them."""
    by: str
    """The feature whose levels have a curve each, or a condition that divides the rows; empty for none. What ``marked`` is called
    where that has the groups."""
    effect: str
    """"pd" or "ale"."""
    selection: Selection | None
    """None when all rows count."""
    sample: np.ndarray | None
    """Rows whose own curves the page holds."""
    color_by: str = ""
    """The feature whose values colour the single rows' lines; empty for none."""
    partner: str | None = None
    """The feature that the focused one is shown with when nobody has chosen a pair; None as long as that is not known."""
    marked: tuple[Group, ...] = ()
    """Bookmarks that have a curve each; they may share rows."""
    others: tuple[OtherModel, ...] = ()
    """The models whose curves are to stand beside the focused one."""

    @property
    def k(self) -> int:
        """Position of the output."""
        return self.explainer.outputs.index(self.output)

    @property
    def selection_id(self) -> int:
        """What tells one selection from another; 0 for none."""
        return 0 if self.selection is None else self.selection.id


class Panel(ABC):
    """One part of the page.

    A panel is made once per widget, and may remember what it has computed between pictures.
    """

    name: ClassVar[str]
    """The picture goes to the trait of this name with "_" before it."""
    priority: ClassVar[float] = 50.0
    """How much its chunks are wanted; the focused curve's first rows have 100, other features' last ones 60."""

    def __init__(self, explainer: Explainer) -> None:
        self.explainer = explainer

    @abstractmethod
    def key(self, view: View) -> Hashable:
        """Return what the picture depends on: a new key, a new picture; None when there is nothing to show."""

    @abstractmethod
    def steps(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield the picture as it grows, and None after a chunk of 50 to 100 ms without news; the last one is complete."""

    def cost(self, view: View) -> int:  # noqa: ARG002 (for those that cost something)
        """Return how many rows the model will be asked about; above what the board affords the person is asked first."""
        return 0

    def result(self, view: View) -> Any:  # noqa: ARG002
        """Return the newest result object behind the picture; None while nothing is known, and of panels that have none."""
        return None

    def tables(self, view: View, picture: dict[str, Any]) -> dict[str, pd.DataFrame]:  # noqa: ARG002 (for those that show more)
        """Return the numbers behind a picture, as results give them, by the rows that they are of: "all", "selection", "rest".

        Nothing is computed; empty when the numbers are not known. Called from any thread.
        """
        found = self.result(view)
        return {} if found is None else {"all": found.to_frame()}

    @property
    def free(self) -> bool:
        """Whether the numbers follow from a sum of trees, or will as soon as its loops are compiled.

        ``cost`` asks for no more than this: it runs in the kernel's thread, where compiling is not waited for.
        """
        return self.explainer.source.method.refusal is None

    def compiled(self) -> Iterator[None]:
        """Wait for the loops over trees where they will come, and let others work meanwhile."""
        while self.explainer.source.method.loading(0.02):
            yield None

    def close(self) -> None:  # noqa: B027 (for those that hold something)
        """Let go of what goes on outside the widget's worker."""

    def refine(self, view: View) -> bool:  # noqa: ARG002
        """Use more rows from now on than the board affords unasked; False when the finished picture has all there is."""
        return False
