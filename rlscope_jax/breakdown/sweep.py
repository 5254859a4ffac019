"""One pass over time that gives every picosecond of the window to what was happening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlscope_jax.attribution.host_names import CATEGORIES, INLINE, PYTHON, WAIT, WAIT_INFERRED
from rlscope_jax.xla_events.compiled import compiled

_CATEGORY_COUNT = len(CATEGORIES)


@dataclass
class Lanes:
    """Disjoint pieces of time, lane after lane: lane `k` holds pieces `offset[k]` to `offset[k + 1]`."""

    offset: np.ndarray
    start: np.ndarray
    end: np.ndarray
    owner: np.ndarray

    @staticmethod
    def of(pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Lanes:
        """Lanes from one (start, end, owner) each."""
        offset = np.zeros(len(pieces) + 1, np.int64)
        offset[1:] = np.cumsum([len(start) for start, _, _ in pieces])
        start, end, owner = zip(*pieces, strict=True) if pieces else ((), (), ())
        return Lanes(offset, joined(start, np.int64), joined(end, np.int64), joined(owner, np.int32))


def joined(columns: Sequence[np.ndarray], kind: type) -> np.ndarray:
    """Arrays in a row, as one of the given type; a single one is not copied, for it may be long."""
    if len(columns) == 1:
        return columns[0].astype(kind, copy=False)
    return np.concatenate([np.zeros(0, kind), *columns]).astype(kind, copy=False)


@dataclass
class Cells:
    """The partition, in picoseconds. Device and host owners are numbered by the caller."""

    device_only: np.ndarray
    """int64[device owners]: wall time of the owner's ops with no host thread at work."""
    overlap: np.ndarray
    """int64[device owners]: the same with a host thread at work."""
    host_only: np.ndarray
    """int64[host owners, categories]: wall time with a host thread at work and no device."""
    idle: int
    device_self: np.ndarray
    """int64[device owners]: self time, summed over lines."""
    host_self: np.ndarray
    """int64[host owners, categories]: thread time."""
    busy: np.ndarray
    """int64[devices]: union of the device's op intervals."""
    self_of_device: np.ndarray
    """int64[devices]: self time, summed over the device's lines."""

    @property
    def wall(self) -> int:
        """The sum of the partition's cells."""
        return int(self.device_only.sum() + self.overlap.sum() + self.host_only.sum()) + self.idle


def sweep(
    window: tuple[int, int],
    device: Lanes,
    lane_device: np.ndarray,
    devices: int,
    piece_run: np.ndarray,
    owner_is_control: np.ndarray,
    host: Lanes,
    host_category: np.ndarray,
    owner_is_nobody: np.ndarray,
) -> Cells:
    """Partition the window.

    Every instant is device only, overlap, host only or idle. When the device works it belongs to the op
    that runs, several at once sharing it equally; else to the host's innermost operation, threads sharing
    likewise. A thread that waits, or that itself runs the op, is not at work beside the device.

    Args:
        window: first and last instant, ps.
        device, host: pieces per op line and per host thread.
        lane_device: device of each device lane.
        piece_run: run of each device piece.
        owner_is_control: whether a device owner is a while or conditional, which rests while an op of its
            own run works on another line of the device.
        host_category: category of each host piece.
        owner_is_nobody: per host owner, whether it stands for no operation. What such a thread does
            between its events is Python or nothing at all: it counts only while nothing else is at work.
    """
    results = _sweep(
        window[0],
        window[1],
        device.offset,
        device.start,
        device.end,
        device.owner,
        lane_device.astype(np.int64),
        devices,
        piece_run,
        owner_is_control.astype(np.bool_),
        host.offset,
        host.start,
        host.end,
        host.owner,
        host_category.astype(np.int64),
        owner_is_nobody.astype(np.bool_),
    )
    device_only, overlap, host_only, idle, device_self, host_self, busy, self_of_device = results
    cells = Cells(device_only, overlap, host_only, int(idle), device_self, host_self, busy, self_of_device)
    assert cells.wall == window[1] - window[0], "the wall partition does not close"
    return cells


