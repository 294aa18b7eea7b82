"""Files that a wheel carries inside the package and a checkout has beside it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["beside", "jupyter_environment"]

PACKAGE = Path(__file__).resolve().parent.parent


def beside(installed: str, checkout: str) -> Path:
    """Return a folder by its name in a wheel and in a checkout.

    Raises
    ------
    FileNotFoundError
        When the installation is incomplete.
    """
    for folder in (PACKAGE / installed, PACKAGE.parent / checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"the installation is incomplete: {PACKAGE / installed} is missing; install pdp_widgets again"
    )


def jupyter_environment() -> dict[str, str]:
    """Return the environment for a Jupyter in which a saved notebook keeps what its widgets show."""
    paths = [str(beside("jupyter_config", "jupyter-config")), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    return os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}
