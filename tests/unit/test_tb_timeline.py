"""The timeline's views: what they show sums to what happened, at every level of detail."""

import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax import load
from rlscope_jax.tb_plugin import ops, timeline
from rlscope_jax.tb_plugin.timeline import Lane, Timeline, cut, find
from xspace_builder import US, CpuTrace, Op, module_of

SCOPED = {"dot.1": "jit(f)/rls=update/rls=loss/dot_general"}


def recorded(folder):
    """Ten runs of one program with two ops, in two steps, on the Python thread."""
    trace, tree = CpuTrace(), [Op("dot.1", 5 * US), Op("copy.2", 2 * US, gap=US)]
    module = module_of("jit_f", 7, tree, SCOPED)
    for number in range(10):
        trace.run(module, tree, at=(100 * number + 10) * US)
    trace.step(3, 0, 500 * US)
    trace.step(4, 500 * US, 500 * US)
    trace.write(folder)
    return load(folder)


def made(pieces, keys=3):
    """A timeline of one device lane from (gap, length, key) triples."""
    now, rows = 0, []
    for gap, length, key in pieces:
        rows.append((now + gap, now + gap + length, key, key))
        now += gap + length
    start, end, key, label = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    names = [(f"op{number}", None) for number in range(keys)]
    lane = Lane(0, "device", "line", start, end, key.astype(np.int32), label.astype(np.int32))
    labels = [(number, f"x{number}") for number in range(keys)]
    return Timeline(now, 0, [(None, now)], names, ["python"], labels, [], [], [lane])


def test_the_lanes_are_the_reports_own_pieces(tmp_path):
    report = recorded(tmp_path)
    (shown,) = timeline.timelines_of(report)
    device = [lane for lane in shown.lanes if lane.side == "device"]
    times = sum(int((lane.end - lane.start).sum()) for lane in device)
    assert times == int(report.processes[0].table.cells.device_self.sum()) == 70 * US
    by_operation = dict.fromkeys(shown.operations, 0)
    for lane in device:
        for key, time in zip(lane.key.tolist(), (lane.end - lane.start).tolist(), strict=True):
            by_operation[shown.operations[key]] += time
    assert by_operation["update/loss", None] == 50 * US
    assert [(number, end - start) for number, start, end in shown.steps] == [(3, 500 * US), (4, 500 * US)]
    (host,) = [lane for lane in shown.lanes if lane.side == "host"]
    inline = host.key == shown.categories.index("inline")
    assert int((host.end - host.start)[inline].sum()) == 70 * US


def test_a_timeline_comes_back_from_disk_as_it_was(tmp_path):
    (shown,) = timeline.timelines_of(recorded(tmp_path))
    timeline.save(shown, tmp_path)
    again = timeline.load(tmp_path)
    assert cut(again, 0, shown.wall, 500) == cut(shown, 0, shown.wall, 500)
    json.dumps(cut(again, 0, shown.wall, 500), allow_nan=False)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 400), st.integers(0, 2)), min_size=1, max_size=300),
    st.integers(1, 60),
)
def test_no_view_loses_time(pieces, columns):
    whole = made(pieces)
    view = cut(whole, 0, whole.wall, columns)["lanes"][0]
    shown = sum(time * cover for time, cover in zip(view["duration"], view["cover"], strict=True))
    covered = sum(length for _, length, _ in pieces) / 1000
    assert sum(view["count"]) == len(pieces)
    # Narrow pieces count where their middle lies: a column may get more than it holds, and shows itself full.
    assert shown <= covered * 1.001 + 0.01 * len(view["count"])
    assert len(view["start"]) <= 2 * columns + len(pieces) * (len(pieces) <= 2 * columns)


def test_a_view_with_little_in_it_shows_each_piece():
    whole = made([(10, 20, 0), (0, 30, 1), (5, 5, 2)])
    view = cut(whole, 25, 62, 100)["lanes"][0]
    assert view["start"] == [
        0.01,
        0.03,
    ]
    assert view["label"] == [0, 1]
    assert view["count"] == [1, 1]


def test_many_pieces_of_a_column_are_one_of_the_key_that_has_most():
    whole = made([(0, 1, 0), (0, 3, 1)] * 1000 + [(0, 4000, 2)])
    view = cut(whole, 0, whole.wall, 10)["lanes"][0]
    assert view["key"] == [1] * 5 + [2]
    assert view["label"] == [-1] * 5 + [2]
    assert view["count"] == [400] * 5 + [1]
    assert view["cover"] == [1.0] * 6


