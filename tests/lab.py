"""Driving a real JupyterLab or Notebook 7 in a real browser: start the server, open a notebook, run it, and ask its kernel.

Used by the tests (fixture `jupyter_lab` in conftest.py, test_host_jupyter.py) and by picture.py.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hosts.server import free_port, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

REPOSITORY = Path(__file__).resolve().parent.parent
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
CHROMIUM_FLAGS = (
    "--no-sandbox",  # Chromium refuses to start as root otherwise
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
# Messages that JupyterLab itself writes to the console, whatever the notebook does.
LAB_NOISE = ("favicon", "/api/kernels?", "terminals", "Deprecat", "deprecat", "lsp")


def find_chromium(playwright: Playwright) -> str | None:
    """Return the path of a Chromium: PDP_WIDGETS_CHROMIUM, else one on PATH, else the one that `playwright install` brought."""
    named = os.environ.get("PDP_WIDGETS_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if found:
        return found
    own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def launch(playwright: Playwright, executable: str) -> Browser:
    """Start Chromium without anything that talks to the outside."""
    return playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))


# Asks the kernel through the page's own connection.
ASK = """async ([path, expression]) => {
    const panel = [...window.jupyterapp.shell.widgets('main')].find(widget => widget.context?.path === path);
    const request = {code: '', user_expressions: {value: expression}, silent: true, store_history: false};
    const reply = await panel.sessionContext.session.kernel.requestExecute(request).done;
    return reply.content.user_expressions.value;
}"""


class App(NamedTuple):
    """An application of Jupyter's server that shows notebooks with JupyterLab's parts."""

    module: str
    name: str
    page: str


LAB = App("jupyterlab", "LabApp", "lab/tree/{name}?reset")
NOTEBOOK = App("notebook", "JupyterNotebookApp", "notebooks/{name}")


class Lab:
    """A running JupyterLab server, or another app like it, with a notebook folder of its own."""

    def __init__(self, url: str, folder: Path, app: App = LAB) -> None:
        self.url = url
        self.folder = folder
        self.app = app

    def get(self, path: str) -> Any:
        """Ask the server's REST interface."""
        with urllib.request.urlopen(f"{self.url}/{path}", timeout=20) as answer:
            return json.load(answer)

    def open(self, page: Page, notebook: Path | Any, *, name: str | None = None) -> Notebook:
        """Copy a notebook (a path or an nbformat notebook) into the server's folder and open it in a page."""
        import nbformat

        content = nbformat.read(notebook, as_version=4) if isinstance(notebook, Path) else notebook
        name = name or (notebook.name if isinstance(notebook, Path) else "check.ipynb")
        nbformat.write(content, self.folder / name)
        errors = watch_errors(page)
        page.goto(f"{self.url}/{self.app.page.format(name=name)}", wait_until="domcontentloaded")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90_000)
        opened = Notebook(self, page, name, errors)
        opened.wait_for_kernel()
        return opened


