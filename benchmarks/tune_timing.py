"""Is a measured ratio right on a busy machine? Naive timing, and ours, while a load comes and goes.

    python benchmarks/tune_timing.py [--pairs 40] [--no-load]

Pairs of the same work in known proportion (a matrix product 200 times, and 200 to 400 times) are timed in two
ways, each with the same number of calls: naively, as most autotuners do (all calls of one, then, later, all
calls of the other; the smallest or the median of each), and in pairs (`rlscope_jax.tune.timing`). Meanwhile
another process computes on every core for random stretches of up to a second. Prints how far measured / true
lies from 1, and how often the interval held the truth.
"""

import argparse
import multiprocessing
import os
import random
import time

import numpy as np

from rlscope_jax.tune.timing import Effort, paired

CALLS = 20
"""Calls of each side of a pair, for both ways."""


def load(seed):
    """Compute and rest for random stretches."""
    rng, a = random.Random(seed), np.random.default_rng(0).standard_normal((96, 96))
    while True:
        until = time.monotonic() + rng.uniform(0.1, 1.0)
        while time.monotonic() < until:
            a @ a
        time.sleep(rng.uniform(0.1, 1.0))


def work(turns):
    """A thunk of so many equal turns."""
    a = np.random.default_rng(0).standard_normal((64, 64))

    def run():
        for _ in range(turns):
            a @ a

    return run


def naive(one, two):
    """Ratio of medians and of minima of calls timed one side after the other."""
    times = []
    for run in (one, two):
        run()
        mine = []
        for _ in range(CALLS):
            started = time.perf_counter()
            run()
            mine.append(time.perf_counter() - started)
        times.append(mine)
        time.sleep(random.uniform(0, 0.5))  # the other candidate's compilation
    (a, b) = np.median(times, axis=1), np.min(times, axis=1)
    return a[0] / a[1], b[0] / b[1]


def main():
    """Run the pairs, print the errors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--no-load", action="store_true")
    options = parser.parse_args()
    loads = [multiprocessing.Process(target=load, args=(n,), daemon=True) for n in range(os.cpu_count() or 1)]
    for process in loads if not options.no_load else ():
        process.start()
    errors, held, rng = {"naive, medians": [], "naive, minima": [], "paired": []}, [], random.Random(0)
    for _ in range(options.pairs):
        turns = rng.randint(200, 400)
        one, two, true = work(turns), work(200), turns / 200
        medians, minima = naive(one, two)
        found = paired(one, two, Effort(CALLS, CALLS))
        errors["naive, medians"].append(medians / true)
        errors["naive, minima"].append(minima / true)
        errors["paired"].append(found.ratio / true)
        held.append(found.low <= true <= found.high)
    print(
        f"measured / true over {options.pairs} pairs: 5, 50 and 95 %, and the share within 5 % of the truth"
    )
    for name, values in errors.items():
        low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
        share = np.mean(np.abs(np.array(values) - 1) < 0.05)
        print(f"  {name:16}{low:.2f}  {middle:.2f}  {high:.2f}   {share:.0%}")
    print(f"the interval of a pair held the truth in {np.mean(held):.0%}")


if __name__ == "__main__":
    main()
