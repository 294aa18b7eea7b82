"""The traits that travel between Python and the page, each described right below it.

``js/src/model.ts`` mirrors this list. Arrays are ``{view, dtype, shape}`` (see ``wire.py``); axis positions are in the unit
of the feature's axis: numbers as they are, dates and durations in milliseconds, categories as grid position.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anywidget
import traitlets as t

from pdp_widgets.inputs import InputError, PDPWidgetsError

from .carry import packed

__all__ = ["BUNDLE", "PICTURES", "STATE", "BundleError", "WidgetInputError", "WidgetTraits", "require_bundle"]

BUNDLE = Path(__file__).parent.parent / "static" / "widget.js"
"""The page's code, built from ``js/``."""


HOT_RELOAD = os.environ.get("ANYWIDGET_HMR") == "1" and BUNDLE.is_file()
"""Whether pages follow changes of the bundle (for work on the front end)."""


class BundleError(PDPWidgetsError, RuntimeError):
    """The browser bundle is not there."""


class WidgetInputError(InputError, t.TraitError):
    """A trait was set to something that does not exist; the trait keeps its value."""


SORTS = ("importance", "heterogeneity", "weighted", "permutation", "total", "rulefit", "name", "order")
"""What the feature list can be sorted by."""


def require_bundle() -> None:
    """Make sure that the page's code is there.

    Raises
    ------
    BundleError
        With how to build it.
    """
    if not BUNDLE.is_file():
        msg = (
            f"the browser part of pdp_widgets is not built: {BUNDLE} is missing. In a checkout run "
            "'cd js && npm ci && npm run build' (or 'pip install .', which does it) and restart Python."
        )
        raise BundleError(msg)


def _private(default: Any = None) -> Any:
    """A picture for the page; the page never sends it back."""
    return t.Dict(default or {}).tag(sync=True, echo_update=False)


class Focus(t.TraitType):
    """A trait that decides what is on screen: it changes between two pictures, not while one is made."""

    def set(self, obj: Any, value: Any) -> None:
        """Change the value, and all that follows from it, at once."""
        with obj.changing():
            try:
                super().set(obj, value)
            except InputError as error:
                raise error.with_traceback(None) from None  # the message says it all; traitlets' inner ways do not help


