"""Read a recorded variant as a user would, say what the report says, and check that its sums close."""

from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from rlscope_jax import Report, load
from rlscope_jax.xla_events.trace import OpLine


def judge(directory: Path, run: dict[str, Any]) -> tuple[list[str], list[str]]:
    """(what to print, what failed) of the profile under a directory; its JSON report is left there too."""
    report = load(directory)
    (directory / "report.json").write_text(report.to_json())
    data = report.to_dict()
    unequal = closing(report)
    return _lines(report, data, run, closes=not unequal), unequal + _missing(data, run)


def closing(report: Report) -> list[str]:
    """Where a sum does not close, to the picosecond."""
    failures = []
    for process in report.processes:
        (begin, end), rows = process.trace.window, process.table.rows
        wall = sum(row.wall for row in rows)
        if wall != end - begin:
            failures.append(f"the rows' wall times sum to {wall:,} ps, the window is {end - begin:,} ps")
        device = sum(row.device_self for row in rows)
        lines = int(process.table.cells.device_self.sum())
        if device != lines:
            failures.append(f"the rows' device self times sum to {device:,} ps, the lines to {lines:,} ps")
        busy = sum(_busy(line, begin, end) for line in process.trace.op_lines)
        if device > busy:
            failures.append(f"{device:,} ps of device self time, but its lines were busy for {busy:,} ps")
    return failures


def _busy(line: OpLine, begin: int, end: int) -> int:
    """How long at least one op of a line ran within the window, counted without the report's code.

    Self time cannot exceed it; it can be less, since a loop rests while another line runs its body.
    """
    start, stop = np.clip(line.start, begin, end), np.clip(line.end, begin, end)
    seen = np.concatenate([[begin], np.maximum.accumulate(stop)[:-1]])
    return int(np.maximum(stop - np.maximum(start, seen), 0).sum())


def _missing(data: dict[str, Any], run: dict[str, Any]) -> list[str]:
    """What every profile of a training step must show."""
    failures = []
    if data["environment"]["platform"] != run["platform"]:
        failures.append(f"it ran on {run['platform']}, and was read as {data['environment']['platform']}")
    if data["health"]["verdict"] == "unusable":
        failures.append("the capture is unusable")
    if not data["totals"]["device_self"]["raw"]:
        failures.append("no device time")
    if not data["counts"]["dispatches"]:
        failures.append("no dispatches")
    if data["window"]["steps"] != run["steps"]:
        failures.append(f"{data['window']['steps']} steps were found, {run['steps']} were recorded")
    return failures


def _lines(report: Report, data: dict[str, Any], run: dict[str, Any], closes: bool) -> list[str]:
    rows = [row for process in report.processes for row in process.table.rows]
    totals, counts, health = data["totals"], data["counts"], data["health"]
    codes = ", ".join(problem["code"] for problem in health["problems"]) or "no problems"
    profiled, unprofiled = (median(run[key]) * 1e3 for key in ("profiled_s", "unprofiled_s"))
    pairs = f"medians of {len(run['profiled_s'])} interleaved pairs"
    file = data["session"]["files"][0]
    return [
        f"  ran on      {run['platform']}: {run['device']}, jax {run['jax']}, XLA_FLAGS={run['xla_flags']!r}",
        f"  health      {health['verdict']}: {codes}",
        f"  closes      {'yes' if closes else 'NO'}: {len(rows)} rows, {sum(row.wall for row in rows):,} ps",
        f"  device      {_ms(totals['device_self'])} self, {_ms(totals['device_busy'])} busy "
        f"of {_ms(totals['wall'])}",
        f"  attributed  {_shares(rows)}",
        f"  counts      {counts['device_ops']:,} ops, {counts['launches']:,} launches, "
        f"{counts['dispatches']:,} dispatches, {counts['syncs']:,} syncs",
        f"  inflation   {profiled / unprofiled:.2f} = {profiled:.2f} / {unprofiled:.2f} ms a step, {pairs}",
        f"  profile     {file['bytes']:,} bytes, {file['events']:,} events",
    ]


def _shares(rows: list[Any]) -> str:
    """Device self time by the evidence that placed it."""
    time: Counter[str] = Counter()
    for row in rows:
        time.update(row.evidence)
    whole = sum(time.values()) or 1
    return ", ".join(f"{name} {100 * part / whole:.1f} %" for name, part in time.most_common()) or "nothing"


def _ms(figure: dict[str, Any]) -> str:
    return "no data" if figure["raw"] is None else f"{figure['raw'] / 1e6:,.2f} ms"
