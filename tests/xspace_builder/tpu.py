"""Profiles of TPUs: a plane a chip, with a line of modules and a line of ops.

What is known of an op stands on its event's metadata; the program of a module event only in its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from xspace_builder.hlo import HloModuleBuilder
from xspace_builder.lines import Event, LineBuilder
from xspace_builder.ops import NS, US, Op, PlacedOp, place
from xspace_builder.planes import PlaneBuilder
from xspace_builder.programs import ProgramIds
from xspace_builder.recording import Recording, Session
from xspace_builder.values import Uint, Value

_UINT64 = (1 << 64) - 1
_PLANE_ID_STEP = 8  # planes of a real trace have ids 2, 10, 18, 26


@dataclass(frozen=True)
class ModuleRun:
    """One execution of a program on one chip."""

    module: HloModuleBuilder
    event: Event
    ops: list[PlacedOp]


class _Chip:
    """The plane and the lines of one TPU chip."""

    def __init__(self, number: int) -> None:
        self.plane = PlaneBuilder(f"/device:TPU:{number}", 2 + _PLANE_ID_STEP * number)
        self.plane.stat("device_type_string", "TPU v6 Lite")
        self.plane.stat("peak_teraflops_per_second", 918.0)
        self.modules = self.plane.line("XLA Modules", id=2)
        self.ops = self.plane.line("XLA Ops", id=3)
        self.async_ops = self.plane.line("Async XLA Ops", id=4)
        self.traceme = self.plane.line("XLA TraceMe", id=6)
        self.run_numbers = count(1)
        self._described: dict[tuple[int, str], int] = {}

    def describe(self, module: HloModuleBuilder, op: str) -> int:
        """The id of an op's event metadata, which holds what is known of the op."""
        key = (module.program_id, op)
        if key not in self._described:
            name, stats = _description(module, op)
            self._described[key] = self.plane.event_metadata(name, display_name=op, stats=stats)
        return self._described[key]


class TpuTrace(Recording):
    """A profile of a host with TPU chips being composed."""

    program_ids = ProgramIds.KEY

    def __init__(self, chips: int = 1, session: Session = Session()) -> None:  # noqa: B008 (immutable)
        super().__init__(session)
        self.chips = [_Chip(number) for number in range(chips)]

    def device_planes(self) -> list[PlaneBuilder]:
        """One plane a chip."""
        return [chip.plane for chip in self.chips]

    def dispatch(self, module: HloModuleBuilder, at: int, duration: int = 50 * US) -> Event:
        """Call a jitted function from Python."""
        self.add_program(module)
        name = f"PjitFunction({module.name.removeprefix('jit_')})"
        outer = self.python.event(name, at, duration)
        self.python.event(name, at + 500 * NS, duration - 1_000 * NS)
        self.python.event("TfrtTpuLoadedExecutable::Execute", at + 2_000 * NS, duration - 4_000 * NS)
        return outer

    def run(self, module: HloModuleBuilder, ops: Sequence[Op], at: int, chip: int = 0) -> ModuleRun:
        """Run a program on a chip, its ops one after another from `at`."""
        self.add_program(module)
        on = self.chips[chip]
        placed = list(place(ops, at))
        end = max((each.end for each in placed), default=at)
        stats: dict[str, Value] = {"run_id": Uint(next(on.run_numbers)), "replica_id": 0, "queue_id": Uint(0)}
        event = on.modules.event(_module_name(module), at, end - at, stats)
        for each in placed:
            self._add_op(on.ops, on.describe(module, each.op.name), each.start, each.op.duration)
        return ModuleRun(module, event, placed)

    def async_op(
        self, module: HloModuleBuilder, op: str, done: str, start: int, duration: int, chip: int = 0
    ) -> Event:
        """Add an asynchronous op, from its start to its `done` op; such events overlap each other."""
        on = self.chips[chip]
        return on.async_ops.event(on.describe(module, op), start, duration, {"hlo_op": done, "_a": 1})

    @staticmethod
    def _add_op(line: LineBuilder, metadata_id: int, start: int, duration: int) -> None:
        # The device's own clock says the same again, a little earlier.
        stats = {"device_offset_ps": Uint(max(0, start - 14 * NS)), "device_duration_ps": Uint(duration)}
        line.event(metadata_id, start, duration, stats)


def _module_name(module: HloModuleBuilder) -> str:
    return f"{module.name}({module.program_id & _UINT64})"


def _description(module: HloModuleBuilder, op: str) -> tuple[str, dict[str, Value]]:
    stats: dict[str, Value] = {"hlo_category": "unknown", "program_id": Uint(module.program_id & _UINT64)}
    instruction = module.instruction(op)
    if instruction is None:
        return f"%{op}", stats
    stats |= {"hlo_category": instruction.opcode, "flops": 0, "bytes_accessed": 64}
    if instruction.source:
        stats["source"] = "{}:{}".format(*instruction.source)
    if instruction.op_name:
        stats["tf_op"] = f"{instruction.op_name}:"
    operands = ", ".join(f"{operand.shape} %{operand.name}" for operand in instruction.operands)
    return f"%{op} = {instruction.shape} {instruction.opcode}({operands})", stats
