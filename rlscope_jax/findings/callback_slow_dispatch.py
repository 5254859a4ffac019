"""Each call of a compiled program goes through Python, because the program calls back.

jax calls a compiled function from C++, in about ten microseconds. A program with an effect (io_callback,
jax.debug.callback) is called through jax's Python code instead, every time, which takes ten times as long;
nothing is compiled anew, so that jax_explain_cache_misses says nothing.

How we tell: ten warm calls or more of a program that holds a callback passed through jax's Python path, and
these calls took a tenth of the window or more. A callback so heavy that it outweighs its call is told by
`host_callback_bound`. The gain is the host's time in these calls; where the program calls back no more than
twice a run, the callbacks too: made from the Python loop instead, they would cost one Python call.

What to do: keep the callback out of the function that the loop calls: action = act(state); then
host_step(action) in Python. If it must stay, call the program less often, with a scan of many steps inside.
"""

from __future__ import annotations

from rlscope_jax.findings.callbacks import Callbacks, callbacks, slow_calls, told_as_slow_dispatch
from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, share

_LEAST_SHARE, _FEW_A_RUN = 0.1, 2


def find(facts: Facts) -> list[Finding]:
    """One finding for each program that is called the slow way."""
    made_by: dict[int, list[Callbacks]] = {}
    for made in callbacks(facts):
        if told_as_slow_dispatch(facts, made):
            made_by.setdefault(made.program, []).append(made)
    found = [_finding(facts, program, made) for program, made in made_by.items()]
    return [finding for finding in found if finding.gain_ns >= _LEAST_SHARE * facts.wall]


def _finding(facts: Facts, program: int, made: list[Callbacks]) -> Finding:
    slow = slow_calls(facts, program)
    count = sum(one.count for one in made)
    back = facts.device_part([time for one in made for time in one.times])
    # A call lasts as long as what runs inline in it: that is no dispatching.
    inside = sum(one.self_time for one in made) if _inline(facts, program) else 0
    calling = facts.host_part(max(sum(call.end - call.start for call in slow) - inside, 0), "dispatch")
    gain = calling + (back if count <= _FEW_A_RUN * len(slow) else 0)
    function = facts.function(program)
    primitives = sorted({name for one in made for name in one.primitives})
    message = (
        f"{function} is called through Python {len(slow):,} times because it holds {', '.join(primitives)}"
        + (f" ({made[0].line})" if made[0].line else "")
        + f": {milliseconds(calling / len(slow))} a call, and {milliseconds(back / max(count, 1))} "
        f"for each of {count:,} callbacks; together {share(gain, facts.wall)} of the window."
    )
    hint = "take the callback out of what the loop calls: action = act(state); host_step(np.asarray(action))."
    evidence = {
        "calls": len(slow),
        "callbacks": count,
        "calling_ns": calling,
        "callback_ns": back,
        "primitives": primitives,
        "line": made[0].line,
    }
    name = facts.program_names.get(program)
    level = severity(gain, facts.wall)
    return Finding(
        "callback_slow_dispatch", message, hint, gain, level, made[0].path, name, function, evidence
    )


def _inline(facts: Facts, program: int) -> bool:
    trace = facts.trace
    return any(
        line.thread >= 0 and bool((trace.ops.program[line.kind_op[line.kind_op >= 0]] == program).any())
        for line in trace.op_lines
    )
