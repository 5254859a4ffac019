"""Take an overhead from many groups at once without taking any below what it must have been."""

from __future__ import annotations

import numpy as np

_NOTHING = 1e-3  # ps; less is the rounding of something else


def subtract(time: np.ndarray, overhead: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """`time - overhead`, no group below its floor, the sum kept.

    What a group cannot give because of its floor is taken from the others in proportion to their overhead,
    so that the corrected times sum to `sum(time) - sum(overhead)` unless every group is at its floor.

    Args:
        time, overhead, floor: float64[groups], the same unit; a floor above the time counts as the time.

    Returns:
        float64[groups].
    """
    giving = overhead > _NOTHING
    lowest = np.where(giving, np.minimum(floor, time), time)
    missing = max(float((time - overhead).sum()), float(lowest.sum()))  # what all shall have in the end
    slack = np.divide(time - lowest, overhead, out=np.zeros(len(time)), where=giving)
    order = np.flatnonzero(giving)[np.argsort(slack[giving], kind="stable")]
    missing -= float(time[~giving].sum())
    # Those with the least slack reach their floor first; the rest share what is left to take.
    rest_time, rest_overhead = np.cumsum(time[order][::-1])[::-1], np.cumsum(overhead[order][::-1])[::-1]
    for number, group in enumerate(order):
        share = (float(rest_time[number]) - missing) / float(rest_overhead[number])
        if share <= slack[group]:
            left = lowest.copy()
            left[order[number:]] = time[order[number:]] - share * overhead[order[number:]]
            return left
        missing -= float(lowest[group])
    return lowest


def rounded(values: np.ndarray, total: int) -> np.ndarray:
    """int64 of the same shape that sum to `total`: each rounded down, the largest remainders up.

    Where `total` is another number the largest value makes up for it, so that none becomes negative.
    """
    flat = np.asarray(values, np.float64).ravel()
    whole = np.floor(flat).astype(np.int64)
    missing = total - int(whole.sum())
    if 0 < missing <= len(flat):
        whole[np.argsort(whole - flat, kind="stable")[:missing]] += 1
    elif missing and len(flat):
        whole[np.argmax(whole)] += missing
    return whole.reshape(np.shape(values))
