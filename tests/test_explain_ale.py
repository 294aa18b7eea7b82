"""Accumulated local effects against closed forms, and against the definition spelled out with loops and data frames."""

from __future__ import annotations

import doctest
import importlib
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import ks_2samp
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from pdp_widgets.explain import Explainer
from pdp_widgets.explain.ale import ale, iter_ale
from pdp_widgets.explain.ale_axes import similarity
from pdp_widgets.inputs import InputError, PredictionError

N = 300
RNG = np.random.default_rng(1)
A = RNG.normal(size=N)
X = pd.DataFrame(
    {
        "a": A,
        "b": np.exp(A + RNG.normal(size=N)),
        "i": RNG.poisson(2, N),
        "c": RNG.choice(["red", "green", "blue", "grey"], N, p=[0.5, 0.3, 0.15, 0.05]),
        "d": RNG.random(N) < 0.3,
        "t": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 90, N), unit="D"),
    }
)
WEIGHTS = RNG.integers(1, 9, N) / 4


def f(Z):
    """A function in which everything interacts."""
    shade = Z["c"].map({"red": 1.0, "green": -2.0, "blue": 0.5, "grey": 4.0}).astype(float)
    days = (Z["t"] - pd.Timestamp("2024-01-01")) / pd.Timedelta(days=30)
    return (np.sin(Z["a"]) * Z["b"] + shade * Z["i"] + Z["d"] * shade * Z["a"] + days**2 * (Z["a"] + Z["i"])).to_numpy()


# ---- the definition, spelled out -----------------------------------------------------------


def quantile_edges(values, weights, bins):
    """The smallest value, and for each share the first one that reaches it."""
    share = weights.groupby(values).sum().cumsum() / weights.sum()
    return sorted({values.min()} | {share.index[share >= (k + 1) / bins - 1e-9][0] for k in range(bins)})


def neighbours(frame, name, points):
    """Yield each step of an axis: from, to, and the rows that belong to it."""
    numeric = pd.api.types.is_numeric_dtype(frame[name]) or frame[name].dtype.kind == "M"
    for k, (low, high) in enumerate(pairwise(points)):
        if numeric and frame[name].dtype != bool:
            yield low, high, (frame[name] <= high) & ((frame[name] > low) | (k == 0))
        else:
            yield low, high, frame[name].isin([low, high])


def on_axis(column, points):
    """Values as numbers: categories as their index in the order."""
    if column.dtype.kind == "M":
        return (column - pd.Timestamp("2024-01-01")) / pd.Timedelta(days=1)
    return column.astype(float) if column.dtype.kind in "if" else column.map({p: k for k, p in enumerate(points)})


def plain(function, frame, name, points, weights):
    """ALE of one feature; also its counts and standard errors."""
    curve, counts, errors = [0.0], [], []
    for low, high, rows in neighbours(frame, name, points):
        part = frame[rows]
        jump = pd.Series(function(part.assign(**{name: high})) - function(part.assign(**{name: low})), part.index)
        curve.append(curve[-1] + (jump * weights[rows]).sum() / weights[rows].sum())
        counts.append(len(part))
        errors.append(jump.sem())
    at = np.interp(on_axis(frame[name], points), on_axis(pd.Series(points), points), curve)
    return np.array(curve) - np.average(at, weights=weights), counts, errors


def plain_pair(function, frame, names, points, weights):
    """Second-order ALE of two features, and which of its cells are empty."""
    (first, second), axes = names, [on_axis(pd.Series(p), p).to_numpy(float) for p in points]
    jumps = np.full([len(p) - 1 for p in points], np.nan)
    for k, (low1, high1, rows1) in enumerate(neighbours(frame, first, points[0])):
        for m, (low2, high2, rows2) in enumerate(neighbours(frame, second, points[1])):
            part = frame[rows1 & rows2]
            if len(part):
                corner = {
                    (u, v): function(part.assign(**{first: u, second: v})) for u in (low1, high1) for v in (low2, high2)
                }
                jump = corner[high1, high2] - corner[low1, high2] - corner[high1, low2] + corner[low1, low2]
                jumps[k, m] = np.average(jump, weights=weights[part.index])
    empty = np.isnan(jumps)
    centres = [(p[1:] + p[:-1]) / 2 / np.ptp(p) for p in axes]
    filled = jumps.copy()
    for k, m in np.argwhere(empty):
        far = {(p, q): (centres[0][p] - centres[0][k]) ** 2 + (centres[1][q] - centres[1][m]) ** 2
               for p, q in np.argwhere(~empty)}  # fmt: skip
        filled[k, m] = jumps[min(far, key=far.get)]
    surface = np.zeros([len(p) for p in points])
    for k in range(len(points[0])):
        for m in range(len(points[1])):
            surface[k, m] = filled[:k, :m].sum()
    own = [on_axis(frame[name], p).to_numpy(float) for name, p in zip(names, points, strict=True)]
    joint = RegularGridInterpolator(axes, surface)
    mains = []
    for side in (0, 1):
        main = [0.0]
        for low, high, rows in neighbours(frame, names[side], points[side]):
            ends = []
            for value in (low, high):
                place = [column[rows] for column in own]
                place[side] = np.full(rows.sum(), on_axis(pd.Series([value]), points[side]).iloc[0])
                ends.append(joint(np.column_stack(place)))
            main.append(main[-1] + np.average(ends[1] - ends[0], weights=weights[rows]))
        mains.append(np.array(main))
    surface = surface - mains[0][:, None] - mains[1][None]
    return surface - np.average(RegularGridInterpolator(axes, surface)(np.column_stack(own)), weights=weights), empty


