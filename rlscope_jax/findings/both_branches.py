"""Both branches of a condition are computed for every element, and one of them is thrown away.

Under jax.vmap a jax.lax.cond whose predicate differs from element to element becomes a select: every branch
runs for all elements, and the predicate only chooses. A reset that one step in a hundred needs then runs at
every step.

How we tell: the program holds selects that jax made of a condition (or a lax.select) and no conditional; and
instructions that serve these selects alone, traced at the select's own line or in functions called from
there, took a tenth of the window or more. A jnp.where that masks values is none. The gain is all the time of
those instructions: were the branch computed only where it is taken.

What to do: compute the branch rarely or cheaply: keep a pool of states reset beforehand and pick from it;
reset all environments together when the rollout ends; or, where one predicate serves the whole batch, use it
unbatched: jax.lax.cond(done.any(), reset_all, keep, state) outside jax.vmap is a real conditional.
"""

from __future__ import annotations

from collections import defaultdict

from rlscope_jax.findings.facts import Facts, OpTime
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.graph import Graph
from rlscope_jax.findings.source import names_of, place
from rlscope_jax.findings.words import milliseconds
from rlscope_jax.names import call_nest, parse_op_name, plain
from rlscope_jax.xla_events.hlo import HloModule, Instruction
from rlscope_jax.xla_events.stack_frames import Frame

_LEAST_SHARE = 0.1


def find(facts: Facts) -> list[Finding]:
    """One finding for each line at which a program chooses between branches it has both computed."""
    found = []
    for program in facts.runs:
        module = facts.module(program)
        busy = facts.device_time.get(program, 0)
        if module is None or busy / 1000 < _LEAST_SHARE * facts.wall:
            continue
        for chosen_at, selects in _selects(module).items():
            served = _serving(facts.graph(program), module, selects)
            times = [time for one in served for time in facts.op_times.get((program, one.name), [])]
            gain = facts.device_part(times)
            if times and gain >= _LEAST_SHARE * facts.wall:  # a window may be corrected to nothing
                found.append(_finding(facts, program, module, chosen_at, times, gain))
    return found


def _selects(module: HloModule) -> dict[Frame, list[int]]:
    """The line of each choice -> its selects (indices), of those that are no jnp.where and no derivative."""
    found: dict[Frame, list[int]] = defaultdict(list)
    for index, one in enumerate(module.instructions):
        if one.opcode != "select" or not one.op_name.endswith("/select_n"):
            continue
        stack = _calls(module, one)
        names = {name for call in stack for name in names_of(call)}
        if not stack or parse_op_name(one.op_name).direction is not None:
            continue
        if all(plain(name) in names for name in call_nest(one.op_name).functions):
            found[stack[-1]].append(index)
    return found


def _calls(module: HloModule, one: Instruction) -> tuple[Frame, ...]:
    return tuple(call for call in module.stack(one) if names_of(call))


def _serving(graph: Graph, module: HloModule, selects: list[int]) -> list[Instruction]:
    """The instructions whose results reach nothing but these selects, traced where the choice is made."""
    first = module.instructions[selects[0]]
    lines = {(call.function, call.file): call.line for call in _calls(module, first)}
    prefix = first.op_name.removesuffix("select_n")
    ends = {module.instructions[index].id for index in selects}
    inner = {module.instructions[index].computation for index in selects}
    # Fusions that hold a select come first: which of their operands serve it stands within them.
    holding = [
        one for one in module.instructions if one.opcode == "fusion" and not inner.isdisjoint(one.called)
    ]
    holders = {one.id for one in holding}
    serving: set[int] = set()
    for computation in [*inner, *{one.computation for one in holding} - inner]:
        serving |= _serving_within(graph, module.roots.get(computation), computation, ends, holders, serving)
    found = [module.instructions[module.by_id[number]] for number in serving]
    return [one for one in [*found, *graph.run_by(found)] if _traced_there(module, one, lines, prefix)]


def _serving_within(
    graph: Graph, root: int | None, computation: int, ends: set[int], holders: set[int], served: set[int]
) -> set[int]:
    """The ids of one computation's instructions that serve the selects (`ends`) alone."""
    uses: dict[int, list[bool | int]] = defaultdict(list)
    for one in graph.members[computation]:
        places = range(len(one.operands))
        if one.id in ends:
            serves: list[bool | int] = [place > 0 for place in places]  # the first is the predicate
        elif one.id in holders:
            serves = [_parameter_served(graph, one, place, served) for place in places]
        else:
            serves = [one.id for _ in places]
        for operand, serving in zip(one.operands, serves, strict=True):
            uses[operand].append(serving)
    found: set[int] = set()
    for one in reversed(graph.members[computation]):  # users come after what they use
        if one.id == root or one.id in ends or one.id in holders:
            continue
        reached = [use if isinstance(use, bool) else use in found for use in uses[one.id]]
        if reached and all(reached):
            found.add(one.id)
    return found


def _parameter_served(graph: Graph, fusion: Instruction, place: int, served: set[int]) -> bool:
    """Whether an operand of a fusion serves the select within: XLA calls its parameter `param_<place>`."""
    return any(
        one.id in served
        for called in fusion.called
        for one in graph.members[called]
        if one.opcode == "parameter" and one.name.partition(".")[0] == f"param_{place}"
    )


def _traced_there(
    module: HloModule, one: Instruction, lines: dict[tuple[str, str], int], prefix: str
) -> bool:
    """Whether no function of the choice's stack was at another line when this was traced.

    What lies in a `jit` of its own keeps the stack of its first call, wherever that was: its name must do.
    """
    if call_nest(one.op_name).functions:
        return one.op_name.startswith(prefix)
    return all(lines.get((call.function, call.file), call.line) == call.line for call in _calls(module, one))


def _finding(
    facts: Facts, program: int, module: HloModule, chosen_at: Frame, times: list[OpTime], gain: int
) -> Finding:
    paths: dict[str, int] = defaultdict(int)
    for one in times:
        paths[one.path] += one.self_time
    operation = max(paths, key=lambda path: paths[path])
    conditionals = sum(one.opcode == "conditional" for one in module.instructions)
    function = facts.function(program)
    device = facts.device_time.get(program, 0)
    of_program = sum(one.self_time for one in times) / device if device else 0.0
    message = (
        f"{operation} is computed for every element and then chosen by a select ({place(chosen_at)}): "
        f"{milliseconds(gain)}, {100 * of_program:.0f} % of {function}'s device time; "
        + ("no conditional in its HLO." if not conditionals else f"{conditionals} conditionals elsewhere.")
    )
    hint = (
        "under vmap lax.cond runs both branches: pick resets from a pool made beforehand, "
        "or take one predicate for the batch: jax.lax.cond(done.any(), reset_all, keep, state)."
    )
    evidence = {
        "share_of_program": round(of_program, 4),
        "device_ns": round(sum(one.self_time for one in times) / 1000),
        "conditionals": conditionals,
        "line": place(chosen_at),
    }
    name = facts.program_names.get(program)
    level = severity(gain, facts.wall)
    return Finding("both_branches", message, hint, gain, level, operation, name, function, evidence)
