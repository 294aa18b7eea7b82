"""What is on screen as result objects: each is made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .controller import Controller
    from .selection import Selection

__all__ = ["Results", "curves", "panels"]


class Results(Mapping[str, Any]):
    """Result objects by name.

    Parameters
    ----------
    makers : dict
        How to make each. What rows there are is settled when it is made, which is once.
    """

    def __init__(self, makers: dict[str, Callable[[], Any]]) -> None:
        self._makers = makers
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"<results: {', '.join(self) or 'none yet'}>"


def curves(
    controller: Controller, feature: str, output: str, selection: Selection | None
) -> dict[str, Callable[[], Any]]:
    """Return how to make the curves of a feature: of all rows, and of the selected ones and the rest where they are cached.

    Nothing is computed for a feature out of focus: of one that has no curves yet there is nothing.
    """
    screen, explainer = controller.screen, controller.explainer
    track, focused = screen.tracks[feature], feature == screen.feature
    ice, summary = (screen.held if focused else None) or track.ice, track.summary
    if ice is None:
        if summary is not None and not focused:
            return {"all": lambda: summary.result.output(output)}
        if not focused:
            return {}
        ice = explainer.ice(feature, keep=screen.sample)
    if summary is not None and summary.result.rows_done > ice.rows_done:  # the cache dropped the curves
        return {"all": lambda: summary.result.output(output)}
    found: dict[str, Callable[[], Any]] = {"all": lambda: ice.result().output(output)}
    if selection and ice.values is not None:
        mask, text = selection.mask, selection.text
        found["selection"] = lambda: ice.result(mask, text=text).output(output)
        found["rest"] = lambda: ice.result(~mask, text=f"~({text})").output(output)
    return found


def panels(controller: Controller) -> dict[str, Callable[[], Any]]:
    """Return what the panels have found by now, by their names."""
    board, view = controller.board, controller.view()
    found = {name: board[name].result(view) for name in board.names}
    return {name: partial(_itself, result) for name, result in found.items() if result is not None}


def _itself(result: Any) -> Any:
    return result
