"""The host callbacks of compiled programs: what three rules look at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rlscope_jax.findings.facts import Call, Facts, OpTime
from rlscope_jax.findings.source import where

_LEAST_CALLS = 10
_OFTEN = 5


@dataclass(frozen=True)
class Callbacks:
    """The callbacks that one program makes for one operation."""

    program: int
    path: str
    primitives: tuple[str, ...]
    """io_callback, pure_callback, debug_callback: what the program called."""
    line: str | None
    times: list[OpTime]

    @property
    def count(self) -> int:
        """How many were made."""
        return sum(one.events for one in self.times)

    @property
    def self_time(self) -> int:
        """How long they took, ps."""
        return sum(one.self_time for one in self.times)

    @property
    def debug(self) -> bool:
        """Whether they only tell something to the host: jax.debug.callback, jax.debug.print."""
        return all(name.startswith("debug") for name in self.primitives)


def callbacks(facts: Facts) -> list[Callbacks]:
    """The callbacks made, by program and operation."""
    found: dict[tuple[int, str], list[tuple[str, str | None, OpTime]]] = defaultdict(list)
    for (program, name), times in facts.op_times.items():
        instruction = facts.instruction(program, name)
        if (
            instruction is None
            or instruction.opcode != "custom-call"
            or "callback" not in instruction.custom_call_target
        ):
            continue
        module = facts.module(program)
        line = where(module, instruction) if module else None
        primitive = instruction.op_name.rpartition("/")[2] or "callback"
        for one in times:
            found[program, one.path].append((primitive, line, one))
    return [
        Callbacks(
            program,
            path,
            tuple(sorted({primitive for primitive, _, _ in made})),
            next((line for _, line, _ in made if line), None),
            [one for _, _, one in made],
        )
        for (program, path), made in found.items()
    ]


def slow_calls(facts: Facts, program: int) -> list[Call]:
    """The warm calls of a program that went through jax's Python code; [] when they are few."""
    slow = calls_through_python(facts, program)
    return slow if len(slow) >= _LEAST_CALLS else []


def calls_through_python(facts: Facts, program: int) -> list[Call]:
    """The warm calls of a program that went through jax's Python code.

    `io_callback` and `jax.debug.callback` force that on every call of the program that holds them.
    """
    return [c for c in facts.calls if c.program == program and c.through_python and not c.compiled]


def told_as_slow_dispatch(facts: Facts, made: Callbacks) -> bool:
    """Whether the call into the program costs about as much as the callbacks it makes, or more."""
    slow = slow_calls(facts, made.program)
    return bool(slow) and made.self_time <= _OFTEN * sum(call.end - call.start for call in slow)
