"""Several windows of one run of a program, added up to one report."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from rlscope_jax.breakdown.callbacks import add_callbacks
from rlscope_jax.breakdown.compiles import add_compiles

Data = dict[str, Any]

_NAMES = ("program_id", "process", "id")  # numbers that name rather than count
_BLIND = 0.3
_STATES = ("ok", "degraded", "unusable")


def add_windows(reports: list[Data]) -> Data:
    """One report of several (`Report.to_dict()`), in the order of their windows.

    Times and counts are sums over the windows; what lies between windows is in none of them. That a program
    was still at work when a window closed is no fault here: windows are opened at any time.
    """
    first, last = reports[0], reports[-1]
    return {
        "schema": last["schema"],
        "session": {
            **first["session"],
            "files": [file for one in reports for file in one["session"]["files"]],
        },
        "processes": last["processes"],
        "devices": _joined(reports, "devices", lambda device: device["id"]),
        "environment": last["environment"],
        "health": _health(reports),
        "window": _window(reports),
        "steps": next((one["steps"] for one in reports if one["steps"]["wall"]), last["steps"]),
        "overhead": _overhead(reports),
        "totals": _sum([one["totals"] for one in reports]),
        "operations": _operations(reports),
        "programs": _joined(reports, "programs", lambda program: (program["program_id"], program["name"])),
        "compiles": add_compiles([one["compiles"] for one in reports]),
        "counts": _sum([one["counts"] for one in reports]),
        "callbacks": add_callbacks([one["callbacks"] for one in reports]),
        "findings": _findings(reports),
    }


def _operations(reports: list[Data]) -> list[Data]:
    """Rows of the same operation added up; shares of evidence weighted by the time they are shares of."""
    times: dict[Hashable, dict[str, float]] = {}

    def key(row: Data) -> Hashable:
        return row["process"], row["path"], row["direction"]

    for one in reports:
        for row in one["operations"]:
            of_row = times.setdefault(key(row), {})
            for evidence, share in row["evidence"].items():
                of_row[evidence] = of_row.get(evidence, 0.0) + share * row["device"]["self"]["raw"]
    rows = _joined(reports, "operations", key)
    for row in rows:
        evidence = times[key(row)]
        whole = sum(evidence.values())
        row["evidence"] = {name: round(time / whole, 6) for name, time in evidence.items() if whole}
    return sorted(rows, key=lambda row: (row["process"], row["kind"] == "special", row["path"]))


def _joined(reports: list[Data], section: str, key: Callable[[Data], Hashable]) -> list[Data]:
    found: dict[Hashable, list[Data]] = {}
    for one in reports:
        for item in one[section]:
            found.setdefault(key(item), []).append(item)
    return [_sum(items) for items in found.values()]


def _sum(parts: list[Any]) -> Any:
    """Add up values of the same shape: numbers are added, of names the last is kept."""
    last = parts[-1]
    if isinstance(last, dict):
        if set(last) == {"raw", "corrected", "interval"}:
            return _figure(parts)
        return {
            name: last[name] if name in _NAMES else _sum([part[name] for part in parts if name in part])
            for name in last
        }
    if isinstance(last, bool) or any(not isinstance(part, int | float) for part in parts):
        return last
    return sum(parts)


def _figure(parts: list[Data]) -> Data:
    known = [part for part in parts if part["raw"] is not None]
    corrected = [part["corrected"] for part in known]
    intervals = [part["interval"] for part in known]
    whole = bool(known) and None not in corrected
    return {
        "raw": sum(part["raw"] for part in known) if known else None,
        "corrected": sum(corrected) if whole else None,
        "interval": [sum(ends) for ends in zip(*intervals, strict=True)]
        if whole and None not in intervals
        else None,
    }


def _health(reports: list[Data]) -> Data:
    """What ails the run: not that a window closed upon a program, or that nothing ran in one of them."""
    natural = {"window_closed_early"}
    if any(one["counts"]["device_ops"] for one in reports):
        natural.add("no_device_ops")
    problems: dict[str, Data] = {}
    worst = "ok"
    for one in reports:
        told = [problem for problem in one["health"]["problems"] if problem["code"] not in natural]
        for problem in told:
            problems.setdefault(problem["code"], problem)
        if len(told) == len(one["health"]["problems"]):
            worst = max(worst, one["health"]["verdict"], key=_STATES.index)
    if problems:
        worst = max(worst, "degraded", key=_STATES.index)
    blind = _blind(reports)
    if blind is not None:
        problems.setdefault(blind["code"], blind)
        worst = max(worst, "degraded", key=_STATES.index)
    covered = [one["health"]["covered"] for one in reports if one["health"]["covered"] is not None]
    return {
        "verdict": worst,
        "covered": sum(covered) / len(covered) if covered else None,
        "problems": list(problems.values()),
    }


def _blind(reports: list[Data]) -> Data | None:
    """A problem where nothing was seen for long, though the program was within one call all the time."""
    wall = sum(one["totals"]["wall"]["raw"] or 0 for one in reports)
    idle = sum(one["totals"]["idle"]["raw"] or 0 for one in reports)
    called = any(one["counts"]["dispatches"] for one in reports)
    if called or idle < _BLIND * wall or not any(one["counts"]["device_ops"] for one in reports):
        return None
    return {
        "code": "long_ops",
        "message": f"for {100 * idle / wall:.0f} % of the windows nothing was seen, though the program was "
        "within a call: an op that a window's edge cuts leaves no event, and counts as idle here.",
        "hint": "record longer windows, e.g. rlscope-jax record --window 2",
    }


def _findings(reports: list[Data]) -> list[Data]:
    """What at least half of the windows tell, with the figures of the one in which it weighs most."""
    told: dict[Hashable, list[Data]] = {}
    for one in reports:
        for finding in one["findings"]:
            told.setdefault((finding["code"], finding["operation"], finding["program"]), []).append(finding)
    often = [found for found in told.values() if 2 * len(found) >= len(reports)]
    heaviest = [max(found, key=lambda finding: finding["gain_ns"] or 0) for found in often]
    return sorted(heaviest, key=lambda finding: -(finding["gain_ns"] or 0))


def _window(reports: list[Data]) -> Data:
    windows = [one["window"] for one in reports]
    return {
        **windows[0],
        "windows": len(windows),
        "wall_ns": sum(window["wall_ns"] for window in windows),
        "steps": sum(window["steps"] for window in windows),
        "first_step": _least([window["first_step"] for window in windows], min),
        "last_step": _least([window["last_step"] for window in windows], max),
        "step_source": next(
            (window["step_source"] for window in windows if window["step_source"] != "none"), "none"
        ),
    }


def _least(numbers: list[int | None], choose: Callable[[list[int]], int]) -> int | None:
    known = [number for number in numbers if number is not None]
    return choose(known) if known else None


def _overhead(reports: list[Data]) -> Data:
    parts = [one["overhead"] for one in reports]
    uncorrected = [part for part in parts if part["correction"] == "none"]
    if uncorrected:
        reason = next((part["reason"] for part in uncorrected if part["reason"]), None)
        if len(uncorrected) < len(parts):
            reason = f"{len(uncorrected)} of {len(parts)} windows are not corrected: {reason}"
        nothing = dict.fromkeys(("inflation", "removed", "anchors"))
        return {**parts[-1], "correction": "none", **nothing, "reason": reason}
    # Where some windows are anchored and others calibrated: as most of the time recorded is.
    recorded: dict[str, int] = {}
    for one, part in zip(reports, parts, strict=True):
        method = part["correction"]
        recorded[method] = recorded.get(method, 0) + one["totals"]["wall"]["raw"]
    method = max(recorded, key=lambda method: recorded[method])
    chosen = [part for part in parts if part["correction"] == method]
    wall = _figure([one["totals"]["wall"] for one in reports])
    removed = [part["removed"] for part in parts]
    return {
        **chosen[-1],
        "inflation": round(wall["raw"] / wall["corrected"], 4) if wall["corrected"] else None,
        "removed": {
            "ns": sum(part["ns"] for part in removed),
            "interval": [sum(ends) for ends in zip(*(part["interval"] for part in removed), strict=True)],
        },
        "anchors": _anchors([part["anchors"] for part in chosen]),
    }


def _anchors(parts: list[Data | None]) -> Data | None:
    """What windows of one call say alike; of several calls only what can be added up is said."""
    calls = {part["base_ns"]: part for part in parts if part is not None and "iterations" in part}
    if len(calls) < 2:
        return parts[-1]
    iterations = sum(part["iterations"] for part in calls.values())
    return {**dict.fromkeys(next(iter(calls.values()))), "calls": len(calls), "iterations": iterations}
