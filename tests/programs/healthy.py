"""Healthy programs of the kinds RL has, many of them near to a trouble: none of high severity is true."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import optax
from registry import registry

PROGRAMS, program = registry()
STEPS = 10


def warm(function, *arguments):
    return jax.block_until_ready(function(*arguments))


def weights(*sizes, seed=0):
    keys = jax.random.split(jax.random.PRNGKey(seed), len(sizes) - 1)
    pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return [jax.random.normal(key, pair) / pair[0] ** 0.5 for key, *pair in pairs]


def network(params, x):
    for w in params[:-1]:
        x = jax.nn.relu(x @ w)
    return x @ params[-1]


def work(x, times=6):
    """Enough for the device that calling is no trouble."""
    for _ in range(times):
        x = jnp.tanh(x @ x)
    return x


SQUARE = jnp.ones((400, 400)) * 0.01


def steps(body, number=STEPS):
    """A window of marked steps."""

    def window():
        out = None
        for step in range(number):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                out = body(step)
        return out

    return window


@program()
def strongly_typed_state():
    @jax.jit
    def env_step(state):
        with jax.named_scope("env_step"):
            return {"q": work(state["q"]), "time": state["time"] + jnp.float32(0.01)}

    state = {"q": SQUARE, "time": jnp.float32(0)}

    def step(number):
        state.update(env_step(state))
        return jax.block_until_ready(state)

    return steps(step)


@program()
def jitted_once():
    @jax.jit
    def update(p, learning_rate):
        return p - learning_rate * jax.grad(lambda w: jnp.mean(work(w) ** 2))(p)

    warm(update, SQUARE, 0.1)
    return steps(lambda number: jax.block_until_ready(update(SQUARE, 0.1 * (1 - number / STEPS))))


@program()
def jitted_environment():
    @jax.jit
    @jax.vmap
    def env_step(x, v):
        for _ in range(10):
            v = jnp.clip(v + 0.02 * (-4.0 * x - 0.3 * v), -5.0, 5.0)
            x = x + 0.02 * v
        return x, v

    x = jnp.ones((400_000,))
    warm(env_step, x, x)

    def window():
        a, b = x, x
        for _ in range(STEPS):
            with jax.profiler.TraceAnnotation("rollout"):
                a, b = jax.block_until_ready(env_step(a, b))
        return a

    return window


@program()
def scanned_loop():
    params = weights(32, 32, 32)

    @jax.jit
    def rollout(state):
        def step(state, _):
            action = network(params, state)
            return state * 0.99 + 0.01 * jnp.tanh(action), state.sum()

        return jax.lax.scan(step, state, None, 500)

    state = warm(rollout, jnp.ones((4, 32)))[0]
    return lambda: rollout(state)


@program()
def environment_in_jax():
    params = weights(128, 128)

    @jax.jit
    def rollout(state):
        def step(state, _):
            return jnp.tanh(network(params, state)), state.mean()

        return jax.lax.scan(step, state, None, 100)

    state = warm(rollout, jnp.ones((64, 128)))[0]
    return lambda: rollout(state)


@program()
def reset_from_pool():
    pool = jax.random.uniform(jax.random.PRNGKey(0), (64, 24, 24))

    def step(key, grid):
        grid = jnp.tanh(grid @ grid.T)
        done = grid.mean() > 0.99
        return jnp.where(done, pool[jax.random.randint(key, (), 0, 64)], grid)

    @jax.jit
    def rollout(grids, keys):
        def body(grids, key):
            return (jax.vmap(step)(jax.random.split(key, 32), grids), None)

        return jax.lax.scan(body, grids, keys)

    keys, grids = jax.random.split(jax.random.PRNGKey(1), 50), pool[:32]
    warm(rollout, grids, keys)
    return lambda: rollout(grids, keys)


@program()
def real_conditional():
    def reset(state):
        return work(state, 12) * 0 + 1.0

    @jax.jit
    def rollout(state):
        def step(state, number):
            state = jnp.tanh(state @ state)
            return jax.lax.cond(number % 20 == 19, reset, lambda state: state, state), None

        return jax.lax.scan(step, state, jnp.arange(40))

    warm(rollout, SQUARE)
    return lambda: rollout(SQUARE)


@program()
def metrics_kept_on_device():
    update = jax.jit(lambda p: (work(p), p.mean()))
    warm(update, SQUARE)

    def window():
        p, losses = SQUARE, []
        for _ in range(STEPS):
            with jax.profiler.TraceAnnotation("update"):
                p, loss = update(p)
            losses.append(loss)
        with jax.profiler.TraceAnnotation("metrics"):
            return np.mean(jax.device_get(losses))

    return window


@program()
def short_scan():
    @jax.jit
    def train(x):
        def step(x, _):
            with jax.named_scope("env_step"):
                x = jnp.sin(x) + jnp.roll(x, 1)
            return x, jnp.argsort(x, axis=1)[:, 0]

        return jax.lax.scan(step, x, None, 200)

    x = jnp.ones((4, 8))
    warm(train, x)
    return lambda: train(x)


@program()
def two_networks_of_one_name():
    actor, critic = weights(64, 512, 8), weights(64, 512, 1)

    def make(params):
        def apply(x):
            return network(params, x)

        return jax.jit(apply)

    act, value = make(actor), make(critic)
    x = jnp.ones((4096, 64))
    return steps(lambda number: jax.block_until_ready((act(x), value(x))))


@program()
def evaluation_of_another_shape():
    params = weights(64, 512, 8)
    apply = jax.jit(lambda x: network(params, x))
    x, few = jnp.ones((4096, 64)), jnp.ones((128, 64))
    warm(apply, x)
    return steps(lambda number: jax.block_until_ready((apply(x), apply(few) if number == 5 else None)))


@program()
def every_network_initialised():
    def make(*sizes):
        def init(key):
            return [jax.random.normal(key, pair) for pair in pairwise(sizes)]

        return jax.jit(init)

    key = jax.random.PRNGKey(0)
    warm(jax.jit(work), SQUARE)

    def window():
        made = [make(*sizes)(key) for sizes in ((8, 64, 2), (8, 64, 1), (10, 64, 1))]
        return [made, steps(lambda number: jax.jit(work)(SQUARE))()]

    return window


@program()
def agents_of_one_code():
    def make(rate):
        def update(p):
            return work(p) * rate

        return jax.jit(update)

    agents = [make(rate) for rate in (0.1, 0.2, 0.3)]
    return steps(lambda number: jax.block_until_ready([update(SQUARE) for update in agents]))


@program()
def masked_loss():
    params = weights(64, 256, 1)
    x, mask = jnp.ones((8192, 64)), jnp.arange(8192) % 3 == 0

    @jax.jit
    def update(params):
        def loss(params):
            return jnp.where(mask, network(params, x)[:, 0] ** 2, 0.0).sum()

        return jax.tree.map(lambda p, g: p - 1e-6 * g, params, jax.grad(loss)(params))

    warm(update, params)
    return steps(lambda number: jax.block_until_ready(update(params)))


@program()
def optax_step():
    params = weights(64, 256, 256, 4)
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3))
    x = jnp.ones((4096, 64))

    @jax.jit
    def update(params, state):
        grads = jax.grad(lambda params: jnp.mean(jax.nn.leaky_relu(network(params, x)) ** 2))(params)
        changes, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, changes), state

    state = optimizer.init(params)
    warm(update, params, state)
    return steps(lambda number: jax.block_until_ready(update(params, state)))


@program()
def q_target():
    online, target = weights(32, 256, 6), weights(32, 256, 6, seed=1)
    x, done = jnp.ones((8192, 32)), jnp.arange(8192) % 7 == 0

    @jax.jit
    def loss(online):
        best = network(online, x).argmax(-1)
        bootstrap = jnp.take_along_axis(network(target, x), best[:, None], 1)[:, 0]
        return jnp.where(done, 0.0, bootstrap).mean()

    warm(loss, online)
    return steps(lambda number: jax.block_until_ready(loss(online)))


@program()
def donated_buffer():
    def learn(buffer, key):
        batch = buffer[jax.random.randint(key, (400,), 0, 2000), :400]
        return buffer.at[0].add(1.0), work(batch)

    step = jax.jit(learn, donate_argnums=0)
    key = jax.random.PRNGKey(0)
    held = [warm(step, jnp.zeros((2000, 500)), key)[0]]

    def one(number):
        held[0], batch = step(held[0], key)
        return jax.block_until_ready(batch)

    return steps(one)


@program()
def cheap_switch():
    branches = [lambda x: x + 1, lambda x: x * 2, lambda x: -x]

    @jax.jit
    def rollout(x, actions):
        def step(x, action):
            x = jax.vmap(lambda a, x: jax.lax.switch(a, branches, x))(action, x)
            return jnp.tanh(x @ SQUARE), None

        return jax.lax.scan(step, x, actions)

    x, actions = jnp.ones((256, 400)), jnp.zeros((30, 256), jnp.int32)
    warm(rollout, x, actions)
    return lambda: rollout(x, actions)


@program()
def advantages_in_an_update():
    params = weights(64, 256, 1)
    rewards, observations = jnp.ones((64, 32)), jnp.ones((64, 32, 64))

    @jax.jit
    def update(params):
        def back(carry, reward):
            carry = reward + 0.99 * carry
            return carry, carry

        with jax.named_scope("gae"):
            _, returns = jax.lax.scan(back, jnp.zeros(32), rewards, reverse=True)

        def loss(p):
            return jnp.mean((network(p, observations)[..., 0] - returns) ** 2)

        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, jax.grad(loss)(params))

    warm(update, params)
    return steps(lambda number: jax.block_until_ready(update(params)))


@program()
def advantages_in_parallel():
    rewards, decay = jnp.ones((4096, 512)), jnp.full((4096, 512), 0.99)

    @jax.jit
    def returns(decay, rewards):
        def combine(a, b):
            return (a[0] * b[0], b[0] * a[1] + b[1])

        return jax.lax.associative_scan(combine, (decay, rewards), reverse=True)[1]

    warm(returns, decay, rewards)
    return steps(lambda number: jax.block_until_ready(returns(decay, rewards)))


@program()
def recurrent_policy():
    a, b = weights(128, 128), weights(128, 128, seed=1)

    @jax.jit
    def unroll(state, xs):
        def cell(h, x):
            return (jnp.tanh(h @ a[0] + x @ b[0]), h)

        return jax.lax.scan(cell, state, xs)

    state, xs = jnp.ones((256, 128)), jnp.ones((64, 256, 128))
    warm(unroll, state, xs)
    return steps(lambda number: jax.block_until_ready(unroll(state, xs)))


@program()
def rare_debug_callback():
    log = []

    @jax.jit
    def train(x):
        def step(x, number):
            x = jnp.tanh(x @ x)

            def say():
                return jax.debug.callback(log.append, x[0, 0])

            jax.lax.cond(number == 39, say, lambda: None)
            return x, None

        return jax.lax.scan(step, x, jnp.arange(40))

    warm(train, SQUARE)
    return lambda: train(SQUARE)


@program()
def a_callback_an_update():
    from jax.experimental import io_callback

    log = []

    def tell(x):
        log.append(x)
        return np.int32(0)

    @jax.jit
    def update(x):
        x = work(x, 20)
        return x, io_callback(tell, jax.ShapeDtypeStruct((), jnp.int32), x[0, 0])

    warm(update, SQUARE)
    return steps(lambda number: jax.block_until_ready(update(SQUARE)))


@program()
def annotated_outside_jit():
    act = jax.jit(lambda x: work(x))
    return lambda: [_annotated(act) for _ in range(STEPS)]


def _annotated(act):
    with jax.profiler.TraceAnnotation("policy"):
        return jax.block_until_ready(act(SQUARE))


@program()
def operations_of_our_own():
    from rlscope_jax import operation

    @jax.jit
    @operation("update")
    def update(x):
        with operation("loss"):
            return work(x)

    def window():
        with operation("train"):
            return steps(lambda number: jax.block_until_ready(update(SQUARE)))()

    return window


@program()
def buffer_carried_in_a_scan():
    @jax.jit
    def collect(buffer):
        def step(carry, number):
            buffer, x = carry
            x = jnp.tanh(x @ x)
            return (jax.lax.dynamic_update_slice(buffer, x[:1], (number, 0)), x), None

        return jax.lax.scan(step, (buffer, SQUARE), jnp.arange(60))[0]

    buffer = jnp.zeros((4000, 400))
    warm(collect, buffer)
    return lambda: collect(buffer)


@program()
def a_little_glue():
    update = jax.jit(work)
    key = jax.random.PRNGKey(0)
    warm(update, SQUARE)
    jax.random.split(key)

    def step(number):
        nonlocal key
        key, _ = jax.random.split(key)
        return jax.block_until_ready(update(SQUARE).mean())

    return steps(step)


@program()
def batches_moved_ahead():
    update = jax.jit(lambda x, batch: work(x, 12) + batch)
    batch = np.ones((400, 400), np.float32)
    warm(update, SQUARE, batch)

    def window():
        ahead, x = jax.device_put(batch), SQUARE
        for _ in range(STEPS):
            x, ahead = update(x, ahead), jax.device_put(batch)
        return x

    return window


@program()
def a_static_argument():
    def apply(x, train):
        return work(x) * (0.9 if train else 1.0)

    apply = jax.jit(apply, static_argnums=1)
    return steps(lambda number: jax.block_until_ready((apply(SQUARE, True), apply(SQUARE, False))))


@program()
def rematerialised():
    @jax.jit
    def update(x):
        return x - jax.grad(lambda x: jax.checkpoint(work)(x).sum())(x)

    warm(update, SQUARE)
    return steps(lambda number: jax.block_until_ready(update(SQUARE)))


@program()
def many_seeds():
    def train(key):
        x = jax.random.normal(key, (64, 64)) * 0.1
        return jax.lax.scan(lambda x, _: (jnp.tanh(x @ x), x.mean()), x, None, 30)

    train = jax.jit(jax.vmap(train))
    keys = jax.random.split(jax.random.PRNGKey(0), 32)
    warm(train, keys)
    return lambda: train(keys)


@program()
def until_done():
    @jax.jit
    def play(x):
        return jax.lax.while_loop(lambda c: c[1] < 40, lambda c: (jnp.tanh(c[0] @ c[0]), c[1] + 1), (x, 0))

    warm(play, SQUARE)
    return lambda: play(SQUARE)


@program()
def first_steps_with_their_compilation():
    update = jax.jit(lambda x: x - 0.1 * jax.grad(lambda x: work(x).sum())(x))
    return steps(lambda number: jax.block_until_ready(update(SQUARE)))


@program()
def many_calls_of_much_work():
    step = jax.jit(lambda x: work(x, 2))
    warm(step, SQUARE)

    def window():
        x = SQUARE
        for _ in range(60):
            x = step(x)
        return x

    return window


@program()
def advantages_step_by_step():
    rewards = jnp.ones((1000, 8192))

    @jax.jit
    def train(rewards):
        def back(carry, reward):
            carry = reward + 0.99 * carry
            return carry, carry

        with jax.named_scope("gae"):
            return jax.lax.scan(back, jnp.zeros(8192), rewards, reverse=True)[1]

    warm(train, rewards)
    return lambda: train(rewards)
