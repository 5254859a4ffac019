"""Windows within one long call whose every event cost a known time, and the rest of the call."""

import json
from dataclasses import replace
from itertools import pairwise

import jsonschema
import pytest

from rlscope_jax import load
from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.breakdown.report import report_schema
from rlscope_jax.overhead.choose import NOT_CALIBRATED
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.long_call import Call, Opened, held_by, read_calls, read_window, rest_of_call
from rlscope_jax.overhead.loops import Loops
from rlscope_jax.overhead.op_cost import USUAL_GAP
from rlscope_jax.reporters.overhead import overhead_lines
from rlscope_jax.xla_events.hlo import HloModule, Instruction, trip_count
from rlscope_jax.xla_events.read import read_trace
from xspace_builder import NS, US, CpuTrace, HloModuleBuilder, Op, recording

RATIO, GAP, TAIL = 3.0, USUAL_GAP, 200 * NS
WORK = {"dot.1": 300 * NS, "sort.2": 2000 * NS, "tanh.3": 100 * NS, "rare.4": 900 * NS, "often.5": 500 * NS}
OUTER, INNER = 1000, 4
T0 = 1_000_000_000_000  # unix ns: when the call began


def trips(count):
    return {43: json.dumps({"known_trip_count": {"n": str(count)}}).encode()}


def module(outer=OUTER, inner=INNER):
    """A loop of dot and an inner loop of sort and a conditional, then tanh."""
    built = HloModuleBuilder("jit_train", 7)
    body, condition, within, inner_condition, rare, often = map(
        built.computation, ("body", "condition", "within", "inner_condition", "rare", "often")
    )
    for each in (condition, inner_condition):
        each.parameter(f"{each.name}.argument")
    rare.add("rare.4", "negate")
    often.add("often.5", "negate")
    within.add("sort.2", "sort")
    within.add("cond.6", "conditional", calls=[rare, often])
    body.add("dot.1", "dot")
    body.add("while.7", "while", calls=[within, inner_condition], extra=trips(inner) if inner else {})
    body.add("tanh.3", "tanh")
    built.entry.add("while.8", "while", calls=[body, condition], extra=trips(outer) if outer else {})
    return built


def op(name, children=()):
    """What was recorded of it: its work and three tails, of which a part lies before it."""
    gap = round(GAP * TAIL)
    own = WORK.get(name, 0) + round(RATIO * TAIL) - gap + sum(child.gap for child in children)
    return Op(name, own, tuple(children), tail=TAIL, gap=gap)


def iteration(number):
    """Its ops in order, those in an inner loop as if that were cut: of four branches one is the rare one."""
    ops = [op("dot.1")]
    for place in range(INNER):
        ops += [op("sort.2"), op("cond.6", [op("rare.4" if place == number % INNER else "often.5")])]
    return [*ops, op("tanh.3")]


UNPROFILED = (
    WORK["dot.1"] + WORK["tanh.3"] + INNER * WORK["sort.2"] + WORK["rare.4"] + (INNER - 1) * WORK["often.5"]
) / 1000
"""ns of an iteration."""


def sequence(iterations):
    return [each for number in range(iterations) for each in iteration(number)]


def window(folder, number, ops, *, program=None, run_id=5):
    """A window that holds just these ops; what it holds, and how long it was open, ns."""
    trace = CpuTrace()
    run = trace.run(program or module(), ops, US, worker=trace.worker(), run_id=run_id)
    path = trace.write(folder / str(number))
    return held_by(Overhead(attribute(read_trace(path))), None), (run.end - run.start + ops[0].gap) // 1000


