"""How complex a model is: features used, strength of interactions, complexity of main effects (Molnar, Casalicchio & Bischl 2020).

The fewer interactions and the simpler the effects, the more a plot of one effect at a time tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.tabular import Tabular

from .ale import ale
from .alignment import explainers_of
from .ask import answers
from .explanation import MODEL
from .segments import Approximation, approximated

if TYPE_CHECKING:
    from pdp_widgets.inputs import Feature

    from .explainer import Explainer


@dataclass(frozen=True)
class Complexity(Tabular, Drawable):
    """Three numbers about a model, and per feature what they are made of."""

    features_used: int
    """Features that change the prediction of some row."""
    interaction_strength: float
    """IAS: share of the response's variance that is no sum of ALE main effects; 0 for an additive model, NaN when not all
    columns of X are among the features, or of a single row."""
    main_effect_complexity: float
    """MEC: mean number of linear segments of the ALE main effects, weighted by their variances; 1 for a linear model."""
    per_feature: pd.DataFrame = field(repr=False)
    """``feature``, ``used``, ``segments``, ``variance`` (of its ALE)."""
    output: str
    scale: str
    n_rows: int
    subgroup: str | None
    """The subgroup in words, None for all rows."""
    method: str
    """How the numbers were obtained."""
    approximations: tuple[Approximation, ...] = field(repr=False)
    """Per feature its ALE and the segments that reproduce it, in the order of ``per_feature``."""

    def __repr__(self) -> str:
        """Say the three numbers, of which output and on how many rows."""
        where = "" if self.subgroup is None else f"; subgroup {self.subgroup}"
        return (
            f"<Complexity of {self.scale} {self.output!r}: {self.features_used} features used, interaction strength "
            f"{self.interaction_strength:.3g}, main effect complexity {self.main_effect_complexity:.3g}; {self.n_rows} rows{where}>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        return pd.DataFrame(
            {
                "output": [self.output],
                "features_used": [self.features_used],
                "interaction_strength": [self.interaction_strength],
                "main_effect_complexity": [self.main_effect_complexity],
            }
        )


def complexity(
    explainer: Explainer, *, bins: int = 40, subgroup: Any = None, output: Any = None, progress: bool | None = None
) -> Complexity:
    """Return how complex the model is.

    Parameters
    ----------
    explainer : Explainer
    bins : int
        Steps of each ALE.
    subgroup : mask, query string or object with ``.mask``, optional
    output : name, class label or position, optional
        The explainer's default output by default.
    progress : bool, optional
        Show a bar per feature; None means when it is slow.

    Returns
    -------
    Complexity

    Notes
    -----
    Molnar, Casalicchio & Bischl (2020), "Quantifying model complexity via functional decomposition for better post-hoc
    interpretability". IAS = mean (f - f_ALE)^2 / mean (f - mean f)^2 with f_ALE the sum of all first-order ALEs and the mean. The
    complexity of a feature is the smallest number of straight segments, each fitted to the rows it holds, that reproduce 95 % of its
    ALE's variance over the rows (of a category: of groups of levels, less one). A feature counts as used when replacing its
    value by that of a random other row changes the prediction of some row. The model is asked about 2 rows per row and feature for ALE
    and about two more for that.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = Explainer(lambda X: 2 * X[:, 0] - X[:, 1], X).complexity()
    >>> found.features_used, round(found.interaction_strength, 6), found.main_effect_complexity
    (2, 0.0, 1.0)
    """
    name = explainer.default_output if output is None else output
    k = explainer.response.position(name)
    mask, text = explainer.rows_of(subgroup)
    rows = np.arange(explainer.n_rows) if mask is None else np.flatnonzero(mask)
    weights = np.ones(len(rows)) if explainer.weights is None else explainer.weights[rows]
    prediction = answers(explainer.source, rows, {}, where="at their own values")[k]
    good = np.isfinite(prediction)
    additive = np.zeros(len(rows))
    table, approximations = [], []
    for feature in explainer.features.values():
        effect = ale(explainer, feature.name, bins=bins, subgroup=subgroup, progress=progress)
        own = np.zeros(len(rows))
        own[np.searchsorted(rows, effect.rows)] = effect.row_values[k]
        additive += own
        share = weights[good] / weights[good].sum()
        variance = float(share @ np.square(own[good] - share @ own[good]))
        used = bool((_replaced(explainer, feature, rows)[k] != prediction)[good].any())
        approximations.append(approximated(effect, k, explainer.weights))
        table.append((feature.name, used, approximations[-1].segments, variance))
    share = weights[good] / weights[good].sum()
    mean = share @ prediction[good]
    left, whole = share @ np.square(prediction - mean - additive)[good], share @ np.square(prediction - mean)[good]
    per_feature = pd.DataFrame(table, columns=["feature", "used", "segments", "variance"])
    total = per_feature["variance"].sum()
    rounding = 16 * (np.finfo(float).eps * np.abs(prediction[good]).max(initial=0.0)) ** 2
    columns = {j for feature in explainer.features.values() for j in feature.columns}
    strength = float(left / whole) if left > rounding else 0.0
    known = len(columns) == len(explainer.table.column_names) and np.count_nonzero(share) > 1
    return Complexity(
        features_used=int(per_feature["used"].sum()),
        interaction_strength=strength if known else np.nan,
        main_effect_complexity=float(per_feature["segments"] @ per_feature["variance"] / total)
        if total > rounding
        else 0.0,
        per_feature=per_feature,
        output=explainer.outputs[k],
        scale=explainer.scale,
        n_rows=len(rows),
        subgroup=text,
        method=MODEL,
        approximations=tuple(approximations),
    )


def compare_complexity(
    models: Sequence[Any] | Mapping[str, Any],
    X: Any = None,
    *,
    bins: int = 40,
    subgroup: Any = None,
    output: Any = None,
    progress: bool | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Return the three numbers of several models side by side.

    Parameters
    ----------
    models : sequence, or mapping of name to model
        Two or more models, or explainers, as ``compare`` takes them; these may also have other columns than each other. In a sequence
        they are named by their class.
    X : DataFrame, array, sparse matrix or list of rows, shape (n, p), optional
        The background rows; may be left out when all models are explainers.
    bins, subgroup, output, progress : optional
        As for ``complexity``.
    **options
        For the explainers that are made here, the same for all: ``response``, ``sample_weight``, ...; see ``Explainer``.

    Returns
    -------
    DataFrame
        One row per model, as ``Complexity.to_frame`` has it.

    Raises
    ------
    InputError
        For fewer than two models, a model without X, and whatever ``complexity`` refuses.
    TypeError
        For an unknown option.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import compare_complexity
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> models = {"sum": lambda X: X[:, 0] + X[:, 1], "product": lambda X: X[:, 0] * X[:, 1]}
    >>> compare_complexity(models, X)[["features_used", "interaction_strength"]].round(1)
             features_used  interaction_strength
    sum                  2                   0.0
    product              2                   0.9
    """
    named = explainers_of(models, X, options, caller="compare_complexity")
    asked: dict[str, Any] = {"bins": bins, "subgroup": subgroup, "output": output, "progress": progress}
    return pd.concat({name: complexity(model, **asked).to_frame() for name, model in named.items()}).droplevel(1)


def _replaced(explainer: Explainer, feature: Feature, rows: np.ndarray) -> np.ndarray:
    """Return the answers for rows with the feature of a random other row, NaN like the rows' own where that is the same."""
    other = np.random.default_rng(explainer.random_state).choice(explainer.n_rows, len(rows))
    vectors = explainer.table.values(feature, other)
    replaced = dict(zip(feature.columns, vectors, strict=True))
    return answers(explainer.source, rows, replaced, where=f"while {feature.name!r} is varied")
