"""Host callbacks: how many, how long, what the device waits around them, and what they do to the calls."""

import time

import jax
import jax.numpy as jnp
import jsonschema
import numpy as np
import pytest
from jax.experimental import io_callback

from rlscope_jax import load, operation
from rlscope_jax.attribution.callback_gaps import _gaps
from rlscope_jax.breakdown.report import report_schema
from rlscope_jax.reporters.callbacks import callback_lines

SECONDS, CALLS, TURNS = 0.002, 12, 3


def host_step(x):
    time.sleep(SECONDS)
    return np.asarray(x)


def debug(x):
    jax.debug.callback(host_step, x)
    return x


KINDS = {
    "io_callback": lambda x: io_callback(host_step, jax.typeof(x), x),
    "pure_callback": lambda x: jax.pure_callback(host_step, jax.typeof(x), x),
    "debug_callback": debug,
}


@pytest.mark.parametrize("kind", KINDS)
def test_count_time_and_calls_through_python(kind, tmp_path):
    def act(x):
        def turn(x, _):
            with jax.named_scope("work"):
                x = jnp.sort(x, axis=0)
            with operation("env_step"):
                return KINDS[kind](jnp.tanh(x)), None

        return jax.lax.scan(turn, x, None, TURNS)[0]

    act_jitted = jax.jit(act)
    x = jnp.ones((64, 64))
    jax.block_until_ready(act_jitted(x))
    jax.effects_barrier()
    with jax.profiler.trace(tmp_path):
        for _ in range(CALLS):
            jax.block_until_ready(act_jitted(x))
        jax.effects_barrier()
    data = load(tmp_path).to_dict()
    jsonschema.validate(data, report_schema())
    [one] = data["callbacks"]
    assert one["operation"] == "env_step"
    assert one["function"] == "act"
    assert one["count"] == CALLS * TURNS
    assert one["time_ns"] >= one["count"] * SECONDS * 1e9
    assert one["gap_ns"] >= 0
    slow = kind != "pure_callback"
    assert one["slow_calls"] == (CALLS if slow else 0)
    assert (one["slow_calls_ns"] > 0) is slow
    [line] = callback_lines(data)
    assert ("through Python" in line) is slow


def test_the_device_waits_before_and_after():
    """Ops at 0-10 and 40-50 and a callback at 15-30: it waits 5 before and 10 after."""
    start, end = np.array([0, 15, 40]), np.array([10, 30, 50])
    is_call = np.array([False, True, False])
    calls, began, ended = np.array([1]), np.array([0]), np.array([50])
    assert _gaps(start, end, is_call, calls, began, ended).tolist() == [15]


def test_a_gap_between_two_callbacks_counts_once():
    start, end = np.array([0, 20, 50]), np.array([10, 30, 60])
    is_call = np.array([False, True, True])
    calls, bound = np.array([1, 2]), np.array([0, 0])
    assert _gaps(start, end, is_call, calls, bound, bound + 65).tolist() == [10, 20 + 5]


def test_beside_other_work_nothing_waits():
    start, end = np.array([0, 10]), np.array([100, 40])
    calls = np.array([1])
    assert _gaps(start, end, np.array([False, True]), calls, np.array([0]), np.array([100])).tolist() == [0]


def test_beyond_its_run_nothing_waits():
    """The run is 12 to 45: what ran before it, and after, belongs to others."""
    start, end = np.array([0, 20, 90]), np.array([10, 40, 99])
    calls = np.array([1])
    found = _gaps(start, end, np.array([False, True, False]), calls, np.array([12]), np.array([45]))
    assert found.tolist() == [8 + 5]
