"""A part of a widget's page in another cell: the same state, a view of its own."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets as t

__all__ = ["PARTS", "Part"]

PARTS = ("features", "curves")
"""Parts of the page that are no panels."""

# What is shown is the first widget's own code on its own model; only where that is comes from here.
_ESM = """\
async function mainModel(model) {
  try {
    return await model.widget_manager.get_model(model.get("of").replace("IPY_MODEL_", ""));
  } catch {
    return null;
  }
}

export default {
  async render({ model, el, signal }) {
    const main = await mainModel(model);
    if (!main) {
      el.textContent =
        "This part of a PDPWidget cannot find the widget that it belongs to: run the cell that made the widget, or show the whole widget here.";
      return;
    }
    const url = URL.createObjectURL(new Blob([main.get("_esm")], { type: "text/javascript" }));
    const code = await import(url);
    URL.revokeObjectURL(url);
    return code.view(main, el, model.get("parts"), signal);
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
