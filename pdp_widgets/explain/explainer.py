"""Explainer: the one door to every explanation, without Jupyter.

It holds the model and its background rows, caches what was computed, and hands out result objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from pdp_widgets.compute.chunks import PATIENT_SECONDS
from pdp_widgets.inputs import Feature, FeatureTable, Grid, InputError, Response, model_name
from pdp_widgets.inputs.errors import unknown_name
from pdp_widgets.inputs.rows import row_mask, row_outcome, row_weights
from pdp_widgets.inputs.subgroup import parse

from .cache import IceCache
from .grids import Grids, at_least, shares
from .method import WISHES
from .progress import bar
from .results import in_words
from .source import Base, Source

if TYPE_CHECKING:
    from pdp_widgets.trees.sums import TreeSums

    from .ale import ALE
    from .comparison_results import GroupedDependence
    from .complexity import Complexity
    from .decomposition import Decomposition
    from .ice import Ice
    from .interaction import Interaction, Interactions
    from .network import InteractionNetwork
    from .null import NullDistribution
    from .residuals import ObservedOutcome
    from .results import PartialDependence
    from .trust_result import Trust


class Explainer:
    """What a fitted model does, averaged over background rows.

    Parameters
    ----------
    model : estimator, pipeline, booster or callable
        Anything that predicts from ``X``; see ``Response``.
    X : DataFrame, array, sparse matrix or list of rows, shape (n, p)
        The background rows, exactly as the model takes them. Never modified; an array must not be changed by the
        caller either while the explainer is in use (columns added to a DataFrame do not matter).
    y : (n,) array, optional
        The observed outcome, for explanations that compare with it.
    features : sequence or mapping, optional
        A list explains these features only. A mapping ``{"season": ["season_a", "season_b"]}`` makes one-hot columns
        one feature; all other columns stay features of their own.
    output : str or int, optional
        The output to show first: a class label, an output name or a position.
    response : {"auto", "probability", "decision", "logit", "predict"} or callable
        The response scale.
    output_names : sequence of str, optional
        Names of the outputs.
    sample_weight : (n,) array, optional
        Row weights; they enter averages, errors and quantiles.
    background : int, optional
        Use a random sample of this many rows instead of all of X.
    grid_size : int
        Grid points of a number (a pair uses at most 20 per feature).
    percentiles : (float, float), optional
        Range of the automatic grid, as shares of the rows.
    random_state : int
        Seed of the row order and of all sampling.
    executor : concurrent.futures.Executor, optional
        Where model calls run: threads, processes, loky, ``dask.distributed.Client.get_executor()``.
        Default: this process.
    nan_predictions : {"raise", "omit"}
        What to do with rows for which the model predicts NaN or infinity.
    cache_bytes : int
        Most memory for cached ICE curves.
    method : {"auto", "trees", "model"}
        ``"auto"``: for a sum of trees, exact sums over its leaves as soon as they are ready, else model calls. ``"trees"``
        waits for the sums and insists on them; ``"model"`` always asks the model. The trees are read once, for the first
        curve: a model that is fitted again needs a new explainer.

    Raises
    ------
    InputError
        When X, the model or an option cannot be used; the message says what to do.
    PredictionError
        When the model fails on the first rows of X.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        features: Sequence[Any] | Mapping[Any, Any] | None = None,
        output: Any = None,
        response: str | Callable[[Any, Any], Any] = "auto",
        output_names: Sequence[str] | None = None,
        sample_weight: Any = None,
        background: int | None = None,
        grid_size: int = 40,
        percentiles: tuple[float, float] | None = None,
        random_state: int = 0,
        executor: Executor | None = None,
        nan_predictions: Literal["raise", "omit"] = "raise",
        cache_bytes: int = 256 * 2**20,
        method: Literal["auto", "trees", "model"] = "auto",
    ) -> None:
        if isinstance(model, (np.ndarray, pd.DataFrame)):
            raise InputError(
                f"model is a {type(model).__name__}; were model and X swapped? Expected Explainer(model, X)"
            )
        self.model = model
        self.grid_size = at_least("grid_size", grid_size, 2)
        self.percentiles = shares(percentiles)
        self.random_state = at_least("random_state", random_state, 0)
        if nan_predictions not in ("raise", "omit"):
            raise InputError(f"nan_predictions={nan_predictions!r}; expected 'raise' or 'omit'")
        if method not in WISHES:
            raise unknown_name("method", method, WISHES, "a way to compute")
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise InputError(
                f"executor is a {type(executor).__name__} without a submit method; expected a "
                "concurrent.futures.Executor (for dask: client.get_executor())"
            )
        table = FeatureTable(X, features)
        weights = row_weights(sample_weight, table)
        self._given = table
        self.n_rows_given = table.n_rows
        self.rows_given = np.arange(table.n_rows)
        """(n,) positions in X of the background rows."""
        self.y = row_outcome(y, table)
        if background is not None and at_least("background", background, 1) < table.n_rows:
            rng = np.random.default_rng(self.random_state)
            self.rows_given = np.sort(rng.choice(table.n_rows, background, replace=False))
            table = table.take(self.rows_given)
            weights = None if weights is None else weights[self.rows_given]
            self.y = None if self.y is None else self.y[self.rows_given]
        self.table = table
        self.response = Response(model, response, output_names)
        self._source = Source(table, self.response, weights, executor, nan_predictions, self.random_state, method)
        self.default_output = self.outputs[
            self.response.position(output) if output is not None
            else self.response.position(self.response.default_output)
        ]  # fmt: skip
        self._base = Base(self._source)
        self._grids = Grids(table, weights, self._source.method, grid_size, percentiles)
        self._ices = IceCache(self._source, cache_bytes)

    # ---- what there is -------------------------------------------------------------------

    @property
    def features(self) -> dict[str, Feature]:
        """Return the features by name."""
        return self.table.features

    @property
    def outputs(self) -> list[str]:
        """Return the names of the model's outputs."""
        return self.response.outputs

    @property
    def scale(self) -> str:
        """Return the response scale."""
        return self.response.scale

    @property
    def method(self) -> str:
        """Return whether exact sums over trees or model calls give the numbers, and why."""
        return self._source.method.text

    @property
    def n_rows(self) -> int:
        """Return the number of background rows."""
        return self.table.n_rows

    @property
    def weights(self) -> np.ndarray | None:
        """(n,) row weights with mean 1, None when all rows count the same."""
        return self._source.weights

    @property
    def row_order(self) -> np.ndarray:
        """(n,) the random order in which rows are taken; a prefix is a random sample."""
        return self._source.order

    @property
    def rows_asked(self) -> int:
        """Return how many rows the model was asked to predict, in all."""
        return self._source.pace.rows_asked

    def __repr__(self) -> str:
        """Say what is explained."""
        rows = f"{self.n_rows} rows"
        if self.n_rows != self.n_rows_given:
            rows += f" sampled of {self.n_rows_given}"
        what = in_words(self.scale, self.outputs)
        return f"<Explainer of {model_name(self.model)}: {len(self.features)} features, {rows}; {what}>"

    # ---- partial dependence --------------------------------------------------------------

    def partial_dependence(
        self,
        features: Any,
        *,
        grid: Any = None,
        grid_size: int | None = None,
        percentiles: tuple[float, float] | None = None,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> PartialDependence:
        """Return the partial dependence on a feature or a pair, from all rows.

        Parameters
        ----------
        features : name, or (name, name)
        grid : sequence, mapping of name to sequence, or "steps", optional
            The caller's own grid points, taken as given (a pair: a mapping, or two sequences). ``"steps"`` puts a point
            at the first observed value of every step of a sum of trees: the whole of its step function.
        grid_size : int, optional
            Grid points of a number, instead of the explainer's.
        percentiles : (float, float), optional
            Range of the automatic grid, instead of the explainer's.
        subgroup : mask, query string or object with ``.mask``, optional
            Average over these rows only. Costs no model call once the curves are cached.
        output : name, class label or position, optional
            Return this output only.
        progress : bool, optional
            Show a bar: None means when it is slow.

        Returns
        -------
        PartialDependence
            ``average`` has shape (n_outputs, K) or (n_outputs, K1, K2).

        Raises
        ------
        InputError
            For an unknown feature or output, a grid the column cannot hold, an empty subgroup.
        PredictionError
            When the model fails.
        """
        mask, text, ice = self._prepare(features, grid, grid_size, percentiles, subgroup)
        what = " x ".join(part.feature.name for part in ice.grids)
        with bar(ice.rows_total, what, progress) as shown:
            while not ice.complete:
                before = ice.rows_done
                ice.advance(PATIENT_SECONDS)
                shown.update(ice.rows_done - before)
        return self._finish(ice, mask, text, output)

    def iter_partial_dependence(
        self,
        features: Any,
        *,
        grid: Any = None,
        grid_size: int | None = None,
        percentiles: tuple[float, float] | None = None,
        subgroup: Any = None,
        output: Any = None,
    ) -> Iterator[PartialDependence]:
        """Yield the partial dependence as it converges: one result per chunk, the last one exact.

        Takes the parameters of ``partial_dependence``. Each result says ``rows_done`` of
        ``rows_total`` and the ``stderr`` of its average as an estimate for all rows.
        """
        mask, text, ice = self._prepare(features, grid, grid_size, percentiles, subgroup)
        while not ice.complete:
            before = ice.rows_done
            ice.advance()
            if ice.rows_done > before and not ice.complete:
                yield self._finish(ice, mask, text, output)
        yield self._finish(ice, mask, text, output)

    # ---- other effects -------------------------------------------------------------------

    def ale(
        self,
        features: Any,
        *,
        bins: Any = None,
        order: Any = None,
        main: bool = False,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> ALE:
        """Return accumulated local effects of a feature or a pair; see ``pdp_widgets.explain.ale.ale``."""
        from .ale import ale

        return ale(
            self, features, bins=bins, order=order, main=main, subgroup=subgroup, output=output, progress=progress
        )

    def iter_ale(
        self, features: Any, *, bins: Any = None, order: Any = None, subgroup: Any = None, output: Any = None
    ) -> Iterator[ALE]:
        """Yield ``ale`` as it grows; the last one is exact."""
        from .ale import iter_ale

        return iter_ale(self, features, bins=bins, order=order, subgroup=subgroup, output=output)

    def by_group(self, feature: Any, by: Any, **options: Any) -> GroupedDependence:
        """Return one curve per level of another feature; options are those of ``pdp_widgets.explain.comparison.by_group``."""
        from .comparison import by_group

        return by_group(self, feature, by, **options)

    def observed(self, feature: Any, **options: Any) -> ObservedOutcome:
        """Return observed outcome, prediction and residual near each grid point of a feature; needs ``y``.

        Options are those of ``pdp_widgets.explain.residuals.observed``.
        """
        from .residuals import observed

        return observed(self, feature, **options)

    def trust(self, features: Any, *, subgroup: Any = None, output: Any = None, rows: int | None = 500) -> Trust:
        """Return how far the curve of a feature, or the surface of a pair, can be trusted, with hints in plain words.

        See ``pdp_widgets.explain.trust.trust``.
        """
        from .trust import trust

        return trust(self, features, subgroup=subgroup, output=output, rows=rows)

    # ---- interactions --------------------------------------------------------------------

    def interactions(
        self,
        features: Sequence[Any] | None = None,
        *,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        rows: int | None = 500,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> Interactions:
        """Return Friedman's H-statistics: of features with all others, of pairs, and in total.

        See ``pdp_widgets.explain.interaction.interactions``.
        """
        from .interaction import interactions

        return interactions(self, features, pairs=pairs, rows=rows, subgroup=subgroup, output=output, progress=progress)

    def iter_interactions(
        self,
        features: Sequence[Any] | None = None,
        *,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        rows: int | None = 500,
        subgroup: Any = None,
        output: Any = None,
    ) -> Iterator[Interactions]:
        """Yield ``interactions`` as they grow: first without pairs, then pair by pair, the most promising first."""
        from .interaction import iter_interactions

        return iter_interactions(self, features, pairs=pairs, rows=rows, subgroup=subgroup, output=output)

    def interaction(self, *features: Any, rows: int | None = 500, subgroup: Any = None) -> Interaction:
        """Return the H-statistic of one set of two or more features.

        See ``pdp_widgets.explain.interaction.interaction``.
        """
        from .interaction import interaction

        return interaction(self, *features, rows=rows, subgroup=subgroup)

    def interaction_rows(
        self, features: Sequence[Any] | None = None, *, pairs: Any = None, rows: int | None = 500
    ) -> int:
        """Return how many rows the model will be asked about for ``interactions``; 0 with exact sums over trees."""
        from .interaction import interaction_rows

        return interaction_rows(self, features, pairs=pairs, rows=rows)

    def interaction_null(
        self,
        features: Sequence[Any] | None = None,
        *,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        repeats: int = 20,
        rows: int | None = 300,
        progress: bool | None = None,
    ) -> NullDistribution:
        """Return how large interactions get by chance; see ``pdp_widgets.explain.null.interaction_null``."""
        from .null import interaction_null

        return interaction_null(self, features, pairs=pairs, repeats=repeats, rows=rows, progress=progress)

    def interaction_network(
        self,
        features: Sequence[Any] | None = None,
        *,
        threshold: float = 0.05,
        rows: int | None = 500,
        subgroup: Any = None,
        output: Any = None,
        triples: bool = True,
        progress: bool | None = None,
    ) -> InteractionNetwork:
        """Return which features act together; see ``pdp_widgets.explain.network.interaction_network``."""
        from .network import interaction_network

        return interaction_network(
            self, features, threshold=threshold, rows=rows, subgroup=subgroup, output=output, triples=triples,
            progress=progress,
        )  # fmt: skip

    def complexity(
        self, *, bins: int = 40, subgroup: Any = None, output: Any = None, progress: bool | None = None
    ) -> Complexity:
        """Return features used, strength of interactions, complexity of main effects.

        See ``pdp_widgets.explain.complexity.complexity``; ``compare_complexity`` there puts several models side by side.
        """
        from .complexity import complexity

        return complexity(self, bins=bins, subgroup=subgroup, output=output, progress=progress)

    def greenwell(self, first: Any, second: Any, *, subgroup: Any = None) -> pd.DataFrame:
        """Return Greenwell's measure of interaction; see ``pdp_widgets.explain.greenwell.greenwell``."""
        from .greenwell import greenwell

        return greenwell(self, first, second, subgroup=subgroup)

    def decompose(
        self,
        first: Any,
        second: Any,
        *,
        reference: Any = None,
        grid: Any = None,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> Decomposition:
        """Return the joint effect of two features as constant, main effects and interaction.

        See ``pdp_widgets.explain.decomposition.decompose``.
        """
        from .decomposition import decompose

        return decompose(
            self, first, second, reference=reference, grid=grid, subgroup=subgroup, output=output, progress=progress
        )

    # ---- the growing computations --------------------------------------------------------

    def base(self) -> Base:
        """Return the growing predictions at the rows' own values."""
        return self._base

    def grid(
        self,
        feature: Any,
        *,
        grid: Any = None,
        grid_size: int | None = None,
        percentiles: tuple[float, float] | None = None,
    ) -> Grid:
        """Return the grid of one feature."""
        return self._grids.grid(self.table.feature(feature), grid, grid_size, percentiles)

    def ice(
        self,
        features: Any,
        *,
        grid: Any = None,
        grid_size: int | None = None,
        percentiles: tuple[float, float] | None = None,
        rows: np.ndarray | None = None,
        keep: np.ndarray | None = None,
    ) -> Ice:
        """Return the growing ICE curves of a feature or a pair, from the cache where possible.

        Parameters
        ----------
        rows : (n,) bool array, optional
            Compute these rows only (for a subgroup when not all curves fit the memory cap).
        keep : int array, optional
            Row positions whose curves are kept even when not all fit the memory cap.
        """
        chosen = self._grids.features(features)
        if len(chosen) == 1:
            grids: tuple[Grid, ...] = (self._grids.grid(chosen[0], grid, grid_size, percentiles),)
        else:
            grids = self._grids.pair(chosen, grid, grid_size, percentiles)
        return self._ices.get(grids, rows, keep)

    def mask(self, subgroup: Any) -> np.ndarray | None:
        """Return a subgroup as a mask over the background rows.

        Parameters
        ----------
        subgroup : None, (n,) bool array, query string, or object with ``.mask``
            A mask may be over the background rows or, when those are a sample, over X's rows.

        Raises
        ------
        InputError
            For a mask of the wrong length or kind, or a query that names an unknown column.
        """
        if subgroup is None:
            return None
        if isinstance(subgroup, str):
            return parse(subgroup, self.table).mask(self.table)
        inner = getattr(subgroup, "mask", None)
        if inner is not None and not isinstance(subgroup, np.ndarray) and not hasattr(subgroup, "iloc"):
            subgroup = inner(self.table) if callable(inner) else inner
            if subgroup is None:
                return None
        mask = row_mask(subgroup, self._given if np.shape(subgroup)[:1] == (self.n_rows_given,) else self.table)
        if len(mask) == self.n_rows_given != self.n_rows:
            mask = mask[self.rows_given]
        if len(mask) != self.n_rows:
            raise InputError(f"subgroup mask has {len(mask)} rows; the background has {self.n_rows}")
        return mask

    def rows_of(self, subgroup: Any) -> tuple[np.ndarray | None, str | None]:
        """Return a subgroup as a mask over the background rows, as ``mask`` does, and in words; it must not be empty.

        Raises
        ------
        InputError
            As ``mask``, and for a subgroup without rows.
        """
        mask = self.mask(subgroup)
        if mask is None:
            return None, None
        text = _in_words(subgroup, mask)
        if not mask.any():
            raise InputError(f"subgroup {text!r} holds none of the {self.n_rows} rows")
        return mask, text

    @property
    def source(self) -> Source:
        """Return the model as seen from the background rows: what explanations ask."""
        return self._source

    def exact_sums(self) -> TreeSums | None:
        """Return the exact sums of a tree ensemble, waiting for them where they will come; None when the model is asked."""
        return self._source.method.wait()

    # ---- helpers -------------------------------------------------------------------------

    def _prepare(
        self, features: Any, grid: Any, grid_size: int | None, percentiles: Any, subgroup: Any
    ) -> tuple[np.ndarray | None, str | None, Ice]:
        mask, text = self.rows_of(subgroup)
        options = {"grid": grid, "grid_size": grid_size, "percentiles": percentiles}
        ice = self.ice(features, **options)
        if mask is not None and ice.values is None:
            ice = self.ice(features, rows=mask, **options)
            return None, text, ice
        return mask, text, ice

    def _finish(self, ice: Ice, mask: np.ndarray | None, text: str | None, output: Any) -> PartialDependence:
        result = ice.result(mask, text=text)
        return result if output is None else result.output(output)


def _in_words(subgroup: Any, mask: np.ndarray) -> str:
    if isinstance(subgroup, str):
        return subgroup
    text = getattr(subgroup, "text", None)
    return text if isinstance(text, str) and text else f"mask of {int(mask.sum())} rows"
