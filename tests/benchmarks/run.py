"""Speed and size against their goals, as one table: `python tests/benchmarks/run.py [name ...]`.

Not part of the test run. CPU times are ratios against scikit-learn: the two take turns in one process, on one thread, and the medians are
compared, so that the table means the same on a slow and on a fast machine. `--list` names the measurements; the exit code is 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import imports  # noqa: F401 - enters its measurements
import measure  # noqa: F401 - before numpy, whose settings it mends
import numpy as np
import pairs  # noqa: F401 - enters its measurements
import rules  # noqa: F401 - enters its measurements
import trees  # noqa: F401 - enters its measurements
from measure import MEASUREMENTS, Row, alternate, friedman, in_own_process, measurement


@measurement
def brute() -> Iterator[Row]:
    """CPU of model calls for ICE and average on 40 points against scikit-learn's brute method: the five features that matter, a fresh Explainer."""
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.inspection import partial_dependence

    from pdp_widgets import Explainer

    X, y = friedman()
    relevant = list(X.columns[:5])
    for name, model, goal, times in (
        ("HistGradientBoosting(100)", HistGradientBoostingRegressor(max_iter=100, random_state=0), 0.65, 5),
        ("RandomForest(100)", RandomForestRegressor(100, random_state=0), 0.35, 3),
    ):
        model.fit(X, y)

        def ours(features: list[str], model: Any = model) -> Any:
            explainer = Explainer(model, X, method="model")
            return [explainer.partial_dependence(feature, progress=False) for feature in features]

        def theirs(features: list[str], model: Any = model, **grid: Any) -> Any:
            options = grid or {"grid_resolution": 40, "percentiles": (0.05, 0.95)}
            return [
                partial_dependence(model, X, [feature], method="brute", kind="both", **options) for feature in features
            ]

        (a,) = ours(["x3"])
        (b,) = theirs(["x3"], custom_values={"x3": a.grid_values[0]})
        assert np.abs(a.average - b["average"]).max() < 1e-10
        assert np.abs(a.individual - b["individual"]).max() < 1e-10
        mine, brute_time = alternate(lambda: ours(relevant), lambda: theirs(relevant), times)
        # The forest's most important feature has the most varied paths, and alone it bears the first small calls.
        hardest = np.divide(*alternate(lambda: ours(["x3"]), lambda: theirs(["x3"]), times))
        yield Row(
            f"CPU of model calls / scikit-learn brute, {name}",
            mine / brute_time,
            goal,
            "x",
            f"{mine:.2f} s / {brute_time:.2f} s, median of {times}; the hardest feature alone {hardest:.2f}",
        )


@measurement
def rows_predicted() -> Iterator[Row]:
    """Rows that the model is asked to predict for one feature, as a share of n x K."""
    from sklearn.base import BaseEstimator, RegressorMixin

    from pdp_widgets import Explainer

    class Counting(RegressorMixin, BaseEstimator):
        rows = 0

        def fit(self, X: Any, y: Any) -> Counting:
            self.n_features_in_ = X.shape[1]
            return self

        def predict(self, X: Any) -> np.ndarray:
            self.rows += len(X)
            return np.asarray(X)[:, 0] * 2

    X, y = friedman()
    explainer = Explainer(Counting().fit(X, y), X)
    model = explainer.model
    before = model.rows
    explainer.partial_dependence("x3", progress=False)
    asked = model.rows - before
    yield Row(
        "rows predicted for a feature / (n x K)", asked / (2000 * 40), 1.0, "x", f"{asked} rows, and {before} to set up"
    )


