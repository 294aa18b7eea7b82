"""Rule sets: predictions against plain loops and a reference ensemble, the table that reproduces them, what they refuse."""

import copy
import io
import pickle

import numpy as np
import pandas as pd
import pytest
from rulefit_tools import HOSTILE, odd_rules, odd_table, reference

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Levels, Range
from pdp_widgets.rulefit import Linear, Rule, RuleSet


def by_hand(rules, X):
    """The sums term by term, each term asked on its own."""
    total = np.repeat(rules.intercept[:, None], len(X), axis=1)
    for k, term in enumerate(rules.terms):
        values = term.mask(X) if isinstance(term, Rule) else term.values(X)
        total = total + rules.coefficients[:, [k]] * values
    return total


def test_the_reference_ensemble_is_reproduced(shared_data):
    data, rules = reference(shared_data)
    expected = pd.read_csv(shared_data.parent / "oracles/rulefit/bike3e_pred_1se.csv")["pred"].to_numpy()
    X = data.drop(columns="y")
    np.testing.assert_allclose(rules.predict(X)[0], expected, rtol=0, atol=1e-9)
    kept = rules.nonzero()
    assert len(kept) == 33 and sum(isinstance(term, Linear) for term in kept.terms) == 4
    np.testing.assert_array_equal(kept.predict(X), rules.predict(X))


@pytest.mark.parametrize("outputs", [1, 3])
def test_sums_term_by_term(outputs):
    X = odd_table()
    rules = odd_rules(X, outputs=outputs)
    np.testing.assert_array_equal(rules.decision(X), by_hand(rules, X))
    np.testing.assert_allclose(
        rules.intercept[:, None] + rules.coefficients @ rules.design(X).T, rules.decision(X), atol=1e-12
    )


def test_links():
    X = pd.DataFrame({"x": [-3.0, 0.5, 2000.0]})
    terms = [Linear("x"), Rule.of("x > 0", X)]
    one = RuleSet(terms, [1.0, -0.5], 0.25, link="logit", classes=["no", "yes"])
    f = np.array([-2.75, 0.25, 1999.75])
    np.testing.assert_allclose(one.predict(X)[1, :2], 1 / (1 + np.exp(-f[:2])), rtol=1e-14)
    np.testing.assert_allclose(one.predict(X).sum(axis=0), 1)
    assert one.predicted == ("no", "yes") and one.outputs == ("yes",) and one.predict(X)[1, 2] == 1
    several = RuleSet(terms, [[1, 0], [0, 1], [-1, 2.0]], [0, 0, 1], link="ovr", classes=[1, 2, 3])
    f = several.decision(X[:2])
    sigmoid = 1 / (1 + np.exp(-f))
    np.testing.assert_allclose(several.predict(X[:2]), sigmoid / sigmoid.sum(axis=0), rtol=1e-14)
    far = RuleSet([Linear("x")], [[-1.0], [-2.0]], [0, 0], link="ovr", classes=[0, 1])
    assert np.isfinite(far.predict(X)).all()


def test_containers_and_the_order_of_columns():
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b c", "d"])
    rules = RuleSet([Rule.of("a > 0 & `b c` < 0.5", X), Linear("d")], [1.0, 2.0], 0, feature_names=X.columns)
    expected = rules.predict(X)
    for other in (
        X[["d", "a", "b c"]],
        X.assign(more="text"),
        pl.DataFrame(X.to_dict("list")),
        pl.LazyFrame(X.to_dict("list")),
    ):
        np.testing.assert_array_equal(rules.predict(other), expected)
    for array in (X.to_numpy(), X.to_numpy().tolist(), X.to_numpy().astype(object)):
        np.testing.assert_array_equal(rules.predict(array), expected)
    sparse = pytest.importorskip("scipy.sparse")
    np.testing.assert_array_equal(rules.predict(sparse.csr_matrix(X.to_numpy())), expected)
    unnamed = RuleSet([Rule.of("x1 > 0", X.to_numpy())], [1.0], 0)
    np.testing.assert_array_equal(unnamed.predict(X.to_numpy())[0], X["b c"] > 0)
    with pytest.raises(InputError, match="'b c' is not a column of X"):
        rules.predict(X.drop(columns="b c"))
    with pytest.raises(InputError, match="2 columns without names; expected 3"):
        rules.predict(X.to_numpy()[:, :2])
    with pytest.raises(InputError, match="'x1' is not a column"):
        unnamed.predict(X.to_numpy()[:, :1])


