"""The data sets that are fetched: prepared from a tiny file in the repository's own layout, and stand-ins that resemble the real ones."""

from __future__ import annotations

import io
import re
import urllib.error
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier

from pdp_widgets import Explainer, datasets
from pdp_widgets.datasets import bikes, download, patients
from pdp_widgets.inputs import InputError, PDPWidgetsError

# The layout of UCI's day.csv; the days are made up.
DAYS = """instant,dteday,season,yr,mnth,holiday,weekday,workingday,weathersit,temp,atemp,hum,windspeed,casual,registered,cnt
1,2011-01-01,1,0,1,0,6,0,2,0.5,0.5,0.8,0.2,10,90,100
2,2011-03-10,1,0,3,0,4,1,3,0.25,0.3,0,0.1,1,19,20
3,2011-04-15,2,0,4,1,5,0,1,1,0.9,0.405,0,30,270,300
4,2012-07-02,3,1,7,0,1,1,4,0,0.1,1,1,5,35,40
5,2012-12-31,4,1,12,0,1,1,1,0.2,0.2,0.33,0.5,5,45,50
"""
HEAD = (
    "Age,Number of sexual partners,First sexual intercourse,Num of pregnancies,Smokes,Smokes (years),Smokes (packs/year),"
    "Hormonal Contraceptives,Hormonal Contraceptives (years),IUD,IUD (years),STDs,STDs (number),STDs:HIV,STDs: Number of diagnosis,"
    "STDs: Time since first diagnosis,STDs: Time since last diagnosis,Dx,Citology,Biopsy\n"
)
WOMEN = HEAD + (
    "18,4.0,15.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0,?,?,0,0,0\n"
    "41,2.0,?,3.0,1.0,12.5,6.0,1.0,3.25,0.0,0.0,1.0,2.0,0.0,1,21.0,7.0,0,1,1\n"
    "30,2.0,15.0,?,?,?,?,1.0,3.25,?,?,?,?,?,0,?,?,1,0,0\n"
)
LOADERS = {
    "bikes": (datasets.bike_rentals, "day.csv", DAYS),
    "women": (datasets.cervical, patients.SOURCE.member, WOMEN),
}


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


class Web:
    """Stands in for `urlopen`: serves the same bytes again and again, or fails, and counts."""

    def __init__(self, content: bytes | Exception) -> None:
        self.content = content
        self.asked: list[tuple[str, float]] = []

    def __call__(self, url: str, timeout: float) -> io.BytesIO:
        self.asked.append((url, timeout))
        if isinstance(self.content, Exception):
            raise self.content
        return io.BytesIO(self.content)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data home, and no network unless a test brings one."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(download, "urlopen", Web(urllib.error.URLError("no network in this test")))
    return tmp_path / "home"


def serve(monkeypatch: pytest.MonkeyPatch, content: bytes | Exception) -> Web:
    web = Web(content)
    monkeypatch.setattr(download, "urlopen", web)
    return web


# ---- preparing ---------------------------------------------------------------------------------


