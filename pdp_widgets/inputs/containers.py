"""The containers X may come in: pandas, numpy, polars and scipy sparse.

Each class here knows one container: how to look at a column, and how to build the rows that the
model is asked about, in the very container, dtypes and column order the caller uses. What a column
*means* is the business of ``table.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd

from .errors import InputError

Vector = Any
"""Column values in the container's own dtype (ndarray, ExtensionArray or polars Series)."""


class Container(Protocol):
    """What ``FeatureTable`` needs to know of the caller's X."""

    labels: list[Hashable]
    n_rows: int

    def column(self, j: int) -> pd.Series:
        """Return column ``j`` for looking at (never handed to the model)."""

    def values(self, j: int, rows: np.ndarray) -> Vector:
        """Return the values of column ``j`` at ``rows`` in the column's own dtype."""

    def convert(self, j: int, values: Sequence[Any]) -> Vector:
        """Return the caller's ``values`` in the dtype of column ``j``."""

    def build(self, rows: np.ndarray, replaced: Mapping[int, Vector]) -> Any:
        """Return the rows at ``rows`` with some columns replaced, as the caller's container."""

    def take(self, rows: np.ndarray) -> Container:
        """Return the same container restricted to ``rows``."""

    def bytes_per_row(self) -> float:
        """Return roughly how much memory one built row needs."""


def gather(vector: Vector, index: np.ndarray) -> Vector:
    """Return ``vector[index]`` whatever the container of the vector."""
    take = getattr(vector, "take", None)
    return take(index) if take is not None else vector.gather(index)


class PandasContainer:
    """A DataFrame (or subclass); blocks get a fresh index, since repeated labels break joins."""

    def __init__(self, frame: pd.DataFrame) -> None:
        # Shallow: a column that the caller adds or replaces later is not ours to see.
        self.frame = frame.copy(deep=False)
        self.labels = list(frame.columns)
        self.n_rows = len(frame)

    def column(self, j: int) -> pd.Series:
        return self.frame.iloc[:, j]

    def values(self, j: int, rows: np.ndarray) -> Vector:
        return self.column(j).array.take(rows)

    def convert(self, j: int, values: Sequence[Any]) -> Vector:
        dtype = self.column(j).dtype
        if isinstance(dtype, pd.CategoricalDtype):
            known = set(dtype.categories)
            unknown = [v for v in values if not pd.isna(v) and v not in known]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is not one of its categories")
        if pd.api.types.is_object_dtype(dtype):
            out = np.empty(len(values), dtype=object)
            out[:] = values
            return out
        return pd.array(list(values), dtype=dtype)

    def build(self, rows: np.ndarray, replaced: Mapping[int, Vector]) -> pd.DataFrame:
        block = self.frame.take(rows)
        block.index = pd.RangeIndex(len(block))
        for j, vector in replaced.items():
            # A Series keeps the dtype: of a bare object array pandas would guess one anew.
            block.isetitem(j, pd.Series(vector, index=block.index, dtype=self.column(j).dtype, copy=False))
        return block

    def take(self, rows: np.ndarray) -> PandasContainer:
        return PandasContainer(self.frame.take(rows))

    def bytes_per_row(self) -> float:
        usage = self.frame.iloc[:64].memory_usage(index=False, deep=True).sum()
        return float(usage) / max(1, min(64, self.n_rows))


class NumpyContainer:
    """A 2-D array; columns are called x0, x1, ..."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.labels: list[Hashable] = [f"x{j}" for j in range(array.shape[1])]
        self.n_rows = array.shape[0]

    def column(self, j: int) -> pd.Series:
        return pd.Series(self.array[:, j]).infer_objects()

    def values(self, j: int, rows: np.ndarray) -> Vector:
        return self.array[rows, j]

    def convert(self, j: int, values: Sequence[Any]) -> Vector:
        if self.array.dtype == object:
            out = np.empty(len(values), dtype=object)
            out[:] = values
            return out
        return np.asarray(values, dtype=self.array.dtype)

    def build(self, rows: np.ndarray, replaced: Mapping[int, Vector]) -> np.ndarray:
        block = self.array[rows]
        for j, vector in replaced.items():
            block[:, j] = vector
        return block

    def take(self, rows: np.ndarray) -> NumpyContainer:
        return NumpyContainer(self.array[rows])

    def bytes_per_row(self) -> float:
        return float(self.array.itemsize * self.array.shape[1])


class PolarsContainer:
    """A polars DataFrame; LazyFrames are collected by ``wrap``."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.labels = list(frame.columns)
        self.n_rows = frame.height

    def column(self, j: int) -> pd.Series:
        series = self.frame.to_series(j)
        name = type(series.dtype).__name__
        if name == "Enum":
            return pd.Series(pd.Categorical(series.to_list(), categories=series.dtype.categories.to_list()))
        if name in ("Categorical", "String", "Object"):
            return pd.Series(series.to_list(), dtype=object)
        if name == "Decimal":
            return pd.Series(series.cast(float).to_numpy())
        if name == "Boolean" and series.null_count():
            return pd.Series(series.to_list(), dtype="boolean")
        if series.dtype.is_integer() and series.null_count():
            return pd.Series(series.to_list(), dtype="Int64")
        return pd.Series(series.to_numpy())

    def values(self, j: int, rows: np.ndarray) -> Vector:
        return self.frame.to_series(j).gather(rows)

    def convert(self, j: int, values: Sequence[Any]) -> Vector:
        import polars as pl

        plain = [None if pd.isna(v) else v for v in values]
        return pl.Series(self.labels[j], plain, dtype=self.frame.to_series(j).dtype, strict=True)

    def build(self, rows: np.ndarray, replaced: Mapping[int, Vector]) -> Any:
        block = self.frame[rows]
        return block.with_columns([vector.alias(self.labels[j]) for j, vector in replaced.items()])

    def take(self, rows: np.ndarray) -> PolarsContainer:
        return PolarsContainer(self.frame[rows])

    def bytes_per_row(self) -> float:
        return float(self.frame.estimated_size()) / max(1, self.n_rows)


