"""What a profile file holds, as jax's own reader sees it: to learn from, whatever ours makes of it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jax.profiler import ProfileData

from rlscope_jax.errors import RlscopeError
from rlscope_jax.xla_events.xspace import read_xspace

SAMPLES, NAMES, LENGTH = 8, 12, 160


def describe(path: Path) -> str:
    """Planes, lines, statistics and sample events of an `xplane.pb`, as text."""
    lines = [f"{path.name}: {path.stat().st_size:,} bytes", *_around(path)]
    for plane in ProfileData.from_file(str(path)).planes:
        lines += ["", f"plane {plane.name!r}", f"  statistics {_short(dict(plane.stats))}"]
        for line in plane.lines:
            lines += _line(line.name, [(event, dict(event.stats)) for event in line.events])
    return "\n".join(lines) + "\n"


def _around(path: Path) -> Iterator[str]:
    """What jax's reader does not show: the profiler's own complaints, and statistics of event metadata."""
    try:
        space = read_xspace(path)
    except RlscopeError as error:
        yield f"our reader: {error}"
        return
    yield from (f"hosts {space.hostnames}", f"errors {space.errors}", f"warnings {space.warnings}")
    for plane in space.planes:
        kinds: Counter[str] = Counter()
        names = []
        for key, name, places in plane.event_metadata():
            statistics = plane.read_stats(places)
            kinds.update(list(statistics))
            if "Hlo Proto" in statistics:
                names.append(f"{name} (key {key}, program_id {statistics.get('program_id')})")
        yield f"event metadata of {plane.name!r}: {len(plane.event_names)} entries, statistics {dict(kinds)}"
        yield from (f"  {name}" for name in names)


def _line(name: str, events: list[tuple[Any, dict[str, Any]]]) -> Iterator[str]:
    yield f"  line {name!r}: {len(events):,} events"
    counts = Counter(key for _, statistics in events for key in statistics)
    for key, count in counts.most_common():
        values = list(dict.fromkeys(str(statistics[key]) for _, statistics in events if key in statistics))
        yield f"    statistic {key}: on {count:,} events, {len(values):,} values: {_short(values[:4])}"
    names = Counter(event.name for event, _ in events)
    for event_name, count in names.most_common(NAMES):
        yield f"    {count:,} × {_short(event_name)}"
    first_of_kind: dict[tuple[str, ...], tuple[Any, dict[str, Any]]] = {}
    for event, statistics in events:
        first_of_kind.setdefault(tuple(statistics), (event, statistics))
    for event, statistics in list(first_of_kind.values())[:SAMPLES]:
        yield f"    e.g. {_short(event.name)} at {event.start_ns:.0f} ns for {event.duration_ns:.0f} ns"
        yield from (f"           {key} = {_short(value)}" for key, value in statistics.items())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}… ({len(text):,} characters)"
