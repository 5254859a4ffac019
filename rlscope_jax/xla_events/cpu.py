"""The CPU dialect: XLA:CPU has no device plane; ops are events of `/host:CPU`, on worker threads or inline.

An op event carries `hlo_op`, `program_id` and (jax >= 0.8) `run_id`, `device_ordinal`. Inside it lies its
`end: <op>` event, tied by a flow id. `ThreadpoolListener::*` are zero-length marks of tasks handed over.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.xla_events.hlo import Programs
from rlscope_jax.xla_events.trace import Device, HostThread, OpLine, Ops, Runs, Trace
from rlscope_jax.xla_events.xspace import Line, Plane, XSpace

HOST_PLANE = "/host:CPU"
_WORKER_PREFIX = "tf_"  # XLA's thread pools; every other line is a thread of the program itself


def read_cpu_trace(space: XSpace, programs: Programs) -> Trace:
    """Make a `Trace` of a profile whose device is the CPU."""
    plane = space.plane(HOST_PLANE) or Plane(space)
    host = space.hostnames[0] if space.hostnames else "host"
    table = _OpTable()
    found = [(line, *table.add(line)) for line in plane.lines]
    ops, runs, devices = table.finish(host)

    threads, workers, op_lines, python_tracer = [], [], [], False
    for line, op_of_row, run_of_row, device_of_row in found:
        op, run = op_of_row[line.row], run_of_row[line.row]
        is_thread = not line.name.startswith(_WORKER_PREFIX)
        if is_thread:
            kept, traced = _host_events(line, plane)
            python_tracer |= traced
            threads.append(_host_thread(line, kept, op, run))
        else:
            workers.append(line)
        for device in range(len(devices)):
            chosen = np.flatnonzero((op >= 0) & (device_of_row[line.row] == device))
            if len(chosen):
                op_lines.append(
                    _op_line(line, chosen, device, op, run, len(threads) - 1 if is_thread else -1)
                )
    for op_line in op_lines:
        np.minimum.at(runs.start, op_line.run, op_line.start)
        np.maximum.at(runs.end, op_line.run, op_line.end)
    return Trace(
        host=host,
        window=(0, 0),
        start_unix_ns=None,
        devices=devices,
        op_lines=op_lines,
        host_threads=threads,
        worker_lines=workers,
        ops=ops,
        runs=runs,
        programs=programs,
        python_tracer=python_tracer,
    )


class _OpTable:
    """Gathers the ops, runs and devices of every line into tables of their distinct rows."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {}
        self._rows: list[np.ndarray] = []  # per line: program, op name, run, module, device
        self._results: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, line: Line) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(op, run, device) of each of the line's rows; filled in by `finish`."""
        has_op = line.has("hlo_op")
        code = self._codes(line.strings("hlo_op")) if has_op.any() else np.zeros(len(has_op), np.int64)
        module = self._codes(line.strings("hlo_module")) if has_op.any() else code
        # Before jax 0.8 an op does not say its run or device: all of a program's ops are one run.
        rows = np.stack(
            [
                line.integers("program_id"),
                np.where(has_op, code, -1),
                line.integers("run_id"),
                module,
                line.integers("device_ordinal", 0),
            ]
        )
        unknown = np.full(len(has_op), -1, np.int32)
        result = (unknown, unknown.copy(), unknown.copy())
        self._rows.append(rows)
        self._results.append(result)
        return result

    def finish(self, host: str) -> tuple[Ops, Runs, list[Device]]:
        rows = np.concatenate(self._rows, axis=1) if self._rows else np.zeros((5, 0), np.int64)
        valid = rows[1] >= 0
        names = list(self._strings)
        ops, op = np.unique(rows[[0, 1]][:, valid], axis=1, return_inverse=True)
        runs, run = np.unique(rows[[0, 2, 3]][:, valid], axis=1, return_inverse=True)
        ordinals, device = np.unique(rows[4][valid], return_inverse=True)
        for index, found in enumerate((op, run, device)):
            filled = np.full(rows.shape[1], -1, np.int32)
            filled[valid] = found.ravel()
            start = 0
            for result in self._results:
                result[index][:] = filled[start : start + len(result[index])]
                start += len(result[index])
        return (
            Ops(ops[0], [names[code] for code in ops[1]]),
            Runs(
                program=runs[0],
                run_id=runs[1],
                module=[names[code] for code in runs[2]],
                start=np.full(runs.shape[1], np.iinfo(np.int64).max),
                end=np.full(runs.shape[1], np.iinfo(np.int64).min),
            ),
            [Device(f"{host}/cpu:{ordinal}", "cpu") for ordinal in ordinals],
        )

    def _codes(self, texts: list[str]) -> np.ndarray:
        return np.array([self._strings.setdefault(text, len(self._strings)) for text in texts], np.int64)


def _host_events(line: Line, plane: Plane) -> tuple[np.ndarray, bool]:
    """Which events say something of the host, and whether the Python tracer was on."""
    names = plane.event_names
    noise = np.array(
        [name.startswith(("$", "end: ", "ThreadpoolListener::")) for name in names] + [True], bool
    )
    python = np.array([name.startswith("$") for name in names] + [False], bool)
    return np.flatnonzero(~noise[line.event]), bool(python[line.event].any())


def _host_thread(line: Line, kept: np.ndarray, op: np.ndarray, run: np.ndarray) -> HostThread:
    order = kept[_by_start(line.start[kept], line.duration[kept])]
    start = line.start[order]
    return HostThread(line.name, line, order, start, start + line.duration[order], op[order], run[order])


def _op_line(
    line: Line, chosen: np.ndarray, device: int, op: np.ndarray, run: np.ndarray, host_line: int
) -> OpLine:
    order = chosen[_by_start(line.start[chosen], line.duration[chosen])]
    start = line.start[order]
    end = start + line.duration[order]
    return OpLine(line.name, device, start, end, op[order], run[order], _tails(line, order, end), host_line)


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


def _by_start(start: np.ndarray, duration: np.ndarray) -> np.ndarray:
    """The order by start, longest first, so that a parent comes before its children."""
    if len(start) < 2 or bool((np.diff(start) > 0).all()):
        return np.arange(len(start))
    return np.lexsort((-duration, start))
