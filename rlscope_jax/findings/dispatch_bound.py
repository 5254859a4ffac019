"""A Python loop calls small jitted programs, and calling them takes longer than running them.

A call of a compiled function costs tens of microseconds on the host, whatever the program does; a small
network or environment is done in less. The device then waits for Python, step after step, and a faster device
changes nothing.

How we tell: an operation made fifty calls or more of jitted functions, the host alone worked for it at least
twice as long as the device worked on what it called, and most of that host time was spent in jax:
dispatching, moving values, waiting for them. The gain is that host time: with the loop compiled, only the
device's time is left.

What to do: put the loop into the program: state, out = jax.lax.scan(step, state, None, length=128), and read
results once per rollout rather than once per step; or run more environments in each call with jax.vmap.
"""

from __future__ import annotations

from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.host_loop import HostLoop, host_loops
from rlscope_jax.findings.not_jitted import LEAST_CALLS, LEAST_SHARE, TIMES_DEVICE
from rlscope_jax.findings.words import milliseconds, named, share

_IN_JAX = 0.5


def find(facts: Facts) -> list[Finding]:
    """One finding for each operation that mostly calls."""
    return [_finding(facts, loop) for loop in bound_loops(facts)]


def bound_loops(facts: Facts) -> list[HostLoop]:
    """The operations this rule tells of."""
    return [
        loop
        for loop in host_loops(facts)
        if not loop.is_eager
        and len(loop.calls) >= LEAST_CALLS
        and loop.host_ns >= TIMES_DEVICE * loop.device_ns
        and loop.host_ns >= LEAST_SHARE * facts.wall
        and loop.calling_ns >= _IN_JAX * loop.host_ns
    ]


def _finding(facts: Facts, loop: HostLoop) -> Finding:
    count = len(loop.calls)
    row = facts.row(loop.path)
    syncs = row["host"]["syncs"] if row else 0
    one = facts.program_names.get(loop.calls[0].program)
    message = (
        f"{named(loop.path)} calls {' and '.join(loop.functions[:2])} {count:,} times from Python"
        + (f", waiting {syncs:,} times for a value" if syncs else "")
        + f": {milliseconds(loop.host_ns / count)} of host time a call, "
        f"{milliseconds(loop.device_ns / count)} on the device, "
        f"which works {share(loop.device_ns, loop.host_ns + loop.device_ns)} of the time."
    )
    evidence = {
        "dispatches": count,
        "syncs": syncs,
        "host_ns": loop.host_ns,
        "calling_ns": loop.calling_ns,
        "device_ns": loop.device_ns,
        "host_ns_per_dispatch": round(loop.host_ns / count),
        "device_ns_per_dispatch": round(loop.device_ns / count),
        "functions": loop.functions[:10],
    }
    return Finding(
        "dispatch_bound",
        message,
        "compile the loop: state, out = jax.lax.scan(step, state, None, length=n); read results after it.",
        loop.host_ns,
        severity(loop.host_ns, facts.wall),
        loop.path,
        one,
        loop.functions[0],
        evidence,
    )
