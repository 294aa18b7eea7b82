"""The widget in the renderer that VS Code uses, with a real kernel: it is drawn, the mouse selects in Python, it follows the theme.

See tests/hosts/vscode/README.md for what of VS Code is there and what is not.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import missing
from hosts import brush
from hosts.server import free_port, running
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FOLDER = Path(__file__).resolve().parent / "hosts" / "vscode"
# VS Code sets none for notebooks unless `notebook.experimental.enableCsp` is on, and then this one without `blob:`, with which no anywidget
# can be shown (all are imported from such an address); `ws:` is the page's own way to its kernel, which VS Code has elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self' blob: 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' https: http: data:; font-src 'self' https:; connect-src 'self' ws: https:; child-src https: data:"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a Jupyter server has the page, plain and under VS Code's policy."""
    modules = FOLDER / "node_modules"
    if shutil.which("npm") is None:
        missing("there is no Node with npm on PATH to bundle the page of VS Code's renderer")
    if not modules.is_dir():
        missing(f"VS Code's renderer is not installed (npm ci in {FOLDER})")
    folder = tmp_path_factory.mktemp("vscode")
    static = folder / "static"
    build = ["npm", "run", "--silent", "build", "--", f"--outfile={static / 'host.js'}"]
    subprocess.run(build, check=True, cwd=FOLDER, timeout=60)
    shutil.copy(modules / "@vscode" / "jupyter-ipywidgets8" / "dist" / "ipywidgets.js", static)
    shutil.copy(modules / "requirejs" / "require.js", static)
    scripts = Path("share", "jupyter", "nbextensions", "anywidget")
    shutil.copytree(sys.prefix / scripts, static / "nbextensions" / "anywidget")
    page = (FOLDER / "page.html").read_text(encoding="utf-8")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    (static / "page.html").write_text(page, encoding="utf-8")
    (static / "policy.html").write_text(page.replace("<!-- policy -->", policy), encoding="utf-8")
    port = free_port()
    command = [
        sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", f"--ServerApp.extra_static_paths={static}",
    ]  # fmt: skip
    with running(command, folder, f"http://127.0.0.1:{port}/api"):
        yield f"http://127.0.0.1:{port}/static"


class Host:
    """VS Code's renderer in a page."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.errors = brush.watch(page)
        page.goto(address)

    def run(self, code: str) -> None:
        """Run a cell and show its widgets."""
        self.page.evaluate("async code => await (await host).run(code)", code)
        assert self.page.evaluate("async () => (await host).failures") == []

    def ask(self, expression: str) -> Any:
        """Evaluate an expression in the kernel and return the value through JSON."""
        value = self.page.evaluate("async e => await (await host).ask(e)", f"__import__('json').dumps({expression})")
        assert value["status"] == "ok", f"{expression}: {value}"
        return json.loads(ast.literal_eval(value["data"]["text/plain"]))

    def end(self) -> None:
        self.page.evaluate("async () => await (await host).end()")


@pytest.fixture(scope="module")
def control(browser: Browser, address: str) -> list[str]:
    """What the console says of a page without our widget."""
    with browser.new_context() as context:
        host = Host(context.new_page(), f"{address}/policy.html")
        host.run(brush.CONTROL)
        host.page.locator(".not-ours").wait_for()
        host.end()
    return host.errors


@pytest.mark.parametrize("name", ["page", "policy"])
def test_a_drag_over_the_histogram_selects_in_python(
    name: str, browser: Browser, address: str, control: list[str], screenshots: Path, tmp_path: Path
) -> None:
    with browser.new_context(viewport={"width": 1400, "height": 1200}) as context:
        host = Host(context.new_page(), f"{address}/{name}.html")
        host.run(brush.CODE + "widget")
        widget = WidgetOnPage(host.page)
        assert {"heatmap", "interactions"} <= set(brush.wait_for_panels(widget))
        python = brush.check_brush(widget, lambda: host.ask(brush.SELECTED))
        host.run(brush.PART)
        brush.check_part(WidgetOnPage(host.page, 1), python)
        for kind, low, high in (
            ("vscode-light", 0.9, 1.0),
            ("vscode-high-contrast", 0, 0.25),
            ("vscode-dark", 0, 0.25),
        ):
            host.page.evaluate(
                "kind => { document.body.className = document.body.dataset.vscodeThemeKind = kind; }", kind
            )
            host.page.wait_for_timeout(200)
            assert low <= widget.root.evaluate(brush.BRIGHTNESS) <= high, kind
        host.page.screenshot(path=screenshots / f"vscode-{name}.png")
        # In VS Code itself the webview catches such links and asks where to save; here the browser does.
        for item, call in (("svg", "save_image"), ("png", "save_image"), ("csv", "save_table")):
            with host.page.expect_download() as info:
                widget.find("download-curves").click()
                widget.find(f"download-curves-{item}").click()
            host.ask(f"str(widget.{call}({str(tmp_path / f'f.{item}')!r}))")
            assert Path(info.value.path()).read_bytes() == (tmp_path / f"f.{item}").read_bytes()
        assert brush.without(host.errors, control) == []
        host.end()
