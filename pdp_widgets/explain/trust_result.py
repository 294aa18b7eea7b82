"""What is known of how far a partial dependence can be trusted, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd

from pdp_widgets.inputs.columns import objects

from .explanation import Explanation

if TYPE_CHECKING:
    from pdp_widgets.inputs import Grid

DISAGREE = 0.25
"""Share of the heterogeneity from which on rows are said to disagree: their curves then differ half as much as they vary."""

DISAGREE_STRONGLY = 0.5
"""From here on, more of the curves is their own than is common to them."""

MATTERS = 0.05
"""What is less than this share of the response's standard deviation is not spoken of: nobody sees it in a plot."""

PARTNER = 0.1
"""Least share of the heterogeneity that a feature must explain to be named: less helps nobody to understand it."""

PARTNER_MOSTLY = 0.5
"""From here on the partner explains more than everything else."""

MOVES_WITH = 0.6
"""Association from which on two features are said to move together: a third of the variance of their ranks is common."""

OUTSIDE = 0.05
"""Share of evaluations outside the data that is worth a word: independent features give less than 1 %."""

OUTSIDE_MUCH = 0.25
"""From here on, a quarter of the curve's average is the model's guess about rows that hardly exist."""

THIN_ROWS = 5
"""Fewer rows than this near a value and its part of the curve stands on single rows."""

THIN_SHARE = 0.005
"""The same in large data: below it nobody sees the rows in a histogram."""

NEAR = 0.05
"""What is near a value, as a share of the axis: about what the eye takes for one place."""

ERROR = 0.1
"""Standard error from which on it is spoken of, as a share of the curve's range: the eye then sees bumps that are chance."""

ERROR_MUCH = 0.5
"""From here on, nothing of the shape is certain."""

EMPTY = 0.1
"""How much larger the share of empty cells must be than with independent features to be spoken of."""

H2_SIGMAS = 2
"""Standard errors that h2 must lie above 1: in a sample of independent features a pure interaction is at 1, give or take."""

_MOST_STRETCHES = 2

Kind = Literal["heterogeneity", "association", "outside", "thin", "error", "dependence", "empty"]
Severity = Literal["warning", "note"]


@dataclass(frozen=True)
class Hint:
    """One thing worth knowing before a curve is believed."""

    kind: Kind
    severity: Severity
    """A warning may change what one reads off the curve; a note says where to be careful."""
    text: str

    def __str__(self) -> str:
        """Return the sentence."""
        return self.text


