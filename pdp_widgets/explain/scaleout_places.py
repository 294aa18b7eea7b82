"""Where chunks come from, and where they are worked on: here, on an executor, or on a dask cluster.

Chunks are sent on one after the other, a few at a time, and what comes back is handed on in the order in which they were sent.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, Protocol

import numpy as np

from pdp_widgets.compute.chunks import Evaluator
from pdp_widgets.inputs import InputError

from .scaleout_chunks import Piece, load, rows_of
from .scaleout_sample import Plan, Survey, in_chunk, survey

# ---- where chunks come from ------------------------------------------------------------------


class Chunks(Protocol):
    """All chunks, to be read as often as one likes."""

    any_order: bool
    """Whether they may be had in any order."""

    def pieces(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, Piece]]:
        """Yield numbers and chunks: these, in this order; without ``numbers`` all, in their own order."""


class Listed:
    """Chunks that can be had one by one, in any order.

    Parameters
    ----------
    count : int
    get : callable
        From a chunk's number to the chunk.
    """

    any_order = True

    def __init__(self, count: int, get: Callable[[int], Piece]) -> None:
        self._count, self._get = count, get

    def pieces(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, Piece]]:
        """See ``Chunks``."""
        for number in range(self._count) if numbers is None else numbers:
            yield number, self._get(number)


class Streamed:
    """Chunks that come in one order only, made anew for each reading.

    Parameters
    ----------
    make : callable
        Returns an iterator over the chunks.
    """

    any_order = False

    def __init__(self, make: Callable[[], Iterable[Piece]]) -> None:
        self._make = make

    def pieces(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, Piece]]:
        """See ``Chunks``; ``numbers`` must ascend."""
        wanted = None if numbers is None else set(numbers)
        iterator = _begun(self._make)
        number = 0
        while wanted is None or wanted:
            try:
                piece = next(iterator)
            except StopIteration:
                break
            except Exception as error:
                raise in_chunk(number, InputError(f"it could not be read: {type(error).__name__}: {error}")) from error
            if wanted is None or number in wanted:
                yield number, piece
                if wanted is not None:
                    wanted.discard(number)
            del piece  # before the next one is made
            number += 1
        if wanted:
            raise InputError(
                f"chunks gave {number} of them this time and more when they were first read; they must be the same each time"
            )


def chunks_of(given: Any) -> Chunks:
    """Return the chunks of what the caller hands over.

    Raises
    ------
    InputError
        When it is no collection of frames, or one that can be read only once.
    """
    if is_dask_frame(given):
        return Listed(int(given.npartitions), lambda number: given.partitions[number].to_delayed()[0])
    kind = f"a {type(given).__name__}"
    if isinstance(given, Iterator):
        raise InputError(
            f"chunks is {kind}, which can be read only once, but each partial dependence reads all chunks; pass the function "
            "that makes it (chunks=make, not make()), or a list"
        )
    if getattr(given, "shape", None) is not None or hasattr(type(given), "collect"):
        raise InputError(
            f"chunks is {kind}, a single table; pass a list of tables, a dask DataFrame, or use Explainer(model, X)"
        )
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        if not given:
            raise InputError("chunks is empty; pass at least one table")
        return Listed(len(given), given.__getitem__)
    if callable(given):
        return Streamed(given)
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, dict)):
        return Streamed(lambda: given)
    raise InputError(
        f"chunks is {kind}; expected a dask DataFrame, a list of tables (or of functions that read one each), or a "
        "function that returns an iterator over tables"
    )


def is_dask_frame(given: Any) -> bool:
    """Return whether it is a dask DataFrame, without importing dask."""
    ours = any(base.__module__.split(".")[0] in ("dask", "dask_expr") for base in type(given).__mro__)
    return ours and hasattr(given, "partitions") and hasattr(given, "columns")


# ---- where they are worked on ----------------------------------------------------------------


class Pending(Protocol):
    """Something that will be known."""

    def result(self) -> Any:
        """Wait for it."""

    def cancel(self) -> Any:
        """Give up on it."""


class Place(Protocol):
    """Where chunks are worked on."""

    @property
    def window(self) -> int:
        """Return how many chunks may be there at once."""

    def surveys(self, chunks: Chunks, plan: Plan, most: Callable[[], int]) -> Generator[tuple[int, Survey], None, None]:
        """Yield what the first reading finds, in the order of the chunks; ``most()`` is the largest key of use."""

    def share(self, function: Callable[[Any], Any]) -> None:
        """Take the function that is to be called for chunks."""

    def send(self, piece: Piece, rest: tuple[Any, ...]) -> Pending:
        """Have the function called with ``(piece, *rest)``."""


class Here:
    """The calling process, or the workers of an executor.

    Parameters
    ----------
    executor : concurrent.futures.Executor or None
    """

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor
        self._evaluator: Evaluator | None = None

    @property
    def window(self) -> int:
        """See ``Place``: one chunk here; on an executor one more than it has workers, so that none waits."""
        if self._executor is None:
            return 1
        return 1 + int(getattr(self._executor, "_max_workers", None) or os.cpu_count() or 2)

    def surveys(self, chunks: Chunks, plan: Plan, most: Callable[[], int]) -> Generator[tuple[int, Survey], None, None]:
        """See ``Place``. A chunk's rows count from those before it, so this is done in one go and here."""
        offset = 0
        for number, piece in chunks.pieces():
            try:
                found = survey(plan, number, offset, load(piece), most())
            except Exception as error:
                raise in_chunk(number, error) from error
            del piece
            offset += found.n_rows
            yield number, found

    def share(self, function: Callable[[Any], Any]) -> None:
        """See ``Place``; a worker gets it when it does not have it yet."""
        self._evaluator = Evaluator(function, self._executor)  # type: ignore[arg-type]

    def send(self, piece: Piece, rest: tuple[Any, ...]) -> Pending:
        """See ``Place``."""
        assert self._evaluator is not None
        if self._executor is None:
            return _Later(self._evaluator, (piece, *rest))
        if hasattr(type(piece), "compute"):  # what dask makes does not always travel by itself
            piece = load(piece)
        return _Timed(self._evaluator.submit((piece, *rest), 0))


