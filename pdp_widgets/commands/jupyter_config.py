"""`jupyter-config`: switch on, or off again, that JupyterLab saves widgets with their notebooks.

One settings file of ours goes into a folder of Jupyter's, and nothing else is touched.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .files import beside

__all__ = ["add", "run"]

SETTING = Path("labconfig", "default_setting_overrides.d", "pdp_widgets.json")
"""The file, below a folder of Jupyter's configuration."""

WARNING = (
    "A notebook saved with its widgets holds what they show: predictions and values of up to 500 rows of X. "
    "Think before you share one."
)


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "jupyter-config",
        help="let JupyterLab save widgets with their notebooks, so that a reopened notebook shows them",
        description="Let JupyterLab save widgets with their notebooks, so that a notebook that is opened again shows them before any cell is run. "
        "The demo does so for itself; elsewhere it is off until you enable it.",
        epilog=f"{WARNING} In JupyterLab the menu Settings > Save Widget State Automatically has the last word.",
    )
    parser.add_argument(
        "action",
        choices=("enable", "disable", "status"),
        help="copy the settings file, remove it again, or say where it is",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user, in every environment (the default)")
    where.add_argument("--sys-prefix", action="store_true", help="for this Python environment and all who use it")
    return parser


def run(given: argparse.Namespace) -> int:
    """Enable, disable, or say what is enabled."""
    try:
        folders = places()
    except ImportError:
        print(
            "pdp_widgets: there is no Jupyter in this environment (jupyter_core is missing), and so nothing to configure",
            file=sys.stderr,
        )
        return 1
    ours = (beside("jupyter_config", "jupyter-config") / SETTING).read_bytes()
    if given.action == "status":
        for scope, folder in folders.items():
            target = folder / SETTING
            state = "not enabled" if not target.exists() else "enabled" if target.read_bytes() == ours else "changed"
            print(f"--{scope}: {state} ({target})")
        return 0
    target = folders["sys-prefix" if given.sys_prefix else "user"] / SETTING
    return enable(target, ours) if given.action == "enable" else disable(target, ours)


def places() -> dict[str, Path]:
    """Return Jupyter's configuration folders by option."""
    from jupyter_core.paths import ENV_CONFIG_PATH, jupyter_config_dir

    return {"user": Path(jupyter_config_dir()), "sys-prefix": Path(ENV_CONFIG_PATH[0])}


def enable(target: Path, ours: bytes) -> int:
    """Copy the file, unless another one is there."""
    if target.exists() and target.read_bytes() != ours:
        return _not_ours(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(ours)
    print(f"Enabled: JupyterLab saves widgets with their notebooks, after it is started again ({target}).\n{WARNING}")
    return 0


def disable(target: Path, ours: bytes) -> int:
    """Remove the file, if it is the one that was copied."""
    if not target.exists():
        print(f"It was not enabled ({target}).")
        return 0
    if target.read_bytes() != ours:
        return _not_ours(target)
    target.unlink()
    print(f"Disabled: JupyterLab no longer saves widgets by itself, after it is started again ({target} is removed).")
    return 0


def _not_ours(target: Path) -> int:
    print(f"pdp_widgets: {target} is not as pdp_widgets wrote it; look into it and remove it by hand", file=sys.stderr)
    return 1
