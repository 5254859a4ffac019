"""HLO protos: the instruction tables of the programs that ran.

They sit in plane `/host:metadata`, in a statistic "Hlo Proto" of each event metadata entry
(openxla/xla `hlo.proto`): HloProto{hlo_module=1}; HloModuleProto{name=1, computations=3, id=5,
entry_computation_id=6, stack_frame_index=17}; HloComputationProto{name=1, instructions=2, id=5, root_id=6};
HloInstructionProto{name=1, opcode=2, shape=3, metadata=7, custom_call_target=28, dot_dimension_numbers=30,
id=35, operand_ids=36, called_computation_ids=38, backend_config=43};
OpMetadata{op_name=2, stack_frame_id=15}; ShapeProto{dimensions=3, tuple_shapes=4}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from rlscope_jax.xla_events import wire
from rlscope_jax.xla_events.stack_frames import Frame, StackFrames
from rlscope_jax.xla_events.xspace import XSpace

METADATA_PLANE = "/host:metadata"
_HLO_STAT = "Hlo Proto"


@dataclass(slots=True)
class Instruction:
    """One HLO instruction; `computation`, `called` and `operands` are ids within the module."""

    name: str = ""
    opcode: str = ""
    op_name: str = ""
    id: int = 0
    computation: int = 0
    operands: list[int] = field(default_factory=list)
    called: list[int] = field(default_factory=list)
    stack_frame: int = 0
    custom_call_target: str = ""
    shape: bytes = b""
    """The ShapeProto; see `elements`."""
    dot: bytes = b""
    """The DotDimensionNumbers of a dot."""
    backend_config: bytes = b""
    """What the backend notes of it, mostly JSON; see `trip_count`."""


@dataclass
class HloModule:
    """One compiled program's instructions."""

    name: str
    instructions: list[Instruction]
    roots: dict[int, int]
    """Computation id -> id of its root instruction."""
    entry: int
    frames: StackFrames = field(default_factory=StackFrames)

    def __post_init__(self) -> None:
        self.by_name = {instruction.name: index for index, instruction in enumerate(self.instructions)}
        self.by_id = {instruction.id: index for index, instruction in enumerate(self.instructions)}

    def stack(self, instruction: Instruction) -> tuple[Frame, ...]:
        """The Python calls in which an instruction was traced, outermost first."""
        return self.frames.stack(instruction.stack_frame)

    def named(self, name: str) -> Instruction | None:
        """The instruction of that name."""
        index = self.by_name.get(name)
        return None if index is None else self.instructions[index]


class Programs:
    """The HLO modules of a profile, each parsed when it is first asked for."""

    def __init__(self, space: XSpace) -> None:
        self._protos = _find(space)
        self._modules: dict[int, HloModule | None] = {}

    def __contains__(self, program_id: int) -> bool:
        return program_id in self._protos

    def __iter__(self) -> Iterator[int]:
        return iter(self._protos)

    def module(self, program_id: int) -> HloModule | None:
        """The module of a program, None when the profile does not hold it (or holds it damaged)."""
        if program_id not in self._modules:
            self._modules[program_id] = self._read(program_id)
        return self._modules[program_id]

    def of_modules(self, ids: np.ndarray, modules: list[str]) -> np.ndarray:
        """The ids under which the programs' HLO is kept, from the ids and module names that events state.

        They differ for a program from the persistent compilation cache: its events keep the id it had in the
        process that compiled it, which may be another program's here. Then its name tells, if it is the only
        one of that name.
        """
        kept = dict.fromkeys(zip(ids.tolist(), modules, strict=True))
        for stated, name in kept:
            kept[stated, name] = self._id_of(stated, name)
        return np.array([kept[pair] for pair in zip(ids.tolist(), modules, strict=True)], np.int64)

    def _id_of(self, stated: int, name: str) -> int:
        module = self.module(stated)
        if not name or (module is not None and module.name == name):
            return stated
        named = [program for program in self if (found := self.module(program)) and found.name == name]
        return named[0] if len(named) == 1 else stated

    def instruction(self, program_id: int, name: str) -> Instruction | None:
        """The instruction of that name in a program, None when either is not known."""
        module = self.module(program_id)
        return None if module is None else module.named(name)

    def _read(self, program_id: int) -> HloModule | None:
        proto = self._protos.get(program_id)
        try:
            return None if proto is None else parse_hlo_proto(bytes(proto))
        except wire.WireError:
            return None


def parse_hlo_proto(content: bytes) -> HloModule:
    """Read the instruction table out of a serialized HloProto.

    Raises:
        WireError: the bytes are no HloProto.
    """
    for number, wire_type, start, end in wire.fields(content, 0, len(content)):
        if number == 1 and wire_type == wire.BYTES:
            return _module(content, start, end)
    raise wire.WireError("no module in the HLO proto")


