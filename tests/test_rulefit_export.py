"""Exported rule sets: run in Python, SQLite and DuckDB they predict the same; names and levels stay data."""

import ast
import builtins
import datetime as dt
import html.parser
import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
from rulefit_tools import HOSTILE, odd_rules, odd_table, reference

from pdp_widgets.inputs import InputError
from pdp_widgets.inputs.conditions import Levels, Missing, Range
from pdp_widgets.rulefit import Linear, Rule, RuleFitRegressor, RuleSet

KINDS = {
    "regression": {},
    "two outputs": {"outputs": 2},
    "two classes": {"link": "logit", "classes": ["no", HOSTILE]},
    "three classes": {"link": "ovr", "outputs": 3, "classes": [HOSTILE, "it's", "c"]},
}


def named(kind, X):
    return odd_rules(X, **KINDS[kind])


# ---- Python ----------------------------------------------------------------------------------


def run(source):
    """The function of a source that may import from the standard library, and use nothing else."""
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {getattr(node, "module", None) for node in imports} <= {"math", "datetime"}
    space = {}
    exec(compile(source, "exported", "exec"), space)
    return space["predict"]


def as_array(answer):
    return np.array(list(answer.values()) if isinstance(answer, dict) else [answer])


@pytest.mark.parametrize("kind", KINDS)
def test_python_predicts_the_same(kind):
    train, X = odd_table(), odd_table(400, seed=8)
    rules = named(kind, train)
    predict = run(rules.to_python())
    expected = rules.predict(X)
    records = X.astype(object).to_dict("records")
    found = np.array([as_array(predict(row)) for row in records]).T
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    if kind == "regression":
        np.testing.assert_array_equal(found, expected)
    if rules.classes:
        assert list(predict(records[0])) == list(rules.classes)


def test_python_reads_rows_as_they_come():
    pl = pytest.importorskip("polars")
    X = odd_table(60, seed=4)
    rules = named("regression", X)
    predict, expected = run(rules.to_python()), rules.predict(X)[0]
    plain = X.astype(object).where(X.notna(), None)
    plain["class"] = plain["class"].astype(object)
    for i, row in enumerate(pl.DataFrame(plain.to_dict("list"), strict=False).to_dicts()):
        assert predict(row) == expected[i]
    for i, row in enumerate(plain.to_dict("records")):
        row["day"] = None if row["day"] is None else row["day"].isoformat()
        assert predict({**row, "unused": object()}) == expected[i]
        assert predict({name: pd.NA if value is None else value for name, value in row.items()}) == expected[i]
    with pytest.raises(KeyError, match="wind speed"):
        predict({name: value for name, value in row.items() if name != "wind speed"})


def test_python_of_zones_durations_and_short_floats():
    X = pd.DataFrame(
        {
            "d": pd.date_range("2024-03-30", periods=60, freq="h", tz="Europe/Berlin"),
            "t": pd.to_timedelta(np.arange(60) * 1234567, unit="us"),
            "f": np.linspace(0, 1, 60).astype(np.float32),
        }
    )
    terms = [Rule.of("d > '2024-03-31 03:00:00'", X), Rule.of("t <= '0 days 00:00:30.5'", X), Rule.of("f > 0.505", X)]
    terms += [Linear("t", kind="timedelta"), Linear("d", kind="instant"), Linear("f", 0.1, 0.9)]
    rules = RuleSet(terms, [1.0, 10.0, 100.0, 1e-3, 1e-12, 7.0], 0)
    predict = run(rules.to_python())
    assert [predict(row) for row in X.to_dict("records")] == rules.predict(X)[0].tolist()
    row = X.to_dict("records")[50]
    plain = {
        "d": row["d"].to_pydatetime().astimezone(dt.UTC),
        "t": row["t"].to_pytimedelta(),
        "f": row["f"],
    }
    assert predict(plain) == rules.predict(X)[0, 50]


