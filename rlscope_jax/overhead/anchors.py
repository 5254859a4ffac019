"""Unprofiled steps of the same run, timed around a window: what the profiled ones would have taken."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 5
"""Fewer unprofiled steps say too little."""
LONGEST = 10**15
"""ns; no step takes twelve days. A longer one was not written by our own capture."""
USUAL_RATIO = (2.6, 3.5)
"""What whole programs' ratios were found to be; beyond it, more than recording made the difference."""
TELLING_INFLATION = 1.2
_LEFT_UNDONE = 2.0


def telling(steps: Sequence[float]) -> list[int]:
    """Which of some steps in a row tell what one takes: all but the shortest and the longest tenth.

    Of their times the mean is taken: on a machine that works now fast, now slowly, the median is the one or
    the other. Where calls return early all count, for then the last step waits for what the others left.
    """
    if returns_early(steps):
        return list(range(len(steps)))
    out = max(round(len(steps) / 10), 1) if len(steps) > 2 else 0
    return sorted(range(len(steps)), key=steps.__getitem__)[out : len(steps) - out]


def returns_early(steps: Sequence[float]) -> bool:
    """Whether the last step, which ends at an edge, stands out: it waited for what the others left."""
    return steps[-1] > _LEFT_UNDONE * statistics.median(steps)


def typical(steps: Sequence[float]) -> float:
    """What one of some steps in a row takes, see `telling`."""
    return statistics.fmean(steps[place] for place in telling(steps))


@dataclass(frozen=True)
class Anchors:
    """Durations of unprofiled steps in a row, ns: before a window, and after it where there were such."""

    steps: tuple[int, ...]
    after: tuple[int, ...] = ()

    @property
    def base(self) -> float:
        """What an unprofiled step takes: half-way between both sides, so that a steady drift cancels."""
        return statistics.fmean(map(typical, self._sides))

    @property
    def count(self) -> int:
        """How many steps say so."""
        return sum(map(len, self._sides))

    @property
    def uncertainty(self) -> float:
        """Half-width: what so many steps leave open, and half of what the two sides differ by."""
        sides = self._sides
        doubt = math.hypot(*map(_doubt, sides)) / len(sides)
        apart = abs(typical(sides[0]) - typical(sides[-1])) / 2
        return min(math.hypot(doubt, apart), self.base)

    @property
    def _sides(self) -> list[tuple[int, ...]]:
        # Where calls return early the last steps of a program may not have been waited for.
        enough = len(self.after) >= LEAST
        early = any(returns_early(side) for side in (self.steps, self.after) if side)
        return [self.steps, self.after] if enough and not early else [self.steps]


def _doubt(steps: Sequence[float]) -> float:
    """Half-width of nine in ten means of so many steps: 1.64 standard errors, from the quartiles."""
    low, _, high = statistics.quantiles(steps, n=4)
    return 1.64 * (high - low) / 1.349 / math.sqrt(len(steps))


def read_anchors(sidecar: dict) -> Anchors | None:
    """The unprofiled steps that our own capture wrote down; None without enough of them before the window."""
    written = sidecar.get("anchors")
    if not isinstance(written, dict):
        return None
    before, after = (_sound(written.get(name)) for name in ("steps_ns", "after_ns"))
    return Anchors(before, after) if len(before) >= LEAST else None


def _sound(steps: object) -> tuple[int, ...]:
    if not isinstance(steps, list):
        return ()
    return tuple(step for step in steps if type(step) is int and 0 < step <= LONGEST)
