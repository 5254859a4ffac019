"""Unprofiled steps timed around each window: what its steps would have taken had nobody recorded them."""

from __future__ import annotations

import time
from collections import deque

from rlscope_jax._process import ASK_AGAIN_NS, Usage, usage

_LEAST, _MOST = 30, 1000
_SPAN_NS = 1_000_000_000
"""Steps kept on each side of a window: as many as a second holds. The nearest say most, but the speed of a
shared machine wanders within tenths of a second."""
_WARM_UP = 1
"""Steps left out after compiling or recording: they run slower than the rest."""


class AnchorClock:
    """Times steps while nothing is recorded: before each window, and after it.

    Costs two readings of the clock a step, and asks the system once a millisecond what the process used. A
    step's time is that of its whole body, up to `step()`; where calls return before the device is done, the
    step that ends at a window's edge waits for what the others left.
    """

    def __init__(self) -> None:
        self._before: deque[tuple[int, Usage | None]] = deque()  # ns, and what the system tells of some
        self._after: list[int] = []
        self._span_before = self._span_after = 0  # ns
        self._began: int | None = None  # ns, of the clock
        self._used: Usage | None = None  # what the process had used by then, where the system was asked
        self._asked = 0  # ns, of the clock
        self._to_skip = _WARM_UP

    @property
    def starts_after_this_step(self) -> bool:
        """Whether the first timed step follows: the device should then have nothing left to do."""
        return self._began is not None and self._to_skip == 1

    def step_begins(self, recorded: bool) -> None:
        """A step begins; only one that nobody records is timed."""
        self._began = self._used = None
        if not recorded:
            now = time.perf_counter_ns()
            if now - self._asked >= ASK_AGAIN_NS:
                self._used, self._asked = usage(), now
                now = time.perf_counter_ns()
            self._began = now

    def step_ends(self, now: int) -> None:
        """The step that began is over, and has been waited for where it ends at an edge.

        Args:
            now: what `time.perf_counter_ns` said then.
        """
        began, self._began = self._began, None
        if began is None:
            return
        if self._to_skip > 0:
            self._to_skip -= 1
        else:
            after = usage() if self._used is not None else None
            self._keep(now - began, after.since(self._used) if after and self._used else None)

    def _keep(self, took: int, used: Usage | None) -> None:
        if not _is_enough(len(self._after), self._span_after):
            self._after.append(took)
            self._span_after += took
        self._before.append((took, used))
        self._span_before += took
        while _is_enough(len(self._before) - 1, self._span_before - self._before[0][0]):
            self._span_before -= self._before.popleft()[0]

    def window_closes(self) -> dict:
        """What to write beside the window that just closed: the steps before it."""
        steps = list(self._before)
        self._before.clear()
        self._after, self._span_before, self._span_after, self._to_skip = [], 0, 0, _WARM_UP
        told = [use for _, use in steps if use is not None]  # none where the system tells nothing
        used = {name: [getattr(use, name) for use in told] for name in Usage._fields} if told else {}
        return {"steps_ns": [ns for ns, _ in steps], **used}

    @property
    def after(self) -> list[int]:
        """The steps after the window that closed last, ns; they also come before the next one."""
        return self._after


def _is_enough(steps: int, span: int) -> bool:
    return steps >= _MOST or (steps >= _LEAST and span >= _SPAN_NS)
