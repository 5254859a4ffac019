"""Measure what profiling costs on this machine: the same work with and without a recorder, in turn.

Only commands start this: it runs programs of its own for some seconds.
"""

from __future__ import annotations

import functools
import math
import mmap
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from rlscope_jax import _jax
from rlscope_jax._process import usage
from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.capture._waits import visible_waits
from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.suite import PROGRAMS, waited_for
from rlscope_jax.xla_events.read import read_trace

LEAST_SPREAD = 0.18
"""Programs differ: in docs/correction.md it holds the truth of 16 of 23 workloads."""
USUAL_RATIO, USUAL_SCATTER = 3.15, 0.3
"""Between the 2.95 of a first study, whose tails were not cut, and 3.2 to 3.4 in quiet minutes here."""
TELLING_INFLATION = 1.5
_TURNS, _TURN_SECONDS, _CALLS, _MARKS = 2, 0.45, 100, 1000
_LEAST_EVENTS = 200
_RUNS = 5  # of a program in one window
_PAGES = 4096

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Sample:
    """One program's repeats."""

    name: str
    ratios: list[float]
    floor_ns: float
    """Unprofiled time for each op event."""
    inflation: float = 1.0
    """Profiled over unprofiled time: the larger, the better the ratio is known."""


def calibrate(progress: Progress = lambda share: None) -> tuple[Constants, list[Sample]]:
    """The constants of this machine, and what they were found from.

    Args:
        progress: told the share of the work done, 0 to 1.
    """
    _discard_first_capture()
    page = _page_cost()
    event, annotation, python_call = _host_costs()
    step = _step_cost(event)
    repeats = [_Repeats(name, make()) for name, make in PROGRAMS.items()]
    for number, one in enumerate(_TURNS * repeats):
        progress((number + 1) / (_TURNS * len(repeats) + 1))
        until = time.perf_counter() + _TURN_SECONDS
        while time.perf_counter() < until:
            one.once()
    progress(1.0)
    samples = [one.sample(event.value, page.value) for one in repeats]
    ratio = _tail_ratio(samples)
    floor = min((sample.floor_ns for sample in samples if sample.ratios), default=0.0) / 8
    wait = _wait_cost(ratio, event)
    return Constants(ratio, floor, event, annotation, step, wait, python_call, page), samples


def _tail_ratio(samples: list[Sample]) -> Constant:
    """The programs' median, drawn towards the usual ratio as far as the programs disagree."""
    known = [sample for sample in samples if sample.ratios]
    telling = [sample for sample in known if sample.inflation >= TELLING_INFLATION] or known
    medians = sorted(statistics.median(sample.ratios) for sample in telling)
    if not medians:
        return Constant(0.0, 0.0, 0.0)  # a backend whose ops leave no tails
    scatter = statistics.stdev(medians) if len(medians) > 2 else USUAL_SCATTER
    doubt = 1.25 * scatter / math.sqrt(len(medians))  # of a median, where errors are normal
    weight = USUAL_SCATTER**2 / (USUAL_SCATTER**2 + doubt**2)
    value = weight * statistics.median(medians) + (1 - weight) * USUAL_RATIO
    inner = medians[1:-1] if len(medians) > 4 else medians  # one program in seven may have been disturbed
    spread = max(LEAST_SPREAD * value, (inner[-1] - inner[0]) / 2)
    return Constant(value, max(value - spread, 0.0), value + spread)


