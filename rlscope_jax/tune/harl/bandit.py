"""A bandit whose arms change their worth: upper confidence bounds over a sliding window (SW-UCB).

Garivier and Moulines, On Upper-Confidence Bound Policies for Non-Stationary Bandit Problems
(arXiv 0805.3415).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

WINDOW = 256
EXPLORATION = 0.25


class SlidingUcb:
    """Which arm next. Ties go to the first arm, so that nothing is random.

    Args:
        arms: how many.
        window: pulls that count; older ones are forgotten.
        exploration: the weight of the bonus, `sqrt(exploration * log(min(t, window)) / pulls)`.
    """

    def __init__(self, arms: int, window: int = WINDOW, exploration: float = EXPLORATION) -> None:
        self._arms, self._exploration = arms, exploration
        self._pulls: deque[tuple[int, float]] = deque(maxlen=window)

    def bounds(self, pending: Sequence[int] = ()) -> np.ndarray:
        """float64 [arms]: mean reward and bonus; infinite for an arm not pulled within the window.

        Args:
            pending: arms pulled whose reward is still unknown: they count as pulls, not as rewards.
        """
        pulls, total = np.zeros(self._arms), np.zeros(self._arms)
        for arm, reward in self._pulls:
            pulls[arm] += 1
            total[arm] += reward
        means = total / np.maximum(pulls, 1)
        for arm in pending:
            pulls[arm] += 1
        bonus = np.sqrt(self._exploration * math.log(max(pulls.sum(), 1)) / np.maximum(pulls, 1))
        return np.where(pulls > 0, means + bonus, np.inf)

    def choose(self, count: int = 1) -> list[int]:
        """The arms of the next `count` pulls, made before any of their rewards is known."""
        chosen: list[int] = []
        for _ in range(count):
            chosen.append(int(np.argmax(self.bounds(chosen))))
        return chosen

    def reward(self, arm: int, reward: float) -> None:
        """What a pull gave, from 0 to 1."""
        self._pulls.append((arm, reward))

    @property
    def rewards(self) -> list[tuple[int, float]]:
        """The window: (arm, reward) of each pull, oldest first."""
        return list(self._pulls)
