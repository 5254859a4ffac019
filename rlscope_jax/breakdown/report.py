"""The report: everything the terminal, the JSON, TensorBoard and the notebook show comes from here."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlscope_jax.attribution import device_category, host_names
from rlscope_jax.attribution.attribute import Attribution
from rlscope_jax.attribution.placement import EVIDENCE
from rlscope_jax.attribution.runs import unfinished
from rlscope_jax.breakdown.callbacks import callbacks_section
from rlscope_jax.breakdown.compiles import PHASES, compiles_section
from rlscope_jax.breakdown.sweep import Cells
from rlscope_jax.breakdown.table import Row, Table
from rlscope_jax.breakdown.windows import add_windows
from rlscope_jax.findings import find_all
from rlscope_jax.names import STEP_NAME
from rlscope_jax.overhead.figures import Figures, figure, overhead_section, step_wall, sum_of, wall_of
from rlscope_jax.xla_events.health import Problem, check, covered, verdict
from rlscope_jax.xla_events.sessions import Session
from rlscope_jax.xla_events.trace import Device, Step, Trace

if TYPE_CHECKING:
    import pandas

SCHEMA = "rlscope_jax.report/1"


@dataclass
class Process:
    """One host's part of a report."""

    attribution: Attribution
    table: Table
    step_limits: tuple[int, int] | None = None
    """First and last whole step, where our own capture wrote them down."""
    figures: Figures = field(default_factory=Figures.uncorrected)
    """What is corrected of them, and how."""

    @property
    def trace(self) -> Trace:
        """What was recorded."""
        return self.attribution.trace

    @property
    def steps(self) -> list[Step]:
        """The whole training steps, in order; a step marked within another (by another hand) is left out.

        Where our own capture marked steps, these are all: what it timed beside the window were such steps.
        """
        steps = [step for thread in self.trace.host_threads for step in thread.steps]
        if self.step_limits is not None:
            first, last = self.step_limits
            ours = [step for step in steps if step.name == STEP_NAME]
            whole = [step for step in ours if first <= step.number <= last]
            steps = whole or [step for step in steps if step.name != STEP_NAME]
        outer: list[Step] = []
        for step in sorted(steps, key=lambda step: (step.start, -step.end)):
            if not outer or step.start >= outer[-1].end:
                outer.append(step)
        return outer


