"""So many tiny device ops ran that recording them is a good part of what was recorded.

Each op costs the profiler about a microsecond on CPU, and the op's own time does not tell it apart. A scan of
tiny ops is slowed down several times, its file grows by a megabyte for every ten thousand ops, and stop_trace
seems to hang.

How we tell: ten thousand device ops or more, half of them shorter than ten microseconds (the correction's
measured inflation, where there is one, must be 1.5 or more); or a million events in all, after which the
trace viewer shows no more. We read the protobuf file, which holds every event. The gain is no gain in
training: it is what recording took of the window, as far as it was measured.

What to do: record fewer steps: Schedule(active=1) or fewer scan iterations; compare operations by corrected
time; and time the program itself without a profiler.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, share

_OPS, _SHORT_PS, _INFLATION, _VIEWER = 10_000, 10_000_000, 1.5, 1_000_000


def find(facts: Facts) -> list[Finding]:
    """One finding, if the capture is flooded."""
    lines = facts.trace.op_lines
    ops = sum(len(line.start) for line in lines)
    events = facts.trace.events
    inflation = facts.data["overhead"]["inflation"]
    if ops < _OPS:
        return []
    durations = np.concatenate([line.end - line.start for line in lines])
    typical = int(np.median(durations))
    flooded = typical < _SHORT_PS if inflation is None else inflation >= _INFLATION
    if not flooded and events < _VIEWER:
        return []
    removed = facts.data["overhead"]["removed"]
    tails = sum(int(line.tail[line.tail >= 0].sum()) for line in lines if line.tail is not None)
    gain = min(removed["ns"] if removed else round(tails / 1000), facts.wall)
    size = sum(file["bytes"] for file in facts.data["session"]["files"])
    counts: dict[str, int] = {}
    for times in facts.op_times.values():
        for one in times:
            counts[one.path] = counts.get(one.path, 0) + one.events
    most = max(counts, key=lambda path: counts[path])
    program = max(facts.device_time, key=lambda program: facts.device_time[program])
    slower = (
        f"the window was slowed down {inflation:.1f} times" if inflation else "tiny ops are shown too slow"
    )
    message = (
        f"{ops:,} device ops, half of them below {milliseconds(typical / 1000)} ({events:,} events, "
        f"{size / 1e6:.1f} MB; most in {most}, {counts[most]:,}): {slower}; recording took "
        f"{milliseconds(gain)} at least ({share(gain, facts.wall)})."
    )
    evidence = {
        "device_ops": ops,
        "events": events,
        "bytes": size,
        "median_op_ns": round(typical / 1000),
        "beyond_viewer": events >= _VIEWER,
        "inflation": inflation,
    }
    hint = "record fewer steps: profile(logdir, schedule=Schedule(active=1)); time the program unprofiled."
    return [
        Finding(
            "event_flood",
            message,
            hint,
            gain,
            severity(gain, facts.wall, "medium"),
            most,
            facts.program_names.get(program),
            facts.function(program),
            evidence,
        )
    ]
