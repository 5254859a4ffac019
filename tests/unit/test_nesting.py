import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.xla_events.nesting import flatten, nearest

EVENTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 15)), max_size=25)


def columns(events):
    ordered = sorted(((start, start + length) for start, length in events), key=lambda e: (e[0], -e[1]))
    return (np.array([e[i] for e in ordered], np.int64) for i in (0, 1))


def owner_at(start, end, instant):
    """RL-Scope's rule, instant by instant: earliest end, of those the latest start, of those the last."""
    active = [i for i in range(len(start)) if start[i] <= instant < end[i]]
    return max(active, key=lambda i: (-end[i], start[i], i), default=-1)


@given(EVENTS)
def test_every_instant_has_the_owner_of_the_rule(events):
    start, end = columns(events)
    begin, finish, owner, _ = flatten(start, end)
    owned = {int(t): int(o) for b, f, o in zip(begin, finish, owner, strict=True) for t in range(b, f)}
    assert all(b < f for b, f in zip(begin, finish, strict=True))
    assert sum(finish - begin) == len(owned)
    for instant in range(50):
        assert owned.get(instant, -1) == owner_at(start, end, instant)


@given(EVENTS)
def test_a_parent_contains_its_child(events):
    start, end = columns(events)
    parent = flatten(start, end)[3]
    for child, above in enumerate(parent):
        if above >= 0:
            assert start[above] <= start[child]
            assert end[child] <= end[above]


def test_self_time_is_duration_less_children():
    start = np.array([0, 10, 20, 60], np.int64)
    end = np.array([100, 50, 30, 90], np.int64)
    begin, finish, owner, parent = flatten(start, end)
    assert np.bincount(owner, finish - begin).tolist() == [30, 30, 10, 30]
    assert parent.tolist() == [-1, 0, 1, 0]


def test_nearest_flagged_ancestor_counts_the_event_itself():
    parent = np.array([-1, 0, 1, 1, -1], np.int32)
    flagged = np.array([True, False, True, False, False])
    assert nearest(parent, flagged).tolist() == [0, 0, 2, 0, -1]
