"""Importance of terms and features, and single rows, against plain loops and a reference ensemble."""

import numpy as np
import pandas as pd
import pytest
from rulefit_tools import odd_rules, odd_table, reference

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Range
from pdp_widgets.rulefit import Linear, Rule, RuleSet


def table_and_rules():
    X = pd.DataFrame(
        {
            "a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "b": [0.0, 1.0, 0.0, 1.0, 1.0, np.nan],
            "e": list("xyxyxx"),
            "unused": np.arange(6),
        }
    )
    terms = [
        Rule.of("a > 2 & b == 1 & e == 'y'", X),
        Rule.of("a > 1 & a <= 5", X),
        Linear("a", 2, 5),
        Linear("e", level=("x",)),
        Rule((Range("a", high=4.0), Range("b", low=0.5, missing=True))),
    ]
    return X, RuleSet(terms, [[2, -1, 0.5, 3, 0.25], [1, 0, 0, -2, 4.0]], [1, 2], feature_names=X.columns).with_support(
        X
    )


def local_by_hand(rules, X, o):
    """|a_k| |r_k(x) - s_k| for each row and term, one at a time."""
    found = np.empty((len(X), len(rules)))
    for k, term in enumerate(rules.terms):
        values = term.mask(X) if isinstance(term, Rule) else term.values(X)
        average = sum(values) / len(X)
        for i, value in enumerate(values):
            found[i, k] = abs(rules.coefficients[o, k]) * abs(value - average)
    return found


def features_by_hand(rules, terms):
    found = dict.fromkeys(rules.feature_names, 0.0)
    for k, term in enumerate(rules.terms):
        names = {condition.feature for condition in term.conditions} if isinstance(term, Rule) else {term.feature}
        for name in names:
            found[name] += terms[k] / len(names)
    return list(found.values())


@pytest.mark.parametrize("o", [0, 1])
def test_every_importance_by_hand(o):
    X, rules = table_and_rules()
    local = local_by_hand(rules, X, o)
    found = rules.importance(X)
    np.testing.assert_allclose(found.terms_global[o], np.sqrt((local**2).mean(axis=0)), rtol=1e-12)
    np.testing.assert_allclose(found.terms_local[o], local.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.features_global[o], features_by_hand(rules, found.terms_global[o]), rtol=1e-12)
    np.testing.assert_allclose(found.features_local[o], features_by_hand(rules, local.mean(axis=0)), rtol=1e-12)
    rows = rules.local_importance(X)
    np.testing.assert_allclose(rows.values(o), local, rtol=1e-12)
    np.testing.assert_allclose(rows.features(o)[3], features_by_hand(rules, local[3]), rtol=1e-12)
    s = rules.support[0]
    assert found.terms_local[0, 0] == pytest.approx(2 * 2 * s * (1 - s))
    assert found.terms_global[0, 0] == pytest.approx(2 * np.sqrt(s * (1 - s)))


def test_over_a_subgroup_and_with_weights():
    X, rules = table_and_rules()
    local = local_by_hand(rules, X, 0)
    mask = (X["a"] > 2).to_numpy()
    weights = np.array([1, 2, 0, 4, 1, 3.0])
    expected = np.average(local[mask], axis=0, weights=weights[mask])
    for subgroup in (mask, pd.Series(mask, index=X.index), "a > 2", Rule.of("a > 2", X), Rule.of("a > 2", X).node):
        found = rules.importance(X, subgroup=subgroup, weights=weights)
        np.testing.assert_allclose(found.terms_local[0], expected, rtol=1e-12)
        np.testing.assert_allclose(found.terms_global, rules.importance().terms_global)
    assert "mean of local over 4 of 6 rows, weighted" in repr(found)
    frame = found.to_frame(output=0)
    assert frame["importance_mean_of_local"].is_monotonic_decreasing and frame["relative_mean_of_local"].max() == 100
    with pytest.raises(InputError, match="no row is in the subgroup"):
        rules.importance(X, subgroup="a > 99")
    with pytest.raises(InputError, match="give X"):
        rules.importance(subgroup="a > 2")


