"""From results to figures: which function describes which result."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pdp_widgets.inputs.errors import did_you_mean

if TYPE_CHECKING:
    from .parts import Figure

# By name, so that drawing a curve does not import what rules are made of.
_HOMES = {
    "PartialDependence": "effects.partial_dependence",
    "ALE": "effects.ale",
    "GroupedDependence": "effects.grouped",
    "Comparison": "effects.comparison",
    "Regions": "effects.regions",
    "ObservedOutcome": "effects.observed",
    "Decomposition": "effects.decomposition",
    "Importance": "bars.importance",
    "Interactions": "bars.interactions",
    "Interaction": "bars.interaction",
    "InteractionNetwork": "bars.network",
    "Suggestions": "bars.suggestions",
    "RuleSet": "rules.ruleset",
    "Rules": "rules.rules",
    "RuleImportance": "rules.rule_importance",
    "RowExplanation": "rules.row",
    "Stability": "rules.stability",
    "LocalImportance": "rules.local_importance",
    "Overlap": "rules.overlap",
    "NullDistribution": "checks.null",
    "Complexity": "checks.complexity",
    "FeatureTrust": "checks.feature_trust",
    "PairTrust": "checks.pair_trust",
}


def describe(result: Any, **options: Any) -> Figure:
    """Return the figure of a result.

    Parameters
    ----------
    result : result object
    **options
        See ``Drawable``.

    Raises
    ------
    TypeError
        For something without a figure, and for an option that it does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> result = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
    >>> curves = describe(result)
    >>> curves.x.values.tolist(), curves.series[0].y.tolist(), curves.title
    ([0.0, 1.0], [0.0, 2.0], 'x0 (2 of 2 rows)')
    """
    home = next((_HOMES[kind.__name__] for kind in type(result).__mro__ if kind.__name__ in _HOMES), None)
    if home is None:
        raise TypeError(f"a {type(result).__name__} has no figure; it can be a {', '.join(_HOMES)}")
    module, name = home.split(".")
    function = getattr(import_module(f".{module}", __package__), name)
    known = [name for name in inspect.signature(function).parameters if name != "result"]
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known) or f"; it has {', '.join(known) or 'no options'}"
            raise TypeError(f"the figure of a {type(result).__name__} has no option {option!r}{hint}")
    return function(result, **options)