def close(ours, theirs, tolerance=1e-11):
    theirs = np.asarray(theirs, dtype=float)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["a", "b", "i", "t", "c", "d"])
def test_equals_the_definition_for_one_feature(name, weighted):
    weights = pd.Series(WEIGHTS if weighted else np.ones(N))
    result = ale(Explainer(f, X, sample_weight=weights if weighted else None), name, bins=12)
    points = quantile_edges(X[name], weights, 12) if name not in "cd" else result.order[name]
    assert list(pd.Series(result.grid_values[0])) == list(points)
    curve, counts, errors = plain(f, X, name, points, weights)
    close(result.values[0], curve)
    if name in "cd":
        assert result.counts.tolist() == [int((X[name] == level).sum()) for level in points]
    else:
        assert result.counts.tolist() == counts
        assert result.counts.sum() == N
    if not weighted:
        close(result.effect_stderr[0], errors)
    close(np.average(result.row_values[0], weights=weights[result.rows]), 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("names", [("a", "b"), ("i", "t"), ("t", "a"), ("a", "c"), ("c", "i"), ("d", "c")])
def test_equals_the_definition_for_a_pair(names, weighted):
    weights = pd.Series(WEIGHTS if weighted else np.ones(N))
    result = ale(Explainer(f, X, sample_weight=weights if weighted else None), names, bins=(9, 7))
    points = [
        quantile_edges(X[name], weights, bins) if name not in "cd" else result.order[name]
        for name, bins in zip(names, (9, 7), strict=True)
    ]
    surface, empty = plain_pair(f, X, names, points, weights)
    assert np.abs(surface).max() > 0.1, "there is an interaction to find"
    close(result.values[0], surface)
    np.testing.assert_array_equal(result.empty, empty)
    assert result.counts.sum() == N
    if names == ("a", "b"):
        assert empty.any(), "a and b depend on each other: some cells must be filled"


# ---- closed forms --------------------------------------------------------------------------


def test_linear_model_gives_the_exact_line():
    numbers = X[["a", "b", "i"]]
    model = LinearRegression().fit(numbers, f(X))
    for weights in (None, WEIGHTS):
        for name, slope in zip(numbers, model.coef_, strict=True):
            result = ale(Explainer(model, numbers, sample_weight=weights), name, bins=7)
            mean = np.average(numbers[name], weights=weights)
            close(result.values[0], slope * (result.grid_values[0] - mean))


def test_additive_function_gives_its_terms_and_no_interaction():
    def additive(Z):
        return np.sin(Z["a"]) + np.log(Z["b"]) + (Z["c"] == "red") * 3.0

    explainer = Explainer(additive, X)
    result = ale(explainer, "a", bins=N)
    assert len(result.grid_values[0]) == N, "one bin per distinct value"
    close(result.values[0], np.sin(np.sort(A)) - np.sin(A).mean())
    colour = ale(explainer, "c")
    close(colour.values[0], 3.0 * (colour.grid_values[0] == "red") - 3.0 * (X["c"] == "red").mean())
    for pair in (("a", "b"), ("c", "a"), ("c", "d")):
        close(ale(explainer, pair).values, 0)


def test_identical_features_in_a_product():
    # d(x1 x2)/dx1 = x2 = x1 where the rows are: the curve is x^2 / 2, where partial dependence would draw a line through the mean of x2.
    u = (np.arange(4000) + 0.5) / 4000
    explainer = Explainer(lambda Z: Z[:, 0] * Z[:, 1], np.column_stack([u, u]))
    errors = []
    for bins in (10, 100):
        result = ale(explainer, 0, bins=bins)
        edges = result.grid_values[0]
        errors.append(np.abs(result.values[0] - (edges**2 / 2 - 1 / 6)).max())
        close(np.diff(result.values[0]), np.diff(edges**2) / 2, 2e-4)
    assert errors[0] < 1e-3
    assert errors[1] < 2e-4
    # At the rows the second-order effect and both main effects together are the function, x^2 there.
    pair = ale(explainer, (0, 1), bins=50)
    both = ale(explainer, 0, bins=50).row_values[0] + ale(explainer, 1, bins=50).row_values[0]
    close(pair.row_values[0] + both, u**2 - (u**2).mean(), 1e-3)


def test_product_on_a_lattice_is_the_pure_interaction():
    lattice = np.array([(x, y, 1.0) for x in (0, 1, 2, 4, 9) for y in (1, 2, 5, 7)])
    explainer = Explainer(lambda Z: Z[:, 0] * Z[:, 1] + Z[:, 0] ** 2 + Z[:, 2], lattice)
    result = ale(explainer, (0, 1), main=True)
    x, y = result.grid_values
    mean_x, mean_y = x.mean(), y.mean()
    close(result.values[0], np.outer(x - mean_x, y - mean_y))
    close(result.main[0].values[0], x**2 - (x**2).mean() + (x - mean_x) * mean_y)
    close(result.main[1].values[0], (y - mean_y) * mean_x)
    close(
        result.total[0], x[:, None] * y + x[:, None] ** 2 - (lattice[:, 0] * lattice[:, 1] + lattice[:, 0] ** 2).mean()
    )
    coarse = ale(explainer, (0, 1), bins=(3, 2))
    close(coarse.values[0], np.outer(coarse.grid_values[0] - mean_x, coarse.grid_values[1] - mean_y))


def test_independent_product_away_from_a_lattice():
    Z = np.random.default_rng(5).uniform(size=(3000, 2))
    result = ale(Explainer(lambda rows: rows[:, 0] * rows[:, 1], Z), (0, 1), bins=10)
    x, y = result.grid_values
    assert not result.empty.any()
    np.testing.assert_allclose(result.values[0], np.outer(x - 0.5, y - 0.5), atol=0.02)


def test_number_and_category_on_a_lattice():
    table = {"u": (1.0, 0.0), "v": (-1.0, 2.0), "w": (3.0, 1.0)}
    lattice = pd.DataFrame([(x, c) for x in (0.0, 1.0, 3.0, 7.0) for c in table], columns=["x", "c"])

    def lines(Z):
        return Z["x"] * Z["c"].map({c: s for c, (s, _) in table.items()}) + Z["c"].map(
            {c: s for c, (_, s) in table.items()}
        )

    result = ale(Explainer(lines, lattice), ("x", "c"), order=["v", "w", "u"])
    slopes = np.array([-1.0, 3.0, 1.0])
    close(result.values[0], np.outer(result.grid_values[0] - 11 / 4, slopes - 1))
    assert result.order == {"c": ["v", "w", "u"]}
    turned = ale(Explainer(lines, lattice), ("c", "x"), order={"c": ["v", "w", "u"]})
    close(turned.values[0].T, result.values[0])


def test_two_categories_give_the_doubly_centred_table():
    table = np.random.default_rng(3).normal(size=(3, 4))
    lattice = pd.DataFrame([(a, b) for a in "abc" for b in "wxyz"], columns=["p", "q"])
    explainer = Explainer(lambda Z: table[Z["p"].map("abc".index), Z["q"].map("wxyz".index)], lattice)
    result = ale(explainer, ("p", "q"), order={"q": list("zxwy")})
    mine = pd.DataFrame(result.values[0], index=result.grid_values[0], columns=result.grid_values[1])
    centred = table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean()
    close(mine.loc[list("abc"), list("wxyz")].to_numpy(), centred)


# ---- the order of levels -------------------------------------------------------------------


def test_distances_are_kolmogorov_smirnov_and_total_variation():
    frame = X.assign(gap=np.where(RNG.random(N) < 0.2, np.nan, A))
    table = Explainer(
        lambda Z: Z["a"], frame, features=["a", "b", "c", "d"]
    ).table  # all columns count, explained or not
    levels, level = np.unique(X["c"], return_inverse=True)
    ours = similarity(table, table.feature("c"), np.arange(N), level, np.ones(N))
    for k, one in enumerate(levels):
        for m, other in enumerate(levels):
            first, second = frame[X["c"] == one], frame[X["c"] == other]
            expected = abs(first["d"].mean() - second["d"].mean())
            for name in ("a", "b", "i", "t"):
                expected += ks_2samp(first[name].astype("int64") if name == "t" else first[name],
                                     second[name].astype("int64") if name == "t" else second[name]).statistic  # fmt: skip
            expected += ks_2samp(first["gap"].fillna(99), second["gap"].fillna(99)).statistic
            close(ours[k, m], expected, 1e-12)


def test_distances_count_weights_like_repeated_rows():
    times = RNG.integers(1, 4, N)
    repeated = X.loc[X.index.repeat(times)]
    table, longer = (Explainer(f, frame).table for frame in (X, repeated))
    level, repeated_level = (np.unique(frame["c"], return_inverse=True)[1] for frame in (X, repeated))
    ours = similarity(table, table.feature("c"), np.arange(N), level, times.astype(float))
    close(
        ours, similarity(longer, longer.feature("c"), np.arange(len(repeated)), repeated_level, np.ones(len(repeated)))
    )


def test_many_distinct_values_are_compared_at_quantiles():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"c": np.repeat(list("abc"), 2000), "x": rng.normal(size=6000), "id": np.arange(6000).astype(str)}
    )
    frame.loc[frame["c"] == "b", "x"] += 0.5
    table = Explainer(lambda Z: Z["x"], frame[["c", "x"]]).table
    ours = similarity(table, table.feature("c"), np.arange(6000), np.repeat([0, 1, 2], 2000), np.ones(6000))
    a, b, c = (frame["x"][frame["c"] == level] for level in "abc")
    np.testing.assert_allclose([ours[0, 1], ours[1, 2], ours[0, 2]], [ks_2samp(p, q).statistic for p, q in ((a, b), (b, c), (a, c))], atol=2e-3)  # fmt: skip
    with_id = Explainer(lambda Z: Z["x"], frame).table
    more = similarity(with_id, with_id.feature("c"), np.arange(6000), np.repeat([0, 1, 2], 2000), np.ones(6000))
    assert (more[0, 1:] > ours[0, 1:] + 0.5).all(), "labels that never repeat set all levels apart"


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_a_planted_order_of_levels_is_found(kind):
    rng = np.random.default_rng(2)
    planted = ["m", "d", "x", "a", "q", "f"]
    step = rng.integers(0, 6, 1500)
    frame = pd.DataFrame({"level": np.array(planted)[step]})
    if kind == "numbers":
        frame["near"] = step + rng.normal(size=1500)
        frame["far"] = rng.normal(size=1500)
    else:
        frame["share"] = np.where(rng.random(1500) < step / 6, "yes", "no")
        frame["noise"] = rng.choice(["k", "l"], 1500)
    found = ale(Explainer(lambda Z: np.zeros(len(Z)), frame), "level").order["level"]
    assert found in (planted, planted[::-1])
    agreement = np.corrcoef([sorted(planted).index(level) for level in found], range(6))[0, 1]
    assert agreement >= 0, "of the two directions the one nearer to the order of display is taken"


