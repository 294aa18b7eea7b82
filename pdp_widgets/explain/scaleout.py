"""Explanations of more rows than are here: averages from chunks, computed where the chunks are; curves from a sample.

Every average is a sum over rows, so each chunk gives its own sums and only these travel. What needs single rows (ICE curves, grids,
the levels that subgroups may name, all other explanations) comes from a uniform sample of the rows of all chunks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from typing import Any

import numpy as np

from pdp_widgets.inputs import Feature, InputError, model_name
from pdp_widgets.inputs.errors import did_you_mean
from pdp_widgets.inputs.subgroup import parse

from .explainer import Explainer
from .grids import at_least
from .progress import bar
from .results import in_words
from .scaleout_chunks import Companions, split
from .scaleout_places import Chunks, Place, chunks_of, place_of, run, seeded_order
from .scaleout_result import ChunkedDependence
from .scaleout_sample import FirstReading, Plan, Reservoir
from .scaleout_work import Asked, Question, Total, Work, bare

OPTIONS = (
    "features", "output", "response", "output_names", "grid_size", "percentiles", "nan_predictions", "cache_bytes", "method",
)  # fmt: skip
"""What ``from_chunks`` hands on to ``Explainer``."""

_KEPT = 256  # totals: a few numbers per grid cell


class ChunkedExplainer:
    """What a fitted model does, averaged over rows that come in chunks; made by ``from_chunks``."""

    def __init__(
        self,
        model: Any,
        chunks: Chunks,
        place: Place,
        plan: Plan,
        options: Mapping[str, Any],
        executor: Executor | None,
    ) -> None:
        self._chunks, self._place = chunks, place
        first = FirstReading(model, options)
        reservoir = Reservoir(plan.size)
        with closing(place.surveys(chunks, plan, lambda: reservoir.most)) as surveys:
            for number, found in surveys:
                first.take(number, found, plan.names)
                reservoir.add(found)
        if first.layout is None:
            raise InputError("the chunks have no rows at all")
        self.sample_rows, frame = reservoir.rows(first.layout)
        """(m,) positions of the sampled rows among all rows, ascending."""
        X, y, weights = split(frame, plan.names)
        mean_weight = first.weight / sum(first.sizes.values())
        if weights is not None and not weights.sum() > 0:
            some = "sampled rows; raise sample=" if mean_weight > 0 else "rows"
            raise InputError(f"sample_weight is zero for all {some}")
        self.sample = Explainer(
            model, X, y, sample_weight=weights, random_state=plan.seed, executor=executor, **options
        )  # fmt: skip
        """The sample as an ordinary ``Explainer``: grids, curves, and every other explanation."""
        self._sizes = first.sizes
        self._order = [int(k) for k in seeded_order(chunks, np.array(list(first.sizes)), plan.seed)]
        self._kept: OrderedDict[tuple[Any, ...], Total] = OrderedDict()
        self._rows_asked = 0
        wish = options.get("method", "auto")
        refused = wish == "auto" and self.sample.source.method.refusal is not None
        place.share(
            Work(
                model=model,
                response=options.get("response", "auto"),
                output_names=options.get("output_names"),
                chosen=options.get("features"),
                nan_predictions=options.get("nan_predictions", "raise"),
                wish="model" if refused else wish,
                features=self.sample.features,
                outputs=tuple(self.sample.outputs),
                layout=first.layout,
                names=plan.names,
                mean_weight=mean_weight,
            )
        )

    # ---- what there is -------------------------------------------------------------------

    @property
    def features(self) -> dict[str, Feature]:
        """Return the features by name."""
        return self.sample.features

    @property
    def outputs(self) -> list[str]:
        """Return the names of the model's outputs."""
        return self.sample.outputs

    @property
    def scale(self) -> str:
        """Return the response scale."""
        return self.sample.scale

    @property
    def chunk_rows(self) -> dict[int, int]:
        """Return the number of rows of each chunk that has any, by the chunk's number."""
        return dict(self._sizes)

    @property
    def n_chunks(self) -> int:
        """Return the number of chunks that have rows."""
        return len(self._sizes)

    @property
    def n_rows(self) -> int:
        """Return the number of rows of all chunks."""
        return sum(self._sizes.values())

    @property
    def rows_asked(self) -> int:
        """Return how many rows the model was asked to predict, for the sample and at the chunks."""
        return self.sample.rows_asked + self._rows_asked

    def __repr__(self) -> str:
        """Say what is explained."""
        what = in_words(self.scale, self.outputs)
        rows = f"{self.n_rows:,} rows in {self.n_chunks} chunks, {self.sample.n_rows:,} of them sampled"
        return f"<ChunkedExplainer of {model_name(self.sample.model)}: {len(self.features)} features, {rows}; {what}>"

    # ---- partial dependence --------------------------------------------------------------

    def partial_dependence(
        self, features: Any, *, grid: Any = None, subgroup: Any = None, output: Any = None, progress: bool | None = None
    ) -> ChunkedDependence:
        """Return the partial dependence on a feature or a pair, from all rows of all chunks.

        Parameters
        ----------
        features : name, or (name, name)
        grid : sequence, mapping of name to sequence, or "steps", optional
            The caller's own grid points; by default those of the sample.
        subgroup : query string or object with ``mask(table)``, optional
            Average over these rows only.
        output : name, class label or position, optional
            Return this output only.
        progress : bool, optional
            Show a bar: None means when it is slow.

        Raises
        ------
        InputError
            For an unknown feature or output, an empty subgroup, chunks that cannot be read or changed since the first reading.
        PredictionError
            When the model fails; as all errors of a chunk, it names the chunk.
        """
        return self._all([features], [grid], subgroup, output, progress)[0]

    def partial_dependences(
        self,
        features: Sequence[Any] | None = None,
        *,
        subgroup: Any = None,
        output: Any = None,
        progress: bool | None = None,
    ) -> dict[Any, ChunkedDependence]:
        """Return the partial dependence on several features or pairs from one reading of the chunks.

        Parameters
        ----------
        features : sequence of names and pairs, optional
            All features by default.
        subgroup, output, progress
            As in ``partial_dependence``.

        Returns
        -------
        dict of name or pair to ChunkedDependence
        """
        wanted = list(self.features) if features is None else list(features)
        names = [tuple(one) if isinstance(one, list) else one for one in wanted]
        return dict(zip(names, self._all(wanted, [None] * len(wanted), subgroup, output, progress), strict=True))

    def iter_partial_dependence(
        self, features: Any, *, grid: Any = None, subgroup: Any = None, output: Any = None
    ) -> Iterator[ChunkedDependence]:
        """Yield the partial dependence as it converges: one result per chunk, the last one from all rows.

        Takes the parameters of ``partial_dependence``. Chunks are taken in random order where they can be had in any order, and then
        each result has a ``stderr``. Whoever stops asking stops the work; asked again, it goes on with the chunks that are missing.
        """
        condition, text = self._condition(subgroup, output)
        sampled = self._sampled(features, grid, condition, text, known=_in_words(subgroup))
        for _ in sampled.curves():
            pass
        for _ in self._grow([sampled], condition):
            if sampled.total.chunks < self.n_chunks:
                yield self._result(sampled, output)
        yield self._result(sampled, output)

    # ---- helpers -------------------------------------------------------------------------

    def _all(
        self, features: list[Any], grids: list[Any], subgroup: Any, output: Any, progress: bool | None
    ) -> list[ChunkedDependence]:
        condition, text = self._condition(subgroup, output)
        known = _in_words(subgroup)
        asked = [
            self._sampled(one, grid, condition, text, known=known) for one, grid in zip(features, grids, strict=True)
        ]
        what = " x ".join(grid.feature.name for grid in asked[0].grids) if len(asked) == 1 else f"{len(asked)} features"
        missing = min((one.total.chunks for one in asked), default=0)
        rows = sum(self._sizes[number] for number in self._order[missing:])
        with bar(
            rows + sum(one.ice.rows_total - one.ice.rows_done for one in asked if one.keeps), what, progress
        ) as shown:
            for one in asked:
                for done in one.curves():
                    shown.update(done)
            for done in self._grow(asked, condition):
                shown.update(done)
        return [self._result(one, output) for one in asked]

    def _condition(self, subgroup: Any, output: Any) -> tuple[Any, str | None]:
        """Return the subgroup as a condition and in words; that the output exists is found out now, not after all chunks."""
        if output is not None:
            self.sample.response.position(output)
        if subgroup is None:
            return None, None
        if isinstance(subgroup, str):
            try:
                return parse(subgroup, self.sample.table), subgroup
            except InputError as error:
                if " has no value " not in str(error) or self.sample.n_rows == self.n_rows:
                    raise
                raise InputError(
                    f"{error}. These are the values of the {self.sample.n_rows:,} sampled rows; for a rare one raise sample=, "
                    "or give its column a category dtype that names all levels"
                ) from error
        if callable(getattr(subgroup, "mask", None)) and not hasattr(subgroup, "iloc"):
            return subgroup, str(getattr(subgroup, "text", "") or type(subgroup).__name__)
        raise InputError(
            f'subgroup is a {type(subgroup).__name__}; of rows in chunks, expected a query string such as "temp > 20"'
        )

    def _sampled(self, features: Any, grid: Any, condition: Any, text: str | None, *, known: bool) -> Asked:
        ice = self.sample.ice(features, grid=grid)
        one = Asked(ice, None if condition is None else condition.mask(self.sample.table), text)
        cells = int(np.prod([grid.size for grid in ice.grids]))
        one.known = known  # two conditions that are objects may read alike and yet mean other rows
        none = Total.none((len(self.outputs), cells))
        one.total = self._kept.get(one.key, none) if one.known else none
        return one

    def _grow(self, asked: list[Asked], condition: Any) -> Iterator[int]:
        """Take in the missing chunks, one after the other, yielding their rows; what was taken in is kept."""
        had = [one.total.chunks for one in asked]
        jobs = self._jobs(asked, had, condition)
        with closing(run(self._place, jobs)) as answers:
            for position, (found, model_rows) in zip(range(min(had, default=0), self.n_chunks), answers, strict=True):
                self._rows_asked += model_rows
                open_ones = [one for one, before in zip(asked, had, strict=True) if before <= position]
                for one, sums in zip(open_ones, found, strict=True):
                    one.total = one.total.plus(sums)
                    self._keep(one)
                yield self._sizes[self._order[position]]

    def _jobs(self, asked: list[Asked], had: list[int], condition: Any) -> Iterator[tuple[int, Any, tuple[Any, ...]]]:
        position = min(had, default=0)
        if position >= self.n_chunks:
            return
        for number, piece in self._chunks.pieces(self._order[position:]):
            grids = tuple(
                tuple(bare(grid) for grid in one.grids)
                for one, before in zip(asked, had, strict=True)
                if before <= position
            )
            yield number, piece, (self._sizes[number], Question(grids, condition))
            del piece
            position += 1

    def _keep(self, one: Asked) -> None:
        if not one.known:
            return
        held = self._kept.pop(one.key, None)
        # Another one who asked the same at the same time may be further on.
        self._kept[one.key] = one.total if held is None or held.chunks <= one.total.chunks else held
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _result(self, one: Asked, output: Any) -> ChunkedDependence:
        total, n_chunks = one.total, self.n_chunks
        moments = total.moments
        complete = total.chunks == n_chunks
        counted = moments.count + total.omitted
        if complete and not counted:
            raise InputError(f"subgroup {one.text!r} holds none of the {self.n_rows:,} rows")
        rows_total = self.n_rows if one.text is None else counted
        if one.text is not None and not complete and total.rows:
            rows_total = max(counted, round(self.n_rows * counted / total.rows))
        shape = (len(self.outputs), *(grid.size for grid in one.grids))
        empty = moments.count == 0 or moments.weight == 0
        unknown = np.full(shape, np.nan)
        judged = complete or self._chunks.any_order
        result = ChunkedDependence(
            grids=one.grids,
            average=unknown if empty else moments.mean.reshape(shape).copy(),
            stderr=unknown if empty or not judged else total.stderr(n_chunks).reshape(shape),
            variance=unknown if empty else moments.variance.reshape(shape),
            rows=one.rows(),
            rows_total=rows_total,
            rows_omitted=total.omitted,
            outputs=tuple(self.outputs),
            labels=tuple(self.sample.response.raw_labels),
            scale=self.scale,
            subgroup=one.text,
            weights=self.sample.weights,
            curves=one.ice.values,
            method=self._method(one),
            rows_used=moments.count,
            chunks_done=total.chunks,
            chunks_total=n_chunks,
            counts=total.counts,
            mass=total.mass,
        )
        if output is None:
            return result
        return result.output(output)

    def _method(self, one: Asked) -> str:
        total = one.total
        inside = "" if one.text is None else " of the subgroup"
        used = f"{total.moments.count:,} rows{inside} in {total.chunks} "
        if total.chunks == self.n_chunks:
            used = f"{'' if total.omitted else 'all '}{used}chunk{'' if self.n_chunks == 1 else 's'}"
        else:
            used = f"{used}of {self.n_chunks} chunks"
        ways = f" ({' and '.join(sorted(total.ways))})" if total.ways else ""
        curves = f"curves of a sample of {len(one.rows()):,} rows{inside}" if one.keeps else "no curves"
        return f"averages of {used}{ways}; {curves}"


