"""A part of a widget's page in another cell: the same state, a view of its own."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets as t

__all__ = ["PARTS", "Part"]

PARTS = ("features", "curves")
"""Parts of the page that are no panels."""

# What is shown is the first widget's own code on its own model; only where that is comes from here. marimo keeps the code of models to
# itself: there the code has said where it is when it was loaded (``carry``).
_ESM = """\
async function mainModel(model) {
  try {
    return await model.widget_manager.get_model(model.get("of").replace("IPY_MODEL_", ""));
  } catch {
    return null;
  }
}

async function mainView(main) {
  const code = main.get("_esm");
  if (!code) {
    for (let k = 0; k < 100 && !globalThis[Symbol.for("pdp_widgets.view")]; k++) await new Promise((go) => setTimeout(go, 100));
    return globalThis[Symbol.for("pdp_widgets.view")];
  }
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const { view } = await import(url);
  URL.revokeObjectURL(url);
  return view;
}

export default {
  async render({ model, el, signal }) {
    const main = await mainModel(model);
    const view = main && (await mainView(main));
    if (!view) {
      el.textContent =
        "This part of a PDPWidget cannot find the widget that it belongs to: run the cell that made the widget, or show the whole widget here.";
      return;
    }
    return view(main, el, model.get("parts"), signal);
  },
};
"""


class Part(anywidget.AnyWidget):
    """Some parts of a widget's page; see ``PDPWidget.view``."""

    _esm = _ESM

    of = t.Unicode().tag(sync=True)
    """The widget's model, ``IPY_MODEL_`` and its id."""

    parts: Any = t.List(t.Unicode()).tag(sync=True)
    """Names of panels, "features" or "curves"."""

    def __repr__(self) -> str:
        """Say what is shown."""
        return f"<Part of a PDPWidget: {', '.join(self.parts)}>"
