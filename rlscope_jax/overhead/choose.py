"""Which correction a recording allows, and what it says about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from rlscope_jax.overhead.anchors import TELLING_INFLATION, USUAL_RATIO, Anchors, telling, typical
from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.overhead.correct import Correction, Overhead
from rlscope_jax.overhead.long_call import RestOfCall
from rlscope_jax.overhead.method import Method
from rlscope_jax.overhead.op_cost import has_tails
from rlscope_jax.xla_events.health import Problem
from rlscope_jax.xla_events.trace import Step

NOT_CALIBRATED = "this machine is not calibrated; run: rlscope-jax calibrate"
NO_SLOWER = (
    "recorded steps were no slower than the unprofiled ones beside them are unsteady; "
    "to take out what ops cost all the same run: rlscope-jax calibrate"
)
NO_SLOWER_CALL = (
    "a recorded iteration took no longer than one that was not, within what windows differ by; "
    "to take out what ops cost all the same run: rlscope-jax calibrate"
)
NO_TAILS = "this jax leaves no `end:` events to measure the overhead by; record with 7 or more `wait` steps"
LEAST_WEIGHT = 0.25
"""Unprofiled steps that say less than this beside the constants are left out."""
OP_SPREAD = 0.16
"""The least relative half-width for one operation; docs/correction.md says how often it holds."""

UNUSUAL_SPREAD = 0.5
"""The same where the unprofiled steps tell of something else than ops: who has it is not known.

Not where the machine's own calibration finds ops to cost that much.
"""


@dataclass
class Corrected:
    """A process' correction, or why there is none."""

    correction: Correction | None
    reason: str | None = None
    problem: Problem | None = None


def choose(
    overhead: Overhead,
    steps: list[Step],
    constants: Constants | None,
    anchors: Anchors | RestOfCall | None,
) -> Corrected:
    """Correct by what nobody recorded of the same work where that tells, else by the machine's constants.

    Args:
        overhead: what the recording cost, in tails.
        steps: the whole steps in it.
        constants: the machine's, where it has been calibrated.
        anchors: unprofiled steps around the window, or the rest of the long call that it lies in.
    """
    trace = overhead.attribution.trace
    tails = has_tails(trace.op_lines)
    known = calibrated(constants)
    on_cpu = bool(trace.op_lines) and trace.devices[0].kind == "cpu"
    of_call = isinstance(anchors, RestOfCall) and (on_cpu or not trace.devices)
    if anchors is not None and (of_call or (steps and on_cpu)):
        if isinstance(anchors, RestOfCall):
            both = _of_call(anchors, known)
        else:
            both = _of_steps(overhead, steps, anchors, known if tails else None)
        method, problem = _anchored(both, known, tails)
        if method is not None and both.woken and not isinstance(anchors, RestOfCall):
            # Which threads were put to sleep depends on what an op costs, which is known better now.
            woken = overhead.wakes_of_steps(method.ratio.value, steps)[_counted(steps)].mean()
            method, problem = _anchored(replace(both, woken=float(woken)), known, tails)
        if method is not None:
            return Corrected(overhead.correct(method, steps), problem=problem)
        if known is None:
            return Corrected(None, NO_SLOWER_CALL if of_call else NO_SLOWER)
    if known is None:
        return Corrected(None, NOT_CALIBRATED)
    if on_cpu and not tails:
        return Corrected(None, NO_TAILS)
    return Corrected(overhead.correct(known, steps))


def calibrated(constants: Constants | None) -> Method | None:
    """Correction by a machine's constants alone; None where it has none."""
    if constants is None:
        return None
    # Under the Python tracer most of what the host costs is calls of Python, known at least as well.
    event = constants.host_event
    return Method(
        "calibrated",
        constants.tail_ratio,
        max(constants.tail_ratio.relative, OP_SPREAD),
        1000.0 * constants.op_floor,
        host_event=1000.0 * event.value,
        annotation=1000.0 * constants.annotation.value,
        python_call=1000.0 * constants.python_call.value,
        host_spread=max(event.relative, 0.2),
        step=1000.0 * constants.step.value,
        wait=1000.0 * constants.wait.value,
        wait_spread=constants.wait.relative,
        constants=constants.to_dict(),
    )


@dataclass(frozen=True)
class _Both:
    """The same work with and without a recorder; times in ps."""

    profiled: float
    base: float
    doubt: float
    """Half-width of the difference."""
    units: float
    """The ops' overhead, in tails."""
    host: float
    """The host's, by the machine's constants."""
    woken: float
    told: dict[str, Any]
    """What the report says of it."""
    least_spread: float = 0.05
    """The least relative half-width of a whole program's ratio."""