def test_a_row_is_predicted_the_same_alone():
    X = odd_table(60)
    rules = odd_rules(X, outputs=2)
    whole = rules.decision(X)
    for i in (0, 7, 31):
        np.testing.assert_array_equal(rules.decision(X.iloc[[i]])[:, 0], whole[:, i])
        np.testing.assert_array_equal(rules.decision(X.iloc[[i]].astype(object))[:, 0], whole[:, i])


def test_columns_without_any_value_and_unseen_levels():
    X = pd.DataFrame({"w": ["A", "B", None], "x": [1.0, np.nan, 3.0]})
    rules = RuleSet(
        [
            Rule((Levels("w", ("A",)),)),
            Rule((Levels("w", ("A",), negate=True),)),
            Rule((Range("x", low=2.0, missing=True),)),
            Linear("x", missing_as=5.0, high=4.0),
        ],
        [1, 10, 100, 1000],
        0,
    )
    np.testing.assert_array_equal(rules.predict(X)[0], [1001, 4110, 3110])
    for empty in (pd.DataFrame({"w": [None], "x": [None]}), pd.DataFrame({"w": [np.nan], "x": [np.nan]})):
        np.testing.assert_array_equal(rules.predict(empty)[0], [4110])
    np.testing.assert_array_equal(rules.predict(pd.DataFrame({"w": ["Z"], "x": [1.0]}))[0], [1010])


def test_a_column_of_another_kind_is_refused():
    X = pd.DataFrame({"x": [1.0, 2.0], "w": ["A", "B"], "d": pd.to_datetime(["2024-01-01", "2024-02-01"])})
    rules = RuleSet(
        [Rule.of("x > 1", X), Rule.of("w == 'A'", X), Rule.of("d > '2024-01-05'", X), Linear("x")], np.ones(4), 0
    )
    assert rules.predict(X).tolist() == [[2.0, 4.0]]
    for column, values in {"x": ["1", "2"], "w": X["d"], "d": X["d"].dt.tz_localize("UTC")}.items():
        with pytest.raises(InputError, match=f"column '{column}' holds"):
            rules.predict(X.assign(**{column: values}))
    with pytest.raises(InputError, match="'x' holds categories"):
        RuleSet([Linear("x")], [1.0], 0).predict(X.assign(x=["1", "2"]))


def through_csv(frame):
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("file", [False, True])
def test_the_table_alone_predicts_the_same(outputs, file):
    X = odd_table()
    link = {"link": "logit"} if outputs == 1 else {"link": "ovr", "classes": ["a", "b", "c"]}
    rules = odd_rules(X, outputs=outputs, **link)
    rules = rules.with_support(X, y=np.resize(rules.classes, len(X))).with_support(odd_table(seed=5), heldout=True)
    frame = rules.to_frame()
    again = RuleSet.from_frame(through_csv(frame) if file else frame, **link)
    other = odd_table(500, seed=9)
    np.testing.assert_allclose(again.decision(other), rules.decision(other), rtol=0, atol=1e-10)
    np.testing.assert_allclose(again.predict(other), rules.predict(other), rtol=0, atol=1e-10)
    back = again.to_frame()
    pd.testing.assert_frame_equal(back, frame, rtol=1e-13, check_dtype=False)


def test_the_table_of_regression_outputs():
    X = odd_table()
    rules = odd_rules(X, outputs=2)
    again = RuleSet.from_frame(through_csv(rules.to_frame()))
    assert again.outputs == rules.outputs == ("output 0", "output 1")
    np.testing.assert_allclose(again.predict(X), rules.predict(X), atol=1e-10)
    one = RuleSet.from_frame(through_csv(rules.to_frame(output=1)))
    np.testing.assert_allclose(one.predict(X)[0], rules.predict(X)[1], atol=1e-10)


