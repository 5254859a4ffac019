"""Which search finds a good candidate soonest? Every algorithm on every table and its surrogate.

    python benchmarks/tune.py [ALGORITHM ...] [--ablations] [--tables FOLDER] [--seeds 8] [--trials 128]
                              [--json FILE]

Prints, for each table: final quality (the best time found over the best there is, 1 is perfect; the median
over seeds with its interval), and how many trials each algorithm needs until it is as good as random search
is in the median after all trials. Then geometric means over tables, with intervals by bootstrap over seeds.
Algorithms are those of `rlscope_jax.tune.searchers.SEARCHERS`; with `--ablations` also `harl` without each of
its parts, and with the policy and the trials that it left on another table. Who never gets there counts as
one who needs all trials. Deterministic: what was measured is in the tables.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from rlscope_jax.tune.search import search
from rlscope_jax.tune.searchers import SEARCHERS, make_searcher
from rlscope_jax.tune.table import Table, TableMeasurer
from rlscope_jax.tune.timing import order_statistic

TABLES = Path(__file__).parent / "tune_tables"
BASELINE = "evolutionary"
ABLATIONS = {
    "harl, no bandit": {"bandit": False},
    "harl, no stopping": {"stopping": False},
    "harl, no learning": {"learning": False},
}
CARRIED = "harl, carried"


def run(table, before, smooth, algorithm, seeds, trials):
    """float [seeds, trials]: the best time so far over the best of the table. before: another table."""
    times = table.smooth_seconds if smooth else table.seconds
    best = min(times.values())
    curves = []
    for seed in range(seeds):
        options = ABLATIONS.get(algorithm, {})
        if algorithm == CARRIED:
            first = make_searcher("harl", before.space, seed)
            search(first, TableMeasurer(before, smooth), trials)
            options = {"carried": first.carried}
        searcher = make_searcher(algorithm.partition(",")[0], table.space, seed, **options)
        found = search(searcher, TableMeasurer(table, smooth), trials).best_so_far() / best
        curves.append(np.append(found, np.full(trials - len(found), found[-1])))
    return np.array(curves)


def interval(values):
    """Median, low, high of a few values, by order statistics."""
    values = np.sort(values)
    skip = order_statistic(len(values))
    return float(np.median(values)), float(values[skip]), float(values[-1 - skip])


def trials_to(curves, quality):
    """For each seed the number of trials until the quality is reached; infinite where it never is."""
    reached = curves <= quality * (1 + 1e-9)
    return np.where(reached.any(axis=1), reached.argmax(axis=1) + 1.0, np.inf)


def count(number):
    """A number of trials as text."""
    return f"{number:g}" if np.isfinite(number) else "never"


def mean_ratio(one, other):
    """Geometric mean over tables and seeds of one's final quality over another's, and its 95 % interval.

    one, other: lists (a table each) of the final qualities of each seed.
    """
    rng = np.random.default_rng(0)
    logs = [(np.log(a), np.log(b)) for a, b in zip(one, other, strict=True)]

    def draw(pick):
        return np.exp(np.mean([np.mean(pick(a)) - np.mean(pick(b)) for a, b in logs]))

    draws = [draw(lambda values: rng.choice(values, len(values))) for _ in range(2000)]
    return float(draw(lambda values: values)), *map(float, np.quantile(draws, (0.025, 0.975)))


def show(results, algorithms, trials):
    """The tables of the terminal; returns the same figures as plain values."""
    figures = {"trials": trials, "tables": {}, "means": {}}
    for where, curves in results.items():
        quality = float(np.median(curves["random"][:, -1]))
        print(f"\n{where}: random search comes within {quality:.3f} of the best in {trials} trials (median)")
        print(f"  {'':18}final quality            trials to random's quality")
        rows = figures["tables"][where] = {"random_quality": quality}
        for algorithm in algorithms:
            final = interval(curves[algorithm][:, -1])
            needed = interval(trials_to(curves[algorithm], quality))
            rows[algorithm] = {"final": final, "trials_to_random": [min(n, 1e9) for n in needed]}
            spans = "{:.3f} ({:.3f} to {:.3f})".format(*final), "{} ({} to {})".format(*map(count, needed))
            print(f"  {algorithm:18}{spans[0]:25}{spans[1]}")
    for kind in ("measured", "surrogate"):
        names = [where for where in results if where.endswith(kind)]
        print(
            f"\nall tables, {kind}: final quality over that of {BASELINE}; and {trials} / trials to random's"
        )
        for algorithm in algorithms:
            ratio = mean_ratio(
                *([results[where][name][:, -1] for where in names] for name in (algorithm, BASELINE))
            )
            needed = [figures["tables"][where][algorithm]["trials_to_random"][0] for where in names]
            speed = float(np.exp(np.mean(np.log(trials / np.minimum(needed, trials)))))
            figures["means"][f"{algorithm} {kind}"] = {"ratio": ratio, "fewer_trials": speed}
            print(f"  {algorithm:18}{{:.3f}} ({{:.3f}} to {{:.3f}})    {speed:.1f}x".format(*ratio))
    return figures


def main():
    """Run everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("algorithms", nargs="*", metavar="ALGORITHM", help=", ".join(SEARCHERS))
    parser.add_argument("--ablations", action="store_true", help="also harl without each of its parts")
    parser.add_argument("--tables", type=Path, default=TABLES, help="a folder of tables, or one")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--trials", type=int, default=128)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    algorithms = list(dict.fromkeys(["random", BASELINE, *(options.algorithms or SEARCHERS)]))
    algorithms += [*ABLATIONS, CARRIED] if options.ablations else []
    paths = sorted(options.tables.glob("*.npz")) if options.tables.is_dir() else [options.tables]
    results = {}
    tables = [Table.load(path) for path in paths]
    for number, table in enumerate(tables):
        for smooth in (False, True):
            where = f"{table.name} {'surrogate' if smooth else 'measured'}"
            results[where] = {}
            for algorithm in algorithms:
                started = time.perf_counter()
                results[where][algorithm] = run(
                    table, tables[-1 - number], smooth, algorithm, options.seeds, options.trials
                )
                spent = (time.perf_counter() - started) / (options.seeds * options.trials)
                print(f"{where} {algorithm}: {spent * 1e3:.1f} ms a trial", flush=True)
    figures = show(results, algorithms, options.trials)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
