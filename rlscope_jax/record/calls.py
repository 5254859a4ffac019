"""When a long call of the program began and ended, told from beside it.

While a call runs, its outputs are live arrays that are not ready. Looking at them now and then says when it
ended to within a thousandth of its length, whatever function it is of and however it was called.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

SHORTEST = 0.5
"""Seconds; shorter calls are not worth telling, and their outputs are only held weakly."""
_SOONEST, _LATEST = 0.02, 0.1  # seconds between two looks
_PRECISION = 1 / 1000  # of a call's length
_COST = 1 / 200  # of the time between two looks: how long one may take
_LATE, _BUSY = 0.2, 0.5  # a look that comes so many seconds late, the processors less busy than that: stopped
_SIDE = 16  # arrays watched of those dispatched first and last


class Call(NamedTuple):
    """From when to when the outputs of one call were awaited, unix ns."""

    begin_unix_ns: int
    end_unix_ns: int
    doubt_ns: int
    """How much longer the call may have taken, or shorter."""
    stopped_ns: int
    """How long the process was stopped meanwhile, by Ctrl-Z or because the machine slept."""


class _Watched:
    """An output that was not ready yet when it was first seen.

    Held weakly at first: programs that make many short calls shall have their memory back at once. Later
    strongly, for its last reference may go between its being ready and the next look.
    """

    def __init__(self, array: Any, since: int, doubt: int) -> None:
        self._array = weakref.ref(array)
        self._held: Any = None
        self.since, self.doubt = since, doubt  # unix ns, ns

    def hold(self) -> None:
        """Hold it from now on."""
        self._held = self._array()

    @property
    def array(self) -> Any:
        """None where it is gone."""
        return self._array()


class Calls:
    """Looks for long calls, from `start` to `close`.

    Args:
        is_wanted: whether a call from one unix ns to another is worth keeping.
        live_arrays: as `jax.live_arrays`.
    """

    def __init__(
        self, is_wanted: Callable[[int, int], bool], live_arrays: Callable[[], Sequence[Any]]
    ) -> None:
        self._is_wanted, self._live_arrays = is_wanted, live_arrays
        self._found: list[Call] = []
        self._watched: list[_Watched] = []
        self._looked = time.time_ns()
        self._ended = (0, 0)  # when the latest long call did, and how far off that may be
        self._stops: list[tuple[int, int]] = []  # unix ns at its end, ns
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="rlscope_calls", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def close(self) -> None:
        """Look a last time; outputs are not held any longer."""
        if self._stop.is_set():
            return
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        with suppress(Exception):  # the program must go on
            self._look()
        self._watched = []

    def found(self) -> list[Call]:
        """The calls that have ended, in order; never one that failed."""
        with self._lock:
            return list(self._found)

    def _run(self) -> None:
        pause = _SOONEST
        with suppress(Exception):  # the program must go on, and so must its windows
            while not self._wait(pause):
                began = time.perf_counter()
                self._look()
                cost = time.perf_counter() - began
                age = (self._looked - min((one.since for one in self._watched), default=self._looked)) / 1e9
                pause = max(_SOONEST, min(_PRECISION * age, _LATEST), cost / _COST)

    def _wait(self, seconds: float) -> bool:
        """Wait; True where there is to be no other look."""
        began, used = time.perf_counter(), time.process_time()
        ended = self._stop.wait(seconds)
        late = time.perf_counter() - began - seconds
        if late > _LATE and time.process_time() - used < _BUSY * late:
            self._stops.append((time.time_ns(), round(late * 1e9)))
        return ended

    def _look(self) -> None:
        """See what has become ready, and what is awaited now."""
        now, before = time.time_ns(), self._looked
        self._looked = now
        ready = [one for one in self._watched if _state(one.array) == "ready"]
        if ready:
            self._note(ready, now, now - before)
        for one in self._watched:
            if now - one.since >= SHORTEST * 1e9:
                one.hold()
        if ready or not any(_state(one.array) == "awaited" for one in self._watched):
            known = {id(one.array): one for one in self._watched}
            self._watched = [
                known.get(id(array)) or _Watched(array, now, now - before) for array in self._awaited()
            ]

    def _awaited(self) -> list[Any]:
        awaited = [array for array in self._live_arrays() if _state(array) == "awaited"]
        # jax tells of the latest first: what runs now was dispatched before what waits for it.
        return awaited if len(awaited) <= 2 * _SIDE else awaited[:_SIDE] + awaited[-_SIDE:]

    def _note(self, ready: list[_Watched], now: int, doubt: int) -> None:
        """Some arrays became ready: a call ended that had begun when they were seen, or a call before did."""
        first = min(ready, key=lambda one: one.since)
        begin, begin_doubt = max((first.since, first.doubt), self._ended)
        if now - first.since < SHORTEST * 1e9:
            return
        self._ended = (now, doubt)
        stopped = sum(length for when, length in self._stops if begin < when <= now)
        call = Call(begin - begin_doubt // 2, now - doubt // 2, (begin_doubt + doubt) // 2, stopped)
        if call.end_unix_ns - call.begin_unix_ns >= SHORTEST * 1e9 and not _failed(first.array):
            with self._lock:
                if self._is_wanted(call.begin_unix_ns, call.end_unix_ns):
                    self._found.append(call)


def _state(array: Any) -> str:
    """ "awaited", "ready" or "gone": dropped, donated or deleted, by another thread at any instant."""
    try:
        if array.is_deleted():
            return "gone"
        return "ready" if array.is_ready() else "awaited"
    except Exception:  # there is none any more, or it was deleted this instant
        return "gone"


def _failed(array: Any) -> bool:
    """Whether an array that is ready holds an error: the call that made it ended before its time."""
    try:
        array.block_until_ready()
    except Exception:
        return True
    return False
