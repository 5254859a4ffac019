"""Unprofiled steps timed around each window: what its steps would have taken had nobody recorded them."""

from __future__ import annotations

import time
from collections import deque

from rlscope_jax._process import page_faults

_KEPT = 30
"""Steps kept on each side of a window: the nearest say most."""
_WARM_UP = 1
"""Steps left out after compiling or recording: they run slower than the rest."""


class AnchorClock:
    """Times steps while nothing is recorded, between one window and the next.

    Costs two readings of the clock and of the process' page faults a step. A step's time is that of its whole
    body, up to `step()`; where calls return before the device is done, the step that ends at a window's edge
    waits for what the others left.
    """

    def __init__(self) -> None:
        self._steps: deque[tuple[int, int]] = deque(maxlen=_KEPT)  # ns, page faults
        self._began: tuple[int, int] | None = None
        self._to_skip = _WARM_UP

    @property
    def starts_after_this_step(self) -> bool:
        """Whether the first timed step follows: the device should then have nothing left to do."""
        return self._began is not None and self._to_skip == 1

    def step_begins(self, recorded: bool) -> None:
        """A step begins; only one that nobody records is timed."""
        self._began = None if recorded else (time.perf_counter_ns(), page_faults() or 0)

    def step_ends(self) -> None:
        """The step that began is over, and has been waited for where it ends at an edge."""
        began, self._began = self._began, None
        if began is None:
            return
        if self._to_skip > 0:
            self._to_skip -= 1
        else:
            self._steps.append((time.perf_counter_ns() - began[0], (page_faults() or 0) - began[1]))

    def window_closes(self) -> dict:
        """What to write beside the window that just closed; the steps after it serve the next one."""
        steps = list(self._steps)
        self._steps.clear()
        self._to_skip = _WARM_UP
        return {"steps_ns": [ns for ns, _ in steps], "page_faults": [faults for _, faults in steps]}
