"""Single operations: their shares and times as the report gives them, against ablation.

The truth of an operation is the mean of its time alone and of what leaving it out saves, unprofiled and less
the empty loop; half their difference is how well it is known. Combinations that do not add up within 12 %
are refused, and listed.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable

import numpy as np
import windows
from accuracy_whole import ANCHORS, ENOUGH, FEW, METHODS, PATIENCE, RECORDED, held

ADDITIVE = 0.12
REPEATS = 4
"""Of every variant, in a round."""


def operations(name: str, seconds: float) -> list[dict]:
    """One row per operation of a combination."""
    from ablation import COMBINATIONS, program

    steps = windows.Steps(confined=True)
    segments = COMBINATIONS[name]
    every = tuple(range(len(segments)))
    variants = {every: program(segments, every), (): program(segments, ())}
    for one in every:
        variants.setdefault((one,), program(segments, (one,)))
        variants.setdefault(_without(every, one), program(segments, _without(every, one)))
    for step in variants.values():
        step()
        step()
    active = windows.fitting(RECORDED[0], windows.discard_first_capture(variants[every]), *RECORDED[1:])
    anchors = windows.fitting(ANCHORS[0], windows.step_time(variants[every]), *ANCHORS[1:])
    times: dict[tuple[int, ...], list[tuple[float, int]]] = {key: [] for key in variants}
    found: list[dict] = []
    deadline = time.monotonic() + seconds
    while len(found) <= FEW or (time.monotonic() < deadline and len(held(found, steps)) < ENOUGH):
        steps.wait_for_full_speed(PATIENCE)
        with steps.on_one_core():
            for _ in range(REPEATS):
                for key, step in variants.items():
                    step()
                    times[key].append(steps.timed_alone(step))
            steps.look()
        steps.wait_for_full_speed(PATIENCE)
        with tempfile.TemporaryDirectory() as logdir:
            with steps.on_one_core():
                recording = windows.record(variants[every], steps, anchors, active, logdir)
            found.append(_read(recording, steps))
    typical = {key: _at_full_speed(steps, values) for key, values in times.items()}
    steady, later = held(found, steps), found[1:]  # a first window is recorded into new memory
    # Where few held one speed throughout: those with most of their steps at full speed.
    fastest = sorted(later, key=lambda one: -float((steps.speeds(one["looks"]) == 0).mean()))
    used = steady if len(steady) >= FEW else fastest[:FEW]
    return _rows(name, segments, typical, used, active, len(later))


def _rows(
    name: str,
    segments: list[str],
    typical: dict[tuple[int, ...], float],
    used: list[dict],
    active: int,
    windows_in_all: int,
) -> list[dict]:
    every, loop = tuple(range(len(segments))), typical[()]
    additivity = sum(typical[(one,)] - loop for one in every) / (typical[every] - loop)
    profiled = statistics.fmean(one["calibrated"]["totals"]["wall"]["raw"] for one in used) / active
    truth, doubt = [], []  # how far the two ways of telling it are apart is as well as it is known
    for one in every:
        alone, saved = typical[(one,)] - loop, typical[every] - typical[_without(every, one)]
        truth.append((alone + saved) / 2)
        doubt.append(abs(alone - saved) / 2)
    rows = []
    for one in every:
        row = {
            "combination": name,
            "operation": segments[one],
            "inflation": round(profiled / typical[every], 2),
            "windows": windows_in_all,
            "windows_used": len(used),
            "additivity": round(additivity, 2),
            "refused": abs(additivity - 1) > ADDITIVE,
            "true_us": round(truth[one] / 1e3, 1),
            "truth_doubt_us": round(doubt[one] / 1e3, 1),
            "true_share_pct": round(100 * truth[one] / sum(truth), 1),
        }
        for method in METHODS:
            reports = [window[method] for window in used]
            row[method] = _judge(reports, active, segments, one, truth, doubt[one])
        rows.append(row)
    return rows


def _without(every: tuple[int, ...], one: int) -> tuple[int, ...]:
    return tuple(other for other in every if other != one)


def _at_full_speed(steps: windows.Steps, timed: list[tuple[float, int]]) -> float:
    """ns of a variant: its repeats at full speed, or the fastest fifth where few are."""
    times = np.array([took for took, _ in timed])
    fast = times[steps.speeds([before for _, before in timed]) == 0]
    return float(np.median(fast if len(fast) >= FEW else np.sort(times)[: max(len(times) // 5, FEW)]))


def _read(recording: windows.Recording, steps: windows.Steps) -> dict:
    """One recording's reports by either method, and its looks."""
    found: dict = {
        "looks": recording.recorded,
        "enough anchors": windows.keep_anchors_of_its_speed(recording, steps),
        "anchored": windows.report(recording.logdir).to_dict(),
    }
    windows.rewrite(recording.logdir, anchors=None)
    return {**found, "calibrated": windows.report(recording.logdir).to_dict()}


def _judge(
    reports: list[dict], steps: int, segments: list[str], one: int, truth: list[float], doubt: float
) -> dict:
    """Means over recordings of one operation's figures, a step."""
    figures = []
    for report in reports:
        found = {row["path"]: row["device"]["self"] for row in report["operations"]}
        figures.append([found[segment] for segment in segments])

    def mean(read: Callable[[list], float]) -> float:
        return statistics.fmean(read(each) for each in figures)

    raw, corrected, low, high = (
        mean(lambda each, key=key: _of_figure(each[one], key)) / steps
        for key in ("raw", "corrected", "low", "high")
    )
    removed = raw - corrected
    share = corrected * steps / max(mean(lambda each: sum(other["corrected"] for other in each)), 1)
    raw_share = raw * steps / mean(lambda each: sum(other["raw"] for other in each))
    true_share = truth[one] / sum(truth)
    half = (high - low) / 2
    return {
        "share_error_points": round(100 * (share - true_share), 2),
        "raw_share_error_points": round(100 * (raw_share - true_share), 2),
        "time_error_pct": round(100 * (corrected / truth[one] - 1), 1),
        "truth_in_interval": low <= truth[one] <= high,
        "interval_meets_truth": low <= truth[one] + doubt and truth[one] - doubt <= high,
        "half_width_of_removed": round(half / removed, 2) if removed > 0 else None,
        "not_resolved": half > corrected,
    }


def _of_figure(figure: dict, key: str) -> float:
    return figure[key] if key in figure else figure["interval"][key == "high"]
