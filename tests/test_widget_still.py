"""Still pictures made in Python: what is drawn where, what a cell holds for viewers without widgets, and the view as Python text."""

from __future__ import annotations

import base64
import io
import re
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbconvert import HTMLExporter
from widget_tools import frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets import Explainer, PDPWidget
from pdp_widgets.figures.describe import describe
from pdp_widgets.figures.parts import (
    CIVIDIS,
    INK,
    NEGATIVE,
    POSITIVE,
    REST,
    SELECTED,
    Axis,
    Bars,
    Curves,
    Series,
    Spread,
    Surface,
)
from pdp_widgets.figures.png import to_png
from pdp_widgets.figures.scene import Box, Line, Scene, Text
from pdp_widgets.figures.still import still
from pdp_widgets.figures.still_surface import edges_of
from pdp_widgets.figures.ticks import date_ticks, number_ticks

# ruff: noqa: F811

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<script>alert(1)</script>&\"'"


class Drawn:
    """An SVG as numbers: pixels are turned into the units of the axes by the places of their marks."""

    def __init__(self, svg: str) -> None:
        self.root = ET.fromstring(svg)
        self.texts = [(float(t.get("x")), float(t.get("y")), t) for t in self.root.iter(f"{SVG}text")]
        self.words = [t.text for _, _, t in self.texts]

    def lines(self, colour: str, width: float | None = None) -> list[np.ndarray]:
        found = [path for path in self.root.iter(f"{SVG}path") if path.get("stroke") == colour]
        found = [path for path in found if width is None or float(path.get("stroke-width")) == width]
        return [np.array([p.split() for p in path.get("d")[1:].split("L")], dtype=float) for path in found]

    def scale(self, anchor: str) -> Callable[[np.ndarray], np.ndarray]:
        """How pixels become numbers, from two marks of the left ("end") or lower ("middle") axis."""
        along = 1 if anchor == "end" else 0
        marks = []
        for x, y, t in self.texts:
            if t.get("text-anchor") == anchor and not t.get("transform") and re.fullmatch(r"-?[\d.]+", t.text):
                marks.append(((x, y - 4)[along], float(t.text), (x, y)[1 - along]))
        marks = [(place, value) for place, value, line in marks if line == marks[0][2]]  # not those of a legend
        (p0, v0), (p1, v1) = marks[0], marks[-1]
        return lambda pixels: v0 + (pixels - p0) / (p1 - p0) * (v1 - v0)


def test_curves_are_where_their_numbers_are() -> None:
    x = np.array([0.0, 1.0, 4.0, 10.0])
    y = np.array([5.0, -3.0, 2.5, 12.0])
    figure = Curves(
        Axis("temp", "number", x), "rentals", (Series(y, "all"), Series(-y, "rest", REST)), "Title",
        individual=np.array([[0.0, 1.0, 2.0, 3.0]]),
    )  # fmt: skip
    drawn = Drawn(
        still(figure, notes=["4 of 4 rows"], spread=Spread(np.array([0.0, 5, 10]), np.array([1, 3]))).to_svg()
    )
    (ink,) = drawn.lines(INK, 2.2)
    np.testing.assert_allclose(drawn.scale("middle")(ink[:, 0]), x, atol=0.02)
    np.testing.assert_allclose(drawn.scale("end")(ink[:, 1]), y, atol=0.05)
    (row,), (rest,) = drawn.lines(INK, 0.8), drawn.lines(REST, 2.2)
    np.testing.assert_allclose(drawn.scale("end")(row[:, 1]), [0, 1, 2, 3], atol=0.05)
    np.testing.assert_allclose(drawn.scale("end")(rest[:, 1]), -y, atol=0.05)
    bars = [rect for rect in drawn.root.iter(f"{SVG}rect") if rect.get("fill") == "#c9ced6"]
    heights = [float(bar.get("height")) for bar in bars]
    assert heights[1] == pytest.approx(3 * heights[0], rel=0.02)
    assert {"Title", "4 of 4 rows", "temp", "rentals", "all", "rest"} <= set(drawn.words)


