"""Time two callables against each other, so that what else the machine does cancels.

One after the other, A then B, then B then A, and so on: each round gives a ratio of two neighbours in time.
The median of the rounds' ratios is the result, with an interval by order statistics, which asks nothing of
the noise but that rounds be alike. A load that comes and goes slows both halves of a round; it spoils a few
rounds, not the median.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

CONFIDENCE = 0.95
DISTURBED = 1.3
"""A round is disturbed if the incumbent took so many times longer than when it is calm."""
PAUSE = 0.005
"""Seconds of rest after a disturbed round."""


@dataclass(frozen=True)
class Paired:
    """How much longer a candidate takes than the incumbent.

    Args:
        ratio: median over rounds of candidate's time / incumbent's time.
        low, high: the interval of that median (`CONFIDENCE`, for a number of rounds fixed beforehand).
        seconds: median time of one call of the candidate, as the clock saw it; of the machine as it was just
            then.
        incumbent_seconds: the same of the incumbent.
        rounds: how many.
    """

    ratio: float
    low: float
    high: float
    seconds: float
    incumbent_seconds: float
    rounds: int


@dataclass(frozen=True)
class Effort:
    """How long to go on measuring.

    Args:
        min_rounds, max_rounds: at least, at most.
        width: enough once (high - low) / ratio is below this.
        hopeless: enough once the candidate is this much slower than the incumbent at least (`low` exceeds
            it).
        patience: how many disturbed rounds (see `Calm`) are lost before all count.
        sample: seconds; shorter calls are repeated until one sample takes about that long.
    """

    min_rounds: int = 6
    max_rounds: int = 30
    width: float = 0.05
    hopeless: float = 1.25
    patience: int = 15
    sample: float = 3e-4


class Calm:
    """Knows what an incumbent takes undisturbed: the first quintile of its last thousand samples.

    A load that takes one of two cores slows a parallel incumbent and not a sequential candidate: their ratio
    changes, though both took part in the round. Whether a round counts is decided by the incumbent's time
    alone, so that the choice favours no candidate. It does make all of them look slower where loads come and
    go within a round, so it is for machines that are quiet most of the time: for measuring tables.
    """

    def __init__(self) -> None:
        self._samples: deque[float] = deque(maxlen=1000)

    def disturbed(self, sample: float) -> bool:
        """Whether a sample of the incumbent took more than `DISTURBED` times that."""
        self._samples.append(sample)
        return sample > DISTURBED * sorted(self._samples)[len(self._samples) // 5]


def paired(
    candidate: Callable[[], Any],
    incumbent: Callable[[], Any],
    effort: Effort | None = None,
    calm: Calm | None = None,
) -> Paired:
    """Time two callables, each of which returns when its work is done, in alternation.

    Args:
        calm: of this incumbent, from earlier pairs; learns more. All rounds count if None.
    """
    return summarize(rounds(candidate, incumbent, effort, calm))


def rounds(
    candidate: Callable[[], Any],
    incumbent: Callable[[], Any],
    effort: Effort | None = None,
    calm: Calm | None = None,
) -> np.ndarray:
    """float64 [rounds, 2]: seconds of the candidate and of the incumbent in each round that counts."""
    effort = effort or Effort()
    calls = [_calls(function, effort.sample) for function in (candidate, incumbent)]
    times: list[tuple[float, float]] = []
    turn = lost = 0
    while True:
        turn += 1
        if turn % 2:
            first = _sample(candidate, calls[0])
            second = _sample(incumbent, calls[1])
        else:
            second = _sample(incumbent, calls[1])
            first = _sample(candidate, calls[0])
        if calm is not None and calm.disturbed(second) and lost < effort.patience:
            lost += 1
            time.sleep(PAUSE)
            continue
        times.append((first, second))
        if len(times) >= effort.min_rounds:
            found = summarize(np.array(times))
            narrow = found.high - found.low <= effort.width * found.ratio
            if narrow or found.low > effort.hopeless or len(times) >= effort.max_rounds:
                return np.array(times)


def summarize(times: np.ndarray) -> Paired:
    """The result of rounds: float [rounds, 2], seconds of the candidate and of the incumbent."""
    ratios = np.sort(times[:, 0] / times[:, 1])
    skip = order_statistic(len(ratios))
    seconds, incumbent_seconds = np.median(times, axis=0).tolist()
    low, high = float(ratios[skip]), float(ratios[-1 - skip])
    return Paired(float(np.median(ratios)), low, high, seconds, incumbent_seconds, len(ratios))


def order_statistic(count: int, confidence: float = CONFIDENCE) -> int:
    """How many of `count` sorted values to leave out at each end: the rest spans an interval of the median.

    The median lies below the k-th smallest of n values with probability P(Binomial(n, 1/2) < k). With fewer
    than six values even the whole span falls short of 95 %.
    """
    tail, skip = 0.0, -1
    while tail <= (1 - confidence) / 2 and skip < (count - 1) // 2:
        skip += 1
        tail += math.comb(count, skip) / 2**count
    return max(skip - (tail > (1 - confidence) / 2), 0)


def _sample(function: Callable[[], Any], calls: int) -> float:
    """Seconds of one call, from `calls` of them."""
    started = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - started) / calls


def _calls(function: Callable[[], Any], sample: float) -> int:
    """How many calls make a sample long enough; the first of the two calls here warms up."""
    function()
    return max(1, min(1000, math.ceil(sample / max(_sample(function, 1), 1e-9))))
