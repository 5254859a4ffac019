"""What kind of device work an instruction is."""

from __future__ import annotations

from rlscope_jax.xla_events.hlo import Instruction

COMPUTE, COPY, COLLECTIVE, LOOP, HOST_CALL = range(5)
CATEGORIES = ("compute", "copy", "collective", "loop", "host_call")

_COLLECTIVES = (
    "all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute", "collective-broadcast",
    "ragged-all-to-all",
)  # fmt: skip


def device_category(instruction: Instruction | None) -> int:
    """The device category of an executed instruction; an unknown one computes.

    `call` computes: XLA:CPU runs whole small loops as one call. `while` and `conditional` are the
    control around the ops they run, which have events of their own.
    """
    if instruction is None:
        return COMPUTE
    opcode = instruction.opcode
    if opcode in ("while", "conditional"):
        return LOOP
    if opcode.startswith("copy"):
        return COPY
    if opcode.startswith(_COLLECTIVES):
        return COLLECTIVE
    if opcode in ("send", "recv", "infeed", "outfeed") or _is_callback(instruction):
        return HOST_CALL
    return COMPUTE


def _is_callback(instruction: Instruction) -> bool:
    return instruction.opcode == "custom-call" and "callback" in instruction.custom_call_target
