"""Memory that the recorder touched for the first time: a page costs microseconds, and an op's tail misses it.

The system hands out memory page by page, when it is first touched. A window that is larger than those before
it is recorded into new memory: about one page in nine ops, which made tiny ops half as expensive again.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from rlscope_jax.overhead.constants import Constants
from rlscope_jax.xla_events.trace import Step, Trace

EVENT_PAGES = 0.058
"""Pages an event takes where all memory is new (0.054 to 0.059 on seven programs); an op has two events."""
USUAL_COST = 1.2
"""µs of tail that a page costs where nothing is calibrated: 3.3 to 4.4 µs over a ratio of about 3."""


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
    cost = USUAL_COST * 1e6
    if constants is not None and constants.tail_ratio.value:
        cost = 1000 * constants.page_fault.value / constants.tail_ratio.value
    most = EVENT_PAGES * events
    counted = sidecar.get("page_faults")
    if type(counted) is not int:
        return NewMemory(cost * EVENT_PAGES / 2, cost * EVENT_PAGES / 2)
    touched = min(max(counted - _of_the_program(sidecar) * len(steps), 0.0), most)
    spread = constants.page_fault.relative if constants is not None else 0.5
    return NewMemory(cost * touched / events, spread * cost * touched / events)


def _of_the_program(sidecar: dict) -> float:
    """Pages that an unprofiled step touches."""
    anchors = sidecar.get("anchors")
    counted = anchors.get("page_faults") if isinstance(anchors, dict) else None
    sound = [count for count in counted if type(count) is int] if isinstance(counted, list) else []
    return statistics.median(sound) if sound else 0.0
