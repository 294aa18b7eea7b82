"""What a figure is made of: named numbers, and nothing of how a library draws them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pdp_widgets.inputs.columns import objects
from pdp_widgets.inputs.errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdp_widgets.inputs import Grid
    from pdp_widgets.inputs.conditions import Node

INK = "#1a1d21"
"""All rows."""
SELECTED, REST = "#2556e8", "#8a6a24"
"""The selected rows and the others, as in the widget."""
ICE = "#8a8f98"
"""Single rows."""
MUTED = "#5c646e"
"""What stands behind something else."""
COLOURS = ("#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#e69f00", "#a89500")
"""For groups: Okabe & Ito (2008), told apart by the colour-blind; their yellow darker, for white paper. In the page's order."""
CIVIDIS = (
    "#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
)  # fmt: skip
"""For values: Nuñez, Anderton & Renslow (2018), even for the colour-blind; the page's stops."""
DIVERGING = ("#4b2a86", "#8073ac", "#c6c0dd", "#f4f4f5", "#fbd2a0", "#e08a2c", "#8f4a06")
"""For what has a zero in the middle; the widget's."""
POSITIVE, NEGATIVE = "#e08a2c", "#8073ac"
"""Signs, in the same two hues."""
PLAIN = "#0072B2"
"""Bars without a sign."""

MS = {"days": 86_400_000.0, "hours": 3_600_000.0, "minutes": 60_000.0, "seconds": 1000.0, "ms": 1.0}


@dataclass(frozen=True)
class Axis:
    """Where things stand along an axis."""

    label: str
    kind: Literal["number", "datetime", "category"]
    values: np.ndarray
    """(K,) float64, datetime64[ms] or texts."""
    unit: float = 1.0
    """What 1 is in the unit of ``Grid.positions``: durations are counted in days, hours, ... here and in ms there."""
    data: tuple[float, float] | None = None
    """Where the rows' own values begin and end, in the unit of ``Grid.positions``; None where that means nothing."""
    whole: bool = False
    """Whether there are whole numbers only, and none between them is to be marked."""


@dataclass(frozen=True)
class Series:
    """One curve."""

    y: np.ndarray
    """(K,) NaN where there is nothing."""
    name: str = ""
    colour: str = INK
    stderr: np.ndarray | None = None
    """(K,) half the height of its band; None for none."""
    missing: float | None = None
    """Its level at a missing value, which has no place on a number axis."""
    dashed: bool = False
    n: int | None = None
    """Rows that it stands on, where that is written at its end."""
    about: bool = False
    """Whether ``n`` is a guess."""
    x: np.ndarray | None = None
    """(K,) its own places in the unit of ``Grid.positions``; None for those of the axis."""
    thin: np.ndarray | None = None
    """(K,) bool: where few rows are, so that it is dashed there; None for nowhere."""
    missing_thin: bool = False
    width: float = 2.2
    beside: tuple[int, int] = (1, 3)
    """Where its marks stand on a level: the how-manieth of how many places side by side."""


@dataclass(frozen=True)
class Curves:
    """Curves over one axis."""

    x: Axis
    label: str
    series: tuple[Series, ...]
    title: str
    individual: np.ndarray | None = field(default=None, repr=False)
    """(m, K) curves of single rows."""
    feature: str = ""
    """The feature along the axis."""
    live: bool = False
    """Whether a widget can keep them up to date: the partial dependence of one output."""
    individual_missing: np.ndarray | None = field(default=None, repr=False)
    """(m,) their level at a missing value."""
    tints: tuple[str, ...] | None = field(default=None, repr=False)
    """(m,) their colours; None for one colour."""
    chosen: np.ndarray | None = field(default=None, repr=False)
    """(m,) bool: which of them are of selected rows; None for none."""
    legend: tuple[tuple[str, str], ...] = ()
    """What their colours mean: names and colours."""
    limits: tuple[float, float] | None = None
    """What is to be seen of them, where a few are far away."""
    zero: bool = False
    """Whether there is a line at 0."""


@dataclass(frozen=True)
class Surface:
    """Numbers over two axes."""

    x: Axis
    y: Axis
    label: str
    values: np.ndarray
    """(Kx, Ky) NaN where not computed."""
    title: str
    diverging: bool = False
    diagonal: np.ndarray | None = None
    """(K,) other numbers along the diagonal, where ``values`` has none: a matrix of features."""
    diagonal_label: str = ""


@dataclass(frozen=True)
class Cells(Surface):
    """A surface as the page has it: missing values in cells of their own, contour lines, and where the rows are.

    Along each axis of numbers whose ``apart`` is true, the first row or column of ``cells`` is that of a missing value.
    """

    apart: tuple[bool, bool] = (False, False)
    cells: np.ndarray = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    """(Kx (+ 1), Ky (+ 1)) all values."""
    empty: np.ndarray | None = field(default=None, repr=False)
    """Of the shape of ``cells``: in which of them, and beside which, there is no row."""
    domain: tuple[float, float] | None = None
    """Ends of the scale of colours; None for those of the values."""
    spread: tuple[Spread | None, Spread | None] = (None, None)
    """How the rows spread along each axis."""


