"""Unprofiled steps, timed by a clock of the test's own."""

import pytest

from rlscope_jax._process import Usage
from rlscope_jax.capture import _anchors
from rlscope_jax.capture._anchors import AnchorClock

US, MS = 1_000, 1_000_000


@pytest.fixture
def now(monkeypatch):
    """The clock's reading, ns; asking the system for a process' usage takes 3 µs, and touches a page."""
    at = {"ns": 0, "asked": 0}

    def usage():
        at["ns"] += 3 * US
        at["asked"] += 1
        return Usage(at["asked"], 0, 0)

    monkeypatch.setattr(_anchors.time, "perf_counter_ns", lambda: at["ns"])
    monkeypatch.setattr(_anchors, "usage", usage)
    return at


def take(clock, now, step, count):
    for _ in range(count):
        clock.step_begins(recorded=False)
        now["ns"] += step
        clock.step_ends(now["ns"])
        now["ns"] += 2 * US  # our own work between two steps


def test_a_steps_time_is_its_own(now):
    clock = AnchorClock()
    take(clock, now, 30 * US, 100)
    assert clock.window_closes()["steps_ns"] == [30 * US] * 99  # less a warm-up


def test_of_short_steps_the_system_is_asked_now_and_then(now):
    clock = AnchorClock()
    take(clock, now, 30 * US, 100)
    told = clock.window_closes()["page_faults"]
    assert told == [1] * len(told)
    assert 2 <= len(told) <= 4  # in 3.2 ms
    assert now["asked"] <= 2 * (len(told) + 1)


def test_of_long_steps_it_is_asked_of_each(now):
    clock = AnchorClock()
    take(clock, now, 2 * MS, 20)
    written = clock.window_closes()
    assert written["steps_ns"] == [2 * MS] * 19
    assert written["page_faults"] == [1] * 19


def test_where_the_system_tells_nothing_nothing_is_written(now, monkeypatch):
    monkeypatch.setattr(_anchors, "usage", lambda: None)
    clock = AnchorClock()
    take(clock, now, 2 * MS, 8)
    assert clock.window_closes() == {"steps_ns": [2 * MS] * 7}