def test_python_of_levels_that_are_no_literals():
    X = pd.DataFrame({"c": pd.cut(np.arange(9.0), 3), "n": pd.Categorical([1.5, 2.5, 3.5] * 3)})
    levels = list(X["c"].cat.categories)
    rules = RuleSet(
        [Rule((Levels("c", (levels[0], levels[2])),)), Rule((Levels("n", (1.5,), negate=True),))], [1.0, 10.0], 0
    )
    predict = run(rules.to_python())
    assert [predict(row) for row in X.to_dict("records")] == rules.predict(X)[0].tolist()
    again = RuleSet.from_frame(rules.to_frame())
    assert [run(again.to_python())(row) for row in X.to_dict("records")] == rules.predict(X)[0].tolist()


def test_names_never_become_code():
    attack = "'] or __import__('os').system('x')) #"
    level = '"""\nraise SystemExit(\'\\\'\n'
    X = pd.DataFrame(
        {attack: [1.0, 2.0], "lambda": [level, "b"], "exp": [1.0, 2.0], "_number": [1.0, 2.0], "f0": [1.0, 2.0]}
    )
    rules = RuleSet(
        [
            Rule((Range(attack, low=1.5),)),
            Rule((Levels("lambda", (level,)),)),
            *(Linear(name) for name in ("exp", "_number", "f0")),
        ],
        [1.0, 2.0, 4.0, 8.0, 16.0],
        0,
        link="logit",
        classes=[level, attack],
    )
    source = rules.to_python()
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert not {name for name in names if name in dir(builtins)} - {
        "bool", "dict", "float", "hasattr", "int", "isinstance", "max", "min", "str", "zip", "TypeError", "ValueError",
    }  # fmt: skip
    found = np.array([as_array(run(source)(row)) for row in X.to_dict("records")]).T
    np.testing.assert_allclose(found, rules.predict(X), rtol=0, atol=1e-12)


def test_infinite_values_and_bounds():
    X = pd.DataFrame({"x": [-np.inf, -1.0, 0.0, 1.0, np.inf]})
    terms = [
        Rule((Range("x", high=np.inf, high_closed=False),)),
        Rule((Range("x", low=-np.inf, high=0.0),)),
        Linear("x", -0.5, 0.5),
    ]
    rules = RuleSet(terms, [1.0, 10.0, 100.0], 0)
    expected = rules.predict(X)[0].tolist()
    assert expected == [-39, -39, 11, 51, 50]
    assert [run(rules.to_python())(row) for row in X.to_dict("records")] == expected
    assert in_sqlite(rules, X)[0].tolist() == expected
    assert in_duckdb(rules, X)[0].tolist() == expected


# ---- SQL -------------------------------------------------------------------------------------


def in_sqlite(rules, X, *, table="t", dialect="sqlite"):
    connection = sqlite3.connect(":memory:")
    frame = X.copy()
    for name in frame.columns[frame.dtypes == "category"]:
        frame[name] = frame[name].astype(object)
    frame.to_sql(table, connection, index_label="the id")
    query = rules.to_sql(table, dialect=dialect, keep=["the id"])
    answer = pd.read_sql_query(f'SELECT * FROM ({query}) AS q ORDER BY "the id"', connection)
    connection.close()
    assert answer.columns.tolist() == ["the id", *rules.predicted]
    return answer.to_numpy(float).T[1:]


def in_duckdb(rules, X, *, table="t", dialect="duckdb", nan=()):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    frame = X.reset_index(names="the id")
    for name in X.columns[X.dtypes == "category"]:
        frame[name] = frame[name].astype("int64")
    connection.register("frame of X", frame)
    quoted = '"' + table.replace('"', '""') + '"'
    connection.execute(f'CREATE TABLE {quoted} AS SELECT * FROM "frame of X"')
    for name in X.columns[
        X.dtypes.map(pd.api.types.is_float_dtype) & X.isna().any()
    ]:  # whatever became of NaN on the way
        column = '"' + name.replace('"', '""') + '"'
        value = "CAST('NaN' AS DOUBLE)" if name in nan else "NULL"
        connection.execute(f"UPDATE {quoted} SET {column} = {value} WHERE {column} IS NULL OR isnan({column})")
    query = rules.to_sql(table, dialect=dialect, keep=["the id"])
    answer = connection.execute(f'SELECT * FROM ({query}) AS q ORDER BY "the id"')
    assert [column[0] for column in answer.description] == ["the id", *rules.predicted]
    return np.array(answer.fetchall(), dtype=float).T[1:]