def test_bike_rentals_are_fetched_once_and_told_in_words_and_units(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = serve(monkeypatch, zipped(**{"Readme.txt": "", "Bike/hour.csv": "", "Bike/day.csv": DAYS}))
    table = datasets.bike_rentals(timeout=7)
    assert web.asked == [("https://archive.ics.uci.edu/static/public/275/bike+sharing+dataset.zip", 7)]
    assert list(table.columns) == [
        "season", "yr", "mnth", "holiday", "weekday", "workday", "weather", "temp", "hum", "windspeed", "days_since_2011", "cnt",
    ]  # fmt: skip
    # The second day has no humidity and is left out. Degrees by hand: -8 + 47 t.
    assert table["season"].tolist() == ["WINTER", "SPRING", "SUMMER", "FALL"]
    assert table["yr"].tolist() == [2011, 2011, 2012, 2012]
    assert table["mnth"].tolist() == ["JAN", "APR", "JUL", "DEC"]
    assert table["holiday"].tolist() == ["N", "Y", "N", "N"]
    assert table["weekday"].tolist() == ["SAT", "FRI", "MON", "MON"]
    assert table["workday"].tolist() == ["N", "N", "Y", "Y"]
    assert table["weather"].tolist() == ["MISTY", "GOOD", "BAD", "GOOD"]
    np.testing.assert_allclose(table["temp"], [15.5, 39, -8, 1.4])
    np.testing.assert_allclose(table["hum"], [80, 40.5, 100, 33])
    np.testing.assert_allclose(table["windspeed"], [13.4, 0, 67, 33.5])
    assert table["days_since_2011"].tolist() == [0, 104, 548, 730]
    assert table["cnt"].tolist() == [100, 300, 40, 50]
    assert table.index.tolist() == [0, 1, 2, 3]
    assert table["season"].cat.categories.tolist() == ["WINTER", "SPRING", "SUMMER", "FALL"]
    assert table.attrs["units"]["temp"] == "°C"
    assert "archive.ics.uci.edu" in table.attrs["source"]
    pd.testing.assert_frame_equal(datasets.bike_rentals(), table)
    assert len(web.asked) == 1, "the second time it comes from the data home"
    assert [path.name for path in (home / "pdp_widgets").iterdir()] == ["day.zip"]


def test_patients_are_fetched_once_and_open_questions_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    web = serve(monkeypatch, zipped(**{patients.SOURCE.member: WOMEN}))
    filled, open_ = datasets.cervical(), datasets.cervical(fill_missing=False)
    assert [url for url, _ in web.asked] == [
        "https://archive.ics.uci.edu/static/public/383/cervical+cancer+risk+factors.zip"
    ]
    assert filled["age"].tolist() == [18, 41, 30]
    assert filled["biopsy"].tolist() == ["Healthy", "Cancer", "Healthy"]
    assert filled["first_intercourse"].tolist() == [15, 15, 15]
    assert filled["contraceptives_years"].tolist() == [0, 3.25, 3.25]
    assert filled["stds_years_since_first"].tolist() == [21, 21, 21]
    assert filled["stds_years_since_last"].tolist() == [7, 7, 7]
    assert not filled.isna().any().any()
    assert np.isnan(open_["first_intercourse"]).tolist() == [False, True, False]
    assert np.isnan(open_["stds_years_since_first"]).tolist() == [True, False, True]
    whole = [name for name, kind in filled.dtypes.items() if kind == "int64"]
    assert len(whole) == 12
    assert set(filled.columns) - set(whole) == {"smokes_years", "contraceptives_years", "iud_years", "biopsy"}


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_that_one_has_is_read_zipped_or_not(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load, member, text = LOADERS[name]
    (tmp_path / "mine.csv").write_text(text)
    (tmp_path / "mine.zip").write_bytes(zipped(**{member: text}))
    serve(monkeypatch, zipped(**{member: text}))
    fetched = load()
    for file in (tmp_path / "mine.csv", str(tmp_path / "mine.zip")):
        pd.testing.assert_frame_equal(load(path=file), fetched)


# ---- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOADERS)
def test_without_network_it_says_what_was_tried_and_what_to_do(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, _, _ = LOADERS[name]
    serve(monkeypatch, urllib.error.URLError(OSError(-2, "Name or service not known")))
    with pytest.raises(datasets.DownloadError) as caught:
        load()
    said = str(caught.value)
    for words in (f"datasets.{load.__name__}()", "https://archive.ics.uci.edu/static", "Name or service not known",
                  "path=...", "stand_in=True", "https://archive.ics.uci.edu/dataset/"):  # fmt: skip
        assert words in said
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value, PDPWidgetsError)
    assert not list(home.rglob("*.zip"))
    for failure in (TimeoutError("timed out"), ConnectionResetError("reset"),
                    urllib.error.HTTPError("u", 503, "Service Unavailable", None, None)):  # fmt: skip
        serve(monkeypatch, failure)
        with pytest.raises(datasets.DownloadError, match=r"timed out|reset|503"):
            load()


def test_what_is_not_the_data_set_is_told_and_not_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for content, words in (
        (b"<html>please log in to this network</html>", r"not the data set.*<html>"),
        (zipped(other="x"), r"without day\.csv: other"),
        (zipped(**{"day.csv": "a,b\n1,2\n"}), r"lacks the columns"),
        (b"0" * (download.MOST_BYTES + 1), r"more than"),
    ):
        serve(monkeypatch, content)
        with pytest.raises(datasets.DownloadError, match=words):
            datasets.bike_rentals()
        assert not list(home.rglob("*.zip"))


def test_half_a_file_in_the_cache_is_fetched_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = zipped(**{"day.csv": DAYS})
    (home / "pdp_widgets").mkdir(parents=True)
    kept = home / "pdp_widgets" / "day.zip"
    kept.write_bytes(good[: len(good) // 2])
    web = serve(monkeypatch, good)
    assert len(datasets.bike_rentals()) == 4
    assert len(web.asked) == 1
    assert kept.read_bytes() == good


def test_without_a_place_to_keep_it_the_table_still_comes_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "file"))
    serve(monkeypatch, zipped(**{"day.csv": DAYS}))
    with pytest.warns(UserWarning, match="could not be kept"):
        assert len(datasets.bike_rentals()) == 4


def test_files_that_are_not_the_table_are_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    for text, words in (
        ("a,b\n1,2\n", r"wrong\.csv'\): expected .*lacks the columns 'season'"),
        ("", r"expected day\.csv; it cannot be read"),
        (DAYS.replace("2011-04-15", "no day"), r"'dteday' holds 'no day' in row 3 .*expected a date from 2011-01-01"),
        (pd.read_csv(io.StringIO(DAYS)).assign(hum=0).to_csv(index=False), r"'hum' is 0 in every row"),
        ("<html>\n", r"lacks the columns"),
        (
            DAYS.splitlines()[0],
            r"wrong\.csv'\): the table has no rows\. Correct the file, or download it again from https",
        ),
    ):
        wrong.write_text(text)
        with pytest.raises(InputError, match=words):
            datasets.bike_rentals(path=wrong)
    wrong.write_text(WOMEN[:-2] + "7\n")
    with pytest.raises(InputError, match=r"column 'Biopsy' holds 7 in row 3 .*expected one of 0, 1, Healthy, Cancer"):
        datasets.cervical(path=wrong)
    with pytest.raises(InputError, match=r"No such file.*expected day\.csv, or the zip"):
        datasets.bike_rentals(path=tmp_path / "nowhere.csv")


@pytest.mark.parametrize(("column", "code"), [(2, 5), (2, 0), (8, 0)])
def test_codes_outside_the_documented_ones_are_refused(column: int, code: int, tmp_path: Path) -> None:
    head, day, *others = DAYS.splitlines()
    cells = day.split(",")
    cells[column] = str(code)
    (tmp_path / "day.csv").write_text("\n".join([head, ",".join(cells), *others]))
    with pytest.raises(InputError, match=r"column '(season|weathersit)' holds \d in row 1 .*expected one of 1, 2"):
        datasets.bike_rentals(path=tmp_path / "day.csv")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("temp", "warm", r"'temp' holds 'warm' in row 2 .*expected a number from 0 to 1\."),
        ("hum", "x", r"'hum' holds 'x' in row 2"),
        ("hum", "", r"'hum' is empty in row 2"),
        ("windspeed", "inf", r"'windspeed' holds inf in row 2"),
        ("dteday", "", r"'dteday' is empty in row 2 .*expected a date from 2011-01-01 to 2012-12-31"),
        ("dteday", "2013-01-01", r"'dteday' holds '2013-01-01' in row 2"),
        ("season", "x", r"'season' holds 'x' in row 2"),
        ("season", "", r"'season' is empty in row 2"),
        ("cnt", "1.5", r"'cnt' holds 1\.5 in row 2 .*expected a whole number from 0 to 1,000,000"),
        ("cnt", "1e30", r"'cnt' holds 1e\+30 in row 2"),
        ("cnt", "-1", r"'cnt' holds -1 in row 2"),
    ],
)
def test_a_cell_of_the_days_that_cannot_be_is_named(name: str, value: str, words: str, tmp_path: Path) -> None:
    table = pd.read_csv(io.StringIO(DAYS), dtype=str)
    table.loc[1, name] = value
    table.to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(InputError, match=rf"mine\.csv'\): column {words}") as caught:
        datasets.bike_rentals(path=tmp_path / "mine.csv")
    assert "download it again from https://archive.ics.uci.edu/dataset/275" in str(caught.value)


