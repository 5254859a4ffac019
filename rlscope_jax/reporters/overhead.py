"""What the terminal says of the correction: how much profiling cost, and whom."""

from __future__ import annotations

from typing import Any

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
    return sum(high - low for low, high in intervals) // 2


def is_resolved(row: dict[str, Any]) -> bool:
    """Whether the interval is narrower than the figure itself."""
    half = half_width(row)
    return half is None or half <= wall_of_row(row, "corrected") or half == 0


def overhead_lines(data: dict[str, Any], key: str) -> list[str]:
    """Some lines above the table."""
    overhead = data["overhead"]
    if overhead["correction"] == "none":
        return [f"times are raw: {overhead['reason']}"] if overhead["reason"] else []
    low, high = overhead["removed"]["interval"]
    anchors = overhead["anchors"]
    what = "steps" if anchors is None or "steps" in anchors else "the call"
    how = (
        "this machine's calibration"
        if anchors is None
        else f"{anchors['steps']} unprofiled steps of this run"
        if "steps" in anchors
        else f"{anchors['iterations']:,} iterations of the same call{'s' if 'calls' in anchors else ''} "
        "that nobody recorded"
    )
    lines = [
        f"profiling made {what} {overhead['inflation']:.2f} times as long; "
        f"{overhead['removed']['ns'] / 1e6:,.2f} ms [{low / 1e6:,.2f}, {high / 1e6:,.2f}] "
        f"{'are in these raw times' if key == 'raw' else 'removed'}, by {how}"
        if overhead["inflation"] is not None
        else f"times are corrected by {how}"
    ]
    taken = sorted(
        (
            (wall_of_row(row, "raw") - wall_of_row(row, "corrected"), row["path"])
            for row in data["operations"]
        ),
        reverse=True,
    )
    told = [f"{path} {ns / 1e6:,.2f} ms" for ns, path in taken[:_SHOWN] if ns > 0]
    return [*lines, f"most of it from {', '.join(told)}"] if told else lines
