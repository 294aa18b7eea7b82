"""What comes along with the rows of X: weights, an outcome, a mask. One value per row, in X's order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .errors import InputError

if TYPE_CHECKING:
    from .table import FeatureTable


def row_weights(given: Any, table: FeatureTable) -> np.ndarray | None:
    """Return row weights scaled to mean 1 (so that sums stay counts), or None.

    Raises
    ------
    InputError
        When they are not one finite, non-negative number per row, or all zero.
    """
    if given is None:
        return None
    try:
        weights = np.asarray(_aligned(given, table, "sample_weight"), dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight cannot be used: {error}") from error
    if weights.shape != (table.n_rows,):
        raise InputError(f"sample_weight has shape {weights.shape}; expected ({table.n_rows},), one per row")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InputError("sample_weight must be finite, not negative, and not all zero")
    if not 1e-290 < weights.max() < 1e290:  # sums of such weights may be no numbers
        weights = weights / weights.max()
    return weights / weights.mean()


def row_outcome(given: Any, table: FeatureTable) -> np.ndarray | None:
    """Return the observed outcome, one value (or row of values) per row of X."""
    if given is None:
        return None
    outcome = np.asarray(_aligned(given, table, "y"))
    if outcome.ndim == 2 and outcome.shape[1] == 1:
        outcome = outcome[:, 0]
    if outcome.shape[:1] != (table.n_rows,):
        raise InputError(f"y has shape {outcome.shape}; X has {table.n_rows} rows")
    return outcome


def row_mask(given: Any, table: FeatureTable) -> np.ndarray:
    """Return a boolean mask, of any length the caller has to check.

    Raises
    ------
    InputError
        When it is no one-dimensional mask of booleans, or a Series with other rows than X.
    """
    mask = np.asarray(_aligned(given, table, "subgroup"))
    if mask.dtype == object and all(isinstance(v, (bool, np.bool_)) for v in mask.ravel()):
        mask = mask.astype(bool)
    if mask.dtype != bool or mask.ndim != 1:
        raise InputError(
            f"subgroup is {mask.dtype} of shape {mask.shape}; expected a query string or a boolean mask, one per row"
        )
    return mask


def _aligned(given: Any, table: FeatureTable, what: str) -> Any:
    """Bring a pandas Series into X's row order, as pandas itself does; leave everything else alone."""
    index = table.index
    if not isinstance(given, (pd.Series, pd.DataFrame)) or index is None or len(given) != len(index):
        return given
    if given.index.equals(index):
        return given
    if given.index.is_unique and index.is_unique and given.index.isin(index).all():
        return given.reindex(index)
    raise InputError(
        f"{what} is a {type(given).__name__} with other row labels than X; give it X's index, or pass "
        f"{what}.to_numpy() if the rows are in X's order"
    )
