"""Of overhead on several lines at once only the least was felt."""

import numpy as np
import pytest

from rlscope_jax.overhead.critical import Stretch, critical_share

US = 1_000_000


def line(ops, control=(), run=0):
    """A line of (start, end, cost) in microseconds."""
    start, end, cost = np.array(ops, np.float64).reshape(-1, 3).T
    flags = np.isin(np.arange(len(ops)), list(control))
    return Stretch(
        (start * US).astype(np.int64), (end * US).astype(np.int64), cost * US, flags, np.full(len(ops), run)
    )


def felt(*lines):
    shares, _ = critical_share(list(lines))
    return sum(float((each.cost * share).sum()) for each, share in zip(lines, shares, strict=True)) / US


def test_one_line_feels_all_of_it():
    assert felt(line([(0, 10, 2), (10, 20, 3)])) == pytest.approx(5)


def test_lines_that_take_turns_feel_all_of_it():
    assert felt(line([(0, 10, 2), (40, 50, 2)]), line([(20, 30, 3)])) == pytest.approx(7)


def test_runs_that_work_at_once_feel_the_least():
    lines = line([(0, 10, 2), (10, 20, 2)]), line([(0, 10, 3), (10, 20, 5)], run=1)
    assert felt(*lines) == pytest.approx(4)


def test_lines_that_share_one_run_feel_what_they_have_together():
    assert felt(line([(0, 10, 2), (10, 20, 2)]), line([(0, 10, 3), (10, 20, 5)])) == pytest.approx(12)


def test_overhead_beside_one_long_op_is_hidden():
    small = line([(k, k + 1, 0.5) for k in range(19)])
    assert felt(small, line([(0, 20, 0)], run=1)) == pytest.approx(0)


def test_a_loop_whose_body_runs_on_other_lines_is_not_at_work():
    loop = line([(0, 40, 1)], control=[0])
    assert felt(loop, line([(5, 10, 2), (10, 30, 2)])) == pytest.approx(5)


def test_the_doubt_reaches_to_an_even_share():
    lines = [line([(0, 10, 2)]), line([(0, 10, 6)], run=1)]
    shares, doubts = critical_share(lines)
    most = sum(
        float((each.cost * (share + doubt)).sum())
        for each, share, doubt in zip(lines, shares, doubts, strict=True)
    )
    assert most / US == pytest.approx((2 + 6) / 2)
