"""Give every device op and every piece of host time its operation."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rlscope_jax.attribution import device_category, host_names
from rlscope_jax.attribution.compiles import Compile, compiles_of_programs
from rlscope_jax.attribution.functions import namesakes_of
from rlscope_jax.attribution.host import HostActivity, Paths, is_program_thread, of_piece, read_thread
from rlscope_jax.attribution.launches import runs_by_launch
from rlscope_jax.attribution.placement import (
    ModulePlacements,
    Placement,
    parse_function,
    place_op_name,
)
from rlscope_jax.attribution.runs import Dispatch, link_runs
from rlscope_jax.names import join
from rlscope_jax.xla_events.nesting import nearest
from rlscope_jax.xla_events.trace import HostThread, Trace

UNATTRIBUTED, IDLE, STARTUP = "(unattributed)", "(idle)", "(startup)"


class Share(NamedTuple):
    """The part of an op that is one operation's."""

    path: str
    direction: str | None
    kind: str
    evidence: str
    weight: int


@dataclass(frozen=True)
class DeviceOwner:
    """An op as one operation ran it, or several (a fusion): what a piece of device time belongs to."""

    op: int
    shares: tuple[Share, ...]
    """Heaviest first."""
    category: int
    control: bool

    @property
    def main(self) -> Share:
        """The operation that has most of it."""
        return self.shares[0]

    def divide(self, time: int) -> list[tuple[Share, int]]:
        """Divide a time among the shares by their weight: to the unit, the parts sum to it."""
        whole, before, parts = sum(share.weight for share in self.shares), 0, []
        for share in self.shares:
            after = before + share.weight
            parts.append((share, time * after // whole - time * before // whole))
            before = after
        return parts


@dataclass
class Attribution:
    """Who owns what. Host owners are path numbers; see `host_pieces` for the others."""

    trace: Trace
    """The trace, its runs told apart by the calls that launched them."""
    owners: list[DeviceOwner]
    kind_owner: list[np.ndarray]
    """Per op line: the device owner of each kind of event, -1 for a kind that did not run there."""
    op_owner: list[np.ndarray]
    """Per op line: the device owner of each event."""
    activities: list[HostActivity]
    paths: Paths
    dispatches: list[Dispatch]
    run_thread: np.ndarray
    """Per run: the thread that dispatched it, an index into `activities`; -1 unknown."""
    functions: dict[int, str]
    """Per program: the function it was compiled from."""
    compiles: dict[int, list[Compile]]
    """Per program: its compilations within the window."""


def attribute(trace: Trace, grouping: str = "auto") -> Attribution:
    """Place every op of a trace: by its program's marks, scopes and functions, joined with the host's path.

    Args:
        trace: what was recorded.
        grouping: one of `placement.GROUPINGS`.
    """
    paths = Paths()
    activities = [read_thread(thread, paths) for thread in trace.host_threads]
    active = [activity for activity in activities if is_program_thread(activity)]
    dispatches = link_runs(trace, active)
    trace = runs_by_launch(trace, active, dispatches)
    modules = {
        program: module
        for program in np.unique(trace.ops.program).tolist()
        if (module := trace.programs.module(program)) is not None
    }
    met = (ModulePlacements(module, grouping).definitions for module in modules.values())
    namesakes = namesakes_of(set().union(*met))
    placements = {
        program: ModulePlacements(module, grouping, namesakes) for program, module in modules.items()
    }
    run_path, run_thread = _run_context(trace, active, dispatches, placements, paths)
    _charge_root_marks(active, dispatches, trace, placements, paths)
    placer = _Placer(trace, placements, paths, run_path, grouping)
    owners, kind_owner = _device_owners(trace, placer, len(paths.text), run_path)
    op_owner = [of_kind[line.kind] for of_kind, line in zip(kind_owner, trace.op_lines, strict=True)]
    functions = {
        program: placements[program].function if program in placements else parse_function(module)
        for program, module in zip(trace.runs.program.tolist(), trace.runs.module, strict=True)
    }
    return Attribution(
        trace, owners, kind_owner, op_owner, active, paths, dispatches, run_thread, functions,
        compiles_of_programs(trace, active),
    )  # fmt: skip


def _run_context(
    trace: Trace,
    activities: list[HostActivity],
    dispatches: list[Dispatch],
    placements: dict[int, ModulePlacements],
    paths: Paths,
) -> tuple[np.ndarray, np.ndarray]:
    """Per run: the host path and the thread it was dispatched from (0 and -1 when unknown).

    What a callback calls is called by the operation whose program called back.
    """
    inline = [nearest(activity.parent, activity.thread.op >= 0) for activity in activities]
    path = np.zeros(len(trace.runs), np.int64)
    thread = np.full(len(trace.runs), -1, np.int64)
    disputed: set[int] = set()
    for dispatch in sorted(dispatches, key=lambda dispatch: dispatch.start):
        if dispatch.run < 0:
            continue
        activity = activities[dispatch.thread]
        called_from = activity.event_path[dispatch.event]
        callback = inline[dispatch.thread][dispatch.event]
        if called_from == 0 and callback >= 0:
            op, run = int(activity.thread.op[callback]), int(activity.thread.run[callback])
            placed = placements.get(int(trace.ops.program[op]))
            if placed is not None:
                called_from = _callers_path(placed.shares(trace.ops.name[op])[0][0], int(path[run]), paths)
                activity.charged[activity.execute_root[dispatch.event]] = called_from
        if thread[dispatch.run] >= 0 and path[dispatch.run] != called_from:
            disputed.add(dispatch.run)
        path[dispatch.run] = called_from
        thread[dispatch.run] = dispatch.thread
    # Where the profile cannot tell a program's executions apart, several operations may have called for one.
    path[list(disputed)] = 0
    return path, thread


def _callers_path(placed: Placement, outer: int, paths: Paths) -> int:
    """The number of the path of an op that calls back, run under the host path `outer`."""
    full = join(paths.text[outer], placed.path)
    return paths.number(full, placed.kind or paths.kind[outer]) if full else 0


def _charge_root_marks(
    activities: list[HostActivity],
    dispatches: list[Dispatch],
    trace: Trace,
    placements: dict[int, ModulePlacements],
    paths: Paths,
) -> None:
    """A call made under no host operation is charged to its program's single root mark, if it has one."""
    for number, activity in enumerate(activities):
        charged = activity.charged
        for dispatch in dispatches:
            if dispatch.thread != number or dispatch.run < 0 or activity.event_path[dispatch.event] != 0:
                continue
            if charged[activity.execute_root[dispatch.event]] != 0:
                continue  # a callback's
            placed = placements.get(int(trace.runs.program[dispatch.run]))
            if placed is not None and placed.root_mark is not None:
                charged[activity.execute_root[dispatch.event]] = paths.number(placed.root_mark, "mark")
        call = of_piece(activity.execute_root, activity.piece_event, -1)
        free = (call >= 0) & (activity.piece_path == 0)
        activity.piece_path = np.where(free, charged[call], activity.piece_path).astype(np.int32)


def _device_owners(
    trace: Trace, placer: _Placer, count: int, run_path: np.ndarray
) -> tuple[list[DeviceOwner], list[np.ndarray]]:
    # The distinct (op, host path) met: few, however many the events.
    used = [np.bincount(line.kind, minlength=len(line.kind_op)) > 0 for line in trace.op_lines]
    keys = [
        line.kind_op[chosen].astype(np.int64) * count + run_path[line.kind_run[chosen]]
        for line, chosen in zip(trace.op_lines, used, strict=True)
    ]
    distinct, number = np.unique(np.concatenate([*keys, np.zeros(0, np.int64)]), return_inverse=True)
    owners = [placer.owner(*divmod(key, count)) for key in distinct.tolist()]
    kind_owner, begin = [], 0
    for chosen in used:
        of_kind = np.full(len(chosen), -1, np.int32)
        of_kind[chosen] = number[begin : begin + int(chosen.sum())]
        begin += int(chosen.sum())
        kind_owner.append(of_kind)
    return owners, kind_owner


class _Placer:
    """Places an op as one host path called it."""

    def __init__(
        self,
        trace: Trace,
        placements: dict[int, ModulePlacements],
        paths: Paths,
        run_path: np.ndarray,
        grouping: str,
    ) -> None:
        self._trace, self._placements, self._paths, self._grouping = trace, placements, paths, grouping
        programs: dict[int, set[str]] = defaultdict(set)
        for path, module in zip(run_path.tolist(), trace.runs.module, strict=True):
            programs[path].add(module)
        self._calls_one_program = {path for path, modules in programs.items() if len(modules) == 1}

    def owner(self, op: int, path: int) -> DeviceOwner:
        """The owner of the op (a row of `Ops`) run under a host path (its number)."""
        trace = self._trace
        program, name = int(trace.ops.program[op]), trace.ops.name[op]
        instruction = trace.programs.instruction(program, name)
        if instruction is None:
            placed = [(place_op_name(trace.ops.op_path[op], self._grouping), 1)]
        else:
            placed = self._placements[program].shares(name)
        return DeviceOwner(
            op=op,
            shares=tuple(self._share(placement, weight, path) for placement, weight in placed),
            category=device_category.device_category(instruction, trace.ops.kernel[op] or name),
            control=instruction is not None and instruction.opcode in ("while", "conditional", "call"),
        )

    def _share(self, placed: Placement, weight: int, path: int) -> Share:
        host_path, host_kind = self._paths.text[path], self._paths.kind[path]
        inner = placed.path
        if placed.kind == "function" and host_path and path in self._calls_one_program:
            # An operation that calls one function needs no second name for it.
            inner = inner.partition("/")[2]
        if inner and placed.kind is not None:
            full = join(host_path, inner)
            return Share(full, placed.direction, placed.kind, placed.evidence, weight)
        if host_path:
            return Share(host_path, placed.direction, host_kind, "host", weight)
        return Share(UNATTRIBUTED, placed.direction, "special", "none", weight)


@dataclass
class HostPieces:
    """One lane of host time; `owner` is a path number, or `first_device_owner` + a device owner."""

    start: np.ndarray
    end: np.ndarray
    owner: np.ndarray
    category: np.ndarray


def host_pieces(attribution: Attribution, first_device_owner: int) -> list[HostPieces]:
    """Host time lane by lane: the program's threads, then the workers that run host callbacks.

    Time inside an op that runs on the thread itself belongs to that op: inline, or a callback.
    """
    trace = attribution.trace
    thread_number = {id(thread): number for number, thread in enumerate(trace.host_threads)}
    is_call = np.array(
        [owner.category == device_category.HOST_CALL for owner in attribution.owners] + [False], bool
    )
    lanes = []
    for number, activity in enumerate(attribution.activities):
        owner, category = activity.piece_path.astype(np.int64), activity.piece_category
        op_owner = _inline_owners(attribution, thread_number[id(activity.thread)], activity.thread)
        if op_owner is not None:
            around = nearest(activity.parent, activity.thread.op >= 0)
            device_owner = op_owner[of_piece(around, activity.piece_event, -1)]
            within = device_owner >= 0
            owner = np.where(within, first_device_owner + device_owner, owner)
            running = np.where(is_call[device_owner], host_names.CALLBACK, host_names.INLINE)
            category = np.where(within, running, category)
        lane = HostPieces(activity.piece_start, activity.piece_end, owner, category)
        lanes.append(_infer_waits(lane, *_extents(trace, attribution.run_thread == number)))
    return lanes


def _extents(trace: Trace, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When the device was on any of these runs, from first op to last: disjoint intervals in order."""
    order = np.flatnonzero(chosen)[np.argsort(trace.runs.start[chosen], kind="stable")]
    start, end = trace.runs.start[order], np.maximum.accumulate(trace.runs.end[order])
    if len(order) == 0:
        return start, end
    first = np.append(True, start[1:] > end[:-1])
    return start[first], end[np.append(first[1:], True)]


def _infer_waits(lane: HostPieces, start: np.ndarray, end: np.ndarray) -> HostPieces:
    """A thread that records nothing while the device is on its work is taken to wait for it."""
    cuts = np.setdiff1d(np.concatenate([start, end]), np.concatenate([lane.start, lane.end]))
    place = np.searchsorted(lane.start, cuts, "right") - 1
    inside = (place >= 0) & (cuts < lane.end[np.maximum(place, 0)]) if len(lane.start) else np.zeros(0, bool)
    cuts, place = cuts[inside], place[inside]
    piece = np.sort(np.concatenate([np.arange(len(lane.start)), place]), kind="stable")
    begin = np.sort(np.concatenate([lane.start, cuts]))
    finish = np.sort(np.concatenate([lane.end, cuts]))
    if len(start):
        run = np.searchsorted(start, begin, "right") - 1
        on_it = (run >= 0) & (begin < end[np.maximum(run, 0)])
    else:
        on_it = np.zeros(len(begin), bool)
    category = lane.category[piece]
    category = np.where(on_it & (category == host_names.PYTHON), host_names.WAIT_INFERRED, category)
    return HostPieces(begin, finish, lane.owner[piece], category)


def _inline_owners(attribution: Attribution, number: int, thread: HostThread) -> np.ndarray | None:
    """The device owner of each event that is an op run inline here (-1 else); None when none is."""
    # A thread's ops stand on one op line for each device, all of the same kinds.
    here = [place for place, line in enumerate(attribution.trace.op_lines) if line.thread == number]
    if not here:
        return None
    of_kind = np.maximum.reduce([attribution.kind_owner[place] for place in here])
    return np.append(np.where(thread.kind >= 0, of_kind[thread.kind], -1), -1)
