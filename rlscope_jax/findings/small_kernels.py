"""The accelerator runs kernels so short that starting them takes longer than running them.

A GPU needs two to five microseconds between two kernels. A loop of small ones, such as a scan over time steps
of a small batch, leaves the device idle between kernels while it counts as busy.

How we tell: a thousand launched kernels or more, half of them shorter than ten microseconds, and on their
streams more time in the gaps of less than fifty microseconds between kernels than a tenth of the window. The
gain is those gaps.

What to do: give each kernel more to do: more environments in jax.vmap, jax.lax.scan(..., unroll=8); and let
XLA record the kernels as one graph, which is its default (command buffers): do not switch it off outside
profiling.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.findings.device_span import gaps, leaf_durations
from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding, severity
from rlscope_jax.findings.words import milliseconds, share

_KERNELS, _SHORT_PS, _GAP_PS, _LEAST_SHARE = 1000, 10_000_000, 50_000_000, 0.1


def find(facts: Facts) -> list[Finding]:
    """One finding, if launches outweigh kernels."""
    lines = [line for line in facts.trace.op_lines if line.launch is not None and len(line.start)]
    kernels = sum(len(line.start) for line in lines)
    if kernels < _KERNELS:
        return []
    durations = np.concatenate([leaf_durations(line) for line in lines])
    typical = int(np.median(durations))
    between = gaps(lines)
    lengths = between.end - between.start
    short = lengths[lengths < _GAP_PS]
    gain = round(int(short.sum()) / 1000)
    if typical >= _SHORT_PS or gain < _LEAST_SHARE * facts.wall:
        return []
    counts: dict[tuple[int, str], int] = {}
    for (program, _), times in facts.op_times.items():
        for one in times:
            counts[program, one.path] = counts.get((program, one.path), 0) + one.events
    program, path = max(counts, key=lambda key: counts[key])
    message = (
        f"{kernels:,} kernels, half of them below {milliseconds(typical / 1000)}, with "
        f"{milliseconds(np.median(short) / 1000)} between two: {milliseconds(gain)}, "
        f"{share(gain, facts.wall)} of the window, in gaps; most in {path} ({counts[program, path]:,})."
    )
    evidence = {
        "kernels": kernels,
        "median_kernel_ns": round(typical / 1000),
        "gaps": len(short),
        "median_gap_ns": round(float(np.median(short)) / 1000),
        "gap_ns": gain,
    }
    hint = (
        "give each kernel more to do: jax.vmap over more environments, jax.lax.scan(step, s, xs, unroll=8)."
    )
    return [
        Finding(
            "small_kernels",
            message,
            hint,
            gain,
            severity(gain, facts.wall),
            path,
            facts.program_names.get(program),
            facts.function(program),
            evidence,
        )
    ]