def test_frames_say_which_importance_they_hold():
    X, rules = table_and_rules()
    frame = rules.importance(X).to_frame()
    assert {"importance_global", "importance_mean_of_local", "relative_global"} <= set(frame.columns)
    assert frame["output"].tolist() == ["output 0"] * 5 + ["output 1"] * 5
    features = rules.importance().features_frame(output="output 1")
    assert "importance_mean_of_local" not in features and set(features["feature"]) == {"a", "b", "e", "unused"}
    assert features["importance_global"].is_monotonic_decreasing and features["importance_global"].iloc[-1] == 0
    rows = rules.local_importance(X)
    assert rows.to_frame(0).columns.tolist() == [term.text for term in rules.terms]
    assert rows.features_frame(1).shape == (6, 4)
    with pytest.raises(InputError, match="say which"):
        rows.values()


def test_the_reference_ensemble(shared_data):
    data, rules = reference(shared_data)
    folder = shared_data.parent / "oracles" / "rulefit"
    n = len(data)
    ddof = np.sqrt(n / (n - 1))  # the reference divides by n - 1, shares of rows by n
    expected = pd.read_csv(folder / "bike3e_baseimps.csv").set_index("rule")
    names = pd.read_csv(folder / "bike3e_terms.csv")["rule"].tolist()[1:]
    found = pd.Series(rules.importance().terms_global[0] * ddof, index=names)
    np.testing.assert_allclose(found[expected.index], expected["imp"], rtol=1e-9)
    assert (found.drop(expected.index) == 0).all()
    # It divides by the number of conditions, and counts a feature once for each: so do we here, for comparison only.
    original = pd.read_csv(folder / "bike3e_terms.csv").set_index("rule")["description"]
    varimps = dict.fromkeys(data.columns.drop("y"), 0.0)
    for name, term in zip(names, rules.terms, strict=True):
        conditions = original[name].count("&") + 1 if name.startswith("rule") else 1
        for feature in term.features:
            times = (
                sum(part.strip().startswith(f"{feature} ") for part in original[name].split("&"))
                if conditions > 1
                else 1
            )
            varimps[feature] += found[name] * times / conditions
    reference_varimps = pd.read_csv(folder / "bike3e_varimps.csv").set_index("varname")["imp"]
    np.testing.assert_allclose(pd.Series(varimps)[reference_varimps.index], reference_varimps, rtol=1e-9)
    ours = rules.importance().features_frame().set_index("feature")["importance_global"]
    assert ours.sum() == pytest.approx(rules.importance().terms_global.sum())


def test_unknown_support_is_said():
    rules = RuleSet([Rule((Range("x", low=0.0),)), Linear("x")], [1.0, 1.0], 0)
    with pytest.raises(InputError, match="with_support"):
        rules.importance()
    assert rules.to_frame()["importance_abs"].isna().all()


# ---- one row -------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["identity", "ovr"])
def test_contributions_sum_to_the_prediction(link):
    X = odd_table(80)
    rules = odd_rules(X, outputs=3, link=link)
    decision, prediction = rules.decision(X), rules.predict(X)
    for i in (0, 11, 79, -1):
        found = rules.explain_row(i, X)
        np.testing.assert_array_equal(found.decision, decision[:, i])
        np.testing.assert_array_equal(found.prediction, prediction[:, i])
        np.testing.assert_allclose(rules.intercept + found.contributions.sum(axis=1), decision[:, i], atol=1e-11)
        np.testing.assert_allclose(found.average + found.from_average.sum(axis=1), decision[:, i], atol=1e-11)
        np.testing.assert_allclose(found.average, decision.mean(axis=1), atol=1e-11)
        frame = found.to_frame()
        np.testing.assert_allclose(
            frame.groupby("output", sort=False)["contribution"].sum(), decision[:, i], rtol=1e-12
        )
        np.testing.assert_allclose(
            frame.groupby("output", sort=False)["from_average"].sum(), decision[:, i], rtol=1e-12
        )


