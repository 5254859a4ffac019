"""How fast the processor is just now: which measurements were made at its full speed.

A virtual core whose other half computes for somebody else runs at about half its speed, for tenths of a
second up to seconds at a time; what was measured then compares with nothing. A fixed piece of work, timed
between measurements, tells: of steps between two looks at full speed the means of an eighth each scatter by
2 to 5 %, of all steps single ones by 15 to 24 %.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

_WORK = range(400)  # 10 to 20 µs
_SLOWER = 1.15
"""Times the fastest looks; at half speed they take 1.6 to 2.1 times as long."""


class Pace:
    """Looks at the processor's speed, numbered as they come.

    Args:
        cores: those to look at; none is the one that the calling thread runs on.
    """

    def __init__(self, cores: tuple[int, ...] = ()) -> None:
        self._cores = cores
        self._took: list[list[int]] = []  # ns, of each look on each core

    def look(self) -> int:
        """Look now.

        Returns:
            The number of this look.
        """
        if len(self._cores) < 2:
            self._took.append([_work()])
        else:
            before = os.sched_getaffinity(0)
            took = []
            for core in self._cores:
                os.sched_setaffinity(0, {core})
                took.append(_work())
            os.sched_setaffinity(0, before)
            self._took.append(took)
        return len(self._took) - 1

    @property
    def last(self) -> int:
        """The number of the last look."""
        return len(self._took) - 1

    def slow_cores(self) -> np.ndarray:
        """int64[looks]: which cores each look found slower than they can be, as bits; 0 is full speed."""
        took = np.array(self._took, np.float64)
        slow = took > _SLOWER * np.quantile(took, 0.03, axis=0)
        return np.asarray(slow @ (1 << np.arange(took.shape[1])), np.int64)

    def at_full_speed(self) -> np.ndarray:
        """bool[looks]: which of them found all cores as fast as they can be."""
        return np.asarray(self.slow_cores() == 0)


def _work() -> int:
    """ns that a fixed piece of work takes: the faster of two, for one may be interrupted."""
    return min(_timed_work(), _timed_work())


def _timed_work() -> int:
    began = time.perf_counter_ns()
    total = 0
    for number in _WORK:
        total += number * number
    return time.perf_counter_ns() - began


@contextmanager
def on_the_fastest_core(cores: Iterable[int] | None = None) -> Iterator[None]:
    """Within, all threads of this process run on the core that is the fastest just now.

    Where the system does not let us choose, they run as they would.

    Args:
        cores: those to choose from; None are all that the calling thread may use.
    """
    before = _cores_of_threads()
    with suppress(OSError, AttributeError):
        speeds = {}
        for core in cores or os.sched_getaffinity(0):
            os.sched_setaffinity(0, {core})
            speeds[core] = min(_work() for _ in range(3))
        fastest = min(speeds, key=speeds.__getitem__)
        _confine({thread: {fastest} for thread in before})
    try:
        yield
    finally:
        mine = before.get(os.getpid(), set())  # for threads that were started meanwhile
        _confine({thread: before.get(thread, mine) for thread in _cores_of_threads()})


def _cores_of_threads() -> dict[int, set[int]]:
    found = {}
    with suppress(OSError, AttributeError, ValueError):
        for task in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # it has just ended
                found[int(task.name)] = os.sched_getaffinity(int(task.name))
    return found


def _confine(cores_of: dict[int, set[int]]) -> None:
    for thread, cores in cores_of.items():
        with suppress(OSError):
            os.sched_setaffinity(thread, cores)
