"""Time two callables against each other, so that what else the machine does cancels.

One after the other, A then B, then B then A, and so on: each round gives a ratio of two neighbours in time.
The median of the rounds' ratios is the result, with an interval by order statistics, which asks nothing of
the noise but that rounds be alike. A load that comes and goes slows both halves of a round; it spoils a few
rounds, not the median.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

CONFIDENCE = 0.95


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
        sample: seconds; shorter calls are repeated until one sample takes about that long.
    """

    min_rounds: int = 6
    max_rounds: int = 30
    width: float = 0.05
    hopeless: float = 1.25
    sample: float = 3e-4


def paired(
    candidate: Callable[[], Any], incumbent: Callable[[], Any], effort: Effort | None = None
) -> Paired:
    """Time two callables, each of which returns when its work is done, in alternation."""
    effort = effort or Effort()
    calls = [_calls(function, effort.sample) for function in (candidate, incumbent)]
    times: list[tuple[float, float]] = []
    while True:
        if len(times) % 2:
            second = _sample(incumbent, calls[1])
            first = _sample(candidate, calls[0])
        else:
            first = _sample(candidate, calls[0])
            second = _sample(incumbent, calls[1])
        times.append((first, second))
        if len(times) >= effort.min_rounds:
            found = summarize(np.array(times))
            narrow = found.high - found.low <= effort.width * found.ratio
            if narrow or found.low > effort.hopeless or len(times) >= effort.max_rounds:
                return found


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
