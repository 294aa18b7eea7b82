"""What Molnar's "Interpretable Machine Learning" reports of its data is found here, too; skipped where the data are absent."""

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVR

from pdp_widgets import Explainer

NUMBERS = ["temp", "hum", "windspeed", "days_since_2011"]
CATEGORIES = ["season", "holiday", "weekday", "workday", "weather"]


@pytest.fixture(scope="module")
def bikes(shared_data):
    table = pd.read_csv(shared_data / "bike.csv")
    return table[CATEGORIES + NUMBERS], table["cnt"]


@pytest.fixture(scope="module")
def forest(bikes):
    columns = make_column_transformer((OrdinalEncoder(), CATEGORIES), remainder="passthrough")
    model = make_pipeline(columns, RandomForestRegressor(100, random_state=0)).fit(*bikes)
    return Explainer(model, bikes[0], method="trees")


def rentals(explainer, feature, *points):
    return explainer.partial_dependence(feature, grid=list(points)).average[0]


def test_bike_rentals_climb_with_warmth_flatten_and_fall_in_the_heat(forest):
    cold, cool, mild, warm, warmer, hot = rentals(forest, "temp", 0, 10, 15, 20, 25, 30)
    assert cold + 500 < cool < mild - 500
    assert mild < warm
    assert abs(warmer - warm) < 150
    assert hot < warmer - 200


def test_bike_rentals_fall_in_damp_and_in_wind(forest):
    dry, *_, humid, wet = rentals(forest, "hum", 40, 60, 75, 90)
    assert abs(rentals(forest, "hum", 60)[0] - dry) < 200
    assert dry > humid + 300 > wet + 600
    calm, breeze, wind, gale = rentals(forest, "windspeed", 5, 12, 18, 25)
    assert calm > breeze > wind > gale


def test_bike_rentals_by_season_and_weather(forest):
    season = forest.partial_dependence("season").to_frame().set_index("season")["average"]
    assert season.idxmin() == "WINTER"
    weather = forest.partial_dependence("weather").to_frame().set_index("weather")["average"]
    assert weather["GOOD"] > weather["MISTY"] > weather["BAD"]


def test_a_support_vector_machine_of_bike_rentals_hardly_interacts(bikes):
    columns = make_column_transformer((OneHotEncoder(), CATEGORIES), (StandardScaler(), NUMBERS))
    model = make_pipeline(columns, SVR(C=1000)).fit(*bikes)
    assert model.score(*bikes) > 0.85
    found = Explainer(model, bikes[0]).interactions(pairs=[], rows=120)
    assert (found.overall["h2"] < 0.1).all()
    assert found.total_h2[0] < 0.1


def test_cancer_is_likelier_beyond_fifty_and_after_ten_years_of_contraceptives(shared_data):
    table = pd.read_csv(shared_data / "cervical.csv")
    X, y = table.drop(columns="Biopsy"), table["Biopsy"]
    model = RandomForestClassifier(300, random_state=0).fit(X, y)
    explainer = Explainer(model, X, method="trees")
    at_forty, at_fifty = explainer.partial_dependence("Age", grid=[40, 50], output="Cancer").average[0]
    assert at_fifty > 1.5 * at_forty
    years = "Hormonal.Contraceptives..years."
    short, long = explainer.partial_dependence(years, grid=[5.0, 11.0], output="Cancer").average[0]
    assert long > 1.5 * short
