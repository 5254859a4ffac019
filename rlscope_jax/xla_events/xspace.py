"""An XSpace file as planes, lines and columns.

Layout (openxla/xprof `xplane.proto`): XSpace{planes=1, errors=2, warnings=3, hostnames=4};
XPlane{id=1, name=2, lines=3, event_metadata=4, stat_metadata=5, stats=6};
XLine{id=1, name=2, timestamp_ns=3, events=4, display_name=11};
XEventMetadata{id=1, name=2, stats=5}; XStatMetadata{id=1, name=2};
XStat{metadata_id=1, double=2, uint64=3, int64=4, str=5, bytes=6, ref=7}.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rlscope_jax.errors import UnreadableProfileError
from rlscope_jax.xla_events import rows, wire
from rlscope_jax.xla_events.events import Lookup, lookup_of
from rlscope_jax.xla_events.line import UNIX_ERA, Line, decode_line

_TASK_PLANE = "Task Environment"
_STAT_WIRE_TYPES = {1: 0, 2: 1, 3: 0, 4: 0, 5: 2, 6: 2, 7: 0}

Value = int | float | str | memoryview


@dataclass
class Plane:
    """One plane: a host, a device, or a bag of metadata."""

    space: XSpace
    id: int = 0
    name: str = ""
    event_names: list[str] = field(default_factory=list)
    stat_names: dict[int, str] = field(default_factory=dict)
    _stats: list[tuple[int, int]] = field(default_factory=list)
    _event_metadata: list[tuple[int, int]] = field(default_factory=list)
    _lines: list[tuple[int, int]] = field(default_factory=list)
    _names: Lookup = field(default_factory=lambda: lookup_of({}))

    def read_lines(self) -> Iterator[Line]:
        """Decode the lines one by one: who does not keep them holds one at a time.

        Raises:
            WireError: a line is damaged.
        """
        for start, end in self._lines:
            line = decode_line(self, start, end, self._names)
            self.space.note(line)
            yield line

    def line_times(self) -> Iterator[int]:
        """The time base of every line, ns, as stored."""
        for start, end in self._lines:
            for number, wire_type, value, _ in wire.fields(self.space.buffer, start, end):
                if number == 3 and wire_type == wire.VARINT:
                    yield wire.signed(value)
                if number >= 3:
                    break  # what comes before the events

    @cached_property
    def lines(self) -> list[Line]:
        """Every line, decoded once and kept."""
        return list(self.read_lines())

    @cached_property
    def stats(self) -> dict[str, Value]:
        """The plane's own statistics."""
        return dict(self._read_stats(self._stats))

    def event_metadata(self) -> Iterator[tuple[int, str, list[tuple[int, int]]]]:
        """(key, name, places of its statistics) of every event metadata entry."""
        for start, end in self._event_metadata:
            yield _event_metadata(self.space.buffer, start, end)

    def read_stats(self, places: list[tuple[int, int]]) -> dict[str, Value]:
        """Statistics by name; of a repeated name the last."""
        return dict(self._read_stats(places))

    def text(self, value: int, kind: int) -> str:
        """A row's string: a reference, or the place of a string in the file."""
        if kind == rows.REFERENCE:
            return self.stat_names.get(value, "")
        if kind == rows.STRING:
            length, start = wire.varint(self.space.buffer, value, len(self.space.buffer))
            return wire.text(self.space.buffer, start, start + length)
        return str(value) if kind == rows.INTEGER else ""

    def _read_stats(self, places: list[tuple[int, int]]) -> Iterator[tuple[str, Value]]:
        buffer = self.space.buffer
        for start, end in places:
            name, value = "", None
            for number, wire_type, first, last in wire.fields(buffer, start, end):
                if _STAT_WIRE_TYPES.get(number, wire_type) != wire_type:
                    raise wire.WireError(f"field {number} of a statistic has wire type {wire_type}")
                if number == 1:
                    name = self.stat_names.get(first, "")
                elif number == 2:
                    value = struct.unpack("<d", bytes(buffer[first:last]))[0]
                elif number == 3:
                    value = first
                elif number == 4:
                    value = wire.signed(first)
                elif number == 5:
                    value = wire.text(buffer, first, last)
                elif number == 6:
                    value = buffer[first:last]
                elif number == 7:
                    value = self.stat_names.get(first, "")
            if value is not None:
                yield name, value


