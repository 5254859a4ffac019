"""Several tasks share one budget of trials: a bandit gives each batch to the task that saves most.

What is minimized is the sum over tasks of weight times (best time over the reference's time). With weights in
seconds per step (`tasks_from_report`) that sum is the predicted seconds per step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rlscope_jax.tune.harl.bandit import SlidingUcb
from rlscope_jax.tune.search import BATCH, Measurer
from rlscope_jax.tune.searchers import Searcher
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.trial import Trial

WINDOW = 32
"""Batches that the bandit over tasks remembers."""


@dataclass
class TaskSearch:
    """One task on its way.

    Args:
        reference_seconds: one call of the reference.
        ended: its space has no more candidates.
    """

    task: TuneTask
    searcher: Searcher
    measurer: Measurer
    reference_seconds: float
    trials: list[Trial] = field(default_factory=list)
    ended: bool = False

    @property
    def ratio(self) -> float:
        """The best time over the reference's, at most 1: the reference can always be used."""
        return min([1.0, *(trial.seconds / self.reference_seconds for trial in self.trials)])

    @property
    def cost(self) -> float:
        """Weight times ratio."""
        return self.task.weight * self.ratio

    def step(self, count: int) -> list[Trial]:
        """Propose, measure, observe; the new trials, none at the end of the space."""
        candidates = self.searcher.propose(count)
        self.ended = len(candidates) < count
        found: list[Trial] = []
        for candidate in candidates:  # one by one, so that an interrupt loses one trial, not a batch
            found += self.measurer.measure([candidate])
            self.trials.append(found[-1])
        self.searcher.observe(candidates, [trial.seconds for trial in found])
        return found


def share_trials(
    searches: Sequence[TaskSearch],
    trials: int,
    batch: int = BATCH,
    carry: bool = True,
    on_trials: Callable[[TaskSearch, list[Trial]], None] | None = None,
) -> None:
    """Spend `trials` in all. The reward of a batch is the decrease of the sum, over the largest seen so far.

    Args:
        carry: whether one policy (of searchers that have one) goes from task to task.
        on_trials: called with the new trials after each batch.
    """
    arms, largest, agent = SlidingUcb(len(searches), WINDOW), 0.0, None
    while trials > 0 and not all(search.ended for search in searches):
        bounds = arms.bounds()
        arm = max(
            (number for number, search in enumerate(searches) if not search.ended), key=bounds.__getitem__
        )
        search, before = searches[arm], searches[arm].cost
        if carry and agent is not None and hasattr(search.searcher, "agent"):
            search.searcher.agent = agent
        found = search.step(min(batch, trials))
        agent = getattr(search.searcher, "agent", agent)
        largest = max(largest, before - search.cost)
        arms.reward(arm, (before - search.cost) / largest if largest else 0.0)
        trials -= len(found)
        if on_trials is not None:
            on_trials(search, found)
