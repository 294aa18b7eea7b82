"""Risk factors for cervical cancer: fetched and prepared, or generated."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.inputs.errors import InputError

from .cells import codes, numbers, some_rows
from .download import Source, load, require

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = Source(
    "datasets.cervical",
    "https://archive.ics.uci.edu/static/public/383/cervical+cancer+risk+factors.zip",
    "risk_factors_cervical_cancer.csv",
    "https://archive.ics.uci.edu/dataset/383/cervical+cancer+risk+factors",
)
NAMES = {
    "Age": "age",
    "Number of sexual partners": "partners",
    "First sexual intercourse": "first_intercourse",
    "Num of pregnancies": "pregnancies",
    "Smokes": "smokes",
    "Smokes (years)": "smokes_years",
    "Hormonal Contraceptives": "contraceptives",
    "Hormonal Contraceptives (years)": "contraceptives_years",
    "IUD": "iud",
    "IUD (years)": "iud_years",
    "STDs": "stds",
    "STDs (number)": "stds_number",
    "STDs: Number of diagnosis": "stds_diagnoses",
    "STDs: Time since first diagnosis": "stds_years_since_first",
    "STDs: Time since last diagnosis": "stds_years_since_last",
    "Biopsy": "biopsy",
}
MOST = 150
"""Years, partners, diagnoses: more than anybody has."""
DURATIONS = {"smokes_years", "contraceptives_years", "iud_years"}
UNITS = {"age": "years", "first_intercourse": "years of age"} | dict.fromkeys(
    [*sorted(DURATIONS), "stds_years_since_first", "stds_years_since_last"], "years"
)
GENERATED = "generated, not observed: structure like that of the risk factors for cervical cancer"


def cervical(
    *, path: str | Path | None = None, stand_in: bool = False, fill_missing: bool = True, timeout: float = 10.0
) -> pd.DataFrame:
    """Age, habits and history of 858 patients of a hospital in Caracas, and what a biopsy found (Fernandes, Cardoso & Fernandes 2017).

    The "Cervical Cancer (Risk Factors)" data of the UCI Machine Learning Repository (CC BY 4.0): the columns that Molnar's "Interpretable Machine
    Learning" looks at, its abbreviations written out. Fetched once and kept in scikit-learn's data home. Patients could leave questions open.

    Parameters
    ----------
    path : path, optional
        Read the table from this file instead: the repository's zip, its CSV file, or the book's prepared table.
    stand_in : bool, default False
        Generate a table of the same columns and of similar structure, always the same one, without network.
    fill_missing : bool, default True
        Put each column's most frequent value where an answer is missing, as the book does. It is simple, and wrong where it depends on the answer
        whether it is given: most never had a diagnosis, and get 1 year since the first one. False leaves NaN.
    timeout : float, default 10
        Seconds to wait for the network.

    Returns
    -------
    DataFrame (858, 16)
        age, partners, first_intercourse (age), pregnancies, smokes (0, 1), smokes_years, contraceptives (hormonal), contraceptives_years, iud,
        iud_years, stds, stds_number, stds_diagnoses, stds_years_since_first, stds_years_since_last, and biopsy ("Healthy", "Cancer").
        `attrs["units"]` names units, `attrs["source"]` where the rows come from.

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
    if fill_missing:
        nothing = [name for name in table.columns if table[name].isna().all()]
        if nothing:
            raise InputError(
                f"column {nothing[0]!r} has no values, so none is the most frequent; fill_missing=False leaves NaN"
            )
        table = table.fillna({name: table[name].mode()[0] for name in table.columns if table[name].isna().any()})
        whole = [name for name in table.columns if name != "biopsy" and name not in DURATIONS]
        table = table.astype(dict.fromkeys(whole, "int64"))
    table.attrs = {"units": dict(UNITS), "source": source}
    return table


