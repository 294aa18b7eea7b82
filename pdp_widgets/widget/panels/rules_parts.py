"""Parts: the conditions that the rules of a list are made of, each once, in words, as text, and as the page draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.inputs.conditions import And, Levels
from pdp_widgets.inputs.folding import feature_of
from pdp_widgets.rulefit import Rule
from pdp_widgets.rulefit.conditions import words
from pdp_widgets.widget.drawn import Drawing
from pdp_widgets.widget.wire import pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pdp_widgets.explain import Explainer
    from pdp_widgets.inputs.conditions import Node
    from pdp_widgets.rulefit.terms import Term

__all__ = ["Parts"]


@dataclass(frozen=True)
class Parts:
    """Rules share most of their conditions, so that each is sent once."""

    features: list[str]
    """The features, in the order in which they appear."""
    conditions: dict[tuple[int, str, str], Node | None]
    """Distinct ones by feature's position, words and text; None of numbers, which are no conditions."""
    places: list[int]
    """Which conditions the terms consist of, term after term."""
    ends: list[int]
    """(K,) where each term's ones end."""

    @classmethod
    def of(cls, terms: Iterable[Term]) -> Parts:
        """Take terms apart."""
        features: dict[str, int] = {}
        conditions: dict[tuple[int, str, str], Node | None] = {}
        numbers: dict[tuple[int, str, str], int] = {}
        places: list[int] = []
        ends: list[int] = []
        for term in terms:
            for name, label, text, node in _pieces(term):
                key = (features.setdefault(name, len(features)), label, text)
                conditions.setdefault(key, node)
                places.append(numbers.setdefault(key, len(numbers)))
            ends.append(len(places))
        return cls(list(features), conditions, places, ends)

    def wire(self, explainer: Explainer, *, drawn: bool) -> dict[str, Any]:
        """Return the conditions for the page; ``drawn`` says whether they are about columns as the page knows them.

        An interval has its ends, levels (and "or missing") are positions in the feature's grid.
        """
        drawing = Drawing(explainer)
        ends = np.full((2, len(self.conditions)), np.nan)
        levels: list[list[int] | None] = [None] * len(self.conditions)
        for at, node in enumerate(self.conditions.values()):
            if node is None or not drawn or feature_of(node) not in explainer.features:
                continue
            for mark in drawing.marks(node):
                if mark["type"] == "levels":
                    levels[at] = mark["levels"]
                else:
                    ends[:, at] = [np.nan if mark[side] is None else mark[side] for side in ("low", "high")]
        return {
            "feature": pack([feature for feature, _, _ in self.conditions], "int32"),
            "words": [label for _, label, _ in self.conditions],
            "texts": [text for _, _, text in self.conditions],
            "low": pack(ends[0]),
            "high": pack(ends[1]),
            "levels": levels,
        }


def _pieces(term: Term) -> Iterator[tuple[str, str, str, Node | None]]:
    """Yield the feature, words, text and node of each condition of a term."""
    if not isinstance(term, Rule):
        yield term.feature, term.label, term.text, Levels(term.feature, term.level) if term.level else None
        return
    for part in term.conditions:
        yield part.feature, words(part), part.text if len(term.conditions) == 1 else And((part,)).text, part
