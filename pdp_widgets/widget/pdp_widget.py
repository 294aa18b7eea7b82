"""PDPWidget: what the notebook's user holds in hands."""

from __future__ import annotations

import inspect
import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import traitlets as t

from pdp_widgets.explain import Explainer
from pdp_widgets.explain.results import in_words
from pdp_widgets.inputs import InputError, PDPWidgetsError
from pdp_widgets.inputs.errors import did_you_mean, unknown_name

from . import bookmarks, code, export, files, models, names, picture, protocol, results, state, still
from .answers import Answers
from .controller import Arrangement, Look
from .panels import PANELS
from .part import PARTS, Part
from .results import Results
from .selection import History, Selection, to_wire
from .traits import PICTURES, Focus, WidgetInputError, WidgetTraits, require_bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path
    from types import MappingProxyType
    from typing import Literal

    import numpy as np

    from .controller import Controller
    from .panels.groups import Group
    from .selection import IceBox, Op

__all__ = ["PDPWidget"]

logger = logging.getLogger(__name__)

_EXPLAINER_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(Explainer).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
}
_VIEW_OPTIONS = {
    "feature", "output", "model", "show_models", "centered", "show_ice", "sort_by", "pair", "effect", "by", "color_by", "derivative", "row", "panels", "bookmarks", "notes",
    "theme", "size",
}  # fmt: skip
_HOST_OPTIONS = {"layout", "tooltip", "tabbable"}
_FIRST_ROWS_SECONDS = 0.2  # how long showing the widget waits for something to be in its still picture


