"""What recording an op costs, in tails: small programs with and without the recorder."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rlscope_jax.overhead.constants import Constant
from rlscope_jax.overhead.pace import Pace, on_the_fastest_core
from rlscope_jax.overhead.repeats import Timings, host_events, overhead_of, recorded

LEAST_SPREAD = 0.16
"""Programs differ by 6 %, 22 of them on a quiet machine; on a busy one by more."""
USUAL_RATIO, USUAL_SCATTER = 3.2, 0.3
"""Calibrations of one machine came to 3.2 to 3.4; those of another, by an older rule, to as much."""
TELLING_INFLATION = 1.5
_LEAST_EVENTS = 200
_RUNS = 5  # of a program in one window


@dataclass(frozen=True)
class Sample:
    """One program's repeats."""

    name: str
    ratios: list[float]
    floor_ns: float
    """Unprofiled time for each op event."""
    inflation: float = 1.0
    """Profiled over unprofiled time: the larger, the better the ratio is known."""


class Repeats:
    """One program's repeats of [warm, base, warm, profiled, warm, base], those at full speed compared.

    A neighbour slows some repeats by half, with and without the recorder; the longer, profiled ones are hit
    more often. Programs take several turns, so that none has all of its repeats in a slow second; within a
    turn its windows find the memory of the one before.
    """

    def __init__(self, name: str, run: Callable[[], None], pace: Pace) -> None:
        self._name, self._run = name, run
        self._bases, self._profiled = Timings(pace), Timings(pace)
        self._cost: list[tuple[float, int, int]] = []  # tails in ns, pages, host events: of each window
        self._events = 1
        for _ in range(3):
            run()

    def turn(self, seconds: float) -> None:
        """Repeat for some time."""
        until = time.perf_counter() + seconds
        with on_the_fastest_core():
            while time.perf_counter() < until:
                self._once()

    def _once(self) -> None:
        self._warm()
        self._bases.time(self._several)  # as long as what is recorded
        self._warm()
        space, pages = recorded(lambda: self._profiled.time(self._several))
        self._warm()
        self._bases.time(self._several)
        overhead = overhead_of(space)
        tails = float(overhead.device.wall.sum()) / 1000
        self._cost.append((tails, pages, host_events(overhead)))
        self._events = max(self._events, int(overhead.device.count.sum()) // _RUNS)

    def _warm(self) -> None:
        self._run()
        self._bases.pace.look()

    def _several(self) -> None:
        for _ in range(_RUNS):
            self._run()

    def sample(self, host_event_ns: float, page_ns: float) -> Sample:
        """What they come to."""
        if self._events < _LEAST_EVENTS:  # XLA made one kernel of the whole loop
            return Sample(self._name, [], 0.0)
        base = self._bases.typical()
        tails, pages, events = np.array(self._cost, np.float64).T
        extra = np.array(self._profiled.took) - base - pages * page_ns - events * host_event_ns
        chosen = self._profiled.chosen()
        ratios = [float(extra[one] / tails[one]) for one in chosen if tails[one] > 0]
        inflation = self._profiled.typical() / base
        return Sample(self._name, ratios, base / _RUNS / self._events, inflation)


def tail_ratio(samples: list[Sample]) -> Constant:
    """The mean of the programs in the middle, drawn towards the usual ratio as far as they disagree.

    Loops of few ops and trainings, whose every op meets cold caches, lie on either side of it.
    """
    known = [sample for sample in samples if sample.ratios]
    telling = [sample for sample in known if sample.inflation >= TELLING_INFLATION] or known
    medians = sorted(statistics.median(sample.ratios) for sample in telling)
    if not medians:
        return Constant(0.0, 0.0, 0.0)  # a backend whose ops leave no tails
    scatter = statistics.stdev(medians) if len(medians) > 2 else USUAL_SCATTER
    doubt = scatter / math.sqrt(len(medians))
    weight = USUAL_SCATTER**2 / (USUAL_SCATTER**2 + doubt**2)
    inner = medians[1:-1] if len(medians) > 4 else medians  # one or two programs may have been disturbed
    value = weight * statistics.fmean(inner) + (1 - weight) * USUAL_RATIO
    spread = max(LEAST_SPREAD * value, (inner[-1] - inner[0]) / 2)
    return Constant(value, max(value - spread, 0.0), value + spread)
