# ruff: noqa: F811
"""Still pictures tell what the page tells: hues by its rule, its names and rows, missing values, contour lines; and the text that makes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from widget_tools import frame, make, predict  # noqa: F401

from pdp_widgets.figures.contour import contour
from pdp_widgets.figures.parts import CIVIDIS, COLOURS, INK, MUTED, REST, SELECTED, Axis, Cells, Curves, Series
from pdp_widgets.figures.scene import Layer, Line, Scene, Text, text_width
from pdp_widgets.figures.still import still
from pdp_widgets.figures.still_curves import draw_curves
from pdp_widgets.figures.still_surface import legend_ticks
from pdp_widgets.figures.ticks import number_ticks
from pdp_widgets.widget import code
from pdp_widgets.widget.still import look, scene
from pdp_widgets.widget.still_curves import curves
from pdp_widgets.widget.still_heatmap import heatmap

if TYPE_CHECKING:
    from pdp_widgets import PDPWidget

JS = Path(__file__).parents[1] / "js" / "src"


def three(X: pd.DataFrame) -> np.ndarray:
    return np.column_stack([predict(X), -predict(X), 2 * predict(X)])


def other(X: pd.DataFrame) -> np.ndarray:
    return 20 - predict(X) / 3


def drawn(widget: PDPWidget, mode: str | None = None) -> Curves:
    widget._compute("curves", 60, outputs=mode == "classes")
    return curves(look(widget), True, mode)[0]


def named(figure: Curves) -> dict[str, Series]:
    assert len({one.name for one in figure.series}) == len(figure.series)
    return {one.name: one for one in figure.series}


class TestHues:
    def test_they_are_the_page_s_own(self) -> None:
        text = (JS / "draw" / "hues.ts").read_text()
        page = re.findall(r'"(#[0-9a-f]{6})"', text)
        assert tuple(page[:5]) == COLOURS[:5]
        assert page[6] == COLOURS[5], "the yellow that is seen on white"
        stops = re.findall(r"\[(\d+), (\d+), (\d+)\]", text)
        assert tuple("#" + "".join(f"{int(v):02x}" for v in stop) for stop in stops) == CIVIDIS
        css = (JS / "styles.css").read_text()
        for name, colour in (("ink", INK), ("selection", SELECTED), ("rest", REST), ("muted", MUTED)):
            assert re.search(rf"--pdpw-{name}: (#\w+);", css)[1] == colour  # type: ignore[index]

    def test_groups_count_through_them_also_where_some_have_no_rows(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp", by="season")
        levels = ["FALL", "SUMMER", "WINTER", "missing"]
        found = named(drawn(w))
        order = [name for name in found if name != "all rows"]
        assert sorted(order) == levels
        assert [found[name].colour for name in order] == list(COLOURS[:4])
        assert (found["all rows"].colour, found["all rows"].width) == (INK, 2.5)
        assert found["all rows"].n == 300
        assert {name: found[name].n for name in order} == frame().season.fillna("missing").value_counts().to_dict()
        w.select("season == 'WINTER' & n > 2")
        rest = named(drawn(w))
        assert set(rest) == {"all rows", "selection", "rest", "WINTER, selected"}
        assert rest["WINTER, selected"].colour == found["WINTER"].colour
        w.select("season == 'WINTER'")  # as a whole
        assert set(named(drawn(w))) == {"all rows", "selection", "rest", *levels}

    def test_bookmarks_without_rows_keep_their_place(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp", bookmarks={"few": "n > 4", "none": "n > 99", "warm": "temp > 15"}, by="bookmarks")
        found = named(drawn(w))
        assert {name: one.colour for name, one in found.items()} == {
            "all rows": INK, "few": COLOURS[0], "warm": COLOURS[2]
        }  # fmt: skip
        assert found["few"].n == int((frame().n > 4).sum())

    def test_a_model_keeps_its_hue(self, make: Callable[..., PDPWidget]) -> None:
        w = make({"a": predict, "b": other, "c": lambda X: 2 * other(X)}, feature="temp")
        assert {name: one.colour for name, one in named(drawn(w)).items()} == {
            "a": INK,
            "b": COLOURS[1],
            "c": COLOURS[2],
        }
        w.model = "b"
        assert {name: one.colour for name, one in named(drawn(w)).items()} == {
            "b": INK,
            "a": COLOURS[0],
            "c": COLOURS[2],
        }
        w.show_models = False
        assert list(named(drawn(w))) == ["all rows"]

    def test_classes_count_without_the_one_in_focus(self, make: Callable[..., PDPWidget]) -> None:
        w = make(three, feature="temp", output=1)
        found = named(drawn(w, "classes"))
        assert {name: one.colour for name, one in found.items()} == {
            "output 1": INK, "output 0": COLOURS[0], "output 2": COLOURS[1]
        }  # fmt: skip

    def test_lines_have_their_groups_hues(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp", by="season")
        figure = drawn(w)
        by_name = {name: one.colour for name, one in named(figure).items()}
        sample = w._running.screen.sample
        rows = sample[np.arange(200) * len(sample) // 200]
        assert figure.tints == tuple(by_name[level] for level in frame().season.fillna("missing").iloc[rows])
        w.by, w.color_by = "", "flag"
        figure = drawn(w)
        assert figure.tints == tuple(COLOURS[int(v)] for v in frame().flag.iloc[rows])
        assert [name for name, _ in figure.legend[1:]] == ["False", "True"]
        w.color_by = "n"
        figure = drawn(w)
        assert len(set(figure.tints)) == 6, "a shade per value"


class TestCurves:
    def test_numbers_dashes_and_the_missing_level(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp")
        w.select("n > 2")
        found = named(drawn(w))
        for name, text in (("all rows", None), ("selection", "n > 2"), ("rest", "n <= 2")):
            own = w.explainer.partial_dependence("temp", subgroup=text)
            ordered = own.grids[0].ordered
            np.testing.assert_allclose(found[name].y, own.average[0][ordered], atol=1e-6)
            assert found[name].missing == pytest.approx(own.average[0][~ordered][0])
            assert found[name].n == own.n_rows_used
        counts = w.explainer.grid("temp").counts(None)
        few = counts < 0.1 * counts.sum() / len(counts)
        np.testing.assert_array_equal(found["all rows"].thin, few[w.explainer.grid("temp").ordered])
        w.centered = True
        found = named(drawn(w))
        assert found["all rows"].y[0] == found["selection"].y[0] == 0
        own = w.explainer.partial_dependence("temp").average[0]
        assert found["all rows"].missing == pytest.approx(own[-1] - own[0])

    def test_ale_stands_at_its_own_places_before_a_pale_curve(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp", effect="ale")
        found = named(drawn(w))
        assert [(name, one.colour) for name, one in found.items()] == [("PD", MUTED), ("ALE", INK)]
        own = w.explainer.ale("temp")
        np.testing.assert_allclose(found["ALE"].x, own.positions[0])
        shift = np.diff([found["ALE"].y, own.values[0]], axis=0)
        assert np.ptp(shift) == pytest.approx(0, abs=1e-9)

    def test_slopes_are_differences(self, make: Callable[..., PDPWidget]) -> None:
        w = make({"a": predict, "b": other}, feature="when", derivative=True)
        figure = drawn(w)
        assert figure.label == "slope of the prediction per day"
        for name, one in named(figure).items():
            own = w.explainers[name].partial_dependence("when")
            days = np.diff(own.grids[0].positions) / 86_400_000
            np.testing.assert_allclose(one.y, np.diff(own.average[0]) / days, atol=1e-9)

    def test_names_stand_at_the_lines_ends_with_their_rows(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp", by="n > 2")
        drawn(w)
        texts = [shape for shape in scene(look(w), "curves").shapes if isinstance(shape, Text)]
        words = [text.text for text in texts]
        for name, n in (("all rows", 300), ("n > 2", 150), ("n <= 2", 150)):
            at = words.index(name)
            assert words[at + 1] == f"n {n}"
        labels = [text for text in texts if text.halo]
        places = sorted(text.y for text in labels)
        assert np.diff(places).min() >= 10, "none lies over another"

    def test_dashed_where_few_rows_are(self) -> None:
        x = np.arange(6.0)
        figure = Curves(Axis("x", "number", x), "y", (Series(x, "a", thin=np.array([1, 1, 0, 0, 0, 1])),), "T")
        lines = [one for one in still(figure).shapes if isinstance(one, Line) and one.colour == INK]
        assert [(len(line.points), line.dashed) for line in lines] == [(3, True), (3, False), (2, True)]
        bottom = [line.points[0, 0] for line in lines]
        assert bottom == sorted(bottom)

    def test_lines_that_leave_the_plot_are_cut_at_its_edge(self) -> None:
        rows = np.array([[0.0, 100.0, 0.0]])
        figure = Curves(
            Axis("x", "number", np.arange(3.0)), "y", (Series(np.zeros(3), "a"),), "T", rows, limits=(0.0, 1.0)
        )
        made = Scene(640, 400, "T")
        draw_curves(made, figure, 40.0, None)
        (layer,) = [shape for shape in made.shapes if isinstance(shape, Layer)]
        (line,) = layer.shapes
        assert [len(run) for run in line.runs] == [2, 2]
        assert line.runs[0][1, 1] == pytest.approx(line.runs[1][0, 1])


class TestMarks:
    @pytest.mark.parametrize("seed", range(5))
    def test_there_are_enough_round_ones(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(400):
            size = 10.0 ** rng.integers(-6, 7)
            low = rng.normal() * size * 10.0 ** rng.integers(-2, 4)
            high = low + (0.1 + abs(rng.normal())) * size
            values = [value for value, _ in number_ticks(low, high, 7)]
            assert 4 <= len(values) <= 7
            steps = np.diff(values)
            np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
            digits = f"{steps[0]:.4e}".split("e")[0].rstrip("0").rstrip(".")
            assert digits in ("1", "2", "2.5", "5")

    def test_a_probability_from_nothing_to_nearly_one(self) -> None:
        assert [text for _, text in number_ticks(-0.03, 0.93, 7)] == ["0.0", "0.2", "0.4", "0.6", "0.8"]
        assert [text for _, text in legend_ticks(0.03, 0.97)] == ["0.2", "0.4", "0.6", "0.8"]
        assert [text for _, text in number_ticks(-0.5, 3.5, 9, whole=True)] == ["0", "1", "2", "3"]

    def test_on_pictures(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp", pair=("temp", "n"))
        drawn(w)
        w._compute("heatmap", 60)
        for what in ("curves", "heatmap"):
            texts = [shape for shape in scene(look(w), what).shapes if isinstance(shape, Text)]
            left = [text for text in texts if text.anchor == "end" and re.fullmatch(r"-?[\d.]+", text.text)]
            assert 4 <= len(left) <= 10, what
        picture = scene(look(w), "heatmap")
        (title,) = [text for text in picture.shapes if isinstance(text, Text) and text.y > picture.height - 12]
        half = text_width(title.text, title.size) / 2
        assert title.text == "prediction"
        assert half < title.x < picture.width - half


class TestHeatmap:
    @pytest.fixture
    def shown(self, make: Callable[..., PDPWidget]) -> PDPWidget:
        X = frame()
        X["n"] = X["n"].astype(float).where(np.arange(300) > 20)
        w = make(lambda X: predict(X.assign(n=X["n"].fillna(9))), X, feature="temp", pair=("temp", "n"))
        w._compute("heatmap", 60)
        return w

    def test_missing_values_have_cells_of_their_own(self, shown: PDPWidget) -> None:
        figure = heatmap(look(shown))
        assert isinstance(figure, Cells)
        assert figure.apart == (True, True)
        assert figure.cells.shape == tuple(k + 1 for k in figure.values.shape)
        grids = [[None, *axis.values.tolist()] for axis in (figure.x, figure.y)]
        own = shown.explainer.partial_dependence(("temp", "n"), grid=grids).average[0]
        np.testing.assert_allclose(figure.cells, own, atol=1e-9)
        turned = heatmap(look(shown), swapped=True)
        np.testing.assert_allclose(turned.cells, own.T, atol=1e-9)
        words = [shape.text for shape in scene(look(shown), "heatmap").shapes if isinstance(shape, Text)]
        assert words.count("missing") == 2

    def test_cells_without_rows_are_hatched(self, shown: PDPWidget) -> None:
        figure = heatmap(look(shown))
        temp, n = frame()["temp"].to_numpy(), frame()["n"].to_numpy(float)
        n[:21] = np.nan
        at = np.abs(temp[:, None] - figure.x.values).argmin(axis=1) + 1
        at[np.isnan(temp)] = 0
        up = np.abs(n[:, None] - figure.y.values).argmin(axis=1) + 1
        up[np.isnan(n)] = 0
        counts = np.zeros(figure.cells.shape, dtype=int)
        np.add.at(counts, (at, up), 1)
        expected = np.zeros(counts.shape, dtype=bool)
        for i, j in np.ndindex(counts.shape):
            across = [0] if i == 0 else range(max(i - 1, 1), min(i + 2, counts.shape[0]))
            along = [0] if j == 0 else range(max(j - 1, 1), min(j + 2, counts.shape[1]))
            expected[i, j] = counts[np.ix_(list(across), list(along))].sum() == 0
        assert expected.any()
        np.testing.assert_array_equal(figure.empty, expected)

    def test_contour_lines_lie_where_the_surface_has_the_value(self, shown: PDPWidget) -> None:
        x, y = np.array([0.0, 1, 4, 9]), np.array([-2.0, 0, 3])
        values = 2 * x[:, None] - 3 * y
        segments = contour(x, y, values, 1.3)
        assert len(segments) >= 3
        for a, b in ((0, 1), (2, 3)):
            np.testing.assert_allclose(2 * segments[:, a] - 3 * segments[:, b], 1.3)
        saddle = np.array([[1.0, 0.0], [0.0, 1.0]])
        assert len(contour(x[:2], y[:2], saddle, 0.4)) == len(contour(x[:2], y[:2], saddle, 0.6)) == 2
        assert not len(contour(x[:2], y[:2], np.array([[np.nan, 0.0], [0.0, 1.0]]), 0.4))
        lines = [one for one in scene(look(shown), "heatmap").shapes if isinstance(one, Line)]
        assert any(line.colour in ("#ffffff", "#000000") and np.isnan(line.points).any() for line in lines)

    def test_levels_have_no_contour_lines(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="season", pair=("season", "n"))
        w._compute("heatmap", 60)
        shapes = scene(look(w), "heatmap").shapes
        assert not [one for one in shapes if isinstance(one, Line) and one.colour == "#000000"]


class TestPython:
    def run(self, w: PDPWidget, **names: Any) -> dict[str, Any]:
        text = w.to_python()
        assert text.endswith("\nwidget\n")
        space = dict(names)
        exec(text, space)
        space["widget"].close()
        return space

    @pytest.mark.parametrize("effect", ["pd", "ale"])
    @pytest.mark.parametrize("by", ["", "season", "n", "temp > 20", "bookmarks", "temp > 10 & n > 3; temp <= 10"])
    @pytest.mark.parametrize("selection", [None, "flag == True", "season == 'SUMMER'"])
    def test_the_numbers_are_of_the_curves_on_screen(
        self, make: Callable[..., PDPWidget], effect: str, by: str, selection: str | None
    ) -> None:
        X = frame()
        w = make(predict, X, feature="temp", effect=effect, bookmarks={"a": "n > 2", "none": "n > 99", "b": "n < 4"})
        w.by = by
        w.select(selection)
        figure = drawn(w)
        space = self.run(w, model=predict, X=X)
        found = space.get("curves")
        if found is None:
            found = {"all rows": space["curve"]}
        elif not isinstance(found, dict):
            found = {"all rows": space["curve"], **{name: found.level(name) for name in found.levels}}
        series = {one.name.removesuffix(", selected"): one for one in figure.series}
        if effect == "ale":
            series["all rows"] = series.pop("ALE")
            series.pop("PD")
        assert set(found) == set(series)
        for name, one in found.items():
            if effect == "ale":
                np.testing.assert_allclose(np.diff(one.values[0]), np.diff(series[name].y), atol=1e-9)
            else:
                np.testing.assert_allclose(one.average[0][one.grids[0].ordered], series[name].y, atol=1e-6)

    @pytest.mark.parametrize("look_", [{}, {"centered": True}, {"derivative": True}, {"effect": "ale"}])
    def test_of_several_models_it_compares(self, make: Callable[..., PDPWidget], look_: dict[str, Any]) -> None:
        X, both = frame(), {"a": predict, "b": other}
        w = make(both, X, feature="n", **look_)
        w.model = "b"
        figure = drawn(w)
        space = self.run(w, models=both, X=X)
        found = space["curves"]
        series = named(figure)
        if "effect" in look_:
            np.testing.assert_allclose(np.diff(found["a"].values[0]), np.diff(series["a"].y), atol=1e-9)
            return
        if not look_:
            assert found.models == ("b", "a")
            found = {name: found.model(name) for name in found.models}
        for name, one in found.items():
            np.testing.assert_allclose(one.average[0], series[name].y, atol=1e-9)

    def test_rows_without_a_condition_are_bookmarks_too(self, make: Callable[..., PDPWidget]) -> None:
        X = frame()
        w = make(predict, X, feature="temp")
        w.bookmark("seventh", np.arange(300) % 7 == 0)
        w.bookmark("warm", "temp > 15")
        w.by = "bookmarks"
        w.select("n > 1")
        drawn(w)
        space = self.run(w, model=predict, X=X)
        expected = w.explainer.partial_dependence("temp", subgroup=(np.arange(300) % 7 == 0) & (X.n > 1).to_numpy())
        np.testing.assert_allclose(space["curves"]["seventh"].average, expected.average)
        assert space["widget"].selection.text == "n > 1"

    def test_names_of_the_notebook_are_used(
        self, make: Callable[..., PDPWidget], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        X, y = frame(), pd.Series(predict(frame()))
        space = {"_": X, "In": [], "rentals": X, "X": None, "again": X, "outcome": y, "forest": predict, "logit": other}
        monkeypatch.setattr(code, "_notebook", lambda: space)
        one = make(predict, X, y=y, feature="temp")
        text = one.to_python()
        assert text.startswith(
            "# These names must exist, as they were for the widget of predict: forest, rentals, outcome."
        )
        assert "PDPWidget(forest, rentals, outcome, " in text
        self.run(one, **space)
        two = make({"f": predict, "l": other}, X, y=y, feature="temp")
        assert "    {'f': forest, 'l': logit}," in two.to_python() or "({'f': forest, 'l': logit}, " in two.to_python()
        self.run(two, **space)
        space["both"] = two._given["models"]
        assert "both" in two.to_python().splitlines()[0]
        self.run(two, **space)
        del space["logit"], space["both"]
        assert two.to_python().splitlines()[0].endswith(": models, rentals, outcome.")

    def test_the_notebook_is_the_one_that_runs(self) -> None:
        interactive = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell
        shell = interactive.instance()
        try:
            shell.user_ns["mine"] = frame
            assert code._notebook()["mine"] is frame
        finally:
            interactive.clear_instance()
        assert not code._notebook()
