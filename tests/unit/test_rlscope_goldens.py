"""RL-Scope's own golden results, found again in our report of profiles built to hold the same events.

The numbers are those of RL-Scope's C++ tests (`test_compute_overlap.cc`, `test_cpp_dump_proto.cc`, commit
cdd9bbd). Its resource sets {GPU}, {CPU, GPU} and {CPU} are our cells device_only, overlap and host_only; its
inclusive "venn" sizes are our self times over lines and threads. These of its results have no counterpart:

- the first and last instant of each overlap region (`RegionMetadata`): our report keeps sums, not places;
- an overlap set that names several operations: we give each instant to one operation, or to several at once
  in equal shares, so the sets are checked through those shares;
- transitions into Python and between sets of categories: we count calls (dispatches, launches, callbacks).
  Its tests hold no golden transition counts; here its rule is applied to events, and compared;
- one operation an instant per process: our threads each have their own, and share the instant;
- time in no operation or no category, which its reducers drop: ours is (unattributed), (startup) or (idle);
- its limit of 64 categories (`TestBitset`): we have none, as the last test here shows.

RL-Scope gives device time to the operation that the CPU is in meanwhile; ours follows the launch. So device
work is dispatched here from one call before all of it.
"""

from fractions import Fraction
from itertools import pairwise

import pytest

from rlscope_jax import load
from rlscope_jax.names import encode
from xspace_builder import MS, US, CpuTrace, GpuTrace, Op, module_of

UNIT = 6 * MS  # divisible by two and three sharers
CELLS = ("device_only", "overlap", "host_only", "idle")

EVENTS = {"A": [(3, 7), (8, 10)], "B": [(1, 4), (6, 9)], "C": [(2, 5), (7, 8), (11, 12)]}
OVERLAP = {"A": 2, "B": 1, "C": 1, "AB": 2, "AC": 1, "BC": 2, "ABC": 1}
"""`TestComputeOverlap.Test_01_Complete`: seconds in which exactly these were active."""

NESTED = {
    "TestEachOpEvent_01": ({"A": [(1, 2)], "B": [(0, 3)]}, {"A": 1, "B": 2}),
    "TestEachOpEvent_02": ({"A": [(0, 1)], "B": [(0, 3)]}, {"A": 1, "B": 2}),
    "TestEachOpEvent_03": ({"A": [(2, 3)], "B": [(0, 3)]}, {"A": 1, "B": 2}),
    "TestEachOpEvent_04": ({"A": [(1, 2), (3, 4)], "B": [(0, 5)]}, {"A": 2, "B": 3}),
    "TestEachOpEvent_05": (
        {"A": [(1, 2), (3, 4), (7, 8), (9, 10)], "B": [(0, 5), (6, 11)]},
        {"A": 4, "B": 6},
    ),
}
"""Operation B around A: events, and the length of the disjoint pieces that each is left with."""


def rows_of(trace, folder):
    trace.write(folder)
    data = load(folder).to_dict()
    return data, {row["path"]: row for row in data["operations"]}


def units(figure):
    return Fraction(figure["raw"] * 1000, UNIT)


@pytest.mark.parametrize("on_device", ["", "A", "B", "C", "AB", "AC", "BC", "ABC"])
def test_overlap_sets(tmp_path, on_device):
    """Whichever of A, B and C are lines of the device and whichever threads of the host."""
    device = set(on_device)
    data, rows = rows_of(_three_categories(device), tmp_path)

    def cell(name, which):
        return units(rows[f"launch/{name}" if name in device else name]["wall"][which])

    def share(name, beside_host):
        """Of every set with `name` its share, among the members that count at that instant."""
        total = Fraction(0)
        for names, length in OVERLAP.items():
            working = set(names) & device or set(names)
            if name in working and bool(set(names) - device) == beside_host:
                total += Fraction(length, len(working))
        return total

    for name in "ABC":
        if name in device:
            assert cell(name, "device_only") == share(name, beside_host=False)
            assert cell(name, "overlap") == share(name, beside_host=True)
        else:
            assert cell(name, "host_only") == share(name, beside_host=True)
    totals = {cell: units(data["totals"][cell]) for cell in CELLS}
    sets = [(set(names) & device, set(names) - device, length) for names, length in OVERLAP.items()]
    assert totals["device_only"] == sum(length for on, off, length in sets if on and not off)
    assert totals["overlap"] == sum(length for on, off, length in sets if on and off)
    # Nothing is active in the first second and from 10 to 11: that time is not dropped.
    rest = sum(
        units(rows[name]["wall"]["host_only"]) for name in ("launch", "(unattributed)") if name in rows
    )
    assert totals["idle"] + rest == units(data["totals"]["wall"]) - sum(OVERLAP.values())


@pytest.mark.parametrize("name", "ABC")
def test_inclusive_sizes(tmp_path, name):
    """V[A] is the sum over all sets with A: our self time over lines, or over threads."""
    inclusive = sum(length for names, length in OVERLAP.items() if name in names)
    rows = rows_of(_three_categories({name}), tmp_path / "device")[1]
    assert units(rows[f"launch/{name}"]["device"]["self"]) == inclusive
    rows = rows_of(_three_categories(set("ABC") - {name}), tmp_path / "host")[1]
    assert units(rows[name]["host"]["self"]) == inclusive


def _three_categories(device):
    """The events of A, B and C: ops on a line of the device each, or annotations of a thread each."""
    trace, at = CpuTrace(), US
    for number, (name, events) in enumerate(EVENTS.items()):
        line = trace.worker() if name in device else trace.thread("python", id=number)
        for start, end in events:
            if name in device:
                module = module_of(f"jit_{name}", number, [Op(name, 0)], {name: f"jit({name})/{name}/tanh"})
                ops = [Op(name, (end - start) * UNIT)]
                trace.run(module, ops, at, worker=line, starts=start * UNIT - 2 * US)
                at += 60 * US
            else:
                line.event(encode(name), start * UNIT, (end - start) * UNIT)
    if device:
        trace.annotation("launch", 0, at)
    return trace


