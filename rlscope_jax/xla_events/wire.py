"""The protobuf wire format, read in place: for small messages in Python, for hot loops in numba."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rlscope_jax.xla_events.compiled import compiled

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
        if tag >> 3 == 0 or position + length > end:
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


@compiled
def read_varint(buffer, position, end):
    """(value as int64, next position); next position -1 when the number runs past `end`."""
    byte = np.int64(buffer[position]) if position < end else np.int64(128)
    if byte < 128:
        return byte, position + 1
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


@compiled
def content_end(buffer, wire_type, position, end):
    """(content start, content end) of a field whose tag was just read; end -1 when it does not fit."""
    if wire_type == 2:
        length, start = read_varint(buffer, position, end)
        if start < 0 or length < 0 or length > end - start:
            return start, np.int64(-1)
        return start, start + length
    if wire_type == 0:
        _, after = read_varint(buffer, position, end)
        return position, after
    if wire_type == 1:
        return position, position + 8 if position + 8 <= end else np.int64(-1)
    if wire_type == 5:
        return position, position + 4 if position + 4 <= end else np.int64(-1)
    return position, np.int64(-1)