def test_a_row_may_be_given_by_itself():
    X = odd_table(40)
    rules = odd_rules(X)
    for i in (0, 3, 17):
        expected = rules.explain_row(i, X)
        for row in (X.iloc[i], X.iloc[i].to_dict(), X.iloc[[i]], X.iloc[i].tolist()):
            np.testing.assert_array_equal(rules.explain_row(row).contributions, expected.contributions)
    assert expected.name == rules.explain_row(X.iloc[17]).name == "17"
    with pytest.raises(InputError, match="give X"):
        rules.explain_row(3)
    with pytest.raises(InputError, match="no position in X, which has 40 rows"):
        rules.explain_row(40, X)
    with pytest.raises(InputError, match="2 rows; expected one"):
        rules.explain_row(X[:2])
    with pytest.raises(InputError, match="is not a column"):
        rules.explain_row({"e": 1.0})


def test_fired_and_near_misses():
    X = pd.DataFrame(
        {
            "temp": [10.0, 20.0, 30.0],
            "w": ["A", "B", None],
            "d": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
        }
    )
    terms = [
        Rule.of("temp > 12 & w == 'A'", X),
        Rule.of("temp <= 8 & w == 'B'", X),
        Rule.of("temp < 10", X),
        Rule.of("temp >= 10 & w in ['A', 'B']", X),
        Rule.of("d > '2024-01-02 12:00:00' & temp <= 10", X),
        Rule.of("temp <= 8 & w == 'A'", X),
        Linear("temp", 0, 100),
        Linear("w", level=("B",)),
    ]
    rules = RuleSet(terms, [5.0, 1, 2, 3, 4, 7, 0.1, 9], 1.0).with_support(X)
    found = rules.explain_row(0, X)
    assert [term.label for term in found.fired] == ["temp ≥ 10 & w in {A, B}"]
    misses = {miss.term: miss for miss in found.near_misses}
    assert set(misses) == {0, 2, 4, 5, 7}  # of rule 1 both conditions fail
    sd = np.std([10, 20, 30])
    assert (misses[0].gap, misses[0].gap_sd) == (2.0, pytest.approx(2 / sd))
    assert misses[0].words == "temp is 10, 2 below temp > 12 (0.24 sd)"
    assert misses[2].gap == 0 and "on the bound of temp < 10" in misses[2].words
    assert misses[5].gap == -2 and "2 above temp ≤ 8" in misses[5].words
    assert (
        misses[4].gap == 1.5 * 24 * 3600 * 1000 and "1 days 12:00:00 below d > 2024-01-02 12:00:00" in misses[4].words
    )
    assert np.isnan(misses[7].gap) and misses[7].words == "w is A, not w = B"
    frame = found.near_misses_frame()
    assert frame["coefficient"].tolist() == [9, 7, 5, 4, 2] and frame["feature"].tolist() == [
        "w",
        "temp",
        "temp",
        "d",
        "temp",
    ]
    text = repr(found)
    assert text.splitlines()[0] == "Row 0: prediction 5 = intercept 1"
    assert "+1 temp at 10" in text and "+3 temp ≥ 10 & w in {A, B}" in text and "Near misses" in text
    average = found.to_text(relative_to="average").splitlines()
    assert average[0] == f"Row 0: prediction 5 = average {rules.predict(X).mean():.6g}"
    assert "  -1 temp at 10" in average and "  -3 w = B does not hold" in average
    with pytest.raises(InputError, match="did you mean 'average'"):
        found.to_text(relative_to="averag")
    with pytest.raises(InputError, match="with_support"):
        RuleSet(terms[:1], [1.0], 0).explain_row(0, X).to_text(relative_to="average")
    gone = rules.explain_row(2, X)
    assert {miss.term: miss for miss in gone.near_misses}[0].words == "w is missing, not w = A"


def test_a_classifier_is_explained_in_log_odds():
    X = pd.DataFrame({"x": [1.0, 2.0]})
    rules = RuleSet([Rule.of("x > 1", X)], [2.0], -1.0, link="logit", classes=["no", "yes"]).with_support(X)
    text = repr(rules.explain_row(1, X))
    assert text.startswith("Row 1: log-odds of yes 1 = intercept -1") and "probabilities: no 0.2689, yes 0.7311" in text
