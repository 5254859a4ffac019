"""Profiles and sidecars that no profiler would write: a clear error or a sound report, never a traceback."""

import json

import pytest

from rlscope_jax import RlscopeError, load
from rlscope_jax.__main__ import main
from rlscope_jax.names import MARK
from rlscope_jax.xla_events.hlo import as_program_id
from xspace_builder import US, CpuTrace, Op, XSpaceBuilder, module_of, wire

UNIX_NS = 1_796_000_000_000_000_000


def small_trace():
    trace = CpuTrace()
    ops = [Op("dot.1", 5 * US)]
    trace.run(module_of("jit_f", 7, ops), ops, at=10 * US)
    return trace


def test_lines_that_count_from_1970_are_read(tmp_path):
    trace = small_trace()
    line = trace.host.line("python", id=5, timestamp_ns=UNIX_NS)
    line.event("work", UNIX_NS * 1000 + 3 * US, US)
    trace.build().write(tmp_path)
    assert load(tmp_path).to_dict()["counts"]["device_ops"] == 1


@pytest.mark.parametrize(("start", "duration"), [(-(2**63), 1), (2**62, 1), (0, 2**63 - 1)])
def test_times_that_cannot_be_are_refused(tmp_path, start, duration):
    space = XSpaceBuilder("vm")
    space.plane("/host:CPU").line("python").event("work", start, duration)
    space.write(tmp_path)
    with pytest.raises(RlscopeError, match="times that cannot be"):
        load(tmp_path)


def test_a_profile_that_does_not_say_when_it_began(tmp_path):
    space = XSpaceBuilder("vm")
    for number in range(2):
        base = UNIX_NS + 5000 * number
        line = space.plane("/host:CPU").line(f"python{number}", id=number, timestamp_ns=base)
        line.event("work", base * 1000, US)
    space.write(tmp_path)
    assert load(tmp_path).to_dict()["window"]["wall_ns"] == 6000


def test_a_block_of_zeros_is_damage(tmp_path):
    """What a failed copy leaves: no field has the number 0."""
    line = wire.chunk(2, "python") + wire.chunk(4, wire.integer(1, 1) + wire.integer(3, 1000))
    for spoilt in (line + bytes(4096), line[:8] + bytes(64) + line[8:]):
        plane = wire.chunk(2, "/host:CPU") + wire.chunk(3, spoilt)
        (tmp_path / "vm.xplane.pb").write_bytes(wire.chunk(1, plane))
        with pytest.raises(RlscopeError, match="damaged"):
            load(tmp_path)
    (tmp_path / "vm.xplane.pb").write_bytes(wire.chunk(1, wire.chunk(2, "/host:CPU") + bytes(4096)))
    with pytest.raises(RlscopeError, match="damaged"):
        load(tmp_path)


def test_a_file_merged_from_two_hosts_loses_neither(tmp_path):
    space = XSpaceBuilder("vm")
    for number, name in enumerate(("alpha", "beta")):
        space.plane("/host:CPU").line(f"python{number}").event(MARK + name, 10 * US * number, US)
    space.write(tmp_path)
    rows = {row["path"] for row in load(tmp_path).to_dict()["operations"]}
    assert {"alpha", "beta"} <= rows


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "not json", '{"window": 3}', '{"window": {"start_unix_ns": true}}']
)
def test_a_broken_sidecar_is_as_good_as_none(tmp_path, text):
    path = small_trace().build().write(tmp_path)
    sidecar = tmp_path / "plugins/rlscope" / f"{path.parent.name}.json"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text(text)
    assert load(tmp_path).to_dict()["counts"]["device_ops"] == 1


@pytest.mark.parametrize("window", [(1, 2), (2**70, 2**71), (UNIX_NS * 3, UNIX_NS * 3 + 1)])
def test_a_sidecar_of_another_time_is_not_believed(tmp_path, window):
    path = small_trace().build().write(tmp_path)
    sidecar = tmp_path / "plugins/rlscope" / f"{path.parent.name}.json"
    sidecar.parent.mkdir(parents=True)
    start, stop = window
    limits = {"start_unix_ns": start, "stop_unix_ns": stop, "first_step": 0, "last_step": 0}
    sidecar.write_text(json.dumps({"window": limits}))
    assert load(tmp_path).to_dict()["totals"]["device_self"]["raw"] == 5_000


@pytest.mark.parametrize("value", ["abc", b"xy", float("nan"), None, float("inf")])
def test_a_program_id_that_is_none(value):
    assert as_program_id(value) is None


@pytest.mark.parametrize(
    ("value", "number"), [(2**64 - 1, -1), (-1, -1), ("18446744073709551615", -1), (0, 0)]
)
def test_program_ids_in_every_spelling(value, number):
    assert as_program_id(value) == number


def test_a_terminal_without_unicode_gets_its_table(tmp_path, monkeypatch):
    import io
    import sys

    small_trace().build().write(tmp_path)
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["report", str(tmp_path)]) == 0
    out.flush()
    assert b"total" in out.buffer.getvalue()


def test_a_device_file_is_no_profile(capsys):
    assert main(["report", "/dev/null"]) == 2
    assert "neither a directory nor a file" in capsys.readouterr().err


def test_thousands_of_operations_take_no_longer_than_their_number(tmp_path):
    trace = small_trace()
    line = trace.host.line("python", id=9)
    for number in range(5000):
        line.event(f"episode {number}", (20 + number) * US, US // 2)
    trace.build().write(tmp_path)
    assert len(load(tmp_path).to_dict()["operations"]) > 5000


def test_a_thread_that_only_marks_steps(tmp_path):
    trace = CpuTrace()
    trace.step(3, 5 * US, 10 * US)
    trace.build().write(tmp_path)
    data = load(tmp_path).to_dict()
    assert (data["window"]["steps"], data["window"]["first_step"]) == (1, 3)
