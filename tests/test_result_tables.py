"""What every result can do: a table, files that hold it, a table in a notebook, pickles and copies that are equal to it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from pdp_widgets import Explainer, RuleFitRegressor, compare

NASTY = "<script>alert('x')</script>"


def table(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "temp": rng.normal(15, 8, n).round(1),
            "count": rng.integers(0, 5, n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 60, n), unit="D"),
            NASTY: rng.choice(np.array(["<b>a</b>", "b"], dtype=object), n),
        }
    )
    return X, predict(X) + rng.normal(0, 0.1, n)


def predict(X: pd.DataFrame) -> np.ndarray:
    nasty = (X[NASTY] == "b").to_numpy()
    return X["temp"].to_numpy() * np.where(nasty, 1.0, -1.0) + X["count"].to_numpy() ** 2


class Fitted:
    """Answers for the table and can be pickled."""

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return predict(X)


def numbers(X: pd.DataFrame) -> pd.DataFrame:
    return X[["temp", "count"]].astype(float)


def of(call: Callable[[Explainer], Any]) -> Callable[[], Any]:
    def make() -> Any:
        X, y = table()
        return call(Explainer(Fitted(), X, y, sample_weight=np.linspace(1, 2, len(X))))

    return make


def of_trees(call: Callable[[Explainer, pd.DataFrame, np.ndarray], Any]) -> Callable[[], Any]:
    def make() -> Any:
        X, y = table()
        X = numbers(X)
        model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y)
        return call(Explainer(model, X, y), X, y)

    return make


def of_rulefit(call: Callable[[Any, pd.DataFrame, np.ndarray], Any]) -> Callable[[], Any]:
    def make() -> Any:
        X, y = table()
        model = RuleFitRegressor(max_rules=30, cv=2, random_state=0).fit(X[["temp", NASTY]], y)
        return call(model, X[["temp", NASTY]], y)

    return make


RESULTS: dict[str, Callable[[], Any]] = {
    "curve": of(lambda ex: ex.partial_dependence("temp", subgroup="count > 1")),
    "curve of dates": of(lambda ex: ex.partial_dependence("when")),
    "curve of levels": of(lambda ex: ex.partial_dependence(NASTY)),
    "surface": of(lambda ex: ex.partial_dependence(("temp", NASTY))),
    "slopes": of(lambda ex: ex.partial_dependence("temp").derivative()),
    "ale": of(lambda ex: ex.ale("temp")),
    "ale of levels": of(lambda ex: ex.ale(NASTY)),
    "ale of a pair": of(lambda ex: ex.ale(("temp", "count"))),
    "importance": of(lambda ex: ex.importance()),
    "interactions": of(lambda ex: ex.interactions()),
    "interaction": of(lambda ex: ex.interaction("temp", "count", NASTY)),
    "network": of(lambda ex: ex.interaction_network()),
    "decomposition": of(lambda ex: ex.decompose("temp", NASTY)),
    "groups": of(lambda ex: ex.by_group("temp", by=NASTY)),
    "regions": of(lambda ex: ex.regions("temp")),
    "suggestions": of(lambda ex: ex.suggestions()),
    "trust": of(lambda ex: ex.trust("temp")),
    "trust of a pair": of(lambda ex: ex.trust(("temp", "count"))),
    "observed": of(lambda ex: ex.observed("temp")),
    "complexity": of(lambda ex: ex.complexity()),
    "rules": of(lambda ex: ex.rules(max_rules=30)),
    "null": of_trees(lambda ex, X, y: ex.interaction_null(repeats=2)),
    "comparison": of_trees(
        lambda ex, X, y: compare({"trees": ex.model, NASTY: LinearRegression().fit(X, y)}, X, "temp")
    ),
    "chunks": of_trees(lambda ex, X, y: Explainer.from_chunks(ex.model, [X[:60], X[60:]]).partial_dependence("temp")),
    "ruleset": of_rulefit(lambda model, X, y: model.ruleset_),
    "row": of_rulefit(lambda model, X, y: model.explain_row(X, 0)),
    "rule importance": of_rulefit(lambda model, X, y: model.ruleset_.importance(X, subgroup="temp > 10")),
    "local importance": of_rulefit(lambda model, X, y: model.ruleset_.local_importance(X)),
    "overlap": of_rulefit(lambda model, X, y: model.ruleset_.overlap(X)),
    "stability": of_rulefit(lambda model, X, y: model.stability(X, y, refits=2)),
}


@pytest.fixture(scope="module", params=RESULTS)
def result(request: pytest.FixtureRequest) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RESULTS[request.param]()


def test_csv_holds_the_table(result: Any, tmp_path: Path) -> None:
    frame = result.to_frame()
    result.to_csv(tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv", keep_default_na=False)
    assert list(back) == list(map(str, frame.columns))
    assert len(back) == len(frame)
    for name in frame.select_dtypes("number"):
        expected = frame[name].to_numpy(float)
        np.testing.assert_allclose([float(value or "nan") for value in back[str(name)].map(str)], expected, rtol=1e-12)


def test_parquet_holds_the_table(result: Any, tmp_path: Path) -> None:
    frame = result.to_frame()
    result.to_parquet(tmp_path / "t.parquet")
    back = pd.read_parquet(tmp_path / "t.parquet")
    assert list(back) == list(map(str, frame.columns))
    for name in frame:
        if frame[name].dtype == object:
            assert list(back[name].dropna().map(str)) == list(frame[name].dropna().map(str))
        else:
            pd.testing.assert_series_equal(back[name], frame[name], check_dtype=False, check_index=False)


def test_notebook_shows_a_table_in_which_data_is_text(result: Any) -> None:
    shown = result._repr_html_()
    assert "<table" in shown
    assert "<script" not in shown
    assert "<b>a</b>" not in shown
    assert not re.search(r"<p>\s*&lt;", shown), "the brackets of repr are left out"


@pytest.mark.parametrize("through", [lambda r: pickle.loads(pickle.dumps(r)), copy.copy, copy.deepcopy])
def test_pickles_and_copies_are_equal(result: Any, through: Callable[[Any], Any]) -> None:
    same = through(result)
    assert type(same) is type(result)
    pd.testing.assert_frame_equal(same.to_frame(), result.to_frame())
    assert repr(same) == repr(result)
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(same, field.name), value)


def test_a_pickle_does_not_carry_the_model() -> None:
    X, y = table()
    X = numbers(X)
    model = GradientBoostingRegressor(n_estimators=400, max_depth=6, random_state=0).fit(X, y)
    explainer = Explainer(model, X, y)
    for result in (explainer.partial_dependence("temp"), explainer.importance(), explainer.regions("temp")):
        assert len(pickle.dumps(result)) < len(pickle.dumps(model)) / 4
        assert b"GradientBoostingRegressor" not in pickle.dumps(result)


def test_options_of_the_table_go_through(tmp_path: Path) -> None:
    X, _ = table()
    both = Explainer(lambda X: np.column_stack([predict(X), -predict(X)]), X, output_names=["up", "down"])
    network = both.interaction_network()
    network.to_csv(tmp_path / "nodes.csv", what="nodes")
    assert list(pd.read_csv(tmp_path / "nodes.csv")["feature"]) == list(network.nodes["feature"])
    with pytest.raises(ValueError, match=r"to_frame\('knots'\); expected 'edges', 'nodes'"):
        network.to_frame("knots")


def test_values_of_several_types_become_text_in_parquet(tmp_path: Path) -> None:
    X = pd.DataFrame({"mixed": np.array([1, "a", None, 2.5] * 5, dtype=object), "x": np.arange(20.0)})
    curve = Explainer(lambda X: X["x"].to_numpy(), X).partial_dependence("mixed")
    frame = curve.to_frame()
    curve.to_parquet(tmp_path / "mixed.parquet")
    back = pd.read_parquet(tmp_path / "mixed.parquet")["mixed"]
    assert [None if pd.isna(value) else value for value in back] == [
        None if pd.isna(value) else str(value) for value in frame["mixed"]
    ]


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    X, _ = table()
    curve = Explainer(predict, X).partial_dependence("temp")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "pdp_widgets\[polars\]"'):
        curve.to_parquet(tmp_path / "t.parquet")


def test_notebook_shows_the_features_of_an_explainer() -> None:
    X, y = table()
    X.loc[:3, "temp"] = np.nan
    explainer = Explainer(Fitted(), X, y, background=100)
    shown = explainer._repr_html_()
    assert "Explainer of Fitted: 4 features, 100 rows sampled of 120" in shown
    assert NASTY not in shown
    assert "&lt;script&gt;" in shown
    frame = explainer.to_frame()
    inside = X.iloc[explainer.rows_given]
    assert list(frame["feature"]) == list(X)
    assert list(frame["kind"]) == ["number", "integer", "datetime", "category"]
    assert list(frame["missing"]) == [inside["temp"].isna().sum(), 0, 0, 0]
    assert frame.loc[0, "values"] == f"{inside['temp'].min():g} to {inside['temp'].max():g}"
    assert frame.loc[3, "values"] == "<b>a</b>, b"


def test_an_explainer_of_odd_columns_is_shown_all_the_same() -> None:
    X = pd.DataFrame({"empty": [np.nan] * 6, "level": list("abcdef"), "yes": [True, False] * 3})
    frame = Explainer(lambda X: np.arange(len(X), dtype=float), X).to_frame()
    assert list(frame["missing"]) == [6, 0, 0]
    assert frame.loc[1, "values"] == "6 levels: a, b, c, ..."


def test_every_result_has_a_figure(result: Any) -> None:
    figure = result.to_bqplot()
    assert figure.marks
    assert figure.title
    plt = pytest.importorskip("matplotlib.pyplot")
    _, ax = plt.subplots()
    try:
        assert result.plot(ax).get_title() == figure.title
        assert ax.has_data()
    finally:
        plt.close("all")
