"""Measure what profiling costs on this machine: the same work with and without a recorder, in turn.

Only commands start this: it runs programs of its own for some seconds.
"""

from __future__ import annotations

from collections.abc import Callable

from rlscope_jax import _jax
from rlscope_jax.overhead.constants import Constants
from rlscope_jax.overhead.host_costs import host_costs, page_cost, step_cost, wait_cost
from rlscope_jax.overhead.op_ratio import Repeats, Sample, tail_ratio
from rlscope_jax.overhead.pace import Pace
from rlscope_jax.overhead.suite import PROGRAMS

_TURNS, _TURN_SECONDS = 2, 0.23

Progress = Callable[[float], None]


def calibrate(progress: Progress = lambda share: None) -> tuple[Constants, list[Sample]]:
    """The constants of this machine, and what they were found from.

    Args:
        progress: told the share of the work done, 0 to 1.
    """
    _discard_first_capture()
    page = page_cost()
    event, annotation, python_call = host_costs()
    pace = Pace()
    repeats = [Repeats(name, make(), pace) for name, make in PROGRAMS.items()]
    for number, one in enumerate(_TURNS * repeats):
        progress((number + 1) / (_TURNS * len(repeats) + 1))
        one.turn(_TURN_SECONDS)
    progress(1.0)
    samples = [one.sample(event.value, page.value) for one in repeats]
    ratio = tail_ratio(samples)
    floor = min((sample.floor_ns for sample in samples if sample.ratios), default=0.0) / 8
    step, wait = step_cost(ratio, event, page), wait_cost(ratio, event)
    return Constants(ratio, floor, event, annotation, step, wait, python_call, page), samples


def _discard_first_capture() -> None:
    """A process' first capture costs more: its memory is touched for the first time."""
    run = PROGRAMS["loops"]()
    run()
    recorder = _jax.Recorder()
    run()
    recorder.stop()
