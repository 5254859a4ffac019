"""Groups give what they can, none goes below its floor, and the sum is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.overhead.subtract import rounded, subtract

amounts = st.lists(st.tuples(*(st.floats(0, 1e9) for _ in range(3))), min_size=1, max_size=8)


def test_without_floors_in_reach_it_is_a_difference():
    left = subtract(np.array([100.0, 50.0]), np.array([30.0, 10.0]), np.zeros(2))
    assert left == pytest.approx([70, 40])


def test_what_one_cannot_give_is_taken_from_the_others_by_their_overhead():
    # 100 - 90 would be 10, its floor is 40; the 30 missing come from the two others, 1 : 2.
    left = subtract(np.array([100.0, 200.0, 300.0]), np.array([90.0, 30.0, 60.0]), np.array([40.0, 0, 0]))
    assert left == pytest.approx([40, 160, 220])
    assert left.sum() == pytest.approx(600 - 180)


def test_a_group_without_overhead_is_left_alone():
    assert subtract(np.array([5.0, 10.0]), np.array([0.0, 100.0]), np.zeros(2)) == pytest.approx([5, 0])


@given(amounts)
def test_the_sum_is_kept_unless_every_floor_is_reached(groups):
    time, overhead, floor = np.array(groups).T
    left = subtract(time, overhead, floor)
    lowest = np.where(overhead > 1e-3, np.minimum(floor, time), time)
    tolerance = 1e-9 * (time.sum() + overhead.sum()) + 0.01
    assert (left >= lowest - tolerance).all()
    assert (left <= time + tolerance).all()
    assert left.sum() == pytest.approx(max((time - overhead).sum(), lowest.sum()), abs=tolerance)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6))
def test_rounding_keeps_the_sum(values):
    total = round(sum(values))
    whole = rounded(np.array(values), total)
    assert whole.sum() == total
    assert (np.abs(whole - values) <= 1 + 1 / len(values)).all()
