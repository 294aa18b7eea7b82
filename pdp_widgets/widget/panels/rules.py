"""The rules panel: what the model does, or what is seen in the outcome, as a short sum of rules.

A fit takes seconds at a stretch, so it runs in a thread of its own; the widget's worker asks for the predictions it needs and looks
now and then whether it is done. What the page gets is made in ``rules_reading``, which is loaded with RuleFit when rules are there.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pdp_widgets.compute.worker import Worker
from pdp_widgets.inputs import InputError

from .panel import Panel, View

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from pdp_widgets.explain.rules import Rules
    from pdp_widgets.rulefit.stability import Refits

    from .rules_reading import Reading, Sums

__all__ = ["ROWS", "RulesPanel"]

Subject = Literal["model", "outcome"]

ROWS = 10_000
"""Rows that rules are fitted to unasked."""

_POLL = 0.02  # seconds: a brush may come in at any time
_KEPT = 16  # more than the board keeps pictures
_OVERLAPS = 2
_ids = count(1)  # no two alike on a page, whichever model they are of


class RulesPanel(Panel):
    """Rules of the model (its own where it is a RuleFit, else those of a surrogate) or of the outcome; see ``explain.rules``.

    A fit is kept per output. The selection changes how much terms matter and how often they hold, not the terms.
    """

    name = "rules"
    priority = 30.0

    def __init__(self, explainer: Any) -> None:
        super().__init__(explainer)
        self._thread = Worker("pdp_widgets rules")
        self._subject: Subject = "model"
        self._rows = ROWS
        self._found: dict[Hashable, Rules] = {}
        self._steps: dict[Hashable, int] = {}
        """Where on the path the person wants to be."""
        self._readings: OrderedDict[Hashable, Reading] = OrderedDict()
        self._shown: dict[Hashable, Rules] = {}
        self._refits: dict[Hashable, Refits] = {}
        """What was fitted again, by what it is about; how many terms are shown makes no difference to it."""
        self._stable: set[Hashable] = set()
        """What the person wants to see the stability of."""

    def key(self, view: View) -> Hashable:
        """Return output, subject, how many terms, whether their stability is asked for, selection; None before there is a sample."""
        if view.sample is None:
            return None
        what = self._what(view.output)
        return what, view.output, self._steps.get(what), what in self._stable, view.selection_id

    def cost(self, view: View) -> int:  # noqa: ARG002
        """Return how many rows the model is yet to be asked about."""
        base = self.explainer.base()
        return 0 if self._subject == "outcome" else base.rows_total - base.rows_done

    def refine(self, view: View) -> bool:
        """Fit to all rows from now on."""
        found = self._found.get(self._what(view.output))
        if found is None or self._more(found) is None:
            return False
        self._rows = self.explainer.n_rows
        for known in (self._found, self._steps, self._refits, self._stable):
            known.clear()
        return True

    def steps(self, view: View) -> Iterator[dict[str, Any] | None]:
        """Yield the terms as soon as they are known, with the selection's numbers; then how they overlap."""
        what = self._what(view.output)
        if what not in self._found:
            base = self.explainer.base()
            while what[0] == "model" and not base.complete:
                base.advance()
                yield None
            yield from self._wait(lambda: self._fit(what))
        reading = self._read(what, view.output)
        self._shown[what] = reading.found
        sums: Sums | None = None
        if view.selection is not None:
            growing = reading.sums(view.selection.mask, view.selection_id)
            while (sums := next(growing)) is None:
                yield None
        more = self._more(reading.found)
        refits = self._refits[what] if what in self._stable else None
        yield reading.picture(sums, more, refits)
        if reading.overlap is None:
            yield from self._wait(reading.look)
            yield reading.picture(sums, more, refits)
        while refits is not None and (before := reading.counted) < refits.total:
            for _ in self._wait(lambda: reading.count(refits)):
                if reading.counted > before:  # by a fit that another selection asked for
                    break
                yield None
            yield reading.picture(sums, more, refits)

    def result(self, view: View) -> Rules | None:
        """Return the rules that are shown, with as many terms as the person wants."""
        return self._shown.get(self._what(view.output))

    def close(self) -> None:
        """Take no more work; a fit on its way is left to itself."""
        self._thread.close(0.0)

    # ---- what the page asks: in the kernel's thread --------------------------------------

    def choose(self, output: str, step: int | None, subject: Subject | None) -> None:
        """Show another number of terms, or describe something else; the board is to be told.

        Raises
        ------
        InputError
            When there is no such step, or no outcome.
        """
        if subject == "outcome" and self.explainer.y is None:
            raise InputError("there is no outcome to describe: PDPWidget(model, X, y)")
        self._subject = subject or self._subject
        what = self._what(output)
        if step is None:
            return
        found = self._found.get(what)
        if found is None or step >= len(getattr(found.estimator, "n_terms_on_path_", ())):
            raise InputError(f"there is no step {step} on the path of these rules")
        self._steps[what] = step

    def ask_stability(self, of: int, *, on: bool) -> None:
        """Fit the rules to other samples of the rows, or leave off; the board is to be told. What was fitted is kept.

        Raises
        ------
        InputError
            When they are gone, or cannot be fitted again.
        """
        reading = self.reading(of)
        what = reading.what  # which may no longer be what the person wants to see
        if on and what not in self._refits:
            self._refits[what] = reading.found.refits()
        (self._stable.add if on else self._stable.discard)(what)

    def reading(self, of: int) -> Reading:
        """Return the rules that the page speaks of.

        Raises
        ------
        InputError
            When they are gone.
        """
        found = next((reading for reading in list(self._readings.values()) if reading.id == of), None)
        if found is None:
            raise InputError("the rules have changed meanwhile; try again")
        return found

    # ---- helpers -------------------------------------------------------------------------

    def _what(self, output: str) -> tuple[Subject, str]:
        """Return what one fit is about: the outcome's classes are fitted together."""
        return self._subject, output if self._subject == "model" else ""

    def _fit(self, what: tuple[Subject, str]) -> None:
        """Fit, in the other thread, unless that was done meanwhile."""
        if what in self._found:
            return
        explainer, rows = self.explainer, self._rows
        subject, output = what
        part: np.ndarray | None = None
        if rows < explainer.n_rows:
            part = np.zeros(explainer.n_rows, dtype=bool)
            part[explainer.row_order[:rows]] = True
        found = explainer.rules(subject == "outcome" or None, subgroup=part, output=output or None, progress=False)
        if rows == self._rows:
            self._found[what] = found

    def _wait(self, work: Callable[[], None]) -> Iterator[None]:
        """Have something done in the other thread, and look now and then whether it is."""
        task = self._thread.submit((run() for run in (work,)), name=self.name, on_end=lambda _: None)
        try:
            while not task.ended:
                time.sleep(_POLL)
                yield
            task.result(0)
        finally:
            task.cancel()  # what has not begun is not wanted any more; what runs is found when one comes back

    def _read(self, what: tuple[Subject, str], output: str) -> Reading:
        found = self._found[what]
        path = hasattr(found.estimator, "n_terms_on_path_")
        step = self._steps.get(what, max(found.estimator.penalties_)) if path else None
        key = (what, output, step, found.n_rows)
        if key not in self._readings:
            if what in self._steps:
                found = found.at_step(self._steps[what])
            from .rules_reading import Reading

            self._readings[key] = Reading(next(_ids), what, found, self.explainer, output, step)
            while len(self._readings) > _KEPT:
                self._readings.popitem(last=False)
        self._readings.move_to_end(key)
        for old in list(self._readings.values())[:-_OVERLAPS]:
            old.forget()
        return self._readings[key]

    def _more(self, found: Rules) -> int | None:
        """Return how many rows the rules could be fitted to, if these are more."""
        n = self.explainer.n_rows
        return n if found.kind != "model" and self._rows < n else None
