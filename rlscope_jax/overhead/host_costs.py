"""What recording costs the host: its events, annotations, steps, waits, and memory touched anew."""

from __future__ import annotations

import mmap
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np

from rlscope_jax import _jax
from rlscope_jax._process import usage
from rlscope_jax.capture import Schedule, profile
from rlscope_jax.overhead.constants import Constant
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.op_ratio import USUAL_RATIO
from rlscope_jax.overhead.pace import Pace, on_the_fastest_core
from rlscope_jax.overhead.repeats import Timings, host_events, overhead_in, overhead_of, recorded
from rlscope_jax.overhead.suite import run_inline, waited_for
from rlscope_jax.xla_events.sessions import sessions

_CALLS, _MARKS = 100, 1000
_WINDOWS = 6
_TIMES_MORE = 2
"""Repeats are at most so many times as many while few of them are at full speed."""
USUAL_WAIT = 12_000.0
"""ns: the median of ten calibrations on one machine."""
_PAGES = 4096
_FEW_CORES = 4


def page_cost() -> Constant:
    """Of the first touch of a page, ns."""
    costs = []
    for _ in range(7):
        memory = mmap.mmap(-1, _PAGES * mmap.PAGESIZE)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        byte_of_each = np.ndarray((_PAGES,), np.uint8, memory, 0, (mmap.PAGESIZE,))
        before, began = usage(), time.perf_counter_ns()
        byte_of_each.fill(1)
        took, now = time.perf_counter_ns() - began, usage()
        touched = now.since(before).page_faults if now and before else 0
        if touched > _PAGES // 2:
            costs.append(took / touched)
    if not costs:
        return Constant(0.0, 0.0, 0.0)  # this system does not tell
    value = statistics.median(costs)
    return Constant(value, min(min(costs), 0.7 * value), max(max(costs), 1.3 * value))


def host_costs() -> tuple[Constant, Constant, Constant]:
    """Of a runtime event, an annotation and a call under the Python tracer, ns each."""
    one, x = _tiny_program()

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

    seen = overhead_of(recorded(calls)[0])
    of_ops = USUAL_RATIO * float(seen.device.wall.sum()) / 1000  # one each: a fifth of what a call costs
    return (
        _constant(*_with_and_without(calls, calls), max(host_events(seen), 1), of_ops),
        _constant(*_with_and_without(marks, marks), _MARKS),
        _constant(*_with_and_without(python, python, python_tracer=True), _MARKS),
    )


def step_cost(ratio: Constant, event: Constant, page: Constant) -> Constant:
    """Of a step that runs on the calling thread, as `profile()` records it, beyond its ops and events, ns.

    Of steps of some tens of µs, where it counts. What handing a program to another thread costs more is no
    part of it (see `wait_cost`). Twice as much was seen, and half.
    """
    costs = [_cost_of_a_step(one, x, ratio, event, page) for one, x in run_inline()]
    value = statistics.median(costs)  # one may have been disturbed
    return Constant(value, 0.0, 2.0 * value)


def _cost_of_a_step(
    one: Callable[[jax.Array], jax.Array], x: jax.Array, ratio: Constant, event: Constant, page: Constant
) -> float:
    def step() -> None:
        one(x).block_until_ready()

    def plain() -> None:
        for _ in range(_CALLS):
            step()

    pace = Pace()
    bases, profiled = Timings(pace), Timings(pace)
    expected: list[float] = []
    while not _done(len(expected), _WINDOWS, bases, profiled):
        with on_the_fastest_core():
            plain()
            pace.look()
            bases.time(plain)
            overhead, pages = _profiled_steps(step, profiled)
            expected.append(_explained(overhead, ratio, event) + pages * page.value)
    extra = (np.array(profiled.took) - expected)[profiled.chosen()]
    return max(float(np.median(extra) - bases.typical()), 0.0) / _CALLS


def _profiled_steps(step: Callable[[], None], timings: Timings) -> tuple[Overhead, int]:
    """Record a window of `_CALLS` steps, and add what they took to `timings`.

    Returns:
        (what recording them cost, the pages of memory that were touched for the first time).
    """
    pace = timings.pace
    with tempfile.TemporaryDirectory() as directory:
        with profile(directory, Schedule(wait=1, active=_CALLS, repeat=1)) as profiler:
            before = pace.look()
            for _ in range(_CALLS + 1):
                step()
                profiler.step()
            pace.look()
        [session] = sessions(directory)
        overhead = overhead_in(profiler.sessions[0])
    threads = overhead.attribution.trace.host_threads
    spans = [one.end - one.start for thread in threads for one in thread.steps]
    timings.add(_CALLS * statistics.median(spans) / 1000, before)
    return overhead, session.sidecar.get("page_faults") or 0


