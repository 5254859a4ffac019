"""Generalized advantage estimation."""

from typing import Any

import jax
import jax.numpy as jnp

from ppo.config import PPOConfig
from ppo.network import ActorCritic
from ppo.rollout import Transition
from rlscope_jax import operation


@operation("gae")
def estimate_advantages(
    config: PPOConfig, network: ActorCritic, params: Any, rollout: Transition
) -> tuple[jax.Array, jax.Array]:
    """Return advantages and value targets, both shaped (time, environment).

    A truncated episode is bootstrapped from the observation its last step led to, a terminated one is not.
    """
    _, next_value = network.apply(params, rollout.next_observation)
    target = rollout.reward + config.discount * jnp.where(rollout.terminated, 0.0, next_value)
    td_error = target - rollout.value
    decay = config.discount * config.gae_lambda * (1.0 - rollout.done)

    def accumulate(advantage: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        td_error, decay = step
        advantage = td_error + decay * advantage
        return advantage, advantage

    _, advantages = jax.lax.scan(accumulate, jnp.zeros_like(td_error[0]), (td_error, decay), reverse=True)
    return advantages, advantages + rollout.value
