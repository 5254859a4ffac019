"""Which programs were compiled within the window, and how long each took."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from rlscope_jax.attribution import host_names
from rlscope_jax.attribution.host import HostActivity
from rlscope_jax.attribution.placement import parse_function
from rlscope_jax.names import plain
from rlscope_jax.xla_events.nesting import nearest
from rlscope_jax.xla_events.trace import Trace


@dataclass
class Compiles:
    """Compilations of one program: how many, their time with tracing and lowering, and when each was, ps."""

    count: int = 0
    time: int = 0
    when: list[tuple[int, int]] = field(default_factory=list)
    """(when it began, how long it took)."""


def compiles_of_programs(trace: Trace, activities: list[HostActivity]) -> dict[int, Compiles]:
    """The compilations of every program that ran.

    A compilation does not say of which program it is; the call it lies in names the function. The programs of
    one function are compiled in the order of their first runs; what is left over is the last one's.
    """
    of_function: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for activity in activities:
        known = [*activity.thread.event_names, ""]
        called = [host_names.function_name(name) for name in known]
        is_call = np.array([name is not None for name in called], bool)[activity.thread.event]
        call = nearest(activity.parent, is_call)
        for event in activity.compiles.tolist():
            if call[event] >= 0:
                function = plain(called[activity.thread.event[call[event]]] or "")
                begun, ended = activity.thread.start[call[event]], activity.thread.end[event]
                of_function[function].append((int(begun), int(ended - begun)))
    programs: dict[str, list[int]] = defaultdict(list)
    for run in np.argsort(trace.runs.start, kind="stable").tolist():
        program = int(trace.runs.program[run])
        function = plain(parse_function(trace.runs.module[run]))
        if program not in programs[function]:
            programs[function].append(program)
    found: dict[int, Compiles] = defaultdict(Compiles)
    for function, compiled in of_function.items():
        for number, (begun, time) in enumerate(sorted(compiled)):
            candidates = programs.get(function)
            if candidates:
                program = candidates[min(number, len(candidates) - 1)]
                found[program].count += 1
                found[program].time += time
                found[program].when.append((begun, time))
    return dict(found)
