"""Decorating changes nothing but metadata in the optimized program: PPO, SAC, scan + grad, as text."""

import itertools
import re
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import operation


def plain(_name):
    """Stands for `operation` in the program without names."""
    return _Nothing()


class _Nothing(nullcontext):
    def __call__(self, function):
        return function


def dense(params, x):
    for weight in params[:-1]:
        x = jnp.tanh(x @ weight)
    return x @ params[-1]


def network(key, *sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        jax.random.normal(k, shape) * 0.1 for k, shape in zip(keys, itertools.pairwise(sizes), strict=True)
    ]


def ppo(op):
    """Rollout in a scan, GAE in a reverse scan, shuffled minibatches with value_and_grad and momentum."""

    @op("rollout/env_step")
    def env_step(state, action):
        state = jnp.cos(state + action)
        return state, jnp.where(state.sum(-1) > 0, 1.0, 0.0)

    @op("update/loss")
    def loss(params, batch):
        observation, advantage, target = batch
        out = dense(params, observation)
        return -(out[..., 0] * advantage).mean() + ((out[..., 1] - target) ** 2).mean()

    def step(params, moments, state, key):
        def act(carry, key):
            state = carry
            with op("rollout"), op("inference"):
                out = dense(params, state)
                action = jax.random.normal(key, out[..., :1].shape) + out[..., :1]
            following, reward = env_step(state, action)
            return following, (state, reward, out[..., 1])

        state, (observations, rewards, values) = jax.lax.scan(act, state, jax.random.split(key, 8))
        with op("gae"):
            _, advantages = jax.lax.scan(
                lambda gae, x: (x[0] + 0.9 * gae,) * 2, jnp.zeros(4), (rewards - values,), reverse=True
            )

        def minibatch(carry, index):
            params, moments = carry
            batch = jax.tree.map(lambda x: x[index], (observations, advantages, values))
            _, gradient = jax.value_and_grad(loss)(params, batch)
            with op("update/optimizer"):
                moments = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments, gradient)
                params = jax.tree.map(lambda p, m: p - 0.1 * m / (jnp.abs(m) + 1e-3), params, moments)
            return (params, moments), None

        order = op("update/shuffle")(jax.random.permutation)(key, 8)
        (params, moments), _ = jax.lax.scan(minibatch, (params, moments), order.reshape(4, 2))
        return params, moments, state

    params = network(jax.random.key(0), 3, 8, 2)
    return step, (params, jax.tree.map(jnp.zeros_like, params), jnp.ones((4, 3)), jax.random.key(1))


def sac(op):
    """A replay buffer, twin critics with a target, the reparametrized actor; lax.cond on the size."""

    @op("actor")
    def sample(actor, observation, key):
        mean, spread = jnp.split(dense(actor, observation), 2, -1)
        noise = jax.random.normal(key, mean.shape)
        action = jnp.tanh(mean + noise * jnp.exp(spread))
        return action, (-0.5 * noise**2 - spread).sum(-1)

    @op("critic_loss")
    def critic_loss(critic, target, actor, alpha, batch, key):
        action, log_prob = sample(actor, batch, key)
        wanted = jnp.sin(batch).sum(-1) + 0.9 * (
            dense(target, jnp.concatenate([batch, action], -1)).min(-1) - alpha * log_prob
        )
        return (
            (dense(critic, jnp.concatenate([batch, action], -1)) - jax.lax.stop_gradient(wanted)[:, None])
            ** 2
        ).mean()

    @op("actor_loss")
    def actor_loss(actor, critic, alpha, batch, key):
        action, log_prob = sample(actor, batch, key)
        return (alpha * log_prob - dense(critic, jnp.concatenate([batch, action], -1)).min(-1)).mean()

    def step(actor, critic, target, alpha, buffer, position, key):
        with op("replay/add"):
            buffer = jax.lax.dynamic_update_slice(buffer, jax.random.normal(key, (1, 3)), (position, 0))
        with op("replay/sample"):
            batch = buffer[jax.random.randint(key, (4,), 0, 16)]

        def learn(actor, critic):
            critic_gradient = jax.grad(critic_loss)(critic, target, actor, alpha, batch, key)
            actor_gradient = jax.grad(actor_loss)(actor, critic, alpha, batch, key)
            with op("optimizer"):
                descend = lambda p, g: p - 0.01 * g  # noqa: E731
                return jax.tree.map(descend, actor, actor_gradient), jax.tree.map(
                    descend, critic, critic_gradient
                )

        actor, critic = jax.lax.cond(position > 4, learn, lambda *both: both, actor, critic)
        target = op("target")(jax.tree.map)(lambda t, c: 0.99 * t + 0.01 * c, target, critic)
        return actor, critic, target, buffer

    actor, critic = network(jax.random.key(0), 3, 8, 4), network(jax.random.key(1), 5, 8, 2)
    return step, (actor, critic, critic, 0.1, jnp.zeros((16, 3)), 5, jax.random.key(2))


def scan_and_grad(op):
    """Backpropagation through time, rematerialized, under vmap."""

    @op("cell")
    def cell(state, x):
        state = jnp.tanh(state @ x)
        return state, state.sum()

    @op("unroll")
    def unroll(weight, xs):
        with op("recurrence"):
            _, out = jax.lax.scan(jax.checkpoint(lambda s, x: cell(s, x * weight)), jnp.ones((2, 3)), xs)
        return out.mean()

    return jax.vmap(jax.grad(unroll), in_axes=(0, None)), (jnp.ones((2, 3, 3)), jnp.ones((5, 3, 3)))


def optimized(build, op):
    """The optimized HLO as text, less what is metadata."""
    function, arguments = build(op)
    text = jax.jit(lambda *arguments: function(*arguments)).lower(*arguments).compile().as_text()
    marks = text.count("rls=")
    text = re.sub(r",? ?metadata=\{[^}]*\}", "", text)
    return re.split(r"\n\n(?:FileNames|StackFrames)", text)[0], marks


@pytest.mark.parametrize("build", [ppo, sac, scan_and_grad], ids=lambda build: build.__name__)
def test_the_optimized_program_is_the_same(build):
    bare, no_marks = optimized(build, plain)
    named, marks = optimized(build, operation)
    assert named == bare
    assert no_marks == 0
    assert marks > 10
