"""The clipped PPO objective."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ppo.config import PPOConfig
from ppo.distributions import ActionDistribution
from ppo.network import ActorCritic
from rlscope_jax import operation


class Batch(NamedTuple):
    """What the loss reads of a transition."""

    observation: jax.Array
    action: jax.Array
    log_prob: jax.Array
    advantage: jax.Array
    value_target: jax.Array


@operation("loss")
def ppo_loss(
    params: Any, config: PPOConfig, network: ActorCritic, actions: ActionDistribution, minibatch: Batch
) -> jax.Array:
    """Clipped surrogate, squared value error and entropy bonus of one minibatch."""
    policy, value = network.apply(params, minibatch.observation)
    advantage = minibatch.advantage
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    ratio = jnp.exp(actions.log_prob(policy, minibatch.action) - minibatch.log_prob)
    clipped_ratio = jnp.clip(ratio, 1 - config.clip_range, 1 + config.clip_range)
    policy_loss = -jnp.minimum(ratio * advantage, clipped_ratio * advantage).mean()
    value_loss = 0.5 * jnp.square(value - minibatch.value_target).mean()
    entropy = actions.entropy(policy).mean()
    return policy_loss + config.value_coefficient * value_loss - config.entropy_coefficient * entropy