def test_levels_without_a_difference_and_ordered_levels_keep_their_order():
    frame = pd.DataFrame({"c": list("bacbac"), "one": 1.0})
    assert ale(Explainer(lambda Z: Z["one"], frame), "c").order == {"c": ["a", "b", "c"]}
    assert ale(Explainer(lambda Z: np.ones(len(Z)), frame[["c"]]), "c").order == {"c": ["a", "b", "c"]}
    sizes = pd.Categorical(RNG.choice(["S", "M", "L"], N), categories=["S", "M", "L", "XL"], ordered=True)
    shifted = pd.DataFrame({"size": sizes, "x": (sizes == "M") * 5.0 + A})
    assert ale(Explainer(lambda Z: Z["x"], shifted), "size").order == {"size": ["S", "M", "L"]}


def test_the_callers_order():
    explainer = Explainer(f, X)
    order = ["grey", "red", "blue", "green"]
    result = ale(explainer, "c", order=order)
    close(result.values[0], plain(f, X, "c", order, pd.Series(np.ones(N)))[0])
    np.testing.assert_array_equal(ale(explainer, "c", order=result.order).values, result.values)
    few = ale(explainer, "c", order=order, subgroup=(X["c"] != "blue").to_numpy())
    assert few.order == {"c": ["grey", "red", "green"]}
    for wrong, features, message in [
        (order[:2], "c", "leaves out 'blue', 'green'"),
        ([*order, "red"], "c", "names 'red', twice"),
        ([*order, "pink"], "c", "names 'pink', which it does not have"),
        ("red", "c", "in a list"),
        (order, "a", r"only categories are ordered; asked for was 'a' \(number\)"),
        (order, ("a", "b"), "only categories"),
        (order, ("c", "d"), "two categories; expected a mapping"),
        ({"a": order}, ("a", "c"), "only categories"),
    ]:
        with pytest.raises(InputError, match=message):
            ale(explainer, features, order=wrong)


