"""Trust in partial dependence: measures against scipy and plain loops, one planted situation per hint, silence where all is well."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.stats.contingency import association as raw_association
from sklearn.ensemble import GradientBoostingRegressor

from pdp_widgets.explain import Explainer
from pdp_widgets.explain.association import Values, association, beyond, effective_rows, outside, ranks
from pdp_widgets.explain.trust import thin_points, trust
from pdp_widgets.inputs import InputError, PredictionError


def number(codes):
    return Values("number", np.asarray(codes, dtype=float), category=False)


def category(codes):
    return Values("category", np.asarray(codes, dtype=float), category=True)


def uniform(n=500, p=3, seed=0):
    return pd.DataFrame(np.random.default_rng(seed).uniform(-1, 1, size=(n, p)), columns=list("abcdefgh")[:p])


def gaussian(rho, n, seed=0):
    return np.random.default_rng(seed).multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=n).T


def kinds(found):
    return [hint.kind for hint in found.hints]


def text(found, kind):
    (hint,) = (hint for hint in found.hints if hint.kind == kind)
    return hint.text


def additive(frame):
    return frame["a"] + np.sin(2 * frame["b"]) + frame["c"] ** 2


# ---- association ---------------------------------------------------------------------------------


def test_two_numbers_are_spearman():
    rng = np.random.default_rng(1)
    for digits in (0, 1, 8):  # many ties, some, none
        x, y = np.round(gaussian(-0.6, 200, seed=digits), digits)
        expected = abs(scipy.stats.spearmanr(x, y).statistic)
        assert association(number(x), number(y), np.ones(200))[0] == pytest.approx(expected, abs=1e-12)
        counts = rng.integers(1, 5, 200)  # a row of weight 3 is three rows
        expected = abs(scipy.stats.spearmanr(np.repeat(x, counts), np.repeat(y, counts)).statistic)
        assert association(number(x), number(y), counts / 7)[0] == pytest.approx(expected, abs=1e-12)
    x[:50] = np.nan
    y[40:60] = np.nan
    expected = abs(scipy.stats.spearmanr(x, y, nan_policy="omit").statistic)
    assert association(number(x), number(y), np.ones(200))[0] == pytest.approx(expected, abs=1e-12)


def test_a_number_and_a_category_are_the_corrected_correlation_ratio_of_ranks():
    rng = np.random.default_rng(2)
    level = rng.integers(0, 4, 300)
    x = np.round(rng.normal(size=300) + level / 2, 1)
    h = scipy.stats.kruskal(*(x[level == k] for k in range(4))).statistic  # (n - 1) eta^2 of the ranks, ties included
    expected = np.sqrt((h - 3) / (300 - 4))
    for pair in ((number(x), category(level)), (category(level), number(x))):
        assert association(*pair, np.ones(300))[0] == pytest.approx(expected, abs=1e-12)
    assert association(number(level), category(level), np.ones(300))[0] == pytest.approx(1, abs=1e-12)
    # By hand, with weights.
    weights = rng.uniform(size=300)
    r = ranks(x, weights)
    grand = np.average(r, weights=weights)
    between = sum(
        weights[level == k].sum() * (np.average(r[level == k], weights=weights[level == k]) - grand) ** 2
        for k in range(4)
    )
    eta2 = between / (weights * (r - grand) ** 2).sum()
    n = weights.sum() ** 2 / (weights**2).sum()
    expected = np.sqrt(1 - (1 - eta2) * (n - 1) / (n - 4))
    assert association(number(x), category(level), weights)[0] == pytest.approx(expected, abs=1e-12)


def test_two_categories_are_the_corrected_cramers_v():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 400)
    b = np.where(rng.random(400) < 0.5, a, rng.integers(0, 5, 400))
    table = pd.crosstab(a, b).to_numpy()
    n, (rows, columns) = 400, table.shape
    phi2 = raw_association(table, method="cramer") ** 2 * (min(table.shape) - 1)
    corrected = phi2 - (rows - 1) * (columns - 1) / (n - 1)
    sizes = [k - (k - 1) ** 2 / (n - 1) for k in (rows, columns)]
    expected = np.sqrt(corrected / (min(sizes) - 1))
    assert association(category(a), category(b), np.ones(n))[0] == pytest.approx(expected, abs=1e-12)
    assert association(category(a), category(a), np.full(n, 0.1))[0] == pytest.approx(1, abs=1e-12)
    # The scale of the weights does not matter; a row of weight zero does not count.
    weights = rng.uniform(size=n)
    found = association(category(a), category(b), weights)
    assert association(category(a), category(b), weights * 1e-200) == pytest.approx(found, abs=1e-12)
    more = association(category([*a, 9, 9]), category([*b, 0, 8]), np.append(weights, [0, 0]))
    assert more == pytest.approx(found, abs=1e-12)


def test_a_missing_level_is_a_level_and_a_missing_number_is_left_out():
    level = np.array([0.0, 1, np.nan] * 40)
    shown = np.array([0.0, 1, 2] * 40)
    other = category(np.array([0.0, 1, 1] * 40))
    for values in (other, number(shown)):
        assert association(category(level), values, np.ones(120)) == association(category(shown), values, np.ones(120))
    x = np.where(shown == 2, np.nan, np.arange(120.0))
    kept = shown < 2
    found = association(number(x), category(level), np.ones(120))
    assert found == association(number(x[kept]), category(level[kept]), np.ones(kept.sum()))


def test_constants_have_no_association_and_too_few_rows_tell_nothing():
    ones = np.ones(50)
    moving = np.arange(50.0)
    for flat, other in itertools.product(
        (number(ones), category(ones)), (number(moving), category(moving % 3), number(ones))
    ):
        assert association(flat, other, ones)[0] == 0
    assert np.isnan(association(number([1.0]), number([1.0]), np.ones(1))).all()
    assert np.isnan(association(number([np.nan] * 50), number(moving), ones)).all()
    assert np.isnan(association(number(moving), number(moving), np.zeros(50))).all()
    assert np.isnan(association(category(moving), number(moving), ones)).all()  # one level per row
    assert np.isnan(association(category(moving), category(moving), ones)).all()


def test_unrelated_features_exceed_chance_in_one_of_a_hundred_cases_at_most():
    rng = np.random.default_rng(4)
    for make in itertools.combinations_with_replacement(["number", "category"], 2):
        passed = 0
        for _ in range(300):
            one, other = (
                number(rng.exponential(size=60)) if kind == "number" else category(rng.integers(0, 4, 60))
                for kind in make
            )
            value, chance = association(one, other, np.ones(60))
            passed += value > chance
        assert passed <= 8  # three expected at the bound
        _, among_many = association(one, other, np.ones(60), 20)
        assert chance < among_many
    assert scipy.stats.chi2.sf(3 + beyond(3, 1), 3) <= 0.01


def test_effective_rows():
    assert effective_rows(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_rows(np.array([1.0, 1, 2])) == pytest.approx(16 / 6)
    assert effective_rows(np.zeros(3)) == effective_rows(np.empty(0)) == 0


# ---- combinations outside the data ----------------------------------------------------------------


def leaving(x, y, weights=None):
    """Return the share of evaluations outside, over 40 quantiles of x."""
    points = np.quantile(x, np.linspace(0.05, 0.95, 40), method="nearest")
    return outside(number(points), number(x), number(y), np.ones(len(x)) if weights is None else weights).mean()


@pytest.mark.parametrize("n", [50, 100, 333, 500, 1000, 2000])
def test_independent_features_leave_the_data_hardly_ever(n):
    rng = np.random.default_rng(n)
    shares = [leaving(rng.uniform(size=n), rng.exponential(size=n)) for _ in range(50)]
    whole = [leaving(rng.integers(0, 6, n), rng.poisson(2, size=n)) for _ in range(50)]
    weighted = [leaving(rng.uniform(size=n), rng.uniform(size=n), rng.uniform(size=n)) for _ in range(50)]
    for found in (shares, whole, weighted):
        assert np.nanmean(found) < 0.005
        assert np.mean(np.array(found) >= 0.05) < 0.02


def test_the_same_feature_twice_leaves_the_data_nearly_everywhere():
    x = np.random.default_rng(5).uniform(size=2000)
    for n, bins in ((50, 2), (200, 5), (500, 7), (2000, 15)):
        assert leaving(x[:n], x[:n]) == pytest.approx(1 - 1 / bins, abs=0.01)  # all but the bin of the value
        assert leaving(x[:n], -(x[:n] ** 3)) == pytest.approx(1 - 1 / bins, abs=0.01)
    doubled = np.repeat(x[:250], 2)
    assert leaving(doubled, doubled) == pytest.approx(leaving(x[:500], x[:500]), abs=0.01)
    assert leaving(x, np.abs(x - 0.5)) > 0.5  # no correlation, and yet
    digits = np.random.default_rng(5).integers(0, 5, 500)
    assert leaving(digits, digits) == pytest.approx(0.8, abs=0.01)


def test_more_dependence_leaves_the_data_more():
    shares = [leaving(*gaussian(rho, 1000)) for rho in (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1)]
    assert shares == sorted(shares)
    assert shares[0] < 0.005
    assert shares[4] > 0.2
    assert shares[-1] > 0.85


def test_outside_by_counting():
    rng = np.random.default_rng(6)
    species = rng.choice(3, size=600, p=[0.5, 0.3, 0.2])
    island = np.where(rng.random(600) < 0.01, 1 - species % 2, species % 2)
    weights = rng.uniform(0.5, 1.5, 600)
    n, total = effective_rows(weights), weights.sum()
    expected = []
    for s in range(3):
        share = 0.0
        for i in range(2):
            mine, theirs = weights[species == s].sum() / total, weights[island == i].sum() / total
            both = weights[(species == s) & (island == i)].sum() / total
            if mine * theirs * n >= 8 and both <= 0.05 * mine * theirs:
                share += theirs
        expected.append(share)
    found = outside(category([0, 1, 2]), category(species), category(island), weights)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found.max() > 0.3


def test_mixed_kinds_missing_values_and_rare_levels():
    rng = np.random.default_rng(7)
    species = rng.integers(0, 3, 600).astype(float)
    length = rng.normal(size=600) + 6 * species  # hardly any overlap
    points = np.quantile(length, np.linspace(0.05, 0.95, 40), method="nearest")
    found = outside(number(points), number(length), category(species), np.ones(600))
    assert found.mean() == pytest.approx(2 / 3, abs=0.05)
    assert outside(category([0, 1, 2]), category(species), number(length), np.ones(600)).mean() > 0.6
    # Where the length is missing only of one species, the others without it hardly exist; and the other way round.
    gone = np.where(species == 0, np.nan, rng.normal(size=600))
    assert outside(number([np.nan]), number(gone), category(species), np.ones(600)) == pytest.approx(2 / 3, abs=0.05)
    assert outside(category([1]), category(species), number(gone), np.ones(600)) == pytest.approx(1 / 3, abs=0.05)
    # Nothing can be told of levels that hardly occur themselves.
    ids = np.arange(600.0)
    assert np.isnan(outside(category(ids), category(ids), category(species), np.ones(600))).all()
    assert np.isnan(outside(number(points), number(length[:20]), number(length[:20]), np.ones(20))).all()


# ---- numbers -------------------------------------------------------------------------------------


def test_heterogeneity_and_its_share():
    frame = uniform()
    weights = np.random.default_rng(8).uniform(size=len(frame))
    for w in (None, weights):
        explainer = Explainer(lambda X: X["a"] * X["b"] + X["a"] + X["c"], frame, sample_weight=w)
        result = explainer.partial_dependence("a")
        found = trust(explainer, "a", rows=None)
        np.testing.assert_allclose(found.heterogeneity, result.heterogeneity, rtol=1e-12)
        density = result.density
        centred = result.average[0] - result.average[0] @ density
        common = centred**2 @ density
        expected = result.heterogeneity[0] ** 2 / (result.heterogeneity[0] ** 2 + common)
        assert found.heterogeneity_share[0] == pytest.approx(expected, abs=1e-12)
        assert found.span[0] == pytest.approx(np.ptp(result.average), abs=1e-12)
        mass = (np.ones(500) if w is None else w)[:, None] * density
        level = np.average(result.individual[0], weights=mass)
        spread = np.sqrt(np.average((result.individual[0] - level) ** 2, weights=mass))
        assert found.spread[0] == pytest.approx(spread, abs=1e-12)


def test_partner_is_the_best_of_groups_by_hand():
    rng = np.random.default_rng(9)
    frame = uniform(n=400, p=4, seed=9)
    frame["a"] = rng.geometric(0.4, size=400).clip(max=9)  # most rows at the first points of the grid
    frame["d"] = np.where(frame["c"] > 0, "high", "low")
    frame.loc[:7, "d"] = ["rare", "rare", *"uvwxyz"]
    frame["e"] = rng.choice(["one", "two"], 400)
    groups = {
        "b": pd.qcut(frame["b"], 8, labels=False),
        "c": pd.qcut(frame["c"], 8, labels=False),
        "d": frame["d"].where(frame["d"].isin(["high", "low"]), "few"),
        "e": frame["e"],
    }
    for factor, partner in (
        (lambda X: X["b"] + (X["e"] == "two") / 2, "b"),
        (lambda X: X["b"] + (X["a"] > 5) * (X["e"] == "two"), "b"),  # where few rows are, it is e
        (lambda X: X["b"] + 2 * X["d"].isin(list("vwxyz")) + 2 * (X["d"] == "high"), "d"),
    ):
        explainer = Explainer(lambda X, factor=factor: X["a"] ** 2 * factor(X) + X["a"], frame)
        found = trust(explainer, "a", rows=None)
        result = explainer.partial_dependence("a")
        curves = (result.individual[0] - (result.individual[0] @ result.density)[:, None]) * np.sqrt(result.density)
        deviations = pd.DataFrame(curves - curves.mean(axis=0))
        explained = {}
        for name, group in groups.items():
            within = deviations - deviations.groupby(group.to_numpy()).transform("mean")
            left, total = (within**2).to_numpy().sum(), (deviations**2).to_numpy().sum()
            explained[name] = 1 - left / (400 - group.nunique()) / (total / 399)
        assert max(explained, key=explained.get) == partner
        assert found.partners == (partner,)
        assert found.partner_share[0] == pytest.approx(explained[partner], abs=1e-10)


def test_sampling_error_is_that_of_the_partial_dependence():
    frame = uniform(n=300)

    def model(X):
        return X["a"] * X["b"] + X["c"]

    explainer = Explainer(model, frame)
    result = explainer.partial_dependence("a")
    found = trust(explainer, "a", rows=None)
    assert found.error_of == "population"
    assert found.stderr[0] == pytest.approx(np.sqrt(result.variance.max() / 300), rel=1e-12)
    shape = result.centered("mean")
    assert found.stderr_shape[0] == pytest.approx(np.sqrt(shape.variance.max() / 300), rel=1e-12)
    # A prefix of all rows as a sample: the finite-population error that the growing curve shows.
    half = Explainer(model, frame, background=100)
    found = trust(half, "a", rows=None)
    variance = half.partial_dependence("a").variance.max()
    assert found.error_of == "rows"
    assert found.stderr[0] == pytest.approx(np.sqrt(variance / 100 * (1 - 100 / 300)), rel=1e-12)
    weights = np.random.default_rng(0).uniform(size=300)
    weighted = Explainer(model, frame, sample_weight=weights)
    found, result = trust(weighted, "a", rows=None), weighted.partial_dependence("a")
    assert found.stderr[0] == pytest.approx(np.sqrt(result.variance.max() / effective_rows(weights)), rel=1e-12)
    # The error is that of the curve from all rows, whatever number of them is looked at.
    few = trust(Explainer(model, frame), "a", rows=150)
    assert few.stderr[0] == pytest.approx(trust(explainer, "a", rows=None).stderr[0], rel=0.15)


def test_a_sample_of_rows_is_all_that_is_asked_about():
    frame = uniform(n=1000)
    for options in ({}, {"subgroup": "b > 0"}, {"subgroup": "b > 0.9"}):
        explainer = Explainer(lambda X: X["a"] * X["b"], frame)
        before = explainer.rows_asked
        found = trust(explainer, "a", rows=20, **options)
        assert len(found.rows) == 20
        asked = explainer.rows_asked - before
        assert asked == 20 * 40 or not options
        grown = trust(Explainer(lambda X: X["a"] * X["b"], frame), "a", rows=20, **options)
        explainer.partial_dependence("a")
        if not options:  # what was asked for the sample need not be asked again; some own values were known before
            assert explainer.rows_asked - before <= 1000 * 40
        before = explainer.rows_asked
        again = trust(explainer, "a", rows=20, **options)  # from the cache now
        assert explainer.rows_asked == before
        for other in (grown, again):
            np.testing.assert_array_equal(found.heterogeneity, other.heterogeneity)
            np.testing.assert_array_equal(found.rows, other.rows)
            assert [str(hint) for hint in found.hints] == [str(hint) for hint in other.hints]


def test_curves_that_are_not_kept_give_the_same():
    frame = uniform(n=200)

    def model(X):
        return X["a"] * X["b"]

    kept = trust(Explainer(model, frame), "a", rows=50)
    found = trust(Explainer(model, frame, cache_bytes=0), "a", rows=50)
    np.testing.assert_allclose(found.heterogeneity, kept.heterogeneity, rtol=1e-12)
    inside = trust(Explainer(model, frame, cache_bytes=0), "a", rows=50, subgroup="b > 0")
    expected = trust(Explainer(model, frame), "a", rows=50, subgroup="b > 0")
    np.testing.assert_allclose(inside.heterogeneity, expected.heterogeneity, rtol=1e-12)


# ---- hints ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_silence_where_all_is_well(seed):
    frame = uniform(n=500, seed=seed)
    explainer = Explainer(additive, frame)
    for name in frame:
        found = trust(explainer, name)
        assert found.hints == []
        assert "nothing speaks against it" in repr(found)
        assert found.outside < 0.02
        assert found.heterogeneity == 0 == found.heterogeneity_share
        assert found.partners == (None,)
    for pair in itertools.combinations(frame, 2):
        assert trust(explainer, pair, rows=50).hints == []


@pytest.mark.parametrize("method", ["trees", "model"])
def test_rounding_in_sums_of_trees_is_no_disagreement(method):
    if method == "trees":
        pytest.importorskip("numba")
    frame = uniform(n=500)
    model = GradientBoostingRegressor(max_depth=1, random_state=0).fit(frame, 1000 + additive(frame))
    explainer = Explainer(model, frame, method=method)
    for name in frame:
        found = trust(explainer, name)
        assert found.hints == []
        assert found.heterogeneity < 1e-9
        assert found.partners == (None,)


def test_rows_that_disagree_and_with_whom():
    frame = uniform(n=500, p=4)
    frame["d"] = np.random.default_rng(0).choice(["Adelie", "Gentoo"], 500)
    frame["c"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["c"] * 100, unit="D")

    def late(X):
        return (X["c"] > pd.Timestamp("2024-01-01")) * 1.0

    for partner, term in (
        ("b", lambda X: X["a"] * np.sign(X["b"])),
        ("d", lambda X: X["a"] * (2.0 * (X["d"] == "Gentoo") - 1)),
        ("c", lambda X: X["a"] * (2 * late(X) - 1)),
    ):
        found = trust(Explainer(term, frame), "a")
        assert text(found, "heterogeneity") in [f"rows disagree ({p} %), mostly by {partner}" for p in (99, 100)]
        assert found.hints[0].severity == "warning"
        assert found.partner_share[0] > 0.85
    # The pieces of a disagreement of four.
    several = uniform(n=500, p=6)
    found = trust(Explainer(lambda X: X["a"] * (1.5 * X["b"] + X["c"] + X["d"] + X["e"] + 1), several), "a")
    assert text(found, "heterogeneity").endswith("partly by b")
    assert 0.25 < found.heterogeneity_share[0] < 0.7


def test_noise_has_no_partner():
    for seed in range(20):
        frame = uniform(n=100, p=6, seed=seed)
        noise = dict(zip(frame["f"], np.random.default_rng(seed).choice([-1, 1], 100), strict=True))
        frame["f"] = frame["f"].astype(str)  # one level per row: it explains everything and nothing

        def model(X, noise=noise):
            return X["a"] * np.array([noise[float(v)] for v in X["f"]])

        found = trust(Explainer(model, frame), "a")
        assert found.partners == (None,)
        assert text(found, "heterogeneity") == f"rows disagree ({100 * found.heterogeneity_share[0]:.0f} %)"


def test_what_nobody_can_see_is_not_spoken_of():
    frame = uniform()
    loud = trust(Explainer(lambda X: X["a"] * X["b"] + X["c"], frame), "a")
    quiet = trust(Explainer(lambda X: X["a"] * X["b"] / 100 + X["c"], frame), "a")
    assert quiet.heterogeneity_share == pytest.approx(loud.heterogeneity_share)
    assert "heterogeneity" in kinds(loud)
    assert quiet.hints == []


def test_a_partner_in_the_data():
    x, y = gaussian(0.95, 1000)
    frame = pd.DataFrame({"x": x, "flipper": y, "other": np.random.default_rng(1).normal(size=1000)})
    found = trust(Explainer(lambda X: X["x"] + X["flipper"], frame), "x")
    rho = abs(scipy.stats.spearmanr(x, y).statistic)
    assert found.association == pytest.approx(rho)
    assert found.associated == "flipper" == found.outside_with
    assert text(found, "association") == (
        f"moves together with flipper ({rho:.2f} of at most 1): the curve averages over rows that hardly exist; compare ALE".replace(
            "0.", "."
        )
    )
    share = f"{100 * found.outside:.0f} %"
    assert (
        text(found, "outside")
        == f"{share} of this curve is the model's guess about combinations of these two that hardly occur"
    )
    assert {hint.severity for hint in found.hints} == {"warning"}
    # Together, but all combinations exist.
    x, y = gaussian(0.65, 200, seed=2)
    found = trust(Explainer(lambda X: X["x"], pd.DataFrame({"x": x, "y": y})), "x")
    assert text(found, "association") == f"moves together with y ({found.association:.2f} of at most 1)".replace(
        "0.", "."
    )
    assert found.hints[0].severity == "note"


def test_a_weak_association_is_no_hint():
    x, y = gaussian(0.5, 500)
    found = trust(Explainer(lambda X: X["x"], pd.DataFrame({"x": x, "y": y})), "x")
    assert 0.4 < found.association < 0.6
    assert found.association > 2 * found.associations_chance[0]
    assert found.hints == []


def test_a_dependence_without_correlation_is_seen_in_the_combinations():
    frame = uniform(n=1000)
    frame["c"] = frame["a"] ** 2
    found = trust(Explainer(lambda X: X["a"] + X["b"], frame), "a")
    assert "association" not in kinds(found)
    assert text(found, "outside").endswith(" about combinations with c that hardly occur")


def test_all_kinds_of_pairs_move_together():
    n = 600
    rng = np.random.default_rng(3)
    base = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "number": base + rng.uniform(-0.3, 0.3, n),
            "whole": base * 10,
            "level": np.array(["low", "middle", "high"])[base],
            "flag": base == 2,
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(base * 30 + rng.integers(0, 9, n), unit="D"),
            "duration": pd.to_timedelta(base + rng.uniform(0, 0.5, n), unit="h"),
            "m_0": (base == 0) * 1.0,
            "m_1": (base == 1) * 1.0,
            "m_2": (base == 2) * 1.0,
        }
    )
    explainer = Explainer(lambda X: X["number"], frame, features={"m": ["m_0", "m_1", "m_2"]})
    for name in explainer.features:
        found = trust(explainer, name, rows=50)
        assert "m" in found.others or name == "m"
        assert not {"m_0", "m_1", "m_2", name} & set(found.others)
        assert found.association > 0.9
        assert found.outside > 0.3
        assert {"association", "outside"} <= set(kinds(found))
    for pair in itertools.combinations(explainer.features, 2):
        found = trust(explainer, pair, rows=20)
        assert found.association > 0.6
        assert "association" in kinds(found)


def test_features_that_are_not_explained_are_partners_too():
    frame = uniform()
    frame["c"] = frame["a"]
    found = trust(Explainer(lambda X: X["a"] * X["b"], frame, features=["a"]), "a")
    assert found.others == ("b", "c")
    assert found.partners == ("b",)
    assert found.associated == "c"


def test_thin_stretches():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.integers(0, 21, 980), np.full(10, 30), [40, 41, 42]])
    frame = pd.DataFrame({"x": x, "y": rng.normal(size=len(x))})
    found = trust(Explainer(lambda X: X["x"] + X["y"], frame), "x")
    assert kinds(found) == ["thin"]
    assert text(found, "thin") == "few rows beyond 30: dashed there"
    assert found.hints[0].severity == "note"
    assert found.thin.sum() == 3
    np.testing.assert_array_equal(found.thin, np.isin(found.grids[0].values, [40, 41, 42]))
    for values, expected in (
        (np.append(rng.integers(20, 30, 500), [1, 2]), "few rows below 20: dashed there"),
        (np.append(np.repeat([1, 9], 300), [5]), "few rows between 1 and 9: dashed there"),
        (np.append(np.repeat([10, 19], 300), [1, 14]), "few rows below 10, and between 10 and 19: dashed there"),
        (np.append(np.repeat([1, 9, 20, 30], 300), [0, 5, 15, 25]), "few rows near 3 of 8 grid points: dashed there"),
        (np.append(np.repeat([1.0, 2.0], 300), [np.nan]), "few rows without a value"),
        (np.append(np.repeat([1.0, 2.0], 300), [9, np.nan]), "few rows beyond 2, and without a value: dashed there"),
        (np.repeat([1.0, 2.0, 3.0], 1), "few rows everywhere (3 in all)"),
        (np.append(np.repeat(["b", "c"], 300), ["a"]), "few rows with a"),
        (np.append(np.repeat(["b", "c"], 300), list("adefg")), "few rows with a, d and 3 more levels"),
    ):
        found = trust(Explainer(lambda X: np.zeros(len(X)), pd.DataFrame({"x": values})), "x")
        assert text(found, "thin") == expected


def test_thin_counts_neighbours_and_a_subgroup():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.uniform(size=400)})
    explainer = Explainer(lambda X: X["x"], frame)
    for size in (5, 40, 200):  # a finer grid is not thinner
        assert not thin_points(explainer.grid("x", grid_size=size), np.arange(400)).any()
    inside = frame["x"] < 0.5
    found = trust(explainer, "x", subgroup=inside.to_numpy())
    grid = found.grids[0]
    near = [np.abs(grid.positions[grid.nearest[inside]] - p) <= 0.05 * np.ptp(grid.positions) for p in grid.positions]
    np.testing.assert_array_equal(found.thin, np.array([one.sum() for one in near]) < 5)
    assert text(found, "thin").startswith("few rows beyond 0.5")
    # In large data the share counts.
    many = pd.DataFrame({"x": np.append(np.zeros(10_000), np.ones(49))})
    assert thin_points(Explainer(lambda X: X["x"], many).grid("x"), np.arange(10_049)).tolist() == [False, True]
    enough = pd.DataFrame({"x": np.append(np.zeros(10_000), np.ones(60))})
    assert not thin_points(Explainer(lambda X: X["x"], enough).grid("x"), np.arange(10_060)).any()


def test_errors_are_spoken_of():
    frame = uniform(n=2000)
    crossing = trust(Explainer(lambda X: X["a"] * X["b"], frame), "a")
    assert text(crossing, "error").startswith("other 2,000 rows would move its shape by about ")
    assert f"±{crossing.stderr_shape[0]:.2g}" in text(crossing, "error")
    # Of a sample of an additive model the height is uncertain, the shape is not.
    found = trust(Explainer(additive, frame, background=10), "a")
    assert (
        text(found, "error") == f"all 2,000 rows, of which 10 were drawn, would move it by about ±{found.stderr[0]:.2g}"
    )
    assert found.stderr_shape[0] == pytest.approx(0, abs=1e-12)
    assert trust(Explainer(additive, frame, background=1500), "a").hints == []
    small = trust(Explainer(additive, frame[:15]), "a")
    assert text(small, "error") == f"other 15 rows would move it by about ±{small.stderr[0]:.2g}"
    assert text(trust(Explainer(additive, frame[:1]), "a"), "error") == "stands on one row: its error is unknown"


def test_pairs_that_depend_on_each_other():
    x, y = np.exp(gaussian(-0.97, 400) / 2)
    frame = pd.DataFrame({"x": x, "y": y})  # their product hardly moves, each of them does
    explainer = Explainer(lambda X: X["x"] * X["y"], frame)
    found = trust(explainer, ("x", "y"))
    expected = explainer.interaction("x", "y", rows=200)
    np.testing.assert_array_equal(found.h2, expected.h2)
    np.testing.assert_array_equal(found.strength, expected.strength)
    assert found.dependent.all() == (expected.h2 > 1).all()
    assert kinds(found) == ["association", "dependence", "empty"]
    assert (
        text(found, "dependence")
        == "more interaction than joint effect: the two features depend on each other, or do next to nothing together"
    )
    assert text(found, "association").startswith("x and y move together (.9")
    assert len(found.rows) == 200


def test_empty_cells_by_counting():
    x, y = gaussian(0.9, 300)
    explainer = Explainer(lambda X: X["x"] + X["y"], pd.DataFrame({"x": x, "y": y}))
    found = trust(explainer, ("x", "y"), rows=20)
    grids = explainer.partial_dependence(("x", "y")).grids
    assert [grid.size for grid in found.grids] == [grid.size for grid in grids] == [20, 20]
    counts = pd.crosstab(grids[0].nearest, grids[1].nearest).to_numpy()
    assert found.empty_cells == pytest.approx(((counts == 0).sum() + 400 - counts.size) / 400)
    expected = np.mean([(1 - a * b) ** 300 for a in counts.sum(1) / 300 for b in counts.sum(0) / 300])
    assert found.empty_cells_expected == pytest.approx(expected)
    assert f"{100 * found.empty_cells:.0f} % of the cells hold no row" in text(found, "empty")


def test_a_pure_interaction_of_independent_features_is_not_called_dependent():
    spoken = [
        "dependence" in kinds(trust(Explainer(lambda X: X["a"] * X["b"], uniform(n=100, p=2, seed=seed)), ("a", "b")))
        for seed in range(20)
    ]
    assert np.mean(spoken) <= 0.1


# ---- weights, outputs, results ---------------------------------------------------------------------


def test_rows_of_weight_zero_do_not_count():
    frame = uniform(n=400)

    def model(X):
        return X["a"] * X["b"] + X["c"]

    weights = np.r_[np.ones(250), np.zeros(150)]
    frame.loc[250:, "c"] = frame["a"]
    found = trust(Explainer(model, frame, sample_weight=weights), "a", rows=None)
    expected = trust(Explainer(model, frame[:250]), "a", rows=None)
    assert found.rows_total == 250 == len(found.rows)
    assert found.weighted
    np.testing.assert_allclose(found.associations, expected.associations, atol=1e-12)
    np.testing.assert_allclose(found.outside_shares, expected.outside_shares, atol=0.05)
    np.testing.assert_allclose(found.heterogeneity, expected.heterogeneity, rtol=0.02)  # another density of the grid
    assert found.partners == expected.partners


def test_outputs():
    frame = uniform()
    explainer = Explainer(
        lambda X: np.column_stack([X["a"], X["a"] * X["b"], X["a"] * X["c"]]), frame, output_names=["plain", "by b", "by c"]
    )  # fmt: skip
    found = trust(explainer, "a")
    assert found.default_output == "plain"
    assert found.hints == []
    assert found.partners == (None, "b", "c")
    for name, partner in (("by b", "b"), (2, "c")):
        one = trust(explainer, "a", output=name)
        assert text(one, "heterogeneity") == f"rows disagree (100 %), mostly by {partner}"
        assert [str(hint) for hint in one.hints] == [str(hint) for hint in found.output(name).hints]
        assert one.heterogeneity.shape == (1,)
        assert one.outputs == (one.default_output,)
    frame = found.to_frame()
    assert frame["output"].tolist() == ["plain", "by b", "by c"]
    assert frame["hints"].str.contains("mostly by c").tolist() == [False, False, True]
    np.testing.assert_array_equal(frame["heterogeneity"], found.heterogeneity)
    assert "prediction of plain" in repr(found)
    pair = trust(explainer, ("a", "b"), rows=30)
    assert pair.h2.shape == (3,)
    assert pair.to_frame()[["feature_1", "feature_2"]].drop_duplicates().to_numpy().tolist() == [["a", "b"]]
    assert pair.output("by b").h2[0] == pair.h2[1] > 0.5
    assert [hint.kind for hint in pair.output("by b").hints] == []


def test_subgroups():
    frame = uniform()
    explainer = Explainer(lambda X: X["a"] * np.sign(X["b"]), frame)
    found = trust(explainer, "a", subgroup="b > 0")
    assert found.subgroup == "b > 0"
    assert found.rows_total == (frame["b"] > 0).sum()
    assert found.heterogeneity == 0
    assert "heterogeneity" not in kinds(found)
    assert "subgroup b > 0" in repr(found)


# ---- odd data ------------------------------------------------------------------------------------


def odd(n, seed=0):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "holes": np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n)),
            "gone": np.full(n, np.nan),
            "infinite": np.where(rng.random(n) < 0.2, np.inf, rng.normal(size=n)).clip(-9, np.inf),
            "huge": rng.choice([-8e307, 0.0, 8e307], n),
            "constant": np.ones(n),
            "flag": rng.random(n) < 0.3,
            "level": pd.Categorical(np.array(list("abc"))[level]),
            "text": pd.Series(np.array(["x", "y", None], dtype=object)[rng.integers(0, 3, n)], dtype=object),
            "id": [f"r{i}" for i in range(n)],
            "date": pd.Timestamp("2020-01-01", tz="Europe/Berlin") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "duration": pd.to_timedelta(rng.integers(0, 99, n), unit="h"),
            "whole": pd.array(rng.integers(0, 3, n)).astype("Int64"),
            "m_1": (level == 1) * 1.0,
            "m_2": (level == 2) * 1.0,
        }
    )


def odd_model(frame):
    x = np.nan_to_num(frame["number"].to_numpy(float))
    return np.column_stack([x * frame["flag"].to_numpy(float), x + frame["m_1"].to_numpy(), np.zeros(len(frame))])


@pytest.mark.parametrize("scale", [1, 1e300, 1e-300])
@pytest.mark.parametrize("n", [1, 2, 3, 20, 120])
def test_odd_data(n, scale):
    frame = odd(n)
    frame.loc[: n // 2, "infinite"] = 0.0
    weights = np.random.default_rng(n).integers(0, 3, n) + np.eye(n)[0]
    before = frame.copy()
    for options in ({}, {"sample_weight": weights}):
        explainer = Explainer(lambda X: scale * odd_model(X), frame, features={"m": ["m_1", "m_2"]}, **options)
        for name in explainer.features:
            for subgroup in (None, np.arange(n) < max(1, n // 3)):
                found = trust(explainer, name, subgroup=subgroup)
                assert isinstance(repr(found), str)
                assert len(found.to_frame()) == 3
                if len(found.rows) <= 1:
                    assert "error" in kinds(found)
                share = found.heterogeneity_share
                assert ((share >= 0) & (share <= 1)).all()
                assert np.isfinite(found.heterogeneity).all()
                assert (np.nan_to_num(found.associations) <= 1).all()
                assert len(found.thin) == found.grids[0].size
        if n <= 20 and scale == 1:
            names = list(explainer.features)
            for k, name in enumerate(names):
                found = trust(explainer, (name, names[k - 1]), rows=5)
                assert len(found.to_frame()) == 3
                assert not (found.association < 0 or found.association > 1)  # NaN where it cannot be told
                assert 0 <= found.empty_cells < 1
    pd.testing.assert_frame_equal(frame, before)


def test_scaling_the_response_changes_no_share():
    frame = uniform()
    found = [
        trust(Explainer(lambda X, s=scale: s * (X["a"] * X["b"] + X["a"] + X["c"]), frame), "a")
        for scale in (1.0, 1e300, 1e-300)
    ]
    for other, scale in zip(found[1:], (1e300, 1e-300), strict=True):
        assert other.heterogeneity_share == pytest.approx(found[0].heterogeneity_share, rel=1e-9)
        assert other.stderr / scale == pytest.approx(found[0].stderr, rel=1e-9)
        assert [hint.kind for hint in other.hints] == [hint.kind for hint in found[0].hints]


def test_a_constant_and_a_single_feature():
    frame = uniform(n=100)
    frame["c"] = 1.0
    found = trust(Explainer(lambda X: X["a"] + X["c"], frame), "c")
    assert found.heterogeneity == found.association == found.outside == found.span == 0
    assert not {"heterogeneity", "association", "outside"} & set(kinds(found))
    alone = trust(Explainer(lambda X: X["a"], uniform(p=1)), "a")
    assert np.isnan([alone.association, alone.outside]).all()
    assert alone.associated is alone.outside_with is None
    assert alone.hints == []


def test_predictions_that_are_no_numbers():
    frame = uniform(n=100)

    def model(X):
        return np.where(X["c"] > 0, np.nan, X["a"] * X["b"])

    found = trust(Explainer(model, frame, nan_predictions="omit"), "a", rows=None)
    assert found.rows.tolist() == np.flatnonzero(frame["c"] <= 0).tolist()
    assert found.partners == ("b",)
    nothing = trust(Explainer(lambda X: np.full(len(X), np.nan), frame, nan_predictions="omit"), "a")
    assert np.isnan(nothing.heterogeneity).all()
    assert text(nothing, "error") == "stands on no row: its error is unknown"
    pair = trust(Explainer(model, frame, nan_predictions="omit"), ("a", "b"))
    assert np.isnan(pair.h2).all()
    assert pair.note.startswith("no H-statistic: ")
    assert pair.note in repr(pair)
    with pytest.raises(PredictionError):
        trust(Explainer(model, frame), "a")


def test_what_cannot_be_asked_for():
    explainer = Explainer(additive, uniform(n=50))
    for arguments, options, message in (
        (("z",), {}, "'z' is not a column"),
        ((("a", "a"),), {}, "two different features"),
        (("a",), {"rows": 0}, "rows=0"),
        (("a",), {"output": "z"}, "'z'"),
        (("a",), {"subgroup": np.zeros(50, dtype=bool)}, "holds none"),
        ((["a", "b", "c"],), {}, "one feature or a pair"),
    ):
        with pytest.raises(InputError, match=message):
            trust(explainer, *arguments, **options)


def test_the_book_s_bikes(shared_data):
    bike = pd.read_csv(shared_data / "bike.csv")
    frame = bike[["season", "mnth", "weather", "temp", "hum"]]
    warm = frame["season"].isin(["SUMMER", "SPRING"])

    def model(X):
        return 100 * X["temp"] * (1 + (X["weather"] == "GOOD")) - 20 * X["hum"]

    explainer = Explainer(model, frame)
    season = trust(explainer, "season", rows=50)
    # Few months belong to more than one season.
    month = pd.crosstab(frame["season"], frame["mnth"])
    absent = ((month == 0) * month.sum()).to_numpy().sum(axis=1) / len(frame)
    assert season.outside == pytest.approx(absent.mean(), abs=0.02)
    assert season.outside > 0.5
    assert {"association", "outside"} <= set(kinds(season))
    temp = trust(explainer, "temp")
    assert temp.partners == ("weather",)
    assert trust(explainer, "temp", subgroup=warm.to_numpy()).rows_total == warm.sum()
