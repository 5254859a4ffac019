"""One program takes longer to compile than all the work of the window.

Tracing, lowering and XLA's passes grow with the number of instructions, and a Python loop inside a jitted
function writes its body once for every turn: a rollout of 128 steps is compiled as 128 environments.

How we tell: a compilation took at least three tenths of the window, and the program's instructions stand many
times over: the same source line under the same name, ten times or more. Without such copies a compilation is
only told when it took both half of the window and ten seconds or more: then the program is large, or the
window recorded the start. Compilations that `recompiles` tells of are left to it. The gain is the whole
compilation.

What to do: write the loop as jax.lax.scan(step, state, xs), or for layers flax.linen.scan. If the program is
large for good reasons, keep what was compiled: jax.config.update("jax_compilation_cache_dir", "…"); and open
the window after the first step.
"""

from __future__ import annotations

from collections import Counter

from rlscope_jax.attribution.attribute import UNATTRIBUTED
from rlscope_jax.findings.facts import Compilation, Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.recompiles import recompiled
from rlscope_jax.findings.source import where
from rlscope_jax.findings.words import milliseconds, share
from rlscope_jax.xla_events.hlo import HloModule

_COPIES, _UNROLLED_SHARE = 10, 0.3
_LARGE_SHARE, _LARGE_NS = 0.5, 10e9
_NOTHING = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "broadcast"})


def find(facts: Facts) -> list[Finding]:
    """One finding for each program that takes too long to compile."""
    again = recompiled(facts)
    found = []
    for one in facts.compilations:
        module = facts.module(one.program)
        if one.function in again or module is None:
            continue
        gain = facts.host_part(one.time, "compile")
        copies, line = _copies(module)
        if copies >= _COPIES and gain >= _UNROLLED_SHARE * facts.wall:
            found.append(_finding(facts, one, module, gain, copies, line))
        elif gain >= max(_LARGE_SHARE * facts.wall, _LARGE_NS):
            found.append(_finding(facts, one, module, gain, 1, None))
    return found


def _copies(module: HloModule) -> tuple[int, str | None]:
    """How many times the typical instruction stands in the program, and the line that stands most often."""
    same = Counter(
        (one.op_name, one.opcode, one.stack_frame)
        for one in module.instructions
        if one.op_name and one.opcode not in _NOTHING
    )
    if not same:
        return 0, None
    (op_name, opcode, frame), _ = same.most_common(1)[0]
    chosen = (op_name, opcode, frame)
    first = next(one for one in module.instructions if (one.op_name, one.opcode, one.stack_frame) == chosen)
    return round(same.total() / len(same)), where(module, first)


def _finding(
    facts: Facts, one: Compilation, module: HloModule, gain: int, copies: int, line: str | None
) -> Finding:
    unrolled = copies > 1
    count = len(module.instructions)
    what = f"{count:,} instructions" + (f", each source line about {copies} times over" if unrolled else "")
    message = (
        f"compiling {one.function} took {milliseconds(gain)}, {share(gain, facts.wall)} of the window: "
        f"{what}" + (f" (most: {line})." if line else ".")
    )
    if unrolled:
        hint = "a Python loop was unrolled: write it as state, out = jax.lax.scan(step, state, xs)."
    else:
        hint = (
            'keep compiled programs: jax.config.update("jax_compilation_cache_dir", ".jax_cache"); '
            "open the window after the first step."
        )
    operation = facts.main_operation(one.program) if one.path == UNATTRIBUTED else one.path
    evidence = {"compile_ns": gain, "instructions": count, "copies": copies, "line": line}
    level = severity(gain, facts.wall, "high" if unrolled else "medium")
    name = facts.program_names.get(one.program)
    return Finding("compile_dominates", message, hint, gain, level, operation, name, one.function, evidence)