def wait_cost(ratio: Constant, event: Constant) -> Constant:
    """Of a wait for a program that another thread executes, ns, beyond its ops and events.

    Who waits and who works sleep and are woken later than without a recorder, or earlier: in calls of one
    program 10 to 40 µs were seen, in calibrations of one evening 2 to 28. So it is known within a factor, and
    drawn towards the usual.
    """
    measured = [_cost_of_a_wait(one, x, ratio, event) for one, x in waited_for()]
    costs = [cost for cost in measured if cost is not None]
    value = statistics.fmean([*costs, USUAL_WAIT]) if costs else 0.0
    return Constant(value, 0.2 * value, 1.8 * value)


def _cost_of_a_wait(
    one: Callable[[jax.Array], jax.Array], x: jax.Array, ratio: Constant, event: Constant
) -> float | None:
    def calls() -> None:
        for _ in range(_CALLS // 4):
            one(x).block_until_ready()

    calls()
    overhead = overhead_of(recorded(calls)[0])
    if len(overhead.waits) == 0:
        return None  # this backend executes it on the calling thread
    # Two threads on two cores: not confined to one, as they are not in a user's program. Both have to be at
    # full speed, and few repeats find them so: the fastest are taken then.
    expected: list[float] = []
    bases, profiled = _with_and_without(
        calls,
        calls,
        lambda space: expected.append(_explained(overhead_of(space), ratio, event)),
        repeats=10,
        cores=_some_cores(),
    )
    extra = (np.array(profiled.took) - expected)[profiled.chosen()]
    return max(statistics.median(extra) - bases.typical(), 0.0) / (_CALLS // 4)


def _explained(overhead: Overhead, ratio: Constant, event: Constant) -> float:
    """ns that ops and events cost."""
    return host_events(overhead) * event.value + ratio.value * float(overhead.device.wall.sum()) / 1000


def _some_cores() -> tuple[int, ...]:
    """The cores, where there are so few that threads are likely to be on any of them."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return tuple(sorted(cores)) if len(cores) <= _FEW_CORES else ()


def _tiny_program() -> tuple[Callable[[jax.Array], jax.Array], jax.Array]:
    one, x = jax.jit(lambda x: x + 1), jnp.ones((2, 2))
    one(x).block_until_ready()
    return one, x


def _with_and_without(
    plain: Callable[[], None],
    work: Callable[[], None],
    keep: Callable[[bytes], object] = lambda space: None,
    repeats: int = 20,
    python_tracer: bool = False,
    cores: tuple[int, ...] = (),
) -> tuple[Timings, Timings]:
    """(the plain work without a recorder, the same or more under one), in turn.

    Args:
        keep: given each profile.
        repeats: so many, more if few were at full speed.
        cores: those that have to be at full speed; with none all threads keep to the fastest.
    """
    pace = Pace(cores)
    bases, profiled = Timings(pace), Timings(pace)
    while not _done(len(profiled.took), repeats, bases, profiled):
        with nullcontext() if cores else on_the_fastest_core():
            plain()
            pace.look()
            bases.time(plain)
            recorder = _jax.Recorder(python_tracer=python_tracer)
            profiled.time(work)
            keep(recorder.stop())
            plain()
            pace.look()
            bases.time(plain)
    return bases, profiled


def _done(repeats: int, least: int, bases: Timings, profiled: Timings) -> bool:
    if least <= repeats < _TIMES_MORE * least:
        return bases.are_enough and profiled.are_enough
    return repeats >= least


def _constant(bases: Timings, profiled: Timings, events: int, of_others: float = 0.0) -> Constant:
    """ns that an event added, where others than these cost so much in all."""
    quick, slow = (np.array(times.took)[times.chosen()] for times in (bases, profiled))
    value = max(float(np.median(slow) - np.median(quick) - of_others) / events, 0.0)
    spread = max(float(_spread(slow) + _spread(quick)) / (2 * events), 0.2 * value)
    return Constant(value, max(value - spread, 0.0), value + spread)


def _spread(times: np.ndarray) -> float:
    low, high = np.quantile(times, [0.25, 0.75])
    return float(high - low)
