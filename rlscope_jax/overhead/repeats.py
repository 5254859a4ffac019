"""Some work timed with and without a recorder, in turn, on the core that is the fastest just then."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rlscope_jax import _jax
from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.pace import Pace
from rlscope_jax.xla_events.read import read_trace

_FEW = 5
"""With fewer repeats at full speed the fastest of all are taken."""


@dataclass
class Timings:
    """Repeats of one piece of work, each between two looks at the processor's speed."""

    pace: Pace
    took: list[float] = field(default_factory=list)
    """ns."""
    looks: list[int] = field(default_factory=list)
    """The look before each."""

    def time(self, work: Callable[[], None]) -> None:
        """Do it once more; the look before it has been made."""
        before, began = self.pace.last, time.perf_counter_ns()
        work()
        self.add(time.perf_counter_ns() - began, before)
        self.pace.look()

    def add(self, took: float, before: int) -> None:
        """It has been done once more, in `took` ns between the look `before` and the one after that."""
        self.took.append(float(took))
        self.looks.append(before)

    def chosen(self) -> np.ndarray:
        """The repeats to believe: those at full speed, or the fastest quarter where few are."""
        found = self._at_full_speed()
        if len(found) >= _FEW:
            return found
        return np.argsort(self.took, kind="stable")[: max(len(self.took) // 4, 3)]

    @property
    def are_enough(self) -> bool:
        """Whether there are some at full speed."""
        return len(self._at_full_speed()) >= _FEW

    def _at_full_speed(self) -> np.ndarray:
        looks = np.array(self.looks, np.int64)
        full = self.pace.at_full_speed()
        return np.flatnonzero(full[looks] & full[looks + 1])

    def typical(self) -> float:
        """ns of one repeat."""
        return statistics.median(np.array(self.took)[self.chosen()])


def recorded(work: Callable[[], None]) -> tuple[bytes, int]:
    """Do some work under a recorder.

    Returns:
        (the serialized profile, the pages of memory that were touched for the first time).
    """
    recorder = _jax.Recorder()
    work()
    space = recorder.stop()
    return space, recorder.usage.page_faults if recorder.usage else 0


def overhead_of(space: bytes) -> Overhead:
    """What a profile says of its own cost."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "calibration.xplane.pb"
        path.write_bytes(space)
        return overhead_in(path)


def overhead_in(path: Path) -> Overhead:
    """The same of a profile on disk."""
    return Overhead(attribute(read_trace(path)))


def host_events(overhead: Overhead) -> int:
    """The runtime's events of a profile: all that are no ops."""
    return sum(int((activity.thread.op < 0).sum()) for activity in overhead.attribution.activities)
