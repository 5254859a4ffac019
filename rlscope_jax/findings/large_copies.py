"""A large array is copied whole to change a part of it.

jax's arrays do not change: buffer.at[i].set(row) makes a new buffer. XLA writes in place only where nobody
needs the old one, which the caller of a jitted function must say: by donating the argument. Otherwise each
call copies the buffer.

How we tell: copy instructions that XLA put in, of a megabyte or more each, ran more than once and took a
tenth of the window or more. When the copy is of an argument of the program, and what follows writes a part of
it, donation is missing. The gain is the copies' time.

What to do: add = jax.jit(add, donate_argnums=0), then buffer = add(buffer, row): the old buffer must not be
used again. Inside a scan, carry the buffer and write it once; a value read after the write forces a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

from rlscope_jax.findings.facts import Facts, OpTime
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.graph import Graph
from rlscope_jax.findings.shapes import size as bytes_of
from rlscope_jax.findings.words import milliseconds, share, size
from rlscope_jax.xla_events.hlo import HloModule, Instruction

_LEAST_BYTES, _LEAST_SHARE = 1_000_000, 0.1
_COPIES = ("copy", "copy-start", "copy-done")
_PLUMBING = ("bitcast", "get-tuple-element", "tuple", "reshape")


@dataclass(frozen=True)
class _Copy:
    program: int
    instruction: Instruction
    times: list[OpTime]


def find(facts: Facts) -> list[Finding]:
    """One finding for each program and operation that copies."""
    groups: dict[tuple[int, str], list[_Copy]] = {}
    for (program, name), times in facts.op_times.items():
        instruction = facts.instruction(program, name)
        if instruction is None or instruction.opcode not in _COPIES:
            continue
        if bytes_of(instruction.shape) >= _LEAST_BYTES:
            path = max(times, key=lambda one: one.self_time).path
            groups.setdefault((program, path), []).append(_Copy(program, instruction, times))
    # One copy of a window that ended early is a large part of it, and tells nothing of the rest of the call.
    found = [
        _finding(facts, program, path, copies)
        for (program, path), copies in groups.items()
        if sum(time.events for copy in copies for time in copy.times) > 1
    ]
    return [finding for finding in found if finding.gain_ns >= _LEAST_SHARE * facts.wall]


def _finding(facts: Facts, program: int, path: str, copies: list[_Copy]) -> Finding:
    gain = facts.device_part([time for copy in copies for time in copy.times])
    largest = max(copies, key=lambda copy: sum(time.self_time for time in copy.times))
    count = sum(time.events for copy in copies for time in copy.times)
    module = facts.module(program)
    whole = bytes_of(largest.instruction.shape)
    part = _written(facts.graph(program), module, largest.instruction) if module else None
    argument = _argument(module, largest.instruction) if module else None
    function = facts.function(program)
    message = (
        f"{path} copies {size(whole)} {count:,} times"
        + (f" to write {size(part)} each" if part is not None else "")
        + f": {milliseconds(gain)}, {share(gain, facts.wall)} of the window, "
        f"in {largest.instruction.name} of {function}."
    )
    if argument is not None:
        hint = (
            f"donate the buffer ({argument}): {function} = jax.jit({function}, donate_argnums=…), "
            "and do not use the old one again."
        )
    else:
        hint = "carry the array through the loop and read it before it is written, or make it smaller."
    evidence = {
        "copies": count,
        "buffer_bytes": whole,
        "row_bytes": part,
        "argument": argument,
        "instruction": largest.instruction.name,
    }
    name = facts.program_names.get(program)
    level = severity(gain, facts.wall)
    return Finding("large_copies", message, hint, gain, level, path, name, function, evidence)


def _written(graph: Graph, module: HloModule, copy: Instruction) -> int | None:
    """Bytes that the update after the copy writes, where it writes a part."""
    for user in module.instructions:
        if copy.id not in user.operands:
            continue
        inside = graph.run_by([user]) or [user]
        for one in inside:
            if one.opcode in ("dynamic-update-slice", "scatter") and len(one.operands) > 1:
                update = one.operands[1 if one.opcode == "dynamic-update-slice" else -1]
                return bytes_of(module.instructions[module.by_id[update]].shape)
    return None


def _argument(module: HloModule, copy: Instruction) -> str | None:
    """The name of the program's argument that is copied, if it is one."""
    current, hops = copy, 0
    while current.operands and hops < 16:
        index = module.by_id.get(current.operands[0])
        if index is None:
            return None
        current, hops = module.instructions[index], hops + 1
        if current.opcode == "parameter":
            return current.op_name or current.name if current.computation == module.entry else None
        if current.opcode not in _PLUMBING:
            return None
    return None
