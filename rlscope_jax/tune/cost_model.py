"""Guess how fast candidates are from those measured: an ensemble of small networks, one jitted program.

The target is throughput relative to the best seen, best / time, between 0 (a failure) and 1, as in Ansor
(arXiv 2006.06762), whose model is of boosted trees. Needs optax (extra `tune`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rlscope_jax.tune.errors import need

MEMBERS = 8
HIDDEN = 64
STEPS = 200
BATCH = 64
RATE = 5e-3
BLOCK = 2048
"""Rows predicted at once; fewer are padded, so that there is one program."""


def throughput(seconds: Sequence[float] | np.ndarray) -> np.ndarray:
    """float32: best / time of each; 0 for a failure (an infinite time)."""
    times = np.asarray(seconds, np.float64)
    finite = np.isfinite(times)
    if not finite.any():
        return np.zeros(times.shape, np.float32)
    return np.where(finite, times[finite].min() / np.where(finite, times, 1), 0).astype(np.float32)


class CostModel:
    """An ensemble of `MEMBERS` networks, each fitted on its own random batches.

    Args:
        features: columns of its input.
        seed: the same seed and data give the same model.
    """

    def __init__(self, features: int, seed: int = 0) -> None:
        self._features = features
        self._key = jax.random.key(seed)
        self._params: Any = None

    @property
    def fitted(self) -> bool:
        """Whether it knows anything."""
        return self._params is not None

    def fit(self, inputs: np.ndarray, targets: np.ndarray) -> None:
        """Fit anew. inputs: float [n, features] (`Space.encode`); targets: float [n] (`throughput`)."""
        count = len(inputs)
        capacity = 256
        while capacity < count:
            capacity *= 2  # a program for each power of two
        padded = np.zeros((capacity, self._features), np.float32)
        padded[:count] = inputs
        wanted = np.zeros(capacity, np.float32)
        wanted[:count] = targets
        self._params = _fit(self._key, padded, wanted, count)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """float32 [n]: predicted throughput relative to the best it was fitted on, the members' mean."""
        found = np.empty(len(inputs), np.float32)
        for start in range(0, len(inputs), BLOCK):
            block = np.zeros((BLOCK, self._features), np.float32)
            part = inputs[start : start + BLOCK]
            block[: len(part)] = part
            found[start : start + BLOCK] = np.asarray(predict(self._params, block))[: len(part)]
        return found

    @property
    def params(self) -> Any:
        """The members' weights as a pytree, for `predict` inside somebody's jitted program."""
        return self._params


@jax.jit
def predict(params: Any, inputs: jax.Array) -> jax.Array:
    """float32 [n]: the members' mean prediction for float32 [n, features]."""
    return jnp.mean(jax.vmap(_apply, in_axes=(0, None))(params, inputs), axis=0)


def _apply(params: Any, inputs: jax.Array) -> jax.Array:
    (w1, b1), (w2, b2), (w3, b3) = params
    hidden = jax.nn.relu(inputs @ w1 + b1)
    hidden = jax.nn.relu(hidden @ w2 + b2)
    return (hidden @ w3 + b3)[:, 0]


def _init(key: jax.Array, features: int) -> Any:
    sizes = (features, HIDDEN, HIDDEN, 1)
    keys = jax.random.split(key, 3)
    return tuple(
        (jax.random.normal(k, (fan_in, fan_out)) * jnp.sqrt(2 / fan_in), jnp.zeros(fan_out))
        for k, fan_in, fan_out in zip(keys, sizes[:-1], sizes[1:], strict=True)
    )


@jax.jit
def _fit(key: jax.Array, inputs: jax.Array, targets: jax.Array, count: int) -> Any:
    optax = need("optax", "tune")
    optimizer = optax.adam(optax.cosine_decay_schedule(RATE, STEPS))

    def member(key: jax.Array) -> Any:
        first, key = jax.random.split(key)
        params = _init(first, inputs.shape[1])

        def loss(params: Any, rows: jax.Array) -> jax.Array:
            return jnp.mean((_apply(params, inputs[rows]) - targets[rows]) ** 2)

        def step(carry: Any, key: jax.Array) -> Any:
            params, state = carry
            rows = jax.random.randint(key, (BATCH,), 0, count)
            updates, state = optimizer.update(jax.grad(loss)(params, rows), state)
            return (optax.apply_updates(params, updates), state), None

        (params, _), _ = jax.lax.scan(step, (params, optimizer.init(params)), jax.random.split(key, STEPS))
        return params

    return jax.vmap(member)(jax.random.split(key, MEMBERS))
