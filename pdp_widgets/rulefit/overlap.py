"""How the rules of a set overlap: which contain, repeat or exclude each other, and what they do together.

A rule's coefficient is its effect "all else equal". Where another rule holds whenever this one does, nothing else can stay equal:
what counts is the net effect of the rules that hold together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import FeatureTable, InputError
from pdp_widgets.inputs.rows import row_weights
from pdp_widgets.tabular import Tabular

from .evaluation import Evaluation, is_condition, rows_of
from .importance import chosen_outputs, one_output

if TYPE_CHECKING:
    from .ruleset import RuleSet
    from .terms import Term

_BLOCK = 8192  # rows whose masks are numbers at a time


@dataclass(frozen=True, eq=False)
class Overlap(Tabular, Drawable):
    """Pairwise overlap of the B terms that hold or do not: rules, and levels among the linear terms.

    All shares are weighted shares of the rows looked at; "contains" and the like are about every one of these rows.
    """

    rules: RuleSet
    positions: np.ndarray = field(repr=False)
    """(B,) positions in ``rules.terms``."""
    masks: np.ndarray = field(repr=False)
    """(n, B) bool."""
    counts: np.ndarray = field(repr=False)
    """(B, B) number of rows for which both hold; rows without weight are left out."""
    both: np.ndarray = field(repr=False)
    """(B, B) weighted share of the rows for which both hold; the diagonal is the support."""
    table: FeatureTable = field(repr=False)
    n: int
    """Rows with a weight."""

    @property
    def support(self) -> np.ndarray:
        """(B,) weighted share of the rows that each holds for."""
        return np.diagonal(self.both)

    @cached_property
    def containment(self) -> np.ndarray:
        """(B, B) share of the rows of a (first axis) for which b (second axis) holds too; 1: a within b. NaN where a never holds."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.both / self.support[:, None]

    @cached_property
    def jaccard(self) -> np.ndarray:
        """(B, B) rows for which both hold as a share of those for which any holds; NaN where neither ever does."""
        either = self.support[:, None] + self.support[None, :] - self.both
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.both / either

    @cached_property
    def correlation(self) -> np.ndarray:
        """(B, B) phi, the correlation of the two as 0 and 1; NaN where one always or never holds."""
        s = self.support
        sd = np.sqrt(np.clip(s * (1 - s), 0, None))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.clip((self.both - s[:, None] * s[None, :]) / (sd[:, None] * sd[None, :]), -1, 1)

    @cached_property
    def within(self) -> np.ndarray:
        """(B, B) bool: b (second axis) holds for every row of a (first axis), and a for at least one."""
        size = np.diagonal(self.counts)
        return (self.counts == size[:, None]) & (size[:, None] > 0)

    @cached_property
    def complement(self) -> np.ndarray:
        """(B, B) bool: for every row exactly one of the two holds."""
        size = np.diagonal(self.counts)
        return (self.counts == 0) & (size[:, None] + size[None, :] == self.n)

    # ---- reading -------------------------------------------------------------------------

    def of(self, term: Any, *, correlation: float = 0.7) -> pd.DataFrame:
        """Return the terms that one term has to be read with.

        Parameters
        ----------
        term : int, str or Rule
            Position in ``rules.terms``, text or label.
        correlation : float
            Least size of the correlation where neither contains the other.

        Returns
        -------
        pandas.DataFrame
            relation: "equal" (the same rows), "contains" (the term contains the other), "within" (the other contains the term),
            "complement", or "correlated"; share (of the term's rows for which the other holds), share_of_other, jaccard,
            correlation, coefficients; the closest first.
        """
        a = self._find(term)
        rows = [self._pair(a, b, correlation) for b in range(len(self.positions)) if b != a]
        frame = pd.DataFrame([row for row in rows if row is not None], columns=self._columns)
        return frame.sort_values("correlation", key=lambda v: -v.abs(), kind="stable", ignore_index=True)

    def pairs(self, *, correlation: float = 0.7) -> pd.DataFrame:
        """Return all such pairs, each once, with the first term's text in front."""
        with np.errstate(invalid="ignore"):
            near = self.within | self.within.T | self.complement | (np.abs(self.correlation) >= correlation)
        rows = []
        for a, b in zip(*np.nonzero(np.triu(near, 1)), strict=True):
            row = self._pair(int(a), int(b), correlation)
            assert row is not None
            rows.append({"first": self._terms[a].text, **row})
        return pd.DataFrame(rows, columns=["first", *self._columns])

    def to_frame(self, output: Any = None) -> pd.DataFrame:
        """Return what each rule does together with all others.

        ``coefficient``: all else equal. ``at_least``: together with all that contain it, which hold whenever it does. ``net_inside``,
        ``net_outside``: mean sum of the coefficients that hold, over the rows of the rule and over the others; ``net_difference``
        is what one sees between them.
        """
        blocks = []
        for o in chosen_outputs(self.rules, output):
            a = self.rules.coefficients[o, self.positions]
            total = float(self.support @ a)
            inside = self.containment @ a
            with np.errstate(invalid="ignore", divide="ignore"):
                outside = (total - self.both @ a) / (1 - self.support)
            block = pd.DataFrame(
                {
                    "term": [term.label for term in self._terms],
                    "text": [term.text for term in self._terms],
                    "support": self.support,
                    "coefficient": a,
                    "at_least": np.where(np.diagonal(self.counts) > 0, self.within @ a, a),
                    "net_inside": inside,
                    "net_outside": np.where(np.diagonal(self.counts) < self.n, outside, np.nan),
                }
            )
            block["net_difference"] = block["net_inside"] - block["net_outside"]
            if self.rules.n_outputs > 1:
                block.insert(0, "output", self.rules.outputs[o])
            blocks.append(block)
        return pd.concat(blocks, ignore_index=True)

    def net(self, rows: Any = None, *, output: Any = None) -> pd.DataFrame:
        """Return the combinations of rules that hold together, and their net effect.

        Parameters
        ----------
        rows : mask, text, Rule, Selection, or int positions, optional
            Rows of X to look at. Default: all.
        output : name, class label or position, optional

        Returns
        -------
        pandas.DataFrame
            One row per combination, the most frequent first: n (rows), terms (tuple of texts), net (sum of their coefficients), up and
            down (sums of the positive and of the negative ones).
        """
        a = self.rules.coefficients[one_output(self.rules, output), self.positions]
        chosen = np.zeros(self.table.n_rows, bool)
        given = np.asarray(rows) if not isinstance(rows, str) and rows is not None else None
        if given is not None and given.dtype.kind in "iu":
            chosen[np.atleast_1d(given)] = True
        else:
            chosen = rows_of(rows, self.table)
        picked = self.masks[chosen]
        packed = np.packbits(picked, axis=1)
        _, first, count = np.unique([row.tobytes() for row in packed], return_index=True, return_counts=True)
        holds = picked[first]
        texts = [term.text for term in self._terms]
        frame = pd.DataFrame(
            {
                "n": count,
                "terms": [tuple(texts[b] for b in np.flatnonzero(mask)) for mask in holds],
                "net": holds @ a,
                "up": holds @ np.maximum(a, 0),
                "down": holds @ np.minimum(a, 0),
            }
        )
        return frame.sort_values("n", ascending=False, kind="stable", ignore_index=True)

    def clusters(self, *, jaccard: float = 0.5, method: str = "average") -> pd.DataFrame:
        """Return the terms in groups that hold for about the same rows.

        Parameters
        ----------
        jaccard : float
            Groups are cut where their Jaccard similarity falls below this.
        method : str
            Linkage, as in ``scipy.cluster.hierarchy.linkage``.

        Returns
        -------
        pandas.DataFrame
            cluster (0 is the largest), size, term, text, coefficients.
        """
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        if not 0 <= jaccard <= 1:
            raise InputError(f"jaccard={jaccard!r}; expected a share between 0 and 1")
        labels = np.ones(len(self.positions), int)
        if len(labels) > 1:
            distance = 1 - np.nan_to_num(self.jaccard)
            np.fill_diagonal(distance, 0)
            # The distances are rounded sums of shares: an equal pair must not fall on the wrong side of the cut.
            labels = fcluster(linkage(squareform(distance, checks=False), method), 1 - jaccard + 1e-12, "distance")
        frame = pd.DataFrame(
            {"label": labels, "term": [t.label for t in self._terms], "text": [t.text for t in self._terms]}
        )
        for name, values in self._coefficients.items():
            frame[name] = values
        frame.insert(0, "size", frame.groupby("label")["label"].transform("size"))
        frame = frame.sort_values(["size", "label"], ascending=[False, True], kind="stable", ignore_index=True)
        frame.insert(0, "cluster", pd.factorize(frame.pop("label"))[0])
        return frame

    def __repr__(self) -> str:
        return f"<Overlap: {len(self.positions)} rules and levels, {self.n} rows>"

    # ---- parts ---------------------------------------------------------------------------

    @cached_property
    def _terms(self) -> tuple[Term, ...]:
        return tuple(self.rules.terms[k] for k in self.positions)

    @cached_property
    def _coefficients(self) -> dict[str, np.ndarray]:
        many = self.rules.n_outputs > 1
        names = (f"coefficient {name}" if many else "coefficient" for name in self.rules.outputs)
        return {name: self.rules.coefficients[o, self.positions] for o, name in enumerate(names)}

    @property
    def _columns(self) -> list[str]:
        return [
            "position",
            "term",
            "text",
            "relation",
            "share",
            "share_of_other",
            "jaccard",
            "correlation",
            *self._coefficients,
        ]

    def _find(self, term: Any) -> int:
        if isinstance(term, (int, np.integer)):
            found = np.flatnonzero(self.positions == term)
        else:
            found = np.array([b for b, own in enumerate(self._terms) if term in (own, own.text, own.label)])
        if not len(found):
            raise InputError(f"{term!r} is no rule of this set; give its position in rules.terms, or its text")
        return int(found[0])

    def _pair(self, a: int, b: int, correlation: float) -> dict[str, Any] | None:
        phi = self.correlation[a, b]
        if self.within[a, b] and self.within[b, a]:
            relation = "equal"
        elif self.within[a, b] or self.within[b, a]:
            relation = "within" if self.within[a, b] else "contains"
        elif self.complement[a, b]:
            relation = "complement"
        elif abs(phi) >= correlation:
            relation = "correlated"
        else:
            return None
        return {
            "position": int(self.positions[b]),
            "term": self._terms[b].label,
            "text": self._terms[b].text,
            "relation": relation,
            "share": self.containment[a, b],
            "share_of_other": self.containment[b, a],
            "jaccard": self.jaccard[a, b],
            "correlation": phi,
            **{name: values[b] for name, values in self._coefficients.items()},
        }


