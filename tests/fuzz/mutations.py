"""Ways to spoil a file; each takes the bytes, those of another file, and a source of chance."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fuzz.messages import BYTES, VARINT, Field, join, number, split
from xspace_builder.wire import varint

Mutation = Callable[[bytes, bytes, Random], bytes]

_EDGES = (0, 1, 2, 127, 128, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
_MOST_EDITS = 8


def flip_bits(content: bytes, other: bytes, chance: Random) -> bytes:
    """Flip a few bits anywhere."""
    spoilt = bytearray(content)
    for _ in range(chance.randint(1, _MOST_EDITS)):
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


def truncate(content: bytes, other: bytes, chance: Random) -> bytes:
    """Cut the end off, as a full disk does."""
    return content[: chance.randrange(len(content))]


def blank(content: bytes, other: bytes, chance: Random) -> bytes:
    """Zeros over a page, as a failed copy leaves them."""
    at = chance.randrange(len(content)) // 512 * 512
    length = min(chance.choice((16, 512, 4096)), len(content) - at)
    return content[:at] + bytes(length) + content[at + length :]


def splice(content: bytes, other: bytes, chance: Random) -> bytes:
    """Put a stretch of another file, or of this one, over or between."""
    source = chance.choice((content, other))
    stretch = source[(begin := chance.randrange(len(source))) : begin + chance.randint(1, 4096)]
    at = chance.randrange(len(content))
    return content[:at] + stretch + content[at + chance.choice((0, len(stretch))) :]


def edit_length(content: bytes, other: bytes, chance: Random) -> bytes:
    """Write another length over one of the file's and mend nothing around it."""
    at = _place_of_length(content, chance)
    length, after = number(content, at)
    edited = chance.choice((length + 1, max(0, length - 1), length * 2, 0, *_EDGES))
    return content[:at] + varint(edited) + content[after:]


def reencode(content: bytes, other: bytes, chance: Random) -> bytes:
    """Read a stretch, or all, as UTF-8 and write U+FFFD for what is none, as text tools do."""
    begin, end = sorted(chance.choice((0, chance.randrange(len(content)), len(content))) for _ in "ab")
    return content[:begin] + content[begin:end].decode("utf-8", "replace").encode() + content[end:]


def edit_numbers(content: bytes, other: bytes, chance: Random) -> bytes:
    """Give some numbers other values: ids that dangle or repeat, times that are huge or negative."""
    for _ in range(chance.randint(1, _MOST_EDITS)):
        content = _edit_within(content, chance, _other_number)
    return content


def edit_fields(content: bytes, other: bytes, chance: Random) -> bytes:
    """Drop, repeat, move or replace a few fields, with every length around them mended."""
    for _ in range(chance.randint(1, 3)):
        content = _edit_within(content, chance, _other_fields)
    return content


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, truncate, blank, splice, edit_length, reencode, edit_numbers, edit_numbers, edit_numbers,
    edit_fields, edit_fields,
)  # fmt: skip


def mutate(content: bytes, other: bytes, chance: Random) -> bytes:
    """The bytes, spoilt in one way or two."""
    for mutation in chance.choices(MUTATIONS, k=chance.choice((1, 1, 2))):
        if content:
            content = mutation(content, other, chance)
    return content


_Edit = Callable[[Field, list[Field], Random], list[Field]]


def _edit_within(message: bytes, chance: Random, edit: _Edit) -> bytes:
    """Edit one field of the message, or of a message in it, and so on."""
    fields = split(message)
    if not fields:
        return message
    at = chance.randrange(len(fields))
    field = fields[at]
    if field.wire_type == BYTES and split(field.content) and chance.random() < 0.9:
        fields[at] = Field(field.tag, _edit_within(field.content, chance, edit))
    else:
        fields[at : at + 1] = edit(field, fields, chance)
    return join(fields)


def _other_number(field: Field, siblings: list[Field], chance: Random) -> list[Field]:
    if field.wire_type != VARINT:
        return [field]
    value, _ = number(field.content, 0)
    edited = chance.choice((value + 1, value - 1, value ^ 1 << chance.randrange(64), -value, *_EDGES))
    return [Field(field.tag, varint(edited))]


def _other_fields(field: Field, siblings: list[Field], chance: Random) -> list[Field]:
    return chance.choice(
        (
            [],
            [field, field],
            [chance.choice(siblings)],
            [Field(field.tag & ~7 | VARINT, varint(chance.choice(_EDGES)))],
            [Field(field.tag & ~7 | BYTES, chance.randbytes(chance.randrange(12)))],
            [Field(field.tag & 7 | chance.randint(1, 12) << 3, field.content)],
        )
    )


def _place_of_length(message: bytes, chance: Random, begin: int = 0) -> int:
    """Where some length stands in the file: that of a field of this message, or of one within it."""
    at, lengths = begin, []
    for field in split(message) or ():
        after = at + len(field.encode())
        if field.wire_type == BYTES:
            lengths.append((at + len(varint(field.tag)), field.content, after - len(field.content)))
        at = after
    if not lengths:
        return begin
    place, content, inside = chance.choice(lengths)
    return _place_of_length(content, chance, inside) if chance.random() < 0.7 and split(content) else place
