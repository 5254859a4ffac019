"""Programs with one trouble each, of the kinds that no case script has."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from healthy import SQUARE, STEPS, steps, warm, work
from registry import registry

PROGRAMS, program = registry()


@program("data_transfer_bound")
def batches_from_the_host():
    update = jax.jit(lambda batch: sum(part[0, 0] for part in batch))
    batch = [np.ones((256, 256), np.float32) for _ in range(200)]
    warm(update, batch)
    return steps(lambda number: jax.block_until_ready(update(batch)), 2 * STEPS)


@program("device_idle")
def simulator_between_steps():
    update = jax.jit(work)
    warm(update, SQUARE)

    def step(number):
        time.sleep(0.05)
        return jax.block_until_ready(update(SQUARE))

    return steps(step, 2 * STEPS)


@program("host_callback_bound")
def pure_callback_environment():
    def host_step(x):
        time.sleep(0.003)
        return np.asarray(x)

    @jax.jit
    def rollout(x):
        def step(x, _):
            return (jax.pure_callback(host_step, jax.typeof(x), jnp.tanh(x)), None)

        return jax.lax.scan(step, x, None, 20)

    x = jnp.ones((16, 16))
    warm(rollout, x)
    return lambda: rollout(x)


@program("recompiles")
def episode_that_grows():
    update = jax.jit(lambda w, episode: w - jax.grad(lambda w: jnp.tanh(episode @ w).sum())(w))
    w = jnp.ones((8, 8))
    return steps(lambda number: jax.block_until_ready(update(w, np.ones((number + 2, 8), np.float32))), 6)


@program("both_branches")
def expensive_switch():
    def plan(x):
        return jax.lax.fori_loop(0, 20, lambda _, x: jnp.tanh(x @ x), x)

    @jax.jit
    def act(modes, x):
        return jax.vmap(lambda mode, x: jax.lax.switch(mode, [lambda x: x, plan], x))(modes, x)

    modes, x = jnp.zeros(32, jnp.int32), jnp.ones((32, 64, 64)) * 0.01
    warm(act, modes, x)
    return steps(lambda number: jax.block_until_ready(act(modes, x)))


@program("dispatch_bound")
def tiny_steps_from_python():
    step = jax.jit(lambda x: jnp.tanh(x) * 0.99)
    x = warm(step, jnp.ones((4, 8)))

    def window():
        now = x
        for _ in range(400):
            now = step(now)
        return now

    return window


@program("not_jitted")
def eager_loss():
    x = jnp.ones((64, 8))

    def loss(x):
        for _ in range(8):
            x = jnp.tanh(x * 0.9 + 0.1) - jnp.square(x)
        return x.mean()

    warm(loss, x)
    return steps(lambda number: jax.block_until_ready(loss(x)))


@program("compile_dominates")
def layers_unrolled():
    def deep(x):
        for _ in range(60):
            x = jnp.sin(x @ x) + jnp.roll(x, 1, axis=0)
        return x

    return lambda: jax.jit(deep)(jnp.ones((16, 16)) * 0.1)
