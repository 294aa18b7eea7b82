"""What is computed at a chunk, where it is: sums over its rows, which are merged elsewhere.

Only this travels to a chunk: the model (not with each chunk), the points of grids and a condition. Only sums travel back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pdp_widgets.compute import Moments
from pdp_widgets.compute.chunks import PATIENT_SECONDS
from pdp_widgets.inputs import Feature, FeatureTable, Grid, InputError, Observed, PredictionError, Response

from .ice import Ice
from .scaleout_chunks import Companions, Layout, Piece, load, rows_of, split
from .source import Source

if TYPE_CHECKING:
    from .method import Wish
    from .results import PartialDependence


@dataclass(frozen=True)
class Question:
    """What is asked of every chunk."""

    grids: tuple[tuple[Grid, ...], ...]
    """One or two grids per partial dependence, as ``bare`` leaves them."""
    condition: Any = None
    """The subgroup: an object with ``mask(table)``, None for all rows."""


@dataclass(frozen=True)
class Sums:
    """A chunk's part in one partial dependence."""

    n_rows: int
    """Rows of the chunk."""
    omitted: int
    """Rows of the subgroup for which the model predicted NaN or infinity."""
    moments: Moments
    """Of the other rows of the subgroup: (n_outputs, cells)."""
    counts: np.ndarray | None = None
    """(K,) of these rows those nearest to each grid point (one feature)."""
    mass: np.ndarray | None = None
    """(K,) their weights."""
    way: str | None = None
    """How the numbers were obtained, None where there was nothing to do."""


@dataclass(frozen=True)
class Work:
    """The model and all it takes to ask it about a chunk.

    Parameters
    ----------
    model, response, output_names, chosen, nan_predictions, wish
        As given to ``Explainer``; ``chosen`` is its ``features``, ``wish`` its ``method``.
    features : mapping of name to Feature
        The features as the sample shows them: what a column holds does not depend on the chunk.
    outputs : tuple of str
    layout : Layout
    names : Companions
    mean_weight : float
        Over all rows, so that weights have mean 1.
    """

    model: Any
    response: str | Callable[[Any, Any], Any]
    output_names: Sequence[str] | None
    chosen: Sequence[Any] | Mapping[Any, Any] | None
    nan_predictions: Literal["raise", "omit"]
    wish: Wish
    features: Mapping[str, Feature]
    outputs: tuple[str, ...]
    layout: Layout
    names: Companions
    mean_weight: float

    def __call__(self, job: tuple[Piece, int, Question], _n_rows: int = 0) -> tuple[list[Sums], int]:
        """Answer a question about a chunk; see ``answer``. It has the shape that ``Evaluator`` wants."""
        return self.answer(*job)

    def answer(self, piece: Piece, expected: int, question: Question) -> tuple[list[Sums], int]:
        """Return a chunk's sums, one for each partial dependence, and how many rows the model was asked about.

        Parameters
        ----------
        piece : frame or what reads one
        expected : int
            The number of rows it had before.
        question : Question

        Raises
        ------
        InputError
            When the chunk is not what it was at the first reading.
        PredictionError
            When the model fails, or predicts NaN and that is not to be omitted.
        """
        X, _, weights = split(load(piece), self.names)
        n = rows_of(X)
        if n != expected:
            raise InputError(
                f"it had {expected:,} rows when it was first read and has {n:,} now; chunks must be the same each time"
            )
        table = FeatureTable(self.layout.align(X), self.chosen)
        table.features = dict(self.features)
        mask = None if question.condition is None else _mask(question.condition, table)
        if mask is not None and not mask.any():
            return [self._nothing(n, grids) for grids in question.grids], 0
        weights = None if weights is None else weights / self.mean_weight
        response = Response(self.model, self.response, self.output_names)
        source = Source(table, response, weights, None, self.nan_predictions, 0, self.wish)
        if tuple(response.outputs) != self.outputs:
            raise PredictionError(
                f"the model answers with {', '.join(response.outputs)}, but with {', '.join(self.outputs)} for the sample"
            )
        found = [_sums(source, grids, mask) for grids in question.grids]
        asked = source.pace.rows_asked
        return found, asked

    def _nothing(self, n: int, grids: tuple[Grid, ...]) -> Sums:
        cells = int(np.prod([grid.size for grid in grids]))
        none = np.zeros(cells) if len(grids) == 1 else None
        return Sums(
            n, 0, Moments.empty((len(self.outputs), cells)), None if none is None else none.astype(int), none, None
        )


@dataclass(frozen=True)
class Total:
    """The sums of some chunks together.

    Chunks that came in random order are a random sample of clusters. The average of their rows estimates that of all rows as a ratio
    of two sums over clusters; its error follows from how far the chunks' own averages lie apart (Cochran 1977, *Sampling Techniques*,
    chapter 9A, with the finite-population factor), not from how far rows do: rows of one chunk may be alike.
    """

    chunks: int
    rows: int
    """Rows of these chunks, in the subgroup or not."""
    omitted: int
    moments: Moments
    between: Moments
    """Of the chunks' averages, each weighted by its squared weight."""
    counts: np.ndarray | None = None
    mass: np.ndarray | None = None
    ways: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Total:
        """Return the sums of no chunk, for (n_outputs, cells)."""
        return cls(0, 0, 0, Moments.empty(shape), Moments.empty(shape))

    def plus(self, sums: Sums) -> Total:
        """Return the total with one more chunk."""
        own = sums.moments
        squared = own.weight**2
        cluster = Moments(1, squared, squared**2, own.mean, np.zeros_like(own.m2))
        return Total(
            self.chunks + 1,
            self.rows + sums.n_rows,
            self.omitted + sums.omitted,
            self.moments.merge(own),
            self.between.merge(cluster),
            sums.counts if self.counts is None or sums.counts is None else self.counts + sums.counts,
            sums.mass if self.mass is None or sums.mass is None else self.mass + sums.mass,
            self.ways if sums.way is None else self.ways | {sums.way},
        )

    def stderr(self, chunks_total: int) -> np.ndarray:
        """Return the standard error of the average as an estimate for all chunks; infinite after one of several."""
        k, mean = self.chunks, self.moments.mean
        if k >= chunks_total:
            return np.zeros_like(mean)
        if k < 2 or self.moments.weight == 0:
            return np.full_like(mean, np.inf)
        with np.errstate(over="ignore"):
            spread = self.between.m2 + self.between.weight * np.square(self.between.mean - mean)
        return np.sqrt((1 - k / chunks_total) * k / (k - 1) * spread) / self.moments.weight


