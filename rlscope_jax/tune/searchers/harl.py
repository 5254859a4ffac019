"""Hierarchical adaptive search after HARL (arXiv 2211.11172, of which only the abstract was read).

A bandit says through which sketches many tracks are to go. A policy, trained by PPO on what the cost model
predicts, moves them step by step; tracks that the critic expects nothing of are stopped. Of all points the
tracks came by, the best by the cost model are measured. Needs flax and optax (extra `tune`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from rlscope_jax.annotate import operation
from rlscope_jax.tune.cost_model import CostModel
from rlscope_jax.tune.errors import need
from rlscope_jax.tune.harl.arrays import SLOT, arrays_of
from rlscope_jax.tune.harl.bandit import SlidingUcb
from rlscope_jax.tune.searchers.random import fresh
from rlscope_jax.tune.space import Candidate, Space

TRACKS = 128
STEPS = 24
EVERY = 6
EPSILON = 0.05
"""Share of a batch drawn at random."""
BEST = 0.5
"""Share of tracks that begin at the best measured points of their sketch; the others anywhere."""
SPAN = 8.0
"""The cost model's target falls from 1, the best time, by the logarithm, to 0 at this many times as much."""
ALONE = 0.5
"""Share of candidates that one member of the cost model chooses alone, another one each time; the others are
chosen by the members' mean. Where members disagree the model does not know yet (Thompson sampling)."""
EXPLORATION = 0.25
"""Of the bandit over sketches; see `SlidingUcb`."""
ENOUGH = 32
"""Trials of its own after which a task's cost model forgets those of the tasks before."""


@dataclass(frozen=True)
class Carried:
    """What one task's search leaves to the next: the policy, and its trials for the next cost model."""

    agent: Any
    space: Space
    times: dict[Candidate, float]


@dataclass(frozen=True)
class Round:
    """What happened when candidates were chosen, for `rlscope-jax tune report`.

    Args:
        sketches: the arms pulled.
        entropy: the policy's, nats; NaN while candidates are drawn at random.
    """

    sketches: tuple[str, ...]
    entropy: float