def _in_words(subgroup: Any) -> bool:
    return subgroup is None or isinstance(subgroup, str)


def from_chunks(
    model: Any,
    chunks: Any,
    *,
    y: Any = None,
    sample_weight: Any = None,
    sample: int = 2000,
    random_state: int = 0,
    client: Any = None,
    executor: Executor | None = None,
    **options: Any,
) -> ChunkedExplainer:
    """Explain a model on rows that come in chunks, of which not all need to fit into memory.

    All chunks are read once now, for their number of rows, their columns and a uniform sample of ``sample`` rows, and once more for
    each partial dependence. What is expensive to compute should be kept where it is (for dask: ``X.persist()``).

    Parameters
    ----------
    model : estimator, pipeline, booster or callable
        See ``Explainer``. Workers get it once, or once for each reading of the chunks, not with each chunk.
    chunks : dask DataFrame, sequence, callable or iterable
        A dask DataFrame: its partitions are computed on the cluster and stay there. A sequence of tables, or of functions without
        arguments that each read one (where it is worked on). A function that returns an iterator over tables, or an object that can
        be iterated over again and again: here, one table is held at a time. A generator is refused, since it can be read only once.
        All tables must have the same columns and dtypes; categories without an order may differ, and are united.
    y, sample_weight : column name, optional
        Columns of the chunks that hold the outcome and the row weights; the model does not see them.
    sample : int
        Rows of the sample. It holds the same rows however the rows are cut into chunks.
    random_state : int
        Seed of the sample, of the order of the chunks and of all further sampling.
    client : distributed.Client, optional
        The cluster to compute on; by default, for a dask DataFrame, that of the current client. Workers need this package. A worker
        that is lost costs time, no numbers: what it did is done again elsewhere.
    executor : concurrent.futures.Executor, optional
        Where chunks are worked on instead; default: in this process, one after the other. Also for the sample's own model calls.
    **options
        ``features``, ``output``, ``response``, ``output_names``, ``grid_size``, ``percentiles``, ``nan_predictions``,
        ``cache_bytes`` and ``method`` as in ``Explainer``.

    Returns
    -------
    ChunkedExplainer
        ``.partial_dependence(...)`` averages over all rows; ``.sample`` is the ordinary ``Explainer`` of the sample.

    Raises
    ------
    InputError
        When chunks cannot be read (again), do not go together, or an option cannot be used; the message names the chunk.
    PredictionError
        When the model fails on the first rows of the sample.
    TypeError
        For an unknown option.

    Notes
    -----
    Sums of chunks are merged by the formulas of Chan, Golub & LeVeque (1979). A row's random key depends on the seed and its position
    alone; the rows with the smallest keys are a uniform sample without replacement.

    Examples
    --------
    >>> import pandas as pd
    >>> frames = [pd.DataFrame({"a": [0.0, 1.0], "b": [2.0, 3.0]}), pd.DataFrame({"a": [4.0], "b": [5.0]})]
    >>> explainer = from_chunks(lambda X: X["a"] * X["b"], frames, sample=2)
    >>> explainer.partial_dependence("a", grid=[0, 1, 2]).to_frame()
           output    a  average  stderr  n_nearest
    0  prediction  0.0 0.000000     0.0          1
    1  prediction  1.0 3.333333     0.0          1
    2  prediction  2.0 6.666667     0.0          1
    """
    for name in options:
        if name == "background":
            raise InputError(
                "background= is for rows that are all here; of chunks, sample= says how many rows to sample"
            )
        if name not in OPTIONS:
            raise TypeError(f"from_chunks() got an unexpected option {name!r}{did_you_mean(name, OPTIONS)}")
    plan = Plan(Companions(y, sample_weight), at_least("sample", sample, 1), at_least("random_state", random_state, 0))
    place = place_of(chunks, client, executor)
    return ChunkedExplainer(model, chunks_of(chunks), place, plan, options, executor)