def test_bars_are_as_long_as_their_numbers() -> None:
    figure = Bars(
        ("a", "b", "c", "d"), np.array([4.0, 1.0, -2.0, np.nan]), "strength", "T", np.array([1, np.nan, 0, np.nan])
    )
    drawn = Drawn(still(figure).to_svg())
    at = drawn.scale("middle")
    bars = [rect for rect in drawn.root.iter(f"{SVG}rect") if rect.get("fill") in (POSITIVE, NEGATIVE)]
    ends = [(float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))) for bar in bars]
    np.testing.assert_allclose([at(np.array(pair)) for pair in ends], [(0, 4), (0, 1), (-2, 0)], atol=0.03)
    (whisker,) = drawn.lines(INK)
    np.testing.assert_allclose(at(whisker[:, 0]), [3, 5], atol=0.03)
    assert "not computed" in drawn.words


def test_cells_of_a_surface_lie_around_their_grid_points() -> None:
    values = np.array([[0.0, 1.0], [2.0, np.nan], [3.0, 5.0]])
    figure = Surface(
        Axis("x", "number", np.array([0.0, 10.0, 40.0])),
        Axis("y", "category", np.array(["lo", "hi"])),
        "v",
        values,
        "T",
    )
    drawn = Drawn(still(figure).to_svg())
    at = drawn.scale("middle")
    cells = [rect for rect in drawn.root.iter(f"{SVG}rect") if float(rect.get("height")) > 50 and rect.get("x")]
    assert len(cells) == 5
    first = at(np.array([float(cells[0].get("x")), float(cells[0].get("x")) + float(cells[0].get("width"))]))
    np.testing.assert_allclose(first, [-5, 5], atol=0.1)
    assert cells[0].get("fill") == CIVIDIS[0]
    assert cells[-1].get("fill") == CIVIDIS[-1]


def test_the_outer_cells_of_a_surface_end_where_the_data_do() -> None:
    X = pd.DataFrame(
        {"age": np.r_[np.full(40, 20), np.full(40, 30), np.full(40, 84)], "b": np.tile([0.0, 1.0, 5.0], 40)}
    )
    result = Explainer(lambda X: X["age"] * X["b"], X).partial_dependence(("age", "b"))
    x, y = describe(result).x, describe(result).y
    assert (x.data, y.data) == ((19.5, 84.5), (0.0, 5.0))
    place, edges = edges_of(x, 0.0, 100.0)
    np.testing.assert_allclose(edges, place(np.array([19.5, 25, 57, 84.5])))  # and not up to 111
    place, edges = edges_of(y, 0.0, 100.0)
    np.testing.assert_allclose(edges, place(np.array([0, 0.5, 3, 5])))


def test_marks_are_round() -> None:
    assert [t for _, t in number_ticks(-1.0, 1.0, 5)] == ["-1.0", "-0.5", "0.0", "0.5", "1.0"]
    assert [t for _, t in number_ticks(0, 3e9, 4)] == ["0", "1e+09", "2e+09", "3e+09"]
    assert number_ticks(np.nan, 1.0) == []
    rng = np.random.default_rng(0)
    for _ in range(200):
        low = rng.normal() * 10.0 ** rng.integers(-6, 7)
        high = low + abs(rng.normal()) * 10.0 ** rng.integers(-4, 7)
        ticks = [v for v, _ in number_ticks(low, high, 6)]
        assert 1 <= len(ticks) <= 7
        slack = 1e-9 * (high - low) + 1e-12 * abs(low)
        assert all(low - slack <= v <= high + slack for v in ticks)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("1890-01-01", "2010-01-01", ["1900", "2000"]),
        ("2001-03-01", "2021-03-01", ["2005", "2010", "2015", "2020"]),
        ("2024-01-15", "2024-06-15", ["Feb 2024", "Mar 2024", "Apr 2024", "May 2024", "Jun 2024"]),
        ("2024-01-01", "2024-01-05", ["01 Jan", "02 Jan", "03 Jan", "04 Jan", "05 Jan"]),
        ("2024-01-01 10:00", "2024-01-01 13:30", ["10:00", "11:00", "12:00", "13:00"]),
        ("1969-12-31 23:59:58", "1970-01-01 00:00:01", ["23:59:58", "23:59:59", "00:00:00", "00:00:01"]),
    ],
)  # fmt: skip
def test_dates_are_marked_where_periods_begin(first: str, last: str, expected: list[str]) -> None:
    low, high = (pd.Timestamp(text).timestamp() * 1000 for text in (first, last))
    ticks = date_ticks(low, high, 6)
    assert [text for _, text in ticks] == expected
    assert all(low <= ms <= high for ms, _ in ticks)


