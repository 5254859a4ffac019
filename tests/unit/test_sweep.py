"""The wall partition against an instant-by-instant reading of its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.attribution.host_names import CATEGORIES, INLINE, PYTHON, WAIT, WAIT_INFERRED
from rlscope_jax.breakdown.sweep import Lanes, sweep

LENGTH, RUNS, DEVICE_OWNERS, HOST_OWNERS = 40, 3, 4, 3
NOBODY = 0  # the host owner that is no operation
IS_CONTROL = np.array([False, False, False, True])
RESTING = (INLINE, WAIT, WAIT_INFERRED)


@st.composite
def lanes(draw, attributes, most):
    """Lanes of disjoint pieces, each with an owner and one more attribute."""
    built = []
    for _ in range(draw(st.integers(0, most))):
        cuts = sorted(draw(st.sets(st.integers(-3, LENGTH + 3), max_size=12)))
        pieces = list(zip(cuts[::2], cuts[1::2], strict=False))
        built.append([(a, b, *(draw(st.sampled_from(values)) for values in attributes)) for a, b in pieces])
    return built


def columns(built):
    packed = [tuple(np.array([piece[i] for piece in lane], np.int64) for i in range(3)) for lane in built]
    extra = np.array([piece[3] for lane in built for piece in lane], np.int64)
    return Lanes.of(packed), extra


def at(lane, instant):
    return next((piece for piece in lane if piece[0] <= instant < piece[1]), None)


@given(
    lanes((range(DEVICE_OWNERS), range(RUNS)), 4),
    lanes((range(HOST_OWNERS), range(len(CATEGORIES))), 3),
    st.lists(st.integers(0, 1), min_size=4, max_size=4),
)
def test_the_partition_is_its_definition(device, host, lane_device):
    scale = 60  # shares of up to five lanes stay whole numbers
    lane_device = np.array(lane_device[: len(device)], np.int64)
    device = [[(a * scale, b * scale, owner, run) for a, b, owner, run in lane] for lane in device]
    host = [[(a * scale, b * scale, owner, kind) for a, b, owner, kind in lane] for lane in host]
    device_lanes, runs = columns(device)
    host_lanes, kinds = columns(host)
    cells = sweep(
        (0, LENGTH * scale), device_lanes, lane_device, 2, runs, IS_CONTROL, host_lanes, kinds,
        np.arange(HOST_OWNERS) == NOBODY,
    )  # fmt: skip

    only, both, alone = (
        np.zeros(DEVICE_OWNERS),
        np.zeros(DEVICE_OWNERS),
        np.zeros((HOST_OWNERS, len(CATEGORIES))),
    )
    own, threads, idle, busy = np.zeros(DEVICE_OWNERS), np.zeros_like(alone), 0, np.zeros(2)
    for instant in range(0, LENGTH * scale, scale):
        running = [(lane_device[k], at(lane, instant)) for k, lane in enumerate(device) if at(lane, instant)]
        working = [
            (place, piece)
            for place, piece in running
            if not (
                IS_CONTROL[piece[2]]
                and any(p == place and o[3] == piece[3] and not IS_CONTROL[o[2]] for p, o in running)
            )
        ]
        for place in {place for place, _ in working}:
            busy[place] += scale
        at_work, perhaps = [], []
        for lane in host:
            piece = at(lane, instant)
            if piece is None:
                continue
            kind = piece[3]
            threads[piece[2], kind] += scale
            if kind not in RESTING:
                (perhaps if kind == PYTHON and piece[2] == NOBODY else at_work).append((piece[2], kind))
        for _, piece in working:
            own[piece[2]] += scale
            (both if at_work else only)[piece[2]] += scale / len(working)
        if not working:
            workers = at_work or perhaps
            for owner, kind in workers:
                alone[owner, kind] += scale / len(workers)
            if not workers:
                idle += scale
    assert cells.wall == LENGTH * scale
    assert cells.idle == idle
    np.testing.assert_array_equal(cells.device_only, only)
    np.testing.assert_array_equal(cells.overlap, both)
    np.testing.assert_array_equal(cells.host_only, alone)
    np.testing.assert_array_equal(cells.device_self, own)
    np.testing.assert_array_equal(cells.host_self, threads)
    np.testing.assert_array_equal(cells.busy, busy)


def test_picoseconds_that_do_not_divide_are_kept():
    lane = (np.array([0]), np.array([10]), np.array([0]))
    other = (np.array([0]), np.array([10]), np.array([1]))
    third = (np.array([0]), np.array([10]), np.array([2]))
    none = Lanes.of([])
    zero = np.zeros(3, np.int64)
    cells = sweep(
        (0, 10), Lanes.of([lane, other, third]), zero, 1, zero, zero > 0, none, zero[:0], zero[:1] == 0
    )
    assert cells.device_only.tolist() == [4, 3, 3]
