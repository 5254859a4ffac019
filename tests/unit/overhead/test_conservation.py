"""Whatever was recorded, and whatever its events cost: corrected figures close as raw ones do."""

import statistics

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.overhead import correct
from rlscope_jax.overhead.anchors import Anchors
from rlscope_jax.overhead.choose import Corrected, choose
from rlscope_jax.overhead.constants import Constant
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.figures import Figures, inflation, step_wall
from rlscope_jax.overhead.method import Method
from rlscope_jax.overhead.new_memory import NewMemory
from rlscope_jax.xla_events.read import read_trace
from xspace_builder import NS, US, CpuTrace, GpuTrace, Op, module_of

SCOPES = {"dot.1": "jit(f)/policy/dot_general", "sort.3": "jit(f)/env_step/sort"}
LEAVES = [Op("dot.1", 0), Op("sort.3", 0)]
MODULE = module_of("jit_f", 7, [Op("while.2", 1, LEAVES)], SCOPES)


def method(ratio=3.0, relative=0.1, **costs):
    return Method("calibrated", Constant(ratio, ratio * (1 - relative), ratio * (1 + relative)), 0.2, **costs)


def correction_of(trace, folder, chosen, memory=None):
    attribution = attribute(read_trace(trace.write(folder)))
    steps = [step for thread in attribution.trace.host_threads for step in thread.steps]
    overhead = Overhead(attribution, memory or NewMemory())
    return overhead, overhead.correct(chosen, steps), steps


@st.composite
def loops(draw):
    """A loop over some ops, of any lengths, whose tails may be longer than their work."""
    times = st.one_of(st.just(0), st.integers(0, 2 * US))
    ops = []
    for _ in range(draw(st.integers(0, 5))):
        tail = draw(times)
        ops.append(Op(draw(st.sampled_from(list(SCOPES))), tail + draw(times), (), tail, draw(times)))
    tail = draw(times)
    return [Op("while.2", 1 + tail + sum(op.gap for op in ops) + draw(times), ops, tail)]


@st.composite
def traces(draw):
    """Runs on several threads of up to two devices, at once or not, some within steps, some waited for."""
    trace = CpuTrace()
    workers = [trace.worker() for _ in range(3)]
    free, at = [0] * len(workers), US
    for number in range(draw(st.integers(0, 4))):
        mine, begin = draw(st.integers(0, 1)), at
        starts = max(at + 10 * US, free[mine])
        run = trace.run(
            MODULE, draw(loops()), at, worker=workers[mine], starts=starts, device=draw(st.integers(0, 1))
        )
        if draw(st.booleans()):
            trace.also(run, draw(loops()), max(starts, free[2]), workers[2], draw(st.integers(0, 1)))
            free[2] = run.end + 5 * US
        free[mine] = run.end + 5 * US
        trace.annotation("np.asarray(jax.Array)", at + 55 * US, draw(st.integers(0, 100 * US)))
        at = draw(st.sampled_from([at + 60 * US, max(at + 60 * US, run.end + 20 * US)]))
        if draw(st.booleans()):
            trace.step(number, begin, at - begin)
    return trace


