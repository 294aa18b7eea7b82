"""Effects at the rows: partial dependence of sets of features, evaluated where the data are.

What interaction statistics are made of (Friedman & Popescu 2008, section 8.1): F_S(x_i) is the average over rows r of the prediction
for row r with the features S of row i. One matrix, "features S of i in row r", holds F_S as its means over r and, as its means over
i, the partial dependence of all *other* features. Every average is kept once for all rows and once without each of ten random groups
of rows, so that every statistic made of them has a standard error (delete-a-group jackknife). For a sum of trees the averages follow
without model calls.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.containers import gather

from .ask import answers, ask
from .explanation import EXACT, MODEL

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature
    from pdp_widgets.trees.sums import TreeSums

    from .source import Source

T = TypeVar("T")

GROUPS = 10
_AT_ONCE = 200_000  # rows handed over together; the pace of the model cuts them further
_PAIRS_AT_ONCE = 64


@dataclass(frozen=True)
class Effect:
    """Averages for one set of features at n rows: for all rows, then without each group; NaN for the group's own rows."""

    whole: np.ndarray
    """(n_outputs, 1 + groups, n) the features as in each row."""
    rest: np.ndarray
    """Same shape: all other features as in each row."""


class RowEffects:
    """Effects at some rows, averaged over the same rows.

    Parameters
    ----------
    source : Source
    rows : (n,) int array
        Row positions, in random order.
    sums : TreeSums or None
        The exact sums of a tree ensemble; model calls serve without.
    """

    def __init__(self, source: Source, rows: np.ndarray, sums: TreeSums | None) -> None:
        self.source, self.rows, self.sums = source, rows, sums
        self.n = len(rows)
        weights = np.ones(self.n) if source.weights is None else source.weights[rows]
        if not weights.sum() > 0:
            raise InputError(f"the {self.n} rows have no weight: sample_weight is zero for all of them")
        self.groups = min(GROUPS, self.n) if self.n > 1 else 0
        group = np.arange(self.n) * max(self.groups, 1) // self.n
        kept = np.concatenate([np.ones((1, self.n)), group[None] != np.arange(self.groups)[:, None]]) * weights
        self.weights = kept / np.maximum(kept.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        """(1 + groups, n) weights of the rows, each line summing to one; zero where a row's group is left out."""
        self._in_group = np.zeros((max(self.groups, 1), self.n))
        self._in_group[group, np.arange(self.n)] = weights
        self._weights = weights
        self._prediction: np.ndarray | None = None
        self._singles: dict[str, Effect] = {}
        self.rows_asked = 0
        """Rows the model was asked about for these effects."""

    @property
    def method(self) -> str:
        """Return how the averages are obtained."""
        return MODEL if self.sums is None else EXACT

    # ---- what it costs -------------------------------------------------------------------

    def cost(self, sets: Sequence[Sequence[Feature]]) -> int:
        """Return how many rows the model will be asked about for these sets of features; 0 with exact sums."""
        if self.sums is not None:
            return 0
        return self.n + sum(self.n * len(self._levels(features)[0]) for features in sets)

    # ---- effects -------------------------------------------------------------------------

    def prediction(self) -> np.ndarray:
        """Return (n_outputs, n) the responses at the rows."""
        if self._prediction is None:
            if self.sums is not None:
                self._prediction = self.sums.predict(self.rows)
            else:
                before = self.source.pace.rows_asked
                self._prediction = answers(self.source, self.rows, {}, where="at their own values")
                self.rows_asked += self.source.pace.rows_asked - before
            self._require_finite(self._prediction)
        return self._prediction

    def single(self, feature: Feature, others: Sequence[Feature] = ()) -> Generator[None, None, Effect]:
        """Return the effect of one feature, computed once, pausing after each chunk; sums over trees take ``others`` along."""
        if feature.name in self._singles:
            return self._singles[feature.name]
        if self.sums is None or not self.sums.linear or feature.members:
            self._singles[feature.name] = yield from self.growing([feature])
        else:
            missing = {f.name: f for f in (feature, *others) if f.name not in self._singles and not f.members}
            found, _ = yield from self._joint(self.sums, list(missing.values()), [])
            self._singles.update(zip(missing, found, strict=True))
        return self._singles[feature.name]

    def pairs(self, pairs: Sequence[tuple[Feature, Feature]]) -> Iterator[np.ndarray | None]:
        """Yield the pure interaction of each pair, uncentred: (n_outputs, 1 + groups, n) F_jk - F_j - F_k; None after a chunk."""
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[start : start + _PAIRS_AT_ONCE]
            found: dict[tuple[Feature, Feature], np.ndarray] = {}
            plain = [(a, b) for a, b in some if not a.members and not b.members]
            if self.sums is not None and self.sums.linear and plain:
                features = list({feature.name: feature for pair in plain for feature in pair}.values())
                at = {feature.name: k for k, feature in enumerate(features)}
                joint_at = [(at[a.name], at[b.name]) for a, b in plain]
                _, joint = yield from self._joint(self.sums, features, joint_at)
                found = dict(zip(plain, joint, strict=True))
            for pair in some:
                if pair not in found:
                    single = [self._singles[feature.name].whole for feature in pair]
                    found[pair] = (yield from self.growing(pair)).whole - single[0] - single[1]
                yield found[pair]

    def effect(self, features: Sequence[Feature]) -> Effect:
        """Return the effect of a set of features."""
        return _finished(self.growing(features))

    def growing(self, features: Sequence[Feature]) -> Generator[None, None, Effect]:
        """Return the effect of a set of features, pausing after each chunk."""
        if len(features) == 1 and features[0].name in self._singles:
            return self._singles[features[0].name]
        first, level = self._levels(features)
        n_outputs, n, n_levels = self.source.n_outputs, self.n, len(first)
        by_group = np.zeros((n_outputs, len(self._in_group), n_levels))  # sums over the rows of each group
        by_level = np.zeros((n_outputs, len(self._in_group), n))  # sums over the values of each group's rows
        values = np.stack([np.bincount(level, weights, n_levels) for weights in self._in_group])
        step = max(1, _AT_ONCE // n_levels)
        for start in range(0, n, step):
            part = np.arange(start, min(start + step, n))
            block = yield from self._crossed(part, first, features)
            self._require_finite(block)
            by_group += np.einsum("gm,oml->ogl", self._in_group[:, part], block)
            by_level[:, :, part] = np.einsum("gl,oml->ogm", values, block)
        return Effect(self._averages(by_group)[:, :, level], self._averages(by_level))

    # ---- helpers -------------------------------------------------------------------------

    def _levels(self, features: Sequence[Feature]) -> tuple[np.ndarray, np.ndarray]:
        """Return one of the rows per distinct combination of values, and each row's combination."""
        combined = np.zeros(self.n, dtype=np.int64)
        for feature in features:
            codes = self.source.table.observed(feature).codes[self.rows]
            mine, _ = pd.factorize(codes, use_na_sentinel=False)
            combined = np.unique(combined * self.n + mine, return_inverse=True)[1]
        _, first, level = np.unique(combined, return_index=True, return_inverse=True)
        return first, level

    def _crossed(
        self, part: np.ndarray, first: np.ndarray, features: Sequence[Feature]
    ) -> Generator[None, None, np.ndarray]:
        """Return (n_outputs, m, L) the responses of some rows with the features of others, pausing after each chunk."""
        source = self.source
        if self.sums is not None:
            members = [member for feature in features for member in feature.parts]
            block = self.sums.cross(self.rows[part], self.rows[first], members)
            yield
            return block
        taken = np.tile(np.arange(len(first)), len(part))
        replaced: dict[int, Any] = {}
        for feature in features:
            vectors = source.table.values(feature, self.rows[first])
            replaced |= {j: gather(vector, taken) for j, vector in zip(feature.columns, vectors, strict=True)}
        names = " x ".join(feature.name for feature in features)
        rows = np.repeat(self.rows[part], len(first))
        out = np.empty((source.n_outputs, len(rows)))
        for piece, values in ask(source, rows, replaced, where=f"while {names!r} is varied"):
            out[:, piece] = values
            self.rows_asked += values.shape[1]
            yield
        return out.reshape(len(out), len(part), len(first))

    def _averages(self, by_group: np.ndarray) -> np.ndarray:
        """Return (n_outputs, 1 + groups, ...) averages over all rows and without each group, from each group's sums."""
        total, weight = by_group.sum(axis=1, keepdims=True), self._in_group.sum(axis=1)
        if self.groups == 0:
            return total / weight.sum()
        left = np.maximum(weight.sum() - weight, np.finfo(float).tiny)
        return np.concatenate([total / weight.sum(), (total - by_group) / left[:, None]], axis=1)

    def _joint(
        self, sums: TreeSums, features: list[Feature], pairs: list[tuple[int, int]]
    ) -> Generator[None, None, tuple[list[Effect], list[np.ndarray]]]:
        """Return effects of features and pure interactions of pairs from the counts of rows in leaves, pausing at times."""
        from pdp_widgets.trees.means import joint_means

        shape = (self.source.n_outputs, 1 + self.groups, self.n)
        singles = [Effect(np.full(shape, np.nan), np.full(shape, np.nan)) for _ in features]
        joint = [np.full(shape, np.nan) for _ in pairs]
        plain = self.source.weights is None
        for number in range(1 + self.groups):
            kept = np.flatnonzero(self.weights[number] > 0) if number or not plain else np.arange(self.n)
            if not len(kept):
                continue
            weights = None if plain else self._weights[kept]
            means = joint_means(sums, features, pairs, rows=self.rows[kept], weights=weights)
            for k, effect in enumerate(singles):
                effect.whole[:, number, kept] = means.single[:, k]
                effect.rest[:, number, kept] = means.rest[:, k]
            for k, values in enumerate(joint):
                values[:, number, kept] = means.interaction[:, k]
            yield
        return singles, joint

    def _require_finite(self, values: np.ndarray) -> None:
        if not np.isfinite(values).all():
            raise InputError(
                "the model predicts NaN or infinity for some combinations of values; interactions need a number for each "
                "(explain a subgroup without them, or mend the model)"
            )


def _finished(growing: Generator[None, None, T]) -> T:
    """Return what comes at the end of the pauses."""
    while True:
        try:
            next(growing)
        except StopIteration as end:
            return end.value