class HarlSearcher:
    """See the module.

    Args:
        bandit: False draws sketches uniformly.
        stopping: False lets every track run to its end.
        learning: False leaves the policy as it was.
        carried: from the search before.
        tracks, steps, every, epsilon, best, span, alone, exploration: see the constants.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        bandit: bool = True,
        stopping: bool = True,
        learning: bool = True,
        carried: Carried | None = None,
        tracks: int = TRACKS,
        steps: int = STEPS,
        every: int = EVERY,
        epsilon: float = EPSILON,
        best: float = BEST,
        span: float = SPAN,
        alone: float = ALONE,
        exploration: float = EXPLORATION,
    ) -> None:
        for module in ("flax", "optax"):
            need(module, "tune")
        from rlscope_jax.tune.harl import actor_critic
        from rlscope_jax.tune.harl.tracks import Plan, walk

        self._walk, self._plan = walk, Plan(steps, every if stopping else 0)
        self._learning = learning
        self._space, self._arrays = space, arrays_of(space)
        self._rng = np.random.default_rng(seed)
        first, self._key = jax.random.split(jax.random.key(seed))
        self.agent = (
            carried.agent if carried else jax.jit(actor_critic.make_agent, static_argnums=1)(first, SLOT)
        )
        self._model = CostModel(space.features, seed)
        self._open = np.flatnonzero(self._arrays.valid.any(axis=1)).tolist()  # sketches that are not empty
        self._bandit, self._arms = bandit, SlidingUcb(len(self._open), exploration=exploration)
        self._tracks, self._epsilon, self._best, self._span, self._alone = tracks, epsilon, best, span, alone
        self._before = _translated(carried, space) if carried else {}
        self._seen: set[Candidate] = set()
        self._times: dict[Candidate, float] = {}
        self.rounds: list[Round] = []
        self._fit()

    @property
    def carried(self) -> Carried:
        """What a next search may go on with."""
        return Carried(self.agent, self._space, dict(self._times))

    def propose(self, count: int) -> list[Candidate]:
        """The most promising of all points that tracks in the chosen sketches came by, and a few random ones;
        all at random while nothing is known.
        """
        with operation("sketch_select"):
            arms = self._choose(count)
        found: list[Candidate] = []
        entropy = float("nan")
        if self._model.fitted:
            drawn = self._rng.random(count) < self._epsilon
            points, scores, entropy = self._come_by(arms)
            found = self._chosen(points, scores, count - int(drawn.sum()))
            arms = [arm for arm, at_random in zip(arms, drawn, strict=True) if at_random]
        for arm in arms:
            found += self._drawn(found, arm)
        found += fresh(self._space, self._rng, self._seen | set(found), count - len(found))
        self._seen.update(found)
        self.rounds.append(Round(tuple(candidate.sketch for candidate in found), entropy))
        return found

    def observe(self, candidates: Sequence[Candidate], seconds: Sequence[float]) -> None:
        """Reward the sketches and fit the cost model."""
        self._seen.update(candidates)
        self._times.update(zip(candidates, seconds, strict=True))
        finite = [time for time in self._times.values() if np.isfinite(time)]
        for candidate, time in zip(candidates, seconds, strict=True):
            arm = self._open.index(self._space.names.index(candidate.sketch))
            self._arms.reward(arm, min(finite) / time if np.isfinite(time) else 0.0)
        self._fit()

    def _choose(self, count: int) -> list[int]:
        if self._bandit:
            return [self._open[arm] for arm in self._arms.choose(count)]
        return self._rng.choice(self._open, count).tolist()

    def _drawn(self, found: Sequence[Candidate], arm: int) -> list[Candidate]:
        """A random new point of a sketch; none if 50 draws give none, or the sketch is empty."""
        seen = self._seen | set(found)
        try:
            drawn = (self._space.sample(self._rng, self._space.names[arm]) for _ in range(50))
            return next(([candidate] for candidate in drawn if candidate not in seen), [])
        except ValueError:
            return []

    def _fit(self) -> None:
        times = self._times
        if len(times) < ENOUGH:
            times = self._before | times
        if times:
            with operation("cost_fit"):
                self._model.fit(self._space.encode(times), relative(list(times.values()), self._span))

    def _come_by(self, arms: Sequence[int]) -> tuple[list[Candidate], np.ndarray, float]:
        """The new points that tracks came by, what each member of the model predicts of them (float32
        [points, members]), and the policy's entropy.
        """
        self._key, key = jax.random.split(self._key)
        starts = self._starts(arms)
        learned, came = self._walk(self.agent, self._model.params, self._arrays, starts, key, self._plan)
        self.agent = learned if self._learning else self.agent
        sketch = np.asarray(came.sketch).reshape(-1, 1)
        numbers = np.concatenate([sketch, np.asarray(came.levels).reshape(len(sketch), -1)], axis=1)
        scores = np.asarray(came.scores).reshape(len(sketch), -1)
        numbers, rows = np.unique(numbers, axis=0, return_index=True)
        points, new = [], []
        for number, row in zip(numbers.tolist(), rows.tolist(), strict=True):
            name = self._space.names[number[0]]
            candidate = Candidate(name, tuple(number[1 : 1 + len(self._space.params(name))]))
            if candidate not in self._seen and self._space.is_valid(candidate):
                points.append(candidate)
                new.append(row)
        return points, scores[new], float(came.entropy)

    def _chosen(self, points: list[Candidate], scores: np.ndarray, count: int) -> list[Candidate]:
        """The best `count` points, each as the mean or one member of the model sees it; see `ALONE`."""
        mean, left = scores.mean(axis=1), np.ones(len(points), bool)
        found = []
        for _ in range(min(count, len(points))):
            alone = self._rng.random() < self._alone
            seen = scores[:, self._rng.integers(scores.shape[1])] if alone else mean
            best = int(np.argmax(np.where(left, seen, -np.inf)))
            left[best] = False
            found.append(points[best])
        return found

    def _starts(self, arms: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Where tracks begin, and spare points, shared out among the sketches as the pulls are."""
        rows = 1 + (self._plan.steps // self._plan.every if self._plan.every else 0)
        sketches = np.zeros((rows, self._tracks), np.int32)
        levels = np.zeros((rows, self._tracks, self._space.width), np.int32)
        best = sorted(
            (c for c, time in self._times.items() if np.isfinite(time)), key=self._times.__getitem__
        )
        mine = {arm: [c for c in best if c.sketch == self._space.names[arm]][:16] for arm in set(arms)}
        for row in range(rows):
            for track in range(self._tracks):
                arm = arms[track % len(arms)]
                if mine[arm] and self._rng.random() < self._best:
                    start = mine[arm][int(len(mine[arm]) * self._rng.random() ** 2)]
                else:
                    start = self._space.sample(self._rng, self._space.names[arm])
                sketches[row, track] = arm
                levels[row, track, : len(start.levels)] = start.levels
        return sketches, levels


def relative(seconds: Sequence[float], span: float) -> np.ndarray:
    """float32: 1 for the best time, less by the logarithm of others, 0 from `span` times that on."""
    times = np.asarray(seconds, np.float64)
    finite = np.isfinite(times)
    if not finite.any():
        return np.zeros(len(times), np.float32)
    over = np.log(np.where(finite, times, np.inf) / times[finite].min()) / np.log(span)
    return np.clip(1 - over, 0, 1).astype(np.float32)


def _translated(carried: Carried, space: Space) -> dict[Candidate, float]:
    """Trials of another space as points of this one: the same sketches, the nearest place of each value.

    They need not be valid: they only teach the cost model.
    """
    found = {}
    for candidate, time in carried.times.items():
        if candidate.sketch in space.sketches:
            values = carried.space.values(candidate)
            levels = tuple(
                _nearest(param.values, values.get(param.name)) for param in space.params(candidate.sketch)
            )
            found[Candidate(candidate.sketch, levels)] = time
    return found


def _nearest(domain: Sequence[Any], value: Any) -> int:
    if value in domain:
        return list(domain).index(value)
    if isinstance(value, (int, float)) and all(isinstance(one, (int, float)) for one in domain):
        return int(np.argmin([abs(np.log2(1 + abs(one)) - np.log2(1 + abs(value))) for one in domain]))
    return 0
