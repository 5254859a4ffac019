"""How true are corrected figures? Whole programs and single operations, profiled and not, in turn.

    python benchmarks/accuracy.py [--seconds 30] [--only NAME] [--json]

Calibrates this machine (from other programs only), then runs every workload in a process of its own, see
accuracy_whole.py and accuracy_operations.py. What shall be compared is measured at the machine's full speed,
see windows.py; how true the figures were at whatever speed it had is given beside.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]
WORKERS = ("whole", "operations")


def main() -> None:
    """Calibrate, run every workload in its own process, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="for one workload")
    parser.add_argument("--only", metavar="NAME", help="one workload or combination")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(_measure(options.worker, options.only, options.seconds)))
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
    print(json.dumps({**found, "summary": summary(found)} if options.json else summary(found), indent=1))


def _measure(worker: str, name: str, seconds: float) -> list[dict]:
    if worker == "whole":
        from accuracy_whole import whole

        return whole(name, seconds)
    from accuracy_operations import operations

    return operations(name, seconds)


def _environment(cache: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache}


def _in_process(worker: str, name: str, options: argparse.Namespace, cache: str) -> list[dict]:
    from workloads import FLAGS

    command = [sys.executable, __file__, "--worker", worker, "--only", name,
               "--seconds", str(options.seconds)]  # fmt: skip
    environment = {**_environment(cache), "XLA_FLAGS": FLAGS.get(name, "")}
    # numba's machine code is kept beside the sources, not in the cache of this run.
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name}: failed\n{done.stderr[-1500:]}", file=sys.stderr)
        return []
    return json.loads(done.stdout.splitlines()[-1])


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
                "as_it_was": statistics.median(
                    abs(row[method]["as_it_was_bias_pct"]) for row in found["whole"]
                ),
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
                f"(as it was {row[method]['as_it_was_bias_pct']:+.1f}, "
                f"first window {row[method]['first_window_bias_pct']:+.1f})"
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
