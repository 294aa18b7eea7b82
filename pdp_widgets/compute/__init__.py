"""How work runs: mergeable sums, chunks of model rows, one background worker."""

from .chunks import Evaluator, Pace
from .moments import Moments

__all__ = ["Evaluator", "Moments", "Pace"]
