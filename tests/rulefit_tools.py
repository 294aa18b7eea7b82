"""Rule sets for tests: one of awkward names and kinds, and the reference ensemble beside the repository."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from pdp_widgets.inputs.conditions import Levels, Missing, Range
from pdp_widgets.rulefit import Linear, Rule, RuleSet

HOSTILE = "a`b\"c'd\\e; DROP TABLE t; -- <b>&amp;</b> | *x*\n_y_ {z} ${q} %s"
"""A name or level that would break out of every quoting there is."""


def odd_table(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Numbers, whole numbers, dates, flags, categories and texts with missing values, under names that invite accidents."""
    rng = np.random.default_rng(seed)
    gone = rng.random((n, 4)) < 0.15
    level = rng.choice(np.array(["GOOD", "it's", HOSTILE, "", "NA", "1"], dtype=object), n)
    level[gone[:, 0]] = None
    flag = rng.choice(np.array([True, False], dtype=object), n)
    flag[gone[:, 1]] = None
    day = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400 * 24, n), unit="h"))
    day[gone[:, 2]] = pd.NaT
    number = rng.normal(size=n)
    number[gone[:, 3]] = np.nan
    return pd.DataFrame(
        {
            "e": number,
            "rule": rng.integers(0, 10, n),
            "NA": rng.normal(size=n).round(2),
            "wind speed": rng.exponential(size=n),
            'quo"ted': pd.Series(level, dtype=object),
            HOSTILE: rng.normal(size=n),
            "größe": rng.integers(0, 2, n),
            "flag": pd.Series(flag, dtype=object),
            "day": day,
            "sure": rng.random(n) < 0.5,
            "class": pd.Categorical(rng.choice([1, 2, 3], n)),
        }
    )


def odd_rules(X: pd.DataFrame, *, outputs: int = 1, seed: int = 1, **more) -> RuleSet:
    """Rules and linear terms about all columns of ``odd_table``, with the support that they have on X."""
    texts = [
        "e > 0.1 & rule <= 4",
        "(e <= -0.3 | e.isna()) & `wind speed` > 0.5",
        "`quo\"ted` in ['GOOD', 'NA', None]",
        "`quo\"ted` not in ['', '1']",
        "`quo\"ted` != 'GOOD' & sure",
        "flag == True & rule > 2",
        "flag in [False, None]",
        "day > '2024-05-31 12:00:00' & day <= '2024-12-01'",
        "(day < '2024-03-01' | day.isna())",
        "größe == 1 & NA < 0.25",
        "rule in [1, 2, 7]",
        "`class` in [1, 3] & rule < 9",
        "e.notna() & day.notna()",
        "flag.isna()",
    ]
    rules = [Rule.of(text, X) for text in texts]
    rules += [
        Rule((Levels('quo"ted', (HOSTILE, "it's")), Range(HOSTILE, low=-0.5, low_closed=False))),
        Rule((Missing("e"), Range("rule", high=8.0))),
        Rule(()),
    ]
    linear = [
        Linear("e", -1.0, 1.5, missing_as=0.25),
        Linear(HOSTILE, -1.2, 0.9),
        Linear("NA"),
        Linear("rule", low=1.0),
        Linear('quo"ted', level=(HOSTILE,)),
        Linear('quo"ted', level=(None,)),
        Linear("sure", level=(True,)),
        Linear("day", 1.706e12, 1.73e12, missing_as=1.71e12, kind="datetime"),
    ]
    terms = [*rules, *linear]
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(size=(outputs, len(terms)))
    coefficients[:, -1] *= 1e-10
    intercept = rng.normal(size=outputs)
    intercept -= coefficients[:, -1] * 1.71e12
    return RuleSet(terms, coefficients, intercept, feature_names=X.columns, **more).with_support(X)


def reference(shared: Path) -> tuple[pd.DataFrame, RuleSet]:
    """The reference ensemble's data (with ``y``) and its terms at the one-standard-error penalty."""
    folder = shared.parent / "oracles" / "rulefit"
    data = pd.read_csv(folder / "bike3e_data.csv")
    table = pd.read_csv(folder / "bike3e_terms.csv")
    X = data.drop(columns="y")
    terms = [
        reference_term(name, text, X) for name, text in zip(table["rule"][1:], table["description"][1:], strict=True)
    ]
    rules = RuleSet(terms, table["coef_1se"].to_numpy()[1:], table["coef_1se"][0], feature_names=X.columns)
    return data, rules.with_support(X)


def reference_term(name: str, text: str, X: pd.DataFrame) -> Rule | Linear:
    """Read ``temp > 12 & weather %in% c("GOOD")``, ``38 <= hum <= 90`` (of the linear term hum), or ``holidayY``."""
    if name.startswith("rule"):
        return Rule.of(re.sub(r"%in% c\((.*?)\)", r"in [\1]", text), X)
    if name in X.columns:
        low, high = re.fullmatch(rf"(\S+) <= {name} <= (\S+)", text).groups()
        return Linear(name, float(low), float(high))
    feature = next(column for column in X.columns if name.startswith(column))
    return Linear(feature, level=(name.removeprefix(feature),))
