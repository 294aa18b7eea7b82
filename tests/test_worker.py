"""The background worker: order, cancelling, pausing, errors, and threads that end."""

from __future__ import annotations

import _thread
import contextvars
import gc
import logging
import threading
import time
import weakref

import pytest

from pdp_widgets.compute import worker as module
from pdp_widgets.compute.worker import CancelledError, Worker


@pytest.fixture
def worker():
    with Worker("test-worker") as worker:
        yield worker
    assert not threads()


def threads(name="test-worker"):
    return [thread for thread in threading.enumerate() if thread.name == name]


def chunks(log, name, n=3, seconds=0.0):
    for i in range(n):
        time.sleep(seconds)
        log.append((name, i))
        yield i
    return name


def test_result_is_what_the_iterator_returns(worker):
    log, steps = [], []
    task = worker.submit(chunks(log, "a"), on_step=lambda task: steps.append(task.value))
    assert task.result(5) == "a"
    assert (task.state, task.steps_done, steps) == ("done", 3, [0, 1, 2])
    assert worker.submit([1, 2]).result(5) == 2


def test_the_most_wanted_goes_first_and_equals_in_order(worker):
    log = []
    worker.pause()
    tasks = [worker.submit(chunks(log, name), priority=p) for name, p in [("a", 0), ("b", 0), ("c", 5)]]
    worker.resume()
    assert worker.wait(5)
    assert [name for name, _ in log] == ["c"] * 3 + ["a"] * 3 + ["b"] * 3
    assert all(task.ended for task in tasks)


def test_priorities_change_between_chunks(worker):
    log = []
    worker.pause()
    a = worker.submit(
        chunks(log, "a", 4), priority=2, on_step=lambda task: task.steps_done == 2 and setattr(b, "priority", 9)
    )
    b = worker.submit(chunks(log, "b", 2), priority=1)
    worker.resume()
    a.result(5)
    assert [name for name, _ in log] == ["a", "a", "b", "b", "a", "a"]


def test_cancel_queued_and_running(worker):
    log, ends = [], []
    started = threading.Event()

    def endless():
        try:
            while True:
                started.set()
                time.sleep(0.005)
                yield
        finally:
            log.append("closed")

    running = worker.submit(endless(), on_end=lambda task: ends.append(task.state))
    queued = worker.submit(chunks(log, "queued"), on_end=lambda task: ends.append(task.state))
    assert started.wait(5)
    queued.cancel()
    running.cancel()
    for task in (queued, running):
        with pytest.raises(CancelledError):
            task.result(5)
    assert log == ["closed"]
    assert ends == ["cancelled"] * 2
    running.cancel()  # once more does no harm
    assert worker.submit([1]).result(5) == 1


def test_pause_keeps_and_resume_goes_on(worker):
    log = []
    task = worker.submit(chunks(log, "a", 20, 0.01), on_step=lambda task: task.steps_done == 3 and worker.pause())
    assert worker.wait(5)
    time.sleep(0.05)
    assert len(log) == 3
    assert worker.paused
    assert not task.ended
    with pytest.raises(TimeoutError):
        task.result(0.05)
    worker.resume()
    assert task.result(5) == "a"
    assert log == [("a", i) for i in range(20)]


def test_errors_reach_whoever_asked(worker, caplog):
    def broken():
        yield 1
        raise ZeroDivisionError("no")

    seen = []
    with caplog.at_level(logging.INFO, logger=module.__name__):
        task = worker.submit(broken(), name="broken", on_end=lambda task: seen.append(task.error))
        with pytest.raises(ZeroDivisionError, match="no"):
            task.result(5)
    assert task.state == "failed"
    assert isinstance(seen[0], ZeroDivisionError)
    assert "broken failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert worker.submit([1]).result(5) == 1


def test_even_system_exit_and_bad_callbacks_leave_the_worker_alive(worker, caplog):
    def leave():
        raise SystemExit
        yield

    with pytest.raises(SystemExit):
        worker.submit(leave()).result(5)
    task = worker.submit([1, 2], on_step=lambda task: 1 / 0, on_end=lambda task: 1 / 0)
    assert task.result(5) == 2
    assert caplog.text.count("a callback of work failed") == 3


def test_interrupting_a_wait_is_immediate_and_leaves_the_task(worker):
    log = []
    task = worker.submit(chunks(log, "a", 30, 0.02))
    threading.Timer(0.1, _thread.interrupt_main).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        task.result()
    assert time.perf_counter() - start < 0.35
    assert task.result(5) == "a"


def test_context_of_the_asker_is_kept(worker):
    variable = contextvars.ContextVar("variable", default="none")
    seen = []

    def steps():
        seen.append(variable.get())
        yield

    variable.set("mine")
    worker.submit(steps(), on_end=lambda task: seen.append(variable.get())).result(5)
    assert seen == ["mine", "mine"]


def test_a_chunk_cannot_wait_for_its_own_worker(worker):
    def steps():
        worker.submit([1]).result()
        yield

    with pytest.raises(RuntimeError, match="own worker"):
        worker.submit(steps()).result(5)


def test_the_thread_ends_when_idle_and_starts_again(worker, monkeypatch):
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.05)
    assert not threads()  # nothing before the first task
    worker.submit([1]).result(5)
    deadline = time.monotonic() + 5
    while threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not worker.alive
    assert worker.submit([2]).result(5) == 2


def test_close_cancels_and_refuses(worker):
    tasks = [worker.submit(chunks([], "a", 1000, 0.005)) for _ in range(3)]
    worker.close()
    assert not threads()
    assert worker.closed
    assert {task.state for task in tasks} == {"cancelled"}
    with pytest.raises(RuntimeError, match="closed"):
        worker.submit([1])


def test_a_forgotten_worker_ends_its_thread_and_frees_what_it_held():
    class Held:
        pass

    held = Held()
    reference = weakref.ref(held)
    worker = Worker("forgotten")
    worker.submit([1], on_end=lambda task, held=held: None).result(5)
    del held, worker
    gc.collect()
    deadline = time.monotonic() + 5
    while threads("forgotten") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not threads("forgotten")
    assert reference() is None


def test_many_threads_may_ask(worker):
    results = []

    def ask(i):
        results.append(worker.submit(chunks([], i, 5)).result(5))

    askers = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert sorted(results) == list(range(8))


def test_close_at_the_end_of_python_does_not_wait_for_a_lock_nobody_will_release(monkeypatch):
    # Python stops daemon threads anywhere; then the last garbage collection closes what is left.
    worker = Worker("test-worker")
    held, release = threading.Event(), threading.Event()

    def hold():
        with worker._queue.changed:
            held.set()
            release.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    monkeypatch.setattr(module.sys, "is_finalizing", lambda: True)
    closing = threading.Thread(target=worker.close)
    closing.start()
    closing.join(2)
    waited = closing.is_alive()
    monkeypatch.undo()
    release.set()
    holder.join()
    closing.join()
    worker.close()
    assert not waited


def test_whoever_goes_on_while_the_worker_closes_makes_no_noise(worker, caplog):
    refused = []

    def go_on(_):
        try:
            worker.submit([1])
        except module.WorkerClosedError as error:
            refused.append(error)
            raise

    worker.submit(chunks([], "a", 1000, 0.005), on_end=go_on)
    worker.submit(chunks([], "b", 1000, 0.005), on_end=go_on)
    worker.close()
    assert len(refused) == 2
    assert not caplog.records