class SparseContainer:
    """A scipy sparse matrix or array, kept as CSR; columns are called x0, x1, ..."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix.tocsr()
        self.labels: list[Hashable] = [f"x{j}" for j in range(matrix.shape[1])]
        self.n_rows = matrix.shape[0]

    def _dense(self, j: int) -> np.ndarray:
        return np.asarray(self.matrix[:, [j]].todense()).ravel()

    def column(self, j: int) -> pd.Series:
        return pd.Series(self._dense(j))

    def values(self, j: int, rows: np.ndarray) -> Vector:
        return self._dense(j)[rows]

    def convert(self, j: int, values: Sequence[Any]) -> Vector:
        return np.asarray(values, dtype=self.matrix.dtype)

    def build(self, rows: np.ndarray, replaced: Mapping[int, Vector]) -> Any:
        from scipy import sparse

        block = self.matrix[rows]
        if not replaced:
            return block
        keep = np.ones(block.shape[1], dtype=block.dtype)
        keep[list(replaced)] = 0
        block = block @ sparse.diags_array(keep, dtype=block.dtype)
        row = np.tile(np.arange(len(rows)), len(replaced))
        column = np.repeat(list(replaced), len(rows))
        data = np.concatenate([np.asarray(v) for v in replaced.values()])
        added = sparse.coo_array((data, (row, column)), shape=block.shape)
        summed = (sparse.csr_array(block) + added.tocsr()).tocsr()
        # Learners want 32-bit indices, which the sum may have widened.
        summed.indices, summed.indptr = summed.indices.astype(np.int32), summed.indptr.astype(np.int32)
        return type(self.matrix)(summed)

    def take(self, rows: np.ndarray) -> SparseContainer:
        return SparseContainer(self.matrix[rows])

    def bytes_per_row(self) -> float:
        stored = self.matrix.data.nbytes + self.matrix.indices.nbytes
        return float(stored) / max(1, self.n_rows) + 16.0


def wrap(X: Any) -> Container:
    """Return the container for the caller's X.

    Raises
    ------
    InputError
        When X is none of the supported containers, is not two-dimensional, has no rows or
        columns, or repeats a column name.
    """
    container = _recognise(X)
    if container.n_rows == 0 or not container.labels:
        raise InputError(
            f"X has {container.n_rows} rows and {len(container.labels)} columns; "
            "an explanation needs at least one of each"
        )
    repeated = pd.Index(container.labels)
    if not repeated.is_unique:
        names = sorted({str(label) for label in repeated[repeated.duplicated()]})
        raise InputError(
            f"X has more than one column named {', '.join(map(repr, names))}; "
            "rename them, because a feature is addressed by its column name"
        )
    return container


def _recognise(X: Any) -> Container:
    if isinstance(X, pd.DataFrame):
        return PandasContainer(X)
    polars = sys.modules.get("polars")
    if polars is not None:
        if isinstance(X, polars.LazyFrame):
            X = X.collect()
        if isinstance(X, polars.DataFrame):
            return PolarsContainer(X)
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        return SparseContainer(X)
    if isinstance(X, (pd.Series, str, bytes, Mapping)):
        raise InputError(
            f"X is a {type(X).__name__}; expected a two-dimensional table "
            "(pandas or polars DataFrame, numpy array, scipy sparse matrix or list of rows)"
        )
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError(
            "X is a masked array with masked values, which a model would read as numbers; use X.filled(...)"
        )
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.asarray(X, dtype=object)
    except ValueError as error:
        raise InputError(f"X is not a table of rows of equal length: {error}") from error
    if array.ndim != 2:
        raise InputError(
            f"X is a {type(X).__name__} with {array.ndim} dimension(s); expected two, rows by "
            "features (use X.reshape(-1, 1) for a single feature)"
        )
    return NumpyContainer(array)
