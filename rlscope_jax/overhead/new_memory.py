"""Memory that the recorder touched for the first time: a page costs microseconds, and an op's tail misses it.

The system hands out memory page by page, when it is first touched. A window that is larger than those before
it is recorded into new memory: about one page in eight ops, which made tiny ops half as expensive again. What
a page costs varies (3 to 20 µs on one virtual machine, whose host hands out memory too), so the window's own
processor time within the system says it.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from rlscope_jax.overhead.constants import Constants
from rlscope_jax.xla_events.trace import Step, Trace

EVENT_PAGES = 0.07
"""Pages an event takes where all memory is new (0.064 to 0.07 on three programs); an op has two events."""
USUAL_PAGE, USUAL_RATIO = 3800.0, 3.15
"""ns that a page costs, and tails that an op costs, where nothing is calibrated."""
CHEAPEST, DEAREST = 0.5, 6.0
"""A page of a window costs at least and at most so many times what calibration found."""
SWITCH = 15e3
"""ns of system time to put a thread to sleep and wake it (16 to 22 where a recorder made many sleep)."""
UNEVEN = 0.4
"""Relative half-width at least: operations were seen to get more or less of it than their events' share."""
TICK = 4e6
"""ns: system time is told by a clock that ticks 250 times a second."""
MOST = 10**15
"""Pages, ns or switches: more was not written by our own capture."""


@dataclass(frozen=True)
class NewMemory:
    """What new memory added to every event, in the unit of tails: ps before the ratio multiplies them."""

    per_event: float = 0.0
    doubt: float = 0.0
    """How much more or less it may have been."""


NONE = NewMemory()


def new_memory(trace: Trace, sidecar: dict, steps: list[Step], constants: Constants | None) -> NewMemory:
    """Spread the pages that a recording touched evenly over its events.

    Of the pages those are left out that unprofiled steps touch too, and what is more than the recorder can
    have touched. Where nobody counted, half of the most is taken, and the half as doubt.
    """
    ops = sum(len(line.start) for line in trace.op_lines)
    events = 2 * ops + sum(int((thread.op < 0).sum()) for thread in trace.host_threads)
    if not events:
        return NONE
    page, spread, ratio = USUAL_PAGE, 0.5, USUAL_RATIO
    if constants is not None and constants.tail_ratio.value:
        page, spread = constants.page_fault.value, constants.page_fault.relative
        ratio = constants.tail_ratio.value
    most = EVENT_PAGES * events
    counted = _beyond_the_program(sidecar, "page_faults", len(steps))
    if counted is None:
        return NewMemory(page * 500 * EVENT_PAGES / ratio, page * 500 * EVENT_PAGES / ratio)
    if counted <= 0:
        return NONE
    took = _beyond_the_program(sidecar, "system_ns", len(steps))
    if took is not None:
        took -= SWITCH * max(_beyond_the_program(sidecar, "switches", len(steps)) or 0, 0)
        told, spread = took / counted, max(math.sqrt(TICK / max(took, TICK)), UNEVEN)
        if not sidecar.get("anchors"):
            spread = 1.0  # what the program itself asks of the system is not known
        page = min(max(told, CHEAPEST * page), DEAREST * page)
    tails = 1000 * page * min(counted, most) / events / ratio
    return NewMemory(tails, spread * tails)


def _beyond_the_program(sidecar: dict, what: str, steps: int) -> float | None:
    """What a window used, less what so many unprofiled steps use; None where nobody counted."""
    used, anchors = sidecar.get(what), sidecar.get("anchors")
    if not _is_sound(used):
        return None
    without = anchors.get(what) if isinstance(anchors, dict) else None
    sound = [one for one in without if _is_sound(one)] if isinstance(without, list) else []
    # A median of page faults, which single steps have many of; a mean of what a slow clock tells.
    typical = statistics.median if what == "page_faults" else statistics.fmean
    return used - steps * typical(sound) if sound else float(used)  # type: ignore[arg-type, operator]


def _is_sound(count: object) -> bool:
    return type(count) is int and abs(count) <= MOST
