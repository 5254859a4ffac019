# A replay buffer whose add is not given its buffer: every row written copies the whole buffer.
import json
import sys

import jax
import jax.numpy as jnp

ROWS, WIDTH, ADDS = 12_800, 500, 20


def add(buffer, row, at):
    with jax.named_scope("replay_add"):
        return jax.lax.dynamic_update_slice(buffer, row[None], (at, 0))


row = jnp.ones(WIDTH)
truth = {}
for name, donated in (("trouble", ()), ("healthy", (0,))):
    buffer = jnp.zeros((ROWS, WIDTH))
    step = jax.jit(add, donate_argnums=donated)
    buffer = jax.block_until_ready(step(buffer, row, 0))
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        for at in range(ADDS):
            buffer = step(buffer, row, at)
        jax.block_until_ready(buffer)
    truth[name] = {"adds": ADDS, "buffer_bytes": buffer.nbytes, "row_bytes": row.nbytes}
print("TRUTH", json.dumps(truth))