@dataclass
class Report:
    """Where the time of each operation went. `to_dict()` is the JSON contract; times there are ns."""

    session: Session
    processes: list[Process] = field(default_factory=list)
    windows: list[Report] = field(default_factory=list)
    """The windows this report adds up, where a run was recorded in several."""

    @property
    def problems(self) -> list[Problem]:
        """What limits this capture, most telling first."""
        found = []
        for process in self.processes:
            dispatches = process.attribution.dispatches
            found += check(
                process.trace, len(dispatches), unfinished(process.trace, dispatches), self.session.sidecar
            )
            if process.figures.corrected.problem is not None:
                found.append(process.figures.corrected.problem)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, following `report.schema.json`."""
        if self.windows:
            return add_windows([window.to_dict() for window in self.windows])
        processes = _all_or_none_corrected(self.processes)
        problems = self.problems
        first = processes[0].trace
        data: dict[str, Any] = {
            "schema": SCHEMA,
            "session": {
                "logdir": str(self.session.logdir),
                "name": self.session.name,
                "hosts": [process.trace.host for process in processes],
                "files": self._files(),
            },
            "processes": [
                {"id": index, "host": process.trace.host, "name": None, "pid": _pid(process.trace)}
                for index, process in enumerate(processes)
            ],
            "devices": [device for index, one in enumerate(processes) for device in _devices(index, one)],
            "environment": {
                "jax": first.environment.get("jax"),
                "jaxlib": first.environment.get("jaxlib"),
                "platform": first.environment.get("platform"),
                "python_tracer": any(process.trace.python_tracer for process in processes),
            },
            "health": {
                "verdict": verdict(problems),
                "covered": covered(first),
                "problems": [{"code": p.code, "message": p.message, "hint": p.hint} for p in problems],
            },
            "window": self._window(),
            "steps": _steps(processes),
            "overhead": overhead_section(
                [(process.figures, process.table.cells, process.steps) for process in processes]
            ),
            "totals": _totals(processes),
            "operations": [
                _operation(index, row, one.figures)
                for index, one in enumerate(processes)
                for row in one.table.rows
            ],
            "programs": [program for process in processes for program in _programs(process)],
            "compiles": compiles_section(self.session.sidecar, processes),
            "counts": self._counts(),
            "callbacks": [],
            "findings": [],
        }  # fmt: skip
        data["callbacks"] = callbacks_section(data, processes)
        data["findings"] = [finding.to_dict() for finding in find_all(data, processes)]
        return data

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_pandas(self) -> pandas.DataFrame:
        """The operations as a table, one row each; times in ns.

        Raises:
            RlscopeError: pandas is not installed.
        """
        from rlscope_jax.reporters.frame import to_pandas

        return to_pandas(self)

    def _repr_html_(self) -> str:
        from rlscope_jax.reporters.notebook import to_html

        return to_html(self)

    def _files(self) -> list[dict[str, Any]]:
        return [
            {
                "path": _relative(path, self.session),
                "bytes": path.stat().st_size,
                "events": process.trace.events,
            }
            for path, process in zip(self.session.files, self.processes, strict=True)
        ]

    def _window(self) -> dict[str, Any]:
        trace = self.processes[0].trace
        steps = [step for process in self.processes for step in process.steps]
        numbers = [step.number for step in steps if step.number >= 0]
        return {
            "start_unix_ns": trace.start_unix_ns,
            "windows": 1,
            "wall_ns": max(
                _ns(process.trace.window[1] - process.trace.window[0]) for process in self.processes
            ),
            "steps": max(len(process.steps) for process in self.processes),
            "first_step": min(numbers, default=None),
            "last_step": max(numbers, default=None),
            "step_source": "annotation" if steps else "none",
        }

    def _counts(self) -> dict[str, int]:
        rows = [row for process in self.processes for row in process.table.rows]
        return {
            "device_ops": sum(row.device_ops for row in rows),
            "dispatches": sum(row.dispatches for row in rows),
            "compiles": sum(row.compiles for row in rows),
            "callbacks": sum(row.callbacks for row in rows),
            "syncs": sum(row.syncs for row in rows),
            "transfers": sum(
                len(a.transfers) for process in self.processes for a in process.attribution.activities
            ),
            "launches": sum(row.launches for row in rows),
        }


def _all_or_none_corrected(processes: list[Process]) -> list[Process]:
    """Corrected figures of one process beside raw ones of another would not add up: then all are raw."""
    raw = [process for process in processes if process.figures.correction is None]
    if not 0 < len(raw) < len(processes):
        return processes
    told = raw[0].figures.corrected.reason or "nothing is known of what profiling cost it"
    figures = Figures.uncorrected(f"{raw[0].trace.host}: {told}")
    return [replace(process, figures=figures) for process in processes]


def _steps(processes: list[Process]) -> dict[str, Any]:
    return {"wall": step_wall([(process.figures, process.steps) for process in processes])}


def _totals(processes: list[Process]) -> dict[str, Any]:
    parts = [(process.figures, process.table.cells) for process in processes]
    have_ops = any(process.trace.op_lines for process in processes)
    return {
        "wall": wall_of(parts),
        "device_only": sum_of(parts, lambda cells: int(cells.device_only.sum())),
        "overlap": sum_of(parts, lambda cells: int(cells.overlap.sum())),
        "host_only": sum_of(parts, lambda cells: int(cells.host_only.sum())),
        "idle": sum_of(parts, lambda cells: cells.idle),
        "device_busy": sum_of(parts, lambda cells: int(cells.busy.sum())) if have_ops else figure(None),
        "device_self": (
            sum_of(parts, lambda cells: int(cells.device_self.sum())) if have_ops else figure(None)
        ),
    }


def report_schema() -> dict[str, Any]:
    """The JSON Schema of `Report.to_dict()`."""
    return json.loads(resources.files("rlscope_jax.breakdown").joinpath("report.schema.json").read_text())


def _operation(process: int, row: Row, figures: Figures) -> dict[str, Any]:
    figure = figures.of_row(row)
    return {
        "process": process,
        "path": row.path,
        "kind": row.kind,
        "direction": row.direction,
        "device": {
            "self": figure(lambda row: row.device_self),
            "total": figure(lambda row: row.device_total),
            "ops": row.device_ops,
            "launches": row.launches,
            "launch_latency": _median(row.launch_latencies),
            "categories": _figures(device_category.CATEGORIES, figure, lambda row: row.device_categories),
        },
        "host": {
            "self": figure(lambda row: row.host_self),
            "categories": _figures(host_names.CATEGORIES, figure, lambda row: row.host_categories),
            "dispatches": row.dispatches,
            "compiles": row.compiles,
            "syncs": row.syncs,
            "callbacks": row.callbacks,
        },
        "wall": {
            "device_only": figure(lambda row: row.device_only),
            "overlap": figure(lambda row: row.overlap),
            "host_only": figure(lambda row: sum(row.host_only_categories)),
            "host_only_categories": _figures(
                host_names.CATEGORIES, figure, lambda row: row.host_only_categories
            ),
            "idle": figure(lambda row: row.idle),
        },
        "evidence": {
            evidence: round(row.evidence[evidence] / row.device_self, 6)
            for evidence in EVIDENCE
            if row.evidence.get(evidence)
        },
    }


def _devices(index: int, process: Process) -> list[dict[str, Any]]:
    return [
        {
            "id": device.id,
            "process": index,
            "kind": device.kind,
            "name": device.name,
            "busy": _of_device(process, device, _busy(number)),
            "self": _of_device(process, device, _self(number)),
        }
        for number, device in enumerate(process.trace.devices)
    ]


def _busy(device: int) -> Callable[[Cells], int]:
    return lambda cells: int(cells.busy[device])


def _self(device: int) -> Callable[[Cells], int]:
    return lambda cells: int(cells.self_of_device[device])


def _self_of_program(process: Process, cells: Cells) -> dict[int, int]:
    found: dict[int, int] = {}
    for owner, time in zip(process.attribution.owners, cells.device_self.tolist(), strict=True):
        program = int(process.trace.ops.program[owner.op])
        found[program] = found.get(program, 0) + time
    return found


def _of_device(process: Process, device: Device, read: Callable[[Cells], int]) -> dict[str, Any]:
    return process.figures.of_cells(process.table.cells, read) if device.has_data else figure(None)


def _programs(process: Process) -> list[dict[str, Any]]:
    trace, attribution = process.trace, process.attribution
    device_self = [
        _self_of_program(process, cells) for cells in process.figures.all_cells(process.table.cells)
    ]
    events_of_op = np.zeros(len(trace.ops.program), np.int64)
    for line in trace.op_lines:
        np.add.at(events_of_op, line.op, 1)
    numbered = trace.runs.run_id != -1
    calls = np.bincount(
        np.array([d.run for d in attribution.dispatches if d.run >= 0], np.int64), minlength=len(trace.runs)
    )
    calls = np.where(numbered, np.minimum(calls, 1), calls)  # one call may enqueue on several devices
    programs = []
    for program in np.unique(trace.runs.program).tolist():
        runs = np.flatnonzero(trace.runs.program == program)
        name = trace.runs.module[runs[0]]
        compiles = attribution.compiles.get(program, [])
        programs.append(
            {
                "program_id": program,
                "name": name,
                "function": attribution.functions[program],
                "runs": len(runs) if numbered[runs].all() else None,
                "dispatches": int(calls[runs].sum()),
                "compiles": len(compiles),
                "compile": figure(sum(one.time for one in compiles)),
                "compile_phases": {
                    phase: figure(sum(one.phases[phase] for one in compiles)) for phase in PHASES
                },
                "device": figure(*(self_of_program.get(program, 0) for self_of_program in device_self)),
                "device_ops": int(events_of_op[trace.ops.program == program].sum()),
                "hlo": program in trace.programs,
            }
        )
    return programs


def _figures(
    names: tuple[str, ...],
    figure: Callable[[Callable[[Row], int]], dict[str, Any]],
    read: Callable[[Row], list[int]],
) -> dict[str, Any]:
    def one(number: int) -> dict[str, Any]:
        return figure(lambda row: read(row)[number])

    return {name: one(number) for number, name in enumerate(names)}


def _median(picoseconds: list[np.ndarray]) -> int | None:
    values = np.concatenate(picoseconds) if picoseconds else np.zeros(0)
    return _ns(int(np.median(values))) if len(values) else None


def _ns(picoseconds: int) -> int:
    return (picoseconds + 500) // 1000


def _relative(path: Path, session: Session) -> str:
    return str(path.relative_to(session.logdir)) if path.is_relative_to(session.logdir) else str(path)


def _pid(trace: Trace) -> int | None:
    pid = trace.environment.get("pid")
    return int(pid) if pid and pid.isdecimal() else None
