"""The host reads a value at every step and waits: what it waits for is another operation's work.

jax returns from a call before the device is done. The first line that needs a value (float(loss), np.asarray,
.item()) then waits for everything before it, so that a stopwatch around it blames the wrong operation. And
while the host reads, nothing is enqueued: after each wait the device stands still until the next call reaches
it.

How we tell: an operation waited for a fifth of the window or more, five times or more with calls in between,
while less than a tenth of its time was device work of its own; or the device stood still around these waits
for a tenth of the window. A wait during which the device does not work is none. The gain is only what the
device stood still, less what compilations fill: the waiting itself ends when the work does. It is told as
medium at most: a part of that time is the call itself.

What to do: read values of the step before, or every hundredth step: keep metrics on the device, and call
jax.device_get(metrics) once per log line.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.attribution.attribute import UNATTRIBUTED
from rlscope_jax.findings.device_span import Gaps, compile_time_within, free_within, gaps, waits
from rlscope_jax.findings.dispatch_bound import bound_loops
from rlscope_jax.findings.facts import Facts, Row, time
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, named, share

_LEAST_SYNCS, _LEAST_SHARE, _LEAST_BUBBLE, _OWN = 5, 0.2, 0.1, 0.1


def find(facts: Facts) -> list[Finding]:
    """One finding for each operation that waits for another's work."""
    told = {loop.path for loop in bound_loops(facts)}
    owner = _owner(facts)
    free = gaps(facts.trace.op_lines)
    found = []
    for row in facts.rows:
        if row["path"] in told or row["direction"] is not None or owner is None:
            continue
        waited = time(row["host"]["categories"]["wait"])
        if row["host"]["syncs"] < _LEAST_SYNCS or waited < _LEAST_SHARE * facts.wall:
            continue
        started, ended = waits(facts, row["path"])
        rounds = _rounds(facts, ended)
        for_transfers = 2 * free_within(free, started, ended) > int((ended - started).sum())
        if len(rounds) < _LEAST_SYNCS or for_transfers:
            continue
        bubble = _stood_still(facts, free, rounds)
        elsewhere = row["path"] != UNATTRIBUTED and _own(facts, row["path"]) < _OWN * waited
        if elsewhere or bubble >= _LEAST_BUBBLE * facts.wall:
            found.append(_finding(facts, row, owner if elsewhere else None, waited, bubble))
    return found


def _own(facts: Facts, path: str) -> int:
    return sum(
        time(row["device"]["self"]) for row in facts.rows if (row["path"] + "/").startswith(path + "/")
    )


def _owner(facts: Facts) -> Row | None:
    """The operation with most device time of its own."""
    rows = [row for row in facts.rows if time(row["device"]["self"]) > 0]
    return max(rows, key=lambda row: time(row["device"]["self"]), default=None)


def _rounds(facts: Facts, ended: np.ndarray) -> np.ndarray:
    """The ends of waits: of several without a call between them, only the first."""
    calls = np.array(sorted(call.start for call in facts.calls), np.int64)
    _, first = np.unique(np.searchsorted(calls, ended), return_index=True)
    return ended[first]


def _stood_still(facts: Facts, free: Gaps, ended: np.ndarray) -> int:
    """The gaps of the device within which a wait ended, less what compilations fill of them, ns."""
    if not len(free.start):
        return 0
    place = np.searchsorted(free.start, ended, "right") - 1
    chosen = np.unique(place[(place >= 0) & (ended <= free.end[np.maximum(place, 0)])])
    mine = Gaps(free.start[chosen], free.end[chosen], free.span)
    return round((mine.total - compile_time_within(facts, mine)) / 1000)


def _finding(facts: Facts, row: Row, owner: Row | None, waited: int, bubble: int) -> Finding:
    path, syncs = row["path"], row["host"]["syncs"]
    device = sum(time(each["device"]["self"]) for each in facts.rows)
    message = (
        f"{named(path)} waits {syncs:,} times for the device, {milliseconds(waited)} "
        f"({share(waited, facts.wall)} of the window)"
    )
    evidence = {"syncs": syncs, "wait_ns": waited, "idle_after_ns": bubble, "device_ns": device}
    if owner is not None:
        own = time(owner["device"]["self"])
        message += (
            f": the work is that of {owner['path']} ({share(own, device)} of the device's time), not its own"
        )
        evidence |= {"owner": owner["path"], "owner_device_ns": own}
    message += f". The device stands still around these waits for {milliseconds(bubble)}."
    hint = "read values later and less often: if step % 100 == 0: log(jax.device_get(metrics))."
    level = severity(bubble, facts.wall, "medium")
    return Finding("blocked_on_device", message, hint, bubble, level, path, None, None, evidence)
