"""The device stands still for much of the time, and no more special rule says why.

Between the first and the last piece of device work the device has nothing to do: the host computes in Python,
steps an environment, writes a checkpoint, or prepares what comes next after the device is done instead of
before.

How we tell: between the first and the last op there are gaps of three tenths of the window or more, less what
compilations fill, ten milliseconds at least, in a window with ten program runs or more. The host must be seen
at work for half of them, and it is told only where no other finding of medium or high severity is. The gain
is these gaps.

What to do: look at which operations have "host only" time; let the host work ahead: call the next program
before reading the results of this one, and move host work to a thread.
"""

from __future__ import annotations

from rlscope_jax.attribution import host_names
from rlscope_jax.findings.device_span import compile_time_within, gaps
from rlscope_jax.findings.facts import Facts, time
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, named, share

_LEAST_SHARE, _LEAST_RUNS, _LEAST_NS, _AT_WORK = 0.3, 10, 10e6, 0.5


def find(facts: Facts) -> list[Finding]:
    """One finding, if the device is idle."""
    found = gaps(facts.trace.op_lines)
    runs = sum(facts.runs.values())
    idle = round((found.total - compile_time_within(facts, found)) / 1000)
    if runs < _LEAST_RUNS or idle < max(_LEAST_SHARE * facts.wall, _LEAST_NS):
        return []
    alone = {row["path"]: row["wall"]["host_only_categories"] for row in facts.rows}
    host = {
        path: sum(time(of[name]) for name in host_names.CATEGORIES if name != "compile")
        for path, of in alone.items()
    }
    if sum(host.values()) < _AT_WORK * idle:
        return []  # nobody is at work: the machine is busy elsewhere
    first = max(host, key=lambda path: host[path])
    mostly = max(
        host_names.CATEGORIES, key=lambda name: time(alone[first][name]) if name != "compile" else -1
    )
    message = (
        f"the device stands still for {milliseconds(idle)}, {share(idle, facts.wall)} of the window, between "
        f"its first and its last op: meanwhile the host works for {named(first)} "
        f"({milliseconds(host[first])}, mostly {mostly})."
    )
    evidence = {
        "idle_ns": idle,
        "span_ns": round(found.span / 1000),
        "runs": runs,
        "host_ns": host[first],
        "mostly": mostly,
    }
    hint = "call the next program before reading the last result: now = step(state); log(last); last = now."
    level = severity(idle, facts.wall, "medium")
    return [Finding("device_idle", message, hint, idle, level, first, None, None, evidence)]
