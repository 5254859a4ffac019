"""How long windows are, and when they come, without a program."""

from itertools import pairwise
from pathlib import Path

import pytest

from rlscope_jax.record import windows
from rlscope_jax.record.windows import Plan, RunCount, Windows


class Told(Windows):
    """Windows that hold so many events a second, and cost so much to collect; time passes only in them."""

    def __init__(self, plan, rate, cost, least):
        super().__init__(Path("none"), plan, print)
        self._when_over()
        self.opened, self.waited, self.now = [], [], 0.0
        self.rate, self.cost, self.least = rate, cost, least

    def _open(self, seconds, keep):
        if keep:
            self.opened.append(seconds)
            self.kept.append(Path("none/plugins/profile/s/vm.xplane.pb"))
        events = int(seconds * self.rate)
        self.now += seconds
        self.writing_seconds += self.least + events * self.cost
        return events

    def _wait_for(self, length):
        self.waited.append(length)
        self.now += length if isinstance(length, float) else 1
        return True


@pytest.fixture
def record(monkeypatch):
    def record(rate, cost=0.0, least=0.0, **plan):
        told = Told(Plan(**plan), rate, cost, least)
        monkeypatch.setattr(windows.time, "monotonic", lambda: told.now)
        told._record()
        return told

    return record


def test_collecting_stays_a_small_part_of_the_run(record):
    """Six million ops a second, 10 us each to collect: a tenth of a second would cost six."""
    told = record(rate=6e6, cost=10e-6, most=30)
    assert told.writing_seconds < 0.04 * told.now
    assert max(told.opened) > 10 * windows._SHORTEST  # they grow with the pauses


def test_large_programs_are_collected_seldom(record):
    """What a second's collecting is for, however short the window, comes twice a minute at most."""
    told = record(rate=1e5, cost=1e-6, least=1.0, most=10)
    assert min(told.waited) > 30
    assert max(told.opened) == windows._LONG
    assert told.writing_seconds < 0.07 * told.now


def test_windows_come_ever_later(record):
    waited = record(rate=1e5, most=10).waited
    assert all(later >= 1.4 * earlier for earlier, later in pairwise(waited[2:]))


def test_an_interval_that_is_asked_for_is_kept(record):
    told = record(rate=1e5, cost=1e-3, every=0.5, window=0.2, most=5)
    assert set(told.waited) == {0.5}
    assert told.opened == [0.01] + [0.2] * 4


def test_no_window_holds_more_than_the_most_events(record):
    told = record(rate=1e6, every=1.0, max_events=20_000, most=4)
    assert told.opened[1:] == pytest.approx([0.02] * 3)


def test_windows_of_long_ops_grow(record):
    """Forty ops a second: a tenth of a second sees none of them whole."""
    told = record(rate=40, most=12)
    assert max(told.opened) == windows._LONGEST
    assert record(rate=40, most=12, window=0.1).opened[-1] == 0.1


def test_runs_that_are_asked_for_are_waited_for(record):
    told = record(rate=1e5, window=RunCount(3), every=RunCount(10), most=3)
    assert told.waited == [RunCount(10)] * 3
    assert told.opened[-1] == pytest.approx(2.0)  # the time that holds the most events
