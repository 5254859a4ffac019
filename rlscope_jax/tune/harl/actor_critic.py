"""The policy that moves a candidate, and the value it expects: one small network over any task's parameters.

Each parameter is seen through the same weights (with what all of them say together), so the network asks
nothing of how many there are, and may be carried over to another task. Needs flax and optax (extra `tune`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

HIDDEN = 64
RATE = 1e-3
CLIP = 0.2
EPOCHS = 4
ENTROPY = 0.01
VALUE = 0.5
DISCOUNT = 0.9


class ActorCritic(nn.Module):
    """slots: float32 [n, W, SLOT]; score: float32 [n]. Gives moves' logits [n, 2 W + 1], values [n]."""

    @nn.compact
    def __call__(self, slots: jax.Array, score: jax.Array) -> tuple[jax.Array, jax.Array]:
        there = slots[..., -1:]
        seen = nn.relu(nn.Dense(HIDDEN)(slots)) * there
        together = jnp.concatenate([seen.sum(axis=1), score[:, None]], axis=1)
        together = nn.relu(nn.Dense(HIDDEN)(together))
        every = jnp.broadcast_to(together[:, None], (*slots.shape[:2], HIDDEN))
        each = nn.relu(nn.Dense(HIDDEN)(jnp.concatenate([slots, every], axis=-1)))
        small = nn.initializers.normal(0.01)
        steps = nn.Dense(2, kernel_init=small)(each)
        stay = nn.Dense(1, kernel_init=small)(together)
        value = nn.Dense(1)(together)[:, 0]
        return jnp.concatenate([steps[..., 0], steps[..., 1], stay], axis=1), value


class Agent(NamedTuple):
    """What learns: the weights, and the optimizer's state."""

    params: Any
    optimizer: Any


class Moves(NamedTuple):
    """n moves that were made, with what the policy knew: the batch of an update."""

    slots: jax.Array
    score: jax.Array
    allowed: jax.Array
    action: jax.Array
    log_chance: jax.Array
    advantage: jax.Array
    outcome: jax.Array
    """reward + discounted value of the next state"""


def make_agent(key: jax.Array, slot: int) -> Agent:
    """An untrained agent. slot: what is seen of one parameter (`arrays.SLOT`)."""
    params = ActorCritic().init(key, jnp.zeros((1, 2, slot)), jnp.zeros(1))
    return Agent(params, OPTIMIZER.init(params))


OPTIMIZER = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(RATE))


def look(params: Any, slots: jax.Array, score: jax.Array, allowed: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Log-chances of moves [n, 2 W + 1], those not allowed at minus infinity (nearly); values [n]."""
    found: Any = ActorCritic().apply(params, slots, score)
    logits, value = found
    return jax.nn.log_softmax(jnp.where(allowed, logits, -1e9)), value


def update(agent: Agent, moves: Moves) -> tuple[Agent, jax.Array]:
    """Some epochs of PPO's clipped objective (arXiv 1707.06347) on all moves; the policy's entropy."""
    spread = moves.advantage.std() + 1e-6
    advantage = (moves.advantage - moves.advantage.mean()) / spread

    def loss(params: Any) -> tuple[jax.Array, jax.Array]:
        chances, value = look(params, moves.slots, moves.score, moves.allowed)
        mine = jnp.take_along_axis(chances, moves.action[:, None], axis=1)[:, 0]
        ratio = jnp.exp(mine - moves.log_chance)
        gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage).mean()
        entropy = -jnp.where(moves.allowed, jnp.exp(chances) * chances, 0).sum(axis=1).mean()
        miss = ((value - moves.outcome) ** 2).mean()
        return VALUE * miss - gain - ENTROPY * entropy, entropy

    def epoch(agent: Agent, _: Any) -> tuple[Agent, jax.Array]:
        gradient, entropy = jax.grad(loss, has_aux=True)(agent.params)
        updates, state = OPTIMIZER.update(gradient, agent.optimizer)
        return Agent(optax.apply_updates(agent.params, updates), state), entropy

    agent, entropies = jax.lax.scan(epoch, agent, None, length=EPOCHS)
    return agent, entropies[0]