@pytest.mark.parametrize("kind", KINDS)
def test_sql_predicts_the_same(kind):
    train, X = odd_table(), odd_table(400, seed=8)
    rules = named(kind, train)
    expected = rules.predict(X)
    np.testing.assert_allclose(in_sqlite(rules, X, table=HOSTILE), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_duckdb(rules, X, table=HOSTILE), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_duckdb(rules, X, nan=["e"]), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_duckdb(rules, X, dialect="standard"), expected, rtol=0, atol=1e-12)


def test_standard_sql_without_dates_runs_everywhere():
    X = odd_table(400, seed=8)
    rules = named("two classes", X)
    rules = rules.take([k for k, term in enumerate(rules.terms) if "day" not in term.features])
    np.testing.assert_allclose(in_sqlite(rules, X, dialect="standard"), rules.predict(X), rtol=0, atol=1e-12)


def test_sql_of_the_reference_ensemble(shared_data):
    data, rules = reference(shared_data)
    X = data.drop(columns="y")
    np.testing.assert_allclose(in_sqlite(rules, X, dialect="standard"), rules.predict(X), rtol=1e-13)
    np.testing.assert_allclose(in_duckdb(rules, X, dialect="standard"), rules.predict(X), rtol=1e-13)
    predict = run(rules.to_python())
    assert [predict(row) for row in X.to_dict("records")] == rules.predict(X)[0].tolist()


def test_sql_of_levels_and_missing_values():
    X = pd.DataFrame({"w": ["A", "B", None, "C"], "x": [1.0, np.nan, 3.0, 4.0]})
    conditions = [
        Levels("w", levels, negate=negate)
        for levels in ((), (None,), ("A",), ("A", None), ("A", "B"))
        for negate in (False, True)
    ]
    conditions += [
        Missing("x"),
        Range("x"),
        Range("x", missing=True),
        Range("x", 3.0, missing=True),
        Range("x", high=3.0),
    ]
    conditions += [Levels("x", (1.0, 4.0), kind="number"), Levels("x", (1.0, None), negate=True, kind="number")]
    rules = RuleSet([Rule((condition,)) for condition in conditions], 2.0 ** np.arange(len(conditions)), 0)
    expected = rules.predict(X)[0].tolist()
    for dialect in ("sqlite", "standard"):
        assert in_sqlite(rules, X, dialect=dialect)[0].tolist() == expected
    for dialect in ("duckdb", "standard"):
        assert in_duckdb(rules, X, dialect=dialect)[0].tolist() == expected
    assert in_duckdb(rules, X, nan=["x"])[0].tolist() == expected
    assert [run(rules.to_python())(row) for row in X.to_dict("records")] == expected


def test_sql_of_many_terms_and_fine_thresholds():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=1500)})
    rules = RuleSet([Rule((Range("x", high=float(value)),)) for value in X["x"]], rng.normal(size=1500), 1.0)
    np.testing.assert_allclose(in_sqlite(rules, X), rules.predict(X), rtol=0, atol=1e-11)
    np.testing.assert_allclose(in_duckdb(rules, X), rules.predict(X), rtol=0, atol=1e-11)


