"""What calls back into Python from compiled programs."""

from __future__ import annotations

from typing import Any

from rlscope_jax.reporters.units import duration

_MOST = 3


def callback_lines(data: dict[str, Any]) -> list[str]:
    """A line for each of the operations that call back most."""
    lines = []
    for one in data["callbacks"][:_MOST]:
        count = max(one["count"], 1)
        line = (
            f"callbacks of {one['operation']}: {one['count']:,} {', '.join(one['primitives'])}, "
            f"{duration(one['time_ns'] // count)} each, and the device waits "
            f"{duration(one['gap_ns'] // count)} around each"
        )
        if one["slow_calls"]:
            line += (
                f"; they send all {one['slow_calls']:,} calls of {one['function']} through Python, "
                f"{duration(one['slow_calls_ns'] // one['slow_calls'])} each"
            )
        lines.append(line)
    return lines
