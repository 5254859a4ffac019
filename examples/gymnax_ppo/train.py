"""PPO on gymnax CartPole-v1, profiled: `python examples/gymnax_ppo/train.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # examples/, which holds the shared ppo package

from cartpole import CartPole
from ppo.config import PPOConfig
from ppo.run import arguments, run

CONFIG = PPOConfig(num_envs=128, rollout_length=64, num_minibatches=8)


def main() -> None:
    """Train CartPole and profile a few updates."""
    run(CONFIG, CartPole(), arguments(__doc__, CONFIG, logdir="runs/gymnax_ppo").parse_args())


if __name__ == "__main__":
    main()
