# ruff: noqa: F811
"""Files of what is on screen: tables equal the explainer's own, the page gets what Python writes, and nobody waits for it."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from widget_tools import Counting, frame, make, predict, two_outputs  # noqa: F401

from pdp_widgets import PDPWidget, RuleFitClassifier
from pdp_widgets.figures.parts import COLOURS, INK, Bars, Curves, Surface
from pdp_widgets.inputs import InputError
from pdp_widgets.widget import files, protocol, still

WHAT = ("curves", "importance", "interactions", "heatmap", "rules")


def asked(widget: PDPWidget, what: str, form: str, **more: Any) -> tuple[dict[str, Any], list[bytes], float]:
    """Ask for a file as the page does; return the reply, its buffers, and how many seconds the kernel was busy with it."""
    replies: list[tuple[dict[str, Any], list[bytes]]] = []
    there = threading.Event()
    send = widget.send

    def heard(content: dict[str, Any], buffers: Any = None) -> None:
        replies.append((content, list(buffers or [])))
        there.set()

    widget.send = heard
    try:
        begun = time.perf_counter()
        params = {"what": what, "format": form, **more}
        widget._handle_custom_msg({"kind": "request", "id": "f1", "method": "file", "params": params}, [])
        busy = time.perf_counter() - begun
        assert there.wait(30)
    finally:
        widget.send = send
    ((reply, buffers),) = replies
    json.dumps(reply, allow_nan=False)
    return reply, buffers, busy


def got(widget: PDPWidget, what: str, form: str, **more: Any) -> tuple[str, bytes]:
    """Return the name and the content of a file."""
    reply, buffers, _ = asked(widget, what, form, **more)
    assert reply["status"] == "ok", reply
    assert set(reply["result"]) == {"name", "type"}
    (data,) = buffers
    return reply["result"]["name"], bytes(data)


def refused(widget: PDPWidget, what: str, form: str, **more: Any) -> str:
    reply, buffers, _ = asked(widget, what, form, **more)
    assert reply["status"] == "error", reply
    assert not buffers
    return str(reply["message"])


def saved(widget: PDPWidget, tmp_path: Path, what: str = "curves") -> pd.DataFrame:
    """Return a table as the caller's own readers read it back from parquet, which keeps all types and digits."""
    return pd.read_parquet(widget.save_table(tmp_path / "t.parquet", what))


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        one.reset_index(drop=True), other.reset_index(drop=True), check_dtype=False, rtol=1e-9, atol=1e-9
    )


@pytest.fixture
def shown(make: Callable[..., PDPWidget]) -> PDPWidget:
    w = make(two_outputs, feature="temp", output=1, y=predict(frame()), pair=("temp", "n"))
    w._running.board.open(w.panels)
    assert w.wait(60)
    return w


