"""A widget behind the rules panel on a page of the stub host; shared by the browser tests of rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import live_page
import pytest
from widget_tools import arrays, frame, predict

from pdp_widgets.rulefit import Linear, Rule, RuleSet

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from playwright.sync_api import Locator
    from stub_page import Stub

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


class Live(live_page.Live):
    """A widget whose page shows its rules."""

    def __init__(self, stub: Stub, widget: PDPWidget, *, connected: bool = True) -> None:
        super().__init__(stub, widget, connected=connected)
        self.find("rules-table").wait_for()

    @property
    def picture(self) -> dict[str, Any]:
        return dict(arrays(self.widget._rules))

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


@pytest.fixture
def live(open_stub: Callable[..., Stub], make: Callable[..., PDPWidget]) -> Callable[..., Live]:
    def open_page(model: Any, data: Any = X, *, width: int = 1400, connected: bool = True, **options: Any) -> Live:
        given = () if data is None else (data,)
        return Live(open_stub(width), make(model, *given, **{"panels": ["rules"], **options}), connected=connected)

    return open_page