class Asked:
    """A partial dependence that is asked for: its grids and curves, which are the sample's, and the chunks' sums so far."""

    total: Total
    known: bool
    """Whether its sums are recognised when the same is asked again."""

    def __init__(self, ice: Ice, mask: np.ndarray | None, text: str | None) -> None:
        self.ice, self.grids, self.text = ice, ice.grids, text
        self._mask = mask
        self.key = (text, *(grid.key() for grid in ice.grids))

    @property
    def keeps(self) -> bool:
        """Return whether there are curves: too many for the memory cap are not computed."""
        return self.ice.values is not None

    def curves(self) -> Iterator[int]:
        """Compute the sample's curves, yielding the rows of each step."""
        while self.keeps and not self.ice.complete:
            before = self.ice.rows_done
            self.ice.advance(PATIENT_SECONDS)
            yield self.ice.rows_done - before

    def rows(self) -> np.ndarray:
        """Return the positions in the sample of the rows with curves, in the subgroup."""
        if self.keeps:
            return self.ice.result(self._mask).rows
        return np.arange(self.ice.rows_total) if self._mask is None else np.flatnonzero(self._mask)


def bare(grid: Grid) -> Grid:
    """Return a grid without what it knows of the rows it was made of: nothing but its points need to travel."""
    return replace(grid, codes=np.empty(0), own=grid.own[:0], nearest=grid.nearest[:0])


# ---- helpers ---------------------------------------------------------------------------------


def _mask(condition: Any, table: FeatureTable) -> np.ndarray:
    mask = np.asarray(condition.mask(table))
    if mask.dtype != bool or mask.shape != (table.n_rows,):
        raise InputError(f"the subgroup gave {mask.dtype} of shape {mask.shape} for {table.n_rows} rows")
    return mask


def _sums(source: Source, grids: tuple[Grid, ...], mask: np.ndarray | None) -> Sums:
    # Only the predictions at the rows' own values could be reused, and nobody asked for them: no row "owns" a grid point.
    none = np.full(source.table.n_rows, -1, dtype=np.int16)
    ice = Ice(source, tuple(replace(grid, own=none, nearest=none) for grid in grids), rows=mask, store=False)
    while not ice.complete:
        ice.advance(PATIENT_SECONDS)
    result = ice.result()
    weights = None if source.weights is None else source.weights[result.rows]
    counts = mass = None
    if len(grids) == 1:
        near = _nearest(grids[0], source.table.observed(grids[0].feature))[result.rows]
        inside = near >= 0
        counts = np.bincount(near[inside], minlength=grids[0].size)
        mass = np.bincount(near[inside], None if weights is None else weights[inside], grids[0].size).astype(float)
    return Sums(source.table.n_rows, result.rows_omitted, _moments(result, weights), counts, mass, result.method)


def _moments(result: PartialDependence, weights: np.ndarray | None) -> Moments:
    """Return the sums that a result was made of."""
    n, shape = result.n_rows_used, (len(result.average), -1)
    weight = float(n) if weights is None else float(weights.sum())
    weight2 = float(n) if weights is None else float(np.square(weights).sum())
    if weight == 0:
        zeros = np.zeros_like(result.average).reshape(shape)
        return Moments(n, 0.0, 0.0, zeros, zeros)
    effective = weight**2 / weight2
    share = max(effective - 1, 0.0) / effective  # of one row: the variance is zero
    return Moments(n, weight, weight2, result.average.reshape(shape), (result.variance * share * weight).reshape(shape))


def _nearest(grid: Grid, observed: Observed) -> np.ndarray:
    """(n,) the index of the grid point nearest to each row's value, -1 where there is none."""
    codes = observed.codes
    near = np.full(len(codes), -1)
    present = ~np.isnan(codes)
    near[~present] = grid.missing
    if grid.kind == "category":
        points = [_key(value) for value in grid.values]
        index = {point: k for k, point in enumerate(points) if k != grid.missing}
        named = observed.labels if grid.feature.kind == "group" else observed.levels
        to_grid = np.array([index.get(_key(level), -1) for level in named or []], dtype=int)
        near[present] = to_grid[codes[present].astype(int)]
        return near
    points_at = np.flatnonzero(grid.ordered)
    finite = np.isfinite(codes)
    if len(points_at):
        found = replace(grid, codes=codes[finite]).at_positions(grid.positions[points_at]).nearest
        near[finite] = points_at[found]
    return near


def _key(level: Any) -> tuple[type, Any]:
    """Tell levels apart that are equal and yet not the same: True and 1."""
    level = level.item() if isinstance(level, np.generic) else level
    return type(level), level
