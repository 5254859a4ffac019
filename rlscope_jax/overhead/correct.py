"""The corrected report of one process: the same rows, less what recording them cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rlscope_jax.attribution.attribute import Attribution
from rlscope_jax.breakdown.sweep import Cells
from rlscope_jax.breakdown.table import Table, partition, rows_of
from rlscope_jax.overhead.loops import in_cut_loops
from rlscope_jax.overhead.method import Method
from rlscope_jax.overhead.new_memory import NONE, NewMemory
from rlscope_jax.overhead.op_cost import op_costs
from rlscope_jax.overhead.removal import (
    DeviceCost,
    HostCost,
    PerEvent,
    critical_part,
    device_cost,
    host_cost,
    waits,
)
from rlscope_jax.overhead.subtract import rounded, subtract
from rlscope_jax.overhead.wakes import Wakes, induced_wakes
from rlscope_jax.xla_events.trace import Step

TELLING_PART = 0.5
"""Of the device's busy time: less overhead does not change how long threads rest."""
WAKE_SPREAD = 0.5
"""Relative half-width of what waking threads cost: whether one would have slept anyway is an estimate."""


@dataclass
class Correction:
    """Corrected figures and how far they may be off; times in ps."""

    method: Method
    table: Table
    """Rows and cells, corrected. The cells sum to the corrected wall time."""
    spread: Table
    """The half-widths of the same."""
    whole_spread: Cells
    """The half-widths of sums over all operations, whose errors cancel in part: add up its cells."""
    raw_wall: int
    removed_spread: int
    """The half-width of `removed`."""
    steps: np.ndarray
    """float64[steps]: what each was lengthened by."""

    @property
    def removed(self) -> int:
        """From the wall time."""
        return self.raw_wall - self.table.cells.wall

    @property
    def total_spread(self) -> float:
        """Relative half-width of what is removed from a whole program."""
        return self.removed_spread / self.removed if self.removed else 0.0

    def spread_of_steps(self, spans: np.ndarray) -> np.ndarray:
        """float64[steps]: the half-width of each step's time: what was removed is as doubtful everywhere."""
        share = self.steps / self.removed if self.removed else spans / max(self.raw_wall, 1)
        return share * self.removed_spread


