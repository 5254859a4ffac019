"""What does a window cost to begin, to end and to hold? Against `jax.profiler.trace`, in fresh processes.

    python benchmarks/capture.py [--iterations 20000] [--repeats 3]

Records a scan of small ops, `--iterations` of them (12 events each, about). For each way of recording: the
time to start; the time to stop and to write the files, an event; what the process grew by while recording,
and at most while stopping, an event; the size of the files. Medians, the ways interleaved. The Python tracer
is off in both.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp

from rlscope_jax import profile

ROOT = Path(__file__).resolve().parents[1]
WAYS = ("rlscope_jax.profile", "jax.profiler.trace")
COLUMNS = ("start, ms", "stop and write, us/event", "held, B/event", "peak, B/event", "files, B/event")


def resident() -> int:
    """The process' memory now, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def record(way: str, iterations: int) -> list[float]:
    """One recording in this process: the columns."""
    body = lambda x, _: (jnp.sort(jnp.sin(x) + jnp.roll(x, 1) @ jnp.eye(8)), None)  # noqa: E731
    program = jax.jit(lambda x: jax.lax.scan(body, x, None, iterations)[0])
    x = jnp.ones((4, 8))
    program(x).block_until_ready()
    with tempfile.TemporaryDirectory() as logdir:
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        ours = way == WAYS[0]
        recorder = profile(logdir) if ours else jax.profiler.trace(logdir, profiler_options=options)
        before = resident()
        began = time.perf_counter()
        recorder.__enter__()
        started = time.perf_counter()
        program(x).block_until_ready()
        held = resident()
        ends = time.perf_counter()
        recorder.__exit__(None, None, None)
        ended = time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        files = [path for path in Path(logdir).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        [space] = [path for path in files if path.name.endswith(".xplane.pb")]
        planes = jax.profiler.ProfileData.from_file(str(space)).planes
        events = sum(1 for plane in planes for line in plane.lines for _ in line.events)
    return [
        (started - began) * 1e3,
        (ended - ends) / events * 1e6,
        (held - before) / events,
        (peak - before) / events,
        size / events,
    ]


def main() -> None:
    """Run each way in fresh processes, print the medians and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--iterations", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(record(options.way, options.iterations)))
        return
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for _ in range(options.repeats):
        for way in WAYS:
            command = [sys.executable, __file__, "--iterations", str(options.iterations), "--way", way]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
            found[way].append(json.loads(done.stdout.splitlines()[-1]))
    medians = {
        way: [statistics.median(column) for column in zip(*runs, strict=True)] for way, runs in found.items()
    }
    print(f"{'':26}" + "".join(f"{way:>22}" for way in WAYS) + f"{'ratio':>8}")
    for number, column in enumerate(COLUMNS):
        ours, theirs = (medians[way][number] for way in WAYS)
        print(f"{column:26}{ours:22.2f}{theirs:22.2f}{ours / theirs:8.2f}")


if __name__ == "__main__":
    main()
