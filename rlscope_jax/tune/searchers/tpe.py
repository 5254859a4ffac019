"""The tree-structured Parzen estimator of Optuna: a general-purpose baseline (extra `tune`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlscope_jax.tune.errors import need
from rlscope_jax.tune.searchers.random import fresh
from rlscope_jax.tune.space import Candidate, Space

ASKS = 10
"""How often Optuna is asked for one candidate that is valid and new; after that it is drawn at random."""


class TpeSearcher:
    """Levels are integers to Optuna, the sketch is a category, and a sketch's parameters hang on it."""

    def __init__(self, space: Space, seed: int = 0) -> None:
        self._optuna = need("optuna", "tune")
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        self._space = space
        self._rng = np.random.default_rng(seed)
        sampler = self._optuna.samplers.TPESampler(seed=seed, n_startup_trials=10)
        self._study = self._optuna.create_study(sampler=sampler)
        self._open: dict[Candidate, Any] = {}  # proposed, not observed
        self._known: dict[Candidate, float] = {}

    def propose(self, count: int) -> list[Candidate]:
        """Ask Optuna; it hears at once of points that are invalid, or known already."""
        found: list[Candidate] = []
        for _ in range(count):
            for _ in range(ASKS):
                trial = self._study.ask()
                candidate = self._suggest(trial)
                if not self._space.is_valid(candidate) or candidate in self._open:
                    self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                elif candidate in self._known:
                    self._tell(trial, self._known[candidate])
                else:
                    self._open[candidate] = trial
                    found.append(candidate)
                    break
            else:
                for candidate in fresh(self._space, self._rng, {*self._known, *self._open}, 1):
                    self._open[candidate] = None
                    found.append(candidate)
        return found

    def observe(self, candidates: Sequence[Candidate], seconds: Sequence[float]) -> None:
        """Tell Optuna the logarithms of the times."""
        for candidate, time in zip(candidates, seconds, strict=True):
            self._known[candidate] = time
            trial = self._open.pop(candidate, None)
            if trial is not None:
                self._tell(trial, time)
            else:
                self._add(candidate, time)

    def _suggest(self, trial: Any) -> Candidate:
        sketch = trial.suggest_categorical("sketch", list(self._space.names))
        params = self._space.params(sketch)
        return Candidate(
            sketch, tuple(trial.suggest_int(f"{sketch}/{p.name}", 0, len(p.values) - 1) for p in params)
        )

    def _tell(self, trial: Any, time: float) -> None:
        if math.isfinite(time):
            self._study.tell(trial, math.log(time))
        else:
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)

    def _add(self, candidate: Candidate, time: float) -> None:
        """A point that Optuna did not propose."""
        if not math.isfinite(time):
            return
        distributions: dict[str, Any] = {
            "sketch": self._optuna.distributions.CategoricalDistribution(list(self._space.names))
        }
        values: dict[str, Any] = {"sketch": candidate.sketch}
        for param, level in zip(self._space.params(candidate.sketch), candidate.levels, strict=True):
            name = f"{candidate.sketch}/{param.name}"
            distributions[name] = self._optuna.distributions.IntDistribution(0, len(param.values) - 1)
            values[name] = level
        self._study.add_trial(
            self._optuna.trial.create_trial(params=values, distributions=distributions, value=math.log(time))
        )
