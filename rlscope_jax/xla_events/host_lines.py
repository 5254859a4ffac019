"""Host lines of any dialect: the program's threads, with the runtime's noise left out."""

from __future__ import annotations

import numpy as np

from rlscope_jax.xla_events.trace import HostThread
from rlscope_jax.xla_events.xspace import Line

HOST_PLANE = "/host:CPU"
_WORKER_PREFIX = "tf_"  # XLA's thread pools; other lines are threads of the program itself
_NOISE = ("$", "end: ", "ThreadpoolListener::")  # Python tracer, marks within ops, tasks handed over


def is_worker(line: Line) -> bool:
    """Whether the line is a thread of XLA's own pools."""
    return line.name.startswith(_WORKER_PREFIX)


def has_python_tracer(line: Line) -> bool:
    """Whether the line holds events of the Python tracer."""
    python = np.array([name.startswith("$") for name in line.plane.event_names] + [False], bool)
    return bool(python[line.event].any())


def host_thread(line: Line, op: np.ndarray, run: np.ndarray) -> HostThread:
    """The events of a thread in order; `op` and `run` say which of them are ops that ran inline."""
    noise = np.array([name.startswith(_NOISE) for name in line.plane.event_names] + [True], bool)
    kept = np.flatnonzero(~noise[line.event])
    order = kept[by_start(line.start[kept], line.duration[kept])]
    start = line.start[order]
    return HostThread(line.name, line, order, start, start + line.duration[order], op[order], run[order])


def by_start(start: np.ndarray, duration: np.ndarray) -> np.ndarray:
    """The order by start, longest first, so that a parent comes before its children."""
    if len(start) < 2 or bool((np.diff(start) > 0).all()):
        return np.arange(len(start))
    return np.lexsort((-duration, start))
