"""Where in the Python program the instructions of a module come from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath

from rlscope_jax.attribution.placement import parse_function
from rlscope_jax.names import plain
from rlscope_jax.xla_events.hlo import HloModule, Instruction
from rlscope_jax.xla_events.stack_frames import Frame

_JAX = frozenset({"jax", "jaxlib"})
_FEW = 8


def is_users(module: HloModule, function: str) -> bool:
    """Whether a program was compiled from a function outside jax: some instruction was traced within it.

    Where no instruction tells, a program of a few is taken for jax's own, and a larger one for the user's.
    """
    stacks = [module.frames.stack(frame) for frame in frames_used(module)]
    known = [stack for stack in stacks if stack]
    if not known:
        return len(module.instructions) > _FEW
    names = {plain(function), plain(parse_function(module.name))}
    return any(names & names_of(call) for stack in known for call in stack)


def frames_used(module: HloModule) -> set[int]:
    """The stack frames of a module's instructions."""
    return {one.stack_frame for one in module.instructions if one.stack_frame}


@lru_cache(maxsize=65536)
def names_of(call: Frame) -> frozenset[str]:
    """What a frame's function may be called: `Agent.update`, and `update`. None for jax's own code."""
    if _JAX.intersection(PurePath(call.file).parts):
        return frozenset()
    name = call.function.rpartition("<locals>.")[2]
    return frozenset((plain(name), plain(name.rpartition(".")[2])))


def place(call: Frame) -> str:
    """A line of the program, to be shown: `train.py:12`."""
    return f"{PurePath(call.file).name}:{call.line}"


def where(module: HloModule, instruction: Instruction) -> str | None:
    """The line an instruction was traced at."""
    stack = [call for call in module.stack(instruction) if names_of(call)]
    return place(stack[-1]) if stack else None