# ---- rows ----------------------------------------------------------------------------------


def test_rows_left_out_are_counted():
    frame = pd.DataFrame(
        {
            "x": [np.nan, 1, 2, np.inf, 3, 4, -np.inf],
            "y": [1.0, np.nan, 3, 4, np.inf, 6, 7],
            "c": list("aabb") + [None] * 3,
        }
    )
    weights = np.array([1, 1, 1, 1, 1, 0, 1])
    whole = ale(Explainer(lambda Z: Z["x"] ** 2, frame), "x")
    assert (whole.rows_total, whole.rows_missing, whole.rows_infinite, whole.rows_omitted) == (7, 1, 2, 0)
    assert whole.rows.tolist() == [1, 2, 4, 5]
    assert whole.complete
    assert whole.rows_done == 7
    close(whole.values[0], np.array([1, 4, 9, 16]) - 7.5)
    assert "4 of 7 rows; 1 rows without a value left out; 2 rows with an infinite value left out" in repr(whole)
    weighted = ale(Explainer(lambda Z: Z["x"] ** 2, frame, sample_weight=weights), "x")
    assert weighted.rows_weightless == 1
    close(weighted.values[0], np.array([1, 4, 9]) - 14 / 3)
    pair = ale(Explainer(lambda Z: Z["x"] * Z["y"], frame), ("x", "y"))
    assert (pair.rows_missing, pair.rows_infinite, pair.rows.tolist()) == (2, 3, [2, 5])
    letters = ale(Explainer(lambda Z: (Z["c"] == "a") * 1.0, frame), "c")
    assert (letters.rows_missing, letters.counts.tolist()) == (3, [2, 2])
    close(np.sort(letters.values[0]), [-0.5, 0.5])
    with pytest.raises(InputError, match="'x' has no finite value with a weight in the 2 rows of subgroup"):
        ale(Explainer(lambda Z: Z["c"].isna(), frame), "x", subgroup=np.array([True, *[False] * 5, True]))


