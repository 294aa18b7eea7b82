"""The selection: the subgroup of rows that every view answers for, and the history of how it came about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.folding import fold, leaves_of
from pdp_widgets.inputs.subgroup import And, Levels, Missing, Node, Not, Or, Range, Rows, conjunction, parse

from .drawn import Drawing
from .geometry import IceBox
from .wire import pack

if TYPE_CHECKING:
    from collections.abc import Callable

    from pdp_widgets.explain import Explainer
    from pdp_widgets.inputs import Grid

__all__ = ["History", "IceBox", "Selection", "from_wire", "to_wire"]

Op = Literal["replace", "add", "remove"]

_MILLISECONDS = (1, 1000, 60_000, 3_600_000, 86_400_000)
_REMEMBERED = 100
_LONGEST_TEXT = 4000
_DEEPEST = 25


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected rows.

    Falsy when nothing is selected; then all rows count. It may be handed to ``Explainer`` as ``subgroup``.
    """

    mask: np.ndarray
    """(n,) bool over the background rows; all true when nothing is selected."""
    node: Node | None = None
    """The condition as a tree, None when nothing is selected."""
    id: int = 0
    """Grows with every change."""

    def __post_init__(self) -> None:
        view = self.mask.view()
        view.flags.writeable = False  # what is selected changes through the widget only
        object.__setattr__(self, "mask", view)

    @property
    def text(self) -> str:
        """The condition as text, ``""`` when nothing is selected; ``widget.select(text)`` selects the same rows."""
        return "" if self.node is None else self.node.text

    @property
    def conditions(self) -> list[Node]:
        """The parts that must all hold."""
        return [] if self.node is None else self.node.conditions

    @property
    def named_rows(self) -> dict[str, str]:
        """What the names in the text stand for: ``{"@curves1": "curves through temp 3 to 5, ..."}``."""
        leaves = [] if self.node is None else leaves_of(self.node)
        return {leaf.text: leaf.about for leaf in leaves if isinstance(leaf, Rows)}

    @property
    def n(self) -> int:
        """How many rows are selected."""
        return int(np.count_nonzero(self.mask))

    def __bool__(self) -> bool:
        return self.node is not None

    def __repr__(self) -> str:
        if not self:
            return f"<Selection: none, {len(self.mask)} rows>"
        about = "".join(f"; {name}: {what}" for name, what in self.named_rows.items())
        return f"<Selection: {self.text}; {self.n} of {len(self.mask)} rows{about}>"


