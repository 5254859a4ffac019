"""Tune several tasks on this machine, from reading the record to noting the winners."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np

from rlscope_jax.tune.allocate import TaskSearch, share_trials
from rlscope_jax.tune.bench import Bench
from rlscope_jax.tune.database import Database, key_of
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.load import load_task
from rlscope_jax.tune.measure import LiveMeasurer, PairedBench, Recorded, Verdict, decide
from rlscope_jax.tune.searchers import make_searcher
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.trial import Trial
from rlscope_jax.tune.worker import Worker

LIMIT = 60.0
"""Seconds that a candidate may take from build to result, with a reference that takes none."""
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
    on_decide: Callable[[TuneTask], None] | None = None,
) -> list[Tuned]:
    """Search all tasks with a common budget, decide, and note the winners.

    A keyboard interrupt ends the search, not the deciding: what was found is kept. One while deciding is
    raised; the trials are in the record, and the same call goes on from there.

    Args:
        trials: in all.
        target: where a worker process finds the tasks (`load_task`); measured in this process if None.
        carry: see `share_trials`.
        on_trials: called with all searches and the new trials after each batch.
        on_decide: called with each task before the best of its candidates are compared.

    Raises:
        TuneError: the record cannot be written; a package or jax's device is missing; a space is empty; a
            reference cannot be computed.
    """
    try:
        jax.devices()
    except Exception as error:
        raise TuneError(f"jax finds no device: {type(error).__name__}: {error}") from error
    with ExitStack() as stack:
        searches = [_begin(stack, task, database, algorithm, seed, target) for task in tasks]

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
            if on_decide is not None:
                on_decide(search.task)
            done.append(Tuned(search, _decide(stack, search, database, target)))
        return done


def _begin(
    stack: ExitStack, task: TuneTask, database: Database, algorithm: str, seed: int, target: str | None
) -> TaskSearch:
    """A task's search, its reference timed."""
    key = key_of(task)
    try:
        task.space.sample(np.random.default_rng(0))  # there is a candidate
        searcher = make_searcher(algorithm, task.space, seed)
        unit = database.reference_seconds(key)
        bench = _bench(stack, task, target, unit or 0.0)
        if unit is None:
            unit = bench.reference_seconds()
            database.add_reference(key, unit)
            if isinstance(bench, Worker):
                bench.limit = _limit(unit)
    except (TuneError, ValueError, OverflowError) as error:  # a seed may be too large
        raise TuneError(f"task {task.name!r}: {error}") from error
    measurer = Recorded(LiveMeasurer(bench, unit), database, task.space, key)
    return TaskSearch(task, searcher, measurer, unit)


def _decide(stack: ExitStack, search: TaskSearch, database: Database, target: str | None) -> Verdict:
    """Compare the best on record, of this search or another one, and note the winner."""
    task, key = search.task, key_of(search.task)
    bench = _bench(stack, task, target, search.reference_seconds, inside_jit=True)
    verdict = decide(bench, list(database.trials(task.space, key).values()), FINALISTS)
    if verdict.failures.keys() < set(verdict.finalists):  # some could be compared
        database.add_winner(task.space, key, verdict.winner, verdict.against_reference)
    return verdict


def _bench(
    stack: ExitStack, task: TuneTask, target: str | None, seconds: float, inside_jit: bool = False
) -> PairedBench:
    if target is None:
        return Bench(task, inside_jit)
    return stack.enter_context(Worker(partial(load_task, target, task.name), _limit(seconds), inside_jit))


def _limit(seconds: float) -> float:
    """What a candidate may take whose reference takes so many seconds; some hundred calls are compared."""
    return LIMIT + 100 * seconds
