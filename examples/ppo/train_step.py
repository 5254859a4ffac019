"""One PPO update as a single compiled program."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from ppo.config import PPOConfig
from ppo.environment import Environment
from ppo.episodes import EpisodeReturns
from ppo.gae import estimate_advantages
from ppo.loss import Batch
from ppo.network import ActorCritic
from ppo.rollout import Actors, collect
from ppo.update import Learner, make_optimizer, update
from rlscope_jax import operation


class TrainState(NamedTuple):
    """Everything one update hands to the next."""

    learner: Learner
    actors: Actors


class Metrics(NamedTuple):
    """What an update reports."""

    mean_return: jax.Array
    """Over the environments, each counting its last finished episode."""
    loss: jax.Array


TrainStep = Callable[[TrainState], tuple[TrainState, Metrics]]


def make_network(config: PPOConfig, env: Environment) -> ActorCritic:
    """The actor-critic that fits the environment."""
    return ActorCritic(env.actions.num_parameters, config.hidden_sizes)


def initial_state(config: PPOConfig, env: Environment, seed: int) -> TrainState:
    """Return fresh parameters and freshly reset environments."""

    @jax.jit
    def initialise(key: jax.Array) -> TrainState:
        network_key, reset_key, learner_key, actor_key = jax.random.split(key, 4)
        env_state, observation = env.reset(reset_key, config.num_envs)
        params = make_network(config, env).init(network_key, observation)
        learner = Learner(params, make_optimizer(config).init(params), learner_key)
        return TrainState(
            learner, Actors(env_state, observation, EpisodeReturns.zeros(config.num_envs), actor_key)
        )

    return initialise(jax.random.key(seed))


def make_train_step(config: PPOConfig, env: Environment) -> TrainStep:
    """Return the jitted update. It donates its state, so the caller must keep only the returned one."""
    network = make_network(config, env)

    def train_step(state: TrainState) -> tuple[TrainState, Metrics]:
        params = state.learner.params
        actors, rollout = collect(config, env, network, params, state.actors)
        advantages, value_targets = estimate_advantages(config, network, params, rollout)
        batch = Batch(rollout.observation, rollout.action, rollout.log_prob, advantages, value_targets)
        learner, losses = update(config, network, env.actions, state.learner, batch)
        with operation("metrics"):
            metrics = Metrics(jnp.mean(actors.returns.finished), jnp.mean(losses))
        return TrainState(learner, actors), metrics

    return jax.jit(train_step, donate_argnums=0)
