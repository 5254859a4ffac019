"""The hot loop: the events of one XLine to columns.

The statistics we use are interned as one row of a small table (see `rows`); only what differs from event
to event (flow and correlation ids) gets a column. A line is read in stretches, so that several can be read
at once and the file's pages be given back in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlscope_jax.xla_events.compiled import compiled_in_place, inlined
from rlscope_jax.xla_events.rows import ABSENT, DOUBLE, INTEGER, REFERENCE, STRING, number_of
from rlscope_jax.xla_events.wire import read_field

NO_FLOW = -1

# What `Lookup` says of a statistic besides its place in a row.
IGNORED, IS_PRODUCER, IS_CONSUMER, IS_CORRELATION = -1, -2, -3, -4
_EVENT_TAG = 4 << 3 | 2
_STAT_TAG = 4 << 3 | 2  # an event's statistics have the number that a line's events have
_MOST_DENSE = 1 << 20
_FLOW_BITS = np.int64(2**63 - 1)  # on TPU a flow's id is a 64-bit hash: a negative one would read as none


class Columns(NamedTuple):
    """What differs from event to event."""

    event: np.ndarray
    """int32[events]: index into the plane's event names; -1 for an id that names nothing."""
    offset: np.ndarray
    """int64[events], ps since the line's time base."""
    duration: np.ndarray
    """int64[events], ps."""
    row: np.ndarray
    """int32[events]: number of the row of statistics."""
    produces: np.ndarray
    """int64[events]: flow id the event starts, its lower 63 bits, or -1."""
    consumes: np.ndarray
    """int64[events]: flow id the event ends, its lower 63 bits, or -1."""
    correlation: np.ndarray
    """int64[events] or empty: correlation id, or -1."""


class Lookup(NamedTuple):
    """What is known of an id: `values[id]` if `ids` is empty, else `ids` are sorted, to be searched."""

    ids: np.ndarray
    values: np.ndarray


def lookup_of(pairs: dict[int, int]) -> Lookup:
    """Index by id where ids are small, else search."""
    if not pairs:
        return Lookup(np.zeros(0, np.int64), np.zeros(0, np.int32))
    ids = np.array(sorted(pairs), np.int64)
    values = np.array([pairs[number] for number in ids.tolist()], np.int32)
    if ids[0] < 0 or ids[-1] > _MOST_DENSE:
        return Lookup(ids, values)
    dense = np.full(int(ids[-1]) + 1, -1, np.int32)
    dense[ids] = values
    return Lookup(np.zeros(0, np.int64), dense)


@compiled_in_place
def scan_line(buffer, start, end, stop, header):
    """Read the XLine fields in `buffer[start:end]` that begin before `stop`; events are only counted.

    `header` is filled: id, name start, name end, display name start, end, timestamp ns.
    Returns (events, where the next field begins), the latter -1 when the bytes are no XLine.
    """
    count = np.int64(0)
    position = start
    while position < end and position < stop:
        tag, value, position = read_field(buffer, position, end)
        if position < 0:
            return count, np.int64(-1)
        if tag == _EVENT_TAG:
            count += 1
        elif tag == 1 << 3:
            header[0] = value
        elif tag == 3 << 3:
            header[5] = value
        elif tag == (2 << 3 | 2) or tag == (11 << 3 | 2):
            place = 1 if tag >> 3 == 2 else 3
            header[place], header[place + 1] = value, position
    return count, position


@compiled_in_place
def decode_events(buffer, start, end, slots, names, columns, kept, rows, used, value_now, kind_now):
    """Decode the events among the XLine fields in `buffer[start:end]` into columns and rows.

    `slots` knows a statistic's place in a row (or one of the constants above) from its id, `names` an
    event's name from its metadata id. Columns are filled from `kept` on, `used` rows are in use already,
    `value_now` and `kind_now` are one row's worth of room. Aggregated events (num_occurrences) are left
    out. Stops early when the rows have no more room.

    Returns (where the next field begins, events kept, rows in use); the first is -1 when the bytes are no
    XLine.
    """
    position = start
    while position < end and used < len(rows.values):
        tag, at, position = read_field(buffer, position, end)
        if position < 0:
            return np.int64(-1), kept, used
        if tag != _EVENT_TAG:
            continue
        for column in range(len(value_now)):
            value_now[column] = 0
            kind_now[column] = ABSENT
        name = offset = duration = np.int64(0)
        produces = consumes = correlation = np.int64(NO_FLOW)
        timed = True
        while at < position:
            tag, value, at = read_field(buffer, at, position)
            if at < 0:
                return np.int64(-1), kept, used
            if tag == 1 << 3:
                name = value
            elif tag == 2 << 3:
                offset = value
            elif tag == 3 << 3:
                duration = value
            elif tag == 5 << 3:
                timed = False
            elif tag == _STAT_TAG:
                stat, kind, number, sound = _read_stat(buffer, value, at)
                if not sound:
                    return np.int64(-1), kept, used
                slot = _find(slots, stat)
                if slot >= 0:
                    value_now[slot] = number
                    kind_now[slot] = kind
                elif kind == INTEGER:
                    if slot == IS_PRODUCER:
                        produces = number & _FLOW_BITS
                    elif slot == IS_CONSUMER:
                        consumes = number & _FLOW_BITS
                    elif slot == IS_CORRELATION:
                        correlation = number
        if not timed:
            continue
        columns.event[kept] = _find(names, name)
        columns.offset[kept], columns.duration[kept] = offset, duration
        columns.produces[kept], columns.consumes[kept] = produces, consumes
        if len(columns.correlation) > 0:
            columns.correlation[kept] = correlation
        columns.row[kept], used = number_of(rows, used, value_now, kind_now)
        kept += 1
    return position, kept, used


@inlined
def _read_stat(buffer, start, end):
    """(statistic id, kind, value, whether it is an XStat at all) of `buffer[start:end]`.

    A string's value is the place of its length in the buffer: it can be read from there.
    """
    stat = number = np.int64(0)
    kind = np.uint8(ABSENT)
    position = start
    while position < end:
        begun = position
        tag, value, position = read_field(buffer, position, end)
        if position < 0:
            return stat, kind, number, False
        wire_type = tag & 7
        if tag == 1 << 3:
            stat = value
        elif wire_type == 0:
            number = value
            kind = np.uint8(REFERENCE if tag >> 3 == 7 else INTEGER)
        elif wire_type == 2:
            number = begun + 1  # fields 1 to 15 have a tag of one byte
            kind = np.uint8(STRING)
        elif wire_type == 1:
            number = np.int64(0)
            for byte in range(8):
                number |= np.int64(buffer[value + byte]) << (8 * byte)
            kind = np.uint8(DOUBLE)
    return stat, kind, number, True


@inlined
def _find(known, number):
    """What a `Lookup` says of an id, -1 when it says nothing."""
    if len(known.ids) == 0:
        return known.values[number] if 0 <= number < len(known.values) else np.int32(-1)
    low, high = 0, len(known.ids)
    while low < high:
        middle = (low + high) // 2
        if known.ids[middle] < number:
            low = middle + 1
        else:
            high = middle
    if low < len(known.ids) and known.ids[low] == number:
        return known.values[low]
    return np.int32(-1)
