"""Executed ops as a tree that states each op's self time, and their layout on a time axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NS = 1_000
"""Picoseconds."""
US = 1_000 * NS
MS = 1_000 * US


@dataclass(frozen=True)
class Op:
    """One executed op and those it encloses. Times are picoseconds."""

    name: str
    self_time: int
    """Its duration less its children's; gaps before children and its own tail lie within it."""
    children: Sequence[Op] = ()
    tail: int = 0
    """From the start of the op's `end:` event to its end (CPU); 0 for none."""
    gap: int = 0
    """Time without any sibling before this op."""

    def __post_init__(self) -> None:
        if self.head < 0:
            raise ValueError(f"{self.name}: self time {self.self_time} is less than its gaps and tail")

    @property
    def duration(self) -> int:
        """From start to end."""
        return self.self_time + sum(child.duration for child in self.children)

    @property
    def head(self) -> int:
        """From start to the first child's gap."""
        return self.self_time - self.tail - sum(child.gap for child in self.children)


@dataclass(frozen=True)
class PlacedOp:
    """An op and when it ran."""

    op: Op
    start: int
    depth: int

    @property
    def end(self) -> int:
        """When it was over."""
        return self.start + self.op.duration


def place(ops: Sequence[Op], start: int, depth: int = 0) -> Iterator[PlacedOp]:
    """Lay ops out one after another from `start`; parents come before their children."""
    for op in ops:
        start += op.gap
        yield PlacedOp(op, start, depth)
        yield from place(op.children, start + op.head, depth + 1)
        start += op.duration


def self_times(placed: Sequence[PlacedOp]) -> dict[str, int]:
    """The truth that a reader must find: summed self time by op name."""
    totals: dict[str, int] = {}
    for each in placed:
        totals[each.op.name] = totals.get(each.op.name, 0) + each.op.self_time
    return totals
