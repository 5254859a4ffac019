"""Random search: sketches uniformly, points of a sketch uniformly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlscope_jax.tune.space import Candidate, Space


class RandomSearcher:
    """See the module."""

    def __init__(self, space: Space, seed: int = 0) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._seen: set[Candidate] = set()

    def propose(self, count: int) -> list[Candidate]:
        """Points not seen before."""
        found = fresh(self._space, self._rng, self._seen, count)
        self._seen.update(found)
        return found

    def observe(self, candidates: Sequence[Candidate], seconds: Sequence[float]) -> None:
        """Only remembers what was tried."""
        self._seen.update(candidates)


def fresh(
    space: Space, rng: np.random.Generator, seen: set[Candidate], count: int, draws: int = 200
) -> list[Candidate]:
    """`count` random candidates not in `seen`; fewer if so many draws for one of them find none new."""
    found: list[Candidate] = []
    taken: set[Candidate] = set()
    for _ in range(count):
        for _ in range(draws):
            candidate = space.sample(rng)
            if candidate not in seen and candidate not in taken:
                found.append(candidate)
                taken.add(candidate)
                break
    return found
