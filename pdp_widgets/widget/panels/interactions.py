"""The interactions panel: which features act together, pair by pair, and how far the model is a plain sum of effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.interaction import ROWS, growing_interactions, interaction_rows
from pdp_widgets.widget.wire import pack, scalar

from .board import AFFORDED
from .panel import Panel, View

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pdp_widgets.explain.interaction_result import Interactions

__all__ = ["SHOWN", "InteractionsPanel"]

SHOWN = 40
"""At most so many features, those that interact most with all others: 780 pairs."""

_FEWER_ROWS = (ROWS, 200, 100)
"""Rows to compute at: the most that are afforded unasked."""

_END: Any = object()


class InteractionsPanel(Panel):
    """Friedman's H-statistics of all pairs over all rows, whatever is selected; see ``explain.interaction``.

    All outputs are computed at once, and what is there is kept when the panel is stopped or another output comes into focus.
    """

    name = "interactions"
    priority = 56.0

    def __init__(self, explainer: Any) -> None:
        super().__init__(explainer)
        self._rows: int | None = None
        self._costs: dict[int, int] = {}
        self._growing: Iterator[Interactions | None] | None = None
        self._grown: Interactions | None = None
        self._found: Interactions | None = None
        """The newest that is complete."""

    def key(self, view: View) -> Hashable:
        """Return the output; None when there is no pair."""
        return view.output if len(self.explainer.features) > 1 else None

    def cost(self, view: View) -> int:  # noqa: ARG002
        """Return how many rows the model will be asked about, at most; 0 for what was begun before."""
        if self._found is not None or self._growing is not None or self.free:
            return 0
        return self._cost(self._n_rows())

    def refine(self, view: View) -> bool:  # noqa: ARG002
        """Compute at as many rows as ``Explainer.interactions`` does."""
        if self._found is None or not self._more(self._found):
            return False
        self._rows = ROWS
        self._growing = self._start()
        return True

    def steps(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield the picture as pairs come in; when it is refined, the finished one stays until the new one is complete."""
        if self._growing is None and self._found is None:
            yield from self.compiled()
            self._growing = self._start()
        elif self._grown is not None:
            yield self._picture(view)
        while self._growing is not None:
            growing, self._growing = self._growing, None  # what fails is not gone on with
            grown = next(growing, _END)
            if grown is _END:
                self._found = self._grown
                break
            self._growing = growing
            if grown is not None:
                self._grown = grown
            yield None if grown is None else self._picture(view)
        yield self._picture(view)

    def result(self, view: View) -> Interactions | None:
        """Return the pairs as far as they are known, for the output in focus."""
        found = self._found or self._grown
        return None if found is None else found.output(view.output)

    def partner(self, feature: str, k: int) -> str | None:
        """Return the feature that one interacts with most, for one output; None when that is not known, or with none.

        Parameters
        ----------
        feature : str
        k : int
            Position of the output.
        """
        found = self._found
        if found is None:
            return None
        strengths = {
            a if b == feature else b: strength
            for (a, b), strength in zip(found.pairs, found.pair_statistic.strength[k], strict=True)
            if feature in (a, b) and strength > 0
        }
        return max(strengths, key=lambda name: strengths[name], default=None)

    # ---- helpers -------------------------------------------------------------------------

    def _start(self) -> Iterator[Interactions | None]:
        self._grown = None
        return growing_interactions(self.explainer, rows=self._n_rows(), most=SHOWN)

    def _n_rows(self) -> int:
        """Return at how many rows interactions are computed: as many as are afforded unasked."""
        if self._rows is None:
            self._rows = next((rows for rows in _FEWER_ROWS if self._cost(rows) <= AFFORDED), _FEWER_ROWS[-1])
        return self._rows

    def _cost(self, rows: int) -> int:
        if rows not in self._costs:
            many = len(self.explainer.features) > SHOWN
            cost = interaction_rows(self.explainer, pairs=[] if many else None, rows=rows)
            if many and cost > 0:  # which pairs will be taken is not known before: at most, all rows meet all rows
                cost += SHOWN * (SHOWN - 1) // 2 * min(rows, self.explainer.n_rows) ** 2
            self._costs[rows] = cost
        return self._costs[rows]

    def _more(self, found: Interactions) -> bool:
        return len(found.rows) < min(ROWS, found.rows_total)

    def _picture(self, view: View) -> dict[str, Any]:
        grown = self._grown
        assert grown is not None
        found, k = self._found or grown, view.k
        overall, main = found.overall_statistic, found.main_strength[k]
        named = {name for pair in found.pairs for name in pair}
        # The most important first: this order is known from the beginning, so that nothing moves while pairs come in.
        order = [j for j in np.argsort(-main, kind="stable") if found.features[j] in named]
        at = {found.features[j]: position for position, j in enumerate(order)}
        pairs = np.array([[at[a], at[b]] for a, b in found.pairs]).reshape(-1, 2)
        statistic = found.pair_statistic
        return {
            "output": view.output,
            "features": list(at),
            "left_out": len(found.features) - len(order),
            "pairs": pack(pairs, "int32"),
            "h2": pack(statistic.h2[k], "float32"),
            "h2_stderr": pack(statistic.h2_stderr[k], "float32"),
            "strength": pack(statistic.strength[k], "float32"),
            "strength_stderr": pack(statistic.strength_stderr[k], "float32"),
            "dependent": pack(statistic.dependent[k], "uint8"),
            "pairs_done": found.pairs_done,
            "overall_h2": pack(overall.h2[k][order], "float32"),
            "overall_strength": pack(overall.strength[k][order], "float32"),
            "main_strength": pack(main[order], "float32"),
            "total_h2": scalar(found.total_h2[k]),
            "total_h2_stderr": scalar(found.total_h2_stderr[k]),
            "rows": len(found.rows),
            "rows_total": found.rows_total,
            "method": found.method,
            "scale": found.scale,
            # What more exact numbers would cost, and how far they are.
            "more": self._cost(ROWS) if self._more(found) and self._growing is None else None,
            "refining": None
            if self._growing is None or grown is found
            else grown.pairs_done / max(len(grown.pairs), 1),
        }
