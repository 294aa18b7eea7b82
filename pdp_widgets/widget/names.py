"""What a person calls things when setting a trait, as the name that the trait keeps."""

from __future__ import annotations

import re
from collections.abc import Collection
from numbers import Integral
from typing import TYPE_CHECKING, Any

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.errors import unknown_name

from . import bookmarks
from .panels import PANELS
from .panels.groups import conditions_of
from .traits import WidgetInputError

if TYPE_CHECKING:
    from pdp_widgets.explain import Explainer

__all__ = ["by_of", "feature_of", "output_of", "pair_of", "panels_of", "row_of"]

_CONDITION = re.compile(r"[<>=(~|&]|\b(in|not)\b")


def feature_of(explainer: Explainer, given: Any) -> str:
    """Return the name of a feature, of a column's label or position."""
    try:
        name = explainer.table.feature(given).name
    except InputError as error:
        raise WidgetInputError(str(error)) from None
    if name not in explainer.features:
        raise WidgetInputError(f"feature {name!r} is not among the features of this widget")
    return name


def output_of(explainer: Explainer, given: Any) -> str:
    """Return the name of an output, of its class label or position."""
    try:
        return explainer.outputs[explainer.response.position(given)]
    except InputError as error:
        raise WidgetInputError(str(error)) from None


def pair_of(explainer: Explainer, given: Any) -> tuple[str, ...]:
    """Return the names of two features; none for nothing."""
    names = () if isinstance(given, str) and not given else _names(given)
    pair = tuple(feature_of(explainer, name) for name in names)
    if not pair:
        return ()
    if len(pair) != 2 or pair[0] == pair[1]:
        raise WidgetInputError(f"pair={given!r}; expected two different features, such as ('temp', 'hum'), or ()")
    return pair


def by_of(explainer: Explainer, given: Any, marked: int) -> str:
    """Return what divides rows into groups: a feature, ``bookmarks.key`` for the ``marked`` bookmarks, a condition, or several."""
    if given is None or (isinstance(given, str | list | tuple) and not given):
        return ""
    if isinstance(given, list | tuple):  # of conditions or regions
        given = "; ".join(str(getattr(one, "text", one)) for one in given)
    if isinstance(given, str) and given == bookmarks.key(explainer.features):
        if marked < bookmarks.LEAST_GROUPS:
            raise WidgetInputError(
                f"by={given!r} compares bookmarks, and there are {marked}; keep two or more selections with "
                "bookmark('name', 'temp > 20')"
            )
        return given
    try:
        return feature_of(explainer, given)
    except WidgetInputError:
        if not isinstance(given, str) or not _CONDITION.search(given):
            raise
    try:
        return "; ".join(node.text for node in conditions_of(given, explainer.table))
    except InputError as error:
        raise WidgetInputError(str(error)) from None


def row_of(explainer: Explainer, given: Any) -> int | None:
    """Return a row's position, counted from the end where it is below 0; None for none."""
    n = explainer.n_rows
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Integral) or not -n <= int(given) < n:
        raise WidgetInputError(
            f"row={given!r} is no position among the {n:,} rows; a row is known by its position from 0 to {n - 1}, not by its "
            "label: X.index.get_loc(label)"
        )
    return int(given) % n


def panels_of(given: Any) -> tuple[str, ...]:
    """Return the names of panels in the page's order."""
    names = _names(given)
    for name in names:
        if not isinstance(name, str) or name not in PANELS:
            raise WidgetInputError(str(unknown_name("panel", name, PANELS, "one of the widget's panels")))
    return tuple(name for name in PANELS if name in names)


def _names(given: Any) -> tuple[Any, ...]:
    """Return none, one or several names as a tuple."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, Collection) and not isinstance(given, str) else (given,)
