"""jax functions are called one by one, outside jax.jit.

Each jnp operation outside jax.jit is a program of its own: dispatched from Python, with its result written to
memory. vmap does not compile. An environment step of ninety operations then costs ninety dispatches of tens
of microseconds each, for work that one program does in less than one of them.

How we tell: an operation made fifty calls or more, most of them of programs that hold a single function of
jax's own (no line of yours lies between the program and jax), while the host alone worked for more than twice
as long as the device. Fewer than five such calls each time the operation was entered is taken for glue and
let pass. The gain is the host's time in these calls.

What to do: compile the whole step: step = jax.jit(jax.vmap(env.step)).
"""

from __future__ import annotations

from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.host_loop import HostLoop, host_loops
from rlscope_jax.findings.words import milliseconds, named, share

LEAST_CALLS, LEAST_SHARE, TIMES_DEVICE = 50, 0.1, 2
_GLUE = 5


def find(facts: Facts) -> list[Finding]:
    """One finding for each operation that calls jax function by function."""
    return [
        _finding(facts, loop)
        for loop in host_loops(facts)
        if loop.is_eager
        and loop.eager >= LEAST_CALLS
        and (not loop.entries or loop.eager >= _GLUE * loop.entries)
        and loop.host_ns >= TIMES_DEVICE * loop.device_ns
        and loop.host_ns >= LEAST_SHARE * facts.wall
    ]


def _finding(facts: Facts, loop: HostLoop) -> Finding:
    count = len(loop.calls)
    each = f"{count / loop.entries:.0f} programs each time ({loop.entries} times)" if loop.entries else ""
    shown = ", ".join(f"jit_{name}" for name in loop.eager_functions[:3])
    message = (
        f"{named(loop.path)} runs {each or f'{count:,} programs'}, one for each jax function ({shown}, …): "
        f"the device works {share(loop.device_ns, loop.host_ns + loop.device_ns)} of its time. Not jitted?"
    )
    evidence = {
        "dispatches": count,
        "entries": loop.entries,
        "dispatches_per_entry": count / loop.entries if loop.entries else None,
        "functions": loop.eager_functions[:10],
        "device_ns": loop.device_ns,
        "host_ns": loop.host_ns,
        "calling_ns": loop.calling_ns,
    }
    return Finding(
        "not_jitted",
        message,
        "compile the whole step as one program: step = jax.jit(jax.vmap(env.step))."
        f" {milliseconds(loop.host_ns)} of host time would go.",
        loop.host_ns,
        severity(loop.host_ns, facts.wall),
        loop.path,
        f"jit_{loop.eager_functions[0]}",
        loop.eager_functions[0],
        evidence,
    )
