"""Unprofiled steps timed around each window: what its steps would have taken had nobody recorded them."""

from __future__ import annotations

import time
from collections import deque

from rlscope_jax._process import Usage, usage

_LEAST, _MOST = 30, 1000
_SPAN_NS = 1_000_000_000
"""Steps kept on each side of a window: as many as a second holds. The nearest say most, but the speed of a
shared machine wanders within tenths of a second."""
_NOTHING = Usage(0, 0, 0)
_WARM_UP = 1
"""Steps left out after compiling or recording: they run slower than the rest."""


class AnchorClock:
    """Times steps while nothing is recorded: before each window, and after it.

    Costs two readings of the clock and one of what the system says of the process a step. A step's time is
    that of its whole body, up to `step()`; where calls return before the device is done, the step that ends
    at a window's edge waits for what the others left.
    """

    def __init__(self) -> None:
        self._before: deque[tuple[int, Usage]] = deque()  # ns
        self._after: list[int] = []
        self._span_before = self._span_after = 0  # ns
        self._began: tuple[Usage, int] | None = None
        self._used: Usage | None = None
        self._to_skip = _WARM_UP

    @property
    def starts_after_this_step(self) -> bool:
        """Whether the first timed step follows: the device should then have nothing left to do."""
        return self._began is not None and self._to_skip == 1

    def step_begins(self, recorded: bool) -> None:
        """A step begins; only one that nobody records is timed."""
        used, self._used = self._used, None
        if not recorded:
            self._began = (used or usage() or _NOTHING, time.perf_counter_ns())

    def step_ends(self) -> None:
        """The step that began is over, and has been waited for where it ends at an edge."""
        now = time.perf_counter_ns()
        began, self._began = self._began, None
        if began is None:
            return
        if self._to_skip > 0:
            self._to_skip -= 1
        else:
            self._used = usage() or _NOTHING  # also what the next step begins with
            self._keep(now - began[1], self._used.since(began[0]))

    def _keep(self, took: int, used: Usage) -> None:
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
        told = () if usage() is None else Usage._fields  # where the system tells nothing, nothing is written
        used = {name: [getattr(use, name) for _, use in steps] for name in told}
        return {"steps_ns": [ns for ns, _ in steps], **used}

    @property
    def after(self) -> list[int]:
        """The steps after the window that closed last, ns; they also come before the next one."""
        return self._after


def _is_enough(steps: int, span: int) -> bool:
    return steps >= _MOST or (steps >= _LEAST and span >= _SPAN_NS)