def call_of(windows, iterations_held, outer=OUTER):
    """A call with these windows at equal distances: (the call, the windows)."""
    took = round((outer - iterations_held) * UNPROFILED + sum(length for _, length in windows))
    opened = [
        Opened(T0 + took * place // (len(windows) + 1), T0 + took * place // (len(windows) + 1) + length)
        for place, (_, length) in enumerate(windows, 1)
    ]
    return Call(T0, T0 + took), opened


def rest_of(windows, iterations_held, outer=OUTER):
    call, opened = call_of(windows, iterations_held, outer)
    return rest_of_call(call, opened, list(zip(opened, [held for held, _ in windows], strict=True)))


def ratio(rest):
    return (rest.profiled - rest.base) / rest.units


def test_the_rest_of_a_call_gives_base_and_ratio(tmp_path):
    rest = rest_of([window(tmp_path, number, sequence(4)) for number in range(3)], 12)
    assert rest.base == pytest.approx(1000 * UNPROFILED, rel=1e-3)
    assert ratio(rest) == pytest.approx(RATIO, rel=0.02)  # of each window the first gap is not seen
    assert rest.iterations == pytest.approx(OUTER - 12, rel=1e-3)
    assert rest.doubt < 0.02 * (rest.profiled - rest.base)


def test_windows_shorter_than_an_iteration_add_up_by_their_work(tmp_path):
    ops = sequence(4)
    parts = [ops[place : place + 5] for place in range(0, len(ops), 5)]  # ten ops an iteration
    windows = [window(tmp_path, number, part) for number, part in enumerate(parts)]
    rest = rest_of(windows, 4)
    assert rest.base == pytest.approx(1000 * UNPROFILED, rel=1e-3)
    assert ratio(rest) == pytest.approx(RATIO, rel=0.1)


def test_windows_that_saw_one_phase_more_than_another_are_no_worse(tmp_path):
    ops = sequence(8)
    sorts = [each for each in ops if each.name != "tanh.3"]
    even = rest_of([window(tmp_path, number, ops) for number in range(3)], 24)
    uneven = [window(tmp_path, 10, ops), window(tmp_path, 11, ops), window(tmp_path, 12, sorts)]
    assert rest_of(uneven, 24).profiled == pytest.approx(even.profiled, rel=0.01)


def test_complete_inner_loops_count_as_cut_ones_do(tmp_path):
    whole = []
    for number in range(4):
        first, *within, last = iteration(number)
        whole += [first, op("while.7", within), last]
    rest = rest_of([window(tmp_path, number, whole) for number in range(3)], 12)
    assert rest.base == pytest.approx(1000 * UNPROFILED, rel=1e-3)
    assert ratio(rest) == pytest.approx(RATIO, rel=0.03)


def two_phases(outer, inner):
    """A loop of two loops, the first of sorts, the second of dots."""
    built = HloModuleBuilder("jit_train", 7)
    body, sorts, dots, condition = map(built.computation, ("body", "sorts", "dots", "condition"))
    condition.parameter("argument")
    sorts.add("sort.2", "sort")
    dots.add("dot.1", "dot")
    body.add("while.6", "while", calls=[sorts, condition], extra=trips(inner))
    body.add("while.7", "while", calls=[dots, condition], extra=trips(inner))
    built.entry.add("while.8", "while", calls=[body, condition], extra=trips(outer))
    return built


def test_a_part_of_an_iteration_is_enough_where_every_op_was_seen_often(tmp_path):
    program = two_phases(outer=20, inner=1000)
    windows = [
        window(tmp_path, n, [op(name)] * 100, program=program)
        for n, name in enumerate(["sort.2", "dot.1"] * 4)
    ]
    took = 20 * 1000 * (WORK["sort.2"] + WORK["dot.1"]) // 1000 + sum(length for _, length in windows)
    took -= 400 * (WORK["sort.2"] + WORK["dot.1"]) // 1000
    opened = [
        Opened(T0 + n * took // 9, T0 + n * took // 9 + length) for n, (_, length) in enumerate(windows, 1)
    ]
    held = list(zip(opened, [one for one, _ in windows], strict=True))
    told = rest_of_call(Call(T0, T0 + took), opened, held)
    assert told.base == pytest.approx(1000 * (WORK["sort.2"] + WORK["dot.1"]), rel=1e-2)
    assert told.doubt >= told.profiled / 8  # some part of an iteration may lie in no window
    refused = rest_of_call(Call(T0, T0 + took), opened[:6], held[:6])
    assert refused == "the windows hold 0.3 iterations of its loop, 2 say enough"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (module(outer=None), "how often"),
        (module(inner=None), None),  # as often as was seen
    ],
)
def test_a_loop_of_unknown_trip_count_counts_as_seen_within_another_only(tmp_path, program, said):
    found = rest_of([window(tmp_path, n, sequence(4), program=program) for n in range(3)], 12)
    if said is None:
        assert found.base == pytest.approx(1000 * UNPROFILED, rel=1e-3)
        assert ratio(found) == pytest.approx(RATIO, rel=0.03)
    else:
        assert said in found


def test_windows_of_several_calls_are_refused(tmp_path):
    windows = [window(tmp_path, n, sequence(4), run_id=n) for n in (3, 4)]
    assert rest_of(windows, 8) == "the windows hold work of several calls"


def test_a_call_that_was_seen_before_it_was_noted_is_refused(run_of_windows):
    """It ran beside another one: only from that one's end on its outputs are known to be awaited."""
    logdir = run_of_windows()
    path = max((logdir / "plugins" / "rlscope").glob("*.json"))
    sidecar = json.loads(path.read_text())
    second = json.loads((path.parent / "2026_11_30_10_00_01.json").read_text())["window"]["start_unix_ns"]
    sidecar["calls"][0]["begin_unix_ns"] = second - 1000
    path.write_text(json.dumps(sidecar))
    overhead = load(logdir).to_dict()["overhead"]
    assert overhead["correction"] == "none"
    assert "it was under way before it was seen to be" in overhead["reason"]


