# Like google/brax#674: the state is put on the devices under another axis name than pmap's, so that the first
# call's result is sharded otherwise than its argument, and the second call compiles the epoch again.
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def training_epoch(state):
    with jax.named_scope("training_epoch"):
        return jax.lax.pmean(jnp.tanh(state @ state), "i")


EPOCHS, compiled, truth = 4, [], {}
jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
for name, axis in (("trouble", "x"), ("healthy", "i")):
    jax.clear_caches()
    sharding = NamedSharding(Mesh(jax.devices(), (axis,)), PartitionSpec(axis))
    state = jax.device_put(jnp.ones((2, 64, 64)) * 0.01, sharding)
    epoch = jax.pmap(training_epoch, axis_name="i")
    compiled.clear()
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        for number in range(EPOCHS):
            with jax.profiler.StepTraceAnnotation("epoch", step_num=number):
                state = jax.block_until_ready(epoch(state))
    count = sum(event.endswith("/backend_compile_duration") for event in compiled)
    truth[name] = {"epochs": EPOCHS, "compiles": count}
print("TRUTH", json.dumps(truth))
