"""What does following a finding's hint gain? Each trouble before and after, unprofiled, interleaved, medians.

    python benchmarks/findings.py [CODE ...] [--repeats 7]

Prints the time of the trouble, of the program after the change, and their ratio. The pages of docs/findings
quote one run. `annotation_inside_jit` costs no time, `small_kernels` needs an accelerator: neither is here.
"""

import argparse
import statistics
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

PAIRS = {}


def pair(function):
    """Add a function that returns (before, after): two thunks of the same work."""
    PAIRS[function.__name__] = function
    return function


@pair
def recompiles():
    """Twelve updates by a function jitted in the loop; by one jitted once."""

    def update(p, rate):
        return p - rate * jax.grad(lambda w: jnp.mean(jnp.tanh(w @ w) ** 2))(p)

    p, once = jnp.ones((64, 64)) * 0.1, jax.jit(update)

    def before():
        return [jax.jit(lambda p, rate=rate: update(p, rate))(p) for rate in range(12)]

    def after():
        return [once(p, float(rate)) for rate in range(12)]

    return before, after


@pair
def compile_dominates():
    """Compiling and running a rollout of 120 steps: unrolled by Python; scanned."""
    weights = jnp.ones((16, 16)) * 0.1

    def step(state, _):
        return jnp.sin(jnp.tanh(state @ weights) + 0.1 * jnp.roll(state, 1, axis=0)), None

    def unrolled(state):
        for _ in range(120):
            state, _ = step(state, None)
        return state

    state = jnp.ones((32, 16))

    def before():
        return jax.jit(lambda state: unrolled(state))(state)

    def after():
        return jax.jit(lambda state: jax.lax.scan(step, state, None, 120)[0])(state)

    return before, after


@pair
def not_jitted():
    """Twenty steps of 64 environments under vmap alone; under jit."""

    def env_step(x, v):
        for _ in range(10):
            v = jnp.clip(v + 0.02 * (-4.0 * x - 0.3 * v), -5.0, 5.0)
            x = x + 0.02 * v
        return x, v

    x = jnp.ones(64)

    def repeat(step):
        a, b = x, x
        for _ in range(20):
            a, b = jax.block_until_ready(step(a, b))
        return a

    jitted = jax.jit(jax.vmap(env_step))
    return lambda: repeat(jax.vmap(env_step)), lambda: repeat(jitted)


