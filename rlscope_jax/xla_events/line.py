"""One XLine as columns: read in stretches, several at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rlscope_jax.xla_events import events, wire
from rlscope_jax.xla_events.rows import ABSENT, INTEGER, Rows, grown, merged, rows_for

if TYPE_CHECKING:
    from rlscope_jax.xla_events.xspace import Plane

# Statistics that become a row's columns, in this order; the rest of an event's statistics is left alone.
ROW_STATS = (
    "hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal", "step_num", "_r", "name", "annotation",
    "cuda_graph_id", "_pt", "_ct",
)  # fmt: skip
MOST_PICOSECONDS = 1 << 61  # a month: what lies further from the session's start is no time
UNIX_ERA = 10**15  # ns: a line's time base beyond this counts from 1970, not from the session's start
_SLOTS = {name: place for place, name in enumerate(ROW_STATS)} | {
    "_p": events.IS_PRODUCER,
    "_c": events.IS_CONSUMER,
    "correlation_id": events.IS_CORRELATION,
}
_STRETCH = 4 * 1024 * 1024
_MOST_THREADS = 8  # a stretch per thread stays in memory


@dataclass
class Line:
    """One line of events, sorted as stored. Times are picoseconds since the session's start."""

    plane: Plane
    id: int
    name: str
    event: np.ndarray
    """int32[events]: index into the plane's event names; -1 for an id that names nothing."""
    start: np.ndarray
    """int64[events], ps."""
    duration: np.ndarray
    """int64[events], ps."""
    row: np.ndarray
    """int32[events]: row of the statistics below."""
    produces: np.ndarray
    """int64[events]: flow id an event starts, or -1."""
    consumes: np.ndarray
    """int64[events]: flow id an event ends, or -1."""
    correlation: np.ndarray
    """int64[events]: correlation id of a launch and of what it launched, or -1; empty in planes without."""
    values: np.ndarray
    """int64[rows, len(ROW_STATS)]."""
    kinds: np.ndarray
    """uint8[rows, len(ROW_STATS)]: how `values` is to be read (see `rows`)."""
    aggregated: int = 0
    """Events that only carry a count and no time; they have no place in the columns."""

    def __len__(self) -> int:
        return len(self.event)

    def integers(self, stat: str, absent: int = -1) -> np.ndarray:
        """int64[rows]: an integer statistic of every row, `absent` where a row has none."""
        column = ROW_STATS.index(stat)
        return np.where(self.kinds[:, column] == INTEGER, self.values[:, column], absent)

    def has(self, stat: str) -> np.ndarray:
        """bool[rows]: which rows carry the statistic."""
        return self.kinds[:, ROW_STATS.index(stat)] != ABSENT

    def strings(self, stat: str) -> list[str]:
        """A string statistic of every row, "" where a row has none."""
        column = ROW_STATS.index(stat)
        known: dict[tuple[int, int], str] = {}
        texts = []
        for key in zip(self.values[:, column].tolist(), self.kinds[:, column].tolist(), strict=True):
            if key not in known:
                known[key] = self.plane.text(*key)
            texts.append(known[key])
        return texts


@dataclass(frozen=True)
class _Stretch:
    """A part of a line: its bytes and the places of its events in the columns."""

    start: int
    end: int
    first: int
    count: int


def decode_line(plane: Plane, start: int, end: int, names: events.Lookup) -> Line:
    """Decode the XLine in the file's bytes `start` to `end`; `names` knows the plane's event names.

    Raises:
        WireError: it is damaged.
    """
    space, content = plane.space, np.frombuffer(plane.space.buffer, np.uint8)
    header = np.zeros(6, np.int64)
    stretches = list(_scan(plane, content, start, end, header))
    line_id, name_start, name_end, display_start, display_end, timestamp = header.tolist()
    name = wire.text(space.buffer, name_start, name_end) or wire.text(
        space.buffer, display_start, display_end
    )
    count = sum(int(stretch.count) for stretch in stretches)
    columns = _columns(count, plane)
    slots = events.lookup_of({key: _SLOTS[stat] for key, stat in plane.stat_names.items() if stat in _SLOTS})

    def decode(stretch: _Stretch) -> tuple[int, Rows, int]:
        decoded = _decode(content, stretch, slots, names, columns)
        space.give_back(stretch.start, stretch.end)
        return decoded

    kept, rows, used = _collect(stretches, columns, _in_parallel(decode, stretches, plane))
    base = timestamp - (space.started_unix_ns or 0) if timestamp > UNIX_ERA else timestamp
    event, offset, duration, row, produces, consumes, correlation = (column[:kept] for column in columns)
    reach = [abs(int(bound)) for column in (offset, duration) for bound in _bounds(column)]
    if max([abs(base) * 1000, *reach]) > MOST_PICOSECONDS:
        raise wire.WireError(f"line {name!r} in plane {plane.name!r} holds times that cannot be")
    offset += base * 1000
    return Line(
        plane, line_id, name, event, offset, duration, row, produces, consumes, correlation,
        rows.values[:used], rows.kinds[:used], count - kept,
    )  # fmt: skip


