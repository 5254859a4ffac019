"""Which host call enqueued each execution of a program."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from rlscope_jax.attribution.host import HostActivity
from rlscope_jax.attribution.placement import parse_function
from rlscope_jax.names import EDGE_NAME, plain
from rlscope_jax.xla_events.trace import HostThread, OpLine, Trace

_CONTROL = frozenset({"while", "conditional", "call"})


@dataclass
class Dispatch:
    """One call that enqueued a program on a device."""

    thread: int
    event: int
    start: int
    function: str | None
    run: int = -1


def link_runs(trace: Trace, activities: list[HostActivity]) -> list[Dispatch]:
    """Every dispatch of the profile, tied to the run it enqueued where that can be told.

    By launch, never by coincidence in time: ops that ran inline inside the call; else the flow id that
    the call handed to a worker; else the order of the calls and of the runs of the same function.
    """
    dispatches = [
        Dispatch(number, int(event), int(activity.thread.start[event]), function)
        for number, activity in enumerate(activities)
        for event, function in zip(activity.executes, activity.function, strict=True)
    ]
    by_event = {(dispatch.thread, dispatch.event): dispatch for dispatch in dispatches}
    taken: set[int] = set()
    for number, activity in enumerate(activities):
        _link_inline(number, activity, by_event, taken)
    _link_flows(trace, activities, by_event, taken)
    _link_in_order(trace, dispatches, taken)
    _link_by_function(trace, dispatches)
    return dispatches


def unfinished(trace: Trace, dispatches: list[Dispatch]) -> int:
    """How many calls the window closed upon: those after the last that shows work, and that one if cut.

    An earlier call without any was done all the same: some programs have nothing to do.
    """
    answered = max((dispatch.start for dispatch in dispatches if dispatch.run >= 0), default=-1)
    silent = sum(dispatch.start > answered for dispatch in dispatches)
    return silent + min(_cut_runs(trace), len(dispatches) - silent)


def _cut_runs(trace: Trace) -> int:
    """Runs that the window closed upon: a worker is still at its task, and a loop of the program has no end.

    An op leaves its event when it ends. A worker may be at its task for a while after its last op; where our
    own capture waited for the device before it stopped, what is missing is only not written down yet.
    """
    if any(_waited_at_the_edge(thread) for thread in trace.host_threads):
        return 0
    cut = {worker.name for worker in trace.workers if worker.cut}
    found = set()
    for line in trace.op_lines:
        if line.name not in cut or len(line.start) == 0:
            continue
        run = int(line.run[np.argmax(line.end)])
        module = trace.programs.module(int(trace.runs.program[run]))
        if module is None:
            continue
        ended = {trace.ops.name[op] for op in np.unique(line.op[line.run == run]).tolist()}
        loops = {
            instruction.name
            for instruction in module.instructions
            if instruction.opcode in _CONTROL and instruction.computation == module.entry
        }
        if loops - ended:
            found.add(run)
    return len(found)


def _waited_at_the_edge(thread: HostThread) -> bool:
    edges = [number for number, name in enumerate(thread.event_names) if name == EDGE_NAME]
    return bool(np.isin(thread.event, edges).any())


def _link_inline(number: int, activity: HostActivity, by_event: dict, taken: set[int]) -> None:
    executes = np.zeros(len(activity.parent), bool)
    executes[activity.executes] = True
    for event in np.flatnonzero(activity.thread.run >= 0):
        above = activity.parent[event]
        while above >= 0 and not executes[above]:
            above = activity.parent[above]
        if above >= 0:
            _tie(by_event[number, int(above)], int(activity.thread.run[event]), taken)


def _link_flows(trace: Trace, activities: list[HostActivity], by_event: dict, taken: set[int]) -> None:
    begun = _regions(trace)
    if not begun:
        return
    for number, activity in enumerate(activities):
        handed = activity.thread.handed
        starts = activity.thread.start[activity.executes]
        ends = activity.thread.end[activity.executes]
        place = np.searchsorted(starts, handed.at, "right") - 1
        for flow, when, which in zip(handed.id.tolist(), handed.at.tolist(), place.tolist(), strict=True):
            run = begun.get(flow)
            if which >= 0 and when <= ends[which] and run is not None:
                dispatch = by_event[number, int(activity.executes[which])]
                if dispatch.run < 0 and _same_function(dispatch.function, trace.runs.module[run]):
                    _tie(dispatch, run, taken)


def _regions(trace: Trace) -> dict[int, int]:
    """Flow id of each task a worker began -> the first run it worked on."""
    lines: dict[str, list[OpLine]] = defaultdict(list)
    for op_line in trace.op_lines:
        lines[op_line.name].append(op_line)
    begun: dict[int, int] = {}
    for worker in trace.workers:
        order = np.argsort(worker.begun.at, kind="stable")
        at, flows = worker.begun.at[order], worker.begun.id[order]
        limits = np.append(at[1:], np.iinfo(np.int64).max)
        for op_line in lines[worker.name]:
            run = op_line.run
            first = np.searchsorted(op_line.start, at)
            for flow, op, limit in zip(flows.tolist(), first.tolist(), limits.tolist(), strict=False):
                if op < len(run) and op_line.start[op] < limit:
                    begun.setdefault(flow, int(run[op]))
    return begun


def _link_in_order(trace: Trace, dispatches: list[Dispatch], taken: set[int]) -> None:
    runs_of: dict[str, list[int]] = defaultdict(list)
    for run in np.argsort(trace.runs.start, kind="stable"):
        if int(run) not in taken:
            runs_of[plain(parse_function(trace.runs.module[run]))].append(int(run))
    calls_of: dict[str, list[Dispatch]] = defaultdict(list)
    for dispatch in sorted(dispatches, key=lambda dispatch: dispatch.start):
        if dispatch.run < 0 and dispatch.function is not None:
            calls_of[plain(dispatch.function)].append(dispatch)
    for function, runs in runs_of.items():
        calls = iter(calls_of.get(function, []))
        call = next(calls, None)
        for run in runs:
            if call is None:
                break
            # A run that began before the first call was enqueued before the window opened.
            if call.start <= trace.runs.start[run]:
                _tie(call, run, taken)
                call = next(calls, None)


def _link_by_function(trace: Trace, dispatches: list[Dispatch]) -> None:
    """Before jax 0.8 ops do not say their run: all executions of a program are one, whoever called it."""
    unnumbered = {
        plain(parse_function(trace.runs.module[run])): int(run)
        for run in np.flatnonzero(trace.runs.run_id == -1)
    }
    for dispatch in dispatches:
        if dispatch.run < 0 and dispatch.function is not None:
            dispatch.run = unnumbered.get(plain(dispatch.function), -1)


def _tie(dispatch: Dispatch, run: int, taken: set[int]) -> None:
    if dispatch.run < 0:
        dispatch.run = run
        taken.add(run)


def _same_function(function: str | None, module: str) -> bool:
    return function is None or plain(function) == plain(parse_function(module))
