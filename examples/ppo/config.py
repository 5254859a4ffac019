"""Hyperparameters of PPO."""

from typing import NamedTuple


class PPOConfig(NamedTuple):
    """One update collects `num_envs * rollout_length` transitions and passes over them `num_epochs` times."""

    num_updates: int = 60
    num_envs: int = 64
    rollout_length: int = 32
    num_epochs: int = 4
    num_minibatches: int = 4
    learning_rate: float = 1e-3
    discount: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.001
    max_grad_norm: float = 0.5
    hidden_sizes: tuple[int, ...] = (64, 64)

    @property
    def transitions_per_update(self) -> int:
        """Environment steps in one update."""
        return self.num_envs * self.rollout_length