def test_what_xml_cannot_hold_is_replaced() -> None:
    text = Scene(10, 10, NASTY, [Text(0, 0, "a\x00b\x1b\ud800\uffffc")]).to_svg()
    root = ET.fromstring(text.encode("utf-8"))
    assert [node.text for node in root.iter() if node.text and node.text.strip()] == [
        NASTY,
        "a\ufffdb\ufffd\ufffd\ufffdc",
    ]


def test_png_is_the_scene_in_pixels() -> None:
    from PIL import Image

    red, dashes = Box(10, 5, 20, 10, "#ff0000"), Line(np.array([[0, 30.0], [60, 30.0]]), "#0000ff", 2, dashed=True)
    broken = Line(np.array([[0, 36.0], [20, 36], [np.nan, 36], [40, 36], [60, 36]]), "#00ff00", 2)
    scene = Scene(60, 40, "t", [red, dashes, broken, Text(2, 38, "up", upwards=True, size=8), Text(30, 20, "x")])
    image = Image.open(io.BytesIO(to_png(scene, 2)))
    assert image.size == (120, 80)
    pixels = np.asarray(image.convert("RGB")).astype(int)
    is_red = (pixels == [255, 0, 0]).all(axis=2)
    assert (np.flatnonzero(is_red.any(axis=0))[[0, -1]] == [20, 59]).all()
    assert (np.flatnonzero(is_red.any(axis=1))[[0, -1]] == [10, 29]).all()
    blue = pixels[60, :, 0] < 100
    assert 0.4 < blue.mean() < 0.8, "dashed"
    green = pixels[72, :, 0] < 100
    assert green[:36].all() and green[84:].all() and not green[44:78].any(), "interrupted"


@pytest.fixture
def shown(make: Callable[..., PDPWidget]) -> PDPWidget:
    w = make(two_outputs, feature="temp", y=predict(frame()))
    w.select("n > 2")
    return w


@pytest.mark.parametrize("what", ["curves", "importance", "interactions", "heatmap", "rules"])
def test_every_picture_is_written_as_svg_and_png(shown: PDPWidget, what: str, tmp_path: Path) -> None:
    path = shown.save_image(tmp_path / f"{what}.svg", what)
    drawn = Drawn(path.read_text(encoding="utf-8"))
    assert any("300 of 300 rows" in (word or "") for word in drawn.words)
    png = shown.save_image(str(tmp_path / f"{what}.PNG"), what, scale=1)
    assert png.read_bytes().startswith(b"\x89PNG")


def test_curves_are_those_of_the_page(shown: PDPWidget, tmp_path: Path) -> None:
    drawn = Drawn(shown.save_image(tmp_path / "c.svg").read_text(encoding="utf-8"))
    for colour, name in ((INK, "all"), (SELECTED, "selection")):
        result = shown.explainer.partial_dependence(
            "temp", subgroup=None if name == "all" else "n > 2", output=shown.output
        )
        expected = result.average[0][result.grids[0].ordered]
        *parts, mark = drawn.lines(colour, 2.5)  # solid and dashed parts, and the mark of the missing level
        line = np.unique(np.concatenate(parts), axis=0)
        assert len(mark) == 2
        np.testing.assert_allclose(drawn.scale("end")(line[:, 1]), expected, atol=0.01 * np.ptp(expected) + 0.1)
    assert "missing" in drawn.words
    assert any(word and "; selected: n > 2 (150 rows)" in word for word in drawn.words)
    with_lines = len(list(drawn.root.iter(f"{SVG}path")))
    shown.show_ice = False
    without = Drawn(shown.save_image(tmp_path / "d.svg").read_text(encoding="utf-8"))
    assert len(list(without.root.iter(f"{SVG}path"))) < with_lines - 50


