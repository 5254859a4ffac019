"""Every variant of a JAX program computes what the plain program does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlscope_jax.tune import TuneTask
from rlscope_jax.tune.backends import jaxprog, pallas
from rlscope_jax.tune.bench import Bench, CandidateError
from rlscope_jax.tune.timing import Effort

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def step(carry, x):
    carry = jnp.tanh(carry + x["a"]) * x["b"]
    return carry, {"y": carry.sum(), "z": carry}


def scan_task(reverse):
    def reference(init, xs):
        return jax.lax.scan(step, init, xs, reverse=reverse)

    args = (normal(3), {"a": normal(16, 3), "b": normal(16, 3)})
    return TuneTask("scan", args, reference, jaxprog.scans(step, 16, reverse))


def recurrence_task(reverse):
    def reference(decay, x):
        ys, y = [None] * 16, jnp.zeros(2)
        for t in reversed(range(16)) if reverse else range(16):
            ys[t] = y = decay[t] * y + x[t]
        return jnp.stack(ys)

    return TuneTask(
        "gae", (0.9 + 0.1 * normal(16, 2), normal(16, 2)), reference, jaxprog.recurrences(16, reverse)
    )


def step_env(state, action):
    return {"x": jnp.sin(state["x"] @ jnp.ones((4, 4)) / 4 + action), "t": state["t"] + 1}


def maps_task():
    args = ({"x": normal(8, 4), "t": np.arange(8)}, normal(8, 4))
    return TuneTask("env", args, jax.vmap(step_env), jaxprog.maps(step_env, 8))


def loss(params, batch):
    return jnp.mean((jnp.tanh(batch["x"] @ params["w"]) - batch["y"]) ** 2)


def gradients_task():
    args = ({"w": normal(4, 2)}, {"x": normal(8, 4), "y": normal(8, 2)})
    return TuneTask("update", args, jax.value_and_grad(loss), jaxprog.gradients(loss, 8))


def dispatches_task():
    def turn(state):
        return jnp.sin(state + 1)

    def reference(state):
        for _ in range(8):
            state = turn(state)
        return state

    return TuneTask("steps", (normal(4),), reference, jaxprog.dispatches(turn, 8))


TASKS = {
    "scan": lambda: scan_task(False),
    "scan_reverse": lambda: scan_task(True),
    "recurrence": lambda: recurrence_task(False),
    "recurrence_reverse": lambda: recurrence_task(True),
    "maps": maps_task,
    "gradients": gradients_task,
    "dispatches": dispatches_task,
}


@pytest.mark.parametrize("name", TASKS)
def test_variants_agree_with_the_reference(name):
    task = TASKS[name]()
    points = list(task.space.every())
    assert len(points) >= 4
    assert {point.sketch for point in points} == set(task.sketches)
    for point in points[:: max(1, len(points) // 5)]:
        assert task.check(task.build(point)(*task.args)) is None, task.space.values(point)


def test_exports_become_part_of_a_jitted_program():
    task = recurrence_task(True)
    for name in task.sketches:
        exported = task.export(next(task.space.every(name)))
        assert task.check(jax.jit(lambda *args, f=exported: f(*args) * 1)(*task.args)) is None


def test_rematerialised_scans_have_the_same_gradient():
    task = scan_task(False)
    point = task.space.candidate("chunked", {"chunk": 4, "unroll": 2, "remat": True})

    def total(function):
        return jax.grad(lambda init: function(init, task.args[1])[1]["y"].sum())(task.args[0])

    np.testing.assert_allclose(total(task.export(point)), total(task.reference), rtol=1e-5)


def test_pallas_blocks_are_right_and_not_timed_on_cpu():
    if pallas.interpreted() is None:
        pytest.skip("this machine compiles Pallas kernels")
    a, b = normal(32, 64), normal(64, 32)
    task = TuneTask("pallas", (a, b), jnp.dot, pallas.matmul(32, 64, 32))
    bench = Bench(task)
    for point in list(task.space.every())[::4]:
        with pytest.raises(
            CandidateError, match="right, but not timed: Pallas kernels are interpreted on cpu"
        ):
            bench.measure(point, None, Effort(6, 6))


@pytest.mark.gpu
def test_pallas_blocks_are_timed_on_a_gpu():
    if pallas.interpreted() is not None:
        pytest.skip("jax runs on CPU")
    a, b = normal(256, 256), normal(256, 256)
    task = TuneTask("pallas", (a, b), jnp.dot, pallas.matmul(256, 256, 256), rtol=1e-2, atol=1e-1)
    point = task.space.candidate("blocks", {"block_rows": 64, "block_columns": 64})
    assert Bench(task).measure(point, None, Effort(6, 6)).ratio > 0
