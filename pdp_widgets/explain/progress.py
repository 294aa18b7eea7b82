"""A progress bar for calls that turn out to be slow."""

from __future__ import annotations

from typing import Any

# Imported early: tqdm silences its own notice with `catch_warnings`, which another thread at work can undo.
from tqdm.auto import tqdm


def bar(total: int, what: str, progress: bool | None, unit: str = "row") -> Any:
    """Return a ``tqdm.auto`` bar that shows itself after a second, or a silent one.

    Parameters
    ----------
    total : int
        Rows, or other units, to do.
    what : str
        What is computed.
    progress : bool or None
        True: at once; None: when it takes longer than a second; False: never.
    unit : str
        What is counted.
    """
    return tqdm(
        total=total,
        desc=what,
        unit=unit,
        leave=False,
        disable=progress is False,
        delay=0 if progress else 1.0,
    )
