"""PPO as PureJaxRL writes it: nested closures in `make_train`, one jit around it all, no annotation anywhere.

The network is a plain MLP and the environment a pendulum to be kept upright, so that it needs only jax.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

OBSERVATION, ACTIONS, HIDDEN = 3, 3, 32


class Transition(NamedTuple):
    done: jax.Array
    action: jax.Array
    value: jax.Array
    reward: jax.Array
    log_prob: jax.Array
    obs: jax.Array


def env_reset(key):
    angle = jax.random.uniform(key, (), minval=-0.5, maxval=0.5)
    return jnp.stack([angle, 0.0, 0.0])


def env_step(key, state, action):
    angle, speed, time = state
    speed = speed + 0.05 * (9.8 * jnp.sin(angle) + 4.0 * (action - 1.0))
    angle = angle + 0.05 * speed
    done = (jnp.abs(angle) > 1.0) | (time > 100)
    state = jnp.where(done, env_reset(key), jnp.stack([angle, speed, time + 1]))
    return state, jnp.cos(angle), done


def network(params, obs):
    hidden = obs
    for weights, bias in params[:2]:
        hidden = jnp.tanh(hidden @ weights + bias)
    (actor, actor_bias), (critic, critic_bias) = params[2:]
    return hidden @ actor + actor_bias, (hidden @ critic + critic_bias)[..., 0]


def init_network(key):
    sizes = ((OBSERVATION, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, ACTIONS), (HIDDEN, 1))
    keys = jax.random.split(key, len(sizes))
    return [
        (jax.random.normal(k, size) * 0.3, jnp.zeros(size[1])) for k, size in zip(keys, sizes, strict=True)
    ]


def make_train(num_envs=16, num_steps=32, num_updates=10, epochs=2, minbatches=4, learning_rate=3e-3):
    def train(key):
        key, key_init, key_env = jax.random.split(key, 3)
        params = init_network(key_init)
        env_state = jax.vmap(env_reset)(jax.random.split(key_env, num_envs))

        def _update_step(runner_state, _):
            def _env_step(runner_state, _):
                params, state, key = runner_state
                key, key_action, key_env = jax.random.split(key, 3)
                logits, value = network(params, state)
                action = jax.random.categorical(key_action, logits)
                log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=1)[:, 0]
                keys = jax.random.split(key_env, num_envs)
                next_state, reward, done = jax.vmap(env_step)(keys, state, action)
                return (params, next_state, key), Transition(done, action, value, reward, log_prob, state)

            runner_state, trajectory = jax.lax.scan(_env_step, runner_state, None, num_steps)
            params, state, key = runner_state
            _, last_value = network(params, state)

            def _calculate_gae(trajectory, last_value):
                def _get_advantages(carry, transition):
                    gae, next_value = carry
                    alive = 1.0 - transition.done
                    delta = transition.reward + 0.99 * next_value * alive - transition.value
                    gae = delta + 0.99 * 0.95 * alive * gae
                    return (gae, transition.value), gae

                start = (jnp.zeros_like(last_value), last_value)
                _, advantages = jax.lax.scan(_get_advantages, start, trajectory, reverse=True, unroll=16)
                return advantages, advantages + trajectory.value

            advantages, targets = _calculate_gae(trajectory, last_value)

            def _update_epoch(update_state, _):
                def _update_minbatch(params, batch):
                    def _loss_fn(params, trajectory, advantages, targets):
                        logits, value = network(params, trajectory.obs)
                        log_probs = jax.nn.log_softmax(logits)
                        log_prob = jnp.take_along_axis(log_probs, trajectory.action[:, None], axis=1)[:, 0]
                        ratio = jnp.exp(log_prob - trajectory.log_prob)
                        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                        clipped = jnp.clip(ratio, 0.8, 1.2) * advantages
                        actor_loss = -jnp.minimum(ratio * advantages, clipped).mean()
                        entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
                        return actor_loss + 0.5 * jnp.square(value - targets).mean() - 0.01 * entropy

                    loss, gradients = jax.value_and_grad(_loss_fn)(params, *batch)
                    return jax.tree.map(lambda p, g: p - learning_rate * g, params, gradients), loss

                params, key = update_state
                key, key_shuffle = jax.random.split(key)
                size = num_envs * num_steps
                order = jax.random.permutation(key_shuffle, size)

                def shuffled(x):
                    flat = x.reshape((size, *x.shape[2:]))[order]
                    return flat.reshape((minbatches, size // minbatches, *x.shape[2:]))

                batches = jax.tree.map(shuffled, (trajectory, advantages, targets))
                params, losses = jax.lax.scan(_update_minbatch, params, batches)
                return (params, key), losses

            (params, key), losses = jax.lax.scan(_update_epoch, (params, key), None, epochs)
            return (params, state, key), (trajectory.reward.mean(), losses.mean())

        runner_state, metrics = jax.lax.scan(_update_step, (params, env_state, key), None, num_updates)
        return runner_state[0], metrics

    return train
