"""Accumulated local effects (ALE) of a feature or a pair: Apley & Zhu (2020).

Each row is moved only between the two values that enclose its own, so no row is asked about far from where the data are. The
differences of the model's answers are averaged per step, accumulated over the steps, and centred. A feature is laid out on an axis
of K points with K - 1 steps between neighbours: of a number or date the points are observed quantiles, and a row belongs to one step;
of a category they are its levels, in order, and a row belongs to the steps to the level before and after. A pair is the product of
two axes. All rules follow from that, for any mix of kinds. Between its points an ALE is linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd

from pdp_widgets.compute.chunks import PATIENT_SECONDS, TARGET_SECONDS
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.columns import AxisKind, objects

from .ale_axes import corners, place
from .ale_work import Work
from .explanation import Explanation
from .progress import bar
from .results import in_words

if TYPE_CHECKING:
    from .explainer import Explainer


@dataclass(frozen=True)
class ALE(Explanation):
    """Accumulated local effect of a feature, or the pure second-order effect of a pair, in the unit of the response.

    Where shapes say ``K - 1``, a pair has ``K1 - 1, K2 - 1``. Steps lie between neighbouring points.
    """

    features: tuple[str, ...]
    kinds: tuple[AxisKind, ...]
    grid_values: list[np.ndarray]
    """Per feature (K,) points: bin edges, which are observed values in the column's dtype, or levels in the order used."""
    grid_labels: list[list[str]] = field(repr=False)
    """The same as texts."""
    positions: list[np.ndarray] = field(repr=False)
    """The same as numbers: dates and durations in ms, levels 0, 1, 2, ..."""
    values: np.ndarray
    """(n_outputs, K) or (n_outputs, K1, K2); the weighted mean over the rows is zero. Of a pair, so is the ALE of either
    feature in it: it is what the main effects do not hold."""
    effects: np.ndarray = field(repr=False)
    """(n_outputs, K - 1) mean difference of each step (of a pair: second-order difference of each cell of steps)."""
    effect_stderr: np.ndarray = field(repr=False)
    """Same shape: standard error of ``effects``, with the rows as a sample of a population; NaN below two rows."""
    counts: np.ndarray = field(repr=False)
    """Rows per bin of a number (K - 1, or one bin when it is constant) and per level of a category (K)."""
    empty: np.ndarray = field(repr=False)
    """(K - 1) bool: steps without rows, which take the effect of the nearest step that has some."""
    rows: np.ndarray = field(repr=False)
    """(m,) positions of the rows averaged over, ascending."""
    codes: list[np.ndarray] = field(repr=False)
    """Per feature (m,) where these rows lie, in the unit of ``positions``."""
    rows_total: int
    """Rows there are in all (in the subgroup)."""
    rows_missing: int
    """Rows left out because they have no value."""
    rows_infinite: int
    """Rows left out because their value is infinite."""
    rows_weightless: int
    """Rows left out because their weight is zero."""
    rows_omitted: int
    """Rows left out because the model predicted NaN or infinity."""
    main: tuple[ALE, ALE] | None = field(default=None, repr=False)
    """Of a pair, on request: the ALE of each feature at the same points from the same rows."""

    _by_output: ClassVar[tuple[str, ...]] = ("values", "effects", "effect_stderr")

    @property
    def rows_left_out(self) -> int:
        """Return how many rows the model was not asked about."""
        return self.rows_missing + self.rows_infinite + self.rows_weightless

    @property
    def rows_done(self) -> int:
        """Return how many rows are averaged over, or left out."""
        return len(self.rows) + self.rows_omitted + self.rows_left_out

    @property
    def complete(self) -> bool:
        """Return whether all rows are in."""
        return self.rows_done >= self.rows_total

    @property
    def order(self) -> dict[str, list[Any]]:
        """Return the order of levels of each category, as the argument ``order`` takes it."""
        return {
            name: values.tolist()
            for name, kind, values in zip(self.features, self.kinds, self.grid_values, strict=True)
            if kind == "category"
        }

    @property
    def row_values(self) -> np.ndarray:
        """(n_outputs, m) the ALE at the values of ``rows``, linear between the points."""
        places = [place(p, c) for p, c in zip(self.positions, self.codes, strict=True)]
        found = np.zeros((len(self.values), len(self.rows)))
        for at, share in corners(places):
            index: tuple[Any, ...] = (slice(None), *at)
            found += self.values[index] * share
        return found

    @property
    def total(self) -> np.ndarray:
        """(n_outputs, K1, K2) second-order effect with both main effects.

        Raises
        ------
        InputError
            Without main effects.
        """
        if self.main is None:
            raise InputError("the total effect of a pair needs its main effects: ask for ale((a, b), main=True)")
        first, second = self.main
        return self.values + first.values[:, :, None] + second.values[:, None, :]

    def output(self, name: Any) -> Self:
        """Return the result of one output only, by name, class label or position."""
        one = super().output(name)
        return one if one.main is None else replace(one, main=(one.main[0].output(name), one.main[1].output(name)))

    def to_frame(self) -> pd.DataFrame:
        """Return one tidy row per output and point: the values and ``ale``, then what lies in the step that ends there.

        ``n_rows`` counts the rows of a number's bin that ends at the point, or of a category's level. ``effect`` and
        ``effect_stderr`` belong to the step that ends at the point (NaN at the first), and ``empty`` says whether it has
        no rows. ``total`` includes main effects, where there are some. A statistic's column gets a trailing underscore
        where a feature has its name.
        """
        taken = set(self.features)

        def free(name: str) -> str:
            return free(f"{name}_") if name in taken else name

        shape = self.values.shape[1:]
        cells = [index.ravel() for index in np.indices(shape)]
        n_outputs, n_cells = len(self.outputs), cells[0].size
        columns: dict[str, Any] = {free("output"): np.repeat(objects(self.outputs), n_cells)}
        for name, values, index in zip(self.features, self.grid_values, cells, strict=True):
            columns[name] = pd.Series(values).iloc[np.tile(index, n_outputs)].reset_index(drop=True)
        columns[free("ale")] = self.values.ravel()
        if self.main is not None:
            columns[free("total")] = self.total.ravel()

        def led(array: np.ndarray, filler: Any) -> np.ndarray:
            """Put something in front for the first points, where no step ends."""
            before = [(0, 0)] * (array.ndim - len(shape))
            missing = [(k - have, 0) for k, have in zip(shape, array.shape[-len(shape) :], strict=True)]
            return np.pad(array, before + missing, constant_values=filler)

        columns[free("n_rows")] = np.tile(led(self.counts, 0).ravel(), n_outputs)
        columns[free("effect")] = led(self.effects, np.nan).ravel()
        columns[free("effect_stderr")] = led(self.effect_stderr, np.nan).ravel()
        columns[free("empty")] = np.tile(led(self.empty, filler=False).ravel(), n_outputs)
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        """Say what it is, on how many rows and on which scale."""
        names = " x ".join(repr(name) for name in self.features)
        sizes = (
            "constant" if len(points) == 1 else f"{len(points)} {'levels' if kind == 'category' else 'edges'}"
            for points, kind in zip(self.positions, self.kinds, strict=True)
        )
        parts = [in_words(self.scale, self.outputs), " x ".join(sizes)]
        parts.append(f"{len(self.rows)} of {self.rows_total} rows" + ("" if self.complete else " so far"))
        for number, why in (
            (self.rows_missing, "without a value"),
            (self.rows_infinite, "with an infinite value"),
            (self.rows_weightless, "of weight zero"),
            (self.rows_omitted, "without a finite prediction"),
        ):
            if number:
                parts.append(f"{number} rows {why} left out")
        if self.empty.any():
            parts.append(f"{int(self.empty.sum())} of {self.empty.size} cells empty")
        parts += self.rows_in_words
        return f"<ALE of {names}: {'; '.join(parts)}>"


