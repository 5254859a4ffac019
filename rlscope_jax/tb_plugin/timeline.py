"""The pieces of every line in time, and views of them with no more detail than a screen shows.

A lane is one line of the timeline: a host thread, whose pieces are coloured by category, or a device line,
whose pieces are coloured by operation. Cutting a view needs numpy alone: TensorBoard's own process can do it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Process, Report

_COLUMNS = {"start": np.int64, "end": np.int64, "key": np.int32, "label": np.int32}
_MOST_STEPS = 2000
_MOST_PIECES = 2  # per column of the view: where fewer lie in it, they are shown as they are


@dataclass
class Lane:
    """One line's disjoint pieces, in order: times in ps since the window began."""

    process: int
    side: str
    """host or device."""
    name: str
    start: np.ndarray
    end: np.ndarray
    key: np.ndarray
    """int32: what colours a piece: a host category, or an operation (an index into `operations`)."""
    label: np.ndarray
    """int32: what a piece is, an index into `labels`."""


@dataclass
class Timeline:
    """All lanes of one of a report's windows."""

    wall: int
    """ps."""
    window: int = 0
    """Which of them, in order."""
    windows: list[tuple[int | None, int]] = field(default_factory=list)
    """(when it began, unix ns, where known; how long it was, ps) of every window of the report."""
    operations: list[tuple[str, str | None]] = field(default_factory=list)
    """(path, direction)."""
    categories: list[str] = field(default_factory=list)
    """The host's, by number."""
    labels: list[tuple[int, str]] = field(default_factory=list)
    """(operation, name of the op; "" for host time)."""
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    """(number, start, end)."""
    compiles: list[tuple[int, int, int]] = field(default_factory=list)
    """(program, start, end)."""
    lanes: list[Lane] = field(default_factory=list)


def timelines_of(report: Report) -> list[Timeline]:
    """The lanes of every process of a report, for each of its windows."""
    parts = report.windows or [report]
    windows = [(_began(part), max(map(_wall, part.processes))) for part in parts]
    return [_timeline_of(part.processes, number, windows) for number, part in enumerate(parts)]


def _began(part: Report) -> int | None:
    limits = part.session.window_unix_ns
    return limits[0] if limits else None


def _wall(process: Process) -> int:
    return process.trace.window[1] - process.trace.window[0]


def _timeline_of(processes: list[Process], number: int, windows: list[tuple[int | None, int]]) -> Timeline:
    from rlscope_jax.attribution.host_names import CATEGORIES

    timeline = Timeline(windows[number][1], number, windows, categories=list(CATEGORIES))
    numbers = _Numbers(timeline)
    for index, process in enumerate(processes):
        _add_process(timeline, numbers, index, process)
    return timeline


