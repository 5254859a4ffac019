"""When the device could have worked: from its first op to its last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlscope_jax.findings.facts import Facts
from rlscope_jax.xla_events.nesting import flatten
from rlscope_jax.xla_events.trace import OpLine


@dataclass(frozen=True)
class Gaps:
    """The stretches of a line's or a device's time without an op; ps."""

    start: np.ndarray
    end: np.ndarray
    span: int
    """From the first op's start to the last one's end."""

    @property
    def total(self) -> int:
        """Their sum."""
        return int((self.end - self.start).sum())


def gaps(lines: list[OpLine]) -> Gaps:
    """The time in which none of these lines ran an op, control of loops included as work."""
    starts = np.concatenate([np.zeros(0, np.int64), *(line.start for line in lines)])
    ends = np.concatenate([np.zeros(0, np.int64), *(line.end for line in lines)])
    if not len(starts):
        return Gaps(starts, ends, 0)
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    free = np.flatnonzero(starts[1:] > ends[:-1])
    return Gaps(ends[free], starts[free + 1], int(ends[-1] - starts[0]))


def compile_time_within(facts: Facts, found: Gaps) -> int:
    """How much of the gaps compilations fill, ps."""
    total = 0
    for one in facts.compilations:
        begin, end = np.maximum(found.start, one.start), np.minimum(found.end, one.end)
        total += int(np.maximum(end - begin, 0).sum())
    return total


def free_within(found: Gaps, start: np.ndarray, end: np.ndarray) -> int:
    """How much of these intervals lies in the gaps, ps; before the first op and after the last is none."""
    if not len(found.start):
        return 0
    before = np.append(0, np.cumsum(found.end - found.start))

    def free_until(instant: np.ndarray) -> np.ndarray:
        place = np.maximum(np.searchsorted(found.start, instant, "right") - 1, 0)
        inside = np.clip(instant - found.start[place], 0, found.end[place] - found.start[place])
        return before[place] + inside

    return int((free_until(end) - free_until(start)).sum())


def waits(facts: Facts, path: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(start, end) of the host's waits for a value, in order; of one operation, or of all."""
    found = [
        (int(activity.thread.start[event]), int(activity.thread.end[event]))
        for number, activity in enumerate(facts.attribution.activities)
        for event in activity.syncs.tolist()
        if path is None or facts.path_of(number, event) == path
    ]
    times = np.array(sorted(found), np.int64).reshape(-1, 2)
    return times[:, 0], times[:, 1]


def leaf_durations(line: OpLine) -> np.ndarray:
    """The durations of the ops of a line that hold no other, ps."""
    parent = flatten(line.start, line.end)[3]
    leaf = np.ones(len(line.start), bool)
    leaf[parent[parent >= 0]] = False
    return (line.end - line.start)[leaf]
