"""How many events a window holds, guessed while it is open: the recorder tells only when it has stopped."""

from __future__ import annotations

import time

from rlscope_jax._process import ASK_AGAIN_NS, resident_bytes
from rlscope_jax.annotate import _traced

# Measured with jax 0.8.0, 0.10.2 and 0.11.2 on CPU (benchmarks/capture.py shows them anew).
BYTES_WRITTEN = 57
"""Bytes of an event in the file: 51 to 60."""
BYTES_RECORDING = 270
"""Bytes of memory that an event takes until the recorder stops: 200 to 276; stopping takes 900 more."""


class EventBudget:
    """Tells when a window should end for the sake of memory.

    The events of a step are known once a window (or its warmup) has been written out. In the first one they
    are estimated: what the process grew by since the first step that compiled nothing, as events.

    Args:
        limit: the most events a window may hold; None for no limit.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._per_step: float | None = None

    def open(self) -> None:
        """A window begins."""
        self._steps = 0
        self._compiles = _traced.compiles
        self._compiled = False
        self._measure_from_here()

    def step(self) -> None:
        """A step of the window ended."""
        self._steps += 1
        if _traced.compiles != self._compiles:  # compiling takes memory of its own
            self._compiles, self._compiled = _traced.compiles, True
            self._measure_from_here()
        elif self._per_step is None and (self.is_full or time.monotonic_ns() >= self._ask_from):
            self._ask()  # before a window ends, too: a first step often takes more than those after it

    def close(self, written: int) -> None:
        """The window ended; `written` is the size of its profile in bytes."""
        if self._steps and not self._compiled:
            self._per_step = written / BYTES_WRITTEN / self._steps

    @property
    def estimate(self) -> int:
        """About how many events the window holds so far."""
        return round(self._steps * self._events_of_a_step())

    @property
    def is_full(self) -> bool:
        """Whether one more step would be too much."""
        return self.limit is not None and (self._steps + 1) * self._events_of_a_step() > self.limit

    def _events_of_a_step(self) -> float:
        return self._grown_per_step if self._per_step is None else self._per_step

    def _measure_from_here(self) -> None:
        self._resident = resident_bytes()
        self._measured_after = self._steps
        self._grown_per_step = 0.0
        self._ask_from = 0

    def _ask(self) -> None:
        grown = max(0, resident_bytes() - self._resident)
        self._grown_per_step = grown / BYTES_RECORDING / (self._steps - self._measured_after)
        self._ask_from = time.monotonic_ns() + ASK_AGAIN_NS
