"""A widget in Python behind a page of the stub host: what the page asks is handed to it, and what it publishes to the page."""

from __future__ import annotations

import base64
import threading
from typing import TYPE_CHECKING, Any

from pdp_widgets.widget import traits
from pdp_widgets.widget.wire import to_base64

if TYPE_CHECKING:
    from playwright.sync_api import Locator
    from stub_page import Stub

    from pdp_widgets import PDPWidget


class Live:
    """One widget on one page.

    Parameters
    ----------
    stub : Stub
    widget : PDPWidget
    connected : bool
        False: nobody answers the page until ``settle`` is called.
    """

    def __init__(self, stub: Stub, widget: PDPWidget, *, connected: bool = True) -> None:
        self.stub, self.page, self.widget, self.answered = stub, stub.page, widget, 0
        widget._running.board.open(widget.panels)
        assert widget.wait(60)
        self._shown = self._traits()
        stub.open(traits=self._shown, empty=True)
        if connected:
            self.settle()

    def _traits(self) -> dict[str, Any]:
        return {name: to_base64(getattr(self.widget, name)) for name in traits.STATE}

    def settle(self) -> None:
        """Go back and forth until nothing is asked any more."""
        for _ in range(4):
            self.page.wait_for_timeout(60)
            saved = self.page.evaluate("() => stub.widgets[0].model.saved.splice(0)")
            for name, value in saved:
                self.widget.set_state({name: value})
            requests = self.stub.requests("")
            fresh, self.answered = requests[self.answered :], len(requests)
            replies = [self._answer(request) for request in fresh]
            assert self.widget.wait(60)
            before, self._shown = self._shown, self._traits()
            own = {name for name, _ in saved}
            news = [name for name, value in self._shown.items() if name in own or value != before[name]]
            for name in news:
                self.stub.call("set", name, self._shown[name])
            for reply in replies:  # what is on screen changes before the answer comes
                self.stub.call("reply", *reply)
            self.page.wait_for_timeout(60)
            if not fresh and not news:
                return

    def _answer(self, request: dict[str, Any]) -> tuple[Any, ...]:
        """Return the widget's answer as the stub host takes it; it may come from another thread and with bytes."""
        heard: list[tuple[Any, Any]] = []
        there = threading.Event()

        def send(content: Any, buffers: Any = None) -> None:
            heard.append((content, buffers or []))
            there.set()

        self.widget.send = send
        self.widget._handle_custom_msg(request, [])
        assert there.wait(30)
        ((content, buffers),) = heard
        letters = [base64.b64encode(buffer).decode("ascii") for buffer in buffers]
        return request["id"], content["status"], content.get("message", ""), 0, content.get("result"), letters

    def find(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    def text(self, testid: str) -> str:
        return self.find(testid).inner_text()

    def press(self, testid: str, **options: Any) -> None:
        self.find(testid).click(**options)
        self.settle()

    def pick(self, testid: str, value: str) -> None:
        """Choose an option of a select."""
        self.find(testid).select_option(value)
        self.settle()

    @property
    def overlays(self) -> list[str]:
        """Keys of the curves drawn beside the focused one."""
        text = self.find("curves").get_attribute("data-overlays") or ""
        return text.split(",") if text else []
