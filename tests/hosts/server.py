"""Starting a host's server on a free port, with settings, kernels and runtime files of its own, and ending it again."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def environment(folder: Path) -> dict[str, str]:
    """This machine's environment, with all that Jupyter and IPython read or write under `folder`."""
    runtime = folder / "runtime"
    runtime.mkdir(parents=True, exist_ok=True)
    return os.environ | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_CONFIG_PATH": str(REPOSITORY / "jupyter-config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "IPYTHONDIR": str(folder / "ipython"),
        "XDG_CONFIG_HOME": str(folder / "xdg"),  # marimo's settings
        "PYTHONPATH": str(REPOSITORY),  # the kernels run what the other tests run: this checkout
    }


@contextlib.contextmanager
def running(command: Sequence[str], folder: Path, answers: str, *, seconds: float = 90) -> Iterator[None]:
    """Run a server in `folder` until the block ends; the block begins when the address `answers` does."""
    log = folder / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment(folder), cwd=folder
        )
    try:
        end = time.monotonic() + seconds
        while True:
            try:
                urllib.request.urlopen(answers, timeout=20).close()
                break
            except OSError as error:
                if isinstance(error, urllib.error.HTTPError) or server.poll() is not None or time.monotonic() > end:
                    said = log.read_text(encoding="utf-8", errors="replace")[-3000:]
                    raise RuntimeError(f"{' '.join(command)} did not start ({error}):\n{said}") from None
                time.sleep(0.2)
        yield
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
