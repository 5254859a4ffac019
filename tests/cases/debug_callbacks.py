# Logging from inside the graph: every scan step calls back into Python, and the logger itself calls jax.
import json
import sys

import jax
import jax.numpy as jnp

log = []


def make_train(debug):
    def env_step(state, _):
        with jax.named_scope("env_step"):
            state = jnp.tanh(state * 1.01)
        if debug:
            with jax.named_scope("log"):
                jax.debug.callback(lambda s: log.append(mean(s)), state)
        return state, None

    def train(state):
        return jax.lax.scan(env_step, state, None, STEPS)[0]

    return jax.jit(train)


STEPS, state = 60, jnp.ones((64, 16))
mean = jax.jit(jnp.mean)
truth = {}
for name, debug in (("trouble", True), ("healthy", False)):
    train = make_train(debug)
    jax.block_until_ready(train(state))
    jax.effects_barrier()
    log.clear()
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        jax.block_until_ready(train(state))
        jax.effects_barrier()
    truth[name] = {"runs": 1, "callbacks": len(log), "calls_from_callbacks": len(log)}
print("TRUTH", json.dumps(truth))
