"""Gaps and tails of op events."""

import numpy as np

from rlscope_jax.overhead.new_memory import NewMemory
from rlscope_jax.overhead.op_cost import INTERRUPTED, UNSEEN, USUAL_GAP, has_tails, op_costs
from rlscope_jax.overhead.op_cost import gaps as gaps_of
from rlscope_jax.xla_events.trace import OpLine


def op_line(start, end, tail):
    count = len(start)
    return OpLine(
        "worker", 0, np.array(start, np.int64), np.array(end, np.int64), np.zeros(count, np.int32),
        np.zeros(1, np.int32), np.zeros(1, np.int32), None if tail is None else np.array(tail, np.int64),
    )  # fmt: skip


def gaps(start, end, longest, inside=None, run=None):
    count = len(start)
    return gaps_of(
        np.array(start), np.array(end), longest, np.array(inside or [False] * count),
        np.array(run or [0] * count, np.int32),
    ).tolist()  # fmt: skip


def test_a_gap_reaches_to_the_sibling_before():
    #        while, first, second, nested in second, after the while
    start, end = [0, 10, 40, 45, 120], [100, 30, 90, 60, 130]
    assert gaps(start, end, 1000) == [0, 0, 10, 0, 0]


def test_a_long_gap_is_something_else():
    assert gaps([0, 5, 60], [100, 10, 70], 49) == [0, 0, 0]


def test_ops_that_overlap_leave_no_gap():
    assert gaps([0, 0, 5], [100, 20, 30], 1000) == [0, 0, 0]


def test_ops_of_a_loop_that_a_window_cut_follow_each_other_too():
    #             three in the loop, one in the next run's, one in no loop
    start, end = [0, 12, 24, 40, 45], [10, 20, 34, 44, 50]
    loops = [True, True, True, True, False]
    assert gaps(start, end, 1000, loops, [0, 0, 0, 1, 1]) == [0, 2, 4, 0, 0]
    assert gaps(start, end, 3, loops, [0, 0, 0, 1, 1]) == [0, 2, 0, 0, 0]


def test_of_a_gap_much_longer_than_usual_the_loop_keeps_the_rest():
    #        while, then ops with gaps of 10, 10, 50 and 10 before them
    start, end = [0, 10, 40, 70, 140, 170], [300, 30, 60, 90, 160, 190]
    [costs] = op_costs([op_line(start, end, [5] * 6)])
    assert (np.array(start) - costs.line.start).tolist() == [0, 0, 10, 10, 10 * INTERRUPTED, 10]


def test_a_missing_tail_is_the_lines_median_and_an_interrupted_one_is_cut():
    [costs] = op_costs([op_line([0, 10, 20, 30, 40], [10, 20, 30, 40, 50], [3, -1, 5, 4, 1000])])
    # The median of the tails measured, 3, 4, 5 and the interrupted one.
    assert costs.units.tolist() == [3, 4.5, 5, 4, 4.5 * INTERRUPTED]


def test_tails_count_as_much_more_as_the_gaps_are_longer():
    for gap, seen in ((round(100 * USUAL_GAP), 65), (164, 100), (41, 41)):  # longer than a tail: other work
        start = np.array([0, 300 + gap, 600 + 2 * gap, 900 + 3 * gap, 1200 + 4 * gap])
        [costs] = op_costs([op_line(start, start + 300, [100, 50, 150, 100, 100])])
        expected = np.array([100, 50, 150, 100, 100]) * (1 + UNSEEN + seen / 100) / (1 + UNSEEN + USUAL_GAP)
        np.testing.assert_allclose(costs.units, expected)


def test_of_a_gap_a_tail_counts_at_most():
    #          gaps of 50, 50 and 900: of the last one 100 count
    [costs] = op_costs([op_line([0, 350, 700, 1900], [300, 650, 1000, 2200], [100] * 4)])
    np.testing.assert_allclose(costs.units, 100 * (1 + UNSEEN + 2 / 3) / (1 + UNSEEN + USUAL_GAP))


def test_new_memory_counts_for_both_events_of_an_op():
    [costs] = op_costs([op_line([0, 10], [10, 20], [3, 3])], NewMemory(per_event=0.5, doubt=0.25))
    assert (costs.units.tolist(), costs.doubt) == ([4, 4], 0.5)


def test_new_memory_is_where_many_tails_are_long():
    tails = np.full(4000, 100_000)
    tails[2000::10] = 3_000_000  # from here on each tenth op touches a page
    start = 10_000_000 * np.arange(4000)
    plain, costs = (
        op_costs([op_line(start, start + 9_000_000, tails)], memory)[0].units
        for memory in (NewMemory(), NewMemory(per_event=50_000.0))
    )
    added = costs - plain
    np.testing.assert_allclose(added[:2000], 0, atol=1e-6)
    np.testing.assert_allclose(added[2000:], 2 * 100_000)  # neighbours alike, and as much in all
    tails[2000::10] = 900_000  # too short for the touch of a page
    even = op_costs([op_line(start, start + 9_000_000, tails)], NewMemory(per_event=50_000.0))[0].units
    few = op_costs([op_line(start, start + 9_000_000, tails)])[0].units
    np.testing.assert_allclose(even - few, 100_000)


def test_without_any_tails_each_op_counts_one():
    lines = [op_line([0, 10], [9, 19], [-1, -1])]
    assert not has_tails(lines)
    assert op_costs(lines)[0].units.tolist() == [1, 1]


def test_a_device_without_tails_is_left_as_it_is():
    lines = [op_line([0, 10], [9, 19], None), op_line([0], [9], [4])]
    assert [each.units.tolist() for each in op_costs(lines)] == [[0, 0], [4]]
