"""A linear recurrence is computed step by step on an accelerator, though it need not be.

Advantages (GAE), λ-returns and discounted sums are a scan whose step only multiplies what it carries and adds
to it. As jax.lax.scan it is as many turns as there are steps, one after the other, each too small for the
device; jax.lax.associative_scan needs a logarithm of them.

How we tell: on an accelerator a loop turned a hundred times or more, its body holds nothing but
multiplications, additions, choices and indexing, and it took a tenth of the window or more. A rollout is no
such loop: its body holds a network, a random number or a function that is not linear. On CPU the rule is
silent: there the parallel form was two to ten times slower where we measured it. The gain is the loop's
time.

What to do: def combine(a, b): return a[0] * b[0], b[0] * a[1] + b[1]; then jax.lax.associative_scan(combine,
(decay, delta), reverse=True)[1]. Measure both.
"""

from __future__ import annotations

from rlscope_jax.findings.facts import Facts, OpTime
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.source import where
from rlscope_jax.findings.words import milliseconds, share
from rlscope_jax.xla_events.hlo import HloModule, Instruction

_TURNS, _LEAST_SHARE = 100, 0.1
_LINEAR = frozenset({"multiply", "add", "subtract", "negate", "select"})
_MOVING = frozenset(
    {
        "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "bitcast-convert", "broadcast",
        "reshape", "transpose", "convert", "copy", "copy-start", "copy-done", "iota", "slice",
        "dynamic-slice", "dynamic-update-slice", "concatenate", "pad", "compare", "and", "or", "not",
        "fusion", "call", "clamp", "reverse",
    }
)  # fmt: skip


def find(facts: Facts) -> list[Finding]:
    """One finding for each loop that is such a recurrence."""
    found: list[Finding] = []
    if all(device.kind == "cpu" for device in facts.trace.devices):
        return found
    for program in facts.runs:
        module = facts.module(program)
        if module is None or facts.device_time.get(program, 0) / 1000 < _LEAST_SHARE * facts.wall:
            continue
        for loop in module.instructions:
            if loop.opcode != "while":
                continue
            body = facts.graph(program).run_by([loop])
            if not _is_recurrence(body):
                continue
            inside = [time for one in body for time in facts.op_times.get((program, one.name), [])]
            turns = max((time.events for time in inside), default=0)
            # Where the loop leaves no event of its own, it is taken to be entered once a run.
            marked = sum(time.events for time in facts.op_times.get((program, loop.name), []))
            entered = marked or facts.runs[program]
            times = inside + facts.op_times.get((program, loop.name), [])
            gain = facts.device_part(times)
            if turns >= _TURNS * entered and gain >= _LEAST_SHARE * facts.wall:
                found.append(_finding(facts, program, module, loop, times, turns, entered, gain))
    return found


def _is_recurrence(body: list[Instruction]) -> bool:
    opcodes = {one.opcode for one in body}
    return opcodes <= _LINEAR | _MOVING and "multiply" in opcodes and bool(opcodes & {"add", "subtract"})


def _finding(
    facts: Facts,
    program: int,
    module: HloModule,
    loop: Instruction,
    times: list[OpTime],
    turns: int,
    entered: int,
    gain: int,
) -> Finding:
    path = max(times, key=lambda one: one.self_time).path
    line = where(module, loop)
    function = facts.function(program)
    message = (
        f"{path} is a loop of {turns // entered:,} turns over a linear recurrence"
        + (f" ({line})" if line else "")
        + f": {milliseconds(gain)}, {share(gain, facts.wall)} of the window, "
        f"{milliseconds(gain / turns)} a turn."
    )
    hint = (
        "compute it in parallel: jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), "
        "(decay, delta), reverse=True)[1]."
    )
    evidence = {"turns": turns // entered, "times_entered": entered, "line": line, "loop": loop.name}
    name = facts.program_names.get(program)
    level = severity(gain, facts.wall)
    return Finding("serial_scan", message, hint, gain, level, path, name, function, evidence)
