"""Host lines of any dialect: the program's threads, and XLA's workers, with the runtime's noise left out."""

from __future__ import annotations

import numpy as np

from rlscope_jax.xla_events.nesting import is_ordered
from rlscope_jax.xla_events.trace import NO_STEP, Flows, HostThread, Trace, Worker
from rlscope_jax.xla_events.xspace import Line

HOST_PLANE = "/host:CPU"
_WORKER_PREFIX = "tf_"  # XLA's thread pools; other lines are threads of the program itself
_NOISE = ("$", "end: ", "ThreadpoolListener::")  # Python tracer, marks within ops, tasks handed over
_HANDED_TO_POOL = 15  # the flow type of a task given to a thread pool; ops tie their `end:` events with 0


def add_host_line(
    trace: Trace, line: Line, op: np.ndarray | None = None, run: np.ndarray | None = None
) -> int:
    """Add a host line to the trace as a thread of the program or a worker.

    Args:
        trace: what is being read.
        line: the line.
        op, run: int32 per event: the ops that ran inline, where any can.

    Returns:
        The number of the thread, -1 for a worker.
    """
    if line.name.startswith(_WORKER_PREFIX):
        begun = _flows(line, line.consumes, "_ct")
        trace.workers.append(Worker(line.name, begun, _has_name(line, "ThunkExecutor")))
        return -1
    nothing = np.full(len(line), -1, np.int32)
    trace.host_threads.append(
        _host_thread(line, nothing if op is None else op, nothing if run is None else run)
    )
    trace.python_tracer |= _has_name(line, "$")
    return len(trace.host_threads) - 1


def by_start(start: np.ndarray, duration: np.ndarray) -> np.ndarray:
    """The order by start, longest first, so that a parent comes before its children."""
    if is_ordered(start, duration):
        return np.arange(len(start), dtype=np.int32)
    return np.lexsort((-duration, start)).astype(np.int32)


def _host_thread(line: Line, op: np.ndarray, run: np.ndarray) -> HostThread:
    names = line.plane.event_names
    noise = np.array([name.startswith(_NOISE) for name in names] + [True], bool)
    kept = np.flatnonzero(~noise[line.event])
    order = kept[by_start(line.start[kept], line.duration[kept])]
    start = line.start[order]
    is_step = line.has("step_num") | (line.integers("_r", 0) == 1)
    step = np.where(is_step, line.integers("step_num"), NO_STEP)
    return HostThread(
        name=line.name,
        event_names=names,
        event=line.event[order],
        start=start,
        end=start + line.duration[order],
        op=op[order],
        run=run[order],
        step=step[line.row[order]],
        handed=_flows(line, line.produces, "_pt"),
    )


def _flows(line: Line, ids: np.ndarray, kind: str) -> Flows:
    events = np.flatnonzero((ids >= 0) & (line.integers(kind) == _HANDED_TO_POOL)[line.row])
    return Flows(line.start[events], ids[events])


def _has_name(line: Line, prefix: str) -> bool:
    named = np.array([name.startswith(prefix) for name in line.plane.event_names] + [False], bool)
    return bool(named[line.event].any())
