"""Explanation: what results tell besides their numbers.

Of which outputs, on which scale and for which rows the numbers are, and how they were obtained; and how one output is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import find_output
from pdp_widgets.tabular import Tabular

if TYPE_CHECKING:
    import numpy as np

    from .background import Background

EXACT = "exact sums over trees"
MODEL = "model calls"


@dataclass(frozen=True, kw_only=True)
class Explanation(Tabular, Drawable):
    """What results with numbers for each output of a model have in common."""

    outputs: tuple[str, ...]
    """Names of the outputs."""
    labels: tuple[Any, ...] = field(repr=False)
    """The model's own class labels of the outputs, empty when they are no classes."""
    scale: str
    """The response scale: "probability", "log-odds", "decision value", "prediction", ..."""
    subgroup: str | None
    """The subgroup in words, None for all rows."""
    weights: np.ndarray | None = field(repr=False)
    """(n,) row weights of the background, None when all count the same."""
    method: str = MODEL
    """How the numbers were obtained."""

    _by_output: ClassVar[tuple[str, ...]] = ()  # fields whose first axis is the outputs

    @property
    def weighted(self) -> bool:
        """Return whether row weights are in use."""
        return self.weights is not None

    def output(self, name: Any) -> Self:
        """Return the same for one output, given by name, class label or position.

        Raises
        ------
        InputError
            When there is no such output.
        """
        one = slice((k := find_output(name, self.outputs, self.labels)), k + 1)
        cut: dict[str, Any] = {
            key: None if (values := getattr(self, key)) is None else values[one] for key in self._by_output
        }
        return replace(self, outputs=self.outputs[one], labels=self.labels[one], **cut)

    @property
    def rows_in_words(self) -> list[str]:
        """Return what there is to say of the rows: the subgroup, and that they are weighted."""
        parts = [] if self.subgroup is None else [f"subgroup {self.subgroup}"]
        return [*parts, "weighted"] if self.weighted else parts


def context(explainer: Background, subgroup: str | None) -> dict[str, Any]:
    """Return the fields that all explanations have, but for the method."""
    return {
        "outputs": tuple(explainer.outputs),
        "labels": tuple(explainer.response.raw_labels),
        "scale": explainer.scale,
        "subgroup": subgroup,
        "weights": explainer.weights,
    }
