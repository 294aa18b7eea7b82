"""One background worker: many growing tasks, one thread, the most wanted chunk first.

A task is an iterator; each ``next()`` is one short chunk of work (50-100 ms). Between chunks the worker looks again which
task is wanted most, so a change of mind takes effect within one chunk. What a chunk *is* stays with the caller.
"""

from __future__ import annotations

import contextvars
import logging
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, Literal, Self

__all__ = ["CancelledError", "Task", "Worker", "WorkerClosedError"]

logger = logging.getLogger(__name__)

IDLE_SECONDS = 2.0
"""How long the thread waits for new work before it ends; the next task starts another one."""

_POLL = 0.1  # an endless wait for a lock cannot be interrupted on every platform


class WorkerClosedError(RuntimeError):
    """A task was handed to a worker that takes no more."""


class Task:
    """A piece of work on its way; made by :meth:`Worker.submit`."""

    def __init__(
        self,
        queue: _Queue,
        steps: Iterator[Any],
        *,
        priority: float,
        name: str,
        on_step: Callable[[Task], object] | None,
        on_end: Callable[[Task], object] | None,
    ) -> None:
        self.name = name
        self.steps_done = 0
        """Chunks finished so far."""
        self.value: Any = None
        """What the last chunk gave; at the end, what the iterator returned, if anything."""
        self.error: BaseException | None = None
        self.state: Literal["queued", "done", "failed", "cancelled"] = "queued"
        self._queue = queue
        self._steps: Iterator[Any] | None = steps
        self._priority = priority
        self._on_step, self._on_end = on_step, on_end
        self._ended = threading.Event()
        # Output and comm messages of a chunk belong to the cell that asked for it.
        self._context = contextvars.copy_context()

    def __repr__(self) -> str:
        return f"<Task {self.name!r} {self.state}, {self.steps_done} chunks>"

    @property
    def priority(self) -> float:
        """How much it is wanted; the highest goes first. May be set at any time."""
        return self._priority

    @priority.setter
    def priority(self, value: float) -> None:
        with self._queue.changed:
            self._priority = value

    @property
    def ended(self) -> bool:
        """Whether it is done, failed or cancelled."""
        return self._ended.is_set()

    def cancel(self) -> None:
        """Drop what is left of it; a chunk that is running is finished first."""
        self._queue.cancel(self)

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the end and return ``value``. Ctrl-C interrupts the wait, not the task.

        Raises
        ------
        CancelledError, TimeoutError
            When it was cancelled, or has not ended in ``timeout`` seconds.
        Exception
            Whatever a chunk raised.
        """
        if self._queue.thread is threading.current_thread():
            msg = "a chunk cannot wait for a task of its own worker"
            raise RuntimeError(msg)
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._ended.wait(_POLL if deadline is None else min(_POLL, max(deadline - time.monotonic(), 0))):
            if deadline is not None and time.monotonic() >= deadline:
                msg = f"task {self.name!r} has not ended after {timeout} s"
                raise TimeoutError(msg)
        if self.error is not None:
            raise self.error
        return self.value

    # What follows runs in the worker's thread.

    def advance(self) -> bool:
        """Do one chunk; whether there may be another."""
        steps = self._steps
        if steps is None:
            return False
        try:
            self.value = self._context.run(next, steps)
        except StopIteration as stop:
            if stop.value is not None:
                self.value = stop.value
            return False
        except BaseException as error:
            self.error = error
            level = logging.INFO if self._on_end is not None else logging.ERROR
            logger.log(level, "%s failed", self.name, exc_info=error)
            return False
        self.steps_done += 1
        self.call(self._on_step)
        return True

    def end(self, state: Literal["done", "failed", "cancelled"]) -> None:
        """Say that it is over, and let go of everything it held."""
        steps, self._steps = self._steps, None
        if state == "cancelled":
            self.error = CancelledError(f"task {self.name!r} was cancelled")
            close = getattr(steps, "close", None)
            if close is not None:
                self.call(lambda _: close())
        self.state = state
        on_end, self._on_step, self._on_end = self._on_end, None, None
        self.call(on_end)
        self._ended.set()

    def call(self, callback: Callable[[Task], object] | None) -> None:
        """Call back; an error there is logged and does no harm to the worker."""
        if callback is None:
            return
        try:
            self._context.run(callback, self)
        except WorkerClosedError:
            pass  # whoever goes on with the next task cannot know that the worker was closed a moment ago
        except BaseException:
            logger.exception("a callback of %s failed", self.name)


class Worker:
    """Runs tasks in one daemon thread, started with the first task and ended when there is nothing to do.

    Use as a context manager, or :meth:`close` it; garbage collection closes it, too.
    """

    def __init__(self, name: str = "pdp_widgets") -> None:
        self._queue = _Queue(name)
        # The thread knows the queue only, so a forgotten worker is collected and its thread ends.
        self._finalizer = weakref.finalize(self, self._queue.close, 0.0)

    def submit(
        self,
        steps: Iterable[Any],
        *,
        priority: float = 0.0,
        name: str = "work",
        on_step: Callable[[Task], object] | None = None,
        on_end: Callable[[Task], object] | None = None,
    ) -> Task:
        """Queue a task.

        Parameters
        ----------
        steps : iterable
            Each ``next()`` does one chunk. A generator's return value becomes ``Task.value``.
        priority : float
            The highest goes first; equals go in the order of submission.
        name : str
            For messages.
        on_step, on_end : callable, optional
            Called with the task, in the worker's thread, after each chunk and once at the end.

        Raises
        ------
        WorkerClosedError
        """
        task = Task(self._queue, iter(steps), priority=priority, name=name, on_step=on_step, on_end=on_end)
        self._queue.add(task)
        return task

    @property
    def paused(self) -> bool:
        """Whether it keeps its tasks without working on them."""
        return self._queue.paused

    @property
    def busy(self) -> bool:
        """Whether there is a task left that it works on (none while paused)."""
        return self._queue.busy

    @property
    def closed(self) -> bool:
        """Whether it takes no more tasks."""
        return self._queue.closed

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        thread = self._queue.thread
        return thread is not None and thread.is_alive()

    def pause(self) -> None:
        """Stop after the running chunk; what is there is kept."""
        self._queue.set_paused(paused=True)

    def resume(self) -> None:
        """Go on where :meth:`pause` stopped."""
        self._queue.set_paused(paused=False)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no task is worked on; ``False`` if that took longer than ``timeout`` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._queue.changed:
            while self._queue.busy:
                left = _POLL if deadline is None else deadline - time.monotonic()
                if left <= 0:
                    return False
                self._queue.changed.wait(min(left, _POLL))
        return True

    def close(self, timeout: float = 1.0) -> None:
        """Cancel everything and end the thread, waiting up to ``timeout`` seconds for the running chunk."""
        self._queue.close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Queue:
    """What the worker and its thread share."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Re-entrant: garbage collection may close a worker in the middle of anything.
        self.changed = threading.Condition(threading.RLock())
        self.tasks: list[Task] = []
        self.running: Task | None = None
        self.paused = False
        self.closed = False
        self.thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        return self.running is not None or (bool(self.tasks) and not self.paused)

    def add(self, task: Task) -> None:
        with self.changed:
            if self.closed:
                msg = "the worker is closed"
                raise WorkerClosedError(msg)
            self.tasks.append(task)
            self._wake()

    def set_paused(self, *, paused: bool) -> None:
        with self.changed:
            self.paused = paused
            self._wake()

    def cancel(self, task: Task) -> None:
        with self.changed:
            if task not in self.tasks:
                return
            self.tasks.remove(task)
            if task is self.running:
                return  # its thread ends it after the chunk
        task.end("cancelled")
        with self.changed:
            self.changed.notify_all()

    def close(self, timeout: float) -> None:
        if sys.is_finalizing():
            return  # Python has stopped the thread wherever it was, perhaps with the lock in its hand
        with self.changed:
            self.closed = True
            tasks, thread = list(self.tasks), self.thread
            self.changed.notify_all()
        for task in tasks:
            self.cancel(task)
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _wake(self) -> None:
        self.changed.notify_all()
        if self.thread is None and self.tasks and not self.paused and not self.closed:
            self.thread = threading.Thread(target=_run, args=(self,), name=self.name, daemon=True)
            self.thread.start()

    def take(self) -> Task | None:
        """The most wanted task, or ``None`` when the thread shall end."""
        with self.changed:
            self.running = None
            self.changed.notify_all()
            until = time.monotonic() + IDLE_SECONDS
            while not self.closed and (self.paused or not self.tasks):
                left = until - time.monotonic()
                if left <= 0:
                    break
                self.changed.wait(left)
            if self.closed or self.paused or not self.tasks:
                self.thread = None
                return None
            self.running = max(self.tasks, key=lambda task: task.priority)
            return self.running

    def drop(self, task: Task) -> bool:
        """Take the task off the list; whether it was still there."""
        with self.changed:
            if task not in self.tasks:
                return False
            self.tasks.remove(task)
            return True


def _run(queue: _Queue) -> None:
    while (task := queue.take()) is not None:
        more = task.advance()
        if more and task in queue.tasks:
            continue
        failed = task.error is not None
        cancelled = not queue.drop(task) and not failed and more
        task.end("cancelled" if cancelled else "failed" if failed else "done")
        del task  # or the last task, and all it holds, would live as long as the thread idles