def test_sql_of_zones_durations_and_fractions():
    duckdb = pytest.importorskip("duckdb")
    X = pd.DataFrame(
        {
            "t": pd.to_timedelta(np.arange(60) * 1234567, unit="us"),
            "d": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60) * 250, unit="ms"),
        }
    )
    terms = [
        Rule.of("t <= '0 days 00:00:30.5'", X),
        Linear("t", kind="timedelta"),
        Rule.of("d > '2024-01-01 00:00:07.250'", X),
    ]
    rules = RuleSet(terms, [10.0, 1e-3, 1.0], 0)
    np.testing.assert_allclose(in_duckdb(rules, X, dialect="standard"), rules.predict(X), rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="duration"):
        rules.to_sql("t", dialect="sqlite")
    text = X[["d"]].assign(d=X["d"].dt.strftime("%Y-%m-%d %H:%M:%S.%f"))
    only = rules.take([2])
    np.testing.assert_array_equal(in_sqlite(only, text), only.predict(X))
    with pytest.raises(InputError, match="milliseconds"):
        RuleSet([Rule((Range("d", 1.5, kind="datetime"),))], [1.0], 0).to_sql("t", dialect="sqlite")
    zoned = pd.DataFrame({"d": pd.date_range("2024-03-30", periods=60, freq="h", tz="Europe/Berlin")})
    aware = RuleSet([Rule.of("d > '2024-03-31 03:00:00'", zoned)], [1.0], 0)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (i INTEGER, d TIMESTAMP WITH TIME ZONE)")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?)", [(i, str(d.tz_convert("UTC"))) for i, d in enumerate(zoned["d"])]
    )
    answer = connection.execute(aware.to_sql("t", keep="i") + ' ORDER BY "i"').fetchall()
    assert [row[1] for row in answer] == aware.predict(zoned)[0].tolist()


def test_sql_refuses_what_it_cannot_say():
    rules = RuleSet([Rule((Range("x", low=0.0),))], [1.0], 0)
    with pytest.raises(InputError, match="did you mean 'sqlite'"):
        rules.to_sql("t", dialect="sqlit")
    with pytest.raises(InputError, match="share a name"):
        rules.to_sql("t", keep=["Prediction"])
    with pytest.raises(InputError, match="cannot be a name"):
        rules.to_sql("a\0b")
    with pytest.raises(InputError, match="no SQL column holds"):
        RuleSet([Rule((Levels("c", (1, "a")),))], [1.0], 0).to_sql("t")
    assert 'FROM "main"."t"' in rules.to_sql(("main", "t"))
    columns = {"x": [1.0, -1.0], "value 0": [5, 6]}  # the name of a step in between
    odds = RuleSet([Rule((Range("x", low=0.0),))], [1.0], 0, link="logit")
    connection = sqlite3.connect(":memory:")
    pd.DataFrame(columns).to_sql("t", connection, index=False)
    answer = connection.execute(odds.to_sql("t", keep=["value 0"])).fetchall()
    connection.close()
    np.testing.assert_allclose([row[2] for row in answer], odds.predict(pd.DataFrame(columns))[1])


# ---- for people ------------------------------------------------------------------------------


def test_text_says_the_sum():
    X = pd.DataFrame({"temp": [0.0, 10.0, 20.0, 30.0], "w": list("ABAB")})
    rules = RuleSet([Linear("temp", 5, 25), Rule.of("temp > 5 & w == 'A'", X)], [0.5, -30.0], 7.0).with_support(X)
    assert rules.to_text() == (
        "prediction =\n  7\n  - 30 if temp > 5 & w = A\n  + 0.5 * temp (5 to 25, missing as 0)\n"
    )
    several = RuleSet([Linear("temp")], [[1.0], [0.0]], [1, 2], outputs=["a", "b"])
    assert several.to_text() == "a =\n  1\n  + 1 * temp (missing as 0)\n\nb =\n  2\n"
    assert several.to_text(output="b") == "b =\n  2\n"