class History:
    """The current condition, and what to go back and forth to.

    Parameters
    ----------
    explainer : Explainer
    """

    def __init__(self, explainer: Explainer) -> None:
        self.explainer = explainer
        self._serial = 0
        self._undo: list[Node | None] = []
        self._redo: list[Node | None] = []
        self._gesture: str | None = None
        self._rows: dict[str, Rows] = {}
        self.kept: dict[str, Node] = {}
        """Conditions to come back to, by name (bookmarks)."""
        self.current = Selection(np.ones(explainer.n_rows, dtype=bool))
        self.model = ""
        """Whose curves are on the page, where there are several models."""

    @property
    def can_undo(self) -> bool:
        """Whether there is something to go back to."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is something to go forth to."""
        return bool(self._redo)

    def read(self, given: Any) -> Node | None:
        """Return whatever a person may call a subgroup as a condition.

        Parameters
        ----------
        given : None, str, mask, Node or Selection

        Raises
        ------
        InputError
            When it cannot be read as one.
        """
        if given is None or (isinstance(given, str) and not given.strip()):
            return None
        if isinstance(given, Selection):
            return self._adopt(given)
        if isinstance(given, str):
            return parse(given, self.explainer.table, self._rows)
        if isinstance(given, Node):
            return (
                given
                if self._knows(given)
                else self.named(given.mask(self.explainer.table), "rows", "rows given in Python")
            )
        mask = self.explainer.mask(given)
        assert mask is not None
        spoken = self._spoken(given, mask)
        return self.named(np.array(mask, dtype=bool), "rows", "rows given in Python") if spoken is None else spoken

    def _spoken(self, given: Any, mask: np.ndarray) -> Node | None:
        """Return the condition that a rule or a region writes of itself, where it means the same rows here."""
        text = getattr(given, "text", None)
        if not isinstance(text, str):
            return None
        try:
            node = parse(text, self.explainer.table)
        except InputError:
            return None
        return node if np.array_equal(node.mask(self.explainer.table), mask) else None

    def _adopt(self, given: Selection) -> Node | None:
        """Read a selection, also another widget's: by its condition where that means the same rows here."""
        if given is self.current or given.node is None:
            return given.node
        try:
            if self._knows(given.node) and np.array_equal(given.node.mask(self.explainer.table), given.mask):
                return given.node
        except InputError:
            pass
        mask = self.explainer.mask(given.mask)
        assert mask is not None
        return self.named(mask.copy(), "rows", "rows of another selection")

    def _knows(self, node: Node) -> bool:
        """Whether all sets of rows in a condition are those that their names stand for here."""
        return all(self._rows.get(leaf.name) is leaf for leaf in leaves_of(node) if isinstance(leaf, Rows))

    def set(self, node: Node | None, gesture: str | None = None) -> Selection:
        """Make this the current condition, in its shortest form.

        Raises
        ------
        InputError
            When the condition does not fit the table; nothing is changed then.
        """
        selection = self._select(None if node is None else fold(node, self.explainer.table))
        # One drag sends several conditions as the pointer rests: together they are one step back.
        if gesture is None or gesture != self._gesture:
            self._undo = [*self._undo, self.current.node][-_REMEMBERED:]
        self._gesture = gesture
        self._redo = []
        self.current = selection
        return selection

    def shortest(self, node: Node) -> Node:
        """Return a condition in the form that it has as a selection."""
        return self._select_node(fold(node, self.explainer.table))[0]

    def combine(self, op: Op, condition: Node, gesture: str | None = None) -> Selection:
        """Add one condition to the current ones; those of one ``gesture`` of the hand are undone at once.

        ``replace`` takes the place of what is said about the same feature and keeps the rest; ``add`` selects the
        condition's rows, too; ``remove`` drops them.
        """
        now = self.current.node
        if op == "replace":
            # A rectangle is about each of its sides, too.
            slots = {_slot(part) for part in (condition, *condition.conditions)}
            kept = [part for part in self.current.conditions if _slot(part) not in slots]
            return self.set(conjunction([*kept, condition]), gesture)
        if op == "add":
            return self.set(condition if now is None else now | condition, gesture)
        return self.set(~condition if now is None else now & ~condition, gesture)

    def invert(self) -> Selection:
        """Select the other rows; with nothing selected there are none."""
        return self.current if self.current.node is None else self.set(~self.current.node)

    def undo(self) -> Selection:
        """Go one step back."""
        return self._step(self._undo, self._redo)

    def redo(self) -> Selection:
        """Go one step forth."""
        return self._step(self._redo, self._undo)

    def box(self, box: IceBox, mask: np.ndarray, *, gesture: str | None = None) -> Rows:
        """Return the condition of a rectangle on ICE curves; ``mask`` says which curves cross it.

        One that replaces the rectangle before in the same ``gesture`` of the hand takes over its name.
        """
        if gesture is not None and gesture == self._gesture:
            slot = frozenset({(box.model, box.feature)}), True
            before = [leaf for part in self.current.conditions if _slot(part) == slot for leaf in leaves_of(part)]
            others = [part for part in self.current.conditions if _slot(part) != slot]
            kept = [
                leaf
                for node in [*others, *self._undo, *self._redo, *self.kept.values()]
                if node is not None
                for leaf in leaves_of(node)
            ]
            for leaf in before:
                if isinstance(leaf, Rows) and not any(leaf is other for other in kept):
                    self._rows.pop(leaf.name, None)
        return self.named(mask, "curves", box.about, box)

    def refresh(self, ready: Callable[[IceBox], np.ndarray | None]) -> Selection | None:
        """Answer rectangles again whose curves were not all there; the new selection, if it is another one.

        Parameters
        ----------
        ready : callable
            The mask of a rectangle, or None while not all curves are there.
        """
        changed = False
        for rows in self._rows.values():
            mask = ready(rows.data) if isinstance(rows.data, IceBox) else None
            if mask is not None and (mask != rows.rows).any():
                rows.rows[:] = mask  # in place: the same condition, now answered in full, wherever it is remembered
                changed = True
        if not changed or self.current.node is None:
            return None
        fresh = self._select(self.current.node)
        if (fresh.mask == self.current.mask).all():
            return None
        self.current = fresh
        return fresh

    def _select(self, node: Node | None) -> Selection:
        self._serial += 1
        if node is None:
            return Selection(np.ones(self.explainer.n_rows, dtype=bool), None, self._serial)
        short, mask = self._select_node(node)
        return Selection(mask, short, self._serial)

    def _select_node(self, node: Node) -> tuple[Node, np.ndarray]:
        """Return a condition that can be handled, and its rows."""
        mask = node.mask(self.explainer.table)
        if _depth(node) > _DEEPEST or len(node.text) > _LONGEST_TEXT:
            node = self.named(mask, "rows", "rows of the selections before")
        return node, mask

    def _step(self, source: list[Node | None], target: list[Node | None]) -> Selection:
        if source:
            node = source.pop()
            target.append(self.current.node)
            self.current = self._select(node)
            self._gesture = None
        return self.current

    def named(self, mask: np.ndarray, stem: str, about: str, data: Any = None) -> Rows:
        """Give rows a short name, so that the text of the condition can be read back; the same ones keep theirs."""
        for known in self._rows.values():
            if known.about == about and known.data == data and np.array_equal(known.rows, mask):
                return known
        serial = 1
        while f"{stem}{serial}" in self._rows:
            serial += 1
        rows = Rows(mask, f"{stem}{serial}", data, about)
        self._rows[rows.name] = rows
        bookmarked = {leaf.name for node in self.kept.values() for leaf in leaves_of(node) if isinstance(leaf, Rows)}
        for forgotten in list(self._rows)[: -2 * _REMEMBERED]:
            if forgotten not in bookmarked:
                del self._rows[forgotten]
        return rows


