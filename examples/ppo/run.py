"""The training loop of the examples: update, report progress, profile a few warm updates."""

import argparse
import time

from ppo.config import PPOConfig
from ppo.environment import Environment
from ppo.train_step import Metrics, initial_state, make_train_step
from rlscope_jax import Schedule, operation, profile


def arguments(description: str, config: PPOConfig, logdir: str) -> argparse.ArgumentParser:
    """Return the command line every example shares, with this example's defaults."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--logdir", default=logdir, help="where the profile is written")
    parser.add_argument("--updates", type=int, default=config.num_updates, help="PPO updates to run")
    parser.add_argument("--num-envs", type=int, default=config.num_envs)
    parser.add_argument("--rollout-length", type=int, default=config.rollout_length)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print-every", type=int, default=10, help="updates between two lines of progress")
    parser.add_argument("--profile-after", type=int, default=9, help="updates before the profiled ones")
    parser.add_argument("--profile-updates", type=int, default=2, help="updates to profile")
    return parser


def run(config: PPOConfig, env: Environment, options: argparse.Namespace) -> None:
    """Train and profile as the command line says."""
    config = config._replace(
        num_updates=options.updates, num_envs=options.num_envs, rollout_length=options.rollout_length
    )
    train_step = make_train_step(config, env)
    state = initial_state(config, env, options.seed)
    progress = Progress(options.print_every, config.transitions_per_update)
    schedule = Schedule(skip_first=options.profile_after, active=options.profile_updates, repeat=1)
    with profile(options.logdir, schedule=schedule) as profiler:
        for update in range(1, config.num_updates + 1):
            state, metrics = train_step(state)
            progress.show(update, metrics)
            profiler.step(metrics)
    if profiler.sessions:
        print(f"profile written to {options.logdir}; read it with: rlscope-jax report {options.logdir}")
    else:
        print(f"no profile: training ended before update {options.profile_after + 1}")


class Progress:
    """Prints a line after the first update, which compiles, and then every few updates."""

    def __init__(self, every: int, transitions_per_update: int):
        self.every = every
        self.transitions_per_update = transitions_per_update
        self.last_update = 0
        self.last_time = time.perf_counter()

    @operation("log")
    def show(self, update: int, metrics: Metrics) -> None:
        """Print the progress when it is due; only then wait for the device."""
        if update > 1 and update % self.every:
            return
        mean_return = float(metrics.mean_return)
        now = time.perf_counter()
        seconds = now - self.last_time
        transitions = (update - self.last_update) * self.transitions_per_update
        pace = f"compiled in {seconds:.1f} s" if update == 1 else f"{transitions / seconds:,.0f} steps/s"
        print(f"update {update:4d}   {pace:>18}   mean return {mean_return:6.1f}", flush=True)
        self.last_update, self.last_time = update, now
