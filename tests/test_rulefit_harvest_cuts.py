"""The number between two neighbouring values whose text is shortest."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from pdp_widgets.inputs import FeatureTable
from pdp_widgets.inputs.columns import Observed
from pdp_widgets.inputs.conditions import Levels, Missing, Range
from pdp_widgets.rulefit.cuts import Interval, Subset, between, condition
from pdp_widgets.rulefit.table import Column, Table


def column(kind="number", precision=None):
    return Column.of("v", Observed(kind, np.array([0.0, 1.0, 2.0]), precision=precision))


def multiples(a, b, digits):
    """Return the first and the last multiple of 10^-digits in [a, b), as floats, found by exact arithmetic."""
    step = Decimal(1).scaleb(-digits)
    with localcontext(prec=800):
        first = (Decimal(a) / step).to_integral_value(ROUND_FLOOR)
        last = (Decimal(b) / step).to_integral_value(ROUND_CEILING)
        # Their floats may be a or b, on whichever side of them the decimals lie.
        found = [float(m * step) for m in (first, first + 1, last - 1, last)]
        middle = ((Decimal(a) + Decimal(b)) / 2 / step).to_integral_value(ROUND_FLOOR)
        found += [float(m * step) for m in (middle, middle + 1)]
    return [t for t in found if a <= t < b]


def pairs():
    rng = np.random.default_rng(0)
    for scale in (1e-8, 1e-3, 1.0, 37.0, 1e6, 1e12):
        values = np.sort(np.concatenate([rng.normal(size=40), rng.normal(size=5).round(2)])) * scale
        yield from pairwise(values.tolist())
        integers = np.unique(rng.integers(-50, 50, 30)) * 1.0
        yield from pairwise(integers.tolist())
    for value in (0.1, 1 / 3, 1e-300, 1e300, 123456.789, -0.7, 5e-324):
        yield value, float(np.nextafter(value, np.inf))
        yield float(np.nextafter(value, -np.inf)), value
    yield -1e300, 1e300
    yield 1e300, 1.7e308
    yield 0.0, 5e-324


def test_fewest_decimals_nearest_to_the_middle():
    for a, b in pairs():
        t = between(a, b, column())
        assert a <= t < b
        if a <= 0 < b:
            assert t == 0  # no text is shorter
            continue
        most = Decimal(max(abs(a), abs(b))).adjusted()
        digits = next(d for d in range(-most - 1, 345) if multiples(a, b, d))
        assert t in multiples(a, b, digits)
        distance = [abs(Fraction(m) * 2 - Fraction(a) - Fraction(b)) for m in (t, *multiples(a, b, digits))]
        assert distance[0] <= min(distance) * Fraction(1000001, 1000000)


@pytest.mark.parametrize("seed", range(5))
def test_short_floats_are_told_apart_as_they_are_held(seed):
    values = np.unique(np.random.default_rng(seed).normal(size=300).astype("float32"))
    values = np.unique(np.concatenate([values, np.nextafter(values, np.float32(9))]))
    short = np.dtype("float32")
    for a, b in pairwise(values):
        t = between(float(a), float(b), column(precision=short))
        assert a <= np.float32(t) < b
        assert len(repr(t)) <= len(str(a)) + 1


@pytest.mark.parametrize(
    ("a", "b", "t"),
    [
        ("2010-03-01 10:00", "2010-03-01 18:00", "2010-03-01 14:00"),
        ("2010-03-01 23:00", "2010-03-02 18:00", "2010-03-02"),
        ("2010-03-01 10:00:07", "2010-03-01 10:00:11", "2010-03-01 10:00:09"),
        ("2010-03-01 10:00:07.125", "2010-03-01 10:00:07.127", "2010-03-01 10:00:07.126"),
        ("1960-03-01", "1960-03-05", "1960-03-03"),
    ],
)
def test_dates(a, b, t):
    a, b, t = (pd.Timestamp(text).value // 10**6 * 1.0 for text in (a, b, t))
    assert between(a, b, column("datetime")) == t


@pytest.mark.parametrize(
    ("a", "b", "t"), [("1h", "50h", "24h"), ("7min", "3h", "2h"), ("61s", "119s", "90s"), ("2ms", "3ms", "2ms")]
)
def test_durations(a, b, t):
    a, b, t = (pd.Timedelta(text).value / 1e6 for text in (a, b, t))
    assert between(a, b, column("timedelta")) == t


def test_parts_become_conditions():
    X = pd.DataFrame({"v": [1.0, 2.0, 4.0, np.nan], "c": ["x", "y", "z", None], "whole": [1, 2, 3, 4]})
    v, c, whole = Table.of(X).columns
    values, codes = np.array([1.0, 2.0, 4.0]), np.arange(3.0)
    for of, distinct, part, expected in [
        (v, values, Interval(0, 1, False), Range("v", high=1.0)),
        (v, values, Interval(2, 3, True), Range("v", low=3.0, low_closed=False, missing=True)),
        (v, values, Interval(1, 2, False), Range("v", 1.0, 3.0, low_closed=False)),
        (v, values, Interval(0, 3, False), Range("v")),
        (v, values, Interval(0, 3, True), None),
        (v, values, Interval(0, 0, True), Missing("v")),
        (whole, np.array([1.0, 2.0, 3.0, 4.0]), Interval(0, 4, False), None),
        (c, codes, Subset(frozenset({0, 2}), False), Levels("c", ("x", "z"))),
        (c, codes, Subset(frozenset({1}), True), Levels("c", ("y", None))),
        (c, codes, Subset(frozenset({0, 1, 2}), False), Range("c")),
        (c, codes, Subset(frozenset(), True), Missing("c")),
    ]:
        made = condition(of, distinct, part)
        assert made == expected
        if made is not None:
            chosen = set(part.codes) if isinstance(part, Subset) else set(range(part.start, part.stop))
            rows = [k in chosen or (k == 3 and part.missing) for k in range(4)]
            assert made.mask(FeatureTable(X)).tolist() == rows
