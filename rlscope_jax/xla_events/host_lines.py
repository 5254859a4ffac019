"""Host lines of any dialect: the program's threads, and XLA's workers, with the runtime's noise left out."""

from __future__ import annotations

import numpy as np

from rlscope_jax.xla_events.line import Line
from rlscope_jax.xla_events.nesting import is_ordered
from rlscope_jax.xla_events.trace import Flows, HostThread, Step, Trace, Worker

HOST_PLANE = "/host:CPU"
_WORKERS = ("tf_", "py_xla_")  # threads of XLA's own pools; other lines are threads of the program itself
_PYTHON = "$"
_NOISE = (_PYTHON, "end: ", "ThreadpoolListener::")  # Python tracer, marks within ops, tasks handed over
_AWAIT = "CommonPjRtBuffer::Await"
WAIT_NAME = "BlockUntilReady"
"""What a wait for a buffer is called here, made of the two marks it leaves."""
_HANDED_TO_POOL = 15  # the flow type of a task given to a thread pool; ops tie their `end:` events with 0


def add_host_line(trace: Trace, line: Line, kind: np.ndarray | None = None) -> int:
    """Add a host line to the trace as a thread of the program or a worker.

    Args:
        trace: what is being read.
        line: the line.
        kind: int32 per event: the kinds of the ops that ran inline, where any can; -1 for another event.

    Returns:
        The number of the thread, -1 for a worker.
    """
    if line.name.startswith(_WORKERS):
        begun = _flows(line, line.consumes, "_ct")
        handed = _flows(line, line.produces, "_pt")
        executes = _has_name(line, "ThunkExecutor")
        trace.workers.append(Worker(line.name, begun, executes, _is_cut(line), handed))
        return -1
    trace.host_threads.append(_host_thread(line, np.full(len(line), -1, np.int32) if kind is None else kind))
    trace.python_tracer |= len(trace.host_threads[-1].python_calls) > 0
    return len(trace.host_threads) - 1


def by_start(start: np.ndarray, duration: np.ndarray) -> np.ndarray:
    """The order by start, longest first, so that a parent comes before its children."""
    if is_ordered(start, duration):
        return np.arange(len(start), dtype=np.int32)
    return np.lexsort((-duration, start)).astype(np.int32)


def _host_thread(line: Line, kind: np.ndarray) -> HostThread:
    names = line.plane.event_names
    noise = np.array([name.startswith(_NOISE) or name == _AWAIT for name in names] + [True], bool)
    is_step = (line.has("step_num") | (line.integers("_r", 0) == 1))[line.row]
    kept = np.flatnonzero(~noise[line.event] & ~is_step)
    waits = _waits(line)
    start = np.concatenate([line.start[kept], waits[0]])
    duration = np.concatenate([line.duration[kept], waits[1] - waits[0]])
    event = np.concatenate([line.event[kept], np.full(len(waits[0]), len(names), np.int32)])
    kind = np.concatenate([kind[kept], np.full(len(waits[0]), -1, np.int32)])
    launches = line.correlation[kept] >= 0 if len(line.correlation) else np.zeros(len(kept), bool)
    driver = np.concatenate([launches, np.zeros(len(waits[0]), bool)])
    order = by_start(start, duration)
    nothing = np.full(len(order), -1, np.int32)
    return HostThread(
        name=line.name,
        event_names=[*names, WAIT_NAME],
        event=event[order],
        start=start[order],
        end=start[order] + duration[order],
        op=nothing,
        run=nothing,
        kind=kind[order],
        driver=driver[order],
        steps=_steps(line, np.flatnonzero(is_step)),
        handed=_flows(line, line.produces, "_pt"),
        python_calls=line.start[_named(line, _PYTHON)],
    )


def _steps(line: Line, events: np.ndarray) -> list[Step]:
    numbers, names = line.integers("step_num")[line.row], [*line.plane.event_names, ""]
    start, end = line.start, line.start + line.duration
    steps = [Step(int(numbers[i]), int(start[i]), int(end[i]), names[line.event[i]]) for i in events]
    return sorted(steps, key=lambda step: step.start)


def _waits(line: Line) -> tuple[np.ndarray, np.ndarray]:
    """(start, end) of the waits for a buffer: each leaves a mark where it begins and one where it ends."""
    named = np.array([name == _AWAIT for name in line.plane.event_names] + [False], bool)
    marks = np.flatnonzero(named[line.event])
    begun = {int(line.produces[i]): int(line.start[i]) for i in marks if line.produces[i] >= 0}
    ended = [
        (begun[int(line.consumes[i])], int(line.start[i] + line.duration[i]))
        for i in marks
        if int(line.consumes[i]) in begun
    ]
    spans = np.array(sorted(ended), np.int64).reshape(-1, 2)
    return spans[:, 0], spans[:, 1]


def _flows(line: Line, ids: np.ndarray, kind: str) -> Flows:
    events = np.flatnonzero((ids >= 0) & (line.integers(kind) == _HANDED_TO_POOL)[line.row])
    return Flows(line.start[events], ids[events])


def _is_cut(line: Line) -> bool:
    """Whether the last task that began did not end."""
    begun, ended = (_last(line, f"ThreadpoolListener::{mark}Region") for mark in ("Start", "Stop"))
    return begun is not None and (ended is None or begun > ended)


def _last(line: Line, name: str) -> int | None:
    """When the last event of that name began."""
    named = np.array([name == known for known in line.plane.event_names] + [False], bool)
    starts = line.start[named[line.event]]
    return int(starts.max()) if len(starts) else None


def _has_name(line: Line, prefix: str) -> bool:
    return bool(_named(line, prefix).any())


def _named(line: Line, prefix: str) -> np.ndarray:
    """bool[events]: those whose names begin so."""
    named = np.array([name.startswith(prefix) for name in line.plane.event_names] + [False], bool)
    return np.asarray(named[line.event])
