"""What is drawn: arrays on the wire, the sample, segment crossing, axes and sparklines."""

from __future__ import annotations

import base64
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pdp_widgets.explain import Explainer
from pdp_widgets.explain.results import disagreement
from pdp_widgets.widget.geometry import crossing
from pdp_widgets.widget.picture import Axis, Summary, means, sparkline
from pdp_widgets.widget.picture import side as side_of
from pdp_widgets.widget.sample import stratified
from pdp_widgets.widget.wire import offset, pack, scalar, to_base64, unpack

# --- wire -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_arrays_survive_the_wire(dtype):
    values = np.arange(12).reshape(3, 4)[:, ::2]
    packed = pack(values, dtype)
    assert packed["shape"] == [3, 2]
    assert len(packed["view"]) == 6 * np.dtype(dtype).itemsize
    assert (unpack(packed) == values).all()
    recorded = to_base64({"a": [packed], "b": 1})
    assert base64.b64decode(recorded["a"][0]["b64"]) == packed["view"]
    json.dumps(recorded)


def test_scalars_are_json():
    assert [scalar(v) for v in (None, np.nan, np.inf, np.float32(2), 3)] == [None, None, None, 2.0, 3.0]


def test_offset_keeps_the_digits_of_large_values():
    values = 1e9 + np.linspace(-1, 1, 5)
    middle = offset(values)
    assert np.allclose(unpack(pack(values - middle, "float32")).astype(float) + middle, values, atol=1e-6, rtol=0)
    assert offset(np.array([np.nan])) == 0


# --- sample -----------------------------------------------------------------------------------------------------------


def test_sample_spreads_over_predictions_and_is_seeded():
    rng = np.random.default_rng(1)
    predictions = np.concatenate([rng.normal(size=9000), rng.normal(100, 1, 50)])
    order = rng.permutation(len(predictions))
    rows = stratified(predictions, order, seed=3)
    assert len(np.unique(rows)) == 500
    assert (np.diff(rows) > 0).all()
    assert 1 <= (predictions[rows] > 50).sum() <= 5  # the rare bunch is there, in proportion
    assert (rows == stratified(predictions, order, seed=3)).all()
    assert (rows != stratified(predictions, order, seed=4)).any()


@pytest.mark.parametrize("known", [0, 30, 499, 500, 700])
def test_sample_with_few_known_predictions(known):
    predictions = np.full(1000, np.nan)
    predictions[:known] = 1.0
    rows = stratified(predictions, np.random.default_rng(0).permutation(1000), seed=0)
    assert len(np.unique(rows)) == 500


def test_sample_of_few_rows_is_all():
    assert (stratified(np.zeros(7), np.arange(7)[::-1], seed=0) == np.arange(7)).all()


# --- segment crossing -------------------------------------------------------------------------------------------------


def crosses(xs, ys, x, y):
    """Segment by segment (Liang-Barsky), as the page does it."""
    (x0, x1), (y0, y1) = sorted(x), sorted(y)
    if any(x0 <= a <= x1 and y0 <= b <= y1 for a, b in zip(xs, ys, strict=True)):
        return True
    for ax, ay, bx, by in zip(xs[:-1], ys[:-1], xs[1:], ys[1:], strict=True):
        if np.isnan([ax, ay, bx, by]).any():
            continue
        enter, leave, out = 0.0, 1.0, False
        for p, q in [(ax - bx, ax - x0), (bx - ax, x1 - ax), (ay - by, ay - y0), (by - ay, y1 - ay)]:
            if p == 0:
                out |= q < 0
            elif p < 0:
                enter = max(enter, q / p)
            else:
                leave = min(leave, q / p)
        if not out and enter <= leave:
            return True
    return False


eighths = st.integers(-40, 40).map(lambda v: v / 8)  # exact in floating point: both ways must agree to the bit at edges
pairs = st.tuples(eighths, eighths)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.integers(-10, 10).map(float) | st.just(np.nan), min_size=1, max_size=6),
    st.data(),
    pairs,
    pairs,
)
def test_crossing_equals_clipping_segment_by_segment(xs, data, x, y):
    xs = np.array(sorted(xs, key=lambda v: (np.isnan(v), v)))
    curves = data.draw(hnp.arrays(float, (4, len(xs)), elements=eighths | st.just(np.nan)))
    eps = 1e-9
    got = crossing(xs, curves, x, y)
    for row, hit in zip(curves, got, strict=True):
        # Exactly on an edge rounding may decide either way; a hair inside and a hair outside must agree.
        wide = crosses(xs, row, (min(x) - eps, max(x) + eps), (min(y) - eps, max(y) + eps))
        narrow = crosses(xs, row, (min(x) + eps, max(x) - eps), (min(y) + eps, max(y) - eps))
        assert wide or not hit
        assert hit or not narrow or min(x) == max(x) or min(y) == max(y)