class PDPWidget(WidgetTraits):
    """Look inside a fitted model: linked, brushable partial dependence and ICE curves.

    Shown at once, then ever more precise: the work runs in the background, what is on screen first.

    Parameters
    ----------
    model : estimator, pipeline, booster, callable or Explainer, or several of them
        Anything that predicts from ``X``. An ``Explainer`` is shared with what it has computed; then ``X`` is left out. Several, as
        ``{"forest": a, "linear": b}`` or in a list: the page is about one of them, ``widget.model``, and draws the others' curves
        beside its own. They need the same rows and features, one response scale, and an output in common.
    X : DataFrame, array, sparse matrix or list of rows, shape (n, p)
        The background rows, exactly as the model takes them. Never modified.
    y : (n,) array, optional
        The observed outcome.
    features, response, sample_weight, background, grid_size, random_state, executor, nan_predictions
        As for ``Explainer``.
    output : str, optional
        The output to show first: a class label, name or position; the positive class or the first output by default.
    **options
        ``feature``: what to show first; by default the first column, and as soon as all are known (within seconds, or not at
        all) the most important feature, unless something was done in between. ``centered``, ``show_ice``, ``show_models``, ``sort_by``, ``panels``, ``bookmarks``, ``theme``, ``size``: how to show it; like
        ``feature`` and ``output`` they can be read and set at any time (``widget.feature = "temp"``). Further options of
        ``Explainer``, and ``layout`` as for every Jupyter widget.

    Raises
    ------
    TypeError
        For an unknown option, with the nearest known one.
    InputError
        When X, the model or an option cannot be used; the message says what to do.

    Examples
    --------
    >>> w = PDPWidget(model, X)  # doctest: +SKIP
    >>> w.feature = "temp"  # doctest: +SKIP
    >>> w.select("temp > 20 & season == 'SUMMER'").n  # doctest: +SKIP
    """

    selection: Any = Focus()
    """The selected rows (``.mask``, ``.conditions``, ``.text``, ``.n``); may be observed, and set to whatever ``select`` takes."""

    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: Sequence[Any] | Mapping[Any, Any] | None = None,
        output: Any = None,
        response: str | Callable[[Any, Any], Any] = "auto",
        sample_weight: Any = None,
        background: int | None = None,
        grid_size: int = 40,
        random_state: int = 0,
        executor: Executor | None = None,
        nan_predictions: Literal["raise", "omit"] = "raise",
        **options: Any,
    ) -> None:
        require_bundle()
        listed = {
            "features": features,
            "output": output,
            "response": response,
            "sample_weight": sample_weight,
            "background": background,
            "grid_size": grid_size,
            "random_state": random_state,
            "executor": executor,
            "nan_predictions": nan_predictions,
        }
        options |= {name: value for name, value in listed.items() if value is not _EXPLAINER_DEFAULTS[name]}
        _check(options)
        view = {name: options.pop(name) for name in _VIEW_OPTIONS | _HOST_OPTIONS if name in options}
        self._lock = threading.RLock()
        self._models = models.Models(models.read(model, X, y, options), self, self._lock)
        self._given = {"models": model, "X": X, "y": y}  # as they were given: what they are called is looked up
        self._history = History(self.explainer)
        self._history.model = self._models.mark
        self._elsewhere: set[str] = set()  # panels in other cells
        self._controller: Controller | None = None
        self._answers = Answers(self, self._history, self._models, lambda: self._running, self._elsewhere)
        self._marked: tuple[Group, ...] = ()  # the bookmarks as groups, when somebody wants them
        self._local = threading.local()
        self._files = files.Files()
        self._checker = protocol.Checker(
            self.explainer.features, self.explainer.outputs, self.explainer.grid, panels=PANELS
        )
        pair = view.get("pair")
        if "feature" not in view and isinstance(pair, list | tuple) and pair:
            view["feature"] = pair[0]
        chosen = "feature" in view
        view["feature"] = names.feature_of(self.explainer, view.get("feature", next(iter(self.explainer.features))))
        view["output"] = names.output_of(self.explainer, view.get("output", self.explainer.default_output))
        view |= {"model": self._models.name, "panels": view.get("panels", tuple(PANELS))}
        pictures = {
            "_info": self._new_info(),
            "_selection": self._selection_wire(self._history.current),
        }
        running = {"state": "running", "done": 0, "total": 0, "label": "", "message": None}
        super().__init__(selection=self._history.current, _progress=running, **pictures, **view)
        self._may_lead = not chosen
        self._controller = self._models.first(self.feature, self.output)
        self._arranged()
        self.on_msg(self._on_message)
        self._controller.start()

    # ---- what the person reads and does ----------------------------------------------------

    @property
    def explainer(self) -> Explainer:
        """The explainer of the model that the page is about."""
        return self._models.explainer

    @property
    def explainers(self) -> MappingProxyType[str, Explainer]:
        """The explainers of all models by name; ``widget.explainers[widget.model]`` is ``widget.explainer``."""
        return self._models.explainers

    @property
    def results(self) -> Results:
        """What is on screen of ``widget.model`` as result objects, as far as it is computed; of other models ask ``explainers``.

        ``"all"``: the focused feature; ``"selection"`` and ``"rest"`` as well when rows are selected and the curves are cached;
        ``"importance"``, ``"interactions"``, ``"heatmap"`` and ``"rules"``, all over all rows, once these panels know something.
        """
        controller = self._running
        focused = results.curves(controller, self.feature, self.output, self.selection)
        return Results({**focused, **results.panels(controller)})

    def results_of(self, feature: Any) -> Results:
        """Return the curves of any feature, as far as they are computed: ``"all"``, ``"selection"`` and ``"rest"`` as in ``results``.

        Parameters
        ----------
        feature : name, column label or position
        """
        name = names.feature_of(self.explainer, feature)
        return Results(results.curves(self._running, name, self.output, self.selection))

    def compute(self, *panels: str) -> None:
        """Compute panels although no page may show them; ``wait()`` waits, ``results`` has what they find.

        Parameters
        ----------
        *panels : str
            Names such as "importance" or "interactions".

        Examples
        --------
        >>> w.compute("importance")  # doctest: +SKIP
        """
        for name in panels:
            if name not in PANELS:
                raise InputError(str(unknown_name("panel", name, PANELS, "one of the widget's panels")))
        self._elsewhere |= set(panels)
        board = self._running.board
        board.open(board.opened | self._elsewhere)

    def select(self, subgroup: Any = None, *, op: Op = "replace") -> Selection:
        """Select rows; every view answers for them.

        Parameters
        ----------
        subgroup : str, (n,) bool mask, condition, Selection or None
            A query such as ``"temp > 20 & season == 'SUMMER'"``; None selects nothing, so that all rows count.
        op : {"replace", "add", "remove"}
            Instead of what is selected, in addition to it, or take away from it.

        Returns
        -------
        Selection

        Raises
        ------
        InputError
            For a query that cannot be read or names an unknown feature, or a mask of another length.
        """
        if op not in ("replace", "add", "remove"):
            raise InputError(f"op={op!r}; expected 'replace', 'add' or 'remove'")
        with self.changing():
            node = self._history.read(subgroup)
            if op == "replace":
                return self._show(self._history.set(node))
            return self.selection if node is None else self._show(self._history.combine(op, node))

    def brush(self, subgroup: Any, *, gesture: str | None = None) -> Selection:
        """Select as the page's own brushes do: in the place of what is selected by the same features; the rest stays.

        Parameters
        ----------
        subgroup : str, (n,) bool mask or condition
            As for ``select``.
        gesture : str, optional
            A name for one movement of the hand: what it selects on its way is undone in one step.

        Examples
        --------
        >>> w.brush("20 <= temp <= 30", gesture="drag 1")  # doctest: +SKIP
        """
        with self.changing():
            node = self._history.read(subgroup)
            if node is None:
                raise InputError("brush() of no rows in particular; clear() selects nothing")
            return self._show(self._history.combine("replace", node, gesture))

    def clear(self) -> None:
        """Select nothing: all rows count."""
        if self.selection:
            self.select(None)

    def invert(self) -> Selection:
        """Select the other rows."""
        with self.changing():
            return self._show(self._history.invert())

    def undo(self) -> Selection:
        """Go back to the selection before."""
        with self.changing():
            return self._show(self._history.undo())

    def redo(self) -> Selection:
        """Take back ``undo``."""
        with self.changing():
            return self._show(self._history.redo())

    def bookmark(self, name: str, subgroup: Any = None, *, note: str | None = None) -> None:
        """Keep a selection by name: ``select(bookmarks[name])``, or a click, goes back to it.

        Parameters
        ----------
        name : str
            A bookmark of this name is replaced.
        subgroup : str, mask, condition or Selection, optional
            Whatever ``select`` takes; by default what is selected.
        note : str, optional
            What there is to say about it; see ``notes``.

        Raises
        ------
        InputError
            When there is nothing to keep.
        """
        self.bookmarks = {**self.bookmarks, name: self.selection if subgroup is None else subgroup}
        if note is not None:
            self.notes = {**self.notes, name: note}

    def view(self, *parts: str) -> Part:
        """Return some parts of the page, to be shown in another cell: the same state in a view of its own.

        Parameters
        ----------
        *parts : str
            Panels such as "rules" or "heatmap", "features" (with importance) or "curves" (with effects and regions).

        Returns
        -------
        Part
            A Jupyter widget.

        Examples
        --------
        >>> w.view("rules")  # doctest: +SKIP
        """
        known = (*PARTS, *PANELS)
        if not parts:
            raise InputError(f"view() of what? There are {', '.join(known)}")
        for name in parts:
            if name not in known:
                raise InputError(
                    str(unknown_name("part", name, known, "one of the widget's panels, features or curves"))
                )
        self._elsewhere |= {name for name in parts if name in PANELS}
        board = self._running.board
        if board.opened:
            board.open(board.opened | self._elsewhere)
        return Part(of=f"IPY_MODEL_{self.model_id}", parts=list(parts))

    @property
    def view_state(self) -> dict[str, Any]:
        """What is in focus, how it is shown, what is selected and bookmarked, as plain data for ``json.dump``.

        Setting it arranges the widget so, also another one of the same features; what it leaves out stays. Sets of rows without a
        condition (rectangles on curves, masks) fit the same number of rows only.

        Examples
        --------
        >>> other.view_state = widget.view_state  # doctest: +SKIP
        """
        return state.get(self, self._history)

    @view_state.setter
    def view_state(self, given: dict[str, Any]) -> None:
        with self.changing():
            state.put(self, self._history, given)

    def stop(self) -> None:
        """Stop computing; what is there stays."""
        self._running.stop()

    def resume(self) -> None:
        """Go on computing, also after an error."""
        self._running.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until everything is computed (Ctrl-C interrupts the wait only).

        Parameters
        ----------
        timeout : float, optional
            Seconds.

        Returns
        -------
        bool
            Whether it is.
        """
        if self._may_not_wait:
            raise RuntimeError("wait() inside an observer would wait for itself")
        return self._running.wait(timeout)

    def export_html(self, path: str | Path, *, title: str | None = None, timeout: float | None = 60.0) -> Path:
        """Write a page that shows the widget without Python, offline: curves and brushing from the sampled rows.

        Parameters
        ----------
        path : path
            The file to write.
        title : str, optional
            Its title.
        timeout : float, optional
            How many seconds to wait for what is still being computed; None for as long as it takes.

        Returns
        -------
        pathlib.Path
        """
        board = self._running.board
        board.open({*board.opened, *self.panels})
        self.wait(timeout)
        beside = self._running.beside(timeout)
        with self._lock:
            return export.write_html(self, self._screen, beside, path, title or export.title(self._info["model"]))

    def save_image(
        self,
        path: str | Path,
        what: str = "curves",
        *,
        mode: str | None = None,
        scale: int = 2,
        timeout: float | None = 60.0,
    ) -> Path:
        """Write a picture of the focused curves or of a panel, made in Python: no browser has to show the widget.

        It shows what the page shows, of the selection, too, in the page's light colours. Not in it: observed means, the selection's
        importance, the matrix and the network of interactions; of bars there are the 15 largest.

        Parameters
        ----------
        path : path
            The file to write, an .svg or a .png (which needs Pillow).
        what : {"curves", "importance", "interactions", "heatmap", "rules"}
            What to draw.
        mode : {"classes", "selection", "difference", "interaction"}, optional
            What is switched on the page alone: of the curves "classes", of the heatmap one of the others.
        scale : int
            Pixels of a .png per pixel of the page.
        timeout : float, optional
            How many seconds to wait for what is still being computed; None for as long as it takes.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another name or ending, and for a panel that is not computed.
        ImportError
            For a .png without Pillow.

        Examples
        --------
        >>> w.save_image("effect.svg")  # doctest: +SKIP
        >>> w.save_image("pairs.png", "interactions")  # doctest: +SKIP
        """
        still.check(path, what, mode)
        self._compute(what, timeout, outputs=mode == "classes")
        with self._lock:
            return files.save_image(self, path, what, mode, scale)

    def save_table(self, path: str | Path, what: str = "curves", *, timeout: float | None = 60.0) -> Path:
        """Write the numbers behind the focused curves or a panel, with the columns of their result's ``to_frame``.

        They are those of the output in focus. With rows selected, curves, importance and heatmap have a column ``rows``
        that says of which ("all", "selection", "rest"). Of curves there are all that are drawn, except the partial dependence
        behind ALE: groups have columns ``level`` and ``n`` (no level: all rows), several models ``model`` and ``n``.

        Parameters
        ----------
        path : path
            The file to write, a .csv or a .parquet (which needs pyarrow).
        what : {"curves", "importance", "interactions", "heatmap", "rules"}
            Which numbers: centred or as slopes where the page shows PD so; of the heatmap the partial dependence; all rules.
        timeout : float, optional
            How many seconds to wait for what is still being computed; None for as long as it takes.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another name or ending, and for a panel that is not computed.
        ImportError
            For a .parquet without pyarrow.

        Examples
        --------
        >>> w.save_table("effect.csv")  # doctest: +SKIP
        >>> w.save_table("rules.parquet", "rules")  # doctest: +SKIP
        """
        files.check_table(path, what)
        self._compute(what, timeout)
        return files.save_table(self, self._running, path, what)

    def _compute(self, what: str, timeout: float | None, *, outputs: bool = False) -> None:
        """Have what a file needs computed, and wait for it."""
        board = self._running.board
        needed = {what} & PANELS.keys()
        beside = self.by or self.effect == "ale" or outputs or (self._models.several and self.show_models)
        if what == "curves" and beside:
            needed = {"effects"}
        board.open({*board.opened, *needed})
        self.wait(timeout)

    def to_python(self) -> str:
        """Return Python text that makes this view again: focus, options, selection, bookmarks, and the numbers of the curves.

        What cannot be written as text has the name that it has in the notebook, else ``model`` (``models``), ``X``, ``y``; the first
        line says which names there must be. The last line is ``widget``, which shows it in a notebook.

        Examples
        --------
        >>> print(w.to_python())  # doctest: +SKIP
        """
        return code.to_python(self, self.view_state, self._given, self._marked)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return what a cell shows: the widget, and a still picture of its first curves where there are no widgets."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None or self._controller is None:
            return bundle
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        end = time.monotonic() + _FIRST_ROWS_SECONDS
        while not self._curve.get("rows") and time.monotonic() < end and not self._may_not_wait:
            time.sleep(0.01)
        try:
            with self._lock:
                pictures = still.fallback(self)
        except InputError:
            return bundle  # nothing is known yet
        except Exception:
            logger.exception("the still picture of the widget failed")
            return bundle
        return {**pictures, **data}, metadata

    @property
    def closed(self) -> bool:
        """Whether the widget was closed."""
        return self._controller is None

    def close(self) -> None:
        """Stop the work and take the widget off all pages."""
        controller, self._controller = getattr(self, "_controller", None), None
        if controller is not None:
            self._models.close()
            self._files.close()
        super().close()

    def __repr__(self) -> str:
        """Say what is shown."""
        if getattr(self, "_models", None) is None:
            return object.__repr__(self)  # not made yet: shown in a traceback
        explainer, several = self.explainer, self._models.several
        rows = f"{explainer.n_rows:,} rows" + (
            f" of {explainer.n_rows_given:,}" if explainer.n_rows != explainer.n_rows_given else ""
        )
        what = f"{in_words(explainer.scale, [self.output])} by {self.feature!r}"
        chosen = f"; selected {self.selection.text} ({self.selection.n:,})" if self.selection else ""
        closed = "; closed" if self._controller is None else ""
        title = self._models.title + (f", one of {len(several)} models" if several else "")
        return f"<PDPWidget of {title}: {what}; {len(explainer.features)} features, {rows}{chosen}{closed}>"

    # ---- traits ------------------------------------------------------------------------------

    @t.validate("model")
    def _valid_model(self, proposal: Any) -> str:
        name = self._models.known(proposal["value"])
        self._may_lead = False
        return name

    @t.observe("model")
    def _model_changed(self, change: Any) -> None:
        """Put another model on the page: all that is about it changes in one message, and what is selected stays."""
        before = self._controller
        if before is None or change["new"] == self._models.name:
            return
        with self.hold_sync():
            output = self._models.output(change["new"], self.output)
            now = Arrangement(
                self.feature, output, self.selection, self._look(), before.screen.sample, before.visible_names,
                before.board.opened,
            )  # fmt: skip
            with self._lock:
                self._controller = self._models.turn_to(change["new"], now)
            self._checker.outputs, self._checker.grid_of = self.explainer.outputs, self.explainer.grid
            self._history.model = self._models.mark
            self._info = self._new_info()
            self.output = output
            self._answer_rectangles()
            self._selection = self._selection_wire(self.selection)

    def _new_info(self) -> dict[str, Any]:
        return picture.info(self.explainer, protocol.PROTOCOL, self._models.title, self._models.several)

    @t.validate("feature")
    def _valid_feature(self, proposal: Any) -> str:
        name = names.feature_of(self.explainer, proposal["value"])
        self._may_lead = False  # also when it is the one that is shown already
        return name

    @t.validate("output")
    def _valid_output(self, proposal: Any) -> str:
        return names.output_of(self.explainer, proposal["value"])

    @t.observe("feature")
    def _feature_changed(self, change: Any) -> None:
        if self._controller is not None:
            self._controller.focus(change["new"])

    @t.observe("output")
    def _output_changed(self, change: Any) -> None:
        if self._controller is not None and self._controller.screen.output != change["new"]:
            self._controller.show(change["new"])

    @t.validate("pair")
    def _valid_pair(self, proposal: Any) -> tuple[str, ...]:
        return names.pair_of(self.explainer, proposal["value"])

    @t.validate("by")
    def _valid_by(self, proposal: Any) -> str:
        return names.by_of(self.explainer, proposal["value"], len(self.bookmarks))

    @t.validate("color_by")
    def _valid_color_by(self, proposal: Any) -> str:
        given = proposal["value"]
        unset = given is None or (isinstance(given, str) and not given)
        return "" if unset else names.feature_of(self.explainer, given)

    @t.validate("row")
    def _valid_row(self, proposal: Any) -> int | None:
        return names.row_of(self.explainer, proposal["value"])

    @t.validate("panels")
    def _valid_panels(self, proposal: Any) -> tuple[str, ...]:
        return names.panels_of(proposal["value"])

    @t.validate("bookmarks")
    def _valid_bookmarks(self, proposal: Any) -> dict[str, str]:
        try:
            kept = bookmarks.read(proposal["value"], self._history)
        except InputError as error:
            raise WidgetInputError(str(error)) from None
        self._history.kept = kept
        return {name: node.text for name, node in kept.items()}

    @t.validate("notes")
    def _valid_notes(self, proposal: Any) -> dict[str, str]:
        try:
            return bookmarks.read_notes(proposal["value"])
        except InputError as error:
            raise WidgetInputError(str(error)) from None

    @t.observe("bookmarks")
    def _bookmarks_changed(self, _: Any) -> None:
        self.notes = {name: text for name, text in self.notes.items() if name in self.bookmarks}
        self._bookmarks = bookmarks.counts(self._history.kept, self._history)
        if self.by == bookmarks.key(self.explainer.features):
            if len(self.bookmarks) < bookmarks.LEAST_GROUPS:
                self.by = ""  # there is nothing left to compare
            else:
                self._arranged()

    @t.observe("pair", "by", "color_by", "effect", "show_models")
    def _arranged(self, change: Any = None) -> None:
        if self._controller is not None:
            self._controller.arrange(self._look())
            if change is not None and change["name"] == "pair" and self.pair and self.feature not in self.pair:
                self.feature = self.pair[0]

    def _look(self) -> Look:
        marked: tuple[Group, ...] = ()
        if self.by == bookmarks.key(self.explainer.features):
            marked = self._marked = bookmarks.groups(self._history.kept, self._history, self._marked)
        return Look(self.pair or None, self.by, self.color_by, self.effect, self.show_models, marked)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page sent; traitlets cannot have two threads set traits at once."""
        if self._controller is None:
            return
        with self.changing():
            self._may_lead = self._may_lead and not _VIEW_OPTIONS & sync_data.keys()
            try:
                super().set_state({name: value for name, value in sync_data.items() if name not in PICTURES})
            except t.TraitError:
                logger.warning("the page sent a value that does not exist", exc_info=True)
                self.send_state([name for name in sync_data if name in _VIEW_OPTIONS])

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep the worker from making pictures while what is on screen changes."""
        outermost = not self._may_not_wait
        with self._lock:
            self._local.changing = True
            try:
                yield
            finally:
                self._local.changing = not outermost

    @property
    def _may_not_wait(self) -> bool:
        return getattr(self._local, "changing", False)

    def publish(self, **traits: Any) -> None:
        """Show new pictures (called by the controller, under its lock)."""
        with self._lock:
            if self._controller is None:
                return
            for name, value in traits.items():
                setattr(self, name, value)
            if "_sample" in traits:
                self._selection = self._selection_wire(self.selection)

    def lead(self, feature: str) -> None:
        """Show the most important feature, unless a person has chosen or done something (called once, by the controller)."""
        with self.changing():
            if self._may_lead and self._controller is not None and feature != self.feature:
                self.feature = feature

    def curves_complete(self, feature: str) -> None:
        """Answer rectangles on this feature's curves again, over all rows (called by the controller)."""
        with self.changing():
            self._answer_rectangles(feature)

    def _answer_rectangles(self, feature: str | None = None) -> None:
        """Answer rectangles on the page's curves again, of one feature or of all."""
        controller, mark = self._controller, self._models.mark
        if controller is None:
            return

        def ready(box: IceBox) -> np.ndarray | None:
            asked = box.model == mark and feature in (None, box.feature)
            return controller.box_answer(box) if asked else None

        fresh = self._history.refresh(ready)
        if fresh is not None:
            self._show(fresh)
        self._bookmarks_changed(None)

    # ---- the page's requests -----------------------------------------------------------------

    def _on_message(self, _: Any, content: Any, __: Any = None) -> None:
        """Answer a message of the page; whatever goes wrong is told to the page."""
        if not isinstance(content, dict) or content.get("kind") not in ("request", "cancel"):
            return  # not of our protocol: other packages may share the channel
        request_id = None
        try:
            request_id = protocol.message_id(content)
            if content["kind"] == "cancel":
                return  # requests are answered at once; there is nothing left to cancel
            request = self._checker.request(content)
            with self.changing():
                self._may_lead = self._may_lead and request.method in ("hello", "visible", "open")
                if request.method == "file":  # answered from another thread, when it is made
                    self._files.answer(self, self._running, request_id, request.params)
                    return
                reply = protocol.ok(request_id, self._answers.do(request))
        except PDPWidgetsError as error:
            reply = protocol.error(request_id, str(error))
        except Exception as error:
            logger.exception("a request of the page failed")
            reply = protocol.error(request_id, f"{type(error).__name__}: {error}")
        self.send(reply)

    # ---- helpers -----------------------------------------------------------------------------

    @property
    def _running(self) -> Controller:
        if self._controller is None:
            raise RuntimeError("the widget is closed")
        return self._controller

    @property
    def _screen(self) -> Any:
        return self._running.screen

    def _show(self, selection: Selection) -> Selection:
        """Make a selection of the history the one on screen."""
        self.selection = selection
        return self.selection

    @t.validate("selection")
    def _valid_selection(self, proposal: Any) -> Selection:
        given = proposal["value"]
        return given if given is self._history.current else self._history.set(self._history.read(given))

    @t.observe("selection")
    def _selection_changed(self, change: Any) -> None:
        controller = self._controller
        if controller is None:
            return
        with self._lock:
            self._selection = self._selection_wire(change["new"])
            controller.select(change["new"])

    def _selection_wire(self, selection: Selection) -> dict[str, Any]:
        return to_wire(selection, self._history, None if self._controller is None else self._screen.sample)


def _check(options: dict[str, Any]) -> None:
    known = set(_EXPLAINER_DEFAULTS) | _VIEW_OPTIONS | _HOST_OPTIONS
    for name in options:
        if name not in known:
            raise TypeError(f"PDPWidget() got an unknown option {name!r}{did_you_mean(name, known)}")