class Cluster:
    """The workers of a dask cluster.

    The function travels as bytes within a task of its own, from which each worker fetches it, not with each chunk. Where a worker is
    lost, the scheduler has that task, like all others, done again.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._function: Any = None

    @property
    def window(self) -> int:
        """See ``Place``: two chunks per thread of the workers there are now."""
        return max(4, 2 * sum(self._client.nthreads().values()))

    def surveys(self, chunks: Chunks, plan: Plan, most: Callable[[], int]) -> Generator[tuple[int, Survey], None, None]:
        """See ``Place``. Where a chunk's rows begin is a task as well, so each chunk is read once."""
        offset: Any = 0
        flight: deque[tuple[int, Any]] = deque()
        for number, piece in chunks.pieces():
            frame = self._placed(piece)
            del piece
            flight.append((number, self._submit(survey, plan, number, offset, frame, most())))
            offset = self._submit(_end, offset, frame)
            del frame
            window = self.window
            while len(flight) >= window:
                yield _received(*flight.popleft())
        while flight:
            yield _received(*flight.popleft())

    def share(self, function: Callable[[Any], Any]) -> None:
        """See ``Place``."""
        from distributed.protocol import pickle

        self._function = self._submit(_unpacked, pickle.dumps(function))  # type: ignore[no-untyped-call]

    def send(self, piece: Piece, rest: tuple[Any, ...]) -> Pending:
        """See ``Place``."""
        return _Remote(self._submit(_call, self._function, self._placed(piece), rest))

    def _placed(self, piece: Piece) -> Any:
        """Return the future of a frame, read by a worker where it is still to be read."""
        if hasattr(type(piece), "__dask_graph__"):
            with _quiet():
                return self._client.compute(piece)
        return self._submit(load, piece)

    def _submit(self, function: Callable[..., Any], *args: Any) -> Any:
        with _quiet():
            return self._client.submit(function, *args, pure=False)


