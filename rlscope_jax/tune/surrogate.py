"""A table without its noise: a Gaussian process over the points of each sketch, fitted on all of them.

The kernel is a product over parameters, each factor a mixture of "this parameter does not matter" and a
correlation that falls with the distance of levels (an ANOVA kernel: main effects and interactions of all
orders). Each point's noise is taken from its interval. The kernel's two constants are those with the best
leave-one-out predictions (in closed form: Rasmussen and Williams, Gaussian Processes for Machine Learning,
§5.4.2). Nothing is random.
"""

from __future__ import annotations

import itertools

import numpy as np

from rlscope_jax.tune.table import Table

WEIGHTS = (0.3, 1.0, 3.0, 10.0)
"""What a parameter's correlation weighs against "does not matter"."""
REACHES = (1.0, 3.0)
"""Levels over which it falls to 1/e."""
FLOOR = 0.01
"""The least standard deviation believed of a measurement: 1 %."""


def smooth(table: Table) -> np.ndarray:
    """float32 [points]: the surrogate's ratios; NaN for failures."""
    found = np.full(len(table.rows["ratio"]), np.nan, np.float32)
    for number in range(len(table.header["sketches"])):
        mine = (table.rows["sketch"] == number) & ~np.isnan(table.rows["ratio"])
        if mine.any():
            levels = table.rows["levels"][mine][:, : len(list(table.header["sketches"].values())[number])]
            ratio, low, high = (
                table.rows[name][mine].astype(np.float64) for name in ("ratio", "low", "high")
            )
            noise = np.maximum(np.log(high / low) / (2 * 1.96), FLOOR)
            found[mine] = np.exp(fit(levels.astype(np.float64), np.log(ratio), noise))
    return found


def fit(levels: np.ndarray, values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The posterior mean at the points themselves.

    Args:
        levels: float [points, parameters].
        values: float [points].
        noise: float [points], the standard deviation of each value.
    """
    mean, scale = values.mean(), max(values.std(), 1e-6)
    target, variance = (values - mean) / scale, np.diag((noise / scale) ** 2)
    distance = np.abs(levels[:, None, :] - levels[None, :, :])
    best, chosen = np.inf, values
    for weight, reach in itertools.product(WEIGHTS, REACHES):
        kernel = np.prod((1 + weight * np.exp(-distance / reach)) / (1 + weight), axis=2)
        inverse = np.linalg.inv(kernel + variance)
        alpha = inverse @ target
        left_out = np.mean((alpha / np.diag(inverse)) ** 2)
        if left_out < best:
            best, chosen = left_out, mean + scale * (kernel @ alpha)
    return chosen
