"""Overlap of rules against counting pair by pair."""

import numpy as np
import pandas as pd
import pytest
from rulefit_tools import odd_rules, odd_table

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Range
from pdp_widgets.rulefit import Linear, Rule, RuleSet


def masks_of(rules, X):
    found = [
        t.mask(X) if isinstance(t, Rule) else t.values(X).astype(bool)
        for t in rules.terms
        if isinstance(t, Rule) or t.level
    ]
    return np.array(found)


@pytest.mark.parametrize("weighted", [False, True])
def test_pair_by_pair(weighted):
    X = odd_table(9000)  # more than one block
    rules = odd_rules(X)
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float) if weighted else None
    found = rules.overlap(X, weights=weights)
    w = np.ones(len(X)) if weights is None else weights
    masks = masks_of(rules, X)
    assert len(found.positions) == len(masks)
    for a in range(len(masks)):
        for b in range(len(masks)):
            x, y = masks[a], masks[b]
            n_both = w[x & y].sum()
            assert found.both[a, b] == pytest.approx(n_both / w.sum(), abs=1e-15)
            assert found.containment[a, b] == pytest.approx(n_both / w[x].sum())
            assert found.jaccard[a, b] == pytest.approx(n_both / w[x | y].sum())
            assert found.within[a, b] == (not (x & ~y)[w > 0].any())
            assert found.complement[a, b] == bool((x ^ y)[w > 0].all())
            if not (x.all() or y.all()):
                mean = [np.average(v, weights=w) for v in (x, y)]
                covariance = np.average((x - mean[0]) * (y - mean[1]), weights=w)
                phi = covariance / np.sqrt(mean[0] * (1 - mean[0]) * mean[1] * (1 - mean[1]))
                assert found.correlation[a, b] == pytest.approx(phi, abs=1e-9)


def example():
    X = pd.DataFrame({"x": np.arange(10.0), "w": list("ABABABABAB")})
    terms = [
        Rule.of("x > 2", X),  # 7 rows
        Linear("x"),
        Rule.of("x > 5", X),  # within the first
        Rule.of("x <= 2", X),  # its complement
        Rule.of("x >= 3", X),  # the first again
        Rule.of("x > 3", X),  # within the first, correlated
        Rule.of("w == 'A'", X),
        Rule((Range("x", low=99.0),)),  # never
    ]
    return X, RuleSet(terms, [10, 0.5, 1, -4, 2, 3, 7, 100.0], 0).with_support(X)


def test_what_a_rule_has_to_be_read_with():
    X, rules = example()
    found = rules.overlap(X)
    of = found.of("x > 2").set_index("text")
    assert of["relation"].to_dict() == {
        "x <= 2": "complement",
        "x >= 3": "equal",
        "x > 5": "contains",
        "x > 3": "contains",
    }
    assert of.loc["x > 5", "share"] == pytest.approx(4 / 7) and of.loc["x > 5", "share_of_other"] == 1
    assert of.loc["x > 3", "coefficient"] == 3 and of.loc["x > 3", "position"] == 5
    assert found.of(2).set_index("text")["relation"]["x > 2"] == "within"
    pd.testing.assert_frame_equal(found.of(0), found.of(rules.terms[0]))
    near = found.of("x > 5", correlation=0.9)
    assert "x <= 2" not in set(near["text"])  # they exclude each other, but not by much
    assert found.of("x > 5", correlation=0.5).set_index("text")["relation"]["x <= 2"] == "correlated"
    pairs = found.pairs()
    assert len(pairs) == len({(p.first, p.text) for p in pairs.itertuples()})
    assert ("x > 2", "x > 5", "contains") in {(p.first, p.text, p.relation) for p in pairs.itertuples()}
    with pytest.raises(InputError, match="no rule of this set"):
        found.of(1)


def test_net_effects():
    X, rules = example()
    found = rules.overlap(X)
    masks, a = masks_of(rules, X), rules.coefficients[0, found.positions]
    sums = a @ masks
    frame = found.to_frame().set_index("text")
    for mask, text in zip(masks[:-1], frame.index, strict=False):
        assert frame.loc[text, "net_inside"] == pytest.approx(sums[mask].mean())
        assert frame.loc[text, "net_outside"] == pytest.approx(sums[~mask].mean())
    assert frame.loc["x > 5", "at_least"] == 1 + 10 + 2 + 3
    assert np.isnan(frame.loc["x >= 99", "net_inside"]) and frame.loc["x >= 99", "at_least"] == 100
    net = found.net()
    assert net["n"].sum() == 10 and net["n"].is_monotonic_decreasing
    for row in net.itertuples():
        assert row.net == pytest.approx(
            sum(rules.to_frame().set_index("text")["coefficient"][text] for text in row.terms)
        )
        assert row.net == pytest.approx(row.up + row.down)
    for rows in ("x == 4", X["x"] == 4, [4], np.array([4])):
        one = found.net(rows)
        assert one["n"].tolist() == [1] and one["net"][0] == pytest.approx(sums[4])
    assert found.net("x == 4")["terms"][0] == ("x > 2", "x >= 3", "x > 3", "w == 'A'")


def test_clusters():
    X, rules = example()
    clusters = rules.overlap(X).clusters(jaccard=0.8)
    first = clusters[clusters["cluster"] == 0]
    assert set(first["text"]) == {"x > 2", "x >= 3", "x > 3"} and (first["size"] == 3).all()
    assert clusters["cluster"].nunique() == 5
    same = rules.overlap(X).clusters(jaccard=1.0)
    assert set(same[same["cluster"] == 0]["text"]) == {"x > 2", "x >= 3"}
    one = rules.take([0]).overlap(X)
    assert one.clusters()["cluster"].tolist() == [0] and len(one.of(0)) == len(one.pairs()) == 0
    none = rules.take([1]).overlap(X)
    assert len(none.to_frame()) == len(none.clusters()) == 0 and none.net()["net"].tolist() == [0]
    with pytest.raises(InputError, match="between 0 and 1"):
        none.clusters(jaccard=2)


def test_several_outputs():
    X = odd_table(100)
    rules = odd_rules(X, outputs=2)
    found = rules.overlap(X)
    assert {"coefficient output 0", "coefficient output 1"} <= set(found.of(0).columns)
    assert found.to_frame()["output"].nunique() == 2
    np.testing.assert_allclose(found.net(output=1)["net"].sum(), found.net(output="output 1")["net"].sum())


def test_rows_without_weight_do_not_count():
    X, rules = example()
    weights = np.ones(10)
    weights[3] = 0  # the one row for which x > 2, and not x > 3
    of = rules.overlap(X, weights=weights).of("x > 3").set_index("text")
    assert of["relation"][["x > 2", "x >= 3", "x <= 2", "x > 5"]].tolist() == [
        "equal",
        "equal",
        "complement",
        "contains",
    ]