def _of_steps(overhead: Overhead, steps: list[Step], anchors: Anchors, known: Method | None) -> _Both:
    """A typical step."""
    spans, counted = _spans(steps), _counted(steps)
    host = woken = 0.0
    if known is not None:
        host = float(overhead.host_of_steps(known, steps)[counted].mean())
        woken = float(overhead.wakes_of_steps(known.ratio.value, steps)[counted].mean())
    told = {
        "steps": anchors.count,
        "base_ns": round(anchors.base),
        "uncertainty_ns": round(anchors.uncertainty),
    }
    return _Both(
        typical(spans),
        1000.0 * anchors.base,
        1000.0 * anchors.uncertainty,
        float(overhead.device_units(steps)[counted].mean()),
        host,
        woken,
        told,
    )


def _spans(steps: list[Step]) -> list[int]:
    return [step.end - step.start for step in steps]


def _counted(steps: list[Step]) -> list[int]:
    return telling(_spans(steps))


def _of_call(rest: RestOfCall, known: Method | None) -> _Both:
    """A typical iteration of a long call."""
    told = {
        "iterations": round(rest.iterations),
        "base_ns": round(rest.base / 1000),
        "uncertainty_ns": round(rest.base_doubt / 1000),
        "profiled_ns": round(rest.profiled / 1000),
    }
    host, woken = (rest.host, rest.woken) if known is not None else (0.0, 0.0)
    spread = OP_SPREAD if rest.elsewhere else 0.05
    return _Both(rest.profiled, rest.base, rest.doubt, rest.units, host, woken, told, spread)


def _anchored(both: _Both, known: Method | None, tails: bool) -> tuple[Method | None, Problem | None]:
    """The method that makes profiled work as long as the unprofiled.

    Where constants are known, one factor scales them all, and is weighed against what they say; else the
    ratio of the ops alone is found. None where the unprofiled work says nothing, or next to nothing.
    """
    usable = known if tails else None
    expected = both.units if usable is None else usable.ratio.value * both.units + both.host
    woken = both.woken if usable is not None else 0.0
    if expected <= 0:
        return None, None
    extra = both.profiled - both.base
    if extra <= both.doubt:  # no slower than they are unsteady: a zero with a narrow interval would be a lie
        return None, None
    factor, off = max(extra - woken, 0.0) / expected, both.doubt / expected
    relative = both.doubt / extra
    found = factor * (usable.ratio.value if usable else 1.0)
    problem = _unusual(found, max(relative, both.least_spread), both) if tails else None
    agrees = usable is not None and abs(factor - 1) <= off + usable.ratio.relative
    if usable is not None and agrees:
        weight = _weight(off, usable.ratio.relative)
        if weight < LEAST_WEIGHT:
            return None, None
        # Both say the same within what they leave open: what is known together is known better.
        factor, relative = 1 + weight * (factor - 1), math.sqrt(weight) * relative
    value = factor * (usable.ratio.value if usable else 1.0)
    relative = max(relative, both.least_spread)
    ratio = Constant(value, max(value * (1 - relative), 0.0), value * (1 + relative))
    method = Method(
        "anchored",
        ratio,
        max(relative, OP_SPREAD if problem is None or agrees else UNUSUAL_SPREAD),
        op_floor=usable.op_floor if usable else 0.0,
        host_event=factor * usable.host_event if usable else 0.0,
        annotation=factor * usable.annotation if usable else 0.0,
        python_call=factor * usable.python_call if usable else 0.0,
        host_spread=usable.host_spread if usable else 0.0,
        step=factor * usable.step if usable else 0.0,
        wait=factor * usable.wait if usable else 0.0,
        wait_spread=usable.wait_spread if usable else 0.0,
        constants=known.constants if known else {},
        anchors={**both.told, "ratio": round(value, 4) if tails else None},
    )
    return method, problem


def _weight(off: float, spread: float) -> float:
    """Of a figure known to `off` beside another known to `spread`: the inverse of its variance."""
    return spread**2 / (spread**2 + off**2) if off > 0 else 1.0


def _unusual(ratio: float, relative: float, both: _Both) -> Problem | None:
    """A ratio that even the nearer end of its interval leaves unusual."""
    (low, high), inflation = USUAL_RATIO, both.profiled / both.base
    of_call = "iterations" in both.told
    what, more = ("iterations", "") if of_call else ("steps", " with more `wait` steps")
    usual = low <= ratio * (1 + relative) and ratio * (1 - relative) <= high
    if inflation <= TELLING_INFLATION or usual:
        return None
    return Problem(
        "unusual_overhead",
        f"profiled {what} took {inflation:.2f} times as long as unprofiled ones, {ratio:.2f} times "
        f"what their ops recorded of it (usual: {low} to {high}).",
        "the machine's speed drifted, threads waited for or woke each other, or several worked at once: "
        f"record again{more}, and trust shares less than the whole time.",
    )
