"""Measure whole spaces: the tables that searches are compared on.

    python benchmarks/tune_tables.py compile FOLDER [TASK ...] [--shard 0/2] [--seconds 400]
    python benchmarks/tune_tables.py time FOLDER [TASK ...] [--seconds 200]
    python benchmarks/tune_tables.py pack FOLDER [TASK ...]
    python benchmarks/tune_tables.py again [TASK ...] [--entries 40]
    python benchmarks/tune_tables.py winners [TASK ...]

`compile` makes every point of the closed spaces below a function of some shared library; `time` checks each
and times it in pairs with one fixed point of the space, on two visits with all other points between them;
both go on where they were stopped, at any moment.
`pack` writes the tables into tune_tables/ beside this file. `again` compiles and times some entries anew and
compares. `winners` measures each table's best against XLA, both inside `jax.jit`.
"""

import argparse
import dataclasses
import itertools
import json
import math
import time
from pathlib import Path

import jax
import numpy as np

from rlscope_jax.tune.backends.halide import conv, matmul
from rlscope_jax.tune.backends.halide.aot import Library, compile_library
from rlscope_jax.tune.backends.halide.tasks import TASKS
from rlscope_jax.tune.bench import Bench
from rlscope_jax.tune.database import key_of
from rlscope_jax.tune.measure import decide
from rlscope_jax.tune.surrogate import smooth
from rlscope_jax.tune.table import PADDING, Table
from rlscope_jax.tune.timing import Calm, Effort, paired, rounds, summarize
from rlscope_jax.tune.trial import Trial

BATCH = 64  # kernels per library
VISITS = 2
REFERENCE = -1  # the number of its row
TABLES = Path(__file__).parent / "tune_tables"
MANY = Effort(min_rounds=40, max_rounds=80, width=0.02, hopeless=math.inf)
EFFORT = Effort(min_rounds=4, max_rounds=8, width=0.0, hopeless=1.3, patience=8)

CONVOLUTION = {
    "registers": {
        "vectors": (1, 2, 4), "rows": (2, 4, 5), "lines": (1, 5), "unroll": (1, 4),
        "order": ("cxy", "xcy", "cyx"), "parallel": ("lines", "images", "both"),
    },
    "packed_weights": {
        "vectors": (1, 2, 4), "rows": (2, 4, 6), "lines": (2, 5), "unroll": (1, 4),
        "order": ("cxy", "xcy", "xyc"), "inner": ("filters",), "parallel": ("none", "images", "both"),
        "pack": ("root", "line"),
    },
    "staged_input": {
        "vectors": (1, 2, 4), "rows": (2, 5), "lines": (1, 4), "unroll": (1, 4), "order": ("xcy", "cyx"),
        "inner": ("filters", "columns"), "parallel": ("lines", "images", "both"), "stage": ("line", "tile"),
    },
    "lines": {
        "vectors": (1, 2, 4), "rows": (1, 2, 4), "lines": (1, 5), "unroll": (1, 4), "order": ("cxy", "cyx"),
        "parallel": ("none", "images"), "accumulate": ("image", "line"),
    },
}  # fmt: skip
MATMUL = {
    "registers": {
        "vectors": (1, 2, 4), "rows": (2, 4, 6), "row_block": (2, 8, 32), "column_block": (1, 2),
        "unroll": (1, 4), "parallel": ("rows", "columns", "both"),
    },
    "packed_right": {
        "vectors": (1, 2, 4), "rows": (2, 4, 6), "row_block": (2, 8, 32), "column_block": (1, 2),
        "unroll": (1, 4), "order": ("rows", "columns"), "parallel": ("rows", "both"),
        "pack": ("root", "block"),
    },
    "blocked_sum": {
        "vectors": (1, 2), "rows": (3, 4, 6, 8), "row_block": (2, 8), "column_block": (1, 4),
        "unroll": (1, 4), "order": ("rows", "columns"), "parallel": ("rows", "columns"),
        "sum_block": (16, 64, 256),
    },
    "dot": {
        "rows": (1, 2, 4), "columns": (1, 4), "row_block": (2, 16), "column_block": (2,), "unroll": (1, 4),
        "order": ("rows",), "parallel": ("rows", "columns", "both"), "transpose": ("root", "block"),
    },
}  # fmt: skip
DOMAINS = {
    "nature_conv1": CONVOLUTION,
    "nature_conv2": CONVOLUTION,
    "gemm512": MATMUL,
    "policy_layer": MATMUL,
}
NARROW = {"registers": (2, 3, 5), "packed_weights": (2, 3, 6), "staged_input": (3, 5), "lines": (1, 2, 4)}
"""Rows that suit an image nine wide."""


