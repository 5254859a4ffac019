"""The hot loop: the events of one XLine to columns.

An event's statistics repeat: an op in a loop carries the same `hlo_op`, `program_id` and `run_id` every
time. So the wanted statistics of an event are interned as one row of a small table, and the event keeps
the row's number; only what differs from event to event (flow and correlation ids) gets a column.

A line is read in stretches, so that the file's pages can be given back between them.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.xla_events.compiled import compiled
from rlscope_jax.xla_events.wire import content_end, read_varint

# How a statistic's value is stored in a row.
ABSENT, INTEGER, REFERENCE, STRING, DOUBLE = 0, 1, 2, 3, 4
NO_FLOW = -1

# What `slot_of` says of a statistic besides its place in a row.
IGNORED, IS_PRODUCER, IS_CONSUMER, IS_CORRELATION = -1, -2, -3, -4
_EVENT_TAG = 4 << 3 | 2
_MOST_DENSE = 1 << 20


@compiled
def scan_line(buffer, start, end, stop, header):
    """Read the XLine fields in `buffer[start:end]` that begin before `stop`; events are only counted.

    `header` is filled: id, name start, name end, display name start, end, timestamp ns.
    Returns (events, where the next field begins), the latter -1 when the bytes are no XLine.
    """
    count = np.int64(0)
    position = start
    while position < end and position < stop:
        tag, position = read_varint(buffer, position, end)
        if position < 0:
            return count, np.int64(-1)
        field, wire_type = tag >> 3, tag & 7
        first, after = content_end(buffer, wire_type, position, end)
        if after < 0:
            return count, np.int64(-1)
        if tag == _EVENT_TAG:
            count += 1
        elif wire_type == 0 and (field == 1 or field == 3):
            value, _ = read_varint(buffer, first, end)
            header[0 if field == 1 else 5] = value
        elif wire_type == 2 and (field == 2 or field == 11):
            place = 1 if field == 2 else 3
            header[place], header[place + 1] = first, after
        position = after
    return count, position


@compiled
def decode_events(
    buffer, start, end, stop, slots, names, event, offset, duration, row, produces, consumes,
    correlation, kept, table, values, kinds, rows, hashes,
):  # fmt: skip
    """Decode the events of the XLine in `buffer[start:end]` that begin before `stop` into columns.

    `slots` tells a statistic's place in a row (or one of the constants above) from its id, `names` an
    event's name from its metadata id; both as `lookup` reads them. The columns are filled from `kept` on,
    and `rows` rows stand in the table already. Aggregated events (num_occurrences) are left out.

    Returns (where the next field begins, events kept, rows, table, values, kinds, hashes); the first is
    -1 when the bytes are no XLine.
    """
    width = values.shape[1]
    value_now = np.zeros(width, np.int64)
    kind_now = np.zeros(width, np.uint8)
    position = start
    while position < end and position < stop:
        tag, position = read_varint(buffer, position, end)
        if position < 0:
            return np.int64(-1), kept, rows, table, values, kinds, hashes
        first, position = content_end(buffer, tag & 7, position, end)
        if position < 0:
            return np.int64(-1), kept, rows, table, values, kinds, hashes
        if tag != _EVENT_TAG:
            continue

        name = np.int64(0)
        offset[kept] = duration[kept] = 0
        produces[kept] = consumes[kept] = NO_FLOW
        if len(correlation):
            correlation[kept] = NO_FLOW
        for column in range(width):
            value_now[column] = 0
            kind_now[column] = ABSENT
        timed = True
        at = first
        while at < position:
            tag, at = read_varint(buffer, at, position)
            if at < 0:
                return np.int64(-1), kept, rows, table, values, kinds, hashes
            inner, at = content_end(buffer, tag & 7, at, position)
            if at < 0:
                return np.int64(-1), kept, rows, table, values, kinds, hashes
            if tag & 7 == 0:
                value, _ = read_varint(buffer, inner, position)
                field = tag >> 3
                if field == 1:
                    name = value
                elif field == 2:
                    offset[kept] = value
                elif field == 3:
                    duration[kept] = value
                elif field == 5:
                    timed = False
            elif tag == _EVENT_TAG:  # an event's statistics have the number that a line's events have
                stat, kind, value, sound = read_stat(buffer, inner, at)
                if not sound:
                    return np.int64(-1), kept, rows, table, values, kinds, hashes
                slot = lookup(slots, stat)
                if slot >= 0:
                    value_now[slot] = value
                    kind_now[slot] = kind
                elif kind == INTEGER:
                    if slot == IS_PRODUCER:
                        produces[kept] = value
                    elif slot == IS_CONSUMER:
                        consumes[kept] = value
                    elif slot == IS_CORRELATION:
                        correlation[kept] = value
        if not timed:
            continue
        event[kept] = lookup(names, name)

        hashed = hash_row(value_now, kind_now)
        place = find_row(table, values, kinds, hashes, value_now, kind_now, hashed)
        if table[place] >= 0:
            row[kept] = table[place]
            kept += 1
            continue
        if rows == len(hashes):
            values, kinds, hashes = grow(values, kinds, hashes)
        for column in range(width):
            values[rows, column] = value_now[column]
            kinds[rows, column] = kind_now[column]
        hashes[rows] = hashed
        table[place] = rows
        row[kept] = rows
        rows += 1
        kept += 1
        if rows * 2 > len(table):
            table = np.full(len(table) * 4, -1, np.int32)
            for old in range(rows):
                spot = np.int64(hashes[old] & np.uint64(len(table) - 1))
                while table[spot] >= 0:
                    spot = (spot + 1) & (len(table) - 1)
                table[spot] = old
    return position, kept, rows, table, values, kinds, hashes


@compiled
def read_stat(buffer, start, end):
    """(statistic id, kind, value, whether it is an XStat at all) of `buffer[start:end]`.

    A string's value is the place of its length in the buffer: it can be read from there.
    """
    stat = value = np.int64(0)
    kind = np.uint8(ABSENT)
    position = start
    while position < end:
        tag, position = read_varint(buffer, position, end)
        if position < 0:
            return stat, kind, value, False
        field, wire_type = tag >> 3, tag & 7
        content, after = content_end(buffer, wire_type, position, end)
        if after < 0:
            return stat, kind, value, False
        if wire_type == 0:
            number, _ = read_varint(buffer, content, end)
            if field == 1:
                stat = number
            else:
                value = number
                kind = np.uint8(REFERENCE if field == 7 else INTEGER)
        elif wire_type == 2:
            value = position
            kind = np.uint8(STRING)
        elif wire_type == 1:
            value = np.int64(0)
            for byte in range(8):
                value |= np.int64(buffer[content + byte]) << (8 * byte)
            kind = np.uint8(DOUBLE)
        position = after
    return stat, kind, value, True


@compiled
def lookup(known, number):
    """What `known` (from `lookup_table`) says of an id, -1 when it says nothing."""
    ids, values = known
    if len(ids) == 0:
        return values[number] if 0 <= number < len(values) else -1
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if ids[middle] < number:
            low = middle + 1
        else:
            high = middle
    return values[low] if low < len(ids) and ids[low] == number else -1


def lookup_table(pairs: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(ids, values) for `lookup`: indexed by id where ids are small, else sorted ids to search."""
    if not pairs:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    ids = np.array(sorted(pairs), np.int64)
    values = np.array([pairs[number] for number in ids.tolist()], np.int32)
    if ids[0] < 0 or ids[-1] > _MOST_DENSE:
        return ids, values
    dense = np.full(int(ids[-1]) + 1, -1, np.int32)
    dense[ids] = values
    return np.zeros(0, np.int64), dense


