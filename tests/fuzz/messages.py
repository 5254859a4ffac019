"""Protobuf messages taken apart into fields and put together again, with the lengths mended."""

from __future__ import annotations

from typing import NamedTuple

from xspace_builder.wire import varint

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """One field; its content is a number's bytes, or what stands behind the length."""

    tag: int
    content: bytes

    @property
    def wire_type(self) -> int:
        """How the content is written."""
        return self.tag & 7

    def encode(self) -> bytes:
        """The field as it stands in its message."""
        length = varint(len(self.content)) if self.wire_type == BYTES else b""
        return varint(self.tag) + length + self.content


def split(message: bytes) -> list[Field] | None:
    """The fields of a message; None when the bytes are no message."""
    fields, position = [], 0
    while position < len(message):
        tag, position = number(message, position)
        start = position
        if tag >> 3 == 0 or position < 0:
            return None
        if tag & 7 == VARINT:
            _, position = number(message, start)
        elif tag & 7 == BYTES:
            length, start = number(message, start)
            position = start + length
        elif tag & 7 in _FIXED:
            position = start + _FIXED[tag & 7]
        else:
            return None
        if start < 0 or not start <= position <= len(message):
            return None
        fields.append(Field(tag, message[start:position]))
    return fields


def join(fields: list[Field]) -> bytes:
    """The message of these fields."""
    return b"".join(field.encode() for field in fields)


def number(message: bytes, position: int) -> tuple[int, int]:
    """(value, next position) of the number at `position`; next position -1 when it does not end."""
    value = 0
    for index, byte in enumerate(message[position : position + 10]):
        value |= (byte & 127) << (7 * index)
        if byte < 128:
            return value, position + index + 1
    return value, -1
