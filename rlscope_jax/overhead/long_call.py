"""Windows within one long call, anchored on the rest of it: what nobody recorded is time of the same work.

With T the whole call's time and W the windows', the call would take B = (T - sum W) / (1 - w) unprofiled, w
being the part of its work that the windows hold. Windows may be shorter than one iteration and its phases may
differ, so w is counted by work: of each op the windows tell what it takes on average, and the loops' trip
counts how often the call runs it. That sum, P, is what the whole call would take under the recorder.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np

from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.loops import CONTROL, Loops
from rlscope_jax.overhead.method import Method
from rlscope_jax.xla_events.hlo import HloModule, trip_count
from rlscope_jax.xla_events.nesting import flatten

LEAST_ITERATIONS = 2.0
"""Windows that hold fewer are asked for more: what none of them saw may be a part of each iteration."""
LEAST_WINDOWS, OFTEN, MOSTLY = 8, 10, 0.95
"""Then there must be so many, and of the time so much in ops that were seen so often."""
DOMINATES = 0.9
"""Of the call's time: what the loop must have in which iterations are counted."""
MOST_BLIND = 0.3
"""Of the windows: how long nothing may have been seen, for ops that an edge cuts leave no event."""
MOST_RECORDED = 0.8
"""Of the call: were more of it recorded, the rest would say little."""
_LATEST = 1 << 63  # unix ns: later instants, and longer times, were not written by our own capture
_ENDLESS = 1e21  # ps: no call computes for thirty years, whatever a program's trip counts say
_OF_RUN = 0.9  # of a window's device time: one run's
_FEW, _UNSTEADY = 3, 0.3  # so few windows do not tell how much they differ; then they may by that
_BLOCKS = 20  # of windows, left out one at a time
_COLLECTING_TAKES, _COLLECTING_DOUBT = 0.4, 0.3
"""Of the time that collecting takes beside the program, what that loses: nothing with a core to spare, about
0.7 where both shared one."""


@dataclass(frozen=True)
class Opened:
    """A window of a run, unix ns, and how long collecting it took."""

    start: int
    stop: int
    collecting: int = 0


@dataclass(frozen=True)
class Call:
    """When a long call began and ended, unix ns."""

    begin: int
    end: int
    doubt: int = 0
    """How far off its length may be."""
    stopped: int = 0
    """How long it stood still meanwhile."""

    def is_beside(self, window: Opened) -> bool:
        """Whether a window was open before it or after it, surely."""
        return window.stop <= self.begin - self.doubt or self.end + self.doubt <= window.start

    def part_of(self, window: Opened) -> int:
        """How long a window was open within it, ns."""
        return max(min(self.end, window.stop) - max(self.begin, window.start), 0)


@dataclass
class Held:
    """What one window holds of the run it saw most of; times in ps."""

    program: int
    run_id: int
    share: float
    """The run's part of the device's time."""
    extent: float
    """From the run's first event to its last."""
    devices: int
    module: HloModule | None
    ops: dict[str, np.ndarray] = field(default_factory=dict)
    """Instruction -> its events, their own time, their overhead in tails, and how long they lasted."""
    host: float = 0.0
    """What the host's events cost, by the machine's constants."""
    woken: float = 0.0
    """What waking threads cost, likewise."""


@dataclass(frozen=True)
class RestOfCall:
    """What the rest of a call says, per iteration of its outermost loop; times in ps."""

    iterations: float
    """Those that nobody recorded."""
    profiled: float
    """What one takes under the recorder."""
    base: float
    """What it takes without."""
    base_doubt: float
    doubt: float
    """Half-width of the difference."""
    units: float
    """Its op events' overhead, in tails."""
    host: float
    woken: float
    elsewhere: bool = False
    """Whether it is told of a window that does not lie in that call, but in the same run."""


def read_calls(sidecars: Sequence[dict]) -> list[Call]:
    """The calls of a run that have ended, as its latest window's description says."""
    told = [sidecar["calls"] for sidecar in sidecars if isinstance(sidecar.get("calls"), list)]
    return [call for values in max(told, key=len, default=[]) if (call := _read_call(values)) is not None]


