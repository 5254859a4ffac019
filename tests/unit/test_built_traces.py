"""CPU profiles of known truth, in every shape a file may take: the report says what the builder knows."""

import dataclasses
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from built_reports import by_path, written
from fuzz.oracle import closes
from fuzz.plain import Op as PlainOp
from fuzz.plain import covered, self_times
from rlscope_jax import load
from xspace_builder import (
    MS,
    NS,
    US,
    CpuTrace,
    DanglingRef,
    Op,
    ProgramIds,
    Ref,
    Session,
    Uint,
    module_of,
)
from xspace_builder.strategies import ANNOTATIONS, bases_ns, cpu_traces, line_ids, op_trees, stat_values

several = settings(max_examples=60)
TREE = [Op("while.2", 3 * US, [Op("dot.1", 5 * US, gap=100 * NS)] * 3), Op("copy", 7)]
SCOPED = {"dot.1": "jit(f)/update/loss/dot_general"}
UNATTRIBUTED = "(unattributed)"


def by_op(report):
    """Device self time by (host, program, op), in ps."""
    times = Counter()
    for process in report.processes:
        ops, cells = process.trace.ops, process.table.cells
        for owner, time in zip(process.attribution.owners, cells.device_self.tolist(), strict=True):
            program = int(ops.program[owner.op]) % 2**64
            times[process.trace.host, program, ops.name[owner.op]] += time
    return +times


def op_lines(trace):
    """The ops of each line, read off the builder's own events."""
    control = {
        (module.program_id, placed.name)
        for module in trace._modules.values()
        for computation in module._computations
        for placed in computation.instructions
        if placed.opcode == "call"
    }
    lines = []
    for line in trace.build().planes[1].lines:
        ops = []
        for event in line.events:
            stats = dict(event.stats)
            if "hlo_op" in stats:
                key = (trace.session.hostname, stats["program_id"], stats["hlo_op"].text)
                run = (stats["program_id"], stats["run_id"])
                ops.append(PlainOp(event.start, event.end, key, run, key[1:] in control))
        lines.append(ops)
    return lines


def expected_by_op(trace):
    return +self_times([ops for ops in op_lines(trace) if ops])


