"""A module that holds the ops of a tree, for tests to which its details do not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xspace_builder.hlo import ComputationBuilder, HloModuleBuilder
from xspace_builder.ops import Op


def module_of(
    name: str, program_id: int, ops: Sequence[Op], op_names: Mapping[str, str] | None = None
) -> HloModuleBuilder:
    """A module with one instruction per distinct op name; what an op encloses, its instruction calls.

    `op_names` gives instructions their op_name metadata; the others have none.
    """
    module = HloModuleBuilder(name, program_id)
    scopes = op_names or {}

    def fill(computation: ComputationBuilder, level: Sequence[Op]) -> None:
        operand = computation.parameter(f"{computation.name}.argument")
        for op in level:
            if module.instruction(op.name) is not None:
                continue
            instruction = computation.add(
                op.name, "call" if op.children else "negate", [operand], op_name=scopes.get(op.name, "")
            )
            if op.children:
                body = module.computation(f"{op.name}.body")
                instruction.calls = [body]
                fill(body, op.children)

    fill(module.entry, ops)
    return module