def _read(file: IO[bytes]) -> pd.DataFrame:
    raw = pd.read_csv(file, na_values="?")
    mangled = {"".join(c if c.isalnum() else "." for c in name): name for name in NAMES}  # the book's, as R writes them
    raw = raw.rename(columns=mangled)
    require(raw.columns, NAMES, "the risk factors for cervical cancer")
    some_rows(raw)
    words = {0: "Healthy", 1: "Cancer", "Healthy": "Healthy", "Cancer": "Cancer"}
    found = {
        name: numbers(raw[given], 0, MOST, whole=name not in DURATIONS, missing=True)
        for given, name in NAMES.items()
        if name != "biopsy"
    }
    return pd.DataFrame(found).assign(biopsy=_outcome(codes(raw["Biopsy"], words)))


def _outcome(found: Any) -> pd.Series:
    return pd.Series(found).astype(pd.CategoricalDtype(["Healthy", "Cancer"]))


def _generate() -> pd.DataFrame:
    """Draw patients from a made-up rule.

    The rule: most are young, few are above 50. Cancer is rare; likelier after more than eight years on hormonal contraceptives, above 45, and with
    sexually transmitted diseases, and these multiply each other's odds.
    """
    rng = np.random.default_rng(2018)
    n = 858
    older = np.where(rng.random(n) < 0.009, 25 + rng.exponential(10, n), 0)
    age = np.clip(13.5 + rng.gamma(2.4, 5.3, n) + older, 13, 84).astype(int)
    first = np.clip(np.round(rng.normal(17, 2.6, n)), 10, age).astype(int)
    active = age - first
    partners = 1 + rng.poisson(1.5, n)
    pregnancies = np.where(rng.random(n) < 0.03, 0, 1 + rng.poisson(np.clip(0.3 + 0.11 * active, 0, 3)))

    def for_years(share: float, typical: float) -> tuple[np.ndarray, np.ndarray]:
        some = (rng.random(n) < share) & (active > 0)
        years = np.minimum(
            typical * np.exp(1.3 * rng.normal(size=n)), active
        )  # most for a short time, few for very long
        rounded = np.where(years < 2, np.round(4 * years) / 4, np.round(years))
        return some.astype(int), np.where(some, np.maximum(rounded, 0.08), 0.0)

    smokes, smokes_years = for_years(0.15, 5.0)
    pill, pill_years = for_years(0.72, 1.7)
    iud, iud_years = for_years(0.11, 3.0)
    stds = (rng.random(n) < 0.09).astype(int)
    since = np.where(stds & (rng.random(n) < 0.85), 1 + np.floor(rng.exponential(4.0, n)), np.nan)
    since = np.minimum(since, np.maximum(active, 1))
    odds = 0.042 * np.exp(1.9 * (pill_years > 8) + 1.3 * (age > 45) + 1.2 * stds + 0.1 * (partners - 2.5))
    found = rng.random(n) < odds / (1 + odds)
    table = pd.DataFrame(
        {
            "age": age,
            "partners": partners,
            "first_intercourse": first,
            "pregnancies": pregnancies,
            "smokes": smokes,
            "smokes_years": smokes_years,
            "contraceptives": pill,
            "contraceptives_years": pill_years,
            "iud": iud,
            "iud_years": iud_years,
            "stds": stds,
            "stds_number": stds * (1 + (rng.random(n) < 0.5)),
            "stds_diagnoses": np.isfinite(since).astype(int),
            "stds_years_since_first": since,
            "stds_years_since_last": since,
        }
    ).astype("float64")
    # Some leave questions open: those about contraceptives together, and others one by one.
    table.loc[rng.random(n) < 0.12, ["contraceptives", "contraceptives_years"]] = np.nan
    for name in ("partners", "pregnancies"):
        table.loc[rng.random(n) < 0.04, name] = np.nan
    return table.assign(biopsy=_outcome(np.where(found, "Cancer", "Healthy")))
