"""A widget behind the rules panel on a page of the stub host; shared by the browser tests of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from stub_page import BUNDLE, Stub
from widget_tools import arrays, frame, predict

from pdp_widgets.rulefit import Linear, Rule, RuleSet
from pdp_widgets.widget import traits
from pdp_widgets.widget.wire import to_base64

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from playwright.sync_api import Browser, Locator

    from pdp_widgets import PDPWidget

X = frame(300)
Y = predict(X)
FEW: dict[str, Any] = {"max_rules": 60, "random_state": 0}


class Written:
    """A model of rules that are written down."""

    def __init__(self, X: pd.DataFrame, rules: dict[str, float], number: str = "n") -> None:
        terms = [*(Rule.of(text, X) for text in rules), Linear(number)]
        self.ruleset_ = RuleSet(terms, [*rules.values(), 0.5], 1.0, feature_names=list(X.columns)).with_support(X)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.ruleset_.predict(X)[0]


class Live:
    """A widget on a page of the stub host: what the page asks is handed to it, and what it publishes to the page."""

    def __init__(self, stub: Stub, widget: PDPWidget, *, connected: bool = True) -> None:
        self.stub, self.page, self.widget, self.answered = stub, stub.page, widget, 0
        widget._running.board.open(widget.panels)
        assert widget.wait(60)
        stub.open(traits=self._traits(), empty=True)
        self.page.get_by_test_id("rules-table").wait_for()
        if connected:
            self.settle()

    def _traits(self) -> dict[str, Any]:
        return {name: to_base64(getattr(self.widget, name)) for name in traits.STATE}

    def settle(self) -> None:
        """Go back and forth until nothing is asked any more."""
        for _ in range(4):
            self.page.wait_for_timeout(60)
            for name, value in self.page.evaluate("() => stub.widgets[0].model.saved.splice(0)"):
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
            if not fresh:
                return

    @property
    def picture(self) -> dict[str, Any]:
        return dict(arrays(self.widget._rules))

    def find(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    @property
    def ranks(self) -> list[int]:
        """Positions of the terms listed, from above; the table is made high enough to hold them."""
        self.page.add_style_tag(content=".pdpw-rules-table { max-height: 6000px !important; }")
        self.page.wait_for_timeout(80)
        return [int(v) for v in self.find("rule").evaluate_all("nodes => nodes.map(n => n.dataset.term)")]

    def line(self, term: int) -> Locator:
        return self.page.locator(f"[data-testid=rule][data-term='{term}']")

    def cell(self, term: int, by: str) -> str:
        return self.line(term).locator(f"[data-by={by}]").inner_text()

    def press(self, testid: str, **options: Any) -> None:
        self.find(testid).click(**options)
        self.settle()


@pytest.fixture
def live(browser: Browser, make: Callable[..., PDPWidget]) -> Iterator[Callable[..., Live]]:
    if not BUNDLE.is_file():
        pytest.fail("the bundle is not built: cd js && npm ci && npm run build", pytrace=False)
    contexts, stubs = [], []

    def open_page(model: Any, data: Any = X, *, width: int = 1400, connected: bool = True, **options: Any) -> Live:
        context = browser.new_context(viewport={"width": width, "height": 1000})
        contexts.append(context)
        stubs.append(Stub(context.new_page()))
        options = {"panels": ["rules"], **options}
        return Live(
            stubs[-1], make(model, **options) if data is None else make(model, data, **options), connected=connected
        )

    yield open_page
    errors = [error for stub in stubs for error in stub.errors]
    for context in contexts:
        context.close()
    assert errors == []
