"""The hot loop: the events of one XLine to columns.

An event's statistics repeat: an op in a loop carries the same `hlo_op`, `program_id` and `run_id` every
time. So the wanted statistics of an event are interned as one row of a small table, and the event keeps
the row's number; only what differs from event to event (flow and correlation ids) gets a column.
"""

from __future__ import annotations

import numba
import numpy as np

from rlscope_jax.xla_events.wire import content_end, read_varint

# How a statistic's value is stored in a row.
ABSENT, INTEGER, REFERENCE, STRING, DOUBLE = 0, 1, 2, 3, 4
NO_FLOW = -1


@numba.njit(cache=True, nogil=True)
def scan_line(buffer, start, end):
    """Header of the XLine in `buffer[start:end]`.

    Returns (id, name start, name end, display name start, end, timestamp ns, events), or events -1 when
    the bytes are no XLine.
    """
    line_id = timestamp = np.int64(0)
    name_start = name_end = display_start = display_end = np.int64(0)
    count = np.int64(0)
    position = start
    while position < end:
        tag, position = read_varint(buffer, position, end)
        if position < 0:
            return line_id, name_start, name_end, display_start, display_end, timestamp, np.int64(-1)
        field, wire_type = tag >> 3, tag & 7
        first, after = content_end(buffer, wire_type, position, end)
        if after < 0:
            return line_id, name_start, name_end, display_start, display_end, timestamp, np.int64(-1)
        if field == 4 and wire_type == 2:
            count += 1
        elif wire_type == 0 and (field == 1 or field == 3):
            value, _ = read_varint(buffer, first, end)
            if field == 1:
                line_id = value
            else:
                timestamp = value
        elif field == 2 and wire_type == 2:
            name_start, name_end = first, after
        elif field == 11 and wire_type == 2:
            display_start, display_end = first, after
        position = after
    return line_id, name_start, name_end, display_start, display_end, timestamp, count


