"""The parts of the page beside the curves: each answers one question for what is in focus and selected."""

from __future__ import annotations

from .board import Board
from .effects import EffectsPanel
from .heatmap import HeatmapPanel
from .importance import ImportancePanel
from .interactions import InteractionsPanel
from .models import OtherModel
from .panel import Panel, View
from .regions import RegionsPanel
from .rules import RulesPanel

__all__ = ["PANELS", "Board", "OtherModel", "Panel", "View"]

PANELS: dict[str, type[Panel]] = {
    panel.name: panel
    for panel in (EffectsPanel, RegionsPanel, ImportancePanel, InteractionsPanel, HeatmapPanel, RulesPanel)
}
"""All there are, by name, in the order in which the page shows them."""