@pytest.mark.parametrize("feature", ["temp", "season", "when", "flag"])
@pytest.mark.parametrize(
    "how", [{}, {"centered": True}, {"derivative": True}, {"effect": "ale"}, {"by": "season"}, {"by": "n > 2"}]
)
def test_every_way_to_show_curves_is_drawn(
    make: Callable[..., PDPWidget],
    tmp_path: Path,
    feature: str,
    how: dict[str, Any],
) -> None:
    w = make(feature=feature, **how)
    w.select("n > 1")
    drawn = Drawn(w.save_image(tmp_path / "c.svg").read_text(encoding="utf-8"))
    if how.get("by") == "season" != feature:
        assert any(word and word.endswith("by season") for word in drawn.words)
        assert any(word and word.startswith("FALL") for word in drawn.words)
    if "centered" in how:
        assert any(word and word.startswith("change of") for word in drawn.words)


def test_pictures_that_there_are_not_are_named(shown: PDPWidget, tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(ValueError, match="no picture of 'curve'; expected one of curves, importance"):
        shown.save_image(tmp_path / "x.svg", "curve")
    with pytest.raises(ValueError, match=r"an \.svg or a \.png; export_html"):
        shown.save_image(tmp_path / "x.pdf")
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r'pip install "pdp_widgets\[plot\]"'):
        shown.save_image(tmp_path / "x.png")
    assert "image/png" not in shown._repr_mimebundle_()[0]


def test_a_panel_that_is_not_computed_is_not_drawn(make: Callable[..., PDPWidget], tmp_path: Path) -> None:
    X = pd.DataFrame({"alone": np.arange(30.0)})
    w = make(lambda X: X["alone"].to_numpy(), X)
    with pytest.raises(ValueError, match="'interactions' is not computed"):
        w.save_image(tmp_path / "x.svg", "interactions")


class TestFallback:
    def test_a_cell_holds_the_widget_and_a_picture_of_averages(self, shown: PDPWidget) -> None:
        shown.wait()
        data, metadata = shown._repr_mimebundle_()
        assert set(data) == {
            "application/vnd.jupyter.widget-view+json", "text/plain", "image/svg+xml", "image/png"
        }  # fmt: skip
        assert data["text/plain"] == repr(shown)
        assert data["image/png"].startswith(b"\x89PNG")
        assert isinstance(metadata, dict)
        drawn = Drawn(data["image/svg+xml"])
        assert len(list(drawn.root.iter(f"{SVG}path"))) < 40, "no lines of single rows"
        assert len(data["image/svg+xml"]) + len(data["image/png"]) < 100_000

    def test_a_slow_model_does_not_hold_up_the_cell(self, make: Callable[..., PDPWidget]) -> None:
        go = threading.Event()

        def slow(X: pd.DataFrame) -> np.ndarray:
            if threading.current_thread() is not threading.main_thread():
                go.wait(20)
            return predict(X)

        w = make(slow)
        data, _ = w._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in data
        assert "image/svg+xml" not in data
        go.set()

    def test_a_closed_widget_shows_nothing(self, make: Callable[..., PDPWidget]) -> None:
        w = make()
        w.close()
        assert w._repr_mimebundle_ is None or w._repr_mimebundle_() is None

    def test_names_are_text_in_every_picture(self, make: Callable[..., PDPWidget], tmp_path: Path) -> None:
        X = pd.DataFrame({"x": np.linspace(0, 1, 60), "level": np.array([NASTY, "b", "c"] * 20, dtype=object)})
        X.columns = pd.Index([NASTY, "level"], dtype=object)
        w = make(lambda X: X[NASTY].to_numpy() * (X["level"] == "b"), X, feature="level")
        for what in ("curves", "importance", "interactions", "heatmap", "rules"):
            text = w.save_image(tmp_path / "p.svg", what).read_text(encoding="utf-8")
            assert "<script" not in text
            assert "&lt;script&gt;" in text
            ET.fromstring(text)
        w.save_image(tmp_path / "p.png")

    def test_nbconvert_shows_the_picture_where_no_state_was_saved(self, shown: PDPWidget) -> None:
        shown.wait()
        data, metadata = shown._repr_mimebundle_()
        data["image/png"] = base64.b64encode(data["image/png"]).decode()
        output = nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("widget", outputs=[output])])
        page, _ = HTMLExporter().from_notebook_node(notebook)
        assert 'role="img"' in page or "image/svg+xml;base64" in page or "image/png;base64" in page
        assert "PDPWidget of" not in page, "the text is not needed"


