"""The device ops of each operation, with the program and the source line they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rlscope_jax.attribution.attribute import DeviceOwner
    from rlscope_jax.breakdown.report import Process, Report

_MOST = 200  # ops of one operation; the rest took least
_FRAMES = 12  # of the Python stack, innermost

Ops = dict[str, dict[str, Any]]


def ops_of(report: Report) -> Ops:
    """Per operation (see `key`): its heaviest ops, self times in ns, and how many more there are."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for window in report.windows or [report]:
        for index, process in enumerate(window.processes):
            _add(found, index, process)
    return {name: _heaviest(list(ops.values())) for name, ops in found.items()}


def key(process: int, path: str, direction: str | None) -> str:
    """The name of an operation's row in `ops_of`."""
    return f"{process}|{direction or ''}|{path}"


def _add(found: dict[str, dict[int, dict[str, Any]]], index: int, process: Process) -> None:
    attribution = process.attribution
    counts = np.zeros(len(attribution.owners), np.int64)
    for op_owner in attribution.op_owner:
        counts += np.bincount(op_owner, minlength=len(counts))[: len(counts)]
    times = process.table.cells.device_self.tolist()
    for owner, time, count in zip(attribution.owners, times, counts.tolist(), strict=True):
        for share, part in owner.divide(time):
            ops = found.setdefault(key(index, share.path, share.direction), {})
            entry = ops.setdefault(owner.op, {**_described(process, owner), "self": 0, "count": 0})
            entry["self"] += (part + 500) // 1000
            entry["count"] += count
            entry["evidence"] = share.evidence


def _described(process: Process, owner: DeviceOwner) -> dict[str, Any]:
    trace = process.trace
    program, name = int(trace.ops.program[owner.op]), trace.ops.name[owner.op]
    module = trace.programs.module(program)
    instruction = None if module is None else module.named(name)
    frames = () if module is None or instruction is None else module.stack(instruction)[-_FRAMES:]
    return {
        "name": name or trace.ops.kernel[owner.op],
        "kernel": trace.ops.kernel[owner.op],
        "program": module.name if module is not None else "",
        "opcode": instruction.opcode if instruction is not None else "",
        "op_name": instruction.op_name if instruction is not None else trace.ops.op_path[owner.op],
        "source": [{"function": frame.function, "file": frame.file, "line": frame.line} for frame in frames],
    }


def _heaviest(ops: list[dict[str, Any]]) -> dict[str, Any]:
    ops.sort(key=lambda op: -op["self"])
    rest = ops[_MOST:]
    return {
        "ops": ops[:_MOST],
        "more": len(rest),
        "more_self": sum(op["self"] for op in rest),
    }
