"""How true are corrected figures? Whole programs and single operations, profiled and not, in turn.

    python benchmarks/accuracy.py [--rounds 12] [--only NAME] [--json]

Calibrates this machine (from other programs only), then runs every workload in a process of its own. One
round is: unprofiled steps, which are half of the truth; as many that `profile()` times as anchors; as many
profiled; as many anchors; and the other half of the truth.

A virtual core whose other half works for somebody else is half as fast, for tenths of a second at a time. So
for the calibrated figure the fastest fifth of all profiled steps is compared with the fastest fifth of all
unprofiled ones. They are those that touched no new memory: what that cost is left out there, and the first
window, which is recorded into new memory, stands for itself: by its mean, like the anchored figure. Single
operations are means over all windows but the first.

Single operations: scans whose body is several operations. The truth of one is the mean of its time alone
and of what leaving it out saves, unprofiled and less the empty loop; half their difference is how well it is
known. Combinations that do not add up within 12 % are refused, and listed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Report

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]
WORKERS = ("whole", "operations")
STEPS = 6, 1000
"""Of each part of a round, at least and at most."""
UNPROFILED, PROFILED = 0.3, 0.8
"""Seconds that a part takes, within these steps: the one, or less where profiled it would take the other."""
ADDITIVE = 0.12


def main() -> None:
    """Calibrate, run every workload in its own process, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=25.0, help="at most, for one workload")
    parser.add_argument("--only", metavar="NAME", help="one workload or combination")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        measure = whole if options.worker == "whole" else operations
        print(json.dumps(measure(options.only, options.rounds, options.seconds)))
        return
    from ablation import COMBINATIONS
    from workloads import WORKLOADS

    with tempfile.TemporaryDirectory() as cache:
        subprocess.run(
            [sys.executable, "-m", "rlscope_jax", "calibrate"], check=True, env=_environment(cache),
            stdout=sys.stderr,
        )  # fmt: skip
        found: dict[str, list] = {}
        for worker, names in (("whole", WORKLOADS), ("operations", COMBINATIONS)):
            chosen = [name for name in names if options.only in (None, name)]
            found[worker] = []
            for name in chosen:
                rows = _in_process(worker, name, options, cache)
                found[worker] += rows
                if not options.json:
                    _print(worker, rows)
    if options.json:
        print(json.dumps({**found, "summary": summary(found)}, indent=1))
    else:
        print(json.dumps(summary(found), indent=1))


def _environment(cache: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache}


def _in_process(worker: str, name: str, options: argparse.Namespace, cache: str) -> list[dict]:
    from workloads import FLAGS

    command = [sys.executable, __file__, "--worker", worker, "--only", name, "--rounds", str(options.rounds),
               "--seconds", str(options.seconds)]  # fmt: skip
    environment = {**_environment(cache), "XLA_FLAGS": FLAGS.get(name, "")}
    # numba's machine code is kept beside the sources, not in the cache of this run.
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name}: failed\n{done.stderr[-1500:]}", file=sys.stderr)
        return []
    return json.loads(done.stdout.splitlines()[-1])


def timed(step: Callable[[], None]) -> float:
    """Nanoseconds of one step."""
    began = time.perf_counter_ns()
    step()
    return float(time.perf_counter_ns() - began)


def steps_of(step: Callable[[], None], recorded: float) -> int:
    """How many steps make a part of a round; `recorded`: nanoseconds of one profiled step."""
    once = statistics.median(timed(step) for _ in range(5))
    return int(np.clip(min(UNPROFILED * 1e9 / once, PROFILED * 1e9 / recorded), *STEPS))


def discard_first_capture(step: Callable[[], None]) -> float:
    """A process' first capture costs more. Nanoseconds of its step."""
    from rlscope_jax import load, profile

    with tempfile.TemporaryDirectory() as logdir:
        with profile(logdir) as profiler:
            step()
            profiler.step()
        return load(logdir).to_dict()["steps"]["wall"]["median"]["raw"]


