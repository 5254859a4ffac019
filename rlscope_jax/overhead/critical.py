"""Which part of the ops' overhead made the wall time longer, where several lines work at once.

While one line works alone, all of its overhead does. Lines that share out the ops of one run wait for each
other: what they have together does. While several runs work at once (several devices, several threads of
the program), the one with the least overhead would have been the last to finish without it: only so much
is gained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

REST = 2_000_000
"""ps; a line that pauses no longer is still at work."""


@dataclass
class Stretch:
    """One line's ops: when they ran, what they cost, which are loops or conditionals, and of which run."""

    start: np.ndarray
    end: np.ndarray
    cost: np.ndarray
    control: np.ndarray
    run: np.ndarray


def critical_share(lines: list[Stretch]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Per line and op: the part of its cost that lengthened the wall time, and how far off it may be.

    The second is the difference to what the rule "each line's cost over the lines at work" gives.
    """
    if len(lines) == 1:
        return [np.ones(len(lines[0].end))], [np.zeros(len(lines[0].end))]
    active = [_active(line) for line in lines]
    cuts = np.unique(np.concatenate([np.zeros(0, np.int64), *(edge for pair in active for edge in pair)]))
    count = len(cuts) + 1
    at_work = np.array([_covers(pair, cuts) for pair in active], bool).reshape(len(lines), count)
    place = [np.searchsorted(cuts, line.end, "left") for line in lines]
    cost = np.array(
        [np.bincount(where, line.cost, count) for where, line in zip(place, lines, strict=True)]
    ).reshape(len(lines), count)
    together = _of_run(lines, cuts, at_work, cost)
    total = np.where(at_work, cost, 0).sum(axis=0)
    least = np.where(at_work, together, np.inf).min(axis=0, initial=np.inf)
    working = at_work.sum(axis=0)
    share = np.where(working > 1, np.where(np.isfinite(least), least, 0) / np.maximum(total, 1e-9), 1.0)
    doubt = np.abs(share - 1.0 / np.maximum(working, 1))
    shares, doubts = [], []
    for number, where in enumerate(place):
        # A loop whose body runs on other lines closes while they work: hidden behind them.
        counted = at_work[number, where] | (working[where] == 0)
        shares.append(np.where(counted, share[where], 0.0))
        doubts.append(np.where(counted, doubt[where], 0.0))
    return shares, doubts


def _of_run(lines: list[Stretch], cuts: np.ndarray, at_work: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Per line and stretch: the cost of all lines at work on the run that this line works on."""
    upto = np.append(cuts, np.iinfo(np.int64).max)
    run = np.array(
        [line.run[np.maximum(np.searchsorted(line.start, upto, "left") - 1, 0)] for line in lines], np.int64
    )
    return np.array([np.where((run == mine) & at_work, cost, 0).sum(axis=0) for mine in run])


def _active(line: Stretch) -> tuple[np.ndarray, np.ndarray]:
    """(starts, ends) of the stretches in which a line's ops follow each other closely."""
    start, end = line.start[~line.control], np.maximum.accumulate(line.end[~line.control])
    if len(start) == 0:
        return start, end
    first = np.append(True, start[1:] - end[:-1] > REST)
    return start[first], end[np.append(first[1:], True)]


def _covers(stretches: tuple[np.ndarray, np.ndarray], cuts: np.ndarray) -> np.ndarray:
    """Whether a line works between each two cuts; entry `i` ends at cut `i`."""
    start, end = stretches
    upto = np.append(cuts, np.iinfo(np.int64).max)
    place = np.searchsorted(start, upto, "left") - 1  # the last stretch that began before
    return (place >= 0) & (upto <= end[np.maximum(place, 0)]) if len(start) else np.zeros(len(upto), bool)
