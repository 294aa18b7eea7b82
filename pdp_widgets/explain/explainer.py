"""Explainer: the one door to every explanation, without Jupyter.

Each method hands on to the module that computes it, which is imported on first use, and returns that module's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pdp_widgets.compute.chunks import PATIENT_SECONDS

from .background import Background
from .progress import bar

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from .ale import ALE
    from .comparison_results import GroupedDependence
    from .complexity import Complexity
    from .decomposition import Decomposition
    from .ice import Ice
    from .importance_result import Importance
    from .interaction_result import Interaction, Interactions
    from .network import InteractionNetwork
    from .null import NullDistribution
    from .region_results import Regions, Suggestions
    from .residuals import ObservedOutcome
    from .results import PartialDependence
    from .rules import Rules
    from .scaleout import ChunkedExplainer
    from .trust_result import Trust


class Explainer(Background):
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

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
    >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
    >>> explainer
    <Explainer of <lambda>: 2 features, 4 rows; prediction>
    >>> explainer.partial_dependence("x0").average
    array([[0., 1., 2., 3.]])
    """

    @staticmethod
    def from_chunks(model: Any, chunks: Any, **options: Any) -> ChunkedExplainer:
        """Return an explainer of rows that come in chunks: a dask DataFrame, or tables one after the other.

        Averages are over all rows, computed where the chunks are; curves are those of a uniform sample. Options are those of
        ``pdp_widgets.explain.scaleout.from_chunks``.

        Examples
        --------
        >>> import pandas as pd
        >>> chunks = [pd.DataFrame({"x": [0.0, 1.0]}), pd.DataFrame({"x": [2.0, 3.0]})]
        >>> explainer = Explainer.from_chunks(lambda X: 2 * X["x"], chunks)
        >>> explainer.partial_dependence("x", grid=[0, 3]).average
        array([[0., 6.]])
        """
        from .scaleout import from_chunks

        return from_chunks(model, chunks, **options)

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

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.partial_dependence("x0").average
        array([[0., 1., 2., 3.]])
        >>> explainer.partial_dependence("x0", subgroup="x1 > 0").average
        array([[0.        , 1.33333333, 2.66666667, 4.        ]])
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

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> *_, last = explainer.iter_partial_dependence("x0")
        >>> last.rows_done, last.complete
        (4, True)
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
        """Return accumulated local effects of a feature or a pair; see ``pdp_widgets.explain.ale.ale``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.ale("x0").values.round(3)
        array([[-1.625, -1.125,  0.875,  1.875]])
        """
        from .ale import ale

        return ale(
            self, features, bins=bins, order=order, main=main, subgroup=subgroup, output=output, progress=progress
        )

    def iter_ale(
        self, features: Any, *, bins: Any = None, order: Any = None, subgroup: Any = None, output: Any = None
    ) -> Iterator[ALE]:
        """Yield ``ale`` as it grows; the last one is exact.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> *_, last = explainer.iter_ale("x0")
        >>> last.complete
        True
        """
        from .ale import iter_ale

        return iter_ale(self, features, bins=bins, order=order, subgroup=subgroup, output=output)

    def by_group(
        self,
        feature: Any,
        by: Any,
        *,
        levels: Any = None,
        grid: Any = None,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> GroupedDependence:
        """Return one curve per level of another feature; ``levels`` are how many groups, cut points, or the levels.

        See ``pdp_widgets.explain.comparison.by_group``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> grouped = explainer.by_group("x0", "x1", levels=[0.5])
        >>> grouped.levels, grouped.average[:, 0].round(3)
        (('<= 0.5', '> 0.5'), array([[0.   , 0.   , 0.   , 0.   ],
               [0.   , 1.333, 2.667, 4.   ]]))
        """
        from .comparison import by_group

        return by_group(
            self, feature, by, levels=levels, grid=grid, subgroup=subgroup, output=output, progress=progress
        )

    def observed(
        self,
        feature: Any,
        *,
        grid: Any = None,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> ObservedOutcome:
        """Return observed outcome, prediction and residual near each grid point of a feature; needs ``y``.

        See ``pdp_widgets.explain.residuals.observed``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X, y=[0, 0, 4, 3])
        >>> explainer.observed("x0").residual
        array([[0., 0., 0., 0.]])
        """
        from .residuals import observed

        return observed(self, feature, grid=grid, subgroup=subgroup, output=output, progress=progress)

    def trust(self, features: Any, *, subgroup: Any = None, output: Any = None, rows: int | None = 500) -> Trust:
        """Return how far the curve of a feature, or the surface of a pair, can be trusted, with hints in plain words.

        See ``pdp_widgets.explain.trust.trust``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.trust("x0").heterogeneity.round(3)
        array([0.791])
        """
        from .trust import trust

        return trust(self, features, subgroup=subgroup, output=output, rows=rows)

    def importance(
        self,
        features: Sequence[Any] | None = None,
        *,
        rows: int | None = 500,
        repeats: int = 5,
        scoring: Any = None,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> Importance:
        """Return every importance of features in one table: partial dependence, total effect, disagreement, permutation.

        See ``pdp_widgets.explain.importance.importance``; permutation importance needs ``y``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X, y=[0, 0, 4, 3])
        >>> explainer.importance().sort("pdi").to_frame()[["feature", "pdi", "heterogeneity"]].round(3)
          feature    pdi  heterogeneity
        0      x0  0.412          0.791
        1      x1  0.373          0.791
        """
        from .importance import importance

        return importance(
            self, features, rows=rows, repeats=repeats, scoring=scoring, subgroup=subgroup, output=output,
            progress=progress,
        )  # fmt: skip

    def iter_importance(self, features: Sequence[Any] | None = None, **options: Any) -> Iterator[Importance]:
        """Yield ``importance`` as it grows, feature by feature; options are its.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> [growing.features_done for growing in explainer.iter_importance(["x1"])][-1]
        1
        """
        from .importance import iter_importance

        return iter_importance(self, features, **options)

    def regions(
        self,
        feature: Any,
        *,
        depth: int = 2,
        min_rows: int | None = None,
        min_gain: float = 0.05,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> Regions:
        """Return readable splits of the rows that remove most disagreement of a feature's curves.

        See ``pdp_widgets.explain.regions.regions``. A region works as ``subgroup=`` anywhere.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
        >>> print(Explainer(lambda X: X[:, 0] * np.sign(X[:, 1]), X).regions("x0").splits[0].feature)
        x1
        """
        from .regions import regions

        return regions(
            self, feature, depth=depth, min_rows=min_rows, min_gain=min_gain, subgroup=subgroup, output=output,
            progress=progress,
        )  # fmt: skip

    def suggestions(
        self,
        features: Sequence[Any] | None = None,
        *,
        min_rows: int | None = None,
        min_gain: float = 0.05,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> Suggestions:
        """Return each feature's best first split, the one that removes most disagreement first.

        See ``pdp_widgets.explain.regions.suggestions``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
        >>> found = Explainer(lambda X: X[:, 0] * np.sign(X[:, 1]), X).suggestions()
        >>> found.to_frame()[["feature", "removed"]].round(2)
          feature  removed
        0      x0     1.00
        1      x1     0.73
        """
        from .regions import suggestions

        return suggestions(
            self, features, min_rows=min_rows, min_gain=min_gain, subgroup=subgroup, output=output, progress=progress
        )

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

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.interactions().to_frame()[["feature_1", "feature_2", "h2", "strength"]].round(3)
          feature_1 feature_2    h2  strength
        0        x0        x1  0.02      0.25
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
        """Yield ``interactions`` as they grow: first without pairs, then pair by pair, the most promising first.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> [growing.pairs_done for growing in explainer.iter_interactions()]
        [0, 1]
        """
        from .interaction import iter_interactions

        return iter_interactions(self, features, pairs=pairs, rows=rows, subgroup=subgroup, output=output)

    def interaction(
        self, *features: Any, rows: int | None = 500, subgroup: Any = None, output: Any = None
    ) -> Interaction:
        """Return the H-statistic of one set of two or more features.

        See ``pdp_widgets.explain.interaction.interaction``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.interaction("x0", "x1").strength.round(3)
        array([0.25])
        """
        from .interaction import interaction

        return interaction(self, *features, rows=rows, subgroup=subgroup, output=output)

    def interaction_rows(
        self, features: Sequence[Any] | None = None, *, pairs: Any = None, rows: int | None = 500
    ) -> int:
        """Return how many rows the model will be asked about for ``interactions``; 0 with exact sums over trees.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.interaction_rows()
        48
        """
        from .interaction import interaction_rows

        return interaction_rows(self, features, pairs=pairs, rows=rows)

    def interaction_null(
        self,
        features: Sequence[Any] | None = None,
        *,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        repeats: int = 20,
        rows: int | None = 300,
        output: Any = None,
        progress: bool | None = None,
    ) -> NullDistribution:
        """Return how large interactions get by chance; see ``pdp_widgets.explain.null.interaction_null``.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LinearRegression
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> y = X[:, 0] + X[:, 1]
        >>> null = Explainer(LinearRegression().fit(X, y), X, y).interaction_null(repeats=5)
        >>> null.to_frame()[["feature_1", "feature_2", "strength", "strength_95"]]
          feature_1 feature_2  strength  strength_95
        0        x0        x1       0.0          0.0
        """
        from .null import interaction_null

        return interaction_null(
            self, features, pairs=pairs, repeats=repeats, rows=rows, output=output, progress=progress
        )

    def interaction_network(
        self,
        features: Sequence[Any] | None = None,
        *,
        threshold: float = 0.05,
        rows: int | None = 500,
        subgroup: Any = None,
        output: Any = None,
        triples: bool = True,
        interactions: Interactions | None = None,
        progress: bool | None = None,
    ) -> InteractionNetwork:
        """Return which features act together; see ``pdp_widgets.explain.network.interaction_network``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.interaction_network().edges[["feature_1", "feature_2", "share"]].round(3)
          feature_1 feature_2  share
        0        x0        x1   0.14
        """
        from .network import interaction_network

        return interaction_network(
            self, features, threshold=threshold, rows=rows, subgroup=subgroup, output=output, triples=triples,
            interactions=interactions, progress=progress,
        )  # fmt: skip

    def complexity(
        self, *, bins: int = 40, subgroup: Any = None, output: Any = None, progress: bool | None = None
    ) -> Complexity:
        """Return features used, strength of interactions, complexity of main effects.

        See ``pdp_widgets.explain.complexity.complexity``; ``compare_complexity`` there puts several models side by side.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> Explainer(lambda X: X[:, 0] - X[:, 1], X).complexity().main_effect_complexity
        1.0
        """
        from .complexity import complexity

        return complexity(self, bins=bins, subgroup=subgroup, output=output, progress=progress)

    def greenwell(self, first: Any, second: Any, *, subgroup: Any = None, output: Any = None) -> pd.DataFrame:
        """Return Greenwell's measure of interaction; see ``pdp_widgets.explain.greenwell.greenwell``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> explainer.greenwell("x0", "x1")["greenwell"].round(3).tolist()
        [1.291]
        """
        from .greenwell import greenwell

        return greenwell(self, first, second, subgroup=subgroup, output=output)

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

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
        >>> parts = explainer.decompose("x0", "x1", reference="first")
        >>> parts.constant, parts.interaction[0, -1]
        (array([0.]), array([0., 3., 6.]))
        """
        from .decomposition import decompose

        return decompose(
            self, first, second, reference=reference, grid=grid, subgroup=subgroup, output=output, progress=progress
        )

    # ---- rules ---------------------------------------------------------------------------

    def rules(
        self,
        y: Any = None,
        *,
        max_rules: int = 500,
        n_terms: int | None = None,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
        **options: Any,
    ) -> Rules:
        """Return rules that describe the model: its own if it is a RuleFit, else those of a surrogate with its fidelity.

        With ``y`` (True: the explainer's) rules of the outcome. A rule works as ``subgroup=`` anywhere. See
        ``pdp_widgets.explain.rules.rules``.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> rng = np.random.default_rng(0)
        >>> X = pd.DataFrame({"temp": rng.uniform(0, 30, 600), "wind": rng.uniform(0, 10, 600)})
        >>> explainer = Explainer(lambda X: 100.0 + 50.0 * ((X.temp > 20) & (X.wind < 5)), X)
        >>> found = explainer.rules(n_terms=1)
        >>> found.kind, round(found.fidelity, 2)
        ('surrogate', 0.99)
        >>> rule = found.rules[0]
        >>> rule.features, explainer.partial_dependence("temp", subgroup=rule).subgroup == rule.text
        (('temp', 'wind'), True)
        """
        from .rules import rules

        return rules(
            self,
            y,
            max_rules=max_rules,
            n_terms=n_terms,
            subgroup=subgroup,
            output=output,
            progress=progress,
            **options,
        )

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
