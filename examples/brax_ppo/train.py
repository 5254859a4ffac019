"""PPO on Brax's inverted pendulum, profiled: `python examples/brax_ppo/train.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # examples/, which holds the shared ppo package

from pendulum import BACKEND, Pendulum
from ppo.config import PPOConfig
from ppo.run import arguments, run

CONFIG = PPOConfig(num_envs=128, rollout_length=32, num_minibatches=8)


def main() -> None:
    """Train the pendulum and profile a few updates."""
    parser = arguments(__doc__, CONFIG, logdir="runs/brax_ppo")
    parser.add_argument("--backend", default=BACKEND, choices=["generalized", "spring", "positional"])
    options = parser.parse_args()
    run(CONFIG, Pendulum(options.backend), options)


if __name__ == "__main__":
    main()
