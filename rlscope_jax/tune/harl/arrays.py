"""A space as arrays, so that a jitted program can walk in it: what is valid, features, what moves mean."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rlscope_jax.tune.space import KINDS, Candidate, Param, Space

LIMIT = 1 << 20
"""Combinations of a sketch that are asked one by one whether they are valid; in a larger one every move looks
valid, and points that are not are dropped when candidates are chosen."""
BUCKETS = 16
"""Names of parameters are told apart by their hash, so that a policy may be carried over to another task."""
SLOT = len(KINDS) + BUCKETS + 3
"""What the policy sees of one parameter."""


class SpaceArrays(NamedTuple):
    """S sketches, up to W parameters each, up to L levels each, F features of the cost model.

    Args:
        sizes: int32 [S, W], levels of each parameter; 0 where a sketch has no such parameter.
        strides: int32 [S, W]: a point's number is the sum of its levels times these.
        valid: bool [S, points].
        features: float32 [S, W, L, F]: a point's features (`Space.encode`) are the sum over parameters.
        slots: float32 [S, W, L, SLOT]: kind, name, place in the domain, logarithm, and that it exists.
    """

    sizes: Any
    strides: Any
    valid: Any
    features: Any
    slots: Any


def arrays_of(space: Space) -> SpaceArrays:
    """All of a space. Asks each combination of the sketches that have at most `LIMIT`."""
    shape = (len(space.names), space.width)
    sizes, strides = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    most = max((len(param.values) for name in space.names for param in space.params(name)), default=1)
    features = np.zeros((*shape, most, space.features), np.float32)
    slots = np.zeros((*shape, most, SLOT), np.float32)
    valid = []
    for number, name in enumerate(space.names):
        params = space.params(name)
        lengths = [len(param.values) for param in params]
        sizes[number, : len(params)] = lengths
        strides[number, : len(params)] = [math.prod(lengths[place + 1 :]) for place in range(len(params))]
        valid.append(_valid(space, name, lengths))
        first = space.encode([Candidate(name, (0,) * len(params))])[0]
        features[number, 0, 0] = first  # all there is of a sketch without parameters
        for place, param in enumerate(params):
            for level in range(len(param.values)):
                levels = [0] * len(params)
                levels[place] = level
                row = space.encode([Candidate(name, tuple(levels))])[0] - first
                features[number, place, level] = row + (first if place == 0 else 0)
                slots[number, place, level] = _slot(param, level)
    points = max(len(one) for one in valid)
    table = np.zeros((len(valid), points), bool)
    for number, one in enumerate(valid):
        table[number, : len(one)] = one
    return SpaceArrays(sizes, strides, table, features, slots)


def _valid(space: Space, name: str, lengths: Sequence[int]) -> np.ndarray:
    count = math.prod(lengths)
    if count > LIMIT:
        return np.ones(1, bool)  # reading beyond an array's end gives its last element
    params = space.params(name)
    names = [param.name for param in params]
    domains = (param.values for param in params)
    asked = (space.takes(name, dict(zip(names, point, strict=True))) for point in itertools.product(*domains))
    return np.fromiter(asked, bool, count)


def _slot(param: Param, level: int) -> np.ndarray:
    row, value = np.zeros(SLOT, np.float32), param.values[level]
    row[KINDS.index(param.kind)] = 1
    row[len(KINDS) + zlib.crc32(param.name.encode()) % BUCKETS] = 1
    row[-3] = level / max(len(param.values) - 1, 1)
    row[-2] = math.log2(1 + abs(value)) / 4 if isinstance(value, (int, float)) else 0
    row[-1] = 1
    return row


def features_of(arrays: SpaceArrays, sketch: jax.Array, levels: jax.Array) -> jax.Array:
    """float32 [n, F]: like `Space.encode`. sketch: int32 [n]; levels: int32 [n, W]."""
    return _looked_up(arrays.features, sketch, levels).sum(axis=1)


def slots_of(arrays: SpaceArrays, sketch: jax.Array, levels: jax.Array) -> jax.Array:
    """float32 [n, W, SLOT]."""
    return _looked_up(arrays.slots, sketch, levels)


def _looked_up(table: jax.Array, sketch: jax.Array, levels: jax.Array) -> jax.Array:
    table = jnp.asarray(table)
    return table[sketch[:, None], jnp.arange(table.shape[1]), levels]


def moves_of(arrays: SpaceArrays, sketch: jax.Array, levels: jax.Array) -> jax.Array:
    """bool [n, 2 W + 1]: which moves lead to a valid point: each parameter one down, each one up, stay."""
    sizes, strides = jnp.asarray(arrays.sizes)[sketch], jnp.asarray(arrays.strides)[sketch]
    point = (levels * strides).sum(axis=1, keepdims=True)
    allowed = [
        (levels + step >= 0)
        & (levels + step < sizes)
        & jnp.asarray(arrays.valid)[sketch[:, None], point + step * strides]
        for step in (-1, 1)
    ]
    return jnp.concatenate([*allowed, jnp.ones((len(levels), 1), bool)], axis=1)
