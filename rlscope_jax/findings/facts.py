"""What the rules may know of one process: the report's numbers, and who called what when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rlscope_jax.attribution import host_names
from rlscope_jax.attribution.attribute import UNATTRIBUTED, Attribution
from rlscope_jax.findings.graph import Graph
from rlscope_jax.findings.source import is_users
from rlscope_jax.xla_events.hlo import HloModule, Instruction
from rlscope_jax.xla_events.nesting import nearest
from rlscope_jax.xla_events.trace import Trace

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Process

Row = dict[str, Any]
"""One of the report's operations."""


@dataclass(frozen=True)
class Call:
    """One dispatch, and the call of a jitted function it came from; times in ps."""

    function: str | None
    program: int
    """-1 where the profile does not tell what it ran."""
    run: int
    path: str
    """The operation it is charged to."""
    start: int
    end: int
    compiled: bool
    """Whether this call compiled what it ran."""
    through_python: bool
    """Whether jax's Python code dispatched it, rather than its C++ fast path."""


@dataclass(frozen=True)
class Compilation:
    """One compilation with its tracing and lowering, ps."""

    function: str
    program: int
    """What the same call ran then; -1 where that is not known."""
    path: str
    step: int | None
    """The training step it fell into, where steps are marked."""
    start: int
    end: int

    @property
    def time(self) -> int:
        """How long it took."""
        return self.end - self.start


@dataclass(frozen=True)
class OpTime:
    """What one instruction took in this process, ps."""

    path: str
    events: int
    self_time: int
    wall: int
    """Its part of the window."""


