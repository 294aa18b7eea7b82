"""Mergeable sums: any way of cutting the rows gives the numbers of all rows together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pdp_widgets.compute import Moments


@given(
    values=hnp.arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 20), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)),
    data=st.data(),
)  # fmt: skip
def test_merging_equals_all_at_once(values, data):
    n = values.shape[1]
    weights = data.draw(st.none() | hnp.arrays(float, n, elements=st.floats(0.1, 100)))
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    merged = Moments.empty((values.shape[0], values.shape[2]))
    for part in np.split(np.arange(n), cuts):
        merged = merged.merge(Moments.of(values[:, part], None if weights is None else weights[part]))
    whole = Moments.of(values, weights)
    np.testing.assert_allclose(merged.mean, whole.mean, atol=1e-6, rtol=1e-9)
    np.testing.assert_allclose(merged.m2, whole.m2, atol=1e-2, rtol=1e-6)
    np.testing.assert_allclose(whole.mean, np.average(values, axis=1, weights=weights), atol=1e-6, rtol=1e-9)
    assert merged.count == n


def test_variance_of_equal_weights_is_the_sample_variance():
    values = np.random.default_rng(0).normal(size=(1, 50, 3))
    for weights in (None, np.full(50, 7.0)):
        np.testing.assert_allclose(Moments.of(values, weights).variance, values.var(axis=1, ddof=1))


def test_standard_error_is_that_of_sampling_without_replacement():
    rng = np.random.default_rng(1)
    population = rng.exponential(size=200)
    means, errors = [], []
    for _ in range(3000):
        sample = Moments.of(rng.permutation(population)[None, :60, None])
        means.append(sample.mean[0, 0])
        errors.append(sample.stderr(200)[0, 0])
    assert abs(np.sqrt(np.mean(np.square(errors))) / np.std(means) - 1) < 0.05
    assert Moments.of(population[None, :, None]).stderr(200).item() == 0
    assert np.isinf(Moments.of(population[None, :1, None]).stderr(200)).all()


def test_no_weight_is_no_number():
    nothing = Moments.of(np.ones((1, 3, 2)), np.zeros(3))
    assert nothing.count == 3
    assert np.isnan(nothing.variance).all()
    assert nothing.merge(Moments.of(np.full((1, 2, 2), 5.0), np.ones(2))).mean.tolist() == [[5, 5]]
