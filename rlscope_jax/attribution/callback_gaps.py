"""How long the device stands still around host callbacks, within the runs that make them."""

from __future__ import annotations

import numpy as np

from rlscope_jax.attribution.attribute import Attribution
from rlscope_jax.attribution.device_category import HOST_CALL


def gaps_of_owners(attribution: Attribution) -> np.ndarray:
    """int64[device owners]: the waiting before and after the owner's callbacks, ps.

    Before a callback the device waits since the last op that ran, after it until the next op of the same run
    begins; a gap between two callbacks is the later one's. Loops and conditionals, which only hold other ops,
    are no work.
    """
    owners = attribution.owners
    is_call = np.array([owner.category == HOST_CALL for owner in owners], bool)
    is_loop = np.array([owner.control for owner in owners], bool)
    gaps = np.zeros(len(owners), np.int64)
    trace = attribution.trace
    for device in range(len(trace.devices)):
        lines = [
            (line.start, line.end, of_event, line.run)
            for line, of_event in zip(trace.op_lines, attribution.op_owner, strict=True)
            if line.device == device
        ]
        if not lines:
            continue
        start, end, owner, run = (np.concatenate(columns) for columns in zip(*lines, strict=True))
        work = ~is_loop[owner]
        order = np.argsort(start[work], kind="stable")
        start, end, owner, run = (column[work][order] for column in (start, end, owner, run))
        calls = np.flatnonzero(is_call[owner])
        if len(calls):
            began, ended = trace.runs.start[run[calls]], trace.runs.end[run[calls]]
            around = _gaps(start, end, is_call[owner], calls, began, ended)
            np.add.at(gaps, owner[calls], around)
    return gaps


def _gaps(
    start: np.ndarray,
    end: np.ndarray,
    is_call: np.ndarray,
    calls: np.ndarray,
    began: np.ndarray,
    ended: np.ndarray,
) -> np.ndarray:
    """Per callback (an index in `calls`) the time that nothing runs beside it, within its run."""
    busy_until = np.concatenate([[np.iinfo(np.int64).min], np.maximum.accumulate(end)])
    before = start[calls] - np.maximum(busy_until[np.searchsorted(start, start[calls], "left")], began)
    following = np.searchsorted(start, end[calls], "left")
    next_start = np.append(start, np.iinfo(np.int64).max)[following]
    next_is_call = np.append(is_call, False)[following]
    after = np.minimum(next_start, ended) - np.maximum(busy_until[following], end[calls])
    return np.maximum(before, 0) + np.where(next_is_call, 0, np.maximum(after, 0))