class TestTables:
    def test_curves_are_the_results(self, shown: PDPWidget, tmp_path: Path) -> None:
        expected = shown.explainer.partial_dependence("temp", output=shown.output)
        same(saved(shown, tmp_path), expected.to_frame())
        text = pd.read_csv(shown.save_table(str(tmp_path / "t.CSV")))
        np.testing.assert_array_equal(text.average, expected.average[0])

    def test_both_sides_of_a_selection_say_which_they_are(self, shown: PDPWidget, tmp_path: Path) -> None:
        shown.select("n > 2")
        found = saved(shown, tmp_path)
        assert list(dict.fromkeys(found["rows"])) == ["all", "selection", "rest"]
        for name, subgroup in (("all", None), ("selection", "n > 2"), ("rest", "n <= 2")):
            expected = shown.explainer.partial_dependence("temp", output=shown.output, subgroup=subgroup)
            same(found[found["rows"] == name].drop(columns="rows"), expected.to_frame())

    @pytest.mark.parametrize("feature", ["temp", "season"])
    def test_curves_are_drawn_as_the_page_draws_them(self, shown: PDPWidget, tmp_path: Path, feature: str) -> None:
        shown.feature = feature
        plain = shown.explainer.partial_dependence(feature, output=shown.output)
        shown.centered = True
        same(saved(shown, tmp_path), plain.centered().to_frame())
        shown.centered, shown.derivative = False, True
        same(saved(shown, tmp_path), (plain.derivative() if feature == "temp" else plain).to_frame())

    def test_ale_of_all_and_of_both_sides(self, shown: PDPWidget, tmp_path: Path) -> None:
        shown.effect = "ale"
        same(saved(shown, tmp_path), shown.explainer.ale("temp", output=shown.output).to_frame())
        shown.select("n > 2")
        found = saved(shown, tmp_path)
        for name, subgroup in (("all", None), ("selection", "n > 2"), ("rest", "n <= 2")):
            expected = shown.explainer.ale("temp", output=shown.output, subgroup=subgroup)
            same(found[found["rows"] == name].drop(columns="rows"), expected.to_frame())

    @pytest.mark.parametrize("subgroup", [None, "n > 2"])
    def test_groups_are_those_of_by_group(self, shown: PDPWidget, tmp_path: Path, subgroup: str | None) -> None:
        shown.by = "season"
        shown.select(subgroup)
        expected = shown.explainer.by_group("temp", "season", output=shown.output, subgroup=subgroup)
        sides = {"all": None} if subgroup is None else {"all": None, "selection": subgroup, "rest": f"~({subgroup})"}
        kept = ["rows"] if subgroup else []

        def check(found: pd.DataFrame, of: Callable[..., Any], averages: bool) -> pd.DataFrame:
            """Check the curves of no group, which come first; return the groups'."""
            for name, text in sides.items():
                mine = found[found.level.isna() & (found["rows"] == name if kept else True)]
                one = of("temp", output=shown.output, subgroup=text)
                same(mine.drop(columns=[*kept, "level", "n"]), one.to_frame())
                if averages:
                    assert set(mine.n) == {one.n_rows_used}
            groups = found[found.level.notna()]
            assert not kept or set(groups["rows"]) == {"selection"}
            return groups.drop(columns=kept)

        same(check(saved(shown, tmp_path), shown.explainer.partial_dependence, True), expected.to_frame())
        shown.effect = "ale"
        found = check(saved(shown, tmp_path), shown.explainer.ale, False)
        for level, condition in zip(expected.levels, expected.conditions, strict=True):
            text = condition if subgroup is None else f"({condition}) & {subgroup}"
            one = shown.explainer.ale("temp", output=shown.output, subgroup=text)
            same(found[found.level == level].drop(columns=["level", "n"]), one.to_frame())
        shown.by = "n > 2"
        assert list(dict.fromkeys(saved(shown, tmp_path).level.dropna())) == ["n > 2", "n <= 2"]  # as a whole

    @pytest.mark.parametrize("effect", ["pd", "ale"])
    def test_groups_that_a_selection_takes_as_a_whole_are_of_all_rows(
        self, shown: PDPWidget, tmp_path: Path, effect: str
    ) -> None:
        shown.by, shown.effect = "season", effect
        shown.select("season == 'FALL'")
        found = saved(shown, tmp_path)
        groups = found[found.level.notna()]
        assert set(groups["rows"]) == {"all"}
        of = shown.explainer.ale if effect == "ale" else shown.explainer.partial_dependence
        one = of("temp", output=shown.output, subgroup="season == 'SUMMER'")
        same(groups[groups.level == "SUMMER"].drop(columns=["rows", "level", "n"]), one.to_frame())

    @pytest.mark.parametrize("effect", ["pd", "ale"])
    def test_bookmarks_are_groups_too(self, shown: PDPWidget, tmp_path: Path, effect: str) -> None:
        marks = {"many": "n > 2", "summer": "season == 'SUMMER'"}
        shown.bookmarks, shown.effect = marks, effect
        shown.by = "bookmarks"
        found = saved(shown, tmp_path)
        of = shown.explainer.ale if effect == "ale" else shown.explainer.partial_dependence
        for name, text in marks.items():
            one = of("temp", output=shown.output, subgroup=text)
            same(found[found.level == name].drop(columns=["level", "n"]), one.to_frame())

    def test_of_several_models_there_are_all_that_are_drawn(
        self, make: Callable[..., PDPWidget], tmp_path: Path
    ) -> None:
        w = make({"one": predict, "twice": lambda X: 2 * predict(X)}, feature="temp")
        for model in ("one", "twice"):
            w.model = model
            found = saved(w, tmp_path)
            assert list(dict.fromkeys(found.model)) == [model, *({"one", "twice"} - {model})]
            for one in ("one", "twice"):
                grid = found[found.model == one]["temp"].tolist()
                grid = [None if pd.isna(value) else value for value in grid]
                own = w.explainers[one].partial_dependence("temp", grid=grid)
                mine = found[found.model == one]
                np.testing.assert_allclose(mine.average, own.average[0], rtol=1e-9)
                assert set(mine.n) == {300}
            same(
                found[found.model == model].drop(columns=["model", "n"]),
                w.explainer.partial_dependence("temp").to_frame(),
            )
            name, svg = got(w, "curves", "svg")
            assert name == "temp-partial-dependence.svg"
            assert svg == w.save_image(tmp_path / "c.svg").read_bytes()
            assert got(w, "importance", "csv")[0] == f"{model}-importance.csv"
        assert b">one<" in svg
        w.select("n > 2")
        w.effect = "ale"
        found = saved(w, tmp_path)
        assert set(zip(found.model, found["rows"], strict=True)) == {
            ("twice", "all"), ("twice", "selection"), ("twice", "rest"), ("one", "selection")
        }  # fmt: skip
        mine = found[(found.model == "one")].drop(columns=["model", "rows", "n"])
        same(mine, w.explainers["one"].ale("temp", subgroup="n > 2").to_frame())
        w.show_models, w.effect = False, "pd"
        w.select(None)
        same(saved(w, tmp_path), w.explainer.partial_dependence("temp").to_frame())

    def test_importance_has_all_measures_of_both(self, shown: PDPWidget, tmp_path: Path) -> None:
        whole = shown.explainer.importance()
        same(saved(shown, tmp_path, "importance"), whole.output(shown.output).to_frame())
        shown.select("n > 2")
        found = saved(shown, tmp_path, "importance")
        part = shown.explainer.importance(subgroup="n > 2").output(shown.output).to_frame()
        same(found[found["rows"] == "selection"].drop(columns="rows"), part)
        shown.output = 0
        found = saved(shown, tmp_path, "importance")
        same(found[found["rows"] == "all"].drop(columns="rows"), whole.output(0).to_frame())

    def test_interactions_and_rules(self, shown: PDPWidget, tmp_path: Path) -> None:
        explainer = shown.explainer
        found, expected = (
            saved(shown, tmp_path, "interactions"),
            explainer.interactions().output(shown.output).to_frame(),
        )
        assert (np.diff(found.strength) <= 0).all()
        for table in (found, expected):  # which of two comes first depends on which pair was the more promising one
            pairs = np.sort(table[["feature_1", "feature_2"]].to_numpy().astype(str), axis=1)
            table["feature_1"], table["feature_2"] = pairs.T
        order = ["feature_1", "feature_2"]
        same(found.sort_values(order), expected.sort_values(order))
        same(saved(shown, tmp_path, "rules"), explainer.rules(output=shown.output).to_frame())

    @pytest.mark.parametrize("pair", [("temp", "season"), ("season", "temp")])
    def test_surfaces_either_way_round(self, shown: PDPWidget, tmp_path: Path, pair: tuple[str, str]) -> None:
        shown.feature = pair[0]
        shown.pair = pair
        shown.select("n > 2")
        found = saved(shown, tmp_path, "heatmap")
        grids = [found[name].drop_duplicates().tolist() for name in pair]
        grids = [[None if pd.isna(value) else value for value in grid] for grid in grids]
        for name, subgroup in (("all", None), ("selection", "n > 2"), ("rest", "n <= 2")):
            one = shown.explainer.partial_dependence(pair, grid=grids, output=shown.output, subgroup=subgroup)
            same(found[found["rows"] == name].drop(columns="rows"), one.to_frame())

    def test_going_back_to_an_earlier_selection_has_its_numbers(self, shown: PDPWidget, tmp_path: Path) -> None:
        for text in ("n > 2", "n > 3", None):
            shown.select(text)
            assert shown.wait(60)
        shown.undo()
        shown.undo()
        expected = shown.explainer.importance(subgroup="n > 2").output(shown.output).to_frame()
        found = saved(shown, tmp_path, "importance")
        same(found[found["rows"] == "selection"].drop(columns="rows"), expected)

    def test_rules_of_the_other_class_say_the_opposite(self, make: Callable[..., PDPWidget], tmp_path: Path) -> None:
        X = frame()[["n"]].assign(v=np.random.default_rng(0).normal(size=300))
        model = RuleFitClassifier(random_state=0, max_rules=60).fit(
            X, (X["v"] + X["n"] > 2).map({True: "yes", False: "no"})
        )
        tables = []
        for output in ("yes", "no"):
            w = make(model, X, output=output)
            assert w.wait(60)
            tables.append(saved(w, tmp_path, "rules"))
        yes, no = tables
        np.testing.assert_allclose(no.coefficient, -yes.coefficient)
        np.testing.assert_allclose(no.odds_ratio * yes.odds_ratio, 1 + 0 * yes.odds_ratio)
        np.testing.assert_allclose(no.mean_inside + yes.mean_inside, 1 + 0 * yes.mean_inside)
        same(no[["text", "support", "importance"]], yes[["text", "support", "importance"]])

    def test_a_feature_called_like_a_column(self, make: Callable[..., PDPWidget], tmp_path: Path) -> None:
        X = pd.DataFrame({"rows": np.arange(40.0), "level": np.array(["a", "b"] * 20, dtype=object)})
        w = make(lambda X: X["rows"].to_numpy(), X, feature="rows")
        w.select("level == 'a'")
        assert list(saved(w, tmp_path).columns[:3]) == ["rows_", "output", "rows"]
        w.by = "level"
        w.select(None)
        assert list(saved(w, tmp_path).columns[:4]) == ["output", "level", "n", "rows"]

    def test_what_cannot_be_written_is_said_at_once(self, make: Callable[..., PDPWidget], tmp_path: Path) -> None:
        slow = threading.Event()
        w = make(lambda X: (slow.wait(20), predict(X))[1])
        for path, what, why in (("a.csv", "curve", "there is no table"), ("a.xlsx", "curves", r"\.csv or a \.parquet")):
            with pytest.raises(InputError, match=why):
                w.save_table(tmp_path / path, what)
        slow.set()


