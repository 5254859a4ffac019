"""Take an overhead from many groups at once without taking any below what it must have been."""

from __future__ import annotations

import numpy as np


def subtract(time: np.ndarray, overhead: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """`time - overhead`, no group below its floor, the sum kept.

    What a group cannot give because of its floor is taken from the others in proportion to their overhead,
    so that the corrected times sum to `sum(time) - sum(overhead)` unless every group is at its floor.

    Args:
        time, overhead, floor: float64[groups], the same unit; a floor above the time counts as the time.

    Returns:
        float64[groups].
    """
    floor = np.minimum(floor, time)
    target = max(float((time - overhead).sum()), float(np.where(overhead > 0, floor, time).sum()))
    low, high = 1.0, 2.0

    def left(factor: float) -> np.ndarray:
        return np.maximum(time - factor * overhead, np.where(overhead > 0, floor, time))

    if not (overhead > 0).any():
        return time.copy()
    while left(high).sum() > target * (1 + 1e-12) and high < 1e6:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle).sum() > target else (low, middle)
    return left(high)


def rounded(values: np.ndarray, total: int) -> np.ndarray:
    """int64 of the same shape that sum to `total`: each rounded down, the largest remainders up."""
    flat = np.asarray(values, np.float64).ravel()
    whole = np.floor(flat).astype(np.int64)
    missing = total - int(whole.sum())
    if missing:
        order = np.argsort(whole - flat, kind="stable")
        extra, rest = divmod(missing, max(len(flat), 1))
        whole += extra
        whole[order[:rest]] += 1
    return whole.reshape(np.shape(values))
