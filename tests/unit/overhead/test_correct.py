"""Recordings whose every event cost a known time: what is left is what the work took."""

import statistics
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.overhead.anchors import Anchors, read_anchors, typical
from rlscope_jax.overhead.choose import NO_TAILS, NOT_CALIBRATED, OP_SPREAD, UNUSUAL_SPREAD, choose
from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.method import Method
from rlscope_jax.overhead.op_cost import UNSEEN, USUAL_GAP
from rlscope_jax.xla_events.read import read_trace
from xspace_builder import NS, US, CpuTrace, Op, module_of

RATIO, GAP = 3.0, USUAL_GAP  # over the tail: in all, and between two ops
NOTHING = Constant(0.0, 0.0, 0.0)
METHOD = Method("calibrated", Constant(RATIO, 2.7, 3.3), 0.2)
CONSTANTS = Constants(Constant(RATIO, 2.7, 3.3), 0.0, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)
SCOPES = {"dot.1": "jit(f)/policy/dot_general", "sort.3": "jit(f)/env_step/sort"}


def op(name, work, tail, follows=True):
    """An op of `work` that was recorded at the cost of three tails."""
    gap = round(GAP * tail) if follows else 0
    return Op(name, work + round(RATIO * tail) - gap, tail=tail, gap=gap)


def loop(children, tail):
    """A loop without work of its own; the gaps between its ops lie in its self time."""
    gaps = sum(child.gap for child in children)
    return Op("while.2", gaps + round(RATIO * tail), tuple(children), tail=tail)


def body(count, tail=200 * NS):
    """Some iterations of two operations that take 300 and 1000 ns."""
    ops = [op("dot.1", 300 * NS, tail), op("sort.3", 1000 * NS, tail)] * count
    return [loop([op("dot.1", 300 * NS, tail, follows=False), *ops[1:]], tail)]


def recorded(folder, ops, steps=1):
    """The attribution of some steps of a program, each on its own run, and the steps."""
    trace = CpuTrace()
    module, worker, at = module_of("jit_f", 7, ops, SCOPES), trace.worker(), 0
    for number in range(steps):
        run = trace.run(module, ops, at + US, worker=worker)
        trace.step(number, at, run.end + 20 * US - at)
        at = run.end + 30 * US
    attribution = attribute(read_trace(trace.write(folder)))
    return attribution, [step for thread in attribution.trace.host_threads for step in thread.steps]


def self_times(table):
    return {row.path: row.device_self for row in table.rows if row.device_self}


def test_each_operation_is_left_with_its_work(tmp_path):
    attribution, steps = recorded(tmp_path, body(50))
    correction = Overhead(attribution).correct(METHOD, steps)
    assert self_times(correction.table) == {"policy": 50 * 300 * NS, "env_step": 50 * 1000 * NS}
    assert correction.removed == RATIO * 200 * NS * (2 * 50 + 1)


def test_corrected_cells_sum_to_the_corrected_wall_time(tmp_path):
    attribution, steps = recorded(tmp_path, body(20), steps=3)
    overhead = Overhead(attribution)
    correction = overhead.correct(METHOD, steps)
    begin, end = attribution.trace.window
    assert sum(row.wall for row in correction.table.rows) == end - begin - correction.removed
    assert sum(correction.steps) == correction.removed  # every run lies in its step


def test_what_a_steps_own_mark_costs_is_the_steps(tmp_path):
    attribution, steps = recorded(tmp_path, body(20), steps=3)
    overhead = Overhead(attribution)
    with_marks = overhead.correct(replace(METHOD, step=1 * US), steps)
    assert with_marks.removed == overhead.correct(METHOD, steps).removed + 3 * US
    assert sum(with_marks.steps) == with_marks.removed


def test_a_single_operations_interval_is_wider_than_the_wholes(tmp_path):
    correction = Overhead(recorded(tmp_path, body(50))[0]).correct(METHOD, [])
    spreads = self_times(correction.spread)
    assert spreads["policy"] == round(0.2 * RATIO * 200 * NS * 50)
    assert correction.removed_spread == round(0.1 * RATIO * 200 * NS * 101)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3 * US), st.integers(1, US)), min_size=1, max_size=12), st.data())
