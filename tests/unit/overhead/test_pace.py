"""Which measurements were made at the processor's full speed."""

import os
import threading

import pytest

from rlscope_jax.overhead import pace as pace_module
from rlscope_jax.overhead.pace import Pace, on_the_fastest_core
from rlscope_jax.overhead.repeats import Timings


@pytest.fixture
def speeds(monkeypatch):
    """What the next looks take, ns."""
    coming = []
    monkeypatch.setattr(pace_module, "_work", lambda: coming.pop(0))
    return coming


def test_looks_that_took_longer_are_not_at_full_speed(speeds):
    speeds += [100, 104, 190, 101, 230]
    pace = Pace()
    assert [pace.look() for _ in range(5)] == [0, 1, 2, 3, 4]
    assert pace.at_full_speed().tolist() == [True, True, False, True, False]


def test_one_interrupted_or_lucky_look_does_not_set_the_measure(speeds):
    speeds += [70] + [100] * 99
    pace = Pace()
    for _ in range(100):
        pace.look()
    assert pace.at_full_speed()[1:].all()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system lets nobody choose a core")
def test_of_several_cores_all_must_be_fast(speeds):
    speeds += [100, 50, 100, 99, 101, 51]
    here = os.sched_getaffinity(0)
    core = min(here)
    pace = Pace((core, core))
    for _ in range(3):
        pace.look()
    assert pace.at_full_speed().tolist() == [True, False, True]
    assert os.sched_getaffinity(0) == here


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system lets nobody choose a core")
def test_threads_return_to_the_cores_they_had():
    before = os.sched_getaffinity(0)
    begun, done = threading.Event(), threading.Event()
    seen = []

    def other():
        begun.wait()
        seen.append(os.sched_getaffinity(0))
        done.wait()
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=other)
    thread.start()
    with on_the_fastest_core():
        assert len(os.sched_getaffinity(0)) == 1
        begun.set()
        while not seen:
            pass
    done.set()
    thread.join()
    assert [len(seen[0]), seen[1]] == [1, before]
    assert os.sched_getaffinity(0) == before


def test_where_nobody_may_choose_a_core_things_run_as_they_would(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    with on_the_fastest_core():
        pass


def test_repeats_between_two_looks_at_full_speed_are_believed(speeds):
    looks = [100] * 6 + [200] * 3 + [100] * 3
    speeds += looks
    timings = Timings(Pace())
    timings.pace.look()
    for _ in range(len(looks) - 1):
        timings.time(lambda: None)
    assert timings.chosen().tolist() == [0, 1, 2, 3, 4, 9, 10]


def test_where_few_are_the_fastest_quarter_is(speeds):
    speeds += [100, 200] * 8
    timings = Timings(Pace())
    timings.pace.look()
    for _ in range(12):
        timings.time(lambda: None)
    timings.took = [float(abs(7 - number)) for number in range(12)]
    assert sorted(timings.chosen().tolist()) == [6, 7, 8]
    assert timings.typical() == 1.0
