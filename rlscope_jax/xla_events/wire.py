"""The protobuf wire format, read in place: for small messages in Python, for hot loops in numba."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rlscope_jax.xla_events.compiled import inlined

Buffer = bytes | memoryview

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are no protobuf message."""


def fields(buffer: Buffer, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (field number, wire type, value or start, end) of the message in `buffer[start:end]`.

    A varint's value stands in the third place; for the other types it is where the content starts, and
    the fourth is where it ends.

    Raises:
        WireError: the bytes are no protobuf message.
    """
    position = start
    while position < end:
        tag, position = varint(buffer, position, end)
        wire_type = tag & 7
        if tag >> 3 == 0:
            raise WireError(f"no field at byte {position}")
        if wire_type == VARINT:
            value, position = varint(buffer, position, end)
            yield tag >> 3, wire_type, value, position
            continue
        if wire_type == BYTES:
            length, position = varint(buffer, position, end)
        elif wire_type in (FIXED64, FIXED32):
            length = 8 if wire_type == FIXED64 else 4
        else:
            raise WireError(f"unknown wire type {wire_type} at byte {position}")
        if position + length > end:
            raise WireError(f"field {tag >> 3} at byte {position} runs past its message")
        yield tag >> 3, wire_type, position, position + length
        position += length


def text(buffer: Buffer, start: int, end: int) -> str:
    """The string in `buffer[start:end]`; bytes that are no UTF-8 are shown as U+FFFD."""
    return bytes(buffer[start:end]).decode("utf-8", "replace")


def signed(value: int) -> int:
    """A varint read as int64."""
    return value - (1 << 64) if value >= 1 << 63 else value


def varint(buffer: Buffer, position: int, end: int) -> tuple[int, int]:
    """(value as uint64, next position) of the number at `position`.

    Raises:
        WireError: it runs past `end`.
    """
    value = shift = 0
    while position < end and shift < 70:
        byte = buffer[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, position
        shift += 7
    raise WireError(f"unfinished number at byte {position}")


@inlined
def read_varint(buffer, position, end):
    """(value as int64, next position); next position -1 when the number runs past `end`."""
    value = np.int64(0)
    shift = np.int64(0)
    while position < end and shift < 70:
        byte = np.int64(buffer[position])
        position += 1
        if shift < 64:
            value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
    return value, np.int64(-1)


@inlined
def read_field(buffer, position, end):
    """(tag, value, next position) of the field that begins at `position` < `end`; the tag holds its type.

    Of a varint `value` is the number, of the other types where the content starts; it ends at the next
    position. That is -1 when the bytes are no field.
    """
    tag, position = read_varint(buffer, position, end)
    wire_type = tag & 7
    if position < 0 or tag >> 3 == 0:
        return tag, position, np.int64(-1)
    if wire_type == VARINT:
        value, position = read_varint(buffer, position, end)
        return tag, value, position
    if wire_type == BYTES:
        length, position = read_varint(buffer, position, end)
    elif wire_type == FIXED64:
        length = np.int64(8)
    elif wire_type == FIXED32:
        length = np.int64(4)
    else:
        return tag, position, np.int64(-1)
    if position < 0 or length < 0 or length > end - position:
        return tag, position, np.int64(-1)
    return tag, position, position + length
