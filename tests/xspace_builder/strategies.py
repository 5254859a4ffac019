"""Random profiles for hypothesis, drawn together with their truth."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from xspace_builder.cpu import CpuTrace, Run
from xspace_builder.hlo import HloModuleBuilder
from xspace_builder.lines import INT64_MAX, LineBuilder
from xspace_builder.modules import module_of
from xspace_builder.ops import MS, US, Op, PlacedOp, place, self_times
from xspace_builder.recording import Session
from xspace_builder.space import XSpaceBuilder
from xspace_builder.values import Ref, Uint, Value

OP_NAMES = ("dot.1", "while.2", "copy", "broadcast_add_fusion", "sort.11", "call")
ANNOTATIONS = ("rollout", "update")
SCOPES = ("rollout/env_step", "rollout/inference", "update/loss", "")

durations = st.one_of(st.just(0), st.integers(0, 20), st.integers(0, 10 * US))
"""Picoseconds, often 0 or tiny."""

line_ids = st.one_of(st.integers(-(2**63), INT64_MAX), st.just(INT64_MAX), st.integers(0, 3))
"""Thread ids, hashes of either sign, and ids that collide."""

bases_ns = st.one_of(st.just(0), st.integers(0, 10**10))
"""Time bases of lines; real ones lie seconds apart."""

stat_values: st.SearchStrategy[Value] = st.one_of(
    st.integers(-(2**63), INT64_MAX),
    st.integers(0, 2**64 - 1).map(Uint),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    st.text(min_size=1, max_size=8).map(Ref),
)
"""Values of every type a statistic may have, but for bytes."""


@st.composite
def _ops(draw: st.DrawFn, children: st.SearchStrategy[list[Op]]) -> Op:
    inner = draw(children)
    tail = draw(durations)
    own = draw(durations) + tail + sum(child.gap for child in inner)
    # Were a parent as long as its only child, nobody could tell which of them encloses the other.
    own = max(own, 1) if inner else own
    return Op(draw(st.sampled_from(OP_NAMES)), own, inner, tail, draw(durations))


def op_trees(max_ops: int = 12) -> st.SearchStrategy[list[Op]]:
    """Ops in sequence, nested at random, some of no length at all."""
    leaves = _ops(st.just([]))
    trees = st.recursive(leaves, lambda inner: _ops(st.lists(inner, max_size=4)), max_leaves=max_ops)
    return st.lists(trees, max_size=4)


@dataclass(frozen=True)
class NestedLine:
    """A line of nested events, and what is true of it."""

    line: LineBuilder
    placed: list[PlacedOp]

    @property
    def self_times(self) -> dict[str, int]:
        """Self time by event name."""
        return self_times(self.placed)


@dataclass(frozen=True)
class NestedSpace:
    """A file of such lines."""

    space: XSpaceBuilder
    lines: list[NestedLine]


@st.composite
def nested_spaces(draw: st.DrawFn, max_lines: int = 4) -> NestedSpace:
    """Lines of nested events in any order, with time bases, line ids and statistics of every kind."""
    space = XSpaceBuilder()
    plane = space.plane("/host:CPU")
    lines = []
    for number in range(draw(st.integers(0, max_lines))):
        line = plane.line(f"thread/{number}", id=draw(line_ids), timestamp_ns=draw(bases_ns))
        placed = list(place(draw(op_trees()), draw(durations)))
        for each in draw(st.permutations(placed)):
            stats = draw(st.dictionaries(st.text(min_size=1, max_size=4), stat_values, max_size=3))
            line.event(each.op.name, each.start, each.op.duration, stats)
        lines.append(NestedLine(line, placed))
    return NestedSpace(space, lines)


@dataclass(frozen=True)
class DrawnCpuTrace:
    """A CPU profile and its runs, each of which knows its ops."""

    trace: CpuTrace
    runs: list[Run]

    @property
    def self_times(self) -> dict[tuple[int, str], int]:
        """Device self time by (program id, op name)."""
        totals: dict[tuple[int, str], int] = {}
        for run in self.runs:
            for name, time in self_times(run.ops).items():
                key = (run.module.program_id, name)
                totals[key] = totals.get(key, 0) + time
        return totals


@st.composite
def cpu_traces(draw: st.DrawFn, max_runs: int = 4, workers: int = 2) -> DrawnCpuTrace:
    """Programs dispatched one after another, some under an annotation; inline, or on workers that lag behind.

    A run may have ops on a second thread too.
    """
    trace = CpuTrace(Session(base_ns=draw(bases_ns), duration=1_000 * MS))
    modules = [_module(program_id, draw(_scopes)) for program_id in range(2)]
    lines = [None, *(trace.worker() for _ in range(workers))]
    eigen = trace.worker("XLAEigen")
    free = {id(line): 0 for line in [*lines, eigen]}
    now, runs = US, []
    for _ in range(draw(st.integers(0, max_runs))):
        worker = draw(st.sampled_from(lines))
        starts = max(now + 10 * US, free[id(worker)])
        run = trace.run(draw(st.sampled_from(modules)), draw(op_trees()), now, worker=worker, starts=starts)
        free[id(worker)] = max([starts, *(placed.end for placed in run.ops)]) + 5 * US
        if draw(st.booleans()):
            trace.also(run, draw(op_trees(4)), max(starts, free[id(eigen)]), eigen)
            free[id(eigen)] = max([free[id(eigen)], *(placed.end for placed in run.ops)])
        if draw(st.booleans()):
            trace.annotation(draw(st.sampled_from(ANNOTATIONS)), now - 100, run.dispatch.end - now + 200)
        now = run.dispatch.end + US + draw(durations)
        runs.append(run)
    return DrawnCpuTrace(trace, runs)


_scopes = st.fixed_dictionaries({name: st.sampled_from(SCOPES) for name in OP_NAMES})


def _module(program_id: int, scopes: dict[str, str]) -> HloModuleBuilder:
    op_names = {name: f"jit(f)/{scope}/mul" if scope else "" for name, scope in scopes.items()}
    return module_of(f"jit_f{program_id}", program_id, [Op(name, 0) for name in OP_NAMES], op_names)
