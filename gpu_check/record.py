"""One variant in a process of its own: `python -m gpu_check.record PROGRAM DIRECTORY [--small]`.

Leaves in DIRECTORY a profile of a few training steps and `run.json`: where it ran, and how long the steps
took with and without the profiler.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax

from gpu_check.cartpole import CartPole
from gpu_check.programs import PROGRAMS, Step
from ppo.config import PPOConfig
from ppo.train_step import TrainState, initial_state
from rlscope_jax import Schedule, profile

CONFIG = PPOConfig(num_envs=64, rollout_length=8, num_epochs=2, num_minibatches=2)
SMALL_CONFIG = PPOConfig(num_envs=4, rollout_length=2, num_epochs=1, num_minibatches=1, hidden_sizes=(8,))
STEPS, PAIRS, SMALL_PAIRS = 2, 7, 1


def main() -> None:
    """Warm up, time, record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--small", action="store_true", help="as little work as shows anything")
    options = parser.parse_args()

    config, env = SMALL_CONFIG if options.small else CONFIG, CartPole()
    step = PROGRAMS[options.program](config, env)
    state, _ = run_steps(step, initial_state(config, env, seed=0))  # compiles
    state, timings = time_pairs(step, state, SMALL_PAIRS if options.small else PAIRS)
    facts = {**where(), "program": options.program, "steps": STEPS, **timings}
    (options.directory / "run.json").write_text(json.dumps(facts, indent=1))
    if not record(step, state, options.directory):
        sys.exit("nothing was recorded: see the warnings above")


def where() -> dict[str, Any]:
    """The machine and the software."""
    device = jax.devices()[0]
    return {
        "platform": "cpu" if device.platform == "cpu" else "gpu",
        "device": device.device_kind,
        "driver": getattr(device.client, "platform_version", None),
        "jax": jax.__version__,
        "python": sys.version.split()[0],
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
    }


def run_steps(step: Step, state: TrainState) -> tuple[TrainState, float]:
    """Run a few steps to their end; returns the seconds of one."""
    started = time.perf_counter()
    for _ in range(STEPS):
        state, _ = step(state)
    jax.block_until_ready(state)
    return state, (time.perf_counter() - started) / STEPS


def time_pairs(step: Step, state: TrainState, pairs: int) -> tuple[TrainState, dict[str, list[float]]]:
    """Time the steps with and without the profiler, in turns: a machine that slows down slows both."""
    unprofiled, profiled = [], []
    for pair in range(pairs + 1):
        state, plain = run_steps(step, state)
        with TemporaryDirectory() as scratch, profile(scratch):
            state, recorded = run_steps(step, state)
        if pair:  # a process's first capture costs more than those that follow
            unprofiled.append(plain)
            profiled.append(recorded)
    return state, {"unprofiled_s": unprofiled, "profiled_s": profiled}


def record(step: Step, state: TrainState, logdir: Path) -> list[Path]:
    """Record a window as docs/record.md shows it; returns the profiles written."""
    with profile(logdir, Schedule(warmup=1, active=STEPS, repeat=1)) as profiler:
        for _ in range(1 + STEPS):
            state, metrics = step(state)
            profiler.step(metrics)
    return profiler.sessions


if __name__ == "__main__":
    main()
