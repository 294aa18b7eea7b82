"""Tables as boosting libraries see them: from the rows that an estimator is given to the numbers its trees compare.

Every library has its own rules for integers, categories, missing and absent values, and they depend on the container.
One class per library; all are picklable and pure functions of their argument. The trees themselves are read in
``boosters.py`` and ``catboost.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from .ensemble import UnreadableError

ZERO_WINDOW = float(np.float32(1e-35))
"""LightGBM takes what is not farther from zero for zero."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table as float64 numbers: what the libraries have in common."""

    n_columns: int

    def __call__(self, rows: Any) -> np.ndarray:
        """Return rows as (m, n_columns) float64, NaN where missing.

        Raises
        ------
        UnreadableError
            When the library would refuse the rows, or take them in a way that is not known here.
        """
        shape = np.shape(rows)
        if len(shape) != 2 or shape[1] != self.n_columns:
            raise UnreadableError(f"it was fitted to {self.n_columns} columns, not to rows of shape {shape}")
        try:
            return self.numbers(rows).astype(float, copy=False)
        except (TypeError, ValueError) as error:
            raise UnreadableError(f"its rows could not be turned into numbers ({error})") from error

    def numbers(self, rows: Any) -> np.ndarray:
        """Return rows as an array of numbers, in the precision that the library takes them in."""
        raise NotImplementedError


@dataclass(frozen=True)
class CatBoostColumns(Columns):
    """Numeric columns of CatBoost: float32, and zero where a sparse matrix holds nothing."""

    def numbers(self, rows: Any) -> np.ndarray:
        """Return rows as float32."""
        return _stacked(rows, np.float32) if _is_frame(rows) else _array(rows, np.float32, absent=0.0)


@dataclass(frozen=True)
class XGBoostColumns(Columns):
    """Columns of XGBoost: float32, and missing where a sparse matrix holds nothing."""

    categories: tuple[tuple[Hashable, ...] | None, ...] = ()
    """Per column, the categories (text as UTF-8) that the model numbers from 0; None for numbers. Empty when the model
    keeps none: the codes of the table then count."""
    coded: tuple[int, ...] = ()
    """Columns whose values are category codes."""
    missing: float = np.nan
    """The number that stands for a missing value, beside NaN; rounded to float32."""
    native: bool = False
    """Whether a ``Booster`` is asked, by way of a ``DMatrix``."""

    def numbers(self, rows: Any) -> np.ndarray:
        """Return rows as float32."""
        if _is_frame(rows):
            values = np.empty(rows.shape, dtype=np.float32)
            for j, series in enumerate(_series(rows)):
                codes = _category_codes(series)
                column = _numbers(series, np.float32) if codes is None else codes.astype(np.float32)
                # A missing number is looked for among the table's codes, before they become those of the model.
                column = np.where(column == self.missing, np.float32(np.nan), column)
                known = self.categories[j] if j < len(self.categories) else None
                if codes is not None and known is not None:
                    column = _recoded(series, column, known)
                values[:, j] = column
        else:
            values = _array(rows, np.float32, absent=np.nan)
            values[values == self.missing] = np.nan
        # A DMatrix refuses infinities. Estimators do without one, but for other sparse matrices than this kind.
        by_matrix = self.native or (sparse.issparse(rows) and not isinstance(rows, sparse.csr_matrix))
        if by_matrix and np.isinf(values).any():
            raise UnreadableError("XGBoost refuses infinite numbers here")
        for j in self.coded:
            values[:, j] = _whole(values[:, j], (values[:, j] >= 0) & (values[:, j] < 2**24))
        return values


@dataclass(frozen=True)
class LightGBMColumns(Columns):
    """Columns of LightGBM: float64, and zero where a sparse matrix holds nothing."""

    categories: tuple[tuple[Any, ...], ...] | None = None
    """The categories of each column of pandas' category type, in order."""
    coded: tuple[int, ...] = ()
    """Columns whose values are category codes."""
    zero_missing: tuple[int, ...] = ()
    """Columns in which zero is missing."""
    validated: bool = False
    """Whether scikit-learn's checks come first, as in the estimators."""
    arrow: bool = True
    """Whether tables other than pandas' are taken column by column (from LightGBM 4.7 on)."""

    def numbers(self, rows: Any) -> np.ndarray:
        """Return rows as float64."""
        windowed = True
        if isinstance(rows, pd.DataFrame):
            values = self._pandas(rows)
        elif _is_frame(rows) and self.arrow:
            values, windowed = _stacked(rows, np.float64), False
        elif sparse.issparse(rows):
            values, windowed = _array(rows, np.float64, absent=0.0), rows.format == "csc"
        else:
            array = np.asarray(rows)
            if array.dtype == object and self.validated:
                array = _array(array, np.float64)
            # Whole arrays of integers are taken as float32, which rounds beyond 2^24.
            values = _array(array, array.dtype if array.dtype == np.float64 else np.float32).astype(float)
        near_zero = np.abs(values) <= ZERO_WINDOW
        if windowed:
            values[near_zero] = 0.0
        for j in self.zero_missing:
            values[near_zero[:, j], j] = np.nan
        for j in self.coded:
            # Other than XGBoost it first cuts: between -1 and 0 is category 0.
            values[:, j] = _whole(values[:, j], (values[:, j] > -1) & (values[:, j] < 2**31))
        return values

    def _pandas(self, frame: pd.DataFrame) -> np.ndarray:
        # LightGBM looks for one type for all columns; it is float32 only where that rounds nothing.
        values = np.empty(frame.shape)
        categories = None if self.categories is None else list(self.categories)
        for j, series in enumerate(_series(frame)):
            if isinstance(series.dtype, pd.CategoricalDtype):
                if categories == []:
                    raise UnreadableError(f"it was not fitted to categories in column {series.name!r}")
                if categories is not None:
                    # The first category column has the first list, wherever it stands.
                    known = list(categories.pop(0))
                    same = list(series.cat.categories) == known
                    series = series if same else series.cat.set_categories(known)  # noqa: PLW2901
                values[:, j] = _category_codes(series)
            else:
                values[:, j] = _numbers(series, np.float64)
        if categories:
            raise UnreadableError(f"it was fitted to {len(categories)} more category columns")
        return values


