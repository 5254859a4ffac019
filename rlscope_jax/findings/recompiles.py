"""A function is compiled again while it trains.

Tracing, lowering and compiling a training step takes seconds, running it milliseconds. jax compiles a
function once for each combination of argument shapes, dtypes, weak types, shardings and static arguments, and
once for each new function object given to jax.jit. A loop in which one of these changes pays again and again.

How we tell: the calls of one function that compiled within the window. It counts as a recompilation when the
new program takes the same arguments, holds the same operations and replaces the old one for good (a weak type
that turned strong, another sharding, jit applied anew), or when new programs keep coming after old ones were
used again (a shape for every batch). Two networks that share a function's name, each compiled once, are none.
The gain is the time of every compilation after the first; below a fiftieth of the window nothing is said.

What to do: profile() and record say which argument differed; in a profile that others recorded,
jax.config.update("jax_explain_cache_misses", True) does. Move jax.jit out of the loop; pad batches to one
shape; start from strongly typed arrays: jnp.float32(0) instead of 0.0; place the first state as later ones
are.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from rlscope_jax.attribution.attribute import UNATTRIBUTED
from rlscope_jax.findings.facts import Compilation, Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.shapes import signature
from rlscope_jax.findings.words import milliseconds, steps
from rlscope_jax.names import plain
from rlscope_jax.xla_events.hlo import HloModule

_MANY = 3  # programs of different shapes: actor and critic have two, a changing shape has ever more
_ALIKE = 0.8
_LEAST_SHARE = 0.02


def find(facts: Facts) -> list[Finding]:
    """One finding for each function that was compiled again."""
    found = [_finding(facts, function, compiled) for function, compiled in recompiled(facts).items()]
    return [finding for finding in found if finding.gain_ns >= _LEAST_SHARE * facts.wall]


def recompiled(facts: Facts) -> dict[str, list[Compilation]]:
    """Function -> its compilations, of the functions that were compiled again without need."""
    of_function: dict[str, list[Compilation]] = defaultdict(list)
    for one in facts.compilations:
        if not facts.is_eager.get(one.program, False):
            of_function[one.function].append(one)
    found = {}
    for function, compilations in of_function.items():
        alike = _same_again(facts, compilations)
        if len(alike) > 1:
            found[function] = alike
        elif _keep_coming(facts, compilations):
            found[function] = compilations
    return found


def _same_again(facts: Facts, compilations: list[Compilation]) -> list[Compilation]:
    """Compilations of the same code for the same shapes, each of which made the one before useless."""
    kept: list[Compilation] = []
    for one in compilations:
        if not kept:
            kept.append(one)
        elif _alike(facts.module(kept[-1].program), facts.module(one.program)):
            if one.program == kept[-1].program or not _used_after(facts, kept[-1].program, one.end):
                kept.append(one)
        elif len(kept) == 1:
            kept = [one]
    return kept


def _keep_coming(facts: Facts, compilations: list[Compilation]) -> bool:
    """Whether compilations came late: after old programs were used again, or in step after step."""
    if len(compilations) < _MANY:
        return False
    programs = {one.program for one in compilations}
    calls = [call for call in facts.calls if call.program in programs]
    late = sum(_used_again_before(calls, one) for one in compilations)
    spread = {one.step for one in compilations if one.step is not None}
    return late >= _MANY - 1 or len(spread) >= _MANY


def _used_again_before(calls: list, one: Compilation) -> bool:
    counts = Counter(call.program for call in calls if call.start < one.start)
    return any(count > 1 for count in counts.values())


def _used_after(facts: Facts, program: int, instant: int) -> bool:
    return any(call.program == program and call.start > instant for call in facts.calls)


def _alike(left: HloModule | None, right: HloModule | None) -> bool:
    if left is None or right is None:
        return False
    if _arguments(left) != _arguments(right):
        return False
    a, b = (
        Counter((one.op_name, signature(one.shape)) for one in module.instructions if one.op_name)
        for module in (left, right)
    )
    return (a & b).total() >= _ALIKE * max(a.total(), b.total())


def _arguments(module: HloModule) -> list[bytes]:
    return sorted(
        signature(one.shape)
        for one in module.instructions
        if one.computation == module.entry and one.opcode == "parameter"
    )


def _finding(facts: Facts, function: str, compilations: list[Compilation]) -> Finding:
    programs = {one.program for one in compilations}
    calls = sum(call.program in programs for call in facts.calls)
    again = compilations[1:]
    path = max((one.path for one in compilations), key=[one.path for one in compilations].count)
    operation = facts.main_operation(compilations[-1].program) if path == UNATTRIBUTED else path
    spent = sum(one.time for one in again)
    gain = facts.host_part(spent, "compile")
    told = [one.step for one in compilations]
    marked = [step for step in told if step is not None]
    shapes = {tuple(_arguments(module)) for program in programs if (module := facts.module(program))}
    share = 100 * gain / facts.wall if facts.wall else 0
    same = len(shapes) == 1
    told_by_jax = _reasons(facts, function)
    reasons = [reason for _, reason in told_by_jax]
    kind = told_by_jax[-1][0] if told_by_jax else None
    message = (
        f"{function} was compiled {len(compilations)} times in {calls} calls{steps(sorted(set(marked)))}: "
        f"{milliseconds(gain)} ({share:.0f} % of the window) went into compiling it again, "
        + ("for arguments of the same shapes" if same else f"for {len(shapes)} different shapes")
        + (f": {reasons[-1]}." if reasons else ".")
    )
    if kind in _HINTS:
        hint = _HINTS[kind]
    elif not same:
        hint = "give it one shape: pad the batch, e.g. jnp.pad(x, ((0, longest - len(x)), (0, 0))), and mask."
    elif len(programs) > 2 or len(compilations) > 2:
        hint = (
            f"jit once, outside the loop: {function} = jax.jit({function}); pass what changes as an argument."
        )
    else:
        hint = (
            'jax.config.update("jax_explain_cache_misses", True) names the argument: often a weak type '
            "(start from jnp.float32(0), not 0.0) or a sharding (jax.device_put the first state likewise)."
        )
    evidence = {
        "compiles": len(compilations),
        "calls": calls,
        "steps": marked,
        "shapes": len(shapes),
        "compile_ns": [round(one.time / 1000) for one in compilations],
        "reasons": reasons,
    }
    name = facts.program_names.get(compilations[-1].program)
    return Finding(
        "recompiles", message, hint, gain, severity(gain, facts.wall), operation, name, function, evidence
    )


_HINTS = {
    "weak types": "start from strongly typed arrays: jnp.float32(0), not 0.0.",
    "shardings": "place the first state as the function returns it: state = jax.device_put(state, sharding).",
}


def _reasons(facts: Facts, function: str) -> list[tuple[str, str]]:
    """Why jax compiled it again, kind and words in order of time, as far as our own capture listened."""
    return [
        (one["kind"], one["reason"])
        for known in facts.data["compiles"]["functions"]
        if plain(known["function"]) == plain(function.partition(" (")[0])
        for one in known["compiled"]
        if one["reason"]
    ]
