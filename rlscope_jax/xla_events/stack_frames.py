"""Where in the Python program an instruction was traced: the stack frames kept in its module.

StackFrameIndexProto{file_names=1, function_names=2, file_locations=3, stack_frames=4};
FileLocation{file_name_id=1, function_name_id=2, line=3}; StackFrame{file_location_id=1, parent_frame_id=2}.
Ids count from 1; 0 is none. jax leaves its own frames out.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from rlscope_jax.xla_events import wire

_T = TypeVar("_T")
_DEEPEST = 256  # a damaged index may hold a cycle


class Frame(NamedTuple):
    """One call on the Python stack."""

    function: str
    """The qualified name: `make_train.<locals>.train.<locals>._env_step`."""
    file: str
    line: int


class StackFrames:
    """The frames of one module."""

    def __init__(self) -> None:
        self._files: list[str] = []
        self._functions: list[str] = []
        self._locations: list[dict[int, int]] = []
        self._frames: list[dict[int, int]] = []
        self._stacks: dict[int, tuple[Frame, ...]] = {}

    @classmethod
    def read(cls, content: bytes, start: int, end: int) -> StackFrames:
        """The index in `content[start:end]`."""
        frames = cls()
        for number, wire_type, first, last in wire.fields(content, start, end):
            if wire_type != wire.BYTES:
                continue
            if number in (1, 2):
                (frames._files if number == 1 else frames._functions).append(wire.text(content, first, last))
            elif number in (3, 4):
                numbers = {
                    field: value
                    for field, kind, value, _ in wire.fields(content, first, last)
                    if kind == wire.VARINT
                }
                (frames._locations if number == 3 else frames._frames).append(numbers)
        return frames

    def stack(self, frame: int) -> tuple[Frame, ...]:
        """The calls that led to a frame, outermost first; empty when it is not known."""
        if frame not in self._stacks:
            calls: list[Frame] = []
            current = frame
            while 0 < current <= len(self._frames) and len(calls) < _DEEPEST:
                numbers = self._frames[current - 1]
                location = _at(self._locations, numbers.get(1, 0))
                if location is not None:
                    function = _at(self._functions, location.get(2, 0))
                    file = _at(self._files, location.get(1, 0))
                    calls.append(Frame(function or "", file or "", location.get(3, 0)))
                current = numbers.get(2, 0)
            self._stacks[frame] = tuple(reversed(calls))
        return self._stacks[frame]


def _at(values: list[_T], number: int) -> _T | None:
    return values[number - 1] if 0 < number <= len(values) else None
