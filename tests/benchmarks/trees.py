"""Exact sums over trees against model calls: curves, interactions, surfaces."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from measure import Row, cpu, friedman, in_own_process, measurement


def models() -> Iterator[tuple[str, Any, dict[str, float]]]:
    """The three families, with how many times faster than brute force the goals want them: curves, interactions."""
    from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor

    yield "HGB(100)", HistGradientBoostingRegressor(max_iter=100, random_state=0), {"curves": 100, "pairs": 300}
    yield "GB(100, depth 3)", GradientBoostingRegressor(random_state=0), {"curves": 60, "pairs": 80}
    yield "RF(100, full depth)", RandomForestRegressor(100, random_state=0), {"curves": 30, "pairs": 40}


def prepared(model: Any, X: Any) -> Any:
    """Return the model's exact sums over the rows of X, on one thread."""
    from pdp_widgets.inputs import FeatureTable
    from pdp_widgets.trees.sums import TreeSums

    return TreeSums(FeatureTable(X), model, "predict", threads=1)


def grids(sums: Any, size: int) -> list[Any]:
    """Return a grid of each feature."""
    from pdp_widgets.inputs import make_grid

    table = sums.points.table
    return [make_grid(table, feature, grid_size=size) for feature in table.features.values()]


def middle(call: Callable[[], Any], times: int) -> float:
    """Return the median processor time, after a first call."""
    call()
    return statistics.median(cpu(call) for _ in range(times))


@measurement
def tree_curves() -> Iterator[Row]:
    """All ICE and partial dependence of ten features, 1000 rows, 40 points: scikit-learn brute / exact sums, one thread."""
    X, y = friedman()
    for name, model, goals in models():
        yield curves_of(name, model.fit(X, y), X[:1000], goals["curves"])


def curves_of(name: str, model: Any, rows: Any, goal: float) -> Row:
    """Measure one family."""
    from sklearn.inspection import partial_dependence
    from threadpoolctl import threadpool_limits

    from pdp_widgets import Explainer

    sums = prepared(model, rows)
    points = grids(sums, 40)
    named = {grid.feature.name: grid.values for grid in points}

    def brute() -> list[Any]:
        return [
            partial_dependence(model, rows, [feature], method="brute", kind="both", custom_values={feature: values})
            for feature, values in named.items()
        ]

    def recursion() -> list[Any]:  # on a grid of its own, equally large
        return [partial_dependence(model, rows, [feature], method="recursion", grid_resolution=40) for feature in named]

    def ours() -> list[tuple[np.ndarray, np.ndarray]]:
        curves = [sums.ice(np.arange(1000), [grid])[0] for grid in points]
        return [(curve, curve.mean(axis=0)) for curve in curves]

    def whole() -> list[Any]:
        explainer = Explainer(model, rows, method="trees")
        exact = explainer._source.method.sums()
        assert exact is not None
        exact.threads = 1
        return [explainer.partial_dependence(feature, progress=False) for feature in rows.columns]

    with threadpool_limits(1):
        for theirs, (curves, average) in zip(brute(), ours(), strict=True):
            assert np.abs(theirs["individual"][0] - curves).max() < 1e-10
            assert np.abs(theirs["average"][0] - average).max() < 1e-10
        slow, fast, through = cpu(brute), middle(ours, 7), middle(whole, 3)
        other = middle(recursion, 1)
    return Row(
        f"scikit-learn brute / all curves, {name}",
        slow / fast,
        goal,
        "x",
        f"{slow:.2f} s / {1000 * fast:.1f} ms; in a fresh Explainer, with reading and check, {1000 * through:.0f} ms ({slow / through:.0f}x); "
        f"{woodelf(model, rows)}; scikit-learn recursion {1000 * other:.0f} ms (average only, path-weighted: another estimand)",
        least=True,
    )


def woodelf(model: Any, rows: Any) -> str:
    """Time woodelf_explainer's partial dependence of all features, when it is installed."""
    try:
        from woodelf.pdp import woodelf_pdp
    except ImportError:
        return "woodelf_explainer is not installed"
    try:
        woodelf_pdp(model, rows, k=40, verbose=False)
        seconds = cpu(lambda: woodelf_pdp(model, rows, k=40, verbose=False))
    except Exception as error:
        return f"woodelf_explainer does not take it ({type(error).__name__})"
    return f"woodelf_explainer {1000 * seconds:.0f} ms (averages only, no curves)"


