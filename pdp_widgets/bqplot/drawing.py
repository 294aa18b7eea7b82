"""Figures of bqplot, and what each of them was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from pdp_widgets.figures import describe

from .plan import Part, Plan, plan

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from pdp_widgets.figures import Figure


FOLLOWED = {
    "PartialDependence": "heatmap",
    "Importance": "importance",
    "Interactions": "interactions",
    "Rules": "rules",
}
"""What a widget computes, and the panel that does it (partial dependence: that of a pair)."""


class Drawn(NamedTuple):
    """What a figure was made of."""

    content: Figure
    plan: Plan
    scales: dict[str, Any]
    marks: dict[str, Any]
    axes: dict[str, Any]
    source: Source | None
    """The result that it shows; None where only its content is known."""


class Source(NamedTuple):
    """What has to be known of a result to draw a newer one in its place, without keeping it."""

    kind: str
    """Its class."""
    options: dict[str, Any]
    """What was asked to be drawn of it."""
    features: tuple[str, ...]
    subgroup: str | None
    progress: tuple[int, int]
    """See ``progress``."""

    @classmethod
    def of(cls, result: Any, options: dict[str, Any]) -> Source | None:
        """Return what is kept of a result; None of those that a widget does not compute."""
        kind = type(result).__name__
        if kind not in FOLLOWED:
            return None
        return cls(kind, options, getattr(result, "features", ()), result.subgroup, progress(result))


_DRAWN: WeakKeyDictionary[Any, Drawn] = WeakKeyDictionary()


def figure(result: Any, **options: Any) -> Any:
    """Return a result as a ``bqplot.Figure``.

    Parameters
    ----------
    result : result object
        Whatever ``Explainer`` returns, rules and their importances: curves with band and sampled ICE, heat maps, or bars with
        whiskers (standard errors).
    **options
        What to draw of it; see ``pdp_widgets.figures.Drawable``.

    Returns
    -------
    bqplot.Figure

    Raises
    ------
    TypeError
        For something without a figure, and for an option that it does not have.
    ImportError
        Where bqplot cannot be imported.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> result = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
    >>> shown = figure(result, ice=False)
    >>> shown.title, shown.marks[0].x.tolist(), shown.marks[0].y.tolist()
    ('x0 (2 of 2 rows)', [0.0, 1.0], [0.0, 2.0])
    """
    return draw(describe(result, **options), Source.of(result, options))


def draw(content: Figure, source: Source | None = None) -> Any:
    """Return a figure of what was described."""
    drawing = plan(content)
    scales = {name: made(part) for name, part in drawing.scales.items()}
    marks = {name: made(part, scales) for name, part in drawing.marks.items()}
    axes = {name: made(part, scales) for name, part in drawing.axes.items()}
    look = drawing.figure.look
    shown = library().Figure(marks=list(marks.values()), axes=list(axes.values()), **drawing.figure.data, **look)
    remember(shown, Drawn(content, drawing, scales, marks, axes, source))
    return shown


def remember(shown: Any, made_of: Drawn) -> None:
    """Note what a figure is made of."""
    _DRAWN[shown] = made_of


def drawn(shown: Any) -> Drawn | None:
    """Return what a figure was made of, None when it was not made here."""
    return _DRAWN.get(shown)


def made(part: Part, scales: Mapping[str, Any] | None = None) -> Any:
    """Return a scale, mark or axis of bqplot; ``scales`` are those of the figure."""
    own: dict[str, Any] = {name: (scales or {})[of] for name, of in part.scales.items()}
    if own and "scale" not in own:
        own = {"scales": own}
    return getattr(library(), part.kind)(**part.data, **part.look, **own)


def progress(result: Any) -> tuple[int, int]:
    """Return how many rows a result stands on, and how many of its parts are there: of two for the same the larger one is newer."""
    rows = next((getattr(result, name) for name in ("rows_done", "n_rows") if hasattr(result, name)), None)
    if rows is None:
        rows = len(getattr(result, "rows", ()))
    computed = getattr(result, "computed", np.zeros(0))
    return int(rows), int(getattr(result, "pairs_done", np.count_nonzero(computed)))


def library() -> ModuleType:
    """Return bqplot.

    Raises
    ------
    ImportError
        Where it cannot be imported.
    """
    try:
        import bqplot
    except ImportError as error:
        raise ImportError(
            f"figures of bqplot need the package bqplot, which cannot be imported here ({error}): python -m pip install bqplot; "
            ".plot() draws with matplotlib instead"
        ) from error
    return bqplot
