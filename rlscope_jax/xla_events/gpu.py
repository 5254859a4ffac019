"""The GPU dialect (ROCm, CUDA): each stream of a device is a line of kernels and copies.

A kernel carries `hlo_op`, `program_id`, `hlo_module`, and its op_name in the statistic `name` (`tf_op` is a
constant). What it lacks, its host launch may know: the two share a `correlation_id` (`device_id` on launches
is junk on ROCm). With command buffers the kernels of a captured graph may carry no op at all.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np

from rlscope_jax.xla_events.hlo import Programs
from rlscope_jax.xla_events.host_lines import HOST_PLANE, add_host_line, by_start
from rlscope_jax.xla_events.line import Line
from rlscope_jax.xla_events.op_table import NO_PROGRAM, NO_RUN, Kinds, OpTable, distinct
from rlscope_jax.xla_events.trace import Device, Launches, OpLine, Trace
from rlscope_jax.xla_events.xspace import Plane, XSpace

DEVICE_PREFIX = "/device:GPU:"
_LAUNCH_LINES = "Host Threads/"  # the profiler's own record of driver calls, one line a thread
# Lines that tools derive from the streams and store beside them: counting them would count twice.
_DERIVED = re.compile(
    r"(Steps|XLA (Modules|Ops|TraceMe)|Async XLA Ops|TensorFlow .*|Framework .*|Source( code)?|"
    r"Launch Stats.*|_counters_.*)( - from #\d+)?"
)
_SOME_GRAPH = "cuda_graph"  # the name given to a graph's kernel that says nothing of itself
_GRAPH_OP = re.compile(r"command_buffer|cuda_?graph", re.IGNORECASE)


def read_gpu_trace(space: XSpace, programs: Programs) -> Trace:
    """Make a `Trace` of a profile whose devices are GPUs."""
    host = space.hostnames[0] if space.hostnames else "host"
    planes = [plane for plane in space.planes if plane.name.startswith(DEVICE_PREFIX)]
    launches, launch_rows = _launches(space)
    table = OpTable()
    found = []
    for plane in planes:
        for line in plane.lines:
            if len(line) and not _DERIVED.fullmatch(line.name):
                launch = launches.of(_correlation(line))
                kinds, kind_of_event = _kinds(line, table, launch, launch_rows)
                table.add(kinds)
                found.append((plane, line, kind_of_event, launch))
    ops, runs, op_of_kind, run_of_kind = table.finish()

    trace = Trace(host=host, programs=programs, ops=ops, runs=runs, launches=launches)
    trace.devices = [_device(host, plane) for plane in planes]
    for (plane, line, kind, launch), kind_op, kind_run in zip(found, op_of_kind, run_of_kind, strict=True):
        order = by_start(line.start, line.duration)
        start = line.start[order]
        trace.op_lines.append(
            OpLine(
                name=line.name,
                device=planes.index(plane),
                start=start,
                end=start + line.duration[order],
                kind=kind[order].astype(np.int32),
                kind_op=kind_op,
                kind_run=kind_run,
                launch=launch[order],
            )
        )
    for line in chain.from_iterable(plane.lines for plane in space.named(HOST_PLANE)):
        if not line.name.startswith(_LAUNCH_LINES):
            add_host_line(trace, line)
    return trace


def in_command_buffer(op_name: str) -> bool:
    """Whether an op's name is that of a captured graph rather than of an instruction."""
    return bool(_GRAPH_OP.search(op_name))


def _device(host: str, plane: Plane) -> Device:
    vendor = plane.stats.get("device_vendor")
    return Device(
        id=f"{host}/gpu:{plane.name.removeprefix(DEVICE_PREFIX)}",
        kind="gpu",
        name=str(vendor) if vendor is not None else None,
        has_data=any(len(line) for line in plane.lines),
    )


def _launches(space: XSpace) -> tuple[Launches, list[tuple[int, str, str, str]]]:
    """The host calls that launched device work, and of each (program, HLO op, op_name, module)."""
    parts, rows = [], []
    for plane in space.planes:
        if not plane.name.startswith("/host:"):
            continue
        for line in plane.lines:
            ids = line.correlation
            events = np.flatnonzero(ids >= 0)
            if len(events) == 0:
                continue
            start = line.start[events]
            parts.append((ids[events], start, start + line.duration[events]))
            texts = [line.strings("hlo_op"), _op_paths(line), line.strings("hlo_module")]
            programs = line.integers("program_id", NO_PROGRAM)
            rows += [
                (int(programs[row]), *(text[row] for text in texts)) for row in line.row[events].tolist()
            ]
    if not parts:
        return Launches.none(), []
    ids, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(ids, kind="stable")
    return Launches(ids[order], start[order], end[order]), [rows[index] for index in order]


def _correlation(line: Line) -> np.ndarray:
    """The correlation id of every event; a plane that knows none has no column for it."""
    return line.correlation if len(line.correlation) else np.full(len(line), -1, np.int64)


def _op_paths(line: Line) -> list[str]:
    """The op_name of every row: XLA writes it as `name`, TensorFlow's kernels as `annotation`."""
    named = line.strings("name")
    return [name or other for name, other in zip(named, line.strings("annotation"), strict=True)]


def _kinds(
    line: Line, table: OpTable, launch: np.ndarray, launch_rows: list[tuple[int, str, str, str]]
) -> tuple[Kinds, np.ndarray]:
    """One kind per distinct (statistics, kernel, what the launch adds) of the line."""
    no_op = ~line.has("hlo_op")[line.row]
    adds = np.where(no_op, launch, -1)
    first, kind_of_event = distinct(line.row, line.event, adds)
    programs, modules = line.integers("program_id", NO_PROGRAM), line.strings("hlo_module")
    hlo_ops, paths, in_graph = line.strings("hlo_op"), _op_paths(line), line.has("cuda_graph_id")
    columns: list[tuple[int, str, str, str, str]] = []
    for event in first.tolist():
        row, kernel = line.row[event], line.event[event]
        name = line.plane.event_names[kernel] if kernel >= 0 else ""
        program, op, path, module = int(programs[row]), hlo_ops[row], paths[row], modules[row]
        if adds[event] >= 0:
            known_program, op, path, known_module = launch_rows[adds[event]]
            program = known_program if program == NO_PROGRAM else program
            module = module or known_module
        if not op and in_graph[row]:
            op = _SOME_GRAPH
        columns.append((program, op, name, path, module))
    kinds = Kinds(
        program=np.array([column[0] for column in columns], np.int64),
        name=table.texts([column[1] for column in columns]),
        kernel=table.texts([column[2] for column in columns]),
        op_path=table.texts([column[3] for column in columns]),
        run_id=np.full(len(columns), NO_RUN, np.int64),
        module=table.texts([column[4] for column in columns]),
    )
    return kinds, kind_of_event
