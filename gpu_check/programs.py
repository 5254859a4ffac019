"""The programs that are recorded: one PPO update as a single compiled program, and as a Python loop."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ppo.config import PPOConfig
from ppo.environment import Environment
from ppo.gae import estimate_advantages
from ppo.loss import Batch
from ppo.rollout import Actors, Transition, collect
from ppo.train_step import TrainState, make_network, make_train_step
from ppo.update import Learner, update
from rlscope_jax import operation

Step = Callable[[TrainState], tuple[TrainState, Any]]


def make_host_loop(config: PPOConfig, env: Environment) -> Step:
    """The same update with its rollout in Python: one dispatch and one `.item()` an environment step."""
    network = make_network(config, env)
    one_step = config._replace(rollout_length=1)

    @jax.jit
    def act(params: Any, actors: Actors) -> tuple[Actors, Transition]:
        return collect(one_step, env, network, params, actors)

    @jax.jit
    def learn(learner: Learner, transitions: list[Transition]) -> tuple[Learner, jax.Array]:
        rollout = jax.tree.map(lambda *parts: jnp.concatenate(parts), *transitions)
        advantages, value_targets = estimate_advantages(config, network, learner.params, rollout)
        batch = Batch(rollout.observation, rollout.action, rollout.log_prob, advantages, value_targets)
        return update(config, network, env.actions, learner, batch)

    def step(state: TrainState) -> tuple[TrainState, Any]:
        actors, transitions = state.actors, []
        with operation("rollout"):
            for _ in range(config.rollout_length):
                actors, transition = act(state.learner.params, actors)
                transitions.append(transition)
                with operation("log"):
                    transition.reward.sum().item()
        learner, losses = learn(state.learner, transitions)
        return TrainState(learner, actors), losses

    return step


PROGRAMS: dict[str, Callable[[PPOConfig, Environment], Step]] = {
    "compiled": make_train_step,
    "host_loop": make_host_loop,
}