class Facts:
    """One process of a report."""

    def __init__(self, data: Mapping[str, Any], number: int, process: Process) -> None:
        self.data, self.process = data, process
        self.rows: list[Row] = [row for row in data["operations"] if row["process"] == number]
        self.wall = time(data["totals"]["wall"])
        self._graphs: dict[int, Graph] = {}

    @property
    def attribution(self) -> Attribution:
        """Who owns what."""
        return self.process.attribution

    @property
    def trace(self) -> Trace:
        """What was recorded."""
        return self.attribution.trace

    def module(self, program: int) -> HloModule | None:
        """The HLO of a program, where the capture holds it."""
        return self.trace.programs.module(program)

    def graph(self, program: int) -> Graph:
        """Where the instructions of a program stand.

        Raises:
            KeyError: the capture does not hold its HLO.
        """
        if program not in self._graphs:
            module = self.module(program)
            if module is None:
                raise KeyError(program)
            self._graphs[program] = Graph(module)
        return self._graphs[program]

    def function(self, program: int) -> str:
        """The function a program was compiled from."""
        return self.attribution.functions.get(program, "")

    @cached_property
    def program_names(self) -> dict[int, str]:
        """The XLA module's name of every program that ran."""
        return dict(zip(self.trace.runs.program.tolist(), self.trace.runs.module, strict=True))

    @cached_property
    def device_time(self) -> dict[int, int]:
        """Device self time of every program that ran, ps."""
        found: dict[int, int] = defaultdict(int)
        for (program, _), times in self.op_times.items():
            found[program] += sum(one.self_time for one in times)
        return found

    @cached_property
    def runs(self) -> dict[int, int]:
        """How often every program ran (once, where the profile does not tell its runs apart)."""
        runs = self.trace.runs
        programs, number = np.unique(runs.program, return_inverse=True)
        counts = np.bincount(number, runs.end >= runs.start, len(programs)).astype(int)  # those with an op
        return dict(zip(programs.tolist(), np.maximum(counts, 1).tolist(), strict=True))

    @cached_property
    def is_eager(self) -> dict[int, bool]:
        """Whether a program is jax's own: one primitive, or a function of jax's, that was called unjitted."""
        return {
            program: module is not None and not is_users(module, self.function(program))
            for program in self.program_names
            for module in [self.module(program)]
        }

    @cached_property
    def op_times(self) -> dict[tuple[int, str], list[OpTime]]:
        """(program, instruction) -> what it took, once for each place it was called from."""
        trace, cells = self.trace, self.process.table.cells
        events = np.zeros(len(self.attribution.owners), np.int64)
        for of_event in self.attribution.op_owner:
            events += np.bincount(of_event, minlength=len(events))
        wall = cells.device_only + cells.overlap
        found: dict[tuple[int, str], list[OpTime]] = defaultdict(list)
        for number, owner in enumerate(self.attribution.owners):
            key = int(trace.ops.program[owner.op]), trace.ops.name[owner.op]
            own = int(cells.device_self[number])
            found[key].append(OpTime(owner.main.path, int(events[number]), own, int(wall[number])))
        return found

    def instruction(self, program: int, name: str) -> Instruction | None:
        """The instruction of that name."""
        return self.trace.programs.instruction(program, name)

    @cached_property
    def calls(self) -> list[Call]:
        """Every dispatch, in order of time; one call on several devices is one."""
        compiled = {(thread, call) for thread, call, _ in self._compiled}
        calls, seen = [], set()
        for dispatch in sorted(self.attribution.dispatches, key=lambda dispatch: dispatch.start):
            if dispatch.run >= 0 and self.trace.runs.run_id[dispatch.run] != -1:
                if dispatch.run in seen:
                    continue
                seen.add(dispatch.run)
            events = self.attribution.activities[dispatch.thread].thread
            caller = int(self._callers[dispatch.thread][dispatch.event])
            outermost = dispatch.event if caller < 0 else caller
            calls.append(
                Call(
                    dispatch.function,
                    int(self.trace.runs.program[dispatch.run]) if dispatch.run >= 0 else -1,
                    dispatch.run,
                    self.path_of(dispatch.thread, dispatch.event),
                    int(events.start[outermost]),
                    int(events.end[outermost]),
                    (dispatch.thread, caller) in compiled,
                    bool(self._through_python[dispatch.thread][dispatch.event]),
                )
            )
        return calls

    @cached_property
    def compilations(self) -> list[Compilation]:
        """Every compilation of a function that was called, in order of time."""
        ran: dict[tuple[int, int], int] = {}
        for dispatch in self.attribution.dispatches:
            if dispatch.run >= 0:
                key = dispatch.thread, int(self._callers[dispatch.thread][dispatch.event])
                ran.setdefault(key, int(self.trace.runs.program[dispatch.run]))
        found = []
        for thread, call, event in self._compiled:
            events = self.attribution.activities[thread].thread
            start, end = int(events.start[call]), int(events.end[event])
            program = ran.get((thread, call), -1)
            called = host_names.function_name(events.event_names[events.event[call]]) or ""
            function = self.function(program) or called
            path = self.path_of(thread, event)
            found.append(Compilation(function, program, path, self.step_at(end), start, end))
        return sorted(found, key=lambda one: one.start)

    def step_at(self, instant: int) -> int | None:
        """The number of the step an instant lies in (its place, where steps have no numbers)."""
        for place, step in enumerate(self.process.steps):
            if step.start <= instant <= step.end:
                return step.number if step.number >= 0 else place
        return None

    def path_of(self, thread: int, event: int) -> str:
        """The operation a host event is charged to, as the report's table has it."""
        activity, text = self.attribution.activities[thread], self.attribution.paths.text
        path = int(activity.event_path[event])
        if path == 0 and activity.execute_root[event] >= 0:
            path = int(activity.charged[activity.execute_root[event]])
        return text[path] or UNATTRIBUTED

    def row(self, path: str) -> Row | None:
        """The operation of that path that has host time of its own."""
        return next((row for row in self.rows if row["path"] == path and row["direction"] is None), None)

    def entries(self, path: str) -> int | None:
        """How often an operation was entered on the host, by its mark or annotation; None for never."""
        count = 0
        for activity in self.attribution.activities:
            inside = np.array([text == path for text in self.attribution.paths.text], bool)[
                activity.event_path
            ]
            outer = np.where(activity.parent >= 0, inside[activity.parent], False)
            count += int((inside & ~outer).sum())
        return count or None

    def host_part(self, picoseconds: int, category: str) -> int:
        """Host time of a category as a part of the window, ns: at most what no device worked beside."""
        alone = sum(time(row["wall"]["host_only_categories"][category]) for row in self.rows)
        raw = sum(row["host"]["categories"][category]["raw"] for row in self.rows)
        best = sum(time(row["host"]["categories"][category]) for row in self.rows)
        return min(round(picoseconds / 1000 * (best / raw if raw else 1)), alone)

    def device_part(self, ops: list[OpTime]) -> int:
        """The part of the window that ops took, ns, corrected as their operations are."""
        rows = {row["path"]: row for row in self.rows if row["direction"] is None}
        gained = 0
        for op in ops:
            row = rows.get(op.path)
            gained += corrected(op.wall, row["device"]["self"]) if row else round(op.wall / 1000)
        return gained

    def main_operation(self, program: int) -> str | None:
        """The operation that most of a program's device time belongs to."""
        times: dict[str, int] = defaultdict(int)
        for (of_program, _), ops in self.op_times.items():
            for op in ops:
                if of_program == program and op.path != UNATTRIBUTED:
                    times[op.path] += op.self_time
        return max(times, key=lambda path: times[path]) if times else None

    @cached_property
    def _callers(self) -> list[np.ndarray]:
        """Per thread and event: the call of a jitted function it lies in, -1 for none."""
        return [self._around(number, _names_function) for number in range(len(self.attribution.activities))]

    @cached_property
    def _through_python(self) -> list[np.ndarray]:
        """Per thread and event: whether it lies in a call that jax's Python code made."""
        numbers = range(len(self.attribution.activities))
        return [self._around(number, "ExecuteReplicated.__call__".__eq__) >= 0 for number in numbers]

    @cached_property
    def _compiled(self) -> list[tuple[int, int, int]]:
        """(thread, the call that compiled, the compilation's event)."""
        return [
            (number, int(self._callers[number][event]), event)
            for number, activity in enumerate(self.attribution.activities)
            for event in activity.compiles.tolist()
            if self._callers[number][event] >= 0
        ]

    def _around(self, number: int, chosen: Any) -> np.ndarray:
        """Per event of a thread: the innermost event around it whose name is chosen."""
        activity = self.attribution.activities[number]
        names = np.array([chosen(name) for name in activity.thread.event_names] + [False], bool)
        inline = activity.thread.op >= 0
        parent = np.where((activity.parent >= 0) & inline[activity.parent], -1, activity.parent)
        return nearest(parent, names[activity.thread.event] & ~inline)


def time(figure: Mapping[str, Any]) -> int:
    """The best that is known of a figure: corrected for what profiling cost, else as measured; ns."""
    return figure["raw"] or 0 if figure["corrected"] is None else figure["corrected"]


def corrected(picoseconds: int, figure: Mapping[str, Any]) -> int:
    """A part of a figure, in ns, corrected as the whole of it is."""
    nanoseconds = picoseconds / 1000
    return round(nanoseconds * time(figure) / figure["raw"]) if figure["raw"] else round(nanoseconds)


def _names_function(name: str) -> bool:
    return host_names.function_name(name) is not None
