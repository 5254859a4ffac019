"""Action distributions over the network's policy head."""

from typing import Protocol

import jax
import jax.numpy as jnp


class ActionDistribution(Protocol):
    """How a policy head of `num_parameters` outputs becomes an action."""

    num_parameters: int

    def sample(self, key: jax.Array, parameters: jax.Array) -> jax.Array:
        """Draw one action for each row of `parameters`."""

    def log_prob(self, parameters: jax.Array, action: jax.Array) -> jax.Array:
        """Log-probability (density) of `action`."""

    def entropy(self, parameters: jax.Array) -> jax.Array:
        """Entropy of each row's distribution."""


class Categorical:
    """Discrete actions; the parameters are logits."""

    def __init__(self, num_actions: int):
        self.num_parameters = num_actions

    def sample(self, key: jax.Array, parameters: jax.Array) -> jax.Array:
        """Draw one action for each row of logits."""
        return jax.random.categorical(key, parameters)

    def log_prob(self, parameters: jax.Array, action: jax.Array) -> jax.Array:
        """Log-probability of `action`."""
        return jnp.take_along_axis(jax.nn.log_softmax(parameters), action[..., None], axis=-1)[..., 0]

    def entropy(self, parameters: jax.Array) -> jax.Array:
        """Entropy in nats."""
        log_probs = jax.nn.log_softmax(parameters)
        return -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1)


class Gaussian:
    """Continuous actions with independent components; the parameters are means, then raw scales."""

    min_scale = 0.01

    def __init__(self, action_size: int):
        self.num_parameters = 2 * action_size

    def sample(self, key: jax.Array, parameters: jax.Array) -> jax.Array:
        """Draw one action vector for each row of parameters."""
        mean, scale = self._mean_and_scale(parameters)
        return mean + scale * jax.random.normal(key, mean.shape)

    def log_prob(self, parameters: jax.Array, action: jax.Array) -> jax.Array:
        """Log-density of `action`."""
        mean, scale = self._mean_and_scale(parameters)
        return jnp.sum(jax.scipy.stats.norm.logpdf(action, mean, scale), axis=-1)

    def entropy(self, parameters: jax.Array) -> jax.Array:
        """Differential entropy in nats."""
        _, scale = self._mean_and_scale(parameters)
        return jnp.sum(0.5 * jnp.log(2 * jnp.pi * jnp.e) + jnp.log(scale), axis=-1)

    def _mean_and_scale(self, parameters: jax.Array) -> tuple[jax.Array, jax.Array]:
        mean, raw_scale = jnp.split(parameters, 2, axis=-1)
        return mean, jax.nn.softplus(raw_scale) + self.min_scale