class _Numbers:
    """Gives operations and labels their numbers."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._operations: dict[tuple[str, str | None], int] = {}
        self._labels: dict[tuple[int, str], int] = {}

    def operation(self, path: str, direction: str | None) -> int:
        return _number(self._operations, self._timeline.operations, (path, direction))

    def label(self, operation: int, name: str) -> int:
        return _number(self._labels, self._timeline.labels, (operation, name))


def _number(known: dict[Any, int], listed: list[Any], item: Any) -> int:
    if item not in known:
        known[item] = len(listed)
        listed.append(item)
    return known[item]


def _add_process(timeline: Timeline, numbers: _Numbers, index: int, process: Process) -> None:
    from rlscope_jax.attribution.attribute import UNATTRIBUTED, host_pieces
    from rlscope_jax.xla_events.nesting import flatten

    attribution, trace = process.attribution, process.trace
    begin = trace.window[0]
    timeline.steps += [(step.number, step.start - begin, step.end - begin) for step in process.steps]
    timeline.compiles += [
        (program, one.start - begin, one.end - begin)
        for program, compiles in attribution.compiles.items()
        for one in compiles
    ]
    paths = [numbers.operation(text or UNATTRIBUTED, None) for text in attribution.paths.text]
    operations = [numbers.operation(owner.main.path, owner.main.direction) for owner in attribution.owners]
    device_labels = [
        numbers.label(operation, trace.ops.name[owner.op] or trace.ops.kernel[owner.op])
        for operation, owner in zip(operations, attribution.owners, strict=True)
    ]
    host_labels = np.array([numbers.label(path, "") for path in paths] + device_labels, np.int32)
    device_key, device_label = np.array(operations, np.int32), np.array(device_labels, np.int32)

    for activity, lane in zip(attribution.activities, host_pieces(attribution, len(paths)), strict=True):
        timeline.lanes.append(
            Lane(index, "host", activity.thread.name, lane.start - begin, lane.end - begin,
                 lane.category.astype(np.int32), host_labels[lane.owner])
        )  # fmt: skip
    for line, op_owner in zip(trace.op_lines, attribution.op_owner, strict=True):
        start, end, event, _ = flatten(line.start, line.end)
        owner = op_owner[event]
        name = f"{trace.devices[line.device].id} · {line.name}"
        timeline.lanes.append(
            Lane(index, "device", name, start - begin, end - begin, device_key[owner], device_label[owner])
        )


def save(timeline: Timeline, folder: Path) -> None:
    """Write a timeline: a file per window and column, so that a view reads only what it shows.

    Raises:
        OSError: the folder cannot be written.
    """
    for column, kind in _COLUMNS.items():
        parts = [np.zeros(0, kind), *(getattr(lane, column) for lane in timeline.lanes)]
        np.save(folder / f"timeline{timeline.window}_{column}.npy", np.concatenate(parts).astype(kind))
    described = {
        "wall": timeline.wall,
        "window": timeline.window,
        "windows": timeline.windows,
        "operations": timeline.operations,
        "categories": timeline.categories,
        "labels": timeline.labels,
        "steps": timeline.steps,
        "compiles": timeline.compiles,
        "lanes": [_described(lane) for lane in timeline.lanes],
    }
    (folder / f"timeline{timeline.window}.json").write_text(json.dumps(described))


def _described(lane: Lane) -> dict[str, Any]:
    return {"process": lane.process, "side": lane.side, "name": lane.name, "pieces": len(lane.start)}


def load(folder: Path, window: int = 0) -> Timeline:
    """Read of one window what `save` wrote; the columns stay on disk until they are looked at.

    Raises:
        OSError, ValueError: it is not there, or damaged.
    """
    described = json.loads((folder / f"timeline{window}.json").read_text())
    columns = {name: np.load(folder / f"timeline{window}_{name}.npy", mmap_mode="r") for name in _COLUMNS}
    timeline = Timeline(
        described["wall"],
        described["window"],
        [(began, wall) for began, wall in described["windows"]],
        [(path, direction) for path, direction in described["operations"]],
        described["categories"],
        [(operation, name) for operation, name in described["labels"]],
        [(number, start, end) for number, start, end in described["steps"]],
        [(program, start, end) for program, start, end in described["compiles"]],
    )
    first = 0
    for lane in described["lanes"]:
        last = first + lane["pieces"]
        timeline.lanes.append(
            Lane(lane["process"], lane["side"], lane["name"],
                 *(columns[name][first:last] for name in _COLUMNS))
        )  # fmt: skip
        first = last
    return timeline


@dataclass
class View:
    """What of one lane a screen shows between two instants: parallel lists, times in ns."""

    start: list[float]
    duration: list[float]
    key: list[int]
    label: list[int]
    """-1 for several pieces drawn as one."""
    count: list[int]
    cover: list[float]
    """The part of the stretch that its pieces fill, 0 to 1."""


def cut(timeline: Timeline, begin: int, end: int, columns: int) -> dict[str, Any]:
    """What a screen of so many columns shows between two instants (ps).

    A piece at least a column wide is given as it is. Narrower ones are added up column by column: a column
    takes the key that has most of it.
    """
    begin, end = max(0, begin), min(timeline.wall, max(end, begin + 1))
    views = [_cut_lane(lane, begin, end, columns) for lane in timeline.lanes]
    used = sorted({label for view in views for label in view.label if label >= 0})
    return {
        "begin": begin / 1000,
        "end": end / 1000,
        "wall": timeline.wall / 1000,
        "window": timeline.window,
        "windows": [(began, wall / 1000) for began, wall in timeline.windows],
        "operations": timeline.operations,
        "categories": timeline.categories,
        "labels": {str(label): timeline.labels[label] for label in used},
        "steps": _steps(timeline, begin, end),
        "compiles": [
            (program, start / 1000, (stop - start) / 1000) for program, start, stop in timeline.compiles
        ],
        "lanes": [
            {**_described(lane), **asdict(view)}
            for lane, view in zip(timeline.lanes, views, strict=True)
        ],
    }  # fmt: skip


def _steps(timeline: Timeline, begin: int, end: int) -> list[tuple[int, float, float]]:
    """(number, start, duration) of the steps within a stretch, ns."""
    within = [step for step in timeline.steps if step[2] > begin and step[1] < end]
    return [(number, start / 1000, (stop - start) / 1000) for number, start, stop in within[:_MOST_STEPS]]


def _cut_lane(lane: Lane, begin: int, end: int, columns: int) -> View:
    first = int(np.searchsorted(lane.end, begin, "right"))
    last = int(np.searchsorted(lane.start, end, "left"))
    start, stop = np.asarray(lane.start[first:last]), np.asarray(lane.end[first:last])
    key, label = np.asarray(lane.key[first:last]), np.asarray(lane.label[first:last])
    single = np.ones(len(start), np.int64)
    if len(start) <= _MOST_PIECES * columns:
        return _view(start, stop, key, label, single, np.ones(len(start)))
    width = max((end - begin) / columns, 1.0)
    wide = stop - start >= width
    narrow = ~wide
    # A narrow piece counts in the column its middle lies in.
    middle = (np.maximum(start[narrow], begin) + np.minimum(stop[narrow], end)) // 2
    column = np.minimum(((middle - begin) / width).astype(np.int64), columns - 1)
    keys = int(key.max()) + 1
    time = np.bincount(column * keys + key[narrow], stop[narrow] - start[narrow], columns * keys)
    time = time.reshape(columns, keys)
    count = np.bincount(column, minlength=columns)
    some = np.flatnonzero(count)
    merged = begin + np.arange(columns + 1) * width
    return _view(
        np.concatenate([merged[some], start[wide]]),
        np.concatenate([merged[some + 1], stop[wide]]),
        np.concatenate([time[some].argmax(axis=1), key[wide]]),
        np.concatenate([np.full(len(some), -1), label[wide]]),
        np.concatenate([count[some], single[wide]]),
        np.concatenate([np.minimum(time[some].sum(axis=1) / width, 1.0), np.ones(int(wide.sum()))]),
    )


def _view(
    start: np.ndarray,
    stop: np.ndarray,
    key: np.ndarray,
    label: np.ndarray,
    count: np.ndarray,
    cover: np.ndarray,
) -> View:
    return View(
        (start / 1000).round(3).tolist(),
        ((stop - start) / 1000).round(3).tolist(),
        key.tolist(),
        label.tolist(),
        count.tolist(),
        cover.round(3).tolist(),
    )


def find(timeline: Timeline, text: str, after: int) -> dict[str, Any] | None:
    """The first piece that begins after an instant (ps) and whose operation or op holds the text.

    From the beginning again where none does; None where there is none at all.
    """
    wanted = text.casefold()
    matching = [wanted in path.casefold() for path, _ in timeline.operations]
    chosen = np.array(
        [matching[operation] or wanted in name.casefold() for operation, name in timeline.labels] + [False],
        bool,
    )
    best: tuple[bool, int, int, int] | None = None
    for number, lane in enumerate(timeline.lanes):
        hits = np.flatnonzero(chosen[lane.label])
        if not len(hits):
            continue
        place = int(np.searchsorted(lane.start[hits], after, "right"))
        around = place == len(hits)
        hit = int(hits[0 if around else place])
        candidate = (around, int(lane.start[hit]), number, hit)
        best = candidate if best is None or candidate < best else best
    if best is None:
        return None
    _, start, number, hit = best
    return {"lane": number, "start": start / 1000, "end": int(timeline.lanes[number].end[hit]) / 1000}