def test_whatever_the_tails_the_sums_close(tmp_path_factory, ops, data):
    tail = data.draw(st.integers(1, US))
    tree = [loop([op(data.draw(st.sampled_from(list(SCOPES))), *each) for each in ops], tail)]
    attribution, steps = recorded(tmp_path_factory.mktemp("random"), tree)
    factor = data.draw(st.floats(0, 20))
    correction = Overhead(attribution).correct(
        Method("calibrated", Constant(factor, factor, factor), 0.2), steps
    )
    begin, end = attribution.trace.window
    assert sum(row.wall for row in correction.table.rows) == end - begin - correction.removed
    assert all(row.wall >= 0 and row.device_self >= 0 for row in correction.table.rows)
    tails = [tail, *(each[1] for each in ops)]
    gaps = len(tails) * statistics.median(tails)  # at most
    most = factor * ((1 + UNSEEN) * sum(tails) + gaps) / (1 + UNSEEN + USUAL_GAP)
    assert correction.removed <= most + 100


def test_unprofiled_steps_give_the_ratio(tmp_path):
    attribution, steps = recorded(tmp_path, body(50), steps=5)
    overhead = Overhead(attribution)
    work = (steps[0].end - steps[0].start - RATIO * 200 * NS * 101) / 1000
    found = choose(overhead, steps, None, Anchors((round(work),) * 6))
    assert found.correction.method.name == "anchored"
    assert found.correction.method.ratio.value == pytest.approx(RATIO, rel=1e-4)
    assert self_times(found.correction.table)["policy"] == pytest.approx(5 * 50 * 300 * NS, rel=1e-3)
    assert found.problem is None


def test_unprofiled_steps_of_another_pace_are_not_used_and_said(tmp_path):
    attribution, steps = recorded(tmp_path, body(50), steps=5)
    half = (steps[0].end - steps[0].start) // 20_000
    found = choose(Overhead(attribution), steps, CONSTANTS, Anchors((half,) * 6))
    assert found.correction.method.name == "anchored" or found.problem is not None
    assert found.problem.code == "unusual_overhead"


def test_an_unusual_ratio_is_no_doubt_of_single_operations_where_calibration_found_it_too(tmp_path):
    attribution, steps = recorded(tmp_path, body(50), steps=5)
    dearer = 4.0 * 200 * NS * 101 / 1000  # beyond the usual ratios
    work = round((steps[0].end - steps[0].start) / 1000 - dearer)
    for calibrated, spread in ((3.0, UNUSUAL_SPREAD), (4.0, OP_SPREAD)):
        known = replace(CONSTANTS, tail_ratio=Constant(calibrated, 0.9 * calibrated, 1.1 * calibrated))
        found = choose(Overhead(attribution), steps, known, Anchors((work,) * 6))
        assert found.problem.code == "unusual_overhead"
        assert found.correction.method.ratio.value == pytest.approx(4.0, rel=1e-3)
        assert found.correction.method.op_spread == spread


def test_unsteady_unprofiled_steps_give_way_to_the_constants(tmp_path):
    attribution, steps = recorded(tmp_path, body(50), steps=5)
    work = (steps[0].end - steps[0].start - RATIO * 200 * NS * 101) / 1000
    unsteady = Anchors(tuple(round(work * factor) for factor in (0.5, 0.7, 1.0, 1.5, 1.9, 1.0)))
    assert choose(Overhead(attribution), steps, CONSTANTS, unsteady).correction.method.name == "calibrated"


def test_unprofiled_steps_and_constants_that_agree_are_weighed(tmp_path):
    attribution, steps = recorded(tmp_path, body(50), steps=5)
    overhead = Overhead(attribution)
    extra = RATIO * 200 * NS * 101 / 1000
    work = (steps[0].end - steps[0].start) / 1000 - extra
    # Ratios about RATIO * 1.05, scattered: not sure of it.
    some = Anchors(tuple(round(work - 0.05 * extra + off * extra) for off in (-0.2, -0.1, 0, 0.1, 0.2)))
    alone = choose(overhead, steps, None, some).correction.method.ratio
    both = choose(overhead, steps, CONSTANTS, some).correction.method
    assert both.name == "anchored"
    assert CONSTANTS.tail_ratio.value < both.ratio.value < alone.value
    assert both.ratio.relative < min(alone.relative, CONSTANTS.tail_ratio.relative)


