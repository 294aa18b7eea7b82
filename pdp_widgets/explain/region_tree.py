"""A tree of regions, grown from ICE curves.

How one split is found is in ``splits``; here is when it is made, and what is measured of the regions. Nothing here asks a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pdp_widgets.compute import Moments
from pdp_widgets.inputs.folding import fold
from pdp_widgets.inputs.subgroup import And, Levels, Node, conjunction

from .region_results import Limits, Region, Split
from .splits import best_split, positively, reads_back

if TYPE_CHECKING:
    from pdp_widgets.inputs import FeatureTable

_NOISE = 256  # rounding errors of a prediction, in units of its last place: sums over hundreds of trees stay below
_CERTAIN = 2.0  # standard errors above zero that the gain on the held-out rows must be
_Sides = tuple[Node, Node]


class Tree:
    """Grows regions from curves.

    Parameters
    ----------
    table : FeatureTable
    features : sequence of str
        Names of the features to split by.
    rows : (m,) int array
        Row positions whose curves are known.
    curves : (m, K) array
        Their curves, on the response scale.
    weights : (m,) array
        Their weights.
    nearest : (m,) int array
        The grid point nearest to each row's own value, -1 for none: how much a grid point counts.
    search : (m,) bool array
        Rows to find splits on; they are confirmed on the others.
    limits : Limits
    """

    def __init__(
        self,
        table: FeatureTable,
        features: Sequence[str],
        rows: np.ndarray,
        curves: np.ndarray,
        *,
        weights: np.ndarray,
        nearest: np.ndarray,
        search: np.ndarray,
        limits: Limits,
    ) -> None:
        self.table, self.features, self.rows, self.limits = table, features, rows, limits
        self._curves, self._weights = curves, weights
        size = curves.shape[1]
        mass = np.bincount(nearest[nearest >= 0], weights[nearest >= 0], minlength=size)
        density = mass / mass.sum() if mass.sum() else np.full(size, 1 / size)
        # In units of the largest prediction squares neither overflow nor vanish.
        self._unit = float(np.abs(curves).max(initial=0.0)) or 1.0
        scaled = curves / self._unit
        scaled -= (scaled @ density)[:, None]
        self._z = scaled * np.sqrt(density)
        """(m, K) centred curves, such that the loss is a plain sum of squares."""
        with np.errstate(over="ignore"):
            single = bool((curves == curves.astype(np.float32)).all(axis=1).any())
        self._noise = (_NOISE * float(np.finfo(np.float32 if single else np.float64).eps)) ** 2
        self._search, self._check = (weights > 0) & search, (weights > 0) & ~search
        self._whole = self._loss(np.ones(len(rows), dtype=bool))

    def grow(self, start: Node, condition: Node, mask: np.ndarray, *, complete: bool, depth: int = 0) -> Region:
        """Return a region with all that is below it.

        Parameters
        ----------
        start : Node
            The rows all regions are parts of.
        condition : Node
            What describes this one among them.
        mask : (n,) bool array
            Its rows.
        complete : bool
            Whether the curves of all rows are known that are not omitted.
        depth : int
            How many splits led to it.
        """
        inside = mask[self.rows]
        loss, weight = self._loss(inside)
        split, sides, reason = None, None, ""
        if depth < self.limits.depth:
            split, sides, reason = self._split(mask, inside)
        children = tuple(
            self.grow(
                start,
                _together([condition, side], self.table),
                mask & side.mask(self.table),
                complete=complete,
                depth=depth + 1,
            )
            for side in sides or ()
        )
        moments = Moments.of(self._curves[inside], self._weights[inside], axis=0)
        mean, whole = _per_row(loss, weight), _per_row(*self._whole)
        shown = mask.copy()
        shown.flags.writeable = False
        return Region(
            text=_together([start, condition], self.table).text,
            condition=condition.text,
            mask=shown,
            n=int(mask.sum()),
            n_curves=moments.count,
            average=moments.mean if weight > 0 else np.full(self._curves.shape[1], np.nan),
            stderr=moments.stderr(moments.count if complete else int(mask.sum())),
            heterogeneity=self._unit * float(np.sqrt(mean)),
            removed=1 - mean / whole if whole > 0 else 0.0,
            depth=depth,
            split=split,
            children=children,
            reason=reason,
        )

    def removed(self, leaves: Sequence[Region]) -> tuple[float, float]:
        """Return the share of all loss that regions remove together: of all rows, and of the held-out ones."""
        masks = [leaf.mask[self.rows] for leaf in leaves]
        if len(masks) < 2:
            return 0.0, 0.0
        left = sum(self._loss(mask)[0] for mask in masks)
        return 1 - left / self._whole[0], self._held_out(np.ones(len(self.rows), dtype=bool), masks)[0]

    # ---- one split -----------------------------------------------------------------------

    def _split(self, mask: np.ndarray, inside: np.ndarray) -> tuple[Split | None, _Sides | None, str]:
        """Return how a region is split, or why it is not."""
        least, share = self.limits.gain, f"{self.limits.gain:.0%}"
        loss, weight = self._loss(inside)
        search, check = inside & self._search, inside & self._check
        if not weight > 0:
            return None, None, "its rows have no weight"
        if not loss > self._noise * weight:
            return None, None, "its curves are parallel"
        if loss < least * self._whole[0]:
            return None, None, f"it holds less than {share} of all disagreement"
        if mask.sum() < 2 * self.limits.rows or not search.any() or not check.any():
            return None, None, f"it has too few rows for two regions of {self.limits.rows}"
        found = best_split(
            self.table,
            self.features,
            self._z[search],
            self._weights[search],
            rows=self.rows[search],
            everyone=mask,
            check=self.rows[check],
            least=self.limits.rows,
        )
        if found is None:
            return None, None, "no condition on another feature divides it"
        left = found.sides[0].mask(self.table)[self.rows]
        parts = [inside & left, inside & ~left]
        gain_search = self._gain(search, [search & part for part in parts])
        if gain_search < least:
            return None, None, f"no split removes {share} of its disagreement"
        gain_check, stderr = self._held_out(inside, parts)
        texts = found.sides[0].text, found.sides[1].text
        if gain_check < least or not gain_check > _CERTAIN * stderr:
            return None, None, (
                f"its best split, {texts[0]}, removes {gain_search:.0%} of its disagreement on the rows where it was found "
                f"but {gain_check:.0%} (standard error {stderr:.0%}) on held-out rows"
            )  # fmt: skip
        return Split(found.feature, texts, self._gain(inside, parts), gain_search, gain_check, stderr), found.sides, ""

    def _loss(self, some: np.ndarray) -> tuple[float, float]:
        """Return the loss of some rows, and their weight."""
        weights = self._weights[some]
        if not weights.sum() > 0:
            return 0.0, 0.0
        z = self._z[some]
        return float(weights @ np.square(z - _mean(z, weights)).sum(axis=1)), float(weights.sum())

    def _gain(self, some: np.ndarray, parts: Sequence[np.ndarray]) -> float:
        """Return the share of the loss of some rows that dividing them removes."""
        before = self._loss(some)[0]
        return 1 - sum(self._loss(part)[0] for part in parts) / before if before > 0 else 0.0

    def _held_out(self, some: np.ndarray, parts: Sequence[np.ndarray]) -> tuple[float, float]:
        """Return the share of the held-out rows' loss that is removed, and its standard error.

        Both losses are deviations from mean curves of the other rows, so that dividing at random removes nothing.
        """
        check = some & self._check
        before, after = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        for target, groups in ((before, [some]), (after, parts)):
            for group in groups:
                seen, held = group & self._search, group & self._check
                target[held] = np.square(self._z[held] - _mean(self._z[seen], self._weights[seen])).sum(axis=1)
        weights, m = self._weights[check], int(check.sum())
        total = float(weights @ before[check])
        if not total > 0 or m < 2:
            return 0.0, np.inf
        gain = float(weights @ (before - after)[check]) / total
        errors = weights * ((before - after) - gain * before)[check]  # of a ratio of two means
        return gain, float(np.sqrt(np.square(errors).sum() * m / (m - 1))) / total


def _mean(z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return weights @ z / weights.sum()


def _per_row(loss: float, weight: float) -> float:
    return loss / weight if weight > 0 else np.nan


def _together(parts: Sequence[Node], table: FeatureTable) -> Node:
    """Return the conjunction in its shortest form whose text stands for the same rows."""
    whole = And(tuple(part for part in parts if part != And(())))
    mask = whole.mask(table)
    short = fold(conjunction(whole.parts), table)
    names = [part.feature if isinstance(part, Levels) else None for part in short.conditions]
    plain = [
        part if name is None else positively(part, table.observed(name))
        for part, name in zip(short.conditions, names, strict=True)
    ]
    for node in (conjunction(plain), short, conjunction(whole.parts)):
        if reads_back(node, mask, table):
            return node
    return whole