def closed_task(name):
    """A task with its sketches' domains cut down to about two thousand points."""
    task, sketches = TASKS[name](), {}
    for sketch, domains in DOMAINS[name].items():
        changes = {}
        if name == "nature_conv2":
            changes = {"rows": NARROW[sketch]}
        elif name == "policy_layer" and sketch == "blocked_sum":
            changes = {"sum_block": (16, 32, 64)}
        sketches[sketch] = task.sketches[sketch].within(**domains | changes)
    return dataclasses.replace(task, sketches=sketches)


def anchor_of(name):
    """The fixed point that all others of a task are timed against."""
    space = closed_task(name).space
    if name.startswith("nature"):
        rows = 4 if name == "nature_conv1" else 3
        values = {"vectors": 2, "rows": rows, "lines": 1, "unroll": 4, "order": "xcy", "inner": "filters"}
        return space.candidate("registers", values | {"parallel": "images"})
    values = {"vectors": 2, "rows": 4, "row_block": 8, "column_block": 1, "unroll": 4, "order": "rows"}
    return space.candidate("registers", values | {"parallel": "rows"})


def pipeline_of(task, candidate):
    """A candidate's pipeline, which its sketch would compile at once."""
    problem, sketch = task.sketches[candidate.sketch].build.args  # partial(_build, problem, sketch)
    module = conv if isinstance(problem, conv.Conv) else matmul
    return module.pipeline(problem, sketch, task.space.values(candidate))


