"""What is found about regional effects: splits, regions, and the results that hold them. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import Grid, InputError
from pdp_widgets.tabular import Tabular

from .explanation import MODEL, Explanation
from .results import in_words


@dataclass(frozen=True)
class Split:
    """How a region is split into two; gains are shares of the loss within that region."""

    feature: str
    """The feature that is split by."""
    sides: tuple[str, str]
    """The two conditions."""
    gain: float
    """Share removed, over all rows."""
    gain_search: float
    """Share removed on the half of the rows where the split was found: the best of many, so rather too good."""
    gain_check: float
    """Share removed on the other, held-out half with the mean curves of the first: if anything too low, for these are estimates."""
    stderr_check: float
    """Standard error of ``gain_check``."""


@dataclass(frozen=True, eq=False)
class Region:
    """Rows described by a condition; to be used wherever a ``subgroup=`` is asked for."""

    text: str
    """The condition, together with that of the subgroup if one was asked for; "True" stands for all rows."""
    condition: str
    """The condition without that of the subgroup."""
    mask: np.ndarray = field(repr=False)
    """(n,) bool: which background rows belong to it."""
    n: int
    """Rows in it."""
    n_curves: int
    """Rows whose curves the numbers below stand on: all in it, unless curves are a sample or still growing."""
    average: np.ndarray = field(repr=False)
    """(K,) mean curve of its rows, their partial dependence, on the response scale."""
    stderr: np.ndarray = field(repr=False)
    """(K,) standard error of ``average`` as an estimate for all its rows; 0 when all are in."""
    heterogeneity: float
    """How far its rows still disagree, unit of the response: root of the loss per row."""
    removed: float
    """Share of the loss per row that it has less than all rows have; below 0 where its rows disagree more than those."""
    depth: int
    split: Split | None
    """How it is split further."""
    children: tuple[Region, ...] = field(repr=False)
    reason: str
    """Why it is not split further, "" where it is or where the depth is reached."""

    @property
    def leaves(self) -> tuple[Region, ...]:
        """Return the parts that are not split further: itself, when it is not split."""
        return tuple(leaf for child in self.children for leaf in child.leaves) or (self,)

    @property
    def nodes(self) -> tuple[Region, ...]:
        """Return itself and all parts below it, each followed by its own parts."""
        return (self, *(node for child in self.children for node in child.nodes))

    def lines(self) -> list[str]:
        """Return itself and its parts as indented lines."""
        name = "all rows" if self.condition == "True" else self.condition
        line = f"{'  ' * self.depth}{name}: {self.n} rows, heterogeneity {self.heterogeneity:.3g}"
        if self.depth:
            line += f", {self.removed:.0%} removed"
        return [line, *(line for child in self.children for line in child.lines())]


@dataclass(frozen=True)
class Limits:
    """When a split is made."""

    depth: int
    """Most splits one after the other."""
    rows: int
    """Fewest rows of a region."""
    gain: float
    """Least share of a region's loss that a split must remove."""


