"""The searches of a tuning record (`tune.searches.tuning_of`), in the terminal and as an HTML file."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from rlscope_jax.reporters.page import page
from rlscope_jax.reporters.units import as_line

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 32
"""Columns of a curve."""


def to_page(tuning: dict[str, Any], record: str) -> str:
    """An HTML page: the tab's view of the searches.

    Args:
        tuning: from `tuning_of`.
        record: where it was read, for its title.
    """
    return page(f"{record} · tuning", {"tuning": tuning, "record": record})


def render(tuning: dict[str, Any], console: Console | None = None) -> None:
    """Of every task: best against trials, arms chosen and the policy's entropy per search; the winner.

    Args:
        tuning: from `tuning_of`.
        console: the terminal if None.
    """
    console = console or Console()
    for task in tuning["tasks"]:
        console.print(
            as_line(f"{task['name']} ({task['task']}) on {task['device']}, jax {task['jax']}"),
            style="bold",
            markup=False,
            soft_wrap=True,
        )
        for name, text in _lines(task):
            line = as_line(f"  {name:<13} {text}")
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _lines(task: dict[str, Any]) -> list[tuple[str, str]]:
    """A name and what is said under it."""
    reference = task["reference_seconds"]
    lines = [("reference", _time(reference))] if reference else []
    for search in task["searches"]:
        lines.append((_name(search, task["searches"]), _found(search, reference)))
        sizes = [sum(chosen) for chosen in zip(*search["arms"].values(), strict=True)]
        for arm, chosen in search["arms"].items():
            shares = [count / (size or 1) for count, size in zip(chosen, sizes, strict=True)]
            lines.append(("  arm", f"{curve(shares, 0, 1)}  {arm}: {sum(chosen)}"))
        entropy = [value for value in search["entropy"] if value is not None]
        if entropy:
            lines.append(("  entropy", f"{curve(entropy)}  from {entropy[0]:.2f} to {entropy[-1]:.2f} nats"))
    if task["failed"]:
        lines.append(("failed", f"{task['failed']} of {task['trials']} candidates"))
        lines += [("", f"{count} x {reason}") for reason, count in task["failures"]]
        lines += [("", f"{task['other_failures']} x others")] if task["other_failures"] else []
    return [*lines, ("winner", _winner(task))]


def _name(search: dict[str, Any], searches: Sequence[dict[str, Any]]) -> str:
    """The algorithm; with its seed where it searched more than once."""
    name = search["algorithm"] or "not noted"
    several = sum(other["algorithm"] == search["algorithm"] for other in searches) > 1
    return f"{name} {search['seed']}" if several and search["seed"] is not None else name


def _found(search: dict[str, Any], reference: float | None) -> str:
    if not search["best"]:
        return f"no candidate could be timed in {search['trials']} trials"
    trials, found = zip(*search["best"], strict=True)
    width = min(search["trials"], WIDTH)
    ends = [(place + 1) * search["trials"] // width for place in range(width)]
    logs = [math.inf, *map(math.log, found)]  # the first candidates are much slower than all after
    best = [logs[bisect_right(trials, end)] for end in ends]
    seconds = found[-1]
    against = f", {reference / seconds:.2f} times as fast as the reference" if reference else ""
    told = "" if search["whole"] else " (some of an earlier search were not noted)"
    return f"{curve(best)}  {_time(seconds)} after {search['trials']} trials{against}{told}"


def _winner(task: dict[str, Any]) -> str:
    if not task["decided"]:
        return "not decided: the search was ended, or goes on"
    if task["winner"] is None:
        return "none: nothing beat the reference"
    values = ", ".join(f"{name}={value}" for name, value in task["winner"]["values"].items())
    text = f"{task['winner']['sketch']}: {values}"
    if task["against"]:
        ratio, low, high = task["against"]
        text += f"; {1 / ratio:.2f} times as fast as the reference ({1 / high:.2f} to {1 / low:.2f})"
    if task["saving"]:
        value, low, high = (1e3 * seconds for seconds in task["saving"])
        text += f"; saves {value:.2f} ms a {task['per']} ({low:.2f} to {high:.2f})"
    return text


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:,.3f} ms"


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