@pair
def dispatch_bound():
    """500 steps of a small policy and environment: two calls and a float() a step; one scan."""
    weights = [jax.random.normal(jax.random.PRNGKey(i), (32, 32)) * 0.1 for i in range(3)]

    @jax.jit
    def act(x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return x

    env_step = jax.jit(lambda s, a: (s * 0.99 + 0.01 * a, jnp.sum(s)))
    rollout = jax.jit(lambda s: jax.lax.scan(lambda s, _: env_step(s, act(s)), s, None, 500))
    start = jnp.ones((4, 32))

    def before():
        state, total = start, 0.0
        for _ in range(500):
            state, reward = env_step(state, act(state))
            total += float(reward)
        return state

    return before, lambda: rollout(start)


@pair
def host_callback_bound():
    """32 environments for 10 steps, a callback for each; one callback for all."""

    def host_step(actions):
        time.sleep(0.0002)  # what calling a simulator costs, whatever the batch
        return np.tanh(actions)

    @jax.jit
    def one_by_one(actions):
        def step(actions, _):
            shape = jax.ShapeDtypeStruct(actions.shape[1:], actions.dtype)
            return jax.lax.map(lambda a: io_callback(host_step, shape, a), actions), None

        return jax.lax.scan(step, actions, None, 10)[0]

    @jax.jit
    def together(actions):
        step = jax.typeof(actions)
        return jax.lax.scan(lambda a, _: (io_callback(host_step, step, a), None), actions, None, 10)[0]

    actions = jnp.ones((32, 8))
    return lambda: one_by_one(actions), lambda: together(actions)


@pair
def debug_callbacks():
    """A scan of 100 steps that logs each; one that returns what is logged once."""
    log = []

    @jax.jit
    def before(x):
        def step(x, _):
            x = jnp.tanh(x * 1.01)
            jax.debug.callback(log.append, x.mean())
            return x, None

        return jax.lax.scan(step, x, None, 100)[0]

    @jax.jit
    def scan(x):
        def step(x, _):
            x = jnp.tanh(x * 1.01)
            return x, x.mean()

        return jax.lax.scan(step, x, None, 100)

    x = jnp.ones((64, 16))

    def told():
        out = jax.block_until_ready(before(x))
        jax.effects_barrier()
        return out

    def after():
        out, means = scan(x)
        log.append(jax.device_get(means))
        return out

    return told, after


@pair
def callback_slow_dispatch():
    """100 calls of a program with an io_callback; of one without, the host's step called from Python."""

    def host_step(action):
        return np.asarray(action)

    @jax.jit
    def with_callback(state):
        action = jnp.tanh(state)
        return io_callback(host_step, jax.typeof(action), action)

    act, state = jax.jit(jnp.tanh), jnp.ones((4, 8))

    def before():
        return [jax.block_until_ready(with_callback(state)) for _ in range(100)]

    def after():
        return [host_step(act(state)) for _ in range(100)]

    return before, after


@pair
def both_branches():
    """Auto-reset of 32 environments for 50 steps: a costly reset under vmap; picked from a pool."""

    def reset(key):
        grid = jax.random.uniform(key, (24, 24))
        for _ in range(12):
            grid = sum(jnp.roll(grid, shift, axis) for shift in (1, -1) for axis in (0, 1)) * 0.25
        return grid

    def steps(choose):
        def body(grids, key):
            grids = grids * 0.999
            return jax.vmap(choose)(jax.random.split(key, 32), grids), None

        return jax.jit(lambda grids, keys: jax.lax.scan(body, grids, keys)[0])

    pool = jax.vmap(reset)(jax.random.split(jax.random.PRNGKey(0), 32))

    def by_condition(key, grid):
        return jax.lax.cond(grid.mean() < 0.4, lambda: reset(key), lambda: grid)

    def from_pool(key, grid):
        return jnp.where(grid.mean() < 0.4, pool[jax.random.randint(key, (), 0, 32)], grid)

    keys, bad, good = jax.random.split(jax.random.PRNGKey(1), 50), steps(by_condition), steps(from_pool)
    return lambda: bad(pool, keys), lambda: good(pool, keys)


@pair
def large_copies():
    """20 rows of 2 kB into a buffer of 25.6 MB: kept; donated."""

    def add(buffer, row, at):
        return jax.lax.dynamic_update_slice(buffer, row[None], (at, 0))

    kept, donated, row = jax.jit(add), jax.jit(add, donate_argnums=0), jnp.ones(500)
    buffers = {kept: jnp.zeros((12_800, 500)), donated: jnp.zeros((12_800, 500))}

    def run(function):
        for at in range(20):
            buffers[function] = function(buffers[function], row, at)
        return buffers[function]

    return lambda: run(kept), lambda: run(donated)


@pair
def blocked_on_device():
    """20 updates, Python work beside each: the loss read at once; read one step later."""
    update = jax.jit(lambda x: (jnp.tanh(x @ x), x.mean()))
    x = jnp.ones((500, 500)) * 0.01

    def bookkeeping():
        return sum(number * number for number in range(30_000))

    def before():
        state = x
        for _ in range(20):
            state, loss = update(state)
            float(loss)
            bookkeeping()
        return state

    def after():
        state, loss = update(x)
        for _ in range(19):
            last, (state, loss) = loss, update(state)
            float(last)
            bookkeeping()
        float(loss)
        bookkeeping()
        return state

    return before, after


@pair
def data_transfer_bound():
    """20 steps on 200 arrays of the host's; the same arrays put on the device once."""
    update = jax.jit(lambda batch: sum(part[0, 0] for part in batch))
    batch = [np.ones((256, 256), np.float32) for _ in range(200)]
    held = jax.device_put(batch)

    def repeat(batch):
        return [jax.block_until_ready(update(batch)) for _ in range(20)]

    return lambda: repeat(batch), lambda: repeat(held)


@pair
def serial_scan():
    """Discounted returns of 1,000 steps in 8,192 environments: jax.lax.scan; jax.lax.associative_scan."""
    rewards = jnp.ones((1000, 8192))

    def back(carry, reward):
        carry = reward + 0.99 * carry
        return carry, carry

    def combine(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    @jax.jit
    def serial(rewards):
        return jax.lax.scan(back, jnp.zeros(8192), rewards, reverse=True)[1]

    @jax.jit
    def parallel(rewards):
        decay = jnp.full_like(rewards, 0.99)
        return jax.lax.associative_scan(combine, (decay, rewards), reverse=True)[1]

    return lambda: serial(rewards), lambda: parallel(rewards)


@pair
def device_idle():
    """10 steps of 5 ms on the host beside the device's: one after the other; side by side."""
    update = jax.jit(lambda x: jnp.tanh(x @ x @ x))
    x = jnp.ones((600, 600)) * 0.01

    def before():
        state = x
        for _ in range(10):
            time.sleep(0.005)
            state = jax.block_until_ready(update(state))
        return state

    def after():
        state = x
        for _ in range(10):
            last, state = state, update(state)
            time.sleep(0.005)
            jax.block_until_ready(last)
        return state

    return before, after


@pair
def event_flood():
    """A scan of 1,000 turns of tiny ops: while a profiler records it; unprofiled."""

    @jax.jit
    def train(x):
        return jax.lax.scan(lambda x, _: (jnp.argsort(jnp.sin(x)) * 0.1, None), x, None, 1000)[0]

    x = jnp.ones((4, 8))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0

    def before():
        with (
            tempfile.TemporaryDirectory() as folder,
            jax.profiler.trace(folder, profiler_options=options),
        ):
            return jax.block_until_ready(train(x))

    return before, lambda: train(x)


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("codes", nargs="*", metavar="CODE", choices=[[], *PAIRS])
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(f"{'code':24}{'before ms':>12}{'after ms':>12}{'ratio':>8}")
    for code in options.codes or PAIRS:
        thunks = PAIRS[code]()
        times: tuple[list[float], list[float]] = ([], [])
        for thunk in thunks:
            jax.block_until_ready(thunk())
        for _ in range(options.repeats):
            for thunk, taken in zip(thunks, times, strict=True):
                started = time.perf_counter()
                jax.block_until_ready(thunk())
                taken.append(1e3 * (time.perf_counter() - started))
        before, after = (statistics.median(taken) for taken in times)
        print(f"{code:24}{before:12.2f}{after:12.2f}{before / after:8.1f}", flush=True)


if __name__ == "__main__":
    main()
