"""A TraceAnnotation inside a jitted function marks the moment of tracing, not the runs.

jax.profiler.TraceAnnotation is Python: it runs while jax traces the function, once for each compilation, and
nothing of it is left in the program. The runs are then named by nothing.

How we tell: an annotation of yours lies within the call of a jitted function that compiled, before its
program was compiled, the program ran more often than the annotation was entered, and no scope of the same
name is in it. The gain is nothing but the truth of the table: no time is lost.

What to do: with jax.named_scope("policy"): inside jitted functions; or rlscope_jax.operation("policy"), which
works in both places.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from rlscope_jax.attribution import host_names
from rlscope_jax.attribution.host import HostActivity
from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding
from rlscope_jax.names import decode
from rlscope_jax.xla_events.nesting import nearest

_TRACING = ("trace_to_jaxpr", "infer_params", "create_pjit_jaxpr")  # before jax 0.10 tracing has an event


def find(facts: Facts) -> list[Finding]:
    """One finding for each annotation that was entered while a function was traced."""
    entered: Counter[tuple[str, str]] = Counter()
    for activity in facts.attribution.activities:
        entered.update(_entered_while_tracing(activity))
    programs: dict[str, list[int]] = {}
    for one in facts.compilations:
        programs.setdefault(one.function, []).append(one.program)
        if one.program >= 0:  # a call names the function as the user wrote it, a program may not
            programs.setdefault(facts.program_names[one.program].partition("_")[2], []).append(one.program)
    found = []
    for (name, function), times in entered.items():
        of_function = sorted(set(programs.get(function, [])) - {-1})
        runs = sum(facts.runs.get(program, 0) for program in of_function)
        if runs > times and not any(_has_scope(facts, program, name) for program in of_function):
            found.append(_finding(facts, name, function, times, runs, of_function[-1]))
    return found


def _entered_while_tracing(activity: HostActivity) -> list[tuple[str, str]]:
    """(annotation, the function traced) of every annotation in a call that compiled, but in no callback."""
    thread = activity.thread
    names = [*thread.event_names, ""]
    users = (
        np.array(
            [
                bool(name) and host_names.category(name) == host_names.ANNOTATION and decode(name) is None
                for name in names
            ],
            bool,
        )[thread.event]
        & ~thread.driver
    )
    chosen = np.flatnonzero(users & (thread.op < 0))
    if not len(chosen):
        return []
    is_call = np.array([host_names.function_name(name) is not None for name in names], bool)[thread.event]
    call = nearest(activity.parent, is_call)
    op = nearest(activity.parent, thread.op >= 0)
    compiling = np.array(
        [host_names.category(name) == host_names.COMPILE and not name.startswith(_TRACING) for name in names],
        bool,
    )
    in_compiler = nearest(activity.parent, compiling[thread.event])
    compiled_at = {int(call[event]): int(thread.start[event]) for event in activity.compiles.tolist()}
    found = []
    for event in chosen.tolist():
        around = int(call[event])
        if around < 0 or op[event] >= 0 or in_compiler[event] >= 0:
            continue
        if thread.end[event] <= compiled_at.get(around, -1):
            function = host_names.function_name(names[thread.event[around]]) or ""
            found.append((names[thread.event[event]], function))
    return found


def _has_scope(facts: Facts, program: int, name: str) -> bool:
    module = facts.module(program)
    return module is not None and any(f"/{name}/" in one.op_name for one in module.instructions)


def _finding(facts: Facts, name: str, function: str, times: int, runs: int, program: int) -> Finding:
    message = (
        f'the TraceAnnotation "{name}" inside {function} was entered {times} time{"s" if times > 1 else ""}, '
        f"while jax traced; the {runs:,} runs of the program carry nothing of it."
    )
    return Finding(
        "annotation_inside_jit",
        message,
        f'in a jitted function write: with jax.named_scope("{name}"): (or rlscope_jax.operation("{name}")).',
        0,
        "medium",
        name,
        facts.program_names.get(program),
        facts.function(program),
        {"times_entered": times, "runs": runs},
    )