def record(step: Callable[[], None], count: int, logdir: str) -> Report:
    """One window of `count` steps, with unprofiled ones on either side, as its report."""
    from rlscope_jax import Schedule, load, profile

    with profile(logdir, Schedule(wait=count + 1, active=count, repeat=1)) as profiler:
        for _ in range(3 * count + 2):
            step()
            profiler.step()
    return load(logdir)


def without(logdir: str, **changes: object) -> Report:
    """The same recording without its anchors: corrected by this machine's constants alone."""
    from rlscope_jax import load

    for sidecar in Path(logdir).glob("plugins/rlscope/*.json"):
        content = json.loads(sidecar.read_text())
        sidecar.write_text(json.dumps({**content, "anchors": None, **changes}))
    report = load(logdir)
    assert method_of(report) == "calibrated"
    return report


def method_of(report: Report) -> str:
    """Which correction it is."""
    [process] = report.processes
    return process.figures.corrected.correction.method.name


def steps_in(report: Report) -> dict[str, np.ndarray]:
    """Of each recorded step: its time, raw, corrected, and the corrected one's half-width; ns."""
    [process] = report.processes
    spans = np.array([step.end - step.start for step in process.steps]) / 1e3
    correction = process.figures.corrected.correction
    removed = np.array(correction.steps) / 1e3
    corrected = np.maximum(spans - removed, 0)
    return {"raw": spans, "corrected": corrected, "half": removed * correction.total_spread}


