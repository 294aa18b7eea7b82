"""Explanations as plain results; nothing here knows of widgets."""

from .explainer import Explainer
from .ice import Ice
from .results import PartialDependence

__all__ = ["Explainer", "Ice", "PartialDependence"]
