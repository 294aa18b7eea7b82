"""Importance: the table of how much each feature matters, and the ways to read it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from pdp_widgets.inputs import find_output
from pdp_widgets.inputs.errors import unknown_name

from .explanation import Explanation
from .results import in_words

MEASURES = (
    "pd_importance", "pd_importance_weighted", "heterogeneity", "heterogeneity_share", "pdi", "pdi_stderr",
    "permutation", "permutation_stderr", "permutation_stderr_rows",
)  # fmt: skip
"""Names of the arrays of ``Importance``, in the order of its table."""


@dataclass(frozen=True)
class Importance(Explanation):
    """How much each feature matters, by several measures; NaN where not computed (yet).

    The measures are (n_outputs, n_features) arrays. PD importance sees the main effect only, and in it a value with one row weighs
    as much as one with many; a crossing (XOR) is invisible to it. PDI and permutation importance see interactions, too.
    """

    features: tuple[str, ...]
    pd_importance: np.ndarray
    """Numbers and dates: standard deviation (ddof 1) of the partial dependence over the unique observed values; categories:
    range / 4 (Greenwell et al. 2018). Missing and infinite values are left out. Unit of the response."""
    pd_importance_weighted: np.ndarray
    """Weighted standard deviation of the partial dependence at the rows' own values, missing ones included; of a set of
    features, of their joint effect."""
    heterogeneity: np.ndarray
    """How far the rows' centred ICE curves disagree, as ``PartialDependence.heterogeneity``. Unit of the response."""
    heterogeneity_share: np.ndarray
    """Its square as a share of the mean square of the centred curves: 0 when all rows agree, 1 when nothing of them is common."""
    pdi: np.ndarray
    """Share of the response's variance that is lost when the feature is averaged out, mean (F - F_-j)^2 / mean F^2: its total
    effect where features are independent. Above 1 only when they are not."""
    pdi_stderr: np.ndarray
    """Standard error of ``pdi`` as that of a sample of so many rows (jackknife)."""
    permutation: np.ndarray
    """Increase of the loss when the feature is shuffled among the rows, unit of the loss."""
    permutation_stderr: np.ndarray
    """Its standard error over the repeats, for these rows."""
    permutation_stderr_rows: np.ndarray
    """Its standard error over the rows; NaN where the loss is a function that does not say the loss of each row."""
    computed: np.ndarray
    """(n_features,) bool: all measures that can be had of the feature are there."""
    basis: tuple[str, ...] = field(repr=False)
    """Per feature, in words: which of its values PD importance stands on, and how the averages were obtained."""
    kinds: tuple[str, ...] = field(repr=False)
    """Per feature what its values are: "number", "category", ..., "group" of one-hot columns; "set" of several features."""
    score: str | None
    """Name of the loss behind ``permutation``; None when there is none."""
    note: str
    """Why there is no permutation importance, or no PDI, else ``""``."""
    base_loss: np.ndarray = field(repr=False)
    """(n_outputs,) loss with nothing shuffled; NaN without ``y``."""
    repeats: int
    default_output: str = field(repr=False)
    """The output that ``sort`` goes by."""
    rows: np.ndarray = field(repr=False)
    """Positions of the rows averaged over, ascending."""
    pdi_rows: int
    """Rows in the sample that ``pdi`` is computed on."""

    _by_output: ClassVar[tuple[str, ...]] = (*MEASURES, "base_loss")

    @property
    def features_done(self) -> int:
        """Return how many features are computed."""
        return int(np.count_nonzero(self.computed))

    @property
    def complete(self) -> bool:
        """Return whether all features are computed."""
        return bool(self.computed.all())

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output and feature."""
        n_outputs, n = len(self.outputs), len(self.features)
        columns: dict[str, Any] = {
            "output": np.repeat(np.array(self.outputs, dtype=object), n),
            "feature": list(self.features) * n_outputs,
            "kind": list(self.kinds) * n_outputs,
        }
        columns |= {name: getattr(self, name).ravel() for name in MEASURES}
        columns |= {"computed": np.tile(self.computed, n_outputs), "basis": list(self.basis) * n_outputs}
        return pd.DataFrame(columns)

    def output(self, name: Any) -> Self:
        """Return the same for one output, given by name, class label or position.

        Raises
        ------
        InputError
            When there is no such output.
        """
        one = super().output(name)
        return replace(one, default_output=one.outputs[0])

    def sort(self, by: str = "pd_importance", *, output: Any = None, ascending: bool | None = None) -> Importance:
        """Return the same with the features in another order.

        Parameters
        ----------
        by : str
            A measure, such as "permutation", or "feature" for the name.
        output : name, class label or position, optional
            The output whose measure counts; the explainer's default output else.
        ascending : bool, optional
            The largest first by default, names from A to Z. Ties stay as they are; what is not computed comes last.

        Raises
        ------
        InputError
            For an unknown measure or output.
        """
        if by not in (*MEASURES, "feature"):
            raise unknown_name("measure", by, (*MEASURES, "feature"), "a measure of importance")
        given = self.default_output if output is None else output
        k = find_output(given, self.outputs, self.labels)
        names = np.array([name.casefold() for name in self.features], dtype=object)
        keys = pd.Series(names if by == "feature" else getattr(self, by)[k])
        up = by == "feature" if ascending is None else ascending
        order = keys.sort_values(ascending=up, kind="stable", na_position="last").index.to_numpy()
        moved: dict[str, Any] = {name: getattr(self, name)[:, order] for name in MEASURES}
        moved |= {name: tuple(getattr(self, name)[j] for j in order) for name in ("features", "kinds", "basis")}
        return replace(self, computed=self.computed[order], **moved)

    def __repr__(self) -> str:
        """Say what it is, on how many rows and on which scale."""
        parts = [f"{self.features_done} of {len(self.features)} features", in_words(self.scale, self.outputs)]
        parts.append(f"{len(self.rows)} rows, PDI on {self.pdi_rows}")
        if self.score is not None:
            parts.append(f"permutation: increase of {self.score}, {self.repeats} repeats")
        if self.note:
            parts.append(self.note)
        parts += self.rows_in_words
        return f"<Importance: {'; '.join(parts)}>"
