"""How long importing takes, beside the packages that a notebook with scikit-learn and widgets imports anyway."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from measure import Row, in_own_process, measurement

TIMES = 7
THEIRS = "import sklearn, ipywidgets, anywidget"


def seconds(statement: str) -> float:
    """Processor time of a statement in a fresh Python, without that of starting it."""
    code = f"import time\nstart = time.process_time()\n{statement}\nprint(time.process_time() - start)"
    return float(in_own_process(code))


@measurement
def imports() -> Iterator[Row]:
    """CPU of importing the package and its names against importing scikit-learn, ipywidgets and anywidget."""
    ours = {
        "import pdp_widgets": 1.0,
        "from pdp_widgets import Explainer": 1.3,
        "from pdp_widgets import PDPWidget": 1.5,
    }
    for statement in (*ours, THEIRS):
        seconds(statement)  # compiled, and in the disk's cache
    times = {statement: [] for statement in (*ours, THEIRS)}
    for _ in range(TIMES):
        for statement, measured in times.items():
            measured.append(seconds(statement))
    theirs = statistics.median(times[THEIRS])
    for statement, goal in ours.items():
        own = statistics.median(times[statement])
        yield Row(
            f"CPU of `{statement}` / `{THEIRS}`",
            own / theirs,
            goal,
            "x",
            f"{own:.2f} s / {theirs:.2f} s, median of {TIMES}",
        )