def overlap(rules: RuleSet, X: Any, *, weights: Any = None) -> Overlap:
    """Return how the rules overlap on the rows of X.

    Parameters
    ----------
    rules : RuleSet
    X : table
        Usually the training rows.
    weights : (n,) array, optional

    Examples
    --------
    >>> from pdp_widgets.rulefit import Rule, RuleSet
    >>> X = pd.DataFrame({"temp": [10.0, 20.0, 30.0, 40.0]})
    >>> rules = RuleSet([Rule.of(text, X) for text in ("temp > 15", "temp > 25", "temp <= 15")], [5.0, 1.0, -2.0], 0.0)
    >>> found = overlap(rules, X)
    >>> found.of("temp > 15")[["text", "relation", "share", "jaccard"]].round(2)
             text    relation  share  jaccard
    0  temp <= 15  complement   0.00     0.00
    1   temp > 25    contains   0.67     0.67
    >>> found.net("temp == 40")[["terms", "net"]]
                        terms  net
    0  (temp > 15, temp > 25)  6.0
    """
    table = rules.table(X)
    given = row_weights(weights, table)
    positions = np.array([k for k, term in enumerate(rules.terms) if is_condition(term)], dtype=int)
    look = Evaluation(table, [rules.terms[k] for k in positions])
    masks = np.empty((table.n_rows, len(positions)), bool)
    for b, k in enumerate(positions):
        masks[:, b] = look.values(rules.terms[k])
    counted = np.ones(table.n_rows, bool) if given is None else given > 0
    counts = np.zeros((len(positions),) * 2)
    shares = np.zeros_like(counts)
    for start in range(0, table.n_rows, _BLOCK):
        rows = slice(start, start + _BLOCK)
        part = masks[rows] & counted[rows, None]
        small = part.astype(np.float32)  # exact: fewer rows than 2^24
        counts += small.T @ small
        if given is not None:
            full = part.astype(float)
            shares += full.T @ (full * given[rows, None])
    total = table.n_rows if given is None else given.sum()
    both = (counts if given is None else shares) / total
    return Overlap(rules, positions, masks, counts.astype(np.int64), both, table, int(counted.sum()))
