"""Data sets that installed packages bring along."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["diabetes", "penguins"]

_DIABETES_NAMES = {
    "age": "age",
    "sex": "sex",
    "bmi": "bmi",
    "bp": "blood_pressure",
    "s1": "total_cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "cholesterol_ratio",
    "s5": "log_triglycerides",
    "s6": "blood_sugar",
}
_DIABETES_UNITS = {
    "age": "years",
    "sex": "code 1 or 2; the source does not say which is which",
    "bmi": "kg/m²",
    "blood_pressure": "mm Hg, average",
    "total_cholesterol": "mg/dl",
    "ldl": "mg/dl",
    "hdl": "mg/dl",
    "cholesterol_ratio": "total cholesterol / HDL",
    "log_triglycerides": "log of mg/dl",
    "blood_sugar": "mg/dl",
}


def diabetes() -> tuple[pd.DataFrame, pd.Series]:
    """Disease progression of 442 diabetes patients, in the units in which they were measured.

    Shipped with scikit-learn (Efron, Hastie, Johnstone & Tibshirani 2004, "Least angle regression"); its abbreviations are written out.

    Returns
    -------
    X : DataFrame (442, 10)
        Measurements at the start; `X.attrs["units"]` names the unit of each column.
    y : Series (442,)
        A score of disease progression one year later, 25 to 346.
    """
    from sklearn.datasets import load_diabetes

    data = load_diabetes(as_frame=True, scaled=False)
    X = data.data.rename(columns=_DIABETES_NAMES)
    X = X.astype({"age": "int64", "sex": "int64", "blood_sugar": "int64", "total_cholesterol": "int64"})
    X.attrs["units"] = dict(_DIABETES_UNITS)
    return X, data.target.rename("progression")


def penguins(*, drop_missing: bool = True) -> pd.DataFrame:
    """Size and sex of penguins of three species near Palmer Station, Antarctica (Gorman, Williams & Fraser 2014).

    Parameters
    ----------
    drop_missing : bool, default True
        Leave out the 11 birds of which something was not recorded: 333 rows of 344.

    Returns
    -------
    DataFrame
        species, island, bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g, sex ("female", "male"), year.

    Raises
    ------
    ImportError
        If the package `palmerpenguins`, which ships the data, is not installed.
    """
    try:
        from palmerpenguins import load_penguins
    except ModuleNotFoundError as error:
        if error.name != "palmerpenguins":
            raise
        raise ImportError(
            'the penguins come with the package palmerpenguins, which is not installed: python -m pip install palmerpenguins (or "pdp_widgets[demo]")'
        ) from None
    birds = load_penguins()
    if drop_missing:
        birds = birds.dropna(ignore_index=True)
    return birds.astype({"species": "category", "island": "category"})