def test_text_and_markdown_alone_predict_the_same():
    """Read back with no help of the package but its reader of conditions."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"temp": rng.normal(20, 7, 200), "hum": rng.uniform(0, 100, 200)})
    X.loc[::9, "temp"] = np.nan
    y = 2.0 * X["temp"].fillna(3) + 30 * (X["hum"] > 60) + rng.normal(size=200)
    model = RuleFitRegressor(max_rules=100, random_state=0).fit(X, y)
    rules = model.ruleset_

    def value(label):
        line = re.fullmatch(r"(\w+) \((?:(\S+) to (\S+), )?missing as (\S+)\)", label)
        if line is None:
            parts = [part.split(" or missing") for part in label.split(" & ")]
            texts = [f"({p[0]}" + (f" | {re.search('[a-z]+', p[0])[0]}.isna())" if len(p) > 1 else ")") for p in parts]
            return Rule.of(" & ".join(texts).replace("≤", "<=").replace("≥", ">="), X).mask(X)
        low, high = (float(line[k]) if line[k] else sign * np.inf for k, sign in ((2, -1), (3, 1)))
        return X[line[1]].fillna(float(line[4])).clip(low, high)

    total = 0.0
    for line in rules.to_text().splitlines()[1:]:
        found = re.fullmatch(r"  (?:([+-]) )?(\S+?)(?: (?:\*|if) (.*))?", line)
        amount = float(found[2]) * (-1 if found[1] == "-" else 1)
        total = total + amount * (1 if found[3] is None else value(found[3]))
    np.testing.assert_allclose(total, model.predict(X), rtol=1e-12)

    table = 0.0
    for line in rules.to_markdown().splitlines()[4:]:
        cells = [re.sub(r"\\(.)", r"\1", html.unescape(cell)).strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        table = table + float(cells[1]) * (1 if cells[0] == "intercept" else value(cells[0]))
    np.testing.assert_allclose(table, model.predict(X), rtol=1e-12)


def test_csv_file(tmp_path):
    X = odd_table()
    rules = named("three classes", X)
    rules.to_csv(tmp_path / "rules.csv")
    again = RuleSet.from_frame(pd.read_csv(tmp_path / "rules.csv"), link="ovr", classes=rules.classes)
    np.testing.assert_allclose(again.predict(X), rules.predict(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_shows_names_as_they_are(kind):
    mistune = pytest.importorskip("mistune")
    X = odd_table()
    rules = named(kind, X)
    page = mistune.create_markdown(plugins=["table", "strikethrough", "url", "math"], escape=False)(rules.to_markdown())
    reader = Cells()
    reader.feed(page)
    assert set(reader.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "p", "strong"}
    shown = {" ".join(cell.split()) for cell in reader.cells}
    assert {" ".join(term.label.split()) for term in rules.terms if not isinstance(term, Linear)} <= shown
    assert len(reader.cells) % (4 if kind in ("regression", "two outputs") else 5) == 0


class Cells(html.parser.HTMLParser):
    """Collects tags, and the text of cells."""

    def __init__(self):
        super().__init__()
        self.tags, self.cells, self.inside = [], [], False

    def handle_starttag(self, tag, attrs):
        assert all(name == "style" and value.startswith("text-align:") for name, value in attrs)
        self.tags.append(tag)
        self.inside = tag == "td"
        self.cells += [""] if self.inside else []

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


@pytest.mark.parametrize("kind", KINDS)
def test_html_shows_names_as_they_are(kind):
    X = odd_table()
    rules = named(kind, X)
    page = rules._repr_html_()
    reader = Cells()
    reader.feed(page)
    assert set(reader.tags) <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    labels = {term.label for term in rules.terms if not isinstance(term, Linear)}
    assert len(labels & set(reader.cells)) >= 10
    assert "more: to_frame()" in page and not re.search(r"<b>|DROP TABLE t; -- <", page)


def test_sqlite_compares_large_whole_numbers_as_the_rules_do():
    large = 2**53
    X = pd.DataFrame({"n": [large - 1, large, large + 1, large + 2, -large - 1, 3]})
    bound = float(large)
    rules = RuleSet(
        [
            Rule((Range("n", low=bound, low_closed=False),)),
            Rule((Range("n", high=-bound),)),
            Rule((Levels("n", (bound,), kind="number"),)),
        ],
        [1.0, 10.0, 100.0],
        0.0,
    )
    expected = rules.predict(X)
    assert expected[0].tolist() == [0.0, 100.0, 100.0, 1.0, 10.0, 0.0]
    np.testing.assert_array_equal(in_sqlite(rules, X), expected)
    np.testing.assert_array_equal(in_duckdb(rules, X), expected)


def test_a_class_without_a_name_has_one_in_sql():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    rules = RuleSet([Rule.of("x > 0.5", X)], [1.0], 0.25, link="logit", classes=["", "b"])
    connection = sqlite3.connect(":memory:")
    X.to_sql("t", connection)
    answer = pd.read_sql_query(rules.to_sql("t", dialect="sqlite"), connection)
    connection.close()
    assert answer.columns.tolist() == ["(empty)", "b"]
    np.testing.assert_allclose(answer.to_numpy().T, rules.predict(X))
