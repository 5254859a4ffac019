"""CartPole-v1 in plain JAX, as the PPO example's environment."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ppo.distributions import ActionDistribution, Categorical
from ppo.environment import EnvStep

GRAVITY, CART_MASS, POLE_MASS, HALF_POLE, FORCE, TIME_STEP = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
MAX_POSITION, MAX_ANGLE, TIME_LIMIT = 2.4, 0.2095, 500


class CartPoleState(NamedTuple):
    """Where each cart and pole is, and how long its episode has lasted."""

    physics: jax.Array
    """Position, velocity, angle and angular velocity, shaped (environment, 4): the observation."""
    time: jax.Array


class CartPole:
    """A batch of CartPole-v1 that resets itself."""

    actions: ActionDistribution = Categorical(2)

    def reset(self, key: jax.Array, num_envs: int) -> tuple[CartPoleState, jax.Array]:
        """Return the first states and observations."""
        physics = jax.random.uniform(key, (num_envs, 4), minval=-0.05, maxval=0.05)
        return CartPoleState(physics, jnp.zeros(num_envs, jnp.int32)), physics

    def step(self, key: jax.Array, state: CartPoleState, action: jax.Array) -> EnvStep:
        """Step every environment once, then restart those whose episode ended."""
        after = _move(state.physics, action)
        time = state.time + 1
        terminated = (jnp.abs(after[:, 0]) > MAX_POSITION) | (jnp.abs(after[:, 2]) > MAX_ANGLE)
        truncated = (time >= TIME_LIMIT) & ~terminated
        done = terminated | truncated
        _, first = self.reset(key, len(time))
        physics = jnp.where(done[:, None], first, after)
        reset = CartPoleState(physics, jnp.where(done, 0, time))
        return EnvStep(reset, physics, jnp.ones(len(time)), after, terminated, truncated)


def _move(physics: jax.Array, action: jax.Array) -> jax.Array:
    """The equations of motion of Barto, Sutton and Anderson (1983), one Euler step."""
    _, velocity, angle, spin = physics.T
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    mass = CART_MASS + POLE_MASS
    push = (jnp.where(action == 1, FORCE, -FORCE) + POLE_MASS * HALF_POLE * spin**2 * sine) / mass
    turn = (GRAVITY * sine - cosine * push) / (HALF_POLE * (4 / 3 - POLE_MASS * cosine**2 / mass))
    acceleration = push - POLE_MASS * HALF_POLE * turn * cosine / mass
    return physics + TIME_STEP * jnp.stack([velocity, acceleration, spin, turn], axis=1)