def test_what_the_table_says():
    X = pd.DataFrame({"temp": [0.0, 10.0, 20.0, 30.0], "w": ["A", "A", "B", None]})
    y = np.array([1.0, 2.0, 4.0, 9.0])
    rules = RuleSet([Linear("temp", 5, 25), Rule.of("temp > 5 & w in ['A', None]", X)], [0.5, -3.0], 7.0)
    frame = rules.with_support(X, y=y).to_frame().set_index("kind")
    assert frame["rank"].tolist() == [0, 1, 2] and frame.index.tolist() == ["intercept", "linear", "rule"]
    rule = frame.loc["rule"]
    assert rule["term"] == "temp > 5 & w = A or missing" and rule["text"] == "temp > 5 & w in ['A', None]"
    assert (rule["support"], rule["n"], rule["conditions"]) == (0.5, 2, 2)
    assert (rule["mean_inside"], rule["mean_outside"]) == (5.5, 2.5)
    assert rule["importance_abs"] == 1.5
    linear = frame.loc["linear"]
    values = np.array([5, 10, 20, 25.0])
    assert linear["importance_abs"] == pytest.approx(0.5 * values.std()) and linear["importance"] == 100
    assert (linear["low"], linear["high"], linear["mean"]) == (5, 25, 15)
    assert frame.loc["intercept", "coefficient"] == 7 and "odds_ratio" not in frame
    odds = RuleSet([Rule.of("temp > 5", X)], [2.0], 0, link="logit").to_frame()["odds_ratio"]
    assert odds[1] == pytest.approx(np.exp(2))


def test_support_with_weights_is_that_of_repeated_rows():
    X, y = odd_table(80), np.arange(80.0)
    weights = np.random.default_rng(3).integers(0, 4, 80)
    rules = odd_rules(X)
    weighted = rules.with_support(X, weights=weights, y=y)
    repeated = rules.with_support(X.loc[np.repeat(X.index, weights)], y=np.repeat(y, weights))
    for name in ("support", "mean_inside", "mean_outside"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12)
    for a, b in zip(weighted.terms, repeated.terms, strict=True):
        if isinstance(a, Linear):
            assert (a.mean, a.sd) == pytest.approx((b.mean, b.sd), rel=1e-9)
    masks = [term.mask(X) for term in rules.terms if isinstance(term, Rule)]
    np.testing.assert_allclose([np.average(mask, weights=weights) for mask in masks], weighted.support[: len(masks)])
    held = rules.with_support(X[:20], heldout=True)
    np.testing.assert_allclose(held.support_heldout[: len(masks)], [mask[:20].mean() for mask in masks])
    np.testing.assert_array_equal(held.support, rules.support)


def test_class_shares_inside_and_outside():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    y = np.array(["b", "a", "a", "c"])
    rules = RuleSet([Rule.of("x > 1", X)], np.ones((3, 1)), np.zeros(3), link="ovr", classes=["a", "b", "c"])
    rules = rules.with_support(X, y=y)
    np.testing.assert_allclose(rules.mean_inside[:, 0], [2 / 3, 0, 1 / 3])
    np.testing.assert_allclose(rules.mean_outside[:, 0], [0, 1, 0])
    with pytest.raises(InputError, match="class labels"):
        rules.with_support(X, y=np.array(["a", "b", "c", "z"]))


def test_rules_from_elsewhere():
    X = pd.DataFrame({"temp": [0.0, 10.0, 20.0, 30.0], "w": ["A", "A", "B", "B"], "in": [True, False, True, False]})
    frame = pd.DataFrame(
        {"text": ["temp > 5 & w == 'A'", "temp", "`in`"], "coefficient": [2.0, 0.1, 5.0], "intercept": [1.0] * 3}
    )
    rules = RuleSet.from_frame(frame, X=X)
    np.testing.assert_allclose(rules.predict(X)[0], [6, 4, 8, 4])
    assert rules.support[0] == 0.25 and rules.terms[1].mean == 15 and rules.feature_names == ("temp", "w", "in")
    bare = frame[["text", "coefficient"]]
    np.testing.assert_allclose(RuleSet.from_frame(bare, X=X, intercept=1).predict(X), rules.predict(X))
    first = pd.concat([pd.DataFrame({"text": ["(Intercept)"], "coefficient": [1.0]}), bare])
    np.testing.assert_allclose(RuleSet.from_frame(first, X=X).predict(X), rules.predict(X))
    with pytest.raises(InputError, match="pass X"):
        RuleSet.from_frame(bare, intercept=1)
    with pytest.raises(InputError, match="no intercept"):
        RuleSet.from_frame(bare, X=X)
    with pytest.raises(InputError, match="no column 'coefficient'"):
        RuleSet.from_frame(bare[["text"]], X=X)
    with pytest.raises(InputError, match="did you mean 'temp'"):
        RuleSet.from_frame(pd.DataFrame({"text": ["tmp > 5"], "coefficient": [1.0]}), X=X, intercept=0)
    with pytest.raises(InputError, match="twice"):
        RuleSet.from_frame(pd.concat([bare, bare]), X=X, intercept=0)


