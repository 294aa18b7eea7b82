"""README's examples run, one after the other, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pdp_widgets.widget.traits import BUNDLE

README = Path(__file__).resolve().parent.parent / "README.md"


@pytest.mark.skipif(
    not README.is_file() or not BUNDLE.is_file(), reason="no README.md, or no bundle, beside the package"
)
def test_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 2
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert (tmp_path / "model.html").stat().st_size > 100_000
    assert "CASE WHEN" in capsys.readouterr().out
    names["widget"].close()


@pytest.mark.skipif(not README.is_file(), reason="no README.md beside the package")
def test_every_notebook_is_listed():
    listed = re.findall(r"^\| \[(\w+)\]\(notebooks/\1\.ipynb\)", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in (README.parent / "notebooks").glob("*.ipynb"))