@measurement
def subgroup() -> Iterator[Row]:
    """A new subgroup once the curves are cached: no model call."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    from pdp_widgets import Explainer

    X, y = friedman()
    explainer = Explainer(HistGradientBoostingRegressor(random_state=0).fit(X, y), X)
    explainer.partial_dependence("x3", progress=False)
    asked = explainer.rows_asked
    times = []
    for cut in np.linspace(0.2, 0.8, 31):
        start = time.perf_counter()
        explainer.partial_dependence("x3", subgroup=f"x0 > {cut:.3f} & x1 < 0.9")
        times.append(time.perf_counter() - start)
    assert explainer.rows_asked == asked, "a new subgroup must not call the model"
    yield Row(
        "new subgroup of 2000 rows, cached",
        1000 * statistics.median(times),
        5.0,
        "ms",
        f"query string; slowest of 31: {1000 * max(times):.1f} ms",
    )


@measurement
def growth() -> Iterator[Row]:
    """Time for ten times the rows."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    from pdp_widgets import Explainer

    X, y = friedman(100_000)
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    small = X.iloc[:10_000].reset_index(drop=True)

    def run(table: Any) -> Callable[[], Any]:
        return lambda: Explainer(model, table).partial_dependence("x3", progress=False)

    ten, one = alternate(run(X), run(small), 3)
    yield Row("CPU for 100,000 rows / for 10,000 rows", ten / one, 11.0, "x", f"{ten:.2f} s / {one:.2f} s")


MILLION = """
import gc
import numpy as np
from pdp_widgets import Explainer

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024

X = np.random.default_rng(0).normal(size=(1_000_000, 5))
def model(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2]
Explainer(model, X[:100]).partial_dependence(0, progress=False)  # imports are not part of the measure
gc.collect()
open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
before = peak()
result = Explainer(model, X).partial_dependence(0, progress=False)
assert result.n_rows_used == 1_000_000 and result.average.shape == (1, 40)
print(peak() - before)
"""


@measurement
def million() -> Iterator[Row]:
    """Peak memory of one feature at a million rows, above X, in a process of its own (Linux)."""
    start = time.perf_counter()
    printed = in_own_process(MILLION)
    yield Row(
        "peak memory above X, 1,000,000 rows",
        float(printed),
        300.0,
        "MB",
        f"{time.perf_counter() - start:.0f} s in all",
    )


@measurement
def first_curve() -> Iterator[Row]:
    """From the call of PDPWidget to the first curve in its state: what the page draws as soon as it is there."""
    from sklearn.ensemble import GradientBoostingRegressor

    from pdp_widgets import PDPWidget, datasets

    for name, (X, y) in {"diabetes 442 x 10": datasets.diabetes(), "friedman1 2000 x 10": friedman()}.items():
        model = GradientBoostingRegressor(random_state=0).fit(X, y)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            widget = PDPWidget(model, X)
            widget._repr_mimebundle_()
            while not widget._curve.get("rows"):
                time.sleep(0.002)
                if time.perf_counter() - start > 30:
                    raise RuntimeError(f"no curve within 30 s: {widget._progress}")
            times.append(time.perf_counter() - start)
            widget.close()
        yield Row(
            f"first curve, GradientBoosting, {name}",
            statistics.median(times),
            0.5,
            "s",
            f"slowest of {len(times)}: {max(times):.2f} s",
        )


@measurement
def bytes_sent() -> Iterator[Row]:
    """Everything that goes to the page until a 2000 x 10 widget is at rest, without the bundle."""
    import comm
    from comm.base_comm import BaseComm
    from sklearn.ensemble import GradientBoostingRegressor

    from pdp_widgets import PDPWidget

    X, y = friedman()
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    sent: list[int] = []
    bundle = 0

    class CountingComm(BaseComm):
        def publish_msg(
            self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
        ) -> None:
            nonlocal bundle
            state = (data or {}).get("state", {})
            bundle += len(str(state.get("_esm", ""))) + len(str(state.get("_css", "")))
            sent.append(len(json.dumps(data, default=str)) + sum(memoryview(part).nbytes for part in buffers or ()))

    original, comm.create_comm = comm.create_comm, CountingComm
    try:
        widget = PDPWidget(model, X)
        widget._repr_mimebundle_()
        settle(widget)
        at_rest, first = sum(sent) - bundle, len(sent)
        assert bundle > 10_000, "the comm was not seen"
        widget.select("x0 > 0.5")
        settle(widget)
    finally:
        comm.create_comm = original
    yield Row(
        "sent to the page, 2000 x 10, until at rest",
        at_rest / 1e6,
        1.5,
        "MB",
        f"{first} messages; a selection: {(sum(sent) - bundle - at_rest) / 1e6:.2f} MB more; the bundle: {bundle / 1e6:.2f} MB once",
    )


