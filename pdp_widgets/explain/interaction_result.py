"""Results of interaction statistics: of several features, and of one set of features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from .explanation import Explanation

if TYPE_CHECKING:
    from .statistic import Statistic


@dataclass(frozen=True)
class Interactions(Explanation):
    """Interactions among several features: overall, pair by pair, and in total; NaN of a single row, which tells nothing."""

    features: tuple[str, ...]
    members: tuple[tuple[str, ...], ...] = field(repr=False)
    """Per feature its own name, or the names of those that were taken as one."""
    pairs: tuple[tuple[str, str], ...]
    """All that were asked for, in the order in which they are computed: the most promising first."""
    pairs_done: int
    overall_statistic: Statistic = field(repr=False)
    """Per feature, with all others together."""
    pair_statistic: Statistic = field(repr=False)
    main_strength: np.ndarray = field(repr=False)
    """(n_outputs, F) standard deviation of each feature's own effect over the rows: the diagonal beside pairs' strengths."""
    response_strength: np.ndarray = field(repr=False)
    """(n_outputs,) standard deviation of the response over the rows."""
    total_h2: np.ndarray
    """(n_outputs,) share of the response's variance that is no sum of effects of ``features``; NaN unless each column of X
    is in one of them."""
    total_h2_stderr: np.ndarray
    rows: np.ndarray = field(repr=False)
    """Positions of the rows averaged over and evaluated at."""
    rows_total: int
    """Rows that they are a sample of."""
    model_rows: int
    """Rows that the model is asked about in all; 0 when the numbers follow from the trees of a model."""

    _by_output: ClassVar[tuple[str, ...]] = (
        "overall_statistic", "pair_statistic", "main_strength", "response_strength", "total_h2", "total_h2_stderr",
    )  # fmt: skip

    @property
    def complete(self) -> bool:
        """Return whether all pairs are computed."""
        return self.pairs_done == len(self.pairs)

    @property
    def additivity(self) -> np.ndarray:
        """(n_outputs,) 1 - total h2: how far the model is a sum of effects of ``features``."""
        return 1 - self.total_h2

    def given(self, feature: str) -> str | list[str]:
        """Return how to ask for one of ``features`` again: its name, or the list of those that were taken as one."""
        members = self.members[self.features.index(feature)]
        return members[0] if len(members) == 1 else list(members)

    @property
    def overall(self) -> pd.DataFrame:
        """One row per output and feature, the strongest first."""
        return self._frame({"feature": list(self.features)}, self.overall_statistic, len(self.features))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output and pair, the strongest first, pairs that are not computed yet last, with NaN."""
        named = {f"feature_{side + 1}": [pair[side] for pair in self.pairs] for side in (0, 1)}
        return self._frame(named, self.pair_statistic, self.pairs_done)

    def _frame(self, named: dict[str, list[str]], statistic: Statistic, computed: int) -> pd.DataFrame:
        parts = [
            pd.DataFrame({"output": output, **named, **statistic.columns(k)}) for k, output in enumerate(self.outputs)
        ]
        for part in parts:
            part["computed"] = np.arange(len(part)) < computed
        return pd.concat(
            [part.sort_values("strength", ascending=False, kind="stable") for part in parts], ignore_index=True
        )

    def __repr__(self) -> str:
        """Say what it is, on how many rows and by which way."""
        pairs = f"{self.pairs_done} of {len(self.pairs)} pairs"
        rows = f"{len(self.rows)} of {self.rows_total} rows"
        parts = [pairs, self.scale, rows, *self.rows_in_words, self.method]
        return f"<Interactions of {len(self.features)} features: {'; '.join(parts)}>"


@dataclass(frozen=True)
class Interaction(Explanation):
    """The interaction of one set of two or more features; NaN of a single row, which tells nothing."""

    features: tuple[str, ...]
    h2: np.ndarray
    """(n_outputs,) share of the set's joint effect that no smaller set explains."""
    strength: np.ndarray
    """(n_outputs,) in the unit of the response."""
    h2_stderr: np.ndarray
    strength_stderr: np.ndarray
    n_rows: int
    model_rows: int

    _by_output: ClassVar[tuple[str, ...]] = ("h2", "strength", "h2_stderr", "strength_stderr")

    @property
    def h(self) -> np.ndarray:
        """Return the root of ``h2``."""
        return np.sqrt(self.h2)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output."""
        return pd.DataFrame(
            {
                "output": list(self.outputs), "features": " x ".join(self.features), "h2": self.h2, "h": self.h, "strength": self.strength,
                "h2_stderr": self.h2_stderr, "strength_stderr": self.strength_stderr, "dependent": self.h2 > 1 + 1e-9,
            }
        )  # fmt: skip

    def __repr__(self) -> str:
        """Say how strong it is, on how many rows and by which way."""
        numbers = ", ".join(
            f"{name}: h2 {h2:.3g}, strength {strength:.3g}"
            for name, h2, strength in zip(self.outputs, self.h2, self.strength, strict=True)
        )
        parts = [numbers, f"{self.n_rows} rows", *self.rows_in_words, self.method]
        return f"<Interaction of {' x '.join(self.features)}: {'; '.join(parts)}>"
