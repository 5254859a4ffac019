"""How true are corrected figures? Whole programs and single operations, profiled and not, in turn.

    python benchmarks/accuracy.py [--rounds 12] [--only NAME] [--json]

Calibrates this machine (from other programs only), then runs every workload in a process of its own. One
round is: unprofiled steps, which `profile()` times as anchors; profiled steps; unprofiled steps, which are
the truth.
The machine should be quiet: on a shared one start it with `chrt -f 10`.

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

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]
WORKERS = ("whole", "operations")
STEPS = 6
ADDITIVE = 0.12


def main() -> None:
    """Calibrate, run every workload in its own process, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=20.0, help="at most, for one workload")
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


def discard_first_capture(step: Callable[[], None]) -> None:
    """A process' first capture costs more."""
    from rlscope_jax import profile

    with tempfile.TemporaryDirectory() as logdir, profile(logdir) as profiler:
        step()
        profiler.step()


def record(step: Callable[[], None], logdir: str) -> dict:
    """One window of some steps after unprofiled ones, as its report."""
    from rlscope_jax import Schedule, load, profile

    with profile(logdir, Schedule(wait=STEPS + 1, active=STEPS, repeat=1)) as profiler:
        for _ in range(2 * STEPS + 1):
            step()
            profiler.step()
    return load(logdir).to_dict()


def both_ways(logdir: str, anchored: dict) -> dict:
    """The same recording without its anchors: corrected by this machine's constants alone."""
    from rlscope_jax import load

    for sidecar in Path(logdir).glob("plugins/rlscope/*.json"):
        content = json.loads(sidecar.read_text())
        content["anchors"] = None
        sidecar.write_text(json.dumps(content))
    report = load(logdir).to_dict()
    assert report["overhead"]["correction"] == "calibrated"
    return report


def whole(name: str, rounds: int, seconds: float) -> list[dict]:
    """One row: the step time of a workload, raw and corrected, against the truth."""
    from workloads import SEVERAL_THREADS, WORKLOADS

    step = WORKLOADS[name]()
    for _ in range(3):
        step()
    discard_first_capture(step)
    rounds_found = []
    deadline = time.monotonic() + seconds
    for _ in range(rounds):
        if time.monotonic() > deadline and len(rounds_found) >= 3:
            break
        step()
        truths = [timed(step) for _ in range(STEPS)]
        with tempfile.TemporaryDirectory() as logdir:
            anchored = record(step, logdir)
            calibrated = both_ways(logdir, anchored)
        step()
        truths += [timed(step) for _ in range(STEPS)]
        rounds_found.append(_one_round(statistics.median(truths), calibrated, anchored, truths))
    middle = {key: statistics.median(each[key] for each in rounds_found) for key in rounds_found[0]}
    inflation = middle["raw"]
    allowed = max(0.03, 0.1 * (inflation - 1))
    bias = middle["calibrated"] - 1
    return [{
        "workload": name,
        "one_critical_thread": name not in SEVERAL_THREADS,
        "unprofiled_ms": round(middle["truth"] / 1e6, 3),
        "inflation": round(inflation, 2),
        "calibrated_bias_pct": round(100 * bias, 1),
        "allowed_pct": round(100 * allowed, 1),
        "within": abs(bias) <= allowed,
        "interval_pct": [round(100 * (middle[key] - 1), 1) for key in ("low", "high")],
        "truth_in_interval": middle["low"] <= 1 <= middle["high"],
        "anchored_bias_pct": round(100 * (middle["anchored"] - 1), 1),
        "anchored_interval_pct": [round(100 * (middle[key] - 1), 1) for key in ("alow", "ahigh")],
        "anchored_truth_in_interval": middle["alow"] <= 1 <= middle["ahigh"],
        "anchored_of_rounds": sum(each["is_anchored"] for each in rounds_found),
        "truth_scatter_pct": round(100 * middle["scatter"], 1),
        "rounds": len(rounds_found),
        "each": [{key: round(value, 4) for key, value in each.items()} for each in rounds_found],
    }]  # fmt: skip