class Overhead:
    """What one recording's events cost, before a factor turns it into time."""

    def __init__(self, attribution: Attribution, memory: NewMemory = NONE) -> None:
        self._memory = memory
        trace = attribution.trace
        self._costs = costs = op_costs(trace.op_lines, memory, in_cut_loops(trace))
        trace = replace(trace, op_lines=[cost.line for cost in costs])
        self.attribution = replace(attribution, trace=trace)
        self.cells = partition(self.attribution)
        """The partition in which the start of an op is the op's, not the loop's around it."""
        self.device: DeviceCost = device_cost(self.attribution, costs)
        self.waits = waits(attribution)

    def device_units(self, steps: list[Step]) -> np.ndarray:
        """float64[steps]: the device's part of each step, in tails."""
        return _within(self.device.at, self.device.wall_at, steps)

    def host_of_steps(self, method: Method, steps: list[Step]) -> np.ndarray:
        """float64[steps]: the host's part of each step, ps."""
        host = self.host(method)
        return _begun_within(host.at, host.wall_at, steps) + self.waits_of_steps(method, steps)

    def waits_of_steps(self, method: Method, steps: list[Step]) -> np.ndarray:
        """float64[steps]: what waking up from waits added to each step, ps."""
        return _within(self.waits, np.full(len(self.waits), method.wait), steps)

    def host(self, method: Method) -> HostCost:
        """The host's part, ps."""
        # Where host events are left alone (no constants) so is the memory they took.
        of_memory = method.ratio.value * self._memory.per_event if method.host_event else 0.0
        each = PerEvent(method.host_event + of_memory, method.annotation + of_memory, method.python_call)
        return host_cost(self.attribution, self.cells, each, method.step)

    def correct(self, method: Method, steps: list[Step]) -> Correction:
        """Remove it all."""
        host, wakes = self.host(method), self._wakes(method)
        corrected, given, rest = self._less(method, host, wakes)
        spread = rest.doubted(self._spread(method, method.op_spread, host, wakes))
        whole = self._spread(method, min(method.ratio.relative, method.op_spread), host, wakes)
        return Correction(
            method,
            Table(rows_of(self.attribution, corrected), corrected),
            Table(rows_of(self.attribution, spread), spread),
            rest.doubted(whole),
            self.cells.wall,
            whole.wall,
            self._of_steps(method, steps, host, wakes, given),
        )

    def _less(self, method: Method, host: HostCost, wakes: Wakes) -> tuple[Cells, _Given, _Rest]:
        """The cells less what recording cost, which part of that they could give, and what anyone gave.

        No cell is taken below what it must have been: the others of its kind give what it cannot. Where
        unprofiled steps tell how long all of it took, the host and idle time give what still is missing.
        """
        cells, device, ratio = self.cells, self.device, method.ratio.value
        looping, sleeping = self._woken(wakes)
        on_wall = (cells.device_only + cells.overlap).astype(np.float64)
        self_time = cells.device_self.astype(np.float64)
        part = np.divide(on_wall, self_time, out=np.zeros_like(on_wall), where=self_time > 0)
        floor = method.op_floor * device.count
        of_device, of_host = ratio * device.wall + looping, host.thread * critical_part(cells)
        new_wall = subtract(on_wall, of_device, floor * part)
        new_self = np.maximum(subtract(self_time, ratio * device.thread + looping, floor), new_wall)
        only = np.divide(cells.device_only, on_wall, out=np.zeros_like(on_wall), where=on_wall > 0)
        host_only = _without(cells.host_only, of_host)
        host_self = np.maximum(_without(cells.host_self, host.thread), host_only)
        resting = sleeping + len(self.waits) * method.wait
        idle = max(cells.idle - resting, 0.0)
        given = _Given(
            _part(float((on_wall - new_wall).sum()), float(of_device.sum())),
            _part(float((cells.host_only - host_only).sum()), float(of_host.sum())),
            _part(cells.idle - idle, resting),
        )
        new_of = _divided(cells.self_of_device, device.thread_of, float(new_self.sum()))
        busy = self._busy(new_wall.sum(), new_of, given.device * (ratio * device.busy + looping.sum()))
        took = 0.0
        if method.anchors is not None:  # how long it all took unrecorded is known, though not who took less
            missing = given.missing((float(of_device.sum()), float(of_host.sum()), resting))
            left = float(host_only.sum()) + idle
            took = min(_part(missing, left), 1.0)
            given = given.completed(_part(took * left, missing))
        rest = _Rest(took * host_only, took * idle)
        host_self, host_only, idle = host_self - rest.host, host_only - rest.host, idle - rest.idle
        corrected = _cells(
            new_wall * only, new_wall * (1 - only), host_only, round(idle), new_self, host_self, busy, new_of
        )  # fmt: skip
        return corrected, given, rest

    def _busy(self, wall: float, self_of: np.ndarray, overhead: np.ndarray) -> np.ndarray:
        """Each device's busy time: no more than all devices' together or its own ops', all of it in some."""
        most = np.minimum(self_of, wall)
        busy = np.clip(self.cells.busy - overhead, 0, most)
        room = most - busy
        missing = wall - busy.sum() if len(busy) > 1 else room.sum()  # one device's is the device's part
        return busy + room * _part(missing, room.sum()) if missing > 0 else busy

    def _spread(self, method: Method, op_spread: float, host: HostCost, wakes: Wakes) -> Cells:
        """Half-widths, with this relative one for what a tail costs."""
        cells, device, ratio = self.cells, self.device, method.ratio.value
        looping, sleeping = self._woken(wakes)
        on_wall = (cells.device_only + cells.overlap).astype(np.float64)
        only = np.divide(cells.device_only, on_wall, out=np.zeros_like(on_wall), where=on_wall > 0)
        of_wall = ratio * (op_spread * device.wall + device.doubt) + WAKE_SPREAD * looping
        of_self = ratio * (op_spread * device.thread + device.thread_doubt) + WAKE_SPREAD * looping
        of_memory = ratio * self._memory.doubt if method.host_event else 0.0
        of_host = method.host_spread * host.thread + of_memory * host.events
        busy = ratio * op_spread * device.busy + (of_wall - ratio * op_spread * device.wall).sum()
        idle = WAKE_SPREAD * sleeping + method.wait_spread * method.wait * len(self.waits)
        return _cells(
            of_wall * only, of_wall * (1 - only), of_host * critical_part(cells), round(idle), of_self,
            of_host, busy, of_self.sum() * _shares(device.thread_of),
        )  # fmt: skip

    def _woken(self, wakes: Wakes) -> tuple[np.ndarray, float]:
        """(what waking threads added to each device owner, and to idle time), ps."""
        looping = wakes.owner >= 0
        of_owner = np.bincount(wakes.owner[looping], wakes.cost[looping], len(self.device.wall))
        return of_owner, float(wakes.cost[~looping].sum())

    def _wakes(self, method: Method) -> Wakes:
        """Those taken out: only where `choose` told them apart from the ops, which takes constants."""
        return self._wakes_at(method.ratio.value) if method.constants else Wakes.none()

    def _wakes_at(self, ratio: float) -> Wakes:
        if ratio * float(self.device.wall.sum()) < TELLING_PART * float(self.cells.busy.sum()):
            return Wakes.none()  # a recorder that hardly slows a program puts none of its threads to sleep
        return induced_wakes(self.attribution, self._costs, self.device.at, ratio * self.device.wall_at)

    def woken(self, ratio: float) -> float:
        """What waking threads added to the whole window, ps, if op events cost so many tails."""
        return float(self._wakes_at(ratio).cost.sum())

    def wakes_of_steps(self, ratio: float, steps: list[Step]) -> np.ndarray:
        """float64[steps]: what waking threads added to each step, ps, if op events cost so many tails."""
        wakes = self._wakes_at(ratio)
        return _within(wakes.at, wakes.cost, steps)

    def _of_steps(
        self, method: Method, steps: list[Step], host: HostCost, wakes: Wakes, given: _Given
    ) -> np.ndarray:
        given_wakes = np.where(wakes.owner >= 0, given.device, given.idle) * wakes.cost
        removed = (
            given.device * method.ratio.value * self.device_units(steps)
            + given.host * _begun_within(host.at, host.wall_at, steps)
            + given.idle * self.waits_of_steps(method, steps)
            + _within(wakes.at, given_wakes, steps)
        )
        return np.clip(removed, 0, [step.end - step.start for step in steps])


