"""HLO modules: computations of instructions, as the compiler leaves them in a profile.

Field numbers are those of openxla/xla `hlo.proto`; see `xspace_builder.stack_frames` for the frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xspace_builder import wire
from xspace_builder.shapes import encode_shape
from xspace_builder.stack_frames import StackFrames

_PARAMETER_NUMBER, _FUSION_KIND, _TUPLE_INDEX = 9, 11, 13


@dataclass(eq=False)
class Instruction:
    """One instruction. `extra` holds further fields of HloInstructionProto by number."""

    id: int
    name: str
    opcode: str
    shape: str
    operands: Sequence[Instruction]
    calls: Sequence[ComputationBuilder]
    op_name: str
    source: tuple[str, int] | None
    stack_frame: int
    extra: dict[int, int | str | bytes] = field(default_factory=dict)

    def encode(self) -> bytes:
        """The HloInstructionProto."""
        extra = b"".join(
            wire.integer(number, value) if isinstance(value, int) else wire.chunk(number, value)
            for number, value in self.extra.items()
        )
        return (
            wire.chunk(1, self.name)
            + wire.chunk(2, self.opcode)
            + wire.chunk(3, encode_shape(self.shape))
            + wire.chunk(7, self._encode_metadata())
            + extra
            + wire.integer(35, self.id)
            + wire.packed(36, [operand.id for operand in self.operands])
            + wire.packed(38, [called.id for called in self.calls])
        )

    def _encode_metadata(self) -> bytes:
        file, line = self.source or ("", 0)
        return (
            wire.optional(2, self.op_name)
            + wire.optional(3, file)
            + wire.optional(4, line)
            + wire.optional(15, self.stack_frame)
        )


class ComputationBuilder:
    """One computation; its root is the last instruction unless `root` says otherwise."""

    def __init__(self, id: int, name: str) -> None:
        self.id = id
        self.name = name
        self.instructions: list[Instruction] = []
        self.root: Instruction | None = None

    def add(
        self,
        name: str,
        opcode: str,
        operands: Sequence[Instruction] = (),
        *,
        shape: str = "f32[8]",
        op_name: str = "",
        source: tuple[str, int] | None = None,
        stack_frame: int = 0,
        calls: Sequence[ComputationBuilder] = (),
        extra: dict[int, int | str | bytes] | None = None,
    ) -> Instruction:
        """Add an instruction."""
        # As jax 0.10 numbers them: the computation in the upper half.
        number = self.id << 32 | len(self.instructions)
        instruction = Instruction(
            number, name, opcode, shape, operands, calls, op_name, source, stack_frame, extra or {}
        )
        self.instructions.append(instruction)
        return instruction

    def parameter(self, name: str, *, shape: str = "f32[8]", op_name: str = "") -> Instruction:
        """Add the next parameter."""
        number = len(self.parameters)
        return self.add(name, "parameter", shape=shape, op_name=op_name, extra={_PARAMETER_NUMBER: number})

    def fusion(
        self,
        name: str,
        fused: ComputationBuilder,
        operands: Sequence[Instruction] = (),
        *,
        shape: str = "f32[8]",
        op_name: str = "",
        stack_frame: int = 0,
    ) -> Instruction:
        """Add a fusion of the instructions of `fused`."""
        return self.add(
            name,
            "fusion",
            operands,
            shape=shape,
            op_name=op_name,
            stack_frame=stack_frame,
            calls=[fused],
            extra={_FUSION_KIND: "kLoop"},
        )

    def element(self, name: str, of: Instruction, index: int, *, shape: str = "f32[8]") -> Instruction:
        """Add the `index`-th element of a tuple."""
        return self.add(name, "get-tuple-element", [of], shape=shape, extra={_TUPLE_INDEX: index})

    @property
    def parameters(self) -> list[Instruction]:
        """The parameters, in order."""
        return [instruction for instruction in self.instructions if instruction.opcode == "parameter"]

    def encode(self) -> bytes:
        """The HloComputationProto."""
        instructions = [wire.chunk(2, instruction.encode()) for instruction in self.instructions]
        head = wire.chunk(1, self.name) + b"".join(instructions)
        return (
            head
            + wire.chunk(4, self.encode_program_shape())
            + wire.integer(5, self.id)
            + wire.integer(6, self._root.id)
        )

    def encode_program_shape(self) -> bytes:
        """The ProgramShapeProto: parameters and result."""
        shapes = [wire.chunk(1, encode_shape(parameter.shape)) for parameter in self.parameters]
        names = [wire.chunk(3, parameter.name) for parameter in self.parameters]
        return b"".join(shapes) + wire.chunk(2, encode_shape(self._root.shape)) + b"".join(names)

    @property
    def _root(self) -> Instruction:
        return self.root or self.instructions[-1]


class HloModuleBuilder:
    """One compiled program."""

    def __init__(self, name: str, program_id: int) -> None:
        self.name = name
        self.program_id = program_id
        self.frames = StackFrames()
        self.entry = ComputationBuilder(1, "main")
        self._computations = [self.entry]

    def computation(self, name: str) -> ComputationBuilder:
        """Add a computation that instructions of others call."""
        self._computations.append(ComputationBuilder(len(self._computations) + 1, name))
        return self._computations[-1]

    def instruction(self, name: str) -> Instruction | None:
        """The instruction of that name."""
        instructions = (each for computation in self._computations for each in computation.instructions)
        return next((each for each in instructions if each.name == name), None)

    def encode(self) -> bytes:
        """The serialized HloProto."""
        return wire.chunk(1, self.encode_module())

    def encode_module(self) -> bytes:
        """The serialized HloModuleProto."""
        frames = self.frames.encode()
        return (
            wire.chunk(1, self.name)
            + wire.chunk(2, self.entry.name)
            + b"".join(wire.chunk(3, computation.encode()) for computation in self._callees_first())
            + wire.chunk(4, self.entry.encode_program_shape())
            + wire.integer(6, self.entry.id)
            + (wire.chunk(17, frames) if frames else b"")
        )

    def _callees_first(self) -> Iterator[ComputationBuilder]:
        # The order XLA writes and demands: a computation stands after those it calls.
        done: set[int] = set()

        def visit(computation: ComputationBuilder) -> Iterator[ComputationBuilder]:
            if computation.id in done:
                return
            done.add(computation.id)
            for instruction in computation.instructions:
                for called in instruction.calls:
                    yield from visit(called)
            yield computation

        for computation in [*self._computations[1:], self.entry]:
            yield from visit(computation)
