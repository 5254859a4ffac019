"""What does `rlscope-jax record` cost a whole training in one jit, and do its windows tell the truth?

    python benchmarks/record.py [--updates 25000] [--pairs 2]

The program is an unannotated PPO (`tests/plain_ppo.py`) that trains in one call for `--updates` updates. It
is run in pairs, alone and under `record` with its defaults, each in a process of its own, the order turned
each time. Prints, per pair and as medians: the time of the training call and of the whole process, alone and
recorded, and their ratios; peak memory; what the windows hold and the size of their files. Then a short run
is captured whole (raw, no window cut), and the shares of device time by function are compared with those of
the windows of the last pair.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHORT = 8  # updates of the run that is captured whole


def train(updates: int) -> None:
    """The user's program: train, and tell how long the training call took."""
    sys.path.insert(0, str(ROOT / "tests"))
    import jax

    from plain_ppo import make_train

    compiled = jax.jit(make_train(num_updates=updates)).lower(jax.random.key(0)).compile()
    key = jax.random.key(0)
    began = time.perf_counter()
    jax.block_until_ready(compiled(key))
    print(json.dumps({"training": time.perf_counter() - began}))


def whole_capture(logdir: str) -> None:
    """The short run, captured from its beginning to its end."""
    sys.path.insert(0, str(ROOT / "tests"))
    import jax

    from plain_ppo import make_train

    program = jax.jit(make_train(num_updates=SHORT))
    jax.block_until_ready(program(jax.random.key(0)))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(logdir, profiler_options=options):
        jax.block_until_ready(program(jax.random.key(0)))


def run(command: list[str]) -> dict[str, float]:
    """Run a process to its end: seconds of the training call and of the process, peak memory in MB."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return {
        "training": json.loads(output.splitlines()[-1])["training"],
        "process": time.perf_counter() - began,
        "memory": usage.ru_maxrss / 1024,
    }


def shares(data: dict) -> dict[str, float]:
    """Operation and direction -> its share of the device time, %."""
    time_of = {
        f"{row['path']} {row['direction'] or ''}".strip(): row["device"]["self"]["raw"] or 0
        for row in data["operations"]
    }
    whole = sum(time_of.values())
    # Where this file's own `train` ran too, functions of that name are told apart by their files.
    plain = {name: re.sub(r" \([^()/]*\.py\)", "", name) for name in time_of}
    found = dict.fromkeys(plain.values(), 0.0)
    for name, time_ns in time_of.items():
        found[plain[name]] += 100 * time_ns / whole
    return found


def _both(alone: dict[str, float], recorded: dict[str, float], what: str) -> str:
    return (
        f"{alone[what]:.1f} s alone, {recorded[what]:.1f} s recorded ({recorded[what] / alone[what]:.3f} x)"
    )


def main() -> None:
    """Train, capture, or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--updates", type=int, default=25_000)
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--train", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--whole", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(options.train)
    elif options.whole:
        whole_capture(options.whole)
    else:
        compare(options.updates, options.pairs)


def compare(updates: int, number_of_pairs: int) -> None:
    """Run the pairs, capture the short run, print the figures."""
    from rlscope_jax import load

    program = [__file__, "--train", str(updates)]
    pairs = []
    for number in range(number_of_pairs):
        with tempfile.TemporaryDirectory() as logdir:
            recording = ["-m", "rlscope_jax", "record", "--no-report", "--logdir", logdir]
            ways = {"alone": [sys.executable, *program], "recorded": [sys.executable, *recording, *program]}
            order = list(ways) if number % 2 == 0 else list(ways)[::-1]
            pair = {way: run(ways[way]) for way in order}
            files = sum(path.stat().st_size for path in Path(logdir).rglob("*") if path.is_file())
            windows = load(logdir).to_dict()
        pairs.append(pair)
        alone, recorded = pair["alone"], pair["recorded"]
        print(f"pair {number + 1}: training {_both(alone, recorded, 'training')}", end="; ")
        print(f"process {_both(alone, recorded, 'process')}", end="; ")
        print(f"peak memory {alone['memory']:.0f} and {recorded['memory']:.0f} MB", end="; ")
        print(
            f"{windows['window']['windows']} windows, {windows['window']['wall_ns'] / 1e9:.2f} s, "
            f"{windows['counts']['device_ops']:,} device ops, {files / 1e6:.1f} MB",
            flush=True,
        )
    for what in ("training", "process"):
        ratio = statistics.median(pair["recorded"][what] / pair["alone"][what] for pair in pairs)
        print(f"slowdown of the {what}, median of {len(pairs)}: {ratio:.3f} x")
    with tempfile.TemporaryDirectory() as logdir:
        subprocess.run([sys.executable, __file__, "--whole", logdir], check=True, cwd=ROOT)
        whole = load(logdir).to_dict()
    ops = whole["counts"]["device_ops"] / SHORT * updates
    print(f"the training holds {ops / 1e6:.0f} million device ops")
    truth, told = shares(whole), shares(windows)
    differences = {name: told.get(name, 0) - truth.get(name, 0) for name in truth | told}
    print(f"{'share of device time, %':60}{'whole':>8}{'windows':>9}{'diff':>7}")
    for name in sorted(differences, key=lambda name: -truth.get(name, 0)):
        if max(truth.get(name, 0), told.get(name, 0)) >= 0.5:
            row = f"{truth.get(name, 0):8.1f}{told.get(name, 0):9.1f}{differences[name]:+7.1f}"
            print(f"{name[-60:]:60}{row}")
    print(f"largest difference: {max(map(abs, differences.values())):.1f} points")


if __name__ == "__main__":
    main()
