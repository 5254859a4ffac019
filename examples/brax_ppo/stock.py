"""Brax's own PPO, its environment and networks annotated: `python examples/brax_ppo/stock.py`."""

import argparse
from dataclasses import replace
from typing import Any

import jax
from brax import envs
from brax.training.agents.ppo.networks import PPONetworks, make_ppo_networks
from brax.training.agents.ppo.train import train

from rlscope_jax import Schedule, operation, profile
from rlscope_jax.annotate.auto.brax import restore_device_put_replicated

# Brax trains in epochs, each one compiled program, and evaluates after each. An epoch and its evaluation
# are one step here; step 0 is the setup and the first evaluation. Brax compiles the evaluation in steps 0
# and 1 and the epoch in steps 1 and 2 (google/brax#674), so step 3 is the first one that only runs.
WARM = Schedule(skip_first=3, active=1, repeat=1)


class AnnotatedEnv(envs.Wrapper):
    """A Brax environment whose reset and step are operations."""

    @operation("env_reset")
    def reset(self, rng: jax.Array) -> envs.State:
        """Reset every environment."""
        return self.env.reset(rng)

    @operation("env_step")
    def step(self, state: envs.State, action: jax.Array) -> envs.State:
        """Step every environment."""
        return self.env.step(state, action)


def wrap_env(env: envs.Env, **options: Any) -> envs.Env:
    """Brax's training wrappers with ours outermost, so that batching and auto-reset count as env_step."""
    return AnnotatedEnv(envs.training.wrap(env, **options))


def annotated_networks(*args: Any, **options: Any) -> PPONetworks:
    """Brax's networks, smaller than its defaults; both forward passes are operations."""
    networks = make_ppo_networks(
        *args, policy_hidden_layer_sizes=(32, 32), value_hidden_layer_sizes=(64, 64), **options
    )
    policy, value = networks.policy_network, networks.value_network
    return networks.replace(
        policy_network=replace(policy, apply=operation("policy_network")(policy.apply)),
        value_network=replace(value, apply=operation("value_network")(value.apply)),
    )


def main() -> None:
    """Train the pendulum with Brax's PPO and profile one warm epoch and its evaluation."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--logdir", default="runs/brax_stock", help="where the profile is written")
    parser.add_argument("--epochs", type=int, default=10, help="training epochs; the third is profiled")
    parser.add_argument("--steps-per-epoch", type=int, default=32_768, help="environment steps in an epoch")
    parser.add_argument("--num-envs", type=int, default=512)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    restore_device_put_replicated()
    with profile(options.logdir, schedule=WARM) as profiler:

        def progress(step: int, metrics: dict[str, Any]) -> None:
            """Called by Brax after each evaluation, with nothing left running: where a step ends."""
            print(f"step {step:8,d}   mean return {metrics['eval/episode_reward']:7.1f}", flush=True)
            profiler.step()

        train(
            environment=envs.get_environment("inverted_pendulum", backend="spring"),
            wrap_env_fn=wrap_env,
            network_factory=annotated_networks,
            progress_fn=progress,
            num_timesteps=options.epochs * options.steps_per_epoch,
            num_evals=options.epochs + 1,
            num_envs=options.num_envs,
            num_eval_envs=128,
            episode_length=100,
            unroll_length=16,
            batch_size=128,
            num_minibatches=16,
            num_updates_per_batch=4,
            learning_rate=1e-3,
            discounting=0.97,
            seed=options.seed,
        )
    print(f"profile written to {options.logdir}; read it with: rlscope-jax report {options.logdir}")


if __name__ == "__main__":
    main()
