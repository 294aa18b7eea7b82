"""Columns of a file as they have to be; of the first cell that is not so, its column, row and value are told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd

from pdp_widgets.inputs.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["codes", "dates", "numbers", "some_rows"]


def some_rows(table: pd.DataFrame, otherwise: str = "the table has no rows") -> pd.DataFrame:
    """Return a table that has rows.

    Raises
    ------
    InputError
        With this text when it has none.
    """
    if not len(table):
        raise InputError(otherwise)
    return table


def numbers(
    column: pd.Series, low: float = -math.inf, high: float = math.inf, *, whole: bool = False, missing: bool = False
) -> pd.Series:
    """Return a column as float64.

    Parameters
    ----------
    column : Series
    low, high : float
        What its values lie between.
    whole : bool
        Whether they are whole numbers.
    missing : bool
        Whether some may be missing.

    Raises
    ------
    InputError
        For a cell that is anything else.
    """
    found = pd.to_numeric(column, errors="coerce").astype(float)
    values = found.to_numpy()
    bad = ~np.isfinite(values) | (values < low) | (values > high)
    if whole:
        bad |= values != np.round(values)
    if missing:
        bad &= ~column.isna().to_numpy()
    if bad.any():
        _refuse(column, bad, _expected(low, high, whole=whole))
    return found


def codes(column: pd.Series, words: Mapping[Any, str]) -> pd.Series:
    """Return words in place of codes.

    Raises
    ------
    InputError
        For a cell that holds no such code.
    """
    # Beside a word that does not belong there pandas leaves numbers as texts.
    values = zip(column.tolist(), pd.to_numeric(column, errors="coerce").tolist(), strict=True)
    found = pd.Series([words.get(value, words.get(number)) for value, number in values], column.index, dtype=object)
    bad = found.isna().to_numpy()
    if bad.any():
        _refuse(column, bad, f"one of {', '.join(map(str, words))}")
    return found


def dates(column: pd.Series, first: str, last: str) -> pd.Series:
    """Return a column of dates, written as in ``first`` and ``last`` (ISO 8601), which they lie between.

    Raises
    ------
    InputError
        For a cell that is no such date.
    """
    found = pd.to_datetime(column.astype(str), format="ISO8601", errors="coerce")
    bad = ~found.between(pd.Timestamp(first), pd.Timestamp(last)).to_numpy()
    if bad.any():
        _refuse(column, bad, f"a date from {first} to {last}")
    return found


def _refuse(column: pd.Series, bad: np.ndarray, expected: str) -> NoReturn:
    at = int(np.flatnonzero(bad)[0])
    value = column.tolist()[at]
    holds = "is empty" if pd.isna(value) else f"holds {value!r}"
    others = int(bad.sum()) - 1
    more = f"; {others:,} more such {'row' if others == 1 else 'rows'}" if others else ""
    raise InputError(
        f"column {column.name!r} {holds} in row {at + 1} (1 is the first below the names{more}); expected {expected}"
    )


def _expected(low: float, high: float, *, whole: bool) -> str:
    what = "a whole number" if whole else "a number"
    if math.isfinite(low) and math.isfinite(high):
        return f"{what} from {low:,.15g} to {high:,.15g}"
    return f"{what}, {low:,.15g} or more" if math.isfinite(low) else what
