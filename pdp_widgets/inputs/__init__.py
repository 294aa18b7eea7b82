"""What the user hands over: X, the model, and the points to look at."""

from .columns import Observed
from .errors import InputError, NotCachedError, PDPWidgetsError, PredictionError
from .grid import Grid, make_grid
from .response import Response, find_output, model_name
from .table import Feature, FeatureTable

__all__ = [
    "Feature",
    "FeatureTable",
    "Grid",
    "InputError",
    "NotCachedError",
    "Observed",
    "PDPWidgetsError",
    "PredictionError",
    "Response",
    "find_output",
    "make_grid",
    "model_name",
]