def _scan(plane: Plane, content: np.ndarray, start: int, end: int, header: np.ndarray) -> Iterator[_Stretch]:
    """Cut the line into stretches that end between two of its fields; fills `header`."""
    position, first = start, 0
    while position < end:
        stop = min(position + _STRETCH, end)
        count, after = map(int, events.scan_line(content, position, end, stop, header))
        if after < 0:
            raise wire.WireError(f"a line of plane {plane.name!r} at byte {start} is cut short")
        plane.space.give_back(position, after)
        yield _Stretch(position, after, first, count)
        position, first = after, first + count


def _columns(count: int, plane: Plane) -> events.Columns:
    def room(dtype: type, needed: bool = True) -> np.ndarray:
        return np.empty(count if needed else 0, dtype)

    launches = "correlation_id" in plane.stat_names.values()
    return events.Columns(
        room(np.int32), room(np.int64), room(np.int64), room(np.int32), room(np.int64), room(np.int64),
        room(np.int64, launches),
    )  # fmt: skip


def _decode(
    content: np.ndarray,
    stretch: _Stretch,
    slots: events.Lookup,
    names: events.Lookup,
    columns: events.Columns,
) -> tuple[int, Rows, int]:
    """(events kept, rows, rows in use) of a stretch, its events written to their places in the columns."""
    rows, used = rows_for(len(ROW_STATS)), 0
    value_now, kind_now = np.zeros(len(ROW_STATS), np.int64), np.zeros(len(ROW_STATS), np.uint8)
    position, place = stretch.start, stretch.first
    while position < stretch.end:
        position, place, used = events.decode_events(
            content, position, stretch.end, slots, names, columns, place, rows, used, value_now, kind_now
        )
        if position < 0:
            raise wire.WireError(f"an event between bytes {stretch.start} and {stretch.end} is cut short")
        if used == len(rows.values):
            rows = grown(rows, used)
    return int(place) - stretch.first, rows, int(used)


def _in_parallel(
    decode: Callable[[_Stretch], tuple[int, Rows, int]], stretches: list[_Stretch], plane: Plane
) -> Iterator[tuple[int, Rows, int]]:
    """What `decode` says of each stretch, in order; with threads where there are several."""
    tell = plane.space.progress or (lambda share: None)
    if len(stretches) < 2:
        yield from map(decode, stretches)
    else:
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS)) as threads:
            for stretch, decoded in zip(stretches, threads.map(decode, stretches), strict=True):
                tell(stretch.end / len(plane.space.buffer))
                yield decoded


def _collect(
    stretches: list[_Stretch], columns: events.Columns, decoded: Iterator[tuple[int, Rows, int]]
) -> tuple[int, Rows, int]:
    """(events kept, rows, rows in use) of the whole line: one table of rows, no gaps in the columns."""
    kept, tables = [], []
    for count, rows, used in decoded:
        kept.append(count)
        tables.append((rows, used))
    if not tables:
        return 0, rows_for(len(ROW_STATS)), 0
    rows, used, numbers = merged(tables)
    place = 0
    for stretch, count, renamed in zip(stretches, kept, numbers, strict=True):
        here = slice(stretch.first, stretch.first + count)
        if not np.array_equal(renamed, np.arange(len(renamed))):
            columns.row[here] = renamed[columns.row[here]]
        if place != stretch.first:  # events without a time were left out before
            for column in columns:
                if len(column):
                    column[place : place + count] = column[here]
        place += count
    return place, rows, used


def _bounds(column: np.ndarray) -> tuple[int, ...]:
    return (column.min(), column.max()) if len(column) else ()