@dataclass(frozen=True)
class Trust(Explanation):
    """How far a partial dependence can be trusted: what features and pairs have in common."""

    grids: tuple[Grid, ...] = field(repr=False)
    rows: np.ndarray = field(repr=False)
    """(m,) positions of the rows looked at, ascending."""
    rows_total: int
    """Rows there are in all (in the subgroup), without those of weight zero."""
    default_output: str
    """The output that ``hints`` speak of."""
    note: str
    """What could not be computed and why, else ``""``."""

    @property
    def features(self) -> tuple[str, ...]:
        """Return the name of the feature, or the two names of the pair."""
        return tuple(grid.feature.name for grid in self.grids)

    @property
    def hints(self) -> list[Hint]:
        """Return what is worth saying of the default output, warnings first."""
        found = list(self._hints(self.outputs.index(self.default_output)))
        return sorted(found, key=lambda hint: hint.severity != "warning")

    def output(self, name: Any) -> Self:
        """Return the same for one output, given by name, class label or position.

        Raises
        ------
        InputError
            When there is no such output.
        """
        one = super().output(name)
        return replace(one, default_output=one.outputs[0])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per output: the numbers, and ``hints``, their sentences."""
        names = {f"feature_{k + 1}" if len(self.features) > 1 else "feature": f for k, f in enumerate(self.features)}
        columns: dict[str, Any] = {"output": list(self.outputs)}
        columns |= {key: [value] * len(self.outputs) for key, value in (names | self._single()).items()}
        columns |= {key: list(values) for key in self._by_output if np.ndim(values := getattr(self, key)) == 1}
        spoken = ["; ".join(map(str, self.output(name).hints)) for name in self.outputs]
        return pd.DataFrame(columns | {"hints": spoken})

    def __repr__(self) -> str:
        """Say what speaks against it, and on how many rows that stands."""
        names = " x ".join(repr(name) for name in self.features)
        parts = [hint.text for hint in self.hints] or ["nothing speaks against it"]
        if self.note:
            parts.append(self.note)
        parts.append(f"{len(self.rows)} of {self.rows_total} rows")
        if len(self.outputs) > 1:
            parts.append(f"{self.scale} of {self.default_output}")
        parts += self.rows_in_words
        return f"<Trust in the partial dependence on {names}: {'; '.join(parts)}>"

    def _hints(self, k: int) -> Iterator[Hint]:
        """Yield what is worth saying of one output."""
        raise NotImplementedError

    def _single(self) -> dict[str, Any]:
        """Return the numbers that all outputs share."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class FeatureTrust(Trust):
    """How far the partial dependence on one feature can be trusted; NaN where it cannot be told."""

    heterogeneity: np.ndarray
    """(n_outputs,) how far rows disagree, as ``PartialDependence.heterogeneity``; unit of the response."""
    heterogeneity_share: np.ndarray
    """(n_outputs,) its square as a share of all variance of the centred curves: 0 when all are alike, 1 when their mean is flat."""
    partners: tuple[str | None, ...]
    """Per output the feature that explains best why rows disagree, None when none does clearly."""
    partner_share: np.ndarray
    """(n_outputs,) share of the squared heterogeneity that the partner explains (adjusted R2)."""
    spread: np.ndarray
    """(n_outputs,) standard deviation of all curves' values: what ``heterogeneity`` may be compared with."""
    span: np.ndarray
    """(n_outputs,) range of the partial dependence."""
    stderr: np.ndarray
    """(n_outputs,) largest standard error of the partial dependence from all ``rows_total`` rows."""
    stderr_shape: np.ndarray
    """(n_outputs,) the same of its shape: of the partial dependence minus its data-weighted mean."""
    error_of: Literal["rows", "population"]
    """What it is an estimate for: all rows of X, of which the background is a sample, or the population that X comes from."""
    rows_of: int
    """Rows of X."""
    others: tuple[str, ...]
    """All other features."""
    associations: np.ndarray
    """(len(others),) association with each, 0 to 1; see ``association.association``."""
    associations_chance: np.ndarray
    """(len(others),) the most that chance explains."""
    outside_shares: np.ndarray
    """(len(others),) share of the evaluations (grid points x rows) whose combination with each hardly exists in the data."""
    thin: np.ndarray
    """(K,) bool: grid points near which few rows lie."""
    average: np.ndarray = field(repr=False)
    """(n_outputs, K) the partial dependence over ``rows``."""

    _by_output: ClassVar[tuple[str, ...]] = (
        "heterogeneity", "heterogeneity_share", "partners", "partner_share", "spread", "span", "stderr", "stderr_shape", "average",
    )  # fmt: skip

    @property
    def association(self) -> float:
        """Return the strongest association with another feature, NaN when there is none to compare with."""
        at = self._strongest()
        return float("nan") if at is None else float(self.associations[at])

    @property
    def associated(self) -> str | None:
        """Return the feature it is most strongly associated with."""
        at = self._strongest()
        return None if at is None else self.others[at]

    @property
    def outside(self) -> float:
        """Return the largest share of evaluations whose combination with one other feature hardly exists in the data."""
        known = self.outside_shares[~np.isnan(self.outside_shares)]
        return float(known.max()) if len(known) else float("nan")

    @property
    def outside_with(self) -> str | None:
        """Return that other feature."""
        return self.others[int(np.nanargmax(self.outside_shares))] if self.outside > 0 else None

    def _strongest(self) -> int | None:
        """Return the strongest of the associations that are no chance, else of all."""
        known = ~np.isnan(self.associations)
        sure = known & (self.associations > self.associations_chance)
        among = np.flatnonzero(sure if sure.any() else known)
        return int(among[self.associations[among].argmax()]) if len(among) else None

    def _single(self) -> dict[str, Any]:
        return {
            "association": self.association, "associated": self.associated, "outside": self.outside,
            "outside_with": self.outside_with, "thin_points": int(self.thin.sum()), "error_of": self.error_of,
        }  # fmt: skip

    def _hints(self, k: int) -> Iterator[Hint]:
        seen = MATTERS * self.spread[k]
        if self.heterogeneity_share[k] >= DISAGREE and self.heterogeneity[k] >= seen:
            severity: Severity = "warning" if self.heterogeneity_share[k] >= DISAGREE_STRONGLY else "note"
            text = f"rows disagree ({_percent(self.heterogeneity_share[k])})"
            if self.partners[k] is not None and self.partner_share[k] >= PARTNER:
                text += f", {'mostly' if self.partner_share[k] >= PARTNER_MOSTLY else 'partly'} by {self.partners[k]}"
            yield Hint("heterogeneity", severity, text)
        spoken = None
        at = self._strongest()
        if at is not None and self.associations[at] >= max(MOVES_WITH, self.associations_chance[at]):
            spoken = self.others[at]
            text = f"moves together with {spoken} ({_decimal(self.associations[at])} of at most 1)"
            hardly = self.outside_shares[at] >= OUTSIDE
            if hardly:
                text += ": the curve averages over rows that hardly exist; compare ALE"
            yield Hint("association", "warning" if hardly else "note", text)
        if self.outside >= OUTSIDE:
            named = "of these two" if self.outside_with == spoken else f"with {self.outside_with}"
            severity = "warning" if self.outside >= OUTSIDE_MUCH else "note"
            text = f"{_percent(self.outside)} of this curve is the model's guess about combinations {named} that hardly occur"
            yield Hint("outside", severity, text)
        if self.thin.any():
            yield Hint("thin", "note", _thin_text(self.grids[0], self.thin, self.rows_total))
        yield from self._error_hints(k)

    def _error_hints(self, k: int) -> Iterator[Hint]:
        span, error, shape = self.span[k], self.stderr[k], self.stderr_shape[k]
        others = f"other {self.rows_total:,} rows would move"
        if self.error_of == "rows":
            others = f"all {self.rows_of:,} rows, of which {len(self.grids[0].codes):,} were drawn, would move"
        if len(self.rows) <= 1:
            yield Hint("error", "warning", f"stands on {['no row', 'one row'][len(self.rows)]}: its error is unknown")
        elif shape > ERROR * span and max(span, self.heterogeneity[k]) >= MATTERS * self.spread[k]:
            text = f"{others} its shape by about ±{_short(shape)}; it spans {_short(span)}"
            yield Hint("error", "warning" if shape >= ERROR_MUCH * span else "note", text)
        elif error > ERROR * max(span, self.spread[k]):
            yield Hint("error", "note", f"{others} it by about ±{_short(error)}")