def test_a_loop_that_no_window_saw_is_refused(tmp_path):
    ops = [op("dot.1"), op("tanh.3")] * 2
    windows = [window(tmp_path, n, ops) for n in range(3)]
    assert rest_of(windows, 6) == "no window saw anything of while.7, a loop within it"


def test_a_call_that_was_recorded_almost_whole_is_refused(tmp_path):
    windows = [window(tmp_path, n, sequence(4), program=module(outer=14)) for n in range(3)]
    assert rest_of(windows, 12, outer=14) == "hardly anything of it lies outside of the windows"


def test_windows_in_which_little_was_seen_are_refused(tmp_path):
    windows = [window(tmp_path, n, sequence(4)) for n in range(3)]
    call, opened = call_of(windows, 12)
    longer = [replace(each, stop=each.stop + 3 * (each.stop - each.start)) for each in opened]
    told = rest_of_call(call, longer, list(zip(longer, [held for held, _ in windows], strict=True)))
    assert told.startswith("in 75 % of its windows nothing was seen")


def test_what_windows_differ_by_is_in_the_doubt(tmp_path):
    steady = rest_of([window(tmp_path, n, sequence(4)) for n in range(4)], 16)
    slow = [Op(one.name, one.self_time + US, one.children, one.tail, one.gap) for one in sequence(4)]
    both = [window(tmp_path, n, ops) for n, ops in enumerate([sequence(4), slow, sequence(4), slow], 10)]
    assert rest_of(both, 16).doubt > 10 * steady.doubt


def test_a_program_that_names_no_body_or_no_end_of_its_loops_is_refused(tmp_path):
    endless = two_phases(outer=1 << 62, inner=1 << 62)
    windows = [window(tmp_path, n, [op("sort.2"), op("dot.1")] * 9, program=endless) for n in range(3)]
    assert rest_of(windows, 12).startswith("its loops would run for ever")
    empty = module()
    bare = empty.computation("bare")
    bare.add("while.9", "while", extra=trips(3))
    next(one for one in empty._computations if one.name == "body").add("cond.9", "conditional", calls=[bare])
    windows = [window(tmp_path, n, sequence(4), program=empty) for n in range(10, 13)]
    assert rest_of(windows, 12).base == pytest.approx(1000 * UNPROFILED, rel=1e-3)


def test_computations_that_many_call_are_looked_at_once(tmp_path):
    """Two calls of the next one in each of a hundred: 2^100 ways, and no one knows how often they run."""
    built = module()
    branches = [built.computation(f"branch.{n}") for n in range(100)]
    for around, within in pairwise(branches):
        for n in range(2):
            around.add(f"call.{within.name}.{n}", "call", calls=[within])
    branches[-1].add("negate.1", "negate")
    built.entry.add("while.9", "while", calls=[branches[0]])
    windows = [window(tmp_path, n, sequence(4), program=built) for n in range(3)]
    assert rest_of(windows, 12).base == pytest.approx(1000 * UNPROFILED, rel=1e-3)


NEVER = 10**400
"""A whole number that is no float."""


@pytest.mark.parametrize(
    ("field", "value"),
    [("begin_unix_ns", -NEVER), ("end_unix_ns", NEVER), ("doubt_ns", NEVER), ("stopped_ns", -1),
     ("end_unix_ns", float("nan")), ("doubt_ns", float("inf")), ("stopped_ns", "0")],
)  # fmt: skip
def test_a_time_that_is_none_makes_no_call(field, value):
    sound = {"begin_unix_ns": T0, "end_unix_ns": T0 + 9, "doubt_ns": 0, "stopped_ns": 0}
    assert read_calls([{"calls": [sound]}]) == [Call(T0, T0 + 9)]
    assert read_calls([{"calls": [{**sound, field: value}]}]) == []


def test_odd_times_of_a_window_are_none():
    def read(start, stop, collecting=5):
        return read_window(
            {"window": {"start_unix_ns": start, "stop_unix_ns": stop}, "collecting_ns": collecting}
        )

    assert read(T0, T0 + 9) == Opened(T0, T0 + 9, 5)
    assert [read(T0, T0 + 9, odd) for odd in (NEVER, -1, None, "5", 1.5)] == [Opened(T0, T0 + 9)] * 5
    assert [read(*odd) for odd in ((T0, NEVER), (-NEVER, T0), (T0, T0), (0.5, T0), (None, T0))] == [None] * 5


