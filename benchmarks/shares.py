"""How true are raw shares? A scan of two operations of known, different length, profiled and timed alone.

    python benchmarks/shares.py [--repeats 15]

Each operation is timed alone, unprofiled, interleaved with the other and with both together; then both are
recorded. Prints the share of the first operation, timed and as the report gives it, and the difference.
"""

import argparse
import statistics
import tempfile
import time

import jax
import jax.numpy as jnp

from rlscope_jax import load, operation, profile

ITERATIONS = 200


def matmuls(x: jax.Array) -> jax.Array:
    """The shorter operation."""
    return jnp.tanh(x @ x @ x * 1e-4)


def sorts(x: jax.Array) -> jax.Array:
    """The longer one."""
    return jnp.sort(x, axis=-1)


def scan_of(*names: str) -> jax.stages.Wrapped:
    """A jitted scan of the named operations."""

    def body(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        if "short" in names:
            x = operation("short")(matmuls)(x)
        if "long" in names:
            x = operation("long")(sorts)(x)
        return x, None

    return jax.jit(lambda x: jax.lax.scan(body, x, None, length=ITERATIONS)[0])


def main() -> None:
    """Time, record, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    x = jax.random.normal(jax.random.PRNGKey(0), (96, 96))
    programs = {"short": scan_of("short"), "long": scan_of("long"), "both": scan_of("short", "long")}
    for program in programs.values():
        program(x).block_until_ready()
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    recorded = []
    for _ in range(repeats):
        for name, program in programs.items():
            began = time.perf_counter()
            program(x).block_until_ready()
            seconds[name].append(time.perf_counter() - began)
        recorded.append(recorded_share(programs["both"], x))
    median = {name: statistics.median(values) for name, values in seconds.items()}
    timed = median["short"] / (median["short"] + median["long"])
    share = statistics.median(recorded)
    for name in ("short", "long"):
        print(f"{name:5} alone {median[name] / ITERATIONS * 1e6:7.1f} us an iteration")
    additivity = (median["short"] + median["long"]) / median["both"]
    print(f"alone + alone = {additivity:.2f} x together")
    print(f"share of the short one: timed {100 * timed:.1f} %, reported {100 * share:.1f} % "
          f"({100 * (share - timed):+.1f} points; raw, {repeats} recordings)")  # fmt: skip


def recorded_share(program: jax.stages.Wrapped, x: jax.Array) -> float:
    """The share of the short operation in one recording."""
    with tempfile.TemporaryDirectory() as logdir:
        with profile(logdir) as profiler:
            profiler.step(program(x))
        rows = load(logdir).to_dict()["operations"]
    self_time = {row["path"]: row["device"]["self"]["raw"] for row in rows}
    return self_time["short"] / (self_time["short"] + self_time["long"])


if __name__ == "__main__":
    main()