methods = st.builds(
    method,
    st.floats(0, 20),
    st.floats(0, 1),
    op_floor=st.floats(0, 100_000),
    host_event=st.floats(0, 5_000_000),
    annotation=st.floats(0, 5_000_000),
    python_call=st.floats(0, 5_000_000),
    step=st.floats(0, 5_000_000),
    wait=st.floats(0, 50_000_000),
    anchors=st.sampled_from([None, {"steps": 9}]),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(traces(), methods, st.floats(0, 1000))
def test_corrected_cells_close(tmp_path_factory, trace, chosen, memory):
    overhead, correction, steps = correction_of(
        trace, tmp_path_factory.mktemp("any"), chosen, NewMemory(memory, memory)
    )
    raw, cells = overhead.cells, correction.table.cells
    few = 2 * len(raw.device_only) + 40  # rounded to a picosecond each
    of_device = int(cells.device_only.sum() + cells.overlap.sum())
    assert sum(row.wall for row in correction.table.rows) == cells.wall == raw.wall - correction.removed
    assert cells.self_of_device.sum() == cells.device_self.sum()
    for now, before in zip(vars(cells).values(), vars(raw).values(), strict=True):
        assert np.all(np.asarray(now) >= 0)
        assert np.sum(now) <= np.sum(before) + few
    for spreads in (correction.whole_spread, correction.spread.cells):
        assert all(np.all(np.asarray(each) >= 0) for each in vars(spreads).values())
    assert np.all(cells.host_only <= cells.host_self + 1)
    assert np.all(cells.busy <= cells.self_of_device + few)
    assert np.all(cells.busy <= of_device + few)
    assert cells.busy.sum() >= of_device - few
    if len(cells.busy) == 1:
        assert abs(cells.busy[0] - of_device) <= few
    assert correction.steps.sum() <= correction.removed + few
    assert all(0 <= lost <= step.end - step.start for lost, step in zip(correction.steps, steps, strict=True))


def test_what_a_host_cell_cannot_give_the_others_do(tmp_path):
    trace = CpuTrace()
    trace.step(0, 0, 100 * US)
    trace.annotation("rls=rollout", 10 * US, 50 * US)
    for number in range(100):
        trace.annotation("ParseArguments", (15 + number // 10) * US + number * NS, 5 * NS)
    _, correction, _ = correction_of(trace, tmp_path, method(host_event=200 * NS, annotation=150 * NS))
    # 100 events of 200 ns that lasted 5 ns each: the time they cost lies between them. Ours costs its own.
    cost = 100 * 200 * NS + 150 * NS
    assert correction.removed == pytest.approx(cost, rel=1e-6)
    assert correction.steps.tolist() == pytest.approx([cost])
    assert sum(row.host_self for row in correction.table.rows) == pytest.approx(100 * US - cost)


def test_calls_under_the_python_tracer_are_paid_by_who_called(tmp_path):
    trace = CpuTrace()
    trace.step(0, 0, 100 * US)
    trace.annotation("rls=rollout", 10 * US, 50 * US)
    for number in range(40):
        trace.annotation("$train.py:7 act", 15 * US + number * US, 300 * NS)
    overhead, correction, _ = correction_of(
        trace, tmp_path, method(python_call=200 * NS, host_event=0), NewMemory(10 * NS, 10 * NS)
    )
    [thread] = overhead.attribution.trace.host_threads
    assert thread.python_calls.tolist() == [15 * US + number * US for number in range(40)]
    assert correction.removed == 40 * 200 * NS  # which memory the tracer takes is not known
    [rollout] = [row for row in correction.table.rows if row.path == "rollout"]
    assert rollout.host_self == 50 * US - 40 * 200 * NS


def test_a_wait_takes_no_more_than_there_is_idle_time_from_the_steps_too(tmp_path):
    trace, work = CpuTrace(), [Op("dot.1", 60 * US, tail=100 * NS)]
    run = trace.run(MODULE, work, 0, worker=trace.worker())
    trace.annotation("BlockUntilReady", 55 * US, run.end + 3 * US - 55 * US)
    trace.step(0, 0, run.end + 10 * US)
    overhead, correction, _ = correction_of(trace, tmp_path, method(wait=40 * US))
    assert len(overhead.waits) == 1
    assert 0 < overhead.cells.idle < 40 * US
    assert correction.removed == overhead.cells.idle + 300 * NS
    assert correction.steps.tolist() == pytest.approx([correction.removed])


def test_every_device_is_left_with_its_own_work(tmp_path):
    trace = CpuTrace()
    many = [Op("while.2", 600 * NS, [Op("dot.1", 900 * NS, tail=200 * NS)] * 20, tail=200 * NS)]
    for device, ops in enumerate((many, [Op("sort.3", 100 * US)])):
        trace.run(MODULE, ops, device * 200 * US, worker=trace.worker(), device=device)
    _, correction, _ = correction_of(trace, tmp_path, method())
    assert correction.table.cells.self_of_device.tolist() == [20 * 300 * NS, 100 * US]
    assert correction.table.cells.busy.tolist() == [20 * 300 * NS, 100 * US]


def test_the_interval_of_a_sum_is_that_of_its_parts_where_their_errors_do_not_cancel(tmp_path):
    trace = CpuTrace()
    ops = [Op("while.2", 600 * NS, [Op("dot.1", 900 * NS, tail=200 * NS)] * 20, tail=200 * NS)]
    run = trace.run(MODULE, ops, 0, worker=trace.worker())
    trace.annotation("BlockUntilReady", 55 * US, run.end + 40 * US)
    _, correction, _ = correction_of(
        trace, tmp_path, method(wait=10 * US, wait_spread=0.5, host_event=100 * NS, host_spread=0.3),
        NewMemory(10 * NS, 10 * NS),
    )  # fmt: skip
    whole, single = correction.whole_spread, correction.spread.cells
    tails, memory = 3 * 220 * NS * 21, 3 * 20 * NS * 21
    assert (whole.idle, single.idle) == (5 * US, 5 * US)
    assert whole.busy.tolist() == pytest.approx([0.1 * tails + memory])
    assert single.busy.tolist() == pytest.approx([0.2 * tails + memory])
    assert whole.device_self.sum() == pytest.approx(0.1 * tails + memory)
    assert whole.host_only.sum() == single.host_only.sum() > 0
    assert correction.removed_spread == whole.wall


def test_ops_that_a_device_timed_itself_are_left_alone(tmp_path):
    trace = GpuTrace()
    module = module_of("jit_f", 7, LEAVES, SCOPES)
    trace.dispatch(module, 0)
    stream = trace.stream()
    for number in range(500):
        start = (60 + 2 * number) * US
        trace.kernel("k", stream, at=number * NS, start=start, duration=US, module=module, hlo_op="dot.1")
    overhead, correction, _ = correction_of(trace, tmp_path, method())
    assert correction.removed == 0
    assert correction.table.cells.device_self.tolist() == overhead.cells.device_self.tolist()


def anchored(folder, base, ops):
    """Three steps that wait for their run, corrected by unprofiled ones alone; what is left of each, ns."""
    trace, at = CpuTrace(), 0
    worker = trace.worker()
    for number in range(3):
        run = trace.run(MODULE, ops, at, worker=worker)
        trace.annotation("BlockUntilReady", at + 55 * US, run.end + 3 * US - at - 55 * US)
        trace.step(number, at, run.end + 10 * US - at)
        at = run.end + 40 * US
    attribution = attribute(read_trace(trace.write(folder)))
    steps = [step for thread in attribution.trace.host_threads for step in thread.steps]
    correction = choose(Overhead(attribution), steps, None, Anchors((base,) * 9)).correction
    left = [(step.end - step.start - lost) / NS for step, lost in zip(steps, correction.steps, strict=True)]
    return correction, left


LOOP = [Op("while.2", 600 * NS, [Op("dot.1", 900 * NS, tail=200 * NS)] * 20, tail=200 * NS)]


def test_anchored_steps_are_as_long_as_unprofiled_ones_where_ops_alone_cannot_give_that(tmp_path):
    # 18.6 µs of ops in a step of 40.6: to be 15 it must lose 7 of what the host and idle time had.
    correction, left = anchored(tmp_path, 15_000, LOOP)
    assert left == pytest.approx([15_000] * 3)
    cells, spread = correction.table.cells, correction.spread.cells
    assert cells.device_self.sum() == 0
    assert cells.host_only.sum() > 0
    assert (spread.host_only >= correction.whole_spread.host_only).all()
    given = spread.host_only.sum() + spread.idle
    assert given == pytest.approx(correction.removed - 3 * 18_600 * NS, rel=1e-3)  # all of that is doubted
    assert correction.removed_spread < given  # how long it took in all is known


def test_wakes_are_left_alone_where_the_ratio_holds_them_already(tmp_path, monkeypatch):
    woken = correct.Wakes(np.array([50 * US]), np.array([5.0 * US]), np.array([-1]))
    monkeypatch.setattr(correct, "induced_wakes", lambda *_: woken)
    _, left = anchored(tmp_path, 35_000, LOOP)
    assert statistics.fmean(left) == pytest.approx(35_000)


def test_inflation_is_of_the_mean_step_and_percentiles_have_their_own_intervals(tmp_path):
    trace = CpuTrace()
    many = [Op("while.2", 600 * NS, [Op("dot.1", 9 * US, tail=2 * US)] * 20, tail=200 * NS)]
    run = trace.run(MODULE, many, 0, worker=trace.worker())
    for number, (begin, end) in enumerate([(0, 70 * US), (70 * US, 140 * US), (140 * US, run.end + US)]):
        trace.step(number, begin, end - begin)
    _, correction, steps = correction_of(trace, tmp_path, method())
    figures = Figures(Corrected(correction))
    raw = run.end + US
    lost = 3 * (20 * 2 * US + 200 * NS)
    assert inflation([(figures, steps)], None) == pytest.approx(raw / (raw - lost), abs=1e-4)
    wall = step_wall([(figures, steps)])
    for one in wall.values():
        assert one["interval"][0] <= one["corrected"] <= one["interval"][1]
    assert wall["p10"]["interval"] != wall["p90"]["interval"]
