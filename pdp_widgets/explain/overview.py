"""What an explainer's features are, as a table: kind, values, how many are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pdp_widgets.inputs import InputError

if TYPE_CHECKING:
    from pdp_widgets.inputs import FeatureTable, Observed

__all__ = ["features_frame"]

_LEVELS = 3  # of more than this many the first ones are named


def features_frame(table: FeatureTable) -> pd.DataFrame:
    """Return one row per feature: ``feature``, ``kind``, ``values`` in words, ``missing`` rows.

    A column that cannot be laid out on an axis says so in place of its values.
    """
    rows = []
    for name, feature in table.features.items():
        try:
            observed = table.observed(name)
        except InputError as error:
            rows.append((name, feature.kind, str(error), 0))
            continue
        rows.append((name, feature.kind, _values(observed), int(observed.missing.sum())))
    return pd.DataFrame(rows, columns=["feature", "kind", "values", "missing"])


def _values(observed: Observed) -> str:
    if observed.kind == "category":
        labels = observed.labels or []
        if len(labels) <= _LEVELS + 1:
            return ", ".join(labels)
        return f"{len(labels)} levels: {', '.join(labels[:_LEVELS])}, ..."
    finite = observed.codes[np.isfinite(observed.codes)]
    if not len(finite):
        return ""
    return " to ".join(_text(float(end), observed.kind) for end in (finite.min(), finite.max()))


def _text(code: float, kind: str) -> str:
    """Return a number as it is, and milliseconds as a date or duration."""
    if kind == "number":
        return f"{code:g}"
    made = pd.to_datetime(code, unit="ms") if kind == "datetime" else pd.to_timedelta(code, unit="ms")
    return str(made).removesuffix(" 00:00:00")
