"""Searches in the terminal, while they go on and what they came to; `reporters/searches` shows a record."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from rlscope_jax.tune.allocate import TaskSearch
from rlscope_jax.tune.session import Tuned
from rlscope_jax.tune.trial import Trial


class Live:
    """A line that tells how far the search is: best so far, predicted saving, time left.

    Args:
        trials: how many there will be.
        seconds: whether weights are seconds per step, so that a saving can be given in ms.
    """

    def __init__(self, trials: int, seconds: bool) -> None:
        self._seconds, self._trials, self._done = seconds, trials, 0
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
        unit = f"; saves {saved * 1e3:.2f} ms a step" if self._seconds else ""
        text = f"{self._done}/{self._trials}  {best}{unit}; {left:.0f} s left"
        self._bar.update(self._id, completed=self._done, description=text)


def show_results(done: Sequence[Tuned], seconds: bool) -> None:
    """One row a task: trials, the winner's speed against the reference, and what it should save."""
    table = Table(
        "task", "trials", "failed", "times as fast", "interval", title="inside jit, against the reference"
    )
    if seconds:
        table.add_column("predicted saving, ms/step")
    for one in done:
        trials, found = one.search.trials, one.verdict.against_reference
        failed = str(sum(trial.error is not None for trial in trials))
        row = [one.search.task.name, str(len(trials)), failed]
        if found is None:
            timed = any(trial.error is None for trial in trials)
            row += ["nothing beat the reference" if timed else "no candidate could be timed", ""]
        elif one.verdict.winner is None:
            row += ["no winner", f"{1 / found.high:.2f} to {1 / found.low:.2f}"]
        else:
            row += [f"{1 / found.ratio:.2f}", f"{1 / found.high:.2f} to {1 / found.low:.2f}"]
        if seconds:
            row.append("{:.2f} ({:.2f} to {:.2f})".format(*(value * 1e3 for value in one.saving)))
        table.add_row(*row)
    Console().print(table)
    for one in done:
        if one.verdict.winner is not None:
            values = one.search.task.space.values(one.verdict.winner)
            choices = ", ".join(f"{name}={value}" for name, value in values.items())
            print(f"{one.search.task.name}: {one.verdict.winner.sketch}: {choices}")
