"""A uniform sample of the rows of all chunks, and what else the first reading finds. No model is asked here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs import FeatureTable, InputError, PDPWidgetsError, Response
from pdp_widgets.inputs.containers import wrap

from .scaleout_chunks import Companions, Layout, layout_of, rows_of, split, stacked

_LARGEST = int(np.iinfo(np.uint64).max)


def in_chunk(number: int, error: Exception) -> Exception:
    """Return the error with the chunk's number in front."""
    if isinstance(error, PDPWidgetsError):
        return type(error)(f"chunk {number}: {error}")
    return PDPWidgetsError(f"chunk {number}: {type(error).__name__}: {error}")


@dataclass(frozen=True)
class Plan:
    """What every chunk is read for the first time with."""

    names: Companions
    size: int
    """Rows of the sample."""
    seed: int


@dataclass(frozen=True)
class Survey:
    """What is known of a chunk after the first reading."""

    n_rows: int
    layout: Layout | None = None
    """None for a chunk without rows."""
    weight: float = 0.0
    """Sum of the weights (the number of rows without)."""
    keys: np.ndarray | None = None
    rows: np.ndarray | None = None
    """Positions among all rows of its candidates for the sample."""
    frame: Any = None
    """The candidates, with all their columns."""


def survey(plan: Plan, number: int, offset: int, frame: Any, most: int = _LARGEST) -> Survey:
    """Read a chunk for the first time.

    Parameters
    ----------
    plan : Plan
    number, offset : int
        The chunk's number, and the number of rows before it.
    frame : frame
    most : int
        Rows whose key is larger cannot be in the sample.
    """
    n = rows_of(frame)
    if n == 0:
        return Survey(0)
    layout = layout_of(frame, number)
    _, _, weights = split(frame, plan.names)
    keys = row_keys(plan.seed, offset, n)
    rows = np.flatnonzero(keys <= np.uint64(most))
    rows = np.sort(rows[np.argsort(keys[rows], kind="stable")[: plan.size]])
    candidates = wrap(frame).build(rows, {})
    weight = float(n) if weights is None else float(weights.sum())
    return Survey(n, layout, weight, keys[rows], rows + offset, candidates)


def row_keys(seed: int, start: int, n: int) -> np.ndarray:
    """(n,) uint64 random keys of the rows from ``start`` on: a row's key depends on the seed and its position only."""
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(1,)))
    bits.advance(start)
    return np.asarray(bits.random_raw(n), dtype=np.uint64)


class Reservoir:
    """The rows with the smallest random keys: a uniform sample without replacement, whatever order the chunks come in.

    Parameters
    ----------
    size : int
        Rows to keep.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.most = _LARGEST
        """The largest key that may still enter."""
        self._parts: list[tuple[np.ndarray, np.ndarray, Any]] = []
        self._held = 0

    def add(self, found: Survey) -> None:
        """Take in the candidates of a chunk."""
        if found.keys is None or found.rows is None or not len(found.rows):
            return
        self._parts.append((found.keys, found.rows, found.frame))
        self._held += len(found.rows)
        if self._held > 2 * self.size:
            self._trim()

    def rows(self, layout: Layout) -> tuple[np.ndarray, Any]:
        """Return the positions of the sampled rows among all, ascending, and the rows."""
        self._trim()
        parts = sorted(self._parts, key=lambda part: int(part[1][0]))
        rows = np.concatenate([part[1] for part in parts])
        frame = stacked([layout.align(part[2]) for part in parts], layout)
        if layout.container == "a DataFrame of pandas":
            frame.index = pd.Index(rows)  # what a message calls a row
        return rows, frame

    def _trim(self) -> None:
        if self._held <= self.size:
            return
        keys = np.concatenate([part[0] for part in self._parts])
        rows = np.concatenate([part[1] for part in self._parts])
        last = np.lexsort((rows, keys))[self.size - 1]
        self.most = int(keys[last])
        kept = []
        for own, at, frame in self._parts:
            inside = np.flatnonzero((own < keys[last]) | ((own == keys[last]) & (at <= rows[last])))
            if len(inside) == len(own):
                kept.append((own, at, frame))
            elif len(inside):
                kept.append((own[inside], at[inside], wrap(frame).build(inside, {})))
        self._parts, self._held = kept, self.size


class FirstReading:
    """What the chunks have in common, as it comes in."""

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:
        self._model, self._options = model, options
        self.layout: Layout | None = None
        self.sizes: dict[int, int] = {}
        """Rows of each chunk that has any."""
        self.weight = 0.0

    def take(self, number: int, found: Survey, names: Companions) -> None:
        """Take in a chunk."""
        if found.layout is None:
            return
        if self.layout is None:
            self.layout = found.layout
            self._try(number, found, names)
        try:
            self.layout = self.layout.agreed(found.layout)
        except InputError as error:
            raise in_chunk(number, error) from error
        self.sizes[number] = found.n_rows
        self.weight += found.weight

    def _try(self, number: int, found: Survey, names: Companions) -> None:
        """Find out at the first chunk, not after the last one, that an option cannot be used."""
        options = self._options
        Response(self._model, options.get("response", "auto"), options.get("output_names"))
        try:
            X, _, _ = split(found.frame, names)
            FeatureTable(X, options.get("features"))
        except InputError as error:
            raise in_chunk(number, error) from error