class TestPictures:
    """What is drawn, as figures: how they become pixels is the business of test_widget_still.py."""

    @pytest.fixture
    def drawn(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        figures: list[Any] = []
        real = still.still
        monkeypatch.setattr(
            still, "still", lambda figure, **how: (figures.append((figure, how)), real(figure, **how))[1]
        )
        return figures

    def test_heatmaps_show_what_is_switched_on(self, shown: PDPWidget, drawn: list[Any], tmp_path: Path) -> None:
        shown.select("n > 2")
        assert shown.wait(60)
        explainer, output = shown.explainer, shown.output
        by_mode = {}
        for mode in (None, "selection", "difference", "interaction"):
            shown.save_image(tmp_path / "h.svg", "heatmap", mode=mode)
            by_mode[mode] = drawn[-1][0]
        plain = by_mode[None]
        assert isinstance(plain, Surface)
        grids = [plain.x.values, plain.y.values]
        sides = [explainer.partial_dependence(("temp", "n"), grid=grids, output=output, subgroup=text).average[0]
                 for text in (None, "n > 2", "n <= 2")]  # fmt: skip
        own = [explainer.partial_dependence(name, grid=grid, output=output).average[0]
               for name, grid in zip(("temp", "n"), grids, strict=True)]  # fmt: skip
        mean = two_outputs(frame())[:, 1].mean()
        expected = {
            None: sides[0], "selection": sides[1], "difference": sides[1] - sides[2],
            "interaction": sides[0] - own[0][:, None] - own[1] + mean,
        }  # fmt: skip
        for mode, values in expected.items():
            np.testing.assert_allclose(by_mode[mode].values, values, atol=1e-9)
            assert by_mode[mode].diverging == (mode in ("difference", "interaction"))
        got(shown, "heatmap", "svg", mode="interaction", swapped=True)
        turned = drawn[-1][0]
        np.testing.assert_allclose(turned.values, expected["interaction"].T, atol=1e-9)
        assert (turned.x.label, turned.y.label) == ("n", "temp")
        shown.select(None)
        assert shown.wait(60)
        with pytest.raises(InputError, match="no rows are selected"):
            shown.save_image(tmp_path / "h.svg", "heatmap", mode="difference")

    def test_classes_lie_over_each_other(
        self, make: Callable[..., PDPWidget], drawn: list[Any], tmp_path: Path
    ) -> None:
        w = make(lambda X: np.column_stack([predict(X), -predict(X), 2 * predict(X)]), feature="n")
        w.select("temp > 10")
        w.save_image(tmp_path / "c.svg", mode="classes")
        figure = drawn[-1][0]
        assert isinstance(figure, Curves)
        found = w.explainer.partial_dependence("n")
        by_name = {one.name: one for one in figure.series}
        assert list(by_name) == ["rest", "output 0", "selection", "output 1", "output 2"]
        np.testing.assert_allclose([by_name[name].y for name in found.outputs], found.average, atol=1e-9)
        assert [by_name[name].colour for name in found.outputs] == [INK, *COLOURS[:2]]
        table = pd.read_csv(io.BytesIO(got(w, "curves", "csv", mode="classes")[1]))
        whole = table[table["rows"] == "all"]
        np.testing.assert_allclose(whole.average, np.ravel(found.average), atol=1e-9)
        assert list(dict.fromkeys(whole.output)) == list(found.outputs)
        assert got(w, "curves", "svg", mode="classes")[0] == "n-partial-dependence-classes.svg"
        with pytest.raises(InputError, match="mode='classes'; heatmap can be drawn as 'selection'"):
            w.save_image(tmp_path / "c.svg", "heatmap", mode="classes")

    def test_the_list_of_features_is_drawn_by_the_numbers_that_it_shows(
        self, make: Callable[..., PDPWidget], drawn: list[Any]
    ) -> None:
        for panels in ((), ("importance",)):
            w = make(feature="temp", panels=panels)
            w._running.board.open(w.panels)
            assert w.wait(60)
            for sort_by, measure in (("importance", "importance"), ("heterogeneity", "heterogeneity")):
                w.sort_by = sort_by
                got(w, "importance", "svg")
                figure = drawn[-1][0]
                curves = [w.explainer.partial_dependence(name) for name in figure.names]
                np.testing.assert_allclose(figure.values, [getattr(one, measure)[0] for one in curves])
                assert (np.diff(figure.values) <= 0).all()
        w = make(feature="temp", panels=())
        assert w.wait(60)
        table = pd.read_csv(io.BytesIO(got(w, "importance", "csv")[1]))
        curves = [w.explainer.partial_dependence(name) for name in table.feature]
        np.testing.assert_allclose(table.pd_importance, [one.importance[0] for one in curves])
        np.testing.assert_allclose(table.heterogeneity, [one.heterogeneity[0] for one in curves])
        w.sort_by = "total"
        assert "not computed: the page does not show it" in refused(w, "importance", "svg")

    def test_the_weight_in_the_rules(self, shown: PDPWidget, drawn: list[Any], tmp_path: Path) -> None:
        shown.sort_by = "rulefit"
        shown.save_image(tmp_path / "i.svg", "importance")
        figure = drawn[-1][0]
        assert isinstance(figure, Bars)
        found = shown.explainer.rules(output=shown.output).importance()
        expected = dict(zip(found.features, found.features_global[0], strict=True))
        np.testing.assert_allclose(figure.values, [expected[name] for name in figure.names], rtol=1e-5)
        assert (np.diff(figure.values) <= 0).all()

    def test_a_picture_is_never_that_of_an_earlier_focus(self, make: Callable[..., PDPWidget], tmp_path: Path) -> None:
        w = make(feature="temp", pair=("temp", "n"))
        w._running.board.open(w.panels)
        assert w.wait(60)
        w.stop()
        w.pair = ("temp", "flag")
        for save in (w.save_image, w.save_table):
            with pytest.raises(InputError, match=r"heatmap.* is not computed: it was stopped"):
                save(tmp_path / ("p.svg" if save == w.save_image else "p.csv"), "heatmap")


class TestRequests:
    @pytest.mark.parametrize("what", WHAT)
    def test_the_page_gets_what_python_writes(self, shown: PDPWidget, what: str, tmp_path: Path) -> None:
        shown.select("n > 2")
        assert shown.wait(60)
        name = {"curves": "temp-partial-dependence", "heatmap": "temp-n-partial-dependence"}.get(
            what, f"two_outputs-{what}"
        )
        for form in ("svg", "png"):
            path = shown.save_image(tmp_path / f"a.{form}", what)
            assert got(shown, what, form) == (f"{name}.{form}", path.read_bytes())
        path = shown.save_table(tmp_path / "a.csv", what)
        assert got(shown, what, "csv") == (f"{name}.csv", path.read_bytes())

    def test_text_that_makes_the_view_again_and_the_page(self, shown: PDPWidget, tmp_path: Path) -> None:
        assert got(shown, "python", "py") == ("two_outputs-view.py", shown.to_python().encode())
        path = shown.export_html(tmp_path / "p.html")
        assert got(shown, "page", "html") == ("two_outputs-page.html", path.read_bytes())

    def test_what_is_still_computed_is_said_and_nobody_waits(self, make: Callable[..., PDPWidget]) -> None:
        going = threading.Event()

        def model(X: pd.DataFrame) -> np.ndarray:
            going.wait(20)
            return predict(X)

        w = make(Counting(model), feature="temp", by="season")
        w._running.board.open(w.panels)
        try:
            for what in WHAT:
                for form in ("svg", "csv"):
                    assert "computed" in refused(w, what, form)
        finally:
            going.set()
        assert w.wait(60)
        asked_before = w.explainer.model.rows
        for what in WHAT:
            for form in ("png", "svg", "csv"):
                got(w, what, form)
        assert w.explainer.model.rows == asked_before, "a file asks nothing"

    def test_the_kernel_is_not_kept(self, make: Callable[..., PDPWidget], monkeypatch: pytest.MonkeyPatch) -> None:
        w = make(feature="temp")
        assert w.wait(60)
        real = still.scene

        def slow(*given: Any, **more: Any) -> Any:
            time.sleep(1.0)
            return real(*given, **more)

        monkeypatch.setattr(files.still, "scene", slow)
        reply, buffers, busy = asked(w, "curves", "png")
        assert reply["status"] == "ok"
        assert len(buffers) == 1
        assert busy < 0.5

    def test_without_pillow_the_page_is_told_to_compose_one(
        self, shown: PDPWidget, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "can_paint", lambda: False)
        monkeypatch.setattr("pdp_widgets.figures.png.can_paint", lambda: False)
        for what in WHAT:
            if what in ("importance", "rules"):
                assert "needs Pillow" in refused(shown, what, "png")
                continue
            reply, buffers, _ = asked(shown, what, "png")
            assert (reply["status"], buffers) == ("ok", [])
            assert reply["result"]["name"].endswith(".png")

    def test_an_error_of_ours_is_told_too(self, shown: PDPWidget, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files.still, "scene", lambda *_, **__: 1 / 0)
        assert refused(shown, "curves", "svg") == "ZeroDivisionError: division by zero"

    @pytest.mark.parametrize(
        "params",
        [
            {}, {"what": "curves"}, {"what": "curves", "format": "pdf"}, {"what": "effects", "format": "svg"}, {"what": ["curves"], "format": "svg"},
            {"what": "python", "format": "csv"}, {"what": "page", "format": "png"}, {"what": "rules", "format": ["csv"]},
            {"what": "curves", "format": "svg", "mode": "difference"}, {"what": "heatmap", "format": "svg", "mode": ["x"]},
            {"what": "heatmap", "format": "svg", "swapped": "yes"},
        ],
    )  # fmt: skip
    def test_nothing_else_is_made(self, params: dict[str, Any]) -> None:
        check = protocol.Checker(["temp"], ["yes"], lambda _: None, panels=["rules"])  # type: ignore[arg-type,return-value]
        with pytest.raises(InputError):
            check.request({"kind": "request", "id": "1", "method": "file", "params": params})

    def test_files_after_the_end(self, make: Callable[..., PDPWidget]) -> None:
        w = make(feature="temp")
        assert w.wait(60)
        got(w, "curves", "svg")
        w.close()
        deadline = time.monotonic() + 5
        while any(t.name == "pdp_widgets files" for t in threading.enumerate()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not [t for t in threading.enumerate() if t.name == "pdp_widgets files"]


@pytest.mark.parametrize(
    ("feature", "expected"),
    [
        ("bmi", "bmi-partial-dependence.svg"),
        ("../../etc/passwd", "etc-passwd-partial-dependence.svg"),
        ('a b/c\\d:e*?"<>|\n\x00', "a-b-c-d-e-partial-dependence.svg"),
        ("größe 体重", "größe-体重-partial-dependence.svg"),
        ("x" * 300, "x" * 40 + "-partial-dependence.svg"),
        ("?", "partial-dependence.svg"),
    ],
)
def test_names_are_safe_and_say_what_it_is(feature: str, expected: str) -> None:
    seen = {"feature": feature, "effect": "pd", "by": "", "derivative": False, "centered": False}
    name = files.file_name(seen, "curves", "svg")
    assert name == expected


@pytest.mark.parametrize(("first", "second"), [("ß", "é"), ("𝒳", "体"), ("a𝒳", "𝒳")])
def test_names_of_any_letters_fit_where_bytes_are_counted(first: str, second: str, tmp_path: Path) -> None:
    seen = {"feature": first * 40, "effect": "pd", "by": second * 40, "derivative": True, "centered": False}
    name = files.file_name(seen, "curves", "html")
    assert len(name.encode()) <= 255
    (tmp_path / name).write_text("")
    assert re.fullmatch(rf"({first})+({first[:-1]})?-partial-dependence-by-{second}+-slope\.html", name), (
        "no letter is cut in two"
    )
    assert name.count(second) >= 19
    wire = {"_heatmap": {"first": first * 40, "second": second * 40}}
    assert len(files.file_name(wire, "heatmap", "html", "difference").encode()) <= 255
