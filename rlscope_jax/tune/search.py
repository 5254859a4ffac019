"""One search over one space: ask the algorithm, measure, tell it, until the trials are spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rlscope_jax.tune.searchers import Searcher
from rlscope_jax.tune.space import Candidate
from rlscope_jax.tune.trial import Trial

BATCH = 8
"""Candidates measured between two looks at the model."""


class Measurer(Protocol):
    """Who knows or finds out what candidates take."""

    def measure(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """A trial for each, in order; a failure is a trial too."""

    def remember(self, trial: Trial) -> None:
        """Learn of a trial measured before."""


@dataclass(frozen=True)
class SearchResult:
    """The trials of a search, in order."""

    trials: tuple[Trial, ...]

    @property
    def best(self) -> Trial | None:
        """The fastest; None where all failed."""
        done = [trial for trial in self.trials if trial.error is None]
        return min(done, key=lambda trial: trial.seconds) if done else None

    def best_so_far(self) -> np.ndarray:
        """float64 [trials]: the fastest time up to and with each trial; infinite until one succeeds."""
        return np.minimum.accumulate([trial.seconds for trial in self.trials] or [math.inf])


def search(
    searcher: Searcher,
    measurer: Measurer,
    trials: int,
    batch: int = BATCH,
    on_trials: Callable[[list[Trial]], None] | None = None,
) -> SearchResult:
    """Run a search to its end.

    Args:
        trials: how many candidates are measured, failures included; fewer where the space has no more.
        batch: how many are proposed at a time.
        on_trials: called with the new trials after each batch.
    """
    done: list[Trial] = []
    while len(done) < trials:
        candidates = searcher.propose(min(batch, trials - len(done)))
        if not candidates:
            break
        found = measurer.measure(candidates)
        searcher.observe(candidates, [trial.seconds for trial in found])
        done += found
        if on_trials is not None:
            on_trials(found)
    return SearchResult(tuple(done))
