"""Lines of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xspace_builder import wire
from xspace_builder.values import StatKey, Stats, Value, encode_stats, pairs

INT64_MAX = 2**63 - 1
"""A line id seen in real files, as are thread ids and hashes of either sign."""


@dataclass(slots=True)
class Event:
    """One event; times are picoseconds since the session's start, whatever the line's own time base."""

    metadata_id: int
    name: str
    start: int
    duration: int
    stats: list[tuple[StatKey, Value]] = field(default_factory=list)
    occurrences: int | None = None
    """Set on an aggregated event, which has a count and no start."""

    @property
    def end(self) -> int:
        """When the event is over."""
        return self.start + self.duration


class LineBuilder:
    """One line of a plane; events are written in the order in which they were added."""

    def __init__(
        self, id: int, name: str, display_name: str, timestamp_ns: int, number: Callable[[str], int]
    ) -> None:
        self.id = id
        self.name = name
        self.display_name = display_name
        self.timestamp_ns = timestamp_ns
        self.events: list[Event] = []
        self._number = number

    def event(self, name: str | int, start: int, duration: int = 0, stats: Stats = ()) -> Event:
        """Add an event. `name` may be a metadata id, known to the plane or dangling."""
        event = Event(*self._identify(name), start, duration, pairs(stats))
        self.events.append(event)
        return event

    def aggregated(self, name: str | int, occurrences: int, duration: int = 0, stats: Stats = ()) -> Event:
        """Add an event that only counts: how often, and how long in all."""
        event = Event(*self._identify(name), 0, duration, pairs(stats), occurrences)
        self.events.append(event)
        return event

    def sort(self) -> None:
        """Order the events by start, enclosing ones first, as the profiler writes them."""
        self.events.sort(key=lambda event: (event.start, -event.duration))

    def encode(self, id_of: Callable[[str], int]) -> bytes:
        """The XLine message."""
        return (
            wire.optional(1, self.id)
            + wire.optional(2, self.name)
            + wire.optional(3, self.timestamp_ns)
            + b"".join(wire.chunk(4, self._encode_event(event, id_of)) for event in self.events)
            + wire.optional(11, self.display_name)
        )

    def _identify(self, name: str | int) -> tuple[int, str]:
        return (name, "") if isinstance(name, int) else (self._number(name), name)

    def _encode_event(self, event: Event, id_of: Callable[[str], int]) -> bytes:
        return (
            wire.integer(1, event.metadata_id)
            + self._encode_offset(event)
            + wire.optional(3, event.duration)
            + encode_stats(4, event.stats, id_of)
            + (b"" if event.occurrences is None else wire.integer(5, event.occurrences))
        )

    def _encode_offset(self, event: Event) -> bytes:
        if event.occurrences is not None:
            return b""
        return wire.integer(2, event.start - self.timestamp_ns * 1000)
