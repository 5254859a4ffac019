# Episodes of different lengths, each its own shape: the update compiles once for every length it meets.
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np

LENGTHS = (5, 9, 5, 7, 11, 9, 13, 5, 8, 7, 6, 11)


def update(weights, episode):
    with jax.named_scope("update"):
        return weights - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(episode @ w) ** 2))(weights)


def ragged(length):
    return np.ones((length, 8), np.float32)


def padded(length):
    return np.pad(ragged(length), ((0, max(LENGTHS) - length), (0, 0)))


truth = {}
for name, batch in (("trouble", ragged), ("healthy", padded)):
    jax.clear_caches()
    weights, step = jax.block_until_ready(jnp.ones((8, 8)) * 0.1), jax.jit(update)
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        for number, length in enumerate(LENGTHS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                weights = jax.block_until_ready(step(weights, batch(length)))
    truth[name] = {"steps": len(LENGTHS), "compiles": len({batch(length).shape for length in LENGTHS})}
print("TRUTH", json.dumps(truth))
