"""Sizes of arrays, out of a ShapeProto: element_type=2, dimensions=3, tuple_shapes=4."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from rlscope_jax.xla_events import wire
from rlscope_jax.xla_events.hlo import dimensions

# xla_data.proto PrimitiveType -> bits.
_BITS = {
    1: 8, 2: 8, 3: 16, 4: 32, 5: 64, 6: 8, 7: 16, 8: 32, 9: 64, 10: 16, 11: 32, 12: 64, 15: 64, 16: 16,
    18: 128, 19: 8, 20: 8, 21: 4, 22: 4, 23: 8, 24: 8, 25: 8,
}  # fmt: skip
_TUPLE = 13


def element_type(shape: bytes) -> int:
    """The number of the element type; 0 where there is none."""
    return next((value for number, kind, value, _ in wire.fields(shape, 0, len(shape)) if number == 2), 0)


def parts(shape: bytes) -> list[bytes]:
    """The arrays of a shape: itself, or those of a tuple."""
    inner = [shape[a:b] for number, kind, a, b in wire.fields(shape, 0, len(shape)) if number == 4]
    return [array for part in inner for array in parts(part)] if element_type(shape) == _TUPLE else [shape]


def size(shape: bytes) -> int:
    """Bytes of a shape; 0 for what has none, or is damaged."""
    try:
        return sum(prod(dimensions(part)) * _BITS.get(element_type(part), 0) // 8 for part in parts(shape))
    except wire.WireError:
        return 0


@lru_cache(maxsize=65536)
def signature(shape: bytes) -> bytes:
    """A text that two shapes share when they have the same elements and sizes, whatever their layout."""
    try:
        return repr([(element_type(part), dimensions(part)) for part in parts(shape)]).encode()
    except wire.WireError:
        return shape
