"""Searches in the terminal: while they go on, what they came to, and what a record holds."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from rlscope_jax.tune.allocate import TaskSearch
from rlscope_jax.tune.database import Database
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.session import Tuned
from rlscope_jax.tune.trial import Trial

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 32
"""Columns of a curve."""


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


def show_record(database: Database) -> None:
    """Of every task of a record: best against trials, arms chosen, the policy's entropy.

    Raises:
        TuneError: the record holds no trials.
    """
    console = Console()
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in database.rows():
        groups.setdefault(tuple(row.get(part) for part in ("name", "device", "jax", "task")), []).append(row)
    shown = 0
    for (name, device, jax, digest), rows in groups.items():
        times = [float(row.get("seconds", math.inf)) for row in rows if "sketch" in row]
        if not any(map(math.isfinite, times)):
            continue
        shown += 1
        unit = next((row["reference_seconds"] for row in rows if "reference_seconds" in row), None)
        console.print(f"{name} ({digest}) on {device}, jax {jax}", style="bold", markup=False)
        best = [min(times[: number + 1]) for number in range(len(times))]
        against = f", {unit / best[-1]:.2f} times as fast as the reference" if unit else ""
        console.print(
            f"  best      {curve(best)}  {best[-1] * 1e3:.3f} ms after {len(times)} trials{against}"
        )
        rounds = [row for row in rows if "arms" in row]
        arms = Counter(arm for row in rounds for arm in row["arms"])
        for arm, count in arms.most_common():
            shares = [row["arms"].count(arm) / max(len(row["arms"]), 1) for row in rounds]
            console.print(f"  arm       {curve(shares, 0, 1)}  {arm}: {count}", markup=False)
        entropy = [row["entropy"] for row in rounds if row.get("entropy") is not None]
        if entropy:
            text = f"  entropy   {curve(entropy)}  from {entropy[0]:.2f} to {entropy[-1]:.2f} nats"
            console.print(text)
        winner = next((row for row in reversed(rows) if "winner" in row), None)
        if winner is not None:
            console.print(
                f"  winner    {winner['winner'] or 'none: nothing beat the reference'}", markup=False
            )
    if not shown:
        raise TuneError(f"{database.path} holds no trials that succeeded")


def curve(values: Sequence[float], low: float | None = None, high: float | None = None) -> str:
    """Values as a line of blocks, `WIDTH` at most, each the last of its share; spaces if not finite."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return ""
    low = min(finite) if low is None else low
    high = max(finite) if high is None else high
    count = min(len(values), WIDTH)
    picked = [values[(place + 1) * len(values) // count - 1] for place in range(count)]
    return "".join(
        BLOCKS[round((value - low) / ((high - low) or 1) * (len(BLOCKS) - 1))]
        if math.isfinite(value)
        else " "
        for value in picked
    )