@pytest.mark.parametrize(
    ("load", "name", "value", "words"),
    [
        (datasets.bike_rentals, "temp", "warm", r"'temp' holds 'warm' in row 2"),
        (datasets.bike_rentals, "yr", "0", r"'yr' holds 0 in row 2 .*from 2,011"),
        (datasets.bike_rentals, "weather", "FINE", r"'weather' holds 'FINE' in row 2 .*one of GOOD, MISTY, BAD"),
        (datasets.bike_rentals, "days_since_2011", "1.5", r"'days_since_2011' holds 1\.5"),
        (datasets.cervical, "Age", "old", r"'Age' holds 'old' in row 2 .*expected a whole number from 0 to 150"),
        (datasets.cervical, "Num of pregnancies", "1.5", r"'Num of pregnancies' holds 1\.5 in row 2"),
        (datasets.cervical, "Smokes (years)", "-2", r"'Smokes \(years\)' holds -2"),
        (datasets.cervical, "Biopsy", "", r"'Biopsy' is empty in row 2"),
    ],
)
def test_a_cell_of_the_other_tables_that_cannot_be_is_named(
    load, name: str, value: str, words: str, tmp_path: Path
) -> None:
    table = load(stand_in=True) if load is datasets.bike_rentals else pd.read_csv(io.StringIO(WOMEN))
    table = table.head(5).astype(object)
    table.loc[1, name] = value
    table.to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(InputError, match=rf"mine\.csv'\): column {words}"):
        load(path=tmp_path / "mine.csv")