def test_predictions_that_are_no_numbers():
    def broken(Z):
        return np.where(Z["a"].to_numpy() == A.max(), np.nan, Z["a"] * Z["i"])

    with pytest.raises(PredictionError, match="'a' is moved to neighbouring values"):
        ale(Explainer(broken, X), "a", bins=5)
    explainer = Explainer(broken, X, nan_predictions="omit")
    result = ale(explainer, "a", bins=5)
    assert result.empty.tolist() == [False] * 4 + [True], "all rows of the last bin end at the largest value"
    assert result.effects[0, 4] == result.effects[0, 3], "the nearest bin stands in"
    assert np.isnan(result.effect_stderr[0, 4])
    assert result.rows_omitted == N - len(result.rows) == 60
    assert result.complete
    nothing = ale(Explainer(lambda Z: np.full(len(Z), np.nan), X, nan_predictions="omit"), ("a", "c"))
    assert np.isnan(nothing.values).all()
    assert nothing.empty.all()
    own = Explainer(lambda Z: np.where(Z["c"] == "red", np.nan, 1.0), X, nan_predictions="omit")
    own.source.nan_predictions = "raise"  # what is known of the first rows is no exception
    with pytest.raises(PredictionError):
        ale(own, "c")


def test_weights_are_repeated_rows_and_a_subgroup_is_its_rows():
    times = RNG.integers(0, 4, N)
    repeated = X.loc[X.index.repeat(times)].reset_index(drop=True)
    mask = (X["i"] > 1).to_numpy()
    for features in ("a", "i", "c", ("a", "i"), ("b", "c")):
        weighted, longer = (
            ale(Explainer(f, X, sample_weight=times), features, bins=6),
            ale(Explainer(f, repeated), features, bins=6),
        )
        close(weighted.values, longer.values)
        assert weighted.weighted
        part = ale(Explainer(f, X, sample_weight=WEIGHTS), features, subgroup="i > 1", bins=6)
        alone = ale(Explainer(f, X[mask], sample_weight=WEIGHTS[mask]), features, bins=6)
        close(part.values, alone.values)
        assert part.subgroup == "i > 1"
        assert part.rows_total == mask.sum()
        assert part.order == alone.order


