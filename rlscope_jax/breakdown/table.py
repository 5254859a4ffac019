"""Cells to rows: one row per operation and direction, in picoseconds."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from rlscope_jax.attribution import device_category, host_names
from rlscope_jax.attribution.attribute import (
    IDLE,
    STARTUP,
    UNATTRIBUTED,
    Attribution,
    HostPieces,
    Share,
    host_pieces,
)
from rlscope_jax.breakdown.sweep import Cells, Lanes, joined, sweep
from rlscope_jax.xla_events.nesting import flatten
from rlscope_jax.xla_events.trace import Trace


@dataclass
class Row:
    """One operation in one direction; times in ps."""

    path: str
    direction: str | None
    kind: str = "special"
    device_self: int = 0
    device_total: int = 0
    device_ops: int = 0
    launches: int = 0
    launch_latencies: list[np.ndarray] = field(default_factory=list)
    """From each launch's start to the start of the first op it launched, ps."""
    device_categories: list[int] = field(default_factory=lambda: [0] * len(device_category.CATEGORIES))
    host_categories: list[int] = field(default_factory=lambda: [0] * len(host_names.CATEGORIES))
    dispatches: int = 0
    compiles: int = 0
    syncs: int = 0
    callbacks: int = 0
    device_only: int = 0
    overlap: int = 0
    host_only_categories: list[int] = field(default_factory=lambda: [0] * len(host_names.CATEGORIES))
    idle: int = 0
    evidence: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def wall(self) -> int:
        """The row's part of the window."""
        return self.device_only + self.overlap + sum(self.host_only_categories) + self.idle

    @property
    def host_self(self) -> int:
        """Thread time, summed over threads."""
        return sum(self.host_categories)


@dataclass
class Table:
    """The rows of one process and the sums they close to; times in ps."""

    rows: list[Row]
    cells: Cells


_TRUST = {kind: rank for rank, kind in enumerate(("special", "function", "scope", "annotation", "mark"))}


def tabulate(attribution: Attribution) -> Table:
    """Partition the window and add it up by operation.

    The rows' wall times sum to the window exactly; their device self times to the sum over lines.
    """
    cells = partition(attribution)
    return Table(rows_of(attribution, cells), cells)


def rows_of(attribution: Attribution, cells: Cells) -> list[Row]:
    """Cells, as recorded or corrected, added up by operation."""
    return _Rows(attribution.trace, attribution, startup_owner(attribution)).fill(cells)


def startup_owner(attribution: Attribution) -> int:
    """The host owner of time before the first step; the device owners follow it."""
    return len(attribution.paths.text)


def partition(attribution: Attribution) -> Cells:
    """Give every instant of the window to a device or host owner."""
    trace = attribution.trace
    first_step = min((step.start for thread in trace.host_threads for step in thread.steps), default=None)
    startup = startup_owner(attribution)
    first_device_owner = startup + 1
    lanes = host_pieces(attribution, first_device_owner)
    op_pieces = [flatten(line.start, line.end)[:3] for line in trace.op_lines]
    lanes += _callback_lanes(trace, attribution, op_pieces, first_device_owner)
    if first_step is not None:
        lanes = [_split_startup(lane, first_step, startup) for lane in lanes]
    device = [
        (start, end, owner[event])
        for (start, end, event), owner in zip(op_pieces, attribution.op_owner, strict=True)
    ]
    runs = [
        line.kind_run[line.kind[event]] for (_, _, event), line in zip(op_pieces, trace.op_lines, strict=True)
    ]
    owners = attribution.owners
    return sweep(
        trace.window,
        Lanes.of(device),
        np.array([line.device for line in trace.op_lines], np.int64),
        len(trace.devices),
        joined(runs, np.int32),
        np.array([owner.control for owner in owners], bool),
        Lanes.of([(lane.start, lane.end, lane.owner) for lane in lanes]),
        joined([lane.category for lane in lanes], np.int64),
        np.isin(np.arange(first_device_owner + len(owners)), [0, startup]),
    )


