"""Print what pyproject.toml asks for at its lowest: each dependency, and each one of the users' extras, at its lower bound."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

TOOLS = {"test", "dev"}
"""Extras that are not what users install."""


def lowest(pyproject: Path) -> list[str]:
    """Return requirements as pip takes them."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(item for name in extras if name not in TOOLS for item in extras[name])]
    lines: dict[str, None] = {}
    for item in listed:
        found = re.fullmatch(r"([\w.-]+(?:\[[\w,]*\])?)>=([\w.]+)\s*(;.*)?", item)
        if found:
            lines[f"{found[1]}=={found[2]}{found[3] or ''}"] = None
        elif not item.startswith("pdp_widgets["):
            sys.exit(f"{item!r}: expected a lower bound and nothing else")
    return list(lines)


if __name__ == "__main__":
    print("\n".join(lowest(Path(__file__).parent.parent / "pyproject.toml")))
