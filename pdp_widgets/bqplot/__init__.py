"""Results as ordinary bqplot figures, to restyle and to compose with other widgets, and their link with a ``PDPWidget``.

A figure made here is a plain ``bqplot.Figure``: its marks, scales and axes are the user's to change. What is in it is said in
``pdp_widgets.figures``; bqplot itself is imported when a figure is made.
"""

from .drawing import figure
from .link import Link, link_bqplot

__all__ = ["Link", "figure", "link_bqplot"]
