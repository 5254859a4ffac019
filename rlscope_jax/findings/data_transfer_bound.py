"""Moving arrays between host and device takes the time.

A NumPy array given to a jitted function is copied to the device at each call; np.asarray and .item() copy
back. A replay buffer or an environment on the host moves every batch this way, and on an accelerator over a
bus far slower than its memory.

How we tell: while no device worked, the host moved data, or waited for what it had moved, for a tenth of the
window or more, in ten transfers or more; on an accelerator the driver's own copies between host and device
count too. The gain is that time.

What to do: keep the data on the device: buffer = jax.device_put(buffer) once, and sample inside jax.jit; or
move the next batch while the device works on this one, which jax.device_put does when called early, for it
returns at once.
"""

from __future__ import annotations

import re

from rlscope_jax.attribution.attribute import UNATTRIBUTED
from rlscope_jax.findings.device_span import free_within, gaps, waits
from rlscope_jax.findings.facts import Facts, Row, time
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, named, share

_LEAST_SHARE, _LEAST_TRANSFERS = 0.1, 10
_BETWEEN = re.compile(
    r"(cpy|copy).{0,12}(h(ost)?[ _]?to[ _]?d|d(evice)?[ _]?to[ _]?h|h2d|d2h)", re.IGNORECASE
)


def find(facts: Facts) -> list[Finding]:
    """One finding, for the operation that moves most."""
    host = sum(time(row["wall"]["host_only_categories"]["transfer"]) for row in facts.rows)
    copied = [
        time_of
        for (program, name), times in facts.op_times.items()
        if facts.instruction(program, name) is None and _BETWEEN.search(name or "")
        for time_of in times
    ]
    kernels = _kernels(facts)
    moved = sum(len(activity.transfers) for activity in facts.attribution.activities) + kernels[0]
    started, ended = waits(facts)
    waited = free_within(gaps(facts.trace.op_lines), started, ended) if moved >= len(ended) else 0
    gain = min(host + kernels[1] + facts.device_part(copied) + round(waited / 1000), facts.wall)
    if moved < _LEAST_TRANSFERS or gain < _LEAST_SHARE * facts.wall:
        return []
    first = max(facts.rows, key=_moving)
    path = None if first["path"] == UNATTRIBUTED else first["path"]
    message = (
        f"{moved:,} transfers between host and device take {milliseconds(gain)}, "
        f"{share(gain, facts.wall)} of the window, "
        f"most of it for {named(first['path'])}; {milliseconds(waited / 1000)} are waits for them."
    )
    evidence = {"transfers": moved, "transfer_ns": gain, "host_ns": host, "waited_ns": round(waited / 1000)}
    hint = "keep the data on the device: data = jax.device_put(data) once, and index it inside jax.jit."
    return [
        Finding(
            "data_transfer_bound", message, hint, gain, severity(gain, facts.wall), path, None, None, evidence
        )
    ]


def _moving(row: Row) -> int:
    return time(row["wall"]["host_only_categories"]["transfer"])


def _kernels(facts: Facts) -> tuple[int, int]:
    """(count, wall ns) of the driver's copies between host and device."""
    trace, cells = facts.trace, facts.process.table.cells
    count, wall = 0, 0
    for number, owner in enumerate(facts.attribution.owners):
        if _BETWEEN.search(trace.ops.kernel[owner.op]):
            count += sum(int((of_event == number).sum()) for of_event in facts.attribution.op_owner)
            wall += int(cells.device_only[number] + cells.overlap[number])
    return count, round(wall / 1000)
