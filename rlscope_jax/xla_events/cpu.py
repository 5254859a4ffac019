"""The CPU dialect: XLA:CPU has no device plane; ops are events of `/host:CPU`, on worker threads or inline.

An op event carries `hlo_op`, `program_id` and (jax >= 0.8) `run_id`, `device_ordinal`. Inside it lies its
`end: <op>` event, tied by a flow id. `ThreadpoolListener::*` are zero-length marks of tasks handed over.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.xla_events.hlo import Programs
from rlscope_jax.xla_events.host_lines import HOST_PLANE, by_start, has_python_tracer, host_thread, is_worker
from rlscope_jax.xla_events.op_table import Kinds, OpTable
from rlscope_jax.xla_events.trace import Device, OpLine, Trace
from rlscope_jax.xla_events.xspace import Line, XSpace


def read_cpu_trace(space: XSpace, programs: Programs) -> Trace:
    """Make a `Trace` of a profile whose device is the CPU."""
    plane = space.plane(HOST_PLANE)
    lines = plane.lines if plane is not None else []
    host = space.hostnames[0] if space.hostnames else "host"
    table = OpTable()
    for line in lines:
        table.add(_kinds(line, table))
    ops, runs, op_of_row, run_of_row = table.finish()
    ordinals = sorted({ordinal for line in lines for ordinal in _ordinals(line)})

    trace = Trace(host=host, ops=ops, runs=runs, programs=programs)
    trace.devices = [Device(f"{host}/cpu:{ordinal}", "cpu") for ordinal in ordinals]
    for line, ops_here, runs_here in zip(lines, op_of_row, run_of_row, strict=True):
        op, run = ops_here[line.row], runs_here[line.row]
        thread = -1
        if is_worker(line):
            trace.worker_lines.append(line)
        else:
            thread = len(trace.host_threads)
            trace.host_threads.append(host_thread(line, op, run))
            trace.python_tracer |= has_python_tracer(line)
        ordinal = line.integers("device_ordinal", 0)[line.row]
        for device, chosen in enumerate(ordinals):
            events = np.flatnonzero((op >= 0) & (ordinal == chosen))
            if len(events):
                trace.op_lines.append(_op_line(line, events, device, op, run, thread))
    trace.ran_without_ops = not trace.op_lines and any(_executes(line) for line in trace.worker_lines)
    for op_line in trace.op_lines:
        np.minimum.at(runs.start, op_line.run, op_line.start)
        np.maximum.at(runs.end, op_line.run, op_line.end)
    return trace


def _kinds(line: Line, table: OpTable) -> Kinds:
    """One kind per row of the line's statistics."""
    has_op = line.has("hlo_op")
    nothing = np.full(len(has_op), table.text(""), np.int64)
    name = table.texts(line.strings("hlo_op")) if has_op.any() else nothing
    return Kinds(
        program=line.integers("program_id"),
        name=np.where(has_op, name, -1),
        kernel=nothing,
        op_path=nothing,
        # Before jax 0.8 an op does not say its run: all of a program's ops are then one.
        run_id=line.integers("run_id"),
        module=table.texts(line.strings("hlo_module")) if has_op.any() else nothing,
    )


def _executes(line: Line) -> bool:
    names = line.plane.event_names
    return any(names[event].startswith("ThunkExecutor") for event in np.unique(line.event[line.event >= 0]))


def _ordinals(line: Line) -> set[int]:
    return set(line.integers("device_ordinal", 0)[line.has("hlo_op")].tolist())


def _op_line(
    line: Line, events: np.ndarray, device: int, op: np.ndarray, run: np.ndarray, thread: int
) -> OpLine:
    order = events[by_start(line.start[events], line.duration[events])]
    start = line.start[order]
    end = start + line.duration[order]
    return OpLine(line.name, device, start, end, op[order], run[order], _tails(line, order, end), thread)


def _tails(line: Line, order: np.ndarray, end: np.ndarray) -> np.ndarray:
    """From the start of each op's `end:` event (same flow id, same line) to the op's end."""
    closing = np.flatnonzero(line.consumes >= 0)
    tails = np.full(len(order), -1, np.int64)
    if len(closing) == 0:
        return tails
    closing = closing[np.argsort(line.consumes[closing], kind="stable")]
    ids = line.consumes[closing]
    place = np.minimum(np.searchsorted(ids, line.produces[order]), len(ids) - 1)
    begun = line.start[closing[place]]
    tied = (ids[place] == line.produces[order]) & (begun >= line.start[order]) & (begun <= end)
    tails[tied] = (end - begun)[tied]
    return tails
