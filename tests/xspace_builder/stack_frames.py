"""The Python stack frames of an HLO module, which its instructions name by number.

StackFrameIndexProto{file_names=1, function_names=2, file_locations=3, stack_frames=4};
FileLocation{file_name_id=1, function_name_id=2, line=3, column=4}; StackFrame{file_location_id=1,
parent_frame_id=2}. All ids count from 1; 0 is "none". (Read off a trace of jax 0.10.2.)
"""

from __future__ import annotations

from typing import TypeVar

from xspace_builder import wire

_Key = TypeVar("_Key")


class StackFrames:
    """Frames of one module, each stored once."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._functions: dict[str, int] = {}
        self._locations: dict[tuple[int, int, int], int] = {}
        self._frames: dict[tuple[int, int], int] = {}

    def add(self, file: str, function: str, line: int, parent: int = 0) -> int:
        """The id of the frame at `file:line` in `function`, called from frame `parent`."""
        location = (_number(self._files, file), _number(self._functions, function), line)
        return _number(self._frames, (_number(self._locations, location), parent))

    def encode(self) -> bytes:
        """The StackFrameIndexProto; empty when there are no frames."""
        files = [wire.chunk(1, name) for name in self._files]
        functions = [wire.chunk(2, name) for name in self._functions]
        locations = [
            wire.chunk(3, wire.integer(1, file) + wire.integer(2, function) + wire.optional(3, line))
            for file, function, line in self._locations
        ]
        frames = [
            wire.chunk(4, wire.integer(1, location) + wire.optional(2, parent))
            for location, parent in self._frames
        ]
        return b"".join(files + functions + locations + frames)


def _number(known: dict[_Key, int], key: _Key) -> int:
    return known.setdefault(key, len(known) + 1)