FRAMES = """() => {
    // The script's own work in each frame: what handles pointer events, and what runs in requestAnimationFrame.
    const frames = window.__frames = {work: [], gaps: []};
    let work = 0, last = performance.now();
    const timed = callback => function (...args) {
        const start = performance.now();
        try { return callback.apply(this, args); } finally { work += performance.now() - start; }
    };
    const request = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = callback => request(timed(callback));
    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (type, listener, options) {
        const wrapped = /^pointer|^mouse/.test(type) && typeof listener === 'function' ? timed(listener) : listener;
        return add.call(this, type, wrapped, options);
    };
    const tick = now => { frames.work.push(work); frames.gaps.push(now - last); work = 0; last = now; request(tick); };
    request(tick);
}"""


@measurement
def brush_frames() -> Iterator[Row]:
    """Dragging a brush over 5000 rows in Chromium, on the stand-alone page: the work in each frame."""
    from lab import find_chromium, launch
    from playwright.sync_api import sync_playwright
    from sklearn.ensemble import HistGradientBoostingRegressor
    from widget_page import WidgetOnPage

    from pdp_widgets import PDPWidget

    X, y = friedman(5000)
    widget = PDPWidget(HistGradientBoostingRegressor(random_state=0).fit(X, y), X)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        widget.export_html(path)
        executable = find_chromium(playwright)
        if executable is None:
            raise RuntimeError("no Chromium found")
        browser = launch(playwright, executable)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.add_init_script(f"({FRAMES})()")
        page.goto(path.as_uri())
        shown = WidgetOnPage(page)
        shown.wait_until_exact()
        page.wait_for_timeout(500)
        page.evaluate("() => { window.__frames.work.length = window.__frames.gaps.length = 0; }")
        for _ in range(4):
            shown.drag("histogram", (0.2, 0.4), (0.8, 0.5), steps=60)
        frames = page.evaluate("window.__frames")
        browser.close()
    widget.close()
    work = np.array([time for time in frames["work"] if time > 0])
    assert len(work) > 60, f"only {len(work)} frames had work"
    gaps = np.percentile(frames["gaps"], 95)
    yield Row(
        "brush drag, 5000 rows: work per frame, p95",
        float(np.percentile(work, 95)),
        16.0,
        "ms",
        f"{len(work)} frames, median {np.median(work):.1f} ms; from frame to frame p95 {gaps:.1f} ms (16.7 is 60 a second)",
    )


def settle(widget: Any, seconds: float = 120) -> None:
    """Wait until a widget has nothing left to do."""
    end = time.perf_counter() + seconds
    quiet = 0
    while quiet < 10:
        time.sleep(0.03)
        quiet = quiet + 1 if widget._progress.get("state") == "idle" and widget._curve.get("rows") else 0
        if time.perf_counter() > end:
            raise RuntimeError(f"not at rest within {seconds} s: {widget._progress}")


def main() -> int:
    """Run the measurements that are asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"only these, of: {', '.join(MEASUREMENTS)}")
    parser.add_argument("--list", action="store_true", help="name the measurements and end")
    given = parser.parse_args()
    if unknown := set(given.names) - set(MEASUREMENTS):
        parser.error(f"no measurement {', '.join(sorted(unknown))}; there are {', '.join(MEASUREMENTS)}")
    if given.list:
        for name, function in MEASUREMENTS.items():
            print(f"{name:16}{function.__doc__}")
        return 0
    warnings.simplefilter("ignore")
    print(f"{'what':58}{'measured':>12}{'goal':>12}       detail")
    missed = 0
    for name in given.names or MEASUREMENTS:
        for row in MEASUREMENTS[name]():
            missed += not row.met
            print(
                f"{row.what:58}{row.value:>9.3g} {row.unit:<3}{('>= ' if row.least else '<= ') + format(row.goal, 'g'):>10} {row.unit:<3} {'ok    ' if row.met else 'MISSED'} {row.detail}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
