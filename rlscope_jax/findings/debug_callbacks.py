"""Logging from inside a compiled program takes the time.

jax.debug.print and jax.debug.callback stop the program to call Python, like any callback. In a scan they do
so at every step, and what the callback itself calls of jax is dispatched from there, program by program.

How we tell: the callback instructions of jax.debug in a program took a twentieth of the window or more. The
gain is all their time.

What to do: return what you want to log from the scan, and log it once per update: state, metrics =
jax.lax.scan(step, state, None, length=128); log(jax.device_get(metrics)). Or call back rarely: jax.lax.cond(i
% 100 == 0, lambda: jax.debug.callback(log, x), lambda: None).
"""

from __future__ import annotations

from rlscope_jax.findings.callbacks import Callbacks, callbacks
from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, share

_LEAST_SHARE = 0.05


def find(facts: Facts) -> list[Finding]:
    """One finding for each operation and program that logs."""
    return [
        finding
        for made in callbacks(facts)
        if made.debug
        for finding in [_finding(facts, made)]
        if finding.gain_ns >= _LEAST_SHARE * facts.wall
    ]


def _finding(facts: Facts, made: Callbacks) -> Finding:
    gain = facts.device_part(made.times)
    function = facts.function(made.program)
    called = [call for call in facts.calls if call.path == made.path and call.program != made.program]
    runs = facts.runs.get(made.program, 1)
    message = (
        f"{function} calls back {made.count:,} times in {runs} run{'s' if runs > 1 else ''} to log "
        f"({', '.join(made.primitives)}"
        + (f", {made.line}" if made.line else "")
        + f"): {milliseconds(gain)}, {share(gain, facts.wall)} of the window"
        + (f"; these callbacks call {len(called):,} programs themselves." if called else ".")
    )
    hint = "return what you log from the scan, log it once an update: s, logs = jax.lax.scan(step, s, xs)."
    evidence = {
        "callbacks": made.count,
        "runs": runs,
        "calls_from_callbacks": len(called),
        "callback_ns": round(made.self_time / 1000),
        "line": made.line,
    }
    name = facts.program_names.get(made.program)
    level = severity(gain, facts.wall)
    return Finding("debug_callbacks", message, hint, gain, level, made.path, name, function, evidence)
