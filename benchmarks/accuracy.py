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
    parser.add_argument("--markdown", action="store_true", help="print the tables of docs/correction.md")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(_measure(options.worker, options.only, options.seconds)))
        return
    from ablation import COMBINATIONS
    from accuracy_summary import line, summary, tables
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
                print(*map(line, rows), sep="\n", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({**found, "summary": summary(found)}, indent=1))
    else:
        print(tables(found) if options.markdown else json.dumps(summary(found), indent=1))


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


if __name__ == "__main__":
    main()