@pytest.mark.parametrize(
    "calls",
    [None, "x", [None], [{}], [{"begin_unix_ns": 5, "end_unix_ns": 4, "doubt_ns": 0, "stopped_ns": 0}],
     [{"begin_unix_ns": 5, "end_unix_ns": 9, "doubt_ns": True, "stopped_ns": 0}]],
)  # fmt: skip
def test_odd_content_is_no_call(calls):
    assert read_calls([{"calls": calls}, {}]) == []


@pytest.fixture
def run_of_windows(tmp_path, monkeypatch):
    """Makes a run's windows on disk, as `record` writes them."""

    def make(**more):
        return written(tmp_path, lambda at: monkeypatch.setattr(recording, "START_UNIX_NS", at), **more)

    return make


def written(folder, starts_at, count=4, calls=True, outside=False):
    windows = [window(folder / "try", n, sequence(4)) for n in range(count)]
    call, opened = call_of(windows, 4 * count)
    told = [{"begin_unix_ns": call.begin, "end_unix_ns": call.end, "doubt_ns": 0, "stopped_ns": 0}]
    if outside:
        opened.append(Opened(call.end + 10_000_000, call.end + 11_000_000))
    for number, each in enumerate(opened):
        starts_at(each.start)
        trace = CpuTrace()
        if number < count:
            trace.run(module(), sequence(4), 0, worker=trace.worker(), run_id=5, starts=-2 * US)
        name = f"2026_11_30_10_00_{number:02}"
        trace.write(folder / "log", name)
        sidecar = {
            "window": {
                "start_unix_ns": each.start,
                "stop_unix_ns": each.stop,
                "first_step": 0,
                "last_step": -1,
            },
            "part_of": "1-2",
            "collecting_ns": 0,
            "calls": told if calls and number == len(opened) - 1 else [],
            "page_faults": 0,
        }
        place = folder / "log" / "plugins" / "rlscope" / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(sidecar))
    return folder / "log"


def test_the_report_is_anchored_on_the_rest(run_of_windows):
    data = load(run_of_windows()).to_dict()
    jsonschema.validate(data, report_schema())
    overhead = data["overhead"]
    assert overhead["correction"] == "anchored", overhead["reason"]
    assert overhead["anchors"]["base_ns"] == pytest.approx(UNPROFILED, rel=0.01)
    assert overhead["anchors"]["ratio"] == pytest.approx(RATIO, rel=0.03)
    assert data["totals"]["wall"]["corrected"] == pytest.approx(16 * UNPROFILED, rel=0.02)
    low, high = overhead["removed"]["interval"]
    assert low <= overhead["removed"]["ns"] <= high
    assert "iterations of the same call that nobody recorded" in " ".join(overhead_lines(data, "corrected"))


def test_one_window_alone_is_anchored_on_the_rest_too(run_of_windows):
    logdir = run_of_windows()
    data = load(logdir, session="2026_11_30_10_00_01").to_dict()
    assert data["overhead"]["anchors"]["base_ns"] == pytest.approx(UNPROFILED, rel=0.01)


def test_a_window_in_which_nothing_ran_leaves_the_others_corrected(run_of_windows):
    data = load(run_of_windows(outside=True)).to_dict()
    assert data["overhead"]["correction"] == "anchored", data["overhead"]["reason"]


def test_a_call_that_never_ended_gives_no_anchors(run_of_windows):
    overhead = load(run_of_windows(calls=False)).to_dict()["overhead"]
    assert (overhead["correction"], overhead["anchors"]) == ("none", None)
    assert overhead["reason"] == NOT_CALIBRATED


def test_a_program_that_calls_itself_has_no_loops():
    body = [Instruction("while.1", "while", id=2, computation=2, called=[3])]
    within = [Instruction("while.2", "while", id=3, computation=3, called=[2])]
    entry = [Instruction("while.0", "while", id=1, computation=1, called=[2])]
    assert Loops(HloModule("jit_f", [*entry, *body], {}, 1)).looped == {2, 3}
    assert Loops(HloModule("jit_f", [*entry, *body, *within], {}, 1)).looped == set()


@pytest.mark.parametrize("config", [b"", b"{", b"[]", b'{"known_trip_count":{"n":"-1"}}', b"\xff"])
def test_a_trip_count_that_is_none_is_unknown(config):
    assert trip_count(Instruction(opcode="while", backend_config=config)) is None
    assert trip_count(Instruction(backend_config=b'{"known_trip_count":{"n":"7"}}')) == 7
