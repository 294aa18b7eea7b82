"""Regional effects: readable parts of the data in which the ICE curves of a feature agree better.

Where curves disagree, their mean, the partial dependence, describes nobody; regions say who differs from whom. How they are
grown is in ``region_tree``, what is found in ``region_results``; here are the doors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.compute.chunks import PATIENT_SECONDS, TARGET_SECONDS
from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.subgroup import And, Node, Rows, parse

from .grids import at_least
from .progress import bar
from .region_results import Limits, Regions, Suggestions
from .region_tree import Tree

if TYPE_CHECKING:
    from pdp_widgets.inputs import FeatureTable

    from .explainer import Explainer
    from .ice import Ice

LEAST_ROWS = 10
MOST_SAMPLED = 10_000
"""Rows whose curves are looked at when not all curves fit the memory cap."""


def regions(
    explainer: Explainer,
    feature: Any,
    *,
    depth: int = 2,
    min_rows: int | None = None,
    min_gain: float = 0.05,
    subgroup: Any = None,
    output: Any = None,
    keep: np.ndarray | None = None,
    progress: bool | None = None,
) -> Regions:
    """Return readable regions, described by other features, in which the ICE curves of a feature agree.

    Parameters
    ----------
    explainer : Explainer
    feature : name
        The feature whose curves are explained. All other features of the explainer may describe regions.
    depth : int
        Most splits one after the other: 2 gives up to four regions.
    min_rows : int, optional
        Fewest rows of a region; by default 1 % of the rows, and no fewer than 10.
    min_gain : float
        Share, between 0 and 1, of a region's loss that a split must remove, on either half of the rows. A region that holds less
        than this share of all loss is not split further.
    subgroup : mask, query string or object with ``.mask``, optional
        Divide these rows only.
    output : name, class label or position, optional
        The output explained, by default the explainer's default output.
    keep : int array, optional
        Row positions whose curves are looked at when not all fit the memory cap. Default: a random sample of up to 10,000.
    progress : bool, optional
        Show a bar: None means when it is slow.

    Returns
    -------
    Regions
        ``.regions`` is empty when no split is worth making, and ``.reason`` says why.

    Raises
    ------
    InputError
        For an unknown feature or output, an empty subgroup, or a number out of its bounds.
    PredictionError
        When the model fails.

    Notes
    -----
    Loss and greedy search are those of REPID (Herbinger, Bischl & Casalicchio 2022, "REPID: Regional effect plots with implicit
    interaction detection", AISTATS), taken up in GADGET (Herbinger, Wright, Nagler, Bischl & Casalicchio 2024, "Decomposing global
    feature effects based on feature interactions", JMLR). The best of many splits looks good by chance. So each split is found
    on a random half of the rows and measured on the other half, where it must remove ``min_gain``, and be more than two
    standard errors above nothing. Disagreement no larger than rounding errors of the predictions is never split: an additive
    model has parallel curves and gets no regions.

    Regions tell what the *model* does. A flexible model has learned interactions from noise, too, and as they are part
    of it they are found; whether the data support them takes refitting the model.

    The model is asked for the curves only, and not even for these when they are cached. Where the curves of all rows exceed the memory
    cap those of a random sample are computed, anew each time unless ``keep`` names rows that were kept.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pdp_widgets.explain import Explainer
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=["a", "b", "c"])
    >>> found = regions(Explainer(lambda X: X["a"] * np.sign(X["b"]) + X["c"], X), "a")
    >>> [region.text for region in found.regions]
    ['b < 0', 'b >= 0']
    """
    work = _Work(explainer, feature, depth, min_rows, min_gain, subgroup, output, keep)
    with bar(work.ice.rows_total, f"regions of {work.grid.feature.name}", progress) as shown:
        for done in work.advance(PATIENT_SECONDS):
            shown.update(done)
    return work.result()


def iter_regions(
    explainer: Explainer,
    feature: Any,
    *,
    depth: int = 2,
    min_rows: int | None = None,
    min_gain: float = 0.05,
    subgroup: Any = None,
    output: Any = None,
    keep: np.ndarray | None = None,
) -> Iterator[Regions]:
    """Yield the regions as the curves come in: one result per chunk of rows, the last one from all. See ``regions``."""
    work = _Work(explainer, feature, depth, min_rows, min_gain, subgroup, output, keep)
    for _ in work.advance(TARGET_SECONDS):
        if not work.ice.complete and work.seen:
            yield work.result()
    yield work.result()


def suggestions(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    min_rows: int | None = None,
    min_gain: float = 0.05,
    subgroup: Any = None,
    output: Any = None,
    keep: np.ndarray | None = None,
    progress: bool | None = None,
) -> Suggestions:
    """Return the first split of each feature's curves, ordered by the heterogeneity removed.

    Parameters
    ----------
    explainer : Explainer
    features : sequence of names, optional
        The features whose curves are split, by default all.
    min_rows, min_gain, subgroup, output, keep
        As in ``regions``.
    progress : bool, optional
        Show a bar: None means when it is slow.

    Returns
    -------
    Suggestions
        One ``Regions`` of depth 1 per feature, those that remove most first (unit of the response), then those without a split.

    Raises
    ------
    InputError
        As ``regions``; and when ``features`` is no list of names.
    PredictionError
        When the model fails.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pdp_widgets.explain import Explainer
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=["a", "b", "c"])
    >>> found = suggestions(Explainer(lambda X: X["a"] * np.sign(X["b"]) + X["c"], X))
    >>> [(one.feature, one.splits[0].sides[0]) for one in found if one.splits]
    [('a', 'b < 0'), ('b', 'a < -0.17')]
    """
    names = _names(explainer, features)
    with bar(len(names), "suggested regions", progress, "feature") as shown:
        shown.unit = "feature"
        done = 0
        for result in iter_suggestions(
            explainer, names, min_rows=min_rows, min_gain=min_gain, subgroup=subgroup, output=output, keep=keep
        ):
            shown.update(len(result) - done)
            done = len(result)
    return result


def iter_suggestions(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    min_rows: int | None = None,
    min_gain: float = 0.05,
    subgroup: Any = None,
    output: Any = None,
    keep: np.ndarray | None = None,
) -> Iterator[Suggestions]:
    """Yield ``suggestions`` as they grow, after each chunk of rows of one feature after the other."""
    names = _names(explainer, features)
    found: tuple[Regions, ...] = ()
    for name in names:
        work = _Work(explainer, name, 1, min_rows, min_gain, subgroup, output, keep)
        for _ in work.advance(TARGET_SECONDS):
            yield Suggestions(found, len(names))
        found = tuple(sorted((*found, work.result()), key=lambda one: (-one.heterogeneity_removed, -one.heterogeneity)))
        yield Suggestions(found, len(names))


class _Work:
    """The curves of one feature on their way, and the regions they give."""

    def __init__(
        self,
        explainer: Explainer,
        feature: Any,
        depth: int,
        min_rows: int | None,
        min_gain: float,
        subgroup: Any,
        output: Any,
        keep: np.ndarray | None,
    ) -> None:
        if not isinstance(min_gain, (int, float, np.number)) or not 0 < min_gain < 1:
            raise InputError(f"min_gain={min_gain!r}; expected a share between 0 and 1, such as 0.05")
        self.explainer, self.table = explainer, explainer.table
        mask, self.subgroup = explainer.rows_of(subgroup)
        self.mask = np.ones(self.table.n_rows, dtype=bool) if mask is None else mask
        self.n = int(self.mask.sum())
        least = max(LEAST_ROWS, -(-self.n // 100)) if min_rows is None else at_least("min_rows", min_rows, 1)
        self.limits = Limits(at_least("depth", depth, 1), least, float(min_gain))
        self.k = explainer.response.position(explainer.default_output if output is None else output)
        self.grid = explainer.grid(feature)
        mine = set(self.grid.feature.columns)
        self.others = [name for name, other in self.table.features.items() if not mine & set(other.columns)]
        self.ice, self.wanted = self._curves(feature, keep)
        # Which half a row is in depends on nothing but the row and the seed, and not on when its curve is computed.
        place = np.random.default_rng((explainer.random_state, 1)).permutation(self.table.n_rows)
        self.search = place % 2 == 0

    @property
    def seen(self) -> bool:
        """Whether any curve that is wanted is there."""
        return bool(self.wanted[self.ice.result().rows].any())

    def advance(self, seconds: float) -> Iterator[int]:
        """Compute the curves, yielding the number of rows of each chunk."""
        while not self.ice.complete:
            before = self.ice.rows_done
            self.ice.advance(seconds)
            yield self.ice.rows_done - before

    def result(self) -> Regions:
        """Return the regions from the curves so far."""
        so_far = self.ice.result()
        rows = so_far.rows[self.wanted[so_far.rows]]
        values, wanted, complete = self.ice.values, int(self.wanted.sum()), self.ice.complete
        curves = self.ice.curves(rows)[self.k] if values is None else values[self.k, rows]
        tree = Tree(
            self.table,
            self.others,
            rows,
            curves,
            weights=np.ones(len(rows)) if so_far.weights is None else so_far.weights[rows],
            nearest=self.grid.nearest[rows],
            search=self.search[rows],
            limits=self.limits,
        )
        start = _condition(self.subgroup, self.mask, self.table)
        root = tree.grow(start, And(()), self.mask, complete=complete and wanted == self.n)
        removed, removed_check = tree.removed(root.leaves)
        return Regions(
            grid=self.grid,
            root=root,
            removed=removed,
            removed_check=removed_check,
            outputs=(so_far.outputs[self.k],),
            labels=so_far.labels[self.k : self.k + 1],
            scale=so_far.scale,
            subgroup=self.subgroup,
            weights=so_far.weights,
            method=so_far.method,
            rows=rows,
            rows_total=self.n,
            rows_wanted=wanted,
            rows_omitted=wanted - len(rows) if complete else 0,
            limits=self.limits,
        )

    def _curves(self, feature: Any, keep: np.ndarray | None) -> tuple[Ice, np.ndarray]:
        """Return the growing curves, and which rows to look at."""
        ice = self.explainer.ice(feature)
        if ice.values is not None:
            return ice, self.mask
        wanted = np.zeros(self.table.n_rows, dtype=bool)
        if keep is not None:
            try:
                wanted[keep] = True
            except (IndexError, ValueError) as error:
                raise InputError(f"keep holds no positions of the {len(wanted)} background rows: {error}") from error
            return self.explainer.ice(feature, keep=keep), wanted & self.mask
        order = self.explainer.row_order
        wanted[order[self.mask[order]][:MOST_SAMPLED]] = True
        return self.explainer.ice(feature, rows=wanted, keep=np.flatnonzero(wanted)), wanted


def _condition(text: str | None, mask: np.ndarray, table: FeatureTable) -> Node:
    """Return the condition of the rows to divide; rows that no text describes are called @subgroup."""
    if text is None:
        return And(())
    try:
        node = parse(text, table)
        if (node.mask(table) == mask).all():
            return node
    except InputError:
        pass
    return Rows(mask, name="subgroup")


def _names(explainer: Explainer, features: Sequence[Any] | None) -> list[str]:
    if features is None:
        return list(explainer.features)
    if isinstance(features, str) or not isinstance(features, Sequence | np.ndarray | pd.Index) or not len(features):
        raise InputError(f"features={features!r}; expected a list of names")
    return list(dict.fromkeys(explainer.table.feature(name).name for name in features))