def test_constant_features_and_single_rows():
    frame = X.assign(k=3.0, only="same")
    explainer = Explainer(lambda Z: Z["a"] * Z["k"], frame)
    asked = explainer.rows_asked
    for name in ("k", "only"):
        flat = ale(explainer, name)
        assert flat.values.tolist() == [[0.0]]
        assert flat.counts.tolist() == [N]
        assert flat.to_frame()["n_rows"].tolist() == [N]
        assert "constant" in repr(flat)
    assert ale(explainer, ("k", "a"), main=True).total.shape == (1, 1, 21)
    assert not ale(explainer, ("only", "a")).values.any()
    assert explainer.rows_asked - asked <= 2 * N, "only for the main effect of a"
    one = Explainer(f, X.iloc[[0]])
    for features in ("a", "c", ("a", "c")):
        assert not ale(one, features).values.any()
    two = ale(Explainer(lambda Z: Z["a"] ** 2, X.iloc[:2]), "a")
    close(two.values[0], np.sort(A[:2]) ** 2 - (A[:2] ** 2).mean())
    assert not two.effect_stderr.any(), "both rows move the same way"


# ---- what the model sees -------------------------------------------------------------------


def test_the_model_sees_only_neighbouring_observed_values_in_their_own_dtypes():
    frame = X.assign(c=X["c"].astype("category"), i=X["i"].astype("uint8"), a=X["a"].astype("float32"))
    before = frame.copy(deep=True)

    def watching(Z):
        assert (Z.dtypes == frame.dtypes).all()
        for name in frame:
            assert set(Z[name]) <= set(frame[name])
        return Z["a"].to_numpy(float)

    explainer = Explainer(watching, frame)
    for features in ("a", "i", "c", "d", "t", ("a", "i"), ("t", "c"), ("c", "d")):
        ale(explainer, features, bins=8)
    pd.testing.assert_frame_equal(frame, before)
    assert ale(explainer, "i").grid_values[0].dtype == np.uint8
    assert ale(explainer, "d").grid_values[0].dtype == bool
    assert ale(explainer, "t").grid_values[0].dtype.kind == "M"


def test_how_often_the_model_is_asked():
    for features, most in [("a", 2), ("c", 3), (("a", "b"), 4), (("a", "c"), 6), (("c", "d"), 6)]:
        explainer = Explainer(f, X)
        before = explainer.rows_asked
        ale(explainer, features)
        assert N < explainer.rows_asked - before <= most * N
    explainer = Explainer(f, X)
    ale(explainer, "c")
    before = explainer.rows_asked
    ale(explainer, "c")
    assert explainer.rows_asked - before <= 2 * N, "the rows' own predictions are known by now"
    known = explainer.base().rows_done
    assert known == N
    np.testing.assert_array_equal(explainer.base().predictions[0], f(X))


def test_one_hot_groups_move_together():
    dummies = pd.get_dummies(X["c"], prefix="c", dtype=int)
    frame = pd.concat([X[["a", "i"]], dummies.drop(columns="c_blue")], axis=1)

    def grouped(Z):
        colours = Z[[c for c in Z if c.startswith("c_")]]
        assert (colours.sum(axis=1) <= 1).all()
        return colours["c_red"] * Z["i"] + colours["c_grey"] * Z["a"] * 2

    groups = {"c": ["c_green", "c_grey", "c_red"]}
    result = ale(Explainer(grouped, frame, features=groups), "c", order=["c_red", "grey", "(base)", "green"])
    close(result.values[0], plain(lambda Z: ((Z["c"] == "red") * Z["i"] + (Z["c"] == "grey") * Z["a"] * 2).to_numpy(), X, "c",
                                  ["red", "grey", "blue", "green"], pd.Series(np.ones(N)))[0])  # fmt: skip
    assert result.order == {"c": ["red", "grey", "(base)", "green"]}
    found = ale(Explainer(grouped, frame, features=groups), "c").order["c"]
    text = ale(Explainer(lambda Z: Z["a"], X[["a", "i", "c"]]), "c").order["c"]
    renamed = [{"(base)": "blue"}.get(level, level) for level in found]
    assert renamed in (text, text[::-1])


