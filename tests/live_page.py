"""A widget in Python behind a page of the stub host: what the page asks is handed to it, and what it publishes to the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdp_widgets.widget import traits
from pdp_widgets.widget.wire import to_base64

if TYPE_CHECKING:
    from playwright.sync_api import Locator
    from stub_page import Stub

    from pdp_widgets import PDPWidget


class Live:
    """One widget on one page."""

    def __init__(self, stub: Stub, widget: PDPWidget) -> None:
        self.stub, self.page, self.widget, self.answered = stub, stub.page, widget, 0
        widget._running.board.open(widget.panels)
        assert widget.wait(60)
        stub.open(traits=self._traits(), empty=True)
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
            replies: list[Any] = []
            for request in fresh:
                self.widget.send = lambda content, buffers=None, replies=replies: replies.append(content)
                self.widget._handle_custom_msg(request, [])
            assert self.widget.wait(60)
            for name, value in self._traits().items():
                self.stub.call("set", name, value)
            for reply in replies:
                self.stub.call("reply", reply["id"], reply["status"], reply.get("message", ""), 0, reply.get("result"))
            self.page.wait_for_timeout(60)
            if not fresh and not saved:
                return

    def find(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    def press(self, testid: str) -> None:
        self.find(testid).click()
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