def compile_tables(folder, names, shard, seconds):
    """Compile batch after batch into libraries; those that are there already are left alone."""
    part, parts = map(int, shard.split("/"))
    deadline = time.monotonic() + seconds
    for name in names:
        task = closed_task(name)
        points = list(task.space.every())
        for batch in range(part, -(-len(points) // BATCH), parts):
            path = folder / name / f"{batch}.so"
            if path.exists():
                continue
            if time.monotonic() > deadline:
                return print("time is up; run again to go on")
            pipelines = {
                f"k{number}": pipeline_of(task, points[number])
                for number in range(batch * BATCH, min((batch + 1) * BATCH, len(points)))
            }
            compile_library(pipelines, path)
            print(path, flush=True)
    return print("everything of this shard is compiled")


def rows_of(path):
    """The rows measured so far; a last line cut short is dropped."""
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows[row["number"], row["visit"]] = row
    return rows


def time_tables(folder, names, seconds):
    """Check and time every point that is compiled and not timed yet; each row is one line of TASK.jsonl."""
    deadline = time.monotonic() + seconds
    for name in names:
        task, anchor = closed_task(name), anchor_of(name)
        points = list(task.space.every())
        shape = np.shape(task.reference(*task.args))
        number = points.index(anchor)
        incumbent = Library(folder / name / f"{number // BATCH}.so").kernel(f"k{number}", shape)
        assert task.check(incumbent(*task.args)) is None
        out = folder / f"{name}.jsonl"
        done = rows_of(out)
        calm, libraries = Calm(), {}
        with out.open("a") as lines:
            lines.write("\n" if done else "")
            for visit, n in itertools.product(range(VISITS), (REFERENCE, *range(len(points)))):
                path = folder / name / f"{n // BATCH}.so"
                if (n, visit) in done or (n != REFERENCE and not path.exists()):
                    continue
                if time.monotonic() > deadline:
                    return print(f"{name}: time is up; run again to go on")
                if n == REFERENCE:
                    row = time_reference(task, incumbent, calm)
                else:
                    library = libraries.get(path) or libraries.setdefault(path, Library(path))
                    row = time_one(task, library.kernel(f"k{n}", shape), incumbent, calm)
                lines.write(json.dumps({"number": n, "visit": visit, **row}) + "\n")
                lines.flush()
        print(f"{name}: {len(rows_of(out))} of {VISITS * (len(points) + 1)} visits", flush=True)
    return None


def time_one(task, kernel, incumbent, calm):
    """One row: the check's complaint, or the ratios of the rounds of one visit."""
    wrong = task.check(kernel(*task.args))
    if wrong:
        return {"error": wrong}
    return row_of(rounds(lambda: kernel(*task.args), lambda: incumbent(*task.args), EFFORT, calm))


def row_of(times):
    """Ratios and the anchor's median time, as plain values."""
    return {
        "ratios": [float(f"{ratio:.4g}") for ratio in times[:, 0] / times[:, 1]],
        "anchor_seconds": float(np.median(times[:, 1])),
    }


def pack_tables(folder, names):
    """Write complete tables."""
    TABLES.mkdir(exist_ok=True)
    for name in names:
        task, rows = closed_task(name), rows_of(folder / f"{name}.jsonl")
        points = list(task.space.every())
        visits = [(n, visit) for n in (REFERENCE, *range(len(points))) for visit in range(VISITS)]
        missing = [visit for visit in visits if visit not in rows]
        if missing:
            print(f"{name}: {len(missing)} of {len(visits)} visits are missing")
            continue
        found = [merge(rows, number) for number in range(len(points))]
        arrays = {
            column: np.array([getattr(one, column, np.nan) for one in found], np.float32)
            for column in ("ratio", "low", "high")
        }
        arrays["rounds"] = np.array([getattr(one, "rounds", 0) for one in found], np.uint8)
        arrays["sketch"] = np.array([task.space.names.index(point.sketch) for point in points], np.uint8)
        width, reference = task.space.width, merge(rows, REFERENCE)
        arrays["levels"] = np.array(
            [[*point.levels, *[PADDING] * (width - len(point.levels))] for point in points], np.uint8
        )
        key, timed = key_of(task), [row for row in rows.values() if "ratios" in row]
        header = {
            "name": name, "digest": key.task, "device": key.device, "jax": key.jax,
            "seconds": float(np.median([row["anchor_seconds"] for row in timed])),
            "anchor": {"sketch": anchor_of(name).sketch, "levels": anchor_of(name).levels},
            "reference": {column: getattr(reference, column) for column in ("ratio", "low", "high")},
            "sketches": {
                sketch: [dataclasses.asdict(param) for param in task.space.params(sketch)]
                for sketch in task.space.names
            },
        }  # fmt: skip
        table = Table(header, arrays)
        arrays["smooth"] = smooth(table)
        table.save(TABLES / f"{name}.npz")
        best = np.nanmin(arrays["ratio"])
        wide = np.nanmedian(arrays["high"] / arrays["low"])
        print(
            f"{name}: {len(points)} points, {np.isnan(arrays['ratio']).sum()} failures; best {best:.3f}, "
            f"median {np.nanmedian(arrays['ratio']):.2f}, worst {np.nanmax(arrays['ratio']):.1f}, "
            f"XLA {reference.ratio:.2f} anchors of {header['seconds'] * 1e3:.2f} ms; "
            f"interval's median width {wide:.3f}"
        )


def merge(rows, number):
    """The paired result over all visits of a point; None for a failure.

    What differs between visits is in the interval too, because each brings some of the rounds.
    """
    visits = [rows[number, visit] for visit in range(VISITS)]
    if any("error" in row for row in visits):
        return None
    ratios = np.array([ratio for row in visits for ratio in row["ratios"]])
    return summarize(np.stack([ratios, np.ones(len(ratios))], axis=1))


def measure_again(names, entries):
    """Compile and time some entries of the tables anew, in this process, and compare."""
    rng, within, covered, total = np.random.default_rng(0), 0, 0, 0
    for name in names:
        table, task = Table.load(TABLES / f"{name}.npz"), closed_task(name)
        numbers = rng.choice(len(table.candidates), entries // len(names), replace=False).tolist()
        kernels = {number: task.build(table.candidates[number]) for number in numbers}
        incumbent, calm, rows, ratios = task.build(anchor_of(name)), Calm(), {}, []
        for visit, number in itertools.product(range(VISITS), numbers):
            rows[number, visit] = time_one(task, kernels[number], incumbent, calm)
        for number in numbers:
            found = merge(rows, number)
            old, low, high = (float(table.rows[column][number]) for column in ("ratio", "low", "high"))
            ratios.append(found.ratio / old)
            close = 0.9 <= ratios[-1] <= 1.1
            within += close
            covered += close or (found.low <= high and low <= found.high)
            total += 1
        print(f"{name}: new / old ratio, 5 to 95 %: {np.round(np.quantile(ratios, (0.05, 0.5, 0.95)), 3)}")
    print(f"within 0.9 to 1.1: {within} of {total}; or the intervals overlap: {covered} of {total}")


def measure_winners(names):
    """Each table's best points against XLA inside jit; the interval is of the last pairing."""
    winners = {}
    for name in names:
        table, task = Table.load(TABLES / f"{name}.npz"), closed_task(name)
        best = sorted(table.seconds, key=table.seconds.__getitem__)[:6]
        verdict = decide(
            Bench(task, inside_jit=True), [Trial(point, table.seconds[point]) for point in best], 6
        )
        found = verdict.against_reference
        if found is None or verdict.winner is None:
            print(f"{name}: none is reliably faster than XLA inside jit")
            continue
        winners[name] = task, verdict.winner
        print(
            f"{name}: {1 / found.ratio:.2f}x faster than XLA inside jit ({1 / found.high:.2f} to "
            f"{1 / found.low:.2f}, {found.rounds} rounds; {found.incumbent_seconds * 1e3:.2f} -> "
            f"{found.seconds * 1e3:.2f} ms)\n    {verdict.winner.sketch} {task.space.values(verdict.winner)}"
        )
    if {"nature_conv1", "nature_conv2"} <= winners.keys():
        measure_network(*winners["nature_conv1"], *winners["nature_conv2"])


def measure_network(first, winner, second, other_winner):
    """A Nature-CNN's forward pass with both convolutions tuned, among XLA's own operations; and all XLA."""
    rng = np.random.default_rng(0)
    frames, weights = first.args
    shapes = (3, 3, 64, 64), (7 * 7 * 64, 512), (512, 6)
    more = [(rng.standard_normal(s) / np.prod(s[:-1]) ** 0.5).astype(np.float32) for s in shapes]
    args = jax.device_put((frames, weights, second.args[1], *more))

    def network(conv1, conv2):
        def forward(x, w1, w2, w3, w4, w5):
            x = conv2(conv1(x / 255, w1), w2)
            dimensions = ("NHWC", "HWIO", "NHWC")
            x = jax.nn.relu(
                jax.lax.conv_general_dilated(x, w3, (1, 1), "VALID", dimension_numbers=dimensions)
            )
            return jax.nn.log_softmax(jax.nn.relu(x.reshape(len(x), -1) @ w4) @ w5)

        return jax.jit(forward)

    plain = network(first.reference, second.reference)
    tuned = network(first.export(winner), second.export(other_winner))
    np.testing.assert_allclose(tuned(*args), plain(*args), rtol=1e-4, atol=1e-4)
    found = paired(lambda: tuned(*args).block_until_ready(), lambda: plain(*args).block_until_ready(), MANY)
    print(
        f"Nature-CNN forward, convolutions tuned: {1 / found.ratio:.2f}x faster ({1 / found.high:.2f} to "
        f"{1 / found.low:.2f}; {found.incumbent_seconds * 1e3:.2f} -> {found.seconds * 1e3:.2f} ms)"
    )


def time_reference(task, incumbent, calm):
    """The row of what XLA makes of the task."""
    reference, args = jax.jit(task.reference), jax.device_put(task.args)
    return row_of(
        rounds(lambda: reference(*args).block_until_ready(), lambda: incumbent(*task.args), MANY, calm)
    )


def main():
    """Run one of the verbs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("compile", "time", "pack", "again", "winners"):
        one = verbs.add_parser(verb)
        if verb not in ("again", "winners"):
            one.add_argument("folder", type=Path)
        one.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(DOMAINS))
        one.add_argument("--seconds", type=float, default=200, help="stop after this long")
        one.add_argument("--shard", default="0/1", help="compile: this one of so many parts")
        one.add_argument("--entries", type=int, default=40, help="again: how many, of all tasks together")
    options = parser.parse_args()
    names = options.tasks or list(DOMAINS)
    if options.verb == "compile":
        compile_tables(options.folder, names, options.shard, options.seconds)
    elif options.verb == "time":
        time_tables(options.folder, names, options.seconds)
    elif options.verb == "pack":
        pack_tables(options.folder, names)
    elif options.verb == "again":
        measure_again(names, options.entries)
    else:
        measure_winners(names)


if __name__ == "__main__":
    main()