def _is_frame(rows: Any) -> bool:
    polars = sys.modules.get("polars")
    return isinstance(rows, pd.DataFrame) or (polars is not None and isinstance(rows, polars.DataFrame))


def _series(frame: Any) -> list[Any]:
    if isinstance(frame, pd.DataFrame):
        return [frame.iloc[:, j] for j in range(frame.shape[1])]
    return list(frame.get_columns())


def _stacked(frame: Any, dtype: Any) -> np.ndarray:
    values = np.empty(frame.shape, dtype=dtype)
    for j, series in enumerate(_series(frame)):
        values[:, j] = _numbers(series, dtype)
    return values


def _numbers(series: Any, dtype: Any) -> np.ndarray:
    """Return a pandas or polars column of numbers or truth values as a float array."""
    with np.errstate(over="ignore"):
        if not isinstance(series, pd.Series):
            import polars as pl

            if series.dtype.is_numeric() or series.dtype == pl.Boolean:
                target = pl.Float32 if dtype == np.float32 else pl.Float64
                return np.asarray(series.cast(target).to_numpy(), dtype=dtype)
        elif pd.api.types.is_numeric_dtype(series.dtype) and series.dtype.kind != "c":
            if isinstance(series.dtype, pd.SparseDtype):
                series = series.sparse.to_dense()
            return np.asarray(series.to_numpy(dtype=dtype, na_value=np.nan))
    raise UnreadableError(f"column {series.name!r} holds {series.dtype}, not numbers")


def _array(rows: Any, dtype: Any, absent: float = 0.0) -> np.ndarray:
    """Return an array, a list of rows or a sparse matrix as a new float array."""
    stored = rows.tocoo() if sparse.issparse(rows) else np.asarray(rows)
    if stored.dtype.kind not in "biufO":
        raise UnreadableError(f"it is given {stored.dtype}, not numbers")
    with np.errstate(over="ignore"):
        if isinstance(stored, np.ndarray):
            return np.array(stored, dtype=dtype)
        dense = np.full(stored.shape, absent, dtype=dtype)
        dense[stored.row, stored.col] = stored.data.astype(dtype)
    return dense


def _whole(codes: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return codes cut to whole numbers as the libraries do, -1 (which is in no set) for invalid ones."""
    return np.where(valid | np.isnan(codes), np.trunc(codes), -1)


def _category_codes(series: Any) -> np.ndarray | None:
    """Return the codes of a pandas or polars category column, NaN where missing; None for other columns."""
    if isinstance(series, pd.Series):
        if not isinstance(series.dtype, pd.CategoricalDtype):
            return None
        codes = series.cat.codes.to_numpy().astype(float)
        codes[codes < 0] = np.nan
        return codes
    if type(series.dtype).__name__ not in ("Categorical", "Enum"):
        return None
    return np.asarray(series.to_arrow().indices.to_numpy(zero_copy_only=False), dtype=float)


def _recoded(series: Any, codes: np.ndarray, known: tuple[Hashable, ...]) -> np.ndarray:
    """Return codes of a table's own categories as codes of the model's categories."""
    own = series.cat.categories.tolist() if isinstance(series, pd.Series) else series.to_arrow().dictionary.to_pylist()
    labels = [label if isinstance(label, int) and not isinstance(label, bool) else str(label) for label in own]
    keys = [label.encode() if isinstance(label, str) else label for label in labels]
    if not all(str(label).isascii() for label in labels):
        # XGBoost 3.1 and 3.2 cut the UTF-8 text of all labels at their lengths in characters, and may so take two
        # labels for one. Where that leaves no doubles, labels in the model's own order are safe.
        text = "".join(map(str, labels)).encode()
        ends = np.cumsum([0, *(len(str(label)) for label in labels)])
        cut = [text[start:end] for start, end in pairwise(ends)]
        if list(known) in (cut, keys) and len(set(known)) == len(known):
            return codes
        raise UnreadableError(f"XGBoost may confuse categories of {series.name!r} whose names are not plain ASCII")
    position = {label: k for k, label in enumerate(known)}
    table = np.array([position.get(key, -1) for key in keys], dtype=float)
    here = ~np.isnan(codes)
    new = codes.copy()
    new[here] = table[codes[here].astype(int)]
    if (new < 0).any():
        label = labels[int(codes[new < 0][0])]
        raise UnreadableError(f"{label!r} is no category of {series.name!r} that the model was fitted to")
    return new
