"""`demo`: the quickstart notebook in JupyterLab or Voila, or as a page that needs no Jupyter."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .files import beside, jupyter_environment

__all__ = ["add", "copy_notebooks", "run"]

START = "quickstart.ipynb"


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "demo",
        help="open the quickstart notebook in JupyterLab, or write it as a web page",
        description="Open a copy of the quickstart notebook (a model of diabetes progression; no internet needed) in JupyterLab, "
        "serve it as a dashboard, or write its widget as one interactive web page.",
        epilog="The copy in the folder is yours: the demo never overwrites a notebook that you changed.",
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a stand-alone page to FILE instead; opens in any browser, without Jupyter",
    )
    parser.add_argument(
        "--voila", action="store_true", help="serve the notebook with Voila instead: its output as a page, without code"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="where the copied notebooks go (default: ./pdp_widgets_demo, or a temporary folder if that is not writable)",
    )
    parser.add_argument("--port", type=int, metavar="N", help="the server's port (default: it chooses, from 8888)")
    parser.add_argument(
        "--no-browser", action="store_true", help="start the server, print its address and open no browser"
    )
    return parser


def run(given: argparse.Namespace) -> int:
    """Write the page, or open the notebook."""
    if given.html and given.voila:
        print("pdp_widgets: --html writes a file and --voila starts a server; give one of them", file=sys.stderr)
        return 2
    return write_page(given.html) if given.html else open_notebook(given)


def write_page(target: Path) -> int:
    """Fit the quickstart's model and export its widget as a page."""
    from sklearn.ensemble import GradientBoostingRegressor

    from pdp_widgets import PDPWidget, datasets

    X, y = datasets.diabetes()
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    target.parent.mkdir(parents=True, exist_ok=True)
    PDPWidget(model, X, y, feature="bmi").export_html(target)
    print(
        f"wrote {target} ({target.stat().st_size / 1e6:.1f} MB): open it in any browser; it needs neither Jupyter nor the internet"
    )
    return 0


def open_notebook(given: argparse.Namespace) -> int:
    """Copy the notebooks and run JupyterLab or Voila on the quickstart until it is stopped."""
    module, name = ("voila", "Voila") if given.voila else ("jupyterlab", "JupyterLab")
    if importlib.util.find_spec(module) is None:
        what = "python -m pip install voila" if given.voila else 'python -m pip install "pdp_widgets[demo]"'
        also = "" if given.voila else ' (in a checkout: ".[demo]")'
        print(
            f"pdp_widgets: the demo opens {name}, which is not installed here: {what}{also}, "
            "or write a page that needs no Jupyter: python -m pdp_widgets demo --html demo.html",
            file=sys.stderr,
        )
        return 1
    folder = copy_notebooks(given.folder)
    command = _voila(given, folder) if given.voila else _jupyterlab(given, folder)
    print(f"The notebooks are in {folder}. Saving one saves its widget as well. Stop {name} with Ctrl-C.", flush=True)
    if os.name == "posix":
        os.execve(command[0], command, jupyter_environment())  # noqa: S606  # one process: signals reach the server
    return subprocess.run(command, env=jupyter_environment(), check=False).returncode


def _jupyterlab(given: argparse.Namespace, folder: Path) -> list[str]:
    # The address that JupyterLab prints and opens leads to the notebook, also when no browser is opened here.
    start = f"--LabApp.default_url=/lab/tree/{START}"
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", start]
    if given.no_browser:
        command.append("--no-browser")
    if given.port is not None:
        command += [f"--ServerApp.port={given.port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # As in most containers; the server still listens on this machine only and asks for its token.
        command.append("--allow-root")
    return command


def _voila(given: argparse.Namespace, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "voila", str(folder / START)]
    if given.no_browser:
        command.append("--no-browser")
    if given.port is not None:
        command.append(f"--port={given.port}")
    return command


def copy_notebooks(wanted: Path | None) -> Path:
    """Copy the shipped notebooks into a writable folder, keeping copies that were changed; return the folder."""
    source = beside("notebooks", "notebooks")
    folder = (wanted or Path("pdp_widgets_demo")).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{folder} is not writable")
    except OSError:
        if wanted is not None:
            raise
        folder = Path(tempfile.mkdtemp(prefix="pdp_widgets_demo_"))
    for original in sorted(source.glob("*.ipynb")):
        target = folder / original.name
        if not target.exists():
            shutil.copyfile(original, target)
        elif target.read_bytes() != original.read_bytes():
            print(f"Kept your own {target}; delete it to get the original again.")
    return folder