def test_other_containers():
    numbers = X[["a", "b", "i"]]
    expected = ale(Explainer(lambda Z: np.asarray(Z)[:, 0] * np.asarray(Z)[:, 2], numbers), ("a", "i")).values
    close(ale(Explainer(lambda Z: Z[:, 0] * Z[:, 2], numbers.to_numpy()), ("x0", "x2")).values, expected)
    polars = pytest.importorskip("polars")
    close(
        ale(Explainer(lambda Z: Z["a"] * Z["i"], polars.DataFrame(numbers.to_dict("list"))), ("a", "i")).values,
        expected,
    )
    zoned = X.assign(t=X["t"].dt.tz_localize("Europe/Vienna"), gap=X["t"] - X["t"].min())
    expected = ale(Explainer(lambda Z: (Z["t"] - X["t"].min()).dt.days * Z["a"], X), "t").values
    close(ale(Explainer(lambda Z: Z["gap"].dt.days * Z["a"], zoned), "gap").values, expected)
    first = zoned["t"].min()
    result = ale(Explainer(lambda Z: np.rint((Z["t"] - first) / pd.Timedelta(days=1)) * Z["a"], zoned), "t")
    close(np.diff(result.values), np.diff(expected))  # one hour of summer time moves the mean a little


# ---- results -------------------------------------------------------------------------------


def test_all_outputs_at_once():
    numbers = X[["a", "b", "i"]]
    model = RandomForestClassifier(10, random_state=0).fit(numbers, X["c"])
    explainer = Explainer(model, numbers)
    result = ale(explainer, "a", bins=10)
    assert result.outputs == tuple(sorted(set(X["c"])))
    close(result.values.sum(axis=0), 0)
    for k, label in enumerate(model.classes_):
        one = result.output(label)
        np.testing.assert_array_equal(one.values, ale(explainer, "a", bins=10, output=label).values)
        close(one.values[0], plain(lambda Z, k=k: model.predict_proba(Z)[:, k], numbers, "a", quantile_edges(numbers["a"], pd.Series(np.ones(N)), 10), pd.Series(np.ones(N)))[0])  # fmt: skip
    pair = ale(explainer, ("a", "i"), main=True, output="red")
    assert pair.main[0].outputs == ("red",)
    assert pair.total.shape == pair.values.shape
    with pytest.raises(InputError, match="main=True"):
        ale(explainer, ("a", "i")).total  # noqa: B018


def test_tables():
    frame = X.rename(columns={"a": "ale", "i": "effect"})
    explainer = Explainer(lambda Z: np.column_stack([Z["ale"] * Z["effect"], Z["ale"]]), frame, output_names=["u", "v"])
    one = ale(explainer, "ale", bins=5)
    table = one.to_frame()
    assert list(table) == ["output", "ale", "ale_", "n_rows", "effect", "effect_stderr", "empty"]
    assert len(table) == 12
    np.testing.assert_array_equal(table.loc[table["output"] == "v", "ale_"], one.values[1])
    assert table["n_rows"].tolist() == [0, *one.counts] * 2
    close(table["ale_"].diff()[1:6], table["effect"][1:6])
    pair = ale(explainer, ("ale", "c"), bins=5, main=True).to_frame()
    assert list(pair) == ["output", "ale", "c", "ale_", "total", "n_rows", "effect", "effect_stderr", "empty"]
    assert pair["n_rows"].sum() == 2 * N
    assert len(pair) == 2 * 6 * 4
    level = pair[(pair["output"] == "u") & (pair["c"] == "red")]
    assert level["n_rows"].sum() == (X["c"] == "red").sum()
    assert repr(one) == "<ALE of 'ale': prediction of u, v; 6 edges; 300 of 300 rows>"


def test_growing_results_converge_and_cover_every_bin():
    explainer = Explainer(f, X, sample_weight=WEIGHTS)
    explainer.source.pace.rows = lambda seconds=0: 100  # small chunks
    for features in ("a", "c", ("a", "i")):
        grown = list(iter_ale(explainer, features, bins=8))
        final = ale(Explainer(f, X, sample_weight=WEIGHTS), features, bins=8)
        assert len(grown) >= 3
        done = [len(part.rows) for part in grown]
        assert done == sorted(set(done))
        assert [part.complete for part in grown] == [False] * (len(grown) - 1) + [True]
        assert all((part.counts > 0).sum() == (final.counts > 0).sum() for part in grown)
        assert all(np.array_equal(part.empty, final.empty) for part in grown)
        assert "so far" in repr(grown[0])
        np.testing.assert_array_equal(grown[-1].values, final.values)
        for part in grown:
            weights = WEIGHTS[part.rows]
            close(part.row_values[0] @ weights / weights.sum(), 0)


