"""From events to overhead: how much each owner's time holds, and how much the wall time was lengthened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rlscope_jax.attribution.attribute import Attribution, host_pieces
from rlscope_jax.attribution.host_names import CATEGORIES
from rlscope_jax.breakdown.sweep import Cells
from rlscope_jax.breakdown.table import startup_owner
from rlscope_jax.names import MARK
from rlscope_jax.overhead.critical import Stretch, critical_share
from rlscope_jax.overhead.op_cost import OpCosts
from rlscope_jax.xla_events.host_lines import WAIT_NAME


@dataclass
class DeviceCost:
    """The ops' costs by device owner, in the unit of `OpCosts.units`."""

    thread: np.ndarray
    """float64[owners]: summed over lines."""
    wall: np.ndarray
    """float64[owners]: the part that lengthened the wall time."""
    doubt: np.ndarray
    """float64[owners]: how much more of it may have."""
    thread_doubt: np.ndarray
    """float64[owners]: how far `thread` may be off for the sake of new memory."""
    thread_of: np.ndarray
    """float64[devices]: `thread` by device."""
    count: np.ndarray
    """int64[owners]: op events."""
    busy: np.ndarray
    """float64[devices]: the part that lengthened the device's busy time."""
    at: np.ndarray
    """int64[events], ps: when each op ended, all lines together."""
    wall_at: np.ndarray
    """float64[events]: the part of `wall` that ended then."""


def device_cost(attribution: Attribution, costs: list[OpCosts]) -> DeviceCost:
    """Add up the ops' costs by owner and by device."""
    trace, count = attribution.trace, len(attribution.owners)
    control = np.array([owner.control for owner in attribution.owners], bool)
    stretches = [
        Stretch(
            cost.line.start,
            cost.line.end,
            cost.units,
            control[owner],
            cost.line.run + len(trace.runs) * cost.line.device,
        )
        for cost, owner in zip(costs, attribution.op_owner, strict=True)
    ]
    shares, doubts = critical_share(stretches) if stretches else ([], [])
    found = DeviceCost(
        thread=np.zeros(count),
        wall=np.zeros(count),
        doubt=np.zeros(count),
        thread_doubt=np.zeros(count),
        thread_of=np.zeros(len(trace.devices)),
        count=np.zeros(count, np.int64),
        busy=np.zeros(len(trace.devices)),
        at=np.zeros(0, np.int64),
        wall_at=np.zeros(0),
    )
    at, wall_at = [found.at], [found.wall_at]
    unsures = [(cost.doubt, cost.line.device) for cost in costs]
    for stretch, owner, share, doubt, (unsure, device) in zip(
        stretches, attribution.op_owner, shares, doubts, unsures, strict=True
    ):
        found.thread += np.bincount(owner, stretch.cost, count)
        found.thread_doubt += unsure * np.bincount(owner, minlength=count)
        found.thread_of[device] += float(stretch.cost.sum())
        found.wall += np.bincount(owner, stretch.cost * share, count)
        found.doubt += np.bincount(owner, stretch.cost * doubt + unsure * share, count)
        found.count += np.bincount(owner, minlength=count)
        at.append(stretch.end)
        wall_at.append(stretch.cost * share)
    found.at, found.wall_at = np.concatenate(at), np.concatenate(wall_at)
    lines_of = [
        [n for n, line in enumerate(trace.op_lines) if line.device == d] for d in range(len(trace.devices))
    ]
    for device, mine in enumerate(lines_of):
        if len(trace.devices) > 1 and mine:
            chosen = [stretches[number] for number in mine]
            parts = zip(chosen, critical_share(chosen)[0], strict=True)
            found.busy[device] = sum(float((line.cost * share).sum()) for line, share in parts)
        elif mine:
            found.busy[device] = float(found.wall.sum())
    return found


@dataclass
class HostCost:
    """What the runtime's and our own events cost the host's threads, ps."""

    thread: np.ndarray
    """float64[host owners, categories]."""
    events: np.ndarray
    """int64[host owners, categories]: how many took the recorder's memory; steps left out."""
    at: np.ndarray
    """int64[events]: when each began."""
    wall_at: np.ndarray
    """float64[events]: what it added to the wall time, were its thread critical as often as on average."""


class PerEvent(NamedTuple):
    """What recording one event costs the host, ps."""

    of_runtime: float
    annotation: float
    """One of our own operations."""
    python_call: float
    """A call that the Python tracer recorded, into memory of its own."""


def host_cost(attribution: Attribution, cells: Cells, per_event: PerEvent, per_step: float) -> HostCost:
    """Add up the host events' costs by owner and category.

    Of an owner's overhead the part is critical that its time is critical: while the device works or
    another thread does, an event hides behind it.
    """
    total, count = np.zeros(cells.host_self.shape), np.zeros(cells.host_self.shape, np.int64)
    critical = critical_part(cells)
    at, wall_at = [np.zeros(0, np.int64)], [np.zeros(0)]
    lanes = host_pieces(attribution, startup_owner(attribution) + 1)
    for activity, lane in zip(attribution.activities, lanes, strict=True):
        thread = activity.thread
        events = np.flatnonzero(thread.op < 0)
        ours = np.array([name.startswith(MARK) for name in thread.event_names] + [False], bool)
        steps = np.array([step.start for step in thread.steps], np.int64)
        begins = np.concatenate([thread.start[events], thread.python_calls, steps])
        cost = np.concatenate([
            np.where(ours[thread.event[events]], per_event.annotation, per_event.of_runtime),
            np.full(len(thread.python_calls), per_event.python_call),
            np.full(len(steps), per_step),
        ])  # fmt: skip
        is_event = np.arange(len(begins)) < len(events)
        place = np.searchsorted(lane.start, begins, "right") - 1
        inside = (place >= 0) & (begins < lane.end[np.maximum(place, 0)]) if len(lane.start) else place > 0
        begins, is_event, cost, place = begins[inside], is_event[inside], cost[inside], place[inside]
        cell = lane.owner[place] * len(CATEGORIES) + lane.category[place]
        total += np.bincount(cell, cost, total.size).reshape(total.shape)
        count += np.bincount(cell[is_event], minlength=total.size).reshape(total.shape)
        at.append(begins)
        wall_at.append(cost * critical.ravel()[cell])
    return HostCost(total, count, np.concatenate(at), np.concatenate(wall_at))


def critical_part(cells: Cells) -> np.ndarray:
    """float64[host owners, categories]: the part of a thread's time in which it alone was at work."""
    return np.minimum(cells.host_only / np.maximum(cells.host_self, 1), 1.0)


def waits(attribution: Attribution) -> np.ndarray:
    """int64: when each wait for a buffer ended, in order. Recording makes the thread wake up later."""
    ends = [np.zeros(0, np.int64)]
    for activity in attribution.activities:
        thread = activity.thread
        named = np.array([name == WAIT_NAME for name in thread.event_names] + [False], bool)
        ends.append(thread.end[named[thread.event]])
    return np.sort(np.concatenate(ends))
