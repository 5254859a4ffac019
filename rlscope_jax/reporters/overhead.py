"""What the terminal says of the correction: how much profiling cost, and whom."""

from __future__ import annotations

from typing import Any

from rlscope_jax.reporters.units import as_line

CELLS = ("device_only", "overlap", "host_only", "idle")
_SHOWN = 3


def shown_key(data: dict[str, Any], raw: bool) -> str:
    """Which of a figure's values the table shows: corrected where known and not refused."""
    return "raw" if raw or data["overhead"]["correction"] == "none" else "corrected"


def wall_of_row(row: dict[str, Any], key: str) -> int:
    """An operation's part of the window."""
    return sum(row["wall"][cell][key] for cell in CELLS)


def half_width(row: dict[str, Any]) -> int | None:
    """How far an operation's corrected wall time may be off; None where nothing was corrected."""
    intervals = [row["wall"][cell]["interval"] for cell in CELLS]
    if any(interval is None for interval in intervals):
        return None
    return sum(interval[1] for interval in intervals) - wall_of_row(row, "corrected")


def is_resolved(row: dict[str, Any]) -> bool:
    """Whether the interval is narrower than the figure itself."""
    half = half_width(row)
    return half is None or half <= wall_of_row(row, "corrected")


def is_known(figure: dict[str, Any], key: str) -> bool:
    """The same of any figure, as it is shown."""
    value, interval = figure[key], figure["interval"]
    return key == "raw" or interval is None or interval[1] - value <= value


def overhead_lines(data: dict[str, Any], key: str) -> list[str]:
    """Some lines above the table."""
    overhead = data["overhead"]
    if overhead["correction"] == "none":
        return [f"times are raw: {overhead['reason']}"] if overhead["reason"] else []
    low, high = overhead["removed"]["interval"]
    anchors = overhead["anchors"]
    of_call = anchors is not None and "iterations" in anchors
    what = "the call" if of_call else "steps" if data["steps"]["wall"] else "the window"
    how = (
        "this machine's calibration"
        if anchors is None
        else f"{anchors['iterations']:,} iterations of the same call{'s' if 'calls' in anchors else ''} "
        "that nobody recorded"
        if of_call
        else f"{anchors['steps']} unprofiled steps of this run"
    )
    lines = [
        f"profiling made {what} {overhead['inflation']:.2f} times as long; "
        f"{overhead['removed']['ns'] / 1e6:,.2f} ms [{low / 1e6:,.2f}, {high / 1e6:,.2f}] "
        f"{'are in these raw times' if key == 'raw' else 'removed'}, by {how}"
        if overhead["inflation"] is not None
        else f"by {how} all of the recorded time was profiling's own: nothing is left to tell"
    ]
    taken: dict[str, int] = {}
    for row in data["operations"]:
        lost = wall_of_row(row, "raw") - wall_of_row(row, "corrected")
        taken[row["path"]] = taken.get(row["path"], 0) + lost  # of all directions
    most = sorted(taken.items(), key=lambda item: -item[1])[:_SHOWN]
    told = [f"{as_line(path)} {ns / 1e6:,.2f} ms" for path, ns in most if ns > 0]
    return [*lines, f"most of it from {', '.join(told)}"] if told else lines
