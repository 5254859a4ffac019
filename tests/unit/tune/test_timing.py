"""Paired times, on a clock that the test turns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.tune import timing
from rlscope_jax.tune.timing import Calm, Effort, order_statistic, paired, summarize


class Machine:
    """A clock, and work that turns it; under a load everything takes longer."""

    def __init__(self, monkeypatch, load=lambda now: 1.0):
        self.now, self.load, self.runs = 0.0, load, []
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)

    def sleep(self, seconds):
        self.now += seconds

    def work(self, name, seconds):
        def run():
            self.runs.append(name)
            self.now += seconds * self.load(self.now)

        return run


def test_the_ratio_of_quiet_work_is_exact_and_soon_known(monkeypatch):
    machine = Machine(monkeypatch)
    found = paired(machine.work("a", 2e-3), machine.work("b", 1e-3))
    assert (found.ratio, found.low, found.high) == (pytest.approx(2), pytest.approx(2), pytest.approx(2))
    assert found.rounds == 6
    assert found.seconds == pytest.approx(2e-3)
    assert found.incumbent_seconds == pytest.approx(1e-3)


def test_rounds_alternate_in_order(monkeypatch):
    machine = Machine(monkeypatch)
    paired(machine.work("a", 2e-3), machine.work("b", 1e-3))
    assert "".join(machine.runs[4:]) == "abbaabbaabba"


def test_a_load_that_comes_and_goes_does_not_change_the_ratio(monkeypatch):
    # A quarter of the time the machine is three times slower: naive times of the two would be off by up to 3.
    machine = Machine(monkeypatch, load=lambda now: 3.0 if now % 0.04 < 0.01 else 1.0)
    found = paired(machine.work("a", 1.5e-3), machine.work("b", 1e-3), Effort(20, 60, width=0.001))
    assert found.ratio == pytest.approx(1.5, rel=1e-6)
    assert found.low <= 1.5 + 1e-9
    assert found.high >= 1.5 - 1e-9


def test_a_drift_does_not_change_the_ratio(monkeypatch):
    machine = Machine(monkeypatch, load=lambda now: 1 + 10 * now)
    found = paired(machine.work("a", 1.2e-3), machine.work("b", 1e-3), Effort(30, 30))
    assert found.ratio == pytest.approx(1.2, rel=0.02)
    assert found.low < 1.2 < found.high


def test_a_load_that_only_the_incumbent_feels_does_not_count(monkeypatch):
    # Half of the time another program takes one of two cores: the parallel incumbent slows down, the
    # sequential candidate does not.
    machine = Machine(monkeypatch)
    monkeypatch.setattr(timing.time, "sleep", machine.sleep)
    calm, turns = Calm(), iter(range(1000))

    def incumbent():
        machine.now += 1e-3 * (2.0 if next(turns) % 8 < 4 else 1.0)

    effort = Effort(8, 8, sample=0, patience=1000)
    paired(machine.work("a", 1.5e-3), incumbent, effort, calm)  # learns what is calm
    found = paired(machine.work("a", 1.5e-3), incumbent, effort, calm)
    assert found.ratio == pytest.approx(1.5)
    assert found.high == pytest.approx(1.5)
    impatient = paired(machine.work("a", 1.5e-3), incumbent, Effort(8, 8, sample=0, patience=0), calm)
    assert impatient.low == pytest.approx(0.75)  # at last all rounds count


def test_short_calls_are_repeated(monkeypatch):
    machine = Machine(monkeypatch)
    paired(machine.work("a", 1e-5), machine.work("b", 1e-3), Effort(sample=1e-3))
    assert machine.runs.count("a") == 2 + 6 * 100
    assert machine.runs.count("b") == 2 + 6


def test_hopeless_candidates_end_early_and_close_ones_go_on(monkeypatch):
    machine = Machine(monkeypatch, load=lambda now: 1 + 0.5 * math.sin(now * 7e3) ** 2)
    assert paired(machine.work("a", 5e-3), machine.work("b", 1e-3)).rounds == 6
    assert paired(machine.work("a", 1e-3), machine.work("b", 1e-3), Effort(width=0.0)).rounds == 30


@pytest.mark.parametrize(
    ("count", "skip"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (20, 5), (40, 13), (100, 39)]
)
def test_order_statistics(count, skip):
    # Tables of the sign test: e.g. n = 20, the 6th smallest to the 15th; n = 100, the 40th to the 61st.
    assert order_statistic(count) == skip


@given(st.integers(6, 200))
def test_the_interval_covers_and_no_shorter_one_would(count):
    def covered(skip):
        return 1 - 2 * sum(math.comb(count, k) for k in range(skip + 1)) / 2**count

    skip = order_statistic(count)
    assert covered(skip) >= 0.95
    assert covered(skip + 1) < 0.95


def test_the_interval_covers_the_median_of_skewed_noise():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        rounds = np.stack([2 * np.exp(rng.exponential(0.1, 15)), np.ones(15)], axis=1)
        found = summarize(rounds)
        inside += found.low <= 2 * math.exp(0.1 * math.log(2)) <= found.high
    assert inside >= 0.94 * 400
