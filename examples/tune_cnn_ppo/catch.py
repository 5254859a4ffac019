"""A ball falls through an 84 x 84 picture; the paddle at the bottom is moved to catch it. All in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

SIZE = 84
SPEED = 4


class State(NamedTuple):
    """Of one environment: columns and row in pixels, and the last four frames [84, 84, 4]."""

    ball: jax.Array
    row: jax.Array
    paddle: jax.Array
    frames: jax.Array


def reset(key):
    """A ball somewhere at the top."""
    ball = jax.random.randint(key, (), 0, SIZE)
    state = State(ball, jnp.int32(0), jnp.int32(SIZE // 2), jnp.zeros((SIZE, SIZE, 4)))
    return _drawn(state)


def step(key, state, action):
    """The next state, and the reward: 1 or -1 when the ball arrives, which begins the next one."""
    paddle = jnp.clip(state.paddle + SPEED * (action - 1), 0, SIZE - 1)
    row = state.row + SPEED
    landed = row >= SIZE - SPEED
    reward = jnp.where(landed, jnp.where(jnp.abs(state.ball - paddle) <= 6, 1.0, -1.0), 0.0)
    ball = jnp.where(landed, jax.random.randint(key, (), 0, SIZE), state.ball)
    return _drawn(State(ball, jnp.where(landed, 0, row), paddle, state.frames)), reward, landed


def _drawn(state):
    rows, columns = jnp.arange(SIZE)[:, None], jnp.arange(SIZE)[None]
    ball = (jnp.abs(rows - state.row) <= 2) & (jnp.abs(columns - state.ball) <= 2)
    paddle = (rows >= SIZE - 3) & (jnp.abs(columns - state.paddle) <= 6)
    frame = (ball | paddle).astype(jnp.float32)
    return state._replace(frames=jnp.concatenate([state.frames[..., 1:], frame[..., None]], axis=-1))
