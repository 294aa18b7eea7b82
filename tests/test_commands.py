"""The commands `explain` and `jupyter-config`, and what the command line says when something is wrong."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pdp_widgets import __main__ as cli
from pdp_widgets.commands import explain, jupyter_config, reference

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"temp": rng.normal(15, 5, 80).round(2), "wind": rng.integers(0, 9, 80), "w": rng.random(80).round(3)}
    )
    return X.assign(rentals=(3 * X["temp"] - X["wind"]).round(3), date="2024-01-01")


@pytest.fixture
def files(table: pd.DataFrame, tmp_path: Path) -> Path:
    """A folder with a model and its rows."""
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.to_parquet(tmp_path / "rows.parquet")
    joblib.dump(LinearRegression().fit(table[["wind", "temp"]], table["rentals"]), tmp_path / "model.joblib")
    return tmp_path


def record(page: Path) -> dict:
    """What an exported page holds."""
    found = re.search(r'<script type="application/json" id="record">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


class TestExplain:
    @pytest.mark.parametrize("data", ["rows.csv", "rows.parquet"])
    def test_writes_the_page(self, files: Path, data: str, capsys: pytest.CaptureFixture[str]) -> None:
        page = files / "new" / "page.html"
        code = cli.main(
            ["explain", str(files / "model.joblib"), str(files / data), "--html", str(page), "--target", "rentals",
             "--weight", "w", "--feature", "wind", "--rows", "50", "--title", "Bikes <&>"]
        )  # fmt: skip
        said = capsys.readouterr()
        assert code == 0
        assert f"wrote {page}" in said.out
        assert "warning: opening" in said.err
        assert "runs whatever code is in it" in said.err
        assert "left out: date" in said.err
        held = record(page)["traits"]
        assert held["feature"] == "wind"
        assert [one["name"] for one in held["_info"]["features"]] == ["wind", "temp"]
        assert (held["_info"]["rows"], held["_info"]["rows_given"], held["_info"]["weighted"]) == (50, 80, True)
        assert "<title>Bikes &lt;&amp;&gt;</title>" in page.read_text("utf-8")

    def test_a_class_is_named_by_label_or_position(self, files: Path, table: pd.DataFrame) -> None:
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
            table[["temp", "wind"]], np.where(table["rentals"] > 40, "many", "few")
        )
        joblib.dump(model, files / "classes.pkl")
        for given in ("few", "0"):
            assert (
                cli.main(
                    [
                        "explain",
                        str(files / "classes.pkl"),
                        str(files / "rows.csv"),
                        "--html",
                        str(files / "p.html"),
                        "--output",
                        given,
                    ]
                )
                == 0
            )
            assert record(files / "p.html")["traits"]["output"] == "few"

    def test_a_skops_file_is_opened_without_running_code(
        self, files: Path, table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
    ) -> None:
        io = pytest.importorskip("skops.io")
        model = LinearRegression().fit(table[["wind", "temp"]], table["rentals"])
        io.dump(model, files / "model.skops")
        loaded = explain.load_model(files / "model.skops", [])
        np.testing.assert_array_equal(loaded.coef_, model.coef_)
        assert capsys.readouterr().err == ""

        class Own(LinearRegression):
            pass

        globals()["Own"] = Own
        Own.__qualname__ = "Own"
        io.dump(Own().fit(table[["wind", "temp"]], table["rentals"]), files / "own.skops")
        with pytest.raises(
            ValueError, match=r"not known to be harmless; if you trust them, add: --trust test_commands\.Own"
        ):
            explain.load_model(files / "own.skops", [])
        assert type(explain.load_model(files / "own.skops", ["test_commands.Own"])).__name__ == "Own"

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (["no.joblib", "rows.csv"], "MODEL: there is no file .*no.joblib"),
            (["model.joblib", "no.csv"], "DATA: there is no file .*no.csv"),
            (["rows.csv", "rows.csv"], r"MODEL: .*rows.csv is none of .joblib, .pkl, .pickle and .skops"),
            (["model.joblib", "model.joblib"], "DATA: .* is neither a .csv nor a .parquet file"),
            (["broken.joblib", "rows.csv"], "MODEL: .*broken.joblib cannot be loaded"),
            (["model.joblib", "broken.parquet"], "DATA: .*broken.parquet cannot be read"),
            (["model.joblib", "rows.csv", "--target", "rental"], "column 'rental' is not a column of DATA; did you mean 'rentals'"),
            (["model.joblib", "few.csv"], "DATA lacks columns that the model was fitted to: wind"),
            (["model.joblib", "rows.csv", "--feature", "tmp"], "feature 'tmp' is not .*did you mean 'temp'"),
            (["dict.joblib", "rows.csv"], "predict"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_said_in_one_line(
        self, files: Path, table: pd.DataFrame, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
    ) -> None:
        (files / "broken.joblib").write_bytes(b"nothing")
        (files / "broken.parquet").write_bytes(b"nothing")
        table[["temp"]].to_csv(files / "few.csv", index=False)
        joblib.dump({"a": 1}, files / "dict.joblib")
        model, data, *rest = arguments
        code = cli.main(["explain", str(files / model), str(files / data), "--html", str(files / "p.html"), *rest])
        said = capsys.readouterr()
        assert code == 1
        assert re.search(expected, said.err), said.err
        assert said.err.splitlines()[-1].startswith("pdp_widgets: ")
        assert not (files / "p.html").exists()

    def test_missing_packages_are_named(
        self, files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (files / "m.skops").write_bytes(b"")
        monkeypatch.setitem(sys.modules, "skops", None)
        monkeypatch.setitem(sys.modules, "skops.io", None)
        assert (
            cli.main(["explain", str(files / "m.skops"), str(files / "rows.csv"), "--html", str(files / "p.html")]) == 1
        )
        assert "python -m pip install skops" in capsys.readouterr().err


class TestJupyterConfig:
    @pytest.fixture(autouse=True)
    def folders(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Folders of Jupyter's in which something is already."""
        monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "user"))
        monkeypatch.setattr("jupyter_core.paths.ENV_CONFIG_PATH", [str(tmp_path / "prefix")])
        for name in ("user", "prefix"):
            other = tmp_path / name / "labconfig" / "default_setting_overrides.d" / "other.json"
            other.parent.mkdir(parents=True)
            other.write_text("{}")
        return tmp_path

    def everything(self, folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    @pytest.mark.parametrize(("option", "name"), [([], "user"), (["--user"], "user"), (["--sys-prefix"], "prefix")])
    def test_exactly_one_file_comes_and_goes(
        self, folders: Path, option: list[str], name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = self.everything(folders)
        assert cli.main(["jupyter-config", "enable", *option]) == 0
        said = capsys.readouterr().out
        key = f"{name}/{jupyter_config.SETTING}"
        assert str(folders / key) in said
        assert "values of up to 500 rows" in said
        after = self.everything(folders)
        assert after.keys() - before.keys() == {key}
        assert json.loads(after[key]) == {"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True}}
        assert cli.main(["jupyter-config", "enable", *option]) == 0
        capsys.readouterr()
        assert cli.main(["jupyter-config", "status"]) == 0
        said = capsys.readouterr().out
        assert said.count(": enabled (") == said.count(": not enabled (") == 1
        assert cli.main(["jupyter-config", "disable", *option]) == 0
        assert self.everything(folders) == before
        assert cli.main(["jupyter-config", "disable", *option]) == 0
        assert "was not enabled" in capsys.readouterr().out

    def test_a_file_that_was_changed_is_left_alone(self, folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
        target = folders / "user" / jupyter_config.SETTING
        target.write_text('{"mine": true}')
        for action in ("enable", "disable"):
            assert cli.main(["jupyter-config", action]) == 1
            assert "not as pdp_widgets wrote it" in capsys.readouterr().err
        assert cli.main(["jupyter-config", "status"]) == 0
        assert "--user: changed" in capsys.readouterr().out
        assert target.read_text() == '{"mine": true}'

    def test_both_places_at_once_are_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="2"):
            cli.main(["jupyter-config", "enable", "--user", "--sys-prefix"])
        assert "not allowed with" in capsys.readouterr().err

    def test_without_jupyter_there_is_nothing_to_do(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "jupyter_core.paths", None)
        assert cli.main(["jupyter-config", "status"]) == 1
        assert "no Jupyter in this environment" in capsys.readouterr().err

    def test_jupyterlab_reads_the_setting(self, folders: Path) -> None:
        pytest.importorskip("jupyterlab_server")
        assert cli.main(["jupyter-config", "enable"]) == 0
        code = (
            "from jupyterlab_server.settings_utils import get_settings\n"
            "from jupyterlab_server.config import *\n"
            "from jupyterlab_server import settings_utils as s\n"
            "from pathlib import Path\n"
            "import jupyterlab\n"
            "found, _ = s._get_overrides(Path('nowhere'))\n"
            "print(found.get('@jupyter-widgets/jupyterlab-manager:plugin'))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True,
            env=os.environ | {"JUPYTER_CONFIG_DIR": str(folders / "user")},
        )  # fmt: skip
        assert done.stdout.strip() == "{'saveState': True}"


def test_the_shipped_configuration_is_one_that_jupyter_reads() -> None:
    folder = REPOSITORY / "jupyter-config"
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {str(jupyter_config.SETTING), "voila.json"}
    for name in names:
        assert isinstance(json.loads((folder / name).read_text("utf-8")), dict)
    voila = pytest.importorskip("voila.configuration")
    known = voila.VoilaConfiguration.class_traits()
    assert set(json.loads((folder / "voila.json").read_text("utf-8"))["VoilaConfiguration"]) <= set(known)


def test_help_tells_what_each_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    for command, words in {
        "explain": ("--html FILE", "--target COLUMN", "--trust TYPE", "run whatever code"),
        "jupyter-config": ("enable", "--sys-prefix", "values of up to 500 rows"),
        "demo": ("--voila",),
    }.items():
        with pytest.raises(SystemExit, match="0"):
            cli.main([command, "--help"])
        said = " ".join(capsys.readouterr().out.split())
        assert all(word in said for word in words), said
    with pytest.raises(SystemExit, match="2"):
        cli.main(["explian"])
    assert "explain" in capsys.readouterr().err


def test_demo_is_a_page_or_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "--html", "x.html", "--voila"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_reference_has_what_users_meet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pdoc")
    done = subprocess.run(
        [sys.executable, "-m", "pdp_widgets", "reference", str(tmp_path / "pages")],
        capture_output=True, text=True, timeout=200, check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    main = (tmp_path / "pages" / "pdp_widgets.html").read_text("utf-8")
    for name in (
        "Explainer.partial_dependence",
        "PDPWidget.select",
        "RuleFitRegressor.with_n_terms",
        "RuleSet.to_sql",
        "compare",
    ):
        assert f'id="{name}"' in main, name
    for page, name in {
        "explain/results": "PartialDependence.heterogeneity",
        "explain/background": "Background.mask", "widget/traits": "WidgetTraits.sort_by",
    }.items():  # fmt: skip
        assert f'id="{name}"' in (tmp_path / "pages" / "pdp_widgets" / f"{page}.html").read_text("utf-8"), name


def test_every_module_of_the_reference_is_there() -> None:
    for name in reference.MODULES:
        assert importlib.import_module(name).__doc__


def test_reference_without_pdoc_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pdoc", None)
    assert cli.main(["reference", str(tmp_path)]) == 1
    assert "needs pdoc" in capsys.readouterr().err
