# Like jax-ml/jax#31319: a warm program with an io_callback is dispatched through Python, call after call.
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

CALLS, seen = 20, []


def host_step(action):
    seen.append(action.shape)
    return np.asarray(action)


@jax.jit
def with_callback(state):
    with jax.named_scope("env_step"):
        return io_callback(host_step, jax.ShapeDtypeStruct(state.shape, state.dtype), jnp.tanh(state))


@jax.jit
def without_callback(state):
    with jax.named_scope("env_step"):
        return jnp.tanh(state)


def calls_through_python(step):
    count = 0
    for _ in range(CALLS):
        files = set()
        sys.setprofile(lambda frame, *_, files=files: files.add(frame.f_code.co_filename))
        out = step(state)
        sys.setprofile(None)
        count += any(file.endswith("pjit.py") for file in files)
        jax.block_until_ready(out)
    return count


state, truth = jnp.ones((4, 8)), {}
for name, step in (("trouble", with_callback), ("healthy", without_callback)):
    jax.block_until_ready(step(state))
    seen.clear()
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        for _ in range(CALLS):
            jax.block_until_ready(step(state))
    truth[name] = {"calls": CALLS, "callbacks": len(seen), "calls_through_python": calls_through_python(step)}
print("TRUTH", json.dumps(truth))
