"""Returns of the episodes that run across rollouts."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class EpisodeReturns(NamedTuple):
    """For each environment, the return so far and that of its last finished episode (0 before the first)."""

    running: jax.Array
    finished: jax.Array

    @classmethod
    def zeros(cls, num_envs: int) -> "EpisodeReturns":
        """No reward seen yet."""
        return cls(jnp.zeros(num_envs), jnp.zeros(num_envs))

    def add(self, reward: jax.Array, done: jax.Array) -> "EpisodeReturns":
        """Count one step's rewards and close the episodes that are done."""
        running = self.running + reward
        return EpisodeReturns(jnp.where(done, 0.0, running), jnp.where(done, running, self.finished))
