"""The notebook face: PDPWidget."""

from .pdp_widget import PDPWidget
from .selection import Selection

__all__ = ["PDPWidget", "Selection"]