@compiled
def hash_row(value_now, kind_now):
    """A number that differs for rows that differ, nearly always."""
    hashed = np.uint64(1469598103934665603)
    for column in range(len(value_now)):
        if kind_now[column] != ABSENT:
            mixed = np.uint64(value_now[column]) + np.uint64(kind_now[column]) * np.uint64(0x9E3779B97F4A7C15)
            hashed = (hashed ^ mixed ^ np.uint64(column)) * np.uint64(0xFF51AFD7ED558CCD)
            hashed ^= hashed >> np.uint64(32)
    return hashed


@compiled
def find_row(table, values, kinds, hashes, value_now, kind_now, hashed):
    """The place in the hash table where this row stands, or would stand."""
    place = np.int64(hashed & np.uint64(len(table) - 1))
    while True:
        candidate = table[place]
        if candidate < 0:
            return place
        same = hashes[candidate] == hashed
        if same:
            for column in range(len(value_now)):
                if (
                    values[candidate, column] != value_now[column]
                    or kinds[candidate, column] != kind_now[column]
                ):
                    same = False
                    break
        if same:
            return place
        place = (place + 1) & (len(table) - 1)


@compiled
def grow(values, kinds, hashes):
    """The row table with twice the room."""
    rows, width = values.shape
    more_values = np.zeros((rows * 2, width), np.int64)
    more_kinds = np.zeros((rows * 2, width), np.uint8)
    more_hashes = np.zeros(rows * 2, np.uint64)
    for row in range(rows):
        more_hashes[row] = hashes[row]
        for column in range(width):
            more_values[row, column] = values[row, column]
            more_kinds[row, column] = kinds[row, column]
    return more_values, more_kinds, more_hashes