@dataclass(frozen=True)
class Spread:
    """How rows spread along an axis."""

    edges: np.ndarray | None
    """(B + 1,) in the unit of ``Grid.positions``; None for one count per level."""
    counts: np.ndarray
    """(B,), and one more where some are missing."""
    selected: np.ndarray | None = None
    """The same of the selected rows."""


@dataclass(frozen=True)
class Bars:
    """One bar per name, the first one on top."""

    names: tuple[str, ...]
    values: np.ndarray
    label: str
    title: str
    stderr: np.ndarray | None = None
    """Half the length of whiskers, NaN for none; None for none at all."""
    features: tuple[str, ...] = ()
    """The feature that each bar is of, where bars are of features."""
    pairs: tuple[tuple[str, ...], ...] = ()
    """The two features that each bar is of, where bars are of pairs."""
    rules: tuple[Node | None, ...] = field(default=(), repr=False)
    """The condition that each bar is of, where bars are of rules about columns of X; None for terms that are none."""


@dataclass(frozen=True)
class Histogram:
    """How often numbers occur, and some that are looked at."""

    label: str
    edges: np.ndarray
    """(B + 1,)"""
    counts: np.ndarray
    """(B,)"""
    counted: str
    """What is counted."""
    title: str
    lines: tuple[tuple[str, float, str], ...] = ()
    """Upright lines: name, place and colour."""


Figure = Curves | Surface | Bars | Histogram


def axis_of(grid: Grid) -> tuple[Axis, np.ndarray]:
    """Return the axis of a grid and, in its order, the indices of the grid points that stand on it.

    A missing value is a level of a category and has no place among numbers, unless nothing else is known of a feature.
    """
    if grid.kind != "category" and grid.missing >= 0 and not grid.ordered.any():
        return axis(grid.feature.name, "category", grid.positions, ["missing"]), np.array([grid.missing])
    points = np.arange(grid.size) if grid.kind == "category" else np.flatnonzero(grid.ordered)
    if grid.kind != "category":
        points = points[np.argsort(grid.positions[points], kind="stable")]
    found = axis(grid.feature.name, grid.kind, grid.positions[points], objects(grid.labels)[points])
    if grid.kind == "category":
        return found, points
    known = grid.codes[np.isfinite(grid.codes)]
    half = 0.5 if grid.feature.kind == "integer" else 0.0
    return (
        replace(found, data=(float(known.min()) - half, float(known.max()) + half)) if len(known) else found
    ), points


def axis(name: str, kind: str, positions: np.ndarray, labels: Sequence[str] | np.ndarray) -> Axis:
    """Return an axis from positions (dates and durations in ms, as grids have them) or, of a category, labels."""
    if kind == "category":
        return Axis(name, "category", np.array(distinct([str(label) for label in labels]), dtype=str))
    if kind == "datetime":
        return Axis(name, "datetime", np.asarray(positions).astype("datetime64[ms]"))
    if kind == "timedelta":
        far = np.abs(positions).max(initial=0.0)
        name_of_unit = next((name for name, ms in MS.items() if far >= 2 * ms), "ms")
        return Axis(f"{name} ({name_of_unit})", "number", positions / MS[name_of_unit], MS[name_of_unit])
    return Axis(name, "number", np.asarray(positions, dtype=float))


def distinct(names: Sequence[str], most: int = 0) -> tuple[str, ...]:
    """Return names that differ from each other, cut to ``most`` characters (0: not cut)."""
    found: dict[str, None] = {}
    for name in names:
        short = name if not most or len(name) <= most else f"{name[: most - 1]}…"
        serial = 1
        unique = short
        while unique in found:
            serial += 1
            unique = f"{short} ({serial})"
        found[unique] = None
    return tuple(found)


def colour_of(k: int) -> dict[str, Any]:
    """Return colour and stroke of the k-th group; after all colours once, they come again dashed. The page's rule."""
    return {"colour": COLOURS[k % len(COLOURS)], "dashed": k >= len(COLOURS)}


def mixed(stops: Sequence[str], share: float) -> str:
    """Return a colour between the stops, 0 the first and 1 the last."""
    at = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    k = min(int(at), len(stops) - 2)
    pairs = [(int(stops[k][i : i + 2], 16), int(stops[k + 1][i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * (at - k)):02x}" for a, b in pairs)


def known(name: str, given: str, known: tuple[str, ...]) -> None:
    """Make sure that an option has one of its values."""
    if given not in known:
        raise unknown_name(name, given, known, f"one of {', '.join(known)}")
