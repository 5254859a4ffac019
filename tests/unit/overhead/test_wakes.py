"""Threads of a pool that fell asleep only because recording kept the others."""

import numpy as np
import pytest

from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.overhead.op_cost import op_costs
from rlscope_jax.overhead.wakes import induced_wakes
from rlscope_jax.xla_events.read import read_trace
from xspace_builder import US, CpuTrace, Op, module_of

HANDED, STALL, LATENCY = 15, 40 * US, 4 * US
WORK = [Op("dot.1", 2 * US, tail=US)]


def recorded(folder, hand_overs):
    """One worker hands tasks to another at these times (us); waking it takes 40 us each time."""
    trace = CpuTrace()
    module, one, two = module_of("jit_f", 7, WORK), trace.worker(), trace.worker()
    run = trace.run(module, WORK, 0, worker=one)
    for flow, at in enumerate(hand_overs, start=900):
        at *= US
        trace.also(run, WORK, at - 3 * US, one)
        one.event("ThreadpoolListener::Record", at, 0, {"_pt": HANDED, "_p": flow})
        two.event("ThreadpoolListener::StartRegion", at + LATENCY, 0, {"_ct": HANDED, "_c": flow})
        trace.also(run, WORK, at + LATENCY + US, two)
        trace.also(run, WORK, at + STALL, one)
    attribution = attribute(read_trace(trace.write(folder)))
    costs = op_costs(attribution.trace.op_lines)
    nothing = np.zeros(0, np.int64)
    return induced_wakes(attribution, costs, nothing, np.zeros(0))


def test_a_thread_that_rests_only_while_another_is_woken_would_not_have_slept(tmp_path):
    wakes = recorded(tmp_path, [100, 150, 200])
    # The first task finds it asleep in any case. Of the others, 2 us each hide behind the op that runs.
    assert wakes.cost.tolist() == [STALL - 2 * US] * 2
    assert wakes.owner.tolist() == [-1, -1]


def test_a_thread_without_work_for_long_sleeps_anyway(tmp_path):
    assert len(recorded(tmp_path, [100, 300, 500]).cost) == 0


@pytest.mark.parametrize("hand_overs", [[], [100]])
def test_without_hand_overs_nobody_is_woken(tmp_path, hand_overs):
    assert len(recorded(tmp_path, hand_overs).cost) == 0
