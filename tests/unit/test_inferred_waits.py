"""A thread that records nothing while the device is on its work is taken to wait."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.attribution.attribute import HostPieces, _extents, _infer_waits
from rlscope_jax.attribution.host_names import DISPATCH, PYTHON, WAIT_INFERRED

CUTS = st.sets(st.integers(0, 40), max_size=12).map(sorted)


@given(CUTS, st.lists(st.sampled_from([PYTHON, DISPATCH]), min_size=6, max_size=6), CUTS)
def test_only_python_gaps_within_runs_become_waits(cuts, kinds, run_cuts):
    pieces = list(zip(cuts[::2], cuts[1::2], strict=False))
    runs = list(zip(run_cuts[::2], run_cuts[1::2], strict=False))
    lane = HostPieces(
        np.array([a for a, _ in pieces], np.int64),
        np.array([b for _, b in pieces], np.int64),
        np.arange(len(pieces)),
        np.array(kinds[: len(pieces)], np.int64),
    )
    columns = (np.array([run[i] for run in runs], np.int64) for i in (0, 1))
    found = _infer_waits(lane, *columns)
    assert (found.start < found.end).all()
    for instant in range(41):
        before = [i for i, (a, b) in enumerate(pieces) if a <= instant < b]
        after = np.flatnonzero((found.start <= instant) & (instant < found.end))
        assert len(before) == len(after)
        if before:
            expected = kinds[before[0]]
            if expected == PYTHON and any(a <= instant < b for a, b in runs):
                expected = WAIT_INFERRED
            assert (found.owner[after[0]], found.category[after[0]]) == (before[0], expected)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=8))
def test_extents_are_the_union_of_the_runs(runs):
    start = np.array([a for a, _ in runs], np.int64)
    end = np.array([a + length for a, length in runs], np.int64)
    trace = SimpleNamespace(runs=SimpleNamespace(start=start, end=end))
    begin, finish = _extents(trace, np.ones(len(runs), bool))
    covered = {t for a, length in runs for t in range(a, a + length)}
    assert {t for a, b in zip(begin, finish, strict=True) for t in range(a, b)} == covered
    assert (begin[1:] > finish[:-1]).all()
