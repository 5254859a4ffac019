"""PPO from pixels, with the rollout's convolutions tuned where `rlscope-jax tune` has found something.

python train.py --logdir logs/before
rlscope-jax tune tasks.py:tasks --from logs/before
python train.py --logdir logs/after
python compare.py logs/before logs/after
"""

import argparse
from functools import partial

import jax
import jax.numpy as jnp
import optax

import catch
import network
from rlscope_jax import Schedule, operation, profile
from tasks import ENVS

STEPS = 16
DISCOUNT = 0.99
OPTIMIZER = optax.adam(3e-4)


@operation("rollout")
def rollout(weights, states, key):
    """STEPS steps of all environments; what was seen, done and gained, each [STEPS, ENVS]."""

    def one(states, key):
        act, move = jax.random.split(key)
        with operation("inference"):
            logits, value = network.apply(weights, states.frames, inference=True)
        action = jax.random.categorical(act, logits)
        chance = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=1)[:, 0]
        with operation("env_step"):
            after, reward, done = jax.vmap(catch.step)(jax.random.split(move, ENVS), states, action)
        return after, (states.frames, action, chance, value, reward, done)

    return jax.lax.scan(one, states, jax.random.split(key, STEPS))


@operation("advantages")
def advantages(value, reward, done, last, trace=0.95):
    """Generalized advantage estimation."""

    def back(carry, inputs):
        later, following = carry
        value, reward, done = inputs
        goes_on = DISCOUNT * (1 - done)
        later = reward + goes_on * following - value + goes_on * trace * later
        return (later, value), later

    inputs = (value, reward, done.astype(jnp.float32))
    return jax.lax.scan(back, (jnp.zeros_like(last), last), inputs, reverse=True)[1]


@operation("update")
def update(weights, optimizer, batch):
    """One epoch of clipped PPO on everything."""
    frames, action, chance, gain, target = batch

    def loss(weights):
        logits, value = network.apply(weights, frames, inference=False)
        chances = jax.nn.log_softmax(logits)
        ratio = jnp.exp(jnp.take_along_axis(chances, action[:, None], axis=1)[:, 0] - chance)
        policy = -jnp.minimum(ratio * gain, jnp.clip(ratio, 0.9, 1.1) * gain).mean()
        entropy = -(jnp.exp(chances) * chances).sum(axis=1).mean()
        return policy + 0.5 * ((value - target) ** 2).mean() - 0.01 * entropy

    changes, optimizer = OPTIMIZER.update(jax.grad(loss)(weights), optimizer)
    return optax.apply_updates(weights, changes), optimizer


@partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(weights, optimizer, states, key):
    """Collect, judge, learn; also the mean reward of a step."""
    states, (frames, action, chance, value, reward, done) = rollout(weights, states, key)
    last = network.apply(weights, states.frames, inference=True)[1]
    gain = advantages(value, reward, done, last)
    batch = jax.tree.map(
        lambda array: array.reshape(-1, *array.shape[2:]), (frames, action, chance, gain, gain + value)
    )
    weights, optimizer = update(weights, optimizer, batch)
    return weights, optimizer, states, reward.mean()


def main():
    """Train, and profile the last steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logdir", default="logs/tune_cnn_ppo")
    parser.add_argument("--updates", type=int, default=12)
    parser.add_argument("--profile-updates", type=int, default=6)
    options = parser.parse_args()
    key, first = jax.random.split(jax.random.key(0))
    weights = network.init(first)
    optimizer = OPTIMIZER.init(weights)
    states = jax.vmap(catch.reset)(jax.random.split(first, ENVS))
    schedule = Schedule(
        skip_first=options.updates - options.profile_updates, active=options.profile_updates, repeat=1
    )
    with profile(options.logdir, schedule=schedule) as profiler:
        for number in range(options.updates):
            key, now = jax.random.split(key)
            weights, optimizer, states, reward = train_step(weights, optimizer, states, now)
            print(f"update {number + 1}: reward {float(reward):+.3f} a step", flush=True)
            profiler.step()
    print(f"rlscope-jax report {options.logdir}")


if __name__ == "__main__":
    main()
