"""Whose work is it? Recorded programs where each wrong answer was once given."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlscope_jax import load, operation, profile
from rlscope_jax.attribution.attribute import UNATTRIBUTED

X = jnp.ones((200, 200)) * 0.01


def rows_of(logdir):
    data = load(logdir).to_dict()
    return data, {(row["path"], row["direction"]): row for row in data["operations"]}


def device_share(rows, path):
    total = sum(row["device"]["self"]["raw"] for row in rows.values())
    return rows[path, None]["device"]["self"]["raw"] / total


def test_a_step_that_ends_inside_an_operation_takes_nothing_from_it(tmp_path):
    step = jax.jit(lambda x: jnp.sort(x @ x))
    step(X).block_until_ready()
    with profile(tmp_path) as profiler, operation("training"):
        for _ in range(4):
            with operation("iteration"):
                profiler.step(step(X))
    data, rows = rows_of(tmp_path)
    assert device_share(rows, "training/iteration") == 1
    assert rows["training/iteration", None]["host"]["dispatches"] == 4
    assert data["window"]["steps"] == 4


def test_a_function_that_calls_a_namesake_keeps_its_marks(tmp_path):
    class Env:
        def step(self, state):
            return jnp.sort(state @ state, axis=-1)

    inner = jax.jit(Env().step)

    @jax.jit
    def step(state):
        with operation("env_step"):
            return inner(state)

    step(X).block_until_ready()
    with profile(tmp_path) as profiler:
        profiler.step(step(X))
    assert device_share(rows_of(tmp_path)[1], "env_step") == 1


def test_a_call_compiled_ahead_of_time_is_a_dispatch(tmp_path):
    compiled = jax.jit(lambda x: jnp.tanh(x @ x)).lower(X).compile()
    compiled(X).block_until_ready()
    with profile(tmp_path) as profiler, operation("update"):
        for _ in range(3):
            profiler.step(compiled(X))
    data, rows = rows_of(tmp_path)
    assert device_share(rows, "update") == 1
    assert rows["update", None]["evidence"] == {"host": 1.0}
    assert (data["health"]["verdict"], rows["update", None]["host"]["dispatches"]) == ("ok", 3)


def test_waits_are_counted_and_timed(tmp_path):
    heavy = jax.jit(lambda x: jax.lax.fori_loop(0, 60, lambda _, y: jnp.tanh(y @ x), x))
    heavy(X).block_until_ready()
    with profile(tmp_path) as profiler:
        for _ in range(3):
            y = heavy(X)
            with operation("wait"):
                y.block_until_ready()
            profiler.step()
    data, rows = rows_of(tmp_path)
    assert data["counts"]["syncs"] == rows["wait", None]["host"]["syncs"] == 3
    waited = rows["wait", None]["host"]["categories"]["wait"]["raw"]
    assert waited > 0.5 * rows[UNATTRIBUTED, None]["device"]["self"]["raw"]


def test_a_thread_that_rests_takes_nothing_from_one_that_works(tmp_path):
    step = jax.jit(lambda x: x + 1)
    step(X).block_until_ready()
    release = threading.Event()

    def helper():
        step(X).block_until_ready()
        release.wait(10)
        step(X).block_until_ready()

    with profile(tmp_path):
        other = threading.Thread(target=helper)
        other.start()
        with operation("env"):
            until = time.perf_counter() + 0.2
            while time.perf_counter() < until:
                pass
        release.set()
        other.join()
    rows = rows_of(tmp_path)[1]
    env, nobody = (rows[path, None]["wall"]["host_only"]["raw"] for path in ("env", UNATTRIBUTED))
    assert env > 10 * nobody


def test_what_a_callback_calls_is_a_call_of_its_own(tmp_path):
    inner = jax.jit(lambda x: x * 2)

    def host(a):
        return np.asarray(inner(a))

    @jax.jit
    def rollout(x):
        with operation("env"):
            return jax.pure_callback(host, jax.ShapeDtypeStruct((4,), jnp.float32), x)

    x = jnp.ones(4)
    rollout(x).block_until_ready()
    with profile(tmp_path) as profiler:
        for _ in range(3):
            profiler.step(rollout(x))
    data, rows = rows_of(tmp_path)
    assert data["counts"]["dispatches"] == 6
    assert rows["env", None]["host"]["callbacks"] == 3


TWO_DEVICES = """
import sys, jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from rlscope_jax import operation, profile

