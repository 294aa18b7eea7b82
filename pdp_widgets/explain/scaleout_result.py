"""ChunkedDependence: a partial dependence whose averages stand on all chunks and whose curves stand on a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from .results import PartialDependence, in_words

if TYPE_CHECKING:
    import pandas as pd

    from pdp_widgets.inputs import Grid


@dataclass(frozen=True, kw_only=True, repr=False)
class ChunkedDependence(PartialDependence):
    """Partial dependence whose averages stand on all rows of all chunks, and whose curves are those of a sample.

    ``average``, ``variance`` and ``density`` are over all rows (of the chunks so far); ``curves``, ``individual``,
    ``heterogeneity`` and ``weights`` are over the rows of the sample, and ``rows`` are positions in the sample. ``stderr`` is zero
    when all chunks are in; before that it follows from how far the chunks' own averages lie apart (see ``Total``), and is NaN where
    the chunks came in an order that is not random. ``rows_total`` of a subgroup is estimated until all chunks are in.
    """

    rows_used: int
    """Rows of the chunks that the average stands on."""
    chunks_done: int
    chunks_total: int
    counts: np.ndarray | None = field(repr=False)
    """(K,) how many of these rows lie nearest to each grid point; None for a pair and between grid points."""
    mass: np.ndarray | None = field(repr=False)
    """(K,) the same, weighted."""

    @property
    def rows_done(self) -> int:
        """Return how many rows are averaged over (or were omitted)."""
        return self.rows_used + self.rows_omitted

    @property
    def n_rows_used(self) -> int:
        """Return how many rows the average stands on."""
        return self.rows_used

    @property
    def complete(self) -> bool:
        """Return whether all chunks are in."""
        return self.chunks_done >= self.chunks_total

    @property
    def density(self) -> np.ndarray:
        """(K,) share of the averaged rows nearest to each grid point (one feature); of the sample's between grid points."""
        self._single("density")
        if self.mass is None:
            return super().density
        return self.mass / self.mass.sum() if self.mass.sum() else np.full(len(self.mass), 1 / len(self.mass))

    def derivative(self) -> ChunkedDependence:
        """Return slopes, see ``PartialDependence.derivative``; their variance is that of the sample's curves."""
        slopes = super().derivative()
        assert isinstance(slopes, ChunkedDependence)
        return replace(slopes, counts=None, mass=None)

    def to_frame(self) -> pd.DataFrame:
        """Return one tidy row per output and grid cell, see ``PartialDependence.to_frame``.

        ``n_nearest`` counts rows of all chunks so far; between grid points (after ``derivative``) they were not counted, and the
        column is absent.
        """
        table = super().to_frame()
        if len(self.grids) == 1:
            column = table.columns[-1]
            if self.counts is None:
                return table.drop(columns=column)
            table[column] = np.tile(self.counts, len(self.outputs))
        return table

    def __repr__(self) -> str:
        """Say what it is, on how many rows of how many chunks and on which scale."""
        names = " x ".join(repr(name) for name in self.features)
        shape = " x ".join(str(grid.size) for grid in self.grids)
        about = "" if self.complete or self.subgroup is None else "about "
        rows = (
            f"{self.rows_done:,} of {about}{self.rows_total:,} rows in {self.chunks_done} of {self.chunks_total} chunks"
        )
        curves = "no curves" if self.curves is None else f"curves of {len(self.rows):,} sampled rows"
        parts = [in_words(self.scale, self.outputs), f"{shape} grid points", rows, curves]
        parts += self.rows_in_words
        if self.rows_omitted:
            parts.append(f"{self.rows_omitted:,} rows without a finite prediction omitted")
        return f"<ChunkedDependence on {names}: {'; '.join(parts)}>"

    def _recomputed(self, average: np.ndarray, curves: np.ndarray, grids: Sequence[Grid]) -> ChunkedDependence:
        """Transform the average of all rows; how it varies is known of the sample only."""
        sampled = super()._recomputed(average, curves, grids)
        assert isinstance(sampled, ChunkedDependence)
        return replace(sampled, stderr=np.full_like(average, 0.0 if self.complete else np.nan))
