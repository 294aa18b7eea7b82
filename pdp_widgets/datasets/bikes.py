"""Daily bike rentals of Washington D.C.: fetched and prepared, or generated."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .cells import codes, dates, numbers, some_rows
from .download import Source, load, require

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = Source(
    "datasets.bike_rentals",
    "https://archive.ics.uci.edu/static/public/275/bike+sharing+dataset.zip",
    "day.csv",
    "https://archive.ics.uci.edu/dataset/275/bike+sharing+dataset",
)
SEASONS = ("WINTER", "SPRING", "SUMMER", "FALL")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
WEATHER = ("GOOD", "MISTY", "BAD")
LEVELS = {
    "season": SEASONS,
    "mnth": MONTHS,
    "holiday": ("N", "Y"),
    "weekday": WEEKDAYS,
    "workday": ("N", "Y"),
    "weather": WEATHER,
}
COLUMNS = {
    "season": "category", "yr": "int64", "mnth": "category", "holiday": "category", "weekday": "category", "workday": "category", "weather": "category",
    "temp": "float64", "hum": "float64", "windspeed": "float64", "days_since_2011": "int64", "cnt": "int64",
}  # fmt: skip
UNITS = {"temp": "°C", "hum": "%", "windspeed": "km/h", "days_since_2011": "days", "cnt": "rentals a day"}
GENERATED = "generated, not observed: structure like that of the bike rentals of Washington D.C."

# temp is (t - t_min) / (t_max - t_min) with t_min = -8 and t_max = 39, according to the data set's page. (The Readme inside the zip
# says t / 41. Both are straight lines, so that shapes of curves are the same; the book takes the page's, and so do we.)
COLDEST, HOTTEST = -8.0, 39.0
STRONGEST_WIND = 67.0
FIRST, LAST, DAYS = "2011-01-01", "2012-12-31", 731
MOST_RENTALS = 1_000_000


def bike_rentals(*, path: str | Path | None = None, stand_in: bool = False, timeout: float = 10.0) -> pd.DataFrame:
    """Bikes rented on each day of 2011 and 2012 in Washington D.C., with weather and calendar (Fanaee-T & Gama 2014).

    The "Bike Sharing" data of the UCI Machine Learning Repository (CC BY 4.0), in the units and with the names of Molnar's "Interpretable Machine
    Learning". Fetched once and kept in scikit-learn's data home. 10 March 2011 is left out: its humidity was not recorded.

    Parameters
    ----------
    path : path, optional
        Read the table from this file instead: the repository's zip, its day.csv, or the book's prepared table.
    stand_in : bool, default False
        Generate a table of the same columns and of similar structure, always the same one, without network: 731 days.
    timeout : float, default 10
        Seconds to wait for the network.

    Returns
    -------
    DataFrame (730, 12)
        season, yr, mnth, holiday, weekday, workday ("N", "Y"), weather ("GOOD", "MISTY", "BAD"), temp, hum, windspeed, days_since_2011, and
        cnt, the number of rentals. `attrs["units"]` names units, `attrs["source"]` where the rows come from.

    Raises
    ------
    DownloadError
        When it cannot be fetched, with what to do instead.
    InputError
        When the file at `path` is not this table.
    """
    if stand_in:
        table, source = _generate(), GENERATED
    else:
        table, source = load(SOURCE, path, timeout, _read), SOURCE.page
    table.attrs = {"units": dict(UNITS), "source": source}
    return table


def _read(file: IO[bytes]) -> pd.DataFrame:
    raw = pd.read_csv(file)
    table = _from_uci(raw) if "weathersit" in raw.columns else _from_book(raw)
    return _typed(some_rows(table[table["hum"] > 0], "column 'hum' is 0 in every row: the humidity was not recorded"))


def _from_uci(raw: pd.DataFrame) -> pd.DataFrame:
    """The repository's codes and normalised numbers in words and units."""
    needed = ("dteday", "season", "holiday", "workingday", "weathersit", "temp", "hum", "windspeed", "cnt")
    require(raw.columns, needed, "day.csv")
    some_rows(raw)
    return pd.DataFrame(
        _calendar(dates(raw["dteday"], FIRST, LAST))
        | {
            "season": _words(raw["season"], 1, SEASONS),
            "holiday": _words(raw["holiday"], 0, ("N", "Y")),
            "workday": _words(raw["workingday"], 0, ("N", "Y")),
            "weather": _words(raw["weathersit"], 1, (*WEATHER, "BAD")),  # 3: light rain or snow, 4: heavy
            "temp": COLDEST + (HOTTEST - COLDEST) * numbers(raw["temp"], 0, 1),
            "hum": 100.0 * numbers(raw["hum"], 0, 1),
            "windspeed": STRONGEST_WIND * numbers(raw["windspeed"], 0, 1),
            "cnt": _rentals(raw["cnt"]),
        }
    )


