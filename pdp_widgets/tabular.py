"""Tabular: what results that are tables have in common, files and the table in a notebook.

The table itself is each result's own ``to_frame``.
"""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tabular", "table_html"]

SHOWN = 10
"""Rows of a table in a notebook; of longer ones the first and last."""


class Tabular:
    """A result with ``to_frame``."""

    __slots__ = ()

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a table."""
        raise NotImplementedError

    def to_csv(self, path: str | os.PathLike[str], **which: Any) -> None:
        """Write ``to_frame`` as a CSV file.

        Parameters
        ----------
        path : path
        **which
            What ``to_frame`` of this result takes, such as ``output=``.

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> curve = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
        >>> curve.to_csv("curve.csv")  # doctest: +SKIP
        """
        frame = self.to_frame(**which)
        frame.to_csv(path, index=_has_names(frame))

    def to_parquet(self, path: str | os.PathLike[str], **which: Any) -> None:
        """Write ``to_frame`` as a parquet file; columns of values of several types become text.

        Parameters
        ----------
        path : path
        **which
            What ``to_frame`` of this result takes, such as ``output=``.

        Raises
        ------
        ImportError
            Without pyarrow.

        Examples
        --------
        >>> import numpy as np
        >>> from pdp_widgets import Explainer
        >>> curve = Explainer(lambda X: 2 * X[:, 0], np.array([[0.0], [1.0]])).partial_dependence("x0")
        >>> curve.to_parquet("curve.parquet")  # doctest: +SKIP
        """
        try:
            import pyarrow as pa
        except ImportError:
            raise ImportError(
                'to_parquet() needs pyarrow, which is not installed: python -m pip install "pdp_widgets[polars]" or pyarrow alone; '
                "to_csv() needs nothing"
            ) from None
        frame = self.to_frame(**which)
        for name in frame:
            if frame[name].dtype.kind != "O":
                continue
            try:
                pa.array(frame[name], from_pandas=True)
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
                frame[name] = frame[name].map(str, na_action="ignore")
        frame.to_parquet(path, engine="pyarrow", index=_has_names(frame))

    def _repr_html_(self) -> str:
        return table_html(repr(self), self.to_frame())


def table_html(text: str, frame: pd.DataFrame) -> str:
    """Return a line of text and a table for a notebook; names and values are data and never become markup."""
    line = html.escape(text.removeprefix("<").removesuffix(">")).replace("\n", "<br>")
    shown = frame.to_html(max_rows=SHOWN, index=_has_names(frame), border=0, float_format="{:.4g}".format, na_rep="")
    more = f"<p>{len(frame):,} rows in all: to_frame()</p>" if len(frame) > SHOWN else ""
    return f"<p>{line}</p>{shown}{more}"


def _has_names(frame: pd.DataFrame) -> bool:
    """Whether the rows have names rather than numbers."""
    import pandas as pd

    return not isinstance(frame.index, pd.RangeIndex)
