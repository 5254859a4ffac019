"""Many tracks through a space at once, candidates that the policy moves step by step, in one program.

A track is worth going on with while the critic expects more of it. Every few steps those with the lowest
advantage are stopped; each goes on as a new track from the next of the spare starts, so that the shapes stay.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from rlscope_jax.annotate import operation
from rlscope_jax.tune.cost_model import _apply as member
from rlscope_jax.tune.harl import actor_critic
from rlscope_jax.tune.harl.actor_critic import DISCOUNT, Agent, Moves
from rlscope_jax.tune.harl.arrays import SpaceArrays, features_of, moves_of, slots_of

LEAST = 0.05
"""A score below this counts as this, where one is divided by it."""


class Walk(NamedTuple):
    """Where P tracks of T steps came: the T + 1 points of each.

    Args:
        sketch: int32 [T + 1, P]. levels: int32 [T + 1, P, W].
        scores: float32 [T + 1, P, members]: predicted by each member of the cost model.
        entropy: of the policy, mean over moves, nats.
    """

    sketch: jax.Array
    levels: jax.Array
    scores: jax.Array
    entropy: jax.Array


class _State(NamedTuple):
    sketch: jax.Array
    levels: jax.Array
    slots: jax.Array
    allowed: jax.Array
    scores: jax.Array
    log_chances: jax.Array
    value: jax.Array


class Plan(NamedTuple):
    """How tracks are walked; a constant of the program.

    Args:
        steps: of each.
        every: steps between two looks at who is stopped; 0: nobody is.
        stopped: the share that is.
    """

    steps: int = 24
    every: int = 6
    stopped: float = 0.5


@partial(jax.jit, static_argnames="plan")
def walk(
    agent: Agent,
    cost: Any,
    arrays: SpaceArrays,
    starts: tuple[jax.Array, jax.Array],
    key: jax.Array,
    plan: Plan,
) -> tuple[Agent, Walk]:
    """Walk, then learn from it.

    Args:
        cost: `CostModel.params`.
        starts: sketch int32 [R, P], levels int32 [R, P, W]: the first row is where tracks begin, the others
            are spare; R is at least 1 + steps / every.
    """
    sketches, levels = starts
    arrays = SpaceArrays(*(jnp.asarray(array) for array in arrays))

    def arrive(sketch: jax.Array, levels: jax.Array) -> _State:
        slots, allowed = slots_of(arrays, sketch, levels), moves_of(arrays, sketch, levels)
        with operation("cost_predict"):
            scores = jax.vmap(member, in_axes=(0, None))(cost, features_of(arrays, sketch, levels)).T
        with operation("actor_inference"):
            chances, value = actor_critic.look(agent.params, slots, scores.mean(axis=1), allowed)
        return _State(sketch, levels, slots, allowed, scores, chances, value)

    def step(carry: tuple[_State, jax.Array], inputs: tuple[jax.Array, jax.Array]) -> Any:
        (state, worth), (key, number) = carry, inputs
        action = jax.random.categorical(key, state.log_chances)
        width = state.levels.shape[1]
        change = jax.nn.one_hot(action, 2 * width + 1, dtype=jnp.int32)
        after = arrive(state.sketch, state.levels + change[:, width : 2 * width] - change[:, :width])
        before, now = state.scores.mean(axis=1), after.scores.mean(axis=1)
        reward = jnp.clip((now - before) / jnp.maximum(before, LEAST), -1, 1)
        outcome = reward + DISCOUNT * after.value
        advantage = outcome - state.value
        worth = worth + advantage
        chance = jnp.take_along_axis(state.log_chances, action[:, None], axis=1)[:, 0]
        move = Moves(state.slots, before, state.allowed, action, chance, advantage, outcome)
        following = after
        if plan.every:
            look = (number + 1) % plan.every == 0
            order = jnp.argsort(jnp.argsort(worth))
            stop = look & (order < int(plan.stopped * len(worth)))
            row = (number + 1) // plan.every
            sketch = jnp.where(stop, sketches[row], after.sketch)
            places = jnp.where(stop[:, None], levels[row], after.levels)
            following = jax.lax.cond(look, lambda: arrive(sketch, places), lambda: after)
            worth = jnp.where(look, 0, worth)
        return (following, worth), (move, after, following)

    first = arrive(sketches[0], levels[0])
    inputs = (jax.random.split(key, plan.steps), jnp.arange(plan.steps))
    _, (moves, after, _) = jax.lax.scan(step, (first, jnp.zeros(len(first.value))), inputs)
    moves = jax.tree.map(lambda array: array.reshape(-1, *array.shape[2:]), moves)
    with operation("ppo_update"):
        learned, entropy = actor_critic.update(agent, moves)

    def points(one: jax.Array, more: jax.Array) -> jax.Array:
        return jnp.concatenate([one[None], more])

    came = Walk(
        points(first.sketch, after.sketch),
        points(first.levels, after.levels),
        points(first.scores, after.scores),
        entropy,
    )
    return learned, came
