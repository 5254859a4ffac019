"""The host reads a value at every step and waits: what it waits for is another operation's work.

jax returns from a call before the device is done. The first line that needs a value (float(loss), np.asarray,
.item()) then waits for everything before it, so that a stopwatch around it blames the wrong operation. And
while the host reads, nothing is enqueued: after each wait the device stands still until the next call reaches
it.

How we tell: an operation waited five times or more, for a fifth of the window or more, while less than a
tenth of its time was device work of its own. The gain is only what the device stood still between the waits
and the next program: the waiting itself ends when the work does.

What to do: read values of the step before, or every hundredth step: keep metrics on the device, and call
jax.device_get(metrics) once per log line.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.attribution.attribute import UNATTRIBUTED
from rlscope_jax.findings.dispatch_bound import bound_loops
from rlscope_jax.findings.facts import Facts, Row, time
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, share

_LEAST_SYNCS, _LEAST_SHARE, _LEAST_BUBBLE, _OWN = 5, 0.2, 0.1, 0.1


def find(facts: Facts) -> list[Finding]:
    """One finding for each operation that waits for another's work."""
    told = {loop.path for loop in bound_loops(facts)}
    owner = _owner(facts)
    found = []
    for row in facts.rows:
        if row["path"] in told or row["direction"] is not None or owner is None:
            continue
        waited = time(row["host"]["categories"]["wait"])
        if row["host"]["syncs"] < _LEAST_SYNCS or waited < _LEAST_SHARE * facts.wall:
            continue
        bubble = _stood_still(facts, row["path"])
        elsewhere = row["path"] != UNATTRIBUTED and _own(facts, row["path"]) < _OWN * waited
        if elsewhere or bubble >= _LEAST_BUBBLE * facts.wall:
            found.append(_finding(facts, row, owner, waited, bubble))
    return found


def _own(facts: Facts, path: str) -> int:
    return sum(
        time(row["device"]["self"]) for row in facts.rows if (row["path"] + "/").startswith(path + "/")
    )


def _owner(facts: Facts) -> Row | None:
    """The operation with most device time of its own."""
    rows = [row for row in facts.rows if time(row["device"]["self"]) > 0]
    return max(rows, key=lambda row: time(row["device"]["self"]), default=None)


def _stood_still(facts: Facts, path: str) -> int:
    """Time between the device's last work before a wait of this operation ended and its next, ns."""
    starts = np.sort(facts.trace.runs.start)
    ends = np.sort(facts.trace.runs.end)
    still, until = 0, -1
    for number, activity in enumerate(facts.attribution.activities):
        for event in activity.syncs.tolist():
            if facts.path_of(number, event) != path:
                continue
            ended = int(activity.thread.end[event])
            place = int(np.searchsorted(starts, ended))
            before = int(np.searchsorted(ends, ended, "right"))
            if place < len(starts) and before > 0 and ended > until:
                still += max(int(starts[place]) - max(int(ends[before - 1]), until), 0)
                until = int(starts[place])
    return round(still / 1000)


def _finding(facts: Facts, row: Row, owner: Row, waited: int, bubble: int) -> Finding:
    path, syncs = row["path"], row["host"]["syncs"]
    device = sum(time(each["device"]["self"]) for each in facts.rows)
    of_owner = share(time(owner["device"]["self"]), device)
    message = (
        f"{path} waits {syncs:,} times for the device, {milliseconds(waited)} "
        f"({share(waited, facts.wall)} of the window): "
        f"the work is that of {owner['path']} ({of_owner} of the device's time), not its own. "
        f"After these waits the device stands still for {milliseconds(bubble)}."
    )
    evidence = {
        "syncs": syncs,
        "wait_ns": waited,
        "idle_after_ns": bubble,
        "owner": owner["path"],
        "owner_device_ns": time(owner["device"]["self"]),
        "device_ns": device,
    }
    hint = "read values later and less often: if step % 100 == 0: log(jax.device_get(metrics))."
    level = severity(bubble, facts.wall)
    return Finding("blocked_on_device", message, hint, bubble, level, path, None, None, evidence)