@numba.njit(cache=True, nogil=True)
def decode_events(buffer, start, end, count, wanted, slots, producer_id, consumer_id, correlation_id):
    """Columns of the `count` events of the XLine in `buffer[start:end]`.

    `wanted` are statistic ids and `slots` their places in a row (several ids may share a place); events
    with `producer_id`, `consumer_id` or `correlation_id` keep that value as a column (the last is empty
    when `correlation_id` is negative: no such statistic).

    Returns (metadata id, offset ps, duration ps, row, produces, consumes, correlation, row values, row
    kinds, kept): the first `kept` entries hold events with a time; aggregated events (num_occurrences) are
    left out. `kept` is -1 when the bytes are no XLine.
    """
    width = 1
    for slot in slots:
        width = max(width, slot + 1)
    metadata = np.empty(count, np.int64)
    offset = np.empty(count, np.int64)
    duration = np.empty(count, np.int64)
    row = np.empty(count, np.int32)
    produces = np.empty(count, np.int64)
    consumes = np.empty(count, np.int64)
    correlation = np.empty(count if correlation_id >= 0 else 0, np.int64)

    table = np.full(1024, -1, np.int32)
    values = np.zeros((256, width), np.int64)
    kinds = np.zeros((256, width), np.uint8)
    rows = 0
    value_now = np.empty(width, np.int64)
    kind_now = np.empty(width, np.uint8)

    kept = 0
    position = start
    while position < end:
        tag, position = read_varint(buffer, position, end)
        if position < 0:
            return metadata, offset, duration, row, produces, consumes, correlation, values, kinds, -1
        first, position = content_end(buffer, tag & 7, position, end)
        if position < 0:
            return metadata, offset, duration, row, produces, consumes, correlation, values, kinds, -1
        if tag != (4 << 3 | 2):
            continue

        metadata[kept] = offset[kept] = duration[kept] = 0
        produces[kept] = consumes[kept] = NO_FLOW
        if correlation_id >= 0:
            correlation[kept] = NO_FLOW
        for column in range(width):
            value_now[column] = 0
            kind_now[column] = ABSENT
        timed = True
        at = first
        while at < position:
            tag, at = read_varint(buffer, at, position)
            if at < 0:
                return metadata, offset, duration, row, produces, consumes, correlation, values, kinds, -1
            field, wire_type = tag >> 3, tag & 7
            inner, at = content_end(buffer, wire_type, at, position)
            if at < 0:
                return metadata, offset, duration, row, produces, consumes, correlation, values, kinds, -1
            if wire_type == 0:
                value, _ = read_varint(buffer, inner, position)
                if field == 1:
                    metadata[kept] = value
                elif field == 2:
                    offset[kept] = value
                elif field == 3:
                    duration[kept] = value
                elif field == 5:
                    timed = False
            elif field == 4 and wire_type == 2:
                stat, kind, value = read_stat(buffer, inner, at)
                if stat < 0:
                    return metadata, offset, duration, row, produces, consumes, correlation, values, kinds, -1
                if stat == producer_id and kind == INTEGER:
                    produces[kept] = value
                elif stat == consumer_id and kind == INTEGER:
                    consumes[kept] = value
                elif stat == correlation_id and kind == INTEGER:
                    correlation[kept] = value
                else:
                    for index in range(len(wanted)):
                        if wanted[index] == stat:
                            value_now[slots[index]] = value
                            kind_now[slots[index]] = kind
                            break
        if not timed:
            continue

        place = find_row(table, values, kinds, value_now, kind_now)
        if table[place] < 0:
            if rows == len(values):
                more_values = np.zeros((rows * 2, width), np.int64)
                more_kinds = np.zeros((rows * 2, width), np.uint8)
                for old in range(rows):
                    for column in range(width):
                        more_values[old, column] = values[old, column]
                        more_kinds[old, column] = kinds[old, column]
                values, kinds = more_values, more_kinds
            for column in range(width):
                values[rows, column] = value_now[column]
                kinds[rows, column] = kind_now[column]
            table[place] = rows
            row[kept] = rows
            rows += 1
            if rows * 2 > len(table):
                table = np.full(len(table) * 4, -1, np.int32)
                for old in range(rows):
                    table[find_row(table, values, kinds, values[old], kinds[old])] = old
        else:
            row[kept] = table[place]
        kept += 1
    return metadata, offset, duration, row, produces, consumes, correlation, values[:rows], kinds[:rows], kept


@numba.njit(cache=True, nogil=True)
def read_stat(buffer, start, end):
    """(statistic id, kind, value) of the XStat in `buffer[start:end]`; id -1 when it is none.

    A string's value is the place of its length in the buffer: it can be read from there.
    """
    stat = value = np.int64(0)
    kind = np.uint8(ABSENT)
    position = start
    while position < end:
        tag, position = read_varint(buffer, position, end)
        if position < 0:
            return np.int64(-1), kind, value
        field, wire_type = tag >> 3, tag & 7
        content, after = content_end(buffer, wire_type, position, end)
        if after < 0:
            return np.int64(-1), kind, value
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
    return stat, kind, value


@numba.njit(cache=True, nogil=True)
def find_row(table, values, kinds, value_now, kind_now):
    """The place in the hash table where this row stands, or would stand."""
    hashed = np.uint64(1469598103934665603)
    for column in range(len(value_now)):
        hashed = (hashed ^ np.uint64(value_now[column])) * np.uint64(1099511628211)
        hashed = (hashed ^ np.uint64(kind_now[column])) * np.uint64(1099511628211)
        hashed ^= hashed >> np.uint64(29)
    place = np.int64(hashed & np.uint64(len(table) - 1))
    while True:
        candidate = table[place]
        if candidate < 0:
            return place
        same = True
        for column in range(len(value_now)):
            if values[candidate, column] != value_now[column] or kinds[candidate, column] != kind_now[column]:
                same = False
                break
        if same:
            return place
        place = (place + 1) & (len(table) - 1)