def ale(
    explainer: Explainer,
    features: Any,
    *,
    bins: int | tuple[int, int] | None = None,
    order: Sequence[Any] | Mapping[Any, Sequence[Any]] | None = None,
    main: bool = False,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
) -> ALE:
    """Return the accumulated local effect of a feature, or the second-order effect of a pair.

    Apley & Zhu (2020), equation 15 and those that follow, up to the second-order effects. The estimate is taken as linear between its
    points and centred by its weighted mean at the rows' own values, so that the effect of a linear model is its line exactly; the
    paper's own estimate is a step function, which lags by half a bin. Likewise a pair's main effects are taken out at the rows' own
    values. Cells of a pair without rows take the difference of the cell with the nearest centre, in units of the features' ranges,
    and are marked in ``empty``. Rows whose value is missing or infinite are left out and counted, and so are rows of weight zero.

    Asks the model about at most two rows per row of X for a number or date, three for a category (two, when its own predictions are
    known already), four for two numbers, six for a number and a category, nine for two categories. ``main`` adds those of either
    feature.

    Parameters
    ----------
    explainer : Explainer
    features : name, or (name, name)
        Numbers, dates, categories, bools and one-hot groups, in any mix.
    bins : int or (int, int), optional
        Bins of a number or date: 40, or 20 each for a pair. Edges are the observed values at equally spaced (weighted) quantiles, the
        smallest value first; ties give fewer bins. A bin includes its upper edge, the first one both. A constant feature is one point.
    order : sequence, or mapping of name to sequence, optional
        The levels of a category in the caller's order. Default: the order of an ordered categorical column; else by similarity of all
        other features, see ``similarity``.
    main : bool
        With a pair, also compute the two main effects.
    subgroup : mask, query string or object with ``.mask``, optional
        Use these rows only, for bins and levels, too.
    output : name, class label or position, optional
        Return this output only.
    progress : bool, optional
        Show a bar: None means when it is slow.

    Returns
    -------
    ALE
        ``values`` has shape (n_outputs, K) or (n_outputs, K1, K2).

    Raises
    ------
    InputError
        For an unknown feature, output or level, and where no row has a finite value.
    PredictionError
        When the model fails.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets.explain import Explainer
    >>> from pdp_widgets.explain.ale import ale
    >>> X = np.array([[0.0, 5.0], [1.0, 2.0], [3.0, 4.0], [4.0, 1.0]])
    >>> result = ale(Explainer(lambda rows: 2 * rows[:, 0] + rows[:, 1], X), "x0")
    >>> result.grid_values[0], result.values[0]
    (array([0., 1., 3., 4.]), array([-4., -2.,  2.,  4.]))
    """
    work = Work.prepare(explainer, features, bins, order, subgroup)
    mains = work.alone() if main and len(work.axes) == 2 else []
    if main and not mains:
        raise InputError(f"main=True with features={features!r}; main effects come with a pair of features")
    parts = [*mains, work]
    with bar(len(work.rows) * len(parts), " x ".join(work.names), progress) as shown:
        for part in parts:
            for grown in part.run(PATIENT_SECONDS):
                shown.update(grown)
    result = ALE(**work.fields())
    if mains:
        result = replace(result, main=(ALE(**mains[0].fields()), ALE(**mains[1].fields())))
    return result if output is None else result.output(output)


def iter_ale(
    explainer: Explainer,
    features: Any,
    *,
    bins: int | tuple[int, int] | None = None,
    order: Sequence[Any] | Mapping[Any, Sequence[Any]] | None = None,
    subgroup: Any = None,
    output: Any = None,
) -> Iterator[ALE]:
    """Yield the accumulated local effect as it converges: one result per chunk, the last one from all rows.

    Takes the parameters of ``ale``. Bins and levels are final from the first result on, and each of them has rows: all bins take turns, a
    random row at a time. Each result says ``rows_done`` of ``rows_total``.
    """
    work = Work.prepare(explainer, features, bins, order, subgroup)
    for _ in work.run(TARGET_SECONDS):
        if work.turn <= work.done < len(work.rows):
            partial = ALE(**work.fields())
            yield partial if output is None else partial.output(output)
    result = ALE(**work.fields())
    yield result if output is None else result.output(output)
