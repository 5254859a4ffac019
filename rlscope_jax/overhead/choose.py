"""Which correction a recording allows, and what it says about it."""

from __future__ import annotations

from dataclasses import dataclass

from rlscope_jax.overhead.anchors import TELLING_INFLATION, USUAL_RATIO, Anchors, telling, typical
from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.overhead.correct import Correction, Overhead
from rlscope_jax.overhead.method import Method
from rlscope_jax.overhead.op_cost import has_tails
from rlscope_jax.xla_events.health import Problem
from rlscope_jax.xla_events.trace import Step, Trace

NOT_CALIBRATED = "this machine is not calibrated; run: rlscope-jax calibrate"
NO_SLOWER = (
    "recorded steps were no slower than the unprofiled ones beside them are unsteady; "
    "to take out what ops cost all the same run: rlscope-jax calibrate"
)
NO_TAILS = "this jax leaves no `end:` events to measure the overhead by; record with 5 or more `wait` steps"
USABLE_SPREAD = 0.3
"""Unprofiled steps this steady are preferred to constants, which know nothing of the program."""
OP_SPREAD = 0.18
"""The least relative half-width for one operation; docs/correction.md says how often it holds."""

UNUSUAL_SPREAD = 0.5
"""The same where the unprofiled steps tell of something else than ops: who has it is not known."""


@dataclass
class Corrected:
    """A process' correction, or why there is none."""

    correction: Correction | None
    reason: str | None = None
    problem: Problem | None = None


def choose(
    overhead: Overhead, steps: list[Step], constants: Constants | None, anchors: Anchors | None
) -> Corrected:
    """Correct by the unprofiled steps where there are enough, else by the machine's constants."""
    trace = overhead.attribution.trace
    tails = has_tails(trace.op_lines)
    calibrated = _calibrated(trace, constants) if constants is not None else None
    on_cpu = bool(trace.op_lines) and trace.devices[0].kind == "cpu"
    usable = calibrated is not None and (tails or not on_cpu)
    problem = None
    if anchors is not None and steps and on_cpu:
        method, problem = _anchored(overhead, steps, anchors, calibrated, tails)
        if method is not None and (not usable or _is_narrower(method, calibrated)):
            return Corrected(overhead.correct(method, steps), problem=problem)
        problem = problem if method is None else None
        if method is None and calibrated is None:
            return Corrected(None, NO_SLOWER)
    if calibrated is None:
        return Corrected(None, NOT_CALIBRATED, problem)
    if on_cpu and not tails:
        return Corrected(None, NO_TAILS, problem)
    return Corrected(overhead.correct(calibrated, steps), problem=problem)


def _is_narrower(anchored: Method, calibrated: Method | None) -> bool:
    """Whether the unprofiled steps say more than the constants: few or unsteady ones do not."""
    if calibrated is None:
        return True
    return anchored.ratio.relative <= max(calibrated.ratio.relative, USABLE_SPREAD)


def _calibrated(trace: Trace, constants: Constants) -> Method:
    # Events of the Python tracer are not read: what they cost the host is then unknown.
    host = 0.0 if trace.python_tracer else 1000.0
    event = constants.host_event
    return Method(
        "calibrated",
        constants.tail_ratio,
        max(constants.tail_ratio.relative, OP_SPREAD),
        1000.0 * constants.op_floor,
        host * event.value,
        max(event.relative, 0.2),
        host * constants.step.value,
        host * constants.wait.value,
        constants.wait.relative,
        constants.to_dict(),
    )


def _anchored(
    overhead: Overhead, steps: list[Step], anchors: Anchors, known: Method | None, tails: bool
) -> tuple[Method | None, Problem | None]:
    """The method that makes the profiled steps as long as the unprofiled ones.

    Where constants are known, one factor scales them all; else the ratio of the ops alone is found.
    """
    spans = [step.end - step.start for step in steps]
    profiled, counted = typical(spans), telling(spans)
    units = float(overhead.device_units(steps)[counted].mean())
    base, doubt = 1000.0 * anchors.base, 1000.0 * anchors.uncertainty
    usable = known if tails else None
    expected, woken = units, 0.0
    if usable is not None:
        host = float(overhead.host_of_steps(usable, steps)[counted].mean())
        expected = usable.ratio.value * units + host
        woken = float(overhead.wakes_of_steps(usable.ratio.value, steps)[counted].mean())
    if expected <= 0:
        return None, None
    extra = profiled - base
    if extra <= doubt:  # no slower than they are unsteady: a zero with a narrow interval would be a lie
        return None, None
    factor = max(extra - woken, 0.0) / expected
    value = factor * (usable.ratio.value if usable else 1.0)
    relative = max(doubt / extra, 0.05)
    ratio = Constant(value, max(value * (1 - relative), 0.0), value * (1 + relative))
    inflation = profiled / base
    told = {
        "steps": anchors.count,
        "base_ns": round(anchors.base),
        "uncertainty_ns": round(anchors.uncertainty),
        "ratio": round(value, 4) if tails else None,
    }
    problem = _unusual(value, inflation) if tails else None
    method = Method(
        "anchored",
        ratio,
        max(relative, OP_SPREAD if problem is None else UNUSUAL_SPREAD),
        op_floor=usable.op_floor if usable else 0.0,
        host_event=factor * usable.host_event if usable else 0.0,
        host_spread=usable.host_spread if usable else 0.0,
        step=factor * usable.step if usable else 0.0,
        wait=factor * usable.wait if usable else 0.0,
        wait_spread=usable.wait_spread if usable else 0.0,
        constants=known.constants if known else {},
        anchors=told,
    )
    return method, problem


def _unusual(ratio: float, inflation: float) -> Problem | None:
    low, high = USUAL_RATIO
    if inflation <= TELLING_INFLATION or low <= ratio <= high:
        return None
    return Problem(
        "unusual_overhead",
        f"profiled steps took {inflation:.2f} times as long as unprofiled ones, {ratio:.2f} times "
        f"what their ops recorded of it (usual: {low} to {high}).",
        "the machine's speed drifted, threads waited for or woke each other, or several worked at once: "
        "record again with more `wait` steps, and trust shares less than the step time.",
    )