@dataclass(frozen=True, repr=False)
class PairTrust(Trust):
    """How far the partial dependence on a pair can be trusted; NaN where it cannot be told."""

    association: float
    """Association of the two features, 0 to 1; see ``association.association``."""
    association_chance: float
    """The most that chance explains."""
    empty_cells: float
    """Share of the grid's cells that no row is nearest to."""
    empty_cells_expected: float
    """What it would be on average if the features were independent."""
    counts: np.ndarray = field(repr=False)
    """(K1, K2) rows nearest to each of the grid's cells."""
    h2: np.ndarray
    """(n_outputs,) H-statistic, squared: interaction's share of the joint effect; above 1 only when the features depend on each other."""
    h2_stderr: np.ndarray
    strength: np.ndarray
    """(n_outputs,) root of the interaction's variance; unit of the response."""

    _by_output: ClassVar[tuple[str, ...]] = ("h2", "h2_stderr", "strength")

    @property
    def dependent(self) -> np.ndarray:
        """(n_outputs,) bool: ``h2`` above 1, as in ``Interactions``."""
        return self.h2 > 1 + 1e-9

    def _single(self) -> dict[str, Any]:
        names = ("association", "empty_cells", "empty_cells_expected")
        return {name: getattr(self, name) for name in names}

    def _hints(self, k: int) -> Iterator[Hint]:
        more = self.empty_cells - self.empty_cells_expected >= EMPTY
        if self.association >= max(MOVES_WITH, self.association_chance):
            text = f"{' and '.join(self.features)} move together ({_decimal(self.association)} of at most 1)"
            if more:
                text += ": the surface averages over rows that hardly exist; compare ALE"
            yield Hint("association", "warning" if more else "note", text)
        if self.h2[k] > 1 + max(1e-9, H2_SIGMAS * np.nan_to_num(self.h2_stderr[k])):
            text = "more interaction than joint effect: the two features depend on each other, or do next to nothing together"
            yield Hint("dependence", "warning", text)
        if more:
            text = f"{_percent(self.empty_cells)} of the cells hold no row"
            if self.empty_cells_expected >= 0.005:
                text += f" ({_percent(self.empty_cells_expected)} would if the features were independent)"
            yield Hint("empty", "note", text)


# ---- words ---------------------------------------------------------------------------------------


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _decimal(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _short(value: float) -> str:
    """Return a number with two significant digits."""
    return f"{float(f'{value:.2g}'):g}"


def _thin_text(grid: Grid, thin: np.ndarray, n: int) -> str:
    """Say where few rows are."""
    if thin.all():
        return f"few rows everywhere ({n:,} in all)"
    labels = objects(grid.labels)
    if grid.kind == "category":
        return f"few rows with {_listed(labels[thin])}"
    missing = "without a value" if grid.missing >= 0 and thin[grid.missing] else ""
    order = np.argsort(grid.positions, kind="stable")[: int(grid.ordered.sum())]  # a missing level sorts last
    flags, labels = thin[order], labels[order]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int))).reshape(-1, 2)
    places = [_stretch(labels, start, end) for start, end in edges]
    if len(places) > _MOST_STRETCHES:
        places = [f"near {int(flags.sum())} of {len(flags)} grid points"]
    dashed = ": dashed there" if places and not flags.all() else ""
    return f"few rows {', and '.join([*places, missing] if missing else places)}{dashed}"


def _stretch(labels: np.ndarray, start: int, end: int) -> str:
    """Say where a stretch of grid points lies, by the nearest points that are not in it."""
    if start == 0 and end == len(labels):
        return "with a value"
    if end == len(labels):
        return f"beyond {labels[start - 1]}"
    if start == 0:
        return f"below {labels[end]}"
    return f"between {labels[start - 1]} and {labels[end]}"


def _listed(names: Sequence[str], most: int = 3) -> str:
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more levels"
