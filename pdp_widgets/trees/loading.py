"""Getting the compiled loops ready while others go on.

The first time on a machine they are compiled, which takes seconds, later they are read from disk. Both happen once per process, in a
thread of its own; until then, and where numba is absent, whoever asks has to do without.
"""

from __future__ import annotations

import importlib.util
import os
import threading
import time
from typing import Literal

State = Literal["idle", "loading", "ready", "failed"]


class _Loader:
    """The state of the one thread that loads."""

    def __init__(self) -> None:
        self.state: State = "idle"
        self.reason = ""
        """Why it failed."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._guarded = False

    def start(self) -> None:
        """Begin loading, unless that was done before."""
        with self._lock:
            if self.state != "idle" and not self._lost():
                return
            if importlib.util.find_spec("numba") is None:
                self._fail("exact sums over trees need numba, which is not installed (the extra pdp_widgets[trees])")
                return
            self.state = "loading"
            if hasattr(os, "register_at_fork") and not self._guarded:
                os.register_at_fork(before=self._before_fork)
                self._guarded = True
            # No daemon: a thread that is stopped while it compiles may take the process with it.
            self._thread = threading.Thread(target=self._load, name="pdp_widgets-compile", daemon=False)
            self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of loading; whether the loops are ready."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.state == "loading" and (end is None or time.monotonic() < end):
            if self._lost():
                self.start()
            self._ended.wait(0.1)  # an endless wait cannot be interrupted on every platform
        return self.state == "ready"

    def _before_fork(self) -> None:
        """Finish loading first: a copy of this process would wait for ever for the locks of a thread that it has not got."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _lost(self) -> bool:
        """Whether nobody loads any more: this process was forked from one that did."""
        return self.state == "loading" and self._thread is not None and not self._thread.is_alive()

    def _load(self) -> None:
        try:
            from . import warmup

            for number, step in enumerate(warmup.STEPS):
                if number > 0 and not threading.main_thread().is_alive():
                    return  # the process is about to end: do not hold it up
                step()
                if number == 0:  # the rest serves other questions, which may compile for themselves
                    self.state = "ready"
                    self._ended.set()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the compiler, model calls still serve
            if self.state != "ready":
                self._fail(f"the compiled sums over trees do not work here ({type(error).__name__}: {error})")

    def _fail(self, reason: str) -> None:
        self.state, self.reason = "failed", reason
        self._ended.set()


loader = _Loader()