@measurement
def tree_pairs() -> Iterator[Row]:
    """All 45 pairs and 10 overall interaction sums at 500 rows: stacked brute force / exact sums, one thread."""
    X, y = friedman()
    for name, model, goals in models():
        yield pairs_of(name, model.fit(X, y), X[:500], goals["pairs"])


def pairs_of(name: str, model: Any, rows: Any, goal: float) -> Row:
    """Measure one family."""
    from threadpoolctl import threadpool_limits

    from pdp_widgets.trees.means import joint_means

    n, subsets = len(rows), 10 + 10 + 45
    values = rows.to_numpy()
    sums = prepared(model, rows)
    features = list(sums.points.table.features.values())

    def stacked(moved: list[int]) -> np.ndarray:
        """Average over all rows with the moved features as in each row: one call on n^2 rows."""
        block = np.tile(values, (n, 1))
        block[:, moved] = np.repeat(values[:, moved], n, axis=0)
        return model.predict(type(rows)(block, columns=rows.columns)).reshape(n, n).mean(axis=1)

    with threadpool_limits(1):
        ours = joint_means(sums, features)
        tried = [([0], ours.single[0, 0]), (list(range(1, 10)), ours.rest[0, 0]), ([0, 1], ours.joint[0, 0])]
        for moved, expected in tried:
            assert np.abs(stacked(moved) - expected).max() < 1e-10
        slow = cpu(lambda: [stacked(moved) for moved, _ in tried]) * subsets / len(tried)
        fast = middle(lambda: joint_means(sums, features), 7)
    return Row(
        f"stacked brute force / 45 pairs and 10 overall, {name}",
        slow / fast,
        goal,
        "x",
        f"{slow:.1f} s (from {len(tried)} of {subsets} calls on {n * n:,} rows) / {1000 * fast:.1f} ms",
        least=True,
    )


@measurement
def tree_surfaces() -> Iterator[Row]:
    """45 surfaces of 20 x 20 points, HGB, 2000 rows: scikit-learn brute / exact sums, one thread."""
    from sklearn.inspection import partial_dependence
    from threadpoolctl import threadpool_limits

    from pdp_widgets.trees import means

    X, y = friedman()
    name, model, _ = next(models())
    model.fit(X, y)
    sums = prepared(model, X)
    points = grids(sums, 20)
    pairs = list(combinations(range(10), 2))
    with threadpool_limits(1):
        ours = means.partial_dependence(sums, points, pairs).pairs
        start = time.process_time()
        theirs = partial_dependence(
            model, X, ["x0", "x1"], method="brute", custom_values={f"x{k}": points[k].values for k in (0, 1)}
        )
        slow = (time.process_time() - start) * len(pairs)
        assert np.abs(theirs["average"][0] - ours[0][0]).max() < 1e-10
        fast = middle(lambda: means.partial_dependence(sums, points, pairs), 7)
        curves = middle(lambda: sums.ice(np.arange(2000), [points[0], points[1]]), 3) * len(pairs)
    yield Row(
        f"scikit-learn brute / 45 surfaces, {name}",
        slow / fast,
        160,
        "x",
        f"{slow:.0f} s (from 1 of 45) / {1000 * fast:.1f} ms; with every row's own surface {curves:.2f} s ({slow / curves:.0f}x)",
        least=True,
    )


LARGE = """
import re, sys, time
from pathlib import Path
sys.path[:0] = ["tests/benchmarks", "."]
from measure import friedman
from trees import models, prepared
from pdp_widgets.trees.means import joint_means
from pdp_widgets.trees import warmup

for step in warmup.STEPS:
    step()
name, model, _ = list(models())[{which}]
X, y = friedman({rows})
model.fit(X, y)
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
memory = lambda what: int(re.search(what + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
before = memory("VmRSS")
start = time.process_time()
sums = prepared(model, X)
joint_means(sums, list(sums.points.table.features.values()))
seconds = time.process_time() - start
print(seconds, memory("VmHWM") - before)
"""


@measurement
def tree_large() -> Iterator[Row]:
    """All pairs and overall sums at 10,000 rows, GB: seconds and memory, in a process of its own (Linux)."""
    seconds, megabytes = map(float, in_own_process(LARGE.format(which=1, rows=10_000)).split())
    yield Row("45 pairs and 10 overall, 10,000 rows, GB", seconds, 3.0, "s", "reading the model included")
    yield Row("peak memory of it, above the model", megabytes, 500.0, "MB")
    seconds, megabytes = map(float, in_own_process(LARGE.format(which=2, rows=2000)).split())
    yield Row("peak memory, 45 pairs, 2000 rows, RF", megabytes, 500.0, "MB", f"{seconds:.1f} s")