def test_find_goes_on_from_an_instant_and_begins_again():
    whole = made([(10, 20, 0), (0, 30, 1), (5, 5, 0)])
    assert find(whole, "OP0", -1) == {"lane": 0, "start": 0.01, "end": 0.03}
    assert find(whole, "x0", 10) == {"lane": 0, "start": 0.065, "end": 0.07}
    assert find(whole, "op0", 65) == {"lane": 0, "start": 0.01, "end": 0.03}
    assert find(whole, "none of these", 0) is None


def test_the_ops_of_an_operation_sum_to_its_device_time(tmp_path):
    report = recorded(tmp_path)
    found = ops.ops_of(report)
    for row in report.to_dict()["operations"]:
        listed = found.get(ops.key(row["process"], row["path"], row["direction"]), {"ops": []})
        assert sum(op["self"] for op in listed["ops"]) == row["device"]["self"]["raw"]
    (dot,) = found["0||update/loss"]["ops"]
    assert (dot["name"], dot["count"], dot["program"], dot["op_name"]) == (
        "dot.1",
        10,
        "jit_f",
        SCOPED["dot.1"],
    )


@pytest.mark.parametrize("begin", [-5, 10**30])
def test_a_stretch_outside_of_the_window_is_no_error(begin):
    whole = made([(10, 20, 0)])
    assert cut(whole, begin, begin + 5, 10)["wall"] == 0.03


def test_a_timeline_of_nothing_comes_back_too(tmp_path):
    timeline.save(Timeline(0), tmp_path)
    shown = cut(timeline.load(tmp_path), 0, 0, 100)
    assert (shown["wall"], shown["lanes"], shown["steps"]) == (0, [], [])


@pytest.mark.parametrize("begin", [0, 40 * US])
def test_a_lane_without_pieces_is_shown_empty(tmp_path, begin):
    empty = np.zeros(0, np.int64)
    full = made([(10, 20, 0)])
    full.lanes.insert(0, Lane(0, "host", "idle thread", *[empty] * 4))
    timeline.save(full, tmp_path)
    views = cut(timeline.load(tmp_path), begin, begin + 30, 100)["lanes"]
    assert views[0]["start"] == []
    assert len(views[1]["start"]) == (begin == 0)


def test_every_window_of_a_run_has_its_timeline(tmp_path):
    for number, length in enumerate((1, 2)):
        trace, tree = CpuTrace(), [Op("dot.1", length * 5 * US)]
        trace.run(module_of("jit_f", 7, tree, SCOPED), tree, at=10 * US)
        os.utime(trace.write(tmp_path, f"w{number}"), (1000 + number, 1000 + number))
        sidecar = tmp_path / f"plugins/rlscope/w{number}.json"
        sidecar.parent.mkdir(parents=True, exist_ok=True)
        sidecar.write_text(json.dumps({"part_of": "run"}))
    windows = timeline.timelines_of(load(tmp_path))
    assert [one.window for one in windows] == [0, 1]
    device = [next(lane for lane in one.lanes if lane.side == "device") for one in windows]
    assert [int((lane.end - lane.start).sum()) for lane in device] == [5 * US, 10 * US]
    assert {tuple(one.windows) for one in windows} == {tuple((None, one.wall) for one in windows)}
    for one in windows:
        timeline.save(one, tmp_path)
    for one in windows:
        again = timeline.load(tmp_path, one.window)
        assert cut(again, 0, one.wall, 100) == cut(one, 0, one.wall, 100)


def test_it_tells_when_programs_were_compiled(tmp_path):
    """And does so of the pieces that are the compilation on the thread's own line."""
    trace, tree = CpuTrace(), [Op("dot.1", 5 * US)]
    trace.python.event("PjitFunction(f)", 100 * US, 500 * US)
    trace.python.event("backend_compile_and_load", 200 * US, 300 * US)
    trace.run(module_of("jit_f", 7, tree, SCOPED), tree, at=700 * US)
    trace.write(tmp_path)
    report = load(tmp_path)
    (one,) = timeline.timelines_of(report)
    ((program, start, end),) = one.compiles
    (told,) = [row for row in report.to_dict()["programs"] if row["compiles"]]
    assert program == told["program_id"] == 7
    assert (end - start) // 1000 == told["compile"]["raw"]
    (host,) = [lane for lane in one.lanes if lane.side == "host"]
    compiling = host.key == one.categories.index("compile")
    assert start <= host.start[compiling].min() <= host.end[compiling].max() <= end
