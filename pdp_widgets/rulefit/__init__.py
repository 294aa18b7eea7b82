"""RuleFit: sparse sums of rules and linear terms (Friedman & Popescu 2008), and the rules of other models."""

from __future__ import annotations

from .estimator import RuleFitClassifier, RuleFitRegressor
from .ruleset import RuleSet
from .terms import Linear, Rule

__all__ = ["Linear", "Rule", "RuleFitClassifier", "RuleFitRegressor", "RuleSet"]
