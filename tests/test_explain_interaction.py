"""Interaction statistics against published numbers, closed forms and plain loops; exact sums over trees against model calls."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression

from pdp_widgets import Explainer
from pdp_widgets.inputs import InputError, PredictionError

ORACLES = REPOSITORY.parent / "shared" / "oracles" / "interaction.json"
RNG = np.random.default_rng(0)


def expression(text):
    """Return a model that is a numpy expression over the columns."""
    return lambda frame: eval(text, {"np": np}, {name: frame[name].to_numpy() for name in frame}) * np.ones(len(frame))


def lattice(**levels):
    """Return all combinations of levels as a table."""
    axes = np.meshgrid(*levels.values(), indexing="ij")
    return pd.DataFrame({name: axis.ravel() for name, axis in zip(levels, axes, strict=True)})


def statistics(explainer, **options):
    """Return every statistic of the first output by name."""
    found = explainer.interactions(rows=None, **options)
    named = {f"h2_overall:{row.feature}": row.h2 for row in found.overall.itertuples()}
    for row in found.to_frame().itertuples():
        for a, b in ((row.feature_1, row.feature_2), (row.feature_2, row.feature_1)):
            named |= {f"{kind}_pair:{a},{b}": getattr(row, kind) for kind in ("h2", "h", "strength")}
    return named | {"h2_total": found.total_h2[0]}


def by_hand(predict, frame, names, weights):
    """Return centred partial dependence of some columns at the rows, in plain loops."""
    out = np.empty(len(frame))
    for i in range(len(frame)):
        moved = frame.copy()
        for name in names:
            moved[name] = frame[name].iloc[i]
        out[i] = np.average(predict(moved), weights=weights)
    return out - np.average(out, weights=weights)


# ---- published and closed numbers ----------------------------------------------------------------


def oracles():
    if not ORACLES.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"no reference numbers at {ORACLES}"))]
    return [pytest.param(case, id=case["id"]) for case in json.loads(ORACLES.read_text())["cases"]]


@pytest.mark.parametrize("case", oracles())
def test_reference_numbers(case):
    frame = pd.DataFrame({name: np.array(values, dtype=float) for name, values in case["columns"].items()})
    explainer = Explainer(expression(case["f"]), frame, sample_weight=case.get("weights"))
    found = statistics(explainer)
    compared = 0
    for name, expected in case["expect"].items():
        if name.startswith("h2_triple:"):
            value = explainer.interaction(*name.split(":")[1].split(","), rows=None).h2[0]
        elif name in found:
            value = found[name]
        else:  # importance and Greenwell's measure are other modules' business
            assert name.split(":")[0] in {"pdi", "pd_importance", "greenwell_pair"}
            continue
        compared += 1
        assert value == pytest.approx(expected, abs=max(1e-6, case.get("tolerance", 0)))
    assert compared


def test_closed_forms_everywhere():
    square = lattice(a=np.arange(1.0, 6), b=np.arange(1.0, 6))
    found = statistics(Explainer(expression("a*b"), square))
    assert found["h2_pair:a,b"] == pytest.approx(0.1, abs=1e-12)
    assert found["strength_pair:a,b"] == pytest.approx(2.0, abs=1e-12)  # variance of (a-3)(b-3) is 4
    assert found["h_pair:a,b"] == pytest.approx(0.1**0.5, abs=1e-12)
    assert found["h2_total"] == pytest.approx(0.1, abs=1e-12)
    house = lattice(location=["bad", "good"], size=["big", "small"])
    apart = "150e3 + 100e3*(size=='big') + 50e3*(location=='good')"
    price = expression(f"{apart} + 100e3*(size=='big')*(location=='good')")
    assert statistics(Explainer(price, house))["h2_pair:location,size"] == pytest.approx(1 / 14, abs=1e-12)
    additive = expression(apart)
    assert statistics(Explainer(additive, house))["h2_pair:location,size"] == 0


def test_crossings_pure_interactions_and_nothing_at_all():
    bits = lattice(a=[0.0, 1.0], b=[0.0, 1.0], c=[0.0, 1.0])
    xor = statistics(Explainer(expression("(a != b) * 1.0"), bits))
    assert xor["h2_pair:a,b"] == 1  # numerator equals denominator
    assert xor["h2_pair:a,c"] == xor["h2_pair:b,c"] == xor["h2_overall:c"] == 0
    nothing = statistics(Explainer(expression("0*a + 5.0"), bits))
    assert set(nothing.values()) == {0.0}


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rounding_is_no_interaction_at_any_scale(scale):
    frame = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc"))
    for single in (False, True):
        model = expression(f"{scale} * (a + np.sin(b) + 1e4)")
        exact = (lambda X, f=model: f(X).astype(np.float32)) if single else model
        assert set(statistics(Explainer(exact, frame)).values()) == {0.0}


def test_dependent_features_may_give_more_than_one_and_are_flagged():
    frame = pd.DataFrame({"a": [0.0, 0, 3, 1], "b": [0.0, 3, 0, 1]})
    parts = [by_hand(expression("a*b"), frame, names, np.ones(4)) for names in (["a"], ["b"], ["a", "b"])]
    expected = np.mean((parts[2] - parts[0] - parts[1]) ** 2) / np.mean(parts[2] ** 2)
    assert expected == pytest.approx(9)
    found = Explainer(expression("a*b"), frame).interactions(rows=None).to_frame()
    assert found.h2[0] == pytest.approx(expected)
    assert found.dependent[0]


# ---- against plain loops ---------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_every_statistic_and_its_error_in_plain_loops(weighted):
    n = 40
    frame = pd.DataFrame(
        {
            "a": RNG.normal(size=n),
            "b": RNG.integers(0, 3, n),
            "c": RNG.choice(["x", "y", None], n),
            "d": np.where(RNG.random(n) < 0.2, np.nan, RNG.normal(size=n)),
        }
    )
    weights = RNG.random(n) if weighted else np.ones(n)

    def predict(X):
        c = (X["c"] == "x").to_numpy(dtype=float)
        return X["a"].to_numpy() * X["b"].to_numpy() + c * X["d"].fillna(3).to_numpy() + 0.3 * c * X["a"].to_numpy()

    explainer = Explainer(predict, frame, sample_weight=weights if weighted else None, nan_predictions="omit")
    found = explainer.interactions(rows=None)

    def numbers(keep):
        """Return h2 of all pairs, overall, and in total from the kept rows only."""
        rows, w = frame.iloc[keep].reset_index(drop=True), weights[keep]
        effects = {}
        for size in range(1, 5):
            for names in combinations("abcd", size):
                effects[names] = by_hand(predict, rows, list(names), w)
        F = effects["a", "b", "c", "d"]

        def ratio(x, y):
            return np.average(x**2, weights=w) / np.average(y**2, weights=w)

        pairs = {p: ratio(effects[p] - effects[p[:1]] - effects[p[1:]], effects[p]) for p in combinations("abcd", 2)}
        overall = {}
        for name in "abcd":
            others = tuple(other for other in "abcd" if other != name)
            overall[name] = ratio(F - effects[(name,)] - effects[others], F)
        return pairs, overall, ratio(F - sum(effects[(name,)] for name in "abcd"), F)

    order = explainer.row_order
    pairs, overall, total = numbers(order)
    group = np.arange(n) * 10 // n
    left = [numbers(order[group != g]) for g in range(10)]

    def error(values):
        return np.sqrt(0.9 * np.square(values - np.mean(values)).sum())

    for row in found.to_frame().itertuples():
        names = tuple(sorted((row.feature_1, row.feature_2)))
        assert row.h2 == pytest.approx(pairs[names], abs=1e-12)
        assert row.h2_stderr == pytest.approx(error([p[names] for p, _, _ in left]), abs=1e-10)
    for row in found.overall.itertuples():
        assert row.h2 == pytest.approx(overall[row.feature], abs=1e-12)
        assert row.h2_stderr == pytest.approx(error([o[row.feature] for _, o, _ in left]), abs=1e-10)
    assert found.total_h2[0] == pytest.approx(total, abs=1e-12)
    assert found.total_h2_stderr[0] == pytest.approx(error([t for *_, t in left]), abs=1e-10)


def test_repeated_rows_are_weights():
    frame = pd.DataFrame(RNG.normal(size=(12, 3)), columns=list("abc"))
    times = RNG.integers(1, 4, 12)
    model = expression("a*b + np.abs(c)*a")
    weighted = statistics(Explainer(model, frame, sample_weight=times))
    repeated = statistics(Explainer(model, frame.loc[frame.index.repeat(times)]))
    assert weighted == pytest.approx(repeated, abs=1e-12)


# ---- trees ------------------------------------------------------------------------------------------


def friedman(seed, n=500):
    X, y = make_friedman1(n, n_features=6, noise=1.0, random_state=seed)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(1, 7)]), y


@pytest.mark.parametrize("subgroup", [None, "x4 > 0.4"])
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_sums_and_model_calls_agree_on_everything(subgroup, weighted):
    X, y = friedman(0, 120)
    weights = RNG.random(120) if weighted else None
    for model, target in (
        (GradientBoostingRegressor(n_estimators=20, random_state=0), y),
        (GradientBoostingClassifier(n_estimators=8, random_state=0), np.digitize(y, [12, 17])),
    ):
        model.fit(X, target)
        exact, asked = (
            Explainer(model, X, method=way, sample_weight=weights).interactions(rows=80, subgroup=subgroup)
            for way in ("trees", "model")
        )
        assert exact.method == "exact sums over trees"
        assert asked.method == "model calls"
        assert exact.model_rows == 0
        numbers = ["h2", "strength", "h2_stderr", "strength_stderr"]
        ours, theirs = (r.overall.sort_values(["output", "feature"])[numbers] for r in (exact, asked))
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
        pairs = ["output", "feature_1", "feature_2"]
        ours, theirs = (r.to_frame().sort_values(pairs)[numbers] for r in (exact, asked))
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(exact.total_h2, asked.total_h2, atol=1e-9)


def test_the_strongest_pair_of_friedman_s_function_is_found_for_every_seed():
    for seed in range(20):
        X, y = friedman(seed)
        model = GradientBoostingRegressor(random_state=0).fit(X, y)
        first = Explainer(model, X, method="trees").interactions().to_frame().iloc[0]
        assert {first.feature_1, first.feature_2} == {"x1", "x2"}, seed


def test_sets_of_three_with_trees_and_without():
    frame = lattice(a=[-1.0, 1.0], b=[-1.0, 1.0], c=[-1.0, 1.0])
    forest = RandomForestRegressor(8, random_state=0, bootstrap=False).fit(frame, frame["a"] * frame["b"] * frame["c"])
    for way in ("trees", "model"):
        found = Explainer(forest, frame, method=way).interaction("a", "b", "c")
        assert found.h2[0] == pytest.approx(1, abs=1e-12)
        assert found.strength[0] == pytest.approx(1, abs=1e-12)


# ---- what it costs, and what is on the way ---------------------------------------------------------


def test_the_number_of_model_rows_is_known_before_and_kept():
    frame = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.integers(0, 4, 60), "c": RNG.normal(size=60)})
    explainer = Explainer(expression("a*b + c"), frame)
    before = explainer.rows_asked
    expected = explainer.interaction_rows()
    assert explainer.rows_asked == before
    levels = {name: len(frame[name].unique()) for name in frame}
    pairs = sum(60 * len(frame[list(pair)].drop_duplicates()) for pair in combinations("abc", 2))
    assert expected == 60 + 60 * sum(levels.values()) + pairs
    result = explainer.interactions()
    assert result.model_rows == expected
    assert explainer.rows_asked - before == expected
    assert Explainer(LinearRegression().fit(frame, frame["a"]), frame).interaction_rows(pairs=[]) < expected


def test_pairs_come_most_promising_first_and_what_is_not_computed_is_not_zero():
    frame = pd.DataFrame(RNG.normal(size=(50, 4)), columns=list("abcd"))
    explainer = Explainer(expression("a + b + 3*c*d + 0.2*a*b"), frame)
    growing = explainer.iter_interactions()
    start = next(growing)
    assert start.pairs_done == 0
    assert start.pairs[0] == ("c", "d")
    assert start.to_frame()["h2"].isna().all()
    assert not start.to_frame()["computed"].any()
    assert start.overall["h2"].notna().all()
    asked = explainer.rows_asked
    one = next(growing)
    assert one.pairs_done == 1
    assert one.to_frame()["computed"].sum() == 1
    assert explainer.rows_asked - asked == 2500
    growing.close()
    assert explainer.rows_asked - asked == 2500  # nothing runs on
    assert explainer.interactions().complete


def test_groups_classes_choices_and_the_total():
    frame = pd.DataFrame({"a": RNG.normal(size=80), "s": RNG.choice(["u", "v", "w"], 80)})
    hot = pd.get_dummies(frame, columns=["s"], dtype=float)

    def predict(X):
        first = 1 / (1 + np.exp(-X["a"] * (X["s_u"] - X["s_v"])))
        return np.column_stack([first, np.full(len(X), 0.25), 0.75 - first])

    explainer = Explainer(predict, hot, features={"s": ["s_u", "s_v", "s_w"]}, output_names=["x", "flat", "y"])
    found = explainer.interactions()
    assert found.features == ("a", "s")
    table = found.to_frame().set_index("output")
    assert table.h2["flat"] == 0  # 0/0, for that output only
    assert table.h2["x"] == pytest.approx(table.h2["y"])
    assert table.h2["x"] > 0.5
    assert found.output("y").to_frame().shape[0] == 1
    assert np.isfinite(found.total_h2).all()
    assert found.additivity == pytest.approx(1 - found.total_h2)
    some = Explainer(
        expression("a*b + c"), pd.DataFrame(RNG.normal(size=(30, 3)), columns=list("abc")), features=["a", "b"]
    )
    assert np.isnan(some.interactions().total_h2).all()  # c is no feature, yet in the model
    assert np.isnan(some.complexity().interaction_strength)
    part = Explainer(expression("a*b + c"), pd.DataFrame(RNG.normal(size=(30, 3)), columns=list("abc")))
    assert np.isnan(part.interactions(["a", "b"]).total_h2).all()  # of all features only
    assert part.interactions(pairs=[("c", "a")]).pairs == (("c", "a"),)
    assert "0 of 0 pairs" in repr(part.interactions(pairs=[]))


def test_what_cannot_be_computed_says_why():
    explainer = Explainer(expression("np.log(a) * b"), pd.DataFrame({"a": [1.0, 2, 3], "b": [0.0, 1, 2]}))
    with pytest.raises(InputError, match="'q' is not a column"):
        explainer.interactions(["a", "q"])
    with pytest.raises(InputError, match="two or more different features"):
        explainer.interaction("a", "a")
    with pytest.raises(InputError, match="rows=0"):
        explainer.interactions(rows=0)
    with pytest.raises(InputError, match="holds none"):
        explainer.interactions(subgroup="a > 9")
    with pytest.raises(InputError, match="output 'z'"):
        explainer.interactions(output="z")
    holes = pd.DataFrame({"a": [1.0, -2, 3], "b": [0.0, 1, 2]})
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match="NaN or infinity"):
        Explainer(expression("np.log(a) * b"), holes, nan_predictions="omit").interactions()
    with np.errstate(invalid="ignore"), pytest.raises(PredictionError):
        Explainer(expression("np.where(b > 1, np.nan, a)"), holes).interactions()


def test_one_output_of_one_set_and_how_it_reads():
    frame = pd.DataFrame(RNG.normal(size=(40, 2)), columns=list("ab"))
    explainer = Explainer(lambda X: np.column_stack([X["a"] * X["b"], X["a"]]), frame, output_names=["x", "y"])
    whole, one = explainer.interaction("a", "b"), explainer.interaction(("a", "b"), output="x")
    assert one.h2.tolist() == whole.h2[:1].tolist()
    assert one.to_frame()[["output", "features"]].to_numpy().tolist() == [["x", "a x b"]]
    assert repr(one).startswith("<Interaction of a x b: x: h2 ")
    assert "40 rows; model calls" in repr(one)
    assert explainer.greenwell("a", "b", output="y")["output"].tolist() == ["y"]
    with pytest.raises(InputError, match="output 'z'"):
        explainer.interaction("a", "b", output="z")


@pytest.mark.parametrize("way", ["trees", "model"])
def test_a_group_of_features_is_taken_as_one(way):
    X, y = friedman(0, 60)
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    found = Explainer(model, X, method=way).interaction("x1", ["x2", "x3"], rows=None)
    parts = [by_hand(model.predict, X, names, np.ones(60)) for names in (["x1"], ["x2", "x3"], ["x1", "x2", "x3"])]
    expected = np.mean((parts[2] - parts[0] - parts[1]) ** 2) / np.mean(parts[2] ** 2)
    assert found.h2[0] == pytest.approx(expected, abs=1e-10)
    assert found.features == ("x1", "x2 + x3")
    for wrong, reason in ((["x1", "x2"], "two or more different features"), ([], r"\[\] is no group of features")):
        with pytest.raises(InputError, match=reason):
            Explainer(model, X).interaction("x1", wrong)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", ["trees", "model"])
def test_every_statistic_of_groups_in_plain_loops(way, weighted):
    """Groups of one, two and three columns, two classes' log-odds and three classes' probabilities."""
    X, y = friedman(0, 50)
    X["x6"] = np.where(X["x6"] > 0.8, np.nan, X["x6"])
    weights = RNG.random(50) if weighted else np.ones(50)
    groups = {"x1": ["x1"], "x2 + x5": ["x2", "x5"], "x3 + x4 + x6": ["x3", "x4", "x6"]}
    for bins, response in (([14], "decision"), ([12, 17], "probability")):
        target = np.digitize(y, bins)
        model = HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=5, random_state=0).fit(X, target)
        explainer = Explainer(model, X, method=way, response=response, sample_weight=weights if weighted else None)
        found = explainer.interactions([*groups.values()], rows=None)
        assert found.features == tuple(groups)
        assert [found.given(name) for name in groups] == ["x1", ["x2", "x5"], ["x3", "x4", "x6"]]
        assert found.method == ("exact sums over trees" if way == "trees" else "model calls")
        for k, output in enumerate(found.outputs):

            def predict(rows, k=k, model=model, response=response):
                return model.decision_function(rows) if response == "decision" else model.predict_proba(rows)[:, k]

            def effect(*names, predict=predict):
                return by_hand(predict, X, [column for name in names for column in groups[name]], weights)

            def share(x, y):
                return np.average(x**2, weights=weights) / np.average(y**2, weights=weights)

            one = found.output(output)
            F, single = effect(*groups), {name: effect(name) for name in groups}
            pairs = one.to_frame().set_index(["feature_1", "feature_2"])
            for a, b in one.pairs:
                joint = effect(a, b)
                assert pairs.h2[a, b] == pytest.approx(share(joint - single[a] - single[b], joint), abs=1e-10)
            for name, h2 in one.overall.set_index("feature").h2.items():
                rest = effect(*(other for other in groups if other != name))
                assert h2 == pytest.approx(share(F - single[name] - rest, F), abs=1e-10)
            assert one.total_h2[0] == pytest.approx(share(F - sum(single.values()), F), abs=1e-10)
            own = np.sqrt([np.average(effect**2, weights=weights) for effect in single.values()])
            np.testing.assert_allclose(one.main_strength[0], own, atol=1e-10)


def test_groups_in_pairs_networks_and_with_one_hot_columns():
    frame = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60), "s": RNG.choice(["u", "v", "w"], 60)})
    hot = pd.get_dummies(frame, columns=["s"], dtype=float)
    explainer = Explainer(
        lambda X: X["a"] * (X["s_u"] + X["b"]) + 0.1 * X["b"], hot, features={"s": ["s_u", "s_v", "s_w"]}
    )
    found = explainer.interactions(["a"], pairs=[("a", ["s", "b"])], rows=None)
    assert found.features == ("a", "s + b")
    expected = by_hand(explainer.model, hot, ["s_u", "s_v", "s_w", "b"], np.ones(60))
    assert found.main_strength[0, 1] == pytest.approx(expected.std())
    assert explainer.interaction_rows(["a"], pairs=[("a", ["s", "b"])], rows=None) == found.model_rows
    assert found.total_h2[0] == pytest.approx(found.to_frame().h2[0])  # the two hold all columns
    network = explainer.interaction_network([["s", "b"], "a"], rows=None)
    assert network.edges[["feature_1", "feature_2"]].to_numpy().tolist() == [["s + b", "a"]]
    triples = Explainer(
        expression("a*b*c*d + a*b + c*b + d*b + a*c"),
        lattice(a=[-1.0, 1, 2], b=[-1.0, 1, 2], c=[-1.0, 1, 2], d=[-1.0, 1, 2]),
    )
    network = triples.interaction_network([["a", "d"], "b", "c"], threshold=0)
    assert network.hyperedges[["feature_1", "feature_2", "feature_3"]].to_numpy().tolist() == [["a + d", "b", "c"]]
    expected = triples.interaction(["a", "d"], "b", "c").strength[0]
    assert network.hyperedges.strength[0] == pytest.approx(expected)


def test_overlapping_groups_are_no_pair():
    explainer = Explainer(expression("a*b + c"), pd.DataFrame(RNG.normal(size=(30, 3)), columns=list("abc")))
    with pytest.raises(InputError, match=r"features: 'a' and 'a \+ b' share 'a'; .* name the pairs wanted with pairs="):
        explainer.interactions(["a", ["a", "b"]])
    with pytest.raises(
        InputError, match=r"pairs: 'a \+ b' and 'b \+ c' share 'b'; a pair needs two different features$"
    ):
        explainer.interactions(pairs=[(["a", "b"], ["b", "c"])])
    found = explainer.interactions(["a", ["a", "b"], "c"], pairs=[])  # each with all others
    assert np.isnan(found.total_h2).all()
    assert found.overall.set_index("feature").h2["a + b"] == 0
    with pytest.raises(InputError, match="'q' is not a column"):
        explainer.interactions(["a", ["b", "q"]])
    with pytest.raises(InputError, match=r"\['b', 'b'\] is no group"):
        explainer.interactions(["a", ["b", "b"]])


def test_a_single_row_tells_nothing_of_interactions():
    frame = pd.DataFrame({"a": [1.0, 4, 2], "b": [2.0, 3, 5]})
    alone = (
        (Explainer(expression("a*b"), frame[:1]), {}),
        (Explainer(expression("a*b"), frame), {"rows": 1}),
        (Explainer(expression("a*b"), frame), {"subgroup": "a == 4"}),
        (Explainer(expression("a*b"), frame, sample_weight=[0, 2, 0]), {}),
        (Explainer(RandomForestRegressor(2).fit(frame, frame["a"] * frame["b"]), frame, method="trees"), {"rows": 1}),
    )
    for explainer, options in alone:
        found = explainer.interactions(**options)
        for table in (found.to_frame(), found.overall):
            assert table[["h2", "h", "strength", "h2_stderr", "strength_stderr"]].isna().all(axis=None)
            assert not table["dependent"].any()
        assert np.isnan([*found.total_h2, *found.main_strength[0], *found.response_strength]).all()
        one = explainer.interaction("a", "b", **options)
        assert np.isnan([*one.h2, *one.strength]).all()
        network = explainer.interaction_network(**options)
        assert network.edges.empty
        assert network.nodes.main.isna().all()
        assert np.isnan(explainer.importance(**options).pdi).all() == ("rows" in options)  # else nothing varies
        assert np.isnan(explainer.complexity(subgroup=options.get("subgroup")).interaction_strength) == (
            "rows" not in options
        )
    two = Explainer(expression("a*b"), frame[:2]).interactions()
    assert two.to_frame().h2[0] == 0  # by hand: F_ab - F_a - F_b is -5.5 in both rows
    assert np.isnan(two.to_frame().h2_stderr[0])  # one row is left
