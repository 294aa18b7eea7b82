"""The variable interaction network: planted structures are found, thresholds move without computing."""

import numpy as np
import pandas as pd
import pytest

from pdp_widgets import Explainer
from pdp_widgets.inputs import InputError

X = pd.DataFrame(np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 7)), columns=list("abcdefg"))


def predict(X):
    return (
        X["a"] * X["b"] * X["c"]
        + X["a"] * X["b"]
        + 0.5 * X["b"] * X["c"]
        + 0.4 * X["a"] * X["c"]
        + 0.2 * X["d"] * X["e"]
        + X["f"]
    )


def test_edges_hyper_edges_and_nodes():
    network = Explainer(predict, X).interaction_network(threshold=0.08, rows=None)
    edges = {frozenset(pair) for pair in network.edges[["feature_1", "feature_2"]].to_numpy()}
    assert edges == {frozenset(pair) for pair in ("ab", "bc", "ac", "de")}
    assert network.edges["strength"].is_monotonic_decreasing
    assert network.hyperedges[["feature_1", "feature_2", "feature_3"]].to_numpy().tolist() == [["a", "b", "c"]]
    # Of balanced columns each strength is about its coefficient, and shares are of the response's spread.
    spread = predict(X).std(ddof=0)
    first = network.edges.iloc[0]
    assert first.strength == pytest.approx(1, abs=0.2)
    assert first.share == pytest.approx(first.strength / spread)
    nodes = network.nodes.set_index("feature")
    assert nodes.degree.to_dict() == {"a": 2, "b": 2, "c": 2, "d": 1, "e": 1, "f": 0, "g": 0}
    assert nodes.main["f"] == pytest.approx(1 / spread, abs=0.1)
    assert nodes.main["g"] == nodes.overall["g"] == 0


def test_another_threshold_needs_no_model_call():
    explainer = Explainer(predict, X)
    network = explainer.interaction_network(threshold=0.05, rows=100)
    asked = explainer.rows_asked
    high = network.at(0.5)
    assert explainer.rows_asked == asked
    assert high.threshold == 0.5
    assert len(high.edges) == 1
    assert len(high.hyperedges) == 0  # its pairs are no edges any more
    assert high.nodes.degree.sum() == 2
    assert len(network.edges) > 1
    assert "1 edges" in repr(high)


def test_triples_may_be_left_out_and_a_threshold_is_a_share():
    assert len(Explainer(predict, X).interaction_network(rows=60, triples=False).hyperedges) == 0
    for wrong in (2, -0.1, "much", True):
        with pytest.raises(InputError, match="expected a share"):
            Explainer(predict, X).interaction_network(threshold=wrong)


def test_an_additive_model_has_no_edge_and_a_constant_one_no_size():
    assert Explainer(lambda X: X["a"] + X["b"], X).interaction_network(rows=50).edges.empty
    flat = Explainer(lambda X: np.ones(len(X)), X).interaction_network(rows=50)
    assert flat.edges.empty
    assert (flat.nodes.main == 0).all()


def test_interactions_that_were_computed_before_are_not_computed_again():
    def two(X):
        return np.column_stack([predict(X), X["d"] * X["e"]])

    for options in ({}, {"subgroup": "f > 0"}):
        explainer = Explainer(two, X, output_names=["first", "second"])
        found = explainer.interactions(rows=80, **options)
        asked = explainer.rows_asked
        network = explainer.interaction_network(interactions=found, threshold=0.08, triples=False)
        assert explainer.rows_asked == asked
        anew = Explainer(two, X, output_names=["first", "second"])
        for output in ("first", "second"):
            network = explainer.interaction_network(interactions=found, threshold=0.08, output=output)
            expected = anew.interaction_network(rows=80, threshold=0.08, output=output, **options)
            for part in ("all_nodes", "all_edges", "all_hyperedges"):
                pd.testing.assert_frame_equal(getattr(network, part), getattr(expected, part))
            assert network.output == output
        assert len(explainer.interaction_network(interactions=found, threshold=0.08).hyperedges)
        one = explainer.interaction_network(interactions=found.output("second"))
        assert one.output == "second"
    some = explainer.interactions(["a"], pairs=[("d", "e")], rows=80)
    assert len(explainer.interaction_network(interactions=some, threshold=0).all_edges) == 1


def test_interactions_that_do_not_fit():
    explainer = Explainer(predict, X)
    found = explainer.interactions(["a", "b"], rows=60)
    for options in ({"features": ["a", "b"]}, {"subgroup": "a > 0"}):
        with pytest.raises(InputError, match="has its own features and subgroup"):
            explainer.interaction_network(interactions=found, **options)
    with pytest.raises(InputError, match="interactions is a DataFrame"):
        explainer.interaction_network(interactions=found.to_frame())
    with pytest.raises(InputError, match="only 0 of 1 pairs"):
        explainer.interaction_network(interactions=next(explainer.iter_interactions(["a", "b"], rows=60)))
    for other in (Explainer(predict, X, output_names=["other"]), Explainer(predict, X[:20])):
        with pytest.raises(InputError, match="is of another explainer"):
            other.interaction_network(interactions=found)
    with pytest.raises(InputError, match="output 'z'"):
        explainer.interaction_network(interactions=found, output="z")