@compiled
def _sweep(
    begin, finish, d_offset, d_start, d_end, d_owner, lane_device, devices, piece_run,
    is_control, h_offset, h_start, h_end, h_owner, h_category, is_nobody,
):  # fmt: skip
    owners = len(is_control)
    device_only = np.zeros(owners, np.int64)
    overlap = np.zeros(owners, np.int64)
    device_self = np.zeros(owners, np.int64)
    host_only = np.zeros((len(is_nobody), _CATEGORY_COUNT), np.int64)
    host_self = np.zeros((len(is_nobody), _CATEGORY_COUNT), np.int64)
    busy = np.zeros(devices, np.int64)
    self_of_device = np.zeros(devices, np.int64)
    idle = np.int64(0)

    d_lanes, h_lanes = len(d_offset) - 1, len(h_offset) - 1
    d_next, h_next = d_offset[:-1].copy(), h_offset[:-1].copy()
    d_now = np.full(d_lanes, -1, np.int64)  # the piece each lane is in, -1 between pieces
    h_now = np.full(h_lanes, -1, np.int64)
    device_seen = np.zeros(devices, np.bool_)

    now = begin
    while now < finish:
        until = finish
        for lane in range(d_lanes):
            until, d_next[lane], d_now[lane] = _advance(
                now, until, d_next[lane], d_offset[lane + 1], d_start, d_end
            )
        for lane in range(h_lanes):
            until, h_next[lane], h_now[lane] = _advance(
                now, until, h_next[lane], h_offset[lane + 1], h_start, h_end
            )
        span = until - now

        # Device: who works. A while rests when an op of its run works on another line of its device.
        working = 0
        for lane in range(d_lanes):
            piece = d_now[lane]
            if piece >= 0 and is_control[d_owner[piece]]:
                for other in range(d_lanes):
                    rival = d_now[other]
                    if (
                        other != lane
                        and rival >= 0
                        and not is_control[d_owner[rival]]
                        and piece_run[rival] == piece_run[piece]
                        and lane_device[other] == lane_device[lane]
                    ):
                        d_now[lane] = -1
                        break
            if d_now[lane] >= 0:
                working += 1
                device_self[d_owner[piece]] += span
                self_of_device[lane_device[lane]] += span
                if not device_seen[lane_device[lane]]:
                    device_seen[lane_device[lane]] = True
                    busy[lane_device[lane]] += span

        # Host: who is at work.
        at_work = perhaps = 0
        for lane in range(h_lanes):
            piece = h_now[lane]
            if piece < 0:
                continue
            category = h_category[piece]
            host_self[h_owner[piece], category] += span
            if category == PYTHON and is_nobody[h_owner[piece]]:
                perhaps += 1
            elif not _rests(category):
                at_work += 1

        if working > 0:
            share, rest = span // working, span % working
            for lane in range(d_lanes):
                if d_now[lane] >= 0:
                    owner = d_owner[d_now[lane]]
                    if at_work > 0:
                        overlap[owner] += share + rest
                    else:
                        device_only[owner] += share + rest
                    rest = 0
                    device_seen[lane_device[lane]] = False
        elif at_work > 0 or perhaps > 0:
            threads = at_work if at_work > 0 else perhaps
            share, rest = span // threads, span % threads
            for lane in range(h_lanes):
                if h_now[lane] < 0:
                    continue
                owner, category = h_owner[h_now[lane]], h_category[h_now[lane]]
                maybe = category == PYTHON and is_nobody[owner]
                if not _rests(category) and maybe == (at_work == 0):
                    host_only[owner, category] += share + rest
                    rest = 0
        else:
            idle += span
        now = until
    return device_only, overlap, host_only, idle, device_self, host_self, busy, self_of_device


@compiled
def _rests(category):
    """Whether a thread is not at work beside the device: it waits, or it is itself the device."""
    return category in (INLINE, WAIT, WAIT_INFERRED)


@compiled
def _advance(now, until, piece, last, start, end):
    """(next boundary, next piece of the lane, the piece it is in now or -1)."""
    while piece < last and end[piece] <= now:
        piece += 1
    if piece >= last:
        return until, piece, np.int64(-1)
    if start[piece] > now:
        return min(until, start[piece]), piece, np.int64(-1)
    return min(until, end[piece]), piece, piece
