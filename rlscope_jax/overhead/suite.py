"""The programs that calibration profiles: scans of small ops of different kinds, none of them a user's.

No sorts: how long those take depends on what the branch predictor has seen, and a recorder changes that.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

Body = Callable[[jax.Array], jax.Array]


def _scan(body: Body, size: int, length: int) -> Callable[[], None]:
    """A compiled scan of `body`, ready to run; it waits for its result."""
    run = jax.jit(lambda x: jax.lax.scan(lambda c, _: (body(c), None), x, None, length=length)[0])
    x = jnp.linspace(-1.0, 1.0, size * size).reshape(size, size)

    def step() -> None:
        run(x).block_until_ready()

    return step


def _update(x: jax.Array) -> jax.Array:
    row = jax.lax.dynamic_slice(jnp.roll(x, 1, axis=0) @ x, (1, 0), (1, x.shape[1]))
    return jax.lax.dynamic_update_slice(x, row * 0.5, (0, 0))


def _loops(x: jax.Array) -> jax.Array:
    def inner(c: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jnp.tanh(jnp.roll(c, 1, axis=0) @ c * 0.1), None

    return jax.lax.scan(inner, x, None, length=8)[0]


def _branches(x: jax.Array) -> jax.Array:
    return jax.lax.cond(
        x[0, 0] > 0, lambda v: jnp.roll(v, 1) @ v * 0.1, lambda v: jnp.cumsum(v, axis=0) @ v, x
    )


def _train(x: jax.Array) -> jax.Array:
    return x - 0.01 * jax.grad(lambda w: jnp.mean(jnp.tanh(jnp.tanh(x @ w) @ w)))(x)


PROGRAMS: dict[str, Callable[[], Callable[[], None]]] = {
    "reduce": lambda: _scan(lambda x: (x @ x) / (1.0 + jnp.max(jnp.abs(x @ x), axis=0)), 12, 250),
    "update": lambda: _scan(_update, 8, 200),
    "dot": lambda: _scan(lambda x: jnp.tanh(jnp.roll(x, 1, axis=0) @ x * 0.1), 16, 250),
    "larger dot": lambda: _scan(lambda x: jnp.tanh(x.T @ x * 0.01), 40, 120),
    "loops": lambda: _scan(_loops, 8, 25),
    "branches": lambda: _scan(_branches, 8, 120),
    "training": lambda: _scan(_train, 16, 70),
}


def waited_for() -> list[tuple[Callable[[jax.Array], jax.Array], jax.Array]]:
    """Programs too large to run on the calling thread, each with its argument: one short, one longer."""
    return [
        (jax.jit(lambda x: jnp.tanh(jnp.tanh(x @ x * 0.01) @ x * 0.01)), jnp.ones((48, 48))),
        (jax.jit(lambda x: jnp.cumsum(jnp.tanh(x @ x * 0.01), axis=0) @ x), jnp.ones((80, 80))),
    ]