class TestPython:
    def again(self, w: PDPWidget, **names: Any) -> PDPWidget:
        explainer = w.explainer
        space: dict[str, Any] = {"model": explainer.model, "X": names.pop("X"), **names}
        exec(w.to_python(), space)
        self.curve = space["curve"]
        return space["widget"]

    def same(self, w: PDPWidget, other: PDPWidget) -> None:
        try:
            a, b = w.view_state, other.view_state
            assert {**a, "rows": None} == {**b, "rows": None}
            np.testing.assert_array_equal(w.selection.mask, other.selection.mask)
            assert [x["bits"] for x in a["rows"].values()] == [x["bits"] for x in b["rows"].values()]
            w.wait()
            shown = w.results["selection" if w.selection else "all"]
            shown = shown.centered() if w.centered else shown
            np.testing.assert_allclose(self.curve.average, shown.average, rtol=1e-12, atol=1e-12)
        finally:
            other.close()

    def test_the_text_makes_the_view_again(self, make: Callable[..., PDPWidget]) -> None:
        X = frame()
        w = make(
            two_outputs, X, features=["temp", "n", "season"], grid_size=17, random_state=3, sample_weight=np.arange(300.0),
            y=predict(X), feature="n", output=1,
        )  # fmt: skip
        w.pair, w.by, w.centered, w.sort_by, w.size = ("temp", "n"), "season", True, "name", "large"
        w.panels = ("rules", "heatmap")
        w.bookmarks = {'it\'s "warm"': "temp > 20"}
        w.select("temp > 10 & season == 'SUMMER'")
        text = w.to_python()
        assert "sample_weight=sample_weight" in text
        assert "grid_size=17" in text
        other = self.again(w, X=X, y=predict(X), sample_weight=np.arange(300.0))
        assert other.explainer.options.keys() == w.explainer.options.keys()
        self.same(w, other)

    def test_rows_without_a_condition_come_along(self, make: Callable[..., PDPWidget]) -> None:
        X = frame()
        w = make(predict, X, feature="temp")
        w.select(np.arange(300) % 7 == 0)
        w.bookmark("every seventh")
        self.same(w, self.again(w, X=X))

    def test_a_plain_view_is_a_plain_text(self, make: Callable[..., PDPWidget]) -> None:
        X = frame()
        w = make(predict, X, feature="temp")
        assert w.to_python() == (
            "# These names must exist, as they were for the widget of predict: model, X.\n"
            "from pdp_widgets import PDPWidget\n\n"
            "widget = PDPWidget(model, X, output='prediction', feature='temp')\n"
            "# The numbers of the curves:\n"
            "curve = widget.explainer.partial_dependence('temp', output='prediction')\n"
            "print(curve.to_frame())\n"
            "widget\n"
        )
        self.same(w, self.again(w, X=X))

    def test_names_cannot_break_out(self, make: Callable[..., PDPWidget]) -> None:
        name = "a'); raise SystemExit('x'); ('\n"
        X = pd.DataFrame({name: np.arange(20.0), "b": np.ones(20)})
        model = lambda X: X[name].to_numpy()  # noqa: E731
        model.__name__ = model.__qualname__ = "m\nraise SystemExit('y')"
        w = make(model, X, feature=name)
        self.same(w, self.again(w, X=X))

    def test_an_explainer_of_ones_own_is_made_again_with_its_options(self, make: Callable[..., PDPWidget]) -> None:
        X = frame()
        explainer = Explainer(two_outputs, X, output_names=["up", "down"], background=100, percentiles=(0.1, 0.9))
        w = make(explainer, feature="temp", output="down")
        text = w.to_python()
        assert "output_names=['up', 'down']" in text
        assert "percentiles=(0.1, 0.9)" in text
        self.same(w, self.again(w, X=X))
