"""Collect one trajectory segment from every environment."""

from typing import Any, NamedTuple

import jax

from ppo.config import PPOConfig
from ppo.environment import Environment
from ppo.episodes import EpisodeReturns
from ppo.network import ActorCritic
from rlscope_jax import operation


class Actors(NamedTuple):
    """The environments as they stand between two rollouts."""

    env_state: Any
    observation: jax.Array
    returns: EpisodeReturns
    key: jax.Array


class Transition(NamedTuple):
    """One step of each environment; a rollout stacks them along a leading time axis."""

    observation: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    next_observation: jax.Array
    terminated: jax.Array
    done: jax.Array


@operation("rollout")
def collect(
    config: PPOConfig, env: Environment, network: ActorCritic, params: Any, actors: Actors
) -> tuple[Actors, Transition]:
    """Step every environment `rollout_length` times with the current policy."""

    def step(actors: Actors, _) -> tuple[Actors, Transition]:
        key, action_key, env_key = jax.random.split(actors.key, 3)
        with operation("inference"):
            policy, value = network.apply(params, actors.observation)
            action = env.actions.sample(action_key, policy)
            log_prob = env.actions.log_prob(policy, action)
        with operation("env_step"):
            after = env.step(env_key, actors.env_state, action)
        done = after.terminated | after.truncated
        transition = Transition(
            observation=actors.observation,
            action=action,
            log_prob=log_prob,
            value=value,
            reward=after.reward,
            next_observation=after.next_observation,
            terminated=after.terminated,
            done=done,
        )
        return Actors(after.state, after.observation, actors.returns.add(after.reward, done), key), transition

    return jax.lax.scan(step, actors, length=config.rollout_length)
