"""export_html: one file that needs nothing else, and nothing in the data can break out of it."""

from __future__ import annotations

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
from widget_tools import arrays, frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets import Explainer
from pdp_widgets.widget import export
from pdp_widgets.widget.carry import packed

# ruff: noqa: F811

NASTY = ["</script><script>alert(1)</script>", "<!--", "a\u2028b", "]]>", "&lt;", "\\u003c", "🐧", "{x}"]


def element(page, name):
    return re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


def test_everything_is_in_the_file_and_escaped(make, tmp_path):
    X = pd.DataFrame({name: np.arange(12.0) for name in NASTY})
    X["level"] = NASTY[:4] * 3
    w = make(lambda X: X.iloc[:, 0].to_numpy(), X, feature=NASTY[0])
    w.select("level == '" + NASTY[0] + "'")
    path = w.export_html(tmp_path / "page.html", title="</title><script>alert(2)</script>")
    page = path.read_text(encoding="utf-8")
    assert page.count("<script") == page.count("</script>") == 3
    assert "\u2028" not in page
    assert "<title>&lt;/title&gt;&lt;script&gt;" in page
    assert not re.search(r"""(src|href)\s*=|https?://(?!www\.w3\.org)""", page.replace(element(page, "bundle"), ""))
    record = json.loads(element(page, "record"))
    assert [feature["name"] for feature in record["traits"]["_info"]["features"]] == [*NASTY, "level"]
    assert record["traits"]["_selection"]["text"] == w.selection.text
    assert unpacked(json.loads(element(page, "bundle"))) == export.traits.BUNDLE.read_text(encoding="utf-8")


def unpacked(module):
    return gzip.decompress(base64.b64decode(re.search(r'const packed = "([^"]*)"', module)[1])).decode("utf-8")


def test_the_bundle_travels_packed_and_always_the_same(make):
    w = make()
    code = export.traits.BUNDLE.read_text(encoding="utf-8")
    assert unpacked(w._esm) == code
    assert w._esm == packed.__wrapped__(code)
    if len(code) > 10_000:
        assert len(w._esm) < 0.6 * len(code)


def test_a_page_holds_all_panels_without_one_being_shown_before(make, tmp_path):
    w = make(feature="temp")
    record = json.loads(element(w.export_html(tmp_path / "page.html").read_text(encoding="utf-8"), "record"))
    states = {name: record["traits"][f"_{name}"]["status"]["state"] for name in w.panels}
    assert set(states.values()) == {"done"}, states


def test_a_page_of_a_sample_says_of_how_many_rows(make, tmp_path):
    w = make(background=100)
    assert "100 rows of 300" in repr(w)
    record = json.loads(element(w.export_html(tmp_path / "page.html").read_text(encoding="utf-8"), "record"))
    info = record["traits"]["_info"]
    assert (info["rows"], info["rows_given"]) == (100, 300)
    assert {curve["_curve"]["total"] for curve in record["curves"].values()} == {100}


def test_curves_of_every_feature_and_output_are_recorded(make, tmp_path):
    w = make(two_outputs, output=1)
    record = json.loads(element(w.export_html(tmp_path / "p.html").read_text(encoding="utf-8"), "record"))
    assert set(record["curves"]) == {f"{name}\0{output}" for name in frame() for output in w._info["outputs"]}
    for key, both in record["curves"].items():
        name, output = key.split("\0")
        for part in ("_curve", "_ice"):
            assert (both[part]["feature"], both[part]["output"]) == (name, output)
        raw = both["_curve"]["average"]
        average = np.frombuffer(base64.b64decode(raw["b64"]), raw["dtype"])
        k = w._info["outputs"].index(output)
        assert np.allclose(average, w.explainer.partial_dependence(name).average[k])
        assert both["_ice"]["values"]["shape"] == [300, len(average)]
    assert record["traits"]["_progress"]["state"] == "idle"
    assert record["traits"]["feature"] == w.feature
    assert "_esm" not in record["traits"]
    assert arrays(w._curve)["rows"] == 300


def test_each_feature_has_its_own_hints_and_splits_in_the_page(make, tmp_path):
    w = make(
        lambda X: X["temp"].fillna(0) * np.where(X["season"] == "SUMMER", 10.0, -10.0) + X["n"],
        feature="n",
        by="season",
    )
    w.select("temp > 20")
    record = json.loads(element(w.export_html(tmp_path / "p.html").read_text(encoding="utf-8"), "record"))
    explainer, output = w.explainer, w.output
    for name in explainer.features:
        beside = record["curves"][f"{name}\0{output}"]["beside"]
        if name == "n":  # as it was on screen
            assert beside == {key: record["traits"][key] for key in ("_effects", "_regions")}
            continue
        assert beside["_effects"]["by"] == ""
        assert [hint["text"] for hint in beside["_effects"]["hints"]] == [
            str(hint) for hint in explainer.trust(name).hints
        ]
        split = explainer.regions(name).root.split
        assert [one["condition"] for one in beside["_regions"]["here"]["splits"]][:1] == (
            [split.sides[0]] if split else []
        )
        assert {beside[f"_{panel}"]["status"]["state"] for panel in ("effects", "regions")} == {"done"}
    assert record["curves"][f"temp\0{output}"]["beside"]["_regions"]["here"]["splits"]


def test_large_records_are_thinned(make, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "_MOST_VALUES", 6000)
    w = make(two_outputs)
    w.select("flag")
    record = json.loads(element(w.export_html(tmp_path / "p.html").read_text(encoding="utf-8"), "record"))
    m = record["traits"]["_sample"]["rows"]["shape"][0]
    assert 20 <= m < 300
    assert record["traits"]["_selection"]["sample"]["shape"] == [m]
    assert len(record["traits"]["_sample"]["labels"]) == m
    assert {both["_ice"]["values"]["shape"][0] for both in record["curves"].values()} == {m}


def test_features_whose_curves_left_the_cache_are_recorded(make, tmp_path):
    explainer = Explainer(predict, frame(2000), cache_bytes=1_400_000)
    w = make(explainer, None)
    w.wait()
    assert any(track.ice is None for track in w._screen.tracks.values()), "the cache is too small for all"
    w.select("n >= 3")
    w.wait()
    record = json.loads(element(w.export_html(tmp_path / "p.html").read_text(encoding="utf-8"), "record"))
    assert {key.split("\0")[0] for key in record["curves"]} == set(frame())
    assert np.isfinite(arrays(w._overview)["selection"][:, 0]).all(), "sparklines of the selection, from the sample"
