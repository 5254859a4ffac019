"""Scans of several operations, any of which can be left out: what accuracy.py judges single operations by.

Barriers keep XLA from fusing one operation's work into another's ops. No cumulative sums: XLA rewrites them
into ops that carry no name, so no share of theirs could be right.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from rlscope_jax import operation

Segment = Callable[[jax.Array], jax.Array]
ITERATIONS = 150


def _small_loop(x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda c, _: (jnp.tanh(jnp.roll(c, 1, axis=0) @ c * 0.1), None), x, None, length=5)[0]


def _gradient(x: jax.Array) -> jax.Array:
    w = x[:16, :16]
    g = jax.grad(lambda w: jnp.mean(jnp.tanh(jnp.tanh(x[:, :16] @ w) @ w) ** 2))(w)
    return x.at[:16, :16].add(-0.01 * g)


SEGMENTS: dict[str, Segment] = {
    "dot": lambda x: jnp.tanh(x @ x * 0.1),
    "two dots": lambda x: jnp.tanh(jnp.tanh(x @ x * 0.1) @ x * 0.1),
    "sort": lambda x: x.at[:4].set(jnp.sort(x[:4], axis=-1)),
    "gather": lambda x: x[jnp.argmax(jnp.abs(x[:4]), axis=0)] * 0.9,
    "loop": _small_loop,
    "grad": _gradient,
    "update": lambda x: jax.lax.dynamic_update_slice(x, jnp.max(x @ x, axis=0, keepdims=True) * 0.01, (1, 0)),
    "cond": lambda x: jax.lax.cond(
        jnp.sum(x) > 0, lambda v: jnp.tanh(v @ v) * 0.1, lambda v: jnp.sin(v @ v), x
    ),
}

COMBINATIONS: dict[str, list[str]] = {}
SIZES: dict[str, int] = {}
for _size in (16, 24, 32):
    for _names in (
        ["dot", "sort", "loop"],
        ["two dots", "grad", "update"],
        ["loop", "grad", "gather"],
        ["cond", "two dots", "sort"],
        ["update", "dot", "grad"],
        ["gather", "loop", "two dots"],
        ["sort", "update", "cond"],
    ):
        _name = f"{' + '.join(_names)} {_size}"
        COMBINATIONS[_name], SIZES[_name] = _names, _size


def program(names: list[str], chosen: tuple[int, ...]) -> Callable[[], None]:
    """A compiled scan of the chosen operations, none for the loop alone; running it waits for the result."""
    size = SIZES[next(name for name, found in COMBINATIONS.items() if found is names)]

    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        for number in chosen:
            with operation(names[number]):
                x = SEGMENTS[names[number]](x)
            x = jax.lax.optimization_barrier(x)
        return x, None

    x = jax.random.normal(jax.random.PRNGKey(0), (size, size))
    run = jax.jit(lambda x: jax.lax.scan(body, x, None, length=ITERATIONS)[0])

    def step() -> None:
        run(x).block_until_ready()

    return step