def test_a_steep_line_that_jumps_over_the_rectangle_is_caught():
    xs = np.array([0.0, 1.0, 2.0])
    curves = np.array([[0.0, 10.0, 10.0], [0.0, 0.0, 10.0], [10.0, 10.0, 10.0], [np.nan, 0.0, 1.0]])
    assert crossing(xs, curves, (0.45, 0.55), (4.9, 5.1)).tolist() == [True, False, False, False]
    assert crossing(xs, curves, (0.55, 0.45), (5.1, 4.9)).tolist() == [True, False, False, False]
    assert crossing(np.array([3.0]), np.array([[1.0], [9.0]]), (2, 4), (0, 2)).tolist() == [True, False]
    assert not crossing(xs, curves, (5, 6), (-99, 99)).any()


# --- axes -------------------------------------------------------------------------------------------------------------


def explainer(values, **options):
    X = pd.DataFrame({"x": values, "z": np.arange(len(values))})
    return Explainer(lambda X: X["z"].to_numpy(float), X, **options)


def test_histogram_counts_rows_within_sight_and_at_both_ends():
    axis = Axis.of(explainer(np.concatenate([np.linspace(0, 1, 1000), [50.0], [np.nan], [np.inf]])), "x")
    edges, counts = unpack(axis.wire["hist"]["edges"]), unpack(axis.wire["hist"]["counts"])
    assert edges[0] == 0
    assert edges[-1] == 1  # one far value does not flatten the picture
    assert counts[-1] == 1, "the missing row"
    assert counts[:-1].sum() == 1000
    assert axis.wire["missing_count"] == axis.wire["infinite_count"] == 1
    assert np.allclose(unpack(axis.wire["deciles"])[4], 0.5, atol=0.01)
    assert axis.wire["note"].endswith("; beyond the axis: 1 of 1001 rows (1 on the right)")
    mask = np.arange(1003) < 100
    assert unpack(axis.counts(mask)).sum() == 100
    near = Axis.of(explainer(np.linspace(0, 1, 1000)), "x")
    assert unpack(near.wire["hist"]["edges"])[[0, -1]].tolist() == [0, 1]
    assert unpack(near.wire["hist"]["counts"]).sum() == 1000
    assert near.wire["note"] == ""


def test_all_rows_have_a_bar_unless_some_are_far():
    from sklearn.datasets import load_diabetes

    X = load_diabetes(as_frame=True, scaled=False).data
    for name in X:
        axis = Axis.of(Explainer(lambda X: X["bmi"].to_numpy(), X), name)
        edges, counts = unpack(axis.wire["hist"]["edges"]), unpack(axis.wire["hist"]["counts"])
        assert edges[0] <= X[name].min()
        assert X[name].max() <= edges[-1]
        assert counts.sum() == 442
        assert "beyond" not in axis.wire["note"]


def test_only_the_far_side_is_cut():
    values = np.concatenate([np.linspace(0, 1, 1000), [-0.2, -30, 40, 50]])
    for values_given, note in [
        (values, "beyond the axis: 3 of 1004 rows (1 on the left, 2 on the right)"),
        (values[values > -30], "beyond the axis: 2 of 1003 rows (2 on the right)"),
        (values[np.abs(values) < 30], ""),
    ]:
        axis = Axis.of(explainer(values_given), "x")
        edges, counts = unpack(axis.wire["hist"]["edges"]), unpack(axis.wire["hist"]["counts"])
        assert axis.wire["note"].split("; ")[-1] == note
        beyond = int(note.split()[3]) if note else 0
        assert (counts.sum(), edges[-1]) == (len(values_given) - beyond, 1)
    whole = np.where(np.arange(1000) < 5, 10_000, np.arange(1000) % 500)
    axis = Axis.of(explainer(whole), "x")
    assert axis.wire["note"] == "beyond the axis: 5 of 1000 rows (5 on the right)"


def test_thin_places_of_a_side_are_told_by_its_own_rows():
    axis = Axis.of(explainer(np.repeat(np.arange(20.0), 50)), "x")
    assert not unpack(axis.wire["thin"]).any()
    mask = axis.own >= 10
    mask[:2] = True
    one = side_of(axis, np.zeros(20), mask)
    assert unpack(one["thin"]).tolist() == [1] * 10 + [0] * 10
    assert unpack(side_of(axis, np.zeros(20), np.zeros(1000, bool))["thin"]).tolist() == [0] * 20


