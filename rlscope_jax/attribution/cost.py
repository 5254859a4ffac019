"""What one instruction within a fusion costs beside the others: a rough count of its arithmetic.

Good enough to share a fusion's measured time between the operations XLA put into it; not an estimate of time.
"""

from __future__ import annotations

from math import prod

from rlscope_jax.xla_events.hlo import HloModule, Instruction, contracted, dimensions
from rlscope_jax.xla_events.wire import WireError

# Within a fusion these only say where a value comes from; nothing is computed or moved for them.
_FREE = frozenset(
    {
        "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "reshape", "broadcast", "iota",
        "slice", "after-all", "optimization-barrier",
    }
)  # fmt: skip
# A vectorized polynomial rather than one machine instruction.
_TRANSCENDENTAL = frozenset(
    {
        "exponential", "exponential-minus-one", "log", "log-plus-one", "tanh", "sine", "cosine", "tan",
        "power", "atan2", "erf", "logistic", "cbrt", "sqrt", "rsqrt", "divide", "remainder",
    }
)  # fmt: skip
_TIMES_DEARER = 8


def cost(instruction: Instruction, module: HloModule) -> int:
    """Elementary operations of an instruction, at least 0."""
    if instruction.opcode in _FREE:
        return 0
    try:
        made = prod(dimensions(instruction.shape))
        if instruction.opcode == "dot":
            return 2 * made * _summed_over(instruction, module)
        if instruction.opcode in ("reduce", "reduce-window", "scatter", "sort"):
            return max(
                [made, *(prod(dimensions(operand.shape)) for operand in _operands(instruction, module))]
            )
    except WireError:
        return 1
    return made * (_TIMES_DEARER if instruction.opcode in _TRANSCENDENTAL else 1)


def _summed_over(dot: Instruction, module: HloModule) -> int:
    operands = _operands(dot, module)
    left = dimensions(operands[0].shape) if operands else []
    return prod(left[index] for index in contracted(dot.dot) if index < len(left))


def _operands(instruction: Instruction, module: HloModule) -> list[Instruction]:
    known = (module.by_id.get(operand) for operand in instruction.operands)
    return [module.instructions[index] for index in known if index is not None]
