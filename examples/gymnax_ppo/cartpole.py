"""gymnax's CartPole-v1 as the PPO example's environment."""

import gymnax
import jax
from gymnax.environments.classic_control.cartpole import EnvState

from ppo.distributions import Categorical
from ppo.environment import EnvStep


class CartPole:
    """A batch of CartPole-v1; gymnax itself resets the environments whose episode ended."""

    def __init__(self):
        self.env, self.params = gymnax.make("CartPole-v1")
        self.actions = Categorical(self.env.num_actions)

    def reset(self, key: jax.Array, num_envs: int) -> tuple[EnvState, jax.Array]:
        """Return the first states and observations."""
        observation, state = jax.vmap(self.env.reset, in_axes=(0, None))(
            jax.random.split(key, num_envs), self.params
        )
        return state, observation

    def step(self, key: jax.Array, state: EnvState, action: jax.Array) -> EnvStep:
        """Step every environment once."""
        keys = jax.random.split(key, action.shape[0])
        observation, state, reward, terminated, truncated, info = jax.vmap(
            self.env.step, in_axes=(0, 0, 0, None)
        )(keys, state, action, self.params)
        return EnvStep(state, observation, reward, info["final_observation"], terminated, truncated)
