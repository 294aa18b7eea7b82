"""The columns that a RuleFit's coefficients stand on: rules as 0/1, linear terms scaled to the spread of a typical rule.

Rules stay a bool matrix, one byte a value; floats are made of a few columns or a few rows at a time. Penalties and fits are in
``lasso`` and ``logistic``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pdp_widgets.inputs.errors import InputError

RULE_SPREAD = 0.4
"""Mean of sqrt(s (1 - s)) over uniform supports s: what linear columns are scaled to (Friedman & Popescu 2008, eq. 25)."""

_BLOCK = 4_000_000
"""Values turned into floats at a time: 16 or 32 MB."""
_CACHE = 256_000_000
"""Bytes of float blocks that are kept instead of made again."""
_EXACT = 2**24
"""Sums of whole numbers up to here are exact in single precision."""


class Design:
    """Rules and linear terms as the columns of one matrix Z, (n, K), K = R + L.

    Column k < R is rule k as 0/1; column R + l is ``0.4 * values_l / sd_l`` (Friedman & Popescu 2008, eq. 25), 0 where the
    values are constant.

    Parameters
    ----------
    masks
        (n, R) bool: whether a rule holds for a row. Fortran order is used as it is, other orders are copied.
    values
        (n, L): the clipped values of the linear terms, in their own units.
    weights
        (n,) weights of the rows, None for equal ones. Only their ratios matter, except that whole numbers are summed faster.
    scale
        (L,) standard deviation of each linear term; None: the weighted one of these rows (divided by the sum of weights). Give
        that of the training rows for a design of other rows.

    Raises
    ------
    InputError
        When shapes do not fit together, weights are negative or all zero, or a value is missing.

    Examples
    --------
    >>> design = Design([[True], [False], [True], [False]], [[1.0], [2.0], [3.0], [4.0]])
    >>> design.times([10.0, 1.0]).round(3)
    array([10.358,  0.716, 11.073,  1.431])
    >>> design.unscaled([10.0, 1.0]).round(4)
    array([10.    ,  0.3578])
    """

    def __init__(
        self,
        masks: object,
        values: object = None,
        weights: object = None,
        scale: object = None,
    ) -> None:
        self.masks = np.asfortranarray(masks, dtype=bool)
        if self.masks.ndim != 2:
            raise InputError(
                f"masks has {self.masks.ndim} dimensions; give one row per row of X and one column per rule"
            )
        self.n_rows, self.n_rules = self.masks.shape
        linear = np.empty((self.n_rows, 0)) if values is None else np.asarray(values, dtype=float)
        if linear.ndim != 2 or len(linear) != self.n_rows:
            raise InputError(
                f"values has shape {linear.shape}; give ({self.n_rows}, number of linear terms), as masks has rows"
            )
        if not np.isfinite(linear).all():
            raise InputError("values has missing or infinite entries; linear terms stand for a number in every row")
        self.n_columns = self.n_rules + linear.shape[1]
        self.weights = _weights(weights, self.n_rows)
        self.total = float(self.weights.sum())

        centre = self.weights @ linear / self.total
        centred = linear - centre
        spread = np.sqrt(self.weights @ centred**2 / self.total)
        # What rounding leaves of a constant is not spread.
        spread[spread <= 1e-13 * np.abs(linear).max(axis=0, initial=0)] = 0
        if scale is not None:
            spread = np.asarray(scale, dtype=float)
            if spread.shape != centre.shape:
                raise InputError(
                    f"scale has shape {spread.shape}; give one standard deviation for each of {len(centre)} linear terms"
                )
        self.factors = np.divide(RULE_SPREAD, spread, out=np.zeros_like(spread), where=spread > 0)
        """(L,) what a linear term is multiplied by."""
        self.linear = np.ascontiguousarray((centred * self.factors).T)
        """(L, n) the linear columns about their means: dates and the like would lose digits otherwise."""
        self.offsets = centre * self.factors
        """(L,) the means taken off."""
        self.means = np.concatenate([self.back(self.weights)[: self.n_rules] / self.total, self.offsets])
        """(K,) weighted means of the columns."""

    def times(self, coef: object, rows: np.ndarray | None = None) -> np.ndarray:
        """Return Z b, (n,) or (n, m), of coefficients (K,) or (K, m), without any intercept; ``rows``: of these rows only."""
        coefficients = np.asarray(coef, dtype=float)
        flat = coefficients if coefficients.ndim > 1 else coefficients[:, None]
        used = np.flatnonzero(flat.any(axis=1))
        total = np.tile(self.offsets @ flat[self.n_rules :], (self.n_rows if rows is None else len(rows), 1))
        for part in self._parts(used, len(total)):
            total += self.columns(part, rows).T @ flat[part]
        return total.reshape(total.shape[:1] + coefficients.shape[1:])

    def back(self, v: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Return Z' v, (K,) or that of some columns, for a vector of one number per row; linear columns about their means."""
        wanted = np.arange(self.n_columns) if columns is None else columns
        parts = [self.columns(part) @ v for part in self._parts(wanted, self.n_rows)]
        return np.concatenate(parts) if parts else np.empty(0)

    def columns(self, indices: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Return columns of Z as the rows of a matrix, (m, n), linear ones about their means."""
        indices = np.asarray(indices, dtype=np.intp)
        is_rule = indices < self.n_rules
        found = np.empty((len(indices), self.n_rows if rows is None else len(rows)))
        for matrix, place, which in (
            (self.masks.T, is_rule, indices[is_rule]),
            (self.linear, ~is_rule, indices[~is_rule] - self.n_rules),
        ):
            if len(which):
                some = matrix[which]
                found[slice(None) if len(which) == len(indices) else place] = some if rows is None else some[:, rows]
        return found

    def gram(self, columns: np.ndarray | None = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the weighted products of all columns with some, (K, m): ``Z' W Z[:, columns]``, linear columns about their means.

        Parameters
        ----------
        columns
            Indices of m columns; None: all.
        rows
            Indices of the rows that are summed over; None: all.
        """
        wanted = np.arange(self.n_columns) if columns is None else np.asarray(columns, dtype=np.intp)
        return Products(self, [np.arange(self.n_rows) if rows is None else np.asarray(rows)]).of(wanted)[0].T

    def unscaled(self, coef: object) -> np.ndarray:
        """Return coefficients of the terms in their own units: those of rules as they are, of linear terms times 0.4 / sd.

        ``coef`` has K entries along its last axis. The intercept stays the same.
        """
        return np.asarray(coef, dtype=float) * np.concatenate([np.ones(self.n_rules), self.factors])

    def _parts(self, indices: np.ndarray, n_rows: int) -> Iterator[np.ndarray]:
        """Cut columns into parts that are small as floats."""
        size = max(1, _BLOCK // max(n_rows, 1))
        return (indices[start : start + size] for start in range(0, len(indices), size))


class Products:
    """Weighted products of few columns with all, summed within each group of rows.

    Whoever fits on several sets of rows (the folds of a cross-validation) needs the products once, by group.
    """

    def __init__(self, design: Design, groups: Sequence[np.ndarray]) -> None:
        self.design = design
        self.groups = groups
        weights = design.weights
        # Counts are exact in single precision, at half the time and memory.
        exact = bool((weights == np.floor(weights)).all()) and design.total < _EXACT
        self._dtype = np.float32 if exact else np.float64
        rows = max(1, _BLOCK // max(design.n_rules, 1))
        self._pieces = [
            (group, piece[start : start + rows])
            for group, piece in enumerate(groups)
            for start in range(0, len(piece), rows)
        ]
        size = sum(map(len, groups)) * design.n_rules * np.dtype(self._dtype).itemsize
        self._kept = [self._rules(piece) for _, piece in self._pieces] if size <= _CACHE else None

    def _rules(self, rows: np.ndarray) -> np.ndarray:
        """Return the rules as floats, (R, number of rows)."""
        return np.take(self.design.masks.T, rows, axis=1).astype(self._dtype)

    def _blocks(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield group, rows and the rules of these rows."""
        for index, (group, rows) in enumerate(self._pieces):
            yield group, rows, self._rules(rows) if self._kept is None else self._kept[index]

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return the products of these m columns with all, (groups, m, K)."""
        design, n_rules = self.design, self.design.n_rules
        total = np.zeros((len(self.groups), len(columns), design.n_columns))
        is_rule = columns < n_rules
        rules, linear = columns[is_rule], columns[~is_rule] - n_rules
        for group, rows, masks in self._blocks():
            weights, values = design.weights[rows], design.linear[:, rows]
            block = total[group]
            if len(rules):
                weighted = masks[rules] * weights.astype(self._dtype)
                block[is_rule, :n_rules] += weighted @ masks.T
                block[is_rule, n_rules:] += weighted.astype(float) @ values.T
            if len(linear):
                weighted = values[linear] * weights
                block[~is_rule, :n_rules] += weighted @ masks.T.astype(float)
                block[~is_rule, n_rules:] += weighted @ values.T
        return total

    def with_vectors(self, vectors: np.ndarray) -> np.ndarray:
        """Return the sums over each group of columns times vectors (n, m), unweighted, (groups, K, m)."""
        design = self.design
        total = np.zeros((len(self.groups), design.n_columns, vectors.shape[1]))
        for group, rows, masks in self._blocks():
            total[group, : design.n_rules] += masks.astype(float) @ vectors[rows]
            total[group, design.n_rules :] += design.linear[:, rows] @ vectors[rows]
        return total


def _weights(weights: object, n_rows: int) -> np.ndarray:
    """Return valid weights of the rows as floats."""
    if not n_rows:
        raise InputError("there are no rows to fit to")
    if weights is None:
        return np.ones(n_rows)
    given = np.asarray(weights, dtype=float)
    if given.shape != (n_rows,):
        raise InputError(f"weights has shape {given.shape}; give one weight for each of the {n_rows} rows")
    if not np.isfinite(given).all() or (given < 0).any() or not given.sum() > 0:
        raise InputError(
            "weights has missing, infinite or negative entries, or only zeros; give weights of 0 and above"
        )
    return given
