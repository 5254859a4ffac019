"""The programs that accuracy.py profiles: what people train with in JAX, from tiny ops to whole PPO.

A workload is a function that sets up and returns `step()`, which does one step and waits for it. Steps are
short enough, tens of milliseconds at most, to be timed within one stretch of full speed. Several need a
setting of their own before jax starts (`FLAGS`), so each runs in a process of its own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

Step = Callable[[], None]
WORKLOADS: dict[str, Callable[[], Step]] = {}
SEVERAL_THREADS: set[str] = set()
"""Workloads without a single critical thread."""
SEVERAL_CORES = {
    "scan of large ops (512x512)", "multi-threaded convolutions", "host loop, a sync per call",
    "host loop, no sync", "host loop, float() per call", "io_callback environment", "two host threads",
    "two virtual devices",
}  # fmt: skip
"""Workloads whose threads work side by side, or hand over to each other; the others are given one core."""
FLAGS = {"two virtual devices": "--xla_force_host_platform_device_count=2"}
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def workload(name: str, several_threads: bool = False) -> Callable:
    """Register a workload under the name that the tables show."""

    def register(make: Callable[[], Step]) -> Callable[[], Step]:
        WORKLOADS[name] = make
        if several_threads:
            SEVERAL_THREADS.add(name)
        return make

    return register


def stepping(function: Callable, state: object) -> Step:
    """Steps that carry a state and wait for it."""
    jitted = jax.jit(function)
    held = [state]

    def step() -> None:
        held[0] = jax.block_until_ready(jitted(held[0]))

    return step


def repeating(function: Callable, *arguments: object) -> Step:
    """Steps that do the same work each time and wait for it."""
    jitted = jax.jit(function)

    def step() -> None:
        jax.block_until_ready(jitted(*arguments))

    return step


def normal(*shape: int) -> jax.Array:
    """Reproducible data."""
    return jax.random.normal(jax.random.PRNGKey(0), shape)


@workload("scan of tiny ops")
def tiny() -> Step:
    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jnp.tanh(jnp.roll(jnp.sort(x, axis=0), 1, axis=0) @ x), None

    return repeating(lambda x: jax.lax.scan(body, x, None, length=3000)[0], normal(4, 4))


@workload("scan of medium ops (64x64)")
def medium() -> Step:
    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jnp.tanh(jnp.roll(x, 1, axis=0) @ x * 0.1), None

    return repeating(lambda x: jax.lax.scan(body, x, None, length=600)[0], normal(64, 64))


@workload("scan of large ops (512x512)", several_threads=True)
def large() -> Step:
    return repeating(
        lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c @ x * 0.01), None), x, None, length=3)[0],
        normal(512, 512),
    )


@workload("nested loops and conditionals")
def nested() -> Step:
    def inner(x: jax.Array, k: jax.Array) -> tuple[jax.Array, None]:
        branches = [lambda v: jnp.sort(v), lambda v: jnp.roll(v, 1, axis=0) * 0.5]
        return jax.lax.switch(k % 2, branches, x), None

    def outer(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        x, _ = jax.lax.scan(inner, x, jnp.arange(10))
        return x @ x * 0.01, None

    return repeating(lambda x: jax.lax.scan(outer, x, None, length=150)[0], normal(16, 16))


@workload("while_loop with a condition on data")
def dynamic() -> Step:
    def run(x: jax.Array) -> jax.Array:
        def body(state: tuple) -> tuple:
            count, value = state
            return count + 1, jnp.cumsum(jnp.sort(value @ value * 0.01, axis=-1), axis=0) * 0.01

        def going(state: tuple) -> jax.Array:
            count, value = state
            return (count < 200) & (jnp.max(jnp.abs(value)) < 1e6)

        return jax.lax.while_loop(going, body, (0, x))[1]

    return repeating(run, normal(32, 32))


@workload("vmapped cond: both branches")
def both_branches() -> Step:
    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        def one(row: jax.Array) -> jax.Array:
            return jax.lax.cond(row[0] > 0, lambda r: jnp.sort(r), lambda r: jnp.cumsum(r) * 0.1, row)

        return jax.vmap(one)(x) + 0.01, None

    return repeating(lambda x: jax.lax.scan(body, x, None, length=150)[0], normal(32, 16))


@workload("MLP training scan")
def mlp() -> Step:
    shapes = [(16, 64), (64, 64), (64, 4)]
    params = [normal(*shape) * 0.1 for shape in shapes]
    x, y = normal(64, 16), normal(64, 4)

    def loss(params: list) -> jax.Array:
        h = x
        for w in params[:-1]:
            h = jnp.tanh(h @ w)
        return jnp.mean((h @ params[-1] - y) ** 2)

    def body(params: list, _: None) -> tuple[list, None]:
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, jax.grad(loss)(params)), None

    return repeating(lambda p: jax.lax.scan(body, p, None, length=200)[0], params)


@workload("GRU training scan")
def gru() -> Step:
    w, u, x = normal(16, 96) * 0.1, normal(32, 96) * 0.1, normal(20, 8, 16)

    def loss(params: tuple) -> jax.Array:
        w, u = params

        def cell(h: jax.Array, inputs: jax.Array) -> tuple[jax.Array, None]:
            a, b = inputs @ w, h @ u
            z = jax.nn.sigmoid(a[:, :32] + b[:, :32])
            r = jax.nn.sigmoid(a[:, 32:64] + b[:, 32:64])
            n = jnp.tanh(a[:, 64:] + r * b[:, 64:])
            return (1 - z) * h + z * n, None

        return jnp.mean(jax.lax.scan(cell, jnp.zeros((8, 32)), x)[0] ** 2)

    def body(params: tuple, _: None) -> tuple[tuple, None]:
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params)), None

    return repeating(lambda p: jax.lax.scan(body, p, None, length=15)[0], (w, u))


@workload("replay buffer and rng")
def replay() -> Step:
    def body(state: tuple, i: jax.Array) -> tuple[tuple, jax.Array]:
        key, buffer = state
        key, draw = jax.random.split(key)
        buffer = jax.lax.dynamic_update_slice(buffer, jnp.full((1, 8), i, jnp.float32), (i % 512, 0))
        rows = buffer[jax.random.randint(draw, (16,), 0, 512)]
        return (key, buffer), rows.mean()

    state = (jax.random.PRNGKey(1), jnp.zeros((512, 8)))
    return repeating(lambda s: jax.lax.scan(body, s, jnp.arange(800))[1], state)


@workload("random numbers")
def rng() -> Step:
    def body(key: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        key, a, b = jax.random.split(key, 3)
        return key, jax.random.normal(a, (64,)).sum() + jax.random.permutation(b, 32)[0]

    return repeating(lambda k: jax.lax.scan(body, k, None, length=150)[1], jax.random.PRNGKey(2))


@workload("multi-threaded convolutions", several_threads=True)
def convolution() -> Step:
    x, k = normal(16, 32, 32, 8), normal(3, 3, 8, 8) * 0.1

    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.tanh(y), None

    return repeating(lambda x: jax.lax.scan(body, x, None, length=4)[0], x)


@workload("GAE scan over a rollout")
def gae() -> Step:
    rewards, values, done = normal(1000, 8), normal(1001, 8), normal(1000, 8) > 1.5

    def run(rewards: jax.Array, values: jax.Array) -> jax.Array:
        def body(last: jax.Array, item: tuple) -> tuple[jax.Array, jax.Array]:
            reward, value, following, over = item
            last = reward + 0.99 * following * (1 - over) - value + 0.95 * 0.99 * (1 - over) * last
            return last, last

        items = (rewards, values[:-1], values[1:], done)
        return jax.lax.scan(body, jnp.zeros(8), items, reverse=True)[1]

    return repeating(run, rewards, values)


@workload("event flood (case 16)")
def flood() -> Step:
    def body(c: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        c = jnp.sin(c) + jnp.roll(c, 1)
        c = jnp.tanh(c @ jnp.eye(8))
        return c, jnp.argsort(c, axis=1)[:, 0]

    return repeating(lambda x: jax.lax.scan(body, x, None, length=1500)[1], jnp.ones((4, 8)))


@workload("host loop, a sync per call")
def host_sync() -> Step:
    one = jax.jit(lambda x: jnp.sort(jnp.tanh(x @ x * 0.1), axis=-1))
    x = normal(24, 24)

    def step() -> None:
        y = x
        for _ in range(40):
            y = one(y).block_until_ready()

    return step


@workload("host loop, no sync")
def host_async() -> Step:
    one = jax.jit(lambda x: jnp.sort(jnp.tanh(x @ x * 0.1), axis=-1))
    x = normal(24, 24)

    def step() -> None:
        y = x
        for _ in range(40):
            y = one(y)
        y.block_until_ready()

    return step


@workload("host loop, float() per call", several_threads=True)
def host_float() -> Step:
    act = jax.jit(lambda x: jnp.tanh(x @ x * 0.1))
    total = jax.jit(lambda x: x.sum())
    x = normal(32, 32)

    def step() -> None:
        y, score = x, 0.0
        for _ in range(40):
            y = act(y)
            score += float(total(y))

    return step


@workload("io_callback environment", several_threads=True)
def callback() -> Step:
    from jax.experimental import io_callback

    def environment(action: np.ndarray) -> np.ndarray:
        return np.tanh(np.asarray(action) * 0.9)

    def body(state: jax.Array, _: None) -> tuple[jax.Array, None]:
        state = io_callback(environment, jax.ShapeDtypeStruct((8,), jnp.float32), state, ordered=True)
        return jnp.roll(jnp.sort(state), 1), None

    return repeating(lambda x: jax.lax.scan(body, x, None, length=30)[0], normal(8))


@workload("two host threads", several_threads=True)
def threads() -> Step:
    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jnp.tanh(jnp.roll(x, 1, axis=0) @ x * 0.1), None

    run = jax.jit(lambda x: jax.lax.scan(body, x, None, length=1500)[0])
    x, y = normal(16, 16), normal(16, 16) + 1

    def step() -> None:
        others = [threading.Thread(target=lambda v=v: run(v).block_until_ready()) for v in (x, y)]
        for thread in others:
            thread.start()
        for thread in others:
            thread.join()

    return step


@workload("two virtual devices", several_threads=True)
def devices() -> Step:
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((2,), ("d",))
    x = jax.device_put(normal(2, 16, 16), NamedSharding(mesh, PartitionSpec("d")))

    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jnp.tanh(jnp.roll(x, 1, axis=1) @ x * 0.1), None

    return repeating(lambda x: jax.lax.scan(body, x, None, length=1000)[0], x)


def _ppo(environment: Callable[[], object], **settings: int) -> Step:
    sys.path.insert(0, str(EXAMPLES))
    from ppo.config import PPOConfig
    from ppo.train_step import initial_state, make_train_step

    config, env = PPOConfig(**settings), environment()
    train_step = make_train_step(config, env)
    held = [initial_state(config, env, 0)]

    def step() -> None:
        held[0], metrics = train_step(held[0])
        jax.block_until_ready(metrics)

    return step


def _cartpole() -> object:
    sys.path.insert(0, str(EXAMPLES / "gymnax_ppo"))
    from cartpole import CartPole

    return CartPole()


def _pendulum() -> object:
    sys.path.insert(0, str(EXAMPLES / "brax_ppo"))
    from pendulum import Pendulum

    return Pendulum()


@workload("gymnax PPO example")
def gymnax_example() -> Step:
    return _ppo(_cartpole, num_envs=64, rollout_length=32, num_minibatches=8)


@workload("gymnax PPO, 4 environments")
def gymnax_few() -> Step:
    return _ppo(_cartpole, num_envs=4, rollout_length=64, num_minibatches=4)


@workload("Brax PPO example")
def brax_example() -> Step:
    return _ppo(_pendulum, num_envs=64, rollout_length=16, num_minibatches=8)


@workload("PureJaxRL PPO, whole training in one call")
def purejaxrl() -> Step:
    sys.path.insert(0, str(EXAMPLES))
    from ppo.config import PPOConfig
    from ppo.train_step import initial_state, make_train_step

    config, env = PPOConfig(num_envs=16, rollout_length=32, num_minibatches=4), _cartpole()
    train_step = make_train_step(config, env)
    state = initial_state(config, env, 0)
    return repeating(lambda s: jax.lax.scan(lambda s, _: train_step(s), s, None, length=2)[1], state)
