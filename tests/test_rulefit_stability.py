"""Stability: what is planted comes back in every refit, what is noise does not, and rules are the same by their rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pdp_widgets import RuleFitClassifier, RuleFitRegressor
from pdp_widgets.inputs import InputError
from pdp_widgets.rulefit.stability import Refits, Tally, stability


def planted(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.uniform(size=n) for name in ("a", "b", "noise")} | {"c": rng.choice(["u", "v"], n)})
    y = 3.0 * (X["a"] > 0.5) + 2.0 * X["b"] + 0.5 * rng.normal(size=n)
    return X, y.to_numpy()


def test_what_is_there_comes_back_and_noise_does_not():
    X, y = planted()
    model = RuleFitRegressor(max_rules=200, selection="min", random_state=0).fit(X, y)
    before = model.predict(X)
    found = stability(model, X, y, refits=6)
    np.testing.assert_array_equal(model.predict(X), before)
    assert found.features["a"] == found.features["b"] == 1
    frame = found.to_frame().set_index("text")
    real = np.array([set(term.features) <= {"a", "b"} for term in model.ruleset_.terms])
    assert not real.all()
    assert found.terms[~real].mean() < 0.7 * found.terms[real].mean()
    assert frame["stability"].max() == 1
    assert frame.loc[frame["stability"] == 1, "same_sign"].eq(1).all()
    assert (found.refits, len(found.n_terms)) == (6, 6)


def test_shares_are_those_of_a_plain_loop():
    X, y = planted(150)
    options = {"max_rules": 30, "n_alphas": 20, "random_state": 0}
    model = RuleFitRegressor(**options).fit(X, y)
    found = stability(model, X, y, refits=4, share=0.7, alike=0.8, random_state=3)
    rng = np.random.default_rng(3)
    counts = np.zeros(len(model.ruleset_.terms))
    used = dict.fromkeys(X, 0)
    for number in range(4):
        rows = np.sort(rng.permutation(150)[:105])
        other = clone(model).set_params(random_state=4 + number).fit(X.iloc[rows], y[rows]).ruleset_
        for k, term in enumerate(model.ruleset_.terms):
            if not hasattr(term, "conditions"):
                counts[k] += any(not hasattr(t, "conditions") and t.features == term.features for t in other.terms)
                continue
            mine = term.mask(X)
            counts[k] += any(
                (mine & t.mask(X)).sum() >= 0.8 * (mine | t.mask(X)).sum()
                for t in other.terms
                if hasattr(t, "conditions")
            )
        for name in used:
            used[name] += any(name in t.features for t in other.terms) / 4
    np.testing.assert_allclose(found.terms, counts / 4)
    assert found.features.to_dict() == used
    assert min(used.values()) < 1  # else it would say nothing


def test_classes_weights_and_rare_ones():
    X, y = planted(200)
    label = np.where(y > 4.5, "high", np.where(y > 2, "middle", "low"))
    model = RuleFitClassifier(max_rules=30, n_alphas=20, random_state=0).fit(X, label)
    found = stability(model, X, label, refits=2, sample_weight=np.ones(200))
    assert found.terms.shape == (len(model.ruleset_),)
    assert ((found.terms >= 0) & (found.terms <= 1)).all()


@pytest.mark.parametrize(
    ("options", "message"), [({"refits": 0}, "refits"), ({"share": 0}, "share"), ({"alike": 2}, "alike")]
)
def test_what_makes_no_sense_is_said(options, message):
    X, y = planted(60)
    model = RuleFitRegressor(max_rules=10, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=message):
        stability(model, X, y, **options)
    with pytest.raises(InputError, match="values; X has"):
        stability(model, X, y[:-1])


def test_fits_step_by_step_count_the_same():
    X, y = planted(150)
    weights = np.arange(150) % 3 + 1.0
    model = RuleFitRegressor(max_rules=30, n_alphas=20, random_state=0).fit(X, y, weights)
    whole = stability(model, X, y, sample_weight=weights, refits=3, random_state=5)
    refits = Refits(model, X, y, sample_weight=weights, refits=3, random_state=5)
    tally = Tally(model.ruleset_, refits.table)
    for done in (1, 2, 3):
        refits.advance()
        tally.add(refits.rulesets[-1])
        assert (tally.refits, tally.result().refits) == (done, done)
    refits.advance()  # there is none left
    assert len(refits.rulesets) == 3
    found = tally.result()
    np.testing.assert_array_equal(found.terms, whole.terms)
    np.testing.assert_array_equal(found.signs, whole.signs)
    np.testing.assert_array_equal(found.n_terms, whole.n_terms)
    pd.testing.assert_series_equal(found.features, whole.features)
