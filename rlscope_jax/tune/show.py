"""Searches in the terminal, while they go on and what they came to; `reporters/searches` shows a record."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from rlscope_jax.reporters.units import as_line
from rlscope_jax.tune.allocate import TaskSearch
from rlscope_jax.tune.session import Tuned
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.trial import Trial


class Live:
    """A line that tells how far the search is: best so far, predicted saving, time left.

    Args:
        trials: how many there will be.
        per: what the tasks' weights are seconds of, "step" or "window"; None: of nothing, no saving is told.
    """

    def __init__(self, trials: int, per: str | None) -> None:
        self._per, self._trials, self._done = per, trials, 0
        self._began = time.monotonic()
        text = TextColumn("{task.description}", markup=False)
        self._bar = Progress(BarColumn(24), text, console=Console(stderr=True), transient=True)
        self._id = self._bar.add_task("starting", total=trials)

    def __enter__(self) -> Live:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def heard(self, searches: Sequence[TaskSearch], found: list[Trial]) -> None:
        """New trials."""
        self._done += len(found)
        left = (time.monotonic() - self._began) / max(self._done, 1) * (self._trials - self._done)
        best = ", ".join(f"{search.task.name} {1 / search.ratio:.2f}x" for search in searches)
        saved = sum(search.task.weight - search.cost for search in searches)
        unit = f"; saves {saved * 1e3:.2f} ms a {self._per}" if self._per else ""
        text = f"{self._done}/{self._trials}  {best}{unit}; {left:.0f} s left"
        self._bar.update(self._id, completed=self._done, description=as_line(text))

    def deciding(self, task: TuneTask) -> None:
        """The search is over; the best of a task are compared."""
        self._bar.update(self._id, description=as_line(f"comparing the best of {task.name}"))


def show_results(done: Sequence[Tuned], per: str | None, console: Console | None = None) -> None:
    """One row a task: trials, the winner's speed against the reference, and what it should save; then the
    winners' choices, and why there is no time where there is none.

    Args:
        per: see `Live`.
        console: the terminal if None.
    """
    console = console or Console()
    table = Table(
        "task", "trials", "failed", "times as fast", "interval", title="inside jit, against the reference"
    )
    if per:
        table.add_column(f"predicted saving, ms/{per}")
    for one in done:
        trials, found = one.search.trials, one.verdict.against_reference
        failed = str(sum(trial.error is not None for trial in trials))
        row = [escape(as_line(one.search.task.name)), str(len(trials)), failed]
        if found is None:
            row += [_without_time(one), ""]
        elif one.verdict.winner is None:
            row += ["no winner", f"{1 / found.high:.2f} to {1 / found.low:.2f}"]
        else:
            row += [f"{1 / found.ratio:.2f}", f"{1 / found.high:.2f} to {1 / found.low:.2f}"]
        if per:
            row.append("{:.2f} ({:.2f} to {:.2f})".format(*(value * 1e3 for value in one.saving)))
        table.add_row(*row)
    console.print(table)
    for one in done:
        for line in _told(one):
            text = as_line(f"{one.search.task.name}: {line}")
            console.print(text, markup=False, highlight=False, soft_wrap=True)


def _without_time(one: Tuned) -> str:
    """Why nothing was compared with the reference at the end."""
    if one.verdict.finalists:
        failed = one.verdict.failures.keys() >= set(one.verdict.finalists)
        return "the best could not be compared" if failed else "nothing beat the reference"
    return "no candidate could be timed" if one.search.trials else "nothing was tried"


def _told(one: Tuned) -> Iterator[str]:
    """The winner's choices, and what failed that should not have."""
    space, verdict = one.search.task.space, one.verdict
    if verdict.winner is not None:
        choices = ", ".join(f"{name}={value}" for name, value in space.values(verdict.winner).items())
        yield f"{verdict.winner.sketch}: {choices}"
    for reason, count in Counter(verdict.failures.values()).items():
        yield f"{count} of the best {len(verdict.finalists)} could not be compared inside jit: {reason}"
    if not verdict.finalists:
        yield from [f"the first failed: {trial.error}" for trial in one.search.trials[:1]]
