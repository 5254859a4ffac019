"""A window that closes while a program runs: what has no end leaves no event, but what began did."""

import pytest

from rlscope_jax import load
from xspace_builder import MS, US, CpuTrace, Op, module_of

TREE = [Op("copy.1", 200 * US), Op("while.1", MS, [Op("dot.1", 5 * MS)] * 4)]


def codes(trace, folder):
    trace.write(folder)
    return {problem["code"] for problem in load(folder).to_dict()["health"]["problems"]}


def one_run():
    trace = CpuTrace()
    worker = trace.worker()
    trace.run(module_of("jit_train", 3, TREE), TREE, US, worker=worker)
    return trace, worker


@pytest.mark.parametrize("ended", [1, 2, 4], ids=lambda ended: f"{ended} ops had ended")
def test_a_run_cut_by_the_end_of_the_window_is_told(tmp_path, ended):
    """The worker's region has begun and not stopped; the `while` around the last ops left no event."""
    trace, worker = one_run()
    ops = sorted((event for event in worker.events if dict(event.stats).get("hlo_op")), key=lambda e: e.end)
    cut = ops[ended - 1].end
    worker.events = [event for event in worker.events if event.end <= cut]
    assert "window_closed_early" in codes(trace, tmp_path)


def test_a_run_that_ended_in_the_window_is_not(tmp_path):
    assert "window_closed_early" not in codes(one_run()[0], tmp_path)
