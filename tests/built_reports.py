"""What the reader makes of profiles that the builder wrote."""

from collections import Counter

from rlscope_jax import load


def written(space_or_trace, folder, session="s"):
    """The report of what is written."""
    space_or_trace.write(folder, session)
    return load(folder)


def by_path(report):
    """Device self time by operation, in ps, of all processes."""
    times = Counter()
    for process in report.processes:
        for row in process.table.rows:
            times[row.path] += row.device_self
    return +times
