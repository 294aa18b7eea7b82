"""What the teaching notebooks say in words is true of what their cells compute: on the generated data, and on the real ones where they are."""

from __future__ import annotations

import urllib.error
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from pdp_widgets.datasets import bikes, download, patients

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
FILES = {"bike": (bikes.SOURCE, "bike.csv"), "risk_factors": (patients.SOURCE, "cervical.csv")}
Names = dict[str, Any]


def run(name: str) -> Names:
    """Run a notebook's code cells one after the other; return what they defined."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    names: Names = {"__name__": "__main__"}
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{name}[{number}]", "exec"), names)
    return names


def computed(name: str, source: str, home: Path, request: pytest.FixtureRequest) -> Iterator[Names]:
    """The notebook on generated data, or on the real ones as if they had been fetched before."""
    with pytest.MonkeyPatch.context() as patch:

        def nothing(url: str, timeout: float) -> None:
            raise urllib.error.URLError("no network in this test")

        patch.setattr(download, "urlopen", nothing)
        patch.setenv("SCIKIT_LEARN_DATA", str(home))
        if source == "real":
            where, file = FILES[name]
            kept = home / "pdp_widgets" / f"{Path(where.member).stem}.zip"
            kept.parent.mkdir()
            with zipfile.ZipFile(kept, "w") as archive:
                archive.write(request.getfixturevalue("shared_data") / file, where.member)
        names = run(name)
    yield names
    names["widget"].close()


@pytest.fixture(scope="module", params=["generated", "real"])
def bike(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Names]:
    yield from computed("bike", request.param, tmp_path_factory.mktemp("home"), request)


@pytest.fixture(scope="module", params=["generated", "real"])
def risk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Names]:
    yield from computed("risk_factors", request.param, tmp_path_factory.mktemp("home"), request)


@pytest.fixture(scope="module")
def tables() -> Iterator[Names]:
    names = run("house_tables")
    yield names
    names["widget"].close()


# ---- bike --------------------------------------------------------------------------------------


def test_the_curve_of_temperature_climbs_is_flat_and_falls(bike: Names) -> None:
    assert bike["score"] > 0.85
    values, average = bike["widget"].explainer.grid("temp").values, bike["widget"].results["all"].average[0]
    top = int(average.argmax())
    assert 18 < values[top] < 30
    assert average[top] > average[0] + 1500
    assert average[-1] < average[top] - 200
    warnings = {hint.kind: hint.text for hint in bike["explainer"].trust("temp").hints}
    assert warnings["association"].startswith("moves together with season")


def test_by_season_the_winter_days_rise_least_but_season_set_for_all_makes_no_difference(bike: Names) -> None:
    own, everybody = bike["season"]["on its own days"], bike["season"]["set for all days"]
    assert own.idxmin() == "WINTER"
    assert np.ptp(own) > 800
    assert np.ptp(everybody) < 0.1 * everybody.mean() < np.ptp(own)


def test_the_two_readings_by_asking_the_model_itself(bike: Names) -> None:
    X, model = bike["X"], bike["model"]
    for season in ("WINTER", "FALL"):
        days = X["season"] == season
        rises = [
            model.predict(rows.assign(temp=20.0)).mean() - model.predict(rows.assign(temp=0.0)).mean()
            for rows in (X[days], X.assign(season=X["season"].where(days, season)))
        ]
        assert bike["season"].loc[season].tolist() == pytest.approx(rises, abs=0.51)


def test_it_is_the_date_that_temperature_acts_together_with(bike: Names) -> None:
    partners = bike["partners"]
    first, others = partners.iloc[0], partners.iloc[1:]
    assert {first["feature_1"], first["feature_2"]} == {"temp", "days_since_2011"}
    assert first["strength"] > 2 * others["strength"].max()
    with_season = others[(others["feature_1"] == "season") | (others["feature_2"] == "season")]
    assert with_season["h2"].item() < 0.005
    dates = bike["bikes"].groupby("season", observed=True)["days_since_2011"].mean()
    assert dates.idxmin() == "WINTER"


def test_regions_are_dates_and_later_days_rise_more(bike: Names) -> None:
    regions, found = bike["regions"], bike["found"]
    assert regions.splits[0].feature == "days_since_2011"
    early, *_, late = [bike["rise"](curve.average[0]) for curve in found.values()]
    assert late > 1.5 * early
    assert sum(len(curve.rows) for curve in found.values()) == len(bike["X"])


def test_some_rules_hold_temperature_together_with_another_feature(bike: Names) -> None:
    assert 8 <= len(bike["rules"].rules) <= 12
    assert bike["rules"].fidelity > 0.6
    assert any("temp" in names and "days_since_2011" in names for names in bike["terms"]["features"])


def test_for_work_days_both_readings_agree_and_damp_air_takes_riders(bike: Names) -> None:
    workday = bike["workday"]
    np.testing.assert_allclose(workday["on its own days"], workday["set for all days"], rtol=0.03)
    assert workday.loc["N"].min() > 1.1 * workday.loc["Y"].max()
    assert bike["dry"] > 1.2 * bike["damp"]


# ---- risk factors ------------------------------------------------------------------------------


def test_the_plain_forest_is_calibrated_and_the_balanced_one_is_not(risk: Names) -> None:
    rate = risk["cancer"].mean()
    assert 0.05 < rate < 0.08
    assert abs(risk["said"].mean() - rate) < 0.01
    assert risk["said_balanced"].mean() > 4 * rate
    assert risk["forest"].classes_.tolist() == ["Cancer", "Healthy"]
    assert 0.6 < risk["auc"] < 0.75
    for quarter in risk["quarters"].categories:
        rows = risk["quarters"] == quarter
        assert abs(risk["said"][rows].mean() - risk["cancer"][rows].mean()) < 0.04


@pytest.mark.parametrize(
    ("feature", "low", "high", "condition"),
    [("age", 40, 50, "age > 45"), ("contraceptives_years", 5, 15, "contraceptives_years > 10")],
)
def test_the_jumps_rest_on_few_women_and_a_hint_says_so(
    risk: Names, feature: str, low: float, high: float, condition: str
) -> None:
    explainer = risk["explainer"]
    few, many = explainer.partial_dependence(feature, grid=[low, high], output="Cancer").average[0]
    assert many > 1.5 * few
    assert explainer.rows_of(condition)[0].mean() < 0.05
    assert any(
        hint.kind == "thin" and "beyond" in hint.text for hint in explainer.trust(feature, output="Cancer").hints
    )


def test_lines_of_partners_go_both_ways_while_their_mean_hardly_moves(risk: Names) -> None:
    change = risk["change"]
    assert abs(change.mean()) < 0.02
    assert 0.2 < (change < 0).mean() < 0.8
    assert change.quantile(0.95) - change.quantile(0.05) > 4 * abs(change.mean())
    hints = {hint.kind: hint.text for hint in risk["explainer"].trust("partners", output="Cancer").hints}
    assert hints["heterogeneity"].startswith("rows disagree")


def test_what_matters_on_the_rows_of_the_fit_is_within_the_error_on_others(risk: Names) -> None:
    first = risk["importance"].iloc[0]
    assert first.name == "contraceptives_years"
    assert first["other rows"] < 0.25 * first["rows it was fitted to"]
    assert first["other rows"] < 1.5 * first["± (other rows)"]


def test_a_high_share_is_of_a_small_amount(risk: Names) -> None:
    top = risk["pairs"].sort_values("h2", ascending=False).iloc[0]
    assert top["h2"] > 0.2
    few, many = risk["explainer"].partial_dependence("contraceptives_years", grid=[5, 15], output="Cancer").average[0]
    assert risk["pairs"]["strength"].max() < 0.1 * (many - few)


# ---- house tables ------------------------------------------------------------------------------


def test_house_prices_by_hand_and_by_the_package(tables: Names) -> None:
    assert list(tables["by_hand"](tables["first"]).values()) == [150_000, 100_000, 50_000, 0]
    assert list(tables["by_hand"](tables["second"]).values()) == [150_000, 100_000, 50_000, 100_000]
    assert tables["h2"] == pytest.approx(1 / 14, rel=1e-12)
    assert tables["around_the_average"](tables["first"])[1] == 0
    assert tables["left"].abs().to_numpy().tolist() == [[25_000, 25_000], [25_000, 25_000]]
    for name, share, strength in (("first", 0, 0), ("second", 1 / 14, 25_000)):
        found = tables["explainers"][name].interaction("size", "location")
        assert found.h2[0] == pytest.approx(share, rel=1e-12)
        assert found.strength[0] == pytest.approx(strength, rel=1e-12)
    assert tables["parts"].interaction[0].tolist() == [[0, 0], [0, 100_000]]
    assert tables["in_money"].h2[0] > 0.02
    assert tables["in_percent"].h2[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("size", "location", "price"),
    [("big", "good", 300_000), ("big", "bad", 350_000), ("small", "good", 300_000), ("small", "bad", 50_000)],
)
def test_each_of_the_four_prices_can_end_the_interaction(tables: Names, size: str, location: str, price: int) -> None:
    changed = tables["second"].copy()
    changed.loc[size, location] = price
    assert tables["around_the_average"](changed)[1] == 0
