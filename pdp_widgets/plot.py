"""Results drawn with matplotlib, for papers (extra ``plot``).

What is drawn is said in ``pdp_widgets.figures``; the axes are the user's to restyle and to save.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import Axis, Bars, Curves, Histogram, Surface, describe
from .figures.parts import CIVIDIS, DIVERGING, ICE, NEGATIVE, PLAIN, POSITIVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot"]

_MARKERS = "osD^vP"
_NOT_COMPUTED = "#e4e6ea"


def plot(result: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw a result and return the axes.

    Parameters
    ----------
    result : result object
        Whatever ``Explainer`` returns, rules and their importances.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a figure of its own.
    **options
        What to draw of it; see ``pdp_widgets.figures.Drawable``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        For something without a figure, and for an option that it does not have.
    ImportError
        Without matplotlib.

    Examples
    --------
    >>> axes = plot(explainer.partial_dependence("bmi"))  # doctest: +SKIP
    >>> axes.figure.savefig("bmi.pdf")  # doctest: +SKIP
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f'plot() needs matplotlib, which cannot be imported here ({error}): python -m pip install "pdp_widgets[plot]"; '
            "to_bqplot() draws without it"
        ) from error
    content = describe(result, **options)
    if ax is None:
        size = (6.4, max(2.0, 1.2 + 0.28 * len(content.names))) if isinstance(content, Bars) else (5.2, 3.6)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    if isinstance(content, Curves):
        _curves(content, ax)
    elif isinstance(content, Surface):
        _surface(content, ax)
    elif isinstance(content, Histogram):
        _histogram(content, ax)
    else:
        _bars(content, ax)
    ax.set_title(content.title, fontsize="medium")
    return ax


def _curves(content: Curves, ax: Axes) -> None:
    x, categories = _places(content.x), content.x.kind == "category"
    alone = len(x) == 1  # a line has two ends: one point is drawn as a point
    if content.individual is not None:
        marker = "." if alone else ""
        ax.plot(x, content.individual.T, marker=marker, color=ICE, alpha=0.35, linewidth=0.5, zorder=1)
    for k, series in enumerate(content.series):
        # A name with an underscore in front would be left out of the legend, as matplotlib does.
        name = series.name or "average"
        if categories or alone:
            marker = _MARKERS[k % len(_MARKERS)]
            ax.errorbar(
                x, series.y, yerr=series.stderr, color=series.colour, fmt=marker, capsize=3, label=name, zorder=3
            )
        else:
            style = "--" if series.dashed else "-"
            ax.plot(x, series.y, style, color=series.colour, linewidth=1.8, label=name, zorder=3)
            if series.stderr is not None:
                low, high = series.y - series.stderr, series.y + series.stderr
                ax.fill_between(x, low, high, color=series.colour, alpha=0.15, linewidth=0, zorder=2)
        if series.missing is not None:
            missing = f"{series.name}, missing" if series.name else "missing"
            along = _edges(x) if alone else x
            level = np.full(len(along), series.missing)
            ax.plot(along, level, ":", color=series.colour, linewidth=1, label=missing, zorder=2)
    if len(content.series) > 1 or any(series.missing is not None for series in content.series):
        ax.legend(fontsize="small", frameon=False)
    _say(ax.xaxis, content.x)
    ax.set_ylabel(content.label)
    _frame(ax)


def _surface(content: Surface, ax: Axes) -> None:
    known = content.values[np.isfinite(content.values)]
    far = float(np.abs(known).max(initial=0.0)) or 1.0
    limits = {"vmin": -far, "vmax": far} if content.diverging else {}
    ax.set_facecolor(_NOT_COMPUTED)
    mesh = _cells(content, content.values, DIVERGING if content.diverging else CIVIDIS, ax, **limits)
    ax.figure.colorbar(mesh, ax=ax, label=content.label)
    if content.diagonal is not None:
        values = np.where(np.eye(len(content.diagonal), dtype=bool), np.diag(content.diagonal), np.nan)
        mesh = _cells(content, values, ("#f4f4f5", "#595959"), ax)
        ax.figure.colorbar(mesh, ax=ax, label=content.diagonal_label)
    if not content.x.label:  # a matrix reads from the top
        ax.invert_yaxis()
        ax.tick_params(axis="x", rotation=45)
    _say(ax.xaxis, content.x)
    _say(ax.yaxis, content.y)


def _cells(content: Surface, values: np.ndarray, colours: tuple[str, ...], ax: Axes, **limits: Any) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colour = LinearSegmentedColormap.from_list("pdp_widgets", list(colours))
    x, y = _edges(_places(content.x)), _edges(_places(content.y))
    return ax.pcolormesh(x, y, np.ma.masked_invalid(values.T), cmap=colour, **limits)


def _bars(content: Bars, ax: Axes) -> None:
    at = np.arange(len(content.names))
    signed = bool((content.values < 0).any())
    colours = [NEGATIVE if value < 0 else POSITIVE for value in content.values] if signed else PLAIN
    whiskers = None if content.stderr is None else np.nan_to_num(content.stderr)
    ax.barh(at, content.values, color=colours, height=0.7, xerr=whiskers, error_kw={"linewidth": 1, "capsize": 2})
    ax.set_yticks(at, content.names, fontsize="small")
    ax.invert_yaxis()  # the first one on top
    if signed:
        ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel(content.label)
    _frame(ax)


def _histogram(content: Histogram, ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.stairs(content.counts, content.edges, fill=True, color=ICE, alpha=0.5)
    for name, value, colour in content.lines:
        ax.axvline(value, color=colour, linewidth=1.8, label=name)
    ax.legend(fontsize="small", frameon=False)
    ax.set_xlabel(content.label)
    ax.set_ylabel(content.counted)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    _frame(ax)


def _places(axis: Axis) -> np.ndarray:
    return np.arange(len(axis.values), dtype=float) if axis.kind == "category" else axis.values


def _edges(at: np.ndarray) -> np.ndarray:
    """Return where cells around places end, half way between them."""
    if len(at) == 1:
        around: Any = np.timedelta64(12, "h") if at.dtype.kind == "M" else 0.5
        return np.array([at[0] - around, at[0] + around])
    half = np.diff(at) / 2
    return np.concatenate([at[:1] - half[:1], at[:-1] + half, at[-1:] + half[-1:]])


def _say(axis: Any, content: Axis) -> None:
    axis.set_label_text(content.label)
    if content.kind == "category":
        axis.set_ticks(np.arange(len(content.values)), content.values.tolist())
    elif content.kind == "datetime":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
        axis.set_major_locator(locator)
        axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _frame(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