sharding = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d"))
x = jax.device_put(jnp.ones((64, 64)), sharding)
both = jax.jit(lambda x: jnp.sort(x * 2, axis=-1))
small = [jax.device_put(jnp.ones((8, 8)), device) for device in jax.devices()]
one = jax.jit(lambda x: jnp.tanh(x) + 1)
for y in (both(x), *map(one, small)):
    y.block_until_ready()
with profile(sys.argv[1]) as profiler:
    for _ in range(4):
        with operation("sharded"):
            y = both(x)
        with operation("single"):
            z = [one(s) for s in small]
        profiler.step((y, z))
"""


def test_two_devices_count_one_dispatch_and_share_an_operation(tmp_path):
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    command = [sys.executable, "-c", TWO_DEVICES, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    data, rows = rows_of(tmp_path)
    assert [device["id"].split("/")[1] for device in data["devices"]] == ["cpu:0", "cpu:1"]
    assert rows["sharded", None]["host"]["dispatches"] == 4
    assert rows["single", None]["host"]["dispatches"] == 8
    assert device_share(rows, "sharded") + device_share(rows, "single") == pytest.approx(1)
    assert sum(device["self"]["raw"] for device in data["devices"]) == pytest.approx(
        data["totals"]["device_self"]["raw"], abs=2
    )


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("amd_tracelens/mi300_jax08_conv", 5),
        ("amd_tracelens/mi300_jax_conv_legacy", 10),
        ("tpu_xprof/tpu_inference_2", 105),
    ],
)
def test_one_call_on_many_devices_is_one_dispatch(shared, name, calls):
    data = load(shared / "traces" / f"{name}.xplane.pb").to_dict()
    assert data["counts"]["dispatches"] == calls


def test_a_program_with_nothing_to_do_is_no_window_closed_early(tmp_path):
    nothing, something = jax.jit(lambda x: x), jax.jit(lambda x: jnp.sin(x))
    something(nothing(X)).block_until_ready()
    with profile(tmp_path) as profiler:
        for _ in range(3):
            profiler.step(something(nothing(X)))
    assert load(tmp_path).to_dict()["health"]["verdict"] == "ok"


def test_nearly_all_time_of_a_program_of_known_owners_is_placed_right(tmp_path):
    """Each segment computes what no other does, so an op's own instructions tell whose it is."""
    owner_of = {"sine": "a", "dot": "a", "tanh": "b", "power": "b", "sort": "segments"}

    def body(x, _):
        with operation("a"):
            x = jnp.sin(x @ x)
        x = jnp.sort(x)  # undecorated on purpose
        with operation("b"):
            x = jnp.tanh(x) ** 1.5
        return x, x.sum()

    def segments(x):
        return jax.lax.scan(body, x, None, length=50)

    run = jax.jit(segments)
    jax.block_until_ready(run(X))
    with profile(tmp_path) as profiler:
        profiler.step(run(X))
    (process,) = load(tmp_path).processes
    trace, times = process.trace, process.table.cells.device_self
    told, right = 0, 0
    for owner, taken in zip(process.attribution.owners, times.tolist(), strict=True):
        module = trace.programs.module(int(trace.ops.program[owner.op]))
        instruction = module.named(trace.ops.name[owner.op])
        inner = [i for i in module.instructions if i.computation in instruction.called]
        truth = {owner_of[i.opcode] for i in (instruction, *inner) if i.opcode in owner_of}
        if len(truth) == 1 and instruction.opcode not in ("while", "call"):
            told += taken
            path = truth.pop()
            right += sum(part for share, part in owner.divide(taken) if share.path.split("/")[0] == path)
    assert told > 0.5 * times.sum()
    assert right >= 0.95 * told
