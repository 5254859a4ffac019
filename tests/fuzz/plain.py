"""The rules of device self time, written down a second time: slow, plain Python, for tests to compare with.

Each instant of a line belongs to the op that ends first, of those that end together to the one that began
last; a while, call or conditional rests while an op of its own run works on another line of its device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

CONTROL = ("while", "conditional", "call")


class Op(NamedTuple):
    """One executed op; times in ps, `key` is whatever its time is to be summed by."""

    start: int
    end: int
    key: Hashable
    run: Hashable = None
    control: bool = False


def self_times(lines: Sequence[Sequence[Op]]) -> Counter[Hashable]:
    """Self time by key of one device's lines, those without any left out."""
    changes = sorted(
        ((instant, lane, owner) for lane, ops in enumerate(lines) for instant, owner in _owners(ops)),
        key=lambda change: change[:2],
    )
    owners: list[Op | None] = [None] * len(lines)
    times: Counter[Hashable] = Counter()
    for (instant, lane, owner), (until, *_) in pairwise([*changes, changes[-1]] if changes else []):
        owners[lane] = owner
        if until > instant:
            for worker in _at_work(owners):
                times[worker.key] += until - instant
    return times


def covered(intervals: Iterable[tuple[int, int]]) -> int:
    """How much time the intervals cover together."""
    total, reached = 0, None
    for start, end in sorted(intervals):
        if end > start:
            begin = start if reached is None else max(start, reached)
            total += max(0, end - begin)
            reached = end if reached is None else max(reached, end)
    return total


def _owners(ops: Sequence[Op]) -> list[tuple[int, Op | None]]:
    """From which instant on the line belongs to which op, or to none."""
    waiting = sorted(range(len(ops)), key=lambda index: (ops[index].start, -ops[index].end), reverse=True)
    active: list[Op] = []
    changes: list[tuple[int, Op | None]] = []
    for instant in sorted({instant for op in ops for instant in (op.start, op.end)}):
        while waiting and ops[waiting[-1]].start <= instant:
            active.append(ops[waiting.pop()])
        active = [op for op in active if op.end > instant]
        # The last of those that are alike: as stored, what is enclosed comes after what encloses it.
        owner = min(reversed(active), key=lambda op: (op.end, -op.start)) if active else None
        changes.append((instant, owner))
    return changes


def _at_work(owners: Sequence[Op | None]) -> list[Op]:
    running = [op for op in owners if op is not None]
    busy = {op.run for op in running if not op.control}
    return [op for op in running if not (op.control and op.run in busy)]