def from_wire(condition: dict[str, Any], grid: Grid) -> Node:
    """Return the condition the page sent (a range or levels; rectangles are the controller's business).

    Bounds are rounded to a thousandth of the axis, finer than a pixel, so that the text stays readable.
    """
    feature = condition["feature"]
    if condition["type"] == "levels":
        levels = tuple(None if k == grid.missing else grid.values[k] for k in condition["levels"])
        if grid.kind == "category":
            return Levels(feature, levels)
        if levels == (None,):
            return Missing(feature)
        positions = [float(grid.positions[k]) for k in condition["levels"] if k != grid.missing]
        values = (*positions, *([None] if None in levels else []))
        return Levels(feature, values, kind=grid.text_kind)
    low, high = condition["low"], condition["high"]
    if grid.feature.kind == "integer":
        low = None if low is None else float(math.ceil(low))
        high = None if high is None else float(math.floor(high))
        return Range(feature, low, high, kind=grid.text_kind)
    points = grid.positions[grid.ordered]
    fine = float(np.ptp(points)) / 1000 if len(points) else 0.0
    return Range(feature, _rounded(low, fine, grid.kind), _rounded(high, fine, grid.kind), kind=grid.text_kind)


def to_wire(selection: Selection, history: History, sample: np.ndarray | None) -> dict[str, Any]:
    """Return ``_selection``; ``sample`` tells whose own curves the page holds."""
    explainer = history.explainer
    brushed, marked = Drawing(explainer, history.model).together(selection.conditions)
    return {
        "id": selection.id,
        "text": selection.text,
        "n": selection.n,
        "total": explainer.n_rows,
        "names": selection.named_rows,
        "conditions": brushed,
        "marks": marked,
        "sample": pack(np.ones(0) if sample is None else selection.mask[sample], "uint8"),
        "can_undo": history.can_undo,
        "can_redo": history.can_redo,
    }


def _slot(node: Node) -> tuple[frozenset[Any], bool] | None:
    """What a condition is about: its features, and whether it is about their curves (of one model) instead of their values."""
    leaves = leaves_of(node)
    boxes = {
        (leaf.data.model, leaf.data.feature)
        for leaf in leaves
        if isinstance(leaf, Rows) and isinstance(leaf.data, IceBox)
    }
    names = {leaf.feature for leaf in leaves if isinstance(leaf, Range | Levels | Missing)}
    if any(isinstance(leaf, Rows) and not isinstance(leaf.data, IceBox) for leaf in leaves) or (boxes and names):
        return None
    return frozenset(boxes or names), bool(boxes)


def _depth(node: Node) -> int:
    if isinstance(node, And | Or):
        return 1 + max((_depth(part) for part in node.parts), default=0)
    return 1 + _depth(node.part) if isinstance(node, Not) else 1


def _rounded(bound: float | None, fine: float, kind: str) -> float | None:
    """Round to a power of ten, or to whole seconds, minutes, hours, days, of at most ``fine``."""
    if bound is None or not 0 < fine < math.inf:
        return bound
    if kind == "number":
        return float(round(bound, -math.floor(math.log10(fine)))) + 0.0  # + 0.0: no negative zero
    step = max((unit for unit in _MILLISECONDS if unit <= fine), default=1)
    return float(round(bound / step) * step)
