"""Observed outcomes, predictions and residuals by the value of a feature against pandas' groupby, written out by hand."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from pdp_widgets import Explainer
from pdp_widgets.explain.residuals import iter_observed, observed
from pdp_widgets.inputs import InputError, PredictionError

N = 150


def table(n=N):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n).round(1),
            "z": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2.0, size=n)),
            "site": pd.Series(rng.choice(["north", "south", "west"], n)).where(rng.random(n) > 0.1),
            "flag": rng.random(n) < 0.3,
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
            "hot_a": (np.arange(n) % 3 == 0) * 1,
            "hot_b": (np.arange(n) % 3 == 1) * 1,
        }
    )


def predict(frame):
    return np.sin(frame.x.to_numpy()) + frame.z.fillna(0).to_numpy() * (1 + frame["flag"].to_numpy())


def outcome(n=N):
    rng = np.random.default_rng(1)
    y = predict(table(n)) + rng.normal(size=n)
    y[rng.random(n) < 0.1] = np.nan
    return y


def nearest(values, grid):
    """Return the position of the nearest grid value (of the smaller one at equal distance), the missing one for missing values."""
    gone = [k for k, point in enumerate(grid) if pd.isna(point)]
    known = [k for k in range(len(grid)) if k not in gone]
    ordered = pd.api.types.is_float_dtype(values) or pd.api.types.is_datetime64_any_dtype(values)
    out = []
    for value in values:
        if pd.isna(value):
            out.append(gone[0])
        elif ordered:
            out.append(min(known, key=lambda k: abs(value - grid[k])))
        else:
            out.append(next(k for k in known if grid[k] == value))
    return np.array(out)


def by_hand(bins, y, prediction, weights):
    """Return n, means of y, prediction and residual, and the standard error of the last, per bin, by groupby."""
    frame = pd.DataFrame({"bin": bins, "y": y, "p": prediction, "r": y - prediction, "w": weights})
    lines = {}
    for k, part in frame.groupby("bin"):
        w = part.w / part.w.sum()
        effective = 1 / (w**2).sum()
        variance = (
            (w * (part.r - (w * part.r).sum()) ** 2).sum() * effective / (effective - 1) if len(part) > 1 else np.nan
        )
        lines[k] = [
            len(part),
            (w * part.y).sum(),
            (w * part.p).sum(),
            (w * part.r).sum(),
            np.sqrt(variance / effective),
        ]
    return pd.DataFrame.from_dict(lines, orient="index")


def agree(found, k, bins, used, y, prediction, weights):
    expected = by_hand(
        bins[used], y[used], prediction[used], np.ones(len(y))[used] if weights is None else weights[used]
    )
    where = expected.index.to_numpy()
    np.testing.assert_array_equal(found.n[where], expected[0])
    assert found.n.sum() == used.sum() == len(found.rows)
    for name, column in (("observed", 1), ("predicted", 2), ("residual", 3), ("residual_stderr", 4)):
        values = getattr(found, name)[k]
        np.testing.assert_allclose(values[where], expected[column], rtol=1e-10, atol=1e-12, err_msg=name)
        assert np.isnan(np.delete(values, where)).all()


# ---- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("subgroup", [None, "site == 'north' | flag"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("feature", ["x", "z", "site", "flag", "day"])
def test_regression_by_groupby(feature, weighted, subgroup):
    frame, y = table(), outcome()
    before = frame.copy(deep=True)
    weights = np.random.default_rng(2).integers(0, 4, N).astype(float) if weighted else None
    explainer = Explainer(predict, frame, y, sample_weight=weights, grid_size=9)
    found = observed(explainer, feature, subgroup=subgroup)
    pd.testing.assert_frame_equal(frame, before)
    grid = explainer.partial_dependence(feature).grid_values[0]  # the very points of the curve
    pd.testing.assert_series_equal(pd.Series(found.grid_values), pd.Series(grid))
    inside = np.ones(N, bool) if subgroup is None else ((frame.site == "north") | frame.flag).to_numpy()
    used = inside & ~np.isnan(y) & (True if weights is None else weights > 0)
    agree(found, 0, nearest(frame[feature], grid), used, y, predict(frame), weights)
    assert found.rows_missing == (inside & np.isnan(y)).sum() > 0
    assert found.rows_weightless == (0 if weights is None else (inside & ~np.isnan(y) & (weights == 0)).sum())
    assert found.rows_total == inside.sum() == found.rows_done and found.complete
    assert found.subgroup == subgroup and found.weighted == weighted and found.scale == "prediction"


def test_missing_level_group_constant_single_row_and_infinity():
    frame, y = table(), outcome()
    known = ~np.isnan(y)
    explainer = Explainer(predict, frame, y, features={"hot": ["hot_a", "hot_b"]})
    missing = observed(explainer, "z")
    gone = frame.z.isna().to_numpy()
    assert missing.n[-1] == (gone & known).sum() and np.isnan(missing.grid_values[-1])
    assert missing.observed[0, -1] == pytest.approx(y[gone & known].mean(), rel=1e-12)
    hot = observed(explainer, "hot")
    for k, rows in enumerate([frame.hot_a == 1, frame.hot_b == 1, (frame.hot_a == 0) & (frame.hot_b == 0)]):
        rows = rows.to_numpy() & known
        assert hot.n[k] == rows.sum()
        assert hot.residual[0, k] == pytest.approx((y - predict(frame))[rows].mean(), rel=1e-12)
    constant = observed(Explainer(predict, frame.assign(x=2.0), y), "x")
    assert constant.n.tolist() == [known.sum()]
    assert constant.observed[0, 0] == pytest.approx(y[known].mean(), rel=1e-12)
    single = observed(Explainer(predict, frame[:1], [3.0]), "x")
    assert single.observed[0, 0] == 3 and single.n.tolist() == [1] and np.isnan(single.residual_stderr).all()
    values = np.array([1.0, 2.0, np.inf, -np.inf, 2.0])
    infinite = observed(
        Explainer(lambda rows: np.where(np.isinf(rows[:, 0]), 0, rows[:, 0]), values[:, None], values), "x0"
    )
    assert infinite.rows_off_grid == 0 and infinite.rows_missing == 2  # infinite outcomes come first
    infinite = observed(
        Explainer(
            lambda rows: rows[:, 0] * 0 + 1 if np.isfinite(rows).all() else np.ones(len(rows)),
            values[:, None],
            np.ones(5),
        ),
        "x0",
    )
    assert (
        infinite.rows_off_grid == 2
        and infinite.n.tolist() == [1, 2]
        and "2 rows off the grid left out" in repr(infinite)
    )


def test_weights_are_repeated_rows():
    frame, y = table(), outcome()
    times = np.random.default_rng(3).integers(0, 4, N)
    grid = [-1.0, 0.0, 1.0]
    weighted = observed(Explainer(predict, frame, y, sample_weight=times), "x", grid=grid)
    repeated = observed(
        Explainer(predict, frame.loc[frame.index.repeat(times)].reset_index(drop=True), np.repeat(y, times)),
        "x",
        grid=grid,
    )
    for name in ("observed", "predicted", "residual"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-11)


def test_the_standard_error_covers_what_other_samples_give():
    rng = np.random.default_rng(4)
    off = []
    for _ in range(300):
        x = rng.choice([0.0, 1.0], 60)
        found = observed(
            Explainer(lambda rows: rows[:, 0], x[:, None], x + rng.normal(0.3, 2, 60), method="model"), "x0"
        )
        off.extend(((found.residual - 0.3) / found.residual_stderr)[0])
    assert 0.92 < np.mean(np.abs(off) < 1.96) < 0.97
    assert np.std(off) == pytest.approx(1, abs=0.1)


def test_residuals_of_least_squares_vanish_within_levels():
    rng = np.random.default_rng(5)
    X = pd.get_dummies(rng.choice(list("abc"), 90)).astype(float)
    y = rng.normal(size=90) + X.b * 3
    explainer = Explainer(LinearRegression().fit(X, y), X, y, features={"level": ["a", "b", "c"]})
    np.testing.assert_allclose(observed(explainer, "level").residual, 0, atol=1e-12)


def test_several_numbers_per_row():
    frame = table()
    both = lambda rows: np.column_stack([rows.x, 2 * rows.x])  # noqa: E731
    y = np.column_stack([frame.x + 1, frame.x])
    y[3, 1] = np.nan
    found = observed(Explainer(both, frame, y), "flag")
    np.testing.assert_allclose(found.residual[0], 1, rtol=1e-12)
    kept = np.arange(N) != 3
    agree(found, 1, frame.flag.to_numpy().astype(int), kept, y[:, 1], 2 * frame.x.to_numpy(), None)
    assert found.rows_missing == 1
    titled = lambda rows: pd.DataFrame({"low": rows.x, "high": 2 * rows.x})  # noqa: E731
    assert observed(Explainer(titled, frame, y), "flag").outputs == ("low", "high")


@pytest.mark.parametrize("kind", ["nullable", "decimal", "bool", "whole"])
def test_numbers_of_every_kind(kind):
    frame = table()
    y = {
        "nullable": pd.array([None, *range(1, N)], dtype="Int64"),
        "decimal": [None, *map(Decimal, range(1, N))],
        "bool": np.arange(N) % 2 == 0,
        "whole": np.arange(N),
    }[kind]
    plain = np.array([np.nan if v is None or v is pd.NA else float(v) for v in y])
    found = observed(Explainer(predict, frame, y), "site")
    np.testing.assert_array_equal(found.observed, observed(Explainer(predict, frame, plain), "site").observed)
    assert found.rows_missing == np.isnan(plain).sum()


# ---- classes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [["a", "b", "c"], [1, 2, 3], [0, 1, 2], [2.0, 3.0, 5.0], ["a", "b"], [False, True]])
def test_classes_by_groupby(labels):
    frame = table()[["x", "flag"]]
    rng = np.random.default_rng(6)
    y = np.array(labels)[rng.integers(0, len(labels), N)]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame, y)
    weights = rng.random(N) + 0.1
    held = pd.Series(y, dtype=object)
    held[[4, 9]] = None
    explainer = Explainer(model, frame, held, sample_weight=weights, grid_size=6, method="model")
    found = observed(explainer, "x", subgroup="~flag")
    used = (~frame.flag & held.notna()).to_numpy()
    bins = nearest(frame.x, found.grid_values)
    for k, label in enumerate(labels):
        share = (y == label).astype(float)
        agree(found, k, bins, used, share, model.predict_proba(frame)[:, k], weights)
        one = observed(explainer, "x", subgroup="~flag", output=label)  # a label, not the position it may also be
        np.testing.assert_array_equal(one.observed, found.observed[k : k + 1])
        np.testing.assert_array_equal(found.output(label).residual, one.residual)
        assert one.outputs == (str(label),) and one.labels == (label,)
    filled = found.n > 0
    np.testing.assert_allclose(found.observed[:, filled].sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(found.residual[:, filled].sum(axis=0), 0, atol=1e-12)
    assert found.scale == "probability" and found.rows_missing == (~frame.flag & held.isna()).sum()


def test_predicted_classes_and_functions_of_the_caller():
    frame = table()[["x", "flag"]]
    y = np.where(frame.x + np.random.default_rng(7).normal(size=N) > 0, "yes", "no")
    model = LogisticRegression().fit(frame, y)
    voted = observed(Explainer(model, frame, y, response="predict"), "flag")
    said = model.predict(frame)
    for k, label in enumerate(["no", "yes"]):
        agree(
            voted,
            k,
            frame.flag.to_numpy().astype(int),
            np.ones(N, bool),
            (y == label) * 1.0,
            (said == label) * 1.0,
            None,
        )
    plain = observed(Explainer(model, frame, y), "flag")
    own = Explainer(model, frame, y, response=lambda m, rows: m.predict_proba(rows))
    np.testing.assert_array_equal(observed(own, "flag").residual, plain.residual)
    named = Explainer(model.predict_proba, frame, y, output_names=["no", "yes"])
    np.testing.assert_array_equal(observed(named, "flag").residual, plain.residual)
    one = Explainer(lambda rows: model.predict_proba(rows)[:, 1], frame, (y == "yes") * 1)
    np.testing.assert_allclose(observed(one, "flag").residual, plain.residual[1:], rtol=1e-12)
    with pytest.raises(
        InputError, match=r"goes from -?[0-9.]+ to [0-9.]+: shares of rows can only be compared with prob"
    ):
        observed(Explainer(model, frame, y, response=lambda m, rows: 2 * m.predict_proba(rows)), "flag")
    only = DecisionTreeClassifier().fit(frame, ["yes"] * N)
    assert (observed(Explainer(only, frame, ["yes"] * N), "flag").observed == 1).all()
    with pytest.raises(InputError, match="y holds 'no', which is no class of DecisionTreeClassifier: 'yes'"):
        observed(Explainer(only, frame, y), "flag")


def test_penguins_are_as_often_female_as_the_forest_says(shared_data):
    birds = pd.read_csv(shared_data / "penguins.csv").dropna()
    X = birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]]
    train = np.arange(len(X)) % 2 == 0
    forest = RandomForestClassifier(60, min_samples_leaf=3, random_state=0).fit(X[train], birds.sex[train])
    found = observed(
        Explainer(forest, X[~train], birds.sex[~train]), "body_mass_g", grid=[3200, 3700, 4500, 5500], output="female"
    )
    assert found.observed[0, 0] > 0.8 > 0.2 > found.observed[0, -1]
    assert (np.abs(found.residual) < 4 * found.residual_stderr + 0.02).all()
    share = (birds.sex[~train] == "female").groupby(nearest(X.body_mass_g[~train], found.grid_values)).mean()
    np.testing.assert_allclose(found.observed[0], share, rtol=1e-12)


# ---- what is asked, refused and said ----------------------------------------------------------------------


def test_each_row_is_predicted_once_and_only_those_that_count():
    frame, y = table(), outcome()
    explainer = Explainer(predict, frame, y)
    before = explainer.rows_asked
    found = observed(explainer, "x", subgroup="flag")
    assert explainer.rows_asked - before <= len(found.rows) == (frame.flag & ~np.isnan(y)).sum()
    between = explainer.rows_asked
    observed(explainer, "site", subgroup="flag")
    assert explainer.rows_asked == between
    everyone = observed(explainer, "x")
    assert explainer.rows_asked <= before + len(everyone.rows)
    full = Explainer(predict, frame, y)
    while not full.base().complete:
        full.base().advance()
    between = full.rows_asked
    np.testing.assert_array_equal(observed(full, "x").residual, everyone.residual)
    assert full.rows_asked == between


def test_means_grow_to_the_whole():
    n = 900
    frame, y = table(n), outcome(n)
    growing = list(iter_observed(Explainer(predict, frame, y), "site"))
    done = [one.rows_done for one in growing]
    assert len(growing) > 1 and done == sorted(done) and done[0] < done[-1] == growing[-1].rows_total == n
    assert not growing[0].complete and "so far" in repr(growing[0]) and growing[-1].complete
    whole = observed(Explainer(predict, frame, y), "site")
    np.testing.assert_array_equal(growing[-1].residual, whole.residual)
    assert (np.abs(growing[0].residual - whole.residual) < 5 * growing[0].residual_stderr).all()


def test_rows_without_a_prediction():
    frame, y = table(), outcome()
    hole = int(np.flatnonzero(~np.isnan(y))[0])  # among the first rows, which are looked at before anything is asked
    holes = lambda rows: np.where((rows.x == frame.x[hole]) & (rows.day == frame.day[hole]), np.nan, predict(rows))  # noqa: E731
    bad = ((frame.x == frame.x[hole]) & (frame.day == frame.day[hole])).to_numpy()
    assert hole < 4
    found = observed(Explainer(holes, frame, y, nan_predictions="omit"), "site")
    assert found.rows_omitted == (bad & ~np.isnan(y)).sum() and found.complete
    agree(found, 0, nearest(frame.site, found.grid_values), ~np.isnan(y) & ~bad, y, predict(frame), None)
    with pytest.raises(PredictionError, match=f"at their own values \\(row {hole}"):
        observed(Explainer(holes, frame, y), "site")


def test_what_makes_no_sense_is_refused():
    frame = table()[["x", "flag"]]
    labels = np.where(frame.x > 0, "yes", "no")
    model = LogisticRegression().fit(frame, labels)
    ridge = RidgeClassifier().fit(frame, labels)
    linear = LinearRegression().fit(frame, frame.x)
    several = MultiOutputClassifier(DecisionTreeClassifier()).fit(frame, np.column_stack([labels, labels]))
    two = lambda rows: np.column_stack([rows.x, rows.x])  # noqa: E731
    cases = [
        ((linear, frame), r"residuals need the observed outcome: Explainer\(model, X, y\)"),
        (
            (linear, frame, labels),
            "y holds '(yes|no)', no number to compare with the numbers that LinearRegression predicts",
        ),
        ((linear, frame, pd.date_range("2024", periods=N)), "no number to compare"),
        (
            (model, frame, np.where(frame.x > 1, "maybe", labels)),
            "y holds 'maybe', which is no class of LogisticRegression: 'no', 'yes'",
        ),
        ((model, frame, (labels == "yes") * 1), "y holds [01], which is no class of LogisticRegression"),
        ((ridge, frame, labels), "an outcome cannot be subtracted from a decision value; use response='probability'"),
        ((two, frame, frame.x), "y has 1 value.* has 2 outputs without class labels: output 0, output 1"),
        ((linear, frame, np.ones((N, 2))), r"y has 2 value\(s\) per row"),
        ((several, frame, np.column_stack([labels, labels])), "cannot be compared with the probability"),
        ((linear, frame, np.full(N, np.nan)), "none of the 150 rows can be used: 150 have no outcome"),
    ]
    for arguments, message in cases:
        with pytest.raises(InputError, match=message):
            observed(Explainer(*arguments), "x")
    with pytest.raises(InputError, match="subtracted from a log-odds"):
        observed(Explainer(model, frame, labels, response="logit"), "x")
    explainer = Explainer(model, frame, np.where(frame.flag, "odd", labels))
    assert observed(explainer, "x", subgroup="~flag").complete  # only the rows asked for have to be understood
    numbers = pd.Series(frame.x, dtype=object).where(~frame.flag, "?")
    assert observed(Explainer(linear, frame, numbers), "x", subgroup="~flag").complete
    with pytest.raises(InputError, match="output 'perhaps'"):
        observed(explainer, "x", output="perhaps", subgroup="~flag")
    with pytest.raises(InputError, match="feature 'xx' is not a column of X"):
        observed(explainer, "xx", subgroup="~flag")


def test_levels_off_the_grid_are_counted():
    frame, y = table(), outcome()
    found = observed(Explainer(predict, frame, y), "site", grid=["west", "north"])
    known = ~np.isnan(y)
    assert found.n.tolist() == [(known & (frame.site == name)).sum() for name in ("west", "north")]
    assert found.rows_off_grid == known.sum() - found.n.sum() and found.complete


def test_the_background_is_a_sample_with_its_own_outcomes():
    frame, y = table(), outcome()
    explainer = Explainer(predict, frame, pd.Series(y, index=frame.index)[::-1], background=60, random_state=3)
    found = observed(explainer, "flag")
    rows = explainer.rows_given
    agree(found, 0, frame.flag.to_numpy()[rows].astype(int), ~np.isnan(y[rows]), y[rows], predict(frame)[rows], None)


def test_results_read_as_tables_and_say_what_they_are():
    frame, y = table(), outcome()
    explainer = Explainer(predict, frame, y, sample_weight=np.ones(N))
    found = observed(explainer, "site", subgroup="flag")
    tidy = found.to_frame()
    assert list(tidy.columns) == ["output", "site", "n", "observed", "predicted", "residual", "residual_stderr"]
    np.testing.assert_array_equal(tidy.residual, found.residual[0])
    assert tidy.site.tolist()[:3] == ["north", "south", "west"] and pd.isna(tidy.site[3])
    gone = (frame.flag & np.isnan(y)).sum()
    total = frame.flag.sum()
    assert repr(found) == (
        f"<ObservedOutcome by 'site': prediction; 4 grid points; {total - gone} of {total} rows; "
        f"{gone} rows without an outcome left out; subgroup flag; weighted>"
    )
    odd = Explainer(lambda rows: rows.n.to_numpy(), pd.DataFrame({"n": [1.0, 2.0]}), [1, 2])
    assert list(observed(odd, "n").to_frame().columns) == [
        "output", "n", "n_", "observed", "predicted", "residual", "residual_stderr",
    ]  # fmt: skip