def test_nothing_is_filled_into_a_column_without_answers(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("".join(WOMEN.splitlines(keepends=True)[:2]))
    with pytest.raises(InputError, match=r"'stds_years_since_first' has no values.*fill_missing=False"):
        datasets.cervical(path=tmp_path / "mine.csv")
    assert datasets.cervical(path=tmp_path / "mine.csv", fill_missing=False)["age"].tolist() == [18]


def broken_zips() -> dict[str, tuple[bytes, str]]:
    """Zip files that cannot be unpacked, and what is said of them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("day.csv", DAYS * 20)
    packed, plain = bytearray(buffer.getvalue()), zipped(**{"day.csv": DAYS})
    packed[60:90] = b"\xff" * 30
    changed = bytearray(plain)
    changed[200:210] = b"0" * 10
    central = plain.index(b"PK\x01\x02")
    locked, unknown = bytearray(plain), bytearray(plain)
    locked[6] |= 1
    locked[central + 8] |= 1
    unknown[8] = unknown[central + 10] = 99
    return {
        "deflate": (bytes(packed), "the zip file is damaged: "),
        "checksum": (bytes(changed), "the zip file is damaged: Bad CRC-32"),
        "encrypted": (bytes(locked), "day.csv in the zip file is encrypted; unpack it with another program"),
        "method": (bytes(unknown), "packed in a way that is not known here"),
    }


@pytest.mark.parametrize("kind", broken_zips())
def test_a_zip_that_cannot_be_unpacked_is_told_and_in_the_cache_replaced(
    kind: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, words = broken_zips()[kind]
    (tmp_path / "mine.zip").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(words)):
        datasets.bike_rentals(path=tmp_path / "mine.zip")
    serve(monkeypatch, content)
    with pytest.raises(datasets.DownloadError, match=re.escape(words)):
        datasets.bike_rentals()
    assert not list(home.rglob("*.zip")), "what cannot be read is not kept"

    kept = home / "pdp_widgets" / "day.zip"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(content)
    serve(monkeypatch, urllib.error.URLError("offline"))
    with pytest.raises(
        datasets.DownloadError, match=r"offline; the file kept in .*day\.zip was damaged and is thrown away"
    ):
        datasets.bike_rentals()
    assert not kept.exists()
    kept.write_bytes(content)
    good = zipped(**{"day.csv": DAYS})
    web = serve(monkeypatch, good)
    assert len(datasets.bike_rentals()) == len(datasets.bike_rentals()) == 4
    assert len(web.asked) == 1
    assert kept.read_bytes() == good
    assert [path.name for path in kept.parent.iterdir()] == ["day.zip"]


# ---- stand-ins ---------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [datasets.bike_rentals, datasets.cervical])
def test_stand_ins_are_labelled_and_always_the_same(load) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = load(stand_in=True)
    pd.testing.assert_frame_equal(load(stand_in=True), table)
    assert table.attrs["source"].startswith("generated, not observed")
    assert not table.isna().any().any()


def test_generated_days_are_two_whole_years_of_the_calendar() -> None:
    table = datasets.bike_rentals(stand_in=True)
    dates = pd.date_range("2011-01-01", "2012-12-31")
    assert len(table) == len(dates) == 731
    assert table["days_since_2011"].tolist() == list(range(731))
    assert table["yr"].tolist() == dates.year.tolist()
    assert table["weekday"].astype(str).tolist() == [name[:3].upper() for name in dates.day_name()]
    assert table["mnth"].astype(str).tolist() == [name[:3].upper() for name in dates.month_name()]
    free = table["weekday"].isin(["SAT", "SUN"]) | (table["holiday"] == "Y")
    assert ((table["workday"] == "N") == free).all()
    assert table["season"].iloc[[0, 78, 79, 171, 265, 354, 355]].tolist() == [
        "WINTER", "WINTER", "SPRING", "SUMMER", "FALL", "WINTER", "WINTER",
    ]  # fmt: skip


def test_generated_patients_contradict_nothing_that_must_hold() -> None:
    table = datasets.cervical(stand_in=True, fill_missing=False)
    assert len(table) == 858
    assert table.isna().any()["contraceptives_years"]
    assert (table["first_intercourse"] <= table["age"]).all()
    for kind in ("smokes", "contraceptives", "iud"):
        known = table[kind].notna()
        assert ((table[kind] == 1) == (table[f"{kind}_years"] > 0))[known].all()
        assert (
            table[f"{kind}_years"][known] <= (table["age"] - table["first_intercourse"]).clip(lower=0.1)[known]
        ).all()
    assert ((table["stds"] == 1) == (table["stds_number"] > 0)).all()
    assert (table["stds_diagnoses"] <= table["stds"]).all()
    assert 0.04 < (table["biopsy"] == "Cancer").mean() < 0.1


def both(load, file: Path) -> dict[str, pd.DataFrame]:
    return {"real": load(path=file), "generated": load(stand_in=True)}


def test_generated_days_resemble_the_real_ones(shared_data: Path) -> None:
    days = both(datasets.bike_rentals, shared_data / "bike.csv")
    book = pd.read_csv(shared_data / "bike.csv")
    real, generated = days["real"], days["generated"]
    assert (real.dtypes == generated.dtypes).all()  # categories with their levels
    pd.testing.assert_frame_equal(real.astype(book.dtypes[real.columns]), book[real.columns])
    for name in bikes.LEVELS:
        assert set(real[name]) == set(generated[name]) == set(bikes.LEVELS[name])
    for name in ("temp", "hum", "windspeed", "cnt"):
        assert abs(real[name].mean() - generated[name].mean()) < 0.15 * real[name].std()
        assert 0.75 < generated[name].std() / real[name].std() < 1.3
    found = {}
    for which, table in days.items():
        X = table[["season", "holiday", "workday", "weather", "temp", "hum", "windspeed", "days_since_2011"]]
        model = HistGradientBoostingRegressor(learning_rate=0.08, min_samples_leaf=10, random_state=0).fit(
            X, table["cnt"]
        )
        explainer = Explainer(model, X, table["cnt"])
        found[which] = explainer
        ranked = explainer.importance(progress=False).sort("permutation").to_frame()["feature"].tolist()
        assert ranked[:2] == ["days_since_2011", "temp"], which
        cold, cool, mild, warm, hot = explainer.partial_dependence("temp", grid=[0, 10, 20, 25, 31]).average[0]
        assert cold + 500 < cool < mild - 300, which
        assert hot < warm - 200, which
        good, misty, bad = explainer.partial_dependence("weather", grid=bikes.WEATHER).average[0]
        assert good > misty > bad, which
        dry, damp = explainer.partial_dependence("hum", grid=[50, 90]).average[0]
        assert dry > damp + 300, which


def test_generated_patients_resemble_the_real_ones(shared_data: Path) -> None:
    women = both(datasets.cervical, shared_data / "cervical.csv")
    book = pd.read_csv(shared_data / "cervical.csv")
    real, generated = women["real"], women["generated"]
    assert (real.dtypes == generated.dtypes).all()
    assert len(real) == len(generated) == len(book)
    for ours, theirs in zip(real.columns, book.columns, strict=True):
        assert real[ours].astype(book[theirs].dtype).tolist() == book[theirs].tolist(), ours
    for name in ("age", "partners", "first_intercourse", "pregnancies"):
        assert abs(real[name].median() - generated[name].median()) <= 1, name
    assert abs((real["biopsy"] == "Cancer").mean() - (generated["biopsy"] == "Cancer").mean()) < 0.02
    for which, table in women.items():
        X = table.drop(columns="biopsy")
        explainer = Explainer(
            RandomForestClassifier(200, min_samples_leaf=5, random_state=0).fit(X, table["biopsy"]), X
        )
        for feature, low, high in (("age", 40, 50), ("contraceptives_years", 5, 15)):
            few, many = explainer.partial_dependence(feature, grid=[low, high], output="Cancer").average[0]
            assert many > 1.5 * few, (which, feature)
