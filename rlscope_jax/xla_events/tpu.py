"""The TPU dialect: `XLA Ops` (and the overlapping `Async XLA Ops`) of each `/device:TPU:k`.

What an op is stands in its event's metadata: program and op_name (`tf_op`, with a trailing `:`). Executions
are the events of `XLA Modules`, named `module(program id)`; an op belongs to the one it lies in.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np

from rlscope_jax.xla_events.hlo import Programs, as_program_id
from rlscope_jax.xla_events.host_lines import HOST_PLANE, add_host_line, by_start
from rlscope_jax.xla_events.line import Line
from rlscope_jax.xla_events.op_table import NO_PROGRAM, NO_RUN, Kinds, OpTable, distinct
from rlscope_jax.xla_events.trace import Device, OpLine, Trace
from rlscope_jax.xla_events.xspace import Plane, XSpace

DEVICE_PREFIX = "/device:TPU:"
_OP_LINES = ("XLA Ops", "Async XLA Ops")
_MODULE_LINE = "XLA Modules"
_MODULE_NAME = re.compile(r"(.*)\((-?\d+)\)")
_INSTRUCTION = re.compile(r"%?([^ =]+)(?: =|$)")


def read_tpu_trace(space: XSpace, programs: Programs) -> Trace:
    """Make a `Trace` of a profile whose devices are TPUs."""
    host = space.hostnames[0] if space.hostnames else "host"
    planes = [plane for plane in space.planes if plane.name.startswith(DEVICE_PREFIX)]
    table = OpTable()
    found = []
    for device, plane in enumerate(planes):
        metadata = _event_kinds(plane)
        modules = _modules(plane)
        for line in plane.lines:
            if len(line) and line.name in _OP_LINES:
                order = by_start(line.start, line.duration)
                kinds, kind_of_event = _kinds(line, order, table, metadata, modules, device)
                table.add(kinds)
                found.append((device, line, order, kind_of_event))
    ops, runs, op_of_kind, run_of_kind = table.finish()

    trace = Trace(host=host, programs=programs, ops=ops, runs=runs)
    trace.devices = [_device(host, plane) for plane in planes]
    for (device, line, order, kind), kind_op, kind_run in zip(found, op_of_kind, run_of_kind, strict=True):
        start = line.start[order]
        end = start + line.duration[order]
        kind = kind.astype(np.int32)
        trace.op_lines.append(OpLine(line.name, device, start, end, kind, kind_op, kind_run))
    trace.set_run_times()
    for line in chain.from_iterable(plane.lines for plane in space.named(HOST_PLANE)):
        add_host_line(trace, line)
    return trace


def _device(host: str, plane: Plane) -> Device:
    number = plane.name.removeprefix(DEVICE_PREFIX)
    return Device(f"{host}/tpu:{number}", "tpu", _kind_name(plane), any(len(line) for line in plane.lines))


def _kind_name(plane: Plane) -> str | None:
    name = plane.stats.get("device_type_string")
    return name if isinstance(name, str) else None


def _event_kinds(plane: Plane) -> list[tuple[int, str, str]]:
    """Per event name of the plane: (program id, op's short name, op_name)."""
    kinds = []
    for _, name, places in plane.event_metadata():
        stats = plane.read_stats(places)
        program = as_program_id(stats.get("program_id"))
        path = stats.get("tf_op")
        short = _INSTRUCTION.match(name)
        kinds.append(
            (
                NO_PROGRAM if program is None else program,
                short.group(1) if short else name,
                path.rstrip(":") if isinstance(path, str) else "",
            )
        )
    return kinds


def _modules(plane: Plane) -> list[tuple[int, int, str, int]]:
    """(start, end, module name, program id) of every execution on this device, in order."""
    executed = []
    for line in plane.lines:
        if line.name != _MODULE_LINE:
            continue
        for index in range(len(line)):
            name = plane.event_names[line.event[index]] if line.event[index] >= 0 else ""
            parts = _MODULE_NAME.fullmatch(name)
            module, number = parts.groups() if parts else (name, NO_PROGRAM)
            program = as_program_id(number)
            start = int(line.start[index])
            executed.append((start, start + int(line.duration[index]), module, program or 0))
    return sorted(executed)


def _kinds(
    line: Line,
    order: np.ndarray,
    table: OpTable,
    metadata: list[tuple[int, str, str]],
    modules: list[tuple[int, int, str, int]],
    device: int,
) -> tuple[Kinds, np.ndarray]:
    """One kind per distinct (op, execution) of the line, for its events in `order`."""
    starts = np.array([module[0] for module in modules], np.int64)
    ends = np.array([module[1] for module in modules], np.int64)
    at = line.start[order]
    execution = np.searchsorted(starts, at, "right") - 1
    if len(modules):
        execution = np.where((execution >= 0) & (at <= ends[np.maximum(execution, 0)]), execution, -1)
    event = line.event[order].astype(np.int64)
    first, kind_of_event = distinct(event, execution.astype(np.int64))
    programs, names, paths, run_ids, module_names = [], [], [], [], []
    for index in first.tolist():
        program, name, path = metadata[event[index]] if event[index] >= 0 else (NO_PROGRAM, "", "")
        run = int(execution[index])
        programs.append(modules[run][3] if run >= 0 and program == NO_PROGRAM else program)
        names.append(name)
        paths.append(path)
        # Each device numbers its own executions: a run of ours is one execution on one device.
        run_ids.append(run * 65536 + device if run >= 0 else NO_RUN)
        module_names.append(modules[run][2] if run >= 0 else "")
    kinds = Kinds(
        program=np.array(programs, np.int64),
        name=table.texts(names),
        kernel=table.texts([""] * len(names)),
        op_path=table.texts(paths),
        run_id=np.array(run_ids, np.int64),
        module=table.texts(module_names),
    )
    return kinds, kind_of_event
