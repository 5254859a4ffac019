"""How true is a correction that is anchored on the rest of the one long call that windows lie in?

    python benchmarks/long_call.py [--seconds 20] [--pairs 3] [--window 0.01] [--every 1] [--json] [NAME ...]

The programs run in one jitted call of about `--seconds`: a scan of tiny ops, three nested scans with a
conditional, a scan of 64x64 ops, and the PPO of `tests/plain_ppo.py`. Each runs in pairs of processes of its
own, alone and under `record`, the order turned each time. Per program, as medians over the pairs, in parts
of what an iteration takes in the call alone: the recorded call; an iteration in the windows, raw; the rest
of the call, which is the anchor; the windows' corrected time per iteration, of each pair too; in how many
pairs the truth lies in its interval; and the ratio found. Nothing is calibrated. A call alone counts the
processor's time where that is less than the wall's: a process that was stopped meanwhile did not work.
"""

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
sys.path.insert(0, str(ROOT))


def _tiny(length: int) -> tuple[Callable, object]:
    import jax
    import jax.numpy as jnp

    def body(c, _):
        return jnp.tanh(jnp.roll(c, 1, axis=0) @ c * 0.1), None

    return lambda x: jax.lax.scan(body, x, None, length=length)[0], jnp.linspace(-1, 1, 64).reshape(8, 8)


def _nested(length: int) -> tuple[Callable, object]:
    import jax
    import jax.numpy as jnp

    def inner(c, _):
        return jnp.tanh(jnp.roll(c, 1, axis=0) @ c * 0.1), None

    def middle(c, _):
        c, _ = jax.lax.scan(inner, c, None, length=5)
        return jax.lax.cond(
            jnp.sum(c) > 0, lambda v: jnp.cumsum(v, 0) @ v - 1, lambda v: jnp.sort(v, 0) + 1, c
        ), None

    def outer(c, _):
        c, _ = jax.lax.scan(middle, c, None, length=7)
        return jnp.tanh(c @ c + jnp.eye(8)), None

    return lambda x: jax.lax.scan(outer, x, None, length=length)[0], jnp.linspace(-1, 1, 64).reshape(8, 8)


def _medium(length: int) -> tuple[Callable, object]:
    import jax
    import jax.numpy as jnp

    def body(c, _):
        return jnp.tanh(c @ c * 0.1 + jnp.roll(c, 1)), None

    return lambda x: jax.lax.scan(body, x, None, length=length)[0], jnp.linspace(-1, 1, 4096).reshape(64, 64)


def _ppo(length: int) -> tuple[Callable, object]:
    sys.path.insert(0, str(ROOT / "tests"))
    import jax

    from plain_ppo import make_train

    return make_train(num_updates=length), jax.random.key(0)


PROGRAMS = {
    "scan of tiny ops": (_tiny, 1_400_000),
    "nested loops and a conditional": (_nested, 32_000),
    "scan of 64x64": (_medium, 33_000),
    "PPO, whole training": (_ppo, 640),
}
"""Name -> what makes it, and its iterations in a second, about."""


def train(name: str, length: int) -> None:
    """The user's program: one call, and how long it took."""
    import jax

    function, argument = PROGRAMS[name][0](length)
    compiled = jax.jit(function).lower(argument).compile()
    began, used = time.perf_counter(), time.process_time()
    jax.block_until_ready(compiled(argument))
    print(json.dumps({"seconds": min(time.perf_counter() - began, time.process_time() - used)}))


def run(command: list[str], cache: str) -> float:
    """Run a process to its end: seconds of its call."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])["seconds"]


def pair(name: str, length: int, options: argparse.Namespace, alone_first: bool) -> dict:
    """The program alone and recorded, and what the report makes of it."""
    program = [__file__, "--train", str(length), name]
    with tempfile.TemporaryDirectory() as folder:
        logdir = Path(folder) / "log"
        record = [sys.executable, "-m", "rlscope_jax", "record", "--no-report", "--logdir", str(logdir)]
        if options.window:
            record += ["--window", str(options.window), "--every", str(options.every)]
        ways = {"alone": [sys.executable, *program], "recorded": [*record, *program]}
        order = list(ways) if alone_first else list(ways)[::-1]
        took = {way: run(ways[way], folder) for way in order}
        os.environ["XDG_CACHE_HOME"] = folder  # no calibration
        from rlscope_jax import load

        data = load(logdir).to_dict()
    overhead, wall = data["overhead"], data["totals"]["wall"]
    found = {"alone": took["alone"], "recorded": took["recorded"], "windows": data["window"]["windows"]}
    if overhead["anchors"] is None:
        return {**found, "reason": overhead["reason"]}
    anchors = overhead["anchors"]
    truth = 1e9 * took["alone"] / length
    # The windows' edges, where nothing is seen, are idle time: neither raw nor corrected work.
    idle = data["totals"]["idle"]["corrected"]
    held = (wall["raw"] - idle) / anchors["profiled_ns"]
    low, high = ((end - idle) / held for end in wall["interval"])
    return {
        **found,
        "raw": anchors["profiled_ns"] / truth - 1,
        "rest": anchors["base_ns"] / truth - 1,
        "bias": (wall["corrected"] - idle) / held / truth - 1,
        "truth_in": low <= truth <= high,
        "ratio": anchors["ratio"],
    }


def main() -> None:
    """Run the pairs of each program, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--window", type=float, default=0.01, help="0: record's defaults")
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--train", type=int, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROGRAMS)}")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in PROGRAMS]:
        parser.error(f"no program {', '.join(unknown)}; there are: {', '.join(PROGRAMS)}")
    if options.train:
        train(options.names[0], options.train)
        return
    if not options.json:
        print("| program | pairs | alone s | recorded × | raw % | rest % | corrected % | truth in | ratio |")
        print("|--|--|--|--|--|--|--|--|--|")
    for name in options.names or PROGRAMS:
        length = round(PROGRAMS[name][1] * options.seconds)
        pairs = [pair(name, length, options, number % 2 == 0) for number in range(options.pairs)]
        print(json.dumps({name: pairs}) if options.json else _row(name, pairs), flush=True)


def _row(name: str, pairs: list[dict]) -> str:
    told = [one for one in pairs if "bias" in one]
    alone = statistics.median(one["alone"] for one in pairs)
    slower = statistics.median(one["recorded"] / one["alone"] for one in pairs)
    head = f"| {name} | {len(pairs)} | {alone:.1f} | {slower:.3f} | "
    if not told:
        return f"{head}{pairs[-1]['reason']} | | | | |"
    biases = ", ".join(f"{100 * one['bias']:+.1f}" for one in told)
    median = 100 * statistics.median(one["bias"] for one in told)
    raw, rest = (100 * statistics.median(one[what] for one in told) for what in ("raw", "rest"))
    return (
        f"{head}{raw:+.0f} | {rest:+.1f} | {median:+.1f} ({biases}) | "
        f"{sum(one['truth_in'] for one in told)} of {len(told)} | "
        f"{statistics.median(one['ratio'] for one in told):.2f} |"
    )


if __name__ == "__main__":
    main()