def test_unprofiled_steps_that_contradict_the_constants_are_believed(tmp_path):
    attribution, steps = recorded(tmp_path, body(50), steps=5)
    overhead = Overhead(attribution)
    extra = RATIO * 200 * NS * 101 / 1000
    work = (steps[0].end - steps[0].start) / 1000 - extra
    half = Anchors(tuple(round(work + (0.5 + off) * extra) for off in (-0.1, -0.05, 0, 0.05, 0.1)))
    alone = choose(overhead, steps, None, half).correction.method.ratio
    both = choose(overhead, steps, CONSTANTS, half).correction.method.ratio
    assert (both.value, both.relative) == pytest.approx((alone.value, alone.relative))


def test_without_anything_known_it_says_so(tmp_path):
    attribution, steps = recorded(tmp_path, body(5))
    assert choose(Overhead(attribution), steps, None, None).reason == NOT_CALIBRATED


def test_a_jax_without_tails_needs_unprofiled_steps(tmp_path):
    plain = [Op("while.2", 1 * US, [Op("dot.1", 500 * NS)] * 10)]
    attribution, steps = recorded(tmp_path, plain, steps=3)
    overhead = Overhead(attribution)
    assert choose(overhead, steps, CONSTANTS, None).reason == NO_TAILS
    base = round((steps[0].end - steps[0].start - 11 * 100 * NS) / 1000)
    correction = choose(overhead, steps, CONSTANTS, Anchors((base,) * 5)).correction
    # Eleven op events, 100 ns each: the same for all of them.
    assert self_times(correction.table)["policy"] == pytest.approx(3 * 10 * 400 * NS, rel=1e-2)


def test_steps_are_averaged_without_the_tenth_at_each_end():
    assert typical([10, 11, 12, 10, 12]) == 11
    assert typical([500, *[10] * 9, *[20] * 9, 1]) == 15
    assert typical([7, 9]) == 8


def test_steps_that_return_early_are_all_averaged():
    assert typical([1, 1, 1, 1, 46]) == 10


@pytest.mark.parametrize(
    "anchors",
    [
        None,
        {},
        {"steps_ns": "x"},
        {"steps_ns": [1, 2, 3]},
        {"steps_ns": [True] * 9},
        {"steps_ns": [0] * 9},
        {"steps_ns": [-5] * 9},
        {"steps_ns": [10**400] * 9},
        {"steps_ns": [float("nan")] * 9},
    ],
)
def test_too_little_or_odd_content_is_no_anchor(anchors):
    assert read_anchors({"anchors": anchors}) is None


def test_anchors_are_read():
    assert read_anchors({"anchors": {"steps_ns": [5, 3, 4, 6, 7]}}).base == 5
    both = {"steps_ns": [5, 3, 4, 6, 7], "after_ns": [8, 9, 9, 10, 9]}
    assert read_anchors({"anchors": both}) == Anchors((5, 3, 4, 6, 7), (8, 9, 9, 10, 9))
    assert read_anchors({"anchors": {**both, "after_ns": "x"}}).after == ()


def test_a_steady_drift_between_the_sides_of_a_window_cancels_and_is_in_the_doubt():
    anchors = Anchors((100,) * 8, (120,) * 5)
    assert anchors.base == 110
    assert anchors.uncertainty == 10
    assert anchors.count == 13
    assert Anchors((100,) * 8, (100,) * 5).uncertainty == 0


def test_too_few_steps_after_a_window_do_not_count():
    anchors = Anchors((100,) * 8, (120,) * 4)
    assert (anchors.base, anchors.count) == (100, 8)


def test_where_calls_return_early_steps_after_a_window_do_not_count():
    # The last one before it was waited for; nobody waited for the last one after it.
    assert Anchors((1, 1, 1, 1, 46), (1, 1, 1, 1, 1)).base == 10
