"""Unprofiled steps of the same run, timed around a window: what the profiled ones would have taken."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 5
"""Fewer unprofiled steps say too little."""
USUAL_RATIO = (2.6, 3.5)
"""What whole programs' ratios were found to be; beyond it, more than recording made the difference."""
TELLING_INFLATION = 1.2
_LEFT_UNDONE = 2.0


def typical(steps: Sequence[float]) -> float:
    """What one of some steps in a row takes: the median, or the mean where calls return early.

    Then the last step, which ends at an edge, waits for what the others left: it stands out.
    """
    middle = statistics.median(steps)
    return statistics.fmean(steps) if steps[-1] > _LEFT_UNDONE * middle else middle


@dataclass(frozen=True)
class Anchors:
    """Durations of unprofiled steps in a row, ns."""

    steps: tuple[int, ...]

    @property
    def base(self) -> float:
        """What an unprofiled step takes."""
        return typical(self.steps)

    @property
    def uncertainty(self) -> float:
        """Half-width of nine in ten medians of so many steps: 1.64 standard errors, from the quartiles."""
        low, _, high = statistics.quantiles(self.steps, n=4)
        scatter = 1.64 * 1.253 * (high - low) / 1.349 / math.sqrt(len(self.steps))
        return min(scatter, self.base)


def read_anchors(sidecar: dict) -> Anchors | None:
    """The unprofiled steps that our own capture wrote down; None without enough of them."""
    written = sidecar.get("anchors")
    steps = written.get("steps_ns") if isinstance(written, dict) else None
    if not isinstance(steps, list):
        return None
    sound = tuple(step for step in steps if type(step) is int and step > 0)
    return Anchors(sound) if len(sound) >= LEAST else None