def test_zones_and_durations_survive_the_table():
    X = pd.DataFrame(
        {
            "d": pd.date_range("2024-03-30", periods=60, freq="h", tz="Europe/Berlin"),
            "t": pd.to_timedelta(np.arange(60) * 1234567, unit="us"),
        }
    )
    rules = RuleSet(
        [
            Rule.of("d > '2024-03-31 03:00:00'", X),
            Rule.of("t <= '0 days 00:00:30.5'", X),
            Linear("t", kind="timedelta"),
        ],
        [1.0, 10.0, 1e-3],
        0,
    )
    again = RuleSet.from_frame(through_csv(rules.to_frame()))
    assert {term.text for term in again.terms} == {term.text for term in rules.terms}
    np.testing.assert_allclose(again.predict(X), rules.predict(X), atol=1e-10)


def test_what_cannot_be_a_rule_set():
    rule = Rule((Range("x", low=0.0),))
    with pytest.raises(InputError, match="expected \\(2, 1\\)"):
        RuleSet([rule], [1.0, 2.0], [0.0, 0.0])
    with pytest.raises(InputError, match="did you mean 'logit'"):
        RuleSet([rule], [1.0], 0, link="logt")
    with pytest.raises(InputError, match="link='ovr'"):
        RuleSet([rule], [[1.0], [2.0]], [0, 0], link="logit")
    with pytest.raises(InputError, match="expected 2"):
        RuleSet([rule], [1.0], 0, link="logit", classes=[1, 2, 3])
    with pytest.raises(InputError, match="finite"):
        RuleSet([rule], [np.nan], 0)
    with pytest.raises(InputError, match="one of feature_names"):
        RuleSet([rule], [1.0], 0, feature_names=["y"])
    with pytest.raises(InputError, match="support has shape"):
        RuleSet([rule], [1.0], 0, support=[0.1, 0.2])


def test_it_is_fixed_copied_and_pickled():
    X = odd_table(40)
    rules = odd_rules(X)
    with pytest.raises(ValueError, match="read-only"):
        rules.coefficients[0, 0] = 1
    with pytest.raises(AttributeError):
        rules.link = "logit"
    for other in (pickle.loads(pickle.dumps(rules)), copy.deepcopy(rules)):
        np.testing.assert_array_equal(other.predict(X), rules.predict(X))
    assert "17 rules, 8 linear terms" in repr(rules)


def test_intercept_alone():
    rules = RuleSet([], np.empty((1, 0)), 3.5)
    assert rules.predict(pd.DataFrame({"x": [1, 2]})).tolist() == [[3.5, 3.5]]
    assert RuleSet.from_frame(through_csv(rules.to_frame())).predict(pd.DataFrame({"x": [1, 2]})).tolist() == [
        [3.5, 3.5]
    ]


def test_names_are_data():
    X = odd_table(50)
    assert Rule.of(odd_rules(X).terms[14].text, X).features == ('quo"ted', HOSTILE)


@pytest.mark.parametrize(("link", "classes"), [("logit", ["no", "yes"]), ("ovr", ["a", "b", "c"])])
def test_the_table_of_a_classifier_asks_for_its_link(link, classes):
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    o = 1 if link == "logit" else 3
    rules = RuleSet([Rule.of("x > 0.5", X)], np.ones((o, 1)), np.zeros(o), link=link, classes=classes)
    frame = through_csv(rules.to_frame())
    with pytest.raises(InputError, match=f"link='{link}' and classes=model.classes_"):
        RuleSet.from_frame(frame)
    np.testing.assert_allclose(RuleSet.from_frame(frame, link=link, classes=classes).predict(X), rules.predict(X))
    np.testing.assert_allclose(RuleSet.from_frame(frame, link="identity").predict(X), rules.decision(X))
