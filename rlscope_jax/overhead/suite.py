"""The programs that calibration profiles: scans of small ops and small trainings, none of them a user's.

No sorts: how long those take depends on what the branch predictor has seen, and a recorder changes that.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

Body = Callable[[jax.Array], jax.Array]


def _loop(body: Body, length: int) -> Body:
    return jax.jit(lambda x: jax.lax.scan(lambda c, _: (body(c), None), x, None, length=length)[0])


def _scan(body: Body, size: int, length: int) -> Callable[[], None]:
    """A compiled scan of `body`, ready to run; it waits for its result."""
    run = _loop(body, length)
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


def _actor_critic() -> Callable[[], None]:
    """Updates of a small agent: rollout, returns, gradients, Adam. Hundreds of ops, each once an iteration.

    Loops of many ops cost 10 to 25 % more for each than those of few.
    """
    key = jax.random.PRNGKey(0)
    first, second = jax.random.split(key)
    params = (jax.random.normal(first, (4, 16)) * 0.5, jax.random.normal(second, (16, 3)) * 0.5)

    def heads(params: tuple, seen: jax.Array) -> tuple[jax.Array, jax.Array]:
        out = jnp.tanh(seen @ params[0]) @ params[1]
        return out[:, :2], out[:, 2]

    def act(carry: tuple, key: jax.Array) -> tuple[tuple, tuple]:
        params, state = carry
        action = jax.random.categorical(key, heads(params, state)[0])
        force = 0.1 * (2.0 * action - 1.0)
        moved = state + 0.05 * jnp.stack([state[:, 1], force, state[:, 3], -state[:, 2]], axis=1)
        over = jnp.abs(moved[:, 0]) > 1.0
        following = jnp.where(over[:, None], 0.01, moved)
        return (params, following), (state, action, 1.0 - jnp.abs(moved[:, 0]), over)

    def returns(last: jax.Array, item: tuple) -> tuple[jax.Array, jax.Array]:
        reward, over = item
        last = reward + 0.99 * jnp.where(over, 0.0, last)
        return last, last

    def loss(params: tuple, seen: jax.Array, action: jax.Array, target: jax.Array) -> jax.Array:
        logits, value = heads(params, seen)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=1)[:, 0]
        gained = jax.lax.stop_gradient(target - value)
        return jnp.mean((value - target) ** 2) - jnp.mean(chosen * gained)

    def update(carry: tuple, key: jax.Array) -> tuple[tuple, jax.Array]:
        params, mean, square, state = carry
        (_, state), (seen, action, reward, over) = jax.lax.scan(
            act, (params, state), jax.random.split(key, 8)
        )
        _, target = jax.lax.scan(returns, jnp.zeros(4), (reward, over), reverse=True)
        gradient = jax.grad(loss)(params, seen.reshape(-1, 4), action.reshape(-1), target.reshape(-1))
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, gradient)
        params = jax.tree.map(lambda p, m, s: p - 0.003 * m / (jnp.sqrt(s) + 1e-8), params, mean, square)
        return (params, mean, square, state), reward.mean()

    run = jax.jit(lambda carry, key: jax.lax.scan(update, carry, jax.random.split(key, 6)))
    zeros = jax.tree.map(jnp.zeros_like, params)
    carry = (params, zeros, zeros, jnp.full((4, 4), 0.01))

    def step() -> None:
        jax.block_until_ready(run(carry, key))

    return step


def _recurrent(x: jax.Array) -> jax.Array:
    def loss(w: jax.Array) -> jax.Array:
        def cell(h: jax.Array, seen: jax.Array) -> tuple[jax.Array, None]:
            gate = jax.nn.sigmoid(seen @ w[:, :16] + h)
            return gate * h + (1 - gate) * jnp.tanh(h @ w[:, :16]), None

        return jnp.mean(jax.lax.scan(cell, jnp.zeros((4, 16)), x.reshape(4, 4, 16))[0] ** 2)

    return x - 0.1 * jax.grad(loss)(x)


PROGRAMS: dict[str, Callable[[], Callable[[], None]]] = {
    "reduce": lambda: _scan(lambda x: (x @ x) / (1.0 + jnp.max(jnp.abs(x @ x), axis=0)), 12, 250),
    "update": lambda: _scan(_update, 8, 200),
    "larger dot": lambda: _scan(lambda x: jnp.tanh(x.T @ x * 0.01), 40, 120),
    "loops": lambda: _scan(_loops, 8, 25),
    "branches": lambda: _scan(_branches, 8, 120),
    "training": lambda: _scan(_train, 16, 70),
    "recurrent": lambda: _scan(_recurrent, 16, 12),
    "actor-critic": _actor_critic,
}


def run_inline() -> list[tuple[Callable[[jax.Array], jax.Array], jax.Array]]:
    """Programs of some tens of µs, so cheap that XLA runs them on the calling thread; each with its argument.

    One op that is a whole loop, one loop of small steps over memory, and a chain of ops.
    """

    def average(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda c, seen: (0.9 * c + seen, c), x[0], x)[1]

    def chain(x: jax.Array) -> jax.Array:
        for _ in range(8):
            x = jnp.roll(x, 1) / (1.0 + jnp.max(jnp.abs(x)))
        return x

    row = jnp.linspace(0.0, 1.0, 16)
    return [
        (_loop(lambda c: jnp.cumsum(c) * 0.5, 150), row[:8]),
        (jax.jit(average), jnp.ones((800, 8))),
        (jax.jit(chain), row),
    ]


def waited_for() -> list[tuple[Callable[[jax.Array], jax.Array], jax.Array]]:
    """Programs too large to run on the calling thread, each with its argument: one short, one longer."""
    return [
        (jax.jit(lambda x: jnp.tanh(jnp.tanh(x @ x * 0.01) @ x * 0.01)), jnp.ones((48, 48))),
        (jax.jit(lambda x: jnp.cumsum(jnp.tanh(x @ x * 0.01), axis=0) @ x), jnp.ones((80, 80))),
    ]