class WidgetTraits(anywidget.AnyWidget):
    """The synced state of a widget, and nothing else."""

    # anywidget's own watching of a file holds every widget ever made; only work on the page needs it.
    _esm: Any = BUNDLE if HOT_RELOAD else t.Unicode().tag(sync=True)

    feature: Any = Focus("").tag(sync=True)
    """The feature in focus; may be set to its name, column label or position."""

    output: Any = Focus("").tag(sync=True)
    """The output in focus (the class, of a classifier); may be set to its name, label or position."""

    model: Any = Focus("").tag(sync=True)
    """The model that the page is about, by its name; empty where one was given without a name."""

    show_models = t.Bool(default_value=True).tag(sync=True)
    """Whether the other models' curves of the focused feature are drawn beside its own, where there are several models."""

    centered = t.Bool(default_value=False).tag(sync=True)
    """Whether each curve starts at 0: it is drawn minus its value at the first grid point."""

    show_ice = t.Bool(default_value=True).tag(sync=True)
    """Whether the lines of single rows are drawn."""

    sort_by = t.Enum(SORTS, "importance").tag(sync=True)
    """What the features are sorted by, and the bar beside each: PD importance, how far rows disagree ("heterogeneity"), PD importance
    where the rows are ("weighted"), permutation importance (with ``y``), the total effect (PDI), the weight in the rules, the name, or
    "order", that of the columns."""

    pair: Any = Focus(()).tag(sync=True)
    """The two features whose surface is shown; empty: the focused feature and the one that it interacts with most."""

    effect = t.Enum(["pd", "ale"], "pd").tag(sync=True)
    """Which effect the curves show: partial dependence, or accumulated local effects."""

    by: Any = Focus("").tag(sync=True)
    """The feature whose levels have a curve each, or a condition such as ``"temp < 14"`` that divides the rows; empty for none. Several
    conditions, or regions, have a curve each: ``widget.by = explainer.regions("temp").regions``, as text with semicolons between them. So
    have the bookmarks: ``"bookmarks"`` (``"@bookmarks"`` where a feature is called so)."""

    color_by: Any = Focus("").tag(sync=True)
    """The feature whose values colour the lines of single rows; empty for none."""

    derivative = t.Bool(default_value=False).tag(sync=True)
    """Whether slopes are drawn instead of values (d-ICE), where the axis is a number or a date; goes before ``centered``."""

    row: Any = Focus(None).tag(sync=True)
    """The row that the rules are read for ("why this row?"), by its position as ``RuleFitRegressor.explain_row`` takes it: -1 is the last
    one; of a row's label ``X.index.get_loc`` is the position. Where the explainer has a ``background`` of fewer rows, among these; None for
    all rows."""

    panels: Any = Focus(()).tag(sync=True)
    """Names of the panels that the page shows beside the curves, in its own order."""

    bookmarks: Any = Focus({}).tag(sync=True)
    """Selections by name: ``{"warm": "temp > 20"}``; may be set to whatever ``select`` takes, by name."""

    notes: Any = Focus({}).tag(sync=True)
    """What the person has written about bookmarks, by their names; a note goes with its bookmark."""

    theme = t.Enum(["auto", "light", "dark"], "auto").tag(sync=True)
    """Colours; "auto" follows the host."""

    size = t.Enum(["normal", "large"], "normal").tag(sync=True)
    """Size of text and marks; "large" is for projectors."""

    # What a panel shows carries its ``status``: {state: "idle"|"running"|"done"|"ask"|"stopped"|"failed", message|null, cost: model
    # rows, stale: whether it is that of an earlier focus}. "ask": the cost is above what is spent without a word of the person's.

    _info = _private()
    """{model, models: all names where there are several, rows, rows_given, weighted, scale, outputs, features: [{name, kind, n_levels|null, missing, infinite}], protocol}."""

    _sample = _private()
    """{rows: int32[m], labels: [str], weight: float32[m]|null}: the rows whose own curves the page holds, the same for all features."""

    _overview = _private()
    """Sparklines: {output, features: [{name, rows, total, importance|null, importance_selected|null (of the selection's curve), heterogeneity|null, error|null}], points: [int],
    ends: float64[p, 2] of the axis (NaN: levels, or not known yet), all, selection|null, rest|null: float32[p, 24] with NaN for not known yet, n_selection, n_rest}.
    ``importance`` and ``heterogeneity`` have the unit of the prediction."""

    _curve = _private()
    """The focused feature: {feature, output, kind, integer, x: float64[K], labels, missing: index or -1, average: float64[K],
    stderr: float64[K]|null (null: exact), rows, total, thin: uint8[K], hist: {edges: float64[B+1]|null, counts: int32[B]},
    deciles: float64[9]|null, missing_count, infinite_count, note, error|null, heterogeneity|null, importance|null}."""

    _ice = _private()
    """{feature, output, offset, values: float32[m, K], own: float64[m], fitted: float32[m]}: the sampled rows' curves, own positions
    and predictions; ``offset`` is to be added to values and fitted."""

    _split = _private()
    """{} or {feature, output, selection_id, exact, selection: {average: float64[K], n, counts: int32[B], thin: uint8[K]},
    rest: {...}}; ``thin`` is relative to the side's own rows."""

    _selection = _private()
    """{id, text ("" for none), n, total, conditions: the plain parts that a brush can take over, marks: those that can be drawn only,
    sample: uint8[m], can_undo, can_redo, names: {"@curves1": what it is, in words}}. A rectangle among the conditions carries the
    same two as ``name`` and ``about``."""

    _bookmarks = _private()
    """How many rows each bookmark selects, by name."""

    _progress = _private({"state": "idle", "done": 0, "total": 0, "label": "", "message": None})
    """{state: "idle"|"running"|"stopped"|"failed", done, total (model rows), label, message|null}."""

    _importance = _private()
    """{output, features, score|null, note, all: {computed: uint8[F], MEASURE: float64[F], ..._stderr}, selection: the same|null,
    n, n_selection, status}."""

    _interactions = _private()
    """{output, features: names, the most important first, left_out, pairs: int32[P, 2] positions among ``features``, the most promising
    first, h2, h2_stderr, strength, strength_stderr: float32[P] (NaN: not computed), dependent: uint8[P], pairs_done,
    overall_h2, overall_strength, main_strength: float32[F], total_h2|null, total_h2_stderr|null, rows, rows_total, method, scale,
    more: model rows for more exact numbers|null, refining: share done of these|null, status}."""

    _effects = _private()
    """{feature, output, effect, by, selection_id (0: depends on none), ale: {all, selection, rest: {x: float64[K] (levels as positions in
    the curve's own grid), values (plus the rows' mean prediction), n}|null}|null, groups: {by, codes: uint8[m] of the sampled rows (255:
    none), selected: whether of the selected rows only, levels: [{label, condition, n, x|null (the curve's own), values|null, thin: uint8[K]
    (few rows of the group there)|null (not told: ALE)}]}|null,
    models: {selected: whether of the selected rows only, lines: [{name, hue: its position among all models, n, total (rows it will stand
    on), x|null, values|null, thin|null: as of a group}]}|null,
    observed: {x, outcome, predicted, residual, stderr (of the residual), n: int32}|null, outputs: {names, averages: float64[O, K]}|null,
    hints: [{kind, severity, text, about}]|null (not known yet), colour: {feature, kind, labels|null, values: float[m]}|null, notes: [str],
    status}."""

    _regions = _private()
    """{feature, output, here: {splits: [{within ("" for all rows), by, condition, gain, gain_check: shares of the disagreement, sides:
    [{text, label, n}, ...]}], leaves: [{text, label, n}] what all splits together leave, reason (why there are none), heterogeneity, rows, rows_total}|null, all: [{feature, by, text, label, removed,
    size, n}] first splits, those that remove most first, done, total: features, status}."""

    _heatmap = _private()
    """{first, second, output, a, b: {feature, kind, integer, x: float64[K], labels, at: int32[K] (index in the feature's own grid; -1 for
    numbers), missing, left_out, hist: {edges, counts, selected|null}}, average: float64[Ka, Kb], main_a: float64[Ka]|null, main_b,
    mean|null (interaction: average - main_a - main_b + mean), counts: int32[Ka, Kb] (rows nearest each cell, unweighted),
    selection: float64[Ka, Kb]|null, rest, selection_id, n_selection, n_rest (among ``rows``), rows, total, more|null (rows that can be
    asked for), h2|null, strength|null, exact, status}."""

    _rules = _private()
    """{id, output, kind ("model"|"surrogate"|"outcome"), of, describes, link, fidelity|null, rows (fitted to), rows_total, more|null (rows
    to be asked for), intercept, start (the sum where no rule holds and numbers are at their means), as_seen, left_out, features, focus
    (the widget's feature that each belongs to, or ""), conditions: {feature: int32[C], words, texts, low, high: float64[C] (NaN: open),
    levels: [[int]|null]} with both null where that cannot be drawn, parts: int32[..] positions among the
    conditions, ends: int32[K] of each term's parts, main: int32[K] most important feature, weight: float32[F] of each feature, type: uint8[K] (0 rule, 1 number, 2 level),
    coefficient, support, importance (the largest is 100), inside, outside: float32[K], n: int32[K] (-1: unknown), largest|null
    (importance that is 100, in the unit of the sum), limits: of the linear terms in their order, path: {terms: int32[A], explained: float32[A], at}|null, cluster:
    int32[K] (-1: none)|null, selection: {importance, support: float32[K], n}|null, selection_id, stability: {back: float32[K] (share of
    the refits that have the term, too; NaN before the first), done, total: refits}|null (not asked for), outcome (whether there is one), status}."""

    @t.default("_esm")
    def _read_bundle(self) -> str:
        return packed(BUNDLE.read_text(encoding="utf-8"))


STATE = frozenset(WidgetTraits.class_own_traits(sync=True)) - {"_esm"}
"""All traits here."""

PICTURES = frozenset(name for name in STATE if name.startswith("_"))
"""What only the kernel sets."""