def last_instant(trace):
    return max((e.end for line in trace.build().planes[1].lines for e in line.events), default=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A new folder at every call: hypothesis runs a test many times with one fixture."""
    return lambda: tmp_path_factory.mktemp("logdir")


@several
@given(drawn=cpu_traces(max_runs=6, workers=3))
def test_sums_close_on_what_the_builder_knows(drawn, folder):
    report = written(drawn.trace, folder())
    (process,) = report.processes
    expected, lines = expected_by_op(drawn.trace), op_lines(drawn.trace)
    assert process.trace.window == (0, last_instant(drawn.trace))
    closes(report)
    assert by_op(report) == expected
    cells = process.table.cells
    busy = covered((op.start, op.end) for ops in lines for op in ops)
    assert int(cells.busy.sum()) == int(cells.device_only.sum() + cells.overlap.sum()) == busy
    assert sum(row.device_ops for row in process.table.rows) == sum(map(len, lines))
    assert sum(row.dispatches for row in process.table.rows) == len(drawn.runs)


@several
@given(drawn=cpu_traces())
def test_without_ops_on_a_second_line_self_times_are_those_of_the_tree(drawn, folder):
    expected = Counter({("vm", *key): time for key, time in drawn.self_times.items()})
    assume(expected_by_op(drawn.trace) == +expected)
    assert by_op(written(drawn.trace, folder())) == +expected


@several
@given(drawn=cpu_traces(max_runs=6))
def test_time_goes_to_the_call_that_launched_and_the_scope_within(drawn, folder):
    """By flow, by place or by order: an op joins its own call, whatever the host does meanwhile."""
    assume(all(run.ops for run in drawn.runs))
    annotations = [event for event in drawn.trace.python.events if event.name in ANNOTATIONS]
    expected, paths = Counter(), {}
    for run in drawn.runs:
        start = run.dispatch.start
        around = next((e.name for e in annotations if e.start <= start <= e.end), "")
        for placed in run.ops:
            op_name = run.module.instruction(placed.op.name).op_name
            path = _joined(around, op_name.removeprefix("jit(f)/").removesuffix("/mul"))
            paths[run.module.program_id, run.run_id, placed.op.name] = path
    for ops in op_lines(drawn.trace):
        own = self_times([[op._replace(key=paths[*op.run, op.key[2]]) for op in ops]]) if ops else {}
        expected.update(own)
    assume(sum(expected.values()) == sum(expected_by_op(drawn.trace).values()))  # no while at rest
    assert by_path(written(drawn.trace, folder())) == +expected


def _joined(annotation, scope):
    if not annotation or not scope:
        return annotation or scope or UNATTRIBUTED
    return scope if scope.split("/")[0] == annotation else f"{annotation}/{scope}"


@several
@given(drawn=cpu_traces())
def test_tails_are_those_of_the_end_events(drawn, folder):
    expected = Counter(
        (placed.start, placed.end, placed.op.tail or -1) for run in drawn.runs for placed in run.ops
    )
    found = Counter()
    for line in written(drawn.trace, folder()).processes[0].trace.op_lines:
        found.update(zip(line.start.tolist(), line.end.tolist(), line.tail.tolist(), strict=True))
    assert found == expected


noise_stats = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(["_src", "flops", "_a"]), st.integers(10**6, 2**62), st.just(-5)),
        st.one_of(stat_values, st.integers(10**6, 2**62).map(DanglingRef), st.binary(max_size=5)),
    ),
    max_size=4,
)


@several
@given(drawn=cpu_traces(), data=st.data())
def test_noise_changes_nothing(drawn, data, folder):
    """Order in the file, ids, unknown statistics, repeated keys, dangling ids, events without a time."""
    assume(drawn.runs)
    quiet = written(drawn.trace, folder()).to_dict()
    space, draw = drawn.trace.build(), data.draw
    host = space.planes[1]
    far = draw(st.sampled_from([1, 2**20, 2**62]))
    _renumber(host, lambda number: number * far if number * far < 2**63 else -number)
    for line in host.lines:
        line.id, line.timestamp_ns = draw(line_ids), draw(bases_ns)
        line.events = draw(st.permutations(line.events)) if len(line.events) < 40 else line.events[::-1]
        for event in line.events:
            event.stats = [*draw(noise_stats), *event.stats]
        line.aggregated("dot.1", draw(st.integers(0, 2**62)), 5 * US, [("hlo_op", Ref("dot.1"))])
        line.event(draw(st.sampled_from([0, -(10**6), 2**50 + 3])), 0)  # metadata that no one wrote
    noisy = written(space, folder()).to_dict()
    for report in (quiet, noisy):
        del report["session"]
        report["operations"].sort(key=lambda row: row["path"])
    assert noisy == quiet


def _renumber(plane, other):
    """Give event metadata other ids."""
    plane._events = {other(number): entry for number, entry in plane._events.items()}
    plane._event_ids = {name: other(number) for name, number in plane._event_ids.items()}
    for line in plane.lines:
        for event in line.events:
            event.metadata_id = other(event.metadata_id)


@pytest.mark.parametrize("stat_id", [2**20 + 1, 2**40, 2**63 - 1])
def test_huge_ids_of_statistics(tmp_path, stat_id):
    space = _one_run().build()
    names = ("hlo_op", "program_id", "run_id", "dot.1")
    space.planes[1]._stat_ids = {name: stat_id - number for number, name in enumerate(names)}
    assert by_path(written(space, tmp_path)) == {"update/loss": 15 * US, UNATTRIBUTED: 3 * US + 7}


def _one_run(**session):
    trace = CpuTrace(Session(**session))
    trace.run(module_of("jit_f", 3, TREE, SCOPED), TREE, US)
    return trace


IDS = (0, 1, 19, 2**31, 2**63 - 1, 2**63 + 11, 2**64 - 5)


@pytest.mark.parametrize("ids", ProgramIds)
@pytest.mark.parametrize("program_id", IDS)
@pytest.mark.parametrize("on_events", [Uint, lambda id: id - 2**64 if id >= 2**63 else id])
def test_every_encoding_of_a_program_id_finds_its_module(tmp_path, ids, program_id, on_events):
    """A second program, whose id is another's key, has the same instructions under other names."""
    trace = CpuTrace()
    trace.program_ids = ids
    trace.run(module_of("jit_f", program_id, TREE, SCOPED), TREE, US)
    wrong = {"dot.1": "jit(f)/wrong/dot_general"}
    for other in {1, 2, 3} - {program_id}:
        trace.add_program(module_of("jit_f", other, TREE, wrong))
    space = trace.build()
    for event in space.planes[1].lines[0].events:
        event.stats = [
            (key, on_events(program_id) if key == "program_id" else value) for key, value in event.stats
        ]
    if ids is ProgramIds.KEY:
        metadata = space.planes[0]
        metadata._events = {
            key - 2**64 if key >= 2**63 else key: entry for key, entry in metadata._events.items()
        }
    report = written(space, tmp_path)
    assert by_path(report) == {"update/loss": 15 * US, UNATTRIBUTED: 3 * US + 7}
    assert [program["hlo"] for program in report.to_dict()["programs"]] == [True]


@pytest.mark.parametrize("duration", [0, -1, -5 * US, -(10**15)])
def test_an_op_of_no_or_negative_length_takes_no_time(tmp_path, duration):
    trace = _one_run()
    while_op = next(event for event in trace.python.events if event.name == "while.2")
    stats = [(key, Ref("odd") if key == "hlo_op" else value) for key, value in while_op.stats]
    trace.python.event("odd", while_op.start + US, duration, stats)
    report = written(trace, tmp_path)
    closes(report)
    assert by_op(report) == {("vm", 3, "dot.1"): 15 * US, ("vm", 3, "while.2"): 3 * US, ("vm", 3, "copy"): 7}


@pytest.mark.parametrize("shift", [-(10**4), -(10**9), -(10**13)])
def test_events_before_the_session_began_count(tmp_path, shift):
    """The profiler starts its clock before or after the tracers; an event may lie before zero."""
    space = _one_run().build()
    for line in space.planes[1].lines:
        for event in line.events:
            event.start += shift
    report = written(space, tmp_path)
    closes(report)
    assert by_path(report) == {"update/loss": 15 * US, UNATTRIBUTED: 3 * US + 7}


def test_statistics_given_twice_count_once(tmp_path):
    trace = _one_run()
    for event in trace.python.events:
        event.stats = [*event.stats, *event.stats]
    report = written(trace, tmp_path)
    assert by_path(report) == {"update/loss": 15 * US, UNATTRIBUTED: 3 * US + 7}
    assert report.to_dict()["counts"]["dispatches"] == 1


def test_aggregated_events_have_no_time(tmp_path):
    trace = _one_run()
    before = written(trace, tmp_path / "before").to_dict()
    trace.python.aggregated("dot.1", occurrences=40, duration=MS, stats=[("hlo_op", Ref("dot.1"))])
    after = written(trace, tmp_path / "after").to_dict()
    assert after["totals"] == before["totals"]
    assert after["counts"] == before["counts"]


def test_sixty_four_lines(tmp_path):
    trace = CpuTrace()
    module = module_of("jit_f", 3, TREE, SCOPED)
    run = trace.run(module, TREE, US, worker=trace.worker())
    for number in range(63):
        trace.also(run, TREE[1:], 20 * US + number, trace.worker("XLAEigen"))
    report = written(trace, tmp_path)
    closes(report)
    assert by_op(report) == expected_by_op(trace)
    assert len(report.processes[0].trace.op_lines) == 64


@settings(max_examples=20)
@given(traces=st.lists(cpu_traces(max_runs=2), min_size=2, max_size=3))
def test_hosts_of_one_session_are_added_up(traces, folder):
    together, alone = folder(), []
    for number, drawn in enumerate(traces):
        drawn.trace.session = dataclasses.replace(drawn.trace.session, hostname=f"node{number}")
        drawn.trace.write(together, "s")
        alone.append(written(drawn.trace, folder()))
    report = load(together)
    data = closes(report)
    assert data["session"]["hosts"] == [f"node{number}" for number in range(len(traces))]
    assert [process["id"] for process in data["processes"]] == list(range(len(traces)))
    assert len({device["id"] for device in data["devices"]}) == len(data["devices"])
    assert by_op(report) == sum((by_op(one) for one in alone), Counter())
    singles = [one.to_dict() for one in alone]
    rows = [row | {"process": number} for number, one in enumerate(singles) for row in one["operations"]]
    assert data["operations"] == rows
    for total in ("device_only", "overlap", "host_only", "idle"):
        sums = sum(single["totals"][total]["raw"] for single in singles)
        assert abs(data["totals"][total]["raw"] - sums) <= len(traces)
    for count in ("device_ops", "dispatches"):
        assert data["counts"][count] == sum(single["counts"][count] for single in singles)


@pytest.mark.parametrize("hostname", ["vm", ""])
def test_devices_of_processes_of_one_host_have_ids_of_their_own(tmp_path, hostname):
    for number in range(2):
        space = _one_run().build()
        space.hostname = hostname
        path = space.write(tmp_path, "s")
        path.rename(path.with_name(f"process{number}.xplane.pb"))
    devices = load(tmp_path).to_dict()["devices"]
    assert [device["process"] for device in devices] == [0, 1]
    assert len({device["id"] for device in devices}) == 2


def test_small_programs_inline_on_two_devices(tmp_path):
    """Several CPU devices (--xla_force_host_platform_device_count), both used from one thread."""
    trace = CpuTrace()
    module = module_of("jit_f", 3, TREE, SCOPED)
    for device in range(2):
        trace.run(module, TREE, (1 + 100 * device) * US, device=device)
    report = written(trace, tmp_path)
    data = closes(report)
    assert [(d["id"], d["self"]["raw"]) for d in data["devices"]] == [
        ("vm/cpu:0", 18_000),
        ("vm/cpu:1", 18_000),
    ]
    assert by_path(report) == {"update/loss": 30 * US, UNATTRIBUTED: 2 * (3 * US + 7)}


@several
@given(ops=op_trees(), data=st.data())
def test_an_op_named_like_a_mark_of_the_profiler_is_an_op(ops, data, folder):
    """What an event is, its statistics say; its name may be anything."""
    trace = CpuTrace()
    run = trace.run(module_of("jit_f", 3, ops), ops, US)
    expected = expected_by_op(trace)
    for event in run.ops and trace.python.events:
        if "hlo_op" in dict(event.stats):
            event.name = data.draw(st.sampled_from(["end: x", "$file.py:3 f", "ThreadpoolListener::Region"]))
            event.metadata_id = trace.host._event_id(event.name)
    assert by_op(written(trace, folder())) == expected
