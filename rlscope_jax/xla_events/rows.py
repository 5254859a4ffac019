"""Statistics that repeat, kept once: a table of distinct rows, and each event's row number.

An op in a loop carries the same `hlo_op`, `program_id` and `run_id` every time: a file of a million events
has some dozens of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlscope_jax.xla_events.compiled import compiled_in_place, inlined

# How a statistic's value is stored in a row.
ABSENT, INTEGER, REFERENCE, STRING, DOUBLE = 0, 1, 2, 3, 4
_FIRST_ROOM = 256


class Rows(NamedTuple):
    """Room for distinct rows; how many are in use stands elsewhere."""

    values: np.ndarray
    """int64[room, width]."""
    kinds: np.ndarray
    """uint8[room, width]: how a value is to be read."""
    hashes: np.ndarray
    """uint64[room]."""
    places: np.ndarray
    """int32[4 * room]: the hash table; a row's number or -1."""


def rows_for(width: int, room: int = _FIRST_ROOM) -> Rows:
    """An empty table."""
    return Rows(
        np.zeros((room, width), np.int64),
        np.zeros((room, width), np.uint8),
        np.zeros(room, np.uint64),
        np.full(4 * room, -1, np.int32),
    )


def grown(rows: Rows, used: int) -> Rows:
    """The same rows with more room."""
    larger = rows_for(rows.values.shape[1], 4 * len(rows.values))
    _add_all(larger, 0, rows.values, rows.kinds, used, np.empty(used, np.int32))
    return larger


def merged(tables: list[tuple[Rows, int]]) -> tuple[Rows, int, list[np.ndarray]]:
    """One table of several; also, for each of them, the new number of each of its rows."""
    (rows, used), *rest = tables
    numbers = [np.arange(used, dtype=np.int32)]
    for other, count in rest:
        while used + count > len(rows.values):
            rows = grown(rows, used)
        renamed = np.empty(count, np.int32)
        used = _add_all(rows, used, other.values, other.kinds, count, renamed)
        numbers.append(renamed)
    return rows, used, numbers


@compiled_in_place
def _add_all(rows, used, values, kinds, count, renamed):
    """Add the first `count` rows of another table; returns the rows in use. There must be room."""
    for row in range(count):
        renamed[row], used = number_of(rows, used, values[row], kinds[row])
    return used


@inlined
def number_of(rows, used, value_now, kind_now):
    """(the number of this row, rows in use), adding it if it is new. There must be room."""
    hashed = _hash(value_now, kind_now)
    place = np.int64(hashed & np.uint64(len(rows.places) - 1))
    while True:
        known = rows.places[place]
        if known < 0:
            break
        if rows.hashes[known] == hashed and _same(rows, known, value_now, kind_now):
            return known, used
        place = (place + 1) & (len(rows.places) - 1)
    for column in range(len(value_now)):
        rows.values[used, column] = value_now[column]
        rows.kinds[used, column] = kind_now[column]
    rows.hashes[used] = hashed
    rows.places[place] = used
    return np.int32(used), used + 1


@inlined
def _hash(value_now, kind_now):
    hashed = np.uint64(1469598103934665603)
    for column in range(len(value_now)):
        mixed = np.uint64(value_now[column]) + np.uint64(kind_now[column]) * np.uint64(0x9E3779B97F4A7C15)
        hashed = (hashed ^ mixed) * np.uint64(0xFF51AFD7ED558CCD)
        hashed ^= hashed >> np.uint64(32)
    return hashed


@inlined
def _same(rows, known, value_now, kind_now):
    for column in range(len(value_now)):
        if rows.values[known, column] != value_now[column] or rows.kinds[known, column] != kind_now[column]:
            return False
    return True
