"""Threads of a pool that recording put to sleep, and what waking them cost.

XLA's executor hands ops to other threads of its pool. A thread that gets its next task soon is still looking
for it; one that waits too long sleeps, and whoever hands it a task must wake it: tens of microseconds on a
virtual machine. Recording makes tiny ops several times longer, so threads fall asleep that would not have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlscope_jax.attribution.attribute import Attribution
from rlscope_jax.overhead.op_cost import OpCosts
from rlscope_jax.xla_events.nesting import flatten
from rlscope_jax.xla_events.trace import OpLine, Worker

WAKING = 5_000_000
"""ps; handing over a task to a thread that is awake takes less."""
AWAKE_FOR = 30_000_000
"""ps; a thread without work looks for it about so long before it sleeps."""


@dataclass
class Wakes:
    """The wakings that would not have been without the recorder."""

    at: np.ndarray
    """int64[wakes], ps: when the thread that woke another went on."""
    cost: np.ndarray
    """float64[wakes], ps: what waking added to the wall time."""
    owner: np.ndarray
    """int64[wakes]: the loop (a device owner) around it, -1 where none was open: idle time."""

    @staticmethod
    def none() -> Wakes:
        """No wakings."""
        return Wakes(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


def induced_wakes(attribution: Attribution, costs: list[OpCosts], at: np.ndarray, wall: np.ndarray) -> Wakes:
    """Find them.

    Args:
        attribution: of the recording.
        costs: its op lines.
        at, wall: when overhead ended, and how much, ps.
    """
    trace = attribution.trace
    workers = trace.workers
    sides = [_boundaries(worker, trace.op_lines) for worker in workers]
    handed, stalls = _stalls(workers, sides)
    taken = {
        int(flow): (number, int(when))
        for number, worker in enumerate(workers)
        for flow, when in zip(worker.begun.id.tolist(), worker.begun.at.tolist(), strict=True)
    }
    nothing = np.zeros(0, np.int64)
    order = np.argsort(at, kind="stable")
    times, lost = at[order], np.append(0.0, np.cumsum(wall[order]))
    by_start = np.argsort(handed[:, 0], kind="stable") if len(handed) else nothing
    handed, stalls = handed[by_start], stalls[by_start]
    waking = stalls >= WAKING
    stalled = _merged(handed[waking, 0], handed[waking, 0] + stalls[waking].astype(np.int64))
    chosen = []
    for number, (when, flow) in enumerate(handed.tolist()):
        if not waking[number] or flow not in taken:
            continue
        worker, begun = taken[flow]
        place = np.searchsorted(sides[worker], begun, "left") - 1
        if place < 0:
            continue  # its first task: it slept in any case
        rested = int(sides[worker][place])
        recording = float(lost[np.searchsorted(times, begun)] - lost[np.searchsorted(times, rested)])
        until = np.array([rested, when], np.int64)
        woken = float(np.diff(_covered(*stalled, until))[0])
        if begun - rested - recording - woken < AWAKE_FOR:
            chosen.append(number)
    start, stall = handed[chosen, 0] if chosen else nothing, stalls[chosen] if chosen else np.zeros(0)
    busy_start, busy_end = _leaves(attribution, costs)
    hidden = _covered(busy_start, busy_end, start + stall.astype(np.int64)) - _covered(
        busy_start, busy_end, start
    )
    return Wakes(
        start + stall.astype(np.int64), np.maximum(stall - hidden, 0), _around(attribution, costs, start)
    )


def _boundaries(worker: Worker, lines: list[OpLine]) -> np.ndarray:
    """When anything began or ended on a worker's line."""
    mine = [edge for line in lines if line.name == worker.name for edge in (line.start, line.end)]
    return np.unique(np.concatenate([worker.begun.at, worker.handed.at, *mine]))


def _stalls(workers: list[Worker], sides: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """((when, flow id) of each task handed over, time until the handing thread did anything else)."""
    rows = [np.zeros((0, 2), np.int64)]
    stalls = [np.zeros(0)]
    for worker, side in zip(workers, sides, strict=True):
        following = np.searchsorted(side, worker.handed.at, "right")
        known = following < len(side)
        rows.append(np.column_stack([worker.handed.at, worker.handed.id])[known])
        stalls.append((side[following[known]] - worker.handed.at[known]).astype(np.float64))
    return np.concatenate(rows), np.concatenate(stalls)


def _leaves(attribution: Attribution, costs: list[OpCosts]) -> tuple[np.ndarray, np.ndarray]:
    """(start, end) of the stretches in which some op other than a loop ran, disjoint and in order."""
    control = np.array([owner.control for owner in attribution.owners], bool)
    spans = [
        (cost.line.start[~control[owner]], cost.line.end[~control[owner]])
        for cost, owner in zip(costs, attribution.op_owner, strict=True)
    ]
    start, end = (np.concatenate([np.zeros(0, np.int64), *sides]) for sides in _sides(spans))
    return _merged(start, end)


def _sides(spans: list[tuple[np.ndarray, np.ndarray]]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [start for start, _ in spans], [end for _, end in spans]


def _merged(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The union of some intervals: disjoint and in order."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    if len(start) == 0:
        return start, end
    first = np.append(True, start[1:] > end[:-1])
    return start[first], end[np.append(first[1:], True)]


def _covered(start: np.ndarray, end: np.ndarray, upto: np.ndarray) -> np.ndarray:
    """How much of the time before each instant the stretches cover."""
    if len(start) == 0:
        return np.zeros(len(upto))
    whole = np.append(0, np.cumsum(end - start))
    place = np.searchsorted(start, upto, "right") - 1
    within = np.minimum(upto, end[np.maximum(place, 0)]) - start[np.maximum(place, 0)]
    return np.where(place >= 0, whole[np.maximum(place, 0)] + within, 0).astype(np.float64)


def _around(attribution: Attribution, costs: list[OpCosts], at: np.ndarray) -> np.ndarray:
    """The innermost loop open at each instant, on whichever line; -1 where none is."""
    found = np.full(len(at), -1, np.int64)
    since = np.full(len(at), np.iinfo(np.int64).min)
    if len(at) == 0:
        return found
    control = np.array([owner.control for owner in attribution.owners], bool)
    for cost, owner in zip(costs, attribution.op_owner, strict=True):
        loops = np.flatnonzero(control[owner])
        start, end, piece, _ = flatten(cost.line.start[loops], cost.line.end[loops])
        if len(start) == 0:
            continue
        place = np.searchsorted(start, at, "right") - 1
        open_here = (place >= 0) & (at < end[np.maximum(place, 0)])
        event = loops[piece[np.maximum(place, 0)]]
        later = open_here & (cost.line.start[event] > since)
        found = np.where(later, owner[event], found)
        since = np.where(later, cost.line.start[event], since)
    return found