def place_of(chunks: Any, client: Any, executor: Executor | None) -> Place:
    """Return where chunks are worked on: on the cluster of ``client``, of dask's default client for a dask DataFrame, or here.

    Raises
    ------
    InputError
        For something that is no client or executor, and for both.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(
            f"executor is a {type(executor).__name__} without a submit method; expected a concurrent.futures.Executor "
            "(for dask: client=)"
        )
    if client is not None and executor is not None:
        raise InputError("client and executor are both given; chunks are worked on in one of the two places")
    if client is None and executor is None and is_dask_frame(chunks):
        client = _default_client()
    if client is None:
        return Here(executor)
    try:
        import distributed
    except ImportError as error:
        raise InputError("client= needs dask's scheduler of clusters; install pdp_widgets[dask]") from error
    if not isinstance(client, distributed.Client):
        raise InputError(
            f"client is a {type(client).__name__}; expected a dask.distributed.Client, such as Client('tcp://...:8786')"
        )
    if client.asynchronous:
        raise InputError("client is asynchronous; pass a distributed.Client made without asynchronous=True")
    return Cluster(client)


def run(place: Place, jobs: Iterator[tuple[int, Piece, tuple[Any, ...]]]) -> Generator[Any, None, None]:
    """Yield what comes back for numbered chunks, in their order.

    Raises
    ------
    PDPWidgetsError
        The first error, with the number of its chunk; what is on its way is cancelled then, as it is when nobody asks any longer.
    """
    flight: deque[tuple[int, Pending]] = deque()
    try:
        for number, piece, rest in jobs:
            flight.append((number, _sent(place, number, piece, rest)))
            del piece  # here, a chunk is gone before the next one is made
            window = place.window
            while len(flight) >= window:
                yield _received(*flight.popleft())[1]
        while flight:
            yield _received(*flight.popleft())[1]
    finally:
        for _, pending in flight:
            pending.cancel()


# ---- helpers ---------------------------------------------------------------------------------


class _Later:
    """A call that is made when its result is asked for."""

    def __init__(self, evaluator: Evaluator, job: tuple[Any, ...]) -> None:
        self._evaluator, self._job = evaluator, job

    def result(self) -> Any:
        return self._evaluator.run(self._job, 0)[0]

    def cancel(self) -> None:
        pass


class _Timed:
    """A call on an executor, without the time it took."""

    def __init__(self, pending: Any) -> None:
        self._pending = pending

    def result(self) -> Any:
        return self._pending.result()[0]

    def cancel(self) -> None:
        self._pending.cancel()


class _Remote:
    """A call on a cluster; the scheduler drops what nobody holds a future of."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def result(self) -> Any:
        return self._future.result()

    def cancel(self) -> None:
        self._future.release()  # unlike dask's own `cancel` it waits for nobody


def _sent(place: Place, number: int, piece: Piece, rest: tuple[Any, ...]) -> Pending:
    try:
        return place.send(piece, rest)
    except Exception as error:
        raise in_chunk(number, error) from error


def _received(number: int, pending: Pending) -> tuple[int, Any]:
    try:
        return number, pending.result()
    except Exception as error:
        raise in_chunk(number, error) from error


def _begun(make: Callable[[], Iterable[Piece]]) -> Iterator[Piece]:
    made = make()
    if not isinstance(made, Iterable):
        raise InputError(f"chunks() returned a {type(made).__name__}; expected an iterator over tables")
    return iter(made)


def _default_client() -> Any:
    if "distributed" not in sys.modules:  # then nobody has made one
        return None
    import distributed

    try:
        return distributed.default_client()  # type: ignore[no-untyped-call]
    except ValueError:
        return None


def _quiet() -> Any:
    """Return a context in which a large model or frame is sent without dask's advice to load it elsewhere."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"})


# What the scheduler has done by workers.


def _end(offset: int, frame: Any) -> int:
    return offset + rows_of(frame)


def _unpacked(packed: bytes) -> Any:
    from distributed.protocol import pickle

    return pickle.loads(packed)  # type: ignore[no-untyped-call]


def _call(function: Callable[[Any], Any], frame: Any, rest: tuple[Any, ...]) -> Any:
    return function((frame, *rest))


def seeded_order(chunks: Chunks, numbers: np.ndarray, seed: int) -> np.ndarray:
    """Return the chunks' numbers in the order in which they are worked on: random where it can be chosen."""
    if not chunks.any_order:
        return numbers
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,))).permutation(numbers)