class Notebook:
    """A notebook open in JupyterLab."""

    def __init__(self, lab: Lab, page: Page, name: str, errors: list[str]) -> None:
        self.lab = lab
        self.page = page
        self.name = name
        self.errors = errors
        """What the page complained about so far: console errors and uncaught exceptions."""

    def command(self, name: str, **arguments: Any) -> None:
        """Run one of JupyterLab's commands, as its menus do."""
        self.page.evaluate(
            "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }", [name, arguments]
        )

    def wait_for_kernel(self, seconds: float = 90) -> str:
        """Wait until the notebook's kernel is attached and idle; return its id."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            kernel = self.kernel()
            if kernel and kernel["execution_state"] == "idle":
                return kernel["id"]
            self.page.wait_for_timeout(200)
        raise AssertionError(f"no idle kernel for {self.name} within {seconds} s: {self.lab.get('api/sessions')}")

    def kernel(self) -> dict[str, Any] | None:
        """Return the notebook's kernel as the server describes it."""
        return next((s["kernel"] for s in self.lab.get("api/sessions") if s["path"] == self.name), None)

    def run_all(self, seconds: float = 120) -> None:
        """Run all cells and wait until the last one has run; "Run All" before the page is attached to the kernel runs nothing, so try again."""
        cells = self.page.locator(".jp-Notebook .jp-CodeCell").count()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(Exception):  # the command is refused while the session is not ready
                self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
            if self._wait_for(lambda: self._prompts("[") > 0, 8):
                break
        done = self._wait_for(lambda: self._counted() == cells or self._failures(), max(5.0, end - time.monotonic()))
        assert not (failures := self._failures()), "\n".join(failures)
        assert done, f"{self._counted()} of {cells} code cells of {self.name} ran within {seconds} s"

    def ask(self, expression: str) -> Any:
        """Evaluate an expression in the notebook's kernel and return the value through JSON."""
        value = self.page.evaluate(ASK, [self.name, f"__import__('json').dumps({expression}, default=str)"])
        if value["status"] != "ok":
            raise AssertionError(f"{expression}: {value['ename']}: {value['evalue']}")
        return json.loads(ast.literal_eval(value["data"]["text/plain"]))

    def wait_until(self, expression: str, seconds: float = 15) -> Any:
        """Evaluate an expression in the kernel until it is true; return the value."""
        end = time.monotonic() + seconds
        while True:
            value = self.ask(expression)
            if value or time.monotonic() > end:
                assert value, f"{expression} was not true within {seconds} s"
                return value
            self.page.wait_for_timeout(100)

    def set_theme(self, name: str) -> None:
        """Switch to "JupyterLab Light" or "JupyterLab Dark"."""
        self.command("apputils:change-theme", theme=name)
        light = "false" if "Dark" in name else "true"
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached", timeout=15_000)

    def shutdown(self) -> None:
        """End the notebook's kernel."""
        session = next((s["id"] for s in self.lab.get("api/sessions") if s["path"] == self.name), None)
        if session:
            self.page.evaluate("id => window.jupyterapp.serviceManager.sessions.shutdown(id)", session)

    def kill(self) -> None:
        """End the notebook's kernel as somebody else does, through the server: the page is not told."""
        kernel = self.kernel()
        assert kernel is not None
        cookies = {cookie["name"]: cookie["value"] for cookie in self.page.context.cookies()}
        answer = self.page.context.request.delete(
            f"{self.lab.url}/api/kernels/{kernel['id']}", headers={"X-XSRFToken": cookies.get("_xsrf", "")}
        )
        assert answer.ok, answer.text()

    def _prompts(self, start: str) -> int:
        texts = self.page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").all_inner_texts()
        return sum(text.startswith(start) and text != "[ ]:" for text in texts)

    def _failures(self) -> list[str]:
        """What went wrong in the notebook: errors, and everything on standard error."""
        shown = self.page.locator(
            '.jp-Notebook [data-mime-type="application/vnd.jupyter.stderr"], .jp-Notebook [data-mime-type="application/vnd.jupyter.error"]'
        )
        return shown.all_inner_texts()

    def _counted(self) -> int:
        texts = self.page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").all_inner_texts()
        return sum(text.strip("[]: ").isdigit() for text in texts)

    def _wait_for(self, ready: Any, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if ready():
                return True
            self.page.wait_for_timeout(150)
        return False


@contextlib.contextmanager
def serve(folder: Path, app: App = LAB) -> Iterator[Lab]:
    """Run JupyterLab, or another app like it, on a free port with settings, kernels and notebooks of its own under `folder`."""
    port = free_port()
    notebooks = folder / "notebooks"
    notebooks.mkdir(parents=True, exist_ok=True)
    settings = folder / "settings" / "@jupyterlab"
    write_settings(
        settings / "apputils-extension" / "notification",
        fetchNews="false",
        checkForUpdates=False,
        doNotDisturbMode=True,
    )
    write_settings(
        settings / "notebook-extension" / "tracker", windowingMode="none"
    )  # a cell out of sight is drawn too
    command = [
        sys.executable, "-m", app.module, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        "--IdentityProvider.token=", f"--{app.name}.expose_app_in_browser=True", f"--ServerApp.root_dir={notebooks}",
    ]  # fmt: skip
    lab = Lab(f"http://127.0.0.1:{port}", notebooks, app)
    with running(command, folder, f"{lab.url}/api"):
        yield lab


def watch_errors(page: Page) -> list[str]:
    """Collect what a page complains about from now on."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))
    page.on(
        "console",
        lambda message: errors.append(message.text) if message.type == "error" and not _is_noise(message) else None,
    )
    return errors


def write_settings(plugin: Path, **values: Any) -> None:
    """Write a plugin's settings as JupyterLab stores a person's own."""
    plugin.parent.mkdir(parents=True, exist_ok=True)
    plugin.with_suffix(".jupyterlab-settings").write_text(json.dumps(values), encoding="utf-8")


def _is_noise(message: Any) -> bool:
    text = f"{message.text} {message.location.get('url', '')}"
    return any(noise in text for noise in LAB_NOISE)
