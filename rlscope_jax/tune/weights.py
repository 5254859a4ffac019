"""What each task is worth: the seconds per step that a profile saw its operation take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.task import TuneTask


def tasks_from_report(report: Any, tasks: Sequence[TuneTask]) -> list[TuneTask]:
    """The tasks whose operation the profile saw, each weighted by its seconds per step; heaviest first.

    Args:
        report: a `Report`, or the same as plain values (`Report.to_dict`).
        tasks: named as the operation: its whole path, or the end of it.

    Raises:
        TuneError: the profile has none of these operations.
    """
    data = report if isinstance(report, dict) else report.to_dict()
    seconds = {task.name: seconds_per_step(data, task.name) for task in tasks}
    found = [replace(task, weight=seconds[task.name]) for task in tasks if seconds[task.name] > 0]
    if not found:
        seen = sorted({row["path"] for row in data["operations"] if row["kind"] != "special"})
        raise TuneError(
            f"the profile has no time in an operation named as one of the tasks "
            f"({', '.join(seconds)}); its operations are {', '.join(seen) or 'none'}"
        )
    return sorted(found, key=lambda task: -task.weight)


def seconds_per_step(data: dict[str, Any], name: str) -> float:
    """Wall seconds per step with a device at work for an operation (with what is nested in it), forward only.

    Corrected where the report is, raw elsewhere; of the whole window where it has no steps.
    """
    total = 0.0
    for row in data["operations"]:
        within = f"/{name}/" in f"/{row['path']}/"
        if within and row["direction"] in (None, "forward"):
            total += sum(_best(row["wall"][part]) for part in ("device_only", "overlap"))
    return total / 1e9 / max(data["window"]["steps"] or 0, 1)


def _best(figure: dict[str, Any]) -> float:
    known = figure["raw"] if figure["corrected"] is None else figure["corrected"]
    return known or 0.0
