"""The command line: `python -m pdp_widgets demo` opens the quickstart notebook, or writes it as a page that needs no Jupyter."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pdp_widgets import __version__

PACKAGE = Path(__file__).resolve().parent
NOTEBOOKS = ("quickstart.ipynb", "penguins.ipynb")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    if given.command != "demo":
        parser.print_help()
        return 0
    try:
        return write_page(given.html) if given.html else open_notebook(given)
    except OSError as error:
        print(f"pdp_widgets: {error}", file=sys.stderr)
        return 1


def make_parser() -> argparse.ArgumentParser:
    """Describe the commands and their options."""
    parser = argparse.ArgumentParser(
        prog="python -m pdp_widgets",
        description="Look inside fitted models: partial dependence and ICE curves, linked and brushable.",
    )
    parser.add_argument("--version", action="version", version=f"pdp_widgets {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands")
    demo = commands.add_parser(
        "demo",
        help="open the quickstart notebook in JupyterLab, or write it as a web page",
        description="Open a copy of the quickstart notebook (a model of diabetes progression; no internet needed) in JupyterLab, "
        "or write its widget as one interactive web page.",
        epilog="The copy in the folder is yours: the demo never overwrites a notebook that you changed.",
    )
    demo.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a stand-alone page to FILE instead; opens in any browser, without Jupyter",
    )
    demo.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="where the copied notebooks go (default: ./pdp_widgets_demo, or a temporary folder if that is not writable)",
    )
    demo.add_argument(
        "--port", type=int, metavar="N", help="JupyterLab's port (default: JupyterLab chooses, from 8888)"
    )
    demo.add_argument(
        "--no-browser", action="store_true", help="start JupyterLab, print its address and open no browser"
    )
    return parser


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
    """Copy the notebooks and run JupyterLab on the quickstart until it is stopped."""
    if importlib.util.find_spec("jupyterlab") is None:
        print(
            'pdp_widgets: the demo opens JupyterLab, which is not installed here: python -m pip install "pdp_widgets[demo]" (in a checkout: ".[demo]"), '
            "or write a page that needs no Jupyter: python -m pdp_widgets demo --html demo.html",
            file=sys.stderr,
        )
        return 1
    folder = copy_notebooks(given.folder)
    # The address that JupyterLab prints and opens leads to the notebook, also when no browser is opened here.
    start = f"--LabApp.default_url=/lab/tree/{NOTEBOOKS[0]}"
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", start]
    if given.no_browser:
        command.append("--no-browser")
    if given.port is not None:
        command += [f"--ServerApp.port={given.port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append(
            "--allow-root"
        )  # as in most containers; the server still listens on this machine only and asks for its token
    print(
        f"The notebooks are in {folder}. Saving one saves its widget as well. Stop JupyterLab with Ctrl-C.", flush=True
    )
    if os.name == "posix":
        os.execve(command[0], command, lab_environment())  # noqa: S606  # one process: signals reach JupyterLab
    return subprocess.run(command, env=lab_environment(), check=False).returncode


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
    for name in NOTEBOOKS:
        target = folder / name
        if not target.exists():
            shutil.copyfile(source / name, target)
        elif target.read_bytes() != (source / name).read_bytes():
            print(f"Kept your own {target}; delete it to get the original again.")
    return folder


def lab_environment() -> dict[str, str]:
    """Return the environment for JupyterLab in which a saved notebook keeps what its widgets show."""
    paths = [str(beside("jupyter_config", "jupyter-config")), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    return os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}


def beside(installed: str, checkout: str) -> Path:
    """Return a folder that a wheel carries inside the package and a checkout has beside it."""
    for folder in (PACKAGE / installed, PACKAGE.parent / checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"the installation is incomplete: {PACKAGE / installed} is missing; install pdp_widgets again"
    )


if __name__ == "__main__":
    sys.exit(main())