def _read_call(values: object) -> Call | None:
    if not isinstance(values, dict):
        return None
    numbers = [values.get(name) for name in ("begin_unix_ns", "end_unix_ns", "doubt_ns", "stopped_ns")]
    whole = [number for number in numbers if _is_time(number)]
    if len(whole) < len(numbers):
        return None
    begin, end, doubt, stopped = whole
    return Call(begin, end, doubt, stopped) if begin < end and stopped < end - begin else None


def read_window(sidecar: dict) -> Opened | None:
    """When a window was open, as its description says."""
    window, collecting = sidecar.get("window"), sidecar.get("collecting_ns")
    if not isinstance(window, dict):
        return None
    start, stop = window.get("start_unix_ns"), window.get("stop_unix_ns")
    if not (_is_time(start) and _is_time(stop) and start < stop):
        return None
    return Opened(start, stop, collecting if _is_time(collecting) else 0)


def _is_time(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < _LATEST


def held_by(overhead: Overhead, known: Method | None) -> Held | None:
    """What a window holds; None where it holds no op of any run.

    Args:
        overhead: the window's.
        known: this machine's constants, where it is calibrated.
    """
    trace = overhead.attribution.trace
    lines, count = trace.op_lines, len(trace.runs)
    own = [_self_times(line.start, line.end) for line in lines]
    of_run = np.zeros(count)
    for line, time in zip(lines, own, strict=True):
        of_run += np.bincount(line.run, time, count)
    if not of_run.any():
        return None
    run = int(of_run.argmax())
    program = int(trace.runs.program[run])
    totals = np.zeros((4, len(trace.ops.name)))
    first, last, devices, place = np.inf, -np.inf, set(), 0
    for line, time in zip(lines, own, strict=True):
        mine = line.run == run
        tails = overhead.device.wall_at[place : place + len(mine)]
        place += len(mine)
        if not mine.any():
            continue
        first, last = min(first, float(line.start[mine].min())), max(last, float(line.end[mine].max()))
        devices.add(line.device)
        for row, weight in enumerate((np.ones(len(mine)), time, tails, line.end - line.start)):
            totals[row] += np.bincount(line.op[mine], weight[mine], totals.shape[1])
    seen = np.flatnonzero(totals[0])
    held = Held(
        program, int(trace.runs.run_id[run]), float(of_run[run] / of_run.sum()), last - first, len(devices),
        trace.programs.module(program), {trace.ops.name[op]: totals[:, op] for op in seen.tolist()},
    )  # fmt: skip
    if known is not None:
        held.host = float(overhead.host(known).wall_at.sum()) + len(overhead.waits) * known.wait
        held.woken = overhead.woken(known.ratio.value)
    return held


def _self_times(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    piece_start, piece_end, owner, _ = flatten(start, end)
    return np.bincount(owner, piece_end - piece_start, len(start))


def rest_of_call(
    call: Call,
    windows: Sequence[Opened],
    held: Sequence[tuple[Opened, Held | None]],
    beside: Collection[tuple[int, int]] = (),
) -> RestOfCall | str:
    """What the rest of a call says of its windows, or in words why it says nothing.

    Args:
        call: the call.
        windows: all windows of the run, whether their profiles have been read or not.
        held: those that were read and lie in the call, and what they hold.
        beside: the runs, (program, run id), that windows before and after it hold.
    """
    within = [one for one in held if call.begin <= one[0].start and one[0].stop <= call.end]
    told = [found for _, found in within if found is not None]
    if not told:
        return "no window lies wholly within it"
    runs = {(found.program, found.run_id) for found in told}
    if len(runs) > 1 or min(found.share for found in told) < _OF_RUN:
        return "the windows hold work of several calls"
    if not runs.isdisjoint(beside):  # it ran beside another one, and what was noted is the rest of it
        return "it was under way before it was seen to be, or after"
    if told[0].module is None:
        return "the profile does not hold its program"
    open_for = 1000.0 * sum(window.stop - window.start for window, _ in within)
    blind = 1 - sum(found.extent for found in told) / open_for
    if blind > MOST_BLIND:
        return f"in {100 * blind:.0f} % of its windows nothing was seen: ops that an edge cuts leave no event"
    loops = Loops(told[0].module)
    whole = _Whole.of(told, loops)
    if isinstance(whole, str):
        return whole
    # What lies before the first event of a window and after its last is no different from the rest.
    read = {window: found.extent for window, found in within if found is not None}
    recorded = sum(read.get(window, 1000.0 * call.part_of(window)) for window in windows)
    took = 1000.0 * (call.end - call.begin - call.stopped)
    collecting = 1000.0 * sum(window.collecting for window in windows if call.part_of(window))
    collecting = min(collecting, took / 2)
    took -= _COLLECTING_TAKES * collecting
    if recorded > MOST_RECORDED * whole.profiled or took <= recorded:
        return "hardly anything of it lies outside of the windows"
    iterations, unseen = whole.part * whole.inner, 0.0
    if iterations < LEAST_ITERATIONS:
        unseen = whole.profiled / len(told)  # a larger part would have been seen by some window, most likely
        if len(told) < LEAST_WINDOWS or whole.often < MOSTLY:
            return (
                f"the windows hold {iterations:.1f} iterations of its loop, {LEAST_ITERATIONS:.0f} say enough"
            )
    base = whole.base(took, recorded)
    base_doubt = base * (1000.0 * call.doubt + _COLLECTING_DOUBT * collecting) / took
    n = whole.outer
    doubt = math.hypot(_sampling_doubt(told, loops, took, recorded, whole), base_doubt, unseen)
    return RestOfCall(
        iterations=n * (1 - recorded / whole.profiled),
        profiled=whole.profiled / n,
        base=base / n,
        base_doubt=base_doubt / n,
        doubt=doubt / n,
        units=whole.units / n,
        host=whole.host / n,
        woken=whole.woken / n,
    )


@dataclass(frozen=True)
class _Whole:
    """What the whole call comes to, from what some windows hold; times in ps."""

    profiled: float
    units: float
    part: float
    """How much of the call's work the windows hold."""
    outer: float
    """Iterations of its outermost loop."""
    inner: float
    """Iterations of the innermost loop that still dominates it."""
    often: float
    """The part of its time in ops that were seen often."""
    host: float
    woken: float

    def base(self, took: float, recorded: float) -> float:
        """What the call would have taken without the windows."""
        return (took - recorded) / (1 - recorded / self.profiled)

    @staticmethod
    def of(held: Sequence[Held], loops: Loops) -> _Whole | str:
        """Extrapolate by the loops' trip counts."""
        seen = _Seen(held, loops)
        times = loops.executions(seen.rate)
        missing = seen.missing(times)
        if missing is not None:
            return missing
        per_op = {name: times[seen.computation[name]] / float(row[0]) for name, row in seen.ops.items()}
        time = {name: float(row[1]) * per_op[name] for name, row in seen.ops.items()}
        all_time = sum(time.values())
        if not all_time < _ENDLESS:
            return "its loops would run for ever, by the trip counts that the profile holds"
        nest = _dominating(loops, seen, time, all_time)
        if not nest or not all_time:
            return "no loop of known trip count has nine tenths of its time"
        part = sum(float(row[1]) for row in seen.ops.values()) / all_time / max(one.devices for one in held)
        unseen = seen.unseen_loop(times, times[nest[0]], part)
        if unseen is not None:
            return f"no window saw anything of {unseen}, a loop within it"
        units = sum(float(row[2]) * per_op[name] for name, row in seen.ops.items())
        return _Whole(
            profiled=sum(one.extent for one in held) / part,
            units=units * max(one.devices for one in held),
            part=part,
            outer=times[nest[0]],
            inner=times[nest[-1]],
            often=sum(each for name, each in time.items() if seen.ops[name][0] >= OFTEN) / all_time,
            host=sum(one.host for one in held) / part,
            woken=sum(one.woken for one in held) / part,
        )


class _Seen:
    """The events of some windows by instruction."""

    def __init__(self, held: Sequence[Held], loops: Loops) -> None:
        self._loops = loops
        self._seen: dict[int, bool] = {}
        self._extents = np.array([one.extent for one in held])
        self.ops: dict[str, np.ndarray] = {}
        for one in held:
            for name, row in one.ops.items():
                self.ops[name] = self.ops.get(name, 0) + row
        self.computation = {
            instruction.name: computation
            for computation, instructions in loops.of.items()
            for instruction in instructions
        }

    def rate(self, computation: int) -> float | None:
        """How often a computation ran per time recorded.

        An op is seen only where it lies wholly within a window: long ones have less time to be seen in.
        """
        if computation == self._loops.entry:
            return None
        events = room = 0.0
        for instruction in self._loops.of.get(computation, []):
            row = self.ops.get(instruction.name)
            if row is not None and instruction.opcode not in CONTROL:
                events += float(row[0])
                room += float(np.maximum(self._extents - row[3] / row[0], 0).sum())
        if room:
            return events / room
        for instruction in self._loops.of.get(computation, []):
            trips = trip_count(instruction) if instruction.opcode == "while" else None
            if trips and instruction.called:
                return (self.rate(instruction.called[0]) or 0.0) / trips
        return 0.0 if not self._sees(computation) else None

    def missing(self, times: dict[int, float]) -> str | None:
        """What stands against extrapolating, in words."""
        for name in self.ops:
            if self.computation.get(name) not in times:
                return f"how often {name} runs is not known: a loop around it has no known trip count"
        return None

    def unseen_loop(self, times: dict[int, float], outer: float, part: float) -> str | None:
        """A loop of which no window saw anything, though it runs in every iteration of the outermost one.

        Where so much was seen around it that it must have been too, it leaves no events: XLA made one op of
        it. One that runs before or after the outermost loop matters little.
        """
        for computation, instructions in self._loops.of.items():
            if times.get(computation, 0) < outer or part * times[computation] >= OFTEN:
                continue
            for loop in instructions:
                if loop.opcode != "while" or not trip_count(loop) or loop.name in self.ops:
                    continue
                if not any(map(self._sees, loop.called)) and self._leaves_events(loop.called):
                    return loop.name
        return None

    def _sees(self, computation: int) -> bool:
        if computation not in self._seen:  # of a computation that many call it is asked once
            self._seen[computation] = any(
                instruction.name in self.ops
                or (instruction.opcode in CONTROL and any(map(self._sees, instruction.called)))
                for instruction in self._loops.of.get(computation, [])
            )
        return self._seen[computation]

    def _leaves_events(self, computations: Sequence[int]) -> bool:
        return any(
            instruction.opcode not in _SILENT
            for computation in computations
            for instruction in self._loops.of.get(computation, [])
        )


_SILENT = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "compare", "add"})


