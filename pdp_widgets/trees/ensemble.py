"""TreeEnsemble: a fitted sum of decision trees as flat arrays, whoever fitted it.

Readers (``readers.py``, ``boosters.py``) fill it; the kernels and the numpy reference below read it.
It knows nothing of tables, features of X, response scales or link functions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .lines import NO_LINES, Lines, stacked


class UnreadableError(Exception):
    """A model is not a sum of trees that can be read; the text says why, to be shown to the user."""


@dataclass(frozen=True)
class TreeEnsemble:
    """``raw[o] = base[o] + sum over trees of the value of the leaf that the row ends in``, plus what ``lines`` add.

    Nodes of all trees stand one after the other. A node with ``left == -1`` is a leaf. Elsewhere a row goes

    - to ``left`` if ``missing_left`` and to ``right`` if not, when its value is NaN;
    - to ``left`` when ``value <= threshold`` (a numeric split, ``category_set == -1``);
    - to ``left`` when its value, a category's code, is in ``category_sets[category_set]`` (a categorical split).

    Values are compared as float64, after rounding to ``precision`` where the learner does that.
    """

    roots: np.ndarray
    """(T,) int32 node of each tree's root."""
    left: np.ndarray
    """(N,) int32 child, -1 at a leaf."""
    right: np.ndarray
    """(N,) int32 child, -1 at a leaf."""
    column: np.ndarray
    """(N,) int32 column that the model sees, -1 at a leaf."""
    threshold: np.ndarray
    """(N,) float64; of a strict ``x < t`` it is the next smaller number of the learner's precision."""
    missing_left: np.ndarray
    """(N,) bool."""
    category_set: np.ndarray
    """(N,) int32 index into ``category_sets``, -1 for a numeric split."""
    value: np.ndarray
    """(N, width) float64, zero at inner nodes. ``width`` is 1 where each tree serves one output."""
    output: np.ndarray
    """(T,) int32 first raw output that the tree's values are added to."""
    base: np.ndarray
    """(n_raw,) float64."""
    n_columns: int
    category_sets: tuple[np.ndarray, ...] = ()
    """Sorted int64 codes, per set."""
    precision: np.dtype = field(default_factory=lambda: np.dtype(np.float64))
    """float32 or float64: what the learner rounds values to before it compares them."""
    lines: Lines = NO_LINES
    """Clipped values of single columns, beside the trees."""

    @property
    def n_trees(self) -> int:
        """Return the number of trees."""
        return len(self.roots)

    @property
    def n_raw(self) -> int:
        """Return the number of raw outputs."""
        return len(self.base)

    @property
    def width(self) -> int:
        """Return how many raw outputs one tree serves."""
        return self.value.shape[1]

    @property
    def n_leaves(self) -> int:
        """Return the number of leaves of all trees."""
        return int(np.count_nonzero(self.left < 0))

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """Return values as the learner compares them, as float64."""
        if self.precision == np.float64:
            return np.asarray(values, dtype=float)
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(self.precision).astype(float)

    def goes_left(self, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return whether ``values`` go left at inner ``nodes`` (arrays of the same shape)."""
        left = values <= self.threshold[nodes]
        sets = self.category_set[nodes]
        for k in np.unique(sets[sets >= 0]):
            here = sets == k
            left[here] = np.isin(values[here], self.category_sets[k])
        return np.where(np.isnan(values), self.missing_left[nodes], left)

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the raw outputs, in plain numpy and tree by tree: the reference for the compiled ways.

        Parameters
        ----------
        values : (n, n_columns) float64 array
            As ``rounded`` returns them.

        Returns
        -------
        (n_raw, n) float64 array
        """
        n = len(values)
        raw = np.repeat(self.base[:, None], n, axis=1)
        for root, first in zip(self.roots, self.output, strict=True):
            at = np.full(n, root)
            going = np.arange(n) if self.left[root] >= 0 else np.empty(0, dtype=int)
            while len(going):
                nodes = at[going]
                left = self.goes_left(nodes, values[going, self.column[nodes]])
                at[going] = np.where(left, self.left[nodes], self.right[nodes])
                going = going[self.left[at[going]] >= 0]
            raw[first : first + self.width] += self.value[at].T
        return raw + self.lines.coefficient @ self.lines.heights(values) if len(self.lines) else raw


def stack(parts: list[TreeEnsemble]) -> TreeEnsemble:
    """Return the sum of ensembles over the same columns, outputs and precision, as one ensemble.

    Category sets and nodes are renumbered; bases are added.
    """
    first = parts[0]
    starts = np.cumsum([0, *(len(part.left) for part in parts)])
    set_starts = np.cumsum([0, *(len(part.category_sets) for part in parts)])

    def child(nodes: np.ndarray, start: int) -> np.ndarray:
        return np.where(nodes >= 0, nodes + start, -1).astype(np.int32)

    pairs = list(zip(parts, starts[:-1].tolist(), set_starts[:-1].tolist(), strict=True))
    return TreeEnsemble(
        roots=np.concatenate([part.roots + start for part, start, _ in pairs]).astype(np.int32),
        left=np.concatenate([child(part.left, start) for part, start, _ in pairs]),
        right=np.concatenate([child(part.right, start) for part, start, _ in pairs]),
        column=np.concatenate([part.column for part in parts]),
        threshold=np.concatenate([part.threshold for part in parts]),
        missing_left=np.concatenate([part.missing_left for part in parts]),
        category_set=np.concatenate([child(part.category_set, sets) for part, _, sets in pairs]),
        value=np.concatenate([part.value for part in parts]),
        output=np.concatenate([part.output for part in parts]),
        base=np.sum([part.base for part in parts], axis=0),
        n_columns=first.n_columns,
        category_sets=tuple(codes for part in parts for codes in part.category_sets),
        precision=first.precision,
        lines=stacked([part.lines for part in parts]),
    )
