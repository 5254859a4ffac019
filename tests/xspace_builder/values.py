"""Values of statistics, each Python type standing for one of XStat's wire types.

`int` -> int64, `Uint` -> uint64, `float` -> double, `str` -> string, `bytes` -> bytes,
`Ref` -> a string kept once among the plane's statistic names, `DanglingRef` -> a reference to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from xspace_builder import wire


@dataclass(frozen=True)
class Ref:
    """A string stored once per plane; most strings of real files are."""

    text: str


@dataclass(frozen=True)
class Uint:
    """An unsigned 64-bit integer."""

    value: int


@dataclass(frozen=True)
class DanglingRef:
    """A reference to a statistic name that the plane does not define."""

    id: int


Value = int | float | str | bytes | Ref | Uint | DanglingRef

StatKey = str | int
"""A statistic's name; an integer is written as it stands, so it may name nothing."""

Stats = Mapping[str, Any] | Iterable[tuple[StatKey, Any]]
"""Names and their `Value`s: a mapping, or pairs where a key is to be repeated."""


def pairs(stats: Stats) -> list[tuple[StatKey, Value]]:
    """Statistics as a list of pairs."""
    return list(stats.items()) if isinstance(stats, Mapping) else list(stats)


def encode_stats(field: int, stats: Iterable[tuple[StatKey, Value]], id_of: Callable[[str], int]) -> bytes:
    """XStat messages in `field`; `id_of` numbers the names and the referenced strings."""
    return b"".join(wire.chunk(field, _encode_stat(key, value, id_of)) for key, value in stats)


def _encode_stat(key: StatKey, value: Value, id_of: Callable[[str], int]) -> bytes:
    name = wire.integer(1, key if isinstance(key, int) else id_of(key))
    match value:
        case float():
            return name + wire.double(2, value)
        case Uint():
            return name + wire.integer(3, value.value)
        case int():
            return name + wire.integer(4, value)
        case str():
            return name + wire.chunk(5, value)
        case bytes():
            return name + wire.chunk(6, value)
        case Ref():
            return name + wire.integer(7, id_of(value.text))
        case DanglingRef():
            return name + wire.integer(7, value.id)
    raise TypeError(f"statistic {key!r}: no XStat holds a {type(value).__name__}")