class _Rows:
    def __init__(self, trace: Trace, attribution: Attribution, startup: int) -> None:
        self._trace, self._attribution, self._startup = trace, attribution, startup
        self._rows: dict[tuple[str, str | None], Row] = {}

    def fill(self, cells: Cells) -> list[Row]:
        self._add_device(cells)
        self._add_host(cells)
        self._add_counts()
        if cells.idle:
            self._row(IDLE, None, "special").idle = cells.idle
        self._add_ancestors()
        rows = list(self._rows.values())
        assert sum(row.wall for row in rows) == cells.wall
        assert sum(row.device_self for row in rows) == int(cells.device_self.sum())
        _add_totals(rows)
        return sorted(rows, key=lambda row: (row.kind == "special", row.path, row.direction or ""))

    def _row(self, path: str, direction: str | None, kind: str) -> Row:
        row = self._rows.setdefault((path, direction), Row(path, direction, kind))
        if _TRUST[kind] > _TRUST[row.kind]:
            row.kind = kind
        return row

    def _share_row(self, share: Share) -> Row:
        return self._row(share.path, share.direction, share.kind)

    def _add_ancestors(self) -> None:
        """An operation met only through those nested in it still has a row: its total says what they took."""
        known = {path for path, _ in self._rows}
        for (path, _), row in list(self._rows.items()):
            above = path.rpartition("/")[0]
            while above and above not in known:
                known.add(above)
                self._row(above, None, row.kind)
                above = above.rpartition("/")[0]

    def _add_device(self, cells: Cells) -> None:
        for number, owner in enumerate(self._attribution.owners):
            times = [int(of[number]) for of in (cells.device_self, cells.device_only, cells.overlap)]
            for divided in zip(*(owner.divide(time) for time in times), strict=True):
                share, (own, device_only, overlap) = divided[0][0], (time for _, time in divided)
                row = self._share_row(share)
                row.device_self += own
                row.device_categories[owner.category] += own
                row.evidence[share.evidence] += own
                row.device_only += device_only
                row.overlap += overlap

    def _add_host(self, cells: Cells) -> None:
        for number in np.flatnonzero(cells.host_self.any(axis=1)):
            row = self._host_row(int(number))
            for category in range(len(host_names.CATEGORIES)):
                row.host_categories[category] += int(cells.host_self[number, category])
                row.host_only_categories[category] += int(cells.host_only[number, category])

    def _host_row(self, number: int) -> Row:
        paths = self._attribution.paths
        if number > self._startup:
            return self._share_row(self._attribution.owners[number - self._startup - 1].main)
        if number == self._startup:
            return self._row(STARTUP, None, "special")
        if number == 0:
            return self._row(UNATTRIBUTED, None, "special")
        return self._row(paths.text[number], None, paths.kind[number])

    def _add_counts(self) -> None:
        attribution = self._attribution
        for owner_of_event in attribution.op_owner:
            counts = np.bincount(owner_of_event)
            for number in np.flatnonzero(counts).tolist():
                owner, count = attribution.owners[number], counts[number]
                row = self._share_row(owner.main)
                row.device_ops += int(count)
                if owner.category == device_category.HOST_CALL:
                    row.callbacks += int(count)
        self._add_launches()
        seen: set[int] = set()
        for dispatch in attribution.dispatches:
            if dispatch.run in seen:
                continue  # one call may enqueue its program on several devices
            if dispatch.run >= 0 and self._trace.runs.run_id[dispatch.run] != -1:
                seen.add(dispatch.run)
            self._path_row(dispatch.thread, dispatch.event).dispatches += 1
        for number, activity in enumerate(attribution.activities):
            for event in activity.compiles:
                self._path_row(number, int(event)).compiles += 1
            for event in activity.syncs:
                self._path_row(number, int(event)).syncs += 1

    def _add_launches(self) -> None:
        for line, owner in zip(self._trace.op_lines, self._attribution.op_owner, strict=True):
            if line.launch is None:
                continue
            # One launch may run several ops (a captured graph): it counts once, where its first op is.
            launch, first = np.unique(line.launch, return_index=True)
            first = first[launch >= 0]
            latency = line.start[first] - self._trace.launches.start[line.launch[first]]
            for number in np.unique(owner[first]).tolist():
                row = self._share_row(self._attribution.owners[number].main)
                mine = owner[first] == number
                row.launches += int(mine.sum())
                row.launch_latencies.append(latency[mine])

    def _path_row(self, thread: int, event: int) -> Row:
        activity = self._attribution.activities[thread]
        path = int(activity.event_path[event])
        if path == 0 and activity.execute_root[event] >= 0:
            path = int(activity.charged[activity.execute_root[event]])
        return self._host_row(path)


def _callback_lanes(
    trace: Trace, attribution: Attribution, op_pieces: list, first_device_owner: int
) -> list[HostPieces]:
    """A worker that runs a host callback is, for that time, a host thread."""
    is_call = np.array([owner.category == device_category.HOST_CALL for owner in attribution.owners], bool)
    lanes = []
    for line, owner_of_event, (start, end, event) in zip(
        trace.op_lines, attribution.op_owner, op_pieces, strict=True
    ):
        owner = owner_of_event[event]
        chosen = is_call[owner] if line.thread < 0 else np.zeros(len(owner), bool)
        if chosen.any():
            category = np.full(int(chosen.sum()), host_names.CALLBACK)
            lanes.append(HostPieces(start[chosen], end[chosen], first_device_owner + owner[chosen], category))
    return lanes


def _split_startup(lane: HostPieces, first_step: int, startup: int) -> HostPieces:
    """Host time of no operation before the first step belongs to the start, not to training."""
    crossing = np.flatnonzero((lane.start < first_step) & (lane.end > first_step) & (lane.owner == 0))
    start = np.insert(lane.start, crossing + 1, first_step)
    end = np.insert(lane.end, crossing, first_step)
    owner = np.insert(lane.owner, crossing, lane.owner[crossing])
    category = np.insert(lane.category, crossing, lane.category[crossing])
    owner = np.where((owner == 0) & (end <= first_step), startup, owner)
    return HostPieces(start, end, owner, category)


def _add_totals(rows: list[Row]) -> None:
    """A row's total: the device time of everything at or below it.

    A row of one direction counts that direction; one of no direction counts them all.
    """
    below: dict[tuple[str, str | None], int] = defaultdict(int)
    for row in rows:
        path = row.path
        while path:
            below[path, None] += row.device_self
            if row.direction is not None:
                below[path, row.direction] += row.device_self
            path = path.rpartition("/")[0]
    for row in rows:
        row.device_total = below[row.path, row.direction]