class _Repeats:
    """One program's repeats of [warm, base, profiled, warm, base]; the fastest of each are compared.

    A neighbour slows some repeats by half, for a second at a time, with and without the recorder: a median
    over pairs would mix them all. So programs take several turns, and none has all of its repeats in a slow
    second; within a turn its windows find the memory of the one before.
    """

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self._name, self._run = name, run
        self._bases: list[float] = []
        self._profiled: list[tuple[float, float, int]] = []  # ns, tails in ns, pages
        self._host_events: list[int] = []
        self._events = 1
        for _ in range(3):
            run()

    def once(self) -> None:
        """Repeat."""
        self._run()
        self._bases.append(_timed(self._several) / _RUNS)  # as long as what is recorded
        overhead, took, pages = _recorded(self._several)
        self._run()
        self._bases.append(_timed(self._several) / _RUNS)
        tails = float(overhead.device.wall.sum()) / 1000
        self._profiled.append((took, tails, pages))
        self._host_events.append(
            sum(len(activity.thread.start) for activity in overhead.attribution.activities)
        )
        self._events = max(self._events, int(overhead.device.count.sum()) // _RUNS)

    def _several(self) -> None:
        for _ in range(_RUNS):
            self._run()

    def sample(self, host_event_ns: float, page_ns: float) -> Sample:
        """What they come to."""
        if self._events < _LEAST_EVENTS:  # XLA made one kernel of the whole loop
            return Sample(self._name, [], 0.0)
        profiled = [
            ((took - pages * page_ns - host * host_event_ns) / _RUNS, tails / _RUNS)
            for (took, tails, pages), host in zip(self._profiled, self._host_events, strict=True)
        ]
        base = statistics.median(_fastest(self._bases))
        ratios = [(took - base) / tails for took, tails in _fastest(profiled) if tails > 0]
        inflation = statistics.median(took for took, _ in _fastest(profiled)) / base
        return Sample(self._name, ratios, base / self._events, inflation)


def _fastest(values: list) -> list:
    return sorted(values)[: max(len(values) // 4, 3)]


def _recorded(run: Callable[[], None]) -> tuple[Overhead, float, int]:
    """(what it cost, how long it took in ns, pages touched)."""
    recorder = _jax.Recorder()
    took = _timed(run)
    space = recorder.stop()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "calibration.xplane.pb"
        path.write_bytes(space)
        pages = recorder.usage.page_faults if recorder.usage else 0
        return Overhead(attribute(read_trace(path))), took, pages


def _timed(run: Callable[[], None]) -> float:
    # Wall time: what a process' threads used is accounted too late for a millisecond's work.
    began = time.perf_counter_ns()
    run()
    return float(time.perf_counter_ns() - began)


def _discard_first_capture() -> None:
    """A process' first capture costs more: its memory is touched for the first time."""
    run = PROGRAMS["dot"]()
    run()
    recorder = _jax.Recorder()
    run()
    recorder.stop()


def _page_cost() -> Constant:
    """Of the first touch of a page, ns."""
    costs = []
    for _ in range(7):
        memory = mmap.mmap(-1, _PAGES * mmap.PAGESIZE)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        byte_of_each = np.ndarray((_PAGES,), np.uint8, memory, 0, (mmap.PAGESIZE,))
        before = usage()
        took = _timed(functools.partial(byte_of_each.fill, 1))
        now = usage()
        touched = now.since(before).page_faults if now and before else 0
        if touched > _PAGES // 2:
            costs.append(took / touched)
    if not costs:
        return Constant(0.0, 0.0, 0.0)  # this system does not tell
    value = statistics.median(costs)
    return Constant(value, min(min(costs), 0.7 * value), max(max(costs), 1.3 * value))


def _host_costs() -> tuple[Constant, Constant, Constant]:
    """Of a runtime event, an annotation and a call under the Python tracer, ns each."""
    x = jnp.ones((2, 2))
    one = jax.jit(lambda x: x + 1)
    one(x).block_until_ready()

    def calls() -> None:
        for _ in range(_CALLS):
            one(x)
        jax.block_until_ready(one(x))

    def marks() -> None:
        for _ in range(_MARKS):
            with _jax.TraceMe("rlscope_calibration"):
                pass

    def nothing() -> None:
        pass

    def python() -> None:
        for _ in range(_MARKS):
            nothing()

    recorder = _jax.Recorder()
    calls()
    per_call = _events_per_call(recorder.stop())
    return (
        _difference(calls, _CALLS * per_call),
        _difference(marks, _MARKS),
        _difference(python, 2 * _MARKS, python_tracer=True),
    )


def _step_cost(event: Constant) -> Constant:
    """Of a step that dispatches and waits, as `profile()` records it, beyond its events, ns.

    An annotation in a loop of nothing else costs a tenth of what it costs between dispatches.
    """
    x = jnp.ones((2, 2))
    one = jax.jit(lambda x: x + 1)
    one(x).block_until_ready()

    def plain() -> None:
        for _ in range(_CALLS):
            one(x).block_until_ready()

    def steps() -> None:
        for number in range(_CALLS):
            with _jax.step_annotation("rlscope_calibration", number):
                one(x).block_until_ready()

    def recorded() -> tuple[float, bytes]:
        recorder = _jax.Recorder()
        with visible_waits():
            took = _timed(steps)
        return took, recorder.stop()

    _, space = recorded()
    expected = _events_per_call(space) * event.value
    bases: list[float] = []
    profiled: list[float] = []
    for _ in range(20):
        bases += [_timed(plain), _timed(plain)]
        profiled.append(recorded()[0])
    quick, slow = _fastest(bases), _fastest(profiled)
    value = max((statistics.median(slow) - statistics.median(quick)) / _CALLS - expected, 0.0)
    return Constant(value, 0.5 * value, 1.5 * value)


def _wait_cost(ratio: Constant, event: Constant) -> Constant:
    """Of a wait for a program that another thread executes, ns, beyond its ops and events.

    Who waits and who works sleep and are woken later than without a recorder, or earlier: in calls of one
    program 10 to 40 µs were seen. So it is a median of all repeats, and known within a factor.
    """
    costs = [_cost_of_a_wait(one, x, ratio, event) for one, x in waited_for()]
    value = statistics.fmean(costs)
    return Constant(value, 0.2 * value, 1.8 * value)


def _cost_of_a_wait(
    one: Callable[[jax.Array], jax.Array], x: jax.Array, ratio: Constant, event: Constant
) -> float:
    def calls() -> None:
        for _ in range(_CALLS // 4):
            one(x).block_until_ready()

    calls()
    bases: list[float] = []
    profiled: list[float] = []
    for _ in range(10):
        bases += [_timed(calls), _timed(calls)]
        overhead, took, _ = _recorded(calls)
        activities = overhead.attribution.activities
        if len(overhead.waits) == 0:
            return 0.0  # this backend executes it on the calling thread
        host = sum(len(activity.thread.start) for activity in activities) * event.value
        profiled.append(took - host - ratio.value * float(overhead.device.wall.sum()) / 1000)
    return max(statistics.median(profiled) - statistics.median(bases), 0.0) / (_CALLS // 4)


def _events_per_call(space: bytes) -> float:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "calibration.xplane.pb"
        path.write_bytes(space)
        trace = read_trace(path)
    events = sum(len(thread.start) for thread in trace.host_threads)
    return max(events / _CALLS, 1.0)


def _difference(run: Callable[[], None], events: float, python_tracer: bool = False) -> Constant:
    """Nanoseconds an event added, from the fastest repeats with and without the recorder."""
    bases: list[float] = []
    profiled: list[float] = []
    for _ in range(20):
        run()
        bases.append(_timed(run))
        recorder = _jax.Recorder(python_tracer=python_tracer)
        profiled.append(_timed(run))
        recorder.stop()
        run()
        bases.append(_timed(run))
    quick, slow = _fastest(bases), _fastest(profiled)
    value = max((statistics.median(slow) - statistics.median(quick)) / events, 0.0)
    spread = max((slow[-1] - slow[0] + quick[-1] - quick[0]) / (2 * events), 0.2 * value)
    return Constant(value, max(value - spread, 0.0), value + spread)
