"""Every notebook runs from top to bottom, is small, and is stored without outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
VIEW = "application/vnd.jupyter.widget-view+json"


def test_the_notebooks_are_found() -> None:
    assert {"quickstart.ipynb", "penguins.ipynb"} <= {path.name for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_small_clean_and_opens_with_a_question(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.stat().st_size < 60_000
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert notebook.cells[0].source.startswith("# ")
    assert "?" in notebook.cells[0].source.splitlines()[0]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [cell for cell in code if cell.outputs or cell.execution_count]
    assert "widgets" not in notebook.metadata


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent))
    notebook = nbformat.read(path, as_version=4)
    # The notebook's own folder is not where it runs: nothing may depend on files beside it.
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    complaints = [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    assert not complaints, "\n".join(complaints)
    assert any(VIEW in output.get("data", {}) for output in outputs), "no widget was shown"
