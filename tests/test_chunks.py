"""Chunks are sized by measured cost: a simulated model tells what the pace learns."""

from __future__ import annotations

import numpy as np
import pytest

from pdp_widgets.compute.chunks import MEMORY_CAP, TARGET_SECONDS, Pace


def run(pace, fixed, per_row, calls=25, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    sizes = []
    for _ in range(calls):
        rows = pace.rows()
        sizes.append(rows)
        pace.learn(rows, (fixed + per_row * rows) * (1 + noise * rng.uniform(-1, 1)))
    return sizes


@pytest.mark.parametrize("per_row", [1e-6, 1e-5, 1e-4, 1e-3, 3e-2])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_calls_come_to_take_the_target_time(per_row, noise):
    last = np.array(run(Pace(8.0), 0.0, per_row, noise=noise)[-8:]) * per_row
    assert 0.4 * TARGET_SECONDS < np.median(last) < 1.8 * TARGET_SECONDS


def test_a_fixed_cost_beyond_the_target_does_not_shrink_calls_to_nothing():
    sizes = run(Pace(8.0), 0.4, 1e-5)
    assert min(sizes) >= 40
    assert 0.2 < sizes[-1] * 1e-5 < 0.8, "about as much work as waiting"


def test_memory_bounds_the_rows_however_fast_the_model():
    pace = Pace(bytes_per_row=1e5)
    run(pace, 0.0, 1e-12)
    assert pace.rows() * 1e5 <= MEMORY_CAP
    assert Pace(bytes_per_row=1e12).rows() == 1


def test_one_accident_does_not_ruin_the_pace():
    pace = Pace(8.0)
    run(pace, 0.0, 1e-5)
    before = pace.rows()
    pace.learn(before, 5.0)
    assert pace.rows() >= before // 4
    run(pace, 0.0, 1e-5, calls=8)
    assert pace.rows() > before / 2


def test_patience_asks_for_more_rows_at_once():
    pace = Pace(8.0)
    run(pace, 0.01, 1e-5)
    assert 1.8 < pace.rows(0.18) / pace.rows(0.09) < 2.5
