"""Figures of results: what is drawn, said once for bqplot and matplotlib.

``describe`` turns a result into ``Curves``, ``Bars``, a ``Surface`` or a ``Histogram`` (``parts.py``), which hold the result's own numbers with their
names; ``pdp_widgets.bqplot`` and ``pdp_widgets.plot`` draw these. Neither of the two libraries is imported here.
"""

from .describe import describe
from .door import Drawable
from .parts import Axis, Bars, Curves, Figure, Histogram, Series, Surface

__all__ = ["Axis", "Bars", "Curves", "Drawable", "Figure", "Histogram", "Series", "Surface", "describe"]
