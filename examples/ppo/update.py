"""Improve the policy on one rollout: epochs of shuffled minibatches."""

from typing import Any, NamedTuple

import jax
import optax

from ppo.config import PPOConfig
from ppo.distributions import ActionDistribution
from ppo.loss import Batch, ppo_loss
from ppo.network import ActorCritic
from rlscope_jax import operation


class Learner(NamedTuple):
    """What learning changes."""

    params: Any
    opt_state: optax.OptState
    key: jax.Array


def make_optimizer(config: PPOConfig) -> optax.GradientTransformation:
    """Adam behind a bound on the gradient's norm."""
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(config.learning_rate))


@operation("update")
def update(
    config: PPOConfig, network: ActorCritic, actions: ActionDistribution, learner: Learner, batch: Batch
) -> tuple[Learner, jax.Array]:
    """Return the improved learner and the loss of each minibatch, shaped (epoch, minibatch)."""
    optimizer = make_optimizer(config)

    def minibatch_step(learner: Learner, minibatch: Batch) -> tuple[Learner, jax.Array]:
        loss, grads = jax.value_and_grad(ppo_loss)(learner.params, config, network, actions, minibatch)
        with operation("optimizer"):
            updates, opt_state = optimizer.update(grads, learner.opt_state, learner.params)
            params = optax.apply_updates(learner.params, updates)
        return learner._replace(params=params, opt_state=opt_state), loss

    def epoch(learner: Learner, _) -> tuple[Learner, jax.Array]:
        key, shuffle_key = jax.random.split(learner.key)
        minibatches = shuffle(shuffle_key, batch, config.num_minibatches)
        return jax.lax.scan(minibatch_step, learner._replace(key=key), minibatches)

    return jax.lax.scan(epoch, learner, length=config.num_epochs)


@operation("shuffle")
def shuffle(key: jax.Array, batch: Batch, num_minibatches: int) -> Batch:
    """Permute the batch (time, environment) and cut it into minibatches (minibatch, sample)."""
    time, num_envs = batch.advantage.shape
    order = jax.random.permutation(key, time * num_envs).reshape(num_minibatches, -1)
    return jax.tree.map(lambda x: x.reshape(time * num_envs, *x.shape[2:])[order], batch)
