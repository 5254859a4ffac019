"""The device waits for Python: a compiled program calls back into the host.

jax.pure_callback and io_callback stop the program, move the arguments to the host, run Python under its lock,
and move the results back. In a rollout this happens at every step, and nothing else runs meanwhile.

How we tell: the program's callback instructions took a tenth of the window or more. A callback that is made
once or so for each call of its program, and costs no more than a few times that call, is told by
`callback_slow_dispatch`. The gain is all the time of the callbacks.

What to do: write the environment in jax; or step many environments in one callback, with arrays for
arguments; or take the host's part out of the program and call it from the Python loop, double-buffered: while
the device works on one batch, the host steps the other.
"""

from __future__ import annotations

from rlscope_jax.findings.callbacks import Callbacks, callbacks, told_as_slow_dispatch
from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, share

LEAST_SHARE = 0.1


def find(facts: Facts) -> list[Finding]:
    """One finding for each operation and program that calls back."""
    return [
        finding
        for made in callbacks(facts)
        if not made.debug and not told_as_slow_dispatch(facts, made)
        for finding in [_finding(facts, made)]
        if finding.gain_ns >= LEAST_SHARE * facts.wall
    ]


def _finding(facts: Facts, made: Callbacks) -> Finding:
    gain = facts.device_part(made.times)
    function = facts.function(made.program)
    message = (
        f"{made.path} calls back into Python {made.count:,} times ({', '.join(made.primitives)} in {function}"
        + (f", {made.line}" if made.line else "")
        + f"): {milliseconds(gain / max(made.count, 1))} each, {share(gain, facts.wall)} of the window."
    )
    hint = (
        "step all environments in one call: io_callback(venv.step, shapes, actions) with a batch of actions; "
        "or write the environment in jax."
    )
    evidence = {
        "callbacks": made.count,
        "callback_ns": round(made.self_time / 1000),
        "ns_per_callback": round(made.self_time / 1000 / max(made.count, 1)),
        "primitives": list(made.primitives),
        "line": made.line,
    }
    name = facts.program_names.get(made.program)
    level = severity(gain, facts.wall)
    return Finding("host_callback_bound", message, hint, gain, level, made.path, name, function, evidence)