def _find(space: XSpace) -> dict[int, memoryview]:
    plane = space.plane(METADATA_PLANE)
    if plane is None:
        return {}
    protos = {}
    for key, _, places in plane.event_metadata():
        stats = plane.read_stats(places)
        proto = stats.get(_HLO_STAT)
        if isinstance(proto, memoryview):
            # jax >= 0.10 numbers the entries 1..N and states the program's id; before, the key is the id.
            program = as_program_id(stats.get("program_id", key))
            protos[key if program is None else program] = proto
    return protos


def as_program_id(value: object) -> int | None:
    """A program id as int64, however it was written (signed, unsigned, decimal text); None if it is none."""
    try:
        return wire.signed(int(value) & 0xFFFFFFFFFFFFFFFF)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return None


def _module(content: bytes, start: int, end: int) -> HloModule:
    name, entry, instructions, roots, frames = "", 0, [], {}, StackFrames()
    for number, wire_type, first, last in wire.fields(content, start, end):
        if number == 1 and wire_type == wire.BYTES:
            name = wire.text(content, first, last)
        elif number == 3 and wire_type == wire.BYTES:
            computation, root, found = _computation(content, first, last)
            roots[computation] = root
            instructions.extend(found)
        elif number == 6 and wire_type == wire.VARINT:
            entry = wire.signed(first)
        elif number == 17 and wire_type == wire.BYTES:
            frames = StackFrames.read(content, first, last)
    return HloModule(name, instructions, roots, entry, frames)


def _computation(content: bytes, start: int, end: int) -> tuple[int, int, list[Instruction]]:
    computation, root, found = 0, 0, []
    for number, wire_type, first, last in wire.fields(content, start, end):
        if number == 2 and wire_type == wire.BYTES:
            found.append(_instruction(content, first, last))
        elif number == 5 and wire_type == wire.VARINT:
            computation = wire.signed(first)
        elif number == 6 and wire_type == wire.VARINT:
            root = wire.signed(first)
    for instruction in found:
        instruction.computation = computation
    return computation, root, found


def _instruction(content: bytes, start: int, end: int) -> Instruction:
    instruction = Instruction()
    for number, wire_type, first, last in wire.fields(content, start, end):
        if number == 1:
            instruction.name = wire.text(content, first, last)
        elif number == 2:
            instruction.opcode = wire.text(content, first, last)
        elif number == 3 and wire_type == wire.BYTES:
            instruction.shape = content[first:last]
        elif number == 7:
            _op_metadata(instruction, content, first, last)
        elif number == 28:
            instruction.custom_call_target = wire.text(content, first, last)
        elif number == 30 and wire_type == wire.BYTES:
            instruction.dot = content[first:last]
        elif number == 35:
            instruction.id = wire.signed(first)
        elif number == 36:
            instruction.operands += _ids(content, wire_type, first, last)
        elif number == 38:
            instruction.called += _ids(content, wire_type, first, last)
        elif number == 43 and wire_type == wire.BYTES:
            instruction.backend_config = content[first:last]
    return instruction


def _op_metadata(instruction: Instruction, content: bytes, start: int, end: int) -> None:
    for number, wire_type, first, last in wire.fields(content, start, end):
        if number == 2 and wire_type == wire.BYTES:
            instruction.op_name = wire.text(content, first, last)
        elif number == 15 and wire_type == wire.VARINT:
            instruction.stack_frame = first


def dimensions(shape: bytes) -> list[int]:
    """The sizes of an array's dimensions, out of its ShapeProto; of a tuple those of its first array."""
    sizes: list[int] = []
    for number, wire_type, first, last in wire.fields(shape, 0, len(shape)):
        if number == 3:
            sizes += _ids(shape, wire_type, first, last)
        elif number == 4 and wire_type == wire.BYTES:
            return dimensions(shape[first:last])
    return sizes


def trip_count(loop: Instruction) -> int | None:
    """How often a while's body runs each time; None where XLA does not know it."""
    try:
        count = int(json.loads(loop.backend_config)["known_trip_count"]["n"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return count if 0 <= count < 1 << 63 else None


def contracted(dot: bytes) -> list[int]:
    """Which dimensions of a dot's left operand are summed over, out of its DotDimensionNumbers."""
    return [
        index
        for number, wire_type, first, last in wire.fields(dot, 0, len(dot))
        if number == 1
        for index in _ids(dot, wire_type, first, last)
    ]


def _ids(content: bytes, wire_type: int, start: int, end: int) -> list[int]:
    """A repeated int64: packed, or one at a time."""
    if wire_type == wire.VARINT:
        return [wire.signed(start)]
    ids, position = [], start
    while position < end:
        value, position = wire.varint(content, position, end)
        ids.append(wire.signed(value))
    return ids