def fastest(times: np.ndarray) -> np.ndarray:
    """Which steps belong to the fastest fifth."""
    return np.argsort(times, kind="stable")[: max(len(times) // 5, 3)]


def whole(name: str, rounds: int, seconds: float) -> list[dict]:
    """One row: the step time of a workload, raw and corrected, against the truth."""
    from workloads import SEVERAL_THREADS, WORKLOADS

    step = WORKLOADS[name]()
    for _ in range(3):
        step()
    count = steps_of(step, discard_first_capture(step))
    truths: list[float] = []
    found: dict[str, list[dict]] = {"calibrated": [], "anchored": [], "fastest": []}
    methods = []
    deadline = time.monotonic() + seconds
    for _ in range(rounds):
        if time.monotonic() > deadline and len(methods) >= 3:
            break
        step()
        truths += [timed(step) for _ in range(count)]
        with tempfile.TemporaryDirectory() as logdir:
            anchored = record(step, count, logdir)
            found["anchored"].append(steps_in(anchored))
            found["calibrated"].append(steps_in(without(logdir)))
            found["fastest"].append(steps_in(without(logdir, page_faults=0)))
        methods.append(method_of(anchored))
        step()
        truths += [timed(step) for _ in range(count)]
    every = np.array(truths)
    truth = float(every[fastest(every)].mean())
    row = {
        "workload": name,
        "one_critical_thread": name not in SEVERAL_THREADS,
        "unprofiled_ms": round(truth / 1e6, 3),
        "anchored_of_rounds": methods.count("anchored"),
        "rounds": len(methods),
        "steps": count,
        "speeds": [round(float(np.quantile(every, share)) / truth, 2) for share in (0.5, 0.9)],
    }
    fast = _pooled(found.pop("fastest")[1:])
    chosen = fastest(fast["raw"])
    row["calibrated"] = _against(truth, {key: values[chosen] for key, values in fast.items()})
    row["anchored"] = _against(every.mean(), _pooled(found["anchored"][1:]))
    for method, windows in found.items():
        row[method]["first_window_bias_pct"] = _against(every.mean(), windows[0])["bias_pct"]
    row["inflation"] = row["calibrated"]["inflation"]
    row["first_inflation"] = _against(every.mean(), found["calibrated"][0])["inflation"]
    row["allowed_pct"] = round(100 * max(0.03, 0.1 * (row["inflation"] - 1)), 1)
    row["within"] = abs(row["calibrated"]["bias_pct"]) <= row["allowed_pct"]
    return [row]


def _pooled(windows: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {key: np.concatenate([window[key] for window in windows]) for key in windows[0]}


def _against(truth: float, steps: dict[str, np.ndarray]) -> dict:
    """How far the mean of recorded steps, corrected, is off."""
    raw, corrected, half = (float(steps[key].mean() / truth) for key in ("raw", "corrected", "half"))
    low, high = max(corrected - half, 0), corrected + half
    return {
        "inflation": round(raw, 2),
        "bias_pct": round(100 * (corrected - 1), 1),
        "interval_pct": [round(100 * (low - 1), 1), round(100 * (high - 1), 1)],
        "truth_in_interval": low <= 1 <= high,
    }


def operations(name: str, rounds: int, seconds: float) -> list[dict]:
    """One row per operation of a combination: its share and time, raw and corrected, against ablation."""
    from ablation import COMBINATIONS, program

    segments = COMBINATIONS[name]
    every = tuple(range(len(segments)))
    variants = {every: program(segments, every), (): program(segments, ())}
    for one in every:
        variants.setdefault((one,), program(segments, (one,)))
        rest = tuple(other for other in every if other != one)
        variants.setdefault(rest, program(segments, rest))
    for step in variants.values():
        step()
        step()
    count = steps_of(variants[every], discard_first_capture(variants[every]))
    repeats = max(count // 4, 3)
    times: dict[tuple[int, ...], list[float]] = {key: [] for key in variants}
    reports: dict[str, list[dict]] = {"calibrated": [], "anchored": []}
    deadline = time.monotonic() + seconds
    for _ in range(rounds):
        if time.monotonic() > deadline and len(reports["calibrated"]) >= 3:
            break
        for _ in range(repeats):
            for key, step in variants.items():
                step()
                times[key].append(timed(step))
        with tempfile.TemporaryDirectory() as logdir:
            reports["anchored"].append(record(variants[every], count, logdir).to_dict())
            reports["calibrated"].append(without(logdir).to_dict())
    fast = {
        key: statistics.fmean(sorted(values)[: max(len(values) // 5, 3)]) for key, values in times.items()
    }
    loop, mean = fast[()], statistics.fmean(times[every])
    additivity = sum(fast[(one,)] - loop for one in every) / (fast[every] - loop)
    profiled = statistics.fmean(report["totals"]["wall"]["raw"] for report in reports["calibrated"]) / count
    inflation = profiled / mean
    truth, doubt = [], []  # how far the two ways of telling it apart are is as well as it is known
    for one in every:
        rest = tuple(other for other in every if other != one)
        alone, saved = fast[(one,)] - loop, fast[every] - fast[rest]
        truth.append((alone + saved) / 2)
        doubt.append(abs(alone - saved) / 2)
    # Recordings are made at all of the machine's speeds: times, unlike shares, are compared at their mean.
    slower = mean / fast[every]
    truth, doubt = [one * slower for one in truth], [one * slower for one in doubt]
    rows = []
    for one in every:
        row = {
            "combination": name,
            "operation": segments[one],
            "inflation": round(inflation, 2),
            "additivity": round(additivity, 2),
            "refused": abs(additivity - 1) > ADDITIVE,
            "true_us": round(truth[one] / 1e3, 1),
            "truth_doubt_us": round(doubt[one] / 1e3, 1),
            "true_share_pct": round(100 * truth[one] / sum(truth), 1),
        }
        for method, found in reports.items():
            row[method] = _judge(found[1:], count, segments, one, truth, doubt[one])
            first = _judge(found[:1], count, segments, one, truth, doubt[one])
            row[method]["first_window_share_error_points"] = first["share_error_points"]
        rows.append(row)
    return rows


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
        mean(lambda each, key=key: _read(each[one], key)) / steps
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


def _read(figure: dict, key: str) -> float:
    return figure[key] if key in figure else figure["interval"][key == "high"]


def _count(rows: list[dict]) -> str:
    return f"{sum(row['truth_in_interval'] for row in rows)} of {len(rows)}"


def _typical_bias(rows: list[dict], method: str) -> float | None:
    return statistics.median(abs(row[method]["bias_pct"]) for row in rows) if rows else None


def summary(found: dict[str, list]) -> dict:
    """What the issue asks of the table."""
    result: dict = {}
    single = [row for row in found["whole"] if row["one_critical_thread"]]
    if single:
        small = [row for row in found["whole"] if row["inflation"] <= 3]
        result["whole"] = {
            "workloads": len(found["whole"]),
            "beyond_allowed_on_one_thread": [row["workload"] for row in single if not row["within"]],
        }
        for method in ("calibrated", "anchored"):
            worst = max(found["whole"], key=lambda row: abs(row[method]["bias_pct"]))
            result["whole"][method] = {
                "median_abs_bias_pct": _typical_bias(found["whole"], method),
                "up_to_3": _typical_bias(small, method),
                "worst_up_to_3": max((abs(row[method]["bias_pct"]) for row in small), default=None),
                "worst": [worst["workload"], worst[method]["bias_pct"], worst["inflation"]],
                "first_window": statistics.median(
                    abs(row[method]["first_window_bias_pct"]) for row in found["whole"]
                ),
                "truth_in_interval": _count([row[method] for row in found["whole"]]),
            }
    rows = [row for row in found["operations"] if not row["refused"] and row["inflation"] <= 3.5]
    refused = sorted({row["combination"] for row in found["operations"] if row["refused"]})
    for method in ("calibrated", "anchored") if rows else ():
        errors = sorted(abs(row[method]["share_error_points"]) for row in rows)
        widths = [row[method]["half_width_of_removed"] for row in rows]
        large = [row for row in rows if row["true_share_pct"] >= 10]
        result[f"operations, {method}"] = {
            "operations": len(rows),
            "share_error_median": statistics.median(errors),
            "share_error_p90": errors[int(0.9 * (len(errors) - 1))],
            "share_error_worst": errors[-1],
            "first_window_share_error_median": statistics.median(
                abs(row[method]["first_window_share_error_points"]) for row in rows
            ),
            "raw_share_error_median": statistics.median(
                abs(r[method]["raw_share_error_points"]) for r in rows
            ),
            "meets_truth_pct": round(
                100 * sum(row[method]["interval_meets_truth"] for row in rows) / len(rows)
            ),
            "covered_pct": round(100 * sum(row[method]["truth_in_interval"] for row in rows) / len(rows)),
            "median_half_width_of_removed": statistics.median(w for w in widths if w is not None),
            "not_resolved_of_large_pct": round(
                100 * sum(r[method]["not_resolved"] for r in large) / max(len(large), 1)
            ),
            "refused": refused,
        }
    return result


def _print(worker: str, rows: list[dict]) -> None:
    for row in rows:
        if worker == "whole":
            each = "  ".join(
                f"{method} {row[method]['bias_pct']:+6.1f} % {row[method]['interval_pct']} "
                f"{'in' if row[method]['truth_in_interval'] else 'OUT'} "
                f"(first window {row[method]['first_window_bias_pct']:+.1f})"
                for method in ("calibrated", "anchored")
            )
            print(
                f"{row['workload']:42} {row['unprofiled_ms']:8.2f} ms x{row['inflation']:5.2f}  allowed "
                f"{row['allowed_pct']:.1f}  {each}",
                flush=True,
            )
        else:
            one, two = row["calibrated"], row["anchored"]
            print(
                f"{row['combination'][:24]:24} {row['operation']:10} x{row['inflation']:5.2f} "
                f"add {row['additivity']:.2f}"
                f"{' refused' if row['refused'] else ''} true {row['true_us']:8.1f} us "
                f"{row['true_share_pct']:5.1f} %  "
                f"raw {one['raw_share_error_points']:+6.1f}  calibrated {one['share_error_points']:+6.1f} "
                f"({one['time_error_pct']:+.0f} %) {'in' if one['truth_in_interval'] else 'OUT'} "
                f"w {one['half_width_of_removed']}  anchored {two['share_error_points']:+6.1f} "
                f"{'in' if two['truth_in_interval'] else 'OUT'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
