"""Which training steps are recorded, with torch.profiler's meanings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum


class Phase(Enum):
    """What happens during one step."""

    OFF = "off"  # nothing is recorded
    WARMUP = "warmup"  # recorded and thrown away: a process' first capture costs more than later ones
    ACTIVE = "active"  # recorded and kept


@dataclass(frozen=True)
class Schedule:
    """Skip `skip_first` steps, then cycle: `wait` steps off, `warmup` discarded, `active` recorded.

    `repeat` is the number of cycles; 0 cycles until the program ends. The last active step of a cycle
    ends its window, so each cycle leaves one profile.

    Raises:
        ValueError: a negative number, or no active step.
    """

    skip_first: int = 0
    wait: int = 0
    warmup: int = 0
    active: int = 1
    repeat: int = 0

    def __post_init__(self) -> None:
        for field in ("skip_first", "wait", "warmup", "active", "repeat"):
            value = getattr(self, field)
            if not isinstance(value, int) or value < 0:
                raise ValueError(f"Schedule({field}={value!r}): needs a whole number of steps, 0 or more")
        if self.active == 0:
            raise ValueError("Schedule(active=0) would record nothing; use active=1 or more")

    def phase(self, step: int) -> Phase:
        """The phase of step number `step`, counted from 0."""
        cycle, position = self._place(step)
        if position < self.wait or cycle < 0 or (self.repeat and cycle >= self.repeat):
            return Phase.OFF
        return Phase.WARMUP if position < self.wait + self.warmup else Phase.ACTIVE

    def window_ends_after(self, step: int) -> bool:
        """Whether `step` is the last active step of its cycle."""
        return self.phase(step) is Phase.ACTIVE and self._place(step)[1] == self._length - 1

    def next_change(self, step: int) -> float:
        """The first step after `step` that may have another phase or lie in another window.

        Returns:
            Its number; infinite where all that follow are alike.
        """
        cycle, position = self._place(step)
        if cycle < 0:
            return self.skip_first
        if self.repeat and cycle >= self.repeat:
            return math.inf
        edges = (self.wait, self.wait + self.warmup, self._length)
        return step + next(edge for edge in edges if edge > position) - position

    @property
    def _length(self) -> int:
        return self.wait + self.warmup + self.active

    def _place(self, step: int) -> tuple[int, int]:
        return divmod(step - self.skip_first, self._length)
