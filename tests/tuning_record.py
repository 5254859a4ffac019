"""Tuning records for tests: searches as `tune_tasks` notes them, their times from a formula."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from rlscope_jax.tune import Param, Sketch, Space
from rlscope_jax.tune.database import Database, Key
from rlscope_jax.tune.measure import Recorded
from rlscope_jax.tune.search import BATCH
from rlscope_jax.tune.space import Candidate
from rlscope_jax.tune.timing import Paired
from rlscope_jax.tune.trial import Trial

REFERENCE = 4e-3


def space_of(text: str = "") -> Space:
    """Two sketches, 60 points; `text` is in every name and value."""
    rows, order = Param("rows", tuple(range(1, 13)), "tile"), Param(f"order{text}", ("xy", f"yx{text}"))
    return Space(
        {
            f"tiles{text}": Sketch((rows, order), lambda values: None),
            f"lines{text}": Sketch((rows, order, Param("remat", (False, True))), lambda values: None),
        }
    )


class Formula:
    """Answers in place of a machine; every seventh candidate fails."""

    def __init__(self, space: Space, text: str = "") -> None:
        self._space, self._text = space, text

    def measure(self, candidates: list[Candidate]) -> list[Trial]:
        """At best 0.4 of the reference."""
        return [self._measure(candidate) for candidate in candidates]

    def remember(self, trial: Trial) -> None:
        """Knows all there is."""

    def _measure(self, candidate: Candidate) -> Trial:
        if sum(candidate.levels) % 7 == 3:
            return Trial(candidate, error=f"the result is wrong{self._text}")
        ratio = (
            0.4
            + 0.1 * abs(candidate.levels[0] - 5)
            + 0.3 * candidate.levels[1]
            + 0.2 * len(candidate.levels)
            - 0.4
        )
        return Trial(candidate, ratio * REFERENCE, ratio, ratio * 0.95, ratio * 1.05, 6)


def write_search(
    database: Database, key: Key, algorithm: str, seed: int = 0, trials: int = 24, text: str = ""
) -> list[Trial]:
    """One search's rounds, drawn at random; its trials."""
    space, done = space_of(text), list[Trial]()
    measurer = Recorded(Formula(space, text), database, space, key)
    points = list(space.every())
    points = [points[place] for place in np.random.default_rng(seed).permutation(len(points))]
    while len(done) < trials:
        found = measurer.measure(points[len(done) : min(len(done) + BATCH, trials)])
        entropy = 3.0 * 0.9 ** len(done) if algorithm == "harl" and done else math.nan
        database.add_round(key, algorithm, seed, len(done), found, entropy)
        done += found
    return done


def write_record(
    path: Path,
    tasks: int = 1,
    algorithms: tuple[str, ...] = ("evolutionary",),
    text: str = "",
    weighed: bool = True,
) -> None:
    """A record in which each task was searched by each algorithm and decided."""
    database, space = Database(path), space_of(text)
    for number in range(tasks):
        key = Key(f"conv{number}{text}", f"cpu of a test{text}", "0.10.2", f"{number:04x}")
        database.add_reference(key, REFERENCE)
        if weighed:
            database.add_weight(key, 1e-2 * (tasks - number), "step")
        done = [
            trial for name in algorithms for trial in write_search(database, key, name, number, text=text)
        ]
        best = min(done, key=lambda trial: trial.seconds)
        database.add_winner(space, key, best.candidate, Paired(0.5, 0.45, 0.55, 2e-3, REFERENCE, 15))
