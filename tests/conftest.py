"""Fixtures for what needs a browser, a JupyterLab or files beside the repository."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import pytest

if TYPE_CHECKING:
    from lab import Lab
    from playwright.sync_api import Browser, Page
    from stub_page import Stub

REPOSITORY = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "").lower() == "true"


def missing(reason: str) -> NoReturn:
    """Skip what needs a browser where a person has none; in CI a missing browser is a failure."""
    if IN_CI:
        pytest.fail(f"{reason}; with CI=true the browser tests may not be skipped", pytrace=False)
    pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what compares with something that this scikit-learn does not have yet; the package itself works with older ones."""
    import sklearn

    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 7):
        return
    for item in items:
        source = inspect.getsource(item.function) if isinstance(item, pytest.Function) else ""
        if "custom_values" in source:
            item.add_marker(pytest.mark.skip(reason="scikit-learn takes grid values from 1.7 on"))


# One browser for each test module, not for the whole session: Playwright's event loop runs in the main thread as long as it lives,
# and tests without a browser shall not see a running loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the Python package playwright is not installed")
    from lab import find_chromium, launch

    with sync_playwright() as playwright:
        executable = find_chromium(playwright)
        if executable is None:
            missing(
                "no Chromium on PATH (Debian and Ubuntu: apt-get install chromium; elsewhere: python -m playwright install chromium)"
            )
        chromium = launch(playwright, executable)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page in a context of its own, 1400 x 1000."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    yield context.new_page()
    context.close()


@pytest.fixture
def open_stub(browser: Browser) -> Iterator[Callable[..., Stub]]:
    """Opens pages of the stub host, each in a context of its own; the test fails if one of them logged an error."""
    from stub_page import BUNDLE, Stub

    if not BUNDLE.is_file():
        pytest.fail("the bundle is not built: cd js && npm ci && npm run build", pytrace=False)
    contexts, stubs = [], []

    def open_page(width: int = 1400, height: int = 1000, scheme: Literal["light", "dark"] = "light") -> Stub:
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme))
        stubs.append(Stub(contexts[-1].new_page()))
        return stubs[-1]

    yield open_page
    errors = [error for stub in stubs for error in stub.errors]
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def jupyter_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab with a notebook folder, settings and runtime of its own; see lab.py for what it can do."""
    try:
        import jupyterlab  # noqa: F401
    except ImportError:
        missing("jupyterlab is not installed")
    from lab import serve

    with serve(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of teaching data sets (PDP_WIDGETS_DATA, else shared/data beside the repository); most machines have none."""
    folder = Path(os.environ.get("PDP_WIDGETS_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the teaching data sets are not in {folder} (PDP_WIDGETS_DATA names another folder)")
    return folder


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """The folder where tests leave their screenshots (git-ignored)."""
    folder = REPOSITORY / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder
