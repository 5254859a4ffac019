"""Which programs were compiled within the window, and how long each phase of it took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rlscope_jax.attribution import host_names
from rlscope_jax.attribution.host import HostActivity
from rlscope_jax.attribution.placement import parse_function
from rlscope_jax.names import plain
from rlscope_jax.xla_events.nesting import nearest
from rlscope_jax.xla_events.trace import Trace


@dataclass(frozen=True)
class Compile:
    """One compilation, ps: a call of a function is traced, lowered to XLA's language, and compiled by XLA."""

    start: int
    """Of the call."""
    lower: int
    """Where lowering begins, and tracing ends."""
    backend: int
    """Where XLA begins."""
    end: int

    @property
    def time(self) -> int:
        """All of it."""
        return self.end - self.start

    @property
    def phases(self) -> dict[str, int]:
        """How long each phase took."""
        return {
            "trace": self.lower - self.start,
            "lower": self.backend - self.lower,
            "backend": self.end - self.backend,
        }


def compiles_of_programs(trace: Trace, activities: list[HostActivity]) -> dict[int, list[Compile]]:
    """The compilations of every program that ran, in order of time.

    A compilation does not say of which program it is; the call it lies in names the function. The programs of
    one function are compiled in the order of their first runs; what is left over is the last one's.
    """
    of_function: dict[str, list[Compile]] = defaultdict(list)
    for activity in activities:
        for function, compiled in _compiles_of_thread(activity):
            of_function[function].append(compiled)
    programs: dict[str, list[int]] = defaultdict(list)
    for run in np.argsort(trace.runs.start, kind="stable").tolist():
        program = int(trace.runs.program[run])
        function = plain(parse_function(trace.runs.module[run]))
        if program not in programs[function]:
            programs[function].append(program)
    found: dict[int, list[Compile]] = defaultdict(list)
    for function, compiles in of_function.items():
        candidates = programs.get(function)
        for number, compiled in enumerate(sorted(compiles, key=lambda one: one.start)):
            if candidates:
                found[candidates[min(number, len(candidates) - 1)]].append(compiled)
    return dict(found)


def _compiles_of_thread(activity: HostActivity) -> Iterator[tuple[str, Compile]]:
    """The function called and its compilation, for each of a thread."""
    thread = activity.thread
    known = [*thread.event_names, ""]
    called = [host_names.function_name(name) for name in known]
    is_call = np.array([name is not None for name in called], bool)[thread.event]
    is_lowering = np.array([host_names.is_lowering(name) for name in known], bool)[thread.event]
    call = nearest(activity.parent, is_call)
    lowerings = np.flatnonzero(is_lowering)
    for event in activity.compiles.tolist():
        if call[event] < 0:
            continue
        start, backend = int(thread.start[call[event]]), int(thread.start[event])
        own = lowerings[(call[lowerings] == call[event]) & (thread.end[lowerings] <= backend)]
        lower = int(thread.start[own].max()) if len(own) else backend
        function = plain(called[thread.event[call[event]]] or "")
        yield function, Compile(start, lower, backend, int(thread.end[event]))