@dataclass
class XSpace:
    """One host's profile; its lines are decoded when they are read."""

    path: Path
    buffer: memoryview
    """The file's bytes, mapped; nothing is copied until it is asked for."""
    mapping: mmap.mmap
    planes: list[Plane] = field(default_factory=list)
    hostnames: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    events: int = 0
    """Events read so far, those without a time included."""
    extent: tuple[int, int] | None = None
    """First start and last end of the events read so far, ps."""
    progress: Callable[[float], None] | None = None
    """Told the share of the file decoded so far, 0 to 1."""

    def plane(self, name: str) -> Plane | None:
        """The plane of that name."""
        return next((plane for plane in self.planes if plane.name == name), None)

    def named(self, name: str) -> list[Plane]:
        """Every plane of that name: a file merged from several hosts has more than one."""
        return [plane for plane in self.planes if plane.name == name]

    @cached_property
    def started_unix_ns(self) -> int | None:
        """When the session began, where the profile says so; else when its first line did, if lines say."""
        plane = self.plane(_TASK_PLANE)
        started = plane.stats.get("profile_start_time") if plane is not None else None
        if isinstance(started, int):
            return started
        bases = [base for plane in self.planes for base in plane.line_times() if base > UNIX_ERA]
        return min(bases, default=None)

    def note(self, line: Line) -> None:
        """Count a line that was read."""
        self.events += len(line) + line.aggregated
        if len(line):
            first, last = int(line.start.min()), int((line.start + line.duration).max())
            known = self.extent or (first, last)
            self.extent = (min(first, known[0]), max(last, known[1]))

    def give_back(self, start: int, end: int) -> None:
        """Tell the system that these bytes of the file need not stay in memory."""
        page = mmap.PAGESIZE
        first, last = -(-start // page) * page, end // page * page
        if last > first and hasattr(self.mapping, "madvise"):
            self.mapping.madvise(mmap.MADV_DONTNEED, first, last - first)


def read_xspace(path: Path) -> XSpace:
    """Map an `*.xplane.pb` file and read its planes; lines are decoded when they are asked for.

    Raises:
        UnreadableProfileError: the file is missing, empty, damaged or something else.
    """
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise UnreadableProfileError(
                    f"{path} is empty: the profiler wrote no data, as it does past 2 GB. Record fewer steps."
                )
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise UnreadableProfileError(f"{path} cannot be read: {error.strerror or error}") from error
    space = XSpace(path, memoryview(mapping), mapping)
    with damage_named(path):
        _decode(space)
    if not space.planes:
        raise UnreadableProfileError(f"{path} is no XLA profile: it holds no planes.")
    return space


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn what breaks while decoding into an error that names the file.

    Raises:
        UnreadableProfileError: something within did not decode.
    """
    try:
        yield
    except wire.WireError as error:
        raise UnreadableProfileError(
            f"{path} is no XLA profile, or it is damaged ({error}). Copy it again, in binary mode."
        ) from error


def _decode(space: XSpace) -> None:
    buffer = space.buffer
    for number, wire_type, start, end in wire.fields(buffer, 0, len(buffer)):
        if number > 4 or wire_type != wire.BYTES:
            raise wire.WireError(f"field {number} has no place in a profile")
        if number == 1:
            space.planes.append(_decode_plane(space, start, end))
        else:
            target = {2: space.errors, 3: space.warnings, 4: space.hostnames}[number]
            target.append(wire.text(buffer, start, end))


def _decode_plane(space: XSpace, start: int, end: int) -> Plane:
    plane, buffer = Plane(space), space.buffer
    for number, wire_type, first, last in wire.fields(buffer, start, end):
        if (wire_type == wire.BYTES) != (number in (2, 3, 4, 5, 6)):
            raise wire.WireError(f"field {number} of a plane has wire type {wire_type}")
        if number == 1:
            plane.id = wire.signed(first)
        elif number == 2:
            plane.name = wire.text(buffer, first, last)
        elif number == 3:
            plane._lines.append((first, last))
        elif number == 4:
            plane._event_metadata.append((first, last))
        elif number == 5:
            key, name = _stat_metadata(buffer, first, last)
            plane.stat_names[key] = name
        elif number == 6:
            plane._stats.append((first, last))
    index: dict[int, int] = {}
    for key, name, _ in plane.event_metadata():
        index[key] = len(plane.event_names)
        plane.event_names.append(name)
    plane._names = lookup_of(index)
    return plane


def _stat_metadata(buffer: wire.Buffer, start: int, end: int) -> tuple[int, str]:
    key, name = 0, ""
    for number, wire_type, first, last in wire.fields(buffer, start, end):
        if number == 1 and wire_type == wire.VARINT:
            key = wire.signed(first)
        elif number == 2 and wire_type == wire.BYTES:
            for inner, kind, begin, stop in wire.fields(buffer, first, last):
                if inner == 2 and kind == wire.BYTES:
                    name = wire.text(buffer, begin, stop)
    return key, name


def _event_metadata(buffer: wire.Buffer, start: int, end: int) -> tuple[int, str, list[tuple[int, int]]]:
    key, name, stats = 0, "", []
    for number, wire_type, first, last in wire.fields(buffer, start, end):
        if number == 1 and wire_type == wire.VARINT:
            key = wire.signed(first)
        elif number == 2 and wire_type == wire.BYTES:
            for inner, kind, begin, stop in wire.fields(buffer, first, last):
                if kind != wire.BYTES:
                    continue
                if inner == 2:
                    name = wire.text(buffer, begin, stop)
                elif inner == 5:
                    stats.append((begin, stop))
    return key, name, stats
