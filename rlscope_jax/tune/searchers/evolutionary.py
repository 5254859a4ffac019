"""Evolutionary search after Ansor (arXiv 2006.06762): a population evolved on a learned cost model.

The constants are the defaults of TVM's auto-scheduler (SketchPolicy), where there are such: population,
generations, probability of mutation, share of random candidates, share of the population that starts from
measured ones. The sketch of a new individual is drawn uniformly, as there. Crossover is uniform over the
parameters of one sketch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlscope_jax.tune.cost_model import CostModel, throughput
from rlscope_jax.tune.searchers.random import fresh
from rlscope_jax.tune.space import Candidate, Space

POPULATION = 2048
GENERATIONS = 4
MUTATION = 0.85
"""Probability that a child is a mutation of one parent; else it is a cross of two."""
EPSILON = 0.05
"""Share of a batch drawn at random."""
MEASURED = 0.2
"""Share of the first generation taken from the best measured."""


class EvolutionarySearcher:
    """See the module.

    Args:
        population, generations, mutation, epsilon, measured: see the constants.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        population: int = POPULATION,
        generations: int = GENERATIONS,
        mutation: float = MUTATION,
        epsilon: float = EPSILON,
        measured: float = MEASURED,
    ) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._model = CostModel(space.features, seed)
        self._population, self._generations = population, generations
        self._mutation, self._epsilon, self._measured = mutation, epsilon, measured
        self._seen: set[Candidate] = set()
        self._times: dict[Candidate, float] = {}

    def propose(self, count: int) -> list[Candidate]:
        """The best predicted of all generations, with a few random ones; all random at first."""
        drawn = int(self._rng.binomial(count, self._epsilon)) if self._model.fitted else count
        found: list[Candidate] = []
        if drawn < count:
            found = [candidate for candidate in self._evolve() if candidate not in self._seen][
                : count - drawn
            ]
        found += fresh(self._space, self._rng, self._seen | set(found), count - len(found))
        self._seen.update(found)
        return found

    def observe(self, candidates: Sequence[Candidate], seconds: Sequence[float]) -> None:
        """Fit the cost model on all trials so far."""
        self._seen.update(candidates)
        self._times.update(zip(candidates, seconds, strict=True))
        if self._times:
            self._model.fit(self._space.encode(self._times), throughput(list(self._times.values())))

    def _evolve(self) -> list[Candidate]:
        """All individuals of all generations, best predicted first."""
        best = sorted(
            (c for c, time in self._times.items() if np.isfinite(time)), key=self._times.__getitem__
        )
        population = best[: int(self._measured * self._population)]
        population += [self._space.sample(self._rng) for _ in range(self._population - len(population))]
        scores: dict[Candidate, float] = {}
        for generation in range(self._generations + 1):
            predicted = self._model.predict(self._space.encode(population))
            scores.update(zip(population, predicted.tolist(), strict=True))
            if generation < self._generations:
                population = self._next(population, predicted)
        return sorted(scores, key=lambda candidate: -scores[candidate])

    def _next(self, population: list[Candidate], scores: np.ndarray) -> list[Candidate]:
        chance = np.maximum(scores.astype(np.float64), 1e-6)
        chance /= chance.sum()
        parents = self._rng.choice(len(population), (len(population), 2), p=chance)
        mutates = self._rng.random(len(population)) < self._mutation
        return [
            self._space.mutate(population[one], self._rng)
            if mutate
            else self._space.cross(population[one], population[other], self._rng)
            for (one, other), mutate in zip(parents.tolist(), mutates.tolist(), strict=True)
        ]
