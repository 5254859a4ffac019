"""Candidates against the fastest so far; the last word is a pairing."""

import math

import pytest

from rlscope_jax.tune.bench import CandidateError
from rlscope_jax.tune.measure import LiveMeasurer, decide
from rlscope_jax.tune.timing import Paired
from rlscope_jax.tune.trial import Trial
from tune_tasks import small_table


class FakeBench:
    """Knows the true times (None: the reference); a first look is off by a factor, a second one is not."""

    def __init__(self, seconds, luck=None):
        self.seconds, self.luck, self.asked = seconds, dict(luck or {}), []

    def reference_seconds(self):
        return self.seconds[None] * 1.7  # of an hour when the machine was slower

    def measure(self, candidate, against, effort):
        self.asked.append((candidate, against))
        if math.isinf(self.seconds[candidate]):
            raise CandidateError("it hung")
        ratio = self.seconds[candidate] / self.seconds[against] * self.luck.pop(candidate, 1)
        return Paired(ratio, ratio * 0.99, ratio * 1.01, 0.1, 0.1, 6)


@pytest.fixture
def points():
    return list(small_table().space.every())[:5]


def test_seconds_are_chains_of_ratios_in_the_reference_unit(points):
    a, b, c, d, _ = points
    bench = FakeBench({None: 1.0, a: 1.5, b: 0.5, c: 0.25, d: 0.3})
    measurer = LiveMeasurer(bench)
    trials = measurer.measure([a, b, c, d])
    assert [trial.seconds for trial in trials] == pytest.approx([2.55, 0.85, 0.425, 0.51])
    assert [trial.against for trial in trials] == [None, None, b, c]
    assert measurer.incumbent == c
    # What beats the incumbent is measured twice.
    assert bench.asked == [(a, None), (b, None), (b, None), (c, b), (c, b), (d, c)]


def test_luck_at_first_sight_does_not_count(points):
    bench = FakeBench({None: 1.0, points[0]: 1.05}, luck={points[0]: 0.5})
    measurer = LiveMeasurer(bench, reference_seconds=1.0)
    (trial,) = measurer.measure([points[0]])
    assert trial.ratio == pytest.approx(1.05)
    assert measurer.incumbent is None


def test_an_earlier_session_is_gone_on_with(points):
    a, b, *_ = points
    measurer = LiveMeasurer(FakeBench({None: 1.0, a: 0.5, b: 0.4}), reference_seconds=2.0)
    measurer.remember(Trial(a, 1.0, 0.5, 0.49, 0.51, 20))
    (trial,) = measurer.measure([b])
    assert trial.against == a
    assert trial.seconds == pytest.approx(0.8)


def test_failures_do_not_stop_it(points):
    bench = FakeBench({None: 1.0, points[0]: math.inf, points[1]: 2.0})
    failed, done = LiveMeasurer(bench).measure(points[:2])
    assert failed.error == "it hung"
    assert math.isinf(failed.seconds)
    assert done.error is None


def test_the_winner_is_who_wins_pairings_not_who_was_lucky(points):
    a, b, c, d, _ = points
    bench = FakeBench({None: 1.0, a: 0.6, b: 0.4, c: 0.5, d: math.inf})
    lucky = [Trial(a, 0.3), Trial(b, 0.45), Trial(c, 0.5), Trial(d, 0.31), Trial(points[4], error="wrong")]
    verdict = decide(bench, lucky)
    assert verdict.winner == b
    assert verdict.against_reference.ratio == pytest.approx(0.4)
    assert verdict.finalists == (a, d, b, c)
    assert decide(bench, lucky, top=1).winner == a


@pytest.mark.parametrize("seconds", [1.2, 1.005])
def test_nothing_reliably_faster_means_no_winner(points, seconds):
    verdict = decide(FakeBench({None: 1.0, points[0]: seconds}), [Trial(points[0], 0.9)])
    assert verdict.winner is None
    assert decide(FakeBench({None: 1.0}), []).finalists == ()


def test_finalists_that_cannot_be_used_are_told_and_no_winner(points):
    class Compiler(FakeBench):
        """Has room for a few kernels."""

        def measure(self, candidate, against, effort):
            if len(self.asked) == 3:
                raise CandidateError("the disk is full")
            return super().measure(candidate, against, effort)

    a, b, c, *_ = points
    bench = Compiler({None: 1.0, a: 0.4, b: math.inf, c: 0.5})
    verdict = decide(bench, [Trial(a, 0.4), Trial(b, 0.45), Trial(c, 0.5)])
    assert (verdict.winner, verdict.against_reference) == (None, None)  # its last comparison failed
    assert verdict.failures == {b: "it hung", a: "the disk is full"}