@dataclass(frozen=True, eq=False)
class Regions(Explanation):
    """Regions in which the ICE curves of one feature agree better than those of all rows.

    Each curve is centred by its data-weighted mean. The *loss* of some rows is the weighted sum of the squared deviations of their
    curves from their mean curve, data-weighted over the grid; *heterogeneity* is the root of the loss per row. Grid points
    weigh the same in every region: as often as their values occur in all rows. ``outputs`` is the one output explained.
    """

    grid: Grid = field(repr=False)
    root: Region
    """All rows (of the subgroup), with the regions below."""
    removed: float
    """Share of the loss that the regions remove together."""
    removed_check: float
    """The same on the held-out half of the rows, with the mean curves of the other half, where the splits were found."""
    rows: np.ndarray = field(repr=False)
    """(m,) positions of the rows whose curves were looked at, ascending."""
    rows_total: int
    """Rows there are in all (in the subgroup)."""
    rows_wanted: int
    """Rows whose curves are looked at in the end: all, or a sample where the curves of all exceed the memory cap."""
    rows_omitted: int
    """Rows left out because the model predicted NaN or infinity."""
    limits: Limits = field(repr=False)

    @property
    def feature(self) -> str:
        """Return the feature whose curves are explained."""
        return self.grid.feature.name

    @property
    def regions(self) -> tuple[Region, ...]:
        """Return the regions; none when no split is worth making (``reason`` says why)."""
        return self.root.leaves if self.root.children else ()

    @property
    def splits(self) -> tuple[Split, ...]:
        """Return the splits, the first one first."""
        return tuple(node.split for node in self.root.nodes if node.split is not None)

    @property
    def reason(self) -> str:
        """Return why there are no regions, "" when there are."""
        return self.root.reason

    @property
    def heterogeneity(self) -> float:
        """Return how far all rows disagree, unit of the response, as ``PartialDependence.heterogeneity``."""
        return self.root.heterogeneity

    @property
    def heterogeneity_removed(self) -> float:
        """Return how far the regions' mean curves lie apart, unit of the response: root of the loss removed per row."""
        return self.heterogeneity * float(np.sqrt(max(self.removed, 0.0)))

    @property
    def heterogeneity_left(self) -> float:
        """Return how far rows disagree within their regions, unit of the response: root of the loss left per row."""
        return self.heterogeneity * float(np.sqrt(max(1 - self.removed, 0.0)))

    @property
    def rows_done(self) -> int:
        """Return how many rows are looked at (or were omitted)."""
        return len(self.rows) + self.rows_omitted

    @property
    def complete(self) -> bool:
        """Return whether all rows that are wanted are in."""
        return self.rows_done >= self.rows_wanted

    @property
    def sampled(self) -> bool:
        """Return whether the curves are those of a sample of the rows."""
        return self.rows_wanted < self.rows_total

    def to_frame(self, what: Literal["regions", "splits", "curves"] = "regions") -> pd.DataFrame:
        """Return a tidy table.

        Parameters
        ----------
        what : {"regions", "splits", "curves"}
            One row per node of the tree, all rows first; one row per split; or one row per region and grid point (of all rows
            when there are no regions).

        Raises
        ------
        InputError
            For anything else.
        """
        nodes = self.root.nodes
        if what == "regions":
            names = ["text", "depth", "n", "heterogeneity", "removed"]
            columns = {name: [getattr(node, name) for node in nodes] for name in names}
            return pd.DataFrame({**columns, "is_region": [not node.children for node in nodes]})
        if what == "splits":
            names = ["of", "feature", "left", "right", "gain", "gain_search", "gain_check", "stderr_check"]
            rows = [
                (node.text, s.feature, *s.sides, s.gain, s.gain_search, s.gain_check, s.stderr_check)
                for node in nodes
                if (s := node.split) is not None
            ]
            return pd.DataFrame(rows, columns=pd.Index(names))
        if what == "curves":
            parts = [
                {"region": leaf.text, "value": self.grid.values, "average": leaf.average, "stderr": leaf.stderr}
                for leaf in self.root.leaves
            ]
            return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)
        raise InputError(f"to_frame({what!r}); expected 'regions', 'splits' or 'curves'")

    def __str__(self) -> str:
        """Return the tree of regions in lines."""
        return "\n".join(self.root.lines() if self.regions else [*self.root.lines(), f"  no regions: {self.reason}"])

    def __repr__(self) -> str:
        """Say what was found, on how many rows and on which scale."""
        parts = [f"heterogeneity {self.heterogeneity:.3g}"]
        if self.regions:
            found = ", ".join(leaf.condition for leaf in self.regions)
            parts = [found, f"{parts[0]}, {self.removed:.0%} removed ({self.removed_check:.0%} on held-out rows)"]
        else:
            parts.insert(0, f"none: {self.reason}")
        sample = " in a random sample" if self.sampled else ""
        parts += [in_words(self.scale, self.outputs), f"{self.rows_done} of {self.rows_total} rows{sample}"]
        parts += self.rows_in_words
        if self.rows_omitted:
            parts.append(f"{self.rows_omitted} rows without a finite prediction omitted")
        return f"<Regions of {self.feature!r}: {'; '.join(parts)}>"


@dataclass(frozen=True, eq=False)
class Suggestions(Tabular, Drawable, Sequence[Regions]):
    """The first split for each feature, those that remove most heterogeneity first; features that are not split come last."""

    found: tuple[Regions, ...] = field(repr=False)
    features_total: int
    """Features asked for; while they are computed ``found`` has the first ones only."""

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    @property
    def method(self) -> str:
        """Return how the numbers were obtained."""
        return "; ".join(dict.fromkeys(one.method for one in self.found)) or MODEL

    @property
    def complete(self) -> bool:
        """Return whether all features are in."""
        return len(self.found) >= self.features_total

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature; what concerns a split is missing where none is made, and ``reason`` says why."""
        shares = ("heterogeneity", "heterogeneity_removed", "removed", "removed_check")
        rows = []
        for one in self.found:
            row: dict[str, Any] = {name: getattr(one, name) for name in ("feature", *shares)}
            for side, child in zip(("left", "right"), one.root.children or (None, None), strict=True):
                row |= {side: child and child.text, f"n_{side}": child and child.n}
            rows.append({**row, "reason": one.reason})
        names = ["feature", *shares, "left", "n_left", "right", "n_right", "reason"]
        return pd.DataFrame(rows, columns=pd.Index(names))

    def __repr__(self) -> str:
        """Say which splits there are."""
        made = [one for one in self.found if one.regions]
        shown = [f"{one.feature!r} by {one.splits[0].sides[0]} ({one.removed:.0%} removed)" for one in made]
        state = "" if self.complete else f"; {len(self)} of {self.features_total} features so far"
        context = ""
        if self.found:
            first = self.found[0]
            rows = f"{first.rows_done} of {first.rows_total} rows"
            context = f"; {in_words(first.scale, first.outputs)}; {rows}"
            context += "".join(f"; {part}" for part in first.rows_in_words)
        return f"<Suggestions: {', '.join(shown) or 'no feature is worth splitting'}{context}{state}>"
