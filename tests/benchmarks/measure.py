"""What measurements share: the rows of the table, the data, and clocks."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]
# An emulated, slower processor type slows numpy only and would flatter every ratio in which it has a smaller part.
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)

MEASUREMENTS: dict[str, Callable[[], Iterator[Row]]] = {}


@dataclass
class Row:
    """One line of the table."""

    what: str
    value: float
    goal: float
    unit: str
    detail: str = ""
    least: bool = False
    """Whether the goal is the least rather than the most that is wanted."""

    @property
    def met(self) -> bool:
        return self.value >= self.goal if self.least else self.value <= self.goal


def measurement(function: Callable[[], Iterator[Row]]) -> Callable[[], Iterator[Row]]:
    """Enter a measurement under its function's name."""
    MEASUREMENTS[function.__name__] = function
    return function


def friedman(n: int = 2000) -> tuple[Any, np.ndarray]:
    """Friedman's first function as a table with named columns."""
    import pandas as pd
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n, n_features=10, noise=1.0, random_state=0)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(10)]), y


def cpu(call: Callable[[], Any]) -> float:
    """Return the processor time of one call, over all threads."""
    start = time.process_time()
    call()
    return time.process_time() - start


def alternate(ours: Callable[[], Any], theirs: Callable[[], Any], times: int) -> tuple[float, float]:
    """Return the median processor times of two calls that take turns."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        ours()
        theirs()
        pairs = [(cpu(ours), cpu(theirs)) if turn % 2 else (cpu(theirs), cpu(ours))[::-1] for turn in range(times)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def in_own_process(code: str) -> str:
    """Return what a piece of Python prints in a process of its own, from the top of the repository."""
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
