"""What kind of device work an instruction is."""

from __future__ import annotations

import re

from rlscope_jax.xla_events.hlo import Instruction

COMPUTE, COPY, COLLECTIVE, LOOP, HOST_CALL = range(5)
CATEGORIES = ("compute", "copy", "collective", "loop", "host_call")

_COLLECTIVES = (
    "all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute", "collective-broadcast",
    "ragged-all-to-all",
)  # fmt: skip

_COPY_KERNEL = re.compile(r"(Memcpy|Memset|__amd_rocclr_(copy|fill)Buffer|CopyBuffer|hipMemcpy|cudaMemcpy)")
_COLLECTIVE_KERNEL = re.compile(r"(nccl|rccl|ncclDevKernel|mscclKernel)", re.IGNORECASE)


def device_category(instruction: Instruction | None, kernel: str = "") -> int:
    """The device category of an executed instruction, or of a kernel that no instruction claims.

    `call` computes: XLA:CPU runs whole small loops as one call. `while` and `conditional` are the
    control around the ops they run, which have events of their own. Copies and collectives are known by
    their kernels too: a driver's copy may stand on a compute stream.
    """
    if _COPY_KERNEL.match(kernel):
        return COPY
    if _COLLECTIVE_KERNEL.match(kernel):
        return COLLECTIVE
    if instruction is None:
        return COPY if kernel.startswith("copy") else COMPUTE
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
