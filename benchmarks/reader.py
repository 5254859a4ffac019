"""How fast is a profile read, and does time grow with it? Fresh processes in turn, medians.

    python benchmarks/reader.py PROFILE... [--iterations 5] [--xprof-python PATH] [--json]

PROFILE is an xplane.pb or a directory with one, e.g. made by `make_trace.py 200000 DIR` of ../shared/bench
(2.0 M events, 114 MB). With several, the growth from the smallest to the others is shown too.

Compared: `rlscope-jax report --json`; loops over jax.profiler.ProfileData; xprof's tools, where an
interpreter that has xprof is named. Each reader runs in a process of its own, the readers interleaved; time
is that of the whole process, memory its peak. `cold` compiles everything, once: an empty numba cache.
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
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LOOP = """
import sys
from jax.profiler import ProfileData
for plane in ProfileData.from_file(sys.argv[1]).planes:
    for line in plane.lines:
        for event in line.events:
            event.name, event.start_ns, event.duration_ns{stats}
"""
XPROF = """
import sys
from xprof.convert.raw_to_tool_data import xspace_to_tool_data
assert xspace_to_tool_data([sys.argv[1]], {tool!r}, {{}})[0] is not None
"""
XPROF_TOOLS = ("framework_op_stats", "hlo_stats", "op_profile")
# As installed: every reader's modules are compiled to bytecode beforehand, ours by the first run here.
INSTALLED = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
OURS, COLD = "rlscope-jax report --json", "the same, cold"


class Cost(NamedTuple):
    """What one process took."""

    seconds: float
    peak: int
    """Resident memory, in bytes."""


def commands(xprof_python: str | None) -> dict[str, list[str]]:
    """Each reader's command, less the path of the profile."""
    found = {
        OURS: [sys.executable, "-m", "rlscope_jax", "report", "--json"],
        "ProfileData, names and times": [sys.executable, "-c", LOOP.format(stats="")],
        "ProfileData, stats too": [sys.executable, "-c", LOOP.format(stats=", dict(event.stats)")],
    }
    if xprof_python:
        for tool in XPROF_TOOLS:
            found[f"xprof {tool}"] = [xprof_python, "-c", XPROF.format(tool=tool)]
    return found


def run(command: list[str], profile: Path, **environment: str) -> Cost:
    """Read the profile in a fresh process and directory: xprof leaves its results beside a profile."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / profile.name
        path.symlink_to(profile.resolve())
        began = time.perf_counter()
        process = subprocess.Popen(
            [*command, str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**INSTALLED, "PYTHONPATH": str(ROOT), **environment},
        )
        assert process.stderr is not None
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
    if status:
        raise SystemExit(f"{command[:3]} failed:\n{complaint.decode()[-2000:]}")
    return Cost(seconds, usage.ru_maxrss * 1024)


def measure(profile: Path, iterations: int, xprof_python: str | None) -> dict[str, Cost]:
    """The median cost of each reader."""
    readers = commands(xprof_python)
    with tempfile.TemporaryDirectory() as empty:
        costs = defaultdict(list, {COLD: [run(readers[OURS], profile, NUMBA_CACHE_DIR=empty)]})
    run(readers[OURS], profile)  # fills the cache
    for _ in range(iterations):
        for name, command in readers.items():
            costs[name].append(run(command, profile))
    return {name: Cost(*map(statistics.median, zip(*costs[name], strict=True))) for name in [*readers, COLD]}


def rows(profile: Path, costs: dict[str, Cost]) -> list[dict]:
    """One row a reader, compared with ours and with the file's size."""
    return [
        {
            "reader": name,
            "seconds": round(cost.seconds, 2),
            "times_ours": round(cost.seconds / costs[OURS].seconds, 1),
            "peak_over_file": round(cost.peak / profile.stat().st_size, 2),
            "peak_mb": round(cost.peak / 1e6),
        }
        for name, cost in costs.items()
    ]


def print_table(profile: Path, found: list[dict]) -> None:
    """Print the rows of one profile."""
    print(f"{profile}: {profile.stat().st_size / 1e6:.0f} MB")
    print(f"{'':32}{'seconds':>9}{'x ours':>9}{'peak MB':>9}{'x file':>9}")
    for row in found:
        numbers = (row["seconds"], row["times_ours"], row["peak_mb"], row["peak_over_file"])
        print(f"{row['reader']:32}" + "".join(f"{number:9}" for number in numbers))


def print_growth(reports: list[tuple[Path, list[dict]]]) -> None:
    """Print how time and memory grow with the file, from the smallest on."""
    (smallest, base), *larger = sorted(reports, key=lambda report: report[0].stat().st_size)
    for profile, found in larger:
        size = profile.stat().st_size / smallest.stat().st_size
        print(f"a file {size:.1f} times as large takes")
        for before, after in zip(base, found, strict=True):
            seconds = after["seconds"] / before["seconds"]
            peak = after["peak_mb"] / before["peak_mb"]
            print(f"{after['reader']:32}{seconds:9.1f} x the time{peak:9.1f} x the memory")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profiles", metavar="PROFILE", type=Path, nargs="+")
    parser.add_argument("--iterations", type=int, default=5, help="how often each reader reads each profile")
    parser.add_argument("--xprof-python", metavar="PATH", help="an interpreter that can import xprof")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    reports = []
    for given in options.profiles:
        [profile] = given.rglob("*.xplane.pb") if given.is_dir() else [given]
        found = rows(profile, measure(profile, options.iterations, options.xprof_python))
        reports.append((profile, found))
        if not options.json:
            print_table(profile, found)
    if options.json:
        print(
            json.dumps([{"profile": str(profile), "readers": found} for profile, found in reports], indent=1)
        )
    elif len(reports) > 1:
        print_growth(reports)


if __name__ == "__main__":
    main()