@dataclass(frozen=True)
class _Given:
    """Which part of what was asked of them the cells of each kind could give; 0 where nothing was asked."""

    device: float
    host: float
    idle: float

    def missing(self, asked: tuple[float, float, float]) -> float:
        """What they could not give."""
        return sum((1.0 - part) * of for part, of in zip(self._parts, asked, strict=True))

    def completed(self, part: float) -> _Given:
        """The same after this part of what was missing has been found elsewhere."""
        return _Given(*(own + (1.0 - own) * part for own in self._parts))

    @property
    def _parts(self) -> tuple[float, float, float]:
        return self.device, self.host, self.idle


@dataclass(frozen=True)
class _Rest:
    """What host and idle time gave for others: all of it is doubtful there."""

    host: np.ndarray
    """float64[host owners, categories], ps."""
    idle: float

    def doubted(self, spread: Cells) -> Cells:
        """Half-widths with it."""
        host = np.asarray(np.rint(self.host), np.int64)
        return replace(
            spread,
            host_only=spread.host_only + host,
            host_self=spread.host_self + host,
            idle=spread.idle + round(self.idle),
        )


def _part(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _without(cells: np.ndarray, overhead: np.ndarray) -> np.ndarray:
    """Cells less their overhead; what one cannot give is taken from the others by their overhead."""
    time = cells.ravel().astype(np.float64)
    return subtract(time, overhead.ravel(), np.zeros(len(time))).reshape(cells.shape)


def _divided(time: np.ndarray, overhead: np.ndarray, total: float) -> np.ndarray:
    """The devices' parts of a total that was `sum(time)`: each less its share of the overhead."""
    removed = (time.sum() - total) * _shares(overhead)
    left = subtract(time.astype(np.float64), removed, np.zeros(len(time)))
    return left * _part(total, left.sum())


def _shares(amounts: np.ndarray) -> np.ndarray:
    total = float(amounts.sum())
    return amounts / total if total > 0 else np.full(len(amounts), 1.0 / max(len(amounts), 1))


def _within(at: np.ndarray, amount: np.ndarray, steps: list[Step]) -> np.ndarray:
    """What ended within each step."""
    return _between(at, amount, steps, "right")


def _begun_within(at: np.ndarray, amount: np.ndarray, steps: list[Step]) -> np.ndarray:
    """What began within each step, the step's own mark with it."""
    return _between(at, amount, steps, "left")


def _between(
    at: np.ndarray, amount: np.ndarray, steps: list[Step], side: Literal["left", "right"]
) -> np.ndarray:
    order = np.argsort(at, kind="stable")
    upto = np.append(0.0, np.cumsum(amount[order]))
    begin = np.searchsorted(at[order], [step.start for step in steps], side)
    end = np.searchsorted(at[order], [step.end for step in steps], side)
    return upto[end] - upto[begin]


def _cells(
    device_only: np.ndarray,
    overlap: np.ndarray,
    host_only: np.ndarray,
    idle: int,
    device_self: np.ndarray,
    host_self: np.ndarray,
    busy: np.ndarray,
    self_of_device: np.ndarray,
) -> Cells:
    """Whole picoseconds."""
    whole = [np.asarray(np.rint(each), np.int64) for each in (
        device_only, overlap, host_only, device_self, host_self, busy,
    )]  # fmt: skip
    return Cells(
        whole[0], whole[1], whole[2], idle, whole[3], whole[4], whole[5],
        rounded(self_of_device, int(whole[3].sum())),
    )  # fmt: skip
