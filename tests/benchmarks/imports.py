"""How long importing takes, beside the packages that a notebook with scikit-learn and widgets imports anyway.

The names alone load neither scikit-learn nor scipy, which comes with the model, so they are also measured after these packages: that
is what a session that has a model waits for in addition.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator

from measure import Row, in_own_process, measurement

TIMES = 9
THEIRS = "import sklearn, ipywidgets, anywidget"
GOALS = {
    "import pdp_widgets": 0.1,
    "from pdp_widgets import Explainer": 1.0,
    "from pdp_widgets import PDPWidget": 1.0,
    f"{THEIRS}; from pdp_widgets import PDPWidget": 1.15,
}


def seconds(statement: str) -> float:
    """Processor time of a statement in a fresh Python, without that of starting it."""
    code = f"import time\nstart = time.process_time()\n{statement}\nprint(time.process_time() - start)"
    return float(in_own_process(code))


@measurement
def imports() -> Iterator[Row]:
    """CPU of importing the package and its names against importing scikit-learn, ipywidgets and anywidget."""
    times: dict[str, list[float]] = {statement: [] for statement in (*GOALS, THEIRS)}
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as compiled:
        # Installed packages come compiled, a checkout may not be: here all are, and the checkout stays as it is.
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            for statement in times:
                seconds(statement)
            for _ in range(TIMES):
                for statement, measured in times.items():
                    measured.append(seconds(statement))
        finally:
            os.environ.clear()
            os.environ.update(before)
    theirs = statistics.median(times[THEIRS])
    for statement, goal in GOALS.items():
        own = statistics.median(times[statement])
        yield Row(
            f"CPU of `{statement}` / `{THEIRS}`",
            own / theirs,
            goal,
            "x",
            f"{own:.2f} s / {theirs:.2f} s, median of {TIMES}",
        )
