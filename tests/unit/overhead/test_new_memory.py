"""Pages that a recording touched: how many are its own, and what each event has of them."""

import pytest

from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.overhead.new_memory import EVENT_PAGES, NONE, new_memory
from rlscope_jax.xla_events.read import read_trace
from xspace_builder import NS, US, CpuTrace, Op, module_of

OTHER = Constant(1.0, 1.0, 1.0)
CONSTANTS = Constants(
    Constant(3.0, 2.7, 3.3), 0.0, OTHER, OTHER, OTHER, OTHER, OTHER, Constant(3000, 1500, 4500)
)
PAGE = 1000 * 1000  # ps of tail: 3 µs over a ratio of 3


@pytest.fixture
def trace(tmp_path):
    """A hundred ops on a worker."""
    built, ops = CpuTrace(), [Op("dot.1", 300 * NS, tail=100 * NS)] * 100
    built.run(module_of("jit_f", 7, ops, {}), ops, US, worker=built.worker())
    return read_trace(built.write(tmp_path))


def events_of(trace):
    return 200 + sum(len(thread.start) for thread in trace.host_threads)


def test_pages_are_spread_over_all_events(trace):
    found = new_memory(trace, {"page_faults": 4}, [], CONSTANTS)
    assert found.per_event == pytest.approx(4 * PAGE / events_of(trace))
    assert found.doubt == pytest.approx(found.per_event / 2)  # a page's own interval


def test_pages_that_unprofiled_steps_touch_are_the_programs(trace):
    sidecar = {"page_faults": 7, "anchors": {"steps_ns": [1] * 5, "page_faults": [2, 2, 2, 2, 90]}}
    steps = [step for thread in trace.host_threads for step in thread.steps] or [object(), object()]
    found = new_memory(trace, sidecar, steps[:2], CONSTANTS)
    assert found.per_event == pytest.approx((7 - 2 * 2) * PAGE / events_of(trace))


def test_what_a_page_cost_is_what_the_system_took_beyond_the_programs_own(trace):
    anchors = {"steps_ns": [1] * 5, "page_faults": [0] * 5, "system_ns": [0, 0, 4_000_000, 0, 0]}
    steps = [object()] * 10
    sidecar = {"page_faults": 4000, "system_ns": 32_000_000, "anchors": anchors}
    counted = min(4000, EVENT_PAGES * events_of(trace))
    found = new_memory(trace, sidecar, steps, CONSTANTS)
    assert found.per_event == pytest.approx(counted * 2 * PAGE / events_of(trace))  # 24 ms: 6 µs a page
    assert found.doubt == pytest.approx(found.per_event * (4 / 24) ** 0.5)  # six ticks of the clock


@pytest.mark.parametrize(("system_ns", "times"), [(10**12, 6), (0, 0.5), (-5, 0.5)])
def test_what_the_system_took_for_other_things_is_not_the_pages(trace, system_ns, times):
    found = new_memory(trace, {"page_faults": 4, "system_ns": system_ns}, [], CONSTANTS)
    assert found.per_event == pytest.approx(4 * times * PAGE / events_of(trace))
    assert found.doubt == found.per_event  # without unprofiled steps nobody knows whose it was


def test_more_than_the_recorder_can_touch_is_the_programs(trace):
    found = new_memory(trace, {"page_faults": 10**6}, [], CONSTANTS)
    assert found.per_event == pytest.approx(EVENT_PAGES * PAGE)


def test_where_nobody_counted_half_is_taken_and_doubted(trace):
    found = new_memory(trace, {}, [], CONSTANTS)
    assert found.per_event == found.doubt == pytest.approx(EVENT_PAGES * PAGE / 2)


@pytest.mark.parametrize("counted", [True, "12", None, -3, 10**400, 1e300])
def test_a_count_that_is_none_does_no_harm(trace, counted):
    assert (
        0 <= new_memory(trace, {"page_faults": counted}, [], CONSTANTS).per_event <= 1.01 * EVENT_PAGES * PAGE
    )


@pytest.mark.parametrize("odd", [[10**400] * 9, [None, "x", 1.5], "x", {"0": 1}, [-(10**15)] * 9])
def test_counts_of_unprofiled_steps_that_are_none_do_no_harm(trace, odd):
    anchors = {"steps_ns": [1] * 9, "page_faults": odd, "system_ns": odd, "switches": odd}
    sidecar = {"page_faults": 5, "system_ns": 10**7, "switches": 3, "anchors": anchors}
    assert 0 <= new_memory(trace, sidecar, [object()] * 3, CONSTANTS).per_event <= 6 * EVENT_PAGES * PAGE


def test_a_recording_without_events_has_none(tmp_path):
    assert new_memory(read_trace(CpuTrace().write(tmp_path)), {}, [], CONSTANTS) == NONE
