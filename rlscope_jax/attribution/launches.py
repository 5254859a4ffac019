"""On an accelerator an op does not say its run; the host call it was launched in does."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from rlscope_jax.attribution.host import HostActivity
from rlscope_jax.attribution.placement import parse_function
from rlscope_jax.attribution.runs import Dispatch
from rlscope_jax.names import plain
from rlscope_jax.xla_events.op_table import distinct
from rlscope_jax.xla_events.trace import Runs, Trace


def runs_by_launch(trace: Trace, activities: list[HostActivity], dispatches: list[Dispatch]) -> Trace:
    """Give each launched op the run of the dispatch its launch lies in, and tie the dispatch to it.

    A launch lies in the latest call of its own function that was open when it was made; one that names no
    program (a library's kernel) in the latest call of any. Ops without a launch, and launches outside any
    call, keep the one unnumbered run of their program.
    """
    if len(trace.launches.correlation) == 0:
        return trace
    calls = _Calls(activities, dispatches)
    made = len(trace.runs)
    tied: set[int] = set()
    program, module, run_of = list(trace.runs.program), list(trace.runs.module), {}
    op_lines = []
    for line in trace.op_lines:
        run = line.run.copy()
        launch = np.full(len(run), -1) if line.launch is None else line.launch
        launched = np.flatnonzero(launch >= 0)
        for unnumbered in np.unique(run[launched]).tolist():
            events = launched[run[launched] == unnumbered]
            call = calls.around(trace.runs.module[unnumbered], trace.launches.start[launch[events]])
            for number in np.unique(call[call >= 0]).tolist():
                key = (number, unnumbered)
                if key not in run_of:
                    run_of[key] = len(program)
                    program.append(trace.runs.program[unnumbered])
                    module.append(trace.runs.module[unnumbered])
                    if number not in tied:  # until now it could at best be tied to all of its program's runs
                        dispatches[number].run = run_of[key]
                        tied.add(number)
                run[events[call == number]] = run_of[key]
        first, kind = distinct(line.kind, run)
        kind_op = line.kind_op[line.kind[first]]
        op_lines.append(replace(line, kind=kind.astype(np.int32), kind_op=kind_op, kind_run=run[first]))
    run_id = np.concatenate([trace.runs.run_id, np.arange(len(program) - made)])
    runs = Runs.untimed(np.array(program, np.int64), run_id, module)
    trace = replace(trace, runs=runs, op_lines=op_lines)
    trace.set_run_times()
    return trace


_ANY = "*"  # no function's name


class _Calls:
    """The dispatches, by function, to be looked up by time."""

    def __init__(self, activities: list[HostActivity], dispatches: list[Dispatch]) -> None:
        grouped: dict[str | None, list[int]] = defaultdict(list)
        for number in sorted(range(len(dispatches)), key=lambda number: dispatches[number].start):
            dispatch = dispatches[number]
            grouped[None if dispatch.function is None else plain(dispatch.function)].append(number)
        end = [activities[dispatch.thread].thread.end[dispatch.event] for dispatch in dispatches]
        every = sorted(range(len(dispatches)), key=lambda number: dispatches[number].start)
        if every:
            grouped[_ANY] = every
        self._groups = {
            function: (
                np.array(numbers, np.int64),
                np.array([dispatches[number].start for number in numbers], np.int64),
                np.array([end[number] for number in numbers], np.int64),
            )
            for function, numbers in grouped.items()
        }

    def around(self, module: str, at: np.ndarray) -> np.ndarray:
        """The dispatch each instant lies in, of the module's function or of an unknown one; -1 for none."""
        found = np.full(len(at), -1, np.int64)
        for function in (plain(parse_function(module)), None) if module else (_ANY,):
            if function not in self._groups:
                continue
            numbers, start, end = self._groups[function]
            place = np.maximum(np.searchsorted(start, at, "right") - 1, 0)
            inside = (start[place] <= at) & (at <= end[place]) & (found < 0)
            found[inside] = numbers[place[inside]]
        return found
