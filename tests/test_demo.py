"""The command line, and the page that it writes: opened from disk, without network, in a real browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab import watch_errors
from widget_page import WidgetOnPage

import pdp_widgets
from pdp_widgets import __main__ as cli
from pdp_widgets import datasets
from pdp_widgets.commands import demo
from pdp_widgets.commands.files import jupyter_environment

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPOSITORY = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-m", "pdp_widgets")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(REPOSITORY)}


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for option, expected in {"--version": f"pdp_widgets {pdp_widgets.__version__}", "--help": "demo"}.items():
        with pytest.raises(SystemExit, match="0"):
            cli.main([option])
        assert expected in capsys.readouterr().out
    assert cli.main([]) == 0
    assert "open the quickstart notebook" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        cli.main(["demo", "--help"])
    said = capsys.readouterr().out
    assert all(option in said for option in ("--html FILE", "--voila", "--folder DIR", "--port N", "--no-browser"))


def test_notebooks_are_copied_once_and_changed_copies_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = demo.copy_notebooks(tmp_path / "mine")
    assert folder == tmp_path / "mine"
    copy = folder / "quickstart.ipynb"
    assert copy.read_bytes() == (REPOSITORY / "notebooks" / "quickstart.ipynb").read_bytes()
    assert (folder / "penguins.ipynb").is_file()
    copy.write_text("my work", encoding="utf-8")
    assert capsys.readouterr().out == ""
    demo.copy_notebooks(tmp_path / "mine")
    assert copy.read_text(encoding="utf-8") == "my work"
    assert f"Kept your own {copy}" in capsys.readouterr().out


def test_notebooks_go_to_a_temporary_folder_where_this_one_is_not_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pdp_widgets_demo").write_text("a file stands in the way", encoding="utf-8")
    folder = demo.copy_notebooks(None)
    assert tmp_path not in folder.parents
    assert (folder / "quickstart.ipynb").is_file()
    with pytest.raises(OSError, match="pdp_widgets_demo"):
        demo.copy_notebooks(tmp_path / "pdp_widgets_demo")


def test_notebook_settings_are_added_to_the_ones_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/somewhere")
    ours, theirs = jupyter_environment()["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert (Path(ours) / "labconfig" / "default_setting_overrides.d" / "pdp_widgets.json").is_file()
    assert theirs == "/somewhere"


def test_data_sets_are_on_the_machine_and_in_their_own_units(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = datasets.diabetes()
    assert (X.shape, y.shape, y.name) == ((442, 10), (442,), "progression")
    assert 18 <= X["age"].min() < X["age"].max() <= 80
    assert set(X.attrs["units"]) == set(X.columns)
    birds = datasets.penguins()
    assert birds.shape == (333, 8)
    assert not birds.isna().any(axis=None)
    assert len(datasets.penguins(drop_missing=False)) == 344
    assert birds["species"].value_counts().to_dict() == {"Adelie": 146, "Gentoo": 119, "Chinstrap": 68}
    monkeypatch.setitem(sys.modules, "palmerpenguins", None)
    with pytest.raises(ImportError, match=r"not installed: python -m pip install palmerpenguins"):
        datasets.penguins()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="stops JupyterLab with a signal")
def test_demo_serves_the_quickstart_in_jupyterlab(tmp_path: Path) -> None:
    pytest.importorskip("jupyterlab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*COMMAND, "demo", "--no-browser", "--port", str(port), "--folder", str(tmp_path / "books")],
            cwd=tmp_path, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=ENVIRONMENT,
        )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while not (
            found := re.search(
                rf"http://(?:localhost|127\.0\.0\.1):{port}/lab/tree/quickstart\.ipynb\?token=(\w+)", log.read_text()
            )
        ):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.2)
        assert str(tmp_path / "books") in log.read_text()
        address = f"http://127.0.0.1:{port}/api/contents/quickstart.ipynb?content=0&token={found[1]}"
        while True:  # the log names the address before anybody listens there
            try:
                with urllib.request.urlopen(address, timeout=20) as answer:
                    assert answer.status == 200
                break
            except urllib.error.HTTPError:
                raise
            except urllib.error.URLError:
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.2)
        with pytest.raises(urllib.error.HTTPError, match="403"):  # no token, no access
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/contents", timeout=20)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's stand-alone page."""
    target = tmp_path_factory.mktemp("page") / "made" / "demo.html"
    done = subprocess.run(
        [*COMMAND, "demo", "--html", str(target)],
        cwd=target.parent.parent,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"wrote {target}" in done.stdout
    assert done.stderr == ""
    return target


@pytest.mark.browser
@pytest.mark.slow
def test_exported_page_works_from_disk_without_network(exported: Path, browser: Browser, screenshots: Path) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 800}, offline=True)
    page = context.new_page()
    errors = watch_errors(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(exported.as_uri())
    widget = WidgetOnPage(page)
    widget.find("rows").get_by_text("442").wait_for()
    before = widget.pixels("curves")
    assert before[0][0] > 3000, "the curves are not drawn"
    assert "no kernel" in widget.root.inner_text()

    first = widget.title
    other = "blood_pressure" if first != "blood_pressure" else "bmi"
    widget.choose(other)
    assert widget.title == other
    assert widget.pixels("curves") != before

    plain = widget.pixels("curves")
    widget.drag("histogram", (0.5, 0.4), (0.9, 0.5))
    page.wait_for_function("node => Number(node.dataset.n) > 0", arg=widget.find("selection-n").element_handle())
    page.wait_for_timeout(300)
    assert 0 < (widget.n or 0) < 442
    assert widget.pixels("curves") != plain
    page.screenshot(path=screenshots / "demo-page.png")
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert exported.stat().st_size < 5_000_000
    context.close()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="stops Voila with a signal")
def test_demo_serves_the_quickstart_as_a_dashboard(tmp_path: Path) -> None:
    pytest.importorskip("voila")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*COMMAND, "demo", "--voila", "--no-browser", "--port", str(port), "--folder", str(tmp_path / "books")],
            cwd=tmp_path, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=ENVIRONMENT,
        )  # fmt: skip
    try:
        end = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=90) as answer:
                    page = answer.read().decode("utf-8")
                break
            except urllib.error.HTTPError:
                raise
            except urllib.error.URLError:
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.2)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
    assert "application/vnd.jupyter.widget-view+json" in page
    assert "ModuleNotFoundError" not in page
