# A TraceAnnotation inside a jitted function marks the moment of tracing, never a run; named_scope was meant.
import json
import sys

import jax
import jax.numpy as jnp

RUNS, weights, entered = 20, jnp.ones((64, 64)) * 0.1, []


def make_act(named):
    def act(observation):
        with named("policy"):
            entered.append(named)
            return jnp.tanh(observation @ weights)

    return jax.jit(act)


observation = jnp.ones((8, 64))
truth = {}
for name, named in (("trouble", jax.profiler.TraceAnnotation), ("healthy", jax.named_scope)):
    act = make_act(named)
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        for _ in range(RUNS):
            jax.block_until_ready(act(observation))
    truth[name] = {"runs": RUNS, "compiles": act._cache_size(), "times_entered": entered.count(named)}
print("TRUTH", json.dumps(truth))
