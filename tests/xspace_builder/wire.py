"""The protobuf wire format, written by hand: the few field kinds that XSpace and HLO protos use."""

from __future__ import annotations

import struct
from collections.abc import Iterable

_MASK = (1 << 64) - 1


def varint(value: int) -> bytes:
    """A base-128 integer; negative numbers as protobuf's int64 writes them, in ten bytes."""
    value &= _MASK
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(field: int, value: int) -> bytes:
    """A varint field."""
    return varint(field << 3) + varint(value)


def double(field: int, value: float) -> bytes:
    """A 64-bit floating-point field."""
    return varint(field << 3 | 1) + struct.pack("<d", value)


def chunk(field: int, value: bytes | str) -> bytes:
    """A length-delimited field: a message, a string or bytes."""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def packed(field: int, values: Iterable[int]) -> bytes:
    """A repeated integer field in its packed form; nothing when there are none."""
    data = b"".join(map(varint, values))
    return chunk(field, data) if data else b""


def optional(field: int, value: int | str | bytes) -> bytes:
    """A proto3 field without presence: a default value is left out."""
    if not value:
        return b""
    return integer(field, value) if isinstance(value, int) else chunk(field, value)


def map_entry(field: int, key: int, message: bytes) -> bytes:
    """One entry of a `map<int64, Message>` field."""
    return chunk(field, integer(1, key) + chunk(2, message))
