"""What PPO asks of an environment; each example adapts its library to this."""

from typing import Any, NamedTuple, Protocol

import jax

from ppo.distributions import ActionDistribution


class EnvStep(NamedTuple):
    """One step of a batch of environments; every array's leading axis is the environment."""

    state: Any
    observation: jax.Array
    """Where the next step starts: already the first observation of a new episode when this one ended."""
    reward: jax.Array
    next_observation: jax.Array
    """Where this step led, before any reset."""
    terminated: jax.Array
    """The episode ended and no reward can follow."""
    truncated: jax.Array
    """The episode was cut at its time limit; its value must be bootstrapped."""


class Environment(Protocol):
    """A batch of environments that reset themselves when an episode ends."""

    actions: ActionDistribution

    def reset(self, key: jax.Array, num_envs: int) -> tuple[Any, jax.Array]:
        """Return the first state and observation of `num_envs` environments."""

    def step(self, key: jax.Array, state: Any, action: jax.Array) -> EnvStep:
        """Step every environment once, resetting those whose episode ended."""
