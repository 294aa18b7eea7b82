"""The doors of results to their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Drawable"]


class Drawable:
    """A result with a figure.

    Options depend on what is drawn; ``output=`` (name, class label or position) is known to all that have several outputs, and by
    default stands for all curves of one feature and else for one output, of two classes the second.

    - Partial dependence: ``ice`` (True, False, or how many lines of single rows).
    - ALE of a pair: ``what`` "interaction" or "total"; decomposition: "interaction" or "joint".
    - Observed outcome: ``what`` "outcome" or "residual".
    - Importance: ``by`` (a measure) and ``top`` (most bars).
    - Interactions: ``what`` "matrix", "pairs" or "overall", ``by`` "strength" or "h2", and ``top``.
    - Rules: ``by`` "importance" or "coefficient", and ``top``; importance of rules: ``what`` "features" or "terms", and ``top``, of single
      rows also ``row``; overlap: ``by`` "jaccard", "correlation" or "containment", and ``top``.
    - Null distribution: ``pair`` or ``feature``, and ``by`` "strength" or "h2".
    - Complexity: ``feature`` (its effect and the segments that reproduce it), or ``what`` "features" and ``top``.
    - Trust in a curve: ``what`` "curve", "association" or "outside", and ``top``.
    """

    __slots__ = ()

    def to_bqplot(self, **options: Any) -> Any:
        """Return a ``bqplot.Figure`` to restyle, to compose with other widgets, or to link (``pdp_widgets.bqplot.link_bqplot``).

        Parameters
        ----------
        **options
            What to draw; see the class ``pdp_widgets.figures.Drawable``.

        Raises
        ------
        TypeError
            For an option that this result does not have.
        InputError
            For a value of an option that does not exist.
        ImportError
            Where bqplot cannot be imported.

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> result = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
        >>> figure = result.to_bqplot(ice=False)
        >>> figure.marks[0].y.tolist()
        [0.0, 2.0]
        """
        from pdp_widgets.bqplot import figure

        return figure(self, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the result with matplotlib (extra ``plot``), and return the axes, to be restyled and saved.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        **options
            What to draw; see the class ``pdp_widgets.figures.Drawable``.

        Raises
        ------
        TypeError
            For an option that this result does not have.
        InputError
            For a value of an option that does not exist.
        ImportError
            Without matplotlib.

        Examples
        --------
        >>> axes = result.plot(output="female")  # doctest: +SKIP
        >>> axes.figure.savefig("curve.pdf")  # doctest: +SKIP
        """
        from pdp_widgets.plot import plot

        return plot(self, ax, **options)
