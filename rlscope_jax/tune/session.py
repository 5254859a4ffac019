"""Tune several tasks on this machine, from reading the record to noting the winners."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial

from rlscope_jax.tune.allocate import TaskSearch, share_trials
from rlscope_jax.tune.bench import Bench
from rlscope_jax.tune.database import Database, key_of
from rlscope_jax.tune.load import load_task
from rlscope_jax.tune.measure import LiveMeasurer, PairedBench, Recorded, Verdict, decide
from rlscope_jax.tune.searchers import make_searcher
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.trial import Trial
from rlscope_jax.tune.worker import Worker

FINALISTS = 3
"""Compiled ahead of time and compared as they will be used, inside jit; trials before that are not."""


@dataclass(frozen=True)
class Tuned:
    """One task's end: its search, and what the final comparison said."""

    search: TaskSearch
    verdict: Verdict

    @property
    def saving(self) -> tuple[float, float, float]:
        """Predicted saving, low and high, in the unit of the task's weight; 0 without a winner."""
        found = self.verdict.against_reference
        if self.verdict.winner is None or found is None:
            return 0.0, 0.0, 0.0
        weight = self.search.task.weight
        return weight * (1 - found.ratio), weight * (1 - found.high), weight * (1 - found.low)


def tune_tasks(
    tasks: Sequence[TuneTask],
    database: Database,
    trials: int = 128,
    algorithm: str = "evolutionary",
    seed: int = 0,
    target: str | None = None,
    carry: bool = True,
    on_trials: Callable[[Sequence[TaskSearch], list[Trial]], None] | None = None,
) -> list[Tuned]:
    """Search all tasks with a common budget, decide, and note the winners.

    A keyboard interrupt ends the search, not the deciding: what was found is kept.

    Args:
        trials: in all.
        target: where a worker process finds the tasks (`load_task`); measured in this process if None.
        carry: see `share_trials`.
        on_trials: called with all searches and the new trials after each batch.

    Raises:
        TuneError: the record cannot be written; a package is missing; a reference cannot be computed.
    """
    with ExitStack() as stack:
        searches: list[TaskSearch] = []
        for task in tasks:
            bench = _bench(stack, task, target, inside_jit=False)
            key = key_of(task)
            measurer = LiveMeasurer(bench, database.reference_seconds(key))
            if database.reference_seconds(key) is None:
                database.add_reference(key, measurer.reference_seconds)
            recorded = Recorded(measurer, database, task.space, key)
            searcher = make_searcher(algorithm, task.space, seed)
            searches.append(TaskSearch(task, searcher, recorded, measurer.reference_seconds))

        def heard(search: TaskSearch, found: list[Trial]) -> None:
            rounds = getattr(search.searcher, "rounds", None)
            entropy = rounds[-1].entropy if rounds else math.nan
            before = len(search.trials) - len(found)
            database.add_round(key_of(search.task), algorithm, seed, before, found, entropy)
            if on_trials is not None:
                on_trials(searches, found)

        with suppress(KeyboardInterrupt):
            share_trials(searches, trials, carry=carry, on_trials=heard)
        done = []
        for search in searches:
            bench = _bench(stack, search.task, target, inside_jit=True)
            verdict = decide(bench, search.trials, FINALISTS)
            if search.trials:
                database.add_winner(
                    search.task.space, key_of(search.task), verdict.winner, verdict.against_reference
                )
            done.append(Tuned(search, verdict))
        return done


def _bench(stack: ExitStack, task: TuneTask, target: str | None, inside_jit: bool) -> PairedBench:
    if target is None:
        return Bench(task, inside_jit)
    return stack.enter_context(Worker(partial(load_task, target, task.name), 60.0, inside_jit))
