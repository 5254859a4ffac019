# A rollout unrolled by a Python loop: the program grows with its length, and with it the time to compile.
import json
import sys

import jax
import jax.numpy as jnp

LENGTH, weights = 40, jnp.ones((16, 16)) * 0.1


def env_step(state, _):
    with jax.named_scope("env_step"):
        return jnp.sin(jnp.tanh(state @ weights) + 0.1 * jnp.roll(state, 1, axis=0)), None


def unrolled(state):
    for _ in range(LENGTH):
        state, _ = env_step(state, None)
    return state


def scanned(state):
    return jax.lax.scan(env_step, state, None, LENGTH)[0]


state = jnp.ones((32, 16))
jax.block_until_ready(jax.jit(lambda x: jnp.sin(x) * 2)(state))
truth = {}
for name, rollout in (("trouble", unrolled), ("healthy", scanned)):
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        jitted = jax.jit(rollout)
        for _ in range(3):
            jax.block_until_ready(jitted(state))
    truth[name] = {"runs": 3, "compiles": jitted._cache_size()}
print("TRUTH", json.dumps(truth))
