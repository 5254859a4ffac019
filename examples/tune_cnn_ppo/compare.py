"""What tuning was predicted to save, and what it saved: `python compare.py LOGDIR_BEFORE LOGDIR_AFTER`."""

import argparse

import rlscope_jax
from rlscope_jax.tune.database import Database, default_path, key_of
from rlscope_jax.tune.weights import seconds_per_step
from tasks import tasks


def main():
    """Print a row for each operation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--record", default=default_path())
    options = parser.parse_args()
    reports = [rlscope_jax.load(logdir).to_dict() for logdir in (options.before, options.after)]
    database = Database(options.record)
    # The update goes through plain convolutions in both runs: what it changed by, the machine did.
    updates = [seconds_per_step(report, "update") for report in reports]
    drift = abs(updates[1] / updates[0] - 1)
    print(f"{'ms a step':14} {'before':>8} {'after':>8} {'saved':>8}           predicted")
    for task in tasks():
        before, after = (seconds_per_step(report, f"inference/{task.name}") * 1e3 for report in reports)
        found = database.verdict(key_of(task))
        row = f"{task.name:14} {before:8.2f} {after:8.2f} {before - after:8.2f} ± {drift * before:<6.2f}"
        if found is None:
            print(f"{row}  nothing: no winner")
        else:
            saved = [before * (1 - ratio) for ratio in (found.ratio, found.high, found.low)]
            print("{}  {:.2f} ({:.2f} to {:.2f})".format(row, *saved))
    print(f"±: untouched operations took {updates[1] / updates[0] - 1:+.1%} in the second run")


if __name__ == "__main__":
    main()