def _from_book(raw: pd.DataFrame) -> pd.DataFrame:
    """The book's table, which has words and units."""
    require(raw.columns, COLUMNS, "the daily bike rentals (day.csv, or the book's table)")
    some_rows(raw)
    return pd.DataFrame(
        {name: codes(raw[name], dict(zip(levels, levels, strict=True))) for name, levels in LEVELS.items()}
        | {
            "yr": numbers(raw["yr"], 2011, 2012, whole=True),
            "temp": numbers(raw["temp"], -50, 60),
            "hum": numbers(raw["hum"], 0, 100),
            "windspeed": numbers(raw["windspeed"], 0, 500),
            "days_since_2011": numbers(raw["days_since_2011"], 0, DAYS - 1, whole=True),
            "cnt": _rentals(raw["cnt"]),
        }
    )


def _words(column: pd.Series, first: int, words: tuple[str, ...]) -> pd.Series:
    """Words in place of codes that count from `first`."""
    return codes(column, dict(enumerate(words, first)))


def _rentals(column: pd.Series) -> pd.Series:
    return numbers(column, 0, MOST_RENTALS, whole=True)


def _calendar(dates: pd.Series) -> dict[str, Any]:
    return {
        "yr": dates.dt.year,
        "mnth": np.array(MONTHS)[dates.dt.month - 1],
        "weekday": np.array(WEEKDAYS)[dates.dt.day_of_week],
        "days_since_2011": (dates - pd.Timestamp("2011-01-01")).dt.days,
    }


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    """In the promised order and dtypes; categories know all their levels, in the calendar's order."""
    table = table[list(COLUMNS)].reset_index(drop=True)
    types = {
        name: pd.CategoricalDtype(list(LEVELS[name])) if name in LEVELS else kind for name, kind in COLUMNS.items()
    }
    return table.astype(types)


def _generate() -> pd.DataFrame:
    """Draw two years of days from a made-up rule.

    The rule: the service grows; warmth brings riders up to a point and heat takes some away, the more the damper the air; on days off the weather counts
    for more than on work days, in winter for less; mist, rain and wind cost riders.
    """
    from pandas.tseries.holiday import USFederalHolidayCalendar

    rng = np.random.default_rng(2011)
    dates = pd.Series(pd.date_range("2011-01-01", "2012-12-31"))
    n = len(dates)
    year = 2 * np.pi * (dates.dt.day_of_year.to_numpy() - 1) / 365.25

    def lasting(memory: float) -> np.ndarray:
        """Noise of variance 1 that lasts some days, as weather does."""
        shocks = rng.normal(size=n) * np.sqrt(1 - memory**2)
        shocks[0] /= np.sqrt(1 - memory**2)
        for day in range(1, n):
            shocks[day] += memory * shocks[day - 1]
        return shocks

    front = lasting(0.45)  # bad weather comes and goes
    temp = 15.0 - 10.5 * np.cos(year - 0.35) + 3.5 * lasting(0.7) - 0.4 * front
    hum = np.clip(62 + 9 * front + 10 * lasting(0.3), 20, 97)
    wind = np.clip(12.5 + 1.5 * np.cos(year - 1.2) + 4.5 * rng.normal(size=n), 2, None)
    weather = np.digitize(front + 0.5 * rng.normal(size=n), [0.4, 2.0])

    # Seasons begin on the 21st of March, June, December and the 23rd of September.
    day = 100 * dates.dt.month + dates.dt.day
    season = np.searchsorted([321, 621, 923, 1221], day, side="right") % 4
    holiday = dates.isin(USFederalHolidayCalendar().holidays(dates.min(), dates.max())).to_numpy()
    work = (dates.dt.day_of_week < 5).to_numpy() & ~holiday

    age = np.arange(n) / n
    size = 0.25 + 0.5 * np.minimum(age / 0.15, 1) + 1.15 * age  # quick growth in the first spring, then steady
    warmth = 1 / (1 + np.exp(-(temp - 9) / 4))
    damp = np.clip((hum - 60) / 40, 0, 1)
    heat = np.clip(temp - 26, 0, None) * (0.045 + 0.06 * damp)
    eager = np.array([0.9, 1.0, 1.05, 1.05])[season] * np.where(work, 0.92, 1.15)
    mean = size * (1800 + np.where(work, 250, -250) + 3000 * eager * (warmth - heat))
    mean *= np.array([1, 0.93, 0.55])[weather] * (1 - 0.35 * damp) * (1 - 0.012 * np.clip(wind - 10, 0, None))
    count = np.clip(mean + 420 * rng.normal(size=n), 20, None)
    return _typed(
        pd.DataFrame(
            _calendar(dates)
            | {
                "season": np.array(SEASONS)[season],
                "holiday": np.where(holiday, "Y", "N"),
                "workday": np.where(work, "Y", "N"),
                "weather": np.array(WEATHER)[weather],
                "temp": temp.round(2),
                "hum": hum.round(1),
                "windspeed": wind.round(1),
                "cnt": count.round(),
            }
        )
    )
