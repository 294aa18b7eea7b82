"""Where the marks of an axis are, and how they are written."""

from __future__ import annotations

import math

import pandas as pd

__all__ = ["date_ticks", "number_ticks", "ticks_near"]

_MONTH = 30.44 * 86_400_000.0
_MONTHS = ((1200, "%Y"), (120, "%Y"), (60, "%Y"), (24, "%Y"), (12, "%Y"), (6, "%b %Y"), (3, "%b %Y"), (1, "%b %Y"))
"""Steps of long date axes, in months, and how their dates are written."""
_SECONDS = (
    (604_800, "%d %b"), (172_800, "%d %b"), (86_400, "%d %b"), (21_600, "%d %b %H:%M"), (3600, "%H:%M"), (900, "%H:%M"),
    (300, "%H:%M"), (60, "%H:%M"), (15, "%H:%M:%S"), (1, "%H:%M:%S"),
)  # fmt: skip
"""Steps of short ones, in seconds."""


def number_ticks(low: float, high: float, most: int = 7, *, whole: bool = False) -> list[tuple[float, str]]:
    """Return round numbers between two ends and their texts: as many as there may be, and at least 4 where that is 7 or more.

    Where there are ``whole`` numbers only, they are whole, however few that may be.

    Examples
    --------
    >>> number_ticks(0.0, 10.0, 6)
    [(0.0, '0'), (2.0, '2'), (4.0, '4'), (6.0, '6'), (8.0, '8'), (10.0, '10')]
    >>> [text for _, text in number_ticks(-0.02, 0.92, 7)]
    ['0.0', '0.2', '0.4', '0.6', '0.8']
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [(low, f"{low:g}")] if math.isfinite(low) else []
    power = math.floor(math.log10((high - low) / max(most, 1))) - 1
    for k in range(max(power, 0) if whole else power, max(power, 0) + 5 if whole else power + 5):
        found = next((marks for factor in (1, 2, 5) if len(marks := _multiples(low, high, factor, k)) <= most), None)
        if found is not None:
            break
    assert found is not None
    if len(found) < 4 and not whole:  # from steps of 5 it is far to steps of 2
        for k in range(power, power + 4):
            quarters = _multiples(low, high, 2.5, k)
            if len(found) < len(quarters) <= most:
                return quarters
    return found


def ticks_near(low: float, high: float, wanted: int) -> list[tuple[float, str]]:
    """Return about so many round numbers between two ends: those of the page's own axes.

    Examples
    --------
    >>> [text for _, text in ticks_near(0.03, 0.97, 4)]
    ['0.2', '0.4', '0.6', '0.8']
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return number_ticks(low, high)
    raw = (high - low) / max(wanted, 1)
    power = math.floor(math.log10(raw))
    error = raw / 10.0**power
    factor = next((f for f, least in ((10, 50), (5, 10), (2, 2)) if error >= math.sqrt(least)), 1)
    return _multiples(low, high, factor, power)


def _multiples(low: float, high: float, factor: float, power: int) -> list[tuple[float, str]]:
    """Return the multiples of ``factor`` times a power of ten between two ends, and their texts; no more than 40."""
    step = factor * 10.0**power
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Below one divide by a whole number instead of multiplying by a fraction: 3 / 10, not 3 * 0.1.
    values = [k * step if power >= 0 else k * factor / 10.0**-power for k in range(first, min(last, first + 40) + 1)]
    digits = max(0, (1 if factor == 2.5 else 0) - power - (1 if factor == 10 else 0))
    largest = max(map(abs, (low, high)))
    if largest >= 1e6 or largest < 1e-4:
        return [(value, f"{value:.6g}") for value in values]
    return [(value, f"{value:.{digits}f}") for value in values]


def date_ticks(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """Return starts of years, months, days, ... between two dates in ms since 1970, and their texts.

    Examples
    --------
    >>> day = 86_400_000.0
    >>> [text for _, text in date_ticks(0.0, 365 * day, 5)]
    ['Jan 1970', 'Apr 1970', 'Jul 1970', 'Oct 1970', 'Jan 1971']
    """
    if not high > low:
        return [(low, pd.Timestamp(low, unit="ms").strftime("%Y-%m-%d"))]
    months = [(step, text) for step, text in _MONTHS if (high - low) / (step * _MONTH) <= most]
    seconds = [(step, text) for step, text in _SECONDS if (high - low) / (step * 1000) <= most]
    if seconds:
        step, text = seconds[-1]
        first, last = math.ceil(low / (step * 1000)), math.floor(high / (step * 1000))
        at = [k * step * 1000.0 for k in range(first, last + 1)]
    else:
        step, text = months[-1] if months else _MONTHS[0]
        begin, end = (pd.Timestamp(ms, unit="ms") for ms in (low, high))
        # Counted from the year 0, so that every fifth year is one that 5 divides.
        first, last = begin.year * 12 + begin.month - 1, end.year * 12 + end.month - 1
        starts = [divmod(k, 12) for k in range(math.ceil(first / step) * step, last + 1, step)]
        at = [pd.Timestamp(year, month + 1, 1).timestamp() * 1000 for year, month in starts]
    return [(ms, pd.Timestamp(ms, unit="ms").strftime(text)) for ms in at if low <= ms <= high]
