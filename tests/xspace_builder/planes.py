"""Planes: lines, the names of their events and statistics, and statistics of their own."""

from __future__ import annotations

from dataclasses import dataclass

from xspace_builder import wire
from xspace_builder.lines import LineBuilder
from xspace_builder.values import StatKey, Stats, Value, encode_stats, pairs


@dataclass
class _EventMetadata:
    name: str
    display_name: str
    metadata: bytes
    stats: list[tuple[StatKey, Value]]


class PlaneBuilder:
    """One plane. Names are numbered from 1 in the order in which they are first used."""

    def __init__(self, name: str, id: int = 0) -> None:
        self.name = name
        self.id = id
        self.lines: list[LineBuilder] = []
        self.stats: list[tuple[StatKey, Value]] = []
        self._events: dict[int, _EventMetadata] = {}
        self._event_ids: dict[str, int] = {}
        self._stat_ids: dict[str, int] = {}

    def line(
        self,
        name: str = "",
        *,
        id: int | None = None,
        display_name: str = "",
        timestamp_ns: int = 0,
    ) -> LineBuilder:
        """Add a line; without an `id` it gets its number in the plane."""
        number = len(self.lines) + 1 if id is None else id
        self.lines.append(LineBuilder(number, name, display_name, timestamp_ns, self._event_id))
        return self.lines[-1]

    def stat(self, key: StatKey, value: Value) -> None:
        """Add a statistic of the plane itself."""
        self.stats.append((key, value))

    def event_metadata(
        self,
        name: str,
        *,
        key: int | None = None,
        display_name: str = "",
        metadata: bytes = b"",
        stats: Stats = (),
    ) -> int:
        """Describe a kind of event that has more than a name; returns the id to add such events with."""
        number = len(self._events) + 1 if key is None else key
        if number in self._events:
            raise ValueError(f"plane {self.name!r} already has event metadata {number}")
        self._events[number] = _EventMetadata(name, display_name, metadata, pairs(stats))
        return number

    def stat_id(self, name: str) -> int:
        """The id of a statistic's name or of a referenced string."""
        return self._stat_ids.setdefault(name, len(self._stat_ids) + 1)

    def encode(self) -> bytes:
        """The XPlane message."""
        lines = [wire.chunk(3, line.encode(self.stat_id)) for line in self.lines]
        events = [wire.map_entry(4, key, self._encode_event_metadata(key)) for key in self._events]
        stats = encode_stats(6, self.stats, self.stat_id)
        # Last, because the lines above still number names.
        names = [
            wire.map_entry(5, key, wire.integer(1, key) + wire.chunk(2, name))
            for name, key in self._stat_ids.items()
        ]
        head = wire.optional(1, self.id) + wire.optional(2, self.name)
        return head + b"".join(lines) + b"".join(events) + b"".join(names) + stats

    def _event_id(self, name: str) -> int:
        if name not in self._event_ids:
            self._event_ids[name] = self.event_metadata(name)
        return self._event_ids[name]

    def _encode_event_metadata(self, key: int) -> bytes:
        entry = self._events[key]
        return (
            wire.optional(1, key)
            + wire.optional(2, entry.name)
            + wire.optional(3, entry.metadata)
            + wire.optional(4, entry.display_name)
            + encode_stats(5, entry.stats, self.stat_id)
        )
