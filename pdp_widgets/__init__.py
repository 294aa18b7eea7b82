"""Look inside fitted models: partial dependence and ICE curves, as numbers and as linked, brushable views in Jupyter.

The names are resolved on first use, so that `pdp_widgets.explain` works on a server without Jupyter.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdp_widgets.explain import Explainer, PartialDependence
    from pdp_widgets.explain.comparison import compare
    from pdp_widgets.explain.complexity import compare_complexity
    from pdp_widgets.rulefit import RuleFitClassifier, RuleFitRegressor, RuleSet
    from pdp_widgets.widget import PDPWidget

__version__ = "0.1.0"
__all__ = [
    "Explainer",
    "PDPWidget",
    "PartialDependence",
    "RuleFitClassifier",
    "RuleFitRegressor",
    "RuleSet",
    "__version__",
    "compare",
    "compare_complexity",
]

_HOMES = {
    "Explainer": "pdp_widgets.explain",
    "PartialDependence": "pdp_widgets.explain",
    "PDPWidget": "pdp_widgets.widget",
    "RuleFitClassifier": "pdp_widgets.rulefit",
    "RuleFitRegressor": "pdp_widgets.rulefit",
    "RuleSet": "pdp_widgets.rulefit",
    "compare": "pdp_widgets.explain.comparison",
    "compare_complexity": "pdp_widgets.explain.complexity",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
