"""Partial dependence side by side: for the rows of each level of another feature, or of several models on the same rows.

What a level is stands in ``levels``, what is handed back in ``comparison_results``; the curves are those of ``ice``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pdp_widgets.compute.chunks import PATIENT_SECONDS, TARGET_SECONDS
from pdp_widgets.inputs import InputError, find_output

from .alignment import explainers_of, on_one_grid, require_one_scale, require_same_rows, shared_outputs
from .comparison_results import Comparison, GroupedDependence
from .levels import levels_of
from .progress import bar

if TYPE_CHECKING:
    from .explainer import Explainer
    from .ice import Ice
    from .results import PartialDependence


def by_group(
    explainer: Explainer,
    feature: Any,
    by: Any,
    *,
    levels: Any = None,
    grid: Any = None,
    grid_size: int | None = None,
    percentiles: tuple[float, float] | None = None,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
) -> GroupedDependence:
    """Return the partial dependence on a feature, or a pair, for the rows of each level of another feature.

    Each is the partial dependence of Friedman (2001) averaged over the level's rows alone, all on one grid. Asks the model nothing beyond
    the ICE curves of the feature, and each row once where these cannot all be kept.

    Parameters
    ----------
    explainer : Explainer
    feature : name, or (name, name)
    by : name
        The feature that divides the rows; its missing values are a level of their own.
    levels : int or sequence, optional
        Of a number or date: into how many groups of about equal weight to cut (4: at the quartiles), or the cuts themselves, ascending; a
        range holds its upper bound and not its lower one. A number with no more distinct values than groups is not cut. Of a category:
        how many levels, the most frequent ones (20), or the levels themselves in the order wanted, None for a missing value.
    grid, grid_size, percentiles : optional
        As ``Explainer.partial_dependence`` takes them.
    subgroup : mask, query string or object with ``.mask``, optional
        Divide these rows only; quantiles are theirs, too.
    output : name, class label or position, optional
        Return this output only.
    progress : bool, optional
        Show a bar: None means when it is slow.

    Returns
    -------
    GroupedDependence
        ``average`` has shape (levels, n_outputs, K) or (levels, n_outputs, K1, K2), on the response scale.

    Raises
    ------
    InputError
        For an unknown feature, output or level, cuts that are not ascending, and where no level has rows.
    PredictionError
        When the model fails.

    Examples
    --------
    >>> import pandas as pd
    >>> from pdp_widgets.explain import Explainer
    >>> from pdp_widgets.explain.comparison import by_group
    >>> X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "site": ["a", "a", "b", "b"]})
    >>> grouped = by_group(Explainer(lambda rows: rows.x * (rows.site == "b"), X), "x", "site")
    >>> grouped.levels, grouped.n, grouped.average[:, 0]
    (('a', 'b'), array([2, 2]), array([[0., 0., 0., 0.], [0., 1., 2., 3.]]))
    """
    options = {"grid": grid, "grid_size": grid_size, "percentiles": percentiles}
    work = _Groups(explainer, feature, by, levels, options, subgroup, output)
    with bar(work.rows_total, work.title, progress) as shown:
        for rows in work.run(PATIENT_SECONDS):
            shown.update(rows)
    return work.result()


def iter_by_group(
    explainer: Explainer,
    feature: Any,
    by: Any,
    *,
    levels: Any = None,
    grid: Any = None,
    grid_size: int | None = None,
    percentiles: tuple[float, float] | None = None,
    subgroup: Any = None,
    output: Any = None,
) -> Iterator[GroupedDependence]:
    """Yield ``by_group`` as it converges: one result per chunk, the last one exact; levels without rows so far have NaN."""
    options = {"grid": grid, "grid_size": grid_size, "percentiles": percentiles}
    work = _Groups(explainer, feature, by, levels, options, subgroup, output)
    for _ in work.run(TARGET_SECONDS):
        if not work.complete:
            yield work.result()
    yield work.result()


class _Groups:
    """The growing curves of each level: of one shared set of curves, or of one set per level where not all are kept."""

    def __init__(
        self, explainer: Explainer, feature: Any, by: Any, levels: Any, options: dict[str, Any], subgroup: Any, output: Any
    ) -> None:  # fmt: skip
        mask, self._text = explainer.rows_of(subgroup)
        inside = np.ones(explainer.n_rows, dtype=bool) if mask is None else mask
        self._by = explainer.table.feature(by).name
        found, self._note = levels_of(explainer.table, explainer.table.feature(by), inside, levels, explainer.weights)
        self._levels = [level for level in found if level.mask.any()]
        self._empty = tuple(level.label for level in found if not level.mask.any())
        if not self._levels:
            raise InputError(
                f"none of the {int(inside.sum())} rows belongs to a level of {self._by!r} that was asked for: "
                f"{', '.join(self._empty[:6])}"
            )
        self._left_out = int(inside.sum()) - sum(int(level.mask.sum()) for level in self._levels)
        self._output = None if output is None else explainer.outputs[explainer.response.position(output)]
        shared = explainer.ice(feature, **options)
        self.title = f"{' x '.join(grid.feature.name for grid in shared.grids)} by {self._by}"
        self._ices: list[Ice] = [shared]
        self._masks: list[np.ndarray | None] = [level.mask for level in self._levels]
        if shared.values is None:
            self._ices = [explainer.ice(feature, rows=level.mask, **options) for level in self._levels]
            self._masks = [None] * len(self._levels)

    @property
    def rows_total(self) -> int:
        """Return how many rows have to be computed."""
        return sum(ice.rows_total for ice in self._ices)

    @property
    def complete(self) -> bool:
        """Return whether all are."""
        return all(ice.complete for ice in self._ices)

    def run(self, seconds: float) -> Iterator[int]:
        """Compute to the end, level by level in turn, yielding how many rows each chunk added."""
        while not self.complete:
            for ice in self._ices:
                if not ice.complete:
                    before = ice.rows_done
                    ice.advance(seconds)
                    if ice.rows_done > before:
                        yield ice.rows_done - before

    def result(self) -> GroupedDependence:
        """Return what is known so far."""
        ices = self._ices if len(self._ices) == len(self._levels) else self._ices * len(self._levels)
        dependences = []
        for level, ice, mask in zip(self._levels, ices, self._masks, strict=True):
            text = level.condition if self._text is None else f"{level.condition} & ({self._text})"
            one = ice.result(mask, text=text)
            dependences.append(one if self._output is None else one.output(self._output))
        return GroupedDependence(
            dependences=tuple(dependences), by=self._by, levels=tuple(level.label for level in self._levels),
            values=tuple(level.value for level in self._levels),
            conditions=tuple(level.condition for level in self._levels), empty=self._empty,
            rows_left_out=self._left_out, subgroup=self._text, note=self._note,
        )  # fmt: skip


# ---- several models ------------------------------------------------------------------------------------


def compare(
    models: Sequence[Any] | Mapping[str, Any],
    X: Any,
    feature: Any,
    *,
    grid: Any = None,
    grid_size: int | None = None,
    percentiles: tuple[float, float] | None = None,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
    **options: Any,
) -> Comparison:
    """Return the partial dependence of several models on one feature, or a pair, averaged over the same rows.

    Each curve is the partial dependence of Friedman (2001) that the model's own ``Explainer`` gives. Models are compared on one response
    scale only: a probability minus log-odds means nothing, so different scales are refused. Outputs are brought together by class label,
    else by name, a model's only output with another's only output; those that not all models have are left out and named.

    Parameters
    ----------
    models : sequence, or mapping of name to model
        Two or more models, or explainers, whose rows, columns and weights must then be the same (to keep curves from one call to the
        next). In a sequence they are named by their class.
    X : DataFrame, array, sparse matrix or list of rows, shape (n, p)
        The background rows; may be None when all models are explainers.
    feature : name, or (name, name)
    grid : sequence, or mapping of name to sequence, optional
        The caller's own grid points, as ``Explainer.partial_dependence`` takes them.
    grid_size, percentiles : optional
        As ``Explainer.partial_dependence`` takes them.
    subgroup : mask, query string or object with ``.mask``, optional
        Average over these rows only.
    output : name, class label or position, optional
        Return this output only, of those that are shared.
    progress : bool, optional
        Show a bar per model: None means when it is slow.
    **options
        For the explainers that are made here, the same for all: ``response``, ``sample_weight``, ``features``, ``background``,
        ``random_state``, ...; see ``Explainer``.

    Returns
    -------
    Comparison
        ``average`` has shape (models, n_outputs, K) or (models, n_outputs, K1, K2), on the response scale.

    Raises
    ------
    InputError
        For fewer than two models, explainers with other rows, different response scales, no common output, a grid that not all can
        have, and whatever ``Explainer.partial_dependence`` refuses.
    PredictionError
        When a model fails.
    TypeError
        For an unknown option.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import compare
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> found = compare({"line": lambda rows: rows[:, 0], "parabola": lambda rows: rows[:, 0] ** 2}, X, "x0")
    >>> found.average[:, 0]
    array([[0., 1., 2.],
           [0., 1., 4.]])
    >>> found.largest_differences[0].models, found.largest_differences[0].size
    (('parabola', 'line'), 2.0)
    """
    wanted = {"grid": grid, "grid_size": grid_size, "percentiles": percentiles}
    work = _Models(models, X, feature, wanted, subgroup, output, options)
    return work.result([one.partial_dependence(progress=progress, **asked) for one, asked in work.questions])


def iter_compare(
    models: Sequence[Any] | Mapping[str, Any],
    X: Any,
    feature: Any,
    *,
    grid: Any = None,
    grid_size: int | None = None,
    percentiles: tuple[float, float] | None = None,
    subgroup: Any = None,
    output: Any = None,
    **options: Any,
) -> Iterator[Comparison]:
    """Yield ``compare`` as it converges: one result per chunk of each model, the last one exact."""
    wanted = {"grid": grid, "grid_size": grid_size, "percentiles": percentiles}
    work = _Models(models, X, feature, wanted, subgroup, output, options)
    growing = [one.iter_partial_dependence(**asked) for one, asked in work.questions]
    latest = [next(one) for one in growing]
    yield work.result(latest)
    while not all(one.complete for one in latest):
        latest = [old if old.complete else next(one) for old, one in zip(latest, growing, strict=True)]
        yield work.result(latest)


class _Models:
    """Models on the same rows, one question for each of them, and which of their outputs belong together."""

    def __init__(
        self, models: Any, X: Any, feature: Any, wanted: dict[str, Any], subgroup: Any, output: Any,
        options: dict[str, Any],
    ) -> None:  # fmt: skip
        explainers = explainers_of(models, X, options)
        require_same_rows(explainers, models, X)
        self._names = tuple(explainers)
        each = list(explainers.values())
        first = each[0]
        require_one_scale(explainers)
        self._positions, self._outputs, self._labels = shared_outputs(explainers)
        self._unshared = {
            name: tuple(title for k, title in enumerate(one.outputs) if k not in at)
            for (name, one), at in zip(explainers.items(), self._positions, strict=True)
        }
        self._only = None if output is None else self._outputs[find_output(output, self._outputs, self._labels)]
        mask, self._text = first.rows_of(subgroup)
        asked = on_one_grid(explainers, feature, wanted)
        self.questions = [
            (one, {"features": feature, "subgroup": mask, **some}) for one, some in zip(each, asked, strict=True)
        ]

    def result(self, found: Sequence[PartialDependence]) -> Comparison:
        """Return the curves with the shared outputs only, in one order and under one name."""
        aligned = []
        for one, at in zip(found, self._positions, strict=True):
            if at != list(range(len(one.outputs))):
                curves = None if one.curves is None else one.curves[at]
                one = replace(  # noqa: PLW2901
                    one, average=one.average[at], stderr=one.stderr[at], variance=one.variance[at], curves=curves
                )
            aligned.append(replace(one, outputs=self._outputs, labels=self._labels, subgroup=self._text))
        result = Comparison(tuple(aligned), models=self._names, unshared=self._unshared, subgroup=self._text)
        return result if self._only is None else result.output(self._only)