@pytest.mark.parametrize(("low", "high"), [(0, 5), (-3, 3), (0, 300), (10**9, 10**9 + 2)])
def test_whole_numbers_get_bins_of_whole_width(low, high):
    values = np.random.default_rng(0).integers(low, high + 1, 500)
    axis = Axis.of(explainer(values), "x")
    edges = unpack(axis.wire["hist"]["edges"])
    assert (edges % 1 == 0.5).all()
    assert unpack(axis.wire["hist"]["counts"]).sum() == 500
    assert len(edges) <= 32


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-12, 1e9])
def test_constant_has_one_bar(value):
    axis = Axis.of(explainer(np.full(9, value)), "x")
    assert unpack(axis.wire["hist"]["counts"]).tolist() == [9]


def test_categories_count_levels_with_missing_last():
    axis = Axis.of(explainer(np.array(["b", "a", None, "b"], dtype=object)), "x")
    assert axis.wire["labels"] == ["a", "b", "missing"]
    assert axis.wire["hist"]["edges"] is None
    assert unpack(axis.wire["hist"]["counts"]).tolist() == [1, 2, 1]
    assert np.isnan(axis.own[2])
    assert axis.own[[0, 1, 3]].tolist() == [1, 0, 1]


def test_missing_numbers_have_the_last_bar():
    axis = Axis.of(explainer(np.array([0.0, 1.0, np.nan, 2.0, np.nan, np.inf])), "x")
    counts = unpack(axis.wire["hist"]["counts"])
    assert len(counts) == len(unpack(axis.wire["hist"]["edges"]))
    assert counts[-1] == 2
    assert counts.sum() == 5, "the infinite row has no bar"
    assert unpack(axis.counts(np.array([True, False, True, False, False, True])))[-1] == 1


def test_weights_move_the_deciles():
    values = np.arange(100.0)
    axis = Axis.of(explainer(values, sample_weight=np.where(values < 10, 1000.0, 1.0)), "x")
    assert unpack(axis.wire["deciles"])[4] < 10


# --- sparklines, sides, summaries -------------------------------------------------------------------------------------


def test_sparkline_is_equally_spaced_and_leaves_missing_out():
    ex = explainer(np.array([0.0, 1.0, 10.0, np.nan]))
    grid = ex.grid("x")
    line = sparkline(grid, np.array([[0.0, 1.0, 10.0, 99.0]]))
    assert np.allclose(line, np.linspace(0, 10, 24))
    levels = explainer(np.array(["b", "a", None, "b"], dtype=object)).grid("x")
    assert np.array_equal(sparkline(levels, np.array([1.0, 2.0, 3.0]))[:4], [1, 2, 3, np.nan], equal_nan=True)


@given(hnp.arrays(float, (7, 3), elements=st.floats(-9, 9)), hnp.arrays(bool, 7), st.booleans())
def test_means_of_both_sides(curves, mask, weighted):
    weights = np.arange(7.0) if weighted else None
    both = means(curves, mask, weights)
    for side, rows in zip(both, (mask, ~mask), strict=True):
        w = np.ones(7) if weights is None else weights
        if w[rows].sum() == 0:
            assert np.isnan(side).all()
        else:
            assert np.allclose(side, np.average(curves[rows], axis=0, weights=w[rows]))


@pytest.mark.parametrize("weighted", [False, True])
def test_summary_agrees_with_the_result(weighted):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    ex = Explainer(
        lambda X: (X["a"] * X["b"] + X["c"]).to_numpy(), X, sample_weight=rng.random(200) if weighted else None
    )
    for name in "abc":
        result = ex.partial_dependence(name)
        summary = Summary.of(ex.ice(name), np.arange(200))
        assert np.allclose(summary.heterogeneity, result.heterogeneity)
        assert np.allclose(summary.importance, result.importance)
        assert summary.result.curves is None
    assert disagreement(np.ones((1, 4, 3)), np.full(3, 1 / 3), np.zeros(4)) is None


def test_what_float32_cannot_hold_is_not_drawn():
    middle = offset(np.array([1e300, -1e300, 2e300]))
    assert np.isfinite(middle)
    packed = unpack(pack(np.array([1e300, 5.0, -1e39, np.inf]), "float32"))
    assert np.isnan(packed[[0, 2, 3]]).all()
    assert packed[1] == 5
