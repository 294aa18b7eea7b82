"""Curves and surfaces: figures of effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.explain.results import in_words
from pdp_widgets.inputs import InputError

from .parts import INK, REST, SELECTED, Curves, Series, Surface, axis, axis_of, colour_of, known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pdp_widgets.explain.ale import ALE
    from pdp_widgets.explain.comparison_results import Aligned, Comparison, GroupedDependence
    from pdp_widgets.explain.decomposition import Decomposition
    from pdp_widgets.explain.region_results import Regions
    from pdp_widgets.explain.residuals import ObservedOutcome
    from pdp_widgets.explain.results import PartialDependence
    from pdp_widgets.inputs import Grid

MOST_CURVES = 200


# ---- partial dependence ------------------------------------------------------------------------


def partial_dependence(result: PartialDependence, *, output: Any = None, ice: bool | int = True) -> Curves | Surface:
    """Return the curves of a feature, one per output, or the surface of a pair for one output.

    Parameters
    ----------
    result : PartialDependence
    output : name, class label or position, optional
        Show this one only. By default all; of two classes, and of a pair, one.
    ice : bool or int
        Draw curves of single rows, at most 200 or this many; only when a single output is shown.
    """
    result = shown(result, output, one=len(result.grids) == 2)
    title = f"{' × '.join(result.features)} ({rows_of(result)})"
    if len(result.grids) == 2:
        (x, first), (y, second) = (axis_of(grid) for grid in result.grids)
        values = result.average[0][np.ix_(first, second)]
        return Surface(x, y, in_words(result.scale, result.outputs), values, title)
    x, points = axis_of(result.grids[0])
    single = len(result.outputs) == 1
    series = [
        Series(
            average[points],
            "" if single else name,
            **({} if single else colour_of(k)),
            stderr=_band(stderr[points]),
            missing=missing_level(result.grids[0], average),
        )
        for k, (name, average, stderr) in enumerate(zip(result.outputs, result.average, result.stderr, strict=True))
    ]
    individual = result.individual if ice and single else None
    if individual is not None:
        individual = _spread(individual[0], MOST_CURVES if ice is True else int(ice))[:, points]
    return Curves(
        x, in_words(result.scale, result.outputs), tuple(series), title, individual, result.features[0], live=single
    )


def sides(results: Mapping[str, PartialDependence], *, ice: bool | int = True) -> Curves:
    """Return the curves of all rows, of the selected ones and of the rest, as ``PDPWidget.results`` has them (one feature)."""
    whole = partial_dependence(results["all"], ice=ice)
    assert isinstance(whole, Curves)
    _, points = axis_of(results["all"].grids[0])
    looks = {"selection": ("selected", SELECTED), "rest": ("rest", REST)}
    series = [Series(**{**vars(whole.series[0]), "name": "all rows"})]
    for key, (name, colour) in looks.items():
        if key in results:
            average = results[key].average[0]
            missing = missing_level(results[key].grids[0], average)
            n = results[key].n_rows_used
            series.append(
                Series(average[points], f"{name} (n = {n:,})", colour, _band(results[key].stderr[0][points]), missing)
            )
    return Curves(whole.x, whole.label, tuple(series), whole.title, whole.individual, whole.feature, live=True)


def grouped(result: GroupedDependence, *, output: Any = None) -> Curves:
    """Return one curve per level, of one output."""
    result = shown(result, output, one=True)
    names = [f"{result.by} {level} (n = {n:,})" for level, n in zip(result.levels, result.n.tolist(), strict=True)]
    return _aligned(result, names, f"{result.features[0]} by {result.by}", "level")


def comparison(result: Comparison, *, output: Any = None) -> Curves:
    """Return one curve per model, of one output."""
    result = shown(result, output, one=True)
    return _aligned(result, result.models, result.features[0], "model")


def _aligned(result: Aligned, names: Sequence[str], what: str, part: str) -> Curves:
    if len(result.grids) == 2:
        raise InputError(f"the surfaces of a pair do not fit into one figure; take one with .{part}(name)")
    x, points = axis_of(result.grids[0])
    series = [
        Series(one.average[0, points], name, **colour_of(k), stderr=_band(one.stderr[0, points]),
               missing=missing_level(result.grids[0], one.average[0]))
        for k, (name, one) in enumerate(zip(names, result.dependences, strict=True))
    ]  # fmt: skip
    title = f"{what} ({rows_of(result)})"
    return Curves(x, in_words(result.scale, result.outputs), tuple(series), title, feature=result.features[0])


def regions(result: Regions) -> Curves:
    """Return the curve of all rows and that of each region."""
    x, points = axis_of(result.grid)
    series = [
        Series(leaf.average[points], f"{name} (n = {leaf.n:,})", **look, stderr=_band(leaf.stderr[points]),
               missing=missing_level(result.grid, leaf.average))
        for leaf, name, look in [
            (result.root, "all rows", {"colour": INK}),
            *((leaf, leaf.condition, colour_of(k)) for k, leaf in enumerate(result.regions)),
        ]
    ]  # fmt: skip
    title = f"{result.feature} by region ({rows_of(result)})"
    return Curves(x, in_words(result.scale, result.outputs), tuple(series), title, feature=result.feature)


# ---- other effects -----------------------------------------------------------------------------


def ale(result: ALE, *, output: Any = None, what: str = "interaction") -> Curves | Surface:
    """Return the curve of a feature, one per output, or the surface of a pair for one output.

    Parameters
    ----------
    result : ALE
    output : name, class label or position, optional
    what : {"interaction", "total"}
        Of a pair: what the main effects do not hold, or all of it (where they were asked for).
    """
    known("what", what, ("interaction", "total"))
    result = shown(result, output, one=len(result.features) == 2)
    axes = [
        axis(name, kind, positions, labels)
        for name, kind, positions, labels in zip(
            result.features, result.kinds, result.positions, result.grid_labels, strict=True
        )
    ]
    label = f"effect on {in_words(result.scale, result.outputs)}"
    pure = len(axes) == 2 and what == "interaction"
    title = f"ALE of {' × '.join(result.features)}{', interaction only' if pure else ''} ({rows_of(result)})"
    if len(axes) == 2:
        values = (result.values if pure else result.total)[0]
        return Surface(axes[0], axes[1], label, values, title, diverging=True)
    single = len(result.outputs) == 1
    series = [
        Series(values, "" if single else name, **({} if single else colour_of(k)))
        for k, (name, values) in enumerate(zip(result.outputs, result.values, strict=True))
    ]
    return Curves(axes[0], label, tuple(series), title, feature=result.features[0])


def observed(result: ObservedOutcome, *, output: Any = None, what: str = "outcome") -> Curves:
    """Return the mean outcome beside the mean prediction, or what is between them, of one output.

    Parameters
    ----------
    result : ObservedOutcome
    output : name, class label or position, optional
    what : {"outcome", "residual"}
        Bands are the standard error of the residual.
    """
    known("what", what, ("outcome", "residual"))
    result = shown(result, output, one=True)
    x, points = axis_of(result.grid)
    error = result.residual_stderr[0, points]

    def series(values: np.ndarray, name: str, look: dict[str, Any], stderr: np.ndarray | None) -> Series:
        return Series(values[0, points], name, **look, stderr=stderr, missing=missing_level(result.grid, values[0]))

    title = f"{result.feature} ({rows_of(result)})"
    words = in_words(result.scale, result.outputs)
    if what == "residual":
        both: tuple[Series, ...] = (series(result.residual, "", {}, error),)
        words = f"outcome − {words}"
    else:
        both = (
            series(result.predicted, "predicted", {}, None),
            series(result.observed, "observed", colour_of(1), error),
        )
    return Curves(x, words, both, title, feature=result.feature)


def decomposition(result: Decomposition, *, output: Any = None, what: str = "interaction") -> Surface:
    """Return the surface of the pure interaction of one output, or that of the joint effect.

    Parameters
    ----------
    result : Decomposition
    output : name, class label or position, optional
    what : {"interaction", "joint"}
    """
    known("what", what, ("interaction", "joint"))
    result = shown(result, output, one=True)
    (x, first), (y, second) = (axis_of(grid) for grid in result.grids)
    values = (result.interaction if what == "interaction" else result.joint)[0][np.ix_(first, second)]
    label = in_words(result.scale, result.outputs)
    pure = what == "interaction"
    names = " × ".join(result.features)
    start = "" if result.reference is None or not pure else f", from {' and '.join(map(str, result.reference))}"
    title = f"{names}{', interaction only' if pure else ''}{start}{_parenthesis(result.rows_in_words)}"
    return Surface(x, y, f"effect on {label}" if pure else label, values, title, diverging=pure)


# ---- helpers -----------------------------------------------------------------------------------


def shown(result: Any, output: Any, *, one: bool) -> Any:
    """Return the result of the output asked for; by default of all, of two classes of the second, or of one."""
    if output is not None:
        return result.output(output)
    if len(result.outputs) == 2 and len(result.labels) == 2:
        return result.output(result.outputs[1])  # the other one is its mirror image
    return result.output(result.outputs[0]) if one and len(result.outputs) > 1 else result


def rows_of(result: Any) -> str:
    """Return how many rows a result stands on, and which."""
    n = getattr(result, "n_rows_used", None)
    if n is None:
        n = len(result.rows) if hasattr(result, "rows") else result.rows_done
    parts = [f"{n:,} of {result.rows_total:,} rows"]
    if hasattr(result, "rows_in_words"):
        parts += result.rows_in_words
    else:
        parts += [f"subgroup {result.subgroup}"] * (result.subgroup is not None) + ["weighted"] * result.weighted
    return ", ".join(parts)


def _parenthesis(parts: list[str]) -> str:
    return f" ({', '.join(parts)})" if parts else ""


def _band(stderr: np.ndarray) -> np.ndarray | None:
    """Return the errors that make a band; an average of all rows has none."""
    return stderr if np.isfinite(stderr).all() and (stderr > 0).any() else None


def missing_level(grid: Grid, values: np.ndarray) -> float | None:
    """Return a curve's level at a missing value, which has no place on a number axis."""
    placed = grid.missing < 0 or grid.kind == "category" or not grid.ordered.any()  # the axis has it, if there is any
    return None if placed else float(values[grid.missing])


def _spread(curves: np.ndarray, most: int) -> np.ndarray:
    """Return so many curves, evenly spaced in the order of their means, so that the sample shows the whole spread."""
    order = np.argsort(curves.mean(axis=1), kind="stable")
    return curves[order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]]