def _dominating(loops: Loops, seen: _Seen, time: dict[str, float], whole: float) -> list[int]:
    """The bodies of the static loops, one within the other, that have nine tenths of the time each."""
    below: dict[int, float] = {}

    def of(computation: int) -> float:
        if computation not in below:
            below[computation] = sum(
                time.get(one.name, 0.0) + (sum(map(of, one.called)) if one.opcode in CONTROL else 0.0)
                for one in loops.of.get(computation, [])
            )
        return below[computation]

    found: list[int] = []
    at: int | None = loops.entry
    while at is not None:
        around, at = at, None
        for one in loops.of.get(around, []):
            if one.opcode != "call" and (one.opcode != "while" or trip_count(one) is None):
                continue
            heavy = [called for called in one.called if of(called) >= DOMINATES * whole]
            if heavy:
                at = heavy[0]
                found += heavy[:1] if one.opcode == "while" else []
    return found


def _sampling_doubt(held: Sequence[Held], loops: Loops, took: float, recorded: float, whole: _Whole) -> float:
    """Half-width of what the windows say of a call's overhead: how much it depends on each of them."""
    if len(held) < _FEW:
        return _UNSTEADY * whole.profiled
    blocks = [list(range(place, len(held), _BLOCKS)) for place in range(min(len(held), _BLOCKS))]
    values = []
    for block in blocks:
        left = [one for place, one in enumerate(held) if place not in block]
        without = _Whole.of(left, loops)
        if isinstance(without, str) or recorded >= without.profiled or not without.units:
            return _UNSTEADY * whole.profiled  # it hangs on a single window
        values.append((without.profiled - without.base(took, recorded)) / without.units)
    count = len(values)
    error = math.sqrt((count - 1) / count * float(np.square(np.array(values) - np.mean(values)).sum()))
    # Nine in ten: 1.64 errors, more where so few windows tell the error itself.
    return 1.64 * (1 + 1.5 / (count - 1)) * error * whole.units
