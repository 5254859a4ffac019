"""Shapes, written as in HLO text: `f32[8,128]`, `s32[]`, `(f32[8], s32[])`."""

from __future__ import annotations

import re

from xspace_builder import wire

_ELEMENT_TYPES = {
    "pred": 1,
    "s8": 2,
    "s16": 3,
    "s32": 4,
    "s64": 5,
    "u8": 6,
    "u16": 7,
    "u32": 8,
    "u64": 9,
    "f16": 10,
    "f32": 11,
    "f64": 12,
    "bf16": 16,
}
_TUPLE = 13
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")


def encode_shape(text: str) -> bytes:
    """A ShapeProto. Arrays lie in memory row by row; a tuple holds arrays only."""
    arrays = [_encode_array(*match.groups()) for match in _ARRAY.finditer(text)]
    if text.startswith("("):
        return wire.integer(2, _TUPLE) + b"".join(wire.chunk(4, array) for array in arrays)
    if len(arrays) != 1:
        raise ValueError(f"no shape: {text!r}")
    return arrays[0]


def _encode_array(element_type: str, dimensions: str) -> bytes:
    sizes = [int(size) for size in dimensions.split(",") if size]
    layout = wire.packed(1, reversed(range(len(sizes))))
    return (
        wire.integer(2, _ELEMENT_TYPES[element_type])
        + wire.packed(3, sizes)
        + wire.chunk(5, layout)
        + wire.packed(6, [0] * len(sizes))
    )