def _one_round(truth: float, calibrated: dict, anchored: dict, truths: list[float]) -> dict[str, float]:
    """A recording's figures over the unprofiled time just before and after it: slow drift cancels."""
    one, two = calibrated["steps"]["wall"]["median"], anchored["steps"]["wall"]["median"]
    figures = {
        "raw": one["raw"],
        **dict(zip(("calibrated", "low", "high"), (one["corrected"], *one["interval"]), strict=True)),
        **dict(zip(("anchored", "alow", "ahigh"), (two["corrected"], *two["interval"]), strict=True)),
    }
    return {
        **{key: value / truth for key, value in figures.items()},
        "truth": truth,
        "scatter": _scatter(truths) / truth,
        "is_anchored": anchored["overhead"]["correction"] == "anchored",
    }


def _scatter(values: list[float]) -> float:
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


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
    discard_first_capture(variants[every])
    times: dict[tuple[int, ...], list[float]] = {key: [] for key in variants}
    reports: dict[str, list[dict]] = {"calibrated": [], "anchored": []}
    deadline = time.monotonic() + seconds
    for _ in range(rounds):
        if time.monotonic() > deadline and len(reports["calibrated"]) >= 3:
            break
        for _ in range(3):
            for key, step in variants.items():
                step()
                times[key].append(timed(step))
        with tempfile.TemporaryDirectory() as logdir:
            anchored = record(variants[every], logdir)
            reports["anchored"].append(anchored)
            reports["calibrated"].append(both_ways(logdir, anchored))
    median = {key: statistics.median(values) for key, values in times.items()}
    loop = median[()]
    additivity = sum(median[(one,)] - loop for one in every) / (median[every] - loop)
    inflation = (
        statistics.median(r["steps"]["wall"]["median"]["raw"] for r in reports["calibrated"]) / median[every]
    )
    truth, doubt = [], []  # how far the two ways of telling it apart are is as well as it is known
    for one in every:
        rest = tuple(other for other in every if other != one)
        alone, saved = median[(one,)] - loop, median[every] - median[rest]
        truth.append((alone + saved) / 2)
        doubt.append(abs(alone - saved) / 2)
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
            row[method] = _judge(found, segments, one, truth, doubt[one])
        rows.append(row)
    return rows


def _judge(reports: list[dict], segments: list[str], one: int, truth: list[float], doubt: float) -> dict:
    """Medians over recordings of one operation's figures, a step."""
    figures = []
    for report in reports:
        found = {row["path"]: row["device"]["self"] for row in report["operations"]}
        figures.append([found[segment] for segment in segments])

    def median(read: Callable[[list], float]) -> float:
        return statistics.median(read(each) for each in figures)

    raw, corrected, low, high = (
        median(lambda each, key=key: _read(each[one], key)) / STEPS
        for key in ("raw", "corrected", "low", "high")
    )
    removed = raw - corrected
    share = median(lambda each: each[one]["corrected"] / max(sum(other["corrected"] for other in each), 1))
    raw_share = median(lambda each: each[one]["raw"] / sum(other["raw"] for other in each))
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


def summary(found: dict[str, list]) -> dict:
    """What the issue asks of the table."""
    result: dict = {}
    single = [row for row in found["whole"] if row["one_critical_thread"]]
    if single:
        worst = max(found["whole"], key=lambda row: abs(row["calibrated_bias_pct"]))
        result["whole"] = {
            "workloads": len(found["whole"]),
            "median_abs_bias_pct": statistics.median(abs(r["calibrated_bias_pct"]) for r in found["whole"]),
            "median_abs_anchored_bias_pct": statistics.median(
                abs(r["anchored_bias_pct"]) for r in found["whole"]
            ),
            "beyond_allowed_on_one_thread": [r["workload"] for r in single if not r["within"]],
            "worst_up_to_3": max(
                (abs(r["calibrated_bias_pct"]) for r in found["whole"] if r["inflation"] <= 3), default=None
            ),
            "worst": [worst["workload"], worst["calibrated_bias_pct"], worst["inflation"]],
            "truth_in_interval": _count(found["whole"]),
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
            print(
                f"{row['workload']:42} {row['unprofiled_ms']:8.2f} ms x{row['inflation']:5.2f}  "
                f"calibrated {row['calibrated_bias_pct']:+6.1f} % (allowed {row['allowed_pct']:.1f}) "
                f"{row['interval_pct']} {'in' if row['truth_in_interval'] else 'OUT'}  "
                f"anchored {row['anchored_bias_pct']:+6.1f} % "
                f"{'in' if row['anchored_truth_in_interval'] else 'OUT'}",
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
