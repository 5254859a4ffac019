"""The step time of a whole program: unprofiled, recorded, and corrected."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from itertools import chain

import numpy as np
import windows

ANCHORS = (0.03, 7, 1000)
RECORDED = (0.04, 2, 200)
"""A part of a round: seconds, and the fewest and most steps."""
AS_IT_WAS = 6
"""So many windows are recorded at whatever speed the machine has, the first of which stands for itself."""
PATIENCE = 3.0
"""Seconds that the later ones wait for full speed at most."""
ENOUGH = 10
"""Windows at one speed, after which a workload ends before its time."""
FEW = 3
"""With fewer windows at one speed throughout a row takes longer, and in the end is of all, and says so."""
LONGER = 3
"""Times as long, where the machine keeps to no speed."""
FEWEST = 5
"""Unprofiled steps of one speed, for them to tell what a step takes."""
METHODS = ("calibrated", "anchored")


def whole(name: str, seconds: float) -> list[dict]:
    """One row: the step time of a workload, raw and corrected, against the truth."""
    from workloads import SEVERAL_CORES, SEVERAL_THREADS, WORKLOADS

    confined = name not in SEVERAL_CORES
    steps = windows.Steps(confined)
    step = WORKLOADS[name]()
    for _ in range(3):
        step()
    active = windows.fitting(RECORDED[0], windows.discard_first_capture(step), *RECORDED[1:])
    anchors = windows.fitting(ANCHORS[0], windows.step_time(step), *ANCHORS[1:])
    truths: list[list[tuple[float, int]]] = []
    found: list[dict] = []
    began = time.monotonic()
    while len(found) < AS_IT_WAS or _goes_on(time.monotonic() - began, seconds, len(held(found, steps))):
        early = len(found) < AS_IT_WAS
        steps.wait_for_full_speed(0.0 if early else PATIENCE)
        with steps.on_one_core():
            truths.append(_unprofiled(step, steps, anchors))
        steps.wait_for_full_speed(0.0 if early else PATIENCE)
        with tempfile.TemporaryDirectory() as logdir:
            with steps.on_one_core():
                recording = windows.record(step, steps, anchors, active, logdir)
            if early or steps.are_wanted(steps.speeds(recording.recorded)).any():
                found.append({**_read(recording, steps), "round": len(truths) - 1})
    times, looks = np.array([took for took, _ in chain(*truths)]), [before for _, before in chain(*truths)]
    as_it_was = np.array([took for took, _ in chain(*truths[:AS_IT_WAS])])
    truth = _truths(times, steps.speeds(looks), steps)
    first, later = found[0], found[1:]
    steady = [one for one in held(found, steps) if steps.speed_of(one["looks"]) in truth]
    told = len(steady) >= FEW
    if told:
        # The speed wanders within what the looks call one speed: what ran just before and after says most.
        for one in later:
            one["beside"] = {**truth, **_truths_beside(one["round"], truths, steps)}
        used = {
            method: [_relative(one[figures], steps.speeds(one["looks"]), one["beside"]) for one in chosen]
            for method, figures, chosen in (
                ("calibrated", "calibrated", later),
                ("anchored", "anchored of its speed", steady),
            )
        }
    else:
        any_speed = dict.fromkeys((windows.CHANGED, *range(16)), typical(times))
        used = {
            method: [_relative(one[method], steps.speeds(one["looks"]), any_speed) for one in later]
            for method in METHODS
        }
    row = {
        "workload": name,
        "one_critical_thread": name not in SEVERAL_THREADS,
        "confined_to_a_core": confined,
        "at_known_speed": told,
        "unprofiled_ms": round((min(truth.values()) if told else typical(times)) / 1e6, 3),
        "steps": active,
        "windows": len(later),
        "windows_at_known_speed": len(steady),
        "steps_used": int(sum(len(one["raw"]) for one in used["calibrated"])),
        "share_at_full_speed": round(steps.share_at_full_speed, 2),
        "anchored_of_windows": sum(one["method"] == "anchored" for one in later),
    }
    for method in METHODS:
        row[method] = _against(1.0, _pooled(used[method]))
        row[method]["as_it_was_bias_pct"] = _bias(as_it_was, [one[method] for one in later[: AS_IT_WAS - 1]])
        row[method]["first_window_bias_pct"] = _bias(as_it_was, [first[method]])
    row["inflation"] = row["calibrated"]["inflation"]
    row["first_inflation"] = round(typical(first["calibrated"]["raw"]) / typical(as_it_was), 2)
    row["allowed_pct"] = round(100 * max(0.03, 0.1 * (row["inflation"] - 1)), 1)
    row["within"] = abs(row["calibrated"]["bias_pct"]) <= row["allowed_pct"]
    return [row]


def _goes_on(passed: float, seconds: float, steady: int) -> bool:
    return steady < ENOUGH and passed < (seconds if steady >= FEW else LONGER * seconds)


def held(found: list[dict], steps: windows.Steps) -> list[dict]:
    """The windows that were recorded at one speed throughout, between enough steps of that speed."""
    return [
        one for one in found[1:] if one["enough anchors"] and steps.speed_of(one["looks"]) != windows.CHANGED
    ]


def _truths(times: np.ndarray, speeds: np.ndarray, steps: windows.Steps) -> dict[int, float]:
    """What an unprofiled step takes at each speed, ns."""
    wanted = np.unique(speeds[steps.are_wanted(speeds)])
    return {int(one): typical(times[speeds == one]) for one in wanted if (speeds == one).sum() >= FEWEST}


def _truths_beside(
    number: int, truths: list[list[tuple[float, int]]], steps: windows.Steps
) -> dict[int, float]:
    """The same of the round of a window and the one after it."""
    times, looks = zip(*chain(*truths[number : number + 2]), strict=True)
    return _truths(np.array(times), steps.speeds(list(looks)), steps)


def _unprofiled(step: Callable[[], None], steps: windows.Steps, count: int) -> list[tuple[float, int]]:
    step()
    steps.look()
    found = steps.timed(step, count)
    steps.look()
    return found


def _read(recording: windows.Recording, steps: windows.Steps) -> dict:
    """One recording: its steps by each method, and their looks."""
    logdir = recording.logdir
    as_it_was = windows.report(logdir)
    found = {
        "looks": recording.recorded,
        "method": windows.method_of(as_it_was),
        "anchored": windows.steps_in(as_it_was),
        "enough anchors": windows.keep_anchors_of_its_speed(recording, steps),
    }
    found["anchored of its speed"] = windows.steps_in(windows.report(logdir))
    windows.rewrite(logdir, anchors=None)
    calibrated = windows.report(logdir)
    assert windows.method_of(calibrated) == "calibrated"
    return {**found, "calibrated": windows.steps_in(calibrated)}


def _relative(
    steps: dict[str, np.ndarray], speeds: np.ndarray, truth: dict[int, float]
) -> dict[str, np.ndarray]:
    """Recorded steps over what an unprofiled one of the same speed takes."""
    known = np.isin(speeds, list(truth))
    of_each = np.array([truth[int(one)] for one in speeds[known]])
    return {key: values[known] / of_each for key, values in steps.items()}


def _pooled(found: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {key: np.concatenate([window[key] for window in found]) for key in found[0]}


def _bias(times: np.ndarray, found: list[dict[str, np.ndarray]]) -> float:
    return _against(typical(times), _pooled(found))["bias_pct"]


def typical(times: np.ndarray) -> float:
    """The mean of all but the shortest and the longest tenth, which says what a step takes."""
    out = len(times) // 10
    return float(np.sort(times)[out : len(times) - out].mean())


def _against(truth: float, steps: dict[str, np.ndarray]) -> dict:
    """How far typical recorded steps, corrected, are off."""
    raw, corrected, half = (typical(steps[key]) / truth for key in ("raw", "corrected", "half"))
    low, high = max(corrected - half, 0), corrected + half
    return {
        "inflation": round(raw, 2),
        "bias_pct": round(100 * (corrected - 1), 1),
        "interval_pct": [round(100 * (low - 1), 1), round(100 * (high - 1), 1)],
        "truth_in_interval": low <= 1 <= high,
    }
