"""The CPU dialect: XLA:CPU has no device plane; ops are events of `/host:CPU`, on worker threads or inline.

An op event carries `hlo_op`, `program_id` and (jax >= 0.8) `run_id`, `device_ordinal`. Inside it lies its
`end: <op>` event, tied by a flow id. `ThreadpoolListener::*` are zero-length marks of tasks handed over.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from rlscope_jax.xla_events.hlo import Programs
from rlscope_jax.xla_events.host_lines import HOST_PLANE, add_host_line, by_start
from rlscope_jax.xla_events.line import Line
from rlscope_jax.xla_events.nesting import is_ordered, tails
from rlscope_jax.xla_events.op_table import Kinds, OpTable
from rlscope_jax.xla_events.trace import Device, HostThread, OpLine, Trace
from rlscope_jax.xla_events.xspace import XSpace


def read_cpu_trace(space: XSpace, programs: Programs) -> Trace:
    """Make a `Trace` of a profile whose device is the CPU."""
    host = space.hostnames[0] if space.hostnames else "host"
    table = OpTable()
    trace = Trace(host=host, programs=programs)
    pending: list[tuple[OpLine, int, int]] = []  # an op line, the device ordinal, its place in the table
    inline: list[tuple[HostThread, int]] = []
    for line in chain.from_iterable(plane.read_lines() for plane in space.named(HOST_PLANE)):
        kinds = _kinds(line, table, programs)
        place = table.add(kinds)
        is_op = kinds.name >= 0
        kind = np.where(is_op[line.row], line.row, -1)
        thread = add_host_line(trace, line, kind)
        if thread >= 0:
            inline.append((trace.host_threads[thread], place))
        ordinal = line.integers("device_ordinal", 0)
        for device in np.unique(ordinal[is_op]).tolist():
            events = np.flatnonzero((is_op & (ordinal == device))[line.row]).astype(np.int32)
            if len(events):
                pending.append((_op_line(line, events, thread), device, place))

    trace.ops, trace.runs, op_of_kind, run_of_kind = table.finish()
    ordinals = sorted({device for _, device, _ in pending})
    trace.devices = [Device(f"{host}/cpu:{ordinal}", "cpu") for ordinal in ordinals]
    for op_line, device, place in pending:
        op_line.device = ordinals.index(device)
        op_line.kind_op, op_line.kind_run = op_of_kind[place], run_of_kind[place]
        trace.op_lines.append(op_line)
    for thread_events, place in inline:
        kind = thread_events.kind
        thread_events.op = np.where(kind >= 0, op_of_kind[place][kind], -1)
        thread_events.run = np.where(kind >= 0, run_of_kind[place][kind], -1)
    trace.ran_without_ops = not trace.op_lines and any(worker.executes for worker in trace.workers)
    trace.set_run_times()
    return trace


def _kinds(line: Line, table: OpTable, programs: Programs) -> Kinds:
    """One kind per row of the line's statistics."""
    has_op = line.has("hlo_op")
    nothing = np.full(len(has_op), table.text(""), np.int64)
    name = table.texts(line.strings("hlo_op")) if has_op.any() else nothing
    program = line.integers("program_id")
    if has_op.any():
        program = np.where(has_op, programs.of_modules(program, line.strings("hlo_module")), program)
    return Kinds(
        program=program,
        name=np.where(has_op, name, -1),
        kernel=nothing,
        op_path=nothing,
        # Before jax 0.8 an op does not say its run: all of a program's ops are then one.
        run_id=line.integers("run_id"),
        module=table.texts(line.strings("hlo_module")) if has_op.any() else nothing,
    )


def _op_line(line: Line, events: np.ndarray, thread: int) -> OpLine:
    order = events[by_start(line.start[events], line.duration[events])]
    start = line.start[order]
    end = start + line.duration[order]
    unknown = np.zeros(0, np.int32)
    return OpLine(
        line.name, -1, start, end, line.row[order], unknown, unknown, _tails(line, order, start, end), thread
    )


def _tails(line: Line, order: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """What each op's own `end:` event (same flow id, same line) leaves of it."""
    closing = np.flatnonzero(line.consumes >= 0).astype(np.int32)
    ids = line.consumes[closing]
    if not is_ordered(ids, ids):
        closing = closing[np.argsort(ids, kind="stable")]
        ids = line.consumes[closing]
    return tails(start, end, line.produces[order], line.start[closing], ids)
