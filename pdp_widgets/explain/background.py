"""Background: a model with the rows that explanations average over, and what is shared by all of them.

It reads what the user hands over, knows features, outputs, grids and subgroups, and keeps what was computed. The explanations themselves
are methods of ``Explainer``, which stands on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from pdp_widgets.inputs import Feature, FeatureTable, Grid, InputError, Response, model_name
from pdp_widgets.inputs.errors import arguments_of, unknown_name
from pdp_widgets.inputs.rows import row_mask, row_outcome, row_weights
from pdp_widgets.inputs.subgroup import parse
from pdp_widgets.tabular import Tabular

from .cache import IceCache
from .grids import Grids, at_least, shares
from .method import WISHES
from .overview import features_frame
from .results import in_words
from .source import Base, Source

if TYPE_CHECKING:
    from pdp_widgets.trees.sums import TreeSums

    from .ice import Ice


class Background(Tabular):
    """A model and its background rows; parameters are those of ``Explainer``."""

    @arguments_of("Explainer")
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
        given = {
            "features": features, "output": output, "response": response, "output_names": output_names, "sample_weight": sample_weight,
            "background": background, "grid_size": grid_size, "percentiles": percentiles, "random_state": random_state,
            "executor": executor, "nan_predictions": nan_predictions, "cache_bytes": cache_bytes, "method": method,
        }  # fmt: skip
        self.options = {name: value for name, value in given.items() if value is not _DEFAULTS[name]}
        """The options that were given, as they were given."""
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

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature: its kind, its values in words, how many rows miss it.

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> explainer = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0], [2.0]]))
        >>> explainer.to_frame()
          feature    kind  values  missing
        0      x0  number  0 to 2        0
        """
        return features_frame(self.table)

    def __repr__(self) -> str:
        """Say what is explained."""
        rows = f"{self.n_rows} rows"
        if self.n_rows != self.n_rows_given:
            rows += f" sampled of {self.n_rows_given}"
        what = in_words(self.scale, self.outputs)
        return f"<Explainer of {model_name(self.model)}: {len(self.features)} features, {rows}; {what}>"

    # ---- the growing computations --------------------------------------------------------

    def base(self) -> Base:
        """Return the growing predictions at the rows' own values.

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> explainer = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0], [2.0]]))
        >>> base = explainer.base()
        >>> while not base.complete:
        ...     base.advance()
        >>> base.predictions
        array([[0., 2., 4.]])
        """
        return self._base

    def grid(
        self,
        feature: Any,
        *,
        grid: Any = None,
        grid_size: int | None = None,
        percentiles: tuple[float, float] | None = None,
    ) -> Grid:
        """Return the grid of one feature.

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> explainer = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0], [2.0]]))
        >>> explainer.grid("x0").values
        array([0., 1., 2.])
        """
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

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> explainer = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0], [2.0]]))
        >>> ice = explainer.ice("x0")
        >>> while not ice.complete:
        ...     ice.advance()
        >>> ice.result().average
        array([[0., 2., 4.]])
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

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> explainer = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0], [2.0]]))
        >>> explainer.mask("x0 > 0")
        array([False,  True,  True])
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

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> explainer = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0], [2.0]]))
        >>> explainer.rows_of("x0 > 0")
        (array([False,  True,  True]), 'x0 > 0')
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
        """Return the exact sums of a tree ensemble, waiting for them where they will come; None when the model is asked.

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> explainer = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0], [2.0]]))
        >>> explainer.exact_sums() is None  # no sum of trees
        True
        """
        return self._source.method.wait()


_DEFAULTS = {name: parameter.default for name, parameter in inspect.signature(Background).parameters.items()}


def _in_words(subgroup: Any, mask: np.ndarray) -> str:
    if isinstance(subgroup, str):
        return subgroup
    text = getattr(subgroup, "text", None)
    return text if isinstance(text, str) and text else f"mask of {int(mask.sum())} rows"
