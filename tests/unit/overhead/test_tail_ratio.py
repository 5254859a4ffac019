"""One ratio from several programs' own."""

import pytest

from rlscope_jax.overhead.op_ratio import USUAL_RATIO, Sample, tail_ratio


def samples(*ratios, inflation=3.0):
    return [Sample(str(number), [ratio], 10.0, inflation) for number, ratio in enumerate(ratios)]


def test_programs_that_agree_are_believed():
    assert tail_ratio(samples(4.0, 4.0, 4.0, 4.0)).value == pytest.approx(4.0)


def test_programs_that_disagree_are_drawn_towards_the_usual():
    assert USUAL_RATIO < tail_ratio(samples(3.0, 4.0, 5.0)).value < 4.0


def test_a_program_that_recording_hardly_slows_does_not_count():
    found = tail_ratio([*samples(4.0, 4.0, 4.0), *samples(9.0, inflation=1.1)])
    assert found.value == pytest.approx(4.0)
    assert found.high < 9.0


def test_a_backend_without_tails_has_none():
    assert tail_ratio([Sample("dot", [], 0.0)]).value == 0.0


def test_one_disturbed_program_among_many_does_not_count():
    agreeing = tail_ratio(samples(3.0, 3.0, 3.2, 3.4, 3.4, 3.4))
    disturbed = tail_ratio(samples(3.0, 3.0, 3.2, 3.4, 3.4, 9.0))
    assert disturbed.value == pytest.approx(agreeing.value, abs=0.1)
