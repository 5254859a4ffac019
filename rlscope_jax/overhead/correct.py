"""The corrected report of one process: the same rows, less what recording them cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rlscope_jax.attribution.attribute import Attribution
from rlscope_jax.breakdown.sweep import Cells
from rlscope_jax.breakdown.table import Table, partition, rows_of
from rlscope_jax.overhead.loops import in_cut_loops
from rlscope_jax.overhead.method import Method
from rlscope_jax.overhead.new_memory import NONE, NewMemory
from rlscope_jax.overhead.op_cost import op_costs
from rlscope_jax.overhead.removal import DeviceCost, HostCost, device_cost, host_cost, waits
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
    removed: int
    """From the wall time."""
    removed_spread: int
    steps: list[int]
    """What each step was lengthened by."""

    @property
    def total_spread(self) -> float:
        """Relative half-width of what is removed from a whole program."""
        return self.removed_spread / self.removed if self.removed else 0.0


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
        return _within(host.at, host.wall_at, steps) + self.waits_of_steps(method, steps)

    def waits_of_steps(self, method: Method, steps: list[Step]) -> np.ndarray:
        """float64[steps]: what waking up from waits added to each step, ps."""
        return _within(self.waits, np.full(len(self.waits), method.wait), steps)

    def host(self, method: Method) -> HostCost:
        """The host's part, ps."""
        # Where host events are left alone (the Python tracer, no constants) so is the memory they took.
        of_memory = method.ratio.value * self._memory.per_event if method.host_event else 0.0
        return host_cost(self.attribution, self.cells, method.host_event + of_memory, method.step)

    def correct(self, method: Method, steps: list[Step]) -> Correction:
        """Remove it all."""
        cells, device, ratio = self.cells, self.device, method.ratio.value
        host = self.host(method)
        wakes = self._wakes(ratio)
        waiting = len(self.waits) * method.wait
        looping = wakes.owner >= 0
        woken = np.bincount(wakes.owner[looping], wakes.cost[looping], len(device.wall))
        sleeping = float(wakes.cost[~looping].sum())
        asleep = min(sleeping + waiting, float(cells.idle))
        unsure = WAKE_SPREAD * sleeping + method.wait_spread * waiting
        critical = np.minimum(cells.host_only / np.maximum(cells.host_self, 1), 1.0)
        on_wall = (cells.device_only + cells.overlap).astype(np.float64)
        self_time = cells.device_self.astype(np.float64)
        part = np.divide(on_wall, self_time, out=np.zeros_like(on_wall), where=self_time > 0)
        floor = method.op_floor * device.count
        new_self = subtract(self_time, ratio * device.thread + woken, floor)
        new_wall = subtract(on_wall, ratio * device.wall + woken, floor * part)
        only = np.divide(cells.device_only, on_wall, out=np.zeros_like(on_wall), where=on_wall > 0)
        host_only = np.maximum(cells.host_only - host.thread * critical, 0)
        host_self = np.maximum(cells.host_self - host.thread, host_only)
        corrected = _cells(
            new_wall * only, new_wall * (1 - only), host_only, cells.idle - round(asleep), new_self,
            host_self,
            np.maximum(cells.busy - ratio * device.busy - woken.sum(), 0), self._of_device(new_self),
        )  # fmt: skip
        host_spread = method.host_spread * host.thread
        op_spread = method.op_spread * ratio
        spread = _cells(
            (op_spread * device.wall + ratio * device.doubt + WAKE_SPREAD * woken) * only,
            (op_spread * device.wall + ratio * device.doubt + WAKE_SPREAD * woken) * (1 - only),
            host_spread * critical, round(unsure), op_spread * device.thread, host_spread,
            method.ratio.relative * ratio * device.busy, self._of_device(op_spread * device.thread),
        )  # fmt: skip
        removed = cells.wall - corrected.wall
        total = method.ratio.relative * ratio * float(device.wall.sum()) + float(
            (host_spread * critical).sum()
        )
        return Correction(
            method,
            Table(rows_of(self.attribution, corrected), corrected),
            Table(rows_of(self.attribution, spread), spread),
            removed,
            round(total + ratio * float(device.doubt.sum()) + WAKE_SPREAD * float(woken.sum()) + unsure),
            [
                round(each)
                for each in self._of_steps(ratio, host, wakes, steps) + self.waits_of_steps(method, steps)
            ],
        )

    def _wakes(self, ratio: float) -> Wakes:
        if ratio * float(self.device.wall.sum()) < TELLING_PART * float(self.cells.busy.sum()):
            return Wakes.none()  # a recorder that hardly slows a program puts none of its threads to sleep
        return induced_wakes(self.attribution, self._costs, self.device.at, ratio * self.device.wall_at)

    def woken(self, ratio: float) -> float:
        """What waking threads added to the whole window, ps, if op events cost so many tails."""
        return float(self._wakes(ratio).cost.sum())

    def wakes_of_steps(self, ratio: float, steps: list[Step]) -> np.ndarray:
        """float64[steps]: what waking threads added to each step, ps, if op events cost so many tails."""
        wakes = self._wakes(ratio)
        return _within(wakes.at, wakes.cost, steps)

    def _of_steps(self, ratio: float, host: HostCost, wakes: Wakes, steps: list[Step]) -> np.ndarray:
        device = ratio * self.device_units(steps)
        return device + _within(host.at, host.wall_at, steps) + _within(wakes.at, wakes.cost, steps)

    def _of_device(self, of_owner: np.ndarray) -> np.ndarray:
        """Divide what each owner has among the devices, as its raw self time is divided."""
        cells = self.cells
        total = float(cells.device_self.sum())
        scale = float(of_owner.sum()) / total if total else 0.0
        return cells.self_of_device * scale


def _within(at: np.ndarray, amount: np.ndarray, steps: list[Step]) -> np.ndarray:
    order = np.argsort(at, kind="stable")
    upto = np.append(0.0, np.cumsum(amount[order]))
    begin = np.searchsorted(at[order], [step.start for step in steps], "right")
    end = np.searchsorted(at[order], [step.end for step in steps], "right")
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
