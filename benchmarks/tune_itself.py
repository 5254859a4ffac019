"""Where does the time of the tuner itself go? A live search after HARL, profiled with rlscope_jax.

    python benchmarks/tune_itself.py [LOGDIR] [--rounds 6]

Tunes the first convolution of a Nature-CNN in this process, eight candidates a round. The first two rounds
compile; the following ones are recorded, and their report is printed. Needs the extras `tune` and `halide`.
"""

import argparse
import tempfile

from rlscope_jax import Schedule, profile
from rlscope_jax.tune.backends.halide.tasks import nature_conv1
from rlscope_jax.tune.bench import Bench
from rlscope_jax.tune.measure import LiveMeasurer
from rlscope_jax.tune.search import BATCH
from rlscope_jax.tune.searchers import make_searcher

COMPILING = 2
OPERATIONS = (
    "sketch_select", "actor_inference", "cost_predict", "ppo_update", "cost_fit", "build", "measure",
)  # fmt: skip


def main():
    """Search, record, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logdir", nargs="?", default=tempfile.mkdtemp())
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    task = nature_conv1()
    searcher = make_searcher("harl", task.space, 0)
    measurer = LiveMeasurer(Bench(task))
    with profile(options.logdir, Schedule(skip_first=COMPILING, active=options.rounds, repeat=1)) as profiler:
        for _ in range(COMPILING + options.rounds):
            candidates = searcher.propose(BATCH)
            found = measurer.measure(candidates)
            searcher.observe(candidates, [trial.seconds for trial in found])
            profiler.step()
    report = profiler.report().to_dict()
    wall = report["totals"]["wall"]["raw"]
    print(f"{options.rounds} rounds of {BATCH} candidates: {wall / 1e9:.2f} s")
    left = 1.0
    for name in OPERATIONS:
        mine = [row["wall"] for row in report["operations"] if name in row["path"].split("/")]
        device, host = (
            sum(each[part]["raw"] for each in mine for part in parts)
            for parts in (("device_only", "overlap"), ("host_only",))
        )
        share = (device + host) / wall
        left -= share
        print(f"  {name:16} {share:6.1%}   device {device / 1e6:8.1f} ms, host {host / 1e6:8.1f} ms")
    print(f"  {'the rest':16} {left:6.1%}")


if __name__ == "__main__":
    main()