@pytest.mark.parametrize(("events", "expected"), NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("order", ["in order", "last first"])
def test_nested_operations_on_the_host(tmp_path, events, expected, order):
    """`TestEventFlattener_01` is the fourth, read from two files: here its events come out of order."""
    trace = CpuTrace()
    for name, spans in events.items():
        for start, end in spans:
            trace.annotation(encode(name), start * UNIT, (end - start) * UNIT)
    space = trace.build()
    if order == "last first":
        for line in space.planes[1].lines:
            line.events.reverse()
    rows = rows_of(space, tmp_path)[1]
    assert {
        "A": units(rows["B/A"]["wall"]["host_only"]),
        "B": units(rows["B"]["wall"]["host_only"]),
    } == expected
    assert units(rows["B/A"]["host"]["categories"]["python"]) == expected["A"]


@pytest.mark.parametrize(("events", "expected"), NESTED.values(), ids=NESTED)
def test_nested_operations_on_the_device(tmp_path, events, expected):
    names = {"while.1": "jit(f)/rls=B/while", "sin.1": "jit(f)/rls=B/while/body/rls=A/sin"}
    trees = []
    for (_, before), (start, end) in pairwise([(0, 0), *events["B"]]):
        inner, now = [], start
        for a, b in (span for span in events["A"] if start <= span[0] < end):
            inner.append(Op("sin.1", (b - a) * UNIT, gap=(a - now) * UNIT))
            now = b
        own = (end - start) * UNIT - sum(op.duration for op in inner)
        trees.append(Op("while.1", own, inner, tail=(end - now) * UNIT, gap=(start - before) * UNIT))
    trace = CpuTrace()
    trace.run(module_of("jit_f", 7, trees, names), trees, US, worker=trace.worker())
    rows = rows_of(trace, tmp_path)[1]
    found = {"A": units(rows["B/A"]["device"]["self"]), "B": units(rows["B"]["device"]["self"])}
    assert found == expected
    assert units(rows["B"]["device"]["total"]) == sum(expected.values())


@pytest.mark.parametrize("at", [0, 1, 3])
def test_an_operation_of_no_length_is_skipped(tmp_path, at):
    trace = CpuTrace()
    trace.annotation(encode("B"), 0, 3 * UNIT)
    trace.annotation(encode("A"), at * UNIT, 0)
    data, rows = rows_of(trace, tmp_path)
    assert units(rows["B"]["wall"]["host_only"]) == units(data["totals"]["wall"]) == 3


def test_transitions_of_a_category_are_its_calls(tmp_path):
    """RL-Scope counts a change into category c within an operation: in the set after, not in that before.

    Its Python events stop where a call into the backend begins; CUDA calls lie within the backend's.
    """
    trace, calls = GpuTrace(), {"inference": (5, 1), "update": (3, 4)}  # calls, and launches of each
    module = module_of("jit_f", 7, [Op("dot.1", 0)])
    stream, operations, now = trace.stream(), [], UNIT
    events = {"backend": [], "cuda": []}
    for name, (dispatches, launches) in calls.items():
        began = now
        for _ in range(dispatches):
            now += 50 * US
            call = trace.dispatch(module, now, 100 * US)
            events["backend"].append(call)
            for number in range(launches):
                at = now + (10 + 15 * number) * US
                kernel = trace.kernel(
                    "k", stream, at=at, start=at + MS, duration=US, module=module, hlo_op="dot.1"
                )
                events["cuda"].append(kernel.host)
            now = call.end
        now += 50 * US
        operations.append((name, began, now))
        trace.annotation(encode(name), began, now - began)
    counted = {
        name: {category: _transitions(calls, began, ended) for category, calls in events.items()}
        for name, began, ended in operations
    }
    assert counted == {name: {"backend": n, "cuda": n * each} for name, (n, each) in calls.items()}
    rows = rows_of(trace, tmp_path)[1]
    for name, count in counted.items():
        assert rows[name]["host"]["dispatches"] == count["backend"]
        assert rows[name]["device"]["launches"] == count["cuda"]


def _transitions(events, began, ended):
    """How often the category goes from inactive to active while the operation runs."""
    instants = {began, ended, *(t for event in events for t in (event.start, event.end))}
    active = [
        any(event.start <= t < event.end for event in events) for t in sorted(instants) if began <= t <= ended
    ]
    return sum(after and not before for before, after in pairwise(active))


def test_transitions_of_the_golden_events(tmp_path):
    """A, B and C become active 2, 2 and 3 times; as programs of the device they are called as often."""
    instants = range(1, 13)
    active = [{n for n, spans in EVENTS.items() if any(a <= t < b for a, b in spans)} for t in instants]
    entered = {n: sum(n in after - before for before, after in pairwise([set(), *active])) for n in EVENTS}
    assert entered == {"A": 2, "B": 2, "C": 3}
    data = rows_of(_three_categories(set("ABC")), tmp_path)[0]
    assert {program["function"]: program["dispatches"] for program in data["programs"]} == entered
    assert {program["function"]: program["runs"] for program in data["programs"]} == entered


def test_more_operations_than_rl_scope_has_bits_for(tmp_path):
    trace = CpuTrace()
    for number in range(70):
        trace.thread("python", id=number).event(encode(f"actor{number}"), 0, 70 * US)
    rows = rows_of(trace, tmp_path)[1]
    assert [rows[f"actor{number}"]["wall"]["host_only"]["raw"] for number in range(70)] == [1000] * 70