def test_an_executor_gives_the_same_numbers():
    with ThreadPoolExecutor(2) as pool:
        explainer = Explainer(f, X, executor=pool)
        explainer.source.pace.rows = lambda seconds=0: 50
        for features in ("b", "c", ("a", "c")):
            np.testing.assert_array_equal(ale(explainer, features).values, ale(Explainer(f, X), features).values)


def test_two_runs_agree_and_errors_say_what_to_do():
    explainer = Explainer(f, X, random_state=7)
    for features in ("a", ("c", "b")):
        np.testing.assert_array_equal(
            ale(explainer, features).values, ale(Explainer(f, X, random_state=7), features).values
        )
        close(ale(explainer, features).values, ale(Explainer(f, X, random_state=8), features).values)
    for features, options, message in [
        ("A", {}, "did you mean 'a'"),
        (("a", "a"), {}, "two different features"),
        (("a", "b", "c"), {}, "one feature or a pair"),
        ("a", {"bins": 0}, "bins=0; expected a whole number, 1 or more"),
        ("a", {"bins": (3, 4)}, "expected a number, or two for a pair"),
        ("a", {"main": True}, "main effects come with a pair"),
        ("a", {"subgroup": "a > 99"}, "holds none"),
        ("a", {"output": "x"}, "output"),
    ]:
        with pytest.raises(InputError, match=message):
            ale(explainer, features, **options)
    many = pd.DataFrame({"id": np.arange(1200).astype(str), "x": np.arange(1200.0)})
    with pytest.raises(InputError, match=r"'id' has 1,200 levels, .* give order=\[...\]"):
        ale(Explainer(lambda Z: Z["x"], many), "id")
    assert ale(Explainer(lambda Z: Z["x"], many), "id", order=list(many["id"])).values.shape == (1, 1200)


def test_the_example_in_the_docstring():
    result = doctest.testmod(importlib.import_module("pdp_widgets.explain.ale"))
    assert result.attempted > 0
    assert result.failed == 0


def test_bike_rentals_as_in_the_textbook(shared_data):
    bikes = pd.read_csv(shared_data / "bike.csv")
    frame = bikes[["weekday", "workday", "weather", "temp", "hum", "windspeed", "days_since_2011"]]
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    forest = RandomForestRegressor(30, min_samples_leaf=3, random_state=0)
    columns = make_column_transformer((OrdinalEncoder(), texts), remainder="passthrough")
    explainer = Explainer(make_pipeline(columns, forest).fit(frame, bikes["cnt"]), frame)

    def at(result, value):
        return np.interp(value, result.grid_values[0], result.values[0])

    temperature = ale(explainer, "temp")
    assert at(temperature, 0) < at(temperature, 10) - 300 < at(temperature, 20) - 600, "more rentals as it gets warmer"
    assert at(temperature, 32) < at(temperature, 25) - 500, "fewer again when it is hot"
    humidity = ale(explainer, "hum")
    assert at(humidity, 90) < at(humidity, 75) - 300 < at(humidity, 60) - 600, "fewer above 60 percent"
    weather = bikes[["mnth", "season", "weather", "temp", "hum", "windspeed"]]
    months = ale(Explainer(lambda Z: Z["temp"], weather), "mnth").order["mnth"]
    halves = [{"NOV", "DEC", "JAN", "FEB", "MAR", "APR"}, {"MAY", "JUN", "JUL", "AUG", "SEP", "OCT"}]
    assert [set(months[:6]), set(months[6:])] in (halves, halves[::-1]), "months are alike by their weather"


def test_one_output_of_a_pair_is_that_of_its_main_effects_too():
    frame = pd.DataFrame({"a": np.arange(6.0), "b": [0.0, 2, 1, 5, 3, 4]})
    frame["c"] = 1.0

    class Three:
        classes_ = np.array([1, 2, 3])

        def predict_proba(self, X):
            low = X["a"] / 20 + X["b"] / 30
            return np.column_stack([low, low**2, 1 - low - low**2])

    whole = ale(Explainer(Three(), frame), ("a", "b"), main=True)
    for k, name in enumerate(whole.outputs):
        one = whole.output(name)
        np.testing.assert_array_equal(one.main[0].values[0], whole.main[0].values[k])
