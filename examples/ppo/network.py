"""The actor-critic network."""

import flax.linen as nn
import jax
from flax.linen.initializers import orthogonal


class ActorCritic(nn.Module):
    """Separate policy and value towers over the same observation."""

    num_policy_outputs: int
    hidden_sizes: tuple[int, ...]

    @nn.compact
    def __call__(self, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the action distribution's parameters and the state's value."""
        # The small last layer makes the first policy nearly uniform, whatever the observation.
        policy = self._tower(observation, self.num_policy_outputs, output_gain=0.01, name="policy")
        value = self._tower(observation, 1, output_gain=1.0, name="value")
        return policy, value[..., 0]

    def _tower(self, x: jax.Array, num_outputs: int, output_gain: float, name: str) -> jax.Array:
        for i, size in enumerate(self.hidden_sizes):
            x = nn.tanh(nn.Dense(size, kernel_init=orthogonal(2**0.5), name=f"{name}_{i}")(x))
        return nn.Dense(num_outputs, kernel_init=orthogonal(output_gain), name=f"{name}_out")(x)
